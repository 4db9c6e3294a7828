/* The HNS model's networks: what it refuses, what it adds, policies, the external switch. */
#include "tests/scene/hns_case.h"

#define MANY_SUBNETS                                                                               \
    SUBNET("10.1.0.0/24", GATEWAY("10.1.0.1")) "," SUBNET("10.1.0.128/25", GATEWAY("10.1.0.129"))

static void each(void **state, const struct hns_case *cases, size_t n) {
    for (size_t i = 0; i < n; i++) {
        struct hns_model *m = hns_model_new(NULL);
        unsigned hr = add_network(m, cases[i].document);

        if (hr != cases[i].hresult)
            (void)fprintf(stderr, "%s\n", cases[i].document);
        assert_fails(hr, cases[i].hresult, cases[i].says);
        assert_int_equal(count_of(m, "networks"), !hr);
        hns_model_free(m);
    }
    (void)state;
}

static void test_right_documents_pass(void **state) {
    static const struct hns_case cases[] = {
        {BRIDGE, 0, NULL},
        {OVERLAY, 0, NULL},
        {EXTERNAL, 0, NULL},
        {DUAL, 0, NULL},
        {NETWORK("azure", "L2Bridge",
                 STATIC(SUBNET("10.1.0.0/16", GATEWAY("10.1.0.1")) "," SUBNET(
                     "fd00::/64", GATEWAY6("fe80::1234:5678:9abc")))),
         0, NULL},
        {NETWORK("t", "L2Tunnel", BRIDGE_SUBNET), 0, NULL},
        {NETWORK("t", "Transparent", POLICIES(ON("Ethernet"))), 0, NULL},
        {NETWORK("t", "Transparent", ",\"Ipams\":[{\"Type\":\"Dhcp\"}]"), 0, NULL},
        {NETWORK("nat", "NAT", ""), 0, NULL},
        /* names of members in any case, flags as words, empty members, null */
        {"{" V2 ",\"name\":\"n\",\"TYPE\":\"l2bridge\",\"flags\":\"EnableNonPersistent\"," /**/
         "\"MacPool\":{},\"Dns\":{},\"Health\":{\"Extra\":{}},\"Policies\":null" BRIDGE_SUBNET "}",
         0, NULL},
        /* a version 1 document by the version 2 call */
        {"{\"Name\":\"cbr0\",\"Type\":\"L2Bridge\",\"Subnets\":[{\"AddressPrefix\":" /**/
         "\"10.244.1.0/24\",\"GatewayAddress\":\"10.244.1.1\"}]}",
         0, NULL},
    };

    each(state, cases, COUNT(cases));
}

static void test_schema(void **state) {
    static const struct hns_case cases[] = {
        {"", 0x803b001b, "JSON"},
        {"[]", 0x803b001b, "not an object"},
        {"{" V2 ",\"Name\":\"a\",\"Name\":\"b\"}", 0x803b001b, "duplicate"},
        {"{" V2 ",\"Name\":\"a\",\"name\":\"b\"}", 0x803b001b, "given twice"},
        {NETWORK("n", "NAT", ",\"Nome\":1"), 0x803b001b, "Nome: unknown member"},
        {NETWORK("n", "NAT", STATIC("{\"IpAddressPrefix\":\"10.0.0.0/24\",\"Gateway\":1}")),
         0x803b001b, "Ipams[0].Subnets[0].Gateway: unknown member"},
        {NETWORK("n", "NAT", ",\"Ipams\":{}"), 0x803b001b, "Ipams: a list is expected"},
        {"{" V2 ",\"Name\":1,\"Type\":\"NAT\"}", 0x803b001b, "Name: a string is expected"},
        {"{\"Name\":\"n\",\"Type\":\"NAT\"}", 0x80070057, "SchemaVersion: is required"},
        {"{\"SchemaVersion\":{\"Major\":1,\"Minor\":0},\"Name\":\"n\"}", 0x80070057,
         "SchemaVersion 1.0"},
        {"{\"SchemaVersion\":{\"Major\":0,\"Minor\":0},\"Name\":\"n\"}", 0x80070057,
         "SchemaVersion 0.0"},
        {NETWORK("", "NAT", ""), 0x80070057, "Name must not be empty"},
        {NETWORK("n", "L3Bridge", ""), 0x803b000b, "Type: 'L3Bridge' is not known"},
        {NETWORK("n", "NAT", ",\"Flags\":512"), 0x80070057, "bits 0x200"},
        {NETWORK("n", "NAT", ",\"Flags\":\"Persistent\""), 0x80070057, "Flags: 'Persistent'"},
        {NETWORK("n", "NAT", POLICIES("{\"Type\":\"Vsid\"}")), 0x803b000e, "Policies[0]: 'Vsid'"},
        {NETWORK("n", "NAT", ",\"Dns\":{\"ServerList\":[\"10.0.0\"]}"), 0x80070057,
         "Dns.ServerList[0]: '10.0.0' is not valid"},
        {NETWORK("n", "NAT",
                 ",\"MacPool\":{\"Ranges\":[{\"StartMacAddress\":\"00-15-5D-00-00-09\"," /**/
                 "\"EndMacAddress\":\"00-15-5D-00-00-01\"}]}"),
         0x80070057, "MacPool.Ranges[0]"},
        {NETWORK("n", "NAT", ",\"ID\":\"x\""), 0x80070057, "ID: 'x' is not valid"},
        {NETWORK("n", "NAT", ",\"Flags\":true"), 0x803b001b, "Flags: a number or words"},
        {NETWORK("n", "NAT", POLICIES(SETTINGS("AutomaticDNS", "\"Enable\":1"))), 0x803b001b,
         "Policies[0].Settings.Enable: true or false"},
        {NETWORK("n", "NAT", STATIC(SUBNET("10.0.0.0/24", VSID("\"4096\"")))), 0x803b001b,
         "IsolationId: a whole number"},
        {NETWORK("n", "NAT", POLICIES("{\"Settings\":{}}")), 0x80070057, "Policies[0].Type"},
        {NETWORK("n", "NAT", POLICIES("1")), 0x803b001b, "Policies[0]: an object"},
    };

    each(state, cases, COUNT(cases));
}

static void test_subnets(void **state) {
    static const struct hns_case cases[] = {
        {NETWORK("n", "L2Bridge", ""), 0x80070057, "Ipams needs a subnet"},
        {NETWORK("n", "L2Bridge", STATIC(SUBNET("10.244.1.1/24", GATEWAY("10.244.1.1")))),
         0x803b0030, "IpAddressPrefix: '10.244.1.1/24' is not valid"},
        {NETWORK("n", "L2Bridge", STATIC(SUBNET("10.244.1.0", GATEWAY("10.244.1.1")))), 0x803b0030,
         "IpAddressPrefix"},
        {NETWORK("n", "L2Bridge", STATIC(SUBNET("10.244.1.0/33", GATEWAY("10.244.1.1")))),
         0x803b0030, "IpAddressPrefix"},
        {NETWORK("n", "L2Bridge", STATIC(MANY_SUBNETS)), 0x803b0032, "10.1.0.128/25 overlaps"},
        {NETWORK("n", "L2Bridge", STATIC(SUBNET("10.244.1.0/24", ""))), 0x80070057,
         "needs a NextHop for the default route"},
        {NETWORK("n", "L2Bridge", STATIC(SUBNET("10.244.1.0/24", GATEWAY("")))), 0x80070057,
         "needs a NextHop"},
        {NETWORK("n", "L2Bridge", STATIC(SUBNET("10.244.1.0/24", GATEWAY("10.244.2.1")))),
         0x803b001e, "gateway 10.244.2.1 is not in 10.244.1.0/24"},
        {NETWORK("n", "L2Bridge", STATIC(SUBNET("10.244.1.0/24", GATEWAY("10.244.1.0")))),
         0x803b002f, "gateway 10.244.1.0"},
        {NETWORK("n", "L2Bridge", STATIC(SUBNET("10.244.1.0/24", GATEWAY("10.244.1.255")))),
         0x803b002f, "gateway 10.244.1.255"},
        {NETWORK("n", "L2Bridge",
                 STATIC(SUBNET("10.1.0.0/16",
                               GATEWAY("10.1.0.1")) "," SUBNET("fd00::/64", GATEWAY6("fec0::1")))),
         0x803b001e, "gateway fec0::1"},
        {NETWORK("n", "L2Bridge", STATIC(SUBNET("fd00::/64", GATEWAY6("fd00::1")))), 0x80070032,
         "IPv6 alone"},
    };

    each(state, cases, COUNT(cases));
}

static void test_isolation(void **state) {
    static const struct hns_case cases[] = {
        {NETWORK("o", "Overlay", BRIDGE_SUBNET), 0x803b000d, "needs a VSID policy"},
        {NETWORK("o", "Overlay",
                 STATIC(SUBNET("10.244.1.0/24", VSID("4095") GATEWAY("10.244.1.1")))),
         0x80070057, "Settings.IsolationId: 4095 is not between 4096 and 16777215"},
        {NETWORK("o", "Overlay",
                 STATIC(SUBNET("10.244.1.0/24", VSID("16777216") GATEWAY("10.244.1.1")))),
         0x80070057, "IsolationId"},
        {NETWORK("b", "L2Bridge", OVERLAY_SUBNET), 0x803b000d, "VSID cannot stand on"},
        {NETWORK("o", "Overlay", STATIC(SUBNET("fd00::/64", VSID("4096") GATEWAY6("fd00::1")))),
         0x80070032, "an Overlay subnet is IPv4"},
        {NETWORK("b", "L2Bridge", POLICIES(SETTINGS("VxlanPort", "\"Port\":4789")) BRIDGE_SUBNET),
         0x803b000d, "VxlanPort cannot stand on a network of type L2Bridge"},
    };

    each(state, cases, COUNT(cases));
}

static void test_adapters(void **state) {
    static const struct hns_case cases[] = {
        {NETWORK("b", "L2Bridge", POLICIES(ON("Ethernet 2")) BRIDGE_SUBNET), 0x803b0006,
         "'Ethernet 2'"},
        {NETWORK("b", "L2Bridge", POLICIES(ON("vEthernet (Ethernet)")) BRIDGE_SUBNET), 0x803b0006,
         "'vEthernet (Ethernet)'"}, /* there is none yet */
        {NETWORK("b", "L2Bridge", POLICIES(ON("ETHERNET")) BRIDGE_SUBNET), 0, NULL},
        {NETWORK("b", "L2Bridge",
                 POLICIES(SETTINGS("InterfaceConstraint", "\"InterfaceAlias\":\"eth9\""))
                     BRIDGE_SUBNET),
         0x803b0006, "'eth9'"},
    };

    each(state, cases, COUNT(cases));
}

static void test_versions(void **state) {
    static const struct {
        int major, minor;
        struct hns_case is;
    } cases[] = {
        {9, 1, {BRIDGE, 0x80070032, "version 2 of the API needs HNS 9.2"}},
        {9, 2, {BRIDGE, 0, NULL}},
        {11, 9, {DUAL, 0x80070032, "dual stack needs HNS 11.10"}},
        {11, 10, {DUAL, 0, NULL}},
        {10,
         2,
         {NETWORK("o", "Overlay", POLICIES(SETTINGS("VxlanPort", "\"Port\":9898")) OVERLAY_SUBNET),
          0x803b000e, "VxlanPort needs HNS 10.3"}},
        {10,
         3,
         {NETWORK("o", "Overlay", POLICIES(SETTINGS("VxlanPort", "\"Port\":9898")) OVERLAY_SUBNET),
          0, NULL}},
        {15, 0, {NETWORK("n", "NAT", ",\"Flags\":1024"), 0x80070032, "DisableHostPort"}},
        {15, 1, {NETWORK("n", "NAT", ",\"Flags\":1024"), 0, NULL}},
        {12,
         9,
         {NETWORK("n", "NAT", POLICIES(SETTINGS("SetPolicy", "\"Id\":\"a\",\"Name\":\"a\""))),
          0x803b000e, "SetPolicy needs HNS 13.0"}},
        {13,
         0,
         {NETWORK("n", "NAT", POLICIES(SETTINGS("SetPolicy", "\"Id\":\"a\",\"Name\":\"a\""))), 0,
          NULL}},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct hns_model *m = hns_model_new(NULL);

        set_version(m, cases[i].major, cases[i].minor);
        assert_fails(add_network(m, cases[i].is.document), cases[i].is.hresult, cases[i].is.says);
        hns_model_free(m);
    }
    (void)state;
}

static void test_ids(void **state) {
    assert_int_equal(call(*state, "HcnCreateNetwork", NOBODY, BRIDGE, NULL), 0);
    assert_int_equal(call(*state, "HcnOpenNetwork", NOBODY, NULL, NULL), 0);
    assert_fails(call(*state, "HcnCreateNetwork", NOBODY, NETWORK("nat", "NAT", ""), NULL),
                 0x80071392, NOBODY);
    assert_fails(call(*state, "HcnCreateNetwork", "x", NETWORK("nat", "NAT", ""), NULL), 0x80070057,
                 "Id 'x'");
    assert_int_equal(call(*state, "HcnDeleteNetwork", NOBODY, NULL, NULL), 0);
    assert_fails(call(*state, "HcnDeleteNetwork", NOBODY, NULL, NULL), 0x803b0001, NOBODY);
    assert_fails(call(*state, "HcnOpenNetwork", NOBODY, NULL, NULL), 0x803b0001, NOBODY);
}

static void test_overlay_reads_back_what_hns_adds(void **state) {
    char *handle = make_network(*state, OVERLAY);

    assert_int_equal(call(*state, "HcnQueryNetworkProperties", handle, QUERY, NULL), 0);
    assert_non_null(strstr(answer.out[0], SETTINGS("ProviderAddress", /**/
                                                   "\"ProviderAddress\":\"10.200.0.11\"")));
    assert_non_null(
        strstr(answer.out[0], "{\"Type\":\"DrMacAddress\",\"Settings\":{\"Address\":\"00-"));
    assert_non_null(strstr(answer.out[0], "\"Owner\":\"winjoin\""));
    json_decref(control(
        *state, json_pack("{s:s, s:s, s:[]}", "op", "adapter", "alias", "Ethernet", "addresses")));
    assert_int_equal(call(*state, "HcnQueryNetworkProperties", handle, QUERY, NULL), 0);
    assert_null(strstr(answer.out[0], "ProviderAddress"));
    free(handle);
}

static void test_nat(void **state) {
    char *handle = make_network(*state, NETWORK("nat", "NAT", ""));

    assert_int_equal(call(*state, "HcnQueryNetworkProperties", handle, QUERY, NULL), 0);
    assert_null(strstr(answer.out[0], "\"Type\":\"NAT\"")); /* enumeration value zero */
    assert_non_null(strstr(answer.out[0], "\"172.16.0.0/20\""));
    assert_non_null(strstr(answer.out[0], "\"NextHop\":\"172.16.0.1\""));
    assert_fails(add_network(*state, NETWORK("nat2", "NAT", STATIC(SUBNET("172.16.8.0/24", "")))),
                 0x80071392, "its subnet is that of 'nat'");
    assert_int_equal(add_network(*state, NETWORK("nat3", "NAT", "")), 0);
    free(handle);
}

static void test_one_switch_has_one_mode(void **state) {
    assert_int_equal(add_network(*state, EXTERNAL), 0);
    assert_fails(add_network(*state, BRIDGE), 0x803b0018, "carries Overlay 'External'");
    assert_int_equal(add_network(*state, OVERLAY), 0);
    assert_fails(add_network(*state, OVERLAY), 0x803b0010,
                 "A network with this name already exists.");
    assert_fails(add_network(*state, NETWORK("other", "Overlay", OVERLAY_SUBNET)), 0x80071392,
                 "its subnet is that of 'flannel.4096'");
    assert_fails(add_network(*state, NETWORK("o", "Overlay",
                                             POLICIES(ON("vEthernet (Ethernet)")) OVERLAY_SUBNET)),
                 0x80070057, "'vEthernet (Ethernet)' is a switch's own interface");
    assert_int_equal(count_of(*state, "networks"), 2);
    assert_fails(add_network(*state, NETWORK("t", "Transparent", "")), 0x803b0018,
                 "carries Overlay");
    assert_int_equal(add_network(*state, NETWORK("in", "Internal", BRIDGE_SUBNET)), 0);
    assert_int_equal(add_network(*state, NETWORK("nat", "NAT", BRIDGE_SUBNET)), 0);
}

static void test_a_bridge_and_a_tunnel_share_a_switch(void **state) {
    assert_int_equal(add_network(*state, BRIDGE), 0);
    assert_fails(add_network(*state, NETWORK("t", "Transparent", "")), 0x803b0018,
                 "carries L2Bridge");
    assert_int_equal(
        add_network(*state,
                    NETWORK("t", "L2Tunnel", STATIC(SUBNET("10.9.0.0/16", GATEWAY("10.9.0.1"))))),
        0);
}

/* ---- policies ---- */

#define MODIFY(request, list)                                                                      \
    "{\"ResourceType\":\"Policy\",\"RequestType\":\"" request                                      \
    "\",\"Settings\":{\"Policies\":[" list "]}}"
#define ROUTE(to, host)                                                                            \
    SETTINGS("RemoteSubnetRoute",                                                                  \
             "\"DestinationPrefix\":\"" to "\",\"IsolationId\":4096,\"ProviderAddress\":\"" host   \
             "\",\"DistributedRouterMacAddress\":\"aa:bb:cc:00:00:01\"")

static unsigned modify(struct hns_model *m, const char *handle, const char *document) {
    return call(m, "HcnModifyNetwork", handle, document, NULL);
}

static size_t count_policies(struct hns_model *m, const char *handle, const char *type) {
    json_t *all = properties(m, "HcnQueryNetworkProperties", handle), *policy;
    size_t i, n = 0;

    json_array_foreach(json_object_get(all, "Policies"), i, policy) n +=
        !strcmp(text_of(policy, "Type"), type);
    json_decref(all);
    return n;
}

static void test_remote_subnets_come_and_go(void **state) {
    char *h = make_network(*state, OVERLAY);

    assert_int_equal(modify(*state, h, MODIFY("Add", ROUTE("10.244.2.0/24", "10.200.0.21"))), 0);
    assert_true(answer.changed);
    assert_fails(modify(*state, h, MODIFY("Add", ROUTE("10.244.2.0/24", "10.200.0.22"))),
                 0x803b0012, "RemoteSubnetRoute for 10.244.2.0/24");
    assert_fails(modify(*state, h, MODIFY("Remove", ROUTE("10.244.2.0/24", "10.200.0.22"))),
                 0x803b0008, "exactly these settings");
    assert_int_equal(modify(*state, h, MODIFY("Update", ROUTE("10.244.2.0/24", "10.200.0.22"))), 0);
    assert_int_equal(modify(*state, h, MODIFY("Add", ROUTE("10.244.3.0/24", "10.200.0.23"))), 0);
    assert_int_equal(count_policies(*state, h, "RemoteSubnetRoute"), 2);
    assert_int_equal(modify(*state, h, MODIFY("Remove", ROUTE("10.244.2.0/24", "10.200.0.22"))), 0);
    assert_int_equal(count_policies(*state, h, "RemoteSubnetRoute"), 1);
    free(h);
}

static void test_host_route_may_be_added_again(void **state) {
    char *h = make_network(*state, OVERLAY);

    assert_int_equal(modify(*state, h, MODIFY("Add", SETTINGS("HostRoute", ""))), 0);
    assert_int_equal(modify(*state, h, MODIFY("Add", SETTINGS("HostRoute", ""))), 0);
    assert_int_equal(count_policies(*state, h, "HostRoute"), 1);
    free(h);
}

static void test_modify_refuses(void **state) {
    static const struct hns_case cases[] = {
        {MODIFY("Add", ROUTE("10.244.2.1/24", "10.200.0.21")), 0x803b0030, "DestinationPrefix"},
        {MODIFY("Add", ROUTE("10.244.2.0/24", "node1")), 0x80070057, "ProviderAddress: 'node1'"},
        {MODIFY("Add", SETTINGS("RemoteSubnetRoute", "\"DestinationPrefix\":\"10.0.0.0/8\"")),
         0x80070057, "is required"},
        {MODIFY("Add", "{\"Type\":\"HostRoute\",\"Enable\":true}"), 0x803b001b, "unknown member"},
        {MODIFY("Add", SETTINGS("OutBoundNAT", "")), 0x803b000e, "OutBoundNAT"},
        {MODIFY("Delete", ""), 0x80070057, "RequestType: 'Delete'"},
        {MODIFY("Refresh", SETTINGS("HostRoute", "")), 0x803b0015, "Refresh of policies"},
        {"{\"ResourceType\":\"Endpoint\",\"RequestType\":\"Add\"}", 0x803b0015, "Endpoint"},
        {"{\"ResourceType\":\"Policy\",\"RequestType\":\"Add\",\"Settings\":{\"Policy\":[]}}",
         0x803b001b, "Settings.Policy: unknown member"},
        {"{\"RequestType\":\"Add\"}", 0x80070057, "ResourceType: is required"},
    };
    char *h = make_network(*state, OVERLAY);

    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_fails(modify(*state, h, cases[i].document), cases[i].hresult, cases[i].says);
        assert_false(answer.changed);
    }
    /* all of a request or nothing */
    assert_fails(modify(*state, h,
                        MODIFY("Add", ROUTE("10.9.0.0/16", "10.200.0.9") "," ROUTE("10.9.0.0/16",
                                                                                   "10.200.0.9"))),
                 0x803b0012, "10.9.0.0/16");
    assert_int_equal(count_policies(*state, h, "RemoteSubnetRoute"), 0);
    free(h);
}

static void test_subnets_can_be_added(void **state) {
    char *h = make_network(*state, BRIDGE);

    assert_int_equal(
        modify(*state, h,
               "{\"ResourceType\":\"Subnet\",\"RequestType\":\"Add\",\"Settings\":" /**/
               "{\"Subnets\":[" SUBNET("10.244.9.0/24", GATEWAY("10.244.9.1")) "]}}"),
        0);
    assert_fails(modify(*state, h,
                        "{\"ResourceType\":\"Subnet\",\"RequestType\":\"Add\",\"Settings\":" /**/
                        "{\"Subnets\":[" SUBNET("10.244.8.0/22", GATEWAY("10.244.8.1")) "]}}"),
                 0x803b0032, "overlaps");
    free(h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(test_right_documents_pass),
        CASE(test_schema),
        CASE(test_subnets),
        CASE(test_isolation),
        CASE(test_adapters),
        CASE(test_versions),
        CASE(test_ids),
        CASE(test_overlay_reads_back_what_hns_adds),
        CASE(test_nat),
        CASE(test_one_switch_has_one_mode),
        CASE(test_a_bridge_and_a_tunnel_share_a_switch),
        CASE(test_remote_subnets_come_and_go),
        CASE(test_host_route_may_be_added_again),
        CASE(test_modify_refuses),
        CASE(test_subnets_can_be_added),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
