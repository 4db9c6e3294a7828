/* The proxy that the environment or the machine names, the hosts that go without it, paths as a
 * person gives them, and requests that are refused before anything is sent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/text.h"
#include "host/host_ops.h"
#include "host/terminal.h"

static const char *const names[] = {"HTTPS_PROXY", "https_proxy", "HTTP_PROXY",
                                    "http_proxy",  "NO_PROXY",    "no_proxy"};
static char kept[ARRAY_SIZE(names)][64]; /* putenv() keeps what it is given */

static void set_variable(size_t n, const char *value) {
    assert_true(text_format(kept[n], sizeof kept[n], "%s=%s", names[n], value) >= 0);
    assert_int_equal(putenv(kept[n]), 0);
}

static void the_environment_names_a_proxy(void **state) {
    static const struct {
        const char *values[ARRAY_SIZE(names)]; /* NULL = not set */
        const char *url, *proxy;
    } rows[] = {
        {{"http://a:1", NULL, "http://c:3"}, "https://k:6443", "http://a:1"},
        {{NULL, "http://b:2", "http://c:3"}, "https://k:6443", "http://b:2"},
        {{"http://a:1", NULL, "http://c:3"}, "http://k:6443", "http://c:3"},
        {{"http://a:1", NULL, NULL, "http://d:4"}, "http://k:6443", "http://d:4"},
        {{"http://a:1", NULL, NULL, NULL, "k"}, "https://k:6443", NULL},
        {{"http://a:1", NULL, NULL, NULL, NULL, "k"}, "https://k:6443", NULL},
        {{"http://a:1", NULL, NULL, NULL, "other"}, "https://k:6443", "http://a:1"},
        {{"http://a:1"}, "http://k:6443", NULL},
        {{NULL}, "https://k:6443", NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *found = NULL;

        for (size_t n = 0; n < ARRAY_SIZE(names); n++)
            set_variable(n, "");
        for (size_t n = 0; n < ARRAY_SIZE(names); n++)
            if (rows[i].values[n])
                set_variable(n, rows[i].values[n]);
        found = http_environment_proxy(rows[i].url);
        if (!text_equal(found, rows[i].proxy))
            fail_msg("row %zu: %s", i, found ? found : "none");
    }
}

static void paths_as_they_are_given(void **state) {
    _cleanup_(freep) char *url = terminal_full_path("https://h/a/../b");
    _cleanup_(freep) char *here = terminal_full_path("a/b/../c");
    _cleanup_(freep) char *drive = terminal_full_path("D:\\a\\..\\b");
    _cleanup_(freep) char *share = terminal_full_path("\\\\s\\t\\u");

    (void)state;
    assert_string_equal(url, "https://h/a/../b");
    assert_true(text_ends_with(here, "\\a\\c"));
    assert_true(here[1] == ':' && here[2] == '\\' && strlen(here) > strlen("Z:\\a\\c"));
    assert_null(strchr(here, '/'));
    assert_string_equal(drive, "D:\\b");
    assert_string_equal(share, "\\\\s\\t\\u");
}

struct proxy_case {
    const char *url, *proxy, *excluded, *expected;
};

static void expect_proxies(char *choose(const char *, const char *, const char *),
                           const struct proxy_case *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        _cleanup_(freep) char *proxy = choose(cases[i].url, cases[i].proxy, cases[i].excluded);

        if (!text_equal(proxy, cases[i].expected))
            fail_msg("%s by %s but %s: %s", cases[i].url, cases[i].proxy, cases[i].excluded, proxy);
    }
}

static void proxy_but_for_excluded_hosts(void **state) {
    static const struct proxy_case cases[] = {
        {"https://api.example:6443/", "http://p:3128", NULL, "http://p:3128"},
        {"https://api.example:6443/", "p:3128", "", "p:3128"},
        {"https://api.example:6443/", NULL, NULL, NULL},
        {"https://api.example:6443/", "", NULL, NULL},
        {"https://localhost:6443/", "p:1", NULL, NULL},
        {"https://127.8.8.8/", "p:1", NULL, NULL},
        {"https://[::1]:6443/", "p:1", NULL, NULL},
        {"https://api.example/", "p:1", "*", NULL},
        {"https://api.example/", "p:1", "example", NULL},
        {"https://API.Example/", "p:1", " foo , EXAMPLE ", NULL},
        {"https://api.example/", "p:1", ".example", NULL},
        {"https://api.example/", "p:1", "*.example", NULL},
        {"https://api.example:6443/", "p:1", "example", NULL},
        {"https://example/", "p:1", "*.example", "p:1"},
        {"https://example/", "p:1", ".example", NULL},
        {"https://notexample/", "p:1", "example", "p:1"},
        {"https://api.example/", "p:1", ".", "p:1"},
        {"https://api.example:6443/", "p:1", "example:443", "p:1"},
        {"https://api.example:6443/", "p:1", "example:6443", NULL},
        {"https://10.1.2.3:6443/", "p:1", "10.0.0.0/8", NULL},
        {"https://11.1.2.3:6443/", "p:1", "10.0.0.0/8", "p:1"},
        {"https://api.example/", "p:1", "0.0.0.0/0,::/0", "p:1"},
        {"https://10.1.2.3:6443/", "p:1", "10.1.2.3", NULL},
        {"https://10.1.2.3:6443/", "p:1", "10.1.2.3:6443", NULL},
        {"https://10.1.2.3:6443/", "p:1", "10.1.2.3:1", "p:1"},
        {"https://10.1.2.3/", "p:1", "2.3", "p:1"},
        {"https://[fd00::5]:6443/", "p:1", "fd00::/8", NULL},
        {"https://[fd00::5]:6443/", "p:1", "fd00:0::5", NULL},
        {"https://[fd00::5]:6443/", "p:1", "[fd00::5]:6443", NULL},
        {"https://[fd00::5]:6443/", "p:1", "fd00::6", "p:1"},
        {"https://u:w@api.example/", "p:1", "api.example", NULL},
        {"https://api.example/x@other", "p:1", "other", "p:1"},
        {"https://api.example/", "p:1", ",\tapi.example\r\n,", NULL},
    };

    (void)state;
    expect_proxies(http_proxy_for, cases, ARRAY_SIZE(cases));
}

static void machine_proxy_as_winhttp_lists_it(void **state) {
    static const struct proxy_case cases[] = {
        {"https://api.example:6443/", "p:3128", NULL, "p:3128"},
        {"https://api.example/", "http=h:1;https=s:2", NULL, "s:2"},
        {"http://api.example/", "http=h:1 https=s:2", NULL, "h:1"},
        {"https://api.example/", "http=h:1", NULL, NULL},
        {"https://api.example/", "http=h:1;d:9", NULL, "d:9"},
        {"https://api.example/", "https=s:2;d:9", NULL, "s:2"},
        {"https://api.example/", "", NULL, NULL},
        {"https://api.example/", "https=", NULL, NULL},
        {"https://api.example/", "https=;d:9", NULL, "d:9"},
        {"https://api.example/", "p:1", "*.example;<local>", NULL},
        {"https://API.example:6443/", "p:1", "api.example", NULL},
        {"https://api.example:6443/", "p:1", "api.example:6443", NULL},
        {"https://api.example:6443/", "p:1", "api.example:443", "p:1"},
        {"https://10.1.2.3:6443/", "p:1", "10.*", NULL},
        {"https://11.1.2.3:6443/", "p:1", "10.*;192.168.*", "p:1"},
        {"https://server:6443/", "p:1", "<local>", NULL},
        {"https://10.1.2.3:6443/", "p:1", "<local>", "p:1"},
        {"https://[fd00::5]:6443/", "p:1", "[fd00:*]", NULL},
        {"https://api.example/", "p:1", "a*e*ple", NULL},
        {"https://api.example/", "p:1", "a*x", "p:1"},
    };

    (void)state;
    expect_proxies(http_machine_proxy_for, cases, ARRAY_SIZE(cases));
}

static void count_end(void *context, const struct http_exchange *) {
    ++*(unsigned *)context;
}

static void refuses_bad_requests(void **state) {
    static const struct {
        struct http_request request;
        const char *why;
    } bad[] = {
        {{.url = "file:///etc/passwd"}, "request 'file:///etc/passwd': not an http or https URL"},
        {{.url = NULL}, "request '': not an http or https URL"},
        {{.url = "https://a/\r\nX: y"}, "send a request: its URL contains a control character"},
        {{.url = "https://a/", .method = "GET\t/"},
         "send a request: its method contains a control character"},
        {{.url = "https://a/", .content_type = "a\nb"},
         "send a request: its content type contains a control character"},
        {{.url = "https://a/", .bearer_token = "a\nb"},
         "send a request: its token contains a control character"},
        {{.url = "https://a/", .server_name = "a/b"},
         "send a request: 'a/b' is not a valid server name"},
        {{.url = "http://a/", .bearer_token = "abc"},
         "request 'http://a/': credentials are sent over https only"},
        {{.url = "http://a/", .client_cert_pem = "x", .client_key_pem = "x"},
         "request 'http://a/': credentials are sent over https only"},
        {{.url = "https://a/", .client_cert_pem = "x"},
         "request 'https://a/': a client certificate needs its key, and a key its certificate"},
        {{.url = "https://a/", .client_key_pem = "x"},
         "request 'https://a/': a client certificate needs its key, and a key its certificate"},
    };
    struct http *http = http_curl_new("winjoin-test", NULL, NULL);

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct error err = {0};
        struct http_exchange exchange = {
            .request = bad[i].request, .err = &err, .ended = count_end};
        unsigned ends = 0;

        exchange.request.on_data_context = &ends;
        http_perform_all(http, &exchange, 1, 0);
        assert_int_equal(err.kind, ERROR_USAGE);
        assert_string_equal(err.message, bad[i].why);
        assert_int_equal(ends, 1);
        assert_int_equal(exchange.response.retry_after, -1);
        assert_int_equal(exchange.response.length, -1);
        assert_int_equal(exchange.response.range_begin, -1);
    }
    http_free(http);
}

/* Where none was in the way there is nothing to say of it. */
static void a_proxy_in_the_way_is_named(void **state) {
    struct error err = {0};

    (void)state;
    assert_int_equal(http_hint_proxy(&err, NULL, true), -1);
    assert_string_equal(err.hints[0], "");
    assert_int_equal(http_hint_proxy(&err, "http://proxy.example:3128", false), -1);
    assert_string_equal(err.hints[0],
                        "the request went through the proxy http://proxy.example:3128 (set by "
                        "HTTPS_PROXY, NO_PROXY or WinHTTP; check with: netsh winhttp show proxy)");
    assert_int_equal(http_hint_proxy(&err, "socks5h://localhost:1080", true), -1);
    assert_string_equal(err.hints[1], "the request went through the proxy "
                                      "socks5h://localhost:1080 (set by proxy-url of the "
                                      "kubeconfig)");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_environment_names_a_proxy),
        cmocka_unit_test(paths_as_they_are_given),
        cmocka_unit_test(proxy_but_for_excluded_hosts),
        cmocka_unit_test(machine_proxy_as_winhttp_lists_it),
        cmocka_unit_test(refuses_bad_requests),
        cmocka_unit_test(a_proxy_in_the_way_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
