/* Taking an adapter's snapshot (inside netsetup/). */
#pragma once

#include "netsetup/nic.h"

bool nic_is_virtual_alias(const char *alias);
/* alias is that of the virtual switch which HNS makes on the adapter `physical`. */
bool nic_is_switch_of(const char *alias, const char *physical);
/* Copies what is needed to put the interface `current` of the adapter `physical` back. */
void nic_snapshot_take(const struct host_adapter *current, const struct host_adapter *physical,
                       const struct host_routes *routes, const char *node_ip,
                       struct nic_snapshot *ret);
