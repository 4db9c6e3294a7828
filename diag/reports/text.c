/* Writes the report of a node as text for people: at most as wide as the terminal, and readable
 * without color and without UTF-8. */
#include "base/rfc3339.h"
#include "diag/drift/drift.h"
#include "diag/first_look.h"
#include "diag/reports/form_parts.h"

enum { COLUMNS = 80, COLUMNS_MIN = 30, FLOW_WIDTH = 19, BY_WIDTH = 13, CELL_WIDTH = 18 };
static const size_t matrix_width = FLOW_WIDTH + BY_WIDTH + 2 * CELL_WIDTH;

struct mark {
    const char *utf8, *ascii, *color;
};
static const struct mark marks[] = {
    [DIAG_PASS] = {"\xe2\x9c\x93", "ok", "\x1b[32m"},
    [DIAG_FAIL] = {"\xe2\x9c\x97", "!!", "\x1b[31m"},
    [DIAG_SLOW] = {"\xe2\x9c\x93", "ok", "\x1b[33m"},
    [DIAG_SKIP] = {"-", "--", ""},
    [DIAG_NOT_RUN] = {"?", "??", "\x1b[33m"},
};

size_t text_edge(const struct diag_text_style *style) {
    if (!style->columns || style->columns > COLUMNS)
        return COLUMNS;
    return style->columns < COLUMNS_MIN ? COLUMNS_MIN : style->columns;
}

void text_pad(struct text *t, size_t used, size_t columns) {
    do
        text_add_char(t, ' ');
    while (++used < columns);
}

size_t text_add_mark(struct text *t, enum diag_outcome outcome,
                     const struct diag_text_style *style) {
    const struct mark *mark = &marks[outcome];
    const char *sign = style->utf8 ? mark->utf8 : mark->ascii;

    text_addf(t, "%s%s%s", style->color ? mark->color : "", sign,
              style->color && *mark->color ? "\x1b[0m" : "");
    return text_columns(sign);
}

char *diag_latency_text(unsigned microseconds) {
    unsigned tenths = (microseconds + 50) / 100;

    return tenths < 100 ? xasprintf("%u.%u ms", tenths / 10, tenths % 10)
                        : xasprintf("%u ms", tenths / 10);
}

static void add_cell(struct text *t, const struct diag_cell *cell,
                     const struct diag_text_style *style) {
    _cleanup_(freep) char *words = NULL;
    size_t columns;

    if (!cell) {
        text_pad(t, 0, CELL_WIDTH);
        return;
    }
    switch (cell->outcome) {
    case DIAG_PASS:
        words = diag_latency_text(cell->result.median_us);
        break;
    case DIAG_SLOW:
        words = xstrdup("slow");
        break;
    case DIAG_SKIP:
        words = xstrdup("skipped");
        break;
    case DIAG_NOT_RUN:
        words = xstrdup("not run");
        break;
    case DIAG_FAIL:
        if (cell->result.succeeded)
            words = xasprintf("%u of %u", cell->result.succeeded, cell->result.attempts);
        else if (!cell->result.attempts)
            words = xstrdup("no result");
        else if (cell->result.outcome == PROBE_WRONG_RESPONDER)
            words = xstrdup("wrong");
        else
            words = text_replace(xstrdup(probe_outcome_names[cell->result.outcome]), "-", ' ');
    }
    columns = text_add_mark(t, cell->outcome, style);
    text_addf(t, "  %s", words);
    text_pad(t, columns + 2 + strlen(words), CELL_WIDTH);
}

/* Adds the matrix of flows. On a terminal that is too narrow, each protocol has its own line. */
static void add_matrix(struct text *t, const struct diag_report *report,
                       const struct diag_text_style *style) {
    bool narrow = text_edge(style) < matrix_width;

    if (!narrow) {
        text_add(t, "flow");
        text_pad(t, 4, FLOW_WIDTH + BY_WIDTH);
        text_add(t, "TCP");
        text_pad(t, 3, CELL_WIDTH);
        text_add(t, "UDP\n");
    }
    for (size_t i = 0; i < 2 * FLOW_COUNT; i++) {
        const struct diag_flow *flow = &diag_flows[i / 2];
        bool second = i % 2;
        const struct diag_cell *const cells[] = {
            diag_cells_find(&report->cells, flow->id, false, second),
            diag_cells_find(&report->cells, flow->id, true, second)};
        _cleanup_(freep) char *label =
            xasprintf("%s %s %s", flow->from, style->utf8 ? "\xe2\x86\x92" : "->", flow->to);
        const char *by = second ? "IPv6" : flow->by;

        if (!cells[0] && !cells[1])
            continue;
        text_add(t, label);
        if (narrow) {
            text_addf(t, " %s\n", by);
        } else {
            text_pad(t, text_columns(label), FLOW_WIDTH);
            text_add(t, by);
            text_pad(t, strlen(by), BY_WIDTH);
        }
        for (int udp = 0; udp < 2; udp++) {
            if (narrow && !cells[udp])
                continue;
            if (narrow)
                text_addf(t, "  %s  ", udp ? "UDP" : "TCP");
            add_cell(t, cells[udp], style);
            if (narrow || udp) {
                while (t->len && t->data[t->len - 1] == ' ')
                    t->data[--t->len] = '\0';
                text_add_char(t, '\n');
            }
        }
    }
}

void text_add_wrapped(struct text *t, const char *words, size_t at, size_t indent, size_t edge) {
    size_t column = at;

    for (bool first = true; *words; first = false) {
        size_t len = strcspn(words, " \n");
        _cleanup_(text_free) struct text word = {0};
        size_t wide;

        text_add_escaped(&word, words, len);
        wide = text_columns(text_str(&word));
        if (column > indent && column + !first + wide > edge) {
            text_addf(t, "\n%*s", (int)indent, "");
            column = indent;
        } else if (!first) {
            text_add_char(t, ' ');
            column++;
        }
        text_add(t, text_str(&word));
        column += wide;
        words += len + (words[len] != '\0');
    }
    text_add_char(t, '\n');
}

static void add_labelled(struct text *t, const char *label, const char *words, size_t edge) {
    enum { INDENT = 13 };

    text_add(t, "  ");
    text_add(t, label);
    text_pad(t, 2 + strlen(label), INDENT);
    text_add_wrapped(t, words, INDENT, INDENT, edge);
}

static const char *state_of(const struct diag_cell *cell, bool begun) {
    if (!cell)
        return "";
    if (!begun)
        return "waiting";
    if (cell->running)
        return cell->rounds ? "again" : "running";
    switch (cell->outcome) {
    case DIAG_PASS:
    case DIAG_SLOW:
        return "works";
    case DIAG_SKIP:
        return "skipped";
    case DIAG_NOT_RUN:
        return "not run";
    case DIAG_FAIL:
        break;
    }
    return cell->rounds ? "fails" : "waiting";
}

void diag_cells_progress(const struct diag_cells *cells, bool begun, struct text_list *ret) {
    text_list_add_owned(ret, xasprintf("%-26s%-9s%s", "", "TCP", "UDP"));
    for (unsigned i = 0; i < FLOW_COUNT * 2; i++) {
        const struct diag_flow *flow = &diag_flows[i / 2];
        const struct diag_cell *tcp = diag_cells_find(cells, flow->id, false, i % 2),
                               *udp = diag_cells_find(cells, flow->id, true, i % 2);

        if (tcp || udp)
            text_list_add_owned(ret, xasprintf("%-20s%-6s%-9s%s", flow->name, i % 2 ? "IPv6" : "",
                                               state_of(tcp, begun), state_of(udp, begun)));
    }
}

static void add_verdict(struct text *t, const struct diag_report *report, size_t edge) {
    _cleanup_(text_free) struct text line = {0};
    struct diag_summary summary;
    unsigned red;
    /* Only causes that explain cells are counted; other causes are named for themselves. */
    size_t explained = 0, causes = 0;

    for (size_t i = 0; i < report->causes.count; i++)
        if (!text_equal(report->causes.items[i].id, DIAG_CAUSE_UNKNOWN)) {
            explained += report->causes.items[i].cells.count;
            causes += report->causes.items[i].cells.count > 0;
        }
    diag_summary_make(report, &summary);
    red = summary.fail + summary.not_run;
    text_addf(&line, "%u of %u flows work.", summary.flows_pass, summary.flows);
    if (red && !causes)
        text_add(&line, " No known cause explains the failures.");
    else if (red && explained >= red)
        text_add(&line, causes == 1 ? " One cause explains every failure:"
                                    : " These causes explain every failure:");
    else if (red)
        text_add(&line, causes == 1 ? " One cause explains some of the failures:"
                                    : " These causes explain some of the failures:");
    text_add_char(t, '\n');
    text_add_wrapped(t, text_str(&line), 0, 0, edge);
}

/* Adds each reason once, with the names of all its cells. */
static void add_reasons(struct text *t, const struct diag_report *report, enum diag_outcome outcome,
                        size_t edge) {
    for (size_t i = 0; i < report->cells.count; i++) {
        const struct diag_cell *first = &report->cells.items[i];
        struct text line = {0};
        bool seen = false;

        for (size_t k = 0; k < i; k++)
            seen |= report->cells.items[k].outcome == outcome &&
                    text_equal(report->cells.items[k].reason, first->reason);
        if (first->outcome != outcome || seen)
            continue;
        text_addf(&line, "%s (%s):", outcome == DIAG_SKIP ? "skipped" : "not run", first->reason);
        for (size_t k = i; k < report->cells.count; k++) {
            const struct diag_cell *cell = &report->cells.items[k];
            _cleanup_(freep) char *name = diag_cell_name(cell);

            if (cell->outcome == outcome && text_equal(cell->reason, first->reason))
                text_addf(&line, " %s", name);
        }
        text_add_wrapped(t, text_str(&line), 0, 2, edge);
        text_free(&line);
    }
}

char *latency_line(const char *name, const struct probe_result *r, bool timed) {
    double lost = 100.0 * (r->attempts - r->succeeded) / r->attempts;

    if (!r->succeeded)
        return xasprintf("%s: all of %u lost", name, r->attempts);
    return timed ? xasprintf("%s: %.1f / %.1f / %.1f / %.1f ms, %.1f %% of %u lost", name,
                             r->min_us / 1e3, r->median_us / 1e3, r->p95_us / 1e3, r->max_us / 1e3,
                             lost, r->attempts)
                 : xasprintf("%s: %.1f %% of %u lost", name, lost, r->attempts);
}

/* Adds latency and loss of the cells with more attempts than usual (--count). */
static void add_latencies(struct text *t, const struct diag_report *report, size_t edge) {
    enum { USUAL = 3 };
    bool begun = false;

    for (size_t i = 0; i < report->cells.count; i++) {
        const struct probe_result *r = &report->cells.items[i].result;
        _cleanup_(freep) char *name = diag_cell_name(&report->cells.items[i]), *line = NULL;

        if (r->attempts <= USUAL)
            continue;
        line = latency_line(name, r, true);
        if (!begun)
            text_add(t, "\nmin / median / p95 / max, loss\n");
        begun = true;
        text_add(t, "  ");
        text_add_wrapped(t, line, 2, 4, edge);
    }
}

/* Adds the node's name, the time of the report, and what the first look checked. */
static void add_head(struct text *t, const struct diag_report *report, size_t edge) {
    const json_t *seconds = json_at(report->evidence, "look.seconds");
    const char *node = report->node ? report->node : "";

    if (report->time) {
        text_add_escaped(t, node, strlen(node));
        text_addf(t, "%s%s\n\n", t->len ? "   " : "", RFC3339_TEXT(report->time));
    }
    if (seconds) {
        _cleanup_(freep) char *line =
            xasprintf("Checked in %.1f s: services, API server, clock, certificate, HNS",
                      json_number_value(seconds));

        text_add_wrapped(t, line, 0, 2, edge);
        text_add_char(t, '\n');
    }
}

/* Adds limits of Windows, which may be mistaken for faults, and objects that are left over. */
static void add_no_faults(struct text *t, const struct diag_report *report, size_t edge) {
    _cleanup_(freep) char *left = drift_left_over(json_object_get(report->evidence, "kubernetes"));
    _cleanup_(text_free) struct text line = {0};

    json_each(json_object_get(report->evidence, "limits"), i, limit) {
        if (json_is_false(json_object_get(limit, "available")))
            text_addf(&line, "%s%s", line.len ? ", " : "not faults, but limits of Windows here: ",
                      json_text_at(limit, "name"));
    }
    if (line.len) {
        text_add(&line, " (winjoin capabilities explains them)");
        text_add_char(t, '\n');
        text_add_wrapped(t, text_str(&line), 0, 2, edge);
    }
    if (left) {
        text_set(&left,
                 xasprintf("left over on this node: %s (winjoin status has the commands)", left));
        text_add_char(t, '\n');
        text_add_wrapped(t, left, 0, 2, edge);
    }
}

char *diag_report_text(const struct diag_report *report, const struct diag_text_style *style) {
    const char *down = diag_look_stops_pods(json_object_get(report->evidence, "look"));
    const size_t edge = text_edge(style);
    struct text t = {0};

    if (report->server)
        return diag_cluster_text(report, style);
    add_head(&t, report, edge);
    if (!down) {
        add_matrix(&t, report, style);
        /* Adds a line for two pods of which only one reaches the other. */
        for (size_t i = 0; i < report->cells.count; i++) {
            const struct diag_cell *cell = &report->cells.items[i];
            _cleanup_(freep) char *name = diag_cell_name(cell);
            _cleanup_(freep) char *line = xasprintf("%s: %s", name, cell->reason);

            if (cell->outcome == DIAG_FAIL && cell->one_way)
                text_add_wrapped(&t, line, 0, 2, edge);
        }
        add_verdict(&t, report, edge);
    }
    for (size_t i = 0; i < report->causes.count; i++) {
        const struct diag_cause *c = &report->causes.items[i];
        bool known = !text_equal(c->id, DIAG_CAUSE_UNKNOWN);
        const char *confidence = c->confirmed ? "  confirmed" : known ? "  likely" : "";
        _cleanup_(freep) char *page = diag_cause_page(c->id);

        text_addf(&t, "%s%s%s   ", i || !down ? "\n" : "", c->id, confidence);
        text_add_wrapped(&t, c->message, strlen(c->id) + strlen(confidence) + 3, 4, edge);
        for (size_t k = 0; k < c->evidence.count; k++)
            add_labelled(&t, k ? "" : "evidence", c->evidence.items[k], edge);
        if (c->hint && *c->hint)
            add_labelled(&t, "do", c->hint, edge);
        add_labelled(&t, "see", page, edge);
    }
    if (down) { /* A matrix in which nothing was run shows nothing. */
        _cleanup_(freep) char *line =
            xasprintf("The pod flows were not measured: no pod can start without %s.", down);

        text_add_char(&t, '\n');
        text_add_wrapped(&t, line, 0, 0, edge);
        return text_take(&t);
    }
    add_latencies(&t, report, edge);
    add_reasons(&t, report, DIAG_SKIP, edge);
    add_reasons(&t, report, DIAG_NOT_RUN, edge);
    add_no_faults(&t, report, edge);
    return text_take(&t);
}
