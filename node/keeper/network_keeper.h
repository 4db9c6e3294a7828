/* The service winjoin-network: makes the pod network again that Windows forgets at boot and HNS at
 * each start of its own, and sees to it that what stood on it comes back. */
#pragma once

#include "host/host.h"
#include "host/http.h"
#include "kube/client.h"
#include "netsetup/nic/nic.h"
#include "netsetup/plan/network_plan.h"

/* Pods kept away from this node until its pod network stands: after a start of Windows an agent has
 * to come first, or the network could not be restored. By the Node's condition NetworkUnavailable
 * (kube/node.h). */

/* What is known of that; zero-initialise. */
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

/* What a look has seen since the last one. */
enum network_news {
    NEWS_SAME,
    NEWS_BALANCERS, /* HNS has another number of load balancers */
    NEWS_RESTORED   /* the network was restored after HNS or this service started */
};

struct network_seen {
    enum network_news news;
    bool hns_restarted;
    const char *restored; /* what was made again, as the event log is told; NULL: nothing */
};

/* Zero but for the first five, `others` and the contexts; network_keeper_free(). */
struct network_keeper {
    struct host *host;
    struct http *http; /* NULL: other nodes are not followed */
    /* An entry for the event log: 'i', 'w' or 'e' as host_event()'s. */
    void (*tell)(void *context, char level, const char *text);
    /* After each look, every few seconds, while other nodes are followed (`http`); or NULL. */
    void (*looked)(void *looked_context, const struct network_seen *seen);
    /* What is watched beside other nodes (peers_follow()), at most 4: answers how many; or NULL. */
    size_t (*others)(void *looked_context, struct kube_watch *ret);
    void *context, *looked_context;

    uint32_t hns_process;     /* that HNS had at the last look; 0: none yet */
    unsigned down_looks;      /* in a row at which HNS did not run */
    bool lost;                /* HNS has started again, and the network is not restored yet */
    bool unseen;              /* begun while Windows runs: not looked at yet */
    unsigned failures;        /* of restoring, in a row */
    uint64_t restore_ms;      /* when it is tried again */
    uint64_t inspect_ms;      /* when the adapter and the load balancers are looked at */
    size_t balancers;         /* at the last of these looks */
    unsigned empty_looks;     /* in a row at which there was no load balancer */
    bool proxy_restarted;     /* for that reason, in vain */
    struct network_seen seen; /* by this look */
    char *restored;           /* for it */
    struct nic_snapshot card; /* alias NULL: not known */
    bool booting;             /* at its begin */
    struct network_pending pending;
};
/* At boot, before containerd and flanneld start: restores the network. Where that fails, and later
 * than at boot, network_keeper_run() does. No file of a join's (node/chosen.h): nothing
 * to do. -1 only with ERROR_INTERRUPTED. */
int network_keeper_begin(struct network_keeper *keeper, struct error *err);
/* Until host_interrupted(): notices within seconds that HNS has another process, and restores the
 * network; starts HNS when it stays down; restarts kube-proxy when all its load balancers are gone
 * from HNS; keeps the routes to other nodes' pods current where no agent does,
 * and pods away until the network stands. The memory it needs does not grow. Returns 0. */
int network_keeper_run(struct network_keeper *keeper, struct error *err);
void network_keeper_free(struct network_keeper *keeper);

/* Restores the network once. *did gets what was done; it stays empty where everything stood. Kinds
 * of failure: those of HNS and the services, ERROR_MALFORMED for the file. */
int network_restore(struct network_keeper *keeper, bool booting, struct text_list *did,
                    struct error *err);

/* Other nodes followed while this one runs: a new node, one that moves, one that is gone. */

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
