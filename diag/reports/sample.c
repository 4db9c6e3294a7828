/* The sample of a large cluster: what each form of its report says of it. */
#include "diag/reports/forms.h"

enum { NAMED_MAX = 8 }; /* nodes with what they say of themselves */

/* ---- words ---- */

static size_t kinds_asked(const struct cluster_sample *sample) {
    size_t count = 0;

    for (size_t i = 0; i < sample->count; i++)
        count += sample->kinds[i].asked > 0;
    return count;
}

/* Of the kind of which the smallest part was asked. */
static void add_unseen(const struct diag_report *report, struct text_list *ret) {
    const struct cluster_sample *s = &report->sample;
    const struct cluster_sample_kind *least = NULL;

    for (size_t i = 0; i < s->count; i++)
        if (s->kinds[i].asked < s->kinds[i].nodes &&
            (!least || (double)s->kinds[i].asked / (double)s->kinds[i].nodes <
                           (double)least->asked / (double)least->nodes))
            least = &s->kinds[i];
    if (!least)
        return;
    text_list_add_owned(
        ret, xasprintf("not seen: what is wrong with one of the other %zu nodes alone, or between "
                       "two of them, and they do not say themselves. The smallest part is of %s: "
                       "%zu of %zu nodes. --all-nodes tests all",
                       s->of - report->nodes.count, least->name, least->asked, least->nodes));
    if (s->unsure)
        text_list_add_owned(ret, xasprintf("not in the sample: %zu more nodes whose condition "
                                           "PodNetworkProved is Unknown",
                                           s->unsure));
    if (s->unread)
        text_list_add_owned(ret, xasprintf("not known: what Events say of nodes: %s", s->unread));
}

void diag_sample_lines(const struct diag_report *report, struct text_list *ret) {
    const struct cluster_sample *s = &report->sample;
    size_t kinds = kinds_asked(s);
    size_t count = 0;

    if (!report->sample.of)
        return;
    text_list_add_owned(
        ret,
        xasprintf("a sample: %zu of %zu nodes. It has nodes of %zu of %zu kinds (operating "
                  "system, Windows build, Kubernetes version, network, pool, zone), %zu of %zu "
                  "pairs of kinds, and %zu of %zu nodes that say that something is wrong with "
                  "them",
                  report->nodes.count, s->of, kinds, s->count, s->pairs_asked, s->pairs,
                  s->say - s->unsure, s->say));
    add_unseen(report, ret);
    for (size_t i = 0; i < report->nodes.count; i++) {
        const struct cluster_node *node = &report->nodes.items[i];

        if (node->says && count++ < NAMED_MAX)
            text_list_add_owned(ret, xasprintf("%s says: %s", node->name, node->says));
    }
    if (count > NAMED_MAX)
        text_list_add_owned(ret, xasprintf("and %zu more nodes say such things (-o json has all)",
                                           count - NAMED_MAX));
}

/* ---- JSON ---- */

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
