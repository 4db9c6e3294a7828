/* The answer of a server to discovery by token: ConfigMap, signature, kubeconfig, certificates.
 * What is believed must bear the signature of the token. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "join/discovery/discovery.h"
#include "pki/certificate.h"
#include "pki/token.h"
#include "tests/fuzz/answer.h"
#include "tests/memory/host_memory.h"
#include "tests/memory/http_memory.h"

static void check(const struct answer *answer, const struct discovery_result *result) {
    _cleanup_(freep) char *good =
        jws_make("abcdef", "0123456789abcdef", result->kubeconfig, result->kubeconfig_len);
    _cleanup_json_ json_t *object = NULL;

    if (json_read(answer->data, answer->len, "fuzz", &object, NULL) < 0 ||
        !text_equal(json_text_at(object, "data.jws-kubeconfig-abcdef"), good) ||
        !result->config.ca_pem || !text_starts_with(result->config.server, "https://"))
        abort();
}

/* What was believed on the token's word alone is believed again with its own CA pinned, and with
 * another pin it is not. */
static void check_pins(struct answer *answer, const char *ca_pem, struct host *host) {
    char pin[PIN_TEXT_MAX], *items[] = {pin, NULL};
    const struct text_list pins = {.items = items, .count = 1};
    struct discovery_options options = {.endpoint = "10.0.0.10:6443",
                                        .token = "abcdef.0123456789abcdef",
                                        .ca_cert_hashes = &pins,
                                        .timeout_ms = 1};
    struct discovery_result result = {0};
    struct certificates all = {0};
    struct http *http = http_memory_new(answer_everybody, answer);

    if (certificates_parse(ca_pem, strlen(ca_pem), &all, NULL) < 0)
        abort();
    (void)text_format(pin, sizeof pin, "%s", all.items[all.count - 1].pin);
    if (discovery_run(&options, http, host, &result, NULL) < 0 ||
        strcmp(result.matched_pin, pin) != 0)
        abort();
    discovery_result_free(&result);
    pin_of_key("another", 7, pin);
    if (discovery_run(&options, http, host, &result, NULL) == 0)
        abort();
    certificates_free(&all);
    http_free(http);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct answer answer = {(const char *)data, size};
    struct discovery_options options = {.endpoint = "10.0.0.10:6443",
                                        .token = "abcdef.0123456789abcdef",
                                        .unsafe_skip_ca_verification = true,
                                        .timeout_ms = 1};
    struct discovery_result result = {0};
    struct host *host = host_memory_new();
    struct http *http = http_memory_new(answer_everybody, &answer);
    struct error err = {0};

    if (discovery_run(&options, http, host, &result, &err) == 0) {
        check(&answer, &result);
        check_pins(&answer, result.config.ca_pem, host);
    } else if (err.kind == ERROR_NONE || !err.message[0]) {
        abort();
    }
    discovery_result_free(&result);
    http_free(http);
    host_free(host);
    return 0;
}
