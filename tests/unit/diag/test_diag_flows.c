/* Scenes become cells, and results become outcomes. */
#include "tests/scene/expected_scene.h"

#include "diag/flows/flows.h"

static const struct diag_flow_input full = {
    .node_name = "win-7k2",
    .node_ip = "10.0.0.21",
    .source = "winjoin-probe-a",
    .target = "winjoin-probe-b",
    .source_ip = "10.244.3.4",
    .target_ip = "10.244.3.5",
    .node_echo = "winjoin-node",
    .node_echo_port = 18081,
    .namespace_ = "kube-system",
    .dns_domain = "cluster.local",
    .kubernetes_ip = "10.96.0.1",
    .dns_ip = "10.96.0.10",
    .external_ip = "192.0.2.1:8443",
    .external_name = "example.org:443",
    .external_dns = "192.0.2.53",
};

/* All that the cells ask, as the pod is told it. */
static char *probes_of(const struct diag_flow_input *input) {
    _cleanup_(diag_cells_free) struct diag_cells cells = {0};
    _cleanup_(probe_list_free) struct probe_list list = {0};

    diag_cells_make(input, &cells);
    for (size_t i = 0; i < cells.count; i++)
        if (cells.items[i].asked)
            array_add(list.items, list.count, cells.items[i].probe);
    return probe_list_write(&list);
}

static void a_full_scene_asks_everything(void **state) {
    _cleanup_(freep) char *text = probes_of(&full);
    _cleanup_(probe_list_free) struct probe_list list = {0};

    (void)state;
    assert_string_equal(
        text,
        "winjoin-probes 1\n"
        "pod-to-pod-ip.tcp tcp 10.244.3.5 18080 1400 - winjoin-probe-b 2000 3\n"
        "pod-to-pod-ip.udp udp 10.244.3.5 18080 1400 - winjoin-probe-b 2000 3\n"
        "pod-to-pod-name.tcp tcp 10-244-3-5.kube-system.pod.cluster.local 18080 16 - "
        "winjoin-probe-b 2000 3\n"
        "pod-to-pod-name.udp udp 10-244-3-5.kube-system.pod.cluster.local 18080 16 - "
        "winjoin-probe-b 2000 3\n"
        "pod-to-service-ip.tcp tcp 10.96.0.1 443 0 - - 2000 3\n"
        "pod-to-service-ip.udp dns 10.96.0.10 53 0 kubernetes.default.svc.cluster.local address "
        "2000 3\n"
        "pod-to-service-pqdn.tcp dns-tcp kube-dns 53 0 kubernetes.default.svc.cluster.local "
        "address 2000 3\n"
        "pod-to-service-pqdn.udp dns kube-dns 53 0 kubernetes.default.svc.cluster.local address "
        "2000 3\n"
        "pod-to-service-fqdn.tcp tcp kubernetes.default.svc.cluster.local 443 0 - - 2000 3\n"
        "pod-to-service-fqdn.udp dns kube-dns.kube-system.svc.cluster.local 53 0 "
        "kubernetes.default.svc.cluster.local address 2000 3\n"
        "pod-to-external-ip.tcp tcp 192.0.2.1 8443 0 - - 2000 3\n"
        "pod-to-external-ip.udp dns 192.0.2.53 53 0 example.org - 2000 3\n"
        "pod-to-external-dns.tcp tcp example.org 443 0 - - 2000 3\n"
        "pod-to-external-dns.udp dns 10.96.0.10 53 0 example.org address 2000 3\n"
        "node-to-pod.tcp tcp 10.244.3.5 18080 1400 - winjoin-probe-b 2000 3\n"
        "node-to-pod.udp udp 10.244.3.5 18080 1400 - winjoin-probe-b 2000 3\n"
        "pod-to-node.tcp tcp 10.0.0.21 10250 0 - - 2000 3\n"
        "pod-to-node.udp udp-any 10.0.0.21 18081 16 - winjoin-node 2000 3\n");
    /* What is written here the probe must read. */
    assert_int_equal(probe_list_parse(text, strlen(text), &list, NULL), 0);
    assert_int_equal(list.count, 18);
}

static void expect_cell(const struct diag_flow_input *input, const char *flow, bool udp,
                        const char *outcome, const char *reason) {
    _cleanup_(diag_cells_free) struct diag_cells cells = {0};
    const struct diag_cell *cell;

    diag_cells_make(input, &cells);
    assert_int_equal(cells.count, 18);
    cell = diag_cells_find(&cells, diag_flow_find(flow)->id, udp, false);
    assert_non_null(cell);
    assert_false(cell->asked);
    assert_string_equal(diag_outcome_name(cell->outcome), outcome);
    assert_string_equal(cell->reason, reason);
}

static void what_cannot_be_asked_says_why(void **state) {
    struct diag_flow_input input = full;
    char domain[PROBE_TARGET_MAX] = "";

    (void)state;
    input.external_ip = input.external_name = input.external_dns = NULL;
    expect_cell(&input, "pod-to-external-ip", false, "skip", "no-external-target");
    expect_cell(&input, "pod-to-external-ip", true, "skip", "no-external-target");
    expect_cell(&input, "pod-to-external-dns", true, "skip", "no-external-target");
    input.node_echo = NULL;
    expect_cell(&input, "pod-to-node", true, "skip", "no-udp-listener");
    input.dns_name = "dns-default", input.dns_namespace = "openshift-dns";
    expect_cell(&input, "pod-to-service-pqdn", true, "skip", "no-service-in-namespace");
    input.dns_name = input.dns_namespace = NULL;
    input.namespace_ = "default";
    expect_cell(&input, "pod-to-service-pqdn", true, "skip", "no-service-in-namespace");
    input.target_ip = NULL;
    expect_cell(&input, "node-to-pod", false, "not-run", "the second probe pod did not start");
    input.source_ip = "";
    expect_cell(&input, "pod-to-node", false, "not-run", "the first probe pod did not start");
    input = full;
    input.dns_domain = NULL;
    expect_cell(&input, "pod-to-service-fqdn", false, "not-run",
                "the cluster's DNS domain is not known");
    memset(domain, 'd', sizeof domain - 1);
    input.dns_domain = domain;
    expect_cell(&input, "pod-to-service-fqdn", false, "not-run",
                "the cluster's DNS domain is too long");
    expect_cell(&input, "pod-to-service-fqdn", true, "not-run",
                "the cluster's DNS domain is too long");
}

static void short_names_follow_the_namespace(void **state) {
    _cleanup_(diag_cells_free) struct diag_cells cells = {0};
    struct diag_flow_input input = full;
    const struct diag_cell *cell;

    (void)state;
    input.namespace_ = "default";
    diag_cells_make(&input, &cells);
    cell = diag_cells_find(&cells, FLOW_SVC_SHORT, false, false);
    assert_true(cell->asked);
    assert_string_equal(cell->probe.target, "kubernetes");
    assert_int_equal(cell->probe.port, 443);
}

static void addresses_of_version_6(void **state) {
    _cleanup_(diag_cells_free) struct diag_cells cells = {0};
    struct diag_flow_input input = full;

    (void)state;
    input.target_ip = "fd00::5";
    input.external_ip = "[2001:db8::1]:8443";
    diag_cells_make(&input, &cells);
    assert_string_equal(diag_cells_find(&cells, FLOW_POD_IP, false, false)->to, "[fd00::5]:18080");
    assert_int_equal(diag_cells_find(&cells, FLOW_POD_IP, false, false)->family, 6);
    assert_string_equal(diag_cells_find(&cells, FLOW_POD_NAME, false, false)->probe.target,
                        "fd00--5.kube-system.pod.cluster.local");
    assert_string_equal(diag_cells_find(&cells, FLOW_EXT_IP, false, false)->probe.target,
                        "2001:db8::1");
    assert_int_equal(diag_cells_find(&cells, FLOW_EXT_IP, false, false)->probe.port, 8443);
}

static void results_become_outcomes(void **state) {
    struct diag_cell cell = {.flow = diag_flow_find("pod-to-pod-ip")};
    struct probe_result result = {.outcome = PROBE_OK, .attempts = 3, .succeeded = 3};

    (void)state;
    text_format(cell.probe.expect, sizeof cell.probe.expect, "winjoin-probe-b");
    diag_cell_judge(&cell, &result, false);
    assert_int_equal(cell.outcome, DIAG_PASS);
    assert_string_equal(cell.reason, "");
    diag_cell_judge(&cell, &result, true);
    assert_int_equal(cell.outcome, DIAG_SLOW);
    assert_string_equal(cell.reason, "failed at first, then succeeded");
    result.min_us = 2000;
    result.max_us = 1030000;
    diag_cell_judge(&cell, &result, false); /* a name may take so long to resolve */
    assert_int_equal(cell.outcome, DIAG_PASS);
    cell.probe.kind = PROBE_TCP;
    text_format(cell.probe.target, sizeof cell.probe.target, "10.244.3.5");
    diag_cell_judge(&cell, &result, false);
    assert_int_equal(cell.outcome, DIAG_SLOW);
    assert_string_equal(cell.reason,
                        "a connection took 1030 ms, another 2 ms, as where some packets are lost");
    result.max_us = 952000;
    diag_cell_judge(&cell, &result, false);
    assert_int_equal(cell.outcome, DIAG_SLOW);
    result.max_us = 951999;
    diag_cell_judge(&cell, &result, false);
    assert_int_equal(cell.outcome, DIAG_PASS);
    result = (struct probe_result){.outcome = PROBE_TIMEOUT, .attempts = 2};
    diag_cell_judge(&cell, &result, true);
    assert_int_equal(cell.outcome, DIAG_FAIL);
    assert_string_equal(cell.reason, "timeout, 2 attempts");
    result.address_count = 1;
    memcpy(result.addresses[0], "10.9.9.9", sizeof "10.9.9.9");
    diag_cell_judge(&cell, &result, true);
    assert_string_equal(cell.reason, "timeout, 2 attempts; the name resolved to 10.9.9.9");
    result.attempts = 1;
    diag_cell_judge(&cell, &result, true);
    assert_string_equal(cell.reason, "timeout, 1 attempt; the name resolved to 10.9.9.9");
    result = (struct probe_result){.outcome = PROBE_TIMEOUT, .attempts = 1};
    diag_cell_judge(&cell, &result, true);
    assert_string_equal(cell.reason, "timeout, 1 attempt");
    result = (struct probe_result){.outcome = PROBE_TIMEOUT, .attempts = 2};
    text_format(result.responder, sizeof result.responder, "an earlier attempt's");
    diag_cell_judge(&cell, &result, false);
    assert_string_equal(cell.reason, "timeout, 2 attempts");
    result = (struct probe_result){.outcome = PROBE_RESET, .attempts = 3, .succeeded = 2};
    diag_cell_judge(&cell, &result, false);
    assert_string_equal(cell.reason, "2 of 3 attempts succeeded, then reset");
    result = (struct probe_result){.outcome = PROBE_WRONG_RESPONDER, .attempts = 2};
    text_format(result.responder, sizeof result.responder, "other");
    diag_cell_judge(&cell, &result, false);
    assert_string_equal(cell.reason, "answered by 'other' instead of 'winjoin-probe-b'");
}

static void clusters_without_pod_records_are_excused(void **state) {
    _cleanup_(diag_cells_free) struct diag_cells cells = {0};
    struct probe_result ok = {.outcome = PROBE_OK, .attempts = 3, .succeeded = 3};
    struct probe_result nxdomain = {.outcome = PROBE_DNS_NXDOMAIN, .attempts = 2};
    struct probe_result lost = {.outcome = PROBE_TIMEOUT, .attempts = 2};
    struct diag_cell *name, *service;

    (void)state;
    diag_cells_make(&full, &cells);
    name = diag_cells_find(&cells, FLOW_POD_NAME, false, false);
    service = diag_cells_find(&cells, FLOW_SVC_FQDN, false, false);
    diag_cell_judge(name, &nxdomain, false);
    diag_cell_judge(service, &nxdomain, false);
    diag_cells_excuse(&cells, NULL);
    assert_int_equal(name->outcome, DIAG_FAIL); /* all DNS is broken: no excuse */
    diag_cell_judge(service, &ok, false);
    diag_cell_judge(name, &lost, false);
    diag_cells_excuse(&cells, NULL);
    assert_int_equal(name->outcome, DIAG_FAIL); /* the DNS did not say that the name is missing */
    diag_cell_judge(name, &nxdomain, false);
    diag_cells_excuse(&cells, NULL);
    assert_int_equal(name->outcome, DIAG_SKIP);
    assert_string_equal(name->reason, "dns-no-pod-records");
}

/* Each family's names are excused by its own Service's. */
static void a_name_of_the_second_family(void **state) {
    _cleanup_(diag_cells_free) struct diag_cells cells = {0};
    struct probe_result ok = {.outcome = PROBE_OK, .attempts = 3, .succeeded = 3};
    struct probe_result nxdomain = {.outcome = PROBE_DNS_NXDOMAIN, .attempts = 2};
    struct diag_flow_input input = full;
    struct diag_cell *name, *service;

    (void)state;
    input.node_ip6 = "fd00:200::21";
    input.source_ip6 = "fd00:10:244:3::4";
    input.target_ip6 = "fd00:10:244:3::5";
    input.dns_ip6 = "fd00:10:96::a";
    diag_cells_make(&input, &cells);
    name = diag_cells_find(&cells, FLOW_POD_NAME, true, true);
    service = diag_cells_find(&cells, FLOW_SVC_FQDN, true, true);
    diag_cell_judge(name, &nxdomain, false);
    diag_cell_judge(service, &nxdomain, false);
    diag_cell_judge(diag_cells_find(&cells, FLOW_SVC_FQDN, true, false), &ok, false);
    diag_cells_excuse(&cells, NULL);
    assert_int_equal(name->outcome, DIAG_FAIL);
    diag_cell_judge(service, &ok, false);
    diag_cells_excuse(&cells, NULL);
    assert_int_equal(name->outcome, DIAG_SKIP);
    assert_string_equal(name->reason, "dns-no-pod-records");
}

/* What the mode cannot do is no failure; what works all the same counts. */
static void limits_of_the_mode_excuse(void **state) {
    _cleanup_(diag_cells_free) struct diag_cells cells = {0};
    struct probe_result ok = {.outcome = PROBE_OK, .attempts = 3, .succeeded = 3};
    struct probe_result lost = {.outcome = PROBE_TIMEOUT, .attempts = 2};
    struct diag_cell *service, *dns, *pod;
    const struct network_limit rows[] = {
        {.code = "harmless"}, {.code = "first", .services = true}, {0}};

    (void)state;
    diag_cells_make(&full, &cells);
    service = diag_cells_find(&cells, FLOW_SVC_IP, false, false);
    dns = diag_cells_find(&cells, FLOW_EXT_DNS, true, false);
    pod = diag_cells_find(&cells, FLOW_POD_IP, false, false);
    diag_cell_judge(service, &lost, false);
    diag_cell_judge(dns, &ok, false);
    diag_cell_judge(pod, &lost, false);
    diag_cells_excuse(&cells, network_mode_by_name("overlay")->limits);
    assert_int_equal(service->outcome, DIAG_FAIL);
    diag_cells_excuse(&cells, network_mode_by_name("nat")->limits);
    assert_int_equal(service->outcome, DIAG_SKIP);
    assert_string_equal(service->reason, "no-services");
    assert_int_equal(dns->outcome, DIAG_PASS);
    assert_int_equal(pod->outcome, DIAG_FAIL);
    diag_cell_judge(dns, &lost, false);
    diag_cells_excuse(&cells, rows);
    assert_string_equal(dns->reason, "first");
}

/* On a dual-stack node the flows by address are asked over IPv6, too, after all of IPv4. */
static void a_second_family(void **state) {
    _cleanup_(diag_cells_free) struct diag_cells cells = {0};
    _cleanup_(freep) char *text = NULL, *name = NULL;
    struct diag_flow_input input = full;

    (void)state;
    input.node_ip6 = "fd00:200::21";
    input.source_ip6 = "fd00:10:244:3::4";
    input.target_ip6 = "fd00:10:244:3::5";
    input.dns_ip6 = "fd00:10:96::a";
    text = probes_of(&input);
    assert_string_equal(
        strstr(text, "pod-to-pod-ip.tcp6"),
        "pod-to-pod-ip.tcp6 tcp fd00:10:244:3::5 18080 1400 - winjoin-probe-b 2000 3\n"
        "pod-to-pod-ip.udp6 udp fd00:10:244:3::5 18080 1400 - winjoin-probe-b 2000 3\n"
        "pod-to-pod-name.tcp6 tcp fd00-10-244-3--5.kube-system.pod.cluster.local 18080 16 - "
        "winjoin-probe-b 2000 3\n"
        "pod-to-pod-name.udp6 udp fd00-10-244-3--5.kube-system.pod.cluster.local 18080 16 - "
        "winjoin-probe-b 2000 3\n"
        "pod-to-service-ip.tcp6 dns-tcp fd00:10:96::a 53 0 kubernetes.default.svc.cluster.local "
        "address 2000 3\n"
        "pod-to-service-ip.udp6 dns fd00:10:96::a 53 0 kubernetes.default.svc.cluster.local "
        "address 2000 3\n"
        "pod-to-service-fqdn.tcp6 dns-tcp fd00:10:96::a 53 0 "
        "kube-dns.kube-system.svc.cluster.local "
        "address6 2000 3\n"
        "pod-to-service-fqdn.udp6 dns fd00:10:96::a 53 0 kube-dns.kube-system.svc.cluster.local "
        "address6 2000 3\n"
        "node-to-pod.tcp6 tcp fd00:10:244:3::5 18080 1400 - winjoin-probe-b 2000 3\n"
        "node-to-pod.udp6 udp fd00:10:244:3::5 18080 1400 - winjoin-probe-b 2000 3\n"
        "pod-to-node.tcp6 tcp fd00:200::21 10250 0 - - 2000 3\n"
        "pod-to-node.udp6 udp-any fd00:200::21 18081 16 - winjoin-node 2000 3\n");
    input.source_ip6 = input.dns_ip6 = NULL;
    diag_cells_make(&input, &cells);
    assert_int_equal(diag_cells_find(&cells, FLOW_POD_IP, false, false)->family, 4);
    assert_int_equal(diag_cells_find(&cells, FLOW_POD_IP, false, true)->outcome, DIAG_NOT_RUN);
    assert_string_equal(diag_cells_find(&cells, FLOW_POD_IP, false, true)->reason,
                        "the first probe pod has no IPv6 address");
    assert_null(diag_cells_find(&cells, FLOW_EXT_IP, false, true));
    name = diag_cell_name(diag_cells_find(&cells, FLOW_NODE_POD, true, true));
    assert_string_equal(name, "node-to-pod/udp/ipv6");
    input.source_ip6 = "fd00:10:244:3::4";
    diag_cells_free(&cells);
    diag_cells_make(&input, &cells);
    assert_string_equal(diag_cells_find(&cells, FLOW_SVC_IP, true, true)->reason,
                        "no-ipv6-service");
    assert_string_equal(diag_cells_find(&cells, FLOW_SVC_FQDN, true, true)->reason,
                        "no-ipv6-service");
    input.dns_ip = NULL;
    diag_cells_free(&cells);
    diag_cells_make(&input, &cells);
    assert_string_equal(diag_cells_find(&cells, FLOW_SVC_IP, true, false)->reason,
                        "the cluster IP is not known");
}

static void outcomes_have_names(void **state) {
    enum diag_outcome outcome = DIAG_PASS;

    (void)state;
    assert_int_equal(diag_outcome_parse("not-run", &outcome), 0);
    assert_int_equal(outcome, DIAG_NOT_RUN);
    assert_int_equal(diag_outcome_parse("fine", &outcome), -1);
    assert_int_equal(diag_outcome_parse(NULL, &outcome), -1);
    assert_int_equal(outcome, DIAG_NOT_RUN);
}

/* ---- whole scenes ---- */

/* What is written here the probe must read. */
static void add_probes(struct text_list *lines, struct probe_list *list) {
    _cleanup_(freep) char *text = probe_list_write(list);
    _cleanup_(probe_list_free) struct probe_list again = {0};

    assert_int_equal(probe_list_parse(text, strlen(text), &again, NULL), 0);
    assert_int_equal(again.count, list->count);
    text_list_split(lines, text, '\n');
    probe_list_free(list);
}

/* All cells, and all that is asked, as lines. */
static void add_all(struct text_list *lines, const struct diag_flow_input *input) {
    _cleanup_(diag_cells_free) struct diag_cells cells = {0};
    struct probe_list list = {0};
    struct probe back;

    diag_cells_make(input, &cells);
    for (size_t i = 0; i < cells.count; i++) {
        const struct diag_cell *c = &cells.items[i];
        _cleanup_(freep) char *name = diag_cell_name(c);

        text_list_add_owned(lines,
                            xasprintf("%s from '%s' to '%s' (IPv%d): %s %s", name, c->from, c->to,
                                      c->family, diag_outcome_name(c->outcome), c->reason));
        if (c->asked)
            array_add(list.items, list.count, c->probe);
        if (c->asked && diag_cell_back(input, c, &back))
            array_add(list.items, list.count, back);
    }
    add_probes(lines, &list);
    diag_extra_probes(input, &list);
    add_probes(lines, &list);
}

/* Lines of the one that the other has not; of a probe that is not asked any more its name. */
static void add_changes(struct text *t, const struct text_list *was, const struct text_list *is) {
    for (size_t i = 0; i < was->count; i++)
        if (!text_list_has(is, was->items[i]) && !strstr(was->items[i], " from "))
            text_addf(t, "  - %.*s\n", (int)strcspn(was->items[i], " "), was->items[i]);
    for (size_t i = 0; i < is->count; i++)
        if (!text_list_has(was, is->items[i]))
            text_addf(t, "  + %s\n", is->items[i]);
}

#define TEXT(member) #member, offsetof(struct diag_flow_input, member)
#define LONG "a-long-name-of-a-cluster-with-a-very-long-name-in-a-long-domain."

static const struct {
    const char *name;
    size_t offset;
    const char *value;
} others[] = {
    {TEXT(node_name), NULL},
    {TEXT(node_ip), NULL},
    {TEXT(source), NULL},
    {TEXT(target), NULL},
    {TEXT(source_ip), NULL},
    {TEXT(target_ip), NULL},
    {TEXT(target_ip), "fd00::5"},
    {TEXT(node_ip6), NULL},
    {TEXT(source_ip6), NULL},
    {TEXT(target_ip6), NULL},
    {TEXT(dns_ip6), NULL},
    {TEXT(node_echo), NULL},
    {TEXT(namespace_), NULL},
    {TEXT(namespace_), "default"},
    {TEXT(namespace_), "other"},
    {TEXT(dns_domain), NULL},
    {TEXT(dns_domain), LONG LONG LONG LONG},
    {TEXT(kubernetes_ip), NULL},
    {TEXT(dns_ip), NULL},
    {TEXT(dns_pods[0]), NULL},
    {TEXT(dns_pods[1]), NULL},
    {TEXT(dns_pods[2]), NULL},
    {TEXT(peer_ip), NULL},
    {TEXT(api_ip), NULL},
    {TEXT(external_ip), NULL},
    {TEXT(external_ip), "[2001:db8::1]"},
    {TEXT(external_ip), "192.0.2.9"},
    {TEXT(external_ip), LONG LONG LONG LONG LONG},
    {TEXT(external_name), NULL},
    {TEXT(external_name), "example.net"},
    {TEXT(external_dns), NULL},
    {TEXT(external_dns), "192.0.2.9:5353"},
};

/* What changes of an input in which all is known when one text of it is another. */
static void one_text_at_a_time(void **state) {
    _cleanup_(text_list_free) struct text_list all = {0};
    _cleanup_(text_free) struct text told = {0};
    struct diag_flow_input input = full;

    (void)state;
    input.kubelet_port = 10251;
    input.node_ip6 = "fd00:200::21";
    input.source_ip6 = "fd00:10:244:3::4";
    input.target_ip6 = "fd00:10:244:3::5";
    input.dns_ip6 = "fd00:10:96::a";
    input.dns_pods[0] = "10.244.1.9";
    input.dns_pods[1] = "10.244.2.9";
    input.dns_pods[2] = "10.244.4.9";
    input.dns_pod_port = 5353;
    input.peer_ip = "10.244.1.1";
    input.api_ip = "10.0.0.10";
    input.api_port = 6443;
    input.timeout_ms = 1000;
    input.attempts = 2;
    add_all(&all, &input);
    for (size_t i = 0; i < all.count; i++)
        text_addf(&told, "%s\n", all.items[i]);
    for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
        _cleanup_(text_list_free) struct text_list now = {0};
        struct diag_flow_input other = input;

        memcpy((char *)&other + others[i].offset, &others[i].value, sizeof others[i].value);
        add_all(&now, &other);
        text_addf(&told, "%s is %s\n", others[i].name,
                  others[i].value ? others[i].value : "not known");
        add_changes(&told, &all, &now);
    }
    assert_expected_exactly("diag-flows", text_str(&told));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_scene_asks_everything),
        cmocka_unit_test(what_cannot_be_asked_says_why),
        cmocka_unit_test(short_names_follow_the_namespace),
        cmocka_unit_test(addresses_of_version_6),
        cmocka_unit_test(results_become_outcomes),
        cmocka_unit_test(clusters_without_pod_records_are_excused),
        cmocka_unit_test(a_name_of_the_second_family),
        cmocka_unit_test(limits_of_the_mode_excuse),
        cmocka_unit_test(a_second_family),
        cmocka_unit_test(outcomes_have_names),
        cmocka_unit_test(one_text_at_a_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
