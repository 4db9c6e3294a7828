/* The service winjoin-network: makes the pod network again that Windows forgets at boot and HNS at
 * each start of its own, and sees to it that what stood on it comes back. */
#pragma once

#include "host/http.h"
#include "kube/client.h"
#include "netsetup/nic/nic.h"
#include "netsetup/plan/network_plan.h"
#include "node/keeper/network_pending.h"

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
 * from HNS; keeps the routes to other nodes' pods current where no agent does
 * (node/keeper/peer_watch.h), and pods away until the network stands
 * (node/keeper/network_pending.h). The memory it needs does not grow. Returns 0. */
int network_keeper_run(struct network_keeper *keeper, struct error *err);
void network_keeper_free(struct network_keeper *keeper);

/* One such restoring. *did gets what was done; empty where everything stood. Kinds of failure:
 * those of HNS and the services, ERROR_MALFORMED for the file. */
int network_restore(struct network_keeper *keeper, bool booting, struct text_list *did,
                    struct error *err);
