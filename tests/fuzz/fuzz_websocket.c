/* Whatever a server says where a WebSocket was asked for: its head, frames, channels and Status;
 * heard in pieces. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "kube/exec.h"
#include "kube/websocket.h"
#include "tests/memory/host_memory.h"
#include "tests/memory/http_memory.h"

/* The nonce of a host in memory is the same each time; a seed has the right answer to it. */
struct said {
    const uint8_t *data;
    size_t len, piece;
};

static const char *say(void *context, const struct text *heard, size_t *ret_len) {
    struct said *said = context;
    const char *piece = (const char *)said->data;
    size_t len = said->piece && said->piece < said->len ? said->piece : said->len;

    (void)heard;
    *ret_len = len ? len : 1;
    said->data += len;
    said->len -= len;
    return len ? piece : NULL;
}

static int nobody(void *context, const struct http_request *request, struct http_response *ret,
                  struct error *err) {
    (void)context, (void)request, (void)ret;
    return error_set(err, ERROR_NETWORK, "nobody answers");
}

/* The frames alone: behind a head that is right. */
static int count(void *context, const char *data, size_t len, struct error *err) {
    (void)data, (void)err;
    *(size_t *)context += len;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const argv[] = {"x", NULL};
    struct said said = {data, size, size ? data[size - 1] : 0};
    struct kube_client client = {.host = host_memory_new(), .server = (char *)"https://k"};
    const struct kube_exec exec = {.namespace_ = "n", .pod = "p", .argv = argv};
    struct kube_exec_result result = {0};
    size_t heard = 0;
    struct websocket ws = {.on_message = count, .context = &heard};
    struct text reply = {0};
    struct error err = {0};

    client.http = http_memory_new(nobody, NULL);
    http_memory_on_talk(client.http, say, &said);
    kube_exec(&client, &exec, &result, &err, 1);
    if (err.kind && (!err.message[0] || result.out.data))
        abort();
    kube_exec_result_free(&result);
    http_free(client.http);
    host_free(client.host);

    ws.protocol = xstrdup("v5.channel.k8s.io");
    (void)websocket_hear(&ws, data, size / 2, &reply, &err);
    (void)websocket_hear(&ws, data + size / 2, size - size / 2, &reply, &err);
    if (heard > size || reply.len > 4 * size + 8)
        abort();
    websocket_free(&ws);
    text_free(&reply);
    return 0;
}
