/* Agents of DaemonSets: found by their DaemonSets, and read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "netsetup/agents/agent.h"
#include "netsetup/agents/daemon_set_agent.h"
#include "node/chosen.h"
#include "tests/scene/cluster_network_scene.h"

static void assert_same_text(const char *a, const char *b) {
    assert_string_equal(a ? a : "none", b ? b : "none");
}

static const struct {
    struct cluster cluster;
    const char *agent, *mode, *backend;
    unsigned vni, port;
    bool proxies;
    const char *kube_proxy;
} found_rows[] = {
    {{.sets = {CALICO, PROXY}, .variables = {{"CALICO_NETWORKING_BACKEND", "vxlan"}}},
     "calico",
     "overlay",
     "vxlan",
     4096,
     4789,
     false,
     PROXY},
    {{.sets = {CALICO},
      .variables = {{"CALICO_NETWORKING_BACKEND", "vxlan"}, {"VXLAN_VNI", "5000"}}},
     "calico",
     "overlay",
     "vxlan",
     5000,
     4789,
     false,
     NULL},
    {{.sets = {CALICO}, .variables = {{"CALICO_NETWORKING_BACKEND", "windows-bgp"}}},
     "calico",
     "l2bridge",
     "windows-bgp",
     0,
     0,
     false,
     NULL},
    /* the manifests' ConfigMap; a variable wins */
    {{.sets = {CALICO},
      .map = "/calico-system/configmaps/calico-windows-config",
      .data = {{"CALICO_NETWORKING_BACKEND", "windows-bgp"}, {"VXLAN_VNI", "x"}},
      .variables = {{"VXLAN_VNI", "4097"}}},
     "calico",
     "l2bridge",
     "windows-bgp",
     0,
     0,
     false,
     NULL},
    {{.sets = {CALICO}, .variables = {{"CALICO_NETWORKING_BACKEND", "ipip"}}},
     "calico",
     NULL,
     "ipip",
     0,
     0,
     false,
     NULL},
    {{.sets = {CALICO}, .variables = {{"CALICO_NETWORKING_BACKEND", "none"}}},
     NULL,
     NULL,
     NULL,
     0,
     0,
     false,
     NULL},
    {{.sets = {ANTREA}, .map = ANTREA_MAP, .data = {{CONF, "antreaProxy: {proxyAll: true}\n"}}},
     "antrea",
     "transparent",
     "encap",
     0,
     6081,
     true,
     NULL},
    {{.sets = {ANTREA}, .map = ANTREA_MAP, .data = {{CONF, "tunnelType: vxlan\n"}}},
     "antrea",
     "transparent",
     "encap",
     0,
     4789,
     false,
     NULL},
    {{.sets = {ANTREA}, .map = ANTREA_MAP, .data = {{CONF, "tunnelPort: 7000\n"}}},
     "antrea",
     "transparent",
     "encap",
     0,
     7000,
     false,
     NULL},
    {{.sets = {ANTREA},
      .map = ANTREA_MAP,
      .data = {{CONF, "trafficEncapMode: noEncap\nantreaProxy: {enable: false, proxyAll: true}"}}},
     "antrea",
     "transparent",
     "noEncap",
     0,
     6081,
     false,
     NULL},
    /* may not be read: the documentation's settings */
    {{.sets = {ANTREA}}, "antrea", "transparent", "encap", 0, 6081, true, NULL},
    {{.sets = {FLANNEL, PROXY}, .net_conf = NET_CONF},
     "flannel",
     "overlay",
     "vxlan",
     4096,
     4789,
     false,
     PROXY},
    {{.sets = {CALICO},
      .net_conf = NET_CONF,
      .variables = {{"CALICO_NETWORKING_BACKEND", "windows-bgp"}}},
     "calico",
     "l2bridge",
     "windows-bgp",
     0,
     0,
     false,
     NULL},
    {{.sets = {PROXY}, .net_conf = NET_CONF}, NULL, "overlay", "vxlan", 4096, 4789, false, PROXY},
    {{.sets = {"x/y"}}, NULL, NULL, NULL, 0, 0, false, NULL},
};

/* What it starts with counts; what its containers are given counts more. */
static void what_a_daemon_set_is_given(void **state) {
    static const char text[] =
        "{\"spec\":{\"template\":{\"spec\":{\"volumes\":[{\"name\":\"v\",\"hostPath\":{\"path\":"
        "\"/"
        "p\"}},{\"name\":\"w\"}],\"initContainers\":[{\"env\":[{\"name\":\"a\",\"value\":\"1\"},{"
        "\"name\":\"b\",\"value\":\"1\"}]}],\"containers\":[{\"env\":[{\"name\":\"b\",\"value\":"
        "\"2\"},{"
        "\"name\":\"c\"}]}]}}}}";
    _cleanup_json_ json_t *set = NULL, *variables = NULL;
    _cleanup_(freep) char *is = NULL;

    (void)state;
    assert_int_equal(json_read(text, strlen(text), "set", &set, NULL), 0);
    variables = daemon_set_agent_variables(set);
    is = json_write(variables);
    assert_string_equal(is, "{\"v\":\"/p\",\"a\":\"1\",\"b\":\"2\"}");
}

/* By one list; where that may not be read, or does not hold them all, by their names. */
static void agents_are_found(void **state) {
    (void)state;
    for (size_t k = 0; k < 3 * ARRAY_SIZE(found_rows); k++) {
        size_t i = k / 3;
        struct cluster cluster = found_rows[i].cluster;
        const struct agent_settings *n;
        struct scene s;
        cluster.by_name = k % 3 == 1;
        cluster.many = k % 3 == 2;
        open_scene(&s, &cluster);
        n = &s.config.network;
        assert_int_equal(read_network(&s), 0);
        assert_ptr_equal(n->daemon_set_agent, daemon_set_agent_by_name(found_rows[i].agent));
        if (n->daemon_set_agent) {
            assert_ptr_equal(n->agent, &network_agent_external);
            assert_string_equal(n->daemon_set, found_rows[i].cluster.sets[0]);
            if (n->daemon_set_agent->settings_of)
                assert_int_equal(n->agent->check_settings(n, &s.err), 0);
        }
        assert_same_text(n->mode, found_rows[i].mode);
        assert_same_text(n->backend, found_rows[i].backend);
        assert_same_text(n->kube_proxy, found_rows[i].kube_proxy);
        assert_int_equal(n->vni, found_rows[i].vni);
        assert_int_equal(n->vxlan_port, found_rows[i].port);
        assert_int_equal(n->proxies, found_rows[i].proxies);
        assert_int_equal(s.config.network_unread, cluster.by_name && !n->agent);
        close_scene(&s);
    }
}

/* A DaemonSet of an agent that has no ConfigMap: the last question, and not asked where another
 * answer is known. */
static void azure_is_found_last(void **state) {
    static const struct cluster clusters[] = {
        {.sets = {CNS}},
        {.sets = {CNS}, .net_conf = NET_CONF},
        {.sets = {CALICO, CNS}},
        {.sets = {CNS}, .refused = "configmaps/kube-flannel-cfg"}}; /* as by config cluster */
    static const char *const plugins[] = {"azure-cns", "flannel", "external", "azure-cns"};
    static const int requests[] = {3, 2, 5, 3};
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(clusters); i++) {
        struct scene s;
        open_scene(&s, &clusters[i]);
        assert_int_equal(read_network(&s), 0);
        assert_string_equal(s.config.network.agent->plugin, plugins[i]);
        assert_same_text(s.config.network.daemon_set, i == 1 ? NULL : clusters[i].sets[0]);
        assert_int_equal(s.config.network.mode == NULL, i == 0 || i == 3);
        assert_int_equal(http_memory_requests(s.http), requests[i]);
        close_scene(&s);
    }
}

/* What was asked for by name in a cluster without it costs one request, two for flannel's settings,
 * which no DaemonSet has to run, and one for a network that no name tells. */
static void what_is_not_there_is_not_asked_for(void **state) {
    static const struct {
        struct cluster cluster;
        int requests;
    } rows[] = {{{.sets = {"kube-system/other"}}, 4},
                {{.sets = {"kube-system/cilium"}}, 3},
                {{.sets = {"kube-system/kube-flannel-ds-amd64"}}, 4},
                {{.sets = {"kube-system/other"}, .by_name = true}, 24},
                {{.sets = {"kube-system/other"}, .many = true}, 24}};
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct scene s;
        open_scene(&s, &rows[i].cluster);
        assert_int_equal(read_network(&s), 0);
        assert_null(s.config.network.agent);
        assert_int_equal(http_memory_requests(s.http), rows[i].requests);
        close_scene(&s);
    }
}

/* Of an older installation, whose DaemonSet has a name of its own: its settings tell it. */
static void settings_tell_what_no_name_does(void **state) {
    static const struct cluster cluster = {
        .sets = {"kube-system/other"},
        .map = "/kube-system/configmaps/kube-flannel-cfg",
        .data = {{"net-conf.json", "{\"Backend\":{\"Type\":\"host-gw\"}}"}}};
    struct scene s;

    (void)state;
    open_scene(&s, &cluster);
    assert_int_equal(read_network(&s), 0);
    assert_non_null(s.config.network.agent);
    assert_string_equal(s.config.network.backend, "host-gw");
    assert_false(s.config.network_unread);
    close_scene(&s);
}

/* Where nothing serves Windows nodes, what makes the network of the others is found by name. */
static void a_network_of_linux_alone_is_known(void **state) {
    static const struct cluster clusters[] = {
        {.sets = {"calico-system/calico-node"}},
        {.sets = {"kube-system/rke2-canal"}},
        {.sets = {"kube-system/cilium"}},
        {.sets = {"kube-system/kindnet"}},
        {.sets = {CALICO, "calico-system/calico-node"}},
        {.sets = {"kube-system/other"}},
        {.sets = {"kube-system/other"}, .cni_bin = "/opt/cni/bin", .host_network = true},
        {.sets = {"mesh/other"}, .cni_bin = "/opt/cni/bin"},
        {.sets = {"logs/other"}, .cni_bin = "/var/log", .host_network = true}};
    static const char *const titles[] = {"Calico", "Canal",     "Cilium", "kindnet", NULL,
                                         NULL,     "a network", NULL,     NULL};
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(clusters); i++) {
        struct scene s;
        const struct linux_agent *found;
        open_scene(&s, &clusters[i]);
        assert_int_equal(read_network(&s), 0);
        found = s.config.network.linux_agent;
        assert_same_text(found ? found->title : NULL, titles[i]);
        assert_int_equal(s.config.network.linux_set != NULL, titles[i] != NULL);
        if (titles[i])
            assert_same_text(s.config.network.linux_set + strlen("DaemonSet "),
                             clusters[i].sets[0]);
        close_scene(&s);
    }
}

/* Calico by its manifest has no Installation to patch. */
static void the_remedy_is_that_of_the_way_it_came(void **state) {
    const struct linux_agent *calico = &linux_agents[0], *antrea = &linux_agents[1];
    (void)state;
    assert_non_null(
        strstr(linux_agent_remedy(calico, "DaemonSet calico-system/calico-node"), "patch"));
    assert_non_null(
        strstr(linux_agent_remedy(calico, "DaemonSet kube-system/calico-node"), "migration"));
    assert_ptr_equal(linux_agent_remedy(antrea, "DaemonSet kube-system/antrea-agent"),
                     antrea->remedy);
    for (const struct linux_agent *a = linux_agents; a->title; a++) /* whole in a hint */
        assert_in_range(strlen(a->remedy), 1, ERROR_HINT_MAX - 1);
    assert_in_range(strlen(linux_agent_unknown.remedy), 1, ERROR_HINT_MAX - 1);
}

static void what_may_not_be_read_is_said(void **state) {
    static const struct cluster clusters[] = {
        {.sets = {CALICO}, .net_conf = NET_CONF, .refused = "daemonsets"},
        {.sets = {ANTREA}, .map = ANTREA_MAP, .refused = "configmaps/antrea"}};
    struct scene s;
    (void)state;
    open_scene(&s, &clusters[0]);
    assert_int_equal(read_network(&s), 0);
    assert_true(s.config.network_unread);
    assert_ptr_equal(s.config.network.agent, &network_agent_flannel);
    assert_int_equal(http_memory_requests(s.http), 3); /* after the first by name no other one */
    close_scene(&s);
    open_scene(&s, &clusters[1]);
    assert_int_equal(read_network(&s), 0);
    assert_true(s.config.network_unread);
    assert_ptr_equal(s.config.network.daemon_set_agent, &daemon_set_agent_antrea);
    close_scene(&s);
}

/* By an older manifest each is granted by its name: one of another name may be there. */
static void one_of_no_known_name_may_be_unread(void **state) {
    static const struct cluster cluster = {.sets = {"kube-system/other"}, .by_name = true};
    struct scene s;
    (void)state;
    open_scene(&s, &cluster);
    assert_int_equal(read_network(&s), 0);
    assert_true(s.config.network_unread);
    close_scene(&s);
}

/* What fails is not taken for what is not there. */
static void a_request_that_fails_is_told(void **state) {
    static const struct cluster clusters[] = {
        {.sets = {CALICO}, .failing = "daemonsets"},
        {.sets = {ANTREA}, .map = ANTREA_MAP, .failing = "configmaps/antrea-windows"},
        {.sets = {CALICO, PROXY}, .failing = "kube-proxy-windows"},
        {.sets = {CNS}, .failing = "azure-cns-win"}};
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(clusters); i++) {
        struct scene s;
        open_scene(&s, &clusters[i]);
        if (read_network(&s) == 0)
            fail_msg("%s", clusters[i].failing);
        assert_int_equal(s.err.kind, ERROR_DENIED);
        close_scene(&s);
    }
}

static void nonsense_is_refused(void **state) {
    static const struct cluster clusters[] = {
        {.sets = {CALICO}, .variables = {{"VXLAN_VNI", "0"}}},
        {.sets = {CALICO}, .variables = {{"VXLAN_VNI", "16777216"}}},
        {.sets = {CALICO}, .variables = {{"CALICO_IPV6POOL_CIDR", "fd00::/200"}}},
        {.sets = {CALICO}, .variables = {{"KUBERNETES_SERVICE_CIDRS", "10.96.0.0/12,x"}}},
        {.sets = {ANTREA}, .map = ANTREA_MAP, .data = {{CONF, "a: [1\n"}}},
        {.sets = {ANTREA}, .others = {{CONF, "a: [1\n"}}},
        {.sets = {ANTREA},
         .others = {{CONTROLLER, "nodeIPAM: {enableNodeIPAM: true, clusterCIDRs: [10.1.0.0]}"}}},
        {.net_conf = "{"}};
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(clusters); i++) {
        struct scene s;
        open_scene(&s, &clusters[i]);
        assert_int_equal(read_network(&s), -1);
        assert_int_equal(s.err.kind, ERROR_USAGE);
        assert_non_null(strstr(s.err.message, i < 7 ? "DaemonSet " : "ConfigMap "));
        close_scene(&s);
    }
}

static void folders_are_compared_as_windows_does(void **state) {
    static const struct {
        const char *path;
        bool same;
    } rows[] = {{"/opt/cni/bin", true},
                {"C:\\opt\\cni\\bin", true},
                {"c:\\\\opt\\\\cni\\\\bin\\", true},
                {"/host/opt/cni/bin", true},
                {"/host", false},
                {"/hostopt/cni/bin", false},
                {"c:/Opt/CNI/bin/", true},
                {"b:/opt/cni/bin", false},
                {"d:/opt/cni/bin", false},
                {"c:opt/cni/bin", true},
                {"c:", false},
                {"/opt/cni", false},
                {"/opt/cni/bin/x", false},
                {"", false},
                {"c", false}};
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        assert_int_equal(daemon_set_agent_same_folder(rows[i].path, "C:\\opt\\cni\\bin"),
                         rows[i].same);
}

static void every_daemon_set_agent_is_whole(void **state) {
    (void)state;
    for (size_t i = 0; daemon_set_agents[i]; i++) {
        assert_ptr_equal(daemon_set_agent_by_name(daemon_set_agents[i]->name),
                         daemon_set_agents[i]);
        assert_non_null(daemon_set_agents[i]->title);
        assert_non_null(daemon_set_agents[i]->daemon_set);
        assert_non_null(daemon_set_agents[i]->removal);
        assert_true(daemon_set_agents[i]->read || daemon_set_agents[i]->settings_of);
        for (const struct daemon_set_network *n = daemon_set_agents[i]->networks; n->mode; n++) {
            const struct network_mode *mode = network_mode_by_name(n->mode);
            assert_true(!mode || text_equal(mode->hns_type, n->hns_type));
            assert_int_equal(n->service != NULL, n->service_reason && n->service_hint);
        }
    }
    assert_null(daemon_set_agent_by_name("cilium"));
    assert_null(daemon_set_agent_network(NULL, NULL));
}

/* The plan knows whose network it is, and so does the node at boot. */
static void the_plan_names_the_agent(void **state) {
    struct network_input input = {.plugin = "external",
                                  .daemon_set_agent = "calico",
                                  .mode = "l2bridge",
                                  .pod_cidr = "10.244.1.0/24",
                                  .management = "10.0.0.21/24"};
    struct chosen again = {0};
    struct network_plan plan = {0};
    (void)state;
    text_list_add(&input.service_cidrs, "10.96.0.0/12");
    assert_int_equal(network_plan_make(&input, &plan, NULL), 0);
    _cleanup_json_ json_t *json = network_plan_json(&plan),
                          *file =
                              chosen_json(&(struct chosen){.node = "win-7k2", .network = input});
    assert_ptr_equal(plan.daemon_set_agent, &daemon_set_agent_calico);
    assert_string_equal(plan.name, "Calico");
    assert_string_equal(json_text_at(json, "agent"), "calico");
    assert_int_equal(chosen_read(file, &again, NULL), 0);
    assert_string_equal(again.network.daemon_set_agent, "calico");
    chosen_free(&again);
    network_plan_free(&plan);
    text_list_free(&input.service_cidrs);
}

/* Antrea's tunnels come in by the port that its settings say. */
static void the_firewall_is_opened_for_tunnels(void **state) {
    static const unsigned ports[][2] = {{0, 6081}, {4789, 4789}}; /* as the cluster says, rule */
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(ports); i++) {
        struct network_input input = {.plugin = "external",
                                      .daemon_set_agent = "antrea",
                                      .mode = "transparent",
                                      .vxlan_port = ports[i][0],
                                      .management = "10.0.0.21/24"};
        struct network_plan plan = {0};
        text_list_add(&input.service_cidrs, "10.96.0.0/12");
        assert_int_equal(network_plan_make(&input, &plan, NULL), 0);
        _cleanup_json_ json_t *json = network_plan_json(&plan);
        assert_string_equal(json_text_at(json, "firewall.1.name"), "winjoin geneve");
        assert_string_equal(json_text_at(json, "firewall.1.protocol"), "UDP");
        assert_int_equal(json_number_at(json, "firewall.1.port", 0), ports[i][1]);
        network_plan_free(&plan);
        text_list_free(&input.service_cidrs);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_daemon_set_is_given),
        cmocka_unit_test(agents_are_found),
        cmocka_unit_test(azure_is_found_last),
        cmocka_unit_test(what_is_not_there_is_not_asked_for),
        cmocka_unit_test(settings_tell_what_no_name_does),
        cmocka_unit_test(a_network_of_linux_alone_is_known),
        cmocka_unit_test(the_remedy_is_that_of_the_way_it_came),
        cmocka_unit_test(what_may_not_be_read_is_said),
        cmocka_unit_test(one_of_no_known_name_may_be_unread),
        cmocka_unit_test(a_request_that_fails_is_told),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(folders_are_compared_as_windows_does),
        cmocka_unit_test(every_daemon_set_agent_is_whole),
        cmocka_unit_test(the_plan_names_the_agent),
        cmocka_unit_test(the_firewall_is_opened_for_tunnels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
