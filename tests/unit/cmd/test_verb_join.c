/* winjoin join, discover and reset as a person sees them: a cluster and a host in memory, what is
 * printed, which document is made, and what becomes of words, files and tokens before. */
#include "tests/scene/joining_scene.h"

/* ---- join ---- */

static void the_phases_are_listed(void **state) {
    json_t *groups;
    struct error err;

    (void)state;
    words("phase list");
    succeeds(verb_join);
    assert_true(text_starts_with(
        text_str(&out),
        "preflight               check that this machine can become a node\ndiscovery  "));
    assert_has(&out, "\n\nkubelet-start           kubeadm's name for certificate, files, kubelet\n"
                     "kubelet-wait-bootstrap  kubeadm's name for node\n");
    assert_string_equal(result_text("kind"), "JoinPhases");
    assert_string_equal(result_text("phases.0.id"), "preflight");
    groups = json_object_get(program->result, "groups");
    assert_int_equal(json_array_size(groups), 2);
    assert_string_equal(json_text_at(groups, "0.phases.2"), "kubelet");
    assert_int_equal(json_array_size(json_at(groups, "0.phases")), 3);
    words("phase");
    succeeds(verb_join);
    assert_string_equal(result_text("kind"), "JoinPhases");
    words("phase kubelets");
    assert_int_equal(verb(verb_join, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
}

static void a_join_is_told(void **state) {
    (void)state;
    words("10.0.0.10:6443");
    succeeds(verb_join);
    assert_true(text_starts_with(
        text_str(&err_out),
        "Joining win-7k2 (Windows Server 2022 Datacenter, 10.0.20348.2340) to 10.0.0.10:6443\n\n"));
    assert_true(
        text_starts_with(text_str(&out), "\nwin-7k2 is Ready; its pod network was not tested.  ("));
    assert_has(&out, " s)   winjoin status - winjoin diag - winjoin reset\n");
    assert_string_equal(result_text("kind"), "JoinResult");
    assert_null(program->phase);
    assert_int_equal(events("i", "winjoin join win-7k2: done"), 1);
}

static void a_silent_join(void **state) {
    (void)state;
    program->options.progress = (char *)"none";
    text_list_add(&program->options.join.skip_phases, "ready");
    succeeds(verb_join);
    assert_string_equal(text_str(&err_out), "");
    assert_true(text_starts_with(
        text_str(&out),
        "\nwin-7k2 was joined as far as requested; whether it is Ready was not checked.  ("));
}

static void a_join_in_json(void **state) {
    (void)state;
    program->options.progress = (char *)"json";
    program->options.output = (char *)"json";
    succeeds(verb_join);
    assert_true(text_starts_with(text_str(&err_out), "{\"time\":\""));
    assert_has(&err_out, "\"phase\":\"kubelet\",\"state\":\"done\"");
    assert_int_equal(out.len, 0);
}

static void a_join_that_fails(void **state) {
    struct error err;

    (void)state;
    r.scene.approve = false;
    r.scene.denied = "csr-1";
    assert_int_equal(verb(verb_join, &err), -1);
    assert_string_equal(program->phase, "certificate");
    assert_string_equal(result_text("kind"), "JoinResult");
    assert_false(has(&out, "Ready"));
    assert_has(&err_out, "  !! certificate    failed");
    assert_false(has(&err_out, "denied")); /* the error line says it */
    assert_true(text_starts_with(err.message, "certificate: "));
    assert_non_null(strstr(err.hints[0], "the same command continues at certificate"));
}

static void a_join_that_is_interrupted(void **state) {
    struct error err;

    (void)state;
    host_memory_interrupt(program->host);
    assert_int_equal(verb(verb_join, &err), -1);
    assert_int_equal(err.kind, ERROR_INTERRUPTED);
    assert_string_equal(err.hints[0], "nothing on this machine was changed");
}

static void interrupt_at_request(void *context, struct host *host) {
    struct run *run = context;

    scene_on_sleep(&run->scene, host);
    if (run->scene.request)
        host_memory_interrupt(host);
}

/* What was waited for is said once, in few words; no layer adds its own. */
static void an_interrupted_wait_is_named(void **state) {
    struct error err;

    (void)state;
    r.scene.approve = false;
    host_memory_on_sleep(r.host, interrupt_at_request, &r);
    assert_int_equal(verb(verb_join, &err), -1);
    assert_int_equal(err.kind, ERROR_INTERRUPTED);
    assert_string_equal(err.message,
                        "certificate: interrupted while waiting for csr-x7k2p to be approved");
    assert_has(&err_out, "  !! certificate    interrupted");
    assert_false(has(&err_out, "interrupted while"));
}

static void one_phase(void **state) {
    struct error err;

    (void)state;
    words("phase discovery 10.0.0.10:6443");
    succeeds(verb_join);
    assert_null(program->phase);
    assert_string_equal(result_text("kind"), "JoinResult");
    assert_string_equal(program->options.join.endpoint, "10.0.0.10:6443");
    assert_int_equal(program->words.count, 1);
    memset(program->options.join.discovery_token_ca_cert_hash.items[0] + 7, '0', 64);
    words("phase discovery 10.0.0.10:6443");
    assert_int_equal(verb(verb_join, &err), -1);
    assert_string_equal(program->phase, "discovery");
    assert_null(strstr(text_str(&err_out), "Joining"));
    assert_int_equal(events("i", "winjoin join win-7k2: done"), 1);
}

static void a_dry_run(void **state) {
    struct text_list files = {0};
    _cleanup_(freep) char *line = NULL;
    struct error err;

    (void)state;
    program->options.join.dry_run = true;
    text_list_add(&program->options.join.pod_cidrs, "10.244.3.0/24");
    host_memory_set_environment(program->host, "KUBEADM_JOIN_DRYRUN_DIR", "");
    succeeds(verb_join);
    assert_string_equal(result_text("kind"), "JoinPlan");
    assert_true(out.len > 0);
    assert_false(has(&out, "files written"));
    assert_int_equal(events("i", "winjoin join win-7k2: done"), 0);
    host_memory_set_environment(program->host, "KUBEADM_JOIN_DRYRUN_DIR", "D:\\plan");
    succeeds(verb_join);
    assert_int_equal(host_list(program->host, "D:\\plan", &files, NULL), 0);
    line =
        xasprintf("\n%zu files written to D:\\plan, without secrets and programs\n", files.count);
    assert_has(&out, line);
    assert_true(files.count > 3);
    text_list_free(&files);
    memset(program->options.join.discovery_token_ca_cert_hash.items[0] + 7, '0', 64);
    assert_int_equal(verb(verb_join, &err), -1);
    assert_string_equal(program->phase, "discovery");
    assert_int_equal(out.len, 0);
}

/* ---- discover ---- */

static void what_is_discovered(void **state) {
    _cleanup_(freep) char *line = xasprintf("server  " SCENE_SERVER "\nCA      %s\n", r.scene.pin);
    struct error err;

    (void)state;
    program->verb = verb_find(verbs, "discover");
    succeeds(verb_discover);
    assert_string_equal(text_str(&out), line);
    assert_string_equal(result_text("matchedPin"), r.scene.pin);
    assert_string_equal(result_text("server"), SCENE_SERVER);
    assert_string_equal(result_text("kubeconfig"), r.scene.kubeconfig);
    program->options.output = (char *)"kubeconfig";
    succeeds(verb_discover);
    assert_string_equal(text_str(&out), r.scene.kubeconfig);
    program->options.output = NULL;
    text_list_free(&program->options.join.discovery_token_ca_cert_hash);
    program->options.join.discovery_token_unsafe_skip_ca_verification = true;
    succeeds(verb_discover);
    assert_string_equal(text_str(&out),
                        "server  " SCENE_SERVER "\nCA      trusted without a CA hash\n");
    assert_has(&err_out, "warning: ");
    assert_string_equal(result_text("matchedPin"), "");
    freep(&program->options.join.endpoint);
    assert_int_equal(verb(verb_discover, &err), -1);
    assert_string_equal(err.message,
                        "no cluster given: an endpoint, --discovery-file or --config is missing");
    assert_string_equal(err.hints[0],
                        "winjoin discover <ip>:6443 --token T --discovery-token-ca-cert-hash H");
}

/* ---- reset ---- */

static void a_join_is_taken_back(void **state) {
    static const struct {
        bool dry;
        const char *progress;
        long long verbosity;
    } rows[] = {{true, "plain", 0},
                {true, "plain", 1},
                {true, "none", 1},
                {true, "json", 0},
                {false, "plain", 0}};

    (void)state;
    succeeds(verb_join);
    program->options.yes = true;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        size_t files = 0, folders = 0, at;
        _cleanup_(freep) char *line = NULL, *sum = NULL;
        json_t *entry, *entries;
        bool quiet = !text_equal(rows[i].progress, "plain");

        program->options.join.dry_run = rows[i].dry;
        program->options.progress = (char *)rows[i].progress;
        program->options.verbosity = rows[i].verbosity;
        succeeds(verb_reset);
        entries = json_object_get(program->result, "entries");
        assert_true(json_array_size(entries) > 10);
        json_array_foreach(entries, at, entry) {
            const char *what = json_text_at(entry, "what");
            bool file = !rows[i].dry && text_starts_with(what, "file "),
                 folder = text_starts_with(what, "folder ");
            _cleanup_(freep) char *said =
                xasprintf("  ok %s: %s\n", what, json_text_at(entry, "outcome"));

            files += file;
            folders += folder;
            if (has(&err_out, said) != (!quiet && (rows[i].verbosity || (!file && !folder))))
                fail_msg("row %zu: %s in %s", i, said, text_str(&err_out));
        }
        assert_true((files > 3 || rows[i].dry) && folders > 3);
        line = xasprintf("  ok %zu files, %zu folders (winjoin reset -v 1 names them)\n", files,
                         folders);
        assert_int_equal(has(&err_out, line), !quiet && !rows[i].verbosity);
        if (quiet)
            assert_int_equal(err_out.len, 0);
        sum = xasprintf("%lld items removed, %lld restored: the host is in its previous state\n"
                        "the Node object remains: kubectl delete node <name>\n"
                        "winjoin's logs and reports remain: C:\\ProgramData\\winjoin\n",
                        (long long)json_number_at(program->result, "removed", -1),
                        (long long)json_number_at(program->result, "restored", -1));
        assert_string_equal(text_str(&out),
                            rows[i].dry ? "nothing was changed (--dry-run)\n" : sum);
        assert_int_equal(json_number_at(program->result, "failed", -1), 0);
        assert_int_equal(events("i", "winjoin reset: done"), !rows[i].dry);
    }
}

static void what_cannot_be_taken_back(void **state) {
    struct error err;

    (void)state;
    succeeds(verb_join);
    program->options.yes = true;
    host_memory_fail(program->host, 40);
    assert_int_equal(verb(verb_reset, &err), -1);
    assert_string_equal(err.hints[0], "the rest stays in the journal: run winjoin reset again");
    assert_has(&err_out, "  !! ");
    assert_has(&err_out, "told to fail\n");
    assert_int_equal(json_number_at(program->result, "failed", 0), 1);
    assert_int_equal(out.len, 0);
}

/* What another program holds is named, of several files the one that was tried first. */
static void what_is_in_use_is_not_taken_back(void **state) {
    struct error err;

    (void)state;
    succeeds(verb_join);
    program->options.yes = true;
    host_memory_hold(program->host, "C:\\var\\lib\\kubelet\\config.yaml");
    host_memory_hold(program->host, "C:\\etc\\kubernetes\\pki\\ca.crt");
    assert_int_equal(verb(verb_reset, &err), -1);
    assert_int_equal(err.kind, ERROR_CONFLICT);
    assert_string_equal(err.message,
                        "remove 'C:\\var\\lib\\kubelet\\config.yaml': a program has it open (32)");
    assert_string_equal(
        err.hints[0],
        "close the program that uses it (Event Viewer opens winjoin.exe), or restart Windows");
    assert_string_equal(err.hints[1], "the rest stays in the journal: run winjoin reset again");
    assert_true(json_number_at(program->result, "failed", 0) >= 2);
    assert_has(&err_out, "  !! file C:\\etc\\kubernetes\\pki\\ca.crt: remove ");
    host_memory_hold(program->host, NULL);
    succeeds(verb_reset);
    assert_int_equal(json_number_at(program->result, "failed", -1), 0);
}

/* ---- words and files before a join ---- */

static void tokens_from_files(void **state) {
    static const struct {
        const char *data;
        size_t len;
        const char *token;
    } rows[] = {
#define BYTES(text) text, sizeof(text) - 1
        {BYTES("abc.def"), "abc.def"},
        {BYTES(" \t\r\nabc.def \t\r\n"), "abc.def"},
        {BYTES("\xef\xbb\xbf"
               "abc\r\n"),
         "abc"},
        {BYTES("\xef\xbb"
               "abc"),
         "\xef\xbb"
         "abc"},
        {BYTES("\xff\xfe"
               "a\0b\0\r\0\n\0"),
         "ab"},
        {BYTES("\xfe\xff"
               "\0a\0b\0\r\0\n"),
         "ab"},
        {BYTES("\xff\xfe"
               "a\1b\0"),
         "\xc5\xa1"
         "b"},
        {BYTES("\xff\xfe"
               "a\0b"),
         NULL},
        {BYTES("a\0b"), "a?b"},
        {BYTES("\xff\xfe"), ""},
        {BYTES(""), ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct error err = {0};

        assert_int_equal(
            host_write(program->host, "D:\\token", rows[i].data, rows[i].len, HOST_SECRET, NULL),
            0);
        free(program->options.join.token_file);
        program->options.join.token_file = xstrdup("D:\\token");
        (void)program_prepare_join(program, &err); /* which may find it to be no token */
        if (rows[i].token)
            assert_string_equal(program->options.join.token, rows[i].token);
        else
            assert_non_null(strstr(err.message, "UTF-16 text of an odd number of bytes"));
    }
}

/* "--token -": the secret is in no command line. */
static void a_token_from_standard_input(void **state) {
    (void)state;
    for (int by_file = 0; by_file < 2; by_file++) {
        struct join_options *o = &program->options.join;
        FILE *file = tmpfile();
        struct error err = {0};
        int was = dup(fileno(stdin));

        assert_non_null(file);
        assert_true(fputs("\t" SCENE_TOKEN "\r\n", file) >= 0);
        rewind(file);
        assert_true(dup2(fileno(file), fileno(stdin)) >= 0);
        clearerr(stdin);
        free(o->token);
        o->token = by_file ? NULL : xstrdup("-");
        o->token_file = by_file ? xstrdup("-") : NULL;
        words("10.0.0.10:6443");
        if (program_prepare_join(program, &err) < 0)
            fail_msg("%s", err.message);
        assert_string_equal(o->token, SCENE_TOKEN);
        assert_true(dup2(was, fileno(stdin)) >= 0);
        close(was);
        (void)fclose(file);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        JOIN_TEST(the_phases_are_listed),
        JOIN_TEST(a_join_is_told),
        JOIN_TEST(a_silent_join),
        JOIN_TEST(a_join_in_json),
        JOIN_TEST(a_join_that_fails),
        JOIN_TEST(a_join_that_is_interrupted),
        JOIN_TEST(an_interrupted_wait_is_named),
        JOIN_TEST(one_phase),
        JOIN_TEST(a_dry_run),
        JOIN_TEST(what_is_discovered),
        JOIN_TEST(a_join_is_taken_back),
        JOIN_TEST(what_cannot_be_taken_back),
        JOIN_TEST(what_is_in_use_is_not_taken_back),
        JOIN_TEST(tokens_from_files),
        JOIN_TEST(a_token_from_standard_input),
    };

    return cmocka_run_group_tests(tests, NULL, free_output);
}
