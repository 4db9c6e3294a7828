/* The proxy that the environment names, and paths as a person gives them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/text.h"
#include "host/http_ops.h"
#include "host/terminal.h"

static const char *const names[] = {"HTTPS_PROXY", "https_proxy", "HTTP_PROXY",
                                    "http_proxy",  "NO_PROXY",    "no_proxy"};
static char kept[ARRAY_SIZE(names)][64]; /* putenv() keeps what it is given */

static void set_variable(size_t n, const char *value) {
    assert_true(text_format(kept[n], sizeof kept[n], "%s=%s", names[n], value) >= 0);
    assert_int_equal(putenv(kept[n]), 0);
}

static void the_environment_names_a_proxy(void **state) {
    static const struct {
        const char *values[ARRAY_SIZE(names)]; /* NULL = not set */
        const char *url, *proxy;
    } rows[] = {
        {{"http://a:1", NULL, "http://c:3"}, "https://k:6443", "http://a:1"},
        {{NULL, "http://b:2", "http://c:3"}, "https://k:6443", "http://b:2"},
        {{"http://a:1", NULL, "http://c:3"}, "http://k:6443", "http://c:3"},
        {{"http://a:1", NULL, NULL, "http://d:4"}, "http://k:6443", "http://d:4"},
        {{"http://a:1", NULL, NULL, NULL, "k"}, "https://k:6443", NULL},
        {{"http://a:1", NULL, NULL, NULL, NULL, "k"}, "https://k:6443", NULL},
        {{"http://a:1", NULL, NULL, NULL, "other"}, "https://k:6443", "http://a:1"},
        {{"http://a:1"}, "http://k:6443", NULL},
        {{NULL}, "https://k:6443", NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *found = NULL;

        for (size_t n = 0; n < ARRAY_SIZE(names); n++)
            set_variable(n, "");
        for (size_t n = 0; n < ARRAY_SIZE(names); n++)
            if (rows[i].values[n])
                set_variable(n, rows[i].values[n]);
        found = http_environment_proxy(rows[i].url);
        if (!text_equal(found, rows[i].proxy))
            fail_msg("row %zu: %s", i, found ? found : "none");
    }
}

static void paths_as_they_are_given(void **state) {
    _cleanup_(freep) char *url = terminal_full_path("https://h/a/../b");
    _cleanup_(freep) char *here = terminal_full_path("a/b/../c");
    _cleanup_(freep) char *drive = terminal_full_path("D:\\a\\..\\b");
    _cleanup_(freep) char *share = terminal_full_path("\\\\s\\t\\u");

    (void)state;
    assert_string_equal(url, "https://h/a/../b");
    assert_true(text_ends_with(here, "\\a\\c"));
    assert_true(here[1] == ':' && here[2] == '\\' && strlen(here) > strlen("Z:\\a\\c"));
    assert_null(strchr(here, '/'));
    assert_string_equal(drive, "D:\\b");
    assert_string_equal(share, "\\\\s\\t\\u");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_environment_names_a_proxy),
        cmocka_unit_test(paths_as_they_are_given),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
