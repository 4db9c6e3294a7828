/* The documents of version 2 of the API, once, as tables (hcsshim the hcn package; the HCN JSON
 * schema). A member: name, type, required?, bounds, what it is made of, HRESULT of a bad value,
 * gate. */
#include "tests/hns/model.h"

#define BITS(x) (1u << (x))
#define SWITCHED (BITS(L2BRIDGE) | BITS(L2TUNNEL) | BITS(OVERLAY) | BITS(TRANSPARENT))

enum { PORT_MAX = 65535, U16 = 65535, U8 = 255, VSID_MIN = 4096, VSID_MAX = 16777215 };

const struct model_word model_network_types[] = {
    {"NAT", NAT, 0},
    {"ICS", ICS, 0},
    {"Transparent", TRANSPARENT, 0},
    {"L2Bridge", L2BRIDGE, 0},
    {"L2Tunnel", L2TUNNEL, 0},
    {"Overlay", OVERLAY, 0},
    {"Private", PRIVATE, 0},
    {"Internal", INTERNAL, 0},
    {"Mirrored", MIRRORED, 0},
    {0},
};

const struct model_word model_network_flags[] = {
    {"None", 0, 0},
    {"EnableDnsProxy", 1, 0},
    {"EnableDhcpServer", 2, 0},
    {"EnableMirroring", 4, 0},
    {"EnableNonPersistent", 8, 0},
    {"EnablePersistent", 16, 0},
    {"IsolateVSwitch", 32, 0},
    {"EnableFlowSteering", 64, 0},
    {"DisableSharing", 128, 0},
    {"EnableFirewall", 256, 0},
    {"DisableHostPort", 1024, F_DISABLE_HOST_PORT},
    {"EnableIov", 8192, 0},
    {0},
};

const struct model_word model_endpoint_flags[] = {
    {"None", 0, 0},
    {"RemoteEndpoint", 1, 0},
    {"DisableInterComputeCommunication", 2, 0},
    {"EnableMirroring", 4, 0},
    {"EnableLowInterfaceMetric", 8, 0},
    {"OverrideDNSServerOrder", 16, 0},
    {"EnableDhcp", 32, 0},
    {0},
};

static const struct model_word balancer_flags[] = {
    {"None", 0, 0}, {"DSR", 1, F_DSR}, {"IPv6", 2, F_DUAL_STACK}, {0}};
static const struct model_word nat_flags[] = {
    {"None", 0, 0}, {"LocalRoutedVIP", 1, 0}, {"IPv6", 2, 0}, {0}};
static const struct model_word mapping_flags[] = {{"None", 0, 0},
                                                  {"ILB", 1, 0},
                                                  {"LocalRoutedVIP", 2, 0},
                                                  {"UseMux", 4, 0},
                                                  {"PreserveDIP", 8, 0},
                                                  {"VipExternalIP", 16, 0},
                                                  {0}};
static const struct model_word subnet_flags[] = {
    {"None", 0, 0}, {"DoNotReserveGatewayAddress", 1, 0}, {0}};
static const struct model_word ip_subnet_flags[] = {
    {"None", 0, 0}, {"EnableBroadcast", 1, 0}, {"ReserveNetworkAddress", 2, 0}, {0}};
static const struct model_word query_flags[] = {{"None", 0, 0}, {"Detailed", 1, 0}, {0}};
static const struct model_word ipam_types[] = {{"Static", 0, 0}, {"Dhcp", 1, 0}, {0}};
static const struct model_word namespace_types[] = {
    {"Host", 0, 0}, {"HostDefault", 1, 0}, {"Guest", 2, 0}, {"GuestDefault", 3, 0}, {0}};
static const struct model_word request_types[] = {
    {"Add", 0, 0}, {"Remove", 0, 0}, {"Update", 0, 0}, {"Refresh", 0, 0}, {"Reset", 0, 0}, {0}};
static const struct model_word resource_types[] = {
    {"Policy", 0, 0},   {"DNS", 0, 0},       {"Extension", 0, 0},
    {"Subnet", 0, 0},   {"IPSubnet", 0, 0},  {"Port", 0, 0},
    {"Endpoint", 0, 0}, {"Container", 0, 0}, {0},
};
static const struct model_word actions[] = {{"Allow", 0, 0}, {"Block", 0, 0}, {"Pass", 0, 0}, {0}};
static const struct model_word directions[] = {{"In", 0, 0}, {"Out", 0, 0}, {0}};
static const struct model_word rule_types[] = {{"Host", 0, 0}, {"Switch", 0, 0}, {0}};
static const struct model_word set_types[] = {
    {"IPSET", 0, 0}, {"NESTEDIPSET", 0, F_NETWORK_ACL}, {0}};

/* ---- parts ---- */

static const struct model_field version[] = {
    {.name = "Major", .type = T_UINT, .required = true, .max = 2},
    {.name = "Minor", .type = T_UINT, .max = 99},
    {0},
};
static const struct model_field mac_range[] = {
    {.name = "StartMacAddress", .type = T_MAC, .required = true},
    {.name = "EndMacAddress", .type = T_MAC, .required = true},
    {0},
};
static const struct model_field mac_pool[] = {
    {.name = "Ranges", .type = T_OBJECTS, .of = mac_range},
    {0},
};
const struct model_field model_dns_schema[] = {
    {.name = "Domain", .type = T_STRING},
    {.name = "Search", .type = T_STRINGS},
    {.name = "ServerList", .type = T_ADDRESSES},
    {.name = "Options", .type = T_STRINGS},
    {0},
};
static const struct model_field route[] = {
    {.name = "NextHop", .type = T_ADDRESS},
    {.name = "DestinationPrefix", .type = T_PREFIX, .required = true, .hr = HR_PREFIX},
    {.name = "Metric", .type = T_UINT, .max = U16},
    {0},
};
static const struct model_field ip_subnet[] = {
    {.name = "ID", .type = T_GUID},
    {.name = "IpAddressPrefix", .type = T_PREFIX, .required = true, .hr = HR_PREFIX},
    {.name = "Flags", .type = T_FLAGS, .of = ip_subnet_flags},
    {0},
};
static const struct model_field subnet[] = {
    {.name = "ID", .type = T_GUID},
    {.name = "IpAddressPrefix", .type = T_PREFIX, .required = true, .hr = HR_PREFIX},
    {.name = "Policies", .type = T_POLICIES, .of = model_subnet_policies},
    {.name = "Routes", .type = T_OBJECTS, .of = route},
    {.name = "IpSubnets", .type = T_OBJECTS, .of = ip_subnet},
    {.name = "Flags", .type = T_FLAGS, .of = subnet_flags},
    {0},
};
static const struct model_field ipam[] = {
    {.name = "Type", .type = T_WORD, .of = ipam_types},
    {.name = "Subnets", .type = T_OBJECTS, .of = subnet},
    {0},
};
static const struct model_field ip_configuration[] = {
    {.name = "IpAddress", .type = T_ADDRESS, .hr = HR_ADDRESS_OUTSIDE},
    {.name = "PrefixLength", .type = T_UINT, .max = 128, .hr = HR_PREFIX},
    {.name = "IpSubnetId", .type = T_GUID},
    {0},
};
static const struct model_field port_mapping[] = {
    {.name = "Protocol", .type = T_UINT, .required = true, .min = 1, .max = U8},
    {.name = "InternalPort",
     .type = T_UINT,
     .required = true,
     .min = 1,
     .max = PORT_MAX,
     .hr = HR_INTERNAL_PORT},
    {.name = "ExternalPort", .type = T_UINT, .required = true, .min = 1, .max = PORT_MAX},
    {.name = "DistributionType", .type = T_UINT, .max = 2},
    {.name = "Flags", .type = T_FLAGS, .of = mapping_flags},
    {0},
};

/* Host bits are taken here: Microsoft's own tests send 169.254.169.254/24. */
static const struct model_field s_sdn_route[] = {
    {.name = "DestinationPrefix", .type = T_LOOSE_PREFIX, .required = true, .hr = HR_PREFIX},
    {.name = "NextHop", .type = T_ADDRESS},
    {.name = "NeedEncap", .type = T_BOOL},
    {.name = "AutomaticEndpointMonitor", .type = T_ANY},
    {0},
};

/* What every object has. Health, Version, State: taken, but HNS's own. */
#define BASE                                                                                       \
    {.name = "ID", .type = T_GUID}, {.name = "Owner", .type = T_STRING},                           \
        {.name = "Name", .type = T_STRING}, {.name = "Version", .type = T_DROPPED},                \
        {.name = "AdditionalParams", .type = T_ANY}, {.name = "Health", .type = T_DROPPED},        \
        {.name = "SchemaVersion", .type = T_OBJECT, .required = true, .of = version},              \
        {.name = "Telemetry", .type = T_DROPPED}, {                                                \
        .name = "State", .type = T_DROPPED                                                         \
    }

/* ---- objects ---- */

const struct model_field model_network_schema[] = {
    BASE,
    {.name = "Type", .type = T_WORD, .of = model_network_types, .hr = HR_NETWORK_TYPE},
    {.name = "Policies", .type = T_POLICIES, .of = model_network_policies},
    {.name = "MacPool", .type = T_OBJECT, .of = mac_pool},
    {.name = "Dns", .type = T_OBJECT, .of = model_dns_schema},
    {.name = "Ipams", .type = T_OBJECTS, .of = ipam},
    {.name = "Flags", .type = T_FLAGS, .of = model_network_flags},
    {0},
};
const struct model_field model_endpoint_schema[] = {
    BASE,
    {.name = "HostComputeNetwork", .type = T_GUID},
    {.name = "HostComputeNamespace", .type = T_GUID},
    {.name = "Policies", .type = T_POLICIES, .of = model_endpoint_policies},
    {.name = "IpConfigurations", .type = T_OBJECTS, .of = ip_configuration},
    {.name = "Dns", .type = T_OBJECT, .of = model_dns_schema},
    {.name = "Routes", .type = T_OBJECTS, .of = route},
    {.name = "MacAddress", .type = T_MAC},
    {.name = "Flags", .type = T_FLAGS, .of = model_endpoint_flags},
    {0},
};
const struct model_field model_namespace_schema[] = {
    BASE,
    {.name = "NamespaceId", .type = T_UINT},
    {.name = "NamespaceGuid", .type = T_GUID},
    {.name = "Type", .type = T_WORD, .of = namespace_types},
    {.name = "Resources", .type = T_DROPPED},
    {.name = "ReadyOnCreate", .type = T_BOOL},
    {0},
};
const struct model_field model_load_balancer_schema[] = {
    BASE,
    {.name = "HostComputeEndpoints", .type = T_GUIDS, .required = true},
    {.name = "SourceVIP", .type = T_ADDRESS},
    {.name = "FrontendVIPs", .type = T_ADDRESSES},
    {.name = "PortMappings", .type = T_OBJECTS, .of = port_mapping, .required = true},
    {.name = "Policies", .type = T_ANY},
    {.name = "Flags", .type = T_FLAGS, .of = balancer_flags},
    {0},
};
const struct model_field model_sdn_route_schema[] = {
    BASE,
    {.name = "HostComputeEndpoints", .type = T_GUIDS},
    {.name = "Routes", .type = T_OBJECTS, .of = s_sdn_route},
    {.name = "Setting", .type = T_OBJECTS, .of = s_sdn_route},
    {0},
};

/* ---- requests ---- */

const struct model_field model_query_schema[] = {
    {.name = "SchemaVersion", .type = T_OBJECT, .required = true, .of = version},
    {.name = "Flags", .type = T_FLAGS, .of = query_flags},
    {.name = "Filter", .type = T_STRING},
    {0},
};
const struct model_field model_modify_schema[] = {
    {.name = "ResourceType", .type = T_WORD, .of = resource_types, .required = true},
    {.name = "RequestType", .type = T_WORD, .of = request_types, .required = true},
    {.name = "Settings", .type = T_ANY},
    {0},
};
const struct model_field model_policies_schema[] = {
    {.name = "Policies", .type = T_ANY, .required = true},
    {0},
};
const struct model_field model_endpoint_ref_schema[] = {
    {.name = "EndpointId", .type = T_GUID, .required = true},
    {0},
};
const struct model_field model_container_ref_schema[] = {
    {.name = "ContainerId", .type = T_STRING, .required = true},
    {0},
};
const struct model_field model_port_schema[] = {
    {.name = "PortId", .type = T_GUID},
    {.name = "VirtualNicName", .type = T_STRING},
    {.name = "VirtualMachineId", .type = T_GUID},
    {0},
};
const struct model_field model_subnets_schema[] = {
    {.name = "Subnets", .type = T_OBJECTS, .of = subnet, .required = true},
    {0},
};

/* ---- policies ---- */

static const struct model_field nothing[] = {{0}};
static const struct model_field s_isolation[] = {
    {.name = "IsolationId", .type = T_UINT, .required = true, .max = VSID_MAX},
    {0},
};
static const struct model_field s_vsid[] = {
    {.name = "IsolationId", .type = T_UINT, .required = true, .min = VSID_MIN, .max = VSID_MAX},
    {0},
};
const struct model_policy model_subnet_policies[] = {
    {"VLAN", s_isolation, ALWAYS, BITS(TRANSPARENT) | BITS(L2BRIDGE) | BITS(L2TUNNEL), "VLAN",
     NULL},
    {"VSID", s_vsid, ALWAYS, BITS(OVERLAY), "VSID", NULL},
    {0},
};

static const struct model_field s_source_mac[] = {
    {.name = "SourceMacAddress", .type = T_MAC, .required = true}, {0}};
static const struct model_field s_adapter[] = {
    {.name = "NetworkAdapterName", .type = T_STRING, .required = true}, {0}};
static const struct model_field s_interface[] = {
    {.name = "InterfaceGuid", .type = T_GUID},
    {.name = "InterfaceLuid", .type = T_UINT, .max = INT64_MAX},
    {.name = "InterfaceIndex", .type = T_UINT},
    {.name = "InterfaceMediaType", .type = T_UINT},
    {.name = "InterfaceAlias", .type = T_STRING},
    {.name = "InterfaceDescription", .type = T_STRING},
    {0},
};
static const struct model_field s_extension[] = {
    {.name = "ExtensionID", .type = T_GUID, .required = true},
    {.name = "Enable", .type = T_BOOL},
    {0},
};
static const struct model_field s_provider[] = {
    {.name = "ProviderAddress", .type = T_ADDRESS, .required = true}, {0}};
static const struct model_field s_dr_mac[] = {{.name = "Address", .type = T_MAC, .required = true},
                                              {0}};
static const struct model_field s_enable[] = {{.name = "Enable", .type = T_BOOL}, {0}};
static const struct model_field s_remote_subnet[] = {
    {.name = "DestinationPrefix", .type = T_PREFIX, .required = true, .hr = HR_PREFIX},
    {.name = "IsolationId", .type = T_UINT, .required = true, .min = VSID_MIN, .max = VSID_MAX},
    {.name = "ProviderAddress", .type = T_ADDRESS, .required = true},
    {.name = "DistributedRouterMacAddress", .type = T_MAC, .required = true},
    {0},
};
static const struct model_field s_vxlan_port[] = {
    {.name = "Port", .type = T_UINT, .required = true, .min = 1, .max = PORT_MAX}, {0}};
static const struct model_field s_set[] = {
    {.name = "Id", .type = T_STRING, .required = true},
    {.name = "Name", .type = T_STRING, .required = true},
    {.name = "PolicyType", .type = T_WORD, .of = set_types},
    {.name = "Values", .type = T_STRING},
    {0},
};
static const struct model_field s_layer[] = {{.name = "LayerId", .type = T_GUID}, {0}};
static const struct model_field s_network_acl[] = {
    {.name = "Protocols", .type = T_STRING},
    {.name = "Action", .type = T_WORD, .of = actions, .required = true},
    {.name = "Direction", .type = T_WORD, .of = directions, .required = true},
    {.name = "LocalAddresses", .type = T_STRING},
    {.name = "RemoteAddresses", .type = T_STRING},
    {.name = "LocalPorts", .type = T_STRING},
    {.name = "RemotePorts", .type = T_STRING},
    {.name = "RuleType", .type = T_WORD, .of = rule_types},
    {.name = "Priority", .type = T_UINT, .max = U16},
    {0},
};
static const struct model_field s_l4_proxy[] = {
    {.name = "IP", .type = T_ADDRESS},
    {.name = "Port", .type = T_STRING},
    {.name = "Protocol", .type = T_UINT, .max = U8},
    {.name = "Exceptions", .type = T_STRINGS},
    {.name = "Destination", .type = T_STRING},
    {.name = "OutboundNAT", .type = T_BOOL},
    {0},
};
const struct model_policy model_network_policies[] = {
    {"SourceMacAddress", s_source_mac, ALWAYS, 0, NULL, NULL},
    {"NetAdapterName", s_adapter, ALWAYS, SWITCHED | BITS(NAT) | BITS(ICS), NULL, NULL},
    {"InterfaceConstraint", s_interface, ALWAYS, SWITCHED | BITS(NAT) | BITS(ICS), NULL, NULL},
    {"VSwitchExtension", s_extension, ALWAYS, 0, NULL, NULL},
    {"ProviderAddress", s_provider, ALWAYS, SWITCHED, NULL, NULL},
    {"DrMacAddress", s_dr_mac, ALWAYS, BITS(OVERLAY), NULL, NULL},
    {"AutomaticDNS", s_enable, ALWAYS, 0, NULL, NULL},
    {"RemoteSubnetRoute", s_remote_subnet, F_V2_API, BITS(OVERLAY), NULL, NULL},
    {"VxlanPort", s_vxlan_port, F_VXLAN_PORT, BITS(OVERLAY), NULL, NULL},
    {"HostRoute", nothing, F_V2_API, BITS(OVERLAY) | BITS(L2BRIDGE) | BITS(L2TUNNEL), NULL, NULL},
    {"SetPolicy", s_set, F_SET_POLICY, 0, NULL, NULL},
    {"L4Proxy", s_l4_proxy, F_L4_PROXY, 0, NULL, NULL},
    {"LayerConstraint", s_layer, ALWAYS, 0, NULL, NULL},
    {"NetworkACL", s_network_acl, F_NETWORK_ACL, 0, NULL, NULL},
    {0},
};

static const struct model_field s_host_port[] = {
    {.name = "Protocol", .type = T_UINT, .required = true, .min = 1, .max = U8},
    {.name = "InternalPort",
     .type = T_UINT,
     .required = true,
     .min = 1,
     .max = PORT_MAX,
     .hr = HR_INTERNAL_PORT},
    {.name = "ExternalPort", .type = T_UINT, .required = true, .min = 1, .max = PORT_MAX},
    {.name = "VIP", .type = T_ADDRESS},
    {.name = "Flags", .type = T_FLAGS, .of = nat_flags},
    {0},
};
/* Id: azure-npm finds its own by it; hcsshim lacks it. */
static const struct model_field s_acl[] = {
    {.name = "Id", .type = T_STRING},
    {.name = "Protocols", .type = T_STRING},
    {.name = "Action", .type = T_WORD, .of = actions, .required = true},
    {.name = "Direction", .type = T_WORD, .of = directions, .required = true},
    {.name = "LocalAddresses", .type = T_SETS_TEXT},
    {.name = "RemoteAddresses", .type = T_SETS_TEXT},
    {.name = "LocalPorts", .type = T_STRING},
    {.name = "RemotePorts", .type = T_STRING},
    {.name = "RuleType", .type = T_WORD, .of = rule_types},
    {.name = "Priority", .type = T_UINT, .max = U16},
    {0},
};
static const struct model_field s_qos[] = {
    {.name = "MaximumOutgoingBandwidthInBytes", .type = T_UINT, .max = INT64_MAX}, {0}};
static const struct model_field s_nat[] = {
    {.name = "VirtualIP", .type = T_ADDRESS},
    {.name = "Exceptions", .type = T_RANGES},
    {.name = "Destinations", .type = T_RANGES},
    {.name = "Flags", .type = T_UINT},
    {.name = "MaxPortPoolUsage", .type = T_UINT, .max = U16},
    {0},
};
static const struct model_field s_name[] = {{.name = "Name", .type = T_STRING, .required = true},
                                            {0}};
static const struct model_field s_overhead[] = {
    {.name = "Overhead", .type = T_UINT, .required = true, .max = U16}, {0}};
static const struct model_field s_mtu[] = {
    {.name = "Mtu", .type = T_UINT, .required = true, .min = 576, .max = U16}, {0}};
static const struct model_field s_iov[] = {
    {.name = "IovOffloadWeight", .type = T_UINT},
    {.name = "QueuePairsRequested", .type = T_UINT},
    {.name = "InterruptModeration", .type = T_UINT},
    {0},
};
static const struct model_field five_tuple[] = {
    {.name = "Protocols", .type = T_STRING},
    {.name = "LocalAddresses", .type = T_STRING},
    {.name = "RemoteAddresses", .type = T_STRING},
    {.name = "LocalPorts", .type = T_STRING},
    {.name = "RemotePorts", .type = T_STRING},
    {.name = "Priority", .type = T_UINT, .max = U16},
    {0},
};
static const struct model_field proxy_exceptions[] = {
    {.name = "IpAddressExceptions", .type = T_STRINGS},
    {.name = "PortExceptions", .type = T_STRINGS},
    {0},
};
static const struct model_field s_wfp_proxy[] = {
    {.name = "InboundProxyPort", .type = T_STRING},
    {.name = "OutboundProxyPort", .type = T_STRING},
    {.name = "FilterTuple", .type = T_OBJECT, .of = five_tuple},
    {.name = "UserSID", .type = T_STRING},
    {.name = "InboundExceptions", .type = T_OBJECT, .of = proxy_exceptions},
    {.name = "OutboundExceptions", .type = T_OBJECT, .of = proxy_exceptions},
    {0},
};
static const struct model_field tier_acl_rule[] = {
    {.name = "Id", .type = T_STRING},
    {.name = "Protocols", .type = T_STRING},
    {.name = "TierAclRuleAction", .type = T_WORD, .of = actions, .required = true},
    {.name = "LocalAddresses", .type = T_STRING},
    {.name = "RemoteAddresses", .type = T_STRING},
    {.name = "LocalPorts", .type = T_STRING},
    {.name = "RemotePorts", .type = T_STRING},
    {.name = "Priority", .type = T_UINT, .max = U16},
    {0},
};
static const struct model_field s_tier_acl[] = {
    {.name = "Name", .type = T_STRING, .required = true},
    {.name = "Direction", .type = T_WORD, .of = directions, .required = true},
    {.name = "Order", .type = T_UINT, .max = U16},
    {.name = "TierAclRules", .type = T_OBJECTS, .of = tier_acl_rule},
    {0},
};

static const struct model_rename r_nat[] = {
    {"ExceptionList", "Exceptions", false}, {"VIP", "VirtualIP", false}, {0}};
static const struct model_rename r_port[] = {{"ExternalPortReserved", "", false}, {0}};
static const struct model_rename r_acl[] = {
    {"Protocol", "Protocols", true},
    {"LocalPort", "LocalPorts", true},
    {"RemotePort", "RemotePorts", true},
    {"Id", "", false},
    {"ServiceName", "", false},
    {"InternalPort", "", false},
    {0},
};
static const struct model_rename r_proxy[] = {
    {"ExceptionList", "Exceptions", false}, {"OutboundNat", "OutboundNAT", false}, {0}};
static const struct model_rename r_pa[] = {{"PA", "ProviderAddress", false}, {0}};

const struct model_policy model_endpoint_policies[] = {
    {"PortMapping", s_host_port, ALWAYS, 0, "NAT", r_port},
    {"ACL", s_acl, ALWAYS, 0, "ACL", r_acl},
    {"QOS", s_qos, ALWAYS, 0, "QOS", NULL},
    {"L2Driver", nothing, ALWAYS, 0, "L2Driver", NULL},
    {"OutBoundNAT", s_nat, ALWAYS, 0, "OutBoundNAT", r_nat},
    {"SDNRoute", s_sdn_route, ALWAYS, 0, "ROUTE", NULL},
    {"ProviderAddress", s_provider, ALWAYS, BITS(OVERLAY), "PA", r_pa},
    {"PortName", s_name, ALWAYS, 0, NULL, NULL},
    {"EncapOverhead", s_overhead, ALWAYS, 0, "EncapOverhead", NULL},
    {"InterfaceConstraint", s_interface, ALWAYS, 0, NULL, NULL},
    {"Encryption", nothing, ALWAYS, 0, NULL, NULL},
    {"VLAN", s_isolation, ALWAYS, 0, "VLAN", NULL},
    {"InterfaceParameters", s_mtu, ALWAYS, 0, NULL, NULL},
    {"Iov", s_iov, ALWAYS, 0, NULL, NULL},
    {"L4Proxy", s_l4_proxy, F_L4_PROXY, 0, "PROXY", r_proxy},
    {"L4WFPPROXY", s_wfp_proxy, F_L4_WFP_PROXY, 0, NULL, NULL},
    {"TierAcl", s_tier_acl, F_TIER_ACL, 0, NULL, NULL},
    {0},
};
