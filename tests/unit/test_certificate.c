/* Certificates made by the openssl command: what is read from them and who trusts whom. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/rfc3339.h"
#include "pki/certificate.h"
#include "tests/unit/certificate_vectors.h"

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
    assert_true(all.items[0].is_ca);
    assert_string_equal(all.items[1].issuer, "CN=kubernetes");
    assert_string_equal(all.items[1].serial, "4662");
    assert_string_equal(all.items[1].pin, SERVER_PIN);
    assert_false(all.items[1].is_ca);
    assert_string_equal(all.items[1].common_name, "kube-apiserver");
    assert_int_equal(all.items[1].organizations.count, 0);
    names = certificate_names(&all.items[1]);
    assert_string_equal(names, "kubernetes, kubernetes.default, 10.0.0.10, fd00::1");
    assert_string_equal(all.items[2].subject, "CN=other,O=Other");
    assert_string_equal(all.items[2].pin, OTHER_PIN);
    no_names = certificate_names(&all.items[2]);
    assert_string_equal(no_names, "no name at all");
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

static void keeps_to_gos_rules(void **state) {
    static const char *const no_blocks[] = {
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATF-----\n",
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----x\n",
        "-----BEGIN CERTIFICATE----\nAAAA\n-----END CERTIFICATE-----\n",
        "-----BEGIN CERTIFICATE-----\nAAAA\n",
        "x-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE----\n",
        "-----BEGIN 0123456789012345678901234567890123456789012345678901234567890123456789-----\n"
        "AAAA\n"
        "-----END 0123456789012345678901234567890123456789012345678901234567890123456789-----\n",
        "-----BEGIN -----\nAAAA\n-----END -----\n",
        "-----BEGIN \n-----\n",
    };
    struct certificates all = {0};
    struct error err = {0};

    (void)state;
    assert_int_equal(parse("text before\n" CLIENT_KEY_PEM CA_PEM "junk behind", &all, NULL), 0);
    assert_int_equal(all.count, 1);
    certificates_free(&all);
    assert_int_equal(parse("", &all, &err), -1);
    assert_int_equal(err.kind, ERROR_MALFORMED);
    assert_string_equal(err.message, "data does not contain any valid RSA or ECDSA certificates");
    assert_int_equal(parse(CLIENT_KEY_PEM, &all, NULL), -1);
    /* headers: skipped; a damaged block: stepped over; a block that is no certificate: an error */
    assert_int_equal(
        parse("-----BEGIN CERTIFICATE-----\na: b\n\nAAAA\n-----END CERTIFICATE-----\n", &all, &err),
        -1);
    assert_non_null(strstr(err.message, "does not contain"));
    for (size_t i = 0; i < ARRAY_SIZE(no_blocks); i++) {
        _cleanup_(freep) char *text = xasprintf("%s%s", no_blocks[i], CA_PEM);

        assert_int_equal(parse(text, &all, NULL), 0);
        assert_int_equal(all.count, 1);
        assert_string_equal(all.items[0].pin, CA_PIN);
        certificates_free(&all);
    }
    assert_int_equal(
        parse("-----BEGIN CERTIFICATE-----\n*\n-----END CERTIFICATE-----\n" CA_PEM, &all, NULL), 0);
    assert_int_equal(all.count, 1);
    certificates_free(&all);
    assert_int_equal(
        parse(CA_PEM "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", &all, &err),
        -1);
    assert_non_null(strstr(err.message, "read a certificate"));
    assert_int_equal(all.count, 0);
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
    assert_int_equal(certificate_check_chain(CLIENT_PEM, CA_PEM, true, now, &err), -1);
    assert_int_equal(certificate_check_chain(SERVER_PEM, CA_PEM, true, now, NULL), 0);
    certificates_free(&all);
}

static void knows_its_names(void **state) {
    static const char *const covered[] = {"kubernetes", "KUBERNETES.default", "10.0.0.10",
                                          "fd00:0:0::1"};
    static const char *const others[] = {"kube-apiserver", "10.0.0.1", "fd00::2",
                                         "default",        "",         "kubernetes.default.svc"};
    struct certificates all = {0};
    struct certificate star = {0};

    (void)state;
    assert_int_equal(parse(SERVER_PEM, &all, NULL), 0);
    for (size_t i = 0; i < ARRAY_SIZE(covered); i++)
        assert_true(certificate_covers(&all.items[0], covered[i]));
    for (size_t i = 0; i < ARRAY_SIZE(others); i++)
        assert_false(certificate_covers(&all.items[0], others[i]));
    certificates_free(&all);
    text_list_add(&star.dns_names, "*.example.com");
    assert_true(certificate_covers(&star, "api.Example.com"));
    assert_false(certificate_covers(&star, "a.b.example.com"));
    assert_false(certificate_covers(&star, "example.com"));
    assert_false(certificate_covers(&star, ".example.com"));
    text_list_free(&star.dns_names);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_openssl_shows), cmocka_unit_test(takes_the_last_common_name),
        cmocka_unit_test(keeps_to_gos_rules),       cmocka_unit_test(finds_pins),
        cmocka_unit_test(looks_at_dates),           cmocka_unit_test(matches_keys),
        cmocka_unit_test(follows_chains),           cmocka_unit_test(knows_its_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
