/* Scenes become cells, and results become outcomes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "diag/flows/flows.h"

static const struct diag_scene full = {
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
    .external_name = "example.com:443",
    .external_dns = "192.0.2.53",
};

/* All that the cells ask, as the pod is told it. */
static char *probes_of(const struct diag_scene *scene) {
    _cleanup_(diag_cells_free) struct diag_cells cells = {0};
    _cleanup_(probe_list_free) struct probe_list list = {0};

    diag_cells_make(scene, &cells);
    for (size_t i = 0; i < cells.count; i++)
        if (cells.items[i].asked)
            probe_list_add(&list, &cells.items[i].probe);
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
        "pod-to-external-ip.udp dns 192.0.2.53 53 0 example.com - 2000 3\n"
        "pod-to-external-dns.tcp tcp example.com 443 0 - - 2000 3\n"
        "pod-to-external-dns.udp dns 10.96.0.10 53 0 example.com address 2000 3\n"
        "node-to-pod.tcp tcp 10.244.3.5 18080 1400 - winjoin-probe-b 2000 3\n"
        "node-to-pod.udp udp 10.244.3.5 18080 1400 - winjoin-probe-b 2000 3\n"
        "pod-to-node.tcp tcp 10.0.0.21 10250 0 - - 2000 3\n"
        "pod-to-node.udp udp-any 10.0.0.21 18081 16 - winjoin-node 2000 3\n");
    /* What is written here the probe must read. */
    assert_int_equal(probe_list_parse(text, strlen(text), &list, NULL), 0);
    assert_int_equal(list.count, 18);
}

static void expect_cell(const struct diag_scene *scene, const char *flow, bool udp,
                        const char *outcome, const char *reason) {
    _cleanup_(diag_cells_free) struct diag_cells cells = {0};
    const struct diag_cell *cell;

    diag_cells_make(scene, &cells);
    assert_int_equal(cells.count, 18);
    cell = diag_cells_find(&cells, flow, udp);
    assert_non_null(cell);
    assert_false(cell->asked);
    assert_string_equal(diag_outcome_name(cell->outcome), outcome);
    assert_string_equal(cell->reason, reason);
}

static void what_cannot_be_asked_says_why(void **state) {
    struct diag_scene scene = full;
    char domain[PROBE_TARGET_MAX] = "";

    (void)state;
    scene.external_ip = scene.external_name = scene.external_dns = NULL;
    expect_cell(&scene, "pod-to-external-ip", false, "skip", "no-external-target");
    expect_cell(&scene, "pod-to-external-ip", true, "skip", "no-external-target");
    expect_cell(&scene, "pod-to-external-dns", true, "skip", "no-external-target");
    scene.node_echo = NULL;
    expect_cell(&scene, "pod-to-node", true, "skip", "no-udp-listener");
    scene.namespace_ = "default";
    expect_cell(&scene, "pod-to-service-pqdn", true, "skip", "no-service-in-namespace");
    scene.target_ip = NULL;
    expect_cell(&scene, "node-to-pod", false, "not-run", "the second probe pod did not start");
    scene.source_ip = "";
    expect_cell(&scene, "pod-to-node", false, "not-run", "the first probe pod did not start");
    scene = full;
    scene.dns_domain = NULL;
    expect_cell(&scene, "pod-to-service-fqdn", false, "not-run",
                "the cluster's DNS domain is not known");
    memset(domain, 'd', sizeof domain - 1);
    scene.dns_domain = domain;
    expect_cell(&scene, "pod-to-service-fqdn", false, "not-run",
                "the cluster's DNS domain is too long");
    expect_cell(&scene, "pod-to-service-fqdn", true, "not-run",
                "the cluster's DNS domain is too long");
}

static void short_names_follow_the_namespace(void **state) {
    _cleanup_(diag_cells_free) struct diag_cells cells = {0};
    struct diag_scene scene = full;
    const struct diag_cell *cell;

    (void)state;
    scene.namespace_ = "default";
    diag_cells_make(&scene, &cells);
    cell = diag_cells_find(&cells, "pod-to-service-pqdn", false);
    assert_true(cell->asked);
    assert_string_equal(cell->probe.target, "kubernetes");
    assert_int_equal(cell->probe.port, 443);
}

static void addresses_of_version_6(void **state) {
    _cleanup_(diag_cells_free) struct diag_cells cells = {0};
    struct diag_scene scene = full;

    (void)state;
    scene.target_ip = "fd00::5";
    scene.external_ip = "[2001:db8::1]:8443";
    diag_cells_make(&scene, &cells);
    assert_string_equal(diag_cells_find(&cells, "pod-to-pod-ip", false)->to, "[fd00::5]:18080");
    assert_int_equal(diag_cells_find(&cells, "pod-to-pod-ip", false)->family, 6);
    assert_string_equal(diag_cells_find(&cells, "pod-to-pod-name", false)->probe.target,
                        "fd00--5.kube-system.pod.cluster.local");
    assert_string_equal(diag_cells_find(&cells, "pod-to-external-ip", false)->probe.target,
                        "2001:db8::1");
    assert_int_equal(diag_cells_find(&cells, "pod-to-external-ip", false)->probe.port, 8443);
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
    struct diag_cell *name, *service;

    (void)state;
    diag_cells_make(&full, &cells);
    name = diag_cells_find(&cells, "pod-to-pod-name", false);
    service = diag_cells_find(&cells, "pod-to-service-fqdn", false);
    diag_cell_judge(name, &nxdomain, false);
    diag_cell_judge(service, &nxdomain, false);
    diag_cells_excuse(&cells, NULL);
    assert_int_equal(name->outcome, DIAG_FAIL); /* all DNS is broken: no excuse */
    diag_cell_judge(service, &ok, false);
    diag_cells_excuse(&cells, NULL);
    assert_int_equal(name->outcome, DIAG_SKIP);
    assert_string_equal(name->reason, "dns-no-pod-records");
}

/* Each family's names are excused by its own Service's. */
static void a_name_of_the_second_family(void **state) {
    _cleanup_(diag_cells_free) struct diag_cells cells = {0};
    struct probe_result ok = {.outcome = PROBE_OK, .attempts = 3, .succeeded = 3};
    struct probe_result nxdomain = {.outcome = PROBE_DNS_NXDOMAIN, .attempts = 2};
    struct diag_scene scene = full;
    struct diag_cell *name, *service;

    (void)state;
    scene.node_ip6 = "fd00:200::21";
    scene.source_ip6 = "fd00:10:244:3::4";
    scene.target_ip6 = "fd00:10:244:3::5";
    scene.dns_ip6 = "fd00:10:96::a";
    diag_cells_make(&scene, &cells);
    name = diag_cells_find_second(&cells, "pod-to-pod-name", true);
    service = diag_cells_find_second(&cells, "pod-to-service-fqdn", true);
    diag_cell_judge(name, &nxdomain, false);
    diag_cell_judge(service, &nxdomain, false);
    diag_cell_judge(diag_cells_find(&cells, "pod-to-service-fqdn", true), &ok, false);
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

    (void)state;
    diag_cells_make(&full, &cells);
    service = diag_cells_find(&cells, "pod-to-service-ip", false);
    dns = diag_cells_find(&cells, "pod-to-external-dns", true);
    pod = diag_cells_find(&cells, "pod-to-pod-ip", false);
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
}

/* On a dual-stack node the flows by address are asked over IPv6, too, after all of IPv4. */
static void a_second_family(void **state) {
    _cleanup_(diag_cells_free) struct diag_cells cells = {0};
    _cleanup_(freep) char *text = NULL, *name = NULL;
    struct diag_scene scene = full;

    (void)state;
    scene.node_ip6 = "fd00:200::21";
    scene.source_ip6 = "fd00:10:244:3::4";
    scene.target_ip6 = "fd00:10:244:3::5";
    scene.dns_ip6 = "fd00:10:96::a";
    text = probes_of(&scene);
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
    scene.source_ip6 = scene.dns_ip6 = NULL;
    diag_cells_make(&scene, &cells);
    assert_int_equal(diag_cells_find(&cells, "pod-to-pod-ip", false)->family, 4);
    assert_int_equal(diag_cells_find_second(&cells, "pod-to-pod-ip", false)->outcome, DIAG_NOT_RUN);
    assert_string_equal(diag_cells_find_second(&cells, "pod-to-pod-ip", false)->reason,
                        "the first probe pod has no IPv6 address");
    assert_null(diag_cells_find_second(&cells, "pod-to-external-ip", false));
    name = diag_cell_name(diag_cells_find_second(&cells, "node-to-pod", true));
    assert_string_equal(name, "node-to-pod/udp/ipv6");
    scene.source_ip6 = "fd00:10:244:3::4";
    diag_cells_free(&cells);
    diag_cells_make(&scene, &cells);
    assert_string_equal(diag_cells_find_second(&cells, "pod-to-service-ip", true)->reason,
                        "no-ipv6-service");
    assert_string_equal(diag_cells_find_second(&cells, "pod-to-service-fqdn", true)->reason,
                        "no-ipv6-service");
    scene.dns_ip = NULL;
    diag_cells_free(&cells);
    diag_cells_make(&scene, &cells);
    assert_string_equal(diag_cells_find(&cells, "pod-to-service-ip", true)->reason,
                        "the cluster IP is not known");
}

/* Takes the probes of several sizes out of the list. */
static void take_sizes(struct probe_list *list, const char *what, const char *target) {
    static const unsigned sizes[] = {1000, 1200, 1300, 1450, 2000};
    size_t kept = 0, found = 0;

    for (size_t i = 0; i < list->count; i++) {
        const struct probe *probe = &list->items[i];

        if (!text_starts_with(probe->id, "x-size-") ||
            !text_starts_with(probe->id + strlen("x-size-"), what)) {
            list->items[kept++] = *probe;
            continue;
        }
        assert_true(found < ARRAY_SIZE(sizes));
        assert_int_equal(strtol(probe->id + strlen("x-size-tcp-"), NULL, 10), sizes[found]);
        assert_int_equal(probe->payload, sizes[found++]);
        assert_string_equal(probe->target, target);
    }
    list->count = kept;
    assert_int_equal(found, ARRAY_SIZE(sizes));
}

static void extras_tell_causes_apart(void **state) {
    _cleanup_(probe_list_free) struct probe_list list = {0}, again = {0};
    _cleanup_(freep) char *text = NULL;
    struct diag_scene scene = full;

    (void)state;
    scene.dns_pods[0] = "10.244.1.9";
    scene.dns_pods[1] = "10.244.2.9";
    scene.dns_pod_port = 5353;
    scene.peer_ip = "10.244.1.1";
    scene.api_ip = "10.0.0.10";
    scene.api_port = 6443;
    diag_extra_probes(&scene, &list);
    take_sizes(&list, "tcp-", "10.244.3.5");
    take_sizes(&list, "udp-", "10.244.3.5");
    take_sizes(&list, "dns-", "10.96.0.10");
    text = probe_list_write(&list);
    assert_string_equal(
        text,
        "winjoin-probes 1\n"
        "x-small-tcp tcp 10.244.3.5 18080 16 - winjoin-probe-b 2000 1\n"
        "x-small-udp udp 10.244.3.5 18080 16 - winjoin-probe-b 2000 1\n"
        "x-api-node tcp 10.0.0.10 10250 0 - - 2000 1\n"
        "x-api-direct tcp 10.0.0.10 6443 0 - - 2000 1\n"
        "x-resolve-fqdn resolve kubernetes.default.svc.cluster.local 0 0 - - 2000 1\n"
        "x-dns-tcp dns-tcp 10.96.0.10 53 0 kubernetes.default.svc.cluster.local address 2000 1\n"
        "x-dns-udp dns 10.96.0.10 53 0 kubernetes.default.svc.cluster.local address 2000 1\n"
        "x-dns-pod dns 10.244.1.9 5353 0 kubernetes.default.svc.cluster.local address 2000 1\n"
        "x-dns-pod-2 dns 10.244.2.9 5353 0 kubernetes.default.svc.cluster.local address 2000 1\n"
        "x-dns-connect tcp 10.244.1.9 5353 0 - - 1000 1\n"
        "x-closed-tcp tcp 10.244.1.9 9 0 - - 1000 1\n"
        "x-closed-udp udp 10.244.1.9 9 16 - - 250 1\n"
        "x-page-small http 10.244.1.9 9153 1 none - 500 1\n"
        "x-page-large http 10.244.1.9 9153 2000 metrics - 500 3\n"
        "x-peer tcp 10.244.1.1 10250 0 - - 2000 1\n"
        "x-dns-external dns 10.96.0.10 53 0 example.com address 2000 1\n");
    assert_int_equal(probe_list_parse(text, strlen(text), &again, NULL), 0);
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
        cmocka_unit_test(extras_tell_causes_apart),
        cmocka_unit_test(outcomes_have_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
