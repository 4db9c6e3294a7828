/* Signatures from outside: any text, any payload, any token's secret. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "pki/token.h"

/* Only the signature itself fits: not with more behind it, and not one letter changed. */
static void only_itself(const char *secret, const void *payload, size_t len, size_t at) {
    _cleanup_(freep) char *good = jws_make("abcdef", secret, payload, len);
    _cleanup_(freep) char *longer = xasprintf("%s.", good);

    if (jws_verify(good, "abcdef", secret, payload, len, NULL) < 0 ||
        jws_verify(longer, "abcdef", secret, payload, len, NULL) == 0 ||
        jws_verify(good, "abcdeg", secret, payload, len, NULL) == 0)
        abort();
    good[at % strlen(good)] ^= 1;
    if (jws_verify(good, "abcdef", secret, payload, len, NULL) == 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t half = size / 2;
    _cleanup_(freep) char *jws = xstrndup((const char *)data, half);

    if (jws_verify(jws, "abcdef", "0123456789abcdef", data + half, size - half, NULL) == 0)
        abort(); /* nobody finds one by chance */
    only_itself(jws, data + half, size - half, size ? data[0] : 0);
    return 0;
}
