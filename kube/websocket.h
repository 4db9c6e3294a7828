/* WebSocket as a client speaks it (RFC 6455): its opening and its frames, without a connection.
 * Pure. Inside kube/. */
#pragma once

#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

enum {
    WEBSOCKET_NONCE_LEN = 16,
    WEBSOCKET_HEAD_MAX = 64 * 1024, /* of the server's answer, and of the body of a refusal */
    WEBSOCKET_MESSAGE_MAX = 1024 * 1024,
};

/* A message of the server, whole; -1 with err ends the conversation. */
typedef int websocket_message(void *context, const char *data, size_t len, struct error *err);

/* Zero-initialise, websocket_free(). */
struct websocket {
    const char *protocols; /* that are offered, "v5.channel.k8s.io, v4.channel.k8s.io"; borrowed */
    char key[32];          /* websocket_open() */
    uint32_t mask;         /* of the client's next frame; changes with each */
    websocket_message *on_message;
    void *context;
    char *protocol;      /* that the server chose, once it has let us in; or NULL */
    long status;         /* of a server that did not: its HTTP status, and */
    struct text refusal; /* what it said */
    bool closed;         /* the server's last frame was heard, or all of its refusal */
    struct text in, message;
    bool continues; /* a message of several frames has begun */
};
void websocket_free(struct websocket *ws);

/* Adds the request to `out`: "GET PATH HTTP/1.1" with these header lines ("Authorization: ...\r\n",
 * or ""). `nonce` and `mask` are random. */
void websocket_open(struct websocket *ws, const char *host, const char *path, const char *headers,
                    const unsigned char nonce[WEBSOCKET_NONCE_LEN], uint32_t mask,
                    struct text *out);
/* Bytes of the server; answers (to a ping, to its close) are added to `reply`. Kinds:
 * ERROR_MALFORMED (no HTTP, no WebSocket, a wrong key, a protocol that was not offered, a frame
 * that is malformed or too long), and what on_message says. */
int websocket_hear(struct websocket *ws, const void *data, size_t len, struct text *reply,
                   struct error *err);
