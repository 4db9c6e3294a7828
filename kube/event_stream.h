/* Splits the stream of a watch into events: JSON lines or Protobuf frames. For kube/ only. */
#pragma once

#include "base/json.h"
#include "base/text.h"
#include "host/http.h"

/* The most bytes of an event. A line of JSON may be as long as an answer; a frame may be longer
 * than the 1.5 MiB that etcd stores. */
enum { EVENT_LINE_MAX = HTTP_BODY_MAX, EVENT_FRAME_MAX = 2 * 1024 * 1024 };

/* Initialize with zeros; call event_stream_begin() before each stream; free `piece` with
 * text_free(). */
struct event_stream {
    /* The received part of the current event; everything received when it is not an event. */
    struct text piece;
    bool words;       /* The data is not a stream of events. */
    struct error why; /* Why the data is not a stream of events. */
    enum { STREAM_NEW, STREAM_LINES, STREAM_FRAMES, STREAM_OBJECT } form;
};
void event_stream_begin(struct event_stream *s);
/* Takes bytes up to the end of one event at most and returns how many. *ret is the event, an object
 * with "type" (new reference), or NULL while it is incomplete. An event that is too long sets
 * piece.overflow. The formats are from apimachinery: pkg/runtime/serializer/json (one line each),
 * and LengthDelimitedFramer of pkg/util/framer (four bytes of length, big-endian). */
size_t event_stream_take(struct event_stream *s, const char *data, size_t len, json_t **ret);

/* API objects in Protobuf, which has half the length of JSON.
 *
 * Sources: generated.proto of Kubernetes' core/v1, discovery/v1, meta/v1 and runtime; the encoding
 * is described in protobuf.dev/programming-guides/encoding. */

/* The Accept header of requests whose answer may be Protobuf. */
#define KUBE_PROTOBUF_ACCEPT "application/vnd.kubernetes.protobuf, application/json"

/* Reads a Protobuf object into the same form as its JSON, with the fields of Services,
 * EndpointSlices and Nodes that winjoin uses, and the fields of a Status. Of other kinds it reads
 * only "kind" and "apiVersion". Empty fields are omitted as in JSON. New reference. Fails with
 * ERROR_MALFORMED. */
int kube_protobuf_read(const char *data, size_t len, json_t **ret, struct error *err);
/* Reads a watch event: {"type", "object"}. New reference. Fails with ERROR_MALFORMED. */
int kube_protobuf_read_event(const char *data, size_t len, json_t **ret, struct error *err);
/* Does the data begin with the prefix of Kubernetes' Protobuf encoding? */
bool kube_protobuf_is(const char *data, size_t len);
