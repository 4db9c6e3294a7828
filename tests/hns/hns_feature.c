/* Which HNS version can do what (hcsshim hcn/hcnglobals.go). */
#include "tests/hns/model.h"

struct range {
    unsigned from_major, from_minor, to_major; /* to_major 0 = no end */
};

static const struct {
    const char *text;
    struct range ranges[5];
} features[FEATURES] = {
    [F_V2_API] = {"version 2 of the API needs HNS 9.2", {{9, 2, 0}}},
    [F_DSR] = {"DSR needs HNS 9.3 or 10.2", {{9, 3, 9}, {10, 2, 0}}},
    [F_HOST_PREFIX] = {"a /32 endpoint needs HNS 9.3 or 10.4", {{9, 3, 9}, {10, 4, 0}}},
    [F_VXLAN_PORT] = {"VxlanPort needs HNS 10.3", {{10, 3, 0}}},
    [F_DUAL_STACK] = {"dual stack needs HNS 11.10", {{11, 10, 0}}},
    [F_SET_POLICY] = {"SetPolicy needs HNS 13.0", {{13, 0, 0}}},
    [F_L4_PROXY] = {"L4Proxy needs HNS 9.5, 10.5, 11.11, 12.1 or 13.1",
                    {{9, 5, 9}, {10, 5, 10}, {11, 11, 11}, {12, 1, 12}, {13, 1, 0}}},
    [F_L4_WFP_PROXY] = {"L4WFPPROXY needs HNS 13.2", {{13, 2, 0}}},
    [F_TIER_ACL] = {"TierAcl needs HNS 14.0", {{14, 0, 0}}},
    [F_NETWORK_ACL] = {"NetworkACL needs HNS 15.0", {{15, 0, 0}}},
    [F_DISABLE_HOST_PORT] = {"DisableHostPort needs HNS 15.1", {{15, 1, 0}}},
    [F_MODIFY_LOAD_BALANCER] = {"HcnModifyLoadBalancer needs HNS 15.5", {{15, 5, 0}}},
};

bool model_has(const struct hns_model *m, enum model_feature feature) {
    if (feature == ALWAYS)
        return true;
    for (size_t i = 0; i < 5 && features[feature].ranges[i].from_major; i++) {
        const struct range *r = &features[feature].ranges[i];
        bool after =
            m->major > r->from_major || (m->major == r->from_major && m->minor >= r->from_minor);

        if (after && (!r->to_major || m->major <= r->to_major))
            return true;
    }
    return false;
}

const char *model_feature_text(enum model_feature feature) {
    return features[feature].text;
}
