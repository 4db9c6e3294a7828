/* What a join that fails leaves: kept with the way on and back, or undone at once; the limit of the
 * whole join; what is said to have changed; and a healthy node that is joined again. */
#include "tests/scene/join_scene.h"

static struct run r;

static int open_scene(void **state) {
    (void)state;
    open_run(&r, "overlay");
    return 0;
}

static int close_scene(void **state) {
    (void)state;
    close_run(&r);
    return 0;
}

/* One join; *ret: its JoinResult, a new reference. */
static int join_result(json_t **ret, struct error *err) {
    struct join join = {.host = r.host, .http = r.http, .asked = &r.options};
    int result = join_open(&join, err);

    if (result == 0)
        result = join_run(&join, err);
    *ret = join_result_json(&join);
    join_close(&join);
    return result;
}

static const char *failed_phase(const json_t *result) {
    json_t *row;
    size_t i;

    json_array_foreach(json_object_get(result, "phases"), i, row) {
        if (text_equal(json_text_at(row, "outcome"), "failed"))
            return json_text_at(row, "id");
    }
    return NULL;
}

static bool hints_say(const struct error *err, const char *what) {
    for (size_t i = 0; i < ERROR_HINTS_MAX; i++) {
        if (strstr(err->hints[i], what))
            return true;
    }
    return false;
}

/* Wherever it fails, the machine is as it was found, and the failure is told as without it. */
static void every_failure_is_undone(void **state) {
    _cleanup_(text_list_free) struct text_list phases = {0};
    size_t failures = 0;

    (void)state;
    for (unsigned n = 1; n < 400; n += 3) {
        struct error err = {0};
        json_t *before, *after, *result;
        const char *phase;

        close_run(&r);
        open_run(&r, "overlay");
        r.options.on_failure = xstrdup("rollback");
        before = state_of(&r);
        host_memory_fail(r.host, n);
        if (join_result(&result, &err) < 0) {
            phase = failed_phase(result);
            after = state_of(&r);
            if (json_number_at(result, "rollback.removed", 0)) {
                failures++;
                if (!text_list_has(&phases, phase))
                    text_list_add(&phases, phase);
                assert_string_equal(json_text_at(result, "rollback.outcome"), "done");
                assert_true(hints_say(&err, "everything was undone"));
                assert_false(json_bool_at(result, "changed", true));
            }
            if (phase)
                assert_same(before, after, phase);
            json_decref(after);
        }
        json_decref(before);
        json_decref(result);
    }
    assert_true(failures > 10);
    assert_true(phases.count >= 6);
}

/* A wait that ends without what it waits for, as late as there is one. */
static void a_node_that_is_never_ready_is_undone(void **state) {
    struct error err = {0};
    json_t *before = state_of(&r), *after, *result;

    (void)state;
    r.options.on_failure = xstrdup("rollback");
    r.scene.unprepared = true; /* kube-proxy is refused */
    assert_int_equal(join_result(&result, &err), -1);
    assert_int_equal(err.kind, ERROR_DENIED);
    assert_string_equal(failed_phase(result), "kube-proxy");
    assert_string_equal(json_text_at(result, "rollback.outcome"), "done");
    assert_true(hints_say(&err, "kubectl delete node win-7k2"));
    after = state_of(&r);
    assert_same(before, after, "rollback");
    json_decref(before);
    json_decref(after);
    json_decref(result);
}

static void by_default_all_is_kept(void **state) {
    struct error err = {0};
    json_t *result;

    (void)state;
    r.scene.unprepared = true;
    assert_int_equal(join_result(&result, &err), -1);
    assert_string_equal(json_text_at(result, "rollback.outcome"), "kept");
    assert_true(json_number_at(result, "rollback.changes", 0) > 10);
    assert_true(json_bool_at(result, "changed", false));
    assert_true(hints_say(
        &err,
        " services, 2 networks); the same command continues at kube-proxy; to undo them: winjoin "
        "reset"));
    json_decref(result);
}

static void nothing_changed_is_said(void **state) {
    struct error err = {0};
    json_t *result;

    (void)state;
    r.scene.hides = "kubeadm-config";
    assert_int_equal(join_result(&result, &err), -1);
    assert_true(hints_say(&err, "nothing on this machine was changed"));
    assert_false(json_bool_at(result, "changed", true));
    json_decref(result);
}

/* What an earlier call made a node is not torn down, and Ctrl-C keeps what is done. */
static void a_node_is_not_undone(void **state) {
    struct error err = {0};
    json_t *before, *after, *result;

    (void)state;
    assert_int_equal(join_once(&r, &err), 0);
    before = state_of(&r);
    set_options(&r, "overlay");
    r.options.on_failure = xstrdup("rollback");
    r.scene.hides = "kubeadm-config";
    assert_int_equal(join_result(&result, &err), -1);
    assert_string_equal(json_text_at(result, "rollback.outcome"), "kept");
    after = state_of(&r);
    assert_same(before, after, "a node");
    json_decref(before);
    json_decref(after);
    json_decref(result);
}

static void interrupt_at_certificate(void *context, const struct join_event *event) {
    if (event->state == JOIN_WAITING && text_equal(event->phase->id, "certificate"))
        host_memory_interrupt(context);
}

static void an_interrupted_join_is_kept(void **state) {
    struct join join = {.host = r.host,
                        .http = r.http,
                        .asked = &r.options,
                        .progress = {.listener = interrupt_at_certificate, .context = r.host}};
    struct error err = {0};

    (void)state;
    r.options.on_failure = xstrdup("rollback");
    r.scene.approve = false;
    assert_int_equal(join_open(&join, &err), 0);
    assert_int_equal(join_run(&join, &err), -1);
    assert_int_equal(err.kind, ERROR_INTERRUPTED);
    assert_false(join.rolled_back);
    assert_true(join.journal.count > 0);
    assert_true(hints_say(&err, "the same command continues at certificate"));
    join_close(&join);
}

/* The whole join has a limit; the same command goes on behind it. */
static void a_join_has_a_limit(void **state) {
    struct error err = {0};
    json_t *result;

    (void)state;
    r.options.join_timeout = 30000;
    r.scene.approve = false;
    assert_int_equal(join_result(&result, &err), -1);
    assert_int_equal(err.kind, ERROR_TIMED_OUT);
    assert_string_equal(err.message, "the join took longer than 30 s (--join-timeout)");
    assert_string_equal(failed_phase(result), "certificate");
    assert_string_equal(json_text_at(row_of(result, "certificate"), "detail"), err.message);
    assert_true(hints_say(&err, "the same command continues at certificate"));
    assert_false(host_deadline_passed(r.host));
    json_decref(result);
    r.scene.approve = true;
    freep(&r.scene.request); /* it is not asked again for one that nobody approves */
    error_clear(&err);
    if (join_result(&result, &err) < 0)
        fail_msg("%s", err.message);
    host_memory_advance(r.host, 60000); /* what follows the join has no limit */
    assert_false(host_deadline_passed(r.host));
    json_decref(result);
}

static void what_changed_is_said(void **state) {
    struct error err = {0};
    json_t *result;

    (void)state;
    assert_int_equal(join_result(&result, &err), 0);
    assert_true(json_bool_at(result, "changed", false));
    assert_true(json_bool_at(row_of(result, "kubelet"), "changed", false));
    assert_false(json_bool_at(row_of(result, "discovery"), "changed", true));
    assert_null(json_object_get(result, "rollback"));
    assert_string_equal(json_text_at(row_of(result, "discovery"), "data.caHash"), r.scene.pin);
    assert_string_equal(json_text_at(row_of(result, "configuration"), "data.kubernetesVersion"),
                        "v1.37.1");
    assert_true(json_number_at(row_of(result, "kube-proxy"), "data.loadBalancers", 0) > 0);
    assert_non_null(json_at(row_of(result, "preflight"), "data.checks"));
    json_decref(result);
    set_options(&r, "overlay");
    assert_int_equal(join_result(&result, &err), 0);
    for (size_t i = 0; i < json_array_size(json_object_get(result, "phases")); i++) {
        const json_t *row = json_array_get(json_object_get(result, "phases"), i);

        if (json_bool_at(row, "changed", false))
            fail_msg("%s", json_text_at(row, "id"));
    }
    assert_false(json_bool_at(result, "changed", true));
    json_decref(result);
    host_memory_set_service_state(r.host, "kubelet", HOST_SERVICE_STOPPED);
    set_options(&r, "overlay");
    assert_int_equal(join_result(&result, &err), 0);
    assert_true(json_bool_at(row_of(result, "kubelet"), "changed", false));
    json_decref(result);
}

/* The token has gone, the node has not. */
static void a_healthy_node_needs_no_token(void **state) {
    struct error err = {0};
    json_t *result;

    (void)state;
    assert_int_equal(join_once(&r, &err), 0);
    for (int other = 0; other < 2; other++) {
        set_options(&r, "overlay");
        r.options.token[0] = 'z'; /* no signature of it is there */
        if (other)
            memset(r.options.discovery_token_ca_cert_hash.items[0] + 7, '0', 64);
        error_clear(&err);
        assert_int_equal(join_result(&result, &err), other ? -1 : 0);
        if (other) /* of another cluster */
            assert_string_equal(failed_phase(result), "discovery");
        else
            assert_non_null(
                strstr(json_text_at(row_of(result, "discovery"), "detail"), "already joined"));
        assert_false(json_bool_at(result, "changed", true));
        json_decref(result);
    }
}

int main(void) {
#define FAILURE_TEST(name) cmocka_unit_test_setup_teardown(name, open_scene, close_scene)
    const struct CMUnitTest tests[] = {
        FAILURE_TEST(every_failure_is_undone),
        FAILURE_TEST(a_node_that_is_never_ready_is_undone),
        FAILURE_TEST(by_default_all_is_kept),
        FAILURE_TEST(nothing_changed_is_said),
        FAILURE_TEST(a_node_is_not_undone),
        FAILURE_TEST(an_interrupted_join_is_kept),
        FAILURE_TEST(a_join_has_a_limit),
        FAILURE_TEST(what_changed_is_said),
        FAILURE_TEST(a_healthy_node_needs_no_token),
        cmocka_unit_test(what_was_told_is_expected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
