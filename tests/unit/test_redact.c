/* Tokens in texts for people. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/redact.h"

static void tokens_are_hidden(void **state) {
    static const char *const rows[][2] = {
        {"", ""},
        {".", "."},
        {"abcdef.0123456789abcdef", "abcdef.****************"},
        {"unknown flag: --abcdef.0123456789abcdef", "unknown flag: --abcdef.****************"},
        {"\"abcdef.0123456789abcdef\", x", "\"abcdef.****************\", x"},
        {"a=abcdef.0123456789abcdef\nb abcdef.0123456789abcdef",
         "a=abcdef.****************\nb abcdef.****************"},
        {"abcdef.0123456789abcde", "abcdef.0123456789abcde"},
        {"abcdef.0123456789abcdef0", "abcdef.0123456789abcdef0"},
        {"xabcdef.0123456789abcdef", "xabcdef.0123456789abcdef"},
        {"www.abcdef.0123456789abcdef", "www.abcdef.0123456789abcdef"},
        {"abcdef.0123456789abcdef.example", "abcdef.0123456789abcdef.example"},
        {"abcdeF.0123456789abcdef", "abcdeF.0123456789abcdef"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        char *text = xstrdup(rows[i][0]);

        redact_tokens(text);
        assert_string_equal(text, rows[i][1]);
        freep(&text);
    }
}

static void errors_hide_them(void **state) {
    struct error err = {0};

    (void)state;
    (void)error_set(&err, ERROR_USAGE, "what is %s", "abcdef.0123456789abcdef");
    (void)error_hint(&err, "not %s", "abcdef.0123456789abcdef");
    assert_string_equal(err.message, "what is abcdef.****************");
    assert_string_equal(err.hints[0], "not abcdef.****************");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_are_hidden),
        cmocka_unit_test(errors_hide_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
