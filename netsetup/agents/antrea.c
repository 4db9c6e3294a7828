/* Antrea: DaemonSet antrea-agent-windows. Open vSwitch on a transparent HNS network, whose bridge
 * br-int takes over the card's addresses; a card that has a virtual switch is refused. It does
 * kube-proxy's work. Sources: Antrea's docs/windows.md, build/yamls/antrea-windows.yml,
 * cmd/antrea-agent/options_windows.go, hack/windows/Clean-AntreaNetwork.ps1. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/yaml.h"
#include "netsetup/agents/external_agent.h"

#define SETTINGS "antrea-agent.conf"
enum { GENEVE_PORT = 6081 };

static int read(const json_t *told, struct agent_settings *ret, struct error *err) {
    const char *text = json_string_value(json_object_get(told, SETTINGS));
    _cleanup_(yaml_documents_freep) struct yaml_documents *documents = NULL;
    const char *mode;
    ret->mode = "transparent";
    ret->proxies = true;
    if (text && yaml_parse(text, strlen(text), SETTINGS, &documents, err) < 0)
        return -1;
    if (documents && yaml_documents_count(documents)) {
        ret->document = yaml_to_json(yaml_document(documents, 0));
        ret->proxies = json_bool_at(ret->document, "antreaProxy.enable", true) &&
                       json_bool_at(ret->document, "antreaProxy.proxyAll", false);
    }
    mode = json_text_at(ret->document, "trafficEncapMode");
    ret->backend = xstrdup(mode ? mode : "encap");
    return 0;
}

/* What the agent itself refuses, and then ends. */
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
    if (s->proxies)
        return 0;
    (void)error_set(err, ERROR_UNSUPPORTED,
                    "the cluster's Antrea does not support Windows nodes: antreaProxy.proxyAll is "
                    "off, and no kube-proxy for Windows works beside it");
    return error_hint(err, "set antreaProxy.proxyAll: true in " SETTINGS
                           " of the ConfigMap antrea-windows-config");
}

static const struct external_network networks[] = {
    {.mode = "transparent",
     .hns_type = "Transparent",
     .name = "antrea-hnsnetwork",
     .service = "vmms",
     .service_reason = "Antrea's Open vSwitch needs the Windows feature Hyper-V",
     .service_hint = "dism /online /enable-feature /featurename:Microsoft-Hyper-V /all"},
    {0}};

const struct external_agent external_agent_antrea = {
    .name = "antrea",
    .title = "Antrea",
    .daemon_set = "antrea-agent-windows",
    .config_map = "antrea-windows-config",
    .networks = networks,
    .firewall = {.name = "winjoin geneve",
                 .description = "winjoin: Geneve from other nodes",
                 .udp = true,
                 .port = GENEVE_PORT},
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
