/* Makes the network plan of a JoinPlan document. */
#include "netsetup/agents/daemon_set_agent.h"
#include "netsetup/netsetup.h"
#include "netsetup/hns/hcn_network.h"
#include "netsetup/modes/mode.h"

/* Adds a call that makes or changes something in HNS; it takes the reference of the body. */
static void add_call(json_t *list, const char *call, json_t *body) {
    json_array_append_new(list, json_pack("{s:s,s:o}", "call", call, "body", body));
}

json_t *network_plan_json(const struct network_plan *plan) {
    const struct network_agent *agent = plan->agent;
    bool has_vip = plan->mode->source_vip && !agent->in_cluster;
    json_t *documents = json_array(), *cni = json_array(), *firewall = json_array(),
           *warnings = json_array();
    struct host_firewall_rule rules[FIREWALL_RULES_MAX];
    size_t count = firewall_rules(plan, rules);
    if (plan->base_name && !agent->makes_network)
        add_call(documents, "HcnCreateNetwork", hcn_base_network_json(plan));
    if (!agent->makes_network && !agent->pods_make_network) {
        _cleanup_json_ json_t *policies = hcn_network_policies_json(plan);
        add_call(documents, "HcnCreateNetwork", hcn_pod_network_json(plan));
        json_each(policies, i, policy)
            add_call(documents, "HcnModifyNetwork",
                     hcn_modify_policy_json(true, json_incref(policy)));
        if (plan->host_endpoint_name)
            add_call(documents, "HcnCreateEndpoint", hcn_host_endpoint_json(plan, "<networkID>"));
    }
    if (!agent->in_cluster) {
        _cleanup_(freep) char *path = cni_config_path(plan);
        json_array_append_new(
            cni, json_pack("{s:s,s:o}", "path", path, "content", cni_config_json(plan)));
    }
    for (size_t i = 0; i < count; i++)
        json_array_append_new(firewall, json_pack("{s:s,s:s,s:I}", "name", rules[i].name,
                                                  "protocol", rules[i].udp ? "UDP" : "TCP", "port",
                                                  (json_int_t)rules[i].port));
    for (size_t i = 0; i < plan->warning_count; i++)
        json_array_append_new(warnings, json_pack("{s:s,s:s}", "code", plan->warnings[i].code,
                                                  "message", plan->warnings[i].message));
    /* The list of routes is empty, because the other nodes are known only during a join. */
    return json_pack("{s:s,s:s,s:s,s:s*,s:s*,s:s*,s:o*,s:o,s:o,s:[],s:o,s:o,s:s*,s:o}", "mode",
                     plan->mode->name, "plugin", plan->plugin, "name", plan->name, "agent",
                     plan->daemon_set_agent ? plan->daemon_set_agent->name : NULL, "adapter",
                     plan->adapter, "routeMode", plan->writes_routes ? NULL : plan->routes,
                     "waitSeconds", agent->makes_network ? json_integer(agent->wait_seconds) : NULL,
                     "documents", documents, "cni", cni, "routes", "firewall", firewall,
                     "natExceptions", json_texts(&plan->nat_exceptions), "sourceVip",
                     !has_vip               ? NULL
                     : plan->pod_cidr_known ? plan->source_vip
                                            : plan->pod_cidr,
                     "warnings", warnings);
}
