/* Packets that an ACL policy of the probe pods' endpoints blocks. The packets of each failed cell
 * are compared with the ACL rules that HNS has. */
#include "base/cidr.h"
#include "diag/causes/cause_rows.h"
#include "diag/evidence.h"

/* A packet as an endpoint sees it. */
struct packet {
    bool in;
    int protocol;
    const char *remote;
    int local_port, remote_port; /* A port of 0 stands for an ephemeral port. */
};

/* The rule that blocks the first packet of a blocked flow, and the endpoint that has the rule. */
struct blocking_rule {
    const json_t *endpoint;
    /* The Settings of the ACL policy that blocks; NULL when no policy blocks. */
    const json_t *rule;
    const struct probed_pod *pod;
};

/* ---- compare one rule with one packet ---- */

static bool number_listed(const char *list, int number) {
    _cleanup_(text_list_free) struct text_list items = {0};

    if (!list || !*list)
        return true;
    text_list_split(&items, list, ',');
    for (size_t i = 0; i < items.count; i++) {
        char *low = items.items[i], *high = strchr(low, '-');
        long long from, to;

        if (high)
            *high++ = '\0';
        if (text_to_number(low, 0, 65535, &from) == 0 &&
            text_to_number(high ? high : low, 0, 65535, &to) == 0 && number >= from && number <= to)
            return true;
    }
    return false;
}

static bool says(const json_t *rule, const char *key, const char *word) {
    const char *text = json_text_at(rule, key);

    return text && text_equal_nocase(text, word);
}

static bool tuple_matches(const json_t *rule, const struct packet *packet) {
    enum { ANY_PROTOCOL = 256 };
    _cleanup_(text_list_free) struct text_list remotes = {0};
    const char *protocols = json_text_at(rule, "Protocols");
    const char *list = json_text_at(rule, "RemoteAddresses");
    bool is_remote = !list || !*list;

    if (!is_remote)
        text_list_split(&remotes, list, ',');
    for (size_t i = 0; i < remotes.count; i++)
        is_remote |= text_equal(remotes.items[i], packet->remote) ||
                     prefix_holds(remotes.items[i], packet->remote);
    return is_remote &&
           (number_listed(protocols, packet->protocol) || number_listed(protocols, ANY_PROTOCOL)) &&
           number_listed(json_text_at(rule, "LocalPorts"), packet->local_port) &&
           number_listed(json_text_at(rule, "RemotePorts"), packet->remote_port);
}

/* ---- the packets of a cell ---- */

/* Sets *blocking and returns true when the pod's endpoint blocks the packet. The matching rule with
 * the lowest priority number decides; among equal numbers a blocking rule does. */
static bool blocked(const struct symptoms *symptoms, const struct probed_pod *pod,
                    const struct packet *packet, struct blocking_rule *blocking) {
    const json_t *endpoint = pod->endpoint, *first = NULL;
    const char *node = symptoms->own_address;
    long long lowest = 0;

    if (blocking->rule)
        return true;
    json_each(json_object_get(endpoint, "Policies"), i, policy) {
        const json_t *rule = json_object_get(policy, "Settings");
        long long priority = json_number_at(rule, "Priority", 0);

        if (!says(policy, "Type", "ACL") || !says(rule, "Direction", packet->in ? "In" : "Out") ||
            (says(rule, "RuleType", "Host") && !text_equal(node, packet->remote)) ||
            !tuple_matches(rule, packet))
            continue;
        if (!first || priority < lowest || (priority == lowest && says(rule, "Action", "Block"))) {
            first = rule;
            lowest = priority;
        }
    }
    if (!first || !says(first, "Action", "Block"))
        return false;
    *blocking = (struct blocking_rule){endpoint, first, pod};
    return true;
}

/* Checks the packet from pod a (or from the node) to an address or a cluster IP, and its arrival at
 * pod b when the address is pod b's. */
static void packet_check(const struct symptoms *symptoms, const struct diag_cell *cell,
                         const char *ip, int port, bool sure, struct blocking_rule *blocking) {
    bool from_pod = !(cell->flow->is & FLOW_FROM_NODE);
    int protocol = cell->udp ? UDP : TCP;
    const char *source = from_pod ? symptoms->pods[POD_A].ip : symptoms->own_address;
    const char *backend = diag_evidence_backend(symptoms->evidence, ip, protocol, port);
    unsigned backend_port = diag_evidence_backend_port(symptoms->evidence, ip, protocol, port);
    struct packet out = {.protocol = protocol, .remote = ip, .remote_port = port};
    struct packet in = {.in = true, .protocol = protocol, .remote = source, .local_port = port};

    if (from_pod && blocked(symptoms, &symptoms->pods[POD_A], &out, blocking))
        return;
    /* Whether an ACL sees the cluster IP or the backend behind it is not known. */
    out.remote = backend;
    if (backend_port)
        out.remote_port = (int)backend_port;
    if (from_pod && backend && !sure && blocked(symptoms, &symptoms->pods[POD_A], &out, blocking))
        return;
    if (source && text_equal(ip, symptoms->pods[POD_B].ip))
        blocked(symptoms, &symptoms->pods[POD_B], &in, blocking);
}

/* Checks all packets of a cell. With `sure`, it only finds a rule that blocks them whether ACLs see
 * the cluster IP or the backend. */
static void cell_check(const struct symptoms *symptoms, const struct diag_cell *cell, bool sure,
                       struct blocking_rule *blocking) {
    struct diag_cell question = *cell;
    _cleanup_(freep) char *host = NULL;
    unsigned port = 0;
    const char *dns = expected(symptoms, "dnsIP");
    struct ip address;

    if (cell->one_way == DIAG_ONE_WAY_BACK) {
        int protocol = cell->udp ? UDP : TCP;
        struct packet out = {
            .protocol = protocol, .remote = symptoms->pods[POD_A].ip, .remote_port = PROBE_PORT};
        struct packet in = {.in = true,
                            .protocol = protocol,
                            .remote = symptoms->pods[POD_B].ip,
                            .local_port = PROBE_PORT};

        /* Only the direction from pod b to pod a failed. */
        if (out.remote && in.remote && !blocked(symptoms, &symptoms->pods[POD_B], &out, blocking))
            blocked(symptoms, &symptoms->pods[POD_A], &in, blocking);
        return;
    }
    (void)text_split_port(cell->to, &host, &port);
    if (host && ip_parse(host, &address, NULL) == 0) {
        packet_check(symptoms, cell, host, (int)port, sure, blocking);
        return;
    }
    question.udp = true; /* The DNS is asked by UDP first, even when the flow itself uses TCP. */
    if (dns && !(cell->flow->is & FLOW_FROM_NODE))
        packet_check(symptoms, &question, dns, DNS_PORT, sure, blocking);
    if (!blocking->rule && cell->result.address_count)
        packet_check(symptoms, cell, cell->result.addresses[0], (int)port, sure, blocking);
}

/* ---- the CNI-POLICY row of the decision table ---- */

static char *rule_text(const struct blocking_rule *blocking) {
    static const struct {
        const char *words, *key;
    } parts[] = {{"protocol", "Protocols"},
                 {"from or to", "RemoteAddresses"},
                 {"its ports", "LocalPorts"},
                 {"their ports", "RemotePorts"}};
    const char *id = json_text_at(blocking->endpoint, "ID");
    struct text t = {0};

    text_addf(&t, "endpoint %s (%s): ACL %s %s, priority %lld", id ? id : "", blocking->pod->name,
              json_text_at(blocking->rule, "Action"), json_text_at(blocking->rule, "Direction"),
              json_number_at(blocking->rule, "Priority", 0));
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
        const char *value = json_text_at(blocking->rule, parts[i].key);

        /* Protocol 256 means any protocol. */
        if (value && *value && (i || !text_equal(value, "256")))
            text_addf(&t, ", %s %s", parts[i].words, value);
    }
    return text_take(&t);
}

/* An HNS policy (HCN: L4WfpProxyPolicySetting) hands packets that leave pod a to a proxy, and no
 * flow that it covers passes. */
static enum level judge_proxy(const struct symptoms *symptoms, struct cause_finding *finding) {
    const json_t *settings = policy_of(symptoms->pods[POD_A].endpoint, "L4WFPPROXY");
    const json_t *tuple = json_object_get(settings, "FilterTuple");
    const char *id = json_text_at(symptoms->pods[POD_A].endpoint, "ID");
    const char *listens = json_text_at(settings, "OutboundProxyPort");
    uint32_t through = 0;

    if (!settings)
        return NO;
    for (size_t i = 0; i < symptoms->report->cells.count; i++) {
        const struct diag_cell *cell = &symptoms->report->cells.items[i];
        _cleanup_(freep) char *host = NULL;
        unsigned port = 0;
        struct packet out = {.protocol = cell->udp ? UDP : TCP};

        (void)text_split_port(cell->to, &host, &port);
        out.remote = cell->result.address_count ? cell->result.addresses[0] : host;
        out.remote_port = (int)port;
        if (!(cell->flow->is & FLOW_FROM_NODE) && out.remote && port && tuple_matches(tuple, &out))
            through |= cell_bit(cell);
    }
    through &= ~symptoms->unresolved;
    if (!(through & symptoms->failed) || (through & (symptoms->green | symptoms->partly)))
        return NO;
    finding->may = through;
    finding->message =
        xstrdup("an HNS policy hands packets of the pods to a proxy, where they are lost");
    finding->hint = xstrdup("see whether the proxy (a service mesh's) runs and listens at that "
                            "port; deleting the pod makes a new endpoint");
    finding_note(finding, "endpoint %s (%s): L4WFPPROXY to port %s", id ? id : "",
                 symptoms->pods[POD_A].name, listens ? listens : "?");
    return LIKELY;
}

/* A rule that should have blocked a cell that passed is refuted: HNS does not apply the rule as
 * this file does. Such a rule explains no failed cell. */
enum level judge_cni_policy(const struct symptoms *symptoms, struct cause_finding *finding) {
    const json_t *refuted[FLOW_COUNT * 2];
    size_t n = 0;

    finding->must = finding->may = 0;
    for (int red = 0; red < 2; red++)
        for (size_t i = 0; i < symptoms->report->cells.count; i++) {
            const struct diag_cell *cell = &symptoms->report->cells.items[i];
            struct blocking_rule blocking = {0};
            uint32_t bit = cell_bit(cell);
            bool is_refuted = false;
            _cleanup_(freep) char *text = NULL;

            if (!(bit & (red ? symptoms->failed : symptoms->green)))
                continue;
            cell_check(symptoms, cell, !red, &blocking);
            if (!red && blocking.rule && n < ARRAY_SIZE(refuted))
                refuted[n++] = blocking.rule;
            for (size_t k = 0; k < n; k++)
                is_refuted |= refuted[k] == blocking.rule;
            if (!red || !blocking.rule || is_refuted)
                continue;
            text = rule_text(&blocking);
            if (!text_list_has(&finding->evidence, text))
                text_list_add(&finding->evidence, text);
            finding->must |= bit;
            finding->may |= bit;
        }
    return finding->may ? CONFIRMED : judge_proxy(symptoms, finding);
}
