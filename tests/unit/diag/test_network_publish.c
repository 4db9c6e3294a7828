/* A joined node publishes its own network report: when, what, and that it never does harm. */
#include "tests/scene/network_publish_scene.h"

static json_t *published(void) {
    json_t *report = NULL;
    struct error err = {0};

    assert_non_null(api.annotation);
    if (network_report_read(api.annotation, &report, &err) < 0)
        fail_msg("%s", err.message);
    return report;
}

static void a_well_node_says_so_and_rarely(void **state) {
    _cleanup_json_ json_t *report = NULL;
    unsigned asked;

    (void)state;
    add_balancer("10.96.0.9");
    api.service = true;
    pass(89000, NEWS_SAME);
    assert_int_equal(api.requests, 0);
    pass(20000, NEWS_SAME);
    assert_int_equal(api.patches, 1);
    report = published();
    assert_string_equal(json_text_at(report, "mode"), "overlay");
    assert_string_equal(json_text_at(report, "dsr"), "on");
    assert_false(network_report_differs(report));
    assert_non_null(json_object_get(report, "drift"));
    assert_null(strstr(text_str(&api.paths), "/api/v1/nodes?"));
    asked = api.requests; /* its Node, three lists, the patch */
    assert_int_equal(asked, 5);
    pass(50 * MINUTE, NEWS_SAME); /* nothing changes: three or two looks, no patch */
    assert_int_equal(api.patches, 1);
    assert_true(api.requests - asked >= 8 && api.requests - asked <= 12);
    pass(35 * MINUTE, NEWS_SAME);
    assert_int_equal(api.patches, 2);
}

/* Load balancers are news only while something is wrong. */
static void what_hns_lacks_is_confirmed_first(void **state) {
    _cleanup_json_ json_t *report = NULL, *again = NULL;
    unsigned asked;

    (void)state;
    api.service = true; /* no load balancer for it */
    pass(110000, NEWS_SAME);
    assert_int_equal(api.requests, 4); /* seen once */
    assert_int_equal(api.patches, 0);
    pass(75000, NEWS_SAME);
    assert_int_equal(api.patches, 1);
    report = published();
    assert_true(network_report_lacks(report));
    assert_string_equal(json_text_at(report, "drift.servicesWithoutLoadBalancer.first.0"),
                        "d/a 10.96.0.9:80/TCP");
    pass(20 * MINUTE, NEWS_SAME); /* and said again, so that it is fresh */
    assert_int_equal(api.patches, 2);
    add_balancer("10.96.0.9");
    pass(110000, NEWS_BALANCERS);
    assert_int_equal(api.patches, 3);
    again = published();
    assert_false(network_report_differs(again));
    asked = api.requests;
    pass(13 * MINUTE, NEWS_BALANCERS); /* no hurry any more */
    assert_int_equal(api.requests, asked);
}

static void what_is_there_again_was_never_said(void **state) {
    (void)state;
    api.service = true;
    pass(110000, NEWS_SAME);
    add_balancer("10.96.0.9");
    pass(75000, NEWS_SAME);
    assert_int_equal(api.patches, 1);
    assert_null(strstr(api.annotation, "servicesWithoutLoadBalancer"));
}

/* That it is in doubt is said at once; what is so not: kube-proxy writes its load balancers again
 * meanwhile. */
static void a_restart_of_hns_is_looked_at_soon(void **state) {
    (void)state;
    pass(110000, NEWS_SAME);
    assert_int_equal(api.patches, 1);
    api.service = true;
    pass(88000, NEWS_RESTORED);
    assert_int_equal(api.requests, 7);
    assert_condition("Unknown", "NetworkRestored");
    pass(24000, NEWS_SAME);
    assert_int_equal(api.requests, 11);
    assert_int_equal(api.patches, 2);
    pass(75000, NEWS_SAME);
    assert_int_equal(api.patches, 3);
    assert_condition("False", "CL-HNS");
    assert_string_equal(text_str(&api.events),
                        "Warning PodNetworkNotProved: CL-HNS: HNS has otherwise than Kubernetes: 1 "
                        "Services without a load balancer in HNS (d/a 10.96.0.9:80/TCP)\n" DRIFT);
}

/* A Node that says nothing of it yet does not begin to; what a diagnosis proves meanwhile is in
 * doubt after the next restart. */
static void what_was_proved_between_restarts(void **state) {
    const struct diag_report measured = {.time = 1795859000};
    struct error err = {0};

    (void)state;
    pass(10000, NEWS_RESTORED);
    assert_null(api.condition);
    assert_int_equal(network_report_publish(host, http, &measured, &err), 0);
    assert_condition("Unknown", "NotMeasured");
    pass(10000, NEWS_RESTORED);
    assert_condition("Unknown", "NetworkRestored");
}

/* Nor while it is restarted again and again, though a look was due. */
static void each_restart_puts_the_look_off(void **state) {
    unsigned asked;

    (void)state;
    pass(110000, NEWS_SAME);
    asked = api.requests;
    for (unsigned minutes = 0; minutes < 20; minutes++)
        pass(MINUTE, NEWS_RESTORED);
    assert_int_equal(api.requests, asked + 2); /* the condition, once */
    pass(110000, NEWS_SAME);
    assert_true(api.requests > asked + 2);
    assert_condition("Unknown", "NotMeasured");
}

static void without_the_api_server(void **state) {
    (void)state;
    api.away = true;
    pass(110000, NEWS_SAME);
    assert_int_equal(api.requests, 1); /* one time-out, not four */
    assert_non_null(strstr(text_str(&api.log), "publish the report of this node's network: GET "));
    pass(4 * MINUTE, NEWS_SAME);
    assert_int_equal(api.requests, 1);
    api.away = false;
    pass(3 * MINUTE, NEWS_SAME);
    assert_int_equal(api.patches, 1);
    assert_false(host_deadline_passed(host));
}

static void refused(void **state) {
    struct error err = {0};

    (void)state;
    api.status = 403;
    assert_int_equal(network_report_publish(host, http, NULL, &err), -1);
    assert_int_equal(err.kind, ERROR_DENIED);
    pass(110000, NEWS_SAME);
    assert_non_null(strstr(text_str(&api.log), "2 publish the report"));
}

static void before_a_join_there_is_nothing_to_say(void **state) {
    struct error err = {0};

    (void)state;
    assert_int_equal(host_remove(host, CHOSEN_FILE, NULL), 0);
    assert_int_equal(network_report_publish(host, http, NULL, &err), -1);
    assert_int_equal(err.kind, ERROR_ABSENT);
    err = (struct error){0};
    assert_int_equal(network_report_clear(host, http, &err), 0);
    assert_int_equal(err.kind, ERROR_NONE);
    pass(HOUR, NEWS_SAME);
    assert_int_equal(api.requests, 0);
}

/* Another's kube-proxy programs HNS, and its faults are not judged. */
static void without_our_kube_proxy_nothing_is_compared(void **state) {
    _cleanup_json_ json_t *report = NULL;
    struct error err = {0};

    (void)state;
    api.service = true;
    host_memory_set_service_state(host, service_kube_proxy.name, HOST_SERVICE_STOPPED);
    assert_int_equal(network_report_publish(host, http, NULL, &err), 0);
    assert_int_equal(api.requests, 2);
    report = published();
    assert_null(json_object_get(report, "drift"));
}

/* What diag found stays when winjoin-network reports; what another wrote there does not. */
static void what_diag_found_stays(void **state) {
    const struct diag_report measured = {.time = 1795859000};
    _cleanup_json_ json_t *report = NULL, *again = NULL;
    struct error err = {0};

    (void)state;
    api.annotation = xstrdup("{\"diag\":{}}");
    api.service = true;
    assert_int_equal(network_report_publish(host, http, &measured, &err), 0);
    report = published();
    assert_string_equal(json_text_at(report, "diag.time"), "2026-11-28T09:43:20Z");
    assert_true(network_report_lacks(report)); /* read twice */
    assert_int_equal(api.requests, 10);
    pass(200000, NEWS_SAME);
    assert_int_equal(api.patches, 2);
    again = published();
    assert_true(json_equal(json_object_get(report, "diag"), json_object_get(again, "diag")));
}

static void a_reset_takes_it_away(void **state) {
    struct error err = {0};

    (void)state;
    assert_int_equal(network_report_publish(host, http, NULL, &err), 0);
    assert_non_null(api.condition);
    assert_int_equal(network_report_clear(host, http, &err), 0);
    assert_null(api.annotation);
    assert_null(api.condition);
    api.status = 404; /* who deleted the Node does not need it */
    assert_int_equal(network_report_clear(host, http, &err), 0);
    assert_int_equal(err.kind, ERROR_NONE);
    api.away = true;
    assert_int_equal(network_report_clear(host, http, &err), -1);
    assert_int_equal(err.kind, ERROR_NETWORK);
}

/* Each call of Windows fails once: it is tried again, and no limit of the caller is lost. */
static void each_failure_is_survived(void **state) {
    struct error err = {0};
    size_t first = host_memory_calls(host), calls;

    assert_int_equal(network_report_publish(host, http, NULL, &err), 0);
    calls = host_memory_calls(host) - first;
    assert_true(calls > 5);
    for (size_t n = 1; n <= calls; n++) {
        close_host(state);
        open_host(state);
        host_set_deadline(host, host_monotonic_ms(host) + HOUR);
        host_memory_fail(host, n);
        (void)network_report_publish(host, http, NULL, &err);
        assert_false(host_deadline_passed(host));
        host_memory_advance(host, HOUR);
        assert_true(host_deadline_passed(host));
        host_set_deadline(host, 0);
        err = (struct error){0};
        assert_int_equal(network_report_publish(host, http, NULL, &err), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_well_node_says_so_and_rarely),
        TEST(what_hns_lacks_is_confirmed_first),
        TEST(what_is_there_again_was_never_said),
        TEST(a_restart_of_hns_is_looked_at_soon),
        TEST(what_was_proved_between_restarts),
        TEST(each_restart_puts_the_look_off),
        TEST(without_the_api_server),
        TEST(refused),
        TEST(before_a_join_there_is_nothing_to_say),
        TEST(without_our_kube_proxy_nothing_is_compared),
        TEST(what_diag_found_stays),
        TEST(a_reset_takes_it_away),
        TEST(each_failure_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
