/* Finds causes that the answers themselves show: answers by one protocol only, no such zone, some
 * packets lost. When the DNS answers with an error, or by one protocol only, the DNS is never more
 * than the likely cause: a device between may drop that protocol, or answer in place of the DNS. */
#include "diag/causes/cause_rows.h"
#include "diag/evidence.h"

/* Returns the number of backends that the load balancer of this address and port sends to. */
static size_t backends_of(const struct symptoms *symptoms, const char *vip, int protocol,
                          int port) {
    return json_array_size(json_object_get(
        diag_evidence_balancer(symptoms->evidence, vip, protocol, port), "HostComputeEndpoints"));
}

enum level judge_tcp_lost(const struct symptoms *symptoms, struct cause_finding *finding) {
    const char *pod = symptoms->pod_without_tcp;
    const uint32_t silent = (symptoms->outcome[PROBE_TIMEOUT] | symptoms->outcome[PROBE_NO_REPLY]) &
                            CELLS_TCP & ~symptoms->partly;
    const uint32_t wide = CELL_TCP(POD_IP) | CELL_TCP(SVC_IP) | CELL_TCP(EXT_IP);
    bool by_udp = (symptoms->green & CELL_UDP(POD_IP)) &&
                  (symptoms->green & (CELL_UDP(SVC_IP) | CELL_UDP(EXT_IP)));
    /* Pods of this node and the target outside are silent by TCP, too, so the cause is not on other
     * nodes alone. The target outside answers the node itself. */
    uint32_t cells =
        by_udp && (silent & wide) == wide && (symptoms->extras[X_NODE_EXTERNAL].said & SAID_OK)
            ? silent
            : 0;

    if (pod)
        finding_note(finding,
                     symptoms->tcp_is_refused_alone
                         ? "%s answers by UDP; by TCP its closed port 9 refuses, and ports 53 and "
                           "9153 are silent: what takes a connection is lost on its way back"
                         : "%s answers by UDP; by TCP its closed port 9 is as silent as port 53",
                     pod);
    if (cells) {
        finding->must = pod ? finding->must : 0;
        finding->may |= cells;
        finding->message = xstrdup("TCP from pods is lost, UDP is not");
        finding->hint = xstrdup("look for a firewall or policy on this node that lets UDP pass "
                                "only: winjoin diag --capture shows who drops it");
        finding_note(finding, "pods of this node get no answer from each other by TCP; by UDP they "
                              "do; the node itself reaches the target outside");
    }
    return pod || cells ? LIKELY : NO;
}

/* Returns cells of flows by address, without DNS question, that are silent by UDP and pass by
 * TCP. */
static uint32_t cells_without_udp(const struct symptoms *symptoms) {
    const uint32_t silent =
        symptoms->outcome[PROBE_NO_REPLY] | symptoms->outcome[PROBE_DNS_TIMEOUT];

    return CELLS_STRAIGHT & CELLS_UDP & silent & ~symptoms->partly & symptoms->green << 1;
}

enum level judge_udp_lost(const struct symptoms *symptoms, struct cause_finding *finding) {
    /* The DNS answers by TCP. By UDP even a DNS pod that is asked at its own address is silent. */
    bool without = (symptoms->extras[X_DNS_UDP].said & SAID_NOTHING) &&
                   (symptoms->extras[X_DNS_POD].said & SAID_NOTHING) &&
                   symptoms->dns_answers_by_tcp,
         silent = without && (symptoms->extras[X_CLOSED_UDP].said & SAID(NO_REPLY));
    uint32_t cells = without ? cells_without_udp(symptoms) : 0;

    if (symptoms->node_is_without_udp) {
        finding->may |= CELL_UDP(EXT_IP);
        finding->message = xstrdup("UDP between this node and others is lost, TCP is not");
        finding_note(finding,
                     "this node gets an answer by TCP from outside%s; by UDP none, nor do "
                     "encapsulated packets of its pods",
                     (symptoms->extras[X_NODE_PEER].said & SAID_THERE)
                         ? ", and from the node of the DNS pods"
                         : "");
        return LIKELY;
    }

    for (size_t i = 0; i < symptoms->report->cells.count && cells; i++) {
        const struct diag_cell *cell = &symptoms->report->cells.items[i];

        if (cell->second == symptoms->second && (cell_bit(cell) & cells))
            finding_note(finding, "%s gets no answer by UDP; by TCP it does", cell->flow->name);
    }
    if (silent)
        finding_note(finding, "the DNS pod answers by TCP; by UDP its closed port 9 is as silent "
                              "as port 53");
    if (cells && (symptoms->extras[X_CLOSED_UDP].said & SAID(REFUSED))) {
        finding->message = xstrdup("questions to DNS servers by UDP, or their answers, are lost");
        finding_note(finding, "other ports of the DNS pod answer by UDP: it is port 53, at each "
                              "server that was asked");
    }
    finding->may |= cells;
    return cells || silent ? LIKELY : NO;
}

/* The DNS is asked at its cluster IP, and answers over one protocol only. Of several DNS pods one
 * may be dead. Where UDP is silent, all of UDP may be lost: nothing else on another node answers by
 * UDP, and a closed port answers with ICMP, which may be dropped. */
enum level judge_dns_proto(const struct symptoms *symptoms, struct cause_finding *finding) {
    const struct extra *udp = &symptoms->extras[X_DNS_UDP], *tcp = &symptoms->extras[X_DNS_TCP];
    const char *vip = expected(symptoms, "dnsIP");
    bool over_udp = udp->said & SAID_ANSWER, over_tcp = symptoms->dns_answers_by_tcp;

    /* In each of these cases another row names the cause. */
    if (symptoms->pod_without_tcp || dns_pods_differ(symptoms, NULL) || symptoms->dns_loses_some ||
        (symptoms->dns_is_split && (symptoms->partly & CELLS_DNS)) ||
        (!over_udp && cells_without_udp(symptoms)) || symptoms->dns_is_taken)
        return NO;
    if (!udp->said || !tcp->said || over_udp == over_tcp ||
        !diag_evidence_balancer(symptoms->evidence, vip, UDP, DNS_PORT) ||
        !diag_evidence_balancer(symptoms->evidence, vip, TCP, DNS_PORT))
        return NO;
    finding->must = over_udp ? CELL_TCP(SVC_SHORT) : CELLS_DNS;
    finding->may = over_udp ? CELL_TCP(SVC_SHORT) : CELLS_DNS;
    finding_note(finding, "%s port 53: over UDP %s, over TCP %s", vip, udp->outcome, tcp->outcome);
    if ((symptoms->extras[X_CLOSED_UDP].said & SAID(REFUSED)) && !over_udp)
        finding_note(
            finding,
            "the DNS pod refuses UDP at a closed port: packets arrive there, so it is port 53, or "
            "all answers by UDP");
    if (over_udp && (tcp->said & SAID(REFUSED)) &&
        (symptoms->extras[X_PAGE_SMALL].said & SAID(REFUSED)))
        finding_note(finding,
                     "port 9153 of the DNS pod, which CoreDNS has by TCP, refuses, too: all "
                     "of TCP may be reset on the way");
    if (over_udp && (symptoms->extras[X_DNS_CONNECT].said & SAID_OK))
        finding_note(finding, "a pod of the DNS takes TCP connections at its own address");
    if (!over_udp && (udp->said & SAID_NOTHING) &&
        !(symptoms->extras[X_CLOSED_UDP].said & SAID(REFUSED))) {
        finding_note(finding,
                     "nothing else on other nodes can be asked by UDP: all of it may be lost");
        if (symptoms->green & CELL_UDP(EXT_IP))
            finding_note(finding, "UDP to the DNS server outside works");
    }
    return LIKELY;
}

/* The DNS answers every question with an error, even for the cluster's own zone. Usually it cannot
 * reach the API server. */
enum level judge_dns_fail(const struct symptoms *symptoms, struct cause_finding *finding) {
    const char *vip = expected(symptoms, "dnsIP");
    bool by_udp = (symptoms->extras[X_DNS_UDP].said & SAID(DNS_SERVFAIL)) ||
                  (symptoms->outcome[PROBE_DNS_SERVFAIL] & CELL_UDP(SVC_IP));

    if (symptoms->dns_is_taken || !(symptoms->outcome[PROBE_DNS_SERVFAIL] & finding->may) ||
        (!by_udp && !(symptoms->extras[X_DNS_TCP].said & SAID(DNS_SERVFAIL))))
        return NO;
    if (!by_udp)
        finding->must = finding->may = CELL_TCP(SVC_SHORT);
    finding_note(finding,
                 "%s answers with an error (SERVFAIL, REFUSED) when it is asked for a Service%s",
                 vip ? vip : "the DNS Service", by_udp ? "" : " by TCP");
    return LIKELY;
}

/* A Service has several backends, some of them dead: some attempts fail, others are answered. */
enum level judge_svc_half(const struct symptoms *symptoms, struct cause_finding *finding) {
    const uint32_t straight = CELL_BOTH(POD_IP) | CELL_BOTH(EXT_IP) | CELL_BOTH(NODE_POD);
    const uint32_t silent = symptoms->partly | symptoms->outcome[PROBE_DNS_TIMEOUT] |
                            symptoms->outcome[PROBE_TIMEOUT] | symptoms->outcome[PROBE_NO_REPLY];
    uint32_t cells = 0;

    for (size_t i = 0; i < ASKED_SERVICES && !(symptoms->partly & straight); i++) {
        const struct asked_service *asked = &asked_services[i];
        const char *vip = expected(symptoms, asked->key);
        size_t backends = backends_of(symptoms, vip, asked->protocol, asked->port);
        uint32_t mixed = symptoms->partly; /* One cell may have met only the dead backend. */

        if (asked->protocol == TCP && (symptoms->green & asked->cells))
            mixed |= symptoms->failed & ~symptoms->unresolved;
        if (asked->protocol == UDP &&
            (symptoms->dns_loses_some || dns_pods_differ(symptoms, finding)))
            mixed |= CELLS_DNS;
        if (backends < 2 || !(mixed & asked->cells))
            continue;
        finding_note(finding,
                     "%zu are behind %s port %d; some questions are answered, some are not",
                     backends, vip, asked->port);
        cells |= asked->cells;
    }
    finding->may &= cells & silent;
    return finding->may ? LIKELY : NO;
}

/* The DNS answers that a name of the cluster's own zone does not exist. */
enum level judge_dns_zone(const struct symptoms *symptoms, struct cause_finding *finding) {
    const char *domain = expected(symptoms, "dnsDomain");

    finding->may &= symptoms->unresolved;
    if (!(symptoms->extras[X_DNS_UDP].said & SAID(DNS_NXDOMAIN)) || symptoms->dns_is_taken ||
        !(symptoms->outcome[PROBE_DNS_NXDOMAIN] & CELL_UDP(SVC_IP)))
        return NO;
    finding_note(finding, "%s says that kubernetes.default.svc.%s does not exist",
                 expected(symptoms, "dnsIP") ? expected(symptoms, "dnsIP") : "the DNS Service",
                 domain ? domain : "cluster.local");
    return LIKELY;
}

/* An API server with several adapters announces the address of the wrong one, which this node
 * cannot reach. When the Service kubernetes has several backends and some attempts succeed, one API
 * server may be dead instead. */
enum level judge_api_addr(const struct symptoms *symptoms, struct cause_finding *finding) {
    const char *vip = expected(symptoms, "kubernetesIP");
    const char *server = json_text_at(symptoms->evidence, "look.api.server");
    const char *backend = diag_evidence_backend(symptoms->evidence, vip, TCP, HTTPS_PORT);
    const struct extra *asked = &symptoms->extras[X_NODE_API];
    unsigned port = diag_evidence_backend_port(symptoms->evidence, vip, TCP, HTTPS_PORT);
    _cleanup_(freep) char *place = xasprintf("%s:%u", backend ? backend : "", port);
    _cleanup_(freep) char *authority =
        port ? xasprintf("//%s", place) : xasprintf("//%s:", backend ? backend : "");

    if (!backend || !(asked->said & ~SAID_OK) ||
        (backends_of(symptoms, vip, TCP, HTTPS_PORT) > 1 &&
         (symptoms->partly & (CELL_TCP(SVC_IP) | CELL_TCP(SVC_FQDN)))) ||
        (server && strstr(server, authority)) ||
        !text_equal(json_text_at(symptoms->evidence, "look.api.outcome"), "ok"))
        return NO;
    finding_note(finding,
                 "the node talks to %s; the Service kubernetes (%s) leads to %s, which the node "
                 "does not reach: %s",
                 server ? server : "the API server", vip, port ? place : backend, asked->outcome);
    return CONFIRMED;
}

enum level judge_api_pods(const struct symptoms *symptoms, struct cause_finding *finding) {
    const char *vip = expected(symptoms, "kubernetesIP");
    const char *server = json_text_at(symptoms->evidence, "look.api.server");
    const char *backend = diag_evidence_backend(symptoms->evidence, vip, TCP, HTTPS_PORT);

    if (!text_equal(json_text_at(symptoms->evidence, "look.api.outcome"), "ok") ||
        !diag_evidence_balancer(symptoms->evidence, vip, TCP, HTTPS_PORT) ||
        !(symptoms->green & CELL_UDP(SVC_IP)))
        return NO;
    finding_note(finding,
                 "the node itself talks to %s; the load balancer of %s port 443 sends to %s",
                 server ? server : "the API server", vip, backend ? backend : "it");
    return LIKELY;
}

/* Some attempts succeed, others do not. Between two addresses that proves packet loss. Behind a
 * Service with several backends, one of them may be dead instead. */
enum level judge_loss(const struct symptoms *symptoms, struct cause_finding *finding) {
    const uint32_t straight =
        CELL_BOTH(POD_IP) | CELL_BOTH(EXT_IP) | CELL_BOTH(NODE_POD) | CELL_BOTH(POD_NODE);

    for (size_t i = 0; i < symptoms->report->cells.count; i++) {
        const struct diag_cell *cell = &symptoms->report->cells.items[i];
        _cleanup_(freep) char *name = NULL;

        if (cell->second != symptoms->second || cell->outcome != DIAG_FAIL ||
            !(cell_bit(cell) & symptoms->partly))
            continue;
        name = diag_cell_name(cell);
        finding_note(finding, "%s: %u of %u attempts succeeded", name, cell->result.succeeded,
                     cell->result.attempts);
    }
    finding->may = symptoms->partly;
    if (symptoms->partly & CELLS_DNS) /* Cells by the same DNS belong to this cause. */
        finding->may |=
            CELLS_DNS & (symptoms->outcome[PROBE_DNS_TIMEOUT] | symptoms->outcome[PROBE_TIMEOUT]);
    if (symptoms->partly & CELLS_OUTSIDE) /* The DNS asks the outside for these names. */
        finding->may |= CELLS_OUTSIDE &
                        (symptoms->outcome[PROBE_DNS_TIMEOUT] | symptoms->outcome[PROBE_TIMEOUT]);
    if (!symptoms->partly && symptoms->dns_loses_some &&
        backends_of(symptoms, expected(symptoms, "dnsIP"), TCP, DNS_PORT) == 1) {
        finding_note(finding, "some questions to %s by TCP are lost, and larger ones pass",
                     expected(symptoms, "dnsIP"));
        finding->may =
            CELLS_DNS & (symptoms->outcome[PROBE_DNS_TIMEOUT] | symptoms->outcome[PROBE_TIMEOUT]);
        return LIKELY;
    }
    return !symptoms->partly ? NO : (symptoms->partly & straight) ? CONFIRMED : LIKELY;
}
