/* The node's network adapter: which one it is, and how it was before winjoin touched it. */
#pragma once

#include "base/cidr.h"
#include "host/host.h"

/* An adapter as it was before: enough to put it back. nic_snapshot_free(). */
struct nic_snapshot {
    char *alias;         /* the physical adapter's, "Ethernet": what NetAdapterName takes */
    char *current_alias; /* the interface that holds the address now: the same, or
                            "vEthernet (Ethernet)" when there is a vSwitch already */
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
