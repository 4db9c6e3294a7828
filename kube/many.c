/* Many requests to an API server at the same time. */
#include "kube/client.h"

#include "kube/request.h"

static void on_ended(void *context, const struct http_exchange *exchange) {
    const struct kube_many *item = context;
    struct kube_many now = *item;
    bool failed = exchange->err->kind != ERROR_NONE;

    now.kind = exchange->err->kind;
    now.status = failed ? 0 : exchange->response.status;
    now.answer = failed ? exchange->err->message : exchange->response.body;
    now.answer_len = exchange->response.body_len;
    now.wait_us = exchange->response.wait_us;
    item->ended(item->context, &now);
}

void kube_perform_many(struct kube_client *client, struct kube_many *items, size_t count) {
    kube_perform_some(client, items, count, 0);
}

void kube_perform_some(struct kube_client *client, struct kube_many *items, size_t count,
                       size_t at_once) {
    struct http_exchange *exchanges = xcalloc(count ? count : 1, sizeof *exchanges);
    struct error *errors = xcalloc(count ? count : 1, sizeof *errors); /* few are ever filled */
    char **urls = xcalloc(count ? count : 1, sizeof *urls);

    for (size_t i = 0; i < count; i++) {
        struct kube_call call = {.method = items[i].method,
                                 .path = items[i].path,
                                 .body = items[i].body,
                                 .timeout_ms = items[i].timeout_ms,
                                 .max_body = items[i].max_body};

        urls[i] = xasprintf("%s%s", client->server, call.path);
        kube_request_fill(client, &call, urls[i], &exchanges[i].request);
        exchanges[i].err = &errors[i];
        if (items[i].ended) {
            exchanges[i].ended = on_ended;
            exchanges[i].request.on_data_context = &items[i];
        }
    }
    client->requests += (unsigned)count;
    http_perform_some(client->http, exchanges, count, at_once);
    for (size_t i = 0; i < count; i++) {
        struct http_exchange *x = &exchanges[i];

        items[i].kind = x->err->kind;
        items[i].status = x->err->kind == ERROR_NONE ? x->response.status : 0;
        items[i].answer_len = x->response.body_len;
        items[i].wait_us = x->response.wait_us;
        items[i].answer =
            x->err->kind == ERROR_NONE ? take_ptr(x->response.body) : xstrdup(x->err->message);
        http_response_free(&x->response);
        free(urls[i]);
    }
    free_all(urls, exchanges, errors);
}

int kube_many_error(const struct kube_many *item, struct error *err) {
    if (!item->status)
        return error_set(err, item->kind, "%s", item->answer);
    return kube_status_error(item->method, item->path, item->status, item->answer, item->answer_len,
                             err);
}

void kube_many_free(struct kube_many *items, size_t count) {
    for (size_t i = 0; i < count; i++)
        free(take_ptr(items[i].answer));
}
