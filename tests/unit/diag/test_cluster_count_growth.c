/* What it costs to ask each cell of all nodes many times, and to tell it where they are asked by
 * exec: in proportion to the nodes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/rfc3339.h"
#include "diag/cluster/probes/asking.h"
#include "diag/cluster/probes/dial.h"
#include "diag/reports/form_parts.h"
#include "kube/client.h"
#include "tests/scene/large_api.h"

#include "tests/scene/counted_loops.h"

#include "diag/cluster/probes/count.c"

#include "diag/reports/text_cluster.c"

static json_t *plain_node(size_t n) {
    return played_node(n, true, NULL);
}

/* Turns of loops for so many nodes. */
static size_t cost_of(size_t nodes, bool by_exec) {
    struct cluster_options options = {.all = true, .count = 2};
    struct diag_report report = {0};
    struct error err = {0};
    json_t *grant = NULL;
    char *text;

    large_api_open(nodes, plain_node);
    turns = 0;
    assert_int_equal(cluster_run(&large.client, &options, &report, &grant, &err), 0);
    for (size_t i = 0; i < nodes; i++)
        report.nodes.items[i].by_exec = by_exec;
    text = diag_report_text(&report, &(struct diag_text_style){0});
    assert_int_equal(strstr(text, "asked by exec") != NULL, by_exec);
    assert_true(turns > report.cells.count);
    free(text);
    diag_report_free(&report);
    large_api_close();
    return turns;
}

static void all_nodes(void **state) {
    (void)state;
    for (int by_exec = 0; by_exec < 2; by_exec++) {
        size_t few = cost_of(30, by_exec), many = cost_of(300, by_exec);

        if (many > few * 126 / 10) /* 10 to the power of 1.1 */
            fail_msg("%zu turns of loops for 30 nodes, %zu for 300", few, many);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_nodes)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
