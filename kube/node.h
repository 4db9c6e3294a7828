/* Nodes: the few fields that a join reads, waiting for them, and Events of them. */
#pragma once

#include "kube/client.h"

/* One look at a Node. Text is owned, NULL = absent; kube_node_free(). */
struct kube_node {
    char *name;
    char *uid;
    char *os;                   /* label kubernetes.io/os */
    char *internal_ip;          /* first status.addresses of type InternalIP */
    struct text_list addresses; /* all of type InternalIP */
    struct text_list pod_cidrs; /* spec.podCIDRs, or spec.podCIDR alone */
    bool ready;                 /* condition Ready is True */
    char *ready_reason;         /* of that condition */
    char *ready_message;
    char *kubelet_version;
    json_t *annotations; /* object or NULL */
    bool unschedulable;
    bool network_pending; /* kube_node_network_pending_set() said so */
};
void kube_node_free(struct kube_node *node);
int kube_node_from_json(const json_t *object, struct kube_node *ret, struct error *err);
/* Value of an annotation, borrowed; NULL: it has none, or one that is empty. */
const char *kube_node_annotation(const struct kube_node *node, const char *name);
/* ERROR_ABSENT when there is no such Node. */
int kube_node_get(struct kube_client *client, const char *name, struct kube_node *ret,
                  struct error *err);

/* Writes the condition NetworkUnavailable, which a node may with its own identity (its taints it
 * may not: admission NodeRestriction). While it is True the control plane keeps the taint
 * node.kubernetes.io/network-unavailable:NoSchedule on the Node; pods of DaemonSets in the host's
 * network tolerate it. */
int kube_node_network_pending_set(struct kube_client *client, const char *name, bool pending,
                                  struct error *err);

/* All Nodes, as kube_pages_get reads them (kube/object.h). New reference. */
int kube_nodes_get(struct kube_client *client, json_t **ret, struct error *err);

/* What to wait for. */
enum kube_node_wanted { KUBE_NODE_REGISTERED, KUBE_NODE_HAS_POD_CIDR, KUBE_NODE_READY };
/* Called at changes and about once a second; node NULL while there is none. Not 0 ends the wait. */
typedef int kube_node_progress(void *context, const struct kube_node *node, unsigned waited_ms);
/* Watches the Node until `wanted`; *ret is the look that was. ERROR_TIMED_OUT says what it was last
 * (not registered; no podCIDR; Ready False with reason and message). */
int kube_node_wait(struct kube_client *client, const char *name, enum kube_node_wanted wanted,
                   unsigned timeout_ms, kube_node_progress *progress, void *context,
                   struct kube_node *ret, struct error *err);

/* What is told of a Node by Events (core/v1), which kubectl describe node shows; a node may write
 * them with its own identity (Node authorizer). A row each in kube/node.c: reason, and "Normal" or
 * "Warning". */
enum node_event {
    NODE_PROVED,
    NODE_NOT_PROVED,
    NODE_JOINED,
    NODE_JOIN_FAILED,
    NODE_UPGRADED,
    NODE_HNS_RESTARTED,
    NODE_NETWORK_RESTORED,
    NODE_DRIFTED,
    NODE_DRIFT_GONE,
    NODE_EVENT_COUNT
};
/* The last one of each, so that the same told again is counted; zero at first. */
struct node_events {
    struct {
        char *name, *message;
        unsigned count;
    } last[NODE_EVENT_COUNT];
};
/* Tells it of the Node of this name; a message is cut at 1000 bytes. `events` NULL: as one that was
 * not told before. Kinds: those of kube_create() and kube_patch(). */
int node_event_tell(struct kube_client *client, const char *node, enum node_event event,
                    const char *message, struct node_events *events, struct error *err);
void node_events_free(struct node_events *events);
