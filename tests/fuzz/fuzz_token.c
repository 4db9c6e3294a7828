/* Tokens from a command line. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "pki/token.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    _cleanup_(freep) char *text = xstrndup((const char *)data, size);
    struct token token;

    if (token_parse(text, &token, NULL) == 0) {
        _cleanup_(secret_freep) char *again = xasprintf("%s.%s", token.id, token.secret);

        if (strcmp(again, text) != 0)
            abort();
    }
    return 0;
}
