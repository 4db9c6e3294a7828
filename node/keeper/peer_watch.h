/* Other nodes followed while this one runs: a new node, one that moves, one that is gone. */
#pragma once

#include "host/host.h"
#include "host/http.h"
#include "kube/client.h"

/* The kubeconfig with the node's own identity (kubeadm's path). */
#define NODE_KUBECONFIG "C:\\etc\\kubernetes\\kubelet.conf"

/* Called about once a second; nonzero ends the watch. */
typedef int peer_watch_tick(void *context, unsigned waited_ms, struct error *err);

/* Watches Nodes with the node's identity and keeps the routes to their pods as the join wrote them:
 * added, changed, removed, and remembered (node/chosen.h). Writes the Node's annotations
 * of this network again when the network was made again. `others` are watched at the same time (of
 * a poll_ms, and at most 4); where an agent or nobody keeps the routes, alone. Where the join's
 * file is not there, or there is nothing to watch, ERROR_ABSENT at once. Ends with `tick`'s error,
 * else after an hour at the latest with why it cannot go on (kinds of kube_watch()). */
int peers_follow(struct host *host, struct http *http, const struct kube_watch *others,
                 size_t count, peer_watch_tick *tick, void *context, struct error *err);
