/* Bootstrap tokens: the exact form, and that no error shows the text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "pki/token.h"

static void takes_the_exact_form(void **state) {
    struct token token = {0};

    (void)state;
    assert_int_equal(token_parse("abcdef.0123456789abcdef", &token, NULL), 0);
    assert_string_equal(token.id, "abcdef");
    assert_string_equal(token.secret, "0123456789abcdef");
    token_clear(&token);
    assert_int_equal(token.secret[0], 0);
}

static void refuses_every_other_form(void **state) {
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"", "empty"},
        {"abcdef.0123456789abcdeF", "upper-case letters"},
        {"abcdef.0123456789abcdef\n", "space"},
        {" abcdef.0123456789abcdef", "space"},
        {"abcdef0123456789abcdef", "no dot"},
        {"abcde.0123456789abcdef0", "5 and 17"},
        {"abcdef.0123456789abcde", "6 and 15"},
        {"abcdef.0123456789abcdef0", "6 and 17"},
        {"abcdef.0123456789abcde-", "not allowed"},
        {"abc-ef.0123456789abcdef", "not allowed"},
        {"abcdef.01234.6789abcdef", "not allowed"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct error err = {0};
        struct token token = {.id = "kept"};

        assert_int_equal(token_parse(rows[i].text, &token, &err), -1);
        assert_int_equal(err.kind, ERROR_USAGE);
        assert_non_null(strstr(err.message, rows[i].why));
        assert_string_equal(token.id, "kept");
        assert_null(strstr(err.message, "0123456789"));
    }
}

static char last_line[256];

static void keep_line(void *context, enum log_level level, const char *line) {
    (void)context, (void)level;
    (void)text_format(last_line, sizeof last_line, "%s", line);
}

static void hides_the_secret_from_the_log(void **state) {
    struct token token;

    (void)state;
    assert_int_equal(token_parse("abcdef.secret6789abcdef", &token, NULL), 0);
    log_open(keep_line, NULL, LOG_INFO);
    log_message(LOG_INFO, "sent abcdef.secret6789abcdef here");
    log_open(NULL, NULL, 0);
    assert_string_equal(last_line, "sent abcdef.<redacted> here");
    log_forget_secrets();
}

static void knows_ids(void **state) {
    (void)state;
    assert_true(token_id_is_valid("abc123"));
    assert_false(token_id_is_valid("abc12"));
    assert_false(token_id_is_valid("abc1234"));
    assert_false(token_id_is_valid("abC123"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_the_exact_form),
        cmocka_unit_test(refuses_every_other_form),
        cmocka_unit_test(hides_the_secret_from_the_log),
        cmocka_unit_test(knows_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
