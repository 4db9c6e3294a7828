/* The routes between this node's pods and other nodes' that a join leaves. */
#include "join_scene.h"

/* Whether the host, or HNS, leads to that prefix. */
static bool has_route(struct run *r, const char *prefix) {
    _cleanup_json_ json_t *state = host_memory_state(r->host);
    _cleanup_(freep) char *routes = json_write(json_object_get(state, "routes"));
    _cleanup_(freep) char *networks = json_write(json_at(state, "hns.networks"));

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

/* What an earlier join wrote goes; the network's routes are told, this node's own among them. */
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
        join = (struct join){.host = r.host, .http = r.http, .asked = &r.options};
        if (join_open(&join, &err) < 0)
            fail_msg("%s", err.message);
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
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
