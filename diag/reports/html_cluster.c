/* Writes the report of a cluster as one HTML page with a matrix; it loads nothing. */
#include "base/rfc3339.h"
#include "diag/reports/form_parts.h"

/* Up to NAMED_MAX nodes, the columns have names, otherwise numbers. Up to PRINTED_MAX, the matrix
 * is printed on paper. A page shows at most PAGE_MAX. */
enum { NAMED_MAX = 8, PRINTED_MAX = 24, PAGE_MAX = 200 };

/* Overrides rules of diag_page_head for phones and for words in cells: a matrix scrolls instead. */
static const char page_style[] =
    "<style>.matrix{overflow-x:auto}.matrix table{width:auto}.matrix thead{display:"
    "table-header-group}.matrix tr{display:table-row}.matrix td,.matrix th{display:table-cell;"
    "min-width:0;text-align:center;overflow-wrap:normal}.matrix th:first-child{text-align:left;"
    "position:sticky;left:0;background:var(--ground);white-space:nowrap;max-width:45vw;"
    "overflow:hidden;text-overflow:ellipsis}.matrix td::before{content:none}"
    ".matrix a{display:block;text-decoration:underline}.red td{min-width:0}"
    ".red td:first-child{white-space:nowrap}"
    "tr:target{outline:3px solid var(--linktext)}"
    "@media print{.many{display:none}}</style>\n";

/* Returns the worst outcome of each pair's cells, row by row; DIAG_SKIP for a pair that was not
 * asked. free() the array. */
static enum diag_outcome *worst_make(const struct diag_report *report) {
    size_t n = report->nodes.count;
    enum diag_outcome *worst = xcalloc(n * n, sizeof *worst);

    for (size_t i = 0; i < n * n; i++)
        worst[i] = DIAG_SKIP;
    for (size_t i = 0; i < report->cells.count; i++) {
        const struct diag_cell *cell = &report->cells.items[i];
        enum diag_outcome *found = &worst[cell->from_node * n + cell->to_node],
                          outcome = cell->outcome;

        if (outcome == DIAG_FAIL && (cell->flow->is & FLOW_EXTRA))
            outcome = DIAG_PASS; /* An extra flow never counts against success. */
        if (*found != DIAG_FAIL &&
            (outcome == DIAG_FAIL || outcome == DIAG_NOT_RUN || *found == DIAG_SKIP))
            *found = outcome;
    }
    return worst;
}

/* Indexes of nodes, in order. */
struct nodes {
    size_t *items, count;
};

static void add_matrix(struct text *t, const struct diag_report *report, const struct nodes *nodes,
                       const enum diag_outcome *worst) {
    text_addf(t, "<div class=\"matrix%s\" tabindex=\"0\"><table>",
              nodes->count > PRINTED_MAX ? " many" : "");
    text_add(t, "<thead><tr><th>from \\ to</th>");
    for (size_t i = 0; i < nodes->count; i++) {
        const char *name = report->nodes.items[nodes->items[i]].name;

        text_add(t, "<th scope=\"col\" title=\"");
        markup_add(t, name);
        text_add(t, "\">");
        if (nodes->count > NAMED_MAX)
            text_addf(t, "%zu", nodes->items[i] + 1);
        else
            markup_add(t, name);
        text_add(t, "</th>");
    }
    text_add(t, "</tr></thead>\n");
    text_add(t, "<tbody>");
    for (size_t i = 0; i < nodes->count; i++) {
        size_t from = nodes->items[i];

        text_add(t, "<tr><th scope=\"row\" title=\"");
        markup_add(t, report->nodes.items[from].name);
        text_add(t, "\">");
        if (nodes->count > NAMED_MAX)
            text_addf(t, "%zu ", from + 1);
        markup_add(t, report->nodes.items[from].name);
        text_add(t, "</th>");
        for (size_t k = 0; k < nodes->count; k++) {
            enum diag_outcome outcome = worst[from * report->nodes.count + nodes->items[k]];

            if (outcome == DIAG_FAIL || outcome == DIAG_NOT_RUN)
                text_addf(t, "<td class=\"%s\"><a href=\"#red-%zu-%zu\">%s</a></td>",
                          diag_outcome_name(outcome), from + 1, nodes->items[k] + 1,
                          outcome == DIAG_FAIL ? "fail" : "?");
            else
                text_add(t, outcome == DIAG_SKIP ? "<td></td>" : "<td class=\"pass\">ok</td>");
        }
        text_add(t, "</tr>\n");
    }
    text_add(t, "</tbody></table></div>\n");
}

/* Adds the matrix of all nodes. If there are many, a matrix of nodes with red cells comes first. */
static void add_matrices(struct text *t, const struct diag_report *report,
                         const enum diag_outcome *worst) {
    size_t n = report->nodes.count;
    struct nodes all = {xcalloc(n, sizeof *all.items), n};
    struct nodes red = {xcalloc(n, sizeof *red.items), 0};

    for (size_t i = 0; i < n; i++) {
        bool touched = false;

        all.items[i] = i;
        for (size_t k = 0; k < n; k++)
            touched |= worst[i * n + k] == DIAG_FAIL || worst[i * n + k] == DIAG_NOT_RUN ||
                       worst[k * n + i] == DIAG_FAIL || worst[k * n + i] == DIAG_NOT_RUN;
        if (touched)
            red.items[red.count++] = i;
    }
    if (n <= PRINTED_MAX) {
        add_matrix(t, report, &all, worst);
    } else {
        if (red.count)
            add_matrix(t, report, &red, worst);
        text_addf(t, "<details><summary>All %zu nodes</summary>\n", n);
        add_matrix(t, report, &all, worst);
        text_add(t, "</details>\n");
    }
    text_add(t, "<p>A node with itself: Services, names, and targets outside, asked from its pod. "
                "Empty: not asked.</p>\n");
    free(all.items);
    free(red.items);
}

/* Adds the red cells of each pair together, with the command that asks only this pair again. */
static void add_reds(struct text *t, const struct diag_report *report) {
    const struct diag_cells *cells = &report->cells;
    size_t n = report->nodes.count;
    _cleanup_(freep) bool *printed = xcalloc(n * n, sizeof *printed);
    bool any = false;

    for (size_t i = 0; i < cells->count; i++) {
        size_t from = cells->items[i].from_node, to = cells->items[i].to_node;

        if (!diag_cell_is_open(&cells->items[i]) || printed[from * n + to])
            continue;
        text_add(t, any ? "" : "<h2>What does not work</h2>\n<table class=\"red\"><tbody>\n");
        any = printed[from * n + to] = true;
        for (size_t k = i; k < cells->count; k++) {
            const struct diag_cell *c = &cells->items[k];
            _cleanup_(freep) char *name = NULL;
            const struct diag_cause *cause;

            if (c->from_node != from || c->to_node != to || !diag_cell_is_open(c))
                continue;
            name = diag_report_cell_name(report, c);
            cause = diag_cause_of(&report->causes, name);
            text_add(t, "<tr");
            /* The matrix links to the first row of each pair. */
            if (k == i)
                text_addf(t, " id=\"red-%zu-%zu\"", from + 1, to + 1);
            text_addf(t, "><td class=\"%s\">%s</td><td>%s %s</td><td>",
                      diag_outcome_name(c->outcome), diag_outcome_name(c->outcome), c->flow->name,
                      c->udp ? "UDP" : "TCP");
            markup_add(t, c->from);
            text_add(t, " &rarr; ");
            markup_add(t, c->to);
            text_add(t, "</td><td>");
            markup_add(t, c->reason);
            if (cause)
                text_addf(t, " <a href=\"#%s\">%s</a>", cause->id, cause->id);
            text_add(t, "</td></tr>\n");
        }
        text_add(t, "<tr><td colspan=\"4\"><code>winjoin diag --kubeconfig FILE --nodes ");
        markup_add(t, report->nodes.items[from].name);
        text_add(t, from == to ? "" : ",");
        markup_add(t, from == to ? "" : report->nodes.items[to].name);
        text_add(t, "</code></td></tr>\n");
    }
    text_add(t, any ? "</tbody></table>\n" : "");
}

/* Adds the reports that joined nodes have published: those that name a fault, and those of nodes
 * with red cells. */
static void add_own_reports(struct text *t, const struct diag_report *report) {
    size_t n = report->nodes.count;
    _cleanup_(freep) bool *red = xcalloc(n, sizeof *red);
    bool any = false;

    for (size_t i = 0; i < report->cells.count; i++)
        if (diag_cell_is_open(&report->cells.items[i]))
            red[report->cells.items[i].from_node] = red[report->cells.items[i].to_node] = true;
    for (size_t i = 0; i < n; i++) {
        const struct cluster_node *node = &report->nodes.items[i];
        _cleanup_(freep) char *line = cluster_own_report_line(report, node);

        if (!line || (!red[i] && !cluster_own_report_is_news(node)))
            continue;
        text_add(t, any ? ""
                        : "<h2>What nodes say of themselves</h2>\n<table class=\"red\"><tbody>\n");
        text_add(t, "<tr><td>");
        markup_add(t, node->name);
        text_add(t, "</td><td>");
        markup_add(t, line);
        text_add(t, "</td></tr>\n");
        any = true;
    }
    text_add(t, any ? "</tbody></table>\n" : "");
}

static void add_latencies(struct text *t, const struct diag_report *report) {
    size_t count;
    struct cluster_latency *lines = cluster_latencies_make(report, &count);

    if (count)
        text_add(t, "<h2>Latency and loss</h2>\n<div class=\"matrix\" tabindex=\"0\"><table><thead>"
                    "<tr><th>flow</th><th scope=\"col\">fastest</th><th scope=\"col\">median</th>"
                    "<th scope=\"col\">worst p95</th><th scope=\"col\">slowest</th>"
                    "<th scope=\"col\">loss</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < count; i++) {
        const struct probe_result *r = &lines[i].sum;
        const unsigned times[] = {r->min_us, r->median_us, r->p95_us, r->max_us};

        text_addf(t, "<tr><th scope=\"row\">%s %s%s</th>", lines[i].flow->name,
                  lines[i].udp ? "UDP" : "TCP", lines[i].family == 6 ? " IPv6" : "");
        for (size_t k = 0; k < ARRAY_SIZE(times); k++)
            if (lines[i].worst)
                text_addf(t, "<td>%.1f ms</td>", times[k] / 1e3);
            else
                text_add(t, "<td></td>");
        text_addf(t, "<td>%.1f %% of %u</td></tr>\n",
                  100.0 * (r->attempts - r->succeeded) / r->attempts, r->attempts);
    }
    if (count)
        text_add(t, "</tbody></table></div>\n");
    free(lines);
}

/* Makes a report with the nodes that the page shows (of very many, those with red cells first) and
 * the cells between them. All other members are borrowed from `report`. The caller frees the arrays
 * of nodes and cells with free(). */
static void page_make(const struct diag_report *report, struct diag_report *ret) {
    size_t n = report->nodes.count, *places = xcalloc(n, sizeof *places), chosen = 0;
    bool *red = xcalloc(n, sizeof *red);

    for (size_t i = 0; i < report->cells.count; i++)
        if (diag_cell_is_open(&report->cells.items[i]))
            red[report->cells.items[i].from_node] = red[report->cells.items[i].to_node] = true;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < n && chosen < PAGE_MAX; i++)
            if (red[i] == !pass)
                places[i] = ++chosen;
    *ret = *report;
    ret->cells = (struct diag_cells){0};
    ret->nodes = (struct cluster_nodes){xcalloc(chosen, sizeof *ret->nodes.items), 0, NULL};
    for (size_t i = 0; i < n; i++)
        if (places[i]) {
            ret->nodes.items[ret->nodes.count++] = report->nodes.items[i];
            places[i] = ret->nodes.count;
        }
    for (size_t i = 0; i < report->cells.count; i++) {
        struct diag_cell cell = report->cells.items[i];

        if (!places[cell.from_node] || !places[cell.to_node])
            continue;
        cell.from_node = places[cell.from_node] - 1;
        cell.to_node = places[cell.to_node] - 1;
        array_add(ret->cells.items, ret->cells.count, cell);
    }
    free_all(places, red);
}

char *diag_cluster_html(const struct diag_report *whole) {
    struct diag_report page, *report = &page;
    _cleanup_(freep) char *line = diag_report_line(whole);
    _cleanup_(freep) enum diag_outcome *worst = NULL;
    _cleanup_(text_list_free) struct text_list sample = {0};
    struct text t = {.cap = 64 * 1024 * 1024};

    page_make(whole, &page);
    worst = worst_make(report);
    text_add(&t, diag_page_head);
    text_add(&t, page_style);
    text_add(&t, "<h1>Pod network of ");
    markup_add(&t, report->server);
    text_addf(&t, "</h1>\n<p>%s, measured %s in %u.%u s.</p>\n", line, RFC3339_TEXT(report->time),
              report->milliseconds / 1000, report->milliseconds % 1000 / 100);
    diag_sample_lines(whole, &sample);
    if (report->nodes.count < whole->nodes.count)
        text_list_add_owned(&sample, xasprintf("This page has %zu of the %zu nodes, those where "
                                               "something fails first; -o json has all.",
                                               report->nodes.count, whole->nodes.count));
    for (size_t i = 0; i < sample.count; i++) {
        text_add(&t, "<p>");
        markup_add(&t, sample.items[i]);
        text_add(&t, "</p>\n");
    }
    cluster_picture_add_html(&t, report, worst);
    diag_causes_add_html(&t, &report->causes);
    add_matrices(&t, report, worst);
    add_reds(&t, report);
    add_own_reports(&t, report);
    add_latencies(&t, report);
    text_add(&t, "</main></body></html>\n");
    free_all(page.nodes.items, page.cells.items);
    return text_take(&t);
}
