/* The page for a browser, numbers for Prometheus, latencies of many attempts. */
#include "tests/scene/diag_report_scene.h"

static void html_has_a_column_a_protocol(void **state) {
    _cleanup_(diag_report_free) struct diag_report report;
    _cleanup_(freep) char *html = NULL;
    const char *row, *tcp, *udp, *end;

    (void)state;
    report_make(&report);
    diag_cells_find(&report.cells, FLOW_POD_NODE, true, false)->outcome = DIAG_FAIL;
    html = diag_report_html(&report);
    row = strstr(html, "pod &rarr; node");
    assert_non_null(row);
    tcp = strstr(row, "class=\"pass\"");
    udp = strstr(row, "class=\"fail\"");
    end = strstr(row, "</tr>");
    assert_true(tcp && udp && end && tcp < udp && udp < end);
    assert_non_null(strstr(html, "<td class=\"pass\" data-by=\"TCP\">&#10003; pass 0.4 ms</td>"));
    assert_non_null(strstr(html, "<td class=\"fail\" data-by=\"TCP\"><details><summary>&#10007; "
                                 "fail<br><small>timeout, 2 attempts</small></summary>\n"
                                 "<p>winjoin-probe-a &rarr; 192.0.2.1:443</p>\n"
                                 "<p><a href=\"#NAT-NONE\">NAT-NONE</a>: pods"));
    assert_non_null(strstr(html, "<p>Evidence: endpoint 6f3c (winjoin-probe-a): none"));
    assert_non_null(strstr(html, "<p>Do: winjoin join phase pod-network"));
    assert_non_null(strstr(html, "<p>By hand, on the pod: <code>winjoin probe tcp "
                                 "192.0.2.1:443</code></p>"));
    assert_non_null(strstr(html, "<code>winjoin probe dns 192.0.2.53:53 --question "
                                 "kubernetes.default.svc.cluster.local</code>"));
    assert_non_null(strstr(html, "<section class=\"confirmed\" id=\"NAT-NONE\">"));
}

/* A red arrow leads to its cause, and is read out whole; what is not asked has none. */
static void a_picture_of_the_flows(void **state) {
    _cleanup_(diag_report_free) struct diag_report report;
    _cleanup_(freep) char *html = NULL;

    (void)state;
    report_make(&report);
    diag_cells_find(&report.cells, FLOW_POD_NODE, true, false)->outcome = DIAG_SLOW;
    html = diag_report_html(&report);
    assert_non_null(strstr(html, "<svg class=\"picture\" role=\"group\" aria-labelledby=\"picture "
                                 "picture-what\" viewBox="));
    assert_non_null(strstr(html, "<a href=\"#NAT-NONE\"><g role=\"img\" class=\"fail\" "
                                 "aria-label=\"pod to external, IP: TCP fail, UDP "));
    assert_non_null(strstr(html, "; cause NAT-NONE\"><path d=\""));
    assert_non_null(strstr(html, " - NAT-NONE</text></g></a>\n"));
    assert_non_null(strstr(html, "<g role=\"img\" class=\"pass\" aria-label=\"pod to pod, IP: TCP "
                                 "pass, UDP pass\">"));
    assert_non_null(strstr(html, "class=\"slow\" aria-label=\"pod to node: TCP pass, UDP slow\">"));
    assert_non_null(strstr(html, ">UDP slow</text></g>\n"));
    assert_true(strstr(html, "<svg") < strstr(html, "<section"));
}

static void metrics(void **state) {
    _cleanup_(diag_report_free) struct diag_report report;
    _cleanup_(freep) char *text = NULL;
    static const char *const lines[] = {
        "# TYPE winjoin_diag_up gauge\nwinjoin_diag_up{node=\"win\\\\n\\\"7k2\"} 0\n",
        "winjoin_diag_flows{node=\"win\\\\n\\\"7k2\"} 9\n",
        "winjoin_diag_flows_passed{node=\"win\\\\n\\\"7k2\"} 6\n",
        "} 1795255204\n",
        "} 600.5\n",
        "winjoin_diag_flow_up{node=\"win\\\\n\\\"7k2\",flow=\"pod-to-pod-ip\",protocol=\"TCP\","
        "family=\"IPv4\"} 1\n",
        ",flow=\"pod-to-external-ip\",protocol=\"TCP\",family=\"IPv4\"} 0\n",
        "# TYPE winjoin_diag_flow_latency_min_seconds "
        "gauge\nwinjoin_diag_flow_latency_min_seconds{",
        "winjoin_diag_flow_latency_min_seconds{node=\"win\\\\n\\\"7k2\",flow=\"node-to-pod\","
        "protocol="
        "\"UDP\",family=\"IPv4\"} 0.0001\n",
        "\"UDP\",family=\"IPv4\"} 0.002\n",
        "\"UDP\",family=\"IPv4\"} 0.03\n",
        "\"UDP\",family=\"IPv4\"} 0.4\n",
        "winjoin_diag_flow_loss_ratio{node=\"win\\\\n\\\"7k2\",flow=\"node-to-pod\",protocol="
        "\"UDP\","
        "family=\"IPv4\"} 0.25\n",
        "winjoin_diag_cause{node=\"win\\\\n\\\"7k2\",id=\"NAT-NONE\",confidence=\"confirmed\"} 1\n",
    };

    (void)state;
    report_make(&report);
    free(report.node);
    report.node = xstrdup("win\n\"7k2");
    diag_cell_judge(diag_cells_find(&report.cells, FLOW_NODE_POD, true, false), &fifteen_of_twenty,
                    false);
    text = diag_report_metrics(&report);
    for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
        if (!strstr(text, lines[i]))
            fail_msg("no line '%s' in\n%s", lines[i], text);
    assert_null(
        strstr(text, "flow_up{node=\"win\\\\n\\\"7k2\",flow=\"pod-to-node\",protocol=\"UDP\""));
    assert_null(
        strstr(text, "loss_ratio{node=\"win\\\\n\\\"7k2\",flow=\"pod-to-node\",protocol=\"UDP\""));
    assert_null(
        strstr(text, "latency_min_seconds{node=\"win\\\\n\\\"7k2\",flow=\"pod-to-external-ip"));
}

/* --count: latency and loss over many attempts are shown, and read back from the report. */
static void latencies(void **state) {
    const struct diag_text_style style = {0};
    const struct probe_result lost = {.outcome = PROBE_TIMEOUT, .attempts = 20};
    _cleanup_(diag_report_free) struct diag_report report, again = {0};
    _cleanup_(freep) char *text = NULL, *written = NULL;
    _cleanup_json_ json_t *json = NULL;

    (void)state;
    report_make(&report);
    text = diag_report_text(&report, &style);
    assert_null(strstr(text, "p95"));
    free(text);
    diag_cell_judge(diag_cells_find(&report.cells, FLOW_NODE_POD, true, false), &fifteen_of_twenty,
                    false);
    diag_cell_judge(diag_cells_find(&report.cells, FLOW_EXT_IP, true, false), &lost, false);
    text = diag_report_text(&report, &style);
    assert_non_null(strstr(text,
                           "\nmin / median / p95 / max, loss\n"
                           "  pod-to-external-ip/udp: all of 20 lost\n"
                           "  node-to-pod/udp: 0.1 / 2.0 / 30.0 / 400.0 ms, 25.0 % of 20 lost\n"));
    json = diag_report_json(&report);
    written = json_write(json);
    assert_non_null(strstr(written, "\"lossPercent\":25.0,"));
    assert_non_null(strstr(written, "\"median\":2.0,\"p95\":30.0,\"max\":400.0}"));
    free(text);
    report.cells.items[0].result.attempts = 4; /* one more than the usual three */
    text = diag_report_text(&report, &style);
    assert_non_null(
        strstr(text, "loss\n  pod-to-pod-ip/tcp: 0.4 / 0.4 / 0.4 / 0.4 ms, 25.0 % of 4 lost\n"));
    assert_int_equal(diag_report_read(written, strlen(written), NODE_REPORT_KIND, &again, NULL), 0);
    assert_int_equal(diag_cells_find(&again.cells, FLOW_NODE_POD, true, false)->result.p95_us,
                     30000);
}

static void html_lists_the_evidence_of_a_cause(void **state) {
    _cleanup_(diag_report_free) struct diag_report report;
    _cleanup_(freep) char *with = NULL, *without = NULL;

    (void)state;
    report_make(&report);
    assert_int_equal(report.causes.count, 1);
    with = diag_report_html(&report);
    assert_non_null(
        strstr(with, "<ul>\n<li>endpoint 6f3c (winjoin-probe-a): none of its policies"));
    assert_non_null(strstr(with, "</li>\n</ul>\n"));
    text_list_free(&report.causes.items[0].evidence);
    without = diag_report_html(&report);
    assert_null(strstr(without, "ul>"));
}

/* Seconds, and what a name resolved to, are the same in every form; of two causes of one id the
 * first is where links lead. */
static void what_every_form_says(void **state) {
    struct probe_result slow = {.outcome = PROBE_OK,
                                .attempts = 3,
                                .succeeded = 3,
                                .median_us = 2000001,
                                .address_count = 2,
                                .addresses = {"10.0.0.1", "10.0.0.2"}};
    _cleanup_(diag_report_free) struct diag_report report;
    _cleanup_(freep) char *html = NULL, *junit = NULL;
    _cleanup_json_ json_t *json = NULL;
    struct diag_causes *causes = &report.causes;
    const json_t *addresses;

    (void)state;
    report_make(&report);
    diag_cell_judge(&report.cells.items[0], &slow, false);
    causes->items = xrealloc(causes->items, 2 * sizeof *causes->items);
    causes->items[causes->count++] = (struct diag_cause){
        .id = causes->items[0].id, .message = xstrdup("m"), .hint = xstrdup("h")};
    html = diag_report_html(&report);
    assert_non_null(strstr(html, "pass 2000 ms</td>"));
    assert_non_null(strstr(html, "<section class=\"confirmed\" id=\"NAT-NONE\"><h2>"));
    assert_non_null(strstr(html, "<section class=\"likely\"><h2>"));
    junit = diag_report_junit(&report);
    assert_non_null(strstr(junit, " time=\"2.000001\"/>"));
    json = diag_report_json(&report);
    addresses = json_at(json, "flows.0.evidence.addresses");
    assert_int_equal(json_array_size(addresses), 2);
    assert_string_equal(json_text_at(addresses, "1"), "10.0.0.2");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(html_has_a_column_a_protocol),
        cmocka_unit_test(a_picture_of_the_flows),
        cmocka_unit_test(metrics),
        cmocka_unit_test(latencies),
        cmocka_unit_test(what_every_form_says),
        cmocka_unit_test(html_lists_the_evidence_of_a_cause),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
