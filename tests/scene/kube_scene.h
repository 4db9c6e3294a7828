/* What the tests of list and watch share: a server in memory that answers row by row. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "kube/client.h"
#include "kube/csr.h"
#include "kube/node.h"
#include "tests/memory/host_memory.h"
#include "tests/memory/http_memory.h"

#define LIST(version, items)                                                                       \
    "{\"metadata\":{\"resourceVersion\":\"" version "\"},\"items\":[" items "]}"
#define EVENT(type, object) "{\"type\":\"" type "\",\"object\":" object "}\n"
#define NODE(version, more)                                                                        \
    "{\"metadata\":{\"name\":\"win-1\",\"resourceVersion\":\"" version "\"}" more "}"
#define READY(status)                                                                              \
    ",\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"" status                        \
    "\",\"reason\":\"KubeletNotReady\",\"message\":\"cni missing\"}]}"
#define CSR(status)                                                                                \
    "{\"metadata\":{\"name\":\"csr-1\",\"uid\":\"u1\",\"resourceVersion\":\"5\"},\"spec\":{"       \
    "}" status "}"

/* One answer after the other; the last one stays. `expect` must stand in its URL. */
struct row {
    const char *expect;
    long status;
    const char *body;
    enum error_kind broken; /* after the body */
    unsigned takes_ms;
};
struct scene {
    struct host *host;
    struct http *http;
    struct kube_client client;
    const struct row *rows;
    size_t count, asked;
    struct text seen;
    unsigned ticks, silent_ms; /* silent_ms, accept: of the last request */
    const char *accept;
    char *sent; /* the body of the last request, or NULL */
};

static inline int answer(void *context, const struct http_request *request,
                         struct http_response *ret, struct error *err) {
    struct scene *s = context;
    const struct row *row = &s->rows[s->asked < s->count ? s->asked : s->count - 1];

    s->asked++;
    assert_int_equal(request->gzip,
                     strstr(request->url, "limit=") ||
                         strstr(request->url, "resourceVersion=0")); /* of long lists */
    if (!strstr(request->url, row->expect))
        fail_msg("request %zu: '%s' lacks '%s'", s->asked, request->url, row->expect);
    s->silent_ms = request->silent_ms;
    s->accept = request->accept;
    text_set(&s->sent, request->body ? xstrndup(request->body, request->body_len) : NULL);
    for (unsigned ms = 0;
         ms < row->takes_ms && (!request->on_data || !ms || ms < request->timeout_ms); ms += 1000) {
        host_memory_advance(s->host, 1000);
        if (request->on_data && request->on_data(request->on_data_context, NULL, 0))
            break;
    }
    if (row->broken && request->on_data && row->body)
        (void)request->on_data(request->on_data_context, row->body, strlen(row->body));
    if (row->broken)
        return error_set(err, row->broken, "read: it broke");
    ret->status = row->status;
    ret->body = xstrdup(row->body);
    ret->body_len = strlen(row->body);
    return 0;
}

static inline int setup(void **state) {
    struct scene *s = xcalloc(1, sizeof *s);
    struct kubeconfig config = {
        .server = (char *)"https://k", .ca_pem = (char *)"CA", .token = (char *)"t"};

    s->host = host_memory_new();
    s->http = http_memory_new(answer, s);
    assert_int_equal(kube_client_open(s->http, s->host, &config, &s->client, NULL), 0);
    *state = s;
    return 0;
}

static inline int teardown(void **state) {
    struct scene *s = *state;

    kube_client_close(&s->client);
    http_free(s->http);
    host_free(s->host);
    text_free(&s->seen);
    free(s->sent);
    free(s);
    return 0;
}

#define PLAY(s, ...)                                                                               \
    do {                                                                                           \
        static const struct row rows_[] = {__VA_ARGS__};                                           \
        (s)->rows = rows_;                                                                         \
        (s)->count = ARRAY_SIZE(rows_);                                                            \
        (s)->asked = 0;                                                                            \
    } while (0)
