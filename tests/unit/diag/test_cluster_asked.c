/* A cluster's probes asked: when, how often, and what comes of their answers. */
#include "tests/scene/cluster_scene.h"

static bool fails(const struct dial *d, unsigned from, const char *host, bool udp) {
    return d->from == from && text_equal(d->host, host) && d->udp == udp &&
           !text_equal(d->request, "clientip");
}

static bool refused_at_first(const struct dial *d, long *ret_status, const char **ret_body) {
    (void)ret_status;
    *ret_body = "{\"errors\":[\"connect: connection refused\"]}";
    return fails(d, 1, "10.244.2.5", false) && d->time < 3;
}

static void a_cell_that_comes_right(void **state) {
    const struct diag_cell *cell;
    struct error err;

    (void)state;
    c.dialed = refused_at_first;
    assert_int_equal(diagnose(&err), 0);
    cell = cell_of("pod-to-pod-ip", false, "win-1", 0);
    assert_int_equal(cell->outcome, DIAG_SLOW);
    assert_int_equal(cell->result.attempts, 2); /* the first two came too early */
    assert_int_equal(cell->result.succeeded, 1);
    assert_int_equal(cells_with(DIAG_SLOW), 1);
    assert_true(diag_report_is_good(&c.report));
    assert_true(c.report.milliseconds < 6000);
}

/* A Service that works is asked so often more, and what fails by one. */
enum { SEVERAL = 12, MANY = 24 };

static bool is_to_service(const struct diag_cell *cell) {
    return cell->flow->id == FLOW_SVC_IP;
}

/* kube-proxy writes what it hears of once a second: until then Services do not answer. */
static bool asked_early;
static bool written_late(const struct dial *d, long *ret_status, const char **ret_body) {
    bool early = text_starts_with(d->host, "10.96.") && host_monotonic_ms(c.host) < 1000;

    (void)ret_status;
    *ret_body = "{\"errors\":[\"dial tcp: i/o timeout\"]}";
    asked_early |= early && d->udp &&
                   !text_equal(d->request,
                               "clientip"); /* a cell, that is, whose time-out would cost seconds */
    return early;
}

static void services_that_are_written_late(void **state) {
    struct error err;

    (void)state;
    c.dialed = written_late;
    asked_early = false;
    assert_int_equal(diagnose(&err), 0);
    assert_false(asked_early);
    assert_int_equal(cells_with(DIAG_PASS), c.report.cells.count);
    for (size_t i = 0; i < c.report.cells.count; i++)
        assert_int_equal(c.report.cells.items[i].result.attempts,
                         is_to_service(&c.report.cells.items[i]) ? MANY : 1);
    assert_true(c.report.milliseconds >= 1000 && c.report.milliseconds < 1200);
    assert_string_equal(c.report.nodes.items[1].service_ip, "10.244.2.5");
}

static void dies_when_the_name_is_made(const char *method, const char *path) {
    c.dead = text_equal(method, "POST") && text_ends_with(path, "/services") && c.made == NODES;
}

/* Names of another domain than most clusters have are made when pods say it. */
static void a_name_that_cannot_be_made(void **state) {
    struct error err;

    (void)state;
    c.suffixes = "ns.svc.example.org,svc.example.org,example.org";
    c.before = dies_when_the_name_is_made;
    assert_int_equal(diagnose(&err), -1);
    assert_int_equal(err.kind, ERROR_NETWORK);
}

/* The Services' cluster IPs are there, and the first question comes too early all the same. */
static bool known_late(const struct dial *d, long *ret_status, const char **ret_body) {
    *ret_status = 400;
    *ret_body = "host and/or port param are invalid. lookup backend: no such host";
    return text_equal(d->host, "backend") && !d->time;
}

static void a_question_that_comes_too_early(void **state) {
    const struct diag_cell *cell;
    struct error err;

    (void)state;
    c.dialed = known_late;
    assert_int_equal(diagnose(&err), 0);
    cell = cell_of("pod-to-service-pqdn", false, "win-1", 0);
    assert_int_equal(cell->outcome, DIAG_PASS);
    assert_int_equal(cell->result.attempts, SEVERAL);
    assert_int_equal(cells_with(DIAG_PASS), c.report.cells.count);
}

/* A packet to a Service that is not written is lost: that is waited for no longer than an answer
 * would take, and what needs no Service is asked once meanwhile. */
static bool lost_until_written(const struct dial *d, long *ret_status, const char **ret_body) {
    bool early = text_starts_with(d->host, "10.96.") && host_monotonic_ms(c.host) < 1000;

    (void)ret_status, (void)ret_body;
    c.takes_ms = early ? 5000 : 0;
    return false;
}

static void services_whose_packets_are_lost(void **state) {
    struct error err;
    unsigned asked = 0;

    (void)state;
    c.dialed = lost_until_written;
    assert_int_equal(diagnose(&err), 0);
    assert_int_equal(cells_with(DIAG_PASS), c.report.cells.count);
    assert_in_range(c.report.milliseconds, 1000, 1250);
    for (size_t i = 0; i < c.paths.count; i++)
        asked +=
            strstr(c.paths.items[i], "probe-1:8080/proxy/dial?host=10.0.0.2&port=10250") != NULL;
    assert_int_equal(asked, 1);
}

/* A large packet that is late in the short round is asked again in a longer one, and no cell is red
 * meanwhile. */
static bool large_at_leisure(const struct dial *d, long *ret_status, const char **ret_body) {
    (void)ret_status, (void)ret_body;
    c.takes_ms = fails(d, 1, "10.244.2.5", false) && d->large && !d->time ? 600 : 0;
    return false;
}

static size_t looks;
static void none_is_red(void *context, const struct diag_report *report) {
    (void)context;
    looks++;
    for (size_t i = 0; i < report->cells.count; i++)
        assert_int_not_equal(report->cells.items[i].outcome, DIAG_FAIL);
}

static void an_answer_that_is_late(void **state) {
    struct error err;

    (void)state;
    looks = 0;
    c.dialed = large_at_leisure;
    c.options.cells = none_is_red;
    assert_int_equal(diagnose(&err), 0);
    assert_int_equal(looks, 3); /* the late one, which is the first, all, and Services again */
    assert_int_equal(cells_with(DIAG_PASS), c.report.cells.count);
    assert_int_equal(cell_of("pod-to-pod-ip", false, "win-1", 0)->large, LARGE_ARRIVE);
}

/* A Service that never answers is waited for as long as kube-proxy may take, not longer. */
static bool never_written(const struct dial *d, long *ret_status, const char **ret_body) {
    (void)ret_status;
    *ret_body = "{\"errors\":[\"dial tcp: i/o timeout\"]}";
    return (d->from == 3 && text_starts_with(d->host, "10.96.")) ||
           fails(d, 1, "10.244.2.5", false);
}

static void services_that_never_answer(void **state) {
    struct error err;

    (void)state;
    c.dialed = never_written;
    assert_int_equal(diagnose(&err), 0);
    assert_int_equal(cells_with(DIAG_FAIL), 5); /* two of a Service, two of its own, and a pod's */
    assert_int_equal(cells_with(DIAG_SLOW), 0); /* of the pairs beside it, either */
    assert_true(c.report.milliseconds < 12000);
}

static bool broken_for_good(const struct dial *d, long *ret_status, const char **ret_body) {
    (void)ret_status;
    *ret_body = d->udp ? "{}" : "{\"errors\":[\"dial tcp: i/o timeout\"]}";
    return fails(d, 1, "10.244.2.5", false) || fails(d, 3, "10.244.1.5", true);
}

static void cells_that_stay_red(void **state) {
    const struct diag_cell *tcp, *udp;
    struct error err;

    (void)state;
    c.dialed = broken_for_good;
    assert_int_equal(diagnose(&err), 0);
    tcp = cell_of("pod-to-pod-ip", false, "win-1", 0);
    udp = cell_of("pod-to-pod-ip", true, "lin-1", 0);
    assert_int_equal(tcp->outcome, DIAG_FAIL);
    assert_string_equal(tcp->reason, "no answer in 5 s");
    assert_int_equal(udp->outcome, DIAG_FAIL);
    assert_int_equal(udp->result.outcome, PROBE_NO_REPLY);
    assert_string_equal(udp->reason, "no answer came");
    assert_int_equal(cells_with(DIAG_FAIL), 2);
    assert_int_equal(cells_with(DIAG_PASS), c.report.cells.count - 2);
    assert_true(tcp->result.attempts >= 7); /* once a second until the end */
    assert_true(c.report.milliseconds >= 9000 && c.report.milliseconds < 12000);
    assert_false(diag_report_is_good(&c.report));
    assert_false(c.report.nodes.items[0].sticky); /* it would cost a time-out more */
    assert_false(c.report.nodes.items[1].sticky);
    assert_true(c.report.nodes.items[2].sticky);
}

static bool timed_out(const struct dial *d, long *ret_status, const char **ret_body) {
    bool red = broken_for_good(d, ret_status, ret_body) && !d->udp;

    c.takes_ms = red && !d->large ? 5000 : 0; /* one of the two: they would be asked together */
    return red;
}

/* One that was waited for is asked again at once. */
static void cells_that_time_out(void **state) {
    struct error err;

    (void)state;
    c.dialed = timed_out;
    assert_int_equal(diagnose(&err), 0);
    assert_int_equal(cells_with(DIAG_FAIL), 1);
    assert_in_range(c.report.milliseconds, 10500, 11000);
}

static bool somebody_else(const struct dial *d, long *ret_status, const char **ret_body) {
    (void)ret_status;
    *ret_body = d->from == 1 ? "{\"responses\":[\"probe-3\"]}" : "{\"responses\":[\"stranger\"]}";
    return fails(d, 1, "10.244.2.5", false) || fails(d, 3, "10.96.0.1", false);
}

static void a_wrong_responder(void **state) {
    const struct diag_cell *cell, *service;
    struct error err;

    (void)state;
    c.dialed = somebody_else;
    assert_int_equal(diagnose(&err), 0);
    cell = cell_of("pod-to-pod-ip", false, "win-1", 0);
    service = cell_of("pod-to-service-ip", false, "lin-1", 0);
    assert_int_equal(cell->result.outcome, PROBE_WRONG_RESPONDER);
    assert_string_equal(cell->reason, "'probe-3' answered");
    assert_string_equal(service->reason, "'stranger' answered");
    assert_int_equal(cells_with(DIAG_FAIL), 2);
}

static const char *long_answer;
static bool talks_on(const struct dial *d, long *ret_status, const char **ret_body) {
    (void)ret_status;
    *ret_body = long_answer;
    return fails(d, 1, "10.244.2.5", false);
}

/* Whoever answers in a probe's place cannot fill the memory. */
static void an_answer_that_is_too_long(void **state) {
    _cleanup_(freep) char *text = xmalloc(65537 + 1);
    const struct diag_cell *cell;
    struct error err;

    (void)state;
    memset(text, 'x', 65537);
    text[65537] = '\0';
    long_answer = text;
    c.dialed = talks_on;
    assert_int_equal(diagnose(&err), 0);
    cell = cell_of("pod-to-pod-ip", false, "win-1", 0);
    assert_int_equal(cell->outcome, DIAG_NOT_RUN);
    assert_non_null(strstr(cell->reason, ": get 'https://k/")); /* not what it said */
}

/* A probe that does not listen yet refuses; that is waited for, for a while. */
static unsigned deaf;
static bool deaf_at_first(const struct dial *d, long *ret_status, const char **ret_body) {
    (void)d;
    *ret_status = 503;
    *ret_body =
        "{\"kind\":\"Status\",\"message\":\"dial tcp 10.244.1.5:8080: connection refused\"}";
    return deaf > 0 && deaf--;
}

static void probes_that_do_not_listen_yet(void **state) {
    struct error err;

    (void)state;
    deaf = 15; /* three probes, five times */
    c.dialed = deaf_at_first;
    assert_int_equal(diagnose(&err), 0);
    assert_int_equal(deaf, 0);
    assert_int_equal(cells_with(DIAG_PASS), c.report.cells.count);
    assert_true(c.report.milliseconds < 2500); /* the wait for kube-proxy includes it */
}

/* And after a while it is no wait any more: the API server does not reach them. */
static void probes_that_never_listen(void **state) {
    struct error err;
    unsigned asked = 0;

    (void)state;
    deaf = 1000000;
    c.dialed = deaf_at_first;
    assert_int_equal(diagnose(&err), 0);
    for (size_t i = 0; i < c.paths.count; i++)
        asked += strstr(c.paths.items[i], "probe-1:8080/proxy/dial") &&
                 strstr(c.paths.items[i], "request=clientip");
    assert_in_range(asked, 22, 28); /* soon at first, then four times a second, for 5 s */
    assert_non_null(strstr(c.report.nodes.items[0].unreached, "connection refused; nor by exec: "));
    assert_int_equal(cells_with(DIAG_NOT_RUN), c.report.cells.count - NODES);
}

static long proxy_status;
static bool answers_otherwise(const struct dial *d, long *ret_status, const char **ret_body) {
    *ret_status = proxy_status;
    *ret_body = "{\"kind\":\"Status\",\"message\":\"no\"}";
    return d->from == 1;
}

/* Which of the API server's answers say that it does not reach a probe. */
static void answers_of_the_proxy(void **state) {
    static const struct {
        long status;
        bool unreached;
    } rows[] = {{403, false}, {404, false}, {499, false}, {500, true}, {503, true}, {504, true}};

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct error err;

        close_cluster(state);
        open_cluster(state);
        proxy_status = rows[i].status;
        c.dialed = answers_otherwise;
        assert_int_equal(diagnose(&err), 0);
        assert_int_equal(c.report.nodes.items[0].unreached != NULL, rows[i].unreached);
        assert_null(c.report.nodes.items[1].unreached);
        assert_int_equal(cell_of("pod-to-node", false, "win-1", 0)->outcome, DIAG_NOT_RUN);
    }
}

static void no_version(const char *method, const char *path) {
    (void)method;
    c.dead = text_starts_with(path, "/version");
}

/* An API server that is away itself says nothing about pods. */
static void a_server_that_is_away(void **state) {
    struct error err;

    (void)state;
    proxy_status = 503;
    c.dialed = answers_otherwise;
    c.before = no_version;
    assert_int_equal(diagnose(&err), 0);
    assert_null(c.report.nodes.items[0].unreached);
    assert_int_equal(cell_of("pod-to-node", false, "win-1", 0)->outcome, DIAG_NOT_RUN);
    assert_int_equal(c.report.requests, http_memory_requests(c.http));
}

static const char *stopped_at;
static void ctrl_c(const char *method, const char *path) {
    (void)method;
    if (strstr(path, stopped_at))
        host_memory_interrupt(c.host);
}

static bool refuses(const struct dial *d, long *ret_status, const char **ret_body) {
    (void)d;
    *ret_status = 503;
    *ret_body = "{\"kind\":\"Status\",\"message\":\"connection refused\"}";
    return true;
}

static bool is_silent(const struct dial *d, long *ret_status, const char **ret_body) {
    (void)ret_status;
    *ret_body = "{\"errors\":[\"i/o timeout\"]}";
    return *d->host != '\0';
}

/* Wherever it waits or asks. */
static void an_interrupted_run(void **state) {
    static const struct {
        const char *at;
        bool (*dialed)(const struct dial *dial, long *ret_status, const char **ret_body);
        const char *waiting; /* why a pod does not run */
        bool unready;
    } rows[] = {{"/proxy/dial", NULL, NULL, false},
                {"request=clientip", refuses, NULL, false},
                {":8084/proxy/", is_silent, NULL, false},
                {"request=hostname&tries=1", is_silent, NULL, false},
                {"watch=true", NULL, "ContainerCreating", false},
                {"watch=true", NULL, NULL, true}};

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct error err;

        close_cluster(state);
        open_cluster(state);
        stopped_at = rows[i].at;
        c.before = ctrl_c;
        c.dialed = rows[i].dialed;
        c.waiting[0] = rows[i].waiting;
        c.unready_pods = rows[i].unready;
        if (diagnose(&err) == 0)
            fail_msg("row %zu", i);
        assert_int_equal(err.kind, ERROR_INTERRUPTED);
        assert_true(!rows[i].waiting || text_starts_with(err.message, "wait for the probe pods: "));
        for (size_t k = 0; i == 1 && k < c.paths.count; k++) /* it ends where it is */
            assert_null(strstr(c.paths.items[k], ":8084/proxy/"));
        assert_non_null(strstr(text_str(&c.log), "\nDELETE /api/v1/namespaces/winjoin-diag-"));
    }
}

static void dead_for_services(const char *method, const char *path) {
    c.dead = text_equal(method, "POST") && text_ends_with(path, "/services");
}

static void services_that_cannot_be_made(void **state) {
    struct error err;

    (void)state;
    c.before = dead_for_services;
    assert_int_equal(diagnose(&err), -1);
    assert_int_equal(err.kind, ERROR_NETWORK);
    assert_non_null(strstr(text_str(&c.log), "\nDELETE /api/v1/namespaces/winjoin-diag-"));
}

static void is_listed_later(const char *method, const char *path) {
    (void)method;
    c.unlisted &= !strstr(path, "watch=true");
}

static void a_pod_that_is_listed_late(void **state) {
    struct error err;

    (void)state;
    c.unlisted = true;
    c.before = is_listed_later;
    assert_int_equal(diagnose(&err), 0);
    assert_false(c.unlisted);
    assert_string_equal(c.report.nodes.items[0].pod_ip, "10.244.1.5");
    assert_true(diag_report_is_good(&c.report));
}

/* Its name is drawn by lot. */
static void a_namespace_without_a_name(void **state) {
    struct error err;

    (void)state;
    host_memory_fail(c.host, 1);
    assert_int_equal(diagnose(&err), -1);
    assert_int_equal(err.kind, ERROR_HOST);
    assert_non_null(strstr(host_memory_failed(c.host), "random"));
    assert_int_equal(c.log.len, 0);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_cluster, close_cluster)
    const struct CMUnitTest tests[] = {CASE(a_cell_that_comes_right),
                                       CASE(a_pod_that_is_listed_late),
                                       CASE(a_namespace_without_a_name),
                                       CASE(services_that_are_written_late),
                                       CASE(services_whose_packets_are_lost),
                                       CASE(a_name_that_cannot_be_made),
                                       CASE(a_question_that_comes_too_early),
                                       CASE(an_answer_that_is_late),
                                       CASE(services_that_never_answer),
                                       CASE(cells_that_stay_red),
                                       CASE(cells_that_time_out),
                                       CASE(a_wrong_responder),
                                       CASE(an_answer_that_is_too_long),
                                       CASE(probes_that_do_not_listen_yet),
                                       CASE(probes_that_never_listen),
                                       CASE(answers_of_the_proxy),
                                       CASE(a_server_that_is_away),
                                       CASE(an_interrupted_run),
                                       CASE(services_that_cannot_be_made)};

    return cmocka_run_group_tests_name("a cluster's cells", tests, NULL, NULL);
}
