/* The routes to Pods that the network between the nodes needs where the nodes have none (--routes
 * print). They are read from Node objects and printed as text or as commands of cloud CLIs. Each
 * command is one line that works in Windows PowerShell 5.1, in cmd and in a Linux shell. From the
 * cluster it holds only addresses, prefixes and identifiers that were parsed and formatted again.
 * No function here sends a request.
 *
 * Sources: "az network route-table route create" (a route's name, next hop VirtualAppliance), "aws
 * ec2 create-route" (a target is an instance or an interface, not an address), "gcloud compute
 * routes create" (next-hop-address: IPv4 or IPv6 address of an instance; names are [a-z0-9-]); Node
 * .spec.providerID as the cloud providers write it. */
#pragma once

#include "base/json.h"

/* Says where routes are created. A NULL member becomes a word in capitals to replace. */
struct fabric_place {
    const char *resource_group; /* Resource group of the route table, for az. */
    const char *route_table;    /* Route table: its name for az, its id for aws. */
    const char *network;        /* VPC network, for gcloud. */
};
/* Fails with ERROR_USAGE for a name with characters that are special in a shell. */
int fabric_place_check(const struct fabric_place *place, struct error *err);

/* Makes one route for each node and family: [{node, podCIDR, nodeAddress, provider?, instance?}];
 * provider is the name of the fabric ("az"), instance the id in AWS. `own` (or NULL) replaces the
 * Node of its name in `nodes` (a NodeList). Nodes without the needed values, or with invalid ones,
 * are listed in ret_left_out ("node x has no podCIDR"). New reference. */
struct network_peer; /* The struct is defined in netsetup/routes/routes.h. */
json_t *fabric_routes_of_nodes(const json_t *nodes, const struct network_peer *own,
                               struct text_list *ret_left_out);

/* Returns the routes as text, one line each. `format` is "text" or the name of a fabric. The text
 * has at most `most` lines (0 means all); it is "" when there are no routes. free() it. */
char *fabric_routes_text(const json_t *routes, const char *format, const struct fabric_place *place,
                         size_t most);
/* Adds the formats that fit these routes: text, and the cloud that the Nodes name; all formats when
 * they name none. */
void fabric_formats(const json_t *routes, struct text_list *ret);
