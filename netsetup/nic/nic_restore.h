/* An adapter as it was before HNS put a vSwitch under it, or took one away. */
#pragma once

#include "netsetup/nic/nic.h"
#include "netsetup/plan/network_plan.h"

/* Told about once a second while the adapter is away: milliseconds so far, and what is missing. */
typedef void nic_progress(void *context, unsigned milliseconds, const char *waiting_for);

struct nic_restored {
    unsigned outage_ms;    /* 0: the address was never seen away */
    bool address_restored; /* winjoin put the static address back */
    unsigned addresses6_restored;
    unsigned routes_restored;
    bool dns_restored;
    char differs[192]; /* what is not as before all the same, of both families; "" = nothing */
    char address[CIDR_TEXT_MAX]; /* what it is now; another one only by DHCP */
};
/* Waits (at most 120 s) for the interface with the snapshot's MAC to hold the snapshot's address
 * and puts back lost addresses that were set by hand, of both families, the metric, routes and DNS
 * servers; then both families are compared with the snapshot. Safe to run again, e.g. after a kill
 * in between. ERROR_TIMED_OUT names what is missing; DHCP may give another address: that stays.
 * progress may be NULL. */
int nic_restore(struct host *host, const struct nic_snapshot *snapshot, nic_progress *progress,
                void *context, struct nic_restored *ret, struct error *err);

/* ---- the server stays reachable while HNS puts a vSwitch under its adapter ---- */

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

/* ---- a process that restores the adapter when winjoin dies meanwhile ---- */

#define NIC_WATCHDOG_VERB "adapter-watchdog"
#define NIC_WATCHDOG_FILE HOST_OWN_FOLDER "\\adapter.json"

/* Writes the snapshot to the file and starts the process; NULL when that failed: it is logged, and
 * the caller goes on without. */
struct host_watcher *nic_watchdog_start(struct host *host, const struct nic_snapshot *snapshot);
/* What the process does: returns once it hears that all is well. When the other one is gone, or
 * says nothing for ten minutes, it restores the adapter, for 20 s again and again, since what HNS
 * was asked for may still come. *ret_restored: it was needed. Kinds: those of host_read(),
 * ERROR_MALFORMED, and those of nic_restore(). */
int nic_watchdog_run(struct host *host, bool *ret_restored, struct error *err);
