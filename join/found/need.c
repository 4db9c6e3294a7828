/* Finds what a phase needs, in the order in which one thing needs another. */
#include "join/found/need.h"

#include "netsetup/agents/agent.h"

/* Of a Node that stands: it was not waited for. */
static int no_prefix(const struct join *join, struct error *err) {
    const struct network_agent *agent = join->found.plan.agent;

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

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        if ((needs & rows[i].need) && rows[i].find(join, err) < 0)
            return -1;
    if ((needs & NEED_NODE) && (needs & NEED_PLAN) && !join->found.plan.pod_cidr_known &&
        !join->found.plan.agent->in_cluster && !join->found.plan.agent->pods_make_network)
        return no_prefix(join, err);
    return 0;
}
