/* Preflight: a fit server passes, nothing that the host does not answer passes in silence, whose
 * fault a failure is, which names are ignored, the report. */
#include <stdio.h>

#include "tests/scene/preflight_scene.h"

#include "join/configuration/join_options.h"
#include "join/found/need.h"
#include "join/preflight/preflight_checks.h"

static void nothing(void) {
}

static void a_fit_server_passes(void **state) {
    struct look look;
    struct error err = {0};
    json_t *before, *after;

    (void)state;
    open_fit();
    before = host_memory_state(r.host);
    open_look(&look, true);
    for (size_t i = 0; i < look.count; i++)
        if (look.results[i].outcome != PREFLIGHT_PASS && !text_equal(look.results[i].id, "Bundle"))
            fail_msg("%s: %s: %s", look.results[i].id,
                     preflight_outcome_names[look.results[i].outcome], look.results[i].message);
    assert_int_equal(result_of(&look, "Bundle")->outcome, PREFLIGHT_NOT_RUN);
    assert_int_equal(preflight_judge(look.results, look.count, &err), 0);
    close_look(&look);
    after = host_memory_state(r.host);
    assert_same(before, after, "preflight");
    json_decref(before);
    json_decref(after);
    close_run(&r);
}

/* Each question to the host fails once; the report then differs from the fit one. */
static void no_silence_passes(void **state) {
    enum preflight_outcome fit[100] = {0};
    struct error err = {0};
    struct look look;
    size_t calls;

    (void)state;
    open_fit();
    look = (struct look){.join = {.host = r.host, .http = r.http, .asked = &r.options}};
    assert_int_equal(join_open(&look.join, &err), 0);
    calls = host_memory_calls(r.host);
    look.results = preflight_run(&look.join, false, &look.count);
    calls = host_memory_calls(r.host) - calls;
    assert_in_range(look.count, 30, ARRAY_SIZE(fit));
    for (size_t i = 0; i < look.count; i++)
        fit[i] = look.results[i].outcome;
    close_look(&look);
    close_run(&r);
    assert_true(calls > 20);
    for (size_t n = 1; n <= calls; n++) {
        bool told = false;

        open_fit();
        look = (struct look){.join = {.host = r.host, .http = r.http, .asked = &r.options}};
        assert_int_equal(join_open(&look.join, &err), 0);
        host_memory_fail(r.host, n);
        look.results = preflight_run(&look.join, false, &look.count);
        for (size_t i = 0; i < look.count; i++)
            told |= look.results[i].outcome != fit[i];
        if (!told)
            fail_msg("call %zu of %zu failed and nothing was said: %s", n, calls,
                     host_memory_failed(r.host));
        close_look(&look);
        close_run(&r);
    }
}

static void a_partly_disabled_ipv6_is_fine(void **state) {
    struct look look;

    (void)state;
    open_fit();
    ipv6_partly();
    open_look(&look, false);
    assert_int_equal(result_of(&look, "IPv6Stack")->outcome, PREFLIGHT_PASS);
    close_look(&look);
    close_run(&r);
}

static void a_minute_is_no_skew(void **state) {
    static const int differences[] = {-61, -60, 60, 61};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(differences); i++) {
        struct look look;

        open_fit();
        cluster.date = host_now(r.host) + differences[i];
        open_look(&look, true);
        assert_int_equal(result_of(&look, "ClockSkew")->outcome,
                         i % 3 ? PREFLIGHT_PASS : PREFLIGHT_WARNING);
        close_look(&look);
        close_run(&r);
    }
}

/* Without the right to list the Nodes their prefixes are not compared, and nothing is said. */
static void nodes_that_may_not_be_listed(void **state) {
    struct error err = {0};
    struct join join;

    (void)state;
    open_fit();
    text_list_add(&r.options.pod_cidrs, "10.244.6.0/23");
    cluster.refuse = "/api/v1/nodes?";
    open_join(&r, &join);
    assert_int_equal(join_need(&join, NEED_PLAN, &err), 0);
    assert_said(network_fit_check_nodes(&join, &err), &err, "the Nodes");
    assert_int_equal(err.kind, ERROR_NONE);
    join_close(&join);
    close_run(&r);
}

/* What the host says stays one line, cut where it is too long, and never in the middle of an
 * escape. */
static void what_a_check_says(void **state) {
    struct check_finding finding = {0};
    char line[400];

    (void)state;
    assert_int_equal(check_say(&finding, CHECK_UNKNOWN, "%s", "a\nb\x1b"), CHECK_UNKNOWN);
    assert_string_equal(finding.message, "could not check: a\\nb\\x1b");
    memset(line, 'x', sizeof line);
    line[sizeof line - 1] = '\0';
    assert_int_equal(check_say(&finding, CHECK_WARN, "%s", line), CHECK_WARN);
    assert_int_equal(strlen(finding.message), sizeof finding.message - 1);
    line[297] = '\x1b'; /* "\x1b" would not fit */
    assert_int_equal(check_say(&finding, CHECK_NOT_RUN, "%s", line), CHECK_NOT_RUN);
    assert_int_equal(strlen(finding.message), 297);
    assert_null(strchr(finding.message, '\\'));
}

/* kubeadm: RunRootCheckOnly. */
static void without_rights_nothing_else_is_asked(void **state) {
    struct error err = {0};
    struct look look;

    (void)state;
    open_fit();
    not_elevated();
    open_look(&look, true);
    for (size_t i = 1; i < look.count; i++)
        assert_int_equal(look.results[i].outcome, PREFLIGHT_NOT_RUN);
    assert_int_equal(preflight_judge(look.results, look.count, &err), -1);
    assert_int_equal(err.kind, ERROR_PREFLIGHT);
    close_look(&look);
    text_list_add(&r.options.ignore_preflight_errors, "isprivilegeduser");
    open_look(&look, true);
    assert_int_equal(look.results[0].outcome, PREFLIGHT_IGNORED);
    assert_int_equal(look.results[1].outcome, PREFLIGHT_PASS);
    close_look(&look);
    close_run(&r);
}

static void judged_as(void (*first)(void), void (*second)(void), enum error_kind kind) {
    struct error err = {0};
    struct look look;

    open_fit();
    first();
    second();
    open_look(&look, true);
    assert_int_equal(preflight_judge(look.results, look.count, &err), -1);
    if (err.kind != kind)
        fail_msg("%s: %s", error_kind_name(err.kind), err.hints[0]);
    close_look(&look);
    close_run(&r);
}

/* The exit code says what to do: 2 fix the host, 4 never again blindly, 6 restart, 1 later. */
static void the_kind_says_whose_fault_it_is(void **state) {
    (void)state;
    judged_as(port_10250, nothing, ERROR_PREFLIGHT);
    judged_as(port_10250, restart, ERROR_PREFLIGHT);
    judged_as(restart, nothing, ERROR_RESTART);
    judged_as(wrong_pin, nothing, ERROR_UNTRUSTED);
    judged_as(wrong_pin, port_10250, ERROR_UNTRUSTED);
    judged_as(no_rights, nothing, ERROR_DENIED);
    judged_as(no_rights, port_10250, ERROR_PREFLIGHT);
    judged_as(name_taken, nothing, ERROR_PREFLIGHT);
}

static void ids_have_several_spellings(void **state) {
    static const struct {
        const char *given, *id;
        bool same;
    } rows[] = {
        {"Port-10250", "Port-10250", true},
        {"port-10250", "Port-10250", true},
        {"PORT-10250", "Port-10250", true},
        {"Port-1025", "Port-10250", false},
        {"all", "Port-10250", true},
        {"ALL", "Port-10250", true},
        {"alll", "Port-10250", false},
        {"FileAvailable--etc-kubernetes-kubelet.conf", "FileAvailable--etc-kubernetes-kubelet.conf",
         true},
        {"FileAvailable-\\etc\\kubernetes\\kubelet.conf",
         "FileAvailable--etc-kubernetes-kubelet.conf", true},
        {"FileAvailable-C:\\etc\\kubernetes\\kubelet.conf",
         "FileAvailable--etc-kubernetes-kubelet.conf", true},
        {"fileavailable-c:/etc/kubernetes/kubelet.conf",
         "FileAvailable--etc-kubernetes-kubelet.conf", true},
        {"FileAvailable--etc-kubernetes-pki-ca.crt", "FileAvailable-C:-etc-kubernetes-pki-ca.crt",
         true},
        {"FileAvailable-C:-etc-kubernetes-pki-ca.crt", "FileAvailable-C:-etc-kubernetes-pki-ca.crt",
         true},
        {"FileAvailable--etc-kubernetes-kubelet.conf",
         "FileAvailable--etc-kubernetes-bootstrap-kubelet.conf", false},
        {"-c:", "Port-10250", false},
        {"", "Port-10250", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct text_list list = {0};

        text_list_add(&list, rows[i].given);
        if (ignored_checks_have(&list, rows[i].id) != rows[i].same)
            fail_msg("%s and %s", rows[i].given, rows[i].id);
        text_list_free(&list);
    }
}

static void an_ignored_error_is_a_warning(void **state) {
    struct error err = {0};
    struct look look;

    (void)state;
    open_fit();
    port_10250();
    no_page_file();
    text_list_add(&r.options.ignore_preflight_errors, "PORT-10250");
    text_list_add(&r.options.ignore_preflight_errors, "PageFile");
    open_look(&look, false);
    assert_int_equal(result_of(&look, "Port-10250")->outcome, PREFLIGHT_IGNORED);
    assert_int_equal(result_of(&look, "PageFile")->outcome, PREFLIGHT_WARNING);
    assert_int_equal(preflight_judge(look.results, look.count, &err), 0);
    close_look(&look);
    close_run(&r);
}

/* Ctrl-C while the cluster is asked: no word of failed checks. */
static void an_interrupted_look_says_so(void **state) {
    struct preflight_result results[] = {
        {.id = "Discovery",
         .level = PREFLIGHT_ERROR,
         .outcome = PREFLIGHT_ERROR,
         .cause = ERROR_INTERRUPTED},
        {.id = "Bundle", .level = PREFLIGHT_ERROR, .outcome = PREFLIGHT_ERROR, .cause = ERROR_HOST},
    };
    struct error err = {0};

    (void)state;
    assert_int_equal(preflight_judge(results, ARRAY_SIZE(results), &err), -1);
    assert_int_equal(err.kind, ERROR_INTERRUPTED);
    assert_string_equal(err.message, "preflight: Discovery: interrupted");
    assert_string_equal(err.hints[0], "");
}

/* kubeadm takes any name; winjoin says which means nothing. */
static void an_unknown_name_is_told(void **state) {
    struct text_list given = {0}, warnings = {0};

    (void)state;
    text_list_add(&given, "Port-10250");
    text_list_add(&given, "Swap");
    text_list_add(&given, "NumCPU");
    text_list_add(&given, "PagFile");
    preflight_names(&given); /* each of its own is known */
    preflight_unknown_names(&given, &warnings);
    assert_int_equal(warnings.count, 1);
    assert_non_null(strstr(warnings.items[0], "PagFile"));
    text_list_free(&given);
    text_list_free(&warnings);
}

static void the_report_is_as_documented(void **state) {
    struct look look;
    json_t *report, *row;
    size_t i;

    (void)state;
    open_fit();
    port_10250();
    open_look(&look, false);
    report = preflight_report_json(look.results, look.count);
    assert_string_equal(json_text_at(report, "apiVersion"), "winjoin.io/v1alpha1");
    assert_string_equal(json_text_at(report, "kind"), "PreflightReport");
    json_array_foreach(json_object_get(report, "checks"), i, row) {
        bool bad = text_equal(json_text_at(row, "id"), "Port-10250");

        assert_string_equal(json_text_at(row, "id"), look.results[i].id);
        assert_non_null(json_text_at(row, "level"));
        assert_string_equal(json_text_at(row, "outcome"), bad ? "error" : "pass");
        assert_int_equal(json_object_get(row, "message") != NULL, bad);
        assert_int_equal(json_object_get(row, "hint") != NULL, bad);
    }
    assert_int_equal(i, look.count);
    json_decref(report);
    close_look(&look);
    close_run(&r);
}

/* More errors than hints: the rest is counted. */
static void many_errors_are_counted(void **state) {
    struct error err = {0};
    struct look look;
    size_t first = 0;

    (void)state;
    open_fit();
    port_10250();
    port_10248();
    port_10256();
    port_10249();
    kubelet_conf();
    open_look(&look, false);
    assert_int_equal(preflight_judge(look.results, look.count, &err), -1);
    assert_non_null(strstr(err.message, "5 of"));
    assert_non_null(strstr(err.hints[3], "and 2 more"));
    while (look.results[first].outcome != PREFLIGHT_ERROR)
        first++;
    look.results[first].outcome = PREFLIGHT_PASS;
    error_clear(&err);
    assert_int_equal(preflight_judge(look.results, look.count, &err), -1);
    assert_true(text_starts_with(err.hints[3], "["));
    close_look(&look);
    close_run(&r);
}

/* Each file of a bundle has the digest that its lock says. */
static void a_bundle_is_verified(void **state) {
    static const char lock[] =
        "{\"apiVersion\":\"winjoin.io/v1alpha1\",\"kind\":\"BundleLock\",\"artifacts\":[{\"name\":"
        "\"kubelet\",\"version\":\"1\",\"sha256\":"
        "\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\",\"size\":3,"
        "\"path\":\"kubelet.exe\"}]}";
    struct look look;

    (void)state;
    for (int wrong = 0; wrong < 2; wrong++) {
        open_fit();
        put("D:\\b\\winjoin.lock", lock);
        put("D:\\b\\kubelet.exe", wrong ? "abd" : "abc");
        r.options.bundle = xstrdup("D:\\b");
        open_look(&look, true);
        assert_int_equal(result_of(&look, "Bundle")->outcome,
                         wrong ? PREFLIGHT_ERROR : PREFLIGHT_PASS);
        close_look(&look);
        close_run(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fit_server_passes),
        cmocka_unit_test(no_silence_passes),
        cmocka_unit_test(a_partly_disabled_ipv6_is_fine),
        cmocka_unit_test(a_minute_is_no_skew),
        cmocka_unit_test(nodes_that_may_not_be_listed),
        cmocka_unit_test(what_a_check_says),
        cmocka_unit_test(without_rights_nothing_else_is_asked),
        cmocka_unit_test(the_kind_says_whose_fault_it_is),
        cmocka_unit_test(ids_have_several_spellings),
        cmocka_unit_test(an_ignored_error_is_a_warning),
        cmocka_unit_test(an_interrupted_look_says_so),
        cmocka_unit_test(an_unknown_name_is_told),
        cmocka_unit_test(the_report_is_as_documented),
        cmocka_unit_test(many_errors_are_counted),
        cmocka_unit_test(a_bundle_is_verified),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
