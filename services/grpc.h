/* One gRPC call over a named pipe, by HTTP/2 (RFC 9113): a connection a call. */
#pragma once

#include "host/host.h"

/* `method` is the path ("/runtime.v1.RuntimeService/Version"), shorter than 127 bytes; `request`
 * (some kilobytes at most) and *ret are protobuf; an answer has at most 8 MiB. Kinds: those of
 * host_pipe_open() and host_pipe_turn() (timeout_ms is for all of it); a call that the server
 * refuses, or fails after it has begun to answer, is ERROR_HOST with the name of its grpc-status
 * and its grpc-message (gRPC over HTTP2, "Responses"); what is not HTTP/2 or not gRPC is
 * ERROR_MALFORMED. containerd's own services answer for the namespace of CRI, k8s.io. */
int grpc_call(struct host *host, const char *pipe, const char *method, const struct text *request,
              unsigned timeout_ms, struct text *ret, struct error *err);
/* The same while something else is done: the server works on it meanwhile, and stops where the call
 * is ended before it is done. The caller ends *ret. */
struct grpc_call;
int grpc_begin(struct host *host, const char *pipe, const char *method, const struct text *request,
               unsigned timeout_ms, struct grpc_call **ret, struct error *err);
/* As host_pipe_turn(); *ret is filled once it is done. */
int grpc_turn(struct host *host, struct grpc_call *call, unsigned wait_ms, bool *ret_done,
              struct text *ret, struct error *err);
void grpc_end(struct host *host, struct grpc_call *call);
