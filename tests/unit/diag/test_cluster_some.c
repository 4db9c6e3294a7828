/* What fails now and then: one of several pods behind a Service, or of the DNS' pods. */
#include "tests/scene/cluster_causes_scene.h"

enum { TRIES = 16, ANY = 9 };

/* Cells of these letters between these nodes (of a node's own flows `to` is ANY) fail so often. */
struct some {
    const char *letters;
    size_t from, to;
    unsigned succeeded;
    enum probe_outcome outcome;
};

static void paint(struct diag_report *report, const struct some *some, size_t count) {
    for (size_t i = 0; i < report->cells.count; i++) {
        struct diag_cell *cell = &report->cells.items[i];

        cell->outcome = DIAG_PASS;
        cell->result.attempts = cell->result.succeeded = TRIES;
        for (size_t k = 0; k < count; k++) {
            const struct some *s = &some[k];

            if (!strchr(s->letters, letter(cell)) ||
                (s->from != ANY && s->from != cell->from_node) ||
                (s->to != ANY && s->to != cell->to_node) ||
                (s->to != ANY && cell->from_node == cell->to_node))
                continue;
            cell->result.outcome = s->outcome;
            cluster_cell_set_loss(cell, TRIES, s->succeeded);
        }
    }
}

static void test_some(void **state) {
    static const struct {
        struct some some[2];
        const char *id, *where;
        size_t causes;
        bool confirmed;
    } rows[] = {
        {{{"sqf", ANY, ANY, 13, PROBE_TIMEOUT}}, "CL-SVC-SOME", "all nodes: ", 1, false},
        {{{"sqfo", 1, ANY, 13, PROBE_TIMEOUT}}, "CL-SVC-SOME", "w1: ", 1, false},
        {{{"sqf", 1, ANY, 13, PROBE_WRONG_RESPONDER}}, "CL-WRONG", "w1: ", 1, true},
        {{{"s", 1, ANY, 0, PROBE_WRONG_RESPONDER}}, "CL-WRONG", "w1: ", 1, true},
        {{{"o", ANY, 4, 3, PROBE_TIMEOUT}}, "CL-NODEPORT-SOME", "l4: ", 1, false},
        {{{"o", ANY, 4, 3, PROBE_TIMEOUT}, {"o", 2, 4, 0, PROBE_TIMEOUT}},
         "CL-NODEPORT-SOME",
         "l4: ",
         1,
         false},
        {{{"nqfa", 2, ANY, 8, PROBE_DNS_TIMEOUT}}, "CL-DNS-HALF", "w2: ", 1, false},
        {{{"nqfa", ANY, ANY, 8, PROBE_DNS_TIMEOUT}}, "CL-DNS-HALF", "all nodes: ", 1, false},
        /* A pod that is cut off is behind the Services, too. */
        {{{"sqfo", ANY, ANY, 13, PROBE_TIMEOUT}, {"pn", ANY, 3, 0, PROBE_TIMEOUT}},
         "CL-NODE-IN",
         "l3: ",
         1,
         false},
        {{{"h", 1, ANY, 0, PROBE_TIMEOUT}, {"sqf", 1, ANY, 13, PROBE_TIMEOUT}},
         "CL-HAIRPIN",
         "w1: ",
         1,
         false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct diag_report report;

        make(&report);
        paint(&report, rows[i].some, rows[i].some[1].letters ? 2 : 1);
        cluster_causes_find(&report);
        assert_int_equal(report.causes.count, rows[i].causes);
        assert_string_equal(report.causes.items[0].id, rows[i].id);
        assert_true(text_starts_with(report.causes.items[0].message, rows[i].where));
        assert_int_equal(report.causes.items[0].confirmed, rows[i].confirmed);
        diag_report_free(&report);
    }
}

/* TCP that fails now and then between pods, though UDP does not; and of one direction. */
static void test_tcp(void **state) {
    struct diag_report report;

    (void)state;
    make(&report);
    paint(&report, &(struct some){"p", 1, 9, 8, PROBE_FAILED}, 1);
    for (size_t i = 0; i < report.cells.count; i++)
        if (report.cells.items[i].udp)
            report.cells.items[i].outcome = DIAG_PASS;
    cluster_causes_find(&report);
    assert_int_equal(report.causes.count, 1);
    assert_string_equal(report.causes.items[0].id, "CL-LOSS-NODE");
    assert_true(text_starts_with(report.causes.items[0].message, "w1 (from there): "));
    assert_false(report.causes.items[0].confirmed);
    diag_report_free(&report);
}

/* A pod that was evicted: what its node was asked, and others asked it. */
static void test_evicted(void **state) {
    struct diag_report report;

    (void)state;
    make(&report);
    paint(&report, NULL, 0);
    for (size_t i = 0; i < report.cells.count; i++)
        if (report.cells.items[i].from_node == 1)
            report.cells.items[i].outcome = DIAG_NOT_RUN;
        else if (report.cells.items[i].to_node == 1)
            report.cells.items[i].outcome = DIAG_FAIL;
    report.nodes.items[1].waiting = xstrdup("Failed: Evicted: The node was low on resource: disk");
    report.nodes.items[1].unreached = xstrdup("i/o timeout");
    cluster_causes_find(&report);
    assert_int_equal(report.causes.count, 1);
    assert_string_equal(report.causes.items[0].id, "CL-PRESSURE");
    assert_true(report.causes.items[0].confirmed);
    diag_report_free(&report);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_some),
        cmocka_unit_test(test_tcp),
        cmocka_unit_test(test_evicted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
