/* If the node does not reach an address, the cause says which route and MAC address it uses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/scene/diag_rows.h"
#include "tests/scene/diag_scene.h"

#define OUTSIDE                                                                                    \
    "expected:{networkMode:'overlay',externalIP:'192.0.2.1'},"                                     \
    "extra:{'node-external':{outcome:'timeout'},'node-external-udp':{outcome:'timeout'}},"         \
    "routes:[{destination:'0.0.0.0/0',nextHop:'10.0.0.1'},{destination:'10.0.0.0/24',nextHop:'"    \
    "0.0.0.0'}"
/* The same with an address of IPv6; its default route is usual, too. */
#define OUTSIDE_IPV6                                                                               \
    "expected:{networkMode:'overlay',externalIP:'2001:db8:9::1'},"                                 \
    "extra:{'node-external':{outcome:'timeout'},'node-external-udp':{outcome:'timeout'}},"         \
    "routes:["

static const struct {
    const char *evidence, *line, *hint; /* NULL: none is added; the row's own */
} cases[] = {
    {OUTSIDE "]", NULL, NULL},
    {OUTSIDE "],neighbors:[{fixed:false,address:'10.0.0.31',mac:''}]", NULL, NULL},
    {OUTSIDE ",{destination:'192.0.2.0/24',nextHop:'10.0.0.99'},"
             "{destination:'192.0.0.0/16',nextHop:'10.0.0.98'}]",
     "this node's route to 192.0.2.1 is 192.0.2.0/24 by 10.0.0.99",
     "if that route is wrong: route.exe delete 192.0.2.0/24; else look at 10.0.0.99"},
    {OUTSIDE "],neighbors:[{fixed:true,address:'10.0.0.1',mac:'02-00-00-00-00-99'}]",
     "10.0.0.1 has the MAC address 02-00-00-00-00-99 here because somebody wrote that",
     "if that address is wrong: arp.exe -d 10.0.0.1, and arp.exe -a shows the new one"},
    {OUTSIDE "],neighbors:[{fixed:false,address:'10.0.0.1',mac:''}]",
     "no machine of this segment says that it has the address 10.0.0.1", NULL},
    {OUTSIDE_IPV6 "{destination:'::/0',nextHop:'fe80::1'}]", NULL, NULL},
    {OUTSIDE_IPV6 "{destination:'2001:db8:9::/48',nextHop:'fe80::99'}]",
     "this node's route to 2001:db8:9::1 is 2001:db8:9::/48 by fe80::99",
     "if that route is wrong: route.exe delete 2001:db8:9::/48; else look at fe80::99"},
};

static void the_way_of_the_node_is_told(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct diag_report report;
        const struct diag_cause *cause;

        scene_report_make("pod-to-external-ip/tcp=timeout", cases[i].evidence, &report);
        diag_causes_find(&report);
        assert_int_equal(report.causes.count, 1);
        cause = &report.causes.items[0];
        assert_string_equal(cause->id, "EXT-NODE");
        assert_int_equal(cause->evidence.count, cases[i].line ? 3 : 2);
        if (cases[i].line)
            assert_string_equal(cause->evidence.items[2], cases[i].line);
        if (cases[i].hint)
            assert_string_equal(cause->hint, cases[i].hint);
        else
            assert_non_null(strstr(cause->hint, "not a problem"));
        diag_report_free(&report);
    }
}

/* A DNS server outside that takes TCP connections is there; a late answer by UDP counts as none. */
static void a_late_dns_server_is_told_from_one_that_is_gone(void **state) {
    static const struct {
        const char *udp, *connect;
        bool there;
    } servers[] = {
        {"dns-timeout", "ok", true},       {"dns-timeout", "refused", true},
        {"dns-timeout", "timeout", false}, {"dns-timeout", "unreachable", false},
        {"dns-timeout", NULL, false},      {"refused", "ok", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(servers); i++) {
        struct diag_report report;
        const struct diag_cause *cause;
        _cleanup_(freep) char *connect =
            servers[i].connect ? xasprintf(",'x-node-dns':{outcome:'%s'}", servers[i].connect)
                               : NULL;
        _cleanup_(freep) char *evidence =
            xasprintf("expected:{externalIP:'192.0.2.1'},extra:{'node-external':{outcome:'ok'},"
                      "'node-external-udp':{outcome:'%s'}%s}",
                      servers[i].udp, connect ? connect : "");

        scene_report_make("pod-to-external-ip/udp=dns-timeout "
                          "pod-to-external-dns/udp=dns-servfail",
                          evidence, &report);
        diag_causes_find(&report);
        assert_int_equal(report.causes.count, 1);
        cause = &report.causes.items[0];
        assert_string_equal(cause->id, "EXT-NODE");
        assert_true(cause->confirmed);
        assert_int_equal(cause->evidence.count, servers[i].there ? 2 : 1);
        assert_int_equal(strstr(cause->hint, "load of that server") != NULL, servers[i].there);
        diag_report_free(&report);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_way_of_the_node_is_told),
        cmocka_unit_test(a_late_dns_server_is_told_from_one_that_is_gone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
