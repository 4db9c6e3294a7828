/* The program as a person calls it, on a host in memory: words in, what is printed and the exit
 * code out; and the verbs that need a terminal, with one that is played. */
#include "program_scene.h"

#include "cmd/output.h"
#include "cmd/progress.h"
#include "diag/reports/report.h"
#include "join/phases/phases.h"
#include "tests/unit/program_image.h"

static const struct {
    const char *line;
    int code;
    const char *out, *err; /* parts; "" = nothing at all */
} calls[] = {
    {"version", 0, "winjoin", ""},
    {"--version", 0, "winjoin", ""},
    {"version -o json", 0, "{\n", ""},
    {"version -o yaml", 0, ": ", ""},
    {"", 0, "join", ""},
    {"help status", 0, "winjoin status", ""},
    {"status --help", 0, "winjoin status", ""},
    {"status /?", 0, "winjoin status", ""},
    {"-? status", 0, "winjoin status", ""},
    {"help -o man", 3, "", "invalid value \"man\" for --output"},
    {"jion", 3, "", "error: unknown command"},
    {"jion", 3, "", "join"},
    {"-v 3 version", 0, "winjoin", ""},
    {"-o json version", 0, "{\n", ""},
    {"--output=json version", 0, "{\n", ""},
    {"--output json jion", 3, "\"message\": \"unknown command", "did you mean winjoin join?"},
    {"status --rotfs x -o json", 3, "\"message\": \"unknown flag: --rotfs\"", "error: "},
    {"status --rotfs -o yaml", 3, "  message: 'unknown flag: --rotfs'", "error: "},
    {"--token x join", 3, "", "hint: put a command's own flags after it"},
    {"jion -o json", 3, "\"kind\": \"usage\"", "error: unknown command"},
    {"join a:1 b -o json", 3, "\"kind\": \"usage\"", "error: unexpected"},
    {"join --vni x --dsr y -o json", 3, "for --vni", "for --vni"},
    /* an unknown letter: a hint only where the word is near a flag's name */
    {"status -zzz", 3, "",
     "error: unknown shorthand flag: 'z' in -zzz\nhint: winjoin status "
     "--help lists the flags\n"},
    {"status -output json", 3, "", "invalid value \"utput\" for --output"},
    {"status -rootfs x", 3, "", "hint: did you mean --rootfs?\n"},
    {"status -rotfs x", 3, "", "hint: did you mean --rootfs?\n"},
    {"status --rotfs x", 3, "", "hint: did you mean --rootfs?\n"},
    {"status --output", 3, "", "flag needs an argument: --output"},
    {"status -o man", 3, "", "invalid value \"man\" for --output"},
    {"status -o junit", 3, "", "invalid value \"junit\" for --output"},
    {"status -o kubeconfig", 3, "", "invalid value \"kubeconfig\" for --output"},
    {"diag -o man", 3, "", "invalid value \"man\" for --output"},
    {"diag -o kubeconfig", 3, "", "invalid value \"kubeconfig\" for --output"},
    {"discover -o html", 3, "", "invalid value \"html\" for --output"},
    {"help -o html", 3, "", "invalid value \"html\" for --output"},
    {"version --log-file no/such/folder/log", 3, "", "open log file 'no/such/folder/log'"},
    {"diag --kubeconfig k", 3, "", "this version diagnoses the node it runs on only"},
    {"diag --replay C:\\none.json -o html", 1, "", "none.json"},
    {"bundle", 3, "", "error: winjoin bundle: its command is missing\nhint: winjoin bundle --help"},
    {"bundle verfy a", 3, "",
     "unknown command \"bundle verfy\"\nhint: did you mean winjoin bundle verify?"},
    {"bundle show", 3, "", "error: FILE is missing: winjoin bundle show FILE"},
    {"bundle create a", 3, "", "error: FILE is missing: winjoin bundle create DIR FILE.zip"},
    {"bundle create a b c", 3, "",
     "unexpected argument \"c\"\nhint: winjoin bundle create DIR FILE.zip"},
    {"config", 3, "", "error: winjoin config: its command is missing"},
    {"config valdate", 3, "",
     "unknown command \"config valdate\"\nhint: did you mean winjoin config validate?"},
    {"config validate f", 3, "",
     "unexpected argument \"f\"\nhint: winjoin config validate --config FILE"},
    {"config validate --vni 5000", 3, "", "--vni is not a flag of winjoin config validate"},
    {"config print", 3, "", "the argument is missing: use join-defaults"},
    {"config print joindefaults", 3, "", "hint: did you mean join-defaults?"},
    {"config print join-defaults x", 3, "", "unexpected argument \"x\""},
    {"completion", 3, "", "the argument is missing: use one of powershell, bash"},
    {"completion powershel", 3, "", "hint: did you mean powershell?"},
    {"help conifg", 3, "", "hint: did you mean winjoin config?"},
    {"help config valdate", 3, "", "hint: did you mean winjoin config validate?"},
    {"status foo", 3, "", "unexpected argument \"foo\"\nhint: winjoin status [flags]"},
    {"certs renew", 3, "", "unexpected argument \"renew\""},
    {"reset all", 3, "", "unexpected argument \"all\""},
    {"diag report.json", 3, "", "unexpected argument \"report.json\""},
    {"diag replay r.json", 3, "", "unexpected argument \"replay\"\nhint: did you mean --replay?"},
    {"version json", 3, "", "unexpected argument \"json\""},
    {"capabilities x", 3, "", "unexpected argument \"x\""},
    {"preflight a:1 b:1", 3, "", "unexpected argument \"b:1\""},
    {"join phse list", 3, "", "hint: did you mean winjoin join phase?"},
    {"service star x", 3, "", "unknown argument \"star\": use run"},
    {"bundle show C:\\no.zip", 3, "", "no.zip"},
    {"bundle verify C:\\no.zip -o json", 3, "\"kind\": \"usage\"", "no.zip"},
};

static void calls_and_answers(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
        int code = call(calls[i].line);

        if (code != calls[i].code)
            fail_msg("winjoin %s: %d\n%s%s", calls[i].line, code, text_str(&out),
                     text_str(&err_out));
        if (*calls[i].out ? !has(&out, calls[i].out) : out.len)
            fail_msg("winjoin %s: output: %s", calls[i].line, text_str(&out));
        if (*calls[i].err ? !has(&err_out, calls[i].err) : err_out.len)
            fail_msg("winjoin %s: error: %s", calls[i].line, text_str(&err_out));
    }
}

static void variables_of_the_environment(void **state) {
    static const struct {
        const char *variable, *out, *warning;
    } rows[] = {
        {"WINJOIN_OUTPUT", "{\n", ""},
        {"WINJOIN_NETWORK_MODE", "winjoin", ""}, /* another verb's */
        {"WINJOIN_OUTPUTT", "winjoin",
         "warning: environment variable WINJOIN_OUTPUTT stands for no flag and is not used (did "
         "you "
         "mean WINJOIN_OUTPUT?)\n"},
        {"WINJOIN_QQQQQQ", "winjoin",
         "warning: environment variable WINJOIN_QQQQQQ stands for no flag and is not used\n"},
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
    variable = NULL;
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

/* A token that a mistake has glued to something else, or has put in a wrong place. */
static void tokens_in_wrong_places(void **state) {
    static const char *const lines[] = {
        "join 10.0.0.10:6443 --tokenabcdef.0123456789abcdef",
        "join 10.0.0.10:6443 abcdef.0123456789abcdef.",
        "join 10.0.0.10:6443 -xabcdef.0123456789abcdef",
        "join 10.0.0.10:6443 --vni xabcdef.0123456789abcdef",
        "join 10.0.0.10:6443 --verify abcdef.0123456789abcdefx",
        "join --token=x https://abcdef.0123456789abcdef@10.0.0.10:6443",
        "join phase abcdef.0123456789abcdef",
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxabcdef.0123456789abcdef",
        "abcdef.0123456789abcdef",
        "status -o xxxxxxxxxxxxxxxxxxabcdef.0123456789abcdef",
        "config validate --config C:\\abcdef.0123456789abcdef",
        "config printabcdef.0123456789abcdef",
        "help abcdef.0123456789abcdefg",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
        assert_int_equal(call(lines[i]), 3);
        if (has(&out, "0123") || has(&err_out, "0123"))
            fail_msg("%s: %s%s", lines[i], text_str(&out), text_str(&err_out));
    }
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
    assert_has(&err_out,
               "warning: ctr.exe does not say its version: give it with --versions FILE\n");
    assert_false(has(&err_out, "kubelet.exe does not"));
    assert_string_equal(json_text_at(program->result, "kind"), "BundleLock");
    bundle_words("verify", "D:\\out.zip", NULL);
    assert_int_equal(verb(verb_bundle, &err), 0);
    assert_string_equal(text_str(&out), "ok\n");
    assert_string_equal(json_text_at(program->result, "artifacts.0.name"), "kubelet");
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
                     "overlay        flannel          flanneld, host-local\n"
                     "l2bridge       win-bridge       win-bridge, host-local\n"
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
}

/* preflight asks; it neither mends nor waits nor gives the card back. */
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
    const struct diag_scene scene = {.node_name = "win-7k2"};
    struct diag_report report = {.node = (char *)"win-7k2", .network = (char *)"overlay x"};
    _cleanup_(freep) char *text = NULL;
    _cleanup_json_ json_t *json = NULL;
    struct error err;

    (void)state;
    diag_cells_make(&scene, &report.cells);
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
         "\r\x1b[K  \x1b[36m\xe2\x80\xa6\x1b[0m kubelet        m  2 s",
         "\r\x1b[K  \x1b[32m\xe2\x9c\x93\x1b[0m kubelet        d  (1.5 s)\n"},
        {{.err_is_terminal = true, .color = true},
         "auto",
         true,
         "\r\x1b[K  .. kubelet        m  2 s",
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
    assert_string_equal(text_str(&err_out), "  !! kubelet        f\n      ! w\n");
    show(&progress, EVENT(.state = JOIN_SKIPPED, .message = "s"));
    assert_string_equal(text_str(&err_out), "  -- kubelet        s\n"); /* the warning is told */
    show(&progress, &(const struct join_event){.state = JOIN_WARNING, .message = "x", .hint = ""});
    assert_string_equal(text_str(&err_out), "warning: x\n");
    progress_close(&progress);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_and_answers),
        cmocka_unit_test(variables_of_the_environment),
        cmocka_unit_test(a_full_disk),
        cmocka_unit_test(closed_streams),
        cmocka_unit_test(tokens_in_wrong_places),
        cmocka_unit_test_setup_teardown(a_bundle_and_its_versions, open_program, close_program),
        cmocka_unit_test_setup_teardown(a_bundle_and_its_nodes, open_program, close_program),
        cmocka_unit_test_setup_teardown(preflight_changes_nothing, open_program, close_program),
        cmocka_unit_test_setup_teardown(a_replayed_report, open_program, close_program),
        cmocka_unit_test_setup_teardown(progress_has_a_face_for_each_terminal, open_program,
                                        close_program),
        cmocka_unit_test_setup_teardown(a_wait_is_told_now_and_then, open_program, close_program),
    };

    return cmocka_run_group_tests(tests, NULL, free_output);
}
