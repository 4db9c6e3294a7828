/* The routes to other nodes' pods: remembered, lost at a restart, added again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "netsetup/nic/nic.h"
#include "netsetup/routes/routes.h"
#include "node/chosen.h"
#include "node/keeper/network_keeper.h"
#include "tests/memory/host_memory.h"
#include "tests/scene/network_scene.h"

static struct scene scene;
static struct host *host;

static int open_host(void **state) {
    (void)state;
    host = host_memory_new();
    return 0;
}

static int close_host(void **state) {
    (void)state;
    scene_close(&scene);
    host_free(host);
    return 0;
}

static void make_networks(const char *mode) {
    struct nic_snapshot snapshot = {0};
    struct nic_restored result = {0};
    struct hcn_network network = {0};
    scene_open(&scene, mode);
    assert_int_equal(scene_plan(&scene), 0);
    assert_int_equal(nic_choose(host, NULL, NULL, &snapshot, NULL), 0);
    assert_int_equal(nic_guard_ensure(host, &scene.plan, &snapshot, NULL, NULL, &result, NULL), 0);
    assert_int_equal(hcn_pod_network_ensure(host, &scene.plan, &network, NULL, NULL), 0);
    nic_snapshot_free(&snapshot);
}

static json_t *remembered(void) {
    json_t *peers = NULL;
    assert_int_equal(node_routes_read(host, &scene.plan, &peers, NULL), 0);
    return peers;
}

/* Writes the boot file as the join does, and lets the boot service do its work. */
static void boot(const char *plugin, json_t *peers) {
    json_t *json = chosen_json(&(struct chosen){.node = "win-7k2", .network = scene.input});
    struct network_keeper keeper = {.host = host};
    struct text_list did = {0};
    struct error err = {0};
    json_object_set_new(json, "plugin", json_string(plugin));
    json_object_set(json, "peers", peers);
    char *text = json_write(json);
    assert_int_equal(host_write(host, CHOSEN_FILE, text, strlen(text), HOST_SECRET, NULL), 0);
    if (network_restore(&keeper, true, &did, &err) < 0)
        fail_msg("%s", err.message);
    text_list_free(&did);
    network_keeper_free(&keeper);
    free(text);
    json_decref(json);
}

static void overlay(void **state) {
    const struct network_peer remotes[] = {
        {.pod_cidr = "10.244.2.0/24", .address = "10.0.0.22", .router_mac = "00-15-5D-00-00-02"},
        {.pod_cidr = "10.244.3.0/24", .address = "10.0.0.23", .router_mac = "00-15-5D-00-00-03"},
    };
    (void)state;
    make_networks("overlay");
    json_t *routes = scene_routes(&scene.plan, remotes, 2);
    assert_int_equal(node_routes_write(host, &scene.plan, routes, true, NULL), 0);
    json_decref(routes);
    json_t *peers = remembered();
    assert_int_equal(json_array_size(peers), 2);
    size_t logged = strlen(host_memory_log(host));
    assert_int_equal(node_routes_write(host, &scene.plan, peers, true, NULL), 0);
    assert_null(strstr(host_memory_log(host) + logged, "HcnModify")); /* they are there already */
    assert_string_equal(json_text_at(peers, "1.Settings.DestinationPrefix"), "10.244.3.0/24");
    assert_int_equal(hcn_network_remove(host, "flannel.4096", true, NULL, NULL), 0);
    boot("win-overlay", peers);
    json_t *again = remembered();
    assert_true(json_equal(peers, again));
    json_decref(again);
    boot("win-overlay", peers);
    again = remembered();
    assert_true(json_equal(peers, again));
    json_decref(again);
    json_decref(peers);
}

static void l2bridge(void **state) {
    const struct pod_route routes[] = {{"10.244.2.0/24", "10.0.0.22"},
                                       {"10.244.3.0/24", "10.0.0.23"}};
    const struct pod_route other[] = {{"172.20.0.0/16", "10.0.0.9"}};
    const struct pod_route not_theirs[] = {{"10.244.1.0/24", "10.0.0.9"},
                                           {"10.244.9.0/24", "0.0.0.0"}};
    (void)state;
    make_networks("l2bridge");
    assert_int_equal(pod_routes_ensure(host, "10.0.0.21", other, 1, NULL, NULL), 0);
    assert_int_equal(pod_routes_ensure(host, "10.0.0.21", not_theirs, 2, NULL, NULL), 0);
    assert_int_equal(pod_routes_ensure(host, "10.0.0.21", routes, 2, NULL, NULL), 0);
    json_t *peers = remembered();
    char *text = json_write(peers);
    assert_string_equal(text, "[{\"podCIDR\":\"10.244.2.0/24\",\"nodeAddress\":\"10.0.0.22\"},"
                              "{\"podCIDR\":\"10.244.3.0/24\",\"nodeAddress\":\"10.0.0.23\"}]");
    free(text);
    assert_int_equal(pod_routes_remove(host, routes, 2, NULL), 0);
    boot("win-bridge", peers);
    json_t *again = remembered();
    assert_true(json_equal(peers, again));
    json_decref(again);
    json_decref(peers);
}

static void an_agent_keeps_its_own(void **state) {
    (void)state;
    make_networks("overlay");
    scene.plan.agent = &network_agent_flannel;
    scene.plan.plugin = "flannel";
    json_t *peers = remembered();
    assert_int_equal(json_array_size(peers), 0);
    assert_int_equal(node_routes_write(host, &scene.plan, peers, false, NULL), 0);
    assert_int_equal(node_routes_write(host, &scene.plan, NULL, false, NULL), 0);
    json_decref(peers);
}

static void malformed(void **state) {
    struct error err = {0};
    (void)state;
    make_networks("overlay");
    json_t *peers = json_pack("[{s:s}]", "Type", "HostRoute");
    assert_int_equal(node_routes_write(host, &scene.plan, peers, false, &err), -1);
    assert_int_equal(err.kind, ERROR_MALFORMED);
    scene.plan.mode = &network_mode_l2bridge;
    assert_int_equal(node_routes_write(host, &scene.plan, peers, false, &err), -1);
    assert_int_equal(err.kind, ERROR_MALFORMED);
    json_decref(peers);
    scene.plan.mode = &network_mode_overlay;
    for (int route = 0; route < 2; route++) { /* of another kind, or without what HNS needs */
        _cleanup_json_ json_t *other =
            route ? json_pack("[{s:s}]", "Type", "RemoteSubnetRoute")
                  : json_pack("[{s:s, s:{}}]", "Type", "HostRoute", "Settings");

        error_clear(&err);
        assert_int_equal(node_routes_write(host, &scene.plan, other, false, &err), -1);
        assert_int_equal(err.kind, ERROR_MALFORMED);
    }
}

/* A cluster of any size is read, and no more of it than a document may hold. */
static void many_nodes(void **state) {
    json_t *nodes = json_object(), *items = json_array(), *peers;
    (void)state;
    make_networks("l2bridge");
    text_list_free(&scene.plan.cluster_pod_cidrs);
    text_list_add(&scene.plan.cluster_pod_cidrs, "10.64.0.0/10");
    for (int i = 0; i < 5003; i++) {
        char name[16], pods[24];
        (void)text_format(name, sizeof name, "n%d", i);
        (void)text_format(pods, sizeof pods, "10.%d.%d.0/24", 100 + i / 256, i % 256);
        json_array_append_new(items,
                              json_pack("{s:{s:s}, s:{s:s}, s:{s:[{s:s, s:s}]}}", "metadata",
                                        "name", name, "spec", "podCIDR", pods, "status",
                                        "addresses", "type", "InternalIP", "address", "10.0.0.9"));
    }
    json_object_set_new(nodes, "items", items);
    peers = node_routes_of_nodes(&scene.plan, nodes, "n0"); /* not to itself */
    assert_int_equal(json_array_size(peers), 5000);
    assert_string_equal(json_text_at(peers, "0.podCIDR"), "10.100.1.0/24");
    json_decref(peers);
    json_decref(nodes);
}

/* A node writes its own Node. No other packets are led to it by that, and what nobody can write as
 * a route is in no other's way. */
static void a_hostile_node(void **state) {
    enum { NO, UNKNOWN, YES }; /* believed; only where the cluster's prefixes are not known */
    static const struct {
        const char *mode;
        struct network_peer peer;
        int believed;
    } rows[] = {
#define HOST(pods, at, believed) {"l2bridge", {.pod_cidr = (pods), .node_address = (at)}, believed}
#define TUNNEL(pods, at, mac, believed)                                                            \
    { "overlay", {.pod_cidr = (pods), .address = (at), .router_mac = mac}, believed }
        HOST("10.244.9.0/24", "10.0.0.9", YES),
        HOST("192.0.2.0/24", "10.0.0.9", UNKNOWN),
        HOST("0.0.0.0/0", "10.0.0.9", NO),
        HOST("10.0.0.0/24", "10.0.0.9", NO),        /* the nodes */
        HOST("169.254.169.254/32", "10.0.0.9", NO), /* a cloud's metadata */
        HOST("10.244.0.0/16", "10.0.0.9", NO),      /* all, and so this node's */
        HOST("10.244.1.128/25", "10.0.0.9", NO),    /* a part of this node's */
        HOST("fd00::/64", "10.0.0.9", NO),
        HOST("x", "10.0.0.9", NO),
        HOST("10.244.9.0/24", "server.example", NO),
        HOST("10.244.9.0/24", "0.0.0.0", NO),
        HOST("10.244.9.0/24", "10.244.9.1", NO), /* behind itself */
        TUNNEL("10.244.9.0/24", "10.0.0.9", "02:aa:00:00:00:01", YES),
        TUNNEL("10.244.9.0/24", "10.0.0.9", "02-AA-00-00-00-01", YES),
        TUNNEL("0.0.0.0/0", "10.0.0.9", "02:aa:00:00:00:01", NO),
        TUNNEL("10.244.9.0/24", "x", "02:aa:00:00:00:01", NO),
        TUNNEL("10.244.9.0/24", "10.0.0.9", "02:aa:00:00:00", NO),
        TUNNEL("10.244.9.0/24", "10.0.0.9", "02:aa:00:00:00:01:02", NO),
        TUNNEL("10.244.9.0/24", "10.0.0.9", "0x:aa:00:00:00:01", NO),
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        for (int known = 0; known < 3; known++) {
            _cleanup_json_ json_t *route = NULL;

            scene_open(&scene, rows[i].mode);
            assert_int_equal(scene_plan(&scene), 0);
            if (known != 1)
                text_list_free(&scene.plan.cluster_pod_cidrs);
            if (known == 2) /* this node's own is not in it */
                text_list_add(&scene.plan.cluster_pod_cidrs, "10.99.0.0/16");
            route = scene.plan.mode->route_to(&scene.plan, &rows[i].peer);
            if ((route != NULL) != (rows[i].believed > (known == 1 ? UNKNOWN : NO)))
                fail_msg("%zu: %s %d", i, rows[i].peer.pod_cidr, known);
            scene_close(&scene);
        }
    memset(&scene, 0, sizeof scene);
}

/* Windows takes one route not: the others stand, and that is told. */
static void one_route_that_is_refused(void **state) {
    static const char *const modes[] = {"l2bridge", "overlay"};
    const struct network_peer others[] = {
        {.pod_cidr = "10.244.2.0/24",
         .node_address = "10.0.0.22",
         .address = "10.0.0.22",
         .router_mac = "00-15-5D-00-00-02"},
        {.pod_cidr = "10.244.3.0/24",
         .node_address = "10.0.0.23",
         .address = "10.0.0.23",
         .router_mac = "00-15-5D-00-00-03"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
        _cleanup_json_ json_t *routes = NULL, *stand = NULL;
        struct error err = {0};
        size_t before, calls;

        make_networks(modes[i]);
        routes = scene_routes(&scene.plan, others, 2);
        before = host_memory_calls(host);
        assert_int_equal(node_routes_write(host, &scene.plan, routes, false, NULL), 0);
        calls = host_memory_calls(host) - before; /* the last two write a route each */
        close_host(state);
        open_host(state);
        make_networks(modes[i]);
        host_memory_fail(host, calls - (i ? 3 : 1));
        assert_int_equal(node_routes_write(host, &scene.plan, routes, false, &err), -1);
        stand = remembered();
        assert_int_equal(json_array_size(stand), 1);
        close_host(state);
        open_host(state);
    }
}

/* What OVN-Kubernetes says of a Windows node and of a Linux one, and whether it routes there. */
static void of_ovn_kubernetes(void **state) {
#define OVN "\"k8s.ovn.org/"
#define MAC ", " OVN "hybrid-overlay-distributed-router-gateway-mac\": \"0a:58:0a:f4:01:03\""
    static const struct {
        const char *annotations, *pod_cidr, *mac;
        bool routed;
    } rows[] = {
        {OVN "hybrid-overlay-node-subnet\": \"10.132.1.0/24\"" MAC, "10.132.1.0/24",
         "0a:58:0a:f4:01:03", true},
        {OVN "node-subnets\": \"{\\\"default\\\": [\\\"10.128.2.0/23\\\"]}\"" MAC, "10.128.2.0/23",
         "0a:58:0a:f4:01:03", true},
        {OVN "node-subnets\": \"{\\\"default\\\": \\\"10.128.4.0/23\\\"}\"" MAC, "10.128.4.0/23",
         "0a:58:0a:f4:01:03", true},
        {OVN "hybrid-overlay-node-subnet\": \"10.132.1.0/24\"", "10.132.1.0/24", "", false},
        {OVN "node-subnets\": \"{\\\"other\\\": []}\"" MAC, NULL, "", false},
        {OVN "node-subnets\": \"{\"" MAC, NULL, "", false},
        {OVN "hybrid-overlay-node-subnet\": "
             "\"fd00:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000/64\"" MAC,
         NULL, "", false},
    };
    const struct network_agent *agent = &network_agent_ovn_kubernetes;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *text = xasprintf(
            "{\"metadata\": {\"name\": \"n\", \"annotations\": {%s}}, \"status\": {\"addresses\": "
            "[{\"type\": \"InternalIP\", \"address\": \"10.0.0.9\"}]}}",
            rows[i].annotations);
        _cleanup_json_ json_t *node = json_loads(text, 0, NULL);
        struct network_peer peer;

        assert_non_null(node);
        network_peer_read(node, &peer);
        if (!text_equal(peer.pod_cidr, rows[i].pod_cidr) ||
            !text_equal(peer.router_mac, rows[i].mac) ||
            network_agent_routes_to(agent, &network_mode_overlay, agent->vni, &peer) !=
                rows[i].routed)
            fail_msg("%s: %s %s", rows[i].annotations, peer.pod_cidr, peer.router_mac);
        if (!rows[i].routed)
            continue;
        assert_string_equal(peer.address, "10.0.0.9");
        assert_false(network_agent_routes_to(agent, &network_mode_l2bridge, agent->vni, &peer));
        assert_false(network_agent_routes_to(agent, &network_mode_overlay, agent->vni + 1, &peer));
        peer.backend = "vxlan";
        assert_false(network_agent_routes_to(agent, &network_mode_overlay, agent->vni, &peer));
    }
}

/* A network that finds the other nodes by itself has no routes to be asked for or written. */
static void a_mode_without_routes(void **state) {
    struct network_mode alone;
    json_t *nodes, *peers;
    (void)state;
    make_networks("overlay");
    alone = *scene.plan.mode;
    alone.route_to = NULL;
    alone.routes_read = NULL;
    alone.routes_write = NULL;
    scene.plan.mode = &alone;
    nodes = json_pack("{s:[{s:{s:s}}]}", "items", "metadata", "name", "n1");
    peers = node_routes_of_nodes(&scene.plan, nodes, "n0");
    assert_int_equal(json_array_size(peers), 0);
    assert_int_equal(node_routes_write(host, &scene.plan, peers, true, NULL), 0);
    json_decref(peers);
    peers = remembered();
    assert_int_equal(json_array_size(peers), 0);
    json_decref(peers);
    json_decref(nodes);
}

/* A DaemonSet makes it at boot, too; also when the node never got a pod prefix. */
static void external(void **state) {
    struct hcn_network network = {0};
    struct error err = {0};
    (void)state;
    scene_open(&scene, "overlay");
    scene.input.plugin = "external";
    scene.input.pod_cidr = "<podCIDR>";
    json_t *none = json_array();
    boot("external", none);
    json_decref(none);
    assert_int_equal(hcn_network_find(host, "cluster", &network, &err), -1);
    assert_int_equal(err.kind, ERROR_ABSENT);
    error_clear(&err);
    assert_int_equal(hcn_network_find(host, "External", &network, &err), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(overlay, open_host, close_host),
        cmocka_unit_test_setup_teardown(external, open_host, close_host),
        cmocka_unit_test_setup_teardown(l2bridge, open_host, close_host),
        cmocka_unit_test_setup_teardown(an_agent_keeps_its_own, open_host, close_host),
        cmocka_unit_test_setup_teardown(malformed, open_host, close_host),
        cmocka_unit_test(of_ovn_kubernetes),
        cmocka_unit_test_setup_teardown(many_nodes, open_host, close_host),
        cmocka_unit_test_setup_teardown(a_hostile_node, open_host, close_host),
        cmocka_unit_test_setup_teardown(one_route_that_is_refused, open_host, close_host),
        cmocka_unit_test_setup_teardown(a_mode_without_routes, open_host, close_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
