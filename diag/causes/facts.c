/* Finds facts in the evidence document, among them how this node itself sends to an address. */
#include "base/cidr.h"
#include "diag/causes/cause_rows.h"
#include "diag/evidence.h"

/* ---- how this node itself sends to an address ---- */

/* Notes an unusual route or neighbor entry of this node for the address. The default route and the
 * routes of the node's own segments are usual, and are not noted. */
void note_route(const struct symptoms *symptoms, const char *ip, struct cause_finding *finding) {
    const json_t *route = NULL, *neighbor;
    const char *prefix, *hop, *next, *mac;
    int length = -1;
    bool by_hop;

    /* The route with the longest prefix that holds the address is used. */
    json_each(json_object_get(symptoms->evidence, "routes"), i, one) {
        struct cidr cidr;

        prefix = json_text_at(one, "destination");
        if (!prefix || cidr_parse(prefix, &cidr, NULL) < 0 || cidr.length <= length ||
            !prefix_holds(prefix, ip))
            continue;
        route = one;
        length = cidr.length;
    }
    prefix = json_text_at(route, "destination");
    hop = json_text_at(route, "nextHop");
    by_hop = hop && !text_equal(hop, "0.0.0.0") && !text_equal(hop, "::");
    next = by_hop ? hop : ip;
    neighbor = item_with(json_object_get(symptoms->evidence, "neighbors"), "address", next);
    mac = json_text_at(neighbor, "mac");

    if (by_hop && !text_equal(prefix, "0.0.0.0/0") && !text_equal(prefix, "::/0")) {
        finding_note(finding, "this node's route to %s is %s by %s", ip, prefix, hop);
        text_set(
            &finding->hint,
            xasprintf("if that route is wrong: route.exe delete %s; else look at %s", prefix, hop));
    }
    if (mac && *mac && json_is_true(json_object_get(neighbor, "fixed"))) {
        finding_note(finding, "%s has the MAC address %s here because somebody wrote that", next,
                     mac);
        text_set(&finding->hint, xasprintf("if that address is wrong: arp.exe -d %s, and arp.exe "
                                           "-a shows the new one",
                                           next));
    } else if (mac && !*mac) {
        finding_note(finding, "no machine of this segment says that it has the address %s", next);
    }
}

/* ---- the document ---- */

const struct asked_service asked_services[ASKED_SERVICES] = {
    {"dnsIP", UDP, DNS_PORT, CELLS_DNS},
    {"dnsIP", TCP, DNS_PORT, CELL_TCP(SVC_SHORT)},
    {"kubernetesIP", TCP, HTTPS_PORT, CELL_TCP(SVC_IP) | CELL_TCP(SVC_FQDN)},
};

void finding_note(struct cause_finding *finding, const char *format, ...) {
    struct text t = {0};
    va_list args;

    va_start(args, format);
    text_addv(&t, format, args);
    va_end(args);
    if (!text_list_has(&finding->evidence, text_str(&t)))
        text_list_add(&finding->evidence, text_str(&t));
    text_free(&t);
}

json_t *item_with(const json_t *list, const char *path, const char *text) {
    json_each(list, i, item)
        if (text && text_equal(json_text_at(item, path), text))
            return item;
    return NULL;
}

const char *expected(const struct symptoms *symptoms, const char *key) {
    return json_string_value(json_object_get(json_object_get(symptoms->evidence, "expected"), key));
}

/* Documents of HCN have no State, only those of the first version of HNS do. */
bool endpoint_is_attached(const json_t *endpoint) {
    static const char none[] = "00000000-0000-0000-0000-000000000000";
    const char *space = json_text_at(endpoint, "HostComputeNamespace");

    if (json_number_at(endpoint, "Flags", 0) & 1)
        return false;
    if (json_object_get(endpoint, "State"))
        return json_number_at(endpoint, "State", 0) == STATE_ATTACHED_SHARING;
    return space && *space && !text_equal(space, none);
}

static void pods_facts(struct symptoms *symptoms) {
    static const char *const names[PODS] = {"winjoin-probe-a", "winjoin-probe-b"};
    const json_t *pods = json_object_get(symptoms->evidence, "pods");

    for (size_t i = 0; i < PODS; i++) {
        struct probed_pod *pod = &symptoms->pods[i];

        pod->said = json_object_get(pods, i == POD_A ? "a" : "b");
        pod->name = json_text_or(pod->said, "name", names[i]);
        pod->ip = json_text_at(pod->said, "ip");
        json_each(json_object_get(symptoms->evidence, "endpoints"), k, endpoint) {
            if (!item_with(json_object_get(endpoint, "IpConfigurations"), "IpAddress", pod->ip) ||
                (json_number_at(endpoint, "Flags", 0) & 1))
                continue;
            if (!pod->endpoint || endpoint_is_attached(endpoint))
                pod->endpoint = endpoint;
            if (endpoint_is_attached(endpoint))
                break;
        }
    }
}

static void dns_facts(struct symptoms *symptoms) {
    const char *vip = expected(symptoms, "dnsIP");
    const json_t *balancer = diag_evidence_balancer(symptoms->evidence, vip, UDP, DNS_PORT), *node;
    const struct diag_cell *cell =
        diag_cells_find(&symptoms->report->cells, FLOW_SVC_IP, true, false);
    const struct extra *extras = symptoms->extras;
    unsigned udp = extras[X_DNS_UDP].said;
    struct network_peer own;
    bool silent = extras[X_DNS_CONNECT].said & SAID_NOTHING, says_the_same = false, lost;

    symptoms->dns_pod_count = diag_evidence_backends(symptoms->evidence, vip, UDP, DNS_PORT,
                                                     symptoms->dns_pods, DIAG_DNS_PODS);
    symptoms->dns_pod = symptoms->dns_pod_count ? symptoms->dns_pods[0] : NULL;
    node = diag_evidence_node_of(symptoms->evidence, symptoms->dns_pod);
    symptoms->dns_node = node && is_peer(symptoms, node) ? node : NULL;
    if (symptoms->dns_pod)
        symptoms->dns_pod_node = json_string_value(
            json_object_get(json_at(symptoms->evidence, "dnsSpec.pods"), symptoms->dns_pod));
    network_peer_read(json_object_get(symptoms->evidence, "node"), &own);
    symptoms->slice_is_old = own.announced && extras[X_DNS_POD].said && !node &&
                             item_with(json_object_get(symptoms->evidence, "nodes"),
                                       "metadata.name", symptoms->dns_pod_node) &&
                             !node_of_address(symptoms, symptoms->dns_pod);
    for (size_t i = 0; i < symptoms->dns_pod_count && !symptoms->dns_pod_well; i++)
        if (extras[X_DNS_POD + i].said & SAID_ANSWER)
            symptoms->dns_pod_well = symptoms->dns_pods[i];
    if (extras[X_DNS_POD].said & SAID_OK)
        symptoms->dns_pod_answers = symptoms->dns_pod ? symptoms->dns_pod : "its own address";

    symptoms->dns_is_split =
        json_array_size(json_object_get(balancer, "HostComputeEndpoints")) > 1 &&
        (symptoms->failed & CELLS_DNS);
    symptoms->dns_is_slow = cell && cell->result.succeeded && cell->result.median_us >= SLOW_US;
    symptoms->dns_refuses =
        ((symptoms->outcome[PROBE_REFUSED] | symptoms->outcome[PROBE_DNS_SERVFAIL]) &
         CELL_UDP(SVC_IP)) ||
        (extras[X_DNS_TCP].said & (SAID(REFUSED) | SAID(RESET)));
    /* These extra flows ask the DNS Service the same question over TCP, in growing sizes. */
    for (enum diag_extra_id extra = X_DNS_TCP; extra <= X_SIZE_DNS_2000; extra++) {
        bool is_answered = (extras[extra].said & SAID_ANSWER) || extras[extra].some;

        silent |= (extras[extra].said & SAID_NOTHING) != 0;
        symptoms->dns_answers_by_tcp |= is_answered;
        symptoms->dns_loses_some |= is_answered && silent;
        says_the_same |= extras[extra].said == udp;
    }
    symptoms->tcp_is_refused_alone = (extras[X_CLOSED_TCP].said & SAID(REFUSED)) &&
                                     (extras[X_DNS_CONNECT].said & SAID_NOTHING) &&
                                     (extras[X_PAGE_SMALL].said & SAID_NOTHING);
    lost = ((extras[X_CLOSED_TCP].said & SAID_NOTHING) && symptoms->dns_pod_answers) ||
           (symptoms->tcp_is_refused_alone && (extras[X_DNS_POD].said & SAID_ANSWER));
    if (lost && (extras[X_DNS_TCP].said & SAID_NOTHING) && !symptoms->dns_answers_by_tcp)
        symptoms->pod_without_tcp = symptoms->dns_pod;
    symptoms->dns_is_taken = !says_the_same && (udp & SAID_ANSWER & ~SAID_OK) &&
                             extras[X_DNS_TCP].said && !symptoms->pod_without_tcp;
}

/* Fills the facts about the time of connections to other machines. The kernels alone make a
 * connection, so no slow program adds to the time. */
static void times_facts(struct symptoms *symptoms) {
    static const enum diag_flow_id flows[] = {FLOW_SVC_IP, FLOW_SVC_FQDN, FLOW_EXT_IP};
    const char *api = json_text_at(symptoms->look, "api.outcome");
    long long us = symptoms->extras[X_DNS_CONNECT].median_us;
    const struct diag_cell *best = NULL;

    /* Of the two flows to Services, take the quicker one: while kube-proxy creates a load balancer,
     * all attempts of a flow may be retransmitted after the same second. */
    for (size_t i = 0; i < ARRAY_SIZE(flows) && !(best && flows[i] == FLOW_EXT_IP); i++) {
        const struct diag_cell *cell =
            diag_cells_find(&symptoms->report->cells, flows[i], false, false);

        if (cell && cell->result.succeeded && (!best || cell->result.min_us < best->result.min_us))
            best = cell;
    }
    symptoms->connection = best;
    /* The minimum decides: when even the fastest attempt is slow, the reason is not one
     * retransmission. */
    symptoms->network_is_slow =
        best && best->result.min_us >= (symptoms->dns_is_slow ? SLOW_US / 2 : SLOW_US);
    symptoms->api_is_late = symptoms->network_is_slow &&
                            (text_equal(api, "failing") || (text_equal(api, "unreachable") &&
                                                            (symptoms->green & CELL_TCP(SVC_IP))));
    symptoms->dns_connect_us = symptoms->dns_is_slow && us >= SLOW_US / 2 ? us : 0;
}

void symptoms_derive(struct symptoms *symptoms) {
    static const struct network_mode unknown = {0};
    const struct network_mode *mode = network_mode_by_name(expected(symptoms, "networkMode"));
    const struct extra *extras = symptoms->extras;
    const char *routes = expected(symptoms, "routes");

    symptoms->look = json_object_get(symptoms->evidence, "look");
    symptoms->drift = json_object_get(symptoms->evidence, "kubernetes");
    symptoms->mode = mode ? mode : &unknown;
    symptoms->network = item_with(json_object_get(symptoms->evidence, "networks"), "Name",
                                  expected(symptoms, "networkName"));
    symptoms->subnet = json_text_at(symptoms->network, "Ipams.0.Subnets.0.IpAddressPrefix");
    symptoms->vni =
        json_number_at(symptoms->network, "Ipams.0.Subnets.0.Policies.0.Settings.IsolationId", 0);
    symptoms->own_address = node_address(json_object_get(symptoms->evidence, "node"));
    symptoms->network_routes = routes && !text_equal(routes, "own");
    pods_facts(symptoms);
    dns_facts(symptoms);
    times_facts(symptoms);
    symptoms->reaches_dns_pod =
        ((extras[X_CLOSED_TCP].said | extras[X_DNS_CONNECT].said) & SAID_THERE) ||
        symptoms->dns_pod_answers;
    symptoms->reaches_other_nodes =
        (extras[X_PEER].said & SAID_THERE) || symptoms->reaches_dns_pod || symptoms->dns_pod_well;
    symptoms->node_is_without_udp =
        symptoms->mode->vxlan && (extras[X_NODE_EXTERNAL].said & SAID_OK) &&
        (extras[X_NODE_EXTERNAL_UDP].said & SAID_NOTHING) &&
        (extras[X_DNS_POD].said & SAID_NOTHING) && !symptoms->reaches_other_nodes;
}

const struct extra *dns_pod_asked(const struct symptoms *symptoms, const char *ip) {
    static const struct extra none = {0};

    for (size_t i = 0; i < symptoms->dns_pod_count; i++)
        if (text_equal(symptoms->dns_pods[i], ip))
            return &symptoms->extras[X_DNS_POD + i];
    return &none;
}

bool dns_pods_differ(const struct symptoms *symptoms, struct cause_finding *finding) {
    bool differ = false;

    for (size_t i = 0; i < symptoms->dns_pod_count && symptoms->dns_pod_well; i++) {
        const char *pod = symptoms->dns_pods[i];
        const struct extra *asked = dns_pod_asked(symptoms, pod);
        const json_t *node = diag_evidence_node_of(symptoms->evidence, pod);

        if (!asked->said || (asked->said & SAID_ANSWER))
            continue;
        differ = true;
        if (finding)
            finding_note(finding,
                         "asked at its own address pod %s (node %s) gives no answer (%s), pod %s "
                         "does",
                         pod, json_text_or(node, "metadata.name", "not known"), asked->outcome,
                         symptoms->dns_pod_well);
    }
    return differ;
}

uint32_t cell_bit(const struct diag_cell *cell) {
    return CELLS_ALL & (cell->udp ? 2u : 1u) << (cell->flow->id * 2);
}

bool has_dns_pods(const struct symptoms *symptoms, const json_t *node) {
    const char *pod = symptoms->dns_pod;
    const json_t *owner = diag_evidence_node_of(symptoms->evidence, pod);
    const char *name = owner ? json_text_at(owner, "metadata.name") : symptoms->dns_pod_node;

    if (!pod && json_object_get(symptoms->evidence, "loadBalancers"))
        return false;
    return !name || text_equal(name, json_text_at(node, "metadata.name"));
}

const char *node_address(const json_t *node) {
    return json_text_at(item_with(json_at(node, "status.addresses"), "type", "InternalIP"),
                        "address");
}

bool node_of_address(const struct symptoms *symptoms, const char *ip) {
    json_each(json_object_get(symptoms->evidence, "nodes"), i, node) {
        if (text_equal(node_address(node), ip))
            return true;
    }
    return false;
}

bool mac_equal(const char *a, const char *b) {
    for (; *a && *b; a++, b++) {
        char x = *a == '-' ? ':' : *a, y = *b == '-' ? ':' : *b;

        if ((x | 0x20) != (y | 0x20))
            return false;
    }
    return *a == *b;
}

bool is_peer(const struct symptoms *symptoms, const json_t *node) {
    const char *name = json_text_at(node, "metadata.name");
    const char *own = symptoms->report->node
                          ? symptoms->report->node
                          : json_text_at(symptoms->evidence, "node.metadata.name");

    return name && own && !text_equal(name, own);
}

json_t *policy_of(const json_t *object, const char *type) {
    json_each(json_object_get(object, "Policies"), i, policy) {
        const char *this_type = json_text_at(policy, "Type");

        if (this_type && text_equal_nocase(this_type, type))
            return json_object_get(policy, "Settings");
    }
    return NULL;
}

bool prefix_holds(const char *prefix, const char *ip) {
    struct cidr cidr;
    char text[IP_TEXT_MAX];
    struct ip address;

    return prefix && ip && cidr_parse(prefix, &cidr, NULL) == 0 &&
           text_format(text, sizeof text, "%.*s", (int)strcspn(ip, "/"), ip) == 0 &&
           ip_parse(text, &address, NULL) == 0 && cidr_contains(&cidr, &address);
}

bool adapter_holds(const json_t *adapter, const char *ip, const char *prefix) {
    json_each(json_object_get(adapter, "addresses"), k, address) {
        const char *text = json_string_value(address);

        if (text && ((ip && strcspn(text, "/") == strlen(ip) && text_starts_with(text, ip)) ||
                     prefix_holds(prefix, text)))
            return true;
    }
    return false;
}

json_t *adapter_with(const struct symptoms *symptoms, const char *ip, const char *prefix) {
    json_each(json_object_get(symptoms->evidence, "adapters"), i, adapter) {
        if (adapter_holds(adapter, ip, prefix))
            return adapter;
    }
    return NULL;
}
