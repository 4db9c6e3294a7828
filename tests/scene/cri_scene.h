/* A container runtime that answers on the in-memory host's pipe as grpc-go does. */
#pragma once

#include <stdbool.h>
#include <string.h>

#include "base/text.h"
#include "tests/memory/host_memory.h"
#include "tests/memory/http2_request.h"

/* What a server by grpc-go 1.80 said, but for the message: settings, acknowledgement, window update
 * and ping; headers; trailers; a refusal with its reason. */
#define GRPC_GO_HELLO                                                                              \
    "\0\0\6\4\0\0\0\0\0\0\5\0\0\x40\0"                                                             \
    "\0\0\0\4\1\0\0\0\0"                                                                           \
    "\0\0\4\x08\0\0\0\0\0\0\0\0\5"                                                                 \
    "\0\0\x08\6\0\0\0\0\0\2\4\x10\x10\x09\x0e\7\7"
#define GRPC_GO_HEADERS                                                                            \
    "\0\0\x10\1\4\0\0\0\1\x20\x88\x0f\x10\x8b\x1d\x75\xd0\x62\x0d\x26\x3d\x4c\x4d\x65\x64"
#define GRPC_GO_TRAILERS                                                                           \
    "\0\0\x18\1\5\0\0\0\1\0\x88\x9a\xca\xc8\xb2\x12\x34\xda\x8f\1\x30\0\x89\x9a\xca\xc8\xb5\x25"   \
    "\x42\7\x31\x7f\0"
#define GRPC_GO_INVALID                                                                            \
    "\0\x88\x9a\xca\xc8\xb2\x12\x34\xda\x8f\1\x33\0\x89\x9a\xca\xc8\xb5\x25\x42\7\x31\x7f\x99\x40" \
    "\xea\x92\x33\xf9\x50\x87\xaa\x53\x4c\xa5\x36\xa1\x2a\x1a\xa2\x51\x6c\x85\x52\x92\xa4\x72\x0d" \
    "\x23"
#define GRPC_GO_REFUSAL                                                                            \
    "\0\0\x41\1\5\0\0\0\1\x20\x88\x0f\x10\x8b\x1d\x75\xd0\x62\x0d\x26\x3d\x4c\x4d\x65"             \
    "\x64" GRPC_GO_INVALID
#define GRPC_GO_REFUSAL_TRAILERS "\0\0\x31\1\5\0\0\0\1" GRPC_GO_INVALID

#define GRPC_GO_REASON "sandbox config must include metadata"

/* Two pods of a kubelet's and one of somebody else's. */
#define CRI_LIST                                                                                   \
    "\x0a\x3b\x0a\3one\x12\x11\x0a\1a\x12\1u\x1a\7default\x20\1\x18\1\x20\x05"                     \
    "\x2a\x1d\x0a\x15io.kubernetes.pod.uid\x12\4uidx"                                              \
    "\x0a\x0d\x0a\5alone\x12\4\x0a\2me"                                                            \
    "\x0a\x38\x0a\3two\x12\x10\x0a\1b\x1a\x0bkube-system"                                          \
    "\x2a\x1d\x0a\x15io.kubernetes.pod.uid\x12\4uidy\x18\1"

struct cri_scene {
    unsigned refusals; /* so many StopPodSandbox are refused first */
    unsigned stopped, removed;
    bool garbled; /* speaks something else */
    struct host
        *hangs; /* its clock: no answer to StopPodSandbox comes for an hour; NULL: it does */
    unsigned asked;
};

static inline void cri_scene_add(struct text *answer, const char *message, size_t len) {
    const unsigned char head[] = {0, 0, (unsigned char)(len + 5), 0, 0, 0, 0, 0, 1, 0, 0,
                                  0, 0, (unsigned char)len};

    text_add_bytes(answer, GRPC_GO_HELLO GRPC_GO_HEADERS, sizeof GRPC_GO_HELLO GRPC_GO_HEADERS - 1);
    text_add_bytes(answer, head, sizeof head);
    text_add_bytes(answer, message, len);
    text_add_bytes(answer, GRPC_GO_TRAILERS, sizeof GRPC_GO_TRAILERS - 1);
}

static inline bool cri_scene_calls(const struct http2_request *request, const char *method) {
    return request->whole && strstr(text_str(&request->headers), method);
}

/* PodSandboxId's first field, behind gRPC's prefix. */
static inline bool cri_scene_names(const struct http2_request *request, const char *pod) {
    return request->body.len == 7 + strlen(pod) &&
           memcmp(request->body.data + 7, pod, strlen(pod)) == 0;
}

/* A host_memory_pipe. */
static inline void cri_scene_answer(void *context, const void *said, size_t len,
                                    struct text *answer) {
    struct cri_scene *scene = context;
    _cleanup_(http2_request_free) struct http2_request request = {0};

    http2_request_read(said, len, &request);
    if (scene->garbled) {
        text_add(answer, "{\"ok\":false,\"error\":\"what?\"}\n");
    } else if (cri_scene_calls(&request, ":path: /runtime.v1.RuntimeService/ListPodSandbox\n")) {
        cri_scene_add(answer, CRI_LIST, sizeof CRI_LIST - 1);
    } else if (cri_scene_calls(&request, ":path: /runtime.v1.RuntimeService/StopPodSandbox\n")) {
        scene->asked++;
        if (scene->hangs) {
            host_memory_advance(scene->hangs, 3600000);
            return;
        }
        if (scene->refusals && scene->refusals--) {
            text_add_bytes(answer, GRPC_GO_HELLO GRPC_GO_REFUSAL,
                           sizeof GRPC_GO_HELLO GRPC_GO_REFUSAL - 1);
            return;
        }
        scene->stopped += cri_scene_names(&request, "one") || cri_scene_names(&request, "two");
        cri_scene_add(answer, "", 0);
    } else if (cri_scene_calls(&request, ":path: /runtime.v1.RuntimeService/RemovePodSandbox\n")) {
        scene->removed++;
        cri_scene_add(answer, "", 0);
    }
}
