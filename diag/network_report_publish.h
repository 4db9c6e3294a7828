/* The node's report of its own network and the condition PodNetworkProved,
 * published together with the node's own identity, which may change the annotations and the status
 * of its own Node (Node authorizer, NodeRestriction). Nothing that fails here fails anything else.
 */
#pragma once

#include <stdint.h>

#include "base/json.h"
#include "diag/drift/drift.h"
#include "diag/network_report.h"
#include "host/host.h"
#include "host/http.h"
#include "kube/node.h"
#include "node/keeper/network_keeper.h"

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
 * DRIFT_WATCHES, or 0. */
size_t network_publisher_watches(struct network_publisher *publisher, struct kube_watch *ret);
/* Called every few seconds while winjoin-network runs (struct network_keeper's `looked`). Compares
 * HNS with Kubernetes every 15 to 18 minutes (this node's pods and its Node are asked for; Services
 * and EndpointSlices are, too, where they are not followed), 5 to 6 minutes after one of those has
 * changed, 90 s after HNS was restarted, and, as long as something is wrong, 90 s after HNS has
 * another number of load balancers; publishes what changed, what is wrong each time, and once in an
 * hour that nothing did. What HNS lacks is published when it still does a minute later. That HNS
 * was restarted makes the condition Unknown at once, until the next look. Where that fails, it is
 * tried again after five minutes, and is a line of the log. What the service saw and did, and a
 * difference that two looks found, is an Event of the Node, as is its end. */
void network_publisher_look(struct network_publisher *publisher, const struct network_seen *seen);

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
