/* Makes the cells of a cluster's matrix, and judges the answers to their questions. */
#include "diag/cluster/cells.h"

#include "diag/cluster/probes/asking.h"

enum { KUBELET_PORT = 10250, API_PORT = 443, STICKY_TRIES = 4 };

/* ---- addresses of the Services ---- */

void cluster_addresses_read(const json_t *services, struct cluster_addresses *ret) {
    const struct {
        size_t service;
        const char *path;
        char *ret;
    } texts[] = {{1, "spec.clusterIP", ret->backend_ip},
                 {1, "spec.clusterIPs.1", ret->backend_ip6},
                 {2, "spec.clusterIP", ret->sticky_ip},
                 {4, "spec.clusterIP", ret->self_ip}};
    const struct {
        size_t service;
        const char *path;
        unsigned *ret;
    } ports[] = {{1, "spec.ports.0.nodePort", &ret->node_port},
                 {1, "spec.ports.1.nodePort", &ret->node_port_udp},
                 {3, "spec.ports.1.nodePort", &ret->local_port_udp}};

    *ret = (struct cluster_addresses){0};
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        const char *text = json_text_at(json_array_get(services, texts[i].service), texts[i].path);

        if (text && !text_equal(text, "None"))
            /* An address that is too long counts as none. */
            text_format(texts[i].ret, sizeof ret->backend_ip, "%s", text);
    }
    for (size_t i = 0; i < ARRAY_SIZE(ports); i++)
        *ports[i].ret =
            (unsigned)json_number_at(json_array_get(services, ports[i].service), ports[i].path, 0) &
            0xffff;
}

/* ---- make the cells ---- */

struct making {
    const struct diag_report *report;
    struct diag_cells *ret;
};

/* Adds a cell for each port that is not 0. `expect` is the name of the probe that must answer, "*"
 * for any probe, "" for any program. */
static void add(struct making *m, enum diag_flow_id flow, size_t from, size_t to, const char *host,
                unsigned tcp, unsigned udp, const char *expect) {
    const struct cluster_node *source = &m->report->nodes.items[from];
    const unsigned ports[] = {tcp, udp};

    for (size_t i = 0; i < ARRAY_SIZE(ports); i++) {
        struct diag_cell cell = {.from_node = from, .to_node = to, .any = text_equal(expect, "*")};

        if (!host || !*host || !ports[i])
            continue;
        cell.flow = &diag_flows[flow];
        cell.udp = i == 1;
        cell.second = strchr(host, ':') != NULL;
        cell.family = cell.second ? 6 : 4;
        cell.outcome = DIAG_NOT_RUN;
        text_format(cell.from, sizeof cell.from, "%s", source->name);
        text_format(cell.to, sizeof cell.to, cell.second ? "[%s]:%u" : "%s:%u", host, ports[i]);
        cell.probe.port = ports[i];
        text_format(cell.probe.target, sizeof cell.probe.target, "%s", host);
        text_format(cell.probe.expect, sizeof cell.probe.expect, "%s", cell.any ? "" : expect);
        text_format(cell.reason, sizeof cell.reason, "%s", "it was not asked");
        array_add(m->ret->items, m->ret->count, cell);
    }
}

static void add_pair(struct making *m, const struct cluster_pair *pair,
                     const struct cluster_addresses *at) {
    const struct diag_report *r = m->report;
    const struct cluster_node *to = &r->nodes.items[pair->to];
    _cleanup_(freep) char *name =
        xasprintf("%s.probes.%s.svc.%s", to->pod, r->namespace_, r->domain);

    add(m, FLOW_POD_IP, pair->from, pair->to, to->pod_ip, PROBE_HTTP, PROBE_UDP_ECHO, to->pod);
    if (r->nodes.items[pair->from].pod_ip6)
        add(m, FLOW_POD_IP, pair->from, pair->to, to->pod_ip6, PROBE_HTTP, PROBE_UDP_ECHO, to->pod);
    add(m, FLOW_POD_NAME, pair->from, pair->to, name, PROBE_HTTP, PROBE_UDP_ECHO, to->pod);
    add(m, FLOW_POD_NODE, pair->from, pair->to, to->ip, KUBELET_PORT, 0, "");
    add(m, FLOW_NODE_PORT, pair->from, pair->to, to->ip, at->node_port, at->node_port_udp, "*");
}

void cluster_cells_make(const struct diag_report *report, const struct cluster_options *options,
                        const struct cluster_addresses *at, struct diag_cells *ret) {
    struct making m = {report, ret};
    const char *const outside[] = {options->external_ip, options->external_name};
    _cleanup_(freep) char *full =
        xasprintf("backend.%s.svc.%s", report->namespace_, report->domain);
    _cleanup_(freep) char *alias = xasprintf("alias.%s.svc.%s", report->namespace_, report->domain);

    *ret = (struct diag_cells){0};
    for (size_t i = 0; i < report->pairs.count; i++)
        add_pair(&m, &report->pairs.items[i], at);
    for (size_t i = 0; i < report->nodes.count; i++) {
        const struct cluster_node *node = &report->nodes.items[i];

        if (node->waiting) { /* The node gets one cell, so that every report shows it. */
            struct diag_cell *cell;

            add(&m, FLOW_POD_IP, i, i, node->name, PROBE_HTTP, 0, "");
            cell = &ret->items[ret->count - 1];
            text_format(cell->reason, sizeof cell->reason, "%.*s", (int)sizeof cell->reason - 1,
                        node->waiting);
            continue;
        }
        add(&m, FLOW_SVC_IP, i, i, at->backend_ip, SERVICE_HTTP, SERVICE_UDP, "*");
        if (node->pod_ip6)
            add(&m, FLOW_SVC_IP, i, i, at->backend_ip6, SERVICE_HTTP, SERVICE_UDP, "*");
        add(&m, FLOW_SVC_SHORT, i, i, "backend", SERVICE_HTTP, SERVICE_UDP, "*");
        add(&m, FLOW_SVC_FQDN, i, i, full, SERVICE_HTTP, SERVICE_UDP, "*");
        add(&m, FLOW_SVC_FQDN, i, i, alias, API_PORT, 0, "");
        for (size_t k = 0; k < ARRAY_SIZE(outside); k++) {
            _cleanup_(freep) char *host = NULL;
            unsigned port = API_PORT;

            if (outside[k] && text_split_port(outside[k], &host, &port) == 0)
                add(&m, k ? FLOW_EXT_DNS : FLOW_EXT_IP, i, i, host, port, 0, "");
        }
        add(&m, FLOW_NODE_POD, i, i, node->pod_ip, PROBE_HTTP, 0, "");
        add(&m, FLOW_LOCALHOST, i, i, "localhost", NEIGHBOR_HTTP, NEIGHBOR_UDP, node->pod);
        add(&m, FLOW_SELF, i, i, at->self_ip, SERVICE_HTTP, SERVICE_UDP, node->pod);
    }
}

void cluster_cells_widen(struct diag_report *report, const struct cluster_addresses *addresses,
                         size_t first) {
    struct making m = {report, &report->cells};

    for (size_t i = first; i < report->pairs.count; i++)
        add_pair(&m, &report->pairs.items[i], addresses);
}

/* ---- the selection of cells by flow, part and traits ---- */

bool cluster_cell_has_dns_failed(const struct diag_cell *c) {
    enum probe_outcome outcome = c->result.outcome;

    return outcome == PROBE_DNS_TIMEOUT || outcome == PROBE_DNS_SERVFAIL ||
           outcome == PROBE_DNS_NXDOMAIN;
}

/* Returns the traits of the cell as bits of enum cluster_trait. */
static unsigned traits_of(const struct diag_cell *c) {
    enum { FEW = 3 }; /* The largest number of attempts that counts as few. */
    enum probe_outcome outcome = c->result.outcome;
    bool red = diag_cell_is_open(c), lossy = cluster_cell_is_lossy(c);
    bool unresolved = red && cluster_cell_has_dns_failed(c);
    bool astray = red && outcome == PROBE_WRONG_RESPONDER;
    bool by_name = (c->flow->is & (FLOW_NAME | FLOW_OUTSIDE)) == FLOW_NAME;
    const struct {
        bool is;
        enum cluster_trait trait;
    } rows[] = {
        {c->outcome == DIAG_NOT_RUN, IS_NOT_RUN},
        {!red, IS_GREEN},
        {lossy, IS_LOSSY},
        {astray, IS_ASTRAY},
        {red && outcome == PROBE_DNS_NXDOMAIN, IS_NO_NAME},
        {unresolved && outcome != PROBE_DNS_NXDOMAIN, IS_DNS_SILENT},
        {lossy && astray, IS_LOSSY_ASTRAY},
        {lossy && unresolved, IS_LOSSY_UNRESOLVED},
        {cluster_cell_is_large_lost(c), IS_LARGE_LOST},
        {!red && !c->udp && c->large == LARGE_ARRIVE, IS_LARGE_WELL},
        {!red && c->udp, IS_UDP_WELL},
        {red && c->udp && outcome == PROBE_NO_REPLY && c->result.attempts <= FEW, IS_FEW_LOST},
        {c->udp || cluster_cell_has_dns_failed(c), IS_OF_UDP},
        {c->flow->id == FLOW_SVC_IP || (by_name && unresolved), IS_OF_SERVICE},
        {c->from_node == c->to_node, IS_OF_ONE_NODE},
    };
    unsigned traits = 0;

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        traits |= rows[i].is ? rows[i].trait : 0;
    return traits;
}

bool cluster_selects(const struct cluster_selector *selector, const struct diag_cell *c) {
    bool no_probe = c->flow->id == FLOW_POD_IP && c->from_node == c->to_node;
    bool api = c->flow->id == FLOW_SVC_FQDN && text_ends_with(c->to, ":443");
    unsigned flow = no_probe ? NO_PROBE : api ? API_NAME : 1U << c->flow->id;
    unsigned parts = (c->udp ? ONLY_UDP : ONLY_TCP) | (c->family == 6 ? ONLY_IPV6 : ONLY_IPV4);
    unsigned traits;

    if (!(selector->flows & flow) || (selector->part && !(selector->part & parts)))
        return false;
    traits = selector->fits || selector->but ? traits_of(c) : 0;
    return (!selector->fits || (traits & selector->fits)) && !(traits & selector->but);
}

/* ---- paths of questions, and judging their answers ---- */

char *cluster_cell_path(const struct diag_report *report, const struct diag_cell *cell,
                        enum cluster_question question, unsigned tries) {
    const struct cluster_node *source = &report->nodes.items[cell->from_node];
    int len = cell->udp ? CLUSTER_LARGE_UDP : CLUSTER_LARGE_TCP;
    _cleanup_(freep) char *request = NULL;

    if (source->waiting || (cell->flow->is & FLOW_FROM_NODE) ||
        (question != ASK_NAME && !cluster_cell_is_between_pods(cell)))
        return NULL;
    if (question == ASK_LARGE)
        request = xasprintf("%s%0*d", cell->udp ? "echo%20" : "echo%3Fmsg%3D", len, 0);
    else if (question == ASK_LARGE_THERE)
        request = xasprintf("hostname%s%0*d", cell->udp ? "" : "%3F", len, 0);
    else
        request = xstrdup("hostname");
    /* The request "hostname" by UDP may have blanks behind it, which a URL writes as '+'. */
    for (char *at = strchr(request, '0'); question == ASK_LARGE_THERE && cell->udp && *at; at++)
        *at = '+';
    return dial_path(report->namespace_, source->pod, cell->probe.target, cell->probe.port,
                     cell->udp, request, tries);
}

struct expected {
    const struct diag_report *report;
    const struct diag_cell *cell;
};

/* Says whether the responder is the expected one. Windows writes a computer's name in capitals. */
static bool is_right(const void *context, const char *responder) {
    const struct expected *e = context;

    if (e->cell->any)
        return cluster_node_of_probe(&e->report->nodes, responder) != NULL;
    return !*e->cell->probe.expect || text_equal_nocase(e->cell->probe.expect, responder);
}

void cluster_cell_unasked(struct diag_cell *cell, const char *words) {
    static const char why[] = "the API server does not reach the probe: ";

    cell->outcome = DIAG_NOT_RUN;
    text_format(cell->reason, sizeof cell->reason, "%s%.*s", why,
                (int)(sizeof cell->reason - sizeof why), words);
}

enum dial_end cluster_cell_read(const struct diag_report *report, const struct diag_cell *cell,
                                long status, const char *body, size_t len, struct probe_result *ret,
                                char *why, size_t why_size) {
    const struct dial_expected expected = {is_right, &(struct expected){report, cell}};
    enum dial_end end = dial_read(status, body, len, cell->udp, &expected, ret, why, why_size);

    if (end == DIAL_ANSWERED && ret->outcome == PROBE_WRONG_RESPONDER)
        text_format(why, why_size, "'%s' answered", ret->responder);
    return end;
}

/* ---- large packets, and packets lost by chance ---- */

void cluster_cell_count(const struct diag_report *report, struct diag_cell *cell,
                        enum cluster_question question, long status, const char *body, size_t len,
                        bool retried, struct cluster_tally *ret) {
    unsigned before = cell->result.attempts;
    struct probe_result result;
    char why[sizeof cell->reason];
    enum dial_end end =
        cluster_cell_read(report, cell, status, body, len, &result, why, sizeof why);
    bool answered = result.succeeded != 0,
         is_judged = question == ASK_NAME && ret->answered[ASK_NAME] == ret->asked[ASK_NAME];

    if (end == DIAL_NOT_RUN) {
        if (is_judged && !ret->asked[ASK_NAME] && cell->outcome != DIAG_FAIL)
            cluster_cell_unasked(cell, why); /* A cell that has failed keeps its result. */
        return;
    }
    if (is_judged) {
        text_format(cell->reason, sizeof cell->reason, "%s", why);
        result.attempts += retried ? before : 0;
        cell->result = result;
        cell->outcome = !result.succeeded ? DIAG_FAIL : retried && before ? DIAG_SLOW : DIAG_PASS;
        if (!result.succeeded && !*cell->reason)
            text_format(cell->reason, sizeof cell->reason, "%s", "no answer came");
    }
    if (question == ASK_LARGE) { /* The answer to a large question is no name but the echo. */
        (void)dial_read(status, body, len, cell->udp, NULL, &result, why, sizeof why);
        /* The answer must be the whole echo, and nothing else. */
        answered = result.succeeded && *result.responder &&
                   strspn(result.responder, "0") == strlen(result.responder) &&
                   len > (cell->udp ? CLUSTER_LARGE_UDP : CLUSTER_LARGE_TCP);
    }
    ret->asked[question]++;
    ret->answered[question] += answered;
}

void cluster_cell_set_loss(struct diag_cell *cell, unsigned attempts, unsigned succeeded) {
    cell->outcome = DIAG_FAIL;
    cell->result.attempts = attempts;
    cell->result.succeeded = succeeded;
    if (cell->result.outcome == PROBE_OK)
        cell->result.outcome = cell->udp ? PROBE_NO_REPLY : PROBE_TIMEOUT;
    text_format(cell->reason, sizeof cell->reason, "%u of %u attempts succeeded", succeeded,
                attempts);
}

void cluster_cell_judge_large(struct diag_cell *cell, const struct cluster_tally *tally,
                              bool *mixed) {
    const unsigned *asked = tally->asked, *answered = tally->answered;
    unsigned all = asked[ASK_NAME] + asked[ASK_LARGE],
             came = answered[ASK_NAME] + answered[ASK_LARGE];
    const char *way = "";

    if (!asked[ASK_NAME]) /* The results of earlier rounds are kept. */
        return;
    cell->large = LARGE_NOT_ASKED;
    if (!asked[ASK_LARGE] || !came || cell->outcome == DIAG_NOT_RUN ||
        cell->result.outcome == PROBE_WRONG_RESPONDER)
        return;
    if (came == all) {
        cell->large = LARGE_ARRIVE;
        return;
    }
    *mixed = *mixed || answered[ASK_LARGE] || answered[ASK_NAME] < asked[ASK_NAME];
    if (*mixed) {
        cluster_cell_set_loss(cell, all, came);
        return;
    }

    /* Short packets arrive, and no large one does. */
    cell->large = LARGE_LOST;
    if (asked[ASK_LARGE_THERE] && !answered[ASK_LARGE_THERE]) {
        cell->large = LARGE_LOST_THERE;
        way = " on the way there";
    } else if (asked[ASK_LARGE_THERE] && answered[ASK_LARGE_THERE] == asked[ASK_LARGE_THERE]) {
        cell->large = LARGE_LOST_BACK;
        way = " on the way back";
    }
    cell->outcome = DIAG_FAIL;
    cell->result.outcome = cell->udp ? PROBE_NO_REPLY : PROBE_TIMEOUT;
    cell->result.succeeded = 0;
    text_format(cell->reason, sizeof cell->reason,
                "short packets arrive, large ones (%d bytes) are lost%s",
                cell->udp ? CLUSTER_LARGE_UDP : CLUSTER_LARGE_TCP, way);
}

void cluster_cell_judge_late(struct diag_cell *cell) {
    if (dial_is_address(cell->probe.target))
        return;
    cell->result.attempts++;
    cell->result.succeeded = 0;
    cell->result.outcome = PROBE_DNS_TIMEOUT;
    cell->outcome = DIAG_FAIL;
    text_format(cell->reason, sizeof cell->reason, "%s", "the name does not resolve in time");
}

void cluster_cells_rename(struct diag_cells *cells, const char *old, const char *domain) {
    for (size_t i = 0; i < cells->count; i++) {
        struct diag_cell *cell = &cells->items[i];
        size_t len = strlen(cell->probe.target), end = strlen(old);
        char kept[PROBE_TARGET_MAX];

        if (len <= end || !text_ends_with(cell->probe.target, old) ||
            cell->probe.target[len - end - 1] != '.' || !strstr(cell->probe.target, ".svc."))
            continue;
        text_format(kept, sizeof kept, "%s%.*s%s",
                    text_starts_with(cell->probe.target, "alias.") ? "domain-" : "",
                    (int)(len - end), cell->probe.target, domain);
        text_format(cell->probe.target, sizeof cell->probe.target, "%s", kept);
        text_format(cell->to, sizeof cell->to, "%s:%u", kept, cell->probe.port);
    }
}

void cluster_cells_judge_kubelets(struct diag_report *report) {
    for (size_t i = 0; i < report->cells.count; i++) {
        struct diag_cell *cell = &report->cells.items[i];
        const struct cluster_node *node = &report->nodes.items[cell->from_node];

        if (!(cell->flow->is & FLOW_FROM_NODE) || node->waiting)
            continue;
        cell->outcome = node->pod_ready ? DIAG_PASS : DIAG_FAIL;
        cell->result.attempts = 1;
        cell->result.succeeded = node->pod_ready;
        cell->result.outcome = node->pod_ready ? PROBE_OK : PROBE_TIMEOUT;
        text_format(cell->reason, sizeof cell->reason, "%s",
                    node->pod_ready ? "" : "the kubelet's readiness probe does not reach the pod");
    }
}

/* ---- observations, which count for no cell ---- */

char *cluster_observation_path(const struct diag_report *report,
                               enum cluster_observation observation, size_t from, size_t to,
                               const struct cluster_addresses *at) {
    const struct cluster_node *source = &report->nodes.items[from];
    const struct cluster_node *target = &report->nodes.items[to];
    const struct {
        const char *host;
        const char *request;
        unsigned port;
        unsigned tries;
        bool udp;
    } asked[OBSERVATIONS] = {
        [OBSERVE_CLIENT] = {target->pod_ip, "clientip", PROBE_HTTP, 1, false},
        /* The Service is asked by UDP, because by HTTP it answers with names only. */
        [OBSERVE_SERVICE] = {at->backend_ip, "clientip", SERVICE_UDP, 1, true},
        [OBSERVE_LOCAL] = {target->ip, "clientip", at->local_port_udp, 1, true},
        [OBSERVE_OWN] = {at->self_ip, "hostname", SERVICE_HTTP, 1, false},
        [OBSERVE_STICKY] = {at->sticky_ip, "hostname", SERVICE_HTTP, STICKY_TRIES, false},
    };

    if (source->waiting)
        return NULL;
    if (observation == OBSERVE_DNS)
        return xasprintf("/api/v1/namespaces/%s/pods/%s:%d/proxy/", report->namespace_, source->pod,
                         SETTINGS_HTTP);
    if (!asked[observation].host || !*asked[observation].host || !asked[observation].port)
        return NULL;
    return dial_path(report->namespace_, source->pod, asked[observation].host,
                     asked[observation].port, asked[observation].udp, asked[observation].request,
                     asked[observation].tries);
}

void cluster_observation_read(struct cluster_node *node, enum cluster_observation observation,
                              long status, const char *body, size_t len) {
    char **const seen[OBSERVATIONS] = {[OBSERVE_CLIENT] = &node->client_ip,
                                       [OBSERVE_SERVICE] = &node->service_ip,
                                       [OBSERVE_LOCAL] = &node->local_ip};
    struct probe_result result;
    char why[200];

    if (observation == OBSERVE_DNS) {
        _cleanup_(freep) char *output = dial_settings_read(status, body, len);

        if (output) {
            struct text_list lines = {0};

            text_list_split(&lines, output, '\n');
            free(node->suffixes);
            free(node->servers);
            node->suffixes = xstrdup(lines.count ? lines.items[0] : "");
            node->servers = xstrdup(lines.count > 1 ? lines.items[1] : "");
            text_list_free(&lines);
        }
        return;
    }
    if (dial_read(status, body, len, false, NULL, &result, why, sizeof why) == DIAL_NOT_RUN ||
        !result.succeeded)
        return;
    node->observed |= 1U << observation;
    if (observation == OBSERVE_OWN)
        return;
    if (observation == OBSERVE_STICKY) {
        node->sticky = result.succeeded > 1;
        node->fixed = result.address_count == 1;
        return;
    }
    free(*seen[observation]);
    if (text_split_port(result.responder, seen[observation], &(unsigned){0}) < 0)
        *seen[observation] = xstrdup(result.responder);
}
