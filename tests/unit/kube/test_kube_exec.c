/* A program run in a pod: channels, exit codes, refusals and servers that speak no WebSocket; in
 * memory (over TLS: test_kube_exec_wire.c). */
#include "tests/scene/kube_scene.h"

#include "base/base64.h"
#include "kube/exec.h"
#include "kube/websocket.h"
#include "pki/digest.h"

#define SUCCESS "\x03{\"status\":\"Success\"}"
#define EXIT(code)                                                                                 \
    "\x03{\"status\":\"Failure\",\"reason\":\"NonZeroExitCode\",\"details\":{\"causes\":[{"        \
    "\"reason\":\"ExitCode\",\"message\":\"" code "\"}]}}"

/* The server's bytes: an answer to the opening, then frames, in pieces of `piece` bytes (0: all).
 */
struct server {
    struct scene *scene;
    const char *head; /* NULL: the right one */
    const char *protocol;
    struct text frames;
    size_t piece, at;
    bool answered, silent; /* at the end: silent, or it hangs up */
    unsigned silence_ms;
    struct text whole, heard;
};

static struct server server;

static void frame(int first, const char *data, size_t len) {
    text_add_char(&server.frames, (char)first);
    if (len < 126) {
        text_add_char(&server.frames, (char)len);
    } else if (len < 65536) {
        text_add_char(&server.frames, 126);
        text_add_char(&server.frames, (char)(len >> 8));
        text_add_char(&server.frames, (char)len);
    } else {
        text_add_char(&server.frames, 127);
        for (int i = 7; i >= 0; i--)
            text_add_char(&server.frames, (char)((uint64_t)len >> (8 * i)));
    }
    text_add_bytes(&server.frames, data, len);
}

static void message(const char *data) {
    frame(0x82, data, strlen(data));
}

static void answer_head(const struct text *said) {
    char *key = strstr(text_str(said), "Sec-WebSocket-Key: ");
    _cleanup_(freep) char *whole = NULL, *accept = NULL;
    unsigned char digest[DIGEST_SHA1_LEN];

    assert_non_null(key);
    key += strlen("Sec-WebSocket-Key: ");
    whole = xasprintf("%.*s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", (int)strcspn(key, "\r"), key);
    digest_sha1(whole, strlen(whole), digest);
    accept = base64_encode(digest, sizeof digest);
    if (server.head)
        text_add(&server.whole, server.head);
    else
        text_addf(&server.whole,
                  "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nconnection: "
                  "Upgrade\r\nSEC-WEBSOCKET-ACCEPT:  %s \r\nSec-WebSocket-Protocol: %s\r\n\r\n",
                  accept, server.protocol);
    text_add_bytes(&server.whole, text_str(&server.frames), server.frames.len);
}

static const char *say(void *context, const struct text *said, size_t *ret_len) {
    static char piece[2 * 1024 * 1024]; /* of its own: what is behind it is not to be read */

    (void)context;
    text_clear(&server.heard);
    text_add_bytes(&server.heard, text_str(said), said->len);
    if (!server.answered)
        answer_head(said);
    server.answered = true;
    *ret_len = server.whole.len - server.at;
    if (!*ret_len) {
        host_memory_advance(server.scene->host, server.silence_ms);
        *ret_len = !server.silent;
        return NULL;
    }
    if (server.piece && server.piece < *ret_len)
        *ret_len = server.piece;
    memcpy(piece, server.whole.data + server.at, *ret_len);
    server.at += *ret_len;
    return piece;
}

static int exec_setup(void **state) {
    int result = setup(state);

    server = (struct server){.scene = *state, .protocol = "v5.channel.k8s.io"};
    server.frames.cap = server.whole.cap = 4 * 1024 * 1024;
    http_memory_on_talk(server.scene->http, say, NULL);
    return result;
}

static int exec_teardown(void **state) {
    text_free(&server.frames);
    text_free(&server.whole);
    text_free(&server.heard);
    return teardown(state);
}

static const char *const argv[] = {"winjoin", "probe", "a b&c", NULL};

static int run(struct kube_exec_result *ret, struct error *err) {
    const struct kube_exec exec = {
        .namespace_ = "kube-system", .pod = "p", .container = "c", .argv = argv};

    *ret = (struct kube_exec_result){0};
    *err = (struct error){0};
    kube_exec(&server.scene->client, &exec, ret, err, 1);
    return err->kind ? -1 : 0;
}

/* ---- what is well ---- */

static void output_and_exit_code(void **state) {
    static const size_t pieces[] = {0, 1, 7, 130};
    static const char *const protocols[] = {"v5.channel.k8s.io", "v4.channel.k8s.io"};
    _cleanup_(freep) char *long_out = xmalloc(70001);
    struct kube_exec_result result;
    struct error err;

    memset(long_out, 'x', 70000);
    long_out[0] = 1;
    long_out[70000] = '\0';
    for (size_t i = 0; i < ARRAY_SIZE(pieces); i++) {
        (void)exec_teardown(state);
        assert_int_equal(exec_setup(state), 0);
        server.piece = pieces[i];
        server.protocol = protocols[i % 2];
        frame(0x82, "\0", 1); /* the channels are open */
        message("\x01one ");
        frame(0x89, "ping", 4);
        frame(0x02, "\x01two", 4); /* a message in three frames, a pong between */
        frame(0x8a, "", 0);
        frame(0x00, " th", 3);
        frame(0x80, "ree", 3);
        message("\x02wrong");
        message(EXIT("7")); /* which overtakes what follows */
        frame(0x82, long_out, 70000);
        message("\x04{}");
        frame(0x82, "\xff\x01", 2);
        frame(0x88, "\x03\xe8", 2);
        if (run(&result, &err) < 0)
            fail_msg("%s", err.message);
        assert_int_equal(result.exit_code, 7);
        assert_int_equal(result.out.len, strlen("one two three") + 69999);
        assert_true(text_starts_with(text_str(&result.out), "one two threexxx"));
        assert_string_equal(text_str(&result.err), "wrong");
        kube_exec_result_free(&result);
    }
}

static void what_is_asked(void **state) {
    struct kube_exec_result result;
    struct error err;
    const char *said, *pong;

    (void)state;
    free(server.scene->client.server);
    server.scene->client.server = xstrdup("https://[fd00::1]:6443/k8s/c1");
    server.piece = 1;
    frame(0x89, "ab", 2);
    message(SUCCESS);
    frame(0x88, "\x03\xe8", 2);
    assert_int_equal(run(&result, &err), 0);
    assert_int_equal(result.exit_code, 0);
    said = text_str(&server.heard);
    assert_true(text_starts_with(
        said, "GET /k8s/c1/api/v1/namespaces/kube-system/pods/p/exec?stdout=true&stderr=true"
              "&container=c&command=winjoin&command=probe&command=a%20b%26c HTTP/1.1\r\n"
              "Host: [fd00::1]:6443\r\n"));
    assert_non_null(strstr(said, "\r\nUpgrade: websocket\r\n"));
    assert_non_null(strstr(said, "\r\nSec-WebSocket-Version: 13\r\n"));
    assert_non_null(strstr(said, "\r\nAuthorization: Bearer t\r\n"));
    assert_non_null(
        strstr(said, "\r\nSec-WebSocket-Protocol: v5.channel.k8s.io, v4.channel.k8s.io\r\n"));
    pong = strstr(said, "\r\n\r\n") + 4; /* masked, and the payload under the mask */
    assert_int_equal((unsigned char)pong[0], 0x8a);
    assert_int_equal((unsigned char)pong[1], 0x82);
    assert_int_equal(pong[6] ^ pong[2], 'a');
    assert_int_equal(pong[7] ^ pong[3], 'b');
    kube_exec_result_free(&result);
}

static void codes_of_windows(void **state) {
    struct kube_exec_result result;
    struct error err;

    (void)state;
    message(EXIT("3221225786")); /* 0xC000013A */
    frame(0x88, "", 0);
    assert_int_equal(run(&result, &err), 0);
    assert_int_equal((unsigned)result.exit_code, 0xc000013au);
    kube_exec_result_free(&result);
}

/* A close that never comes does not keep an exit code away. */
static void a_server_that_does_not_close(void **state) {
    struct kube_exec_result result;
    struct error err;

    (void)state;
    message("\x01out");
    message(SUCCESS);
    server.silent = true;
    server.silence_ms = 500;
    assert_int_equal(run(&result, &err), 0);
    assert_string_equal(text_str(&result.out), "out");
    kube_exec_result_free(&result);
}

/* ---- what is not ---- */

static void assert_fails(enum error_kind kind, const char *message) {
    struct kube_exec_result result;
    struct error err;

    assert_int_equal(run(&result, &err), -1);
    assert_true(text_starts_with(err.message, "run a program in pod kube-system/p: "));
    if (!strstr(err.message, message) || err.kind != kind)
        fail_msg("'%s' (%d) is not '%s'", err.message, err.kind, message);
    assert_null(strstr(err.message, "Bearer"));
    assert_null(result.out.data);
}

static void servers_that_refuse(void **state) {
    static const struct {
        const char *head, *message;
        enum error_kind kind;
    } rows[] = {
        {"HTTP/1.1 403 Forbidden\r\nContent-Length: "
         "51\r\n\r\n{\"reason\":\"Forbidden\",\"message\":"
         "\"you may not exec\"}",
         "you may not exec (403 Forbidden)", ERROR_DENIED},
        {"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nnobody", "404: no", ERROR_ABSENT},
        {"HTTP/1.1 500 No\r\n\r\nerror dialing backend", "500: error dialing backend",
         ERROR_NETWORK},
        {"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", "answered 200", ERROR_MALFORMED},
        {"HTTP/1.0 101 x\r\n\r\n", "is not HTTP/1.1", ERROR_MALFORMED},
        {"SSH-2.0-x\r\n", "is not HTTP/1.1", ERROR_MALFORMED},
        {"HTTP/1.1 abc\r\n\r\n", "has no status", ERROR_MALFORMED},
        {"HTTP/1.1 101 x\r\n\r\n", "does not fit the request", ERROR_MALFORMED},
        {"HTTP/1.1 101 x\r\nSec-WebSocket-Accept: abc=\r\n\r\n", "does not fit the request",
         ERROR_MALFORMED},
        {"HTTP/1.1 101 x\r\n", "hung up", ERROR_NETWORK},
        {"", "hung up", ERROR_NETWORK},
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        (void)exec_teardown(state);
        assert_int_equal(exec_setup(state), 0);
        server.head = rows[i].head;
        assert_fails(rows[i].kind, rows[i].message);
    }
}

static void another_protocol(void **state) {
    server.protocol = "channel.k8s.io";
    assert_fails(ERROR_MALFORMED, "the server chose the protocol 'channel.k8s.io'");
    (void)exec_teardown(state);
    assert_int_equal(exec_setup(state), 0);
    server.protocol = "";
    assert_fails(ERROR_MALFORMED, "the server chose the protocol ''");
}

static void frames_that_are_none(void **state) {
    static const struct {
        const char *bytes;
        size_t len;
        const char *message;
    } rows[] = {
        {"\xc2\x01x", 3, "masked or compressed"},
        {"\x82\x81xxxxx", 7, "masked or compressed"},
        {"\x82\x7f\0\0\0\0\0\x10\0\x01", 10, "a frame is too long"},
        {"\x82\x7f\xff\xff\xff\xff\xff\xff\xff\xff", 10, "a frame is too long"},
        {"\x81\x01x", 3, "sent a text"},
        {"\x80\x01x", 3, "do not follow each other"},
        {"\x02\x01x\x82\x01x", 6, "do not follow each other"},
        {"\x83\x01x", 3, "do not follow each other"},
        {"\x8b\x00", 2, "a control frame is wrong"},
        {"\x09\x00", 2, "a control frame is wrong"},
        {"\x82\x02\x03{", 4, "decode Status"},
        {"\x88\x00\x82\x15\x03{\"status\":\"Success\"}", 25, "ended it without an exit code"},
    };

    struct text long_ping = {0};

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        (void)exec_teardown(state);
        assert_int_equal(exec_setup(state), 0);
        text_add_bytes(&server.frames, rows[i].bytes, rows[i].len);
        server.piece = i % 2;
        assert_fails(i + 1 < ARRAY_SIZE(rows) ? ERROR_MALFORMED : ERROR_NETWORK, rows[i].message);
    }
    while (long_ping.len < 126)
        text_add(&long_ping, "x");
    (void)exec_teardown(state);
    assert_int_equal(exec_setup(state), 0);
    frame(0x89, text_str(&long_ping), 126); /* longer than one may be */
    assert_fails(ERROR_MALFORMED, "a control frame is wrong");
    text_free(&long_ping);
}

static void endings(void **state) {
    message("\x01out");
    assert_fails(ERROR_NETWORK, "hung up");

    (void)exec_teardown(state);
    assert_int_equal(exec_setup(state), 0);
    message("\x01out");
    server.silent = true;
    server.silence_ms = 11000;
    assert_fails(ERROR_TIMED_OUT, "it did not end in time");

    (void)exec_teardown(state);
    assert_int_equal(exec_setup(state), 0);
    message("\x03{\"status\":\"Failure\",\"reason\":\"InternalError\",\"code\":500,\"message\":"
            "\"container not found\"}");
    frame(0x88, "", 0);
    assert_fails(ERROR_NETWORK, "container not found (500 InternalError)");

    (void)exec_teardown(state);
    assert_int_equal(exec_setup(state), 0);
    message(EXIT("x"));
    frame(0x88, "", 0);
    assert_fails(ERROR_NETWORK, "NonZeroExitCode");
}

static void too_much(void **state) {
    _cleanup_(freep) char *big = xcalloc(1, 600 * 1024);

    (void)state;
    big[0] = 1;
    server.piece = 16384;
    frame(0x82, big, 600 * 1024);
    frame(0x82, big, 600 * 1024);
    message(SUCCESS);
    assert_fails(ERROR_MALFORMED, "output is longer than 1048576 bytes");

    (void)exec_teardown(state);
    assert_int_equal(exec_setup(state), 0);
    server.piece = 16384;
    frame(0x02, big, 600 * 1024);
    frame(0x00, big, 600 * 1024);
    assert_fails(ERROR_MALFORMED, "a message is too long");

    (void)exec_teardown(state);
    assert_int_equal(exec_setup(state), 0);
    memset(big, 'x', 600 * 1024 - 1);
    server.head = "HTTP/1.1 101 x\r\nX: ";
    text_add_bytes(&server.frames, big, 600 * 1024);
    server.piece = 4096;
    assert_fails(ERROR_MALFORMED, "the answer is longer than 65536 bytes");
}

static void a_server_without_a_scheme(void **state) {
    char *url = server.scene->client.server;
    struct kube_exec_result result;
    struct error err;

    (void)state;
    server.scene->client.server = (char *)"10.0.0.10";
    assert_int_equal(run(&result, &err), -1);
    server.scene->client.server = url;
    assert_int_equal(err.kind, ERROR_USAGE);
    assert_non_null(strstr(err.message, "not an http or https URL"));
}

int main(void) {
#define EXEC_TEST(name) cmocka_unit_test_setup_teardown(name, exec_setup, exec_teardown)
    const struct CMUnitTest tests[] = {EXEC_TEST(output_and_exit_code),
                                       EXEC_TEST(what_is_asked),
                                       EXEC_TEST(codes_of_windows),
                                       EXEC_TEST(a_server_that_does_not_close),
                                       EXEC_TEST(servers_that_refuse),
                                       EXEC_TEST(another_protocol),
                                       EXEC_TEST(frames_that_are_none),
                                       EXEC_TEST(endings),
                                       EXEC_TEST(too_much),
                                       EXEC_TEST(a_server_without_a_scheme)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
