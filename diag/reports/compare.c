/* What changed between two reports. */
#include "diag/reports/compare.h"

#include <string.h>

#include "base/memory.h"
#include "base/rfc3339.h"

static bool is_good(enum diag_outcome outcome) {
    return outcome == DIAG_PASS || outcome == DIAG_SLOW;
}

static bool is_red(enum diag_outcome outcome) {
    return outcome == DIAG_FAIL || outcome == DIAG_NOT_RUN;
}

static const struct diag_cell *same_cell(const struct diag_report *report,
                                         const struct diag_cell *cell) {
    return (cell->second ? diag_cells_find_second : diag_cells_find)(&report->cells, cell->flow->id,
                                                                     cell->udp);
}

/* `any`: that of the two which is there, for its name. */
static void add_change(json_t *changes, const struct diag_cell *any, const struct diag_cell *was,
                       const struct diag_cell *is, bool *worse) {
    _cleanup_(freep) char *name = diag_cell_name(any);
    bool worsened =
        is && !is->flow->extra && is_red(is->outcome) && (!was || !is_red(was->outcome));

    *worse |= worsened;
    json_array_append_new(changes,
                          json_pack("{s:s, s:s, s:s, s:b, s:s*}", "cell", name, "was",
                                    was ? diag_outcome_name(was->outcome) : "absent", "is",
                                    is ? diag_outcome_name(is->outcome) : "absent", "worse",
                                    worsened, "reason", is && is->reason[0] ? is->reason : NULL));
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

json_t *diag_report_compare(const struct diag_report *old, const struct diag_report *new) {
    json_t *changes = json_array();
    char time[RFC3339_TEXT_MAX];
    json_t *appeared, *gone;
    bool worse = false;

    for (size_t i = 0; i < new->cells.count; i++) {
        const struct diag_cell *is = &new->cells.items[i], *was = same_cell(old, is);

        if (!was ||
            (was->outcome != is->outcome && (is_good(was->outcome) != is_good(is->outcome) ||
                                             is_red(was->outcome) || is_red(is->outcome))))
            add_change(changes, is, was, is, &worse);
    }
    for (size_t i = 0; i < old->cells.count; i++) {
        const struct diag_cell *was = &old->cells.items[i];

        if (!same_cell(new, was))
            add_change(changes, was, was, NULL, &worse);
    }
    appeared = causes_without(&new->causes, &old->causes);
    gone = causes_without(&old->causes, &new->causes);
    worse |= json_array_size(appeared) != 0;
    rfc3339_format(old->time, time);
    return json_pack("{s:s, s:b, s:o, s:o, s:o}", "since", time, "worse", worse, "cells", changes,
                     "causesNew", appeared, "causesGone", gone);
}

bool diag_compare_changed(const json_t *compared) {
    return json_array_size(json_object_get(compared, "cells")) ||
           json_array_size(json_object_get(compared, "causesNew")) ||
           json_array_size(json_object_get(compared, "causesGone"));
}

static const char *message_of(const struct diag_causes *causes, const char *id) {
    for (size_t i = 0; i < causes->count; i++)
        if (text_equal(causes->items[i].id, id))
            return causes->items[i].message;
    return "";
}

/* A line a change; `causes`: whose messages are told, too. */
static void add_changes(struct text *t, const char *begin, const json_t *compared,
                        const struct diag_causes *causes) {
    json_t *cell, *id;
    size_t i;

    json_array_foreach(json_object_get(compared, "cells"), i, cell) {
        const char *reason = json_text_at(cell, "reason");

        text_addf(t, "%s  %s: %s, was %s", begin, json_text_at(cell, "cell"),
                  json_text_at(cell, "is"), json_text_at(cell, "was"));
        if (reason) {
            text_add(t, " (");
            text_add_escaped(t, reason, strlen(reason));
            text_add(t, ")");
        }
        text_add(t, "\n");
    }
    json_array_foreach(json_object_get(compared, "causesNew"), i, id) {
        const char *message = message_of(causes, json_string_value(id));

        text_addf(t, "%s  new cause: %s%s", begin, json_string_value(id), *message ? ": " : "");
        text_add_escaped(t, message, strlen(message));
        text_add(t, "\n");
    }
    json_array_foreach(json_object_get(compared, "causesGone"), i, id) {
        text_addf(t, "%s  no longer: %s\n", begin, json_string_value(id));
    }
}

char *diag_compare_text(const json_t *compared) {
    struct text t = {0};

    text_addf(&t, "\nSince %s:%s\n", json_text_at(compared, "since"),
              diag_compare_changed(compared) ? "" : " nothing has changed");
    add_changes(&t, "", compared, &(struct diag_causes){0});
    return text_take(&t);
}

char *diag_watch_text(const json_t *compared, const struct diag_report *new) {
    _cleanup_(freep) char *line = diag_report_line(new);
    char time[RFC3339_TEXT_MAX];
    struct text t = {0};

    rfc3339_format(new->time, time);
    text_addf(&t, "%s  %s\n", time, line);
    add_changes(&t, time, compared, &new->causes);
    return text_take(&t);
}

json_t *diag_watch_json(const json_t *compared, const struct diag_report *new) {
    _cleanup_json_ json_t *whole = diag_report_json(new);
    json_t *line =
        json_pack("{s:O, s:b, s:O, s:O}", "time", json_object_get(whole, "time"), "good",
                  diag_report_is_good(new) && !new->causes.count, "summary",
                  json_object_get(whole, "summary"), "causes", json_object_get(whole, "causes"));

    json_object_update(line, (json_t *)compared);
    return line;
}
