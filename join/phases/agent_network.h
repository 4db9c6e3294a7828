/* The pod network where a service of this node makes it (hybrid-overlay-node). */
#pragma once

#include "join/join.h"
#include "netsetup/hns/hcn_network.h"

/* Starts the network agent's service and waits until its HNS network exists for this node's pods:
 * gives the adapter back what the virtual switch cost it, names a certificate request that waits
 * for its approval, starts the service again when the network does not come. Its networks are
 * recorded, so that a reset deletes them. Kinds: those of service_run(), of HNS and of
 * nic_restore(); ERROR_DENIED (its request is denied), ERROR_CONFLICT (another node has this
 * host's name; a network for other pods), ERROR_TIMED_OUT. */
int agent_network_make(struct join *join, struct hcn_network *ret, struct error *err);

/* Writes down the networks that the agent makes, so that a reset deletes them; what stands already
 * is not this join's. */
int agent_network_record(struct join *join, struct error *err);
