/* Finds which programs a bundle lacks, for each mode with each plugin. */
#include "join/programs/programs.h"

#include "netsetup/agents/agent.h"
#include "netsetup/plugins/cni_plugin.h"

int node_programs_missing(const struct artifacts *artifacts, const struct join_options *options,
                          json_t **ret, struct error *err) {
    const char *wanted_mode = options->network_mode, *wanted_plugin = options->network_plugin;
    _cleanup_(text_list_free) struct text_list plugins = {0};
    _cleanup_json_ json_t *list = json_array();

    network_plugin_names(&plugins);
    for (size_t m = 0; network_modes[m]; m++) {
        if (wanted_mode && !text_equal_nocase(wanted_mode, network_modes[m]->name))
            continue;
        for (size_t p = 0; p < plugins.count; p++) {
            const char *plugin = plugins.items[p];
            const struct network_agent *agent = network_agent_by_plugin(plugin);
            const char *cni = network_agent_cni(agent, plugin, network_modes[m]);
            bool theirs = agent->in_cluster;
            const struct service_choice choice = {
                .kube_proxy = !text_equal(options->kube_proxy, "none") && !theirs,
                .agent = agent->service};
            _cleanup_(text_list_free) struct text_list missing = {0};

            /* If the cluster brings the network, the node needs no network programs. Such a network
             * is listed only if it was asked for. */
            if (!cni || !(wanted_plugin ? text_equal(wanted_plugin, plugin)
                                        : !agent->makes_network && !agent->pods_make_network))
                continue;
            if (artifacts_missing(NULL, artifacts, NULL, theirs ? NULL : cni,
                                  theirs ? NULL : cni_plugin_ipam(cni, agent), &choice, &missing,
                                  err) < 0)
                return -1;
            json_array_append_new(list,
                                  json_pack("{s:s, s:s, s:o}", "mode", network_modes[m]->name,
                                            "plugin", plugin, "missing", json_texts(&missing)));
        }
    }
    if (!json_array_size(list))
        return error_set(err, ERROR_USAGE, "network plugin %s does not work in network mode %s",
                         wanted_plugin, wanted_mode);
    *ret = json_incref(list);
    return 0;
}
