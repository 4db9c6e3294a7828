/* Command-line options: one table a verb, which also prints the help. */
#include "cmd/options.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "base/rfc3339.h"

enum { NUMBER_MAX = 2147483647, LINE_MAX_COLUMNS = 80 };

const struct option *options_at(const struct option_set *set, size_t i) {
    for (size_t t = 0; set->tables[t]; t++)
        for (const struct option *o = set->tables[t]; o->name; o++)
            if (i-- == 0)
                return o;
    return NULL;
}

size_t options_count(const struct option_set *set) {
    size_t n = 0;

    while (options_at(set, n))
        n++;
    return n;
}

static size_t find(const struct option_set *set, const char *name, size_t len, char letter) {
    const struct option *o;

    for (size_t i = 0; (o = options_at(set, i)); i++) {
        if (name ? strlen(o->name) == len && strncmp(o->name, name, len) == 0
                 : letter && o->letter == letter)
            return i;
    }
    return (size_t)-1;
}

bool options_is_given(const struct option_set *set, const char *name) {
    size_t index = find(set, name, strlen(name), 0);

    return index != (size_t)-1 && set->given && set->given[index];
}

void options_given(const struct option_set *set, struct text_list *ret) {
    const struct option *o;

    for (size_t i = 0; (o = options_at(set, i)); i++)
        if (set->given && set->given[i])
            text_list_add(ret, o->name);
}

static int unknown(const struct option_set *set, const char *name, struct error *err) {
    size_t count = options_count(set);
    _cleanup_(freep) const char **names = xcalloc(count, sizeof *names);
    const char *near;

    for (size_t i = 0; i < count; i++)
        names[i] = options_at(set, i)->name;
    (void)error_set(err, ERROR_USAGE, "unknown flag: --%s", name);
    near = nearest_name(name, names, count);
    if (near)
        (void)error_hint(err, "did you mean --%s?", near);
    return -1;
}

static bool is_choice(const char *choices, const char *value) {
    size_t len = strlen(value);

    for (const char *p = choices; p; p = strchr(p, '|') ? strchr(p, '|') + 1 : NULL)
        if (len == strcspn(p, "|") && strncmp(p, value, len) == 0)
            return true;
    return false;
}

static void set_text(char **field, const char *value, bool secret) {
    if (secret) {
        log_hide_secret(value);
        secret_free_text(*field);
    } else {
        free(*field);
    }
    *field = xstrdup(value);
}

static int set_number(const struct option *o, void *field, const char *value, struct error *err) {
    long long number;

    if (text_to_number(value, 0, NUMBER_MAX, &number) < 0)
        return error_set(err, ERROR_USAGE, "invalid value \"%.80s\" for --%s: not a number", value,
                         o->name);
    *(long long *)field = number;
    return 0;
}

static int set_duration(const struct option *o, void *field, const char *value, struct error *err) {
    int64_t milliseconds;

    if (go_duration_parse(value, &milliseconds, err) < 0) {
        err->kind = ERROR_USAGE;
        return error_prefix(err, "invalid value for --%s", o->name);
    }
    *(long long *)field = milliseconds < NUMBER_MAX ? milliseconds : NUMBER_MAX;
    return 0;
}

/* Go's strconv.ParseBool: 1, 0 or -1. */
static int bool_of(const char *value) {
    static const char *const words[][6] = {{"0", "f", "F", "false", "False", "FALSE"},
                                           {"1", "t", "T", "true", "True", "TRUE"}};

    for (int yes = 0; yes < 2; yes++)
        for (size_t i = 0; i < ARRAY_SIZE(words[0]); i++)
            if (text_equal(words[yes][i], value))
                return yes;
    return -1;
}

static int set_bool(const struct option *o, void *field, const char *value, struct error *err) {
    int yes = bool_of(value);

    if (yes < 0)
        return error_set(err, ERROR_USAGE, "invalid value \"%.80s\" for --%s: true or false", value,
                         o->name);
    *(bool *)field = yes;
    return 0;
}

static int set_value(const struct option_set *set, const struct option *o, const char *value,
                     struct error *err) {
    void *field = (char *)set->target + o->offset;

    switch (o->type) {
    case OPTION_TEXT:
    case OPTION_SECRET:
        set_text(field, value, o->type == OPTION_SECRET);
        return 0;
    case OPTION_LIST:
        text_list_split(field, value, ',');
        return 0;
    case OPTION_BOOL:
        return set_bool(o, field, value, err);
    case OPTION_NUMBER:
        return set_number(o, field, value, err);
    case OPTION_DURATION:
        return set_duration(o, field, value, err);
    case OPTION_CHOICE:
        if (!is_choice(o->argument, value))
            return error_set(err, ERROR_USAGE, "invalid value \"%.80s\" for --%s: one of %s", value,
                             o->name, o->argument);
        set_text(field, value, false);
        return 0;
    }
    return -1;
}

/* One option word at argv[*i]; may take argv[*i + 1] as its value. */
static int parse_one(const struct option_set *set, int argc, char *const *argv, int *i,
                     struct error *err) {
    const char *word = argv[*i], *equals = strchr(word, '='), *value = NULL;
    bool is_long = word[1] == '-';
    size_t len = equals ? (size_t)(equals - word) - 2 : strlen(word) - 2;
    size_t index = is_long ? find(set, word + 2, len, 0) : find(set, NULL, 0, word[1]);
    const struct option *o = index == (size_t)-1 ? NULL : options_at(set, index);
    _cleanup_(freep) char *name = is_long ? xstrndup(word + 2, len) : xstrndup(word + 1, 1);

    if (!o)
        return unknown(set, name, err);
    if (is_long && equals)
        value = equals + 1;
    else if (!is_long && word[2])
        value = word + 2 + (word[2] == '=');
    else if (o->type == OPTION_BOOL)
        value = "true";
    else if (*i + 1 < argc)
        value = argv[++*i];
    if (!value)
        return error_set(err, ERROR_USAGE, "flag needs an argument: --%s", o->name);
    if (set->given)
        set->given[index] = true;
    return set_value(set, o, value, err);
}

int options_parse(const struct option_set *set, int argc, char *const *argv,
                  struct text_list *words, struct error *err) {
    bool only_words = false;

    for (int i = 0; i < argc; i++) {
        if (only_words || argv[i][0] != '-' || argv[i][1] == '\0') {
            text_list_add(words, argv[i]);
        } else if (text_equal(argv[i], "--")) {
            only_words = true;
        } else if (parse_one(set, argc, argv, &i, err) < 0) {
            return -1;
        }
    }
    return 0;
}

static char *variable_name(const char *option) {
    struct text t = {0};

    text_add(&t, "WINJOIN_");
    for (; *option; option++)
        text_add_char(&t, *option == '-'                     ? '_'
                          : *option >= 'a' && *option <= 'z' ? (char)(*option - 'a' + 'A')
                                                             : *option);
    return text_take(&t);
}

int options_from_environment(const struct option_set *set,
                             char *(*get)(void *context, const char *name), void *context,
                             struct error *err) {
    const struct option *o;

    for (size_t i = 0; (o = options_at(set, i)); i++) {
        _cleanup_(freep) char *name = variable_name(o->name);
        _cleanup_(secret_freep) char *value = NULL;

        if (set->given && set->given[i])
            continue;
        value = get(context, name);
        if (!value || !*value)
            continue;
        if (set_value(set, o, value, err) < 0)
            return error_prefix(err, "environment variable %s", name);
        if (set->given)
            set->given[i] = true;
    }
    return 0;
}

void options_free(const struct option_set *set) {
    const struct option *o;

    for (size_t i = 0; (o = options_at(set, i)); i++) {
        void *field = (char *)set->target + o->offset;

        if (o->type == OPTION_SECRET)
            secret_freep(field);
        else if (o->type == OPTION_TEXT || o->type == OPTION_CHOICE)
            freep(field);
        else if (o->type == OPTION_LIST)
            text_list_free(field);
    }
}

void options_wrap(struct text *out, const char *text, size_t indent, size_t column) {
    while (*text) {
        size_t len = strcspn(text, " ");

        if (column + 1 + len > LINE_MAX_COLUMNS && column > indent) {
            text_addf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            text_add_char(out, ' ');
            column++;
        }
        text_add_bytes(out, text, len);
        column += len;
        text += len + strspn(text + len, " ");
    }
    text_add_char(out, '\n');
}

/* Many choices stand behind the help, where they can be wrapped. */
static char *help_of(const struct option *o, bool long_choices) {
    struct text t = {0};

    text_add(&t, o->help);
    if (long_choices) {
        text_add(&t, ": ");
        for (const char *c = o->argument; *c; c++)
            text_add(&t, *c == '|' ? ", " : (char[]){*c, '\0'});
    }
    return text_take(&t);
}

void options_help(const struct option *table, struct text *out) {
    enum { HELP_COLUMN = 30, ARGUMENT_MAX = 24 };

    for (const struct option *o = table; o->name; o++) {
        bool long_choices = o->type == OPTION_CHOICE && strlen(o->argument) > ARGUMENT_MAX;
        _cleanup_(freep) char *help = help_of(o, long_choices);
        size_t start = out->len, width;

        if (o->flags & OPTION_HIDDEN)
            continue;
        if (o->letter)
            text_addf(out, "  -%c, --%s", o->letter, o->name);
        else
            text_addf(out, "      --%s", o->name);
        if (o->type != OPTION_BOOL)
            text_addf(out, " %s", long_choices ? "CHOICE" : o->argument);
        width = out->len - start;
        if (width + 2 > HELP_COLUMN)
            text_addf(out, "\n%*s", HELP_COLUMN, "");
        else
            text_addf(out, "%*s", (int)(HELP_COLUMN - width), "");
        options_wrap(out, help, HELP_COLUMN, HELP_COLUMN);
    }
}
