/* The log: levels, one line each, and no secret ever. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/log.h"
#include "base/text.h"

static struct text last;
static int lines;

static void keep(void *context, enum log_level level, const char *line) {
    assert_ptr_equal(context, &last);
    assert_true((int)level <= log_verbosity());
    text_clear(&last);
    text_add(&last, line);
    lines++;
}

static int begin(void **state) {
    (void)state;
    lines = 0;
    return 0;
}

static int end(void **state) {
    (void)state;
    log_open(NULL, NULL, 0);
    log_forget_secrets();
    text_free(&last);
    return 0;
}

static void levels_pass_or_not(void **state) {
    (void)state;
    log_message(LOG_WARNING, "to nobody");
    log_open(keep, &last, 1);
    log_message(LOG_WARNING, "one %d", 1);
    log_message(LOG_INFO, "two");
    log_message(LOG_DEBUG, "three");
    assert_int_equal(lines, 2);
    assert_string_equal(text_str(&last), "two");
}

static void a_line_is_one_line(void **state) {
    (void)state;
    log_open(keep, &last, 0);
    log_message(LOG_WARNING, "got %s", "a\nb\x1b[m");
    assert_string_equal(text_str(&last), "got a\\nb\\x1b[m");
}

static void secrets_are_redacted(void **state) {
    (void)state;
    log_open(keep, &last, 0);
    log_hide_secret("0123456789abcdef");
    log_hide_secret("0123456789abcdef");
    log_hide_secret("short");
    log_hide_secret(NULL);
    log_message(LOG_WARNING, "x 0123456789abcdef, 0123456789abcdef0123456789abcdef short");
    assert_string_equal(text_str(&last), "x <redacted>, <redacted><redacted> short");
    log_forget_secrets();
    log_message(LOG_WARNING, "0123456789abcdef");
    assert_string_equal(text_str(&last), "0123456789abcdef");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(levels_pass_or_not, begin, end),
        cmocka_unit_test_setup_teardown(a_line_is_one_line, begin, end),
        cmocka_unit_test_setup_teardown(secrets_are_redacted, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
