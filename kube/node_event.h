/* What is told of a Node by Events (core/v1), which kubectl describe node shows; a node may write
 * them with its own identity (Node authorizer). */
#pragma once

#include "kube/client.h"

/* A row each in kube/node_event.c: reason, and "Normal" or "Warning". */
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
