/* Keys and certificate requests: what the signer of kubelet client certificates insists on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "base/memory.h"
#include "pki/certificate.h"
#include "tests/scene/certificate_vectors.h"

static void makes_keys_as_the_kubelet(void **state) {
    _cleanup_(secret_freep) char *key = NULL, *other = NULL;
    struct error err = {0};

    (void)state;
    assert_int_equal(key_generate(&key, NULL), 0);
    assert_int_equal(key_generate(&other, NULL), 0);
    assert_string_not_equal(key, other);
    assert_ptr_equal(strstr(key, "-----BEGIN EC PRIVATE KEY-----\n"), key);
    assert_int_equal(key_check(key, NULL), 0);
    assert_int_equal(key_check(CLIENT_KEY_PEM, NULL), 0);
    assert_int_equal(key_check(CA_PEM, &err), -1);
    assert_int_equal(err.kind, ERROR_MALFORMED);
    assert_non_null(strstr(err.message, "read a private key: "));
    assert_int_equal(key_check("", NULL), -1);
    assert_int_equal(key_check(CA_PEM CLIENT_KEY_PEM, NULL), 0);
    assert_int_equal(key_check(LOCKED_KEY_PEM, &err),
                     -1); /* and nobody is asked for its password */
}

/* Left by another program: not of P-256. */
static const char p384_key_pem[] =
    "-----BEGIN EC PRIVATE KEY-----\n"
    "MIGkAgEBBDDzZdPOB5zvH+HC3fmVL/s3sLjff1SnsRgsq9cc+FJh6ABCDsAx+h7A\n"
    "MRzPUFWX0rigBwYFK4EEACKhZANiAATc+BS0411vCu6L+T72KLpdLUSj1IoDD4uX\n"
    "x5R43WGLPARPCTvM7/wd95vkzauPXIl9nyfFui/BQK6wRTu9ofFKODWfeGgpsLZ3\n"
    "VFdvo1CQWK4CShsogExx9Gq0SQMkNMM=\n"
    "-----END EC PRIVATE KEY-----\n";

static void requests_are_recognised(void **state) {
    _cleanup_(freep) char *request = NULL, *other = NULL, *long_name = NULL, *long_request = NULL;
    static const char *const names[] = {"0", "9.z", "a-b"};
    char longer[255] = "";
    struct error err = {0};

    (void)state;
    assert_int_equal(csr_make(CLIENT_KEY_PEM, "win-1", NULL, &request, NULL), 0);
    assert_ptr_equal(strstr(request, "-----BEGIN CERTIFICATE REQUEST-----\n"), request);
    assert_true(csr_is_ours(request, CLIENT_KEY_PEM, "win-1"));
    assert_false(csr_is_ours(request, CLIENT_KEY_PEM, "win-2"));
    assert_false(csr_is_ours(request, SERVER_KEY_PEM, "win-1"));
    assert_false(csr_is_ours("", CLIENT_KEY_PEM, "win-1"));
    /* one made by the openssl command for the same key and subject */
    assert_true(csr_is_ours(CLIENT_CSR_PEM, CLIENT_KEY_PEM, "win-1"));

    assert_int_equal(csr_make(p384_key_pem, "win-1", NULL, &other, NULL), 0);
    assert_true(csr_is_ours(other, p384_key_pem, "win-1"));

    long_name = xmalloc(254);
    memset(long_name, 'a', 253);
    long_name[253] = '\0';
    assert_int_equal(csr_make(CLIENT_KEY_PEM, long_name, NULL, &long_request, NULL), 0);
    assert_true(csr_is_ours(long_request, CLIENT_KEY_PEM, long_name));
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        _cleanup_(freep) char *made = NULL;

        assert_int_equal(csr_make(CLIENT_KEY_PEM, names[i], NULL, &made, NULL), 0);
        assert_true(csr_is_ours(made, CLIENT_KEY_PEM, names[i]));
        assert_false(csr_is_ours(made, CLIENT_KEY_PEM, "win-1"));
    }
    assert_true(csr_is_ours(CLIENT_CSR_PEM, CLIENT_KEY_PEM, "win-1"));
    assert_false(csr_is_ours("", CLIENT_KEY_PEM, "win-1"));
    memset(longer, 'a', 254);
    assert_int_equal(csr_make(CLIENT_KEY_PEM, longer, NULL, &request, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    assert_int_equal(csr_make(CLIENT_KEY_PEM, "", NULL, &request, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    assert_int_equal(csr_make(CLIENT_KEY_PEM, "Win", NULL, &request, NULL), -1);
    assert_int_equal(csr_make("no key", "win-1", NULL, &request, &err), -1);
    assert_int_equal(err.kind, ERROR_MALFORMED);
}

/* As OpenSSL prints them; NULL: it has none. The caller frees. */
static char *alternative_names(const char *request_pem) {
    BIO *in = BIO_new_mem_buf(request_pem, -1), *out = BIO_new(BIO_s_mem());
    X509_REQ *request = PEM_read_bio_X509_REQ(in, NULL, NULL, NULL);
    STACK_OF(X509_EXTENSION) *all = X509_REQ_get_extensions(request);
    int at = X509v3_get_ext_by_NID(all, NID_subject_alt_name, -1);
    char *data = NULL, *text = NULL;
    long len;

    if (at >= 0) {
        assert_int_equal(X509V3_EXT_print(out, X509v3_get_ext(all, at), 0, 0), 1);
        len = BIO_get_mem_data(out, &data);
        text = xstrndup(data, (size_t)len);
    }
    sk_X509_EXTENSION_pop_free(all, X509_EXTENSION_free);
    X509_REQ_free(request);
    BIO_free(in);
    BIO_free(out);
    return text;
}

static void names_of_a_server(void **state) {
    _cleanup_(text_list_free) struct text_list dns = {0}, ip = {0};
    const struct csr_names names = {&dns, &ip};
    _cleanup_(freep) char *plain = NULL, *request = NULL, *seen = NULL, *wrong = NULL;
    struct error err = {0};

    (void)state;
    assert_int_equal(csr_make(CLIENT_KEY_PEM, "win-1", NULL, &plain, NULL), 0);
    assert_null(alternative_names(plain));
    text_list_add(&dns, "win-1");
    text_list_add(&dns, "win-1.example.com");
    text_list_add(&ip, "10.0.0.21");
    text_list_add(&ip, "fd00::21");
    assert_int_equal(csr_make(CLIENT_KEY_PEM, "win-1", &names, &request, NULL), 0);
    assert_true(csr_is_ours(request, CLIENT_KEY_PEM, "win-1"));
    seen = alternative_names(request);
    assert_string_equal(seen, "DNS:win-1, DNS:win-1.example.com, IP Address:10.0.0.21, "
                              "IP Address:FD00:0:0:0:0:0:0:21");
    text_list_add(&ip, "10.0.0.256");
    text_list_add(&ip, "10.0.0.22");
    assert_int_equal(csr_make(CLIENT_KEY_PEM, "win-1", &names, &wrong, &err), -1);
    assert_int_equal(err.kind, ERROR_MALFORMED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(makes_keys_as_the_kubelet),
        cmocka_unit_test(requests_are_recognised),
        cmocka_unit_test(names_of_a_server),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
