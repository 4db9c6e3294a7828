/* What the forms of a report say where little is asked, where a line just fits, and of odd cells.
 */
#include "tests/scene/diag_report_scene.h"

static size_t count(const char *text, const char *part) {
    size_t n = 0;

    for (; (text = strstr(text, part)); text++)
        n++;
    return n;
}

static char *as_text(const struct diag_report *report, size_t columns) {
    return diag_report_text(report, &(struct diag_text_style){.columns = (unsigned)columns});
}

/* A line that fits is one line; where it does not, its last word is indented. */
static void lines_that_just_fit(void **state) {
    static const struct {
        const char *line, *last;
    } rows[] = {
        {"7 of 9 flows work. One cause explains every failure:", "failure:\n"},
        {"skipped (no-udp-listener): pod-to-node/udp", "\n  pod-to-node/udp\n"},
        {"  node-to-pod/tcp: 0.1 / 2.0 / 30.0 / 400.0 ms, 0.0 % of 20 lost", "\n    lost\n"},
        {"Checked in 0.3 s: services, API server, clock, certificate, HNS", "\n  HNS\n"},
        {"NAT-NONE  confirmed   xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
         "\n    xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n"},
    };
    _cleanup_(diag_report_free) struct diag_report report;
    _cleanup_(freep) char *narrow = NULL;

    (void)state;
    report_make(&report);
    diag_cell_judge(diag_cells_find(&report.cells, FLOW_NODE_POD, false, false), &twenty, false);
    json_object_set_new(report.evidence, "look", json_pack("{s:f}", "seconds", 0.31));
    free(report.causes.items[0].message);
    report.causes.items[0].message = xstrdup("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        size_t len = strlen(rows[i].line);
        _cleanup_(freep) char *fits = as_text(&report, len);
        _cleanup_(freep) char *less = as_text(&report, len - 1);
        _cleanup_(freep) char *whole = xasprintf("%s\n", rows[i].line);

        if (!strstr(fits, whole) || strstr(less, whole) || !strstr(less, rows[i].last))
            fail_msg("%s\n%s\n%s", rows[i].line, fits, less);
    }
    narrow = as_text(&report, 30); /* a word that fits nowhere stays where it is */
    assert_non_null(strstr(narrow, "\n  see        causes.md#nat-none\n"));
}

/* One protocol of a flow, in each form. */
static void one_protocol(void **state) {
    for (unsigned udp = 0; udp < 2; udp++) {
        struct probe_result ok = {
            .outcome = PROBE_OK, .attempts = 3, .succeeded = 3, .median_us = 400};
        struct diag_cell cell = {.flow = diag_flow_find("pod-to-pod-ip"), .udp = udp, .family = 4};
        _cleanup_(diag_report_free) struct diag_report report = {0};
        _cleanup_(freep) char *wide = NULL, *narrow = NULL, *html = NULL, *line = NULL;

        (void)state;
        diag_cell_judge(&cell, &ok, false);
        array_add(report.cells.items, report.cells.count, cell);
        wide = as_text(&report, 0);
        assert_non_null(
            strstr(wide, udp ? "pod -> pod         IP                             ok  0.4 ms\n"
                             : "pod -> pod         IP           ok  0.4 ms\n"));
        narrow = as_text(&report, 40);
        assert_non_null(strstr(narrow, udp ? "pod -> pod IP\n  UDP  ok  0.4 ms\n"
                                           : "pod -> pod IP\n  TCP  ok  0.4 ms\n"));
        html = diag_report_html(&report);
        assert_int_equal(
            count(html, udp ? "</th><td></td><td class=\"pass\"" : "0.4 ms</td><td></td></tr>"), 1);
        assert_non_null(
            strstr(html, "<h1>Pod network of this node</h1>\n<p>unknown network, measured "));
        line = diag_report_line(&report);
        assert_string_equal(line, "1 of 1 flows work, TCP and UDP, 0 probes");
    }
}

/* Each reason once, and apart whether by design or not. */
static void reasons(void **state) {
    _cleanup_(diag_report_free) struct diag_report report;
    _cleanup_(freep) char *text = NULL, *junit = NULL;

    (void)state;
    report_make(&report);
    for (size_t i = 0; i < 4; i++) {
        struct diag_cell *cell = &report.cells.items[i];

        cell->outcome = i < 3 ? DIAG_SKIP : DIAG_NOT_RUN;
        (void)text_format(cell->reason, sizeof cell->reason, "%s", i == 2 ? "other" : "why");
    }
    diag_causes_free(&report.causes);
    text = as_text(&report, 0);
    assert_non_null(strstr(text, "flows work. No known cause explains the failures.\n"
                                 "skipped (why): pod-to-pod-ip/tcp pod-to-pod-ip/udp\n"
                                 "skipped (other): pod-to-pod-name/tcp\n"
                                 "skipped (no-udp-listener): pod-to-node/udp\n"
                                 "not run (why): pod-to-pod-name/udp\n"));
    junit = diag_report_junit(&report);
    assert_int_equal(count(junit, "      <error message=\"why\"/>\n"), 1);
}

/* Of a cause that nothing is to be done about, of one that explains one cell, or six, or nobody's.
 */
static void causes_in_each_form(void **state) {
    _cleanup_(diag_report_free) struct diag_report report;
    _cleanup_(freep) char *text = NULL, *html = NULL, *junit = NULL, *metrics = NULL;
    struct diag_cause *cause;

    (void)state;
    report_make(&report);
    cause = &report.causes.items[0];
    junit = diag_report_junit(&report);
    assert_non_null(strstr(junit, " translates them\nwinjoin join phase pod-network writes the CNI "
                                  "configuration again; new pods get the policy</failure>\n"));
    free(take_ptr(cause->hint));
    while (cause->cells.count > 1)
        free(cause->cells.items[--cause->cells.count]);
    text = as_text(&report, 0);
    assert_null(strstr(text, "  do  "));
    assert_non_null(strstr(text, " One cause explains some of the failures:\n"));
    cause->hint = xstrdup("");
    free(text);
    text = as_text(&report, 0);
    assert_null(strstr(text, "  do  "));
    while (cause->cells.count < 6)
        text_list_add(&cause->cells, "more");
    free(cause->message);
    cause->message = xstrdup("a\xc2\xa0"
                             "b"); /* no control: a space that is not broken at */
    html = diag_report_html(&report);
    assert_non_null(strstr(html, "more, more, more, more, more</p>\n"));
    assert_non_null(strstr(html, "<p>a\xc2\xa0"
                                 "b</p>"));
    assert_non_null(strstr(html, "<p>overlay flannel.4096, measured "));
    report.causes.items = xrealloc(report.causes.items, 2 * sizeof *report.causes.items);
    report.causes.items[report.causes.count++] =
        (struct diag_cause){.id = report.causes.items[0].id};
    free(take_ptr(report.node));
    report.cells.items[0].family = 6;
    metrics = diag_report_metrics(&report);
    assert_int_equal(count(metrics, "\nwinjoin_diag_cause{node=\"\",id=\"NAT-NONE\""), 1);
    assert_int_equal(count(metrics, "# TYPE winjoin_diag_cause gauge\n"), 1);
    assert_int_equal(count(metrics, "# TYPE winjoin_diag_flow_up gauge\n"), 1);
    assert_int_equal(
        count(metrics,
              "flow_up{node=\"\",flow=\"pod-to-pod-ip\",protocol=\"TCP\",family=\"IPv6\"}"),
        1);
    free(metrics);
    diag_causes_free(&report.causes);
    metrics = diag_report_metrics(&report);
    assert_null(strstr(metrics, "winjoin_diag_cause"));
}

/* How a red cell is asked by hand, where that can be said. */
static void commands(void **state) {
    static const struct {
        const char *to;
        bool udp;
        const char *command;
    } rows[] = {
        {"10.244.3.5:18080", false, "<code>winjoin probe tcp 10.244.3.5:18080</code>"},
        {"10.244.3.5:18081", true, "<code>winjoin probe udp 10.244.3.5:18081</code>"},
        {"10.96.0.10:53", false, "<code>winjoin probe tcp 10.96.0.10:53</code>"},
        {"a pod", false, NULL},
        {"two: words", false, NULL},
        {"nowhere", false, NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct diag_cell cell = {.flow = diag_flow_find("pod-to-pod-ip"),
                                 .udp = rows[i].udp,
                                 .family = 4,
                                 .outcome = DIAG_FAIL};
        _cleanup_(diag_report_free) struct diag_report report = {0};
        _cleanup_(freep) char *html = NULL;

        (void)text_format(cell.to, sizeof cell.to, "%s", rows[i].to);
        array_add(report.cells.items, report.cells.count, cell);
        html = diag_report_html(&report);
        assert_int_equal(count(html, rows[i].command ? rows[i].command : "<code>"),
                         rows[i].command != NULL);
    }
}

/* Who answered, and how long the measurement alone took, are in the document. */
static void the_document(void **state) {
    _cleanup_(diag_report_free) struct diag_report report, again = {0};
    _cleanup_(freep) char *text = NULL;
    _cleanup_json_ json_t *json = NULL, *other = NULL;
    struct probe_result *result;

    (void)state;
    report_make(&report);
    result = &report.cells.items[0].result;
    (void)text_format(result->responder, sizeof result->responder, "%s", "winjoin-probe-b");
    other = diag_report_json(&report);
    assert_null(json_at(other, "measuredSeconds"));
    report.measured_ms = 1250;
    json = diag_report_json(&report);
    assert_true(json_number_value(json_at(json, "measuredSeconds")) == 1.25);
    text = json_write(json);
    assert_int_equal(diag_report_read(text, strlen(text), NODE_REPORT_KIND, &again, NULL), 0);
    assert_string_equal(again.cells.items[0].result.responder, "winjoin-probe-b");
    assert_int_equal(again.cells.items[0].family, 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_that_just_fit),
        cmocka_unit_test(one_protocol),
        cmocka_unit_test(reasons),
        cmocka_unit_test(causes_in_each_form),
        cmocka_unit_test(commands),
        cmocka_unit_test(the_document),
    };

    return cmocka_run_group_tests_name("a report's forms", tests, NULL, NULL);
}
