/* Makes the inbound firewall rules of a node. */
#include "netsetup/netsetup.h"

#include "netsetup/agents/daemon_set_agent.h"
#include "netsetup/modes/mode.h"

enum { KUBELET_PORT = 10250 };

static const struct host_firewall_rule kubelet_rule = {
    .name = "winjoin kubelet",
    .description = "winjoin: connections to the kubelet (logs, exec, metrics)",
    .port = KUBELET_PORT,
};

size_t firewall_rules(const struct network_plan *plan,
                      struct host_firewall_rule ret[FIREWALL_RULES_MAX]) {
    size_t count = 0;
    ret[count++] = kubelet_rule;
    if (plan->mode->firewall.name) {
        ret[count] = plan->mode->firewall;
        if (!ret[count].port)
            ret[count].port = plan->vxlan_port;
        count++;
    }
    if (plan->daemon_set_agent && plan->daemon_set_agent->firewall.name) {
        ret[count] = plan->daemon_set_agent->firewall;
        ret[count++].port = plan->vxlan_port;
    }
    return count;
}

void firewall_names(struct text_list *ret) {
    text_list_add(ret, kubelet_rule.name);
    for (const struct network_mode *const *mode = network_modes; *mode; mode++)
        if ((*mode)->firewall.name)
            text_list_add(ret, (*mode)->firewall.name);
    for (const struct daemon_set_agent *const *agent = daemon_set_agents; *agent; agent++)
        if ((*agent)->firewall.name)
            text_list_add(ret, (*agent)->firewall.name);
}
