/* What else than the network a JoinPlan holds for every mode with every plugin that works there:
 * services with their order, files, what kube-proxy and the agent's program are started with, the
 * registry. Sources: flannel-io/flannel (main.go), openshift/windows-machine-config-operator
 * (pkg/services), Azure/AgentBaker (staging/cse/windows), Calico's and Antrea's documentation of
 * Windows. */
#include "tests/scene/join_scene.h"

#include "join/plan/plan.h"

/* ---- what the sources say ---- */

/* A name, and behind < what the SCM starts first; each with a blank behind it. */
#define NODE "winjoin-network<hns containerd<hns,winjoin-network kubelet<containerd "
#define PLAIN NODE "kube-proxy<hns "
#define WITH_FLANNEL NODE "flanneld<hns,winjoin-network kube-proxy<hns "
/* WMCO: hybrid-overlay-node depends on kubelet, kube-proxy on hybrid-overlay-node */
#define WITH_OVN NODE "hybrid-overlay-node<hns,kubelet kube-proxy<hns,hybrid-overlay-node "

/* Beside those that every node has. */
#define PROXY "C:\\k\\kube-proxy.conf C:\\k\\kube-proxy.kubeconfig kube-proxy.json "
#define FLANNEL                                                                                    \
    "C:\\etc\\kube-flannel\\net-conf.json C:\\k\\flanneld.kubeconfig C:\\k\\kube-proxy.conf "      \
    "C:\\k\\kube-proxy.kubeconfig flanneld.json kube-proxy.json "
#define OVN                                                                                        \
    "C:\\k\\kube-proxy.conf C:\\k\\kube-proxy.kubeconfig hybrid-overlay-node.json "                \
    "kube-proxy.json "

/* kube-proxy's networkName, sourceVip, rootHnsEndpointName, clusterCIDR; - where it has none. */
#define VIP_OF(network) network " 10.244.3.2 - 10.244.0.0/16"
#define ROOT_OF(network) network " - " network "_ep 10.244.0.0/16"
#define NONE_OF(network) network " - - 10.244.0.0/16"

#define FLANNELD                                                                                   \
    "C:\\k\\flanneld.exe --kube-subnet-mgr --kubeconfig-file=C:\\k\\flanneld.kubeconfig "          \
    "--iface=10.0.0.21 --ip-masq --net-config-path=C:\\etc\\kube-flannel\\net-conf.json "          \
    "--subnet-file=C:\\run\\flannel\\subnet.env "
/* without --windows-service: the service host runs it */
#define HYBRID                                                                                     \
    "C:\\k\\hybrid-overlay-node.exe --node=win-7k2 "                                               \
    "--bootstrap-kubeconfig=C:\\etc\\kubernetes\\kubelet.conf "                                    \
    "--cert-dir=C:\\var\\lib\\ovn-kubernetes\\pki --cert-duration=24h "                            \
    "--k8s-apiserver=https://10.0.0.10:6443 --k8s-cacert=C:\\etc\\kubernetes\\pki\\ca.crt "

#define ARP "SDNRemoteArpMacAddress=12-34-56-78-9a-bc "

static const struct {
    const char *mode, *plugin;
    const char *services, *files, *proxy; /* proxy: NULL: none runs */
    const char *agent;                    /* its service's name, and its command line */
    const char *command;
    const char *registry, *unknown;
} rows[] = {
    {"overlay", "win-overlay", PLAIN, PROXY, VIP_OF("flannel.4096"), NULL, NULL, "", ""},
    {"overlay", "sdnoverlay", PLAIN, PROXY, VIP_OF("flannel.4096"), NULL, NULL, "", ""},
    {"overlay", "flannel", WITH_FLANNEL, FLANNEL, VIP_OF("flannel.4096"), "flanneld", FLANNELD, "",
     ""},
    /* its endpoint's address is HNS's choice; pods of other nodes are not in clusterCIDR (WMCO) */
    {"overlay", "ovn-kubernetes", WITH_OVN, OVN,
     "OVNKubernetesHybridOverlayNetwork <sourceVIP> - 10.244.3.0/24", "hybrid-overlay-node", HYBRID,
     "", "sourceVip "},
    {"overlay", "external", NODE, "", NULL, NULL, NULL, "", ""},
    {"l2bridge", "win-bridge", PLAIN, PROXY, ROOT_OF("cbr0"), NULL, NULL, "", ""},
    {"l2bridge", "sdnbridge", PLAIN, PROXY, ROOT_OF("cbr0"), NULL, NULL, "", ""},
    {"l2bridge", "flannel", WITH_FLANNEL, FLANNEL, ROOT_OF("cbr0"), "flanneld", FLANNELD, "", ""},
    {"l2bridge", "azure-vnet", PLAIN, PROXY, NONE_OF("azure"), NULL, NULL, ARP, ""},
    {"l2bridge", "azure-cns", PLAIN, PROXY, NONE_OF("azure"), NULL, NULL, ARP, ""},
    {"l2bridge", "external", NODE, "", NULL, NULL, NULL, "", ""},
    {"l2tunnel", "win-bridge", PLAIN, PROXY, ROOT_OF("cbr0"), NULL, NULL, "", ""},
    {"l2tunnel", "sdnbridge", PLAIN, PROXY, ROOT_OF("cbr0"), NULL, NULL, "", ""},
    {"l2tunnel", "azure-vnet", PLAIN, PROXY, NONE_OF("azure"), NULL, NULL, ARP, ""},
    {"l2tunnel", "azure-cns", PLAIN, PROXY, NONE_OF("azure"), NULL, NULL, ARP, ""},
    {"l2tunnel", "external", NODE, "", NULL, NULL, NULL, "", ""},
    {"transparent", "sdnbridge", PLAIN, PROXY, NONE_OF("transparent"), NULL, NULL, "", ""},
    {"transparent", "external", NODE, "", NULL, NULL, NULL, "", ""},
    {"nat", "nat", PLAIN, PROXY, NONE_OF("nat"), NULL, NULL, "", ""},
};

/* That every node gets, whatever its network. */
static const char *const common[] = {
    "C:\\var\\lib\\kubelet\\pki\\kubelet-client-current.pem",
    "C:\\etc\\kubernetes\\pki\\ca.crt",
    "C:\\etc\\kubernetes\\kubelet.conf",
    "C:\\var\\lib\\kubelet\\config.yaml",
    "C:\\var\\lib\\kubelet\\kubeadm-flags.env",
    "C:\\var\\lib\\kubelet\\instance-config.yaml",
    "C:\\Program Files\\containerd\\config.toml",
    "C:\\ProgramData\\winjoin\\network.json",
    "C:\\ProgramData\\winjoin\\services\\kubelet.json",
};

/* ---- what the plan says, in the same words ---- */

static struct run r;

static void open_choice(const char *mode, const char *plugin) {
    static const char *const programs[] = {"C:\\k\\flanneld.exe", "C:\\k\\hybrid-overlay-node.exe",
                                           "C:\\opt\\cni\\bin\\azure-vnet.exe",
                                           "C:\\opt\\cni\\bin\\azure-vnet-ipam.exe"};

    open_run(&r, mode);
    r.options.dry_run = true;
    r.options.network_plugin = xstrdup(plugin);
    text_list_add(&r.options.pod_cidrs, "10.244.3.0/24");
    for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
        assert_int_equal(host_write(r.host, programs[i], "MZ", 2, HOST_PUBLIC, NULL), 0);
}

static json_t *plan_of(void) {
    struct join join = {.host = r.host, .http = r.http, .asked = &r.options};
    struct error err = {0};
    json_t *plan = NULL;

    if (join_open(&join, &err) < 0 || join_run_phases(&join, true, &err) < 0 ||
        join_plan_make(&join, &plan, &err) < 0)
        fail_msg("%s", err.message);
    join_close(&join);
    return plan;
}

static char *services_of(const json_t *plan) {
    struct text text = {0};
    json_t *service, *first;
    size_t i, k;

    json_array_foreach(json_object_get(plan, "services"), i, service) {
        text_addf(&text, "%s", json_text_at(service, "name"));
        json_array_foreach(json_object_get(service, "dependsOn"), k, first)
            text_addf(&text, "%s%s", k ? "," : "<", json_string_value(first));
        text_addf(&text, " ");
    }
    return text_take(&text);
}

static const char *content_of(const json_t *plan, const char *end) {
    const json_t *file;
    size_t i;

    json_array_foreach(json_object_get(plan, "files"), i, file) {
        if (text_ends_with(json_text_at(file, "path"), end))
            return json_text_at(file, "content");
    }
    return NULL;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorted, without the common ones, each of which must be there. */
static char *files_of(const json_t *plan, const char *where) {
    _cleanup_(text_list_free) struct text_list paths = {0};
    struct text text = {0};
    const json_t *file;
    size_t i, found = 0;

    json_array_foreach(json_object_get(plan, "files"), i, file) {
        const char *path = json_text_at(file, "path"), *folder = strstr(path, "\\services\\");
        bool everywhere = false;

        for (size_t k = 0; k < ARRAY_SIZE(common); k++)
            everywhere |= text_equal(common[k], path);
        found += everywhere;
        if (!everywhere)
            text_list_add(&paths, folder ? folder + strlen("\\services\\") : path);
    }
    if (found != ARRAY_SIZE(common))
        fail_msg("%s: %zu of the %zu files that every node gets", where, found, ARRAY_SIZE(common));
    if (paths.count)
        qsort(paths.items, paths.count, sizeof *paths.items, by_name);
    for (i = 0; i < paths.count; i++)
        text_addf(&text, "%s ", paths.items[i]);
    return text.len ? text_take(&text) : xstrdup("");
}

/* The value behind "key: " of a line. */
static char *setting(const char *yaml, const char *key) {
    _cleanup_(freep) char *wanted = xasprintf("%s: ", key);
    const char *at = strstr(yaml, wanted);

    return at ? xstrndup(at + strlen(wanted), strcspn(at + strlen(wanted), "\n")) : xstrdup("-");
}

static char *proxy_of(const json_t *plan) {
    const char *yaml = content_of(plan, "\\kube-proxy.conf");
    _cleanup_(freep) char *network = setting(yaml ? yaml : "", "networkName");
    _cleanup_(freep) char *vip = setting(yaml ? yaml : "", "sourceVip");
    _cleanup_(freep) char *root = setting(yaml ? yaml : "", "rootHnsEndpointName");
    _cleanup_(freep) char *pods = setting(yaml ? yaml : "", "clusterCIDR");

    return yaml ? xasprintf("%s %s %s %s", network, vip, root, pods) : xstrdup("-");
}

static char *command_of(const json_t *plan, const char *service) {
    _cleanup_(freep) char *end = xasprintf("\\%s.json", service);
    const char *content = content_of(plan, end);
    _cleanup_json_ json_t *settings = NULL;
    struct text text = {0};
    json_t *word;
    size_t i;

    if (!content || json_read(content, strlen(content), end, &settings, NULL) < 0)
        return xstrdup("none");
    json_array_foreach(json_object_get(settings, "command"), i, word)
        text_addf(&text, "%s ", json_string_value(word));
    return text_take(&text);
}

static char *registry_of(const json_t *plan) {
    struct text text = {0};
    json_t *value;
    size_t i;

    json_array_foreach(json_object_get(plan, "registry"), i, value) {
        if (json_text_at(value, "data"))
            text_addf(&text, "%s=%s ", json_text_at(value, "value"), json_text_at(value, "data"));
    }
    return text.len ? text_take(&text) : xstrdup("");
}

static char *unknown_of(const json_t *plan) {
    struct text text = {0};
    json_t *name;
    size_t i;

    json_array_foreach(json_object_get(plan, "unknown"), i, name)
        text_addf(&text, "%s ", json_string_value(name));
    return text.len ? text_take(&text) : xstrdup("");
}

/* ---- comparing ---- */

static void assert_part(const char *where, const char *part, char *is, const char *wanted) {
    if (!text_equal(is, wanted))
        fail_msg("%s: %s are\n%s\nnot\n%s", where, part, is, wanted);
    free(is);
}

static void every_mode_with_every_plugin(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *where = xasprintf("%s with %s", rows[i].mode, rows[i].plugin);
        json_t *plan;

        open_choice(rows[i].mode, rows[i].plugin);
        plan = plan_of();
        assert_part(where, "services", services_of(plan), rows[i].services);
        assert_part(where, "files", files_of(plan, where), rows[i].files);
        assert_part(where, "kube-proxy's settings", proxy_of(plan),
                    rows[i].proxy ? rows[i].proxy : "-");
        if (rows[i].agent)
            assert_part(where, "the agent's words", command_of(plan, rows[i].agent),
                        rows[i].command);
        assert_part(where, "values in the registry", registry_of(plan), rows[i].registry);
        assert_part(where, "unknown fields", unknown_of(plan), rows[i].unknown);
        json_decref(plan);
        close_run(&r);
    }
}

/* As many as modes and plugins go together. */
static void the_table_is_whole(void **state) {
    _cleanup_(text_list_free) struct text_list modes = {0}, plugins = {0};
    size_t found = 0;

    (void)state;
    network_mode_names(&modes);
    network_plugin_names(&plugins);
    for (size_t m = 0; m < modes.count; m++)
        for (size_t p = 0; p < plugins.count; p++)
            found += network_agent_cni(network_agent_by_plugin(plugins.items[p]), plugins.items[p],
                                       network_mode_by_name(modes.items[m])) != NULL;
    assert_int_equal(found, ARRAY_SIZE(rows));
}

/* WMCO gives the port where it is not 4789 (NSX-T has that one); the firewall follows. */
static void another_vxlan_port(void **state) {
    _cleanup_(freep) char *command = NULL;
    json_t *plan;

    (void)state;
    open_choice("overlay", "ovn-kubernetes");
    r.options.vxlan_port = 9898;
    plan = plan_of();
    command = command_of(plan, "hybrid-overlay-node");
    assert_string_equal(command, HYBRID "--hybrid-overlay-vxlan-port=9898 ");
    assert_int_equal(json_number_at(plan, "network.firewall.1.port", 0), 9898);
    json_decref(plan);
    close_run(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mode_with_every_plugin),
        cmocka_unit_test(the_table_is_whole),
        cmocka_unit_test(another_vxlan_port),
    };
    return cmocka_run_group_tests_name("plan_choices", tests, NULL, NULL);
}
