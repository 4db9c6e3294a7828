/* Programs for Windows: what is read from them is a version that a lock may hold. */
#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"
#include "services/artifacts/artifacts.h"
#include "services/artifacts/program_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    _cleanup_(freep) char *version = program_image_version((const char *)data, size);

    if (version && (!artifact_version_is_usable(version) ||
                    program_image_check((const char *)data, size, NULL) < 0))
        abort();
    return 0;
}
