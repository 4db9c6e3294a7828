/* A join, and a reset, that is killed at every call, in each mode. */
#include "join_scene.h"

/* What is killed, and what follows. */
enum kind { JOIN_THEN_JOIN, JOIN_THEN_RESET, RESET_THEN_RESET };

/* Killed at each call, so behind each record of the journal, too: the same join continues where it
 * was, or a reset restores the host at once; a second reset undoes what the first has left. */
static void killed_at_every_call(const char *mode, enum kind kind) {
    bool reached = true;

    for (size_t n = 1; reached; n += next_call()) {
        bool resets = kind == RESET_THEN_RESET;
        struct error err = {0};
        struct round t;

        round_open(&t, mode, resets ? "reset killed at call" : "join killed at call", n);
        if (resets)
            round_good(&t, "join", join_once);
        t.calls = host_memory_calls(t.r.host);
        host_memory_die(t.r.host, n);
        (void)(resets ? reset_once : join_once)(&t.r, &err);
        reached = round_reached(&t, n);
        if (kind == JOIN_THEN_JOIN)
            round_good(&t, "the same join again", join_once);
        round_close(&t);
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
