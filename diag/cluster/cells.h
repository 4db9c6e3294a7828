/* The cells of a cluster's matrix, and the observations beside them, as questions to probes. */
#pragma once

#include "diag/cluster/cluster.h"
#include "diag/cluster/probes/dial.h"

/* Addresses and ports that the API server gave the Services; "" or 0 when a Service has none. */
struct cluster_addresses {
    char backend_ip[46], backend_ip6[46], sticky_ip[46], self_ip[46];
    unsigned node_port, node_port_udp, local_port_udp;
};
/* Reads the addresses from the Services as the API server answered them: an array in the order of
 * cluster_services_make(). */
void cluster_addresses_read(const json_t *services, struct cluster_addresses *ret);

/* Makes the cells of report->pairs and of each node. The cell of a node without a probe is already
 * not-run. */
void cluster_cells_make(const struct diag_report *report, const struct cluster_options *options,
                        const struct cluster_addresses *addresses, struct diag_cells *ret);
/* Adds the cells of the pairs from index `first` on, behind the existing cells. */
void cluster_cells_widen(struct diag_report *report, const struct cluster_addresses *addresses,
                         size_t first);
/* What a cell's probe asks the target. An echo does not show whose it is, so the target's name is
 * asked for as well. */
enum cluster_question {
    /* The target's name, in one short packet each way. */
    ASK_NAME,
    /* An echo of CLUSTER_LARGE_... bytes, for large packets in both directions. */
    ASK_LARGE,
    /* The target's name, by a question of that length, for large packets to the target only. */
    ASK_LARGE_THERE,
    QUESTIONS
};
/* Bytes of a large question. TCP: more than two full segments, in a URL that proxies still accept.
 * UDP: a packet that is not fragmented where pods have the 1450 bytes of an overlay; agnhost reads
 * at most 2048 bytes of UDP. */
enum { CLUSTER_LARGE_TCP = 3000, CLUSTER_LARGE_UDP = 1400 };
/* The cell was not asked, or could not be. */
static inline bool cluster_cell_is_not_run(const struct diag_cell *cell) {
    return cell->outcome == DIAG_NOT_RUN;
}
/* The cell failed, with some attempts that succeeded. */
static inline bool cluster_cell_is_lossy(const struct diag_cell *cell) {
    return cell->outcome == DIAG_FAIL && cell->result.succeeded;
}
/* The cell failed because only short packets arrive. */
static inline bool cluster_cell_is_large_lost(const struct diag_cell *cell) {
    return cell->outcome == DIAG_FAIL && cell->large >= LARGE_LOST;
}
/* The cell is between pods of two nodes; these cells are asked with large packets, too. */
static inline bool cluster_cell_is_between_pods(const struct diag_cell *cell) {
    return cell->flow->id == FLOW_POD_IP && cell->from_node != cell->to_node;
}
/* The cell is between pods by TCP, which sends lost packets again. */
static inline bool cluster_cell_is_pods_tcp(const struct diag_cell *cell) {
    return cluster_cell_is_between_pods(cell) && !cell->udp;
}
/* The cell asks a Service by its cluster IP. */
static inline bool cluster_cell_is_to_service(const struct diag_cell *cell) {
    return cell->flow->id == FLOW_SVC_IP;
}
/* The cell goes through a load balancer, or asks by a name of a Service. */
static inline bool cluster_cell_is_by_service(const struct diag_cell *cell) {
    return cell->flow->is & FLOW_SERVICE;
}
/* The cell asks by a name of the cluster. */
static inline bool cluster_cell_is_by_name(const struct diag_cell *cell) {
    return (cell->flow->is & (FLOW_NAME | FLOW_OUTSIDE)) == FLOW_NAME;
}
/* The cell asks a NodePort, the port that each node has for a Service. */
static inline bool cluster_cell_is_to_port(const struct diag_cell *cell) {
    return cell->flow->id == FLOW_NODE_PORT;
}
/* The cell asks an address outside the cluster. */
static inline bool cluster_cell_is_outside(const struct diag_cell *cell) {
    return cell->flow->id == FLOW_EXT_IP;
}
/* The cell's name was not resolved, or the DNS did not answer. */
bool cluster_cell_has_dns_failed(const struct diag_cell *c);
/* The path of a cell's question, which the probe asks `tries` times, one after the other. NULL when
 * the cell has no such question. The caller frees. */
char *cluster_cell_path(const struct diag_report *report, const struct diag_cell *cell,
                        enum cluster_question question, unsigned tries);
/* Marks a cell as not run, because the API server does not reach its probe; `words` are the API
 * server's. */
void cluster_cell_unasked(struct diag_cell *cell, const char *words);
/* Reads an answer as dial_read() does. An answer from another responder than the expected one is no
 * success; when no answer is right, the outcome is PROBE_WRONG_RESPONDER. */
enum dial_end cluster_cell_read(const struct diag_report *report, const struct diag_cell *cell,
                                long status, const char *body, size_t len, struct probe_result *ret,
                                char *why, size_t why_size);
/* Puts an answer into its cell. `retried` says that an earlier round may have asked the cell: its
 * attempts then count as failed, and a success makes the cell slow. */
void cluster_cell_judge(const struct diag_report *report, struct diag_cell *cell, long status,
                        const char *body, size_t len, bool retried);
/* How many questions of one round were asked and answered. The caller zero-initializes it. */
struct cluster_tally {
    unsigned asked[QUESTIONS], answered[QUESTIONS];
};
/* Counts an answer in *ret. Judges the cell by answers with a name: by the first one that is wrong,
 * otherwise by the last. Questions that the API server does not pass on (such as a URL that a proxy
 * rejects) are not counted. */
void cluster_cell_count(const struct diag_report *report, struct diag_cell *cell,
                        enum cluster_question question, long status, const char *body, size_t len,
                        bool retried, struct cluster_tally *ret);
/* Judges the cell again, when all its answers are counted: it fails when large packets are lost, or
 * some packets of any length. `mixed` says that some packets arrived and others did not, in this
 * round or an earlier one. */
void cluster_cell_judge_large(struct diag_cell *cell, const struct cluster_tally *tally,
                              bool *mixed);
/* Marks the cell as failed with the reason "31 of 50 attempts succeeded", and sets its outcome. */
void cluster_cell_set_loss(struct diag_cell *cell, unsigned attempts, unsigned succeeded);
/* Changes the cells' names to the domain `domain` when `old` was a wrong guess. The ExternalName
 * Service then has another name, too. */
void cluster_cells_rename(struct diag_cells *cells, const char *old, const char *domain);
/* Judges a cell by name whose answer did not come in time, although its probe answers other
 * questions: the probe still waits for the DNS, which gives up later than the question does. Cells
 * by address stay unchanged. */
void cluster_cell_judge_late(struct diag_cell *cell);
/* Judges the cells from the kubelet to its node's pod, by the pod's readiness. */
void cluster_cells_judge_kubelets(struct diag_report *report);

/* Observations that count for no cell: the DNS settings inside the pod, the client addresses that
 * others see, whether a pod's own Service answers, session affinity. Session affinity is observed
 * last, because a Service with a single ready pod keeps its clients in any case. */
enum cluster_observation {
    OBSERVE_DNS,
    OBSERVE_CLIENT,
    OBSERVE_SERVICE,
    OBSERVE_LOCAL,
    OBSERVE_OWN,
    OBSERVE_STICKY,
    OBSERVATIONS
};
/* The path of an observation's question from one node; `to` is another node. NULL when there is
 * nothing to ask. The caller frees. */
char *cluster_observation_path(const struct diag_report *report,
                               enum cluster_observation observation, size_t from, size_t to,
                               const struct cluster_addresses *addresses);
/* Stores what was observed in the node, and sets the observation's bit in node->seen. */
void cluster_observation_read(struct cluster_node *node, enum cluster_observation observation,
                              long status, const char *body, size_t len);
