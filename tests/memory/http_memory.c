/* HTTP in memory for tests: a function answers; streaming, size limits and counters as over the
 * wire. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "host/host_ops.h"
#include "tests/memory/http_memory.h"

struct memory_http {
    struct http http;
    size_t requests, fail_at; /* fail_at: number of the request that fails, 0 = none */
    unsigned fail_status;
    http_answer *answer;
    void *context;
    http_memory_say *say;
    void *say_context;
};

static int answer_one(struct http *http, const struct http_request *request,
                      struct http_response *ret, struct error *err) {
    struct memory_http *memory = (struct memory_http *)http;
    size_t max = request->max_body ? request->max_body : HTTP_BODY_MAX;

    if (++memory->requests == memory->fail_at) {
        if (!memory->fail_status)
            return error_set(err, ERROR_NETWORK, "%s: told to fail", request->url);
        ret->status = memory->fail_status;
        ret->body = xstrdup("told to fail");
        ret->body_len = strlen(ret->body);
    } else if (memory->answer(memory->context, request, ret, err) < 0)
        return -1;
    if (request->on_data) {
        if (ret->body && *ret->body && request->on_head &&
            request->on_head(request->on_data_context, ret) != 0)
            freep(&ret->body);
        if (ret->body && request->on_data(request->on_data_context, ret->body, ret->body_len) == 0)
            (void)request->on_data(request->on_data_context, NULL, 0); /* the end of the answer */
        free(take_ptr(ret->body));
        ret->body_len = 0;
        return 0;
    }
    if (ret->body_len > max)
        return error_set(err, ERROR_MALFORMED, "get '%s': the answer is longer than %zu bytes",
                         request->url, max);
    if (!ret->body)
        ret->body = xstrdup("");
    return 0;
}

/* One after the other, in their order. */
static void perform(struct http *http, struct http_exchange *exchanges, size_t count,
                    size_t at_once) {
    (void)at_once;
    for (size_t i = 0; i < count; i++) {
        struct http_exchange *x = &exchanges[i];

        if (x->err->kind != ERROR_NONE)
            continue;
        (void)answer_one(http, &x->request, &x->response, x->err); /* x->err says it */
        http_exchange_end(x);
    }
}

void http_memory_fail(struct http *http, size_t n, unsigned status) {
    struct memory_http *memory = (struct memory_http *)http;

    memory->fail_at = n ? memory->requests + n : 0;
    memory->fail_status = status;
}

size_t http_memory_requests(const struct http *http) {
    return ((const struct memory_http *)http)->requests;
}

void http_memory_on_talk(struct http *http, http_memory_say *say, void *context) {
    struct memory_http *memory = (struct memory_http *)http;

    memory->say = say;
    memory->say_context = context;
}

static void talk_once(struct memory_http *memory, const struct http_talk *talk) {
    struct text said = {0};
    bool done = false;
    int result = 0;

    memory->requests++;
    text_add_bytes(&said, talk->first, talk->first_len);
    while (!done && result == 0) {
        size_t len = 0;
        const char *piece = memory->say ? memory->say(memory->say_context, &said, &len) : NULL;

        if (!piece && (len || !memory->say))
            result = error_set(talk->err, ERROR_NETWORK, "the server hung up");
        else
            result = talk->heard(talk->context, piece, len, &said, &done, talk->err);
    }
    text_free(&said);
}

static void talk(struct http *http, struct http_talk *talks, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (talks[i].err->kind == ERROR_NONE)
            talk_once((struct memory_http *)http, &talks[i]);
}

static void memory_free(struct http *http) {
    free(http);
}

static const struct http_ops memory_ops = {perform, talk, memory_free};

struct http *http_memory_new(http_answer *answer, void *context) {
    struct memory_http *memory = xcalloc(1, sizeof *memory);

    memory->http.ops = &memory_ops;
    memory->answer = answer;
    memory->context = context;
    return &memory->http;
}
