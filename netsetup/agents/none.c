/* No agent: only a CNI plugin (win-overlay, win-bridge). The join itself writes the routes to other
 * nodes' Pods, and the service winjoin-network keeps them current
 * (node/keeper/network_keeper.h). */
#include "netsetup/agents/agent.h"

/* Announces this node as flannel does, so that flannel's nodes and this node find each other. */
static json_t *announce(const struct network_plan *plan, const struct hcn_network *network,
                        const char *address) {
    return plan->mode->vxlan ? flannel_announcement(plan->vni, network->router_mac, address) : NULL;
}

const struct network_agent network_agent_none = {.announce = announce};
