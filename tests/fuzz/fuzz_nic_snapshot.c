/* The network adapter's snapshot in the journal. */
#include <stdint.h>
#include <stdlib.h>

#include "base/json.h"
#include "netsetup/nic/nic.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    _cleanup_json_ json_t *json = NULL;
    struct nic_snapshot snapshot = {0};
    if (json_read((const char *)data, size, "snapshot", &json, NULL) < 0 ||
        nic_snapshot_read(json, &snapshot, NULL) < 0)
        return 0;
    json_t *written = nic_snapshot_json(&snapshot);
    struct nic_snapshot again = {0};
    if (!written || nic_snapshot_read(written, &again, NULL) < 0)
        abort();
    json_decref(written);
    nic_snapshot_free(&snapshot);
    nic_snapshot_free(&again);
    return 0;
}
