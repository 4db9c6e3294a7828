/* Stand-in for containernetworking's win-bridge.exe: endpoints on an L2Bridge or L2Tunnel network,
 * in the documents that the upstream plugin (1.9.1, apiVersion 2) sends. */
#include "base/cidr.h"
#include "base/memory.h"
#include "base/text.h"
#include "tests/standins/lib/cni_plugin.h"

#include <string.h>

static long long protocol_number(const char *name) {
    if (text_equal_nocase(name, "udp"))
        return 17;
    return text_equal_nocase(name, "sctp") ? 132 : 6;
}

static void add_port_mappings(const struct cni_call *call, json_t *endpoint) {
    size_t i;
    json_t *mapping;

    json_array_foreach(json_at(call->conf, "runtimeConfig.portMappings"), i, mapping) {
        const char *address = json_text_at(mapping, "hostIP");
        cni_add_policy(endpoint, "PortMapping",
                       json_pack("{s:I,s:I,s:I,s:s}", "InternalPort",
                                 (json_int_t)json_number_at(mapping, "containerPort", 0),
                                 "ExternalPort", (json_int_t)json_number_at(mapping, "hostPort", 0),
                                 "Protocol",
                                 (json_int_t)protocol_number(json_text_at(mapping, "protocol")),
                                 "VIP", address ? address : ""));
    }
}

/* The pod's gateway is the host's own endpoint: base + 2 of the pod's subnet. */
static int add_route(const json_t *ipam, json_t *endpoint, struct error *err) {
    const char *address = json_text_at(ipam, "ips.0.address");
    char gateway[IP_TEXT_MAX];
    struct cidr subnet;
    struct ip hop;
    json_t *route = address ? json_pack("{s:s}", "DestinationPrefix", "0.0.0.0/0")
                            : json_pack("{s:s}", "DestinationPrefix", "::/0");

    (void)json_array_append_new(json_object_get(endpoint, "Routes"), route); /* no memory only */
    if (!address)
        return 0;
    if (cidr_parse(address, &subnet, err) || cidr_address(&subnet, 2, &hop, err))
        return -1;
    ip_format(&hop, gateway);
    return json_object_set_new(route, "NextHop", json_string(gateway));
}

static int complete(const struct cni_call *call, const json_t *network, const json_t *ipam,
                    json_t *endpoint, struct error *err) {
    const char *masquerade = json_text_at(call->conf, "ipMasqNetwork");
    _cleanup_(freep) char *address = cni_address(ipam);

    (void)network;
    cni_add_configured_policies(call, endpoint);
    if (masquerade && *masquerade)
        cni_add_policy(endpoint, "OutBoundNAT", json_pack("{s:[s]}", "Exceptions", masquerade));
    add_port_mappings(call, endpoint);
    if (json_bool_at(call->conf, "loopbackDSR", false) && address)
        cni_add_policy(endpoint, "OutBoundNAT", json_pack("{s:[s]}", "Destinations", address));
    return add_route(ipam, endpoint, err);
}

int main(void) {
    static const char *const types[] = {"L2Bridge", "L2Tunnel", NULL};
    static const struct cni_plugin bridge = {
        .name = "win-bridge", .network_types = types, .complete = complete};

    return cni_plugin_main(&bridge);
}
