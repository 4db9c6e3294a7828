/* Certificates made by the openssl command: what is read from them and who trusts whom. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <openssl/err.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include "base/base64.h"
#include "base/memory.h"
#include "base/rfc3339.h"
#include "pki/certificate.h"
#include "tests/scene/certificate_vectors.h"

static int parse(const char *pem, struct certificates *ret, struct error *err) {
    return certificates_parse(pem, strlen(pem), ret, err);
}

static void reads_what_openssl_shows(void **state) {
    struct certificates all = {0};
    char end[RFC3339_TEXT_MAX];
    _cleanup_(freep) char *names = NULL, *no_names = NULL;

    (void)state;
    assert_int_equal(parse(CA_PEM SERVER_PEM OTHER_PEM CLIENT_PEM, &all, NULL), 0);
    assert_int_equal(all.count, 4);
    assert_string_equal(all.items[0].subject, "CN=kubernetes");
    assert_string_equal(all.items[0].pin, CA_PIN);
    assert_string_equal(all.items[1].issuer, "CN=kubernetes");
    assert_string_equal(all.items[1].pin, SERVER_PIN);
    assert_string_equal(all.items[1].common_name, "kube-apiserver");
    assert_int_equal(all.items[1].organizations.count, 0);
    names = certificate_names(&all.items[1]);
    assert_string_equal(names, "kubernetes, kubernetes.default, 10.0.0.10, fd00::1");
    assert_string_equal(all.items[2].subject, "CN=other,O=Other");
    assert_string_equal(all.items[2].pin, OTHER_PIN);
    no_names = certificate_names(&all.items[2]);
    assert_string_equal(no_names, "no name");
    assert_string_equal(all.items[3].common_name, "system:node:win-1");
    assert_int_equal(all.items[3].organizations.count, 1);
    assert_string_equal(all.items[3].organizations.items[0], "system:nodes");
    rfc3339_format(all.items[0].not_after, end);
    assert_string_equal(end, CA_NOT_AFTER);
    rfc3339_format(all.items[0].not_before, end);
    assert_string_equal(end, CA_NOT_BEFORE);
    rfc3339_format(all.items[1].not_before, end);
    assert_string_equal(end, SERVER_NOT_BEFORE);
    rfc3339_format(all.items[2].not_before, end);
    assert_string_equal(end, OTHER_NOT_BEFORE);
    rfc3339_format(all.items[3].not_before, end);
    assert_string_equal(end, CLIENT_NOT_BEFORE);
    certificates_free(&all);
}

static void takes_the_last_common_name(void **state) {
    struct certificates all = {0};

    (void)state;
    assert_int_equal(parse(TWO_NAMES_PEM, &all, NULL), 0);
    assert_string_equal(all.items[0].common_name, "last");
    assert_int_equal(all.items[0].organizations.count, 1);
    certificates_free(&all);
}

/* Cut at its NUL it would be another name. */
static void a_name_with_a_nul_is_none(void **state) {
    struct certificates all = {0};
    _cleanup_(freep) char *names = NULL;

    (void)state;
    assert_int_equal(parse(NUL_NAME_PEM NAMES_PEM, &all, NULL), 0);
    assert_string_equal(all.items[0].common_name, "");
    assert_string_equal(all.items[0].subject, "O=a,CN=system:node:win-1\\00");
    assert_string_equal(all.items[0].organizations.items[0], "a");
    names = certificate_names(&all.items[1]);
    assert_string_equal(names, "*.example.com, , *");
    certificates_free(&all);
}

static void reads_certificates_among_other_things(void **state) {
    static const char *const others[] = {
        "x-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        "-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\n",
        "-----BEGIN TRUSTED CERTIFICATE-----\nAAAA\n-----END TRUSTED CERTIFICATE-----\n",
        "-----BEGIN CERTIFICATE-----\na: b\n\nAAAA\n-----END CERTIFICATE-----\n",
        "text before\n" CLIENT_KEY_PEM,
        "\r\n",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
        _cleanup_(freep) char *text = xasprintf("%s%sjunk behind", others[i], CA_PEM),
                              *plain = NULL;
        struct certificates all = {0};
        struct error err = {0};

        if (parse(text, &all, &err) < 0)
            fail_msg("%s: %s", others[i], err.message);
        assert_int_equal(all.count, 1);
        assert_string_equal(all.items[0].pin, CA_PIN);
        certificates_free(&all);
        plain = certificates_plain(text, strlen(text), NULL, NULL);
        assert_string_equal(plain, CA_PEM);
        assert_int_equal(parse(others[i], &all, &err), -1);
        assert_string_equal(err.message,
                            "data does not contain any valid RSA or ECDSA certificates");
        assert_int_equal(err.kind, ERROR_MALFORMED);
    }
}

static void refuses_what_is_damaged(void **state) {
    static const char *const damaged[] = {
        CA_PEM "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        CA_PEM "-----BEGIN CERTIFICATE-----\n*\n-----END CERTIFICATE-----\n",
        CA_PEM "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATF-----\n",
        CA_PEM "-----BEGIN CERTIFICATE-----\nAAAA\n",
        "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n" CA_PEM,
        CA_PEM "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n" OTHER_PEM,
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(damaged); i++) {
        struct certificates all = {0};
        struct error err = {0};

        ERR_raise(ERR_LIB_PEM, PEM_R_NO_START_LINE); /* left by another reading */
        assert_int_equal(parse(damaged[i], &all, &err), -1);
        assert_int_equal(err.kind, ERROR_MALFORMED);
        assert_non_null(strstr(err.message, "read "));
        assert_null(strstr(err.message, "no reason"));
        assert_int_equal(all.count, 0);
        assert_null(certificates_plain(damaged[i], strlen(damaged[i]), NULL, NULL));
    }
}

/* The DER of a PEM block with `more` behind it, as a block. */
static char *extended(const char *pem, const char *more) {
    _cleanup_(freep) char *text = NULL, *encoded = NULL;
    const char *begin = strchr(pem, '\n'), *end = strstr(pem, "-----END");
    unsigned char *der = NULL, *longer;
    struct text body = {0};
    size_t len = 0;

    for (const char *p = begin; p < end; p++)
        if (*p != '\n')
            text_add_char(&body, *p);
    assert_int_equal(base64_decode(text_str(&body), body.len, &der, &len, NULL), 0);
    longer = xrealloc(der, len + strlen(more));
    memcpy(longer + len, more, strlen(more));
    encoded = base64_encode(longer, len + strlen(more));
    free(longer);
    text_free(&body);
    return xasprintf("-----BEGIN CERTIFICATE-----\n%s\n-----END CERTIFICATE-----\n", encoded);
}

static void one_block_is_one_certificate(void **state) {
    _cleanup_(freep) char *same = extended(CA_PEM, ""), *more = extended(CA_PEM, "x");
    struct certificates all = {0};
    struct error err = {0};

    (void)state;
    assert_int_equal(parse(same, &all, NULL), 0);
    certificates_free(&all);
    assert_int_equal(parse(more, &all, &err), -1);
    assert_string_equal(err.message, "read a certificate: extra data follows it");
}

static void a_bundle_has_at_most_1024(void **state) {
    struct certificates all = {0};
    struct error err = {0};
    struct text many = {.cap = 1024 * 1024};

    (void)state;
    for (size_t i = 0; i < CERTIFICATES_MAX; i++)
        text_add(&many, CA_PEM);
    assert_int_equal(parse(text_str(&many), &all, NULL), 0);
    assert_int_equal(all.count, CERTIFICATES_MAX);
    certificates_free(&all);
    text_add(&many, CA_PEM);
    assert_int_equal(parse(text_str(&many), &all, &err), -1);
    assert_non_null(strstr(err.message, "more than 1024 in one bundle"));
    text_free(&many);
}

static void shows_sixteen_names(void **state) {
    struct certificate c = {0};
    char *names;

    (void)state;
    for (size_t i = 0; i < 15; i++)
        text_list_add(&c.dns_names, "a");
    text_list_add(&c.ip_addresses, "10.0.0.1");
    names = certificate_names(&c);
    assert_string_equal(names + strlen(names) - strlen(", a, 10.0.0.1"), ", a, 10.0.0.1");
    free(names);
    text_list_add(&c.ip_addresses, "10.0.0.2");
    names = certificate_names(&c);
    assert_non_null(strstr(names, ", a, 10.0.0.1, and 1 more"));
    free(names);
    text_list_free(&c.dns_names);
    text_list_free(&c.ip_addresses);
}

static void describes_one(void **state) {
    struct certificates all = {0};
    char *line;

    (void)state;
    assert_int_equal(parse(CA_PEM, &all, NULL), 0);
    line = certificate_describe(&all.items[0]);
    assert_string_equal(line, CA_PIN " (CN=kubernetes, valid from " CA_NOT_BEFORE
                                     " to " CA_NOT_AFTER ")");
    free(line);
    certificates_free(&all);
}

static void finds_pins(void **state) {
    struct certificates all = {0};
    struct text_list pins = {0};

    (void)state;
    assert_int_equal(parse(CA_PEM OTHER_PEM, &all, NULL), 0);
    assert_int_equal(certificates_find_pin(&all, &pins), -1);
    text_list_add(&pins, SERVER_PIN);
    assert_int_equal(certificates_find_pin(&all, &pins), -1);
    text_list_add(&pins, OTHER_PIN);
    assert_int_equal(certificates_find_pin(&all, &pins), 1);
    text_list_free(&pins);
    certificates_free(&all);
}

static void looks_at_dates(void **state) {
    struct certificates all = {0};
    struct error err = {0};

    (void)state;
    assert_int_equal(parse(CA_PEM, &all, NULL), 0);
    assert_int_equal(certificate_check_dates(&all.items[0], all.items[0].not_before, NULL), 0);
    assert_int_equal(certificate_check_dates(&all.items[0], all.items[0].not_after, NULL), 0);
    assert_int_equal(certificate_check_dates(&all.items[0], all.items[0].not_before - 1, &err), -1);
    assert_int_equal(err.kind, ERROR_UNTRUSTED);
    assert_non_null(strstr(err.message, " is before "));
    assert_int_equal(certificate_check_dates(&all.items[0], all.items[0].not_after + 1, &err), -1);
    assert_non_null(strstr(err.message, " is after " CA_NOT_AFTER));
    certificates_free(&all);
}

static void matches_keys(void **state) {
    struct error err = {0};

    (void)state;
    assert_int_equal(certificate_check_key(CLIENT_PEM CA_PEM, CLIENT_KEY_PEM, NULL), 0);
    assert_int_equal(certificate_check_key(CLIENT_PEM, SERVER_KEY_PEM, &err), -1);
    assert_int_equal(err.kind, ERROR_UNTRUSTED);
    assert_string_equal(err.message, "check the certificate: it does not match this node's key");
    /* it says that it is the certificate's, and is another */
    assert_int_equal(certificate_check_key(CLIENT_PEM, MIXED_KEY_PEM, &err), -1);
    assert_int_equal(err.kind, ERROR_MALFORMED);
    assert_string_equal(err.message, "read a private key: invalid data");
    assert_int_equal(certificate_check_key(CLIENT_PEM, "no key", &err), -1);
    assert_int_equal(err.kind, ERROR_MALFORMED);
    assert_int_equal(certificate_check_key("no certificate", CLIENT_KEY_PEM, &err), -1);
    assert_int_equal(err.kind, ERROR_MALFORMED);
}

static void follows_chains(void **state) {
    struct certificates all = {0};
    struct error err = {0};
    int64_t now;

    (void)state;
    assert_int_equal(parse(CLIENT_PEM, &all, NULL), 0);
    now = all.items[0].not_before + 60;
    assert_int_equal(certificate_check_chain(CLIENT_PEM, OTHER_PEM CA_PEM, false, now, NULL), 0);
    assert_int_equal(certificate_check_chain(CLIENT_PEM, OTHER_PEM, false, now, &err), -1);
    assert_int_equal(err.kind, ERROR_UNTRUSTED);
    assert_int_equal(
        certificate_check_chain(CLIENT_PEM, CA_PEM, false, all.items[0].not_after + 1, &err), -1);
    assert_non_null(strstr(err.message, "expired"));
    assert_int_equal(certificate_check_chain(CLIENT_PEM, CA_PEM, false, -1, NULL), 0);
    assert_int_equal(certificate_check_chain(CLIENT_PEM, OTHER_PEM, false, -1, NULL), -1);
    assert_int_equal(certificate_check_chain(CLIENT_PEM, CA_PEM, false, 0, &err), -1);
    assert_non_null(strstr(err.message, "not yet valid"));
    assert_int_equal(certificate_check_chain(CLIENT_PEM, CA_PEM, true, now, &err), -1);
    assert_int_equal(certificate_check_chain(SERVER_PEM, CA_PEM, true, now, NULL), 0);
    /* a client's certificate is not a CA, wherever it is */
    assert_int_equal(certificate_check_chain(BELOW_PEM CLIENT_PEM, CA_PEM, false, now, &err), -1);
    assert_int_equal(certificate_check_chain(BELOW_PEM, CLIENT_PEM, false, now, &err), -1);
    assert_int_equal(err.kind, ERROR_UNTRUSTED);
    assert_int_equal(certificate_check_chain(CLIENT_PEM, "no CA", false, now, &err), -1);
    assert_int_equal(err.kind, ERROR_MALFORMED);
    certificates_free(&all);
}

static void knows_its_names(void **state) {
    static const char *const covered[] = {"kubernetes", "KUBERNETES.default", "10.0.0.10",
                                          "fd00:0:0::1"};
    static const char *const others[] = {"kube-apiserver",  "10.0.0.1", "fd00::2",
                                         "default",         "",         "kubernetes.default.svc",
                                         "::ffff:10.0.0.10"};
    static const char *const not_meant[] = {"a.b.example.com", "example.com", ".example.com",
                                            "api.test",        "cn.test",     "localhost",
                                            "kubernetes",      "10.0.0.10"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(covered); i++)
        assert_true(certificate_covers(SERVER_PEM, covered[i]));
    for (size_t i = 0; i < ARRAY_SIZE(others); i++)
        assert_false(certificate_covers(SERVER_PEM, others[i]));
    assert_true(certificate_covers(NAMES_PEM SERVER_PEM, "api.Example.com"));
    for (size_t i = 0; i < ARRAY_SIZE(not_meant); i++)
        if (certificate_covers(NAMES_PEM SERVER_PEM, not_meant[i]))
            fail_msg("'%s' is covered", not_meant[i]);
    assert_false(certificate_covers("no certificate", "kubernetes"));
}

/* What a call leaves in OpenSSL's queue of errors is taken for the reason of a later one's. */
static int nothing_is_left(void **state) {
    (void)state;
    return ERR_peek_error() ? -1 : 0;
}

int main(void) {
#define CASE(name) cmocka_unit_test_teardown(name, nothing_is_left)
    const struct CMUnitTest tests[] = {
        CASE(reads_what_openssl_shows),
        CASE(takes_the_last_common_name),
        CASE(a_name_with_a_nul_is_none),
        CASE(reads_certificates_among_other_things),
        CASE(refuses_what_is_damaged),
        CASE(one_block_is_one_certificate),
        CASE(a_bundle_has_at_most_1024),
        CASE(shows_sixteen_names),
        CASE(describes_one),
        CASE(finds_pins),
        CASE(looks_at_dates),
        CASE(matches_keys),
        CASE(follows_chains),
        CASE(knows_its_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
