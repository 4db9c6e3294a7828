/* The network plan: its arithmetic, its defaults, and every refusal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/scene/network_scene.h"

static struct scene scene;

static int close_scene(void **state) {
    (void)state;
    scene_close(&scene);
    return 0;
}

static bool warned(const char *code) {
    for (size_t i = 0; i < scene.plan.warning_count; i++) {
        if (text_equal(scene.plan.warnings[i].code, code))
            return true;
    }
    return false;
}

static void assert_list(const struct text_list *list, const char *expected) {
    _cleanup_(freep) char *joined = text_list_join(list, " ");
    assert_string_equal(joined, expected);
}

static void assert_refused(enum error_kind kind, const char *says) {
    assert_int_equal(scene_plan(&scene), -1);
    assert_int_equal(scene.err.kind, kind);
    if (!strstr(scene.err.message, says))
        fail_msg("'%s' does not say '%s'", scene.err.message, says);
}

static void overlay(void **state) {
    (void)state;
    scene_open(&scene, "overlay");
    scene.input.plugin = "flannel";
    assert_int_equal(scene_plan(&scene), 0);
    const struct network_plan *plan = &scene.plan;
    assert_ptr_equal(plan->mode, &network_mode_overlay);
    assert_ptr_equal(plan->agent, &network_agent_flannel);
    assert_string_equal(plan->cni_plugin, "win-overlay");
    assert_string_equal(plan->name, "flannel.4096");
    assert_string_equal(plan->pod_cidr, "10.244.1.0/24");
    assert_string_equal(plan->gateway, "10.244.1.1");
    assert_string_equal(plan->source_vip, "10.244.1.2");
    assert_string_equal(plan->host_endpoint, "");
    assert_string_equal(plan->range_start, "10.244.1.3");
    assert_string_equal(plan->range_end, "10.244.1.254");
    assert_string_equal(plan->management_address, "10.0.0.21");
    assert_int_equal(plan->vni, 4096);
    assert_int_equal(plan->vxlan_port, 4789);
    assert_false(plan->set_vxlan_port);
    assert_string_equal(plan->base_subnet, "192.168.255.0/30");
    assert_string_equal(plan->base_gateway, "192.168.255.1");
    assert_int_equal(plan->base_vsid, 9999);
    assert_list(&plan->nat_exceptions, "10.244.0.0/16 10.96.0.0/12");
    assert_list(&plan->encap_routes, "10.96.0.0/12");
    assert_true(plan->dsr);
    assert_int_equal(plan->warning_count, 0);
}

static void l2bridge(void **state) {
    (void)state;
    scene_open(&scene, "l2bridge");
    text_list_add(&scene.input.exclude_from_nat, "172.20.0.0/16");
    assert_int_equal(scene_plan(&scene), 0);
    const struct network_plan *plan = &scene.plan;
    assert_string_equal(plan->cni_plugin, "win-bridge");
    assert_string_equal(plan->plugin, "win-bridge");
    assert_string_equal(plan->name, "cbr0");
    assert_string_equal(plan->host_endpoint_name, "cbr0_ep");
    assert_string_equal(plan->gateway, "10.244.1.1");
    assert_string_equal(plan->host_endpoint, "10.244.1.2");
    assert_string_equal(plan->source_vip, "");
    assert_string_equal(plan->range_start, "10.244.1.3");
    assert_list(&plan->nat_exceptions, "10.244.0.0/16 10.96.0.0/12 10.0.0.0/24 172.20.0.0/16");
    assert_list(&plan->encap_routes, "10.96.0.0/12 10.0.0.21/32");
    assert_int_equal(plan->vni, 0);
}

static void several_cluster_prefixes(void **state) {
    (void)state;
    scene_open(&scene, "overlay");
    text_list_add(&scene.input.cluster_pod_cidrs, "10.245.0.0/16");
    text_list_add(&scene.input.service_cidrs, "10.112.0.0/16");
    assert_int_equal(scene_plan(&scene), 0);
    assert_list(&scene.plan.cluster_pod_cidrs, "10.244.0.0/16 10.245.0.0/16");
    assert_list(&scene.plan.service_cidrs, "10.96.0.0/12 10.112.0.0/16");
    assert_list(&scene.plan.encap_routes, "10.96.0.0/12 10.112.0.0/16");
    network_plan_free(&scene.plan);
    text_list_add(&scene.input.cluster_pod_cidrs, "10.246.0.0");
    assert_refused(ERROR_MALFORMED, "cluster's pod prefixes");
}

static void mode_follows_plugin(void **state) {
    (void)state;
    scene_open(&scene, NULL);
    scene.input.plugin = "win-bridge";
    assert_int_equal(scene_plan(&scene), 0);
    assert_ptr_equal(scene.plan.mode, &network_mode_l2bridge);
    network_plan_free(&scene.plan);
    scene.input.plugin = NULL;
    assert_int_equal(scene_plan(&scene), 0);
    assert_ptr_equal(scene.plan.mode, &network_mode_overlay);
    assert_true(warned("no-route-agent"));
}

static void unknown_pod_prefix(void **state) {
    (void)state;
    scene_open(&scene, "overlay");
    scene.input.pod_cidr = NULL;
    assert_int_equal(scene_plan(&scene), 0);
    assert_false(scene.plan.pod_cidr_known);
    assert_string_equal(scene.plan.pod_cidr, "<podCIDR>");
    assert_string_equal(scene.plan.gateway, "");
}

static void smallest_prefix(void **state) {
    (void)state;
    scene_open(&scene, "overlay");
    scene.input.pod_cidr = "10.244.1.8/29";
    assert_int_equal(scene_plan(&scene), 0);
    assert_string_equal(scene.plan.gateway, "10.244.1.9");
    assert_string_equal(scene.plan.range_start, "10.244.1.11");
    assert_string_equal(scene.plan.range_end, "10.244.1.14");
}

static void base_network_moves(void **state) {
    (void)state;
    scene_open(&scene, "overlay");
    scene.input.management = "192.168.255.7/24";
    scene.input.vni = 9999;
    assert_int_equal(scene_plan(&scene), 0);
    assert_string_equal(scene.plan.base_subnet, "172.31.255.0/30");
    assert_int_equal(scene.plan.base_vsid, 9998);
}

static void one_exception_a_base_address(void **state) {
    (void)state;
    scene_open(&scene, "l2bridge");
    text_list_add(&scene.input.exclude_from_nat, "10.244.0.0/15");
    assert_int_equal(scene_plan(&scene), 0);
    assert_list(&scene.plan.nat_exceptions, "10.244.0.0/15 10.96.0.0/12 10.0.0.0/24");
}

static void warnings(void **state) {
    (void)state;
    scene_open(&scene, "overlay");
    scene.input.pod_cidr = "10.245.1.0/24";
    text_list_free(&scene.input.cluster_pod_cidrs);
    text_list_add(&scene.input.cluster_pod_cidrs, "fd00:10:244::/56");
    text_list_add(&scene.input.cluster_pod_cidrs, "10.244.0.0/16");
    assert_int_equal(scene_plan(&scene), 0);
    assert_true(warned("pod-cidr-outside-cluster"));
    assert_true(warned("dual-stack-off"));
    assert_list(&scene.plan.nat_exceptions, "10.244.0.0/16 10.245.1.0/24 10.96.0.0/12");
    network_plan_free(&scene.plan);
    text_list_free(&scene.input.cluster_pod_cidrs);
    assert_int_equal(scene_plan(&scene), 0);
    assert_true(warned("no-cluster-pod-cidr"));
    assert_list(&scene.plan.nat_exceptions, "10.245.1.0/24 10.96.0.0/12");
}

static void refused_names(void **state) {
    (void)state;
    scene_open(&scene, "bridge");
    assert_refused(ERROR_USAGE, "unknown network mode 'bridge'");
    scene.input.mode = "overlay";
    scene.input.plugin = "calico";
    assert_refused(ERROR_USAGE, "unknown network plugin 'calico'");
    scene.input.plugin = "win-bridge";
    assert_refused(ERROR_USAGE, "l2bridge or l2tunnel, not in 'overlay': there use win-overlay");
    scene.input.plugin = NULL;
    scene.input.name = "a\\..\\b";
    assert_refused(ERROR_USAGE, "network name '");
    scene.input.name = "external";
    assert_refused(ERROR_USAGE, "reserved");
}

static void refused_numbers(void **state) {
    (void)state;
    scene_open(&scene, "overlay");
    scene.input.vni = 4095;
    assert_refused(ERROR_USAGE, "VNI 4095 is not possible");
    scene.input.vni = 16777215;
    assert_int_equal(scene_plan(&scene), 0);
    network_plan_free(&scene.plan);
    scene.input.vni = 16777216;
    assert_refused(ERROR_USAGE, "VNI 16777216 is not possible");
    scene.input.vni = 0;
    scene.input.vxlan_port = 8472;
    scene.input.plugin = "flannel";
    assert_refused(ERROR_UNSUPPORTED, "4789 only");
    scene.input.vxlan_port = 0;
    scene.input.vni = 4096;
    scene.input.plugin = "ovn-kubernetes";
    assert_refused(ERROR_UNSUPPORTED,
                   "VNI 4096 is not possible: ovn-kubernetes works with 4097 only");
    scene.input.vni = 0;
    scene.input.vxlan_port = 8472;
    scene.input.plugin = "win-overlay";
    scene.input.hns = (struct hns_version){10, 2};
    assert_refused(ERROR_UNSUPPORTED, "HNS 10.2 supports 4789 only");
    scene.input.hns = (struct hns_version){10, 3};
    assert_int_equal(scene_plan(&scene), 0);
    assert_true(scene.plan.set_vxlan_port);
    network_plan_free(&scene.plan);
    scene.input.vxlan_port = 65535;
    assert_int_equal(scene_plan(&scene), 0);
    scene.input.vxlan_port = 65536;
    assert_refused(ERROR_USAGE, "VXLAN port 65536 is not possible");
}

static void refused_prefixes(void **state) {
    (void)state;
    scene_open(&scene, "overlay");
    scene.input.pod_cidr = "10.244.1.0/30";
    assert_refused(ERROR_USAGE, "is too small");
    scene.input.pod_cidr = "10.244.1.0/33";
    assert_refused(ERROR_MALFORMED, "pod prefix of the node");
    scene.input.pod_cidr = "fd00::/64";
    assert_refused(ERROR_UNSUPPORTED, "IPv6");
    scene.input.pod_cidr = "10.96.3.0/24";
    assert_refused(ERROR_USAGE, "overlaps service prefix 10.96.0.0/12");
    scene.input.pod_cidr = "127.0.0.0/8";
    assert_refused(ERROR_USAGE,
                   "pod prefix of the node 127.0.0.0/8 overlaps 127.0.0.0/8, the loopback");
    scene.input.pod_cidr = "10.244.1.0/24";
    scene.input.management = "10.244.9.9/24";
    assert_refused(ERROR_USAGE,
                   "pod prefix 10.244.0.0/16 overlaps the node's network 10.244.9.0/24");
    scene.input.management = "fd00::21/64";
    assert_refused(ERROR_UNSUPPORTED, "management address 'fd00::21/64' is IPv6");
    scene.input.management = "10.0.0.21/33";
    assert_refused(ERROR_MALFORMED, "management address");
    scene.input.management = "10.100.0.1/16";
    assert_refused(ERROR_USAGE, "service prefix 10.96.0.0/12 overlaps the node's network");
    scene.input.management = "10.0.0.21/24";
    text_list_free(&scene.input.service_cidrs);
    assert_refused(ERROR_USAGE, "service prefixes are unknown");
    text_list_add(&scene.input.service_cidrs, "10.244.128.0/17");
    assert_refused(ERROR_USAGE, "overlaps service prefix 10.244.128.0/17");
}

static void too_many_prefixes(void **state) {
    (void)state;
    scene_open(&scene, "overlay");
    for (unsigned i = 0; i < 16; i++) {
        _cleanup_(freep) char *prefix = xasprintf("172.%u.0.0/16", 16 + i);
        text_list_add(&scene.input.exclude_from_nat, prefix);
    }
    assert_int_equal(scene_plan(&scene), 0);
    assert_int_equal(scene.plan.nat_exceptions.count, 18);
    network_plan_free(&scene.plan);
    text_list_add(&scene.input.exclude_from_nat, "172.32.0.0/16");
    assert_refused(ERROR_USAGE, "more than 16 prefixes");
    text_list_free(&scene.input.cluster_pod_cidrs);
    text_list_add(&scene.input.cluster_pod_cidrs, "fd00::/56");
    assert_refused(ERROR_UNSUPPORTED, "IPv6 only");
    network_plan_free(NULL);
}

static void no_room_for_the_base(void **state) {
    static const char *const taken[] = {"192.168.0.0/16", "172.16.0.0/12", "10.255.0.0/16",
                                        "198.18.0.0/15", "100.64.0.0/10"};
    (void)state;
    scene_open(&scene, "overlay");
    for (size_t i = 0; i < ARRAY_SIZE(taken); i++)
        text_list_add(&scene.input.cluster_pod_cidrs, taken[i]);
    assert_refused(ERROR_USAGE, "no free prefix for the base network");
}

static void refused_features(void **state) {
    (void)state;
    scene_open(&scene, "overlay");
    scene.input.hns = (struct hns_version){9, 2};
    scene.input.dsr = "on";
    assert_refused(ERROR_UNSUPPORTED, "DSR");
    scene.input.dsr = "maybe";
    assert_refused(ERROR_USAGE, "unknown DSR setting");
    scene.input.dsr = "auto";
    assert_int_equal(scene_plan(&scene), 0);
    assert_false(scene.plan.dsr);
    scene.input.dual_stack = "on";
    assert_refused(ERROR_UNSUPPORTED, "IPv4 only");
    scene.input.mode = "l2bridge";
    assert_refused(ERROR_UNSUPPORTED, "with network plugin 'win-bridge' a pod has one address");
    scene.input.dual_stack = "both";
    assert_refused(ERROR_USAGE, "unknown dual-stack setting");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(overlay, close_scene),
        cmocka_unit_test_teardown(l2bridge, close_scene),
        cmocka_unit_test_teardown(several_cluster_prefixes, close_scene),
        cmocka_unit_test_teardown(mode_follows_plugin, close_scene),
        cmocka_unit_test_teardown(unknown_pod_prefix, close_scene),
        cmocka_unit_test_teardown(smallest_prefix, close_scene),
        cmocka_unit_test_teardown(base_network_moves, close_scene),
        cmocka_unit_test_teardown(one_exception_a_base_address, close_scene),
        cmocka_unit_test_teardown(warnings, close_scene),
        cmocka_unit_test_teardown(refused_names, close_scene),
        cmocka_unit_test_teardown(refused_numbers, close_scene),
        cmocka_unit_test_teardown(refused_prefixes, close_scene),
        cmocka_unit_test_teardown(too_many_prefixes, close_scene),
        cmocka_unit_test_teardown(no_room_for_the_base, close_scene),
        cmocka_unit_test_teardown(refused_features, close_scene),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
