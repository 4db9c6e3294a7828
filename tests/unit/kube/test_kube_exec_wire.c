/* A program run in a pod over TLS, against tests/unit/http_server.py (test_http.c). */
#include <time.h>

#include "tests/scene/kube_scene.h"

#include "kube/exec.h"

static json_t *wire;

static int start_wire(void **state) {
    const char *words[] = {"/usr/bin/python3", "tests/unit/http_server.py", NULL};
    struct host_process process = {.argv = words, .timeout_ms = 30000};
    _cleanup_(freep) char *output = NULL;
    struct host_facts facts;
    struct host *host;
    int code;

    (void)state;
    if (host_open(NULL, &host, NULL) < 0)
        return -1;
    if (host_facts(host, &facts, NULL) != 0 && /* no Windows, which has no python3 */
        host_run(host, &process, &code, &output, NULL) == 0)
        (void)json_read(output, strlen(output), "server", &wire, NULL);
    host_free(host);
    return 0;
}

static int stop_wire(void **state) {
    _cleanup_(freep) char *url = NULL;
    struct http_request request = {.ca_pem = json_text_at(wire, "ca"), .proxy = ""};
    struct http_response response = {0};
    struct http *http;

    (void)state;
    if (!wire)
        return 0;
    url = xasprintf("https://127.0.0.1:%lld/quit", json_number_at(wire, "port", 0));
    request.url = url;
    http = http_curl_new("winjoin-test", NULL, NULL);
    (void)http_perform(http, &request, &response, NULL); /* it ends by itself, too */
    http_response_free(&response);
    http_free(http);
    json_decref(wire);
    return 0;
}

static bool is_interrupted(void *context) {
    return *(bool *)context;
}

/* Those that are silent keep nobody waiting, and each other neither. */
static void several_at_once(struct kube_client *client, const char *const *silent,
                            const char *const *echo) {
    const struct kube_exec execs[] = {{"n", "p", NULL, silent, 3000, 0},
                                      {"n", "p", NULL, echo, 20000, 0},
                                      {"n", "p", NULL, silent, 3000, 0}};
    struct kube_exec_result results[3] = {0};
    uint64_t begin = host_monotonic_ms(client->host);
    struct error errs[3] = {0};
    clock_t used = clock();

    kube_exec(client, execs, results, errs, 3);
    assert_in_range(host_monotonic_ms(client->host) - begin, 3000, 5500);
    assert_true(clock() - used < CLOCKS_PER_SEC); /* who waits does nothing */
    assert_int_equal(errs[0].kind, ERROR_TIMED_OUT);
    assert_string_equal(errs[1].message, "");
    assert_int_equal(errs[2].kind, ERROR_TIMED_OUT);
    assert_int_equal(results[1].exit_code, 5);
    kube_exec_result_free(&results[1]);
}

static void fails_with(enum error_kind kind, struct kube_client *client,
                       const struct kube_exec *exec) {
    struct kube_exec_result result = {0};
    struct error err = {0};

    kube_exec(client, exec, &result, &err, 1);
    assert_int_equal(err.kind, kind);
}

static void over_the_wire(void **state) {
    static const char *const echo[] = {"echo", "hello", "world", NULL};
    static const char *const silent[] = {"silent", NULL};
    static const char *const endless[] = {"endless", NULL};
    struct kube_exec exec = {.namespace_ = "n", .pod = "p", .argv = echo, .timeout_ms = 20000};
    struct kube_exec_result result = {0};
    bool interrupted = false;
    struct kube_client client = {.bearer_token = (char *)"secret-token"};
    _cleanup_(freep) char *url = NULL;
    struct error err = {0};

    (void)state;
    if (!wire)
        skip();
    url = xasprintf("https://127.0.0.1:%lld/ws", json_number_at(wire, "port", 0));
    client.server = url;
    client.ca_pem = (char *)json_text_at(wire, "ca");
    client.proxy_url = (char *)"";
    assert_int_equal(host_open(NULL, &client.host, NULL), 0);
    client.http = http_curl_new("winjoin-test", is_interrupted, &interrupted);
    for (size_t i = 0; i < 2; i++) {
        kube_exec(&client, &exec, &result, &err, 1);
        if (err.kind)
            fail_msg("%s", err.message);
        assert_true(text_starts_with(text_str(&result.out), "hello world\n"));
        assert_int_equal(result.out.len, 300000 + strlen("hello world\n"));
        assert_string_equal(text_str(&result.err), "Bearer secret-token");
        assert_int_equal(result.exit_code, 5);
        kube_exec_result_free(&result);
        client.tls_server_name = (char *)"kube.test"; /* and once more by another name */
    }
    client.tls_server_name = (char *)"other.test";
    fails_with(ERROR_UNTRUSTED, &client, &exec);
    client.tls_server_name = NULL;
    client.proxy_url = (char *)"ftp://127.0.0.1:1";
    fails_with(ERROR_USAGE, &client, &exec);
    client.proxy_url = (char *)"";
    exec.argv = silent;
    exec.timeout_ms = 1500;
    fails_with(ERROR_TIMED_OUT, &client, &exec);
    several_at_once(&client, silent, echo);
    exec.argv = endless;
    exec.max_output = 100000;
    fails_with(ERROR_MALFORMED, &client, &exec);
    interrupted = true;
    fails_with(ERROR_INTERRUPTED, &client, &exec);
    interrupted = false;
    client.ca_pem = (char *)json_text_at(wire, "certificate");
    fails_with(ERROR_UNTRUSTED, &client, &exec);
    memmove(url + 4, url + 5, strlen(url + 4)); /* http: no credentials */
    fails_with(ERROR_USAGE, &client, &exec);
    http_free(client.http);
    host_free(client.host);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(over_the_wire)};

    return cmocka_run_group_tests(tests, start_wire, stop_wire);
}
