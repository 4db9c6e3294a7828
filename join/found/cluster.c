/* The cluster as it is found: its configuration, the Node. */
#include "base/log.h"
#include "join/configuration/node_configuration.h"
#include "join/found/need.h"

int find_cluster(struct join *join, struct error *err) {
    if (join->found.cluster.kubelet)
        return 0;
    if (find_client(join, err) < 0 ||
        cluster_config_read(&join->found.client,
                            (unsigned)join->found.options.timeouts.kubernetes_api_call,
                            &join->found.cluster, err) < 0)
        return -1;
    for (size_t i = 0; i < join->found.cluster.warnings.count; i++)
        log_message(LOG_INFO, "%s", join->found.cluster.warnings.items[i]);
    if (join->found.cluster.winjoin) {
        node_configuration_apply(join->found.cluster.winjoin, &join->found.options);
        if (join_options_check(&join->found.options, err) < 0)
            return error_prefix(err, "ConfigMap kube-system/winjoin");
    }
    return 0;
}

int find_node(struct join *join, struct error *err) {
    if (join->found.node.name && found_pod_prefix(&join->found))
        return 0;
    if (find_node_client(join, err) < 0)
        return -1;
    if (join->found.node.name)
        kube_node_free(&join->found.node);
    return kube_node_get(&join->found.client, join->found.node_name, &join->found.node, err);
}
