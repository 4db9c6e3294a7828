/* HNS against Kubernetes: the kinds of difference, what is read, what to do by hand. */
#include "diag/drift/kinds.h"

#include "kube/node.h"
#include "kube/object.h"
#include "netsetup/hns/hcn_at_once.h"
#include "netsetup/hns/hcn_lookup.h"

enum { COMMANDS_MAX = 10 /* of each kind */ };

/* ---- the kinds ---- */

static char *remove_endpoint(const json_t *row) {
    return xasprintf("powershell -Command \"Get-HnsEndpoint -Id %s | Remove-HnsEndpoint\"",
                     json_text_or(row, "id", ""));
}

static char *remove_namespace(const json_t *row) {
    return xasprintf("powershell -Command \"Get-HnsNamespace -Id %s | Remove-HnsNamespace\"",
                     json_text_or(row, "id", ""));
}

/* A network's own routes have no command of Windows. */
static char *delete_route(const json_t *row) {
    const char *prefix = json_text_at(row, "prefix");

    return text_equal(json_text_at(row, "in"), "Windows")
               ? xasprintf("route.exe delete %.*s", (int)strcspn(prefix, "/"), prefix)
               : NULL;
}

const struct drift_kind drift_kinds[DRIFT_KINDS] = {
    {"servicesWithoutLoadBalancer", "Services without a load balancer in HNS", "service",
     .find = drift_find_missing_balancers, .by_kube_proxy = true},
    {"loadBalancersWithoutService", "load balancers without a Service", "frontend",
     .find = drift_find_orphan_balancers, .left_one = "load balancer of no Service",
     .left_many = "load balancers of no Service", .by_kube_proxy = true},
    {"loadBalancersWithoutEndpoint", "load balancers without an endpoint", "frontend",
     .find = drift_find_empty_balancers, .by_kube_proxy = true},
    {"loadBalancersToOtherPods", "load balancers to others than the Service's pods", "address",
     .find = drift_find_other_pods, .by_kube_proxy = true},
    {"loadBalancersToOtherPort", "load balancers to a port that no pod of the Service has",
     "frontend", .find = drift_find_other_ports, .by_kube_proxy = true},
    {"staleRemoteEndpoints", "remote endpoints that nothing uses", "address",
     .find = drift_find_stale_endpoints, .left_one = "remote endpoint of no Service",
     .left_many = "remote endpoints of no Service", .command = remove_endpoint},
    {"endpointsWithoutPod", "endpoints without a pod", "address",
     .find = drift_find_podless_endpoints, .left_one = "endpoint of a pod that is gone",
     .left_many = "endpoints of pods that are gone", .command = remove_endpoint},
    {"podsWithoutEndpoint", "pods without an endpoint", "pod",
     .find = drift_find_missing_endpoints},
    {"namespacesWithoutPod", "HNS namespaces without a pod", "id",
     .find = drift_find_podless_namespaces, .left_one = "namespace without a pod",
     .left_many = "namespaces without a pod", .command = remove_namespace},
    {"routesWithoutNode", "routes to pods of nodes that the cluster does not have", "prefix",
     .find = drift_find_nodeless_routes, .left_one = "route to a node that is gone",
     .left_many = "routes to nodes that are gone", .command = delete_route},
    {"kubeProxyPods", "pods that run kube-proxy beside the service", "pod",
     .find = drift_find_kube_proxies},
};

json_t *drift_compare(const struct drift_seen *seen) {
    _cleanup_(drift_index_free) struct drift_index index = {0};
    json_t *drift = json_object();

    drift_index_make(seen, &index);
    for (size_t k = 0; k < DRIFT_KINDS; k++) {
        json_t *rows = json_array();

        drift_kinds[k].find(seen, &index, rows);
        if (json_array_size(rows))
            json_object_set(drift, drift_kinds[k].key, rows);
        json_decref(rows);
    }
    return drift;
}

char *drift_left_over(const json_t *drift) {
    struct text t = {0};

    for (size_t k = 0; k < DRIFT_KINDS; k++) {
        const struct drift_kind *kind = &drift_kinds[k];
        size_t count = json_array_size(json_object_get(drift, kind->key));

        if (count && kind->left_one)
            text_addf(&t, "%s%zu %s", t.len ? ", " : "", count,
                      count == 1 ? kind->left_one : kind->left_many);
    }
    return t.len ? text_take(&t) : NULL;
}

/* ---- what to do by hand ---- */

static void add_kube_proxy(const json_t *drift, json_t *commands) {
    for (size_t k = 0; k < DRIFT_KINDS; k++) {
        if (!drift_kinds[k].by_kube_proxy || !json_object_get(drift, drift_kinds[k].key))
            continue;
        json_array_append_new(commands, json_string("sc.exe stop kube-proxy"));
        json_array_append_new(commands, json_string("sc.exe start kube-proxy"));
        return;
    }
}

static void add_commands(json_t *drift) {
    _cleanup_json_ json_t *commands = json_array();

    add_kube_proxy(drift, commands);
    for (size_t k = 0; k < DRIFT_KINDS; k++)
        json_each(json_object_get(drift, drift_kinds[k].key), i, row) {
            _cleanup_(freep) char *command = NULL;

            if (!drift_kinds[k].command || i == COMMANDS_MAX)
                break;
            command = drift_kinds[k].command(row);
            if (command)
                json_array_append_new(commands, json_string(command));
        }
    if (json_array_size(commands))
        json_object_set(drift, "commands", commands);
}

/* ---- read ---- */

static void add_unread(json_t *asked, const char *what, const struct error *why) {
    _cleanup_(freep) char *text = xasprintf("%s: %s", what, why->message);

    json_array_append_new(json_array_in(asked, "unread"), json_string(text));
}

static json_t *get(struct kube_client *client, const char *path, const char *what, json_t *unread) {
    json_t *list = NULL;
    struct error why = {0};

    if (kube_pages_get(client, path, &list, &why) < 0)
        add_unread(unread, what, &why);
    return list;
}

static json_t *list(struct host *host, enum hcn_kind kind, const char *name, const char *what,
                    json_t *unread) {
    bool is_long = kind == HCN_ENDPOINT || kind == HCN_LOAD_BALANCER;
    json_t *all = NULL;
    struct error why = {0};
    int result = is_long ? hcn_list_at_once(host, kind, &all, &why)
                         : hcn_list(host, kind, name ? "Name" : NULL, name, &all, &why);

    if (result < 0)
        add_unread(unread, what, &why);
    return all;
}

json_t *drift_ask(struct kube_client *client, const char *node) {
    _cleanup_(freep) char *name = kube_escape(node ? node : "");
    _cleanup_(freep) char *pods_path =
        xasprintf("/api/v1/pods?fieldSelector=spec.nodeName%%3D%s", name);
    json_t *asked = json_object(), *services, *slices, *pods;

    services = get(client, "/api/v1/services", "the Services", asked);
    slices = get(client, "/apis/discovery.k8s.io/v1/endpointslices", "the EndpointSlices", asked);
    pods = node ? get(client, pods_path, "this node's pods", asked) : NULL;
    json_object_update_new(asked, json_pack("{s:o*, s:o*, s:o*}", "services", services, "slices",
                                            slices, "pods", pods));
    return asked;
}

json_t *drift_judge(const json_t *asked, const struct drift_seen *seen) {
    struct drift_seen all = *seen;
    json_t *drift;

    all.services = json_object_get(asked, "services");
    all.slices = json_object_get(asked, "slices");
    all.pods = json_object_get(asked, "pods");
    drift = drift_compare(&all);
    if (json_object_get(asked, "unread"))
        json_object_set(drift, "unread", json_object_get(asked, "unread"));
    add_commands(drift);
    return drift;
}

/* Which nodes there are is asked of whoever may. */
static json_t *nodes_of(struct kube_client *client, json_t *unread) {
    struct error why = {0};
    json_t *nodes = NULL;

    if (kube_nodes_get(client, &nodes, &why) < 0 && !kube_is_forbidden(&why))
        add_unread(unread, "the Nodes", &why);
    return nodes;
}

static bool differs(const json_t *drift) {
    for (size_t k = 0; k < DRIFT_KINDS; k++)
        if (json_object_get(drift, drift_kinds[k].key))
            return true;
    return false;
}

/* What version 1 of HNS told differs: version 2 is asked object by object, before that is believed.
 * In a time that is too short for that, the first answer stays. */
static void look_again(struct host *host, const json_t *asked, struct drift_seen *seen,
                       json_t **drift) {
    _cleanup_json_ json_t *endpoints = NULL, *balancers = NULL;
    uint64_t before = host_set_limit(host, DRIFT_MS);

    if (hcn_list(host, HCN_ENDPOINT, NULL, NULL, &endpoints, ERROR_IGNORED) == 0 &&
        hcn_list(host, HCN_LOAD_BALANCER, NULL, NULL, &balancers, ERROR_IGNORED) == 0) {
        seen->endpoints = endpoints;
        seen->balancers = balancers;
        json_decref(*drift);
        *drift = drift_judge(asked, seen);
    }
    host_set_deadline(host, before);
}

json_t *drift_read(struct host *host, struct kube_client *client, const char *node,
                   const char *network, const struct text_list *pod_cidrs, json_t **ret_balancers) {
    _cleanup_json_ json_t *asked = NULL, *endpoints = NULL, *balancers = NULL, *namespaces = NULL,
                          *networks = NULL, *nodes = NULL;
    _cleanup_(host_routes_free) struct host_routes routes = {0};
    uint64_t before = host_set_limit(host, DRIFT_MS);
    struct drift_seen seen;
    json_t *drift;

    asked = drift_ask(client, node);
    nodes = pod_cidrs ? nodes_of(client, asked) : NULL;
    endpoints = list(host, HCN_ENDPOINT, NULL, "HNS' endpoints", asked);
    balancers = list(host, HCN_LOAD_BALANCER, NULL, "HNS' load balancers", asked);
    namespaces = list(host, HCN_NAMESPACE, NULL, "HNS' namespaces", asked);
    networks = list(host, HCN_NETWORK, network, "HNS' network", asked);
    (void)host_routes(host, &routes, ERROR_IGNORED);
    host_set_deadline(host, before);
    if (ret_balancers)
        *ret_balancers = json_incref(balancers);
    seen = (struct drift_seen){.endpoints = endpoints,
                               .balancers = balancers,
                               .namespaces = namespaces,
                               .networks = networks,
                               .nodes = nodes,
                               .routes = &routes,
                               .network = network,
                               .pod_cidrs = pod_cidrs,
                               .now = host_now(host)};
    drift = drift_judge(asked, &seen);
    if (endpoints && balancers && differs(drift))
        look_again(host, asked, &seen, &drift);
    return drift;
}
