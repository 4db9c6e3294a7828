/* Compares two reports, and puts what changed into words and JSON. */
#include "diag/reports/report.h"

#include "base/rfc3339.h"

/* Returns the cells' indexes by name, in the order of the cells. Names that several cells have (two
 * names of a Service are asked) get a number. New reference. */
static json_t *cells_by_name(const struct diag_report *report) {
    _cleanup_json_ json_t *counts = json_object();
    json_t *rows = json_object();

    for (size_t i = 0; i < report->cells.count; i++) {
        _cleanup_(freep) char *name = diag_report_cell_name(report, &report->cells.items[i]);
        long long seen = json_integer_value(json_object_get(counts, name)) + 1;

        json_object_set_new(counts, name, json_integer(seen));
        if (seen > 1)
            text_set(&name, xasprintf("%s (%lld)", name, seen));
        json_object_set_new(rows, name, json_integer((json_int_t)i));
    }
    return rows;
}

static const struct diag_cell *find(const struct diag_report *in, const json_t *rows,
                                    const char *name) {
    const json_t *row = json_object_get(rows, name);

    return row ? &in->cells.items[json_integer_value(row)] : NULL;
}

/* Adds what changed in a cell; `was` or `is` is NULL when that report does not have the cell. In a
 * cluster, other nodes make other pairs, so without `any` a cell of only one report counts only if
 * it is red. */
static void add_change(json_t *changes, const char *name, const struct diag_cell *was,
                       const struct diag_cell *is, bool any, bool *worse) {
    bool was_red = was && diag_cell_is_open(was), is_red = is && diag_cell_is_open(is);
    bool was_good = was && (was->outcome == DIAG_PASS || was->outcome == DIAG_SLOW);
    bool is_good = is && (is->outcome == DIAG_PASS || is->outcome == DIAG_SLOW);
    bool worsened = is_red && !was_red && !(is->flow->is & FLOW_EXTRA);

    if (was && is ? was->outcome == is->outcome || (was_good && is_good)
                  : !any && !was_red && !is_red)
        return;
    *worse |= worsened;
    json_array_append_new(changes,
                          json_pack("{s:s, s:s, s:s, s:b, s:s*}", "cell", name, "was",
                                    was ? diag_outcome_name(was->outcome) : "absent", "is",
                                    is ? diag_outcome_name(is->outcome) : "absent", "worse",
                                    worsened, "reason", is && *is->reason ? is->reason : NULL));
}

/* Lists the names of nodes, or the ids of causes, that only one of the reports has. */
static void add_names_alone(json_t *ret, bool nodes, const struct diag_report *old,
                            const struct diag_report *new, const char *key_new,
                            const char *key_gone) {
    const struct diag_report *const reports[] = {old, new};
    json_t *names[] = {json_object(), json_object()};
    json_t *appeared = json_array(), *gone = json_array();

    for (size_t r = 0; r < ARRAY_SIZE(reports); r++) {
        size_t count = nodes ? reports[r]->nodes.count : reports[r]->causes.count;

        for (size_t i = 0; i < count; i++)
            json_object_set_new(
                names[r], nodes ? reports[r]->nodes.items[i].name : reports[r]->causes.items[i].id,
                json_true());
    }
    json_each_member(names[1], name, was)
        if (!json_object_get(names[0], name))
            json_array_append_new(appeared, json_string(name));
    json_each_member(names[0], name, is)
        if (!json_object_get(names[1], name))
            json_array_append_new(gone, json_string(name));
    json_object_set_new(ret, key_new, appeared);
    json_object_set_new(ret, key_gone, gone);
    json_decref(names[0]);
    json_decref(names[1]);
}

json_t *diag_report_compare(const struct diag_report *old, const struct diag_report *new) {
    _cleanup_json_ json_t *before = cells_by_name(old), *now = cells_by_name(new);
    json_t *changes = json_array(), *ret;
    bool worse = false;

    json_each_member(now, name, row)
        add_change(changes, name, find(old, before, name), find(new, now, name), !new->server,
                   &worse);
    json_each_member(before, name, row)
        if (!json_object_get(now, name))
            add_change(changes, name, find(old, before, name), NULL, !new->server, &worse);
    ret = json_pack("{s:s, s:b, s:o}", "since", RFC3339_TEXT(old->time), "worse", worse, "cells",
                    changes);
    add_names_alone(ret, false, old, new, "causesNew", "causesGone");
    if (json_array_size(json_object_get(ret, "causesNew")))
        json_object_set_new(ret, "worse", json_true());
    if (new->server)
        add_names_alone(ret, true, old, new, "nodesNew", "nodesGone");
    return ret;
}

bool diag_compare_changed(const json_t *compared) {
    static const char *const lists[] = {"cells", "causesNew", "causesGone", "nodesNew",
                                        "nodesGone"};

    for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
        if (json_array_size(json_object_get(compared, lists[i])))
            return true;
    return false;
}

/* A node's name comes from the cluster, so it is escaped and cannot control the terminal. */
static void add_name(struct text *t, const char *begin, const char *what, const char *name) {
    text_addf(t, "%s  %s", begin, what);
    text_add_escaped(t, name, strlen(name));
}

/* Adds one line for each change; `causes` has the messages for new causes. */
static void add_changes(struct text *t, const char *begin, const json_t *compared,
                        const struct diag_causes *causes) {
    json_each(json_object_get(compared, "nodesNew"), i, id) {
        add_name(t, begin, "node ", json_string_value(id));
        text_add(t, " is new\n");
    }
    json_each(json_object_get(compared, "nodesGone"), i, id) {
        add_name(t, begin, "node ", json_string_value(id));
        text_add(t, " is gone\n");
    }
    json_each(json_object_get(compared, "cells"), i, cell) {
        const char *reason = json_text_at(cell, "reason");

        add_name(t, begin, "", json_text_at(cell, "cell"));
        text_addf(t, ": %s, was %s", json_text_at(cell, "is"), json_text_at(cell, "was"));
        if (reason) {
            text_add(t, " (");
            text_add_escaped(t, reason, strlen(reason));
            text_add(t, ")");
        }
        text_add(t, "\n");
    }
    json_each(json_object_get(compared, "causesNew"), i, id) {
        const char *message = "";

        /* The loop runs backward, so the first cause with this id wins. */
        for (size_t k = causes->count; k-- > 0;)
            if (text_equal(causes->items[k].id, json_string_value(id)))
                message = causes->items[k].message;
        text_addf(t, "%s  new cause: %s%s", begin, json_string_value(id), *message ? ": " : "");
        text_add_escaped(t, message, strlen(message));
        text_add(t, "\n");
    }
    json_each(json_object_get(compared, "causesGone"), i, id)
        text_addf(t, "%s  no longer: %s\n", begin, json_string_value(id));
}

char *diag_compare_text(const json_t *compared) {
    struct text t = {0};

    text_addf(&t, "\nSince %s:%s\n", json_text_at(compared, "since"),
              diag_compare_changed(compared) ? "" : " nothing has changed");
    add_changes(&t, "", compared, &(struct diag_causes){0});
    return text_take(&t);
}

char *diag_watch_text(const json_t *compared, int64_t time, const char *line,
                      const struct diag_causes *causes) {
    const char *begin = RFC3339_TEXT(time);
    struct text t = {0};

    text_addf(&t, "%s  %s\n", begin, line);
    add_changes(&t, begin, compared, causes);
    return text_take(&t);
}

json_t *diag_watch_json(const json_t *compared, const json_t *report, bool good) {
    json_t *line = json_pack("{s:O, s:b, s:O, s:O}", "time", json_object_get(report, "time"),
                             "good", good, "summary", json_object_get(report, "summary"), "causes",
                             json_object_get(report, "causes"));

    json_object_update(line, (json_t *)compared);
    return line;
}
