/* Checks whether the cluster's Pod subnets still have a part for this node. */
#include "join/found/need.h"

#include "base/cidr.h"
#include "kube/node.h"

enum { NAMES_SHOWN_MAX = 3, PARTS_BITS_MAX = 16 };

/* Counts the parts of this subnet that other Nodes have, and adds the first Nodes' names. */
static unsigned long count_parts(const json_t *nodes, const char *own, const struct cidr *subnet,
                                 struct text_list *ret_names) {
    unsigned long count = 0;

    json_each(json_object_get(nodes, "items"), i, item) {
        _cleanup_(kube_node_free) struct kube_node node = {0};

        if (kube_node_from_json(item, &node, ERROR_IGNORED) < 0 || text_equal(node.name, own))
            continue;
        for (size_t k = 0; k < node.pod_cidrs.count; k++) {
            struct cidr part;

            if (cidr_parse(node.pod_cidrs.items[k], &part, NULL) < 0 ||
                !cidr_contains_cidr(subnet, &part))
                continue;
            count++;
            if (ret_names->count < NAMES_SHOWN_MAX)
                text_list_add(ret_names, node.name);
        }
    }
    return count;
}

int pod_room_check(const struct cluster_config *cluster, const json_t *nodes, const char *own,
                   struct error *err) {
    for (size_t i = 0; i < cluster->pod_subnets.count; i++) {
        _cleanup_(text_list_free) struct text_list names = {0};
        _cleanup_(freep) char *shown = NULL;
        unsigned long room, used;
        struct cidr subnet;
        int mask;

        if (cidr_parse(cluster->pod_subnets.items[i], &subnet, NULL) < 0)
            continue;
        mask = (int)cluster->node_masks[subnet.base.family == 6];
        if (mask < subnet.length || mask - subnet.length > PARTS_BITS_MAX)
            /* The mask is invalid, which other checks report, or there are more parts than Nodes
             * can exist. */
            continue;
        room = 1UL << (mask - subnet.length);
        used = nodes ? count_parts(nodes, own, &subnet, &names) : 1;
        if (!nodes)
            text_list_add(&names, "the control plane");
        if (used < room)
            continue;
        shown = text_list_join(&names, ", ");
        (void)error_set(err, ERROR_CONFLICT,
                        "the cluster's pod subnet %s is full: it has room for %lu Node%s with a "
                        "/%d each, and %s%s %s: the controller manager has none for this node",
                        CIDR_TEXT(&subnet), room, room == 1 ? "" : "s", mask, shown,
                        used > names.count ? " and others" : "",
                        used == 1 ? "has it" : "have them");
        (void)error_hint(err,
                         "a larger podSubnet (--cluster-cidr), or a larger "
                         "--node-cidr-mask-size%s for new Nodes, of kube-controller-manager",
                         subnet.base.family == 6 ? "-ipv6" : "");
        return error_hint(err, "Nodes that are gone keep theirs: kubectl delete node NAME; with "
                               "--pod-cidr this node takes a prefix of your choice");
    }
    return 0;
}

int pod_room_check_cluster(struct join *join, struct error *err) {
    _cleanup_json_ json_t *nodes = NULL;

    (void)kube_nodes_get(&join->found.client, &nodes, ERROR_IGNORED);
    return pod_room_check(&join->found.cluster, nodes, join->found.node_name, err);
}
