/* Finds what a phase needs to know, in the order of dependencies. */
#include "join/found/need.h"

#include "base/cidr.h"
#include "base/log.h"
#include "join/configuration/join_configuration.h"
#include "join/kubelet/kubelet_files.h"
#include "netsetup/agents/agent.h"
#include "netsetup/agents/daemon_set_agent.h"

int join_need(struct join *join, unsigned needs, struct error *err) {
    static const struct {
        unsigned need;
        int (*find)(struct join *join, struct error *err);
    } rows[] = {
        {NEED_CLIENT, find_client},
        {NEED_NODE_CLIENT, find_node_client},
        {NEED_CLUSTER, find_cluster},
        {NEED_NODE, find_node},
        {NEED_KUBELET_CONFIG, find_kubelet_config},
        {NEED_PLAN, find_plan},
    };

    const struct network_agent *agent;

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        if ((needs & rows[i].need) && rows[i].find(join, err) < 0)
            return -1;
    agent = join->found.plan.agent;
    if (!(needs & NEED_NODE) || !(needs & NEED_PLAN) || join->found.plan.pod_cidr_known ||
        agent->in_cluster || agent->pods_make_network)
        return 0;
    /* The Node exists but has no Pod prefix. This function does not wait for one; the error says
     * who assigns it. */
    if (agent->subnet_annotation) {
        (void)error_set(err, ERROR_ABSENT, "read annotation %s of node '%s': it has none",
                        agent->subnet_annotation, join->found.node_name);
        return error_hint(err, "it is written by %s", agent->subnet_giver);
    }
    (void)error_set(err, ERROR_ABSENT, "read podCIDR of node '%s': not assigned yet",
                    join->found.node_name);
    return error_hint(err, "the controller manager assigns it (--allocate-node-cidrs=true); or set "
                           "one with --pod-cidr");
}

/* ---- the Node and the prefix of its Pods ---- */

const char *found_pod_prefix(const struct join_found *found, const struct network_agent *agent) {
    const struct kube_node *node = &found->node;

    if (found->options.pod_cidrs.count)
        return found->options.pod_cidrs.items[0];
    if (agent && agent->subnet_annotation)
        return kube_node_annotation(node, agent->subnet_annotation);
    return node->pod_cidrs.count ? node->pod_cidrs.items[0] : NULL;
}

/* An agent that makes the network (Calico, OVN-Kubernetes, Azure) may give out prefixes of its own,
 * so the join does not wait. It waits for an agent that needs the Node's prefix, because that agent
 * would wait without any message. */
bool found_waits_for_prefix(const struct join_found *found) {
    const struct network_plan *plan = &found->plan;

    return !found->options.pod_cidrs.count && !plan->agent->pods_make_network &&
           (!plan->agent->makes_network ||
            (plan->daemon_set_agent && plan->daemon_set_agent->needs_pod_cidr));
}

int find_node(struct join *join, struct error *err) {
    if (join->found.node.name && found_pod_prefix(&join->found, join->found.plan.agent))
        return 0;
    if (find_node_client(join, err) < 0)
        return -1;
    if (join->found.node.name)
        kube_node_free(&join->found.node);
    return kube_node_get(&join->found.client, join->found.node_name, &join->found.node, err);
}

/* ---- the cluster's configuration ---- */

int find_cluster(struct join *join, struct error *err) {
    struct ip ip;

    if (join->found.cluster.kubelet)
        return 0;
    if (find_client(join, err) < 0 ||
        cluster_config_read(&join->found.client,
                            (unsigned)join->found.options.kubernetes_api_call_timeout,
                            join->found.discovery.proof, &join->found.cluster, err) < 0)
        return -1;
    for (size_t i = 0; i < join->found.cluster.warnings.count; i++)
        log_message(LOG_INFO, "%s", join->found.cluster.warnings.items[i]);
    if (join->found.cluster.local_dns)
        join_warn(&join->progress,
                  "clusterDNS %s is %s: pods of this node ask the cluster's DNS Service at %s",
                  join->found.cluster.local_dns,
                  text_list_has(&join->found.cluster.cluster_dns, join->found.cluster.local_dns)
                      ? "an IPv6 address alone"
                  : ip_parse(join->found.cluster.local_dns, &ip, NULL) < 0
                      ? "no IP address"
                      : "a DNS cache of Linux nodes",
                  join->found.cluster.cluster_dns.items[0]);
    if (join->found.cluster.winjoin) {
        node_configuration_apply(join->found.cluster.winjoin, &join->found.options);
        if (join_options_check(&join->found.options, err) < 0)
            return error_prefix(err, "ConfigMap kube-system/winjoin");
    }
    return 0;
}

/* ---- containerd on this node: winjoin's own, or one that was there before ---- */

int find_containerd(struct host *host, struct join_found *found, struct error *err) {
    _cleanup_(containerd_settings_free) struct containerd_settings settings = {0};
    _cleanup_(freep) char *socket = NULL;

    if (found->containerd.pipe)
        return 0;
    if (containerd_settings_find(host, &settings, err) < 0)
        return -1;
    socket = text_replace(xasprintf("npipe://%s", settings.pipe), "\\", '/');
    if (!found->options.cri_socket && !text_equal_nocase(socket, KUBELET_CRI_SOCKET))
        found->options.cri_socket = take_ptr(socket);
    found->containerd = take_struct(settings);
    return 0;
}
