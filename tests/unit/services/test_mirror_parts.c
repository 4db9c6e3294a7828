/* A download that was killed or interrupted goes on where it was; the SHA-256 decides. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "pki/digest.h"
#include "services/artifacts/mirror.h"
#include "tests/memory/host_memory.h"
#include "tests/memory/http_memory.h"

#define PARTS "C:\\ProgramData\\winjoin\\downloads"
enum { PIECE = 1024 * 1024, PIECES = 11, WHOLE = PIECE * PIECES, ON_DISK = 8 * PIECE };

static struct {
    char *file;
    size_t stop_at; /* bytes of the file after which it fails so; 0: it sends all */
    enum error_kind fails;
    bool whole_only; /* knows no ranges */
    bool slow;       /* a second a piece */
    int64_t length;  /* that it tells in place of the file's; -1: none */
    size_t first;    /* where the last request began */
    size_t sent;     /* by the last one */
    unsigned asked;
} server;
static struct host *host;
static char digest[DIGEST_TEXT_MAX];

static int answer(void *context, const struct http_request *request, struct http_response *ret,
                  struct error *err) {
    size_t at = server.whole_only ? 0 : request->range_begin;
    struct http_response head = {
        .status = at ? 206 : 200, .length = (int64_t)(WHOLE - at), .range_begin = (int64_t)at};

    (void)context;
    server.asked++;
    server.first = at;
    server.sent = 0;
    if (at >= WHOLE) {
        ret->status = 416;
        return 0;
    }
    ret->status = head.status;
    if (server.length)
        head.length = server.length;
    if (request->on_head(request->on_data_context, &head))
        return error_set(err, ERROR_NETWORK, "ended by the reader");
    for (; at < WHOLE; at += PIECE) {
        if (server.stop_at && at >= server.stop_at)
            return error_set(err, server.fails, "the connection ends");
        if (request->on_data(request->on_data_context, server.file + at, PIECE))
            return error_set(err, ERROR_NETWORK, "ended by the reader");
        server.sent += PIECE;
        host_memory_advance(host, server.slow ? 1000 : 0);
    }
    return 0;
}

static char told[200];
static unsigned told_percent;

static void tell(void *context, unsigned waited_ms, unsigned percent, const char *message) {
    (void)context, (void)waited_ms;
    told_percent = percent;
    assert_int_equal(text_format(told, sizeof told, "%s", message), 0);
}

static int fetch(struct error *err) {
    struct http *http = http_memory_new(answer, NULL);
    const struct mirror mirror = {.host = host,
                                  .http = http,
                                  .url = "https://m.test",
                                  .limit_ms = 5000,
                                  .parts = PARTS,
                                  .tell = tell};
    struct mirror_file file = {.path = "a.exe", .max = WHOLE, .sha256 = digest};
    int result;

    error_clear(err);
    result = mirror_fetch_all(&mirror, &file, 1, err);
    if (result == 0) {
        assert_int_equal(file.len, WHOLE);
        assert_memory_equal(file.data, server.file, WHOLE);
    }
    free(file.data);
    http_free(http);
    return result;
}

static int open_server(void **state) {
    (void)state;
    memset(&server, 0, sizeof server);
    host = host_memory_new();
    server.file = xmalloc(WHOLE);
    for (size_t i = 0; i < WHOLE; i++)
        server.file[i] = (char)(i * 31 + i / PIECE);
    digest_sha256(server.file, WHOLE, digest);
    return 0;
}

static int close_server(void **state) {
    (void)state;
    free(server.file);
    host_free(host);
    return 0;
}

/* Ctrl-C after nine of eleven pieces: the two parts that are on disk are not sent again. */
static void interrupt(struct error *err) {
    server.stop_at = 9 * PIECE;
    server.fails = ERROR_INTERRUPTED;
    assert_int_equal(fetch(err), -1);
    assert_int_equal(err->kind, ERROR_INTERRUPTED);
    assert_int_equal(host_file_type(host, PARTS), HOST_FOLDER);
    server.stop_at = 0;
}

static void goes_on_where_it_was(void **state) {
    struct error err = {0};

    (void)state;
    interrupt(&err);
    assert_int_equal(fetch(&err), 0);
    assert_int_equal(server.first, ON_DISK);
    assert_int_equal(server.sent, WHOLE - ON_DISK);
    assert_int_equal(host_file_type(host, PARTS), HOST_ABSENT);
}

static void what_is_told_while_it_comes(void **state) {
    struct error err = {0};

    (void)state;
    server.slow = true;
    assert_int_equal(fetch(&err), 0);
    assert_string_equal(told, "a.exe: 11.5 of 11.5 MB, 1.2 MB/s, 1 s left");
    assert_int_equal(told_percent, 100);
    for (int longer = 0; longer < 2; longer++) { /* than it said */
        server.length = longer ? PIECE : -1;
        assert_int_equal(fetch(&err), 0);
        assert_string_equal(told, "a.exe: 11.5 MB, 1.2 MB/s");
        assert_int_equal(told_percent, 0);
    }
}

static void a_server_without_ranges_sends_all(void **state) {
    struct error err = {0};

    (void)state;
    interrupt(&err);
    server.whole_only = true;
    assert_int_equal(fetch(&err), 0);
    assert_int_equal(server.sent, WHOLE);
}

/* What lies on the disk is not believed: another file, a changed part, a cut one. */
static void the_digest_decides(void **state) {
    _cleanup_(freep) char *first = xasprintf(PARTS "\\%s.0", digest);
    struct error err = {0};
    char *part = xcalloc(1, ON_DISK / 2);

    (void)state;
    interrupt(&err);
    assert_int_equal(host_write(host, first, part, ON_DISK / 2, HOST_SECRET, NULL), 0);
    server.asked = 0;
    assert_int_equal(fetch(&err), 0);
    assert_int_equal(server.asked, 2); /* the parts do not add up, then everything */
    assert_int_equal(server.sent, WHOLE);
    interrupt(&err);
    assert_int_equal(host_write(host, first, part, 100, HOST_SECRET, NULL), 0);
    assert_int_equal(fetch(&err), 0);
    assert_int_equal(server.first, 0);
    free(part);
}

/* A server that is gone after 60 %: what came of it does not stay. */
static void nothing_is_left_of_a_failure(void **state) {
    struct error err = {0};

    (void)state;
    server.stop_at = 6 * PIECE;
    server.fails = ERROR_NETWORK;
    assert_int_equal(fetch(&err), -1);
    assert_int_equal(err.kind, ERROR_NETWORK);
    assert_true(server.asked > 1);
    assert_int_equal(host_file_type(host, PARTS), HOST_ABSENT);
}

/* A host that cannot keep parts, at any of its calls: the file comes all the same, or it ends. */
static void a_full_disk_costs_the_continuation_alone(void **state) {
    struct error err = {0};

    for (size_t n = 1; n < 12; n++) {
        host_memory_fail(host, n);
        assert_int_equal(fetch(&err), 0);
        (void)close_server(state);
        (void)open_server(state);
    }
}

int main(void) {
#define PARTS_TEST(name) cmocka_unit_test_setup_teardown(name, open_server, close_server)
    const struct CMUnitTest tests[] = {
        PARTS_TEST(goes_on_where_it_was),
        PARTS_TEST(what_is_told_while_it_comes),
        PARTS_TEST(a_server_without_ranges_sends_all),
        PARTS_TEST(the_digest_decides),
        PARTS_TEST(nothing_is_left_of_a_failure),
        PARTS_TEST(a_full_disk_costs_the_continuation_alone),
    };

    return cmocka_run_group_tests_name("mirror_parts", tests, NULL, NULL);
}
