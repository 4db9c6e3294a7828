/* A joined node that publishes its own network report to an API server in memory. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/log.h"
#include "diag/network_report.h"
#include "node/keeper/network_keeper.h"
#include "services/service_table.h"
#include "tests/memory/host_memory.h"
#include "tests/memory/http_memory.h"
#include "tests/scene/network_scene.h"

#define SERVICE                                                                                    \
    "{\"metadata\":{\"namespace\":\"d\",\"name\":\"a\",\"creationTimestamp\":"                     \
    "\"2020-01-01T00:00:00Z\"},\"spec\":{\"clusterIP\":\"10.96.0.9\",\"ports\":[{\"port\":80}]}}"
#define SLICE                                                                                      \
    "{\"metadata\":{\"namespace\":\"d\",\"labels\":{\"kubernetes.io/service-name\":\"a\"}},"       \
    "\"ports\":[{\"port\":80}],\"endpoints\":[{\"addresses\":[\"10.244.3.4\"]}]}"
enum { MINUTE = 60000, HOUR = 60 * MINUTE };

static struct scene scene;
static struct host *host;
static struct http *http;
static struct network_publisher publisher;
static struct {
    char *annotation;  /* of the Node; NULL: none */
    json_t *condition; /* the same */
    unsigned requests, patches;
    long status; /* of a patch that fails; 0: it works */
    bool away, service, no_event;
    struct text paths, log, events; /* "Warning PodNetworkNotProved: CL-HNS: ..." */
} api;

static inline void keep(const json_t *patch) {
    json_t *annotations = json_at(patch, "metadata.annotations"),
           *condition = json_at(patch, "status.conditions.0");
    const char *text = json_string_value(json_object_get(annotations, NETWORK_REPORT_ANNOTATION));

    assert_string_equal(json_text_at(condition, "type"), NETWORK_PROOF_CONDITION);
    assert_int_equal(json_array_size(json_at(patch, "status.conditions")), 1); /* nobody else's */
    json_decref(api.condition);
    api.condition = json_text_at(condition, "$patch") ? NULL : json_incref(condition);
    api.patches++;
    if (!annotations)
        return;
    assert_int_equal(json_object_size(annotations), 1);
    free(api.annotation);
    api.annotation = text ? xstrdup(text) : NULL;
}

static inline void keep_event(const json_t *event) {
    assert_string_equal(json_text_at(event, "metadata.generateName"), "win-7k2.");
    assert_string_equal(json_text_at(event, "involvedObject.kind"), "Node");
    assert_string_equal(json_text_at(event, "involvedObject.uid"), "win-7k2");
    assert_int_equal(json_number_at(event, "count", 0), 1);
    assert_string_equal(json_text_at(event, "lastTimestamp"),
                        json_text_at(event, "firstTimestamp"));
    text_addf(&api.events, "%s %s: %s\n", json_text_at(event, "type"),
              json_text_at(event, "reason"), json_text_at(event, "message"));
}

static inline char *node(void) {
    json_t *object =
        json_pack("{s:{s:s, s:{s:s*}}, s:{s:[{s:s, s:s}, O*]}}", "metadata", "name", "win-7k2",
                  "annotations", NETWORK_REPORT_ANNOTATION, api.annotation, "status", "conditions",
                  "type", "Ready", "status", "True", api.condition);
    char *text = json_write(object);

    json_decref(object);
    return text;
}

static inline int answer(void *context, const struct http_request *request,
                         struct http_response *ret, struct error *err) {
    const char *path = request->url + strlen("https://k");
    json_t *patch = NULL;

    (void)context;
    api.requests++;
    text_addf(&api.paths, "%s %s\n", request->method ? request->method : "GET", path);
    if (api.away)
        return error_set(err, ERROR_NETWORK, "connection refused");
    ret->status = 200;
    if (text_equal(request->method, "POST")) {
        assert_string_equal(path, "/api/v1/namespaces/default/events");
        assert_int_equal(json_read(request->body, strlen(request->body), "event", &patch, NULL), 0);
        keep_event(patch);
        json_decref(patch);
        ret->status = 201;
        ret->body = xstrdup("{\"metadata\":{\"name\":\"win-7k2.x\"}}");
    } else if (text_equal(path, "/api/v1/namespaces/default/events/win-7k2.x")) {
        assert_int_equal(json_read(request->body, strlen(request->body), "event", &patch, NULL), 0);
        text_addf(&api.events, "again, %lld\n", json_number_at(patch, "count", 0));
        json_decref(patch);
        ret->status = api.no_event ? 404 : 200;
        ret->body = xstrdup("{}");
    } else if (text_equal(request->method, "PATCH")) {
        assert_string_equal(path, "/api/v1/nodes/win-7k2/status");
        assert_int_equal(json_read(request->body, strlen(request->body), "patch", &patch, NULL), 0);
        ret->status = api.status ? api.status : 200;
        if (!api.status)
            keep(patch);
        json_decref(patch);
        ret->body = xstrdup("{}");
    } else {
        ret->body =
            text_starts_with(path, "/api/v1/nodes/win-7k2")  ? node()
            : strstr(path, "/services") && api.service       ? xstrdup("{\"items\":[" SERVICE "]}")
            : strstr(path, "/endpointslices") && api.service ? xstrdup("{\"items\":[" SLICE "]}")
                                                             : xstrdup("{\"items\":[]}");
    }
    ret->body_len = strlen(ret->body);
    return 0;
}

static inline void on_log(void *context, enum log_level level, const char *line) {
    (void)context;
    text_addf(&api.log, "%d %s\n", (int)level, line);
}

static inline void put_proxy(void) {
    const struct service_settings settings = {
        .kubelet_version = "v1.37.1", .kube_proxy_version = "v1.37.1", .node_name = "win-7k2"};

    assert_int_equal(service_ensure(host, &service_kube_proxy, &settings, NULL, NULL), 0);
    host_memory_set_service_state(host, service_kube_proxy.name, HOST_SERVICE_RUNNING);
}

static inline int open_host(void **state) {
    (void)state;
    host = host_memory_new();
    http = http_memory_new(answer, NULL);
    publisher = (struct network_publisher){.host = host, .http = http};
    scene_write_kubeconfig(host);
    scene_make_networks(&scene, host, "overlay", "win-overlay");
    scene_write_chosen(&scene, host, NULL);
    put_proxy();
    log_open(on_log, NULL, LOG_RETRY);
    return 0;
}

static inline int close_host(void **state) {
    (void)state;
    log_open(NULL, NULL, LOG_WARNING);
    free(api.annotation);
    json_decref(api.condition);
    text_free(&api.paths);
    text_free(&api.log);
    text_free(&api.events);
    memset(&api, 0, sizeof api);
    scene_close(&scene);
    http_free(http);
    host_free(host);
    node_events_free(&publisher.events);
    return 0;
}

static inline void add_balancer(const char *vip) {
    _cleanup_(freep) char *text = xasprintf(
        "{\"FrontendVIPs\":[\"%s\"],\"PortMappings\":[{\"Protocol\":6,\"ExternalPort\":80,"
        "\"InternalPort\":80}],\"Flags\":1}",
        vip);
    char *properties = NULL;
    struct error err = {0};

    if (hcn_create(host, HCN_LOAD_BALANCER, NULL, NULL, text, &properties, &err) < 0)
        fail_msg("%s", err.message);
    free(properties);
}

/* So long, a look each two seconds; the first one has `news`. */
static inline void pass(unsigned ms, enum network_news news) {
    for (; ms; ms = ms < 2000 ? 0 : ms - 2000) {
        network_publisher_on_check(&publisher, &(struct network_check){.news = news});
        news = NEWS_SAME;
        host_memory_advance(host, 2000);
    }
}

static inline size_t text_lines(const struct text *text) {
    size_t lines = 0;

    for (size_t i = 0; i < text->len; i++)
        lines += text->data[i] == '\n';
    return lines;
}

static inline void assert_condition(const char *status, const char *reason) {
    assert_string_equal(json_text_at(api.condition, "status"), status);
    assert_string_equal(json_text_at(api.condition, "reason"), reason);
}

#define DRIFT                                                                                      \
    "Warning NetworkDrift: 1 Services without a load balancer in HNS (d/a 10.96.0.9:80/TCP)\n"

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_host, close_host)
