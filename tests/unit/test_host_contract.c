/* What host.h promises, asked of each host: in memory, and this platform's own (on Linux in a
 * folder, on Windows the machine itself). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "host/host_memory.h"
#include "host/service_host.h"

#define FOLDER "C:\\winjoin-contract-test"

static struct host *opened;

static int open_memory(void **state) {
    (void)state;
    opened = host_memory_new();
    return 0;
}

/* Without a rootfs where the machine itself is Windows. */
static int open_own(void **state) {
    const char *folder = "build"; /* is there whenever this program is */
    struct error err = {0};

    (void)state;
    if (host_open(folder, &opened, &err) < 0 && err.kind == ERROR_UNSUPPORTED)
        return host_open(NULL, &opened, &err);
    if (opened)
        return 0;
    print_error("%s\n", err.message);
    return -1;
}

static int close_host(void **state) {
    (void)state;
    (void)host_remove_tree(opened, FOLDER, NULL); /* what a failed test left */
    host_free(opened);
    opened = NULL;
    return 0;
}

static void expect_content(const char *path, const char *expected) {
    _cleanup_(freep) char *data = NULL;
    struct error err = {0};
    size_t len = 0;

    if (host_read(opened, path, 1 << 20, &data, &len, &err) < 0)
        fail_msg("%s", err.message);
    assert_string_equal(data, expected);
    assert_int_equal(len, strlen(expected));
}

#define SUCCEEDS(call)                                                                             \
    do {                                                                                           \
        struct error err_ = {0};                                                                   \
        struct error *err = &err_;                                                                 \
        if ((call) < 0)                                                                            \
            fail_msg("%s", err_.message);                                                          \
    } while (0)

#define FAILS_WITH(kind_, call)                                                                    \
    do {                                                                                           \
        struct error err_ = {0};                                                                   \
        struct error *err = &err_;                                                                 \
        assert_int_equal((call), -1);                                                              \
        if (err_.kind != (kind_))                                                                  \
            print_error("%s\n", err_.message);                                                     \
        assert_int_equal(err_.kind, (kind_));                                                      \
    } while (0)

static void write_read_replace(void **state) {
    const char *path = FOLDER "\\a\\b\\file.conf";
    char *data = NULL;
    size_t len = 0;

    (void)state;
    FAILS_WITH(ERROR_NOT_FOUND, host_read(opened, path, 10, &data, &len, err));
    SUCCEEDS(host_write(opened, path, "one", 3, HOST_PUBLIC, err));
    expect_content(path, "one");
    SUCCEEDS(host_write(opened, path, "second", 6, HOST_SECRET, err));
    expect_content("c:/winjoin-contract-test/a//b/file.conf", "second");
    FAILS_WITH(ERROR_MALFORMED, host_read(opened, path, 5, &data, &len, err));
    SUCCEEDS(host_write(opened, path, "", 0, HOST_SECRET, err));
    expect_content(path, "");
    assert_int_equal(host_file_type(opened, path), HOST_FILE);
    assert_int_equal(host_file_type(opened, FOLDER "\\a"), HOST_FOLDER);
    assert_int_equal(host_file_type(opened, FOLDER "\\none"), HOST_ABSENT);
    SUCCEEDS(host_remove_tree(opened, FOLDER, err));
}

static void refuses_bad_paths(void **state) {
    static const char *const paths[] = {
        "",
        "relative\\x",
        "C:",
        "C:x",
        "C:\\a\\..\\b",
        "C:\\a?b",
        "\\\\?\\C:\\a",
        "C:\\a:stream",
        "\\\\.\\pipe\\x",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
        FAILS_WITH(ERROR_USAGE, host_write(opened, paths[i], "", 0, HOST_PUBLIC, err));
        assert_int_equal(host_file_type(opened, paths[i]), HOST_ABSENT);
    }
    FAILS_WITH(ERROR_USAGE, host_remove_tree(opened, "C:\\", err));
}

static void folders_list_sorted(void **state) {
    struct text_list names = {0};

    (void)state;
    SUCCEEDS(host_make_folder(opened, FOLDER "\\list\\c", HOST_SECRET, err));
    SUCCEEDS(host_make_folder(opened, FOLDER "\\list\\c", HOST_PROBE_MAILBOX, err));
    SUCCEEDS(host_write(opened, FOLDER "\\list\\b.txt", "b", 1, HOST_PUBLIC, err));
    SUCCEEDS(host_write(opened, FOLDER "\\list\\a.txt", "a", 1, HOST_PROBE_PROGRAM, err));
    SUCCEEDS(host_list(opened, FOLDER "\\list", &names, err));
    assert_int_equal(names.count, 3);
    assert_string_equal(names.items[0], "a.txt");
    assert_string_equal(names.items[1], "b.txt");
    assert_string_equal(names.items[2], "c");
    text_list_free(&names);
    FAILS_WITH(ERROR_NOT_FOUND, host_list(opened, FOLDER "\\none", &names, err));
    FAILS_WITH(ERROR_HOST, host_list(opened, FOLDER "\\list\\a.txt", &names, err));
    FAILS_WITH(ERROR_HOST, host_make_folder(opened, FOLDER "\\list\\a.txt", HOST_PUBLIC, err));
    SUCCEEDS(host_remove_tree(opened, FOLDER, err));
    assert_int_equal(host_file_type(opened, FOLDER), HOST_ABSENT);
}

static void remove_and_rename(void **state) {
    (void)state;
    SUCCEEDS(host_remove(opened, FOLDER "\\none", err));
    SUCCEEDS(host_remove_tree(opened, FOLDER "\\none", err));
    SUCCEEDS(host_write(opened, FOLDER "\\r\\a", "1", 1, HOST_PUBLIC, err));
    FAILS_WITH(ERROR_CONFLICT, host_remove(opened, FOLDER "\\r", err));
    SUCCEEDS(host_write(opened, FOLDER "\\r\\b", "2", 1, HOST_PUBLIC, err));
    SUCCEEDS(host_rename(opened, FOLDER "\\r\\a", FOLDER "\\r\\b", err));
    expect_content(FOLDER "\\r\\b", "1");
    FAILS_WITH(ERROR_NOT_FOUND, host_rename(opened, FOLDER "\\r\\a", FOLDER "\\r\\c", err));
    SUCCEEDS(host_rename(opened, FOLDER "\\r", FOLDER "\\moved", err));
    expect_content(FOLDER "\\moved\\b", "1");
    SUCCEEDS(host_remove(opened, FOLDER "\\moved\\b", err));
    SUCCEEDS(host_remove(opened, FOLDER "\\moved", err));
    assert_int_equal(host_file_type(opened, FOLDER "\\moved"), HOST_ABSENT);
    SUCCEEDS(host_remove_tree(opened, FOLDER, err));
}

static void links_are_not_followed_by_removal(void **state) {
    struct error why = {0};

    (void)state;
    SUCCEEDS(host_write(opened, FOLDER "\\real.pem", "one", 3, HOST_SECRET, err));
    SUCCEEDS(host_write(opened, FOLDER "\\next.pem", "two", 3, HOST_SECRET, err));
    if (host_link(opened, FOLDER "\\current.pem", "real.pem", &why) < 0 ||
        host_file_type(opened, FOLDER "\\current.pem") != HOST_LINK) {
        (void)host_remove_tree(opened, FOLDER, NULL); /* Wine 8 cannot make links */
        skip();
    }
    expect_content(FOLDER "\\current.pem", "one");
    SUCCEEDS(host_link(opened, FOLDER "\\current.pem", "next.pem", err));
    expect_content(FOLDER "\\current.pem", "two");
    SUCCEEDS(host_write(opened, FOLDER "\\keep\\x", "x", 1, HOST_PUBLIC, err));
    SUCCEEDS(host_make_folder(opened, FOLDER "\\tree", HOST_PUBLIC, err));
    SUCCEEDS(host_link(opened, FOLDER "\\tree\\keep", FOLDER "\\keep", err));
    SUCCEEDS(host_remove_tree(opened, FOLDER "\\tree", err));
    expect_content(FOLDER "\\keep\\x", "x");
    SUCCEEDS(host_remove(opened, FOLDER "\\current.pem", err));
    expect_content(FOLDER "\\next.pem", "two");
    SUCCEEDS(host_remove_tree(opened, FOLDER, err));
}

static void free_space_and_time(void **state) {
    uint64_t bytes = 0, before = host_monotonic_ms(opened);
    unsigned char one[16] = {0}, other[16] = {0};

    (void)state;
    SUCCEEDS(host_free_space(opened, "C:\\no\\such\\folder", &bytes, err));
    assert_true(bytes > 0);
    assert_true(host_now(opened) > 1700000000);
    SUCCEEDS(host_sleep(opened, 20, err));
    assert_true(host_monotonic_ms(opened) >= before + 10);
    assert_false(host_interrupted(opened));
    SUCCEEDS(host_random(opened, one, sizeof one, err));
    SUCCEEDS(host_random(opened, other, sizeof other, err));
    assert_memory_not_equal(one, other, sizeof one);
    assert_null(host_environment(opened, "WINJOIN_NO_SUCH_VARIABLE"));
    assert_false(host_pipe_exists(opened, "\\\\.\\pipe\\winjoin-no-such-pipe"));
}

static void facts_are_plausible(void **state) {
    struct host_facts facts;

    (void)state;
    SUCCEEDS(host_facts(opened, &facts, err));
    assert_string_not_equal(facts.host_name, "");
    assert_string_equal(facts.architecture, "amd64");
    assert_true(facts.memory_bytes > 1 << 20);
    assert_true(facts.containers_feature >= -1 && facts.containers_feature <= 1);
}

static void registry_absent_value(void **state) {
    char *value = NULL;

    (void)state;
    FAILS_WITH(ERROR_NOT_FOUND,
               host_registry_get(opened, "SOFTWARE\\winjoin-none", "x", &value, err));
}

static void adapters_and_routes(void **state) {
    struct host_adapters adapters = {0};
    struct host_routes routes = {0};

    (void)state;
    SUCCEEDS(host_adapters(opened, &adapters, err));
    for (size_t i = 0; i < adapters.count; i++) {
        assert_string_not_equal(adapters.items[i].alias, "");
        assert_true(adapters.items[i].index > 0);
        for (size_t j = 0; j < adapters.items[i].addresses.count; j++)
            assert_non_null(strchr(adapters.items[i].addresses.items[j], '/'));
    }
    host_adapters_free(&adapters);
    SUCCEEDS(host_routes(opened, &routes, err));
    for (size_t i = 0; i < routes.count; i++)
        assert_non_null(strchr(routes.items[i].destination, '/'));
    host_routes_free(&routes);
    {
        struct host_route mixed = {.destination = "10.0.0.0/8", .next_hop = "fd00::1"};
        struct host_route wrong = {.destination = "10.0.0.0/33", .next_hop = "10.0.0.1"};
        bool used = false;

        FAILS_WITH(ERROR_USAGE, host_route_add(opened, &mixed, err));
        FAILS_WITH(ERROR_MALFORMED, host_route_add(opened, &wrong, err));
        FAILS_WITH(ERROR_USAGE, host_address_add(opened, 1, "10.0.0.1", err));
        FAILS_WITH(ERROR_USAGE, host_port_in_use(opened, false, 65536, &used, err));
        SUCCEEDS(host_port_in_use(opened, true, 65535, &used, err));
    }
}

static void expect_service(const char *name, enum host_service_state state, const char *command) {
    struct host_service found = {0};

    SUCCEEDS(host_service_query(opened, name, &found, err));
    assert_int_equal(found.state, state);
    if (command)
        assert_string_equal(found.command, command);
    host_service_free(&found);
}

static void service_life(void **state) {
    char *needs[] = {(char *)"RpcSs", NULL};
    char *environment[] = {(char *)"KUBE_NETWORK=flannel.4096", (char *)"NODE_NAME=a", NULL};
    struct host_service service = {
        .name = (char *)"winjoin-test",
        .display_name = (char *)"winjoin test",
        .description = (char *)"winjoin: \xc3\xbc"
                               "ber test",
        .command = (char *)"\"C:\\Program Files\\x\\winjoin.exe\" service run x",
        .depends_on = {needs, 1},
        .environment = {environment, 2},
        .auto_start = false,
    };
    struct host_service found = {0};
    struct text_list names = {0};

    (void)state;
    SUCCEEDS(host_service_delete(opened, "winjoin-test", 5000, err));
    expect_service("winjoin-test", HOST_SERVICE_ABSENT, NULL);
    FAILS_WITH(ERROR_NOT_FOUND, host_service_start(opened, "winjoin-test", 1000, err));
    SUCCEEDS(host_service_stop(opened, "winjoin-test", 1000, err));
    SUCCEEDS(host_service_put(opened, &service, err));
    SUCCEEDS(host_service_query(opened, "winjoin-test", &found, err));
    assert_int_equal(found.state, HOST_SERVICE_STOPPED);
    assert_string_equal(found.display_name, service.display_name);
    assert_string_equal(found.description, service.description);
    assert_string_equal(found.command, service.command);
    assert_int_equal(found.depends_on.count, 1);
    assert_string_equal(found.depends_on.items[0], "RpcSs");
    assert_int_equal(found.environment.count, 2);
    assert_string_equal(found.environment.items[1], "NODE_NAME=a");
    assert_false(found.auto_start);
    host_service_free(&found);

    service.command = (char *)"C:\\other.exe";
    service.auto_start = true;
    service.environment.count = 0;
    service.depends_on.count = 0;
    SUCCEEDS(host_service_put(opened, &service, err));
    SUCCEEDS(host_service_query(opened, "winjoin-test", &found, err));
    assert_string_equal(found.command, "C:\\other.exe");
    assert_true(found.auto_start);
    assert_int_equal(found.environment.count, 0);
    assert_int_equal(found.depends_on.count, 0);
    host_service_free(&found);
    SUCCEEDS(host_service_list(opened, &names, err));
    assert_true(text_list_has(&names, "winjoin-test"));
    text_list_free(&names);
    SUCCEEDS(host_service_delete(opened, "winjoin-test", 5000, err));
    expect_service("winjoin-test", HOST_SERVICE_ABSENT, NULL);
}

static void service_recovery(void **state) {
    struct host_service service = {
        .name = (char *)"winjoin-test",
        .command = (char *)"C:\\other.exe",
        .restart_delays_ms = {10000, 20000, 0},
        .reset_seconds = 86400,
    };
    struct host_service found = {0};
    unsigned delays[3], reset;

    (void)state;
    SUCCEEDS(host_service_put(opened, &service, err));
    SUCCEEDS(host_service_query(opened, "winjoin-test", &found, err));
    memcpy(delays, found.restart_delays_ms, sizeof delays);
    reset = found.reset_seconds;
    host_service_free(&found);
    SUCCEEDS(host_service_delete(opened, "winjoin-test", 5000, err));
    if (!reset && !delays[0])
        skip(); /* Wine 8 takes recovery actions and forgets them */
    assert_int_equal(delays[0], 10000);
    assert_int_equal(delays[1], 20000);
    assert_int_equal(delays[2], 0);
    assert_int_equal(reset, 86400);
}

static int work_until_stopped(void *context, struct error *err) {
    struct host *host;

    (void)context;
    if (host_open(NULL, &host, err) < 0)
        return -1;
    for (int i = 0; i < 600 && host_sleep(host, 100, NULL) == 0; i++)
        ;
    host_free(host);
    return 0;
}

static void append(void *context, const char *data, size_t len) {
    FILE *file = fopen(context, "ab");

    if (file) {
        (void)fwrite(data, 1, len, file);
        (void)fclose(file);
    }
}

/* What this program does when the SCM starts it: work of its own, or itself as a hosted program. */
static int act_as_service(const char *kind, const char *program) {
    const char *argv[] = {program, "--child", "wait", NULL};
    const char *environment[] = {"WINJOIN_CHILD=hosted", NULL};
    struct service_program hosted = {.argv = argv,
                                     .environment = environment,
                                     .stop_timeout_ms = 1000,
                                     .on_output = append,
                                     .context = (char *)FOLDER "-output.txt"};
    struct error err = {0};

    if (strcmp(kind, "work") == 0)
        return service_host_work("winjoin-test", work_until_stopped, NULL, &err) < 0;
    return service_host_program("winjoin-test", &hosted, &err) < 0;
}

static void run_service(const char *kind) {
    _cleanup_(freep) char *program = host_program_path(opened);
    _cleanup_(freep) char *command = xasprintf("\"%s\" --service %s", program, kind);
    struct host_service service = {.name = (char *)"winjoin-test", .command = command};
    struct host_service found = {0};

    SUCCEEDS(host_service_put(opened, &service, err));
    SUCCEEDS(host_service_start(opened, "winjoin-test", 20000, err));
    SUCCEEDS(host_service_start(opened, "winjoin-test", 20000, err));
    SUCCEEDS(host_service_query(opened, "winjoin-test", &found, err));
    assert_int_equal(found.state, HOST_SERVICE_RUNNING);
    assert_true(found.process_id != 0);
    host_service_free(&found);
    SUCCEEDS(host_sleep(opened, 700, err)); /* the program under it says its word */
    SUCCEEDS(host_service_stop(opened, "winjoin-test", 20000, err));
    SUCCEEDS(host_service_stop(opened, "winjoin-test", 20000, err));
    expect_service("winjoin-test", HOST_SERVICE_STOPPED, command);
    SUCCEEDS(host_service_delete(opened, "winjoin-test", 20000, err));
    expect_service("winjoin-test", HOST_SERVICE_ABSENT, NULL);
}

static void service_runs(void **state) {
    (void)state;
    run_service("work");
}

static void service_hosts_program(void **state) {
    (void)state;
    SUCCEEDS(host_remove(opened, FOLDER "-output.txt", err));
    run_service("program");
    if (host_file_type(opened, FOLDER "-output.txt") == HOST_ABSENT)
        skip(); /* a rehearsed service runs no program */
    expect_content(FOLDER "-output.txt", "[wait]{hosted}");
    SUCCEEDS(host_remove(opened, FOLDER "-output.txt", err));
}

static void service_refusals(void **state) {
    char *environment[] = {(char *)"no equals sign", NULL};
    struct host_service service = {.name = (char *)"a/b", .command = (char *)"x"};

    (void)state;
    FAILS_WITH(ERROR_USAGE, host_service_put(opened, &service, err));
    service.name = (char *)"winjoin-test";
    service.command = NULL;
    FAILS_WITH(ERROR_USAGE, host_service_put(opened, &service, err));
    service.command = (char *)"x";
    service.environment = (struct text_list){environment, 1};
    FAILS_WITH(ERROR_USAGE, host_service_put(opened, &service, err));
}

/* What this program does when it runs itself: tells its arguments, a variable and its input. */
static int act_as_child(int argc, char **argv) {
    char line[4096];

    for (int i = 2; i < argc; i++)
        printf("[%s]", argv[i]);
    if (getenv("WINJOIN_CHILD"))
        printf("{%s}", getenv("WINJOIN_CHILD"));
    if (argc > 2 && strcmp(argv[2], "endless") == 0)
        for (;;)
            puts("again and again and again and again and again and again and again");
    if (argc > 2 && strcmp(argv[2], "wait") == 0) {
        struct error err;

        (void)fflush(stdout);
        return work_until_stopped(NULL, &err);
    }
    if (argc > 2 && strcmp(argv[2], "deaf") == 0)
        return 3;
    if (argc > 2 && strcmp(argv[2], "slow") == 0) {
        (void)fclose(stdout); /* its end is not the end of its output */
        while (fgets(line, sizeof line, stdin))
            ;
        for (volatile unsigned long i = 0; i < 1ul << 31; i++)
            for (volatile int j = 0; j < 1000; j++)
                ;
    }
    while (fgets(line, sizeof line, stdin))
        printf("<%zu>", strlen(line));
    return 7;
}

static int run_self(const char *const *arguments, const char *input, unsigned timeout_ms, int *code,
                    char **output, struct error *err) {
    _cleanup_(freep) char *program = host_program_path(opened);
    const char *environment[] = {"WINJOIN_CHILD=a b", NULL};
    const char *argv[8] = {program, "--child"};
    struct host_process process = {
        .argv = argv, .environment = environment, .input = input, .timeout_ms = timeout_ms};

    for (size_t i = 0; arguments[i]; i++)
        argv[i + 2] = arguments[i];
    return host_run(opened, &process, code, output, err);
}

static void programs_run(void **state) {
    const char *quoting[] = {"plain", "two words", "", "q\"uo\\\"te", "end\\ \\", NULL};
    const char *endless[] = {"endless", NULL}, *deaf[] = {"deaf", NULL}, *slow[] = {"slow", NULL};
    const char *none[] = {"C:\\no-such-program.exe", NULL};
    struct host_process absent = {.argv = none, .timeout_ms = 1000};
    _cleanup_(freep) char *long_input = xcalloc(1, 300001);
    char *output = NULL;
    int code = -1;

    (void)state;
    SUCCEEDS(run_self(quoting, "one\nthree\n", 20000, &code, &output, err));
    assert_int_equal(code, 7);
    assert_string_equal(output, "[plain][two words][][q\"uo\\\"te][end\\ \\]{a b}<4><6>");
    free(output);
    memset(long_input, 'x', 300000);
    SUCCEEDS(run_self(deaf, long_input, 20000, &code, &output, err));
    assert_int_equal(code, 3);
    free(output);
    FAILS_WITH(ERROR_MALFORMED, run_self(endless, NULL, 20000, &code, &output, err));
    FAILS_WITH(ERROR_TIMEOUT, run_self(slow, NULL, 700, &code, &output, err));
    FAILS_WITH(ERROR_NOT_FOUND, host_run(opened, &absent, &code, &output, err));
}

int main(int argc, char **argv) {
    const struct CMUnitTest both[] = {
        cmocka_unit_test(write_read_replace),
        cmocka_unit_test(refuses_bad_paths),
        cmocka_unit_test(folders_list_sorted),
        cmocka_unit_test(remove_and_rename),
        cmocka_unit_test(links_are_not_followed_by_removal),
        cmocka_unit_test(free_space_and_time),
        cmocka_unit_test(facts_are_plausible),
        cmocka_unit_test(registry_absent_value),
        cmocka_unit_test(adapters_and_routes),
        cmocka_unit_test(service_life),
        cmocka_unit_test(service_recovery),
        cmocka_unit_test(service_refusals),
        cmocka_unit_test(service_runs),
    };
    const struct CMUnitTest own[] = {cmocka_unit_test(programs_run),
                                     cmocka_unit_test(service_hosts_program)};
    int failed;

    if (argc > 1 && strcmp(argv[1], "--child") == 0)
        return act_as_child(argc, argv);
    if (argc > 2 && strcmp(argv[1], "--service") == 0)
        return act_as_service(argv[2], argv[0]);
    failed = cmocka_run_group_tests_name("host_memory", both, open_memory, close_host);

    failed += cmocka_run_group_tests_name("host_own", both, open_own, close_host);
    return failed + cmocka_run_group_tests_name("host_own_programs", own, open_own, close_host);
}
