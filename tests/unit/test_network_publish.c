/* A joined node publishes its own network report: when, what, and that it never does harm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/log.h"
#include "diag/network_proof.h"
#include "diag/network_report_publish.h"
#include "netsetup/peer_watch.h"
#include "services/service_table.h"
#include "tests/memory/host_memory.h"
#include "tests/memory/http_memory.h"
#include "tests/unit/network_scene.h"

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
    bool away, service;
    struct text paths, log, events; /* "Warning PodNetworkNotProved: CL-HNS: ..." */
} api;

static void keep(const json_t *patch) {
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

static void keep_event(const json_t *event) {
    assert_string_equal(json_text_at(event, "metadata.generateName"), "win-7k2.");
    assert_string_equal(json_text_at(event, "involvedObject.kind"), "Node");
    assert_string_equal(json_text_at(event, "involvedObject.uid"), "win-7k2");
    assert_int_equal(json_number_at(event, "count", 0), 1);
    assert_string_equal(json_text_at(event, "lastTimestamp"),
                        json_text_at(event, "firstTimestamp"));
    text_addf(&api.events, "%s %s: %s\n", json_text_at(event, "type"),
              json_text_at(event, "reason"), json_text_at(event, "message"));
}

static char *node(void) {
    json_t *object =
        json_pack("{s:{s:s, s:{s:s*}}, s:{s:[{s:s, s:s}, O*]}}", "metadata", "name", "win-7k2",
                  "annotations", NETWORK_REPORT_ANNOTATION, api.annotation, "status", "conditions",
                  "type", "Ready", "status", "True", api.condition);
    char *text = json_write(object);

    json_decref(object);
    return text;
}

static int answer(void *context, const struct http_request *request, struct http_response *ret,
                  struct error *err) {
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

static void on_log(void *context, enum log_level level, const char *line) {
    (void)context;
    text_addf(&api.log, "%d %s\n", (int)level, line);
}

static void put_proxy(void) {
    const struct service_settings settings = {
        .kubelet_version = "v1.37.1", .kube_proxy_version = "v1.37.1", .node_name = "win-7k2"};

    assert_int_equal(service_ensure(host, &service_kube_proxy, &settings, NULL, NULL), 0);
    host_memory_set_service_state(host, service_kube_proxy.name, HOST_SERVICE_RUNNING);
}

static void write_join(const char *name) {
    _cleanup_json_ json_t *file = boot_network_json(&scene.input);
    _cleanup_(freep) char *text = NULL;

    if (name)
        json_object_set_new(file, "node", json_string(name));
    text = json_write(file);
    assert_int_equal(host_write(host, BOOT_NETWORK_FILE, text, strlen(text), HOST_SECRET, NULL), 0);
}

static int open_host(void **state) {
    (void)state;
    host = host_memory_new();
    http = http_memory_new(answer, NULL);
    publisher = (struct network_publisher){.host = host, .http = http};
    scene_write_kubeconfig(host);
    scene_make_networks(&scene, host, "overlay", "win-overlay");
    write_join("win-7k2");
    put_proxy();
    log_open(on_log, NULL, LOG_RETRY);
    return 0;
}

static int close_host(void **state) {
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
    return 0;
}

static void add_balancer(const char *vip) {
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
static void pass(unsigned ms, enum network_news news) {
    for (; ms; ms = ms < 2000 ? 0 : ms - 2000) {
        network_publisher_look(&publisher, news);
        news = NEWS_SAME;
        host_memory_advance(host, 2000);
    }
}

static json_t *published(void) {
    json_t *report = NULL;
    struct error err = {0};

    assert_non_null(api.annotation);
    if (network_report_read(api.annotation, &report, &err) < 0)
        fail_msg("%s", err.message);
    return report;
}

static void a_well_node_says_so_and_rarely(void **state) {
    _cleanup_json_ json_t *report = NULL;
    unsigned asked;

    (void)state;
    add_balancer("10.96.0.9");
    api.service = true;
    pass(89000, NEWS_SAME);
    assert_int_equal(api.requests, 0);
    pass(20000, NEWS_SAME);
    assert_int_equal(api.patches, 1);
    report = published();
    assert_string_equal(json_text_at(report, "mode"), "overlay");
    assert_string_equal(json_text_at(report, "dsr"), "on");
    assert_false(network_report_differs(report));
    assert_non_null(json_object_get(report, "drift"));
    assert_null(strstr(text_str(&api.paths), "/api/v1/nodes?"));
    asked = api.requests; /* its Node, three lists, the patch */
    assert_int_equal(asked, 5);
    pass(50 * MINUTE, NEWS_SAME); /* nothing changes: three or two looks, no patch */
    assert_int_equal(api.patches, 1);
    assert_true(api.requests - asked >= 8 && api.requests - asked <= 12);
    pass(35 * MINUTE, NEWS_SAME);
    assert_int_equal(api.patches, 2);
}

/* Load balancers are news only while something is wrong. */
static void what_hns_lacks_is_confirmed_first(void **state) {
    _cleanup_json_ json_t *report = NULL, *again = NULL;
    unsigned asked;

    (void)state;
    api.service = true; /* no load balancer for it */
    pass(110000, NEWS_SAME);
    assert_int_equal(api.requests, 4); /* seen once */
    assert_int_equal(api.patches, 0);
    pass(75000, NEWS_SAME);
    assert_int_equal(api.patches, 1);
    report = published();
    assert_true(network_report_lacks(report));
    assert_string_equal(json_text_at(report, "drift.servicesWithoutLoadBalancer.first.0"),
                        "d/a 10.96.0.9:80/TCP");
    pass(20 * MINUTE, NEWS_SAME); /* and said again, so that it is fresh */
    assert_int_equal(api.patches, 2);
    add_balancer("10.96.0.9");
    pass(110000, NEWS_BALANCERS);
    assert_int_equal(api.patches, 3);
    again = published();
    assert_false(network_report_differs(again));
    asked = api.requests;
    pass(13 * MINUTE, NEWS_BALANCERS); /* no hurry any more */
    assert_int_equal(api.requests, asked);
}

static void what_is_there_again_was_never_said(void **state) {
    (void)state;
    api.service = true;
    pass(110000, NEWS_SAME);
    add_balancer("10.96.0.9");
    pass(75000, NEWS_SAME);
    assert_int_equal(api.patches, 1);
    assert_null(strstr(api.annotation, "servicesWithoutLoadBalancer"));
}

static size_t text_lines(const struct text *text) {
    size_t lines = 0;

    for (size_t i = 0; i < text->len; i++)
        lines += text->data[i] == '\n';
    return lines;
}

static void assert_condition(const char *status, const char *reason) {
    assert_string_equal(json_text_at(api.condition, "status"), status);
    assert_string_equal(json_text_at(api.condition, "reason"), reason);
}

/* That it is in doubt is said at once; what is so not: kube-proxy writes its load balancers again
 * meanwhile. */
static void a_restart_of_hns_is_looked_at_soon(void **state) {
    (void)state;
    pass(110000, NEWS_SAME);
    assert_int_equal(api.patches, 1);
    api.service = true;
    pass(88000, NEWS_RESTORED);
    assert_int_equal(api.requests, 7);
    assert_condition("Unknown", "NetworkRestored");
    pass(24000, NEWS_SAME);
    assert_int_equal(api.requests, 11);
    assert_int_equal(api.patches, 2);
    pass(75000, NEWS_SAME);
    assert_int_equal(api.patches, 3);
    assert_condition("False", "CL-HNS");
    assert_string_equal(text_str(&api.events),
                        "Warning PodNetworkNotProved: CL-HNS: HNS has otherwise than Kubernetes: 1 "
                        "Services without a load balancer in HNS (d/a 10.96.0.9:80/TCP)\n");
}

/* Proved, in doubt, lacking, and proved again: an event each, and no other. */
static void changes_are_events(void **state) {
    struct diag_report measured = {.time = 0};
    struct diag_cell cells[FLOW_COUNT] = {0};
    struct error err = {0};

    (void)state;
    measured.time = host_now(host);
    for (size_t i = 0; i < FLOW_COUNT; i++)
        cells[i] = (struct diag_cell){.flow = &diag_flows[i], .outcome = DIAG_PASS};
    measured.cells.items = cells;
    measured.cells.count = FLOW_COUNT;
    for (int again = 0; again < 2; again++)
        assert_int_equal(network_report_publish(host, http, &measured, &err), 0);
    assert_condition("True", "FlowsWork");
    assert_int_equal(text_lines(&api.events), 1);
    pass(2000, NEWS_RESTORED);
    assert_int_equal(text_lines(&api.events), 2);
    pass(110000, NEWS_SAME);
    assert_condition("True", "FlowsWork");
    assert_int_equal(text_lines(&api.events), 3);
    assert_true(text_starts_with(text_str(&api.events), "Normal PodNetworkProved: FlowsWork: "));
    assert_non_null(strstr(text_str(&api.events),
                           "\nWarning PodNetworkNotProved: NetworkRestored: HNS was restarted"));
    assert_int_equal(network_report_clear(host, http, &err), 0);
    assert_int_equal(text_lines(&api.events), 3);
}

/* A Node that says nothing of it yet does not begin to; what a diagnosis proves meanwhile is in
 * doubt after the next restart. */
static void what_was_proved_between_restarts(void **state) {
    const struct diag_report measured = {.time = 1795859000};
    struct error err = {0};

    (void)state;
    pass(10000, NEWS_RESTORED);
    assert_null(api.condition);
    assert_int_equal(network_report_publish(host, http, &measured, &err), 0);
    assert_condition("Unknown", "NotMeasured");
    pass(10000, NEWS_RESTORED);
    assert_condition("Unknown", "NetworkRestored");
}

/* Nor while it is restarted again and again, though a look was due. */
static void each_restart_puts_the_look_off(void **state) {
    unsigned asked;

    (void)state;
    pass(110000, NEWS_SAME);
    asked = api.requests;
    for (unsigned minutes = 0; minutes < 20; minutes++)
        pass(MINUTE, NEWS_RESTORED);
    assert_int_equal(api.requests, asked + 2); /* the condition, once */
    pass(110000, NEWS_SAME);
    assert_true(api.requests > asked + 2);
    assert_condition("Unknown", "NotMeasured");
}

static void without_the_api_server(void **state) {
    (void)state;
    api.away = true;
    pass(110000, NEWS_SAME);
    assert_int_equal(api.requests, 1); /* one time-out, not four */
    assert_non_null(strstr(text_str(&api.log), "publish the report of this node's network: GET "));
    pass(4 * MINUTE, NEWS_SAME);
    assert_int_equal(api.requests, 1);
    api.away = false;
    pass(3 * MINUTE, NEWS_SAME);
    assert_int_equal(api.patches, 1);
    assert_false(host_deadline_passed(host));
}

static void refused(void **state) {
    struct error err = {0};

    (void)state;
    api.status = 403;
    assert_int_equal(network_report_publish(host, http, NULL, &err), -1);
    assert_int_equal(err.kind, ERROR_DENIED);
    pass(110000, NEWS_SAME);
    assert_non_null(strstr(text_str(&api.log), "2 publish the report"));
}

static void before_a_join_there_is_nothing_to_say(void **state) {
    struct error err = {0};

    (void)state;
    write_join(NULL); /* as an earlier version wrote it */
    assert_int_equal(network_report_publish(host, http, NULL, &err), -1);
    assert_int_equal(err.kind, ERROR_ABSENT);
    assert_int_equal(host_remove(host, BOOT_NETWORK_FILE, NULL), 0);
    err = (struct error){0};
    assert_int_equal(network_report_publish(host, http, NULL, &err), -1);
    assert_int_equal(err.kind, ERROR_ABSENT);
    err = (struct error){0};
    assert_int_equal(network_report_clear(host, http, &err), 0);
    assert_int_equal(err.kind, ERROR_NONE);
    pass(HOUR, NEWS_SAME);
    assert_int_equal(api.requests, 0);
}

/* Another's kube-proxy programs HNS, and its faults are not judged. */
static void without_our_kube_proxy_nothing_is_compared(void **state) {
    _cleanup_json_ json_t *report = NULL;
    struct error err = {0};

    (void)state;
    api.service = true;
    host_memory_set_service_state(host, service_kube_proxy.name, HOST_SERVICE_STOPPED);
    assert_int_equal(network_report_publish(host, http, NULL, &err), 0);
    assert_int_equal(api.requests, 2);
    report = published();
    assert_null(json_object_get(report, "drift"));
}

/* What diag found stays when winjoin-network reports; what another wrote there does not. */
static void what_diag_found_stays(void **state) {
    const struct diag_report measured = {.time = 1795859000};
    _cleanup_json_ json_t *report = NULL, *again = NULL;
    struct error err = {0};

    (void)state;
    api.annotation = xstrdup("{\"diag\":{}}");
    api.service = true;
    assert_int_equal(network_report_publish(host, http, &measured, &err), 0);
    report = published();
    assert_string_equal(json_text_at(report, "diag.time"), "2026-11-28T09:43:20Z");
    assert_true(network_report_lacks(report)); /* read twice */
    assert_int_equal(api.requests, 10);
    pass(200000, NEWS_SAME);
    assert_int_equal(api.patches, 2);
    again = published();
    assert_true(json_equal(json_object_get(report, "diag"), json_object_get(again, "diag")));
}

static void a_reset_takes_it_away(void **state) {
    struct error err = {0};

    (void)state;
    assert_int_equal(network_report_publish(host, http, NULL, &err), 0);
    assert_non_null(api.condition);
    assert_int_equal(network_report_clear(host, http, &err), 0);
    assert_null(api.annotation);
    assert_null(api.condition);
    api.status = 404; /* who deleted the Node does not need it */
    assert_int_equal(network_report_clear(host, http, &err), 0);
    assert_int_equal(err.kind, ERROR_NONE);
    api.away = true;
    assert_int_equal(network_report_clear(host, http, &err), -1);
    assert_int_equal(err.kind, ERROR_NETWORK);
}

/* Each call of Windows fails once: it is tried again, and no limit of the caller is lost. */
static void each_failure_is_survived(void **state) {
    struct error err = {0};
    size_t first = host_memory_calls(host), calls;

    assert_int_equal(network_report_publish(host, http, NULL, &err), 0);
    calls = host_memory_calls(host) - first;
    assert_true(calls > 5);
    for (size_t n = 1; n <= calls; n++) {
        close_host(state);
        open_host(state);
        host_set_deadline(host, host_monotonic_ms(host) + HOUR);
        host_memory_fail(host, n);
        (void)network_report_publish(host, http, NULL, &err);
        assert_false(host_deadline_passed(host));
        host_memory_advance(host, HOUR);
        assert_true(host_deadline_passed(host));
        host_set_deadline(host, 0);
        err = (struct error){0};
        assert_int_equal(network_report_publish(host, http, NULL, &err), 0);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_host, close_host)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_well_node_says_so_and_rarely),
        TEST(what_hns_lacks_is_confirmed_first),
        TEST(what_is_there_again_was_never_said),
        TEST(a_restart_of_hns_is_looked_at_soon),
        TEST(changes_are_events),
        TEST(what_was_proved_between_restarts),
        TEST(each_restart_puts_the_look_off),
        TEST(without_the_api_server),
        TEST(refused),
        TEST(before_a_join_there_is_nothing_to_say),
        TEST(without_our_kube_proxy_nothing_is_compared),
        TEST(what_diag_found_stays),
        TEST(a_reset_takes_it_away),
        TEST(each_failure_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
