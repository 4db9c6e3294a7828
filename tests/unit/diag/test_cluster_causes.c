/* From a cluster's red cells to causes: each row is named where it should be, and no other is. */
#include "tests/scene/cluster_broken_scene.h"

static void break_too(struct diag_report *report, const struct broken *b) {
    for (size_t i = 0; i < report->cells.count; i++)
        if (is_broken(b, &report->cells.items[i]))
            report->cells.items[i].outcome = DIAG_FAIL;
}

#define EVERYTHING "pnsqfaokeE"
static const struct broken cases[] = {
    {"p", 1, 0, false, 0, PROBE_WRONG_RESPONDER, "CL-WRONG", NULL},
    {"p", ANY, 1, false, 0, PROBE_WRONG_RESPONDER, "CL-SUBNET", NULL},
    {EVERYTHING, ANY, ANY, false, 0, PROBE_TIMEOUT, "CL-NONE", NULL},
    {"pn", WINDOWS, LINUX, false, 0, PROBE_TIMEOUT, "CL-SYSTEMS", NULL},
    {"pn", LINUX, WINDOWS, false, 0, PROBE_TIMEOUT, "CL-SYSTEMS", NULL},
    {"pn", OLD, LINUX, false, 0, PROBE_TIMEOUT, "CL-KINDS", NULL},
    {EVERYTHING "r", 1, ANY, true, 0, PROBE_TIMEOUT, "CL-NODE", NULL},
    {EVERYTHING, 4, ANY, false, 0, PROBE_TIMEOUT, "CL-NODE-OUT", NULL},
    {"pnok", ANY, 2, false, 0, PROBE_TIMEOUT, "CL-NODE-IN", NULL},
    {"pnsqfao", ANY, ANY, false, 'u', PROBE_NO_REPLY, "CL-UDP", NULL},
    {"pn", LINUX, WINDOWS, false, 'u', PROBE_NO_REPLY, "CL-UDP-SYSTEMS", NULL},
    {"pn", 0, ANY, true, 'u', PROBE_NO_REPLY, "CL-UDP-NODE", NULL},
    {"pn", 0, 4, false, 'u', PROBE_NO_REPLY, "CL-UDP-PAIR", NULL},
    {"ps", ANY, ANY, false, '6', PROBE_TIMEOUT, "CL-IPV6", NULL},
    {"pnok", 0, 4, false, 0, PROBE_TIMEOUT, "CL-PAIR", NULL},
    {"sqfaoh", ANY, ANY, false, 0, PROBE_TIMEOUT, "CL-SVC", NULL},
    {"sqfaoh", 0, ANY, false, 0, PROBE_TIMEOUT, "CL-SVC-NODE", NULL},
    {"nqfa", ANY, ANY, false, 0, PROBE_DNS_TIMEOUT, "CL-DNS", NULL},
    {"nqfa", ANY, ANY, false, 0, PROBE_DNS_NXDOMAIN, "CL-DNS-UNKNOWN", NULL},
    {"nqfa", 2, ANY, false, 0, PROBE_DNS_TIMEOUT, "CL-DNS-NODE", NULL},
    {"q", 2, ANY, false, 0, PROBE_DNS_NXDOMAIN, "CL-DNS-SHORT", NULL},
    {"nqfa", 3, ANY, false, 0, PROBE_DNS_NXDOMAIN, "CL-DNS-NODE", NULL},
    {"a", 2, ANY, false, 0, PROBE_DNS_NXDOMAIN, "CL-DNS-SOME", NULL},
    {"p", ANY, 1, false, '6', PROBE_TIMEOUT, "CL-IPV6-NODE", NULL},
    {"o", ANY, 1, false, 0, PROBE_WRONG_RESPONDER, "CL-NODEPORT-TAKEN", NULL},
    {"keao", 2, ANY, false, 0, PROBE_TIMEOUT, "CL-BEYOND", NULL},
    {"kao", 2, ANY, false, 0, PROBE_TIMEOUT, "CL-HOSTS", NULL},
    {"a", ANY, ANY, false, 0, PROBE_TIMEOUT, "CL-API", NULL},
    {"a", 1, ANY, false, 0, PROBE_TIMEOUT, "CL-API-NODE", NULL},
    {"o", ANY, ANY, false, 0, PROBE_TIMEOUT, "CL-NODEPORT", NULL},
    {"o", ANY, ANY, false, 'u', PROBE_NO_REPLY, "CL-NODEPORT-UDP", NULL},
    {"o", ANY, 1, false, 0, PROBE_TIMEOUT, "CL-NODEPORT-NODE", NULL},
    {"k", ANY, 1, false, 0, PROBE_TIMEOUT, "CL-KUBELET", NULL},
    {"k", 0, 4, false, 0, PROBE_TIMEOUT, "CL-TARGET-PAIR", NULL},
    {"r", 1, ANY, false, 0, PROBE_TIMEOUT, "CL-READY", NULL},
    {"e", ANY, ANY, false, 's', PROBE_TIMEOUT, "CL-OUT-SOME", NULL},
    {"e", ANY, ANY, false, 0, PROBE_TIMEOUT, "CL-OUT", NULL},
    {"e", 1, ANY, false, 0, PROBE_TIMEOUT, "CL-OUT-NODE", NULL},
    {"E", ANY, ANY, false, 0, PROBE_DNS_NXDOMAIN, "CL-OUT-NAME", NULL},
    {"h", 1, ANY, false, 0, PROBE_TIMEOUT, "CL-HAIRPIN", NULL},
    {"p", ANY, ANY, false, 'L', PROBE_TIMEOUT, "CL-MTU", NULL},
    {"p", LINUX, WINDOWS, false, 'L', PROBE_TIMEOUT, "CL-MTU-SYSTEMS", NULL},
    {"p", 1, ANY, true, 'L', PROBE_TIMEOUT, "CL-MTU-NODE", NULL},
    {"p", 0, 4, false, 'L', PROBE_TIMEOUT, "CL-MTU-PAIR", NULL},
    {"ps", ANY, ANY, false, 'c', PROBE_NO_REPLY, "CL-LOSS", NULL},
    {"pno", 1, ANY, true, 'c', PROBE_NO_REPLY, "CL-LOSS-NODE", NULL},
    {"p", 0, 4, false, 'c', PROBE_NO_REPLY, "CL-LOSS-PAIR", NULL},
    {"s", 1, ANY, false, 'c', PROBE_NO_REPLY, "CL-SVC-SOME", NULL},
    {"l", 1, ANY, false, 0, PROBE_REFUSED, "CL-LOCALHOST", NULL},
    {"pn", ANY, ANY, false, 't', PROBE_TIMEOUT, "CL-TCP", NULL},
    {"pn", LINUX, WINDOWS, false, 't', PROBE_TIMEOUT, "CL-TCP-SYSTEMS", NULL},
    {"pn", 0, ANY, true, 't', PROBE_TIMEOUT, "CL-TCP-NODE", NULL},
    {"pn", 0, 4, false, 't', PROBE_TIMEOUT, "CL-TCP-PAIR", NULL},
    {"p", LINUX, WINDOWS, false, 'c', PROBE_NO_REPLY, "CL-LOSS-SYSTEMS", NULL},
    {"sqf", 2, ANY, false, 'u', PROBE_NO_REPLY, "CL-SVC-UDP", NULL},
    {"sqfh", 2, ANY, false, 't', PROBE_TIMEOUT, "CL-SVC-TCP", NULL},
    {"ko", ANY, 1, false, 0, PROBE_TIMEOUT, "CL-TARGET", NULL},
    {"o", ANY, 1, false, 't', PROBE_TIMEOUT, "CL-NODEPORT-TCP", NULL},
};

/* A cell that works has no cause, and one that fails is named once. */
static void assert_explains_red_cells(const struct diag_report *report) {
    const struct text_list *named = &report->causes.items[0].cells;
    size_t red = 0;

    for (size_t i = 0; i < report->cells.count; i++) {
        const struct diag_cell *cell = &report->cells.items[i];
        _cleanup_(freep) char *name = diag_report_cell_name(report, cell);

        red += diag_cell_is_open(cell);
        if (!diag_cell_is_open(cell) && !strchr("fa", letter(cell)) && /* of one name */
            text_list_has(named, name))
            fail_msg("%s works", name);
    }
    assert_true(named->count <= red);
}

/* Who resolves no names is told with what its pods ask, and nobody else. */
static void assert_says_servers(const struct diag_cause *cause, bool of_one_node) {
    bool says = false;

    for (size_t i = 0; i < cause->evidence.count; i++)
        says |= strstr(cause->evidence.items[i], "inside the pod: DNS servers 10.96.0.10") != NULL;
    assert_int_equal(says, of_one_node);
}

static void test_patterns(void **state) {
    static const char *const dns[] = {"CL-DNS-NODE", "CL-DNS-SHORT", "CL-DNS-SOME"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct diag_report report;

        make(&report);
        paint(&report, &cases[i]);
        cluster_causes_find(&report);
        if (report.causes.count != (cases[i].cause != NULL))
            for (size_t c = 0; c < report.causes.count; c++)
                print_message("case %d: %s %s\n", (int)i, report.causes.items[c].id,
                              report.causes.items[c].message);
        if (!cases[i].cause) {
            assert_int_equal((int)report.causes.count, 0);
        } else {
            assert_int_equal((int)report.causes.count, 1);
            assert_string_equal(report.causes.items[0].id, cases[i].cause);
            assert_int_equal(
                report.causes.items[0].confirmed,
                (cases[i].outcome == PROBE_WRONG_RESPONDER && *cases[i].flows == 'p') ||
                    cases[i].only == 'L' || (cases[i].only == 'c' && *cases[i].flows == 'p'));
            assert_true(report.causes.items[0].cells.count > 0);
            assert_true(report.causes.items[0].evidence.count > 0);
            assert_explains_red_cells(&report);
            assert_says_servers(&report.causes.items[0], text_equal(cases[i].cause, dns[0]) ||
                                                             text_equal(cases[i].cause, dns[1]) ||
                                                             text_equal(cases[i].cause, dns[2]));
        }
        diag_report_free(&report);
    }
}

static void test_healthy(void **state) {
    struct diag_report report;

    (void)state;
    make(&report);
    paint(&report, NULL);
    cluster_causes_find(&report);
    assert_int_equal((int)report.causes.count, 0);
    diag_report_free(&report);
}

/* A cause is not named for the same nodes when a cell that it would break works. */
static void test_one_green_cell(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct diag_report report;
        _cleanup_(freep) char *before = NULL;
        if (!cases[i].cause || cases[i].outcome == PROBE_WRONG_RESPONDER ||
            text_equal(cases[i].cause, "CL-IPV6") ||           /* that of Services is it still, */
            strchr("hl", *cases[i].flows) ||                   /* one protocol, too; */
            (cases[i].only && strchr("cLs", cases[i].only)) || /* some lose nothing; IPv6 */
            text_equal(cases[i].cause, "CL-LOSS-SYSTEMS") ||
            text_ends_with(cases[i].cause, "S-PAIR") || text_ends_with(cases[i].cause, "U-PAIR"))
            continue;
        make(&report);
        paint(&report, &cases[i]);
        cluster_causes_find(&report);
        before = xstrdup(report.causes.items[0].message);
        for (size_t c = 0; c < report.cells.count; c++) {
            struct diag_cell *cell = &report.cells.items[c];

            if (cell->outcome == DIAG_FAIL && letter(cell) == cases[i].flows[0]) {
                cell->outcome = DIAG_PASS; /* the first is the cause's own kind */
                cell->large = LARGE_ARRIVE;
                break;
            }
        }
        cluster_causes_find(&report);
        for (size_t c = 0; c < report.causes.count; c++)
            if (text_equal(report.causes.items[c].message, before))
                fail_msg("%s is named with a green cell: %s", cases[i].cause, before);
        diag_report_free(&report);
    }
}

/* What is read of nodes is named first, and surely. */
static void test_nodes_that_say_it(void **state) {
    struct diag_report report;

    (void)state;
    make(&report);
    paint(&report, NULL);
    report.nodes.items[0].waiting = xstrdup("the node is not Ready");
    report.nodes.items[0].ready = false;
    report.nodes.items[1].waiting = xstrdup("ImagePullBackOff");
    report.nodes.items[2].unreached = xstrdup("dial tcp 10.244.2.2:8080: i/o timeout");
    cluster_causes_find(&report);
    assert_int_equal((int)report.causes.count, 3);
    assert_string_equal(report.causes.items[0].id, "CL-NOTREADY");
    assert_string_equal(report.causes.items[1].id, "CL-NOPOD");
    assert_string_equal(report.causes.items[1].evidence.items[0], "w1: ImagePullBackOff");
    assert_string_equal(report.causes.items[0].hint,
                        "kubectl describe node w0 tells why; then run this again");
    assert_string_equal(report.causes.items[2].id, "CL-API-POD");
    assert_true(report.causes.items[2].confirmed);
    diag_report_free(&report);
}

/* Different pods answer one that asks by a Service with session affinity: told, and no failure. */
static void test_affinity(void **state) {
    (void)state;
    for (size_t node = 0; node < NODES; node += 3) /* w0, l3 */
        for (int k = 0; k < 4; k++) {
            struct diag_report report;
            struct cluster_node *n;

            make(&report);
            paint(&report, NULL);
            n = &report.nodes.items[node];
            n->sticky = k != 1; /* not asked */
            n->fixed = k == 2;
            free(n->build);
            n->build = xstrdup(k == 3 ? "10.0.17763" : node ? "" : "10.0.20348");
            cluster_causes_find(&report);
            assert_int_equal(report.causes.count, k == 0 || (k == 3 && node));
            assert_true(diag_report_is_good(&report));
            if (report.causes.count) {
                assert_string_equal(report.causes.items[0].id, "CL-AFFINITY");
                assert_false(report.causes.items[0].confirmed);
            }
            diag_report_free(&report);
        }
}

/* If all pairs share a node, that node is named first. */
static void test_node_of_pairs(void **state) {
    static const struct broken rows[] = {{"k", 4, OLD, false, 0, PROBE_TIMEOUT, NULL, NULL},
                                         {"k", OLD, 4, false, 0, PROBE_TIMEOUT, NULL, NULL},
                                         {"k", 4, 0, true, 0, PROBE_TIMEOUT, NULL, NULL},
                                         {"k", OLD, LINUX, false, 0, PROBE_TIMEOUT, NULL, NULL}};
    static const char *const said[] = {
        "l4 (l4 to w0, l4 to w1): ", "l4 (w0 to l4, w1 to l4): ", "l4 to w0: ",
        "windows 10.0.20348 v1.37 flannel vxlan to linux v1.37 "
        "flannel vxlan nodes: "};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct diag_report report;

        make(&report);
        paint(&report, &rows[i]);
        cluster_causes_find(&report);
        assert_int_equal(report.causes.count, 1);
        if (!text_starts_with(report.causes.items[0].message, said[i]))
            fail_msg("%s", report.causes.items[0].message);
        diag_report_free(&report);
    }
}

/* Two faults at once are two causes; a node all of whose peers are cut off is not to blame. */
static void test_two(void **state) {
    struct diag_report report;
    const struct broken port = {"o", ANY, 4, false, 0, PROBE_TIMEOUT, NULL, NULL};

    (void)state;
    make(&report);
    paint(&report, &cases[6]); /* w1 is cut off */
    break_too(&report, &port);
    cluster_causes_find(&report);
    assert_int_equal((int)report.causes.count, 2);
    assert_string_equal(report.causes.items[0].id, "CL-NODE");
    assert_true(text_starts_with(report.causes.items[0].message, "w1: "));
    assert_string_equal(report.causes.items[1].id, "CL-NODEPORT-NODE");
    assert_true(text_starts_with(report.causes.items[1].message, "l4: "));
    diag_report_free(&report);
}

/* A pod that is cut off stands behind every Service: what hits it by chance follows. */
static void test_services_follow(void **state) {
    const struct broken chance = {"s", 3, 3, false, 0, PROBE_TIMEOUT, NULL, NULL};
    struct diag_report report;

    (void)state;
    make(&report);
    paint(&report, &cases[6]); /* w1 is cut off */
    break_too(&report, &chance);
    cluster_causes_find(&report);
    assert_int_equal((int)report.causes.count, 1);
    assert_string_equal(report.causes.items[0].id, "CL-NODE");
    for (size_t i = 0; i < report.cells.count; i++) {
        _cleanup_(freep) char *name = diag_report_cell_name(&report, &report.cells.items[i]);

        if (is_broken(&chance, &report.cells.items[i]))
            assert_true(text_list_has(&report.causes.items[0].cells, name));
    }
    diag_report_free(&report);
}

/* A kube-proxy that stands still: the NodePorts of its node follow. Two nodes of a system that do
 * not reach each other are a pair. Of UDP lost between pods another node's NodePort follows. */
static void test_narrow(void **state) {
    static const struct broken port = {"o", ANY, 0, false, 0, PROBE_REFUSED, NULL, NULL},
                               back = {"pn", 1, 0, false, 0, PROBE_TIMEOUT, NULL, NULL},
                               out = {"pn", 0, 1, false, 0, PROBE_TIMEOUT, NULL, NULL},
                               udp = {"pn", 0, ANY, true, 'u', PROBE_NO_REPLY, NULL, NULL},
                               there = {"o", ANY, 1, false, 'u', PROBE_NO_REPLY, NULL, NULL};
    static const struct {
        const struct broken *first, *second;
        const char *id;
    } rows[] = {{&cases[16], &port, "CL-SVC-NODE"},
                {&out, &back, "CL-PAIR"},
                {&udp, &there, "CL-UDP-NODE"}};

    (void)state;
    for (size_t k = 0; k < ARRAY_SIZE(rows); k++) {
        struct diag_report report;

        make(&report);
        paint(&report, rows[k].first);
        break_too(&report, rows[k].second);
        cluster_causes_find(&report);
        assert_int_equal((int)report.causes.count, 1);
        assert_string_equal(report.causes.items[0].id, rows[k].id);
        diag_report_free(&report);
    }
}

/* A pod that does not reach itself by its Service: where the NodePort that leads to it alone
 * answers nobody either, who reaches the node's other NodePort, kube-proxy does not know it.
 * Without the first the NodePort is named where all TCP of the node that looks works. */
static void test_local(void **state) {
    static const struct broken self = {"h", 1, ANY, false, 0, PROBE_TIMEOUT, NULL, NULL},
                               port = {"o", 0, 1, false, 0, PROBE_TIMEOUT, NULL, NULL},
                               outside = {"e", 0, ANY, false, 0, PROBE_TIMEOUT, NULL, NULL},
                               pods = {"p", 0, 4, false, 't', PROBE_TIMEOUT, NULL, NULL};
    static const struct {
        int silent, by_exec; /* the node that got no answer; one that is not asked */
        const struct broken *first, *second;
        const char *causes; /* id and place of each */
    } rows[] = {{0, 3, &self, NULL, "CL-LOCAL w1; "},
                {2, 3, &self, NULL, "CL-HAIRPIN w1; CL-NODEPORT-LOCAL w0; "},
                {0, 0, &self, NULL, "CL-HAIRPIN w1; "},
                {0, 3, &self, &port, "CL-HAIRPIN w1; CL-TARGET-PAIR w0 to w1; "},
                {0, 3, &self, &outside, "CL-LOCAL w1; CL-OUT-NODE w0; "},
                {0, 3, &self, &pods, "CL-TCP-PAIR w0 to l4; CL-HAIRPIN w1; "},
                {0, 3, NULL, NULL, "CL-NODEPORT-LOCAL w1; "},
                {0, 3, &outside, NULL, "CL-OUT-NODE w0; "}};

    (void)state;
    for (size_t k = 0; k < ARRAY_SIZE(rows); k++) {
        static const struct broken none = {"", ANY, ANY, false, 0, PROBE_OK, NULL, NULL};
        _cleanup_(freep) char *causes = NULL;
        struct diag_report report;

        make(&report); /* the first node that w0 is paired with is w1 */
        paint(&report, rows[k].first ? rows[k].first : &none);
        freep(&report.nodes.items[rows[k].silent].local_ip);
        report.nodes.items[rows[k].by_exec].by_exec = true;
        if (rows[k].second)
            break_too(&report, rows[k].second);
        cluster_causes_find(&report);
        causes = causes_text(&report);
        assert_string_equal(causes, rows[k].causes);
        diag_report_free(&report);
    }
}

/* Every row is named by a case above, has all its texts, and its id is its own. */
static void test_rows(void **state) {
    static const char *const said[] = {"CL-NOTREADY", "CL-NOPOD",    "CL-API-POD",
                                       "CL-HNS",      "CL-HNS-DNS", /* their own tests */
                                       "CL-LOCAL",    "CL-AFFINITY", "CL-NODEPORT-LOCAL",
                                       "CL-LATE",     "CL-PRESSURE", "CL-DNS-HALF",
                                       "CL-GONE",     "CL-SVC-SOME", "CL-NODEPORT-SOME",
                                       "CL-TWINS"};
    struct diag_cause_row row;

    (void)state;
    for (size_t i = 0; cluster_cause_row(i, &row); i++) {
        bool named = false;
        for (size_t k = 0; k < ARRAY_SIZE(cases); k++)
            named |= text_equal(cases[k].cause, row.id);
        for (size_t k = 0; k < ARRAY_SIZE(said); k++)
            named |= text_equal(said[k], row.id);
        if (!named)
            fail_msg("%s has no case", row.id);
        assert_true(row.breaks && row.message && row.hint);
    }
}

/* A row has what its kind needs, and nothing that only another kind looks at. */
static void test_kinds(void **state) {
    const struct cluster_row *row;

    (void)state;
    for (size_t i = 0; (row = cluster_row(i)); i++) {
        const struct cluster_pattern *p = &row->pattern;
        bool read = row->kind == READ_ON_NODE, published = row->kind == PUBLISHED_BY_NODE,
             pattern = row->kind == PATTERN || row->kind == LOSS;
        bool of_pattern = p->split || p->least || p->several_flows || p->outward || p->at_target ||
                          p->pods_work || p->shows_dns;

        if ((row->says != SAYS_NOTHING) != read || (row->lacks && !published) ||
            (row->breaks.flows != 0) == read || (row->unfit && !read && !published) ||
            (row->loss && row->kind != LOSS) || (row->spares.flows && !published && !pattern) ||
            (of_pattern && !pattern) || (row->cuts_off && !read && !pattern) ||
            (row->follows_to_node && !row->follows.flows))
            fail_msg("row %zu (%s) is not of its kind", i, row->titles[NODE].id);
    }
}

int main(void) {
#define CASE(name) cmocka_unit_test(name)
    const struct CMUnitTest tests[] = {CASE(test_patterns),
                                       CASE(test_healthy),
                                       CASE(test_one_green_cell),
                                       CASE(test_nodes_that_say_it),
                                       CASE(test_affinity),
                                       CASE(test_node_of_pairs),
                                       CASE(test_two),
                                       CASE(test_services_follow),
                                       CASE(test_narrow),
                                       CASE(test_local),
                                       CASE(test_rows),
                                       CASE(test_kinds)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
