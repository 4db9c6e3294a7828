/* Keeps the server reachable while HNS puts a vSwitch under its network adapter: wait,
 * restore, or roll back. */
#pragma once

#include "netsetup/hns/hcn_network.h"
#include "netsetup/nic/nic.h"
#include "netsetup/plan/network_plan.h"

/* Told about once a second while the adapter is away: milliseconds so far, and what is missing. */
typedef void nic_progress(void *context, unsigned milliseconds, const char *waiting_for);

struct nic_guard_result {
    enum hcn_outcome outcome;
    unsigned outage_ms;    /* 0: the address was never seen away */
    bool address_restored; /* winjoin put the static address back */
    unsigned addresses6_restored;
    unsigned routes_restored;
    bool dns_restored;
    char differs[192]; /* what is not as before all the same, of both families; "" = nothing */
    char address[CIDR_TEXT_MAX]; /* what it is now; another one only by DHCP */
    struct hcn_network network;
};
/* Ensures the base network of the plan with the adapter guarded: after HNS built the vSwitch, waits
 * (at most 120 s) for the interface with the snapshot's MAC to hold the snapshot's address and puts
 * back lost addresses that were set by hand, of both families, the metric, routes and DNS servers;
 * then both families are compared with the snapshot. Otherwise deletes the network it
 * made and fails with ERROR_TIMED_OUT. DHCP may give another address: that stays, and the failure
 * is ERROR_CONFLICT, because the plan holds the old one. progress may be NULL. */
int nic_guard_ensure(struct host *host, const struct network_plan *plan,
                     const struct nic_snapshot *snapshot, nic_progress *progress, void *context,
                     struct nic_guard_result *ret, struct error *err);
/* Takes the base network away (ours only) and guards the adapter the other way round. */
int nic_guard_remove(struct host *host, const char *base_name, const struct nic_snapshot *snapshot,
                     nic_progress *progress, void *context, struct nic_guard_result *ret,
                     struct error *err);
/* The wait and restore alone: safe to run again, e.g. after a kill in between. */
int nic_guard_restore(struct host *host, const struct nic_snapshot *snapshot,
                      nic_progress *progress, void *context, struct nic_guard_result *ret,
                      struct error *err);
