/* One answer of an API server, read as each of the objects that winjoin looks at. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "diag/ask/mailbox.h"
#include "kube/object.h"
#include "kube/csr.h"
#include "kube/node.h"
#include "kube/request.h"
#include "pki/certificate.h"
#include "tests/fuzz/answer.h"
#include "tests/memory/host_memory.h"
#include "tests/memory/http_memory.h"

static void read_csr(const json_t *object) {
    struct kube_csr csr = {0};
    struct error err = {0};

    if (kube_csr_from_json(object, &csr, &err) < 0)
        return;
    if (!csr.name || (csr.state == KUBE_CSR_ISSUED && !csr.certificate_pem))
        abort();
    if (csr.request_pem)
        free(csr_subject(csr.request_pem)); /* whatever it says */
    if (kube_csr_refused(&csr, &err) != -1 || err.kind != ERROR_DENIED)
        abort();
    kube_csr_free(&csr);
}

static void read_node(const json_t *object) {
    struct kube_node node = {0};

    if (kube_node_from_json(object, &node, NULL) < 0)
        return;
    if (!node.name || (node.internal_ip && !node.addresses.count))
        abort();
    kube_node_free(&node);
}

/* As lists: pages of Nodes that may never end, requests to look through. */
static void read_lists(struct answer *answer) {
    struct kubeconfig config = {.server = (char[]){"https://10.0.0.10:6443"}};
    struct host *host = host_memory_new();
    struct http *http = http_memory_new(answer_everybody, answer);
    json_t *nodes = NULL;
    struct kube_client client;
    struct kube_csr csr = {0};

    if (kube_client_open(http, host, &config, &client, NULL) < 0)
        abort();
    if (kube_nodes_get(&client, &nodes, NULL) == 0)
        json_decref(nodes);
    if (kube_csr_find(&client, KUBE_CSR_CLIENT_SIGNER, "win-1", &csr, NULL) == 0)
        kube_csr_free(&csr);
    kube_client_close(&client);
    http_free(http);
    host_free(host);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    _cleanup_json_ json_t *object = NULL;
    _cleanup_(freep) char *waiting = NULL, *end = NULL, *body = xstrndup((const char *)data, size);
    struct answer answer = {(const char *)data, size};
    struct error err = {0};
    unsigned ends = 0;

    read_lists(&answer);
    if (kube_status_error("GET", "/x", 100 + (long)size % 500, body, strlen(body), &err) != -1 ||
        err.kind == ERROR_NONE || !err.message[0])
        abort();
    if (json_read((const char *)data, size, "fuzz", &object, NULL) < 0)
        return 0;
    read_csr(object);
    read_node(object);
    (void)kube_configmap_value(object, "kubeconfig"); /* absent or there */
    waiting = kube_pod_waiting(object);
    end = static_pod_last_end(object, &ends);
    return 0;
}
