/* Base64: RFC 4648 section 10, and what must be refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base64.h"
#include "base/memory.h"

static void vectors_of_the_rfc(void **state) {
    static const char *const rows[][3] = {
        {"", "", ""},
        {"f", "Zg==", "Zg"},
        {"fo", "Zm8=", "Zm8"},
        {"foo", "Zm9v", "Zm9v"},
        {"foob", "Zm9vYg==", "Zm9vYg"},
        {"fooba", "Zm9vYmE=", "Zm9vYmE"},
        {"foobar", "Zm9vYmFy", "Zm9vYmFy"},
        {"\xfb\xff\xbf", "+/+/", "-_-_"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        size_t len = strlen(rows[i][0]), n = 0;
        _cleanup_(freep) char *padded = base64_encode(rows[i][0], len);
        _cleanup_(freep) char *url = base64url_encode(rows[i][0], len);
        _cleanup_(freep) unsigned char *one = NULL;

        assert_string_equal(padded, rows[i][1]);
        assert_string_equal(url, rows[i][2]);
        assert_int_equal(base64_decode(padded, strlen(padded), &one, &n, NULL), 0);
        assert_int_equal(n, len);
        assert_string_equal((char *)one, rows[i][0]);
    }
}

static void line_breaks_are_skipped(void **state) {
    _cleanup_(freep) unsigned char *out = NULL;
    size_t n = 0;

    (void)state;
    assert_int_equal(base64_decode("Zm9v\r\nYmFy\n", 11, &out, &n, NULL), 0);
    assert_int_equal(n, 6);
    assert_memory_equal(out, "foobar", 6);
}

static void refused(void **state) {
    static const char *const standard[] = {"Zg",   "Zg=",      "Zg===", "Z===", "====",
                                           "Zh==", "Zm9=",     "Zm9v=", "-_-_", "Zm 9v",
                                           "=Zg=", "Zg==Zg==", "Zm9vY"};
    unsigned char *out = NULL;
    size_t n = 77;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(standard); i++) {
        struct error err = {0};

        if (base64_decode(standard[i], strlen(standard[i]), &out, &n, &err) == 0)
            fail_msg("'%s' was taken", standard[i]);
        assert_int_equal(err.kind, ERROR_MALFORMED);
    }
    assert_int_equal(base64_decode("Zm\0v", 4, &out, &n, NULL), -1);
    assert_null(out);
    assert_int_equal(n, 77);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_of_the_rfc),
        cmocka_unit_test(line_breaks_are_skipped),
        cmocka_unit_test(refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
