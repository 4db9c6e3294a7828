/* Compares the network options of a join with what the cluster says about its network. */
#include "join/found/need.h"

#include "base/log.h"
#include "netsetup/agents/agent.h"
#include "netsetup/agents/daemon_set_agent.h"

#define SERVICES_ASKED "network.serviceCIDRs" /* Field of a NodeConfiguration. */

/* Returns the agent's name for messages: "Calico", "flannel". */
static const char *title_of(const struct agent_settings *settings) {
    return settings->daemon_set_agent ? settings->daemon_set_agent->title : settings->agent->plugin;
}

static int hint_source(const struct agent_settings *settings, const char *flag, struct error *err) {
    if (settings->source)
        return error_hint(err, "leave %s out: winjoin reads it from ConfigMap %s/%s", flag,
                          settings->source->name_space, settings->source->name);
    return error_hint(err, "leave %s out: winjoin reads it from DaemonSet %s", flag,
                      settings->daemon_set);
}

/* Refuses a VNI or port that differs from the agent's: all nodes of an agent use the same. */
static int check_number(const struct agent_settings *settings, const char *flag, long long given,
                        unsigned has, struct error *err) {
    if (!given || !has || given == has)
        return 0;
    (void)error_set(err, ERROR_USAGE, "%s %lld does not fit: the cluster's %s uses %u", flag, given,
                    title_of(settings), has);
    return hint_source(settings, flag, err);
}

/* Returns true when one of the prefixes overlaps the prefix `cidr`, or with `whole`, contains it.
 * *ret_any becomes true when there is a prefix of the same family. A node's own prefix must be
 * contained as a whole; podSubnet may be larger than what Nodes get. */
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

/* Adds a hint that names the two settings that must have the same prefix. */
static int hint_prefixes(const struct agent_settings *settings, const char *mine,
                         struct error *err) {
    if (settings->source)
        return error_hint(
            err, "make Network of ConfigMap %s/%s and podSubnet of kubeadm-config the same",
            settings->source->name_space, settings->source->name);
    return settings->daemon_set_agent ? error_hint(err, "make %s of kubeadm-config the same as %s",
                                                   mine, settings->daemon_set_agent->prefixes_at)
                                      : -1;
}

/* Refuses a Pod prefix that the agent does not serve: it would give this node no network. */
static int check_prefix(const struct agent_settings *settings, const char *text, const char *what,
                        bool whole, struct error *err) {
    bool any = false;
    struct cidr cidr;

    if (!text || cidr_parse(text, &cidr, NULL) < 0 ||
        served(&cidr, whole, &settings->pod_cidrs, &any) || !any)
        return 0;
    (void)error_set(err, ERROR_USAGE,
                    "%s %s does not fit: the cluster's %s serves the pod prefix %s", what, text,
                    title_of(settings), settings->pod_cidrs.items[0]);
    if (text_starts_with(what, "--"))
        return error_hint(err, "choose a prefix inside of it, or leave %s out", what);
    return hint_prefixes(settings, "podSubnet", err);
}

static int check_prefixes(const struct cluster_config *cluster, const struct join_options *options,
                          const struct network_input *input, struct error *err) {
    const struct agent_settings *settings = &cluster->network;
    const struct text_list *asked = &options->pod_cidrs, *assigned = &cluster->pod_subnets;
    /* Agents whose prefixes are those of Nodes; Calico's are its own blocks. */
    bool gives_prefixes = settings->source || (settings->daemon_set_agent &&
                                               settings->daemon_set_agent->needs_pod_cidr);
    bool own_services = options->service_cidrs.count;
    const struct text_list *services =
        own_services ? &options->service_cidrs : &cluster->service_subnets;

    for (size_t i = 0; i < asked->count; i++)
        if (check_prefix(settings, asked->items[i], "--pod-cidr", true, err) < 0)
            return -1;
    /* Packets to a Service outside of the agent's service prefixes leave the node, and no host
     * outside knows the address. */
    for (size_t i = 0; settings->daemon_set_agent && i < services->count; i++) {
        bool any = false;
        struct cidr cidr;

        if (cidr_parse(services->items[i], &cidr, NULL) < 0 ||
            served(&cidr, true, &settings->service_cidrs, &any) || !any)
            continue;
        (void)error_set(err, ERROR_USAGE,
                        "%s %s does not fit: the cluster's %s serves the service prefix %s",
                        own_services ? SERVICES_ASKED : "serviceSubnet", services->items[i],
                        title_of(settings), settings->service_cidrs.items[0]);
        return own_services ? error_hint(err, "leave " SERVICES_ASKED " out, or correct %s",
                                         settings->daemon_set_agent->prefixes_at)
                            : hint_prefixes(settings, "serviceSubnet", err);
    }
    for (size_t i = 0; gives_prefixes && i < assigned->count; i++)
        if (check_prefix(settings, assigned->items[i], "podSubnet", false, err) < 0)
            return -1;
    if (asked->count || !gives_prefixes)
        return 0;
    if (check_prefix(settings, input->pod_cidr, "the Node's podCIDR", true, err) < 0)
        return -1;
    return check_prefix(settings, input->pod_cidr6, "the Node's podCIDR", true, err);
}

/* Refuses two kube-proxies on one node, because they delete each other's load balancers. */
static int check_kube_proxy(const struct agent_settings *settings, const char *run,
                            const char *plugin, struct error *err) {
    const struct network_agent *agent = network_agent_by_plugin(plugin);

    if (!settings->kube_proxy)
        return 0;
    if (settings->proxies) {
        (void)error_set(
            err, ERROR_USAGE,
            "DaemonSet %s does not fit: the cluster's %s does kube-proxy's work on Windows nodes",
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

/* Checks a plugin that is not the one of the cluster's agent in the ConfigMap. A plugin with an
 * agent of its own on the node is refused. One without an agent is accepted when its packets travel
 * between nodes as the agent's do: both with VXLAN, or both without. */
static int check_other_plugin(const struct agent_settings *settings, const char *plugin,
                              const struct network_mode *mode, struct error *err) {
    const struct network_agent *agent = network_agent_by_plugin(plugin);
    const struct network_mode *theirs = network_mode_by_name(settings->mode);

    if (agent && agent->keeps_routes && !agent->in_cluster) {
        (void)error_set(
            err, ERROR_USAGE,
            "network plugin '%s' does not fit: ConfigMap %s/%s says that the cluster runs %s",
            plugin, settings->source->name_space, settings->source->name, title_of(settings));
        return error_hint(
            err,
            "use --network-plugin %s, or delete that ConfigMap if the cluster no longer runs %s",
            settings->agent->plugin, title_of(settings));
    }
    if (!mode || !theirs || mode->vxlan == theirs->vxlan)
        return 0;
    (void)error_set(err, ERROR_USAGE,
                    "network plugin '%s' in mode '%s' does not fit: the cluster's %s uses %s, "
                    "which is mode '%s'",
                    plugin, mode->name, title_of(settings), settings->backend, theirs->name);
    return error_hint(err, "use --network-plugin %s and leave --network-mode out",
                      settings->agent->plugin);
}

int network_fit_check(const struct cluster_config *cluster, const struct join_options *options,
                      const struct network_input *input, bool joined, struct error *err) {
    const struct agent_settings *settings = &cluster->network;
    const struct linux_agent *linux_agent = settings->linux_agent;
    /* The mode that the options name, otherwise that of the plugin; NULL when neither has one. */
    const struct network_mode *mode = options->network_mode
                                          ? network_mode_by_name(options->network_mode)
                                          : network_mode_by_cni(input->plugin, NULL);
    bool own;

    /* No option chooses a network, and the cluster's own does not exist for Windows nodes. */
    if (!joined && linux_agent && !input->plugin && !input->mode) {
        (void)error_set(err, ERROR_UNSUPPORTED, "the cluster's pods use %s (%s), %s",
                        linux_agent->title, settings->linux_set, linux_agent->windows);
        return error_hint(err, "%s", linux_agent_remedy(linux_agent, settings->linux_set));
    }
    if (settings->daemon_set && input->plugin &&
        !text_equal(input->plugin, settings->agent->plugin)) {
        (void)error_set(err, ERROR_USAGE,
                        "network plugin '%s' does not fit: DaemonSet %s makes the pod network of "
                        "Windows nodes (%s)",
                        input->plugin, settings->daemon_set, title_of(settings));
        return error_hint(err, "use --network-plugin %s, or delete that DaemonSet first",
                          settings->agent->plugin);
    }
    if (check_kube_proxy(settings, options->kube_proxy, input->plugin, err) < 0)
        return -1;
    if (!settings->agent || (mode && mode->isolated))
        return 0;
    own = text_equal(input->plugin, settings->agent->plugin);
    if (!own && !joined && check_other_plugin(settings, input->plugin, mode, err) < 0)
        return -1;
    if (!own && (joined || !settings->mode))
        /* With another plugin on a joined node the mode is settled, and without the agent's mode
         * there is nothing to compare. */
        return 0;
    if (settings->agent->check_settings && settings->agent->check_settings(settings, err) < 0)
        return -1;
    if (own && options->network_mode && settings->mode &&
        !text_equal_nocase(options->network_mode, settings->mode)) {
        (void)error_set(
            err, ERROR_USAGE,
            "network mode '%s' does not fit: the cluster's %s uses %s, which is mode '%s'",
            options->network_mode, title_of(settings), settings->backend, settings->mode);
        return hint_source(settings, "--network-mode", err);
    }
    if (check_number(settings, "--vni", options->vni, settings->vni, err) < 0 ||
        check_number(settings, "--vxlan-port", options->vxlan_port, settings->vxlan_port, err) < 0)
        return -1;
    return check_prefixes(cluster, options, input, err);
}

/* Refuses a --pod-cidr that overlaps the Pod prefix of another Node. */
static int check_subnet(const struct join *join, const char *theirs, const char *name,
                        struct error *err) {
    const struct text_list *asked = &join->found.options.pod_cidrs;
    struct cidr cidr, other;

    for (size_t i = 0; theirs && i < asked->count; i++) {
        if (cidr_parse(asked->items[i], &cidr, NULL) < 0 || cidr_parse(theirs, &other, NULL) < 0 ||
            !cidr_overlaps(&cidr, &other))
            continue;
        (void)error_set(err, ERROR_CONFLICT,
                        "--pod-cidr %s overlaps the pod prefix %s of node '%s'", asked->items[i],
                        theirs, name ? name : "");
        return error_hint(err, "choose a prefix that no Node has, or leave --pod-cidr out");
    }
    return 0;
}

int network_fit_check_nodes(struct join *join, struct error *err) {
    const struct network_agent *agent = join->found.plan.agent;
    const char *own = join->found.facts.host_name;
    _cleanup_json_ json_t *nodes = NULL;

    if (!agent->unique_host_names &&
        (!join->found.options.pod_cidrs.count || agent->pods_make_network))
        return 0;
    if (kube_nodes_get(&join->found.client, &nodes, err) < 0) {
        if (!kube_is_forbidden(err))
            return -1;
        error_clear(err);
        return 0;
    }
    json_each(json_object_get(nodes, "items"), i, node) {
        const json_t *labels = json_at(node, "metadata.labels");
        struct network_peer peer;

        network_peer_read(node, &peer);
        if (text_equal(peer.node, join->found.node_name))
            continue;
        if (agent->unique_host_names &&
            (text_equal_nocase(json_text_at(node, "status.nodeInfo.machineID"), own) ||
             text_equal_nocase(json_string_value(json_object_get(labels, "kubernetes.io/hostname")),
                               own))) {
            (void)error_set(
                err, ERROR_CONFLICT,
                "node '%s' has this machine's host name '%s', by which %s tells nodes apart",
                peer.node ? peer.node : "", own, join->found.plan.plugin);
            return error_hint(err,
                              "rename this machine and restart it (PowerShell: Rename-Computer "
                              "-NewName NAME -Restart), or delete that Node if it is gone");
        }
        if (check_subnet(join, peer.pod_cidr, peer.node, err) < 0 ||
            check_subnet(join, peer.pod_cidr6, peer.node, err) < 0)
            return -1;
    }
    return 0;
}

/* Returns the cluster's prefix that a network or an address overlaps, or NULL. *ret_what says
 * whether that prefix is for Services or Pods. */
static const char *overlapped(const struct network_plan *plan, const char *theirs,
                              const char **ret_what) {
    const struct text_list *const lists[] = {&plan->service_cidrs, &plan->cluster_pod_cidrs};
    static const char *const what[] = {"services", "pods"};
    _cleanup_(freep) char *whole = strchr(theirs, '/')
                                       ? xstrdup(theirs)
                                       : xasprintf("%s/%d", theirs, strchr(theirs, ':') ? 128 : 32);
    struct cidr a, b;

    if (cidr_parse(whole, &a, NULL) < 0 || ip_is_link_local(&a.base))
        return NULL;
    for (size_t l = 0; l < ARRAY_SIZE(lists); l++)
        for (size_t i = 0; i < lists[l]->count; i++)
            if (cidr_parse(lists[l]->items[i], &b, NULL) == 0 && cidr_overlaps(&a, &b)) {
                *ret_what = what[l];
                return lists[l]->items[i];
            }
    return NULL;
}

/* Warns of networks that overlap the cluster's prefixes. Pods reach such addresses only with their
 * own address as the source, to which no host outside can answer. */
static void warn_of_overlaps(struct join *join) {
    _cleanup_(host_adapters_free) struct host_adapters adapters = {0};
    const struct nic_snapshot *nic = &join->found.nic;
    const char *prefix, *what = "";

    if (host_adapters(join->host, &adapters, ERROR_IGNORED) < 0)
        return;
    for (size_t i = 0; i < adapters.count; i++) {
        const struct host_adapter *other = &adapters.items[i];
        bool own = nic_is_virtual_alias(other->alias) || text_equal(other->alias, nic->alias);

        for (size_t k = 0; !own && k < other->addresses.count; k++)
            if ((prefix = overlapped(&join->found.plan, other->addresses.items[k], &what)))
                join_warn(&join->progress,
                          "the network of adapter '%s' (%s) overlaps the cluster's %s %s: pods of "
                          "this node do not reach it",
                          other->alias, other->addresses.items[k], what, prefix);
    }
    for (size_t i = 0; i < nic->dns_servers.count; i++)
        if ((prefix = overlapped(&join->found.plan, nic->dns_servers.items[i], &what)))
            join_warn(
                &join->progress,
                "this server's DNS server %s is within the cluster's %s %s: pods of this node "
                "do not reach it",
                nic->dns_servers.items[i], what, prefix);
}

void network_fit_warn(struct join *join) {
    const struct agent_settings *settings = &join->found.cluster.network;
    const struct daemon_set_agent *agent = join->found.plan.daemon_set_agent;
    bool unread = join->found.cluster.network_unread;
    struct error full = {0};

    if (found_waits_for_prefix(&join->found) && !join->found.node.name &&
        pod_room_check(&join->found.cluster, NULL, join->found.node_name, &full) < 0)
        join_warn(&join->progress, "%s", full.message);
    warn_of_overlaps(join);
    if (settings->linux_agent && !unread &&
        !text_equal(settings->linux_agent->plugin, join->found.plan.plugin))
        join_warn(&join->progress,
                  "the cluster's pods use %s (%s): whether they reach the pods of this "
                  "node is not checked",
                  settings->linux_agent->title, settings->linux_set);
    else if (join->found.plan.agent->in_cluster && !agent)
        join_warn(&join->progress, "%s: what it needs on this machine is not checked",
                  unread ? "the DaemonSet of the cluster's network agent is not known, for some of "
                           "what network agents say may not be read (403)"
                         : "the cluster has no DaemonSet of a network agent that winjoin knows");
    else if (unread)
        log_message(LOG_INFO,
                    "no right to read the DaemonSets or ConfigMaps of network agents (403)");
    if (!agent)
        return;
    if (agent->advice)
        join_warn(&join->progress, "%s", agent->advice);
    if (!settings->kube_proxy && !settings->proxies)
        join_warn(&join->progress,
                  "the cluster has no DaemonSet " KUBE_PROXY_DAEMON_SET
                  ": pods on this node reach no Service until kube-proxy runs here");
}
