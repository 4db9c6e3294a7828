/* The pause before a join's first request: when there is one, and that it comes first. */
#include "tests/scene/join_scene.h"

#include "join/found/need.h"

static void who_pauses(void **state) {
    static const struct {
        long long given;
        bool unattended;
        uint64_t uptime;
        unsigned longest;
    } rows[] = {
        {-1, true, 59, 10000},
        {-1, true, 599, 10000},
        {-1, true, 600, 0}, /* it has been up for long: nothing says that others start now */
        {-1, true, 0, 0},   /* not known */
        {-1, false, 59, 0}, /* somebody waits for it */
        {0, true, 59, 0},
        {30000, false, 86400, 30000},
        {1LL << 40, false, 1, 60 * 60 * 1000},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct host_facts facts = {.uptime_seconds = rows[i].uptime};

        assert_int_equal(start_spread_longest_ms(rows[i].given, rows[i].unattended, &facts),
                         rows[i].longest);
    }
}

static struct run r;
static unsigned waits;
static size_t requests_before;

static void on_progress(void *context, const struct join_event *event) {
    (void)context;
    if (event->state != JOIN_WAITING)
        return;
    waits++;
    requests_before = http_memory_requests(r.http);
    assert_non_null(strstr(event->message, "(--start-spread)"));
}

/* How long the first request waited. */
static uint64_t waited_ms(long long given) {
    struct join join;
    struct error err = {0};
    uint64_t begin;

    waits = 0;
    requests_before = 99;
    open_run(&r, "overlay");
    r.options.start_spread = given;
    join = (struct join){
        .host = r.host, .http = r.http, .asked = &r.options, .progress.listener = on_progress};
    if (join_open(&join, &err) < 0)
        fail_msg("%s", err.message);
    begin = host_monotonic_ms(r.host);
    if (join_need(&join, NEED_CLIENT, &err) < 0)
        fail_msg("%s", err.message);
    begin = host_monotonic_ms(r.host) - begin;
    join_close(&join);
    close_run(&r);
    return begin;
}

static void comes_before_the_first_request(void **state) {
    (void)state;
    assert_in_range(waited_ms(60000), 1, 60000);
    assert_int_equal(waits, 1);
    assert_int_equal(requests_before, 0);
    assert_int_equal(waited_ms(0), 0);
    assert_int_equal(waits, 0);
}

/* Ctrl-C ends the pause, and then nothing is asked. */
static void ends_with_an_interruption(void **state) {
    struct join join;
    struct error err = {0};

    (void)state;
    open_run(&r, "overlay");
    r.options.start_spread = 60000;
    join = (struct join){.host = r.host, .http = r.http, .asked = &r.options};
    if (join_open(&join, &err) < 0)
        fail_msg("%s", err.message);
    host_memory_interrupt(r.host);
    assert_int_equal(join_need(&join, NEED_CLIENT, &err), -1);
    assert_int_equal(err.kind, ERROR_INTERRUPTED);
    assert_int_equal(http_memory_requests(r.http), 0);
    join_close(&join);
    close_run(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_pauses),
        cmocka_unit_test(comes_before_the_first_request),
        cmocka_unit_test(ends_with_an_interruption),
    };

    return cmocka_run_group_tests_name("start_spread", tests, NULL, NULL);
}
