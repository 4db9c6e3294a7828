/* Causes of what passes in part: large packets that are lost, and some that are lost by chance. */
#include "diag/cluster/cause_row.h"

/* TCP's segments are as large as its path lets pass: what works of UDP says nothing. */
static bool is_large(const struct cluster_cell *c) {
    return cluster_cell_is_between_pods(c) &&
           (cluster_cell_is_large_lost(c) || (!c->cell.udp && !cluster_cell_is_red(c)));
}

static bool is_large_lost(const struct cluster_cell *c) {
    return cluster_cell_is_between_pods(c) && cluster_cell_is_large_lost(c);
}

/* TCP sends again what was lost: what works of it says nothing. */
static bool is_chance(const struct cluster_cell *c) {
    return cluster_cell_is_between_pods(c) &&
           (cluster_cell_is_lossy(c) || (c->cell.udp && !cluster_cell_is_red(c)));
}

static bool is_lossy(const struct cluster_cell *c) {
    return cluster_cell_is_between_pods(c) && cluster_cell_is_lossy(c);
}

/* Of UDP that nobody sends again all may be lost by chance: a NodePort is asked a few times. */
static bool is_lost_too(const struct cluster_cell *c) {
    return cluster_cell_is_lossy(c) ||
           (cluster_cell_is_of(c, "nodeport-remote") && c->cell.udp && cluster_cell_is_red(c) &&
            c->cell.result.outcome == PROBE_NO_REPLY);
}

#define MTU_HINT                                                                                   \
    "set the MTU of the pod network (CNI, flannel) on all nodes below that of the network "        \
    "between them, with VXLAN by 50 or more; or raise that one"
#define MTU_SOURCE "kubernetes/kubernetes#83739, kubernetes-sigs/cluster-api-provider-azure#1335"
#define LOSS_HINT                                                                                  \
    "check the node's network adapter and switch: error counters, driver and load; powershell "    \
    "Get-NetAdapterStatistics on a Windows node"

static const struct cluster_row rows[] = {
    {{"CL-MTU", "large packets between pods of different nodes",
      "short packets arrive, large ones are lost", MTU_HINT, MTU_SOURCE},
     ALL,
     .among = is_large,
     .also = is_large_lost,
     .least = 2,
     .surely = true,
     .partly = true},
    {{"CL-MTU-SYSTEMS",
      "large packets between nodes of two operating systems, one direction or both",
      "short packets arrive, large ones are lost", MTU_HINT, MTU_SOURCE},
     SYSTEMS,
     .among = is_large,
     .spared = is_large,
     .beside = ALL,
     .also = is_large_lost,
     .least = 2,
     .surely = true,
     .partly = true},
    {{"CL-MTU-NODE", "large packets to or from the node's pods",
      "short packets arrive, large ones from or to there are lost", MTU_HINT, MTU_SOURCE},
     NODE,
     .among = is_large,
     .spared = is_large,
     .beside = ALL,
     .also = is_large_lost,
     .least = 2,
     .surely = true,
     .partly = true},
    {{"CL-MTU-PAIR", "large packets from one node's pods to another's, or back",
      "short packets arrive, large ones are lost there or on the way back",
      "compare the MTU of both nodes' adapters, and of what is between them; then " MTU_HINT,
      MTU_SOURCE},
     PAIR,
     .among = is_large_lost,
     .surely = true,
     .partly = true},
    {{"CL-LOSS", "some packets between pods of different nodes", "some packets are lost by chance",
      "check the network between the nodes: load, and error counters of its switches", NULL},
     ALL,
     .among = is_chance,
     .also = is_lost_too,
     .least = 2,
     .surely = true,
     .partly = true},
    {{"CL-LOSS-NODE", "some packets to and from the node's pods",
      "some packets from and to there are lost by chance", LOSS_HINT, NULL},
     NODE,
     .among = is_chance,
     .spared = is_chance,
     .beside = ALL,
     .also = is_lost_too,
     .least = 2,
     .touching = true,
     .surely = true,
     .partly = true},
    {{"CL-LOSS-PAIR", "some packets between two nodes' pods", "some packets are lost by chance",
      "with --count 100 the share is exact; " LOSS_HINT, NULL},
     PAIR,
     .among = is_lossy,
     .surely = true,
     .partly = true},
};

const struct cluster_rows cluster_rows_of_packets = {rows, ARRAY_SIZE(rows)};
