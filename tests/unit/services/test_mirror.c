/* Mirrors: what is fetched, tolerated, given up; by a clock that the test turns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "services/artifacts/artifacts.h"
#include "tests/memory/host_memory.h"
#include "tests/memory/http_memory.h"

#define SHA_ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define LOCK                                                                                       \
    "{\"apiVersion\":\"winjoin.io/v1alpha1\",\"kind\":\"BundleLock\",\"artifacts\":[{\"name\":"    \
    "\"kubelet\",\"version\":\"v1.37.1\",\"sha256\":\"" SHA_ABC "\",\"size\":3,"                   \
    "\"path\":\"bin/kube let.exe\"}]}"

/* What the server answers, one row a request; the last one for ever. */
struct answers {
    struct host *host;
    const struct answer {
        long status;
        const char *body;
        long retry_after; /* 0 = absent */
        enum error_kind fails;
        bool drips;
    } * rows;
    unsigned asked;
    const char *proxy; /* that was used, or NULL */
    char url[200];     /* the last one's */
};

static int drip(struct answers *answers, const struct http_request *request) {
    while (request->on_data(request->on_data_context, "x", 1) == 0)
        host_memory_advance(answers->host, 1000);
    return 0;
}

static int answer(void *context, const struct http_request *request, struct http_response *ret,
                  struct error *err) {
    struct answers *answers = context;
    const struct answer *row = answers->rows;

    for (unsigned i = 0; i < answers->asked && row[1].status; i++)
        row++;
    answers->asked++;
    assert_int_equal(text_format(answers->url, sizeof answers->url, "%s", request->url), 0);
    assert_false(request->follow_redirects);
    ret->proxy = xstrdup_null(answers->proxy);
    if (row->fails)
        return error_set(err, row->fails, "GET: as the test wants it");
    ret->status = row->status;
    ret->retry_after = row->retry_after ? row->retry_after : -1;
    if (row->drips)
        return drip(answers, request);
    ret->body = xstrdup(row->body ? row->body : "");
    ret->body_len = strlen(ret->body);
    return 0;
}

struct scene {
    struct answers answers;
    struct mirror mirror;
    struct error err;
    char *data;
    size_t len;
};

static int open_scene(void **state) {
    struct scene *s = xcalloc(1, sizeof *s);

    s->answers.host = host_memory_new();
    s->mirror = (struct mirror){.host = s->answers.host,
                                .http = http_memory_new(answer, &s->answers),
                                .url = "https://m.test/w/",
                                .limit_ms = 60000};
    *state = s;
    return 0;
}

static int close_scene(void **state) {
    struct scene *s = *state;

    free(s->data);
    http_free(s->mirror.http);
    host_free(s->answers.host);
    free(s);
    return 0;
}

static int fetch(struct scene *s, const struct answer *rows, size_t max) {
    s->answers.rows = rows;
    s->answers.asked = 0;
    freep(&s->data);
    error_clear(&s->err);
    struct mirror_file file = {.path = "a/b#?%.exe", .max = max};
    int result = mirror_fetch_all(&s->mirror, &file, 1, &s->err);

    s->data = file.data;
    s->len = file.len;
    return result;
}

static void takes_the_file(void **state) {
    static const struct answer good[] = {{.status = 200, .body = "abc"}, {0}};
    static const struct answer empty[] = {{.status = 200}, {0}};
    struct scene *s = *state;

    assert_int_equal(fetch(s, good, 3), 0);
    assert_int_equal(s->len, 3);
    assert_string_equal(s->data, "abc");
    assert_string_equal(s->answers.url, "https://m.test/w/a/b%23%3F%25.exe");
    assert_int_equal(fetch(s, empty, 0), 0);
    assert_int_equal(s->len, 0);
    assert_string_equal(s->data, "");
    assert_int_equal(fetch(s, good, 2), -1);
    assert_int_equal(s->err.kind, ERROR_UNTRUSTED);
}

/* Of a file that is longer, or as long, or shorter. */
static void takes_the_head_of_a_file(void **state) {
    static const struct answer good[] = {{.status = 200, .body = "abc"}, {0}};
    struct scene *s = *state;

    for (size_t max = 1; max <= 4; max++) {
        struct mirror_file file = {.path = "a", .max = max, .head = true};

        s->answers.rows = good;
        s->answers.asked = 0;
        if (mirror_fetch_all(&s->mirror, &file, 1, &s->err) < 0)
            fail_msg("%s", s->err.message);
        assert_int_equal(file.len, max < 3 ? max : 3);
        assert_memory_equal(file.data, "abc", file.len);
        assert_int_equal(s->answers.asked, 1);
        free(file.data);
    }
}

/* What is behind it is not waited for. */
static void ends_with_the_head(void **state) {
    static const struct answer drips[] = {{.status = 200, .drips = true}, {0}};
    struct scene *s = *state;
    struct mirror_file file = {.path = "a", .max = 3, .head = true};

    s->answers.rows = drips;
    if (mirror_fetch_all(&s->mirror, &file, 1, &s->err) < 0)
        fail_msg("%s", s->err.message);
    assert_string_equal(file.data, "xxx");
    free(file.data);
}

static void names_the_proxy_of_a_failure(void **state) {
    static const struct answer gone[] = {{.status = 404}, {0}};
    static const struct answer broken[] = {{.status = 1, .fails = ERROR_UNTRUSTED}, {0}};
    struct scene *s = *state;

    for (unsigned i = 0; i < 2; i++) {
        s->answers.proxy = "http://10.0.0.9:3128";
        assert_int_equal(fetch(s, i ? broken : gone, 3), -1);
        assert_non_null(
            strstr(s->err.hints[0], "through the proxy http://10.0.0.9:3128 (set by HTTPS_"));
        s->answers.proxy = NULL;
        assert_int_equal(fetch(s, i ? broken : gone, 3), -1);
        assert_string_equal(s->err.hints[0], "");
    }
}

static void bears_what_may_pass(void **state) {
    static const struct answer rows[] = {{.status = 503, .retry_after = 20},
                                         {.status = 1, .fails = ERROR_NETWORK},
                                         {.status = 429},
                                         {.status = 200, .body = "abc"},
                                         {0}};
    struct scene *s = *state;
    uint64_t begin = host_monotonic_ms(s->answers.host);

    assert_int_equal(fetch(s, rows, 3), 0);
    assert_int_equal(s->answers.asked, 4);
    /* never earlier than asked for */
    assert_true(host_monotonic_ms(s->answers.host) - begin >= 20000 + 2000 + 4000);
}

static void gives_up_in_time(void **state) {
    static const struct {
        struct answer rows[2];
        enum error_kind kind;
        const char *says;
        bool again;
    } cases[] = {
        {{{.status = 503}}, ERROR_NETWORK, "answers 503", true},
        {{{.status = 1, .fails = ERROR_TIMED_OUT}}, ERROR_TIMED_OUT, "as the test wants", true},
        {{{.status = 200, .drips = true}}, ERROR_TIMED_OUT, "fewer than 30720 bytes", true},
        {{{.status = 404, .body = "<html>"}}, ERROR_ABSENT, "no such file", false},
        {{{.status = 403}}, ERROR_DENIED, "403", false},
        {{{.status = 302}}, ERROR_NETWORK, "answers 302", false},
        {{{.status = 206, .body = "abc"}}, ERROR_NETWORK, "answers 206", false},
        {{{.status = 1, .fails = ERROR_UNTRUSTED}}, ERROR_UNTRUSTED, "as the test wants", false},
        {{{.status = 1, .fails = ERROR_INTERRUPTED}}, ERROR_INTERRUPTED, "as the test", false},
    };
    struct scene *s = *state;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        uint64_t begin = host_monotonic_ms(s->answers.host);

        assert_int_equal(fetch(s, cases[i].rows, 1000), -1);
        assert_int_equal(s->err.kind, cases[i].kind);
        assert_non_null(strstr(s->err.message, cases[i].says));
        assert_int_equal(s->answers.asked > 1, cases[i].again);
        assert_true(host_monotonic_ms(s->answers.host) - begin <= 60000 + 31000);
    }
}

static void installs_once(void **state) {
    static const struct answer good[] = {
        {.status = 200, .body = LOCK}, {.status = 200, .body = "abc"}, {0}};
    static const struct answer bad[] = {
        {.status = 200, .body = LOCK}, {.status = 200, .body = "abd"}, {0}};
    struct scene *s = *state;
    struct artifacts_result result = {0};

    for (int i = 0; i < 3; i++) {
        struct bundle *bundle = NULL;
        int expected = i ? 0 : -1;

        s->answers = (struct answers){.host = s->answers.host, .rows = i ? good : bad};
        assert_int_equal(bundle_open_mirror(&s->mirror, NULL, &bundle, &s->err), 0);
        assert_int_equal(
            artifacts_ensure(s->answers.host, bundle, NULL, NULL, NULL, &result, &s->err),
            expected);
        assert_int_equal(s->answers.asked,
                         i == 2 ? 1 : 2); /* proved and installed by one request */
        bundle_freep(&bundle);
    }
    assert_int_equal(s->err.kind, ERROR_UNTRUSTED);
    assert_int_equal(result.present, 1);
    assert_int_equal(host_file_type(s->answers.host, "C:\\k\\kubelet.exe"), HOST_FILE);
}

/* What nobody asked for before is fetched then. */
static void takes_one_artifact(void **state) {
    static const struct answer answers[] = {
        {.status = 200, .body = LOCK}, {.status = 200, .body = "abc"}, {0}};
    struct scene *s = *state;
    struct bundle *bundle = NULL;
    _cleanup_(freep) char *data = NULL;
    size_t len = 0;

    s->answers = (struct answers){.host = s->answers.host, .rows = answers};
    assert_int_equal(bundle_open_mirror(&s->mirror, NULL, &bundle, &s->err), 0);
    assert_int_equal(bundle_take(bundle, &bundle_artifacts(bundle)->items[0], &data, &len, &s->err),
                     0);
    assert_int_equal(len, 3);
    assert_string_equal(data, "abc");
    bundle_freep(&bundle);
}

static void takes_the_head_of_an_artifact(void **state) {
    static const struct answer answers[] = {
        {.status = 200, .body = LOCK}, {.status = 200, .body = "more than the lock says"}, {0}};
    struct bundle *bundle = NULL;
    struct scene *s = *state;

    s->answers = (struct answers){.host = s->answers.host, .rows = answers};
    assert_int_equal(bundle_open_mirror(&s->mirror, NULL, &bundle, &s->err), 0);
    assert_int_equal(
        bundle_head(bundle, &bundle_artifacts(bundle)->items[0], &s->data, &s->len, &s->err), 0);
    assert_string_equal(s->data, "more than the lock says");
    bundle_freep(&bundle);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(takes_the_file, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(takes_the_head_of_a_file, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(ends_with_the_head, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(names_the_proxy_of_a_failure, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(bears_what_may_pass, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(gives_up_in_time, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(installs_once, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(takes_one_artifact, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(takes_the_head_of_an_artifact, open_scene, close_scene),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
