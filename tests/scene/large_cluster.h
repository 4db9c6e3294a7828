/* What the API server and HNS say in a cluster with many Services, each with three pods. */
#pragma once

#include "base/json.h"
#include "base/rfc3339.h"
#include "tests/scene/drift_documents.h"

enum { LARGE_NOW = 1795255200, LARGE_PODS = 3 };

struct large_cluster {
    json_t *services, *slices, *pods, *nodes;
    json_t *endpoints, *balancers, *namespaces, *networks;
};

/* Several numbers of an address and an id: "10.96.1.44", "00000000-0000-4000-8000-00000000012c". */
static inline char *large_address(unsigned first, size_t n) {
    return xasprintf("10.%u.%u.%u", first + (unsigned)(n >> 16), (unsigned)(n >> 8) & 255,
                     (unsigned)n & 255);
}

static inline json_t *large_id(size_t n) {
    _cleanup_(freep) char *id = xasprintf("00000000-0000-4000-8000-%012zX", n);

    return json_string(id);
}

static inline json_t *large_text(const char *format, size_t n) {
    struct text t = {0};
    json_t *json;

    text_addf(&t, "%s%zu", format, n);
    json = json_string(text_str(&t));
    text_free(&t);
    return json;
}

static inline json_t *large_slice(size_t n) {
    json_t *endpoints = json_array();

    for (size_t k = 0; k < LARGE_PODS; k++) {
        _cleanup_(freep) char *address = large_address(128, n * LARGE_PODS + k);

        json_array_append_new(endpoints,
                              json_pack("{s:[s], s:{s:b}, s:o}", "addresses", address, "conditions",
                                        "ready", 1, "nodeName", large_text("node-", n % 100)));
    }
    return json_pack("{s:{s:s, s:{s:o}}, s:o, s:[{s:s, s:i}]}", "metadata", "namespace", "d",
                     "labels", "kubernetes.io/service-name", large_text("service-", n), "endpoints",
                     endpoints, "ports", "name", "http", "port", 8080);
}

static inline void large_service(struct large_cluster *c, size_t n) {
    _cleanup_(freep) char *vip = large_address(96, n);
    json_t *ids = json_array();

    json_array_append_new(json_object_get(c->services, "items"),
                          json_pack("{s:{s:s, s:o, s:s}, s:{s:s, s:[s], s:[{s:s, s:i, s:s, s:i}]}}",
                                    "metadata", "namespace", "d", "name", large_text("service-", n),
                                    "creationTimestamp", RFC3339_TEXT(LARGE_NOW - 3600), "spec",
                                    "clusterIP", vip, "clusterIPs", vip, "ports", "name", "http",
                                    "port", 80, "protocol", "TCP", "targetPort", 8080));
    json_array_append_new(json_object_get(c->slices, "items"), large_slice(n));
    for (size_t k = 0; k < LARGE_PODS; k++) {
        size_t id = n * LARGE_PODS + k;
        _cleanup_(freep) char *address = large_address(128, id);

        json_array_append_new(
            c->endpoints, json_pack("{s:o, s:o, s:i, s:[{s:s, s:i}]}", "ID", large_id(id), "Name",
                                    large_text("Ethernet-", id), "Flags", 1, "IpConfigurations",
                                    "IpAddress", address, "PrefixLength", 16));
        json_array_append_new(ids, large_id(id));
    }
    json_array_append_new(c->balancers,
                          json_pack("{s:o, s:o, s:[s], s:[{s:i, s:i, s:i}], s:i}", "ID",
                                    large_id(n), "HostComputeEndpoints", ids, "FrontendVIPs", vip,
                                    "PortMappings", "Protocol", 6, "ExternalPort", 80,
                                    "InternalPort", 8080, "Flags", 1));
}

/* A node with its route, and a pod of this node with its endpoint and its namespace. */
static inline void large_node(struct large_cluster *c, size_t n) {
    _cleanup_(freep) char *prefix = xasprintf("10.%zu.%zu.0/24", 192 + (n >> 8), n & 255);

    json_array_append_new(json_object_get(c->nodes, "items"),
                          json_pack("{s:{s:o}, s:{s:s}}", "metadata", "name",
                                    large_text("node-", n), "spec", "podCIDR", prefix));
    json_array_append_new(json_at(c->networks, "0.Policies"),
                          json_pack("{s:s, s:{s:s, s:s}}", "Type", "RemoteSubnetRoute", "Settings",
                                    "DestinationPrefix", prefix, "ProviderAddress", "10.0.0.9"));
}

static inline void large_pod(struct large_cluster *c, size_t n) {
    _cleanup_(freep) char *address = large_address(254, n), *name = xasprintf("c%zu_net", n);

    json_array_append_new(json_object_get(c->pods, "items"),
                          json_pack("{s:{s:s, s:o}, s:{}, s:{s:s, s:s, s:s}}", "metadata",
                                    "namespace", "d", "name", large_text("pod-", n), "spec",
                                    "status", "phase", "Running", "podIP", address, "startTime",
                                    RFC3339_TEXT(LARGE_NOW - 3600)));
    json_array_append_new(c->endpoints,
                          json_pack("{s:o, s:s, s:[{s:s}]}", "ID", large_id(1000000 + n), "Name",
                                    name, "IpConfigurations", "IpAddress", address));
    json_array_append_new(c->namespaces,
                          json_pack("{s:o, s:s, s:[{s:s, s:{s:o}}]}", "ID", large_id(2000000 + n),
                                    "Type", "Host", "Resources", "Type", "Endpoint", "Data", "Id",
                                    large_id(1000000 + n)));
}

static inline void large_cluster_make(struct large_cluster *c, size_t services, size_t nodes,
                                      size_t pods) {
    *c = (struct large_cluster){
        .services = json_pack("{s:[]}", "items"),
        .slices = json_pack("{s:[]}", "items"),
        .pods = json_pack("{s:[]}", "items"),
        .nodes = json_pack("{s:[]}", "items"),
        .endpoints = json_array(),
        .balancers = json_array(),
        .namespaces = json_array(),
        .networks = json_pack("[{s:s, s:[]}]", "Name", "net", "Policies"),
    };
    for (size_t n = 0; n < services; n++)
        large_service(c, n);
    for (size_t n = 0; n < nodes; n++)
        large_node(c, n);
    for (size_t n = 0; n < pods; n++)
        large_pod(c, n);
}

static inline void large_cluster_free(struct large_cluster *c) {
    json_t *const all[] = {c->services,  c->slices,    c->pods,       c->nodes,
                           c->endpoints, c->balancers, c->namespaces, c->networks};

    for (size_t i = 0; i < ARRAY_SIZE(all); i++)
        json_decref(all[i]);
}

static inline struct drift_documents large_cluster_documents(const struct large_cluster *c) {
    return (struct drift_documents){.services = c->services,
                                    .slices = c->slices,
                                    .pods = c->pods,
                                    .endpoints = c->endpoints,
                                    .balancers = c->balancers};
}

static inline struct drift_observed large_cluster_others(const struct large_cluster *c) {
    return (struct drift_observed){.nodes = c->nodes,
                                   .namespaces = c->namespaces,
                                   .networks = c->networks,
                                   .network = "net",
                                   .now = LARGE_NOW};
}
