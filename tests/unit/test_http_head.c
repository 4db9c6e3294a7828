/* The head of an HTTP/1 answer, media types: what Go would not take is not taken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "host/http_head.h"
#include "kube/media_type.h"

/* Lines are separated by "|"; NULL or why the first bad one is refused. */
static const char *read_head(const char *lines, struct http_head *head) {
    const char *why = NULL;

    for (size_t len; lines && !why; lines = lines[len] ? lines + len + 1 : NULL) {
        struct text line = {0};

        len = strcspn(lines, "|");
        text_add_bytes(&line, lines, len);
        text_add(&line, "\r\n");
        why = http_head_read(head, text_str(&line), line.len);
        text_free(&line);
    }
    return why;
}

static const char *refusal(const char *lines) {
    struct http_head head = {0};
    const char *why = read_head(lines, &head);

    http_head_free(&head);
    return why;
}

static void test_good_heads(void **state) {
    struct http_head head = {0};

    (void)state;
    assert_null(
        read_head("HTTP/1.1 103 Hints|Link: x||HTTP/1.1 200 OK|Content-Type:  a/b \t|"
                  "content-length: 5|Content-Length: 5|X-Y:| folded|X-Z: \xfc|Content-Encoding: "
                  "identity|Transfer-Encoding: Chunked",
                  &head));
    assert_false(head.complete);
    assert_string_equal(head.type, "a/b");
    assert_string_equal(head.length, "5");
    assert_true(head.chunked);
    assert_null(read_head("|Content-Type: c/d|Content-Length: 7", &head)); /* trailers */
    assert_true(head.complete);
    assert_string_equal(head.type, "a/b");
    http_head_free(&head);
}

static void test_bad_heads(void **state) {
    static const char *const bad[] = {
        "HTTP/1.1 200OK",
        "HTTP/1.2 200 OK",
        "HTTP/1.1 20",
        "HTTP/1.1 200 OK| x: y",
        "HTTP/1.1 103 Hints|Link: x||HTTP/1.1 200 OK|\tx: y",
        "HTTP/2 200",
        "",
        "X: y",
        "HTTP/1.1 200|X Y: z",
        "HTTP/1.1 200|: z",
        "HTTP/1.1 200|X",
        "HTTP/1.1 200|X : y",
        "HTTP/1.1 200|X: a\rb",
        "HTTP/1.1 200|X: a\x7f",
        "HTTP/1.1 200|\xc3\xbc: a",
        "HTTP/1.1 200|Content-Length: +5",
        "HTTP/1.1 200|Content-Length:",
        "HTTP/1.1 200|Content-Length: 5, 5",
        "HTTP/1.1 200|Content-Length: 5|Content-Length: 6",
        "HTTP/1.1 200|Content-Type: a/b|Content-Type: c/d",
        "HTTP/1.1 200|Content-Encoding: gzip",
        "HTTP/1.1 200|Transfer-Encoding: gzip",
        "HTTP/1.0 200|Transfer-Encoding: chunked",
        "HTTP/1.1 200|Transfer-Encoding: chunked|Transfer-Encoding: chunked",
        "HTTP/1.1 200||X Y: z"};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (!refusal(bad[i]))
            fail_msg("taken: %s", bad[i]);
}

static void test_media_types(void **state) {
    static const char *const good[] = {"application/json", "Application/JSON",
                                       " application/json ; a=b ", "application/json;",
                                       "application/json; a=\"b;\\\"c\"; d=e"};
    static const char *const bad[] = {"",
                                      "text/json",
                                      "application/json x",
                                      "application/json, a/b",
                                      "application/json; a",
                                      "application/json;;",
                                      "application/json; a=",
                                      "application/json; a=1; A=2",
                                      "application/json; a=\"b",
                                      "application/json; a=\xc3\xbc",
                                      "application/jsonp",
                                      "application/json; a=1 b=2"};

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        if (!media_type_is(good[i], "application/json"))
            fail_msg("not taken: %s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (media_type_is(bad[i], "application/json"))
            fail_msg("taken: %s", bad[i]);
    assert_false(media_type_is(NULL, "application/json"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_heads),
        cmocka_unit_test(test_bad_heads),
        cmocka_unit_test(test_media_types),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
