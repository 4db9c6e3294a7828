/* The files that containerd, kube-proxy and flanneld read, against what those programs take. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/toml.h"
#include "services/containerd_settings.h"
#include "services/runtime_files.h"
#include "services/version.h"

/* Frees the text. */
static void assert_kube_proxy_config(char *text, const char *part) {
    assert_non_null(strstr(text, part));
    free(text);
}

/* Frees the text. */
static void assert_file(char *text, const char *expected) {
    assert_non_null(text);
    assert_string_equal(text, expected);
    free(text);
}

static void containerd(void **state) {
    const struct containerd_config two = {.sandbox_image = "mirror.example/pause:3.10"};
    const struct containerd_config one = {.sandbox_image = "registry.k8s.io/pause:3.10.1",
                                          .major = 1};
    (void)state;
    assert_file(
        containerd_config_make(&two),
        "# made by winjoin; a later run writes it again, and keeps root, state, imports and "
        "config_path\n"
        "version = 3\n"
        "root = \"C:\\\\ProgramData\\\\containerd\\\\root\"\n"
        "state = \"C:\\\\ProgramData\\\\containerd\\\\state\"\n"
        "imports = [\"C:\\\\etc\\\\containerd\\\\conf.d\\\\*.toml\"]\n\n"
        "[plugins.'io.containerd.cri.v1.images'.pinned_images]\n"
        "  sandbox = \"mirror.example/pause:3.10\"\n\n"
        "[plugins.'io.containerd.cri.v1.images'.registry]\n"
        "  config_path = \"C:\\\\etc\\\\containerd\\\\certs.d\"\n\n"
        "[plugins.'io.containerd.cri.v1.runtime'.cni]\n"
        "  bin_dirs = ['C:\\opt\\cni\\bin']\n"
        "  conf_dir = 'C:\\etc\\cni\\net.d'\n\n"
        "[plugins.'io.containerd.cri.v1.runtime'.containerd]\n"
        "  default_runtime_name = 'runhcs-wcow-process'\n\n"
        "[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runhcs-wcow-process]\n"
        "  runtime_type = 'io.containerd.runhcs.v1'\n"
        "  container_annotations = ['io.microsoft.container.*']\n"
        "  pod_annotations = []\n\n"
        "[plugins.'io.containerd.nri.v1.nri']\n"
        "  disable = true\n");
    char *old = containerd_config_make(&one);
    assert_non_null(strstr(old, "version = 2\n"));
    assert_non_null(strstr(old, "  sandbox_image = \"registry.k8s.io/pause:3.10.1\"\n"));
    assert_non_null(strstr(old, "  bin_dir = 'C:\\opt\\cni\\bin'\n"));
    assert_null(strchr(old, '@'));
    free(old);
}

/* What its owner alone knows, in TOML that is read back the same. */
static void an_owners_containerd(void **state) {
    static char own[] = CONTAINERD_DROP_INS, other[] = "D:\\o'\"wn\\*.toml";
    static char *imports[] = {own, other};
    struct containerd_config config = {.sandbox_image = "r/pause:3",
                                       .root = "D:\\containers",
                                       .state = "D:\\state",
                                       .registries = "C:\\a;C:\\b",
                                       .imports = {.items = imports, .count = 2}};

    (void)state;
    for (config.major = 1; config.major < 3; config.major++) {
        _cleanup_(freep) char *text = containerd_config_make(&config);
        _cleanup_json_ json_t *json = NULL;
        _cleanup_(freep) char *list = NULL;
        const char *plugin = config.major == 1 ? "grpc\\.v1\\.cri" : "cri\\.v1\\.images";
        _cleanup_(freep) char *path =
            xasprintf("plugins.io\\.containerd\\.%s.registry.config_path", plugin);

        assert_int_equal(toml_parse(text, strlen(text), "made", &json, NULL), 0);
        list = json_write(json_at(json, "imports"));
        assert_string_equal(json_text_at(json, "root"), "D:\\containers");
        assert_string_equal(json_text_at(json, "state"), "D:\\state");
        assert_string_equal(json_text_at(json, path), "C:\\a;C:\\b");
        assert_string_equal(json_text_at(json, "imports.1"), other);
        assert_int_equal(json_array_size(json_at(json, "imports")), 2);
    }
}

static void containerd_versions(void **state) {
    (void)state;
    assert_int_equal(kubernetes_release_length("v1.37.1"), 7);
    assert_int_equal(kubernetes_release_length("v1.37.1+vendor.2"), 7);
    assert_int_equal(kubernetes_release_length("v1.37.1-vendor-5d4a308"), 7);
    assert_int_equal(kubernetes_release_length("v1.37.1-vendor.1+x"), 7);
    assert_int_equal(kubernetes_release_length("v1.38.0-rc.1"), 12);
    assert_int_equal(kubernetes_release_length("v1.38.0-alpha.3+x"), 15);
    assert_int_equal(containerd_major("v2.4.2"), 2);
    assert_int_equal(containerd_major("1.7.22"), 1);
    assert_int_equal(containerd_major("v"), 0);
    assert_int_equal(containerd_major("v2"), 0);
    assert_int_equal(containerd_major("git-0123456789ab"), 0);
    assert_int_equal(containerd_major(""), 0);
}

static void kube_proxy(void **state) {
    struct kube_proxy_config config = {.version = "v1.37.1",
                                       .node_name = "WIN-7K2",
                                       .node_ip = "10.0.0.21",
                                       .cluster_cidr = "10.244.0.0/16",
                                       .network_name = "flannel.4096",
                                       .source_vip = "10.244.1.2",
                                       .needs_source_vip = true,
                                       .dsr = true};
    struct error err = {0};
    char *text = NULL;
    (void)state;
    assert_int_equal(kube_proxy_config_make(&config, &text, &err), 0);
    assert_file(text, "apiVersion: kubeproxy.config.k8s.io/v1alpha1\n"
                      "bindAddress: 10.0.0.21\n"
                      "clientConnection:\n"
                      "  kubeconfig: C:\\k\\kube-proxy.kubeconfig\n"
                      "clusterCIDR: 10.244.0.0/16\n"
                      "enableProfiling: false\n"
                      "hostnameOverride: win-7k2\n"
                      "kind: KubeProxyConfiguration\n"
                      "mode: kernelspace\n"
                      "winkernel:\n"
                      "  enableDSR: true\n"
                      "  networkName: flannel.4096\n"
                      "  sourceVip: 10.244.1.2\n");
    config.version = "1.33.0";
    assert_int_equal(kube_proxy_config_make(&config, &text, &err), 0);
    assert_kube_proxy_config(text, "featureGates:\n  WinDSR: true\n  WinOverlay: true\n");
    config.needs_source_vip = false;
    config.dsr = false;
    config.source_vip = NULL;
    config.root_endpoint = "cbr0_ep";
    assert_int_equal(kube_proxy_config_make(&config, &text, &err), 0);
    assert_null(strstr(text, "featureGates"));
    assert_null(strstr(text, "sourceVip"));
    assert_kube_proxy_config(text, "  rootHnsEndpointName: cbr0_ep\n");
}

static void kube_proxy_refusals(void **state) {
    struct kube_proxy_config config = {.version = "v1.37.1", .needs_source_vip = true};
    struct error err = {0};
    char *text = NULL;
    (void)state;
    assert_int_equal(kube_proxy_config_make(&config, &text, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    assert_non_null(strstr(err.message, "source VIP"));
    config.source_vip = "10.244.1.2";
    config.node_name = "a\nb";
    assert_int_equal(kube_proxy_config_make(&config, &text, &err), -1);
    assert_non_null(strstr(err.message, "node name contains a control character"));
    config.node_name = "a";
    config.version = "1";
    assert_int_equal(kube_proxy_config_make(&config, &text, &err), -1);
    assert_null(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(containerd),          cmocka_unit_test(an_owners_containerd),
        cmocka_unit_test(containerd_versions), cmocka_unit_test(kube_proxy),
        cmocka_unit_test(kube_proxy_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
