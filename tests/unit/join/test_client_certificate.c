/* The node's client certificate: made, kept, taken up again after a crash at every step, refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base64.h"
#include "base/memory.h"
#include "join/kubelet/client_certificate.h"
#include "join/kubelet/kubelet_files.h"
#include "tests/memory/host_memory.h"
#include "tests/memory/http_memory.h"
#include "tests/scene/certificate_vectors.h"

#define KEY_TMP KUBELET_CERTIFICATE_FOLDER "\\kubelet-client.key.tmp"
#define CSR_TMP KUBELET_CERTIFICATE_FOLDER "\\kubelet-client.csr.tmp"

/* A cluster that signs with one certificate, the one for CLIENT_KEY_PEM. */
struct scene {
    struct host *host;
    struct http *http;
    struct kube_client client;
    struct client_certificate_options options;
    struct client_certificate certificate;
    struct error err;
    char *request;      /* base64 of the CSR that came, NULL = none */
    const char *issued; /* PEM, or NULL: pending for ever */
    const char *condition;
    unsigned created;
    unsigned proved; /* how often the Node was asked for with the new certificate */
    bool refuses;    /* that certificate */
};

static char *csr_object(const struct scene *s) {
    _cleanup_(freep) char *pem = s->issued ? base64_encode(s->issued, strlen(s->issued)) : NULL;

    return xasprintf("{\"metadata\":{\"name\":\"csr-1\",\"uid\":\"u1\",\"resourceVersion\":\"3\"},"
                     "\"spec\":{\"request\":\"%s\"},\"status\":{\"conditions\":[{\"type\":\"%s\","
                     "\"reason\":\"AutoApproved\"}]%s%s%s}}",
                     s->request ? s->request : "", s->condition, pem ? ",\"certificate\":\"" : "",
                     pem ? pem : "", pem ? "\"" : "");
}

static int answer(void *context, const struct http_request *request, struct http_response *ret,
                  struct error *err) {
    struct scene *s = context;
    _cleanup_(freep) char *object = NULL;

    (void)err;
    ret->status = 200;
    if (text_equal(request->method, "POST")) {
        _cleanup_json_ json_t *body = NULL;

        assert_int_equal(json_read(request->body, request->body_len, "body", &body, NULL), 0);
        free(s->request);
        s->request = xstrdup(json_text_at(body, "spec.request"));
        s->created++;
    }
    object = csr_object(s);
    if (strstr(request->url, "/api/v1/nodes/")) {
        s->proved += text_equal(request->client_key_pem, CLIENT_KEY_PEM);
        ret->status = s->refuses ? 403 : 200;
        ret->body = xstrdup("{\"metadata\":{\"name\":\"win-1\"}}");
    } else if (strstr(request->url, "watch=true")) {
        host_memory_advance(s->host, 30000);
        ret->body = xstrdup("");
    } else if (strstr(request->url, "fieldSelector")) {
        ret->body = xasprintf("{\"metadata\":{\"resourceVersion\":\"3\"},\"items\":[%s]}", object);
    } else if (!s->request) {
        ret->status = 404;
        ret->body = xstrdup("{\"message\":\"not found\"}");
    } else {
        ret->body = take_ptr(object);
    }
    ret->body_len = strlen(ret->body);
    return 0;
}

static int setup(void **state) {
    struct scene *s = xcalloc(1, sizeof *s);
    struct kubeconfig config = {
        .server = (char *)"https://k", .ca_pem = (char *)CA_PEM, .token = (char *)"t"};

    s->host = host_memory_new();
    s->http = http_memory_new(answer, s);
    s->issued = CLIENT_PEM;
    s->condition = "Approved";
    s->options = (struct client_certificate_options){.node_name = "win-1", .ca_pem = CA_PEM};
    assert_int_equal(kube_client_open(s->http, s->host, &config, &s->client, NULL), 0);
    *state = s;
    return 0;
}

static int teardown(void **state) {
    struct scene *s = *state;

    client_certificate_free(&s->certificate);
    kube_client_close(&s->client);
    http_free(s->http);
    host_free(s->host);
    free(s->request);
    free(s);
    return 0;
}

static void put_key(struct scene *s) {
    assert_int_equal(
        host_write(s->host, KEY_TMP, CLIENT_KEY_PEM, strlen(CLIENT_KEY_PEM), HOST_SECRET, NULL), 0);
}

static int ensure(struct scene *s) {
    client_certificate_free(&s->certificate);
    error_clear(&s->err);
    return client_certificate_ensure(&s->client, s->host, &s->options, &s->certificate, &s->err);
}

static void assert_stored(struct scene *s) {
    _cleanup_(freep) char *text = NULL;
    size_t len = 0;

    assert_int_equal(host_file_type(s->host, KUBELET_CLIENT_CERTIFICATE_FILE), HOST_LINK);
    assert_int_equal(host_read(s->host, KUBELET_CLIENT_CERTIFICATE_FILE, 65536, &text, &len, NULL),
                     0);
    assert_string_equal(text, CLIENT_PEM CLIENT_KEY_PEM);
    assert_int_equal(host_file_type(s->host, KEY_TMP), HOST_ABSENT);
    assert_int_equal(host_file_type(s->host, CSR_TMP), HOST_ABSENT);
}

static void stores_as_the_kubelet(void **state) {
    struct scene *s = *state;

    put_key(s);
    assert_int_equal(ensure(s), 0);
    assert_true(s->certificate.made_now);
    assert_string_equal(s->certificate.csr_name, "csr-1");
    assert_string_equal(s->certificate.reason, "AutoApproved");
    assert_string_equal(s->certificate.path,
                        KUBELET_CERTIFICATE_FOLDER "\\kubelet-client-2026-11-21-10-00-00.pem");
    assert_stored(s);
    assert_non_null(
        strstr(host_memory_log(s->host), "kubelet-client-2026-11-21-10-00-00.pem secret"));
    assert_int_equal(s->created, 1);
}

/* A folder that was copied has a file in the link's place: good enough to keep, and repaired. */
static void keeps_a_plain_file(void **state) {
    static const char both[] = CLIENT_PEM CLIENT_KEY_PEM;
    struct scene *s = *state;

    assert_int_equal(
        host_write(s->host, KUBELET_CLIENT_CERTIFICATE_FILE, both, strlen(both), HOST_SECRET, NULL),
        0);
    assert_int_equal(ensure(s), 0);
    assert_false(s->certificate.made_now);
    assert_int_equal(s->created, 0);
    assert_stored(s);
}

static void keeps_what_is_usable(void **state) {
    struct scene *s = *state;

    put_key(s);
    assert_int_equal(ensure(s), 0);
    assert_int_equal(ensure(s), 0);
    assert_false(s->certificate.made_now);
    assert_string_equal(s->certificate.key_pem, CLIENT_KEY_PEM);
    assert_true(s->certificate.not_after > s->certificate.not_before);
    assert_int_equal(s->created, 1);
    assert_stored(s);
}

#define FIRST KUBELET_CERTIFICATE_FOLDER "\\kubelet-client-2026-11-21-10-00-00.pem"
#define SECOND KUBELET_CERTIFICATE_FOLDER "\\kubelet-client-2026-11-21-10-00-05.pem"

static void assert_leads_to(struct scene *s, const char *file) {
    json_t *state = host_memory_state(s->host);
    const json_t *link =
        json_object_get(json_object_get(state, "files"), KUBELET_CLIENT_CERTIFICATE_FILE);

    assert_string_equal(json_text_at(link, "target"), file);
    json_decref(state);
}

static int renew(struct scene *s) {
    host_memory_advance(s->host, 5000);
    put_key(s);
    client_certificate_free(&s->certificate);
    error_clear(&s->err);
    return client_certificate_make(&s->client, s->host, &s->options, !s->options.serves,
                                   &s->certificate, &s->err);
}

/* The old file stays, the link leads to the new one, which the API server has seen. */
static void another_one_is_proved_and_stored(void **state) {
    struct scene *s = *state;

    put_key(s);
    assert_int_equal(ensure(s), 0);
    assert_int_equal(s->proved, 0);
    assert_int_equal(renew(s), 0);
    assert_true(s->certificate.made_now);
    assert_int_equal(s->created, 2);
    assert_int_equal(s->proved, 1);
    assert_leads_to(s, SECOND);
    assert_int_equal(host_file_type(s->host, FIRST), HOST_FILE);
    assert_stored(s);
}

static void one_that_is_refused_is_not_stored(void **state) {
    struct scene *s = *state;

    put_key(s);
    assert_int_equal(ensure(s), 0);
    s->refuses = true;
    assert_int_equal(renew(s), -1);
    assert_int_equal(s->err.kind, ERROR_DENIED);
    assert_non_null(strstr(s->err.message, "use the new certificate"));
    assert_leads_to(s, FIRST);
    assert_int_equal(host_file_type(s->host, SECOND), HOST_ABSENT);
}

/* Nobody approves: the wait ends with kubectl's line, and the old one stays. */
static void one_that_is_not_approved_is_waited_for(void **state) {
    struct scene *s = *state;

    put_key(s);
    assert_int_equal(ensure(s), 0);
    s->issued = NULL;
    s->condition = "None";
    s->options.timeout_ms = 60000;
    assert_int_equal(renew(s), -1);
    assert_int_equal(s->err.kind, ERROR_TIMED_OUT);
    assert_string_equal(s->err.hints[0], "kubectl certificate approve csr-1");
    assert_leads_to(s, FIRST);
}

static void makes_a_new_one_for_another_node_ca_or_time(void **state) {
    static const struct {
        const char *node_name, *ca_pem, *why;
        bool late;
    } rows[] = {
        {"win-2", CA_PEM, "not for \"CN=system:node:win-2,", false},
        {"win-1", OTHER_PEM, "check the certificate", false},
        {"win-1", CA_PEM, "has expired", true},
    };
    struct scene *s = *state;

    put_key(s);
    assert_int_equal(ensure(s), 0);
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct client_certificate found = {0};
        struct error err = {0};

        s->options.node_name = rows[i].node_name;
        s->options.ca_pem = rows[i].ca_pem;
        for (unsigned k = 0; rows[i].late && k < 1000; k++)
            host_memory_advance(s->host, 4000000000u);
        assert_int_equal(client_certificate_load(s->host, &s->options, &found, &err), -1);
        assert_int_equal(err.kind, ERROR_ABSENT);
        assert_non_null(strstr(err.message, rows[i].why));
    }
}

static void a_stored_certificate_needs_its_own_key(void **state) {
    static const struct {
        const char *text, *why;
    } rows[] = {
        {CLIENT_PEM SERVER_KEY_PEM, "check the certificate: it does not match this node's key"},
        {CLIENT_PEM, "it contains no private key"},
        {CLIENT_KEY_PEM, "data does not contain any valid RSA or ECDSA certificates"},
        {"-----BEGIN EC PRIVATE KEY-----", "it contains no private key"},
        {"", "it contains no private key"}};
    struct scene *s = *state;

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *why = xasprintf(
            "certificate file 'C:\\var\\lib\\kubelet\\pki\\kubelet-client-current.pem': %s",
            rows[i].why);
        struct client_certificate found = {0};
        struct error err = {0};

        assert_int_equal(
            host_write(s->host, "C:\\x.pem", rows[i].text, strlen(rows[i].text), HOST_SECRET, NULL),
            0);
        assert_int_equal(host_link(s->host, KUBELET_CLIENT_CERTIFICATE_FILE, "C:\\x.pem", NULL), 0);
        assert_int_equal(client_certificate_load(s->host, &s->options, &found, &err), -1);
        assert_int_equal(err.kind, ERROR_ABSENT);
        assert_string_equal(err.message, why);
        assert_null(found.path);
    }
}

static void a_foreign_certificate_is_refused(void **state) {
    struct scene *s = *state;

    assert_int_equal(ensure(s), -1); /* a fresh key, for which CLIENT_PEM is not */
    assert_int_equal(s->err.kind, ERROR_UNTRUSTED);
    assert_int_equal(host_file_type(s->host, KUBELET_CLIENT_CERTIFICATE_FILE), HOST_ABSENT);
    assert_non_null(strstr(host_memory_log(s->host), "kubelet-client.key.tmp secret"));
}

static void an_earlier_request_is_taken_up(void **state) {
    struct scene *s = *state;
    const char *issued = s->issued;

    put_key(s);
    s->issued = NULL;
    s->condition = "None";
    s->options.timeout_ms = 60000;
    assert_int_equal(ensure(s), -1);
    assert_int_equal(s->err.kind, ERROR_TIMED_OUT);
    assert_string_equal(s->err.hints[0], "kubectl certificate approve csr-1");
    assert_int_equal(host_file_type(s->host, CSR_TMP), HOST_FILE);
    s->issued = issued;
    s->condition = "Approved";
    assert_int_equal(ensure(s), 0);
    assert_int_equal(s->created, 1);
    assert_stored(s);
}

static void a_denied_or_lost_request_is_not(void **state) {
    struct scene *s = *state;

    put_key(s);
    s->condition = "Denied";
    assert_int_equal(ensure(s), -1);
    assert_int_equal(s->err.kind, ERROR_DENIED);
    assert_int_equal(ensure(s), -1);
    assert_int_equal(s->created, 2);
    s->condition = "Failed";
    assert_int_equal(ensure(s), -1);
    assert_int_equal(s->err.kind, ERROR_DENIED);
    assert_int_equal(ensure(s), -1);
    assert_int_equal(s->created, 4);
    s->condition = "Approved";
    free(take_ptr(s->request)); /* deleted */
    assert_int_equal(ensure(s), 0);
    assert_int_equal(s->created, 5);
    assert_stored(s);
}

/* Whatever call fails, the same again ends in the same state. */
static void survives_a_failure_at_every_call(void **state) {
    struct scene *first = *state;

    (void)first;
    for (size_t n = 1;; n++) {
        struct scene *s;
        void *fresh;
        bool failed;

        assert_int_equal(setup(&fresh), 0);
        s = fresh;
        put_key(s);
        host_memory_fail(s->host, n);
        failed = ensure(s) < 0;
        host_memory_fail(s->host, 0);
        if (failed) {
            /* without the remembered key the fresh one does not fit the fixed certificate */
            if (host_file_type(s->host, KEY_TMP) != HOST_ABSENT)
                put_key(s);
            assert_int_equal(ensure(s), 0);
        }
        if (n > 40) {
            assert_stored(s);
            assert_int_equal(teardown(&fresh), 0);
            break;
        }
        assert_int_equal(host_file_type(s->host, KUBELET_CLIENT_CERTIFICATE_FILE), HOST_LINK);
        assert_int_equal(teardown(&fresh), 0);
    }
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(stores_as_the_kubelet),
        CASE(keeps_what_is_usable),
        CASE(keeps_a_plain_file),
        CASE(makes_a_new_one_for_another_node_ca_or_time),
        CASE(a_stored_certificate_needs_its_own_key),
        CASE(a_foreign_certificate_is_refused),
        CASE(an_earlier_request_is_taken_up),
        CASE(a_denied_or_lost_request_is_not),
        CASE(survives_a_failure_at_every_call),
        CASE(another_one_is_proved_and_stored),
        CASE(one_that_is_refused_is_not_stored),
        CASE(one_that_is_not_approved_is_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
