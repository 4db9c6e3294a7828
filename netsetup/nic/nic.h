/* Finds the node's network adapter, and keeps its state from before a change. */
#pragma once

#include "base/cidr.h"
#include "host/host.h"
#include "netsetup/plan/network_plan.h"

/* The state of an adapter, complete enough to restore it. Free with nic_snapshot_free(). */
struct nic_snapshot {
    char *alias; /* The physical adapter, e.g. "Ethernet", for NetAdapterName. */
    /* The interface that has the address now: the adapter, or "vEthernet (Ethernet)" when a vSwitch
     * exists already. */
    char *current_alias;
    char mac[18];
    uint32_t mtu;
    bool dhcp;
    bool has_switch;              /* A vSwitch exists already, so no outage is expected. */
    bool is_team, is_tunnel;      /* An LBFO team; no MAC. For preflight only, not stored. */
    char address[CIDR_TEXT_MAX];  /* The node's IPv4 address with prefix, "10.0.0.21/24". */
    char address6[CIDR_TEXT_MAX]; /* The node's IPv6 address, "fd00::21/64", or "". */
    struct text_list addresses;   /* All IPv4 addresses with prefix, without 169.254/16. */
    struct text_list addresses6;  /* IPv6 addresses set by hand, not advertised by a router. */
    struct text_list gateways;    /* IPv4 gateways of the interface. */
    struct text_list dns_servers; /* DNS servers of both families, in order. */
    uint32_t metric, metric6;     /* Interface metrics; 0 means that Windows computes them. */
    /* Routes of both families, without those that Windows or a router makes. */
    struct host_routes routes;
};
/* Records what is needed to restore the interface `current` of the adapter `physical`. */
void nic_snapshot_take(const struct host_adapter *current, const struct host_adapter *physical,
                       const struct host_routes *routes, const char *node_ip,
                       struct nic_snapshot *ret);
void nic_snapshot_free(struct nic_snapshot *snapshot);
/* Converts a snapshot to JSON for the journal (new reference) and back (ERROR_MALFORMED). */
json_t *nic_snapshot_json(const struct nic_snapshot *snapshot);
int nic_snapshot_read(const json_t *json, struct nic_snapshot *ret, struct error *err);

/* Chooses the node's adapter. `adapter` is its alias ("vEthernet (X)" means X). With NULL it is the
 * one that is up, has a usable IPv4 address and the default route, and is not virtual (vEthernet of
 * nat, WSL, Docker). The adapter must have the address `node_ip` (or NULL), which becomes
 * `address`; with node_ip only, it is the adapter that has this address. A vEthernet with a MAC of
 * its own (Hyper-V's converged networking) is chosen when `adapter` names the adapter without an
 * address under its switch. Fails with ERROR_PREFLIGHT (none, or several, which the message names)
 * or ERROR_HOST. */
int nic_choose(struct host *host, const char *adapter, const char *node_ip,
               struct nic_snapshot *ret, struct error *err);

/* Returns the interface that is up and has this address (with or without "/prefix"). NULL with
 * ERROR_ABSENT when there is none. */
const struct host_adapter *nic_with(const struct host_adapters *adapters, const char *address,
                                    struct error *err);
/* Gets the present index of the interface that has this address. */
int nic_index_of(struct host *host, const char *address, uint32_t *ret, struct error *err);
/* Are these the same address? Each may have a prefix: "10.0.0.21/24" is "10.0.0.21". */
bool nic_same_address(const char *a, const char *b);
/* Does the adapter have this address, with any prefix length? */
bool nic_holds(const struct host_adapter *adapter, const char *address);
/* Is this an IPv4 address that others can reach: not in 169.254/16, not loopback? */
bool nic_usable_address(const char *address);
/* Is this the interface of a virtual switch, made by HNS or by an agent? */
bool nic_is_virtual_alias(const char *alias);
/* Is this the interface of the virtual switch that HNS makes on the adapter `physical`? */
bool nic_is_switch_of(const char *alias, const char *physical);

/* ---- restoring an adapter after HNS has made or removed a vSwitch on it ---- */

/* Called about once a second while the adapter is not restored, with the milliseconds so far and
 * with what is missing. */
typedef void nic_progress(void *context, unsigned milliseconds, const char *waiting_for);

struct nic_restored {
    /* How long the address was missing; 0 means that it was never seen missing. */
    unsigned outage_ms;
    bool address_restored; /* winjoin has set the static address again. */
    unsigned addresses6_restored;
    unsigned routes_restored;
    bool dns_restored;
    /* What still differs from before, of both families; "" when nothing does. */
    char differs[192];
    char address[CIDR_TEXT_MAX]; /* The address afterwards; only DHCP can change it. */
};
/* Waits (at most 120 s) until the interface with the snapshot's MAC has the snapshot's address.
 * Sets lost addresses that were set by hand (both families), metric, routes and DNS servers again,
 * and compares both families with the snapshot. Can be repeated safely, e.g. after a kill.
 * ERROR_TIMED_OUT names what is missing. Another address from DHCP stays. progress may be NULL. */
int nic_restore(struct host *host, const struct nic_snapshot *snapshot, nic_progress *progress,
                void *context, struct nic_restored *ret, struct error *err);

/* ---- keeping the server reachable while HNS makes a vSwitch on its adapter ---- */

/* Ensures the base network of the plan, and restores the adapter by nic_restore() once HNS has made
 * the vSwitch. When that fails, deletes the network that it made and fails as nic_restore(). Fails
 * with ERROR_CONFLICT when DHCP gave another address than the plan has; that address stays.
 * progress may be NULL. */
int nic_guard_ensure(struct host *host, const struct network_plan *plan,
                     const struct nic_snapshot *snapshot, nic_progress *progress, void *context,
                     struct nic_restored *ret, struct error *err);
/* Removes the base network, if it is winjoin's, and restores the adapter afterwards. */
int nic_guard_remove(struct host *host, const char *base_name, const struct nic_snapshot *snapshot,
                     nic_progress *progress, void *context, struct nic_restored *ret,
                     struct error *err);

/* ---- a process that restores the adapter when winjoin dies during these steps ---- */

#define NIC_WATCHDOG_VERB "adapter-watchdog"
#define NIC_WATCHDOG_FILE HOST_OWN_FOLDER "\\adapter.json"

/* Writes the snapshot to NIC_WATCHDOG_FILE and starts the watchdog process. NULL when that failed,
 * which is logged; the caller continues without it. */
struct host_watcher *nic_watchdog_start(struct host *host, const struct nic_snapshot *snapshot);
/* The main function of the watchdog process. Returns when winjoin reports that all is well. When
 * winjoin is gone or reports nothing for ten minutes, it restores the adapter, repeatedly for 20 s,
 * since a request to HNS may still take effect. *ret_restored is true when a restore was needed.
 * Fails as host_read() and nic_restore(), or with ERROR_MALFORMED. */
int nic_watchdog_run(struct host *host, bool *ret_restored, struct error *err);
