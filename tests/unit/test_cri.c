/* The container runtime asked over its pipe: gRPC's frames, CRI's messages, what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/memory.h"
#include "cri_scene.h"
#include "host/host_memory.h"
#include "services/cri.h"
#include "services/grpc.h"

#define BYTES(s) (s), sizeof(s) - 1
#define PIPE "\\\\.\\pipe\\containerd-containerd"

static void a_call_is_the_bytes_that_http2_wants(void **state) {
    static const char wanted[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
                                 "\0\0\x12\4\0\0\0\0\0\0\1\0\0\0\0\0\2\0\0\0\0\0\4\0\x80\0\0"
                                 "\0\0\4\x08\0\0\0\0\0\0\x80\0\0"
                                 "\0\0\x35\1\4\0\0\0\1\x83\x86\4\6/x.Y/Z\1\x09localhost\x0f\x10"
                                 "\x10"
                                 "application/grpc\0\2te\x08trailers"
                                 "\0\0\7\0\1\0\0\0\1\0\0\0\0\2\x0a\0";
    _cleanup_(text_free) struct text call = {0};
    struct error err = {0};
    char longest[GRPC_METHOD_MAX + 2];

    (void)state;
    assert_int_equal(grpc_call_make("/x.Y/Z", BYTES("\x0a\0"), &call, &err), 0);
    assert_int_equal(call.len, sizeof wanted - 1);
    assert_memory_equal(call.data, wanted, sizeof wanted - 1);
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    assert_int_equal(grpc_call_make(longest, "", 0, &call, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
}

/* In pieces of every size. */
static void an_answer_is_put_together(void **state) {
    _cleanup_(text_free) struct text said = {0};

    (void)state;
    cri_scene_add(&said, BYTES("\x0a\1x"));
    for (size_t piece = 1; piece <= said.len; piece++) {
        _cleanup_(grpc_answer_free) struct grpc_answer answer = {0};
        _cleanup_(text_free) struct text reply = {0};
        struct error err = {0};

        for (size_t at = 0; at < said.len; at += piece)
            assert_int_equal(grpc_answer_take(&answer, said.data + at,
                                              said.len - at < piece ? said.len - at : piece, &reply,
                                              &err),
                             0);
        assert_true(answer.ended);
        assert_int_equal(answer.message.len, 3);
        assert_memory_equal(answer.message.data, "\x0a\1x", 3);
        /* settings and ping are acknowledged */
        assert_int_equal(reply.len, 9 + 17);
        assert_memory_equal(reply.data, "\0\0\0\4\1\0\0\0\0\0\0\x08\6\1\0\0\0\0\2\4", 20);
    }
}

static const struct bad_answer {
    const char *what, *said;
    size_t len;
    enum error_kind kind;
} bad[] = {
    {"refused", BYTES(GRPC_GO_HELLO GRPC_GO_REFUSAL), ERROR_HOST},
    {"broken off", BYTES("\0\0\4\3\0\0\0\0\1\0\0\0\x08"), ERROR_HOST},
    {"no HTTP/2", BYTES("HTTP/1.1 400 Bad Request\r\n"), ERROR_MALFORMED},
    {"a line", BYTES("{\"ok\":false}\n"), ERROR_MALFORMED},
    {"half a message", BYTES("\0\0\6\0\0\0\0\0\1\0\0\0\0\2x" GRPC_GO_TRAILERS), ERROR_MALFORMED},
    {"compressed", BYTES("\0\0\6\0\0\0\0\0\1\1\0\0\0\1x" GRPC_GO_TRAILERS), ERROR_MALFORMED},
    {"a push", BYTES("\0\0\0\5\4\0\0\0\1"), ERROR_MALFORMED},
    {"a short ping", BYTES("\0\0\1\6\0\0\0\0\0x"), ERROR_MALFORMED},
    {"all padding", BYTES("\0\0\2\0\x08\0\0\0\1\2x"), ERROR_MALFORMED},
    {"empty and padded", BYTES("\0\0\0\0\x08\0\0\0\1"), ERROR_MALFORMED},
};

static void bad_answers_are_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        _cleanup_(grpc_answer_free) struct grpc_answer answer = {0};
        _cleanup_(text_free) struct text reply = {0};
        struct error err = {0};

        if (grpc_answer_take(&answer, bad[i].said, bad[i].len, &reply, &err) == 0 ||
            err.kind != bad[i].kind)
            fail_msg("%s: %d '%s'", bad[i].what, err.kind, err.message);
    }
}

static void padding_is_taken_off(void **state) {
    _cleanup_(grpc_answer_free) struct grpc_answer answer = {0};
    _cleanup_(text_free) struct text reply = {0};
    struct error err = {0};

    (void)state;
    assert_int_equal(
        grpc_answer_take(&answer, BYTES("\0\0\x09\0\x09\0\0\0\1\2\0\0\0\0\1xpp"), &reply, &err), 0);
    assert_true(answer.ended);
    assert_string_equal(text_str(&answer.message), "x");
}

/* A server that never ends its answer does not fill the memory. */
static void an_endless_answer_is_cut_off(void **state) {
    static char frame[9 + 16384] = "\0\x40\0\0\0\0\0\0\1";
    _cleanup_(grpc_answer_free) struct grpc_answer answer = {0};
    _cleanup_(text_free) struct text reply = {0};
    struct error err = {0};
    unsigned frames = 0;

    (void)state;
    while (frames < 1000 && grpc_answer_take(&answer, frame, sizeof frame, &reply, &err) == 0)
        frames++;
    assert_int_equal(err.kind, ERROR_MALFORMED);
    assert_int_equal(frames, 512);
}

static void a_kubelets_pods_are_listed(void **state) {
    _cleanup_(cri_pods_free) struct cri_pods pods = {0};
    struct error err = {0};

    (void)state;
    if (cri_pods_parse(BYTES(CRI_LIST), &pods, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(pods.count, 2);
    assert_string_equal(pods.items[0].id, "one");
    assert_string_equal(pods.items[0].name, "default/a");
    assert_string_equal(pods.items[1].id, "two");
    assert_string_equal(pods.items[1].name, "kube-system/b");
}

/* Cut anywhere but between two pods, it is refused. */
static void cut_lists_are_refused(void **state) {
    static const char deprecated[] = "\x0b", no_id[] = "\x0a\4\x12\2\x0a\0";
    struct cri_pods pods = {0};
    struct error err = {0};
    unsigned whole = 0;

    (void)state;
    for (size_t len = 1; len < sizeof CRI_LIST - 1; len++)
        if (cri_pods_parse(CRI_LIST, len, &pods, &err) == 0) {
            whole++;
            cri_pods_free(&pods);
        }
    assert_int_equal(whole, 2);
    assert_int_equal(cri_pods_parse(BYTES(deprecated), &pods, &err), -1);
    assert_int_equal(err.kind, ERROR_MALFORMED);
    assert_int_equal(cri_pods_parse(BYTES(no_id), &pods, &err), -1);
    assert_int_equal(err.kind, ERROR_MALFORMED);
}

static void pods_are_removed_over_the_pipe(void **state) {
    struct host *host = host_memory_new();
    _cleanup_(cri_pods_free) struct cri_pods pods = {0};
    struct cri_scene scene = {.refusals = 1};
    struct error err = {0};

    (void)state;
    assert_int_equal(cri_pods(host, PIPE, &pods, &err), -1);
    assert_int_equal(err.kind, ERROR_ABSENT);
    host_memory_set_pipe_answer(host, cri_scene_answer, &scene);
    assert_int_equal(cri_pods(host, PIPE, &pods, &err), 0);
    assert_int_equal(pods.count, 2);
    assert_int_equal(cri_pod_remove(host, PIPE, &pods.items[0], &err), -1);
    assert_string_equal(err.message, "stop pod 'default/a': the server refuses the call");
    assert_int_equal(cri_pod_remove(host, PIPE, &pods.items[0], &err), 0);
    assert_int_equal(scene.stopped, 1);
    assert_int_equal(scene.removed, 1);
    host_free(host);
}

static void sockets_are_pipes(void **state) {
    _cleanup_(freep) char *named = cri_pipe_path("npipe:////./pipe/containerd-containerd");
    _cleanup_(freep) char *bare = cri_pipe_path("//./pipe/containerd-containerd");

    (void)state;
    assert_string_equal(named, PIPE);
    assert_string_equal(bare, PIPE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_is_the_bytes_that_http2_wants),
        cmocka_unit_test(an_answer_is_put_together),
        cmocka_unit_test(bad_answers_are_refused),
        cmocka_unit_test(padding_is_taken_off),
        cmocka_unit_test(an_endless_answer_is_cut_off),
        cmocka_unit_test(a_kubelets_pods_are_listed),
        cmocka_unit_test(cut_lists_are_refused),
        cmocka_unit_test(pods_are_removed_over_the_pipe),
        cmocka_unit_test(sockets_are_pipes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
