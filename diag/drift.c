/* HNS against Kubernetes: Services, load balancers, endpoints, pods. */
#include "diag/drift.h"

#include "diag/drift_rows.h"

#include "base/rfc3339.h"
#include "kube/node.h"
#include "kube/object.h"
#include "kube/pages.h"
#include "netsetup/hcn_lookup.h"

enum { SYNC_SECONDS = 60, REMOTE = 1, PROTOCOL_UDP = 17 };

void drift_add_row(json_t *drift, const char *key, json_t *row) {
    json_array_append_new(json_array_in(drift, key), row);
}

static char *frontend_text(const char *vip, long long port, const char *protocol) {
    return xasprintf("%s:%lld/%s", vip, port, protocol);
}

/* A set of texts. */
static void put(json_t *set, const char *text) {
    if (text && *text)
        json_object_set_new(set, text, json_true());
}

static bool has(const json_t *set, const char *text) {
    return text && json_object_get(set, text) != NULL;
}

/* ---- what Kubernetes says ---- */

/* The addresses of a Service at which others reach it. */
static void add_vips(const json_t *service, json_t *ret) {
    static const char *const lists[] = {"spec.clusterIPs", "spec.externalIPs"};

    put(ret, json_text_at(service, "spec.clusterIP"));
    for (size_t k = 0; k < ARRAY_SIZE(lists); k++)
        json_each(json_at(service, lists[k]), i, item)
            put(ret, json_string_value(item));
    json_each(json_at(service, "status.loadBalancer.ingress"), i, item)
        put(ret, json_text_at(item, "ip"));
}

const char *drift_port_protocol(const json_t *port) {
    return json_text_or(port, "protocol", "TCP");
}

const char *drift_mapping_protocol(const json_t *mapping) {
    return json_number_at(mapping, "Protocol", 0) == PROTOCOL_UDP ? "UDP" : "TCP";
}

/* The name of its Service; NULL: of none. */
static const char *service_of(const json_t *slice) {
    return json_string_value(
        json_object_get(json_at(slice, "metadata.labels"), "kubernetes.io/service-name"));
}

bool drift_is_slice_of(const json_t *slice, const json_t *service) {
    return text_equal(service_of(slice), json_text_at(service, "metadata.name")) &&
           text_equal(json_text_at(slice, "metadata.namespace"),
                      json_text_at(service, "metadata.namespace"));
}

/* "ns/name port-name" of each port that has a ready endpoint; and all endpoints' addresses. */
static void read_slices(const json_t *slices, json_t *ready, json_t *addresses) {
    json_each(json_object_get(slices, "items"), i, slice) {
        const char *service = service_of(slice);
        bool serves = false;

        json_each(json_object_get(slice, "endpoints"), k, endpoint) {
            json_each(json_object_get(endpoint, "addresses"), n, item)
                put(addresses, json_string_value(item));
            serves |= json_bool_at(endpoint, "conditions.ready", true);
        }
        json_each(json_object_get(slice, "ports"), k, item) {
            _cleanup_(freep) char *key =
                xasprintf("%s/%s %s", json_text_or(slice, "metadata.namespace", ""),
                          service ? service : "", json_text_or(item, "name", ""));

            if (serves)
                put(ready, key);
        }
    }
}

static bool is_old(const json_t *service, int64_t now) {
    return now - rfc3339_seconds(json_text_at(service, "metadata.creationTimestamp")) >
           SYNC_SECONDS;
}

/* Of a headless one and one of another proxy there is nothing to program. */
static bool is_proxied(const json_t *service) {
    const char *vip = json_text_at(service, "spec.clusterIP");
    const json_t *labels = json_at(service, "metadata.labels");

    return vip && *vip && !text_equal(vip, "None") &&
           !json_object_get(labels, "service.kubernetes.io/service-proxy-name");
}

/* ---- load balancers ---- */

/* "10.96.0.10:53/UDP" of each load balancer, ":30080/TCP" of one at a node port. */
static void balancer_frontends(const json_t *balancer, struct text_list *ret) {
    const json_t *vips = json_object_get(balancer, "FrontendVIPs");

    json_each(json_object_get(balancer, "PortMappings"), i, mapping) {
        long long port = json_number_at(mapping, "ExternalPort", 0);
        const char *protocol = drift_mapping_protocol(mapping);

        json_each(vips, k, vip)
            if (json_is_string(vip))
                text_list_add_owned(ret, frontend_text(json_string_value(vip), port, protocol));
        if (!json_array_size(vips))
            text_list_add_owned(ret, frontend_text("", port, protocol));
    }
}

static void read_balancers(const json_t *balancers, json_t *frontends) {
    json_each(balancers, i, balancer) {
        _cleanup_(text_list_free) struct text_list list = {0};

        balancer_frontends(balancer, &list);
        for (size_t k = 0; k < list.count; k++)
            put(frontends, list.items[k]);
    }
}

static void find_missing(const struct drift_seen *seen, const json_t *service, const json_t *ready,
                         const json_t *frontends, json_t *drift) {
    _cleanup_(freep) char *full = kube_full_name(service);

    if (!is_old(service, seen->now) || !is_proxied(service) ||
        text_equal(json_text_at(service, "spec.internalTrafficPolicy"), "Local"))
        return; /* no endpoint on this node: no load balancer either */
    json_each(json_at(service, "spec.ports"), i, port) {
        _cleanup_(freep) char *key = xasprintf("%s %s", full, json_text_or(port, "name", ""));
        _cleanup_(freep) char *frontend =
            frontend_text(json_text_at(service, "spec.clusterIP"), json_number_at(port, "port", 0),
                          drift_port_protocol(port));

        if (has(ready, key) && !has(frontends, frontend) &&
            !text_equal(drift_port_protocol(port),
                        "SCTP")) /* kube-proxy on Windows leaves it out */
            drift_add_row(drift, "servicesWithoutLoadBalancer",
                          json_pack("{s:s, s:s}", "service", full, "frontend", frontend));
    }
}

/* What load balancers may be for. The health check port of an address of type LoadBalancer is not
 * among a Service's ports: its address alone counts. */
static void wanted_frontends(const json_t *service, json_t *wanted, json_t *vips) {
    _cleanup_json_ json_t *own = json_object();

    add_vips(service, own);
    json_each(json_at(service, "spec.ports"), i, port) {
        _cleanup_(freep) char *at_node =
            frontend_text("", json_number_at(port, "nodePort", 0), drift_port_protocol(port));

        put(wanted, at_node);
        json_each_member(own, vip, value) {
            _cleanup_(freep) char *frontend =
                frontend_text(vip, json_number_at(port, "port", 0), drift_port_protocol(port));

            put(wanted, frontend);
        }
    }
    if (text_equal(json_text_at(service, "spec.type"), "LoadBalancer"))
        json_object_update(vips, own);
}

static void find_orphans(const struct drift_seen *seen, const json_t *wanted, const json_t *vips,
                         json_t *drift) {
    json_each(seen->balancers, i, balancer) {
        _cleanup_(text_list_free) struct text_list list = {0};

        balancer_frontends(balancer, &list);
        for (size_t k = 0; k < list.count; k++) {
            _cleanup_(freep) char *vip = xstrndup(list.items[k], strcspn(list.items[k], ":"));

            if (has(wanted, list.items[k]) || has(vips, vip))
                continue;
            drift_add_row(drift, "loadBalancersWithoutService",
                          json_pack("{s:s*, s:s}", "id", json_text_at(balancer, "ID"), "frontend",
                                    list.items[k]));
            break;
        }
    }
}

static void compare_services(const struct drift_seen *seen, const json_t *ready, json_t *drift) {
    _cleanup_json_ json_t *frontends = json_object(), *wanted = json_object(),
                          *vips = json_object();

    read_balancers(seen->balancers, frontends);
    json_each(json_object_get(seen->services, "items"), i, service) {
        find_missing(seen, service, ready, frontends, drift);
        wanted_frontends(service, wanted, vips);
    }
    find_orphans(seen, wanted, vips, drift);
}

/* ---- endpoints ---- */

static const char *address_of(const json_t *endpoint) {
    return json_text_at(endpoint, "IpConfigurations.0.IpAddress");
}

static bool is_remote(const json_t *endpoint) {
    return json_number_at(endpoint, "Flags", 0) & REMOTE;
}

/* kube-proxy makes one for each endpoint elsewhere and, on overlay, for each cluster IP. */
static void compare_remote(const struct drift_seen *seen, json_t *addresses, json_t *drift) {
    json_each(json_object_get(seen->services, "items"), i, item)
        add_vips(item, addresses);
    json_each(seen->endpoints, i, item) {
        const char *address = address_of(item);

        if (is_remote(item) && address && !has(addresses, address))
            drift_add_row(
                drift, "staleRemoteEndpoints",
                json_pack("{s:s*, s:s}", "id", json_text_at(item, "ID"), "address", address));
    }
}

/* "<container id>_<network>", as the CNI plugins call what they make; not the host's own "_ep". */
static bool is_of_pod(const json_t *endpoint, const char *network) {
    const char *name = json_text_at(endpoint, "Name");
    size_t len = name ? strlen(name) : 0, tail = strlen(network);

    return !is_remote(endpoint) && len > tail + 1 && name[len - tail - 1] == '_' &&
           text_equal(name + len - tail, network);
}

static void pod_addresses(const json_t *pods, json_t *ret) {
    json_each(json_object_get(pods, "items"), i, item) {
        put(ret, json_text_at(item, "status.podIP"));
        json_each(json_at(item, "status.podIPs"), k, address)
            put(ret, json_text_at(address, "ip"));
    }
}

static void compare_pods(const struct drift_seen *seen, json_t *drift) {
    _cleanup_json_ json_t *addresses = json_object();

    pod_addresses(seen->pods, addresses);
    for (size_t i = 0; seen->probes && i < seen->probes->count; i++)
        put(addresses, seen->probes->items[i]);
    drift_compare_namespaces(seen, addresses, drift);
    json_each(seen->endpoints, i, item) {
        const char *at = address_of(item);

        if (is_of_pod(item, seen->network) && at && !has(addresses, at))
            drift_add_row(drift, "endpointsWithoutPod",
                          json_pack("{s:s*, s:s*, s:s}", "id", json_text_at(item, "ID"), "name",
                                    json_text_at(item, "Name"), "address", at));
    }
}

/* A pod with a network of its own, which has run for long enough. */
static bool needs_endpoint(const json_t *pod, int64_t now) {
    int64_t since = rfc3339_seconds(json_text_at(pod, "status.startTime"));

    return text_equal(json_text_at(pod, "status.phase"), "Running") &&
           !json_bool_at(pod, "spec.hostNetwork", false) && since && now - since > SYNC_SECONDS;
}

static void find_without_endpoint(const struct drift_seen *seen, json_t *drift) {
    _cleanup_json_ json_t *addresses = json_object();

    json_each(seen->endpoints, i, item)
        if (!is_remote(item))
            put(addresses, address_of(item));
    json_each(json_object_get(seen->pods, "items"), i, item) {
        const char *ip = json_text_at(item, "status.podIP");
        _cleanup_(freep) char *pod = kube_full_name(item);

        if (ip && *ip && needs_endpoint(item, seen->now) && !has(addresses, ip))
            drift_add_row(drift, "podsWithoutEndpoint",
                          json_pack("{s:s, s:s}", "pod", pod, "address", ip));
    }
}

json_t *drift_compare(const struct drift_seen *seen) {
    _cleanup_json_ json_t *ready = json_object(), *addresses = json_object();
    json_t *drift = json_object();

    read_slices(seen->slices, ready, addresses);
    if (seen->services && seen->slices && seen->balancers) {
        compare_services(seen, ready, drift);
        drift_compare_ports(seen, drift);
    }
    if (seen->services && seen->slices && seen->endpoints)
        compare_remote(seen, addresses, drift);
    if (seen->pods && seen->endpoints && seen->network)
        compare_pods(seen, drift);
    if (seen->balancers && seen->endpoints)
        drift_compare_backends(seen, drift);
    drift_compare_routes(seen, drift);
    if (seen->pods && seen->endpoints)
        find_without_endpoint(seen, drift);
    drift_find_proxies(seen, drift);
    return drift;
}

/* ---- read ---- */

static void add_unread(json_t *drift, const char *what, const struct error *why) {
    _cleanup_(freep) char *text = xasprintf("%s: %s", what, why->message);

    drift_add_row(drift, "unread", json_string(text));
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
    json_t *all = NULL;
    struct error why = {0};

    if (hcn_list(host, kind, name ? "Name" : NULL, name, &all, &why) < 0)
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

static const json_t *service_at(const json_t *asked, const char *vip) {
    json_each(json_at(asked, "services.items"), i, item)
        if (vip && text_equal(json_text_at(item, "spec.clusterIP"), vip))
            return item;
    return NULL;
}

json_t *drift_service_spec(const json_t *asked, const char *vip) {
    const json_t *service = service_at(asked, vip);
    json_t *ports = json_array();

    json_each(json_at(service, "spec.ports"), i, port) {
        _cleanup_(freep) char *text =
            xasprintf("%lld/%s", json_number_at(port, "port", 0), drift_port_protocol(port));

        json_array_append_new(ports, json_string(text));
    }
    if (!service) {
        json_decref(ports);
        return NULL;
    }
    return json_pack("{s:o, s:s*}", "ports", ports, "internalTrafficPolicy",
                     json_text_at(service, "spec.internalTrafficPolicy"));
}

int drift_ready_endpoints(const json_t *asked, const char *vip) {
    const json_t *slices = json_at(asked, "slices.items"),
                 *services = json_at(asked, "services.items"), *service = NULL;
    _cleanup_json_ json_t *vips = json_object();
    int ready = 0;

    json_each(services, i, item)
        add_vips(item, vips);
    service = service_at(asked, vip);
    if (services && vip && *vip && !has(vips, vip))
        return DRIFT_NO_SERVICE;
    if (!json_text_at(service, "metadata.name") || !slices)
        return -1;
    json_each(slices, i, item) {
        if (!drift_is_slice_of(item, service))
            continue;
        json_each(json_object_get(item, "endpoints"), k, endpoint)
            ready += json_bool_at(endpoint, "conditions.ready", true);
    }
    return ready;
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
    drift_add_commands(drift);
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

json_t *drift_read(struct host *host, struct kube_client *client, const char *node,
                   const char *network, const struct text_list *pod_cidrs) {
    _cleanup_json_ json_t *asked = NULL, *endpoints = NULL, *balancers = NULL, *namespaces = NULL,
                          *networks = NULL, *nodes = NULL;
    _cleanup_(host_routes_free) struct host_routes routes = {0};
    uint64_t before = host_set_limit(host, DRIFT_MS);

    asked = drift_ask(client, node);
    nodes = pod_cidrs ? nodes_of(client, asked) : NULL;
    endpoints = list(host, HCN_ENDPOINT, NULL, "HNS' endpoints", asked);
    balancers = list(host, HCN_LOAD_BALANCER, NULL, "HNS' load balancers", asked);
    namespaces = list(host, HCN_NAMESPACE, NULL, "HNS' namespaces", asked);
    networks = list(host, HCN_NETWORK, network, "HNS' network", asked);
    (void)host_routes(host, &routes, ERROR_IGNORED);
    host_set_deadline(host, before);
    return drift_judge(asked, &(struct drift_seen){.endpoints = endpoints,
                                                   .balancers = balancers,
                                                   .namespaces = namespaces,
                                                   .networks = networks,
                                                   .nodes = nodes,
                                                   .routes = &routes,
                                                   .network = network,
                                                   .pod_cidrs = pod_cidrs,
                                                   .now = host_now(host)});
}
