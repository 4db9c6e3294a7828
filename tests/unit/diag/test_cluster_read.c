/* A cluster's report read back from JSON: nothing is lost, nothing wrong is taken; and compared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "diag/cluster/cluster.h"
#include "diag/reports/report.h"

#define NODES                                                                                      \
    "{\"name\":\"a\",\"os\":\"windows\",\"build\":\"10.0.20348\",\"network\":\"n\",\"version\":"   \
    "\"v1.37.1\","                                                                                 \
    "\"ready\":true,\"podIP\":\"10.1.0.2\",\"podIPv6\":\"fd00::2\",\"dnsServers\":\"10.96.0.10\"," \
    "\"sessionAffinity\":false,\"askedByExec\":true},"                                             \
    "{\"name\":\"b\",\"os\":\"linux\",\"build\":\"\",\"version\":\"v1.37.1\",\"ready\":false}"
#define CELL(flow, to, outcome)                                                                    \
    "{\"id\":\"" flow "\",\"from\":\"a\",\"to\":\"10.1.0.3:8080\"," to                             \
    "\"protocol\":\"TCP\",\"family\":\"IPv4\",\"outcome\":\"" outcome                              \
    "\",\"attempts\":2,\"succeeded\":0,\"evidence\":{\"probe\":\"refused\",\"responder\":\"x\"},"  \
    "\"reason\":\"why\"}"
#define LARGE(how) "\"largePackets\":\"" how "\","
#define COUNTED "\"lossPercent\":100.0,"
#define TO_B "\"toNode\":\"b\","
#define SIX                                                                                        \
    "{\"id\":\"pod-to-pod-ip\",\"from\":\"a\",\"to\":\"[fd00::3]:8080\"," TO_B "\"protocol\":"     \
    "\"UDP\",\"family\":\"IPv6\",\"outcome\":\"not-run\"}"
#define REPORT(nodes, flows)                                                                       \
    "{\"apiVersion\":\"winjoin.io/v1alpha1\",\"kind\":\"ClusterDiagReport\",\"server\":"           \
    "\"https://k\",\"domain\":\"d\",\"time\":\"2026-11-22T10:15:02Z\",\"startSeconds\":2.5,"       \
    "\"durationSeconds\":1.25,\"requests\":9,\"pairs\":1,\"namespaceLeft\":true,"                  \
    "\"namespace\":\"n\",\"nodes\":[" nodes "],\"flows\":[" flows "]}"

static void take(const char *text, struct diag_report *ret) {
    struct error err = {0};

    if (diag_report_read(text, strlen(text), CLUSTER_REPORT_KIND, ret, &err) < 0)
        fail_msg("%s", err.message);
    cluster_causes_find(ret);
}

/* Written again it is the same, but for what is judged again and counted. */
static void all_comes_back(void **state) {
    static const char text[] =
        REPORT(NODES, CELL("pod-to-pod-ip", TO_B LARGE("lost-back"),
                           "fail") "," SIX "," CELL("pod-to-pod-ip", LARGE("arrive") COUNTED,
                                                    "not-run") "," CELL("node-to-pod", "", "slow"));
    struct diag_report report = {0};
    _cleanup_json_ json_t *json = NULL, *wanted = NULL;

    (void)state;
    take(text, &report);
    json = diag_report_json(&report);
    assert_int_equal(json_read(text, strlen(text), "it", &wanted, NULL), 0);
    assert_true(json_object_del(json, "causes") == 0 && json_object_del(json, "summary") == 0);
    if (!json_equal(json, wanted)) {
        _cleanup_(freep) char *is = json_write_pretty(json);

        fail_msg("%s", is);
    }
    diag_report_free(&report);
    assert_int_equal(diag_report_read(text, strlen(text), NULL, &report, NULL), 0);
    assert_string_equal(report.server, json_text_at(wanted, "server"));
    assert_true(report.cells.items[1].second);
    assert_false(report.cells.items[0].second);
    diag_report_free(&report);
}

/* What is not there is unknown, and no number is too large. */
static void what_is_left_out(void **state) {
    static const char *const rows[] = {
        "{\"kind\":\"ClusterDiagReport\",\"nodes\":[{\"name\":\"a\"}]}",
        "{\"kind\":\"ClusterDiagReport\",\"nodes\":[{\"name\":\"a\"}],\"startSeconds\":-1,"
        "\"durationSeconds\":1000000}",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct diag_report report = {0};

        take(rows[i], &report);
        assert_int_equal(report.start_ms + report.milliseconds + report.requests, 0);
        assert_int_equal(report.time, 0);
        assert_false(report.left || report.nodes.items[0].ready || report.nodes.items[0].sticky);
        diag_report_free(&report);
    }
    {
        static const char short_one[] = "{\"kind\":\"ClusterDiagReport\",\"startSeconds\":0.25}";
        struct diag_report report = {0};

        take(short_one, &report);
        assert_int_equal(report.start_ms, 250);
        diag_report_free(&report);
    }
}

/* A ring of two: both directions are pairs, each once. */
static void the_pairs(void **state) {
    static const char back[] =
        "{\"id\":\"pod-to-pod-ip\",\"from\":\"b\",\"toNode\":\"a\",\"to\":\"x\","
        "\"protocol\":\"TCP\",\"family\":\"IPv4\",\"outcome\":\"pass\"}";
    _cleanup_(freep) char *text = xasprintf(
        REPORT(NODES ",{\"name\":\"c\"}", "%s,%s,%s,%s"), CELL("pod-to-pod-ip", TO_B, "pass"), back,
        CELL("pod-to-pod-ip", "\"toNode\":\"c\",", "pass"), CELL("pod-to-pod-name", TO_B, "pass"));
    struct diag_report report = {0};

    (void)state;
    take(text, &report);
    assert_int_equal(report.pairs.count, 3);
    assert_int_equal(report.pairs.items[1].from, 1);
    assert_int_equal(report.pairs.items[1].to, 0);
    assert_int_equal(report.pairs.items[2].to, 2);
    diag_report_free(&report);
}

static void what_is_refused(void **state) {
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"", "decode ClusterDiagReport"},
        {"[]", "this is not the report of a whole cluster"},
        {"{\"kind\":\"DiagReport\"}", "this is the report of one node, not of a whole cluster"},
        {REPORT("{\"name\":\"\"}", ""), "decode ClusterDiagReport: node 0 has no name of its own"},
        {REPORT("3", ""), "node 0 has no name of its own"},
        {REPORT(NODES ",{\"name\":\"a\"}", ""), "node 2 has no name of its own"},
        {REPORT("", CELL("node-to-pod", "", "pass")), "names a node that the report does not have"},
        {REPORT(NODES, CELL("pod-to-pod-ip", "\"toNode\":\"c\",", "pass")),
         "names a node that the report does not have"},
        {REPORT(NODES, CELL("no-flow", "", "pass")), "unknown flow 'no-flow'"},
        {REPORT(NODES, CELL("node-to-pod", "", "good")), "unknown protocol or outcome"},
        {REPORT(NODES, CELL("node-to-pod", "\"largePackets\":\"x\",", "pass")),
         "flow 'node-to-pod' has unknown largePackets"},
        {"{\"kind\":\"ClusterDiagReport\",\"time\":\"soon\"}", "decode ClusterDiagReport: "},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct diag_report report = {0};
        struct error err = {0};

        assert_int_equal(diag_report_read(rows[i].text, strlen(rows[i].text), CLUSTER_REPORT_KIND,
                                          &report, &err),
                         -1);
        assert_int_equal(err.kind, ERROR_MALFORMED);
        if (!strstr(err.message, rows[i].why))
            fail_msg("'%s' is not '%s'", err.message, rows[i].why);
        assert_null(report.nodes.items);
    }
}

/* As many as there may be, and one more. */
static void too_many(void **state) {
    static const struct {
        const char *key, *why;
        unsigned max;
    } rows[] = {{"nodes", "node 0 has no name of its own", CLUSTER_NODES_MAX},
                {"flows", "unknown flow", CLUSTER_CELLS_MAX}};

    (void)state;
    for (size_t i = 0; i < 2 * ARRAY_SIZE(rows); i++) {
        unsigned count = rows[i / 2].max + i % 2;
        struct text t = {0};
        struct diag_report report = {0};
        struct error err = {0};

        text_addf(&t, "{\"kind\":\"ClusterDiagReport\",\"%s\":[0", rows[i / 2].key);
        while (--count)
            text_add(&t, ",0");
        text_add(&t, "]}");
        assert_int_equal(diag_report_read(text_str(&t), t.len, CLUSTER_REPORT_KIND, &report, &err),
                         -1);
        if (!strstr(err.message,
                    i % 2 ? "it has more than 5000 nodes or 150000 flows" : rows[i / 2].why))
            fail_msg("%s", err.message);
        text_free(&t);
    }
}

/* Cells of one name, other pairs, other nodes. */
static void compared(void **state) {
    static const struct {
        const char *old, *new, *text;
    } rows[] = {
        {REPORT(NODES, CELL("node-to-pod", "", "pass") "," CELL("node-to-pod", "", "pass")),
         REPORT(NODES, CELL("node-to-pod", "", "pass") "," CELL("node-to-pod", "", "fail")),
         "\n  node-to-pod/tcp a (2): fail, was pass (why)\n"},
        {REPORT(NODES, CELL("node-to-pod", "", "pass")),
         REPORT(NODES, CELL("nodeport-remote", TO_B, "slow")), " nothing has changed\n"},
        {REPORT(NODES, CELL("node-to-pod", "", "fail")),
         REPORT(NODES, CELL("nodeport-remote", TO_B, "not-run")),
         "\n  nodeport-remote/tcp a -> b: not-run, was absent (why)\n"
         "  node-to-pod/tcp a: absent, was fail\n"},
        {REPORT(NODES, ""), REPORT("{\"name\":\"a\"},{\"name\":\"\\u001b[31m\"}", ""),
         "\n  node \\x1b[31m is new\n  node b is gone\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct diag_report old = {0}, new = {0};
        _cleanup_json_ json_t *json = NULL;
        _cleanup_(freep) char *text = NULL;

        take(rows[i].old, &old);
        take(rows[i].new, &new);
        diag_causes_free(&old.causes);
        diag_causes_free(&new.causes);
        json = diag_report_compare(&old, &new);
        text = diag_compare_text(json);
        assert_string_equal(text + strlen("\nSince 2026-11-22T10:15:02Z:"), rows[i].text);
        diag_report_free(&old);
        diag_report_free(&new);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_comes_back), cmocka_unit_test(what_is_left_out),
        cmocka_unit_test(the_pairs),      cmocka_unit_test(what_is_refused),
        cmocka_unit_test(too_many),       cmocka_unit_test(compared),
    };

    return cmocka_run_group_tests_name("cluster_read", tests, NULL, NULL);
}
