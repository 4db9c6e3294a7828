/* Chunks of an HTTP/1 answer: what Go would not take is not taken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/text.h"
#include "host/http_chunks.h"

static bool take(void *context, const char *data, size_t len) {
    text_add_bytes(context, data, len);
    return true;
}

static bool take_no_more(void *context, const char *data, size_t len) {
    text_add_bytes(context, data, len);
    return false;
}

/* Reads in pieces of `step`. NULL or why it is refused; *ret_whole: the end was there. */
static const char *read_all(const char *text, size_t len, size_t step, struct text *ret_body,
                            bool *ret_whole) {
    _cleanup_(freep) struct http_chunks *chunks = xcalloc(1, sizeof *chunks);
    const char *why = NULL;

    for (size_t at = 0; at < len && !why; at += step)
        why =
            http_chunks_read(chunks, text + at, step < len - at ? step : len - at, take, ret_body);
    *ret_whole = chunks->state == HTTP_CHUNKS_END;
    return why;
}

static void assert_body(const char *text, const char *body) {
    for (size_t step = 1; step <= strlen(text); step++) {
        struct text found = {0};
        bool whole;

        assert_null(read_all(text, strlen(text), step, &found, &whole));
        assert_true(whole);
        assert_string_equal(text_str(&found), body);
        text_free(&found);
    }
}

static void test_good_chunks(void **state) {
    (void)state;
    assert_body("0\r\n\r\n", "");
    assert_body("3\r\nabc\r\n0a\r\n0123456789\r\n0\r\n\r\nleft alone", "abc0123456789");
    assert_body("3;x=y; z\r\nabc\r\n1 \t\r\nd\r\n000\r\nX: y\r\n Z: 1\r\n\r\n", "abcd");
    assert_body("1A\r\nabcdefghijklmnopqrstuvwxyz\r\n0\r\n\r\n", "abcdefghijklmnopqrstuvwxyz");
}

static void test_bad_chunks(void **state) {
    static const char *const bad[] = {
        "\r\n",
        ";x\r\n",
        "\n",
        "3\nabc\r\n",
        "3\r\r\nabc\r\n",
        "3;a\rb\r\n",
        "3\r\nabc\n",
        "3\r\nabc\rx",
        "3\r\nabcd\r\n",
        "3\r\nabc0\r\n\r\n",
        "-1\r\n",
        "+1\r\n",
        "0x1\r\n",
        " 1\r\n",
        "1 ;x\r\n",
        "1g\r\n",
        "1 1\r\n",
        "1,1\r\n",
        "00000000000000001\r\n",
        "0\r\nx\r\n",
        "0\n\n",
        "0\r\n\n",
        "0\r\nX: y\n\r\n",
        "0\r\nX: \x01\r\n\r\n",
        "0\r\n x: y\r\n\r\n",
        "0\r\nX: y\r\nHTTP/1.1 200 OK\r\n\r\n",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct text body = {0};
        bool whole;

        if (!read_all(bad[i], strlen(bad[i]), 1, &body, &whole))
            fail_msg("taken: %s", bad[i]);
        text_free(&body);
    }
}

static void test_unfinished_chunks(void **state) {
    static const char *const cut[] = {
        "", "3", "3\r\nab", "3\r\nabc", "3\r\nabc\r\n", "0\r\n", "0\r\nX: y\r\n"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cut); i++) {
        struct text body = {0};
        bool whole;

        assert_null(read_all(cut[i], strlen(cut[i]), 1, &body, &whole));
        assert_false(whole);
        text_free(&body);
    }
}

/* `count` chunks of one octet with an extension of `len` letters. */
static const char *extended(size_t count, size_t len, const char *end) {
    struct text text = {0}, body = {0};
    const char *why;
    bool whole;

    for (size_t i = 0; i < count; i++) {
        text_add(&text, "1;");
        for (size_t k = 0; k < len; k++)
            text_add(&text, "x");
        text_add(&text, "\r\na\r\n");
    }
    text_add(&text, end);
    why = read_all(text_str(&text), text.len, text.len, &body, &whole);
    assert_true(why || whole);
    text_free(&text);
    text_free(&body);
    return why;
}

static void test_bounds(void **state) {
    struct text trailers = {0};

    (void)state;
    assert_null(extended(1, 4000, "0\r\n\r\n"));
    assert_string_equal(extended(1, 5000, ""), "a line of its chunks is too long");
    assert_null(extended(4, 4000, "0\r\n\r\n"));
    assert_string_equal(extended(5, 4000, ""), "its chunks hold too much that is no data");
    assert_null(extended(1000, 10, "0\r\n\r\n")); /* a short extension is free */
    text_add(&trailers, "0\r\n");
    for (int i = 0; i < 1000; i++)
        text_add(&trailers, "X: y\r\n");
    assert_string_equal(extended(1, 0, text_str(&trailers)), "its trailers are too long");
    text_free(&trailers);
}

static void test_stops(void **state) {
    struct http_chunks chunks = {0};
    struct text body = {0};
    const char *text = "2\r\nab\r\n2\r\ncd\r\n0\r\n\r\n";

    (void)state;
    assert_null(http_chunks_read(&chunks, text, strlen(text), take_no_more, &body));
    assert_string_equal(text_str(&body), "ab");
    text_free(&body);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_chunks),
        cmocka_unit_test(test_bad_chunks),
        cmocka_unit_test(test_unfinished_chunks),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_stops),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
