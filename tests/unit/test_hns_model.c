/* The HNS model: every refusal that it knows, and that right documents pass. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/hns/hns.h"

#define V2 "\"SchemaVersion\":{\"Major\":2,\"Minor\":0}"
#define ZERO "00000000-0000-0000-0000-000000000000"
#define GATEWAY(a) "\"Routes\":[{\"NextHop\":\"" a "\",\"DestinationPrefix\":\"0.0.0.0/0\"}]"
#define GATEWAY6(a) "\"Routes\":[{\"NextHop\":\"" a "\",\"DestinationPrefix\":\"::/0\"}]"
#define SUBNET(p, rest) "{\"IpAddressPrefix\":\"" p "\"" rest "}"
#define VSID(n) ",\"Policies\":[{\"Type\":\"VSID\",\"Settings\":{\"IsolationId\":" n "}}]"
#define STATIC(subnets) ",\"Ipams\":[{\"Type\":\"Static\",\"Subnets\":[" subnets "]}]"
#define ON(adapter)                                                                                \
    "{\"Type\":\"NetAdapterName\",\"Settings\":{\"NetworkAdapterName\":\"" adapter "\"}}"
#define POLICIES(list) ",\"Policies\":[" list "]"
#define NETWORK(name, type, rest)                                                                  \
    "{" V2 ",\"Owner\":\"winjoin\",\"Name\":\"" name "\",\"Type\":\"" type "\"" rest "}"
#define BRIDGE_SUBNET STATIC(SUBNET("10.244.1.0/24", "," GATEWAY("10.244.1.1")))
#define BRIDGE NETWORK("cbr0", "L2Bridge", BRIDGE_SUBNET)
#define OVERLAY_SUBNET STATIC(SUBNET("10.244.1.0/24", VSID("4096") "," GATEWAY("10.244.1.1")))
#define OVERLAY                                                                                    \
    NETWORK("flannel.4096", "Overlay", ",\"Flags\":8" POLICIES(ON("Ethernet")) OVERLAY_SUBNET)

/* The last call's outputs, for the asserts that look at them. */
static struct hns_answer answer;

static int setup(void **state) {
    *state = hns_model_new(NULL);
    return 0;
}

static int teardown(void **state) {
    hns_answer_free(&answer);
    hns_model_free(*state);
    return 0;
}

static unsigned call(struct hns_model *m, const char *function, const char *a, const char *b,
                     const char *c) {
    const char *args[] = {a, b, c};

    hns_answer_free(&answer);
    return hns_model_call(m, function, args, 3, &answer);
}

/* The last call's ErrorRecord says this. */
static void assert_says(const char *text) {
    const char *record = answer.n ? answer.out[answer.n - 1] : NULL;

    if (!record || !strstr(record, text))
        fail_msg("the record is %s, not '%s'", record ? record : "absent", text);
}

static void set_version(struct hns_model *m, int major, int minor) {
    json_t *op = json_pack("{s:s, s:[i,i]}", "op", "set", "version", major, minor);

    json_decref(hns_model_control(m, op, NULL));
    json_decref(op);
}

/* Makes a network and gives its open handle; the caller frees. */
static char *make_network(struct hns_model *m, const char *document) {
    assert_int_equal(call(m, "HcnCreateNetwork", ZERO, document, NULL), 0);
    assert_non_null(answer.out[0]);
    assert_null(answer.out[1]);
    return strdup(answer.out[0]);
}

static unsigned add_network(struct hns_model *m, const char *document) {
    return call(m, "HcnCreateNetwork", ZERO, document, NULL);
}

/* ---- networks ---- */

static void test_right_networks_pass(void **state) {
    char *handle = make_network(*state, OVERLAY);

    assert_int_equal(call(*state, "HcnQueryNetworkProperties", handle, "{" V2 "}", NULL), 0);
    assert_non_null(strstr(answer.out[0], "\"DrMacAddress\""));
    assert_non_null(strstr(answer.out[0], "{\"ProviderAddress\":\"10.200.0.11\"}"));
    free(handle);
}

static void test_vsid(void **state) {
    assert_int_equal(add_network(*state, NETWORK("o", "Overlay", BRIDGE_SUBNET)), 0x803b000d);
    assert_says("VSID");
    assert_int_equal(
        add_network(*state, NETWORK("o", "Overlay",
                                    STATIC(SUBNET("10.244.1.0/24",
                                                  VSID("4095") "," GATEWAY("10.244.1.1"))))),
        0x80070057);
    assert_says("IsolationId");
    assert_int_equal(add_network(*state, NETWORK("b", "L2Bridge", OVERLAY_SUBNET)), 0x803b000d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_right_networks_pass, setup, teardown),
        cmocka_unit_test_setup_teardown(test_vsid, setup, teardown),
    };

    (void)set_version;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
