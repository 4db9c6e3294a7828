/* Whatever somebody says on the container runtime's pipe: HTTP/2's frames, gRPC's message, CRI's
 * list of pods and containerd's of what it downloads; heard in two pieces. */
#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"
#include "services/cri.h"
#include "tests/memory/host_memory.h"

struct said {
    const uint8_t *data;
    size_t len, first;
};

static void play(void *context, const void *heard, size_t len, struct text *answer) {
    struct said *said = context;
    size_t piece = said->first && said->first < said->len ? said->first : said->len;

    (void)heard, (void)len;
    text_add_bytes(answer, said->data, piece);
    *said = (struct said){said->data + piece, said->len - piece, 0};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct said said = {data, size, size ? data[0] % size : 0};
    _cleanup_(cri_pods_free) struct cri_pods pods = {0}, alone = {0};
    struct cri_downloads downloads = {0};
    struct host *host = host_memory_new();
    struct error err = {0};

    host_memory_set_pipe_answer(host, play, &said);
    if (cri_pods(host, "pipe", CRI_LIST_MS, &pods, &err) < 0 && pods.items)
        abort();
    said = (struct said){data, size, size ? data[0] % size : 0};
    if (cri_downloads(host, "pipe", &downloads, &err) == 0 && downloads.there > downloads.total)
        abort();
    host_free(host);
    if (cri_pods_parse((const char *)data, size, &alone, &err) == 0)
        for (size_t i = 0; i < alone.count; i++)
            if (!alone.items[i].id)
                abort();
    return 0;
}
