/* What host.h promises, asked of each host: in memory, and this platform's own (on Linux in a
 * folder, on Windows the machine itself). */
#define SCENE "contract"
#include "tests/scene/host_scene.h"

static void write_read_replace(void **state) {
    const char *path = FOLDER "\\a\\b\\file.conf";
    char *data = NULL;
    size_t len = 0;

    (void)state;
    FAILS_WITH(ERROR_ABSENT, host_read(opened, path, 10, &data, &len, err));
    SUCCEEDS(host_write(opened, path, "one", 3, HOST_PUBLIC, err));
    expect_content(path, "one");
    SUCCEEDS(host_write(opened, path, "second", 6, HOST_SECRET, err));
    expect_content("c:/winjoin-test-contract/a//b/file.conf", "second");
    FAILS_WITH(ERROR_MALFORMED, host_read(opened, path, 5, &data, &len, err));
    SUCCEEDS(host_read(opened, path, 6, &data, &len, err));
    free(data);
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

    struct host_untrusted untrusted = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
        FAILS_WITH(ERROR_USAGE, host_write(opened, paths[i], "", 0, HOST_PUBLIC, err));
        FAILS_WITH(ERROR_USAGE, host_find_untrusted(opened, paths[i], &untrusted, err));
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
    FAILS_WITH(ERROR_ABSENT, host_list(opened, FOLDER "\\none", &names, err));
    FAILS_WITH(ERROR_HOST, host_list(opened, FOLDER "\\list\\a.txt", &names, err));
    FAILS_WITH(ERROR_HOST, host_make_folder(opened, FOLDER "\\list\\a.txt", HOST_PUBLIC, err));
    SUCCEEDS(host_remove_tree(opened, FOLDER, err));
    assert_int_equal(host_file_type(opened, FOLDER), HOST_ABSENT);
}

/* Also when it was closed meanwhile. */
static void access_of_a_file_is_given_back(void) {
    _cleanup_(freep) char *before = NULL, *after = NULL;

    SUCCEEDS(host_write(opened, FOLDER "\\file", "x", 1, HOST_PUBLIC, err));
    SUCCEEDS(host_access_get(opened, FOLDER "\\file", &before, err));
    SUCCEEDS(host_write(opened, FOLDER "\\file", "y", 1, HOST_SECRET, err));
    SUCCEEDS(host_access_set(opened, FOLDER "\\file", before, err));
    SUCCEEDS(host_access_get(opened, FOLDER "\\file", &after, err));
    assert_string_equal(before, after);
}

/* Wine keeps modes, to which all of these lists may come down. */
static void access_of_a_folder_is_given_back(void **state) {
    static const enum host_access others[] = {HOST_SECRET, HOST_READ_ONLY};
    _cleanup_(freep) char *before = NULL, *secret = NULL;
    struct host_untrusted untrusted = {0};

    (void)state;
    SUCCEEDS(host_make_folder(opened, FOLDER "\\programs", HOST_PUBLIC, err));
    SUCCEEDS(host_access_get(opened, FOLDER "\\programs", &before, err));
    for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
        _cleanup_(freep) char *between = NULL, *after = NULL;

        SUCCEEDS(host_make_folder(opened, FOLDER "\\programs", others[i], err));
        SUCCEEDS(host_access_get(opened, FOLDER "\\programs", &between, err));
        if (!on_wine())
            assert_string_not_equal(secret ? secret : before, between);
        if (!secret)
            secret = xstrdup(between);
        SUCCEEDS(host_access_set(opened, FOLDER "\\programs", before, err));
        SUCCEEDS(host_access_get(opened, FOLDER "\\programs", &after, err));
        assert_string_equal(before, after);
    }
    access_of_a_file_is_given_back();
    SUCCEEDS(host_find_untrusted(opened, FOLDER "\\programs", &untrusted, err));
    SUCCEEDS(host_find_untrusted(opened, FOLDER "\\none", &untrusted, err));
    assert_null(untrusted.path);
    FAILS_WITH(ERROR_ABSENT, host_access_get(opened, FOLDER "\\none", &secret, err));
    FAILS_WITH(ERROR_ABSENT, host_access_set(opened, FOLDER "\\none", before, err));
    SUCCEEDS(host_remove_tree(opened, FOLDER, err));
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
    FAILS_WITH(ERROR_ABSENT, host_rename(opened, FOLDER "\\r\\a", FOLDER "\\r\\c", err));
    SUCCEEDS(host_rename(opened, FOLDER "\\r", FOLDER "\\moved", err));
    expect_content(FOLDER "\\moved\\b", "1");
    SUCCEEDS(host_remove(opened, FOLDER "\\moved\\b", err));
    SUCCEEDS(host_remove(opened, FOLDER "\\moved", err));
    assert_int_equal(host_file_type(opened, FOLDER "\\moved"), HOST_ABSENT);
    SUCCEEDS(host_remove_tree(opened, FOLDER, err));
}

/* On Windows a file that is open keeps its folders; elsewhere nothing is open under this name. */
static void a_file_in_use_is_named(void **state) {
    const char *path = FOLDER "\\tree\\deep\\layer";
    struct error why = {0};
    FILE *open_here;

    (void)state;
    SUCCEEDS(host_write(opened, path, "x", 1, HOST_PUBLIC, err));
    open_here = fopen(path, "rb");
    if (open_here) {
        assert_int_equal(host_remove_tree(opened, FOLDER "\\tree", &why), -1);
        assert_int_equal(why.kind, ERROR_CONFLICT);
        assert_non_null(strstr(why.message, path));
        assert_int_equal(fclose(open_here), 0);
    }
    SUCCEEDS(host_remove_tree(opened, FOLDER "\\tree", err));
    assert_int_equal(host_file_type(opened, FOLDER "\\tree"), HOST_ABSENT);
    SUCCEEDS(host_remove_tree(opened, FOLDER, err));
}

static void links_are_not_followed_by_removal(void **state) {
    struct error why = {0};

    (void)state;
    SUCCEEDS(host_write(opened, FOLDER "\\real.pem", "one", 3, HOST_SECRET, err));
    SUCCEEDS(host_write(opened, FOLDER "\\next.pem", "two", 3, HOST_SECRET, err));
    if (on_wine() && (host_link(opened, FOLDER "\\current.pem", "real.pem", &why) < 0 ||
                      host_file_type(opened, FOLDER "\\current.pem") != HOST_LINK)) {
        (void)host_remove_tree(opened, FOLDER, NULL);
        skip();
    }
    SUCCEEDS(host_link(opened, FOLDER "\\current.pem", "real.pem", err));
    assert_int_equal(host_file_type(opened, FOLDER "\\current.pem"), HOST_LINK);
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
    uint64_t bytes = 0, before = host_monotonic_ms(opened), now = before;
    unsigned char one[16] = {0}, other[16] = {0};

    (void)state;
    SUCCEEDS(host_free_space(opened, "C:\\no\\such\\folder", &bytes, err));
    assert_true(bytes > 0);
    assert_true(host_now(opened) > 1700000000);
    for (size_t turns = 0; now == before && turns < 10000; turns++) { /* the clock moves on */
        SUCCEEDS(host_sleep(opened, 1, err));
        now = host_monotonic_ms(opened);
    }
    assert_true(now > before);
    assert_false(host_interrupted(opened));
    SUCCEEDS(host_random(opened, one, sizeof one, err));
    SUCCEEDS(host_random(opened, other, sizeof other, err));
    assert_memory_not_equal(one, other, sizeof one);
    assert_null(host_environment(opened, "WINJOIN_NO_SUCH_VARIABLE"));
    assert_false(host_pipe_exists(opened, "\\\\.\\pipe\\winjoin-no-such-pipe"));
}

static int hear_nothing(void *context, const void *data, size_t len, struct text *reply,
                        bool *ret_done, struct error *err) {
    (void)context, (void)data, (void)len, (void)reply;
    *ret_done = true;
    return error_set(err, ERROR_HOST, "somebody answers");
}

static void nobody_answers_on_a_pipe_that_is_absent(void **state) {
    struct host_pipe_talk talk = {.first = "hello", .first_len = 5, .timeout_ms = 1000};
    struct host_pipe *pipe = NULL;
    const char *path = "\\\\.\\pipe\\winjoin-no-such-pipe";

    (void)state;
    FAILS_WITH(ERROR_USAGE,
               host_pipe_open(opened, path, &talk, &pipe, err)); /* nobody listens here */
    talk.heard = hear_nothing;
    FAILS_WITH(ERROR_ABSENT, host_pipe_open(opened, path, &talk, &pipe, err));
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
    FAILS_WITH(ERROR_ABSENT, host_registry_get(opened, "SOFTWARE\\winjoin-none", "x", &value, err));
}

static void adapters_and_routes(void **state) {
    struct host_adapters adapters = {0};
    struct host_routes routes = {0};
    struct host_neighbors neighbors = {0};

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
    SUCCEEDS(host_neighbors(opened, &neighbors, err));
    for (size_t i = 0; i < neighbors.count; i++)
        assert_string_not_equal(neighbors.items[i].address, "");
    host_neighbors_free(&neighbors);
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

static void service_life(void **state) {
    char *needs[] = {(char *)"RpcSs", NULL};
    char *environment[] = {(char *)"KUBE_NETWORK=flannel.4096", (char *)"NODE_NAME=a", NULL};
    struct host_service service = {
        .name = (char *)SERVICE,
        .display_name = (char *)"winjoin test",
        .description = (char *)"winjoin: \xc3\xbc"
                               "ber test",
        .command = (char *)"\"C:\\Program Files\\x\\winjoin.exe\" service run x",
        .depends_on = {needs, 1},
        .environment = {environment, 2},
        .auto_start = false,
    };
    struct host_service found = {0};

    (void)state;
    SUCCEEDS(host_service_delete(opened, SERVICE, 5000, err));
    expect_service(SERVICE, HOST_SERVICE_ABSENT, NULL);
    FAILS_WITH(ERROR_ABSENT, host_service_start(opened, SERVICE, 1000, err));
    SUCCEEDS(host_service_stop(opened, SERVICE, 1000, err));
    SUCCEEDS(host_service_put(opened, &service, err));
    SUCCEEDS(host_service_query(opened, SERVICE, &found, err));
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
    SUCCEEDS(host_service_query(opened, SERVICE, &found, err));
    assert_string_equal(found.command, "C:\\other.exe");
    assert_true(found.auto_start);
    assert_int_equal(found.environment.count, 0);
    assert_int_equal(found.depends_on.count, 0);
    host_service_free(&found);
    SUCCEEDS(host_service_delete(opened, SERVICE, 5000, err));
    expect_service(SERVICE, HOST_SERVICE_ABSENT, NULL);
}

static void service_recovery(void **state) {
    static const struct host_service service = {.name = (char *)SERVICE,
                                                .command = (char *)"C:\\other.exe",
                                                .restart_delays_ms = {10000, 20000, 0},
                                                .restart_on_error = true,
                                                .reset_seconds = 86400},
                                     plain = {.name = (char *)SERVICE,
                                              .command = (char *)"C:\\other.exe"};
    _cleanup_(host_service_free) struct host_service found = {0}, taken_back = {0};

    (void)state;
    SUCCEEDS(host_service_put(opened, &service, err));
    SUCCEEDS(host_service_query(opened, SERVICE, &found, err));
    SUCCEEDS(host_service_put(opened, &plain, err));
    SUCCEEDS(host_service_query(opened, SERVICE, &taken_back, err));
    SUCCEEDS(host_service_delete(opened, SERVICE, 5000, err));
    if (on_wine() && !found.reset_seconds && !found.restart_delays_ms[0])
        skip(); /* it takes recovery actions and forgets them */
    assert_int_equal(found.restart_delays_ms[0], 10000);
    assert_int_equal(found.restart_delays_ms[1], 20000);
    assert_int_equal(found.restart_delays_ms[2], 0);
    assert_int_equal(found.reset_seconds, 86400);
    assert_true(found.restart_on_error);
    assert_int_equal(taken_back.restart_delays_ms[0], 0);
    assert_int_equal(taken_back.reset_seconds, 0);
    assert_false(taken_back.restart_on_error);
}

static void service_refusals(void **state) {
    char *environment[] = {(char *)"no equals sign", NULL};
    struct host_service service = {.name = (char *)"a/b", .command = (char *)"x"};

    (void)state;
    FAILS_WITH(ERROR_USAGE, host_service_put(opened, &service, err));
    service.name = (char *)SERVICE;
    service.command = NULL;
    FAILS_WITH(ERROR_USAGE, host_service_put(opened, &service, err));
    service.command = (char *)"x";
    service.environment = (struct text_list){environment, 1};
    FAILS_WITH(ERROR_USAGE, host_service_put(opened, &service, err));
}

int main(void) {
    const struct CMUnitTest both[] = {
        cmocka_unit_test(write_read_replace),
        cmocka_unit_test(refuses_bad_paths),
        cmocka_unit_test(folders_list_sorted),
        cmocka_unit_test(access_of_a_folder_is_given_back),
        cmocka_unit_test(remove_and_rename),
        cmocka_unit_test(a_file_in_use_is_named),
        cmocka_unit_test(links_are_not_followed_by_removal),
        cmocka_unit_test(free_space_and_time),
        cmocka_unit_test(nobody_answers_on_a_pipe_that_is_absent),
        cmocka_unit_test(facts_are_plausible),
        cmocka_unit_test(registry_absent_value),
        cmocka_unit_test(adapters_and_routes),
        cmocka_unit_test(service_life),
        cmocka_unit_test(service_recovery),
        cmocka_unit_test(service_refusals),
    };
    int failed = cmocka_run_group_tests_name("host_memory", both, open_memory, close_host);

    return failed + cmocka_run_group_tests_name("host_own", both, open_own, close_host);
}
