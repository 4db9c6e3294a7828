/* What the tests of discovery share: a server in memory with one field a lie, and what was seen. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base64.h"
#include "base/json.h"
#include "base/memory.h"
#include "host/http.h"
#include "join/discovery/discovery.h"
#include "pki/token.h"
#include "tests/memory/host_memory.h"
#include "tests/memory/http_memory.h"
#include "tests/scene/certificate_vectors.h"

#define TOKEN "abcdef.0123456789abcdef"
#define SECRET "0123456789abcdef"
#define PROOF "/api/v1/proof"

enum { AT_ONCE = -2 }; /* "Retry-After: 0" */

/* What the server does; one field a lie. */
struct scene {
    struct host *host;
    struct http *http;
    struct text_list pins;
    struct discovery_options options;
    struct discovery_result result;
    struct error err;
    /* the answers */
    const char *url;                         /* that is asked for; NULL = the usual one */
    const char *version;                     /* that /version tells; NULL = upstream's */
    const char *ca_pem;                      /* what cluster-info carries */
    const char *proof_pem;                   /* those of them that prove the server; NULL: all */
    const char *server;                      /* the server that it names */
    const char *secret;                      /* that signs */
    const char *signed_id;                   /* "" = no signature */
    const char *server_certs;                /* what TLS shows */
    const char *body;                        /* instead of the ConfigMap */
    const char *second;                      /* appended to the kubeconfig of verified answers */
    long status, retry_after;                /* retry_after: 0: not said */
    int64_t clock;                           /* added to Date */
    enum error_kind broken, broken_verified; /* the transfer fails */
    long proof_status;                       /* of the object that is asked for next */
    unsigned good_after;                     /* this many requests fail first, then all is well */
    /* what was seen */
    unsigned requests, verified;
    bool authorized;
    char bearer[64];
};

static inline char *kubeconfig_of(const struct scene *s, bool verified) {
    _cleanup_(freep) char *ca = base64_encode(s->ca_pem, strlen(s->ca_pem));

    return xasprintf("apiVersion: v1\nclusters:\n- cluster:\n    certificate-authority-data: %s\n"
                     "    server: %s\n  name: \"\"\nkind: Config\n%s",
                     ca, s->server, verified && s->second ? s->second : "");
}

static inline char *configmap_of(const struct scene *s, bool verified) {
    _cleanup_(freep) char *kubeconfig = kubeconfig_of(s, verified);
    _cleanup_(freep) char *key = xasprintf("jws-kubeconfig-%s", s->signed_id);
    _cleanup_(freep) char *jws = jws_make(s->signed_id, s->secret, kubeconfig, strlen(kubeconfig));
    _cleanup_json_ json_t *map =
        json_pack("{s:s, s:{s:s}}", "kind", "ConfigMap", "data", "kubeconfig", kubeconfig);

    if (*s->signed_id)
        json_object_set_new(json_object_get(map, "data"), key, json_string(jws));
    return json_write(map);
}

static inline int answer(void *context, const struct http_request *request,
                         struct http_response *ret, struct error *err) {
    struct scene *s = context;
    bool verified = request->verify == HTTP_VERIFY_FULL;
    enum error_kind broken = verified ? s->broken_verified : s->broken;
    bool well = s->good_after && s->requests >= s->good_after;

    s->requests++;
    s->verified += verified;
    s->authorized = request->bearer_token || request->client_cert_pem;
    (void)text_format(s->bearer, sizeof s->bearer, "%s",
                      request->bearer_token ? request->bearer_token : "");
    if (text_equal(request->url, "https://files/d.conf")) {
        assert_true(request->follow_redirects);
        if (broken)
            return error_set(err, broken, "connect: it broke");
        ret->status = s->status;
        ret->body = xstrdup(s->body);
        ret->body_len = strlen(ret->body);
        assert_null(request->bearer_token);
        s->body = NULL;
        s->requests--;
        return 0;
    }
    assert_false(request->follow_redirects);
    if (text_ends_with(request->url, "/version")) { /* asked once, behind the last refusal */
        ret->status = 200;
        ret->body = xasprintf("{\"gitVersion\":\"%s\"}", s->version ? s->version : "v1.37.1");
        ret->body_len = strlen(ret->body);
        s->requests--;
        return 0;
    }
    if (text_ends_with(request->url, PROOF)) {
        assert_true(verified);
        assert_string_equal(request->ca_pem, s->ca_pem);
        ret->server_certs = xstrdup(s->server_certs);
        ret->status = s->proof_status;
        ret->body = xstrdup("{\"kind\":\"ConfigMap\"}");
        ret->body_len = strlen(ret->body);
        return broken ? error_set(err, broken, "connect: it broke") : 0;
    }
    assert_string_equal(request->url, s->url ? s->url
                                             : "https://10.0.0.10:6443/api/v1/namespaces/"
                                               "kube-public/configmaps/cluster-info?timeout=10s");
    if (verified)
        assert_string_equal(request->ca_pem, s->proof_pem ? s->proof_pem : s->ca_pem);
    ret->date = host_now(s->host) + s->clock;
    ret->server_certs = xstrdup(s->server_certs);
    ret->content_type = xstrdup("application/json");
    if (broken && !well)
        return error_set(err, broken, "connect: it broke");
    ret->status = well ? 200 : s->status;
    if (s->retry_after)
        ret->retry_after = s->retry_after == AT_ONCE ? 0 : s->retry_after;
    ret->body = s->body && !well ? xstrdup(s->body) : configmap_of(s, verified);
    ret->body_len = strlen(ret->body);
    return 0;
}

static inline int setup(void **state) {
    struct scene *s = xcalloc(1, sizeof *s);

    *s = (struct scene){.host = host_memory_new(),
                        .ca_pem = CA_PEM,
                        .server = "https://10.0.0.10:6443",
                        .secret = SECRET,
                        .signed_id = "abcdef",
                        .server_certs = SERVER_PEM,
                        .status = 200};
    s->http = http_memory_new(answer, s);
    text_list_add(&s->pins, CA_PIN);
    s->options = (struct discovery_options){
        .endpoint = "10.0.0.10:6443", .token = TOKEN, .ca_cert_hashes = &s->pins};
    *state = s;
    return 0;
}

static inline int teardown(void **state) {
    struct scene *s = *state;

    discovery_result_free(&s->result);
    text_list_free(&s->pins);
    http_free(s->http);
    host_free(s->host);
    free(s);
    return 0;
}

static inline int run(struct scene *s) {
    int result;

    error_clear(&s->err);
    result = discovery_run(&s->options, s->http, s->host, &s->result, &s->err);
    if (result == 0)
        assert_int_equal(s->err.kind, ERROR_NONE);
    return result;
}

static inline void assert_fails(struct scene *s, enum error_kind kind, const char *why) {
    assert_int_equal(run(s), -1);
    if (!strstr(s->err.message, why))
        print_error("message: %s\n", s->err.message);
    assert_non_null(strstr(s->err.message, why));
    assert_string_equal(error_kind_name(s->err.kind), error_kind_name(kind));
    assert_null(strstr(s->err.message, SECRET));
    assert_null(strstr(s->err.message, "tried 1 times"));
    assert_null(s->result.kubeconfig);
}

static inline void assert_hint(const struct scene *s, const char *words) {
    for (size_t i = 0; i < ERROR_HINTS_MAX; i++)
        if (strstr(s->err.hints[i], words))
            return;
    for (size_t i = 0; i < ERROR_HINTS_MAX; i++)
        print_error("hint: %s\n", s->err.hints[i]);
    fail_msg("no hint says '%s'", words);
}

static inline unsigned waited_s(const struct scene *s) {
    return (unsigned)(host_monotonic_ms(s->host) / 1000);
}
