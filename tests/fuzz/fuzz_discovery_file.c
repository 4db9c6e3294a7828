/* A kubeconfig to discover by, from a file or over https: nothing unproven is taken. An input of
 * certificates is what a server presents that libcurl did not trust. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "join/discovery/discovery.h"
#include "tests/fuzz/answer.h"
#include "tests/memory/host_memory.h"
#include "tests/memory/http_memory.h"

#define FILE_PATH "C:\\k\\discovery.conf"
#define FILE_URL "https://files.example/discovery.conf"

static const char cluster_info[] =
    "{\"kind\":\"ConfigMap\",\"data\":{\"kubeconfig\":\"clusters: [{name: '', cluster: {server: "
    "'https://10.0.0.10:6443'}}]\"}}";

static int reply(void *context, const struct http_request *request, struct http_response *ret,
                 struct error *err) {
    const struct answer *answer = context;
    bool is_file = text_equal(request->url, FILE_URL);

    (void)err;
    if (request->verify != HTTP_VERIFY_FULL)
        abort(); /* a file brings its trust along */
    return is_file ? answer_with(ret, answer->data, answer->len)
                   : answer_with(ret, cluster_info, strlen(cluster_info));
}

static const char no_ca[] = "clusters: [{name: '', cluster: {server: 'https://10.0.0.10:6443'}}]";

static int present(void *context, const struct http_request *request, struct http_response *ret,
                   struct error *err) {
    const struct answer *answer = context;

    (void)request; /* the same for everybody */
    ret->date = 1800000000;
    ret->server_certs = xstrndup(answer->data, answer->len);
    return error_set(err, ERROR_UNTRUSTED, "verify the server: no");
}

/* Its certificate is looked at for what is wrong with it, and is never enough. */
static void refuse(struct answer *answer, struct host *host) {
    struct discovery_options options = {.file = FILE_PATH, .timeout_ms = 1};
    struct discovery_result result = {0};
    struct http *http = http_memory_new(present, answer);
    struct error err = {0};

    if (host_write(host, FILE_PATH, no_ca, strlen(no_ca), HOST_SECRET, NULL) < 0 ||
        discovery_run(&options, http, host, &result, &err) == 0 || err.kind != ERROR_UNTRUSTED)
        abort();
    discovery_result_free(&result);
    http_free(http);
}

static void discover(struct answer *answer, const char *file, const char *token,
                     struct host *host) {
    struct discovery_options options = {
        .file = file, .tls_bootstrap_token = token, .timeout_ms = 1};
    struct discovery_result result = {0};
    struct http *http = http_memory_new(reply, answer);
    struct error err = {0};

    if (discovery_run(&options, http, host, &result, &err) == 0) {
        if (!result.config.ca_pem || result.config.insecure_skip_tls_verify ||
            !text_starts_with(result.config.server, "https://"))
            abort();
    } else if (err.kind == ERROR_NONE || !err.message[0]) {
        abort();
    }
    discovery_result_free(&result);
    http_free(http);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct answer answer = {(const char *)data, size};
    struct host *host = host_memory_new();

    refuse(&answer, host);
    if (host_write(host, FILE_PATH, data, size, HOST_SECRET, NULL) < 0)
        abort();
    discover(&answer, FILE_PATH, NULL, host);
    discover(&answer, FILE_URL, "abcdef.0123456789abcdef", host);
    host_free(host);
    return 0;
}
