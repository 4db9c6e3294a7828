/* Dual stack: where it can be, and the plan, documents and routes of a network with both families.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "host/host.h"
#include "netsetup/netsetup.h"
#include "netsetup/hns/hcn_network.h"
#include "netsetup/modes/mode.h"
#include "netsetup/plan/network_plan.h"
#include "netsetup/routes/routes.h"
#include "node/chosen.h"
#include "tests/hns/hns.h"
#include "tests/memory/memory.h"
#include "tests/scene/network_scene.h"

static struct scene scene;

static int close_scene(void **state) {
    (void)state;
    scene_close(&scene);
    return 0;
}

/* A cluster of both families, and a node with an address of each. */
static void open_dual(const char *mode) {
    scene_open(&scene, mode);
    text_list_add(&scene.input.cluster_pod_cidrs, "fd00:10:244::/56");
    text_list_add(&scene.input.service_cidrs, "fd00:10:96::/112");
    scene.input.pod_cidr6 = "fd00:10:244:1::/64";
    scene.input.management6 = "fd00:200::21/64";
    scene.input.plugin = "sdnbridge";
}

static void plan_dual(void) {
    open_dual("l2bridge");
    if (scene_plan(&scene) < 0)
        fail_msg("%s", scene.err.message);
    assert_true(scene.plan.ipv6.on);
}

/* What stands against it, and the words that say so; NULL: nothing does. */
static const struct {
    const char *mode, *plugin, *dual_stack, *why;
    unsigned major, minor;
    bool single_cluster, single_adapter, single_node;
} choices[] = {
    {"l2bridge", "sdnbridge", "auto", NULL, 13, 2, false, false, false},
    {"l2bridge", "sdnbridge", "on", NULL, 11, 10, false, false, false},
    {"l2bridge", "sdnbridge", NULL, NULL, 0, 0, false, false, false}, /* before HNS is asked */
    {"l2bridge", "sdnbridge", "on", "HNS 9.5 does not support it", 9, 5, false, false, false},
    {"l2bridge", "sdnbridge", "on", "HNS 11.9", 11, 9, false, false, false},
    {"l2bridge", "win-bridge", "on", "'sdnbridge' gives it both", 13, 2, false, false, false},
    {"l2bridge", "flannel", "on", "with network plugin 'flannel'", 13, 2, false, false, false},
    {"l2tunnel", "win-bridge", "on", "in mode l2bridge only", 13, 2, false, false, false},
    {"overlay", "win-overlay", "on", "IPv4 only", 13, 2, false, false, false},
    {"l2bridge", "sdnbridge", "on", "the cluster has no IPv6", 13, 2, true, false, false},
    {"l2bridge", "sdnbridge", "on", "no IPv6 address that other nodes can reach", 13, 2, false,
     true, false},
    {"l2bridge", "sdnbridge", "on", "spec.podCIDRs", 13, 2, false, false, true},
};

static void choose(size_t i) {
    open_dual(choices[i].mode);
    scene.input.plugin = choices[i].plugin;
    scene.input.dual_stack = choices[i].dual_stack;
    scene.input.hns = (struct hns_version){choices[i].major, choices[i].minor};
    if (choices[i].single_adapter)
        scene.input.management6 = NULL;
    if (choices[i].single_node)
        scene.input.pod_cidr6 = NULL;
    if (!choices[i].single_cluster)
        return;
    text_list_free(&scene.input.cluster_pod_cidrs);
    text_list_add(&scene.input.cluster_pod_cidrs, "10.244.0.0/16");
}

static void where_it_can_be(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(choices); i++) {
        choose(i);
        int result = scene_plan(&scene);
        if (!choices[i].why) {
            if (result < 0)
                fail_msg("%zu: %s", i, scene.err.message);
            assert_true(scene.plan.ipv6.on);
            assert_int_equal(scene.plan.warning_count, 0);
            scene_close(&scene);
            continue;
        }
        assert_int_equal(result, -1);
        assert_int_equal(scene.err.kind, ERROR_UNSUPPORTED);
        if (!strstr(scene.err.message, choices[i].why))
            fail_msg("%zu: '%s' does not say '%s'", i, scene.err.message, choices[i].why);
        scene.input.dual_stack = "auto"; /* IPv4 alone, and a warning with the reason */
        scene.err = (struct error){0};
        assert_int_equal(scene_plan(&scene), 0);
        assert_false(scene.plan.ipv6.on);
        const struct network_warning *last = &scene.plan.warnings[scene.plan.warning_count - 1];
        assert_string_equal(last->code, "dual-stack-off");
        assert_non_null(strstr(last->message, choices[i].why));
        for (size_t k = 0; k < scene.plan.nat_exceptions.count; k++)
            assert_null(strchr(scene.plan.nat_exceptions.items[k], ':'));
        scene_close(&scene);
    }
}

/* In a cluster whose first family is IPv6, kubeadm's kube-dns has an address of that one alone. */
static void names_for_pods_without_ipv6(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) {
        open_dual("l2bridge");
        scene.input.plugin = i == 2 ? "sdnbridge" : "win-bridge";
        text_list_free(&scene.input.dns_servers);
        text_list_add(&scene.input.dns_servers, "fd00:10:96::a");
        if (i == 1)
            text_list_add(&scene.input.dns_servers, "10.96.0.10");
        assert_int_equal(scene_plan(&scene), 0);
        assert_int_equal(scene.plan.ipv6.on, i == 2);
        assert_int_equal(scene.plan.dns_servers.count, 1);
        assert_string_equal(scene.plan.dns_servers.items[0],
                            i == 1 ? "10.96.0.10" : "fd00:10:96::a");
        assert_int_equal(scene.plan.warning_count, 2 - (size_t)i);
        if (i == 0) {
            assert_string_equal(scene.plan.warnings[1].code, "dns-ipv6");
            assert_non_null(strstr(scene.plan.warnings[1].message, "DNS server fd00:10:96::a: "));
        }
        scene_close(&scene);
    }
}

/* Both families on a node in dual stack, the IPv4 server first. */
static void ipv4_servers_come_first(void **state) {
    (void)state;
    open_dual("l2bridge");
    text_list_free(&scene.input.dns_servers);
    text_list_add(&scene.input.dns_servers, "fd00:10:96::a");
    text_list_add(&scene.input.dns_servers, "10.96.0.10");
    assert_int_equal(scene_plan(&scene), 0);
    assert_true(scene.plan.ipv6.on);
    assert_int_equal(scene.plan.dns_servers.count, 2);
    assert_string_equal(scene.plan.dns_servers.items[0], "10.96.0.10");
    assert_string_equal(scene.plan.dns_servers.items[1], "fd00:10:96::a");
    assert_int_equal(scene.plan.warning_count, 0);
    scene_close(&scene);
}

static void off_is_off(void **state) {
    (void)state;
    open_dual("l2bridge");
    scene.input.dual_stack = "off";
    assert_int_equal(scene_plan(&scene), 0);
    assert_false(scene.plan.ipv6.on);
    assert_int_equal(scene.plan.warning_count, 0);
    scene.input.dual_stack = "both";
    assert_int_equal(scene_plan(&scene), -1);
    assert_int_equal(scene.err.kind, ERROR_USAGE);
}

static void addresses(void **state) {
    const struct network_ipv6 *ipv6 = &scene.plan.ipv6;
    (void)state;
    plan_dual();
    assert_string_equal(ipv6->pod_cidr, "fd00:10:244:1::/64");
    assert_string_equal(ipv6->gateway, "fd00:10:244:1::1");
    assert_string_equal(ipv6->host_endpoint, "fd00:10:244:1::2");
    assert_string_equal(ipv6->range_start, "fd00:10:244:1::3");
    assert_string_equal(ipv6->management_address, "fd00:200::21");
    assert_string_equal(ipv6->base_subnet, "192:168:255::/127");
    assert_string_equal(ipv6->base_gateway, "192:168:255::1");
    assert_true(text_list_has(&scene.plan.cluster_pod_cidrs, "fd00:10:244::/56"));
    assert_true(text_list_has(&scene.plan.nat_exceptions, "fd00:10:96::/112"));
    assert_true(text_list_has(&scene.plan.nat_exceptions, "fd00:200::/64"));
    assert_true(text_list_has(&scene.plan.encap_routes, "fd00:10:96::/112"));
    assert_true(text_list_has(&scene.plan.encap_routes, "fd00:200::21/128"));
}

static void wrong_prefixes(void **state) {
    static const struct {
        const char *pods, *says;
    } cases[] = {
        {"fd00:10:244:1::/121", "too small"},
        {"fd00:10:96::/64", "overlaps service prefix fd00:10:96::/112"},
        {"fd00:200::/64", "overlaps the node's network fd00:200::/64"},
        {"fe80::/64", "the link-local addresses"},
        {"::/0", "holds every address"},
        {"::ffff:10.244.1.0/120", "overlaps ::ffff:0:0/96, the IPv4-mapped addresses"},
        {"fd00::g/64", "pod prefix of the node"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        open_dual("l2bridge");
        scene.input.pod_cidr6 = cases[i].pods;
        assert_int_equal(scene_plan(&scene), -1);
        if (!strstr(scene.err.message, cases[i].says))
            fail_msg("%s: %s", cases[i].pods, scene.err.message);
        scene_close(&scene);
    }
    open_dual("l2bridge");
    scene.input.pod_cidr6 = "fd00:10:244:1::/120"; /* the smallest */
    assert_int_equal(scene_plan(&scene), 0);
    scene_close(&scene);
}

static void take_pods(struct text_list *pods, const char *first, const char *second) {
    text_list_add(pods, first);
    if (second)
        text_list_add(pods, second);
    network_input_pods(pods, &scene.input);
}

/* A Node's prefixes stand in the cluster's order, which may be IPv6 first. */
static void prefixes_of_a_node(void **state) {
    static const struct {
        const char *first, *second, *says; /* NULL: right */
        bool ipv6;
    } cases[] = {
        {"fd00:10:244:1::/64", "10.244.1.0/24", NULL, true},
        {"10.244.1.0/24", "fd00:10:244:1::/64", NULL, true},
        {"10.244.1.0/24", NULL, NULL, false},
        {"10.244.1.0/24", "10.244.2.0/24", NULL, false},
        {"fd00:10:244:1::/64", NULL, "'fd00:10:244:1::/64' is IPv6; Windows nodes need an IPv4 one",
         false},
        {"fd00:10:244:1::/64", "fd00:10:244:2::/64", "is IPv6; Windows nodes need", false},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_(text_list_free) struct text_list pods = {0};
        open_dual("l2bridge");
        take_pods(&pods, cases[i].first, cases[i].second);
        int result = scene_plan(&scene);
        if ((result == 0) != !cases[i].says ||
            (cases[i].says && !strstr(scene.err.message, cases[i].says)))
            fail_msg("%s: %s", cases[i].first, scene.err.message);
        if (result == 0) {
            assert_string_equal(scene.plan.pod_cidr, "10.244.1.0/24");
            assert_int_equal(scene.plan.ipv6.on, cases[i].ipv6);
        }
        scene_close(&scene);
    }
}

/* A cluster of IPv6 alone has no place for Windows. */
static void clusters_of_ipv6_alone(void **state) {
    struct text_list *const lists[] = {&scene.input.cluster_pod_cidrs, &scene.input.service_cidrs};
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
        open_dual("l2bridge");
        text_list_free(lists[i]);
        text_list_add(lists[i], "fd00:99::/108");
        assert_int_equal(scene_plan(&scene), -1);
        assert_int_equal(scene.err.kind, ERROR_UNSUPPORTED);
        assert_non_null(strstr(scene.err.message, "'fd00:99::/108' is IPv6 only"));
        scene_close(&scene);
    }
}

static void assert_text(const json_t *json, const char *path, const char *wanted) {
    const char *text = json_text_at(json, path);
    assert_string_equal(text ? text : "(none)", wanted);
}

static void documents(void **state) {
    (void)state;
    plan_dual();
    json_t *pods = hcn_pod_network_json(&scene.plan), *base = hcn_base_network_json(&scene.plan);
    json_t *endpoint = hcn_host_endpoint_json(&scene.plan, "id");
    assert_text(pods, "Ipams.0.Subnets.0.IpAddressPrefix", "10.244.1.0/24");
    assert_text(pods, "Ipams.0.Subnets.1.IpAddressPrefix", "fd00:10:244:1::/64");
    assert_text(pods, "Ipams.0.Subnets.1.Routes.0.NextHop", "fd00:10:244:1::1");
    assert_text(pods, "Ipams.0.Subnets.1.Routes.0.DestinationPrefix", "::/0");
    assert_text(base, "Ipams.0.Subnets.1.Routes.0.NextHop", "192:168:255::1");
    assert_text(endpoint, "IpConfigurations.1.IpAddress", "fd00:10:244:1::2");
    assert_int_equal(json_number_at(endpoint, "IpConfigurations.1.PrefixLength", 0), 64);
    json_decref(pods);
    json_decref(base);
    json_decref(endpoint);
}

/* As the example of its authors has it: example/l2bridgedualstack_host-local_ipam.conf. */
static void sdnbridge_file(void **state) {
    (void)state;
    plan_dual();
    json_t *cni = cni_config_json(&scene.plan);
    assert_text(cni, "type", "sdnbridge");
    assert_true(json_is_true(json_at(cni, "optionalFlags.enableDualStack")));
    assert_false(json_is_true(json_at(cni, "optionalFlags.forceBridgeGateway")));
    assert_text(cni, "ipam.ranges.0.0.gateway", "10.244.1.2");
    assert_text(cni, "ipam.ranges.0.0.rangeStart", "10.244.1.3");
    assert_text(cni, "ipam.ranges.1.0.subnet", "fd00:10:244:1::/64");
    assert_text(cni, "ipam.ranges.1.0.rangeStart", "fd00:10:244:1::3");
    assert_text(cni, "ipam.ranges.1.0.gateway", "fd00:10:244:1::2");
    assert_text(cni, "AdditionalArgs.0.Value.Settings.Exceptions.0", "10.244.0.0/16");
    assert_text(cni, "AdditionalArgs.1.Value.Type", "OutBoundNAT");
    assert_text(cni, "AdditionalArgs.1.Value.Settings.Exceptions.0", "fd00:10:244::/56");
    json_decref(cni);
}

static void before_the_prefix_is_known(void **state) {
    (void)state;
    open_dual("l2bridge");
    scene.input.pod_cidr = scene.input.pod_cidr6 = NULL;
    assert_int_equal(scene_plan(&scene), 0);
    json_t *pods = hcn_pod_network_json(&scene.plan);
    json_t *endpoint = hcn_host_endpoint_json(&scene.plan, "id");
    assert_text(pods, "Ipams.0.Subnets.1.IpAddressPrefix", "<podCIDR>");
    assert_text(pods, "Ipams.0.Subnets.1.Routes.0.NextHop", "<podCIDR>");
    assert_text(endpoint, "IpConfigurations.1.PrefixLength", "<podCIDR>");
    json_decref(pods);
    json_decref(endpoint);
}

/* What the plan says is a right network for HNS, and is found again, unless HNS is too old. */
static void hns_takes_them(void **state) {
    static const char query[] = "{\"SchemaVersion\":{\"Major\":2,\"Minor\":0}}";
    (void)state;
    plan_dual();
    for (unsigned minor = 9; minor <= 10; minor++) {
        const struct hns_model_options options = {.major = 11, .minor = minor};
        struct hns_model *model = hns_model_new(&options);
        json_t *document = hcn_pod_network_json(&scene.plan);
        char *text = json_write(document);
        const char *create[] = {"00000000-0000-0000-0000-000000000000", text};
        struct hns_answer answer;
        struct hcn_network wanted = {0}, found = {0};
        assert_int_equal(hns_model_call(model, "HcnCreateNetwork", create, 2, &answer),
                         minor == 10 ? 0 : 0x80070032);
        if (minor == 10) {
            char *handle = xstrdup(answer.out[0]);
            const char *ask[] = {handle, query};
            json_t *made = NULL;
            hns_answer_free(&answer);
            assert_int_equal(hns_model_call(model, "HcnQueryNetworkProperties", ask, 2, &answer),
                             0);
            assert_int_equal(hcn_network_parse(document, &wanted, NULL), 0);
            assert_int_equal(
                json_read(answer.out[0], strlen(answer.out[0]), "HNS network", &made, NULL), 0);
            assert_int_equal(hcn_network_parse(made, &found, NULL), 0);
            json_decref(made);
            assert_string_equal(found.subnet6, "fd00:10:244:1::/64");
            assert_string_equal(found.subnet6, wanted.subnet6);
            assert_string_equal(found.gateway6, wanted.gateway6);
            free(handle);
        }
        hns_answer_free(&answer);
        free(text);
        json_decref(document);
        hns_model_free(model);
    }
}

/* HNS may write addresses in another way than winjoin does. */
static void another_spelling_is_the_same(void **state) {
    struct hcn_network network = {0};
    (void)state;
    json_t *json = json_pack("{s:s, s:s, s:[{s:[{s:s},{s:s,s:[{s:s,s:s}]}]}]}", "ID", "x", "Name",
                             "cbr0", "Ipams", "Subnets", "IpAddressPrefix", "10.244.1.0/24",
                             "IpAddressPrefix", "FD00:0010:0244:0001:0:0:0:0/64", "Routes",
                             "NextHop", "fd00:10:244:1:0:0:0:1", "DestinationPrefix", "::/0");
    assert_int_equal(hcn_network_parse(json, &network, NULL), 0);
    assert_string_equal(network.subnet6, "fd00:10:244:1::/64");
    assert_string_equal(network.gateway6, "fd00:10:244:1::1");
    json_decref(json);
}

static bool forwards(struct host *host, const char *address, int family) {
    uint32_t index;
    bool on = false;

    assert_int_equal(nic_index_of(host, address, &index, NULL), 0);
    assert_int_equal(host_forwarding(host, index, family, &on, NULL), 0);
    return on;
}

/* The node hands on packets of both families, and does so again where somebody has ended that. */
static void the_node_forwards_both(void **state) {
    static const struct {
        const char *address;
        int family;
    } interfaces[] = {
        {"10.0.0.21", 4}, {"10.244.1.2", 4}, {"fd00:200::21", 6}, {"fd00:10:244:1::2", 6}};
    struct host *host = host_memory_new();
    struct host_adapters adapters = {0};
    struct nic_snapshot snapshot = {0};
    struct nic_restored guarded = {0};
    struct hcn_network network = {0};
    struct error err = {0};

    (void)state;
    plan_dual();
    assert_int_equal(nic_choose(host, NULL, NULL, &snapshot, NULL), 0);
    assert_int_equal(nic_guard_ensure(host, &scene.plan, &snapshot, NULL, NULL, &guarded, NULL), 0);
    assert_int_equal(host_adapters(host, &adapters, NULL), 0);
    for (size_t i = 0; i < adapters.count; i++)
        if (text_list_has(&adapters.items[i].addresses, "10.0.0.21/24")) {
            text_list_add(&adapters.items[i].addresses, "fd00:200::21/64");
            text_list_add(&adapters.items[i].addresses, "fd00:10:244:1::2/64");
        }
    host_memory_set_adapters(host, &adapters);
    host_adapters_free(&adapters);
    if (hcn_pod_network_ensure(host, &scene.plan, &network, NULL, &err) < 0)
        fail_msg("%s", err.message);
    for (size_t i = 0; i < ARRAY_SIZE(interfaces); i++) {
        const char *address = interfaces[i].address;
        int family = interfaces[i].family;
        enum hcn_outcome outcome = HCN_CREATED;
        uint32_t index;

        assert_true(forwards(host, address, family));
        assert_int_equal(nic_index_of(host, address, &index, NULL), 0);
        assert_int_equal(host_forwarding_set(host, index, family, false, NULL), 0);
        if (hcn_pod_network_ensure(host, &scene.plan, &network, &outcome, &err) < 0)
            fail_msg("%s", err.message);
        assert_int_equal(outcome, HCN_REUSED);
        assert_true(forwards(host, address, family));
    }
    nic_snapshot_free(&snapshot);
    host_free(host);
}

/* In the order that an IPv6-first cluster has them, too. */
static void routes_of_both_families(void **state) {
    static const char nodes[] =
        "{\"items\":[{\"metadata\":{\"name\":\"win-1\"}},"
        "{\"metadata\":{\"name\":\"w2\"},\"spec\":{\"podCIDR\":\"fd00:10:244:2::/64\","
        "\"podCIDRs\":[\"fd00:10:244:2::/64\",\"10.244.2.0/24\"]},\"status\":{\"addresses\":["
        "{\"type\":\"Hostname\",\"address\":\"w2\"},"
        "{\"type\":\"InternalIP\",\"address\":\"fd00:200::22\"},"
        "{\"type\":\"InternalIP\",\"address\":\"10.0.0.22\"}]}},"
        "{\"metadata\":{\"name\":\"v4\"},\"spec\":{\"podCIDR\":\"10.244.3.0/24\"},\"status\":"
        "{\"addresses\":[{\"type\":\"InternalIP\",\"address\":\"10.0.0.23\"}]}}]}";
    json_t *list = json_loads(nodes, 0, NULL);
    (void)state;
    plan_dual();
    json_t *routes = node_routes_of_nodes(&scene.plan, list, "win-1");
    char *text = json_write(routes);
    assert_string_equal(text,
                        "[{\"podCIDR\":\"10.244.2.0/24\",\"nodeAddress\":\"10.0.0.22\"},"
                        "{\"podCIDR\":\"fd00:10:244:2::/64\",\"nodeAddress\":\"fd00:200::22\"},"
                        "{\"podCIDR\":\"10.244.3.0/24\",\"nodeAddress\":\"10.0.0.23\"}]");
    free(text);
    json_decref(routes);
    scene.plan.ipv6.on = false;
    routes = node_routes_of_nodes(&scene.plan, list, "win-1");
    assert_int_equal(json_array_size(routes), 2);
    json_decref(routes);
    json_decref(list);
}

static void remembered_for_the_boot(void **state) {
    struct chosen again = {0};
    (void)state;
    open_dual("l2bridge");
    json_t *json = chosen_json(&(struct chosen){.node = "win-7k2", .network = scene.input});
    assert_int_equal(chosen_read(json, &again, NULL), 0);
    assert_string_equal(again.network.pod_cidr6, scene.input.pod_cidr6);
    assert_string_equal(again.network.management6, scene.input.management6);
    chosen_free(&again);
    json_decref(json);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(where_it_can_be),
        cmocka_unit_test_teardown(names_for_pods_without_ipv6, close_scene),
        cmocka_unit_test_teardown(ipv4_servers_come_first, close_scene),
        cmocka_unit_test_teardown(off_is_off, close_scene),
        cmocka_unit_test_teardown(addresses, close_scene),
        cmocka_unit_test(wrong_prefixes),
        cmocka_unit_test(prefixes_of_a_node),
        cmocka_unit_test(clusters_of_ipv6_alone),
        cmocka_unit_test_teardown(documents, close_scene),
        cmocka_unit_test_teardown(sdnbridge_file, close_scene),
        cmocka_unit_test_teardown(before_the_prefix_is_known, close_scene),
        cmocka_unit_test_teardown(hns_takes_them, close_scene),
        cmocka_unit_test(another_spelling_is_the_same),
        cmocka_unit_test_teardown(the_node_forwards_both, close_scene),
        cmocka_unit_test_teardown(routes_of_both_families, close_scene),
        cmocka_unit_test_teardown(remembered_for_the_boot, close_scene),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
