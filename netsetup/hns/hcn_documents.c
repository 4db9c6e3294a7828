/* Makes HCN documents, with the field names and order of upstream tools. */
#include "netsetup/hns/hcn_network.h"

#include "netsetup/modes/mode.h"

enum { HOST_COMPARTMENT = 1 };

static json_t *schema_version(void) {
    return json_pack("{s:i,s:i}", "Major", 2, "Minor", 0);
}

json_t *hcn_policy_json(const char *type, json_t *settings) {
    return json_pack("{s:s,s:o}", "Type", type, "Settings", settings ? settings : json_object());
}

/* Makes a subnet with its default route. vsid 0 means none. */
static json_t *subnet(const char *prefix, const char *gateway, unsigned vsid, const char *to) {
    json_t *json = json_pack("{s:s}", "IpAddressPrefix", prefix);
    if (vsid)
        json_object_set_new(
            json, "Policies",
            json_pack("[o]", hcn_policy_json("VSID",
                                             json_pack("{s:I}", "IsolationId", (json_int_t)vsid))));
    json_object_set_new(json, "Routes",
                        json_pack("[{s:s,s:s}]", "NextHop", gateway, "DestinationPrefix", to));
    return json;
}

/* Makes the static subnets of both families. With prefix6 NULL there is IPv4 only. */
static json_t *ipams(const char *prefix, const char *gateway, unsigned vsid, const char *prefix6,
                     const char *gateway6) {
    json_t *subnets = json_pack("[o]", subnet(prefix, gateway, vsid, "0.0.0.0/0"));
    if (prefix6)
        json_array_append_new(subnets, subnet(prefix6, gateway6, 0, "::/0"));
    return json_pack("[{s:s,s:o}]", "Type", "Static", "Subnets", subnets);
}

/* Makes a network document; it takes the reference of own_ipams. */
static json_t *network_json(const struct network_plan *plan, const char *name, unsigned flags,
                            unsigned vxlan_port, json_t *own_ipams) {
    json_t *network = json_pack("{s:o,s:s,s:s,s:s}", "SchemaVersion", schema_version(), "Owner",
                                HCN_OWNER, "Name", name, "Type", plan->mode->hns_type);
    _cleanup_json_ json_t *policies = json_array();
    if (flags)
        json_object_set_new(network, "Flags", json_integer(flags));
    if (plan->adapter)
        json_array_append_new(
            policies, hcn_policy_json("NetAdapterName",
                                      json_pack("{s:s}", "NetworkAdapterName", plan->adapter)));
    if (vxlan_port)
        json_array_append_new(
            policies,
            hcn_policy_json("VxlanPort", json_pack("{s:I}", "Port", (json_int_t)vxlan_port)));
    if (json_array_size(policies))
        json_object_set(network, "Policies", policies);
    json_object_set_new(network, "Ipams", own_ipams);
    return network;
}

json_t *hcn_base_network_json(const struct network_plan *plan) {
    return network_json(plan, plan->base_name, 0, 0,
                        ipams(plan->base_subnet, plan->base_gateway, plan->base_vsid,
                              plan->ipv6.on ? plan->ipv6.base_subnet : NULL,
                              plan->ipv6.base_gateway));
}

json_t *hcn_pod_network_json(const struct network_plan *plan) {
    const struct network_ipv6 *ipv6 = &plan->ipv6;
    return network_json(
        plan, plan->name, plan->mode->flags, plan->set_vxlan_port ? plan->vxlan_port : 0,
        ipams(plan->pod_cidr, *plan->gateway ? plan->gateway : plan->pod_cidr, plan->vni,
              ipv6->on ? ipv6->pod_cidr : NULL, *ipv6->gateway ? ipv6->gateway : ipv6->pod_cidr));
}

/* Makes an address with its prefix length, or "<podCIDR>" while the Pod prefix is not known. */
static json_t *ip_configuration(const char *address, int length, const char *pod_cidr) {
    return json_pack("{s:s,s:o}", "IpAddress", *address ? address : pod_cidr, "PrefixLength",
                     *address ? json_integer(length) : json_string(pod_cidr));
}

json_t *hcn_host_endpoint_json(const struct network_plan *plan, const char *network_id) {
    json_t *configs = json_pack(
        "[o]", ip_configuration(plan->host_endpoint, plan->prefix_length, plan->pod_cidr));
    if (plan->ipv6.on)
        json_array_append_new(configs,
                              ip_configuration(plan->ipv6.host_endpoint, plan->ipv6.prefix_length,
                                               plan->ipv6.pod_cidr));
    return json_pack("{s:o,s:s,s:s,s:s,s:o}", "SchemaVersion", schema_version(), "Owner", HCN_OWNER,
                     "Name", plan->host_endpoint_name, "HostComputeNetwork", network_id,
                     "IpConfigurations", configs);
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
    _cleanup_json_ json_t *filter = json_pack("{s:s}", key, value);
    _cleanup_(freep) char *text = json_write(filter);
    return json_pack("{s:o,s:s}", "SchemaVersion", schema_version(), "Filter", text);
}
