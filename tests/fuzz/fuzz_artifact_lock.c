/* Lock files from outside: what is taken reads back as the same, within the node's folders. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "services/artifacts/artifacts.h"
#include "services/artifacts/bundle_archive.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct artifacts artifacts = {0}, again = {0};
    if (artifact_lock_parse((const char *)data, size, &artifacts, NULL, NULL) < 0)
        return 0;
    _cleanup_(freep) char *text = artifact_lock_make(&artifacts, NULL);
    if (artifact_lock_parse(text, strlen(text), &again, NULL, NULL) < 0 ||
        again.count != artifacts.count)
        abort();
    for (size_t i = 0; i < artifacts.count; i++) {
        _cleanup_(freep) char *path = xasprintf("/%s/", artifacts.items[i].path);
        if (!bundle_target_is_safe(artifacts.items[i].target) || strstr(path, "/../"))
            abort();
    }
    artifacts_free(&artifacts);
    artifacts_free(&again);
    return 0;
}
