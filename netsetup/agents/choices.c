/* What --network-mode and --network-plugin take, and what other words may mean. */
#include "netsetup/agents/external_agent.h"
#include "netsetup/names.h"

/* ---- modes ---- */

/* The mode that agents ("vxlan") or CNI plugins ("win-bridge") call by this word. */
static const struct network_mode *mode_called(const char *word) {
    _cleanup_(freep) char *lower = text_lower(word);

    for (size_t a = 0; network_agents[a]; a++)
        for (size_t i = 0; network_agents[a]->backend && network_modes[i]; i++)
            if (text_equal(network_agents[a]->backend(network_modes[i]), lower))
                return network_modes[i];
    return network_mode_by_cni(lower, NULL);
}

int network_mode_check(const char *name, struct error *err) {
    _cleanup_(text_list_free) struct text_list names = {0};
    network_mode_names(&names);
    if (name_check("network mode", name, &names, err) == 0)
        return 0;
    const struct network_mode *meant = mode_called(name);
    bool said = err && err->hints[0][0]; /* by a word that is near */
    return meant && !said ? error_hint(err, "did you mean %s?", meant->name) : -1;
}

/* ---- plugins ---- */

void network_plugin_names(struct text_list *ret) {
    for (size_t i = 0; network_agents[i]; i++) {
        if (network_agents[i]->plugin)
            text_list_add(ret, network_agents[i]->plugin);
        for (size_t k = 0; !network_agents[i]->plugin && network_modes[k]; k++) {
            for (const char *const *name = network_modes[k]->cni_plugins; *name; name++)
                if (!text_list_has(ret, *name) && !network_agent_by_plugin(*name)->plugin)
                    text_list_add(ret, *name);
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
    return external && !network_agent_by_plugin(lower)
               ? error_hint(err,
                            "%s makes the network as a DaemonSet: use --network-plugin "
                            "external",
                            external->title)
               : -1;
}
