/* CertificateSigningRequests: which of many is found, and what is no such object. */
#include "base/base64.h"
#include "pki/csr.h"
#include "tests/unit/certificate_vectors.h"
#include "tests/unit/kube_scene.h"

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
    assert_string_equal(kube_csr_state_name(KUBE_CSR_PENDING), "pending");
    assert_string_equal(kube_csr_state_name(KUBE_CSR_APPROVED), "approved");
    assert_string_equal(kube_csr_state_name(KUBE_CSR_DENIED), "denied");
    assert_string_equal(kube_csr_state_name(KUBE_CSR_FAILED), "failed");
    assert_string_equal(kube_csr_state_name(KUBE_CSR_ISSUED), "issued");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(finds_the_newest_of_its_node, setup, teardown),
        cmocka_unit_test(refuses_what_is_no_request),
        cmocka_unit_test(the_states_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
