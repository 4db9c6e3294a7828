/* Two groups of nodes that do not reach each other: one cause that names the smaller one. */
#include "tests/scene/cluster_causes_scene.h"

static bool is_in(const char *group, size_t node) {
    return strchr(group, '0' + (int)node) != NULL;
}

/* Pods of the group and of the others do not reach each other; with `out` only from the group. */
static void part(const char *group, bool out, struct diag_report *ret) {
    make(ret);
    for (size_t i = 0; i < ret->cells.count; i++) {
        struct diag_cell *c = &ret->cells.items[i];
        bool red = strchr("pn", letter(c)) &&
                   is_in(group, c->from_node) != is_in(group, c->to_node) &&
                   (!out || is_in(group, c->from_node));

        c->outcome = red ? DIAG_FAIL : DIAG_PASS;
        c->result.outcome = !red ? PROBE_OK : c->udp ? PROBE_NO_REPLY : PROBE_TIMEOUT;
        c->result.attempts = 3;
        c->result.succeeded = red ? 0 : 3;
    }
    cluster_causes_find(ret);
}

static void test_two_racks(void **state) {
    static const struct {
        const char *group, *name;
    } rows[] = {{"03", "w0, l3 and the other nodes"},
                {"1245", "w0, l3 and the other nodes"},
                {"24", "w2, l4 and the other nodes"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct diag_report report;

        part(rows[i].group, false, &report);
        assert_int_equal((int)report.causes.count, 1);
        assert_string_equal(report.causes.items[0].id, "CL-PAIR");
        assert_true(text_starts_with(report.causes.items[0].message, rows[i].name));
        diag_report_free(&report);
    }
}

/* One node is a node, one direction are pairs: nobody sees a group in them. */
static void test_no_racks(void **state) {
    struct diag_report report;

    (void)state;
    part("3", false, &report);
    assert_string_equal(report.causes.items[0].id, "CL-NODE");
    diag_report_free(&report);
    part("03", true, &report);
    for (size_t i = 0; i < report.causes.count; i++)
        assert_null(strstr(report.causes.items[i].message, "the other nodes"));
    assert_true(report.causes.count > 0);
    diag_report_free(&report);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_racks),
        cmocka_unit_test(test_no_racks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
