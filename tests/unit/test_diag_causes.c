/* The decision table: for each cause a scene that has it, and scenes that only look like it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "diag/causes/causes.h"
#include "diag_rows.h"
#include "diag_scene.h"

static void report_make(const struct row *row, struct diag_report *report) {
    scene_report_make(row->red, row->evidence, report);
}

/* What is left is another test's (test_diag_unknown.c). */
static char *causes_text(const struct diag_report *report) {
    struct text t = {0};

    for (size_t i = 0; i < report->causes.count; i++)
        if (!text_equal(report->causes.items[i].id, DIAG_CAUSE_UNKNOWN))
            text_addf(&t, "%s%s %s %zu", i ? ", " : "", report->causes.items[i].id,
                      report->causes.items[i].confirmed ? "confirmed" : "likely",
                      report->causes.items[i].cells.count);
    return text_take(&t);
}

static void each_scene_has_its_cause(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct diag_report report;
        _cleanup_(freep) char *causes = NULL;

        report_make(&rows[i], &report);
        diag_causes_find(&report);
        causes = causes_text(&report);
        if (!text_equal(causes, rows[i].causes))
            fail_msg("%s: '%s', not '%s'", rows[i].name, causes, rows[i].causes);
        if (rows[i].note && !text_equal(report.causes.items[0].evidence.items[0], rows[i].note))
            fail_msg("%s: '%s', not '%s'", rows[i].name, report.causes.items[0].evidence.items[0],
                     rows[i].note);
        diag_report_free(&report);
    }
}

/* A cause whose own cells work is never given, whatever the evidence says. */
static void green_cells_rule_causes_out(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct row green = rows[i];
        struct diag_report report;

        if (strstr(green.evidence, "look:{"))
            continue; /* what is down is named all the same */
        green.red = "";
        report_make(&green, &report);
        diag_causes_find(&report);
        assert_int_equal(report.causes.count, 0);
        diag_report_free(&report);
    }
}

/* ---- no cause contradicts what was measured ---- */

/* What a text says of flows that work, and which cells (two a flow, TCP and UDP) may not be red
 * with it: a flow of theirs works. A text that says so otherwise is found by the words below. */
static const struct claim {
    const char *words, *flows; /* "" = of no cell: a probe beyond them, or another machine */
} claims[] = {
    {"pods on this node reach each other", "pod-to-pod-ip node-to-pod"},
    {"pods reach each other", "pod-to-pod-ip"},
    {"pods reach their own node", "pod-to-node"},
    {"DNS on other nodes does not answer", ""},
    {"not at its pod's own address", ""},
    {"through its Service the answers", ""},
    {"or their answers, are lost", ""},
    {"are lost", ""},
    {"packets arrive, but no program listens", ""},
    {"for the external name it answers", ""},
    {"DNS answers at", ""},
    {"nothing answers at a cluster IP", ""},
    {"other Services answer", "pod-to-service-ip"},
    {"the cluster's DNS resolves Service names", "pod-to-service-ip pod-to-service-fqdn"},
    {"the DNS Service answers direct queries", ""},
    {"the node reaches the pod, the pod gets no answer", "node-to-pod"},
    {"bytes arrive, ", ""},
    {"small packets reach pods on other nodes", ""},
    {"small packets arrive", ""},
    {"the node itself reaches", ""},
    {"the node itself does not reach", ""},
    {"has no correct route to", ""},
    {"this node does not reach", ""},
    {"the node cannot reach anything outside the cluster either", ""},
    {"no pod behind the DNS Service answers", ""},
    {"or their answers, have no route", ""},
    {"; this node talks to", ""},
    {"pods get an answer of", ""},
    {"which server answers", ""},
    {"its answer is dated", ""},
    {"that the wrong pod answers", ""},
    {"running pods are not affected", ""},
    {"undo each other's work", ""},
    {"answers over one of UDP and TCP alone", ""},
    {"the API server answers this node, but not its pods", ""},
    {"answers with an error", ""},
    {"the cluster's DNS answers slowly", ""},
    {": an answer takes", ""},
    {"some questions are answered", ""},
    {"behind a Service do not answer", ""},
    {"that do not answer", ""},
    {"it does not reach the API server", ""},
    {" answers by UDP; by TCP", ""},
    {"or answers later than in 2 s", ""},
    {"answers this node's pods, the DNS pod does not", ""},
    {"answer came from", ""},
    {"nothing reaches a pod", ""},
    {"nothing arrives that pods send", ""},
    {"pods reach each other, and nothing by their gateway", "pod-to-pod-ip"},
    {"neither the node nor", ""},
    {" reaches winjoin-probe-b", ""},
    {"does not reach the other", ""},
    {"takes TCP connections to port 53, but answers in 2 s neither by", ""},
    {"takes connections, and answers too late or never", ""},
    {"gets no answer by UDP; by TCP it does", ""},
    {"UDP to the DNS server outside works", "pod-to-external-ip"},
    {"of another node gives no answer", ""},
    {"pods reach Services, but not their own node", "pod-to-service-ip"},
    {"the other pod reaches winjoin-probe-b, the node does not", "pod-to-pod-ip"},
    {"runs, but does not answer", ""},
    {"HNS does not answer", ""},
    {"the node reaches the target outside, its pods do not", ""},
    {"the DNS pod answers by TCP; by UDP its closed port", ""},
    {": packets arrive there", ""},
    {"which does not answer pods", ""},
    {"that they do not reach", ""},
    {"does not answer this node", ""},
    {"the DNS pods on node lin-1 do not answer", ""},
    {"nothing answers at the name outside", ""},
    {"the node itself does not find", ""},
};
static const char *const says_works[] = {"reach", "answer", " talk", "arrive", " work", " go on"};

static bool any_passes(const struct diag_report *report, const char *flows) {
    _cleanup_(text_list_free) struct text_list names = {0};

    text_list_split(&names, flows, ' ');
    for (size_t i = 0; i < names.count; i++)
        for (int udp = 0; udp < 2; udp++)
            if (diag_cells_find(&report->cells, names.items[i], udp)->outcome == DIAG_PASS)
                return true;
    return !names.count;
}

static void check_text(const struct diag_report *report, const char *scene, const char *text) {
    _cleanup_(text_free) struct text left = {0};

    text_add(&left, text);
    for (size_t i = 0; i < ARRAY_SIZE(claims); i++) {
        char *at = strstr(left.data, claims[i].words);

        if (!at)
            continue;
        if (!any_passes(report, claims[i].flows))
            fail_msg("%s: '%s', but these are red: %s", scene, text, claims[i].flows);
        memset(at, '.', strlen(claims[i].words));
    }
    for (size_t i = 0; i < ARRAY_SIZE(says_works); i++)
        if (strstr(left.data, says_works[i]))
            fail_msg("%s: what does '%s' say of '%s'? add it to the claims", scene, text,
                     says_works[i]);
    if (strstr(text, "no OutBoundNAT") && strstr(text, "policies") && strstr(text, "OutBoundNAT ("))
        fail_msg("%s: '%s' says that it is there and is not", scene, text);
}

static void check_causes(const struct diag_report *report, const char *scene) {
    for (size_t i = 0; i < report->causes.count; i++) {
        const struct diag_cause *cause = &report->causes.items[i];

        if (!cause->evidence.count)
            fail_msg("%s: %s has no evidence", scene, cause->id);
        check_text(report, scene, cause->message);
        check_text(report, scene, cause->hint);
        for (size_t k = 0; k < cause->evidence.count; k++)
            check_text(report, scene, cause->evidence.items[k]);
    }
}

/* Each scene as it is, and with each further flow red. */
static void no_cause_contradicts_the_matrix(void **state) {
    size_t count;
    const struct diag_flow *flows = diag_flows(&count);

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        for (size_t f = 0; f <= 9; f++) {
            struct diag_report report;

            report_make(&rows[i], &report);
            for (int udp = 0; f < 9 && udp < 2; udp++) {
                struct probe_result lost = {.outcome = PROBE_TIMEOUT, .attempts = 2};

                diag_cell_judge(diag_cells_find(&report.cells, flows[f].id, udp), &lost, false);
            }
            diag_causes_find(&report);
            check_causes(&report, rows[i].name);
            diag_report_free(&report);
        }
}

/* Of rows that no scene has, too. */
static void no_row_says_more_than_it_knows(void **state) {
    struct diag_report report;
    const struct diag_cause_row *row;

    (void)state;
    report_make(&rows[0], &report);
    for (size_t i = 0; (row = diag_cause_row(i)); i++) {
        check_text(&report, row->id, row->message);
        check_text(&report, row->id, row->hint);
    }
    diag_report_free(&report);
}

/* Of many nodes with the same mistake the first are named; one more is named rather than counted.
 */
static void many_lines_are_cut(void **state) {
    static const struct {
        size_t nodes, lines;
        const char *last;
    } cases[] = {
        {5, 5, "node lin-4 uses VNI 1, this node's network 4096"},
        {6, 6, "node lin-5 uses VNI 1, this node's network 4096"},
        {7, 6, "and 2 more"},
        {100, 6, "and 95 more"},
    };
    const struct row *row = rows;

    (void)state;
    while (!text_equal(row->name, "vni of a peer"))
        row++;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct diag_report report;
        const struct text_list *lines;
        json_t *nodes, *node;

        report_make(row, &report);
        nodes = json_object_get(report.evidence, "nodes");
        node = json_incref(json_array_get(nodes, 1));
        json_array_remove(nodes, 1);
        for (size_t n = 0; n < cases[i].nodes; n++) {
            _cleanup_(freep) char *name = xasprintf("lin-%zu", n);
            json_t *copy = json_deep_copy(node);

            json_object_set_new(json_object_get(copy, "metadata"), "name", json_string(name));
            json_array_append_new(nodes, copy);
        }
        json_decref(node);
        diag_causes_find(&report);
        lines = &report.causes.items[0].evidence;
        assert_int_equal(lines->count, cases[i].lines);
        assert_string_equal(lines->items[0], "node lin-0 uses VNI 1, this node's network 4096");
        assert_string_equal(lines->items[lines->count - 1], cases[i].last);
        assert_null(lines->items[lines->count]);
        diag_report_free(&report);
    }
}

#define FAR_DNS                                                                                    \
    OVERLAY "," VIPS "}," PODS ",endpoints:[" DNS_POD                                              \
            "],loadBalancers:[{FrontendVIPs:['10.96.0.10'],HostComputeEndpoints:['d000'],"         \
            "PortMappings:[{Protocol:6,ExternalPort:53}]}],extra:{'x-dns-tcp':{outcome:'ok'},"

/* A page of the DNS pod that is large does not come, one that is not there does. */
static void large_answers_that_are_lost(void **state) {
    static const struct {
        const char *size, *small, *large, *causes, *notes;
    } cases[] = {
        {"outcome:'ok',succeeded:1", "ok", "outcome:'no-reply',succeeded:0",
         "MTU-NODES confirmed 0",
         "TCP from pod 10.244.1.9, port 9153: a short answer arrives, 2000 bytes do not; questions "
         "of 2000 bytes arrive there: only what comes from other nodes is lost"},
        {"outcome:'dns-timeout',succeeded:0", "ok", "outcome:'no-reply',succeeded:0",
         "MTU-NODES confirmed 0",
         "TCP to the DNS Service: 64 bytes arrive, 2000 do not; TCP from pod 10.244.1.9, port "
         "9153: a short answer arrives, 2000 bytes do not"},
        {"outcome:'ok',succeeded:1", "timeout", "outcome:'timeout'", "", ""},
        {"outcome:'ok',succeeded:1", "no-reply", "outcome:'no-reply'", "", ""},
        {"outcome:'ok',succeeded:1", "ok", "outcome:'reset'", "", ""}, /* a short page */
        {"outcome:'ok',succeeded:1", "ok", "outcome:'no-reply',succeeded:1", "", ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_(freep) char *evidence =
            xasprintf("%s'x-size-dns-2000':{%s},'x-page-small':{outcome:'%s'},'x-page-large':{%s}}",
                      FAR_DNS, cases[i].size, cases[i].small, cases[i].large);
        const struct row row = {.red = "", .evidence = evidence};
        _cleanup_(freep) char *causes = NULL, *notes = NULL;
        struct diag_report report;

        report_make(&row, &report);
        diag_causes_find(&report);
        causes = causes_text(&report);
        assert_string_equal(causes, cases[i].causes);
        notes = report.causes.count ? text_list_join(&report.causes.items[0].evidence, "; ")
                                    : xstrdup("");
        assert_string_equal(notes, cases[i].notes);
        diag_report_free(&report);
    }
}

/* Long questions are late then, too: that is no matter of the MTU. */
static void a_slow_dns_is_named(void **state) {
    static const struct {
        unsigned median_us;
        const char *causes;
    } cases[] = {{499999, "MTU-NODES confirmed 0"}, {500000, "DNS-SLOW confirmed 1"}};
    const struct row row = {.red = "pod-to-service-fqdn/udp=dns-timeout",
                            .evidence = FAR_DNS "'x-size-dns-2000':{outcome:'dns-timeout'}}"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct diag_report report;
        _cleanup_(freep) char *causes = NULL;

        report_make(&row, &report);
        diag_cells_find(&report.cells, "pod-to-service-ip", true)->result.median_us =
            cases[i].median_us;
        diag_causes_find(&report);
        causes = causes_text(&report);
        assert_string_equal(causes, cases[i].causes);
        diag_report_free(&report);
    }
}

#define DNS_SAYS(udp, tcp, pod, connect)                                                           \
    "'x-dns-udp':{outcome:'" udp "'},'x-dns-tcp':{outcome:'" tcp "'},'x-dns-pod':{outcome:'" pod   \
    "'},'x-dns-connect':{outcome:'" connect "'},'x-closed-tcp':{outcome:'timeout'}"
#define BALANCER_OF(vip, protocol, port, endpoints)                                                \
    "{FrontendVIPs:['" vip "'],SourceVIP:'10.244.3.2',HostComputeEndpoints:[" endpoints            \
    "],PortMappings:[{Protocol:" protocol ",ExternalPort:" port "}]}"
#define WITH_TWO_API_SERVERS                                                                       \
    OVERLAY "," VIPS "}," PODS ",endpoints:[" VIP_ENDPOINT "," DNS_POD                             \
            ",{ID:'a000',Flags:1,IpConfigurations:[{IpAddress:'10.0.0.11'}]},"                     \
            "{ID:'a001',Flags:1,IpConfigurations:[{IpAddress:'10.0.0.10'}]}],loadBalancers:"       \
            "[" BALANCER_OF("10.96.0.10", "6", "53", "'d000'") "," BALANCER_OF(                    \
                "10.96.0.10", "17", "53",                                                          \
                "'d000'") "," BALANCER_OF("10.96.0.1", "6", "443",                                 \
                                          "'a000','a001'") "],"                                    \
                                                           "look:{time:'2026-11-22T10:15:02Z',"    \
                                                           "api:{server:'https://"                 \
                                                           "10.0.0.10:6443',outcome:'ok'}}"

/* A cluster whose DNS has one pod, on another node, and whose two API servers are 10.0.0.10 and
 * .11: what is asked beyond the flows tells causes with the same red cells apart. */
/* A port that CoreDNS has refuses, as 53 does. */
static void all_of_tcp_may_be_reset(void **state) {
    static const char *const pages[] = {"refused", "ok"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(pages); i++) {
        _cleanup_(freep) char *evidence =
            xasprintf("expected:{" VIPS "},loadBalancers:[" DNS_BALANCERS(
                          "") "],extra:{'x-dns-udp':{outcome:'ok'},'x-dns-tcp':{outcome:'refused'},"
                              "'x-dns-pod':{outcome:'ok'},'x-page-small':{outcome:'%s'}}",
                      pages[i]);
        const struct row row = {.red = "pod-to-service-pqdn/tcp=refused", .evidence = evidence};
        struct diag_report report;

        report_make(&row, &report);
        diag_causes_find(&report);
        assert_string_equal(report.causes.items[0].id, "DNS-PROTO");
        assert_int_equal(report.causes.items[0].evidence.count, i ? 1 : 2);
        diag_report_free(&report);
    }
}

static void answers_tell_causes_apart(void **state) {
    static const struct {
        const char *red, *extra, *causes;
    } cases[] = {
        /* A policy may drop every port but 53: one that refuses is no lost TCP. */
        {"pod-to-service-pqdn/tcp=refused", DNS_SAYS("ok", "refused", "ok", "timeout"),
         "DNS-PROTO likely 1"},
        {"pod-to-service-pqdn/tcp=timeout", DNS_SAYS("ok", "timeout", "ok", "timeout"),
         "TCP-LOST likely 1"},
        {DNS_RED " pod-to-node/udp=no-reply", DNS_SAYS("dns-timeout", "ok", "dns-timeout", "ok"),
         "UDP-LOST likely 10"},
        {DNS_RED " pod-to-node/udp=no-reply*", DNS_SAYS("dns-timeout", "ok", "dns-timeout", "ok"),
         "LOSS confirmed 1, DNS-PROTO likely 9"},
        {DNS_RED " pod-to-node/udp=no-reply",
         DNS_SAYS("dns-timeout", "timeout", "dns-timeout", "ok"),
         "DNS-SLOW likely 9, FW-IN likely 1"},
        {DNS_RED, DNS_SAYS("dns-timeout", "dns-timeout", "dns-timeout", "ok"), "DNS-SLOW likely 9"},
        {DNS_RED, DNS_SAYS("dns-timeout", "ok", "dns-timeout", "ok"), "DNS-PROTO likely 9"},
        {DNS_RED,
         DNS_SAYS("dns-timeout", "ok", "dns-timeout", "ok") ",'x-closed-udp':{outcome:'refused'}",
         "DNS-PROTO likely 9"},
        {DNS_RED,
         DNS_SAYS("dns-timeout", "ok", "dns-timeout", "ok") ",'x-closed-udp':{outcome:'no-reply'}",
         "UDP-LOST likely 9"},
        {"pod-to-service-pqdn/tcp=dns-servfail", DNS_SAYS("ok", "dns-servfail", "ok", "ok"),
         "DNS-FAIL likely 1"},
        /* Nor does the server outside by UDP, and by TCP one does: it is no matter of the DNS. */
        {DNS_RED " pod-to-external-ip/udp=dns-timeout",
         DNS_SAYS("dns-timeout", "ok", "dns-timeout", "ok") ",'x-closed-udp':{outcome:'refused'}",
         "UDP-LOST likely 10"},
        /* One name that was found came by UDP. */
        {"pod-to-service-ip/udp=dns-timeout pod-to-service-pqdn/udp=dns-timeout*",
         DNS_SAYS("dns-timeout", "ok", "dns-timeout", "ok") ",'x-closed-udp':{outcome:'refused'}",
         "LOSS likely 2"},
        {"pod-to-service-ip/udp=dns-timeout pod-to-service-pqdn/udp=dns-timeout*",
         DNS_SAYS("dns-timeout", "ok", "dns-timeout", "ok") ",'x-closed-udp':{outcome:'no-reply'}",
         "LOSS likely 2"},
        {DNS_RED, DNS_SAYS("dns-timeout", "dns-timeout", "dns-timeout", "timeout"),
         "OVL-UDP likely 9"},
        /* One of two API servers is dead, and the node's own question met that one. */
        {"pod-to-service-ip/tcp=timeout* pod-to-service-fqdn/tcp=timeout@10.96.0.1",
         "'x-node-api':{outcome:'timeout'}", "SVC-HALF likely 2"},
        {"pod-to-service-fqdn/tcp=timeout@10.96.0.1", "'x-node-api':{outcome:'timeout'}",
         "SVC-HALF likely 1"},
        {"pod-to-service-ip/tcp=timeout pod-to-service-fqdn/tcp=timeout@10.96.0.1",
         "'x-node-api':{outcome:'timeout'}", "API-ADDR confirmed 2"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_(freep) char *evidence =
            xasprintf(WITH_TWO_API_SERVERS ",extra:{%s}", cases[i].extra);
        const struct row row = {.red = cases[i].red, .evidence = evidence};
        struct diag_report report;
        _cleanup_(freep) char *causes = NULL;

        report_make(&row, &report);
        diag_causes_find(&report);
        causes = causes_text(&report);
        if (!text_equal(causes, cases[i].causes))
            fail_msg("%s, %s: '%s', not '%s'", cases[i].red, cases[i].extra, causes,
                     cases[i].causes);
        diag_report_free(&report);
    }
}

/* Two of a unit are the first that are told in it. */
static void times_are_told_in_their_units(void **state) {
    static const struct {
        long long seconds;
        const char *told;
    } cases[] = {{301, " 5 min "},   {7199, " 119 min "},  {-7200, " 2 h "},
                 {172799, " 47 h "}, {172800, " 2 days "}, {-864000, " 10 days "}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_(freep) char *evidence =
            xasprintf("look:{api:{outcome:'ok',clockDifferenceSeconds:%lld}}", cases[i].seconds);
        const struct row row = {.red = "", .evidence = evidence};
        struct diag_report report;

        report_make(&row, &report);
        diag_causes_find(&report);
        assert_int_equal(report.causes.count, 1);
        if (!strstr(report.causes.items[0].message, cases[i].told))
            fail_msg("%s", report.causes.items[0].message);
        diag_report_free(&report);
    }
}

static void every_row_has_words(void **state) {
    const struct diag_cause_row *row;
    size_t n = 0;

    (void)state;
    for (; (row = diag_cause_row(n)); n++) {
        assert_true(*row->id && *row->breaks && *row->message && *row->hint);
        assert_true(strlen(row->message) < 160);
    }
    assert_int_equal(n, 93);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_scene_has_its_cause),
        cmocka_unit_test(green_cells_rule_causes_out),
        cmocka_unit_test(no_cause_contradicts_the_matrix),
        cmocka_unit_test(no_row_says_more_than_it_knows),
        cmocka_unit_test(many_lines_are_cut),
        cmocka_unit_test(large_answers_that_are_lost),
        cmocka_unit_test(a_slow_dns_is_named),
        cmocka_unit_test(all_of_tcp_may_be_reset),
        cmocka_unit_test(answers_tell_causes_apart),
        cmocka_unit_test(times_are_told_in_their_units),
        cmocka_unit_test(every_row_has_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
