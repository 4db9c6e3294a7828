/* The text files that a join writes on the node: computed here, written by the phases, shown by the
 * JoinPlan. But for secrets: the client certificate with its key is the certificate phase's. */
#pragma once

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

/* Each adds its files; they change nothing on the host. They read what was found: the client, the
 * cluster, the plan and the kubelet's configuration. */
/* containerd's config.toml, of the shape that the installed containerd reads. */
void node_files_containerd(struct host *host, struct join_found *found, struct node_files *ret);
/* That, ca.crt, kubelet.conf, config.yaml, kubeadm-flags.env, instance-config.yaml. */
void node_files_kubernetes(struct host *host, struct join_found *found, struct node_files *ret);
/* kube-proxy's configuration and kubeconfig. Kinds: those of kube_proxy_config_make(). */
int node_files_kube_proxy(struct host *host, struct join_found *found, struct node_files *ret,
                          struct error *err);
/* The network agent's settings and kubeconfig, where it has them. */
void node_files_agent(const struct join_found *found, struct node_files *ret);
/* network.json: what this join chose (node/chosen.h). `peers` (array, or NULL while they are not
 * known) is borrowed. */
void node_files_chosen(const struct join_found *found, json_t *peers, struct node_files *ret);
/* The CNI file. */
void node_files_cni(const struct network_plan *plan, struct node_files *ret);

/* Writes them, each recorded in the journal first. */
int node_files_write(struct journal *journal, const struct node_files *files, struct error *err);

/* What the file holds, by public keys as pins name them: "sha256:.. (CN=kubernetes)",
 * of several the first three; "no certificate" when it is none. NULL when there is no file. The
 * caller frees. */
char *ca_file_describe(struct host *host, const char *path);
/* One line with what both hold when the file's keys are not those of the proven CA; NULL when they
 * are, there is no file, or no CA (NULL). kubeadm keeps such a file as it is. The caller frees. */
char *ca_file_difference(struct host *host, const char *path, const char *proven_pem);

/* A ca.crt of another cluster makes kubelets fail with errors that mislead: warns of the one
 * that will be replaced. */
void ca_file_warn(struct host *host, const struct join_found *found,
                  struct join_progress *progress);
