/* Nodes that have something in common that each should have for itself, and what is named for it.
 */
#include "tests/scene/cluster_broken_scene.h"

#include "diag/cluster/cluster.h"

#define NODE(name, os, annotations, cidr, address, machine)                                        \
    "{\"metadata\":{\"name\":\"" name "\",\"annotations\":{" annotations "}},\"spec\":{" cidr      \
    "},\"status\":{\"addresses\":[{\"type\":\"InternalIP\",\"address\":\""                         \
    "" address "\"}],\"nodeInfo\":{\"operatingSystem\":\"" os "\",\"machineID\":\"" machine        \
    "\"}}}"
#define CIDR(prefix) "\"podCIDR\":\"" prefix "\""
#define FLANNEL(ip, mac)                                                                           \
    "\"flannel.alpha.coreos.com/public-ip\":\"" ip "\","                                           \
    "\"flannel.alpha.coreos.com/backend-data\":\"{\\\"VtepMAC\\\":\\\"" mac "\\\"}\""
#define CALICO "\"projectcalico.org/IPv4Address\":\"10.0.0.1/24\""

static void what_two_nodes_share(void **state) {
    static const struct {
        const char *first, *second;
        const char *twin; /* of the second one; NULL: nothing */
    } rows[] = {
        {NODE("a", "linux", "", CIDR("10.244.1.0/24"), "10.0.0.1", "m1"),
         NODE("b", "linux", "", CIDR("10.244.2.0/24"), "10.0.0.2", "m2"), NULL},
        {NODE("a", "linux", "", CIDR("10.244.1.0/24"), "10.0.0.1", "m1"),
         NODE("b", "windows", "", CIDR("10.244.1.0/24"), "10.0.0.1", "m1"),
         "its pod subnet 10.244.1.0/24 is that of a, too"},
        {NODE("a", "linux", CALICO, CIDR("10.244.1.0/24"), "10.0.0.1", "m1"),
         NODE("b", "linux", CALICO, CIDR("10.244.1.0/24"), "10.0.0.2", "m2"), NULL},
        {NODE("a", "linux", "", "", "10.0.0.1", "m1"), NODE("b", "linux", "", "", "10.0.0.1", "m1"),
         "its address 10.0.0.1 is that of a, too"},
        {NODE("a", "linux", "", "", "10.0.0.1", "m1"), NODE("b", "linux", "", "", "10.0.0.2", "m1"),
         "its machine ID m1 is that of a, too"},
        {NODE("a", "windows", "", "", "10.0.0.1", "m1"),
         NODE("b", "windows", "", "", "10.0.0.2", "m1"), NULL},
        {NODE("a", "linux", "", "", "10.0.0.1", ""), NODE("b", "linux", "", "", "10.0.0.2", ""),
         NULL},
        {NODE("a", "linux", FLANNEL("10.0.2.15", "m"), "", "10.0.0.1", "m1"),
         NODE("b", "linux", FLANNEL("10.0.2.15", "n"), "", "10.0.0.2", "m1"),
         "flannel's address 10.0.2.15 is that of a, too"},
        {NODE("a", "linux", FLANNEL("10.0.0.1", "00:15:5d:01:02:03"), "", "10.0.0.1", "m1"),
         NODE("b", "windows", FLANNEL("10.0.0.2", "00:15:5d:01:02:03"), "", "10.0.0.2", "m2"),
         "flannel's MAC address 00:15:5d:01:02:03 is that of a, too"},
        {NODE("a", "linux", "\"flannel.alpha.coreos.com/backend-data\":\"{\"", "", "10.0.0.1", "m"),
         NODE("b", "linux", "\"flannel.alpha.coreos.com/backend-data\":\"{\"", "", "10.0.0.2", "n"),
         NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *text =
            xasprintf("{\"kind\":\"NodeList\",\"items\":[%s,%s]}", rows[i].first, rows[i].second);
        _cleanup_json_ json_t *list = NULL;
        struct cluster_nodes nodes = {0};

        assert_int_equal(json_read(text, strlen(text), "nodes", &list, NULL), 0);
        assert_int_equal(cluster_nodes_add(&nodes, json_object_get(list, "items"), NULL), 0);
        if (!text_equal(nodes.items[1].twin, rows[i].twin))
            fail_msg("row %zu: %s", i, nodes.items[1].twin);
        assert_int_equal(nodes.items[0].twin != NULL, rows[i].twin != NULL);
        assert_true(!rows[i].twin || text_ends_with(nodes.items[0].twin, " is that of b, too"));
        cluster_nodes_free(&nodes);
    }
}

/* Of pods that run. */
static void what_two_pods_share(void **state) {
    struct diag_report report;

    (void)state;
    make(&report);
    free(report.nodes.items[4].pod_ip);
    report.nodes.items[4].pod_ip = xstrdup(report.nodes.items[1].pod_ip);
    report.nodes.items[4].waiting = xstrdup("Pending");
    cluster_twins_of_pods(&report.nodes);
    assert_null(report.nodes.items[1].twin);
    free(take_ptr(report.nodes.items[4].waiting));
    cluster_twins_of_pods(&report.nodes);
    assert_string_equal(report.nodes.items[4].twin,
                        "the address of its probe 10.244.1.2 is that of w1, too");
    diag_report_free(&report);
}

/* It is the cause of what fails of these nodes' pods, first and surely; of nothing else, but told
 * as the last. What may be alike without harm is never sure. */
static void what_is_named(void **state) {
    static const struct broken pods = {"p", ANY, 1, false, 0, PROBE_TIMEOUT, NULL, NULL},
                               kubelet = {"k", ANY, 1, false, 0, PROBE_REFUSED, NULL, NULL};
    static const struct {
        const char *twin;
        const struct broken *broken;
        const char *first, *last;
        bool confirmed; /* the twins' cause */
    } rows[] = {
        {"its pod subnet 10.244.1.0/24 is that of w2, too", &pods, "CL-SUBNET", "CL-SUBNET", true},
        {"the address of its probe 10.2.2.2 is that of w2, too", &pods, "CL-SUBNET", "CL-SUBNET",
         true},
        {"flannel's address 10.0.2.15 is that of w2, too", &pods, "CL-TWINS", "CL-TWINS", true},
        {"its machine ID m1 is that of w2, too", &pods, "CL-TWINS", "CL-TWINS", false},
        {"its pod subnet 10.244.1.0/24 is that of w2, too", &kubelet, "CL-KUBELET", "CL-SUBNET",
         false},
        {"flannel's address 10.0.2.15 is that of w2, too", &kubelet, "CL-KUBELET", "CL-TWINS",
         false},
        {"its pod subnet 10.244.1.0/24 is that of w2, too", NULL, "CL-SUBNET", "CL-SUBNET", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct diag_report report;
        const struct diag_cause *last;

        make(&report);
        paint(&report, rows[i].broken);
        report.nodes.items[1].twin = xstrdup(rows[i].twin);
        report.nodes.items[2].twin = xstrdup(rows[i].twin); /* all of it works */
        cluster_causes_find(&report);
        assert_string_equal(report.causes.items[0].id, rows[i].first);
        last = &report.causes.items[report.causes.count - 1];
        assert_string_equal(last->id, rows[i].last);
        if (last->confirmed != rows[i].confirmed)
            fail_msg("row %zu", i);
        assert_true(text_starts_with(last->message, "w1, w2: "));
        assert_non_null(strstr(last->evidence.items[0], rows[i].twin));
        assert_int_equal(last->cells.count > 0, rows[i].broken == &pods);
        diag_report_free(&report);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_two_nodes_share),
                                       cmocka_unit_test(what_two_pods_share),
                                       cmocka_unit_test(what_is_named)};

    return cmocka_run_group_tests_name("nodes that are alike", tests, NULL, NULL);
}
