/* The cells of a cluster's matrix, and the observations beside them, as questions to probes. */
#ifndef DIAG_CLUSTER_CELLS_H
#define DIAG_CLUSTER_CELLS_H

#include "diag/cluster/cluster.h"

/* Addresses that the API server gave the Services; "" = none. */
struct cluster_addresses {
    char backend_ip[46], backend_ip6[46], sticky_ip[46], self_ip[46];
    unsigned node_port, node_port_udp, local_port;
};
/* Of the Services as the API server answered them: an array in the order of
 * cluster_services_make(). */
void cluster_addresses_read(const json_t *services, struct cluster_addresses *ret);

/* The cells of these pairs; those of a node without a probe are not-run already. */
void cluster_cells_make(const struct cluster_report *report, const struct cluster_options *options,
                        const struct cluster_addresses *addresses, struct cluster_cells *ret);
/* The path of a cell's question; NULL where there is none. The caller frees. */
char *cluster_cell_path(const struct cluster_report *report, const struct cluster_cell *cell);
/* A cell whose probe the API server does not reach, in its words. */
void cluster_cell_unasked(struct cluster_cell *cell, const char *words);
/* Puts an answer into its cell; `retried`: it failed before, and that counts. */
void cluster_cell_judge(const struct cluster_report *report, struct cluster_cell *cell, long status,
                        const char *body, size_t len, bool retried);
/* One whose answer did not come in time, when all others are judged: a probe that answers others is
 * still asking the DNS, which gives up later than anybody waits here. */
void cluster_cell_judge_late(const struct cluster_report *report, struct cluster_cell *cell);
/* Whether the kubelet reaches the pod of its node. */
void cluster_cells_judge_kubelets(struct cluster_report *report);

/* What is only looked at: DNS inside the pod, the client address that others see, whether the own
 * Service answers, session affinity: last, as one pod alone behind a Service keeps its clients. */
enum cluster_sight {
    SIGHT_DNS,
    SIGHT_CLIENT,
    SIGHT_SERVICE,
    SIGHT_LOCAL,
    SIGHT_OWN,
    SIGHT_STICKY,
    SIGHTS
};
/* NULL where there is nothing to ask; `to`: another node. The caller frees. */
char *cluster_sight_path(const struct cluster_report *report, enum cluster_sight sight, size_t from,
                         size_t to, const struct cluster_addresses *addresses);
/* Notes what was seen, also in node->seen. */
void cluster_sight_read(struct cluster_node *node, enum cluster_sight sight, long status,
                        const char *body, size_t len);

#endif
