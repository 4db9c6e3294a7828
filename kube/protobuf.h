/* Objects of the API in Protobuf, which is half as long as their JSON.
 *
 * Sources: Kubernetes' generated.proto of core/v1, discovery/v1, meta/v1 and runtime; the encoding
 * is protobuf.dev/programming-guides/encoding. */
#pragma once

#include "base/json.h"

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
