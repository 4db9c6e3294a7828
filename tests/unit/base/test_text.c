/* Text: the builder keeps its cap, escaping is total, numbers and lists are strict. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/text.h"

static void builder_grows_and_stays_terminated(void **state) {
    struct text t = {0};
    char long_text[1000];

    (void)state;
    assert_string_equal(text_str(&t), "");
    text_add(&t, "a");
    text_add_char(&t, 'b');
    text_addf(&t, "%d-%s", 7, "x");
    text_add_bytes(&t, "yz", 1);
    assert_string_equal(text_str(&t), "ab7-xy");
    assert_int_equal(t.len, 6);
    memset(long_text, 'q', sizeof long_text);
    long_text[sizeof long_text - 1] = '\0';
    text_clear(&t);
    text_addf(&t, "<%s>", long_text);
    assert_int_equal(t.len, sizeof long_text + 1);
    assert_int_equal(t.data[t.len - 1], '>');
    text_free(&t);
    assert_null(t.data);
}

static void cap_drops_what_is_more(void **state) {
    struct text t = {.cap = 5};

    (void)state;
    text_add(&t, "abc");
    assert_false(t.overflow);
    text_add(&t, "de");
    assert_false(t.overflow);
    text_add(&t, "f");
    assert_true(t.overflow);
    assert_string_equal(text_str(&t), "abcde");
    text_clear(&t);
    assert_false(t.overflow);
    text_add(&t, "123456");
    assert_true(t.overflow);
    assert_string_equal(text_str(&t), "");
    text_free(&t);
    assert_int_equal(t.cap, 5);
}

static void take_hands_over(void **state) {
    struct text t = {0};
    _cleanup_(freep) char *empty = text_take(&t), *full = NULL;

    (void)state;
    assert_string_equal(empty, "");
    text_add(&t, "x");
    full = text_take(&t);
    assert_string_equal(full, "x");
    assert_int_equal(t.len, 0);
    assert_string_equal(text_str(&t), "");
}

static void escapes_what_could_move_a_cursor(void **state) {
    static const struct {
        const char *in;
        size_t len;
        const char *out;
    } rows[] = {
        {"plain \\ text", 12, "plain \\ text"},
        {"\n\t\r", 3, "\\n\\t\\r"},
        {"\x1b[2J\x7f", 5, "\\x1b[2J\\x7f"},
        {"a\0b", 3, "a\\x00b"},
        {"gr\xc3\xbc\xc3\x9f", 6, "gr\xc3\xbc\xc3\x9f"},
        {"\xe2\x82\xac\xf0\x9f\x98\x80", 7, "\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"\xc3", 1, "\\xc3"},                            /* cut short */
        {"\xc0\xaf", 2, "\\xc0\\xaf"},                   /* longer than needed */
        {"\xe0\x80\xaf", 3, "\\xe0\\x80\\xaf"},          /* longer than needed */
        {"\xed\xa0\x80", 3, "\\xed\\xa0\\x80"},          /* a surrogate */
        {"\xf4\x90\x80\x80", 4, "\\xf4\\x90\\x80\\x80"}, /* above U+10FFFF */
        {"\xc2\x9b"
         "1m",
         4,
         "\\xc2\\x9b"
         "1m"}, /* C1 control sequence introducer */
        {"\xc2\xa0", 2, "\xc2\xa0"},
        {"\x80\xff", 2, "\\x80\\xff"},
        /* what turns a line around, or shows nothing */
        {"a\xe2\x80\xae\xe2\x81\xa6z", 8, "a\\u202e\\u2066z"},
        {"\xc2\xad\xd8\x9c\xe2\x80\x8b\xef\xbb\xbf", 10, "\\u00ad\\u061c\\u200b\\ufeff"},
        {"\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaf", 9, "\\u2028\\u2029\xe2\x80\xaf"},
        {"\xf3\xa0\x80\x81", 4, "\\udb40\\udc01"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct text t = {0};

        text_add_escaped(&t, rows[i].in, rows[i].len);
        assert_string_equal(text_str(&t), rows[i].out);
        text_free(&t);
    }
}

static void shows_what_is_there(void **state) {
    static const char in[] = "\x1b[1m a\n\xe2\x80\xae\xff\xc3\xbc\xe2";
    struct text t = {0};

    (void)state;
    text_add_visible(&t, in, sizeof in - 1);
    assert_string_equal(text_str(&t), "\x1b[1m a\n\\u202e\xff\xc3\xbc\xe2");
    text_free(&t);
}

static void compares(void **state) {
    (void)state;
    assert_true(text_equal("a", "a"));
    assert_false(text_equal("a", "A"));
    assert_true(text_equal(NULL, NULL));
    assert_false(text_equal(NULL, ""));
    assert_false(text_equal("", NULL));
    assert_true(text_equal_nocase("AbZ", "aBz"));
    assert_false(text_equal_nocase("ab", "abc"));
    assert_false(text_equal_nocase("abc", "ab"));
    assert_false(text_equal_nocase("[", "{"));
    assert_true(text_starts_with("abc", "ab"));
    assert_false(text_starts_with("a", "ab"));
    assert_true(text_ends_with("a.json", ".json"));
    assert_false(text_ends_with("json", ".json"));
    assert_true(text_equal_secret("abc", 3, "abc", 3));
    assert_false(text_equal_secret("abc", 3, "abd", 3));
    assert_false(text_equal_secret("bbc", 3, "abc", 3));
    assert_false(text_equal_secret("abc", 3, "abcd", 4));
}

static void format_refuses_to_cut(void **state) {
    char out[4] = "xxx";

    (void)state;
    assert_int_equal(text_format(out, sizeof out, "%d", 123), 0);
    assert_string_equal(out, "123");
    assert_int_equal(text_format(out, sizeof out, "%d", 1234), -1);
    assert_string_equal(out, "");
}

static void numbers_are_whole(void **state) {
    static const char *const bad[] = {"",
                                      "-",
                                      " 1",
                                      "1 ",
                                      "+1",
                                      "1.",
                                      "0x10",
                                      "1e3",
                                      "101",
                                      "-11",
                                      "9223372036854775808",
                                      "99999999999999999999"};
    long long n = 42;

    (void)state;
    assert_int_equal(text_to_number("100", -10, 100, &n), 0);
    assert_int_equal(n, 100);
    assert_int_equal(text_to_number("-10", -10, 100, &n), 0);
    assert_int_equal(n, -10);
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        assert_int_equal(text_to_number(bad[i], -10, 100, &n), -1);
    assert_int_equal(n, -10);
    assert_int_equal(text_to_number("-9223372036854775808", INT64_MIN, INT64_MAX, &n), 0);
    assert_true(n == INT64_MIN);
    assert_int_equal(text_to_number("9223372036854775808", INT64_MIN, INT64_MAX, &n), -1);
}

static void ports_are_split_off(void **state) {
    static const struct {
        const char *text, *host;
        unsigned port; /* 7 = none is named */
    } rows[] = {
        {"host", "host", 7},
        {"host:1", "host", 1},
        {"host:65535", "host", 65535},
        {"10.0.0.1:80", "10.0.0.1", 80},
        {"[fd00::1]:80", "fd00::1", 80},
        {"[fd00::1]", "fd00::1", 7},
        {"fd00::1", "fd00::1", 7},
        {"::", "::", 7},
        {"[a", "[a", 7},
        {":80", "", 80},
        {"", "", 7},
        {"host:", NULL, 7},
        {"host:0", NULL, 7},
        {"host:65536", NULL, 7},
        {"host:x", NULL, 7},
        {"[fd00::1]x", NULL, 7},
        {"[fd00::1]80", NULL, 7},
        {"[fd00::1]:", NULL, 7},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *host = NULL;
        unsigned port = 7;
        int result = text_split_port(rows[i].text, &host, &port);

        if (result != (rows[i].host ? 0 : -1) || !text_equal(host, rows[i].host) ||
            port != rows[i].port)
            fail_msg("%s: %d '%s' %u", rows[i].text, result, host ? host : "none", port);
    }
}

static void lists_split_and_join(void **state) {
    struct text_list list = {0};
    _cleanup_(freep) char *joined = NULL, *low = text_lower("ABC-xyZ");

    (void)state;
    assert_string_equal(low, "abc-xyz");
    assert_string_equal(text_replace(low, "-a", '/'), "/bc/xyz");
    assert_string_equal(text_replace(low, "-a", '+'), "/bc/xyz");
    text_list_split(&list, ",a,,bc,", ',');
    text_list_add(&list, "d");
    text_list_add_owned(&list, xstrdup("e"));
    assert_int_equal(list.count, 4);
    assert_null(list.items[4]);
    assert_true(text_list_has(&list, "bc"));
    assert_false(text_list_has(&list, "b"));
    joined = text_list_join(&list, ", ");
    assert_string_equal(joined, "a, bc, d, e");
    text_list_free(&list);
    assert_int_equal(list.count, 0);
    assert_null(list.items);
}

static void columns_of_a_terminal(void **state) {
    (void)state;
    assert_int_equal(text_columns(""), 0);
    assert_int_equal(text_columns("ok  a"), 5);
    assert_int_equal(text_columns("\xe2\x9c\x93  a"), 4);
    assert_int_equal(text_columns("\x1b[32m\xe2\x9c\x93\x1b[0m  am"), 5);
    assert_int_equal(text_columns("a\x1b[32"), 1); /* cut short */
}

static void placeholders(void **state) {
    static const struct text_value values[] = {{"a", "1"}, {"b", ""}, {"c", NULL}, {NULL, NULL}};
    static const struct {
        const char *pattern, *filled;
        char begin, end;
    } rows[] = {
        {"", "", '{', '}'},
        {"x", "x", '{', '}'},
        {"{a}", "1", '{', '}'},
        {"x{a}y{a}{b}z", "x1y1z", '{', '}'},
        {"{c} {other} {} {ab}", "c other  ab", '{', '}'},
        {"{a", "{a", '{', '}'},
        {"a}{a}", "a}1", '{', '}'},
        {"@a@ @b@@", "1 @", '@', '@'},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *filled =
            text_fill(rows[i].pattern, rows[i].begin, rows[i].end, values);

        assert_string_equal(filled, rows[i].filled);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(placeholders),
        cmocka_unit_test(builder_grows_and_stays_terminated),
        cmocka_unit_test(cap_drops_what_is_more),
        cmocka_unit_test(take_hands_over),
        cmocka_unit_test(escapes_what_could_move_a_cursor),
        cmocka_unit_test(shows_what_is_there),
        cmocka_unit_test(compares),
        cmocka_unit_test(format_refuses_to_cut),
        cmocka_unit_test(numbers_are_whole),
        cmocka_unit_test(ports_are_split_off),
        cmocka_unit_test(lists_split_and_join),
        cmocka_unit_test(columns_of_a_terminal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
