/* Compares HNS with Kubernetes: the kinds of difference, what is read for the comparison, and the
 * commands that repair by hand. */
#include "base/cidr.h"
#include "diag/drift/kinds.h"
#include "kube/node.h"
#include "kube/object.h"
#include "netsetup/hns/hcn_network.h"
#include "netsetup/routes/routes.h"

#define REMOTE_ROUTE "RemoteSubnetRoute"

/* ---- routes ---- */

static void add_route(struct text_table *subnets, const char *prefix, const char *by,
                      const char *in, json_t *rows) {
    if (prefix && !text_table_get(subnets, prefix))
        json_array_append_new(rows,
                              json_pack("{s:s, s:s*, s:s}", "prefix", prefix, "by", by, "in", in));
}

static void drift_find_nodeless_routes(const struct drift_observed *observed, struct drift_index *,
                                       json_t *rows) {
    _cleanup_(text_table_free) struct text_table subnets = {0};

    json_each(json_object_get(observed->nodes, "items"), i, node) {
        struct network_peer peer;

        network_peer_read(node, &peer);
        if (!peer.pod_cidr)
            return; /* A Node without a pod prefix yet may be the one that a route is for. */
        drift_put(&subnets, peer.pod_cidr);
        drift_put(&subnets, peer.pod_cidr6);
    }
    if (!subnets.count)
        return;
    json_each(observed->networks, i, network)
        json_each(json_object_get(network, "Policies"), k, policy)
            if (text_equal_nocase(json_text_at(policy, "Type"), REMOTE_ROUTE))
                add_route(&subnets, json_text_at(policy, "Settings.DestinationPrefix"),
                          json_text_at(policy, "Settings.ProviderAddress"), "HNS", rows);
    for (size_t i = 0; observed->routes && i < observed->routes->count; i++) {
        const struct host_route *route = &observed->routes->items[i];
        /* The route is to a part of the prefix of all pods. Other routers carry the whole prefix,
         * so a route to it is left out. */
        bool of_pods = false;
        struct cidr inner, outer;

        for (size_t k = 0; observed->pod_cidrs && k < observed->pod_cidrs->count; k++)
            of_pods |= cidr_parse(observed->pod_cidrs->items[k], &outer, NULL) == 0 &&
                       cidr_parse(route->destination, &inner, NULL) == 0 &&
                       cidr_contains_cidr(&outer, &inner) && inner.length > outer.length;
        if (of_pods && !text_equal(route->next_hop, "0.0.0.0") &&
            !text_equal(route->next_hop, "::"))
            add_route(&subnets, route->destination, route->next_hop, "Windows", rows);
    }
}

/* ---- kube-proxy ---- */

static bool runs_kube_proxy(const json_t *container) {
    static const char *const lists[] = {"command", "args"};

    if (strstr(json_text_or(container, "image", ""), "kube-proxy"))
        return true;
    for (size_t k = 0; k < ARRAY_SIZE(lists); k++)
        json_each(json_object_get(container, lists[k]), i, word)
            if (json_is_string(word) && strstr(json_string_value(word), "kube-proxy.exe"))
                return true;
    return false;
}

static void drift_find_kube_proxies(const struct drift_observed *observed, struct drift_index *,
                                    json_t *rows) {
    json_each(json_object_get(observed->cluster ? observed->cluster->pods : NULL, "items"), i,
              pod) {
        bool runs = false;
        _cleanup_(freep) char *name = kube_full_name(pod);

        json_each(json_at(pod, "spec.containers"), k, container)
            runs |= runs_kube_proxy(container);
        if (runs && text_equal(json_text_at(pod, "status.phase"), "Running"))
            json_array_append_new(rows, json_pack("{s:s}", "pod", name));
    }
}

enum { COMMANDS_MAX = 10 /* The most commands for each kind. */ };

/* ---- the table of kinds ---- */

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
     .left_many = "remote endpoints of no Service", .hns = "Endpoint"},
    {"endpointsWithoutPod", "endpoints without a pod", "address",
     .find = drift_find_podless_endpoints, .left_one = "endpoint of a pod that is gone",
     .left_many = "endpoints of pods that are gone", .hns = "Endpoint"},
    {"podsWithoutEndpoint", "pods without an endpoint", "pod",
     .find = drift_find_missing_endpoints},
    {"namespacesWithoutPod", "HNS namespaces without a pod", "id",
     .find = drift_find_podless_namespaces, .left_one = "namespace without a pod",
     .left_many = "namespaces without a pod", .hns = "Namespace"},
    {"routesWithoutNode", "routes to pods of nodes that the cluster does not have", "prefix",
     .find = drift_find_nodeless_routes, .left_one = "route to a node that is gone",
     .left_many = "routes to nodes that are gone", .is_route = true},
    {"kubeProxyPods", "pods that run kube-proxy beside the service", "pod",
     .find = drift_find_kube_proxies},
};

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

/* ---- read the cluster and HNS ---- */

static void add_unread(json_t *unread, const char *what, const struct error *why) {
    _cleanup_(freep) char *text = xasprintf("%s: %s", what, why->message);

    json_array_append_new(unread, json_string(text));
}

static bool has(const struct drift_cluster *known, enum drift_what what) {
    return known && (what == DRIFT_SERVICES ? known->has_services : known->has_slices);
}

void drift_ask(struct kube_client *client, const char *node, const struct drift_cluster *known,
               struct drift_cluster *ret) {
    static const char *const names[] = {
        [DRIFT_SERVICES] = "the Services", [DRIFT_SLICES] = "the EndpointSlices"};
    _cleanup_(freep) char *name = kube_escape(node ? node : "");
    _cleanup_(freep) char *pods_path =
        xasprintf("/api/v1/pods?fieldSelector=spec.nodeName%%3D%s", name);
    struct error why = {0};

    *ret = (struct drift_cluster){.unread = json_array()};
    for (enum drift_what what = DRIFT_SERVICES; what <= DRIFT_SLICES; what++)
        if (!has(known, what) && drift_cluster_list(ret, what, client, NULL, &why) < 0)
            add_unread(ret->unread, names[what], &why);
    if (node && kube_pages_get(client, pods_path, &ret->pods, &why) < 0)
        add_unread(ret->unread, "this node's pods", &why);
}

json_t *drift_judge(const struct drift_observed *observed) {
    _cleanup_(drift_index_free) struct drift_index index = {0};
    _cleanup_json_ json_t *commands = json_array();
    json_t *drift = json_object();
    bool restart = false;

    drift_index_make(observed, &index);
    for (size_t k = 0; k < DRIFT_KINDS; k++) {
        json_t *rows = json_array();

        drift_kinds[k].find(observed, &index, rows);
        if (json_array_size(rows)) {
            json_object_set(drift, drift_kinds[k].key, rows);
            restart |= drift_kinds[k].by_kube_proxy;
        }
        json_decref(rows);
    }
    if (observed->cluster && json_array_size(observed->cluster->unread))
        json_object_set(drift, "unread", observed->cluster->unread);
    if (restart) {
        json_array_append_new(commands, json_string("sc.exe stop kube-proxy"));
        json_array_append_new(commands, json_string("sc.exe start kube-proxy"));
    }
    for (size_t k = 0; k < DRIFT_KINDS; k++)
        json_each(json_object_get(drift, drift_kinds[k].key), i, row) {
            const char *hns = drift_kinds[k].hns, *prefix = json_text_at(row, "prefix");
            _cleanup_(freep) char *command = NULL;

            if (i == COMMANDS_MAX)
                break;
            /* Routes of the HNS network get no command, since no command of Windows removes
             * them. */
            if (hns)
                command = xasprintf("powershell -Command \"Get-Hns%s -Id %s | Remove-Hns%s\"", hns,
                                    json_text_or(row, "id", ""), hns);
            else if (drift_kinds[k].is_route && text_equal(json_text_at(row, "in"), "Windows"))
                command = xasprintf("route.exe delete %.*s", (int)strcspn(prefix, "/"), prefix);
            if (command)
                json_array_append_new(commands, json_string(command));
        }
    if (json_array_size(commands))
        json_object_set(drift, "commands", commands);
    return drift;
}

/* The documents of the cluster and of HNS that are compared. */
struct reading {
    struct drift_cluster cluster;
    struct hcn_endpoints endpoints;
    struct hcn_balancers balancers;
    json_t *namespaces, *networks, *nodes;
    struct host_routes routes;
};

static void reading_free(struct reading *r) {
    drift_cluster_free(&r->cluster);
    hcn_endpoints_free(&r->endpoints);
    hcn_balancers_free(&r->balancers);
    json_decref(r->namespaces);
    json_decref(r->networks);
    json_decref(r->nodes);
    host_routes_free(&r->routes);
}

static void read_hns(struct host *host, const char *network, struct reading *r,
                     struct drift_observed *observed) {
    json_t *unread = r->cluster.unread;
    struct error why = {0};

    if (hcn_endpoints_read(host, HCN_AT_ONCE, &r->endpoints, &why) == 0)
        observed->endpoints = &r->endpoints;
    else
        add_unread(unread, "HNS' endpoints", &why);
    if (hcn_balancers_read(host, HCN_AT_ONCE, &r->balancers, &why) == 0)
        observed->balancers = &r->balancers;
    else
        add_unread(unread, "HNS' load balancers", &why);
    if (hcn_list(host, HCN_NAMESPACE, NULL, NULL, &r->namespaces, &why) < 0)
        add_unread(unread, "HNS' namespaces", &why);
    if (hcn_list(host, HCN_NETWORK, network ? "Name" : NULL, network, &r->networks, &why) < 0)
        add_unread(unread, "HNS' network", &why);
    (void)host_routes(host, &r->routes, ERROR_IGNORED);
    observed->namespaces = r->namespaces;
    observed->networks = r->networks;
}

/* When the answer of HNS version 1 shows a difference, version 2 is asked for each object before
 * the difference is believed. If time is too short for that, the first answer stays. */
static void look_again(struct host *host, struct reading *r, const struct drift_observed *observed,
                       json_t **drift) {
    struct hcn_endpoints endpoints = {0};
    struct hcn_balancers balancers = {0};
    uint64_t before;
    bool differs = false;

    for (size_t k = 0; k < DRIFT_KINDS; k++)
        differs |= json_object_get(*drift, drift_kinds[k].key) != NULL;
    if (!differs)
        return;
    before = host_set_limit(host, DRIFT_MS);
    if (hcn_endpoints_read(host, HCN_ONE_BY_ONE, &endpoints, ERROR_IGNORED) == 0 &&
        hcn_balancers_read(host, HCN_ONE_BY_ONE, &balancers, ERROR_IGNORED) == 0) {
        hcn_endpoints_free(&r->endpoints);
        hcn_balancers_free(&r->balancers);
        r->endpoints = take_struct(endpoints);
        r->balancers = take_struct(balancers);
        json_decref(*drift);
        *drift = drift_judge(observed);
    }
    hcn_endpoints_free(&endpoints);
    host_set_deadline(host, before);
}

json_t *drift_read(struct host *host, struct kube_client *client, const char *node,
                   const char *network, const struct text_list *pod_cidrs,
                   const struct drift_cluster *known, struct hcn_balancers *ret_balancers,
                   bool *ret_has_balancers) {
    _cleanup_(reading_free) struct reading r = {0};
    uint64_t before = host_set_limit(host, DRIFT_MS);
    struct drift_cluster all;
    struct drift_observed observed = {
        .cluster = &all, .routes = &r.routes, .network = network, .pod_cidrs = pod_cidrs};
    struct error why = {0};
    json_t *drift;

    drift_ask(client, node, known, &r.cluster);
    /* Identities that may not list Nodes get no error for it. */
    if (pod_cidrs && kube_nodes_get(client, &r.nodes, &why) < 0 && !kube_is_forbidden(&why))
        add_unread(r.cluster.unread, "the Nodes", &why);
    read_hns(host, network, &r, &observed);
    host_set_deadline(host, before);
    /* `all` borrows the lists of `known` for the judgment. No request to the API server may run
     * until the judgment is over, because it might change `known`. */
    all = r.cluster;
    if (has(known, DRIFT_SERVICES)) {
        all.has_services = true;
        all.services = known->services;
        all.service_count = known->service_count;
    }
    if (has(known, DRIFT_SLICES)) {
        all.has_slices = true;
        all.slices = known->slices;
        all.slice_count = known->slice_count;
    }
    observed.nodes = r.nodes;
    observed.now = host_now(host);
    drift = drift_judge(&observed);
    if (observed.endpoints && observed.balancers)
        look_again(host, &r, &observed, &drift);
    if (ret_balancers) {
        *ret_has_balancers = observed.balancers;
        *ret_balancers = take_struct(r.balancers);
    }
    return drift;
}
