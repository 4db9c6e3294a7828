/* HNS documents read back. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "netsetup/hcn_lookup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    _cleanup_(freep) char *text = xstrndup((const char *)data, size);
    struct hcn_network network = {0};
    if (hcn_network_read(text, &network, NULL) == 0 && !*network.type)
        abort();
    return 0;
}
