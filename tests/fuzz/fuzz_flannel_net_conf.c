/* The cluster's net-conf.json. */
#include <stdint.h>
#include <stdlib.h>

#include "services/runtime_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct flannel_backend backend = {0};
    if (flannel_net_conf_check((const char *)data, size, &backend, NULL) == 0 && backend.vxlan &&
        backend.vni < 4096)
        abort();
    return 0;
}
