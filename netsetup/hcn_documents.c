/* HCN documents: field names and order as upstream tools send them. */
#include "netsetup/hcn_documents.h"

#include <string.h>

#include "base/memory.h"
#include "netsetup/modes/mode.h"

enum { HOST_COMPARTMENT = 1 };

static json_t *schema_version(void) {
    return json_pack("{s:i,s:i}", "Major", 2, "Minor", 0);
}

json_t *hcn_policy_json(const char *type, json_t *settings) {
    return json_pack("{s:s,s:o}", "Type", type, "Settings", settings ? settings : json_object());
}

/* One static subnet with its default route; vsid 0 = none. */
static json_t *ipams(const char *prefix, const char *gateway, unsigned vsid) {
    json_t *subnet = json_pack("{s:s}", "IpAddressPrefix", prefix);
    if (vsid)
        json_object_set_new(
            subnet, "Policies",
            json_pack("[o]", hcn_policy_json("VSID",
                                             json_pack("{s:I}", "IsolationId", (json_int_t)vsid))));
    json_object_set_new(
        subnet, "Routes",
        json_pack("[{s:s,s:s}]", "NextHop", gateway, "DestinationPrefix", "0.0.0.0/0"));
    return json_pack("[{s:s,s:[o]}]", "Type", "Static", "Subnets", subnet);
}

static json_t *network_head(const struct network_plan *plan, const char *name) {
    return json_pack("{s:o,s:s,s:s,s:s}", "SchemaVersion", schema_version(), "Owner", HCN_OWNER,
                     "Name", name, "Type", plan->mode->hns_type);
}

static json_t *network_policies(const struct network_plan *plan) {
    json_t *policies = json_array();
    if (plan->adapter)
        json_array_append_new(
            policies, hcn_policy_json("NetAdapterName",
                                      json_pack("{s:s}", "NetworkAdapterName", plan->adapter)));
    return policies;
}

/* Steals the list; an empty one is left out. */
static void add_policies(json_t *network, json_t *policies) {
    if (json_array_size(policies))
        json_object_set(network, "Policies", policies);
    json_decref(policies);
}

json_t *hcn_base_network_json(const struct network_plan *plan) {
    json_t *network = network_head(plan, plan->base_name);
    add_policies(network, network_policies(plan));
    json_object_set_new(network, "Ipams",
                        ipams(plan->base_subnet, plan->base_gateway, plan->base_vsid));
    return network;
}

json_t *hcn_pod_network_json(const struct network_plan *plan) {
    json_t *network = network_head(plan, plan->name);
    json_t *policies = network_policies(plan);
    if (plan->mode->flags)
        json_object_set_new(network, "Flags", json_integer(plan->mode->flags));
    if (plan->set_vxlan_port)
        json_array_append_new(
            policies,
            hcn_policy_json("VxlanPort", json_pack("{s:I}", "Port", (json_int_t)plan->vxlan_port)));
    add_policies(network, policies);
    json_object_set_new(
        network, "Ipams",
        ipams(plan->pod_cidr, plan->pod_cidr_known ? plan->gateway : plan->pod_cidr, plan->vni));
    return network;
}

json_t *hcn_host_endpoint_json(const struct network_plan *plan, const char *network_id) {
    bool known = plan->pod_cidr_known;
    return json_pack("{s:o,s:s,s:s,s:s,s:[{s:s,s:o}]}", "SchemaVersion", schema_version(), "Owner",
                     HCN_OWNER, "Name", plan->host_endpoint_name, "HostComputeNetwork", network_id,
                     "IpConfigurations", "IpAddress", known ? plan->host_endpoint : plan->pod_cidr,
                     "PrefixLength",
                     known ? json_integer(plan->prefix_length) : json_string(plan->pod_cidr));
}

json_t *hcn_host_attach_json(void) {
    return json_pack("{s:s,s:i}", "SystemType", "Host", "CompartmentId", HOST_COMPARTMENT);
}

json_t *hcn_modify_policy_json(bool add, json_t *policy) {
    return json_pack("{s:s,s:s,s:{s:[o]}}", "ResourceType", "Policy", "RequestType",
                     add ? "Add" : "Remove", "Settings", "Policies", policy);
}

json_t *hcn_network_policies_json(const struct network_plan *plan) {
    json_t *policies = json_array();
    for (const char *const *type = plan->mode->policies; type && *type; type++)
        json_array_append_new(policies, hcn_policy_json(*type, NULL));
    return policies;
}

json_t *hcn_query_json(const char *key, const char *value) {
    json_t *query = json_pack("{s:o}", "SchemaVersion", schema_version());
    if (!key)
        return query;
    json_t *filter = json_pack("{s:s}", key, value);
    _cleanup_(freep) char *text = json_write(filter);
    json_decref(filter);
    json_object_set_new(query, "Filter", json_string(text));
    return query;
}
