/* The same verb where one thing is otherwise: a flag, an answer of the cluster, a fact of the host,
 * a file. What it says, does and leaves then is compared, as the difference from the first row
 * of its group, with files of tests/unit/expected. */
#include "tests/scene/variants.h"

#include "tests/scene/expected_scene.h"

enum { LINES_MAX = 6000 };

/* ---- the difference of two texts, line by line ---- */

static size_t lines_of(char *text, const char **ret) {
    size_t n = 0;

    for (char *at = text, *end; *at && n < LINES_MAX; at = end) {
        end = at + strcspn(at, "\n");
        if (*end)
            *end++ = '\0';
        ret[n++] = at;
    }
    return n;
}

/* The longest lines in common stay, the others are shown: those of `a` with -, of `b` with +. */
static void add_difference(struct text *ret, char *before, char *after) {
    static const char *a[LINES_MAX], *b[LINES_MAX];
    size_t na = lines_of(before, a), nb = lines_of(after, b), i = 0, k = 0;
    uint16_t *common = xcalloc((na + 1) * (nb + 1), sizeof *common);
    const size_t width = nb + 1;

    for (size_t x = na; x--;)
        for (size_t y = nb; y--;) {
            uint16_t down = common[(x + 1) * width + y], right = common[x * width + y + 1];

            common[x * width + y] = text_equal(a[x], b[y])
                                        ? (uint16_t)(common[(x + 1) * width + y + 1] + 1)
                                    : down > right ? down
                                                   : right;
        }
    while (i < na || k < nb)
        if (i < na && k < nb && text_equal(a[i], b[k])) {
            i++;
            k++;
        } else if (k == nb ||
                   (i < na && common[(i + 1) * width + k] >= common[i * width + k + 1])) {
            text_addf(ret, "-%s\n", a[i++]);
        } else {
            text_addf(ret, "+%s\n", b[k++]);
        }
    free(common);
}

/* ---- one run ---- */

static json_t *document(const char *text) {
    _cleanup_(freep) char *quoted = xstrdup(text);
    json_t *json = NULL;
    struct error err = {0};

    for (char *at = quoted; *at; at++)
        if (*at == '\'')
            *at = '"';
    if (json_read(quoted, strlen(quoted), text, &json, &err) < 0)
        fail_msg("%s", err.message);
    return json;
}

static void make_file(const char *file) {
    _cleanup_(freep) char *path = xstrndup(file, strcspn(file, "="));
    const char *text = strchr(file, '=');

    if (text)
        put(path, text + 1);
    else
        assert_int_equal(host_remove_tree(r.host, path, NULL), 0);
}

static void make_otherwise(const struct variant *v) {
    if (v->host) {
        _cleanup_json_ json_t *patch = document(v->host);

        host_memory_patch(r.host, patch);
    }
    if (v->node)
        r.scene.node_patch = document(v->node);
    if (v->file)
        make_file(v->file);
    if (v->value)
        *(const char **)((char *)&r.scene + v->text) = v->value;
    if (v->flag)
        *(bool *)((char *)&r.scene + v->flag) ^= true;
    if (v->does)
        v->does();
}

static int parse_flags(const char *verb, const char *flags, struct error *err) {
    _cleanup_(text_list_free) struct text_list list = {0};

    free(set.given);
    verb_tables(verb_find(verbs, verb), tables);
    set.given = xcalloc(options_count(&set), sizeof *set.given);
    text_list_split(&list, flags, ' ');
    for (size_t i = 0; i < list.count; i++)
        for (char *at = list.items[i]; *at; at++)
            if (*at == '~')
                *at = ' ';
    program->verb = verb_find(verbs, verb);
    if (options_parse(&set, (int)list.count, list.items, &program->words, err) < 0)
        return -1;
    text_list_free(&program->flags);
    options_given(&set, &program->flags);
    return 0;
}

static void join_first(const char *flags) {
    struct error err = {0};

    if (parse_flags("join", flags, &err) < 0 || verb(verb_join, &err) < 0)
        fail_msg("join %s: %s", flags, err.message);
    record_free(program);
    json_decref(program->result);
    program->result = NULL;
    text_list_free(&program->words);
    join_options_free(&program->options.join);
    program->options.join = (struct join_options){.start_spread = -1, .verify = xstrdup("none")};
    r.scene.registered = true;
}

/* What of a host is otherwise than before. New reference; NULL: nothing. */
static json_t *changes(const json_t *before, const json_t *after) {
    json_t *ret = NULL;

    if (json_equal(before, after))
        return NULL;
    if (!json_is_object(before) || !json_is_object(after))
        return after ? json_incref((json_t *)after) : json_string("gone");
    ret = json_object();
    json_each_member(after, key, value)
        json_object_set_new(ret, key, changes(json_object_get(before, key), value));
    json_each_member(before, gone, value)
        if (!json_object_get(after, gone))
            json_object_set_new(ret, gone, changes(value, NULL));
    return ret;
}

/* What a run said, and what it did and left where it succeeded: one that fails has done what the
 * others do, up to there. */
struct ran {
    struct text said, did;
};

/* Of lines that differ in how long was waited alone, the first. */
static void add_first_waits(struct text *ret, const char *lines) {
    const char *last = "";

    for (const char *at = lines; *at; at += strspn(at, "\n")) {
        const size_t len = strcspn(at, "\n"), same = strcspn(at, "(\n");

        if (!text_starts_with(at, "  .. ") || strncmp(at, last, same) != 0)
            text_addf(ret, "%.*s\n", (int)len, at);
        last = at;
        at += len;
    }
}

static void run_otherwise(struct ran *ret, const struct group *g, const struct variant *v) {
    _cleanup_(freep) char *flags =
        xasprintf("%s%s%s", g->flags, v->flags ? " " : "", v->flags ? v->flags : "");
    struct error err = {0};
    size_t from;
    json_t *before;
    _cleanup_(text_free) struct text said = {.cap = 1 << 20}, did = {.cap = 1 << 20};

    (void)open_joining(NULL);
    program->options.progress = xstrdup("plain");
    freep(&program->options.join.endpoint);
    if (g->joined)
        join_first(g->joined);
    else if (g->of_file)
        join_options_free(&program->options.join);
    put_plugin_bundle();
    freep(&program->options.join.bundle);
    make_otherwise(v);
    from = strlen(host_memory_log(r.host));
    before = state_of(&r);
    text_list_free(&program->words);
    text_clear(&out);
    text_clear(&err_out);
    if (parse_flags(g->verb, flags, &err) == 0)
        (void)verb(program->verb->run, &err);
    text_addf(&said, "%s: %s\n", error_kind_name(err.kind), err.message);
    for (size_t i = 0; i < ARRAY_SIZE(err.hints) && *err.hints[i]; i++)
        text_addf(&said, "hint: %s\n", err.hints[i]);
    text_add(&said, text_str(&out));
    add_first_waits(&said, text_str(&err_out));
    if (err.kind == ERROR_NONE || g->joined)
        add_document(&said, program->result);
    if (err.kind == ERROR_NONE) {
        _cleanup_json_ json_t *after = state_of(&r), *left = changes(before, after);

        text_add_char(&said, '\n');
        add_calls(&did, "calls", host_memory_log(r.host) + from);
        text_add(&did, "==== left\n");
        add_document(&did, left);
        text_add_char(&did, '\n');
    }
    *ret = (struct ran){{.cap = 1 << 20}, {.cap = 1 << 20}};
    add_steady(&ret->said, text_str(&said));
    add_steady(&ret->did, text_str(&did));
    json_decref(before);
    if (v->node) {
        json_decref(r.scene.node_patch);
        r.scene.node_patch = NULL;
    }
    options_free(&set);
    text_list_free(&program->flags);
    (void)close_joining(NULL);
}

/* The difference, or the whole where that is shorter. */
static void add_shorter(struct text *ret, const struct text *base, const struct text *is) {
    _cleanup_(text_free) struct text difference = {.cap = 1 << 20};
    _cleanup_(freep) char *before = xstrdup(text_str(base)), *after = xstrdup(text_str(is));

    add_difference(&difference, before, after);
    text_add(ret, text_str(difference.len < is->len ? &difference : is));
}

static void ran_free(struct ran *ran) {
    text_free(&ran->said);
    text_free(&ran->did);
}

static void a_run_differs_as_expected(void **state) {
    const struct group *g = *state;
    _cleanup_(text_free) struct text all = {.cap = 1 << 20};
    _cleanup_(freep) char *name = xasprintf("variants-%s", g->name);
    struct ran base;

    run_otherwise(&base, g, g->variants);
    for (size_t i = 1; g->variants[i].name; i++) {
        _cleanup_(text_free) struct text run = {0};
        struct ran ran;

        if (i % next_run())
            continue;
        run_otherwise(&ran, g, &g->variants[i]);
        text_addf(&run, "==== %s\n", g->variants[i].name);
        add_shorter(&run, &base.said, &ran.said);
        if (ran.did.len)
            add_shorter(&run, &base.did, &ran.did);
        ran_free(&ran);
        expect_run(name, &all, text_str(&run));
    }
    expect_no_other_run(name, &all);
    ran_free(&base);
}

int main(void) {
    struct CMUnitTest tests[ARRAY_SIZE(groups)];

    for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
        tests[i] = (struct CMUnitTest){.name = groups[i].name,
                                       .test_func = a_run_differs_as_expected,
                                       .initial_state = (void *)&groups[i]};
    return _cmocka_run_group_tests("variants", tests, ARRAY_SIZE(tests), NULL, free_output);
}
