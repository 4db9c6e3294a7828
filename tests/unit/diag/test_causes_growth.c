/* What the causes of a cluster cost grows as its nodes do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "diag/cluster/causes/cluster_cause_rows.h"
#include "tests/scene/counted.h"
#include "tests/scene/large_report.h"

#ifdef __SANITIZE_ADDRESS__
COUNTED(bool, cluster_place_has,
        (const struct cluster_map *map, const struct cluster_place *place,
         const struct diag_cell *cell),
        (map, place, cell), 1)
COUNTED(bool, cluster_map_has,
        (const struct cluster_map *map, const struct cluster_row *row,
         const struct diag_cell *cell),
        (map, row, cell), 1)
#endif

/* All that is red is of nodes that nothing reaches. */
static size_t cost_of_causes(size_t count) {
    _cleanup_json_ json_t *nodes = large_nodes(count);
    struct diag_report report;
    size_t before;

    assert_int_equal(large_report_make(nodes, &report), 0);
    for (size_t i = 0; i < report.nodes.count; i++)
        freep(&report.nodes.items[i].local_ip); /* each has something to say of itself */
    before = counted;
    cluster_causes_find(&report);
    before = counted - before;
    assert_true(report.causes.count > 0);
    diag_report_free(&report);
    return before;
}

static size_t cost_of_cells(size_t count) {
    _cleanup_json_ json_t *nodes = large_nodes(count);
    struct diag_report report;
    size_t before = counted;

    assert_int_equal(large_report_make(nodes, &report), 0);
    diag_report_free(&report);
    return counted - before;
}

static void causes_of_a_cluster(void **state) {
    (void)state;
    assert_linear("nodes", cost_of_causes(FEW), cost_of_causes(MANY));
}

static void what_a_cluster_is_asked(void **state) {
    (void)state;
    assert_linear("nodes", cost_of_cells(FEW), cost_of_cells(MANY));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(causes_of_a_cluster),
        cmocka_unit_test(what_a_cluster_is_asked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
