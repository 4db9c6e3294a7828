/* Every call of a join and of a reset that can fail is made to fail once: the failure is told or
 * does no harm, the same command again finishes, and the host is as it was found. */
#include "join_scene.h"

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

static void count_warnings(void *context, const struct join_event *event) {
    *(size_t *)context += event->state == JOIN_WARNING;
}

static int join_watched(struct run *r, size_t *ret_warnings, struct error *err) {
    struct join join = {.host = r->host,
                        .http = r->http,
                        .asked = &r->options,
                        .progress = {.listener = count_warnings, .context = ret_warnings}};
    int result = join_open(&join, err);

    if (result == 0)
        result = join_run(&join, err);
    join_close(&join);
    return result;
}

/* A join that says nothing of a failure has done all that one without failures does; one that fails
 * names the call, and not what came of it. */
static void a_failure_is_told_or_does_no_harm(void **state) {
    const char *mode = *state;
    size_t n = 0, calls, warnings = 0, usual;
    struct error err = {0};
    json_t *wanted;
    struct run r;

    open_run(&r, mode);
    r.scene.other_node = OTHER_NODE;
    calls = host_memory_calls(r.host);
    assert_int_equal(join_watched(&r, &warnings, &err), 0);
    usual = warnings;
    calls = host_memory_calls(r.host) - calls;
    wanted = joined_state(&r);
    close_run(&r);
    assert_true(calls > 100);
    while (n++ < calls) {
        char when[64];
        int result;

        (void)text_format(when, sizeof when, "%s, call %zu failed", mode, n);
        warnings = 0;
        open_run(&r, mode);
        r.scene.other_node = OTHER_NODE;
        host_memory_fail(r.host, n);
        result = join_watched(&r, &warnings, &err);
        assert_said(result, &err, when);
        if (result < 0 && !strstr(err.message, "told to fail") &&
            !strstr(err.message, "checks failed"))
            fail_msg("%s: %s", when, err.message);
        error_clear(&err);
        if (result == 0 && warnings == usual &&
            text_starts_with(host_memory_failed(r.host), "write " JOURNAL_FILE))
            fail_msg("%s: the join went on without its journal", when);
        if (result == 0 && warnings == usual) {
            json_t *is = joined_state(&r);

            assert_same(wanted, is, when);
            json_decref(is);
        }
        close_run(&r);
    }
    json_decref(wanted);
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
