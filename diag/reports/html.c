/* Writes the report as one HTML page that can be sent by mail: it loads nothing from elsewhere, and
 * is readable without styles, on a phone, on paper and with only a keyboard. In the picture of the
 * network each arrow has the outcome in words, not only as a color; a red arrow links to its
 * cause. */
#include "base/rfc3339.h"
#include "diag/reports/form_parts.h"

/* ---- the picture of the network: boxes for the two ends, and an arrow for each flow ---- */

enum { WIDTH = 760, LEFT = 160, RIGHT = 570, BOX = 180, TOP = 10, STEP = 32, GAP = 14 };

/* The boxes for what a pod of this node talks to, each beside the flows to it. */
static const struct place {
    const char *title, *what;
    enum diag_flow_id flows[4]; /* FLOW_COUNT follows the last flow. */
} places[] = {
    {"another pod", "by the cluster's DNS", {FLOW_POD_IP, FLOW_POD_NAME, FLOW_COUNT}},
    {"Services", "load balancers, DNS", {FLOW_SVC_IP, FLOW_SVC_SHORT, FLOW_SVC_FQDN, FLOW_COUNT}},
    {"outside", "beyond the cluster", {FLOW_EXT_IP, FLOW_EXT_DNS, FLOW_COUNT}},
    {"this node", "kubelet, host", {FLOW_NODE_POD, FLOW_POD_NODE, FLOW_COUNT}},
};

/* Adds the arrow of a flow, with the worst outcome of its cells. Its label for screen readers has
 * the outcomes of all cells ("TCP pass, UDP fail"); the visible text has only those that are not
 * pass. */
static void add_arrow(struct text *t, const struct diag_report *report, enum diag_flow_id id,
                      unsigned y) {
    static const unsigned badness[] = {
        [DIAG_SKIP] = 0, [DIAG_PASS] = 1, [DIAG_SLOW] = 2, [DIAG_NOT_RUN] = 3, [DIAG_FAIL] = 4};
    const struct diag_flow *flow = &diag_flows[id];
    _cleanup_(text_free) struct text words = {0}, shown = {0};
    const struct diag_cell *worst = NULL;
    const struct diag_cause *cause = NULL;
    _cleanup_(freep) char *name = NULL;
    bool back = flow->is & FLOW_FROM_NODE;
    unsigned from = back ? RIGHT - 6 : LEFT + 6, to = back ? LEFT + 6 : RIGHT - 6,
             wing = back ? to + 9 : to - 9;

    for (size_t i = 0; i < report->cells.count; i++) {
        const struct diag_cell *cell = &report->cells.items[i];

        if (cell->flow->id != id)
            continue;
        text_addf(&words, "%s%s%s %s", words.len ? ", " : "", cell->udp ? "UDP" : "TCP",
                  cell->second ? " IPv6" : "", diag_outcome_name(cell->outcome));
        if (cell->outcome != DIAG_PASS)
            text_addf(&shown, "%s%s%s %s", shown.len ? ", " : "", cell->udp ? "UDP" : "TCP",
                      cell->second ? " IPv6" : "", diag_outcome_name(cell->outcome));
        if (!worst || badness[cell->outcome] > badness[worst->outcome])
            worst = cell;
    }
    if (!worst)
        return;
    name = diag_cell_name(worst);
    cause = diag_cell_is_red(worst) ? diag_cause_of(&report->causes, name) : NULL;
    if (cause)
        text_addf(t, "<a href=\"#%s\">", cause->id);
    text_addf(t, "<g role=\"img\" class=\"%s\" aria-label=\"%s to %s%s%s: %s%s%s\">",
              diag_outcome_name(worst->outcome), flow->from, flow->to, *flow->by ? ", " : "",
              flow->by, text_str(&words), cause ? "; cause " : "", cause ? cause->id : "");
    text_addf(t, "<path d=\"M%u %uH%u\"/><path class=\"head\" d=\"M%u %ul%d -5v10z\"/>", from, y,
              wing, to, y, (int)wing - (int)to);
    text_addf(t, "<text x=\"%u\" y=\"%u\">%s%s%s%s%s</text></g>%s\n", (LEFT + RIGHT) / 2, y - 6,
              flow->by, *flow->by ? ": " : "", shown.len ? text_str(&shown) : "pass",
              cause ? " - " : "", cause ? cause->id : "", cause ? "</a>" : "");
}

/* Adds a box that is drawn with four lines, because tools that measure contrast take a rectangle
 * for something that covers the text. */
static void add_box(struct text *t, unsigned x, unsigned y, unsigned width, unsigned height,
                    const char *title, const char *what) {
    text_addf(t, "<g role=\"img\" aria-label=\"%s, ", title);
    markup_add(t, what);
    text_addf(t,
              "\"><path d=\"M%u %uh%u\"/><path d=\"M%u %uh%u\"/><path d=\"M%u %uv%u\"/>"
              "<path d=\"M%u %uv%u\"/><text x=\"%u\" y=\"%u\">%s</text>"
              "<text class=\"what\" x=\"%u\" y=\"%u\">",
              x, y, width, x, y + height, width, x, y, height, x + width, y, height, x + width / 2,
              y + height / 2 - 3, title, x + width / 2, y + height / 2 + 15);
    markup_add(t, what);
    text_add(t, "</text></g>\n");
}

/* Adds the picture of a node's network, with its flows as arrows. */
static void diag_picture_add_html(struct text *t, const struct diag_report *report) {
    struct diag_summary s;
    unsigned y = TOP;
    struct text boxes = {0};

    if (!report->cells.count)
        return;
    diag_summary_make(report, &s);
    for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
        const struct place *p = &places[i];
        unsigned rows = 0;

        while (p->flows[rows] != FLOW_COUNT)
            rows++;
        add_box(&boxes, RIGHT, y, BOX, rows * STEP, p->title, p->what);
        for (unsigned k = 0; k < rows; k++)
            add_arrow(&boxes, report, p->flows[k], y + k * STEP + STEP / 2 + 6);
        y += rows * STEP + GAP;
    }
    text_addf(t,
              "<svg class=\"picture\" role=\"group\" aria-labelledby=\"picture picture-what\" "
              "viewBox=\"0 0 %d %u\"><title id=\"picture\">The pod network</title>"
              "<desc id=\"picture-what\">%u of %u flows between a pod of this node and others "
              "work.</desc>\n",
              WIDTH, y - GAP + TOP, s.flows_pass, s.flows);
    add_box(t, 10, TOP, LEFT - 10, y - GAP - TOP, "a pod",
            report->node ? report->node : "this node");
    text_add_bytes(t, text_str(&boxes), boxes.len);
    text_add(t, "</svg>\n");
    text_free(&boxes);
}

/* ---- the page of a node ---- */

enum { CELLS_SHOWN = 6 };

/* Colors of text and background, for light and dark mode. A test measures their contrast. */
const char diag_page_head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n<title>winjoin diag</title>\n<style>\n"
    ":root{--text:#1b1b1b;--ground:#ffffff;--line:#8a8a8a;--passtext:#0f4d20;--passground:#dff3e3;"
    "--failtext:#7d130e;--failground:#fbdedb;--skiptext:#444444;--skipground:#ececec;"
    "--slowtext:#573f00;--slowground:#fcecc4;--linktext:#0b4fa0;--linkground:#ffffff}\n"
    "@media(prefers-color-scheme:dark){:root{--text:#e6e6e6;--ground:#161616;--line:#7d7d7d;"
    "--passtext:#a2e5b0;--passground:#12301b;--failtext:#ffb9b1;--failground:#471512;"
    "--skiptext:#c6c6c6;--skipground:#2b2b2b;--slowtext:#f5d480;--slowground:#3a2c00;"
    "--linktext:#9cc7ff;--linkground:#161616}}\n"
    "*{box-sizing:border-box}body{font:16px/1.5 system-ui,sans-serif;max-width:60em;margin:0 auto;"
    "padding:1em;color:var(--text);background:var(--ground);overflow-wrap:anywhere}\n"
    "table{border-collapse:separate;border-spacing:3px;width:100%}th{text-align:left}"
    "td,th{padding:.35em .6em;vertical-align:top}tbody th{font-weight:normal}\n"
    "td{border-radius:4px;min-width:6em}.pass{color:var(--passtext);background:var(--passground)}"
    ".fail{color:var(--failtext);background:var(--failground);font-weight:600}"
    ".skip{color:var(--skiptext);background:var(--skipground)}"
    ".slow,.not-run{color:var(--slowtext);background:var(--slowground)}\n"
    "td p{font-weight:normal;margin:.4em 0}a{color:var(--linktext)}td a{color:inherit}"
    "summary{cursor:pointer}"
    "summary:focus-visible,a:focus-visible{outline:3px solid var(--linktext);outline-offset:2px}\n"
    "section{border-left:5px solid var(--failtext);padding-left:1em;margin:1.5em 0}"
    "section.likely{border-left-style:dashed}code,pre{font:.9em/1.4 ui-monospace,monospace;"
    "white-space:pre-wrap;margin:0}\n"
    ".picture{width:100%;font-size:13px}"
    ".picture text{fill:currentcolor;text-anchor:middle}.picture .what{font-size:11px}"
    ".picture g{font-weight:normal;background:var(--ground)}.picture "
    "path{stroke:currentcolor;stroke-width:2;fill:none}"
    ".picture .skip path,.picture .not-run path{stroke-dasharray:5 4}"
    ".picture g path.head{fill:currentcolor;stroke-dasharray:none}"
    ".picture .pass{color:var(--passtext)}\n"
    "@media(max-width:34em){thead{display:none}tr{display:block;margin:.8em 0}tbody "
    "th{display:block;"
    "padding:.2em 0}td{display:block;margin:3px 0}td::before{content:attr(data-by) \" \"}}\n"
    "@media print{body{max-width:none;font-size:11pt}tr,section{break-inside:avoid}"
    "*{print-color-adjust:exact;-webkit-print-color-adjust:exact}"
    "details.evidence{display:none}details::details-content{content-visibility:visible}}\n"
    "</style></head><body><main>\n";

static void add_paragraph(struct text *t, const char *label, const char *words) {
    if (!words || !*words)
        return;
    text_addf(t, "<p>%s", label);
    markup_add(t, words);
    text_add(t, "</p>\n");
}

/* Adds what opens behind a red cell: its cause, the evidence and the hint. */
static void add_details(struct text *t, const struct diag_report *report,
                        const struct diag_cell *cell) {
    _cleanup_(freep) char *name = diag_cell_name(cell);
    const struct diag_cause *cause = diag_cause_of(&report->causes, name);
    bool dns = cell->udp && text_ends_with(cell->to, ":53");

    if (cell->from[0]) {
        text_add(t, "<p>");
        markup_add(t, cell->from);
        text_add(t, " &rarr; ");
        markup_add(t, cell->to);
        text_add(t, "</p>\n");
    }
    if (cause) {
        text_addf(t, "<p><a href=\"#%s\">%s</a>: ", cause->id, cause->id);
        markup_add(t, cause->message);
        text_add(t, "</p>\n");
        for (size_t i = 0; i < cause->evidence.count; i++)
            add_paragraph(t, "Evidence: ", cause->evidence.items[i]);
        add_paragraph(t, "Do: ", cause->hint);
    }

    /* Shows how to ask the cell by hand, when its target is an address with a port. */
    if (!strchr(cell->to, ':') || strchr(cell->to, ' '))
        return;
    text_addf(t, "<p>By hand, on %s: <code>winjoin probe %s ",
              cell->flow->is & FLOW_FROM_NODE ? "the node" : "the pod",
              dns         ? "dns"
              : cell->udp ? "udp"
                          : "tcp");
    markup_add(t, cell->to);
    if (dns) {
        text_add(t, " --question kubernetes.default.svc.");
        markup_add(t, json_text_or(report->evidence, "expected.dnsDomain", "cluster.local"));
    }
    text_add(t, "</code></p>\n");
}

static void add_cell(struct text *t, const struct diag_report *report, const struct diag_cell *cell,
                     const char *by) {
    _cleanup_(freep) char *latency =
        cell && cell->result.succeeded ? diag_latency_text(cell->result.median_us) : NULL;
    bool red = cell && (cell->outcome == DIAG_FAIL || cell->outcome == DIAG_NOT_RUN);

    if (!cell) {
        text_add(t, "<td></td>");
        return;
    }
    text_addf(t, "<td class=\"%s\" data-by=\"%s\">%s%s%s", diag_outcome_name(cell->outcome), by,
              red ? "<details><summary>" : "",
              cell->outcome == DIAG_PASS   ? "&#10003; "
              : cell->outcome == DIAG_FAIL ? "&#10007; "
              : cell->outcome == DIAG_SKIP ? "&#8211; "
                                           : "! ",
              diag_outcome_name(cell->outcome));
    if (latency)
        text_addf(t, " %s", latency);
    if (cell->reason[0]) {
        text_add(t, "<br><small>");
        markup_add(t, cell->reason);
        text_add(t, "</small>");
    }
    if (red) {
        text_add(t, "</summary>\n");
        add_details(t, report, cell);
        text_add(t, "</details>");
    }
    text_add(t, "</td>");
}

void diag_causes_add_html(struct text *t, const struct diag_causes *causes) {
    for (size_t i = 0; i < causes->count; i++) {
        const struct diag_cause *c = &causes->items[i];
        _cleanup_(text_free) struct text cells = {0};
        _cleanup_(freep) char *page = diag_cause_page(c->id);

        text_addf(t, "<section class=\"%s\"", c->confirmed ? "confirmed" : "likely");
        if (diag_cause_is_first(causes, i)) /* A cause may be named for both IP families. */
            text_addf(t, " id=\"%s\"", c->id);
        text_addf(t, "><h2>%s <small>%s</small></h2>\n", c->id,
                  c->confirmed ? "confirmed" : "likely");
        add_paragraph(t, "", c->message);
        if (c->evidence.count)
            text_add(t, "<ul>\n");
        for (size_t k = 0; k < c->evidence.count; k++) {
            text_add(t, "<li>");
            markup_add(t, c->evidence.items[k]);
            text_add(t, "</li>\n");
        }
        if (c->evidence.count)
            text_add(t, "</ul>\n");
        add_paragraph(t, "<b>Do:</b> ", c->hint);
        for (size_t k = 0; k < c->cells.count && k < CELLS_SHOWN; k++)
            text_addf(&cells, "%s%s", k ? ", " : "", c->cells.items[k]);
        if (c->cells.count > CELLS_SHOWN) /* A cluster may have thousands of such cells. */
            text_addf(&cells, " and %zu more", c->cells.count - CELLS_SHOWN);
        add_paragraph(t, "<b>Explains:</b> ", text_str(&cells));
        add_paragraph(t, "<b>See:</b> ", page);
        text_add(t, "</section>\n");
    }
}

char *diag_report_html(const struct diag_report *report) {
    struct diag_summary s;
    struct text t = {0};

    if (report->server)
        return diag_cluster_html(report);
    diag_summary_make(report, &s);
    text_add(&t, diag_page_head);
    text_add(&t, "<h1>Pod network of ");
    markup_add(&t, report->node ? report->node : "this node");
    text_add(&t, "</h1>\n<p>");
    markup_add(&t, report->network ? report->network : "unknown network");
    text_addf(&t,
              ", measured %s in %u.%u s: %u of %u flows work (%u pass, %u fail, %u skip, %u not"
              " run).</p>\n",
              RFC3339_TEXT(report->time), report->milliseconds / 1000,
              report->milliseconds % 1000 / 100, s.flows_pass, s.flows, s.pass, s.fail, s.skip,
              s.not_run);
    diag_picture_add_html(&t, report);
    diag_causes_add_html(&t, &report->causes);
    if (report->cells.count) {
        text_add(&t, "<table><thead><tr><th scope=\"col\">flow</th><th scope=\"col\">TCP</th>"
                     "<th scope=\"col\">UDP</th></tr></thead><tbody>\n");
        for (size_t i = 0; i < 2 * FLOW_COUNT; i++) {
            const struct diag_flow *flow = &diag_flows[i / 2];
            const char *by = i % 2 ? "IPv6" : flow->by;
            const struct diag_cell *tcp = diag_cells_find(&report->cells, flow->id, false, i % 2),
                                   *udp = diag_cells_find(&report->cells, flow->id, true, i % 2);

            if (!tcp && !udp)
                continue;
            text_addf(&t, "<tr><th scope=\"row\">%s &rarr; %s%s%s</th>", flow->from, flow->to,
                      *by ? ", " : "", by);
            add_cell(&t, report, tcp, "TCP");
            add_cell(&t, report, udp, "UDP");
            text_add(&t, "</tr>\n");
        }
        text_add(&t, "</tbody></table>\n");
    }
    if (report->evidence) {
        _cleanup_(freep) char *evidence = json_write_pretty(report->evidence);

        text_add(&t, "<details class=\"evidence\"><summary>All evidence</summary><pre>");
        markup_add(&t, evidence);
        text_add(&t, "</pre></details>\n");
    }
    text_add(&t, "</main></body></html>\n");
    return text_take(&t);
}
