/* A cluster's report in Prometheus' text format: the whole, a gauge a node and a flow. Pairs are
 * left out: a series each would be too many. */
#include "diag/cluster/causes/cause_row.h"
#include "diag/network_report.h"
#include "diag/reports/metrics.h"

static void add_nodes(struct text *t, const struct cluster_report *report, const char *whose) {
    static const char name[] = "winjoin_diag_node_up";
    bool *bad = xcalloc(report->nodes.count, sizeof *bad);

    for (size_t i = 0; i < report->cells.count; i++) {
        const struct diag_cell *cell = &report->cells.items[i];

        if (diag_cell_is_red(cell))
            bad[cell->from_node] = bad[cell->to_node] = true;
    }
    metrics_add_family(t, name, "1: every flow from and to this node's pods works.");
    for (size_t i = 0; i < report->nodes.count; i++) {
        _cleanup_(freep) char *node = metrics_label("node", report->nodes.items[i].name);

        text_addf(t, "%s{%s,%s} %d\n", name, whose, node, !bad[i]);
    }
    free(bad);
}

/* Of nodes that have published something. */
static void add_own_reports(struct text *t, const struct cluster_report *report,
                            const char *whose) {
    static const char *const names[] = {"winjoin_diag_node_report_timestamp_seconds",
                                        "winjoin_diag_node_hns_differences"};
    static const char *const helps[] = {"When the node last reported its own network.",
                                        "What HNS has otherwise than Kubernetes, as reported."};

    for (unsigned k = 0; k < ARRAY_SIZE(names); k++) {
        metrics_add_family(t, names[k], helps[k]);
        for (size_t i = 0; i < report->nodes.count; i++) {
            const json_t *own = report->nodes.items[i].own_report;
            _cleanup_(freep) char *node = metrics_label("node", report->nodes.items[i].name);

            if (network_report_time(own))
                text_addf(t, "%s{%s,%s} %lld\n", names[k], whose, node,
                          k ? network_report_count(own) : (long long)network_report_time(own));
        }
    }
}

static void add_flow(struct text *t, const struct cluster_report *report, const char *whose,
                     const struct diag_flow *flow, bool passed) {
    static const char *const names[] = {"winjoin_diag_cluster_cells",
                                        "winjoin_diag_cluster_cells_passed"};
    size_t count[2] = {0}; /* TCP, UDP */
    bool asked[2] = {0};

    for (size_t i = 0; i < report->cells.count; i++) {
        const struct diag_cell *cell = &report->cells.items[i];

        if (cell->flow != flow || cell->outcome == DIAG_SKIP)
            continue;
        asked[cell->udp] = true;
        count[cell->udp] += !passed || cell->outcome == DIAG_PASS || cell->outcome == DIAG_SLOW;
    }
    for (unsigned udp = 0; udp < 2; udp++)
        if (asked[udp])
            text_addf(t, "%s{%s,flow=\"%s\",protocol=\"%s\"} %zu\n", names[passed], whose,
                      flow->name, udp ? "UDP" : "TCP", count[udp]);
}

/* What --count measured. */
static void add_latencies(struct text *t, const struct cluster_report *report, const char *whose) {
    static const struct {
        const char *name, *help;
    } families[] = {
        {"winjoin_diag_cluster_latency_median_seconds", "Median of the medians of the cells."},
        {"winjoin_diag_cluster_latency_p95_seconds", "The worst 95th percentile of a cell."},
        {"winjoin_diag_cluster_latency_max_seconds", "The slowest attempt of all cells."},
        {"winjoin_diag_cluster_loss_ratio", "Attempts that failed, of those of all cells."},
    };
    size_t count;
    struct cluster_latency *lines = cluster_latencies_make(report, &count);

    for (size_t f = 0; count && f < ARRAY_SIZE(families); f++) {
        metrics_add_family(t, families[f].name, families[f].help);
        for (size_t i = 0; i < count; i++) {
            const struct probe_result *r = &lines[i].sum;
            const double values[] = {r->median_us / 1e6, r->p95_us / 1e6, r->max_us / 1e6,
                                     (double)(r->attempts - r->succeeded) / r->attempts};

            if (f < 3 && !lines[i].worst)
                continue;
            text_addf(t, "%s{%s,flow=\"%s\",protocol=\"%s\",family=\"IPv%d\"} %.9g\n",
                      families[f].name, whose, lines[i].flow->name, lines[i].udp ? "UDP" : "TCP",
                      lines[i].family, values[f]);
        }
    }
    free(lines);
}

char *cluster_report_metrics(const struct cluster_report *report) {
    _cleanup_(freep) char *whose = metrics_label("server", report->server);
    struct text t = {0};

    metrics_add_whole(&t, whose, cluster_report_is_good(report), report->time,
                      report->milliseconds);
    metrics_add_number(&t, "winjoin_diag_requests", "Requests to the API server.", whose,
                       report->requests);
    add_nodes(&t, report, whose);
    add_own_reports(&t, report, whose);
    metrics_add_family(&t, "winjoin_diag_cluster_cells", "Cells that were asked.");
    for (const struct diag_flow *flow = diag_flows; flow->name; flow++)
        add_flow(&t, report, whose, flow, false);
    metrics_add_family(&t, "winjoin_diag_cluster_cells_passed", "Those that work.");
    for (const struct diag_flow *flow = diag_flows; flow->name; flow++)
        add_flow(&t, report, whose, flow, true);
    add_latencies(&t, report, whose);
    metrics_add_causes(&t, whose, &report->causes);
    return text_take(&t);
}
