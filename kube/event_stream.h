/* The events of a watch as they arrive: lines of JSON, or frames of Protobuf. Not for other
 * folders. */
#pragma once

#include "base/json.h"
#include "base/text.h"
#include "host/http.h"

/* How many bytes an event may have: a line of JSON as an answer, a frame more than the 1.5 MiB that
 * etcd stores. */
enum { EVENT_LINE_MAX = HTTP_BODY_MAX, EVENT_FRAME_MAX = 2 * 1024 * 1024 };

/* Zero-initialise; event_stream_begin() before each stream; text_free() of the piece. */
struct event_stream {
    struct text piece; /* of an event, so far; all that came, if that is not an event */
    bool words;        /* it is no stream of events */
    struct error why;  /* it is not */
    enum { STREAM_NEW, STREAM_LINES, STREAM_FRAMES, STREAM_OBJECT } form;
};
void event_stream_begin(struct event_stream *s);
/* Takes bytes up to the end of an event at most, and says how many. *ret: the event, an object with
 * "type" (new reference), or NULL while it is not complete. An event that is too long sets
 * piece.overflow. Sources: apimachinery's pkg/runtime/serializer/json (a line each) and
 * pkg/util/framer's LengthDelimitedFramer (four bytes of length, big-endian). */
size_t event_stream_take(struct event_stream *s, const char *data, size_t len, json_t **ret);

/* Objects of the API in Protobuf, which is half as long as their JSON.
 *
 * Sources: Kubernetes' generated.proto of core/v1, discovery/v1, meta/v1 and runtime; the encoding
 * is protobuf.dev/programming-guides/encoding. */

/* The media types of an answer or a stream that may come so. */
#define KUBE_PROTOBUF_ACCEPT "application/vnd.kubernetes.protobuf, application/json"

/* An object as its JSON would be read, with what winjoin follows of a Service, an EndpointSlice and
 * a Node, and the words of a Status; of other kinds "kind" and "apiVersion" alone. What is empty is
 * left out, as JSON leaves it out. New reference. ERROR_MALFORMED. */
int kube_protobuf_read(const char *data, size_t len, json_t **ret, struct error *err);
/* The event of a watch: {"type", "object"}. */
int kube_protobuf_read_event(const char *data, size_t len, json_t **ret, struct error *err);
/* Does the object begin as Protobuf does? */
bool kube_protobuf_is(const char *data, size_t len);
