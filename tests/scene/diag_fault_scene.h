/* A report of a node with one or two of the faults of diag_faults.h. Includers have included
 * cmocka. */
#pragma once

#include "tests/scene/diag_faults.h"
#include "tests/scene/diag_scene.h"

/* ---- a fault is put into a document ---- */

static size_t place(const char *key) {
    long long n = 0;

    assert_int_equal(text_to_number(key, 0, 99, &n), 0);
    return (size_t)n;
}

static json_t *member(json_t *at, const char *key) {
    return json_is_array(at) ? json_array_get(at, place(key)) : json_object_get(at, key);
}

static void set(json_t *at, const char *key, json_t *value) {
    if (!json_is_array(at))
        json_object_set_new(at, key, value);
    else if (place(key) < json_array_size(at))
        json_array_set_new(at, place(key), value);
    else
        json_array_append_new(at, value);
}

/* A removed element leaves a null behind, so that the places of the others stay. */
static bool change(json_t *document, const char *line) {
    bool drops = *line == '-';
    _cleanup_(text_list_free) struct text_list path = {0};
    const char *equals = strchr(line, '=');
    _cleanup_(freep) char *names =
        xstrndup(line + drops, drops ? strlen(line + 1) : (size_t)(equals - line));
    _cleanup_(freep) char *wrapped = drops ? NULL : xasprintf("v:%s", equals + 1);
    _cleanup_json_ json_t *value = drops ? json_pack("{s:n}", "v") : relaxed_json(wrapped);
    json_t *at = document;
    const char *last;

    text_list_split(&path, names, '|');
    last = path.items[path.count - 1];
    for (size_t i = 0; at && i + 1 < path.count; i++)
        at = member(at, path.items[i]);
    if (!json_is_object(at) && !json_is_array(at))
        return false;
    if (drops && json_is_object(at))
        json_object_del(at, last);
    else
        set(at, last, json_incref(json_object_get(value, "v")));
    return true;
}

/* false: what it changes is not there. */
static bool changes_make(json_t *document, const char *changes) {
    _cleanup_(text_list_free) struct text_list lines = {0};
    bool made = true;

    text_list_split(&lines, changes, '\n');
    for (size_t i = 0; i < lines.count; i++)
        if (*lines.items[i])
            made = change(document, lines.items[i]) && made;
    return made;
}

/* Nulls that were left behind go. */
static void compact(json_t *at) {
    json_t *item;
    const char *key;
    size_t i;

    if (json_is_array(at))
        for (i = json_array_size(at); i-- > 0;) {
            if (json_is_null(json_array_get(at, i)))
                json_array_remove(at, i);
            else
                compact(json_array_get(at, i));
        }
    json_object_foreach(at, key, item) compact(item);
}

static bool stops_pods(const struct fault *fault) {
    return text_equal(fault->red, ALL_NOT_RUN);
}

/* false: the one takes away what the other changes. */
static bool judge(const struct fault *first, const struct fault *second,
                  struct diag_report *report) {
    bool unmeasured = stops_pods(first) || (second && stops_pods(second)), made;
    _cleanup_(freep) char *red =
        unmeasured ? xstrdup(ALL_NOT_RUN)
                   : xasprintf("%s%s%s", first->red, second ? " " : "", second ? second->red : "");

    scene_report_make(*red == ' ' ? red + 1 : red, HEALTHY, report);
    if (first->bridge || (second && second->bridge))
        changes_make(report->evidence, AS_BRIDGE);
    made = changes_make(report->evidence, first->changes) &&
           (!second || changes_make(report->evidence, second->changes));
    if (unmeasured)
        json_object_del(report->evidence, "extra");
    compact(report->evidence);
    diag_causes_find(report);
    return made;
}

static const char *named(const struct diag_report *report, size_t i) {
    return i < report->causes.count ? report->causes.items[i].id : "-";
}
