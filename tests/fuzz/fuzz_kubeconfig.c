/* kubeconfig texts from cluster-info and files; what is read is written and read again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "host/http.h"
#include "kube/client.h"
#include "kube/kubeconfig.h"
#include "tests/memory/host_memory.h"

#define FOLDER "C:\\k\\"

static void round_trip(const struct kubeconfig *config) {
    struct kubeconfig again = {0};
    _cleanup_(secret_freep) char *text = kubeconfig_make(config);

    if (kubeconfig_parse(text, strlen(text), "again", false, &again, NULL) < 0 ||
        !text_equal(config->server, again.server) || !text_equal(config->token, again.token))
        abort();
    kubeconfig_free(&again);
}

static void use(const struct kubeconfig *config, struct host *host) {
    struct kube_client client = {0};
    struct error err = {0};

    round_trip(config);
    if (kube_client_open(NULL, host, config, &client, &err) == 0) {
        if (!client.server || (client.bearer_token && strpbrk(client.bearer_token, "\r\n")))
            abort();
        kube_client_close(&client);
    } else if (err.kind != ERROR_USAGE && err.kind != ERROR_UNSUPPORTED) {
        abort();
    }
}

/* As a file with others beside it. */
static void read_file(const uint8_t *data, size_t size) {
    static const char *const beside[] = {FOLDER "ca.crt", FOLDER "cert.pem", FOLDER "key.pem",
                                         FOLDER "token"};
    struct host *host = host_memory_new();
    struct kubeconfig config = {0};
    struct error err = {0};

    for (size_t i = 0; i < ARRAY_SIZE(beside); i++)
        if (host_write(host, beside[i], "beside\n", 7, HOST_SECRET, NULL) < 0)
            abort();
    if (host_write(host, FOLDER "config", data, size, HOST_SECRET, NULL) < 0)
        abort();
    if (kubeconfig_read_file(host, FOLDER "config", NULL, &config, &err) == 0)
        use(&config, host);
    else if (err.kind == ERROR_NONE || !err.message[0])
        abort();
    kubeconfig_free(&config);
    host_free(host);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct kubeconfig config = {0};

    if (kubeconfig_parse((const char *)data, size, "fuzz", false, &config, NULL) == 0)
        round_trip(&config);
    kubeconfig_free(&config);
    if (kubeconfig_parse((const char *)data, size, "fuzz", true, &config, NULL) == 0 &&
        (config.ca_file || config.token_file || config.client_cert_file || config.client_key_file))
        abort();
    kubeconfig_free(&config);
    read_file(data, size);
    return 0;
}
