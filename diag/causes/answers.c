/* Causes that the answers themselves show: by one protocol only, no such zone, some lost. What an
 * answer of the DNS says is never more than likely to be the DNS' own fault: what is between may
 * drop the one protocol, or answer in its place. */
#include "diag/causes/rows.h"
#include "diag/evidence.h"

/* How many pods a load balancer sends to. */
static size_t backends_of(const struct scene *scene, const char *vip, int protocol, int port) {
    return json_array_size(
        json_object_get(load_balancer_of(scene, vip, protocol, port), "HostComputeEndpoints"));
}

bool dns_is_split(const struct scene *scene) {
    return backends_of(scene, expected(scene, "dnsIP"), UDP, DNS_PORT) > 1 &&
           (scene->failed & CELLS_DNS);
}

/* The same question to the DNS Service, larger and larger: one of its pods at least is well. */
static const char *const by_tcp[] = {"x-dns-tcp",       "x-size-dns-1000", "x-size-dns-1200",
                                     "x-size-dns-1300", "x-size-dns-1450", "x-size-dns-2000"};

static bool is_answered(const struct scene *scene, const char *id) {
    return is_answer(extra_outcome(scene, id)) || extra_succeeded(scene, id);
}

bool dns_answers_by_tcp(const struct scene *scene) {
    for (size_t i = 0; i < ARRAY_SIZE(by_tcp); i++)
        if (is_answered(scene, by_tcp[i]))
            return true;
    return false;
}

/* The DNS pod refuses TCP at a closed port, and both of CoreDNS' open ones are silent: what takes a
 * connection is lost. */
static bool tcp_is_refused_alone(const struct scene *scene) {
    return text_equal(extra_outcome(scene, "x-closed-tcp"), "refused") &&
           is_silent(extra_outcome(scene, "x-dns-connect")) &&
           is_silent(extra_outcome(scene, "x-page-small"));
}

/* The DNS pod has answered by UDP; a closed port of it gives no answer by TCP either, so it is not
 * port 53 alone. Of UDP a closed port says nothing: the way back of its error is often closed.
 * NULL, or that pod. */
static const char *pod_without_tcp(const struct scene *scene) {
    bool lost = (is_silent(extra_outcome(scene, "x-closed-tcp")) && dns_pod_answers(scene)) ||
                (tcp_is_refused_alone(scene) && is_answer(extra_outcome(scene, "x-dns-pod")));

    if (!lost || !is_silent(extra_outcome(scene, "x-dns-tcp")) || dns_answers_by_tcp(scene))
        return NULL;
    return dns_pod(scene);
}

/* It is not the other nodes alone that are silent by TCP: pods of this node are, and what is
 * outside and answers the node. */
static uint32_t cells_without_tcp(const struct scene *scene) {
    const uint32_t silent = (scene->outcome[PROBE_TIMEOUT] | scene->outcome[PROBE_NO_REPLY]) &
                            CELLS_TCP & ~scene->partly;
    const uint32_t wide = CELL_TCP(POD_IP) | CELL_TCP(SVC_IP) | CELL_TCP(EXT_IP);
    bool by_udp =
        (scene->green & CELL_UDP(POD_IP)) && (scene->green & (CELL_UDP(SVC_IP) | CELL_UDP(EXT_IP)));

    return by_udp && (silent & wide) == wide &&
                   text_equal(extra_outcome(scene, "node-external"), "ok")
               ? silent
               : 0;
}

enum level look_tcp_lost(const struct scene *scene, struct finding *finding) {
    const char *pod = pod_without_tcp(scene);
    uint32_t cells = cells_without_tcp(scene);

    if (pod)
        finding_note(finding,
                     tcp_is_refused_alone(scene)
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

/* By TCP the DNS answers, by UDP not even its pod, asked at its own address. */
static bool dns_without_udp(const struct scene *scene) {
    return is_silent(extra_outcome(scene, "x-dns-udp")) &&
           is_silent(extra_outcome(scene, "x-dns-pod")) && dns_answers_by_tcp(scene);
}

/* Between addresses, where no name is asked for: those that are silent by UDP, and not by TCP. */
static uint32_t cells_without_udp(const struct scene *scene) {
    const uint32_t silent = scene->outcome[PROBE_NO_REPLY] | scene->outcome[PROBE_DNS_TIMEOUT];

    return CELLS_STRAIGHT & CELLS_UDP & silent & ~scene->partly & scene->green << 1;
}

/* A port where nobody listens is as silent: its error comes back where UDP passes, and ICMP. */
static bool closed_udp_is(const struct scene *scene, const char *outcome) {
    return text_equal(extra_outcome(scene, "x-closed-udp"), outcome);
}

bool node_is_without_udp(const struct scene *scene) {
    return mode_of(scene)->vxlan && text_equal(extra_outcome(scene, "node-external"), "ok") &&
           is_silent(extra_outcome(scene, "node-external-udp")) &&
           is_silent(extra_outcome(scene, "x-dns-pod")) && !reaches_other_nodes(scene);
}

enum level look_udp_lost(const struct scene *scene, struct finding *finding) {
    bool without = dns_without_udp(scene), silent = without && closed_udp_is(scene, "no-reply");
    uint32_t cells = without ? cells_without_udp(scene) : 0;

    if (node_is_without_udp(scene)) {
        finding->may |= CELL_UDP(EXT_IP);
        finding->message = xstrdup("UDP between this node and others is lost, TCP is not");
        finding_note(finding,
                     "this node gets an answer by TCP from outside%s; by UDP none, nor do "
                     "encapsulated packets of its pods",
                     extra_answers(scene, "x-node-peer") ? ", and from the node of the DNS pods"
                                                         : "");
        return LIKELY;
    }

    for (size_t i = 0; i < scene->report->cells.count && cells; i++) {
        const struct diag_cell *cell = &scene->report->cells.items[i];

        if (cell->second == scene->second && (cell_bit(cell) & cells))
            finding_note(finding, "%s gets no answer by UDP; by TCP it does", cell->flow->name);
    }
    if (silent)
        finding_note(finding, "the DNS pod answers by TCP; by UDP its closed port 9 is as silent "
                              "as port 53");
    if (cells && closed_udp_is(scene, "refused")) {
        finding->message = xstrdup("questions to DNS servers by UDP, or their answers, are lost");
        finding_note(finding, "other ports of the DNS pod answer by UDP: it is port 53, at each "
                              "server that was asked");
    }
    finding->may |= cells;
    return cells || silent ? LIKELY : NO;
}

/* Asked straight at its cluster IP, the DNS answers over one protocol and not over the other. Of
 * several pods one may be dead. No other program of another node answers by UDP, and a closed port
 * does not either (its error is ICMP): where UDP is the silent one, all of it may be lost. */
enum level look_dns_proto(const struct scene *scene, struct finding *finding) {
    const char *udp = extra_outcome(scene, "x-dns-udp"), *tcp = extra_outcome(scene, "x-dns-tcp");
    const char *vip = expected(scene, "dnsIP");
    bool over_udp = is_answer(udp), over_tcp = dns_answers_by_tcp(scene);

    if (pod_without_tcp(scene) || dns_pods_differ(scene) || dns_loses_some(scene) ||
        (dns_is_split(scene) && (scene->partly & CELLS_DNS)) ||
        (!over_udp && cells_without_udp(scene)) || dns_is_taken(scene)) /* no matter of the DNS */
        return NO;
    if (!udp || !tcp || over_udp == over_tcp || !load_balancer_of(scene, vip, UDP, DNS_PORT) ||
        !load_balancer_of(scene, vip, TCP, DNS_PORT))
        return NO;
    finding->must = over_udp ? CELL_TCP(SVC_SHORT) : CELLS_DNS;
    finding->may = over_udp ? CELL_TCP(SVC_SHORT) : CELLS_DNS;
    finding_note(finding, "%s port 53: over UDP %s, over TCP %s", vip, udp, tcp);
    if (closed_udp_is(scene, "refused") && !over_udp)
        finding_note(
            finding,
            "the DNS pod refuses UDP at a closed port: packets arrive there, so it is port 53, or "
            "all answers by UDP");
    if (over_udp && text_equal(tcp, "refused") &&
        text_equal(extra_outcome(scene, "x-page-small"), "refused"))
        finding_note(finding,
                     "port 9153 of the DNS pod, which CoreDNS has by TCP, refuses, too: all "
                     "of TCP may be reset on the way");
    if (over_udp && text_equal(extra_outcome(scene, "x-dns-connect"), "ok"))
        finding_note(finding, "a pod of the DNS takes TCP connections at its own address");
    if (!over_udp && is_silent(udp) && !closed_udp_is(scene, "refused")) {
        finding_note(finding,
                     "nothing else on other nodes can be asked by UDP: all of it may be lost");
        if (scene->green & CELL_UDP(EXT_IP))
            finding_note(finding, "UDP to the DNS server outside works");
    }
    return LIKELY;
}

/* By UDP it says no, by TCP never the same: it is not the same server that answers. */
bool dns_is_taken(const struct scene *scene) {
    const char *udp = extra_outcome(scene, "x-dns-udp");

    for (size_t i = 0; i < ARRAY_SIZE(by_tcp); i++)
        if (text_equal(extra_outcome(scene, by_tcp[i]), udp))
            return false;
    return is_answer(udp) && !text_equal(udp, "ok") && extra_outcome(scene, "x-dns-tcp") &&
           !pod_without_tcp(scene);
}

/* Whatever it is asked, also of the cluster's own zone: it cannot reach the API server, mostly. */
enum level look_dns_fail(const struct scene *scene, struct finding *finding) {
    const char *vip = expected(scene, "dnsIP");
    bool by_udp = text_equal(extra_outcome(scene, "x-dns-udp"), "dns-servfail") ||
                  (scene->outcome[PROBE_DNS_SERVFAIL] & CELL_UDP(SVC_IP));

    if (dns_is_taken(scene) || !(scene->outcome[PROBE_DNS_SERVFAIL] & finding->may) ||
        (!by_udp && !text_equal(extra_outcome(scene, "x-dns-tcp"), "dns-servfail")))
        return NO;
    if (!by_udp)
        finding->must = finding->may = CELL_TCP(SVC_SHORT);
    finding_note(finding,
                 "%s answers with an error (SERVFAIL, REFUSED) when it is asked for a Service%s",
                 vip ? vip : "the DNS Service", by_udp ? "" : " by TCP");
    return LIKELY;
}

bool dns_loses_some(const struct scene *scene) {
    bool silent = is_silent(extra_outcome(scene, "x-dns-connect"));

    for (size_t i = 0; i < ARRAY_SIZE(by_tcp); i++) {
        bool is_late = is_silent(extra_outcome(scene, by_tcp[i]));

        if (is_answered(scene, by_tcp[i]) && (silent || is_late))
            return true;
        silent |= is_late;
    }
    return false;
}

/* Some attempts go to one that is dead, others to one that answers. */
enum level look_svc_half(const struct scene *scene, struct finding *finding) {
    const uint32_t straight = CELL_BOTH(POD_IP) | CELL_BOTH(EXT_IP) | CELL_BOTH(NODE_POD);
    const uint32_t silent = scene->partly | scene->outcome[PROBE_DNS_TIMEOUT] |
                            scene->outcome[PROBE_TIMEOUT] | scene->outcome[PROBE_NO_REPLY];
    uint32_t cells = 0;

    for (size_t i = 0; i < ASKED_SERVICES && !(scene->partly & straight); i++) {
        const struct asked_service *asked = &asked_services[i];
        const char *vip = expected(scene, asked->key);
        size_t backends = backends_of(scene, vip, asked->protocol, asked->port);
        uint32_t mixed = scene->partly; /* one of two cells may have met the dead one each time */

        if (asked->protocol == TCP && (scene->green & asked->cells))
            mixed |= scene->failed & ~scene->unresolved;
        if (asked->protocol == UDP &&
            (dns_loses_some(scene) || note_silent_dns_pods(scene, finding)))
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

/* The DNS answers, and says that the cluster's own zone has no such name. */
enum level look_dns_zone(const struct scene *scene, struct finding *finding) {
    const char *domain = expected(scene, "dnsDomain");

    finding->may &= scene->unresolved;
    if (!text_equal(extra_outcome(scene, "x-dns-udp"), "dns-nxdomain") || dns_is_taken(scene) ||
        !(scene->outcome[PROBE_DNS_NXDOMAIN] & CELL_UDP(SVC_IP)))
        return NO;
    finding_note(finding, "%s says that kubernetes.default.svc.%s does not exist",
                 expected(scene, "dnsIP") ? expected(scene, "dnsIP") : "the DNS Service",
                 domain ? domain : "cluster.local");
    return LIKELY;
}

/* An API server with several adapters announces the wrong one: nobody reaches that. Of several one
 * may be dead. */
enum level look_api_addr(const struct scene *scene, struct finding *finding) {
    const char *vip = expected(scene, "kubernetesIP");
    const char *server = json_text_at(scene->evidence, "look.api.server");
    const char *backend = diag_evidence_backend(scene->evidence, vip, TCP, HTTPS_PORT);
    const char *outcome = extra_outcome(scene, "x-node-api");
    unsigned port = diag_evidence_backend_port(scene->evidence, vip, TCP, HTTPS_PORT);
    _cleanup_(freep) char *place = xasprintf("%s:%u", backend ? backend : "", port);
    _cleanup_(freep) char *authority =
        port ? xasprintf("//%s", place) : xasprintf("//%s:", backend ? backend : "");

    if (!backend || !outcome || text_equal(outcome, "ok") ||
        (backends_of(scene, vip, TCP, HTTPS_PORT) > 1 &&
         (scene->partly & (CELL_TCP(SVC_IP) | CELL_TCP(SVC_FQDN)))) ||
        (server && strstr(server, authority)) ||
        !text_equal(json_text_at(scene->evidence, "look.api.outcome"), "ok"))
        return NO;
    finding_note(finding,
                 "the node talks to %s; the Service kubernetes (%s) leads to %s, which the node "
                 "does not reach: %s",
                 server ? server : "the API server", vip, port ? place : backend, outcome);
    return CONFIRMED;
}

enum level look_api_pods(const struct scene *scene, struct finding *finding) {
    const char *vip = expected(scene, "kubernetesIP");
    const char *server = json_text_at(scene->evidence, "look.api.server");
    const char *backend = diag_evidence_backend(scene->evidence, vip, TCP, HTTPS_PORT);

    if (!text_equal(json_text_at(scene->evidence, "look.api.outcome"), "ok") ||
        !load_balancer_of(scene, vip, TCP, HTTPS_PORT) || !(scene->green & CELL_UDP(SVC_IP)))
        return NO;
    finding_note(finding,
                 "the node itself talks to %s; the load balancer of %s port 443 sends to %s",
                 server ? server : "the API server", vip, backend ? backend : "it");
    return LIKELY;
}

/* Some attempts succeed, some do not. Of a Service with several backends one may be dead; between
 * two addresses it is loss. */
enum level look_loss(const struct scene *scene, struct finding *finding) {
    const uint32_t straight =
        CELL_BOTH(POD_IP) | CELL_BOTH(EXT_IP) | CELL_BOTH(NODE_POD) | CELL_BOTH(POD_NODE);

    for (size_t i = 0; i < scene->report->cells.count; i++) {
        const struct diag_cell *cell = &scene->report->cells.items[i];
        _cleanup_(freep) char *name = NULL;

        if (cell->second != scene->second || cell->outcome != DIAG_FAIL ||
            !(cell_bit(cell) & scene->partly))
            continue;
        name = diag_cell_name(cell);
        finding_note(finding, "%s: %u of %u attempts succeeded", name, cell->result.succeeded,
                     cell->result.attempts);
    }
    finding->may = scene->partly;
    if (scene->partly & CELLS_DNS) /* the same questions, of which each attempt was lost */
        finding->may |=
            CELLS_DNS & (scene->outcome[PROBE_DNS_TIMEOUT] | scene->outcome[PROBE_TIMEOUT]);
    if (scene->partly & CELLS_OUTSIDE) /* the DNS asks there, too */
        finding->may |=
            CELLS_OUTSIDE & (scene->outcome[PROBE_DNS_TIMEOUT] | scene->outcome[PROBE_TIMEOUT]);
    if (!scene->partly && dns_loses_some(scene) &&
        backends_of(scene, expected(scene, "dnsIP"), TCP, DNS_PORT) == 1) {
        finding_note(finding, "some questions to %s by TCP are lost, and larger ones pass",
                     expected(scene, "dnsIP"));
        finding->may =
            CELLS_DNS & (scene->outcome[PROBE_DNS_TIMEOUT] | scene->outcome[PROBE_TIMEOUT]);
        return LIKELY;
    }
    return !scene->partly ? NO : (scene->partly & straight) ? CONFIRMED : LIKELY;
}
