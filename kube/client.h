/* This client of the Kubernetes API has requests with JSON bodies, Status answers as errors, retry,
 * list and watch. */
#pragma once

#include "host/http.h"
#include "kube/kubeconfig.h"

/* A client for one API server, with its credentials. All texts are owned (kube_client_close()).
 * `http` and `host` are borrowed and must live longer; `host` provides clock, sleep and
 * interruption. */
struct kube_client {
    struct http *http;
    struct host *host;
    char *server; /* URL of the server without a slash at the end, e.g. "https://10.0.0.10:6443". */
    /* Trusted CA certificates, used instead of the system's; NULL means the system's. */
    char *ca_pem;
    char *tls_server_name;
    char *proxy_url;
    char *bearer_token;
    char *client_cert_pem;
    char *client_key_pem;
    bool insecure;
    unsigned timeout_ms; /* Time limit of one request; 0 means HTTP_TIMEOUT_MS. */
    /* How long get, create and patch retry, as kube_get_retry() does; 0 means one try. */
    unsigned patience_ms;
    /* host_monotonic_ms() + 1 of the last time when the server could not be reached; 0 when it
     * has accepted a request since. */
    uint64_t lost;
    /* The server's Date minus our clock in seconds, from the last answer. */
    int64_t clock_difference;
    size_t answer_len; /* Length of the last answer's body in bytes. */
    unsigned requests; /* Number of requests sent so far. */
};

/* Creates a client with copies of the kubeconfig's values. Credentials that need a program (exec,
 * auth-provider) or a password fail with ERROR_UNSUPPORTED. */
int kube_client_open(struct http *http, struct host *host, const struct kubeconfig *config,
                     struct kube_client *ret, struct error *err);
/* Creates a client from a kubeconfig file. Failure kinds are those of kubeconfig_read_file() and
 * kube_client_open(). */
int kube_client_open_file(struct http *http, struct host *host, const char *path,
                          struct kube_client *ret, struct error *err);
void kube_client_close(struct kube_client *client);

/* The functions below send one request. Paths begin with "/" and may have a query. *ret is a new
 * reference; `ret` may be NULL. Failure kinds are those of http_perform(), and by the answer: 404
 * and 410 ERROR_ABSENT; 409 ERROR_CONFLICT; 408, 429 and 5xx ERROR_NETWORK; all other 4xx
 * ERROR_DENIED; 1xx, 3xx and an answer that is not JSON ERROR_MALFORMED. The message has method,
 * path, status, reason and the server's message: `GET /api/v1/nodes/x: nodes "x" not found (404
 * NotFound)`. err->os is the HTTP status. */
int kube_get(struct kube_client *client, const char *path, json_t **ret, struct error *err);
int kube_create(struct kube_client *client, const char *path, const json_t *object, json_t **ret,
                struct error *err);
/* Patches an object. `type` is "merge" or "strategic-merge". */
int kube_patch(struct kube_client *client, const char *path, const char *type, const json_t *patch,
               struct error *err);
/* Is this error a 401 or 403, so that the client lacks the right, rather than a refusal because of
 * the request's content? */
bool kube_is_forbidden(const struct error *why);
/* Accepts errors for objects that may be absent or forbidden: returns 0 and sets *ret_denied to
 * true when forbidden. Returns -1 with the error for all others. */
int kube_forgive(const struct error *why, bool *ret_denied, struct error *err);
/* Deletes an object. Succeeds when it is absent. */
int kube_delete(struct kube_client *client, const char *path, struct error *err);
/* Gets an object as kube_get() does and retries temporary failures (network, timeout, 429, 5xx)
 * until timeout_ms has passed. Pauses grow from 0.5 s to 5 s, varied randomly by half; Retry-After
 * is respected. A retry after a timeout may take twice as long, at most 30 s. Returns the last
 * error. After such a failure, except 429, a restarting server may refuse valid credentials. So 401
 * and 403 are retried while its /readyz, asked without credentials, says that it is not ready (for
 * 5 s when anonymous requests are refused), and once after that. */
int kube_get_retry(struct kube_client *client, const char *path, unsigned timeout_ms, json_t **ret,
                   struct error *err);

/* Receives what a watch saw. `type` is "ADDED" (also for each object of a list), "MODIFIED",
 * "DELETED", or "LISTED" with the whole list after each list, so that the receiver can detect
 * removed objects. Returns 0 to continue, 1 to end with success, -1 to end with the error in err.
 */
typedef int kube_watch_event(void *context, const char *type, const json_t *object,
                             struct error *err);
/* Called about once a second during a watch. Its return values are those of kube_watch_event. */
typedef int kube_watch_tick(void *context, unsigned waited_ms, struct error *err);

struct kube_watch {
    const char *path; /* Path of the collection, e.g. "/api/v1/nodes". */
    const char *name; /* Name of the only object to watch; NULL for all objects. */
    /* Version from which the watch starts without a list. NULL or "" means that it lists first. */
    const char *version;
    unsigned timeout_ms; /* Time limit of the whole watch; required. */
    unsigned silent_ms;  /* Stop when the server has not answered for this long; 0 means never. */
    /* When not 0: failures that would end the watch are retried after this time. It is also the
     * time between two lists when the watch permission is missing. */
    unsigned poll_ms;
    /* Receive events as Protobuf, which halves the bytes but has only the fields of
     * kube/event_stream.h. */
    bool protobuf;
    /* Optional replacement for the list: lists the objects itself, so no "ADDED" and "LISTED"
     * events come from lists. *ret_version is the version from which the watch continues; the watch
     * frees it. It is "" when the last list's version was too old (kube_pages_each()). */
    int (*list)(void *context, struct kube_client *client, char **ret_version, struct error *err);
    /* Optional: receives at the end the version up to which the objects are known, and frees the
     * old value there. It is NULL when the next watch must list first. */
    char **ret_version;
    kube_watch_event *on_event;
    kube_watch_tick *on_tick; /* Called about once a second; may be NULL. */
    void *context;
    void *tick_context; /* Context for on_tick; NULL means `context`. */
};
/* Lists objects (unless a version is given), then watches from the list's resourceVersion with
 * bookmarks. A dropped or ended stream continues from the last version seen; a 410 (or an ERROR
 * event) starts with a new list. A server that grants list but not watch is polled. Failures that
 * may pass are retried with pauses until timeout_ms, or until the server has been silent for
 * silent_ms; then the last failure is the error. A connection on which nothing arrives for 75 s, or
 * for silent_ms, is dead. Returns the result of a callback that ends the wait, or ERROR_TIMED_OUT
 * ("waited 300 s", with the last failure). Denied, untrusted, malformed and interrupted end it at
 * once; but after an earlier success, a denial must last, because a starting server refuses
 * everybody at first.
 *
 * Several watches form one wait, with their streams at the same time; the timeout and the ticks of
 * the first one are used. Lists are requested one at a time; a watch that needs a list ends the
 * streams within a second. */
int kube_watch(struct kube_client *client, const struct kube_watch *watches, size_t count,
               struct error *err);

/* Percent-encodes a path segment or a query value; the unreserved characters of RFC 3986 stay. The
 * caller frees it. */
char *kube_escape(const char *s);

/* ---- many requests to an API server at the same time ---- */

/* One of many requests that run at the same time (http_perform_all()), without retries. */
struct kube_many {
    const char *method; /* HTTP method. `method`, `path` and `body` are borrowed. */
    const char *path;
    const char *body;     /* JSON body, or NULL. */
    unsigned timeout_ms;  /* Time limit; 0 means the client's. */
    size_t max_body;      /* Limit for the answer's body; 0 means HTTP_BODY_MAX. */
    long status;          /* HTTP status of the answer, of any kind; 0 when there was no answer. */
    enum error_kind kind; /* Kind of the failure when there was no answer; else ERROR_NONE. */
    /* Body of the answer, or the error message when there was none. Owned: kube_many_free(). */
    char *answer;
    size_t answer_len;
    unsigned wait_us; /* Time until the first byte of the answer, as in struct http_response. */
    /* Called when this request has ended; may be NULL. `item` is valid during the call only. */
    void (*ended)(void *context, const struct kube_many *item);
    void *context;
};
/* Performs all requests; `at_once` is that of http_perform_all(). */
void kube_perform_many(struct kube_client *client, struct kube_many *items, size_t count,
                       size_t at_once);
/* Converts a missing answer, or one other than 2xx, to the error that kube_get() would give.
 * Returns -1. */
int kube_many_error(const struct kube_many *item, struct error *err);
void kube_many_free(struct kube_many *items, size_t count); /* Frees the answers. */

/* Asks what the client itself may do: SelfSubjectAccessReview and SelfSubjectRulesReview
 * (authorization.k8s.io/v1). */

/* One right. The resource may have a subresource: "nodes/status". The core API group is "". */
struct kube_right {
    const char *verb, *group, *resource;
};
/* Asks the server which rights this identity has; ret[i] is the answer to rights[i]. This changes
 * nothing on the server. For several rights, one request gets all that rules grant, and each other
 * right is asked for by itself. Fails as kube_create(). */
int kube_may(struct kube_client *client, const struct kube_right *rights, size_t count, bool *ret,
             struct error *err);
