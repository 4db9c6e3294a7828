/* Services that end while a join waits for their work: started again, and in the end told why. */
#include "tests/scene/join_scene.h"

#include "tests/memory/http_memory.h"
#include "join/services/service_watch.h"

/* ---- ends at its start ---- */

static const char *const services[] = {"containerd", "kubelet", "kube-proxy"};

static void one_that_ends_at_its_start_is_started_again(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(services); i++) {
        struct error err = {0};
        struct run r;

        open_run(&r, "overlay");
        host_memory_end_service_starts(r.host, services[i], SERVICE_RESTARTS_MAX);
        if (join_once(&r, &err) < 0)
            fail_msg("%s: %s", services[i], err.message);
        assert_true(scene_runs(&r.scene, services[i]));
        close_run(&r);
    }
}

static void assert_told(const struct error *err, const char *service) {
    _cleanup_(freep) char *message =
        xasprintf("keep %s running: it ended 4 times, the last time with exit code 1", service);
    _cleanup_(freep) char *log = xasprintf("its log: C:\\var\\log\\%s\\%s.log", service, service);

    assert_int_equal(err->kind, ERROR_HOST);
    assert_string_equal(err->message, message);
    assert_string_equal(err->hints[0], log);
    assert_string_equal(err->hints[1], "its last message: E1122 10:00:00.1 7 main.go:9] no HNS");
    assert_non_null(strstr(err->hints[2], "winjoin reset"));
}

static void one_that_always_ends_is_told(void **state) {
    static const char log[] = "E1122 10:00:00.1 7 main.go:9] no HNS\nI1122 exiting\n";

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(services); i++) {
        _cleanup_(freep) char *path =
            xasprintf("C:\\var\\log\\%s\\%s.log", services[i], services[i]);
        struct error err = {0};
        struct run r;
        json_t *before, *after;

        open_run(&r, "overlay");
        before = state_of(&r);
        host_memory_end_service_starts(r.host, services[i], 1000);
        assert_int_equal(join_once(&r, &err), -1);
        assert_non_null(strstr(err.hints[0], "nothing to read there"));
        error_clear(&err);
        assert_int_equal(host_write(r.host, path, log, strlen(log), HOST_PUBLIC, NULL), 0);
        set_options(&r, "overlay");
        assert_int_equal(join_once(&r, &err), -1);
        assert_told(&err, services[i]);
        error_clear(&err);
        if (reset_once(&r, &err) < 0)
            fail_msg("reset: %s", err.message);
        after = state_of(&r);
        assert_same(before, after, services[i]);
        json_decref(before);
        json_decref(after);
        close_run(&r);
    }
}

/* A program that is not there does not come by trying again. */
static void one_that_cannot_be_started_is_not_tried_again(void **state) {
    struct error err = {0};
    struct run r;
    struct join join;
    uint64_t begin;

    (void)state;
    open_run(&r, "overlay");
    join = (struct join){.host = r.host, .http = r.http, .asked = &r.options};
    join.watch = (struct service_watch){.host = r.host, .progress = &join.progress};
    begin = host_monotonic_ms(r.host);
    assert_int_equal(service_watch_start(&join.watch, &service_flanneld, &err), -1);
    assert_int_equal(err.kind, ERROR_ABSENT);
    assert_int_equal(host_monotonic_ms(r.host), begin);
    close_run(&r);
}

/* The result is 0, whether the service runs at once or at the second try. */
static void one_that_runs_is_a_success(void **state) {
    (void)state;
    for (unsigned ends = 0; ends < 2; ends++) {
        struct error err = {0};
        struct run r;
        struct join join;

        open_run(&r, "overlay");
        assert_int_equal(join_once(&r, &err), 0);
        assert_int_equal(host_service_stop(r.host, "kube-proxy", 1000, NULL), 0);
        host_memory_end_service_starts(r.host, "kube-proxy", ends);
        open_join(&r, &join);
        join.watch = (struct service_watch){.host = r.host, .progress = &join.progress};
        assert_int_equal(service_watch_start(&join.watch, &service_kube_proxy, &err), 0);
        assert_true(scene_runs(&r.scene, "kube-proxy"));
        join_close(&join);
        close_run(&r);
    }
}

/* ---- ends later ---- */

/* kube-proxy ends whenever it is waited for, `left` times; then it does its work. */
struct ending {
    struct api_scene *scene;
    unsigned left, seen;
};

static void end_it(void *context, struct host *host) {
    struct ending *ending = context;

    if (ending->left && scene_runs(ending->scene, "kube-proxy")) {
        ending->left--;
        ending->seen++;
        host_memory_end_service(host, "kube-proxy", 255);
        return;
    }
    scene_on_sleep(ending->scene, host);
}

static void one_that_ends_while_it_is_waited_for(void **state) {
    (void)state;
    for (unsigned ends = 1; ends <= SERVICE_RESTARTS_MAX + 1; ends++) {
        struct error err = {0};
        struct run r;
        struct ending ending = {.left = ends};
        uint64_t begin;

        open_run(&r, "overlay");
        ending.scene = &r.scene;
        host_memory_on_sleep(r.host, end_it, &ending);
        begin = host_monotonic_ms(r.host);
        assert_int_equal(join_once(&r, &err), ends > SERVICE_RESTARTS_MAX ? -1 : 0);
        assert_int_equal(ending.seen, ends);
        /* not sooner than Windows would, and not much later */
        assert_true(host_monotonic_ms(r.host) - begin >= (ends > 1 ? 15000 : 5000));
        assert_true(host_monotonic_ms(r.host) - begin < 60000);
        if (ends > SERVICE_RESTARTS_MAX)
            assert_non_null(
                strstr(err.message, "it ended 4 times, the last time with exit code 255"));
        close_run(&r);
    }
}

/* kube-proxy is removed as soon as it is waited for. */
static void remove_it(void *context, struct host *host) {
    bool *removed = context;

    if (!*removed) {
        *removed = true;
        assert_int_equal(host_service_delete(host, "kube-proxy", 1000, NULL), 0);
    }
}

static void one_that_is_removed_is_told_at_once(void **state) {
    struct error err = {0};
    struct service_watch watch;
    bool removed = false, runs = false;
    struct run r;
    uint64_t begin;

    (void)state;
    open_run(&r, "overlay");
    assert_int_equal(join_once(&r, &err), 0);
    watch = (struct service_watch){.host = r.host, .service = &service_kube_proxy};
    assert_int_equal(service_watch_check(&watch, &runs, &err), 0);
    assert_true(runs);
    host_memory_on_sleep(r.host, remove_it, &removed);
    assert_int_equal(host_sleep(r.host, 100, &err), 0);
    begin = host_monotonic_ms(r.host);
    assert_int_equal(service_watch_check(&watch, &runs, &err), -1);
    assert_int_equal(err.kind, ERROR_HOST);
    assert_string_equal(err.message, "keep kube-proxy running: somebody removed the service");
    assert_int_equal(host_monotonic_ms(r.host), begin);
    close_run(&r);
}

/* ---- what it may read ---- */

static unsigned asked;
static bool answers; /* instead of refusing */
static long refusal = 403;

static int refuse(void *context, const struct http_request *request, struct http_response *ret,
                  struct error *err) {
    (void)context;
    (void)request;
    (void)err;
    asked++;
    return answers ? scene_json(ret, 200, json_object())
                   : scene_status(ret, refusal, refusal == 403 ? "Forbidden" : "NotFound");
}

/* Every four seconds, and twice refused in a row is enough. */
static void rights_are_asked_for_now_and_then(void **state) {
    struct error err = {0};
    struct join_progress progress = {0};
    struct kube_client client = {.server = (char *)"https://10.0.0.10:6443"};
    struct service_watch watch = {.progress = &progress, .client = &client};
    struct run r;

    (void)state;
    asked = 0;
    open_run(&r, "overlay");
    client.http = http_memory_new(refuse, NULL);
    client.host = watch.host = r.host;
    assert_int_equal(service_watch_start(&watch, &service_flanneld, &err), -1); /* not registered */
    error_clear(&err);
    assert_int_equal(service_watch_rights(&watch, "/x", &err), 0);
    assert_int_equal(asked, 0);
    host_memory_advance(r.host, 4000);
    assert_int_equal(service_watch_rights(&watch, "/x", &err), 0);
    assert_int_equal(service_watch_rights(&watch, "/x", &err), 0);
    assert_int_equal(asked, 1);
    for (unsigned more = 2; more < 4; more++) {
        answers = more == 2;
        host_memory_advance(r.host, 4000);
        assert_int_equal(service_watch_rights(&watch, "/x", &err), 0);
        assert_int_equal(asked, more);
    }
    for (refusal = 404; refusal < 406; refusal++) { /* is no refusal */
        host_memory_advance(r.host, 4000);
        assert_int_equal(service_watch_rights(&watch, "/x", &err), 0);
    }
    refusal = 403;
    host_memory_advance(r.host, 4000);
    assert_int_equal(service_watch_rights(&watch, "/x", &err), 0);
    host_memory_advance(r.host, 4000);
    assert_int_equal(service_watch_rights(&watch, "/x", &err), -1);
    assert_int_equal(err.kind, ERROR_DENIED);
    http_free(client.http);
    close_run(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_ends_at_its_start_is_started_again),
        cmocka_unit_test(one_that_always_ends_is_told),
        cmocka_unit_test(one_that_cannot_be_started_is_not_tried_again),
        cmocka_unit_test(one_that_runs_is_a_success),
        cmocka_unit_test(one_that_ends_while_it_is_waited_for),
        cmocka_unit_test(one_that_is_removed_is_told_at_once),
        cmocka_unit_test(rights_are_asked_for_now_and_then),
        cmocka_unit_test(what_was_told_is_expected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
