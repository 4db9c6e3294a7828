/* The whole run on a host in memory: pods that answer, fail, come late or never, and what is left.
 */
#include "tests/scene/diag_run_scene.h"

static void all_flows_work(void **state) {
    struct stage stage = {.start_a = true, .start_b = true, .generation = 1};
    struct diag_options options = options_make(&stage);
    struct host *host = host_memory_new();
    struct diag_report report = {0};
    _cleanup_(freep) char *line = NULL;
    struct error err = {0};

    (void)state;
    host_memory_on_sleep(host, play, &stage);
    assert_int_equal(diag_run(host, &options, &report, &err), 0);
    assert_int_equal(report.cells.count, 18);
    assert_string_equal(report.network, "overlay flannel.4096");
    /* Without the node's address one flow is not run: that is not a pass. */
    assert_false(diag_report_is_good(&report));
    line = diag_report_line(&report);
    assert_string_equal(line, "8 of 9 flows work, TCP and UDP, 48 probes");
    assert_non_null(report.evidence);
    assert_clean(host);
    assert_string_equal(text_str(&stage.told), "starting winjoin-probe-a and winjoin-probe-b\n"
                                               "measuring 9 flows\n");
    text_free(&stage.told);
    diag_report_free(&report);
    host_free(host);
}

static void what_turns_green_is_slow(void **state) {
    struct stage stage = {.start_a = true,
                          .start_b = true,
                          .generation = 1,
                          .broken = "pod-to-service",
                          .broken_until = 3};
    struct diag_options options = options_make(&stage);
    struct host *host = host_memory_new();
    struct diag_report report = {0};

    (void)state;
    host_memory_on_sleep(host, play, &stage);
    /* What pods are really put into goes before what the caller supposes. */
    put(host, "C:\\etc\\cni\\net.d\\10-winjoin.conf",
        "{\"name\":\"cbr0\",\"type\":\"flannel\",\"delegate\":{\"type\":\"win-bridge\"}}");
    assert_int_equal(diag_run(host, &options, &report, NULL), 0);
    assert_string_equal(report.network, "l2bridge cbr0");
    assert_int_equal(diag_cells_find(&report.cells, FLOW_SVC_IP, true, false)->outcome, DIAG_SLOW);
    assert_non_null(strstr(text_str(&stage.told), "measuring them again for up to 20 s\n"));
    assert_int_equal(diag_cells_find(&report.cells, FLOW_POD_IP, true, false)->outcome, DIAG_PASS);
    assert_clean(host);
    text_free(&stage.told);
    diag_report_free(&report);
    host_free(host);
}

static void what_stays_red_gets_a_cause(void **state) {
    struct stage stage = {
        .start_a = true, .start_b = true, .generation = 1, .broken = "pod-to-external"};
    struct diag_options options = options_make(&stage);
    struct host *host = host_memory_new();
    _cleanup_(freep) char *properties = NULL, *endpoint = NULL;
    struct diag_report report = {0};
    struct error err = {0};

    (void)state;
    host_memory_on_sleep(host, play, &stage);
    options.evidence.network_name = NULL;
    assert_int_equal(hcn_create(host, HCN_NETWORK, NULL, "11111111-0000-4000-8000-000000000001",
                                "{\"SchemaVersion\":{\"Major\":2,\"Minor\":0},\"Name\":\"n\","
                                "\"Type\":\"L2Bridge\",\"Policies\":[{\"Type\":\"NetAdapterName\","
                                "\"Settings\":{\"NetworkAdapterName\":\"Ethernet\"}}],\"Ipams\":"
                                "[{\"Type\":\"Static\",\"Subnets\":[{\"IpAddressPrefix\":"
                                "\"10.244.3.0/24\",\"Routes\":[{\"NextHop\":\"10.244.3.1\","
                                "\"DestinationPrefix\":\"0.0.0.0/0\"}]}]}]}",
                                &properties, &err),
                     0);
    assert_int_equal(hcn_create(host, HCN_ENDPOINT, "11111111-0000-4000-8000-000000000001",
                                "22222222-0000-4000-8000-000000000002",
                                "{\"SchemaVersion\":{\"Major\":2,\"Minor\":0},\"IpConfigurations\":"
                                "[{\"IpAddress\":\"10.244.3.4\"}],\"Policies\":[]}",
                                &endpoint, &err),
                     0);
    assert_int_equal(diag_run(host, &options, &report, &err), 0);
    assert_int_equal(report.causes.count, 2); /* what else is red has no cause here */
    assert_string_equal(report.causes.items[0].id, "NAT-NONE");
    assert_true(report.causes.items[0].confirmed);
    assert_int_equal(report.causes.items[0].cells.count, 4);
    assert_string_equal(report.causes.items[1].id, DIAG_CAUSE_UNKNOWN);
    assert_clean(host);
    text_free(&stage.told);
    diag_report_free(&report);
    host_free(host);
}

/* The Service kubernetes leads to 10.0.0.99, port 6443; the DNS Service to a pod of node lin-1. */
static void lead_kubernetes_elsewhere(struct host *host) {
    static const char network[] = "11111111-0000-4000-8000-000000000001",
                      endpoint[] = "22222222-0000-4000-8000-000000000002",
                      dns[] = "22222222-0000-4000-8000-000000000003";
    char *made[5] = {0};

    assert_int_equal(hcn_create(host, HCN_NETWORK, NULL, network,
                                "{\"Name\":\"flannel.4096\",\"Type\":\"Overlay\"}", &made[0], NULL),
                     0);
    assert_int_equal(
        hcn_create(host, HCN_ENDPOINT, network, endpoint,
                   "{\"Flags\":1,\"IpConfigurations\":[{\"IpAddress\":\"10.0.0.99\"}]}", &made[1],
                   NULL),
        0);
    assert_int_equal(hcn_create(host, HCN_LOAD_BALANCER, NULL, NULL,
                                "{\"FrontendVIPs\":[\"10.96.0.1\"],\"HostComputeEndpoints\":["
                                "\"22222222-0000-4000-8000-000000000002\"],\"PortMappings\":[{"
                                "\"Protocol\":6,\"InternalPort\":6443,\"ExternalPort\":443}]}",
                                &made[2], NULL),
                     0);
    assert_int_equal(
        hcn_create(host, HCN_ENDPOINT, network, dns,
                   "{\"Flags\":1,\"IpConfigurations\":[{\"IpAddress\":\"10.244.1.9\"}]}", &made[3],
                   NULL),
        0);
    assert_int_equal(hcn_create(host, HCN_LOAD_BALANCER, NULL, NULL,
                                "{\"FrontendVIPs\":[\"10.96.0.10\"],\"HostComputeEndpoints\":["
                                "\"22222222-0000-4000-8000-000000000003\"],\"PortMappings\":[{"
                                "\"Protocol\":17,\"InternalPort\":53,\"ExternalPort\":53}]}",
                                &made[4], NULL),
                     0);
    for (size_t i = 0; i < ARRAY_SIZE(made); i++)
        free(made[i]);
}

static void measure_api(void *context, const struct probe *probe, struct probe_result *ret) {
    measure_ok(context, probe, ret);
    if (text_equal(probe->id, "x-node-peer")) {
        assert_string_equal(probe->target, "10.0.0.31");
        assert_int_equal(probe->port, 10250);
        ret->outcome = PROBE_REFUSED;
    }
    if (text_equal(probe->id, "x-node-name"))
        assert_string_equal(probe->target, "example.com");
    if (text_equal(probe->id, "x-node-dns")) {
        assert_int_equal(probe->kind, PROBE_TCP);
        assert_string_equal(probe->target, "192.0.2.53");
        assert_int_equal(probe->port, 53);
    }
    if (text_equal(probe->id, "node-external-udp"))
        assert_string_equal(probe->target, "192.0.2.53");
    if (!text_equal(probe->id, "x-node-api"))
        return;
    assert_int_equal(probe->kind, PROBE_TCP);
    assert_string_equal(probe->target, "10.0.0.99");
    assert_int_equal(probe->port, 6443);
    ret->succeeded = 0;
    ret->outcome = PROBE_TIMEOUT;
}

/* What the node reaches itself is evidence, too. */
static void the_node_looks_itself(void **state) {
    _cleanup_json_ json_t *nodes =
        json_pack("{s:[{s:{s:s}, s:{s:s}, s:{s:[{s:s, s:s}]}}]}", "items", "metadata", "name",
                  "lin-1", "spec", "podCIDR", "10.244.1.0/24", "status", "addresses", "type",
                  "InternalIP", "address", "10.0.0.31");
    struct stage stage = {
        .start_a = true, .start_b = true, .generation = 1, .broken = "pod-to-external"};
    struct diag_options options = options_make(&stage);
    struct host *host = host_memory_new();
    struct diag_report report = {0};

    (void)state;
    host_memory_on_sleep(host, play, &stage);
    lead_kubernetes_elsewhere(host);
    options.measure = measure_api;
    options.evidence.nodes = nodes;
    assert_int_equal(diag_run(host, &options, &report, NULL), 0);
    assert_string_equal(json_text_at(report.evidence, "extra.x-node-peer.outcome"), "refused");
    assert_string_equal(json_text_at(report.evidence, "extra.x-node-name.outcome"), "ok");
    assert_string_equal(json_text_at(report.evidence, "extra.x-node-dns.outcome"), "ok");
    assert_string_equal(json_text_at(report.evidence, "extra.node-external.outcome"), "ok");
    assert_string_equal(json_text_at(report.evidence, "extra.node-external-udp.outcome"), "ok");
    assert_string_equal(json_text_at(report.evidence, "extra.x-node-api.outcome"), "timeout");
    text_free(&stage.told);
    diag_report_free(&report);
    host_free(host);
}

/* While flows are measured, and while red ones are measured again. */
static void who_stops_it_is_heard(void **state) {
    (void)state;
    for (unsigned when = 1; when < 3; when++) {
        struct stage stage = {.start_a = true,
                              .start_b = true,
                              .generation = 1,
                              .broken = "pod-to-service",
                              .interrupted = when};
        struct diag_options options = options_make(&stage);
        struct host *host = host_memory_new();
        struct diag_report report = {0};
        struct error err = {0};

        host_memory_on_sleep(host, play, &stage);
        assert_int_equal(diag_run(host, &options, &report, &err), -1);
        assert_int_equal(err.kind, ERROR_INTERRUPTED);
        text_free(&stage.told);
        diag_report_free(&report);
        host_free(host);
    }
}

/* Nothing outside is named: nothing outside is asked, not by the node either. */
static void without_an_external_target(void **state) {
    static const char *const targets[] = {NULL, ""};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
        struct stage stage = {
            .start_a = true, .start_b = true, .generation = 1, .broken = "pod-to-service"};
        struct diag_options options = options_make(&stage);
        struct host *host = host_memory_new();
        struct diag_report report = {0};

        host_memory_on_sleep(host, play, &stage);
        options.flow_input.external_ip = targets[i];
        options.evidence.external_ip = NULL;
        assert_int_equal(diag_run(host, &options, &report, NULL), 0);
        assert_int_equal(diag_cells_find(&report.cells, FLOW_EXT_IP, false, false)->outcome,
                         DIAG_SKIP);
        assert_null(json_at(report.evidence, "extra.node-external"));
        assert_clean(host);
        text_free(&stage.told);
        diag_report_free(&report);
        host_free(host);
    }
}

/* What HNS answers to one who asks for everything: more than is read, an object that fails, or one
 * of two that is gone since. */
static uint32_t answer_hns(void *context, const char *function, const char *const *arguments,
                           size_t count, char **ret_result, char **ret_error_record) {
    const size_t *objects = context;
    struct text t = {0};

    (void)count, (void)ret_error_record;
    if (text_starts_with(function, "HcnEnumerate")) {
        if (!*objects)
            return 0x80070005;
        for (size_t i = 0; i < *objects; i++)
            text_addf(&t, "%s\"aaaaaaaa-0000-4000-8000-%012zu\"", i ? "," : "[", i);
        text_add(&t, "]");
        *ret_result = text_take(&t);
    } else if (text_starts_with(function, "HcnOpen")) {
        if (*objects == 2 && strstr(arguments[0], "-000000000001"))
            return 0x803b0002;
        *ret_result = xstrdup("h");
    } else if (text_starts_with(function, "HcnQuery")) {
        if (*objects == 1)
            return 0x80070005;
        *ret_result = xstrdup("{}");
    }
    return 0;
}

static void what_hns_does_not_tell_is_named(void **state) {
    static const struct {
        size_t objects, read;
        const char *missing;
    } rows[] = {
        {1000, 1000, "cni: "}, /* this host has none */
        {2, 1, "cni: "},
        {1001, 1000, "networks: more than 1000 objects; the rest is omitted"},
        {1, 0, "networks: call HcnQueryNetworkProperties"},
        {0, 0, "networks: call HcnEnumerateNetworks"},
    };
    const struct diag_evidence_options options = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        size_t objects = rows[i].objects;
        struct host *host = host_memory_new();
        _cleanup_json_ json_t *evidence = NULL;
        const char *missing;

        host_memory_set_hns(host, answer_hns, &objects);
        evidence = diag_evidence_read(host, &options);
        missing = json_text_at(evidence, "missing.0");
        assert_int_equal(json_array_size(json_at(evidence, "networks")), rows[i].read);
        assert_non_null(missing);
        if (!text_starts_with(missing, rows[i].missing))
            fail_msg("row %zu: '%s'", i, missing);
        host_free(host);
    }
}

static void a_pod_that_never_starts_is_a_result(void **state) {
    struct stage stage = {.start_b = true, .generation = 1};
    struct diag_options options = options_make(&stage);
    struct host *host = host_memory_new();
    struct diag_report report = {0};

    (void)state;
    host_memory_on_sleep(host, play, &stage);
    options.start_timeout_ms = 11000;
    options.evidence.network_name = NULL;
    assert_int_equal(diag_run(host, &options, &report, NULL), 0);
    assert_int_equal(diag_cells_find(&report.cells, FLOW_POD_IP, false, false)->outcome,
                     DIAG_NOT_RUN);
    assert_int_equal(diag_cells_find(&report.cells, FLOW_NODE_POD, false, false)->outcome,
                     DIAG_PASS);
    assert_int_equal(report.causes.count, 1);
    assert_string_equal(report.causes.items[0].id, "POD-SBX");
    assert_false(report.causes.items[0].confirmed);
    assert_string_equal(report.causes.items[0].evidence.items[0],
                        "winjoin-probe-a sent no results");
    assert_non_null(strstr(text_str(&stage.told), "waiting for winjoin-probe-a to start (5 s)\n"));
    assert_clean(host);
    text_free(&stage.told);
    diag_report_free(&report);
    host_free(host);
}

static void a_probe_that_answers_nonsense_is_not_run(void **state) {
    struct stage stage = {.start_a = true, .start_b = true, .generation = 1, .garbage = true};
    struct diag_options options = options_make(&stage);
    struct host *host = host_memory_new();
    struct diag_report report = {0};

    (void)state;
    host_memory_on_sleep(host, play, &stage);
    assert_int_equal(diag_run(host, &options, &report, NULL), 0);
    assert_int_equal(diag_cells_find(&report.cells, FLOW_POD_IP, false, false)->outcome,
                     DIAG_NOT_RUN);
    assert_string_equal(diag_cells_find(&report.cells, FLOW_POD_IP, false, false)->reason,
                        "winjoin-probe-a did not answer");
    assert_false(diag_report_is_good(&report));
    assert_clean(host);
    text_free(&stage.told);
    diag_report_free(&report);
    host_free(host);
}

/* Each call of an HNS that hangs costs a minute: it is asked within limits, and what is measured
 * does not wait for it. */
static void an_hns_that_hangs_costs_little(void **state) {
    struct stage stage = {.start_a = true, .start_b = true, .generation = 1};
    struct diag_options options = options_make(&stage);
    struct host *host = host_memory_new();
    struct diag_report report = {0};
    uint64_t begin = host_monotonic_ms(host);

    (void)state;
    host_memory_on_sleep(host, play, &stage);
    host_memory_hang_hns(host);
    assert_int_equal(diag_run(host, &options, &report, NULL), 0);
    assert_int_equal(diag_cells_find(&report.cells, FLOW_POD_IP, true, false)->outcome, DIAG_PASS);
    assert_in_range(host_monotonic_ms(host) - begin, 3000, 12000);
    assert_non_null(strstr(json_text_at(report.evidence, "missing.0"), "networks: "));
    assert_false(host_deadline_passed(host));
    text_free(&stage.told);
    diag_report_free(&report);
    host_free(host);
}

/* Each step is failed once: an error or a report, never a crash; and the pods are gone unless it
 * was the removing that failed. */
static void every_step_may_fail(void **state) {
    size_t n = 1, calls = 0;

    (void)state;
    for (; n == 1 || n <= calls; n++) {
        struct stage stage = {.start_a = true, .start_b = true, .generation = 1};
        struct diag_options options = options_make(&stage);
        struct host *host = host_memory_new();
        struct diag_report report = {0};
        struct error err = {0};
        bool told;

        options.start_timeout_ms = 2000;
        options.settle_timeout_ms = 1000;
        host_memory_fail(host, n);
        if (diag_run(host, &options, &report, &err) < 0)
            assert_int_not_equal(err.kind, ERROR_NONE);
        else
            assert_int_equal(report.cells.count, 18);
        told = strstr(text_str(&stage.told), "remove the probe pods") != NULL;
        if (!told)
            assert_clean(host);
        if (n == 1)
            calls = 60;
        text_free(&stage.told);
        diag_report_free(&report);
        host_free(host);
    }
}

/* Calls of the pods' own are none that fail. */
struct failing {
    struct stage stage;
    size_t left, since; /* until a call fails, since so many */
};

static void play_unfailing(void *context, struct host *host) {
    struct failing *f = context;
    size_t used = host_memory_calls(host) - f->since;

    f->left = f->left > used ? f->left - used : 0;
    host_memory_fail(host, 0);
    play(&f->stage, host);
    f->since = host_memory_calls(host);
    host_memory_fail(host, f->left);
}

/* While pods answer, each call fails once: the run says so, or has found what it finds without. */
static void a_failure_is_told_or_does_no_harm(void **state) {
    _cleanup_(freep) char *wanted = NULL;
    size_t calls = 0;

    (void)state;
    for (size_t n = 0; n <= calls; n++) {
        struct failing f = {.stage = {.start_a = true, .start_b = true, .generation = 1}};
        struct diag_options options = options_make(&f.stage);
        struct host *host = host_memory_new();
        struct diag_report report = {0};
        struct error err = {0};
        int result;

        f.left = n;
        f.since = host_memory_calls(host);
        host_memory_on_sleep(host, play_unfailing, &f);
        host_memory_fail(host, n);
        result = diag_run(host, &options, &report, &err);
        if (result < 0) {
            if (!strstr(err.message, "told to fail"))
                fail_msg("call %zu: %s", n, err.message);
        } else {
            _cleanup_json_ json_t *json = diag_report_json(&report);
            _cleanup_json_ json_t *flows = diag_flows_json(&report);
            _cleanup_(freep) char *whole = json_write(json);
            _cleanup_(freep) char *found = json_write(flows);

            if (n == 0)
                wanted = take_ptr(found);
            else if (!text_equal(found, wanted) && !strstr(whole, "told to fail") &&
                     !strstr(text_str(&f.stage.told), "told to fail"))
                fail_msg("call %zu is not told", n);
        }
        if (n == 0)
            calls = host_memory_calls(host);
        text_free(&f.stage.told);
        diag_report_free(&report);
        host_free(host);
    }
    assert_true(calls > 40);
}

/* A pod of an earlier run still beats into its old folder: it is not taken for the new one. */
static void an_earlier_pod_is_not_listened_to(void **state) {
    struct stage stage = {.start_b = true, .generation = 1, .stale_a = true};
    struct diag_options options = options_make(&stage);
    struct host *host = host_memory_new();
    struct diag_report report = {0};

    (void)state;
    host_memory_on_sleep(host, play, &stage);
    options.start_timeout_ms = 3000;
    assert_int_equal(diag_run(host, &options, &report, NULL), 0);
    assert_int_equal(diag_cells_find(&report.cells, FLOW_POD_IP, false, false)->outcome,
                     DIAG_NOT_RUN);
    text_free(&stage.told);
    diag_report_free(&report);
    host_free(host);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_flows_work),
        cmocka_unit_test(what_turns_green_is_slow),
        cmocka_unit_test(what_stays_red_gets_a_cause),
        cmocka_unit_test(the_node_looks_itself),
        cmocka_unit_test(who_stops_it_is_heard),
        cmocka_unit_test(without_an_external_target),
        cmocka_unit_test(what_hns_does_not_tell_is_named),
        cmocka_unit_test(a_pod_that_never_starts_is_a_result),
        cmocka_unit_test(a_probe_that_answers_nonsense_is_not_run),
        cmocka_unit_test(an_earlier_pod_is_not_listened_to),
        cmocka_unit_test(an_hns_that_hangs_costs_little),
        cmocka_unit_test(every_step_may_fail),
        cmocka_unit_test(a_failure_is_told_or_does_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
