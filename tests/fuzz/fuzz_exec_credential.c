/* What a kubeconfig's exec plugin prints. */
#include <stdint.h>
#include <stdlib.h>

#include "kube/kubeconfig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct kubeconfig config = {0};

    if (exec_credential_read((const char *)data, size, "client.authentication.k8s.io/v1", &config,
                             NULL) == 0 &&
        !config.token && !(config.client_cert_pem && config.client_key_pem))
        abort();
    kubeconfig_free(&config);
    return 0;
}
