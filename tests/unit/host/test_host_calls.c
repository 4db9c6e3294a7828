/* What every host refuses before it does anything, and what a played Windows keeps of its network
 * and its event log. */
#define SCENE "calls"
#include "tests/scene/host_scene.h"

#include "host/service_host.h"

/* Nothing reaches the host: the log of calls stays as it was. */
static void nothing_wrong_reaches_the_host(void **state) {
    struct host_firewall_rule rule = {.name = "", .description = "x", .port = 1};
    struct host_process process = {.argv = (const char *const[]){"", NULL}};
    struct host_pipe_talk talk = {.timeout_ms = 1};
    struct host_pipe *pipe = NULL;
    _cleanup_(text_list_free) struct text_list names = {0};
    _cleanup_(freep) char *before = NULL;
    char *data = NULL;
    bool yes;
    size_t len;
    int code;

    (void)state;
    before = xstrdup(host_memory_log(opened));
    FAILS_WITH(ERROR_USAGE, host_read(opened, "x", 10, &data, &len, err));
    FAILS_WITH(ERROR_HOST, host_read(opened, "C:\\x\\", 10, &data, &len, err));
    FAILS_WITH(ERROR_USAGE, host_write(opened, "x", "", 0, HOST_PUBLIC, err));
    FAILS_WITH(ERROR_USAGE, host_make_folder(opened, "x", HOST_PUBLIC, err));
    FAILS_WITH(ERROR_USAGE, host_remove(opened, "x", err));
    FAILS_WITH(ERROR_USAGE, host_remove_tree(opened, "x", err));
    FAILS_WITH(ERROR_USAGE, host_remove_tree(opened, "C:\\", err));
    FAILS_WITH(ERROR_USAGE, host_rename(opened, "x", "C:\\y", err));
    FAILS_WITH(ERROR_USAGE, host_rename(opened, "C:\\x", "y", err));
    FAILS_WITH(ERROR_USAGE, host_link(opened, "x", "y", err));
    FAILS_WITH(ERROR_USAGE, host_link(opened, "C:\\x", "", err));
    FAILS_WITH(ERROR_USAGE, host_list(opened, "x", &names, err));
    FAILS_WITH(ERROR_USAGE, host_free_space(opened, "x", &(uint64_t){0}, err));
    assert_int_equal(host_file_type(opened, "x"), HOST_ABSENT);
    FAILS_WITH(ERROR_USAGE, host_run(opened, &process, &code, &data, err));
    process.argv = (const char *const[]){NULL};
    FAILS_WITH(ERROR_USAGE, host_run(opened, &process, &code, &data, err));
    process.argv = NULL;
    FAILS_WITH(ERROR_USAGE, host_run(opened, &process, &code, &data, err));
    FAILS_WITH(ERROR_USAGE, host_event(opened, 'x', 1, "x", err));
    FAILS_WITH(ERROR_USAGE, host_event(opened, '\0', 1, "x", err));
    FAILS_WITH(ERROR_USAGE, host_pipe_open(opened, "\\\\.\\pipe\\x", &talk, &pipe, err));
    FAILS_WITH(ERROR_USAGE, host_firewall_put(opened, &rule, err));
    FAILS_WITH(ERROR_USAGE, host_firewall_remove(opened, "", err));
    rule.name = "x";
    for (size_t i = 0; i < 2; i++) {
        rule.port = i ? 65536 : 0;
        FAILS_WITH(ERROR_USAGE, host_firewall_put(opened, &rule, err));
        FAILS_WITH(ERROR_USAGE, host_port_in_use(opened, false, rule.port, &yes, err));
    }
    assert_string_equal(host_memory_log(opened), before);
    SUCCEEDS(host_port_in_use(opened, false, 1, &yes, err));
    SUCCEEDS(host_port_in_use(opened, false, 65535, &yes, err));
}

static void no_wrong_service_reaches_the_host(void **state) {
    struct host_service service = {.name = (char *)"x", .command = (char *)""}, found;
    _cleanup_(freep) char *before = NULL, *long_name = xcalloc(300, 1);

    (void)state;
    memset(long_name, 'n', 257);
    before = xstrdup(host_memory_log(opened));
    FAILS_WITH(ERROR_USAGE, host_service_put(opened, &service, err));
    service.command = NULL;
    FAILS_WITH(ERROR_USAGE, host_service_put(opened, &service, err));
    service.command = (char *)"C:\\x.exe";
    text_list_add(&service.environment, "A=b");
    text_list_add(&service.environment, "=b");
    FAILS_WITH(ERROR_USAGE, host_service_put(opened, &service, err));
    text_list_free(&service.environment);
    text_list_add(&service.environment, "A");
    FAILS_WITH(ERROR_USAGE, host_service_put(opened, &service, err));
    text_list_free(&service.environment);
    for (size_t i = 0; i < 4; i++) {
        const char *name = (const char *const[]){"", "a/b", "a\\b", long_name}[i];

        service.name = (char *)name;
        FAILS_WITH(ERROR_USAGE, host_service_put(opened, &service, err));
        FAILS_WITH(ERROR_USAGE, host_service_query(opened, name, &found, err));
        FAILS_WITH(ERROR_USAGE, host_service_start(opened, name, 1, err));
        FAILS_WITH(ERROR_USAGE, host_service_stop(opened, name, 1, err));
        FAILS_WITH(ERROR_USAGE, host_service_delete(opened, name, 1, err));
    }
    assert_string_equal(host_memory_log(opened), before);
    long_name[256] = '\0';
    service.name = long_name;
    SUCCEEDS(host_service_put(opened, &service, err));
}

static bool has_route(const struct host_route *route) {
    struct host_routes routes;
    bool found = false;

    SUCCEEDS(host_routes(opened, &routes, err));
    for (size_t i = 0; i < routes.count; i++)
        found |= text_equal(routes.items[i].destination, route->destination) &&
                 text_equal(routes.items[i].next_hop, route->next_hop);
    host_routes_free(&routes);
    return found;
}

#define CHANGES(by, call)                                                                          \
    do {                                                                                           \
        unsigned was = host_changes(opened);                                                       \
                                                                                                   \
        SUCCEEDS(call);                                                                            \
        assert_int_equal(host_changes(opened) - was, by);                                          \
    } while (0)

/* What changes the machine is counted, and nothing else: not winjoin's own records, nor what takes
 * no part in whether a join has changed something. */
static void changes_are_counted(void **state) {
    static const char id[] = "aaaaaaaa-0000-4000-8000-000000000001";
    const struct host_service service = {.name = (char *)"x", .command = (char *)"C:\\x.exe"};
    const struct host_firewall_rule rule = {.name = "x", .description = "x", .port = 1};
    const struct host_route route = {"10.9.0.0/16", "10.0.0.1", 4, 1, false};
    _cleanup_(text_list_free) struct text_list servers = {0};
    _cleanup_(freep) char *answer = NULL;

    (void)state;
    text_list_add(&servers, "10.0.0.9");
    CHANGES(1, host_write(opened, "C:\\x", "a", 1, HOST_PUBLIC, err));
    CHANGES(0, host_write(opened, HOST_OWN_FOLDER "\\x", "a", 1, HOST_PUBLIC, err));
    CHANGES(1, host_write(opened, HOST_OWN_FOLDER "x", "a", 1, HOST_PUBLIC, err));
    CHANGES(0, host_make_folder(opened, "C:\\y", HOST_PUBLIC, err));
    CHANGES(1, host_rename(opened, "C:\\x", "C:\\z", err));
    CHANGES(0, host_rename(opened, HOST_OWN_FOLDER "\\x", "C:\\x", err));
    CHANGES(1, host_link(opened, "C:\\l", "C:\\z", err));
    CHANGES(0, host_remove(opened, "C:\\l", err));
    CHANGES(1, host_remove_tree(opened, "C:\\y", err));
    CHANGES(1, host_service_put(opened, &service, err));
    CHANGES(1, host_service_start(opened, "x", 1, err));
    CHANGES(0, host_service_start(opened, "x", 1, err));
    CHANGES(0, host_service_stop(opened, "x", 1, err));
    CHANGES(1, host_service_start(opened, "x", 1, err));
    CHANGES(1, host_service_delete(opened, "x", 1, err));
    CHANGES(1, host_registry_set(opened, "Software\\X", "a", false, "1", err));
    CHANGES(1, host_event_source_set(opened, "C:\\x.exe", err));
    CHANGES(0, host_event(opened, 'i', 1, "x", err));
    CHANGES(1, host_route_add(opened, &route, err));
    CHANGES(1, host_route_remove(opened, &route, err));
    CHANGES(1, host_address_add(opened, 4, "10.0.0.9/24", err));
    CHANGES(1, host_dns_set(opened, 4, &servers, err));
    CHANGES(1, host_metric_set(opened, 4, 4, 1, err));
    CHANGES(0, host_forwarding_set(opened, 4, 4, true, err));
    CHANGES(0, host_firewall_put(opened, &rule, err));
    CHANGES(0, host_firewall_remove(opened, "x", err));
    CHANGES(1, hcn_create(opened, HCN_NETWORK, NULL, id, "{\"Name\":\"n\",\"Type\":\"NAT\"}", NULL,
                          err));
    CHANGES(0, hns_call(opened, "GET", "/networks/", NULL, &answer, err));
    CHANGES(1, hcn_delete(opened, HCN_NETWORK, id, err));
    FAILS_WITH(ERROR_USAGE, host_write(opened, "C:\\a:b", "a", 1, HOST_PUBLIC, err));
}

static void count_tick(void *context) {
    ++*(unsigned *)context;
}

/* A sleep calls the tick; a deadline shortens it, and one that has passed leaves none. */
static void sleep_ends_at_the_deadline(void **state) {
    uint64_t start = host_monotonic_ms(opened);
    unsigned ticks = 0;

    (void)state;
    SUCCEEDS(host_sleep(opened, 1000, err));
    assert_int_equal(host_monotonic_ms(opened) - start, 1000);
    host_set_tick(opened, count_tick, &ticks);
    SUCCEEDS(host_sleep(opened, 1000, err));
    assert_int_equal(host_monotonic_ms(opened) - start, 2000);
    assert_int_equal(ticks, 5);
    assert_false(host_interrupted(opened));
    assert_int_equal(ticks, 6);
    host_set_tick(opened, NULL, NULL);
    assert_int_equal(host_set_limit(opened, 300), 0);
    assert_int_equal(host_set_limit(opened, 400), start + 2300); /* a later one changes nothing */
    assert_int_equal(host_set_limit(opened, 250), start + 2300);
    assert_false(host_deadline_passed(opened));
    SUCCEEDS(host_sleep(opened, 1000, err));
    assert_int_equal(host_monotonic_ms(opened) - start, 2250);
    assert_true(host_deadline_passed(opened));
    assert_true(host_interrupted(opened));
    FAILS_WITH(ERROR_INTERRUPTED, host_sleep(opened, 1, err));
    assert_int_equal(host_monotonic_ms(opened) - start, 2250);
    host_set_deadline(opened, 0);
    SUCCEEDS(host_sleep(opened, 1, err));
}

static void reopen(void **state) {
    host_free(opened);
    opened = NULL;
    assert_int_equal(open_own(state), 0);
}

/* Each change is read again by the next program. */
static void a_played_network_is_kept(void **state) {
    struct host_route route = {"10.99.0.0/24", "10.0.0.1", 0, 5, false};
    _cleanup_(text_list_free) struct text_list servers = {0};
    struct host_adapters adapters;
    bool on = true;
    uint32_t index;

    if (opened_windows)
        return; /* the machine's own network is left alone */
    SUCCEEDS(host_adapters(opened, &adapters, err));
    assert_true(adapters.count > 0);
    index = route.interface_index = adapters.items[0].index;
    host_adapters_free(&adapters);
    SUCCEEDS(host_route_add(opened, &route, err));
    SUCCEEDS(host_route_add(opened, &route, err));
    reopen(state);
    assert_true(has_route(&route));
    SUCCEEDS(host_route_remove(opened, &route, err));
    SUCCEEDS(host_route_remove(opened, &route, err));
    reopen(state);
    assert_false(has_route(&route));
    SUCCEEDS(host_forwarding_set(opened, index, 4, false, err));
    SUCCEEDS(host_forwarding_set(opened, index, 4, true, err));
    reopen(state);
    SUCCEEDS(host_forwarding(opened, index, 4, &on, err));
    assert_true(on);
    SUCCEEDS(host_forwarding_set(opened, index, 4, false, err));
    reopen(state);
    SUCCEEDS(host_forwarding(opened, index, 4, &on, err));
    assert_false(on);
    FAILS_WITH(ERROR_ABSENT, host_forwarding(opened, 9999, 4, &on, err));
    text_list_add(&servers, "10.0.0.53");
    SUCCEEDS(host_dns_set(opened, index, &servers, err));
    SUCCEEDS(host_address_add(opened, index, "10.0.0.77/24", err));
    text_list_add(&servers, "nobody");
    FAILS_WITH(ERROR_USAGE, host_address_add(opened, index, "10.0.0.78", err));
    FAILS_WITH(ERROR_USAGE, host_address_add(opened, index, "10.0.0.x/24", err));
    FAILS_WITH(ERROR_MALFORMED, host_dns_set(opened, index, &servers, err));
    FAILS_WITH(ERROR_ABSENT, host_address_add(opened, 9999, "10.0.0.77/24", err));
    FAILS_WITH(ERROR_ABSENT, host_dns_set(opened, 9999, &(struct text_list){0}, err));
    SUCCEEDS(host_event(opened, 'i', 1000, "x", err));
    SUCCEEDS(host_event_source_set(opened, "C:\\k\\winjoin.exe", err));
    SUCCEEDS(host_event_source_set(opened, NULL, err));
}

/* ---- a service on Linux runs in the foreground ---- */

static struct text heard;

static void on_output(void *context, const char *data, size_t len) {
    (void)context;
    text_add_bytes(&heard, data, len);
}

static unsigned ended_with;

static void on_end(void *context, bool asked, unsigned code) {
    (void)context;
    assert_false(asked);
    ended_with = code;
}

static int begin(void *context, struct error *err) {
    (void)err;
    return ((int *)context)[0];
}

static int go_on(void *context, struct error *err) {
    (void)err;
    ((int *)context)[2]++;
    return ((int *)context)[1];
}

static void work_of_our_own_goes_on_after_its_begin(void **state) {
    int results[] = {0, 0, 0};
    const struct service_work work = {begin, go_on, results};

    (void)state;
    if (opened_windows)
        return;
    assert_int_equal(service_host_run("x", NULL, &work, NULL), 0);
    results[1] = -1;
    assert_int_equal(service_host_run("x", NULL, &work, NULL), -1);
    assert_int_equal(results[2], 2);
    results[0] = -1;
    assert_int_equal(service_host_run("x", NULL, &work, NULL), -1);
    assert_int_equal(results[2], 2);
}

/* What stays open below it moves it up. */
static int free_descriptor(void) {
    FILE *file = tmpfile();
    int descriptor = file ? fileno(file) : -1;

    if (file)
        assert_int_equal(fclose(file), 0);
    return descriptor;
}

static void a_service_runs_in_the_foreground(void **state) {
    static const struct {
        const char *program, *script, *folder;
        int result;
        unsigned code;
        const char *heard;
    } rows[] = {
        {"/bin/sh", "echo $WINJOIN_CHILD; echo err >&2; pwd", "/", 0, 0, "a b\nerr\n/\n"},
        {"/bin/sh", "exit 3", NULL, -1, 3, ""},
        {"/bin/sh", "kill -9 $$", NULL, -1, 9, ""},
        {"/no/such", "", NULL, -1, 127, ""},
        {"/bin/sh", "echo x", "/no/such", -1, 126, ""},
    };
    const char *environment[] = {"WINJOIN_CHILD=a b", NULL};
    int before = free_descriptor();

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows) && !opened_windows; i++) {
        const char *argv[] = {rows[i].program, "-c", rows[i].script, NULL};
        struct service_program program = {.argv = argv,
                                          .environment = environment,
                                          .working_folder = rows[i].folder,
                                          .on_output = on_output,
                                          .on_end = on_end};
        struct error err = {0};
        int result = service_host_run("x", &program, NULL, &err);

        if (result != rows[i].result || strcmp(text_str(&heard), rows[i].heard) != 0)
            fail_msg("row %zu: %d '%s' %s", i, result, text_str(&heard), err.message);
        if (result < 0)
            assert_int_equal(err.kind, ERROR_HOST);
        assert_int_equal(ended_with, rows[i].code);
        assert_int_equal(free_descriptor(), before);
        text_free(&heard);
    }
}

int main(void) {
    const struct CMUnitTest memory[] = {cmocka_unit_test(nothing_wrong_reaches_the_host),
                                        cmocka_unit_test(no_wrong_service_reaches_the_host),
                                        cmocka_unit_test(changes_are_counted),
                                        cmocka_unit_test(sleep_ends_at_the_deadline)};
    const struct CMUnitTest own[] = {cmocka_unit_test(a_played_network_is_kept),
                                     cmocka_unit_test(work_of_our_own_goes_on_after_its_begin),
                                     cmocka_unit_test(a_service_runs_in_the_foreground)};
    int failed = cmocka_run_group_tests_name("host_memory", memory, open_memory, close_host);

    (void)on_wine, (void)expect_content, (void)expect_service;
    return failed + cmocka_run_group_tests_name("host_own", own, open_own, close_host);
}
