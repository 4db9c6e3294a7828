/* WebSocket client (RFC 6455): the opening handshake and the frames, without the network
 * connection. Only kube/ uses this file. */
#pragma once

#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

enum {
    WEBSOCKET_NONCE_LEN = 16,
    /* Limit for the head of the server's answer, and for the body of a refusal. */
    WEBSOCKET_HEAD_MAX = 64 * 1024,
    WEBSOCKET_MESSAGE_MAX = 1024 * 1024,
};

/* Receives one complete message of the server. Returning -1 with err ends the conversation. */
typedef int websocket_message(void *context, const char *data, size_t len, struct error *err);

/* The state of a WebSocket. Initialize it with zeros and free it with websocket_free(). */
struct websocket {
    /* Offered protocols, e.g. "v5.channel.k8s.io, v4.channel.k8s.io". Borrowed. */
    const char *protocols;
    char key[32];  /* Key of the handshake, set by websocket_open(). */
    uint32_t mask; /* Mask of the client's next frame; it changes with each frame. */
    websocket_message *on_message;
    void *context;
    char *protocol;      /* Protocol that the server chose; NULL until it accepted the handshake. */
    long status;         /* HTTP status of a server that refused the handshake. */
    struct text refusal; /* Body of the server's refusal. */
    bool closed;         /* The server's close frame, or its complete refusal, was received. */
    struct text in, message;
    bool continues; /* A message of several frames has begun. */
};
void websocket_free(struct websocket *ws);

/* Writes the handshake request "GET PATH HTTP/1.1" with these additional header lines
 * ("Authorization: ...\r\n", or "") to `out`. `nonce` and `mask` must be random. */
void websocket_open(struct websocket *ws, const char *host, const char *path, const char *headers,
                    const unsigned char nonce[WEBSOCKET_NONCE_LEN], uint32_t mask,
                    struct text *out);
/* Processes bytes from the server and adds answers (to a ping or close) to `reply`. Fails with
 * ERROR_MALFORMED (not HTTP, not a WebSocket, a wrong key, a protocol that was not offered, a
 * malformed or too long frame), and as on_message does. */
int websocket_hear(struct websocket *ws, const void *data, size_t len, struct text *reply,
                   struct error *err);
