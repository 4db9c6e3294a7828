/* No agent: the CNI plugin alone (win-overlay, win-bridge). The join itself writes the routes to
 * other nodes' pods, and the boot service keeps them over a restart (netsetup/peers.h). */
#include "netsetup/agents/agent.h"

const struct network_agent network_agent_none = {0};
