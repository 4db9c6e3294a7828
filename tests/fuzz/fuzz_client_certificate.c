/* The kubelet's certificate file as it was found: taken only when key and certificate fit. */
#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"
#include "join/kubelet/client_certificate.h"
#include "join/kubelet/kubelet_files.h"
#include "pki/certificate.h"
#include "tests/memory/host_memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const struct client_certificate_options options = {.node_name = "win-1"};
    struct host *host = host_memory_new();
    struct client_certificate found = {0};
    _cleanup_(freep) char *text = xstrndup((const char *)data, size);
    struct error err = {0};

    if (host_write(host, KUBELET_CLIENT_CERTIFICATE_FILE, data, size, HOST_SECRET, NULL) < 0)
        abort();
    if (client_certificate_load(host, &options, &found, &err) == 0) {
        if (certificate_check_key(found.chain_pem, found.key_pem, NULL) < 0)
            abort();
        client_certificate_free(&found);
    } else if (err.kind == ERROR_NONE || !err.message[0]) {
        abort();
    }
    (void)csr_is_ours(text, text, "win-1"); /* whatever it says */
    host_free(host);
    return 0;
}
