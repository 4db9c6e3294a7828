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

/* Makes the cells of report->pairs and of each node. Cells of a node without a probe are
 * not-run. */
void cluster_cells_make(const struct diag_report *report, const struct cluster_options *options,
                        const struct cluster_addresses *addresses, struct diag_cells *ret);
/* Adds the cells of the pairs from index `first` on, behind the existing cells. */
void cluster_cells_widen(struct diag_report *report, const struct cluster_addresses *addresses,
                         size_t first);
/* Says what a cell's probe asks the target. An echo does not show whose it is, so the target's name
 * is asked for as well. */
enum cluster_question {
    /* The target's name, in one short packet each way. */
    ASK_NAME,
    /* An echo of CLUSTER_LARGE_... bytes, for large packets in both directions. */
    ASK_LARGE,
    /* The target's name, by a question of that length, for large packets to the target only. */
    ASK_LARGE_THERE,
    QUESTIONS
};
/* Bytes of a large question. Over TCP they are more than two full segments, in a URL that proxies
 * still accept. Over UDP they are a packet that is not fragmented where pods have the 1450 bytes of
 * an overlay; agnhost reads at most 2048 bytes of UDP. */
enum { CLUSTER_LARGE_TCP = 3000, CLUSTER_LARGE_UDP = 1400 };

/* ---- the selection of cells by flow, part and traits ---- */

/* Flows, one bit each. */
#define FLOW_BIT_IF(so, id, name, from, to, by, is) | ((is) & (so) ? 1 << FLOW_##id : 0)
#define FLOWS_THAT_ARE(so) (0 DIAG_FLOWS(FLOW_BIT_IF, so))
enum {
    PODS = 1 << FLOW_POD_IP, /* Between pods of two nodes, by the pod's address. */
    POD_NAMES = 1 << FLOW_POD_NAME,
    SERVICES = 1 << FLOW_SVC_IP, /* To a Service, by its cluster IP. */
    SHORT_NAMES = 1 << FLOW_SVC_SHORT,
    SERVICE_NAMES = 1 << FLOW_SVC_FQDN,
    OUTSIDE = 1 << FLOW_EXT_IP,
    OUTSIDE_NAMES = 1 << FLOW_EXT_DNS,
    READINESS = 1 << FLOW_NODE_POD,
    KUBELETS = 1 << FLOW_POD_NODE,
    LOCALHOST = 1 << FLOW_LOCALHOST,
    OWN_SERVICE = 1 << FLOW_SELF,
    NODE_PORTS = 1 << FLOW_NODE_PORT,
    API_NAME = 1 << FLOW_COUNT, /* To the Service kubernetes, by a Service of type ExternalName. */
    NO_PROBE = 1 << (FLOW_COUNT + 1), /* The single cell of a node without a probe. */
    ANY_FLOW = (1 << (FLOW_COUNT + 2)) - 1,
    FULL_NAMES = POD_NAMES | SERVICE_NAMES | API_NAME,
    BY_NAME = (FLOWS_THAT_ARE(FLOW_NAME) & ~OUTSIDE_NAMES) | API_NAME,
    BY_SERVICE = FLOWS_THAT_ARE(FLOW_SERVICE) | API_NAME,
    STRAIGHT = FLOWS_THAT_ARE(FLOW_STRAIGHT), /* Flows that use neither a Service nor a name. */
};
/* Limits cells to one protocol or to one IP family; WHOLE does not. */
enum cluster_part { WHOLE, ONLY_UDP = 1, ONLY_TCP = 2, ONLY_IPV4 = 4, ONLY_IPV6 = 8 };
/* Traits of a cell, one bit each; a cell can have several. */
enum cluster_trait {
    IS_NOT_RUN = 1 << 0,    /* The cell was not asked, or could not be. */
    IS_GREEN = 1 << 1,      /* The cell works. */
    IS_LOSSY = 1 << 2,      /* The cell failed, with some attempts that succeeded. */
    IS_ASTRAY = 1 << 3,     /* The cell is red: a wrong pod or program answers. */
    IS_NO_NAME = 1 << 4,    /* The cell is red: the DNS knows no such name. */
    IS_DNS_SILENT = 1 << 5, /* The cell is red: the DNS gives no answer, or an error. */
    IS_UNRESOLVED = IS_NO_NAME | IS_DNS_SILENT,
    IS_LOSSY_ASTRAY = 1 << 6,     /* The cell is both lossy and astray. */
    IS_LOSSY_UNRESOLVED = 1 << 7, /* The cell is both lossy and unresolved. */
    IS_LARGE_LOST = 1 << 8,       /* The cell failed because only short packets arrive. */
    /* Large packets arrive over TCP. Only TCP counts, because its segments are as large as its path
     * allows; success over UDP proves nothing about them. */
    IS_LARGE_WELL = 1 << 9,
    /* UDP works. Success over TCP proves nothing about UDP, since TCP resends lost packets. */
    IS_UDP_WELL = 1 << 10,
    /* The cell is red: a few UDP packets had no answer. UDP does not retransmit, so all of them may
     * be lost by chance. */
    IS_FEW_LOST = 1 << 11,
    /* The cell, red or not, uses UDP, or a name that the DNS did not resolve over UDP. */
    IS_OF_UDP = 1 << 12,
    /* The cell asks a Service, or a cluster name that was not resolved (the DNS is behind a
     * Service, too). A Service that answers only some attempts may fail all of a few attempts. */
    IS_OF_SERVICE = 1 << 13,
    IS_OF_ONE_NODE = 1 << 14, /* The cell is about one node only. */
};
/* Selects the cells of these flows and this part that have at least one trait of `fits` (0 means
 * any cell fits) and none of `but`. */
struct cluster_selector {
    unsigned flows; /* Bits of the flows; 0 selects no cell. */
    enum cluster_part part;
    unsigned fits, but; /* Bits of enum cluster_trait. */
};
bool cluster_selects(const struct cluster_selector *selector, const struct diag_cell *cell);
/* Did the cell fail, with some attempts that succeeded? */
static inline bool cluster_cell_is_lossy(const struct diag_cell *cell) {
    return cell->outcome == DIAG_FAIL && cell->result.succeeded;
}
/* Did the cell fail because only short packets arrive? */
static inline bool cluster_cell_is_large_lost(const struct diag_cell *cell) {
    return cell->outcome == DIAG_FAIL && cell->large >= LARGE_LOST;
}
/* Is the cell between pods of two nodes? These cells are asked with large packets, too. */
static inline bool cluster_cell_is_between_pods(const struct diag_cell *cell) {
    return cell->flow->id == FLOW_POD_IP && cell->from_node != cell->to_node;
}
/* Was the cell's name not resolved, or did the DNS not answer? */
bool cluster_cell_has_dns_failed(const struct diag_cell *c);
/* Returns the path of a cell's question, which the probe asks `tries` times, one after the other.
 * NULL when the cell has no such question. The caller frees it. */
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
/* Says how many questions of one round were asked and answered. The caller zero-initializes it. */
struct cluster_tally {
    unsigned asked[QUESTIONS], answered[QUESTIONS];
};
/* Counts an answer. Answers to ASK_NAME also judge the cell: the first wrong one decides, else the
 * last one. `retried` says that the cell was asked before, and its earlier attempts count, too. A
 * question that the API server does not pass on (its proxy accepts no such URL) is not counted. */
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
/* Returns the path of an observation's question from one node; `to` is another node. NULL when
 * there is nothing to ask. The caller frees it. */
char *cluster_observation_path(const struct diag_report *report,
                               enum cluster_observation observation, size_t from, size_t to,
                               const struct cluster_addresses *addresses);
/* Stores what was observed in the node, and sets the observation's bit in node->observed. */
void cluster_observation_read(struct cluster_node *node, enum cluster_observation observation,
                              long status, const char *body, size_t len);
