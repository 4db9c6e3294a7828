/* What changed in a cluster between two runs. */
#include "diag/cluster/cluster.h"
#include "diag/reports/compare.h"

/* Names that several cells of a run have (two names of a Service are asked) are numbered. */
static void compared_make(const struct cluster_report *report, struct diag_compared *ret) {
    _cleanup_json_ json_t *counts = json_object();

    *ret = (struct diag_compared){.time = report->time, .causes = &report->causes};
    ret->cells = xcalloc(report->cells.count, sizeof *ret->cells);
    for (size_t i = 0; i < report->cells.count; i++) {
        const struct diag_cell *cell = &report->cells.items[i];
        char *name = cluster_cell_name(report, cell);
        long long seen = json_integer_value(json_object_get(counts, name)) + 1;

        json_object_set_new(counts, name, json_integer(seen));
        if (seen > 1) {
            char *numbered = xasprintf("%s (%lld)", name, seen);

            free(name);
            name = numbered;
        }
        ret->cells[ret->count++] = (struct diag_compared_cell){
            name, cell->outcome, (cell->flow->is & FLOW_EXTRA) != 0, cell->reason};
    }
}

static bool is_red(const char *outcome) {
    return text_equal(outcome, diag_outcome_name(DIAG_FAIL)) ||
           text_equal(outcome, diag_outcome_name(DIAG_NOT_RUN));
}

/* Other nodes make other pairs: a cell that is asked now or no longer says nothing by itself. */
static void drop_other_pairs(json_t *changes) {
    for (size_t i = json_array_size(changes); i--;) {
        const json_t *change = json_array_get(changes, i);
        const char *was = json_text_at(change, "was"), *is = json_text_at(change, "is");

        if ((text_equal(was, "absent") && !is_red(is)) ||
            (text_equal(is, "absent") && !is_red(was)))
            json_array_remove(changes, i);
    }
}

/* Names of nodes that only the first has. New reference. */
static json_t *nodes_without(const struct cluster_nodes *nodes, const struct cluster_nodes *other) {
    _cleanup_json_ json_t *known = json_object();
    json_t *names = json_array();

    for (size_t i = 0; i < other->count; i++)
        json_object_set_new(known, other->items[i].name, json_true());
    for (size_t i = 0; i < nodes->count; i++)
        if (!json_object_get(known, nodes->items[i].name))
            json_array_append_new(names, json_string(nodes->items[i].name));
    return names;
}

json_t *cluster_report_compare(const struct cluster_report *old, const struct cluster_report *new) {
    struct diag_compared before, now;
    json_t *json;

    compared_make(old, &before);
    compared_make(new, &now);
    json = diag_compare(&before, &now);
    drop_other_pairs(json_object_get(json, "cells"));
    json_object_set_new(json, "nodesNew", nodes_without(&new->nodes, &old->nodes));
    json_object_set_new(json, "nodesGone", nodes_without(&old->nodes, &new->nodes));
    diag_compared_free(&before);
    diag_compared_free(&now);
    return json;
}
