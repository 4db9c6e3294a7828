/* The two HNS networks of hybrid-overlay-node. */
#include "tests/standins/hybrid-overlay-node/networks.h"

#include "base/cidr.h"
#include "base/memory.h"
#include "base/text.h"
#include "tests/standins/lib/hcn.h"

#define NETWORK "OVNKubernetesHybridOverlayNetwork"
enum { BASE_VSID = 4098, VSID = 4097, USUAL_PORT = 4789, NOT_PERSISTENT = 8 };

static json_t *network_json(const char *name, const char *subnet, const char *gateway, int vsid,
                            json_t *dns, long long port) {
    json_t *policies = json_pack("[{s:s,s:o}]", "Type", "AutomaticDNS", "Settings", dns);

    if (port && port != USUAL_PORT)
        (void)json_array_append_new(
            policies, /* fails on no memory only */
            json_pack("{s:s,s:{s:I}}", "Type", "VxlanPort", "Settings", "Port", (json_int_t)port));
    return json_pack(
        "{s:s,s:s,s:o,s:{},s:{},s:[{s:s,s:[{s:s,s:[{s:s,s:{s:i}}],s:[{s:s,s:s}]}]}],s:{s:{}},s:o}",
        "Name", name, "Type", "Overlay", "Policies", policies, "MacPool", "Dns", "Ipams", "Type",
        "Static", "Subnets", "IpAddressPrefix", subnet, "Policies", "Type", "VSID", "Settings",
        "IsolationId", vsid, "Routes", "NextHop", gateway, "DestinationPrefix", "0.0.0.0/0",
        "Health", "Extra", "SchemaVersion", hcn_schema());
}

int base_network_ensure(struct host *host, long long port, struct error *err) {
    _cleanup_(json_decrefp_) json_t *found = NULL, *document = NULL;

    if (hcn_find(host, HCN_NETWORK, "Name", "Base" NETWORK, &found, err))
        return -1;
    if (found)
        return 0;
    document =
        network_json("Base" NETWORK, "100.64.0.0/30", "100.64.0.2", BASE_VSID, json_object(), port);
    return hcn_make(host, HCN_NETWORK, NULL, document, NULL, err);
}

static int create(struct host *host, const char *subnet, long long port, json_t **ret,
                  struct error *err) {
    _cleanup_(json_decrefp_) json_t *document = NULL;
    char gateway[IP_TEXT_MAX];
    struct cidr cidr;
    struct ip first;

    if (cidr_parse(subnet, &cidr, err) || cidr_address(&cidr, 1, &first, err))
        return -1;
    ip_format(&first, gateway);
    document = network_json(NETWORK, subnet, gateway, VSID, json_pack("{s:b}", "Enable", 1), port);
    (void)json_object_set_new(document, "Flags", json_integer(NOT_PERSISTENT)); /* no memory only */
    if (hcn_make(host, HCN_NETWORK, NULL, document, ret, err))
        return -1;
    return hcn_change(host, HCN_NETWORK, json_text_at(*ret, "ID"), "Policy", "Add",
                      json_pack("{s:[{s:s,s:{}}]}", "Policies", "Type", "HostRoute", "Settings"),
                      err);
}

int pod_network_ensure(struct host *host, const char *subnet, long long port, json_t **ret,
                       struct error *err) {
    _cleanup_(json_decrefp_) json_t *found = NULL;
    const char *prefix = NULL, *gateway;

    if (hcn_find(host, HCN_NETWORK, "Name", NETWORK, &found, err))
        return -1;
    if (found && hcn_subnet(found, &prefix, &gateway) == 0 && text_equal(prefix, subnet)) {
        *ret = take_ptr(found);
        return 0;
    }
    if (found && hcn_delete(host, HCN_NETWORK, json_text_at(found, "ID"), err))
        return -1;
    return create(host, subnet, port, ret, err);
}

int remote_route(struct host *host, const char *request, const char *subnet, const char *address,
                 const char *mac, struct error *err) {
    _cleanup_(json_decrefp_) json_t *network = NULL;

    if (hcn_find(host, HCN_NETWORK, "Name", NETWORK, &network, err))
        return -1;
    if (!network)
        return error_set(err, ERROR_ABSENT, "network %s is not there", NETWORK);
    return hcn_change(host, HCN_NETWORK, json_text_at(network, "ID"), "Policy", request,
                      json_pack("{s:[{s:s,s:{s:s,s:i,s:s,s:s}}]}", "Policies", "Type",
                                "RemoteSubnetRoute", "Settings", "DestinationPrefix", subnet,
                                "IsolationId", VSID, "ProviderAddress", address,
                                "DistributedRouterMacAddress", mac),
                      err);
}

int remote_routes_clear(struct host *host, struct error *err) {
    _cleanup_(json_decrefp_) json_t *network = NULL;
    json_t *policy;
    size_t i;

    if (hcn_find(host, HCN_NETWORK, "Name", NETWORK, &network, err))
        return -1;
    json_array_foreach(json_object_get(network, "Policies"), i, policy) {
        if (text_equal(json_text_at(policy, "Type"), "RemoteSubnetRoute") &&
            hcn_change(host, HCN_NETWORK, json_text_at(network, "ID"), "Policy", "Remove",
                       json_pack("{s:[O]}", "Policies", policy), err))
            return -1;
    }
    return 0;
}
