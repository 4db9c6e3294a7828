/* One JSON object a line over a named pipe: the stand-ins' own protocol in place of CRI's gRPC. */
#pragma once

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"

#define CONTAINERD_PIPE "\\\\.\\pipe\\containerd-containerd"

/* Answers a request; a new reference. Called in a thread of the connection. */
typedef json_t *pipe_answer(const json_t *request);
/* Who speaks HTTP/2 instead (the preface says it): adds to `output` what is answered to all that
 * was said so far; false when nothing more is. */
typedef bool pipe_http2(struct text *input, struct text *output);
/* Takes connections until the program ends; -1 when the pipe cannot be made. */
int pipe_serve(const char *path, pipe_answer *answer, pipe_http2 *http2, struct error *err);
/* One request; *ret is a new reference. An answer {"ok":false,"error":..} is ERROR_HOST. */
int pipe_ask(const char *path, const json_t *request, json_t **ret, struct error *err);
