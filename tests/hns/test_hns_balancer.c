/* The HNS model's load balancers and SDN routes. */
#include "tests/scene/hns_case.h"

#define BACKEND "\"aaaaaaaa-0000-4000-8000-%012d\""
#define PORTS(protocol, external, rest)                                                            \
    "\"PortMappings\":[{\"Protocol\":" protocol                                                    \
    ",\"InternalPort\":8080,\"ExternalPort\":" external rest "}]"
#define VIPS(list) ",\"FrontendVIPs\":[" list "]"
#define BALANCER(endpoints, rest) "{" V2 ",\"HostComputeEndpoints\":[" endpoints "]," rest "}"
#define ONE "\"aaaaaaaa-0000-4000-8000-000000000000\""
#define TWO "\"aaaaaaaa-0000-4000-8000-000000000001\""
#define WEB                                                                                        \
    BALANCER(ONE, PORTS("6", "80", "") VIPS("\"10.96.0.10\"") ",\"SourceVIP\":\"10.244.1.2\"")

/* A network with two endpoints of known ids. */
static int with_endpoints(void **state) {
    struct hns_model *m = hns_model_new(NULL);
    char *network = make_network(m, BRIDGE);

    assert_int_equal(
        call(m, "HcnCreateEndpoint", network, "aaaaaaaa-0000-4000-8000-000000000000", ENDPOINT("")),
        0);
    assert_int_equal(
        call(m, "HcnCreateEndpoint", network, "aaaaaaaa-0000-4000-8000-000000000001", ENDPOINT("")),
        0);
    free(network);
    *state = m;
    return 0;
}

static unsigned add(struct hns_model *m, const char *document) {
    return call(m, "HcnCreateLoadBalancer", ZERO, document, NULL);
}

static void test_right_ones_pass(void **state) {
    static const char *const documents[] = {
        WEB,
        /* DSR, another protocol, another port, another VIP, the node's own addresses, IPv6 */
        BALANCER(ONE "," TWO, PORTS("17", "80", "") VIPS("\"10.96.0.10\"") ",\"Flags\":1"),
        BALANCER(ONE, PORTS("6", "81", ",\"DistributionType\":2") VIPS("\"10.96.0.10\"")),
        BALANCER(ONE, PORTS("6", "80", ",\"Flags\":16") VIPS("\"10.200.0.100\"")),
        BALANCER(ONE, PORTS("6", "30080", ",\"Flags\":18") ",\"Flags\":1"),
        BALANCER(ONE, PORTS("6", "80", ",\"Flags\":18")),
        BALANCER(ONE, PORTS("6", "80", "") VIPS("\"10.96.0.10\"") ",\"Flags\":3"),
    };

    for (size_t i = 0; i < COUNT(documents); i++)
        assert_fails(add(*state, documents[i]), 0, NULL);
    assert_int_equal(count_of(*state, "loadBalancers"), COUNT(documents));
}

static void test_refusals(void **state) {
    static const struct hns_case cases[] = {
        {WEB, 0x803b0013, "has this frontend"},
        {BALANCER(TWO, PORTS("6", "80", "") VIPS("\"10.96.0.11\",\"10.96.0.10\"")), 0x803b0013,
         "has this frontend"},
        {BALANCER("\"" NOBODY "\"", PORTS("6", "81", "") VIPS("\"10.96.0.10\"")), 0x80070490,
         "HostComputeEndpoints[0]: " NOBODY},
        {BALANCER(ONE "," ONE, PORTS("6", "81", "") VIPS("\"10.96.0.10\"")), 0x80070057,
         "HostComputeEndpoints[1] is there twice"},
        {BALANCER("1", PORTS("6", "81", "")), 0x803b001b, "HostComputeEndpoints[0]"},
        {BALANCER(ONE, PORTS("6", "81", "")), 0x80070057, "must be LocalRoutedVIP"},
        {BALANCER(ONE, "\"PortMappings\":[]" VIPS("\"10.96.0.10\"")), 0x80070057,
         "PortMappings must not be empty"},
        {BALANCER(ONE, PORTS("1", "81", "") VIPS("\"10.96.0.10\"")), 0x80070057, "Protocol 1"},
        {BALANCER(ONE, PORTS("6", "0", "") VIPS("\"10.96.0.10\"")), 0x80070057, "ExternalPort"},
        {BALANCER(ONE, "\"PortMappings\":[{\"Protocol\":6,\"InternalPort\":0,\"ExternalPort\":1}]"),
         0x803b002d, "InternalPort"},
        {BALANCER(ONE, PORTS("6", "81", ",\"DistributionType\":3") VIPS("\"10.96.0.10\"")),
         0x80070057, "DistributionType"},
        {BALANCER(ONE, PORTS("6", "81", ",\"Flags\":32") VIPS("\"10.96.0.10\"")), 0x80070057,
         "PortMappings[0].Flags"},
        {BALANCER(ONE, PORTS("6", "81", "") VIPS("\"web\"")), 0x80070057, "FrontendVIPs[0]: 'web'"},
        {BALANCER(ONE, PORTS("6", "81", "") VIPS("\"10.96.0.10\"") ",\"SourceVIP\":\"x\""),
         0x80070057, "SourceVIP"},
        {BALANCER(ONE, PORTS("6", "81", "") VIPS("\"10.96.0.10\"") ",\"Flags\":4"), 0x80070057,
         "Flags"},
        {"{" V2 "," PORTS("6", "81", "") "}", 0x80070057, "HostComputeEndpoints: is required"},
    };

    assert_int_equal(add(*state, WEB), 0);
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_fails(add(*state, cases[i].document), cases[i].hresult, cases[i].says);
    assert_int_equal(count_of(*state, "loadBalancers"), 1);
}

static void test_many_backends(void **state) {
    struct hns_model *m = *state;
    char ids[65 * 40] = "", document[65 * 40 + 200], guid[40];
    json_t *networks = NULL, *network = state_of(m, "networks", 0, &networks);
    int used = 0;
    char *handle = make(m, "HcnOpenNetwork", text_of(network, "ID"), NULL, NULL);

    for (int i = 0; i < 65; i++) {
        if (i > 1) {
            (void)snprintf(guid, sizeof(guid), "aaaaaaaa-0000-4000-8000-%012d", i);
            assert_int_equal(call(m, "HcnCreateEndpoint", handle, guid, ENDPOINT("")), 0);
        }
        used += snprintf(ids + used, sizeof(ids) - (size_t)used, "%s" BACKEND, i ? "," : "", i);
        if (i < 63)
            continue;
        (void)snprintf(document, sizeof(document),
                       BALANCER("%s", PORTS("6", "80", "") VIPS("\"10.96.0.10\"")), ids);
        set_version(m, 9, 5);
        assert_fails(add(m, document), i == 63 ? 0 : 0x80070057, "HostComputeEndpoints: 65");
        set_version(m, 13, 2);
    }
    (void)snprintf(document, sizeof(document),
                   BALANCER("%s", PORTS("6", "81", "") VIPS("\"10.96.0.10\"")), ids);
    assert_int_equal(add(m, document), 0); /* since the updates of 2022 */
    free(handle);
    json_decref(networks);
}

static void test_versions(void **state) {
    static const char dsr[] =
        BALANCER(ONE, PORTS("6", "80", "") VIPS("\"10.96.0.10\"") ",\"Flags\":1");

    set_version(*state, 10, 1);
    assert_fails(add(*state, dsr), 0x80070032, "Flags: DSR needs HNS 9.3 or 10.2");
    set_version(*state, 9, 3);
    assert_fails(add(*state, dsr), 0, NULL);
    set_version(*state, 9, 5); /* session affinity is taken, as kube-proxy sends it */
    assert_fails(add(*state, BALANCER(ONE, PORTS("6", "81", ",\"DistributionType\":2")
                                               VIPS("\"10.96.0.10\""))),
                 0, NULL);
}

static void test_modify(void **state) {
    struct hns_model *m = *state;
    char *h = make(m, "HcnCreateLoadBalancer", ZERO, WEB, NULL), *id = id_of(m, h);
    json_t *p;

    set_version(m, 15, 4);
    assert_fails(call(m, "HcnModifyLoadBalancer", h, WEB, NULL), 0x803b0015, "needs HNS 15.5");
    set_version(m, 15, 5);
    assert_fails(call(m, "HcnModifyLoadBalancer", h,
                      "{\"ResourceType\":\"Policy\",\"RequestType\":\"Add\"}", NULL),
                 0x803b001b, "ResourceType: unknown member");
    assert_int_equal(call(m, "HcnModifyLoadBalancer", h,
                          BALANCER(TWO, PORTS("6", "80", "") VIPS("\"10.96.0.10\"")), NULL),
                     0);
    p = properties(m, "HcnQueryLoadBalancerProperties", h);
    assert_string_equal(text_of(p, "ID"), id);
    assert_string_equal(
        json_string_value(json_array_get(json_object_get(p, "HostComputeEndpoints"), 0)),
        "aaaaaaaa-0000-4000-8000-000000000001");
    assert_null(json_object_get(p, "SourceVIP"));
    json_decref(p);
    free(id);
    free(h);
}

/* A frontend that no call shows any more stays taken, until Windows starts again. */
static void test_orphans_hold_their_frontends(void **state) {
    static const struct {
        const char *hr;
        unsigned wanted;
    } cases[] = {{"", 0x803b0013}, {"0x800700b7", 0x800700b7}};
    struct hns_model *m = *state;

    for (size_t i = 0; i < COUNT(cases); i++) {
        char *h = make(m, "HcnCreateLoadBalancer", ZERO, WEB, NULL), *id = id_of(m, h);

        json_decref(
            control(m, json_pack("{s:s, s:s, s:s}", "op", "orphan", "id", id, "hr", cases[i].hr)));
        assert_int_equal(count_of(m, "loadBalancers"), 0);
        assert_fails(call(m, "HcnDeleteLoadBalancer", id, NULL, NULL), 0x80070490, id);
        assert_fails(call(m, "HcnCreateLoadBalancer", ZERO, WEB, NULL), cases[i].wanted, id);
        hns_model_restart(m);
        assert_fails(call(m, "HcnCreateLoadBalancer", ZERO, WEB, NULL), cases[i].wanted, id);
        hns_model_reboot(m);
        assert_int_equal(call(m, "HcnCreateLoadBalancer", ZERO, WEB, NULL), 0);
        hns_model_reboot(m);
        free(id), free(h);
    }
}

static void test_a_deleted_endpoint_leaves(void **state) {
    struct hns_model *m = *state;
    char *h = make(m, "HcnCreateLoadBalancer", ZERO,
                   BALANCER(ONE "," TWO, PORTS("6", "80", "") VIPS("\"10.96.0.10\"")), NULL);
    json_t *p;

    assert_int_equal(
        call(m, "HcnDeleteEndpoint", "aaaaaaaa-0000-4000-8000-000000000000", NULL, NULL), 0);
    p = properties(m, "HcnQueryLoadBalancerProperties", h);
    assert_int_equal(json_array_size(json_object_get(p, "HostComputeEndpoints")), 1);
    json_decref(p);
    free(h);
}

static void test_sdn_routes(void **state) {
    assert_fails(call(*state, "HcnCreateSdnRoute", ZERO,
                      "{" V2 ",\"HostComputeEndpoints\":[\"" NOBODY "\"],\"Routes\":[{" /**/
                      "\"DestinationPrefix\":\"10.96.0.0/12\"}]}",
                      NULL),
                 0x80070490, NOBODY);
    assert_fails(call(*state, "HcnCreateSdnRoute", ZERO,
                      "{" V2 ",\"HostComputeEndpoints\":[" ONE "],\"Setting\":[]}", NULL),
                 0x80070057, "Routes must not be empty");
    assert_fails(call(*state, "HcnCreateSdnRoute", ZERO,
                      "{" V2 ",\"HostComputeEndpoints\":[" ONE "]}", NULL),
                 0x80070057, "Routes must not be empty");
    assert_int_equal(call(*state, "HcnCreateSdnRoute", ZERO,
                          "{" V2 ",\"HostComputeEndpoints\":[" ONE "],\"Routes\":[{" /**/
                          "\"DestinationPrefix\":\"10.96.0.0/12\",\"NeedEncap\":true}]}",
                          NULL),
                     0);
    /* host bits are taken, members of a route are not made up */
    assert_int_equal(call(*state, "HcnCreateSdnRoute", ZERO,
                          "{" V2 ",\"Setting\":[{\"DestinationPrefix\":\"169.254.169.254/24\","
                          "\"NextHop\":\"127.10.0.34\"}]}",
                          NULL),
                     0);
    assert_fails(call(*state, "HcnCreateSdnRoute", ZERO,
                      "{" V2 ",\"Setting\":[{\"Destination\":\"10.0.0.0/8\"}]}", NULL),
                 0x803b001b, "Setting[0].Destination: unknown member");
    assert_int_equal(count_of(*state, "routes"), 2);
}

#define HERE(f) cmocka_unit_test_setup_teardown(f, with_endpoints, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        HERE(test_right_ones_pass), HERE(test_refusals),
        HERE(test_many_backends),   HERE(test_versions),
        HERE(test_modify),          HERE(test_a_deleted_endpoint_leaves),
        HERE(test_sdn_routes),      HERE(test_orphans_hold_their_frontends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
