/* The reports of a cluster's diagnosis, word by word, and what a hostile cluster puts into them. */
#include "diag/reports/report.h"
#include "tests/scene/cluster_report_scene.h"

static void assert_report(struct diag_text_style style, const char *wanted) {
    _cleanup_(freep) char *text = diag_report_text(&report, &style);

    assert_string_equal(text, wanted);
}

#define HEAD "https://10.0.0.10:6443  2026-11-21T10:00:04Z  2 Windows and 1 Linux nodes\n"
#define SEEN                                                                                       \
    " pods are seen with their own address by pods; with another by\n"                             \
    "      Services; not by NodePorts with externalTrafficPolicy Local; session\n"                 \
    "      affinity holds\n"
#define END                                                                                        \
    "measured in 600.5 s after 201.2 s for the pods to start, with 41 requests to the\n"           \
    "API server; the namespace winjoin-diag-1 is deleted\n"

static void all_is_well(void **state) {
    (void)state;
    report.nodes.items[1].sticky = false; /* the first one's line is there all the same */
    assert_report((struct diag_text_style){0},
                  HEAD "2 of 2 cells work, 3 nodes in 0 pairs\n\n"
                       "ok  win-1, win-2, lin-1: every flow works\n\n    windows" SEEN
                       "    linux" SEEN END);
}

/* What to do comes first. An extra that fails is nobody's fault; a node without a probe is told
 * with its reason; cells of two nodes that fail alike are one line. */
static void some_is_red(void **state) {
    (void)state;
    add_node("win-3", "windows", "10.0.26100", "ImagePullBackOff");
    add_cell("pod-to-pod-ip", false, 0, 1, DIAG_FAIL, "no answer \x1b[31m");
    add_cell("pod-to-pod-ip", false, 0, 1, DIAG_FAIL, "no answer \x1b[31m");
    add_cell("pod-to-pod-ip", true, 0, 1, DIAG_FAIL, "no answer \x1b[31m");
    add_cell("pod-to-pod-ip", false, 0, 1, DIAG_FAIL, "no answer \x1b[31m");
    report.cells.items[5].family = 6;
    add_cell("pod-to-pod-name", true, 0, 1, DIAG_FAIL, "no answer \x1b[31m");
    add_cell("pod-to-service-ip", true, 0, 1, DIAG_FAIL, "no answer \x1b[31m");
    add_cell("pod-to-pod-ip", false, 1, 1, DIAG_FAIL, "refused");
    add_cell("pod-to-service-ip", false, 3, 3, DIAG_NOT_RUN, "no probe runs there");
    add_cell("nodeport-remote", false, 2, 1, DIAG_FAIL, "timeout");
    report.nodes.items[0].sticky = report.nodes.items[1].sticky = false;
    report.left = true;
    report.causes = (struct diag_causes){xcalloc(1, sizeof *report.causes.items), 1};
    report.causes.items[0] = (struct diag_cause){
        .id = "CL-NOPOD",
        .confirmed = true,
        .message = xstrdup("win-3: no probe pod starts there in the time given"),
        .hint = xstrdup("look at its events, whether its image can be fetched from there")};
    text_list_add(&report.causes.items[0].evidence,
                  "win-3: ImagePullBackOff as long as it was waited for, and longer");
    assert_report(
        (struct diag_text_style){.columns = 72},
        "https://10.0.0.10:6443  2026-11-21T10:00:04Z  3 Windows and 1 Linux\n  nodes\n"
        "2 of 10 cells work, 4 nodes in 0 pairs\n\n"
        "!!  CL-NOPOD  confirmed  win-3: no probe pod starts there in the time\n    given\n"
        "    evidence  win-3: ImagePullBackOff as long as it was waited for, and\n"
        "              longer\n"
        "    do        look at its events, whether its image can be fetched from\n"
        "              there\n"
        "    see       causes.md#cl-nopod\n\n"
        "!!  win-2 (windows 10.0.20348, v1.37.1): 7 of its 8 cells do not work\n"
        "    win-1 -> win-2  pod-to-pod-ip TCP UDP, pod-to-pod-ip IPv6 TCP,\n"
        "      pod-to-pod-name UDP, pod-to-service-ip UDP: no answer \\x1b[31m\n"
        "    win-2  pod-to-pod-ip TCP: refused\n"
        "??  win-3 (windows 10.0.26100): no probe runs there: ImagePullBackOff\n"
        "ok  win-1: fails only with the nodes above\n"
        "ok  lin-1: every flow works\n\n"
        "    linux pods are seen with their own address by pods; with another by\n"
        "      Services; not by NodePorts with externalTrafficPolicy Local;\n"
        "      session affinity holds\n"
        "measured in 600.5 s after 201.2 s for the pods to start, with 41\n"
        "requests to the API server; the namespace winjoin-diag-1 could not be\n"
        "deleted: use kubectl delete namespace\n");
}

/* No more than 24 names, 12 kinds of red cells and eight red nodes are shown; the rest is counted.
 */
static void many_are_counted(void **state) {
    _cleanup_(freep) char *text = NULL, *all = NULL;

    (void)state;
    cluster_nodes_free(&report.nodes);
    free(report.cells.items);
    report.cells = (struct diag_cells){0};
    for (unsigned i = 0; i < 30; i++) {
        _cleanup_(freep) char *name = xasprintf("n%u", i);
        add_node(name, "linux", "", NULL);
        report.nodes.items[i].suffixes = xasprintf("s%u", i);
    }
    free(take_ptr(report.nodes.items[0].client_ip)); /* nobody saw its pods */
    for (size_t i = 0; i < 14; i++) {
        _cleanup_(freep) char *why = xasprintf("timeout %zu", i);
        add_cell("pod-to-pod-ip", false, 29, 29, DIAG_FAIL, why);
    }
    text = diag_report_text(&report, &(struct diag_text_style){.utf8 = true, .color = true});
    assert_non_null(strstr(text, "\x1b[32m\xe2\x9c\x93\x1b[0m   n0, n1,"));
    assert_non_null(strstr(text, " n23 and 5 more: every"));
    assert_null(strstr(text, "n24"));
    assert_non_null(strstr(text, "\x1b[31m\xe2\x9c\x97\x1b[0m   n29 ("));
    assert_non_null(strstr(text, "    and 2 more (-o json has all)\n"));
    assert_int_equal(count_of(text, "timeout"), 12);
    assert_null(strstr(text, " s0\n"));
    assert_non_null(strstr(text, " s24\n"));
    assert_int_equal(count_of(text, "suffixes"), 24);
    report.nodes.count = 24;
    report.cells.count = 0;
    all = diag_report_text(&report, &(struct diag_text_style){0});
    assert_non_null(strstr(all, " n23: every"));
    free(take_ptr(all));
    report.nodes.count = 30;
    report.cells.count = 14;
    report.cells.count = 12;
    all = diag_report_text(&report, &(struct diag_text_style){0});
    assert_int_equal(count_of(all, "timeout"), 12);
    assert_null(strstr(all, " more (-o json"));
    report.cells.count = 0;
    for (size_t i = 0; i < 11; i++)
        add_cell("pod-to-pod-ip", false, 2 * i, 2 * i, DIAG_FAIL, "timeout");
    free(take_ptr(all));
    all = diag_report_text(&report, &(struct diag_text_style){0});
    assert_int_equal(count_of(all, "\n!!  "), 9);
    assert_non_null(strstr(all, "\nok  n1, n3, n5, n7, n9, n11, n13, n15, n17, n19, n21, n22,"));
    assert_non_null(strstr(all, "\n!!  n16, n18, n20: do not work either (-o json has all)\n"));
}

/* As wide as the terminal, but not less than 30 columns and not more than 80. */
static void the_width(void **state) {
    static const struct {
        unsigned columns, as;
        bool head; /* in one line */
    } rows[] = {{sizeof HEAD - 2, sizeof HEAD - 2, true},
                {sizeof HEAD - 3, sizeof HEAD - 3, false},
                {10, 30, false},
                {79, 79, true},
                {120, 0, true}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *text =
            diag_report_text(&report, &(struct diag_text_style){.columns = rows[i].columns});
        _cleanup_(freep) char *other =
            diag_report_text(&report, &(struct diag_text_style){.columns = rows[i].as});
        size_t edge = rows[i].as ? rows[i].as : 80;

        assert_string_equal(text, other);
        assert_int_equal(strstr(text, HEAD) != NULL, rows[i].head);
        for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
            assert_true(strcspn(line, "\n") <= edge);
        if (edge == 30) /* what is continued stands behind its sign */
            assert_non_null(strstr(text, "\n2 of 2 cells work, 3 nodes in\n  0 pairs\n\n"
                                         "ok  win-1, win-2, lin-1: every\n    flow works\n"));
    }
}

/* A mark is as wide in color: lines end where they do without. */
static void color_takes_no_columns(void **state) {
    struct text plain = {0};
    _cleanup_(freep) char *text = NULL, *colored = NULL;

    (void)state;
    add_node("a-node-that-just-fits", "linux", "", NULL);
    text = diag_report_text(&report, &(struct diag_text_style){.columns = 50, .utf8 = true});
    colored = diag_report_text(
        &report, &(struct diag_text_style){.columns = 50, .utf8 = true, .color = true});
    for (const char *at = colored; *at; at++)
        if (*at == '\x1b')
            at += strcspn(at, "m");
        else
            text_add_char(&plain, *at);
    assert_string_equal(text_str(&plain), text);
    text_free(&plain);
}

static void what_is_good(void **state) {
    (void)state;
    assert_true(diag_report_is_good(&report));
    report.causes = (struct diag_causes){xcalloc(1, sizeof *report.causes.items), 1};
    report.causes.items[0] = (struct diag_cause){.id = "CL-X"};
    assert_true(diag_report_is_good(&report));
    report.causes.items[0].confirmed = true; /* though every cell works */
    assert_false(diag_report_is_good(&report));
    report.causes.items[0].confirmed = false;
    add_cell("pod-to-pod-ip", false, 0, 1, DIAG_NOT_RUN, "");
    assert_false(diag_report_is_good(&report));
    report.cells.count = 0;
    assert_false(diag_report_is_good(&report));
}

static void the_junit(void **state) {
#define COUNTS "tests=\"6\" failures=\"1\" errors=\"1\" time=\"600.500\">\n"
    static const char wanted[] =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites " COUNTS
        "  <testsuite name=\"winjoin diag --kubeconfig\" timestamp=\"2026-11-21T10:00:04Z\" "
        "skipped=\"1\" " COUNTS
        "    <testcase name=\"pod-to-pod-ip/tcp 10.244.3.2:8080\" classname=\"win-1\"/>\n"
        "    <testcase name=\"pod-to-pod-ip/tcp 10.244.1.2:8080\" classname=\"lin-1\"/>\n"
        "    <testcase name=\"pod-to-pod-ip/udp/ipv6 10.244.2.2:8080\" classname=\"win-1\">\n"
        "      <failure message=\"&lt;x&gt;\"/>\n    </testcase>\n"
        "    <testcase name=\"pod-to-node/tcp 10.244.2.2:8080\" classname=\"win-1\">\n"
        "      <skipped message=\"\"/>\n    </testcase>\n"
        "    <testcase name=\"node-to-pod/tcp 10.244.2.2:8080\" classname=\"win-2\">\n"
        "      <error message=\"why\"/>\n    </testcase>\n"
        "    <testcase name=\"nodeport-remote/tcp 10.244.3.2:8080\" classname=\"win-1\"/>\n"
        "  </testsuite>\n</testsuites>\n";
    _cleanup_(freep) char *text = NULL;

    (void)state;
    add_cell("pod-to-pod-ip", true, 0, 1, DIAG_FAIL, "<x>");
    report.cells.items[2].family = 6;
    report.cells.items[2].second = true;
    add_cell("pod-to-node", false, 0, 1, DIAG_SKIP, "");
    add_cell("node-to-pod", false, 1, 1, DIAG_NOT_RUN, "why");
    add_cell("nodeport-remote", false, 0, 2, DIAG_SLOW, "");
    add_cell("nodeport-remote", true, 0, 2, DIAG_FAIL, "nobody's fault");
    text = diag_report_junit(&report);
    assert_string_equal(text, wanted);
}

static void the_table_while_it_runs(void **state) {
    _cleanup_(text_list_free) struct text_list lines = {0};

    (void)state;
    report.cells.count = 0;
    add_cell("pod-to-pod-ip", false, 0, 1, DIAG_PASS, "");
    add_cell("pod-to-pod-ip", true, 0, 1, DIAG_SLOW, "");
    add_cell("pod-to-pod-ip", true, 1, 0, DIAG_FAIL, "timeout");
    add_cell("pod-to-pod-ip", false, 1, 0, DIAG_NOT_RUN, "");
    add_cell("node-to-pod", false, 1, 0, DIAG_SKIP, "");
    cluster_report_progress(&report, &lines);
    assert_int_equal(lines.count, 2); /* a flow that is not asked has no line */
    assert_string_equal(lines.items[0], "                                  works  fails  waits");
    assert_string_equal(lines.items[1], "pod-to-pod-ip                         2      1      1");
}

/* A node's own cell counts once, as one between two nodes does for each of them. */
static void the_worst_node_is_first(void **state) {
    _cleanup_(freep) char *text = NULL;
    const char *first, *other;

    (void)state;
    add_cell("pod-to-pod-ip", false, 0, 1, DIAG_FAIL, "timeout");
    add_cell("pod-to-pod-ip", false, 2, 2, DIAG_FAIL, "refused");
    text = diag_report_text(&report, &(struct diag_text_style){0});
    first = strstr(text, "!!  win-1 (");
    other = strstr(text, "!!  lin-1 (");
    assert_true(first && other && first < other);
    assert_non_null(strstr(text, "ok  win-2: fails only with the nodes above"));
}

static void nodes_that_came_and_went(void **state) {
    struct diag_report old = report;
    _cleanup_json_ json_t *compared = NULL;

    open_report(state);
    free(report.nodes.items[0].name);
    report.nodes.items[0].name = xstrdup("win-9");
    compared = diag_report_compare(&old, &report);
    assert_int_equal(json_array_size(json_at(compared, "nodesNew")), 1);
    assert_int_equal(json_array_size(json_at(compared, "nodesGone")), 1);
    assert_string_equal(json_text_at(compared, "nodesNew.0"), "win-9");
    assert_string_equal(json_text_at(compared, "nodesGone.0"), "win-1");
    diag_report_free(&old);
}

/* A red cell makes both of its nodes red; an extra that fails does not. */
static void the_metrics(void **state) {
#define OF(name) "winjoin_diag_" name "{server=\"https://10.0.0.10:6443\""
#define CELLS(passed, flow, udp, count)                                                            \
    OF("cluster_cells" passed) ",flow=\"" flow "\",protocol=\"" udp "\"} " count "\n"
    static const char wanted[] = OF("node_up") ",node=\"win-1\"} 0\n" OF(
        "node_up") ",node=\"win-2\"} 0\n" OF("node_up") ",node=\"lin-1\"} 1\n";
    static const char *const lines[] = {
        "# HELP winjoin_diag_cluster_cells Cells that were asked.\n",
        "# HELP winjoin_diag_cluster_cells_passed Those that work.\n",
        "# HELP winjoin_diag_node_up ",
        OF("up") "} 0\n",
        OF("duration_seconds") "} 600.5\n",
        OF("requests") "} 41\n",
        CELLS("", "pod-to-pod-ip", "TCP", "3"),
        CELLS("", "pod-to-pod-ip", "UDP", "1"),
        CELLS("_passed", "pod-to-pod-ip", "TCP", "2"),
        CELLS("_passed", "pod-to-pod-ip", "UDP", "1"),
    };
    _cleanup_(freep) char *text = NULL;

    (void)state;
    add_cell("pod-to-pod-ip", false, 0, 1, DIAG_FAIL, "timeout");
    add_cell("pod-to-pod-ip", true, 0, 1, DIAG_SLOW, "");
    add_cell("nodeport-remote", false, 0, 2, DIAG_FAIL, "timeout");
    add_cell("node-to-pod", false, 0, 0, DIAG_SKIP, ""); /* no line */
    text = diag_report_metrics(&report);
    assert_null(strstr(text, "node-to-pod"));
    assert_non_null(strstr(text, wanted));
    for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
        if (!strstr(text, lines[i]))
            fail_msg("no %s in\n%s", lines[i], text);
    assert_null(strstr(text, "winjoin_diag_cause"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_is_well, open_report, close_report),
        cmocka_unit_test_setup_teardown(some_is_red, open_report, close_report),
        cmocka_unit_test_setup_teardown(many_are_counted, open_report, close_report),
        cmocka_unit_test_setup_teardown(the_table_while_it_runs, open_report, close_report),
        cmocka_unit_test_setup_teardown(the_width, open_report, close_report),
        cmocka_unit_test_setup_teardown(color_takes_no_columns, open_report, close_report),
        cmocka_unit_test_setup_teardown(what_is_good, open_report, close_report),
        cmocka_unit_test_setup_teardown(the_junit, open_report, close_report),
        cmocka_unit_test_setup_teardown(the_worst_node_is_first, open_report, close_report),
        cmocka_unit_test_setup_teardown(nodes_that_came_and_went, open_report, close_report),
        cmocka_unit_test_setup_teardown(the_metrics, open_report, close_report),
    };

    return cmocka_run_group_tests_name("cluster_report", tests, NULL, NULL);
}
