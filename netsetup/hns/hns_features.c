/* Says which HNS version has which feature. The ranges are those of microsoft/hcsshim,
 * hcn/hcnglobals.go. */
#include "netsetup/hns/hns_features.h"

#include <limits.h>

#define WITHIN(major, minor)                                                                       \
    { major, minor, false } /* From major.minor to the end of that major version. */
#define SINCE(major, minor)                                                                        \
    { major, minor, true }

const struct hns_feature_info hns_features[HNS_FEATURE_COUNT] = {
    [HNS_V2_API] = {"v2Api",
                    "HCN documents, HostRoute and RemoteSubnetRoute",
                    "9.2",
                    {SINCE(9, 2)}},
    [HNS_DSR] = {"dsr",
                 "direct server return for Services",
                 "9.3-9.x, 10.2",
                 {WITHIN(9, 3), SINCE(10, 2)}},
    [HNS_SLASH32_ENDPOINTS] = {"slash32EndpointPrefixes",
                               "endpoints with a /32 prefix",
                               "9.3-9.x, 10.4",
                               {WITHIN(9, 3), SINCE(10, 4)}},
    [HNS_VXLAN_PORT] = {"vxlanPort", "VXLAN on a port other than 4789", "10.3", {SINCE(10, 3)}},
    [HNS_ACL_PROTOCOL_252] = {"aclSupportForProtocol252",
                              "ACLs for protocol 252",
                              "11.0",
                              {SINCE(11, 0)}},
    [HNS_DUAL_STACK] = {"ipv6DualStack", "IPv6 beside IPv4", "11.10", {SINCE(11, 10)}},
    [HNS_SESSION_AFFINITY] = {"sessionAffinity",
                              "ClientIP affinity of Services",
                              "12.0",
                              {SINCE(12, 0)}},
    [HNS_SET_POLICY] = {"setPolicy", "IP sets", "13.0", {SINCE(13, 0)}},
    [HNS_L4_PROXY] = {"l4Proxy",
                      "layer 4 proxy",
                      "9.5-9.x, 10.5-10.x, 11.11-11.x, 12.1-12.x, 13.1",
                      {WITHIN(9, 5), WITHIN(10, 5), WITHIN(11, 11), WITHIN(12, 1), SINCE(13, 1)}},
    [HNS_L4_WFP_PROXY] = {"l4WfpProxy", "layer 4 proxy in WFP", "13.2", {SINCE(13, 2)}},
    [HNS_TIER_ACL] = {"tierAcl", "tiered ACLs", "14.0", {SINCE(14, 0)}},
    [HNS_NETWORK_ACL] = {"networkAcl",
                         "ACLs of networks and nested IP sets",
                         "15.0",
                         {SINCE(15, 0)}},
    [HNS_DISABLE_HOST_PORT] = {"disableHostPort",
                               "networks without a host port",
                               "15.1",
                               {SINCE(15, 1)}},
    [HNS_MODIFY_LOAD_BALANCER] = {"modifyLoadBalancer",
                                  "load balancers updated in place",
                                  "15.5",
                                  {SINCE(15, 5)}},
};

bool hns_has(struct hns_version version, enum hns_feature feature) {
    const struct hns_version_range *range = hns_features[feature].ranges;
    for (size_t i = 0; i < HNS_RANGES_MAX && range[i].from_major; i++)
        if (version.major == range[i].from_major
                ? version.minor >= range[i].from_minor
                : range[i].open && version.major > range[i].from_major)
            return true;
    return false;
}

json_t *hns_features_json(struct hns_version version) {
    json_t *list = json_array();
    for (int i = 0; i < HNS_FEATURE_COUNT; i++) {
        const struct hns_feature_info *info = &hns_features[i];
        bool has = hns_has(version, (enum hns_feature)i);
        _cleanup_(freep) char *reason =
            xasprintf("HNS %u.%u; %s HNS %s", version.major, version.minor,
                      has ? "supported since" : "needs", info->since);
        json_array_append_new(list, json_pack("{s:s,s:s,s:b,s:s}", "name", info->name, "title",
                                              info->title, "available", has, "reason", reason));
    }
    return list;
}

int hns_version_get(struct host *host, struct hns_version *ret, struct error *err) {
    _cleanup_(freep) char *response = NULL;
    _cleanup_json_ json_t *json = NULL;
    if (hns_call(host, "GET", "/globals/version", "", &response, err) < 0) {
        (void)error_prefix(err, "query the version of HNS");
        if (err->kind == ERROR_UNSUPPORTED)
            /* This machine does not run Windows, so a hint about the service makes no sense. */
            return -1;
        return error_hint(
            err, "check that the service 'hns' (Host Network Service) runs: sc.exe query hns");
    }
    if (json_read(response, strlen(response), "HNS version", &json, err) < 0)
        return -1;
    if (!json_bool_at(json, "Success", false))
        return error_set(err, ERROR_HOST, "query the version of HNS: %s",
                         json_text_or(json, "Error", "no reason"));
    long long major = json_number_at(json, "Output.Major", -1);
    long long minor = json_number_at(json, "Output.Minor", -1);
    if (major < 0 || minor < 0 || major > INT_MAX || minor > INT_MAX)
        return error_set(err, ERROR_MALFORMED, "decode HNS version: no Output.Major and Minor");
    *ret = (struct hns_version){(unsigned)major, (unsigned)minor};
    return 0;
}
