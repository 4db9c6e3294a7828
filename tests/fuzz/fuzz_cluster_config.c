/* The texts of a cluster's ConfigMaps: ClusterConfiguration, KubeletConfiguration, net-conf.json,
 * NodeConfiguration. An input that begins with '{' is also the server's whole answer. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "host/http.h"
#include "join/configuration/cluster_config.h"
#include "kube/client.h"
#include "tests/memory/host_memory.h"
#include "tests/memory/http_memory.h"

static const char cluster_text[] =
    "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\n"
    "kubernetesVersion: v1.37.1\n";
static const char kubelet_text[] =
    "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n";

/* Which ConfigMap holds the input; the others are good ones. */
struct scene {
    const char *text; /* NULL: the bytes are the answer itself */
    const char *data;
    size_t len;
    size_t at;
};
static const struct {
    const char *path, *key, *good;
    const char *word; /* an input that has it is for this one */
} maps[] = {
    {"configmaps/kubeadm-config", "ClusterConfiguration", cluster_text, "ClusterConfiguration"},
    {"configmaps/kubelet-config", "kubelet", kubelet_text, "KubeletConfiguration"},
    {"configmaps/winjoin", "NodeConfiguration", NULL, "NodeConfiguration"},
    {"configmaps/kube-flannel-cfg", "net-conf.json", NULL, "Backend"},
};

static int reply(void *context, const struct http_request *request, struct http_response *ret,
                 struct error *err) {
    const struct scene *s = context;
    size_t i = 0;

    (void)err;
    while (i < ARRAY_SIZE(maps) && !strstr(request->url, maps[i].path))
        i++;
    ret->status = 404;
    ret->retry_after = -1;
    if (i == s->at && !s->text) {
        ret->status = 200;
        ret->body = xstrndup(s->data, s->len);
        ret->body_len = strlen(ret->body);
    } else if (i < ARRAY_SIZE(maps) && (i == s->at || maps[i].good)) {
        _cleanup_json_ json_t *map = json_pack("{s:s, s:{s:s}}", "kind", "ConfigMap", "data",
                                               maps[i].key, i == s->at ? s->text : maps[i].good);

        ret->status = 200;
        ret->body = map ? json_write(map) : xstrdup("{}"); /* no UTF-8: there is no such map */
        ret->body_len = strlen(ret->body);
    }
    return 0;
}

static size_t place_of(const char *text, size_t otherwise) {
    for (size_t i = 0; i < ARRAY_SIZE(maps); i++)
        if (strstr(text, maps[i].word))
            return i;
    return otherwise % ARRAY_SIZE(maps);
}

static void read_all(struct scene *s) {
    struct kubeconfig kubeconfig = {.server = (char[]){"https://10.0.0.10:6443"}};
    struct host *host = host_memory_new();
    struct http *http = http_memory_new(reply, s);
    struct cluster_config config = {0};
    struct kube_client client;
    struct error err = {0};

    if (kube_client_open(http, host, &kubeconfig, &client, NULL) < 0)
        abort();
    if (cluster_config_read(&client, 1, NULL, &config, &err) == 0) {
        if (!config.kubelet || !config.kubernetes_version)
            abort();
        cluster_config_free(&config);
    } else if (err.kind == ERROR_NONE || !err.message[0]) {
        abort();
    }
    kube_client_close(&client);
    http_free(http);
    host_free(host);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    _cleanup_(freep) char *text = xstrndup((const char *)data, size);
    struct scene s = {.text = text, .data = (const char *)data, .len = size};

    s.at = place_of(text, size);

    read_all(&s);
    if (size && data[0] == '{') {
        s.text = NULL;
        read_all(&s);
    }
    return 0;
}
