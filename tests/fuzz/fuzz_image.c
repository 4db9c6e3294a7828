/* What a registry answers, an index of images and a manifest, and an archive with them; and the
 * version that a program says. */
#include <stdint.h>

#include "answer.h"

#include "services/artifacts/catalog.h"
#include "services/artifacts/image.h"
#include "tests/memory/host_memory.h"
#include "tests/memory/http_memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    _cleanup_(freep) char *text = xstrndup((const char *)data, size);
    struct answer answer = {(const char *)data, size};
    struct host *host = host_memory_new();
    struct http *http = http_memory_new(answer_everybody, &answer);
    const struct mirror from = {.host = host, .http = http, .limit_ms = 1};
    struct image_facts facts = {0};

    /* no text has its own SHA-256 in it */
    if (image_fetch(&from, "r.test/a:1", 0, "C:\\a.tar", NULL) == 0)
        abort();
    (void)compatible_breach("containerd", text, "v1.37.1", 20348); /* only that they end */
    (void)compatible_breach("containerd", "v2.4.2", text, 20348);
    (void)image_facts_of_archive((const char *)data, size, 20348, &facts, NULL);
    image_facts_free(&facts);
    http_free(http);
    host_free(host);
    return 0;
}
