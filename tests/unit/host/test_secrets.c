/* A token that a call, a variable or a file holds in the wrong place is shown nowhere. The verbs
 * and flags are those of the program's own tables, the fields those of its own example file. */
#include "tests/scene/program_scene.h"

#include "host/host_ops.h"
#include "join/configuration/join_configuration.h"
#include "templates/templates.h"

#define SECRET "s3cr3t7q9z2w5x8v"
#define TOKEN "abcdef." SECRET
#define SHOWN "s3cr3t7" /* a cut may leave the beginning */
#define OTHER "ghijkl.0123456789abcdef"
#define PLANTED "D:\\planted.yaml"
/* With it a call comes as far as it can without a cluster. */
#define GOOD                                                                                       \
    " 127.0.0.1:1 --token " OTHER                                                                  \
    " --discovery-token-unsafe-skip-ca-verification --dry-run --timeout 1s"

/* Bare, and glued to what is easily typed beside it. */
static const char *const forms[] = {
    TOKEN,
    "x" TOKEN,
    TOKEN "x",
    TOKEN ".",
    "--" TOKEN,
    "--token" TOKEN,
    "a=" TOKEN,
    TOKEN "," TOKEN,
    TOKEN "@127.0.0.1:1",
    "127.0.0.1:" TOKEN,
    "'" TOKEN,
    TOKEN "\xc3\xa9",
    "https://" TOKEN "/x",
    "C:\\" TOKEN,
};

/* Each flag, variable and field meets the bare token and another few forms; neighbors other ones.
 */
static const char *form(size_t i) {
    static size_t turn;

    return i == 0 ? TOKEN : forms[turn++ % ARRAY_SIZE(forms)];
}
enum { SOME = 3 };

/* Under Wine a call takes six times as long, and its code is the same: every eleventh is played. */
#ifdef _WIN32
enum { EVERY = 11 };
#else
enum { EVERY = 1 };
#endif

/* ---- a host that is looked at when it is closed ---- */

static char *variable_name, *variable_value, *planted; /* of the environment; the file's content */
static struct text host_said;
static struct host_ops watched;
static void (*really_free)(struct host *host);

/* What it was told to run and to keep; what was only looked for is no output. */
static void free_watched(struct host *host) {
    _cleanup_(text_list_free) struct text_list lines = {0};
    _cleanup_json_ json_t *state = host_memory_state(host);
    _cleanup_(freep) char *text = NULL;

    text_list_split(&lines, host_memory_log(host), '\n');
    for (size_t i = 0; i < lines.count; i++)
        if (!text_starts_with(lines.items[i], "read ") &&
            !text_starts_with(lines.items[i], "write " PLANTED))
            text_addf(&host_said, "%s\n", lines.items[i]);
    json_object_del(json_object_get(state, "files"), PLANTED);
    text = json_write(state);
    text_add(&host_said, text);
    really_free(host);
}

static int open_watched(const char *rootfs, struct host **ret, struct error *err) {
    (void)rootfs, (void)err;
    *ret = host_memory_new();
    if (planted)
        assert_int_equal(host_write(*ret, PLANTED, planted, strlen(planted), HOST_PUBLIC, NULL), 0);
    if (variable_name)
        host_memory_set_environment(*ret, variable_name, variable_value);
    watched = *(*ret)->ops;
    really_free = watched.free;
    watched.free = free_watched;
    (*ret)->ops = &watched;
    return 0;
}

/* ---- calls ---- */

static size_t calls;

static void assert_hidden(const char *line, const char *what, const struct text *text) {
    const char *found = strstr(text_str(text), SHOWN);

    if (found)
        fail_msg("winjoin %s\n(%s=%s) (%s)\n%s shows: ...%.200s", line,
                 variable_name ? variable_name : "", variable_value ? variable_value : "",
                 planted ? planted : "", what,
                 found - text_str(text) > 80 ? found - 80 : text_str(text));
}

static void run_one(const char *line, bool result_is_the_file) {
    _cleanup_(freep) char *whole = xasprintf("winjoin %s", line);
    _cleanup_(text_list_free) struct text_list words = {0};
    struct capture captured[2];

    if (calls++ % EVERY)
        return;
    text_clear(&host_said);
    text_list_split(&words, whole, ' ');
    capture_begin(&captured[0], stdout);
    capture_begin(&captured[1], stderr);
    (void)program_run((int)words.count, words.items, open_watched);
    capture_end(&captured[1], &err_out);
    capture_end(&captured[0], &out);
    if (!result_is_the_file)
        assert_hidden(line, "standard output", &out);
    assert_hidden(line, "standard error", &err_out);
    assert_hidden(line, "the host", &host_said);
}

/* As it is, and with a full log and a document; one in turn of the two where the token, glued
 * to something, was there bare before. */
static void check(bool both, const char *format, ...) __attribute__((format(gnu_printf, 2, 3)));
static void check(bool both, const char *format, ...) {
    struct text line = {0}, more = {0};
    bool plain = both || calls % 2;
    va_list args;

    va_start(args, format);
    text_addv(&line, format, args);
    va_end(args);
    if (plain)
        run_one(text_str(&line), false);
    text_addf(&more, "%s -v 5 -o json", text_str(&line));
    if (both || !plain)
        run_one(text_str(&more), false);
    text_free(&line);
    text_free(&more);
}

/* Each verb and subcommand as it is called; `work` with each. */
static void for_each_call(void (*work)(const struct verb *verb, const char *name)) {
    for (size_t i = 0; verbs[i].name; i++) {
        work(&verbs[i], verbs[i].name);
        for (const struct verb *sub = verbs[i].subcommands; sub && sub->name; sub++) {
            _cleanup_(freep) char *name = xasprintf("%s %s", verbs[i].name, sub->name);

            work(sub, name);
        }
    }
}

/* Words that lead as far as a call gets. */
static const char *words_of(const struct verb *verb) {
    return verb->run == verb_join || verb->run == verb_preflight || verb->run == verb_discover
               ? GOOD
               : "";
}

static void in_words(const struct verb *verb, const char *name) {
    for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
        check(i == 0, "%s %s", name, forms[i]);
        check(i == 0, "%s --%s", name, forms[i]);
        check(i == 0, "%s -%s", name, forms[i]);
        check(i == 0, "%s%s%s %s", name, words_of(verb), "", forms[i]);
    }
}

static void a_token_among_the_words(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
        check(i == 0, "%s", forms[i]);
        check(i == 0, "--%s status", forms[i]);
        check(i == 0, "kubeadm join %s", forms[i]);
    }
    for_each_call(in_words);
}

/* The name of a log or of a result's file is the person's own: neither is made here. */
static const char *folder_of(const struct option *option) {
    bool made = text_equal(option->name, "log-file") || text_equal(option->name, "output-file") ||
                text_equal(option->name, "collect");

    return made ? "none/none/" : "";
}

static void in_flags(const struct verb *verb, const char *name) {
    const struct option *tables_of[VERB_TABLES_MAX];

    verb_tables(verb, tables_of);
    for (size_t t = 0; tables_of[t]; t++)
        for (const struct option *o = tables_of[t]; o->name; o++)
            for (size_t i = 0; i < SOME; i++) {
                check(i == 0, "%s --%s=%s%s%s", name, o->name, folder_of(o), form(i),
                      words_of(verb));
                if (i == 0) { /* a forgotten blank */
                    check(i == 0, "%s --%s%s%s", name, o->name, form(i), words_of(verb));
                    check(i == 0, "%s%s --%s %s%s", name, words_of(verb), o->name, folder_of(o),
                          form(i));
                }
            }
}

static void a_token_in_each_flag(void **state) {
    (void)state;
    for_each_call(in_flags);
}

static void in_variables(const struct verb *verb, const char *name) {
    const struct option *tables_of[VERB_TABLES_MAX];

    verb_tables(verb, tables_of);
    for (size_t t = 0; tables_of[t]; t++)
        for (const struct option *o = tables_of[t]; o->name; o++)
            for (size_t i = 0; i < SOME; i++) {
                variable_name = option_variable(o->name);
                variable_value = xasprintf("%s%s", folder_of(o), form(i));
                check(i == 0, "%s%s", name, words_of(verb));
                freep(&variable_name);
                freep(&variable_value);
            }
}

static void a_token_in_each_variable(void **state) {
    (void)state;
    for_each_call(in_variables);
    variable_name = xstrdup("WINJOIN_" TOKEN);
    variable_value = xstrdup("x");
    check(true, "version");
    freep(&variable_name);
    freep(&variable_value);
}

/* ---- configuration files ---- */

/* The name in a line of the example file, also of one that is commented out ("# bundle: ..."), and
 * its column. */
static char *field_of(const char *line, size_t *ret_column) {
    size_t at = strspn(line, " "), len;

    *ret_column = at;
    if (line[at] == '#') {
        at += 1 + strspn(line + at + 1, " ");
        *ret_column = at - 2;
    }
    len = strspn(line + at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    return len && line[at + len] == ':' ? xstrndup(line + at, len) : NULL;
}

static void with_file(const char *head, const struct text_list *path, const char *key,
                      const char *value, bool bare) {
    struct text file = {0};

    text_add(&file, head);
    for (size_t i = 0; i < path->count; i++)
        text_addf(&file, "%*s%s:%s", (int)i * 2, "", path->items[i],
                  i + 1 < path->count || key ? "\n" : "");
    if (key)
        text_addf(&file, "%*s%s:", (int)path->count * 2, "", key);
    text_addf(&file, " %s\n", value);
    planted = text_take(&file);
    check(bare, "config validate --config " PLANTED);
    run_one("config migrate --old-config " PLANTED, true);
    check(bare, "join --config " PLANTED " --dry-run --timeout 1s");
    check(bare, "preflight --config " PLANTED " --timeout 1s");
    freep(&planted);
}

static void in_each_field_of(const char *document) {
    _cleanup_(text_list_free) struct text_list lines = {0}, path = {0};
    _cleanup_(freep) char *head = NULL;

    text_list_split(&lines, document, '\n');
    assert_true(lines.count > 10);
    head = xasprintf("%s\n%s\n", lines.items[0], lines.items[1]);
    for (size_t i = 2; i < lines.count; i++) {
        size_t column;
        _cleanup_(freep) char *name = field_of(lines.items[i], &column);

        if (!name)
            continue;
        while (path.count > column / 2)
            free(path.items[--path.count]);
        text_list_add(&path, name);
        for (size_t k = 0; k < SOME; k++) {
            _cleanup_(freep) char *list = xasprintf("['%s']", k == 0 ? TOKEN : "x" TOKEN);

            with_file(head, &path, NULL, form(k), k == 0);
            with_file(head, &path, NULL, list, k == 0);
        }
        with_file(head, &path, TOKEN, "1", true);
        with_file(head, &path, "x" TOKEN, "1", false);
    }
}

static void a_token_in_each_field(void **state) {
    (void)state;
    for (const struct template *t = templates; t->name; t++)
        if (text_equal(t->name, "join-defaults.yaml")) {
            _cleanup_(freep) char *text = xstrndup((const char *)t->data, t->len);
            _cleanup_(freep) char *node = schema_commented(NODE_CONFIGURATION_KIND);
            char *second = strstr(text, "---\n");

            assert_non_null(second);
            *second = '\0';
            second = xasprintf("%s%s", second + strlen("---\n"), node);
            in_each_field_of(text);
            in_each_field_of(second);
            free(second);
        }
}

static int count_calls(void **state) {
    text_free(&host_said);
    printf("%zu calls\n", calls);
    return free_output(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_token_among_the_words),
        cmocka_unit_test(a_token_in_each_flag),
        cmocka_unit_test(a_token_in_each_variable),
        cmocka_unit_test(a_token_in_each_field),
    };

    return cmocka_run_group_tests(tests, NULL, count_calls);
}
