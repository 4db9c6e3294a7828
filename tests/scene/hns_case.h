/* What the tests of the HNS model share: documents in pieces, one call, what its record says. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/hns/hns.h"

#define UNUSED __attribute__((unused))

#define V2 "\"SchemaVersion\":{\"Major\":2,\"Minor\":0}"
#define QUERY "{" V2 "}"
#define ZERO "00000000-0000-0000-0000-000000000000"
#define NOBODY "11111111-2222-3333-4444-555555555555"
#define DEFAULT_ROUTE(hop, to) "{\"NextHop\":\"" hop "\",\"DestinationPrefix\":\"" to "\"}"
#define GATEWAY(hop) ",\"Routes\":[" DEFAULT_ROUTE(hop, "0.0.0.0/0") "]"
#define GATEWAY6(hop) ",\"Routes\":[" DEFAULT_ROUTE(hop, "::/0") "]"
#define SUBNET(prefix, rest) "{\"IpAddressPrefix\":\"" prefix "\"" rest "}"
#define SETTINGS(type, settings) "{\"Type\":\"" type "\",\"Settings\":{" settings "}}"
#define POLICIES(list) ",\"Policies\":[" list "]"
#define VSID(n) POLICIES(SETTINGS("VSID", "\"IsolationId\":" n))
#define STATIC(subnets) ",\"Ipams\":[{\"Type\":\"Static\",\"Subnets\":[" subnets "]}]"
#define ON(adapter) SETTINGS("NetAdapterName", "\"NetworkAdapterName\":\"" adapter "\"")
#define NETWORK(name, type, rest)                                                                  \
    "{" V2 ",\"Owner\":\"winjoin\",\"Name\":\"" name "\",\"Type\":\"" type "\"" rest "}"
#define BRIDGE_SUBNET STATIC(SUBNET("10.244.1.0/24", GATEWAY("10.244.1.1")))
#define BRIDGE NETWORK("cbr0", "L2Bridge", BRIDGE_SUBNET)
#define DUAL                                                                                       \
    NETWORK("cbr0", "L2Bridge",                                                                    \
            STATIC(SUBNET("10.244.1.0/24", GATEWAY("10.244.1.1")) "," SUBNET(                      \
                "fd00:10:244:1::/64", GATEWAY6("fd00:10:244:1::1"))))
#define OVERLAY_SUBNET STATIC(SUBNET("10.244.1.0/24", VSID("4096") GATEWAY("10.244.1.1")))
#define OVERLAY                                                                                    \
    NETWORK("flannel.4096", "Overlay", ",\"Flags\":8" POLICIES(ON("Ethernet")) OVERLAY_SUBNET)
#define EXTERNAL                                                                                   \
    NETWORK("External", "Overlay",                                                                 \
            STATIC(SUBNET("192.168.255.0/30", VSID("9999") GATEWAY("192.168.255.1"))))
#define ENDPOINT(rest) "{" V2 rest "}"
#define AT(address) ",\"IpConfigurations\":[{\"IpAddress\":\"" address "\"}]"
#define REMOTE ",\"Flags\":1"

/* A document and how the model answers it: 0 with an empty record, or the code and a piece of the
 * record's text. */
struct hns_case {
    const char *document;
    unsigned hresult;
    const char *says;
};

static struct hns_answer answer; /* of the last call */

UNUSED static int setup(void **state) {
    *state = hns_model_new(NULL);
    return 0;
}

UNUSED static int teardown(void **state) {
    hns_answer_free(&answer);
    hns_model_free(*state);
    return 0;
}

UNUSED static unsigned call(struct hns_model *m, const char *function, const char *a, const char *b,
                            const char *c) {
    const char *args[] = {a, b, c};

    hns_answer_free(&answer);
    return hns_model_call(m, function, args, 3, &answer);
}

/* What the last call's ErrorRecord says, or version 1's envelope. */
UNUSED static void assert_says(const char *text) {
    const char *record = answer.n ? answer.out[answer.n - 1] : NULL;

    if (!record || !strstr(record, text))
        fail_msg("the record is %s, not '%s'", record ? record : "absent", text);
}

UNUSED static void assert_fails(unsigned got, unsigned wanted, const char *says) {
    const char *record = answer.n ? answer.out[answer.n - 1] : "";
    char code[32];

    if (got != wanted)
        fail_msg("0x%08x, not 0x%08x: %s", got, wanted, record ? record : "");
    if (!wanted)
        return;
    (void)snprintf(code, sizeof(code), "\"ErrorCode\":%u}", wanted);
    assert_says(code);
    assert_says(says);
}

UNUSED static json_t *control(struct hns_model *m, json_t *op) {
    json_t *got = hns_model_control(m, op, NULL);

    json_decref(op);
    return got;
}

UNUSED static void set_version(struct hns_model *m, int major, int minor) {
    json_decref(control(m, json_pack("{s:s, s:[i,i]}", "op", "set", "version", major, minor)));
}

UNUSED static unsigned add_network(struct hns_model *m, const char *document) {
    return call(m, "HcnCreateNetwork", ZERO, document, NULL);
}

/* Makes a thing and gives its open handle; the caller frees. */
UNUSED static char *make(struct hns_model *m, const char *function, const char *a, const char *b,
                         const char *c) {
    unsigned hr = call(m, function, a, b, c);

    if (hr)
        fail_msg("%s: 0x%08x %s", function, hr, answer.out[answer.n - 1]);
    assert_non_null(answer.out[0]);
    assert_null(answer.out[1]);
    return strdup(answer.out[0]);
}

UNUSED static char *make_network(struct hns_model *m, const char *document) {
    return make(m, "HcnCreateNetwork", ZERO, document, NULL);
}

/* The properties behind a handle; `query` is e.g. HcnQueryEndpointProperties. The caller decrefs.
 */
UNUSED static json_t *properties(struct hns_model *m, const char *query, const char *handle) {
    assert_int_equal(call(m, query, handle, QUERY, NULL), 0);
    return json_loads(answer.out[0], 0, NULL);
}

UNUSED static const char *text_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "(none)";
}

/* The id behind a handle; the caller frees. */
UNUSED static char *id_of(struct hns_model *m, const char *handle) {
    char *object = hns_model_handle(m, handle), *id;

    assert_non_null(object);
    id = strdup(strchr(object, ' ') + 1);
    free(object);
    return id;
}

/* The n-th object of a list of the state, e.g. "networks"; borrowed from *ret_state. */
UNUSED static json_t *state_of(struct hns_model *m, const char *list, size_t n,
                               json_t **ret_state) {
    *ret_state = hns_model_state(m);
    return json_array_get(json_object_get(*ret_state, list), n);
}

UNUSED static size_t count_of(struct hns_model *m, const char *list) {
    json_t *all = hns_model_state(m);
    size_t n = json_array_size(json_object_get(all, list));

    json_decref(all);
    return n;
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
