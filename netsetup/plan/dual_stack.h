/* Whether pods of this node get an IPv6 address beside their IPv4 one. */
#pragma once

#include "netsetup/plan/network_plan.h"

enum { DUAL_STACK_REASON_MAX = 256 };

/* By input->dual_stack: "on" is ERROR_UNSUPPORTED with the reason where it cannot be, "auto" (NULL)
 * is on where it can be. `reason`: "", or a warning for a cluster that has IPv6 prefixes which this
 * node does not use. The plan's mode and plugins stand; what of the input is not known (HNS,
 * addresses, prefixes) is no reason against it. Any other word: ERROR_USAGE. Pure.
 * Sources: Kubernetes, "IPv4/IPv6 dual-stack" and "Windows networking" (l2bridge alone); hcsshim,
 * IPv6DualStackSupported (HNS 11.10); win-bridge takes the first address of its IPAM alone
 * (containernetworking/plugins, win-bridge_windows.go), sdnbridge one of each family
 * (microsoft/windows-container-networking, enableDualStack). */
int dual_stack_choose(const struct network_input *input, const struct network_plan *plan, bool *ret,
                      char reason[DUAL_STACK_REASON_MAX], struct error *err);
/* The first text of the family (4 or 6) among addresses or prefixes; NULL: none. Pure. */
const char *text_of_family(const struct text_list *list, int family);
