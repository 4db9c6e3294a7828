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
    _cleanup_(freep) char *plain = path_plain(text), *plainer = path_plain(plain);

    if (strlen(plain) > strlen(text) + 1 || !text_equal(plain, plainer))
        abort();
    if (path_normalize(text, &path, NULL) < 0)
        return 0;
    _cleanup_(freep) char *framed = xasprintf("%s\\", path);
    if (strstr(framed, "\\..\\") || strchr(path, '/') || strstr(path + 2, "\\\\"))
        abort();
    if (path_normalize(path, &again, NULL) < 0 || !text_equal(path, again))
        abort();
    return 0;
}
