/* The routes between this node's pods and other nodes', where no agent keeps them. */
#include "join/phases/pod_routes.h"

#include "base/memory.h"
#include "netsetup/agents/agent.h"

/* A route of the host's is undone by what the journal knows of it. */
static int record_routes(struct join *join, const json_t *routes, struct error *err) {
    json_t *route;
    int result = 0;
    size_t i;

    journal_hold(&join->journal);
    json_array_foreach(routes, i, route) {
        if (result == 0)
            result = journal_record(
                &join->journal, JOURNAL_ROUTE, json_text_at(route, "podCIDR"),
                json_pack("{s:s}", "nextHop", json_text_at(route, "nodeAddress")), err);
    }
    if (journal_write_down(&join->journal, result < 0 ? NULL : err) < 0 || result < 0)
        return -1;
    return 0;
}

/* How other nodes reach this one's pods. */
static int announce(struct join *join, const struct hcn_network *network, struct error *err) {
    const struct network_plan *plan = &join->found.plan;
    _cleanup_(freep) char *path = xasprintf("/api/v1/nodes/%s", join->found.node_name);
    _cleanup_json_ json_t *patch = NULL;
    json_t *annotations =
        plan->agent->announce ? plan->agent->announce(plan, network, join->found.node_ip) : NULL;

    if (!annotations)
        return 0;
    patch = json_pack("{s:{s:o}}", "metadata", "annotations", annotations);
    return kube_patch(&join->found.client, path, "merge", patch, NULL, err);
}

int pod_routes_publish(struct join *join, const struct hcn_network *network, struct error *err) {
    const struct network_plan *plan = &join->found.plan;
    _cleanup_json_ json_t *nodes = NULL, *routes = NULL;

    if (plan->agent->keeps_routes)
        return 0;
    if (plan->mode->next)
        text_list_add_owned(&join->progress.next, plan->mode->next(plan));
    if (!plan->mode->route_to)
        return 0;
    if (announce(join, network, err) < 0)
        return -1;
    if (kube_nodes_get(&join->found.client, &nodes, err) < 0) {
        if (!kube_is_forbidden(err))
            return -1;
        join_warn(&join->progress, "this node is not allowed to list Nodes, so no routes to their "
                                   "pods were added (winjoin config cluster grants the right)");
        error_clear(err);
        return 0;
    }
    routes = peers_of_nodes(plan, nodes, join->found.node_name);
    if (plan->mode->host_routes && record_routes(join, routes, err) < 0)
        return -1;
    text_addf(&join->progress.detail, "; %s%zu other nodes",
              plan->mode->host_routes ? "routes to " : "", json_array_size(routes));
    return peers_write(join->host, plan, routes, true, err);
}
