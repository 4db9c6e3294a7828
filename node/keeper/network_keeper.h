/* The service winjoin-network. It makes the Pod network again, which Windows forgets at boot and
 * HNS whenever it starts, and restores or restarts what depends on it. */
#pragma once

#include "host/host.h"
#include "host/http.h"
#include "kube/client.h"
#include "netsetup/nic/nic.h"
#include "netsetup/plan/network_plan.h"

/* The Node's condition NetworkUnavailable (kube/node.h) keeps Pods away from this node until its
 * Pod network exists. After a start of Windows an agent may have to make the network first, or its
 * restore may fail. */

/* What is known about the Node's wait for its network; initialize with zeros. */
struct network_pending {
    bool over;         /* The network exists, and the Node does not say otherwise. */
    bool asked;        /* `pending` is known, since the Node was read. */
    bool pending;      /* The Node says that it waits for its network. */
    uint64_t again_ms; /* Time of the next check (host_monotonic_ms()). */
};
/* Makes one check, every few seconds while winjoin-network runs, and updates the Node's condition.
 * The check is repeated later when the API server does not answer or no join has written
 * CHOSEN_FILE. A network that winjoin makes is checked only after a start of Windows (`booting`).
 * `restored` says that the restore of that network is done. */
void network_pending_update(struct host *host, struct http *http, bool booting, bool restored,
                            struct network_pending *pending);
/* Clears the condition for a reset. Does nothing where a join made the network itself. The node's
 * kubeconfig must still exist. Fails as kube_get() and kube_patch(). */
int network_pending_clear(struct host *host, struct http *http, struct error *err);

/* Says what a check has found since the one before. */
enum network_news {
    NEWS_SAME,
    NEWS_BALANCERS, /* The count of load balancers in HNS changed. */
    NEWS_RESTORED   /* The network was restored after HNS or this service started. */
};

struct network_check {
    enum network_news news;
    bool hns_restarted;
    const char *restored; /* What was restored, as in the event log; NULL when nothing was. */
};

/* The state of the service. All is zero at first except host, http, the callbacks and the contexts.
 * Free with network_keeper_free(). */
struct network_keeper {
    struct host *host;
    struct http *http; /* The HTTP client; with NULL, other nodes are not watched. */
    /* Writes an entry to the event log; level is 'i', 'w' or 'e' as for host_event(). */
    void (*tell)(void *context, char level, const char *text);
    /* Called after each check, every few seconds, when `http` is set; or NULL. */
    void (*on_check)(void *check_context, const struct network_check *check);
    /* Sets at most 4 things to watch beside other nodes (node_routes_follow()), and returns their
     * number. The pointer may be NULL. */
    size_t (*others)(void *check_context, struct kube_watch *ret);
    void *context, *check_context;

    uint32_t hns_process;        /* Process of HNS at the last check; 0 before the first. */
    unsigned down_checks;        /* Checks in a row at which HNS did not run. */
    bool lost;                   /* HNS has restarted, and the network is not restored yet. */
    bool unchecked;              /* The service began after boot and has not checked yet. */
    unsigned failures;           /* Count of failed restores in a row. */
    uint64_t restore_ms;         /* Time of the next try to restore. */
    uint64_t inspect_ms;         /* Time of the next check of adapter and load balancers. */
    size_t balancers;            /* Count of load balancers at the last check. */
    unsigned empty_checks;       /* Checks in a row without load balancers. */
    bool proxy_restarted;        /* kube-proxy was restarted for missing balancers. */
    struct network_check check;  /* Result of the current check. */
    char *restored;              /* Owned text for check.restored. */
    struct nic_snapshot adapter; /* The adapter's state; its alias is NULL when unknown. */
    bool booting;                /* Windows was just starting when the service began. */
    struct network_pending pending;
};
/* Restores the network at boot, before containerd and flanneld start. When this fails, or when the
 * service starts later, network_keeper_run() restores it. Does nothing without a join's file
 * (node/chosen.h). Returns -1 only with ERROR_INTERRUPTED. */
int network_keeper_begin(struct network_keeper *keeper, struct error *err);
/* Runs until host_interrupted(). Notices within seconds that HNS has another process and restores
 * the network. Starts HNS when it stays down. Restarts kube-proxy when all its load balancers are
 * gone from HNS. Keeps the routes to other nodes' Pods current where no agent does, and keeps Pods
 * away until the network exists. Its memory does not grow. Returns 0. */
int network_keeper_run(struct network_keeper *keeper, struct error *err);
void network_keeper_free(struct network_keeper *keeper);

/* Restores the network once. *did gets what was done; it stays empty if nothing was missing. Error
 * kinds: those of HNS and of services, and ERROR_MALFORMED for the stored choice of network. */
int network_restore(struct network_keeper *keeper, bool booting, struct text_list *did,
                    struct error *err);

/* ---- watching for nodes that are added, changed or deleted ---- */

/* The kubeconfig with the node's own identity, at kubeadm's path. */
#define NODE_KUBECONFIG "C:\\etc\\kubernetes\\kubelet.conf"

/* Called about once a second; a nonzero result ends the watch. */
typedef int peer_watch_tick(void *context, unsigned waited_ms, struct error *err);

/* Watches Nodes with the node's identity and keeps the routes to their Pods current: adds, changes
 * and removes them, and stores them (node/chosen.h). Writes the Node's network annotations again
 * after the network was made again. At the same time it watches `others` (with a poll_ms, at most
 * 4); where winjoin keeps no routes, it watches only these. Fails at once with ERROR_ABSENT without
 * the join's file or with nothing to watch. Ends with the error of `tick`, or after at most an hour
 * with the error that stopped it (fails as kube_watch()). */
int node_routes_follow(struct host *host, struct http *http, const struct kube_watch *others,
                       size_t count, peer_watch_tick *tick, void *context, struct error *err);
