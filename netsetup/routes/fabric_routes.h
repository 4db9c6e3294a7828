/* The routes to nodes' pods that the network between the nodes needs where the nodes have none
 * (--routes print): read from Node objects, written as text and as commands of the clouds'
 * programs. Each command is one line that works in Windows PowerShell 5.1, in cmd and in a Linux
 * shell, for nothing from the cluster gets into one but addresses, prefixes and identifiers that
 * were read and written again. Pure.
 *
 * Sources: "az network route-table route create" (a route's name, next hop VirtualAppliance), "aws
 * ec2 create-route" (a target is an instance or an interface, not an address), "gcloud compute
 * routes create" (next-hop-address: IPv4 or IPv6 address of an instance; names are [a-z0-9-]);
 * Node .spec.providerID as the cloud providers write it. */
#pragma once

#include "base/json.h"

/* Where routes are created; NULL: the command has a word in capitals in its place. */
struct fabric_place {
    const char *resource_group; /* az */
    const char *route_table;    /* az: its name, aws: its id */
    const char *network;        /* gcloud */
};
/* ERROR_USAGE for a name that a shell could take for anything else. */
int fabric_place_check(const struct fabric_place *place, struct error *err);

/* One for each node and family: [{node, podCIDR, nodeAddress, provider?, instance?}]; provider is
 * the fabric's name ("az"), instance AWS' id. `own` (or NULL) counts for the node of its name in
 * place of what `nodes` (a NodeList) says. Nodes that do not say how their pods are reached, or
 * something else than a name, a prefix and an address, are named in ret_left_out ("node x has no
 * podCIDR"). New reference. */
struct network_peer; /* netsetup/routes/routes.h */
json_t *fabric_routes_of_nodes(const json_t *nodes, const struct network_peer *own,
                               struct text_list *ret_left_out);

/* Text, a line each, as `format` says: "text" or a fabric's name; "" where there is no route. Not
 * more than `most` lines (0: all). The caller frees. */
char *fabric_routes_text(const json_t *routes, const char *format, const struct fabric_place *place,
                         size_t most);
/* The names of those formats that these routes are for: text, and the cloud that the nodes say they
 * are in, else all. Static, NULL-ended; a list of the caller's. */
void fabric_formats(const json_t *routes, struct text_list *ret);
