/* The reports of a cluster's diagnosis, word by word, and what a hostile cluster puts into them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "diag/cluster/cluster.h"

static struct cluster_report report;

static void add_node(const char *name, const char *os, const char *build, const char *waiting) {
    struct cluster_node *n = &report.nodes.items[report.nodes.count++];

    n->name = xstrdup(name);
    n->os = xstrdup(os);
    n->build = xstrdup(build);
    n->version = xstrdup("v1.37.1");
    n->waiting = waiting ? xstrdup(waiting) : NULL;
    n->pod_ip = xasprintf("10.244.%zu.2", report.nodes.count);
    n->client_ip = waiting ? NULL : xstrdup(n->pod_ip);
    n->service_ip = xstrdup("10.244.0.1");
    n->sticky = n->fixed = true;
}

static void add_cell(const char *flow, bool udp, size_t from, size_t to, enum diag_outcome outcome,
                     const char *reason) {
    struct cluster_cell *c = &report.cells.items[report.cells.count++];

    *c = (struct cluster_cell){.cell = {.flow = diag_flow_find(flow),
                                        .udp = udp,
                                        .family = 4,
                                        .asked = true,
                                        .outcome = outcome},
                               .from = from,
                               .to = to};
    (void)text_format(c->cell.from, sizeof c->cell.from, "%s", report.nodes.items[from].name);
    (void)text_format(c->cell.to, sizeof c->cell.to, "%s:8080", report.nodes.items[to].pod_ip);
    (void)text_format(c->cell.reason, sizeof c->cell.reason, "%s", reason);
}

static int open_report(void **state) {
    (void)state;
    report = (struct cluster_report){.server = xstrdup("https://10.0.0.10:6443"),
                                     .namespace_ = xstrdup("winjoin-diag-1"),
                                     .domain = xstrdup("cluster.local"),
                                     .time = 1795255204,
                                     .milliseconds = 15000,
                                     .start_ms = 2678,
                                     .requests = 41};
    report.nodes.items = xcalloc(4, sizeof *report.nodes.items);
    report.cells.items = xcalloc(8, sizeof *report.cells.items);
    add_node("win-1", "windows", "10.0.20348", NULL);
    add_node("win-2", "windows", "10.0.20348", NULL);
    add_node("lin-1", "linux", "", NULL);
    add_cell("pod-to-pod-ip", false, 0, 2, DIAG_PASS, "");
    add_cell("pod-to-pod-ip", false, 2, 0, DIAG_PASS, "");
    return 0;
}

static int close_report(void **state) {
    (void)state;
    cluster_report_free(&report);
    return 0;
}

static void assert_report(struct diag_text_style style, const char *wanted) {
    _cleanup_(freep) char *text = cluster_report_text(&report, &style);

    assert_string_equal(text, wanted);
}

#define HEAD "https://10.0.0.10:6443  2026-11-21T10:00:04Z  2 Windows and 1 Linux nodes\n"
#define SEEN                                                                                       \
    " pods are seen with their own address by pods; with another by\n"                             \
    "      Services; not by NodePorts with externalTrafficPolicy Local; session\n"                 \
    "      affinity holds\n"
#define END                                                                                        \
    "measured in 15.0 s after 2.6 s for the pods to start, with 41 requests to the\n"              \
    "API server; the namespace winjoin-diag-1 is deleted\n"

static void all_is_well(void **state) {
    (void)state;
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
    add_cell("pod-to-pod-ip", true, 0, 1, DIAG_FAIL, "no answer \x1b[31m");
    add_cell("pod-to-pod-name", true, 0, 1, DIAG_FAIL, "no answer \x1b[31m");
    add_cell("pod-to-pod-ip", false, 1, 1, DIAG_FAIL, "refused");
    add_cell("pod-to-service-ip", false, 3, 3, DIAG_NOT_RUN, "no probe runs there");
    add_cell("nodeport-remote", false, 2, 1, DIAG_FAIL, "timeout");
    report.nodes.items[0].sticky = report.nodes.items[1].sticky = false;
    report.left = true;
    report.causes = (struct diag_causes){xcalloc(1, sizeof *report.causes.items), 1};
    report.causes.items[0] = (struct diag_cause){.id = "CL-NOPOD",
                                                 .confirmed = true,
                                                 .message = xstrdup("win-3: no probe pod starts"),
                                                 .hint = xstrdup("look at its events")};
    text_list_add(&report.causes.items[0].evidence, "win-3: ImagePullBackOff");
    assert_report((struct diag_text_style){.columns = 72},
                  "https://10.0.0.10:6443  2026-11-21T10:00:04Z  3 Windows and 1 Linux\n  nodes\n"
                  "2 of 7 cells work, 4 nodes in 0 pairs\n\n"
                  "!!  CL-NOPOD  confirmed  win-3: no probe pod starts\n"
                  "    evidence  win-3: ImagePullBackOff\n"
                  "    do        look at its events\n"
                  "    see       docs/causes.md#cl-nopod\n\n"
                  "!!  win-2 (windows 10.0.20348, v1.37.1): 4 of its 5 cells do not work\n"
                  "    win-1 -> win-2  pod-to-pod-ip TCP UDP, pod-to-pod-name UDP: no\n"
                  "      answer \\x1b[31m\n"
                  "    win-2  pod-to-pod-ip TCP: refused\n"
                  "??  win-3 (windows 10.0.26100): no probe runs there: ImagePullBackOff\n"
                  "ok  win-1: fails only with the nodes above\n"
                  "ok  lin-1: every flow works\n\n"
                  "    linux pods are seen with their own address by pods; with another by\n"
                  "      Services; not by NodePorts with externalTrafficPolicy Local;\n"
                  "      session affinity holds\n"
                  "measured in 15.0 s after 2.6 s for the pods to start, with 41 requests\n"
                  "to the API server; the namespace winjoin-diag-1 could not be deleted:\n"
                  "use kubectl delete namespace\n");
}

static size_t count_of(const char *text, const char *word) {
    size_t n = 0;
    for (; (text = strstr(text, word)); text++)
        n++;
    return n;
}

/* No more than 24 names, 12 kinds of red cells and eight red nodes are shown; the rest is counted.
 */
static void many_are_counted(void **state) {
    _cleanup_(freep) char *text = NULL, *all = NULL;

    (void)state;
    cluster_nodes_free(&report.nodes);
    free(report.cells.items);
    report.nodes = (struct cluster_nodes){.items = xcalloc(30, sizeof *report.nodes.items)};
    report.cells = (struct cluster_cells){.items = xcalloc(30, sizeof *report.cells.items)};
    for (unsigned i = 0; i < 30; i++) {
        _cleanup_(freep) char *name = xasprintf("n%u", i);
        add_node(name, "linux", "", NULL);
    }
    for (size_t i = 0; i < 14; i++) {
        _cleanup_(freep) char *why = xasprintf("timeout %zu", i);
        add_cell("pod-to-pod-ip", false, 29, 29, DIAG_FAIL, why);
    }
    text = cluster_report_text(&report, &(struct diag_text_style){.utf8 = true, .color = true});
    assert_non_null(strstr(text, "\x1b[32m\xe2\x9c\x93\x1b[0m   n0, n1,"));
    assert_non_null(strstr(text, " n23 and 5 more: every"));
    assert_null(strstr(text, "n24"));
    assert_non_null(strstr(text, "\x1b[31m\xe2\x9c\x97\x1b[0m   n29 ("));
    assert_non_null(strstr(text, "    and 2 more (-o json has all)\n"));
    assert_int_equal(count_of(text, "timeout"), 12);
    report.cells.count = 12;
    all = cluster_report_text(&report, &(struct diag_text_style){0});
    assert_int_equal(count_of(all, "timeout"), 12);
    assert_null(strstr(all, " more (-o json"));
    report.cells.count = 0;
    for (size_t i = 0; i < 11; i++)
        add_cell("pod-to-pod-ip", false, 2 * i, 2 * i, DIAG_FAIL, "timeout");
    free(take_ptr(all));
    all = cluster_report_text(&report, &(struct diag_text_style){0});
    assert_int_equal(count_of(all, "\n!!  "), 9);
    assert_non_null(strstr(all, "\n!!  n16, n18, n20: do not work either (-o json has all)\n"));
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
    page = cluster_report_html(&report);
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
        if (!strstr(page, parts[i]))
            fail_msg("no '%s' in\n%s", parts[i], page);
    assert_null(strstr(page, "<b>"));
    assert_null(strstr(page, "<script"));
    assert_int_equal(count_of(page, "<table"), count_of(page, "</table>"));
    assert_int_equal(count_of(page, "<tbody"), count_of(page, "</tbody>"));
}

/* A node's own cell counts once, as one between two nodes does for each of them. */
static void the_worst_node_is_first(void **state) {
    _cleanup_(freep) char *text = NULL;
    const char *first, *other;

    (void)state;
    add_cell("pod-to-pod-ip", false, 0, 1, DIAG_FAIL, "timeout");
    add_cell("pod-to-pod-ip", false, 2, 2, DIAG_FAIL, "refused");
    text = cluster_report_text(&report, &(struct diag_text_style){0});
    first = strstr(text, "!!  win-1 (");
    other = strstr(text, "!!  lin-1 (");
    assert_true(first && other && first < other);
    assert_non_null(strstr(text, "ok  win-2: fails only with the nodes above"));
}

static void nodes_that_came_and_went(void **state) {
    struct cluster_report old = report;
    _cleanup_json_ json_t *compared = NULL;

    open_report(state);
    free(report.nodes.items[0].name);
    report.nodes.items[0].name = xstrdup("win-9");
    compared = cluster_report_compare(&old, &report);
    assert_int_equal(json_array_size(json_at(compared, "nodesNew")), 1);
    assert_int_equal(json_array_size(json_at(compared, "nodesGone")), 1);
    assert_string_equal(json_text_at(compared, "nodesNew.0"), "win-9");
    assert_string_equal(json_text_at(compared, "nodesGone.0"), "win-1");
    cluster_report_free(&old);
}

/* A red cell makes both of its nodes red; an extra that fails does not. */
static void the_metrics(void **state) {
    static const char wanted[] =
        "winjoin_diag_node_up{server=\"https://10.0.0.10:6443\",node=\"win-1\"} 0\n"
        "winjoin_diag_node_up{server=\"https://10.0.0.10:6443\",node=\"win-2\"} 0\n"
        "winjoin_diag_node_up{server=\"https://10.0.0.10:6443\",node=\"lin-1\"} 1\n";
    static const char *const lines[] = {
        "winjoin_diag_up{server=\"https://10.0.0.10:6443\"} 0\n",
        "winjoin_diag_duration_seconds{server=\"https://10.0.0.10:6443\"} 15\n",
        "winjoin_diag_requests{server=\"https://10.0.0.10:6443\"} 41\n",
        "winjoin_diag_cluster_cells{server=\"https://10.0.0.10:6443\",flow=\"pod-to-pod-ip\","
        "protocol=\"TCP\"} 3\n",
        "winjoin_diag_cluster_cells{server=\"https://10.0.0.10:6443\",flow=\"pod-to-pod-ip\","
        "protocol=\"UDP\"} 1\n",
        "winjoin_diag_cluster_cells_passed{server=\"https://"
        "10.0.0.10:6443\",flow=\"pod-to-pod-ip\","
        "protocol=\"TCP\"} 2\n",
        "winjoin_diag_cluster_cells_passed{server=\"https://"
        "10.0.0.10:6443\",flow=\"pod-to-pod-ip\","
        "protocol=\"UDP\"} 1\n",
    };
    _cleanup_(freep) char *text = NULL;

    (void)state;
    add_cell("pod-to-pod-ip", false, 0, 1, DIAG_FAIL, "timeout");
    add_cell("pod-to-pod-ip", true, 0, 1, DIAG_SLOW, "");
    add_cell("nodeport-remote", false, 0, 2, DIAG_FAIL, "timeout");
    text = cluster_report_metrics(&report);
    assert_non_null(strstr(text, wanted));
    for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
        if (!strstr(text, lines[i]))
            fail_msg("no %s in\n%s", lines[i], text);
    assert_null(strstr(text, "winjoin_diag_cause"));
}

/* The cause before the matrix; of many nodes first the few that something red touches. */
static void the_page_of_many_nodes(void **state) {
    _cleanup_(freep) char *page = NULL;
    const char *cause, *few, *all;

    (void)state;
    free(report.nodes.items[2].name);
    report.nodes.items = xrealloc(report.nodes.items, 40 * sizeof *report.nodes.items);
    memset(report.nodes.items + 3, 0, 37 * sizeof *report.nodes.items);
    report.nodes.items[2].name = xstrdup("lin-1");
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
    page = cluster_report_html(&report);
    cause = strstr(page, "<h2>CL-X");
    few = strstr(page, "<div class=\"matrix\"");
    all = strstr(page, "<details><summary>All 30 nodes</summary>\n<div class=\"matrix many\"");
    assert_true(cause && few && all && cause < few && few < all);
    assert_int_equal(count_of(page, "<th scope=\"row\" title=\"win-1\">"), 2);
    assert_int_equal(count_of(page, "title=\"other\">"), 2 * 27); /* rows and columns of all */
    assert_non_null(strstr(page, "cell-4, cell-5 and 8 more</p>"));
    assert_null(strstr(page, "cell-6"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_is_well, open_report, close_report),
        cmocka_unit_test_setup_teardown(some_is_red, open_report, close_report),
        cmocka_unit_test_setup_teardown(many_are_counted, open_report, close_report),
        cmocka_unit_test_setup_teardown(the_table_while_it_runs, open_report, close_report),
        cmocka_unit_test_setup_teardown(the_page, open_report, close_report),
        cmocka_unit_test_setup_teardown(the_worst_node_is_first, open_report, close_report),
        cmocka_unit_test_setup_teardown(nodes_that_came_and_went, open_report, close_report),
        cmocka_unit_test_setup_teardown(the_metrics, open_report, close_report),
        cmocka_unit_test_setup_teardown(the_page_of_many_nodes, open_report, close_report),
    };

    return cmocka_run_group_tests_name("cluster_report", tests, NULL, NULL);
}
