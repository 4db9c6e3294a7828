/* Whatever somebody says on the container runtime's pipe: HTTP/2's frames, gRPC's message, CRI's
 * list of pods; heard in two pieces. */
#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"
#include "services/cri.h"
#include "services/grpc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    _cleanup_(grpc_answer_free) struct grpc_answer answer = {0};
    _cleanup_(text_free) struct text reply = {0};
    _cleanup_(cri_pods_free) struct cri_pods pods = {0};
    struct error err = {0};
    size_t first = size ? data[0] % size : 0;

    if (grpc_answer_take(&answer, data, first, &reply, &err) == 0 &&
        grpc_answer_take(&answer, data + first, size - first, &reply, &err) == 0 && answer.ended &&
        cri_pods_parse(text_str(&answer.message), answer.message.len, &pods, &err) < 0 &&
        pods.items)
        abort();
    if (cri_pods_parse((const char *)data, size, &pods, &err) == 0)
        for (size_t i = 0; i < pods.count; i++)
            if (!pods.items[i].id)
                abort();
    return 0;
}
