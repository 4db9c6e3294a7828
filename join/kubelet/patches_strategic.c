/* Applies Kubernetes' strategic merge patch to types whose lists have no merge keys. */
#include "base/json.h"
#include "join/kubelet/patches.h"

#define DIRECTIVE "$patch"
#define RETAIN_KEYS "$retainKeys"
#define SET_ORDER "$setElementOrder"
#define DELETE_FROM "$deleteFromPrimitiveList"

/* A position in the patch, for messages. */
struct place {
    const struct place *parent;
    const char *key;
};

static void tell_place(const struct place *place, void add(struct text *where, const char *key),
                       struct text *where) {
    if (!place)
        return;
    tell_place(place->parent, add, where);
    add(where, place->key);
}

struct work {
    struct text *where; /* Receives the path of an error for the caller; may be NULL. */
    struct error *err;
};

__attribute__((format(gnu_printf, 3, 4))) static int
refuse(struct work *work, const struct place *place, const char *format, ...) {
    _cleanup_(text_free) struct text message = {0}, where = {0};
    va_list args;

    va_start(args, format);
    text_addv(&message, format, args);
    va_end(args);
    tell_place(place, json_pointer_add, &where);
    (void)error_set(work->err, ERROR_USAGE, "%s%s%s", text_str(&where), where.len ? ": " : "",
                    text_str(&message));
    if (work->where)
        tell_place(place, json_path_add, work->where);
    return -1;
}

/* Returns true for the key of a directive. Any text may follow $setElementOrder and
 * $deleteFromPrimitiveList; parallel_lists() requires '/' and a name. */
static bool is_directive(const char *key) {
    return text_equal(key, DIRECTIVE) || text_equal(key, RETAIN_KEYS) ||
           text_starts_with(key, SET_ORDER) || text_starts_with(key, DELETE_FROM);
}

/* ---- parts of a patch that the original does not have ---- */

/* Returns a copy of the patch without null members and without objects that hold $patch; NULL when
 * the patch itself is such an object. New reference. */
static json_t *cleaned(const json_t *patch) {
    json_t *result;

    if (json_is_array(patch)) {
        result = json_array();
        json_each(patch, i, value) {
            json_t *item = cleaned(value);

            if (item)
                json_array_append_new(result, item);
        }
        return result;
    }
    if (!json_is_object(patch))
        return json_deep_copy(patch);
    if (json_object_get(patch, DIRECTIVE))
        return NULL;
    result = json_object();
    json_each_member(patch, key, value) {
        json_t *field = json_is_null(value) ? NULL : cleaned(value);

        if (field)
            json_object_set_new(result, key, field);
    }
    return result;
}

/* ---- lists ---- */

static long long index_in(const json_t *list, const json_t *wanted) {
    json_each(list, i, item)
        if (json_equal(item, wanted))
            return (long long)i;
    return -1;
}

/* Checks that lists with compared items hold only texts, only numbers or only booleans. */
static int check_scalars(struct work *work, const struct place *place, const json_t *list,
                         const json_t *with) {
    const json_t *lists[] = {list, with}, *first = NULL;

    for (size_t k = 0; k < ARRAY_SIZE(lists); k++) {
        json_each(lists[k], i, item) {
            if (json_is_object(item) || json_is_array(item) || json_is_null(item))
                return refuse(work, place, "the directive works on lists of plain values only");
            first = first ? first : item;
            if (json_typeof(item) != json_typeof(first) &&
                !(json_is_boolean(item) && json_is_boolean(first)))
                return refuse(work, place, "the list's values are of different types");
        }
    }
    return 0;
}

/* Returns the list with the items that `order` names in that order, and the other items between
 * them as in `before`. New reference. */
static json_t *ordered(const json_t *list, const json_t *order, const json_t *before) {
    _cleanup_json_ json_t *named = json_array(), *others = json_array();
    json_t *result = json_array();
    size_t n = 0, o = 0;

    json_each(list, i, item) {
        long long place = index_in(order, item);
        size_t to = json_array_size(named);

        if (place < 0) {
            json_array_append(others, item);
            continue;
        }
        while (to > 0 && index_in(order, json_array_get(named, to - 1)) > place)
            to--; /* Equal items keep their order. */
        json_array_insert(named, to, item);
    }
    while (n < json_array_size(named) || o < json_array_size(others)) {
        json_t *next = json_array_get(named, n), *other = json_array_get(others, o);
        long long left = other ? index_in(before, other) : -1;
        long long right = next ? index_in(before, next) : -1;

        if (!next || (other && left >= 0 && left < right)) {
            json_array_append(result, other);
            o++;
        } else {
            json_array_append(result, next);
            n++;
        }
    }
    return result;
}

static int set_order(struct work *work, const struct place *place, json_t *original,
                     const json_t *patch, const char *key, const json_t *order) {
    json_t *before = json_object_get(original, key);
    const json_t *replacing = json_object_get(patch, key);
    const json_t *list = replacing ? replacing : before;
    size_t kept = 0;

    if (!json_is_array(order) || (list && !json_is_array(list)) ||
        (before && !json_is_array(before)))
        return refuse(work, place, "must be a list, and \"%s\" too", key);
    if (!list)
        return refuse(work, place, "there is no list \"%s\"", key);
    if (check_scalars(work, place, list, order) < 0)
        return -1;
    /* A list of the patch must follow its own $setElementOrder and have no other items. */
    json_each(order, i, item)
        kept += json_equal(json_array_get(replacing, kept), item);
    if (replacing && json_array_size(order) && kept != json_array_size(replacing))
        return refuse(work, place, "\"%s\" of the patch is not in this order", key);
    json_object_set_new(original, key, ordered(list, order, before));
    return 0;
}

/* ---- objects ---- */

static int retain_keys(struct work *work, const struct place *place, json_t *original,
                       const json_t *patch) {
    const json_t *keys = json_object_get(patch, RETAIN_KEYS);
    _cleanup_json_ json_t *copy = NULL;

    if (!keys)
        return 0;
    if (!json_is_array(keys))
        return refuse(work, place, RETAIN_KEYS " must be a list");
    json_each_member(patch, key, value) {
        _cleanup_json_ json_t *name = json_string(key);

        if (!json_is_null(value) && !is_directive(key) && index_in(keys, name) < 0)
            return refuse(work, place, RETAIN_KEYS " does not name \"%s\", which the patch sets",
                          key);
    }
    copy = json_copy(original);
    json_each_member(copy, key, value) {
        _cleanup_json_ json_t *name = json_string(key);

        if (index_in(keys, name) < 0)
            json_object_del(original, key);
    }
    return 0;
}

/* Returns true when the patch has $setElementOrder for this list, which set_order() has set. */
static bool is_ordered(const json_t *patch, const char *key) {
    _cleanup_(freep) char *directive = xasprintf(SET_ORDER "/%s", key);

    return json_object_get(patch, directive) != NULL;
}

/* Applies the directives of one kind for lists. Their keys, DIRECTIVE/LIST, are next to the
 * fields. */
static int parallel_lists(struct work *work, const struct place *place, json_t *original,
                          const json_t *patch, const char *directive) {
    json_each_member(patch, key, value) {
        const struct place here = {place, key};
        const char *field;
        json_t *list;

        if (!text_starts_with(key, directive))
            continue;
        field = key + strlen(directive);
        if (field[0] != '/' || !field[1])
            return refuse(work, &here, "must name a list: %s/LIST", directive);
        if (text_equal(directive, DELETE_FROM) && json_object_get(patch, field + 1) &&
            !is_ordered(patch, field + 1))
            return refuse(
                work, &here,
                "the patch also sets this list, and kubeadm applies the two in any order");
        if (text_equal(directive, SET_ORDER)) {
            if (set_order(work, &here, original, patch, field + 1, value) < 0)
                return -1;
            continue;
        }
        list = json_object_get(original, field + 1);
        if (!json_is_array(value))
            return refuse(work, &here, "must be a list");
        if (!json_is_array(list))
            continue; /* There is no list from which to delete. */
        if (check_scalars(work, &here, list, value) < 0)
            return -1;
        for (size_t i = json_array_size(list); i-- > 0;)
            if (index_in(value, json_array_get(list, i)) >= 0)
                json_array_remove(list, i);
    }
    return 0;
}

static int merge_object(struct work *work, const struct place *place, json_t **original,
                        const json_t *patch) {
    const char *directive = json_string_value(json_object_get(patch, DIRECTIVE));

    if (text_equal(directive, "replace") || text_equal(directive, "delete")) {
        json_decref(*original);
        *original = text_equal(directive, "delete") ? json_object() : json_deep_copy(patch);
        json_object_del(*original, DIRECTIVE);
        return 0;
    }
    if (json_object_get(patch, DIRECTIVE))
        return refuse(work, &(struct place){place, DIRECTIVE}, "must be replace or delete");
    if (retain_keys(work, place, *original, patch) < 0 ||
        parallel_lists(work, place, *original, patch, SET_ORDER) < 0 ||
        parallel_lists(work, place, *original, patch, DELETE_FROM) < 0)
        return -1;
    json_each_member(patch, key, value) {
        json_t *old = json_object_get(*original, key), *made = NULL;
        int result = 0;

        if (is_directive(key) || is_ordered(patch, key))
            continue;
        if (json_is_object(old) && json_is_object(value)) {
            made = json_incref(old);
            result = merge_object(work, &(struct place){place, key}, &made, value);
        } else if (json_is_array(old) && json_is_array(value)) {
            /* A list that replaces another is copied as it is, with nulls. */
            made = json_deep_copy(value);
        } else if (!json_is_null(value)) {
            made = cleaned(value);
        }
        if (made)
            json_object_set_new(*original, key, made);
        else
            json_object_del(*original, key);
        if (result < 0)
            return -1;
    }
    return 0;
}

/* Refuses a result with a directive that had nothing to act on, because directives must not reach
 * the kubelet's file. */
static int check_clean(struct work *work, const struct place *place, const json_t *json) {
    json_each(json, i, value) {
        _cleanup_(freep) char *index = xasprintf("%zu", i);

        if (check_clean(work, &(struct place){place, index}, value) < 0)
            return -1;
    }
    if (!json_is_object(json))
        return 0;
    json_each_member(json, key, value) {
        const struct place here = {place, key};

        if (is_directive(key))
            return refuse(work, &here, "there is nothing for this directive to act on");
        if (check_clean(work, &here, value) < 0)
            return -1;
    }
    return 0;
}

int strategic_merge(const json_t *original, const json_t *patch, json_t **ret, struct text *where,
                    struct error *err) {
    struct work work = {where, err};
    _cleanup_json_ json_t *result = NULL;

    if (!json_is_object(original) || !json_is_object(patch))
        return refuse(&work, NULL, "a strategic merge patch is an object with fields");
    result = json_deep_copy(original);
    if (merge_object(&work, NULL, &result, patch) < 0 || check_clean(&work, NULL, result) < 0)
        return -1;
    *ret = take_ptr(result);
    return 0;
}
