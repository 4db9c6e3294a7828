/* Endpoints: their addresses within the network's subnets, routes, policies, what they hang on. */
#include <stdio.h>
#include <string.h>

#include "tests/hns/model.h"

enum { SUBNETS_MAX = 16, NAT_IPV6 = 2 };

bool model_endpoint_is_remote(const json_t *endpoint) {
    return model_number(endpoint, "Flags") & 1;
}

/* Whether another endpoint of the network holds the address. A remote endpoint may stand for an
 * address that a local one has, not the other way round. */
static bool is_taken(struct hns_model *m, const json_t *endpoint, const json_t *network,
                     const struct model_address *address) {
    const char *id;
    json_t *other, *config;
    struct model_address held;
    size_t i;

    json_object_foreach(m->objects[ENDPOINT], id, other) {
        if (strcmp(model_text(other, "HostComputeNetwork"), model_text(network, "ID")) ||
            (model_endpoint_is_remote(endpoint) && !model_endpoint_is_remote(other)))
            continue;
        json_array_foreach(json_object_get(other, "IpConfigurations"), i, config) {
            if (model_address_read(model_text(config, "IpAddress"), &held) &&
                model_address_equal(&held, address))
                return true;
        }
    }
    return false;
}

static bool is_gateway(const json_t *subnet, const struct model_address *address) {
    const char *text = model_subnet_gateway(subnet);
    struct model_address gateway;

    return !(model_number(subnet, "Flags") & 1) && *text && model_address_read(text, &gateway) &&
           model_address_equal(&gateway, address);
}

/* The index of the subnet that has the address; n when none. */
static size_t subnet_of(const struct model_prefix *subnets, size_t n,
                        const struct model_address *address) {
    size_t i = 0;

    while (i < n && !model_prefix_has(&subnets[i], address))
        i++;
    return i;
}

static int check_length(struct hns_model *m, json_t *config, int length, int max) {
    json_int_t given = json_integer_value(json_object_get(config, "PrefixLength"));

    if (!given) {
        json_object_set_new(config, "PrefixLength", json_integer(length));
        return 0;
    }
    if (given == length)
        return 0;
    if (given != max)
        return model_fail(m, HR_PREFIX, "PrefixLength %lld, the subnet has %d", (long long)given,
                          length);
    if (!model_has(m, F_HOST_PREFIX))
        return model_fail(m, HR_NOT_SUPPORTED, "%s", model_feature_text(F_HOST_PREFIX));
    return 0;
}

static int check_address(struct hns_model *m, const json_t *endpoint, const json_t *network,
                         json_t *config) {
    struct model_prefix subnets[SUBNETS_MAX];
    size_t n = model_subnets(network, subnets, SUBNETS_MAX), at;
    const char *text = model_text(config, "IpAddress");
    struct model_address address;
    int max;

    if (!model_address_read(text, &address))
        return model_fail(m, HR_ADDRESS_OUTSIDE, "'%.64s'", text);
    max = address.family == 6 ? 128 : 32;
    at = subnet_of(subnets, n, &address);
    if (is_taken(m, endpoint, network, &address))
        return model_fail(m, HR_OBJECT_EXISTS, "%s", text);
    if (model_endpoint_is_remote(endpoint))
        return check_length(m, config, at < n ? subnets[at].length : max, max);
    if (at == n && n)
        return model_fail(m, HR_ADDRESS_OUTSIDE, "%s is in no subnet of '%.80s'", text,
                          model_text(network, "Name"));
    if (at < n && (model_prefix_is_edge(&subnets[at], &address) ||
                   is_gateway(model_subnet_at(network, at), &address)))
        return model_fail(m, HR_ADDRESS_RESERVED, "%s", text);
    return check_length(m, config, at < n ? subnets[at].length : max, max);
}

/* The first free address of a subnet, beginning at base + 2. */
static int allocate_in(struct hns_model *m, const json_t *endpoint, const json_t *network,
                       size_t at, const struct model_prefix *subnet, json_t *configs) {
    struct model_address address;
    char text[46];

    for (unsigned i = 2; i < 65536; i++) {
        model_prefix_nth(subnet, i, &address);
        if (!model_prefix_has(subnet, &address))
            break;
        if (model_prefix_is_edge(subnet, &address) ||
            is_gateway(model_subnet_at(network, at), &address) ||
            is_taken(m, endpoint, network, &address))
            continue;
        model_address_write(&address, text);
        json_array_append_new(
            configs, json_pack("{s:s, s:i}", "IpAddress", text, "PrefixLength", subnet->length));
        return 0;
    }
    return model_fail(m, HR_ADDRESS_RESERVED, "no address is free");
}

/* An address of the first subnet of each family; no subnet at all: DHCP. */
static int allocate(struct hns_model *m, const json_t *endpoint, const json_t *network,
                    json_t *configs) {
    struct model_prefix subnets[SUBNETS_MAX];
    size_t n = model_subnets(network, subnets, SUBNETS_MAX);

    for (size_t i = 0; i < n; i++) {
        size_t first = 0;

        while (subnets[first].base.family != subnets[i].base.family)
            first++;
        if (first == i && allocate_in(m, endpoint, network, i, &subnets[i], configs))
            return -1;
    }
    return 0;
}

static int check_addresses(struct hns_model *m, json_t *endpoint, const json_t *network) {
    json_t *configs = json_object_get(endpoint, "IpConfigurations"), *config;
    int families[2] = {0};
    size_t i;

    for (i = json_array_size(configs); i-- > 0;)
        if (!*model_text(json_array_get(configs, i), "IpAddress"))
            json_array_remove(configs, i);
    if (!json_array_size(configs))
        return allocate(m, endpoint, network, configs);
    json_array_foreach(configs, i, config) {
        const char *text = model_text(config, "IpAddress");

        families[!!strchr(text, ':')]++;
        for (size_t k = 0; k < i; k++)
            if (!strcmp(text, model_text(json_array_get(configs, k), "IpAddress")))
                return model_fail(m, HR_OBJECT_EXISTS, "%s", text);
        if (check_address(m, endpoint, network, config))
            return -1;
    }
    if (families[0] && families[1] && !model_has(m, F_DUAL_STACK))
        return model_fail(m, HR_NOT_SUPPORTED, "%s", model_feature_text(F_DUAL_STACK));
    return 0;
}

static bool is_link_local(const char *text) {
    return !strncmp(text, "fe80:", 5) || !strcmp(text, "0.0.0.0");
}

static bool has_family(const json_t *endpoint, bool v6) {
    const json_t *config;
    size_t i;

    json_array_foreach(json_object_get(endpoint, "IpConfigurations"), i, config) {
        if ((strchr(model_text(config, "IpAddress"), ':') != NULL) == v6)
            return true;
    }
    return false;
}

/* A default route for each family that the endpoint has, through its subnet's gateway. */
static int default_routes(const json_t *endpoint, const json_t *network, size_t n, json_t *routes) {
    for (size_t i = 0; i < n; i++) {
        const char *gateway = model_subnet_gateway(model_subnet_at(network, i));

        if (*gateway && has_family(endpoint, strchr(gateway, ':') != NULL))
            json_array_append_new(routes,
                                  json_pack("{s:s, s:s}", "NextHop", gateway, "DestinationPrefix",
                                            strchr(gateway, ':') ? "::/0" : "0.0.0.0/0"));
    }
    return 0;
}

/* Routes as given: a next hop must be a neighbour. None: through the subnets' gateways. */
static int check_routes(struct hns_model *m, json_t *endpoint, const json_t *network) {
    json_t *routes = json_object_get(endpoint, "Routes"), *route;
    struct model_prefix subnets[SUBNETS_MAX];
    size_t n = model_subnets(network, subnets, SUBNETS_MAX), i;
    struct model_address hop;

    json_array_foreach(routes, i, route) {
        const char *text = model_text(route, "NextHop");

        if (*text && !is_link_local(text) && n && model_address_read(text, &hop) &&
            subnet_of(subnets, n, &hop) == n)
            return model_fail(m, HR_ADDRESS_OUTSIDE, "Routes[%zu]: NextHop %s is in no subnet", i,
                              text);
    }
    return json_array_size(routes) ? 0 : default_routes(endpoint, network, n, routes);
}

/* Without a VIP the flag says which of the node's addresses is meant. */
static bool is_ipv6(const json_t *mapping) {
    return strchr(model_text(mapping, "VIP"), ':') || model_number(mapping, "Flags") & NAT_IPV6;
}

static bool is_any(const char *vip) {
    return !*vip || !strcmp(vip, "0.0.0.0") || !strcmp(vip, "::");
}

static bool same_port(const json_t *a, const json_t *b) {
    const char *va = model_text(a, "VIP"), *vb = model_text(b, "VIP");
    bool any = is_any(va) || is_any(vb);

    return is_ipv6(a) == is_ipv6(b) && model_number(a, "Protocol") == model_number(b, "Protocol") &&
           model_number(a, "ExternalPort") == model_number(b, "ExternalPort") &&
           (any || !strcmp(va, vb));
}

static bool has_port(const json_t *policies, const json_t *mapping) {
    const json_t *policy;
    size_t i;

    json_array_foreach(policies, i, policy) {
        if (json_object_get(policy, "Settings") != mapping &&
            !strcmp(model_text(policy, "Type"), "PortMapping") &&
            same_port(json_object_get(policy, "Settings"), mapping))
            return true;
    }
    return false;
}

/* A host port belongs to one mapping of one endpoint. Twice in one call: no recording shows the
 * answer, the code is inferred. */
static int check_ports(struct hns_model *m, const json_t *endpoint) {
    const char *id;
    json_t *other, *policy;
    size_t i;

    json_array_foreach(json_object_get(endpoint, "Policies"), i, policy) {
        const json_t *mapping = json_object_get(policy, "Settings");

        if (strcmp(model_text(policy, "Type"), "PortMapping"))
            continue;
        if (has_port(json_object_get(endpoint, "Policies"), mapping))
            return model_fail(m, HR_PORT_EXISTS, "Policies[%zu]: external port %u is there twice",
                              i, (unsigned)model_number(mapping, "ExternalPort"));
        json_object_foreach(m->objects[ENDPOINT], id, other) {
            if (strcmp(id, model_text(endpoint, "ID")) &&
                has_port(json_object_get(other, "Policies"), mapping))
                return model_fail(m, HR_PORT_EXISTS, "external port %u",
                                  (unsigned)model_number(mapping, "ExternalPort"));
        }
    }
    return 0;
}

static void set_default(json_t *object, const char *key, json_t *value) {
    if (json_object_get(object, key))
        json_decref(value);
    else
        json_object_set_new(object, key, value);
}

static void complete(struct hns_model *m, json_t *endpoint) {
    char mac[18];

    if (model_mac_read(model_text(endpoint, "MacAddress"), mac) == false)
        model_mac(m, 0xaa, mac);
    json_object_set_new(endpoint, "MacAddress", json_string(mac));
    set_default(endpoint, "Dns", json_object());
    set_default(endpoint, "Policies", json_array());
    set_default(endpoint, "IpConfigurations", json_array());
    set_default(endpoint, "Routes", json_array());
    set_default(endpoint, "Flags", json_integer(0));
}

int model_endpoint_make(struct hns_model *m, json_t *endpoint, const char *network_id) {
    const char *named = model_text(endpoint, "HostComputeNetwork");
    const json_t *network = model_find(m, NETWORK, network_id ? network_id : named);

    if (!network)
        return -1;
    if (*named && strcmp(named, model_text(network, "ID")))
        return model_fail(m, HR_PARAMETER, "HostComputeNetwork is not the network of the handle");
    if (*model_text(endpoint, "HostComputeNamespace") &&
        !model_find(m, NAMESPACE, model_text(endpoint, "HostComputeNamespace")))
        return -1;
    json_object_set(endpoint, "HostComputeNetwork", json_object_get(network, "ID"));
    complete(m, endpoint);
    json_object_del(endpoint, "HostComputeNamespace"); /* the namespace says who is in it */
    if (model_policies_check(m, model_endpoint_policies, json_object_get(endpoint, "Policies"),
                             model_network_type(network)))
        return -1;
    return check_addresses(m, endpoint, network) || check_routes(m, endpoint, network) ||
                   check_ports(m, endpoint)
               ? -1
               : 0;
}

static int modify_policies(struct hns_model *m, json_t *endpoint, const json_t *request) {
    const json_t *network = model_find(m, NETWORK, model_text(endpoint, "HostComputeNetwork"));
    json_t *before = json_deep_copy(json_object_get(endpoint, "Policies"));
    int r = network ? model_policies_modify(
                          m, model_endpoint_policies, endpoint, model_text(request, "RequestType"),
                          json_object_get(request, "Settings"), model_network_type(network))
                    : -1;

    if (!r && check_ports(m, endpoint)) {
        json_object_set(endpoint, "Policies", before);
        r = -1;
    }
    json_decref(before);
    return r;
}

int model_endpoint_modify(struct hns_model *m, json_t *endpoint, const json_t *request) {
    const char *resource = model_text(request, "ResourceType");
    json_t *taken;

    if (!strcmp(resource, "Policy"))
        return modify_policies(m, endpoint, request);
    if (strcmp(resource, "Port"))
        return model_fail(m, HR_UNSUPPORTED, "ResourceType %s of an endpoint", resource);
    if (model_take(m, model_port_schema, "Settings", json_object_get(request, "Settings"), &taken))
        return -1;
    json_object_set_new(endpoint, "_port", taken);
    m->changed = true;
    return 0;
}

/* ---- what version 1 and the compute systems hang an endpoint on ---- */

enum { STATE_ATTACHED = 2, STATE_SHARED = 3, STATE_DETACHED = 4 };

static void set_attached(struct hns_model *m, json_t *endpoint, int state, const char *system,
                         json_t *ids) {
    json_object_set_new(
        endpoint, "_attached",
        json_pack("{s:i, s:s, s:O}", "State", state, "SystemType", system, "Ids", ids));
    m->changed = true;
}

int model_endpoint_attach(struct hns_model *m, json_t *endpoint, const char *system,
                          const char *id) {
    const json_t *old = json_object_get(endpoint, "_attached");
    uint64_t state = model_number(old, "State");
    bool host = !strcmp(system, "Host");
    json_t *ids;

    if (model_endpoint_is_remote(endpoint))
        return model_fail(m, HR_REMOTE_ENDPOINT, "attach");
    if (host && (state == STATE_ATTACHED || state == STATE_SHARED))
        return model_fail(m, HR_ATTACHED, NULL);
    ids = old ? json_deep_copy(json_object_get(old, "Ids")) : json_array();
    if (*id)
        json_array_append_new(ids, json_string(id));
    set_attached(m, endpoint, json_array_size(ids) > 1 ? STATE_SHARED : STATE_ATTACHED, system,
                 ids);
    json_decref(ids);
    return 0;
}

int model_endpoint_detach(struct hns_model *m, json_t *endpoint, const char *id) {
    const json_t *old = json_object_get(endpoint, "_attached");
    json_t *ids;
    size_t left;

    if (model_number(old, "State") != STATE_ATTACHED && model_number(old, "State") != STATE_SHARED)
        return model_fail(m, HR_NOT_ATTACHED, NULL);
    ids = json_deep_copy(json_object_get(old, "Ids"));
    for (size_t i = json_array_size(ids); i-- > 0;)
        if (!strcmp(json_string_value(json_array_get(ids, i)), id))
            json_array_remove(ids, i);
    left = json_array_size(ids);
    set_attached(m, endpoint,
                 left > 1 ? STATE_SHARED
                 : left   ? STATE_ATTACHED
                          : STATE_DETACHED,
                 model_text(old, "SystemType"), ids);
    json_decref(ids);
    return 0;
}
