/* Services and EndpointSlices followed beside Nodes, in one wait. */
#include "diag/drift/drift.h"
#include "tests/scene/kube_scene.h"

#define OBJECT(name, version, more)                                                                \
    "{\"metadata\":{\"namespace\":\"d\",\"name\":\"" name "\",\"resourceVersion\":\"" version      \
    "\"}" more "}"
#define AT(vip) ",\"spec\":{\"clusterIP\":\"" vip "\"}"
#define DENIED "{\"kind\":\"Status\",\"message\":\"no\",\"reason\":\"Forbidden\",\"code\":403}"

static struct drift_follow follow;

static int on_node(void *, const char *, const json_t *object, struct error *) {
    return text_equal(json_text_at(object, "metadata.resourceVersion"), "end");
}

static int watch(struct scene *s, unsigned timeout_ms, struct error *err) {
    struct kube_watch all[1 + DRIFT_WATCHES] = {
        {.path = "/api/v1/nodes", .timeout_ms = timeout_ms, .on_event = on_node, .context = s}};

    drift_follow_watches(&follow, all + 1);
    return kube_watch(&s->client, all, ARRAY_SIZE(all), err);
}

/* "d/a 10.96.0.1, d/b 10.96.0.2" */
static void assert_services(const char *wanted) {
    struct text t = {0};

    for (size_t i = 0; i < follow.cluster.service_count; i++)
        text_addf(&t, "%s%s %s", i ? ", " : "", follow.cluster.services[i].name,
                  follow.cluster.services[i].vip);
    assert_string_equal(text_str(&t), wanted);
    text_free(&t);
}

static void what_comes_is_kept(void **state) {
    struct scene *s = *state;

    PLAY(
        s, {"/api/v1/nodes?limit=500", 200, LIST("10", ""), 0, 0},
        {"/api/v1/services?resourceVersion=0", 200,
         LIST("20", OBJECT("c", "3", AT("10.96.0.3")) "," OBJECT("a", "4", AT("10.96.0.1"))), 0, 0},
        {"/endpointslices?resourceVersion=0", 200, LIST("30", OBJECT("a-1", "5", "")), 0, 0},
        {"/api/v1/nodes?watch=true&allowWatchBookmarks=true&resourceVersion=10&", 200, "", 0,
         20000},
        {"/api/v1/services?watch=true&allowWatchBookmarks=true&resourceVersion=20&", 200,
         EVENT("ADDED", OBJECT("b", "21", AT("10.96.0.2"))) EVENT(
             "MODIFIED", OBJECT("a", "22", AT("10.96.0.9"))) EVENT("DELETED", OBJECT("c", "23", ""))
             EVENT("DELETED", OBJECT("x", "24", "")) EVENT("BOOKMARK", NODE("25", "")),
         0, 0},
        {"/endpointslices?watch=true&allowWatchBookmarks=true&resourceVersion=30&", 200,
         EVENT("ERROR", "{\"code\":410,\"message\":\"too old resource version\"}"), 0, 0},
        {"/endpointslices?limit=500", 200, /* alone, and as new as etcd has it */
         LIST("50", OBJECT("a-2", "6", "") "," OBJECT("a-3", "7", "")), 0, 0},
        {"/api/v1/nodes?watch", 200, EVENT("ADDED", NODE("end", "")), 0, 0},
        {"/api/v1/services?watch=true&allowWatchBookmarks=true&resourceVersion=25&", 200, "", 0, 0},
        {"resourceVersion=50&", 200, "", 0, 0});
    assert_int_equal(watch(s, 600000, NULL), 0);
    assert_int_equal(s->asked, s->count);
    assert_string_equal(s->accept, "application/vnd.kubernetes.protobuf, application/json");
    assert_services("d/a 10.96.0.9, d/b 10.96.0.2");
    assert_int_equal(follow.cluster.slice_count, 2);
    assert_string_equal(follow.cluster.slices[0].name, "d/a-2");
    assert_int_equal(follow.changes, 3 + 4); /* lists, events */
}

/* The next wait, of another client, goes on from there. */
static void it_is_not_listed_again(void **state) {
    struct scene *s = *state;

    PLAY(s, {"nodes", 200, LIST("10", NODE("end", "")), 0, 0});
    follow.versions[DRIFT_SERVICES] = xstrdup("20");
    follow.versions[DRIFT_SLICES] = xstrdup("30");
    assert_int_equal(watch(s, 600000, NULL), 0);
    PLAY(s, {"nodes", 200, LIST("10", ""), 0, 0}, {"nodes?watch", 200, "", 0, 20000},
         {"services?watch=true&allowWatchBookmarks=true&resourceVersion=20&", 200,
          EVENT("ADDED", OBJECT("b", "21", AT("10.96.0.2"))), 0, 0},
         {"resourceVersion=30&", 200, EVENT("BOOKMARK", NODE("31", "")), 0, 0},
         {"nodes?watch", 200, EVENT("ADDED", NODE("end", "")), 0, 0},
         {"resourceVersion=21&", 200, "", 0, 0}, {"resourceVersion=31&", 200, "", 0, 0});
    s->asked = 0;
    assert_int_equal(watch(s, 600000, NULL), 0);
    assert_services("d/b 10.96.0.2");
    assert_string_equal(follow.versions[DRIFT_SERVICES], "21");
    assert_string_equal(follow.versions[DRIFT_SLICES], "31");
}

/* ---- a server that grants less ---- */

static struct { unsigned lists, watches; } services, slices;

static int refuse(void *context, const struct http_request *request, struct http_response *ret,
                  struct error *) {
    struct scene *s = context;
    bool streams = strstr(request->url, "watch=true");
    bool of_services = strstr(request->url, "/services"),
         of_slices = strstr(request->url, "/endpointslices");

    if (of_services || of_slices)
        ++*(of_services ? streams ? &services.watches : &services.lists
            : streams   ? &slices.watches
                        : &slices.lists);
    ret->status = of_services || (of_slices && streams) ? 403 : 200;
    ret->body = xstrdup(ret->status == 403 ? DENIED
                        : streams          ? EVENT("BOOKMARK", NODE("11", ""))
                                           : LIST("10", OBJECT("a", "5", "")));
    ret->body_len = strlen(ret->body);
    for (unsigned ms = 0; streams && !of_slices && ms < 20000; ms += 1000) {
        host_memory_advance(s->host, 1000);
        if (request->on_data(request->on_data_context, NULL, 0))
            return 0;
    }
    if (streams)
        (void)request->on_data(request->on_data_context, ret->body, ret->body_len);
    return 0;
}

/* A list is asked for every quarter of an hour, and Nodes go on being watched. */
static void who_may_not_watch_lists(void **state) {
    struct scene *s = *state;
    struct http *http = http_memory_new(refuse, s);
    struct error err = {0};

    s->client.http = http;
    assert_int_equal(watch(s, 20 * 60000, &err), -1);
    assert_int_equal(err.kind, ERROR_TIMED_OUT);
    assert_int_equal(services.watches, 0);
    assert_int_equal(services.lists, 2);
    assert_int_equal(slices.watches, 1);
    assert_int_equal(slices.lists, 2);
    assert_false(follow.cluster.has_services);
    assert_true(follow.cluster.has_slices);
    s->client.http = s->http;
    http_free(http);
}

/* Each version of a Service is too old, at once; all other streams end at once. */
static int too_old(void *context, const struct http_request *request, struct http_response *ret,
                   struct error *) {
    bool streams = strstr(request->url, "watch=true"),
         of_services = strstr(request->url, "/services"),
         of_slices = strstr(request->url, "/endpointslices");

    (void)context;
    services.lists += of_services && !streams;
    slices.watches += of_slices && streams;
    assert_true(services.lists < 1000 && slices.watches < 1000); /* without a pause */
    ret->status = 200;
    ret->body = xstrdup(streams && of_services ? EVENT("ERROR", "{\"code\":410}")
                        : streams              ? EVENT("BOOKMARK", NODE("11", ""))
                                               : LIST("10", ""));
    ret->body_len = strlen(ret->body);
    if (streams)
        (void)request->on_data(request->on_data_context, ret->body, ret->body_len);
    return 0;
}

static void who_is_always_too_late_pauses(void **state) {
    struct scene *s = *state;
    struct http *http = http_memory_new(too_old, s);
    struct error err = {0};

    services.lists = slices.watches = 0;
    s->client.http = http;
    assert_int_equal(watch(s, 30000, &err), -1);
    assert_int_equal(err.kind, ERROR_TIMED_OUT);
    assert_in_range(services.lists, 5, 40);
    assert_in_range(slices.watches, 5, 80);
    s->client.http = s->http;
    http_free(http);
}

static int forget(void **state) {
    drift_follow_free(&follow);
    return teardown(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_comes_is_kept, setup, forget),
        cmocka_unit_test_setup_teardown(it_is_not_listed_again, setup, forget),
        cmocka_unit_test_setup_teardown(who_may_not_watch_lists, setup, forget),
        cmocka_unit_test_setup_teardown(who_is_always_too_late_pauses, setup, forget),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
