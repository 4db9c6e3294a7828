/* HNS that refuses, lies or talks nonsense: what is said to people then, and that nothing is
 * believed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "netsetup/agents/daemon_set_agent.h"
#include "netsetup/hns/hcn_network.h"
#include "netsetup/hns/hns_features.h"
#include "netsetup/modes/bridge.h"
#include "netsetup/netsetup.h"
#include "tests/hns/hns.h"
#include "tests/memory/host_memory.h"
#include "tests/scene/network_scene.h"

/* One export answers something of its own; the others come from the model. */
struct liar {
    struct hns_model *model;
    const char *function; /* NULL: none */
    const char *answer;   /* its result, when hresult is 0 */
    uint32_t hresult;
};
static struct liar liar;
static struct scene scene;
static struct host *host;

static uint32_t lie(void *context, const char *function, const char *const *arguments, size_t count,
                    char **ret_result, char **ret_record) {
    const struct liar *l = context;
    if (!text_equal(l->function, function))
        return hns_model_host_call(l->model, function, arguments, count, ret_result, ret_record);
    *ret_record = NULL;
    *ret_result = l->hresult ? NULL : xstrdup(l->answer);
    return l->hresult;
}

static int open_world(void **state) {
    (void)state;
    host = host_memory_new();
    liar = (struct liar){.model = hns_model_new(NULL)};
    host_memory_set_hns(host, lie, &liar);
    scene_open(&scene, "overlay");
    scene.input.adapter = NULL;
    return scene_plan(&scene);
}

static int close_world(void **state) {
    (void)state;
    scene_close(&scene);
    host_free(host);
    hns_model_free(liar.model);
    return 0;
}

struct refusal {
    uint32_t hresult;
    const char *hint;
};

static void refusals_say_what_to_do(void **state) {
    static const struct refusal refusals[] = {
        {0x803b0006, "--adapter"},
        {0x803b0018, "in another mode"},
        {0x80070005, "elevated"},
        {0x800706ba, "sc.exe start hns"},
        {0x800706d9, "sc.exe start hns"},
        {0x803b0020, "sc.exe start hns"},
        {0x80070032, "winjoin capabilities"},
    };
    (void)state;
    liar.function = "HcnCreateNetwork";
    for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
        struct hcn_network network = {0};
        struct error err = {0};
        liar.hresult = refusals[i].hresult;
        assert_int_equal(hcn_base_network_ensure(host, &scene.plan, &network, NULL, &err), -1);
        assert_int_equal(err.os, refusals[i].hresult);
        assert_non_null(strstr(err.message, "create HNS network 'External'"));
        if (!strstr(err.hints[0], refusals[i].hint))
            fail_msg("0x%08x: '%s'", refusals[i].hresult, err.hints[0]);
    }
}

static void failing_look_up_is_no_absence(void **state) {
    struct hcn_network network = {0};
    struct error err = {0};
    (void)state;
    liar.function = "HcnEnumerateNetworks";
    liar.hresult = 0x800706ba;
    assert_int_equal(hcn_base_network_ensure(host, &scene.plan, &network, NULL, &err), -1);
    assert_int_equal(err.os, 0x800706ba);
    assert_int_equal(hcn_network_remove(host, "External", true, NULL, &err), -1);
    liar.function = NULL;
    assert_int_equal(hcn_network_find(host, "External", &network, &err), -1);
    assert_int_equal(err.kind, ERROR_ABSENT);
}

struct nonsense {
    const char *function, *answer;
};

static void nonsense(void **state) {
    static const struct nonsense answers[] = {
        {"HcnEnumerateNetworks", ""},
        {"HcnEnumerateNetworks", "[7]"},
        {"HcnEnumerateNetworks", "[\"../x\"]"},
        {"HcnQueryNetworkProperties", "[]"},
        {"HcnQueryNetworkProperties", "{"},
        {"HcnQueryNetworkProperties", "{\"Name\":\"External\","
                                      "\"Type\":7}"},
    };
    static const struct daemon_set_network wanted = {.hns_type = "Overlay", .name = "Calico"};
    struct hcn_network network = {0};
    (void)state;
    assert_int_equal(hcn_base_network_ensure(host, &scene.plan, &network, NULL, NULL), 0);
    for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
        struct error err = {0};
        liar.function = answers[i].function;
        liar.answer = answers[i].answer;
        if (hcn_base_network_ensure(host, &scene.plan, &network, NULL, &err) == 0)
            fail_msg("%s: %s was taken", answers[i].function, answers[i].answer);
        assert_int_not_equal(strlen(err.message), 0);
        if (daemon_set_network_find(host, &wanted, &network, &err) == 0 || err.kind == ERROR_ABSENT)
            fail_msg("%s: %s was taken for a network", answers[i].function, answers[i].answer);
    }
}

static void nonsense_about_the_version(void **state) {
    static const char *const answers[] = {
        "",
        "{}",
        "{\"Success\":false,\"Error\":\"x\"}",
        "{\"Success\":true}",
        "{\"Output\":{\"Major\":9,\"Minor\":5}}",
        "{\"Success\":true,\"Output\":{\"Major\":13}}",
        "{\"Success\":true,\"Output\":{\"Major\":-1,\"Minor\":2}}",
        "{\"Success\":true,\"Output\":{\"Major\":13,\"Minor\":99999999999}}",
    };
    struct hns_version version = {0};
    struct error err = {0};
    (void)state;
    liar.function = "HNSCall";
    for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
        liar.answer = answers[i];
        if (hns_version_get(host, &version, &err) == 0)
            fail_msg("taken: %s", answers[i]);
    }
    liar.answer = "{\"Success\":true,\"Output\":{\"Major\":9,\"Minor\":5}}";
    assert_int_equal(hns_version_get(host, &version, &err), 0);
    assert_int_equal(version.major, 9);
    assert_int_equal(version.minor, 5);
    liar.answer = "{\"Success\":true,\"Output\":{\"Major\":13,\"Minor\":0}}";
    assert_int_equal(hns_version_get(host, &version, &err), 0);
    assert_int_equal(version.major, 13);
}

/* The endpoint that holds the source VIP where the agent names it. */
static void a_source_vip_refused(void **state) {
    static const char *const answers[][2] = {
        {"{\"Success\":false,\"Error\":\"no room\"}", "no room"}, {"{}", "no reason"}};
    const struct hcn_network network = {.id = "00000001-0000-4000-8000-000000000002"};
    (void)state;
    scene.input.plugin = "ovn-kubernetes";
    network_plan_free(&scene.plan);
    assert_int_equal(scene_plan(&scene), 0);
    liar.function = "HNSCall";
    for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
        struct error err = {0};
        liar.answer = answers[i][0];
        assert_int_equal(source_vip_choose(host, &scene.plan, &network, &err), -1);
        assert_non_null(strstr(err.message, "endpoint 'VIPEndpoint': HNS refuses it: "));
        assert_non_null(strstr(err.message, answers[i][1]));
    }
}

/* A network of bridges, of which the host's own endpoint is not made yet. */
static void open_bridge(struct hcn_network *ret) {
    scene_close(&scene);
    scene_open(&scene, "l2bridge");
    scene.input.adapter = NULL;
    assert_int_equal(scene_plan(&scene), 0);
    _cleanup_json_ json_t *document = hcn_pod_network_json(&scene.plan);
    assert_int_equal(hcn_network_ensure(host, document, NULL, ret, NULL, NULL), 0);
}

/* The attach that HNS refuses is tried for a while and then told. */
static void attach_refused(void **state) {
    struct hcn_network network = {0};
    struct error err = {0};
    (void)state;
    open_bridge(&network);
    liar.function = "HNSCall";
    liar.answer = "{\"Success\":false,\"Error\":\"no switch\"}";
    uint64_t start = host_monotonic_ms(host);
    assert_int_equal(bridge_complete(host, &scene.plan, &network, &err), -1);
    assert_non_null(strstr(err.message, "no switch"));
    assert_in_range(host_monotonic_ms(host) - start, 10000, 11000);
    liar.answer = "{}";
    assert_int_equal(bridge_complete(host, &scene.plan, &network, &err), -1);
    assert_non_null(strstr(err.message, "no reason"));
    liar.answer = "no JSON";
    assert_int_equal(bridge_complete(host, &scene.plan, &network, &err), -1);
    assert_non_null(strstr(err.message, "HNS answer"));
    liar.answer =
        "{\"Success\":false,\"Error\":\"This endpoint is already attached to the switch.\"}";
    start = host_monotonic_ms(host);
    assert_int_equal(bridge_complete(host, &scene.plan, &network, &err), -1);
    /* taken as attached; but no interface came up */
    assert_int_equal(err.kind, ERROR_TIMED_OUT);
    assert_non_null(strstr(err.message, "no interface has 10.244.1.2"));
    assert_in_range(host_monotonic_ms(host) - start, 30000, 31000);
}

/* A denied attach ends at once with the error, because HNS would deny it again. */
static void attach_denied(void **state) {
    struct hcn_network network = {0};
    struct error err = {0};
    (void)state;
    open_bridge(&network);
    liar.function = "HNSCall";
    liar.hresult = 0x80070005;
    uint64_t start = host_monotonic_ms(host);
    assert_int_equal(bridge_complete(host, &scene.plan, &network, &err), -1);
    assert_int_equal(err.kind, ERROR_DENIED);
    assert_int_equal(host_monotonic_ms(host), start);
    assert_non_null(strstr(err.message, "access is denied"));
}

static void no_provider_address(void **state) {
    struct hcn_network network = {0};
    struct error err = {0};
    (void)state;
    liar.function = "HcnQueryNetworkProperties";
    liar.answer =
        "{\"ID\":\"00000001-0000-4000-8000-000000000001\",\"Name\":\"flannel.4096\","
        "\"Owner\":\"winjoin\",\"Type\":\"Overlay\",\"Policies\":[{\"Type\":\"HostRoute\","
        "\"Settings\":{}}],\"Ipams\":[{\"Type\":\"Static\",\"Subnets\":[{"
        "\"IpAddressPrefix\":\"10.244.1.0/24\",\"Policies\":[{\"Type\":\"VSID\","
        "\"Settings\":{\"IsolationId\":4096}}],\"Routes\":[{\"NextHop\":\"10.244.1.1\","
        "\"DestinationPrefix\":\"0.0.0.0/0\"}]}]}]}";
    _cleanup_json_ json_t *document = hcn_pod_network_json(&scene.plan);
    _cleanup_(freep) char *text = json_write(document);
    _cleanup_(freep) char *made = NULL;
    assert_int_equal(hcn_create(host, HCN_NETWORK, NULL, NULL, text, &made, &err), 0);
    uint64_t start = host_monotonic_ms(host);
    assert_int_equal(hcn_pod_network_ensure(host, &scene.plan, &network, NULL, &err), -1);
    assert_int_equal(err.kind, ERROR_TIMED_OUT);
    assert_non_null(strstr(err.message, "provider address"));
    assert_in_range(host_monotonic_ms(host) - start, 60000, 61000);
}

static void unknown_prefix(void **state) {
    struct hcn_network network = {0};
    struct error err = {0};
    (void)state;
    scene.plan.pod_cidr_known = false;
    assert_int_equal(hcn_pod_network_ensure(host, &scene.plan, &network, NULL, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
}

/* Settings that are empty may be left out: such a policy is not added again. */
static void policy_without_settings(void **state) {
    struct hcn_network network = {0};
    struct error err = {0};
    _cleanup_json_ json_t *document = hcn_pod_network_json(&scene.plan), *seen = NULL;
    _cleanup_json_ json_t *before = NULL, *after = NULL;
    _cleanup_(freep) char *text = json_write(document), *properties = NULL, *answer = NULL;
    (void)state;
    assert_int_equal(hcn_create(host, HCN_NETWORK, NULL, NULL, text, &properties, &err), 0);
    assert_int_equal(hcn_network_find_json(host, scene.plan.name, &network, &seen, &err), 0);
    json_array_append_new(json_object_get(seen, "Policies"),
                          json_pack("{s:s}", "Type", "HostRoute"));
    answer = json_write(seen);
    before = hns_model_state(liar.model);
    liar.function = "HcnQueryNetworkProperties";
    liar.answer = answer;
    assert_int_equal(hcn_pod_network_ensure(host, &scene.plan, &network, NULL, &err), 0);
    after = hns_model_state(liar.model);
    assert_true(json_equal(before, after));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(refusals_say_what_to_do, open_world, close_world),
        cmocka_unit_test_setup_teardown(failing_look_up_is_no_absence, open_world, close_world),
        cmocka_unit_test_setup_teardown(nonsense, open_world, close_world),
        cmocka_unit_test_setup_teardown(nonsense_about_the_version, open_world, close_world),
        cmocka_unit_test_setup_teardown(a_source_vip_refused, open_world, close_world),
        cmocka_unit_test_setup_teardown(attach_refused, open_world, close_world),
        cmocka_unit_test_setup_teardown(attach_denied, open_world, close_world),
        cmocka_unit_test_setup_teardown(no_provider_address, open_world, close_world),
        cmocka_unit_test_setup_teardown(unknown_prefix, open_world, close_world),
        cmocka_unit_test_setup_teardown(policy_without_settings, open_world, close_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
