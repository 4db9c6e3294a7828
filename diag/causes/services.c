/* Finds causes in load balancers and DNS, behind the pod's own endpoint. */
#include "diag/causes/cause_rows.h"
#include "diag/evidence.h"
#include "netsetup/routes/routes.h"

#define BALANCER_HINT                                                                              \
    "powershell Restart-Service kube-proxy makes the load balancers again; then look for a "       \
    "firewall or agent on this node that drops packets for cluster IPs"

enum level judge_svc_all(const struct symptoms *symptoms, struct cause_finding *finding) {
    const json_t *balancers = json_object_get(symptoms->evidence, "loadBalancers"),
                 *proxy = json_object_get(symptoms->evidence, "kubeProxy");
    const char *state = json_text_at(symptoms->evidence, "services.kube-proxy");
    bool none = balancers && !json_array_size(balancers);

    if (none) {
        const char *vip = json_text_at(proxy, "sourceVip"), *prefix = expected(symptoms, "podCIDR");
        const char *server = json_text_at(proxy, "server"),
                   *own = json_text_at(symptoms->evidence, "look.api.server");

        if (vip && prefix && symptoms->mode->source_vip && !prefix_holds(prefix, vip))
            finding_note(finding, "its configuration has the sourceVip %s, which is outside %s",
                         vip, prefix);
        if (server && own && !text_equal(server, own))
            finding_note(finding, "its kubeconfig leads to %s; this node talks to %s", server, own);
        /* With a wrong configuration, a restart of kube-proxy does not help. */
        if (finding->evidence.count)
            finding->hint = xstrdup("winjoin join phase kube-proxy writes its configuration and "
                                    "kubeconfig again; then: powershell Restart-Service "
                                    "kube-proxy");
        finding_note(finding, "HNS has no load balancers");
    }
    if (state && !text_equal(state, "running"))
        finding_note(finding, "service kube-proxy is %s", state);
    if (none) {
        json_each(json_object_get(proxy, "lastErrors"), i, line)
            finding_note(finding, "its log says: %s", json_string_value(line));
        return CONFIRMED;
    }
    /* kube-proxy's earlier load balancers may still work. */
    return finding->evidence.count ? LIKELY : NO;
}

enum level judge_svc_ep0_api(const struct symptoms *symptoms, struct cause_finding *finding) {
    if (json_number_at(symptoms->evidence, "kubernetesEndpoints", 1) != 0)
        return NO;
    finding_note(finding, "no EndpointSlice has a ready endpoint of the Service kubernetes (%s)",
                 expected(symptoms, "kubernetesIP"));
    return CONFIRMED;
}

enum level judge_dns_none(const struct symptoms *symptoms, struct cause_finding *finding) {
    if (!json_is_false(json_object_get(symptoms->evidence, "dnsService")))
        return NO;
    finding_note(finding, "no Service of the cluster has the address %s, which pods ask for names",
                 expected(symptoms, "dnsIP"));
    return CONFIRMED;
}

/* Notes what the DNS Service itself lacks: kube-proxy only programs what the Service says. */
static void note_dns_spec(const struct symptoms *symptoms, const char *port,
                          struct cause_finding *finding) {
    const json_t *spec = json_object_get(symptoms->evidence, "dnsSpec");
    bool serves = false;

    json_each(json_object_get(spec, "ports"), i, item)
        serves |= text_equal(json_string_value(item), port);
    if (spec && !serves)
        finding_note(finding, "the Service itself has no port %s", port);
    if (text_equal(json_text_at(spec, "internalTrafficPolicy"), "Local"))
        finding_note(finding, "the Service has internalTrafficPolicy Local: only pods of the same "
                              "node are behind it");
    else if (!spec || serves)
        return;
    free(finding->hint);
    finding->hint = xstrdup("compare the DNS Service with that of a healthy cluster: kubectl -n "
                            "kube-system get service kube-dns -o yaml");
}

enum level judge_dns_lb(const struct symptoms *symptoms, struct cause_finding *finding) {
    const char *vip = expected(symptoms, "dnsIP"), *pod = symptoms->dns_pod_answers;
    const struct extra *asked = &symptoms->extras[X_DNS_UDP];

    if (!vip || !json_object_get(symptoms->evidence, "loadBalancers") ||
        json_number_at(symptoms->evidence, "dnsEndpoints", 1) == 0 ||
        json_is_false(json_object_get(symptoms->evidence, "dnsService")))
        return NO;
    finding->must = finding->may = 0;
    if (!diag_evidence_balancer(symptoms->evidence, vip, UDP, DNS_PORT)) {
        note_dns_spec(symptoms, "53/UDP", finding);
        finding_note(finding, "no load balancer for %s UDP 53", vip);
        finding->must |= CELL_UDP(SVC_IP);
        finding->may |= CELLS_DNS;
    }
    if (!diag_evidence_balancer(symptoms->evidence, vip, TCP, DNS_PORT)) {
        note_dns_spec(symptoms, "53/TCP", finding);
        finding_note(finding, "no load balancer for %s TCP 53", vip);
        finding->must |= CELL_TCP(SVC_SHORT);
        finding->may |= CELL_TCP(SVC_SHORT);
    }
    if (finding->evidence.count)
        return CONFIRMED;
    /* HNS has the load balancer, but questions to the cluster IP are lost, while a DNS pod that is
     * asked directly answers. */
    if (!pod || !(asked->said & ~SAID_OK) || !(symptoms->green & CELL_TCP(SVC_IP)) ||
        (symptoms->partly & CELLS_DNS) || symptoms->dns_is_split ||
        !((symptoms->outcome[PROBE_DNS_TIMEOUT] | symptoms->outcome[PROBE_UNREACHABLE]) &
          CELL_UDP(SVC_IP)))
        return NO;
    finding->must = CELL_UDP(SVC_IP);
    finding->may = CELLS_DNS;
    finding->message = xstrdup("the DNS Service's address does not lead pods to its pods by UDP, "
                               "though HNS has a load balancer for it");
    finding->hint = xstrdup(BALANCER_HINT);
    finding_note(finding, "DNS answers at %s; at %s, UDP 53, nothing does: %s", pod, vip,
                 asked->outcome);
    return LIKELY;
}

enum level judge_svc_lb(const struct symptoms *symptoms, struct cause_finding *finding) {
    const char *vip = expected(symptoms, "kubernetesIP");
    const json_t *balancer = diag_evidence_balancer(symptoms->evidence, vip, TCP, HTTPS_PORT);
    const char *server = diag_evidence_backend(symptoms->evidence, vip, TCP, HTTPS_PORT);

    if (!vip || !json_object_get(symptoms->evidence, "loadBalancers") ||
        json_number_at(symptoms->evidence, "kubernetesEndpoints", 1) == 0)
        return NO;
    if (!balancer) {
        finding_note(finding, "no load balancer for %s TCP 443", vip);
        return CONFIRMED;
    }
    /* HNS has the load balancer, but questions to the cluster IP are lost, while the same pod gets
     * an answer from the only server behind it. */
    if (!server || json_array_size(json_object_get(balancer, "HostComputeEndpoints")) > 1 ||
        !(symptoms->extras[X_API_DIRECT].said & SAID_OK) || !(symptoms->green & CELL_UDP(SVC_IP)) ||
        !((symptoms->outcome[PROBE_TIMEOUT] | symptoms->outcome[PROBE_UNREACHABLE]) &
          CELL_TCP(SVC_IP)))
        return NO;
    finding->message =
        xstrdup("the Service kubernetes does not lead pods to the API server, though "
                "HNS has a load balancer for it");
    finding->hint = xstrdup(BALANCER_HINT);
    finding_note(finding, "pods get an answer of %s; at %s port 443, which leads there, none",
                 server, vip);
    return LIKELY;
}

/* Notes what is wrong with the source VIP of one of the load balancers of the DNS. */
static void note_source(const struct symptoms *symptoms, const char *dns, const char *source,
                        struct cause_finding *finding) {
    const char *prefix = expected(symptoms, "podCIDR");

    if (!source || !*source)
        finding_note(finding, "the load balancer of %s has no SourceVIP", dns);
    else if (prefix && !prefix_holds(prefix, source))
        finding_note(finding, "the load balancer of %s has SourceVIP %s, which is outside %s", dns,
                     source, prefix);
    else if (json_object_get(symptoms->evidence, "endpoints") &&
             !endpoints_with(symptoms, source, false))
        finding_note(finding, "no endpoint has the SourceVIP %s of the load balancer of %s", source,
                     dns);
    else if (text_equal(source, symptoms->pods[POD_A].ip) ||
             text_equal(source, symptoms->pods[POD_B].ip))
        finding_note(finding, "a pod has the SourceVIP %s of the load balancer of %s, too", source,
                     dns);
}

enum level judge_svc_vip(const struct symptoms *symptoms, struct cause_finding *finding) {
    const char *dns = expected(symptoms, "dnsIP");
    const json_t *udp = diag_evidence_balancer(symptoms->evidence, dns, UDP, DNS_PORT);
    const json_t *tcp = diag_evidence_balancer(symptoms->evidence, dns, TCP, DNS_PORT);

    /* When the DNS pod is outside of the pod network, kube-proxy uses no source VIP for it. */
    if (!symptoms->mode->source_vip || !udp || symptoms->slice_is_old)
        return NO;
    note_source(symptoms, dns, json_text_at(udp, "SourceVIP"), finding);
    if (finding->evidence.count)
        return CONFIRMED;
    if (tcp)
        note_source(symptoms, dns, json_text_at(tcp, "SourceVIP"), finding);
    if (!finding->evidence.count) {
        const char *pod = symptoms->dns_pod_answers;

        /* HNS shows nothing wrong, so the answers decide: they may be lost all the same. Backends
         * on a node's own address (Service kubernetes) work without a source VIP. */
        if (!pod || !(symptoms->green & CELL_TCP(SVC_IP)) || (symptoms->partly & CELLS_DNS) ||
            dns_pods_differ(symptoms, NULL))
            return NO;
        finding_note(
            finding,
            "DNS answers at %s; through its Service the answers, which go to the SourceVIP "
            "%s, are lost",
            pod, json_text_at(udp, "SourceVIP"));
        return LIKELY;
    }
    finding->must = finding->may = CELL_TCP(SVC_SHORT);
    return CONFIRMED;
}

/* ---- the pods' routes to cluster IPs ---- */

/* When no SDNRoute policy of the endpoint hands packets for that address to the load balancers,
 * notes that and returns true. */
static bool leads_elsewhere(const struct symptoms *symptoms, const json_t *endpoint, const char *ip,
                            struct cause_finding *finding) {
    _cleanup_(text_list_free) struct text_list prefixes = {0};
    _cleanup_(freep) char *names = NULL;

    json_each(json_object_get(endpoint, "Policies"), i, policy) {
        const char *type = json_text_or(policy, "Type", "");
        const char *prefix = json_text_at(policy, "Settings.DestinationPrefix");

        if ((!text_equal_nocase(type, "SDNRoute") && !text_equal_nocase(type, "ROUTE")) ||
            !prefix || !json_is_true(json_at(policy, "Settings.NeedEncap")))
            continue;
        if (prefix_holds(prefix, ip))
            return false;
        text_list_add(&prefixes, prefix);
    }
    names = prefixes.count ? text_list_join(&prefixes, ", ") : xstrdup("nothing");
    finding_note(finding, "endpoint %s (%s): its SDNRoute policies lead to %s, not to %s",
                 json_text_at(endpoint, "ID"), symptoms->pods[POD_A].name, names, ip);
    return true;
}

enum level judge_svc_route(const struct symptoms *symptoms, struct cause_finding *finding) {
    const char *vip = expected(symptoms, "kubernetesIP"), *pod = symptoms->dns_pod_answers;
    const json_t *endpoint = symptoms->pods[POD_A].endpoint;

    if (!endpoint || !vip || !expected(symptoms, "networkMode"))
        return NO;
    /* Azure's pods have addresses of the node's own subnet, so the switch can reach the node. With
     * loopback DSR, load balancers need no policy there either. */
    json_each(json_object_get(endpoint, "Policies"), i, policy)
        if (prefix_holds(symptoms->subnet, symptoms->own_address) &&
            text_equal(json_text_at(policy, "Type"), "OutBoundNAT") &&
            json_array_size(json_at(policy, "Settings.Destinations")))
            return NO;
    if (leads_elsewhere(symptoms, endpoint, vip, finding))
        return CONFIRMED;
    if (!pod || !diag_evidence_balancer(symptoms->evidence, vip, TCP, HTTPS_PORT) ||
        (symptoms->partly & (CELL_BOTH(SVC_IP) | CELLS_NAMES)) || dns_pods_differ(symptoms, NULL))
        return NO;
    finding_note(finding, "DNS answers at %s, but nothing answers at a cluster IP", pod);
    return LIKELY;
}

/* On a bridge, a pod's packets to its own node need the same endpoint policy as packets to cluster
 * IPs. They do not need it when the node's address is in the pods' subnet, because then the switch
 * knows the way. */
enum level judge_l2_node(const struct symptoms *symptoms, struct cause_finding *finding) {
    const char *ip = symptoms->own_address;
    const json_t *endpoint = symptoms->pods[POD_A].endpoint;

    if (!symptoms->mode->node_network || !endpoint || !ip || prefix_holds(symptoms->subnet, ip))
        return NO;
    return leads_elsewhere(symptoms, endpoint, ip, finding) ? CONFIRMED : NO;
}

/* ---- DNS ---- */

enum level judge_svc_ep0(const struct symptoms *symptoms, struct cause_finding *finding) {
    const char *pod = symptoms->dns_pod;

    if (json_number_at(symptoms->evidence, "dnsEndpoints", 1) == 0) {
        finding_note(finding, "no EndpointSlice has a ready endpoint of the DNS Service");
        return CONFIRMED;
    }
    if (symptoms->dns_pod_answers || (symptoms->outcome[PROBE_DNS_SERVFAIL] & CELL_UDP(SVC_IP)))
        return NO;
    if (symptoms->slice_is_old) {
        finding_note(
            finding,
            "an EndpointSlice of the DNS has the address %s, on node %s: no Node has a pod "
            "prefix with it",
            pod, symptoms->dns_pod_node);
        finding->message = xstrdup("the DNS Service leads to an address that no node's pods have");
        finding->hint =
            xstrdup("kubectl -n kube-system get pods,endpointslices -l k8s-app=kube-dns -o "
                    "wide: delete the EndpointSlice whose addresses no pod has; Kubernetes "
                    "makes it again");
        return symptoms->dns_is_split ? LIKELY : CONFIRMED;
    }
    if (symptoms->dns_refuses)
        finding_note(
            finding,
            "the DNS Service refuses direct queries: packets arrive, but no program listens");
    else if (pod && (symptoms->extras[X_DNS_POD].said & SAID(REFUSED)) &&
             !symptoms->dns_answers_by_tcp)
        finding_note(finding,
                     "the DNS pod %s refuses questions by UDP: packets arrive, but no program of "
                     "the DNS listens",
                     pod);
    else if (pod && symptoms->extras[X_DNS_POD].said && symptoms->reaches_other_nodes &&
             !symptoms->dns_answers_by_tcp && !symptoms->dns_is_taken)
        finding_note(
            finding,
            "the node of the DNS pod %s answers this node's pods, the DNS pod does not: "
            "look for a NetworkPolicy, whether that node forwards, or answers later than in 2 s",
            pod);
    else
        return NO;
    return LIKELY;
}

enum level judge_dns_srv(const struct symptoms *symptoms, struct cause_finding *finding) {
    const json_t *endpoint = symptoms->pods[POD_A].endpoint;
    const char *ip = expected(symptoms, "dnsIP");
    bool known = endpoint && ip,
         has = known && json_has_text(json_at(endpoint, "Dns.ServerList"), ip);

    if (symptoms->dns_is_taken) {
        /* A firewall, proxy or router answers each UDP question to a DNS server itself. */
        finding->must = CELL_UDP(SVC_IP);
        finding->may = CELLS_DNS;
        finding->message = xstrdup("another server answers the pods' DNS questions by UDP");
        finding->hint =
            xstrdup("look for a firewall, a proxy or a rule on this node that redirects "
                    "UDP 53");
        finding_note(
            finding,
            "%s knows the Service kubernetes when it is asked by TCP; by UDP the answer is: %s",
            expected(symptoms, "dnsIP"), symptoms->extras[X_DNS_UDP].outcome);
        return LIKELY;
    }

    /* Cells whose name resolved to a wrong address have another cause, so only cells without an
     * address count. */
    finding->may &= symptoms->unresolved;
    if (!(finding->may & CELL_BOTH(SVC_FQDN)))
        return NO;
    if (!(symptoms->green & CELL_UDP(SVC_IP)) && !(symptoms->extras[X_DNS_UDP].said & SAID_OK))
        return NO;
    /* When only some of several questions fail, the pod's DNS servers are not the cause. */
    if (has && ((symptoms->failed & CELL_UDP(SVC_IP)) || (symptoms->green & CELL_BOTH(POD_NAME)) ||
                symptoms->dns_loses_some))
        return NO;
    finding_note(finding, "the DNS Service answers direct queries");
    if (!known || has)
        return LIKELY;
    finding_note(finding, "the pod's DNS servers (endpoint %s) lack %s",
                 json_text_at(endpoint, "ID"), ip);
    return CONFIRMED;
}

/* Notes names that resolved to another address of the same family than `own`, alone or beside it.
 * Cells by UDP look up the DNS by its name and then ask it for the Service kubernetes, so for them
 * both addresses are right. */
static void note_misled(const struct symptoms *symptoms, enum diag_flow_id flow,
                        const char *const own[2], const char *whose,
                        struct cause_finding *finding) {
    for (int udp = 0; udp < 2; udp++) {
        const struct diag_cell *cell = diag_cells_find(&symptoms->report->cells, flow, udp, false);

        if (!own[udp] || !cell || cell->outcome != DIAG_FAIL)
            continue;
        for (size_t i = 0; i < cell->result.address_count; i++) {
            const char *address = cell->result.addresses[i];

            if (text_equal(address, own[udp]) || (udp && text_equal(address, own[0])) ||
                !strchr(address, ':') != !strchr(own[udp], ':'))
                continue;
            finding_note(finding, "%s resolves to %s; %s has %s", cell->to, address, whose,
                         own[udp]);
            break;
        }
    }
}

enum level judge_dns_wrong(const struct symptoms *symptoms, struct cause_finding *finding) {
    const char *own[] = {expected(symptoms, "kubernetesIP"), expected(symptoms, "dnsIP")};
    const char *pod[] = {symptoms->pods[POD_B].ip, symptoms->pods[POD_B].ip};
    const json_t *endpoint = symptoms->pods[POD_A].endpoint;

    finding->may &= ~symptoms->unresolved;
    note_misled(symptoms, FLOW_SVC_FQDN, own, "the Service", finding);
    note_misled(symptoms, FLOW_POD_NAME, pod, "the pod", finding);
    if (!finding->evidence.count)
        return NO;
    if (endpoint && own[1] && !json_has_text(json_at(endpoint, "Dns.ServerList"), own[1]))
        finding_note(finding, "the pod's DNS servers (endpoint %s) lack %s",
                     json_text_at(endpoint, "ID"), own[1]);
    return CONFIRMED;
}

enum level judge_dns_sfx(const struct symptoms *symptoms, struct cause_finding *finding) {
    const char *namespace_ = expected(symptoms, "namespace"),
               *domain = expected(symptoms, "dnsDomain");
    const json_t *endpoint = symptoms->pods[POD_A].endpoint;
    _cleanup_(freep) char *suffix = NULL;

    if (!(symptoms->green & CELL_BOTH(SVC_FQDN)) || !(symptoms->unresolved & CELL_BOTH(SVC_SHORT)))
        return NO;
    suffix = xasprintf("%s.svc.%s", namespace_ ? namespace_ : "kube-system",
                       domain ? domain : "cluster.local");
    if (!endpoint || json_has_text(json_at(endpoint, "Dns.Search"), suffix) ||
        text_equal(json_text_at(endpoint, "Dns.Domain"), suffix)) {
        finding_note(finding, "full names of Services resolve, short ones do not exist");
        return symptoms->outcome[PROBE_DNS_NXDOMAIN] & CELL_BOTH(SVC_SHORT) ? LIKELY : NO;
    }
    finding_note(finding, "the pod's DNS suffixes (endpoint %s) lack %s",
                 json_text_at(endpoint, "ID"), suffix);
    return CONFIRMED;
}
