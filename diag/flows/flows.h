/* The flow matrix: nine flows that must work on a Windows node (and three extras), each TCP and
 * UDP, and how each becomes a probe. The list is that of the Kubernetes documentation on networking
 * on Windows ("Supported network management modes"). */
#pragma once

#include <stdbool.h>

#include "diag/probe/probe.h"
#include "netsetup/modes/mode.h"

/* One question in five sizes around the MTUs that pod networks have; the last one needs fragments
 * or two segments. */
#define DIAG_EXTRA_SIZES(ROW, id, name, timed)                                                     \
    ROW(id##_1000, name "-1000", 1000, timed)                                                      \
    ROW(id##_1200, name "-1200", 1200, timed)                                                      \
    ROW(id##_1300, name "-1300", 1300, timed)                                                      \
    ROW(id##_1450, name "-1450", 1450, timed)                                                      \
    ROW(id##_2000, name "-2000", 2000, timed)

/* Id; name, which is a contract; bytes, where the question is whether so many arrive; whether its
 * time tells of packets that were lost: TCP sends these again. */
#define DIAG_EXTRAS(ROW)                                                                           \
    /* the target's echo with 16 bytes (the cell sends 1400: MTU), and with more */                \
    ROW(SMALL_TCP, "x-small-tcp", 0, true)                                                         \
    ROW(SMALL_UDP, "x-small-udp", 0, false)                                                        \
    DIAG_EXTRA_SIZES(ROW, SIZE_TCP, "x-size-tcp", true)                                            \
    DIAG_EXTRA_SIZES(ROW, SIZE_UDP, "x-size-udp", false)                                           \
    /* the machine behind the Service kubernetes: its kubelet's port, and the API server's own */  \
    ROW(API_NODE, "x-api-node", 0, true)                                                           \
    ROW(API_DIRECT, "x-api-direct", 0, true)                                                       \
    /* a Service's full name by the system's resolver */                                           \
    ROW(RESOLVE_FQDN, "x-resolve-fqdn", 0, false)                                                  \
    /* the DNS Service asked straight for a Service's name, over TCP in messages of more bytes,    \
     * too (an MTU between the nodes) */                                                           \
    ROW(DNS_TCP, "x-dns-tcp", 0, true)                                                             \
    DIAG_EXTRA_SIZES(ROW, SIZE_DNS, "x-size-dns", true)                                            \
    ROW(DNS_UDP, "x-dns-udp", 0, false)                                                            \
    /* the same of pods behind it: load balancer or route to the pod */                            \
    ROW(DNS_POD, "x-dns-pod", 0, false)                                                            \
    ROW(DNS_POD_2, "x-dns-pod-2", 0, false)                                                        \
    ROW(DNS_POD_3, "x-dns-pod-3", 0, false)                                                        \
    /* a connection to the first of them, without a question */                                    \
    ROW(DNS_CONNECT, "x-dns-connect", 0, false)                                                    \
    /* a port of that pod where nobody listens; who refuses was reached */                         \
    ROW(CLOSED_TCP, "x-closed-tcp", 0, false)                                                      \
    ROW(CLOSED_UDP, "x-closed-udp", 0, false)                                                      \
    /* that pod's metrics, port 9153: a page that is not there, and the first 2000 bytes of one    \
     * (an MTU towards this node) */                                                               \
    ROW(PAGE_SMALL, "x-page-small", 0, false)                                                      \
    ROW(PAGE_LARGE, "x-page-large", 0, false)                                                      \
    /* the first address of the pods' prefix of that pod's node: who answers or refuses there      \
     * proves the route to the node */                                                             \
    ROW(PEER, "x-peer", 0, false)                                                                  \
    /* the DNS Service asked straight for the external name */                                     \
    ROW(DNS_EXTERNAL, "x-dns-external", 0, false)                                                  \
    /* between the two pods, the other way: diag_cell_back() */                                    \
    ROW(BACK_TCP, "x-back-tcp", 0, false)                                                          \
    ROW(BACK_UDP, "x-back-udp", 0, false)                                                          \
    ROW(BACK_TCP6, "x-back-tcp6", 0, false)                                                        \
    ROW(BACK_UDP6, "x-back-udp6", 0, false)                                                        \
    /* asked by the node itself: the targets outside, the DNS server there by TCP, too */          \
    ROW(NODE_EXTERNAL, "node-external", 0, true)                                                   \
    ROW(NODE_EXTERNAL_UDP, "node-external-udp", 0, false)                                          \
    ROW(NODE_DNS, "x-node-dns", 0, false)                                                          \
    ROW(NODE_NAME, "x-node-name", 0, false)                                                        \
    /* the address behind the Service kubernetes; the machine of a DNS pod, port 10250 */          \
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
/* The table, by id. */
extern const struct diag_extra diag_extras[X_COUNT];

enum diag_outcome {
    DIAG_PASS,
    DIAG_FAIL,
    DIAG_SLOW, /* failed at first, works now; or a connection took a second longer than another */
    DIAG_SKIP, /* by design; the cell's reason is a code */
    DIAG_NOT_RUN, /* could not be asked; the cell's reason says why */
};
const char *diag_outcome_name(enum diag_outcome outcome); /* "pass", ..., "not-run" */
int diag_outcome_parse(const char *name, enum diag_outcome *ret);

/* A system that gets no answer to a connection's first packet sends it again after a second. */
enum { DIAG_SENT_AGAIN_US = 950000 };

/* Between two pods both directions are asked: which of them alone fails. The reason names it. */
enum diag_way { DIAG_WAY_NONE, DIAG_WAY_THERE, DIAG_WAY_BACK };

/* What a flow is: bits of its row. */
enum {
    FLOW_EXTRA = 1,     /* beyond the nine: never counts against success */
    FLOW_FROM_NODE = 2, /* the node asks; all others are asked by a pod */
    FLOW_STRAIGHT = 4,  /* by an address that is no Service's: no load balancer, no DNS between */
    FLOW_NAME = 8,      /* by a name, for which the cluster's DNS is asked */
    FLOW_SERVICE = 16,  /* by a load balancer, or by a name of a Service */
    FLOW_OUTSIDE = 32,  /* to what is not in the cluster */
};
/* The flows in the order of the matrix: id; name, which is a contract; between which two and by
 * what, as reports show it; what it is. `with` is handed on to each row. */
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

/* A row of the matrix. */
struct diag_flow {
    enum diag_flow_id id;
    const char *name, *from, *to, *by; /* "" = nothing more is to be said */
    unsigned is;                       /* FLOW_... */
};
/* The table, by id; ended by a row without a name. */
extern const struct diag_flow diag_flows[FLOW_COUNT + 1];
/* NULL: no flow has that name. */
const struct diag_flow *diag_flow_find(const char *name);

enum { DIAG_DNS_PODS = 3 }; /* so many pods of the DNS are asked at their own addresses */

/* Everything that flows are made from. Text is borrowed; NULL or "" = unknown or not wanted. */
struct diag_scene {
    const char *node_name;
    const char *node_ip;
    unsigned kubelet_port;             /* 0 = 10250 */
    const char *source, *target;       /* names of two probes, as their echoes answer */
    const char *source_ip, *target_ip; /* their echoes listen on PROBE_PORT */
    /* of a dual-stack node: with node_ip6 the flows by address are made for IPv6, too */
    const char *node_ip6, *source_ip6, *target_ip6;
    const char *dns_ip6;   /* cluster IP of the DNS Service */
    const char *node_echo; /* name of the echo that winjoin opened on the node, NULL = none */
    unsigned node_echo_port;
    const char *namespace_;               /* where the probe pods are */
    const char *dns_name, *dns_namespace; /* of the DNS Service; NULL = kube-dns in kube-system */
    const char *dns_domain;               /* "cluster.local" */
    const char *kubernetes_ip;            /* cluster IP of the Service kubernetes, port 443 */
    const char *dns_ip;                   /* cluster IP of the DNS Service, port 53 */
    const char *dns_pods[DIAG_DNS_PODS];  /* some pods behind it, for diag_extra_probes() */
    unsigned dns_pod_port;                /* their own port; 0 = 53 */
    const char *peer_ip;     /* the first address of the first one's node's prefix, for the same */
    const char *api_ip;      /* where the Service kubernetes leads to, for the same */
    unsigned api_port;       /* its own port; 0 = not known */
    const char *external_ip; /* "192.0.2.1:443" */
    const char *external_name; /* "example.com:443" */
    const char *external_dns;  /* a resolver outside, "192.0.2.53" or with a port */
    unsigned timeout_ms;       /* of one attempt; 0 = 2000 */
    unsigned attempts;         /* 0 = 3 */
};

/* How large packets fare, of TCP several full segments, where short ones arrive. */
enum diag_large {
    LARGE_NOT_ASKED,
    LARGE_ARRIVE,     /* there and back */
    LARGE_LOST,       /* there or back */
    LARGE_LOST_THERE, /* on the way to the one who is asked */
    LARGE_LOST_BACK,  /* only on the way of the answer */
};

/* A cell of the matrix: a flow over one protocol, of one node or between two of a cluster. */
struct diag_cell {
    const struct diag_flow *flow;
    bool udp;
    int family;                    /* 4 or 6 */
    bool second;                   /* IPv6 beside the same flow's cell of IPv4 */
    char from[PROBE_TARGET_MAX];   /* pod or node name */
    char to[PROBE_TARGET_MAX + 8]; /* "10.244.1.6:18080", "kube-dns:53" */
    bool asked;                    /* probe is filled */
    struct probe probe;            /* its id is "<flow>.<tcp|udp>", "<flow>.tcp6" of a second */
    enum diag_outcome outcome;
    struct probe_result result; /* valid when outcome is pass, fail or slow */
    /* Fail: what was seen in plain words. Skip: the reason's code ("windows-dns-dotted",
     * "no-external-target"). Not-run: why. */
    char reason[200];
    bool running; /* asked now */
    enum diag_way one_way;
    unsigned rounds; /* how often it was asked; */
    unsigned lossy;  /* and of these, how often some attempts alone succeeded */

    /* In a report of a whole cluster: */
    size_t from_node, to_node; /* indexes; equal where no other node is named */
    bool any;                  /* a Service: any of the probes may answer */
    enum diag_large large;
    bool counted;   /* result is that of --count: its attempts, how long they took */
    unsigned again; /* of TCP between pods that was asked many times: attempts whose packets were
                       sent again */
};
/* Failed, or not asked. */
static inline bool diag_cell_is_open(const struct diag_cell *cell) {
    return cell->outcome == DIAG_FAIL || cell->outcome == DIAG_NOT_RUN;
}
/* The same, but for a failure that never counts against success. */
static inline bool diag_cell_is_red(const struct diag_cell *cell) {
    return cell->outcome == DIAG_NOT_RUN ||
           (cell->outcome == DIAG_FAIL && !(cell->flow->is & FLOW_EXTRA));
}
struct diag_cells {
    struct diag_cell *items;
    size_t count;
};
/* The cells of this scene in the order of the table, TCP before UDP, then those of a second family;
 * those that cannot be asked are skip or not-run already, others fail until a result is put in. */
void diag_cells_make(const struct diag_scene *scene, struct diag_cells *ret);
void diag_cells_free(struct diag_cells *cells);
/* `second`: the cell of IPv6 where a node has both families. NULL: there is no such cell. */
struct diag_cell *diag_cells_find(const struct diag_cells *cells, enum diag_flow_id flow, bool udp,
                                  bool second);
/* "pod-to-pod-ip/udp", "pod-to-pod-ip/udp/ipv6" of a second family: how reports and causes name a
 * cell; the caller frees. */
char *diag_cell_name(const struct diag_cell *cell);

/* Those of diag_extras[] that the first pod is asked. */
void diag_extra_probes(const struct diag_scene *scene, struct probe_list *ret);

/* The same flow as that cell, which is asked, the other way: asked of the second pod, as one of
 * X_BACK_TCP to X_BACK_UDP6. false of all flows but that between the two pods. */
bool diag_cell_back(const struct diag_scene *scene, const struct diag_cell *cell,
                    struct probe *ret);
/* Puts the result of that beside the one of the cell's own direction, which is judged already. */
void diag_cell_judge_back(struct diag_cell *cell, const struct probe_result *back, bool retried);
/* Puts a result into its cell: pass, slow when `retried`, or fail with a reason in plain words. */
void diag_cell_judge(struct diag_cell *cell, const struct probe_result *result, bool retried);
/* Turns red cells that are so by design into skips, once all cells are judged: a cluster whose DNS
 * answers for Services but has no records of pods (CoreDNS without "pods insecure"), and what the
 * network's mode cannot do (`limits` of struct network_mode; NULL: none). */
void diag_cells_excuse(struct diag_cells *cells, const struct network_limit *limits);
