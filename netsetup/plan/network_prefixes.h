/* The prefixes behind a network plan: read, checked against each other, turned into addresses. */
#pragma once

#include "netsetup/plan/network_plan.h"

enum { PREFIXES_MAX = 16 };

/* IPv4; with dual stack the lists hold IPv6 prefixes, too. */
struct network_prefixes {
    bool has_pod, has_management;
    struct cidr pod;        /* this node's */
    struct cidr management; /* ip & mask */
    struct ip management_address;
    bool has_pod6, has_management6;
    struct cidr pod6, management6;
    struct ip management_address6;
    struct cidr cluster[PREFIXES_MAX], service[PREFIXES_MAX], exclude[PREFIXES_MAX];
    size_t cluster_count, service_count, exclude_count;
    bool pods_on_node_network; /* pods may have addresses of the node's own subnet */
};

/* Reads the input's prefixes; IPv6 ones beside IPv4 are left out where `dual` is false. Kinds:
 * ERROR_MALFORMED (with the field's name), ERROR_USAGE (too many),
 * ERROR_UNSUPPORTED (IPv6 alone). */
int network_prefixes_read(const struct network_input *input, bool dual,
                          struct network_prefixes *ret, struct error *err);
/* Pod, service and management prefixes must not overlap, nor hold addresses that no pod or Service
 * can have (0.0.0.0/0, loopback, multicast, ...); ERROR_USAGE names the two. */
int network_prefixes_check(const struct network_prefixes *prefixes, struct error *err);
/* true when the node's pod prefix lies in none of the cluster's. */
bool network_prefixes_outside(const struct network_prefixes *prefixes);
/* Fills the plan's addresses, exceptions and the base network's /30. */
int network_prefixes_apply(const struct network_prefixes *prefixes, struct network_plan *plan,
                           struct error *err);
