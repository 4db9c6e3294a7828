/* Why a kube-proxy that runs has programmed nothing: its configuration and the end of its log. */
#include "base/yaml.h"
#include "diag/evidence.h"
#include "kube/kubeconfig.h"
#include "services/runtime_files.h"
#include "services/service_log.h"
#include "services/service_table.h"

enum { CONFIG_MAX = 256 * 1024, TAIL_MAX = 64 * 1024, LINES = 2 };

static char *source_vip(struct host *host) {
    _cleanup_(yaml_documents_freep) struct yaml_documents *documents = NULL;
    _cleanup_(freep) char *text = NULL;
    _cleanup_json_ json_t *config = NULL;
    const char *vip;
    size_t len;

    if (host_read(host, KUBE_PROXY_CONFIG_PATH, CONFIG_MAX, &text, &len, NULL) < 0 ||
        yaml_parse(text, len, KUBE_PROXY_CONFIG_PATH, &documents, NULL) < 0)
        return NULL;
    config = yaml_to_json(yaml_document(documents, 0));
    vip = json_text_at(config, "winkernel.sourceVip");
    return vip && *vip ? xstrdup(vip) : NULL;
}

static char *server(struct host *host) {
    _cleanup_(kubeconfig_free) struct kubeconfig config = {0};
    _cleanup_(secret_freep) char *text = NULL;
    size_t len;

    if (host_read(host, KUBE_PROXY_KUBECONFIG_PATH, CONFIG_MAX, &text, &len, NULL) < 0 ||
        kubeconfig_parse(text, len, KUBE_PROXY_KUBECONFIG_PATH, &config, NULL) < 0)
        return NULL;
    return take_ptr(config.server);
}

json_t *diag_evidence_proxy(struct host *host) {
    _cleanup_(text_list_free) struct text_list words = {0};
    _cleanup_(freep) char *tail = service_log_tail(host, service_kube_proxy.log_file, TAIL_MAX);
    _cleanup_(freep) char *vip = source_vip(host), *api = server(host);
    json_t *proxy = json_pack("{s:s*, s:s*}", "sourceVip", vip, "server", api);

    if (tail)
        service_log_words(tail, LINES, &words);
    if (words.count)
        json_object_set_new(proxy, "lastErrors", json_texts(&words));
    return proxy;
}
