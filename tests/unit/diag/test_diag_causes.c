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
#include "tests/scene/diag_route_rows.h"
#include "tests/scene/diag_scene.h"

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
    const struct row *row;

    (void)state;
    for (size_t i = 0; (row = row_at(i)); i++) {
        struct diag_report report;
        _cleanup_(freep) char *causes = NULL;

        report_make(row, &report);
        diag_causes_find(&report);
        causes = causes_text(&report);
        if (!text_equal(causes, row->causes))
            fail_msg("%s: '%s', not '%s'", row->name, causes, row->causes);
        if (row->note && !text_list_has(&report.causes.items[0].evidence, row->note))
            fail_msg("%s: '%s', not '%s'", row->name, report.causes.items[0].evidence.items[0],
                     row->note);
        diag_report_free(&report);
    }
}

/* A cause whose own cells work is never given, whatever the evidence says. */
static void green_cells_rule_causes_out(void **state) {
    const struct row *row;

    (void)state;
    for (size_t i = 0; (row = row_at(i)); i++) {
        struct row green = *row;
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
        /* nor does a connection's first packet: loss takes any size */
        {"outcome:'dns-timeout',succeeded:0},'x-dns-connect':{outcome:'timeout'", "ok",
         "outcome:'no-reply',succeeded:0", "", ""},
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

/* Long questions are late then, too: that is no matter of the MTU. Half as long a connection is far
 * when the DNS is slow: a question has to go there and back, too. */
static void a_slow_dns_is_named(void **state) {
    static const struct row sizes = {.red = "pod-to-service-fqdn/udp=dns-timeout",
                                     .evidence =
                                         FAR_DNS "'x-size-dns-2000':{outcome:'dns-timeout'}}"};
    static const struct row far = {.red =
                                       "pod-to-service-fqdn/tcp=dns-timeout "
                                       "pod-to-service-ip/udp=ok~600 pod-to-service-ip/tcp=ok~250",
                                   .evidence = ""};
    static const struct {
        const struct row *row;
        unsigned question_us, connection_us; /* Of UDP and of TCP; 0 is the row's own. */
        const char *causes;
    } cases[] = {{&sizes, 499999, 0, "MTU-NODES confirmed 0"},
                 {&sizes, 500000, 0, "DNS-SLOW confirmed 1"},
                 {&far, 0, 250000, "LATENCY confirmed 1"},
                 {&far, 0, 249999, "DNS-SLOW confirmed 1"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct diag_report report;
        _cleanup_(freep) char *causes = NULL;

        report_make(cases[i].row, &report);
        if (cases[i].question_us)
            diag_cells_find(&report.cells, FLOW_SVC_IP, true, false)->result.median_us =
                cases[i].question_us;
        if (cases[i].connection_us)
            diag_cells_find(&report.cells, FLOW_SVC_IP, false, false)->result.min_us =
                cases[i].connection_us;
        diag_causes_find(&report);
        causes = causes_text(&report);
        assert_string_equal(causes, cases[i].causes);
        diag_report_free(&report);
    }
}

#define TOOK(id, us) "'" id "':{outcome:'ok',medianUs:" us "}"
#define TWO_LATE TOOK("x-size-dns-1300", "950000") "," TOOK("x-dns-tcp", "950001")
#define THREE_QUICK                                                                                \
    "," TOOK("x-api-direct", "300") "," TOOK("node-external", "300") "," TOOK("x-small-tcp",       \
                                                                              "249999")
#define SINCE(time)                                                                                \
    ",look:{time:'2026-11-22T10:15:02Z',services:[{state:'running',since:'" time "'}]}"

/* What TCP has lost is late. Once, or of most questions, it is no loss; nor is it by UDP, at a
 * start or beside a DNS that is slow itself. */
static void what_is_sent_again_is_loss(void **state) {
    static const struct row late[] = {
        {"two of five", "", "extra:{" TWO_LATE THREE_QUICK "}", "LOSS likely 0",
         "of the questions by TCP beside the flows 2 took a second or longer, 3 less than a "
         "quarter "
         "of one"},
        {"a flow and a question", "pod-to-pod-ip/tcp=ok^",
         "extra:{" TOOK("x-dns-tcp", "950000") THREE_QUICK "}", "LOSS likely 0",
         "pod-to-pod-ip/tcp: a connection took 1000 ms, another 0 ms"},
        {"one flow", "pod-to-pod-ip/tcp=ok^", "extra:{" TOOK("x-dns-tcp", "949999") THREE_QUICK "}",
         "", NULL},
        {"one question", "", "extra:{" TOOK("x-dns-tcp", "950000") THREE_QUICK "}", "", NULL},
        {"by UDP", "",
         "extra:{" TOOK("x-dns-pod", "950000") "," TOOK("x-dns-udp", "950000") THREE_QUICK "}", "",
         NULL},
        {"as many are quick", "",
         "extra:{" TWO_LATE "," TOOK("x-small-tcp", "300") "," TOOK("x-api-direct", "300") "}", "",
         NULL},
        {"the others are not quick", "",
         "extra:{" TWO_LATE "," TOOK("x-small-tcp", "250000") "," TOOK(
             "x-api-direct", "250000") "," TOOK("x-node-api", "250000") "}",
         "", NULL},
        {"the DNS is slow", "pod-to-service-ip/udp=ok~500", "extra:{" TWO_LATE THREE_QUICK "}", "",
         NULL},
        {"a service was just started", "",
         "extra:{" TWO_LATE THREE_QUICK "}" SINCE("2026-11-22T10:14:03Z"), "", NULL},
        {"a service was started a minute ago", "",
         "extra:{" TWO_LATE THREE_QUICK "}" SINCE("2026-11-22T10:14:02Z"), "LOSS likely 0", NULL},
        {"all of one flow, and nothing leaves the node",
         EXTERNAL_RED " pod-to-service-ip/tcp=ok~1000",
         "extra:{'node-external':{outcome:'ok'},'node-external-udp':{outcome:'ok'}}",
         "EXT-PODS likely 3", NULL},
        {"what fails altogether is of it", "pod-to-service-pqdn/tcp=dns-timeout",
         "extra:{" TWO_LATE THREE_QUICK "}", "LOSS likely 1", NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(late); i++) {
        struct diag_report report;
        _cleanup_(freep) char *causes = NULL;

        report_make(&late[i], &report);
        diag_causes_find(&report);
        causes = causes_text(&report);
        if (!text_equal(causes, late[i].causes))
            fail_msg("%s: '%s', not '%s'", late[i].name, causes, late[i].causes);
        if (late[i].note)
            assert_string_equal(report.causes.items[0].evidence.items[0], late[i].note);
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
    assert_int_equal(n, 98);
}

/* What HNS kept of a pod that is gone, and has not attached, is not taken for the pod's; nor does
 * one that is attached get in the way of what works. */
static void of_two_endpoints_the_attached_one_counts(void **state) {
    static const struct {
        const char *left, *red, *cause;
    } ends[] = {
        {"State:1", "pod-to-service-ip/tcp=timeout pod-to-service-ip/udp=dns-timeout", "UNKNOWN"},
        {"HostComputeNamespace:'00000000-0000-0000-0000-000000000000'",
         "pod-to-service-ip/tcp=timeout pod-to-service-ip/udp=dns-timeout", "UNKNOWN"},
        {"Flags:1,HostComputeNamespace:'5d1f'",
         "pod-to-service-ip/tcp=timeout pod-to-service-ip/udp=dns-timeout", "UNKNOWN"},
        {"State:3", "pod-to-service-ip/tcp=timeout pod-to-service-ip/udp=dns-timeout",
         "HNS-EPSTALE"},
        {"State:3", "pod-to-service-ip/tcp=timeout", "UNKNOWN"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
        _cleanup_(freep) char *evidence =
            xasprintf("pods:{a:{name:'a',ip:'10.244.3.4'}},endpoints:[{ID:'dead',%s,"
                      "IpConfigurations:[{IpAddress:'10.244.3.4'}]},{ID:'6f3c',"
                      "HostComputeNamespace:'5d1f',IpConfigurations:[{IpAddress:'10.244.3.4'}]}]",
                      ends[i].left);
        const struct row row = {.red = ends[i].red, .evidence = evidence};
        struct diag_report report;

        report_make(&row, &report);
        diag_causes_find(&report);
        assert_string_equal(report.causes.items[0].id, ends[i].cause);
        diag_report_free(&report);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_scene_has_its_cause),
        cmocka_unit_test(green_cells_rule_causes_out),
        cmocka_unit_test(many_lines_are_cut),
        cmocka_unit_test(large_answers_that_are_lost),
        cmocka_unit_test(a_slow_dns_is_named),
        cmocka_unit_test(what_is_sent_again_is_loss),
        cmocka_unit_test(all_of_tcp_may_be_reset),
        cmocka_unit_test(answers_tell_causes_apart),
        cmocka_unit_test(times_are_told_in_their_units),
        cmocka_unit_test(every_row_has_words),
        cmocka_unit_test(of_two_endpoints_the_attached_one_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
