/* What changed between two reports. */
#include "diag/reports/compare.h"

#include "base/rfc3339.h"

static bool is_good(enum diag_outcome outcome) {
    return outcome == DIAG_PASS || outcome == DIAG_SLOW;
}

static bool is_red(enum diag_outcome outcome) {
    return outcome == DIAG_FAIL || outcome == DIAG_NOT_RUN;
}

static const struct diag_compared_cell *find(const struct diag_compared *in, const json_t *rows,
                                             const char *name) {
    const json_t *row = json_object_get(rows, name);

    return row ? &in->cells[json_integer_value(row)] : NULL;
}

/* The rows by name. New reference. */
static json_t *rows_make(const struct diag_compared *in) {
    json_t *rows = json_object();

    for (size_t i = 0; i < in->count; i++)
        json_object_set_new(rows, in->cells[i].name, json_integer((json_int_t)i));
    return rows;
}

static void add_change(json_t *changes, const char *name, const struct diag_compared_cell *was,
                       const struct diag_compared_cell *is, bool *worse) {
    bool worsened = is && !is->extra && is_red(is->outcome) && (!was || !is_red(was->outcome));

    *worse |= worsened;
    json_array_append_new(changes,
                          json_pack("{s:s, s:s, s:s, s:b, s:s*}", "cell", name, "was",
                                    was ? diag_outcome_name(was->outcome) : "absent", "is",
                                    is ? diag_outcome_name(is->outcome) : "absent", "worse",
                                    worsened, "reason", is && *is->reason ? is->reason : NULL));
}

static bool has_cause(const struct diag_causes *causes, const char *id) {
    for (size_t i = 0; i < causes->count; i++)
        if (text_equal(causes->items[i].id, id))
            return true;
    return false;
}

/* Those of one that the other does not name. */
static json_t *causes_without(const struct diag_causes *causes, const struct diag_causes *other) {
    _cleanup_(text_list_free) struct text_list ids = {0};

    for (size_t i = 0; i < causes->count; i++)
        if (!has_cause(other, causes->items[i].id) && !text_list_has(&ids, causes->items[i].id))
            text_list_add(&ids, causes->items[i].id);
    return json_texts(&ids);
}

json_t *diag_compare(const struct diag_compared *old, const struct diag_compared *new) {
    _cleanup_json_ json_t *before = rows_make(old), *now = rows_make(new);
    json_t *changes = json_array();
    json_t *appeared, *gone;
    bool worse = false;

    for (size_t i = 0; i < new->count; i++) {
        const struct diag_compared_cell *is = &new->cells[i], *was = find(old, before, is->name);

        if (!was ||
            (was->outcome != is->outcome && (is_good(was->outcome) != is_good(is->outcome) ||
                                             is_red(was->outcome) || is_red(is->outcome))))
            add_change(changes, is->name, was, is, &worse);
    }
    for (size_t i = 0; i < old->count; i++) {
        const struct diag_compared_cell *was = &old->cells[i];

        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): count cells are there */
        if (!find(new, now, was->name))
            add_change(changes, was->name, was, NULL, &worse);
    }
    appeared = causes_without(new->causes, old->causes);
    gone = causes_without(old->causes, new->causes);
    worse |= json_array_size(appeared) != 0;
    return json_pack("{s:s, s:b, s:o, s:o, s:o}", "since", RFC3339_TEXT(old->time), "worse", worse,
                     "cells", changes, "causesNew", appeared, "causesGone", gone);
}

void diag_compared_free(struct diag_compared *compared) {
    for (size_t i = 0; i < compared->count; i++)
        free(compared->cells[i].name);
    free(compared->cells);
    *compared = (struct diag_compared){0};
}

static void compared_make(const struct diag_report *report, struct diag_compared *ret) {
    *ret = (struct diag_compared){.time = report->time, .causes = &report->causes};
    ret->cells = xcalloc(report->cells.count, sizeof *ret->cells);
    for (size_t i = 0; i < report->cells.count; i++) {
        const struct diag_cell *cell = &report->cells.items[i];

        ret->cells[ret->count++] = (struct diag_compared_cell){
            diag_cell_name(cell), cell->outcome, (cell->flow->is & FLOW_EXTRA) != 0, cell->reason};
    }
}

json_t *diag_report_compare(const struct diag_report *old, const struct diag_report *new) {
    _cleanup_(diag_compared_free) struct diag_compared before = {0}, now = {0};

    compared_make(old, &before);
    compared_make(new, &now);
    return diag_compare(&before, &now);
}

bool diag_compare_changed(const json_t *compared) {
    static const char *const lists[] = {"cells", "causesNew", "causesGone", "nodesNew",
                                        "nodesGone"};

    for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
        if (json_array_size(json_object_get(compared, lists[i])))
            return true;
    return false;
}

static const char *message_of(const struct diag_causes *causes, const char *id) {
    for (size_t i = 0; i < causes->count; i++)
        if (text_equal(causes->items[i].id, id))
            return causes->items[i].message;
    return "";
}

/* A node's name is the cluster's, which steers no terminal. */
static void add_name(struct text *t, const char *begin, const char *what, const char *name) {
    text_addf(t, "%s  %s", begin, what);
    text_add_escaped(t, name, strlen(name));
}

/* A line a change; `causes`: whose messages are told, too. */
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
        const char *message = message_of(causes, json_string_value(id));

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
