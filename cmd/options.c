/* Reads command-line options. A verb's table of options is also the source of its help. */
#include "cmd/options.h"

#include "base/log.h"
#include "base/nearest.h"
#include "base/redact.h"
#include "base/rfc3339.h"
#include "netsetup/agents/agent.h"

enum { NUMBER_MAX = 2147483647 };

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

    for (size_t i = 0; (o = options_at(set, i)); i++)
        if (name ? strlen(o->name) == len && strncmp(o->name, name, len) == 0
                 : letter && o->letter == letter)
            return i;
    return (size_t)-1;
}

bool options_has(const struct option_set *set, const char *name) {
    return find(set, name, strlen(name), 0) != (size_t)-1;
}

bool options_is_given(const struct option_set *set, const char *name) {
    size_t index = find(set, name, strlen(name), 0);

    return index != (size_t)-1 && set->given[index];
}

void options_given(const struct option_set *set, struct text_list *ret) {
    const struct option *o;

    for (size_t i = 0; (o = options_at(set, i)); i++)
        if (set->given[i])
            text_list_add(ret, o->name);
}

int options_hint_near(const struct option_set *set, const char *name, struct error *err) {
    size_t count = options_count(set);
    _cleanup_(freep) const char **names = xcalloc(count, sizeof *names);

    for (size_t i = 0; i < count; i++)
        names[i] = options_at(set, i)->name;
    if (*name && !name[1] && find(set, NULL, 0, *name) != (size_t)-1)
        return error_hint(err, "did you mean -%s?", name);
    for (size_t i = 0; i < count && !nearest_name(name, names, count); i++) {
        size_t len = strlen(names[i]), own = strlen(name);

        /* For example, "--mode" is the end of "--network-mode". */
        if (len > own && names[i][len - own - 1] == '-' && text_ends_with(names[i], name))
            return error_hint(err, "did you mean --%s?", names[i]);
    }
    name = nearest_name(name, names, count);
    return name ? error_hint(err, "did you mean %s%s?", name[1] ? "--" : "-", name) : -1;
}

/* Names that other programs use for a flag of winjoin. `needs` is the flag that the verb must have
 * for the hint to make sense. */
static const struct {
    const char *theirs, *needs, *hint;
} other_names[] = {
    {"yes|y", "force", "did you mean --force?"},
    {"hostname-override|hostname", "node-name", "did you mean --node-name?"},
    {"whatif", "dry-run", "did you mean --dry-run?"},
    {"verbose|debug", "v", "did you mean -v 5?"},
    {"server|endpoint|apiserver|api-server|apiserver-endpoint", "discovery-token-ca-cert-hash",
     "the API server's address has no flag: winjoin join <ip>:6443 --token ..."},
    {"proxy|https-proxy|http-proxy|httpproxy", "token",
     "a proxy is set in the environment: $env:HTTPS_PROXY = \"http://proxy.example.com:3128\""},
};

/* Fails for an unknown flag, with a hint: for --html, use --output; for --yes, use --force. */
static int unknown(const struct option_set *set, const char *name, struct error *err) {
    _cleanup_(freep) char *small = text_lower(name);
    const struct option *o;

    (void)error_set(err, ERROR_USAGE, "unknown flag: --%.80s", name);
    for (size_t i = 0; (o = options_at(set, i)); i++) {
        _cleanup_(text_list_free) struct text_list choices = {0};

        text_list_split(&choices, o->type == OPTION_CHOICE ? o->argument : "", '|');
        if (text_list_has(&choices, name))
            return error_hint(err, "did you mean --%s %s?", o->name, name);
        if (o->type != OPTION_BOOL && strlen(o->name) > 3 && text_starts_with(name, o->name) &&
            /* For example, "--tokenabcdef.0123..." is --token with its value. */
            strpbrk(name, "0123456789.:"))
            return error_hint(err, "is a blank missing behind --%s?", o->name);
    }
    for (size_t i = 0; i < ARRAY_SIZE(other_names); i++) {
        _cleanup_(text_list_free) struct text_list theirs = {0};

        text_list_split(&theirs, other_names[i].theirs, '|');
        if (text_list_has(&theirs, small) && options_has(set, other_names[i].needs))
            return error_hint(err, "%s", other_names[i].hint);
    }
    return options_hint_near(set, name, err);
}

/* Choices that come from other tables: "@mode" in an option means the names of all network modes,
 * and `check` refuses other words. */
static const struct {
    const char *argument;
    void (*names)(struct text_list *ret);
    int (*check)(const char *name, struct error *err);
} name_tables[] = {
    {"@mode", network_mode_names, network_mode_check},
    {"@plugin", network_plugin_names, network_plugin_check},
};

static void set_text(char **field, const char *value, bool secret) {
    if (secret) {
        log_hide_secret(value);
        secret_free_text(*field);
    } else {
        free(*field);
    }
    *field = xstrdup(value);
}

/* Adds a hint that shows how to write the flag, such as "write --token TOKEN". */
static int hint_form(const struct option *o, struct error *err) {
    _cleanup_(freep) char *argument = option_argument(o);

    return error_hint(err, "write %s%s %s", o->name[1] ? "--" : "-", o->name, argument);
}

static int set_number(const struct option *o, long long *field, const char *value,
                      struct error *err) {
    long long number;
    /* A plus sign before a number is allowed, as in Go's strconv. */
    const char *digits = value + (value[0] == '+' && value[1] != '-');

    if (text_to_number(digits, 0, NUMBER_MAX, &number) < 0) {
        (void)error_set(err, ERROR_USAGE, "invalid value \"%.80s\" for --%s: %s", value, o->name,
                        *digits && !digits[strspn(digits, "0123456789")] ? "too large"
                                                                         : "not a number");
        return hint_form(o, err);
    }
    *field = number;
    return 0;
}

/* Reads the words that Go's strconv.ParseBool knows. */
static int set_bool(const struct option *o, bool *field, const char *value, struct error *err) {
    static const char *const words[][6] = {{"0", "f", "F", "false", "False", "FALSE"},
                                           {"1", "t", "T", "true", "True", "TRUE"}};

    for (int yes = 0; yes < 2; yes++)
        for (size_t i = 0; i < ARRAY_SIZE(words[0]); i++)
            if (text_equal(words[yes][i], value)) {
                *field = yes;
                return 0;
            }
    return error_set(err, ERROR_USAGE, "invalid value \"%.80s\" for --%s: true or false", value,
                     o->name);
}

/* Reads a quoted item. *p moves from its opening quote past the closing one; "" means a quote. */
static bool quoted_item(const char **p, struct text *item) {
    for ((*p)++; **p; (*p)++) {
        if (**p == '"' && *++(*p) != '"')
            return true;
        text_add_char(item, **p);
    }
    return false;
}

/* Reads a list as pflag does (CSV): commas separate items, quotes around an item are removed. An
 * empty value has no items; an empty item before or after a comma counts. */
static int set_list(const struct option *o, struct text_list *field, const char *value,
                    struct error *err) {
    const char *p = value;
    bool more = *value != '\0';

    while (more) {
        size_t len = strcspn(p, ",");
        struct text item = {0};
        bool good;

        if (*p == '"') {
            good = quoted_item(&p, &item) && (!*p || *p == ',');
        } else {
            good = !memchr(p, '"', len);
            text_add_bytes(&item, p, len);
            p += len;
        }
        if (good)
            text_list_add(field, text_str(&item));
        more = *p++ == ',';
        text_free(&item);
        if (!good)
            return error_set(err, ERROR_USAGE, "invalid value \"%.80s\" for --%s: unmatched quote",
                             value, o->name);
    }
    return 0;
}

static int set_value(const struct option_set *set, const struct option *o, const char *value,
                     struct error *err) {
    void *field = (char *)set->target + o->offset;
    bool is_text = o->type == OPTION_TEXT || o->type == OPTION_SECRET || o->type == OPTION_LIST;
    int64_t milliseconds;

    /* An empty value means "not given" to kubeadm, so its flags (the hidden ones are its own, too)
     * take it. With winjoin's flags the cause is most likely a variable that a script never set. */
    if (is_text && !*value && !(o->flags & (OPTION_KUBEADM | OPTION_HIDDEN | OPTION_EMPTY))) {
        (void)error_set(err, ERROR_USAGE, "invalid value \"\" for --%s: it is empty", o->name);
        return error_hint(err, "leave --%s out for its default", o->name);
    }
    switch (o->type) {
    case OPTION_TEXT:
    case OPTION_SECRET:
        set_text(field, value, o->type == OPTION_SECRET);
        return 0;
    case OPTION_LIST:
        return set_list(o, field, value, err);
    case OPTION_BOOL:
        return set_bool(o, field, value, err);
    case OPTION_NUMBER:
        if (set_number(o, field, value, err) < 0)
            return -1;
        break;
    case OPTION_DURATION:
        if (go_duration_parse(value, &milliseconds, NULL) < 0)
            return error_set(
                err, ERROR_USAGE,
                "invalid value \"%.80s\" for --%s: not a duration like 30s, 5m or 1h30m", value,
                o->name);
        *(long long *)field = milliseconds < NUMBER_MAX ? milliseconds : NUMBER_MAX;
        break;
    case OPTION_CHOICE: {
        size_t i = 0;

        while (i < ARRAY_SIZE(name_tables) && !text_equal(name_tables[i].argument, o->argument))
            i++;
        if (i < ARRAY_SIZE(name_tables) && name_tables[i].check(value, err) < 0)
            return error_prefix(err, "--%s", o->name);
        if (i == ARRAY_SIZE(name_tables) && choice_check(o->argument, value, err) < 0)
            return error_prefix(err, "invalid value \"%.80s\" for --%s", value, o->name);
        set_text(field, value, false);
        return 0;
    }
    }
    if (!*(long long *)field && o->flags & OPTION_POSITIVE)
        return error_set(err, ERROR_USAGE, "invalid value \"%.80s\" for --%s: must be more than 0",
                         value, o->name);
    return 0;
}

/* Position in argv, and the options to fill. */
struct reading {
    const struct option_set *set;
    int argc;
    char *const *argv;
    int i;
};

/* Sets the option from `value`, or from the next word of argv where value is NULL. */
static int take_value(struct reading *r, size_t index, const char *value, struct error *err) {
    const struct option *o = options_at(r->set, index);

    if (!value && o->type == OPTION_BOOL)
        value = "true";
    else if (!value && r->i + 1 < r->argc)
        value = r->argv[++r->i];
    if (!value) {
        (void)error_set(err, ERROR_USAGE, "flag needs an argument: %s%s", o->name[1] ? "--" : "-",
                        o->name);
        return hint_form(o, err);
    }
    r->set->given[index] = true;
    return set_value(r->set, o, value, err);
}

/* Reads "--name", "--name=value", "-v5", "-v=5" or "-v 5", and combined letters as in "-hv5". */
static int parse_flag(struct reading *r, const char *flag, struct error *err) {
    const char *word = flag + (flag[1] == '-' ? 2 : 1);

    if (flag[1] == '-') {
        size_t len = strcspn(word, "="), index = find(r->set, word, len, 0);
        _cleanup_(freep) char *name = xstrndup(word, len);

        return index == (size_t)-1 ? unknown(r->set, name, err)
                                   : take_value(r, index, word[len] ? word + len + 1 : NULL, err);
    }
    for (const char *p = word; *p; p++) {
        size_t index = find(r->set, NULL, 0, *p);
        const char *value = p[1] ? p + 1 + (p[1] == '=') : NULL;

        if (index == (size_t)-1) {
            _cleanup_(freep) char *name = xstrndup(word, strcspn(word, "="));
            struct error as_long = {0};

            (void)error_set(err, ERROR_USAGE, "unknown shorthand flag: '%c' in -%.40s", *p, name);
            if (find(r->set, name, strlen(name), 0) != (size_t)-1)
                return error_hint(err, "did you mean --%s?", name);
            (void)unknown(r->set, name, &as_long);
            return as_long.hints[0][0] ? error_hint(err, "%s", as_long.hints[0]) : -1;
        }
        if (options_at(r->set, index)->type != OPTION_BOOL || p[1] == '=')
            return take_value(r, index, value, err);
        if (take_value(r, index, "true", err) < 0)
            return -1;
    }
    return 0;
}

int options_parse(const struct option_set *set, int argc, char *const *argv,
                  struct text_list *words, struct error *err) {
    struct reading r = {.set = set, .argc = argc, .argv = argv};
    struct error later, *first = err;
    bool only_words = false;
    int result = 0;

    for (; r.i < argc; r.i++) {
        const char *word = argv[r.i];

        if (only_words || word[0] != '-' || word[1] == '\0')
            text_list_add(words, word);
        else if (text_equal(word, "--"))
            only_words = true;
        else if (parse_flag(&r, word, first) < 0) {
            result = -1;
            /* The other flags are still read: -o says how errors are printed. */
            first = &later;
        }
    }
    return result;
}

char *option_variable(const char *option) {
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
    struct error later, *first = err;
    int result = 0;

    for (size_t i = 0; (o = options_at(set, i)); i++) {
        _cleanup_(freep) char *name = option_variable(o->name);
        _cleanup_(secret_freep) char *value = NULL;

        if (set->given[i])
            continue;
        value = get(context, name);
        if (!value || !*value)
            continue;
        redact_learn(value);
        if (set_value(set, o, value, first) < 0) {
            result = error_prefix(first, "environment variable %s", name);
            /* The others are still read: WINJOIN_OUTPUT says how errors are printed. */
            first = &later;
        } else {
            set->given[i] = true;
        }
    }
    return result;
}

void options_words(const struct option_set *set, const char *const *left_out,
                   struct text_list *words, struct text_list *environment) {
    const struct option *o;

    for (size_t i = 0; (o = options_at(set, i)); i++) {
        const void *field = (const char *)set->target + o->offset;
        const struct text_list *list = field;
        _cleanup_(freep) char *variable = option_variable(o->name);
        bool written = set->given[i];
        const char *text;

        for (const char *const *name = left_out; *name; name++)
            written = written && strcmp(*name, o->name) != 0;
        if (!written)
            continue;
        switch (o->type) {
        case OPTION_BOOL:
            text_list_add_owned(
                words, xasprintf("--%s=%s", o->name, *(const bool *)field ? "true" : "false"));
            break;
        case OPTION_NUMBER:
        case OPTION_DURATION:
            text_list_add_owned(words, xasprintf("--%s=%lld%s", o->name, *(const long long *)field,
                                                 o->type == OPTION_DURATION ? "ms" : ""));
            break;
        case OPTION_LIST:
            for (size_t k = 0; k < list->count; k++)
                text_list_add_owned(words, xasprintf("--%s=%s", o->name, list->items[k]));
            break;
        default:
            text = *(char *const *)field;
            if (text && o->type == OPTION_SECRET)
                text_list_add_owned(environment, xasprintf("%s=%s", variable, text));
            else if (text)
                text_list_add_owned(words, xasprintf("--%s=%s", o->name, text));
        }
    }
}

void options_free(const struct option_set *set) {
    const struct option *o;

    for (size_t i = 0; (o = options_at(set, i)); i++)
        option_free(o->type, (char *)set->target + o->offset);
}

char *option_argument(const struct option *option) {
    _cleanup_(text_list_free) struct text_list names = {0};

    for (size_t i = 0; i < ARRAY_SIZE(name_tables); i++)
        if (text_equal(name_tables[i].argument, option->argument))
            name_tables[i].names(&names);
    if (!names.count)
        return xstrdup(option->argument);
    return text_list_join(&names, "|");
}

bool option_is_offered(const struct option *option) {
    return !(option->flags & OPTION_HIDDEN) &&
           (host_rehearses || !(option->flags & OPTION_REHEARSAL));
}
