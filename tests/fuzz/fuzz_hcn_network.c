/* HNS documents read back. */
#include <stdint.h>
#include <stdlib.h>

#include "netsetup/hns/hcn_network.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    _cleanup_json_ json_t *json = NULL;
    struct hcn_network network = {0};
    if (json_read((const char *)data, size, "HNS network", &json, NULL) == 0 &&
        hcn_network_parse(json, &network, NULL) == 0 && !*network.type)
        abort();
    return 0;
}
