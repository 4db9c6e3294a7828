/* Which red flows of a node that was just started are asked again, and which not. */
#include "diag_run_scene.h"

#include "base/rfc3339.h"

/* Between pods loss is not asked for until it passes by chance; before a load balancer, whose
 * backends come one by one, it is. */
static void loss_is_no_slow_start(void **state) {
    static const struct {
        const char *lossy;
        unsigned calls, asked, attempts;
        enum diag_outcome outcome;
        const char *cause;
    } rows[] = {
        {"pod-to-pod-ip.udp", 99, 2, 6, DIAG_FAIL, "LOSS"},
        {"pod-to-pod-ip.udp", 1, 2, 6, DIAG_SLOW, NULL},
        {"pod-to-service-ip.udp", 4, 5, 3, DIAG_SLOW, NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct stage stage = {.start_a = true,
                              .start_b = true,
                              .generation = 1,
                              .lossy = rows[i].lossy,
                              .lossy_calls = rows[i].calls};
        struct diag_options options = options_make(&stage);
        struct host *host = host_memory_new();
        struct diag_report report = {0};
        _cleanup_(freep) char *flow = xstrndup(rows[i].lossy, strcspn(rows[i].lossy, "."));

        host_memory_on_sleep(host, play, &stage);
        assert_int_equal(diag_run(host, &options, &report, NULL), 0);
        assert_int_equal(diag_cells_find(&report.cells, flow, true)->outcome, rows[i].outcome);
        assert_int_equal(stage.lossy_asked, rows[i].asked);
        assert_int_equal(stage.lossy_attempts, rows[i].attempts);
        if (rows[i].cause)
            assert_string_equal(report.causes.items[0].id, rows[i].cause);
        text_free(&stage.told);
        diag_report_free(&report);
        host_free(host);
    }
}

/* The API server is away, and with it the Service kubernetes: nothing is waited for. */
static void a_lost_api_server_is_not_waited_for(void **state) {
    (void)state;
    for (int away = 0; away < 2; away++) {
        struct stage stage = {
            .start_a = true, .start_b = true, .generation = 1, .broken = "pod-to-service-ip.tcp"};
        struct diag_options options = options_make(&stage);
        struct host *host = host_memory_new();
        struct diag_report report = {0};
        char since[RFC3339_TEXT_MAX];
        _cleanup_json_ json_t *look = NULL;

        rfc3339_format(host_now(host) - 60, since);
        look = json_pack("{s:{s:s}, s:[{s:s, s:s, s:s}]}", "api", "outcome",
                         away ? "unreachable" : "failing", "services", "name", "kube-proxy",
                         "state", "running", "since", since);
        options.look = look;
        host_memory_on_sleep(host, play, &stage);
        assert_int_equal(diag_run(host, &options, &report, NULL), 0);
        assert_int_equal(diag_cells_find(&report.cells, "pod-to-service-ip", false)->outcome,
                         DIAG_FAIL);
        assert_int_equal(!strstr(text_str(&stage.told), "measuring them again"), away);
        assert_in_range(report.measured_ms, away ? 0 : 20000, away ? 1000 : 25000);
        text_free(&stage.told);
        diag_report_free(&report);
        host_free(host);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loss_is_no_slow_start),
        cmocka_unit_test(a_lost_api_server_is_not_waited_for),
    };

    return cmocka_run_group_tests_name("diag_again", tests, NULL, NULL);
}
