/* What upstream publishes as digests: whatever passes is 64 hex digits. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "services/artifacts/catalog.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    _cleanup_(freep) char *text = xmemdup(data, size);
    char digest[DIGEST_TEXT_MAX] = "";

    if (upstream_digest_read(text, size, "x.exe", digest, NULL) == 0 &&
        strspn(digest, "0123456789abcdef") != 64)
        abort();
    return 0;
}
