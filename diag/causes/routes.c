/* Causes among the routes to other nodes' pods, which flannel's annotations of those nodes ask for.
 */
#include <string.h>

#include "base/memory.h"
#include "base/vxlan.h"
#include "diag/causes/rows.h"
#include "diag/evidence.h"
#include "diag/causes/routes.h"

/* ---- other nodes: overlay ---- */

static const char *annotation(const json_t *node, const char *key) {
    json_t *annotations = json_object_get(json_object_get(node, "metadata"), "annotations");

    return json_string_value(json_object_get(annotations, key));
}

static bool flannel_published(const json_t *node) {
    return annotation(node, "flannel.alpha.coreos.com/backend-data") ||
           annotation(node, "flannel.alpha.coreos.com/backend-type");
}

/* Has pods' network like this node. Where flannel publishes its data, a node without it (a control
 * plane) has none, whatever its podCIDR says. */
static bool is_pods_peer(const struct scene *scene, const json_t *node) {
    json_t *other;
    size_t i;

    if (!is_peer(scene, node) || !json_text_at(node, "spec.podCIDR"))
        return false;
    json_array_foreach(json_object_get(scene->evidence, "nodes"), i, other) {
        if (flannel_published(other))
            return flannel_published(node);
    }
    return true;
}

/* The RemoteSubnetRoute towards a prefix. */
static json_t *remote_route(const struct scene *scene, const char *prefix) {
    json_t *policy;
    size_t i;

    json_array_foreach(json_object_get(network_of(scene), "Policies"), i, policy) {
        json_t *settings = json_object_get(policy, "Settings");

        if (text_equal(json_text_at(policy, "Type"), "RemoteSubnetRoute") &&
            text_equal(json_text_at(settings, "DestinationPrefix"), prefix))
            return settings;
    }
    return NULL;
}

static long long network_vni(const struct scene *scene) {
    const json_t *network = network_of(scene);

    return network ? json_number_at(network, "Ipams.0.Subnets.0.Policies.0.Settings.IsolationId", 0)
                   : 0;
}

static json_t *flannel_data(const json_t *node) {
    const char *text = annotation(node, "flannel.alpha.coreos.com/backend-data");
    json_t *data = NULL;

    if (text)
        (void)json_read(text, strlen(text), "backend-data", &data, NULL); /* NULL: not known */
    return data;
}

enum level look_ovl_vni(const struct scene *scene, struct finding *finding) {
    long long own = network_vni(scene);
    json_t *node, *policy;
    size_t i;

    if (!is_overlay(scene) || !own || dns_pod_answers(scene))
        return NO;
    if (own < VXLAN_WINDOWS_VNI_MIN)
        finding_note(finding, "the network's VNI is %lld; Windows takes 4096 and above", own);
    json_array_foreach(json_object_get(scene->evidence, "nodes"), i, node) {
        _cleanup_json_ json_t *data = flannel_data(node);
        long long peer = data ? json_number_at(data, "VNI", 0) : 0;

        if (is_peer(scene, node) && peer && peer != own)
            finding_note(finding, "node %s uses VNI %lld, this node's network %lld",
                         json_text_at(node, "metadata.name"), peer, own);
    }
    json_array_foreach(json_object_get(network_of(scene), "Policies"), i, policy) {
        long long vni = json_number_at(policy, "Settings.IsolationId", own);

        if (text_equal(json_text_at(policy, "Type"), "RemoteSubnetRoute") && vni != own)
            finding_note(finding, "the route to %s carries VNI %lld, the network %lld",
                         json_text_at(policy, "Settings.DestinationPrefix"), vni, own);
    }
    return finding->evidence.count ? CONFIRMED : NO;
}

static bool mac_equal(const char *a, const char *b) {
    for (; *a && *b; a++, b++) {
        char x = *a == '-' ? ':' : *a, y = *b == '-' ? ':' : *b;

        if ((x | 0x20) != (y | 0x20))
            return false;
    }
    return *a == *b;
}

/* Where other nodes send what is for the node's pods. */
static const char *way_address(const json_t *node) {
    const char *public_ip = annotation(node, "flannel.alpha.coreos.com/public-ip");

    return public_ip ? public_ip : node_address(node);
}

static void peer_check(const struct scene *scene, const json_t *node, struct finding *finding) {
    const char *name = json_text_at(node, "metadata.name");
    const char *prefix = json_text_at(node, "spec.podCIDR");
    const char *ip = way_address(node);
    _cleanup_json_ json_t *data = flannel_data(node);
    const char *mac = data ? json_text_at(data, "VtepMAC") : NULL;
    json_t *route = prefix ? remote_route(scene, prefix) : NULL;
    const char *there = json_text_at(route, "ProviderAddress");
    const char *there_mac = json_text_at(route, "DistributedRouterMacAddress");

    if (!route)
        finding_note(finding, "no RemoteSubnetRoute for %s (node %s)", prefix, name);
    else if (ip && there && !text_equal(ip, there))
        finding_note(finding, "the route to %s goes to %s, node %s is at %s", prefix, there, name,
                     ip);
    else if (mac && there_mac && !mac_equal(mac, there_mac))
        finding_note(finding, "the route to %s has router MAC %s, node %s has %s", prefix,
                     there_mac, name, mac);
}

/* The agent that writes the routes to other nodes may have ended; how many notes that made. */
static size_t agent_check(const struct scene *scene, struct finding *finding) {
    const char *agent = json_text_at(scene->evidence, "services.flanneld");

    if (!agent || text_equal(agent, "running") || text_equal(agent, "absent"))
        return 0;
    finding_note(finding, "service flanneld is %s: see its log, then sc start flanneld", agent);
    return 1;
}

typedef void check_route(const struct scene *scene, const json_t *node, struct finding *finding);

/* true when a way to one of the nodes is wrong, or none. */
static bool lacks_way(const struct scene *scene, check_route *check, struct finding *finding) {
    size_t agent_notes = agent_check(scene, finding), i;
    json_t *node;

    json_array_foreach(json_object_get(scene->evidence, "nodes"), i, node) {
        if (is_pods_peer(scene, node))
            check(scene, node, finding);
    }
    return finding->evidence.count > agent_notes;
}

enum level look_ovl_peer(const struct scene *scene, struct finding *finding) {
    const json_t *network = network_of(scene);

    if (!is_overlay(scene) || !network || dns_pod_answers(scene))
        return NO;
    if (lacks_way(scene, peer_check, finding))
        return CONFIRMED;
    if (json_object_get(scene->evidence, "nodes") || policy_of(network, "RemoteSubnetRoute"))
        return NO;
    finding_note(finding, "the network has no RemoteSubnetRoute at all");
    return LIKELY;
}

/* ---- other nodes: routes ---- */

static bool route_stands(const struct scene *scene, const char *prefix, const char *next_hop) {
    json_t *route;
    size_t i;

    json_array_foreach(json_object_get(scene->evidence, "routes"), i, route) {
        if (text_equal(json_text_at(route, "destination"), prefix) &&
            (!next_hop || text_equal(json_text_at(route, "nextHop"), next_hop)))
            return true;
    }
    return false;
}

static void route_check(const struct scene *scene, const json_t *node, struct finding *finding) {
    const char *prefix = json_text_at(node, "spec.podCIDR"), *ip = way_address(node);

    if (json_object_get(scene->evidence, "routes") && !route_stands(scene, prefix, ip))
        finding_note(finding, "no route to %s via %s (node %s)", prefix, ip ? ip : "it",
                     json_text_at(node, "metadata.name"));
}

enum level look_l2_route(const struct scene *scene, struct finding *finding) {
    const char *mode = expected(scene, "networkMode");

    if (!mode || !text_equal_nocase(mode, "l2bridge") || dns_pod_answers(scene))
        return NO;
    if (lacks_way(scene, route_check, finding))
        return CONFIRMED;
    /* The way back or the fabric's own routes cannot be seen from here. */
    return !dns_refuses(scene) && (scene->green & (CELL_BOTH(POD_IP) | CELL_BOTH(NODE_POD)))
               ? LIKELY
               : NO;
}

/* ---- while a join waits ---- */

/* flanneld passes over nodes of another backend and those that have not said yet how they are
 * reached; one of another VNI is a cause of its own (OVL-VNI). */
static bool is_carried(const struct scene *scene, const json_t *node) {
    const char *type = annotation(node, "flannel.alpha.coreos.com/backend-type");
    _cleanup_json_ json_t *data = flannel_data(node);
    const char *mac = data ? json_text_at(data, "VtepMAC") : NULL;

    if (!is_pods_peer(scene, node) || !annotation(node, "flannel.alpha.coreos.com/public-ip"))
        return false;
    if (!is_overlay(scene))
        return text_equal(type, "host-gw");
    return text_equal(type, "vxlan") && mac && *mac &&
           json_number_at(data, "VNI", 0) == network_vni(scene);
}

bool diag_routes_missing(const json_t *evidence, size_t *ret_peers, struct text_list *ret) {
    const struct diag_report report = {0};
    const struct scene scene = {.report = &report, .evidence = evidence};
    check_route *check = is_overlay(&scene) ? peer_check : route_check;
    struct finding finding = {0};
    json_t *node;
    size_t i;

    *ret_peers = 0;
    json_array_foreach(json_object_get(evidence, "nodes"), i, node) {
        if (!is_carried(&scene, node))
            continue;
        ++*ret_peers;
        check(&scene, node, &finding);
    }
    *ret = finding.evidence;
    return flannel_published(json_object_get(evidence, "node"));
}
