/* The features of this Host Networking Service (HNS). They depend on its version, not on the
 * Windows build. */
#pragma once

#include "host/host.h"
#include "netsetup/plan/network_plan.h"

enum hns_feature {
    HNS_V2_API, /* HNS version 2, with the policies RemoteSubnetRoute and HostRoute. */
    HNS_DSR,
    HNS_SLASH32_ENDPOINTS,
    HNS_VXLAN_PORT,
    HNS_ACL_PROTOCOL_252,
    HNS_DUAL_STACK,
    HNS_SESSION_AFFINITY,
    HNS_SET_POLICY,
    HNS_L4_PROXY,
    HNS_L4_WFP_PROXY,
    HNS_TIER_ACL,
    HNS_NETWORK_ACL,
    HNS_DISABLE_HOST_PORT,
    HNS_MODIFY_LOAD_BALANCER,
    HNS_FEATURE_COUNT
};
/* A range of versions: from this to the end of its major version; with `open`, all newer ones. */
struct hns_version_range {
    unsigned from_major, from_minor;
    bool open;
};
enum { HNS_RANGES_MAX = 5 };
struct hns_feature_info {
    const char *name;  /* Name in documents, in lower camel case, e.g. "dsr". */
    const char *title; /* The feature in one line for people. */
    const char *since; /* The versions that have it, in words: "9.3-9.x, 10.2". */
    /* The versions as numbers; a row with from_major 0 ends them. */
    struct hns_version_range ranges[HNS_RANGES_MAX];
};
extern const struct hns_feature_info hns_features[HNS_FEATURE_COUNT];

/* Reads the version of HNS (version 1 call GET /globals/version). Fails with ERROR_HOST (HNS does
 * not answer; the hint says how to start it), ERROR_MALFORMED, or ERROR_UNSUPPORTED (this Windows
 * has no HNSCall). */
int hns_version_get(struct host *host, struct hns_version *ret, struct error *err);
/* Does this HNS version have the feature? The unknown version 0.0 has no feature. */
bool hns_has(struct hns_version version, enum hns_feature feature);
/* Returns the features as winjoin capabilities prints them: [{name,title,available,reason}]. New
 * reference. */
json_t *hns_features_json(struct hns_version version);
