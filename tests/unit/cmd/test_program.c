/* The program as a person calls it, on a host in memory: words in, what is printed and the exit
 * code out; and the verbs that need a terminal, with one that is played. */
#include "tests/scene/program_scene.h"

#include "cmd/program.h"
#include "diag/reports/report.h"
#include "join/phases/phases.h"
#include "tests/scene/program_image.h"

static void variables_of_the_environment(void **state) {
    static const struct {
        const char *variable, *out, *warning;
    } rows[] = {
        {"WINJOIN_OUTPUT", "{\n", ""},
        {"WINJOIN_NETWORK_MODE", "winjoin", ""}, /* another verb's */
        {"WINJOIN_OUTPUTT", "winjoin",
         "warning: environment variable WINJOIN_OUTPUTT matches no flag and is ignored (did you "
         "mean WINJOIN_OUTPUT?)\n"},
        {"WINJOIN_QQQQQQ", "winjoin",
         "warning: environment variable WINJOIN_QQQQQQ matches no flag and is ignored\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        variable = rows[i].variable;
        assert_int_equal(call("version"), 0);
        assert_has(&out, rows[i].out);
        assert_string_equal(text_str(&err_out), rows[i].warning);
    }
    variable = "WINJOIN_OUTPUT";
    assert_int_equal(call("version --outptu x"), 3);
    assert_has(&out, "\"message\": \"unknown flag: --outptu\"");
    assert_int_equal(call("vresion"), 3);
    assert_has(&out, "\"message\": \"unknown command");
    variable = "WINJOIN_TOKEN"; /* the error is of the flag, which nobody typed */
    assert_int_equal(call("join 10.0.0.10:6443"), 3);
    assert_has(&err_out, "error: --token: ");
    assert_has(&err_out, "hint: --token was set by the environment variable WINJOIN_TOKEN\n");
    assert_int_equal(call("join 10.0.0.10:6443 --token x"), 3);
    assert_has(&err_out, "error: --token: ");
    assert_null(strstr(text_str(&err_out), "WINJOIN_TOKEN"));
    variable = "WINJOIN_OUTPUT"; /* what was typed is wrong, and nothing else */
    assert_int_equal(call("version -o xml"), 3);
    assert_null(strstr(text_str(&err_out), "WINJOIN_OUTPUT"));
    variable = NULL;
    assert_int_equal(call("join 10.0.0.10:6443 --timeout 0"), 3);
    assert_has(&err_out, "--timeout");
    assert_null(strstr(text_str(&err_out), "WINJOIN_"));
}

/* A result that nobody got is not a success. */
static void a_full_disk(void **state) {
    FILE *full = fopen("/dev/full", "w");
    char *argv[] = {(char *)"winjoin", (char *)"version", NULL};
    struct capture captured;
    int was, code;

    (void)state;
    if (!full)
        return; /* Windows has none */
    (void)fflush(stdout);
    was = dup(fileno(stdout));
    assert_true(dup2(fileno(full), fileno(stdout)) >= 0);
    capture_begin(&captured, stderr);
    code = program_run(2, argv, open_memory);
    capture_end(&captured, &err_out);
    assert_true(dup2(was, fileno(stdout)) >= 0);
    clearerr(stdout);
    close(was);
    (void)fclose(full);
    assert_int_equal(code, 1);
    assert_string_equal(text_str(&err_out), "error: write standard output: it is full or closed\n");
}

/* Nothing else may get the number of a stream that the caller closed, and writing to it fails. */
static void closed_streams(void **state) {
    char *argv[] = {(char *)"winjoin", (char *)"version", NULL};
    struct capture captured;
    int was[2], code, file;

    (void)state;
    if (access("/dev/full", F_OK) < 0)
        return; /* on Windows sockets have no such numbers */
    (void)fflush(stdout);
    capture_begin(&captured, stderr);
    for (int fd = 0; fd < 2; fd++)
        was[fd] = dup(fd);
    for (int fd = 0; fd < 2; fd++)
        close(fd);
    code = program_run(2, argv, open_memory);
    file = dup(2);
    capture_end(&captured, &err_out);
    for (int fd = 0; fd < 2; fd++) {
        assert_true(dup2(was[fd], fd) >= 0);
        close(was[fd]);
    }
    clearerr(stdout);
    assert_true(file > 2);
    close(file);
    assert_int_equal(code, 1);
    assert_string_equal(text_str(&err_out), "error: write standard output: it is full or closed\n");
}

static void put_program(const char *path, const char *build_information) {
    _cleanup_(freep) char *image = image_make(build_information);

    assert_int_equal(host_write(program->host, path, image, IMAGE_SIZE, HOST_PUBLIC, NULL), 0);
}

static void bundle_words(const char *first, const char *second, const char *third) {
    text_list_free(&program->words);
    text_list_add(&program->words, first);
    text_list_add(&program->words, second);
    if (third)
        text_list_add(&program->words, third);
}

static void a_bundle_and_its_versions(void **state) {
    struct error err;

    (void)state;
    put_program("D:\\in\\kubelet.exe", "mod\tk8s.io/kubernetes\tv1.37.0\th1:x\n");
    put_program("D:\\in\\ctr.exe", NULL);
    bundle_words("create", "D:\\in", "D:\\out.zip");
    program->options.versions = (char *)"D:\\versions.json";
    assert_int_equal(verb(verb_bundle, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    put("D:\\versions.json", "{\"kubelet\":");
    assert_int_equal(verb(verb_bundle, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    assert_int_equal(host_file_type(program->host, "D:\\out.zip"), HOST_ABSENT);
    put("D:\\versions.json", "{\"kubelet\":\"v1.37.1\"}");
    assert_int_equal(verb(verb_bundle, &err), 0);
    assert_has(&out, "kubelet                    v1.37.1 ");
    program->options.versions = NULL;
    assert_int_equal(verb(verb_bundle, &err), 0);
    assert_has(&out, "kubelet                    v1.37.0 ");
    assert_has(&out, "ctr                        unknown ");
    assert_has(&err_out, "warning: ctr.exe has no version in it: give it with --versions FILE\n");
    assert_false(has(&err_out, "kubelet.exe does not"));
    assert_string_equal(json_text_at(program->result, "kind"), "BundleLock");
    bundle_words("verify", "D:\\out.zip", NULL);
    assert_int_equal(verb(verb_bundle, &err), 0);
    assert_string_equal(text_str(&out), "ok\n");
    assert_string_equal(json_text_at(program->result, "artifacts.0.name"), "kubelet");
}

static void bundles_are_compared(void **state) {
    struct error err;

    (void)state;
    put_program("D:\\in\\kubelet.exe", "mod\tk8s.io/kubernetes\tv1.37.0\th1:x\n");
    bundle_words("create", "D:\\in", "D:\\a.zip");
    assert_int_equal(verb(verb_bundle, &err), 0);
    put_program("D:\\in\\ctr.exe", NULL);
    bundle_words("create", "D:\\in", "D:\\b.zip");
    assert_int_equal(verb(verb_bundle, &err), 0);
    bundle_words("diff", "D:\\a.zip", "D:\\b.zip");
    assert_int_equal(verb(verb_bundle, &err), -1);
    assert_string_equal(err.message, "the bundles differ in 1 program");
    assert_string_equal(json_text_at(program->result, "differences.0.name"), "ctr");
    assert_null(json_at(program->result, "differences.0.from"));
}

/* What a bundle lacks is said for each kind of node, and warned of where it fits none. */
static void a_bundle_and_its_nodes(void **state) {
    static const char *const names[] = {"containerd", "kubelet", "kube-proxy", "win-overlay",
                                        "containerd-shim-runhcs-v1"};
    struct error err;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        _cleanup_(freep) char *path = xasprintf("D:\\in\\%s.exe", names[i]);

        put_program(path, "mod\tx\tv1.0.0\th1:x\n");
    }
    bundle_words("create", "D:\\in", "D:\\out.zip");
    assert_int_equal(verb(verb_bundle, &err), 0);
    assert_has(&out, "\n--network-mode --network-plugin missing\n"
                     "overlay        win-overlay      host-local\n"
                     "overlay        sdnoverlay       sdnoverlay, host-local\n"
                     "overlay        flannel          flanneld, host-local\n"
                     "l2bridge       win-bridge       win-bridge, host-local\n"
                     "l2bridge       sdnbridge        sdnbridge, host-local\n"
                     "l2bridge       flannel          flanneld, win-bridge, host-local\n");
    assert_has(&err_out, "warning: a node with network mode overlay and plugin win-overlay also "
                         "needs: host-local\n");
    put_program("D:\\in\\host-local.exe", "mod\tx\tv1.0.0\th1:x\n");
    assert_int_equal(verb(verb_bundle, &err), 0);
    assert_has(&out, "overlay        win-overlay      nothing\n");
    assert_string_equal(text_str(&err_out), "");
    program->options.join.network_plugin = xstrdup("flannel");
    assert_int_equal(verb(verb_bundle, &err), 0);
    assert_string_equal(text_str(&err_out),
                        "warning: a node with network mode overlay and plugin flannel also needs: "
                        "flanneld\nwarning: a node with network mode l2bridge and plugin flannel "
                        "also needs: flanneld, win-bridge\n");
    assert_string_equal(json_text_at(program->result, "nodes.1.missing.1"), "win-bridge");
    bundle_words("show", "D:\\out.zip", NULL);
    program->options.join.network_mode = xstrdup("overlay");
    assert_int_equal(verb(verb_bundle, &err), 0);
    assert_has(&out, "missing\noverlay        flannel          flanneld\n");
    assert_false(has(&out, "l2bridge"));
    assert_string_equal(text_str(&err_out), "");
    bundle_words("create", "D:\\in", "D:\\none.zip");
    free(program->options.join.network_mode);
    program->options.join.network_mode = xstrdup("l2bridge");
    free(program->options.join.network_plugin);
    program->options.join.network_plugin = xstrdup("win-overlay");
    assert_int_equal(verb(verb_bundle, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    assert_int_equal(host_file_type(program->host, "D:\\none.zip"), HOST_ABSENT);
    bundle_words("show", "D:\\out.zip", NULL);
    assert_int_equal(verb(verb_bundle, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    /* the cluster brings network and kube-proxy: told when asked */
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        _cleanup_(freep) char *path = xasprintf("D:\\ext\\%s.exe", names[i]);

        if (!text_equal(names[i], "kube-proxy") && !text_equal(names[i], "win-overlay"))
            put_program(path, "mod\tx\tv1.0.0\th1:x\n");
    }
    bundle_words("create", "D:\\ext", "D:\\ext.zip");
    freep(&program->options.join.network_mode);
    free(program->options.join.network_plugin);
    program->options.join.network_plugin = xstrdup("external");
    assert_int_equal(verb(verb_bundle, &err), 0);
    assert_has(&out, "missing\noverlay        external         nothing\n");
    assert_string_equal(text_str(&err_out), "");
}

/* preflight asks; it neither fixes nor waits nor gives the adapter back. */
static void preflight_changes_nothing(void **state) {
    struct host_facts facts;
    struct error err;

    (void)state;
    assert_int_equal(host_facts(program->host, &facts, NULL), 0);
    facts.containers_feature = 0;
    host_memory_set_facts(program->host, &facts);
    program->options.verbosity = 1;
    assert_int_equal(verb(verb_preflight, &err), -1);
    assert_int_equal(err.kind, ERROR_PREFLIGHT);
    assert_true(program->options.join.dry_run);
    assert_has(&out, " checks: ");
    assert_has(&out, "  !! ");
    assert_has(&out, "  ok ");
    assert_null(strstr(host_memory_log(program->host), "write "));
    assert_null(strstr(host_memory_log(program->host), "remove"));
    assert_int_equal(host_file_type(program->host, "C:\\ProgramData\\winjoin"), HOST_ABSENT);
    program->terminal = (struct terminal){.out_is_terminal = true, .utf8 = true, .color = true};
    assert_int_equal(verb(verb_preflight, &err), -1);
    assert_has(&out, "  \x1b[31m\xe2\x9c\x97\x1b[0m ");
    assert_has(&out, "  \x1b[32m\xe2\x9c\x93\x1b[0m ");
    program->options.verbosity = 0;
    assert_int_equal(verb(verb_preflight, &err), -1);
    assert_false(has(&out, "\x1b[32m"));
    assert_has(&out, " not run (-v 1 says why)\n");
}

/* A report as it was written, judged again: in each form, and in color where that is wanted. */
static void a_replayed_report(void **state) {
    static const struct {
        const char *format;
        bool color, no_color, terminal;
        const char *has, *lacks;
    } rows[] = {
        {NULL, true, false, true, "\x1b[", "{"},
        {NULL, true, true, true, "\xe2\x86\x92", "\x1b["},
        {NULL, true, false, false, "->", "\x1b["},
        {NULL, false, false, true, "\xe2\x86\x92", "\x1b["},
        {"text", false, false, false, "->", "<"},
        {"junit", true, false, true, "<testsuite", "\x1b["},
        {"html", true, false, true, "<html", "\x1b["},
    };
    const struct diag_flow_input input = {.node_name = "win-7k2"};
    struct diag_report report = {.node = (char *)"win-7k2", .network = (char *)"overlay x"};
    _cleanup_(freep) char *text = NULL;
    _cleanup_json_ json_t *json = NULL;
    struct error err;

    (void)state;
    diag_cells_make(&input, &report.cells);
    json = diag_report_json(&report);
    text = json_write(json);
    diag_cells_free(&report.cells);
    put("D:\\report.json", text);
    program->options.replay = (char *)"D:\\report.json";
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        program->options.output = (char *)rows[i].format;
        program->options.no_color = rows[i].no_color;
        program->terminal = (struct terminal){
            .out_is_terminal = rows[i].terminal, .utf8 = true, .color = rows[i].color};
        assert_int_equal(verb(verb_diag, &err), -1);
        assert_int_equal(err.kind, ERROR_FLOWS);
        if (!has(&out, rows[i].has) || has(&out, rows[i].lacks))
            fail_msg("row %zu: %s", i, text_str(&out));
        assert_null(program->result);
    }
    program->options.output = (char *)"json";
    assert_int_equal(verb(verb_diag, &err), -1);
    assert_int_equal(out.len, 0);
    assert_string_equal(json_text_at(program->result, "kind"), "DiagReport");
}

/* ---- progress on a terminal ---- */

static const struct join_phase kubelet = {.id = "kubelet", .title = "kubelet"};

static void show(struct progress *progress, const struct join_event *event) {
    struct capture captured;

    capture_begin(&captured, stderr);
    progress_show(progress, event);
    capture_end(&captured, &err_out);
}

#define EVENT(...)                                                                                 \
    &(const struct join_event) {                                                                   \
        .phase = &kubelet, .hint = "", __VA_ARGS__                                                 \
    }

static void progress_has_a_face_for_each_terminal(void **state) {
    static const struct {
        struct terminal terminal;
        const char *wanted;
        bool no_color;
        const char *waits, *done; /* what is shown */
    } rows[] = {
        {{.err_is_terminal = true, .utf8 = true, .color = true},
         NULL,
         false,
         "\r\x1b[K  \x1b[36m\xe2\xa0\x8b\x1b[0m kubelet        m (2 s)",
         "\r\x1b[K  \x1b[32m\xe2\x9c\x93\x1b[0m kubelet        d  (1.5 s)\n"},
        {{.err_is_terminal = true, .color = true},
         "auto",
         true,
         "\r\x1b[K  |  kubelet        m (2 s)",
         "\r\x1b[K  ok kubelet        d  (1.5 s)\n"},
        {{.err_is_terminal = true, .utf8 = true},
         NULL,
         false,
         "",
         "  \xe2\x9c\x93 kubelet        d  (1.5 s)\n"},
        {{.utf8 = true, .color = true}, NULL, false, "", "  ok kubelet        d  (1.5 s)\n"},
        {{.err_is_terminal = true, .color = true},
         "plain",
         false,
         "",
         "  \x1b[32mok\x1b[0m kubelet        d  (1.5 s)\n"},
        {{.err_is_terminal = true, .color = true}, "none", false, "", ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct progress progress;

        program->terminal = rows[i].terminal;
        program->options.progress = (char *)rows[i].wanted;
        program->options.no_color = rows[i].no_color;
        progress_open(&progress, program);
        show(&progress, EVENT(.state = JOIN_WAITING, .message = "m", .waited_ms = 2000));
        if (strcmp(text_str(&err_out), rows[i].waits) != 0)
            fail_msg("row %zu: '%s'", i, text_str(&err_out));
        show(&progress, EVENT(.state = JOIN_DONE, .message = "d", .duration_ms = 1500));
        if (strcmp(text_str(&err_out), rows[i].done) != 0)
            fail_msg("row %zu: '%s'", i, text_str(&err_out));
        progress_close(&progress);
    }
}

/* On a terminal the hint gets a line of its own, once; the waiting line comes again below it. */
static void a_hint_is_above_the_live_line(void **state) {
    static const struct {
        unsigned waited_ms;
        const char *shown;
    } rows[] = {
        {0, "\r\x1b[K  |  kubelet        m\r\x1b[K                    h\n"},
        {1000, "\r\x1b[K  |  kubelet        m (1 s)"},
        {14000, "\r\x1b[K  |  kubelet        m (14 s)"},
        {16000, "\r\x1b[K  |  kubelet        m (16 s)"},
    };
    struct progress progress;

    (void)state;
    program->options.progress = NULL;
    program->options.no_color = true;
    program->terminal = (struct terminal){.err_is_terminal = true, .color = true};
    progress_open(&progress, program);
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct join_event event = *EVENT(.state = JOIN_WAITING, .message = "m");

        event.waited_ms = rows[i].waited_ms;
        event.hint = "h";
        show(&progress, &event);
        if (strcmp(text_str(&err_out), rows[i].shown) != 0)
            fail_msg("%u: '%s'", rows[i].waited_ms, text_str(&err_out));
    }
    show(&progress, EVENT(.state = JOIN_DONE, .message = "d"));
    assert_string_equal(text_str(&err_out), "\r\x1b[K  ok kubelet        d\n");
    progress_close(&progress);
}

/* Without a terminal a wait is told after 3 s, then every 15 s, with its hint. */
static void a_wait_is_told_now_and_then(void **state) {
    static const struct {
        unsigned waited_ms;
        bool told;
    } rows[] = {{0, false},     {2999, false}, {3000, true},   {4000, false},
                {17999, false}, {18000, true}, {32999, false}, {33000, true}};
    struct progress progress;

    (void)state;
    progress_open(&progress, program);
    show(&progress, EVENT(.state = JOIN_BEGIN, .message = ""));
    assert_int_equal(err_out.len, 0);
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *line = xasprintf(
            "  .. kubelet        m (%u s)\n                    h\n", rows[i].waited_ms / 1000);
        struct join_event event = *EVENT(.state = JOIN_WAITING, .message = "m");

        event.waited_ms = rows[i].waited_ms;
        event.hint = "h";
        show(&progress, &event);
        if (strcmp(text_str(&err_out), rows[i].told ? line : "") != 0)
            fail_msg("%u: '%s'", rows[i].waited_ms, text_str(&err_out));
    }
    show(&progress, EVENT(.state = JOIN_WARNING, .message = "w"));
    assert_int_equal(err_out.len, 0);
    show(&progress, EVENT(.state = JOIN_FAILED, .message = "f", .duration_ms = 99));
    assert_string_equal(text_str(&err_out), "  !! kubelet        failed\n      ! w\n");
    show(&progress, EVENT(.state = JOIN_FAILED, .message = "f", .kind = ERROR_INTERRUPTED));
    assert_string_equal(text_str(&err_out), "  !! kubelet        interrupted\n");
    show(&progress, EVENT(.state = JOIN_FAILED, .message = "f", .kind = ERROR_TIMED_OUT));
    assert_string_equal(text_str(&err_out), "  !! kubelet        timed out\n");
    show(&progress, EVENT(.state = JOIN_SKIPPED, .message = "s"));
    assert_string_equal(text_str(&err_out), "  -- kubelet        s\n"); /* the warning is told */
    show(&progress, &(const struct join_event){.state = JOIN_WARNING, .message = "x", .hint = ""});
    assert_string_equal(text_str(&err_out), "warning: x\n");
    progress_close(&progress);
}

/* A request that is not answered, a service that does not stop: nobody tells, time goes by. */
static void a_wait_that_nobody_tells_of_is_shown(void **state) {
    const struct join_event asking = {
        .state = JOIN_WAITING, .message = "asking m", .hint = "", .left_ms = 60000};
    struct progress progress;
    struct capture captured;

    (void)state;
    for (int live = 0; live < 2; live++) {
        program->terminal = (struct terminal){.err_is_terminal = live, .color = live};
        program->options.no_color = true;
        progress_open(&progress, program);
        show(&progress, &asking);
        capture_begin(&captured, stderr);
        assert_int_equal(host_sleep(program->host, 2000, NULL), 0);
        capture_end(&captured, &err_out);
        if (live)
            assert_non_null(strstr(text_str(&err_out), "  asking m (2 s; gives up in 58 s)"));
        else
            assert_int_equal(err_out.len, 0);
        capture_begin(&captured, stderr);
        assert_int_equal(host_sleep(program->host, 3000, NULL), 0);
        capture_end(&captured, &err_out);
        if (!live)
            assert_string_equal(text_str(&err_out),
                                "  ..                asking m (3 s; gives up in 57 s)\n");
        show(&progress, EVENT(.state = JOIN_DONE, .message = "d"));
        capture_begin(&captured, stderr);
        assert_int_equal(host_sleep(program->host, 5000, NULL), 0);
        progress_close(&progress);
        assert_int_equal(host_sleep(program->host, 5000, NULL), 0);
        capture_end(&captured, &err_out);
        assert_int_equal(err_out.len, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables_of_the_environment),
        cmocka_unit_test_setup_teardown(a_wait_that_nobody_tells_of_is_shown, open_program,
                                        close_program),
        cmocka_unit_test(a_full_disk),
        cmocka_unit_test(closed_streams),
        cmocka_unit_test_setup_teardown(a_bundle_and_its_versions, open_program, close_program),
        cmocka_unit_test_setup_teardown(bundles_are_compared, open_program, close_program),
        cmocka_unit_test_setup_teardown(a_bundle_and_its_nodes, open_program, close_program),
        cmocka_unit_test_setup_teardown(preflight_changes_nothing, open_program, close_program),
        cmocka_unit_test_setup_teardown(a_replayed_report, open_program, close_program),
        cmocka_unit_test_setup_teardown(progress_has_a_face_for_each_terminal, open_program,
                                        close_program),
        cmocka_unit_test_setup_teardown(a_hint_is_above_the_live_line, open_program, close_program),
        cmocka_unit_test_setup_teardown(a_wait_is_told_now_and_then, open_program, close_program),
    };

    return cmocka_run_group_tests(tests, NULL, free_output);
}
