/* kubeconfig texts from cluster-info and files; what is read is written and read again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "kube/kubeconfig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct kubeconfig config = {0}, again = {0};
    _cleanup_(secret_freep) char *text = NULL;

    if (kubeconfig_parse((const char *)data, size, "fuzz", &config, NULL) < 0)
        return 0;
    text = kubeconfig_make(&config);
    if (kubeconfig_parse(text, strlen(text), "again", &again, NULL) < 0 ||
        !text_equal(config.server, again.server) || !text_equal(config.token, again.token))
        abort();
    kubeconfig_free(&config);
    kubeconfig_free(&again);
    return 0;
}
