/* The routes between this node's pods and other nodes' that a join leaves. */
#include "netsetup/nic/nic.h"
#include "node/chosen.h"
#include "tests/scene/join_scene.h"

/* Whether the host, or HNS, leads to that prefix. */
static bool has_route(struct run *r, const char *prefix) {
    _cleanup_(freep) char *routes = json_write(host_memory_at(r->host, "routes"));
    _cleanup_(freep) char *networks = json_write(host_memory_at(r->host, "hns.networks"));

    return strstr(routes, prefix) || strstr(networks, prefix);
}

static void join_beside(struct run *r, const char *mode, const char *node) {
    struct error err = {0};

    r->scene.other_node = node;
    set_options(r, mode);
    if (join_once(r, &err) < 0)
        fail_msg("%s: %s", node, err.message);
}

static void listen_to_warnings(void *context, const struct join_event *event) {
    if (event->state == JOIN_WARNING)
        text_addf(context, "%s\n", event->message);
}

/* A node that left the cluster: HNS loses its route at the next join, the host at the reset. */
static void routes_follow_the_nodes(void **state) {
    static const char *const modes[] = {"overlay", "l2bridge"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
        struct error err = {0};
        json_t *before, *after;
        struct run r;

        open_run(&r, modes[i]);
        before = state_of(&r);
        join_beside(&r, modes[i], "10.244.7.0/24 10.0.0.77");
        assert_true(has_route(&r, "10.244.7.0/24"));
        join_beside(&r, modes[i], "10.244.8.0/24 10.0.0.78");
        assert_true(has_route(&r, "10.244.8.0/24"));
        assert_int_equal(has_route(&r, "10.244.7.0/24"), text_equal(modes[i], "l2bridge"));
        assert_int_equal(reset_once(&r, &err), 0);
        after = state_of(&r);
        assert_same(before, after, modes[i]);
        json_decref(before);
        json_decref(after);
        close_run(&r);
    }
}

static size_t late_routes;

/* winjoin-network, which still runs, writes a route while a reset undoes the join. */
static void on_entry(void *context, const char *what, const char *how, const struct error *why) {
    struct host_route route = {.destination = "10.244.9.0/24", .next_hop = "10.0.0.79"};
    _cleanup_(chosen_free) struct chosen chosen = {0};
    _cleanup_json_ json_t *routes =
        json_pack("[{s:s, s:s}]", "podCIDR", route.destination, "nodeAddress", route.next_hop);
    _cleanup_(host_service_free) struct host_service service = {0};
    struct run *r = context;

    (void)what, (void)how, (void)why;
    if (has_route(r, route.destination) ||
        host_service_query(r->host, "winjoin-network", &service, NULL) < 0 ||
        chosen_load(r->host, &chosen, NULL) < 0)
        return;
    if (nic_index_of(r->host, "10.0.0.21", &route.interface_index, NULL) == 0 &&
        chosen_routes_write(r->host, &chosen, routes, NULL) == 0 &&
        host_route_add(r->host, &route, NULL) == 0)
        late_routes++;
}

/* Windows then keeps an adapter's routes when the virtual switch goes. */
static void use_dhcp(struct run *r) {
    struct host_adapters adapters = {0};

    assert_int_equal(host_adapters(r->host, &adapters, NULL), 0);
    for (size_t i = 0; i < adapters.count; i++)
        adapters.items[i].dhcp = true;
    host_memory_set_adapters(r->host, &adapters);
    host_adapters_free(&adapters);
}

/* The n-th call of the reset kills it, and the next one ends it; false: it has fewer calls. */
static bool is_killed_at(size_t n) {
    struct error err = {0};
    struct reset_options options = {.progress = on_entry};
    struct reset_result result;
    struct run r;
    bool killed;

    open_run(&r, "l2bridge");
    use_dhcp(&r);
    join_beside(&r, "l2bridge", "10.244.7.0/24 10.0.0.77");
    options.progress_context = &r;
    host_memory_die(r.host, n);
    killed = reset_run(r.host, &options, &result, &err) < 0;
    host_memory_die(r.host, 0);
    err = (struct error){0};
    options.progress = NULL;
    if (killed && reset_run(r.host, &options, &result, &err) < 0)
        fail_msg("killed at call %zu: %s", n, err.message);
    if (has_route(&r, "10.244.7.0/24") || has_route(&r, "10.244.9.0/24"))
        fail_msg("killed at call %zu: a route is left", n);
    close_run(&r);
    return killed;
}

static void routes_written_while_a_reset_runs(void **state) {
    (void)state;
    late_routes = 0;
    for (size_t n = 1; is_killed_at(n); n += (next_call() + 1) / 2)
        ;
    assert_true(late_routes);
}

/* What an earlier join wrote goes; the network's routes are printed, this node's own among them. */
static void routes_that_the_network_has(void **state) {
    static const char *const kinds[] = {"none", "print"};
    struct error err = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        _cleanup_(freep) char *next = NULL;
        json_t *before, *after;
        struct join join;
        struct run r;

        open_run(&r, "l2bridge");
        before = state_of(&r);
        join_beside(&r, "l2bridge", "10.244.7.0/24 10.0.0.77");
        assert_true(has_route(&r, "10.244.7.0/24"));
        set_options(&r, NULL);
        r.options.routes = xstrdup(kinds[i]);
        open_join(&r, &join);
        if (join_run(&join, &err) < 0)
            fail_msg("%s", err.message);
        assert_false(has_route(&r, "10.244.7.0/24"));
        next = text_list_join(&join.progress.next, "|");
        if (i == 0)
            assert_string_equal(next, "");
        else
            assert_non_null(strstr(next,
                                   "|the same for az:\naz network route-table route create "
                                   "--resource-group RESOURCE_GROUP --route-table-name ROUTE_TABLE "
                                   "--name pods-10-244-7-0-24 --address-prefix 10.244.7.0/24 "
                                   "--next-hop-type VirtualAppliance --next-hop-ip-address "
                                   "10.0.0.77\n"));
        if (i == 1)
            assert_non_null(strstr(next, "the network between the nodes needs these routes:\n"));
        if (i == 1)
            assert_non_null(strstr(next, "\n10.244.3.0/24 via 10.0.0.21 (node win-7k2)\n"));
        join_close(&join);
        set_options(&r, NULL); /* what was chosen holds on */
        if (join_once(&r, &err) < 0)
            fail_msg("%s", err.message);
        assert_false(has_route(&r, "10.244.7.0/24"));
        assert_int_equal(reset_once(&r, &err), 0);
        after = state_of(&r);
        assert_same(before, after, kinds[i]);
        json_decref(before);
        json_decref(after);
        close_run(&r);
    }
}

static bool has_failed;

static int answer_but_nodes(void *context, const struct http_request *request,
                            struct http_response *ret, struct error *err) {
    if (!strstr(request->url, "/api/v1/nodes?limit"))
        return scene_answer(context, request, ret, err);
    has_failed = true;
    return scene_status(ret, 404, "NotFound");
}

/* Neither what an earlier join wrote nor what the network needs may be left open. */
static void routes_of_the_network_that_fail(void **state) {
    struct error err = {0};
    struct run r;

    (void)state;
    open_run(&r, "l2bridge");
    join_beside(&r, "l2bridge", "10.244.7.0/24 10.0.0.77");
    set_options(&r, NULL);
    r.options.routes = xstrdup("print");
    answer_with(&r, answer_but_nodes);
    assert_int_equal(join_once(&r, &err), -1);
    assert_true(has_failed);
    close_run(&r);
    open_run(&r, "l2bridge");
    join_beside(&r, "l2bridge", "10.244.7.0/24 10.0.0.77");
    set_options(&r, NULL);
    r.options.routes = xstrdup("none");
    host_memory_fail_named(r.host, "route_remove 10.244.7.0/24");
    error_clear(&err);
    tells_nothing = true;
    assert_int_equal(join_once(&r, &err), -1);
    tells_nothing = false;
    assert_non_null(strstr(err.message, "told to fail"));
    close_run(&r);
}

/* A cluster that was not prepared: the join goes on, and says what is missing. */
static void nodes_that_may_not_be_listed(void **state) {
    struct error err = {0};
    struct text told = {0};
    struct join join;
    struct run r;

    (void)state;
    open_run(&r, "l2bridge");
    r.scene.other_node = "10.244.7.0/24 10.0.0.77";
    r.scene.hides = "/api/v1/nodes?limit";
    join = (struct join){.host = r.host,
                         .http = r.http,
                         .asked = &r.options,
                         .progress = {.listener = listen_to_warnings, .context = &told}};
    assert_int_equal(join_open(&join, &err), 0);
    if (join_run(&join, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(err.kind, ERROR_NONE);
    assert_non_null(
        strstr(text_str(&told), "this node is not allowed to list Nodes, so no routes "));
    assert_false(has_route(&r, "10.244.7.0/24"));
    join_close(&join);
    text_free(&told);
    close_run(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(routes_follow_the_nodes),
        cmocka_unit_test(nodes_that_may_not_be_listed),
        cmocka_unit_test(routes_that_the_network_has),
        cmocka_unit_test(routes_of_the_network_that_fail),
        cmocka_unit_test(routes_written_while_a_reset_runs),
        cmocka_unit_test(what_was_told_is_expected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
