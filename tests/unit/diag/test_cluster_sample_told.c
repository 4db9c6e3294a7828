/* What the report of a sample says of it, in each of its forms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "diag/cluster/cells.h"
#include "diag/reports/form_parts.h"
#include "tests/scene/large_api.h"
#include "tests/scene/large_report.h"

static void what_is_said_of_it(void **state) {
    struct cluster_options options = {0};
    struct diag_report report = {0}, again = {0};
    struct error err = {0};
    json_t *grant = NULL;
    _cleanup_json_ json_t *json = NULL;
    _cleanup_(freep) char *text = NULL, *html = NULL, *junit = NULL, *metrics = NULL, *saved = NULL,
                          *line = NULL;
    _cleanup_(text_list_free) struct text_list lines = {0}, lines_again = {0};

    (void)state;
    large_api_open(1000, saying_node);
    large.events = NULL;
    if (cluster_run(&large.client, &options, &report, &grant, &err) < 0)
        fail_msg("%s", err.message);
    diag_sample_lines(&report, &lines);
    assert_string_equal(
        lines.items[0],
        "a sample: 135 of 1000 nodes. It has nodes of 18 of 18 kinds (operating system, Windows "
        "build, Kubernetes version, network, pool, zone), 324 of 324 pairs of kinds, and 15 of 15 "
        "nodes that say that something is wrong with them");
    assert_true(text_starts_with(lines.items[1],
                                 "not seen: what is wrong with one of the other 865 nodes alone"));
    assert_non_null(strstr(lines.items[1], " nodes. --all-nodes tests all"));
    assert_true(text_starts_with(lines.items[2], "not known: what Events say of nodes: GET "));
    assert_string_equal(lines.items[3],
                        "node-1 says: PodNetworkProved is False: SVC-LOST: a Service is lost");
    line = diag_report_line(&report);
    assert_non_null(strstr(line, " cells work, 135 of 1000 nodes in "));
    text = diag_report_text(&report, &(struct diag_text_style){0});
    html = diag_report_html(&report);
    junit = diag_report_junit(&report);
    metrics = diag_report_metrics(&report);
    for (size_t i = 0; i < 3; i++) {
        _cleanup_(freep) char *begin = xstrndup(lines.items[i], 30);

        assert_non_null(strstr(text, begin));
        assert_non_null(strstr(html, begin));
    }
    assert_non_null(
        strstr(junit, "<property name=\"sample\" value=\"a sample: 135 of 1000 nodes."));
    assert_non_null(strstr(metrics, "winjoin_diag_cluster_nodes{server=\"https://k\"} 1000\n"));
    assert_non_null(
        strstr(metrics, "winjoin_diag_cluster_nodes_chosen{server=\"https://k\"} 135\n"));
    json = diag_report_json(&report);
    saved = json_write(json);
    assert_int_equal(diag_report_read(saved, strlen(saved), CLUSTER_REPORT_KIND, &again, &err), 0);
    diag_sample_lines(&again, &lines_again);
    assert_int_equal(lines.count, lines_again.count);
    for (size_t i = 0; i < lines.count; i++)
        assert_string_equal(lines.items[i], lines_again.items[i]);
    diag_report_free(&report);
    diag_report_free(&again);
    large_api_close();
}

/* Of very many nodes the page has those where something fails, and the text their names. */
static void the_forms_of_a_large_report(void **state) {
    _cleanup_json_ json_t *nodes = large_nodes(1000);
    _cleanup_(freep) char *html = NULL, *text = NULL;
    struct diag_report report;

    (void)state;
    assert_int_equal(large_report_make(nodes, &report), 0);
    for (size_t i = 0; i < report.cells.count; i++)
        if (report.cells.items[i].to_node >= 700 && report.cells.items[i].to_node < 720)
            report.cells.items[i].outcome = DIAG_FAIL;
    html = diag_report_html(&report);
    assert_non_null(strstr(html, "<p>This page has 200 of the 1000 nodes, those where something "
                                 "fails first; -o json has all.</p>"));
    assert_non_null(strstr(html, " node-719</th>"));
    assert_null(strstr(html, "node-500<"));
    assert_true(strlen(html) < 3000000);
    text = diag_report_text(&report, &(struct diag_text_style){0});
    assert_non_null(strstr(text, "node-710"));
    diag_report_free(&report);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_said_of_it),
        cmocka_unit_test(the_forms_of_a_large_report),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
