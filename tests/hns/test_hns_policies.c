/* The HNS model takes the policies of programs that are in no recording: azure-npm's and Calico's
 * ACLs, azure-vnet's networks that name their adapter by its address. Sources: Azure's
 * azure-container-networking (npm/pkg/dataplane/policies, network/network_windows.go), Calico's
 * felix/dataplane/windows/policysets. */
#include "tests/scene/hns_case.h"

#define MODIFY(request, list)                                                                      \
    "{\"ResourceType\":\"Policy\",\"RequestType\":\"" request                                      \
    "\",\"Settings\":{\"Policies\":[" list "]}}"
#define ACL(id, remote)                                                                            \
    SETTINGS("ACL", "\"Id\":\"" id "\",\"Action\":\"Allow\",\"Direction\":\"In\","                 \
                    "\"RemoteAddresses\":\"" remote "\",\"RuleType\":\"Switch\",\"Priority\":222")
#define POD_NAT                                                                                    \
    SETTINGS("OutBoundNAT", "\"Exceptions\":[\"10.244.0.0/16\"]")                                  \
    "," /**/                                                                                       \
        SETTINGS("OutBoundNAT", "\"Destinations\":[\"10.244.1.5\"]")

static char *make_pod(struct hns_model *m) {
    char *network = make_network(m, BRIDGE);
    char *endpoint =
        make(m, "HcnCreateEndpoint", network, ZERO, ENDPOINT(AT("10.244.1.5") POLICIES(POD_NAT)));

    free(network);
    return endpoint;
}

static unsigned modify(struct hns_model *m, const char *endpoint, const char *request) {
    return call(m, "HcnModifyEndpoint", endpoint, request, NULL);
}

/* "a b ": Ids of its ACLs, "- " for other policies; the caller frees. */
static char *policies_of(struct hns_model *m, const char *endpoint) {
    json_t *p = properties(m, "HcnQueryEndpointProperties", endpoint), *policy;
    char text[256] = "";
    size_t i;

    json_array_foreach(json_object_get(p, "Policies"), i, policy) {
        const char *id =
            json_string_value(json_object_get(json_object_get(policy, "Settings"), "Id"));
        size_t len = strlen(text);

        (void)snprintf(text + len, sizeof(text) - len, "%s ", id ? id : "-");
    }
    json_decref(p);
    return strdup(text);
}

static void assert_policies(struct hns_model *m, const char *endpoint, const char *wanted) {
    char *is = policies_of(m, endpoint);

    assert_string_equal(is, wanted);
    free(is);
}

/* Its addresses are Ids of sets; it finds its ACLs again by their Id, and sends all policies that
 * are to stay in one Update. */
static void test_acls_of_azure_npm(void **state) {
    char *pod = make_pod(*state);

    assert_int_equal(modify(*state, pod, MODIFY("Add", ACL("a", "azure-npm-11"))), 0);
    assert_int_equal(modify(*state, pod, MODIFY("Add", ACL("b", "azure-npm-11,azure-npm-12"))), 0);
    assert_int_equal(modify(*state, pod, MODIFY("Add", ACL("c", "10.0.0.1,azure-npm-12"))), 0);
    assert_policies(*state, pod, "- - a b c ");
    assert_int_equal(modify(*state, pod,
                            MODIFY("Update", POD_NAT "," ACL("a", "azure-npm-11") "," ACL(
                                                 "c", "10.0.0.1,azure-npm-12"))),
                     0);
    assert_policies(*state, pod, "- - a c ");
    assert_int_equal(modify(*state, pod, MODIFY("Update", ACL("d", "10.0.0.9"))), 0);
    assert_policies(*state, pod, "- - d ");
    assert_fails(modify(*state, pod, MODIFY("Add", ACL("e", "azure-npm-11,"))), 0x80070057,
                 "RemoteAddresses");
    set_version(*state, 12, 9); /* has no sets */
    assert_fails(modify(*state, pod, MODIFY("Add", ACL("e", "azure-npm-11"))), 0x80070057,
                 "RemoteAddresses: 'azure-npm-11'");
    free(pod);
}

/* Calico writes up to 4000 addresses and ranges of ports into one ACL. */
static void test_long_acls_of_calico(void **state) {
    static char addresses[128 * 1024], request[130 * 1024];
    char *pod = make_pod(*state);
    size_t len = 0;

    for (unsigned i = 0; i < 4000; i++)
        len += (size_t)snprintf(addresses + len, sizeof(addresses) - len, "%s100.%u.%u.0/28",
                                i ? "," : "", 64 + i / 250, i % 250);
    (void)snprintf(request, sizeof(request), MODIFY("Add", ACL("long", "%s")), addresses);
    assert_int_equal(modify(*state, pod, request), 0);
    assert_policies(*state, pod, "- - long ");
    free(pod);
}

/* In multitenancy azure-vnet gives the address that the adapter has, of a network of any switch. */
static void test_the_adapter_that_has_an_address(void **state) {
#define BY(address)                                                                                \
    NETWORK("azure", "L2Bridge",                                                                   \
            POLICIES(SETTINGS("ProviderAddress", "\"ProviderAddress\":\"" address "\""))           \
                BRIDGE_SUBNET)
    json_t *network, *all;

    assert_fails(add_network(*state, BY("10.200.0.1")), 0x803b0006, "'10.200.0.1'");
    json_decref(
        control(*state, json_pack("{s:s, s:[{s:s, s:s, s:[s], s:b}, {s:s, s:s, s:[s], s:b}]}", "op",
                                  "set", "adapters", "alias", "First", "mac", "00-15-5D-00-00-01",
                                  "addresses", "10.0.0.11/24", "dhcp", 1, "alias", "Second", "mac",
                                  "00-15-5D-00-00-02", "addresses", "10.0.0.1/24", "dhcp", 1)));
    assert_int_equal(add_network(*state, BY("10.0.0.1")), 0);
    network = state_of(*state, "networks", 0, &all);
    assert_string_equal(text_of(network, "Adapter"), "Second");
    json_decref(all);
    assert_fails(
        add_network(*state, NETWORK("n", "NAT",
                                    POLICIES(SETTINGS("ProviderAddress",
                                                      "\"ProviderAddress\":\"10.0.0.1\"")))),
        0x803b000d, "ProviderAddress cannot stand on a network of type NAT");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(test_acls_of_azure_npm),
        CASE(test_long_acls_of_calico),
        CASE(test_the_adapter_that_has_an_address),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
