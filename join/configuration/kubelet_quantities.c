/* Finds quantities and thresholds with which a kubelet would not start. */
#include "join/configuration/kubelet_arguments.h"

#include <ctype.h>

#include "base/rfc3339.h"

#define SOFT "evictionSoft"
#define GRACE "evictionSoftGracePeriod"
#define SIGNALS                                                                                    \
    "memory.available allocatableMemory.available nodefs.available nodefs.inodesFree "             \
    "imagefs.available imagefs.inodesFree containerfs.available containerfs.inodesFree "           \
    "pid.available"

struct quantity {
    bool negative, zero, fraction;
    const char *suffix;
};

/* Parses a quantity as resource.ParseQuantity() of Kubernetes' apimachinery does. */
static bool parse_quantity(const char *text, struct quantity *ret) {
    static const char suffixes[] = " n u m k M G T P E Ki Mi Gi Ti Pi Ei ";
    const char *begin = text + strspn(text, "+-"), *at = begin + strspn(begin, "0123456789.");
    size_t digits = 0;
    char word[8];

    *ret = (struct quantity){.negative = *text == '-', .zero = true, .suffix = at};
    for (const char *p = begin; p < at; p++) {
        digits += *p != '.';
        ret->zero &= *p == '.' || *p == '0';
        if (*p == '.' && ret->fraction)
            return false;
        ret->fraction |= *p == '.';
    }
    if (!digits || begin - text > 1)
        return false;
    /* An exponent follows, as in "1e3". A single E is the suffix for exa. */
    if ((*at == 'e' || *at == 'E') && at[1]) {
        at += at[1] == '+' || at[1] == '-' ? 2 : 1;
        return (*at && !at[strspn(at, "0123456789")]) || text_equal(ret->suffix, "Ei");
    }
    (void)text_format(word, sizeof word, " %s ", at);
    return !*at || (strlen(at) < sizeof word - 2 && !strchr(at, ' ') && strstr(suffixes, word));
}

/* Reads a number that percent signs follow. Returns false when there is no sign, or no number. */
static bool parse_percent(const char *text, double *ret) {
    size_t len = strcspn(text, "%"), begin = *text == '-' || *text == '+';
    char number[24];

    if (len == begin || len >= sizeof number || text[len + strspn(text + len, "%")] ||
        begin + strspn(text + begin, "0123456789.") != len)
        return false;
    (void)text_format(number, sizeof number, "%.*s", (int)len, text);
    *ret = strtod(number, NULL);
    return true;
}

static bool is_of(const char *words, const char *word) {
    _cleanup_(text_list_free) struct text_list list = {0};

    text_list_split(&list, words, ' ');
    return text_list_has(&list, word);
}

/* ---- checks of values: each returns NULL when the value is valid, else what it should be ---- */

static const char *not_reserved(const char *value) {
    struct quantity q;

    return parse_quantity(value, &q) && (!q.negative || q.zero)
               ? NULL
               : "a quantity of 0 or more, like 500m, 2 or 1Gi";
}

static const char *not_threshold(const char *value) {
    struct quantity q;
    double percent;

    if (strchr(value, '%'))
        return parse_percent(value, &percent) && percent >= 0 && percent <= 100
                   ? NULL
                   : "a share from 0% to 100%";
    return parse_quantity(value, &q) && !q.negative && !q.zero
               ? NULL
               : "a quantity above 0, like 500Mi, or a share like 10%";
}

static const char *not_reclaim(const char *value) {
    double percent;

    if (strchr(value, '%'))
        return parse_percent(value, &percent) && percent > 0 ? NULL : "a share above 0%";
    return not_reserved(value);
}

static const char *not_period(const char *value) {
    int64_t ms;

    return go_duration_parse(value, &ms, NULL) == 0 && ms >= 0 ? NULL : "a duration like 1m30s";
}

/* A size must be a whole number of bytes. */
static const char *not_size(const char *value) {
    struct quantity q;
    bool whole = parse_quantity(value, &q) && !is_of("n u m", q.suffix) &&
                 !(q.fraction && (!*q.suffix || q.suffix[1] == 'i'));

    return whole ? NULL : "a size in whole bytes, like 10Mi";
}

/* Fields of a KubeletConfiguration. `keys` lists the keys that the field's map may have; NULL when
 * the field is a text and not a map. */
static const struct field {
    const char *name, *argument, *keys;
    char separator; /* The separator between key and value of the argument. */
    const char *(*wrong)(const char *value);
} fields[] = {
    {"systemReserved", "system-reserved", "cpu memory ephemeral-storage pid", '=', not_reserved},
    {"kubeReserved", "kube-reserved", "cpu memory ephemeral-storage pid", '=', not_reserved},
    {"evictionHard", "eviction-hard", SIGNALS, '<', not_threshold},
    {SOFT, "eviction-soft", SIGNALS, '<', not_threshold},
    {GRACE, "eviction-soft-grace-period", SIGNALS, '=', not_period},
    {"evictionMinimumReclaim", "eviction-minimum-reclaim", SIGNALS, '=', not_reclaim},
    {"containerLogMaxSize", "container-log-max-size", NULL, 0, not_size},
};

static int check_value(const struct field *field, const char *key, const char *value,
                       struct error *err) {
    const char *wanted = field->wrong(value);

    if (key && !is_of(field->keys, key)) {
        (void)error_set(err, ERROR_USAGE, "\"%.60s\" is not known to the kubelet", key);
        return error_hint(err, "use one of: %s", field->keys);
    }
    return wanted ? error_set(err, ERROR_USAGE, "%s%s\"%.60s\" is not %s", key ? key : "",
                              key ? ": " : "", value, wanted)
                  : 0;
}

int kubelet_quantities_check_argument(const char *name, const char *value, struct error *err) {
    for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
        _cleanup_(text_list_free) struct text_list pairs = {0};

        if (!text_equal(fields[i].argument, name))
            continue;
        if (!fields[i].keys)
            return check_value(&fields[i], NULL, value, err);
        text_list_split(&pairs, value, ',');
        for (size_t k = 0; k < pairs.count; k++) {
            char *at = strchr(pairs.items[k], fields[i].separator);

            if (!at)
                return error_set(err, ERROR_USAGE, "\"%.60s\" is not KEY%cVALUE", pairs.items[k],
                                 fields[i].separator);
            *at = '\0';
            if (check_value(&fields[i], pairs.items[k], at + 1, err) < 0)
                return -1;
        }
    }
    return 0;
}

static bool is_given(const struct text_list *arguments, const struct field *field) {
    size_t len = strlen(field->argument);

    for (size_t i = 0; i < arguments->count; i++)
        if (text_starts_with(arguments->items[i], field->argument) &&
            arguments->items[i][len] == '=')
            return true;
    return false;
}

static int check_field(const struct field *field, const json_t *config, struct error *err) {
    json_t *value = json_object_get(config, field->name), *item;
    const char *text = json_string_value(value), *key;

    if (!field->keys)
        return text && *text && check_value(field, NULL, text, err) < 0
                   ? error_prefix(err, "%s", field->name)
                   : 0;
    json_object_foreach(value, key, item) {
        if (json_is_string(item) && check_value(field, key, json_string_value(item), err) < 0)
            return error_prefix(err, "%s", field->name);
        if (text_equal(field->name, SOFT) &&
            !json_object_get(json_object_get(config, GRACE), key)) {
            (void)error_set(err, ERROR_USAGE, SOFT ": %s has no grace period", key);
            return error_hint(err, "name one for it in " GRACE);
        }
    }
    return 0;
}

int kubelet_quantities_check(const json_t *config, const struct text_list *arguments,
                             struct error *err) {
    /* --eviction-soft-grace-period may hold a grace period that the field lacks. */
    bool given = false;

    for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
        given |= text_equal(fields[i].name, GRACE) && is_given(arguments, &fields[i]);
    for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
        if (is_given(arguments, &fields[i]) || (given && text_equal(fields[i].name, SOFT)) ||
            check_field(&fields[i], config, err) == 0)
            continue;
        (void)error_prefix(err, "the cluster's KubeletConfiguration does not fit this kubelet");
        return error_hint(err, "the kubelet would not start: change the ConfigMap "
                               "kube-system/kubelet-config, or override the value for this node "
                               "with a patch (--patches)");
    }
    return 0;
}
