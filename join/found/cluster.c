/* The cluster's configuration as it is found. */
#include "base/log.h"
#include "join/configuration/node_configuration.h"
#include "join/found/need.h"

int find_cluster(struct join *join, struct error *err) {
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
                      : "a DNS cache of Linux nodes",
                  join->found.cluster.cluster_dns.items[0]);
    if (join->found.cluster.winjoin) {
        node_configuration_apply(join->found.cluster.winjoin, &join->found.options);
        if (join_options_check(&join->found.options, err) < 0)
            return error_prefix(err, "ConfigMap kube-system/winjoin");
    }
    return 0;
}
