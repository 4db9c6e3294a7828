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
#include "join/kubelet/kubelet_files.h"
#include "tests/memory/host_memory.h"

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
    struct yaml yaml = {0};
    json_t *json;

    assert_int_equal(yaml_read(text, strlen(text), "test", &yaml, NULL), 0);
    json = json_incref(json_array_get(yaml.documents, 0));
    yaml_forget(&yaml);
    return json;
}

static json_t *make(const char *text, struct kubelet_changes *changes) {
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

/* A folder of static pods that is not the one that is closed, or not on this machine. */
static void manifests_of_others(void **state) {
    static const struct {
        const char *path;
        bool refused;
    } rows[] = {
        {"/etc/kubernetes/manifests", false},
        {"'D:\\pods'", false},
        {"'\\\\evil.example\\share'", true},
        {"'C:\\etc\\kubernetes\\..\\..\\Users\\Public'", true},
        {"/etc/../Users/Public", true},
        {"manifests", true},
        {"'C:manifests'", true},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *text =
            xasprintf("apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
                      "staticPodPath: %s\n",
                      rows[i].path);
        _cleanup_json_ json_t *cluster = json_of(text), *config = NULL;
        struct kubelet_config_input input = {.cluster = cluster, .dns_domain = "example.local"};
        struct kubelet_changes changes = {0};
        struct error err = {0};

        if ((kubelet_config_make(&input, &config, &changes, &err) < 0) != rows[i].refused)
            fail_msg("%s: %s", rows[i].path, err.message);
        assert_true(!rows[i].refused || strstr(err.message, "is not a folder of this machine"));
        kubelet_changes_free(&changes);
    }
}

/* As a diff: "-path: value  # reason", "+path: ...". */
static char *diff_of(const struct kubelet_changes *changes) {
    struct text out = {0};

    for (size_t i = 0; i < changes->count; i++) {
        const struct kubelet_change *c = &changes->items[i];
        _cleanup_(freep) char *from = c->from ? json_write(c->from) : NULL;
        _cleanup_(freep) char *to = c->to ? json_write(c->to) : NULL;

        if (from)
            text_addf(&out, "-%s: %s  # %s\n", c->path, from, c->reason);
        if (to)
            text_addf(&out, "+%s: %s  # %s\n", c->path, to, c->reason);
    }
    return text_take(&out);
}

/* A line of the diff. */
static bool has_change(const struct kubelet_changes *changes, const char *words) {
    _cleanup_(freep) char *text = diff_of(changes);

    return strstr(text, words) != NULL;
}

static void fits_kubeadms_own(void **state) {
    struct kubelet_changes changes = {0};
    _cleanup_json_ json_t *config = make(kubeadm_config, &changes);
    _cleanup_(freep) char *text = yaml_write(config);

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
    assert_true(has_change(&changes, "-cgroupDriver: \"systemd\"  # Linux only\n"));
    assert_true(has_change(&changes, "-staticPodPath: \"/etc/kubernetes/manifests\"  # path with "
                                     "its drive letter\n+staticPodPath: "));
    assert_false(has_change(&changes, "memorySwap")); /* an empty value is no news */
    assert_true(has_change(&changes, "+fileCheckFrequency: \"2s\""));
    assert_int_equal(changes.count, 8);
    assert_non_null(strstr(text, "\nresolvConf: \"\"\n"));
    assert_non_null(strstr(text, "\nenforceNodeAllocatable: []\n"));
    assert_non_null(strstr(text, "\nstaticPodPath: C:\\etc\\kubernetes\\manifests\n"));
    kubelet_changes_free(&changes);
}

static void is_the_same_when_made_again(void **state) {
    struct kubelet_changes changes = {0}, again = {0};
    _cleanup_json_ json_t *config = make(kubeadm_config, &changes);
    _cleanup_(freep) char *text = yaml_write(config);
    _cleanup_json_ json_t *second = make(text, &again);

    (void)state;
    assert_true(json_equal(config, second));
    assert_int_equal(again.count, 0);
    kubelet_changes_free(&changes);
    kubelet_changes_free(&again);
}

static void fills_in_what_kubeadm_fills_in(void **state) {
    struct kubelet_changes changes = {0};
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
    kubelet_changes_free(&changes);
}

static void removes_what_linux_alone_has(void **state) {
    struct kubelet_changes changes = {0};
    _cleanup_json_ json_t *config =
        make("apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
             "cpuManagerPolicy: static\nshutdownGracePeriod: 30s\nvolumePluginDir: /usr/libexec\n"
             "podLogsDir: D:\\logs\nimageServiceEndpoint: unix:///run/x.sock\nmaxPods: 42\n"
             "tlsCertFile: /var/lib/kubelet/x.crt\nseccompDefault: true\nunknownField: kept\n"
             "containerRuntimeEndpoint: unix:///run/containerd/containerd.sock\n"
             "evictionHard: {nodefs.inodesFree: 5%, pid.available: 10%, memory.available: 1Gi}\n"
             "evictionSoft: {imagefs.inodesFree: 5%}\nevictionSoftGracePeriod: {}\n"
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
    assert_non_null(json_at(config, "evictionSoftGracePeriod")); /* as it was given */
    assert_int_equal(json_object_size(json_at(config, "evictionHard")), 1);
    assert_string_equal(json_text_at(config, "evictionHard.memory\\.available"), "1Gi");
    assert_int_equal(json_number_at(config, "maxPods", 0), 42);
    assert_string_equal(json_text_at(config, "unknownField"), "kept");
    assert_true(has_change(&changes, "-evictionHard[pid.available]: \"10%\"  # no such"));
    assert_true(has_change(&changes, "-containerRuntimeEndpoint: \"unix:///run"));
    kubelet_changes_free(&changes);
}

static void keeps_what_the_cluster_chose(void **state) {
    struct kubelet_changes changes = {0};
    _cleanup_json_ json_t *config =
        make("apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
             "clusterDNS: []\nfileCheckFrequency: 20s\nstaticPodPath: D:\\pods\n"
             "healthzBindAddress: 0.0.0.0\nhealthzPort: 10999\nhairpinMode: none\n",
             &changes);

    (void)state;
    assert_int_equal(json_array_size(json_at(config, "clusterDNS")), 0);
    assert_string_equal(json_text_at(config, "fileCheckFrequency"), "20s");
    assert_string_equal(json_text_at(config, "staticPodPath"), "D:\\pods");
    assert_string_equal(json_text_at(config, "healthzBindAddress"), "0.0.0.0");
    assert_int_equal(json_number_at(config, "healthzPort", 0), 10999);
    assert_string_equal(json_text_at(config, "hairpinMode"), "none");
    assert_int_equal(changes.warnings.count, 0);
    kubelet_changes_free(&changes);
}

/* The kubelet gives each pod the list as it is, the pods with IPv4 alone too. */
static void asks_ipv4_servers_first(void **state) {
    static const struct {
        const char *cluster, *written;
    } rows[] = {
        {"[\"fd00:10:96::a\", 10.96.0.10]", "[\"10.96.0.10\",\"fd00:10:96::a\"]"},
        {"[\"fd00::b\", 10.96.0.11, \"fd00::a\", 10.96.0.10]",
         "[\"10.96.0.11\",\"10.96.0.10\",\"fd00::b\",\"fd00::a\"]"},
        {"[10.96.0.10, \"fd00::a\"]", NULL},
        {"[\"fd00::b\", \"fd00::a\"]", NULL},
        {"[\"fd00::b\"]", NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct kubelet_changes changes = {0};
        _cleanup_(freep) char *text = xasprintf("apiVersion: kubelet.config.k8s.io/v1beta1\nkind: "
                                                "KubeletConfiguration\nclusterDNS: %s\n",
                                                rows[i].cluster);
        _cleanup_(freep) char *line =
            xasprintf("+clusterDNS: %s", rows[i].written ? rows[i].written : "");
        _cleanup_json_ json_t *config = make(text, &changes);
        _cleanup_(freep) char *servers = json_write(json_object_get(config, "clusterDNS"));

        assert_int_equal(has_change(&changes, line), rows[i].written != NULL);
        if (rows[i].written)
            assert_string_equal(servers, rows[i].written);
        kubelet_changes_free(&changes);
    }
}

/* A cache on each Linux node is nobody's DNS here: the cluster's own takes its place. */
static void dns_of_linux_nodes_is_replaced(void **state) {
    static const char text[] = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: "
                               "KubeletConfiguration\nclusterDNS: [169.254.20.10]\n";

    (void)state;
    for (int local = 0; local < 2; local++) {
        _cleanup_json_ json_t *cluster = json_of(text), *config = NULL;
        _cleanup_(text_list_free) struct text_list dns = {0};
        struct kubelet_changes changes = {0};
        struct kubelet_config_input input = {.cluster = cluster,
                                             .cluster_dns = &dns,
                                             .local_dns = local ? "169.254.20.10" : NULL,
                                             .dns_domain = "example.local"};

        text_list_add(&dns, "10.96.0.10");
        assert_int_equal(kubelet_config_make(&input, &config, &changes, NULL), 0);
        assert_string_equal(json_text_at(config, "clusterDNS.0"),
                            local ? "10.96.0.10" : "169.254.20.10");
        assert_int_equal(json_array_size(json_at(config, "clusterDNS")), 1);
        assert_int_equal(has_change(&changes, "+clusterDNS: [\"10.96.0.10\"]"), local);
        kubelet_changes_free(&changes);
    }
}

static void starts_where_linux_fields_would_stop_it(void **state) {
    static const char *const fatal[] = {"singleProcessOOMKill", "userNamespaces",
                                        "defaultPodSysctls"};
    struct kubelet_changes changes = {0};
    _cleanup_json_ json_t *config =
        make("apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
             "singleProcessOOMKill: true\nuserNamespaces: {idsPerPod: 65536}\n"
             "defaultPodSysctls: {net.a: '1'}\nimageServiceEndpoint: /run/x.sock\n"
             "rotateCertificates: false\n",
             &changes);

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(fatal); i++)
        assert_null(json_at(config, fatal[i]));
    assert_null(json_at(config, "imageServiceEndpoint"));
    assert_true(json_is_true(json_at(config, "rotateCertificates")));
    assert_true(has_change(&changes, "+rotateCertificates: true  # as kubeadm"));
    kubelet_changes_free(&changes);
}

static void warns_of_open_doors(void **state) {
    static const char *const words[] = {"anonymous.enabled: true", "webhook.enabled: false",
                                        "AlwaysAllow", "readOnlyPort"};
    struct kubelet_changes changes = {0};
    _cleanup_json_ json_t *config =
        make("apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
             "authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}\n"
             "authorization: {mode: AlwaysAllow}\nreadOnlyPort: 10255\n",
             &changes);

    (void)state;
    assert_int_equal(changes.warnings.count, 4);
    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        assert_non_null(strstr(changes.warnings.items[i], words[i]));
    kubelet_changes_free(&changes);
}

/* With one patch file in the folder; *ret as kubelet_config_make() leaves it. */
static int make_patched(const char *text, const char *file, const char *patch, json_t **ret,
                        struct kubelet_changes *changes, struct error *err) {
    _cleanup_json_ json_t *cluster = json_of(text);
    _cleanup_(freep) char *path = xasprintf("C:\\p\\%s", file);
    struct host *host = host_memory_new();
    struct patches patches = {0};
    struct kubelet_config_input input = {.cluster = cluster, .patches = &patches};
    int result;

    assert_int_equal(host_write(host, path, patch, strlen(patch), HOST_PUBLIC, NULL), 0);
    assert_int_equal(patches_read(host, "C:\\p", &patches, NULL), 0);
    result = kubelet_config_make(&input, ret, changes, err);
    patches_free(&patches);
    host_free(host);
    return result;
}

static void a_patch_has_the_last_word(void **state) {
    static const char patch[] = "maxPods: 7\ncgroupDriver: cgroupfs\nstaticPodPath: /pods\n"
                                "evictionHard: {memory.available: 2Gi}\nvolumePluginDir: /v\n"
                                "containerRuntimeEndpoint: unix:///x\n";
    struct kubelet_changes changes = {0};
    _cleanup_json_ json_t *config = NULL, *list = NULL;

    (void)state;
    assert_int_equal(
        make_patched(kubeadm_config, "kubeletconfiguration.yaml", patch, &config, &changes, NULL),
        0);
    assert_int_equal(json_number_at(config, "maxPods", 0), 7);
    assert_string_equal(json_text_at(config, "cgroupDriver"), "cgroupfs");
    assert_string_equal(json_text_at(config, "staticPodPath"), "/pods");
    assert_string_equal(json_text_at(config, "containerRuntimeEndpoint"), KUBELET_CRI_SOCKET);
    assert_true(has_change(&changes, "\n+maxPods: 7  # patched\n"));
    assert_true(has_change(&changes, "\n+evictionHard: {\"memory.available\":\"2Gi\"}  # pat"));
    assert_int_equal(changes.warnings.count, 2);
    assert_non_null(strstr(changes.warnings.items[0], "staticPodPath to '/pods'"));
    assert_non_null(strstr(changes.warnings.items[1], "volumePluginDir"));
    list = kubelet_changes_json(&changes);
    assert_int_equal(json_array_size(list), changes.count);
    assert_string_equal(json_text_at(list, "0.path"), "cgroupDriver");
    assert_string_equal(json_text_at(list, "0.from"), "systemd");
    assert_null(json_at(list, "0.to"));
    assert_string_equal(json_text_at(list, "0.reason"), "Linux only");
    kubelet_changes_free(&changes);
}

static void compares_documents(void **state) {
    _cleanup_json_ json_t *before = json_of("{a: 1, b: {c: 2, d.e: [1]}, g: x}");
    _cleanup_json_ json_t *after = json_of("{a: 1, b: {d.e: [2], f: {}}, g: {}}");
    struct kubelet_changes changes = {0};
    _cleanup_(freep) char *text = NULL;

    (void)state;
    kubelet_changes_compare(&changes, "", before, after, "why");
    text = diff_of(&changes);
    assert_string_equal(text, "-b.c: 2  # why\n-b[d.e]: [1]  # why\n+b[d.e]: [2]  # why\n"
                              "+b.f: {}  # why\n-g: \"x\"  # why\n+g: {}  # why\n");
    kubelet_changes_free(&changes);
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
        struct kubelet_changes changes = {0};
        json_t *config = NULL;
        struct error err = {0};

        assert_int_equal(kubelet_config_make(&input, &config, &changes, &err), -1);
        assert_int_equal(err.kind, ERROR_MALFORMED);
        assert_null(config);
    }
}

/* ---- flags ---- */

static void writes_the_flags_file(void **state) {
    struct text_list extra = {0};
    struct kubelet_flags_input plain = {
        .version = "v1.37.1", .node_name = "win-1", .host_name = "WIN-1"};
    struct kubelet_flags_input full = {.version = "v1.37.1",
                                       .node_name = "other",
                                       .host_name = "WIN-1",
                                       .taints = "os=windows:NoSchedule",
                                       .node_ip = "10.0.0.21",
                                       .node_labels = "a=b",
                                       .extra = &extra};
    _cleanup_(freep) char *none = kubelet_flags_text(&plain), *all = NULL, *sorted = NULL,
                          *older = NULL;

    (void)state;
    text_list_split(&extra, "v=5 node-ip=10.0.0.22 v=4 node-ip-x=1", ' ');
    all = kubelet_flags_text(&full);
    full.version = "1.35.0";
    sorted = kubelet_flags_text(&full);
    full.version = "v1.33.9-rc.1+x";
    older = kubelet_flags_text(&full);
    assert_string_equal(none, "KUBELET_KUBEADM_ARGS=\"\"\n");
    assert_string_equal(all, "KUBELET_KUBEADM_ARGS=\"--hostname-override=other --node-labels=a=b "
                             "--register-with-taints=os=windows:NoSchedule --v=5 "
                             "--node-ip=10.0.0.22 --v=4 --node-ip-x=1\"\n");
    assert_string_equal(sorted, "KUBELET_KUBEADM_ARGS=\"--hostname-override=other "
                                "--node-ip=10.0.0.22 --node-ip-x=1 --node-labels=a=b "
                                "--register-with-taints=os=windows:NoSchedule --v=4 --v=5\"\n");
    assert_non_null(strstr(older, "=\"--container-runtime-endpoint=npipe:////./pipe/"
                                  "containerd-containerd --hostname-override=other "));
    text_list_free(&extra);
}

static void quotes_as_go_does(void **state) {
    struct text_list extra = {0};
    struct kubelet_flags_input input = {.node_name = "w", .host_name = "w", .extra = &extra};
    _cleanup_(freep) char *text = NULL;

    (void)state;
    text_list_add(&extra, "x=C:\\a \"b\"\n\t\x01\x7f\xc3\xa4");
    text = kubelet_flags_text(&input);
    assert_string_equal(text,
                        "KUBELET_KUBEADM_ARGS=\"--x=C:\\\\a \\\"b\\\"\\n\\t\\x01\\x7f\xc3\xa4\"\n");
    text_list_free(&extra);
}

static void writes_the_instance_file(void **state) {
    _cleanup_(freep) char *text = kubelet_instance_config_text("v1.34.0", NULL);

    (void)state;
    assert_string_equal(text,
                        "containerRuntimeEndpoint: \"npipe:////./pipe/containerd-containerd\"\n");
    _cleanup_(freep) char *quoted = kubelet_instance_config_text(NULL, "npipe:////./pipe/\"x\\y");
    assert_string_equal(quoted, "containerRuntimeEndpoint: \"npipe:////./pipe/\\\"x\\\\y\"\n");
    assert_null(kubelet_instance_config_text("v1.33.9", NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fits_kubeadms_own),
        cmocka_unit_test(manifests_of_others),
        cmocka_unit_test(is_the_same_when_made_again),
        cmocka_unit_test(fills_in_what_kubeadm_fills_in),
        cmocka_unit_test(removes_what_linux_alone_has),
        cmocka_unit_test(keeps_what_the_cluster_chose),
        cmocka_unit_test(asks_ipv4_servers_first),
        cmocka_unit_test(dns_of_linux_nodes_is_replaced),
        cmocka_unit_test(starts_where_linux_fields_would_stop_it),
        cmocka_unit_test(warns_of_open_doors),
        cmocka_unit_test(a_patch_has_the_last_word),
        cmocka_unit_test(compares_documents),
        cmocka_unit_test(refuses_other_documents),
        cmocka_unit_test(writes_the_flags_file),
        cmocka_unit_test(quotes_as_go_does),
        cmocka_unit_test(writes_the_instance_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
