/* The Kubernetes API: requests with JSON bodies, Status as errors, retry, list and watch. */
#pragma once

#include "host/http.h"
#include "kube/kubeconfig.h"

/* One API server and who we are to it. Text is owned (kube_client_close); http and host are
 * borrowed and must live longer. host gives the clock, sleep and interruption. */
struct kube_client {
    struct http *http;
    struct host *host;
    char *server; /* "https://10.0.0.10:6443", no slash at the end */
    char *ca_pem; /* the only trust; NULL = the system's */
    char *tls_server_name;
    char *proxy_url;
    char *bearer_token;
    char *client_cert_pem;
    char *client_key_pem;
    bool insecure;
    unsigned timeout_ms; /* one request; 0 = 10 s */
    unsigned
        patience_ms; /* for get, create, replace, patch: retries as kube_get_retry's; 0 = 1 try */
    uint64_t lost;   /* host_monotonic_ms() + 1 when the server was away; 0: it let us in since */
    int64_t clock_difference; /* server's Date minus our clock, seconds, of the last answer */
    size_t answer_len;        /* bytes of the last answer's body */
    unsigned requests;        /* sent so far */
};

/* Takes copies. Credentials that need a program (exec, auth-provider) or basic auth:
 * ERROR_UNSUPPORTED. */
int kube_client_open(struct http *http, struct host *host, const struct kubeconfig *config,
                     struct kube_client *ret, struct error *err);
/* The same with the kubeconfig at that path. Kinds: also those of kubeconfig_read_file(). */
int kube_client_open_file(struct http *http, struct host *host, const char *path,
                          struct kube_client *ret, struct error *err);
void kube_client_close(struct kube_client *client);

/* Paths begin with "/" and may hold a query. *ret is a new reference (may be NULL as an argument).
 * Kinds: those of http_perform; of the answer: 404 and 410 ERROR_ABSENT, 409
 * ERROR_CONFLICT, 408, 429 and 5xx ERROR_NETWORK, all other 4xx ERROR_DENIED; 1xx, 3xx and no JSON:
 * ERROR_MALFORMED. The message has method, path, status, reason and the server's own words:
 * `GET /api/v1/nodes/x: nodes "x" not found (404 NotFound)`; err->os is the HTTP status. */
int kube_get(struct kube_client *client, const char *path, json_t **ret, struct error *err);
int kube_create(struct kube_client *client, const char *path, const json_t *object, json_t **ret,
                struct error *err);
/* type: "merge" or "strategic-merge". */
int kube_patch(struct kube_client *client, const char *path, const char *type, const json_t *patch,
               struct error *err);
/* 401 or 403: who asks may not, which is not a request that the server refuses for what it is. */
bool kube_is_forbidden(const struct error *why);
/* 0 for what may be absent, or forbidden (*ret_denied becomes true), else -1 with that error. */
int kube_forgive(const struct error *why, bool *ret_denied, struct error *err);
/* Absent is success. */
int kube_delete(struct kube_client *client, const char *path, struct error *err);
/* kube_get that tries retryable failures (network, timeout, 429, 5xx) again with growing, jittered
 * pauses (0.5 s to 5 s and half of that; Retry-After is honoured) until timeout_ms is over; the
 * last error stays. After one of these, but for 429, a server that starts again may refuse good
 * credentials: 401 and 403 are tried again as long as its /readyz, asked without credentials, says
 * that it is not ready (where it says nothing to strangers: for 5 s), and once after that. */
int kube_get_retry(struct kube_client *client, const char *path, unsigned timeout_ms, json_t **ret,
                   struct error *err);

/* What a watch saw. type: "ADDED" (also for each object of a list), "MODIFIED", "DELETED", or
 * "LISTED" with the whole list after each (re-)list, so that what is gone can be seen. Return 0 to
 * go on, 1 to end with success, -1 to end with the error that was set. */
typedef int kube_watch_event(void *context, const char *type, const json_t *object,
                             struct error *err);
/* Called about once a second while waiting; same return values. */
typedef int kube_watch_tick(void *context, unsigned waited_ms, struct error *err);

struct kube_watch {
    const char *path;    /* the collection: "/api/v1/nodes" */
    const char *name;    /* of the one object that events are wanted of, NULL = all */
    const char *version; /* it is known up to here: no list comes first; NULL or "": one does */
    unsigned timeout_ms; /* the whole wait; required */
    unsigned silent_ms;  /* a server that has not answered for so long is given up; 0 = never */
    unsigned poll_ms;    /* not 0: what would end the wait is tried again after so long, and so long
                            is between two lists where watch is not granted */
    bool protobuf; /* events come in Protobuf: half the bytes, the fields of kube/event_stream.h */
    /* Or NULL: lists them itself, instead of the events "ADDED" and "LISTED". *ret_version: where
     * the watch goes on from; the watch frees it. It is "" where the last one was too old
     * (kube_pages_each()). */
    int (*list)(void *context, struct kube_client *client, char **ret_version, struct error *err);
    char **ret_version; /* or NULL: at the end up to where it is known, in the place of what was
                           there; NULL: a list has to come first */
    kube_watch_event *on_event;
    kube_watch_tick *on_tick; /* or NULL */
    void *context;
    void *tick_context; /* on_tick's; NULL: context */
};
/* Lists, unless a version is given, then watches from the list's resourceVersion with bookmarks; a
 * dropped or ended stream is taken up again from the last version seen, a 410 (or ERROR event)
 * lists again; retryable failures are tried again with pauses until timeout_ms, or the server is
 * silent_ms silent: its last failure is the error then (a connection over which nothing comes for
 * 75 s, or silent_ms, is dead). A server that grants list but not watch is polled. Ends with what a
 * callback said, with ERROR_TIMED_OUT ("waited 300 s", last failure in the text), or at once with
 * denied, untrusted, malformed and interrupted; who was let in before is denied only when it lasts,
 * for a server that starts refuses everybody at first.
 *
 * Several watches are one wait, with their streams at the same time: the first one's timeout and
 * ticks are those of all. One list at a time; what wants a list ends the streams within a second.
 */
int kube_watch(struct kube_client *client, const struct kube_watch *watches, size_t count,
               struct error *err);

/* Percent-encodes one path segment or query value (RFC 3986 unreserved stay); the caller frees. */
char *kube_escape(const char *s);

/* ---- many requests to an API server at the same time ---- */

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
/* `at_once`: as of http_perform_all(). */
void kube_perform_many(struct kube_client *client, struct kube_many *items, size_t count,
                       size_t at_once);
/* The error that an answer other than 2xx, or none, means, as of kube_get(); returns -1. */
int kube_many_error(const struct kube_many *item, struct error *err);
void kube_many_free(struct kube_many *items, size_t count); /* the answers */

/* What the client's own identity may do: SelfSubjectAccessReview and SelfSubjectRulesReview
 * (authorization.k8s.io/v1). */

/* One right: "nodes/status" is a resource with its subresource; the core group is "". */
struct kube_right {
    const char *verb, *group, *resource;
};
/* Asks the server, which changes nothing there; ret[i] is of rights[i]. Of several one request
 * tells all that rules grant; what it does not show is asked for one by one. Kinds: those of
 * kube_create. */
int kube_may(struct kube_client *client, const struct kube_right *rights, size_t count, bool *ret,
             struct error *err);
