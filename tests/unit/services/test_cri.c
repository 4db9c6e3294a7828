/* The container runtime asked over its pipe: gRPC's frames, CRI's messages, what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "tests/scene/cri_scene.h"
#include "services/cri.h"
#include "services/grpc.h"
#include "tests/memory/host_memory.h"

#define BYTES(s) (s), sizeof(s) - 1
#define PIPE "\\\\.\\pipe\\containerd-containerd"

/* A server that says this, in pieces, whatever it hears. */
struct script {
    const char *said;
    size_t len, piece, at;
    struct text heard;
};

static void play(void *context, const void *said, size_t len, struct text *answer) {
    struct script *script = context;
    size_t left = script->len - script->at;

    text_add_bytes(&script->heard, said, len);
    if (script->piece && left > script->piece)
        left = script->piece;
    text_add_bytes(answer, script->said + script->at, left);
    script->at += left;
}

static int call(struct script *script, struct text *ret, struct error *err) {
    const struct text request = {.data = (char[]){"\x0a\0"}, .len = 2};
    struct host *host = host_memory_new();
    int result;

    host_memory_set_pipe_answer(host, play, script);
    result = grpc_call(host, PIPE, "/x.Y/Z", &request, 1000, ret, err);
    host_free(host);
    return result;
}

static void assert_asks(const struct text *heard) {
    _cleanup_(http2_request_free) struct http2_request request = {0};

    http2_request_read(text_str(heard), heard->len, &request);
    assert_true(request.whole);
    assert_string_equal(text_str(&request.headers),
                        ":method: POST\n:scheme: http\n:path: /x.Y/Z\n:authority: localhost\n"
                        "te: trailers\ncontent-type: application/grpc\n"
                        "containerd-namespace: k8s.io\n");
    assert_int_equal(request.body.len, 7);
    assert_memory_equal(request.body.data, "\0\0\0\0\2\x0a\0", 7);
}

/* In pieces of every size. */
static void an_answer_is_put_together(void **state) {
    _cleanup_(text_free) struct text said = {0};

    (void)state;
    cri_scene_add(&said, BYTES("\x0a\1x"));
    for (size_t piece = 1; piece <= said.len; piece++) {
        struct script script = {.said = said.data, .len = said.len, .piece = piece};
        _cleanup_(text_free) struct text answer = {0};
        struct error err = {0};

        if (call(&script, &answer, &err) < 0)
            fail_msg("%s", err.message);
        assert_int_equal(answer.len, 3);
        assert_memory_equal(answer.data, "\x0a\1x", 3);
        assert_asks(&script.heard);
        text_free(&script.heard);
    }
}

/* A server that needs no more of the request says so, before or after it has read all of it. */
static void an_answer_that_ends_the_stream(void **state) {
    (void)state;
    for (char code = 0; code <= 8; code += 8) {
        const char reset[] = {0, 0, 4, 3, 0, 0, 0, 0, 1, 0, 0, 0, code};
        _cleanup_(text_free) struct text said = {0}, answer = {0};
        struct script script;
        struct error err = {0};

        cri_scene_add(&said, BYTES("\x0a\1x"));
        text_add_bytes(&said, reset, sizeof reset);
        script = (struct script){.said = said.data, .len = said.len};
        if (call(&script, &answer, &err) < 0)
            fail_msg("code %d: %s", code, err.message);
        assert_int_equal(answer.len, 3);
        text_free(&script.heard);
    }
}

/* Header fields as a server without Huffman's code writes them. */
#define BEGIN GRPC_GO_HELLO GRPC_GO_HEADERS
#define STATUS(n) "\0\0\x0f\1\5\0\0\0\1\0\x0bgrpc-status\1" n
#define ONE_BYTE "\0\0\6\0\0\0\0\0\1\0\0\0\0\1x"
#define TRAILERS_ONLY                                                                              \
    "\0\0\x46\1\5\0\0\0\1\x88\x0f\x10\x10"                                                         \
    "application/grpc\0\x0bgrpc-status\2"                                                          \
    "12"                                                                                           \
    "\0\x0cgrpc-message\x13unknown%20service%0"

static const struct bad_answer {
    const char *what, *said;
    size_t len;
    enum error_kind kind;
    const char *says;
} bad[] = {
    {"refused", BYTES(GRPC_GO_HELLO GRPC_GO_REFUSAL), ERROR_HOST,
     "the server refuses the call: INVALID_ARGUMENT: " GRPC_GO_REASON},
    {"unknown service", BYTES(GRPC_GO_HELLO TRAILERS_ONLY), ERROR_HOST,
     "the server refuses the call: UNIMPLEMENTED: unknown service%0"},
    {"an error after data", BYTES(BEGIN ONE_BYTE GRPC_GO_REFUSAL_TRAILERS), ERROR_HOST,
     "INVALID_ARGUMENT: " GRPC_GO_REASON},
    {"without a reason", BYTES(BEGIN ONE_BYTE STATUS("2")), ERROR_HOST,
     "the server refuses the call: UNKNOWN"},
    {"an unknown code",
     BYTES(BEGIN "\0\0\x10\1\5\0\0\0\1\0\x0bgrpc-status\2"
                 "17"),
     ERROR_HOST, "an unknown code"},
    {"no status in it", BYTES(BEGIN "\0\0\6\0\1\0\0\0\1\0\0\0\0\1x"), ERROR_MALFORMED, "no status"},
    {"no number", BYTES(BEGIN ONE_BYTE STATUS("x")), ERROR_MALFORMED, "no status"},
    {"broken off", BYTES(GRPC_GO_HELLO "\0\0\4\3\0\0\0\0\1\0\0\0\x08"), ERROR_HOST,
     "canceled the call"},
    {"ended early", BYTES(BEGIN ONE_BYTE "\0\0\4\3\0\0\0\0\1\0\0\0\0"), ERROR_MALFORMED,
     "no status"},
    {"hung up", BYTES(BEGIN ONE_BYTE), ERROR_HOST, "pipe '"},
    {"no HTTP/2", BYTES("HTTP/1.1 400 Bad Request\r\n"), ERROR_MALFORMED, "not HTTP/2: "},
    {"a line", BYTES("{\"ok\":false}\n"), ERROR_MALFORMED, "not HTTP/2: "},
    {"half a message", BYTES(BEGIN "\0\0\6\0\0\0\0\0\1\0\0\0\0\2x" STATUS("0")), ERROR_MALFORMED,
     "incomplete message"},
    {"compressed", BYTES(BEGIN "\0\0\6\0\0\0\0\0\1\1\0\0\0\1x" STATUS("0")), ERROR_MALFORMED,
     "incomplete message"},
    {"no message", BYTES(BEGIN STATUS("0")), ERROR_MALFORMED, "incomplete message"},
    {"data before its headers", BYTES(GRPC_GO_HELLO ONE_BYTE), ERROR_MALFORMED, "not HTTP/2: "},
    {"a push", BYTES(BEGIN "\0\0\4\5\4\0\0\0\1\0\0\0\2"), ERROR_MALFORMED, "not HTTP/2: "},
    {"all padding", BYTES(BEGIN "\0\0\2\0\x08\0\0\0\1\2x"), ERROR_MALFORMED, "not HTTP/2: "},
    {"a field cut off", BYTES(BEGIN "\0\0\5\1\5\0\0\0\1\0\x0bgrp"), ERROR_MALFORMED,
     "not HTTP/2: "},
};

static void bad_answers_are_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct script script = {.said = bad[i].said, .len = bad[i].len};
        _cleanup_(text_free) struct text answer = {0};
        struct error err = {0};

        if (call(&script, &answer, &err) == 0 || err.kind != bad[i].kind ||
            !strstr(err.message, bad[i].says))
            fail_msg("%s: %d '%s'", bad[i].what, err.kind, err.message);
        text_free(&script.heard);
    }
}

/* A server that never ends its answer does not fill the memory. */
static void endless_answers_are_cut_off(void **state) {
    static const struct {
        char type;
        const char *says;
        size_t frames;
    } cases[] = {{0, "longer than 8388608 bytes", 512}, {9, "not HTTP/2: ", 8}};
    enum { FRAME = 9 + 16384, MANY = 600 };
    _cleanup_(text_free) struct text said = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct script script = {.piece = FRAME};
        _cleanup_(text_free) struct text answer = {0};
        struct error err = {0};

        text_clear(&said);
        text_add_bytes(&said, BYTES(GRPC_GO_HELLO));
        if (cases[i].type)
            text_add_bytes(&said, BYTES("\0\0\0\1\0\0\0\0\1")); /* headers that go on */
        else
            text_add_bytes(&said, BYTES(GRPC_GO_HEADERS));
        for (size_t k = 0; k < MANY; k++) {
            text_add_bytes(&said, (char[]){0, 0x40, 0, cases[i].type, 0, 0, 0, 0, 1}, 9);
            for (size_t n = 0; n < 16384; n++)
                text_add_char(&said, 0);
        }
        script.said = said.data;
        script.len = said.len;
        assert_int_equal(call(&script, &answer, &err), -1);
        assert_int_equal(err.kind, ERROR_MALFORMED);
        if (!strstr(err.message, cases[i].says))
            fail_msg("%s", err.message);
        assert_in_range(script.at / FRAME, 1, cases[i].frames + 1);
        text_free(&script.heard);
    }
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

/* Each field is held to what is left: a pod's own, its name's, its labels', and those of other
 * types. */
static void fields_that_do_not_fit_are_refused(void **state) {
    static const struct {
        const char *list;
        size_t len;
        bool good;
    } rows[] = {
        {BYTES("\x0a\5\x0a\3one"), true},
        {BYTES("\x0a\5\x0a\4one"), false},
        {BYTES("\x0a\4\x12\2\x0a\1"), false},
        {BYTES("\x0a\4\x22\2\x0a\1"), false},
        {BYTES("\x0a\6\x0a\1x\x58\xac\2"), true},
        {BYTES("\x0a\5\x0a\1x\x58\xac"), false},
        {BYTES("\x0a\x0c\x0a\1x\x59"
               "12345678"),
         true},
        {BYTES("\x0a\x0b\x0a\1x\x59"
               "1234567"),
         false},
        {BYTES("\x0a\x08\x0a\1x\x5d"
               "1234"),
         true},
        {BYTES("\x0a\x07\x0a\1x\x5d"
               "123"),
         false},
        {BYTES("\x0a\4\x0a\1x\x5b"), false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct cri_pods pods = {0};
        struct error err = {0};
        bool good = cri_pods_parse(rows[i].list, rows[i].len, &pods, &err) == 0;

        if (good != rows[i].good || (!good && err.kind != ERROR_MALFORMED))
            fail_msg("row %zu: %d '%s'", i, err.kind, err.message);
        cri_pods_free(&pods);
    }
}

static void pods_are_removed_over_the_pipe(void **state) {
    struct host *host = host_memory_new();
    _cleanup_(cri_pods_free) struct cri_pods pods = {0};
    struct cri_scene scene = {.refusals = 1};
    struct error err = {0};

    (void)state;
    assert_int_equal(cri_pods(host, PIPE, CRI_LIST_MS, &pods, &err), -1);
    assert_int_equal(err.kind, ERROR_ABSENT);
    host_memory_set_pipe_answer(host, cri_scene_answer, &scene);
    assert_int_equal(cri_pods(host, PIPE, CRI_LIST_MS, &pods, &err), 0);
    assert_int_equal(pods.count, 2);
    assert_int_equal(cri_pod_remove(host, PIPE, &pods.items[0], &err), -1);
    assert_string_equal(
        err.message,
        "stop pod 'default/a': the server refuses the call: INVALID_ARGUMENT: " GRPC_GO_REASON);
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

static void only_a_pipe_of_this_machine_is_local(void **state) {
    static const struct {
        const char *socket;
        bool local;
    } rows[] = {
        {"npipe:////./pipe/containerd-containerd", true},
        {"npipe:////./PIPE/x", true},
        {"\\\\.\\pipe\\x", true},
        {"npipe:////host/pipe/x", false},
        {"npipe:////127.0.0.1/pipe/x", false},
        {"\\\\host\\pipe\\x", false},
        {"npipe:////./pipe/", false},
        {"npipe:////./pipe/../host/x", false},
        {"npipe:////./pipe/a/b", false},
        {"npipe:////./pipe/a b", false},
        {"npipe:////?/UNC/host/pipe/x", false},
        {"C:\\x", false},
        {"npipe://", false},
        {"", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        if (cri_socket_is_local(rows[i].socket) != rows[i].local)
            fail_msg("%s", rows[i].socket);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_is_put_together),
        cmocka_unit_test(an_answer_that_ends_the_stream),
        cmocka_unit_test(bad_answers_are_refused),
        cmocka_unit_test(endless_answers_are_cut_off),
        cmocka_unit_test(a_kubelets_pods_are_listed),
        cmocka_unit_test(cut_lists_are_refused),
        cmocka_unit_test(fields_that_do_not_fit_are_refused),
        cmocka_unit_test(pods_are_removed_over_the_pipe),
        cmocka_unit_test(sockets_are_pipes),
        cmocka_unit_test(only_a_pipe_of_this_machine_is_local),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
