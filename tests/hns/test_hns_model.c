/* The HNS model as a whole: handles, queries, the switch's outage, restarts, faults, control. */
#include "tests/scene/hns_case.h"

#define FILTER(key, value) "{" V2 ",\"Filter\":\"{\\\"" key "\\\":\\\"" value "\\\"}\"}"

static json_t *run(struct hns_model *m, const char *text) {
    return control(m, json_loads(text, 0, NULL));
}

static void quiet(struct hns_model *m, const char *text) {
    json_decref(run(m, text));
}

/* ---- calls ---- */

static void test_handles(void **state) {
    char *h = make_network(*state, BRIDGE);

    assert_fails(call(*state, "HcnQueryEndpointProperties", h, QUERY, NULL), 0x80070006, h);
    assert_fails(call(*state, "HcnQueryNetworkProperties", NULL, QUERY, NULL), 0x80070006, "");
    assert_int_equal(call(*state, "HcnCloseNetwork", h, NULL, NULL), 0);
    assert_int_equal(answer.n, 0);
    assert_fails(call(*state, "HcnQueryNetworkProperties", h, QUERY, NULL), 0x80070006, h);
    free(h);
    assert_int_equal(call(*state, "HcnFlyToTheMoon", NULL, NULL, NULL), 0x80004001);
}

static void test_queries(void **state) {
    static const struct {
        const char *query;
        unsigned hresult;
        int hits;
        const char *says;
    } cases[] = {
        {QUERY, 0, 2, NULL},
        {NULL, 0, 2, NULL},
        {"{" V2 ",\"Flags\":1}", 0, 2, NULL},
        {FILTER("Name", "cbr0"), 0, 1, NULL},
        {FILTER("name", "cbr0"), 0, 1, NULL},
        {FILTER("Name", "CBR0"), 0, 0, NULL},
        {FILTER("Type", "l2bridge"), 0, 1, NULL},
        {FILTER("ID", ""), 0, 0, NULL},
        {FILTER("Colour", "red"), 0x80070057, 0, "Filter.Colour"},
        {"{" V2 ",\"Filter\":{}}", 0x803b001b, 0, "Filter: a string is expected"},
        {"{" V2 ",\"Filter\":\"x\"}", 0x803b001b, 0, "JSON"},
        {"{}", 0x80070057, 0, "SchemaVersion: is required"},
        {"{" V2 ",\"Where\":1}", 0x803b001b, 0, "Where: unknown member"},
    };

    assert_int_equal(add_network(*state, BRIDGE), 0);
    assert_int_equal(add_network(*state, NETWORK("nat", "NAT", "")), 0);
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_fails(call(*state, "HcnEnumerateNetworks", cases[i].query, NULL, NULL),
                     cases[i].hresult, cases[i].says);
        if (!cases[i].hresult) {
            json_t *ids = json_loads(answer.out[0], 0, NULL);

            assert_int_equal(json_array_size(ids), cases[i].hits);
            json_decref(ids);
        }
    }
}

static void test_endpoints_of_a_network(void **state) {
    char *network = make_network(*state, BRIDGE), *id = id_of(*state, network), query[200];

    assert_int_equal(call(*state, "HcnCreateEndpoint", network, ZERO, ENDPOINT("")), 0);
    (void)snprintf(query, sizeof(query), FILTER("VirtualNetwork", "%s"), id);
    assert_int_equal(call(*state, "HcnEnumerateEndpoints", query, NULL, NULL), 0);
    assert_int_equal(strlen(answer.out[0]), 40); /* ["<id>"] */
    assert_int_equal(
        call(*state, "HcnEnumerateEndpoints", FILTER("VirtualNetwork", NOBODY), NULL, NULL), 0);
    assert_string_equal(answer.out[0], "[]");
    free(id);
    free(network);
}

static void test_shape_of_the_memory_host(void **state) {
    const char *args[] = {ZERO, BRIDGE}, *wrong[] = {ZERO, "{}"};
    char *result = NULL, *record = NULL;

    assert_int_equal(hns_model_host_call(*state, "HcnCreateNetwork", args, 2, &result, &record), 0);
    assert_non_null(result);
    assert_null(record);
    free(result);
    result = NULL;
    assert_int_equal(hns_model_host_call(*state, "HcnCreateNetwork", wrong, 2, &result, &record),
                     0x80070057);
    assert_null(result);
    assert_non_null(strstr(record, "\"ErrorCode\":2147942487"));
    free(record);
}

/* What tells hnsd to make the packets' paths again. */
static void test_every_change_is_told(void **state) {
    static const struct {
        const char *function, *a, *b, *c;
        bool changed;
    } calls[] = {
        {"HcnCreateNetwork", NOBODY, BRIDGE, NULL, true},
        {"HcnCreateNetwork", NOBODY, BRIDGE, NULL, false}, /* refused */
        {"HcnOpenNetwork", NOBODY, NULL, NULL, false},
        {"HcnQueryNetworkProperties", "1008", QUERY, NULL, false},
        {"HcnModifyNetwork", "1008",
         "{\"ResourceType\":\"DNS\",\"RequestType\":\"Update\",\"Settings\":{}}", NULL, true},
        {"HcnCreateEndpoint", "1008", "11111111-2222-3333-4444-000000000001", ENDPOINT(""), true},
        {"HcnModifyEndpoint", "1018",
         "{\"ResourceType\":\"Port\",\"RequestType\":\"Add\",\"Settings\":{}}", NULL, true},
        {"HcnCreateNamespace", ZERO, QUERY, NULL, true},
        {"HcnModifyNamespace", "1020",
         "{\"ResourceType\":\"Endpoint\",\"RequestType\":\"Add\",\"Settings\":" /**/
         "{\"EndpointId\":\"11111111-2222-3333-4444-000000000001\"}}",
         NULL, true},
        {"HNSCall", "POST", "/endpoints/11111111-2222-3333-4444-000000000001/attach",
         "{\"SystemType\":\"Host\"}", true},
        {"HNSCall", "POST", "/endpoints/11111111-2222-3333-4444-000000000001", "{}", true},
        {"HNSCall", "GET", "/endpoints/", "", false},
        {"HcnCloseNetwork", "1008", NULL, NULL, false},
        {"HcnDeleteEndpoint", "11111111-2222-3333-4444-000000000001", NULL, NULL, true},
        {"HcnDeleteNetwork", NOBODY, NULL, NULL, true},
    };

    for (size_t i = 0; i < COUNT(calls); i++) {
        unsigned hr = call(*state, calls[i].function, calls[i].a, calls[i].b, calls[i].c);

        if (answer.changed != calls[i].changed)
            fail_msg("%zu: %s: 0x%08x, changed %d", i, calls[i].function, hr, answer.changed);
    }
}

/* ---- the external switch ---- */

static json_t *adapter(struct hns_model *m, json_t **ret_all) {
    return state_of(m, "adapters", 0, ret_all);
}

static void assert_adapter(struct hns_model *m, bool vnic, bool away, bool lost, size_t addresses) {
    json_t *all, *a = adapter(m, &all);

    assert_int_equal(json_is_true(json_object_get(a, "vnic")), vnic);
    assert_int_equal(json_is_true(json_object_get(a, "away")), away);
    assert_int_equal(json_is_true(json_object_get(a, "staticLost")), lost);
    assert_int_equal(json_array_size(json_object_get(a, "addresses")), addresses);
    json_decref(all);
}

static struct hns_model *model_with(bool dhcp, bool keep) {
    static const char *const addresses[] = {"10.200.0.11/24", NULL};
    const struct hns_model_adapter one = {"Ethernet", "00-15-5D-01-02-03", addresses, dhcp};
    const struct hns_model_options options = {
        .adapters = &one, .n_adapters = 1, .outage_ms = 5000, .keep_static = keep};

    return hns_model_new(&options);
}

static void test_a_static_address_is_lost(void **state) {
    struct hns_model *m = model_with(false, false);
    json_t *net;

    assert_false(hns_model_tick(m, 1000));
    assert_int_equal(hns_model_wait_ms(m, 1000), -1);
    assert_adapter(m, false, false, false, 1);
    assert_int_equal(add_network(m, EXTERNAL), 0);
    assert_adapter(m, true, true, false, 0);
    assert_int_equal(hns_model_wait_ms(m, 2000), 4000);
    assert_false(hns_model_tick(m, 5999));
    assert_true(hns_model_tick(m, 6000));
    assert_adapter(m, true, false, true, 0);
    assert_int_equal(call(m, "HNSCall", "GET", "/networks/", ""), 0);
    assert_says("\"ManagementIP\":\"\"");
    quiet(m, "{\"op\":\"adapter\",\"alias\":\"Ethernet\",\"addresses\":[\"10.200.0.11/24\"]}");
    assert_adapter(m, true, false, false, 1);
    assert_int_equal(call(m, "HNSCall", "GET", "/networks/", ""), 0);
    assert_says("\"ManagementIP\":\"10.200.0.11\"");
    assert_int_equal(add_network(m, OVERLAY), 0); /* the switch is there already */
    assert_adapter(m, true, false, false, 1);
    net = run(m, "{\"op\":\"reset\"}");
    assert_adapter(m, false, false, false, 1);
    json_decref(net);
    hns_model_free(m);
    (void)state;
}

static void test_a_dhcp_address_comes_back(void **state) {
    struct hns_model *m = model_with(true, false), *kept = model_with(false, true);

    assert_int_equal(add_network(m, BRIDGE), 0);
    assert_true(hns_model_tick(m, 5000));
    assert_adapter(m, true, false, false, 1);
    assert_int_equal(add_network(kept, BRIDGE), 0);
    assert_true(hns_model_tick(kept, 5000));
    assert_adapter(kept, true, false, false, 1);
    hns_model_free(m);
    hns_model_free(kept);
    (void)state;
}

static void test_the_last_network_takes_the_switch_along(void **state) {
    struct hns_model *m = model_with(false, false);
    char *base = make_network(m, EXTERNAL), *base_id = id_of(m, base);
    char *pods = make_network(m, OVERLAY), *pods_id = id_of(m, pods);

    (void)hns_model_tick(m, 5000);
    assert_int_equal(call(m, "HcnDeleteNetwork", pods_id, NULL, NULL), 0);
    assert_adapter(m, true, false, true, 0);
    assert_int_equal(call(m, "HcnDeleteNetwork", base_id, NULL, NULL), 0);
    assert_adapter(m, false, true, false, 0);
    assert_true(hns_model_tick(m, 10000));
    assert_adapter(m, false, false, false, 1); /* the adapter's own settings */
    free(base), free(base_id), free(pods), free(pods_id);
    hns_model_free(m);
    (void)state;
}

static void test_inner_networks_need_no_switch(void **state) {
    assert_int_equal(add_network(*state, NETWORK("nat", "NAT", "")), 0);
    assert_int_equal(add_network(*state, NETWORK("in", "Internal", "")), 0);
    assert_adapter(*state, false, false, false, 1);
}

/* ---- restarts ---- */

static void add_pod_and_service(struct hns_model *m, const char *network) {
    static const char lb[] =
        "{" V2 ",\"HostComputeEndpoints\":[\"%s\"],\"FrontendVIPs\":[\"10.96.0.1\"]," /**/
        "\"PortMappings\":[{\"Protocol\":6,\"InternalPort\":80,\"ExternalPort\":80}]}";
    char *h = make(m, "HcnCreateEndpoint", network, ZERO, ENDPOINT("")), *id = id_of(m, h);
    char document[512];

    (void)snprintf(document, sizeof(document), lb, id);
    assert_int_equal(call(m, "HcnCreateLoadBalancer", ZERO, document, NULL), 0);
    free(id);
    free(h);
}

static void test_restart(void **state) {
    struct hns_model *m = *state;
    char *base = make_network(m, EXTERNAL), *pods = make_network(m, OVERLAY);
    json_t *all;

    add_pod_and_service(m, pods);
    assert_int_equal(call(m, "HcnCreateNamespace", ZERO, QUERY, NULL), 0);
    hns_model_restart(m);
    assert_int_equal(count_of(m, "networks"), 1);
    assert_string_equal(text_of(state_of(m, "networks", 0, &all), "Name"), "External");
    json_decref(all);
    assert_int_equal(count_of(m, "endpoints"), 0);
    assert_int_equal(count_of(m, "loadBalancers"), 0);
    assert_int_equal(count_of(m, "namespaces"), 1);
    assert_fails(call(m, "HcnQueryNetworkProperties", base, QUERY, NULL), 0x80070006, base);
    assert_adapter(m, true, false, false, 1);
    free(base);
    free(pods);
}

static void test_restart_takes_what_others_added_to_a_network(void **state) {
    static const char route[] =
        "{\"ResourceType\":\"Policy\",\"RequestType\":\"Add\",\"Settings\":{\"Policies\":[{"
        "\"Type\":\"RemoteSubnetRoute\",\"Settings\":{\"DestinationPrefix\":\"10.244.2.0/24\","
        "\"IsolationId\":9999,\"ProviderAddress\":\"10.200.0.21\","
        "\"DistributedRouterMacAddress\":\"aa:bb:cc:00:00:01\"}}]}}";
    struct hns_model *m = *state;
    char *base = make_network(m, EXTERNAL);
    json_t *all, *added;
    size_t before;

    added = state_of(m, "networks", 0, &all);
    before = json_array_size(json_object_get(added, "Policies"));
    json_decref(all);
    assert_int_equal(call(m, "HcnModifyNetwork", base, route, NULL), 0);
    added = state_of(m, "networks", 0, &all);
    assert_int_equal(json_array_size(json_object_get(added, "Policies")), before + 1);
    json_decref(all);
    hns_model_restart(m);
    added = state_of(m, "networks", 0, &all);
    assert_int_equal(json_array_size(json_object_get(added, "Policies")), before);
    json_decref(all);
    free(base);
}

static void test_restart_without_a_base_network_drops_the_switch(void **state) {
    assert_int_equal(add_network(*state, OVERLAY), 0);
    assert_adapter(*state, true, false, false, 1);
    quiet(*state, "{\"op\":\"restart\"}");
    assert_int_equal(count_of(*state, "networks"), 0);
    assert_adapter(*state, false, false, false, 1);
}

static void test_reboot(void **state) {
    struct hns_model *m = *state;
    char *base = make_network(m, BRIDGE);

    add_pod_and_service(m, base);
    assert_int_equal(add_network(m, NETWORK("nat", "NAT", "")), 0);
    assert_int_equal(call(m, "HcnCreateNamespace", ZERO, QUERY, NULL), 0);
    hns_model_restart(m);
    assert_int_equal(count_of(m, "networks"), 2);
    assert_int_equal(count_of(m, "endpoints"), 1);
    assert_int_equal(count_of(m, "loadBalancers"), 0);
    quiet(m, "{\"op\":\"reboot\"}");
    assert_int_equal(count_of(m, "networks"), 1);
    assert_int_equal(count_of(m, "endpoints"), 1); /* a stale endpoint, as after a reboot */
    assert_int_equal(count_of(m, "loadBalancers"), 0);
    assert_int_equal(count_of(m, "namespaces"), 0);
    free(base);
}

/* ---- faults and control ---- */

static void test_faults(void **state) {
    struct hns_model *m = *state;

    quiet(m, "{\"op\":\"rule\",\"fn\":\"HcnCreateNetwork\",\"hr\":\"0x80070005\",\"count\":1," /**/
             "\"contains\":\"cbr0\",\"delay\":1.5}");
    assert_int_equal(add_network(m, NETWORK("other", "NAT", "")), 0);
    assert_int_equal(answer.delay_ms, 0);
    assert_fails(add_network(m, BRIDGE), 0x80070005, "");
    assert_int_equal(answer.delay_ms, 1500);
    assert_int_equal(count_of(m, "networks"), 1);
    assert_int_equal(add_network(m, BRIDGE), 0); /* once */
    quiet(m,
          "{\"op\":\"rule\",\"fn\":\"HNSCall\",\"contains\":\"/attach\",\"hr\":\"0x803b0014\"," /**/
          "\"soft\":true,\"error\":\"not today\"}");
    assert_int_equal(call(m, "HNSCall", "POST", "/endpoints/x/attach", "{}"), 0);
    assert_says("{\"Success\":false,\"Error\":\"not today\",\"ErrorCode\":2151350292}");
    quiet(m, "{\"op\":\"rule\",\"fn\":\"HNSCall\",\"hr\":\"0x800706b5\"}");
    assert_int_equal(call(m, "HNSCall", "GET", "/globals/version", ""), 0x800706b5);
    assert_null(answer.out[0]);
    quiet(m, "{\"op\":\"norules\"}");
    assert_int_equal(call(m, "HNSCall", "GET", "/globals/version", ""), 0);
}

static void test_control(void **state) {
    static const char *const refused[] = {
        "{\"op\":\"create\",\"kind\":\"Bridge\",\"doc\":{}}",
        "{\"op\":\"create\",\"kind\":\"Network\"}",
        "{\"op\":\"create\",\"kind\":\"Network\",\"doc\":{\"Nome\":1}}",
        "{\"op\":\"delete\",\"kind\":\"Network\",\"id\":\"" NOBODY "\"}",
        "{\"op\":\"delete\"}",
        "{\"op\":\"adapter\",\"alias\":\"eth7\"}",
        "{\"op\":\"rule\"}",
        "{\"op\":\"set\",\"adapters\":[{}]}",
    };
    struct hns_model *m = *state;
    json_t *made, *got;

    for (size_t i = 0; i < COUNT(refused); i++) {
        got = run(m, refused[i]);
        assert_non_null(json_object_get(got, "error"));
        json_decref(got);
    }
    assert_null(run(m, "{\"op\":\"exec\"}"));
    made = run(m, "{\"op\":\"create\",\"kind\":\"Network\",\"doc\":{\"Name\":\"nat\"}}");
    assert_string_equal(text_of(made, "Name"), "nat");
    got = control(m, json_pack("{s:s, s:s, s:s}", "op", "delete", "kind", "Network", "id",
                               text_of(made, "ID")));
    assert_int_equal(json_object_size(got), 0);
    json_decref(got);
    json_decref(made);
    assert_int_equal(count_of(m, "networks"), 0);
}

static void test_set_and_reset(void **state) {
    struct hns_model *m = *state;
    json_t *all;

    quiet(m, "{\"op\":\"set\",\"version\":[9,5],\"initial\":true,\"adapters\":" /**/
             "[{\"alias\":\"eth0\",\"mac\":\"00-15-5D-00-00-02\",\"addresses\":[]}]}");
    set_version(m, 15, 5);
    assert_int_equal(add_network(m, BRIDGE), 0);
    quiet(m, "{\"op\":\"reset\"}");
    assert_int_equal(count_of(m, "networks"), 0);
    assert_string_equal(text_of(adapter(m, &all), "alias"), "eth0");
    assert_int_equal(json_integer_value(json_object_get(json_object_get(all, "version"), "Major")),
                     9);
    json_decref(all);
    assert_fails(add_network(m, OVERLAY), 0x803b0006, "'Ethernet'");
}

static void test_state_for_the_data_plane(void **state) {
    json_t *all, *net;

    assert_int_equal(add_network(*state, OVERLAY), 0);
    net = state_of(*state, "networks", 0, &all);
    assert_string_equal(text_of(net, "Adapter"), "Ethernet");
    assert_null(json_object_get(net, "_adapter"));
    json_decref(all);
    assert_int_equal(add_network(*state, NETWORK("nat", "NAT", "")), 0);
    net = state_of(*state, "networks", 1, &all);
    assert_string_equal(text_of(net, "Type"), "NAT"); /* said, for once */
    assert_null(json_object_get(net, "Adapter"));
    json_decref(all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(test_handles),
        CASE(test_queries),
        CASE(test_endpoints_of_a_network),
        CASE(test_shape_of_the_memory_host),
        CASE(test_every_change_is_told),
        CASE(test_a_static_address_is_lost),
        CASE(test_a_dhcp_address_comes_back),
        CASE(test_the_last_network_takes_the_switch_along),
        CASE(test_inner_networks_need_no_switch),
        CASE(test_restart),
        CASE(test_restart_takes_what_others_added_to_a_network),
        CASE(test_restart_without_a_base_network_drops_the_switch),
        CASE(test_reboot),
        CASE(test_faults),
        CASE(test_control),
        CASE(test_set_and_reset),
        CASE(test_state_for_the_data_plane),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
