/* Antrea: DaemonSet antrea-agent-windows. It uses Open vSwitch on a transparent HNS network, and
 * its bridge br-int takes over the adapter's addresses. It refuses an adapter that has a virtual
 * switch. It does the work of kube-proxy. Sources: Antrea's docs/windows.md,
 * build/yamls/antrea-windows.yml, cmd/antrea-agent/options_windows.go,
 * hack/windows/Clean-AntreaNetwork.ps1. */
#include "base/vxlan.h"
#include "base/yaml.h"
#include "netsetup/agents/daemon_set_agent.h"

#define SETTINGS "antrea-agent.conf"
#define CONTROLLER "antrea-controller.conf"
#define OTHERS "antrea-config"
enum { GENEVE_PORT = 6081 };

/* UDP ports of tunnels. The tunnel stt uses TCP, and its driver opens the port. */
static const struct {
    const char *tunnel;
    unsigned port;
} tunnels[] = {{"geneve", GENEVE_PORT}, {"vxlan", VXLAN_WINDOWS_PORT}};

/* Reads a file of a ConfigMap as JSON. *ret stays NULL when the file is absent or empty. */
static int read_file(const json_t *data, const char *name, json_t **ret, struct error *err) {
    const char *text = json_string_value(json_object_get(data, name));
    _cleanup_(yaml_forget) struct yaml yaml = {0};
    if (text && yaml_read(text, strlen(text), name, &yaml, err) < 0)
        return -1;
    *ret = json_incref(json_array_get(yaml.documents, 0));
    return 0;
}

/* Settings that must be the same on all nodes, with the default of a missing key. */
static const char *const common[][2] = {
    {"trafficEncapMode", "encap"}, {"tunnelType", "geneve"}, {"trafficEncryptionMode", "none"}};

static const char *value_of(const json_t *conf, const char *const common_row[2]) {
    const char *value = json_text_at(conf, common_row[0]);
    return value && *value ? value : common_row[1];
}

static int read(const json_t *variables, struct agent_settings *ret, struct error *err) {
    const json_t *data = json_object_get(variables, DAEMON_SET_AGENT_OTHERS);
    _cleanup_json_ json_t *controller = NULL;
    long long port;
    ret->mode = "transparent";
    ret->proxies = true;
    if (read_file(variables, SETTINGS, &ret->document, err) < 0)
        return -1;
    if (read_file(data, SETTINGS, &ret->others, err) < 0 ||
        read_file(data, CONTROLLER, &controller, err) < 0)
        return error_prefix(err, "ConfigMap " OTHERS);
    if (ret->document)
        ret->proxies = json_bool_at(ret->document, "antreaProxy.enable", true) &&
                       json_bool_at(ret->document, "antreaProxy.proxyAll", false);
    port = json_number_at(ret->document, "tunnelPort", 0);
    ret->vxlan_port = port > 0 && port <= 65535 ? (unsigned)port : 0;
    for (size_t i = 0; i < ARRAY_SIZE(tunnels) && !ret->vxlan_port; i++)
        if (text_equal_nocase(value_of(ret->document, common[1]), tunnels[i].tunnel))
            ret->vxlan_port = tunnels[i].port;
    ret->backend = xstrdup(value_of(ret->document, common[0]));
    /* Antrea's controller assigns Pod prefixes to Nodes where the control plane does not
     * (NodeIPAM). */
    if (!json_bool_at(controller, "nodeIPAM.enableNodeIPAM", false) ||
        !json_bool_at(controller, "featureGates.NodeIPAM", true))
        return 0;
    json_each(json_at(controller, "nodeIPAM.clusterCIDRs"), i, prefix)
        if (daemon_set_agent_prefixes(json_string_value(prefix),
                                      CONTROLLER ": nodeIPAM.clusterCIDRs", &ret->pod_cidrs,
                                      err) < 0)
            return -1;
    return 0;
}

/* Fails for settings with which Antrea's agent on Windows exits, and for settings that differ from
 * those of the other nodes. */
static int check(const struct agent_settings *s, struct error *err) {
    static const struct {
        const char *key, *refused;
    } rows[] = {{"trafficEncapMode", "networkPolicyOnly"},
                {"tunnelType", "gre"},
                {"trafficEncryptionMode", "ipsec"},
                {"trafficEncryptionMode", "wireGuard"}};
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        if (!text_equal_nocase(json_text_at(s->document, rows[i].key), rows[i].refused))
            continue;
        (void)error_set(err, ERROR_UNSUPPORTED,
                        "the cluster's Antrea does not support Windows nodes: its %s is %s",
                        rows[i].key, rows[i].refused);
        return error_hint(err, "change it in " SETTINGS " of the ConfigMaps antrea-config and "
                               "antrea-windows-config, then restart Antrea on every node");
    }
    for (size_t i = 0; s->others && i < ARRAY_SIZE(common); i++) {
        const char *here = value_of(s->document, common[i]),
                   *there = value_of(s->others, common[i]);
        if (text_equal_nocase(here, there))
            continue;
        (void)error_set(err, ERROR_UNSUPPORTED,
                        "%s of Antrea is %.40s on Windows nodes (ConfigMap antrea-windows-config) "
                        "and %.40s on the others (" OTHERS "): they do not reach each other's pods",
                        common[i][0], here, there);
        return error_hint(err, "make both the same in " SETTINGS ", then restart Antrea on every "
                               "node");
    }
    if (s->proxies)
        return 0;
    (void)error_set(err, ERROR_UNSUPPORTED,
                    "the cluster's Antrea does not support Windows nodes: antreaProxy.proxyAll is "
                    "off, and no kube-proxy for Windows works beside it");
    return error_hint(err, "set antreaProxy.proxyAll: true in " SETTINGS
                           " of the ConfigMap antrea-windows-config");
}

static const struct daemon_set_network networks[] = {
    {.mode = "transparent",
     .hns_type = "Transparent",
     .name = "antrea-hnsnetwork",
     .service = "vmms",
     .service_reason = "Antrea's Open vSwitch needs the Windows feature Hyper-V",
     .service_hint = "dism /online /enable-feature /featurename:Microsoft-Hyper-V /all"},
    {0}};

const struct daemon_set_agent daemon_set_agent_antrea = {
    .name = "antrea",
    .title = "Antrea",
    .daemon_set = "antrea-agent-windows",
    .config_map = "antrea-windows-config",
    .others_map = OTHERS,
    .networks = networks,
    .firewall = {.name = "winjoin geneve",
                 .description = "winjoin: tunnels from other nodes (Antrea)",
                 .udp = true},
    .tunnel_port = GENEVE_PORT,
    .prefixes_at = "antrea-controller.conf of ConfigMap " OTHERS " (nodeIPAM.clusterCIDRs)",
    .adapter = "br-int",
    .own_switch = true,
    .needs_pod_cidr = true,
    .advice = "Antrea's documentation asks for Windows Firewall to be off; when pods cannot be "
              "reached: netsh advfirewall set allprofiles state off",
    .removal = "Antrea's network antrea-hnsnetwork and bridge br-int: Clean-AntreaNetwork.ps1 of "
               "Antrea's hack/windows",
    .read = read,
    .check = check,
};
