/* What win-bridge and win-overlay share: find the network, ask host-local, make the endpoint, give
 * it to the pod's namespace. Only apiVersion 2; apiVersion 1 fails with a namespace's GUID, as the
 * upstream plugins do. */
#include "tests/standins/lib/cni_plugin.h"

#include "base/memory.h"
#include "base/text.h"
#include "tests/standins/lib/hcn.h"

#include <string.h>

enum { IPAM_TIMEOUT_MS = 60000 };

static const struct cni_plugin *plugin;

void cni_add_policy(json_t *endpoint, const char *type, json_t *settings) {
    _cleanup_(json_decrefp_) json_t *policy =
        json_pack("{s:s,s:o}", "Type", type, "Settings", settings);
    json_t *policies = json_object_get(endpoint, "Policies"), *other;
    size_t i;

    json_array_foreach(policies, i, other) {
        if (json_equal(other, policy))
            return;
    }
    (void)json_array_append(policies, policy); /* fails on no memory only */
}

void cni_add_configured_policies(const struct cni_call *call, json_t *endpoint) {
    size_t i;
    json_t *entry;

    json_array_foreach(json_object_get(call->conf, "policies"), i, entry) {
        if (text_equal(json_text_at(entry, "name"), "EndpointPolicy"))
            cni_add_policy(endpoint, json_text_at(entry, "value.Type"),
                           json_deep_copy(json_at(entry, "value.Settings")));
    }
}

char *cni_address(const json_t *ipam) {
    const char *text = json_text_at(ipam, "ips.0.address");

    if (!text)
        text = json_text_at(ipam, "ip4.ip");
    return text ? xstrndup(text, strcspn(text, "/")) : NULL;
}

bool cni_has_ipam(const struct cni_call *call) {
    return json_text_at(call->conf, "ipam.type") != NULL;
}

int cni_run_ipam(const struct cni_call *call, const char *command, json_t **ret,
                 struct error *err) {
    const char *type = json_text_at(call->conf, "ipam.type");

    *ret = NULL;
    if (!type)
        return 0;
    _cleanup_(freep) char *folder = xstrndup(call->path, strcspn(call->path, ";"));
    _cleanup_(freep) char *program = xasprintf("%s\\%s.exe", folder, type);
    _cleanup_(freep) char *input = json_write(call->conf), *output = NULL;
    _cleanup_(freep) char *variable = xasprintf("CNI_COMMAND=%s", command);
    const char *argv[] = {program, NULL};
    const char *environment[] = {variable, NULL};
    struct host_process process = {
        .argv = argv, .environment = environment, .input = input, .timeout_ms = IPAM_TIMEOUT_MS};
    int code;

    if (host_run(call->host, &process, &code, &output, err))
        return error_prefix(err, "run the IPAM plugin '%s'", type);
    if (code)
        return error_set(err, ERROR_HOST, "plugin type=\"%s\" failed (%s): %s", type, command,
                         output);
    if (!text_equal(command, "ADD"))
        return 0;
    return json_read(output, strlen(output), "the IPAM result", ret, err);
}

static int find_network(const struct cni_call *call, json_t **ret, struct error *err) {
    const char *name = json_text_at(call->conf, "name");
    json_t *network = NULL;

    if (plugin->reads_v1_network) {
        _cleanup_(freep) char *answer = NULL;
        if (hns_call(call->host, "GET", "/networks/", "", &answer, err))
            return -1;
    }
    if (hcn_find(call->host, HCN_NETWORK, "Name", name, &network, err))
        return -1;
    if (!network)
        return error_set(err, ERROR_ABSENT, "network %s not found", name);
    for (size_t i = 0; plugin->network_types[i]; i++) {
        if (text_equal_nocase(json_text_at(network, "Type"), plugin->network_types[i])) {
            *ret = network;
            return 0;
        }
    }
    (void)error_set(err, ERROR_HOST, "network %s is of an unexpected type: %s", name,
                    json_text_at(network, "Type"));
    json_decref(network);
    return -1;
}

static void copy_member(json_t *to, const char *name, const json_t *value) {
    if (json_array_size(value) || (json_is_string(value) && *json_string_value(value)))
        (void)json_object_set_new(to, name, json_deep_copy(value)); /* no memory only */
}

/* The configuration's dns, whose servers and searches the runtime's replace. */
static json_t *dns_of(const struct cni_call *call) {
    json_t *dns = json_object();
    json_t *servers = json_at(call->conf, "runtimeConfig.dns.servers");
    json_t *searches = json_at(call->conf, "runtimeConfig.dns.searches");

    copy_member(dns, "Domain", json_at(call->conf, "dns.domain"));
    copy_member(dns, "Search",
                json_array_size(searches) ? searches : json_at(call->conf, "dns.search"));
    copy_member(dns, "ServerList",
                json_array_size(servers) ? servers : json_at(call->conf, "dns.nameservers"));
    copy_member(dns, "Options", json_at(call->conf, "dns.options"));
    return dns;
}

static json_t *endpoint_document(const struct cni_call *call, const char *name,
                                 const json_t *network, const json_t *ipam) {
    _cleanup_(freep) char *address = cni_address(ipam);
    json_t *configuration = json_object();

    if (address)
        (void)json_object_set_new(configuration, "IpAddress", json_string(address)); /* no memory */
    return json_pack("{s:s,s:s,s:[],s:[o],s:o,s:[],s:{s:{}},s:o}", "Name", name,
                     "HostComputeNetwork", json_text_at(network, "ID"), "Policies",
                     "IpConfigurations", configuration, "Dns", dns_of(call), "Routes", "Health",
                     "Extra", "SchemaVersion", hcn_schema());
}

static int make_endpoint(const struct cni_call *call, const char *name, const json_t *network,
                         json_t *ipam, json_t **ret, struct error *err) {
    _cleanup_(json_decrefp_) json_t *document = endpoint_document(call, name, network, ipam);

    if (plugin->complete(call, network, ipam, document, err))
        return -1;
    return hcn_make(call->host, HCN_ENDPOINT, json_text_at(network, "ID"), document, ret, err);
}

int cni_give_to_namespace(const struct cni_call *call, const char *space, const json_t *endpoint,
                          const char *request, struct error *err) {
    return hcn_change(call->host, HCN_NAMESPACE, space, "Endpoint", request,
                      json_pack("{s:s}", "EndpointId", json_text_at(endpoint, "ID")), err);
}

/* The result: interfaces, ips with the gateway that the pod really has, dns. */
static json_t *result_of(const struct cni_call *call, const char *name, const json_t *endpoint,
                         const json_t *ipam) {
    const char *version = json_text_at(call->conf, "cniVersion");
    const char *mac = json_text_at(endpoint, "MacAddress");
    const char *address = json_text_at(ipam, "ips.0.address");
    const char *gateway = json_text_at(endpoint, "Routes.0.NextHop");
    json_t *result =
        json_pack("{s:s,s:[{s:s,s:s}],s:[],s:{}}", "cniVersion", version ? version : "1.0.0",
                  "interfaces", "name", name, "mac", mac ? mac : "", "ips", "dns");

    if (address)
        (void)json_array_append_new(
            json_object_get(result, "ips"), /* no memory only */
            json_pack("{s:s,s:s*}", "address", address, "gateway", gateway));
    copy_member(json_object_get(result, "dns"), "domain", json_at(call->conf, "dns.domain"));
    copy_member(json_object_get(result, "dns"), "nameservers", json_at(endpoint, "Dns.ServerList"));
    copy_member(json_object_get(result, "dns"), "search", json_at(endpoint, "Dns.Search"));
    return result;
}

static char *endpoint_name(const struct cni_call *call) {
    return xasprintf("%s_%s", call->container, json_text_at(call->conf, "name"));
}

static int add_new(const struct cni_call *call, const char *name, const json_t *network,
                   json_t **ret, struct error *err) {
    _cleanup_(json_decrefp_) json_t *ipam = NULL, *endpoint = NULL, *nothing = NULL;
    struct error ignored = {0};

    if (cni_run_ipam(call, "ADD", &ipam, err))
        return -1;
    if (make_endpoint(call, name, network, ipam, &endpoint, err) == 0 &&
        cni_give_to_namespace(call, call->netns, endpoint, "Add", err) == 0) {
        *ret = result_of(call, name, endpoint, ipam);
        return 0;
    }
    if (endpoint)
        (void)hcn_delete(call->host, HCN_ENDPOINT, json_text_at(endpoint, "ID"), &ignored);
    (void)cni_run_ipam(call, "DEL", &nothing, &ignored); /* the first failure is the one to tell */
    return -1;
}

static int add(const struct cni_call *call, json_t **ret, struct error *err) {
    _cleanup_(freep) char *name = endpoint_name(call);
    _cleanup_(json_decrefp_) json_t *network = NULL, *endpoint = NULL;

    if (json_number_at(call->conf, "apiVersion", 1) != 2)
        return error_set(err, ERROR_UNSUPPORTED,
                         "error while ADD: failed to find HNSEndpoint %s (apiVersion 1 with the "
                         "namespace %s)",
                         name, call->netns ? call->netns : "");
    if (find_network(call, &network, err) ||
        hcn_find(call->host, HCN_ENDPOINT, "Name", name, &endpoint, err))
        return -1;
    if (!endpoint)
        return add_new(call, name, network, ret, err);
    if (cni_give_to_namespace(call, call->netns, endpoint, "Add", err))
        return -1;
    const char *address = json_text_at(endpoint, "IpConfigurations.0.IpAddress");
    _cleanup_(freep) char *sized = xasprintf("%s/24", address ? address : "");
    _cleanup_(json_decrefp_) json_t *ipam = json_pack("{s:[{s:s}]}", "ips", "address", sized);
    *ret = result_of(call, name, endpoint, ipam);
    return 0;
}

/* Endpoint or namespace gone is success. */
static int del(const struct cni_call *call, json_t **ret, struct error *err) {
    _cleanup_(freep) char *name = endpoint_name(call);
    _cleanup_(json_decrefp_) json_t *endpoint = NULL, *space = NULL, *nothing = NULL;

    (void)ret;
    if (cni_run_ipam(call, "DEL", &nothing, err) ||
        hcn_find(call->host, HCN_ENDPOINT, "Name", name, &endpoint, err))
        return -1;
    if (!endpoint)
        return 0;
    if (call->netns && *call->netns) {
        if (hcn_find(call->host, HCN_NAMESPACE, "ID", call->netns, &space, err))
            return -1;
        if (space && cni_give_to_namespace(call, call->netns, endpoint, "Remove", err))
            return -1;
    }
    return hcn_delete(call->host, HCN_ENDPOINT, json_text_at(endpoint, "ID"), err);
}

int cni_plugin_main(const struct cni_plugin *given) {
    plugin = given;
    return cni_main(add, del);
}
