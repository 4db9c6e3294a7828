/* Prints the routes to Pods that the network between the nodes needs. */
#include "netsetup/routes/fabric_routes.h"

#include "netsetup/routes/routes.h"

enum { ROUTES_MAX = PEERS_MAX * 2, NAME_MAX_LEN = 253, PLACE_MAX = 90 };

/* ---- commands of the clouds ---- */

/* The commands that add a route in each cloud. A name in braces is replaced by the route's value; a
 * name in capitals without a known value stays for the reader to replace. */
static const struct fabric {
    const char *name;
    const char *provider; /* How the providerID of the cloud's Nodes begins. */
    bool by_instance;
    const char *command;
} fabrics[] = {
    {"text", NULL, false, "{prefix} via {address} (node {node})"},
    {"az", "azure:", false,
     "az network route-table route create --resource-group {RESOURCE_GROUP} --route-table-name "
     "{ROUTE_TABLE} --name {name} --address-prefix {prefix} --next-hop-type VirtualAppliance "
     "--next-hop-ip-address {address}"},
    {"aws", "aws:", true,
     "aws ec2 create-route --route-table-id {ROUTE_TABLE_ID} --destination-{ipv6}cidr-block "
     "{prefix} --instance-id {INSTANCE_ID}"},
    {"gcloud", "gce:", false,
     "gcloud compute routes create {name} --network {NETWORK} --destination-range {prefix} "
     "--next-hop-address {address}"}};

/* Adds one line with the fabric's command for that route. */
static void add_command(const struct fabric *fabric, const json_t *route,
                        const struct fabric_place *place, struct text *out) {
    const char *prefix = json_text_at(route, "podCIDR");
    _cleanup_(freep) char *name = text_replace(xasprintf("pods-%s", prefix), ".:/", '-');
    const struct text_value known[] = {{"node", json_text_at(route, "node")},
                                       {"prefix", prefix},
                                       {"address", json_text_at(route, "nodeAddress")},
                                       {"name", name},
                                       {"ipv6", strchr(prefix, ':') ? "ipv6-" : ""},
                                       {"RESOURCE_GROUP", place->resource_group},
                                       {"ROUTE_TABLE", place->route_table},
                                       {"ROUTE_TABLE_ID", place->route_table},
                                       {"NETWORK", place->network},
                                       {"INSTANCE_ID", json_text_at(route, "instance")},
                                       {NULL, NULL}};
    _cleanup_(freep) char *line = text_fill(fabric->command, '{', '}', known);

    text_addf(out, "%s\n", line);
}

char *fabric_routes_text(const json_t *routes, const char *format, const struct fabric_place *place,
                         size_t most) {
    const struct fabric *fabric = NULL;
    struct text out = {0};

    for (size_t i = 0; i < ARRAY_SIZE(fabrics); i++)
        if (text_equal(fabrics[i].name, format))
            fabric = &fabrics[i];

    json_each(routes, i, route) {
        if (!fabric || (most && i == most))
            break;
        add_command(fabric, route, place, &out);
    }
    return text_take(&out);
}

void fabric_formats(const json_t *routes, struct text_list *ret) {
    bool known = false;

    json_each(routes, i, route)
        known |= json_text_at(route, "provider") != NULL;
    for (size_t k = 0; k < ARRAY_SIZE(fabrics); k++) {
        bool wanted = !known || !fabrics[k].provider;

        json_each(routes, i, route)
            wanted |= text_equal(json_text_at(route, "provider"), fabrics[k].name);
        if (wanted)
            text_list_add(ret, fabrics[k].name);
    }
}

/* ---- names that are safe in a shell ---- */

static bool is_made_of(const char *text, const char *letters, size_t max) {
    size_t len = text ? strlen(text) : 0;

    return len && len <= max && strspn(text, letters) == len;
}

#define DIGITS "0123456789"
#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

int fabric_place_check(const struct fabric_place *place, struct error *err) {
    const struct {
        const char *flag, *name;
    } words[] = {{"resource-group", place->resource_group},
                 {"route-table", place->route_table},
                 {"network", place->network}};

    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (words[i].name && (!is_made_of(words[i].name, LOWER UPPER DIGITS "._-", PLACE_MAX) ||
                              *words[i].name == '-'))
            return error_set(err, ERROR_USAGE,
                             "--%s \"%.60s\": not a name of letters, digits, '.', '_' and '-'",
                             words[i].flag, words[i].name);
    return 0;
}

/* ---- routes from Node objects ---- */

/* Adds a route; returns false unless prefix and address are valid and of the same family. */
static bool add_route(const char *node, const char *provider_id, const char *prefix,
                      const char *address, json_t *list) {
    struct cidr cidr = {0};
    struct ip ip = {0};
    json_t *route;

    if (cidr_parse(prefix, &cidr, NULL) < 0 || ip_parse(address, &ip, NULL) < 0 ||
        cidr.base.family != ip.family)
        return false;
    route = json_pack("{s:s, s:s, s:s}", "node", node, "podCIDR", CIDR_TEXT(&cidr), "nodeAddress",
                      IP_TEXT(&ip));
    /* The id of a machine in AWS is the last part of aws:///eu-west-1a/i-0123456789abcdef0. */
    for (size_t i = 0; provider_id && i < ARRAY_SIZE(fabrics); i++) {
        const char *last = strrchr(provider_id, '/');

        if (!fabrics[i].provider || !text_starts_with(provider_id, fabrics[i].provider))
            continue;
        json_object_set_new(route, "provider", json_string(fabrics[i].name));
        if (fabrics[i].by_instance && last && text_starts_with(last, "/i-") &&
            is_made_of(last + 3, DIGITS "abcdef", 17))
            json_object_set_new(route, "instance", json_string(last + 1));
    }
    json_array_append_new(list, route);
    return true;
}

static void add_peer(const struct network_peer *peer, const char *provider_id, json_t *list,
                     struct text_list *left_out) {
    _cleanup_(text_free) struct text node = {0};
    const char *why = NULL;

    if (!is_made_of(peer->node, LOWER UPPER DIGITS ".-", NAME_MAX_LEN))
        why = "has a name that no node can have";
    else if (!peer->pod_cidr)
        why = "has no podCIDR";
    else if (!peer->node_address)
        why = "has no InternalIP";
    else if (!add_route(peer->node, provider_id, peer->pod_cidr, peer->node_address, list) ||
             (peer->pod_cidr6 && peer->node_address6 &&
              !add_route(peer->node, provider_id, peer->pod_cidr6, peer->node_address6, list)))
        why = "has a podCIDR or an InternalIP that is not valid";
    if (!why)
        return;
    text_add_escaped(&node, peer->node ? peer->node : "",
                     peer->node ? strnlen(peer->node, NAME_MAX_LEN) : 0);
    text_list_add_owned(left_out, xasprintf("node %s %s", text_str(&node), why));
}

json_t *fabric_routes_of_nodes(const json_t *nodes, const struct network_peer *own,
                               struct text_list *ret_left_out) {
    json_t *list = json_array();
    bool has_own = !own;

    json_each(json_object_get(nodes, "items"), i, node) {
        struct network_peer peer;
        bool is_own;

        network_peer_read(node, &peer);
        is_own = own && text_equal(peer.node, own->node);
        if (json_array_size(list) < ROUTES_MAX)
            add_peer(is_own ? own : &peer, json_text_at(node, "spec.providerID"), list,
                     ret_left_out);
        has_own |= is_own;
    }
    if (!has_own)
        add_peer(own, NULL, list, ret_left_out);
    return list;
}
