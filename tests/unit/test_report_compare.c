/* What changed between two reports; and the verb's exit code for it. */
#include "program_scene.h"

#include "diag/causes/causes.h"
#include "diag/reports/compare.h"

#define CELL(id, protocol, outcome)                                                                \
    "{\"id\":\"" id "\",\"protocol\":\"" protocol "\",\"outcome\":\"" outcome                      \
    "\",\"reason\":\"why\",\"evidence\":{\"probe\":\"timeout\"}}"
#define REPORT(day, cells)                                                                         \
    "{\"kind\":\"DiagReport\",\"time\":\"2026-11-" day "T10:15:02Z\",\"flows\":[" cells "]}"

static const struct {
    const char *old, *new, *text;
    bool worse;
} rows[] = {
    {CELL("node-to-pod", "TCP", "pass"), CELL("node-to-pod", "TCP", "slow"),
     " nothing has changed\n", false},
    {CELL("node-to-pod", "TCP", "fail"), CELL("node-to-pod", "TCP", "fail"),
     " nothing has changed\n", false},
    {CELL("node-to-pod", "TCP", "pass"), CELL("node-to-pod", "TCP", "fail"),
     "\n  node-to-pod/tcp: fail, was pass (why)\n", true},
    {CELL("node-to-pod", "TCP", "not-run"), CELL("node-to-pod", "TCP", "pass"),
     "\n  node-to-pod/tcp: pass, was not-run (why)\n", false},
    {CELL("node-to-pod", "TCP", "fail"), CELL("node-to-pod", "TCP", "not-run"),
     "\n  node-to-pod/tcp: not-run, was fail (why)\n", false},
    {CELL("node-to-pod", "TCP", "skip"), CELL("node-to-pod", "TCP", "pass"),
     "\n  node-to-pod/tcp: pass, was skip (why)\n", false},
    {CELL("node-to-pod", "UDP", "pass"), CELL("node-to-pod", "TCP", "fail"),
     "\n  node-to-pod/tcp: fail, was absent (why)\n  node-to-pod/udp: absent, was pass\n", true},
    {CELL("container-to-container-localhost", "TCP", "pass"),
     CELL("container-to-container-localhost", "TCP", "fail"),
     "\n  container-to-container-localhost/tcp: fail, was pass (why)\n", false},
};

static void cells(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *old_text = xasprintf(REPORT("21", "%s"), rows[i].old);
        _cleanup_(freep) char *new_text = xasprintf(REPORT("22", "%s"), rows[i].new);
        _cleanup_(diag_report_free) struct diag_report old = {0}, new = {0};
        _cleanup_json_ json_t *compared = NULL;
        _cleanup_(freep) char *text = NULL;
        struct error err = {0};

        if (diag_report_read(old_text, strlen(old_text), &old, &err) < 0 ||
            diag_report_read(new_text, strlen(new_text), &new, &err) < 0)
            fail_msg("%s", err.message);
        compared = diag_report_compare(&old, &new);
        text = diag_compare_text(compared);
        assert_true(text_starts_with(text, "\nSince 2026-11-21T10:15:02Z:"));
        assert_string_equal(text + strlen("\nSince 2026-11-21T10:15:02Z:"), rows[i].text);
        assert_int_equal(json_is_true(json_object_get(compared, "worse")), rows[i].worse);
    }
}

/* A first look alone names causes. */
#define LOOK(service)                                                                              \
    "{\"kind\":\"DiagReport\",\"time\":\"2026-11-21T10:15:02Z\",\"flows\":[],\"evidence\":{"       \
    "\"look\":{\"services\":[{\"name\":\"" service                                                 \
    "\",\"state\":\"stopped\",\"winjoin\":true,\"start\":\"auto\"}]}}}"

static void call_of_two(const char *old, const char *new, const char *form, struct error *err) {
    put("D:\\old.json", old);
    put("D:\\new.json", new);
    program->options.replay = (char *)"D:\\new.json";
    program->options.compare = (char *)"D:\\old.json";
    program->options.output = (char *)form;
    (void)verb(verb_diag, err);
    program->options.output = NULL;
}

static void the_verb(void **state) {
    static const char good[] = REPORT("21", CELL("node-to-pod", "TCP", "pass"));
    static const char red[] = REPORT("22", CELL("node-to-pod", "TCP", "fail"));
    struct error err;

    (void)state;
    call_of_two(good, red, NULL, &err);
    assert_int_equal(err.kind, ERROR_FLOWS);
    assert_string_equal(err.message, "compare with 2026-11-21T10:15:02Z: it is worse");
    assert_has(&out, "Since 2026-11-21T10:15:02Z:\n  node-to-pod/tcp: fail, was pass (why)\n");
    call_of_two(red, red, NULL, &err); /* red as before */
    assert_int_equal(err.kind, ERROR_NONE);
    assert_has(&out, "Since 2026-11-22T10:15:02Z: nothing has changed\n");
    call_of_two(red, good, "json", &err);
    assert_int_equal(err.kind, ERROR_NONE);
    assert_string_equal(json_text_at(program->result, "changes.cells.0.was"), "fail");
    json_decref(program->result);
    program->result = NULL;
    call_of_two(good, red, "junit", &err);
    assert_null(strstr(text_str(&out), "Since"));

    call_of_two(LOOK("hns"), LOOK("kubelet"), NULL, &err); /* one cause is like the other */
    assert_has(&out, "nothing has changed");
    call_of_two(good, LOOK("kubelet"), NULL, &err);
    assert_int_equal(err.kind, ERROR_FLOWS);
    assert_has(&out, "\n  node-to-pod/tcp: absent, was pass\n  new cause: SVC-DOWN\n");
    call_of_two(LOOK("kubelet"), good, NULL, &err);
    assert_int_equal(err.kind, ERROR_NONE);
    assert_has(&out, "\n  no longer: SVC-DOWN\n");

    call_of_two("{}", good, NULL, &err);
    assert_int_equal(err.kind, ERROR_USAGE);
    assert_true(text_starts_with(err.message, "--compare D:\\old.json: decode DiagReport"));
    assert_int_equal(out.len, 0); /* before anything is measured */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells),
        cmocka_unit_test_setup_teardown(the_verb, open_program, close_program),
    };

    return cmocka_run_group_tests(tests, NULL, free_output);
}
