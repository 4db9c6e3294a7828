/* --apply-host-fixes: registry values are recorded, told, set once, and taken back. */
#include "tests/scene/join_scene.h"

#include "join/plan/plan.h"

#define HNS_STATE "SYSTEM\\CurrentControlSet\\Services\\hns\\State"

static void set_revision(struct run *r, unsigned revision) {
    struct host_facts facts;

    assert_int_equal(host_facts(r->host, &facts, NULL), 0);
    facts.revision = revision;
    host_memory_set_facts(r->host, &facts);
}

static void assert_value(struct run *r, const char *value, const char *expected) {
    _cleanup_(freep) char *found = NULL;
    struct error why = {0};

    (void)host_registry_get(r->host, HNS_STATE, value, &found, &why);
    if (!text_equal(found, expected))
        fail_msg("%s is %s", value, found ? found : "absent");
}

static size_t warnings_of(struct run *r, const char *part) {
    struct join join = {.host = r->host, .http = r->http, .asked = &r->options};
    struct error err = {0};
    size_t found = 0;

    assert_int_equal(join_open(&join, &err), 0);
    if (join_run(&join, &err) < 0)
        fail_msg("%s", err.message);
    for (size_t i = 0; i < join.progress.warnings.count; i++)
        found += strstr(join.progress.warnings.items[i], part) != NULL;
    join_close(&join);
    return found;
}

static void values_are_set_told_and_taken_back(void **state) {
    json_t *before, *after;
    struct error err = {0};
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    set_revision(&r, 2600);
    host_memory_set_registry(r.host, HNS_STATE, "FwPerfImprovementChange", "1");
    before = state_of(&r);
    r.options.apply_host_fixes = true;
    assert_int_equal(warnings_of(&r, "restart Windows once"), 2);
    assert_value(&r, "FwPerfImprovementChange", "0");
    assert_value(&r, "EnableCompartmentNamespace", "1");
    assert_int_equal(warnings_of(&r, "restart Windows once"), 0);
    assert_int_equal(reset_once(&r, &err), 0);
    assert_value(&r, "FwPerfImprovementChange", "1");
    after = state_of(&r);
    assert_same(before, after, "after reset");
    json_decref(before);
    json_decref(after);
    close_run(&r);
}

static void nothing_is_set_unasked(void **state) {
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    set_revision(&r, 2600);
    assert_int_equal(warnings_of(&r, "restart Windows once"), 0);
    assert_value(&r, "FwPerfImprovementChange", NULL);
    assert_value(&r, "EnableCompartmentNamespace", NULL);
    close_run(&r);
}

static void what_could_not_be_restored_is_not_replaced(void **state) {
    static const char *const values[] = {"yes", "", "4294967296"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
        struct error err = {0};
        struct run r;

        open_run(&r, "overlay");
        host_memory_set_registry(r.host, HNS_STATE, "EnableCompartmentNamespace", values[i]);
        r.options.apply_host_fixes = true;
        assert_int_equal(join_once(&r, &err), -1);
        assert_int_equal(err.kind, ERROR_CONFLICT);
        assert_non_null(strstr(err.message, "EnableCompartmentNamespace': it is not a number now"));
        assert_value(&r, "EnableCompartmentNamespace", values[i]);
        close_run(&r);
    }
}

static void a_dry_run_lists_them(void **state) {
    struct join join;
    struct error err = {0};
    json_t *plan = NULL;
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    r.options.apply_host_fixes = r.options.dry_run = true;
    open_join(&r, &join);
    if (join_plan_make(&join, &plan, &err) < 0)
        fail_msg("%s", err.message);
    assert_string_equal(json_text_at(plan, "registry.0.value"), "EnableCompartmentNamespace");
    json_decref(plan);
    join_close(&join);
    close_run(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_set_told_and_taken_back),
        cmocka_unit_test(nothing_is_set_unasked),
        cmocka_unit_test(what_could_not_be_restored_is_not_replaced),
        cmocka_unit_test(a_dry_run_lists_them),
        cmocka_unit_test(what_was_told_is_expected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
