/* Which questions make up a cluster's matrix, and what the answers mean. */
#include "diag/cluster/cells.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "diag/cluster/dial.h"
#include "diag/cluster/objects.h"

enum { KUBELET_PORT = 10250, API_PORT = 443, STICKY_TRIES = 4 };

/* ---- Services ---- */

static void copy_text(const json_t *json, const char *path, char *ret, size_t size) {
    const char *text = json_text_at(json, path);

    if (text && !text_equal(text, "None"))
        text_format(ret, size, "%s", text); /* too long: none */
}

void cluster_addresses_read(const json_t *services, struct cluster_addresses *ret) {
    const json_t *backend = json_array_get(services, 1);

    *ret = (struct cluster_addresses){0};
    copy_text(backend, "spec.clusterIP", ret->backend_ip, sizeof ret->backend_ip);
    copy_text(backend, "spec.clusterIPs.1", ret->backend_ip6, sizeof ret->backend_ip6);
    copy_text(json_array_get(services, 2), "spec.clusterIP", ret->sticky_ip, sizeof ret->sticky_ip);
    copy_text(json_array_get(services, 4), "spec.clusterIP", ret->self_ip, sizeof ret->self_ip);
    ret->node_port = (unsigned)json_number_at(backend, "spec.ports.0.nodePort", 0) & 0xffff;
    ret->node_port_udp = (unsigned)json_number_at(backend, "spec.ports.1.nodePort", 0) & 0xffff;
    ret->local_port =
        (unsigned)json_number_at(json_array_get(services, 3), "spec.ports.0.nodePort", 0) & 0xffff;
}

/* ---- making ---- */

struct making {
    const struct cluster_report *report;
    struct cluster_cells *ret;
};

/* `expect`: the name of the probe that must answer, "*" any probe, "" whoever. */
static void add(struct making *m, const char *flow, bool udp, size_t from, size_t to,
                const char *host, unsigned port, const char *expect) {
    struct cluster_cell cell = {.from = from, .to = to, .any = text_equal(expect, "*")};
    const struct cluster_node *source = &m->report->nodes.items[from];

    if (!host || !*host || !port)
        return;
    cell.cell.flow = diag_flow_find(flow);
    cell.cell.udp = udp;
    cell.cell.second = strchr(host, ':') != NULL;
    cell.cell.family = cell.cell.second ? 6 : 4;
    cell.cell.outcome = DIAG_NOT_RUN;
    text_format(cell.cell.from, sizeof cell.cell.from, "%s", source->name);
    text_format(cell.cell.to, sizeof cell.cell.to, strchr(host, ':') ? "[%s]:%u" : "%s:%u", host,
                port);
    cell.cell.probe.port = port;
    text_format(cell.cell.probe.target, sizeof cell.cell.probe.target, "%s", host);
    text_format(cell.cell.probe.expect, sizeof cell.cell.probe.expect, "%s",
                cell.any ? "" : expect);
    text_format(cell.cell.reason, sizeof cell.cell.reason, "%s", "it was not asked");
    m->ret->items = xrealloc(m->ret->items, (m->ret->count + 1) * sizeof *m->ret->items);
    m->ret->items[m->ret->count++] = cell;
}

static void add_both(struct making *m, const char *flow, size_t from, size_t to, const char *host,
                     unsigned tcp, unsigned udp, const char *expect) {
    add(m, flow, false, from, to, host, tcp, expect);
    add(m, flow, true, from, to, host, udp, expect);
}

static void add_pair(struct making *m, const struct cluster_pair *pair,
                     const struct cluster_addresses *at) {
    const struct cluster_report *r = m->report;
    const struct cluster_node *to = &r->nodes.items[pair->to];
    _cleanup_(freep) char *name =
        xasprintf("%s.probes.%s.svc.%s", to->pod, r->namespace_, r->domain);

    add_both(m, "pod-to-pod-ip", pair->from, pair->to, to->pod_ip, PROBE_HTTP, PROBE_UDP_ECHO,
             to->pod);
    if (r->nodes.items[pair->from].pod_ip6)
        add_both(m, "pod-to-pod-ip", pair->from, pair->to, to->pod_ip6, PROBE_HTTP, PROBE_UDP_ECHO,
                 to->pod);
    add_both(m, "pod-to-pod-name", pair->from, pair->to, name, PROBE_HTTP, PROBE_UDP_ECHO, to->pod);
    add(m, "pod-to-node", false, pair->from, pair->to, to->ip, KUBELET_PORT, "");
    add_both(m, "nodeport-remote", pair->from, pair->to, to->ip, at->node_port, at->node_port_udp,
             "*");
}

static void add_external(struct making *m, const char *flow, size_t from, const char *target) {
    _cleanup_(freep) char *host = NULL;
    unsigned port = API_PORT;

    if (target && text_split_port(target, &host, &port) == 0)
        add(m, flow, false, from, from, host, port, "");
}

static void add_node(struct making *m, size_t i, const struct cluster_options *options,
                     const struct cluster_addresses *at) {
    const struct cluster_report *r = m->report;
    const struct cluster_node *node = &r->nodes.items[i];
    _cleanup_(freep) char *full = xasprintf("backend.%s.svc.%s", r->namespace_, r->domain);
    _cleanup_(freep) char *alias = xasprintf("alias.%s.svc.%s", r->namespace_, r->domain);

    add_both(m, "pod-to-service-ip", i, i, at->backend_ip, SERVICE_HTTP, SERVICE_UDP, "*");
    if (node->pod_ip6)
        add_both(m, "pod-to-service-ip", i, i, at->backend_ip6, SERVICE_HTTP, SERVICE_UDP, "*");
    add_both(m, "pod-to-service-pqdn", i, i, "backend", SERVICE_HTTP, SERVICE_UDP, "*");
    add_both(m, "pod-to-service-fqdn", i, i, full, SERVICE_HTTP, SERVICE_UDP, "*");
    add(m, "pod-to-service-fqdn", false, i, i, alias, API_PORT, "");
    add_external(m, "pod-to-external-ip", i, options->external_ip);
    add_external(m, "pod-to-external-dns", i, options->external_name);
    add(m, "node-to-pod", false, i, i, node->pod_ip, PROBE_HTTP, "");
    add_both(m, "container-to-container-localhost", i, i, "localhost", NEIGHBOR_HTTP, NEIGHBOR_UDP,
             node->pod);
    add_both(m, "pod-to-self-via-service", i, i, at->self_ip, SERVICE_HTTP, SERVICE_UDP, node->pod);
}

/* A flow of each node without a probe says so in every format. */
static void add_missing(struct making *m, size_t i) {
    const struct cluster_node *node = &m->report->nodes.items[i];
    struct cluster_cell *cell;

    add(m, "pod-to-pod-ip", false, i, i, node->name, PROBE_HTTP, "");
    cell = &m->ret->items[m->ret->count - 1];
    text_format(cell->cell.reason, sizeof cell->cell.reason, "%.*s",
                (int)sizeof cell->cell.reason - 1, node->waiting);
}

void cluster_cells_make(const struct cluster_report *report, const struct cluster_options *options,
                        const struct cluster_addresses *addresses, struct cluster_cells *ret) {
    struct making m = {report, ret};

    *ret = (struct cluster_cells){0};
    for (size_t i = 0; i < report->pairs.count; i++)
        add_pair(&m, &report->pairs.items[i], addresses);
    for (size_t i = 0; i < report->nodes.count; i++)
        if (report->nodes.items[i].waiting)
            add_missing(&m, i);
        else
            add_node(&m, i, options, addresses);
}

/* ---- asking and judging ---- */

char *cluster_cell_path(const struct cluster_report *report, const struct cluster_cell *cell) {
    const struct cluster_node *source = &report->nodes.items[cell->from];

    if (source->waiting || cell->cell.flow->source == DIAG_FROM_NODE)
        return NULL;
    return dial_path(report->namespace_, source->pod, cell->cell.probe.target,
                     cell->cell.probe.port, cell->cell.udp, "hostname", 1);
}

static bool is_probe(const struct cluster_report *report, const char *name) {
    for (size_t i = 0; i < report->nodes.count; i++)
        if (text_equal_nocase(report->nodes.items[i].pod, name))
            return true;
    return false;
}

/* Windows tells a computer's name in capitals. */
static bool is_right(const struct cluster_report *report, const struct cluster_cell *cell,
                     const char *responder) {
    if (cell->any)
        return is_probe(report, responder);
    return !*cell->cell.probe.expect || text_equal_nocase(cell->cell.probe.expect, responder);
}

void cluster_cell_unasked(struct cluster_cell *cell, const char *words) {
    static const char why[] = "the API server does not reach the probe: ";

    cell->cell.outcome = DIAG_NOT_RUN;
    text_format(cell->cell.reason, sizeof cell->cell.reason, "%s%.*s", why,
                (int)(sizeof cell->cell.reason - sizeof why), words);
}

void cluster_cell_judge(const struct cluster_report *report, struct cluster_cell *cell, long status,
                        const char *body, size_t len, bool retried) {
    unsigned before = cell->cell.result.attempts;
    char why[sizeof cell->cell.reason];
    struct probe_result result;

    if (dial_read(status, body, len, cell->cell.udp, &result, why, sizeof why) == DIAL_NOT_RUN) {
        cluster_cell_unasked(cell, why);
        return;
    }
    text_format(cell->cell.reason, sizeof cell->cell.reason, "%s", why);
    if (result.succeeded && !is_right(report, cell, result.responder)) {
        result.succeeded = 0;
        result.outcome = PROBE_WRONG_RESPONDER;
        text_format(cell->cell.reason, sizeof cell->cell.reason, "'%s' answered", result.responder);
    }
    result.attempts += retried ? before : 0;
    cell->cell.result = result;
    cell->cell.outcome = !result.succeeded ? DIAG_FAIL : retried ? DIAG_SLOW : DIAG_PASS;
    if (!result.succeeded && !*cell->cell.reason)
        text_format(cell->cell.reason, sizeof cell->cell.reason, "%s", "no answer came");
}

void cluster_cell_judge_late(const struct cluster_report *report, struct cluster_cell *cell) {
    const char *host = cell->cell.probe.target;
    bool answers = false;

    for (size_t i = 0; i < report->cells.count; i++) {
        const struct cluster_cell *other = &report->cells.items[i];

        answers |= other->from == cell->from && other->cell.result.attempts &&
                   other->cell.outcome != DIAG_NOT_RUN;
    }
    if (!answers || strspn(host, "0123456789abcdefABCDEF.:") == strlen(host))
        return;
    cell->cell.result.attempts++;
    cell->cell.result.succeeded = 0;
    cell->cell.result.outcome = PROBE_DNS_TIMEOUT;
    cell->cell.outcome = DIAG_FAIL;
    text_format(cell->cell.reason, sizeof cell->cell.reason, "%s",
                "the name does not resolve in time");
}

void cluster_cells_judge_kubelets(struct cluster_report *report) {
    for (size_t i = 0; i < report->cells.count; i++) {
        struct cluster_cell *cell = &report->cells.items[i];
        const struct cluster_node *node = &report->nodes.items[cell->from];

        if (cell->cell.flow->source != DIAG_FROM_NODE || node->waiting)
            continue;
        cell->cell.outcome = node->pod_ready ? DIAG_PASS : DIAG_FAIL;
        cell->cell.result.attempts = 1;
        cell->cell.result.succeeded = node->pod_ready;
        cell->cell.result.outcome = node->pod_ready ? PROBE_OK : PROBE_TIMEOUT;
        text_format(cell->cell.reason, sizeof cell->cell.reason, "%s",
                    node->pod_ready ? "" : "the kubelet's readiness probe does not reach the pod");
    }
}

/* ---- what is only looked at ---- */

char *cluster_sight_path(const struct cluster_report *report, enum cluster_sight sight, size_t from,
                         size_t to, const struct cluster_addresses *at) {
    const struct cluster_node *source = &report->nodes.items[from];
    const struct cluster_node *target = &report->nodes.items[to];
    const struct {
        const char *host;
        const char *request;
        unsigned port;
        unsigned tries;
    } asked[SIGHTS] = {
        [SIGHT_CLIENT] = {target->pod_ip, "clientip", PROBE_HTTP, 1},
        [SIGHT_SERVICE] = {at->backend_ip, "clientip", SERVICE_HTTP, 1},
        [SIGHT_LOCAL] = {target->ip, "clientip", at->local_port, 1},
        [SIGHT_OWN] = {at->self_ip, "hostname", SERVICE_HTTP, 1},
        [SIGHT_STICKY] = {at->sticky_ip, "hostname", SERVICE_HTTP, STICKY_TRIES},
    };

    if (source->waiting)
        return NULL;
    if (sight == SIGHT_DNS)
        return dial_shell_path(report->namespace_, source->pod,
                               "/agnhost dns-suffix; echo; /agnhost dns-server-list");
    if (!asked[sight].host || !*asked[sight].host || !asked[sight].port)
        return NULL;
    return dial_path(report->namespace_, source->pod, asked[sight].host, asked[sight].port, false,
                     asked[sight].request, asked[sight].tries);
}

static void read_dns(struct cluster_node *node, const char *output) {
    struct text_list lines = {0};

    text_list_split(&lines, output, '\n');
    free(node->suffixes);
    free(node->servers);
    node->suffixes = xstrdup(lines.count ? lines.items[0] : "");
    node->servers = xstrdup(lines.count > 1 ? lines.items[1] : "");
    text_list_free(&lines);
}

void cluster_sight_read(struct cluster_node *node, enum cluster_sight sight, long status,
                        const char *body, size_t len) {
    char **const seen[SIGHTS] = {[SIGHT_CLIENT] = &node->client_ip,
                                 [SIGHT_SERVICE] = &node->service_ip,
                                 [SIGHT_LOCAL] = &node->local_ip};
    struct probe_result result;
    char why[200];

    if (sight == SIGHT_DNS) {
        _cleanup_(freep) char *output = dial_shell_read(status, body, len);

        if (output)
            read_dns(node, output);
        return;
    }
    if (dial_read(status, body, len, false, &result, why, sizeof why) == DIAL_NOT_RUN ||
        !result.succeeded)
        return;
    node->seen |= 1U << sight;
    if (sight == SIGHT_OWN)
        return;
    if (sight == SIGHT_STICKY) {
        node->sticky = result.succeeded > 1;
        node->fixed = result.address_count == 1;
        return;
    }
    free(*seen[sight]);
    if (text_split_port(result.responder, seen[sight], &(unsigned){0}) < 0)
        *seen[sight] = xstrdup(result.responder);
}
