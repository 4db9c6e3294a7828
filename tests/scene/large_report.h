/* A cluster of many nodes, half of them Windows, as a run has asked it; five are not reached. */
#pragma once

#include "diag/cluster/cluster.h"
#include "diag/cluster/cells.h"
#include "tests/scene/large_cluster.h"

enum { LARGE_DEAD = 5 };

/* A NodeList. */
static inline json_t *large_nodes(size_t count) {
    json_t *nodes = json_pack("{s:s, s:[]}", "kind", "NodeList", "items");

    for (size_t n = 0; n < count; n++) {
        bool windows = n % 2;
        _cleanup_(freep) char *ip = large_address(64, n);

        json_array_append_new(
            json_object_get(nodes, "items"),
            json_pack("{s:{s:o, s:{s:s}}, s:{s:[{s:s, s:s}], s:{s:s, s:s, s:s}, s:[{s:s, s:s}]}}",
                      "metadata", "name", large_text("node-", n), "labels", "kubernetes.io/os",
                      windows ? "windows" : "linux", "status", "addresses", "type", "InternalIP",
                      "address", ip, "nodeInfo", "operatingSystem", windows ? "windows" : "linux",
                      "kubeletVersion", "v1.37.1", "kernelVersion",
                      windows ? "10.0.20348.1" : "6.1", "conditions", "type", "Ready", "status",
                      "True"));
    }
    return nodes;
}

static inline void large_pods(struct cluster_nodes *nodes) {
    for (size_t i = 0; i < nodes->count; i++) {
        struct cluster_node *n = &nodes->items[i];

        n->pod = xasprintf(CLUSTER_PROBE_PREFIX "%zu", i + 1);
        n->pod_ip = large_address(128, i);
        n->local_ip = large_address(128, i);
        n->suffixes = xstrdup("x.svc.cluster.local");
        n->servers = xstrdup("10.96.0.10");
        n->pod_ready = true;
    }
}

/* Whom a run asks of these Nodes, what, and what comes back; diag_report_free(). */
static inline int large_report_make(const json_t *nodes, struct diag_report *ret) {
    static const struct cluster_addresses at = {"10.96.0.5", "",    "10.96.0.6", "10.96.0.7",
                                                30000,       30001, 30002};
    static const struct cluster_options options = {0};

    *ret = (struct diag_report){
        .namespace_ = xstrdup("x"), .domain = xstrdup("cluster.local"), .server = xstrdup("s")};
    if (cluster_nodes_add(&ret->nodes, json_object_get(nodes, "items"), NULL) < 0 ||
        cluster_nodes_choose(&ret->nodes, &(struct cluster_choice){.all = true}, &ret->sample,
                             NULL) < 0)
        return -1;
    large_pods(&ret->nodes);
    cluster_pairs_make(&ret->nodes, &ret->pairs);
    cluster_cells_make(ret, &options, &at, &ret->cells);
    for (size_t i = 0; i < ret->cells.count; i++) {
        struct diag_cell *cell = &ret->cells.items[i];
        bool dead = cell->to_node < LARGE_DEAD && cell->from_node != cell->to_node;

        cell->outcome = dead ? DIAG_FAIL : DIAG_PASS;
        cell->result.outcome = dead ? PROBE_TIMEOUT : PROBE_OK;
    }
    return 0;
}
