/* Finds causes in the nodes and their machines: a wrong adapter, duplicate names, a wrong backend
 * of the network agent, a hypervisor's switch, limits and known faults of Windows. */
#include "base/cidr.h"
#include "diag/causes/cause_rows.h"
#include "diag/evidence.h"
#include "netsetup/agents/agent.h"
#include "netsetup/limits.h"

/* ---- the switch of a hypervisor ---- */

/* NSX and some vmxnet3 drivers take packets to UDP 4789 for their own VXLAN. */
enum level judge_ovl_nsx(const struct symptoms *symptoms, struct cause_finding *finding) {
    static const char *const makers[] = {"00-50-56", "00-0c-29", "00-05-69"};
    const json_t *adapter = adapter_with(symptoms, symptoms->own_address, NULL);
    const char *mac = json_text_at(adapter, "mac"), *alias = json_text_at(adapter, "alias");
    char maker[sizeof "00-50-56"];
    bool is_vmware = false;

    (void)text_format(maker, sizeof maker, "%.8s", mac ? mac : "");
    for (size_t i = 0; i < ARRAY_SIZE(makers); i++)
        is_vmware |= mac_equal(maker, makers[i]);
    if (!is_vmware || judge_ovl_udp(symptoms, finding) == NO)
        return NO;
    finding_note(finding, "adapter '%s' (%s) is a VMware virtual machine's", alias ? alias : "?",
                 mac);
    return LIKELY;
}

/* ---- the wrong adapter ---- */

enum level judge_nic_wrong(const struct symptoms *symptoms, struct cause_finding *finding) {
    const json_t *node = json_object_get(symptoms->evidence, "node");
    const char *address = node_address(node),
               *name = json_text_at(policy_of(symptoms->network, "NetAdapterName"),
                                    "NetworkAdapterName");
    const char *alias = json_text_at(adapter_with(symptoms, address, NULL), "alias");
    struct network_peer own, peer;

    network_peer_read(node, &own);
    if (own.announced && own.address && address && !text_equal(own.address, address))
        finding_note(finding,
                     "other nodes send to %s, but the node's address is %s on adapter '%s'",
                     own.address, address, alias ? alias : "?");
    if (name && alias && !strstr(alias, name) && !strstr(name, alias))
        finding_note(finding, "the network is on adapter '%s', the node's address %s on '%s'", name,
                     address, alias);
    /* Other machines, and the pods' routes to their own node, use this address. */
    if (address && json_array_size(json_object_get(symptoms->evidence, "adapters")) &&
        !adapter_with(symptoms, address, NULL)) {
        finding->message =
            xstrdup("no adapter of this node has the address that its Node object has");
        finding->hint = xasprintf("give the adapter the address %s again; if the new one is to "
                                  "stay: winjoin reset, then join again",
                                  address);
        finding_note(finding, "the Node has the address %s, and no adapter of this machine does",
                     address);
    }
    /* If other nodes' pods are reached, only the flow to this node itself can fail. */
    if ((symptoms->green | symptoms->partly) & CELL_UDP(SVC_IP))
        finding->must = finding->may = CELL_BOTH(POD_NODE);
    if (finding->evidence.count)
        return CONFIRMED;
    /* An agent may be configured for another adapter. Right when that adapter reaches other
     * nodes. */
    network_peer_read(symptoms->dns_node, &peer);
    if (!peer.announced || !peer.address || !peer.node_address || symptoms->reaches_other_nodes ||
        text_equal(peer.address, peer.node_address))
        return NO;
    finding_note(finding, "node %s announces %s to other nodes; its own address is %s", peer.node,
                 peer.address, peer.node_address);
    finding->message = xstrdup("a node announces the address of another network adapter");
    finding->hint =
        xasprintf("check on %s which adapter flannel uses (--iface, --public-ip)", peer.node);
    return LIKELY;
}

/* ---- another backend, duplicate Nodes ---- */

/* Returns the word that this build's network agents use for the mode; NULL when they have none. */
static const char *backend_of(const struct network_mode *mode) {
    const char *word = NULL;

    for (size_t i = 0; mode->name && network_agents[i] && !word; i++)
        if (network_agents[i]->keeps_routes)
            word = network_agent_backend(network_agents[i], mode);
    return word;
}

enum level judge_flannel_type(const struct symptoms *symptoms, struct cause_finding *finding) {
    const char *backend = backend_of(symptoms->mode);
    struct network_peer peer;

    json_each(json_object_get(symptoms->evidence, "nodes"), i, node) {
        network_peer_read(node, &peer);
        if (backend && peer.node && peer.announced && peer.backend &&
            (has_dns_pods(symptoms, node) || !is_peer(symptoms, node)) &&
            !text_equal(peer.backend, backend))
            finding_note(finding, "node %s announces backend %s; this node's mode %s needs %s",
                         peer.node, peer.backend, symptoms->mode->name, backend);
    }
    return finding->evidence.count && !symptoms->reaches_other_nodes ? CONFIRMED : NO;
}

struct pair {
    size_t i, k;
    struct network_peer a, b;
    bool is_one_machine;
};

/* Moves to the next pair of the cluster's Nodes; false after the last pair. The caller
 * zero-initializes `p` before the first call. */
static bool next_pair(const struct symptoms *symptoms, struct pair *p) {
    const json_t *nodes = json_object_get(symptoms->evidence, "nodes");

    if (++p->k >= json_array_size(nodes))
        p->k = ++p->i + 1;
    if (p->k >= json_array_size(nodes))
        return false;
    if (p->k == p->i + 1)
        network_peer_read(json_array_get(nodes, p->i), &p->a);
    network_peer_read(json_array_get(nodes, p->k), &p->b);
    p->is_one_machine = p->a.node_address && text_equal(p->a.node_address, p->b.node_address);
    return true;
}

/* Says whether the peer is this node or the node of the DNS pods: other nodes cannot break the
 * flows that are asked. */
static bool matters(const struct symptoms *symptoms, const struct network_peer *peer) {
    const char *own = json_text_at(symptoms->evidence, "node.metadata.name");
    const char *dns = json_text_at(symptoms->dns_node, "metadata.name");

    return !dns || text_equal(peer->node, dns) || text_equal(peer->node, own);
}

/* Two Nodes have the same pod prefix, which is this node's or holds a DNS pod: other nodes have one
 * route for the prefix, and it leads to only one of the two. */
enum level judge_node_cidr(const struct symptoms *symptoms, struct cause_finding *finding) {
    const char *own = expected(symptoms, "podCIDR"), *pod = symptoms->dns_pod;
    struct pair pair = {0};

    while (next_pair(symptoms, &pair)) {
        const struct network_peer *a = &pair.a, *b = &pair.b;
        struct cidr one, other;

        if (!a->pod_cidr || !b->pod_cidr)
            continue;
        if (text_equal(a->pod_cidr, b->pod_cidr)) {
            if (text_equal(a->pod_cidr, own) || prefix_holds(a->pod_cidr, pod))
                finding_note(finding, "Nodes %s and %s have the same pod prefix %s", a->node,
                             b->node, a->pod_cidr);
        } else if (cidr_parse(a->pod_cidr, &one, NULL) == 0 &&
                   cidr_parse(b->pod_cidr, &other, NULL) == 0 && cidr_overlaps(&one, &other) &&
                   (matters(symptoms, a) || matters(symptoms, b))) {
            finding_note(finding, "the pod prefixes of Nodes %s (%s) and %s (%s) overlap", a->node,
                         a->pod_cidr, b->node, b->pod_cidr);
        }
    }
    return finding->evidence.count && !symptoms->reaches_other_nodes ? CONFIRMED : NO;
}

/* Two Nodes have the same address, which is this node's or that of the DNS pods' node. */
enum level judge_node_twice(const struct symptoms *symptoms, struct cause_finding *finding) {
    const char *own = json_text_at(symptoms->evidence, "node.metadata.name");
    const char *dns = node_address(symptoms->dns_node);
    struct pair pair = {0};

    while (next_pair(symptoms, &pair)) {
        const struct network_peer *a = &pair.a, *b = &pair.b;
        bool is_a = text_equal(a->node, own), is_b = text_equal(b->node, own);

        if (!pair.is_one_machine)
            continue;
        if (is_a || is_b)
            finding_note(finding, "Node %s has this node's address %s, too",
                         is_a ? b->node : a->node, a->node_address);
        else if (text_equal(a->node_address, dns) && !symptoms->reaches_other_nodes)
            finding_note(finding, "Nodes %s and %s have the same address %s", a->node, b->node,
                         dns);
    }
    return finding->evidence.count ? CONFIRMED : NO;
}

/* ---- a node that is down, unknown to others, or a clone ---- */

enum level judge_peer_down(const struct symptoms *symptoms, struct cause_finding *finding) {
    const json_t *node = symptoms->dns_node;
    const char *name = json_text_at(node, "metadata.name");
    const struct extra *asked = &symptoms->extras[X_NODE_PEER];

    if (!node || symptoms->reaches_other_nodes)
        return NO;
    if (note_unready(node, finding)) {
        finding_note(finding, "the DNS pods on node %s do not answer", name);
        return CONFIRMED;
    }
    if (!(asked->said & (SAID(TIMEOUT) | SAID(UNREACHABLE))))
        return NO;
    finding->message = xstrdup("the node of the DNS pods does not answer this node");
    finding->hint = xasprintf("see whether that node runs; if it does: arp.exe -a shows which MAC "
                              "address this node has for %s (another one's, if two machines have "
                              "that address), route.exe print which way it sends; then look for a "
                              "firewall between the two",
                              node_address(node));
    finding_note(finding, "this node itself gets nothing from %s (node %s), port 10250: %s",
                 node_address(node), name, asked->outcome);
    note_route(symptoms, node_address(node), finding);
    return LIKELY;
}

/* This node's agent announces too little or a wrong MAC address, or nothing while other nodes
 * announce themselves. Other nodes then have no route to this node's pods. */
enum level judge_flannel_node(const struct symptoms *symptoms, struct cause_finding *finding) {
    const char *backend = backend_of(symptoms->mode);
    const char *mac =
        json_string_value(json_object_get(policy_of(symptoms->network, "DrMacAddress"), "Address"));
    struct network_peer own, peer;

    network_peer_read(json_object_get(symptoms->evidence, "node"), &own);
    if (own.announced && *own.router_mac && mac && !mac_equal(own.router_mac, mac))
        finding_note(finding, "this node announces router MAC %s, its network has %s",
                     own.router_mac, mac);
    if (symptoms->mode->vxlan && symptoms->network && own.announced && *own.router_mac && !mac)
        finding_note(finding, "this node announces router MAC %s, its network has none",
                     own.router_mac);
    /* Without address or backend in the annotations, other nodes write no route to this node's
     * pods. */
    if (own.announced && (!own.address || !*own.address))
        finding_note(finding, "this node announces no address");
    else if (own.announced && (!own.backend || !*own.backend))
        finding_note(finding, "this node announces no backend");
    json_each(json_object_get(symptoms->evidence, "nodes"), i, node) {
        network_peer_read(node, &peer);
        if (own.node && !own.announced && is_peer(symptoms, node) && peer.announced &&
            text_equal(peer.backend, backend))
            finding_note(finding, "node %s has the annotations of backend %s, this node does not",
                         peer.node, backend);
    }
    return finding->evidence.count && !symptoms->reaches_other_nodes ? CONFIRMED : NO;
}

/* Linux drops packets that come from its own MAC address. */
enum level judge_ovl_mac(const struct symptoms *symptoms, struct cause_finding *finding) {
    struct pair pair = {0};

    while (next_pair(symptoms, &pair)) {
        const struct network_peer *a = &pair.a, *b = &pair.b;

        if ((matters(symptoms, a) || matters(symptoms, b)) && *a->router_mac &&
            text_equal_nocase(a->router_mac, b->router_mac) && !pair.is_one_machine)
            finding_note(finding, "nodes %s and %s both announce %s", a->node, b->node,
                         a->router_mac);
    }
    return finding->evidence.count && !symptoms->reaches_other_nodes ? CONFIRMED : NO;
}

/* ---- Windows' limits, and known faults of its build ---- */

enum { BALANCER_DSR = 1, BACKENDS_UNPATCHED = 64, BACKENDS_MAX = 1024, BLOCKS_MIN = 10 };

/* networkhealth.ps1 of AgentBaker holds that fewer than ten free blocks are too few. DNS is the
 * first to suffer. */
enum level judge_port_pool(const struct symptoms *symptoms, struct cause_finding *finding) {
    long long ports = json_number_at(symptoms->evidence, "dynamicPorts", 0);
    long long taken = 0;

    json_each(json_object_get(symptoms->evidence, "loadBalancers"), i, balancer)
        if (!(json_number_at(balancer, "Flags", 0) & BALANCER_DSR))
            taken += LIMIT_PORTS_A_BALANCER;
    if (!ports || !taken || taken + BLOCKS_MIN * LIMIT_PORTS_A_BALANCER <= ports)
        return NO;
    finding_note(finding, "%lld load balancers without DSR take %lld of %lld dynamic TCP ports",
                 taken / LIMIT_PORTS_A_BALANCER, taken, ports);
    return CONFIRMED;
}

/* Hyper-V, winnat and others reserve port ranges at each start of Windows; HNS then finds no free
 * block. */
enum level judge_port_excl(const struct symptoms *symptoms, struct cause_finding *finding) {
    long long ports = json_number_at(symptoms->evidence, "dynamicPorts", 0);
    long long excluded = json_number_at(symptoms->evidence, "excludedPorts", 0);

    if (!ports || excluded + BLOCKS_MIN * LIMIT_PORTS_A_BALANCER <= ports)
        return NO;
    if (!excluded)
        finding->message = xstrdup("the dynamic TCP ports are few");
    finding_note(finding, "%lld of %lld dynamic TCP ports are in excluded ranges", excluded, ports);
    return CONFIRMED;
}

enum level judge_svc_backends(const struct symptoms *symptoms, struct cause_finding *finding) {
    size_t most = 0;

    json_each(json_object_get(symptoms->evidence, "loadBalancers"), i, balancer) {
        size_t backends = json_array_size(json_object_get(balancer, "HostComputeEndpoints"));

        if (backends > BACKENDS_UNPATCHED)
            finding_note(finding, "the load balancer of %s has %zu backends",
                         json_text_at(balancer, "FrontendVIPs.0")
                             ? json_text_at(balancer, "FrontendVIPs.0")
                             : "the node",
                         backends);
        most = backends > most ? backends : most;
    }
    return most > BACKENDS_MAX ? CONFIRMED : most > BACKENDS_UNPATCHED ? LIKELY : NO;
}

/* This last row is never more than likely: only the build of Windows points to the fault. */
enum level judge_win_patch(const struct symptoms *symptoms, struct cause_finding *finding) {
    json_t *faults = json_at(symptoms->evidence, "host.knownFaults");
    const char *fix = json_text_at(json_array_get(faults, 0), "fix");

    json_each(faults, i, fault)
        finding_note(finding, "10.0.%lld.%lld, %s: %s (%s)",
                     json_number_at(symptoms->evidence, "host.build", 0),
                     json_number_at(symptoms->evidence, "host.revision", 0),
                     json_text_at(fault, "id"), json_text_at(fault, "breaks"),
                     json_text_at(fault, "source"));
    if (fix)
        finding->hint = xstrdup(fix);
    return json_array_size(faults) ? LIKELY : NO;
}
