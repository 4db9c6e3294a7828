/* The API client: requests, Status as errors, retry. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "kube/client.h"
#include "kube/node.h"
#include "kube/object.h"
#include "kube/request.h"
#include "tests/memory/host_memory.h"
#include "tests/memory/http_memory.h"

/* One answer after the other; the last one stays. */
struct row {
    long status;
    const char *body;
    enum error_kind broken;
    long retry_after;
};
struct scene {
    struct host *host;
    struct http *http;
    struct kube_client client;
    const struct row *rows;
    size_t count, asked;
    const char *proxy; /* that each goes through; NULL: none */
    char method[16], url[256], type[64], body[2048], bearer[64];
    struct text limits; /* timeout_ms of each request, a blank after each */
};

static int answer(void *context, const struct http_request *request, struct http_response *ret,
                  struct error *err) {
    struct scene *s = context;
    const struct row *row = &s->rows[s->asked < s->count ? s->asked : s->count - 1];

    s->asked++;
    text_addf(&s->limits, "%u ", request->timeout_ms);
    (void)text_format(s->method, sizeof s->method, "%s", request->method);
    (void)text_format(s->url, sizeof s->url, "%s", request->url);
    (void)text_format(s->type, sizeof s->type, "%s",
                      request->content_type ? request->content_type : "");
    (void)text_format(s->body, sizeof s->body, "%s", request->body ? request->body : "");
    (void)text_format(s->bearer, sizeof s->bearer, "%s",
                      request->bearer_token ? request->bearer_token : "");
    if (strstr(request->url, "/readyz"))
        assert_true(!request->bearer_token && !request->client_key_pem);
    assert_string_equal(request->ca_pem, "CA");
    assert_int_equal(request->verify, HTTP_VERIFY_FULL);
    ret->proxy = xstrdup_null(s->proxy);
    if (row->broken)
        return error_set(err, row->broken, "connect: it broke");
    ret->status = row->status;
    ret->body = xstrdup(row->body);
    ret->body_len = strlen(row->body);
    ret->retry_after = row->retry_after ? row->retry_after : -1;
    ret->date = host_now(s->host) + 7;
    return 0;
}

static int setup(void **state) {
    struct scene *s = xcalloc(1, sizeof *s);
    struct kubeconfig config = {
        .server = (char *)"https://k:6443/", .ca_pem = (char *)"CA", .token = (char *)"t\n"};

    s->host = host_memory_new();
    s->http = http_memory_new(answer, s);
    assert_int_equal(kube_client_open(s->http, s->host, &config, &s->client, NULL), 0);
    *state = s;
    return 0;
}

static int teardown(void **state) {
    struct scene *s = *state;

    kube_client_close(&s->client);
    text_free(&s->limits);
    http_free(s->http);
    host_free(s->host);
    free(s);
    return 0;
}

static void play(struct scene *s, const struct row *rows, size_t count) {
    s->rows = rows;
    s->count = count;
    s->asked = 0;
}

static void sends_what_is_asked(void **state) {
    static const struct row rows[] = {{200, "{\"kind\":\"Node\"}", 0, 0}};
    struct scene *s = *state;
    _cleanup_json_ json_t *object = NULL, *patch = json_pack("{s:i}", "a", 1);

    play(s, rows, 1);
    assert_int_equal(kube_get(&s->client, "/api/v1/nodes/x", &object, NULL), 0);
    assert_string_equal(json_text_at(object, "kind"), "Node");
    assert_string_equal(s->url, "https://k:6443/api/v1/nodes/x");
    assert_string_equal(s->bearer, "t");
    assert_int_equal(s->client.clock_difference, 7);
    assert_int_equal(kube_create(&s->client, "/x", patch, NULL, NULL), 0);
    assert_string_equal(s->method, "POST");
    assert_string_equal(s->type, "application/json");
    assert_string_equal(s->body, "{\"a\":1}");
    assert_int_equal(kube_patch(&s->client, "/x", "strategic-merge", patch, NULL), 0);
    assert_string_equal(s->method, "PATCH");
    assert_string_equal(s->type, "application/strategic-merge-patch+json");
    assert_int_equal(kube_delete(&s->client, "/x", NULL), 0);
    assert_string_equal(s->method, "DELETE");
}

static void turns_status_into_kinds(void **state) {
    static const struct {
        struct row row;
        enum error_kind kind;
        const char *text;
    } rows[] = {
        {{404,
          "{\"kind\":\"Status\",\"message\":\"nodes \\\"x\\\" not "
          "found\",\"reason\":\"NotFound\"}",
          0, 0},
         ERROR_ABSENT,
         "GET /x: nodes \"x\" not found (404 NotFound)"},
        {{401, "{\"message\":\"Unauthorized\"}", 0, 0}, ERROR_DENIED, "GET /x: Unauthorized (401)"},
        {{403, "no", 0, 0}, ERROR_DENIED, "GET /x: the server answered 403: no"},
        {{409, "", 0, 0}, ERROR_CONFLICT, "GET /x: the server answered 409"},
        {{410, "", 0, 0}, ERROR_ABSENT, "answered 410"},
        {{422, "", 0, 0}, ERROR_DENIED, "answered 422"},
        {{429, "", 0, 0}, ERROR_NETWORK, "answered 429"},
        {{500, "", 0, 0}, ERROR_NETWORK, "answered 500"},
        {{199, "", 0, 0}, ERROR_MALFORMED, "answered 199"},
        {{300, "", 0, 0}, ERROR_MALFORMED, "answered 300"},
        {{200, "<html>", 0, 0}, ERROR_MALFORMED, "decode the answer"},
        {{200, "[]", 0, 0}, ERROR_MALFORMED, "not an object"},
        {{0, "", ERROR_UNTRUSTED, 0}, ERROR_UNTRUSTED, "GET https://k:6443/x: connect"},
    };
    struct scene *s = *state;

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct error err = {0};

        play(s, &rows[i].row, 1);
        assert_int_equal(kube_get(&s->client, "/x", NULL, &err), -1);
        assert_int_equal(err.kind, rows[i].kind);
        assert_non_null(strstr(err.message, rows[i].text));
        assert_int_equal(s->asked, 1);
    }
}

static void deleting_what_is_gone_is_success(void **state) {
    static const struct row gone[] = {{404, "", 0, 0}}, no[] = {{403, "", 0, 0}};
    struct scene *s = *state;
    struct error err = {0};

    play(s, gone, 1);
    assert_int_equal(kube_delete(&s->client, "/x", &err), 0);
    assert_int_equal(err.kind, ERROR_NONE);
    play(s, no, 1);
    assert_int_equal(kube_delete(&s->client, "/x", &err), -1);
    assert_int_equal(err.kind, ERROR_DENIED);
}

static void tries_again_what_may_pass(void **state) {
    static const struct row rows[] = {
        {0, "", ERROR_NETWORK, 0}, {503, "", 0, 0}, {429, "", 0, 20}, {200, "{}", 0, 0}};
    struct scene *s = *state;

    play(s, rows, ARRAY_SIZE(rows));
    assert_int_equal(kube_get_retry(&s->client, "/x", 60000, NULL, NULL), 0);
    assert_int_equal(s->asked, 4);
    /* 0.5 s and 1 s, half less to half more; the 20 s that were asked for, and up to 4 s more */
    assert_in_range(host_monotonic_ms(s->host), 20750, 26250);
}

/* Who gives up after ten seconds and asks again for ten is at the end of a busy server's queue each
 * time. 0 is the 10 s of host/curl. */
static void a_slow_server_gets_more_time(void **state) {
    static const struct row slow[] = {{0, "", ERROR_TIMED_OUT, 0},
                                      {0, "", ERROR_TIMED_OUT, 0},
                                      {0, "", ERROR_TIMED_OUT, 0},
                                      {200, "{}", 0, 0}},
                            away[] = {{0, "", ERROR_NETWORK, 0}, {200, "{}", 0, 0}};
    struct scene *s = *state;

    play(s, slow, ARRAY_SIZE(slow));
    assert_int_equal(kube_get_retry(&s->client, "/x", 60000, NULL, NULL), 0);
    assert_string_equal(text_str(&s->limits), "0 20000 30000 30000 ");
    text_clear(&s->limits);
    play(s, away, ARRAY_SIZE(away));
    assert_int_equal(kube_get_retry(&s->client, "/x", 60000, NULL, NULL), 0);
    assert_string_equal(text_str(&s->limits), "0 0 ");
}

/* A server that was started again answers before it has read its tokens and roles; each refusal is
 * followed by a look at /readyz. */
static void a_server_that_comes_back_may_refuse_at_first(void **state) {
    static const struct row back[] = {{0, "", ERROR_NETWORK, 0}, {401, "", 0, 0},
                                      {500, "not ok", 0, 0},     {403, "", 0, 0},
                                      {0, "", ERROR_NETWORK, 0}, {403, "", 0, 0},
                                      {200, "ok", 0, 0},         {200, "{}", 0, 0}},
                            ready[] = {{0, "", ERROR_NETWORK, 0},
                                       {401, "", 0, 0},
                                       {200, "ok", 0, 0},
                                       {401, "", 0, 0}},
                            refused[] = {{403, "", 0, 0}, {200, "{}", 0, 0}},
                            busy[] = {{429, "", 0, 1}, {403, "", 0, 0}, {200, "{}", 0, 0}};
    /* longer than one has whose /readyz is not for everybody */
    static const struct row unready[] = {
        {0, "", ERROR_NETWORK, 0}, {403, "", 0, 0}, {500, "", 0, 0}, {403, "", 0, 0},
        {500, "", 0, 0},           {403, "", 0, 0}, {500, "", 0, 0}, {403, "", 0, 0},
        {500, "", 0, 0},           {403, "", 0, 0}, {500, "", 0, 0}, {200, "{}", 0, 0}};
    struct scene *s = *state;
    struct error err = {0};

    play(s, refused, ARRAY_SIZE(refused));
    assert_int_equal(kube_get_retry(&s->client, "/x", 60000, NULL, &err), -1);
    assert_int_equal(err.kind, ERROR_DENIED);
    assert_int_equal(s->asked, 1);
    play(s, busy, ARRAY_SIZE(busy)); /* it was never away */
    assert_int_equal(kube_get_retry(&s->client, "/x", 60000, NULL, &err), -1);
    assert_int_equal(err.kind, ERROR_DENIED);
    assert_int_equal(s->asked, 2);
    play(s, back, ARRAY_SIZE(back));
    assert_int_equal(kube_get_retry(&s->client, "/x", 60000, NULL, NULL), 0);
    assert_int_equal(s->asked, ARRAY_SIZE(back));
    play(s, ready, ARRAY_SIZE(ready));
    assert_int_equal(kube_get_retry(&s->client, "/x", 60000, NULL, &err), -1);
    assert_int_equal(err.kind, ERROR_DENIED);
    assert_int_equal(s->asked, ARRAY_SIZE(ready));
    play(s, unready, ARRAY_SIZE(unready));
    assert_int_equal(kube_get_retry(&s->client, "/x", 60000, NULL, NULL), 0);
    assert_int_equal(s->asked, ARRAY_SIZE(unready));
    play(s, back, ARRAY_SIZE(back));
    assert_int_equal(kube_get_retry(&s->client, "/x", 60000, NULL, NULL), 0);
    play(s, refused, ARRAY_SIZE(refused)); /* it let us in, and knows everybody by now */
    assert_int_equal(kube_get_retry(&s->client, "/x", 60000, NULL, &err), -1);
    assert_int_equal(s->asked, 1);
}

/* Fifty nodes that were told 429 together: nobody comes too early, and they do not come together.
 */
static void refused_together_does_not_come_back_together(void **state) {
    static const struct row rows[] = {{429, "", 0, 1}, {200, "{}", 0, 0}};
    enum { NODES = 50, FIRST_MS = 1000, LAST_MS = 2000, SLOTS = 10 };
    unsigned slots[SLOTS] = {0}, used = 0;
    struct scene *s = *state;

    for (unsigned i = 0; i < NODES; i++) {
        uint64_t began = host_monotonic_ms(s->host), took;

        play(s, rows, ARRAY_SIZE(rows));
        assert_int_equal(kube_get_retry(&s->client, "/x", 60000, NULL, NULL), 0);
        took = host_monotonic_ms(s->host) - began;
        assert_in_range(took, FIRST_MS, LAST_MS);
        slots[took == LAST_MS ? SLOTS - 1 : (took - FIRST_MS) * SLOTS / (LAST_MS - FIRST_MS)]++;
    }
    for (unsigned i = 0; i < SLOTS; i++) {
        used += slots[i] > 0;
        assert_in_range(slots[i], 0, NODES / 3);
    }
    assert_in_range(used, SLOTS - 2, SLOTS);
}

/* A request that does not arrive: whom it really went to, and who said so. */
static void names_the_way(void **state) {
    static const struct row lost[] = {{0, NULL, ERROR_NETWORK, 0}};
    struct scene *s = *state;
    struct error err = {0};

    play(s, lost, 1);
    assert_int_equal(kube_get(&s->client, "/x", NULL, &err), -1);
    assert_string_equal(err.hints[0], "");
    s->proxy = "socks5h://localhost:1080";
    assert_int_equal(kube_get(&s->client, "/x", NULL, &err), -1);
    assert_string_equal(err.hints[0], "the request went through the proxy "
                                      "socks5h://localhost:1080 (set by HTTPS_PROXY, NO_PROXY or "
                                      "WinHTTP; check with: netsh winhttp show proxy)");
    s->client.proxy_url = xstrdup("socks5://localhost:1080");
    assert_int_equal(kube_get(&s->client, "/x", NULL, &err), -1);
    assert_non_null(strstr(err.hints[0], "(set by proxy-url of the kubeconfig)"));
    text_set(&s->client.server, xstrdup("https://127.0.0.1:6443"));
    assert_int_equal(kube_get(&s->client, "/x", NULL, &err), -1);
    assert_string_equal(err.hints[1], ""); /* the proxy's loopback, not ours */
    s->proxy = NULL;
    assert_int_equal(kube_get(&s->client, "/x", NULL, &err), -1);
    assert_true(text_starts_with(err.hints[0], "https://127.0.0.1:6443 is this machine itself"));
}

static void gives_up_in_time(void **state) {
    static const struct row down[] = {{0, "", ERROR_NETWORK, 0}}, denied[] = {{403, "", 0, 0}};
    struct scene *s = *state;
    struct error err = {0};

    play(s, down, 1);
    assert_int_equal(kube_get_retry(&s->client, "/x", 30000, NULL, &err), -1);
    assert_int_equal(err.kind, ERROR_NETWORK);
    assert_in_range(host_monotonic_ms(s->host), 20000, 30000);
    assert_in_range(s->asked, 7, 12);
    host_memory_advance(s->host, 30000); /* a server that was away may refuse at first */
    play(s, denied, 1);
    assert_int_equal(kube_get_retry(&s->client, "/x", 30000, NULL, &err), -1);
    assert_int_equal(err.kind, ERROR_DENIED);
    assert_int_equal(s->asked, 3); /* its /readyz is not for everybody: once more, and no longer */
}

static void reads_config_maps(void **state) {
    static const struct row rows[] = {{200, "{\"data\":{\"a\":\"1\",\"b\":\"\",\"c.d\":\"2\"}}", 0,
                                       0}},
                            no[] = {{404, "", 0, 0}};
    struct scene *s = *state;
    _cleanup_json_ json_t *map = NULL;
    struct error err = {0};

    play(s, rows, 1);
    assert_int_equal(kube_configmap_get(&s->client, "kube-system", "x", 1000, &map, NULL), 0);
    assert_string_equal(s->url, "https://k:6443/api/v1/namespaces/kube-system/configmaps/x");
    assert_string_equal(kube_configmap_value(map, "a"), "1");
    assert_null(kube_configmap_value(map, "b"));
    assert_string_equal(kube_configmap_value(map, "c.d"), "2");
    assert_null(kube_configmap_value(map, "e"));
    play(s, no, 1);
    assert_int_equal(kube_configmap_get(&s->client, "kube-system", "x", 1000, &map, &err), -1);
    assert_int_equal(err.kind, ERROR_ABSENT);
    assert_non_null(strstr(err.message, "get the x ConfigMap in namespace \"kube-system\": "));
}

/* What the server does not allow in so many words is not allowed. */
static void a_review_allows_or_does_not(void **state) {
    static const struct {
        const char *answer;
        bool allowed;
    } rows[] = {{"{\"status\":{\"allowed\":true}}", true},
                {"{\"status\":{\"allowed\":false}}", false},
                {"{\"status\":{\"denied\":false}}", false},
                {"{}", false}};
    static const struct kube_right right = {"create", "", "pods/exec"};
    struct scene *s = *state;

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const struct row row = {201, rows[i].answer, 0, 0};
        bool allowed = !rows[i].allowed;

        play(s, &row, 1);
        assert_int_equal(kube_may(&s->client, &right, 1, &allowed, NULL), 0);
        assert_non_null(strstr(s->body, "\"subresource\":\"exec\""));
        assert_int_equal(allowed, rows[i].allowed);
    }
}

/* One request tells what rules grant; only what they do not show is asked for by itself. */
static void a_review_of_rules_tells_many(void **state) {
    static const struct {
        const char *rule; /* verbs, groups, resources, names */
        unsigned asked;
        bool second;
    } rows[] = {
        {"\"verbs\":[\"list\",\"watch\"],\"apiGroups\":[\"\"],\"resources\":[\"services\","
         "\"nodes\"]",
         1, true},
        {"\"verbs\":[\"*\"],\"apiGroups\":[\"*\"],\"resources\":[\"*\"]", 1, true},
        {"\"verbs\":[\"list\"],\"apiGroups\":[\"\"],\"resources\":[\"services\"]", 2, false},
        {"\"verbs\":[\"list\",\"watch\"],\"apiGroups\":[\"apps\"],\"resources\":[\"services\","
         "\"nodes\"]",
         3, false},
        {"\"verbs\":[\"list\",\"watch\"],\"apiGroups\":[\"\"],\"resources\":[\"services\","
         "\"nodes\"],"
         "\"resourceNames\":[\"mine\"]",
         3, false},
    };
    static const struct kube_right rights[] = {{"list", "", "services"}, {"watch", "", "nodes"}};
    struct scene *s = *state;

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *rules =
            xasprintf("{\"status\":{\"resourceRules\":[{%s}],\"incomplete\":true}}", rows[i].rule);
        const struct row answers[] = {{201, rules, 0, 0},
                                      {201, "{\"status\":{\"allowed\":false}}", 0, 0}};
        bool may[2] = {false, !rows[i].second};

        play(s, answers, 2);
        assert_int_equal(kube_may(&s->client, rights, 2, may, NULL), 0);
        assert_int_equal(s->asked, rows[i].asked);
        assert_int_equal(may[1], rows[i].second);
    }
}

/* Each pause is another, so that nodes that were refused together come at different moments. */
static void how_long_it_pauses(void **state) {
    static const struct {
        unsigned attempt;
        long after;
        unsigned least, most;
    } rows[] = {{0, -1, 250, 750},     {0, 0, 250, 750},      {3, -1, 2000, 6000},
                {4, -1, 2500, 7500},   {9, 0, 2500, 7500},    {0, 1, 1000, 2000},
                {0, 59, 59000, 60000}, {0, 60, 60000, 61000}, {0, 86400, 60000, 61000}};
    struct scene *s = *state;

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        for (unsigned n = 0; n < 100; n++)
            assert_in_range(kube_pause_ms(s->host, rows[i].attempt, rows[i].after), rows[i].least,
                            rows[i].most);
}

static void which_names_objects_have(void **state) {
    static const struct {
        const char *name;
        bool valid;
    } rows[] = {{"a", true},    {"az09", true},  {"a-z.0-9", true}, {"", false},
                {"A", false},   {"-a", false},   {"a-", false},     {".a", false},
                {"a.", false},  {"a..b", false}, {"a.-b", false},   {"a-.b", false},
                {"a_b", false}, {"a/b", false},  {"{", false}};
    char longest[255] = "";

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        if (kube_name_is_valid(rows[i].name) != rows[i].valid)
            fail_msg("'%s'", rows[i].name);
    memset(longest, 'a', 253);
    assert_true(kube_name_is_valid(longest));
    longest[253] = 'a';
    assert_false(kube_name_is_valid(longest));
}

static void refuses_credentials_it_cannot_use(void **state) {
    struct kubeconfig exec = {.server = (char *)"https://k", .program = (char *)"exec"};
    struct kubeconfig basic = {
        .server = (char *)"https://k", .username = (char *)"u", .password = (char *)"p"};
    struct kubeconfig nowhere = {.token = (char *)"t"};
    struct kube_client client;
    struct error err = {0};

    (void)state;
    assert_int_equal(kube_client_open(NULL, NULL, &exec, &client, &err), -1);
    assert_int_equal(err.kind, ERROR_UNSUPPORTED);
    assert_int_equal(kube_client_open(NULL, NULL, &basic, &client, &err), -1);
    assert_int_equal(err.kind, ERROR_UNSUPPORTED);
    exec.token = (char *)"t"; /* what can be used is used */
    assert_int_equal(kube_client_open(NULL, NULL, &exec, &client, NULL), 0);
    assert_string_equal(client.bearer_token, "t");
    kube_client_close(&client);
    assert_null(client.server);
    assert_int_equal(kube_client_open(NULL, NULL, &nowhere, &client, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
}

static void escapes(void **state) {
    _cleanup_(freep) char *text = kube_escape("a/b?c=d e\xc3\xa4~_-.");

    (void)state;
    assert_string_equal(text, "a%2Fb%3Fc%3Dd%20e%C3%A4~_-.");
}

/* A long message ends with a whole letter. */
static void an_event_is_cut(void **state) {
    static const struct row made[] = {{201, "{}", 0, 0}};
    struct scene *s = *state;
    _cleanup_(freep) char *x = xasprintf("%0999d", 0), *long_one = xasprintf("%s\u00fc...", x);
    _cleanup_json_ json_t *event = NULL;

    play(s, made, 1);
    assert_int_equal(node_event_tell(&s->client, "n", NODE_JOIN_FAILED, long_one, NULL, NULL), 0);
    assert_int_equal(json_read(s->body, strlen(s->body), "event", &event, NULL), 0);
    assert_string_equal(json_text_at(event, "message"), x);
    assert_string_equal(json_text_at(event, "reason"), "JoinFailed");
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(sends_what_is_asked),
        CASE(turns_status_into_kinds),
        CASE(deleting_what_is_gone_is_success),
        CASE(tries_again_what_may_pass),
        CASE(a_slow_server_gets_more_time),
        CASE(a_server_that_comes_back_may_refuse_at_first),
        CASE(refused_together_does_not_come_back_together),
        CASE(names_the_way),
        CASE(gives_up_in_time),
        CASE(reads_config_maps),
        CASE(a_review_allows_or_does_not),
        CASE(a_review_of_rules_tells_many),
        CASE(how_long_it_pauses),
        CASE(an_event_is_cut),
        cmocka_unit_test(which_names_objects_have),
        cmocka_unit_test(refuses_credentials_it_cannot_use),
        cmocka_unit_test(escapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
