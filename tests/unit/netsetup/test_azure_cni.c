/* What azure-vnet reads of its configuration, and which of its versions work in a mode. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "netsetup/plugins/cni_plugin.h"
#include "tests/scene/network_scene.h"

static struct scene scene;

static int close_scene(void **state) {
    (void)state;
    scene_close(&scene);
    return 0;
}

/* Since v1.6.16 azure-vnet makes L2Bridge networks only. */
static void versions_of_azure_vnet(void **state) {
    static const struct {
        const char *mode, *version;
        int result;
    } cases[] = {{"l2bridge", "v1.7.6", 0},  {"l2tunnel", "v1.6.15", 0},
                 {"l2tunnel", "v1.4.59", 0}, {"l2tunnel", "v0.9.99", 0},
                 {"l2tunnel", "?", 0},       {"l2tunnel", "v1.6.16", -1},
                 {"l2tunnel", "v1.7.0", -1}, {"l2tunnel", "v2.0.0", -1}};
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct error err = {0};
        scene_open(&scene, cases[i].mode);
        scene.input.plugin = "azure-vnet";
        assert_int_equal(scene_plan(&scene), 0);
        assert_int_equal(
            cni_plugin_by_name("azure-vnet")->check_version(&scene.plan, cases[i].version, &err),
            cases[i].result);
        if (cases[i].result < 0)
            assert_non_null(strstr(err.message, "makes no network of mode 'l2tunnel'"));
        scene_close(&scene);
    }
}

/* Keys that cni/netconfig.go and network/policy/policy_windows.go read; others are dropped there.
 */
static bool is_read(const char *key) {
    static const char *const keys[] = {"type",
                                       "mode",
                                       "executionMode",
                                       "capabilities",
                                       "ipam",
                                       "dns",
                                       "AdditionalArgs",
                                       "windowsSettings", /* NetworkConfig */
                                       "enableLoopbackDSR",
                                       "nameservers",
                                       "search",
                                       "Name",
                                       "Value",
                                       "portMappings",
                                       "Type",
                                       "ExceptionList",
                                       "DestinationPrefix",
                                       "NeedEncap",
                                       "Protocols",
                                       "Action",
                                       "Direction",
                                       "RemoteAddresses",
                                       "RemotePorts",
                                       "Priority",
                                       "RuleType",
                                       NULL};
    for (const char *const *k = keys; *k; k++) {
        if (text_equal(*k, key))
            return true;
    }
    return false;
}

static void assert_keys(const json_t *value) {
    const char *key;
    json_t *item;
    size_t i;
    json_array_foreach(value, i, item) assert_keys(item);
    json_object_foreach((json_t *)value, key, item) {
        if (!is_read(key))
            fail_msg("azure-vnet does not read '%s'", key);
        assert_keys(item);
    }
}

/* Without DSR a route leads to Services; pods may be in the node's own subnet. */
static void what_azure_vnet_reads(void **state) {
    static const char *const dsr[] = {"on", "off"};
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(dsr); i++) {
        scene_open(&scene, "l2bridge");
        scene.input.plugin = i ? "azure-cns" : "azure-vnet";
        scene.input.dsr = dsr[i];
        scene.input.pod_cidr = NULL;
        text_list_add(&scene.input.cluster_pod_cidrs, "10.0.0.0/16");
        assert_int_equal(scene_plan(&scene), 0);
        assert_int_equal(scene.plan.warning_count, 0);
        _cleanup_json_ json_t *network = network_plan_json(&scene.plan);
        json_t *plugin = json_at(network, "cni.0.content.plugins.0");
        assert_keys(plugin);
        assert_int_equal(text_equal(json_text_at(plugin, "AdditionalArgs.1.Value.Type"), "ROUTE"),
                         i == 1);
        assert_int_equal(json_array_size(json_at(plugin, "AdditionalArgs")), i ? 6 : 5);
        assert_int_equal(json_is_object(json_object_get(plugin, "windowsSettings")), i == 0);
        scene_close(&scene);
    }
    scene_open(&scene, "l2bridge");
    scene.input.plugin = "azure-vnet";
    scene.input.name = "mine";
    assert_int_equal(scene_plan(&scene), -1);
    assert_string_equal(scene.err.message,
                        "network name 'mine' is not possible: with azure-vnet it is 'azure'");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(versions_of_azure_vnet, close_scene),
        cmocka_unit_test_teardown(what_azure_vnet_reads, close_scene),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
