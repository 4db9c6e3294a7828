/* A join and a reset on a host in memory, and what must be the same before and after: shared by the
 * tests of the join. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/scene/api_scene.h"
#include "tests/scene/expected_scene.h"
#include "join/found/need.h"
#include "join/phases/phases.h"
#include "join/run.h"
#include "join/undo/reset.h"
#include "tests/memory/http_memory.h"

struct run {
    struct host *host;
    struct http *http;
    struct api_scene scene;
    struct join_options options;
};

static void set_options(struct run *r, const char *mode) {
    join_options_free(&r->options);
    r->options = (struct join_options){
        .endpoint = xstrdup("10.0.0.10:6443"),
        .token = xstrdup(SCENE_TOKEN),
        .network_mode = xstrdup_null(mode),
        .verify = xstrdup("none"),
    };
    text_list_add(&r->options.discovery_token_ca_cert_hash, r->scene.pin);
    if (text_equal(mode, "nat"))
        text_list_add(&r->options.ignore_preflight_errors, "NetworkMode");
}

/* Windows' own service, on which containerd depends. */
static void put_hns(struct host *host) {
    struct host_service hns = {.name = (char *)"hns",
                               .display_name = (char *)"Host Network Service",
                               .command = (char *)"svchost.exe -k netsvcs"};

    assert_int_equal(host_service_put(host, &hns, NULL), 0);
    host_memory_set_service_state(host, "hns", HOST_SERVICE_RUNNING);
}

/* The programs are there already, so that no bundle is needed. */
static void put_programs(struct host *host) {
    static const char *const programs[] = {
        "C:\\k\\kubelet.exe",
        "C:\\k\\kube-proxy.exe",
        "C:\\k\\winjoin.exe",
        "C:\\Program Files\\containerd\\containerd.exe",
        "C:\\Program Files\\containerd\\containerd-shim-runhcs-v1.exe",
        "C:\\opt\\cni\\bin\\win-overlay.exe",
        "C:\\opt\\cni\\bin\\win-bridge.exe",
        "C:\\opt\\cni\\bin\\sdnoverlay.exe",
        "C:\\opt\\cni\\bin\\sdnbridge.exe",
        "C:\\opt\\cni\\bin\\nat.exe",
        "C:\\opt\\cni\\bin\\host-local.exe",
    };

    assert_int_equal(host_make_folder(host, "C:\\ProgramData", HOST_PUBLIC, NULL), 0);
    for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
        assert_int_equal(host_write(host, programs[i], "MZ", 2, HOST_PUBLIC, NULL), 0);
    host_memory_set_program(host, "kubelet.exe", 0, "Kubernetes v1.37.1\n");
    host_memory_set_program(host, "containerd.exe", 0, "containerd v2.4.2\n");
}

static void open_run(struct run *r, const char *mode) {
    *r = (struct run){.host = host_memory_new()};
    scene_open(&r->scene, r->host);
    r->http = http_memory_new(scene_answer, &r->scene);
    host_memory_on_sleep(r->host, scene_on_sleep, &r->scene);
    put_hns(r->host);
    put_programs(r->host);
    set_options(r, mode);
}

static void close_run(struct run *r) {
    join_options_free(&r->options);
    http_free(r->http);
    host_free(r->host);
    scene_close(&r->scene);
}

/* From now on another API server answers. */
static inline void answer_with(struct run *r, http_answer *answer) {
    http_free(r->http);
    r->http = http_memory_new(answer, &r->scene);
}

/* ---- what all runs of a test program have told, compared with a file ---- */

static struct text all_told = {.cap = 1 << 20};
static bool tells_nothing; /* while a torture runs, of which a part is played */

/* Each line once. */
static inline void tell_line(const char *format, ...) {
    _cleanup_(text_free) struct text line = {0}, steady = {0};
    va_list args;

    if (tells_nothing)
        return;
    text_add_char(&line, '\n');
    va_start(args, format);
    text_addv(&line, format, args);
    va_end(args);
    text_add_char(&line, '\n');
    add_steady(&steady, text_str(&line));
    if (!strstr(text_str(&all_told), steady.data))
        text_add(&all_told, all_told.len ? steady.data + 1 : steady.data);
}

static inline void note_event(void *, const struct join_event *event) {
    tell_line("%s: %s%s%s", event->phase ? event->phase->id : "-", event->message,
              *event->hint ? "; hint: " : "", event->hint);
}

static inline void note_undone(void *, const char *what, const char *how, const struct error *why) {
    tell_line("%s: %s%s%s", what, how, why ? ": " : "", why ? why->message : "");
}

static inline void note_end(const struct error *err) {
    if (err && err->kind)
        tell_line("%s: %s", error_kind_name(err->kind), err->message);
    for (size_t i = 0; err && i < ARRAY_SIZE(err->hints) && *err->hints[i]; i++)
        tell_line("hint: %s", err->hints[i]);
}

/* The last test of a program whose runs are compared. */
static inline void what_was_told_is_expected(void **) {
    _cleanup_(freep) char *name = xstrdup(__BASE_FILE__);
    const char *from = strstr(name, "test_");

    *strrchr(name, '.') = '\0';
    assert_expected(from, text_str(&all_told));
    text_free(&all_told);
}

/* A join of the node that is not run: for its needs or single phases. join_close(). */
static inline void open_join(struct run *r, struct join *ret) {
    struct error err = {0};

    *ret = (struct join){
        .host = r->host, .http = r->http, .asked = &r->options, .progress.listener = note_event};
    if (join_open(ret, &err) < 0)
        fail_msg("%s", err.message);
}

static inline int join_once(struct run *r, struct error *err) {
    struct join join = {
        .host = r->host, .http = r->http, .asked = &r->options, .progress.listener = note_event};
    int result = join_open(&join, err);
    if (result == 0)
        result = join_run(&join, err);
    join_close(&join);
    note_end(err);
    return result;
}

static inline int reset_once(struct run *r, struct error *err) {
    struct reset_options options = {.progress = note_undone};
    struct reset_result result;
    int ended = reset_run(r->host, &options, &result, err);

    note_end(err);
    return ended;
}

/* What must be the same after a reset: everything but the event log, and load balancers and pipes,
 * which are others'. */
static inline json_t *state_of(const struct run *r) {
    json_t *state = host_memory_state(r->host);

    json_object_del(state, "events");
    json_object_del(state, "pipes");
    json_object_del(json_object_get(state, "hns"), "loadBalancers");
    json_object_del(json_object_get(state, "hns"), "nextId");
    return state;
}

/* 0 and no error, or -1 and one: a failure that was passed over leaves its words behind. */
static inline void assert_said(int result, const struct error *err, const char *when) {
    if (result == 0 ? err->kind != ERROR_NONE : result != -1 || err->kind == ERROR_NONE)
        fail_msg("%s: %d with the error '%s'", when, result, err->message);
}

/* With TESTS_PART=part, or quick, a torture fails every seventh call alone; under the sanitizers,
 * where a join takes eight times as long, every 23rd: others than under Wine. */
static inline size_t next_call(void) {
    const char *tests = getenv("TESTS_PART");
    bool part = text_equal(tests, "part") || text_equal(tests, "quick");

#ifdef __SANITIZE_ADDRESS__
    return part ? 23 : 1;
#else
    return part ? 7 : 1;
#endif
}

/* Says each place at which two values differ. */
static inline void print_difference(const json_t *before, const json_t *after, const char *path) {
    const char *key;
    json_t *value;

    if (json_equal((json_t *)before, (json_t *)after))
        return;
    if (!json_is_object(before) || !json_is_object(after)) {
        _cleanup_(freep) char *a = before ? json_write(before) : xstrdup("absent");
        _cleanup_(freep) char *b = after ? json_write(after) : xstrdup("absent");

        print_error("  %s: was %.300s, is %.300s\n", path, a, b);
        return;
    }
    json_object_foreach((json_t *)before, key, value) {
        _cleanup_(freep) char *inner = xasprintf("%s/%s", path, key);

        print_difference(value, json_object_get(after, key), inner);
    }
    json_object_foreach((json_t *)after, key, value) {
        _cleanup_(freep) char *inner = xasprintf("%s/%s", path, key);

        if (!json_object_get(before, key))
            print_difference(NULL, value, inner);
    }
}

static inline void assert_same(const json_t *before, const json_t *after, const char *when) {
    if (json_equal((json_t *)before, (json_t *)after))
        return;
    print_error("%s: the host differs\n", when);
    print_difference(before, after, "");
    fail();
}

/* One round of a torture: a host as it was found, and a command that call n ends or spoils. */
struct round {
    struct run r;
    const char *mode;
    json_t *before;
    size_t calls; /* before the command */
    char when[64];
};

/* `what`: "overlay, reset killed at call 7". */
static inline void round_open(struct round *t, const char *mode, const char *what, size_t n) {
    *t = (struct round){.mode = mode};
    (void)text_format(t->when, sizeof t->when, "%s, %s %zu", mode, what, n);
    open_run(&t->r, mode);
    t->before = state_of(&t->r);
}

static inline void round_good(struct round *t, const char *what,
                              int once(struct run *r, struct error *err)) {
    struct error err = {0};

    if (once(&t->r, &err) < 0)
        fail_msg("%s: %s: %s", t->when, what, err.message);
}

static inline void round_assert_as_found(struct round *t) {
    _cleanup_json_ json_t *after = state_of(&t->r);

    assert_same(t->before, after, t->when);
}

/* Whether the command came to its n-th call; from here on nothing fails. */
static inline bool round_reached(struct round *t, size_t n) {
    bool reached = host_memory_calls(t->r.host) - t->calls >= n;

    host_memory_fail(t->r.host, 0);
    set_options(&t->r, t->mode);
    return reached;
}

/* A reset gives the host back as it was found. */
static inline void round_close(struct round *t) {
    round_good(t, "reset", reset_once);
    round_assert_as_found(t);
    json_decref(t->before);
    close_run(&t->r);
}

/* The row of a phase in a JoinResult. Borrowed. */
static inline const json_t *row_of(const json_t *result, const char *id) {
    json_t *row;
    size_t i;

    json_array_foreach(json_object_get(result, "phases"), i, row) {
        if (text_equal(json_text_at(row, "id"), id))
            return row;
    }
    fail_msg("no phase %s", id);
    return NULL;
}
