/* One gRPC call as bytes: what the client says over HTTP/2 (RFC 9113), and what it makes of the
 * server's answer. Pure; a connection carries one call. */
#ifndef SERVICES_GRPC_H
#define SERVICES_GRPC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/text.h"

/* The longest method and request that grpc_call_make() takes. */
enum { GRPC_METHOD_MAX = 100, GRPC_REQUEST_MAX = 4096 };

/* Everything that the client says unasked: preface, settings, the request. `method` is the path
 * ("/runtime.v1.RuntimeService/Version"), `message` protobuf. ERROR_USAGE when one is too long. */
int grpc_call_make(const char *method, const char *message, size_t len, struct text *ret,
                   struct error *err);

/* Zero-initialise; grpc_answer_free(). */
struct grpc_answer {
    struct text unread;  /* the beginning of a frame that is not whole */
    struct text message; /* with gRPC's five bytes before it, until it is whole; then protobuf */
    bool ended;
};
void grpc_answer_free(struct grpc_answer *answer);

/* Takes what the server said, adds what it is owed (acknowledgements) to `reply`. Once
 * answer->ended, answer->message is the answer. A call that the server refuses is ERROR_HOST (its
 * reason is in compressed headers, which are not read); what is no HTTP/2 or no gRPC is
 * ERROR_MALFORMED. */
int grpc_answer_take(struct grpc_answer *answer, const void *data, size_t len, struct text *reply,
                     struct error *err);

#endif
