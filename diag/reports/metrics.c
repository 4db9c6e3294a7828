/* A report in Prometheus' text format, for a scheduled run and node exporter's textfile collector:
 * https://prometheus.io/docs/instrumenting/exposition_formats/ */
#include "diag/reports/metrics.h"

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

/* Within the quotes of a label. */
static void add_value(struct text *t, const char *value) {
    _cleanup_(text_free) struct text shown = {0};

    text_add_escaped(&shown, value ? value : "", value ? strlen(value) : 0);
    for (const char *at = text_str(&shown); *at; at++) {
        if (*at == '\\' || *at == '"')
            text_add_char(t, '\\');
        text_add_char(t, *at);
    }
}

char *metrics_label(const char *name, const char *value) {
    struct text t = {0};

    text_addf(&t, "%s=\"", name);
    add_value(&t, value);
    text_add_char(&t, '"');
    return text_take(&t);
}

void metrics_add_family(struct text *t, const char *name, const char *help) {
    text_addf(t, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

void metrics_add_number(struct text *t, const char *name, const char *help, const char *whose,
                        double value) {
    metrics_add_family(t, name, help);
    text_addf(t, "%s{%s} %.17g\n", name, whose, value);
}

/* false: this cell has no such number. */
static bool number_of(const struct diag_cell *cell, enum part part, double *ret) {
    const struct probe_result *r = &cell->result;
    bool works = cell->outcome == DIAG_PASS || cell->outcome == DIAG_SLOW;

    switch (part) {
    case UP:
        *ret = works;
        return cell->outcome != DIAG_SKIP;
    case LOSS:
        if (!r->attempts)
            return false;
        *ret = (double)(r->attempts - r->succeeded) / r->attempts;
        return true;
    case MIN:
        *ret = r->min_us / 1e6;
        break;
    case MEDIAN:
        *ret = r->median_us / 1e6;
        break;
    case P95:
        *ret = r->p95_us / 1e6;
        break;
    case MAX:
        *ret = r->max_us / 1e6;
        break;
    }
    return r->succeeded;
}

static void add_cells(struct text *t, const struct diag_report *report, const char *whose,
                      const struct family *family) {
    bool begun = false;
    double value = 0;

    for (size_t i = 0; i < report->cells.count; i++) {
        const struct diag_cell *cell = &report->cells.items[i];

        if (!number_of(cell, family->part, &value))
            continue;
        if (!begun)
            metrics_add_family(t, family->name, family->help);
        begun = true;
        text_addf(t, "%s{%s,flow=\"%s\",protocol=\"%s\",family=\"%s\"} %.9g\n", family->name, whose,
                  cell->flow->name, cell->udp ? "UDP" : "TCP", cell->family == 6 ? "IPv6" : "IPv4",
                  value);
    }
}

void metrics_add_causes(struct text *t, const char *whose, const struct diag_causes *causes) {
    static const char name[] = "winjoin_diag_cause";

    if (causes->count)
        metrics_add_family(t, name, "1: this cause is named.");
    for (size_t i = 0; i < causes->count; i++) {
        bool seen = false; /* an id may be named for both families */

        for (size_t k = 0; k < i; k++)
            seen |= text_equal(causes->items[k].id, causes->items[i].id);
        if (!seen)
            text_addf(t, "%s{%s,id=\"%s\",confidence=\"%s\"} 1\n", name, whose, causes->items[i].id,
                      causes->items[i].confirmed ? "confirmed" : "likely");
    }
}

void metrics_add_whole(struct text *t, const char *whose, bool good, int64_t time,
                       unsigned milliseconds) {
    metrics_add_number(t, "winjoin_diag_up", "1: every flow that must work works.", whose, good);
    metrics_add_number(t, "winjoin_diag_timestamp_seconds", "When it was measured, Unix time.",
                       whose, (double)time);
    metrics_add_number(t, "winjoin_diag_duration_seconds", "How long it took.", whose,
                       milliseconds / 1000.0);
}

char *diag_report_metrics(const struct diag_report *report) {
    _cleanup_(freep) char *whose = metrics_label("node", report->node);
    struct diag_summary s;
    struct text t = {0};

    diag_summary_make(report, &s);
    metrics_add_whole(&t, whose, diag_report_is_good(report), report->time, report->milliseconds);
    metrics_add_number(&t, "winjoin_diag_flows", "Flows that were asked.", whose, s.flows);
    metrics_add_number(&t, "winjoin_diag_flows_passed", "Those that work.", whose, s.flows_pass);
    for (size_t i = 0; i < ARRAY_SIZE(families); i++)
        add_cells(&t, report, whose, &families[i]);
    metrics_add_causes(&t, whose, &report->causes);
    return text_take(&t);
}
