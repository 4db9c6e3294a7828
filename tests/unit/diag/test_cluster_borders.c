/* Where one row of a cluster's causes ends and the next begins. */
#include "tests/scene/cluster_broken_scene.h"

/* What a row breaks ends where another row's cells begin: two faults of which the first cause
 * explains the second or leaves it. */
static void test_borders(void **state) {
    static const struct {
        struct broken first, second;
        const char *causes; /* id and place of each */
        size_t cells;       /* of the first, with one line of evidence */
    } rows[] = {
        {{"p", ANY, 1, false, 0, PROBE_WRONG_RESPONDER, NULL, NULL},
         {"o", ANY, 1, false, 't', PROBE_WRONG_RESPONDER, NULL, NULL},
         "CL-SUBNET w1; CL-NODEPORT-TAKEN w1; ",
         20},
        {{"nfa", 2, ANY, false, 0, PROBE_DNS_NXDOMAIN, NULL, NULL},
         {"", ANY, ANY, false, 0, PROBE_OK, NULL, NULL},
         "CL-DNS-SOME w2; ",
         13},
        {{"s", 1, ANY, false, 's', PROBE_TIMEOUT, NULL, NULL},
         {"s", 1, ANY, false, 'u', PROBE_NO_REPLY, NULL, NULL},
         "CL-SVC-SOME w1; ",
         4},
        {{"nqfa", 1, ANY, true, 's', PROBE_DNS_TIMEOUT, NULL, NULL},
         {"", ANY, ANY, false, 0, PROBE_OK, NULL, NULL},
         "CL-DNS-HALF w1; ",
         15},
    };

    (void)state;
    for (size_t k = 0; k < ARRAY_SIZE(rows); k++) {
        _cleanup_(freep) char *causes = NULL;
        struct diag_report report;

        make(&report);
        paint(&report, &rows[k].first);
        for (size_t i = 0; i < report.cells.count; i++) {
            struct diag_cell *c = &report.cells.items[i];

            if (!is_broken(&rows[k].second, c))
                continue;
            c->outcome = DIAG_FAIL;
            c->result.outcome = rows[k].second.outcome;
            c->result.succeeded = 0;
        }
        cluster_causes_find(&report);
        causes = causes_text(&report);
        assert_string_equal(causes, rows[k].causes);
        assert_int_equal(report.causes.items[0].evidence.count, 1);
        assert_int_equal(report.causes.items[0].cells.count, rows[k].cells);
        diag_report_free(&report);
    }
}

/* Large packets of IPv6 alone are lost, where those of IPv4 arrive. */
static void test_large_of_a_family(void **state) {
    const struct broken six = {"p", ANY, ANY, false, '6', PROBE_TIMEOUT, NULL, NULL};
    _cleanup_(freep) char *causes = NULL;
    struct diag_report report;

    (void)state;
    make(&report);
    paint(&report, &six);
    for (size_t i = 0; i < report.cells.count; i++)
        if (report.cells.items[i].outcome == DIAG_FAIL)
            report.cells.items[i].large = LARGE_LOST;
    cluster_causes_find(&report);
    causes = causes_text(&report);
    assert_string_equal(causes, "CL-MTU all nodes; ");
    diag_report_free(&report);
}

/* A cell between pods that names no other node, as none of a run does, is not one of two nodes. */
static void test_no_other_node(void **state) {
    const struct broken out = {"p", 0, ANY, false, 0, PROBE_TIMEOUT, NULL, NULL};
    struct diag_report report;

    (void)state;
    make(&report);
    paint(&report, &out);
    for (size_t i = 0; i < report.cells.count; i++)
        if (report.cells.items[i].outcome == DIAG_FAIL)
            report.cells.items[i].to_node = 0;
    cluster_causes_find(&report);
    assert_int_equal(report.causes.count, 0);
    diag_report_free(&report);
}

/* Nodes with the same pods: a cell that fails to one of them proves it of both. */
static void test_twins_are_reached(void **state) {
    const struct broken there = {"p", 4, 0, false, 0, PROBE_TIMEOUT, NULL, NULL};
    _cleanup_(freep) char *causes = NULL;
    struct diag_report report;

    (void)state;
    make(&report);
    paint(&report, &there);
    for (size_t i = 0; i < 2; i++)
        report.nodes.items[i].twin = xasprintf(CLUSTER_TWIN_SUBNET " is that of w%zu, too", 1 - i);
    cluster_causes_find(&report);
    causes = causes_text(&report);
    assert_string_equal(causes, "CL-SUBNET w0, w1; ");
    assert_true(report.causes.items[0].confirmed);
    diag_report_free(&report);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_borders),
        cmocka_unit_test(test_large_of_a_family),
        cmocka_unit_test(test_no_other_node),
        cmocka_unit_test(test_twins_are_reached),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
