/* Networks that stand in the way of the plan are named before anything is touched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "netsetup/agents/daemon_set_agent.h"
#include "netsetup/netsetup.h"
#include "netsetup/nic/nic.h"
#include "tests/memory/host_memory.h"
#include "tests/scene/network_scene.h"

#define NETWORK(name, type, owner, adapter, prefix, hop)                                           \
    "{\"SchemaVersion\":{\"Major\":2,\"Minor\":0},\"Name\":\"" name "\",\"Type\":\"" type          \
    "\",\"Owner\":\"" owner "\",\"Policies\":[{\"Type\":\"NetAdapterName\",\"Settings\":{"         \
    "\"NetworkAdapterName\":\"" adapter "\"}}],\"Ipams\":[{\"Type\":\"Static\",\"Subnets\":[{"     \
    "\"IpAddressPrefix\":\"" prefix "\",\"Routes\":[{\"NextHop\":\"" hop                           \
    "\",\"DestinationPrefix\":\"0.0.0.0/0\"}]}]}]}"

/* With the VSID that an overlay's subnet has. */
#define OVERLAY(name, prefix, hop, vsid)                                                           \
    "{\"SchemaVersion\":{\"Major\":2,\"Minor\":0},\"Name\":\"" name "\",\"Type\":\"Overlay\","     \
    "\"Policies\":[{\"Type\":\"NetAdapterName\",\"Settings\":{\"NetworkAdapterName\":"             \
    "\"Ethernet\"}}],\"Ipams\":[{\"Type\":\"Static\",\"Subnets\":[{\"IpAddressPrefix\":\"" prefix  \
    "\",\"Routes\":[{\"NextHop\":\"" hop                                                           \
    "\",\"DestinationPrefix\":\"0.0.0.0/0\"}],\"Policies\":[{"                                     \
    "\"Type\":\"VSID\",\"Settings\":{\"IsolationId\":" #vsid "}}]}]}]}"

static struct scene scene;
static struct host *host;

static int open_host(void **state) {
    (void)state;
    host = host_memory_new();
    scene_open(&scene, "overlay");
    return scene_plan(&scene);
}

static int close_host(void **state) {
    (void)state;
    scene_close(&scene);
    host_free(host);
    return 0;
}

static void add(const char *document) {
    _cleanup_(freep) char *made = NULL;
    assert_int_equal(hcn_create(host, HCN_NETWORK, NULL, NULL, document, &made, NULL), 0);
}

static void assert_clash(const char *says, const char *hint) {
    struct error err = {0};
    assert_int_equal(network_clash_check(host, &scene.plan, &err), -1);
    assert_int_equal(err.kind, ERROR_PREFLIGHT);
    if (!strstr(err.message, says))
        fail_msg("'%s' does not say '%s'", err.message, says);
    if (!strstr(err.hints[0], hint))
        fail_msg("'%s' does not say '%s'", err.hints[0], hint);
}

static void what_does_not_clash(void **state) {
    (void)state;
    assert_int_equal(network_clash_check(host, &scene.plan, NULL), 0);
    add(NETWORK("nat", "NAT", "", "", "172.30.64.0/20", "172.30.64.1"));
    add(NETWORK("storage", "L2Bridge", "", "Storage", "172.29.0.0/24", "172.29.0.1"));
    add(NETWORK("other", "Overlay", "", "Ethernet", "172.28.0.0/24", "172.28.0.1"));
    add(OVERLAY("flannel.4096", "10.244.1.0/24", "10.244.1.1", 4096));
    add(OVERLAY("External", "192.168.255.0/30", "192.168.255.1", 9999));
    assert_int_equal(network_clash_check(host, &scene.plan, NULL), 0);
}

static void another_mode(void **state) {
    (void)state;
    add(NETWORK("lan", "transparent", "", "ethernet", "172.29.0.0/24", "172.29.0.1"));
    assert_clash(
        "'lan' (transparent) uses the virtual switch on 'Ethernet' in another mode than overlay",
        "--adapter");
}

/* One a run would be another join for each. */
static void all_are_named(void **state) {
    struct error err = {0};
    (void)state;
    add(NETWORK("lan", "transparent", "", "ethernet", "172.29.0.0/24", "172.29.0.1"));
    add(NETWORK("storage", "L2Bridge", "", "Storage", "172.29.0.0/24", "172.29.0.1"));
    add(NETWORK("pods", "NAT", "", "", "10.244.0.0/20", "10.244.0.1"));
    add(NETWORK("services", "NAT", "", "", "10.96.0.0/20", "10.96.0.1"));
    assert_int_equal(network_clash_check(host, &scene.plan, &err), -1);
    assert_true(text_starts_with(err.message, "HNS network 'lan' (transparent) uses the"));
    assert_true(text_ends_with(err.message, "; also in the way: 'pods' (NAT), 'services' (NAT)"));
    assert_true(text_starts_with(err.hints[1], "'pods': hnsdiag delete networks "));
    assert_true(text_starts_with(err.hints[2], "'services': hnsdiag delete networks "));
}

static void an_earlier_join(void **state) {
    (void)state;
    add(NETWORK("cbr0", "L2Bridge", "winjoin", "Ethernet", "172.29.0.0/24", "172.29.0.1"));
    assert_clash("'cbr0' (L2Bridge)", "winjoin reset");
}

static void bridge_and_tunnel_get_on(void **state) {
    (void)state;
    scene_close(&scene);
    scene_open(&scene, "l2bridge");
    assert_int_equal(scene_plan(&scene), 0);
    add(NETWORK("azure", "L2Tunnel", "", "Ethernet", "172.29.0.0/24", "172.29.0.1"));
    assert_int_equal(network_clash_check(host, &scene.plan, NULL), 0);
    add(NETWORK("over", "Overlay", "", "Ethernet", "172.28.0.0/24", "172.28.0.1"));
    assert_clash("in another mode than l2bridge", "--network-mode");
}

static void overlaps(void **state) {
    static const char *const documents[] = {
        NETWORK("a", "NAT", "", "", "10.244.0.0/20", "10.244.0.1"),
        NETWORK("b", "NAT", "", "", "10.96.0.0/20", "10.96.0.1"),
        NETWORK("c", "NAT", "", "", "192.168.255.0/24", "192.168.255.254"),
        NETWORK("d", "NAT", "", "", "10.245.3.0/24", "10.245.3.1"),
    };
    static const char *const says[] = {
        "overlaps the cluster's pods 10.244.0.0/16", "overlaps the cluster's services 10.96.0.0/12",
        "overlaps the base network 192.168.255.0/30", "overlaps this node's pods 10.245.3.0/24"};
    (void)state;
    network_plan_free(&scene.plan);
    scene.input.pod_cidr = "10.245.3.0/24";
    assert_int_equal(scene_plan(&scene), 0);
    for (size_t i = 0; i < ARRAY_SIZE(documents); i++) {
        host_free(host);
        host = host_memory_new();
        add(documents[i]);
        assert_clash(says[i], "change its subnet");
    }
}

/* A network of an earlier node that is called as the plan's own. */
static void a_namesake(void **state) {
    static const struct {
        const char *document, *says;
        bool known; /* the node's prefix */
    } rows[] = {
        {OVERLAY("flannel.4096", "10.244.3.0/24", "10.244.3.1", 4096),
         "'flannel.4096' of another node or program (Overlay 10.244.3.0/24)", true},
        {OVERLAY("flannel.4096", "10.42.3.0/24", "10.42.3.1", 4096),
         "(Overlay 10.42.3.0/24), and the join would make one of that name (Overlay in "
         "10.244.0.0/16)",
         false},
        {OVERLAY("flannel.4096", "10.244.3.0/24", "10.244.3.1", 4097), "(Overlay 10.244.3.0/24)",
         false},
        {NETWORK("flannel.4096", "NAT", "", "", "10.244.3.0/24", "10.244.3.1"),
         "(NAT 10.244.3.0/24)", false},
        {NETWORK("External", "L2Bridge", "", "Ethernet", "192.168.255.0/30", "192.168.255.1"),
         "'External' of another node or program (L2Bridge", false},
        {NETWORK("External", "Overlay", "x", "Ethernet", "10.9.9.0/30", "10.9.9.1"),
         "one of that name (Overlay in 192.168.255.0/30)", true},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        network_plan_free(&scene.plan);
        scene.input.pod_cidr = rows[i].known ? "10.244.1.0/24" : NULL;
        assert_int_equal(scene_plan(&scene), 0);
        host_free(host);
        host = host_memory_new();
        add(rows[i].document);
        assert_clash(rows[i].says, "hnsdiag delete networks ");
    }
}

/* One that may be the plan's, and one of an earlier join, which is made again. */
static void a_namesake_that_serves(void **state) {
    (void)state;
    network_plan_free(&scene.plan);
    scene.input.pod_cidr = NULL;
    assert_int_equal(scene_plan(&scene), 0);
    add(OVERLAY("flannel.4096", "10.244.3.0/24", "10.244.3.1", 4096));
    add(NETWORK("External", "L2Bridge", "winjoin", "Ethernet", "10.9.9.0/30", "10.9.9.1"));
    assert_int_equal(network_clash_check(host, &scene.plan, NULL), 0);
}

/* The guard asks first, so that the adapter stays as it is. */
static void the_guard_asks_first(void **state) {
    struct nic_snapshot snapshot = {0};
    struct nic_restored result = {0};
    struct error err = {0};
    (void)state;
    assert_int_equal(nic_choose(host, NULL, NULL, &snapshot, NULL), 0);
    add(NETWORK("a", "NAT", "", "", "10.244.0.0/20", "10.244.0.1"));
    json_t *before = host_memory_state(host);
    assert_int_equal(nic_guard_ensure(host, &scene.plan, &snapshot, NULL, NULL, &result, &err), -1);
    assert_int_equal(err.kind, ERROR_PREFLIGHT);
    json_t *after = host_memory_state(host);
    assert_true(json_equal(before, after));
    json_decref(before);
    json_decref(after);
    nic_snapshot_free(&snapshot);
}

/* ---- where the cluster's agent makes the network ---- */

static void open_external(const char *mode, const char *agent) {
    scene_close(&scene);
    scene_open(&scene, mode);
    scene.input.plugin = "external";
    scene.input.daemon_set_agent = agent;
    assert_int_equal(scene_plan(&scene), 0);
}

static void assert_in_the_way(const char *says, const char *hint) {
    struct error err = {0};
    assert_int_equal(daemon_set_network_check(host, &scene.plan, &err), -1);
    assert_int_equal(err.kind, ERROR_PREFLIGHT);
    assert_string_equal(err.message, says);
    assert_non_null(strstr(err.hints[0], hint));
}

static void calico_reuses_external_of_its_type(void **state) {
    (void)state;
    open_external("overlay", "calico");
    add(NETWORK("nat", "NAT", "", "", "172.30.64.0/20", "172.30.64.1"));
    add(NETWORK("External", "Overlay", "", "Ethernet", "192.168.255.0/30", "192.168.255.1"));
    assert_int_equal(daemon_set_network_check(host, &scene.plan, NULL), 0);
    open_external("overlay", NULL); /* unknown: nothing is asked */
    assert_int_equal(daemon_set_network_check(host, &scene.plan, NULL), 0);
    open_external("l2bridge", "calico");
    assert_in_the_way("Calico's BGP needs Routing and Remote Access: the Windows service "
                      "RemoteAccess does not exist",
                      "RoutingOnly");
    assert_int_equal(host_service_put(host,
                                      &(struct host_service){.name = (char *)"RemoteAccess",
                                                             .command = (char *)"svchost.exe"},
                                      NULL),
                     0);
    assert_in_the_way("HNS network 'External' is of type Overlay, and Calico needs one of type "
                      "L2Bridge",
                      "hnsdiag delete networks ");
}

static void an_earlier_base_is_named(void **state) {
    (void)state;
    open_external("overlay", "calico");
    add(NETWORK("External", "L2Bridge", "winjoin", "Ethernet", "192.168.255.0/30",
                "192.168.255.1"));
    assert_in_the_way("HNS network 'External' is of type L2Bridge, and Calico needs one of type "
                      "Overlay",
                      "winjoin reset");
}

/* As Antrea, whose mode may not be in the tables. */
static void a_switch_is_in_the_way(void **state) {
    static const struct daemon_set_network networks[] = {
        {.mode = "overlay", .hns_type = "Overlay", .name = "antrea-hnsnetwork"}, {0}};
    struct daemon_set_agent agent = daemon_set_agent_antrea;
    (void)state;
    agent.networks = networks;
    scene.plan.daemon_set_agent = &agent;
    add(NETWORK("nat", "NAT", "", "", "172.30.64.0/20", "172.30.64.1"));
    add(NETWORK("antrea-hnsnetwork", "Overlay", "", "Ethernet", "10.0.0.0/24", "10.0.0.1"));
    assert_int_equal(daemon_set_network_check(host, &scene.plan, NULL), 0);
    add(NETWORK("lan", "Transparent", "", "Ethernet 2", "172.29.0.0/24", "172.29.0.1"));
    assert_in_the_way("HNS network 'lan' (Transparent) has a virtual switch, and Antrea needs a "
                      "network adapter without one",
                      "hnsdiag delete networks ");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_does_not_clash, open_host, close_host),
        cmocka_unit_test_setup_teardown(another_mode, open_host, close_host),
        cmocka_unit_test_setup_teardown(all_are_named, open_host, close_host),
        cmocka_unit_test_setup_teardown(a_namesake, open_host, close_host),
        cmocka_unit_test_setup_teardown(a_namesake_that_serves, open_host, close_host),
        cmocka_unit_test_setup_teardown(an_earlier_join, open_host, close_host),
        cmocka_unit_test_setup_teardown(bridge_and_tunnel_get_on, open_host, close_host),
        cmocka_unit_test_setup_teardown(overlaps, open_host, close_host),
        cmocka_unit_test_setup_teardown(the_guard_asks_first, open_host, close_host),
        cmocka_unit_test_setup_teardown(calico_reuses_external_of_its_type, open_host, close_host),
        cmocka_unit_test_setup_teardown(an_earlier_base_is_named, open_host, close_host),
        cmocka_unit_test_setup_teardown(a_switch_is_in_the_way, open_host, close_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
