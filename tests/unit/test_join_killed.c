/* A join, and a reset, that is killed at every call, in each mode. */
#include "join_scene.h"

/* What is killed, and what follows. */
enum kind { JOIN_THEN_JOIN, JOIN_THEN_RESET, RESET_THEN_RESET };

/* Killed at each call, so behind each record of the journal, too: the same join continues where it
 * was, or a reset restores the host at once; a second reset undoes what the first has left. */
static void killed_at_every_call(const char *mode, enum kind kind) {
    bool reached = true;

    for (size_t n = 1; reached; n += next_call()) {
        struct error err = {0};
        struct run r;
        json_t *before, *after;
        size_t calls;
        char when[64];

        (void)text_format(when, sizeof when, "%s, %s killed at call %zu", mode,
                          kind == RESET_THEN_RESET ? "reset" : "join", n);
        open_run(&r, mode);
        before = state_of(&r);
        if (kind == RESET_THEN_RESET && join_once(&r, &err) < 0)
            fail_msg("join: %s", err.message);
        calls = host_memory_calls(r.host);
        host_memory_die(r.host, n);
        (void)(kind == RESET_THEN_RESET ? reset_once(&r, &err) : join_once(&r, &err));
        reached = host_memory_calls(r.host) - calls >= n;
        host_memory_fail(r.host, 0);
        error_clear(&err);
        set_options(&r, mode);
        if (kind == JOIN_THEN_JOIN && join_once(&r, &err) < 0)
            fail_msg("%s: the same join again: %s", when, err.message);
        if (reset_once(&r, &err) < 0)
            fail_msg("%s: reset: %s", when, err.message);
        after = state_of(&r);
        assert_same(before, after, when);
        json_decref(before);
        json_decref(after);
        close_run(&r);
    }
}

static void killed_and_joined_again(void **state) {
    killed_at_every_call(*state, JOIN_THEN_JOIN);
}

static void killed_and_reset(void **state) {
    killed_at_every_call(*state, JOIN_THEN_RESET);
}

static void reset_is_killed(void **state) {
    killed_at_every_call(*state, RESET_THEN_RESET);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(killed_and_joined_again, (char *)"overlay"),
        cmocka_unit_test_prestate(killed_and_joined_again, (char *)"l2bridge"),
        cmocka_unit_test_prestate(killed_and_joined_again, (char *)"l2tunnel"),
        cmocka_unit_test_prestate(killed_and_joined_again, (char *)"transparent"),
        cmocka_unit_test_prestate(killed_and_joined_again, (char *)"nat"),
        cmocka_unit_test_prestate(killed_and_reset, (char *)"overlay"),
        cmocka_unit_test_prestate(killed_and_reset, (char *)"l2bridge"),
        cmocka_unit_test_prestate(killed_and_reset, (char *)"l2tunnel"),
        cmocka_unit_test_prestate(killed_and_reset, (char *)"transparent"),
        cmocka_unit_test_prestate(killed_and_reset, (char *)"nat"),
        cmocka_unit_test_prestate(reset_is_killed, (char *)"overlay"),
        cmocka_unit_test_prestate(reset_is_killed, (char *)"l2bridge"),
        cmocka_unit_test_prestate(reset_is_killed, (char *)"l2tunnel"),
        cmocka_unit_test_prestate(reset_is_killed, (char *)"transparent"),
        cmocka_unit_test_prestate(reset_is_killed, (char *)"nat"),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
