/* The inbound rules that a node needs, in one table. */
#pragma once

#include "host/host.h"
#include "netsetup/plan/network_plan.h"

enum { FIREWALL_RULES_MAX = 4 };

/* The rules of this plan ("winjoin kubelet" TCP 10250, and its mode's). Texts are static. Answers
 * how many. Pure. */
size_t firewall_rules(const struct network_plan *plan,
                      struct host_firewall_rule ret[FIREWALL_RULES_MAX]);
/* Adds the names of all rules that any plan has. Pure. */
void firewall_names(struct text_list *ret);
