/* URLs of API servers: what one may hold, how paths are joined, what may be shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/text.h"
#include "host/http.h"
#include "kube/kubeconfig.h"

static void test_good(void **state) {
    static const char *const good[] = {"https://10.0.0.10:6443",
                                       "https://api.example/",
                                       "https://[fd00::5]:6443/a/b",
                                       "https://my_api.test.:1/x/",
                                       "https://api.example/k8s/clusters/c-1.2~x",
                                       "https://[::1]",
                                       "https://a:65535/b:c"};

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        if (server_url_check(good[i], false, NULL) < 0)
            fail_msg("refused: %s", good[i]);
}

static void test_bad(void **state) {
    static const char *const bad[] = {"",
                                      "http://a",
                                      "HTTPS://a",
                                      "https://",
                                      "https:///x",
                                      "https://:1",
                                      "https://u@a",
                                      "https://u:p@a",
                                      "https://a?b",
                                      "https://a#b",
                                      "https://a b",
                                      "https://a\nb",
                                      "https://\xc3\xbc",
                                      "https://a:0",
                                      "https://a:65536",
                                      "https://a:x",
                                      "https://a:1:2",
                                      "https://[::1",
                                      "https://[fe80::1%25e]",
                                      "https://::1",
                                      "https://a/%2e",
                                      "https://a\\b",
                                      "https://%31",
                                      "https://a,b",
                                      "https://[1.2.3.4]",
                                      "https://[a]:1",
                                      "https://fd00::5:6443",
                                      "https://~",
                                      "https://[::1]:",
                                      "https://a:",
                                      "https://a/\x1b[31m"};
    struct error err = {0};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (server_url_check(bad[i], false, &err) == 0 || err.kind != ERROR_USAGE)
            fail_msg("taken: %s", bad[i]);
    assert_int_equal(server_url_check(NULL, false, NULL), -1);
}

static void test_join(void **state) {
    _cleanup_(freep) char *plain = server_url_join("https://a:1", "/api");
    _cleanup_(freep) char *below = server_url_join("https://a:1/b//", "/api");

    (void)state;
    assert_string_equal(plain, "https://a:1/api");
    assert_string_equal(below, "https://a:1/b/api");
}

/* An address that leads each machine to itself. */
static void test_here(void **state) {
    static const struct {
        const char *url;
        bool here;
    } rows[] = {{"https://127.0.0.1:6443", true},  {"https://127.8.0.1", true},
                {"https://localhost:8443", true},  {"https://LocalHost./x", true},
                {"https://[::1]:6443", true},      {"https://0.0.0.0:6443", true},
                {"https://[::]:6443", true},       {"https://10.0.0.10:6443", false},
                {"https://localhost.corp", false}, {"https://[fd00::1]:6443", false},
                {"https://api:6443", false}};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (server_url_is_here(rows[i].url) != rows[i].here)
            fail_msg("%s", rows[i].url);
}

static void test_shown(void **state) {
    static const struct {
        const char *url, *shown;
    } cases[] = {
        {"https://a:1/b", "https://a:1/b"},
        {"https://me:secret@a/b", "https://a/b"},
        {"https://me:se@cret@a/b@c", "https://a/b@c"},
        {"https://a/b?sig=secret", "https://a/b?..."},
        {"https://a#secret", "https://a?..."},
        {"https://me:secret@a?x@y", "https://a?..."},
    };
    _cleanup_(freep) char *proxy = http_shown_proxy("http://me:se/cret@a:1");

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        _cleanup_(freep) char *shown = http_shown_url(cases[i].url);

        assert_string_equal(shown, cases[i].shown);
    }
    assert_string_equal(proxy, "http://a:1");
}

static void test_proxies(void **state) {
    static const char *const bad[] = {"ftp://a:1",   "socks4://a:1",  "http://a:x",    "http://:1",
                                      "http://",     "http://a b",    "http://a\r\nb", "a:99999",
                                      "http://a:1:", "http://[::1:1", "socks5h://a:1", "me:p@a:1"};
    static const char *const good[] = {"http://a",     "http://u:p@a:1",   "https://[::1]:1",
                                       "socks5://a:1", "http://u:p@x@a:1", "HTTP://a:01/b?c#d@e"};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (http_proxy_url_check(bad[i], NULL) == 0)
            fail_msg("taken: %s", bad[i]);
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        if (http_proxy_url_check(good[i], NULL) < 0)
            fail_msg("refused: %s", good[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good), cmocka_unit_test(test_bad),   cmocka_unit_test(test_here),
        cmocka_unit_test(test_join), cmocka_unit_test(test_shown), cmocka_unit_test(test_proxies),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
