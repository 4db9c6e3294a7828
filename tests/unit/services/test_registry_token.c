/* What a registry asks for, and the token got for it: which words are read, and which addresses and
 * answers are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/text.h"
#include "services/artifacts/image.h"
#include "tests/memory/http_memory.h"

/* ---- the challenge ---- */

static void challenges_are_read(void **state) {
    static const struct {
        const char *text, *realm, *service, *scope;
    } rows[] = {
        {"Bearer realm=\"https://ghcr.io/token\",service=\"ghcr.io\",scope=\"repository:a/b:pull\"",
         "https://ghcr.io/token", "ghcr.io", "repository:a/b:pull"},
        {"bearer  Realm = https, SERVICE=x", "https", "x", NULL},
        {"Basic realm=\"other\", Bearer realm=\"r\"", "r", NULL, NULL},
        {"Bearer realm=\"r\", Basic realm=\"other\", service=\"other\"", "r", NULL, NULL},
        {"Bearer realm=\"a\", Bearer realm=\"b\"", "a", NULL, NULL},
        {"Bearer realm=\"a\",realm=\"b\"", "a", NULL, NULL},
        {"Negotiate YII==, Bearer realm=\"r\"", "r", NULL, NULL},
        {"Bearer realm=\"a\\\"b, c=\\\\\"", "a\"b, c=\\", NULL, NULL},
        {",, Bearer ,realm=r,,scope=\"\"", "r", NULL, ""},
        {"Bearer realm=\"", NULL, NULL, NULL},
        {"Bearer error=\"invalid_token\"", NULL, NULL, NULL},
        {"Basic realm=\"r\"", NULL, NULL, NULL},
        {"realm=\"r\"", NULL, NULL, NULL},
        {"\"Bearer realm=r\"", NULL, NULL, NULL},
        {"", NULL, NULL, NULL},
        {"\xff\x01==\"\"", NULL, NULL, NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct registry_challenge c = {0};
        bool found = registry_challenge_read(rows[i].text, &c);

        if (found != (rows[i].realm != NULL) || !text_equal(c.realm, rows[i].realm) ||
            !text_equal(c.service, rows[i].service) || !text_equal(c.scope, rows[i].scope))
            fail_msg("%s: %s, %s, %s", rows[i].text, c.realm, c.service, c.scope);
        registry_challenge_free(&c);
    }
}

/* ---- the token ---- */

static struct {
    const char *body;
    long status;
    size_t asked;
    char *url;
} server;

static int answer(void *context, const struct http_request *request, struct http_response *ret,
                  struct error *err) {
    (void)context, (void)err;
    server.asked++;
    assert_null(request->bearer_token);
    assert_false(request->follow_redirects);
    assert_true(request->max_body > 0 && request->max_body <= 65536);
    free(server.url);
    server.url = xstrdup(request->url);
    ret->status = server.status;
    ret->body = xstrdup(server.body);
    ret->body_len = strlen(server.body);
    return 0;
}

static int get(const char *challenge, const char *body, char **ret, struct error *err) {
    struct http *http = http_memory_new(answer, NULL);
    int result;

    server.body = body;
    server.asked = 0;
    error_clear(err);
    result = registry_token_fetch(http, challenge, "pause", ret, err);
    http_free(http);
    return result;
}

static int open_server(void **state) {
    (void)state;
    memset(&server, 0, sizeof server);
    server.status = 200;
    return 0;
}

static int close_server(void **state) {
    (void)state;
    freep(&server.url);
    return 0;
}

static void assert_asks(const char *challenge, const char *url) {
    _cleanup_(freep) char *token = NULL;
    struct error err = {0};

    if (get(challenge, "{\"token\":\"abc.DEF-1_~+/==\"}", &token, &err) < 0)
        fail_msg("%s", err.message);
    assert_string_equal(token, "abc.DEF-1_~+/==");
    assert_string_equal(server.url, url);
    assert_int_equal(server.asked, 1);
}

static void a_token_is_asked_for(void **state) {
    (void)state;
    assert_asks("Bearer realm=\"https://r.test/token\"",
                "https://r.test/token?scope=repository:pause:pull");
    assert_asks("Bearer realm=\"https://r.test/token?a=b\",service=\"a b&c\",scope=\"x:y:z\"",
                "https://r.test/token?a=b&service=a%20b%26c&scope=x:y:z");
}

static void either_name_is_a_token(void **state) {
    _cleanup_(freep) char *token = NULL;
    struct error err = {0};

    (void)state;
    assert_int_equal(
        get("Bearer realm=\"https://r.test\"", "{\"access_token\":\"x\"}", &token, &err), 0);
    assert_string_equal(token, "x");
}

static void assert_refused(const char *challenge, const char *body, enum error_kind kind,
                           const char *why, size_t asked) {
    char *token = NULL;
    struct error err = {0};

    assert_int_equal(get(challenge, body, &token, &err), -1);
    assert_null(token);
    if (err.kind != kind || !strstr(err.message, why) || server.asked != asked)
        fail_msg("%s, %s: %d: %s, asked %zu times", challenge, body, (int)err.kind, err.message,
                 server.asked);
    assert_null(strstr(err.message, "hidden"));
}

static void hostile_addresses(void **state) {
    static const char *const realms[][2] = {
        {"file:///etc/passwd", "not got by https"},
        {"http://r.test/token", "not got by https: 'http://r.test/token'"},
        {"http://me:hidden@r.test/", "not got by https"},
        {"//r.test/token", "not got by https"},
        {"/token", "not got by https"},
        {"HTTPS:r.test", "not got by https"},
        {"ldap://r.test", "not got by https"},
        {"", "not got by https"},
        {"https://", "no host"},
        {"https:///token", "no host"},
        {"https://?x", "no host"},
        {"https://me:hidden@r.test/", "or a user"},
        {"https://r.test/a b", "no URL"},
        {"https://r.test/\x7f", "no URL"},
        {"https://r.test/\r\nX: y", "no URL"},
        {"https://r.test\\@else.test/", "no URL"},
        {"https://r.test/#x", "no URL"},
    };
    struct text longest = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(realms); i++) {
        _cleanup_(freep) char *quoted = xasprintf("Bearer realm=\"%s\"", realms[i][0]);
        struct text challenge = {0};

        for (const char *p = quoted; *p; p++) /* as it is within quotes */
            text_addf(&challenge, "%s%c", *p == '\\' ? "\\" : "", *p);
        assert_refused(text_str(&challenge), "{\"token\":\"x\"}", ERROR_UNTRUSTED, realms[i][1], 0);
        text_free(&challenge);
    }
    text_add(&longest, "Bearer realm=\"https://r.test/");
    for (int i = 0; i < 3000; i++)
        text_add_char(&longest, 'x');
    text_add_char(&longest, '"');
    assert_refused(text_str(&longest), "{\"token\":\"x\"}", ERROR_UNTRUSTED, "no URL", 0);
    text_free(&longest);
    assert_refused("Basic realm=\"https://r.test\"", "", ERROR_DENIED, "requires credentials", 0);
}

static void hostile_answers(void **state) {
    static const char challenge[] = "Bearer realm=\"https://r.test/token\"";
    struct text giant = {0};

    (void)state;
    assert_refused(challenge, "", ERROR_MALFORMED, "get a token from 'https://r.test/token?...'",
                   1);
    assert_refused(challenge, "<html>", ERROR_MALFORMED, "get a token from", 1);
    assert_refused(challenge, "{}", ERROR_MALFORMED, "no usable token", 1);
    assert_refused(challenge, "{\"token\":1}", ERROR_MALFORMED, "no usable token", 1);
    assert_refused(challenge, "{\"token\":\"\"}", ERROR_MALFORMED, "no usable token", 1);
    assert_refused(challenge, "{\"token\":\"hidden\\r\\nX: y\"}", ERROR_MALFORMED,
                   "no usable token", 1);
    assert_refused(challenge, "{\"token\":\"hidden token\"}", ERROR_MALFORMED, "no usable token",
                   1);
    text_add(&giant, "{\"token\":\"");
    for (int i = 0; i < 20000; i++)
        text_add_char(&giant, 'x');
    text_add(&giant, "\"}");
    assert_refused(challenge, text_str(&giant), ERROR_MALFORMED, "no usable token", 1);
    for (int i = 0; i < 60000; i++)
        text_add_char(&giant, ' ');
    assert_refused(challenge, text_str(&giant), ERROR_MALFORMED, "longer than 65536 bytes", 1);
    text_free(&giant);
    server.status = 403;
    assert_refused(challenge, "", ERROR_DENIED, "gives no token without credentials", 1);
    server.status = 302;
    assert_refused(challenge, "{\"token\":\"x\"}", ERROR_NETWORK, "answers 302", 1);
}

int main(void) {
#define TOKEN_TEST(name) cmocka_unit_test_setup_teardown(name, open_server, close_server)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(challenges_are_read), TOKEN_TEST(a_token_is_asked_for),
        TOKEN_TEST(either_name_is_a_token),    TOKEN_TEST(hostile_addresses),
        TOKEN_TEST(hostile_answers),
    };

    return cmocka_run_group_tests_name("registry_token", tests, NULL, NULL);
}
