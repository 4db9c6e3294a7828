/* Makes cells from their input: what each flow asks, of which target, and when it cannot be asked.
 */
#include <stdio.h>

#include "diag/flows/flows.h"

enum {
    KUBELET_PORT = 10250,
    DNS_PORT = 53,
    CLOSED_PORT = 9,
    /* The metrics port of CoreDNS, as kubeadm, k3s and the clouds configure it. */
    METRICS_PORT = 9153,
    HTTPS_PORT = 443,
    LARGE = 1400,
    SMALL = 16
};

static bool known(const char *text) {
    return text && *text;
}

static void leave_out(struct diag_cell *cell, enum diag_outcome outcome, const char *reason) {
    cell->outcome = outcome;
    text_format(cell->reason, sizeof cell->reason, "%s", reason);
}

/* Fills the cell's probe; a target that is too long makes the cell not-run. */
static void ask(struct diag_cell *cell, enum probe_kind kind, const char *target, unsigned port) {
    cell->probe.kind = kind;
    cell->probe.port = port;
    if (text_format(cell->probe.target, sizeof cell->probe.target, "%s", target) < 0) {
        leave_out(cell, DIAG_NOT_RUN, "the target's name is too long");
        return;
    }
    (void)text_format(cell->to, sizeof cell->to, strchr(target, ':') ? "[%s]:%u" : "%s:%u", target,
                      port); /* The text fits, because the target fits. */
    cell->asked = true;
    cell->outcome = DIAG_FAIL;
    text_format(cell->reason, sizeof cell->reason, "no result");
}

static void ask_echo(struct diag_cell *cell, const char *target, unsigned port, const char *name,
                     unsigned payload) {
    ask(cell, cell->udp ? PROBE_UDP : PROBE_TCP, target, port);
    cell->probe.payload = payload;
    text_format(cell->probe.expect, sizeof cell->probe.expect, "%s", name);
}

/* Writes the full name of the DNS Service, or of the Service kubernetes. */
static int service_name(const struct diag_flow_input *input, bool of_dns, char *ret, size_t size) {
    return text_format(ret, size, "%s.%s.svc.%s", of_dns ? input->dns_name : "kubernetes",
                       of_dns ? input->dns_namespace : "default", input->dns_domain);
}

/* Asks a DNS server a question that must be answered with an address. */
static void ask_dns(struct diag_cell *cell, const char *target, unsigned port,
                    const char *question) {
    ask(cell, cell->udp ? PROBE_DNS : PROBE_DNS_TCP, target, port);
    text_format(cell->probe.question, sizeof cell->probe.question, "%s", question);
    text_format(cell->probe.expect, sizeof cell->probe.expect, "address");
}

static void ask_dns_service(const struct diag_flow_input *input, struct diag_cell *cell,
                            const char *target) {
    char question[PROBE_TARGET_MAX];

    if (service_name(input, false, question, sizeof question) < 0)
        leave_out(cell, DIAG_NOT_RUN, "the cluster's DNS domain is too long");
    else
        ask_dns(cell, target, DNS_PORT, question);
}

/* Splits a target into its host, which the caller frees, and its port; the default port is used
 * when there is none. */
static char *split_target(const char *text, unsigned default_port, unsigned *ret_port) {
    char *host = NULL;

    *ret_port = default_port;
    return text_split_port(text, &host, ret_port) < 0 ? xstrdup(text) : host;
}

static void make_pod(const struct diag_flow_input *input, struct diag_cell *cell) {
    bool by_name = cell->flow->is & FLOW_NAME;
    _cleanup_(freep) char *dashed = text_replace(xstrdup(input->target_ip), ".:", '-');
    _cleanup_(freep) char *name =
        xasprintf("%s.%s.pod.%s", dashed, input->namespace_, by_name ? input->dns_domain : "");

    ask_echo(cell, by_name ? name : input->target_ip, PROBE_PORT, input->target,
             by_name ? SMALL : LARGE);
}

/* The Service kubernetes has one IP family only, so by IPv6 the DNS Service is asked for the TCP
 * cell as well. */
static void make_service_ip(const struct diag_flow_input *input, struct diag_cell *cell) {
    if ((cell->udp || cell->second) && known(input->dns_ip))
        ask_dns_service(input, cell, input->dns_ip);
    else if (cell->second)
        leave_out(cell, DIAG_SKIP, "no-ipv6-service");
    else if (!cell->udp && known(input->kubernetes_ip))
        ask(cell, PROBE_TCP, input->kubernetes_ip, HTTPS_PORT);
    else
        leave_out(cell, DIAG_NOT_RUN, "the cluster IP is not known");
}

/* Windows completes only names without a dot, and only with the pod's own namespace. */
static void make_service_pqdn(const struct diag_flow_input *input, struct diag_cell *cell) {
    if (text_equal(input->namespace_, input->dns_namespace))
        ask_dns_service(input, cell, input->dns_name);
    else if (text_equal(input->namespace_, "default") && !cell->udp)
        ask(cell, PROBE_TCP, "kubernetes", HTTPS_PORT);
    else
        leave_out(cell, DIAG_SKIP, "no-service-in-namespace");
}

/* Each program chooses for itself which IP family of a name it uses. So IPv6 counts as proved when
 * the name has an IPv6 address. */
static void make_service_fqdn(const struct diag_flow_input *input, struct diag_cell *cell) {
    char name[PROBE_TARGET_MAX];

    if (cell->second && !known(input->dns_ip))
        leave_out(cell, DIAG_SKIP, "no-ipv6-service");
    else if (service_name(input, cell->udp || cell->second, name, sizeof name) < 0)
        leave_out(cell, DIAG_NOT_RUN, "the cluster's DNS domain is too long");
    else if (cell->second) {
        ask_dns(cell, input->dns_ip, DNS_PORT, name);
        text_format(cell->probe.expect, sizeof cell->probe.expect, "address6");
    } else if (cell->udp)
        ask_dns_service(input, cell, name);
    else
        ask(cell, PROBE_TCP, name, HTTPS_PORT);
}

/* By UDP, any answer of the resolver outside proves the path, so no address is required in it. */
static void make_external_ip(const struct diag_flow_input *input, struct diag_cell *cell) {
    const char *target = cell->udp ? input->external_dns : input->external_ip;
    _cleanup_(freep) char *host = NULL, *name = NULL;
    unsigned port, ignored;

    if (!known(target)) {
        leave_out(cell, DIAG_SKIP, "no-external-target");
        return;
    }
    host = split_target(target, cell->udp ? DNS_PORT : HTTPS_PORT, &port);
    if (!cell->udp) {
        ask(cell, PROBE_TCP, host, port);
        return;
    }
    if (known(input->external_name))
        name = split_target(input->external_name, HTTPS_PORT, &ignored);
    ask_dns(cell, host, port, name ? name : "example.com");
    cell->probe.expect[0] = '\0';
}

/* By UDP, the cluster's DNS is asked for the name, and has to ask a server outside. */
static void make_external_dns(const struct diag_flow_input *input, struct diag_cell *cell) {
    _cleanup_(freep) char *host = NULL;
    unsigned port;

    if (!known(input->external_name)) {
        leave_out(cell, DIAG_SKIP, "no-external-target");
        return;
    }
    host = split_target(input->external_name, HTTPS_PORT, &port);
    if (!cell->udp)
        ask(cell, PROBE_TCP, host, port);
    else if (known(input->dns_ip))
        ask_dns(cell, input->dns_ip, DNS_PORT, host);
    else
        leave_out(cell, DIAG_NOT_RUN, "the DNS Service's cluster IP is not known");
}

static void make_node(const struct diag_flow_input *input, struct diag_cell *cell) {
    if (!known(input->node_ip))
        leave_out(cell, DIAG_NOT_RUN, "the node's address is not known");
    else if (!cell->udp)
        ask(cell, PROBE_TCP, input->node_ip, input->kubelet_port);
    else if (!known(input->node_echo))
        leave_out(cell, DIAG_SKIP, "no-udp-listener");
    else { /* The answer may come from the address in the pod network. */
        ask_echo(cell, input->node_ip, input->node_echo_port, input->node_echo, SMALL);
        cell->probe.kind = PROBE_UDP_ANY;
    }
}

/* Says what a flow needs from the input before its cells can be made. */
enum { NEEDS_SOURCE = 1, NEEDS_TARGET = 2, NEEDS_DOMAIN = 4 };
static const struct {
    void (*make)(const struct diag_flow_input *input, struct diag_cell *cell);
    unsigned needs;
    bool second; /* The flow has cells for IPv6 addresses, too. */
} makers[FLOW_COUNT] = {
    [FLOW_POD_IP] = {make_pod, NEEDS_SOURCE | NEEDS_TARGET, true},
    [FLOW_POD_NAME] = {make_pod, NEEDS_SOURCE | NEEDS_TARGET | NEEDS_DOMAIN, true},
    [FLOW_SVC_IP] = {make_service_ip, NEEDS_SOURCE | NEEDS_DOMAIN, true},
    [FLOW_SVC_SHORT] = {make_service_pqdn, NEEDS_SOURCE | NEEDS_DOMAIN, false},
    [FLOW_SVC_FQDN] = {make_service_fqdn, NEEDS_SOURCE | NEEDS_DOMAIN, true},
    [FLOW_EXT_IP] = {make_external_ip, NEEDS_SOURCE, false},
    [FLOW_EXT_DNS] = {make_external_dns, NEEDS_SOURCE, false},
    [FLOW_NODE_POD] = {make_pod, NEEDS_TARGET, true},
    [FLOW_POD_NODE] = {make_node, NEEDS_SOURCE, true},
};

static void cell_make(const struct diag_flow_input *input, const struct diag_flow *flow, bool udp,
                      bool second, struct diag_cell *cell) {
    const char *from = flow->is & FLOW_FROM_NODE ? input->node_name : input->source;
    unsigned needs = makers[flow->id].needs;

    *cell =
        (struct diag_cell){.flow = flow, .udp = udp, .family = second ? 6 : 4, .second = second};
    text_format(cell->from, sizeof cell->from, "%s", from ? from : "");
    snprintf(cell->probe.id, sizeof cell->probe.id, "%s.%s%s", flow->name, udp ? "udp" : "tcp",
             second ? "6" : "");
    cell->probe.timeout_ms = input->timeout_ms;
    cell->probe.attempts = input->attempts;
    if ((needs & NEEDS_SOURCE) && !known(input->source_ip))
        leave_out(cell, DIAG_NOT_RUN,
                  second ? "the first probe pod has no IPv6 address"
                         : "the first probe pod did not start");
    else if ((needs & NEEDS_TARGET) && !known(input->target_ip))
        leave_out(cell, DIAG_NOT_RUN,
                  second ? "the second probe pod has no IPv6 address"
                         : "the second probe pod did not start");
    else if ((needs & NEEDS_DOMAIN) && !known(input->dns_domain))
        leave_out(cell, DIAG_NOT_RUN, "the cluster's DNS domain is not known");
    else
        makers[flow->id].make(input, cell);
    if (cell->asked && strchr(cell->probe.target, ':'))
        cell->family = 6;
}

static struct diag_flow_input with_defaults(const struct diag_flow_input *input) {
    struct diag_flow_input full = *input;

    if (!full.kubelet_port)
        full.kubelet_port = KUBELET_PORT;
    if (!full.timeout_ms)
        full.timeout_ms = 2000;
    if (!full.attempts)
        full.attempts = 3;
    if (!known(full.namespace_))
        full.namespace_ = "kube-system";
    if (!known(full.dns_name) || !known(full.dns_namespace)) {
        full.dns_name = "kube-dns"; /* The name that kubeadm gives the DNS Service. */
        full.dns_namespace = "kube-system";
    }
    if (!full.target)
        full.target = "";
    return full;
}

void diag_cells_make(const struct diag_flow_input *input, struct diag_cells *ret) {
    struct diag_flow_input full = with_defaults(input), ipv6 = full;
    struct diag_cells cells = {0};

    ipv6.node_ip = full.node_ip6;
    ipv6.source_ip = full.source_ip6;
    ipv6.target_ip = full.target_ip6;
    ipv6.dns_ip = full.dns_ip6;
    for (int second = 0; second < (known(full.node_ip6) ? 2 : 1); second++)
        for (const struct diag_flow *flow = diag_flows; flow->name; flow++) {
            if (!makers[flow->id].make || (second && !makers[flow->id].second))
                continue;
            for (int udp = 0; udp < 2; udp++) {
                struct diag_cell cell;

                cell_make(second ? &ipv6 : &full, flow, udp, second, &cell);
                array_add(cells.items, cells.count, cell);
            }
        }
    *ret = cells;
}

bool diag_cell_back(const struct diag_flow_input *input, const struct diag_cell *cell,
                    struct probe *ret) {
    const char *address = cell->second ? input->source_ip6 : input->source_ip;

    if (cell->flow->id != FLOW_POD_IP || !known(input->source))
        return false;
    *ret = cell->probe;
    text_format(ret->id, sizeof ret->id, "%s",
                diag_extras[X_BACK_TCP + cell->udp + 2 * cell->second].name);
    return text_format(ret->target, sizeof ret->target, "%s", address) == 0 &&
           text_format(ret->expect, sizeof ret->expect, "%s", input->source) == 0;
}

static void extra_add(struct probe_list *list, const struct diag_flow_input *input,
                      enum diag_extra_id extra, const struct diag_cell *cell) {
    struct probe probe = cell->probe;

    if (!cell->asked)
        return;
    text_format(probe.id, sizeof probe.id, "%s", diag_extras[extra].name);
    probe.timeout_ms = input->timeout_ms;
    probe.attempts = 1;
    array_add(list->items, list->count, probe);
}

/* Adds the same question in all sizes. */
static void sizes_add(struct probe_list *list, const struct diag_flow_input *input,
                      enum diag_extra_id first, const struct diag_cell *cell) {
    struct diag_cell sized = *cell;

    for (enum diag_extra_id extra = first; extra < first + X_SIZES; extra++) {
        sized.probe.payload = diag_extras[extra].bytes;
        extra_add(list, input, extra, &sized);
    }
    /* The largest size is enough to name a cause, but a single lost packet is not: so it is asked
     * several times. */
    if (cell->asked)
        list->items[list->count - 1].attempts = 3;
}

/* Asks pods of the DNS, which are usually on another node: one question each, and for the first pod
 * also a connection only, a port where nobody listens, a missing page, and a page of several
 * kilobytes. A pod that does not answer these further questions costs at most half of the usual
 * time limit for each. */
static void dns_pod_add(struct probe_list *list, const struct diag_flow_input *full) {
    struct diag_cell connect = {0}, say = {.udp = true}, page = {0};
    unsigned port = full->dns_pod_port ? full->dns_pod_port : DNS_PORT;
    struct diag_flow_input hasty = *full;

    /* Each of the pods gets the same question. */
    for (size_t i = 0; i < DIAG_DNS_PODS && known(full->dns_pods[i]); i++) {
        struct diag_cell question = {.udp = true};

        ask_dns_service(full, &question, full->dns_pods[i]);
        question.probe.port = port;
        extra_add(list, full, X_DNS_POD + i, &question);
    }
    hasty.timeout_ms = full->timeout_ms / 2;
    ask(&connect, PROBE_TCP, full->dns_pods[0], port);
    extra_add(list, &hasty, X_DNS_CONNECT, &connect);
    ask(&connect, PROBE_TCP, full->dns_pods[0], CLOSED_PORT);
    extra_add(list, &hasty, X_CLOSED_TCP, &connect);
    /* The ICMP error of a closed UDP port may be lost, and a healthy node then waits this long. */
    hasty.timeout_ms /= 4;
    ask_echo(&say, full->dns_pods[0], CLOSED_PORT, "", SMALL);
    extra_add(list, &hasty, X_CLOSED_UDP, &say);

    /* No flow of the matrix gets a large answer from another node. Where a NetworkPolicy blocks
     * this port, a healthy node waits this long, too. */
    hasty.timeout_ms = full->timeout_ms / 4;
    ask(&page, PROBE_PAGE, full->dns_pods[0], METRICS_PORT);
    text_format(page.probe.question, sizeof page.probe.question, "none");
    page.probe.payload = 1;
    extra_add(list, &hasty, X_PAGE_SMALL, &page);
    text_format(page.probe.question, sizeof page.probe.question, "metrics");
    page.probe.payload = PROBE_PAYLOAD_MAX;
    extra_add(list, &hasty, X_PAGE_LARGE, &page);
    list->items[list->count - 1].attempts = 3; /* A single lost packet must not become a cause. */
}

/* Adds a question whether anything replies at the address and port. */
static void connect_add(struct probe_list *list, const struct diag_flow_input *full,
                        enum diag_extra_id extra, const char *ip, unsigned port) {
    struct diag_cell tcp = {0};

    if (!known(ip) || !port)
        return;
    ask(&tcp, PROBE_TCP, ip, port);
    extra_add(list, full, extra, &tcp);
}

void diag_extra_probes(const struct diag_flow_input *input, struct probe_list *ret) {
    struct diag_flow_input full = with_defaults(input);
    struct diag_cell tcp = {0}, udp = {.udp = true}, name = {0};
    char fqdn[PROBE_TARGET_MAX];

    if (known(full.target_ip)) {
        ask_echo(&tcp, full.target_ip, PROBE_PORT, full.target, SMALL);
        ask_echo(&udp, full.target_ip, PROBE_PORT, full.target, SMALL);
        extra_add(ret, &full, X_SMALL_TCP, &tcp);
        extra_add(ret, &full, X_SMALL_UDP, &udp);
        sizes_add(ret, &full, X_SIZE_TCP_1000, &tcp);
        sizes_add(ret, &full, X_SIZE_UDP_1000, &udp);
    }
    connect_add(ret, &full, X_API_NODE, full.api_ip, KUBELET_PORT);
    connect_add(ret, &full, X_API_DIRECT, full.api_ip, full.api_port);
    if (!known(full.dns_domain) || service_name(&full, false, fqdn, sizeof fqdn) < 0)
        return;
    ask(&name, PROBE_RESOLVE, fqdn, 0);
    extra_add(ret, &full, X_RESOLVE_FQDN, &name);
    if (!known(full.dns_ip))
        return;
    tcp = (struct diag_cell){0};
    udp = (struct diag_cell){.udp = true};
    ask_dns_service(&full, &tcp, full.dns_ip);
    ask_dns_service(&full, &udp, full.dns_ip);
    extra_add(ret, &full, X_DNS_TCP, &tcp);
    sizes_add(ret, &full, X_SIZE_DNS_1000, &tcp);
    extra_add(ret, &full, X_DNS_UDP, &udp);
    if (known(full.dns_pods[0]))
        dns_pod_add(ret, &full);
    connect_add(ret, &full, X_PEER, full.peer_ip, KUBELET_PORT);
    udp = (struct diag_cell){.udp = true};
    make_external_dns(&full, &udp);
    extra_add(ret, &full, X_DNS_EXTERNAL, &udp);
}
