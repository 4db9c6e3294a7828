/* The ways between this node's pods and other nodes', where no agent keeps them. */
#include "join/phases/pod_routes.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "netsetup/routes.h"

#define FLANNEL "flannel.alpha.coreos.com/"
enum { REMOTES_MAX = 5000 };

/* The VTEP of a node as flannel publishes it; false when it is not one of this overlay. */
static bool remote_of(const struct join *join, const struct kube_node *node,
                      struct hcn_remote_subnet *ret) {
    _cleanup_json_ json_t *data = NULL;
    const char *mac;

    if (text_equal(node->name, join->found.node_name) || !node->pod_cidrs.count ||
        !node->flannel_backend_data || !node->flannel_public_ip ||
        json_read(node->flannel_backend_data, strlen(node->flannel_backend_data), "backend-data",
                  &data, NULL) < 0)
        return false;
    mac = json_text_at(data, "VtepMAC");
    ret->vni = join->found.plan.vni;
    return mac &&
           text_format(ret->subnet, sizeof ret->subnet, "%s", node->pod_cidrs.items[0]) == 0 &&
           text_format(ret->provider_address, sizeof ret->provider_address, "%s",
                       node->flannel_public_ip) == 0 &&
           text_format(ret->router_mac, sizeof ret->router_mac, "%s", mac) == 0;
}

static int lay_remote_subnets(struct join *join, const struct kube_nodes *nodes,
                              struct error *err) {
    _cleanup_(freep) struct hcn_remote_subnet *remotes = xcalloc(nodes->count, sizeof *remotes);
    size_t count = 0;

    for (size_t i = 0; i < nodes->count && count < REMOTES_MAX; i++)
        count += remote_of(join, &nodes->items[i], &remotes[count]);
    text_addf(&join->progress.detail, "; %zu other nodes", count);
    return hcn_remote_subnets_ensure(join->host, join->found.plan.name, remotes, count, err);
}

static int lay_routes(struct join *join, const struct kube_nodes *nodes, struct error *err) {
    _cleanup_(freep) struct pod_route *routes = xcalloc(nodes->count, sizeof *routes);
    _cleanup_(freep) char *next = NULL;
    size_t count = 0;
    int result = 0;

    journal_hold(&join->journal);
    for (size_t i = 0; i < nodes->count && count < REMOTES_MAX && result == 0; i++) {
        const struct kube_node *n = &nodes->items[i];

        if (text_equal(n->name, join->found.node_name) || !n->pod_cidrs.count || !n->internal_ip ||
            text_format(routes[count].pod_cidr, CIDR_TEXT_MAX, "%s", n->pod_cidrs.items[0]) < 0 ||
            text_format(routes[count].node_address, IP_TEXT_MAX, "%s", n->internal_ip) < 0)
            continue;
        result = journal_record(&join->journal, JOURNAL_ROUTE, routes[count].pod_cidr,
                                json_pack("{s:s}", "nextHop", routes[count].node_address), err);
        count++;
    }
    if (journal_write_down(&join->journal, result < 0 ? NULL : err) < 0 || result < 0)
        return -1;
    text_addf(&join->progress.detail, "; routes to %zu other nodes", count);
    next = xasprintf("other nodes (or the fabric) need the route %s via %s",
                     join->found.plan.pod_cidr, join->found.node_ip);
    text_list_add(&join->progress.next, next);
    return pod_routes_ensure(join->host, join->found.node_ip, routes, count, NULL, err);
}

/* How other nodes reach this one's pods, told as flannel tells it (annotations of its subnet
 * manager), so that its nodes and ours find each other. */
static int publish_vtep(struct join *join, const struct hcn_network *network, struct error *err) {
    _cleanup_(freep) char *path = xasprintf("/api/v1/nodes/%s", join->found.node_name);
    _cleanup_(freep) char *mac = text_lower(network->router_mac);
    _cleanup_(freep) char *data = NULL;
    _cleanup_json_ json_t *patch = NULL;

    for (char *c = mac; *c; c++)
        if (*c == '-')
            *c = ':';
    data = xasprintf("{\"VNI\":%u,\"VtepMAC\":\"%s\"}", join->found.plan.vni, mac);
    patch =
        json_pack("{s:{s:{s:s, s:s, s:s, s:s}}}", "metadata", "annotations", FLANNEL "backend-data",
                  data, FLANNEL "backend-type", "vxlan", FLANNEL "kube-subnet-manager", "true",
                  FLANNEL "public-ip", join->found.node_ip);
    return kube_patch(&join->found.client, path, "merge", patch, NULL, err);
}

int pod_routes_publish(struct join *join, const struct hcn_network *network, struct error *err) {
    struct kube_nodes nodes = {0};
    int result;

    if (join->found.plan.plugin == NETWORK_FLANNEL)
        return 0;
    if (join->found.plan.mode == NETWORK_OVERLAY && publish_vtep(join, network, err) < 0)
        return -1;
    if (kube_nodes_list(&join->found.client, &nodes, err) < 0) {
        if (!kube_is_forbidden(err))
            return -1;
        join_warn(&join->progress,
                  "this node may not list the others: no ways to their pods were laid "
                  "(winjoin config cluster grants it)");
        error_clear(err);
        return 0;
    }
    result = join->found.plan.mode == NETWORK_OVERLAY ? lay_remote_subnets(join, &nodes, err)
                                                      : lay_routes(join, &nodes, err);
    kube_nodes_free(&nodes);
    return result;
}
