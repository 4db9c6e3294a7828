/* Every call of a join and of a reset that can fail, and every request of a join, is made to fail
 * once: the failure is told or does no harm, the same command again finishes, and the host is as it
 * was found. What is said then is compared with files of tests/unit/expected. */
#include "tests/scene/join_scene.h"

#include "tests/scene/expected_scene.h"

/* One call of the join fails; the same command again finishes, and reset gives the host back. */
static bool torture_once(const char *mode, size_t n) {
    struct error err = {0};
    struct round t;
    bool reached;

    round_open(&t, mode, "join with failed call", n);
    t.r.options.apply_host_fixes = true;
    t.calls = host_memory_calls(t.r.host);
    host_memory_fail(t.r.host, n);
    assert_said(join_once(&t.r, &err), &err, t.when); /* some calls may fail without harm */
    reached = round_reached(&t, n);
    t.r.options.apply_host_fixes = true;
    round_good(&t, "the same join again", join_once);
    round_close(&t);
    return reached;
}

static void every_call_fails_once(void **state) {
    size_t n = 1;

    while (torture_once(*state, n))
        n += next_call();
    assert_true(n > 100);
}

/* A reset that stops half-way goes on when it is run again; one that says nothing has undone all.
 */
static void every_call_of_reset_fails_once(void **state) {
    const char *mode = *state;
    bool reached = true;

    for (size_t n = 1; reached; n += text_equal(mode, "l2bridge") ? 1 : next_call()) {
        struct error err = {0};
        struct round t;
        int result;

        round_open(&t, mode, "reset with failed call", n);
        round_good(&t, "join", join_once);
        t.calls = host_memory_calls(t.r.host);
        host_memory_fail(t.r.host, n);
        result = reset_once(&t.r, &err);
        assert_said(result, &err, t.when);
        if (result == 0)
            round_assert_as_found(&t);
        reached = round_reached(&t, n);
        round_close(&t);
    }
}

/* What a joined host must have, without what no two joins have in common: keys, certificates and
 * their times, the journal, and the temporary files that the next command removes. */
static json_t *joined_state(const struct run *r) {
    json_t *state = state_of(r), *files = json_object_get(state, "files"), *file;
    const char *path;
    void *next;

    json_object_foreach_safe(files, next, path, file) {
        _cleanup_(freep) char *text = json_write(file);

        if (strstr(text, "-----BEGIN ") || text_ends_with(path, ".tmp") ||
            strstr(text, "certificate-authority-data") || strstr(path, "\\journal") ||
            strstr(path, "\\winjoin\\tmp") || text_ends_with(path, "kubelet-client-current.pem"))
            json_object_del(files, path);
    }
    return state;
}

#define OTHER_NODE "10.244.7.0/24 10.0.0.77"

static void add_warning(void *context, const struct join_event *event) {
    if (event->state == JOIN_WARNING)
        text_list_add(context, event->message);
}

static int join_watched(struct run *r, struct text_list *ret, struct error *err) {
    struct join join = {.host = r->host,
                        .http = r->http,
                        .asked = &r->options,
                        .progress = {.listener = add_warning, .context = ret}};
    int result = join_open(&join, err);

    if (result == 0)
        result = join_run(&join, err);
    join_close(&join);
    return result;
}

enum failure { CALL, REQUEST, DENIED, BROKEN, FAILURES };
static const char *const failures[] = {"call", "request", "request denied", "request broken"};

/* A join of which nothing fails. */
struct usual {
    json_t *state;
    size_t calls, requests;
    struct text_list warnings;
};

/* What failed, and what was said then that is not said usually. */
static void add_failure(struct text *ret, const char *what, const struct text_list *warnings,
                        const struct usual *usual, const struct error *err) {
    text_addf(ret, "%.*s\n", (int)strcspn(what, "\n"), what);
    for (size_t i = 0; i < warnings->count; i++)
        if (!text_list_has(&usual->warnings, warnings->items[i]))
            text_addf(ret, "  warning: %s\n", warnings->items[i]);
    if (err->kind)
        text_addf(ret, "  %s: %s\n", error_kind_name(err->kind), err->message);
    for (size_t i = 0; i < ARRAY_SIZE(err->hints) && *err->hints[i]; i++)
        text_addf(ret, "  hint: %s\n", err->hints[i]);
}

/* A join of which one call or request fails: it says so, or has done all that the usual one does;
 * one that fails names what failed, and not what came of it. */
static void fails_once(const char *mode, enum failure how, size_t n, const struct usual *usual,
                       struct text *ret_said) {
    _cleanup_(text_list_free) struct text_list warnings = {0};
    struct error err = {0};
    struct run r;
    char when[64];
    int result;

    (void)text_format(when, sizeof when, "%s, %s %zu", mode, failures[how], n);
    open_run(&r, mode);
    r.scene.other_node = OTHER_NODE;
    if (how == CALL)
        host_memory_fail(r.host, n);
    else
        http_memory_fail(r.http, n, how == REQUEST ? 0 : how == DENIED ? 403 : 200);
    result = join_watched(&r, &warnings, &err);
    assert_said(result, &err, when);
    add_failure(ret_said, how == CALL ? host_memory_failed(r.host) : when, &warnings, usual, &err);
    if (how == CALL && result < 0 && !strstr(err.message, "told to fail") &&
        !strstr(err.message, "checks failed"))
        fail_msg("%s: %s", when, err.message);
    if (how == CALL && result == 0 && warnings.count == usual->warnings.count &&
        text_starts_with(host_memory_failed(r.host), "write " JOURNAL_FILE))
        fail_msg("%s: the join went on without its journal", when);
    if (how == CALL && result == 0 && warnings.count == usual->warnings.count) {
        _cleanup_json_ json_t *is = joined_state(&r);

        assert_same(usual->state, is, when);
    }
    close_run(&r);
}

static void a_failure_is_told_or_does_no_harm(void **state) {
    const char *mode = *state;
    _cleanup_(freep) char *name = xasprintf("failures-%s", mode);
    _cleanup_(text_free) struct text said = {.cap = 1 << 20};
    struct usual usual = {0};
    struct error err = {0};
    struct run r;

    open_run(&r, mode);
    r.scene.other_node = OTHER_NODE;
    usual.calls = host_memory_calls(r.host);
    assert_int_equal(join_watched(&r, &usual.warnings, &err), 0);
    usual.calls = host_memory_calls(r.host) - usual.calls;
    usual.requests = http_memory_requests(r.http);
    usual.state = joined_state(&r);
    close_run(&r);
    assert_true(usual.calls > 100);
    for (enum failure how = CALL; how < FAILURES; how++)
        for (size_t n = 1; n <= (how == CALL ? usual.calls : usual.requests); n += next_run()) {
            _cleanup_(text_free) struct text run = {0};

            fails_once(mode, how, n, &usual, &run);
            expect_run(name, &said, text_str(&run));
        }
    expect_no_other_run(name, &said);
    json_decref(usual.state);
    text_list_free(&usual.warnings);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(every_call_fails_once, (char *)"overlay"),
        cmocka_unit_test_prestate(every_call_fails_once, (char *)"l2bridge"),
        cmocka_unit_test_prestate(every_call_fails_once, (char *)"nat"),
        cmocka_unit_test_prestate(every_call_of_reset_fails_once, (char *)"overlay"),
        cmocka_unit_test_prestate(every_call_of_reset_fails_once, (char *)"l2bridge"),
        cmocka_unit_test_prestate(a_failure_is_told_or_does_no_harm, (char *)"overlay"),
        cmocka_unit_test_prestate(a_failure_is_told_or_does_no_harm, (char *)"l2bridge"),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
