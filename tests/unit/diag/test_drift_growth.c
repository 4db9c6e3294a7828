/* What the comparison of HNS with Kubernetes costs grows as what is compared does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/scene/counted.h"
#include "tests/scene/large_cluster.h"

static size_t cost_of(size_t services, size_t nodes, size_t pods) {
    struct large_cluster cluster;
    struct drift_documents documents;
    struct drift_observed others;
    json_t *drift;
    size_t before;

    large_cluster_make(&cluster, services, nodes, pods);
    documents = large_cluster_documents(&cluster);
    others = large_cluster_others(&cluster);
    before = counted;
    drift = drift_documents_compare(&documents, &others);
    before = counted - before;
    assert_int_equal(json_object_size(drift), 0);
    json_decref(drift);
    large_cluster_free(&cluster);
    return before;
}

static void services_and_their_endpoints(void **state) {
    (void)state;
    assert_linear("Services", cost_of(FEW, 0, 0), cost_of(MANY, 0, 0));
}

static void nodes_and_their_routes(void **state) {
    (void)state;
    assert_linear("Nodes", cost_of(0, FEW, 0), cost_of(0, MANY, 0));
}

static void pods_of_the_node(void **state) {
    (void)state;
    assert_linear("pods", cost_of(0, 0, FEW), cost_of(0, 0, MANY));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(services_and_their_endpoints),
        cmocka_unit_test(nodes_and_their_routes),
        cmocka_unit_test(pods_of_the_node),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
