/* Detached signatures against vectors made with Python's hmac. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "pki/token.h"

#define PAYLOAD "apiVersion: v1\nkind: Config\n"
#define SIGNATURE                                                                                  \
    "eyJhbGciOiJIUzI1NiIsImtpZCI6ImFiY2RlZiJ9..vH_kT4yiol-nrAWgjfCYqvum5wsKETXe0S7OOp1VgnE"

static void makes_what_python_makes(void **state) {
    unsigned char bytes[256];
    _cleanup_(freep) char *plain = NULL, *empty = NULL, *binary = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)i;
    plain = jws_make("abcdef", "0123456789abcdef", PAYLOAD, strlen(PAYLOAD));
    assert_string_equal(plain, SIGNATURE);
    empty = jws_make("abcdef", "", "", 0);
    assert_string_equal(
        empty,
        "eyJhbGciOiJIUzI1NiIsImtpZCI6ImFiY2RlZiJ9..rsvyKzty_EA5Ntmg4HihpQentx3eMOPxOChBVpcuQrU");
    binary = jws_make("zzzzzz", "aaaaaaaaaaaaaaaa", bytes, sizeof bytes);
    assert_string_equal(
        binary,
        "eyJhbGciOiJIUzI1NiIsImtpZCI6Inp6enp6eiJ9..5pk4w2pEbglT15_mIqI7fWamiweXpWd89YHs7MzVAKI");
}

static void verifies_only_the_whole_text(void **state) {
    static const char *const wrong[] = {
        "",
        "..",
        SIGNATURE "\n",
        SIGNATURE "=",
        "fyJhbGciOiJIUzI1NiIsImtpZCI6ImFiY2RlZiJ9..vH_kT4yiol-nrAWgjfCYqvum5wsKETXe0S7OOp1VgnE",
        "eyJhbGciOiJIUzI1NiIsImtpZCI6ImFiY2RlZiJ9..vH_kT4yiol-nrAWgjfCYqvum5wsKETXe0S7OOp1Vgn",
        "eyJhbGciOiJIUzI1NiIsImtpZCI6ImFiY2RlZiJ9..vH_kT4yiol-nrAWgjfCYqvum5wsKETXe0S7OOp1VgnF",
        /* the members in another order, signed rightly */
        "eyJraWQiOiJhYmNkZWYiLCJhbGciOiJIUzI1NiJ9..vH_kT4yiol-nrAWgjfCYqvum5wsKETXe0S7OOp1VgnE",
    };
    struct error err = {0};

    (void)state;
    assert_int_equal(
        jws_verify(SIGNATURE, "abcdef", "0123456789abcdef", PAYLOAD, strlen(PAYLOAD), NULL), 0);
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        assert_int_equal(
            jws_verify(wrong[i], "abcdef", "0123456789abcdef", PAYLOAD, strlen(PAYLOAD), &err), -1);
        assert_int_equal(err.kind, ERROR_UNTRUSTED);
    }
}

static void depends_on_every_input(void **state) {
    (void)state;
    assert_int_equal(
        jws_verify(SIGNATURE, "abcdeg", "0123456789abcdef", PAYLOAD, strlen(PAYLOAD), NULL), -1);
    assert_int_equal(
        jws_verify(SIGNATURE, "abcdef", "0123456789abcdee", PAYLOAD, strlen(PAYLOAD), NULL), -1);
    assert_int_equal(
        jws_verify(SIGNATURE, "abcdef", "0123456789abcdef", PAYLOAD, strlen(PAYLOAD) - 1, NULL),
        -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(makes_what_python_makes),
        cmocka_unit_test(verifies_only_the_whole_text),
        cmocka_unit_test(depends_on_every_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
