/* Many requests to an API server at the same time. */
#pragma once

#include "kube/client.h"

/* One of many requests at the same time (http_perform_all): no retry. */
struct kube_many {
    const char *method; /* and path, body: borrowed */
    const char *path;
    const char *body;     /* JSON, or NULL */
    unsigned timeout_ms;  /* 0 = the client's */
    size_t max_body;      /* of the answer; 0 = HTTP_BODY_MAX */
    long status;          /* of the answer, any; 0 = there was no answer */
    enum error_kind kind; /* of what went wrong without an answer; ERROR_NONE = nothing */
    char *answer;         /* its body, or what went wrong; owned: kube_many_free() */
    size_t answer_len;
    unsigned wait_us; /* as of http_response */
    /* Or NULL: called when this one has ended; what it is given lives for the call. */
    void (*ended)(void *context, const struct kube_many *item);
    void *context;
};
void kube_perform_many(struct kube_client *client, struct kube_many *items, size_t count);
/* The same, so many at the same time (http_perform_some). */
void kube_perform_some(struct kube_client *client, struct kube_many *items, size_t count,
                       size_t at_once);
/* The error that an answer other than 2xx, or none, means, as of kube_get(); returns -1. */
int kube_many_error(const struct kube_many *item, struct error *err);
void kube_many_free(struct kube_many *items, size_t count); /* the answers */
