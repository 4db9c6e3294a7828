/* The Node as it is found, and the prefix of its pods. */
#include "join/found/need.h"
#include "netsetup/agents/external_agent.h"

const char *found_pod_prefix(const struct join_found *found, const struct network_agent *agent) {
    const struct kube_node *node = &found->node;

    if (found->options.pod_cidrs.count)
        return found->options.pod_cidrs.items[0];
    if (agent && agent->subnet_annotation)
        return kube_node_annotation(node, agent->subnet_annotation);
    return node->pod_cidrs.count ? node->pod_cidrs.items[0] : NULL;
}

/* An agent that makes the network may give out prefixes of its own (Calico, OVN-Kubernetes, Azure);
 * another one would wait for the Node's without a word. */
bool found_waits_for_prefix(const struct join_found *found) {
    const struct network_plan *plan = &found->plan;

    return !found->options.pod_cidrs.count && !plan->agent->pods_make_network &&
           (!plan->agent->makes_network || (plan->external && plan->external->needs_pod_cidr));
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
