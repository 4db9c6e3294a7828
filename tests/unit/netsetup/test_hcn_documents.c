/* HCN documents and the CNI file, against the texts that upstream tools send and read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "netsetup/netsetup.h"
#include "netsetup/hns/hcn_network.h"
#include "netsetup/hns/hns_features.h"
#include "tests/scene/network_scene.h"

#define V2 "{\"SchemaVersion\":{\"Major\":2,\"Minor\":0},"
#define ON_ETHERNET                                                                                \
    "\"Policies\":[{\"Type\":\"NetAdapterName\",\"Settings\":{\"NetworkAdapterName\":"             \
    "\"Ethernet\"}}],"
#define ROUTE(hop) "\"Routes\":[{\"NextHop\":\"" hop "\",\"DestinationPrefix\":\"0.0.0.0/0\"}]"
#define IPAMS(prefix, policies, hop)                                                               \
    "\"Ipams\":[{\"Type\":\"Static\",\"Subnets\":[{\"IpAddressPrefix\":\"" prefix "\"," policies   \
    ROUTE(hop) "}]}]}"
#define VSID(n) "\"Policies\":[{\"Type\":\"VSID\",\"Settings\":{\"IsolationId\":" n "}}],"

static struct scene scene;

static int close_scene(void **state) {
    (void)state;
    scene_close(&scene);
    return 0;
}

static void open_plan(const char *mode) {
    scene_open(&scene, mode);
    assert_int_equal(scene_plan(&scene), 0);
}

/* Steals the document. */
static void assert_document(json_t *json, const char *expected) {
    assert_non_null(json);
    char *text = json_write(json);
    json_decref(json);
    assert_string_equal(text, expected);
    free(text);
}

static void l2bridge_network(void **state) {
    (void)state;
    open_plan("l2bridge");
    assert_document(
        hcn_pod_network_json(&scene.plan),
        V2 "\"Owner\":\"winjoin\",\"Name\":\"cbr0\",\"Type\":\"L2Bridge\"," ON_ETHERNET IPAMS(
            "10.244.1.0/24", "", "10.244.1.1"));
    assert_document(hcn_network_policies_json(&scene.plan), "[]");
    assert_document(
        hcn_base_network_json(&scene.plan),
        V2 "\"Owner\":\"winjoin\",\"Name\":\"External\",\"Type\":\"L2Bridge\"," ON_ETHERNET IPAMS(
            "192.168.255.0/30", "", "192.168.255.1"));
}

static void overlay_network(void **state) {
    (void)state;
    open_plan("overlay");
    assert_document(hcn_pod_network_json(&scene.plan), V2
                    "\"Owner\":\"winjoin\",\"Name\":\"flannel.4096\",\"Type\":\"Overlay\","
                    "\"Flags\":8," ON_ETHERNET IPAMS("10.244.1.0/24", VSID("4096"), "10.244.1.1"));
    assert_document(hcn_network_policies_json(&scene.plan),
                    "[{\"Type\":\"HostRoute\",\"Settings\":{}}]");
    assert_document(
        hcn_base_network_json(&scene.plan),
        V2 "\"Owner\":\"winjoin\",\"Name\":\"External\",\"Type\":\"Overlay\"," ON_ETHERNET IPAMS(
            "192.168.255.0/30", VSID("9999"), "192.168.255.1"));
}

static void vxlan_port(void **state) {
    (void)state;
    scene_open(&scene, "overlay");
    scene.input.vxlan_port = 9898;
    scene.input.adapter = NULL;
    assert_int_equal(scene_plan(&scene), 0);
    assert_document(hcn_pod_network_json(&scene.plan),
                    V2 "\"Owner\":\"winjoin\",\"Name\":\"flannel.4096\",\"Type\":\"Overlay\","
                       "\"Flags\":8,\"Policies\":[{\"Type\":\"VxlanPort\",\"Settings\":{\"Port\":"
                       "9898}}]," IPAMS("10.244.1.0/24", VSID("4096"), "10.244.1.1"));
}

static void unknown_prefix(void **state) {
    (void)state;
    scene_open(&scene, "l2bridge");
    scene.input.pod_cidr = NULL;
    assert_int_equal(scene_plan(&scene), 0);
    assert_document(
        hcn_pod_network_json(&scene.plan),
        V2 "\"Owner\":\"winjoin\",\"Name\":\"cbr0\",\"Type\":\"L2Bridge\"," ON_ETHERNET IPAMS(
            "<podCIDR>", "", "<podCIDR>"));
}

/* A bridge in all but its type. */
static void l2tunnel_network(void **state) {
    (void)state;
    open_plan("l2tunnel");
    assert_document(
        hcn_pod_network_json(&scene.plan),
        V2 "\"Owner\":\"winjoin\",\"Name\":\"cbr0\",\"Type\":\"L2Tunnel\"," ON_ETHERNET IPAMS(
            "10.244.1.0/24", "", "10.244.1.1"));
    assert_string_equal(scene.plan.cni_plugin, "win-bridge");
    assert_string_equal(scene.plan.host_endpoint, "10.244.1.2");
}

static void host_endpoint(void **state) {
    (void)state;
    open_plan("l2bridge");
    assert_document(hcn_host_endpoint_json(&scene.plan, "0A0B"), V2
                    "\"Owner\":\"winjoin\",\"Name\":\"cbr0_ep\",\"HostComputeNetwork\":\"0A0B\","
                    "\"IpConfigurations\":[{\"IpAddress\":\"10.244.1.2\",\"PrefixLength\":24}]}");
    assert_document(hcn_host_attach_json(), "{\"SystemType\":\"Host\",\"CompartmentId\":1}");
}

static void requests(void **state) {
    const struct network_peer peer = {
        .pod_cidr = "10.244.2.0/24", .address = "10.200.0.21", .router_mac = "aa:bb:cc:00:00:01"};
    (void)state;
    open_plan("overlay");
    assert_document(
        hcn_modify_policy_json(true, scene.plan.mode->route_to(&scene.plan, &peer)),
        "{\"ResourceType\":\"Policy\",\"RequestType\":\"Add\",\"Settings\":{\"Policies\":[{"
        "\"Type\":\"RemoteSubnetRoute\",\"Settings\":{\"DestinationPrefix\":\"10.244.2.0/24\","
        "\"IsolationId\":4096,\"ProviderAddress\":\"10.200.0.21\","
        "\"DistributedRouterMacAddress\":\"aa:bb:cc:00:00:01\"}}]}}");
    assert_document(hcn_modify_policy_json(false, hcn_policy_json("HostRoute", NULL)),
                    "{\"ResourceType\":\"Policy\",\"RequestType\":\"Remove\",\"Settings\":{"
                    "\"Policies\":[{\"Type\":\"HostRoute\",\"Settings\":{}}]}}");
    assert_document(hcn_query_json("Name", "a\"b"),
                    V2 "\"Filter\":\"{\\\"Name\\\":\\\"a\\\\\\\"b\\\"}\"}");
}

#define CNI_HEAD(type, name)                                                                       \
    "{\"cniVersion\":\"1.0.0\",\"name\":\"" name "\",\"type\":\"" type "\",\"apiVersion\":2,"      \
    "\"capabilities\":{\"dns\":true,\"portMappings\":true},"
#define CNI_DNS "\"dns\":{\"nameservers\":[\"10.96.0.10\"],\"search\":[\"svc.cluster.local\"]},"
#define CNI_IPAM                                                                                   \
    "\"ipam\":{\"type\":\"host-local\",\"dataDir\":\"C:\\\\var\\\\lib\\\\cni\\\\networks\","       \
    "\"ranges\":[[{\"subnet\":\"10.244.1.0/24\",\"rangeStart\":\"10.244.1.3\",\"rangeEnd\":"       \
    "\"10.244.1.254\",\"gateway\":\"10.244.1.1\"}]]},"
#define CNI_POLICY(type, settings)                                                                 \
    "{\"name\":\"EndpointPolicy\",\"value\":{\"Type\":\"" type "\",\"Settings\":" settings "}}"
#define CNI_ROUTE(prefix)                                                                          \
    CNI_POLICY("SDNRoute", "{\"DestinationPrefix\":\"" prefix "\",\"NeedEncap\":true}")

#define CNI_NAT(list) CNI_POLICY("OutBoundNAT", "{\"Exceptions\":[" list "]}")
#define OVERLAY_NAT CNI_NAT("\"10.244.0.0/16\",\"10.96.0.0/12\"")
#define BRIDGE_NAT CNI_NAT("\"10.244.0.0/16\",\"10.96.0.0/12\",\"10.0.0.0/24\"")
#define OVERLAY_POLICIES OVERLAY_NAT "," CNI_ROUTE("10.96.0.0/12")
#define BRIDGE_POLICIES BRIDGE_NAT "," CNI_ROUTE("10.96.0.0/12") "," CNI_ROUTE("10.0.0.21/32")

static void cni_overlay(void **state) {
    static const char expected[] =
        CNI_HEAD("win-overlay", "flannel.4096") "\"loopbackDSR\":true," CNI_DNS CNI_IPAM
                                                "\"policies\":[" OVERLAY_POLICIES "]}";
    (void)state;
    open_plan("overlay");
    assert_document(cni_config_json(&scene.plan), expected);
}

static void cni_bridge(void **state) {
    static const char expected[] =
        CNI_HEAD("win-bridge", "cbr0") CNI_DNS CNI_IPAM "\"policies\":[" BRIDGE_POLICIES "]}";
    (void)state;
    scene_open(&scene, "l2bridge");
    scene.input.dsr = "off";
    assert_int_equal(scene_plan(&scene), 0);
    assert_document(cni_config_json(&scene.plan), expected);
    _cleanup_json_ json_t *config = cni_config_json(&scene.plan);
    char *text = json_write_pretty(config);
    assert_int_equal(strncmp(text, "{\n  \"cniVersion\": \"1.0.0\",\n", 27), 0);
    free(text);
}

static void plan_document(void **state) {
    (void)state;
    open_plan("overlay");
    json_t *json = network_plan_json(&scene.plan);
    assert_string_equal(json_text_at(json, "mode"), "overlay");
    assert_string_equal(json_text_at(json, "documents.0.call"), "HcnCreateNetwork");
    assert_string_equal(json_text_at(json, "documents.0.body.Name"), "External");
    assert_string_equal(json_text_at(json, "documents.1.body.Name"), "flannel.4096");
    assert_string_equal(json_text_at(json, "documents.2.call"), "HcnModifyNetwork");
    assert_string_equal(json_text_at(json, "cni.0.path"), "C:\\etc\\cni\\net.d\\10-winjoin.conf");
    assert_string_equal(json_text_at(json, "firewall.0.name"), "winjoin kubelet");
    assert_int_equal(json_number_at(json, "firewall.1.port", 0), 4789);
    assert_string_equal(json_text_at(json, "firewall.1.protocol"), "UDP");
    assert_string_equal(json_text_at(json, "natExceptions.1"), "10.96.0.0/12");
    assert_string_equal(json_text_at(json, "sourceVip"), "10.244.1.2");
    assert_string_equal(json_text_at(json, "warnings.0.code"), "no-route-agent");
    json_decref(json);
}

struct gate {
    enum hns_feature feature;
    struct hns_version version;
    bool has;
};

static void features(void **state) {
    static const struct gate gates[] = {
        {HNS_V2_API, {9, 1}, false},
        {HNS_V2_API, {9, 2}, true},
        {HNS_V2_API, {0, 0}, false},
        {HNS_DSR, {9, 2}, false},
        {HNS_DSR, {9, 5}, true},
        {HNS_DSR, {10, 1}, false},
        {HNS_DSR, {10, 2}, true},
        {HNS_DSR, {13, 2}, true},
        {HNS_VXLAN_PORT, {10, 2}, false},
        {HNS_VXLAN_PORT, {10, 3}, true},
        {HNS_DUAL_STACK, {11, 9}, false},
        {HNS_DUAL_STACK, {11, 10}, true},
        {HNS_L4_PROXY, {11, 10}, false},
        {HNS_L4_PROXY, {12, 1}, true},
        {HNS_L4_PROXY, {13, 0}, false},
        {HNS_L4_PROXY, {13, 1}, true},
        {HNS_SESSION_AFFINITY, {11, 99}, false},
        {HNS_SESSION_AFFINITY, {12, 0}, true},
        {HNS_SLASH32_ENDPOINTS, {10, 3}, false},
        {HNS_SLASH32_ENDPOINTS, {10, 4}, true},
        {HNS_SET_POLICY, {12, 99}, false},
        {HNS_SET_POLICY, {13, 0}, true},
        {HNS_L4_WFP_PROXY, {13, 1}, false},
        {HNS_L4_WFP_PROXY, {13, 2}, true},
        {HNS_TIER_ACL, {13, 9}, false},
        {HNS_TIER_ACL, {14, 0}, true},
        {HNS_NETWORK_ACL, {14, 9}, false},
        {HNS_NETWORK_ACL, {15, 0}, true},
        {HNS_DISABLE_HOST_PORT, {15, 0}, false},
        {HNS_DISABLE_HOST_PORT, {15, 1}, true},
        {HNS_ACL_PROTOCOL_252, {10, 9}, false},
        {HNS_ACL_PROTOCOL_252, {11, 0}, true},
        {HNS_MODIFY_LOAD_BALANCER, {15, 4}, false},
        {HNS_MODIFY_LOAD_BALANCER, {15, 5}, true},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(gates); i++) {
        if (hns_has(gates[i].version, gates[i].feature) != gates[i].has)
            fail_msg("%s at %u.%u", hns_features[gates[i].feature].name, gates[i].version.major,
                     gates[i].version.minor);
    }
    json_t *json = hns_features_json((struct hns_version){9, 5});
    assert_int_equal(json_array_size(json), HNS_FEATURE_COUNT);
    assert_string_equal(json_text_at(json, "1.name"), "dsr");
    assert_true(json_bool_at(json, "1.available", false));
    assert_false(json_bool_at(json, "3.available", true));
    assert_string_equal(json_text_at(json, "3.reason"), "HNS 9.5; needs HNS 10.3");
    json_decref(json);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(l2bridge_network, close_scene),
        cmocka_unit_test_teardown(l2tunnel_network, close_scene),
        cmocka_unit_test_teardown(overlay_network, close_scene),
        cmocka_unit_test_teardown(vxlan_port, close_scene),
        cmocka_unit_test_teardown(unknown_prefix, close_scene),
        cmocka_unit_test_teardown(host_endpoint, close_scene),
        cmocka_unit_test_teardown(requests, close_scene),
        cmocka_unit_test_teardown(cni_overlay, close_scene),
        cmocka_unit_test_teardown(cni_bridge, close_scene),
        cmocka_unit_test_teardown(plan_document, close_scene),
        cmocka_unit_test(features),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
