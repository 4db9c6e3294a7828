/* A join's kubelet: patches, the user's arguments, versions; what is refused before anything is
 * touched. */
#include "join_scene.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static int setup(void **state) {
    struct run *r = xcalloc(1, sizeof *r);

    open_run(r, "overlay");
    *state = r;
    return 0;
}

static int teardown(void **state) {
    struct run *r = *state;

    close_run(r);
    free(r);
    return 0;
}

static char *content(struct run *r, const char *path) {
    char *data = NULL;
    size_t len;

    if (host_read(r->host, path, 1 << 20, &data, &len, NULL) < 0)
        fail_msg("%s is absent", path);
    return data;
}

static void joins(struct run *r) {
    struct error err = {0};

    if (join_once(r, &err) < 0)
        fail_msg("%s", err.message);
}

/* Refused with these words, and the host is as it was. */
static void refuses(struct run *r, enum error_kind kind, const char *words, const char *hint) {
    _cleanup_json_ json_t *before = state_of(r), *after = NULL;
    struct error err = {0};

    assert_int_equal(join_once(r, &err), -1);
    if (err.kind != kind || !strstr(err.message, words))
        fail_msg("'%s' (%s)", err.message, error_kind_name(err.kind));
    if (hint)
        assert_string_equal(err.hints[0], hint);
    after = state_of(r);
    print_difference(before, after, "");
    assert_true(json_equal(before, after));
}

static void put(struct run *r, const char *path, const char *text) {
    assert_int_equal(host_write(r->host, path, text, strlen(text), HOST_PUBLIC, NULL), 0);
}

static void lays_a_patched_configuration(void **state) {
    struct run *r = *state;
    _cleanup_(freep) char *config = NULL, *instance = NULL;

    put(r, "C:\\patches\\kubeletconfiguration+merge.yaml",
        "maxPods: 42\nstaticPodPath: D:\\pods\ncontainerRuntimeEndpoint: unix:///x\n");
    r->options.patches = xstrdup("C:\\patches");
    joins(r);
    config = content(r, "C:\\var\\lib\\kubelet\\config.yaml");
    assert_non_null(strstr(config, "\nmaxPods: 42\n"));
    assert_non_null(strstr(config, "\ncontainerRuntimeEndpoint: npipe:////./pipe/containerd-"));
    assert_non_null(strstr(config, "\nfileCheckFrequency: 2s\n"));
    assert_int_equal(host_file_type(r->host, "D:\\pods"), HOST_FOLDER);
    instance = content(r, "C:\\var\\lib\\kubelet\\instance-config.yaml");
    assert_non_null(strstr(instance, "containerRuntimeEndpoint: \"npipe:"));
}

static void refuses_a_bad_patch_first(void **state) {
    struct run *r = *state;

    put(r, "C:\\patches\\kubeletconfiguration.yaml", "maxPods: 42\n$patch: 1\n");
    r->options.patches = xstrdup("C:\\patches");
    refuses(r, ERROR_USAGE, "kubeletconfiguration.yaml: line 2: /$patch", NULL);
    freep(&r->options.patches);
    r->options.patches = xstrdup("C:\\nowhere");
    refuses(r, ERROR_USAGE, "patches folder 'C:\\nowhere': there is no such folder", NULL);
}

static void passes_the_users_arguments(void **state) {
    struct run *r = *state;
    _cleanup_(freep) char *flags = NULL, *service = NULL;

    host_memory_set_program_flags(
        r->host, "kubelet.exe", "config kubeconfig cert-dir hostname-override node-ip v max-pods");
    text_list_add(&r->options.kubelet_extra_args, "max-pods=42");
    text_list_add(&r->options.kubelet_extra_args, "hostname-override=WIN-7K2");
    text_list_add(&r->options.kubelet_service_args, "--v=4");
    joins(r);
    flags = content(r, "C:\\var\\lib\\kubelet\\kubeadm-flags.env");
    assert_non_null(strstr(flags, "--max-pods=42 --hostname-override=WIN-7K2\""));
    service = content(r, "C:\\ProgramData\\winjoin\\services\\kubelet.json");
    assert_non_null(strstr(service, "--max-pods=42"));
    assert_non_null(strstr(service, "--v=4"));
    assert_null(strstr(service, "--v=2"));
    assert_null(strstr(service, "--hostname-override=win-7k2"));
}

static void refuses_an_argument_that_the_kubelet_does_not_know(void **state) {
    struct run *r = *state;

    host_memory_set_program_flags(r->host, "kubelet.exe", "config kubeconfig node-ip v max-pods");
    text_list_add(&r->options.kubelet_extra_args, "max-pods=42");
    text_list_add(&r->options.kubelet_extra_args, "max-pod=43");
    refuses(r, ERROR_USAGE, "kubelet argument '--max-pod=43': 'C:\\k\\kubelet.exe' knows no such",
            "did you mean --max-pods?");
    text_list_free(&r->options.kubelet_extra_args);
    text_list_add(&r->options.kubelet_service_args, "--token=abc");
    refuses(r, ERROR_USAGE, "a secret has no place on a command line", NULL);
}

/* It is not asked about what every kubelet takes. */
static void refuses_what_the_kubelet_objects_to(void **state) {
    struct run *r = *state;

    host_memory_set_program_objection(
        r->host, "kubelet.exe",
        "panic: failed to merge global and in-flight KubeletConfiguration while setting defaults, "
        "error: unrecognized feature gate: NoSuchGate\n\ngoroutine 1 [running]:\n");
    put(r, "C:\\patches\\kubeletconfiguration.yaml", "featureGates: {NoSuchGate: true}\n");
    r->options.patches = xstrdup("C:\\patches");
    refuses(r, ERROR_USAGE, "kubelet: unrecognized feature gate: NoSuchGate", NULL);
    host_memory_set_program_objection(r->host, "kubelet.exe", "no lock file specified\n");
    joins(r);
}

static void does_not_ask_about_what_is_usual(void **state) {
    struct run *r = *state;

    host_memory_set_program_objection(r->host, "kubelet.exe",
                                      "failed to load kubelet config file, error: any\n");
    joins(r);
}

static void refuses_versions_that_do_not_fit(void **state) {
    struct run *r = *state;

    host_memory_set_program(r->host, "kubelet.exe", 0, "Kubernetes v1.38.0\n");
    refuses(r, ERROR_PREFLIGHT, "[KubeletVersion] the kubelet version is higher", NULL);
    host_memory_set_program(r->host, "kubelet.exe", 0, "Kubernetes v1.33.1\n");
    refuses(r, ERROR_PREFLIGHT, "more than 3 minor versions older", NULL);
    host_memory_set_program(r->host, "kubelet.exe", 0, "Kubernetes v1.37.0\n");
    r->scene.server_version = "v1.36.4";
    refuses(r, ERROR_PREFLIGHT, "kubelet v1.37.0, control plane v1.36.4", NULL);
    r->scene.server_version = "v1.37.4";
    r->options.kubernetes_version = xstrdup("1.37.1");
    refuses(r, ERROR_USAGE, "the kubelet that is to run is v1.37.0", NULL);
    freep(&r->options.kubernetes_version);
    r->options.kubernetes_version = xstrdup("1.37.0");
    joins(r);
}

static void lets_the_version_check_be_ignored(void **state) {
    struct run *r = *state;
    _cleanup_(freep) char *flags = NULL;

    host_memory_set_program(r->host, "kubelet.exe", 0, "Kubernetes v1.33.1\n");
    text_list_add(&r->options.ignore_preflight_errors, "kubeletversion");
    joins(r);
    flags = content(r, "C:\\var\\lib\\kubelet\\kubeadm-flags.env");
    assert_non_null(strstr(flags, "=\"--container-runtime-endpoint=npipe:"));
    assert_int_equal(host_file_type(r->host, "C:\\var\\lib\\kubelet\\instance-config.yaml"),
                     HOST_ABSENT);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(lays_a_patched_configuration),
        CASE(refuses_a_bad_patch_first),
        CASE(passes_the_users_arguments),
        CASE(refuses_an_argument_that_the_kubelet_does_not_know),
        CASE(refuses_what_the_kubelet_objects_to),
        CASE(does_not_ask_about_what_is_usual),
        CASE(refuses_versions_that_do_not_fit),
        CASE(lets_the_version_check_be_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
