/* The rows of the decision table and what their functions read. For diag/causes/ only. */
#pragma once

#include <stdint.h>

#include "diag/causes/causes.h"
#include "netsetup/modes/mode.h"

/* A set of cells is a bit mask with two bits for each flow: TCP, then UDP. */
#define CELL_TCP(flow) (1u << (FLOW_##flow * 2))
#define CELL_UDP(flow) (2u << (FLOW_##flow * 2))
#define CELL_BOTH(flow) (3u << (FLOW_##flow * 2))
/* The cells of the flows that have the property `so` (FLOW_...). */
#define CELLS_IF(so, flow, name, from, to, by, is) | ((is) & (so) ? CELL_BOTH(flow) : 0)
#define CELLS_THAT_ARE(so) (0 DIAG_FLOWS(CELLS_IF, so))
#define CELLS_ALL (((1u << FLOW_COUNT * 2) - 1) & ~CELLS_THAT_ARE(FLOW_EXTRA))
#define CELLS_FROM_POD (CELLS_ALL & ~CELLS_THAT_ARE(FLOW_FROM_NODE))
#define CELLS_STRAIGHT (CELLS_ALL & CELLS_THAT_ARE(FLOW_STRAIGHT))
/* CELLS_NAMES are the cells of flows by name: each asks the cluster's DNS, whose pods are on
 * another node. */
#define CELLS_NAMES CELLS_THAT_ARE(FLOW_NAME)
#define CELLS_DNS (CELL_UDP(SVC_IP) | CELLS_NAMES)
#define CELLS_OUTSIDE CELLS_THAT_ARE(FLOW_OUTSIDE)
/* In CELLS_TCP each second bit is set, beginning with the lowest. */
#define CELLS_TCP (CELLS_ALL / 3)
#define CELLS_UDP (CELLS_TCP * 2)

/* Says how an extra question beside the flows ended: one bit for each probe outcome, and names for
 * useful sets of them. */
#define SAID(outcome) (1u << PROBE_##outcome)
#define SAID_OK SAID(OK)
#define SAID_NOTHING (SAID(TIMEOUT) | SAID(NO_REPLY) | SAID(DNS_TIMEOUT))
/* SAID_ANSWER: a program received the question and answered, even if it said that the name does not
 * exist. */
#define SAID_ANSWER (SAID_OK | SAID(DNS_NXDOMAIN) | SAID(DNS_SERVFAIL))
/* SAID_THERE: the machine that was asked exists and replied, even if nobody listens at the port. */
#define SAID_THERE (SAID_OK | SAID(REFUSED) | SAID(RESET))
/* The result of an extra question beside the flows. */
struct extra {
    unsigned said;       /* Bits of SAID_...; 0 when the question was not asked. */
    const char *outcome; /* The outcome as a word; NULL when the question was not asked. */
    bool some;           /* At least one attempt succeeded. */
    long long median_us; /* The median time of the attempts that succeeded. */
};

enum { TCP = 6, UDP = 17, DNS_PORT = 53, HTTPS_PORT = 443 };
enum { SLOW_US = 500000 }; /* An answer that takes this long is slow. */

/* The pod of a probe, as the evidence describes it. */
struct probed_pod {
    const json_t *said; /* The member a or b of `pods` in the evidence; NULL when unknown. */
    const char *name;
    const char *ip; /* The pod's address; NULL when unknown. */
    /* The local HNS endpoint with that address, preferably an attached one; or NULL. */
    json_t *endpoint;
};
enum { POD_A, POD_B, PODS };

/* The input and the facts of a diagnosis. Text and JSON are borrowed; NULL when unknown. */
struct symptoms {
    const struct diag_report *report;
    const json_t *evidence; /* Never NULL. */
    /* The masks are about the cells of IPv6 on a dual-stack node, not about the first family. */
    bool second;
    uint32_t red; /* Cells that failed or were not run. */
    uint32_t failed;
    uint32_t green;                     /* Cells that passed, also those that were slow. */
    uint32_t outcome[PROBE_FAILED + 1]; /* Failed cells, by the outcome of their probe. */
    uint32_t partly;                    /* Failed cells with some attempts that succeeded. */
    uint32_t back;       /* Cells that failed only in the other direction, from pod b to pod a. */
    uint32_t unresolved; /* Failed cells whose name resolved to no address. */
    uint32_t explained;  /* Cells that rows above have explained. */
    struct extra extras[X_COUNT];

    /* Facts for many rows, which symptoms_derive() derives from the members above. */
    const json_t *look, *drift; /* The parts "look" and "kubernetes" of the evidence. */
    /* The mode of the pod network, never NULL; all members of an unknown mode are 0. */
    const struct network_mode *mode;
    json_t *network;         /* The expected network, as HNS describes it. */
    const char *subnet;      /* The pod prefix of `network`. */
    long long vni;           /* The VNI of `network`; 0 when unknown. */
    const char *own_address; /* The InternalIP of this node's Node. */
    struct probed_pod pods[PODS];
    /* The addresses of the pods behind the DNS Service, in the order in which they were asked. */
    const char *dns_pods[DIAG_DNS_PODS];
    size_t dns_pod_count;
    /* The first of dns_pods, the one that is asked first at its own address. */
    const char *dns_pod;
    /* When dns_pod answers at its own address, so that the route there works, this is that address,
     * or words for it. Else NULL. */
    const char *dns_pod_answers;
    const char *dns_pod_well; /* One of dns_pods that answers in any way at its own address. */
    /* The Node whose prefix holds dns_pod; NULL when it is this node, or no Node. */
    const json_t *dns_node;
    const char *dns_pod_node; /* The node of dns_pod according to its EndpointSlice. */
    /* The EndpointSlice of dns_pod is outdated: the pod's node exists, but the address of dns_pod
     * is in no Node's pod prefix, and no Node has it itself. */
    bool slice_is_old;
    /* Several pods are behind the DNS Service, and some questions have no answer: which pod got the
     * question decides, not the protocol. */
    bool dns_is_split;
    bool dns_is_slow; /* The DNS Service answers, but takes SLOW_US or longer. */
    /* The DNS Service answers with an error, so packets reach it, and none are lost on the way. */
    bool dns_refuses;
    bool dns_answers_by_tcp; /* The DNS Service, or one of its pods, gives any answer over TCP. */
    /* Over TCP some question to the DNS has no answer, while a larger question, or the question to
     * the Service, has one. */
    bool dns_loses_some;
    /* The DNS Service answers over UDP with an error, and over TCP never with the same one: another
     * server answers in its place. */
    bool dns_is_taken;
    /* The DNS pod refuses TCP at a closed port, but both open ports of CoreDNS are silent: the
     * packets that accept a connection are lost. */
    bool tcp_is_refused_alone;
    /* The DNS pod, when it answered over UDP but over TCP not even at a closed port, so that more
     * than port 53 is affected; else NULL. Silence of a closed UDP port proves nothing, because its
     * ICMP error is often blocked on the way back. */
    const char *pod_without_tcp;
    /* A pod behind the DNS Service answers at its own address, if only with a refusal. */
    bool reaches_dns_pod;
    /* A pod of another node answers, or that node itself at an address of its pod prefix: the route
     * to it works. */
    bool reaches_other_nodes;
    /* No UDP arrives, neither VXLAN (which is UDP) nor the node's own packets, but TCP does. */
    bool node_is_without_udp;
    /* A cell with a connection to another machine, which the kernels make without any program. NULL
     * when no such connection succeeds. */
    const struct diag_cell *connection;
    /* `connection` takes SLOW_US or longer, or half of that when the DNS is slow. */
    bool network_is_slow;
    /* The network is slow, and therefore the API server did not answer the first look in time. */
    bool api_is_late;
    /* Microseconds that a connection to a DNS pod takes, when the DNS is slow and the time is at
     * least half of SLOW_US; else 0. */
    long long dns_connect_us;
    /* The network between the nodes has the routes to pods, not this node (--routes print or none).
     */
    bool network_routes;
};
/* Derives the facts from the other members, which must be filled. */
void symptoms_derive(struct symptoms *symptoms);
enum level { NO, LIKELY, CONFIRMED };
/* What the function of a row found. */
struct cause_finding {
    /* The cells that the cause breaks in any case: it is ruled out when an attempt of one of them
     * succeeded. */
    uint32_t must;
    uint32_t may; /* The cells that the cause can break. */
    struct text_list evidence;
    char *message, *hint; /* Both replace the texts of the row; NULL keeps these. */
    const char *what;     /* The row's `what`. */
    bool in_vain;         /* The pods will never start, so waiting for them is useless. */
};
/* Adds a line of evidence, unless the finding already has it. */
void finding_note(struct cause_finding *finding, const char *format, ...)
    __attribute__((format(gnu_printf, 2, 3)));

typedef enum level cause_judge(const struct symptoms *symptoms, struct cause_finding *finding);

/* Says which cells a cause may explain. */
enum cells_of {
    MEASURED, /* Cells that were tried and failed. */
    /* Cells of IPv6 on a dual-stack node that were tried and failed; all other values mean the
     * first family. */
    MEASURED6,
    /* Red cells, also those that were not run. When the cause is confirmed, or `in_vain` is set,
     * the run does not wait for the pods. */
    STOPS_PODS,
    RED_CELLS,   /* Red cells as with STOPS_PODS, but the pods are started all the same. */
    FIRST_LOOK,  /* The red cells of its finding; the cause is named even without any. */
    UNEXPLAINED, /* Cells of either family, whether or not they were tried. */
};

struct row {
    struct diag_cause_row words;
    uint32_t must, may;
    cause_judge *judge;
    enum cells_of of;
    /* The service or the pod that the row's function looks at; NULL when it needs none. */
    const char *what;
};
/* The table, with the widest cause first (causes.c). */
extern const struct row diag_rows[];
extern const size_t diag_rows_count;

/* Functions in prerequisites.c: what must work before any flow can, as the first look shows it. */
cause_judge judge_cert_expired, judge_service, judge_hung, judge_api_down, judge_api_refused,
    judge_clock_off, judge_node_gone;
/* Functions in network.c: the HNS network, encapsulation, forwarding. */
cause_judge judge_pod_img, judge_pod_sbx, judge_notready, judge_hns_hung, judge_hns_ep_none,
    judge_hns_net, judge_hns_mgmt, judge_hns_cidr, judge_pod_local, judge_mtu, judge_mtu_nodes,
    judge_ovl_udp, judge_l2_route_node, judge_forwarding, judge_l2_gateway;
/* Functions in endpoints.c: pods, their endpoints and IPv6 as the second family. */
cause_judge judge_hns_ep, judge_hns_ep_silent, judge_hns_epstale, judge_pod_gw, judge_pod_gw_silent,
    judge_ip6_addr, judge_ip6_lb, judge_ip6_route;
/* Functions in routes.c: the routes to other nodes' pods. */
cause_judge judge_ovl_vni, judge_ovl_peer, judge_l2_route;
/* For networks whose routes are written outside the nodes (--routes print, none): names the routes
 * that the network between the nodes needs, and the command that prints them. */
void name_network_routes(const struct symptoms *symptoms, struct cause_finding *finding);
/* Functions in acl.c: ACL policies of the pods' endpoints. */
cause_judge judge_cni_policy;
/* Functions in services.c: load balancers, DNS. */
cause_judge judge_svc_all, judge_svc_ep0, judge_dns_none, judge_dns_lb, judge_svc_lb,
    judge_svc_route, judge_svc_vip, judge_dns_srv, judge_dns_wrong, judge_dns_sfx, judge_l2_node,
    judge_svc_ep0_api;
/* Functions in outside.c: targets outside the cluster, and the node itself. */
cause_judge judge_ext_node, judge_nat_none, judge_nat_exc, judge_nat_pods, judge_ext_pods,
    judge_ext_dns, judge_fw_in, judge_fw_own, judge_kubelet_port;
/* Functions in kubernetes.c: where HNS differs from what Kubernetes says. */
cause_judge judge_svc_lost, judge_pod_noep, judge_proxy_two, judge_svc_stale, judge_svc_port,
    judge_hns_left, judge_hns_epstale_new, judge_route_stale;
/* Functions in nodes.c: nodes, their adapters and names, this Windows. */
cause_judge judge_ovl_nsx, judge_nic_wrong, judge_flannel_type, judge_node_twice, judge_node_cidr,
    judge_peer_down, judge_flannel_node, judge_ovl_mac, judge_port_pool, judge_port_excl,
    judge_svc_backends, judge_win_patch;
/* Functions in answers.c: what the answers themselves show. */
cause_judge judge_dns_proto, judge_tcp_lost, judge_udp_lost, judge_dns_fail, judge_svc_half,
    judge_dns_zone, judge_api_addr, judge_api_pods, judge_loss;
/* Functions in times.c: how long answers take. */
cause_judge judge_dns_slow, judge_latency, judge_tcp_loss;
/* Functions in unknown.c: red cells that no other row explains. Something that winjoin wrote was
 * changed, or the cause is unknown. */
cause_judge judge_changed, judge_unknown;

/* ---- facts from the evidence, for several rows (facts.c); borrowed, NULL when unknown ---- */

const char *expected(const struct symptoms *symptoms, const char *key);
/* Returns the first item of the list that has this text at that path; NULL when `text` is NULL. */
json_t *item_with(const json_t *list, const char *path, const char *text);
/* The local endpoint of pod 'a' or 'b', found by its address; of several, an attached one. */
enum { STATE_ATTACHED_SHARING = 3 };
bool endpoint_is_attached(const json_t *endpoint);
/* The Services that the flows ask, and the cells whose packets each load balancer carries. */
enum { ASKED_SERVICES = 3 };
extern const struct asked_service {
    const char *key; /* The key of the Service's cluster IP, for expected(). */
    int protocol, port;
    uint32_t cells;
} asked_services[ASKED_SERVICES];
/* Returns the result of the question to that DNS pod at its own address. */
const struct extra *dns_pod_asked(const struct symptoms *symptoms, const char *ip);
/* Says whether some pods of the DNS answer at their own addresses and others do not. Notes which
 * ones, unless `finding` is NULL. */
bool dns_pods_differ(const struct symptoms *symptoms, struct cause_finding *finding);
/* Returns the bit of a cell in the masks; 0 when its flow is not one of the nine. */
uint32_t cell_bit(const struct diag_cell *cell);
/* Notes that the Node is not Ready, and says whether that is so. */
bool note_unready(const json_t *node, struct cause_finding *finding);
/* Says whether the adapter has that address, or one in the prefix. NULL arguments are ignored. */
bool adapter_holds(const json_t *adapter, const char *ip, const char *prefix);
/* Returns the first adapter of this node for which adapter_holds() is true. */
json_t *adapter_with(const struct symptoms *symptoms, const char *ip, const char *prefix);
/* Returns the number of HNS endpoints that have the address. With `attached`, counts only attached
 * ones of this node's pods (endpoints.c). */
size_t endpoints_with(const struct symptoms *symptoms, const char *ip, bool attached);
/* Returns the InternalIP of a Node. */
const char *node_address(const json_t *node);
/* Does some Node have this address itself, as pods in the host network do? */
bool node_of_address(const struct symptoms *symptoms, const char *ip);
/* Compares two MAC addresses, with '-' or ':' between their bytes, without regard to case. */
bool mac_equal(const char *a, const char *b);
/* Does the DNS pod that the flows ask run on that node, or on an unknown one? A fault of another
 * node explains nothing that the flows show. */
bool has_dns_pods(const struct symptoms *symptoms, const json_t *node);
/* Notes the route by which this node itself sends to that address, and the neighbor entry of the
 * next hop, when they are unusual; sets a hint about what to do. */
void note_route(const struct symptoms *symptoms, const char *ip, struct cause_finding *finding);
/* Is the Node another one than this node? */
bool is_peer(const struct symptoms *symptoms, const json_t *node);
/* Returns the Settings of the first policy of that type, or NULL. */
json_t *policy_of(const json_t *object, const char *type);
/* Says whether `ip`, which may end with a length ("/24"), lies in `prefix`. False also when one of
 * them does not parse. */
bool prefix_holds(const char *prefix, const char *ip);
