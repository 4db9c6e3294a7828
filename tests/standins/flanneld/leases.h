/* Nodes as flannel's subnet manager sees them: annotations and pod subnets. Pure. */
#pragma once

#include "base/json.h"

#define FLANNEL_PREFIX "flannel.alpha.coreos.com/"

struct lease {
    const char *node, *subnet, *public_ip, *mac; /* borrowed from the Node */
    long long vni;                               /* 0 = none in the backend data */
    json_t *backend_data;                        /* owned, or NULL */
};
/* 0; -1 when the Node has no lease of that backend ("vxlan", "host-gw"). Free backend_data. */
int lease_of(const json_t *node, const char *backend, struct lease *ret);
