/* Finds facts in the evidence document, among them how this node itself sends to an address. */
#include "base/cidr.h"
#include "diag/causes/rows.h"
#include "diag/evidence.h"

/* ---- how this node itself sends to an address ---- */

/* Notes an unusual route or neighbor entry of this node for the address. The default route and the
 * routes of the node's own segments are usual, and are not noted. */
void note_way(const struct scene *scene, const char *ip, struct finding *finding) {
    const json_t *route = NULL, *neighbor;
    const char *prefix, *hop, *next, *mac;
    int length = -1;
    bool by_hop;

    /* The route with the longest prefix that holds the address is used. */
    json_each(json_object_get(scene->evidence, "routes"), i, one) {
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
    neighbor = item_with(json_object_get(scene->evidence, "neighbors"), "address", next);
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

void finding_note(struct finding *finding, const char *format, ...) {
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

const char *expected(const struct scene *scene, const char *key) {
    return json_string_value(json_object_get(json_object_get(scene->evidence, "expected"), key));
}

json_t *network_of(const struct scene *scene) {
    return item_with(json_object_get(scene->evidence, "networks"), "Name",
                     expected(scene, "networkName"));
}

const struct network_mode *mode_of(const struct scene *scene) {
    static const struct network_mode unknown = {0};
    const struct network_mode *mode = network_mode_by_name(expected(scene, "networkMode"));

    return mode ? mode : &unknown;
}

const json_t *probe_pod(const struct scene *scene, char pod) {
    return json_at(scene->evidence, pod == 'a' ? "pods.a" : "pods.b");
}

const char *pod_name(const struct scene *scene, char pod) {
    const char *name = json_text_at(probe_pod(scene, pod), "name");

    if (name)
        return name;
    return pod == 'a' ? "winjoin-probe-a" : "winjoin-probe-b";
}

const char *pod_ip(const struct scene *scene, char pod) {
    return json_text_at(probe_pod(scene, pod), "ip");
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

json_t *endpoint_of(const struct scene *scene, char pod) {
    json_t *found = NULL;

    json_each(json_object_get(scene->evidence, "endpoints"), i, endpoint) {
        if (!item_with(json_object_get(endpoint, "IpConfigurations"), "IpAddress",
                       pod_ip(scene, pod)) ||
            (json_number_at(endpoint, "Flags", 0) & 1))
            continue;
        if (endpoint_is_attached(endpoint))
            return endpoint;
        found = found ? found : endpoint;
    }
    return found;
}

uint32_t cell_bit(const struct diag_cell *cell) {
    return CELLS_ALL & (cell->udp ? 2u : 1u) << (cell->flow->id * 2);
}

const char *dns_pod(const struct scene *scene) {
    return diag_evidence_backend(scene->evidence, expected(scene, "dnsIP"), UDP, DNS_PORT);
}

const char *dns_pod_answers(const struct scene *scene) {
    const char *ip = dns_pod(scene);

    if (!(scene->extras[X_DNS_POD].said & SAID_OK))
        return NULL;
    return ip ? ip : "its own address";
}

/* The DNS pods that were asked at their own addresses, in the order in which they were asked.
 * Returns their number. */
static size_t dns_pods(const struct scene *scene, const char *ret[DIAG_DNS_PODS]) {
    return diag_evidence_backends(scene->evidence, expected(scene, "dnsIP"), UDP, DNS_PORT, ret,
                                  DIAG_DNS_PODS);
}

const struct extra *dns_pod_asked(const struct scene *scene, const char *ip) {
    static const struct extra none = {0};
    const char *pods[DIAG_DNS_PODS];
    size_t n = dns_pods(scene, pods);

    for (size_t i = 0; i < n; i++)
        if (text_equal(pods[i], ip))
            return &scene->extras[X_DNS_POD + i];
    return &none;
}

/* A DNS pod that answers at its own address, or NULL. */
static const char *dns_pod_that_answers(const struct scene *scene) {
    const char *pods[DIAG_DNS_PODS];
    size_t n = dns_pods(scene, pods);

    for (size_t i = 0; i < n; i++)
        if (dns_pod_asked(scene, pods[i])->said & SAID_ANSWER)
            return pods[i];
    return NULL;
}

bool dns_pods_differ(const struct scene *scene) {
    struct finding finding = {0};
    bool differ = note_silent_dns_pods(scene, &finding);

    text_list_free(&finding.evidence);
    return differ;
}

bool note_silent_dns_pods(const struct scene *scene, struct finding *finding) {
    const char *pods[DIAG_DNS_PODS], *well = dns_pod_that_answers(scene);
    size_t n = well ? dns_pods(scene, pods) : 0, before = finding->evidence.count;

    for (size_t i = 0; i < n; i++) {
        const struct extra *asked = dns_pod_asked(scene, pods[i]);
        const char *node =
            json_text_at(diag_evidence_node_of(scene->evidence, pods[i]), "metadata.name");

        if (asked->said && !(asked->said & SAID_ANSWER))
            finding_note(finding,
                         "asked at its own address pod %s (node %s) gives no answer (%s), pod %s "
                         "does",
                         pods[i], node ? node : "not known", asked->outcome, well);
    }
    return finding->evidence.count > before;
}

const char *node_in_slice(const struct scene *scene, const char *pod) {
    const json_t *pods = json_at(scene->evidence, "dnsSpec.pods");

    return pod ? json_string_value(json_object_get(pods, pod)) : NULL;
}

bool has_dns_pods(const struct scene *scene, const json_t *node) {
    const char *pod = dns_pod(scene);
    const json_t *owner = diag_evidence_node_of(scene->evidence, pod);
    const char *name = owner ? json_text_at(owner, "metadata.name") : node_in_slice(scene, pod);

    if (!pod && json_object_get(scene->evidence, "loadBalancers"))
        return false;
    return !name || text_equal(name, json_text_at(node, "metadata.name"));
}

bool reaches_dns_pod(const struct scene *scene) {
    return (scene->extras[X_CLOSED_TCP].said & SAID_THERE) ||
           (scene->extras[X_DNS_CONNECT].said & SAID_THERE) || dns_pod_answers(scene);
}

bool reaches_other_nodes(const struct scene *scene) {
    return (scene->extras[X_PEER].said & SAID_THERE) || reaches_dns_pod(scene) ||
           dns_pod_that_answers(scene);
}

bool dns_refuses(const struct scene *scene) {
    uint32_t answered = scene->outcome[PROBE_REFUSED] | scene->outcome[PROBE_DNS_SERVFAIL];

    return (answered & CELL_UDP(SVC_IP)) ||
           (scene->extras[X_DNS_TCP].said & (SAID(REFUSED) | SAID(RESET)));
}

const char *node_address(const json_t *node) {
    return json_text_at(item_with(json_at(node, "status.addresses"), "type", "InternalIP"),
                        "address");
}

const char *own_address(const struct scene *scene) {
    return node_address(json_object_get(scene->evidence, "node"));
}

bool node_of_address(const struct scene *scene, const char *ip) {
    json_each(json_object_get(scene->evidence, "nodes"), i, node) {
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

bool is_peer(const struct scene *scene, const json_t *node) {
    const char *name = json_text_at(node, "metadata.name");
    const char *own = scene->report->node ? scene->report->node
                                          : json_text_at(scene->evidence, "node.metadata.name");

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

json_t *adapter_with(const struct scene *scene, const char *ip, const char *prefix) {
    json_each(json_object_get(scene->evidence, "adapters"), i, adapter) {
        if (adapter_holds(adapter, ip, prefix))
            return adapter;
    }
    return NULL;
}
