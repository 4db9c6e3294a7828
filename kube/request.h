/* Sends single requests to an API server. The functions in kube/client.h are based on these; only
 * kube/ uses this file. */
#pragma once

#include "host/http.h"
#include "kube/client.h"

/* A request. All members are borrowed for the call. */
struct kube_call {
    const char *method;
    const char *path;
    const char *content_type;
    const char *accept; /* Accepted media types; NULL means JSON. */
    const char *body;
    unsigned timeout_ms; /* Time limit; 0 means the client's. */
    unsigned silent_ms;
    size_t max_body; /* Limit for the answer's body; 0 means HTTP_BODY_MAX. */
    bool gzip;       /* Accept compression, as in struct http_request. Always on with ret_text. */
    int (*on_data)(void *context, const char *data, size_t len);
    void *on_data_context;
    /* For kube_call_retry(): receives the unparsed answer (client->answer_len bytes), which the
     * caller frees. NULL means that the answer is parsed as JSON. */
    char **ret_text;
};
/* Sends the request once with the client's CA and credentials. Any HTTP status is a success. Free
 * the answer with http_response_free(). */
int kube_perform(struct kube_client *client, const struct kube_call *call,
                 struct http_response *ret, struct error *err);
/* Sends any request with the retries of kube_get_retry(). */
int kube_call_retry(struct kube_client *client, const struct kube_call *call, unsigned timeout_ms,
                    json_t **ret, struct error *err);
/* Converts the call to an HTTP request to `url`, which is borrowed too. */
void kube_request_fill(const struct kube_client *client, const struct kube_call *call,
                       const char *url, struct http_request *ret);
/* Sets the error for an answer other than 2xx. `body` may be NULL. Returns -1. */
int kube_status_error(const char *method, const char *path, long status, const char *body,
                      size_t len, struct error *err);
/* Returns the pause after failure number `attempt` (from 0): 0.5 s, doubled each time up to 5 s,
 * varied randomly by half. When the server sent Retry-After (`retry_after` in seconds, -1 for none;
 * at most 60 count), the pause is that time plus a random time of up to twice the normal pause. */
unsigned kube_pause_ms(struct host *host, unsigned attempt, long retry_after);
