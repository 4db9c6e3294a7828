/* A Windows host played in a folder: it outlives the program, nothing leads out of it, and without
 * a folder this is not a Windows machine. */
#define SCENE "rootfs"
#include "tests/scene/host_scene.h"

/* On Windows there is nothing to play. */
static void need_rootfs(const char *rootfs) {
    if (!host_rehearses)
        skip();
    SUCCEEDS(host_open(rootfs, &opened, err));
}

static void reopen(const char *rootfs) {
    host_free(opened);
    opened = NULL;
    need_rootfs(rootfs);
}

static void state_outlives_the_program(void **state) {
    struct host_service service = {.name = (char *)SERVICE, .command = (char *)"C:\\x.exe"};
    struct host_firewall_rule rule = {.name = SERVICE, .description = "x", .port = 10250};
    bool there = false;

    (void)state;
    need_rootfs("build/host-rootfs");
    SUCCEEDS(host_service_put(opened, &service, err));
    SUCCEEDS(host_service_start(opened, SERVICE, 1000, err));
    SUCCEEDS(host_firewall_put(opened, &rule, err));
    reopen("build/host-rootfs");
    expect_service(SERVICE, HOST_SERVICE_RUNNING, "C:\\x.exe");
    SUCCEEDS(host_firewall_has(opened, SERVICE, &there, err));
    assert_true(there);
    SUCCEEDS(host_firewall_remove(opened, SERVICE, err));
    SUCCEEDS(host_service_delete(opened, SERVICE, 1000, err));
    SUCCEEDS(host_port_in_use(opened, false, 10250, &there, err));
    assert_false(there); /* nobody listens on a played server */
    reopen("build/host-rootfs");
    expect_service(SERVICE, HOST_SERVICE_ABSENT, NULL);
}

static void a_folder_is_no_file(void **state) {
    struct text_list names = {0};
    uint64_t bytes = 0;

    (void)state;
    need_rootfs("build/host-rootfs");
    SUCCEEDS(host_make_folder(opened, FOLDER "\\in", HOST_PUBLIC, err));
    FAILS_WITH(ERROR_HOST, host_write(opened, FOLDER "\\in", "x", 1, HOST_PUBLIC, err));
    SUCCEEDS(host_list(opened, FOLDER, &names, err));
    assert_int_equal(names.count, 1); /* nothing is left beside it */
    FAILS_WITH(ERROR_HOST, host_write(opened, "Z:\\dev\\full", "x", 1, HOST_PUBLIC, err));
    text_list_free(&names);
    SUCCEEDS(host_write(opened, FOLDER "\\file", "x", 1, HOST_PUBLIC, err));
    FAILS_WITH(ERROR_HOST, host_make_folder(opened, FOLDER "\\file", HOST_PUBLIC, err));
    FAILS_WITH(ERROR_ABSENT, host_make_folder(opened, FOLDER "\\file\\in", HOST_PUBLIC, err));
    assert_int_equal(host_free_space(opened, FOLDER "\\file\\in", &bytes, NULL), -1);
    SUCCEEDS(host_remove_tree(opened, FOLDER, err));
}

/* As a shell makes it of <(...): what it brings may come a little later. */
static void a_pipe_is_read_to_its_end(void **state) {
    static const char script[] =
        "p=/tmp/winjoin-test-pipe; rm -f $p; mkfifo $p; (exec 3<>$p; echo >$p.open; sleep 0.2; "
        "printf hello >&3) >/dev/null 2>&1 & "
        "while ! rm /tmp/winjoin-test-pipe.open; do sleep 0.01; done 2>/dev/null";
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};
    struct host_process process = {.argv = argv, .timeout_ms = 20000};
    _cleanup_(freep) char *output = NULL;
    int code = -1;

    (void)state;
    need_rootfs(NULL);
    SUCCEEDS(host_run(opened, &process, &code, &output, err));
    assert_int_equal(code, 0);
    expect_content("Z:\\tmp\\winjoin-test-pipe", "hello");
    SUCCEEDS(host_remove(opened, "Z:\\tmp\\winjoin-test-pipe", err));
}

static void links_lead_nowhere_outside(void **state) {
    char *data = NULL;
    size_t len = 0;
    const char *const program[] = {FOLDER "\\etc\\x", NULL};
    const struct host_process process = {.argv = program, .timeout_ms = 1000};
    int code;
    struct text_list names = {0};

    (void)state;
    need_rootfs("build/host-rootfs");
    SUCCEEDS(host_make_folder(opened, FOLDER, HOST_PUBLIC, err));
    SUCCEEDS(host_link(opened, FOLDER "\\passwd", "../../../../../../../../../../etc/passwd", err));
    SUCCEEDS(host_link(opened, FOLDER "\\etc", "../../../../../../../../../../etc", err));
    FAILS_WITH(ERROR_DENIED, host_read(opened, FOLDER "\\passwd", 1 << 20, &data, &len, err));
    FAILS_WITH(ERROR_DENIED, host_read(opened, FOLDER "\\etc\\passwd", 1 << 20, &data, &len, err));
    FAILS_WITH(ERROR_DENIED, host_list(opened, FOLDER "\\etc", &names, err));
    FAILS_WITH(ERROR_DENIED, host_run(opened, &process, &code, &data, err));
    FAILS_WITH(ERROR_DENIED,
               host_write(opened, FOLDER "\\etc\\winjoin-x", "", 0, HOST_PUBLIC, err));
    FAILS_WITH(ERROR_DENIED, host_remove(opened, FOLDER "\\etc\\winjoin-x", err));
    SUCCEEDS(host_write(opened, FOLDER "\\passwd", "mine", 4, HOST_PUBLIC, err));
    expect_content(FOLDER "\\passwd", "mine");
    SUCCEEDS(host_remove_tree(opened, FOLDER, err));
}

/* Who may enter which folder: pods pass through that of their volumes without seeing what is there.
 */
static void folders_are_protected(void **state) {
    static const struct {
        enum host_access access;
        const char *mode;
    } cases[] = {{HOST_SECRET, "700"}, {HOST_POD_VOLUMES, "711"}};

    (void)state;
    need_rootfs("build/host-rootfs");
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_(freep) char *mode = NULL;

        SUCCEEDS(host_make_folder(opened, FOLDER "\\protected", cases[i].access, err));
        SUCCEEDS(host_access_get(opened, FOLDER "\\protected", &mode, err));
        assert_string_equal(mode, cases[i].mode);
        SUCCEEDS(host_remove_tree(opened, FOLDER "\\protected", err));
    }
}

static void other_drives_are_absent(void **state) {
    struct text_list names = {0};
    char *data = NULL;
    uint64_t space = 0, size = 0;
    size_t len = 0;

    (void)state;
    need_rootfs("build/host-rootfs");
    FAILS_WITH(ERROR_ABSENT, host_read(opened, "D:\\x", 10, &data, &len, err));
    FAILS_WITH(ERROR_ABSENT, host_read_part(opened, "D:\\x", 0, 1, &data, &len, &size, err));
    FAILS_WITH(ERROR_ABSENT, host_write(opened, "D:\\x", "", 0, HOST_PUBLIC, err));
    FAILS_WITH(ERROR_ABSENT, host_make_folder(opened, "D:\\x", HOST_PUBLIC, err));
    FAILS_WITH(ERROR_ABSENT, host_access_get(opened, "D:\\x", &data, err));
    FAILS_WITH(ERROR_ABSENT, host_access_set(opened, "D:\\x", "644", err));
    FAILS_WITH(ERROR_ABSENT, host_list(opened, "D:\\x", &names, err));
    FAILS_WITH(ERROR_ABSENT, host_link(opened, "D:\\x", "y", err));
    FAILS_WITH(ERROR_ABSENT, host_free_space(opened, "D:\\x", &space, err));
    SUCCEEDS(host_free_space(opened, "C:\\no\\such", &space, err)); /* where it would be made */
    assert_true(space > 0);
    FAILS_WITH(ERROR_ABSENT, host_read(opened, "\\\\server\\share\\x", 10, &data, &len, err));
}

static void without_a_folder(void **state) {
    struct host_adapters adapters;
    struct host_routes routes;
    struct host_facts facts;
    struct error why = {0};
    char *data = NULL;
    size_t len = 0;
    bool yes;

    (void)state;
    need_rootfs("build/host-rootfs"); /* skips on Windows */
    reopen(NULL);
    FAILS_WITH(ERROR_UNSUPPORTED, host_facts(opened, &facts, err));
    FAILS_WITH(ERROR_UNSUPPORTED, host_adapters(opened, &adapters, err));
    FAILS_WITH(ERROR_UNSUPPORTED, host_routes(opened, &routes, err));
    FAILS_WITH(ERROR_UNSUPPORTED, host_service_start(opened, "kubelet", 1, err));
    FAILS_WITH(ERROR_UNSUPPORTED, hcn_enumerate(opened, HCN_NETWORK, NULL, &data, err));
    FAILS_WITH(ERROR_UNSUPPORTED, host_firewall_has(opened, "x", &yes, err));
    assert_int_equal(host_read(opened, "C:\\x", 10, &data, &len, &why), -1);
    assert_string_equal(why.hints[0], "to rehearse in a folder, use --rootfs DIR");
    /* this machine's own files, as Linux writes them */
    assert_int_equal(host_read(opened, "Z:\\no\\such", 10, &data, &len, &why), -1);
    assert_string_equal(why.message, "read '/no/such': No such file or directory (2)");
    FAILS_WITH(ERROR_USAGE, host_open("build/no-such/folder", &opened, err));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(state_outlives_the_program, close_host),
        cmocka_unit_test_teardown(a_folder_is_no_file, close_host),
        cmocka_unit_test_teardown(a_pipe_is_read_to_its_end, close_host),
        cmocka_unit_test_teardown(links_lead_nowhere_outside, close_host),
        cmocka_unit_test_teardown(folders_are_protected, close_host),
        cmocka_unit_test_teardown(other_drives_are_absent, close_host),
        cmocka_unit_test_teardown(without_a_folder, close_host),
    };

    (void)open_own, (void)open_memory;
    return cmocka_run_group_tests_name("host_rootfs", tests, NULL, NULL);
}
