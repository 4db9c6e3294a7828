/* More pairs beside one that fails, where not each node is asked to reach each. */
#include "tests/scene/cluster_scene.h"

enum { RING = NODES_MANY + 1 }; /* and one of a Linux node to the other one */

static const char *const red = "{\"errors\":[\"dial tcp: i/o timeout\"]}";

static bool is_from_first(const struct dial *d) {
    return d->from == 1 && text_starts_with(d->host, "10.244.") &&
           !text_starts_with(d->host, "10.244.1.") && !text_equal(d->request, "clientip");
}

static bool to_second(const struct dial *d, long *ret_status, const char **ret_body) {
    (void)ret_status;
    *ret_body = red;
    return is_from_first(d) && text_equal(d->host, "10.244.2.5");
}

static bool to_all(const struct dial *d, long *ret_status, const char **ret_body) {
    (void)ret_status;
    *ret_body = red;
    return is_from_first(d);
}

/* The cell of that pair; NULL: it was not asked. */
static const struct diag_cell *asked(size_t from, size_t to) {
    for (size_t i = 0; i < c.report.cells.count; i++) {
        const struct diag_cell *cell = &c.report.cells.items[i];

        if (cell->from_node == from && cell->to_node == to && cell->flow->id == FLOW_POD_IP &&
            !cell->udp)
            return cell;
    }
    return NULL;
}

static void where_all_is_well(void **state) {
    struct error err;

    (void)state;
    c.nodes = NODES_MANY;
    assert_int_equal(diagnose(&err), 0);
    assert_int_equal(c.report.pairs.count, RING);
    assert_null(asked(1, 0));
}

/* Back, the first node to others and others to the second: each well at once; and the first to the
 * one that reaches it. */
static void beside_a_pair(void **state) {
    struct error err;

    (void)state;
    c.nodes = NODES_MANY;
    c.dialed = to_second;
    assert_int_equal(diagnose(&err), 0);
    assert_int_equal(c.report.pairs.count, RING + 6);
    assert_int_equal(asked(1, 0)->result.attempts, 1);
    assert_int_equal(asked(1, 0)->outcome, DIAG_PASS);
    assert_int_equal(c.report.causes.count, 1);
    assert_string_equal(c.report.causes.items[0].id, "CL-PAIR");
    assert_non_null(strstr(c.report.causes.items[0].message, "win-1 to win-2"));
}

/* What fails of these, too, brings more once. */
static void twice(void **state) {
    struct error err;

    (void)state;
    c.nodes = NODES_MANY;
    c.dialed = to_all;
    assert_int_equal(diagnose(&err), 0);
    assert_int_equal(c.report.pairs.count, RING + 18);
    assert_string_equal(c.report.causes.items[0].id, "CL-NODE-OUT");
}

static unsigned large; /* questions of a new pair in its first round */
static uint64_t first_ms;
static bool counts_large(const struct dial *d, long *ret_status, const char **ret_body) {
    bool is_new = d->from == 2 && text_equal(d->host, "10.244.1.5") && d->large && !d->udp;

    first_ms = is_new && !first_ms ? host_monotonic_ms(c.host) : first_ms;
    large += is_new && host_monotonic_ms(c.host) - first_ms < 500;
    return to_second(d, ret_status, ret_body);
}

/* A new pair may have no other round: what large packets it loses by chance is seen in one. */
static void large_ones_often(void **state) {
    struct error err;

    (void)state;
    large = 0;
    first_ms = 0;
    c.nodes = NODES_MANY;
    c.dialed = counts_large;
    assert_int_equal(diagnose(&err), 0);
    assert_int_equal(asked(1, 0)->large, LARGE_ARRIVE);
    assert_int_equal(large, 6 + 2); /* and the way there */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(where_all_is_well, open_cluster, close_cluster),
        cmocka_unit_test_setup_teardown(beside_a_pair, open_cluster, close_cluster),
        cmocka_unit_test_setup_teardown(twice, open_cluster, close_cluster),
        cmocka_unit_test_setup_teardown(large_ones_often, open_cluster, close_cluster),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
