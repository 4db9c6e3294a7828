/* External: a DaemonSet of the cluster (Calico, Antrea, flannel in HostProcess containers) makes
 * the HNS network, writes the CNI configuration and brings kube-proxy or does without. A join must
 * not be in its way: Antrea refuses an adapter that has a virtual switch, and Calico deletes every
 * HNS network but nat. Sources: Calico's node/windows-packaging, Antrea's docs/windows.md. */
#include "netsetup/agents/agent.h"

/* Its own word decides; the mode given is what the firewall is opened for. No agent uses a switch
 * that is on no adapter. */
static const char *backend(const struct network_mode *mode) {
    return mode->internal ? NULL : mode->name;
}

const struct network_agent network_agent_external = {
    .plugin = "external", .makes_network = true, .keeps_routes = true, .backend = backend};
