/* Runs programs in containers over WebSocket channels, by versions 4 and 5 of Kubernetes'
 * remotecommand protocol (https://github.com/kubernetes/kubernetes). */
#include "kube/exec.h"

#include "kube/request.h"
#include "kube/websocket.h"

#define PROTOCOLS "v5.channel.k8s.io, v4.channel.k8s.io"
enum { OUT = 1, ERR = 2, STATUS = 3 };
/* LINGER_MS is how long to wait for the server to close, since the exit code may arrive before the
 * output. FAILED_HTTP is the status to assume when a Status has no code. */
enum { LINGER_MS = 2000, FAILED_HTTP = 500 };

struct talk {
    struct kube_client *client;
    char *path, *url;
    struct text first;
    struct websocket ws;
    struct kube_exec_result result;
    size_t max_output;
    json_t *status;
    uint64_t deadline;
};

void kube_exec_result_free(struct kube_exec_result *result) {
    text_free(&result->out);
    text_free(&result->err);
}

static int on_message(void *context, const char *data, size_t len, struct error *err) {
    struct talk *talk = context;
    struct text *into = len && data[0] == OUT ? &talk->result.out : &talk->result.err;

    if (len < 2) /* An empty message only shows that the channel is open. */
        return 0;
    if (data[0] == STATUS) {
        json_decref(take_ptr(talk->status));
        talk->deadline = host_monotonic_ms(talk->client->host) + LINGER_MS;
        return json_read(data + 1, len - 1, "Status", &talk->status, err);
    }
    if (data[0] != OUT && data[0] != ERR)
        return 0;
    if (len - 1 > talk->max_output - talk->result.out.len - talk->result.err.len)
        return error_set(err, ERROR_MALFORMED, "the program's output is longer than %zu bytes",
                         talk->max_output);
    text_add_bytes(into, data + 1, len - 1);
    return 0;
}

static int heard(void *context, const void *data, size_t len, struct text *reply, bool *ret_done,
                 struct error *err) {
    struct talk *talk = context;

    if (len && websocket_hear(&talk->ws, data, len, reply, err) < 0)
        return -1;
    *ret_done = talk->ws.closed;
    if (*ret_done || host_monotonic_ms(talk->client->host) < talk->deadline)
        return 0;
    *ret_done = talk->status;
    return *ret_done ? 0 : error_set(err, ERROR_TIMED_OUT, "it did not end in time");
}

/* Sets the path, the URL and the first bytes to send. `ret` borrows them from `talk`. */
static int begin(struct talk *talk, const struct kube_exec *exec, struct http_talk *ret,
                 struct error *err) {
    struct kube_client *client = talk->client;
    _cleanup_(freep) char *namespace_ = kube_escape(exec->namespace_);
    _cleanup_(freep) char *pod = kube_escape(exec->pod);
    _cleanup_(freep) char *container = exec->container ? kube_escape(exec->container) : NULL;
    _cleanup_(secret_freep) char *login =
        client->bearer_token ? xasprintf("Authorization: Bearer %s\r\n", client->bearer_token)
                             : xstrdup("");
    const char *scheme = strstr(client->server, "://");
    const char *authority = scheme ? scheme + 3 : client->server; /* http_talk_all() checks it. */
    size_t authority_len = strcspn(authority, "/");
    _cleanup_(freep) char *host = xstrndup(authority, authority_len), *target = NULL;
    unsigned char random[WEBSOCKET_NONCE_LEN + sizeof(uint32_t)];
    struct text path = {0};
    uint32_t mask;

    text_addf(&path, "/api/v1/namespaces/%s/pods/%s/exec?stdout=true&stderr=true", namespace_, pod);
    if (container)
        text_addf(&path, "&container=%s", container);
    for (const char *const *word = exec->argv; *word; word++) {
        _cleanup_(freep) char *escaped = kube_escape(*word);

        text_addf(&path, "&command=%s", escaped);
    }
    talk->path = text_take(&path);
    talk->url = xasprintf("%s%s", client->server, talk->path);
    target = xasprintf("%s%s", authority + authority_len, talk->path);

    if (host_random(client->host, random, sizeof random, err) < 0)
        return -1;
    memcpy(&mask, random + WEBSOCKET_NONCE_LEN, sizeof mask);
    websocket_open(&talk->ws, host, target, login, random, mask, &talk->first);
    kube_request_fill(client, &(struct kube_call){.method = "GET", .path = talk->path}, talk->url,
                      &ret->request);
    ret->request.timeout_ms = exec->timeout_ms ? exec->timeout_ms : KUBE_EXEC_TIMEOUT_MS;
    talk->deadline = host_monotonic_ms(client->host) + ret->request.timeout_ms;
    ret->first = text_str(&talk->first);
    ret->first_len = talk->first.len;
    return 0;
}

/* Evaluates a finished conversation; `result` is its result. */
static int finish(struct talk *talk, const struct kube_exec *exec, int result,
                  struct kube_exec_result *ret, struct error *err) {
    const json_t *status = talk->status;
    bool ended = text_equal(json_text_at(status, "status"), "Success");
    bool failed = text_equal(json_text_at(status, "reason"), "NonZeroExitCode");
    long long code = 0;

    /* The program ended with exit code 0, or with the code in the list of causes. */
    json_each(json_at(status, "details.causes"), i, cause) {
        const char *text = json_text_at(cause, "message");

        if (ended || !failed || !text || !text_equal(json_text_at(cause, "reason"), "ExitCode") ||
            text_to_number(text, INT32_MIN, UINT32_MAX, &code) < 0)
            continue;
        talk->result.exit_code = (int)code; /* Exit codes on Windows have 32 bits. */
        ended = true;
    }
    if (talk->ws.status && (result == 0 || talk->ws.refusal.len)) {
        result = kube_status_error("GET", talk->path, talk->ws.status, text_str(&talk->ws.refusal),
                                   talk->ws.refusal.len, err);
    } else if (result == 0 && !status) {
        result = error_set(err, ERROR_NETWORK, "the server ended it without an exit code");
    } else if (result == 0 && !ended) {
        /* The server's Status, for the error message. */
        _cleanup_(freep) char *words = json_write(status);

        result =
            kube_status_error("GET", talk->path, (long)json_number_at(status, "code", FAILED_HTTP),
                              words, strlen(words), err);
    }
    if (result < 0)
        return error_prefix(err, "run a program in pod %s/%s", exec->namespace_, exec->pod);
    *ret = take_struct(talk->result);
    return 0;
}

void kube_exec(struct kube_client *client, const struct kube_exec *execs,
               struct kube_exec_result *rets, struct error *errs, size_t count) {
    _cleanup_(freep) struct talk *talks = xcalloc(count + 1, sizeof *talks);
    _cleanup_(freep) struct http_talk *words = xcalloc(count + 1, sizeof *words);

    for (size_t i = 0; i < count; i++) {
        talks[i] = (struct talk){.client = client,
                                 .max_output = execs[i].max_output ? execs[i].max_output
                                                                   : KUBE_EXEC_OUTPUT_MAX};
        talks[i].ws.protocols = PROTOCOLS;
        talks[i].ws.on_message = on_message;
        talks[i].ws.context = &talks[i];
        words[i] = (struct http_talk){.heard = heard, .context = &talks[i], .err = &errs[i]};
        (void)begin(&talks[i], &execs[i], &words[i], &errs[i]);
    }
    http_talk_all(client->http, words, count);
    for (size_t i = 0; i < count; i++) {
        struct talk *talk = &talks[i];

        (void)finish(talk, &execs[i], errs[i].kind ? -1 : 0, &rets[i], &errs[i]);
        websocket_free(&talk->ws);
        json_decref(talk->status);
        kube_exec_result_free(&talk->result);
        secret_free_text(text_take(&talk->first));
        free(talk->url);
        free(talk->path);
    }
}
