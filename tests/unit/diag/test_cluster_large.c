/* Large packets of a cluster's cells, those that are lost by chance, and how long they take. */
#include "tests/scene/cluster_scene.h"

#include "diag/cluster/cells.h"

static bool is_between(const struct dial *d, unsigned from, const char *host) {
    return d->from == from && text_equal(d->host, host) && !text_equal(d->request, "clientip");
}

static bool is_lost(const char **ret_body) {
    *ret_body = "{\"errors\":[\"dial tcp: i/o timeout\"]}";
    return true;
}

static bool is_echo(const struct dial *d) {
    return text_starts_with(d->request, "echo");
}

/* From 1 to 2 large packets are lost, or from 2 to 1. */
static enum { THERE, BACK } way;
static bool large_are_lost(const struct dial *d, long *ret_status, const char **ret_body) {
    (void)ret_status;
    return is_between(d, 1, "10.244.2.5") && d->large && (way == THERE || is_echo(d)) &&
           is_lost(ret_body);
}

static void large_packets_that_are_lost(void **state) {
    static const struct {
        enum diag_large large;
        const char *reason;
    } rows[] = {
        {LARGE_LOST_THERE,
         "short packets arrive, large ones (3000 bytes) are lost on the way there"},
        {LARGE_LOST_BACK, "short packets arrive, large ones (3000 bytes) are lost on the way back"},
    };
    struct error err;

    for (way = THERE; way <= BACK; way++) {
        const struct diag_cell *cell;

        close_cluster(state);
        open_cluster(state);
        c.dialed = large_are_lost;
        assert_int_equal(diagnose(&err), 0);
        cell = cell_of("pod-to-pod-ip", false, "win-1", 0);
        assert_int_equal(cell->large, rows[way].large);
        assert_string_equal(cell->reason, rows[way].reason);
        assert_int_equal(cell->result.outcome, PROBE_TIMEOUT);
        assert_int_equal(cell->result.succeeded, 0);
        cell = cell_of("pod-to-pod-ip", true, "win-1", 0);
        assert_int_equal(cell->large, rows[way].large);
        assert_non_null(strstr(cell->reason, "(1400 bytes)"));
        assert_int_equal(cells_with(DIAG_FAIL), 2);
        assert_int_equal(c.report.causes.count, 1);
        assert_string_equal(c.report.causes.items[0].id, "CL-MTU-PAIR");
        assert_true(c.report.causes.items[0].confirmed);
        assert_true(c.report.milliseconds < 12000);
        assert_int_equal(cell_of("pod-to-pod-ip", false, "win-2", 0)->large, LARGE_ARRIVE);
        assert_int_equal(cell_of("pod-to-pod-name", false, "win-1", 0)->large, LARGE_NOT_ASKED);
    }
}

/* A green run asks for each cell between pods once more, a Service 24 times, and for nothing
 * else twice. */
static void what_it_costs(void **state) {
    size_t large = 0, between = 0, dials = 0, services = 0;
    struct error err;

    (void)state;
    assert_int_equal(diagnose(&err), 0);
    for (size_t i = 0; i < c.report.cells.count; i++) {
        between += cluster_cell_is_between_pods(&c.report.cells.items[i]);
        services += text_equal(c.report.cells.items[i].flow->name, "pod-to-service-ip");
    }
    for (size_t i = 0; i < c.paths.count; i++) {
        large += strlen(c.paths.items[i]) > 1000;
        dials += strstr(c.paths.items[i], "/proxy/dial") != NULL;
    }
    assert_true(between > 0);
    assert_int_equal(large, between);
    assert_int_equal(dials, c.report.cells.count - NODES + between + 5 * NODES + 24 * services);
}

static long refusal;
static bool no_long_urls(const struct dial *d, long *ret_status, const char **ret_body) {
    *ret_status = refusal;
    *ret_body = "URI Too Long";
    return d->large;
}

/* A proxy before the API server that takes no such URL says nothing about pods. */
static void urls_that_are_refused(void **state) {
    struct error err;

    refusal = 414;
    c.dialed = no_long_urls;
    (void)state;
    assert_int_equal(diagnose(&err), 0);
    assert_true(diag_report_is_good(&c.report));
    assert_int_equal(cell_of("pod-to-pod-ip", false, "win-1", 0)->large, LARGE_NOT_ASKED);
}

/* The hole is before the pod that is to ask: the question itself does not come back. */
static bool hangs(const struct dial *d, long *ret_status, const char **ret_body) {
    (void)ret_status, (void)ret_body;
    c.takes_ms = d->from == 1 && d->large ? 60000 : 0;
    return false;
}

static void questions_that_hang(void **state) {
    struct error err;

    (void)state;
    c.dialed = hangs;
    assert_int_equal(diagnose(&err), 0);
    assert_int_equal(cell_of("pod-to-pod-ip", false, "win-1", 0)->large, LARGE_LOST);
    assert_int_equal(cell_of("pod-to-pod-ip", false, "lin-1", 0)->large, LARGE_ARRIVE);
}

/* Where other answers are late, too, what does not come is no loss. */
static bool hangs_and_late(const struct dial *d, long *ret_status, const char **ret_body) {
    c.wait_us = 600000;
    return hangs(d, ret_status, ret_body);
}

static void questions_that_are_late(void **state) {
    struct error err;

    (void)state;
    c.dialed = hangs_and_late;
    assert_int_equal(diagnose(&err), 0);
    assert_int_equal(cell_of("pod-to-pod-ip", false, "win-1", 0)->large, LARGE_NOT_ASKED);
    assert_int_equal(c.report.causes.count, 0);
}

/* Nothing is known of what was never answered: no pattern, and said so. */
static bool mute(const struct dial *d, long *ret_status, const char **ret_body) {
    (void)ret_status, (void)ret_body;
    c.takes_ms = d->from == 1 && !text_equal(d->request, "clientip") ? 60000 : 0;
    return false;
}

static void questions_without_an_answer(void **state) {
    const struct diag_cell *cell;
    struct error err;

    (void)state;
    c.dialed = mute;
    assert_int_equal(diagnose(&err), 0);
    cell = cell_of("pod-to-pod-ip", false, "win-1", 0);
    assert_int_equal(cell->outcome, DIAG_NOT_RUN);
    assert_string_equal(cell->reason, "the API server does not reach the probe: no answer in time");
    assert_int_equal(cells_with(DIAG_FAIL), 0);
    assert_int_equal(c.report.causes.count, 1);
    assert_string_equal(c.report.causes.items[0].id, "CL-LATE");
    assert_false(c.report.causes.items[0].confirmed);
}

/* A question of that length that hangs says nothing of the way: it may be lost before. */
static bool hangs_later(const struct dial *d, long *ret_status, const char **ret_body) {
    bool lost = large_are_lost(d, ret_status, ret_body);

    c.takes_ms = lost && !is_echo(d) ? 60000 : 0;
    return lost && is_echo(d);
}

static void a_way_that_is_not_known(void **state) {
    struct error err;

    (void)state;
    way = THERE;
    c.dialed = hangs_later;
    assert_int_equal(diagnose(&err), 0);
    assert_int_equal(cell_of("pod-to-pod-ip", false, "win-1", 0)->large, LARGE_LOST);
    assert_true(c.report.nodes.items[0].sticky); /* it is not cut off */
}

/* What was lost by chance once is no hole for large ones later. */
static bool chance_then_hole(const struct dial *d, long *ret_status, const char **ret_body) {
    (void)ret_status;
    if (d->udp || !is_between(d, 1, "10.244.2.5"))
        return false;
    if (host_monotonic_ms(c.host) >= 4000)
        return d->large && is_lost(ret_body);
    return is_echo(d) && d->time % 3 != 2 && is_lost(ret_body);
}

static void chance_stays_chance(void **state) {
    const struct diag_cell *cell;
    struct error err;

    (void)state;
    c.dialed = chance_then_hole;
    assert_int_equal(diagnose(&err), 0);
    cell = cell_of("pod-to-pod-ip", false, "win-1", 0);
    assert_int_equal(cell->outcome, DIAG_FAIL);
    assert_int_equal(cell->large, LARGE_NOT_ASKED);
    assert_string_equal(cell->reason, "4 of 10 attempts succeeded");
}

static const char *other_echo;
static bool answers_otherwise(const struct dial *d, long *ret_status, const char **ret_body) {
    (void)ret_status;
    *ret_body = other_echo;
    return is_between(d, 1, "10.244.2.5") && is_echo(d);
}

/* An echo is as long as its question, and holds nothing else. */
static void echoes_that_are_not(void **state) {
    static const char *const rows[] = {"{\"responses\":[\"000000\"]}",
                                       "{\"responses\":[\"probe-2\"]}", "{\"responses\":[7]}",
                                       "{}"};
    struct error err;

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        close_cluster(state);
        open_cluster(state);
        other_echo = rows[i];
        c.dialed = answers_otherwise;
        assert_int_equal(diagnose(&err), 0);
        assert_int_equal(cells_with(DIAG_FAIL), 2);
    }
}

/* ---- by chance ---- */

static unsigned every; /* so many of UDP from 1 to 2 arrive before one is lost */
static unsigned sent;
static bool some_are_lost(const struct dial *d, long *ret_status, const char **ret_body) {
    (void)ret_status;
    c.wait_us = text_equal(d->host, "127.0.0.1") ? 2000
                : d->udp                         ? 2500
                                                 : 5000 + 100 * (d->time % 10);
    return d->udp && is_between(d, 1, "10.244.2.5") && ++sent % every == 0 && is_lost(ret_body);
}

/* Without --count it is seen where a cell is asked again, and is no hole for large ones. */
static void some_that_are_lost(void **state) {
    const struct diag_cell *cell;
    struct error err;

    (void)state;
    every = 2; /* the large one each time at first */
    sent = 0;
    c.dialed = some_are_lost;
    assert_int_equal(diagnose(&err), 0);
    cell = cell_of("pod-to-pod-ip", true, "win-1", 0);
    assert_int_equal(cell->outcome, DIAG_FAIL);
    assert_string_equal(cell->reason, "5 of 10 attempts succeeded");
    assert_int_equal(cell->large, LARGE_NOT_ASKED);
    assert_int_equal(c.report.causes.count, 1);
    assert_string_equal(c.report.causes.items[0].id, "CL-LOSS-PAIR");
    assert_false(cell->counted);
}

/* Of TCP between 1 and others each third answer takes a second longer; `own_too`: the probes
 * themselves are as late. */
static bool own_too;
static bool some_are_sent_again(const struct dial *d, long *ret_status, const char **ret_body) {
    bool own = text_equal(d->host, "127.0.0.1");

    (void)ret_status, (void)ret_body;
    c.wait_us = !d->udp && d->port == 8080 && d->time % 3 == 0 && !d->large &&
                        (own ? own_too : d->from == 1 || text_equal(d->host, "10.244.1.5"))
                    ? 1002000
                    : 2000;
    return false;
}

/* TCP alone: nothing is lost at the end, and it is named all the same. */
static void packets_that_are_sent_again(void **state) {
    const struct diag_cell *cell;
    struct error err;

    for (own_too = false;; own_too = true) {
        close_cluster(state);
        open_cluster(state);
        c.nodes = NODES_MANY;
        c.dialed = some_are_sent_again;
        assert_int_equal(diagnose(&err), 0);
        cell = cell_of("pod-to-pod-ip", false, "win-1", 0);
        assert_int_equal(cells_with(DIAG_FAIL), 0);
        assert_false(cell->counted);
        if (own_too)
            break;
        assert_int_equal(cell->outcome, DIAG_SLOW);
        assert_int_equal(cell->again, 7);
        assert_string_equal(cell->reason, "packets of 7 of 20 connections were sent again");
        assert_int_equal(c.report.causes.count, 1);
        assert_string_equal(c.report.causes.items[0].id, "CL-LOSS-NODE");
        assert_true(text_starts_with(c.report.causes.items[0].message, "win-1:"));
        assert_false(c.report.causes.items[0].confirmed);
    }
    assert_int_equal(cell->again, 0);
    assert_int_equal(c.report.causes.count, 0);
}

/* Loss is exact; what a question takes of itself is not the network's. */
static void counted(void **state) {
    const struct diag_cell *cell;
    struct error err;
    size_t dials;

    (void)state;
    every = 10;
    sent = 0;
    c.nodes = NODES_MANY;
    c.options.count = 50;
    c.dialed = some_are_lost;
    assert_int_equal(diagnose(&err), 0);
    cell = cell_of("pod-to-pod-ip", true, "win-1", 0);
    assert_true(cell->counted);
    assert_int_equal(cell->outcome, DIAG_FAIL);
    assert_int_equal(cell->result.attempts, 50);
    assert_int_equal(cell->result.succeeded, 45);
    assert_int_equal(cell->result.outcome, PROBE_NO_REPLY);
    assert_string_equal(cell->reason, "45 of 50 attempts succeeded");
    assert_int_equal(cell->result.median_us, 500);
    cell = cell_of("pod-to-pod-ip", false, "win-1", 0);
    assert_int_equal(cell->outcome, DIAG_PASS);
    assert_int_equal(cell->result.succeeded, 50);
    assert_int_equal(cell->result.min_us, 3000);
    assert_int_equal(cell->result.max_us, 3900);
    assert_in_range(cell->result.median_us, 3400, 3500);
    assert_string_equal(c.report.causes.items[0].id, "CL-LOSS-PAIR");
    assert_non_null(strstr(c.report.causes.items[0].message, "win-1 to win-2"));
    assert_true(c.report.pairs.count >
                NODES_MANY + 1); /* others beside it were asked, too, and as often */
    for (size_t i = 0; i < c.report.cells.count; i++)
        if (c.report.cells.items[i].outcome == DIAG_PASS &&
            c.report.cells.items[i].from_node == 1 && c.report.cells.items[i].to_node == 0)
            assert_int_equal(c.report.cells.items[i].result.attempts, 50);
    assert_int_equal(c.report.requests, http_memory_requests(c.http));
    dials = c.paths.count;
    close_cluster(state);
    open_cluster(state);
    c.nodes = NODES_MANY;
    c.options.count = 1; /* is asked once as it is */
    assert_int_equal(diagnose(&err), 0);
    assert_true(c.paths.count < dials / 10);
    assert_false(cell_of("pod-to-pod-ip", false, "win-1", 0)->counted);
}

static bool dead_later(const struct dial *d, long *ret_status, const char **ret_body) {
    (void)ret_status;
    return is_between(d, 1, "10.244.2.5") && d->time > 0 && is_lost(ret_body);
}

/* One that loses everything is not asked to the end; one that was red is not asked at all. */
static void counted_in_vain(void **state) {
    const struct diag_cell *cell;
    struct error err;

    (void)state;
    c.options.count = 100;
    c.dialed = dead_later;
    assert_int_equal(diagnose(&err), 0);
    cell = cell_of("pod-to-pod-ip", false, "win-1", 0);
    assert_int_equal(cell->outcome, DIAG_FAIL);
    assert_int_equal(cell->result.succeeded, 0);
    assert_true(cell->result.attempts < 100);
    close_cluster(state);
    open_cluster(state);
    way = THERE;
    c.options.count = 5;
    c.dialed = large_are_lost;
    assert_int_equal(diagnose(&err), 0);
    assert_false(cell_of("pod-to-pod-ip", false, "win-1", 0)->counted);
    assert_int_equal(cell_of("pod-to-pod-ip", false, "win-1", 0)->large, LARGE_LOST_THERE);
}

static bool not_passed_on(const struct dial *d, long *ret_status, const char **ret_body) {
    *ret_status = 503;
    *ret_body = "{\"kind\":\"Status\",\"message\":\"too much to do\"}";
    return is_between(d, 1, "10.244.2.5") && d->time % 2;
}

/* What the API server does not pass on is no loss. */
static void counted_without_the_server(void **state) {
    const struct diag_cell *cell;
    struct error err;

    (void)state;
    c.options.count = 10;
    c.dialed = not_passed_on;
    assert_int_equal(diagnose(&err), 0);
    cell = cell_of("pod-to-pod-ip", false, "win-1", 0);
    assert_int_equal(cell->outcome, DIAG_PASS);
    assert_int_equal(cell->result.attempts, 5);
    assert_int_equal(cell->result.succeeded, 5);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_cluster, close_cluster)
    const struct CMUnitTest tests[] = {
        CASE(large_packets_that_are_lost),
        CASE(what_it_costs),
        CASE(urls_that_are_refused),
        CASE(questions_that_hang),
        CASE(questions_that_are_late),
        CASE(questions_without_an_answer),
        CASE(a_way_that_is_not_known),
        CASE(chance_stays_chance),
        CASE(echoes_that_are_not),
        CASE(some_that_are_lost),
        CASE(packets_that_are_sent_again),
        CASE(counted),
        CASE(counted_in_vain),
        CASE(counted_without_the_server),
    };

    return cmocka_run_group_tests_name("a cluster's large packets", tests, NULL, NULL);
}
