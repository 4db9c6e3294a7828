/* A network of ours goes together with the namespaces of the pods on it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "netsetup/hns/hcn_network.h"
#include "tests/hns/hns.h"
#include "tests/memory/host_memory.h"

#define V2 "\"SchemaVersion\":{\"Major\":2,\"Minor\":0}"

static struct host *host;
static struct hns_model *model;

static int open_world(void **state) {
    static const char *const addresses[] = {"10.0.0.21/24", NULL};
    static const struct hns_model_adapter adapter = {
        .alias = "Ethernet", .mac = "00-15-5D-01-02-03", .addresses = addresses};
    const struct hns_model_options options = {.adapters = &adapter, .n_adapters = 1};
    (void)state;
    host = host_memory_new();
    model = hns_model_new(&options);
    host_memory_set_hns(host, hns_model_host_call, model);
    return 0;
}

static int close_world(void **state) {
    (void)state;
    host_free(host);
    hns_model_free(model);
    return 0;
}

/* Answers the new object's id. */
static char *create(enum hcn_kind kind, const char *network, const char *document) {
    _cleanup_(freep) char *properties = NULL;
    _cleanup_json_ json_t *made = NULL;
    struct error err = {0};
    if (hcn_create(host, kind, network, NULL, document, &properties, &err) < 0 ||
        json_read(properties, strlen(properties), "properties", &made, &err) < 0)
        fail_msg("%s", err.message);
    return xstrdup(json_text_at(made, "ID"));
}

static void create_pod(const char *network, const char *space, const char *address) {
    _cleanup_(freep) char *document =
        xasprintf("{" V2 ",\"Name\":\"p\",\"IpConfigurations\":[{\"IpAddress\":\"%s\"}]}", address);
    _cleanup_(freep) char *endpoint = create(HCN_ENDPOINT, network, document);
    _cleanup_(freep) char *add = xasprintf("{\"ResourceType\":\"Endpoint\",\"RequestType\":\"Add\","
                                           "\"Settings\":{\"EndpointId\":\"%s\"}}",
                                           endpoint);
    struct error err = {0};
    if (hcn_modify(host, HCN_NAMESPACE, space, add, &err) < 0)
        fail_msg("%s", err.message);
}

static void removed_with_its_pods(void **state) {
    _cleanup_(freep) char *network = create(
        HCN_NETWORK, NULL,
        "{" V2 ",\"Name\":\"cbr0\",\"Type\":\"L2Bridge\",\"Owner\":\"winjoin\",\"Policies\":[{"
        "\"Type\":\"NetAdapterName\",\"Settings\":{\"NetworkAdapterName\":\"Ethernet\"}}],\"Ipams\""
        ":[{\"Type\":\"Static\",\"Subnets\":[{\"IpAddressPrefix\":\"10.244.1.0/24\",\"Routes\":[{"
        "\"NextHop\":\"10.244.1.1\",\"DestinationPrefix\":\"0.0.0.0/0\"}]}]}]}");
    _cleanup_(freep) char *pod = create(HCN_NAMESPACE, NULL, "{" V2 "}");
    _cleanup_(freep) char *other = create(HCN_NAMESPACE, NULL, "{" V2 "}");
    _cleanup_(freep) char *windows =
        create(HCN_NAMESPACE, NULL, "{" V2 ",\"Type\":\"HostDefault\"}"); /* its own: it stays */
    _cleanup_json_ json_t *left = NULL;
    struct error err = {0};
    bool removed = false;
    (void)state;
    create_pod(network, pod, "10.244.1.9");
    create_pod(network, windows, "10.244.1.2");
    assert_int_equal(hcn_network_remove(host, "cbr0", true, &removed, &err), 0);
    assert_true(removed);
    assert_int_equal(hcn_list(host, HCN_NAMESPACE, NULL, NULL, &left, &err), 0);
    assert_int_equal(json_array_size(left), 2);
    assert_string_equal(json_text_at(json_array_get(left, 0), "ID"), other);
    assert_string_equal(json_text_at(json_array_get(left, 1), "ID"), windows);
}

/* One that cannot be read is not left out of the list. */
static void a_list_is_whole_or_fails(void **state) {
    _cleanup_(freep) char *space = create(HCN_NAMESPACE, NULL, "{" V2 "}");
    size_t failed = 0;
    (void)state;
    for (;;) {
        _cleanup_json_ json_t *list = NULL;
        struct error err = {0};
        host_memory_fail(host, failed + 1);
        if (hcn_list(host, HCN_NAMESPACE, NULL, NULL, &list, &err) == 0) {
            assert_int_equal(json_array_size(list), 1);
            break;
        }
        assert_int_equal(err.kind, ERROR_HOST);
        assert_null(list);
        failed++;
    }
    assert_true(failed >= 2); /* the enumeration, and each part of the look at the object */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(removed_with_its_pods, open_world, close_world),
        cmocka_unit_test_setup_teardown(a_list_is_whole_or_fails, open_world, close_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
