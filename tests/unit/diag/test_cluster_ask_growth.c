/* What it costs to ask all nodes of a cluster: in proportion to them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"
#include "diag/cluster/probes/asking.h"
#include "diag/cluster/probes/dial.h"
#include "kube/client.h"
#include "tests/scene/large_api.h"

#include "tests/scene/counted_loops.h"

#include "diag/cluster/probes/asking.c"

static json_t *plain_node(size_t n) {
    return played_node(n, true, NULL);
}

static void all_nodes(void **state) {
    static const size_t sizes[] = {100, 1000};
    size_t costs[2], requests[2];

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
        struct cluster_options options = {.all = true};
        struct diag_report report = {0};
        struct error err = {0};
        json_t *grant = NULL;

        large_api_open(sizes[i], plain_node);
        turns = 0;
        assert_int_equal(cluster_run(&large.client, &options, &report, &grant, &err), 0);
        costs[i] = turns;
        requests[i] = http_memory_requests(large.http);
        assert_int_equal(report.nodes.count, sizes[i]);
        assert_int_equal(report.sample.of, 0);
        assert_int_equal(large.lists, (sizes[i] + LARGE_PAGE - 1) / LARGE_PAGE);
        assert_true(costs[i] > report.cells.count);
        diag_report_free(&report);
        large_api_close();
    }
    assert_true(requests[1] < 12 * requests[0]);
    if (costs[1] > costs[0] * 126 / 10) /* 10 to the power of 1.1 */
        fail_msg("%zu turns of loops for 100 nodes, %zu for 1000", costs[0], costs[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_nodes)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
