/* The cells of a cluster's matrix, and the observations beside them, as questions to probes. */
#pragma once

#include "diag/cluster/cluster.h"
#include "diag/cluster/probes/dial.h"

/* Addresses that the API server gave the Services; "" = none. */
struct cluster_addresses {
    char backend_ip[46], backend_ip6[46], sticky_ip[46], self_ip[46];
    unsigned node_port, node_port_udp, local_port_udp;
};
/* Of the Services as the API server answered them: an array in the order of
 * cluster_services_make(). */
void cluster_addresses_read(const json_t *services, struct cluster_addresses *ret);

/* The cells of these pairs; those of a node without a probe are not-run already. */
void cluster_cells_make(const struct diag_report *report, const struct cluster_options *options,
                        const struct cluster_addresses *addresses, struct diag_cells *ret);
/* Those of the pairs from `first` on, behind the others. */
void cluster_cells_widen(struct diag_report *report, const struct cluster_addresses *addresses,
                         size_t first);
/* What is asked for a cell. An echo does not say whose it is, so a name is asked for as well. */
enum cluster_question {
    ASK_NAME,        /* who is there, in one short packet each way */
    ASK_LARGE,       /* an echo of CLUSTER_LARGE_... bytes: large packets there and back */
    ASK_LARGE_THERE, /* who is there, by a question of that length */
    QUESTIONS
};
/* Two full segments of TCP and more, in a URL that proxies take; an UDP packet that is not cut into
 * pieces where pods have the 1450 bytes of an overlay. agnhost reads 2048 bytes of UDP at most. */
enum { CLUSTER_LARGE_TCP = 3000, CLUSTER_LARGE_UDP = 1400 };

/* ---- cells by what they ask and how they ended ---- */

/* Flows, a bit each. */
#define FLOW_BIT_IF(so, id, name, from, to, by, is) | ((is) & (so) ? 1 << FLOW_##id : 0)
#define FLOWS_THAT_ARE(so) (0 DIAG_FLOWS(FLOW_BIT_IF, so))
enum {
    PODS = 1 << FLOW_POD_IP, /* between pods of two nodes, by address */
    POD_NAMES = 1 << FLOW_POD_NAME,
    SERVICES = 1 << FLOW_SVC_IP, /* by cluster IP */
    SHORT_NAMES = 1 << FLOW_SVC_SHORT,
    SERVICE_NAMES = 1 << FLOW_SVC_FQDN,
    OUTSIDE = 1 << FLOW_EXT_IP,
    OUTSIDE_NAMES = 1 << FLOW_EXT_DNS,
    READINESS = 1 << FLOW_NODE_POD,
    KUBELETS = 1 << FLOW_POD_NODE,
    LOCALHOST = 1 << FLOW_LOCALHOST,
    OWN_SERVICE = 1 << FLOW_SELF,
    NODE_PORTS = 1 << FLOW_NODE_PORT,
    API_NAME = 1 << FLOW_COUNT,       /* the ExternalName of the Service kubernetes */
    NO_PROBE = 1 << (FLOW_COUNT + 1), /* the one cell of a node without a probe */
    ANY_FLOW = (1 << (FLOW_COUNT + 2)) - 1,
    FULL_NAMES = POD_NAMES | SERVICE_NAMES | API_NAME,
    BY_NAME = (FLOWS_THAT_ARE(FLOW_NAME) & ~OUTSIDE_NAMES) | API_NAME,
    BY_SERVICE = FLOWS_THAT_ARE(FLOW_SERVICE) | API_NAME,
    STRAIGHT = FLOWS_THAT_ARE(FLOW_STRAIGHT), /* neither by a Service nor by a name */
};
/* Cells of all protocols and families, or of one alone. */
enum cluster_part { WHOLE, ONLY_UDP = 1, ONLY_TCP = 2, ONLY_IPV4 = 4, ONLY_IPV6 = 8 };
/* What is true of a cell, a bit each; several may be. */
enum cluster_trait {
    IS_NOT_RUN = 1 << 0,    /* It was not asked, or could not be. */
    IS_GREEN = 1 << 1,      /* It works. */
    IS_LOSSY = 1 << 2,      /* Red: some attempts succeeded, others did not. */
    IS_ASTRAY = 1 << 3,     /* Red: another pod or program answers than the one that was meant. */
    IS_NO_NAME = 1 << 4,    /* Red: the DNS knows no such name. */
    IS_DNS_SILENT = 1 << 5, /* Red: the DNS gives no answer, or an error. */
    IS_UNRESOLVED = IS_NO_NAME | IS_DNS_SILENT,
    IS_LOSSY_ASTRAY = 1 << 6,     /* Both of these at once. */
    IS_LOSSY_UNRESOLVED = 1 << 7, /* Both of these at once. */
    IS_LARGE_LOST = 1 << 8,       /* Red: only short packets arrive. */
    /* Large packets arrive by TCP, whose segments are as large as its path lets pass: that UDP
     * works proves nothing for them. */
    IS_LARGE_WELL = 1 << 9,
    /* UDP works. TCP sends again what was lost: that it works proves nothing for UDP. */
    IS_UDP_WELL = 1 << 10,
    /* Red: a few packets of UDP had no answer. Nobody sends these again, so all may be lost by
     * chance. */
    IS_FEW_LOST = 1 << 11,
    /* Red or not: asked by UDP, or by a name that the DNS, which is asked by UDP, did not tell. */
    IS_OF_UDP = 1 << 12,
    /* To a Service, or by a name of the cluster that was not told: what answers some attempts alone
     * may fail all of few attempts, and the DNS is behind a Service, too. */
    IS_OF_SERVICE = 1 << 13,
    IS_OF_ONE_NODE = 1 << 14, /* It names no other node. */
};
/* Cells of these flows and this part of which one of `fits` is true (0: each fits), and none of
 * `but`. */
struct cluster_selector {
    unsigned flows; /* 0: no cell is selected */
    enum cluster_part part;
    unsigned fits, but; /* enum cluster_trait */
};
bool cluster_selects(const struct cluster_selector *selector, const struct diag_cell *cell);
/* Red: some attempts succeeded, others did not. */
static inline bool cluster_cell_is_lossy(const struct diag_cell *cell) {
    return cell->outcome == DIAG_FAIL && cell->result.succeeded;
}
/* Red: only short packets arrive. */
static inline bool cluster_cell_is_large_lost(const struct diag_cell *cell) {
    return cell->outcome == DIAG_FAIL && cell->large >= LARGE_LOST;
}
/* Between pods of two nodes: asked with large packets, too. */
static inline bool cluster_cell_is_between_pods(const struct diag_cell *cell) {
    return cell->flow->id == FLOW_POD_IP && cell->from_node != cell->to_node;
}
/* Its name was not resolved, or the DNS did not answer. */
bool cluster_cell_has_dns_failed(const struct diag_cell *c);
/* The path of a cell's question, which the probe asks `tries` times, one after the other; NULL: the
 * cell has no such question. The caller frees. */
char *cluster_cell_path(const struct diag_report *report, const struct diag_cell *cell,
                        enum cluster_question question, unsigned tries);
/* A cell whose probe the API server does not reach, in its words. */
void cluster_cell_unasked(struct diag_cell *cell, const char *words);
/* As dial_read(); an answer of somebody else than the one who was meant is no success, and where
 * all are such the outcome is PROBE_WRONG_RESPONDER. */
enum dial_end cluster_cell_read(const struct diag_report *report, const struct diag_cell *cell,
                                long status, const char *body, size_t len, struct probe_result *ret,
                                char *why, size_t why_size);
/* What came of the questions of one round. Zero-initialise. */
struct cluster_tally {
    unsigned asked[QUESTIONS], answered[QUESTIONS];
};
/* Counts an answer, and judges the cell where it is a name: by the first that is wrong, else by the
 * last. `retried`: the cell was asked before, which counts, too. What the API server does not pass
 * on (a proxy takes no such URL) is not counted. */
void cluster_cell_count(const struct diag_report *report, struct diag_cell *cell,
                        enum cluster_question question, long status, const char *body, size_t len,
                        bool retried, struct cluster_tally *ret);
/* The cell again, when all its answers are counted: fails where large packets are lost, or some of
 * any length. `mixed`: some came and some did not in this round, or one before. */
void cluster_cell_judge_large(struct diag_cell *cell, const struct cluster_tally *tally,
                              bool *mixed);
/* "31 of 50 attempts succeeded", why it fails; the outcome, too. */
void cluster_cell_set_loss(struct diag_cell *cell, unsigned attempts, unsigned succeeded);
/* Names in another domain than was guessed, where the ExternalName has another name, too. */
void cluster_cells_rename(struct diag_cells *cells, const char *old, const char *domain);
/* One whose answer did not come in time, of a probe that answers others: it is still asking the
 * DNS, which gives up later than anybody waits here. Nothing where no name was asked. */
void cluster_cell_judge_late(struct diag_cell *cell);
/* Whether the kubelet reaches the pod of its node. */
void cluster_cells_judge_kubelets(struct diag_report *report);

/* What is only looked at: DNS inside the pod, the client address that others see, whether the own
 * Service answers, session affinity: last, as one pod alone behind a Service keeps its clients. */
enum cluster_observation {
    OBSERVE_DNS,
    OBSERVE_CLIENT,
    OBSERVE_SERVICE,
    OBSERVE_LOCAL,
    OBSERVE_OWN,
    OBSERVE_STICKY,
    OBSERVATIONS
};
/* NULL where there is nothing to ask; `to`: another node. The caller frees. */
char *cluster_observation_path(const struct diag_report *report,
                               enum cluster_observation observation, size_t from, size_t to,
                               const struct cluster_addresses *addresses);
/* Notes what was seen, also in node->seen. */
void cluster_observation_read(struct cluster_node *node, enum cluster_observation observation,
                              long status, const char *body, size_t len);
