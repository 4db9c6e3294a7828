/* Keeps the server reachable while HNS puts a vSwitch under its network adapter: wait,
 * restore, or roll back. */
#pragma once

#include "netsetup/nic/nic_restore.h"
#include "netsetup/plan/network_plan.h"

/* Ensures the base network of the plan with the adapter guarded: nic_restore() once HNS has built
 * the vSwitch. Otherwise deletes the network it made, and fails as nic_restore(). ERROR_CONFLICT:
 * DHCP gave another address, which stays; the plan holds the old one. progress may be NULL. */
int nic_guard_ensure(struct host *host, const struct network_plan *plan,
                     const struct nic_snapshot *snapshot, nic_progress *progress, void *context,
                     struct nic_restored *ret, struct error *err);
/* Takes the base network away (ours only) and guards the adapter the other way round. */
int nic_guard_remove(struct host *host, const char *base_name, const struct nic_snapshot *snapshot,
                     nic_progress *progress, void *context, struct nic_restored *ret,
                     struct error *err);
