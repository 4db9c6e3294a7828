/* Writes the report of a cluster as text for people: the causes and what to do, then each node with
 * failures, the worst first, and the healthy nodes in one line. */
#include "base/rfc3339.h"
#include "diag/reports/form_parts.h"

enum { RED_LINES = 12, NODES_TOLD = 8, NAMES = 24 };

struct writing {
    struct text *out;
    const struct diag_report *report;
    const struct diag_text_style *style;
    size_t edge;
    bool *printed; /* Says of each cell whether it is already printed. */
    /* For each node, the number of its red cells that are not printed yet. */
    size_t *reds;
    /* For each node, where its cells begin in `touched`; then the end. */
    size_t *begin;
    size_t *touched; /* Indexes of the cells from and to each node, node after node. */
};

/* Counts the cells of each node, at both of their ends, and lists them by node. */
static void index_cells(struct writing *w) {
    const struct diag_cells *cells = &w->report->cells;
    size_t n = w->report->nodes.count, *next = xcalloc(n + 1, sizeof *next);

    w->printed = xcalloc(cells->count, sizeof *w->printed);
    w->reds = xcalloc(n, sizeof *w->reds);
    w->begin = xcalloc(n + 1, sizeof *w->begin);
    w->touched = xcalloc(2 * cells->count, sizeof *w->touched);
    for (size_t i = 0; i < cells->count; i++) {
        size_t from = cells->items[i].from_node, to = cells->items[i].to_node;
        bool red = diag_cell_is_red(&cells->items[i]);

        w->begin[from + 1]++;
        w->reds[from] += red;
        w->begin[to + 1] += to != from;
        w->reds[to] += red && to != from;
    }
    for (size_t i = 0; i < n; i++)
        next[i + 1] = w->begin[i + 1] += w->begin[i];
    for (size_t i = 0; i < cells->count; i++) {
        size_t from = cells->items[i].from_node, to = cells->items[i].to_node;

        w->touched[next[from]++] = i;
        if (to != from)
            w->touched[next[to]++] = i;
    }
    free(next);
}

static void tell(struct writing *w, size_t cell) {
    const struct diag_cell *c = &w->report->cells.items[cell];

    if (!w->printed[cell] && diag_cell_is_red(c)) {
        w->reds[c->from_node]--;
        w->reds[c->to_node] -= c->from_node != c->to_node;
    }
    w->printed[cell] = true;
}

static void add_line(struct writing *w, const char *begin, const char *line, size_t indent) {
    text_add(w->out, begin);
    text_add_wrapped(w->out, line, strlen(begin), indent, w->edge);
}

static void add_marked(struct writing *w, enum diag_outcome outcome, const char *line) {
    enum { INDENT = 4 };

    text_pad(w->out, text_add_mark(w->out, outcome, w->style), INDENT);
    text_add_wrapped(w->out, line, INDENT, INDENT, w->edge);
}

static void add_names(struct writing *w, enum diag_outcome outcome, const size_t *nodes,
                      size_t count, const char *what) {
    struct text line = {0};

    for (size_t i = 0; i < count && i < NAMES; i++)
        text_addf(&line, "%s%s", i ? ", " : "", w->report->nodes.items[nodes[i]].name);
    if (count > NAMES)
        text_addf(&line, " and %zu more", count - NAMES);
    text_addf(&line, ": %s", what);
    if (count)
        add_marked(w, outcome, text_str(&line));
    text_free(&line);
}

/* Adds a line for a red cell and the other cells of the same two nodes that fail alike. */
static void add_red(struct writing *w, size_t first) {
    const struct diag_cell *cells = w->report->cells.items, *one = &cells[first];
    const struct diag_flow *flow = NULL;
    struct text line = {0};
    int family = 0;
    bool said[2] = {0}; /* Whether the line already has TCP and UDP. */

    text_add(&line, one->from);
    if (one->from_node != one->to_node)
        text_addf(&line, " -> %s", w->report->nodes.items[one->to_node].name);
    for (size_t i = first; i < w->report->cells.count; i++) {
        const struct diag_cell *c = &cells[i];

        if (w->printed[i] || !diag_cell_is_red(&cells[i]) || cells[i].from_node != one->from_node ||
            cells[i].to_node != one->to_node || !text_equal(c->reason, one->reason))
            continue;
        tell(w, i);
        if (!flow || c->flow != flow || c->family != family) {
            text_addf(&line, "%s%s%s", flow ? ", " : "  ", c->flow->name,
                      c->family == 6 ? " IPv6" : "");
            said[0] = said[1] = false;
        }
        if (!said[c->udp])
            text_add(&line, c->udp ? " UDP" : " TCP");
        said[c->udp] = true;
        flow = c->flow;
        family = c->family;
    }
    text_addf(&line, ": %s", one->reason);
    add_line(w, "    ", text_str(&line), 6);
    text_free(&line);
}

/* Returns the node with the most red cells that are not printed yet; SIZE_MAX when none is left. */
static size_t worst_node(const struct writing *w) {
    size_t worst = SIZE_MAX, most = 0;

    for (size_t i = 0; i < w->report->nodes.count; i++)
        if (w->reds[i] > most) {
            most = w->reds[i];
            worst = i;
        }
    return worst;
}

static void add_node(struct writing *w, size_t node) {
    const struct cluster_node *n = &w->report->nodes.items[node];
    size_t red = 0, all = 0;
    _cleanup_(freep) char *line = NULL, *own = NULL;

    for (size_t i = 0; i < w->report->cells.count; i++) {
        const struct diag_cell *cell = &w->report->cells.items[i];
        bool touched = cell->from_node == node || cell->to_node == node;

        all += touched;
        red += touched && diag_cell_is_red(cell);
    }
    if (n->waiting)
        line = xasprintf("%s (%s%s%s): no probe runs there: %s", n->name, n->os,
                         *n->build ? " " : "", n->build, n->waiting);
    else
        line = xasprintf("%s (%s%s%s, %s): %zu of its %zu cells do not work", n->name, n->os,
                         *n->build ? " " : "", n->build, n->version, red, all);
    add_marked(w, n->waiting ? DIAG_NOT_RUN : DIAG_FAIL, line);
    own = cluster_own_report_line(w->report, n);
    if (own)
        add_line(w, "    ", own, 6);
    red = 0;
    for (size_t i = 0; i < w->report->cells.count; i++) {
        const struct diag_cell *cell = &w->report->cells.items[i];

        if ((cell->from_node != node && cell->to_node != node) || !diag_cell_is_red(cell) ||
            w->printed[i])
            continue;
        if (!n->waiting && red++ < RED_LINES)
            add_red(w, i);
        tell(w, i);
    }
    if (red > RED_LINES)
        text_addf(w->out, "    and %zu more (-o json has all)\n", red - RED_LINES);
}

/* Prints the nodes: those with red cells, the worst ones in detail; then those whose only red cells
 * are with these nodes; then those without red cells. At last it prints reports that name a fault,
 * of nodes that were not printed for red cells. */
static void add_nodes(struct writing *w) {
    size_t count = w->report->nodes.count, good = 0, other = 0, more = 0, news = 0, node;
    size_t *list = xcalloc(count, sizeof *list), *others = xcalloc(count, sizeof *others);
    size_t *rest = xcalloc(count, sizeof *rest), shown = 0;
    bool *bad = xcalloc(count, sizeof *bad), *printed = xcalloc(count, sizeof *printed);

    for (size_t i = 0; i < w->report->cells.count; i++)
        if (diag_cell_is_red(&w->report->cells.items[i]))
            bad[w->report->cells.items[i].from_node] = bad[w->report->cells.items[i].to_node] =
                true;
    while ((node = worst_node(w)) != SIZE_MAX) {
        printed[node] = true;
        if (shown++ < NODES_TOLD) {
            add_node(w, node);
            continue;
        }
        rest[more++] = node;
        for (size_t i = w->begin[node]; i < w->begin[node + 1]; i++)
            tell(w, w->touched[i]);
    }
    for (size_t i = 0; i < count; i++)
        if (!bad[i])
            list[good++] = i;
        else if (!printed[i])
            others[other++] = i;
    add_names(w, DIAG_FAIL, rest, more, "do not work either (-o json has all)");
    add_names(w, DIAG_PASS, others, other, "fails only with the nodes above");
    add_names(w, DIAG_PASS, list, good, "every flow works");

    for (size_t i = 0; i < count; i++) {
        const struct cluster_node *n = &w->report->nodes.items[i];
        _cleanup_(freep) char *own = NULL, *line = NULL;

        if (printed[i] || !cluster_own_report_is_news(n) || news++ >= NODES_TOLD)
            continue;
        own = cluster_own_report_line(w->report, n);
        line = xasprintf("%s: %s", n->name, own);
        add_line(w, "    ", line, 6);
    }
    if (news > NODES_TOLD)
        text_addf(w->out, "    and %zu more such reports (-o json has all)\n", news - NODES_TOLD);
    free_all(list, others, rest, bad, printed);
}

void cluster_report_progress(const struct diag_report *report, struct text_list *ret) {
    text_list_add_owned(ret, xasprintf("%-32s %6s %6s %6s", "", "works", "fails", "waits"));
    for (const struct diag_flow *flow = diag_flows; flow->name; flow++) {
        size_t works = 0, fails = 0, waits = 0;

        for (size_t i = 0; i < report->cells.count; i++) {
            const struct diag_cell *cell = &report->cells.items[i];

            if (cell->flow != flow)
                continue;
            works += cell->outcome == DIAG_PASS || cell->outcome == DIAG_SLOW;
            fails += cell->outcome == DIAG_FAIL;
            waits += cell->outcome == DIAG_NOT_RUN;
        }
        if (works + fails + waits)
            text_list_add_owned(ret,
                                xasprintf("%-32s %6zu %6zu %6zu", flow->name, works, fails, waits));
    }
}

enum seen_as { ITSELF, OTHERWISE, NOT_AT_ALL, SEEN_ENDS };

/* Says which source address others see from a node's pods, and groups those with the same words. */
static void add_seen(struct text *line, const struct cluster_node *n) {
    static const char *const words[SEEN_ENDS] = {"with their own address by", "with another by",
                                                 "not by"};
    const struct {
        const char *who, *ip;
    } seen[] = {{"pods", n->client_ip},
                {"Services", n->service_ip},
                {"NodePorts with externalTrafficPolicy Local", n->local_ip}};
    const char *behind = " are seen ";

    for (unsigned k = 0; k < SEEN_ENDS; k++) {
        const char *before = NULL;

        for (size_t i = 0; i < ARRAY_SIZE(seen); i++) {
            enum seen_as as = !seen[i].ip                         ? NOT_AT_ALL
                              : text_equal(seen[i].ip, n->pod_ip) ? ITSELF
                                                                  : OTHERWISE;

            if (as != k)
                continue;
            text_addf(line, "%s%s %s", before ? "," : behind, before ? "" : words[k], seen[i].who);
            before = behind = "; ";
        }
    }
}

/* Prints observations, which are not judged, each different one once. */
static void add_observations(struct writing *w) {
    struct text_list lines = {0};

    for (size_t i = 0; i < w->report->nodes.count; i++) {
        const struct cluster_node *n = &w->report->nodes.items[i];
        const char *dsr = json_text_at(n->own_report, "dsr");
        struct text line = {0};

        if (n->waiting || !n->client_ip || !n->sticky) /* A node without these was not reached. */
            continue;
        text_addf(&line, "%s pods", n->os);
        add_seen(&line, n);
        text_addf(&line, "; session affinity %s%s%s%s%s", n->fixed ? "holds" : "does not hold",
                  dsr ? "; DSR " : "", dsr ? dsr : "", n->suffixes ? "; DNS suffixes " : "",
                  n->suffixes ? n->suffixes : "");
        if (!text_list_has(&lines, text_str(&line)))
            text_list_add(&lines, text_str(&line));
        text_free(&line);
    }
    for (size_t i = 0; i < lines.count && i < NAMES; i++)
        add_line(w, "    ", lines.items[i], 6);
    text_list_free(&lines);
}

/* Names the nodes that were asked by exec: the time of a shell and curl in the pod would hide that
 * of the network. */
static void add_untimed(struct writing *w) {
    const struct cluster_nodes *nodes = &w->report->nodes;
    static const char *const what[] = {"loss and latency are", "latency is"};
    _cleanup_(freep) bool *has_counted = xcalloc(nodes->count, sizeof *has_counted);

    for (size_t i = 0; i < w->report->cells.count; i++)
        has_counted[w->report->cells.items[i].from_node] |= w->report->cells.items[i].counted;
    for (int counted = 0; counted < 2 && w->report->count; counted++) {
        _cleanup_(text_list_free) struct text_list names = {0};
        _cleanup_(freep) char *joined = NULL, *line = NULL;

        for (size_t i = 0; i < nodes->count; i++)
            if (nodes->items[i].by_exec && has_counted[i] == counted)
                text_list_add(&names, nodes->items[i].name);
        if (!names.count)
            continue;
        joined = text_list_join(&names, ", ");
        line = xasprintf("%s not measured from %s: asked by exec", what[counted], joined);
        add_line(w, "", line, 4);
    }
}

/* Prints what --count measured, and which cell was the worst. */
static void add_latencies(struct writing *w) {
    size_t count;
    struct cluster_latency *lines = cluster_latencies_make(w->report, &count);

    if (count)
        text_add(w->out, "fastest / median / worst p95 / slowest, loss\n");
    for (size_t i = 0; i < count; i++) {
        const struct probe_result *r = &lines[i].sum;
        _cleanup_(freep) char *name =
            xasprintf("%s %s%s", lines[i].flow->name, lines[i].udp ? "UDP" : "TCP",
                      lines[i].family == 6 ? " IPv6" : "");
        _cleanup_(freep) char *line = latency_line(name, r, lines[i].worst != NULL);
        _cleanup_(freep) char *worst =
            lines[i].worst ? diag_report_cell_name(w->report, lines[i].worst) : NULL;

        if (worst)
            text_set(&line, xasprintf("%s; p95 of %s", line, strchr(worst, ' ') + 1));
        add_line(w, "  ", line, 4);
    }
    if (count)
        text_add_char(w->out, '\n');
    free(lines);
}

char *diag_cluster_text(const struct diag_report *report, const struct diag_text_style *style) {
    _cleanup_(text_list_free) struct text_list sample = {0};
    struct text t = {0};
    struct writing w = {.out = &t, .report = report, .style = style, .edge = text_edge(style)};
    _cleanup_(freep) char *head = NULL, *verdict = diag_report_line(report), *end = NULL;
    size_t of_windows = 0, of_linux = 0;

    index_cells(&w);
    for (size_t i = 0; i < report->nodes.count; i++) {
        of_windows += text_equal(report->nodes.items[i].os, "windows");
        of_linux += text_equal(report->nodes.items[i].os, "linux");
    }
    head = xasprintf("%s  %s  %zu Windows and %zu Linux nodes", report->server,
                     RFC3339_TEXT(report->time), of_windows, of_linux);
    add_line(&w, "", head, 2);
    add_line(&w, "", verdict, 2);
    diag_sample_lines(report, &sample);
    for (size_t i = 0; i < sample.count; i++)
        add_line(&w, "", sample.items[i], 2);
    text_add_char(&t, '\n');
    for (size_t i = 0; i < report->causes.count; i++) {
        const struct diag_cause *c = &report->causes.items[i];
        _cleanup_(freep) char *page = diag_cause_page(c->id);
        _cleanup_(freep) char *title =
            xasprintf("%s  %s  %s", c->id, c->confirmed ? "confirmed" : "likely", c->message);

        add_marked(&w, DIAG_FAIL, title);
        for (size_t k = 0; k < c->evidence.count; k++)
            add_line(&w, "    evidence  ", c->evidence.items[k], 14);
        add_line(&w, "    do        ", c->hint, 14);
        add_line(&w, "    see       ", page, 14);
        text_add_char(&t, '\n');
    }
    add_nodes(&w);
    text_add_char(&t, '\n');
    add_latencies(&w);
    add_untimed(&w);
    add_observations(&w);
    end = xasprintf(
        "measured in %u.%u s after %u.%u s for the pods to start, with %u requests to "
        "the API server; the namespace %s %s",
        report->milliseconds / 1000, report->milliseconds % 1000 / 100, report->start_ms / 1000,
        report->start_ms % 1000 / 100, report->requests, report->namespace_,
        report->left ? "could not be deleted: use kubectl delete namespace" : "is deleted");
    add_line(&w, "", end, 0);
    free_all(w.printed, w.reds, w.begin, w.touched);
    return text_take(&t);
}
