/* --restart: Windows restarts, and the join goes on by a service that is journaled and removed. */
#include "tests/scene/joining_scene.h"

#include "join/phases/phases.h"
#include "services/hosted_service.h"

#define SETTINGS SERVICE_SETTINGS_DIR "\\" RESTART_SERVICE ".json"

static char *restarts; /* shutdown.exe's arguments, of the last call */

static bool note_run(void *context, struct host *host, const struct host_process *process,
                     int *ret_code, struct text *ret_said, struct error *err) {
    (void)host, (void)ret_said, (void)err, (void)context;
    if (strstr(process->argv[0], "shutdown.exe")) {
        freep(&restarts);
        restarts = xasprintf("%s %s %s", process->argv[1], process->argv[2], process->argv[3]);
        *ret_code = 0;
        return true;
    }
    return false;
}

/* A cluster whose only RuntimeClass asks for Hyper-V. */
static int answer_hyper_v(void *context, const struct http_request *request,
                          struct http_response *ret, struct error *err) {
    if (!strstr(request->url, "/runtimeclasses"))
        return scene_answer(context, request, ret, err);
    return scene_json(ret, 200,
                      json_pack("{s:s, s:[{s:{s:s}, s:s}]}", "kind", "RuntimeClassList", "items",
                                "metadata", "name", "vm", "handler", "runhcs-wcow-hypervisor"));
}

static int open_bare(void **state) {
    int result = open_joining(state);
    struct host_facts facts = {0};

    assert_int_equal(host_facts(program->host, &facts, NULL), 0);
    facts.containers_feature = 0;
    host_memory_set_facts(program->host, &facts);
    host_memory_set_program(program->host, "dism.exe", 3010, "");
    host_memory_on_run(program->host, note_run, NULL);
    program->options.join.install_features = true;
    program->options.join.restart = true;
    return result;
}

static int close_bare(void **state) {
    freep(&restarts);
    return close_joining(state);
}

/* As if they stood on the command line. */
static void give(const char *name) {
    const struct option *o;

    for (size_t i = 0; (o = options_at(program->set, i)); i++)
        if (text_equal(o->name, name))
            program->set->given[i] = true;
}

static void feature_is_installed(void) {
    struct host_facts facts = {0};

    assert_int_equal(host_facts(program->host, &facts, NULL), 0);
    facts.containers_feature = 1;
    host_memory_set_facts(program->host, &facts);
}

static char *settings_text(void) {
    char *text = NULL;
    size_t len;

    return host_read(program->host, SETTINGS, 65536, &text, &len, NULL) < 0 ? NULL : text;
}

static void the_join_is_registered(void **state) {
    _cleanup_(host_service_free) struct host_service service = {0};
    struct service_host_settings settings = {0};
    _cleanup_(freep) char *text = NULL, *words_again = NULL, *told = NULL;
    struct error err;

    (void)state;
    words("10.0.0.10:6443");
    give("token");
    give("install-features");
    give("restart");
    give("verify");
    give("progress");
    give("discovery-token-ca-cert-hash");
    assert_int_equal(verb(verb_join, &err), -1);
    assert_int_equal(err.kind, ERROR_RESTART);
    assert_string_equal(err.message,
                        "Windows restarts in a few seconds, and the join continues by itself");
    assert_string_equal(restarts, "/r /t 5");
    assert_int_equal(host_service_query(program->host, RESTART_SERVICE, &service, NULL), 0);
    assert_true(service.auto_start);
    assert_string_equal(service.command, WINJOIN_PROGRAM " service run " RESTART_SERVICE);
    assert_int_equal(service_host_settings_load(program->host, RESTART_SERVICE, &settings, &err),
                     0);
    words_again = text_list_join(&settings.command, " ");
    told = xasprintf(WINJOIN_PROGRAM " join 10.0.0.10:6443 --discovery-token-ca-cert-hash=%s "
                                     "--verify=none --install-features=true --restart=true",
                     r.scene.pin);
    assert_string_equal(words_again, told);
    assert_int_equal(settings.environment.count, 1);
    assert_string_equal(settings.environment.items[0], "WINJOIN_TOKEN=" SCENE_TOKEN);
    service_host_settings_free(&settings);
    assert_non_null(strstr(host_memory_log(program->host), "write " SETTINGS " secret"));
    text = settings_text();
    assert_non_null(text);
    assert_false(has(&out, SCENE_TOKEN + 7));
    assert_false(has(&err_out, SCENE_TOKEN + 7));
    { /* the journal neither */
        _cleanup_(freep) char *journal = NULL;
        size_t len;

        assert_int_equal(host_read(program->host, JOURNAL_FILE, 1 << 20, &journal, &len, NULL), 0);
        assert_null(strstr(journal, SCENE_TOKEN + 7));
        assert_non_null(strstr(journal, RESTART_SERVICE));
    }
}

/* What the service starts, played; then what it leaves. */
static void it_goes_on_and_is_removed(void **state) {
    _cleanup_(host_service_free) struct host_service service = {0};
    struct error err;

    (void)state;
    assert_int_equal(verb(verb_join, &err), -1);
    feature_is_installed();
    program->options.join.restart = false;
    succeeds(verb_join);
    assert_int_equal(host_file_type(program->host, SETTINGS), HOST_ABSENT);
    assert_int_equal(host_service_query(program->host, RESTART_SERVICE, &service, NULL), 0);
    assert_int_equal(service.state, HOST_SERVICE_ABSENT);
}

/* While it runs, the service ends itself. */
static void it_does_not_remove_the_one_that_runs(void **state) {
    struct error err;

    (void)state;
    assert_int_equal(verb(verb_join, &err), -1);
    feature_is_installed();
    program->options.join.restart = false;
    host_memory_set_service_state(program->host, RESTART_SERVICE, HOST_SERVICE_RUNNING);
    succeeds(verb_join);
    assert_int_equal(host_file_type(program->host, SETTINGS), HOST_FILE);
    assert_int_equal(restart_end(program->host, &err), 0);
    assert_int_equal(host_file_type(program->host, SETTINGS), HOST_ABSENT);
    assert_int_equal(restart_end(program->host, &err), 0);
}

/* Killed at each call, or told that it failed, then run again or reset: nothing is left. */
static void killed_at_every_call(void **state) {
    bool reached = true;
    json_t *before = state_of(&r);

    (void)state;
    for (size_t k = 2; reached; k++) {
        size_t n = k / 2;
        struct error err;
        size_t calls = host_memory_calls(program->host);
        json_t *after;

        words("10.0.0.10:6443");
        freep(&restarts);
        (k % 2 ? host_memory_fail : host_memory_die)(program->host, n);
        assert_int_equal(verb(verb_join, &err), -1);
        assert_true(err.kind != ERROR_RESTART || restarts);
        reached = host_memory_calls(program->host) - calls >= n;
        host_memory_fail(program->host, 0);
        if (n % 2) {
            words("10.0.0.10:6443");
            assert_int_equal(verb(verb_join, &err), -1);
            assert_int_equal(err.kind, ERROR_RESTART);
            assert_non_null(restarts);
        }
        error_clear(&err);
        if (reset_once(&r, &err) < 0)
            fail_msg("killed at call %u: %s", (unsigned)n, err.message);
        assert_int_equal(host_remove_tree(program->host, LOGS_FOLDER, NULL), 0);
        assert_int_equal(host_remove_tree(program->host, REPORTS_FOLDER, NULL), 0);
        (void)host_remove(program->host, WINJOIN_FOLDER, NULL);
        after = state_of(&r);
        assert_same(before, after, "killed");
        json_decref(after);
    }
    json_decref(before);
}

/* A join that continues meets another feature: it restarts once more, and not for the same one. */
static void it_restarts_once_more(void **state) {
    struct service_host_settings started = {0};
    _cleanup_(freep) char *text = NULL;
    struct error err;

    (void)state;
    for (unsigned n = 0; n < 2; n++) {
        freep(&restarts);
        words("10.0.0.10:6443");
        give("restart");
        assert_int_equal(verb(verb_join, &err), -1);
        assert_int_equal(err.kind, ERROR_RESTART);
        assert_int_equal(restarts != NULL, n == 0);
        host_memory_set_service_state(program->host, RESTART_SERVICE, HOST_SERVICE_RUNNING);
    }
    assert_string_equal(err.message, "preflight: the Windows feature Containers is installed; a "
                                     "restart of Windows is needed first");
    assert_int_equal(service_host_settings_load(program->host, RESTART_SERVICE, &started, &err), 0);
    assert_false(restart_is_next(program->host, &started));
    feature_is_installed();
    answer_with(&r, answer_hyper_v);
    program->http = r.http;
    words("10.0.0.10:6443");
    assert_int_equal(verb(verb_join, &err), -1);
    assert_int_equal(err.kind, ERROR_RESTART);
    assert_non_null(restarts);
    assert_true(restart_is_next(program->host, &started));
    text = settings_text();
    assert_null(strstr(text, "--restart"));
    service_host_settings_free(&started);
}

static void without_the_flag_it_asks(void **state) {
    struct error err;

    (void)state;
    program->options.join.restart = false;
    assert_int_equal(verb(verb_join, &err), -1);
    assert_int_equal(err.kind, ERROR_RESTART);
    assert_null(restarts);
    assert_null(settings_text());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_join_is_registered, open_bare, close_bare),
        cmocka_unit_test_setup_teardown(it_goes_on_and_is_removed, open_bare, close_bare),
        cmocka_unit_test_setup_teardown(it_does_not_remove_the_one_that_runs, open_bare,
                                        close_bare),
        cmocka_unit_test_setup_teardown(killed_at_every_call, open_bare, close_bare),
        cmocka_unit_test_setup_teardown(it_restarts_once_more, open_bare, close_bare),
        cmocka_unit_test_setup_teardown(without_the_flag_it_asks, open_bare, close_bare),
        cmocka_unit_test(what_was_told_is_expected),
    };

    return cmocka_run_group_tests_name("restart", tests, NULL, NULL);
}
