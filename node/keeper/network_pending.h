/* Pods kept away from this node until its pod network stands: after a start of Windows an agent has
 * to come first, or the network could not be restored. By the Node's condition NetworkUnavailable
 * (kube/node.h). */
#pragma once

#include "host/host.h"
#include "host/http.h"

/* Zero at first. */
struct network_pending {
    bool over;    /* the network stands, and the Node does not say otherwise */
    bool asked;   /* what the Node says is known: */
    bool pending; /* that it waits for its network */
    uint64_t again_ms;
};
/* One look, while the service winjoin-network runs, every few seconds: says of the Node what the
 * network is. Without the API server, and as long as no join has written its network down, it is
 * tried again later. A network that winjoin makes is looked for after a start of Windows only
 * (`booting`); `restored`: it is done with that. */
void network_pending_look(struct host *host, struct http *http, bool booting, bool restored,
                          struct network_pending *pending);
/* Takes back what the look or a join has said of the Node; nothing where a join made the network
 * itself. For a reset, as long as the node's kubeconfig is there: kinds of kube_get, kube_patch. */
int network_pending_clear(struct host *host, struct http *http, struct error *err);
