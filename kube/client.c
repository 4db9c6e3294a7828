/* Sends requests to the Kubernetes API with JSON bodies, retries them, and converts Status answers
 * to errors. */
#include "kube/client.h"

#include "base/log.h"
#include "kube/event_stream.h"
#include "kube/kubeconfig.h"
#include "kube/request.h"

/* SLOW_CALL_MS is the longest time limit of a retry after timeouts. */
enum { OWN_WORDS_MAX = 300, COME_BACK_MS = 5000, READY_TIMEOUT_MS = 3000, SLOW_CALL_MS = 30000 };
enum { TOO_MANY_REQUESTS = 429 };

int kube_client_open(struct http *http, struct host *host, const struct kubeconfig *config,
                     struct kube_client *ret, struct error *err) {
    size_t len = config->server ? strlen(config->server) : 0;
    bool plain = config->token || config->client_cert_pem;

    if (!plain && text_equal(config->program, "auth-provider")) {
        (void)error_set(err, ERROR_UNSUPPORTED,
                        "kubeconfig: its user has an auth-provider, which Kubernetes 1.26 removed");
        return error_hint(err, "write the file again by your provider's tool, with an exec plugin "
                               "(gke-gcloud-auth-plugin, kubelogin), a token or a certificate");
    }
    if (!plain && config->program)
        return error_set(err, ERROR_UNSUPPORTED,
                         "kubeconfig: credentials from an exec plugin (%s) are not supported",
                         config->program);
    if (!plain && config->username) {
        (void)error_set(err, ERROR_UNSUPPORTED,
                        "kubeconfig: user name and password are not supported");
        return error_hint(err, "API servers take none since Kubernetes 1.19: use a client "
                               "certificate, a token or an exec plugin");
    }
    if (!len)
        return error_set(err, ERROR_USAGE, "kubeconfig: it names no server");
    while (len && config->server[len - 1] == '/')
        len--;
    *ret = (struct kube_client){
        .http = http,
        .host = host,
        .server = xstrndup(config->server, len),
        .ca_pem = xstrdup_null(config->ca_pem),
        .tls_server_name = xstrdup_null(config->tls_server_name),
        .proxy_url = xstrdup_null(config->proxy_url),
        .bearer_token =
            config->token ? xstrndup(config->token, strcspn(config->token, "\r\n")) : NULL,
        .client_cert_pem = xstrdup_null(config->client_cert_pem),
        .client_key_pem = xstrdup_null(config->client_key_pem),
        .insecure = config->insecure_skip_tls_verify,
    };
    return 0;
}

int kube_client_open_file(struct http *http, struct host *host, const char *path,
                          struct kube_client *ret, struct error *err) {
    _cleanup_(kubeconfig_free) struct kubeconfig config = {0};

    return kubeconfig_read_file(host, path, NULL, &config, err) < 0
               ? -1
               : kube_client_open(http, host, &config, ret, err);
}

void kube_client_close(struct kube_client *client) {
    secret_free_text(client->bearer_token);
    secret_free_text(client->client_key_pem);
    free_all(client->server, client->ca_pem, client->tls_server_name, client->proxy_url,
             client->client_cert_pem);
    *client = (struct kube_client){0};
}

char *kube_escape(const char *s) {
    struct text out = {0};

    text_add_url(&out, s, "");
    return text_take(&out);
}

/* ---- the meaning of answers ---- */

int kube_status_error(const char *method, const char *path, long status, const char *body,
                      size_t len, struct error *err) {
    static const struct {
        long status;
        enum error_kind kind;
    } kinds[] = {
        {404, ERROR_ABSENT}, {408, ERROR_NETWORK}, {409, ERROR_CONFLICT},
        {410, ERROR_ABSENT}, {429, ERROR_NETWORK},
    };
    enum error_kind kind = status >= 500   ? ERROR_NETWORK
                           : status >= 400 ? ERROR_DENIED
                                           : ERROR_MALFORMED;
    _cleanup_json_ json_t *object = NULL;
    const char *reason, *message;

    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
        if (kinds[i].status == status)
            kind = kinds[i].kind;
    if (body && kube_protobuf_is(body, len))
        (void)kube_protobuf_read(body, len, &object, ERROR_IGNORED);
    else if (body) /* A body that is not JSON is shown as it is. */
        (void)json_read(body, len, "Status", &object, ERROR_IGNORED);
    reason = json_text_at(object, "reason");
    message = json_text_at(object, "message");
    if (message)
        (void)error_set(err, kind, "%s %s: %.*s (%ld%s%s)", method, path, OWN_WORDS_MAX, message,
                        status, reason ? " " : "", reason ? reason : "");
    else
        (void)error_set(err, kind, "%s %s: the server answered %ld%s%.*s", method, path, status,
                        len ? ": " : "", len < 120 ? (int)len : 120, body ? body : "");
    if (err)
        err->os = (unsigned long)status;
    return -1;
}

void kube_request_fill(const struct kube_client *client, const struct kube_call *call,
                       const char *url, struct http_request *ret) {
    *ret = (struct http_request){
        .method = call->method,
        .url = url,
        .verify = client->insecure ? HTTP_VERIFY_NONE : HTTP_VERIFY_FULL,
        .ca_pem = client->ca_pem,
        .server_name = client->tls_server_name,
        .client_cert_pem = client->client_cert_pem,
        .client_key_pem = client->client_key_pem,
        .bearer_token = client->bearer_token,
        .content_type = call->content_type,
        .accept = call->accept,
        .body = call->body,
        .body_len = call->body ? strlen(call->body) : 0,
        .timeout_ms = call->timeout_ms ? call->timeout_ms : client->timeout_ms,
        .silent_ms = call->silent_ms,
        .max_body = call->max_body,
        /* Compression is used only for large answers, and never for an untrusted server. */
        .gzip = call->gzip || call->ret_text,
        .on_data = call->on_data,
        .on_data_context = call->on_data_context,
        .proxy = client->proxy_url,
    };
}

int kube_perform(struct kube_client *client, const struct kube_call *call,
                 struct http_response *ret, struct error *err) {
    _cleanup_(freep) char *url = xasprintf("%s%s", client->server, call->path);
    struct http_request request;

    kube_request_fill(client, call, url, &request);
    client->requests++;
    if (http_perform(client->http, &request, ret, err) < 0) {
        /* Tell the user through which proxy the request went. */
        (void)http_hint_proxy(err, ret->proxy, client->proxy_url);
        if (err && err->kind == ERROR_NETWORK && !ret->proxy && server_url_is_here(client->server))
            (void)error_hint(err,
                             "%s is this machine itself: unless a tunnel should be there, put the "
                             "API server's own address into the kubeconfig (server:)",
                             client->server);
        http_response_free(ret);
        return error_prefix(err, "%s %s", call->method, url);
    }
    client->answer_len = ret->body_len;
    if (ret->date)
        client->clock_difference = ret->date - host_now(client->host);
    return 0;
}

/* Performs a call once and requires a 2xx answer. *retry_after is set for other answers too. */
static int perform(struct kube_client *client, const struct kube_call *call, json_t **ret,
                   long *retry_after, struct error *err) {
    _cleanup_(http_response_free) struct http_response response = {0};
    _cleanup_json_ json_t *object = NULL;

    *retry_after = -1;
    if (kube_perform(client, call, &response, err) < 0)
        return -1;
    *retry_after = response.retry_after;
    if (response.status < 200 || response.status > 299)
        return kube_status_error(call->method, call->path, response.status, response.body,
                                 response.body_len, err);
    if (!response.body)
        response.body = xstrdup("");
    if (call->ret_text) {
        *call->ret_text = take_ptr(response.body);
        return 0;
    }
    if (json_read(response.body, response.body_len, "the answer", &object, err) < 0)
        return error_prefix(err, "%s %s", call->method, call->path);
    if (!json_is_object(object))
        return error_set(err, ERROR_MALFORMED, "%s %s: the answer is not an object", call->method,
                         call->path);
    if (ret)
        *ret = take_ptr(object);
    return 0;
}

/* Decides after a failure whether another try may succeed. A server that restarts refuses valid
 * credentials until it has loaded tokens and roles; once it is ready, one more try decides. An
 * overloaded server (429) did not restart. */
static bool may_pass(struct kube_client *client, const struct error *why) {
    struct kube_client nobody = {.http = client->http,
                                 .host = client->host,
                                 .server = client->server,
                                 .ca_pem = client->ca_pem,
                                 .tls_server_name = client->tls_server_name,
                                 .proxy_url = client->proxy_url,
                                 .insecure = client->insecure};
    struct kube_call call = {.method = "GET", .path = "/readyz", .timeout_ms = READY_TIMEOUT_MS};
    _cleanup_(http_response_free) struct http_response response = {0};
    /* Add 1, because `lost` is 0 when the server was not lost. */
    uint64_t now = host_monotonic_ms(client->host) + 1;
    long status = 0;

    if ((why->kind == ERROR_NETWORK && (client->lost || why->os != TOO_MANY_REQUESTS)) ||
        why->kind == ERROR_TIMED_OUT)
        client->lost = now;
    if (why->kind != ERROR_DENIED)
        return error_is_retryable(why) && why->kind != ERROR_CONFLICT;
    if (!client->lost)
        return false;

    /* The server is ready when /readyz, asked without credentials, returns 200. When the server
     * refuses anonymous requests, wait a few seconds after the loss instead. */
    if (kube_perform(&nobody, &call, &response, ERROR_IGNORED) == 0)
        status = response.status;
    if (status == 200 || (status && status < 500 && now - client->lost >= COME_BACK_MS))
        client->lost = 0;
    return true;
}

/* Performs a call and retries failures that may be temporary until timeout_ms has passed. Returns
 * the last error. */
int kube_call_retry(struct kube_client *client, const struct kube_call *call, unsigned timeout_ms,
                    json_t **ret, struct error *err) {
    uint64_t end = host_monotonic_ms(client->host) + timeout_ms;
    struct kube_call one = *call;
    struct error why = {0};

    for (unsigned attempt = 0;; attempt++) {
        unsigned limit = one.timeout_ms       ? one.timeout_ms
                         : client->timeout_ms ? client->timeout_ms
                                              : HTTP_TIMEOUT_MS;
        long retry_after;
        unsigned pause;

        if (perform(client, &one, ret, &retry_after, &why) == 0) {
            client->lost = 0; /* The server accepted the credentials, so it has loaded its roles. */
            return 0;
        }
        pause = kube_pause_ms(client->host, attempt, retry_after);
        if (!may_pass(client, &why) || host_monotonic_ms(client->host) + pause >= end)
            break;
        /* The server may only be slow, because many ask at the same time. A retry after the same
         * short time would fail again and put the request at the end of the server's queue. */
        if (why.kind == ERROR_TIMED_OUT && limit < SLOW_CALL_MS)
            one.timeout_ms = 2 * limit < SLOW_CALL_MS ? 2 * limit : SLOW_CALL_MS;
        log_message(LOG_RETRY, "%s; trying again in %u ms", why.message, pause);
        if (host_sleep(client->host, pause, err) < 0)
            return -1;
    }
    return error_pass(err, &why);
}

bool kube_is_forbidden(const struct error *why) {
    return why->kind == ERROR_DENIED && (why->os == 401 || why->os == 403);
}

int kube_forgive(const struct error *why, bool *ret_denied, struct error *err) {
    if (!kube_is_forbidden(why) && why->kind != ERROR_ABSENT)
        return error_pass(err, why);
    *ret_denied |= why->kind == ERROR_DENIED;
    return 0;
}

/* ---- requests by verb ---- */

int kube_get(struct kube_client *client, const char *path, json_t **ret, struct error *err) {
    struct kube_call call = {.method = "GET", .path = path};

    return kube_call_retry(client, &call, client->patience_ms, ret, err);
}

int kube_get_retry(struct kube_client *client, const char *path, unsigned timeout_ms, json_t **ret,
                   struct error *err) {
    struct kube_call call = {.method = "GET", .path = path};

    return kube_call_retry(client, &call, timeout_ms, ret, err);
}

int kube_create(struct kube_client *client, const char *path, const json_t *object, json_t **ret,
                struct error *err) {
    _cleanup_(freep) char *body = json_write(object);
    struct kube_call call = {
        .method = "POST", .path = path, .content_type = "application/json", .body = body};

    return kube_call_retry(client, &call, client->patience_ms, ret, err);
}

int kube_patch(struct kube_client *client, const char *path, const char *type, const json_t *patch,
               struct error *err) {
    _cleanup_(freep) char *media = xasprintf("application/%s-patch+json", type);
    _cleanup_(freep) char *body = json_write(patch);
    struct kube_call call = {.method = "PATCH", .path = path, .content_type = media, .body = body};

    return kube_call_retry(client, &call, client->patience_ms, NULL, err);
}

int kube_delete(struct kube_client *client, const char *path, struct error *err) {
    struct kube_call call = {.method = "DELETE", .path = path};
    _cleanup_(http_response_free) struct http_response response = {0};
    struct error why = {0};

    if (kube_perform(client, &call, &response, &why) == 0) {
        if (response.status >= 200 && response.status <= 299)
            return 0;
        (void)kube_status_error(call.method, path, response.status, response.body,
                                response.body_len, &why);
    }
    return why.kind == ERROR_ABSENT ? 0 : error_pass(err, &why);
}

unsigned kube_pause_ms(struct host *host, unsigned attempt, long retry_after) {
    unsigned base = attempt < 4 ? 500u << attempt : 5000u;
    unsigned after = retry_after < 60 ? (unsigned)retry_after * 1000u : 60000u;

    if (retry_after > 0)
        return host_spread_ms(host, after, after + 2 * base);
    return host_spread_ms(host, base / 2, base + base / 2);
}

/* SelfSubjectAccessReview and SelfSubjectRulesReview: every authenticated user may create them
 * (system:basic-user). */

#define REVIEWS "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
#define RULES_REVIEWS "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"

/* A namespace without objects. Rights bound in one namespace do not apply to all, so a rules review
 * for this name shows only cluster-wide rights. */
#define NO_NAMESPACE "winjoin-cluster-wide"

static bool lists(const json_t *rule, const char *key, const char *wanted) {
    json_each(json_object_get(rule, key), i, item)
        if (text_equal(json_string_value(item), "*") || text_equal(json_string_value(item), wanted))
            return true;
    return false;
}

/* Some authorizers cannot list rules (webhook, node). So each right that the rules review does not
 * show is asked for separately. */
int kube_may(struct kube_client *client, const struct kube_right *rights, size_t count, bool *ret,
             struct error *err) {
    _cleanup_json_ json_t *whole =
        json_pack("{s:s, s:s, s:{s:s}}", "apiVersion", "authorization.k8s.io/v1", "kind",
                  "SelfSubjectRulesReview", "spec", "namespace", NO_NAMESPACE);
    _cleanup_json_ json_t *rules = NULL;

    if (count > 1)
        (void)kube_create(client, RULES_REVIEWS, whole, &rules, ERROR_IGNORED);
    for (size_t i = 0; i < count; i++) {
        const struct kube_right *right = &rights[i];
        size_t len = strcspn(right->resource, "/");
        _cleanup_(freep) char *resource = xstrndup(right->resource, len);
        _cleanup_json_ json_t *review = NULL, *answer = NULL;

        ret[i] = false;
        json_each(json_at(rules, "status.resourceRules"), k, rule)
            /* Ignore a rule for named objects only, because it is no right to all objects. */
            ret[i] |= !json_array_size(json_object_get(rule, "resourceNames")) &&
                      lists(rule, "verbs", right->verb) && lists(rule, "apiGroups", right->group) &&
                      lists(rule, "resources", right->resource);
        if (ret[i])
            continue;
        review = json_pack("{s:s, s:s, s:{s:{s:s, s:s, s:s, s:s*}}}", "apiVersion",
                           "authorization.k8s.io/v1", "kind", "SelfSubjectAccessReview", "spec",
                           "resourceAttributes", "verb", right->verb, "group", right->group,
                           "resource", resource, "subresource",
                           right->resource[len] ? right->resource + len + 1 : NULL);
        if (kube_create(client, REVIEWS, review, &answer, err) < 0)
            return -1;
        ret[i] = json_bool_at(answer, "status.allowed", false);
    }
    return 0;
}

/* ---- many requests to an API server at the same time ---- */

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

void kube_perform_many(struct kube_client *client, struct kube_many *items, size_t count,
                       size_t at_once) {
    struct http_exchange *exchanges = xcalloc(count ? count : 1, sizeof *exchanges);
    /* Only few of the many errors are ever filled, so the memory of most is never touched. */
    struct error *errors = xcalloc(count ? count : 1, sizeof *errors);
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
    http_perform_all(client->http, exchanges, count, at_once);
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
