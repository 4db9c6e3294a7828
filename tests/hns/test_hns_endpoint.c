/* The HNS model's endpoints and namespaces. */
#include "tests/scene/hns_case.h"

#define CONFIG(rest) ",\"IpConfigurations\":[{" rest "}]"
#define IP(a) "\"IpAddress\":\"" a "\""
#define PORT(internal, external)                                                                   \
    SETTINGS("PortMapping",                                                                        \
             "\"Protocol\":6,\"InternalPort\":" internal ",\"ExternalPort\":" external)
#define POD_NAT                                                                                    \
    SETTINGS("OutBoundNAT", "\"Exceptions\":[\"10.244.0.0/16\",\"10.96.0.1\"],"                    \
                            "\"Destinations\":[\"10.244.1.5\"]")
#define POD_POLICIES                                                                                    \
    POD_NAT                                                                                             \
    "," SETTINGS("SDNRoute", "\"DestinationPrefix\":\"10.96.0.0/12\",\"NeedEncap\":true") "," SETTINGS( \
        "ProviderAddress", "\"ProviderAddress\":\"10.200.0.11\"") "," PORT("80", "8080")

static unsigned add(struct hns_model *m, const char *network, const char *document) {
    return call(m, "HcnCreateEndpoint", network, ZERO, document);
}

static char *make_endpoint(struct hns_model *m, const char *network, const char *document) {
    return make(m, "HcnCreateEndpoint", network, ZERO, document);
}

static void test_right_endpoints_pass(void **state) {
    static const char *const documents[] = {
        ENDPOINT(",\"Name\":\"cbr0_ep\"" CONFIG(IP("10.244.1.2") ",\"PrefixLength\":24")),
        /* as win-bridge sends it */
        ENDPOINT(",\"Name\":\"c1_cbr0\"" AT("10.244.1.3") ",\"Dns\":{\"Search\":[\"a.b\"]}" GATEWAY(
            "10.244.1.2") ",\"Health\":{\"Extra\":{}}"),
        /* no ipam */
        ENDPOINT(",\"IpConfigurations\":[{}],\"Routes\":[{\"DestinationPrefix\":\"::/0\"}]"),
        /* a remote endpoint lies anywhere, a MAC has colons or dashes */
        ENDPOINT(AT("10.96.0.1") REMOTE ",\"MacAddress\":\"02:00:0a:c8:00:0b\""),
        ENDPOINT(AT("10.244.1.3") REMOTE),
        ENDPOINT(CONFIG(IP("10.244.1.9") ",\"PrefixLength\":32")),
    };
    char *network = make_network(*state, BRIDGE);

    for (size_t i = 0; i < COUNT(documents); i++)
        assert_fails(add(*state, network, documents[i]), 0, NULL);
    assert_int_equal(count_of(*state, "endpoints"), COUNT(documents));
    free(network);
}

static void test_what_hns_adds(void **state) {
    char *network = make_network(*state, BRIDGE), *id = id_of(*state, network);
    char *h = make_endpoint(*state, network, ENDPOINT(AT("10.244.1.7")));
    json_t *p = properties(*state, "HcnQueryEndpointProperties", h), *config, *route;

    assert_string_equal(text_of(p, "HostComputeNetwork"), id);
    assert_string_equal(text_of(p, "MacAddress"), "00-15-5D-AA-00-01");
    config = json_array_get(json_object_get(p, "IpConfigurations"), 0);
    assert_int_equal(json_integer_value(json_object_get(config, "PrefixLength")), 24);
    route = json_array_get(json_object_get(p, "Routes"), 0);
    assert_string_equal(text_of(route, "NextHop"), "10.244.1.1");
    assert_string_equal(text_of(route, "DestinationPrefix"), "0.0.0.0/0");
    json_decref(p);
    free(h);
    free(id);
    free(network);
}

static size_t count_routes(struct hns_model *m, const char *network, const char *document) {
    char *h = make_endpoint(m, network, document);
    json_t *p = properties(m, "HcnQueryEndpointProperties", h);
    size_t n = json_array_size(json_object_get(p, "Routes"));

    json_decref(p);
    free(h);
    return n;
}

static void test_default_routes(void **state) {
    char *network = make_network(*state, DUAL);

    assert_int_equal(count_routes(*state, network, ENDPOINT(AT("10.244.1.9"))), 1);
    assert_int_equal(count_routes(*state, network,
                                  ENDPOINT(",\"IpConfigurations\":[{" IP("10.244.1.5") "},{" IP(
                                      "fd00:10:244:1::5") "}]")),
                     2);
    assert_int_equal(count_routes(*state, network, ENDPOINT(GATEWAY("10.244.1.2"))), 1);
    free(network);
}

static void test_addresses_are_allocated(void **state) {
    static const char *const wanted[] = {"10.0.0.2", "10.0.0.3", "10.0.0.5"};
    char *network = make_network(
        *state, NETWORK("n", "L2Bridge", STATIC(SUBNET("10.0.0.0/29", GATEWAY("10.0.0.4")))));

    for (size_t i = 0; i < COUNT(wanted); i++) {
        char *h = make_endpoint(*state, network, ENDPOINT(",\"IpConfigurations\":[{}]"));
        json_t *p = properties(*state, "HcnQueryEndpointProperties", h);

        assert_string_equal(
            text_of(json_array_get(json_object_get(p, "IpConfigurations"), 0), "IpAddress"),
            wanted[i]);
        json_decref(p);
        free(h);
    }
    assert_int_equal(add(*state, network, ENDPOINT("")), 0);
    assert_fails(add(*state, network, ENDPOINT("")), 0x803b002f, "no address is free");
    free(network);
}

static void test_refusals(void **state) {
    static const struct hns_case cases[] = {
        {ENDPOINT(AT("10.244.2.3")), 0x803b001e, "10.244.2.3 is in no subnet of 'cbr0'"},
        {ENDPOINT(AT("10.244.1")), 0x803b001e, "IpConfigurations[0].IpAddress"},
        {ENDPOINT(AT("10.244.1.1")), 0x803b002f, "10.244.1.1"},
        {ENDPOINT(AT("10.244.1.0")), 0x803b002f, "10.244.1.0"},
        {ENDPOINT(AT("10.244.1.255")), 0x803b002f, "10.244.1.255"},
        {ENDPOINT(AT("10.244.1.2")), 0x80071392, "10.244.1.2"},
        {ENDPOINT(",\"IpConfigurations\":[{" IP("10.244.1.5") "},{" IP("10.244.1.5") "}]"),
         0x80071392, "10.244.1.5"},
        {ENDPOINT(CONFIG(IP("10.244.1.5") ",\"PrefixLength\":16")), 0x803b0030, "PrefixLength 16"},
        {ENDPOINT(CONFIG(IP("10.244.1.5") ",\"PrefixLength\":129")), 0x803b0030, "PrefixLength"},
        {ENDPOINT(AT("10.244.1.5") GATEWAY("10.244.2.1")), 0x803b001e,
         "Routes[0]: NextHop 10.244.2.1"},
        {ENDPOINT(",\"HostComputeNetwork\":\"" NOBODY "\""), 0x80070057, "not the network"},
        {ENDPOINT(",\"HostComputeNamespace\":\"" NOBODY "\""), 0x80070490, NOBODY},
        {ENDPOINT(",\"MacAddress\":\"02-00-0a\""), 0x80070057, "MacAddress: '02-00-0a'"},
        {ENDPOINT(",\"Flags\":64"), 0x80070057, "bits 0x40"},
        {ENDPOINT(POLICIES(SETTINGS("ProviderAddress", "\"ProviderAddress\":\"10.200.0.11\""))),
         0x803b000d, "ProviderAddress cannot stand on a network of type L2Bridge"},
        {ENDPOINT(POLICIES(SETTINGS("ROUTE", ""))), 0x803b000e, "'ROUTE'"},
        {ENDPOINT(POLICIES("{\"Type\":\"OutBoundNAT\",\"Setings\":{}}")), 0x803b001b,
         "Policies[0].Setings: unknown member"},
        {ENDPOINT(POLICIES(SETTINGS("OutBoundNAT", "\"Exceptions\":[\"10.0.0.0/8\",\"x\"]"))),
         0x80070057, "Policies[0].Settings.Exceptions[1]: 'x'"},
        {ENDPOINT(POLICIES(PORT("0", "80"))), 0x803b002d, "InternalPort: 0 is not between"},
        {ENDPOINT(POLICIES(PORT("80", "65536"))), 0x80070057, "ExternalPort"},
        {ENDPOINT(POLICIES(SETTINGS("SDNRoute", "\"DestinationPrefix\":\"10.96.0.0/33\""))),
         0x803b0030, "DestinationPrefix"},
        {ENDPOINT(POLICIES(SETTINGS("ACL", "\"Action\":\"Deny\",\"Direction\":\"In\""))),
         0x80070057, "Action: 'Deny'"},
        {ENDPOINT(POLICIES(SETTINGS("ACL", "\"Action\":\"Block\",\"Direction\":\"Out\"," /**/
                                           "\"RemoteAddresses\":\"10.0.0.1,\""))),
         0x80070057, "RemoteAddresses"},
        {ENDPOINT(POLICIES(SETTINGS("InterfaceParameters", "\"Mtu\":100"))), 0x80070057, "Mtu"},
        {ENDPOINT(POLICIES(SETTINGS("TierAcl", ""))), 0x803b000e, "TierAcl needs HNS 14.0"},
    };
    char *network = make_network(*state, BRIDGE);

    assert_int_equal(add(*state, network, ENDPOINT(AT("10.244.1.2"))), 0);
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_fails(add(*state, network, cases[i].document), cases[i].hresult, cases[i].says);
    assert_int_equal(count_of(*state, "endpoints"), 1);
    assert_fails(add(*state, "77", ENDPOINT("")), 0x80070006, "'77'");
    free(network);
}

static void test_policies_of_a_pod(void **state) {
    char *network = make_network(*state, OVERLAY), *h;
    json_t *p;

    h = make_endpoint(*state, network, ENDPOINT(AT("10.244.1.5") POLICIES(POD_POLICIES)));
    p = properties(*state, "HcnQueryEndpointProperties", h);
    assert_int_equal(json_array_size(json_object_get(p, "Policies")), 4);
    json_decref(p);
    assert_fails(add(*state, network, ENDPOINT(POLICIES(PORT("81", "8080")))), 0x803b0013,
                 "external port 8080");
    assert_int_equal(
        call(*state, "HcnModifyEndpoint", h,
             "{\"ResourceType\":\"Policy\",\"RequestType\":\"Remove\",\"Settings\":" /**/
             "{\"Policies\":[" PORT("80", "8080") "]}}",
             NULL),
        0);
    assert_int_equal(add(*state, network, ENDPOINT(POLICIES(PORT("81", "8080")))), 0);
    assert_fails(call(*state, "HcnModifyEndpoint", h,
                      "{\"ResourceType\":\"Policy\",\"RequestType\":\"Add\",\"Settings\":" /**/
                      "{\"Policies\":[" PORT("80", "8080") "]}}",
                      NULL),
                 0x803b0013, "8080");
    p = properties(*state, "HcnQueryEndpointProperties", h);
    assert_int_equal(json_array_size(json_object_get(p, "Policies")), 3);
    json_decref(p);
    free(h);
    free(network);
}

#define MAPPED(vip)                                                                                \
    ENDPOINT(POLICIES(SETTINGS("PortMapping", "\"Protocol\":6,\"InternalPort\":80,"                \
                                              "\"ExternalPort\":8080,\"VIP\":\"" vip "\"")))

static void test_a_host_port_is_of_one_address(void **state) {
    char *network = make_network(*state, BRIDGE);

    assert_int_equal(add(*state, network, MAPPED("10.200.0.11")), 0);
    assert_int_equal(add(*state, network, MAPPED("10.200.0.12")), 0);
    assert_fails(add(*state, network, MAPPED("10.200.0.12")), 0x803b0013, "8080");
    assert_fails(add(*state, network, MAPPED("")), 0x803b0013, "8080");
    assert_fails(add(*state, network, MAPPED("0.0.0.0")), 0x803b0013, "8080");
    free(network);
}

#define FLAGGED(flags)                                                                             \
    SETTINGS("PortMapping",                                                                        \
             "\"Protocol\":6,\"InternalPort\":80,\"ExternalPort\":8080,\"Flags\":" flags)

static void test_a_host_port_is_of_one_mapping(void **state) {
    char *network = make_network(*state, BRIDGE), *h;

    assert_fails(
        add(*state, network, ENDPOINT(POLICIES(PORT("80", "8080") "," PORT("80", "8080")))),
        0x803b0013, "Policies[0]: external port 8080 is there twice");
    assert_fails(
        add(*state, network, ENDPOINT(POLICIES(PORT("80", "8080") "," PORT("81", "8080")))),
        0x803b0013, "there twice");
    assert_int_equal(count_of(*state, "endpoints"), 0);
    assert_fails(add(*state, network, ENDPOINT(POLICIES(FLAGGED("4")))), 0x80070057, "Flags");
    /* as sdnbridge sends it in dual stack: the second is of IPv6 */
    h = make_endpoint(*state, network, ENDPOINT(POLICIES(FLAGGED("1") "," FLAGGED("3"))));
    assert_fails(add(*state, network, ENDPOINT(POLICIES(FLAGGED("3")))), 0x803b0013, "8080");
    assert_fails(call(*state, "HcnModifyEndpoint", h,
                      "{\"ResourceType\":\"Policy\",\"RequestType\":\"Add\",\"Settings\":" /**/
                      "{\"Policies\":[" FLAGGED("0") "]}}",
                      NULL),
                 0x803b0013, "there twice");
    free(h);
    free(network);
}

static void test_local_and_remote_addresses(void **state) {
    char *network = make_network(*state, BRIDGE);

    assert_int_equal(add(*state, network, ENDPOINT(AT("10.244.1.5"))), 0);
    assert_int_equal(add(*state, network, ENDPOINT(AT("10.244.1.5") REMOTE)), 0);
    assert_fails(add(*state, network, ENDPOINT(AT("10.244.1.5") REMOTE)), 0x80071392, "10.244.1.5");
    assert_int_equal(add(*state, network, ENDPOINT(AT("10.244.1.6") REMOTE)), 0);
    assert_fails(add(*state, network, ENDPOINT(AT("10.244.1.6"))), 0x80071392, "10.244.1.6");
    free(network);
}

static void test_versions(void **state) {
    static const char both[] =
        ENDPOINT(",\"IpConfigurations\":[{" IP("10.244.1.5") "},{" IP("fd00:10:244:1::5") "}]");
    static const char host[] = ENDPOINT(CONFIG(IP("10.244.1.9") ",\"PrefixLength\":32"));
    char *network = make_network(*state, DUAL);

    set_version(*state, 11, 9);
    assert_fails(add(*state, network, both), 0x80070032, "dual stack needs HNS 11.10");
    set_version(*state, 11, 10);
    assert_fails(add(*state, network, both), 0, NULL);
    set_version(*state, 10, 3);
    assert_fails(add(*state, network, host), 0x80070032, "a /32 endpoint needs");
    set_version(*state, 9, 5);
    assert_fails(add(*state, network, host), 0, NULL);
    free(network);
}

static void test_each_family_gets_an_address(void **state) {
    char *network = make_network(*state, DUAL);
    char *h = make_endpoint(*state, network, ENDPOINT(""));
    json_t *p = properties(*state, "HcnQueryEndpointProperties", h);
    const json_t *configs = json_object_get(p, "IpConfigurations");

    assert_int_equal(json_array_size(configs), 2);
    assert_string_equal(text_of(json_array_get(configs, 0), "IpAddress"), "10.244.1.2");
    assert_string_equal(text_of(json_array_get(configs, 1), "IpAddress"), "fd00:10:244:1::2");
    assert_int_equal(json_array_size(json_object_get(p, "Routes")), 2);
    json_decref(p);
    free(h);
    free(network);
}

/* OpenShift's CNI file: version 1's names in a policy of version 2. */
static void test_settings_that_no_schema_has_are_passed_over(void **state) {
    char *network = make_network(*state, BRIDGE);
    char *h = make_endpoint(*state, network,
                            ENDPOINT(POLICIES(SETTINGS(
                                "OutBoundNAT", "\"exceptionList\":[\"10.96.0.0/12\"],"
                                               "\"destinationPrefix\":\"\",\"needEncap\":false"))));
    json_t *p = properties(*state, "HcnQueryEndpointProperties", h);
    const json_t *policy = json_array_get(json_object_get(p, "Policies"), 0);

    assert_string_equal(text_of(policy, "Type"), "OutBoundNAT");
    assert_int_equal(json_object_size(json_object_get(policy, "Settings")), 0);
    json_decref(p);
    free(h);
    free(network);
}

static void test_a_network_takes_its_endpoints_with_it(void **state) {
    char *network = make_network(*state, BRIDGE), *id = id_of(*state, network);
    char *h = make_endpoint(*state, network, ENDPOINT(AT("10.244.1.5")));

    assert_int_equal(call(*state, "HcnDeleteNetwork", id, NULL, NULL), 0);
    assert_int_equal(count_of(*state, "endpoints"), 0);
    assert_fails(call(*state, "HcnQueryEndpointProperties", h, QUERY, NULL), 0x803b0002,
                 "Endpoint");
    free(h);
    free(id);
    free(network);
}

/* ---- namespaces ---- */

#define MEMBER(request, id)                                                                        \
    "{\"ResourceType\":\"Endpoint\",\"RequestType\":\"" request                                    \
    "\",\"Settings\":{\"EndpointId\":\"" id "\"}}"

static unsigned member(struct hns_model *m, const char *space, const char *request,
                       const char *id) {
    char document[200];

    (void)snprintf(document, sizeof(document), MEMBER("%s", "%s"), request, id);
    return call(m, "HcnModifyNamespace", space, document, NULL);
}

static char *make_namespace(struct hns_model *m, const char *document) {
    return make(m, "HcnCreateNamespace", ZERO, document, NULL);
}

static size_t members(struct hns_model *m, const char *space) {
    json_t *p = properties(m, "HcnQueryNamespaceProperties", space);
    size_t n = json_array_size(json_object_get(p, "Resources"));

    json_decref(p);
    return n;
}

static void test_namespace_as_containerd_makes_it(void **state) {
    char *a = make_namespace(*state, "{\"SchemaVersion\":{\"Major\":0,\"Minor\":0}}");
    char *b = make_namespace(*state, "{" V2 ",\"Type\":\"Guest\"}"), *id = id_of(*state, a);
    json_t *p = properties(*state, "HcnQueryNamespaceProperties", a);

    assert_string_equal(text_of(p, "Type"), "Host");
    assert_string_equal(text_of(p, "NamespaceGuid"), id);
    assert_int_equal(json_integer_value(json_object_get(p, "NamespaceId")), 2);
    json_decref(p);
    p = properties(*state, "HcnQueryNamespaceProperties", b);
    assert_int_equal(json_integer_value(json_object_get(p, "NamespaceId")), 3);
    json_decref(p);
    assert_fails(call(*state, "HcnCreateNamespace", ZERO, "{}", NULL), 0x80070057, "SchemaVersion");
    assert_fails(call(*state, "HcnCreateNamespace", ZERO,
                      "{\"SchemaVersion\":{\"Major\":0,\"Minor\":1}}", NULL),
                 0x80070057, "SchemaVersion 0.1");
    free(id);
    free(a);
    free(b);
}

static void test_default_namespace_is_one(void **state) {
    char *h = make_namespace(*state, "{" V2 ",\"Type\":\"HostDefault\"}");
    json_t *p = properties(*state, "HcnQueryNamespaceProperties", h);

    assert_int_equal(json_integer_value(json_object_get(p, "NamespaceId")), 1);
    assert_fails(
        call(*state, "HcnCreateNamespace", ZERO, "{" V2 ",\"Type\":\"HostDefault\"}", NULL),
        0x803b0029, text_of(p, "ID"));
    json_decref(p);
    free(h);
}

static void test_members_of_a_namespace(void **state) {
    struct hns_model *m = *state;
    char *network = make_network(m, BRIDGE), *h = make_endpoint(m, network, ENDPOINT(""));
    char *far = make_endpoint(m, network, ENDPOINT(AT("10.96.0.1") REMOTE));
    char *id = id_of(m, h), *far_id = id_of(m, far);
    char *space = make_namespace(m, QUERY), *other = make_namespace(m, QUERY);
    char *space_id = id_of(m, space);
    json_t *p;

    assert_int_equal(member(m, space, "Add", id), 0);
    assert_int_equal(member(m, space, "Add", id), 0); /* a second container of the sandbox */
    assert_int_equal(members(m, space), 1);
    p = properties(m, "HcnQueryEndpointProperties", h);
    assert_string_equal(text_of(p, "HostComputeNamespace"), space_id);
    json_decref(p);
    assert_fails(member(m, other, "Add", id), 0x803b002b, space_id);
    assert_fails(member(m, space, "Add", far_id), 0x803b000f, "namespace");
    assert_fails(member(m, space, "Add", NOBODY), 0x803b0002, NOBODY);
    assert_fails(member(m, other, "Remove", id), 0x80070490, "is not in the namespace");
    assert_int_equal(member(m, space, "Remove", id), 0);
    p = properties(m, "HcnQueryEndpointProperties", h);
    assert_null(json_object_get(p, "HostComputeNamespace"));
    json_decref(p);
    assert_int_equal(member(m, other, "Add", id), 0);
    assert_int_equal(call(m, "HcnDeleteEndpoint", id, NULL, NULL), 0);
    assert_int_equal(members(m, other), 0);
    free(network), free(h), free(far), free(id), free(far_id);
    free(space), free(other), free(space_id);
}

static void test_a_deleted_network_lets_only_its_own_go(void **state) {
    struct hns_model *m = *state;
    char *network = make_network(m, BRIDGE), *h = make_endpoint(m, network, ENDPOINT(""));
    char *nat = make_network(m, NETWORK("nat", "NAT", "")), *nat_id = id_of(m, nat);
    char *space = make_namespace(m, QUERY), *id = id_of(m, h), *space_id = id_of(m, space);
    json_t *p;

    assert_int_equal(member(m, space, "Add", id), 0);
    assert_int_equal(call(m, "HcnDeleteNetwork", nat_id, NULL, NULL), 0);
    p = properties(m, "HcnQueryEndpointProperties", h);
    assert_string_equal(text_of(p, "HostComputeNamespace"), space_id);
    json_decref(p);
    assert_int_equal(members(m, space), 1);
    assert_fails(member(m, space, "Update", id), 0x803b0015, "Update of a namespace's Endpoint");
    assert_fails(call(m, "HcnModifyNamespace", space,
                      "{\"ResourceType\":\"Port\",\"RequestType\":\"Add\"}", NULL),
                 0x803b0015, "ResourceType Port of a namespace");
    free(network), free(h), free(nat), free(nat_id), free(space), free(id), free(space_id);
}

static void test_a_namespace_in_use_cannot_be_deleted(void **state) {
    struct hns_model *m = *state;
    char *space = make_namespace(m, QUERY), *id = id_of(m, space);

    json_decref(
        control(m, json_pack("{s:s, s:s, s:s}", "op", "stick", "kind", "Namespace", "id", id)));
    assert_fails(call(m, "HcnDeleteNamespace", id, NULL, NULL), 0x803b0015, "is in use");
    assert_int_equal(count_of(m, "namespaces"), 1);
    hns_model_reboot(m);
    assert_int_equal(count_of(m, "namespaces"), 0);
    free(space), free(id);
}

/* Whatever the document says, and back: an endpoint that leaves so takes nothing with it. */
static void test_any_document_is_put_in_an_objects_place(void **state) {
    struct hns_model *m = *state;
    char *network = make_network(m, BRIDGE), *h = make_endpoint(m, network, ENDPOINT(""));
    char *id = id_of(m, h);
    json_t *p, *was = control(m, json_pack("{s:s, s:s, s:s, s:{s:s}}", "op", "swap", "kind",
                                           "Endpoint", "id", id, "doc", "Name", "changed"));

    p = properties(m, "HcnQueryEndpointProperties", h);
    assert_string_equal(text_of(p, "Name"), "changed");
    json_decref(p);
    json_decref(
        control(m, json_pack("{s:s, s:s, s:s}", "op", "swap", "kind", "Endpoint", "id", id)));
    assert_int_equal(count_of(m, "endpoints"), 0);
    json_decref(control(m, json_pack("{s:s, s:s, s:s, s:O}", "op", "swap", "kind", "Endpoint", "id",
                                     id, "doc", json_object_get(was, "doc"))));
    p = properties(m, "HcnQueryEndpointProperties", h);
    assert_string_equal(text_of(p, "ID"), id);
    json_decref(p);
    json_decref(was);
    free(network), free(h), free(id);
}

static void test_a_deleted_namespace_lets_go(void **state) {
    struct hns_model *m = *state;
    char *network = make_network(m, BRIDGE), *h = make_endpoint(m, network, ENDPOINT(""));
    char *space = make_namespace(m, QUERY), *id = id_of(m, h), *space_id = id_of(m, space);
    json_t *p;

    assert_int_equal(member(m, space, "Add", id), 0);
    assert_int_equal(call(m, "HcnModifyNamespace", space,
                          "{\"ResourceType\":\"Container\",\"RequestType\":\"Add\"," /**/
                          "\"Settings\":{\"ContainerId\":\"c1\"}}",
                          NULL),
                     0);
    assert_int_equal(members(m, space), 2);
    assert_int_equal(call(m, "HcnDeleteNamespace", space_id, NULL, NULL), 0);
    p = properties(m, "HcnQueryEndpointProperties", h);
    assert_null(json_object_get(p, "HostComputeNamespace"));
    json_decref(p);
    assert_fails(call(m, "HcnDeleteNamespace", space_id, NULL, NULL), 0x80070490, space_id);
    free(network), free(h), free(space), free(id), free(space_id);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(test_right_endpoints_pass),
        CASE(test_what_hns_adds),
        CASE(test_default_routes),
        CASE(test_addresses_are_allocated),
        CASE(test_refusals),
        CASE(test_policies_of_a_pod),
        CASE(test_a_host_port_is_of_one_address),
        CASE(test_a_host_port_is_of_one_mapping),
        CASE(test_local_and_remote_addresses),
        CASE(test_versions),
        CASE(test_each_family_gets_an_address),
        CASE(test_settings_that_no_schema_has_are_passed_over),
        CASE(test_a_network_takes_its_endpoints_with_it),
        CASE(test_namespace_as_containerd_makes_it),
        CASE(test_default_namespace_is_one),
        CASE(test_members_of_a_namespace),
        CASE(test_a_deleted_network_lets_only_its_own_go),
        CASE(test_a_namespace_in_use_cannot_be_deleted),
        CASE(test_any_document_is_put_in_an_objects_place),
        CASE(test_a_deleted_namespace_lets_go),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
