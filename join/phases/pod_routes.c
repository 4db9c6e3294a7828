/* Routes between this node's Pods and those of other nodes, when no agent maintains them. */
#include "join/phases/steps.h"

#include "netsetup/agents/agent.h"
#include "netsetup/routes/fabric_routes.h"
#include "node/chosen.h"

enum { TOLD_MAX = 50 };

/* Lists the Nodes. When this is forbidden, *ret stays NULL and a warning says what was not done
 * (`left`: "printed" or "added"). */
static int list_nodes(struct join *join, const char *left, json_t **ret, struct error *err) {
    if (kube_nodes_get(&join->found.client, ret, err) == 0)
        return 0;
    if (!kube_is_forbidden(err))
        return -1;
    join_warn(&join->progress,
              "this node is not allowed to list Nodes, so no routes to their pods were %s (winjoin "
              "config cluster grants the right)",
              left);
    error_clear(err);
    return 0;
}

/* ---- routes that the network has instead of the nodes ---- */

/* Removes the routes that an earlier join wrote. With --routes print, adds the routes that the
 * network needs to the steps to do by hand. */
static int leave_to_network(struct join *join, struct error *err) {
    const struct network_plan *plan = &join->found.plan;
    const struct network_peer own = {.node = join->found.node_name,
                                     .pod_cidr = plan->pod_cidr,
                                     .node_address = plan->management_address,
                                     .pod_cidr6 = plan->ipv6.on ? plan->ipv6.pod_cidr : NULL,
                                     .node_address6 = plan->ipv6.management_address};
    static const struct fabric_place nowhere = {0};
    _cleanup_(text_list_free) struct text_list left_out = {0}, formats = {0};
    _cleanup_(chosen_free) struct chosen chosen = {0};
    _cleanup_json_ json_t *ever = NULL, *nodes = NULL, *routes = NULL;
    size_t count;

    text_addf(&join->progress.detail, "; routes to other nodes: the network's (%s)", plan->routes);
    if (chosen_load(join->host, &chosen, ERROR_IGNORED) == 0) {
        ever = chosen_routes_ever(join->host, &chosen);
        if (node_routes_remove(join->host, plan, ever, err) < 0)
            return -1;
    }
    if (!text_equal(plan->routes, "print"))
        return 0;
    if (list_nodes(join, "printed", &nodes, err) < 0)
        return -1;
    routes = fabric_routes_of_nodes(nodes, &own, &left_out);
    count = json_array_size(routes);
    fabric_formats(routes, &formats);
    for (size_t i = 0; i < formats.count; i++) {
        const char *format = formats.items[i];
        _cleanup_(freep) char *text = fabric_routes_text(routes, format, &nowhere, TOLD_MAX);
        _cleanup_(freep) char *rest =
            count > TOLD_MAX
                ? xasprintf("and %zu more: winjoin config routes -o %s\n", count - TOLD_MAX, format)
                : xstrdup("");

        text_list_add_owned(
            &join->progress.next,
            text_equal(format, "text")
                ? xasprintf("the network between the nodes needs these routes:\n%s%s", text, rest)
                : xasprintf("the same for %s:\n%s%s", format, text, rest));
    }
    for (size_t i = 0; i < left_out.count; i++)
        join_warn(&join->progress, "no route was printed: %s", left_out.items[i]);
    return 0;
}

int pod_routes_publish(struct join *join, const struct hcn_network *network, struct error *err) {
    const struct network_plan *plan = &join->found.plan;
    _cleanup_json_ json_t *patch = NULL, *nodes = NULL, *routes = NULL;
    _cleanup_(freep) char *path = NULL;
    json_t *annotations;
    int result = 0;

    if (plan->agent->keeps_routes)
        return 0;
    if (plan->routes && !plan->writes_routes)
        return leave_to_network(join, err);
    /* Other nodes reach these Pods only after an administrator has done the following steps. */
    if (plan->mode->host_routes)
        text_list_add_owned(&join->progress.next,
                            xasprintf("other nodes (or the fabric) need the route %s via %s",
                                      plan->pod_cidr, plan->management_address));
    if (plan->mode->fabric_gateway)
        text_list_add_owned(
            &join->progress.next,
            xasprintf("the network's router needs the address %s/%d on this node's segment (the "
                      "pods' gateway), and the hypervisor must allow MAC address spoofing",
                      plan->gateway, plan->prefix_length));
    if (!plan->mode->route_to)
        return 0;

    /* Annotations of the Node tell other nodes how to reach this node's Pods. */
    annotations =
        plan->agent->announce ? plan->agent->announce(plan, network, join->found.node_ip) : NULL;
    if (annotations) {
        path = xasprintf("/api/v1/nodes/%s", join->found.node_name);
        patch = json_pack("{s:{s:o}}", "metadata", "annotations", annotations);
        if (kube_patch(&join->found.client, path, "merge", patch, err) < 0)
            return -1;
    }

    if (list_nodes(join, "added", &nodes, err) < 0)
        return -1;
    if (!nodes)
        return 0;
    routes = node_routes_of_nodes(plan, nodes, join->found.node_name);
    /* Routes of the host are recorded in the journal, so that a reset removes them. */
    if (plan->mode->host_routes) {
        join->journal.held = true;
        json_each(routes, i, route) {
            if (result == 0)
                result = journal_record(
                    &join->journal, JOURNAL_ROUTE, json_text_at(route, "podCIDR"),
                    json_pack("{s:s}", "nextHop", json_text_at(route, "nodeAddress")), err);
        }
        if (journal_write_down(&join->journal, result < 0 ? NULL : err) < 0 || result < 0)
            return -1;
    }
    text_addf(&join->progress.detail, "; %s%zu other node%s",
              plan->mode->host_routes ? "routes to " : "", json_array_size(routes),
              PLURAL(json_array_size(routes)));
    return node_routes_write(join->host, plan, routes, true, err);
}
