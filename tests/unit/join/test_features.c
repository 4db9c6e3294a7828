/* --install-features: when dism.exe is started, and what its exit code means. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "join/phases/phases.h"
#include "join/preflight/preflight.h"
#include "tests/scene/preflight_scene.h"

static bool through_phase;

/* What comes of it on a machine whose feature is in this state. */
static int install(int state, bool asked, bool dry, struct error *err) {
    struct join join = {.host = r.host, .http = r.http, .asked = &r.options};
    int result;

    r.options.install_features = asked;
    r.options.dry_run = dry;
    assert_int_equal(join_open(&join, err), 0);
    join.found.facts.containers_feature = state;
    result = through_phase ? phase_preflight(&join, err) : features_install(&join, err);
    join_close(&join);
    return result;
}

static unsigned started;
static bool count(void *context, struct host *host, const struct host_process *process,
                  int *ret_code, struct text *ret_said, struct error *err) {
    (void)host, (void)ret_code, (void)ret_said, (void)err, (void)context;
    if (strstr(process->argv[0], "\\dism.exe")) {
        started++;
        assert_string_equal(process->argv[3], "/featurename:Containers");
        assert_string_equal(process->argv[5], "/norestart");
    }
    return false;
}

static void what_dism_says(void **state) {
    static const struct {
        int code;
        enum error_kind kind;
        const char *output, *message;
    } rows[] = {
        {0, ERROR_NONE, "The operation completed successfully.\r\n", ""},
        {3010, ERROR_RESTART, "",
         "the Windows feature Containers is installed; a restart of Windows is needed first"},
        {14098, ERROR_HOST,
         "\r\nError: 14098\r\n\r\nThe component store has been corrupted.\r\n\r\n",
         "install the Windows feature Containers: dism.exe failed with exit code 14098: The "
         "component store has been corrupted."},
        {5, ERROR_HOST, "",
         "install the Windows feature Containers: dism.exe failed with exit code 5: "},
    };

    (void)state;
    open_fit();
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct error err = {0};

        host_memory_set_program(r.host, "dism.exe", rows[i].code, rows[i].output);
        assert_int_equal(install(0, true, false, &err), rows[i].kind ? -1 : 0);
        assert_int_equal(err.kind, rows[i].kind);
        assert_string_equal(err.message, rows[i].message);
    }
    assert_int_equal(error_exit_code(ERROR_RESTART), 6);
    close_run(&r);
}

static void when_it_is_not_started(void **state) {
    struct error err = {0};

    (void)state;
    open_fit();
    host_memory_on_run(r.host, count, NULL);
    host_memory_set_program(r.host, "dism.exe", 3010, "");
    started = 0;
    assert_int_equal(install(0, false, false, &err), 0);
    assert_int_equal(install(0, true, true, &err), 0);
    assert_int_equal(install(1, true, false, &err), 0);
    assert_int_equal(install(-1, true, false, &err), 0);
    assert_int_equal(started, 0);
    through_phase = true;
    assert_int_equal(install(0, true, false, &err), -1);
    assert_int_equal(err.kind, ERROR_RESTART);
    assert_int_equal(started, 1);
    through_phase = false;
    close_run(&r);
}

/* ---- Hyper-V ---- */

static struct {
    const char *handler, *build; /* of the only RuntimeClass; no handler: there is none */
    unsigned status;             /* of the list; 0: it is answered */
    bool interrupted;            /* Ctrl-C, while it is asked for */
} classes;

static int answer_classes(void *context, const struct http_request *request,
                          struct http_response *ret, struct error *err) {
    json_t *items;

    if (!strstr(request->url, "/apis/node.k8s.io/v1/runtimeclasses"))
        return scene_answer(context, request, ret, err);
    assert_non_null(request->client_cert_pem); /* the token may not */
    if (classes.interrupted)
        return error_set(err, ERROR_INTERRUPTED, "interrupted");
    if (classes.status)
        return scene_status(ret, classes.status, "no");
    items = json_array();
    if (classes.handler)
        json_array_append_new(items,
                              json_pack("{s:{s:s}, s:s, s:{s:{s:s*}}}", "metadata", "name", "vm",
                                        "handler", classes.handler, "scheduling", "nodeSelector",
                                        "node.kubernetes.io/windows-build", classes.build));
    return scene_json(ret, 200,
                      json_pack("{s:s, s:s, s:o}", "apiVersion", "node.k8s.io/v1", "kind",
                                "RuntimeClassList", "items", items));
}

static bool note_feature(void *context, struct host *host, const struct host_process *process,
                         int *ret_code, struct text *ret_said, struct error *err) {
    (void)host, (void)ret_code, (void)ret_said, (void)err, (void)context;
    if (strstr(process->argv[0], "\\dism.exe")) {
        started++;
        assert_string_equal(process->argv[3], "/featurename:Microsoft-Hyper-V");
    }
    return false;
}

static void put_hyper_v(void) {
    struct host_service vmms = {.name = (char *)"vmms", .command = (char *)"vmms.exe"};

    assert_int_equal(host_service_put(r.host, &vmms, NULL), 0);
}

static void open_cluster(void) {
    memset(&classes, 0, sizeof classes);
    open_run(&r, "overlay");
    answer_with(&r, answer_classes);
    host_memory_on_run(r.host, note_feature, NULL);
    host_memory_set_program(r.host, "dism.exe", 3010, "");
    r.options.install_features = true;
    started = 0;
}

static void what_asks_for_hyper_v(void **state) {
    static const struct {
        const char *handler, *build;
        unsigned status;
        bool there;
        unsigned started, warnings;
    } rows[] = {
        {NULL, NULL, 0, false, 0, 0},
        {"runhcs-wcow-process", NULL, 0, false, 0, 0},
        {"runhcs-wcow-hypervisor", NULL, 0, false, 1, 0},
        {"runhcs-wcow-hypervisor", NULL, 0, true, 0, 0},
        {"runhcs-wcow-hypervisor-20348", "10.0.20348", 0, false, 1, 0},
        {"runhcs-wcow-hypervisor-17763", "10.0.17763", 0, false, 0, 0},
        {NULL, NULL, 404, false, 0, 0},
        {NULL, NULL, 403, false, 0, 1},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct error err = {0};
        struct join join;
        int result;

        open_cluster();
        r.options.install_features = false;
        classes.handler = rows[i].handler;
        classes.build = rows[i].build;
        classes.status = rows[i].status;
        assert_int_equal(join_once(&r, &err), 0);
        assert_int_equal(started, 0);
        if (rows[i].there)
            put_hyper_v();
        r.options.install_features = true;
        open_join(&r, &join);
        join.found.facts.build = 20348;
        result = features_install_hyper_v(&join, &err);
        assert_int_equal(started, rows[i].started);
        assert_int_equal(result, rows[i].started ? -1 : 0);
        assert_int_equal(err.kind, rows[i].started ? ERROR_RESTART : ERROR_NONE);
        assert_int_equal(join.progress.warnings.count, rows[i].warnings);
        join_close(&join);
        close_run(&r);
    }
}

static void ctrl_c_ends_the_question(void **state) {
    struct error err = {0};
    struct join join;

    (void)state;
    open_cluster();
    classes.handler = "runhcs-wcow-hypervisor";
    r.options.install_features = false;
    assert_int_equal(join_once(&r, &err), 0);
    r.options.install_features = classes.interrupted = true;
    open_join(&r, &join);
    assert_int_equal(features_install_hyper_v(&join, &err), -1);
    assert_int_equal(err.kind, ERROR_INTERRUPTED);
    assert_int_equal(started, 0);
    join_close(&join);
    close_run(&r);
}

/* A call that fails is an error, or a warning where it is not known what the cluster asks for. */
static void a_question_that_fails(void **state) {
    struct error err = {0};
    bool reached = true;

    (void)state;
    open_cluster();
    classes.handler = "runhcs-wcow-hypervisor";
    put_hyper_v();
    assert_int_equal(join_once(&r, &err), 0);
    for (size_t n = 1; reached; n++) {
        struct join join;
        size_t calls;

        open_join(&r, &join);
        calls = host_memory_calls(r.host);
        host_memory_fail(r.host, n);
        if (features_install_hyper_v(&join, &err) == 0)
            reached = join.progress.warnings.count > 0;
        host_memory_fail(r.host, 0);
        assert_int_equal(host_memory_calls(r.host) - calls >= n, reached);
        join_close(&join);
    }
    close_run(&r);
}

/* It ends behind the certificate: what is done stays, also with --on-failure rollback. */
static void a_join_goes_on_behind_the_restart(void **state) {
    struct error err = {0};

    (void)state;
    open_cluster();
    classes.handler = "runhcs-wcow-hypervisor";
    r.options.on_failure = xstrdup("rollback");
    assert_int_equal(join_once(&r, &err), -1);
    assert_int_equal(err.kind, ERROR_RESTART);
    assert_string_equal(err.message, "the Windows feature Hyper-V (RuntimeClass vm) is installed; "
                                     "a restart of Windows is needed first");
    assert_string_equal(err.hints[0], "shutdown /r /t 0, then run the same command again");
    assert_int_equal(host_file_type(r.host, KUBELET_KUBECONFIG_FILE), HOST_FILE);
    put_hyper_v();
    error_clear(&err);
    assert_int_equal(join_once(&r, &err), 0);
    assert_int_equal(started, 1);
    close_run(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_asks_for_hyper_v),
        cmocka_unit_test(ctrl_c_ends_the_question),
        cmocka_unit_test(a_question_that_fails),
        cmocka_unit_test(a_join_goes_on_behind_the_restart),
        cmocka_unit_test(what_dism_says),
        cmocka_unit_test(when_it_is_not_started),
        cmocka_unit_test(what_was_told_is_expected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
