/* What a joined node says of its own network in the cluster: an annotation of its Node, which the
 * diagnosis of a whole cluster reads with the Nodes. Small, because every Node that is listed
 * carries it: counts, and the first few names of each kind; nothing secret. */
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
    NETWORK_REPORT_MAX = 4096,           /* bytes of its text */
    NETWORK_REPORT_FRESH_SECONDS = 1200, /* so old at most it says what is; then what was */
};

/* What it is made of; NULL = not known. */
struct network_report_seen {
    int64_t time;
    const char *mode, *network;            /* "overlay", "flannel.4096" */
    const struct hcn_balancers *balancers; /* of HNS */
    const json_t *drift;                   /* drift_read(); NULL: nothing was compared */
    const json_t *diag;                    /* network_report_diag() */
};
/* What `winjoin diag` on the node found: {time, flows, flowsPassed, passed, failed: {count, first:
 * ["pod-to-pod-ip/tcp"]}, causes: [{id, confidence}], message}; `passed` and `failed` are cells,
 * `message` the first cause's. New reference. */
json_t *network_report_diag(const struct diag_report *report);
/* The annotation: {version: 1, time, mode, network, loadBalancers, dsr: "on|off|mixed", drift:
 * {KIND: {count, first: []}}, unread: ["the Services"], diag}; KIND: one of drift_kinds[]
 * (diag/drift/drift.h). At most NETWORK_REPORT_MAX bytes: names are left out, counts stay. The
 * caller frees. */
char *network_report_make(const struct network_report_seen *seen);

/* Reads it: any node may have written anything. What is not as above is left out, texts that are
 * long or not plain ASCII too; *ret is a new reference of the same shape. ERROR_MALFORMED in words
 * of winjoin's own where it is no report at all. */
int network_report_read(const char *text, json_t **ret, struct error *err);
/* The same of a document that was read already. */
int network_report_take(const json_t *json, json_t **ret, struct error *err);

/* The rest is about what was read; NULL is a report of nothing. */
int64_t network_report_time(const json_t *report);
bool network_report_is_fresh(const json_t *report, int64_t now);
/* Does the report have anything of drift? And what HNS lacks: load balancers of Services, endpoints
 * of pods. */
bool network_report_differs(const json_t *report);
bool network_report_lacks(const json_t *report);
/* "2 Services without a load balancer in HNS (kube-system/kube-dns 10.96.0.10:53/UDP, ...)", "":
 * none; the caller frees. */
char *network_report_drift(const json_t *report);
/* How many differences there are, of all kinds. */
long long network_report_count(const json_t *report);
/* Does it name this Service ("kube-system/kube-dns") among those without a load balancer? */
bool network_report_lacks_service(const json_t *report, const char *service);
/* "4 min old: 2 Services without a load balancer in HNS (kube-system/kube-dns 10.96.0.10:53/UDP,
 * ...); winjoin diag 2 h ago: SVC-LOST; pod-to-service-ip/udp failed"; the caller frees. */
char *network_report_line(const json_t *report, int64_t now);

/* The node's report of its own network and the condition PodNetworkProved,
 * published together with the node's own identity, which may change the annotations and the status
 * of its own Node (Node authorizer, NodeRestriction). Nothing that fails here fails anything else.
 */

/* What winjoin-network remembers between its looks; zero at first. */
struct network_publisher {
    struct host *host;
    struct http *http;
    bool begun;
    bool doubtful; /* the last look found that HNS lacks something, which the next one confirms */
    bool differs;  /* what was published last */
    bool doubted;  /* since that, the Node was told that its network was made again */
    bool drifted;  /* the cluster was told that HNS differs */
    uint64_t due_ms;
    struct node_events events;  /* node_events_free() */
    struct drift_follow follow; /* drift_follow_free() */
    size_t compared;            /* its changes at the last comparison */
};
/* What has to be watched for that (struct network_keeper's `others`), where kube-proxy is ours:
 * DRIFT_WATCHES, or 0. `publisher`: a struct network_publisher, the context of that function. */
size_t network_publisher_watches(void *publisher, struct kube_watch *ret);
/* Called every few seconds while winjoin-network runs (struct network_keeper's `looked`). Compares
 * HNS with Kubernetes every 15 to 18 minutes (this node's pods and its Node are asked for; Services
 * and EndpointSlices are, too, where they are not followed), 5 to 6 minutes after one of those has
 * changed, 90 s after HNS was restarted, and, as long as something is wrong, 90 s after HNS has
 * another number of load balancers; publishes what changed, what is wrong each time, and once in an
 * hour that nothing did. What HNS lacks is published when it still does a minute later. That HNS
 * was restarted makes the condition Unknown at once, until the next look. Where that fails, it is
 * tried again after five minutes, and is a line of the log. What the service saw and did, and a
 * difference that two looks found, is an Event of the Node, as is its end. */
void network_publisher_look(void *publisher, const struct network_seen *seen);

/* Compares and publishes at once, with what `measured` found (NULL: what an earlier diagnosis has
 * published stays). In DRIFT_MS and a few requests' time. ERROR_ABSENT: no join has written its
 * network down. Other kinds: kube_get's, kube_patch's. */
int network_report_publish(struct host *host, struct http *http, const struct diag_report *measured,
                           struct error *err);
/* Takes annotation and condition away, for a reset, as long as the node's kubeconfig is there.
 * Nothing where no join has written its network down, or the cluster has no such Node. */
int network_report_clear(struct host *host, struct http *http, struct error *err);

/* ---- the condition: whether this node's pod network was measured, and still is as it was then.
 * For kubectl wait, health checks and autoscalers. Pure. ---- */

#define NETWORK_PROOF_CONDITION "PodNetworkProved"
/* So long a measurement counts. */
enum { NETWORK_PROOF_TERM_SECONDS = 7 * 24 * 3600 };

/* A NodeCondition (Kubernetes API v1) made of a report as network_report_read() takes it. True:
 * every flow worked, and HNS lacks nothing since. False: a flow failed, or HNS lacks what
 * Kubernetes has; the reason is the first cause's id. Unknown: nothing was measured, or too long
 * ago. `before` is the Node's condition until now, NULL: it has none; lastTransitionTime stays
 * while the status does. `now` is the cluster's time. New reference. */
json_t *network_proof_condition(const json_t *report, const json_t *before, int64_t now);
/* The same right after HNS was restarted and its networks were made again: Unknown. */
json_t *network_proof_restored(const json_t *before, int64_t now);
/* Do both say the same, but for their times? */
bool network_proof_equal(const json_t *a, const json_t *b);
