/* Where packets are said to be lost by chance, and when that is sure. */
#include "tests/scene/cluster_broken_scene.h"

/* Where packets are lost by chance, a NodePort may have lost each of its few; one that is refused
 * is another fault. */
static void test_lost_by_chance(void **state) {
    static const struct broken losses[] = {{"p", 1, ANY, true, 'c', PROBE_NO_REPLY, NULL, NULL},
                                           {"p", ANY, ANY, false, 'c', PROBE_NO_REPLY, NULL, NULL}},
                               port = {"o", 0, 1, false, 'u', 0, NULL, NULL};

    (void)state;
    for (int k = 0; k < 6; k++) {
        struct diag_report report;

        make(&report);
        paint(&report, &losses[k % 2]);
        for (size_t i = 0; i < report.cells.count; i++) {
            struct diag_cell *c = &report.cells.items[i];

            if (is_broken(&port, c)) {
                c->outcome = DIAG_FAIL;
                c->result.outcome = k < 4 ? PROBE_NO_REPLY : PROBE_REFUSED;
                c->result.attempts = k < 2 ? 3 : k < 4 ? 10 : 1;
            }
        }
        cluster_causes_find(&report);
        assert_int_equal((int)report.causes.count, k < 2 ? 1 : 2);
        assert_string_equal(report.causes.items[0].id, k % 2 ? "CL-LOSS" : "CL-LOSS-NODE");
        diag_report_free(&report);
    }
}

/* Loss between systems alone, much and little: of few attempts within one that says little. */
static void test_loss_between_systems(void **state) {
    static const struct broken losses[] = {
        {"p", WINDOWS, LINUX, false, 'c', PROBE_NO_REPLY, NULL, NULL},
        {"p", LINUX, WINDOWS, false, 'c', PROBE_NO_REPLY, NULL, NULL}};
    static const struct {
        unsigned green, arrived;
        const char *id;
    } rows[] = {{1, 16, "CL-LOSS-NODE"}, {20, 16, "CL-LOSS-SYSTEMS"}, {20, 17, "CL-LOSS-SYSTEMS"}};

    (void)state;
    for (size_t k = 0; k < ARRAY_SIZE(rows); k++) {
        struct diag_report report;

        make(&report);
        paint(&report, NULL);
        for (size_t i = 0; i < report.cells.count; i++) {
            struct diag_cell *c = &report.cells.items[i];
            bool red = is_broken(&losses[0], c) || is_broken(&losses[1], c);

            if (c->from_node == 5 ||
                c->to_node == 5) { /* two Linux nodes: their one way counts little */
                c->udp = false;
                continue;
            }
            c->outcome = red ? DIAG_FAIL : DIAG_PASS;
            c->result.attempts = red ? 20 : rows[k].green;
            c->result.succeeded = red ? rows[k].arrived : rows[k].green;
        }
        cluster_causes_find(&report);
        assert_int_equal((int)report.causes.count, 1);
        assert_string_equal(report.causes.items[0].id, rows[k].id);
        diag_report_free(&report);
    }
}

/* Which nodes lose packets by chance is confirmed where attempts enough say so, of these and of all
 * others, and none came to nothing. */
static void test_loss_that_is_sure(void **state) {
    static const struct broken of_node = {"p", 1, ANY, true, 'c', PROBE_NO_REPLY, NULL, NULL},
                               of_all = {"p", ANY, ANY, false, 'c', PROBE_NO_REPLY, NULL, NULL};
    static const struct {
        const struct broken *lossy;
        unsigned red, arrived, green; /* attempts: of red cells, of green ones */
        bool unasked;                 /* one of the green ones */
        bool confirmed;
    } rows[] = {
        {&of_node, 30, 27, 30, false, true}, {&of_node, 30, 27, 29, false, false},
        {&of_node, 30, 27, 30, true, false}, {&of_node, 9, 6, 30, false, false},
        {&of_node, 10, 8, 30, false, true},  {&of_all, 30, 27, 30, false, true},
        {&of_all, 9, 8, 30, false, false},
    };

    (void)state;
    for (size_t k = 0; k < ARRAY_SIZE(rows); k++) {
        struct diag_report report;
        bool unasked = rows[k].unasked;

        make(&report);
        paint(&report, NULL);
        report.count = 30;
        for (size_t i = 0; i < report.cells.count; i++) {
            struct diag_cell *c = &report.cells.items[i];
            bool red = is_broken(rows[k].lossy, c), pods = cluster_cell_is_between_pods(c);

            c->counted = pods;
            c->outcome = red ? DIAG_FAIL : DIAG_PASS;
            c->result.attempts = red ? rows[k].red : rows[k].green;
            c->result.succeeded = red ? rows[k].arrived : rows[k].green;
            if (pods && !red && unasked) {
                c->outcome = DIAG_NOT_RUN;
                unasked = false;
            }
        }
        cluster_causes_find(&report);
        if (!text_starts_with(report.causes.items[0].id, "CL-LOSS") ||
            report.causes.items[0].confirmed != rows[k].confirmed)
            fail_msg("row %zu: %s", k, report.causes.items[0].id);
        diag_report_free(&report);
    }
}

/* Without --count each is asked once: how much the others lose is not known then. */
static void test_loss_of_few_attempts(void **state) {
    static const struct broken pair = {"p", 0, 4, false, 'c', PROBE_NO_REPLY, NULL, NULL};

    (void)state;
    for (unsigned arrived = 19; arrived > 14; arrived -= 4) {
        struct diag_report report;

        make(&report);
        paint(&report, NULL);
        for (size_t i = 0; i < report.cells.count; i++) {
            struct diag_cell *c = &report.cells.items[i];
            bool red = is_broken(&pair, c);

            c->outcome = red ? DIAG_FAIL : DIAG_PASS;
            c->result.attempts = red ? 20 : 1;
            c->result.succeeded = red ? arrived : 1;
        }
        cluster_causes_find(&report);
        assert_string_equal(report.causes.items[0].id, "CL-LOSS-PAIR");
        assert_int_equal(report.causes.items[0].confirmed, arrived < 19);
        diag_report_free(&report);
    }
}

/* What TCP had to send again, where UDP loses nothing: a cell that lost nothing is no proof. */
static void test_sent_again(void **state) {
    static const struct broken of_node = {"p", 1, ANY, true, 't', PROBE_OK, NULL, NULL};

    (void)state;
    for (unsigned lucky = 0; lucky < 2; lucky++) {
        struct diag_report report;
        unsigned left = lucky;

        make(&report);
        paint(&report, NULL);
        for (size_t i = 0; i < report.cells.count; i++) {
            struct diag_cell *c = &report.cells.items[i];

            if (is_broken(&of_node, c))
                c->again = left ? left--, 0 : 2;
        }
        cluster_causes_find(&report);
        assert_int_equal((int)report.causes.count, 1);
        assert_string_equal(report.causes.items[0].id, "CL-LOSS-NODE");
        diag_report_free(&report);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lost_by_chance), cmocka_unit_test(test_loss_between_systems),
        cmocka_unit_test(test_loss_that_is_sure), cmocka_unit_test(test_loss_of_few_attempts),
        cmocka_unit_test(test_sent_again)};

    return cmocka_run_group_tests_name("packets lost by chance in a cluster", tests, NULL, NULL);
}
