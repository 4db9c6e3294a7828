/* One page to send around: nothing is loaded from elsewhere, and it reads without styles too. */
#include <string.h>

#include "base/memory.h"
#include "base/rfc3339.h"
#include "diag/reports/report.h"
#include "diag/reports/markup.h"

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n<title>winjoin "
    "diag</title>\n<style>\n"
    "body{font:15px/1.5 system-ui,sans-serif;max-width:56em;margin:2em auto;padding:0 1em}\n"
    "table{border-collapse:collapse}td,th{padding:.3em 1em .3em 0;text-align:left}\n"
    "tr{border-bottom:1px solid #ddd}.pass{color:#17692d}.slow{color:#7a5900}\n"
    ".fail{color:#b3261e;font-weight:600}.skip{color:#666}.not-run{color:#7a5900;font-weight:600}\n"
    "section{border-left:4px solid #b3261e;padding-left:1em}code{white-space:pre-wrap}\n"
    "@media(prefers-color-scheme:dark){body{background:#161616;color:#e4e4e4}tr{border-color:#444}"
    ".pass{color:#7bd08c}.fail{color:#ff8a80}.slow,.not-run{color:#e8c15a}.skip{color:#aaa}}\n"
    "</style></head><body>\n";

static void add_cell(struct text *t, const struct diag_cell *cell) {
    if (!cell) {
        text_add(t, "<td></td>");
        return;
    }
    text_addf(t, "<td class=\"%s\">%s", diag_outcome_name(cell->outcome),
              diag_outcome_name(cell->outcome));
    if (cell->result.succeeded)
        text_addf(t, " %u.%03u ms", cell->result.median_us / 1000, cell->result.median_us % 1000);
    if (cell->reason[0]) {
        text_add(t, "<br><small>");
        markup_add(t, cell->reason);
        text_add(t, "</small>");
    }
    text_add(t, "</td>");
}

static void add_row(struct text *t, const struct diag_flow *flow, const char *by,
                    const struct diag_cell *tcp, const struct diag_cell *udp) {
    if (!tcp && !udp)
        return;
    text_addf(t, "<tr><td>%s &rarr; %s</td><td>%s</td>", flow->from, flow->to, by);
    add_cell(t, tcp);
    add_cell(t, udp);
    text_add(t, "</tr>\n");
}

static void add_matrix(struct text *t, const struct diag_report *report) {
    size_t count;
    const struct diag_flow *flows = diag_flows(&count);

    text_add(t, "<table><tr><th>flow</th><th></th><th>TCP</th><th>UDP</th></tr>\n");
    for (size_t i = 0; i < count; i++) {
        const char *id = flows[i].id;

        add_row(t, &flows[i], flows[i].by, diag_cells_find(&report->cells, id, false),
                diag_cells_find(&report->cells, id, true));
        add_row(t, &flows[i], "IPv6", diag_cells_find_second(&report->cells, id, false),
                diag_cells_find_second(&report->cells, id, true));
    }
    text_add(t, "</table>\n");
}

static void add_paragraph(struct text *t, const char *label, const char *words) {
    if (!words || !*words)
        return;
    text_addf(t, "<p>%s", label);
    markup_add(t, words);
    text_add(t, "</p>\n");
}

static void add_cause(struct text *t, const struct diag_cause *cause) {
    _cleanup_(freep) char *cells = text_list_join(&cause->cells, ", ");

    text_addf(t, "<section><h2>%s <small>%s</small></h2>\n", cause->id,
              cause->confirmed ? "confirmed" : "likely");
    add_paragraph(t, "", cause->message);
    if (cause->evidence.count)
        text_add(t, "<ul>\n");
    for (size_t i = 0; i < cause->evidence.count; i++) {
        text_add(t, "<li>");
        markup_add(t, cause->evidence.items[i]);
        text_add(t, "</li>\n");
    }
    if (cause->evidence.count)
        text_add(t, "</ul>\n");
    add_paragraph(t, "<b>Do:</b> ", cause->hint);
    add_paragraph(t, "<b>Explains:</b> ", cells);
    text_add(t, "</section>\n");
}

char *diag_report_html(const struct diag_report *report) {
    char time[RFC3339_TEXT_MAX];
    struct diag_summary s;
    struct text t = {0};

    diag_summary_make(report, &s);
    rfc3339_format(report->time, time);
    text_add(&t, head);
    text_add(&t, "<h1>Pod network of ");
    markup_add(&t, report->node ? report->node : "this node");
    text_add(&t, "</h1>\n<p>");
    markup_add(&t, report->network ? report->network : "unknown network");
    text_addf(&t,
              ", measured %s in %u.%u s: %u of %u flows work (%u pass, %u fail, %u skip, %u not"
              " run).</p>\n",
              time, report->milliseconds / 1000, report->milliseconds % 1000 / 100, s.flows_pass,
              s.flows, s.pass, s.fail, s.skip, s.not_run);
    add_matrix(&t, report);
    for (size_t i = 0; i < report->causes.count; i++)
        add_cause(&t, &report->causes.items[i]);
    if (report->evidence) {
        _cleanup_(freep) char *evidence = json_write_pretty(report->evidence);

        text_add(&t, "<details><summary>Evidence</summary><code>");
        markup_add(&t, evidence);
        text_add(&t, "</code></details>\n");
    }
    text_add(&t, "</body></html>\n");
    return text_take(&t);
}
