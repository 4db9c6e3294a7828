/* The page of a cluster's report: its matrix, what is red and why, and what a hostile cluster puts
 * into it. */
#include "tests/scene/cluster_report_scene.h"

/* Of all flows of a pair the worst; each red one is listed under its pair, with its cause. */
static void the_worst_of_a_pair(void **state) {
    static const struct {
        const char *flow;
        enum diag_outcome first, second;
        const char *shown; /* from win-1 to win-2 */
        unsigned reds;
    } rows[] = {
#define RED(outcome, text) "<td class=\"" outcome "\"><a href=\"#red-1-2\">" text "</a></td>"
        {"pod-to-pod-ip", DIAG_PASS, DIAG_FAIL, RED("fail", "fail"), 1},
        {"pod-to-pod-ip", DIAG_FAIL, DIAG_PASS, RED("fail", "fail"), 1},
        {"pod-to-pod-ip", DIAG_FAIL, DIAG_NOT_RUN, RED("fail", "fail"), 2},
        {"pod-to-pod-ip", DIAG_NOT_RUN, DIAG_FAIL, RED("fail", "fail"), 2},
        {"pod-to-pod-ip", DIAG_NOT_RUN, DIAG_PASS, RED("not-run", "?"), 1},
        {"pod-to-pod-ip", DIAG_PASS, DIAG_NOT_RUN, RED("not-run", "?"), 1},
        {"pod-to-pod-ip", DIAG_PASS, DIAG_PASS, "<td class=\"pass\">ok</td>", 0},
        {"nodeport-remote", DIAG_FAIL, DIAG_PASS, "<td class=\"pass\">ok</td>", 1},
    };

    (void)state;
    add_cell("pod-to-pod-ip", false, 0, 1, DIAG_PASS, "why");
    add_cell("pod-to-pod-ip", true, 0, 1, DIAG_PASS, "why");
    report.causes = (struct diag_causes){xcalloc(1, sizeof *report.causes.items), 1};
    report.causes.items[0] =
        (struct diag_cause){.id = "CL-X", .message = xstrdup("m"), .hint = xstrdup("h")};
    text_list_add(&report.causes.items[0].cells, "pod-to-pod-ip/udp win-1 -> win-2");
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *page = NULL, *wanted = NULL;
        bool udp_red = rows[i].second == DIAG_FAIL || rows[i].second == DIAG_NOT_RUN;

        report.cells.items[2].flow = diag_flow_find(rows[i].flow);
        report.cells.items[2].outcome = rows[i].first;
        report.cells.items[3].outcome = rows[i].second;
        page = diag_report_html(&report);
        wanted = xasprintf("title=\"win-1\">win-1</th><td></td>%s<td class=\"pass\">ok</td></tr>",
                           rows[i].shown);
        if (!strstr(page, wanted))
            fail_msg("row %zu has no '%s'", i, wanted);
        assert_int_equal(count_of(page, "</td><td>why"), rows[i].reds);
        assert_int_equal(count_of(page, "<tr id=\"red-1-2\">"), rows[i].reds > 0);
        assert_int_equal(count_of(page, "<h2>What does not work</h2>"), rows[i].reds > 0);
        assert_int_equal(count_of(page, "why <a href=\"#CL-X\">CL-X</a>"), udp_red);
        assert_int_equal(count_of(page, "--nodes win-1,win-2</code>"), rows[i].reds > 0);
    }
}

/* Each pair that is red has an arrow to its cells; nodes without one share a line where there are
 * many, and of many arrows there is one for each pair of kinds. */
static void a_picture_of_the_nodes(void **state) {
    static const struct {
        size_t nodes, reds;
        const char *shown[4];
    } rows[] = {
        {3,
         0,
         {"<title id=\"picture\">Nodes by kind</title>", ">nothing fails</text>", ">lin-1</text>"}},
        {3,
         1,
         {"<a href=\"#red-1-3\"><g role=\"img\" class=\"fail\" aria-label=\"win-1 to lin-1: 1 of 1 "
          "fail\">",
          "<a href=\"#red-2-2\"><g role=\"img\" class=\"not-run\" aria-label=\"win-2 to win-2: 1 "
          "of 1 not "
          "measured\"><path d=\"M256 76L486 76h9\"/>"}},
        {13,
         1,
         {">win-1</text>", ">lin-1</text>", ">10 nodes</text>",
          "=\"win-1 to lin-1: 1 of 1 fail\""}},
        {28, 23, {">win-1</text>", "=\"win-1 to x24: 1 of 1 fail\""}},
        {28,
         24,
         {">2 nodes</text>", ">26 nodes</text>", "<a href=\"#red-1-4\"><g",
          "=\"2 nodes of windows 10.0.20348 v1.37  to 26 nodes of linux v1.37 : 23 of 24 fail\""}},
        {65, 0, {">x64</text>"}},
        {66, 0, {NULL}}, /* 65 kinds: more than fit */
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *page = NULL;

        close_report(state);
        open_report(state);
        while (report.nodes.count < rows[i].nodes) {
            _cleanup_(freep) char *name = xasprintf("x%zu", report.nodes.count);

            add_node(name, "linux", rows[i].nodes > 64 ? name : "", NULL); /* kinds */
        }
        for (size_t k = 0; k < rows[i].reds; k++)
            add_cell("pod-to-pod-ip", true, 0, 2 + k,
                     k || rows[i].reds < 24 ? DIAG_FAIL : DIAG_NOT_RUN, "why");
        if (rows[i].reds)
            add_cell("pod-to-pod-ip", true, 1, 1, DIAG_NOT_RUN, "why");
        page = diag_report_html(&report);
        assert_int_equal(count_of(page, "<svg"), rows[i].shown[0] != NULL);
        for (size_t k = 0; k < ARRAY_SIZE(rows[i].shown) && rows[i].shown[k]; k++)
            if (!strstr(page, rows[i].shown[k]))
                fail_msg("row %zu has no '%s'; arrows: %.700s", i, rows[i].shown[k],
                         strstr(page, "<a href=\"#red"));
        assert_int_equal(count_of(page, "<g role=\"img\""), !rows[i].reds ? 0
                                                            : rows[i].reds == 24
                                                                ? 2
                                                                : rows[i].reds + 1);
    }
}

/* Words that would be wider than their box are narrowed. */
static void a_long_name_stays_in_its_box(void **state) {
    _cleanup_(freep) char *page = NULL;

    (void)state;
    add_node("a-name-of-thirty-two-columns.abc", "linux", "", NULL);
    add_node("a-name-of-thirty-three-columns.ab", "linux", "", NULL);
    page = diag_report_html(&report);
    assert_int_equal(count_of(page, "\">a-name-of-thirty-two-columns.abc</text>"), 2);
    assert_int_equal(count_of(page, "textLength="), 2);
    assert_int_equal(count_of(page, " textLength=\"224\" lengthAdjust=\"spacingAndGlyphs\">"
                                    "a-name-of-thirty-three-columns.ab</text>"),
                     2);
}

/* Nine columns and more have numbers; of more than 24 nodes all are folded away. */
static void the_page_by_size(void **state) {
    static const struct {
        size_t nodes;
        bool red, named, folded;
    } rows[] = {{8, false, true, false},
                {9, false, false, false},
                {24, true, false, false},
                {25, false, false, true},
                {26, true, false, true}};

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *page = NULL, *column = NULL, *row = NULL;

        close_report(state);
        open_report(state);
        while (report.nodes.count < rows[i].nodes)
            add_node("other", "linux", "", NULL);
        if (rows[i].red)
            for (size_t to = 2; to <= 7; to += 5) /* another node, and itself */
                add_cell("pod-to-pod-ip", false, 7, to, DIAG_NOT_RUN, "why");
        page = diag_report_html(&report);
        column =
            xasprintf("<th scope=\"col\" title=\"lin-1\">%s</th>", rows[i].named ? "lin-1" : "3");
        row =
            xasprintf("<th scope=\"row\" title=\"other\">%sother</th>", rows[i].named ? "" : "8 ");
        assert_non_null(strstr(page, "<h1>Pod network of https://10.0.0.10:6443</h1>\n<p>2 of "));
        assert_non_null(strstr(page, ", measured 2026-11-21T10:00:04Z in 600.5 s.</p>\n"));
        assert_non_null(strstr(page, column));
        assert_non_null(strstr(page, row));
        assert_int_equal(count_of(page, "<details"), rows[i].folded);
        assert_int_equal(count_of(page, "</details>"), rows[i].folded);
        assert_int_equal(count_of(page, "matrix many"), rows[i].folded);
        assert_int_equal(count_of(page, "<div class=\"matrix"),
                         1 + (rows[i].folded && rows[i].red));
        assert_int_equal(count_of(page, "<tr id=\"red-8-8\">"), rows[i].red);
        assert_int_equal(count_of(page, "--nodes other</code>"), rows[i].red);
        assert_int_equal(count_of(page, "--nodes other,lin-1</code>"), rows[i].red);
        assert_int_equal(count_of(page, "<th scope=\"row\" title=\"lin-1\">"),
                         1 + (rows[i].folded && rows[i].red));
        assert_true(text_ends_with(page, "</main></body></html>\n"));
    }
}

/* What a page shows is what the cluster says, and never more. */
static void the_page(void **state) {
    static const char *const parts[] = {
        "<td class=\"fail\"><a href=\"#red-1-2\">fail</a></td><td class=\"pass\">ok</td></tr>",
        "<th scope=\"row\" "
        "title=\"&lt;b&gt;&quot;&amp;\">&lt;b&gt;&quot;&amp;</th><td></td><td></td><td></td></tr>",
        "<th scope=\"row\" title=\"lin-1\">lin-1</th><td "
        "class=\"pass\">ok</td><td></td><td></td></tr>\n</tbody>",
        "<tr id=\"red-1-2\"><td class=\"fail\">fail</td><td>pod-to-pod-ip TCP</td>"
        "<td>win-1 &rarr; 10.244.2.2:8080</td><td>&lt;script&gt;</td></tr>\n",
        "<code>winjoin diag --kubeconfig FILE --nodes win-1,&lt;b&gt;&quot;&amp;</code>",
    };
    _cleanup_(freep) char *page = NULL;

    (void)state;
    free(report.nodes.items[1].name);
    report.nodes.items[1].name = xstrdup("<b>\"&");
    add_cell("pod-to-pod-ip", false, 0, 1, DIAG_FAIL, "<script>");
    page = diag_report_html(&report);
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
        if (!strstr(page, parts[i]))
            fail_msg("no '%s' in\n%s", parts[i], page);
    assert_null(strstr(page, "<b>"));
    assert_null(strstr(page, "<script"));
    assert_int_equal(count_of(page, "<table"), count_of(page, "</table>"));
    assert_int_equal(count_of(page, "<tbody"), count_of(page, "</tbody>"));
}

/* The cause before the matrix, what does not work after it; of many nodes first the few that
 * something red touches. */
static void the_page_of_many_nodes(void **state) {
    _cleanup_(freep) char *page = NULL;
    const char *cause, *few, *all, *reds;

    (void)state;
    while (report.nodes.count < 30)
        add_node("other", "linux", "", NULL);
    add_cell("pod-to-pod-ip", false, 0, 1, DIAG_FAIL, "timeout");
    report.causes = (struct diag_causes){xcalloc(1, sizeof *report.causes.items), 1};
    report.causes.items[0] =
        (struct diag_cause){.id = "CL-X", .message = xstrdup("m"), .hint = xstrdup("h")};
    for (unsigned i = 0; i < 14; i++) {
        _cleanup_(freep) char *name = xasprintf("cell-%u", i);
        text_list_add(&report.causes.items[0].cells, name);
    }
    page = diag_report_html(&report);
    cause = strstr(page, "<h2>CL-X");
    few = strstr(page, "<div class=\"matrix\"");
    all = strstr(page, "<details><summary>All 30 nodes</summary>\n<div class=\"matrix many\"");
    reds = strstr(page, "<h2>What does not work</h2>");
    assert_true(cause && few && all && reds && cause < few && few < all && all < reds);
    assert_int_equal(count_of(page, "<th scope=\"row\" title=\"win-1\">"), 2);
    assert_int_equal(count_of(page, "title=\"other\">"), 2 * 27); /* rows and columns of all */
    assert_non_null(strstr(page, "cell-4, cell-5 and 8 more</p>"));
    assert_null(strstr(page, "cell-6"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_page, open_report, close_report),
        cmocka_unit_test_setup_teardown(the_worst_of_a_pair, open_report, close_report),
        cmocka_unit_test_setup_teardown(a_picture_of_the_nodes, open_report, close_report),
        cmocka_unit_test_setup_teardown(a_long_name_stays_in_its_box, open_report, close_report),
        cmocka_unit_test_setup_teardown(the_page_by_size, open_report, close_report),
        cmocka_unit_test_setup_teardown(the_page_of_many_nodes, open_report, close_report),
    };

    return cmocka_run_group_tests_name("a cluster's page", tests, NULL, NULL);
}
