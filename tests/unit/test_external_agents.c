/* External agents: found by their DaemonSets, read, and held against what a call asks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "join/configuration/cluster_network.h"
#include "join/found/network_fit.h"
#include "netsetup/agents/external_agent.h"
#include "netsetup/boot_network.h"
#include "tests/memory/host_memory.h"
#include "tests/memory/http_memory.h"

#define PROXY "kube-system/kube-proxy-windows"
#define NET_CONF                                                                                   \
    "{\"Network\": \"10.244.0.0/16\", \"Backend\": {\"Type\": \"vxlan\", \"VNI\": 4096, "          \
    "\"Port\": 4789}}"

/* A cluster: DaemonSets "namespace/name", variables of the first, a ConfigMap's data. */
struct cluster {
    const char *sets[3];
    const char *variables[4][2];
    const char *map, *data[2][2];
    const char *net_conf; /* of kube-flannel-cfg */
    const char *refused;  /* in the path: 403 */
};
struct scene {
    struct host *host;
    struct http *http;
    struct kube_client client;
    const struct cluster *cluster;
    struct cluster_config config;
    struct error err;
};

static json_t *daemon_set(const struct cluster *cluster, const char *name) {
    size_t len = strcspn(name, "/");
    _cleanup_(freep) char *name_space = xstrndup(name, len);
    json_t *variables = json_array();
    for (size_t i = 0; i < ARRAY_SIZE(cluster->variables) && cluster->variables[i][0]; i++)
        json_array_append_new(variables, json_pack("{s:s, s:s}", "name", cluster->variables[i][0],
                                                   "value", cluster->variables[i][1]));
    json_array_append_new(variables, json_pack("{s:s, s:{}}", "name", "NODENAME", "valueFrom"));
    return json_pack("{s:{s:s, s:s}, s:{s:{s:{s:[{s:s}], s:[{s:o}]}}}}", "metadata", "namespace",
                     name_space, "name", name + len + 1, "spec", "template", "spec",
                     "initContainers", "name", "install", "containers", "env", variables);
}

static json_t *answer_object(const struct cluster *c, const char *url) {
    const char *name = strstr(url, "metadata.name%3D");
    if (name) {
        json_t *items = json_array();
        for (size_t i = 0; i < ARRAY_SIZE(c->sets) && c->sets[i]; i++) {
            if (text_equal(strchr(c->sets[i], '/') + 1, name + strlen("metadata.name%3D")))
                json_array_append_new(items, daemon_set(c, c->sets[i]));
        }
        return json_pack("{s:s, s:o}", "kind", "DaemonSetList", "items", items);
    }
    if (c->net_conf && strstr(url, "/kube-flannel/configmaps/kube-flannel-cfg"))
        return json_pack("{s:{s:s}}", "data", "net-conf.json", c->net_conf);
    if (c->map && text_ends_with(url, c->map)) {
        json_t *data = json_object();
        for (size_t i = 0; i < ARRAY_SIZE(c->data) && c->data[i][0]; i++)
            json_object_set_new(data, c->data[i][0], json_string(c->data[i][1]));
        return json_pack("{s:o}", "data", data);
    }
    return NULL;
}

static int answer(void *context, const struct http_request *request, struct http_response *ret,
                  struct error *err) {
    struct scene *s = context;
    bool refused = s->cluster->refused && strstr(request->url, s->cluster->refused);
    _cleanup_json_ json_t *object = refused ? NULL : answer_object(s->cluster, request->url);
    (void)err;
    ret->status = refused ? 403 : object ? 200 : 404;
    ret->body = object ? json_write(object) : xstrdup("{\"message\":\"no\"}");
    ret->body_len = strlen(ret->body);
    return 0;
}

static void open_scene(struct scene *s, const struct cluster *cluster) {
    struct kubeconfig config = {
        .server = (char *)"https://k", .ca_pem = (char *)"CA", .token = (char *)"t"};
    *s = (struct scene){.cluster = cluster, .host = host_memory_new()};
    s->http = http_memory_new(answer, s);
    assert_int_equal(kube_client_open(s->http, s->host, &config, &s->client, NULL), 0);
}

static void close_scene(struct scene *s) {
    cluster_config_free(&s->config);
    kube_client_close(&s->client);
    http_free(s->http);
    host_free(s->host);
}

static int read_network(struct scene *s) {
    return cluster_network_read(&s->client, 3000, &s->config.network, &s->config.network_unread,
                                &s->err);
}

#define CALICO "calico-system/calico-node-windows"
#define ANTREA "kube-system/antrea-agent-windows"
#define FLANNEL "kube-flannel/kube-flannel-ds-windows-amd64"
#define ANTREA_MAP "/kube-system/configmaps/antrea-windows-config"
#define CONF "antrea-agent.conf"

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
     0,
     true,
     NULL},
    {{.sets = {ANTREA},
      .map = ANTREA_MAP,
      .data = {{CONF, "trafficEncapMode: noEncap\nantreaProxy: {enable: false, proxyAll: true}"}}},
     "antrea",
     "transparent",
     "noEncap",
     0,
     0,
     false,
     NULL},
    /* may not be read: the documentation's settings */
    {{.sets = {ANTREA}}, "antrea", "transparent", "encap", 0, 0, true, NULL},
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

static void agents_are_found(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(found_rows); i++) {
        const struct agent_settings *n;
        struct scene s;
        open_scene(&s, &found_rows[i].cluster);
        n = &s.config.network;
        assert_int_equal(read_network(&s), 0);
        assert_ptr_equal(n->external, external_agent_by_name(found_rows[i].agent));
        if (n->external) {
            assert_ptr_equal(n->agent, &network_agent_external);
            assert_string_equal(n->daemon_set, found_rows[i].cluster.sets[0]);
        }
        assert_same_text(n->mode, found_rows[i].mode);
        assert_same_text(n->backend, found_rows[i].backend);
        assert_same_text(n->kube_proxy, found_rows[i].kube_proxy);
        assert_int_equal(n->vni, found_rows[i].vni);
        assert_int_equal(n->vxlan_port, found_rows[i].port);
        assert_int_equal(n->proxies, found_rows[i].proxies);
        assert_false(s.config.network_unread);
        close_scene(&s);
    }
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
    assert_int_equal(http_memory_requests(s.http), 2); /* after the first refusal no other one */
    close_scene(&s);
    open_scene(&s, &clusters[1]);
    assert_int_equal(read_network(&s), 0);
    assert_true(s.config.network_unread);
    assert_ptr_equal(s.config.network.external, &external_agent_antrea);
    close_scene(&s);
}

static void nonsense_is_refused(void **state) {
    static const struct cluster clusters[] = {
        {.sets = {CALICO}, .variables = {{"VXLAN_VNI", "0"}}},
        {.sets = {CALICO}, .variables = {{"VXLAN_VNI", "16777216"}}},
        {.sets = {ANTREA}, .map = ANTREA_MAP, .data = {{CONF, "a: [1\n"}}},
        {.net_conf = "{"}};
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(clusters); i++) {
        struct scene s;
        open_scene(&s, &clusters[i]);
        assert_int_equal(read_network(&s), -1);
        assert_int_equal(s.err.kind, ERROR_MALFORMED);
        assert_non_null(strstr(s.err.message, i < 3 ? "DaemonSet " : "ConfigMap "));
        close_scene(&s);
    }
}

/* Both sides are named, and what to do. */
#define VXLAN .sets = {CALICO}, .variables = {{"CALICO_NETWORKING_BACKEND", "vxlan"}}
static const struct {
    struct cluster cluster;
    struct join_options options;
    const char *pods, *says, *hint;
} fit_rows[] = {
#define T(text) (char *)(text)
#define ONE(text)                                                                                  \
    { .items = (char *[]){T(text)}, .count = 1 }
    {{VXLAN}, {.network_plugin = T("external")}, NULL, NULL, NULL},
    {{VXLAN},
     {.network_plugin = T("flannel")},
     NULL,
     "network plugin 'flannel' does not fit: DaemonSet " CALICO
     " makes the pod network of Windows nodes (Calico)",
     "use --network-plugin external, or delete that DaemonSet first"},
    {{VXLAN},
     {.network_mode = T("l2bridge")},
     NULL,
     "network mode 'l2bridge' does not fit: the cluster's Calico uses vxlan, which is mode "
     "'overlay'",
     "leave --network-mode out: winjoin reads it from DaemonSet " CALICO},
    {{VXLAN}, {.network_mode = T("Overlay"), .vni = 4096, .vxlan_port = 4789}, NULL, NULL, NULL},
    {{VXLAN},
     {.vni = 4097},
     NULL,
     "--vni 4097 does not fit: the cluster's Calico uses 4096",
     "leave --vni out: winjoin reads it from DaemonSet " CALICO},
    {{VXLAN},
     {.vxlan_port = 8472},
     NULL,
     "--vxlan-port 8472 does not fit: the cluster's Calico uses 4789",
     "leave --vxlan-port out"},
    {{.sets = {CALICO}, .variables = {{"CALICO_NETWORKING_BACKEND", "ipip"}}},
     {0},
     NULL,
     "Calico's backend 'ipip' is not supported on Windows (vxlan and windows-bgp are)",
     "set CALICO_NETWORKING_BACKEND of DaemonSet " CALICO},
    {{.sets = {CALICO}, .variables = {{"VXLAN_VNI", "1"}}},
     {0},
     NULL,
     "Calico's VNI 1 is not supported on Windows: 4096 and above are",
     "set vxlanVNI of"},
    {{.sets = {CALICO}, .variables = {{"CNI_BIN_DIR", "/Program Files/containerd/cni/bin"}}},
     {0},
     NULL,
     "DaemonSet " CALICO " writes to '/Program Files/containerd/cni/bin', but this node's "
     "containerd reads 'C:\\opt\\cni\\bin'",
     "set CNI_BIN_DIR of the DaemonSet to C:\\opt\\cni\\bin"},
    {{.sets = {CALICO},
      .variables = {{"CNI_BIN_DIR", "/opt/cni/bin"}, {"CNI_CONF_DIR", "c:\\etc\\cni"}}},
     {0},
     NULL,
     "DaemonSet " CALICO " writes to 'c:\\etc\\cni', but this node's containerd reads "
     "'C:\\etc\\cni\\net.d'",
     "set CNI_CONF_DIR"},
    {{.sets = {ANTREA}, .map = ANTREA_MAP, .data = {{CONF, "antreaProxy: {proxyAll: false}"}}},
     {0},
     NULL,
     "the cluster's Antrea does not support Windows nodes: antreaProxy.proxyAll is off, and no "
     "kube-proxy for Windows works beside it",
     "set antreaProxy.proxyAll: true"},
    {{.sets = {ANTREA},
      .map = ANTREA_MAP,
      .data = {{CONF, "tunnelType: gre\nantreaProxy: {proxyAll: true}"}}},
     {0},
     NULL,
     "the cluster's Antrea does not support Windows nodes: its tunnelType is gre",
     "change it in antrea-agent.conf of the ConfigMaps"},
    {{.sets = {ANTREA, PROXY}},
     {0},
     NULL,
     "DaemonSet " PROXY " does not fit: the cluster's Antrea does kube-proxy's work on Windows "
     "nodes",
     "kubectl delete daemonset -n kube-system kube-proxy-windows"},
    {{.sets = {PROXY}, .net_conf = NET_CONF},
     {0},
     NULL,
     "kube-proxy as a service does not fit: DaemonSet " PROXY " runs it on Windows nodes",
     "use --kube-proxy none, or delete that DaemonSet first"},
    {{.sets = {PROXY}, .net_conf = NET_CONF}, {.kube_proxy = T("none")}, NULL, NULL, NULL},
    {{.net_conf = NET_CONF},
     {.network_mode = T("l2bridge")},
     NULL,
     "network mode 'l2bridge' does not fit: the cluster's flannel uses vxlan, which is mode "
     "'overlay'",
     "leave --network-mode out: winjoin reads it from ConfigMap kube-flannel/kube-flannel-cfg"},
    {{.net_conf = NET_CONF},
     {.pod_cidrs = ONE("10.245.1.0/24")},
     NULL,
     "--pod-cidr 10.245.1.0/24 does not fit: the cluster's flannel serves the pod prefix "
     "10.244.0.0/16",
     "choose a prefix inside of it, or leave --pod-cidr out"},
    {{.net_conf = NET_CONF},
     {.pod_cidrs = ONE("10.240.0.0/12")},
     NULL,
     "--pod-cidr 10.240.0.0/12 does not fit: the cluster's flannel serves the pod prefix "
     "10.244.0.0/16",
     "choose a prefix inside of it, or leave --pod-cidr out"},
    {{.net_conf = NET_CONF}, {.pod_cidrs = ONE("10.244.0.0/16")}, "10.240.0.0/12", NULL, NULL},
    {{.net_conf = NET_CONF}, {.pod_cidrs = ONE("10.244.1.0/24")}, "fd00::/48", NULL, NULL},
    {{.net_conf = NET_CONF},
     {0},
     "192.168.0.0/16",
     "podSubnet 192.168.0.0/16 does not fit: the cluster's flannel serves the pod prefix "
     "10.244.0.0/16",
     "make Network of ConfigMap kube-flannel/kube-flannel-cfg and podSubnet of kubeadm-config "
     "the same"},
};

static void what_does_not_fit_is_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(fit_rows); i++) {
        const struct join_options *o = &fit_rows[i].options;
        struct network_input input = {.plugin = o->network_plugin};
        struct scene s;
        int result;
        open_scene(&s, &fit_rows[i].cluster);
        assert_int_equal(read_network(&s), 0);
        if (!input.plugin)
            input.plugin = s.config.network.agent->plugin;
        if (fit_rows[i].pods)
            text_list_add(&s.config.pod_subnets, fit_rows[i].pods);
        result = network_fit_check(&s.config, o, &input, &s.err);
        if (fit_rows[i].says) {
            assert_int_equal(result, -1);
            assert_string_equal(s.err.message, fit_rows[i].says);
            assert_true(text_starts_with(s.err.hints[0], fit_rows[i].hint));
        } else {
            assert_int_equal(result, 0);
        }
        close_scene(&s);
    }
}

static void folders_are_compared_as_windows_does(void **state) {
    static const struct {
        const char *told;
        bool same;
    } rows[] = {{"/opt/cni/bin", true},
                {"C:\\opt\\cni\\bin", true},
                {"c:\\\\opt\\\\cni\\\\bin\\", true},
                {"c:/Opt/CNI/bin/", true},
                {"d:/opt/cni/bin", false},
                {"/opt/cni", false},
                {"/opt/cni/bin/x", false},
                {"", false},
                {"c", false}};
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        assert_int_equal(external_agent_same_folder(rows[i].told, "C:\\opt\\cni\\bin"),
                         rows[i].same);
}

static void every_external_agent_is_whole(void **state) {
    size_t count;
    const struct external_agent *const *agents = external_agents(&count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        assert_ptr_equal(external_agent_by_name(agents[i]->name), agents[i]);
        assert_non_null(agents[i]->title);
        assert_non_null(agents[i]->daemon_set);
        assert_non_null(agents[i]->removal);
        assert_true(agents[i]->read || agents[i]->settings_of);
        for (const struct external_network *n = agents[i]->networks; n->mode; n++) {
            const struct network_mode *mode = network_mode_by_name(n->mode);
            assert_true(!mode || text_equal(mode->hns_type, n->hns_type));
            assert_int_equal(n->service != NULL, n->service_reason && n->service_hint);
        }
    }
    assert_null(external_agent_by_name("cilium"));
    assert_null(external_agent_network(NULL, NULL));
}

/* The plan knows whose network it is, and so does the node at boot. */
static void the_plan_names_the_agent(void **state) {
    struct network_input input = {.plugin = "external",
                                  .external = "calico",
                                  .mode = "l2bridge",
                                  .pod_cidr = "10.244.1.0/24",
                                  .management = "10.0.0.21/24"};
    struct network_input again = {0};
    struct network_plan plan = {0};
    (void)state;
    text_list_add(&input.service_cidrs, "10.96.0.0/12");
    assert_int_equal(network_plan_make(&input, &plan, NULL), 0);
    _cleanup_json_ json_t *json = network_plan_json(&plan), *file = boot_network_json(&input);
    assert_ptr_equal(plan.external, &external_agent_calico);
    assert_string_equal(plan.name, "Calico");
    assert_string_equal(json_text_at(json, "agent"), "calico");
    assert_int_equal(boot_network_read(file, &again, NULL), 0);
    assert_string_equal(again.external, "calico");
    boot_network_input_free(&again);
    network_plan_free(&plan);
    text_list_free(&input.service_cidrs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agents_are_found),
        cmocka_unit_test(what_may_not_be_read_is_said),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(folders_are_compared_as_windows_does),
        cmocka_unit_test(every_external_agent_is_whole),
        cmocka_unit_test(the_plan_names_the_agent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
