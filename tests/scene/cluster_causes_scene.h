/* A cluster of six nodes, each asked to reach each other one. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "diag/cluster/causes/cluster_cause_rows.h"
#include "diag/cluster/cluster.h"
#include "diag/cluster/cells.h"

enum { NODES = 6 }; /* w0 w1 w2 l3 l4 l5 */

static inline void add_nodes(struct cluster_nodes *nodes) {
    nodes->items = xcalloc(NODES, sizeof *nodes->items);
    nodes->count = NODES;
    for (unsigned i = 0; i < NODES; i++) {
        struct cluster_node *n = &nodes->items[i];

        n->name = xasprintf("%c%u", i < 3 ? 'w' : 'l', i);
        n->os = xstrdup(i < 3 ? "windows" : "linux");
        n->build = xstrdup(i == 2 ? "10.0.26100" : i < 2 ? "10.0.20348" : "");
        n->version = xstrdup("v1.37.1");
        n->network = xstrdup("flannel vxlan");
        n->ip = xasprintf("10.0.0.%u", i);
        n->ready = true;
        n->pod = xasprintf("probe-%u", i);
        n->pod_ip = xasprintf("10.244.%u.2", i);
        n->pod_ip6 = xasprintf("fd00::%u:2", i);
        n->suffixes = xstrdup("x.svc.cluster.local");
        n->servers = xstrdup("10.96.0.10");
        n->local_ip = xstrdup("10.244.9.9");
        n->pod_ready = true;
    }
}

/* Every node to every other one: more than a run asks, so that no pattern is there by chance. */
static inline void make(struct diag_report *report) {
    static const struct cluster_addresses at = {"10.96.0.5", "fd00:1::5", "10.96.0.6", "10.96.0.7",
                                                30000,       30001,       30002};
    static const struct cluster_options options = {.external_ip = "192.0.2.1:443",
                                                   .external_name = "example.com:443"};

    *report = (struct diag_report){
        .namespace_ = xstrdup("x"), .domain = xstrdup("cluster.local"), .server = xstrdup("s")};
    add_nodes(&report->nodes);
    report->pairs.items = xcalloc(NODES * NODES, sizeof *report->pairs.items);
    for (size_t a = 0; a < NODES; a++)
        for (size_t b = 0; b < NODES; b++)
            if (a != b)
                report->pairs.items[report->pairs.count++] = (struct cluster_pair){a, b};
    cluster_cells_make(report, &options, &at, &report->cells);
}

/* One letter a kind of flow: p pods, n names of pods, s Services, q short, f full names, a the
 * API server's, o NodePort, k kubelet, r readiness, e outside, E its name, l localhost, h hairpin.
 */
static inline char letter(const struct diag_cell *c) {
    static const struct {
        const char *id;
        char letter;
    } rows[] = {{"pod-to-pod-ip", 'p'},
                {"pod-to-pod-name", 'n'},
                {"pod-to-service-ip", 's'},
                {"pod-to-service-pqdn", 'q'},
                {"pod-to-service-fqdn", 'f'},
                {"nodeport-remote", 'o'},
                {"pod-to-node", 'k'},
                {"node-to-pod", 'r'},
                {"pod-to-external-ip", 'e'},
                {"pod-to-external-dns", 'E'},
                {"container-to-container-localhost", 'l'},
                {"pod-to-self-via-service", 'h'}};

    if (text_ends_with(c->to, "cluster.local:443"))
        return 'a';
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        if (text_equal(c->flow->name, rows[i].id))
            return rows[i].letter;
    return '?';
}
