/* Networks in HNS (the strict model): made, met again, replaced, refused, removed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "netsetup/hns/hcn_network.h"
#include "netsetup/hns/hns_features.h"
#include "netsetup/modes/bridge.h"
#include "netsetup/nic/nic.h"
#include "tests/hns/hns.h"
#include "tests/memory/host_memory.h"
#include "tests/scene/network_scene.h"

struct world {
    struct scene scene;
    struct host *host;
    struct hns_model *model;
};
static struct world world;

static void tick(void *context, struct host *host) {
    (void)hns_model_tick(context, host_monotonic_ms(host)); /* what changed is seen by asking */
}

static int open_world(void **state) {
    static const char *const addresses[] = {"10.0.0.21/24", NULL};
    static const struct hns_model_adapter adapter = {
        .alias = "Ethernet", .mac = "00-15-5D-01-02-03", .addresses = addresses, .dhcp = true};
    const struct hns_model_options options = {
        .adapters = &adapter, .n_adapters = 1, .outage_ms = 3000};
    (void)state;
    world = (struct world){.host = host_memory_new(), .model = hns_model_new(&options)};
    host_memory_set_hns(world.host, hns_model_host_call, world.model);
    host_memory_on_sleep(world.host, tick, world.model);
    return 0;
}

static int close_world(void **state) {
    (void)state;
    scene_close(&world.scene);
    host_free(world.host);
    hns_model_free(world.model);
    return 0;
}

static void plan(const char *mode) {
    scene_close(&world.scene);
    scene_open(&world.scene, mode);
    if (scene_plan(&world.scene) < 0)
        fail_msg("%s", world.scene.err.message);
}

/* Takes the vSwitch outage, as the join does. */
static void make_switch(void) {
    struct nic_snapshot snapshot = {0};
    struct nic_restored result = {0};
    struct error err = {0};
    if (nic_choose(world.host, NULL, NULL, &snapshot, &err) < 0 ||
        nic_guard_ensure(world.host, &world.scene.plan, &snapshot, NULL, NULL, &result, &err) < 0)
        fail_msg("%s", err.message);
    nic_snapshot_free(&snapshot);
}

static enum hcn_outcome ensure(struct hcn_network *ret) {
    struct error err = {0};
    enum hcn_outcome outcome = HCN_REUSED;
    if (hcn_pod_network_ensure(world.host, &world.scene.plan, ret, &outcome, &err) < 0)
        fail_msg("%s", err.message);
    return outcome;
}

static size_t count(const char *member) {
    json_t *state = hns_model_state(world.model);
    size_t n = json_array_size(json_object_get(state, member));
    json_decref(state);
    return n;
}

static void create_foreign(const char *document) {
    struct error err = {0};
    _cleanup_(freep) char *properties = NULL;
    if (hcn_create(world.host, HCN_NETWORK, NULL, NULL, document, &properties, &err) < 0)
        fail_msg("%s", err.message);
}

/* What HNS says of the pod network; prefix NULL: any. */
static size_t count_policies(const char *type, const char *prefix) {
    _cleanup_json_ json_t *document = NULL;
    struct hcn_network network = {0};
    size_t n = 0;
    assert_int_equal(hcn_network_find_json(world.host, "flannel.4096", &network, &document, NULL),
                     0);
    json_each(json_object_get(document, "Policies"), i, policy)
        n += text_equal(json_text_at(policy, "Type"), type) &&
             (!prefix || text_equal(json_text_at(policy, "Settings.DestinationPrefix"), prefix));
    return n;
}

static size_t count_routes(const char *prefix) {
    return count_policies("RemoteSubnetRoute", prefix);
}

static void overlay_twice(void **state) {
    struct hcn_network network = {0}, again = {0};
    (void)state;
    plan("overlay");
    make_switch();
    assert_int_equal(ensure(&network), HCN_CREATED);
    assert_string_equal(network.type, "Overlay");
    assert_string_equal(network.subnet, "10.244.1.0/24");
    assert_string_equal(network.gateway, "10.244.1.1");
    assert_int_equal(network.vsid, 4096);
    assert_string_equal(network.provider_address, "10.0.0.21");
    assert_int_not_equal(strlen(network.router_mac), 0);
    assert_int_equal(count_policies("HostRoute", NULL), 1);
    json_t *before = hns_model_state(world.model);
    assert_int_equal(ensure(&again), HCN_REUSED);
    json_t *after = hns_model_state(world.model);
    assert_true(json_equal(before, after));
    assert_string_equal(again.id, network.id);
    json_decref(before);
    json_decref(after);
}

static void l2bridge_twice(void **state) {
    struct hcn_network network = {0};
    bool on = false;
    uint32_t index = 0;
    (void)state;
    plan("l2bridge");
    make_switch();
    assert_int_equal(ensure(&network), HCN_CREATED);
    assert_int_equal(count("endpoints"), 1);
    assert_int_equal(nic_index_of(world.host, "10.244.1.2", &index, NULL), 0);
    assert_int_equal(host_forwarding(world.host, index, 4, &on, NULL), 0);
    assert_true(on);
    assert_int_equal(nic_index_of(world.host, "10.0.0.21", &index, NULL), 0);
    assert_int_equal(host_forwarding(world.host, index, 4, &on, NULL), 0);
    assert_true(on);
    json_t *before = hns_model_state(world.model);
    assert_int_equal(ensure(&network), HCN_REUSED);
    json_t *after = hns_model_state(world.model);
    assert_true(json_equal(before, after));
    json_decref(before);
    json_decref(after);
}

static void ours_is_replaced(void **state) {
    struct hcn_network network = {0};
    (void)state;
    plan("overlay");
    make_switch();
    assert_int_equal(ensure(&network), HCN_CREATED);
    world.scene.input.pod_cidr = "10.244.7.0/24";
    network_plan_free(&world.scene.plan);
    assert_int_equal(scene_plan(&world.scene), 0);
    assert_int_equal(ensure(&network), HCN_REPLACED);
    assert_string_equal(network.subnet, "10.244.7.0/24");
    assert_int_equal(count("networks"), 2);
}

static void foreign_is_refused(void **state) {
    struct hcn_network network = {0};
    struct error err = {0};
    bool removed = true;
    (void)state;
    plan("l2bridge");
    make_switch();
    create_foreign("{\"SchemaVersion\":{\"Major\":2,\"Minor\":0},\"Name\":\"cbr0\",\"Type\":"
                   "\"L2Bridge\",\"Ipams\":[{\"Type\":\"Static\",\"Subnets\":[{\"IpAddressPrefix\":"
                   "\"10.9.0.0/24\",\"Routes\":[{\"NextHop\":\"10.9.0.1\",\"DestinationPrefix\":"
                   "\"0.0.0.0/0\"}]}]}]}");
    assert_int_equal(hcn_pod_network_ensure(world.host, &world.scene.plan, &network, NULL, &err),
                     -1);
    assert_int_equal(err.kind, ERROR_CONFLICT);
    assert_non_null(strstr(err.message, "'cbr0'"));
    assert_non_null(strstr(err.hints[0], "--network-name"));
    assert_int_equal(hcn_network_remove(world.host, "cbr0", true, &removed, &err), 0);
    assert_false(removed);
    assert_int_equal(hcn_network_find(world.host, "cbr0", &network, &err), 0);
    assert_int_equal(hcn_network_find(world.host, "cbr", &network, &err), -1);
    assert_int_equal(err.kind, ERROR_ABSENT);
}

static void foreign_and_equal_is_used(void **state) {
    struct hcn_network network = {0};
    (void)state;
    plan("l2bridge");
    make_switch();
    create_foreign("{\"SchemaVersion\":{\"Major\":2,\"Minor\":0},\"Name\":\"cbr0\",\"Type\":"
                   "\"L2Bridge\",\"Ipams\":[{\"Type\":\"Static\",\"Subnets\":[{\"IpAddressPrefix\":"
                   "\"10.244.1.0/24\",\"Routes\":[{\"NextHop\":\"10.244.1.1\","
                   "\"DestinationPrefix\":\"0.0.0.0/0\"}]}]}]}");
    assert_int_equal(ensure(&network), HCN_REUSED);
    assert_string_equal(network.owner, "");
    assert_int_equal(count("networks"), 2);
}

/* HNS does what it was asked and the answer says otherwise (a lost call, an object that exists). */
static uint32_t lie_hresult;
static uint32_t lie(void *context, const char *function, const char *const *arguments, size_t n,
                    char **ret_result, char **ret_record) {
    uint32_t hresult = hns_model_host_call(context, function, arguments, n, ret_result, ret_record);
    if (hresult != 0 || !lie_hresult || !text_equal(function, "HcnCreateNetwork"))
        return hresult;
    free(*ret_result);
    *ret_result = NULL;
    return lie_hresult;
}

static void create_that_says_exists(void **state) {
    struct hcn_network network = {0};
    struct error err = {0};
    (void)state;
    plan("overlay");
    make_switch();
    host_memory_set_hns(world.host, lie, world.model);
    lie_hresult = 0x80071392;
    assert_int_equal(ensure(&network), HCN_CREATED);
    assert_int_equal(count("networks"), 2);
    assert_int_equal(hcn_network_remove(world.host, "flannel.4096", true, NULL, NULL), 0);
    lie_hresult = 0x80070057;
    assert_int_equal(hcn_pod_network_ensure(world.host, &world.scene.plan, &network, NULL, &err),
                     -1);
    assert_int_equal(err.kind, ERROR_HOST);
    lie_hresult = 0;
}

static void another_adapter_is_another_network(void **state) {
    struct hcn_network network = {0};
    struct error err = {0};
    (void)state;
    plan("overlay");
    make_switch();
    (void)ensure(&network);
    free(world.scene.plan.adapter);
    world.scene.plan.adapter = xstrdup("Ethernet 2");
    assert_int_equal(hcn_pod_network_ensure(world.host, &world.scene.plan, &network, NULL, &err),
                     -1);
    assert_non_null(strstr(err.message, "create HNS network 'flannel.4096'"));
}

static void endpoint_in_the_way(void **state) {
    struct hcn_network network = {0};
    struct error err = {0};
    _cleanup_(freep) char *pod = NULL;
    _cleanup_(freep) char *wrong = NULL;
    (void)state;
    plan("l2bridge");
    make_switch();
    json_t *document = hcn_pod_network_json(&world.scene.plan);
    assert_int_equal(hcn_network_ensure(world.host, document, NULL, &network, NULL, &err), 0);
    json_decref(document);
    assert_int_equal(hcn_create(world.host, HCN_ENDPOINT, network.id, NULL,
                                "{\"SchemaVersion\":{\"Major\":2,\"Minor\":0},\"Name\":\"pod\","
                                "\"IpConfigurations\":[{\"IpAddress\":\"10.244.1.9\"}]}",
                                &pod, &err),
                     0);
    assert_int_equal(hcn_create(world.host, HCN_ENDPOINT, network.id, NULL,
                                "{\"SchemaVersion\":{\"Major\":2,\"Minor\":0},\"Name\":\"taken\","
                                "\"IpConfigurations\":[{\"IpAddress\":\"10.244.1.2\"}]}",
                                &wrong, &err),
                     0);
    assert_int_equal(ensure(&network), HCN_REUSED);
    assert_int_equal(count("endpoints"), 2);
    /* on somebody else's network nothing is deleted */
    (void)text_format(network.owner, sizeof(network.owner), "other");
    free(world.scene.plan.host_endpoint_name);
    world.scene.plan.host_endpoint_name = xstrdup("else_ep");
    assert_int_equal(bridge_complete(world.host, &world.scene.plan, &network, &err), -1);
    assert_int_equal(err.kind, ERROR_CONFLICT);
    assert_int_equal(count("endpoints"), 2);
}

static void removed_with_its_load(void **state) {
    struct hcn_network network = {0};
    struct error err = {0};
    bool removed = false;
    _cleanup_(freep) char *properties = NULL;
    (void)state;
    plan("overlay");
    make_switch();
    assert_int_equal(ensure(&network), HCN_CREATED);
    assert_int_equal(hcn_create(world.host, HCN_ENDPOINT, network.id, NULL,
                                "{\"SchemaVersion\":{\"Major\":2,\"Minor\":0},\"Name\":\"p\","
                                "\"IpConfigurations\":[{\"IpAddress\":\"10.244.1.9\"}]}",
                                &properties, &err),
                     0);
    json_t *endpoint = NULL;
    assert_int_equal(json_read(properties, strlen(properties), "x", &endpoint, &err), 0);
    _cleanup_(freep) char *balancer =
        xasprintf("{\"SchemaVersion\":{\"Major\":2,\"Minor\":0},\"HostComputeEndpoints\":[\"%s\"],"
                  "\"SourceVIP\":\"10.244.1.2\",\"FrontendVIPs\":[\"10.96.0.1\"],\"PortMappings\":"
                  "[{\"Protocol\":6,\"InternalPort\":6443,\"ExternalPort\":443}]}",
                  json_text_at(endpoint, "ID"));
    json_decref(endpoint);
    _cleanup_(freep) char *made = NULL;
    if (hcn_create(world.host, HCN_LOAD_BALANCER, NULL, NULL, balancer, &made, &err) < 0)
        fail_msg("%s", err.message);
    /* one of another network stays */
    create_foreign("{\"SchemaVersion\":{\"Major\":2,\"Minor\":0},\"Name\":\"other\",\"Type\":"
                   "\"Overlay\",\"Ipams\":[{\"Type\":\"Static\",\"Subnets\":[{\"IpAddressPrefix\":"
                   "\"10.9.0.0/24\",\"Policies\":[{\"Type\":\"VSID\",\"Settings\":{"
                   "\"IsolationId\":5000}}],\"Routes\":[{\"NextHop\":\"10.9.0.1\","
                   "\"DestinationPrefix\":\"0.0.0.0/0\"}]}]}]}");
    struct hcn_network other = {0};
    _cleanup_(freep) char *other_endpoint = NULL;
    assert_int_equal(hcn_network_find(world.host, "other", &other, NULL), 0);
    assert_int_equal(hcn_create(world.host, HCN_ENDPOINT, other.id, NULL,
                                "{\"SchemaVersion\":{\"Major\":2,\"Minor\":0},\"Name\":\"q\","
                                "\"IpConfigurations\":[{\"IpAddress\":\"10.9.0.9\"}]}",
                                &other_endpoint, &err),
                     0);
    assert_int_equal(json_read(other_endpoint, strlen(other_endpoint), "x", &endpoint, &err), 0);
    _cleanup_(freep) char *second =
        xasprintf("{\"SchemaVersion\":{\"Major\":2,\"Minor\":0},\"HostComputeEndpoints\":[\"%s\"],"
                  "\"SourceVIP\":\"10.9.0.2\",\"FrontendVIPs\":[\"10.96.0.2\"],\"PortMappings\":"
                  "[{\"Protocol\":6,\"InternalPort\":6443,\"ExternalPort\":443}]}",
                  json_text_at(endpoint, "ID"));
    json_decref(endpoint);
    _cleanup_(freep) char *made_second = NULL;
    assert_int_equal(
        hcn_create(world.host, HCN_LOAD_BALANCER, NULL, NULL, second, &made_second, &err), 0);
    assert_int_equal(hcn_network_remove(world.host, network.name, true, &removed, &err), 0);
    assert_true(removed);
    assert_int_equal(count("loadBalancers"), 1);
    assert_int_equal(count("endpoints"), 1);
    assert_int_equal(count("networks"), 2);
    assert_int_equal(hcn_network_remove(world.host, network.name, true, &removed, &err), 0);
    assert_false(removed);
}

static void missing_policy_comes_back(void **state) {
    struct hcn_network network = {0};
    (void)state;
    plan("overlay");
    make_switch();
    json_t *document = hcn_pod_network_json(&world.scene.plan);
    char *text = json_write(document);
    json_decref(document);
    create_foreign(text);
    free(text);
    assert_int_equal(hcn_network_find(world.host, "flannel.4096", &network, NULL), 0);
    assert_int_equal(count_policies("HostRoute", NULL), 0);
    assert_int_equal(ensure(&network), HCN_REUSED);
    assert_int_equal(count_policies("HostRoute", NULL), 1);
}

/* A policy of the same type with other settings is another policy. */
static void policies_by_settings(void **state) {
    const struct network_peer peers[] = {
        {.pod_cidr = "10.244.2.0/24", .address = "10.0.0.22", .router_mac = "00-15-5D-00-00-02"},
        {.pod_cidr = "10.244.3.0/24", .address = "10.0.0.23", .router_mac = "00-15-5D-00-00-03"},
    };
    struct hcn_network network = {0};
    (void)state;
    plan("overlay");
    make_switch();
    _cleanup_json_ json_t *document = hcn_pod_network_json(&world.scene.plan);
    _cleanup_json_ json_t *policies = scene_routes(&world.scene.plan, peers, 2);
    assert_int_equal(hcn_network_ensure(world.host, document, policies, &network, NULL, NULL), 0);
    assert_int_equal(count_routes("10.244.2.0/24"), 1);
    assert_int_equal(count_routes("10.244.3.0/24"), 1);
}

static int write_remotes(const struct network_peer *peers, size_t count, bool only,
                         struct error *err) {
    _cleanup_json_ json_t *routes = scene_routes(&world.scene.plan, peers, count);
    return node_routes_write(world.host, &world.scene.plan, routes, only, err);
}

static void remote_subnets(void **state) {
    struct network_peer remotes[] = {
        {.pod_cidr = "10.244.2.0/24", .address = "10.0.0.22", .router_mac = "00-15-5D-00-00-02"},
        {.pod_cidr = "10.244.3.0/24", .address = "10.0.0.23", .router_mac = "00-15-5D-00-00-03"},
    };
    struct hcn_network network = {0};
    struct error err = {0};
    (void)state;
    plan("overlay");
    make_switch();
    (void)ensure(&network);
    assert_int_equal(write_remotes(remotes, 2, true, &err), 0);
    assert_int_equal(count_routes("10.244.2.0/24"), 1);
    json_t *before = hns_model_state(world.model);
    assert_int_equal(write_remotes(remotes, 2, true, &err), 0);
    json_t *after = hns_model_state(world.model);
    assert_true(json_equal(before, after));
    json_decref(before);
    json_decref(after);
    remotes[0].address = "10.0.0.99";
    if (write_remotes(remotes, 1, true, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(count_routes("10.244.2.0/24"), 1);
    assert_int_equal(count_routes("10.244.3.0/24"), 0);
    assert_int_equal(write_remotes(remotes + 1, 1, false, &err), 0); /* beside the other */
    assert_int_equal(count_routes("10.244.2.0/24"), 1);
    assert_int_equal(count_routes("10.244.3.0/24"), 1);
    assert_int_equal(write_remotes(NULL, 0, false, &err), 0);
    assert_int_equal(count_routes("10.244.3.0/24"), 1);
    assert_int_equal(write_remotes(NULL, 0, true, &err), 0);
    assert_int_equal(count_routes("10.244.3.0/24"), 0);
}

/* Each call that can fail fails once: an error, never a crash, and the next run ends well. */
static void every_call_fails_once(void **state) {
    (void)state;
    plan("l2bridge");
    make_switch();
    for (size_t n = 1; n < 60; n++) {
        struct hcn_network network = {0};
        struct error err = {0};
        host_memory_fail(world.host, n);
        if (hcn_pod_network_ensure(world.host, &world.scene.plan, &network, NULL, &err) == 0) {
            host_memory_fail(world.host, 0);
            continue;
        }
        assert_int_not_equal(err.kind, ERROR_NONE);
        assert_int_not_equal(strlen(err.message), 0);
        host_memory_fail(world.host, 0);
        assert_int_not_equal(ensure(&network), HCN_REPLACED);
        assert_int_equal(hcn_network_remove(world.host, "cbr0", true, NULL, &err), 0);
    }
}

static void version(void **state) {
    struct hns_version v = {0};
    struct error err = {0};
    (void)state;
    assert_int_equal(hns_version_get(world.host, &v, &err), 0);
    assert_int_equal(v.major, 13);
    assert_int_equal(v.minor, 2);
    host_memory_fail(world.host, 1);
    assert_int_equal(hns_version_get(world.host, &v, &err), -1);
    assert_non_null(strstr(err.hints[0], "hns"));
}

static int read_network(const char *text, struct hcn_network *ret) {
    _cleanup_json_ json_t *json = json_loads(text, 0, NULL);
    struct error err = {0};
    int result = hcn_network_parse(json, ret, &err);

    assert_int_equal(err.kind, result < 0 ? ERROR_MALFORMED : ERROR_NONE);
    return result;
}

static void reading_documents(void **state) {
    static const char *const bad[] = {
        "[]",
        "{\"Type\":7}",
        "{\"Policies\":[{\"Type\":\"NetAdapterName\",\"Settings\":{\"NetworkAdapterName\":[]}}]}",
        "{\"Ipams\":[{\"Subnets\":[{\"IpAddressPrefix\":"
        "\"1234567890123456789012345678901234567890123456789012345678901234567890\"}]}]}",
        "{\"Ipams\":[{\"Subnets\":[{\"Policies\":[{\"Type\":\"VSID\",\"Settings\":{"
        "\"IsolationId\":-1}}]}]}]}",
    };
    struct hcn_network network = {0};
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        assert_int_equal(read_network(bad[i], &network), -1);
    assert_int_equal(read_network("{\"ID\":\"x\"}", &network), 0);
    assert_string_equal(network.type, "NAT");
    assert_int_equal(
        read_network("{\"Ipams\":[{\"Subnets\":[{\"Policies\":[{\"Type\":\"VLAN\",\"Settings\":"
                     "{\"IsolationId\":7}},{\"Type\":\"VSID\",\"Settings\":{\"IsolationId\":"
                     "4097}}],\"Routes\":[{\"NextHop\":\"10.0.0.9\",\"DestinationPrefix\":"
                     "\"10.8.0.0/16\"},{\"NextHop\":\"10.0.0.1\",\"DestinationPrefix\":"
                     "\"0.0.0.0/0\"}]}]}]}",
                     &network),
        0);
    assert_int_equal(network.vsid, 4097);
    assert_string_equal(network.gateway, "10.0.0.1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(overlay_twice, open_world, close_world),
        cmocka_unit_test_setup_teardown(l2bridge_twice, open_world, close_world),
        cmocka_unit_test_setup_teardown(ours_is_replaced, open_world, close_world),
        cmocka_unit_test_setup_teardown(foreign_is_refused, open_world, close_world),
        cmocka_unit_test_setup_teardown(foreign_and_equal_is_used, open_world, close_world),
        cmocka_unit_test_setup_teardown(create_that_says_exists, open_world, close_world),
        cmocka_unit_test_setup_teardown(another_adapter_is_another_network, open_world,
                                        close_world),
        cmocka_unit_test_setup_teardown(endpoint_in_the_way, open_world, close_world),
        cmocka_unit_test_setup_teardown(removed_with_its_load, open_world, close_world),
        cmocka_unit_test_setup_teardown(missing_policy_comes_back, open_world, close_world),
        cmocka_unit_test_setup_teardown(policies_by_settings, open_world, close_world),
        cmocka_unit_test_setup_teardown(remote_subnets, open_world, close_world),
        cmocka_unit_test_setup_teardown(every_call_fails_once, open_world, close_world),
        cmocka_unit_test_setup_teardown(version, open_world, close_world),
        cmocka_unit_test(reading_documents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
