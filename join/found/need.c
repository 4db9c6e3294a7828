/* Finds what a phase needs, in the order in which one thing needs another. */
#include "join/found/need.h"

#include "base/memory.h"

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
    return 0;
}
