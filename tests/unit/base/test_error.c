/* Errors: kinds and exit codes are a contract; messages are one clean line, cut whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

static void kinds_are_the_contract(void **state) {
    static const struct {
        enum error_kind kind;
        const char *name;
        int exit_code, retryable;
    } rows[] = {
        {ERROR_NONE, "none", 0, 0},
        {ERROR_USAGE, "usage", 3, 0},
        {ERROR_PREFLIGHT, "preflight", 2, 0},
        {ERROR_NETWORK, "network", 1, 1},
        {ERROR_TIMED_OUT, "timeout", 1, 1},
        {ERROR_DENIED, "denied", 1, 0},
        {ERROR_ABSENT, "not-found", 1, 0},
        {ERROR_CONFLICT, "conflict", 1, 1},
        {ERROR_UNTRUSTED, "untrusted", 4, 0},
        {ERROR_MALFORMED, "malformed", 1, 0},
        {ERROR_HOST, "host", 1, 0},
        {ERROR_UNSUPPORTED, "unsupported", 3, 0},
        {ERROR_FLOWS, "flows", 5, 0},
        {ERROR_RESTART, "restart", 6, 0},
        {ERROR_INTERRUPTED, "interrupted", 130, 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct error err = {.kind = rows[i].kind};

        assert_string_equal(error_kind_name(rows[i].kind), rows[i].name);
        assert_int_equal(error_exit_code(rows[i].kind), rows[i].exit_code);
        assert_int_equal(!!error_is_retryable(&err), rows[i].retryable);
    }
    assert_int_equal(error_exit_code((enum error_kind)99), 1);
}

static void set_replaces_and_prefix_adds(void **state) {
    struct error err = {0};

    (void)state;
    assert_int_equal(error_set_os(&err, ERROR_HOST, 5, "cannot open '%s'", "a"), -1);
    assert_string_equal(err.message, "cannot open 'a' (5)");
    assert_int_equal(err.os, 5);
    assert_int_equal(error_set_os(&err, ERROR_HOST, 0x803b0006, "no"), -1);
    assert_string_equal(err.message, "no (0x803b0006)");
    (void)error_hint(&err, "old");
    assert_int_equal(error_set(&err, ERROR_USAGE, "bad %d", 7), -1);
    assert_int_equal(err.os, 0);
    assert_string_equal(err.hints[0], "");
    assert_int_equal(error_prefix(&err, "read %s", "x"), -1);
    assert_string_equal(err.message, "read x: bad 7");
    assert_int_equal(err.kind, ERROR_USAGE);
    error_clear(&err);
    assert_int_equal(err.kind, ERROR_NONE);
    assert_string_equal(err.message, "");
}

static void nobody_has_to_listen(void **state) {
    (void)state;
    assert_int_equal(error_set(NULL, ERROR_HOST, "x"), -1);
    assert_int_equal(error_set_os(NULL, ERROR_HOST, 1, "x"), -1);
    assert_int_equal(error_prefix(NULL, "x"), -1);
    assert_int_equal(error_hint(NULL, "x"), -1);
    error_clear(NULL);
}

static void bytes_from_outside_are_escaped(void **state) {
    struct error err = {0};

    (void)state;
    (void)error_set(&err, ERROR_MALFORMED, "got '%s'", "a\x1b[31m\n\xff");
    assert_string_equal(err.message, "got 'a\\x1b[31m\\n\\xff'");
    (void)error_hint(&err, "try\n%s", "this");
    assert_string_equal(err.hints[0], "try\\nthis");
}

static void long_text_is_cut_between_characters(void **state) {
    static const char *const characters[] = {"\xc3\xbc", "\xc3\xbd", "\xe2\x82\xbd",
                                             "\xf0\x9f\x98\x81"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(characters); i++)
        for (int before = 0; before < 4; before++) {
            size_t len = strlen(characters[i]), whole = (ERROR_MESSAGE_MAX - 1 - before) / len;
            struct error err = {0};
            _cleanup_(text_free) struct text text = {0};

            text_addf(&text, "%.*s", before, "abc");
            for (size_t n = 0; n < ERROR_MESSAGE_MAX; n++)
                text_add(&text, characters[i]);
            (void)error_set(&err, ERROR_HOST, "%s", text_str(&text));
            assert_int_equal(strlen(err.message), before + whole * len);
            assert_memory_equal(err.message, text_str(&text), before + whole * len);
        }
}

static void four_hints_are_kept(void **state) {
    struct error err = {0};

    (void)state;
    for (int i = 0; i < 6; i++)
        assert_int_equal(error_hint(&err, "hint %d", i), -1);
    assert_string_equal(err.hints[0], "hint 0");
    assert_string_equal(err.hints[3], "hint 3");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_are_the_contract),
        cmocka_unit_test(set_replaces_and_prefix_adds),
        cmocka_unit_test(nobody_has_to_listen),
        cmocka_unit_test(bytes_from_outside_are_escaped),
        cmocka_unit_test(long_text_is_cut_between_characters),
        cmocka_unit_test(four_hints_are_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
