/* A joined node's report on its own network, as an annotation of its Node, which the diagnosis of a
 * whole cluster reads with the Nodes. It is small, because every list of Nodes carries it: counts,
 * and the first few names of each kind. It holds no secrets. The caller frees each char * that a
 * function returns or stores through a pointer. */
#pragma once

#include <stdint.h>

#include "base/json.h"
#include "diag/drift/drift.h"
#include "diag/reports/report.h"
#include "host/host.h"
#include "host/http.h"
#include "kube/node.h"
#include "netsetup/hns/hcn_records.h"
#include "node/keeper/network_keeper.h"

#define NETWORK_REPORT_ANNOTATION "winjoin.io/network-report"
enum {
    NETWORK_REPORT_MAX = 4096, /* The largest text, in bytes. */
    /* Up to this age the report describes the present state. */
    NETWORK_REPORT_FRESH_SECONDS = 1200,
};

/* What the report is made from; NULL means unknown. */
struct network_report_facts {
    int64_t time;
    /* Mode and name of the HNS network, such as "overlay" and "flannel.4096". */
    const char *mode, *network;
    const struct hcn_balancers *balancers; /* The load balancers of HNS. */
    /* The differences from drift_read(); NULL when nothing was compared. */
    const json_t *drift;
    /* The result of a diagnosis, from network_report_diag(). */
    const json_t *diag;
};
/* Returns what `winjoin diag` found on the node: {time, flows, flowsPassed, passed, failed: {count,
 * first: ["pod-to-pod-ip/tcp"]}, causes: [{id, confidence}], message}. `passed` and `failed` count
 * cells; `message` is that of the first cause. New reference. */
json_t *network_report_diag(const struct diag_report *report);
/* Makes the annotation's text: {version: 1, time, mode, network, loadBalancers, dsr:
 * "on|off|mixed", drift: {KIND: {count, first: []}}, unread: ["the Services"], diag}, where KIND is
 * one of drift_kinds[] (diag/drift/drift.h). At most NETWORK_REPORT_MAX bytes: if it is too long,
 * names are left out and the counts stay. */
char *network_report_make(const struct network_report_facts *facts);

/* Reads the annotation, in which a node may have written anything. Members of another shape are
 * left out, and so are texts that are long or not plain ASCII. *ret is a new reference with the
 * same shape. Fails with ERROR_MALFORMED, in words of winjoin itself, when the text is no report at
 * all. */
int network_report_read(const char *text, json_t **ret, struct error *err);
/* As network_report_read(), for a document that is already parsed. */
int network_report_copy(const json_t *json, json_t **ret, struct error *err);

/* The following functions are about a report that was read; NULL is a report without content. */
int64_t network_report_time(const json_t *report);
bool network_report_is_fresh(const json_t *report, int64_t now);
/* network_report_differs() says whether the report has any difference; network_report_lacks(),
 * whether HNS lacks load balancers of Services or endpoints of pods. */
bool network_report_differs(const json_t *report);
bool network_report_lacks(const json_t *report);
/* Returns the differences in words: "2 Services without a load balancer in HNS
 * (kube-system/kube-dns 10.96.0.10:53/UDP, ...)"; "" when there are none. */
char *network_report_drift(const json_t *report);
/* Returns the number of differences of all kinds. */
long long network_report_count(const json_t *report);
/* Says whether the report lists this Service ("kube-system/kube-dns") as without load balancer. */
bool network_report_lacks_service(const json_t *report, const char *service);
/* Returns the report in one line: "4 min old: 2 Services without a load balancer in HNS
 * (kube-system/kube-dns 10.96.0.10:53/UDP, ...); winjoin diag there, 2 h ago: SVC-LOST confirmed, 1
 * of its cells failed (pod-to-service-ip/udp)". */
char *network_report_line(const json_t *report, int64_t now);

/* Publishes the report and the condition PodNetworkProved together, with the node's own identity,
 * which may change the annotations and the status of its own Node (Node authorizer,
 * NodeRestriction). A failure here makes nothing else fail. */

/* What the service winjoin-network remembers between its comparisons. All members except
 * `host` and `http` begin as zero. */
struct network_publisher {
    struct host *host;
    struct http *http;
    bool begun;
    /* The last look found that HNS lacks something; the next look confirms or refutes it. */
    bool doubtful;
    bool differs; /* The last look found a difference. */
    /* Since the last look, the condition became Unknown because the network was made again. */
    bool doubted;
    bool drifted; /* An Event has said that HNS differs. */
    uint64_t due_ms;
    struct node_events events;  /* Events of the Node; freed with node_events_free(). */
    struct drift_follow follow; /* The followed lists; freed with drift_follow_free(). */
    size_t compared;            /* The value of follow.changes at the last comparison. */
};
/* Fills the watches that network_publisher_on_check() needs (`others` of struct network_keeper).
 * Returns DRIFT_WATCHES when winjoin runs kube-proxy, else 0. `publisher` is a struct
 * network_publisher. */
size_t network_publisher_watches(void *publisher, struct kube_watch *ret);
/* Called every few seconds while winjoin-network runs (`on_check` of struct network_keeper).
 *
 * Compares HNS with Kubernetes every 15 to 18 minutes, 5 to 6 minutes after Services or
 * EndpointSlices changed, and 90 s after HNS was restarted; while there is a difference also 90 s
 * after the number of load balancers in HNS changed. Each comparison reads this node's pods and its
 * Node, and Services and EndpointSlices unless they are followed.
 *
 * Publishes changes, differences each time, and once an hour that nothing changed. What HNS lacks
 * is published only if it is still missing a minute later. A restart of HNS makes the condition
 * Unknown at once, until the next comparison. After a failure, which is logged, it tries again in
 * five minutes. Writes Events of the Node about what the service saw and did, about a difference
 * that two comparisons found, and about its end. */
void network_publisher_on_check(void *publisher, const struct network_check *check);

/* Compares and publishes at once, with the result `measured` of a diagnosis (NULL keeps what an
 * earlier one published). Takes DRIFT_MS and the time of a few requests. Fails with ERROR_ABSENT
 * when no join has stored its choice of network; otherwise as kube_get() and kube_patch(). */
int network_report_publish(struct host *host, struct http *http, const struct diag_report *measured,
                           struct error *err);
/* Removes annotation and condition, for a reset, while the node's kubeconfig still exists. Succeeds
 * without a change when no join has stored its choice of network, or when the cluster has no such
 * Node. */
int network_report_clear(struct host *host, struct http *http, struct error *err);

/* ---- the condition PodNetworkProved: the pod network was measured, and works since ---- */

#define NETWORK_PROOF_CONDITION "PodNetworkProved"
/* Says how long a measurement counts. */
enum { NETWORK_PROOF_TERM_SECONDS = 7 * 24 * 3600 };

/* Makes a NodeCondition (Kubernetes API v1), for kubectl wait, health checks and autoscalers, from
 * a report as network_report_read() returns it. It is True when every flow worked and HNS lacks
 * nothing. It is False when a flow failed or HNS lacks what Kubernetes has; the reason is the id of
 * the first cause. It is Unknown when not all flows were measured, or too long ago. `before` is the
 * Node's present condition or NULL; lastTransitionTime changes only with the status. `now` is the
 * cluster's time. Pure; returns a new reference. */
json_t *network_proof_condition(const json_t *report, const json_t *before, int64_t now);
/* Makes the condition for the time right after HNS was restarted and its networks were made again:
 * Unknown. Pure; returns a new reference. */
json_t *network_proof_restored(const json_t *before, int64_t now);
/* Says whether two conditions are equal, except for their times. Pure. */
bool network_proof_equal(const json_t *a, const json_t *b);
