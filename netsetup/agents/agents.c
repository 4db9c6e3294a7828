/* What reads the table of network agents. */
#include "netsetup/agents/agent.h"

#include <stdlib.h>

#include "base/memory.h"
#include "netsetup/agents/external_agent.h"
#include "netsetup/names.h"

#define ROW(agent) &network_agent_##agent,
static const struct network_agent *const agents[] = {NETWORK_AGENTS(ROW)};

const struct network_agent *const *network_agents(size_t *ret_count) {
    *ret_count = ARRAY_SIZE(agents);
    return agents;
}

const struct network_agent *network_agent_by_plugin(const char *plugin) {
    for (size_t i = 0; plugin && i < ARRAY_SIZE(agents); i++) {
        if (text_equal(agents[i]->plugin, plugin))
            return agents[i];
    }
    return network_mode_by_cni(plugin, NULL) ? &network_agent_none : NULL;
}

bool network_agent_excepts_services(const char *network) {
    for (size_t i = 0; i < ARRAY_SIZE(agents); i++) {
        if (agents[i]->nat_except_services && text_equal(agents[i]->network_name, network))
            return true;
    }
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

void network_plugin_names(struct text_list *ret) {
    size_t count;
    const struct network_mode *const *modes = network_modes(&count);
    for (size_t i = 0; i < ARRAY_SIZE(agents); i++) {
        if (agents[i]->plugin)
            text_list_add(ret, agents[i]->plugin);
        for (size_t k = 0; !agents[i]->plugin && k < count; k++) {
            for (const char *const *name = modes[k]->cni_plugins; *name; name++) {
                if (!text_list_has(ret, *name) && !network_agent_by_plugin(*name)->plugin)
                    text_list_add(ret, *name);
            }
        }
    }
}

int network_plugin_check(const char *name, struct error *err) {
    _cleanup_(text_list_free) struct text_list names = {0};
    _cleanup_(freep) char *lower = text_lower(name);
    const struct external_agent *external = external_agent_by_name(lower);
    network_plugin_names(&names);
    if (name_check("network plugin", name, &names, err) == 0)
        return 0;
    return external ? error_hint(err,
                                 "%s makes the network as a DaemonSet: use --network-plugin "
                                 "external",
                                 external->title)
                    : -1;
}

void agent_settings_free(struct agent_settings *settings) {
    free(settings->backend);
    free(settings->daemon_set);
    free(settings->kube_proxy);
    text_list_free(&settings->pod_cidrs);
    text_list_free(&settings->service_cidrs);
    json_decref(settings->document);
    json_decref(settings->others);
    json_decref(settings->told);
    *settings = (struct agent_settings){0};
}
