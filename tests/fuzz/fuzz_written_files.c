/* Values of flags and clusters, a line each, in the files that winjoin writes: what is read back is
 * the value, whatever is in it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/yaml.h"
#include "join/kubelet/kubelet_files.h"
#include "kube/kubeconfig.h"
#include "services/runtime_files.h"

enum { FIELDS = 6 };

/* The text must be YAML that holds the value at the path. */
static void holds(const char *text, const char *path, const char *value) {
    _cleanup_(yaml_forget) struct yaml yaml = {0};
    const char *is;

    if (yaml_read(text, strlen(text), "written", &yaml, NULL) < 0)
        abort();
    is = json_text_at(json_array_get(yaml.documents, 0), path);
    if (!text_equal(is ? is : "", value))
        abort();
}

static void kube_proxy(char *const *f) {
    const struct kube_proxy_config config = {.version = "v1.37.1",
                                             .kubeconfig = f[0],
                                             .node_name = f[1],
                                             .node_ip = "10.0.0.21",
                                             .cluster_cidr = f[2],
                                             .network_name = f[3],
                                             .source_vip = "10.244.1.2",
                                             .needs_source_vip = true};
    _cleanup_(freep) char *text = NULL, *node = text_lower(f[1]);

    if (kube_proxy_config_make(&config, &text, NULL) < 0)
        return;
    holds(text, "clientConnection.kubeconfig", f[0]);
    holds(text, "hostnameOverride", node);
    holds(text, "clusterCIDR", f[2]);
    holds(text, "winkernel.networkName", f[3]);
}

static void kubeconfigs(char *const *f) {
    struct kubeconfig read = {0};
    _cleanup_(secret_freep) char *bootstrap =
        kubeconfig_make_bootstrap("kubernetes", f[4], "ca", f[5]);
    _cleanup_(freep) char *kubelet = kubeconfig_make_kubelet(f[4], "ca", f[3]);

    if (kubeconfig_parse(bootstrap, strlen(bootstrap), "written", false, &read, NULL) < 0 ||
        !text_equal(read.server ? read.server : "", f[4]) ||
        !text_equal(read.token ? read.token : "", f[5]))
        abort();
    kubeconfig_free(&read);
    if (kubeconfig_parse(kubelet, strlen(kubelet), "written", false, &read, NULL) < 0)
        abort();
    kubeconfig_free(&read);
}

static bool is_ascii(const char *text) {
    while (*text > 0)
        text++;
    return !*text;
}

/* One line, and nothing in it that an environment file's reader would end at. */
static void kubelet(char *const *f) {
    struct text_list extra = {0};
    const struct kubelet_flags_input input = {.version = f[0],
                                              .node_name = f[1],
                                              .host_name = f[2],
                                              .taints = f[3],
                                              .node_labels = f[4],
                                              .extra = &extra};
    _cleanup_(freep) char *text = NULL, *instance = kubelet_instance_config_text(NULL, f[5]);

    text_list_add(&extra, f[5]);
    text = kubelet_flags_text(&input);
    for (const char *p = text; p[1]; p++)
        if ((unsigned char)*p < ' ')
            abort();
    if (is_ascii(f[5])) /* YAML folds Unicode's own line ends, which no pipe has */
        holds(instance, "containerRuntimeEndpoint", f[5]);
    text_list_free(&extra);
}

/* JSON and YAML hold nothing else than UTF-8, and what comes from files and clusters is that. */
static bool is_utf8(const char *text) {
    _cleanup_json_ json_t *json = json_string(text);

    return json != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    _cleanup_(freep) char *text = xstrndup((const char *)data, size);
    char *f[FIELDS], *rest = text;

    if (!is_utf8(text))
        return 0;
    for (int i = 0; i < FIELDS; i++) {
        f[i] = rest;
        rest += strcspn(rest, "\n");
        if (*rest)
            *rest++ = '\0';
    }
    kube_proxy(f);
    kubeconfigs(f);
    kubelet(f);
    return 0;
}
