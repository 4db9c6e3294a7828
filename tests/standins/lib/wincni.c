/* What windows-container-networking sends, call by call as it was recorded (f-*.jsonl): its parser
 * reads few keys, a network that stands is taken whatever its type, a missing one is made, and an
 * endpoint that is there is success without its namespace. */
#include "tests/standins/lib/wincni.h"

#include "base/cidr.h"
#include "base/memory.h"
#include "base/text.h"
#include "tests/standins/lib/cni_plugin.h"
#include "tests/standins/lib/hcn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ACL_PRIORITY = 1000 };

/* cni.go, CniPluginNameToHcnTypeMap: names and types, in that case alone. */
static const struct {
    const char *name, *type;
} types[] = {{"nat", "NAT"}, {"sdnbridge", "L2Bridge"}, {"sdnoverlay", "Overlay"}};

static const char *type_of(const struct cni_call *call, struct error *err) {
    const char *given = json_text_at(call->conf, "type");

    for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
        if (text_equal(given, types[i].name) || text_equal(given, types[i].type))
            return types[i].type;
    }
    (void)error_set(err, ERROR_USAGE, "Unsupported CNI config 'type' \"%s\"", given ? given : "");
    return NULL;
}

static bool option(const struct cni_call *call, const char *name) {
    return json_bool_at(json_object_get(call->conf, "optionalFlags"), name, false);
}

/* Go's names of fields are found in any case. */
static json_t *member(const json_t *object, const char *name) {
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)object, key, value) {
        if (text_equal_nocase(key, name))
            return value;
    }
    return NULL;
}

/* The first route's gateway, else the prefix's first address; "" without a prefix. */
static int gateway_of(const struct cni_call *call, char out[IP_TEXT_MAX], struct error *err) {
    const char *subnet = json_text_at(call->conf, "ipam.subnet");
    json_t *gateway = member(json_at(call->conf, "ipam.routes.0"), "gw");
    struct cidr prefix;
    struct ip first;

    out[0] = '\0';
    if (!subnet)
        return 0;
    if (cidr_parse(subnet, &prefix, err) || cidr_address(&prefix, 1, &first, err))
        return -1;
    ip_format(&first, out);
    return json_is_string(gateway) ? text_format(out, IP_TEXT_MAX, "%s", json_string_value(gateway))
                                   : 0;
}

/* ---- DNS ---- */

/* K8S_POD_NAMESPACE of CNI_ARGS; the caller frees. */
static char *pod_namespace(void) {
    const char *args = getenv("CNI_ARGS");
    const char *at = args ? strstr(args, "K8S_POD_NAMESPACE=") : NULL;

    at = at ? at + strlen("K8S_POD_NAMESPACE=") : "";
    return xstrndup(at, strcspn(at, ";"));
}

static void put_list(json_t *dns, const char *name, const json_t *runtime, const json_t *own) {
    const json_t *list = json_array_size(runtime) ? runtime : own;

    if (json_array_size(list))
        (void)json_object_set_new(dns, name, json_deep_copy(list)); /* no memory only */
}

static json_t *dns_of(const struct cni_call *call) {
    const json_t *runtime = json_at(call->conf, "runtimeConfig.dns");
    const json_t *own = json_object_get(call->conf, "dns");
    _cleanup_(json_decrefp_) json_t *search = json_deep_copy(member(own, "search"));
    _cleanup_(freep) char *space = pod_namespace();
    json_t *dns = json_object();

    if (*space && json_array_size(search))
        (void)json_array_set_new(
            search, 0, /* no memory only */
            json_sprintf("%s.%s", space, json_string_value(json_array_get(search, 0))));
    put_list(dns, "Search", json_object_get(runtime, "searches"), search);
    put_list(dns, "ServerList", json_object_get(runtime, "servers"), member(own, "nameservers"));
    put_list(dns, "Options", json_object_get(runtime, "options"), member(own, "options"));
    return dns;
}

/* ---- network ---- */

/* With the address that the file names, without an adapter. */
static int make_network(const struct cni_call *call, const char *type, json_t **ret,
                        struct error *err) {
    const char *subnet = json_text_at(call->conf, "ipam.subnet");
    char gateway[IP_TEXT_MAX];
    json_t *ipams = NULL;

    if (gateway_of(call, gateway, err))
        return -1;
    if (subnet)
        ipams = json_pack("[{s:s,s:[{s:s,s:[{s:s,s:s}]}]}]", "Type", "Static", "Subnets",
                          "IpAddressPrefix", subnet, "Routes", "NextHop", gateway,
                          "DestinationPrefix", "0.0.0.0/0");
    _cleanup_(json_decrefp_) json_t *document =
        json_pack("{s:s,s:s,s:{},s:o,s:o*,s:{s:{}},s:o}", "Name", json_text_at(call->conf, "name"),
                  "Type", type, "MacPool", "Dns", dns_of(call), "Ipams", ipams, "Health", "Extra",
                  "SchemaVersion", hcn_schema());
    return hcn_make(call->host, HCN_NETWORK, NULL, document, ret, err);
}

static int find_network(const struct cni_call *call, const char *type, json_t **ret,
                        struct error *err) {
    struct error absent = {0};

    if (option(call, "enableDualStack")) {
        if (hcn_find(call->host, HCN_NETWORK, "Name", json_text_at(call->conf, "name"), ret, err))
            return -1;
        if (!text_equal(json_text_at(*ret, "Type"), "L2Bridge"))
            return error_set(err, ERROR_USAGE, "Dual stack specified with non l2bridge network");
        return 0;
    }

    /* a failure counts as absent */
    if (hcn_find(call->host, HCN_NETWORK, "Name", json_text_at(call->conf, "name"), ret, &absent) ==
            0 &&
        *ret)
        return 0;
    return make_network(call, type, ret, err);
}

/* ---- endpoint ---- */

static void add(json_t *policies, const char *type, json_t *settings) {
    (void)json_array_append_new(policies, /* no memory only */
                                json_pack("{s:s,s:o}", "Type", type, "Settings", settings));
}

static void add_mapping(const struct cni_call *call, const json_t *mapping, json_t *policies) {
    const char *protocol = json_text_at(mapping, "protocol"),
               *vip = json_text_at(mapping, "hostIP");
    int number = text_equal_nocase(protocol, "udp") ? 17 : 6;
    json_int_t port = (json_int_t)json_number_at(mapping, "containerPort", 0);
    json_t *settings =
        json_pack("{s:i,s:I,s:I}", "Protocol", number, "InternalPort", port, "ExternalPort",
                  (json_int_t)json_number_at(mapping, "hostPort", 0));

    if (vip && *vip)
        (void)json_object_set_new(settings, "VIP", json_string(vip));
    if (option(call, "localRoutedPortMapping"))
        (void)json_object_set_new(settings, "Flags", json_integer(1));
    add(policies, "PortMapping", settings);
    if (!option(call, "allowAclPortMapping"))
        return;
    add(policies, "ACL",
        json_pack("{s:o,s:s,s:s,s:o,s:i}", "Protocols", json_sprintf("%d", number), "Action",
                  "Allow", "Direction", "In", "LocalPorts", json_sprintf("%d", (int)port),
                  "Priority", ACL_PRIORITY));
}

static json_t *policies_of(const struct cni_call *call, const char *address) {
    json_t *policies = json_array(), *item;
    size_t i;

    json_array_foreach(json_at(call->conf, "runtimeConfig.portMappings"), i, item)
        add_mapping(call, item, policies);
    json_array_foreach(member(call->conf, "AdditionalArgs"), i, item) {
        if (text_equal(json_string_value(member(item, "Name")), "EndpointPolicy"))
            (void)json_array_append(policies, member(item, "Value")); /* no memory only */
    }
    if (option(call, "loopbackDSR"))
        add(policies, "OutBoundNAT", json_pack("{s:[s]}", "Destinations", address));
    return policies;
}

static void put_nonempty(json_t *document, const char *name, json_t *list) {
    if (json_array_size(list))
        (void)json_object_set(document, name, list); /* no memory only */
    json_decref(list);
}

/* The IPAM's IPv6 address and gateway, as they are. */
static void add_ipv6(const json_t *ipam, json_t *configs, json_t *routes) {
    const char *ip = json_text_at(ipam, "ip6.ip"), *gateway = json_text_at(ipam, "ip6.gateway");

    if (ip)
        (void)json_array_append_new(
            configs,
            json_pack("{s:o}", "IpAddress", json_sprintf("%.*s", (int)strcspn(ip, "/"), ip)));
    if (gateway)
        (void)json_array_append_new(
            routes, json_pack("{s:s,s:s}", "NextHop", gateway, "DestinationPrefix", "::/0"));
}

static int make_endpoint(const struct cni_call *call, const char *name, const char *network,
                         const json_t *ipam, json_t **ret, struct error *err) {
    _cleanup_(freep) char *address = cni_address(ipam);
    const char *gateway = json_text_at(ipam, "ip4.gateway");
    char hop[IP_TEXT_MAX];
    struct ip base;

    if (gateway_of(call, hop, err) || (gateway && text_format(hop, sizeof(hop), "%s", gateway)))
        return -1;
    if (address && option(call, "forceBridgeGateway") && ip_parse(hop, &base, err) == 0) {
        base.bytes[3] = 2; /* whatever the prefix */
        ip_format(&base, hop);
    }
    json_t *configs = json_array(), *routes = json_array();
    if (address)
        (void)json_array_append_new(configs, json_pack("{s:s}", "IpAddress", address));
    if (*hop)
        (void)json_array_append_new(
            routes, json_pack("{s:s,s:s}", "NextHop", hop, "DestinationPrefix", "0.0.0.0/0"));
    if (option(call, "enableDualStack"))
        add_ipv6(ipam, configs, routes);
    _cleanup_(json_decrefp_) json_t *document =
        json_pack("{s:s,s:s}", "Name", name, "HostComputeNetwork", network);
    put_nonempty(document, "Policies", policies_of(call, address ? address : "<nil>"));
    put_nonempty(document, "IpConfigurations", configs);
    (void)json_object_set_new(document, "Dns", dns_of(call)); /* no memory only */
    put_nonempty(document, "Routes", routes);
    (void)json_object_update_new(
        document, json_pack("{s:{s:{}},s:o}", "Health", "Extra", "SchemaVersion", hcn_schema()));
    return hcn_make(call->host, HCN_ENDPOINT, network, document, ret, err);
}

/* ---- the calls ---- */

/* Only these keys of `ipam` reach the IPAM plugin; with dual stack all do. */
static json_t *ipam_conf(const struct cni_call *call) {
    static const char *const keys[] = {"type",      "environment",   "addressSpace", "subnet",
                                       "ipAddress", "queryInterval", "routes"};
    json_t *conf = json_deep_copy(call->conf), *ipam = json_object();

    for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
        json_t *value = member(json_object_get(call->conf, "ipam"), keys[i]);
        if (value)
            (void)json_object_set(ipam, keys[i], value); /* no memory only */
    }
    (void)json_object_set_new(conf, "ipam", ipam);
    return conf;
}

static int run_ipam(const struct cni_call *call, const char *command, json_t **ret,
                    struct error *err) {
    _cleanup_(json_decrefp_) json_t *conf =
        option(call, "enableDualStack") ? json_incref(call->conf) : ipam_conf(call);
    const struct cni_call inner = {.host = call->host, .path = call->path, .conf = conf};

    return cni_run_ipam(&inner, command, ret, err);
}

/* DSR is asked for before anything is looked up. */
static int check_dsr(const struct cni_call *call, struct error *err) {
    unsigned major, minor;

    return option(call, "loopbackDSR") ? hcn_version(call->host, &major, &minor, err) : 0;
}

/* As Go prints an address that is not there, which no runtime can read. */
static json_t *result_of(const json_t *network, const json_t *endpoint) {
    const char *subnet = json_text_at(network, "Ipams.0.Subnets.0.IpAddressPrefix");
    const char *length = subnet ? strchr(subnet, '/') : NULL;
    const char *address = json_text_at(endpoint, "IpConfigurations.0.IpAddress");
    _cleanup_(freep) char *sized =
        address ? xasprintf("%s%s", address, length ? length : "") : xstrdup("<nil>");

    return json_pack("{s:s,s:{s:s,s:s*},s:{}}", "cniVersion", "0.2.0", "ip4", "ip", sized,
                     "gateway", json_text_at(endpoint, "Routes.0.NextHop"), "dns");
}

static char *endpoint_name(const struct cni_call *call) {
    return xasprintf("%s_%s", call->container, json_text_at(call->conf, "name"));
}

static int add_new(const struct cni_call *call, const char *name, const json_t *network,
                   json_t **ret, struct error *err) {
    _cleanup_(json_decrefp_) json_t *ipam = NULL, *endpoint = NULL, *nothing = NULL;
    struct error ignored = {0};

    if (cni_has_ipam(call) && run_ipam(call, "ADD", &ipam, err))
        return -1;
    if (make_endpoint(call, name, json_text_at(network, "ID"), ipam, &endpoint, err) == 0 &&
        cni_give_to_namespace(call, call->netns, endpoint, "Add", err) == 0) {
        *ret = result_of(network, endpoint);
        return 0;
    }
    /* the endpoint stays behind */
    if (ipam)
        (void)run_ipam(call, "DEL", &nothing, &ignored); /* the first failure is told */
    return -1;
}

static int on_add(const struct cni_call *call, json_t **ret, struct error *err) {
    _cleanup_(freep) char *name = endpoint_name(call);
    _cleanup_(json_decrefp_) json_t *network = NULL, *endpoint = NULL;
    const char *type = type_of(call, err);

    if (!type || check_dsr(call, err) || find_network(call, type, &network, err) ||
        hcn_find(call->host, HCN_ENDPOINT, "Name", name, &endpoint, err))
        return -1;
    if (!endpoint)
        return add_new(call, name, network, ret, err);
    *ret = result_of(network, endpoint);
    return 0;
}

static int on_del(const struct cni_call *call, json_t **ret, struct error *err) {
    _cleanup_(freep) char *name = endpoint_name(call);
    _cleanup_(json_decrefp_) json_t *endpoint = NULL, *again = NULL, *space = NULL, *nothing = NULL;

    (void)ret;
    if (!type_of(call, err) || (cni_has_ipam(call) && run_ipam(call, "DEL", &nothing, err)) ||
        check_dsr(call, err) || hcn_find(call->host, HCN_ENDPOINT, "Name", name, &endpoint, err))
        return -1;
    if (!endpoint)
        return 0;
    const char *id = json_text_at(endpoint, "ID");
    const char *home = json_text_at(endpoint, "HostComputeNamespace");
    if (hcn_find(call->host, HCN_ENDPOINT, "ID", id, &again, err) ||
        (home && hcn_find(call->host, HCN_NAMESPACE, "ID", home, &space, err)) ||
        (space && cni_give_to_namespace(call, home, endpoint, "Remove", err)))
        return -1;
    return hcn_delete(call->host, HCN_ENDPOINT, id, err);
}

int wincni_main(void) {
    FILE *log = fopen("wincni.log", "ab");

    if (!log) {
        printf("OpenFile wincni.log error\n");
        return 1;
    }
    fprintf(log, "{\"level\":\"debug\",\"msg\":\"[cni-net] Plugin started.\"}\n");
    fclose(log);
    return cni_main(on_add, on_del);
}
