/* A catalog from an administrator: whatever is taken leads to a path of a host for each program. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "services/artifacts/catalog.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    _cleanup_(freep) char *text = xmemdup(data, size);
    _cleanup_(catalog_freep) struct catalog *catalog = NULL;
    struct artifact_target target;

    if (catalog_read(text, size, "catalog", &catalog, NULL) < 0)
        return 0;
    for (size_t i = 0; artifact_target_at(i, &target); i++) {
        struct artifact artifact = {.name = xstrdup(target.name), .version = xstrdup("v1.2.3")};

        if (catalog_locate(catalog, &artifact) &&
            (!strchr(artifact.path, '/') || strpbrk(artifact.path, "{}?#@") ||
             strstr(artifact.digest, "..")))
            abort();
        artifact_free(&artifact);
    }
    return 0;
}
