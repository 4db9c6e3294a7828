/* A cluster's report as a run could have made it. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "diag/cluster/cluster.h"

static struct diag_report report;

static inline void add_node(const char *name, const char *os, const char *build,
                            const char *waiting) {
    struct cluster_nodes *nodes = &report.nodes; /* no larger than they are: */
    struct cluster_node *n;                      /* what is read behind the last is seen */

    nodes->items = xrealloc(nodes->items, (nodes->count + 1) * sizeof *nodes->items);
    n = &nodes->items[nodes->count++];
    *n = (struct cluster_node){0};
    n->name = xstrdup(name);
    n->os = xstrdup(os);
    n->build = xstrdup(build);
    n->version = xstrdup("v1.37.1");
    n->network = xstrdup("");
    n->waiting = waiting ? xstrdup(waiting) : NULL;
    n->pod_ip = xasprintf("10.244.%zu.2", report.nodes.count);
    n->client_ip = waiting ? NULL : xstrdup(n->pod_ip);
    n->service_ip = xstrdup("10.244.0.1");
    n->sticky = n->fixed = true;
}

static inline void add_cell(const char *flow, bool udp, size_t from, size_t to,
                            enum diag_outcome outcome, const char *reason) {
    struct diag_cells *cells = &report.cells;
    struct diag_cell *c;

    cells->items = xrealloc(cells->items, (cells->count + 1) * sizeof *cells->items);
    c = &cells->items[cells->count++];
    *c = (struct diag_cell){.flow = diag_flow_find(flow),
                            .udp = udp,
                            .family = 4,
                            .asked = true,
                            .outcome = outcome,
                            .from_node = from,
                            .to_node = to};
    (void)text_format(c->from, sizeof c->from, "%s", report.nodes.items[from].name);
    (void)text_format(c->to, sizeof c->to, "%s:8080", report.nodes.items[to].pod_ip);
    (void)text_format(c->reason, sizeof c->reason, "%s", reason);
}

static inline int open_report(void **state) {
    (void)state;
    report = (struct diag_report){.server = xstrdup("https://10.0.0.10:6443"),
                                  .namespace_ = xstrdup("winjoin-diag-1"),
                                  .domain = xstrdup("cluster.local"),
                                  .time = 1795255204,
                                  .milliseconds = 600500, /* another number by 1001, by 101 */
                                  .start_ms = 201200,
                                  .requests = 41};
    add_node("win-1", "windows", "10.0.20348", NULL);
    add_node("win-2", "windows", "10.0.20348", NULL);
    add_node("lin-1", "linux", "", NULL);
    add_cell("pod-to-pod-ip", false, 0, 2, DIAG_PASS, "");
    add_cell("pod-to-pod-ip", false, 2, 0, DIAG_PASS, "");
    return 0;
}

static inline int close_report(void **state) {
    (void)state;
    diag_report_free(&report);
    return 0;
}

static inline size_t count_of(const char *text, const char *word) {
    size_t n = 0;
    for (; (text = strstr(text, word)); text++)
        n++;
    return n;
}
