/* Keys and certificate requests: what the signer of kubelet client certificates insists on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "pki/csr.h"
#include "pki/key.h"
#include "tests/unit/certificate_vectors.h"

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
    assert_int_equal(csr_make(CLIENT_KEY_PEM, "win-1", &request, NULL), 0);
    assert_ptr_equal(strstr(request, "-----BEGIN CERTIFICATE REQUEST-----\n"), request);
    assert_true(csr_is_ours(request, CLIENT_KEY_PEM, "win-1"));
    assert_false(csr_is_ours(request, CLIENT_KEY_PEM, "win-2"));
    assert_false(csr_is_ours(request, SERVER_KEY_PEM, "win-1"));
    assert_false(csr_is_ours("", CLIENT_KEY_PEM, "win-1"));
    /* one made by the openssl command for the same key and subject */
    assert_true(csr_is_ours(CLIENT_CSR_PEM, CLIENT_KEY_PEM, "win-1"));

    assert_int_equal(csr_make(p384_key_pem, "win-1", &other, NULL), 0);
    assert_true(csr_is_ours(other, p384_key_pem, "win-1"));

    long_name = xmalloc(254);
    memset(long_name, 'a', 253);
    long_name[253] = '\0';
    assert_int_equal(csr_make(CLIENT_KEY_PEM, long_name, &long_request, NULL), 0);
    assert_true(csr_is_ours(long_request, CLIENT_KEY_PEM, long_name));
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        _cleanup_(freep) char *made = NULL;

        assert_int_equal(csr_make(CLIENT_KEY_PEM, names[i], &made, NULL), 0);
        assert_true(csr_is_ours(made, CLIENT_KEY_PEM, names[i]));
        assert_false(csr_is_ours(made, CLIENT_KEY_PEM, "win-1"));
    }
    assert_true(csr_is_ours(CLIENT_CSR_PEM, CLIENT_KEY_PEM, "win-1"));
    assert_false(csr_is_ours("", CLIENT_KEY_PEM, "win-1"));
    memset(longer, 'a', 254);
    assert_int_equal(csr_make(CLIENT_KEY_PEM, longer, &request, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    assert_int_equal(csr_make(CLIENT_KEY_PEM, "", &request, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    assert_int_equal(csr_make(CLIENT_KEY_PEM, "Win", &request, NULL), -1);
    assert_int_equal(csr_make("no key", "win-1", &request, &err), -1);
    assert_int_equal(err.kind, ERROR_MALFORMED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(makes_keys_as_the_kubelet),
        cmocka_unit_test(requests_are_recognised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
