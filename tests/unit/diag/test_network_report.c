/* What a node publishes of its own network: what is written is read back, small and plain; and
 * whatever else stands there is no report, or less of one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/text.h"
#include "diag/drift/drift.h"
#include "diag/network_report.h"

#define NOW 1795860000 /* 2026-11-28T10:00:00Z */
#define HEAD "\"version\":1,\"time\":\"2026-11-28T09:56:00Z\""

static json_t *json_of(const char *text) {
    json_t *json = NULL;

    assert_int_equal(json_read(text, strlen(text), "it", &json, NULL), 0);
    return json;
}

static json_t *read_back(const char *text) {
    struct error err = {0};
    json_t *report = NULL;

    if (network_report_read(text, &report, &err) < 0)
        fail_msg("%s: %s", err.message, text);
    return report;
}

static void assert_line(const char *text, const char *wanted) {
    _cleanup_json_ json_t *report = read_back(text);
    _cleanup_(freep) char *line = network_report_line(report, NOW);

    assert_string_equal(line, wanted);
}

static void what_is_seen_is_said(void **state) {
    _cleanup_json_ json_t *drift = json_of(
        "{\"servicesWithoutLoadBalancer\":[{\"service\":\"kube-system/kube-dns\",\"frontend\":"
        "\"10.96.0.10:53/UDP\"},{\"service\":\"a/b\",\"frontend\":\"10.96.0.9:80/TCP\"}],"
        "\"podsWithoutEndpoint\":[{\"pod\":\"a/p\",\"address\":\"10.244.1.9\"}],"
        "\"loadBalancersWithoutService\":[{\"id\":\"X\",\"frontend\":\":80/TCP\"}],"
        "\"unread\":[\"the Services: GET https://k: token abc refused\"],\"commands\":[\"x\"]}");
    struct hcn_balancer both[] = {{.dsr = true}, {.dsr = true}};
    const struct hcn_balancers balancers = {both, ARRAY_SIZE(both)};
    _cleanup_json_ json_t *diag = json_of("{\"time\":\"2026-11-28T08:00:00Z\",\"passed\":3,"
                                          "\"failed\":{\"count\":1,\"first\":[\"a/udp\"]},"
                                          "\"causes\":[{\"id\":\"SVC-LOST\",\"confidence\":"
                                          "\"confirmed\"}]}");
    _cleanup_(freep) char *text =
        network_report_make(&(struct network_report_facts){.time = NOW - 240,
                                                           .mode = "overlay",
                                                           .network = "flannel.4096",
                                                           .balancers = &balancers,
                                                           .drift = drift,
                                                           .diag = diag});
    _cleanup_json_ json_t *report = read_back(text);

    (void)state;
    assert_string_equal(json_text_at(report, "mode"), "overlay");
    assert_string_equal(json_text_at(report, "network"), "flannel.4096");
    assert_int_equal(json_number_at(report, "loadBalancers", 0), 2);
    assert_string_equal(json_text_at(report, "dsr"), "on");
    assert_null(strstr(text, "token")); /* the server's own words */
    assert_null(strstr(text, "commands"));
    assert_true(network_report_lacks(report) && network_report_differs(report));
    assert_int_equal(network_report_count(report), 4);
    assert_true(network_report_lacks_service(report, "kube-system/kube-dns"));
    assert_false(network_report_lacks_service(report, "kube-system/kube"));
    assert_true(json_equal(json_object_get(report, "diag"), diag));
    assert_line(text,
                "4 min old: 2 Services without a load balancer in HNS (kube-system/kube-dns "
                "10.96.0.10:53/UDP, a/b 10.96.0.9:80/TCP), 1 load balancers without a Service "
                "(:80/TCP), 1 pods without an endpoint (a/p); not read: the Services; winjoin diag "
                "there, 2 h ago: SVC-LOST confirmed, 1 of its cells failed (a/udp)");
}

static void each_thing_may_be_unknown(void **state) {
    static const struct {
        size_t first, count; /* of `all` */
        const char *dsr;
    } rows[] = {{0, 0, NULL}, {0, 1, "off"}, {0, 2, "mixed"}, {1, 1, "on"}};
    struct hcn_balancer all[] = {{.dsr = false}, {.dsr = true}};
    _cleanup_(freep) char *none = network_report_make(&(struct network_report_facts){.time = NOW});

    (void)state;
    assert_string_equal(none, "{\"version\":1,\"time\":\"2026-11-28T10:00:00Z\"}");
    assert_line(none, "0 min old: HNS was not compared with Kubernetes");
    assert_line("{" HEAD ",\"drift\":{}}", "4 min old: HNS has what Kubernetes has");
    assert_line("{" HEAD ",\"drift\":{},\"unread\":[\"the Services\"]}",
                "4 min old: nothing differs of what was read; not read: the Services");
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const struct hcn_balancers balancers = {all + rows[i].first, rows[i].count};
        _cleanup_(freep) char *text = network_report_make(
            &(struct network_report_facts){.time = NOW, .balancers = &balancers});
        _cleanup_json_ json_t *report = read_back(text);

        assert_true(text_equal(json_text_at(report, "dsr"), rows[i].dsr));
    }
}

/* Names go first, then counts alone stay. */
static void it_is_never_too_long(void **state) {
    _cleanup_json_ json_t *drift = json_object();
    char name[190];

    (void)state;
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    for (size_t k = 0; k < DRIFT_KINDS; k++) {
        json_t *rows = json_array();

        for (int i = 0; i < 3000; i++)
            json_array_append_new(rows, json_pack("{s:s}", drift_kinds[k].name, name));
        json_object_set_new(drift, drift_kinds[k].key, rows);
    }
    for (unsigned leave = 0; leave < 10; leave++) {
        _cleanup_(freep) char *text =
            network_report_make(&(struct network_report_facts){.time = NOW, .drift = drift});
        _cleanup_json_ json_t *report = read_back(text);

        assert_true(strlen(text) <= NETWORK_REPORT_MAX);
        assert_int_equal(network_report_count(report), (DRIFT_KINDS - leave) * 3000);
        if (leave >= 5) /* names fit again: as many as do */
            assert_true(json_array_size(json_at(report, "drift.kubeProxyPods.first")) > 0);
        json_object_del(drift, drift_kinds[leave].key);
    }
}

static void what_diag_found_is_short(void **state) {
    struct diag_report measured = {.time = NOW - 60};
    struct diag_cell cell = {.outcome = DIAG_FAIL};
    json_t *diag;

    (void)state;
    for (int udp = 0; udp < 2; udp++) {
        cell.flow = diag_flow_find("pod-to-pod-ip");
        cell.udp = udp;
        array_add(measured.cells.items, measured.cells.count, cell);
        cell.flow = diag_flow_find("pod-to-service-ip");
        array_add(measured.cells.items, measured.cells.count, cell);
    }
    cell.flow = diag_flow_find("node-to-pod");
    cell.outcome = DIAG_PASS;
    array_add(measured.cells.items, measured.cells.count, cell);
    measured.causes.items = xcalloc(10, sizeof *measured.causes.items);
    measured.causes.count = 10;
    for (size_t i = 0; i < 10; i++)
        measured.causes.items[i] = (struct diag_cause){.id = "SVC-LOST", .confirmed = i == 1};
    diag = network_report_diag(&measured);
    assert_int_equal(json_number_at(diag, "passed", -1), 1);
    assert_int_equal(json_number_at(diag, "failed.count", -1), 4);
    assert_int_equal(json_array_size(json_at(diag, "failed.first")), 3);
    assert_string_equal(json_text_at(diag, "failed.first.0"), "pod-to-pod-ip/tcp");
    assert_int_equal(json_array_size(json_at(diag, "causes")), 8);
    assert_string_equal(json_text_at(diag, "causes.0.confidence"), "likely");
    assert_string_equal(json_text_at(diag, "causes.1.confidence"), "confirmed");
    json_decref(diag);
    diag_report_free(&measured);
}

static void what_is_no_report(void **state) {
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"", "it is not JSON"},
        {"{", "it is not JSON"},
        {"{\"version\":1,\"version\":1}", "it is not JSON"},
        {"[1]", "it has no version or no time"},
        {"{}", "it has no version or no time"},
        {"{\"version\":1}", "it has no version or no time"},
        {"{\"version\":-1,\"time\":\"2026-11-28T10:00:00Z\"}", "it has no version or no time"},
        {"{\"version\":1,\"time\":\"<b>\"}", "it has no version or no time"},
        {"{\"version\":1,\"time\":7}", "it has no version or no time"},
        {"{\"version\":2,\"time\":\"2026-11-28T10:00:00Z\"}", "it is of a newer winjoin"}};
    _cleanup_(freep) char *longer = xasprintf("{" HEAD ",\"x\":\"%*s\"}", NETWORK_REPORT_MAX, "y");
    struct error err = {0};
    json_t *report = NULL;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        err = (struct error){0};
        assert_int_equal(network_report_read(rows[i].text, &report, &err), -1);
        assert_string_equal(err.message, rows[i].why);
        assert_int_equal(err.kind, ERROR_MALFORMED);
    }
    err = (struct error){0};
    assert_int_equal(network_report_read(longer, &report, &err), -1);
    assert_string_equal(err.message, "it is longer than 4096 bytes");
    assert_null(report);
}

/* Each of these is written by a node that means no good. */
static void what_is_left_out(void **state) {
    static const char *const rows[] = {
        "\"mode\":\"\\u001b[31m\"",
        "\"mode\":\"<script>\"",
        "\"mode\":\"a\\u007f\"",
        "\"network\":\"$(reboot)`id`\"",
        "\"network\":7",
        "\"dsr\":\"perhaps\"",
        "\"loadBalancers\":-1",
        "\"loadBalancers\":1000001",
        "\"loadBalancers\":1.5",
        "\"diag\":7",
        "\"diag\":{\"passed\":1}",
        "\"diag\":{\"time\":\"2026-11-28T10:00:00Z\"}",
        "\"other\":[[[[1]]]]",
    };
    static const char *const drifts[] = {
        "\"servicesWithoutLoadBalancer\":7",
        "\"servicesWithoutLoadBalancer\":{\"count\":0,\"first\":[\"a\"]}",
        "\"servicesWithoutLoadBalancer\":{\"first\":[\"a\"]}",
        "\"servicesWithoutLoadBalancer\":{\"count\":\"9\"}",
        "\"rmMinusRf\":{\"count\":9,\"first\":[\"a\"]}",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *text = xasprintf("{" HEAD ",%s}", rows[i]);
        _cleanup_json_ json_t *report = read_back(text);

        if (json_object_size(report) != 2)
            fail_msg("%s", rows[i]);
    }
    for (size_t i = 0; i < ARRAY_SIZE(drifts); i++) {
        _cleanup_(freep) char *text = xasprintf("{" HEAD ",\"drift\":{%s}}", drifts[i]);
        _cleanup_json_ json_t *report = read_back(text);

        if (network_report_differs(report))
            fail_msg("%s", drifts[i]);
    }
}

static void what_is_kept_of_lists(void **state) {
    _cleanup_(freep) char *text = xasprintf(
        "{" HEAD ",\"drift\":{\"podsWithoutEndpoint\":{\"count\":1000000,\"first\":[7,\"a\\nb\","
        "\"%*s\",\"\",\"a/b\",\"c\",\"d\",\"e\"]}},\"unread\":[\"a\",\"b\",\"c\",\"d\"],\"diag\":{"
        "\"time\":\"2026-11-28T10:01:00Z\",\"passed\":0,\"causes\":[{\"id\":\"SVC-LOST\"},{\"id\":"
        "\"see "
        "http\",\"confidence\":\"likely\"},{\"id\":\"X-1\",\"confidence\":\"likely\",\"hint\":"
        "\"format c:\"}]}}",
        201, "x");
    _cleanup_json_ json_t *report = read_back(text);

    (void)state;
    assert_line(text,
                "4 min old: 1000000 pods without an endpoint (a/b, c, d, ...); not read: a, b, c; "
                "winjoin diag there, 1 min ahead of this machine's clock: X-1 likely, nothing was "
                "measured");
    assert_int_equal(json_object_size(json_at(report, "diag.causes.0")), 2);
}

static void no_more_causes_than_are_written(void **state) {
    static const char cause[] = "{\"id\":\"X\",\"confidence\":\"likely\"}";
    struct text text = {0};
    json_t *report;

    (void)state;
    text_add(&text,
             "{" HEAD ",\"diag\":{\"time\":\"2026-11-28T10:00:00Z\",\"passed\":0,\"causes\":[");
    for (int i = 0; i < 20; i++)
        text_addf(&text, "%s%s", i ? "," : "", cause);
    text_add(&text, "]}}");
    report = read_back(text_str(&text));
    assert_int_equal(json_array_size(json_at(report, "diag.causes")), 8);
    json_decref(report);
    text_free(&text);
}

static void its_age_counts(void **state) {
    static const struct {
        int64_t ahead;
        bool fresh;
        const char *begin;
    } rows[] = {{0, true, "4 min old: "},
                {-NETWORK_REPORT_FRESH_SECONDS + 240, true, "20 min old: "},
                {-NETWORK_REPORT_FRESH_SECONDS + 239, false, "20 min old: "},
                {-7200, false, "2 h old: "},
                {-86400 * 3, false, "3 d old: "},
                {300, true, "1 min ahead of this machine's clock: "},
                {100000, false, "1663 min ahead of this machine's clock: "}};
    _cleanup_json_ json_t *report = read_back("{" HEAD "}");

    (void)state;
    assert_int_equal(network_report_time(report), NOW - 240);
    assert_int_equal(network_report_time(NULL), 0);
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *line = network_report_line(report, NOW - rows[i].ahead);

        if (!text_starts_with(line, rows[i].begin))
            fail_msg("%s", line);
        assert_int_equal(network_report_is_fresh(report, NOW - rows[i].ahead), rows[i].fresh);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_seen_is_said),  cmocka_unit_test(each_thing_may_be_unknown),
        cmocka_unit_test(it_is_never_too_long),  cmocka_unit_test(what_diag_found_is_short),
        cmocka_unit_test(what_is_no_report),     cmocka_unit_test(what_is_left_out),
        cmocka_unit_test(what_is_kept_of_lists), cmocka_unit_test(no_more_causes_than_are_written),
        cmocka_unit_test(its_age_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
