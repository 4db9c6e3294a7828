/* Nodes come, move and go while this one runs; the routes to their pods follow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "netsetup/hns/hcn_network.h"
#include "netsetup/nic/nic.h"
#include "netsetup/routes/routes.h"
#include "node/chosen.h"
#include "node/keeper/network_keeper.h"
#include "tests/memory/host_memory.h"
#include "tests/memory/http_memory.h"
#include "tests/scene/network_scene.h"

#define LIST(items) "{\"metadata\":{\"resourceVersion\":\"10\"},\"items\":[" items "]}"
#define EVENT(type, object) "{\"type\":\"" type "\",\"object\":" object "}\n"
#define NODE(name, pods, address)                                                                  \
    "{\"metadata\":{\"name\":\"" name                                                              \
    "\",\"resourceVersion\":\"11\",\"annotations\":{\"flannel.alpha.coreos.com/public-ip\":\""     \
    "" address "\",\"flannel.alpha.coreos.com/backend-type\":\"vxlan\","                           \
    "\"flannel.alpha.coreos.com/backend-data\":\"{\\\"VNI\\\":4096,\\\"VtepMAC\\\":"               \
    "\\\"aa:bb:cc:00:00:01\\\"}\"}},\"spec\":{\"podCIDR\":\"" pods                                 \
    "\"},\"status\":{\"addresses\":[{\"type\":\"InternalIP\",\"address\":\"" address "\"}]}}"
#define OWN NODE("win-7k2", "10.244.1.0/24", "10.0.0.21")
#define ONE NODE("one", "10.244.2.0/24", "10.0.0.22")

static struct scene scene;
static struct host *host;
static struct http *http;
static const char *list, *events;
static unsigned asked, ticks, patches;
static char patch[512]; /* of this node's Node: the last one */

static int answer(void *context, const struct http_request *request, struct http_response *ret,
                  struct error *err) {
    bool watch = strstr(request->url, "watch=true");

    (void)context;
    if (text_equal(request->method, "PATCH")) {
        assert_true(text_ends_with(request->url, "/api/v1/nodes/win-7k2"));
        assert_int_equal(text_format(patch, sizeof patch, "%s", request->body), 0);
        patches++;
        ret->status = 200;
        ret->body = xstrdup("{}");
        ret->body_len = 2;
        return 0;
    }
    asked++;
    if (watch && !events)
        return error_set(err, ERROR_MALFORMED, "enough");
    ret->status = 200;
    ret->body = xstrdup(watch ? events : list);
    ret->body_len = strlen(ret->body);
    if (watch) {
        events = NULL;
        host_memory_advance(host, 2000);
    }
    return 0;
}

static int on_tick(void *context, unsigned waited_ms, struct error *err) {
    (void)context, (void)waited_ms;
    return ++ticks < 4 ? 0 : error_set(err, ERROR_INTERRUPTED, "over");
}

static int open_host(void **state) {
    (void)state;
    host = host_memory_new();
    http = http_memory_new(answer, NULL);
    asked = ticks = patches = 0;
    scene_write_kubeconfig(host);
    return 0;
}

static int close_host(void **state) {
    (void)state;
    scene_close(&scene);
    http_free(http);
    host_free(host);
    return 0;
}

static void write_join(void) {
    scene_write_chosen(&scene, host, NULL);
}

static void join(const char *mode, const char *plugin) {
    scene_make_networks(&scene, host, mode, plugin);
    write_join();
}

/* "10.244.2.0/24 10.0.0.22; " of each route that the machine has, and that the file remembers. */
static void assert_routes(const char *wanted) {
    json_t *now = NULL, *counts, *route;
    struct chosen chosen = {0};
    struct text routes = {0};
    size_t i;

    assert_int_equal(node_routes_read(host, &scene.plan, &now, NULL), 0);
    json_array_foreach(now, i, route) {
        const char *pods = json_text_at(route, "podCIDR"), *to = json_text_at(route, "nodeAddress");

        text_addf(&routes, "%s %s; ",
                  pods ? pods : json_text_at(route, "Settings.DestinationPrefix"),
                  to ? to : json_text_at(route, "Settings.ProviderAddress"));
    }
    assert_string_equal(text_str(&routes), wanted);
    assert_int_equal(chosen_load(host, &chosen, NULL), 0);
    counts = chosen_routes(host, &chosen);
    assert_int_equal(json_array_size(counts), json_array_size(now));
    json_decref(counts);
    json_decref(now);
    chosen_free(&chosen);
    text_free(&routes);
}

static void follow(const char *all, const char *then) {
    struct error err = {0};

    list = all;
    events = then;
    ticks = 0;
    assert_int_equal(node_routes_follow(host, http, NULL, 0, on_tick, NULL, &err), -1);
    if (err.kind != ERROR_INTERRUPTED && err.kind != ERROR_MALFORMED &&
        !strstr(err.message, "told to fail"))
        fail_msg("%s", err.message);
}

static void each_change_is_followed(const char *mode, const char *plugin) {
    join(mode, plugin);
    follow(LIST(OWN "," ONE), "");
    assert_routes("10.244.2.0/24 10.0.0.22; ");
    follow(LIST(OWN "," ONE), EVENT("ADDED", NODE("two", "10.244.3.0/24", "10.0.0.23")));
    assert_routes("10.244.2.0/24 10.0.0.22; 10.244.3.0/24 10.0.0.23; ");
    /* another prefix, then gone while nobody looked */
    follow(LIST(OWN "," ONE), EVENT("MODIFIED", NODE("one", "10.244.4.0/24", "10.0.0.22")));
    assert_routes("10.244.4.0/24 10.0.0.22; ");
    follow(LIST(OWN "," ONE), EVENT("DELETED", ONE) EVENT("MODIFIED", OWN));
    assert_routes("");
}

static void bridges(void **state) {
    (void)state;
    each_change_is_followed("l2bridge", "win-bridge");
}

static void overlays(void **state) {
    (void)state;
    each_change_is_followed("overlay", "win-overlay");
}

/* The file is written once for the list, and once for all that changes until the next tick. */
static void a_burst_is_written_once(void **state) {
    static const char written[] = "write " CHOSEN_ROUTES_FILE;
    unsigned times = 0;

    (void)state;
    join("l2bridge", "win-bridge");
    follow(LIST(OWN "," ONE), EVENT("ADDED", NODE("two", "10.244.3.0/24", "10.0.0.23"))
                                  EVENT("ADDED", NODE("three", "10.244.4.0/24", "10.0.0.24"))
                                      EVENT("ADDED", NODE("four", "10.244.5.0/24", "10.0.0.25")));
    assert_routes("10.244.2.0/24 10.0.0.22; 10.244.3.0/24 10.0.0.23; 10.244.4.0/24 10.0.0.24; "
                  "10.244.5.0/24 10.0.0.25; ");
    for (const char *at = host_memory_log(host); (at = strstr(at, written)); at++)
        times++;
    assert_int_equal(times, 2);
}

static void routes_of_others_stay(void **state) {
    struct host_route route = {.destination = "10.244.9.0/24", .next_hop = "10.0.0.9"};

    (void)state;
    join("l2bridge", "win-bridge");
    assert_int_equal(nic_index_of(host, "10.0.0.21", &route.interface_index, NULL), 0);
    assert_int_equal(host_route_add(host, &route, NULL), 0);
    follow(LIST(OWN), EVENT("ADDED", ONE));
    follow(LIST(OWN), "");
    assert_non_null(strstr(host_memory_log(host), "route_remove 10.244.2.0/24"));
    assert_null(strstr(host_memory_log(host), "route_remove 10.244.9.0/24"));
}

static void an_agent_keeps_its_own(void **state) {
    struct error err = {0};

    (void)state;
    assert_int_equal(node_routes_follow(host, http, NULL, 0, on_tick, NULL, &err), -1);
    assert_int_equal(err.kind, ERROR_ABSENT);
    error_clear(&err);
    join("overlay", "flannel");
    assert_int_equal(node_routes_follow(host, http, NULL, 0, on_tick, NULL, &err), -1);
    assert_int_equal(err.kind, ERROR_ABSENT);
    assert_int_equal(asked, 0);
}

/* A join that runs again writes the file; what is remembered of the old one does not win. */
static int rewrite(void *context, unsigned waited_ms, struct error *err) {
    (void)waited_ms, (void)err, (void)context;
    scene.input.dns_domain = "other";
    if (ticks++ == 0) {
        write_join();
        events = EVENT("ADDED", ONE);
    }
    return 0;
}

static void a_join_meanwhile_begins_it_again(void **state) {
    struct error err = {0};
    struct chosen chosen = {0};

    (void)state;
    join("l2bridge", "win-bridge");
    list = LIST(OWN);
    events = "";
    assert_int_equal(node_routes_follow(host, http, NULL, 0, rewrite, NULL, &err), -1);
    assert_int_equal(err.kind, ERROR_CONFLICT);
    assert_int_equal(chosen_load(host, &chosen, NULL), 0);
    assert_string_equal(chosen.network.dns_domain, "other");
    chosen_free(&chosen);
}

/* No route is on the machine that the file does not name: reset would leave it. */
static void assert_remembered_first(void) {
    const char *log = host_memory_log(host), *route = strstr(log, "route_add 10.244.2.0/24"),
               *write;

    if (!route)
        return;
    write = strstr(log, "write " CHOSEN_ROUTES_FILE);
    if (host_memory_failed(host) == write)
        write = strstr(write + 1, "write " CHOSEN_ROUTES_FILE);
    assert_true(write && write < route);
}

static void a_write_that_fails_is_tried_again(void **state) {
    (void)state;
    for (size_t n = 1; n < 40; n++) {
        join("l2bridge", "win-bridge");
        host_memory_fail(host, n);
        follow(LIST(OWN "," ONE), "");
        assert_remembered_first();
        host_memory_fail(host, 0);
        follow(LIST(OWN "," ONE), "");
        assert_routes("10.244.2.0/24 10.0.0.22; ");
        close_host(NULL);
        open_host(NULL);
        scene = (struct scene){0};
    }
}

/* The routes that are remembered, as one text. */
static char *remembered(void) {
    struct chosen chosen = {0};
    json_t *routes;
    char *text;

    assert_int_equal(chosen_load(host, &chosen, NULL), 0);
    routes = chosen_routes(host, &chosen);
    text = json_write(routes);
    json_decref(routes);
    chosen_free(&chosen);
    return text;
}

/* What a join writes at the same moment is never overwritten: that file is the join's alone. */
static void the_join_s_file_is_not_written(void **state) {
    static const char mine[] = "write " CHOSEN_FILE;
    const char *log, *at;
    size_t writes = 0;

    (void)state;
    each_change_is_followed("l2bridge", "win-bridge");
    log = host_memory_log(host);
    for (at = log; (at = strstr(at, mine)); at += sizeof mine - 1)
        writes++;
    assert_int_equal(writes, 1); /* by join() */
    assert_non_null(strstr(log, "write " CHOSEN_ROUTES_FILE));
}

/* A route to that prefix stands on the machine. */
static bool stands(const char *prefix) {
    _cleanup_(freep) char *routes = json_write(host_memory_at(host, "routes"));

    return strstr(routes, prefix) != NULL;
}

/* Another join wrote its file, and no route: those of before go, once. */
static void what_an_earlier_join_asked_for_goes(void **state) {
    struct host_route route = {.destination = "10.244.2.0/24", .next_hop = "10.0.0.22"};
    struct error err = {0};

    (void)state;
    join("l2bridge", "win-bridge");
    follow(LIST(OWN "," ONE), "");
    assert_true(stands("10.244.2.0/24"));
    scene.input.routes = "none";
    write_join();
    assert_int_equal(node_routes_follow(host, http, NULL, 0, on_tick, NULL, &err), -1);
    assert_int_equal(err.kind, ERROR_ABSENT);
    assert_false(stands("10.244.2.0/24"));
    assert_int_equal(nic_index_of(host, "10.0.0.21", &route.interface_index, NULL), 0);
    assert_int_equal(host_route_add(host, &route, NULL), 0); /* by hand, for that network */
    error_clear(&err);
    assert_int_equal(node_routes_follow(host, http, NULL, 0, on_tick, NULL, &err), -1);
    assert_int_equal(err.kind, ERROR_ABSENT);
    assert_true(stands("10.244.2.0/24"));
}

/* Neither doubled when the machine refuses, nor more at each try. */
static void a_refusal_remembers_each_route_once(void **state) {
    size_t failed = 0;

    (void)state;
    join("l2bridge", "win-bridge");
    follow(LIST(OWN "," ONE), "");
    for (size_t n = 1; n < 40; n++) {
        char *before = remembered(), *after;

        host_memory_fail(host, n);
        follow(LIST(OWN "," ONE), "");
        failed += host_memory_failed(host) != NULL;
        host_memory_fail(host, 0);
        after = remembered();
        assert_string_equal(after, before);
        free(before);
        free(after);
    }
    assert_true(failed > 3);
}

/* A join lists them as the machine does: who runs it twice finds the same file. */
static void the_same_routes_in_another_order_are_not_written(void **state) {
    static const char two[] = "[{\"podCIDR\":\"10.244.3.0/24\",\"nodeAddress\":\"10.0.0.23\"},"
                              "{\"podCIDR\":\"10.244.2.0/24\",\"nodeAddress\":\"10.0.0.22\"}]";
    struct chosen chosen = {0};
    char *text;

    (void)state;
    join("l2bridge", "win-bridge");
    assert_int_equal(chosen_load(host, &chosen, NULL), 0);
    json_object_set_new(chosen.file, "peers", json_loads(two, 0, NULL));
    text = json_write(chosen.file);
    assert_int_equal(host_write(host, CHOSEN_FILE, text, strlen(text), HOST_SECRET, NULL), 0);
    chosen_free(&chosen);
    free(text);
    follow(LIST(OWN "," ONE "," NODE("two", "10.244.3.0/24", "10.0.0.23")), "");
    text = remembered();
    assert_string_equal(text, two);
    free(text);
    assert_routes("10.244.2.0/24 10.0.0.22; 10.244.3.0/24 10.0.0.23; ");
}

/* Another network than the one that the join told of: Windows and HNS forget it, and make another
 * MAC address. */
static void a_network_that_was_made_again_is_told(void **state) {
    _cleanup_json_ json_t *node = NULL;
    _cleanup_(freep) char *mac = NULL, *text = NULL, *all = NULL;
    struct hcn_network network = {0};

    (void)state;
    join("overlay", "win-overlay");
    assert_int_equal(hcn_network_find(host, scene.plan.name, &network, NULL), 0);
    follow(LIST(OWN "," ONE), "");
    assert_int_equal(patches, 1);
    mac = text_lower(network.router_mac);
    for (char *c = mac; *c; c++)
        *c = *c == '-' ? ':' : *c;
    assert_non_null(strstr(patch, mac));
    assert_non_null(strstr(patch, "\"flannel.alpha.coreos.com/public-ip\":\"10.0.0.21\""));
    /* the Node has it now */
    assert_int_equal(json_read(patch, strlen(patch), "patch", &node, NULL), 0);
    json_object_set_new(json_object_get(node, "metadata"), "name", json_string("win-7k2"));
    json_object_set_new(node, "spec", json_pack("{s:s}", "podCIDR", "10.244.1.0/24"));
    text = json_write(node);
    all = xasprintf(LIST("%s"), text);
    follow(all, "");
    assert_int_equal(patches, 1);
}

/* By its name: another node may say the same prefix, and keeps neither its routes nor what is told
 * of this one away. */
static void a_node_with_this_one_s_prefix(void **state) {
    static const char other[] =
        "{\"metadata\":{\"name\":\"evil\"},\"spec\":{\"podCIDR\":\"10.244.1.0/24\"}}";
    _cleanup_(freep) char *all = xasprintf(LIST("%s," OWN "," ONE ",%s"), other, other);

    (void)state;
    join("overlay", "win-overlay");
    follow(all, "");
    assert_int_equal(patches, 1);
}

static void without_vxlan_nothing_is_told(void **state) {
    (void)state;
    join("l2bridge", "win-bridge");
    follow(LIST(OWN "," ONE), "");
    assert_int_equal(patches, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_host, close_host)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(bridges),
        TEST(overlays),
        TEST(a_burst_is_written_once),
        TEST(routes_of_others_stay),
        TEST(an_agent_keeps_its_own),
        TEST(a_join_meanwhile_begins_it_again),
        TEST(the_join_s_file_is_not_written),
        TEST(what_an_earlier_join_asked_for_goes),
        TEST(a_write_that_fails_is_tried_again),
        TEST(a_refusal_remembers_each_route_once),
        TEST(a_network_that_was_made_again_is_told),
        TEST(a_node_with_this_one_s_prefix),
        TEST(without_vxlan_nothing_is_told),
        TEST(the_same_routes_in_another_order_are_not_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
