/* Every call of a join and of a reset that can fail is made to fail once: the same command again
 * finishes, and the host is as it was found. */
#include "join_scene.h"

/* With TESTS_PART=part every seventh call alone. */
static size_t next_call(void) {
    const char *tests = getenv("TESTS_PART");

    return tests && text_equal(tests, "part") ? 7 : 1;
}

/* One call of the join fails; the same command again finishes, and reset gives the host back. */
static bool torture_once(const char *mode, size_t n) {
    struct error err = {0};
    struct run r;
    json_t *before, *after;
    size_t calls;
    char when[64];
    bool reached;

    open_run(&r, mode);
    before = state_of(&r);
    (void)text_format(when, sizeof when, "%s, call %zu failed", mode, n);
    calls = host_memory_calls(r.host);
    host_memory_fail(r.host, n);
    (void)join_once(&r, &err); /* some calls may fail without harm */
    reached = host_memory_calls(r.host) - calls >= n;
    host_memory_fail(r.host, 0);
    error_clear(&err);
    set_options(&r, mode);
    if (join_once(&r, &err) < 0)
        fail_msg("%s: the same join again: %s", when, err.message);
    if (reset_once(&r, &err) < 0)
        fail_msg("%s: reset: %s", when, err.message);
    after = state_of(&r);
    assert_same(before, after, when);
    json_decref(before);
    json_decref(after);
    close_run(&r);
    return reached;
}

static void every_call_fails_once(void **state) {
    size_t n = 1;

    (void)state;
    while (torture_once("overlay", n))
        n += next_call();
    assert_true(n > 100);
}

static void every_call_fails_once_l2bridge(void **state) {
    size_t n = 1;

    (void)state;
    while (torture_once("l2bridge", n))
        n += next_call();
    assert_true(n > 100);
}

/* A reset that stops half-way goes on when it is run again. */
static void every_call_of_reset_fails_once(void **state) {
    bool reached = true;

    (void)state;
    for (size_t n = 1; reached; n += next_call()) {
        struct error err = {0};
        struct run r;
        json_t *before, *after;
        size_t calls;
        char when[64];

        (void)text_format(when, sizeof when, "reset again after call %zu failed", n);
        open_run(&r, "overlay");
        before = state_of(&r);
        if (join_once(&r, &err) < 0)
            fail_msg("join: %s", err.message);
        calls = host_memory_calls(r.host);
        host_memory_fail(r.host, n);
        (void)reset_once(&r, &err);
        reached = host_memory_calls(r.host) - calls >= n;
        host_memory_fail(r.host, 0);
        error_clear(&err);
        if (reset_once(&r, &err) < 0)
            fail_msg("%s: %s", when, err.message);
        after = state_of(&r);
        assert_same(before, after, when);
        json_decref(before);
        json_decref(after);
        close_run(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_fails_once),
        cmocka_unit_test(every_call_fails_once_l2bridge),
        cmocka_unit_test(every_call_of_reset_fails_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
