/* Numbers, names and lines that all forms of a report share, and freeing a report. */
#include "diag/reports/form_parts.h"
#include "diag/reports/forms.h"

#define FORM(name, ...) {name, __VA_ARGS__},
static const struct diag_form forms[] = {DIAG_FORMS(FORM)};

const struct diag_form *diag_form_find(const char *name) {
    for (size_t i = 0; i < ARRAY_SIZE(forms); i++)
        if (text_equal(forms[i].name, name))
            return &forms[i];
    return forms;
}

/* ---- the sample of a large cluster, in words ---- */

enum { NAMED_MAX = 8 }; /* The lines quote at most this many nodes about themselves. */

void diag_sample_lines(const struct diag_report *report, struct text_list *ret) {
    const struct cluster_sample *s = &report->sample;
    /* The kind of which the smallest share was asked. */
    const struct cluster_sample_kind *least = NULL;
    size_t kinds = 0, count = 0;

    if (!report->sample.of)
        return;
    for (size_t i = 0; i < s->count; i++) {
        kinds += s->kinds[i].asked > 0;
        if (s->kinds[i].asked < s->kinds[i].nodes &&
            (!least || (double)s->kinds[i].asked / (double)s->kinds[i].nodes <
                           (double)least->asked / (double)least->nodes))
            least = &s->kinds[i];
    }
    text_list_add_owned(
        ret,
        xasprintf("a sample: %zu of %zu nodes. It has nodes of %zu of %zu kinds (operating "
                  "system, Windows build, Kubernetes version, network, pool, zone), %zu of %zu "
                  "pairs of kinds, and %zu of %zu nodes that say that something is wrong with "
                  "them",
                  report->nodes.count, s->of, kinds, s->count, s->pairs_asked, s->pairs,
                  s->say - s->unsure, s->say));
    if (least)
        text_list_add_owned(
            ret, xasprintf("not seen: what is wrong with one of the other %zu nodes alone, or "
                           "between two of them, and they do not say themselves. The smallest part "
                           "is of %s: %zu of %zu nodes. --all-nodes tests all",
                           s->of - report->nodes.count, least->name, least->asked, least->nodes));
    if (least && s->unsure)
        text_list_add_owned(ret, xasprintf("not in the sample: %zu more nodes whose condition "
                                           "PodNetworkProved is Unknown",
                                           s->unsure));
    if (least && s->unread)
        text_list_add_owned(ret, xasprintf("not known: what Events say of nodes: %s", s->unread));
    for (size_t i = 0; i < report->nodes.count; i++) {
        const struct cluster_node *node = &report->nodes.items[i];

        if (node->says && count++ < NAMED_MAX)
            text_list_add_owned(ret, xasprintf("%s says: %s", node->name, node->says));
    }
    if (count > NAMED_MAX)
        text_list_add_owned(ret, xasprintf("and %zu more nodes say such things (-o json has all)",
                                           count - NAMED_MAX));
}

/* ---- the sample as JSON ---- */

json_t *diag_sample_json(const struct diag_report *report) {
    const struct cluster_sample *s = &report->sample;
    _cleanup_(text_list_free) struct text_list lines = {0};
    json_t *kinds;

    if (!s->of)
        return NULL;
    diag_sample_lines(report, &lines);
    kinds = json_array();
    for (size_t i = 0; i < s->count; i++)
        json_array_append_new(kinds,
                              json_pack("{s:s, s:i, s:i}", "kind", s->kinds[i].name, "nodes",
                                        (int)s->kinds[i].nodes, "asked", (int)s->kinds[i].asked));
    return json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:s*, s:o, s:o}", "of", (int)s->of, "nodes",
                     (int)report->nodes.count, "sayWrong", (int)s->say, "sayWrongNotAsked",
                     (int)s->unsure, "pairsOfKinds", (int)s->pairs, "pairsOfKindsAsked",
                     (int)s->pairs_asked, "eventsNotRead", s->unread, "kinds", kinds, "text",
                     json_texts(&lines));
}

static size_t count_in(const json_t *json, const char *key) {
    long long count = json_number_at(json, key, 0);

    return count > 0 && count <= UINT32_MAX ? (size_t)count : 0;
}

void diag_sample_read(const json_t *json, struct cluster_sample *ret) {
    const json_t *kinds = json_object_get(json, "kinds");

    ret->of = count_in(json, "of");
    ret->say = count_in(json, "sayWrong");
    ret->unsure = count_in(json, "sayWrongNotAsked");
    ret->pairs = count_in(json, "pairsOfKinds");
    ret->pairs_asked = count_in(json, "pairsOfKindsAsked");
    ret->unread = xstrdup_null(json_text_at(json, "eventsNotRead"));
    ret->kinds = xcalloc(json_array_size(kinds) + 1, sizeof *ret->kinds);
    json_each(kinds, i, kind)
        ret->kinds[ret->count++] =
            (struct cluster_sample_kind){xstrdup(json_text_or(kind, "kind", "")),
                                         count_in(kind, "nodes"), count_in(kind, "asked")};
}

/* ---- numbers and names of a report ---- */

char *diag_cause_page(const char *id) {
    _cleanup_(freep) char *lower = text_lower(id);

    return xasprintf("causes.md#%s", lower);
}

void diag_causes_free(struct diag_causes *causes) {
    for (size_t i = 0; i < causes->count; i++) {
        free(causes->items[i].message);
        free(causes->items[i].hint);
        text_list_free(&causes->items[i].evidence);
        text_list_free(&causes->items[i].cells);
    }
    free(causes->items);
    *causes = (struct diag_causes){0};
}

const struct diag_cause *diag_cause_of(const struct diag_causes *causes, const char *cell) {
    for (size_t i = 0; i < causes->count; i++)
        if (text_list_has(&causes->items[i].cells, cell))
            return &causes->items[i];
    return NULL;
}

bool diag_cause_is_first(const struct diag_causes *causes, size_t at) {
    for (size_t i = 0; i < at; i++)
        if (text_equal(causes->items[i].id, causes->items[at].id))
            return false;
    return true;
}

void cluster_nodes_free(struct cluster_nodes *nodes) {
    for (size_t i = 0; i < nodes->count; i++) {
        struct cluster_node *n = &nodes->items[i];

        free_all(n->name, n->os, n->build, n->version, n->network, n->ip, n->twin, n->pod,
                 n->pod_ip, n->pod_ip6, n->waiting, n->unreached, n->suffixes, n->servers,
                 n->client_ip, n->service_ip, n->local_ip, n->pool, n->zone, n->says);
        json_decref(n->own_report);
    }
    free(nodes->items);
    json_decref(nodes->seen);
    *nodes = (struct cluster_nodes){0};
}

void diag_report_free(struct diag_report *report) {
    if (!report)
        return;
    free_all(report->node, report->network, report->server, report->namespace_, report->domain,
             report->pairs.items, report->sample.unread);
    diag_cells_free(&report->cells);
    diag_causes_free(&report->causes);
    cluster_nodes_free(&report->nodes);
    for (size_t i = 0; i < report->sample.count; i++)
        free(report->sample.kinds[i].name);
    free(report->sample.kinds);
    json_decref(report->evidence);
    *report = (struct diag_report){0};
}

char *diag_report_cell_name(const struct diag_report *report, const struct diag_cell *c) {
    _cleanup_(freep) char *flow = diag_cell_name(c);

    if (!report->server)
        return take_ptr(flow);
    if (c->from_node == c->to_node)
        return xasprintf("%s %s", flow, c->from);
    return xasprintf("%s %s -> %s", flow, c->from, report->nodes.items[c->to_node].name);
}

bool diag_report_counts(const struct diag_report *report, const struct diag_cell *cell) {
    return !(cell->flow->is & FLOW_EXTRA) || (report->server && cell->outcome != DIAG_FAIL);
}

void diag_summary_make(const struct diag_report *report, struct diag_summary *ret) {
    bool asked[FLOW_COUNT] = {0}, red[FLOW_COUNT] = {0};

    *ret = (struct diag_summary){0};
    for (size_t i = 0; i < report->cells.count; i++) {
        const struct diag_cell *cell = &report->cells.items[i];
        bool is_red = diag_cell_is_open(cell);

        if (!diag_report_counts(report, cell))
            continue;
        ret->fail += cell->outcome == DIAG_FAIL;
        ret->skip += cell->outcome == DIAG_SKIP;
        ret->not_run += cell->outcome == DIAG_NOT_RUN;
        if (cell->outcome == DIAG_SKIP)
            continue;
        ret->pass += !is_red;
        asked[cell->flow->id] = true;
        red[cell->flow->id] |= is_red;
    }
    for (size_t i = 0; i < FLOW_COUNT; i++) {
        ret->flows += asked[i];
        ret->flows_pass += asked[i] && !red[i];
    }
}

bool diag_report_is_good(const struct diag_report *report) {
    struct diag_summary summary;

    diag_summary_make(report, &summary);
    for (size_t i = 0; report->server && i < report->causes.count; i++)
        /* A cause such as CL-API-POD can be confirmed although all cells pass. */
        if (report->causes.items[i].confirmed)
            return false;
    return summary.pass && !summary.fail && !summary.not_run;
}

char *diag_report_line(const struct diag_report *report) {
    struct diag_summary s;
    char of[32] = "";

    diag_summary_make(report, &s);
    if (!report->server)
        return xasprintf("%u of %u flows work, TCP and UDP, %u probes", s.flows_pass, s.flows,
                         report->probes);
    if (report->sample.of)
        text_format(of, sizeof of, " of %zu", report->sample.of);
    return xasprintf("%u of %u cells work, %zu%s nodes in %zu pairs", s.pass,
                     s.pass + s.fail + s.not_run, report->nodes.count, of, report->pairs.count);
}

/* ---- the results of --count: one line for each flow, protocol and IP family ---- */

struct cluster_latency *cluster_latencies_make(const struct diag_report *report,
                                               size_t *ret_count) {
    struct cluster_latency *lines = NULL;
    unsigned *medians = xcalloc(report->cells.count + 1, sizeof *medians);

    *ret_count = 0;
    for (size_t k = 0; diag_flows[k / 4].name; k++) {
        struct cluster_latency line = {
            .flow = &diag_flows[k / 4], .udp = k % 2, .family = k % 4 < 2 ? 4 : 6};
        struct probe_result *sum = &line.sum, timed = {0};

        for (size_t i = 0; i < report->cells.count; i++) {
            const struct diag_cell *cell = &report->cells.items[i];
            const struct probe_result *r = &cell->result;

            if (!cell->counted || cell->flow != line.flow || cell->udp != line.udp ||
                cell->family != line.family)
                continue;
            sum->attempts += r->attempts;
            sum->succeeded += r->succeeded;
            if (!r->succeeded || report->nodes.items[cell->from_node].by_exec)
                continue;
            medians[timed.succeeded++] = r->median_us;
            if (!line.worst || r->min_us < sum->min_us)
                sum->min_us = r->min_us;
            if (r->max_us > sum->max_us)
                sum->max_us = r->max_us;
            if (!line.worst || r->p95_us > sum->p95_us) {
                sum->p95_us = r->p95_us;
                line.worst = cell;
            }
        }
        probe_result_time(&timed, medians);
        sum->median_us = timed.median_us;
        if (sum->attempts)
            array_add(lines, *ret_count, line);
    }
    free(medians);
    return lines;
}
