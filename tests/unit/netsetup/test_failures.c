/* Every call to the host fails once: what netsetup/ and services/ do then is an error, not a guess.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "netsetup/netsetup.h"
#include "netsetup/hns/hns_features.h"
#include "netsetup/nic/nic.h"
#include "netsetup/routes/routes.h"
#include "services/artifacts/artifacts.h"
#include "services/hosted_service.h"
#include "services/service_table.h"
#include "tests/memory/host_memory.h"
#include "tests/scene/network_scene.h"
#include "tests/scene/program_image.h"

#define STORE "C:\\var\\lib\\cni\\networks\\flannel.4096\\"
#define SHA_ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

static struct scene overlay, bridge;

static int open_scenes(void **state) {
    (void)state;
    scene_open(&overlay, "overlay");
    scene_open(&bridge, "l2bridge");
    return scene_plan(&overlay) < 0 || scene_plan(&bridge) < 0 ? -1 : 0;
}

static int close_scenes(void **state) {
    (void)state;
    scene_close(&overlay);
    scene_close(&bridge);
    return 0;
}

static void put(struct host *host, const char *path, const char *content) {
    assert_int_equal(host_write(host, path, content, strlen(content), HOST_PUBLIC, NULL), 0);
}

/* ---- the scenes ---- */

static void bare(struct host *host) {
    (void)host;
}

static void with_routes(struct host *host) {
    const struct pod_route routes[] = {{"10.244.2.0/24", "10.0.0.99"},
                                       {"10.244.3.0/24", "10.0.0.23"}};
    assert_int_equal(pod_routes_ensure(host, "10.0.0.21", routes, 2, NULL, NULL), 0);
}

static void with_reservations(struct host *host) {
    put(host, STORE "10.244.1.77", "winjoin\r\nsource-vip");
    put(host, STORE "10.244.9.7", "c0ffee\r\neth0");
}

static void with_files(struct host *host) {
    put(host, "C:\\etc\\cni\\net.d\\0-containerd-nat.conf", "{}");
    put(host, "D:\\b\\winjoin.lock",
        "{\"apiVersion\":\"winjoin.io/v1alpha1\",\"kind\":\"BundleLock\",\"artifacts\":[{\"name\":"
        "\"kubelet\",\"version\":\"1\",\"sha256\":\"" SHA_ABC
        "\",\"size\":3,\"path\":\"kubelet.exe\"}]}");
    put(host, "D:\\b\\kubelet.exe", "abc");
    _cleanup_(freep) char *program = image_make(NULL);
    assert_int_equal(host_write(host, "D:\\p\\kubelet.exe", program, IMAGE_SIZE, HOST_PUBLIC, NULL),
                     0);
    put(host, "C:\\log\\x.log", "1");
    put(host, "C:\\log\\x.1.log", "2");
}

static void with_switch(struct host *host) {
    struct nic_snapshot snapshot = {0};
    struct nic_restored result = {0};
    assert_int_equal(nic_choose(host, NULL, NULL, &snapshot, NULL), 0);
    assert_int_equal(nic_guard_ensure(host, &bridge.plan, &snapshot, NULL, NULL, &result, NULL), 0);
    nic_snapshot_free(&snapshot);
}

static void with_networks(struct host *host) {
    struct hcn_network network = {0};
    with_switch(host);
    assert_int_equal(hcn_pod_network_ensure(host, &bridge.plan, &network, NULL, NULL), 0);
}

static struct service_settings node_settings(void) {
    return (struct service_settings){.kubelet_version = "v1.37.1",
                                     .kube_proxy_version = "v1.37.1",
                                     .node_name = "n",
                                     .network_name = "cbr0"};
}

static void with_service(struct host *host) {
    const struct service_settings settings = node_settings();
    assert_int_equal(service_ensure(host, &service_kubelet, &settings, NULL, NULL), 0);
}

/* ---- what is done in them ---- */

static int choose(struct host *host, struct error *err) {
    struct nic_snapshot snapshot = {0};
    int result = nic_choose(host, NULL, NULL, &snapshot, err);
    nic_snapshot_free(&snapshot);
    return result;
}

static int add_routes(struct host *host, struct error *err) {
    const struct pod_route routes[] = {{"10.244.2.0/24", "10.0.0.22"},
                                       {"10.244.4.0/24", "10.0.0.24"}};
    return pod_routes_ensure(host, "10.0.0.21", routes, 2, NULL, err);
}

static int remove_routes(struct host *host, struct error *err) {
    const struct pod_route routes[] = {{"10.244.3.0/24", "10.0.0.23"}};
    return pod_routes_remove(host, routes, 1, err);
}

static int forward(struct host *host, struct error *err) {
    return forwarding_ensure(host, "10.0.0.21", err);
}

static int list_conflicts(struct host *host, struct error *err) {
    struct text_list conflicts = {0};
    int result = cni_conflicts(host, CNI_CONF_DIR, &conflicts, err);
    text_list_free(&conflicts);
    return result;
}

static int reserve(struct host *host, struct error *err) {
    return source_vip_ensure(host, &overlay.plan, err);
}

static int give_back(struct host *host, struct error *err) {
    return source_vip_remove(host, "flannel.4096", err);
}

static int clean_store(struct host *host, struct error *err) {
    return ipam_stale_remove(host, &overlay.plan, err);
}

static int ask_version(struct host *host, struct error *err) {
    struct hns_version version = {0};
    return hns_version_get(host, &version, err);
}

static int base_network(struct host *host, struct error *err) {
    struct hcn_network network = {0};
    return hcn_base_network_ensure(host, &bridge.plan, &network, NULL, err);
}

static const struct network_peer remotes[] = {
    {.pod_cidr = "10.244.2.0/24", .address = "10.0.0.22", .router_mac = "00-15-5D-00-00-02"},
    {.pod_cidr = "10.244.3.0/24", .address = "10.0.0.23", .router_mac = "00-15-5D-00-00-03"},
    {.pod_cidr = "10.244.4.0/24", .address = "10.0.0.24", .router_mac = "00-15-5D-00-00-04"},
};

static int write_remotes(struct host *host, size_t first, struct error *err) {
    _cleanup_json_ json_t *routes = scene_routes(&overlay.plan, remotes + first, 2);
    return node_routes_write(host, &overlay.plan, routes, true, err);
}

static void with_overlay(struct host *host) {
    struct hcn_network network = {0};
    _cleanup_json_ json_t *document = hcn_pod_network_json(&overlay.plan);
    assert_int_equal(hcn_network_ensure(host, document, NULL, &network, NULL, NULL), 0);
    assert_int_equal(write_remotes(host, 0, NULL), 0);
}

/* The first goes, the third comes. */
static int change_remotes(struct host *host, struct error *err) {
    return write_remotes(host, 1, err);
}

static int replace_network(struct host *host, struct error *err) {
    struct hcn_network network = {0};
    _cleanup_json_ json_t *document = hcn_pod_network_json(&overlay.plan);
    _cleanup_json_ json_t *policies = hcn_network_policies_json(&overlay.plan);
    json_object_set_new(document, "Name", json_string("cbr0"));
    return hcn_network_ensure(host, document, policies, &network, NULL, err);
}

static int check_clashes(struct host *host, struct error *err) {
    return network_clash_check(host, &bridge.plan, err);
}

static int remove_network(struct host *host, struct error *err) {
    return hcn_network_remove(host, "cbr0", true, NULL, err);
}

static int put_service(struct host *host, struct error *err) {
    const struct service_settings settings = node_settings();
    return service_ensure(host, &service_kubelet, &settings, NULL, err);
}

static int remove_service(struct host *host, struct error *err) {
    return service_remove(host, &service_kubelet, err);
}

static int load_settings(struct host *host, struct error *err) {
    struct service_host_settings settings = {0};
    int result = service_host_settings_load(host, "kubelet", &settings, err);
    service_host_settings_free(&settings);
    return result;
}

static int rotate(struct host *host, struct error *err) {
    char path[] = "C:\\log\\x.log";
    const struct service_host_settings settings = {.log_file = path, .max_log_files = 3};
    return service_log_rotate(host, &settings, err);
}

static int install_artifacts(struct host *host, struct error *err) {
    _cleanup_(bundle_freep) struct bundle *bundle = NULL;
    struct artifacts_result result = {0};
    if (bundle_open(host, "D:\\b", NULL, &bundle, err) < 0)
        return -1;
    return artifacts_ensure(host, bundle, NULL, NULL, NULL, &result, err);
}

static int pack(struct host *host, struct error *err) {
    struct artifacts made = {0};
    int result = bundle_create(host, "D:\\p", "D:\\b.zip", NULL, &made, err);
    artifacts_free(&made);
    return result;
}

struct step {
    const char *name;
    void (*prepare)(struct host *host);
    int (*act)(struct host *host, struct error *err);
};

static const struct step steps[] = {
    {"nic_choose", bare, choose},
    {"pod_routes_ensure", with_routes, add_routes},
    {"pod_routes_remove", with_routes, remove_routes},
    {"forwarding_ensure", bare, forward},
    {"cni_conflicts", with_files, list_conflicts},
    {"source_vip_ensure", with_reservations, reserve},
    {"source_vip_remove", with_reservations, give_back},
    {"ipam_stale_remove", with_reservations, clean_store},
    {"hns_version_get", bare, ask_version},
    {"hcn_base_network_ensure", bare, base_network},
    {"hcn_base_network_ensure again", with_networks, base_network},
    {"hcn_network_ensure replaces", with_networks, replace_network},
    {"node_routes_write", with_overlay, change_remotes},
    {"network_clash_check", with_networks, check_clashes},
    {"hcn_network_remove", with_networks, remove_network},
    {"service_ensure", bare, put_service},
    {"service_ensure again", with_service, put_service},
    {"service_remove", with_service, remove_service},
    {"service_host_settings_load", with_service, load_settings},
    {"service_log_rotate", with_files, rotate},
    {"artifacts_ensure", with_files, install_artifacts},
    {"bundle_create", with_files, pack},
};

static size_t count_calls(const struct step *step) {
    struct host *host = host_memory_new();
    struct error err = {0};
    step->prepare(host);
    size_t before = host_memory_calls(host);
    if (step->act(host, &err) < 0)
        fail_msg("%s: %s", step->name, err.message);
    size_t calls = host_memory_calls(host) - before;
    host_free(host);
    return calls;
}

static void fail_each(const struct step *step) {
    size_t calls = count_calls(step);
    assert_int_not_equal(calls, 0);
    for (size_t n = 1; n <= calls; n++) {
        struct host *host = host_memory_new();
        struct error err = {0};
        step->prepare(host);
        host_memory_fail(host, n);
        if (step->act(host, &err) == 0)
            fail_msg("%s: failing call %zu was passed over", step->name, n);
        if (err.kind != ERROR_HOST || !strstr(err.message, "told to fail"))
            fail_msg("%s, call %zu: '%s'", step->name, n, err.message);
        /* and the same again fixes it */
        host_memory_fail(host, 0);
        error_clear(&err);
        if (step->act(host, &err) < 0)
            fail_msg("%s after call %zu failed: %s", step->name, n, err.message);
        host_free(host);
    }
}

static void each_call(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
        fail_each(&steps[i]);
}

/* The guard tries again instead: but it never calls a half-restored adapter good. */
static void guarded_adapter(void **state) {
    (void)state;
    for (size_t n = 1; n < 60; n++) {
        struct host *host = host_memory_new();
        struct nic_snapshot snapshot = {0}, now = {0};
        struct nic_restored result = {0};
        struct error err = {0};
        assert_int_equal(nic_choose(host, NULL, NULL, &snapshot, &err), 0);
        host_memory_fail(host, n);
        if (nic_guard_ensure(host, &bridge.plan, &snapshot, NULL, NULL, &result, &err) == 0)
            assert_string_equal(result.address, "10.0.0.21/24");
        host_memory_fail(host, 0);
        assert_int_equal(nic_choose(host, NULL, NULL, &now, &err), 0);
        assert_string_equal(now.address, snapshot.address);
        assert_int_equal(now.dns_servers.count, 2);
        assert_int_equal(now.routes.count, 1);
        assert_string_equal(now.routes.items[0].next_hop, "10.0.0.1");
        nic_snapshot_free(&snapshot);
        nic_snapshot_free(&now);
        host_free(host);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_call, open_scenes, close_scenes),
        cmocka_unit_test_setup_teardown(guarded_adapter, open_scenes, close_scenes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
