/* Keeps the server reachable while HNS puts a vSwitch under its network card: choose, snapshot,
 * wait, restore, or roll back. */
#ifndef NETSETUP_NIC_GUARD_H
#define NETSETUP_NIC_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/json.h"
#include "host/host.h"
#include "netsetup/hcn_network.h"
#include "netsetup/network_plan.h"

/* A card as it was before: enough to put it back. nic_snapshot_free(). */
struct nic_snapshot {
    char *alias;         /* the physical card's, "Ethernet": what NetAdapterName takes */
    char *current_alias; /* the interface that holds the address now: the same, or
                            "vEthernet (Ethernet)" when a vSwitch stands already */
    char mac[18];
    uint32_t mtu;
    bool dhcp;
    bool has_switch;             /* a vSwitch is there already: no outage is to be expected */
    char address[CIDR_TEXT_MAX]; /* first IPv4 with prefix, "10.0.0.21/24": the node's address */
    struct text_list addresses;  /* all IPv4, with prefix */
    struct text_list gateways;
    struct text_list dns_servers;
    struct host_routes routes; /* IPv4 routes of the interface that are not its own subnet's */
};
void nic_snapshot_free(struct nic_snapshot *snapshot);
/* For the journal. New reference / reads it back (ERROR_MALFORMED). */
json_t *nic_snapshot_json(const struct nic_snapshot *snapshot);
int nic_snapshot_read(const json_t *json, struct nic_snapshot *ret, struct error *err);

/* Chooses the card: by `adapter` (alias, "vEthernet (X)" is taken as X) or, NULL, the one that is
 * up, has a usable IPv4 address and the default route, and is no virtual one (vEthernet of nat,
 * WSL, Docker, loopback). `node_ip` (or NULL) must stand on it and becomes `address`. Kinds:
 * ERROR_PREFLIGHT (none, or several, which the message names; with a hint to give --adapter),
 * ERROR_HOST. */
int nic_choose(struct host *host, const char *adapter, const char *node_ip,
               struct nic_snapshot *ret, struct error *err);

/* Told about once a second while the card is away: milliseconds so far, and what is missing. */
typedef void nic_progress(void *context, unsigned milliseconds, const char *waiting_for);

struct nic_guard_result {
    enum hcn_outcome outcome;
    unsigned outage_ms;    /* 0: the address was never seen away */
    bool address_restored; /* winjoin put the static address back */
    unsigned routes_restored;
    bool dns_restored;
    struct hcn_network network;
};
/* Ensures the base network of the plan with the card guarded: after HNS built the vSwitch, waits
 * (at most 120 s) for the interface with the snapshot's MAC to hold the snapshot's address (for
 * DHCP any that is not 169.254/16), puts back a lost static address, gateway, DNS servers and
 * routes, and otherwise deletes the network it made and fails with ERROR_TIMEOUT. progress may be
 * NULL. */
int nic_guard_ensure(struct host *host, const struct network_plan *plan,
                     const struct nic_snapshot *snapshot, nic_progress *progress, void *context,
                     struct nic_guard_result *ret, struct error *err);
/* Takes the base network away (ours only) and guards the card the other way round. */
int nic_guard_remove(struct host *host, const char *base_name, const struct nic_snapshot *snapshot,
                     nic_progress *progress, void *context, struct nic_guard_result *ret,
                     struct error *err);
/* The wait and restore alone: safe to run again, e.g. after a kill in between. */
int nic_guard_restore(struct host *host, const struct nic_snapshot *snapshot,
                      nic_progress *progress, void *context, struct nic_guard_result *ret,
                      struct error *err);
/* Index of the interface that holds this address now; none: ERROR_NOT_FOUND. */
int nic_index_of(struct host *host, const char *address, uint32_t *ret, struct error *err);

#endif
