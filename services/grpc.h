/* Makes gRPC calls over a named pipe by HTTP/2 (RFC 9113), with one connection per call. */
#pragma once

#include "host/host.h"

/* Makes one call. `method` is the path ("/runtime.v1.RuntimeService/Version"). `request` and *ret
 * are protobuf; an answer has at most 8 MiB. timeout_ms is for the whole call. Fails as
 * host_pipe_open() and host_pipe_turn(). A call that the server refuses, or that fails later, is
 * ERROR_HOST with the name of its grpc-status and its grpc-message (gRPC over HTTP2, "Responses").
 * An answer that is not HTTP/2 or not gRPC is ERROR_MALFORMED. containerd's own services use the
 * namespace of CRI, k8s.io. */
int grpc_call(struct host *host, const char *pipe, const char *method, const struct text *request,
              unsigned timeout_ms, struct text *ret, struct error *err);
/* A call that runs while the caller does something else. The server stops when the call is ended
 * early. The caller ends *ret with grpc_end(). */
struct grpc_call;
int grpc_begin(struct host *host, const char *pipe, const char *method, const struct text *request,
               unsigned timeout_ms, struct grpc_call **ret, struct error *err);
/* Continues a call, as host_pipe_turn(); *ret is set when it is done. */
int grpc_turn(struct host *host, struct grpc_call *call, unsigned wait_ms, bool *ret_done,
              struct text *ret, struct error *err);
void grpc_end(struct host *host, struct grpc_call *call);
