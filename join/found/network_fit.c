/* What a call asks of the network against what the cluster says of it. */
#include "join/found/network_fit.h"

#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "netsetup/agents/external_agent.h"

/* For people: "Calico", "flannel". */
static const char *title_of(const struct agent_settings *settings) {
    return settings->external ? settings->external->title : settings->agent->plugin;
}

static int hint_source(const struct agent_settings *settings, const char *flag, struct error *err) {
    if (settings->source)
        return error_hint(err, "leave %s out: winjoin reads it from ConfigMap %s/%s", flag,
                          settings->source->name_space, settings->source->name);
    return error_hint(err, "leave %s out: winjoin reads it from DaemonSet %s", flag,
                      settings->daemon_set);
}

/* All nodes of an agent use the same numbers. */
static int check_number(const struct agent_settings *settings, const char *flag, long long given,
                        unsigned has, struct error *err) {
    if (!given || !has || given == has)
        return 0;
    (void)error_set(err, ERROR_USAGE, "%s %lld does not fit: the cluster's %s uses %u", flag, given,
                    title_of(settings), has);
    return hint_source(settings, flag, err);
}

static int check_plugin(const struct agent_settings *settings, const char *plugin,
                        struct error *err) {
    if (!settings->external || !plugin || text_equal(plugin, settings->agent->plugin))
        return 0;
    (void)error_set(err, ERROR_USAGE,
                    "network plugin '%s' does not fit: DaemonSet %s makes the pod network of "
                    "Windows nodes (%s)",
                    plugin, settings->daemon_set, settings->external->title);
    return error_hint(err, "use --network-plugin %s, or delete that DaemonSet first",
                      settings->agent->plugin);
}

static int check_mode(const struct agent_settings *settings, const char *mode, struct error *err) {
    if (!mode || !settings->mode || text_equal_nocase(mode, settings->mode))
        return 0;
    (void)error_set(err, ERROR_USAGE,
                    "network mode '%s' does not fit: the cluster's %s uses %s, which is mode '%s'",
                    mode, title_of(settings), settings->backend, settings->mode);
    return hint_source(settings, "--network-mode", err);
}

/* A node's own prefix must be in one of them whole; podSubnet may be larger than what nodes get. */
static bool served(const struct cidr *cidr, bool whole, const struct text_list *prefixes,
                   bool *ret_any) {
    for (size_t i = 0; i < prefixes->count; i++) {
        struct cidr prefix;

        if (cidr_parse(prefixes->items[i], &prefix, NULL) < 0 ||
            prefix.base.family != cidr->base.family)
            continue;
        *ret_any = true;
        if (whole ? cidr_contains_cidr(&prefix, cidr) : cidr_overlaps(&prefix, cidr))
            return true;
    }
    return false;
}

/* An agent that serves other prefixes than the control plane assigns gives nothing to this node. */
static int check_prefixes(const struct agent_settings *settings, const struct text_list *assigned,
                          const char *what, bool whole, struct error *err) {
    for (size_t i = 0; i < assigned->count; i++) {
        bool any = false;
        struct cidr cidr;

        if (cidr_parse(assigned->items[i], &cidr, NULL) < 0 ||
            served(&cidr, whole, &settings->pod_cidrs, &any) || !any)
            continue;
        (void)error_set(err, ERROR_USAGE,
                        "%s %s does not fit: the cluster's %s serves the pod prefix %s", what,
                        assigned->items[i], title_of(settings), settings->pod_cidrs.items[0]);
        if (text_starts_with(what, "--"))
            return error_hint(err, "choose a prefix inside of it, or leave %s out", what);
        return error_hint(err,
                          "make Network of ConfigMap %s/%s and podSubnet of kubeadm-config "
                          "the same",
                          settings->source ? settings->source->name_space : "kube-flannel",
                          settings->source ? settings->source->name : "kube-flannel-cfg");
    }
    return 0;
}

/* Two kube-proxies on one node delete each other's load balancers. */
static int check_kube_proxy(const struct agent_settings *settings, const char *run,
                            const char *plugin, struct error *err) {
    const struct network_agent *agent = network_agent_by_plugin(plugin);

    if (!settings->kube_proxy)
        return 0;
    if (settings->proxies) {
        (void)error_set(err, ERROR_USAGE,
                        "DaemonSet %s does not fit: the cluster's %s does kube-proxy's work on "
                        "Windows nodes",
                        settings->kube_proxy, title_of(settings));
        return error_hint(err, "kubectl delete daemonset -n %.*s " KUBE_PROXY_DAEMON_SET,
                          (int)strcspn(settings->kube_proxy, "/"), settings->kube_proxy);
    }
    if (text_equal(run, "none") || (agent && agent->in_cluster))
        return 0;
    (void)error_set(err, ERROR_USAGE,
                    "kube-proxy as a service does not fit: DaemonSet %s runs it on Windows nodes",
                    settings->kube_proxy);
    return error_hint(err, "use --kube-proxy none, or delete that DaemonSet first");
}

int network_fit_check(const struct cluster_config *cluster, const struct join_options *options,
                      const struct network_input *input, struct error *err) {
    const struct agent_settings *settings = &cluster->network;

    if (check_plugin(settings, input->plugin, err) < 0 ||
        check_kube_proxy(settings, options->kube_proxy, input->plugin, err) < 0)
        return -1;
    if (!settings->agent || !text_equal(input->plugin, settings->agent->plugin))
        return 0;
    if ((settings->agent->check_settings && settings->agent->check_settings(settings, err) < 0) ||
        check_mode(settings, options->network_mode, err) < 0 ||
        check_number(settings, "--vni", options->vni, settings->vni, err) < 0 ||
        check_number(settings, "--vxlan-port", options->vxlan_port, settings->vxlan_port, err) < 0)
        return -1;
    return check_prefixes(settings, &options->pod_cidrs, "--pod-cidr", true, err) < 0
               ? -1
               : check_prefixes(settings, &cluster->pod_subnets, "podSubnet", false, err);
}

static int check_names(struct join *join, const json_t *nodes, struct error *err) {
    const char *own = join->found.facts.host_name;
    json_t *node;
    size_t i;

    json_array_foreach(json_object_get(nodes, "items"), i, node) {
        const char *name = json_text_at(node, "metadata.name");

        const json_t *labels = json_at(node, "metadata.labels");

        if (text_equal(name, join->found.node_name) ||
            (!text_equal_nocase(json_text_at(node, "status.nodeInfo.machineID"), own) &&
             !text_equal_nocase(
                 json_string_value(json_object_get(labels, "kubernetes.io/hostname")), own)))
            continue;
        (void)error_set(
            err, ERROR_CONFLICT,
            "node '%s' has this machine's host name '%s', by which %s tells nodes apart",
            name ? name : "", own, join->found.plan.plugin);
        return error_hint(err, "rename this machine and restart it (PowerShell: Rename-Computer "
                               "-NewName NAME -Restart), or delete that Node if it is gone");
    }
    return 0;
}

int network_fit_check_names(struct join *join, struct error *err) {
    _cleanup_json_ json_t *nodes = NULL;

    if (!join->found.plan.agent->unique_host_names)
        return 0;
    if (kube_nodes_get(&join->found.client, &nodes, err) == 0)
        return check_names(join, nodes, err);
    if (!kube_is_forbidden(err))
        return -1;
    error_clear(err);
    return 0;
}

void network_fit_warn(struct join *join) {
    const struct agent_settings *settings = &join->found.cluster.network;
    const struct external_agent *agent = join->found.plan.external;

    if (join->found.cluster.network_unread)
        log_message(LOG_INFO, "no right to read the DaemonSets of network agents (403)");
    else if (join->found.plan.agent->in_cluster && !agent)
        join_warn(&join->progress,
                  "the cluster has no DaemonSet of a network agent that winjoin knows: what it "
                  "needs on this machine is not checked");
    if (!agent)
        return;
    if (agent->advice)
        join_warn(&join->progress, "%s", agent->advice);
    if (!settings->kube_proxy && !settings->proxies)
        join_warn(&join->progress,
                  "the cluster has no DaemonSet " KUBE_PROXY_DAEMON_SET
                  ": pods on this node reach no Service until kube-proxy runs here");
}
