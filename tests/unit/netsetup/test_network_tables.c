/* The tables of network modes and agents: every row is whole, and what reads the tables offers,
 * refuses and finds what is in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "netsetup/agents/agent.h"
#include "netsetup/netsetup.h"
#include "base/nearest.h"
#include "node/keeper/network_keeper.h"
#include "services/artifacts/artifacts.h"
#include "services/service_table.h"
#include "tests/memory/host_memory.h"
#include "tests/scene/network_scene.h"

static struct scene scene;

static int close_scene(void **state) {
    (void)state;
    scene_close(&scene);
    return 0;
}

static void every_mode_is_whole(void **state) {
    (void)state;
    assert_ptr_equal(network_modes[0], &network_mode_overlay); /* the default */
    for (size_t i = 0; network_modes[i]; i++) {
        const struct network_mode *mode = network_modes[i];
        struct artifact_target target;
        assert_ptr_equal(network_mode_by_name(mode->name), mode);
        assert_non_null(mode->hns_type);
        assert_true(!mode->ipv4_only == (mode->dual_stack_plugin != NULL));
        assert_true(artifact_target_find(mode->cni_plugins[0], &target));

        assert_false(mode->vxlan && mode->host_routes);
        for (const char *const *name = mode->cni_plugins; *name; name++)
            assert_ptr_equal(network_mode_by_cni(*name, mode->hns_type), mode);
        for (const struct network_limit *limit = mode->limits; limit && limit->code; limit++)
            assert_in_range(strlen(limit->text), 1, sizeof(scene.plan.warnings->message) - 6);
        scene_open(&scene, mode->name);
        assert_int_equal(scene_plan(&scene), 0);
        assert_ptr_equal(scene.plan.mode, mode);
        assert_string_equal(scene.plan.cni_plugin, mode->cni_plugins[0]);
        assert_int_equal(*scene.plan.source_vip != '\0', mode->source_vip);
        scene_close(&scene);
    }
    assert_ptr_equal(network_mode_by_name("L2BRIDGE"), &network_mode_l2bridge);
    assert_null(network_mode_by_name("ics"));
    assert_null(network_mode_by_name(NULL));
    assert_null(network_mode_by_cni("flannel", NULL));
    assert_null(network_mode_by_cni(NULL, "Overlay"));
    assert_ptr_equal(network_mode_by_cni("win-bridge", NULL), &network_mode_l2bridge);
    assert_ptr_equal(network_mode_by_cni("win-bridge", "l2tunnel"), &network_mode_l2tunnel);
    assert_ptr_equal(network_mode_by_cni("win-bridge", "Overlay"), &network_mode_l2bridge);
}

static void every_agent_is_whole(void **state) {
    (void)state;
    for (size_t i = 0; network_agents[i]; i++) {
        const struct network_agent *agent = network_agents[i];
        assert_int_equal(agent->settings_path != NULL, agent->settings_make != NULL);
        assert_int_equal(agent->kubeconfig_path != NULL, agent->kubeconfig_user != NULL);
        assert_int_equal(agent->sources != NULL, agent->read_settings && agent->check_settings);
        assert_int_equal(agent->keeps_routes && !agent->in_cluster && !agent->pods_make_network,
                         agent->read_peer != NULL);
        assert_int_equal(agent->makes_network, agent->wait_seconds > 0);
        if (agent->service)
            assert_non_null(service_by_name(agent->service));
    }
}

static void plugins(void **state) {
    (void)state;
    assert_ptr_equal(network_agent_by_plugin("flannel"), &network_agent_flannel);
    assert_ptr_equal(network_agent_by_plugin("win-bridge"), &network_agent_none);
    assert_ptr_equal(network_agent_by_plugin("sdnbridge"), &network_agent_none);
    assert_ptr_equal(network_agent_by_plugin("azure-vnet"), &network_agent_azure_vnet);
    assert_ptr_equal(network_agent_by_plugin("azure-cns"), &network_agent_azure_cns);
    assert_null(network_agent_by_plugin("calico"));
    assert_string_equal(
        network_agent_cni(&network_agent_azure_cns, "azure-cns", &network_mode_l2tunnel),
        "azure-vnet");
    assert_null(network_agent_cni(&network_agent_azure_vnet, "azure-vnet", &network_mode_overlay));
    assert_string_equal(
        network_agent_cni(&network_agent_flannel, "flannel", &network_mode_l2bridge), "win-bridge");
    assert_string_equal(
        network_agent_cni(&network_agent_none, "win-overlay", &network_mode_overlay),
        "win-overlay");
    assert_null(network_agent_cni(&network_agent_none, "win-overlay", &network_mode_l2bridge));
}

/* A join plans nothing that the cluster's own agent makes, but opens the firewall. */
static void external_plans_no_network(void **state) {
    (void)state;
    scene_open(&scene, "overlay");
    scene.input.plugin = "external";
    assert_int_equal(scene_plan(&scene), 0);
    assert_null(scene.plan.cni_plugin);
    _cleanup_json_ json_t *plan = network_plan_json(&scene.plan);
    assert_string_equal(json_text_at(plan, "plugin"), "external");
    assert_int_equal(json_array_size(json_object_get(plan, "documents")), 0);
    assert_int_equal(json_array_size(json_object_get(plan, "cni")), 0);
    assert_null(json_object_get(plan, "sourceVip"));
    assert_int_equal(json_array_size(json_object_get(plan, "warnings")), 0);
    assert_int_equal(json_array_size(json_object_get(plan, "firewall")), 2);
}

static void firewall(void **state) {
    struct host_firewall_rule rules[FIREWALL_RULES_MAX];
    (void)state;
    scene_open(&scene, "overlay");
    assert_int_equal(scene_plan(&scene), 0);
    assert_int_equal(firewall_rules(&scene.plan, rules), 2);
    assert_string_equal(rules[0].name, "winjoin kubelet");
    assert_int_equal(rules[0].port, 10250);
    assert_false(rules[0].udp);
    assert_string_equal(rules[1].name, "winjoin vxlan");
    assert_int_equal(rules[1].port, 4789);
    assert_true(rules[1].udp);
    scene_close(&scene);
    scene_open(&scene, "l2bridge");
    assert_int_equal(scene_plan(&scene), 0);
    assert_int_equal(firewall_rules(&scene.plan, rules), 1);
}

/* ---- flannel ---- */

static void assert_text(char *text, const char *expected) {
    assert_string_equal(text, expected);
    free(text);
}

static void flannel_writes_its_settings(void **state) {
    (void)state;
    scene_open(&scene, "overlay");
    scene.input.plugin = "flannel";
    scene.input.vni = 4097;
    assert_int_equal(scene_plan(&scene), 0);
    assert_text(
        scene.plan.agent->settings_make(&scene.plan),
        "{\n  \"Network\": \"10.244.0.0/16\",\n  \"Backend\": {\n    \"Type\": \"vxlan\",\n"
        "    \"Name\": \"flannel.4097\",\n    \"VNI\": 4097,\n    \"Port\": 4789\n  }\n}\n");
    scene_close(&scene);
    scene_open(&scene, "l2bridge");
    scene.input.plugin = "flannel";
    text_list_free(&scene.input.cluster_pod_cidrs);
    assert_int_equal(scene_plan(&scene), 0);
    assert_text(
        scene.plan.agent->settings_make(&scene.plan),
        "{\n  \"Network\": \"10.244.1.0/24\",\n  \"Backend\": {\n    \"Type\": \"host-gw\",\n"
        "    \"Name\": \"cbr0\"\n  }\n}\n");
}

/* What flanneld is started with names the files that are written for it. */
static void flannel_is_told_of_its_files(void **state) {
    const struct network_agent *agent = &network_agent_flannel;
    const struct service_settings settings = {.node_name = "w1"};
    _cleanup_(text_list_free) struct text_list arguments = {0};
    _cleanup_(freep) char *conf = xasprintf("--net-config-path=%s", agent->settings_path);
    _cleanup_(freep) char *kubeconfig = xasprintf("--kubeconfig-file=%s", agent->kubeconfig_path);
    const struct service *service = service_by_name(agent->service);
    (void)state;
    assert_int_equal(service_arguments(service, &settings, &arguments, NULL, NULL), 0);
    assert_true(text_list_has(&arguments, conf));
    assert_true(text_list_has(&arguments, kubeconfig));
    assert_true(text_starts_with(service->ready_file, agent->folders[0]));
    assert_true(text_starts_with(agent->settings_path, agent->folders[1]));
}

static struct agent_settings read_settings(const char *text) {
    struct agent_settings settings = {0};
    struct error err = {0};
    if (network_agent_flannel.read_settings(text, &settings, &err) < 0)
        fail_msg("%s", err.message);
    return settings;
}

static void flannel_reads_the_clusters(void **state) {
    struct agent_settings s = read_settings(
        "{\"Network\":\"10.244.0.0/16\",\"Backend\":{\"Type\":\"vxlan\",\"VNI\":4096,\"Port\":1}}");
    (void)state;
    assert_ptr_equal(s.agent, &network_agent_flannel);
    assert_string_equal(s.backend, "vxlan");
    assert_string_equal(s.mode, "overlay");
    assert_int_equal(s.vni, 4096);
    assert_int_equal(s.vxlan_port, 1);
    agent_settings_free(&s);
    assert_null(s.backend);
    s = read_settings("{\"Backend\":{\"Type\":\"host-gw\"}}");
    assert_string_equal(s.mode, "l2bridge");
    assert_int_equal(s.vni, 0);
    agent_settings_free(&s);
    s = read_settings("{\"Backend\":{\"VNI\":16777215,\"Port\":65535}}"); /* the highest */
    assert_int_equal(s.vni, 16777215);
    assert_int_equal(s.vxlan_port, 65535);
    agent_settings_free(&s);
    s = read_settings("{\"network\":\"10.9.0.0/16\",\"BACKEND\":{\"name\":\"cbr0\",\"type\":"
                      "\"vxlan\",\"vni\":5000,\"pOrT\":4789}}"); /* as Go reads it */
    assert_string_equal(s.pod_cidrs.items[0], "10.9.0.0/16");
    assert_int_equal(s.vni, 5000);
    assert_int_equal(s.vxlan_port, 4789);
    agent_settings_free(&s);
    s = read_settings("{}");
    assert_string_equal(s.mode, "overlay");
    agent_settings_free(&s);
}

static void flannel_refuses_what_cannot_be_read(void **state) {
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"{", "net-conf.json"},
        {"{\"Network\":\"10.244.0.0\"}", "net-conf.json: Network"},
        {"{\"IPv6Network\":\"fd00::\"}", "net-conf.json: IPv6Network"},
        {"{\"Backend\":{\"VNI\":16777216}}", "Backend.VNI must be a number from 0 to 16777215"},
        {"{\"Backend\":{\"VNI\":\"1\"}}", "Backend.VNI must be a number"},
        {"{\"Backend\":{\"Port\":65536}}", "Backend.Port must be a number from 0 to 65535"},
        {"{\"Backend\":{\"Port\":-1}}", "Backend.Port must be a number"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct agent_settings settings = {0};
        struct error err = {0};
        assert_int_equal(network_agent_flannel.read_settings(rows[i].text, &settings, &err), -1);
        assert_int_equal(err.kind, ERROR_MALFORMED);
        if (!strstr(err.message, rows[i].says))
            fail_msg("'%s' does not say '%s'", err.message, rows[i].says);
    }
}

static void flannel_checks_the_clusters(void **state) {
    static const struct {
        const char *backend, *says; /* NULL: fine */
    } rows[] = {
        {"\"Type\":\"vxlan\",\"VNI\":4096,\"Port\":4789", NULL},
        {"\"Type\":\"host-gw\"", NULL},
        {"\"Type\":\"vxlan\",\"VNI\":4096", "its port is 8472"},
        {"\"Type\":\"vxlan\",\"Port\":4789", "its VNI is 1"},
        {"\"Type\":\"vxlan\",\"VNI\":4095,\"Port\":4789", "its VNI is 4095"},
        {"\"Type\":\"vxlan\",\"VNI\":4096,\"Port\":4789,\"DirectRouting\":true", "DirectRouting"},
        {"\"Type\":\"vxlan\",\"VNI\":4096,\"Port\":4789,\"GBP\":true", "GBP is on"},
        {"\"Type\":\"host-gw\"},\"EnableIPv6\":true,\"IPv6Network\":\"fd00::/"
         "56\",\"EnableIPv4\":false,"
         "\"Other\":{",
         "EnableIPv4 is off"},
        {"\"Type\":\"wireguard\"", "backend 'wireguard' is not supported on Windows"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *text = xasprintf("{\"Backend\":{%s}}", rows[i].backend);
        struct agent_settings s = read_settings(text);
        struct error err = {0};
        assert_int_equal(s.agent->check_settings(&s, &err), rows[i].says ? -1 : 0);
        if (rows[i].says) {
            assert_int_equal(err.kind, ERROR_UNSUPPORTED);
            if (!strstr(err.message, rows[i].says))
                fail_msg("'%s' does not say '%s'", err.message, rows[i].says);
        }
        agent_settings_free(&s);
    }
}

/* ---- other nodes ---- */

/* A Node with these annotations. */
static json_t *node_of(json_t *annotations) {
    return json_pack("{s:{s:s, s:o}, s:{s:s}, s:{s:[{s:s, s:s}, {s:s, s:s}]}}", "metadata", "name",
                     "l1", "annotations", annotations, "spec", "podCIDR", "10.244.2.0/24", "status",
                     "addresses", "type", "Hostname", "address", "l1", "type", "InternalIP",
                     "address", "10.0.0.31");
}

static void flannel_announces(void **state) {
    _cleanup_json_ json_t *node =
        node_of(flannel_announcement(4096, "00-15-5D-00-00-02", "10.0.0.99"));
    const char *key = "flannel.alpha.coreos.com/kube-subnet-manager";
    struct network_peer peer;
    (void)state;
    network_peer_read(node, &peer);
    assert_string_equal(peer.node, "l1");
    assert_string_equal(peer.pod_cidr, "10.244.2.0/24");
    assert_string_equal(peer.node_address, "10.0.0.31");
    assert_true(peer.announced);
    assert_string_equal(peer.backend, "vxlan");
    assert_string_equal(peer.address, "10.0.0.99");
    assert_string_equal(peer.router_mac, "00:15:5d:00:00:02");
    assert_int_equal(peer.vni, 4096);
    const json_t *annotations = json_at(node, "metadata.annotations");
    assert_string_equal(json_string_value(json_object_get(annotations, key)), "true");
}

static void a_node_that_is_not_announced(void **state) {
    _cleanup_json_ json_t *node = node_of(json_object());
    struct network_peer peer;
    (void)state;
    json_object_del(json_object_get(node, "spec"), "podCIDR");
    json_object_set_new(json_object_get(node, "spec"), "podCIDRs",
                        json_pack("[s]", "10.244.5.0/24"));
    network_peer_read(node, &peer);
    assert_false(peer.announced);
    assert_string_equal(peer.pod_cidr, "10.244.5.0/24");
    assert_null(peer.address);
    assert_string_equal(peer.router_mac, "");
    network_peer_read(NULL, &peer);
    assert_null(peer.node);
}

/* Without an agent the join announces the node itself, where other nodes need to be told. */
static void none_announces(void **state) {
    const struct hcn_network network = {.router_mac = "00-15-5D-00-00-02"};
    struct network_plan plan = {.mode = &network_mode_overlay, .vni = 4097};
    _cleanup_json_ json_t *node =
        node_of(network_agent_none.announce(&plan, &network, "10.0.0.21"));
    struct network_peer peer;
    (void)state;
    network_peer_read(node, &peer);
    assert_string_equal(peer.address, "10.0.0.21");
    assert_int_equal(peer.vni, 4097);
    plan.mode = &network_mode_l2bridge;
    assert_null(network_agent_none.announce(&plan, &network, "10.0.0.21"));
}

/* Neither the node itself nor one that does not say how it is reached. */
static void routes_to_nodes(void **state) {
    json_t *announced = flannel_announcement(1, "0A-0B-00-00-00-01", "10.0.0.99");
    _cleanup_json_ json_t *nodes = json_pack("{s:[o, o]}", "items", node_of(announced),
                                             json_pack("{s:{s:s}, s:{s:s}}", "metadata", "name",
                                                       "w2", "spec", "podCIDR", "10.9.0.0/24"));
    struct network_plan plan = {.mode = &network_mode_overlay, .vni = 4096};
    json_t *routes = node_routes_of_nodes(&plan, nodes, "w1");
    (void)state;
    assert_int_equal(json_array_size(routes), 1);
    assert_text(json_write(routes),
                "[{\"Type\":\"RemoteSubnetRoute\",\"Settings\":{\"DestinationPrefix\":"
                "\"10.244.2.0/24\",\"IsolationId\":4096,\"ProviderAddress\":\"10.0.0.99\","
                "\"DistributedRouterMacAddress\":\"0a:0b:00:00:00:01\"}}]");
    json_decref(routes);
    routes = node_routes_of_nodes(&plan, nodes, "l1");
    assert_int_equal(json_array_size(routes), 0);
    json_decref(routes);
    plan.mode = &network_mode_l2bridge;
    json_object_del(json_array_get(json_object_get(nodes, "items"), 1), "status"); /* no address */
    routes = node_routes_of_nodes(&plan, nodes, "w1");
    assert_text(json_write(routes),
                "[{\"podCIDR\":\"10.244.2.0/24\",\"nodeAddress\":\"10.0.0.31\"}]");
    json_decref(routes);
}

static void flannel_routes_to(void **state) {
    const struct network_peer vxlan = {
        .backend = "vxlan", .address = "10.0.0.31", .router_mac = "0a:0b", .vni = 4096};
    const struct network_peer bridge = {.backend = "host-gw", .address = "10.0.0.31"};
    const struct network_mode *const overlay = &network_mode_overlay;
    struct network_peer other = vxlan;
    (void)state;
    assert_true(network_agent_routes_to(&network_agent_flannel, overlay, 4096, &vxlan));
    assert_false(network_agent_routes_to(&network_agent_flannel, overlay, 4097, &vxlan));
    assert_false(network_agent_routes_to(&network_agent_flannel, overlay, 4096, &bridge));
    assert_true(
        network_agent_routes_to(&network_agent_flannel, &network_mode_l2bridge, 0, &bridge));
    assert_false(
        network_agent_routes_to(&network_agent_flannel, &network_mode_l2bridge, 0, &vxlan));
    other.address = NULL;
    assert_false(network_agent_routes_to(&network_agent_flannel, overlay, 4096, &other));
    other = vxlan;
    other.router_mac[0] = '\0';
    assert_false(network_agent_routes_to(&network_agent_flannel, overlay, 4096, &other));
}

static void names(void **state) {
    static const char *const list[] = {"a", "b", NULL};
    _cleanup_(text_list_free) struct text_list three = {0};
    struct error err = {0};
    (void)state;
    text_list_split(&three, "alpha,beta,gamma", ',');
    assert_int_equal(name_check("word", "beta", &three, &err), 0);
    assert_int_equal(name_check("word", "gama", &three, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    assert_string_equal(err.message, "unknown word 'gama': use alpha, beta or gamma");
    assert_string_equal(err.hints[0], "did you mean gamma?");
    assert_ptr_equal(name_find(list, "b"), list[1]);
    assert_null(name_find(list, "c"));
    assert_null(name_find(NULL, "a"));
}

/* Words of agents and plugins, for which people take a mode's name. */
static void a_mode_by_another_word(void **state) {
    static const char *const words[][2] = {
        {"vxlan", "did you mean overlay?"},      {"VXLAN", "did you mean overlay?"},
        {"host-gw", "did you mean l2bridge?"},   {"win-bridge", "did you mean l2bridge?"},
        {"bridge", "did you mean l2bridge?"},    {"tunnel", "did you mean l2tunnel?"},
        {"sdnoverlay", "did you mean overlay?"}, {"ics", ""},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
        struct error err = {0};
        assert_int_equal(network_mode_check(words[i][0], &err), -1);
        assert_int_equal(err.kind, ERROR_USAGE);
        assert_string_equal(err.hints[0], words[i][1]);
        assert_string_equal(err.hints[1], "");
    }
    assert_int_equal(network_mode_check("vxlan", NULL), -1);
}

/* At boot the file goes by which pods would start before the agent's network stands. */
static void pods_wait_for_the_agent_at_boot(void **state) {
    static const char conf[] = "{\"cniVersion\": \"1.0.0\", \"name\": \"n\", \"type\": \"t\"}";
    static const struct {
        bool booting;
        const char *agent;
        bool removed;
    } rows[] = {{true, "calico", true}, {true, NULL, false}, {false, "calico", false}};
    const char *path = CNI_CONF_DIR "\\10-calico.conf";
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(text_list_free) struct text_list did = {0};
        struct host *host = host_memory_new();
        const struct network_input input = {.daemon_set_agent = rows[i].agent};
        const struct network_restore restore = {
            .host = host, .input = &input, .booting = rows[i].booting, .did = &did};
        assert_int_equal(network_agent_external.restore(&restore, NULL), 0); /* no file */
        assert_int_equal(did.count, 0);
        assert_int_equal(host_write(host, path, conf, strlen(conf), HOST_PUBLIC, NULL), 0);
        assert_int_equal(network_agent_external.restore(&restore, NULL), 0);
        assert_int_equal(host_file_type(host, path) == HOST_ABSENT, rows[i].removed);
        assert_int_equal(did.count, rows[i].removed);
        host_free(host);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(every_mode_is_whole, close_scene),
        cmocka_unit_test(every_agent_is_whole),
        cmocka_unit_test(plugins),
        cmocka_unit_test_teardown(external_plans_no_network, close_scene),
        cmocka_unit_test_teardown(firewall, close_scene),
        cmocka_unit_test_teardown(flannel_writes_its_settings, close_scene),
        cmocka_unit_test(flannel_is_told_of_its_files),
        cmocka_unit_test(flannel_reads_the_clusters),
        cmocka_unit_test(flannel_refuses_what_cannot_be_read),
        cmocka_unit_test(flannel_checks_the_clusters),
        cmocka_unit_test(flannel_announces),
        cmocka_unit_test(a_node_that_is_not_announced),
        cmocka_unit_test(none_announces),
        cmocka_unit_test(routes_to_nodes),
        cmocka_unit_test(flannel_routes_to),
        cmocka_unit_test(names),
        cmocka_unit_test(a_mode_by_another_word),
        cmocka_unit_test(pods_wait_for_the_agent_at_boot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
