/* A watch's stream as a server sends it: the first line answers the list, the rest are the streams'
 * bytes in pieces of any size. A request's fate ends, whatever is sent. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "host/host_ops.h"
#include "kube/csr.h"
#include "kube/node.h"
#include "tests/memory/host_memory.h"

enum { WAIT_MS = 20000, ANSWERS_MAX = 10000 };

struct scene {
    struct http http;
    struct host *host;
    const char *list, *events;
    size_t list_len, events_len, piece;
    unsigned answers;
};

static void stream(const struct scene *s, const struct http_request *request) {
    for (size_t at = 0; at < s->events_len; at += s->piece) {
        size_t len = s->events_len - at < s->piece ? s->events_len - at : s->piece;
        /* a copy of its own: the sanitizer sees who reads on behind a piece */
        char *piece = xmalloc(len);
        int ended;

        memcpy(piece, s->events + at, len);
        ended = request->on_data(request->on_data_context, piece, len);
        free(piece);
        if (ended)
            return;
    }
}

static int perform(struct http *http, const struct http_request *request, struct http_response *ret,
                   struct error *err) {
    struct scene *s = (struct scene *)http;

    (void)err;
    if (++s->answers > ANSWERS_MAX)
        abort(); /* it never ends, or asks without a pause */
    ret->status = 200;
    ret->retry_after = -1;
    if (request->on_data) {
        stream(s, request);
        return 0;
    }
    ret->body = xstrndup(s->list, s->list_len);
    ret->body_len = strlen(ret->body);
    return 0;
}

static void perform_all(struct http *http, struct http_exchange *exchanges, size_t count,
                        size_t at_once) {
    (void)at_once;
    for (size_t i = 0; i < count; i++) {
        (void)perform(http, &exchanges[i].request, &exchanges[i].response, exchanges[i].err);
        http_exchange_end(&exchanges[i]);
    }
}

static void no_free(struct http *http) {
    (void)http; /* it is the scene's */
}
static const struct http_ops ops = {.perform = perform_all, .free = no_free};

static void wait_for_csr(struct kube_client *client) {
    const struct kube_csr sent = {
        .name = (char *)"csr-1", .uid = (char *)"u1", .version = (char *)""};
    struct kube_csr csr = {0};
    struct error err = {0};

    if (kube_csr_wait(client, &sent, WAIT_MS, NULL, NULL, &csr, &err) == 0) {
        if (csr.state != KUBE_CSR_ISSUED || !csr.certificate_pem)
            abort();
    } else if (err.kind == ERROR_NONE || !err.message[0]) {
        abort();
    }
    kube_csr_free(&csr);
}

static void wait_for_node(struct kube_client *client) {
    struct kube_node node = {0};
    struct error err = {0};

    if (kube_node_wait(client, "win-1", KUBE_NODE_READY, WAIT_MS, NULL, NULL, &node, &err) == 0) {
        if (!node.ready)
            abort();
    } else if (err.kind == ERROR_NONE || !err.message[0]) {
        abort();
    }
    kube_node_free(&node);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *text = (const char *)data;
    const char *newline = size ? memchr(text, '\n', size) : NULL;
    size_t list_len = newline ? (size_t)(newline - text) : size;
    struct scene s = {.http.ops = &ops,
                      .host = host_memory_new(),
                      .list = text,
                      .list_len = list_len,
                      .events = newline ? newline + 1 : text,
                      .events_len = newline ? size - list_len - 1 : 0,
                      .piece = 1 + size % 97};
    struct kubeconfig config = {.server = (char[]){"https://10.0.0.10:6443"}};
    struct kube_client client;

    if (kube_client_open(&s.http, s.host, &config, &client, NULL) < 0)
        abort();
    wait_for_csr(&client);
    s.answers = 0;
    wait_for_node(&client);
    kube_client_close(&client);
    host_free(s.host);
    return 0;
}
