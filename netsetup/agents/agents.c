/* What reads the table of network agents. */
#include "netsetup/agents/agent.h"

#include "netsetup/names.h"

#define ROW(agent) &network_agent_##agent,
const struct network_agent *const network_agents[] = {NETWORK_AGENTS(ROW) NULL};

const struct network_agent *network_agent_by_plugin(const char *plugin) {
    for (size_t i = 0; plugin && network_agents[i]; i++)
        if (text_equal(network_agents[i]->plugin, plugin))
            return network_agents[i];
    return network_mode_by_cni(plugin, NULL) ? &network_agent_none : NULL;
}

bool network_agent_excepts_services(const char *network) {
    for (size_t i = 0; network_agents[i]; i++)
        if (network_agents[i]->nat_except_services &&
            text_equal(network_agents[i]->network_name, network))
            return true;
    return false;
}

const char *network_agent_cni(const struct network_agent *agent, const char *plugin,
                              const struct network_mode *mode) {
    if (!agent->plugin)
        return name_find(mode->cni_plugins, plugin);
    if (!agent->backend(mode))
        return NULL;
    return agent->cni ? agent->cni : mode->cni_plugins[0];
}

unsigned network_agent_wait(const struct network_agent *agent) {
    enum { USUAL = 300 };
    if (!agent->makes_network)
        return 0;
    return agent->wait_seconds ? agent->wait_seconds : USUAL;
}
