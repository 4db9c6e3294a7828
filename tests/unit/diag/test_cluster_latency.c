/* What --count measured of a cluster, in each form of its report. */
#include "tests/scene/cluster_report_scene.h"
#include "diag/reports/form_parts.h"
#include "diag/cluster/probes/asking.h"

/* Of a cell: attempts, successes, and four times in microseconds. */
static void count(size_t cell, unsigned attempts, unsigned succeeded, unsigned min, unsigned median,
                  unsigned p95, unsigned max) {
    struct diag_cell *c = &report.cells.items[cell];

    c->counted = true;
    c->result = (struct probe_result){.attempts = attempts,
                                      .succeeded = succeeded,
                                      .min_us = min,
                                      .median_us = median,
                                      .p95_us = p95,
                                      .max_us = max};
}

static int open_counted(void **state) {
    open_report(state);
    add_cell("pod-to-pod-ip", false, 0, 1, DIAG_PASS, "");
    add_cell("pod-to-pod-ip", true, 0, 1, DIAG_FAIL, "none of them");
    add_cell("nodeport-remote", true, 0, 1, DIAG_PASS, ""); /* not counted */
    report.cells.items[4].result.attempts = 7;
    count(0, 20, 20, 300, 900, 2000, 9000);
    count(1, 20, 18, 200, 700, 8000, 8500);
    count(2, 20, 20, 400, 800, 1000, 7000);
    count(3, 2, 0, 0, 0, 0, 0);
    return 0;
}

/* Of the medians the median, of the others the extremes; a line a flow and protocol. */
static void the_lines(void **state) {
    size_t n;
    struct cluster_latency *lines = cluster_latencies_make(&report, &n);

    (void)state;
    assert_int_equal(n, 2);
    assert_string_equal(lines[0].flow->name, "pod-to-pod-ip");
    assert_false(lines[0].udp);
    assert_int_equal(lines[0].family, 4);
    assert_int_equal(lines[0].sum.attempts, 60);
    assert_int_equal(lines[0].sum.succeeded, 58);
    assert_int_equal(lines[0].sum.min_us, 200);
    assert_int_equal(lines[0].sum.median_us, 800);
    assert_int_equal(lines[0].sum.p95_us, 8000);
    assert_int_equal(lines[0].sum.max_us, 9000);
    assert_ptr_equal(lines[0].worst, &report.cells.items[1]);
    assert_true(lines[1].udp);
    assert_int_equal(lines[1].sum.succeeded, 0);
    assert_null(lines[1].worst);
    free(lines);
}

static void the_text(void **state) {
    const struct diag_text_style style = {.columns = 80};
    _cleanup_(freep) char *text = diag_report_text(&report, &style);
    const char *worst;

    (void)state;
    assert_non_null(strstr(text,
                           "\nfastest / median / worst p95 / slowest, loss\n"
                           "  pod-to-pod-ip TCP: 0.2 / 0.8 / 8.0 / 9.0 ms, 3.3 % of 60 lost; "));
    worst = strstr(text, " of 60 lost;");
    assert_in_range(strstr(worst, "lin-1") - worst, 20, 30);
    assert_non_null(strstr(text, "  pod-to-pod-ip UDP: all of 2 lost\n"));
    assert_null(strstr(text, "nodeport-remote UDP"));
}

static void the_page(void **state) {
    _cleanup_(freep) char *page = diag_report_html(&report);

    (void)state;
    assert_non_null(strstr(page, "<h2>Latency and loss</h2>"));
    assert_non_null(strstr(page, "<th scope=\"row\">pod-to-pod-ip TCP</th><td>0.2 ms</td><td>0.8 ms"
                                 "</td><td>8.0 ms</td><td>9.0 ms</td><td>3.3 % of 60</td>"));
}

static void the_metrics(void **state) {
#define TCP                                                                                        \
    "{server=\"https://10.0.0.10:6443\",flow=\"pod-to-pod-ip\",protocol=\"TCP\",family=\"IPv4\"} "
    static const char *const lines[] = {
        "\nwinjoin_diag_cluster_latency_median_seconds" TCP "0.0008\n",
        "\nwinjoin_diag_cluster_latency_p95_seconds" TCP "0.008\n",
        "\nwinjoin_diag_cluster_latency_max_seconds" TCP "0.009\n",
        "\nwinjoin_diag_cluster_loss_ratio" TCP "0.0333333333\n",
        "protocol=\"UDP\",family=\"IPv4\"} 1\n",
    };
    _cleanup_(freep) char *text = diag_report_metrics(&report);

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
        if (!strstr(text, lines[i]))
            fail_msg("no %s in\n%s", lines[i], text);
    assert_int_equal(count_of(text, "protocol=\"UDP\",family=\"IPv4\"}"), 1); /* its loss alone */
}

/* JSON has each cell's, and is read back. */
static void the_json(void **state) {
    _cleanup_json_ json_t *json = diag_report_json(&report);
    _cleanup_(freep) char *text = json_write(json);
    struct diag_report again = {0};
    struct error err = {0};

    (void)state;
    assert_true(json_number_value(json_at(json, "flows.1.lossPercent")) > 9.99);
    assert_true(json_number_value(json_at(json, "flows.1.latencyMs.p95")) > 7.99);
    assert_null(json_at(json, "flows.3.latencyMs"));
    assert_null(json_at(json, "flows.4.lossPercent")); /* asked again, not counted */
    assert_int_equal(diag_report_read(text, strlen(text), CLUSTER_REPORT_KIND, &again, &err), 0);
    assert_true(again.cells.items[1].counted && again.cells.items[3].counted);
    assert_false(again.cells.items[4].counted);
    assert_int_equal(again.cells.items[1].result.p95_us, 8000);
    assert_int_equal(again.cells.items[1].result.succeeded, 18);
    diag_report_free(&again);
}

/* Nothing of it where nothing was counted. */
static void nothing_counted(void **state) {
    const struct diag_text_style style = {.columns = 80};
    _cleanup_(freep) char *text = NULL, *page = NULL, *metrics = NULL;

    (void)state;
    for (size_t i = 0; i < report.cells.count; i++)
        report.cells.items[i].counted = false;
    text = diag_report_text(&report, &style);
    page = diag_report_html(&report);
    metrics = diag_report_metrics(&report);
    assert_null(strstr(text, "fastest"));
    assert_null(strstr(page, "Latency"));
    assert_null(strstr(metrics, "latency"));
    assert_null(strstr(metrics, "loss"));
}

/* Whoever is asked by exec is named where it was to be counted, also when the report is read back.
 */
static void not_from_everywhere(void **state) {
    static const char line[] = "latency is not measured from win-1: asked by exec\n";
    const struct diag_text_style style = {.columns = 80};

    (void)state;
    for (int k = 0; k < 2; k++) {
        struct diag_report again = {0};
        _cleanup_json_ json_t *json = NULL;
        _cleanup_(freep) char *text = NULL, *told = NULL;
        struct error err = {0};

        report.nodes.items[0].by_exec = true;
        report.count = k ? 20 : 0;
        json = diag_report_json(&report);
        text = json_write(json);
        assert_int_equal(diag_report_read(text, strlen(text), CLUSTER_REPORT_KIND, &again, &err),
                         0);
        told = diag_report_text(&again, &style);
        if ((strstr(told, line) != NULL) != k)
            fail_msg("%s", told);
        diag_report_free(&again);
    }
}

/* Of cells that were asked by exec every report has the loss, and none has a time. */
static void loss_alone(void **state) {
    const struct diag_text_style style = {.columns = 80};
    _cleanup_(freep) char *text = NULL, *page = NULL, *metrics = NULL, *none = NULL;
    _cleanup_json_ json_t *json = NULL;

    (void)state;
    report.count = 20;
    report.nodes.items[0].by_exec = true;
    for (size_t i = 0; i < report.cells.count; i++)
        if (report.cells.items[i].from_node != 0)
            report.cells.items[i].counted = false;
    count(0, 20, 15, 0, 0, 0, 0);
    text = diag_report_text(&report, &style);
    page = diag_report_html(&report);
    metrics = diag_report_metrics(&report);
    json = diag_report_json(&report);
    if (!strstr(text, "  pod-to-pod-ip TCP: 12.5 % of 40 lost\n") ||
        !strstr(text, "latency is not measured from win-1: asked by exec\n"))
        fail_msg("%s", text);
    assert_non_null(strstr(page, "<th scope=\"row\">pod-to-pod-ip TCP</th><td></td><td></td><td>"
                                 "</td><td></td><td>12.5 % of 40</td>"));
    assert_null(strstr(metrics, "\nwinjoin_diag_cluster_latency_median_seconds{"));
    assert_non_null(strstr(metrics, "\nwinjoin_diag_cluster_loss_ratio" TCP "0.125\n"));
    assert_true(json_number_value(json_at(json, "flows.0.lossPercent")) > 24.99);
    assert_null(json_at(json, "flows.0.latencyMs"));
    for (size_t i = 0; i < report.cells.count; i++)
        report.cells.items[i].counted = false;
    none = diag_report_text(&report, &style);
    assert_non_null(strstr(none, "loss and latency are not measured from win-1: asked by exec\n"));
}

/* What fails altogether, or was not run, is not counted; nor is anything twice. */
static void cells_that_are_counted(void **state) {
    static const struct {
        enum diag_outcome outcome;
        unsigned succeeded;
        bool counted, wanted;
    } rows[] = {{DIAG_PASS, 3, false, true},    {DIAG_SLOW, 3, false, true},
                {DIAG_FAIL, 2, false, true},    {DIAG_FAIL, 0, false, false},
                {DIAG_PASS, 3, true, false},    {DIAG_FAIL, 2, true, false},
                {DIAG_NOT_RUN, 0, false, false}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const struct diag_cell cell = {.outcome = rows[i].outcome,
                                       .result = {.attempts = 3, .succeeded = rows[i].succeeded},
                                       .counted = rows[i].counted};

        if (cluster_cell_is_to_count(&cell) != rows[i].wanted)
            fail_msg("row %u", (unsigned)i);
    }
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_counted, close_report)
    const struct CMUnitTest tests[] = {cmocka_unit_test(cells_that_are_counted),
                                       CASE(the_lines),
                                       CASE(the_text),
                                       CASE(the_page),
                                       CASE(the_metrics),
                                       CASE(the_json),
                                       CASE(nothing_counted),
                                       CASE(not_from_everywhere),
                                       CASE(loss_alone)};

    return cmocka_run_group_tests_name("a cluster's latency", tests, NULL, NULL);
}
