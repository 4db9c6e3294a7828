/* What a registry asks for (WWW-Authenticate), and what is answered to a request for a token: one
 * text as both. */
#include <stdint.h>

#include "answer.h"

#include "services/artifacts/image.h"
#include "tests/memory/http_memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    _cleanup_(freep) char *text = xstrndup((const char *)data, size), *token = NULL;
    struct answer answer = {(const char *)data, size};
    struct http *http = http_memory_new(answer_everybody, &answer);
    struct registry_challenge challenge = {0};

    if (registry_challenge_read(text, &challenge) != (challenge.realm != NULL))
        abort();
    registry_challenge_free(&challenge);
    (void)registry_token_fetch(http, text, "pause", &token, NULL);
    freep(&token);
    if (registry_token_fetch(http, "Bearer realm=\"https://r.test\"", "a", &token, NULL) == 0 &&
        (!*token || strpbrk(token, " \r\n\"")))
        abort();
    http_free(http);
    return 0;
}
