/* The table of flows (DIAG_FLOWS), the flow matrix: nine flows that must work on a Windows node
 * (and three extra ones), each by TCP and by UDP, and how each becomes a probe. The nine are those
 * of the Kubernetes documentation about networking on Windows ("Supported network management
 * modes"). */
#pragma once

#include <stdbool.h>

#include "diag/probe/probe.h"
#include "netsetup/modes/mode.h"

/* The same question in five sizes around the MTUs that pod networks have; the largest one needs
 * fragments, or two TCP segments. */
#define DIAG_EXTRA_SIZES(ROW, id, name, timed)                                                     \
    ROW(id##_1000, name "-1000", 1000, timed)                                                      \
    ROW(id##_1200, name "-1200", 1200, timed)                                                      \
    ROW(id##_1300, name "-1300", 1300, timed)                                                      \
    ROW(id##_1450, name "-1450", 1450, timed)                                                      \
    ROW(id##_2000, name "-2000", 2000, timed)

/* The extra questions: id; name, which is a contract with users; bytes, where the question is
 * whether a message of that size arrives; and whether its time shows lost packets, which TCP sends
 * again. */
#define DIAG_EXTRAS(ROW)                                                                           \
    /* The target's echo with 16 bytes, then with more (the cell sends 1400 bytes: MTU). */        \
    ROW(SMALL_TCP, "x-small-tcp", 0, true)                                                         \
    ROW(SMALL_UDP, "x-small-udp", 0, false)                                                        \
    DIAG_EXTRA_SIZES(ROW, SIZE_TCP, "x-size-tcp", true)                                            \
    DIAG_EXTRA_SIZES(ROW, SIZE_UDP, "x-size-udp", false)                                           \
    /* The machine behind the Service kubernetes: its kubelet's port, and the API server's own. */ \
    ROW(API_NODE, "x-api-node", 0, true)                                                           \
    ROW(API_DIRECT, "x-api-direct", 0, true)                                                       \
    /* A Service's full name, resolved by the system's resolver. */                                \
    ROW(RESOLVE_FQDN, "x-resolve-fqdn", 0, false)                                                  \
    /* A question to the DNS Service itself for a Service's name; over TCP also in larger          \
     * messages (an MTU between the nodes). */                                                     \
    ROW(DNS_TCP, "x-dns-tcp", 0, true)                                                             \
    DIAG_EXTRA_SIZES(ROW, SIZE_DNS, "x-size-dns", true)                                            \
    ROW(DNS_UDP, "x-dns-udp", 0, false)                                                            \
    /* The same question to DNS pods: separates a load balancer's fault from a route's. */         \
    ROW(DNS_POD, "x-dns-pod", 0, false)                                                            \
    ROW(DNS_POD_2, "x-dns-pod-2", 0, false)                                                        \
    ROW(DNS_POD_3, "x-dns-pod-3", 0, false)                                                        \
    /* A connection to the first DNS pod, without a question. */                                   \
    ROW(DNS_CONNECT, "x-dns-connect", 0, false)                                                    \
    /* A port of the first DNS pod where nobody listens: a refusal proves that the pod was         \
     * reached. */                                                                                 \
    ROW(CLOSED_TCP, "x-closed-tcp", 0, false)                                                      \
    ROW(CLOSED_UDP, "x-closed-udp", 0, false)                                                      \
    /* The first DNS pod's metrics at port 9153: a missing page, and the first 2000 bytes of a     \
     * real one (an MTU towards this node). */                                                     \
    ROW(PAGE_SMALL, "x-page-small", 0, false)                                                      \
    ROW(PAGE_LARGE, "x-page-large", 0, false)                                                      \
    /* The first address of the pod prefix of the first DNS pod's node: an answer or a refusal     \
     * there proves the route to that node. */                                                     \
    ROW(PEER, "x-peer", 0, false)                                                                  \
    /* A question to the DNS Service itself for the external name. */                              \
    ROW(DNS_EXTERNAL, "x-dns-external", 0, false)                                                  \
    /* The echo between the two pods in the other direction: diag_cell_back(). */                  \
    ROW(BACK_TCP, "x-back-tcp", 0, false)                                                          \
    ROW(BACK_UDP, "x-back-udp", 0, false)                                                          \
    ROW(BACK_TCP6, "x-back-tcp6", 0, false)                                                        \
    ROW(BACK_UDP6, "x-back-udp6", 0, false)                                                        \
    /* Asked by the node itself: the targets outside, and the DNS server outside, also by TCP. */  \
    ROW(NODE_EXTERNAL, "node-external", 0, true)                                                   \
    ROW(NODE_EXTERNAL_UDP, "node-external-udp", 0, false)                                          \
    ROW(NODE_DNS, "x-node-dns", 0, false)                                                          \
    ROW(NODE_NAME, "x-node-name", 0, false)                                                        \
    /* Asked by the node itself: the address behind the Service kubernetes, and port 10250 on a    \
     * DNS pod's node. */                                                                          \
    ROW(NODE_API, "x-node-api", 0, true)                                                           \
    ROW(NODE_PEER, "x-node-peer", 0, true)

#define EXTRA_ID(id, ...) X_##id,
enum diag_extra_id { DIAG_EXTRAS(EXTRA_ID) X_COUNT };
enum { X_SIZES = X_SIZE_UDP_1000 - X_SIZE_TCP_1000 };

struct diag_extra {
    const char *name;
    unsigned bytes;
    bool timed;
};
/* The table of extra questions, by id. */
extern const struct diag_extra diag_extras[X_COUNT];

enum diag_outcome {
    DIAG_PASS,
    DIAG_FAIL,
    /* The cell failed at first and works now, or one connection took a second longer. */
    DIAG_SLOW,
    DIAG_SKIP,    /* The cell was left out by design; its reason is a code. */
    DIAG_NOT_RUN, /* The cell could not be asked; its reason says why. */
};
/* Returns the name: "pass", "fail", "slow", "skip" or "not-run". */
const char *diag_outcome_name(enum diag_outcome outcome);
int diag_outcome_parse(const char *name, enum diag_outcome *ret);

/* A system that gets no answer to a connection's first packet sends it again after one second. */
enum { DIAG_SENT_AGAIN_US = 950000 };

/* Between two pods both directions are asked. The value names the only direction that fails, as the
 * cell's reason does. */
enum diag_one_way { DIAG_ONE_WAY_NONE, DIAG_ONE_WAY_THERE, DIAG_ONE_WAY_BACK };

/* The properties of a flow, as bits of its row. */
enum {
    FLOW_EXTRA = 1,     /* The flow is not one of the nine: it never counts against success. */
    FLOW_FROM_NODE = 2, /* The node asks this flow; a pod asks all others. */
    /* The flow asks an address that is no Service's, without a load balancer or the DNS. */
    FLOW_STRAIGHT = 4,
    FLOW_NAME = 8,     /* The flow asks by a name, for which the cluster's DNS is asked. */
    FLOW_SERVICE = 16, /* The flow goes through a load balancer, or asks by a name of a Service. */
    FLOW_OUTSIDE = 32, /* The flow asks a target outside the cluster. */
};
/* The flows in the order of the matrix: id; name, which is a contract with users; the two ends and
 * the path, as reports show them; properties. `with` is passed to each row. */
#define DIAG_FLOWS(ROW, with)                                                                      \
    ROW(with, POD_IP, "pod-to-pod-ip", "pod", "pod", "IP", FLOW_STRAIGHT)                          \
    ROW(with, POD_NAME, "pod-to-pod-name", "pod", "pod", "name", FLOW_NAME | FLOW_SERVICE)         \
    ROW(with, SVC_IP, "pod-to-service-ip", "pod", "service", "cluster IP", FLOW_SERVICE)           \
    ROW(with, SVC_SHORT, "pod-to-service-pqdn", "pod", "service", "short name",                    \
        FLOW_NAME | FLOW_SERVICE)                                                                  \
    ROW(with, SVC_FQDN, "pod-to-service-fqdn", "pod", "service", "FQDN", FLOW_NAME | FLOW_SERVICE) \
    ROW(with, EXT_IP, "pod-to-external-ip", "pod", "external", "IP", FLOW_STRAIGHT | FLOW_OUTSIDE) \
    ROW(with, EXT_DNS, "pod-to-external-dns", "pod", "external", "DNS", FLOW_NAME | FLOW_OUTSIDE)  \
    ROW(with, NODE_POD, "node-to-pod", "node", "pod", "", FLOW_FROM_NODE | FLOW_STRAIGHT)          \
    ROW(with, POD_NODE, "pod-to-node", "pod", "node", "", FLOW_STRAIGHT)                           \
    ROW(with, LOCALHOST, "container-to-container-localhost", "container", "container",             \
        "localhost", FLOW_EXTRA | FLOW_STRAIGHT)                                                   \
    ROW(with, SELF, "pod-to-self-via-service", "pod", "itself", "cluster IP",                      \
        FLOW_EXTRA | FLOW_SERVICE)                                                                 \
    ROW(with, NODE_PORT, "nodeport-remote", "pod", "node", "NodePort", FLOW_EXTRA | FLOW_SERVICE)
#define FLOW_ID(with, id, ...) FLOW_##id,
enum diag_flow_id { DIAG_FLOWS(FLOW_ID, ) FLOW_COUNT };

/* A flow: a row of the matrix. */
struct diag_flow {
    enum diag_flow_id id;
    const char *name, *from, *to, *by; /* An empty `by` means that reports have nothing to add. */
    unsigned is;                       /* Bits of FLOW_... */
};
/* The table of flows, by id; a row without a name ends it. */
extern const struct diag_flow diag_flows[FLOW_COUNT + 1];
/* Returns NULL when no flow has that name. */
const struct diag_flow *diag_flow_find(const char *name);

enum { DIAG_DNS_PODS = 3 }; /* The number of DNS pods that are asked at their own addresses. */

/* All that flows are made from. Text is borrowed; NULL or "" means unknown, or not wanted. */
struct diag_flow_input {
    const char *node_name;
    const char *node_ip;
    unsigned kubelet_port;       /* The kubelet's port; 0 means 10250. */
    const char *source, *target; /* Names of the two probes, as their echo listeners answer. */
    /* Addresses of the two probes, whose echo listeners use PROBE_PORT. */
    const char *source_ip, *target_ip;
    /* IPv6 addresses of a dual-stack node: node_ip6 adds the flows by address for IPv6. */
    const char *node_ip6, *source_ip6, *target_ip6;
    const char *dns_ip6; /* The IPv6 cluster IP of the DNS Service. */
    /* Name of the echo listener that winjoin opened on the node; NULL when no listener is open. */
    const char *node_echo;
    unsigned node_echo_port;
    const char *namespace_; /* The namespace of the probe pods. */
    /* Name and namespace of the DNS Service; NULL means kube-dns in kube-system. */
    const char *dns_name, *dns_namespace;
    const char *dns_domain;    /* The cluster's domain, such as "cluster.local". */
    const char *kubernetes_ip; /* The cluster IP of the Service kubernetes (port 443). */
    const char *dns_ip;        /* The cluster IP of the DNS Service (port 53). */
    /* Some pods behind the DNS Service, for diag_extra_probes(). */
    const char *dns_pods[DIAG_DNS_PODS];
    unsigned dns_pod_port; /* The port of the DNS pods themselves; 0 means 53. */
    /* The first address of the pod prefix of the first DNS pod's node, for diag_extra_probes(). */
    const char *peer_ip;
    /* The address to which the Service kubernetes leads, for diag_extra_probes(). */
    const char *api_ip;
    unsigned api_port;         /* The port at api_ip; 0 when unknown. */
    const char *external_ip;   /* A target outside, such as "192.0.2.1:443". */
    const char *external_name; /* A target outside by name, such as "example.com:443". */
    const char *external_dns;  /* A resolver outside, such as "192.0.2.53", also with a port. */
    unsigned timeout_ms;       /* Milliseconds for one attempt; 0 means 2000. */
    unsigned attempts;         /* The number of attempts; 0 means 3. */
};

/* Says what happens to large messages (by TCP, several full segments) where short ones arrive. */
enum diag_large {
    LARGE_NOT_ASKED,
    LARGE_ARRIVE,     /* Large messages arrive in both directions. */
    LARGE_LOST,       /* Large messages are lost in one of the directions. */
    LARGE_LOST_THERE, /* Large messages are lost on the way to the end that is asked. */
    LARGE_LOST_BACK,  /* Only large answers are lost, on their way back. */
};

/* A cell of the matrix: a flow over one protocol, on one node or between two nodes of a cluster. */
struct diag_cell {
    const struct diag_flow *flow;
    bool udp;
    int family; /* The version of IP, 4 or 6. */
    /* The cell asks by IPv6, beside the cell of the same flow by IPv4. */
    bool second;
    char from[PROBE_TARGET_MAX];   /* The name of the pod or node that asks. */
    char to[PROBE_TARGET_MAX + 8]; /* The target, such as "10.244.1.6:18080" or "kube-dns:53". */
    bool asked;                    /* The cell can be asked, and `probe` is filled. */
    /* Its id is "<flow>.<tcp|udp>", or "<flow>.tcp6" in a cell with `second`. */
    struct probe probe;
    enum diag_outcome outcome;
    struct probe_result result; /* Valid when the outcome is pass, fail or slow. */
    /* What happened, in plain words, for fail and not-run; the code of the reason for skip
     * ("windows-dns-dotted", "no-external-target"). */
    char reason[200];
    bool running; /* The cell is being asked now. */
    enum diag_one_way one_way;
    unsigned rounds; /* The number of rounds in which the cell was asked. */
    unsigned lossy;  /* The number of rounds in which only some attempts succeeded. */

    /* Indexes of nodes in the report of a whole cluster; equal when the flow has no second node. */
    size_t from_node, to_node;
    bool any; /* The target is a Service: any of the probes may answer. */
    enum diag_large large;
    /* The result is that of --count: its attempts, and how long they took. */
    bool counted;
    /* The number of attempts in which packets were sent again; only for TCP between pods. */
    unsigned again;
};
/* Did the cell fail, or was it not asked? */
static inline bool diag_cell_is_open(const struct diag_cell *cell) {
    return cell->outcome == DIAG_FAIL || cell->outcome == DIAG_NOT_RUN;
}
/* Is the cell open, and not only by a failure that never counts against success? */
static inline bool diag_cell_is_red(const struct diag_cell *cell) {
    return cell->outcome == DIAG_NOT_RUN ||
           (cell->outcome == DIAG_FAIL && !(cell->flow->is & FLOW_EXTRA));
}
struct diag_cells {
    struct diag_cell *items;
    size_t count;
};
/* Makes the cells of this input in the order of the table, TCP before UDP, then those of a second
 * family. Cells that cannot be asked are already skip or not-run; all others count as failed until
 * a result is put in. */
void diag_cells_make(const struct diag_flow_input *input, struct diag_cells *ret);
void diag_cells_free(struct diag_cells *cells);
/* Finds a cell; with `second`, the cell of IPv6 on a node with both families. Returns NULL when
 * there is no such cell. */
struct diag_cell *diag_cells_find(const struct diag_cells *cells, enum diag_flow_id flow, bool udp,
                                  bool second);
/* Returns the name of a cell in reports and causes: "pod-to-pod-ip/udp", or
 * "pod-to-pod-ip/udp/ipv6" for a second family. The caller frees it. */
char *diag_cell_name(const struct diag_cell *cell);

/* Adds those extra questions of diag_extras[] that the first pod is asked. */
void diag_extra_probes(const struct diag_flow_input *input, struct probe_list *ret);

/* Makes the probe for the flow of `cell` in the other direction: the second pod asks, as one of
 * X_BACK_TCP to X_BACK_UDP6. Returns false for every flow except the one between the two pods. */
bool diag_cell_back(const struct diag_flow_input *input, const struct diag_cell *cell,
                    struct probe *ret);
/* Puts the result of the other direction into a cell whose own direction is already judged. */
void diag_cell_judge_back(struct diag_cell *cell, const struct probe_result *back, bool retried);
/* Puts a result into its cell: pass, slow when `retried`, or fail with a reason in plain words. */
void diag_cell_judge(struct diag_cell *cell, const struct probe_result *result, bool retried);
/* Turns red cells that fail by design into skips, once all cells are judged. These are names of
 * pods in a cluster whose DNS answers for Services but has no records of pods (CoreDNS without
 * "pods insecure"), and what the network mode cannot do (`limits` of struct network_mode; NULL when
 * the mode has no limits). */
void diag_cells_excuse(struct diag_cells *cells, const struct network_limit *limits);
