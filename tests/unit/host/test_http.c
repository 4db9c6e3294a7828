/* HTTP on libcurl against a real TLS server on loopback, and the choice
 * of a proxy. On Windows, where a Wine prefix has no python3 for the server, the tests on the wire
 * are skipped. */
#include "tests/scene/http_fixture.h"

static void answers_and_keeps_connection(void **state) {
    char url[128];
    struct http_request request = request_for(url, "/ok");
    struct http_response response = {0};
    struct error err = {0};

    (void)state;
    assert_int_equal(http_perform(fixture.http, &request, &response, &err), 0);
    assert_int_equal(response.status, 200);
    assert_string_equal(response.body, "hello");
    assert_string_equal(response.content_type, "text/plain");
    assert_int_equal(response.retry_after, -1);
    assert_true(response.date > 1700000000);
    assert_non_null(strstr(response.server_certs, "-----BEGIN CERTIFICATE-----"));
    assert_null(response.proxy);
    http_response_free(&response);
    assert_int_equal(http_perform(fixture.http, &request, &response, &err), 0);
    assert_null(response.server_certs);
    http_response_free(&response);
}

static void sends_method_headers_body(void **state) {
    char url[128];
    struct http_request request = request_for(url, "/echo");
    struct http_response response = {0};
    struct error err = {0};
    _cleanup_json_ json_t *echo = NULL;

    (void)state;
    request.method = "PATCH";
    request.body = "{\"a\":1}";
    request.body_len = 7;
    request.content_type = "application/merge-patch+json";
    request.bearer_token = "abc.def";
    request.client_cert_pem = fixture.certificate;
    request.client_key_pem = fixture.key;
    assert_int_equal(http_perform(fixture.http, &request, &response, &err), 0);
    assert_int_equal(json_read(response.body, response.body_len, "echo", &echo, &err), 0);
    assert_string_equal(json_text_at(echo, "method"), "PATCH");
    assert_string_equal(json_text_at(echo, "body"), "{\"a\":1}");
    assert_string_equal(json_text_at(echo, "headers.content-type"), "application/merge-patch+json");
    assert_string_equal(json_text_at(echo, "headers.authorization"), "Bearer abc.def");
    assert_string_equal(json_text_at(echo, "headers.user-agent"), "winjoin-test");
    assert_null(json_text_at(echo, "headers.accept-encoding"));
    assert_null(json_text_at(echo, "headers.expect"));
    assert_string_equal(json_text_at(echo, "client"), "system:node:a");
    http_response_free(&response);
}

static void retry_after_and_redirect(void **state) {
    char url[128];
    struct http_request request = request_for(url, "/retry");
    struct http_response response = {0};
    struct error err = {0};

    (void)state;
    assert_int_equal(http_perform(fixture.http, &request, &response, &err), 0);
    assert_int_equal(response.status, 429);
    assert_int_equal(response.retry_after, 7);
    http_response_free(&response);
    request = request_for(url, "/redirect");
    assert_int_equal(http_perform(fixture.http, &request, &response, &err), 0);
    assert_int_equal(response.status, 302);
    http_response_free(&response);
    request.follow_redirects = true;
    assert_int_equal(http_perform(fixture.http, &request, &response, &err), 0);
    assert_string_equal(response.body, "hello");
    http_response_free(&response);
}

static void server_name_is_verified(void **state) {
    char url[128];
    struct http_request request = request_for(url, "/echo");
    struct http_response response = {0};
    struct error err = {0};

    (void)state;
    request.server_name = "kube.test";
    assert_int_equal(http_perform(fixture.http, &request, &response, &err), 0);
    assert_non_null(strstr(response.body, "\"host\": \"127.0.0.1:"));
    http_response_free(&response);
    request.server_name = "other.test";
    assert_int_equal(http_perform(fixture.http, &request, &response, &err), -1);
    assert_int_equal(err.kind, ERROR_UNTRUSTED);
    assert_non_null(strstr(err.message, "other.test"));
    assert_non_null(response.server_certs);
    http_response_free(&response);
}

static void untrusted_server(void **state) {
    char url[128];
    struct http_request request = request_for(url, "/untrusted");
    struct http_response response = {0};
    struct error err = {0};

    (void)state;
    request.ca_pem = fixture.certificate; /* some other certificate */
    assert_int_equal(http_perform(fixture.http, &request, &response, &err), -1);
    assert_int_equal(err.kind, ERROR_UNTRUSTED);
    assert_non_null(strstr(err.message, "self-signed certificate in certificate chain"));
    assert_non_null(strstr(response.server_certs, "-----BEGIN CERTIFICATE-----"));
    assert_null(response.body);
    http_response_free(&response);
    request.ca_pem = NULL; /* the system's store does not know it either */
    assert_int_equal(http_perform(fixture.http, &request, &response, &err), -1);
    assert_int_equal(err.kind, ERROR_UNTRUSTED);
    http_response_free(&response);
    request = request_for(url, "/asked"); /* nothing was sent to one that is not trusted */
    request.verify = HTTP_VERIFY_NONE;
    assert_int_equal(http_perform(fixture.http, &request, &response, &err), 0);
    assert_int_equal(response.status, 200);
    assert_null(strstr(response.body, "/untrusted"));
    http_response_free(&response);
    request.verify = HTTP_VERIFY_FULL; /* the unverified connection must not serve this one */
    request.ca_pem = "no PEM";
    assert_int_equal(http_perform(fixture.http, &request, &response, &err), -1);
    assert_int_equal(err.kind, ERROR_MALFORMED);
    http_response_free(&response);
}

static void expect_failure(const char *path, size_t max_body, enum error_kind kind) {
    char url[128];
    struct http_request request = request_for(url, path);
    struct http_response response = {0};
    struct error err = {0};

    request.max_body = max_body;
    request.timeout_ms = 1000;
    request.follow_redirects = true;
    assert_int_equal(http_perform(fixture.http, &request, &response, &err), -1);
    if (err.kind != kind)
        print_error("%s: %s\n", path, err.message);
    assert_int_equal(err.kind, kind);
    assert_true(kind == ERROR_MALFORMED || err.os == HTTP_CONNECTED);
    assert_null(response.body);
    http_response_free(&response);
}

static void answers_are_bounded(void **state) {
    (void)state;
    expect_failure("/big", 65535, ERROR_MALFORMED);
    expect_failure("/headers", 0, ERROR_MALFORMED);
    expect_failure("/garbage", 0, ERROR_MALFORMED);
    expect_failure("/cut", 0, ERROR_NETWORK);
    expect_failure("/cut-chunks", 0, ERROR_NETWORK);
    expect_failure("/cut-head", 0, ERROR_NETWORK);
    expect_failure("/cut-after-redirect", 0, ERROR_NETWORK);
    expect_failure("/two-lengths", 0, ERROR_MALFORMED);
    expect_failure("/interim", 0, ERROR_MALFORMED);
    expect_failure("/drip", 0, ERROR_TIMED_OUT);
}

static const char *ask(const struct http_request *request, struct http_response *ret) {
    static struct error err;

    http_response_free(ret);
    error_clear(&err);
    if (http_perform(fixture.http, request, ret, &err) == 0)
        return "";
    assert_int_equal(err.kind, ERROR_MALFORMED);
    return err.message;
}

/* What is unpacked counts, not what came. */
static void unpacks_what_it_asked_for(void **state) {
    static const char *const refused[][2] = {
        {"/swollen", "the answer is longer than 8388608 bytes"},
        {"/swollen-twice", "the answer is longer than 8388608 bytes"},
        {"/broken-pack", "incorrect header check"},
        {"/other-pack", "content encoding"},
    };
    char url[128];
    struct http_request request = request_for(url, "/packed");
    struct http_response response = {0};

    (void)state;
    assert_string_equal(ask(&request, &response), "");
    assert_memory_equal(response.body, "\x1f\x8b", 2);
    request.gzip = true;
    assert_string_equal(ask(&request, &response), "");
    assert_int_equal(response.body_len, 5000);
    assert_string_equal(response.body + 4990, "hellohello");
    request.max_body = 4999;
    assert_non_null(strstr(ask(&request, &response), "the answer is longer than 4999 bytes"));
    request = request_for(url, "/echo");
    request.gzip = true;
    assert_string_equal(ask(&request, &response), "");
    assert_non_null(strstr(response.body, "\"accept-encoding\": \"gzip\""));
    for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
        request = request_for(url, refused[i][0]);
        request.gzip = true;
        assert_non_null(strstr(ask(&request, &response), refused[i][1]));
        assert_null(response.body);
    }
    http_response_free(&response);
}

static void can_be_interrupted(void **state) {
    char url[128];
    struct http_request request = request_for(url, "/drip");
    struct http_response response = {0};
    struct error err = {0};

    (void)state;
    fixture.interrupted = true;
    assert_int_equal(http_perform(fixture.http, &request, &response, &err), -1);
    assert_int_equal(err.kind, ERROR_INTERRUPTED);
    assert_string_equal(err.message, "interrupted while waiting for the answer");
    http_response_free(&response);
}

enum { BUSY_MS = 60000 }; /* for as many TLS connections as that, where others use the machine */

/* How many connections so many requests made, at once as many as that (0: as many as do best). */
static size_t connections_of(size_t count, const char *path, size_t at_once) {
    char url[128];
    struct http *http = http_curl_new("winjoin-test", NULL, NULL);
    struct http_exchange *exchanges = xcalloc(count, sizeof *exchanges);
    struct error *errors = xcalloc(count, sizeof *errors);
    size_t made = 0;

    for (size_t i = 0; i < count; i++) {
        exchanges[i] = (struct http_exchange){.request = request_for(url, path), .err = &errors[i]};
        exchanges[i].request.timeout_ms = BUSY_MS;
    }
    http_perform_all(http, exchanges, count, at_once);
    for (size_t i = 0; i < count; i++) {
        const struct http_response *response = &exchanges[i].response;

        assert_string_equal(errors[i].message, "");
        assert_int_equal(response->status, 200);
        assert_true(response->wait_us > 0 && response->wait_us / 1000 <= response->milliseconds);
        made += exchanges[i].response.server_certs != NULL;
        http_response_free(&exchanges[i].response);
    }
    http_free(http);
    free(exchanges);
    free(errors);
    return made;
}

/* A few connections where each answer comes at once; many where answers are waited for. */
static void many_at_once(void **state) {
    (void)state;
    assert_in_range(connections_of(250, "/ok", 0), 1, 150); /* 16, but for a busy machine */
    assert_in_range(connections_of(100, "/late", 0), 70, 100);
    assert_in_range(connections_of(40, "/ok", 2), 1, 10);   /* the same */
    assert_in_range(connections_of(12, "/late", 2), 3, 12); /* one that hangs makes room */
}

/* A port that listens takes connections; nobody begins a handshake there. */
static void a_server_that_says_nothing(void **state) {
    enum { PORT = 18943 };
    struct http_request request = {
        .url = "https://127.0.0.1:18943/", .proxy = "", .timeout_ms = 300};
    struct http_response response = {0};
    struct error err = {0};
    struct socket_echo *silent;

    (void)state;
    fixture.interrupted = false;
    assert_int_equal(socket_start(), 0);
    silent = socket_echo_open("127.0.0.1", PORT, 0, "");
    assert_non_null(silent);
    assert_int_equal(http_perform(fixture.http, &request, &response, &err), -1);
    assert_int_equal(err.kind, ERROR_TIMED_OUT);
    assert_int_equal(err.os, HTTP_CONNECTED);
    http_response_free(&response);
    socket_echo_close(silent);
}

static void nobody_there(void **state) {
    struct http_request request = {.url = "https://127.0.0.1:1/", .proxy = ""};
    struct http_response response = {0};
    struct error err = {0};

    (void)state;
    fixture.interrupted = false;
    assert_int_equal(http_perform(fixture.http, &request, &response, &err), -1);
    assert_int_equal(err.kind, ERROR_NETWORK);
    assert_string_equal(err.message, "GET 'https://127.0.0.1:1/': connection refused");
    assert_int_equal(err.os, 0); /* without a connection */
    http_response_free(&response);
    assert_string_equal(err.hints[0], "");
    request.url = "https://nowhere.invalid/";
    request.verify = HTTP_VERIFY_NONE;
    assert_int_equal(http_perform(fixture.http, &request, &response, &err), -1);
    assert_int_equal(err.kind, ERROR_NETWORK);
    assert_non_null(strstr(err.hints[0], "hosts file"));
    http_response_free(&response);
}

static void what_a_head_says(void **state) {
    static const struct {
        const char *head, *challenge;
        long retry_after;
        int64_t range_begin, date;
    } rows[] = {
        {"X: y", NULL, -1, -1, 0},
        {"Content-Range: bytes 100-199/200", NULL, -1, 100, 0},
        {"Content-Range: bytes 0-9/10", NULL, -1, 0, 0},
        {"Content-Range: items 100-199/200", NULL, -1, -1, 0},
        {"Content-Range: bytes */200", NULL, -1, -1, 0},
        {"Retry-After: 1", NULL, 1, -1, 0},
        {"Retry-After: 86400", NULL, 86400, -1, 0},
        {"Retry-After: 86401", NULL, -1, -1, 0},
        {"Retry-After: 0", NULL, -1, -1, 0},
        {"WWW-Authenticate: Basic\r\nWWW-Authenticate: Bearer a", "Basic, Bearer a", -1, -1, 0},
        {"Date: Thu, 01 Jan 2026 00:00:00 GMT", NULL, -1, -1, 1767225600},
        {"Date: never", NULL, -1, -1, 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        char url[128];
        struct http_request request = request_for(url, "/head?");
        struct http_response response = {0};
        struct error err = {0};
        struct text whole = {0};

        text_add(&whole, url);
        text_add_url(&whole, rows[i].head, "");
        request.url = text_str(&whole);
        if (http_perform(fixture.http, &request, &response, &err) < 0)
            fail_msg("%s: %s", rows[i].head, err.message);
        if (response.retry_after != rows[i].retry_after ||
            response.range_begin != rows[i].range_begin || response.date != rows[i].date ||
            !text_equal(response.challenge, rows[i].challenge) || response.length)
            fail_msg("%s: %ld %lld %lld %s", rows[i].head, response.retry_after,
                     (long long)response.range_begin, (long long)response.date,
                     response.challenge ? response.challenge : "");
        http_response_free(&response);
        text_free(&whole);
    }
}

static int hear_nothing(void *, const char *, size_t) {
    fail_msg("the request was sent");
    return -1;
}

/* Not even without a proxy. */
static void nothing_is_sent_to_a_proxy_that_is_none(void **state) {
    char url[128];
    struct http_request request = request_for(url, "/ok");
    struct http_response response = {0};
    struct error err = {0};

    (void)state;
    request.proxy = "ftp://127.0.0.1:1";
    request.on_data = hear_nothing;
    assert_int_equal(http_perform(fixture.http, &request, &response, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    http_response_free(&response);
}

/* The proxy is named, its password is not. */
static void proxy_without_its_password(void **state) {
    struct http_request request = {.url = "https://api.example/"};
    static const struct {
        const char *proxy, *shown;
        enum error_kind kind;
    } cases[] = {
        {"http://me:pass-word@127.0.0.1:1", "http://127.0.0.1:1", ERROR_NETWORK},
        {"me:p@ss-word@127.0.0.1:1", "http://127.0.0.1:1", ERROR_NETWORK},
        {"socks5://me:pass-word@127.0.0.1:1", "socks5h://127.0.0.1:1", ERROR_NETWORK},
        {"HTTP://[::1]", "http://[::1]:80", ERROR_NETWORK},
        {"ftp://me:pass-word@127.0.0.1:1", NULL, ERROR_USAGE},
        {"http://me:pass-word@127.0.0.1:x", NULL, ERROR_USAGE},
        {"http://me:pass-word/x@127.0.0.1:1", NULL, ERROR_USAGE},
        {"http://:1", NULL, ERROR_USAGE},
    };

    (void)state;
    fixture.interrupted = false;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct http_response response = {0};
        struct error err = {0};

        request.proxy = cases[i].proxy;
        assert_int_equal(http_perform(fixture.http, &request, &response, &err), -1);
        if (err.kind != cases[i].kind || !text_equal(response.proxy, cases[i].shown))
            fail_msg("%s: %s through %s", cases[i].proxy, err.message, response.proxy);
        assert_null(strstr(err.message, "word"));
        http_response_free(&response);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_and_keeps_connection),
        cmocka_unit_test(sends_method_headers_body),
        cmocka_unit_test(retry_after_and_redirect),
        cmocka_unit_test(server_name_is_verified),
        cmocka_unit_test(untrusted_server),
        cmocka_unit_test(answers_are_bounded),
        cmocka_unit_test(unpacks_what_it_asked_for),
        cmocka_unit_test(can_be_interrupted),
        cmocka_unit_test(many_at_once),
        cmocka_unit_test(a_server_that_says_nothing),
        cmocka_unit_test(nobody_there),
        cmocka_unit_test(what_a_head_says),
        cmocka_unit_test(nothing_is_sent_to_a_proxy_that_is_none),
        cmocka_unit_test(proxy_without_its_password),
    };

    return cmocka_run_group_tests_name("http", tests, start_server, stop_server);
}
