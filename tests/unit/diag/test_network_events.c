/* The Events by which a joined node tells of its network: each change once, the same again counted.
 */
#include "tests/scene/network_publish_scene.h"

/* Proved, in doubt, lacking, and proved again: an event each, and no other. */
static void changes_are_events(void **state) {
    struct diag_report measured = {.time = 0};
    struct diag_cell cells[FLOW_COUNT] = {0};
    struct error err = {0};

    (void)state;
    measured.time = host_now(host);
    for (size_t i = 0; i < FLOW_COUNT; i++)
        cells[i] = (struct diag_cell){.flow = &diag_flows[i], .outcome = DIAG_PASS};
    measured.cells.items = cells;
    measured.cells.count = FLOW_COUNT;
    for (int again = 0; again < 2; again++)
        assert_int_equal(network_report_publish(host, http, &measured, &err), 0);
    assert_condition("True", "FlowsWork");
    assert_int_equal(text_lines(&api.events), 1);
    pass(2000, NEWS_RESTORED);
    assert_int_equal(text_lines(&api.events), 2);
    pass(110000, NEWS_SAME);
    assert_condition("True", "FlowsWork");
    assert_int_equal(text_lines(&api.events), 3);
    assert_true(text_starts_with(text_str(&api.events), "Normal PodNetworkProved: FlowsWork: "));
    assert_non_null(strstr(text_str(&api.events),
                           "\nWarning PodNetworkNotProved: NetworkRestored: HNS was restarted"));
    assert_int_equal(network_report_clear(host, http, &err), 0);
    assert_int_equal(text_lines(&api.events), 3);
}

/* The same again is counted, until the cluster has forgotten the first one. */
static void what_the_service_does_is_told(void **state) {
    const struct network_check check = {.hns_restarted = true,
                                        .restored = "HNS was restarted: network flannel.4096"};

    (void)state;
    for (int i = 0; i < 4; i++) {
        api.no_event = i == 3;
        network_publisher_on_check(&publisher, &check);
    }
    assert_string_equal(text_str(&api.events),
                        "Warning HNSRestarted: another process of HNS runs\n"
                        "Normal NetworkRestored: HNS was restarted: network flannel.4096\n"
                        "again, 2\nagain, 2\nagain, 3\nagain, 3\nagain, 4\n"
                        "Warning HNSRestarted: another process of HNS runs\nagain, 4\n"
                        "Normal NetworkRestored: HNS was restarted: network flannel.4096\n");
}

/* By two looks, and once; so its end. */
static void a_difference_is_told_once(void **state) {
    (void)state;
    api.service = true;
    pass(110000, NEWS_SAME);
    assert_string_equal(text_str(&api.events), "");
    pass(40 * MINUTE, NEWS_SAME);
    assert_int_equal(text_lines(&api.events), 2);
    assert_non_null(strstr(text_str(&api.events), "\n" DRIFT));
    add_balancer("10.96.0.9");
    pass(40 * MINUTE, NEWS_SAME);
    assert_int_equal(text_lines(&api.events), 4);
    assert_non_null(strstr(text_str(&api.events), "\nNormal NetworkDriftGone: "));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(changes_are_events),
        TEST(what_the_service_does_is_told),
        TEST(a_difference_is_told_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
