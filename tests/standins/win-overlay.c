/* Stand-in for containernetworking's win-overlay.exe: endpoints on an Overlay network, in the
 * documents that the upstream plugin (1.9.1, apiVersion 2) sends. */
#include "base/cidr.h"
#include "base/memory.h"
#include "base/text.h"
#include "tests/standins/lib/cni_plugin.h"
#include "tests/standins/lib/hcn.h"

#include <string.h>

/* <prefix>-0a-f4-01-03 from the IPv4 address 10.244.1.3; the prefix must be XX-XX. */
static int add_mac(const struct cni_call *call, const char *address, json_t *endpoint,
                   struct error *err) {
    const char *prefix = json_text_at(call->conf, "endpointMacPrefix");
    char mac[18];
    struct ip ip;

    if (!prefix)
        prefix = "0E-2A";
    if (strlen(prefix) != 5 || prefix[2] != '-')
        return error_set(err, ERROR_USAGE,
                         "endpointMacPrefix [%s] is invalid, value must be of "
                         "the format xx-xx",
                         prefix);
    if (ip_parse(address, &ip, err))
        return -1;
    (void)text_format(mac, sizeof(mac), "%s-%02x-%02x-%02x-%02x", prefix, ip.bytes[0], ip.bytes[1],
                      ip.bytes[2], ip.bytes[3]); /* always 17 characters */
    return json_object_set_new(endpoint, "MacAddress", json_string(mac));
}

static int complete(const struct cni_call *call, const json_t *network, const json_t *ipam,
                    json_t *endpoint, struct error *err) {
    const json_t *provider = hcn_policy(network, "ProviderAddress");
    const char *prefix, *gateway;
    _cleanup_(freep) char *address = cni_address(ipam);

    if (!provider)
        return error_set(err, ERROR_HOST, "network has no ProviderAddress policy");
    if (hcn_subnet(network, &prefix, &gateway))
        return error_set(err, ERROR_HOST, "network has no subnet");
    cni_add_configured_policies(call, endpoint);
    if (json_bool_at(call->conf, "loopbackDSR", false) && address)
        cni_add_policy(endpoint, "OutBoundNAT", json_pack("{s:[s]}", "Destinations", address));
    cni_add_policy(
        endpoint, "ProviderAddress",
        json_pack("{s:s}", "ProviderAddress", json_text_at(provider, "ProviderAddress")));
    if (json_bool_at(call->conf, "ipMasq", false))
        cni_add_policy(endpoint, "OutBoundNAT", json_pack("{s:[s]}", "Exceptions", prefix));
    (void)json_array_append_new(
        json_object_get(endpoint, "Routes"), /* no memory only */
        json_pack("{s:s,s:s}", "NextHop", gateway, "DestinationPrefix", "0.0.0.0/0"));
    return address ? add_mac(call, address, endpoint, err) : 0;
}

int main(void) {
    static const char *const types[] = {"Overlay", NULL};
    static const struct cni_plugin overlay = {.name = "win-overlay",
                                              .network_types = types,
                                              .reads_v1_network = true,
                                              .complete = complete};

    return cni_plugin_main(&overlay);
}
