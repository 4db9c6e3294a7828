/* The container runtime asked over its pipe: gRPC's frames, CRI's messages, what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "cri_scene.h"
#include "services/cri.h"
#include "services/grpc.h"
#include "services/hpack.h"
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

static const char call_bytes[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
                                 "\0\0\x12\4\0\0\0\0\0\0\1\0\0\0\0\0\2\0\0\0\0\0\4\0\x80\0\0"
                                 "\0\0\4\x08\0\0\0\0\0\0\x80\0\0"
                                 "\0\0\x35\1\4\0\0\0\1\x83\x86\4\6/x.Y/Z\1\x09localhost\x0f\x10"
                                 "\x10"
                                 "application/grpc\0\2te\x08trailers"
                                 "\0\0\7\0\1\0\0\0\1\0\0\0\0\2\x0a\0";

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
        assert_memory_equal(script.heard.data, call_bytes, sizeof call_bytes - 1);
        if (piece < 60) { /* settings and ping were acknowledged before the end */
            assert_int_equal(script.heard.len, sizeof call_bytes - 1 + 9 + 17);
            assert_memory_equal(script.heard.data + sizeof call_bytes - 1,
                                "\0\0\0\4\1\0\0\0\0\0\0\x08\6\1\0\0\0\0\2\4", 20);
        }
        text_free(&script.heard);
    }
}

/* Header fields as a server without Huffman's code writes them. */
#define OK                                                                                         \
    "\0\0\x0f\1\5\0\0\0\1\0\x0bgrpc-status\1"                                                      \
    "0"
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
    {"an error after data", BYTES(GRPC_GO_HELLO GRPC_GO_HEADERS ONE_BYTE GRPC_GO_REFUSAL),
     ERROR_HOST, "INVALID_ARGUMENT"},
    {"without a reason", BYTES(ONE_BYTE STATUS("2")), ERROR_HOST,
     "the server refuses the call: UNKNOWN"},
    {"an unknown code",
     BYTES("\0\0\x10\1\5\0\0\0\1\0\x0bgrpc-status\2"
           "17"),
     ERROR_HOST, "an unknown code"},
    {"no status in it", BYTES("\0\0\6\0\1\0\0\0\1\0\0\0\0\1x"), ERROR_MALFORMED, "status"},
    {"no number", BYTES(ONE_BYTE STATUS("x")), ERROR_MALFORMED, "status"},
    {"broken off", BYTES("\0\0\4\3\0\0\0\0\1\0\0\0\x08"), ERROR_HOST, "canceled the call"},
    {"hung up", BYTES(GRPC_GO_HELLO ONE_BYTE), ERROR_HOST, "pipe '"},
    {"no HTTP/2", BYTES("HTTP/1.1 400 Bad Request\r\n"), ERROR_MALFORMED, "not HTTP/2"},
    {"a line", BYTES("{\"ok\":false}\n"), ERROR_MALFORMED, "not HTTP/2"},
    {"half a message", BYTES("\0\0\6\0\0\0\0\0\1\0\0\0\0\2x" OK), ERROR_MALFORMED,
     "incomplete message"},
    {"compressed", BYTES("\0\0\6\0\0\0\0\0\1\1\0\0\0\1x" OK), ERROR_MALFORMED,
     "incomplete message"},
    {"no message", BYTES(OK), ERROR_MALFORMED, "incomplete message"},
    {"a push", BYTES("\0\0\0\5\4\0\0\0\1"), ERROR_MALFORMED, "frame of type 5"},
    {"a short ping", BYTES("\0\0\1\6\0\0\0\0\0x"), ERROR_MALFORMED, "frame of type 6"},
    {"all padding", BYTES("\0\0\2\0\x08\0\0\0\1\2x"), ERROR_MALFORMED, "padding"},
    {"empty and padded", BYTES("\0\0\0\0\x08\0\0\0\1"), ERROR_MALFORMED, "padding"},
    {"a weight cut off", BYTES("\0\0\4\1\x24\0\0\0\1\0\0\0\0"), ERROR_MALFORMED, "padding"},
    {"a field cut off", BYTES("\0\0\5\1\5\0\0\0\1\0\x0bgrp"), ERROR_MALFORMED, "incomplete field"},
    {"a dynamic table", BYTES("\0\0\1\1\5\0\0\0\1\xbe"), ERROR_MALFORMED, "not enabled"},
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

static void assert_answers_x(const char *said, size_t len) {
    struct script script = {.said = said, .len = len};
    _cleanup_(text_free) struct text answer = {0};
    struct error err = {0};

    if (call(&script, &answer, &err) < 0)
        fail_msg("%s", err.message);
    assert_string_equal(text_str(&answer), "x");
    text_free(&script.heard);
}

static void padding_is_taken_off(void **state) {
    (void)state;
    assert_answers_x(BYTES("\0\0\1\0\x08\0\0\0\1\0\0\0\x09\0\x08\0\0\0\1\2\0\0\0\0\1xpp"
                           "\0\0\x17\1\x2d\0\0\0\1\2\0\0\0\0\0\0\x0bgrpc-status\1"
                           "0pp"));
}

/* Headers in two frames, the first of which says that the stream ends. */
static void headers_go_on(void **state) {
    (void)state;
    assert_answers_x(BYTES(ONE_BYTE "\0\0\5\1\1\0\0\0\1\0\x0bgrp"
                                    "\0\0\x0a\x09\4\0\0\0\1"
                                    "c-status\1"
                                    "0"));
}

/* A server that never ends its answer does not fill the memory. */
static void endless_answers_are_cut_off(void **state) {
    static const struct {
        char type;
        const char *says;
        size_t frames;
    } cases[] = {{0, "longer than 8388608 bytes", 512}, {9, "longer than 65536 bytes", 4}};
    enum { FRAME = 9 + 16384, MANY = 600 };
    _cleanup_(freep) char *said = xcalloc(MANY, FRAME);

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct script script = {.said = said, .len = (size_t)MANY * FRAME, .piece = FRAME};
        _cleanup_(text_free) struct text answer = {0};
        struct error err = {0};

        for (size_t k = 0; k < MANY; k++)
            memcpy(said + k * FRAME, (char[]){0, 0x40, 0, cases[i].type, 0, 0, 0, 0, 1}, 9);
        assert_int_equal(call(&script, &answer, &err), -1);
        assert_int_equal(err.kind, ERROR_MALFORMED);
        assert_non_null(strstr(err.message, cases[i].says));
        assert_int_equal(script.at / FRAME, cases[i].frames + 1);
        text_free(&script.heard);
    }
}

/* ---- header fields ---- */

static void add_field(void *context, const char *name, const char *value) {
    text_addf(context, "%s=%s\n", name, value);
}

/* RFC 7541, C.4.1 (where a server may not use a table of its own, as literals), C.1.2, 5.1. */
static void header_fields_are_read(void **state) {
    static const char block[] = "\x3f\xe1\x1f\x82"
                                "\x41\x8c\xf1\xe3\xc2\xe5\xf2\x3a\x6b\xa0\xab\x90\xf4\xff"
                                "\x10\x0a"
                                "custom-key\x89\x25\xa8\x49\xe9\x5b\xb8\xe8\xb4\xbf"
                                "\x0f\x10\x03"
                                "abc"
                                "\0\1b\x83\xff\xfe\x6f";
    _cleanup_(text_free) struct text fields = {0};
    struct error err = {0};
    unsigned whole = 0;

    (void)state;
    if (hpack_read(BYTES(block), add_field, &fields, &err) < 0)
        fail_msg("%s", err.message);
    assert_string_equal(fields.data, "=www.example.com\ncustom-key=custom-value\n=abc\nb=?\n");
    for (size_t len = 0; len < sizeof block - 1; len++)
        whole += hpack_read(block, len, add_field, &fields, &err) == 0;
    assert_int_equal(whole, 6); /* between two fields */
    assert_int_equal(hpack_read(BYTES("\x0f\xff\xff\xff\xff\xff\1"), add_field, &fields, &err), -1);
}

/* Every printable character, as golang.org/x/net/http2/hpack 0.57 writes them. */
static void huffmans_code_is_known(void **state) {
    static const char block[] =
        "\x20\x05\xdd\x53\xf8\xfe\x7f\xeb\xff\x2a\xfc\x7f\xaf\xeb\xfb\xf9\xff\x7f\x4b\x2e\xc0\x02"
        "\x26\x5a\x6d\xc7\x5e\x7e\xe7\xdf\xff\xc8\x3f\xef\xfc\xff\xd4\x37\x6f\x5f\xc1\x87\x16\x3c"
        "\x99\x73\x67\xd1\xa7\x56\xbd\x9b\x77\x6f\xe1\xc7\x97\xe7\x3f\xdf\xfd\xff\xff\x0f\xfe\x7f"
        "\xf9\x17\xff\xd1\xc6\x49\x0b\x2c\xd3\x9b\xa7\x5a\x29\xa8\xf5\xf6\xb1\x09\xb7\xbf\x8f\x3e"
        "\xbd\xff\xfe\xff\x9f\xfe\xff\xf7";
    _cleanup_(text_free) struct text fields = {0}, wanted = {0};
    struct error err = {0};

    (void)state;
    text_add(&wanted, "=");
    for (char c = ' '; c <= '~'; c++)
        text_add_char(&wanted, c);
    text_add(&wanted, "\n");
    assert_int_equal(hpack_read(BYTES(block), add_field, &fields, &err), 0);
    assert_string_equal(fields.data, wanted.data);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_is_put_together),
        cmocka_unit_test(bad_answers_are_refused),
        cmocka_unit_test(padding_is_taken_off),
        cmocka_unit_test(headers_go_on),
        cmocka_unit_test(endless_answers_are_cut_off),
        cmocka_unit_test(header_fields_are_read),
        cmocka_unit_test(huffmans_code_is_known),
        cmocka_unit_test(a_kubelets_pods_are_listed),
        cmocka_unit_test(cut_lists_are_refused),
        cmocka_unit_test(fields_that_do_not_fit_are_refused),
        cmocka_unit_test(pods_are_removed_over_the_pipe),
        cmocka_unit_test(sockets_are_pipes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
