/* Windows paths: one spelling, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/text.h"
#include "host/path.h"

static void one_spelling(void **state) {
    static const char *const cases[][2] = {
        {"C:\\", "C:\\"},
        {"c:/", "C:\\"},
        {"c:/etc/kubernetes/", "C:\\etc\\kubernetes"},
        {"C:\\a\\\\b\\.\\c", "C:\\a\\b\\c"},
        {"C:\\Program Files\\containerd", "C:\\Program Files\\containerd"},
        {"C:\\...\\.hidden", "C:\\...\\.hidden"},
        {"\\\\server\\share\\x", "\\\\server\\share\\x"},
        {"//server/share", "\\\\server\\share"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_(freep) char *path = NULL;
        struct error err = {0};

        assert_int_equal(path_normalize(cases[i][0], &path, &err), 0);
        assert_string_equal(path, cases[i][1]);
    }
}

static void as_a_person_gives_it(void **state) {
    static const char *const cases[][2] = {
        {"C:\\a\\..\\b", "C:\\b"},
        {"C:\\a\\b\\..\\..\\", "C:\\"},
        {"C:/a/b/../c/", "C:/a/c/"},
        {"C:\\..\\..\\a", "C:\\a"},
        {"C:\\a\\\\..\\b", "C:\\b"},
        {"C:\\a\\...\\b..\\..c", "C:\\a\\...\\b..\\..c"},
        {"\\\\s\\h\\a\\..\\..\\..\\b", "\\\\s\\h\\b"},
        {"\\\\?\\C:\\a\\..\\b", "C:\\b"},
        {"\\\\.\\C:\\a", "C:\\a"},
        {"//?/c:/a", "c:/a"},
        {"\\\\?\\UNC\\s\\h\\x", "\\\\s\\h\\x"},
        {"\\\\?\\unc\\s\\h\\x", "\\\\s\\h\\x"},
        {"\\\\?\\UNC\\", "\\\\?\\UNC\\"},
        {"\\\\?\\UNC\\\\s", "\\\\?\\UNC\\\\s"},
        {"\\\\?\\Volume{1}\\..\\x", "\\\\?\\Volume{1}\\..\\x"},
        {"\\\\.\\pipe\\x", "\\\\.\\pipe\\x"},
        {"\\\\?\\C:", "\\\\?\\C:"},
        {"\\\\?\\\\\\?\\C:\\a", "\\\\?\\\\\\?\\C:\\a"},
        {"a\\..\\b", "a\\..\\b"},
        {"C:a\\..", "C:a\\.."},
        {"", ""},
        {"\\", "\\"},
        {"\\\\", "\\\\"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_(freep) char *path = path_plain(cases[i][0]);

        if (!text_equal(path, cases[i][1]))
            fail_msg("%s: %s, not %s", cases[i][0], path, cases[i][1]);
    }
}

static void a_lone_quote_has_its_hint(void **state) {
    struct error err = {0};
    char *path = NULL;

    (void)state;
    assert_int_equal(path_normalize("C:\\my dir\" --token x", &path, &err), -1);
    assert_non_null(strstr(err.message, "a file name cannot contain '\"'"));
    assert_non_null(strstr(err.hints[0], "a backslash before a closing quote"));
}

static void refused(void **state) {
    static const char *const cases[] = {
        "",        "C",        "C:",      "C:a",       "a\\b",           "\\a",
        "/a",      "1:\\a",    "C:\\..",  "C:\\a\\..", "C:\\a\nb",       "C:\\a*",
        "C:\\a|b", "C:\\a\"b", "C:\\a<b", "C:\\x:y",   "\\\\.\\pipe\\x", "\\\\?\\C:\\x",
    };
    char *path = NULL;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct error err = {0};

        assert_int_equal(path_normalize(cases[i], &path, &err), -1);
        assert_int_equal(err.kind, ERROR_USAGE);
        assert_null(path);
    }
}

static void too_long(void **state) {
    _cleanup_(freep) char *path = xcalloc(1, 5000);
    char *normal = NULL;
    struct error err = {0};

    (void)state;
    memset(path, 'a', 4999);
    memcpy(path, "C:\\", 3);
    assert_int_equal(path_normalize(path, &normal, &err), -1);
    path[4096] = '\0';
    assert_int_equal(path_normalize(path, &normal, &err), 0);
    free(normal);
}

static void expect_parent(const char *path, const char *expected) {
    _cleanup_(freep) char *parent = path_parent(path);

    assert_true(text_equal(parent, expected));
}

static void parents_and_names(void **state) {
    (void)state;
    expect_parent("C:\\a\\b", "C:\\a");
    expect_parent("C:\\a", "C:\\");
    expect_parent("C:\\", NULL);
    assert_string_equal(path_base("C:\\a\\b.exe"), "b.exe");
    assert_string_equal(path_base("/usr/bin/x"), "x");
    assert_string_equal(path_base("x"), "x");
    assert_string_equal(path_base("C:\\"), "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_spelling),
        cmocka_unit_test(as_a_person_gives_it),
        cmocka_unit_test(a_lone_quote_has_its_hint),
        cmocka_unit_test(refused),
        cmocka_unit_test(too_long),
        cmocka_unit_test(parents_and_names),
    };

    return cmocka_run_group_tests_name("path", tests, NULL, NULL);
}
