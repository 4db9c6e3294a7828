/* What changed between two reports; and the verb's exit code for it. */
#include "tests/scene/program_scene.h"

#include "diag/causes/causes.h"
#include "diag/reports/report.h"

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
    {CELL("node-to-pod", "TCP", "skip"), CELL("node-to-pod", "TCP", "fail"),
     "\n  node-to-pod/tcp: fail, was skip (why)\n", true},
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

        if (diag_report_read(old_text, strlen(old_text), NODE_REPORT_KIND, &old, &err) < 0 ||
            diag_report_read(new_text, strlen(new_text), NODE_REPORT_KIND, &new, &err) < 0)
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

    put("D:\\old.json", good);
    program->options.replay = NULL;
    assert_int_equal(verb(verb_diag, &err), -1); /* a machine that never joined */
    assert_int_not_equal(err.kind, ERROR_NONE);
}

static void give_cause(struct diag_causes *causes, const char *id, const char *message) {
    causes->items = xcalloc(1, sizeof *causes->items);
    causes->count = 1;
    causes->items[0].id = id;
    causes->items[0].message = xstrdup(message);
}

static void watched(void **state) {
    static const char good[] = REPORT("21", CELL("node-to-pod", "TCP", "pass"));
    static const char red[] = REPORT("22", CELL("node-to-pod", "TCP", "fail"));
    _cleanup_(diag_report_free) struct diag_report old = {0}, new = {0};
    _cleanup_json_ json_t *compared = NULL, *same = NULL, *line = NULL, *whole = NULL;
    _cleanup_(freep) char *text = NULL;

    (void)state;
    assert_int_equal(diag_report_read(good, strlen(good), NODE_REPORT_KIND, &old, NULL), 0);
    assert_int_equal(diag_report_read(red, strlen(red), NODE_REPORT_KIND, &new, NULL), 0);
    give_cause(&new.causes, "NAT-NONE", "nothing leaves\nthe node");
    give_cause(&old.causes, "OVL-UDP", "");
    compared = diag_report_compare(&old, &new);
    same = diag_report_compare(&new, &new);
    assert_true(diag_compare_changed(compared));
    assert_false(diag_compare_changed(same));
    text = diag_watch_text(compared, new.time, "0 of 1 flows", &new.causes);
    assert_string_equal(text,
                        "2026-11-22T10:15:02Z  0 of 1 flows\n"
                        "2026-11-22T10:15:02Z  node-to-pod/tcp: fail, was pass (why)\n"
                        "2026-11-22T10:15:02Z  new cause: NAT-NONE: nothing leaves\\nthe node\n"
                        "2026-11-22T10:15:02Z  no longer: OVL-UDP\n");
    whole = diag_report_json(&new);
    line = diag_watch_json(compared, whole, false);
    assert_string_equal(json_text_at(line, "time"), "2026-11-22T10:15:02Z");
    assert_string_equal(json_text_at(line, "since"), "2026-11-21T10:15:02Z");
    assert_string_equal(json_text_at(line, "causes.0.id"), "NAT-NONE");
    assert_int_equal(json_number_at(line, "summary.fail", 0), 1);
    assert_true(json_is_false(json_object_get(line, "good")));
    assert_true(json_is_true(json_object_get(line, "worse")));
}

static void what_watch_refuses(void **state) {
    static const struct {
        const char *replay, *collect, *output_file, *output, *says;
    } calls[] = {
        {.replay = "D:\\r", .says = "use either --watch or --replay"},
        {.collect = "D:\\c", .says = "use either --watch or --collect"},
        {.output_file = "D:\\o", .says = "use either --watch or --output-file"},
        {.output = "html", .says = "use -o text or -o json (an object a line) with --watch"},
        {.output = "yaml", .says = "use -o text or -o json (an object a line) with --watch"},
    };
    struct error err;

    (void)state;
    program->options.watch = 1000;
    for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
        program->options.replay = (char *)calls[i].replay;
        program->options.collect = (char *)calls[i].collect;
        program->options.output_file = (char *)calls[i].output_file;
        program->options.output = (char *)calls[i].output;
        assert_int_equal(verb(verb_diag, &err), -1);
        assert_int_equal(err.kind, ERROR_USAGE);
        assert_string_equal(err.message, calls[i].says);
        program->options.replay = program->options.collect = program->options.output_file =
            program->options.output = NULL;
    }
    assert_int_equal(verb(verb_diag, &err), -1); /* a machine that never joined */
    assert_int_not_equal(err.kind, ERROR_USAGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells),
        cmocka_unit_test(watched),
        cmocka_unit_test_setup_teardown(what_watch_refuses, open_program, close_program),
        cmocka_unit_test_setup_teardown(the_verb, open_program, close_program),
    };

    return cmocka_run_group_tests(tests, NULL, free_output);
}
