/* What agents need when Windows or HNS starts again (`restore` of netsetup/agents/agent.h), where
 * they or their pods made the network. */
#include "tests/scene/keeper_scene.h"

#define AZURE_STATE "C:\\Windows\\System32\\azure-vnet.json"
#define AZURE_IPAM "C:\\Windows\\System32\\azure-vnet-ipam.json"

static void write_file(const char *path, const char *text) {
    assert_int_equal(host_write(host, path, text, strlen(text), HOST_PUBLIC, NULL), 0);
}

/* By an agent or a pod of its. */
static void make_network(const char *name, const char *type, const char *subnet) {
    _cleanup_(freep) char *text = xasprintf(
        "{\"Name\":\"%s\",\"Type\":\"%s\",\"Ipams\":[{\"Type\":\"Static\",\"Subnets\":[{"
        "\"IpAddressPrefix\":\"%s\"}]}],\"Flags\":8,\"SchemaVersion\":{\"Major\":2,\"Minor\":0}}",
        name, type, subnet);
    char *properties = NULL;

    assert_int_equal(hcn_create(host, HCN_NETWORK, NULL, NULL, text, &properties, NULL), 0);
    free(properties);
}

/* azure-vnet keeps the id of the network that the first pod's ADD made. */
static void add_azure_pod(void) {
    struct hcn_network network = {0};
    _cleanup_(freep) char *state = NULL;

    make_network("azure", "L2Bridge", "10.0.0.0/24");
    assert_int_equal(hcn_network_find(host, "azure", &network, NULL), 0);
    state = xasprintf("{\"Network\":{\"HnsId\":\"%s\"}}", network.id);
    write_file(AZURE_STATE, state);
    write_file(AZURE_IPAM, "{}");
}

static void join_azure(void) {
    struct nic_snapshot snapshot = {0};
    struct nic_restored result = {0};

    scene_open(&scene, "l2bridge");
    scene.input.plugin = "azure-vnet";
    scene.input.name = "azure";
    scene.input.pod_cidr = NULL;
    assert_int_equal(scene_plan(&scene), 0);
    assert_int_equal(nic_choose(host, NULL, NULL, &snapshot, NULL), 0);
    assert_int_equal(nic_guard_ensure(host, &scene.plan, &snapshot, NULL, NULL, &result, NULL), 0);
    nic_snapshot_free(&snapshot);
    scene.input.pod_cidr = "<podCIDR>"; /* as a join writes it */
    scene_write_chosen(&scene, host, NULL);
    put_service(&service_containerd);
    put_service(&service_kube_proxy);
}

static void azures_state_goes_with_its_network(void **state) {
    (void)state;
    join_azure();
    add_azure_pod();
    add_balancer();
    run(20, restart_at_5);
    assert_false(has_network("azure"));
    assert_true(has_network("External"));
    assert_int_equal(host_file_type(host, AZURE_STATE), HOST_ABSENT);
    assert_int_equal(host_file_type(host, AZURE_IPAM), HOST_ABSENT);
    assert_non_null(strstr(text_str(&told), "w HNS was restarted: removed azure-vnet's state"));
    assert_non_null(strstr(text_str(&told), "restarted kube-proxy"));
    add_azure_pod(); /* the next one can be made */
}

/* A network of another id, made by an ADD without this state, is not the one that it knows. */
static void azures_other_network_goes(void **state) {
    struct text_list did = {0};
    struct error err = {0};
    _cleanup_(freep) char *list = NULL;

    (void)state;
    join_azure();
    add_azure_pod();
    add_balancer();
    keeper.balancers = 1;
    assert_int_equal(network_restore(&keeper, false, &did, &err), 0);
    assert_int_equal(did.count, 0); /* all is as it should be: pods keep their network */
    assert_true(has_network("azure"));
    write_file(AZURE_STATE, "{\"HnsId\":\"00000000-0000-0000-0000-000000000001\"}");
    assert_int_equal(network_restore(&keeper, false, &did, &err), 0);
    assert_false(has_network("azure"));
    list = text_list_join(&did, ", ");
    assert_string_equal(list, "removed the HNS network azure, removed azure-vnet's state");
    text_list_free(&did);
    assert_int_equal(network_restore(&keeper, false, &did, &err), 0);
    assert_true(did.count <= 1); /* kube-proxy */
    text_list_free(&did);
}

/* Addresses that it had given are free after a start of Windows, whatever still stands; but not
 * once pods have come. */
static void azures_state_goes_at_boot(void **state) {
    struct host_facts facts;

    (void)state;
    join_azure();
    add_azure_pod();
    assert_int_equal(host_facts(host, &facts, NULL), 0);
    facts.uptime_seconds = 30;
    host_memory_set_facts(host, &facts);
    run(1, NULL);
    assert_true(has_network("azure")); /* containerd runs */
    host_memory_set_service_state(host, "containerd", HOST_SERVICE_STOPPED);
    assert_int_equal(network_keeper_begin(&keeper, NULL), 0);
    assert_false(has_network("azure"));
    assert_int_equal(host_file_type(host, AZURE_STATE), HOST_ABSENT);
    assert_int_equal(count("service_stop"), 0);
}

/* Nothing is to be repaired, and one call fails: pods keep their network, and a failure that
 * matters is reported. */
static void azures_network_stays_when_a_call_fails(void **state) {
    bool fails = true;

    (void)state;
    for (int pods = 0; pods < 2; pods++, fails = true) {
        join_azure();
        if (pods)
            add_azure_pod();
        for (size_t n = 1; fails; n++) {
            struct text_list did = {0};
            struct error err = {0};
            size_t calls = host_memory_calls(host);
            int result;

            host_memory_fail(host, n);
            result = network_restore(&keeper, false, &did, &err);
            fails = host_memory_calls(host) - calls >= n;
            host_memory_fail(host, 0);
            assert_int_equal(result < 0, err.kind != ERROR_NONE);
            if (fails && text_starts_with(host_memory_failed(host), "Hcn"))
                assert_int_equal(result, -1);
            assert_int_equal(has_network("azure"), pods);
            text_list_free(&did);
        }
        assert_int_equal(close_host(NULL) + open_host(NULL), 0);
    }
}

/* Without a pod there is no network, and nothing that kube-proxy could program. */
static void kube_proxy_may_wait_for_azures_first_pod(void **state) {
    (void)state;
    join_azure();
    run(120, NULL);
    assert_int_equal(count("service_stop kube-proxy"), 1); /* as winjoin-network started */
}

static void join_ovn(void) {
    scene_open(&scene, "overlay");
    scene.input.plugin = "ovn-kubernetes";
    assert_int_equal(scene_plan(&scene), 0);
    scene_write_chosen(&scene, host, NULL);
    put_service(&service_network);
    put_service(&service_containerd);
    put_service(&service_kubelet); /* on which it depends */
    put_service(&service_hybrid_overlay_node);
    put_service(&service_kube_proxy);
    make_network("BaseOVNKubernetesHybridOverlayNetwork", "Overlay", "100.64.0.0/30");
    make_network("OVNKubernetesHybridOverlayNetwork", "Overlay", "10.244.1.0/24");
    add_balancer();
}

/* It makes its networks at its start alone: when they are gone, it is started again, and what
 * depends on it. */
static void ovns_program_is_started_again(void **state) {
    (void)state;
    join_ovn();
    run(20, restart_at_5);
    assert_int_equal(count("service_stop hybrid-overlay-node"), 1);
    assert_int_equal(count("service_start hybrid-overlay-node"), 1);
    assert_true(count("service_start kube-proxy") >= 1);
    assert_false(has_network("flannel.4096")); /* winjoin makes none */
    assert_non_null(strstr(text_str(&told), "w HNS was restarted: restarted hybrid-overlay-node, "
                                            "restarted kube-proxy"));
}

static void ovns_program_starts_with_windows(void **state) {
    struct host_facts facts;

    (void)state;
    join_ovn();
    assert_int_equal(host_facts(host, &facts, NULL), 0);
    facts.uptime_seconds = 30;
    host_memory_set_facts(host, &facts);
    host_memory_restart_hns(host);
    run(1, NULL);
    assert_int_equal(count("service_stop"), 0);
    assert_int_equal(count("HcnCreateNetwork"), 2); /* the two above */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(azures_state_goes_with_its_network),
        TEST(azures_other_network_goes),
        TEST(azures_state_goes_at_boot),
        TEST(kube_proxy_may_wait_for_azures_first_pod),
        TEST(azures_network_stays_when_a_call_fails),
        TEST(ovns_program_is_started_again),
        TEST(ovns_program_starts_with_windows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
