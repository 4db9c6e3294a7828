/* What flannel writes into a Node's annotations, for those who speak its language beside it. */
#pragma once

#include "base/json.h"

/* The annotations by which flannel's nodes reach a node's pods over VXLAN (Documentation and
 * pkg/subnet/kube): its VTEP's MAC ("00-15-5D-..", as HNS spells it, or with colons) and the
 * address behind which it is. New reference. */
json_t *flannel_announcement(unsigned vni, const char *router_mac, const char *address);
