/* Signatures from outside: any text, any payload. */
#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"
#include "pki/jws.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t half = size / 2;
    _cleanup_(freep) char *jws = xstrndup((const char *)data, half);

    if (jws_verify(jws, "abcdef", "0123456789abcdef", data + half, size - half, NULL) == 0)
        abort(); /* nobody finds one by chance */
    return 0;
}
