/* Archives from outside: bounded, and nothing that passed leaves its folder. */
#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"
#include "services/artifacts/bundle_archive.h"

enum { MAX = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    _cleanup_(freep) char *content = NULL;
    size_t len = 0;
    if (bundle_archive_read_all((const char *)data, size, NULL, 0, NULL) < 0)
        return 0;
    if (bundle_archive_read((const char *)data, size, "winjoin.lock", MAX, &content, &len, NULL) ==
            0 &&
        len > MAX)
        abort();
    return 0;
}
