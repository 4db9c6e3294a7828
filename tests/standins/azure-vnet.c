/* Stand-in for azure-vnet.exe of Azure/azure-container-networking (v1.7): the calls and documents
 * that upstream's was recorded with (h-azure-vnet.jsonl). It keeps the id of its network in its
 * working directory and never looks for it again. */
#include "base/cidr.h"
#include "base/memory.h"
#include "base/text.h"
#include "tests/standins/lib/cni_plugin.h"
#include "tests/standins/lib/hcn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATE "azure-vnet.json"
#define WORDS "Network.ExternalInterfaces.Ethernet.Networks.azure"
enum { STATE_MAX = 4 * 1024 * 1024, SHORT_ID = 8 };

/* ---- state: {"HnsId", "Endpoints":{name: {"HnsId", "NetNs", "Address"}}} at WORDS ---- */

static json_t *state_read(void) {
    char *data = xcalloc(STATE_MAX, 1);
    FILE *file = fopen(STATE, "rb");
    json_t *json = NULL;

    if (file) {
        size_t len = fread(data, 1, STATE_MAX - 1, file);

        fclose(file);
        json = json_loadb(data, len, 0, NULL);
    }
    free(data);
    return json ? json
                : json_pack("{s:{s:{s:{s:{s:{s:{}}}}}}}", "Network", "ExternalInterfaces",
                            "Ethernet", "Networks", "azure", "Endpoints");
}

static int state_write(const json_t *state, struct error *err) {
    return json_dump_file(state, STATE, JSON_INDENT(1))
               ? error_set(err, ERROR_HOST, "cannot write " STATE)
               : 0;
}

/* ---- policies: HNS version 1's words become version 2's ---- */

static json_t *policy_of(const json_t *value) {
    const char *type = json_text_at(value, "Type");
    json_t *settings = json_object(), *item;
    const char *key;

    json_object_foreach((json_t *)value, key, item) {
        const char *name = text_equal(key, "ExceptionList") ? "Exceptions" : key;

        if (!text_equal(key, "Type"))
            (void)json_object_set(settings, name, item); /* no memory only */
    }
    return json_pack("{s:s,s:o}", "Type", text_equal(type, "ROUTE") ? "SDNRoute" : type, "Settings",
                     settings);
}

static json_t *policies_of(const struct cni_call *call, const char *address) {
    json_t *policies = json_array(), *item;
    size_t i;

    json_array_foreach(json_object_get(call->conf, "AdditionalArgs"), i, item)
        json_array_append_new(policies, policy_of(json_object_get(item, "Value")));
    if (json_is_true(json_at(call->conf, "windowsSettings.enableLoopbackDSR")))
        json_array_append_new(policies, json_pack("{s:s,s:{s:[s]}}", "Type", "OutBoundNAT",
                                                  "Settings", "Destinations", address));
    json_array_foreach(json_at(call->conf, "runtimeConfig.portMappings"), i, item)
        json_array_append_new(
            policies,
            json_pack("{s:s,s:{s:i,s:I,s:I,s:i}}", "Type", "PortMapping", "Settings", "Protocol",
                      text_equal_nocase(json_text_at(item, "protocol"), "udp") ? 17 : 6,
                      "InternalPort", (json_int_t)json_number_at(item, "containerPort", 0),
                      "ExternalPort", (json_int_t)json_number_at(item, "hostPort", 0), "Flags", 1));
    return policies;
}

/* ---- network ---- */

/* The adapter that has the subnet; a switch's own adapter is not named. */
static char *adapter_of(const struct cni_call *call, const struct cidr *subnet) {
    struct host_adapters adapters = {0};
    char *alias = NULL;

    if (host_adapters(call->host, &adapters, NULL) < 0)
        return NULL;
    for (size_t i = 0; i < adapters.count && !alias; i++)
        for (size_t k = 0; k < adapters.items[i].addresses.count; k++) {
            struct cidr address;

            if (cidr_parse(adapters.items[i].addresses.items[k], &address, NULL) == 0 &&
                cidr_contains(subnet, &address.base))
                alias = xstrdup(adapters.items[i].alias);
        }
    host_adapters_free(&adapters);
    return alias;
}

static int make_network(const struct cni_call *call, const json_t *ipam, json_t **ret,
                        struct error *err) {
    const char *address = json_text_at(ipam, "ips.0.address");
    char prefix[CIDR_TEXT_MAX];
    struct cidr subnet = {0};

    if (!address || cidr_parse(address, &subnet, err))
        return -1;
    cidr_format(&subnet, prefix);
    _cleanup_(freep) char *alias = adapter_of(call, &subnet);
    _cleanup_(json_decrefp_) json_t *document =
        json_pack("{s:s,s:s,s:{},s:{},s:[{s:s,s:[{s:s,s:[{s:s,s:s}]}]}],s:i,s:{s:{}},s:o}", "Name",
                  json_text_at(call->conf, "name"), "Type",
                  text_equal(json_text_at(call->conf, "mode"), "tunnel") ? "L2Tunnel" : "L2Bridge",
                  "MacPool", "Dns", "Ipams", "Type", "Static", "Subnets", "IpAddressPrefix", prefix,
                  "Routes", "NextHop", json_text_at(ipam, "ips.0.gateway"), "DestinationPrefix",
                  "0.0.0.0/0", "Flags", 8, "Health", "Extra", "SchemaVersion", hcn_schema());

    if (alias && !text_starts_with(alias, "vEthernet"))
        (void)json_object_set_new(document, "Policies",
                                  json_pack("[{s:s,s:{s:s}}]", "Type", "NetAdapterName", "Settings",
                                            "NetworkAdapterName", alias));
    return hcn_make(call->host, HCN_NETWORK, NULL, document, ret, err);
}

/* By the id that it keeps, whatever became of it. */
static int network_id(const struct cni_call *call, const json_t *ipam, json_t *known, char **ret,
                      struct error *err) {
    _cleanup_(json_decrefp_) json_t *network = NULL;
    const char *kept = json_text_at(known, "HnsId");

    if (!kept) {
        if (hcn_find(call->host, HCN_NETWORK, "Name", json_text_at(call->conf, "name"), &network,
                     err) ||
            (!network && make_network(call, ipam, &network, err)))
            return -1;
        kept = json_text_at(network, "ID");
        (void)json_object_set_new(known, "HnsId", json_string(kept));
    }
    *ret = xstrdup(kept);
    return 0;
}

/* ---- endpoint ---- */

static char *endpoint_name(const struct cni_call *call) {
    return xasprintf("%.*s-%s", SHORT_ID, call->container, call->interface);
}

static json_t *endpoint_of(const struct cni_call *call, const char *name, const char *network,
                           const json_t *ipam) {
    _cleanup_(freep) char *address = cni_address(ipam);
    const json_t *dns = json_at(call->conf, "runtimeConfig.dns");
    const char *length = strchr(json_text_at(ipam, "ips.0.address"), '/');

    return json_pack("{s:s,s:s,s:o,s:[{s:s,s:i}],s:{s:O*,s:O*,s:O*},s:[{s:s,s:s}],s:{s:{}},s:o}",
                     "Name", name, "HostComputeNetwork", network, "Policies",
                     policies_of(call, address), "IpConfigurations", "IpAddress", address,
                     "PrefixLength", length ? (int)strtol(length + 1, NULL, 10) : 32, "Dns",
                     "Search", json_object_get(dns, "searches"), "ServerList",
                     json_object_get(dns, "servers"), "Options", json_object_get(dns, "options"),
                     "Routes", "NextHop", json_text_at(ipam, "ips.0.gateway"), "DestinationPrefix",
                     "0.0.0.0/0", "Health", "Extra", "SchemaVersion", hcn_schema());
}

static int take_away(const struct cni_call *call, const json_t *kept, struct error *err) {
    const char *id = json_text_at(kept, "HnsId");
    _cleanup_(json_decrefp_) json_t *endpoint = NULL;
    struct error gone = {0};

    if (hcn_find(call->host, HCN_ENDPOINT, "ID", id, &endpoint, err))
        return -1;
    if (!endpoint)
        return 0;
    (void)cni_give_to_namespace(call, json_text_at(kept, "NetNs"), endpoint, "Remove", &gone);
    return hcn_delete(call->host, HCN_ENDPOINT, id, err);
}

static int make_endpoint(const struct cni_call *call, json_t *known, const json_t *ipam,
                         const char *name, struct error *err) {
    _cleanup_(freep) char *network = NULL;
    _cleanup_(json_decrefp_) json_t *endpoint = NULL, *document = NULL;

    if (network_id(call, ipam, known, &network, err))
        return -1;
    document = endpoint_of(call, name, network, ipam);
    if (hcn_make(call->host, HCN_ENDPOINT, network, document, &endpoint, err) ||
        cni_give_to_namespace(call, call->netns, endpoint, "Add", err)) {
        const json_t *other = json_object_get(json_object_get(known, "Endpoints"), name);
        struct error ignored = {0};

        if (endpoint)
            (void)hcn_delete(call->host, HCN_ENDPOINT, json_text_at(endpoint, "ID"), &ignored);
        if (other) /* the first call's: a second one is not idempotent */
            (void)take_away(call, other, &ignored);
        return -1;
    }
    (void)json_object_set_new(json_object_get(known, "Endpoints"), name,
                              json_pack("{s:s,s:s,s:s}", "HnsId", json_text_at(endpoint, "ID"),
                                        "NetNs", call->netns, "Address",
                                        json_text_at(ipam, "ips.0.address")));
    return 0;
}

static int on_add(const struct cni_call *call, json_t **ret, struct error *err) {
    _cleanup_(freep) char *name = endpoint_name(call);
    _cleanup_(json_decrefp_) json_t *ipam = NULL, *state = state_read(), *nothing = NULL;
    struct error ignored = {0};
    unsigned major, minor;

    if (cni_run_ipam(call, "ADD", &ipam, err))
        return -1;
    if (hcn_version(call->host, &major, &minor, err) ||
        make_endpoint(call, json_at(state, WORDS), ipam, name, err) || state_write(state, err)) {
        (void)cni_run_ipam(call, "DEL", &nothing, &ignored);
        return -1;
    }
    *ret = json_pack("{s:s,s:[{s:s}],s:O}", "cniVersion", "0.3.0", "interfaces", "name",
                     call->interface, "ips", json_object_get(ipam, "ips"));
    return 0;
}

static int on_del(const struct cni_call *call, json_t **ret, struct error *err) {
    _cleanup_(freep) char *name = endpoint_name(call);
    _cleanup_(json_decrefp_) json_t *state = state_read(), *nothing = NULL;
    json_t *endpoints = json_object_get(json_at(state, WORDS), "Endpoints");
    const json_t *kept = json_object_get(endpoints, name);
    unsigned major, minor;

    (void)ret;
    if (!kept)
        return 0;
    if (hcn_version(call->host, &major, &minor, err) || take_away(call, kept, err) ||
        cni_run_ipam(call, "DEL", &nothing, err))
        return -1;
    (void)json_object_del(endpoints, name);
    return state_write(state, err);
}

int main(int argc, char **argv) {
    if (argc > 1 && text_equal(argv[1], "--version")) {
        printf("Azure CNI Version v1.7.6\n");
        return 0;
    }
    return cni_main(on_add, on_del);
}
