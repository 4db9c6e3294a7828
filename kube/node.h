/* Reads the fields of Nodes that winjoin uses, waits for a Node's changes, writes its Events. */
#pragma once

#include "kube/client.h"

/* The state of a Node when it was read. Texts are owned, NULL when absent; free it with
 * kube_node_free(). */
struct kube_node {
    char *name;
    char *uid;
    char *os;                   /* Value of the label kubernetes.io/os. */
    char *internal_ip;          /* The first address of type InternalIP in status.addresses. */
    struct text_list addresses; /* All addresses of type InternalIP. */
    struct text_list pod_cidrs; /* spec.podCIDRs, or only spec.podCIDR when that list is empty. */
    bool ready;                 /* The condition Ready is True. */
    char *ready_reason;         /* Reason and message of the condition Ready. */
    char *ready_message;
    char *kubelet_version;
    json_t *annotations; /* The annotations as an object, or NULL. */
    bool unschedulable;
    /* A condition is True whose reason is that of kube_node_network_pending_set(). */
    bool network_pending;
};
void kube_node_free(struct kube_node *node);
int kube_node_from_json(const json_t *object, struct kube_node *ret, struct error *err);
/* Returns the value of an annotation (borrowed), or NULL when it is absent or empty. */
const char *kube_node_annotation(const struct kube_node *node, const char *name);
/* Reads a Node. Fails with ERROR_ABSENT when it does not exist. */
int kube_node_get(struct kube_client *client, const char *name, struct kube_node *ret,
                  struct error *err);

/* Sets the condition NetworkUnavailable. A node may set its own conditions but not its own taints
 * (admission plugin NodeRestriction). While the condition is True, the control plane keeps the
 * taint node.kubernetes.io/network-unavailable:NoSchedule on the Node. DaemonSet Pods in the host's
 * network tolerate that taint. */
int kube_node_network_pending_set(struct kube_client *client, const char *name, bool pending,
                                  struct error *err);

/* Reads all Nodes as kube_pages_get() does (kube/object.h). New reference. */
int kube_nodes_get(struct kube_client *client, json_t **ret, struct error *err);

/* The state of a Node for which a caller waits. */
enum kube_node_wanted { KUBE_NODE_REGISTERED, KUBE_NODE_HAS_POD_CIDR, KUBE_NODE_READY };
/* Reports progress: called at each change and about once a second. `node` is NULL while it does not
 * exist. A result other than 0 ends the wait. */
typedef int kube_node_progress(void *context, const struct kube_node *node, unsigned waited_ms);
/* Watches the Node until `wanted` returns true; *ret is its state then. ERROR_TIMED_OUT describes
 * its last state (not registered; no podCIDR; Ready False with reason and message). */
int kube_node_wait(struct kube_client *client, const char *name, enum kube_node_wanted wanted,
                   unsigned timeout_ms, kube_node_progress *progress, void *context,
                   struct kube_node *ret, struct error *err);

/* The Events (core/v1) that winjoin writes for a Node; `kubectl describe node` shows them. A node
 * may write them with its own identity (Node authorizer). kube/node.c has the reason and the type
 * (Normal or Warning) of each. */
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
/* The last Event of each kind, so that a repeated Event only increases its count. Initialize it
 * with zeros. */
struct node_events {
    struct {
        char *name, *message;
        unsigned count;
    } last[NODE_EVENT_COUNT];
};
/* Writes an Event for the Node with this name. The message is cut at 1000 bytes. `events` may be
 * NULL; then the Event never counts as repeated. Failure kinds are those of kube_create() and
 * kube_patch(). */
int node_event_tell(struct kube_client *client, const char *node, enum node_event event,
                    const char *message, struct node_events *events, struct error *err);
void node_events_free(struct node_events *events);
