/* A cluster's matrix node by node as one page; nothing is loaded from elsewhere. */
#include <stdlib.h>

#include "base/memory.h"
#include "base/rfc3339.h"
#include "diag/cluster/cluster.h"
#include "diag/reports/markup.h"

static const char page_head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n<title>winjoin diag: cluster</title>"
    "\n<style>\n"
    "body{font:15px/1.5 system-ui,sans-serif;max-width:70em;margin:2em auto;padding:0 1em}\n"
    "div{overflow-x:auto}table{border-collapse:collapse}th{text-align:left;font-weight:400;"
    "padding:.2em .6em .2em 0}td{padding:.2em .5em;border:1px solid #ddd;text-align:center}\n"
    ".pass,.slow{color:#17692d}.fail{color:#b3261e;font-weight:600}"
    ".not-run{color:#7a5900;font-weight:600}\n"
    "@media(prefers-color-scheme:dark){body{background:#161616;color:#e4e4e4}td{border-color:#444}"
    ".pass,.slow{color:#7bd08c}.fail{color:#ff8a80}.not-run{color:#e8c15a}}\n"
    "</style></head><body>\n";

/* The worst of a pair's cells; DIAG_SKIP where it was not asked. */
static enum diag_outcome worst(const struct cluster_report *report, size_t from, size_t to) {
    enum diag_outcome found = DIAG_SKIP;

    for (size_t i = 0; i < report->cells.count; i++) {
        const struct cluster_cell *cell = &report->cells.items[i];
        enum diag_outcome outcome = cell->cell.outcome;

        if (cell->from != from || cell->to != to)
            continue;
        if (outcome == DIAG_FAIL && !cell->cell.flow->extra)
            return DIAG_FAIL;
        if (outcome == DIAG_NOT_RUN || found == DIAG_SKIP)
            found = outcome == DIAG_FAIL ? DIAG_PASS : outcome;
    }
    return found;
}

static void add_matrix(struct text *t, const struct cluster_report *report) {
    static const char *const signs[] = {[DIAG_PASS] = "ok",
                                        [DIAG_FAIL] = "fail",
                                        [DIAG_SLOW] = "ok",
                                        [DIAG_SKIP] = "",
                                        [DIAG_NOT_RUN] = "?"};

    text_add(t, "<div><table><tr><th>from \\ to</th>");
    for (size_t i = 0; i < report->nodes.count; i++) {
        text_add(t, "<th scope=\"col\">");
        markup_add(t, report->nodes.items[i].name);
        text_add(t, "</th>");
    }
    text_add(t, "</tr>\n");
    for (size_t i = 0; i < report->nodes.count; i++) {
        text_add(t, "<tr><th scope=\"row\">");
        markup_add(t, report->nodes.items[i].name);
        text_add(t, "</th>");
        for (size_t k = 0; k < report->nodes.count; k++) {
            enum diag_outcome outcome = worst(report, i, k);

            text_addf(t, "<td class=\"%s\">%s</td>", diag_outcome_name(outcome), signs[outcome]);
        }
        text_add(t, "</tr>\n");
    }
    text_add(t, "</table></div>\n<p>A node with itself: Services, names, and targets outside, "
                "asked from its pod. Empty: not asked.</p>\n");
}

static void add_red(struct text *t, const struct diag_cell *cell) {
    text_addf(t, "<tr><td class=\"%s\">%s</td><td>", diag_outcome_name(cell->outcome),
              diag_outcome_name(cell->outcome));
    text_addf(t, "%s %s</td><td>", cell->flow->id, cell->udp ? "UDP" : "TCP");
    markup_add(t, cell->from);
    text_add(t, " &rarr; ");
    markup_add(t, cell->to);
    text_add(t, "</td><td>");
    markup_add(t, cell->reason);
    text_add(t, "</td></tr>\n");
}

char *cluster_report_html(const struct cluster_report *report) {
    _cleanup_(freep) char *line = cluster_report_line(report);
    struct text t = {.cap = 64 * 1024 * 1024};
    char time[RFC3339_TEXT_MAX];
    bool any = false;

    rfc3339_format(report->time, time);
    text_add(&t, page_head);
    text_add(&t, "<h1>Pod network of ");
    markup_add(&t, report->server);
    text_addf(&t, "</h1>\n<p>%s, measured %s in %u.%u s.</p>\n", line, time,
              report->milliseconds / 1000, report->milliseconds % 1000 / 100);
    add_matrix(&t, report);
    diag_causes_add_html(&t, &report->causes);
    for (size_t i = 0; i < report->cells.count; i++) {
        const struct diag_cell *cell = &report->cells.items[i].cell;

        if (cell->outcome != DIAG_FAIL && cell->outcome != DIAG_NOT_RUN)
            continue;
        text_add(&t, any ? "" : "<h2>What does not work</h2>\n<div><table>\n");
        any = true;
        add_red(&t, cell);
    }
    text_add(&t, any ? "</table></div>\n" : "");
    text_add(&t, "</body></html>\n");
    return text_take(&t);
}
