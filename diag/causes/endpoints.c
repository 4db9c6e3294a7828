/* Finds causes in the endpoints of the probe pods: an endpoint is missing, two have the same
 * address, or one has other routes than its network. */
#include "base/cidr.h"
#include "diag/causes/cause_rows.h"
#include "diag/evidence.h"

enum level judge_hns_ep(const struct symptoms *symptoms, struct cause_finding *finding) {
    const struct probed_pod *pod = &symptoms->pods[*finding->what == 'a' ? POD_A : POD_B];
    const json_t *endpoint = pod->endpoint;
    long long state = endpoint ? json_number_at(endpoint, "State", STATE_ATTACHED_SHARING) : 0;
    const char *id = endpoint ? json_text_at(endpoint, "ID") : NULL;

    if (!pod->ip || !json_object_get(symptoms->evidence, "endpoints"))
        return NO;
    if (!endpoint)
        finding_note(finding, "no local endpoint has the address %s of %s", pod->ip, pod->name);
    else if (state != STATE_ATTACHED_SHARING)
        finding_note(finding, "endpoint %s (%s) is in state %lld, not 3", id ? id : "", pod->name,
                     state);
    else
        return NO;
    return CONFIRMED;
}

/* Neither the node nor the other pod reaches pod b, by any protocol and in any packet size, though
 * its HNS endpoint looks right. */
enum level judge_hns_ep_silent(const struct symptoms *symptoms, struct cause_finding *finding) {
    const uint32_t to_b = CELL_BOTH(POD_IP) | CELL_BOTH(NODE_POD);

    if ((symptoms->failed & ~symptoms->partly & to_b) != to_b ||
        symptoms->outcome[PROBE_WRONG_RESPONDER] ||
        (symptoms->extras[X_SMALL_TCP].said & SAID_OK) || !(symptoms->green & CELL_BOTH(SVC_IP)) ||
        !symptoms->pods[POD_B].endpoint)
        return NO;
    finding_note(finding, "neither the node nor %s reaches %s (%s)", symptoms->pods[POD_A].name,
                 symptoms->pods[POD_B].name, symptoms->pods[POD_B].ip);
    return LIKELY;
}

size_t endpoints_with(const struct symptoms *symptoms, const char *ip, bool attached) {
    size_t n = 0;

    json_each(json_object_get(symptoms->evidence, "endpoints"), i, endpoint) {
        if (attached && !endpoint_is_attached(endpoint))
            continue;
        json_each(json_object_get(endpoint, "IpConfigurations"), k, configuration) {
            n += text_equal(json_text_at(configuration, "IpAddress"), ip);
        }
    }
    return n;
}

/* This node has an endpoint with the address of a DNS pod of another node, so packets to that pod
 * stay here. */
static bool dns_pod_is_local(const struct symptoms *symptoms, struct cause_finding *finding) {
    const char *pod = symptoms->dns_pod;
    const char *prefix = expected(symptoms, "podCIDR");

    if (!pod || !prefix || prefix_holds(prefix, pod) || symptoms->reaches_dns_pod)
        return false;
    json_each(json_object_get(symptoms->evidence, "endpoints"), i, endpoint) {
        const char *id = json_text_at(endpoint, "ID");

        if (text_equal(json_text_at(endpoint, "IpConfigurations.0.IpAddress"), pod) &&
            !(json_number_at(endpoint, "Flags", 0) & 1))
            finding_note(finding,
                         "endpoint %s of this node has the address %s of a DNS pod, which "
                         "is on another",
                         id ? id : "", pod);
    }
    if (!finding->evidence.count)
        return false;
    finding->must = CELL_UDP(SVC_IP);
    finding->may = CELLS_DNS;
    return true;
}

enum level judge_hns_epstale(const struct symptoms *symptoms, struct cause_finding *finding) {
    static const struct {
        size_t pod;
        uint32_t must, may;
    } rows[] = {
        {POD_A, CELL_BOTH(SVC_IP), CELLS_FROM_POD},
        {POD_B, CELL_BOTH(NODE_POD), CELL_BOTH(POD_IP) | CELL_BOTH(POD_NAME) | CELL_BOTH(NODE_POD)},
    };
    const char *a = json_text_at(symptoms->pods[POD_A].endpoint, "MacAddress");
    const char *b = json_text_at(symptoms->pods[POD_B].endpoint, "MacAddress");
    uint32_t wrong;

    if (a && b && *a && mac_equal(a, b)) { /* Packets for both pods reach one of them at most. */
        finding->message = xstrdup("two endpoints have the same MAC address");
        finding->hint = xstrdup("delete one of the pods: its new endpoint gets another one");
        finding_note(finding, "the endpoints of %s and %s have the MAC address %s",
                     symptoms->pods[POD_A].name, symptoms->pods[POD_B].name, a);
        return CONFIRMED;
    }
    if (dns_pod_is_local(symptoms, finding))
        return CONFIRMED;
    /* Of two endpoints with the same address, only one gets the packets for it. The second one
     * counts when it is attached; an unattached one counts only where a wrong pod answered. */
    wrong = symptoms->outcome[PROBE_WRONG_RESPONDER] & finding->may;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const char *ip = symptoms->pods[rows[i].pod].ip;
        size_t n = ip ? endpoints_with(symptoms, ip, !wrong) : 0;

        if (n < 2)
            continue;
        if (!finding->evidence.count)
            finding->may = wrong;
        finding_note(finding, "%zu endpoints have the address %s", n, ip);
        finding->must |= wrong ? 0 : rows[i].must;
        finding->may |= rows[i].may & symptoms->failed & ~symptoms->partly;
    }
    if (finding->evidence.count)
        return CONFIRMED;
    finding->may = wrong;
    if (!wrong)
        return NO;
    finding_note(finding, "another pod than the one that was asked answers");
    return LIKELY;
}

/* In bridge modes pods send through the node's own address among the pods' addresses, which the
 * node's endpoint of the network brings. Notes it when no adapter has such an address. */
static bool note_no_host_endpoint(const struct symptoms *symptoms, const char *hop,
                                  struct cause_finding *finding) {
    const char *prefix = symptoms->subnet;

    if (!symptoms->mode->host_routes || !json_object_get(symptoms->evidence, "adapters") ||
        !prefix_holds(prefix, hop) || adapter_with(symptoms, NULL, prefix))
        return false;
    text_set(&finding->message, xstrdup("the pods' gateway, this node's own endpoint of their "
                                        "network, is missing"));
    text_set(&finding->hint, xstrdup("winjoin join phase pod-network makes the endpoint again"));
    finding_note(finding, "pods send by %s, and no adapter of this node has an address of %s", hop,
                 prefix);
    return true;
}

/* Notes routes of a pod that do not lead to its network's gateway, a missing default route, and a
 * prefix that is too wide. */
static void note_routes(const struct symptoms *symptoms, const struct probed_pod *pod,
                        struct cause_finding *finding) {
    const char *gateway = json_text_at(symptoms->network, "Ipams.0.Subnets.0.Routes.0.NextHop");
    const json_t *gateways = json_at(symptoms->network, "Ipams.0.Subnets.0.Routes");
    const json_t *endpoint = pod->endpoint;
    const char *id = json_text_at(endpoint, "ID"), *name = pod->name;
    const char *ip = pod->ip, *dns = expected(symptoms, "dnsIP");
    long long length = json_number_at(endpoint, "IpConfigurations.0.PrefixLength", 0);
    _cleanup_(freep) char *own = xasprintf("%s/%lld", ip ? ip : "", length);
    char segment[CIDR_TEXT_MAX];
    struct cidr cidr;
    bool any = false, wide = false;

    json_each(json_object_get(endpoint, "Routes"), i, route) {
        const char *hop = json_text_at(route, "NextHop");
        const char *prefix = json_text_at(route, "DestinationPrefix");
        bool all = !prefix || text_equal(prefix, "0.0.0.0/0");

        any |= (prefix && strchr(prefix, ':')) || (hop && strchr(hop, '.'));
        if (!hop || !strchr(hop, '.'))
            continue;
        wide |= all;
        /* The next hop is right when it is the gateway of the network, or in bridge modes the
         * node's own address among the pods. */
        if (!gateway || item_with(gateways, "NextHop", hop) || adapter_with(symptoms, hop, NULL))
            continue;
        if (all && !note_no_host_endpoint(symptoms, hop, finding))
            finding_note(finding, "endpoint %s (%s) has the gateway %s; the network's is %s", id,
                         name, hop, gateway);
        else if (!all)
            finding_note(finding,
                         "endpoint %s (%s) has a route to %s by %s; the network's gateway is %s",
                         id, name, prefix, hop, gateway);
    }
    if (any && !wide && ip && strchr(ip, '.'))
        finding_note(finding, "endpoint %s (%s) has no default route", id, name);
    /* When the pod's own prefix holds the address of the DNS Service, the pod looks for that
     * Service on its own segment. */
    if (length < 1 || cidr_parse(own, &cidr, NULL) < 0)
        return;
    cidr_format(&cidr, segment);
    if (prefix_holds(segment, dns))
        finding_note(finding, "endpoint %s (%s) has the prefix %s, which holds the Service %s", id,
                     name, segment, dns);
}

/* Says whether pod a has routes, and none of them holds the address. */
static bool lacks_route(const struct symptoms *symptoms, const char *ip) {
    const json_t *endpoint = symptoms->pods[POD_A].endpoint;
    bool any = false;

    json_each(json_object_get(endpoint, "Routes"), i, route) {
        const char *prefix = json_text_at(route, "DestinationPrefix");

        if (!prefix || prefix_holds(prefix, ip))
            return false;
        any = true;
    }
    return any && ip;
}

/* Judges the routes of pod a, which asks; if these are right, the routes of pod b, which the node
 * then does not reach. */
enum level judge_pod_gw(const struct symptoms *symptoms, struct cause_finding *finding) {
    note_routes(symptoms, &symptoms->pods[POD_A], finding);
    if (lacks_route(symptoms, expected(symptoms, "externalIP")) &&
        !lacks_route(symptoms, expected(symptoms, "dnsIP"))) {
        finding->must = CELL_BOTH(EXT_IP);
        finding->may = CELL_BOTH(EXT_IP) | CELL_TCP(EXT_DNS);
    }
    if (finding->evidence.count)
        return CONFIRMED;
    note_routes(symptoms, &symptoms->pods[POD_B], finding);
    finding->must = 0;
    finding->may = CELL_BOTH(NODE_POD);
    return finding->evidence.count ? CONFIRMED : NO;
}

/* HNS and the network agree about the gateway, so the gateway, or what is behind it, drops the
 * packets. The node itself reaches the outside. */
enum level judge_pod_gw_silent(const struct symptoms *symptoms, struct cause_finding *finding) {
    const uint32_t silent = symptoms->outcome[PROBE_TIMEOUT] | symptoms->outcome[PROBE_NO_REPLY] |
                            symptoms->outcome[PROBE_DNS_TIMEOUT] |
                            symptoms->outcome[PROBE_UNREACHABLE];
    const char *hop = json_text_at(symptoms->pods[POD_A].endpoint, "Routes.0.NextHop");
    bool meet = symptoms->green & CELL_BOTH(POD_IP);

    if ((symptoms->extras[X_NODE_EXTERNAL].said & ~SAID_OK) ||
        (finding->must & (~symptoms->failed | ~silent | symptoms->explained)))
        return NO;
    if (meet) {
        finding_note(finding, "pods reach each other, and nothing by their gateway%s%s",
                     hop ? " " : "", hop ? hop : "");
    } else {
        finding->message = xstrdup("the node passes nothing on that its pods send");
        finding_note(finding, "pods get no answer from each other, from Services or from outside");
    }
    if (symptoms->green & CELL_BOTH(POD_NODE))
        finding_note(finding, "pods reach their own node: what they send is lost on this node, "
                              "behind its virtual switch");
    if (symptoms->extras[X_NODE_EXTERNAL].said)
        finding_note(finding, "the node itself reaches the target outside");
    return LIKELY;
}

/* ---- IPv6, the second family of a dual-stack node ---- */

enum level judge_ip6_addr(const struct symptoms *symptoms, struct cause_finding *finding) {
    const json_t *adapters = json_object_get(symptoms->evidence, "adapters");
    const char *ip = expected(symptoms, "nodeIP6");

    if (!ip || !adapters || adapter_with(symptoms, ip, NULL))
        return NO;
    finding_note(finding, "no adapter has the address %s", ip);
    return CONFIRMED;
}

enum level judge_ip6_lb(const struct symptoms *symptoms, struct cause_finding *finding) {
    const char *vip = expected(symptoms, "dnsIP6");

    if (!vip || !json_object_get(symptoms->evidence, "loadBalancers"))
        return NO;
    for (int udp = 0; udp < 2; udp++)
        if (!diag_evidence_balancer(symptoms->evidence, vip, udp ? UDP : TCP, DNS_PORT))
            finding_note(finding, "HNS has no load balancer for [%s]:53 over %s", vip,
                         udp ? "UDP" : "TCP");
    return finding->evidence.count ? CONFIRMED : NO;
}

static const char *ipv6_of(const json_t *list, const char *key) {
    json_each(list, i, item) {
        const char *text = key ? json_text_at(item, key) : json_string_value(item);

        if (text && strchr(text, ':'))
            return text;
    }
    return NULL;
}

enum level judge_ip6_route(const struct symptoms *symptoms, struct cause_finding *finding) {
    if (!json_object_get(symptoms->evidence, "routes") || symptoms->network_routes)
        return NO;
    json_each(json_at(symptoms->evidence, "nodes"), i, node) {
        const char *prefix = ipv6_of(json_at(node, "spec.podCIDRs"), NULL);
        const char *hop = ipv6_of(json_at(node, "status.addresses"), "address");
        char wanted[CIDR_TEXT_MAX], there[CIDR_TEXT_MAX];
        struct cidr cidr;
        bool stands = false;

        if (!prefix || !hop || !is_peer(symptoms, node) || cidr_parse(prefix, &cidr, NULL) < 0)
            continue;
        cidr_format(&cidr, wanted);
        json_each(json_object_get(symptoms->evidence, "routes"), k, route) {
            const char *text = json_text_at(route, "destination");

            if (!text || cidr_parse(text, &cidr, NULL) < 0)
                continue;
            cidr_format(&cidr, there);
            stands |= text_equal(wanted, there);
        }
        if (!stands)
            finding_note(finding, "no route to %s via %s (node %s)", prefix, hop,
                         json_text_at(node, "metadata.name"));
    }
    return finding->evidence.count ? CONFIRMED : NO;
}
