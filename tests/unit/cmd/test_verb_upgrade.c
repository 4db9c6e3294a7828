/* winjoin upgrade as a person sees it (what it does: test_upgrade.c): plan, result, log. */
#include "tests/scene/joining_scene.h"

static int open_joined(void **state) {
    int result = open_joining(state);

    words("10.0.0.10:6443");
    succeeds(verb_join);
    words("");
    join_options_free(&program->options.join); /* another call */
    program->options.join = (struct join_options){.start_spread = -1, .verify = xstrdup("none")};
    record_free(program);
    r.scene.registered = true;
    program->verb = verb_find(verbs, "upgrade");
    put_plugin_bundle();
    return result;
}

static void a_plan_changes_nothing(void **state) {
    json_t *before = state_of(&r), *after;

    (void)state;
    program->options.join.dry_run = true;
    succeeds(verb_upgrade);
    assert_string_equal(result_text("kind"), "UpgradePlan");
    assert_has(&out, "win-overlay");
    after = state_of(&r);
    assert_same(before, after, "a plan");
    json_decref(before);
    json_decref(after);
}

static void programs_are_replaced_once(void **state) {
    (void)state;
    succeeds(verb_upgrade);
    assert_string_equal(result_text("kind"), "UpgradeResult");
    assert_has(&out, "\nthe node is upgraded and Ready\n");
    assert_int_equal(events("i", "winjoin upgrade win-7k2: done"), 1);
    put_plugin_bundle();
    succeeds(verb_upgrade);
    assert_has(&out, "\nnothing to do: programs and configuration are up to date\n");
}

static void one_that_fails_says_why(void **state) {
    struct error err;

    (void)state;
    put("D:\\b\\win-overlay.exe", "abd");
    assert_int_equal(verb(verb_upgrade, &err), -1);
    assert_int_equal(err.kind, ERROR_UNTRUSTED);
    assert_string_equal(result_text("kind"), "UpgradeResult");
    assert_false(has(&out, "upgraded and Ready"));
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_joined, close_joining)
    const struct CMUnitTest tests[] = {CASE(a_plan_changes_nothing),
                                       CASE(programs_are_replaced_once),
                                       CASE(one_that_fails_says_why)};

    return cmocka_run_group_tests_name("winjoin upgrade", tests, NULL, free_output);
}
