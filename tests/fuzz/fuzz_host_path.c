/* Paths from configuration files: what is taken is absolute, has no "..", and stays as it is. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "host/path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    _cleanup_(freep) char *text = xstrndup((const char *)data, size);
    _cleanup_(freep) char *path = NULL, *again = NULL;

    if (path_normalize(text, &path, NULL) < 0)
        return 0;
    _cleanup_(freep) char *framed = xasprintf("%s\\", path);
    if (strstr(framed, "\\..\\") || strchr(path, '/') || strstr(path + 2, "\\\\"))
        abort();
    if (path_normalize(path, &again, NULL) < 0 || !text_equal(path, again))
        abort();
    return 0;
}
