/* An adapter as it was before HNS put a vSwitch under it, or took one away. */
#pragma once

#include "netsetup/nic/nic.h"

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
