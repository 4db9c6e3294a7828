/* Every call of an upgrade that can fail is made to fail once, and at each of them it is killed:
 * the node is as before or as it should become, the same command again ends well, and reset gives
 * the host back. */
#include "tests/scene/upgrade_scene.h"

/* One call fails: it goes back, or does no harm; the next upgrade ends, and reset gives the host
 * back. So it is where winjoin itself is replaced. */
static void every_call_fails_once(void **state) {
    bool reached = true;

    for (size_t n = 1; reached; n += next_call()) {
        struct error err = {0};
        json_t *before;
        struct run r;
        size_t calls;
        char when[64];
        int result;

        (void)text_format(when, sizeof when, "call %u failed", (unsigned)n);
        open_node(&r, &before);
        if (*state) {
            put(&r, "D:\\winjoin.exe", "MZ newer winjoin");
            host_memory_set_program_path(r.host, "D:\\winjoin.exe");
        }
        calls = host_memory_calls(r.host);
        host_memory_fail(r.host, n);
        result = upgrade_once(&r, false, false, NULL, &err);
        assert_said(result, &err, when);
        reached = host_memory_calls(r.host) - calls >= n;
        host_memory_fail(r.host, 0);
        if (result == 0 && !host_file_type(r.host, UPGRADE_FOLDER))
            assert_new(&r); /* else the next one removes it */
        else if (!host_file_type(r.host, UPGRADE_FOLDER))
            assert_old(&r);
        error_clear(&err);
        if (upgrade_once(&r, false, false, NULL, &err) < 0)
            fail_msg("%s: the same upgrade again: %s", when, err.message);
        assert_new(&r);
        if (*state)
            assert_int_equal(host_remove(r.host, "D:\\winjoin.exe", NULL), 0);
        reset_gives_back(&r, before, when);
        close_node(&r, before);
    }
}

/* Killed at each call, then run again, or reset at once. */
static void killed_at_every_call(void **state) {
    bool reached = true, reset_at_once = *state != NULL;

    for (size_t n = 1; reached; n += next_call()) {
        struct error err = {0};
        json_t *before;
        struct run r;
        size_t calls;
        char when[64];

        (void)text_format(when, sizeof when, "killed at call %u", (unsigned)n);
        open_node(&r, &before);
        calls = host_memory_calls(r.host);
        host_memory_die(r.host, n);
        (void)upgrade_once(&r, false, false, NULL, &err);
        reached = host_memory_calls(r.host) - calls >= n;
        host_memory_fail(r.host, 0);
        error_clear(&err);
        if (!reset_at_once && upgrade_once(&r, false, false, NULL, &err) < 0)
            fail_msg("%s: the same upgrade again: %s", when, err.message);
        if (!reset_at_once)
            assert_new(&r);
        reset_gives_back(&r, before, when);
        close_node(&r, before);
    }
}

/* Killed at each call, and then there is no bundle any more: the node is as it was. */
static void killed_and_its_source_gone(void **state) {
    bool reached = true;

    (void)state;
    for (size_t n = 1; reached; n += next_call()) {
        struct error err = {0};
        json_t *before;
        struct run r;
        size_t calls;

        open_node(&r, &before);
        calls = host_memory_calls(r.host);
        host_memory_die(r.host, n);
        (void)upgrade_once(&r, false, false, NULL, &err);
        reached = host_memory_calls(r.host) - calls >= n;
        host_memory_fail(r.host, 0);
        error_clear(&err);
        assert_int_equal(host_remove(r.host, BUNDLE "\\winjoin.lock", NULL), 0);
        if (host_file_type(r.host, UPGRADE_FOLDER "\\journal\\journal.jsonl") == HOST_FILE) {
            assert_int_equal(upgrade_once(&r, false, false, NULL, &err), -1);
            assert_old(&r);
        }
        close_node(&r, before);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_fails_once),
        cmocka_unit_test_prestate(every_call_fails_once, (char *)"winjoin"),
        cmocka_unit_test(killed_at_every_call),
        cmocka_unit_test_prestate(killed_at_every_call, (char *)"reset"),
        cmocka_unit_test(killed_and_its_source_gone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
