/* A reset ends the node's pods by the container runtime before it takes away what they stand on. */
#include "tests/scene/cri_scene.h"
#include "tests/scene/join_scene.h"

struct told {
    struct text lines;
    struct cri_scene runtime;
    struct run run;
    size_t logged; /* by the join */
};

static void on_progress(void *context, const char *what, const char *how, const struct error *why) {
    struct told *told = context;

    text_addf(&told->lines, "%s: %s\n", what, why ? why->message : how);
}

static void on_begin(void *context, const char *what) {
    struct told *told = context;

    text_addf(&told->lines, "%s ...\n", what);
}

static int reset(struct told *told, bool dry_run, struct reset_result *ret, struct error *err) {
    struct reset_options options = {
        .dry_run = dry_run, .progress = on_progress, .begins = on_begin, .progress_context = told};

    return reset_run(told->run.host, &options, ret, err);
}

static void open_joined(struct told *told) {
    struct error err = {0};

    *told = (struct told){0};
    open_run(&told->run, "overlay");
    if (join_once(&told->run, &err) < 0)
        fail_msg("join: %s", err.message);
    told->logged = strlen(host_memory_log(told->run.host));
    host_memory_set_pipe_answer(told->run.host, cri_scene_answer, &told->runtime);
}

static void close_joined(struct told *told) {
    text_free(&told->lines);
    close_run(&told->run);
}

static void pods_end_before_the_runtime_stops(void **state) {
    struct reset_result result;
    struct error err = {0};
    struct told told;
    const char *log, *pods, *kubelet, *runtime;

    (void)state;
    open_joined(&told);
    told.runtime.refusals = 2; /* busy with what the kubelet asked for */
    if (reset(&told, false, &result, &err) < 0)
        fail_msg("reset: %s", err.message);
    assert_int_equal(told.runtime.stopped, 2);
    assert_int_equal(told.runtime.removed, 2);
    assert_non_null(strstr(text_str(&told.lines), "pod default/a: ended\n"));
    assert_non_null(strstr(text_str(&told.lines), "pod kube-system/b: ended\n"));
    log = host_memory_log(told.run.host) + told.logged;
    pods = strstr(log, "pipe_open \\\\.\\pipe\\containerd-containerd");
    kubelet = strstr(log, "service_stop kubelet");
    runtime = strstr(log, "service_stop containerd");
    assert_true(kubelet && pods && runtime && kubelet < pods && pods < runtime);
    close_joined(&told);
}

static void a_pod_that_stays_is_said_and_the_rest_goes(void **state) {
    struct reset_result result;
    struct error err = {0};
    struct told told;

    (void)state;
    open_joined(&told);
    told.runtime.refusals = 11; /* each try for the first pod, five seconds long */
    assert_int_equal(reset(&told, false, &result, &err), -1);
    assert_int_equal(result.failed, 1);
    assert_string_equal(
        err.message,
        "stop pod 'default/a': the server refuses the call: INVALID_ARGUMENT: " GRPC_GO_REASON);
    assert_non_null(strstr(text_str(&told.lines), "pod default/a: stop pod 'default/a': "));
    assert_non_null(strstr(text_str(&told.lines), "pod kube-system/b: ended\n"));
    assert_non_null(
        strstr(text_str(&told.lines), "service containerd ...\nservice containerd: removed\n"));
    assert_int_equal(reset(&told, false, &result, &err), 0);
    close_joined(&told);
}

/* Each call has its own time limit: it is not waited for again. */
static void a_runtime_that_hangs_is_asked_once_a_pod(void **state) {
    struct reset_result result;
    struct error err = {0};
    struct told told;

    (void)state;
    open_joined(&told);
    told.runtime.hangs = told.run.host;
    assert_int_equal(reset(&told, false, &result, &err), -1);
    assert_int_equal(result.failed, 2);
    assert_int_equal(err.kind, ERROR_TIMED_OUT);
    assert_int_equal(told.runtime.asked, 2);
    close_joined(&told);
}

static void what_is_no_runtime_is_said(void **state) {
    struct reset_result result;
    struct error err = {0};
    struct told told;

    (void)state;
    open_joined(&told);
    told.runtime.garbled = true;
    assert_int_equal(reset(&told, false, &result, &err), -1);
    assert_int_equal(err.kind, ERROR_MALFORMED);
    assert_non_null(strstr(text_str(&told.lines),
                           "pods: ask the container runtime for its pods: read a gRPC answer"));
    close_joined(&told);
}

/* Where the kubelet was told, also by another hand since the join. */
static void the_runtime_of_the_kubelet_is_asked(void **state) {
    static const char config[] = "kind: KubeletConfiguration\n"
                                 "containerRuntimeEndpoint: npipe:////./pipe/mine\n";
    struct reset_result result;
    struct error err = {0};
    struct told told;

    (void)state;
    open_joined(&told);
    assert_int_equal(host_write(told.run.host, KUBELET_CONFIG_FILE, config, sizeof config - 1,
                                HOST_SECRET, NULL),
                     0);
    assert_int_equal(reset(&told, false, &result, &err), 0);
    assert_non_null(
        strstr(host_memory_log(told.run.host) + told.logged, "pipe_open \\\\.\\pipe\\mine"));
    close_joined(&told);
}

/* A file may name what it likes: no other machine is asked. */
static void no_other_machine_is_asked(void **state) {
    static const char config[] = "kind: KubeletConfiguration\n"
                                 "containerRuntimeEndpoint: npipe:////host/pipe/mine\n";
    struct reset_result result;
    struct error err = {0};
    struct told told;

    (void)state;
    open_joined(&told);
    assert_int_equal(host_write(told.run.host, KUBELET_CONFIG_FILE, config, sizeof config - 1,
                                HOST_SECRET, NULL),
                     0);
    assert_int_equal(reset(&told, false, &result, &err), 0);
    assert_null(strstr(host_memory_log(told.run.host) + told.logged, "pipe\\mine"));
    close_joined(&told);
}

static void a_dry_run_ends_nothing(void **state) {
    struct reset_result result;
    struct error err = {0};
    json_t *before, *after;
    struct told told;

    (void)state;
    open_joined(&told);
    before = host_memory_state(told.run.host);
    assert_int_equal(reset(&told, true, &result, &err), 0);
    assert_non_null(strstr(text_str(&told.lines), "pod default/a: would be stopped\n"));
    assert_int_equal(told.runtime.stopped, 0);
    assert_int_equal(result.removed + result.restored + result.failed, 0);
    after = host_memory_state(told.run.host);
    assert_same(before, after, "dry run");
    json_decref(before);
    json_decref(after);
    close_joined(&told);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pods_end_before_the_runtime_stops),
        cmocka_unit_test(a_pod_that_stays_is_said_and_the_rest_goes),
        cmocka_unit_test(a_runtime_that_hangs_is_asked_once_a_pod),
        cmocka_unit_test(what_is_no_runtime_is_said),
        cmocka_unit_test(the_runtime_of_the_kubelet_is_asked),
        cmocka_unit_test(no_other_machine_is_asked),
        cmocka_unit_test(a_dry_run_ends_nothing),
        cmocka_unit_test(what_was_told_is_expected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
