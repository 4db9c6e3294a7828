/* Finds causes among the routes to the pods of other nodes. The annotations that a network agent
 * writes on those Nodes say which routes this node needs. */
#include "base/vxlan.h"
#include "diag/causes/causes.h"
#include "diag/causes/cause_rows.h"
#include "diag/evidence.h"
#include "netsetup/routes/fabric_routes.h"

enum { FABRIC_NOTES_MAX = 10 };

/* Reads a Node into *ret, and says whether it is another node with pods on the same pod network. If
 * the network agent announces nodes, a node without an announcement (such as a control plane) has
 * no pods on that network, whatever its podCIDR says. */
static bool read_pods_peer(const struct symptoms *symptoms, const json_t *node,
                           struct network_peer *ret) {
    struct network_peer other_peer;

    network_peer_read(node, ret);
    if (!is_peer(symptoms, node) || !ret->pod_cidr)
        return false;
    json_each(json_object_get(symptoms->evidence, "nodes"), i, other) {
        network_peer_read(other, &other_peer);
        if (other_peer.announced)
            return ret->announced;
    }
    return true;
}

/* Returns the settings of the RemoteSubnetRoute policy for a prefix, or NULL. */
static json_t *remote_route(const struct symptoms *symptoms, const char *prefix) {
    json_each(json_object_get(symptoms->network, "Policies"), i, policy) {
        json_t *settings = json_object_get(policy, "Settings");

        if (text_equal(json_text_at(policy, "Type"), "RemoteSubnetRoute") &&
            text_equal(json_text_at(settings, "DestinationPrefix"), prefix))
            return settings;
    }
    return NULL;
}

enum level judge_ovl_vni(const struct symptoms *symptoms, struct cause_finding *finding) {
    const char *pod = symptoms->dns_pod;
    long long own = symptoms->vni;
    struct network_peer peer;

    if (!symptoms->mode->vxlan || !own || symptoms->reaches_other_nodes)
        return NO;
    if (own < VXLAN_WINDOWS_VNI_MIN)
        finding_note(finding, "the network's VNI is %lld; Windows needs 4096 or higher", own);
    json_each(json_object_get(symptoms->evidence, "nodes"), i, node) {
        network_peer_read(node, &peer);
        if (is_peer(symptoms, node) && has_dns_pods(symptoms, node) && peer.vni && peer.vni != own)
            finding_note(finding, "node %s uses VNI %u, this node's network %lld", peer.node,
                         peer.vni, own);
    }
    network_peer_read(json_object_get(symptoms->evidence, "node"), &peer);
    if (peer.vni && peer.vni != own)
        finding_note(finding, "this node announces VNI %u, its network has %lld", peer.vni, own);
    json_each(json_object_get(symptoms->network, "Policies"), i, policy) {
        long long vni = json_number_at(policy, "Settings.IsolationId", own);
        const char *prefix = json_text_at(policy, "Settings.DestinationPrefix");

        if (text_equal(json_text_at(policy, "Type"), "RemoteSubnetRoute") && vni != own &&
            (!pod || prefix_holds(prefix, pod)))
            finding_note(finding, "the route to %s has VNI %lld, the network %lld", prefix, vni,
                         own);
    }
    return finding->evidence.count ? CONFIRMED : NO;
}

/* Says whether `text` is a narrower prefix within `prefix`: its route wins over that to
 * `prefix`. */
static bool is_part(const char *text, const char *prefix) {
    struct cidr part, whole;

    return text && prefix && !text_equal(text, prefix) && cidr_parse(text, &part, NULL) == 0 &&
           cidr_parse(prefix, &whole, NULL) == 0 && cidr_contains_cidr(&whole, &part);
}

/* Returns the address to which other nodes send packets for the peer's pods. */
static const char *peer_address(const struct network_peer *peer) {
    return peer->address ? peer->address : peer->node_address;
}

/* Notes routes to a part of the node's pod prefix that lead elsewhere: RemoteSubnetRoute policies
 * with VXLAN, otherwise routes of Windows. With `pod`, only parts that contain the pod's address
 * are noted. */
static void note_parts(const struct symptoms *symptoms, const struct network_peer *peer,
                       const char *pod, struct cause_finding *finding) {
    bool of_hns = symptoms->mode->vxlan;
    const json_t *list = of_hns ? json_object_get(symptoms->network, "Policies")
                                : json_object_get(symptoms->evidence, "routes");
    const char *ip = peer_address(peer);

    json_each(list, i, route) {
        const char *part =
            json_text_at(route, of_hns ? "Settings.DestinationPrefix" : "destination");
        const char *hop = json_text_at(route, of_hns ? "Settings.ProviderAddress" : "nextHop");

        if (of_hns && !text_equal(json_text_at(route, "Type"), "RemoteSubnetRoute"))
            continue;
        if (ip && hop && !text_equal(hop, ip) && is_part(part, peer->pod_cidr) &&
            (!pod || prefix_holds(part, pod)))
            finding_note(finding, "the route to %s, a part of %s (node %s), goes to %s", part,
                         peer->pod_cidr, peer->node, hop);
    }
}

/* Checks that the node of the DNS pods is known. The network agent writes no route to a node that
 * has no Node object, or that announces nothing. */
static void unknown_node_check(const struct symptoms *symptoms, struct cause_finding *finding) {
    const char *pod = symptoms->dns_pod, *named = symptoms->dns_pod_node;
    const json_t *nodes = json_object_get(symptoms->evidence, "nodes");
    const json_t *node = diag_evidence_node_of(symptoms->evidence, pod);
    struct network_peer own, peer;

    network_peer_read(json_object_get(symptoms->evidence, "node"), &own);
    network_peer_read(node, &peer);
    if (!own.announced || !pod || !nodes || prefix_holds(expected(symptoms, "podCIDR"), pod))
        return;
    if (node && is_peer(symptoms, node) && !peer.announced)
        finding_note(finding,
                     "node %s, on which pod %s is, announces nothing: start its network agent",
                     peer.node, pod);
    if (node || node_of_address(symptoms, pod) || item_with(nodes, "metadata.name", named))
        return;
    /* No Node has a pod prefix with the DNS pod's address. Either the pod's Node is gone, or the
     * EndpointSlice is old. A slice that names a Node which exists was left to row SVC-EP0 above.
     */
    finding_note(finding, "no Node has a pod prefix with the address of pod %s", pod);
    if (named) {
        finding_note(finding, "its EndpointSlice says that it is on node %s, which has no Node",
                     named);
        text_set(&finding->message, xstrdup("the Node object of the DNS pod's node is gone"));
        text_set(&finding->hint, xasprintf("kubectl get nodes; on %s, if it is there: start its "
                                           "kubelet again, which registers it",
                                           named));
        return;
    }
    text_set(&finding->message, xstrdup("the DNS pod's address is of no node: its Node is gone, "
                                        "or the EndpointSlice is old"));
    text_set(&finding->hint,
             xstrdup("kubectl get nodes, and kubectl -n kube-system get pods,endpointslices -l "
                     "k8s-app=kube-dns -o wide: is a node missing, or do the addresses differ?"));
}

/* Notes the route to a peer's pods when it is missing, or differs from what the peer announces. */
static void route_check(const struct symptoms *symptoms, const struct network_peer *peer,
                        struct cause_finding *finding) {
    const char *name = peer->node, *prefix = peer->pod_cidr, *ip = peer_address(peer);

    if (symptoms->mode->vxlan) {
        json_t *route = remote_route(symptoms, prefix);
        const char *there = json_text_at(route, "ProviderAddress");
        const char *there_mac = json_text_at(route, "DistributedRouterMacAddress");

        if (!route)
            finding_note(finding, "no RemoteSubnetRoute for %s (node %s)", prefix, name);
        else if (ip && there && !text_equal(ip, there))
            finding_note(finding, "the route to %s goes to %s, node %s is at %s", prefix, there,
                         name, ip);
        else if (*peer->router_mac && there_mac && !mac_equal(peer->router_mac, there_mac))
            finding_note(finding, "the route to %s has router MAC %s, node %s has %s", prefix,
                         there_mac, name, peer->router_mac);
    } else {
        const json_t *routes = json_object_get(symptoms->evidence, "routes");
        /* The next hop of a second route: a node that had the prefix or the address before. */
        const char *other = NULL;
        bool stands = false;

        if (!symptoms->mode->host_routes || !routes || symptoms->network_routes)
            return;
        json_each(routes, i, route) {
            const char *next = json_text_at(route, "nextHop");

            if (!text_equal(json_text_at(route, "destination"), prefix))
                continue;
            stands |= !ip || text_equal(next, ip);
            if (!other && ip && next && !text_equal(next, ip))
                other = next;
        }
        if (!stands)
            finding_note(finding, "no route to %s via %s (node %s)", prefix, ip ? ip : "it", name);
        else if (other)
            finding_note(finding, "a second route to %s goes via %s, node %s is at %s", prefix,
                         other, name, ip);
    }
    note_parts(symptoms, peer, NULL, finding);
}

/* Notes why packets do not get to the node of the DNS pods. Returns true when a route to that node
 * is missing or wrong. */
static bool lacks_route(const struct symptoms *symptoms, struct cause_finding *finding) {
    const json_t *services = json_object_get(symptoms->evidence, "services");
    size_t agent_notes = 0;
    struct network_peer peer;

    /* The agent that writes the routes to other nodes may have ended. Its notes are counted,
     * because they alone prove no wrong route. */
    for (size_t i = 0; network_agents[i]; i++) {
        const char *name = network_agents[i]->service,
                   *state = name ? json_text_at(services, name) : NULL;

        if (!state || text_equal(state, "running") || text_equal(state, "absent"))
            continue;
        finding_note(finding, "service %s is %s: read its log, then start it: sc.exe start %s",
                     name, state, name);
        agent_notes++;
    }

    json_each(json_object_get(symptoms->evidence, "nodes"), i, node) {
        if (read_pods_peer(symptoms, node, &peer) && has_dns_pods(symptoms, node))
            route_check(symptoms, &peer, finding);
    }
    unknown_node_check(symptoms, finding);
    return finding->evidence.count > agent_notes;
}

/* Notes a route of this node, or of its HNS network, that leads a part of a node's pod prefix
 * elsewhere, with the DNS pod in that part. The rest of that node's pods may be reached. */
static bool part_leads_elsewhere(const struct symptoms *symptoms, struct cause_finding *finding) {
    const char *pod = symptoms->dns_pod;
    struct network_peer peer;

    network_peer_read(diag_evidence_node_of(symptoms->evidence, pod), &peer);
    if (!peer.pod_cidr || !symptoms->extras[X_DNS_POD].said || symptoms->reaches_dns_pod)
        return false;
    note_parts(symptoms, &peer, pod, finding);
    return finding->evidence.count != 0;
}

/* Notes a route of this node that leads packets for the DNS pod away from the nodes, as a VPN or an
 * earlier bridge leaves one. */
static bool stray_route_check(const struct symptoms *symptoms, struct cause_finding *finding) {
    const char *pod = symptoms->dns_pod;
    size_t before = finding->evidence.count;

    json_each(json_object_get(symptoms->evidence, "routes"), i, route) {
        const char *prefix = json_text_at(route, "destination");
        const char *hop = json_text_at(route, "nextHop");

        if (!is_part(prefix, "0.0.0.0/1") && !is_part(prefix, "128.0.0.0/1"))
            continue; /* Prefixes of length 0 and 1 are default routes. */
        if (pod && hop && !prefix_holds(expected(symptoms, "podCIDR"), pod) &&
            prefix_holds(prefix, pod) && !node_of_address(symptoms, hop))
            finding_note(finding, "a route of this node to %s, which holds pod %s, goes by %s",
                         prefix, pod, hop);
    }
    return finding->evidence.count > before;
}

/* Where only some of several DNS pods answer, notes wrong or missing routes to the nodes of the
 * others. Returns true when there are such routes. */
static bool lacks_some_routes(const struct symptoms *symptoms, struct cause_finding *finding) {
    const json_t *balancer =
        diag_evidence_balancer(symptoms->evidence, expected(symptoms, "dnsIP"), UDP, DNS_PORT);
    const json_t *reached = diag_evidence_node_of(symptoms->evidence, symptoms->dns_pod_answers);
    struct network_peer peer;

    if (!symptoms->dns_is_split ||
        !((symptoms->green | symptoms->partly) & CELLS_DNS || symptoms->dns_loses_some))
        return false;
    json_each(json_object_get(balancer, "HostComputeEndpoints"), k, id)
        json_each(json_object_get(symptoms->evidence, "endpoints"), i, endpoint) {
            const char *pod = json_text_at(endpoint, "IpConfigurations.0.IpAddress");
            const json_t *node = diag_evidence_node_of(symptoms->evidence, pod);

            if (node && node != reached && !(dns_pod_asked(symptoms, pod)->said & SAID_ANSWER) &&
                text_equal(json_text_at(endpoint, "ID"), json_string_value(id)) &&
                read_pods_peer(symptoms, node, &peer))
                route_check(symptoms, &peer, finding);
        }
    if (!finding->evidence.count)
        return false;
    finding->must = 0;
    finding->may &= symptoms->partly | symptoms->outcome[PROBE_DNS_TIMEOUT];
    return true;
}

enum level judge_ovl_peer(const struct symptoms *symptoms, struct cause_finding *finding) {
    const json_t *network = symptoms->network;
    const char *pod = symptoms->dns_pod, *address;
    struct network_peer peer;

    if (!symptoms->mode->vxlan || !network)
        return NO;
    if (lacks_some_routes(symptoms, finding))
        return CONFIRMED;
    if (symptoms->dns_pod_answers)
        return NO;
    /* A DNS pod of another node has a remote endpoint here, which leads to its node. kube-proxy
     * takes its address from the network's route, so if that route is wrong, the route is the cause
     * and not the endpoint. */
    network_peer_read(diag_evidence_node_of(symptoms->evidence, pod), &peer);
    address = peer_address(&peer);
    json_each(json_object_get(symptoms->evidence, "endpoints"), i, endpoint) {
        const char *there = json_text_at(policy_of(endpoint, "ProviderAddress"), "ProviderAddress");

        if (peer.node && address && there && !text_equal(there, address) &&
            !text_equal(there, peer.node_address) &&
            text_equal(json_text_at(endpoint, "IpConfigurations.0.IpAddress"), pod) &&
            (json_number_at(endpoint, "Flags", 0) & 1) &&
            text_equal(json_text_at(remote_route(symptoms, peer.pod_cidr), "ProviderAddress"),
                       address))
            finding_note(finding, "the remote endpoint of pod %s leads to %s, its node %s is at %s",
                         pod, there, peer.node, address);
    }
    if (finding->evidence.count || part_leads_elsewhere(symptoms, finding))
        return CONFIRMED;
    if (symptoms->reaches_other_nodes)
        return NO;
    if (lacks_route(symptoms, finding))
        return CONFIRMED;
    if (stray_route_check(symptoms, finding))
        return LIKELY;
    if (json_object_get(symptoms->evidence, "nodes") || policy_of(network, "RemoteSubnetRoute"))
        return NO;
    finding_note(finding, "the network has no RemoteSubnetRoute");
    return LIKELY;
}

/* Names all routes that the network between the nodes must have, because this node cannot see which
 * of them are missing. */
void name_network_routes(const struct symptoms *symptoms, struct cause_finding *finding) {
    _cleanup_(text_list_free) struct text_list left_out = {0}, formats = {0}, lines = {0};
    _cleanup_json_ json_t *nodes =
        json_pack("{s:O*}", "items", json_object_get(symptoms->evidence, "nodes"));
    _cleanup_json_ json_t *routes = fabric_routes_of_nodes(nodes, NULL, &left_out);
    _cleanup_(freep) char *text = NULL;

    if (!symptoms->network_routes)
        return;
    text = fabric_routes_text(routes, "text", &(struct fabric_place){0}, FABRIC_NOTES_MAX);
    text_list_split(&lines, text, '\n');
    for (size_t i = 0; i < lines.count; i++)
        if (*lines.items[i])
            finding_note(finding, "the network between the nodes must route %s", lines.items[i]);
    fabric_formats(routes, &formats);
    free(finding->hint);
    finding->hint = xasprintf("create the missing routes in the network: winjoin config routes "
                              "-o %s prints them",
                              formats.count == 2 ? formats.items[1] : "text, az, aws or gcloud");
}

enum level judge_l2_route(const struct symptoms *symptoms, struct cause_finding *finding) {
    const char *pod = symptoms->dns_pod;

    if (!symptoms->mode->host_routes)
        return NO;
    if (lacks_some_routes(symptoms, finding) || part_leads_elsewhere(symptoms, finding))
        return CONFIRMED;
    if (symptoms->reaches_other_nodes)
        return NO;
    if (lacks_route(symptoms, finding))
        return CONFIRMED;
    /* This node cannot see the routes of other nodes back to it, nor the routes of the network
     * between the nodes. */
    if (symptoms->dns_refuses || !(symptoms->green & (CELL_BOTH(POD_IP) | CELL_BOTH(NODE_POD))) ||
        !pod || prefix_holds(expected(symptoms, "podCIDR"), pod) ||
        !symptoms->extras[X_DNS_POD].said)
        return NO;
    finding_note(finding, "pod %s of another node gives no answer%s", pod,
                 symptoms->extras[X_PEER].said ? ", nor does its node" : "");
    finding->message = xstrdup("packets to other nodes' pods, or their answers, are lost");
    name_network_routes(symptoms, finding);
    return LIKELY;
}

/* ---- the routes that a join waits for ---- */

bool diag_routes_missing(const json_t *evidence, const struct network_agent *agent,
                         size_t *ret_peers, struct text_list *ret) {
    const struct diag_report report = {0};
    struct symptoms symptoms = {.report = &report, .evidence = evidence};
    struct cause_finding finding = {0};
    struct network_peer peer;

    symptoms_derive(&symptoms);
    *ret_peers = 0;
    json_each(json_object_get(evidence, "nodes"), i, node) {
        if (!read_pods_peer(&symptoms, node, &peer) ||
            !network_agent_routes_to(agent, symptoms.mode, (unsigned)symptoms.vni, &peer))
            continue;
        ++*ret_peers;
        route_check(&symptoms, &peer, &finding);
    }
    *ret = finding.evidence;
    network_peer_read(json_object_get(evidence, "node"), &peer);
    return peer.announced;
}
