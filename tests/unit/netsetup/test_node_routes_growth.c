/* What a look at the routes to other nodes' pods costs grows as their number does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "host/host.h"
#include "netsetup/routes/routes.h"
#include "tests/memory/host_memory.h"
#include "tests/scene/counted.h"

static struct pod_route *routes_of(size_t count) {
    struct pod_route *routes = xcalloc(count, sizeof *routes);

    for (size_t i = 0; i < count; i++) {
        assert_int_equal(text_format(routes[i].pod_cidr, CIDR_TEXT_MAX, "10.%u.%u.0/24",
                                     (unsigned)(128 + i / 256), (unsigned)(i % 256)),
                         0);
        assert_int_equal(text_format(routes[i].node_address, IP_TEXT_MAX, "10.0.%u.%u",
                                     (unsigned)(i / 250), (unsigned)(2 + i % 250)),
                         0);
    }
    return routes;
}

/* All of them stand already. */
static size_t cost_of_routes(size_t count) {
    struct host *host = host_memory_new();
    _cleanup_(freep) struct pod_route *routes = routes_of(count);
    size_t changed = 1, before;

    assert_int_equal(pod_routes_ensure(host, "10.0.0.21", routes, count, NULL, NULL), 0);
    before = counted;
    assert_int_equal(pod_routes_ensure(host, "10.0.0.21", routes, count, &changed, NULL), 0);
    before = counted - before;
    assert_int_equal(changed, 0);
    host_free(host);
    return before;
}

/* Half of them are among as many others. */
static size_t cost_of_lists(size_t count) {
    _cleanup_json_ json_t *a = json_array(), *b = json_array(), *rest = NULL;
    size_t before;

    for (size_t i = 0; i < count; i++) {
        json_array_append_new(a, json_pack("{s:i, s:s}", "n", (int)i, "s", "x"));
        json_array_append_new(b, json_pack("{s:s, s:i}", "s", "x", "n", (int)(i + count / 2)));
    }
    before = counted;
    rest = json_array_without(a, b, NULL);
    before = counted - before;
    assert_int_equal(json_array_size(rest), count / 2);
    return before;
}

static void routes_that_stand(void **state) {
    (void)state;
    assert_linear("routes", cost_of_routes(FEW), cost_of_routes(MANY));
}

static void lists_compared(void **state) {
    (void)state;
    assert_linear("items", cost_of_lists(FEW), cost_of_lists(MANY));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(routes_that_stand),
        cmocka_unit_test(lists_compared),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
