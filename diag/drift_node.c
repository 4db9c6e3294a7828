/* The node against Kubernetes: namespaces, load balancers' endpoints, routes to pods, a second
 * kube-proxy; and what to do by hand. */
#include "diag/drift_rows.h"

#include "base/cidr.h"
#include "kube/object.h"
#include "netsetup/peers.h"

#define REMOTE_ROUTE "RemoteSubnetRoute"
enum { COMMANDS_MAX = 10 /* of each kind */, PROBES = 2 };

/* HNS spells its ids in either case. */
static void put_id(json_t *set, const char *id, const char *value) {
    _cleanup_(freep) char *lower = text_lower(id);

    json_object_set_new(set, lower, json_string(value));
}

static const json_t *find_id(const json_t *set, const char *id) {
    _cleanup_(freep) char *lower = text_lower(id ? id : "");

    return json_object_get(set, lower);
}

/* Each endpoint's first address, by id; "" where it has none. New reference. */
static json_t *addresses_by_id(const json_t *endpoints) {
    json_t *set = json_object();

    json_each(endpoints, i, item) {
        const char *id = json_text_at(item, "ID");

        if (id)
            put_id(set, id, json_text_or(item, "IpConfigurations.0.IpAddress", ""));
    }
    return set;
}

/* ---- namespaces ---- */

static bool is_probe(const json_t *pod) {
    const char *name = json_text_at(pod, "metadata.name");

    return name && text_starts_with(name, "winjoin-probe-");
}

/* While a pod starts, its namespace has no endpoint, or one whose address nobody knows yet; those
 * of the probes are known. */
static bool any_starts(const struct drift_seen *seen) {
    json_each(json_object_get(seen->pods, "items"), i, pod) {
        const char *ip = json_text_at(pod, "status.podIP"),
                   *phase = json_text_at(pod, "status.phase");

        if (seen->probes && seen->probes->count == PROBES && is_probe(pod))
            continue;
        if (!json_bool_at(pod, "spec.hostNetwork", false) && (!ip || !*ip) &&
            !text_equal(phase, "Succeeded") && !text_equal(phase, "Failed"))
            return true;
    }
    return false;
}

/* Does a pod have one of the namespace's endpoints, or something else than a pod's network be in
 * it? `*ret_address`: of an endpoint that no pod has. */
static bool is_used(const json_t *space, const json_t *endpoints, const json_t *pods,
                    const char **ret_address) {
    json_each(json_object_get(space, "Resources"), i, resource) {
        const char *address;

        if (!text_equal(json_text_at(resource, "Type"), "Endpoint"))
            return true;
        address = json_string_value(find_id(endpoints, json_text_at(resource, "Data.Id")));
        if (address && (!*address || json_object_get(pods, address)))
            return true;
        *ret_address = address;
    }
    return false;
}

void drift_compare_namespaces(const struct drift_seen *seen, const json_t *pods, json_t *drift) {
    _cleanup_json_ json_t *endpoints = addresses_by_id(seen->endpoints);

    if (any_starts(seen))
        return;
    json_each(seen->namespaces, i, space) {
        const char *id = json_text_at(space, "ID"), *address = NULL;

        if (id && !text_equal(json_text_at(space, "Type"), "HostDefault") &&
            !is_used(space, endpoints, pods, &address))
            drift_add_row(drift, "namespacesWithoutPod",
                          json_pack("{s:s, s:s*}", "id", id, "address", address));
    }
}

/* ---- load balancers ---- */

void drift_compare_backends(const struct drift_seen *seen, json_t *drift) {
    _cleanup_json_ json_t *endpoints = addresses_by_id(seen->endpoints);

    json_each(seen->balancers, i, balancer) {
        const json_t *ids = json_object_get(balancer, "HostComputeEndpoints");
        bool any = !ids;

        json_each(ids, k, id) {
            const char *address = json_string_value(find_id(endpoints, json_string_value(id)));

            any |= address && *address;
        }
        if (!any)
            drift_add_row(drift, "loadBalancersWithoutEndpoint",
                          json_pack("{s:s*, s:s*}", "id", json_text_at(balancer, "ID"), "frontend",
                                    json_text_at(balancer, "FrontendVIPs.0")));
    }
}

/* Of the Service that has that cluster IP: the port with that number and protocol, its name. */
static const json_t *service_at(const json_t *services, const char *vip, long long number,
                                const char *protocol, const char **ret_port) {
    json_each(json_object_get(services, "items"), i, service) {
        if (!vip || !text_equal(json_text_at(service, "spec.clusterIP"), vip))
            continue;
        json_each(json_at(service, "spec.ports"), k, port) {
            if (json_number_at(port, "port", 0) != number ||
                !text_equal(drift_port_protocol(port), protocol))
                continue;
            *ret_port = json_text_at(port, "name");
            return service;
        }
    }
    return NULL;
}

/* Does an EndpointSlice have that number for the Service's port `name`? True also where no slice
 * has the port at all. */
static bool slices_have(const json_t *slices, const json_t *service, const char *name,
                        long long number) {
    bool any = false;

    json_each(json_object_get(slices, "items"), i, slice) {
        if (!drift_is_slice_of(slice, service) ||
            !json_array_size(json_object_get(slice, "endpoints")))
            continue;
        json_each(json_object_get(slice, "ports"), k, port) {
            if (!text_equal(json_text_or(port, "name", ""), name ? name : ""))
                continue;
            if (json_number_at(port, "port", 0) == number)
                return true;
            any = true;
        }
    }
    return !any;
}

/* Does an EndpointSlice of the Service have that address? True also where it has no slice. */
static bool slices_hold(const json_t *slices, const json_t *service, const char *address) {
    bool any = false;

    json_each(json_object_get(slices, "items"), i, slice) {
        if (!drift_is_slice_of(slice, service))
            continue;
        any = true;
        json_each(json_object_get(slice, "endpoints"), k, endpoint)
            if (json_has_text(json_object_get(endpoint, "addresses"), address))
                return true;
    }
    return !any;
}

/* Each endpoint that the load balancer sends to must be one of the Service. */
static void compare_members(const struct drift_seen *seen, const json_t *service,
                            const json_t *balancer, const json_t *addresses, json_t *drift) {
    json_each(json_object_get(balancer, "HostComputeEndpoints"), i, id) {
        const char *address = json_string_value(find_id(addresses, json_string_value(id)));

        if (address && *address && !slices_hold(seen->slices, service, address))
            drift_add_row(drift, "loadBalancersToOtherPods",
                          json_pack("{s:s*, s:s*, s:s}", "id", json_text_at(balancer, "ID"),
                                    "frontend", json_text_at(balancer, "FrontendVIPs.0"), "address",
                                    address));
    }
}

void drift_compare_ports(const struct drift_seen *seen, json_t *drift) {
    _cleanup_json_ json_t *addresses = addresses_by_id(seen->endpoints);

    json_each(seen->balancers, i, balancer) {
        const char *vip = json_text_at(balancer, "FrontendVIPs.0");

        json_each(json_object_get(balancer, "PortMappings"), k, mapping) {
            const char *name = NULL;
            long long inside = json_number_at(mapping, "InternalPort", 0);
            const json_t *service =
                service_at(seen->services, vip, json_number_at(mapping, "ExternalPort", 0),
                           drift_mapping_protocol(mapping), &name);

            if (service)
                compare_members(seen, service, balancer, addresses, drift);
            if (service && inside && !slices_have(seen->slices, service, name, inside))
                drift_add_row(drift, "loadBalancersToOtherPort",
                              json_pack("{s:s*, s:s, s:I}", "id", json_text_at(balancer, "ID"),
                                        "frontend", vip, "port", (json_int_t)inside));
        }
    }
}

/* ---- routes ---- */

/* The pod subnets of all nodes; false where one does not say its own yet. */
static bool read_subnets(const json_t *nodes, json_t *ret) {
    bool all = true;

    json_each(json_object_get(nodes, "items"), i, node) {
        struct network_peer peer;

        network_peer_read(node, &peer);
        all = all && peer.pod_cidr;
        if (peer.pod_cidr)
            json_object_set_new(ret, peer.pod_cidr, json_true());
        if (peer.pod_cidr6)
            json_object_set_new(ret, peer.pod_cidr6, json_true());
    }
    return all && json_object_size(ret);
}

static void add_route(const json_t *subnets, const char *prefix, const char *by, const char *in,
                      json_t *drift) {
    if (prefix && !json_object_get(subnets, prefix))
        drift_add_row(drift, "routesWithoutNode",
                      json_pack("{s:s, s:s*, s:s}", "prefix", prefix, "by", by, "in", in));
}

/* A part of the pods' prefix: the whole one is routed by others. */
static bool is_of_pods(const struct text_list *prefixes, const char *text) {
    struct cidr inner, outer;

    for (size_t i = 0; prefixes && i < prefixes->count; i++)
        if (cidr_parse(prefixes->items[i], &outer, NULL) == 0 &&
            cidr_parse(text, &inner, NULL) == 0 && cidr_contains_cidr(&outer, &inner) &&
            inner.length > outer.length)
            return true;
    return false;
}

void drift_compare_routes(const struct drift_seen *seen, json_t *drift) {
    _cleanup_json_ json_t *subnets = json_object();
    json_t *network;
    size_t i;

    if (!read_subnets(seen->nodes, subnets))
        return;
    json_array_foreach(seen->networks, i, network) {
        json_each(json_object_get(network, "Policies"), k, policy) {
            if (text_equal_nocase(json_text_at(policy, "Type"), REMOTE_ROUTE))
                add_route(subnets, json_text_at(policy, "Settings.DestinationPrefix"),
                          json_text_at(policy, "Settings.ProviderAddress"), "HNS", drift);
        }
    }
    for (i = 0; seen->routes && i < seen->routes->count; i++) {
        const struct host_route *route = &seen->routes->items[i];

        if (!text_equal(route->next_hop, "0.0.0.0") && !text_equal(route->next_hop, "::") &&
            is_of_pods(seen->pod_cidrs, route->destination))
            add_route(subnets, route->destination, route->next_hop, "Windows", drift);
    }
}

/* ---- kube-proxy ---- */

static bool runs_kube_proxy(const json_t *container) {
    static const char *const lists[] = {"command", "args"};
    const char *image = json_text_at(container, "image");

    if (image && strstr(image, "kube-proxy"))
        return true;
    for (size_t k = 0; k < ARRAY_SIZE(lists); k++)
        json_each(json_object_get(container, lists[k]), i, word)
            if (json_is_string(word) && strstr(json_string_value(word), "kube-proxy.exe"))
                return true;
    return false;
}

void drift_find_proxies(const struct drift_seen *seen, json_t *drift) {
    json_each(json_object_get(seen->pods, "items"), i, pod) {
        bool runs = false;
        _cleanup_(freep) char *name = kube_full_name(pod);

        json_each(json_at(pod, "spec.containers"), k, container)
            runs |= runs_kube_proxy(container);
        if (runs && text_equal(json_text_at(pod, "status.phase"), "Running"))
            drift_add_row(drift, "kubeProxyPods", json_pack("{s:s}", "pod", name));
    }
}

/* ---- what is left over ---- */

char *drift_left_over(const json_t *drift) {
    static const struct {
        const char *key, *one, *many;
    } kinds[] = {
        {"namespacesWithoutPod", "namespace without a pod", "namespaces without a pod"},
        {"endpointsWithoutPod", "endpoint of a pod that is gone",
         "endpoints of pods that are gone"},
        {"staleRemoteEndpoints", "remote endpoint of no Service", "remote endpoints of no Service"},
        {"loadBalancersWithoutService", "load balancer of no Service",
         "load balancers of no Service"},
        {"routesWithoutNode", "route to a node that is gone", "routes to nodes that are gone"},
    };
    struct text t = {0};

    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        size_t count = json_array_size(json_object_get(drift, kinds[i].key));

        if (count)
            text_addf(&t, "%s%zu %s", t.len ? ", " : "", count,
                      count == 1 ? kinds[i].one : kinds[i].many);
    }
    return t.len ? text_take(&t) : NULL;
}

/* ---- what to do ---- */

static void add_command(json_t *drift, const char *begin, const char *name, const char *end) {
    _cleanup_(freep) char *command = xasprintf("%s%s%s", begin, name ? name : "", end);

    drift_add_row(drift, "commands", json_string(command));
}

/* A network's own routes have no command of Windows. */
static void add_route_commands(json_t *drift) {
    json_each(json_object_get(drift, "routesWithoutNode"), i, row) {
        const char *prefix = json_text_at(row, "prefix");
        _cleanup_(freep) char *base = xstrndup(prefix, strcspn(prefix, "/"));

        if (i < COMMANDS_MAX && text_equal(json_text_at(row, "in"), "Windows"))
            add_command(drift, "route.exe delete ", base, "");
    }
}

void drift_add_commands(json_t *drift) {
    static const struct {
        const char *key, *begin, *end;
    } leftovers[] = {
        {"staleRemoteEndpoints", "powershell -Command \"Get-HnsEndpoint -Id ",
         " | Remove-HnsEndpoint\""},
        {"endpointsWithoutPod", "powershell -Command \"Get-HnsEndpoint -Id ",
         " | Remove-HnsEndpoint\""},
        {"namespacesWithoutPod", "powershell -Command \"Get-HnsNamespace -Id ",
         " | Remove-HnsNamespace\""},
    };

    if (json_object_get(drift, "servicesWithoutLoadBalancer") ||
        json_object_get(drift, "loadBalancersWithoutService") ||
        json_object_get(drift, "loadBalancersWithoutEndpoint") ||
        json_object_get(drift, "loadBalancersToOtherPods") ||
        json_object_get(drift, "loadBalancersToOtherPort")) {
        add_command(drift, "sc.exe stop kube-proxy", NULL, "");
        add_command(drift, "sc.exe start kube-proxy", NULL, "");
    }
    for (size_t k = 0; k < ARRAY_SIZE(leftovers); k++)
        json_each(json_object_get(drift, leftovers[k].key), i, row)
            if (i < COMMANDS_MAX)
                add_command(drift, leftovers[k].begin, json_text_at(row, "id"), leftovers[k].end);
    add_route_commands(drift);
}

/* ---- the kinds ---- */

const struct drift_kind drift_kinds[DRIFT_KINDS] = {
    {"servicesWithoutLoadBalancer", "Services without a load balancer in HNS", "service"},
    {"loadBalancersWithoutService", "load balancers without a Service", "frontend"},
    {"staleRemoteEndpoints", "remote endpoints that nothing uses", "address"},
    {"endpointsWithoutPod", "endpoints without a pod", "address"},
    {"loadBalancersWithoutEndpoint", "load balancers without an endpoint", "frontend"},
    {"loadBalancersToOtherPods", "load balancers to others than the Service's pods", "address"},
    {"loadBalancersToOtherPort", "load balancers to a port that no pod of the Service has",
     "frontend"},
    {"namespacesWithoutPod", "HNS namespaces without a pod", "id"},
    {"routesWithoutNode", "routes to pods of nodes that the cluster does not have", "prefix"},
    {"podsWithoutEndpoint", "pods without an endpoint", "pod"},
    {"kubeProxyPods", "pods that run kube-proxy beside the service", "pod"},
};
