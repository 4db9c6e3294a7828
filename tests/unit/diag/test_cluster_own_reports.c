/* What nodes have published of themselves, in the report of the whole cluster: told, judged,
 * written in each form, and read back. */
#include "tests/scene/cluster_causes_scene.h"
#include "diag/cluster/cluster.h"

#define NOW 1795860000 /* 2026-11-28T10:00:00Z */
#define OWN(time, drift)                                                                           \
    "{\"version\":1,\"time\":\"" time "\",\"dsr\":\"on\",\"drift\":{" drift "}}"
#define FRESH "2026-11-28T09:56:00Z"
#define OLD "2026-11-28T07:00:00Z"
#define NO_DNS                                                                                     \
    "\"servicesWithoutLoadBalancer\":{\"count\":2,\"first\":[\"kube-system/kube-dns "              \
    "10.96.0.10:53/UDP\",\"a/b 10.96.0.9:80/TCP\"]}"
#define NO_OTHER                                                                                   \
    "\"servicesWithoutLoadBalancer\":{\"count\":1,\"first\":[\"a/b 10.96.0.9:80/TCP\"]}"
#define LEFT "\"staleRemoteEndpoints\":{\"count\":1,\"first\":[\"10.244.3.9\"]}"
#define NO_POD "\"podsWithoutEndpoint\":{\"count\":1,\"first\":[\"a/p\"]}"

static struct diag_report report;

static int open_report(void **state) {
    (void)state;
    make(&report);
    report.time = NOW;
    for (size_t i = 0; i < report.cells.count; i++)
        report.cells.items[i].outcome = DIAG_PASS;
    return 0;
}

static int close_report(void **state) {
    (void)state;
    diag_report_free(&report);
    return 0;
}

/* As the annotation of a Node. */
static void publish(size_t node, const char *text) {
    _cleanup_json_ json_t *object =
        json_pack("{s:{s:{s:s}}}", "metadata", "annotations", "winjoin.io/network-report", text);

    json_decref(report.nodes.items[node].own_report);
    report.nodes.items[node].own_report = cluster_own_report_of(object);
}

/* Red: these flows (letter()) from a node. */
static void fail_from(size_t node, const char *flows, enum probe_outcome outcome) {
    for (size_t i = 0; i < report.cells.count; i++) {
        struct diag_cell *c = &report.cells.items[i];

        if (c->from_node == node && strchr(flows, letter(c))) {
            c->outcome = DIAG_FAIL;
            c->result.outcome = outcome;
            text_format(c->reason, sizeof c->reason, "i/o timeout");
        }
    }
}

/* "CL-HNS+ w0: ...; CL-DNS" with + for confirmed; the caller frees. */
static char *causes(void) {
    struct text t = {0};

    cluster_causes_find(&report);
    for (size_t i = 0; i < report.causes.count; i++)
        text_addf(&t, "%s%s%s %.*s", i ? "; " : "", report.causes.items[i].id,
                  report.causes.items[i].confirmed ? "+" : "",
                  (int)strcspn(report.causes.items[i].message, ":"),
                  report.causes.items[i].message);
    return text_take(&t);
}

static void assert_causes(const char *wanted) {
    _cleanup_(freep) char *named = causes();

    assert_string_equal(named, wanted);
}

static void nothing_wrong_is_no_cause(void **state) {
    (void)state;
    publish(0, OWN(FRESH, ""));
    publish(1, OWN(FRESH, LEFT)); /* harms nobody at once */
    publish(2, "{");
    assert_causes("");
    assert_true(diag_report_is_good(&report));
}

/* Told, but the cluster is not red for it: by now it may be repaired. */
static void a_lack_with_no_red_cell_is_told(void **state) {
    (void)state;
    publish(1, OWN(FRESH, NO_DNS));
    publish(2, OWN(OLD, NO_POD));
    assert_causes("CL-HNS w1, w2");
    assert_true(diag_report_is_good(&report));
    assert_string_equal(report.causes.items[0].evidence.items[0],
                        "w1: its own report, 4 min old: 2 Services without a load balancer in HNS "
                        "(kube-system/kube-dns 10.96.0.10:53/UDP, a/b 10.96.0.9:80/TCP)");
    assert_int_equal(report.causes.items[0].cells.count, 0);
    assert_int_equal(report.causes.count, 1);
}

static void red_services_of_a_node_that_says_so(void **state) {
    (void)state;
    publish(0, OWN(FRESH, NO_OTHER));
    publish(2, OWN(FRESH, NO_OTHER)); /* its cells work: not named beside a sure one */
    fail_from(0, "sqfaoh", PROBE_TIMEOUT);
    assert_causes("CL-HNS+ w0");
    assert_true(report.causes.items[0].cells.count > 5);
    assert_false(diag_report_is_good(&report));
}

/* What was three hours ago speaks for it, no more. */
static void an_old_report_is_likely(void **state) {
    (void)state;
    publish(0, OWN(OLD, NO_OTHER));
    fail_from(0, "sqfaoh", PROBE_TIMEOUT);
    assert_causes("CL-HNS w0");
    assert_true(report.causes.items[0].cells.count > 5);
    publish(0, OWN("2026-11-28T17:00:00Z", NO_OTHER)); /* nor a clock that is ahead */
    assert_causes("CL-HNS w0");
}

static void names_alone(void **state) {
    (void)state;
    publish(0, OWN(FRESH, NO_DNS));
    fail_from(0, "nqfa", PROBE_DNS_TIMEOUT);
    assert_causes("CL-HNS-DNS+ w0");
    publish(0, OWN(FRESH, NO_OTHER)); /* not the DNS */
    assert_causes("CL-DNS-NODE w0; CL-HNS w0");
    publish(0, OWN(FRESH, LEFT));
    assert_causes("CL-DNS-NODE w0");
}

/* A wider cause has its cells; what a node lacks comes last then. */
static void what_it_does_not_fit(void **state) {
    (void)state;
    publish(0, OWN(FRESH, NO_OTHER));
    for (size_t i = 0; i < NODES; i++)
        fail_from(i, "p", PROBE_TIMEOUT);
    assert_causes("CL-NONE all nodes; CL-HNS w0");
    for (size_t i = 0; i < report.cells.count; i++)
        report.cells.items[i].outcome = DIAG_PASS;
    fail_from(0, "s", PROBE_TIMEOUT);
    for (size_t i = 0; i < report.cells.count; i++)
        if (report.cells.items[i].from_node == 0 && letter(&report.cells.items[i]) == 's') {
            report.cells.items[i].outcome = DIAG_PASS; /* one Service works from there */
            break;
        }
    assert_causes("CL-IPV6-NODE w0; CL-SVC-UDP w0; CL-HNS w0");
    assert_int_equal(report.causes.items[2].cells.count, 0);
}

static void each_form_says_it(void **state) {
    const struct diag_text_style style = {0};
    _cleanup_(freep) char *text = NULL, *html = NULL, *metrics = NULL, *junit = NULL;

    (void)state;
    publish(0, OWN(FRESH, NO_OTHER));
    publish(1, OWN(OLD, LEFT));
    publish(2, "{\"version\":9}");
    publish(3, OWN(FRESH, ""));
    fail_from(0, "sqfaoh", PROBE_TIMEOUT);
    for (size_t i = 0; i < NODES; i++) {
        report.nodes.items[i].client_ip = xstrdup(report.nodes.items[i].pod_ip);
        report.nodes.items[i].sticky = true;
    }
    cluster_causes_find(&report);
    text = diag_report_text(&report, &style);
    html = diag_report_html(&report);
    metrics = diag_report_metrics(&report);
    junit = diag_report_junit(&report);
    assert_non_null(
        strstr(text, "    its own report, 4 min old: 1 Services without a load balancer"));
    assert_non_null(strstr(text, "    w1: its own report, 3 h old: 1 remote endpoints that nothing "
                                 "uses\n      (10.244.3.9)\n"));
    assert_non_null(
        strstr(text, "    w2: its own report cannot be read: it is of a newer winjoin\n"));
    assert_null(strstr(text, "l3: its own"));
    assert_non_null(strstr(text, "DSR on;"));
    assert_non_null(strstr(html, "<h2>What nodes say of themselves</h2>"));
    assert_non_null(strstr(html, "<td>its own report, 3 h old: 1 remote endpoints"));
    assert_non_null(
        strstr(metrics, "winjoin_diag_node_hns_differences{server=\"s\",node=\"w0\"} 1"));
    assert_non_null(
        strstr(metrics, "winjoin_diag_node_hns_differences{server=\"s\",node=\"l3\"} 0"));
    assert_null(strstr(metrics, "differences{server=\"s\",node=\"w2\"}"));
    assert_non_null(strstr(metrics,
                           "winjoin_diag_node_report_timestamp_seconds{server=\"s\",node=\"w0\"} "
                           "1795859760"));
    assert_null(strstr(junit, "own report"));
}

/* Many such lines are not printed. */
static void many_lines_are_counted(void **state) {
    const struct diag_text_style style = {0};
    struct diag_report many = {.server = xstrdup("s"), .namespace_ = xstrdup("n"), .time = NOW};
    _cleanup_(freep) char *text = NULL;

    (void)state;
    many.nodes.items = xcalloc(20, sizeof *many.nodes.items);
    for (size_t i = 0; i < 20; i++)
        many.nodes.items[many.nodes.count++] = (struct cluster_node){
            .name = xasprintf("n%zu", i),
            .os = xstrdup("windows"),
            .build = xstrdup(""),
            .version = xstrdup(""),
            .own_report = json_pack("{s:s}", "unreadable", "it is not JSON"),
        };
    text = diag_report_text(&many, &style);
    assert_non_null(strstr(text, "    n7: its own report cannot be read"));
    assert_null(strstr(text, "    n8: its own report cannot be read"));
    assert_non_null(strstr(text, "    and 12 more such reports (-o json has all)\n"));
    diag_report_free(&many);
}

/* Written, and read back to judge it again. */
static void replayed_it_is_the_same(void **state) {
    _cleanup_json_ json_t *json = NULL, *again = NULL;
    _cleanup_(freep) char *text = NULL, *named = NULL, *named_again = NULL;
    struct error err = {0};

    (void)state;
    publish(0, OWN(FRESH, NO_OTHER));
    publish(1, OWN(OLD, LEFT));
    publish(2, "[");
    fail_from(0, "sqfaoh", PROBE_TIMEOUT);
    named = causes();
    json = diag_report_json(&report);
    assert_int_equal(
        json_number_at(json, "nodes.0.ownReport.drift.servicesWithoutLoadBalancer.count", 0), 1);
    assert_string_equal(json_text_at(json, "nodes.2.ownReport.unreadable"), "it is not JSON");
    assert_null(json_at(json, "nodes.3.ownReport"));
    text = json_write(json);
    diag_report_free(&report);
    if (diag_report_read(text, strlen(text), CLUSTER_REPORT_KIND, &report, &err) < 0)
        fail_msg("%s", err.message);
    named_again = causes();
    assert_string_equal(named_again, named);
    again = diag_report_json(&report);
    assert_true(json_equal(json_object_get(json, "nodes"), json_object_get(again, "nodes")));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_report, close_report)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(nothing_wrong_is_no_cause),
        TEST(a_lack_with_no_red_cell_is_told),
        TEST(red_services_of_a_node_that_says_so),
        TEST(an_old_report_is_likely),
        TEST(names_alone),
        TEST(what_it_does_not_fit),
        TEST(each_form_says_it),
        TEST(many_lines_are_counted),
        TEST(replayed_it_is_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
