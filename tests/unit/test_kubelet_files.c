/* The kubelet's files: KubeletConfiguration made fit for Windows, flags file, instance file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/yaml.h"
#include "join/kubelet_files.h"

/* As kubeadm 1.37 leaves it in ConfigMap kubelet-config. */
static const char kubeadm_config[] =
    "apiVersion: kubelet.config.k8s.io/v1beta1\nauthentication:\n  anonymous:\n    enabled: false\n"
    "  webhook:\n    cacheTTL: 0s\n    enabled: true\n  x509:\n    clientCAFile: "
    "/etc/kubernetes/pki/ca.crt\nauthorization:\n  mode: Webhook\n  webhook:\n    "
    "cacheAuthorizedTTL: 0s\n    cacheUnauthorizedTTL: 0s\ncgroupDriver: systemd\nclusterDNS:\n- "
    "10.96.0.10\nclusterDomain: cluster.local\ncontainerRuntimeEndpoint: \"\"\n"
    "cpuManagerReconcilePeriod: 0s\ncrashLoopBackOff: {}\nevictionPressureTransitionPeriod: 0s\n"
    "fileCheckFrequency: 0s\nhealthzBindAddress: 127.0.0.1\nhealthzPort: 10248\n"
    "httpCheckFrequency: 0s\nimageMaximumGCAge: 0s\nimageMinimumGCAge: 0s\nkind: "
    "KubeletConfiguration\nlogging:\n  flushFrequency: 0\n  options:\n    json:\n      "
    "infoBufferSize: \"0\"\n    text:\n      infoBufferSize: \"0\"\n  verbosity: 0\n"
    "memorySwap: {}\nnodeStatusReportFrequency: 0s\nnodeStatusUpdateFrequency: 0s\nresolvConf: "
    "/run/systemd/resolve/resolv.conf\nrotateCertificates: true\nruntimeRequestTimeout: 0s\n"
    "shutdownGracePeriod: 0s\nshutdownGracePeriodCriticalPods: 0s\nstaticPodPath: "
    "/etc/kubernetes/manifests\nstreamingConnectionIdleTimeout: 0s\nsyncFrequency: 0s\n"
    "volumeStatsAggPeriod: 0s\n";

static json_t *json_of(const char *text) {
    struct yaml_documents *documents = NULL;
    json_t *json;

    assert_int_equal(yaml_parse(text, strlen(text), "test", &documents, NULL), 0);
    json = yaml_to_json(yaml_document(documents, 0));
    yaml_documents_free(documents);
    return json;
}

static json_t *make(const char *text, struct text_list *changes) {
    _cleanup_json_ json_t *cluster = json_of(text);
    struct text_list dns = {0};
    struct kubelet_config_input input = {
        .cluster = cluster, .cluster_dns = &dns, .dns_domain = "example.local"};
    json_t *config = NULL;

    text_list_add(&dns, "10.96.0.99");
    assert_int_equal(kubelet_config_make(&input, &config, changes, NULL), 0);
    text_list_free(&dns);
    return config;
}

static bool has_change(const struct text_list *changes, const char *words) {
    for (size_t i = 0; i < changes->count; i++)
        if (strstr(changes->items[i], words))
            return true;
    return false;
}

static void fits_kubeadms_own(void **state) {
    struct text_list changes = {0};
    _cleanup_json_ json_t *config = make(kubeadm_config, &changes);
    _cleanup_(freep) char *text = kubelet_config_text(config);

    (void)state;
    assert_string_equal(json_text_at(config, "authentication.x509.clientCAFile"),
                        "C:\\etc\\kubernetes\\pki\\ca.crt");
    assert_string_equal(json_text_at(config, "staticPodPath"), "C:\\etc\\kubernetes\\manifests");
    assert_string_equal(json_text_at(config, "containerRuntimeEndpoint"),
                        "npipe:////./pipe/containerd-containerd");
    assert_string_equal(json_text_at(config, "resolvConf"), "");
    assert_true(json_is_false(json_at(config, "cgroupsPerQOS")));
    assert_int_equal(json_array_size(json_at(config, "enforceNodeAllocatable")), 0);
    assert_true(json_is_array(json_at(config, "enforceNodeAllocatable")));
    assert_null(json_at(config, "cgroupDriver"));
    assert_null(json_at(config, "memorySwap"));
    assert_string_equal(json_text_at(config, "clusterDNS.0"), "10.96.0.10");
    assert_string_equal(json_text_at(config, "logging.options.json.infoBufferSize"), "0");
    assert_true(has_change(&changes, "cgroupDriver: \"systemd\" removed (Linux only)"));
    assert_true(has_change(&changes, "staticPodPath: \"/etc/kubernetes/manifests\" changed to"));
    assert_false(has_change(&changes, "memorySwap")); /* an empty value is no news */
    assert_int_equal(changes.count, 7);
    assert_non_null(strstr(text, "\nresolvConf: \"\"\n"));
    assert_non_null(strstr(text, "\nenforceNodeAllocatable: []\n"));
    assert_non_null(strstr(text, "\nstaticPodPath: C:\\etc\\kubernetes\\manifests\n"));
    text_list_free(&changes);
}

static void is_the_same_when_made_again(void **state) {
    struct text_list changes = {0}, again = {0};
    _cleanup_json_ json_t *config = make(kubeadm_config, &changes);
    _cleanup_(freep) char *text = kubelet_config_text(config);
    _cleanup_json_ json_t *second = make(text, &again);

    (void)state;
    assert_true(json_equal(config, second));
    assert_int_equal(again.count, 0);
    text_list_free(&changes);
    text_list_free(&again);
}

static void fills_in_what_kubeadm_fills_in(void **state) {
    struct text_list changes = {0};
    _cleanup_json_ json_t *config =
        make("apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n", &changes);

    (void)state;
    assert_string_equal(json_text_at(config, "clusterDNS.0"), "10.96.0.99");
    assert_string_equal(json_text_at(config, "clusterDomain"), "example.local");
    assert_true(json_is_true(json_at(config, "rotateCertificates")));
    assert_true(json_is_true(json_at(config, "authentication.webhook.enabled")));
    assert_true(json_is_false(json_at(config, "authentication.anonymous.enabled")));
    assert_string_equal(json_text_at(config, "authorization.mode"), "Webhook");
    assert_int_equal(json_number_at(config, "healthzPort", 0), 10248);
    text_list_free(&changes);
}

static void removes_what_linux_alone_has(void **state) {
    struct text_list changes = {0};
    _cleanup_json_ json_t *config =
        make("apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
             "cpuManagerPolicy: static\nshutdownGracePeriod: 30s\nvolumePluginDir: /usr/libexec\n"
             "podLogsDir: D:\\logs\nimageServiceEndpoint: unix:///run/x.sock\nmaxPods: 42\n"
             "tlsCertFile: /var/lib/kubelet/x.crt\nseccompDefault: true\nunknownField: kept\n"
             "containerRuntimeEndpoint: unix:///run/containerd/containerd.sock\n"
             "evictionHard: {nodefs.inodesFree: 5%, pid.available: 10%, memory.available: 1Gi}\n"
             "evictionSoft: {imagefs.inodesFree: 5%}\n"
             "featureGates: {WindowsGracefulNodeShutdown: true}\n",
             &changes);

    (void)state;
    assert_null(json_at(config, "cpuManagerPolicy"));
    assert_string_equal(json_text_at(config, "shutdownGracePeriod"), "30s"); /* its gate is on */
    assert_null(json_at(config, "volumePluginDir"));
    assert_string_equal(json_text_at(config, "podLogsDir"), "D:\\logs");
    assert_null(json_at(config, "imageServiceEndpoint"));
    assert_null(json_at(config, "tlsCertFile"));
    assert_null(json_at(config, "seccompDefault"));
    assert_null(json_at(config, "evictionSoft"));
    assert_int_equal(json_object_size(json_at(config, "evictionHard")), 1);
    assert_string_equal(json_text_at(config, "evictionHard.memory\\.available"), "1Gi");
    assert_int_equal(json_number_at(config, "maxPods", 0), 42);
    assert_string_equal(json_text_at(config, "unknownField"), "kept");
    assert_true(has_change(&changes, "evictionHard[pid.available]: \"10%\" removed"));
    assert_true(has_change(&changes, "containerRuntimeEndpoint: \"unix:///run"));
    text_list_free(&changes);
}

static void refuses_other_documents(void **state) {
    static const char *const rows[] = {
        "kind: KubeletConfiguration\napiVersion: kubelet.config.k8s.io/v1\n",
        "kind: KubeletConfiguration\n",
        "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: ConfigMap\n",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_json_ json_t *cluster = json_of(rows[i]);
        struct kubelet_config_input input = {.cluster = cluster};
        struct text_list changes = {0};
        json_t *config = NULL;
        struct error err = {0};

        assert_int_equal(kubelet_config_make(&input, &config, &changes, &err), -1);
        assert_int_equal(err.kind, ERROR_MALFORMED);
        assert_null(config);
    }
}

/* ---- flags ---- */

static char *flags(const struct kubelet_flags_input *input) {
    struct text_list list = {0};
    char *text;

    kubelet_flags_make(input, &list);
    text = kubelet_flags_text(&list);
    text_list_free(&list);
    return text;
}

static void writes_the_flags_file(void **state) {
    struct kubelet_flag extra[] = {{"v", "4"}, {"node-ip", "10.0.0.22"}, {"v", "5"}};
    struct kubelet_flags_input plain = {.node_name = "win-1", .host_name = "WIN-1"};
    struct kubelet_flags_input full = {.node_name = "other",
                                       .host_name = "WIN-1",
                                       .taints = "os=windows:NoSchedule",
                                       .node_ip = "10.0.0.21",
                                       .node_labels = "a=b",
                                       .extra = extra,
                                       .extra_count = ARRAY_SIZE(extra)};
    _cleanup_(freep) char *none = flags(&plain), *all = flags(&full);

    (void)state;
    assert_string_equal(none, "KUBELET_KUBEADM_ARGS=\"\"\n");
    assert_string_equal(all, "KUBELET_KUBEADM_ARGS=\"--hostname-override=other --node-labels=a=b "
                             "--register-with-taints=os=windows:NoSchedule --v=4 "
                             "--node-ip=10.0.0.22 --v=5\"\n");
}

static void quotes_as_go_does(void **state) {
    struct kubelet_flag extra[] = {{"x", "C:\\a \"b\"\n\t\x01\x7f\xc3\xa4"}};
    struct kubelet_flags_input input = {
        .node_name = "w", .host_name = "w", .extra = extra, .extra_count = 1};
    _cleanup_(freep) char *text = flags(&input);

    (void)state;
    assert_string_equal(text,
                        "KUBELET_KUBEADM_ARGS=\"--x=C:\\\\a \\\"b\\\"\\n\\t\\x01\\x7f\xc3\xa4\"\n");
}

static void writes_the_instance_file(void **state) {
    _cleanup_(freep) char *text = kubelet_instance_config_text(NULL);

    (void)state;
    assert_string_equal(text,
                        "containerRuntimeEndpoint: \"npipe:////./pipe/containerd-containerd\"\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fits_kubeadms_own),
        cmocka_unit_test(is_the_same_when_made_again),
        cmocka_unit_test(fills_in_what_kubeadm_fills_in),
        cmocka_unit_test(removes_what_linux_alone_has),
        cmocka_unit_test(refuses_other_documents),
        cmocka_unit_test(writes_the_flags_file),
        cmocka_unit_test(quotes_as_go_does),
        cmocka_unit_test(writes_the_instance_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
