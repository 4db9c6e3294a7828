/* The tables of network agents and of the Linux nodes' agents. */
#include "netsetup/agents/agent.h"

#include "base/text.h"
#include "netsetup/agents/daemon_set_agent.h"
#include "base/nearest.h"
#include "services/service_table.h"

#define ROW(agent) &network_agent_##agent,
const struct network_agent *const network_agents[] = {NETWORK_AGENTS(ROW) NULL};

const struct network_agent *network_agent_by_plugin(const char *plugin) {
    for (size_t i = 0; plugin && network_agents[i]; i++)
        if (text_equal(network_agents[i]->plugin, plugin))
            return network_agents[i];
    return network_mode_by_cni(plugin, NULL) ? &network_agent_none : NULL;
}

bool network_agent_excepts_services(const char *network) {
    for (size_t i = 0; network_agents[i]; i++)
        if (network_agents[i]->nat_except_services &&
            text_equal(network_agents[i]->network_name, network))
            return true;
    return false;
}

const char *network_agent_backend(const struct network_agent *agent,
                                  const struct network_mode *mode) {
    const struct agent_backend *row = agent->backends;

    if (!agent->plugin)
        return NULL;
    if (!row)
        return mode->internal ? NULL : mode->name;
    while (row->mode && !text_equal(row->mode, mode->name))
        row++;
    return row->word;
}

bool network_agent_routes_to(const struct network_agent *agent, const struct network_mode *mode,
                             unsigned vni, const struct network_peer *peer) {
    const char *backend = network_agent_backend(agent, mode);

    return backend && peer->address && text_equal(peer->backend, backend) &&
           (!mode->vxlan || (*peer->router_mac && peer->vni == vni));
}

const char *network_agent_cni(const struct network_agent *agent, const char *plugin,
                              const struct network_mode *mode) {
    if (!agent->plugin)
        return name_find(mode->cni_plugins, plugin);
    if (!network_agent_backend(agent, mode))
        return NULL;
    return agent->cni ? agent->cni : mode->cni_plugins[0];
}

int network_restore_service(const struct network_restore *restore, const struct service *service,
                            struct error *err) {
    bool restarted = false;

    if (restore->booting)
        return 0;
    if (service_restart(restore->host, service, &restarted, err) < 0)
        return -1;
    if (restarted)
        text_list_add_owned(restore->did, xasprintf("restarted %s", service->name));
    return 0;
}

/* ---- Linux nodes' agents. The DaemonSet names come from each project's manifests and charts, and
 * from RKE2's ---- */

#define NAMES(...)                                                                                 \
    .daemon_sets = (const char *const[]) {                                                         \
        __VA_ARGS__, NULL                                                                          \
    }
#define NO_PART .windows = "which has no part for Windows nodes that winjoin knows"
#define OTHER_CLUSTER .remedy = "a Windows node needs a cluster with Calico, Antrea or flannel"
#define NOT_HERE .windows = "whose part for Windows nodes is not installed"

const struct linux_agent linux_agents[] = {
    {.title = "Calico",
     NAMES("calico-node"),
     NOT_HERE,
     .remedy = "set pools of VXLAN or None and ConfigMap "
               "tigera-operator/kubernetes-services-endpoint, then kubectl patch ipamconfig "
               "default --type merge -p \"spec: {strictAffinity: true}\" and kubectl patch "
               "installation default --type merge -p \"spec: {serviceCIDRs: "
               "[SERVICE_SUBNET], calicoNetwork: {windowsDataplane: HNS}}\"",
     .by_manifest = "Calico's operator installs its part for Windows, and this Calico came without "
                    "it: https://docs.tigera.io/calico/latest/operations/operator-migration"},
    {.title = "Antrea",
     NAMES("antrea-agent"),
     NOT_HERE,
     .remedy = "install Antrea's part for Windows first: kubectl apply -f antrea-windows.yml of "
               "the same release"},
    {.title = "Canal",
     NAMES("canal", "rke2-canal"),
     .windows = "whose flannel can serve Windows nodes",
     .remedy = "give its flannel VNI 4096 and port 4789 on all nodes, then join with "
               "--network-plugin flannel --network-mode overlay"},
    {.title = "flannel",
     NAMES("kube-flannel-ds", "kube-flannel", "flannel"),
     .windows = "whose settings are in no ConfigMap kube-flannel-cfg",
     .remedy = "join with --network-plugin flannel, and its --network-mode, --vni and "
               "--vxlan-port"},
    {.title = "Cilium", NAMES("cilium"), NO_PART, OTHER_CLUSTER},
    {.title = "Weave Net", NAMES("weave-net"), NO_PART, OTHER_CLUSTER},
    {.title = "kube-router", NAMES("kube-router"), NO_PART, OTHER_CLUSTER},
    {.title = "Kube-OVN", NAMES("kube-ovn-cni"), NO_PART, OTHER_CLUSTER},
    {.title = "OVN-Kubernetes",
     NAMES("ovnkube-node"),
     .windows = "which serves Windows nodes by its hybrid overlay",
     .remedy = "enable the hybrid overlay, then: winjoin config cluster --kubeconfig admin.conf | "
               "kubectl apply -f -",
     .annotation = "k8s.ovn.org/hybrid-overlay-distributed-router-gateway-mac",
     .plugin = "ovn-kubernetes"},
    {.title = "Amazon VPC CNI",
     NAMES("aws-node"),
     NO_PART,
     .remedy = "EKS' own images join Windows nodes there; elsewhere they need a cluster with "
               "Calico, Antrea or flannel"},
    {.title = "kindnet", NAMES("kindnet"), NO_PART, OTHER_CLUSTER},
    {.title = "Terway", NAMES("terway-eniip"), NO_PART, OTHER_CLUSTER},
    {0},
};

const struct linux_agent linux_agent_unknown = {
    .title = "a network",
    .windows = "which winjoin does not know by name",
    .remedy = "say what this node gets: --network-plugin, and --network-mode where that has "
              "several; or install a network that winjoin knows (Calico, Antrea, flannel), then: "
              "winjoin config cluster --kubeconfig admin.conf | kubectl apply -f -"};

const char *linux_agent_remedy(const struct linux_agent *agent, const char *linux_set) {
    return agent->by_manifest && text_starts_with(linux_set, "DaemonSet kube-system/")
               ? agent->by_manifest
               : agent->remedy;
}

/* ---- words of --network-mode, and words of other programs for the same ---- */

int network_mode_check(const char *name, struct error *err) {
    _cleanup_(text_list_free) struct text_list names = {0};
    _cleanup_(freep) char *lower = text_lower(name);
    const struct network_mode *meant = network_mode_by_cni(lower, NULL);
    network_mode_names(&names);
    if (name_check("network mode", name, &names, err) == 0)
        return 0;
    if (err && err->hints[0][0])
        return -1; /* The hint names a mode whose name is similar. */
    /* Agents ("vxlan") and CNI plugins ("win-bridge") have words of their own for a mode. The hint
     * names the mode that such a word means. */
    for (size_t a = 0; network_agents[a]; a++)
        for (size_t i = 0; network_modes[i]; i++)
            if (text_equal(network_agent_backend(network_agents[a], network_modes[i]), lower))
                return error_hint(err, "did you mean %s?", network_modes[i]->name);
    return meant ? error_hint(err, "did you mean %s?", meant->name) : -1;
}

/* ---- words of --network-plugin ---- */

void network_plugin_names(struct text_list *ret) {
    for (size_t i = 0; network_agents[i]; i++) {
        if (network_agents[i]->plugin)
            text_list_add(ret, network_agents[i]->plugin);
        for (size_t k = 0; !network_agents[i]->plugin && network_modes[k]; k++) {
            for (const char *const *name = network_modes[k]->cni_plugins; *name; name++)
                if (!text_list_has(ret, *name) && !network_agent_by_plugin(*name)->plugin)
                    text_list_add(ret, *name);
        }
    }
}

int network_plugin_check(const char *name, struct error *err) {
    _cleanup_(text_list_free) struct text_list names = {0};
    _cleanup_(freep) char *lower = text_lower(name);
    const struct daemon_set_agent *by_daemon_set = daemon_set_agent_by_name(lower);
    network_plugin_names(&names);
    if (name_check("network plugin", name, &names, err) == 0)
        return 0;
    return by_daemon_set && !network_agent_by_plugin(lower)
               ? error_hint(err,
                            "%s makes the network as a DaemonSet: use --network-plugin "
                            "external",
                            by_daemon_set->title)
               : -1;
}

/* ---- network settings found in a cluster ---- */

void agent_settings_free(struct agent_settings *settings) {
    free_all(settings->backend, settings->daemon_set, settings->kube_proxy, settings->linux_set);
    text_list_free(&settings->pod_cidrs);
    text_list_free(&settings->service_cidrs);
    json_decref(settings->document);
    json_decref(settings->others);
    json_decref(settings->variables);
    *settings = (struct agent_settings){0};
}

void daemon_set_agent_settle(struct agent_settings *settings, struct agent_settings *others) {
    const struct daemon_set_agent *agent = settings->daemon_set_agent;
    if (agent && (!agent->settings_of || agent->settings_of != others->agent)) {
        agent_settings_free(others);
    } else {
        others->daemon_set_agent = agent;
        others->kube_proxy = take_ptr(settings->kube_proxy);
        if (agent) {
            others->daemon_set = take_ptr(settings->daemon_set);
            others->variables = take_ptr(settings->variables);
        }
        agent_settings_free(settings);
        *settings = *others;
    }
    if (agent)
        settings->agent = &network_agent_external;
}
