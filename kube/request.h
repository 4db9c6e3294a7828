/* One request to an API server, below the verbs of kube/client.h. Not for other folders. */
#pragma once

#include "host/http.h"
#include "kube/client.h"

/* Borrowed for the call. */
struct kube_call {
    const char *method;
    const char *path;
    const char *content_type;
    const char *accept; /* NULL: JSON */
    const char *body;
    unsigned timeout_ms; /* 0 = the client's */
    unsigned silent_ms;
    size_t max_body; /* 0 = HTTP_BODY_MAX */
    bool gzip;       /* as of http_request; with ret_text always */
    int (*on_data)(void *context, const char *data, size_t len);
    void *on_data_context;
    char **ret_text; /* of kube_call_retry(): gets the answer (client->answer_len bytes) as it came;
                        the caller frees. NULL: it is read as JSON */
};
/* Sends it with the client's trust and credentials; any status is success. http_response_free(). */
int kube_perform(struct kube_client *client, const struct kube_call *call,
                 struct http_response *ret, struct error *err);
/* kube_get_retry() of a call. */
int kube_call_retry(struct kube_client *client, const struct kube_call *call, unsigned timeout_ms,
                    json_t **ret, struct error *err);
/* What it is as a request to `url`, which is borrowed, too. */
void kube_request_fill(const struct kube_client *client, const struct kube_call *call,
                       const char *url, struct http_request *ret);
/* The error that an answer other than 2xx means; body may be NULL. Returns -1. */
int kube_status_error(const char *method, const char *path, long status, const char *body,
                      size_t len, struct error *err);
/* How long to wait after failure number `attempt` (from 0): 0.5 s doubling to 5 s, half less to
 * half more of it; or what Retry-After asks for (seconds, at most 60; -1 = nothing), never less,
 * and up to twice that time more. */
unsigned kube_pause_ms(struct host *host, unsigned attempt, long retry_after);
