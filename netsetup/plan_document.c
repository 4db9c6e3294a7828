/* The network plan as it is in a JoinPlan document. */
#include "netsetup/agents/external_agent.h"
#include "netsetup/cni_config.h"
#include "netsetup/firewall.h"
#include "netsetup/hcn_documents.h"
#include "netsetup/modes/mode.h"

static json_t *documents_json(const struct network_plan *plan) {
    json_t *list = json_array();
    if (plan->agent->makes_network)
        return list;
    if (plan->base_name)
        json_array_append_new(list, json_pack("{s:s,s:o}", "call", "HcnCreateNetwork", "body",
                                              hcn_base_network_json(plan)));
    if (plan->agent->pods_make_network)
        return list;
    json_array_append_new(list, json_pack("{s:s,s:o}", "call", "HcnCreateNetwork", "body",
                                          hcn_pod_network_json(plan)));
    _cleanup_json_ json_t *policies = hcn_network_policies_json(plan);
    for (size_t i = 0; i < json_array_size(policies); i++)
        json_array_append_new(list, json_pack("{s:s,s:o}", "call", "HcnModifyNetwork", "body",
                                              hcn_modify_policy_json(
                                                  true, json_incref(json_array_get(policies, i)))));
    if (plan->host_endpoint_name)
        json_array_append_new(list, json_pack("{s:s,s:o}", "call", "HcnCreateEndpoint", "body",
                                              hcn_host_endpoint_json(plan, "<networkID>")));
    return list;
}

static json_t *firewall_json(const struct network_plan *plan) {
    struct host_firewall_rule rules[FIREWALL_RULES_MAX];
    size_t count = firewall_rules(plan, rules);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_pack("{s:s,s:s,s:I}", "name", rules[i].name, "protocol",
                                              rules[i].udp ? "UDP" : "TCP", "port",
                                              (json_int_t)rules[i].port));
    return list;
}

static json_t *warnings_json(const struct network_plan *plan) {
    json_t *list = json_array();
    for (size_t i = 0; i < plan->warning_count; i++)
        json_array_append_new(list, json_pack("{s:s,s:s}", "code", plan->warnings[i].code,
                                              "message", plan->warnings[i].message));
    return list;
}

static json_t *cni_json(const struct network_plan *plan) {
    if (plan->agent->in_cluster)
        return json_array();
    return json_pack("[{s:s,s:o}]", "path", cni_config_path(plan), "content",
                     cni_config_json(plan));
}

json_t *network_plan_json(const struct network_plan *plan) {
    json_t *json = json_pack("{s:s,s:s,s:s}", "mode", plan->mode->name, "plugin", plan->plugin,
                             "name", plan->name);
    if (plan->external)
        json_object_set_new(json, "agent", json_string(plan->external->name));
    if (plan->adapter)
        json_object_set_new(json, "adapter", json_string(plan->adapter));
    if (plan->routes && !plan->writes_routes)
        json_object_set_new(json, "routeMode", json_string(plan->routes));
    if (plan->agent->makes_network)
        json_object_set_new(json, "waitSeconds", json_integer(network_agent_wait(plan->agent)));
    json_object_set_new(json, "documents", documents_json(plan));
    json_object_set_new(json, "cni", cni_json(plan));
    /* which nodes there are is known only while joining */
    json_object_set_new(json, "routes", json_array());
    json_object_set_new(json, "firewall", firewall_json(plan));
    json_t *exceptions = json_array();
    for (size_t i = 0; i < plan->nat_exceptions.count; i++)
        json_array_append_new(exceptions, json_string(plan->nat_exceptions.items[i]));
    json_object_set_new(json, "natExceptions", exceptions);
    if (plan->mode->source_vip && !plan->agent->in_cluster)
        json_object_set_new(json, "sourceVip",
                            json_string(plan->pod_cidr_known ? plan->source_vip : plan->pod_cidr));
    json_object_set_new(json, "warnings", warnings_json(plan));
    return json;
}
