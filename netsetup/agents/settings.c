/* What a cluster says of its network agents: one record of it, or two made one. */
#include "netsetup/agents/external_agent.h"

void agent_settings_free(struct agent_settings *settings) {
    free_all(settings->backend, settings->daemon_set, settings->kube_proxy, settings->linux_set);
    text_list_free(&settings->pod_cidrs);
    text_list_free(&settings->service_cidrs);
    json_decref(settings->document);
    json_decref(settings->others);
    json_decref(settings->told);
    *settings = (struct agent_settings){0};
}

void external_agent_settle(struct agent_settings *settings, struct agent_settings *others) {
    const struct external_agent *agent = settings->external;
    if (agent && (!agent->settings_of || agent->settings_of != others->agent)) {
        agent_settings_free(others);
    } else {
        others->external = agent;
        others->kube_proxy = take_ptr(settings->kube_proxy);
        if (agent) {
            others->daemon_set = take_ptr(settings->daemon_set);
            others->told = take_ptr(settings->told);
        }
        agent_settings_free(settings);
        *settings = *others;
    }
    if (agent)
        settings->agent = &network_agent_external;
}
