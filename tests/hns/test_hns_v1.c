/* The HNS model's version 1 interface (HNSCall) and the compute systems that its callers use. */
#include "tests/scene/hns_case.h"

#define HOST_GW                                                                                    \
    "{\"Name\":\"cbr0\",\"Type\":\"L2Bridge\",\"Subnets\":[{\"AddressPrefix\":\"10.244.1.0/24\","  \
    "\"GatewayAddress\":\"10.244.1.1\"}]}"

static json_t *envelope;

/* The answer's Output; the envelope says Success. */
static json_t *good(struct hns_model *m, const char *method, const char *path,
                    const char *request) {
    assert_int_equal(call(m, "HNSCall", method, path, request), 0);
    json_decref(envelope);
    envelope = json_loads(answer.out[0], 0, NULL);
    if (!json_is_true(json_object_get(envelope, "Success")))
        fail_msg("%s %s: %s", method, path, answer.out[0]);
    return json_object_get(envelope, "Output");
}

static void bad(struct hns_model *m, const char *method, const char *path, const char *request,
                unsigned code, const char *says) {
    assert_fails(call(m, "HNSCall", method, path, request), code, says);
    assert_says("\"Success\":false");
}

static int end(void **state) {
    json_decref(envelope);
    envelope = NULL;
    return teardown(state);
}

/* "/networks/<id>" and the like. */
static const char *path_of(const char *folder, const json_t *object, const char *rest) {
    static char path[128];

    (void)snprintf(path, sizeof(path), "/%s/%s%s", folder, text_of(object, "ID"), rest);
    return path;
}

static void test_version(void **state) {
    json_t *v;

    set_version(*state, 9, 5);
    v = good(*state, "GET", "/globals/version", "");
    assert_int_equal(json_integer_value(json_object_get(v, "Major")), 9);
    assert_int_equal(json_integer_value(json_object_get(v, "Minor")), 5);
}

static void test_network_as_flannel_makes_it(void **state) {
    json_t *net = json_incref(good(*state, "POST", "/networks/", HOST_GW)), *again;

    assert_string_equal(text_of(net, "Type"), "L2Bridge");
    assert_string_equal(text_of(net, "ManagementIP"), "10.200.0.11");
    assert_string_equal(text_of(net, "SourceMac"), "00-15-5D-00-00-01");
    again = good(*state, "GET", path_of("networks", net, ""), "");
    assert_true(json_equal(net, again));
    assert_string_equal(
        text_of(json_array_get(json_object_get(again, "Subnets"), 0), "GatewayAddress"),
        "10.244.1.1");
    assert_int_equal(json_array_size(good(*state, "GET", "/networks/", "")), 1);
    good(*state, "DELETE", path_of("networks", net, ""), "");
    bad(*state, "GET", path_of("networks", net, ""), "", 0x803b0001, "The network was not found.");
    json_decref(net);
}

static void test_both_versions_show_the_same_network(void **state) {
    json_t *net;
    char *handle = make_network(*state, OVERLAY);

    net = json_array_get(good(*state, "GET", "/networks/", ""), 0);
    assert_string_equal(text_of(net, "Type"), "Overlay");
    assert_string_equal(text_of(net, "NetworkAdapterName"), "Ethernet");
    assert_int_equal(
        json_integer_value(json_object_get(
            json_array_get(
                json_object_get(json_array_get(json_object_get(net, "Subnets"), 0), "Policies"), 0),
            "VSID")),
        4096);
    free(handle);
    good(*state, "DELETE", path_of("networks", net, ""), "");
    good(*state, "POST", "/networks/",
         "{\"Name\":\"External\",\"Type\":\"overlay\",\"NetworkAdapterName\":\"Ethernet\"," /**/
         "\"Subnets\":[{\"AddressPrefix\":\"192.168.255.0/30\",\"GatewayAddress\":"         /**/
         "\"192.168.255.1\",\"Policies\":[{\"Type\":\"VSID\",\"VSID\":9999}]}]}");
    assert_int_equal(call(*state, "HcnEnumerateNetworks",
                          "{" V2 ",\"Filter\":\"{\\\"Name\\\":\\\"External\\\"}\"}", NULL, NULL),
                     0);
    assert_int_equal(strlen(answer.out[0]), 40); /* ["<id>"] */
}

/* What Antrea's agent sends (antrea-io/antrea pkg/agent/util/net_windows.go). */
static void test_network_as_antrea_makes_it(void **state) {
    static const char extension[] =
        "{\"Extensions\":[{\"Id\":"
        "\"583CC151-73EC-4A6A-8B47-578297AD7623\",\"IsEnabled\":true}]}";
    json_t *net = json_incref(
        good(*state, "POST", "/networks/",
             "{\"Name\":\"antrea-hnsnetwork\",\"Type\":\"Transparent\",\"NetworkAdapterName\":"
             "\"Ethernet\",\"SourceMac\":\"00:15:5d:00:00:01\",\"Subnets\":[{\"AddressPrefix\":"
             "\"10.244.1.0/24\",\"GatewayAddress\":\"10.244.1.1\"}],"
             "\"ManagementIP\":\"10.200.0.11/24\"}"));
    json_t *shown;

    assert_string_equal(text_of(net, "ManagementIP"), "10.200.0.11");
    assert_string_equal(text_of(net, "SourceMac"), "00:15:5d:00:00:01");
    for (int again = 0; again < 2; again++) {
        shown = good(*state, "POST", path_of("networks", net, ""), extension);
        assert_int_equal(json_array_size(json_object_get(shown, "Extensions")), 1);
    }
    shown = good(*state, "GET", path_of("networks", net, ""), "");
    shown = json_array_get(json_object_get(shown, "Extensions"), 0);
    assert_string_equal(text_of(shown, "Id"), "583cc151-73ec-4a6a-8b47-578297ad7623");
    assert_true(json_is_true(json_object_get(shown, "IsEnabled")));
    bad(*state, "POST", path_of("networks", net, ""), "{\"Subnets\":[]}", 0x803b001b, "Subnets");
    json_decref(net);
}

#define V1_NETWORK(type, rest) "{\"Name\":\"n\",\"Type\":\"" type "\"" rest "}"
#define V1_SUBNET(rest)                                                                            \
    ",\"Subnets\":[{\"AddressPrefix\":\"10.0.0.0/24\",\"GatewayAddress\":\"10.0.0.1\"" rest "}]"
#define V1_VSID(n) ",\"Policies\":[{\"Type\":\"VSID\",\"VSID\":" n "}]"

static void test_network_refusals(void **state) {
    static const struct hns_case cases[] = {
        {"{", 0x803b001b, "JSON"},
        {V1_NETWORK("L2Bridge", ",\"Ipams\":[]"), 0x803b001b, "Ipams: unknown member"},
        {"{\"Type\":\"L2Bridge\"}", 0x80070057, "Name: is required"},
        {V1_NETWORK("Bridge", ""), 0x803b000b, "'Bridge'"},
        {V1_NETWORK("L2Bridge", ",\"NetworkAdapterName\":\"x\"" V1_SUBNET("")), 0x803b0006, "'x'"},
        {V1_NETWORK("Overlay", V1_SUBNET("")), 0x803b000d, "VSID"},
        {V1_NETWORK("Overlay", V1_SUBNET(V1_VSID("1"))), 0x80070057, "IsolationId: 1"},
    };

    for (size_t i = 0; i < COUNT(cases); i++)
        bad(*state, "POST", "/networks/", cases[i].document, cases[i].hresult, cases[i].says);
    bad(*state, "GET", "/network/", "", 0x80070490, "no such path");
    bad(*state, "PUT", "/networks/", "", 0x803b0015, "PUT");
    bad(*state, "DELETE", "/networks/", "", 0x803b0015, "DELETE");
    bad(*state, "POST", "/networks/" NOBODY, "{}", 0x803b0001, NOBODY);
    bad(*state, "POST", "/policylists/" NOBODY, "{}", 0x803b0015, "POST");
    bad(*state, "POST", "/networks/" NOBODY "/attach", "{}", 0x80070490, "Element not found.");
    bad(*state, "POST", "/globals/version", "", 0x80070490, "no such path");
    bad(*state, "GET", "/a/b/c/d", "", 0x80070490, "no such path");
}

/* Makes cbr0 and an endpoint in it; borrowed until the next call. */
static json_t *post_endpoint(struct hns_model *m, const char *rest) {
    json_t *net = good(m, "POST", "/networks/", HOST_GW);
    char request[1024];

    (void)snprintf(request, sizeof(request), "{\"Name\":\"e\",\"VirtualNetwork\":\"%s\"%s}",
                   text_of(net, "ID"), rest);
    return good(m, "POST", "/endpoints/", request);
}

static void test_endpoint_as_win_bridge_makes_it(void **state) {
    json_t *e = post_endpoint(
        *state,
        ",\"IPAddress\":\"10.244.1.5\",\"DNSSuffix\":\"a.b,b\",\"DNSServerList\":\"10.96.0."
        "10\","                                                                           /**/
        "\"GatewayAddress\":\"10.244.1.2\",\"Policies\":["                                /**/
        "{\"Type\":\"OutBoundNAT\",\"ExceptionList\":[\"10.244.0.0/16\"]},"               /**/
        "{\"Type\":\"ROUTE\",\"DestinationPrefix\":\"10.96.0.0/12\",\"NeedEncap\":true}," /**/
        "{\"Type\":\"NAT\",\"InternalPort\":80,\"ExternalPort\":8080,\"Protocol\":\"tcp\"}]");
    json_t *v2, *all;

    assert_string_equal(text_of(e, "IPAddress"), "10.244.1.5");
    assert_int_equal(json_integer_value(json_object_get(e, "PrefixLength")), 24);
    assert_string_equal(text_of(e, "DNSSuffix"), "a.b,b");
    assert_string_equal(text_of(e, "DNSServerList"), "10.96.0.10");
    assert_string_equal(text_of(e, "VirtualNetworkName"), "cbr0");
    assert_string_equal(text_of(json_array_get(json_object_get(e, "Policies"), 2), "Protocol"),
                        "TCP");
    assert_non_null(
        json_object_get(json_array_get(json_object_get(e, "Policies"), 0), "ExceptionList"));
    v2 = state_of(*state, "endpoints", 0, &all);
    assert_string_equal(text_of(json_array_get(json_object_get(v2, "Policies"), 1), "Type"),
                        "SDNRoute");
    assert_string_equal(text_of(json_array_get(json_object_get(v2, "Routes"), 0), "NextHop"),
                        "10.244.1.2");
    json_decref(all);
}

static void test_policies_that_version_1_says_otherwise(void **state) {
    json_t *e = post_endpoint(
        *state,
        ",\"Policies\":["
        "{\"Type\":\"ACL\",\"Id\":\"a\",\"Protocol\":17,\"Action\":\"Block\",\"Direction\":\"In\","
        "\"LocalPort\":53,\"InternalPort\":1,\"RemoteAddresses\":\"10.0.0.0/8\"},"
        "{\"Type\":\"NAT\",\"Protocol\":\"UDP\",\"InternalPort\":53,\"ExternalPort\":8053,"
        "\"ExternalPortReserved\":true}]");
    json_t *acl = json_array_get(json_object_get(e, "Policies"), 0), *all, *settings;

    assert_string_equal(text_of(acl, "Protocols"), "17");
    assert_null(json_object_get(acl, "Id"));
    settings = json_object_get(
        json_array_get(json_object_get(state_of(*state, "endpoints", 0, &all), "Policies"), 0),
        "Settings");
    assert_string_equal(text_of(settings, "LocalPorts"), "53");
    assert_string_equal(text_of(settings, "RemoteAddresses"), "10.0.0.0/8");
    assert_int_equal(json_object_size(settings), 5);
    json_decref(all);
}

/* hcsshim's ProxyPolicy; members in another case, as HNS takes them. */
static void test_proxy_and_case(void **state) {
    json_t *e = post_endpoint(*state, ",\"Policies\":["
                                      "{\"type\":\"proxy\",\"port\":\"15001\","
                                      "\"exceptionList\":[\"10.0.0.0/8\"],\"outboundNat\":true},"
                                      "{\"type\":\"NAT\",\"protocol\":\"tcp\",\"internalPort\":53,"
                                      "\"externalPort\":8053}]");
    json_t *all, *policies = json_object_get(state_of(*state, "endpoints", 0, &all), "Policies");
    json_t *proxy = json_array_get(policies, 0);
    json_t *settings = json_object_get(proxy, "Settings");

    assert_string_equal(text_of(json_array_get(json_object_get(e, "Policies"), 0), "Type"),
                        "PROXY");
    assert_string_equal(text_of(proxy, "Type"), "L4Proxy");
    assert_true(json_is_true(json_object_get(settings, "OutboundNAT")));
    assert_int_equal(json_array_size(json_object_get(settings, "Exceptions")), 1);
    settings = json_object_get(json_array_get(policies, 1), "Settings");
    assert_int_equal(json_integer_value(json_object_get(settings, "Protocol")), 6);
    json_decref(all);
}

static void test_mac_pools(void **state) {
    json_t *all, *net;

    good(*state, "POST", "/networks/",
         "{\"Name\":\"nat\",\"Type\":\"NAT\",\"MacPools\":[{\"StartMacAddress\":"
         "\"00-15-5D-52-C0-00\",\"EndMacAddress\":\"00-15-5D-52-CF-FF\"}]}");
    net = state_of(*state, "networks", 0, &all);
    assert_string_equal(
        text_of(json_array_get(json_object_get(json_object_get(net, "MacPool"), "Ranges"), 0),
                "EndMacAddress"),
        "00-15-5D-52-CF-FF");
    json_decref(all);
}

static void test_endpoint_document_by_version_2_call(void **state) {
    char *network = make_network(*state, BRIDGE), *id = id_of(*state, network), document[160];

    (void)snprintf(document, sizeof(document),
                   "{\"Name\":\"e\",\"VirtualNetwork\":\"%s\",\"IPAddress\":\"10.244.1.9\"}", id);
    assert_fails(call(*state, "HcnCreateEndpoint", network, ZERO, document), 0, NULL);
    assert_fails(call(*state, "HcnCreateEndpoint", network, ZERO, "{\"Name\":\"e\"}"), 0x80070057,
                 "SchemaVersion: is required");
    free(id);
    free(network);
}

static void test_endpoint_refusals(void **state) {
    json_t *e = json_incref(post_endpoint(*state, ",\"IPAddress\":\"10.244.1.5\""));
    char request[256];

    (void)snprintf(request, sizeof(request),
                   "{\"VirtualNetwork\":\"%s\",\"IPAddress\":\"10.244.1.5\"}",
                   text_of(e, "VirtualNetwork"));
    bad(*state, "POST", "/endpoints/", request, 0x80071392, "10.244.1.5");
    bad(*state, "POST", "/endpoints/", "{\"VirtualNetwork\":\"" NOBODY "\"}", 0x803b0001, NOBODY);
    bad(*state, "POST", "/endpoints/", "{\"IpAddresses\":\"x\"}", 0x803b001b, "IpAddresses");
    (void)snprintf(request, sizeof(request),
                   "{\"VirtualNetwork\":\"%s\",\"Policies\":[{\"Type\":\"SDNRoute\"}]}",
                   text_of(e, "VirtualNetwork"));
    bad(*state, "POST", "/endpoints/", request, 0x803b000e, "'SDNRoute'");
    bad(*state, "GET", "/endpoints/" NOBODY, "", 0x803b0002, NOBODY);
    json_decref(e);
}

static void test_host_attach(void **state) {
    json_t *e = json_incref(post_endpoint(*state, "")), *now, *all;
    static const char host[] = "{\"SystemType\":\"Host\",\"CompartmentId\":1}";

    good(*state, "POST", path_of("endpoints", e, "/attach"), host);
    bad(*state, "POST", path_of("endpoints", e, "/attach"), host, 0x803b0014,
        "This endpoint is already attached to the switch.");
    now = good(*state, "GET", path_of("endpoints", e, ""), "");
    assert_int_equal(json_integer_value(json_object_get(now, "State")), 2);
    now = json_object_get(state_of(*state, "endpoints", 0, &all), "Attached");
    assert_string_equal(text_of(now, "SystemType"), "Host");
    json_decref(all);
    good(*state, "POST", path_of("endpoints", e, "/detach"), host);
    bad(*state, "POST", path_of("endpoints", e, "/detach"), host, 0x803b0034, "");
    good(*state, "POST", path_of("endpoints", e, "/attach"), host);
    bad(*state, "POST", path_of("endpoints", e, "/attach"), "{}", 0x80070057, "SystemType");
    bad(*state, "POST", path_of("endpoints", e, "/touch"), host, 0x80070490, "no such path");
    good(*state, "DELETE", path_of("endpoints", e, ""), "");
    bad(*state, "POST", path_of("endpoints", e, "/attach"), host, 0x803b0002, "");
    json_decref(e);
}

static void test_failures_in_the_envelope_alone(void **state) {
    json_decref(control(*state, json_pack("{s:s, s:b}", "op", "set", "softV1", 1)));
    assert_int_equal(call(*state, "HNSCall", "GET", "/endpoints/" NOBODY, ""), 0);
    assert_says("{\"Success\":false,\"Error\":\"The endpoint was not found. ");
}

static void test_sandbox_attach_by_its_compute_system(void **state) {
    struct hns_model *m = *state;
    json_t *e = json_incref(post_endpoint(m, "")), *now;
    char add[160], drop[160], *h;

    (void)snprintf(add, sizeof(add),
                   "{\"ResourceType\":\"Network\",\"Settings\":\"%s\",\"RequestType\":\"Add\"}",
                   text_of(e, "ID"));
    (void)snprintf(drop, sizeof(drop),
                   "{\"ResourceType\":\"Network\",\"Settings\":\"%s\",\"RequestType\":\"Remove\"}",
                   text_of(e, "ID"));
    assert_fails(call(m, "HcsOpenComputeSystem", "c1", NULL, NULL), 0xc037010e, "");
    json_decref(control(m, json_pack("{s:s, s:[s,s]}", "op", "set", "systems", "c1", "c2")));
    h = make(m, "HcsOpenComputeSystem", "c1", NULL, NULL);
    assert_int_equal(call(m, "HcsModifyComputeSystem", h, add, NULL), 0);
    free(h);
    h = make(m, "HcsOpenComputeSystem", "c2", NULL, NULL);
    assert_int_equal(call(m, "HcsModifyComputeSystem", h, add, NULL), 0);
    now = good(m, "GET", path_of("endpoints", e, ""), "");
    assert_int_equal(json_integer_value(json_object_get(now, "State")), 3);
    assert_int_equal(json_array_size(json_object_get(now, "SharedContainers")), 2);
    assert_int_equal(call(m, "HcsModifyComputeSystem", h, drop, NULL), 0);
    now = good(m, "GET", path_of("endpoints", e, ""), "");
    assert_int_equal(json_integer_value(json_object_get(now, "State")), 2);
    assert_int_equal(call(m, "HcsCloseComputeSystem", h, NULL, NULL), 0);
    assert_fails(call(m, "HcsModifyComputeSystem", h, add, NULL), 0x80070006, h);
    free(h);
    json_decref(e);
}

/* hcsshim's AddRoute: the lists of both kinds share a path. */
static void test_route_lists(void **state) {
    json_t *e = json_incref(post_endpoint(*state, "")), *list, *policy;
    char request[512];

    (void)snprintf(request, sizeof(request),
                   "{\"References\":[\"/endpoints/%s\"],\"Policies\":[{\"Type\":\"ROUTE\"," /**/
                   "\"DestinationPrefix\":\"10.96.0.0/12\",\"NextHop\":\"10.244.1.2\","     /**/
                   "\"NeedEncap\":true}]}",
                   text_of(e, "ID"));
    list = json_incref(good(*state, "POST", "/policylists/", request));
    assert_int_equal(count_of(*state, "routes"), 1);
    assert_int_equal(count_of(*state, "loadBalancers"), 0);
    assert_int_equal(json_array_size(good(*state, "GET", "/policylists/", "")), 1);
    policy = json_array_get(
        json_object_get(good(*state, "GET", path_of("policylists", list, ""), ""), "Policies"), 0);
    assert_string_equal(text_of(policy, "Type"), "ROUTE");
    assert_string_equal(text_of(policy, "NextHop"), "10.244.1.2");
    assert_true(json_is_true(json_object_get(policy, "NeedEncap")));
    good(*state, "DELETE", path_of("policylists", list, ""), "");
    assert_int_equal(count_of(*state, "routes"), 0);
    bad(*state, "GET", path_of("policylists", list, ""), "", 0x80070490, "LoadBalancer");
    bad(*state, "POST", "/policylists/", /* no prefix; no endpoint */
        "{\"References\":[],\"Policies\":[{\"Type\":\"ROUTE\"}]}", 0x803b0030, "DestinationPrefix");
    bad(*state, "POST", "/policylists/",
        "{\"References\":[\"/endpoints/" NOBODY
        "\"],\"Policies\":[{\"Type\":\"ROUTE\",\"DestinationPrefix\":\"10.96.0.0/12\"}]}",
        0x80070490, NOBODY);
    json_decref(list);
    json_decref(e);
}

#define TWO_PROTOCOLS(second)                                                                      \
    "{\"References\":[],\"Policies\":[{\"Type\":\"ELB\",\"Protocol\":6,\"InternalPort\":53,"       \
    "\"ExternalPort\":53,\"VIPs\":[\"10.96.0.10\"]},{\"Type\":\"" second "\",\"Protocol\":17,"     \
    "\"InternalPort\":53,\"ExternalPort\":53,\"DestinationPrefix\":\"10.96.0.0/12\"}]}"

static void test_policy_lists(void **state) {
    json_t *e = json_incref(post_endpoint(*state, "")), *list;
    char request[512];

    (void)snprintf(request, sizeof(request),
                   "{\"References\":[\"/endpoints/%s\"],\"Policies\":[{\"Type\":\"ELB\"," /**/
                   "\"Protocol\":6,\"InternalPort\":80,\"ExternalPort\":8080,\"VIPs\":"   /**/
                   "[\"10.96.0.1\"]}]}",
                   text_of(e, "ID"));
    list = json_incref(good(*state, "POST", "/policylists/", request));
    assert_string_equal(text_of(json_array_get(json_object_get(list, "Policies"), 0), "Type"),
                        "ELB");
    bad(*state, "POST", "/policylists/", request, 0x803b0013, "frontend");
    assert_int_equal(count_of(*state, "loadBalancers"), 1);
    assert_int_equal(json_array_size(good(*state, "GET", "/policylists/", "")), 1);
    good(*state, "DELETE", path_of("policylists", list, ""), "");
    assert_int_equal(count_of(*state, "loadBalancers"), 0);
    good(*state, "GET", path_of("endpointstats", e, ""), "");
    bad(*state, "GET", "/endpointstats/" NOBODY, "", 0x803b0002, NOBODY);
    json_decref(list);
    list = json_incref(good(*state, "POST", "/policylists/", TWO_PROTOCOLS("ELB")));
    assert_int_equal(json_array_size(json_object_get(list, "Policies")), 2);
    bad(*state, "POST", "/policylists/", TWO_PROTOCOLS("ROUTE"), 0x803b000e, "'ROUTE'");
    json_decref(list);
    json_decref(e);
}

#define HERE(f) cmocka_unit_test_setup_teardown(f, setup, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        HERE(test_version),
        HERE(test_network_as_flannel_makes_it),
        HERE(test_both_versions_show_the_same_network),
        HERE(test_network_as_antrea_makes_it),
        HERE(test_network_refusals),
        HERE(test_endpoint_as_win_bridge_makes_it),
        HERE(test_policies_that_version_1_says_otherwise),
        HERE(test_proxy_and_case),
        HERE(test_mac_pools),
        HERE(test_endpoint_document_by_version_2_call),
        HERE(test_endpoint_refusals),
        HERE(test_host_attach),
        HERE(test_failures_in_the_envelope_alone),
        HERE(test_sandbox_attach_by_its_compute_system),
        HERE(test_policy_lists),
        HERE(test_route_lists),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
