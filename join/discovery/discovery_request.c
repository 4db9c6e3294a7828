/* Requests cluster-info: sends the request, interprets the answers, and retries. */
#include "join/discovery/discovery_request.h"

#include "base/log.h"
#include "join/configuration/cluster_config.h"
#include "kube/object.h"
#include "kube/request.h"
#include "kube/kubeconfig.h"
#include "pki/token.h"

#define CLUSTER_INFO_PATH "/api/v1/namespaces/kube-public/configmaps/cluster-info"
#define SIGNATURE_PREFIX "jws-kubeconfig-"

enum {
    REQUEST_MS = 10000, /* Limit of one request, as ?timeout=10s tells the server */
    REQUEST_LEAST_MS = 1000,
    /* Limit for the answer of an unverified server: an object has 1 MiB, and JSON escapes make it a
     * few times larger. */
    BODY_MAX = 4 * 1024 * 1024,
    INTERVAL_MS = 5000,
    GRACE_MS = 10000,
    IDS_SHOWN_MAX = 10,
};

void cluster_info_free(struct cluster_info *info) {
    free(info->kubeconfig);
    free(info->signature);
    *info = (struct cluster_info){0};
}

/* Says the result of an attempt. */
enum attempt_outcome {
    GOT_IT,
    TRY_AGAIN, /* No connection: retry until the deadline */
    /* The server refuses, as a starting cluster may do: retry during the grace time. */
    PERHAPS_LATER,
    NEVER,
};

/* ---- interpretation of an answer ---- */

static enum attempt_outcome read_data(const struct discovery *d, const json_t *object,
                                      struct cluster_info *ret, struct error *err) {
    const json_t *data = json_at(object, "data");
    const char *kubeconfig = kube_configmap_value(object, "kubeconfig");
    _cleanup_(freep) char *key = d->token_id ? xasprintf(SIGNATURE_PREFIX "%s", d->token_id) : NULL;
    _cleanup_(text_list_free) struct text_list listed = {0};
    _cleanup_(freep) char *ids = NULL;

    ret->signature = key ? xstrdup_null(json_string_value(json_object_get(data, key))) : NULL;
    if (key && !ret->signature) {
        json_each_member(data, name, value)
            if (text_starts_with(name, SIGNATURE_PREFIX) && listed.count < IDS_SHOWN_MAX &&
                token_id_is_valid(name + strlen(SIGNATURE_PREFIX)))
                text_list_add(&listed, name + strlen(SIGNATURE_PREFIX));
        ids = text_list_join(&listed, ", ");
        (void)error_set(
            err, ERROR_DENIED,
            "could not find a JWS signature in the cluster-info ConfigMap for token ID \"%s\": the "
            "token has expired, was deleted or belongs to another cluster",
            d->token_id);
        if (listed.count)
            (void)error_hint(err, "%s has signatures for: %s", d->address, ids);
        else
            (void)error_hint(err,
                             "%s has no tokens, or its controller manager does not sign for them "
                             "(--controllers=*,bootstrapsigner,tokencleaner)",
                             d->address);
        (void)error_hint(err, "make a new one: kubeadm token create --print-join-command");
        return PERHAPS_LATER;
    }
    if (!kubeconfig) {
        (void)error_set(err, ERROR_ABSENT,
                        "there is no kubeconfig key in the cluster-info ConfigMap: \"%s\" is not "
                        "set up for token bootstrapping",
                        d->address);
        (void)error_hint(err, "on the control plane: kubeadm init phase bootstrap-token");
        return d->credentials ? NEVER : PERHAPS_LATER;
    }
    ret->kubeconfig = xstrdup(kubeconfig);
    return GOT_IT;
}

/* Returns true when the status only means that the discovery file's user may not read cluster-info
 * (403), or that the file has no credentials and the server refuses anonymous requests (401). */
bool discovery_may_not_read(const struct discovery *d, unsigned long status) {
    return d->credentials &&
           (status == 403 || (status == 401 && !kubeconfig_has_credentials(d->credentials)));
}

static enum attempt_outcome read_answer(const struct discovery *d,
                                        const struct http_response *response,
                                        struct cluster_info *ret, struct error *err) {
    _cleanup_json_ json_t *object = NULL;
    enum attempt_outcome outcome;
    long status = response->status;

    if (status != 200) {
        (void)kube_status_error("GET", CLUSTER_INFO_PATH, status, response->body,
                                response->body_len, err);
        (void)error_prefix(err, "failed to request the cluster-info ConfigMap from \"%s\"",
                           d->address);
        if (d->credentials && status == 401)
            (void)error_hint(err,
                             "the credentials in the discovery file are invalid or have expired");
        else if (status == 401 || status == 403)
            (void)error_hint(err, "anonymous requests must be allowed to read cluster-info: "
                                  "kube-apiserver --anonymous-auth and Role kube-public/"
                                  "kubeadm:bootstrap-signer-clusterinfo; or give the cluster's "
                                  "address and CA by --discovery-file, with --tls-bootstrap-token");
        if (status >= 300 && status < 400)
            (void)error_hint(err, "redirects are not followed: use the API server's own address");
        if (err->kind == ERROR_USAGE)
            /* The server's answer is malformed; the user made no mistake. */
            err->kind = ERROR_MALFORMED;
        if (discovery_may_not_read(d, (unsigned long)status))
            return NEVER;
        return err->kind == ERROR_NETWORK ? TRY_AGAIN : PERHAPS_LATER;
    }
    if (json_read(response->body, response->body_len, "the cluster-info ConfigMap", &object, err) <
            0 ||
        !json_is_object(object)) {
        if (object)
            (void)error_set(err, ERROR_MALFORMED,
                            "decode the cluster-info ConfigMap: it is not a JSON object");
        (void)error_hint(err, "is \"%s\" the API server?", d->address);
        return PERHAPS_LATER;
    }
    if (kube_object_check(object, "ConfigMap", "v1", err) < 0) {
        (void)error_prefix(err, "read the cluster-info ConfigMap");
        return PERHAPS_LATER;
    }
    outcome = read_data(d, object, ret, err);
    if (outcome != GOT_IT)
        cluster_info_free(ret);
    return outcome;
}

/* ---- one attempt ---- */

static unsigned left_ms(const struct discovery *d) {
    uint64_t now = host_monotonic_ms(d->host);

    return now < d->deadline ? (unsigned)(d->deadline - now) : 0;
}

static void fill(const struct discovery *d, const char *url, const char *ca_pem,
                 struct http_request *request) {
    unsigned left = left_ms(d);

    *request = (struct http_request){
        .url = url,
        .verify = ca_pem || d->credentials ? HTTP_VERIFY_FULL : HTTP_VERIFY_NONE,
        .ca_pem = ca_pem,
        .timeout_ms = left > REQUEST_MS         ? REQUEST_MS
                      : left < REQUEST_LEAST_MS ? REQUEST_LEAST_MS
                                                : left,
        .max_body = d->proof_token ? HTTP_BODY_MAX : BODY_MAX,
    };
    request->bearer_token = d->proof_token;
    if (!d->credentials)
        return;
    request->server_name = d->credentials->tls_server_name;
    request->proxy = d->credentials->proxy_url;
    request->bearer_token = d->credentials->token;
    request->client_cert_pem = d->credentials->client_cert_pem;
    request->client_key_pem = d->credentials->client_key_pem;
}

static enum attempt_outcome attempt(struct discovery *d, const char *ca_pem,
                                    struct cluster_info *ret, long *retry_after,
                                    struct error *err) {
    _cleanup_(freep) char *url = server_url_join(
        d->server, d->proof_token ? d->options->proof : CLUSTER_INFO_PATH "?timeout=10s");
    _cleanup_(http_response_free) struct http_response response = {.retry_after = -1};
    struct http_request request;
    int result;

    fill(d, url, ca_pem, &request);
    result = http_perform(d->http, &request, &response, err);
    if (response.date) {
        d->result->clock_difference = response.date - host_now(d->host);
        d->dated = true;
    }
    if (response.proxy && !d->result->proxy) {
        d->result->proxy = xstrdup(response.proxy);
        d->result->proxy_given = d->credentials && d->credentials->proxy_url;
    }
    *retry_after = result < 0 ? -1 : response.retry_after;
    if (result < 0 && err->kind == ERROR_UNTRUSTED) {
        (void)discovery_explain_trust(d, response.server_certs, ca_pem, err);
        return NEVER;
    }
    if (result < 0) {
        (void)error_prefix(err, "failed to request the %s ConfigMap",
                           d->proof_token ? strrchr(d->options->proof, '/') + 1 : "cluster-info");
        return err->kind == ERROR_MALFORMED ? PERHAPS_LATER
               : error_is_retryable(err)    ? TRY_AGAIN
                                            : NEVER;
    }
    if (discovery_check_name(d, response.server_certs, request.verify == HTTP_VERIFY_FULL, err) < 0)
        return NEVER;
    if (!d->proof_token)
        return read_answer(d, &response, ret, err);
    /* A malformed answer for `proof` is dropped; the code that needs it asks again. */
    if (response.status == 200 &&
        json_read(response.body, response.body_len, "the answer", &d->result->proof,
                  ERROR_IGNORED) == 0 &&
        !json_is_object(d->result->proof)) {
        json_decref(d->result->proof);
        d->result->proof = NULL;
    }
    return GOT_IT;
}

/* ---- retries ---- */

static void hint_is_here(const struct discovery *d, struct error *why) {
    if ((why->kind == ERROR_NETWORK || why->kind == ERROR_TIMED_OUT) &&
        server_url_is_here(d->server) && !d->result->proxy)
        (void)error_hint(why,
                         "%s is this machine itself: give the API server's address as other "
                         "machines reach it%s",
                         d->server, d->credentials ? ", in server: of the discovery file" : "");
}

static int give_up(const struct discovery *d, const char *ca_pem, unsigned tries, struct error *why,
                   struct error *err) {
    uint64_t waited = host_monotonic_ms(d->host) - d->start;

    if (tries > 1)
        (void)error_prefix(why, "tried %u times in %u s", tries, (unsigned)((waited + 999) / 1000));
    hint_is_here(d, why);
    if ((why->kind == ERROR_NETWORK || why->kind == ERROR_TIMED_OUT) && !why->hints[0][0])
        (void)error_hint(why, "check whether this machine reaches it: curl.exe -k %s/healthz",
                         d->server);
    /* On a 404, asks which distribution made the cluster, with the same verification as for
     * cluster-info. The answer only selects one of winjoin's own hints. */
    if (why->os == 404) {
        _cleanup_(freep) char *url = server_url_join(d->server, "/version");
        _cleanup_(http_response_free) struct http_response response = {0};
        _cleanup_json_ json_t *version = NULL;
        struct http_request request;
        const char *hint;

        fill(d, url, ca_pem, &request);
        if (http_perform(d->http, &request, &response, ERROR_IGNORED) == 0 &&
            response.status == 200)
            (void)json_read(response.body, response.body_len, "version", &version, ERROR_IGNORED);
        hint = distribution_hint(json_text_at(version, "gitVersion"));
        if (!hint)
            (void)error_hint(why,
                             "is this the API server of a kubeadm cluster? On its control plane: "
                             "kubeadm init phase bootstrap-token");
        (void)error_hint(why, "%s", hint ? hint : NOT_BY_KUBEADM_HINT);
    }
    return error_pass(err, why);
}

int discovery_fetch(struct discovery *d, const char *ca_pem, struct cluster_info *ret,
                    struct error *err) {
    unsigned grace = d->options->signature_grace_ms ? d->options->signature_grace_ms : GRACE_MS;
    unsigned interval = d->options->interval_ms ? d->options->interval_ms : INTERVAL_MS;
    unsigned whole = (unsigned)(d->deadline - d->start);
    uint64_t first_no = 0;
    struct cluster_info info = {0};

    if (interval > whole / 3)
        interval = whole / 3; /* A short timeout allows a few tries, too. */

    for (unsigned tries = 1;; tries++) {
        struct error why = {0};
        long retry_after;
        enum attempt_outcome outcome = attempt(d, ca_pem, &info, &retry_after, &why);
        uint64_t now = host_monotonic_ms(d->host);
        /* Pause half to one and a half times the interval, never 0, so that many nodes that were
         * switched on together do not ask at the same time. */
        unsigned pause =
            retry_after > 0 && retry_after <= 60
                ? kube_pause_ms(d->host, tries - 1, retry_after)
                : host_spread_ms(d->host, interval / 2 + 1, interval + interval / 2 + 1);

        if (outcome == GOT_IT) {
            *ret = info;
            return 0;
        }
        if (outcome == PERHAPS_LATER && !first_no)
            first_no = now;
        if (outcome == NEVER || now + pause > d->deadline ||
            (outcome == PERHAPS_LATER && now - first_no >= grace))
            return give_up(d, ca_pem, tries, &why, err);
        log_message(LOG_RETRY, "%s; trying again in %u ms", why.message, pause);
        /* When the server's address is this machine itself, it may be a tunnel that starts later.
         * So it is retried, with a hint. */
        hint_is_here(d, &why);
        if (d->options->on_retry)
            d->options->on_retry(d->options->on_retry_context, &why, pause, left_ms(d));
        if (host_sleep(d->host, pause, err) < 0)
            return -1;
    }
}
