/* Whether the pod subnet has a part left for another Node. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "join/found/need.h"

#define CONFIG(subnet, more)                                                                       \
    "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.37.1\n" \
    "networking: {podSubnet: '" subnet "'}\n" more
#define MASK(name, value) "controllerManager: {extraArgs: [{name: " name ", value: '" value "'}]}\n"
#define NODE(name, cidrs)                                                                          \
    "{\"metadata\":{\"name\":\"" name "\"},\"spec\":{\"podCIDRs\":[" cidrs "]}}"

static void who_has_the_parts(void **state) {
    static const struct {
        const char *config, *nodes, *why; /* NULL: there is room, or it is not known */
    } rows[] = {
        {CONFIG("192.168.69.0/24", ""), NODE("cp", "\"192.168.69.0/24\""),
         "the cluster's pod subnet 192.168.69.0/24 is full: it has room for 1 Node with a /24 "
         "each, and cp has it: the controller manager has none for this node"},
        {CONFIG("192.168.69.0/24", ""), NULL,
         "the cluster's pod subnet 192.168.69.0/24 is full: it has room for 1 Node with a /24 "
         "each, and the control plane has it: the controller manager has none for this node"},
        {CONFIG("10.244.0.0/23", ""), NULL, NULL},
        {CONFIG("192.168.69.0/24", ""), NODE("win", "\"192.168.69.0/24\""), NULL}, /* its own */
        {CONFIG("192.168.69.0/24", ""), NODE("cp", ""), NULL},
        {CONFIG("10.244.0.0/16", ""), NODE("cp", "\"10.244.0.0/24\""), NULL},
        {CONFIG("10.244.0.0/23", ""),
         NODE("a", "\"10.244.0.0/24\"") "," NODE("b", "\"10.244.1.0/24\""),
         "the cluster's pod subnet 10.244.0.0/23 is full: it has room for 2 Nodes with a /24 each, "
         "and a, b have them: the controller manager has none for this node"},
        {CONFIG("10.244.0.0/23", MASK("node-cidr-mask-size", "25")),
         NODE("a", "\"10.244.0.0/25\"") "," NODE("b", "\"10.244.1.0/25\""), NULL},
        {CONFIG("10.244.0.0/24,fd00::/63", MASK("node-cidr-mask-size-ipv4", "26")),
         NODE("a", "\"10.244.0.0/26\",\"fd00::/64\"") "," NODE(
             "b", "\"10.244.0.64/26\",\"fd00:0:0:1::/64\""),
         "the cluster's pod subnet fd00::/63 is full: it has room for 2 Nodes with a /64 each, "
         "and a, b have them: the controller manager has none for this node"},
        {CONFIG("10.244.0.0/22", ""),
         NODE("a", "\"10.244.0.0/24\"") "," NODE("b", "\"10.244.1.0/24\"") "," NODE(
             "c", "\"10.244.2.0/24\"") "," NODE("d", "\"10.244.3.0/24\""),
         "the cluster's pod subnet 10.244.0.0/22 is full: it has room for 4 Nodes with a /24 each, "
         "and a, b, c and others have them: the controller manager has none for this node"},
        {CONFIG("10.244.0.0/25", ""), NODE("a", "\"10.244.0.0/24\""), NULL}, /* another mistake */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *text =
            xasprintf("{\"items\":[%s]}", rows[i].nodes ? rows[i].nodes : "");
        _cleanup_(cluster_config_free) struct cluster_config cluster = {0};
        _cleanup_json_ json_t *nodes = NULL;
        struct error err = {0};

        assert_int_equal(cluster_config_parse(rows[i].config, "c", &cluster, NULL), 0);
        assert_int_equal(json_read(text, strlen(text), "nodes", &nodes, NULL), 0);
        assert_int_equal(pod_room_check(&cluster, rows[i].nodes ? nodes : NULL, "win", &err),
                         rows[i].why ? -1 : 0);
        assert_string_equal(err.message, rows[i].why ? rows[i].why : "");
        if (rows[i].why)
            assert_non_null(strstr(err.hints[0], "--node-cidr-mask-size"));
    }
}

static void pod_prefixes_are_assigned(void **state) {
    static const struct {
        const char *yaml;
        bool assigned;
    } rows[] = {
        {"kubeadm.k8s.io/v1beta4\nnetworking: {podSubnet: 10.0.0.0/16}\n", true},
        {"kubeadm.k8s.io/v1beta4\nnetworking: {podSubnet: ''}\n", false},
        {"kubeadm.k8s.io/v1beta4\n", false},
        {"kubeadm.k8s.io/v1beta4\ncontrollerManager: {extraArgs: [{name: v, value: '2'}, {name: "
         "allocate-node-cidrs, value: 'true'}]}\n",
         true},
        {"kubeadm.k8s.io/v1beta4\nnetworking: {podSubnet: 10.0.0.0/16}\ncontrollerManager: "
         "{extraArgs: [{name: allocate-node-cidrs, value: 'false'}]}\n",
         false},
        {"kubeadm.k8s.io/v1beta3\ncontrollerManager: {extraArgs: {allocate-node-cidrs: 'true'}}\n",
         true},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *yaml =
            xasprintf("kind: ClusterConfiguration\napiVersion: %s", rows[i].yaml);
        struct cluster_config config = {0};
        struct error err = {0};

        if (cluster_config_parse(yaml, "kubeadm-config", &config, &err) < 0)
            fail_msg("%s: %s", yaml, err.message);
        if (config.assigns_pod_prefixes != rows[i].assigned)
            fail_msg("%s", yaml);
        cluster_config_free(&config);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_has_the_parts),
        cmocka_unit_test(pod_prefixes_are_assigned),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
