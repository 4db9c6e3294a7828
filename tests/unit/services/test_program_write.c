/* A program that runs is not written over: it is moved aside, and removed when it runs no more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "services/artifacts/artifacts.h"
#include "tests/memory/host_memory.h"

#define PROGRAM "C:\\k\\winjoin.exe"
static struct host *host;

static int open_host(void **state) {
    (void)state;
    host = host_memory_new();
    return 0;
}

static int close_host(void **state) {
    (void)state;
    host_free(host);
    return 0;
}

static void put(const char *path, const char *text) {
    assert_int_equal(host_write(host, path, text, strlen(text), HOST_PUBLIC, NULL), 0);
}

/* NULL: absent. */
static void assert_text(const char *path, const char *wanted) {
    _cleanup_(freep) char *text = NULL;
    size_t len;

    if (host_read(host, path, 100, &text, &len, NULL) < 0)
        assert_null(text);
    if (!text_equal(text, wanted))
        fail_msg("%s: '%s', not '%s'", path, text ? text : "absent", wanted ? wanted : "absent");
}

static int replace(const char *text, struct error *err) {
    error_clear(err);
    return program_write(host, PROGRAM, text, strlen(text), HOST_PUBLIC, err);
}

static void one_that_does_not_run_is_written_over(void **state) {
    struct error err = {0};

    (void)state;
    assert_int_equal(replace("first", &err), 0);
    assert_int_equal(replace("second", &err), 0);
    assert_text(PROGRAM, "second");
    assert_text(PROGRAM ".old", NULL);
}

static void one_that_runs_is_moved_aside(void **state) {
    struct error err = {0};

    (void)state;
    put(PROGRAM, "runs");
    host_memory_hold(host, PROGRAM);
    if (replace("new", &err) < 0)
        fail_msg("%s", err.message);
    assert_text(PROGRAM, "new");
    assert_text(PROGRAM ".old", "runs");
}

/* Those that still run stay; the others go the next time. */
static void older_ones_that_run_stay(void **state) {
    struct error err = {0};

    (void)state;
    put(PROGRAM, "first");
    host_memory_hold(host, PROGRAM);
    assert_int_equal(replace("second", &err), 0);
    host_memory_hold(host, PROGRAM);
    assert_int_equal(replace("third", &err), 0);
    assert_text(PROGRAM, "third");
    assert_text(PROGRAM ".old", "first");
    assert_text(PROGRAM ".old1", "second");
    program_remove_old(host, PROGRAM);
    assert_text(PROGRAM ".old", "first");
    host_memory_hold(host, NULL);
    host_memory_hold(host, PROGRAM);
    assert_int_equal(replace("fourth", &err), 0);
    assert_text(PROGRAM ".old", "third");
    assert_text(PROGRAM ".old1", NULL);
    host_memory_hold(host, NULL);
    program_remove_old(host, PROGRAM);
    assert_text(PROGRAM ".old", NULL);
    assert_text(PROGRAM, "fourth");
}

/* Ten of them run: the eleventh is refused as the file itself was, and nothing is lost. */
static void too_many_that_run(void **state) {
    struct error err = {0};

    (void)state;
    put(PROGRAM, "0");
    for (int i = 0; i < 10; i++) {
        host_memory_hold(host, PROGRAM);
        assert_int_equal(replace("next", &err), 0);
    }
    host_memory_hold(host, PROGRAM);
    assert_int_equal(replace("more", &err), -1);
    assert_int_equal(err.kind, ERROR_DENIED);
    assert_non_null(strstr(err.message, PROGRAM));
    assert_text(PROGRAM, "next");
    assert_text(PROGRAM ".old9", "next");
    assert_text(PROGRAM ".old10", NULL);
}

/* What else is in the way is no program that runs. */
static void other_failures_move_nothing(void **state) {
    struct error err = {0};

    (void)state;
    assert_int_equal(host_make_folder(host, PROGRAM, HOST_PUBLIC, NULL), 0);
    assert_int_equal(replace("new", &err), -1);
    assert_int_equal(err.kind, ERROR_DENIED);
    assert_int_equal(host_file_type(host, PROGRAM), HOST_FOLDER);
    assert_int_equal(host_file_type(host, PROGRAM ".old"), HOST_ABSENT);
}

int main(void) {
#define WRITE_TEST(name) cmocka_unit_test_setup_teardown(name, open_host, close_host)
    const struct CMUnitTest tests[] = {
        WRITE_TEST(one_that_does_not_run_is_written_over),
        WRITE_TEST(one_that_runs_is_moved_aside),
        WRITE_TEST(older_ones_that_run_stay),
        WRITE_TEST(too_many_that_run),
        WRITE_TEST(other_failures_move_nothing),
    };

    return cmocka_run_group_tests_name("program_write", tests, NULL, NULL);
}
