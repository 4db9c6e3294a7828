/* CertificateSigningRequests: which of many is found, what is no such object, and the wait. */
#include "base/base64.h"
#include "pki/certificate.h"
#include "tests/scene/certificate_vectors.h"
#include "tests/scene/kube_scene.h"

/* One item of a list, as the server shows it. */
static char *item(const char *name, const char *signer, const char *made, const char *request) {
    _cleanup_(freep) char *encoded = base64_encode(request, strlen(request));

    return xasprintf("{\"metadata\":{\"name\":\"%s\",\"uid\":\"u\",\"creationTimestamp\":\"%s\"},"
                     "\"spec\":{\"signerName\":\"%s\",\"request\":\"%s\"}}",
                     name, made, signer, encoded);
}

static void finds_the_newest_of_its_node(void **state) {
    struct scene *s = *state;
    _cleanup_(freep) char *other = NULL, *body = NULL;
    char *items[5];
    struct row rows[1] = {{"/certificatesigningrequests", 200, NULL, 0, 0}};
    struct kube_csr csr = {0};
    struct error err = {0};

    assert_int_equal(csr_make(CLIENT_KEY_PEM, "win-2", NULL, &other, NULL), 0);
    items[0] = item("old", KUBE_CSR_CLIENT_SIGNER, "2026-01-01T00:00:00Z", CLIENT_CSR_PEM);
    items[1] = item("new", KUBE_CSR_CLIENT_SIGNER, "2026-01-03T00:00:00Z", CLIENT_CSR_PEM);
    items[2] = item("middle", KUBE_CSR_CLIENT_SIGNER, "2026-01-02T00:00:00Z", CLIENT_CSR_PEM);
    items[3] = item("serving", KUBE_CSR_SERVING_SIGNER, "2026-01-04T00:00:00Z", CLIENT_CSR_PEM);
    items[4] = item("another", KUBE_CSR_CLIENT_SIGNER, "2026-01-05T00:00:00Z", other);
    body =
        xasprintf("{\"items\":[%s,%s,%s,%s,%s]}", items[0], items[1], items[2], items[3], items[4]);
    rows[0].body = body;
    s->rows = rows;
    s->count = 1;
    assert_int_equal(kube_csr_find(&s->client, KUBE_CSR_CLIENT_SIGNER, "win-1", &csr, NULL), 0);
    assert_string_equal(csr.name, "new");
    assert_string_equal(csr.request_pem, CLIENT_CSR_PEM);
    assert_string_equal(csr.signer_name, KUBE_CSR_CLIENT_SIGNER);
    kube_csr_free(&csr);
    assert_int_equal(kube_csr_find(&s->client, KUBE_CSR_SERVING_SIGNER, "win-1", &csr, NULL), 0);
    assert_string_equal(csr.name, "serving");
    kube_csr_free(&csr);
    assert_int_equal(kube_csr_find(&s->client, KUBE_CSR_CLIENT_SIGNER, "win-2", &csr, NULL), 0);
    assert_string_equal(csr.name, "another");
    kube_csr_free(&csr);
    assert_int_equal(kube_csr_find(&s->client, KUBE_CSR_CLIENT_SIGNER, "win-3", &csr, &err), -1);
    assert_int_equal(err.kind, ERROR_ABSENT);
    for (size_t i = 0; i < ARRAY_SIZE(items); i++)
        free(items[i]);
}

/* An object whose certificate is `len` letters. */
static int read_long(size_t len, struct kube_csr *ret, struct error *err) {
    _cleanup_json_ json_t *object = NULL;
    _cleanup_(freep) char *text = xmalloc(len + 1);

    memset(text, 'A', len);
    text[len] = '\0';
    object = json_pack("{s:{s:s}, s:{}, s:{s:s}}", "metadata", "name", "c", "spec", "status",
                       "certificate", text);
    return kube_csr_from_json(object, ret, err);
}

static void refuses_what_is_no_request(void **state) {
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"{\"kind\":\"Pod\",\"metadata\":{\"name\":\"c\"},\"spec\":{}}", "unexpected object: Pod"},
        {"{\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"c\"},\"spec\":{}}",
         "unexpected object: v1"},
        {"{\"spec\":{}}", "no name or spec"},
        {"{\"metadata\":{\"name\":\"c\"}}", "no name or spec"},
        {"{\"metadata\":{\"name\":\"c d\"},\"spec\":{}}", "is not an object name"},
        {"{\"metadata\":{\"name\":\"c\"},\"spec\":{},\"status\":{\"certificate\":\"*\"}}",
         "its certificate is not base64 text"},
        {"{\"metadata\":{\"name\":\"c\"},\"spec\":{},\"status\":{\"certificate\":\"QQBC\"}}",
         "its certificate is not base64 text"},
    };
    struct kube_csr csr = {0};
    struct error err = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_json_ json_t *object = json_loads(rows[i].text, 0, NULL);

        assert_int_equal(kube_csr_from_json(object, &csr, &err), -1);
        assert_int_equal(err.kind, ERROR_MALFORMED);
        if (!strstr(err.message, rows[i].why))
            fail_msg("%s: %s", rows[i].text, err.message);
        error_clear(&err);
    }
    assert_int_equal(read_long(512 * 1024 + 4, &csr, &err), -1);
    assert_non_null(strstr(err.message, "longer than 512 KiB"));
    assert_int_equal(read_long(512 * 1024, &csr, &err), -1); /* as text it is noughts */
    assert_non_null(strstr(err.message, "not base64 text"));
}

static void the_states_have_names(void **state) {
    (void)state;
    assert_string_equal(kube_csr_states[KUBE_CSR_PENDING], "pending");
    assert_string_equal(kube_csr_states[KUBE_CSR_APPROVED], "approved");
    assert_string_equal(kube_csr_states[KUBE_CSR_DENIED], "denied");
    assert_string_equal(kube_csr_states[KUBE_CSR_FAILED], "failed");
    assert_string_equal(kube_csr_states[KUBE_CSR_ISSUED], "issued");
}

/* ---- what is sent, and the wait for it ---- */

static int csr_note(void *context, const struct kube_csr *csr, unsigned waited_ms) {
    struct scene *s = context;

    (void)waited_ms;
    text_addf(&s->seen, "%s ", kube_csr_states[csr->state]);
    return 0;
}

#define SENT(...) ((struct kube_csr){.name = (char *)"csr-1", .uid = (char *)"u1", __VA_ARGS__})

static int csr_wait_from(struct scene *s, struct kube_csr sent, struct kube_csr *ret,
                         struct error *err) {
    text_clear(&s->seen);
    return kube_csr_wait(&s->client, &sent, 30000, csr_note, s, ret, err);
}

static int csr_wait(struct scene *s, struct kube_csr *ret, struct error *err) {
    return csr_wait_from(s, SENT(.version = NULL), ret, err);
}

#define CONDITION(type)                                                                            \
    "\"conditions\":[{\"type\":\"" type                                                            \
    "\",\"status\":\"True\",\"reason\":\"AutoApproved\",\"message\":\"words\"}]"

static void waits_for_the_certificate(void **state) {
    struct scene *s = *state;
    struct kube_csr csr = {0};

    PLAY(s,
         {"/apis/certificates.k8s.io/v1/certificatesigningrequests?fieldSelector=metadata.name%3D"
          "csr-1",
          200, LIST("10", CSR("")), 0, 0},
         {"watch", 200,
          EVENT("MODIFIED", CSR(",\"status\":{" CONDITION("Approved") "}"))
              EVENT("MODIFIED",
                    CSR(",\"status\":{" CONDITION("Approved") ",\"certificate\":\"Q0VSVA==\"}")),
          0, 0});
    assert_int_equal(csr_wait(s, &csr, NULL), 0);
    assert_string_equal(csr.certificate_pem, "CERT");
    assert_string_equal(csr.reason, "AutoApproved");
    assert_string_equal(text_str(&s->seen), "pending approved issued ");
    kube_csr_free(&csr);
}

#define ISSUED CSR(",\"status\":{" CONDITION("Approved") ",\"certificate\":\"Q0VSVA==\"}")

/* What the server answered to the request is not asked for again: one request until the end. */
static void watches_from_where_it_was_sent(void **state) {
    const struct kube_csr sent = SENT(.version = (char *)"5");
    struct scene *s = *state;
    struct kube_csr csr = {0};
    struct error err = {0};

    PLAY(s, {"csr-1&watch=true&allowWatchBookmarks=true&resourceVersion=5&", 200,
             EVENT("MODIFIED", ISSUED), 0, 0});
    assert_int_equal(csr_wait_from(s, sent, &csr, NULL), 0);
    assert_string_equal(csr.certificate_pem, "CERT");
    assert_int_equal(s->asked, 1);
    kube_csr_free(&csr);
    PLAY(s, {"resourceVersion=5", 200, EVENT("DELETED", CSR("")), 0, 0});
    assert_int_equal(csr_wait_from(s, sent, &csr, &err), -1);
    assert_int_equal(err.kind, ERROR_ABSENT);
    PLAY(s, {"resourceVersion=5", 200, "", 0, 30000});
    assert_int_equal(csr_wait_from(s, sent, &csr, &err), -1);
    assert_int_equal(err.kind, ERROR_TIMED_OUT);
    assert_non_null(strstr(err.message, "still pending: it has not been approved"));
}

/* Nothing more happens to one that was issued; a server that forbids to watch is listed. */
static void lists_what_no_watch_tells(void **state) {
    struct scene *s = *state;
    struct kube_csr csr = {0};

    PLAY(s, {"metadata.name%3Dcsr-1", 200, LIST("9", ISSUED), 0, 0});
    assert_int_equal(
        csr_wait_from(s, SENT(.version = (char *)"5", .state = KUBE_CSR_ISSUED), &csr, NULL), 0);
    assert_int_equal(s->asked, 1);
    kube_csr_free(&csr);
    PLAY(s, {"watch=true", 403, "{}", 0, 0},
         {"metadata.name%3Dcsr-1", 200, LIST("9", ISSUED), 0, 0});
    assert_int_equal(csr_wait_from(s, SENT(.version = (char *)"5"), &csr, NULL), 0);
    kube_csr_free(&csr);
}

static void tells_what_became_of_a_request(void **state) {
    static const struct {
        struct row first, second;
        enum error_kind kind;
        const char *why, *hint;
    } rows[] = {
        {{"", 200, LIST("10", CSR(",\"status\":{" CONDITION("Denied") "}")), 0, 0},
         {"", 200, "", 0, 0},
         ERROR_DENIED,
         "certificate signing request \"csr-1\" is denied, reason: AutoApproved, message: words",
         ""},
        {{"", 200, LIST("10", CSR(",\"status\":{" CONDITION("Failed") "}")), 0, 0},
         {"", 200, "", 0, 0},
         ERROR_DENIED,
         "failed, reason:",
         ""},
        {{"", 200, LIST("10", ""), 0, 0}, {"", 200, "", 0, 0}, ERROR_ABSENT, "was deleted", ""},
        {{"", 200, LIST("10", CSR("")), 0, 0},
         {"", 200, EVENT("DELETED", CSR("")), 0, 0},
         ERROR_ABSENT,
         "was deleted",
         ""},
        {{"", 200, LIST("10", "{\"metadata\":{\"name\":\"csr-1\",\"uid\":\"u2\"},\"spec\":{}}"), 0,
          0},
         {"", 200, "", 0, 0},
         ERROR_CONFLICT,
         "changed UIDs",
         ""},
        {{"", 200, LIST("10", CSR("")), 0, 0},
         {"", 200, "", 0, 30000},
         ERROR_TIMED_OUT,
         "still pending: it has not been approved: waited 30 s",
         "kubectl certificate approve csr-1"},
        {{"", 200, LIST("10", CSR(",\"status\":{" CONDITION("Approved") "}")), 0, 0},
         {"", 200, "", 0, 30000},
         ERROR_TIMED_OUT,
         "approved but not signed: waited 30 s",
         "--cluster-signing-cert-file"},
    };
    struct scene *s = *state;

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct row two[2] = {rows[i].first, rows[i].second};
        struct kube_csr csr = {0};
        struct error err = {0};

        s->rows = two;
        s->count = 2;
        s->asked = 0;
        assert_int_equal(csr_wait(s, &csr, &err), -1);
        assert_int_equal(err.kind, rows[i].kind);
        assert_non_null(strstr(err.message, rows[i].why));
        assert_non_null(strstr(err.hints[0], rows[i].hint));
    }
}

static void denied_wins_over_approved(void **state) {
    _cleanup_json_ json_t *object =
        json_loads(CSR(",\"status\":{\"conditions\":[{\"type\":\"Denied\"},{\"type\":\"Approved\"}]"
                       ",\"certificate\":\"Q0VSVA==\"}"),
                   0, NULL);
    struct kube_csr csr = {0};

    (void)state;
    assert_int_equal(kube_csr_from_json(object, &csr, NULL), 0);
    assert_int_equal(csr.state, KUBE_CSR_DENIED);
    kube_csr_free(&csr);
}

static void asks_as_the_kubelet(void **state) {
    struct scene *s = *state;
    struct kube_csr csr = {0};

    PLAY(s, {"/certificatesigningrequests", 201, CSR(""), 0, 0});
    assert_int_equal(kube_csr_create(&s->client, "PEM", KUBE_CSR_CLIENT_SIGNER, &csr, NULL), 0);
    kube_csr_free(&csr);
    assert_string_equal(
        s->sent,
        "{\"apiVersion\":\"certificates.k8s.io/v1\",\"kind\":\"CertificateSigningRequest\","
        "\"metadata\":{\"generateName\":\"csr-\"},\"spec\":{\"request\":\"UEVN\",\"signerName\":"
        "\"kubernetes.io/kube-apiserver-client-kubelet\",\"usages\":[\"digital "
        "signature\",\"client auth\"]}}");
}

static void asks_for_a_serving_certificate(void **state) {
    struct scene *s = *state;
    _cleanup_json_ json_t *object = NULL;
    struct kube_csr csr = {0};

    PLAY(s, {"/certificatesigningrequests", 201, CSR(""), 0, 0});
    assert_int_equal(kube_csr_create(&s->client, "PEM", KUBE_CSR_SERVING_SIGNER, &csr, NULL), 0);
    kube_csr_free(&csr);
    assert_int_equal(json_read(s->sent, strlen(s->sent), "body", &object, NULL), 0);
    assert_string_equal(json_text_at(object, "spec.signerName"), "kubernetes.io/kubelet-serving");
    assert_string_equal(json_text_at(object, "spec.usages.0"), "digital signature");
    assert_string_equal(json_text_at(object, "spec.usages.1"), "server auth");
    assert_int_equal(json_array_size(json_at(object, "spec.usages")), 2);
}

static int stop_csr(void *context, const struct kube_csr *csr, unsigned waited_ms) {
    (void)context, (void)csr;
    return waited_ms > 3000;
}

static void a_wait_can_be_stopped(void **state) {
    struct scene *s = *state;
    struct kube_csr csr = {0};
    struct error err = {0};

    PLAY(s, {"", 200, LIST("10", CSR("")), 0, 0}, {"watch", 200, "", 0, 30000});
    assert_int_equal(
        kube_csr_wait(&s->client, &SENT(.version = NULL), 30000, stop_csr, NULL, &csr, &err), -1);
    assert_int_equal(err.kind, ERROR_INTERRUPTED);
}

static void other_objects_do_not_matter(void **state) {
    struct scene *s = *state;
    struct kube_csr csr = {0};
    struct kube_node node = {0};

    /* a server that knows no field selectors */
    PLAY(s,
         {"", 200,
          LIST("10", "{\"metadata\":{\"name\":\"csr-0\",\"uid\":\"u0\"},\"spec\":{}}," CSR("")), 0,
          0},
         {"watch", 200,
          EVENT("DELETED", "{\"metadata\":{\"name\":\"csr-0\"},\"spec\":{}}")
              EVENT("MODIFIED",
                    CSR(",\"status\":{" CONDITION("Approved") ",\"certificate\":\"Q0VSVA==\"}")),
          0, 0});
    assert_int_equal(csr_wait(s, &csr, NULL), 0);
    assert_string_equal(csr.name, "csr-1");
    kube_csr_free(&csr);
    PLAY(s, {"", 200, LIST("10", "{\"metadata\":{\"name\":\"other\"}}," NODE("9", "")), 0, 0});
    assert_int_equal(
        kube_node_wait(&s->client, "win-1", KUBE_NODE_REGISTERED, 30000, NULL, NULL, &node, NULL),
        0);
    assert_string_equal(node.name, "win-1");
    kube_node_free(&node);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(finds_the_newest_of_its_node),
        cmocka_unit_test(refuses_what_is_no_request),
        cmocka_unit_test(the_states_have_names),
        CASE(waits_for_the_certificate),
        CASE(watches_from_where_it_was_sent),
        CASE(lists_what_no_watch_tells),
        CASE(tells_what_became_of_a_request),
        cmocka_unit_test(denied_wins_over_approved),
        CASE(asks_as_the_kubelet),
        CASE(asks_for_a_serving_certificate),
        CASE(a_wait_can_be_stopped),
        CASE(other_objects_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
