/* Finds causes where some packets pass: large packets are lost, or some by chance. */
#include "diag/cluster/causes/cluster_cause_rows.h"

#define MTU_HINT                                                                                   \
    "set the MTU of the pod network (CNI, flannel) on all nodes below that of the network "        \
    "between them, with VXLAN by 50 or more; or raise that one"
#define MTU_SOURCE "kubernetes/kubernetes#83739, kubernetes-sigs/cluster-api-provider-azure#1335"
#define LOSS_HINT                                                                                  \
    "check the node's network adapter and switch: error counters, driver and load; powershell "    \
    "Get-NetAdapterStatistics on a Windows node"

#define LOSS_TITLES                                                                                \
    [ALL] = {"CL-LOSS", "some packets between pods of different nodes",                            \
             "some packets are lost by chance",                                                    \
             "check the network between the nodes: load, and error counters of its switches",      \
             NULL},                                                                                \
    [SYSTEMS] = {"CL-LOSS-SYSTEMS",                                                                \
                 "some packets between nodes of two operating systems, one direction", NULL, NULL, \
                 NULL},                                                                            \
    [NODE] = {"CL-LOSS-NODE", "some packets to and from the node's pods",                          \
              "some packets from and to there are lost by chance", LOSS_HINT, NULL},               \
    [PAIR] = {"CL-LOSS-PAIR", "some packets between two nodes' pods", NULL,                        \
              "with --count 100 the share is exact; " LOSS_HINT, NULL}

static const struct cluster_row rows[] = {
    {.kind = LOSS,
     .titles[ALL] = {"CL-MTU", "large packets between pods of different nodes",
                     "short packets arrive, large ones are lost", MTU_HINT, MTU_SOURCE},
     .titles[SYSTEMS] =
         {"CL-MTU-SYSTEMS",
          "large packets between nodes of two operating systems, one direction or both", NULL, NULL,
          NULL},
     .titles[NODE] = {"CL-MTU-NODE", "large packets to or from the node's pods",
                      "short packets arrive, large ones from or to there are lost", NULL, NULL},
     .titles[PAIR] =
         {"CL-MTU-PAIR", "large packets from one node's pods to another's, or back",
          "short packets arrive, large ones are lost there or on the way back",
          "compare the MTU of both nodes' adapters, and of what is between them; then " MTU_HINT,
          NULL},
     .loss = LOSES_LARGE,
     .confirmed = true,
     .breaks = {PODS, .fits = IS_LARGE_LOST | IS_LARGE_WELL},
     .pattern = {.split = BY_FAMILY}},
    {.kind = LOSS,
     .titles = {LOSS_TITLES},
     .loss = LOSES_SOME,
     .confirmed = true,
     .breaks = {PODS, .fits = IS_LOSSY | IS_UDP_WELL},
     .follows = {ANY_FLOW, .fits = IS_LOSSY | IS_FEW_LOST},
     .follows_to_node = true},
    {.kind = LOSS,
     .titles = {LOSS_TITLES},
     .loss = SENDS_AGAIN,
     .breaks = {PODS, ONLY_TCP},
     .spares = {PODS, ONLY_UDP, IS_GREEN},
     .follows = {ANY_FLOW, ONLY_TCP, IS_LOSSY},
     .follows_to_node = true},
};

const struct cluster_rows cluster_rows_of_packets = {rows, ARRAY_SIZE(rows)};
