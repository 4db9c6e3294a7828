/* Writes the report in the text format of Prometheus, for a scheduled run and the textfile
 * collector of node exporter. Source:
 * https://prometheus.io/docs/instrumenting/exposition_formats/ */
#include "diag/network_report.h"
#include "diag/reports/form_parts.h"

enum part { UP, MIN, MEDIAN, P95, MAX, LOSS };
static const struct family {
    const char *name, *help;
    enum part part;
} families[] = {
    {"winjoin_diag_flow_up", "1: the flow works, 0: it fails or could not be measured.", UP},
    {"winjoin_diag_flow_latency_min_seconds", "Fastest attempt that succeeded.", MIN},
    {"winjoin_diag_flow_latency_median_seconds", "Median over the attempts that succeeded.",
     MEDIAN},
    {"winjoin_diag_flow_latency_p95_seconds", "95th percentile over the same.", P95},
    {"winjoin_diag_flow_latency_max_seconds", "Slowest attempt that succeeded.", MAX},
    {"winjoin_diag_flow_loss_ratio", "Attempts that failed, of all.", LOSS},
};

/* Makes a label such as `node="win-1"` from any value; free() it. */
static char *label(const char *name, const char *value) {
    _cleanup_(text_free) struct text shown = {0};
    struct text t = {0};

    text_add_escaped(&shown, value ? value : "", value ? strlen(value) : 0);
    text_addf(&t, "%s=\"", name);
    for (const char *at = text_str(&shown); *at; at++) {
        if (*at == '\\' || *at == '"')
            text_add_char(&t, '\\');
        text_add_char(&t, *at);
    }
    text_add_char(&t, '"');
    return text_take(&t);
}

static void add_family(struct text *t, const char *name, const char *help) {
    text_addf(t, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

static void add_number(struct text *t, const char *name, const char *help, const char *whose,
                       double value) {
    add_family(t, name, help);
    text_addf(t, "%s{%s} %.17g\n", name, whose, value);
}

/* Reads one number of a cell; false when the cell has no such number. */
static bool number_of(const struct diag_cell *cell, enum part part, double *ret) {
    const struct probe_result *r = &cell->result;
    const double values[] = {
        [UP] = cell->outcome == DIAG_PASS || cell->outcome == DIAG_SLOW,
        [MIN] = r->min_us / 1e6,
        [MEDIAN] = r->median_us / 1e6,
        [P95] = r->p95_us / 1e6,
        [MAX] = r->max_us / 1e6,
        [LOSS] = r->attempts ? (double)(r->attempts - r->succeeded) / r->attempts : 0,
    };

    *ret = values[part];
    return part == UP     ? cell->outcome != DIAG_SKIP
           : part == LOSS ? r->attempts != 0
                          : r->succeeded != 0;
}

/* ---- a whole cluster: gauges by node and by flow, as pairs would be too many series ---- */

static void add_cells(struct text *t, const struct diag_report *report, const char *whose) {
    static const char *const names[] = {"winjoin_diag_cluster_cells",
                                        "winjoin_diag_cluster_cells_passed"};

    for (int passed = 0; passed < 2; passed++) {
        add_family(t, names[passed], passed ? "Those that work." : "Cells that were asked.");
        for (const struct diag_flow *flow = diag_flows; flow->name; flow++) {
            size_t asked[2] = {0}, works[2] = {0}; /* Numbers of cells by TCP, then by UDP. */

            for (size_t i = 0; i < report->cells.count; i++) {
                const struct diag_cell *cell = &report->cells.items[i];

                if (cell->flow != flow || cell->outcome == DIAG_SKIP)
                    continue;
                asked[cell->udp]++;
                works[cell->udp] += cell->outcome == DIAG_PASS || cell->outcome == DIAG_SLOW;
            }
            for (unsigned udp = 0; udp < 2; udp++)
                if (asked[udp])
                    text_addf(t, "%s{%s,flow=\"%s\",protocol=\"%s\"} %zu\n", names[passed], whose,
                              flow->name, udp ? "UDP" : "TCP", passed ? works[udp] : asked[udp]);
        }
    }
}

/* Adds what --count measured. */
static void add_latencies(struct text *t, const struct diag_report *report, const char *whose) {
    static const struct {
        const char *name, *help;
    } gauges[] = {
        {"winjoin_diag_cluster_latency_median_seconds", "Median of the medians of the cells."},
        {"winjoin_diag_cluster_latency_p95_seconds", "The worst 95th percentile of a cell."},
        {"winjoin_diag_cluster_latency_max_seconds", "The slowest attempt of all cells."},
        {"winjoin_diag_cluster_loss_ratio", "Attempts that failed, of those of all cells."},
    };
    size_t count;
    struct cluster_latency *lines = cluster_latencies_make(report, &count);

    for (size_t f = 0; count && f < ARRAY_SIZE(gauges); f++) {
        add_family(t, gauges[f].name, gauges[f].help);
        for (size_t i = 0; i < count; i++) {
            const struct probe_result *r = &lines[i].sum;
            const double values[] = {r->median_us / 1e6, r->p95_us / 1e6, r->max_us / 1e6,
                                     (double)(r->attempts - r->succeeded) / r->attempts};

            if (f < 3 && !lines[i].worst)
                continue;
            text_addf(t, "%s{%s,flow=\"%s\",protocol=\"%s\",family=\"IPv%d\"} %.9g\n",
                      gauges[f].name, whose, lines[i].flow->name, lines[i].udp ? "UDP" : "TCP",
                      lines[i].family, values[f]);
        }
    }
    free(lines);
}

static void add_cluster(struct text *t, const struct diag_report *report, const char *whose) {
    static const char *const names[] = {"winjoin_diag_node_report_timestamp_seconds",
                                        "winjoin_diag_node_hns_differences"};
    static const char *const helps[] = {"When the node last reported its own network.",
                                        "What HNS has otherwise than Kubernetes, as reported."};
    static const char up[] = "winjoin_diag_node_up";
    _cleanup_(freep) bool *bad = xcalloc(report->nodes.count, sizeof *bad);

    add_number(t, "winjoin_diag_requests", "Requests to the API server.", whose, report->requests);
    add_number(t, "winjoin_diag_cluster_nodes", "Nodes that there were to test.", whose,
               (double)(report->sample.of ? report->sample.of : report->nodes.count));
    add_number(t, "winjoin_diag_cluster_nodes_chosen",
               "Those that were tested; fewer are a sample.", whose, (double)report->nodes.count);

    for (size_t i = 0; i < report->cells.count; i++) {
        const struct diag_cell *cell = &report->cells.items[i];

        if (diag_cell_is_red(cell))
            bad[cell->from_node] = bad[cell->to_node] = true;
    }
    add_family(t, up, "1: every flow from and to this node's pods works.");
    for (size_t i = 0; i < report->nodes.count; i++) {
        _cleanup_(freep) char *node = label("node", report->nodes.items[i].name);

        text_addf(t, "%s{%s,%s} %d\n", up, whose, node, !bad[i]);
    }
    /* Gauges of nodes that have published a report. */
    for (unsigned k = 0; k < ARRAY_SIZE(names); k++) {
        add_family(t, names[k], helps[k]);
        for (size_t i = 0; i < report->nodes.count; i++) {
            const json_t *own = report->nodes.items[i].own_report;
            _cleanup_(freep) char *node = label("node", report->nodes.items[i].name);

            if (network_report_time(own))
                text_addf(t, "%s{%s,%s} %lld\n", names[k], whose, node,
                          k ? network_report_count(own) : (long long)network_report_time(own));
        }
    }
    add_cells(t, report, whose);
    add_latencies(t, report, whose);
}

char *diag_report_metrics(const struct diag_report *report) {
    _cleanup_(freep) char *whose =
        report->server ? label("server", report->server) : label("node", report->node);
    static const char named[] = "winjoin_diag_cause";
    struct diag_summary s;
    struct text t = {0};

    diag_summary_make(report, &s);
    add_number(&t, "winjoin_diag_up", "1: every flow that must work works.", whose,
               diag_report_is_good(report));
    add_number(&t, "winjoin_diag_timestamp_seconds", "When it was measured, Unix time.", whose,
               (double)report->time);
    add_number(&t, "winjoin_diag_duration_seconds", "How long it took.", whose,
               report->milliseconds / 1000.0);
    if (report->server) {
        add_cluster(&t, report, whose);
    } else {
        add_number(&t, "winjoin_diag_flows", "Flows that were asked.", whose, s.flows);
        add_number(&t, "winjoin_diag_flows_passed", "Those that work.", whose, s.flows_pass);
        for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
            bool begun = false;
            double value = 0;

            for (size_t k = 0; k < report->cells.count; k++) {
                const struct diag_cell *cell = &report->cells.items[k];

                if (!number_of(cell, families[i].part, &value))
                    continue;
                if (!begun)
                    add_family(&t, families[i].name, families[i].help);
                begun = true;
                text_addf(&t, "%s{%s,flow=\"%s\",protocol=\"%s\",family=\"%s\"} %.9g\n",
                          families[i].name, whose, cell->flow->name, cell->udp ? "UDP" : "TCP",
                          cell->family == 6 ? "IPv6" : "IPv4", value);
            }
        }
    }
    if (report->causes.count)
        add_family(&t, named, "1: this cause is named.");
    for (size_t i = 0; i < report->causes.count; i++)
        /* A cause may be named for both IP families. */
        if (diag_cause_is_first(&report->causes, i))
            text_addf(&t, "%s{%s,id=\"%s\",confidence=\"%s\"} 1\n", named, whose,
                      report->causes.items[i].id,
                      report->causes.items[i].confirmed ? "confirmed" : "likely");
    return text_take(&t);
}
