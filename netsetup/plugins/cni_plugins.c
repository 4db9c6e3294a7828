/* Lookups in the table of CNI plugins, and parts that their configurations share. */
#include "netsetup/plugins/cni_plugin.h"

#include "netsetup/agents/agent.h"
#include "netsetup/hns/hcn_network.h"
#include "netsetup/modes/mode.h"

#define ROW(plugin) &cni_plugin_##plugin,
static const struct cni_plugin *const plugins[] = {CNI_PLUGINS(ROW)};

const struct cni_plugin *cni_plugin_by_name(const char *name) {
    for (size_t i = 0; i < ARRAY_SIZE(plugins); i++)
        if (text_equal(plugins[i]->name, name))
            return plugins[i];
    return NULL;
}

const char *cni_plugin_ipam(const char *plugin, const struct network_agent *agent) {
    const struct cni_plugin *cni = cni_plugin_by_name(plugin);
    return cni && !agent->ipam ? cni->ipam : NULL;
}

json_t *cni_dns_json(const struct network_plan *plan) {
    /* A Pod's own list comes by the capability dns. This list is for Pods without one. */
    return json_pack("{s:o,s:[o]}", "nameservers", json_texts(&plan->dns_servers), "search",
                     json_sprintf("svc.%s", plan->dns_domain));
}

json_t *cni_policies_json(const struct network_plan *plan) {
    const struct text_list *exceptions = &plan->nat_exceptions;
    json_t *policies = json_array();
    if (!plan->mode->vfp)
        return policies;
    /* One policy can have exceptions of one family only. */
    for (int family = 4; family <= (plan->ipv6.on ? 6 : 4); family += 2) {
        json_t *list = json_array();
        for (size_t i = 0; i < exceptions->count; i++)
            if ((strchr(exceptions->items[i], ':') != NULL) == (family == 6))
                json_array_append_new(list, json_string(exceptions->items[i]));
        json_array_append_new(
            policies, hcn_policy_json("OutBoundNAT", json_pack("{s:o}", "Exceptions", list)));
    }
    for (size_t i = 0; i < plan->encap_routes.count; i++)
        json_array_append_new(
            policies,
            hcn_policy_json("SDNRoute", json_pack("{s:s,s:b}", "DestinationPrefix",
                                                  plan->encap_routes.items[i], "NeedEncap", 1)));
    return policies;
}
