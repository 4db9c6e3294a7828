/* The documents of version 1 (HNSCall), once, as tables (hcsshim internal/hns; names are flat). */
#include "tests/hns/model.h"

enum { PORT_MAX = 65535, PREFIX_MAX = 128 };

static const struct model_word system_types[] = {
    {"Container", 0, 0}, {"VirtualMachine", 0, 0}, {"Host", 0, 0}, {0}};

static const struct model_field mac_pool[] = {
    {.name = "StartMacAddress", .type = T_MAC, .required = true},
    {.name = "EndMacAddress", .type = T_MAC, .required = true},
    {0},
};
static const struct model_field subnet[] = {
    {.name = "AddressPrefix", .type = T_PREFIX, .required = true, .hr = HR_PREFIX},
    {.name = "GatewayAddress", .type = T_ADDRESS},
    {.name = "Policies", .type = T_ANY},
    {0},
};
static const struct model_field extension[] = {
    {.name = "Id", .type = T_GUID, .required = true},
    {.name = "Name", .type = T_STRING},
    {.name = "IsEnabled", .type = T_BOOL},
    {0},
};
const struct model_field model_v1_network_schema[] = {
    {.name = "ID", .type = T_GUID},
    {.name = "Name", .type = T_STRING, .required = true},
    {.name = "Type", .type = T_WORD, .of = model_network_types, .hr = HR_NETWORK_TYPE},
    {.name = "NetworkAdapterName", .type = T_STRING},
    {.name = "SourceMac", .type = T_MAC},
    {.name = "Policies", .type = T_ANY},
    {.name = "MacPools", .type = T_OBJECTS, .of = mac_pool},
    {.name = "Subnets", .type = T_OBJECTS, .of = subnet},
    {.name = "DNSSuffix", .type = T_STRING},
    {.name = "DNSServerList", .type = T_RANGES_TEXT},
    {.name = "DNSServerCompartment", .type = T_UINT},
    {.name = "ManagementIP", .type = T_RANGE}, /* Antrea gives it with its prefix's length */
    {.name = "Extensions", .type = T_OBJECTS, .of = extension},
    {.name = "AutomaticDNS", .type = T_BOOL},
    {.name = "Flags", .type = T_FLAGS, .of = model_network_flags},
    {0},
};
/* POST /networks/<id> */
const struct model_field model_v1_change_schema[] = {
    {.name = "ID", .type = T_GUID},
    {.name = "Name", .type = T_STRING},
    {.name = "Extensions", .type = T_OBJECTS, .of = extension, .required = true},
    {0},
};
const struct model_field model_v1_endpoint_schema[] = {
    {.name = "ID", .type = T_GUID},
    {.name = "Name", .type = T_STRING},
    {.name = "VirtualNetwork", .type = T_GUID},
    {.name = "VirtualNetworkName", .type = T_STRING},
    {.name = "Policies", .type = T_ANY},
    {.name = "MacAddress", .type = T_MAC},
    {.name = "IPAddress", .type = T_ADDRESS, .hr = HR_ADDRESS_OUTSIDE},
    {.name = "IPv6Address", .type = T_ADDRESS, .hr = HR_ADDRESS_OUTSIDE},
    {.name = "DNSSuffix", .type = T_STRING},
    {.name = "DNSServerList", .type = T_RANGES_TEXT},
    {.name = "DNSDomain", .type = T_STRING},
    {.name = "GatewayAddress", .type = T_ADDRESS},
    {.name = "GatewayAddressV6", .type = T_ADDRESS},
    {.name = "EnableInternalDNS", .type = T_BOOL},
    {.name = "DisableICC", .type = T_BOOL},
    {.name = "PrefixLength", .type = T_UINT, .max = PREFIX_MAX, .hr = HR_PREFIX},
    {.name = "IPv6PrefixLength", .type = T_UINT, .max = PREFIX_MAX, .hr = HR_PREFIX},
    {.name = "IsRemoteEndpoint", .type = T_BOOL},
    {.name = "EnableLowMetric", .type = T_BOOL},
    {.name = "Namespace", .type = T_ANY},
    {.name = "EncapOverhead", .type = T_UINT},
    {.name = "SharedContainers", .type = T_DROPPED},
    {.name = "State", .type = T_DROPPED},
    {0},
};
const struct model_field model_v1_attach_schema[] = {
    {.name = "ContainerId", .type = T_STRING},
    {.name = "SystemType", .type = T_WORD, .of = system_types, .required = true},
    {.name = "CompartmentId", .type = T_UINT},
    {.name = "VirtualNicName", .type = T_STRING},
    {0},
};
/* Of a load balancer (ELB), or of a route (ROUTE: hcsshim's AddRoute). */
static const struct model_field list_policy[] = {
    {.name = "Type", .type = T_STRING, .required = true},
    {.name = "Protocol", .type = T_UINT, .max = 255},
    {.name = "InternalPort", .type = T_UINT, .max = PORT_MAX, .hr = HR_INTERNAL_PORT},
    {.name = "ExternalPort", .type = T_UINT, .max = PORT_MAX},
    {.name = "SourceVIP", .type = T_ADDRESS},
    {.name = "VIPs", .type = T_ADDRESSES},
    {.name = "ILB", .type = T_BOOL},
    {.name = "DSR", .type = T_BOOL},
    {.name = "IsDSR", .type = T_BOOL},
    {.name = "DestinationPrefix", .type = T_LOOSE_PREFIX, .hr = HR_PREFIX},
    {.name = "NextHop", .type = T_ADDRESS},
    {.name = "NeedEncap", .type = T_BOOL},
    {0},
};
const struct model_field model_v1_policy_list_schema[] = {
    {.name = "ID", .type = T_GUID},
    {.name = "References", .type = T_STRINGS, .required = true},
    {.name = "Policies", .type = T_OBJECTS, .of = list_policy, .required = true},
    {0},
};
