/* The node's network adapter: which one it is, and how it was before winjoin touched it. */
#pragma once

#include "base/cidr.h"
#include "host/host.h"
#include "netsetup/plan/network_plan.h"

/* An adapter as it was before: enough to put it back. nic_snapshot_free(). */
struct nic_snapshot {
    char *alias; /* the physical adapter's, "Ethernet": what NetAdapterName takes */
    /* the interface that holds the address now: the same, or "vEthernet (Ethernet)" when there
     * is a vSwitch already */
    char *current_alias;
    char mac[18];
    uint32_t mtu;
    bool dhcp;
    bool has_switch;              /* a vSwitch is there already: no outage is to be expected */
    bool is_team, is_tunnel;      /* by an LBFO team, or without a MAC: see preflight; not kept */
    char address[CIDR_TEXT_MAX];  /* the node's IPv4 address with prefix, "10.0.0.21/24" */
    char address6[CIDR_TEXT_MAX]; /* its IPv6 address, "fd00::21/64"; "" = none */
    struct text_list addresses;   /* all IPv4, with prefix, without 169.254/16 */
    struct text_list addresses6;  /* IPv6 that no router advertises: set by hand */
    struct text_list gateways;    /* IPv4 */
    struct text_list dns_servers; /* of both families, in their order */
    uint32_t metric, metric6;     /* of the interface; 0 = Windows computes it */
    struct host_routes routes; /* of both families, without those that Windows or a router makes */
};
/* Copies what is needed to put the interface `current` of the adapter `physical` back. */
void nic_snapshot_take(const struct host_adapter *current, const struct host_adapter *physical,
                       const struct host_routes *routes, const char *node_ip,
                       struct nic_snapshot *ret);
void nic_snapshot_free(struct nic_snapshot *snapshot);
/* For the journal. New reference / reads it back (ERROR_MALFORMED). */
json_t *nic_snapshot_json(const struct nic_snapshot *snapshot);
int nic_snapshot_read(const json_t *json, struct nic_snapshot *ret, struct error *err);

/* Chooses the adapter: by `adapter` (alias; "vEthernet (X)" is taken as X) or, NULL, the one that
 * is up, has a usable IPv4 address and the default route, and is not a virtual one (vEthernet of
 * nat, WSL, Docker). `node_ip` (or NULL) must stand on it and becomes `address`; with node_ip and
 * no adapter, the adapter that holds it. A vEthernet with a MAC of its own (Hyper-V's converged
 * networking) is taken when `adapter` names one without an address, which its switch is on. Kinds:
 * ERROR_PREFLIGHT (none, or several, which the message names), ERROR_HOST. */
int nic_choose(struct host *host, const char *adapter, const char *node_ip,
               struct nic_snapshot *ret, struct error *err);

/* The interface that is up and holds this address (with or without "/prefix"); NULL: none does,
 * ERROR_ABSENT. */
const struct host_adapter *nic_with(const struct host_adapters *adapters, const char *address,
                                    struct error *err);
/* Index of that interface now. */
int nic_index_of(struct host *host, const char *address, uint32_t *ret, struct error *err);
/* "10.0.0.21/24" holds "10.0.0.21"; either may have a prefix. */
bool nic_same_address(const char *a, const char *b);
/* Does the adapter have it, with whatever length? */
bool nic_holds(const struct host_adapter *adapter, const char *address);
/* An IPv4 address that others can reach: not 169.254/16, not loopback. */
bool nic_usable_address(const char *address);
/* Is it that of a virtual switch, of HNS or of an agent? */
bool nic_is_virtual_alias(const char *alias);
/* alias is that of the virtual switch which HNS makes on the adapter `physical`. */
bool nic_is_switch_of(const char *alias, const char *physical);

/* ---- an adapter as it was before HNS put a vSwitch under it, or took one away ---- */

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
