/* C:\k in the machine's Path: added once by a join, taken out by reset, all else of it as it was.
 */
#include "tests/scene/join_scene.h"

#include "host/host_ops.h"
#include "host/machine_path.h"

#define FOLDER "C:\\k"

static char *path_of(struct host *host) {
    char *found = NULL;
    struct error why = {0};

    (void)host->ops->registry_get(host, MACHINE_PATH_KEY, MACHINE_PATH_VALUE, true, &found, &why);
    return found;
}

static void expect_path(struct host *host, const char *expected) {
    _cleanup_(freep) char *found = path_of(host);

    if (!text_equal(found, expected))
        fail_msg("Path is '%s', not '%s'", found ? found : "absent",
                 expected ? expected : "absent");
}

/* `before` gets the folder so, and is as it was when it is taken out. */
static void goes_through(const char *before, const char *between) {
    struct host *host = host_memory_new();
    struct error err = {0};

    host_memory_set_registry(host, MACHINE_PATH_KEY, MACHINE_PATH_VALUE, before);
    assert_int_equal(machine_path_set(host, FOLDER, true, &err), 0);
    expect_path(host, between);
    assert_int_equal(machine_path_set(host, FOLDER, true, &err), 0);
    expect_path(host, between);
    assert_int_equal(machine_path_set(host, FOLDER, false, &err), 0);
    expect_path(host, before);
    host_free(host);
}

static void comes_and_goes(void **state) {
    (void)state;
    goes_through("%SystemRoot%;D:\\tools", "%SystemRoot%;D:\\tools;C:\\k");
    goes_through("%SystemRoot%;", "%SystemRoot%;C:\\k;");
    goes_through("%SystemRoot%;;D:\\a b;;", "%SystemRoot%;;D:\\a b;;C:\\k;");
    goes_through("C:\\k8s;C:\\k\\bin;DC:\\k", "C:\\k8s;C:\\k\\bin;DC:\\k;C:\\k");
    goes_through(NULL, "C:\\k");
}

static void expect_look(const char *list, enum machine_path expected) {
    struct host *host = host_memory_new();
    enum machine_path found;
    struct error err = {0};

    host_memory_set_registry(host, MACHINE_PATH_KEY, MACHINE_PATH_VALUE, list);
    assert_int_equal(machine_path_check(host, FOLDER, &found, &err), 0);
    if (found != expected)
        fail_msg("'%s': %d", list, found);
    host_free(host);
}

static void is_found_as_windows_does(void **state) {
    static const char *const there[] = {"c:\\K", "\"C:\\k\"", "A; C:\\k\\ ;B", "C:\\k;B",
                                        "A;C:\\k"};
    static const char *const absent[] = {"C:\\kk", "C:\\k\\bin", "", ";", "A;B", "C:"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(there); i++)
        expect_look(there[i], MACHINE_PATH_HAS);
    for (size_t i = 0; i < ARRAY_SIZE(absent); i++)
        expect_look(absent[i], MACHINE_PATH_LACKS);
}

/* What another program has added behind ours, or taken out with it, stays as that left it. */
static void others_change_it_meanwhile(void **state) {
    struct host *host = host_memory_new();
    struct error err = {0};

    (void)state;
    host_memory_set_registry(host, MACHINE_PATH_KEY, MACHINE_PATH_VALUE, "A;C:\\k;B");
    assert_int_equal(machine_path_set(host, FOLDER, false, &err), 0);
    expect_path(host, "A;B");
    assert_int_equal(machine_path_set(host, FOLDER, false, &err), 0);
    expect_path(host, "A;B");
    for (size_t n = 1; n <= 2; n++) { /* to read it, to set it */
        host_memory_fail(host, n);
        assert_int_equal(machine_path_set(host, FOLDER, true, &err), -1);
        expect_path(host, "A;B");
    }
    host_free(host);
}

static char *long_path(size_t len) {
    char *list = xmalloc(len + 1);

    memset(list, 'x', len);
    list[len] = '\0';
    return list;
}

static void too_long_a_path_is_left_alone(void **state) {
    _cleanup_(freep) char *fits = long_path(MACHINE_PATH_MAX - strlen(";" FOLDER));
    _cleanup_(freep) char *full = long_path(MACHINE_PATH_MAX - strlen(";" FOLDER) + 1);
    struct join join;
    struct error err = {0};
    struct run r;
    size_t told = 0;

    (void)state;
    expect_look(fits, MACHINE_PATH_LACKS);
    expect_look(full, MACHINE_PATH_FULL);
    open_run(&r, "overlay");
    host_memory_set_registry(r.host, MACHINE_PATH_KEY, MACHINE_PATH_VALUE, full);
    join = (struct join){.host = r.host, .http = r.http, .asked = &r.options};
    assert_int_equal(join_open(&join, &err), 0);
    if (join_run(&join, &err) < 0)
        fail_msg("%s", err.message);
    for (size_t i = 0; i < join.progress.warnings.count; i++)
        told += strstr(join.progress.warnings.items[i], "2047 characters") != NULL;
    join_close(&join);
    assert_int_equal(told, 1);
    expect_path(r.host, full);
    close_run(&r);
}

static void a_join_adds_it_and_reset_takes_it_out(void **state) {
    struct error err = {0};
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    host_memory_set_registry(r.host, MACHINE_PATH_KEY, MACHINE_PATH_VALUE, "%SystemRoot%;A");
    assert_int_equal(join_once(&r, &err), 0);
    expect_path(r.host, "%SystemRoot%;A;C:\\k");
    host_memory_set_registry(r.host, MACHINE_PATH_KEY, MACHINE_PATH_VALUE,
                             "%SystemRoot%;A;C:\\k;D:\\later");
    assert_int_equal(reset_once(&r, &err), 0);
    expect_path(r.host, "%SystemRoot%;A;D:\\later");
    close_run(&r);
}

/* It was the administrator's before: reset leaves it. */
static void what_was_there_stays(void **state) {
    struct error err = {0};
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    host_memory_set_registry(r.host, MACHINE_PATH_KEY, MACHINE_PATH_VALUE, "c:\\K\\;A");
    assert_int_equal(join_once(&r, &err), 0);
    assert_int_equal(reset_once(&r, &err), 0);
    expect_path(r.host, "c:\\K\\;A");
    close_run(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_and_goes),
        cmocka_unit_test(is_found_as_windows_does),
        cmocka_unit_test(others_change_it_meanwhile),
        cmocka_unit_test(too_long_a_path_is_left_alone),
        cmocka_unit_test(a_join_adds_it_and_reset_takes_it_out),
        cmocka_unit_test(what_was_there_stays),
    };

    return cmocka_run_group_tests_name("machine_path", tests, NULL, NULL);
}
