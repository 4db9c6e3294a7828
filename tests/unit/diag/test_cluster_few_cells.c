/* By how few cells and nodes a cause of a cluster is named, and how many are told. */
#include "tests/scene/cluster_causes_scene.h"

static bool is_named(const struct diag_report *report, const char *id) {
    for (size_t i = 0; i < report->causes.count; i++)
        if (text_equal(report->causes.items[i].id, id))
            return true;
    return false;
}

/* One cell that is asked: its letter, and whether it is red. */
static const struct drawn {
    char code, letter;
    bool udp, six, red;
    enum probe_outcome outcome;
} codes[] = {
    {'+', 'p', false, false, false, PROBE_OK},
    {'-', 'p', false, false, true, PROBE_TIMEOUT},
    {'U', 'p', true, false, false, PROBE_OK},
    {'u', 'p', true, false, true, PROBE_NO_REPLY},
    {'6', 'p', false, true, true, PROBE_TIMEOUT},
    {'G', 'p', false, true, false, PROBE_OK},
    {'S', 's', false, false, false, PROBE_OK},
    {'s', 's', false, false, true, PROBE_TIMEOUT},
    {'Q', 'q', false, false, false, PROBE_OK},
    {'q', 'q', false, false, true, PROBE_DNS_TIMEOUT},
    {'f', 'f', false, false, true, PROBE_DNS_TIMEOUT},
    {'x', 'q', false, false, true, PROBE_DNS_NXDOMAIN},
    {'o', 'o', false, false, true, PROBE_TIMEOUT},
    {'e', 'e', false, false, true, PROBE_TIMEOUT},
};

/* "01- 10+": from node 0 to 1 a red one, and back. */
static void draw(const char *cells, struct diag_report *ret) {
    struct diag_cell drawn[16];
    size_t count = 0;

    make(ret);
    for (; *cells; cells += cells[3] ? 4 : 3) {
        const struct drawn *code = codes;
        size_t i = 0;

        while (code->code != cells[2])
            code++;
        for (; i < ret->cells.count; i++) {
            const struct diag_cell *c = &ret->cells.items[i];

            if (letter(c) == code->letter && c->from_node == (size_t)(cells[0] - '0') &&
                c->to_node == (size_t)(cells[1] - '0') && c->udp == code->udp &&
                (c->family == 6) == code->six)
                break;
        }
        assert_true(i < ret->cells.count && count < ARRAY_SIZE(drawn));
        drawn[count] = ret->cells.items[i];
        drawn[count].outcome = code->red ? DIAG_FAIL : DIAG_PASS;
        drawn[count++].result.outcome = code->outcome;
    }
    memcpy(ret->cells.items, drawn, count * sizeof *drawn);
    ret->cells.count = count;
}

/* With as few cells as a cause is named by, and with one less; a node whose peers are all cut off
 * is not to blame, and a system not for a node of it that works with nobody. */
static void test_few_cells(void **state) {
    static const struct {
        const char *id, *cells;
        bool named;
    } rows[] = {
        {"CL-NONE", "01- 10- 12-", true},
        {"CL-NONE", "01- 01u", false},
        {"CL-SYSTEMS", "03- 14- 30+ 41+ 01+", true},
        {"CL-SYSTEMS", "03- 13- 30+ 31+ 01+", false}, /* one node of that system */
        {"CL-KINDS", "03- 14- 23+ 30+ 41+ 01+", true},
        {"CL-NODE", "12+ 21+ 01- 10- 20-", true},
        {"CL-NODE", "12+ 21+ 01- 10-", false},
        {"CL-NODE", "01- 10- 02- 20- 34+ 43+", true},
        {"CL-NODE-OUT", "01- 02- 10+ 20+ 12+", true},
        {"CL-NODE-OUT", "01- 10+ 12+", false},
        {"CL-NODE-OUT", "01- 01u 10+ 12+", false}, /* others were not asked */
        {"CL-NODE-IN", "10- 20- 01+ 02+ 12+", true},
        {"CL-NODE-IN", "10- 01+ 12+", false},
        {"CL-NODE-IN", "10- 10u 01+ 12+", false},
        {"CL-UDP", "01+ 12+ 01u 12u", true},
        {"CL-UDP", "01+ 12+ 01u", false},
        {"CL-UDP", "01u 12u 00S", false}, /* that TCP works is not known */
        {"CL-UDP-NODE", "12U 01+ 10+ 01u 10u", true},
        {"CL-IPV6", "01+ 016 106", true},
        {"CL-IPV6", "01+ 016", false},
        {"CL-IPV6-NODE", "01+ 016 216 10G", true},
        {"CL-IPV6-NODE", "01+ 016 10G", true},
        {"CL-PAIR", "01- 01u 02+ 10+ 21+", true},
        {"CL-PAIR", "01- 02+ 10+ 21+", false},
        {"CL-SVC", "01+ 00s 11s", true},
        {"CL-SVC", "01+ 00s", false},
        {"CL-SVC", "01+ 10+ 12- 00s 11s", false}, /* some pods are not reached either */
        {"CL-SVC-NODE", "01+ 10+ 00s 11S", true},
        {"CL-SVC-NODE", "01+ 10+ 12- 00s 11S", false},
        {"CL-NODEPORT-NODE", "01o 01+", true},
        {"CL-DNS", "00S 00q 11q", true},
        {"CL-DNS", "00S 00q", false},
        {"CL-DNS-UNKNOWN", "00S 00x 11x", true},
        {"CL-DNS-UNKNOWN", "00S 00x", false},
        {"CL-DNS-NODE", "00S 00q 00f 11Q", true},
        {"CL-DNS-NODE", "00S 00q 11Q", false},
        {"CL-NODEPORT", "00S 01o 12o 20o", true},
        {"CL-NODEPORT", "00S 01o", false},
        {"CL-OUT", "01+ 00e 11e", true},
        {"CL-OUT", "01+ 00e", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct diag_report report;

        draw(rows[i].cells, &report);
        cluster_causes_find(&report);
        if (is_named(&report, rows[i].id) != rows[i].named)
            fail_msg("%s of %s: %s", rows[i].id, rows[i].cells,
                     report.causes.count ? report.causes.items[0].id : "none");
        diag_report_free(&report);
    }
}

/* Eight names, the rest is counted. */
static void test_many_names(void **state) {
    (void)state;
    for (unsigned count = 8; count <= 10; count++) {
        struct diag_report report = {.nodes = {xcalloc(count, sizeof *report.nodes.items), count}};
        const struct diag_cause *cause;
        _cleanup_(freep) char *more = xasprintf("n6, n7 and %u more: the", count - 8);

        for (unsigned i = 0; i < count; i++) {
            struct cluster_node *n = &report.nodes.items[i];

            n->name = xasprintf("n%u", i);
            n->os = xstrdup("linux");
            n->build = xstrdup("");
            n->version = xstrdup("v1.37.1");
            n->network = xstrdup("");
            n->waiting = xstrdup("Pending");
        }
        cluster_causes_find(&report);
        assert_int_equal((int)report.causes.count, 1);
        cause = &report.causes.items[0];
        assert_true(text_starts_with(cause->message, "n0, n1, n2, "));
        assert_non_null(strstr(cause->message, count == 8 ? "n6, n7: the" : more));
        assert_int_equal(cause->evidence.count, 8);
        assert_non_null(strstr(cause->hint, " NAME ")); /* not one's of many */
        diag_report_free(&report);
    }
}

/* A pod that is not reached stands behind Services, too: what is red of them follows. */
static void test_services_follow_each(void **state) {
    static const char *const rows[][2] = {
        {"CL-SYSTEMS", "03- 14- 30+ 41+ 01+ 55s"},
        {"CL-KINDS", "03- 14- 23+ 30+ 41+ 01+ 55s"},
        {"CL-NODE", "12+ 21+ 01- 10- 20- 55s"},
        {"CL-NODE-OUT", "01- 02- 10+ 20+ 12+ 55s"},
        {"CL-NODE-IN", "10- 20- 01+ 02+ 12+ 55s"},
        {"CL-PAIR", "01- 01u 02+ 10+ 21+ 55s"},
        {"CL-DNS-NODE", "00S 00q 00f 11Q 00e"},
        {"CL-SVC-NODE", "01+ 10+ 00s 11S 22e"}, /* nothing of another node */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct diag_report report;
        size_t red = 0;

        draw(rows[i][1], &report);
        cluster_causes_find(&report);
        for (size_t k = 0; k < report.cells.count; k++)
            red += diag_cell_is_open(&report.cells.items[k]);
        assert_int_equal((int)report.causes.count, 1 + (strchr(rows[i][1], 'e') != NULL));
        assert_string_equal(report.causes.items[0].id, rows[i][0]);
        assert_int_equal(report.causes.items[0].cells.count,
                         red - (strchr(rows[i][1], 'e') != NULL));
        diag_report_free(&report);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few_cells),
        cmocka_unit_test(test_many_names),
        cmocka_unit_test(test_services_follow_each),
    };

    return cmocka_run_group_tests_name("a cluster's few cells", tests, NULL, NULL);
}
