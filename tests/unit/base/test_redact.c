/* Tokens in texts for people. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/redact.h"
#include "base/text.h"

static void tokens_are_hidden(void **state) {
    static const char *const rows[][2] = {
        {"", ""},
        {".", "."},
        {"abcdef.0123456789abcdef", "abcdef.****************"},
        {"unknown flag: --abcdef.0123456789abcdef", "unknown flag: --abcdef.****************"},
        {"\"abcdef.0123456789abcdef\", x", "\"abcdef.****************\", x"},
        {"a=abcdef.0123456789abcdef\nb abcdef.0123456789abcdef",
         "a=abcdef.****************\nb abcdef.****************"},
        {"abcdef.0123456789abcde", "abcdef.0123456789abcde"},
        {"bcdef.0123456789abcdef", "bcdef.0123456789abcdef"},
        {"abcdeF.0123456789abcdef", "abcdeF.0123456789abcdef"},
        /* glued to other letters */
        {"--tokenabcdef.0123456789abcdef", "--tokenabcdef.****************"},
        {"abcdef.0123456789abcdef0", "abcdef.*****************"},
        {"Xabcdef.0123456789abcdefX", "Xabcdef.****************X"},
        {"www.abcdef.0123456789abcdef", "www.abcdef.****************"},
        {"abcdef.0123456789abcdef.", "abcdef.****************."},
        {"abcdef.0123456789abcdef.example", "abcdef.****************.example"},
        {"abcdef.0123456789abcdef@10.0.0.1:1", "abcdef.****************@10.0.0.1:1"},
        {"abcdef.0123456789abcdef.0123456789abcdef", "abcdef.****************.****************"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        char *text = xstrdup(rows[i][0]);

        redact_tokens(text);
        assert_string_equal(text, rows[i][1]);
        freep(&text);
    }
}

/* A message shows the beginning of a long value. */
static void a_cut_token_is_hidden(void **state) {
    char cut[] = "x \"abcdef.0123456\", abcdef. or ghijkl.0123456", whole[] = "abcdef.0123";

    (void)state;
    redact_learn("--vni=xabcdef.0123456789abcdef");
    redact_tokens(cut);
    assert_string_equal(cut, "x \"abcdef.*******\", abcdef. or ghijkl.0123456");
    redact_forget();
    redact_tokens(whole);
    assert_string_equal(whole, "abcdef.0123");
}

static void errors_hide_them(void **state) {
    struct error err = {0};

    (void)state;
    (void)error_set(&err, ERROR_USAGE, "what is %s", "abcdef.0123456789abcdef");
    (void)error_hint(&err, "not %s", "abcdef.0123456789abcdef");
    assert_string_equal(err.message, "what is abcdef.****************");
    assert_string_equal(err.hints[0], "not abcdef.****************");
}

/* What the files of a node hold; the second column is what is left. */
static void secrets_of_files_are_hidden(void **state) {
    static const char *const rows[][2] = {
        {"x abcdef.0123456789abcdef", "x abcdef.****************"},
        {"token: s3cr3t\nnext: 1", "token: ******\nnext: 1"},
        {"{\"token\": \"s3\\\"cr\", \"n\": 1}", "{\"token\": \"******\", \"n\": 1}"},
        {"{\"auth\":{\"password\":\"p\"},\"secret\":7}",
         "{\"auth\":{\"password\":\"*\"},\"secret\":7}"},
        {"\\\"token\\\":\\\"s3cr3t\\\"", "\\\"token\\\":\\\"******\\\""},
        {"  client-key-data: LS0tLS1=\n", "  client-key-data: ********\n"},
        {"Password = 'a b'", "Password = '***'"},
        {"IDENTITYTOKEN=a1,b", "IDENTITYTOKEN=**,b"},
        {"--bootstrap-token=ab c", "--bootstrap-token=** c"},
        {"client_secret: 1234", "client_secret: ****"},
        {"anonymousAuth: false, auth: null", "anonymousAuth: false, auth: null"},
        {"tokens: 5 secretName: x token", "tokens: 5 secretName: x token"},
        {"Authorization: Bearer abcdefgh12 x", "Authorization: Bearer ********** x"},
        {"bearer of news", "bearer of news"},
        {"a eyJhbGciOi.eyJpc3.c2ln b eyJno", "a eyJ******************* b eyJno"},
        {"http://u:pw@host:1/ http://host:1/a@b", "http://u:**@host:1/ http://host:1/a@b"},
        {"a-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\nb",
         "a-----BEGIN RSA PRIVATE KEY-----\n***\n-----END RSA PRIVATE KEY-----\nb"},
        {"-----BEGIN PRIVATE KEY-----\nMII\nQ", "-----BEGIN PRIVATE KEY-----\n***\n*"},
        {"MII\n-----END PRIVATE KEY-----\nb", "***\n-----END PRIVATE KEY-----\nb"},
        {"-----BEGIN CERTIFICATE-----\nMII\n", "-----BEGIN CERTIFICATE-----\nMII\n"},
        {"", ""},
        {"token", "token"},
        {"token:", "token:"},
        {"token: \"ab", "token: \"**"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        char *text = xstrdup(rows[i][0]);

        redact_secrets(text);
        assert_string_equal(text, rows[i][1]);
        redact_secrets(text);
        assert_string_equal(text, rows[i][1]);
        freep(&text);
    }
}

/* Those that say by themselves what they are, in a sentence that does not. */
static void known_beginnings_are_enough(void **state) {
    static const char *const begins[] = {
        "ghp_",
        "gho_",
        "ghu_",
        "ghs_",
        "ghr_",
        "github_pat_",
        "glpat-",
        "gldt-",
        "xoxb-",
        "xoxp-",
        "xoxa-",
        "xoxr-",
        "xoxs-",
        "xoxe-",
        "xapp-",
        "AKIA",
        "ASIA",
        "AIza",
        "ya29.",
        "npm_",
        "dckr_pat_",
        "hvs.",
        "eyJ",
        "sk_live_",
        "LS0tLS1CRUdJTiBQUklWQVRF",
        "LS0tLS1CRUdJTiBSU0EgU",
        "LS0tLS1CRUdJTiBFQyBQ",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(begins); i++) {
        _cleanup_(freep) char *text =
            xasprintf("it says %sAa1Bb2Cc3Dd4Ee5Ff6Gg7Hh8Ii9Jj0Kk1Ll2Mm3 there", begins[i]);

        redact_secrets(text);
        if (strstr(text, "Bb2") || strstr(text, "Mm3") || !strstr(text, " there"))
            fail_msg("%s", text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_are_hidden),
        cmocka_unit_test(a_cut_token_is_hidden),
        cmocka_unit_test(errors_hide_them),
        cmocka_unit_test(secrets_of_files_are_hidden),
        cmocka_unit_test(known_beginnings_are_enough),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
