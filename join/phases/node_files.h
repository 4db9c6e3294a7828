/* The text files that a join lays on the node: computed here, laid by the phases, shown by the
 * JoinPlan. But for secrets: the client certificate with its key is made by the certificate phase.
 */
#ifndef JOIN_PHASES_NODE_FILES_H
#define JOIN_PHASES_NODE_FILES_H

#include "base/error.h"
#include "host/host.h"
#include "join/join.h"
#include "services/service_table.h"

struct node_file {
    char *path;
    char *text;
    enum host_access access;
};
/* Zero-initialise; node_files_free(). */
struct node_files {
    struct node_file *items;
    size_t count;
};
void node_files_free(struct node_files *files);

/* Each adds its files; they change nothing on the host. They need join->client, the cluster, the
 * plan and the kubelet's configuration (join_need_*), and fail as those do. A ca.crt of another CA
 * on the host is warned of. */
/* ca.crt, kubelet.conf, config.yaml, kubeadm-flags.env, instance-config.yaml, containerd's
 * config.toml. */
int node_files_kubernetes(struct join *join, struct node_files *ret, struct error *err);
/* kube-proxy's configuration and kubeconfig. */
int node_files_kube_proxy(struct join *join, struct node_files *ret, struct error *err);
/* net-conf.json and flanneld's kubeconfig. */
int node_files_flannel(struct join *join, struct node_files *ret, struct error *err);
/* network.json: what the boot service needs to make the same network again. `peers` (array, or
 * NULL while they are not known) is borrowed. */
int node_files_boot_network(struct join *join, json_t *peers, struct node_files *ret,
                            struct error *err);
/* The CNI file. */
int node_files_cni(struct join *join, struct node_files *ret, struct error *err);

/* Lays them, each recorded in the journal first. */
int node_files_lay(struct join *join, const struct node_files *files, struct error *err);

#endif
