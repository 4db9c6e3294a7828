/* HNS against Kubernetes: each kind of difference, and what is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "tests/memory/host_memory.h"
#include "tests/memory/http_memory.h"
#include "tests/scene/drift_documents.h"

#define OLD "\"creationTimestamp\":\"2026-11-21T09:00:00Z\""
#define NETWORK "5f2c61a4-0000-4000-8000-000000000013"
#define NOW 1795255200 /* 2026-11-21T10:00:00Z */
#define SERVICE(name, spec)                                                                        \
    "{\"metadata\":{\"namespace\":\"d\",\"name\":\"" name "\"," OLD "},\"spec\":{" spec "}}"
#define PORT(port) "\"ports\":[{\"name\":\"p\",\"port\":" port "}]"
#define SLICE(service, endpoints)                                                                  \
    "{\"metadata\":{\"namespace\":\"d\",\"labels\":{\"kubernetes.io/service-name\":\"" service     \
    "\"}},\"endpoints\":[" endpoints "],\"ports\":[{\"name\":\"p\",\"port\":8080}]}"
#define READY(address) "{\"addresses\":[\"" address "\"]}"
#define BALANCER(vip, port)                                                                        \
    "{\"ID\":\"b-" port "\",\"FrontendVIPs\":[\"" vip                                              \
    "\"],\"PortMappings\":[{\"Protocol\":6,\"ExternalPort\":" port "}]}"
#define AT_NODE(port)                                                                              \
    "{\"ID\":\"n-" port "\",\"PortMappings\":[{\"Protocol\":6,\"ExternalPort\":" port "}]}"
#define REMOTE(id, address)                                                                        \
    "{\"ID\":\"" id "\",\"Flags\":1,\"IpConfigurations\":[{\"IpAddress\":\"" address "\"}]}"
#define LOCAL(name, address)                                                                       \
    "{\"ID\":\"l\",\"Name\":\"" name "\",\"IpConfigurations\":[{\"IpAddress\":\"" address "\"}]}"
#define POD(name, spec, since, ip)                                                                 \
    "{\"metadata\":{\"namespace\":\"d\",\"name\":\"" name "\"},\"spec\":{" spec                    \
    "\"nodeName\":\"n\"},\"status\":{\"phase\":\"Running\",\"podIP\":\"" ip                        \
    "\",\"startTime\":\"2026-11-21T" since "Z\"}}"
#define A SERVICE("a", "\"clusterIP\":\"10.96.0.1\"," PORT("80"))

struct row {
    const char *what, *services, *slices, *pods, *endpoints, *balancers, *wanted;
};

static json_t *read(const char *text, bool list) {
    _cleanup_(freep) char *whole =
        list ? xasprintf("{\"items\":[%s]}", text) : xasprintf("[%s]", text);
    json_t *json = json_loads(whole, 0, NULL);

    if (!json)
        fail_msg("%s", whole);
    return json;
}

static const struct row rows[] = {
    {"nothing differs", A, SLICE("a", READY("10.244.2.5")), "", REMOTE("r", "10.244.2.5"),
     BALANCER("10.96.0.1", "80"), "{}"},
    {"no load balancer", A, SLICE("a", READY("10.244.2.5")), "", "", "",
     "{\"servicesWithoutLoadBalancer\":[{\"service\":\"d/a\",\"frontend\":\"10.96.0.1:80/"
     "TCP\"}]}"},
    {"that of another port", A, SLICE("a", READY("10.244.2.5")), "", "",
     BALANCER("10.96.0.1", "80") "," BALANCER("10.96.0.1", "81"),
     "{\"loadBalancersWithoutService\":[{\"id\":\"b-81\",\"frontend\":\"10.96.0.1:81/TCP\"}]}"},
    {"no endpoint", A, "", "", "", "", "{}"},
    {"none that is ready", A,
     SLICE("a", "{\"addresses\":[\"10.244.2.5\"],\"conditions\":{\"ready\":false}}"), "", "", "",
     "{}"},
    {"headless", SERVICE("a", "\"clusterIP\":\"None\"," PORT("80")), SLICE("a", READY("1.2.3.4")),
     "", "", "", "{}"},
    {"younger than a minute",
     "{\"metadata\":{\"namespace\":\"d\",\"name\":\"a\",\"creationTimestamp\":\"2026-11-21T09:"
     "59:"
     "30Z\"},\"spec\":{\"clusterIP\":\"10.96.0.1\"," PORT("80") "}}",
     SLICE("a", READY("10.244.2.5")), "", "", "", "{}"},
    {"local endpoints alone",
     SERVICE("a", "\"clusterIP\":\"10.96.0.1\",\"internalTrafficPolicy\":\"Local\"," PORT("80")),
     SLICE("a", READY("10.244.2.5")), "", "", "", "{}"},
    {"a node port",
     SERVICE("a", "\"clusterIP\":\"10.96.0.1\",\"ports\":[{\"name\":\"p\",\"port\":80,"
                  "\"nodePort\":30080}]"),
     "", "", "", AT_NODE("30080"), "{}"},
    {"a node port of nobody", A, "", "", "", AT_NODE("30081"),
     "{\"loadBalancersWithoutService\":[{\"id\":\"n-30081\",\"frontend\":\":30081/TCP\"}]}"},
    {"the health check of a load balancer",
     "{\"metadata\":{\"namespace\":\"d\",\"name\":\"a\"},\"spec\":{\"type\":\"LoadBalancer\","
     "\"clusterIP\":\"10.96.0.1\"," PORT("80") "},\"status\":{\"loadBalancer\":{\"ingress\":[{"
                                               "\"ip\":\"192.0.2.7\"}]}}}",
     "", "", "", BALANCER("192.0.2.7", "32001") "," BALANCER("192.0.2.7", "80"), "{}"},
    {"a cluster IP's remote endpoint", A, "", "", REMOTE("r", "10.96.0.1"), "", "{}"},
    {"a stale remote endpoint", A, "", "", REMOTE("r", "10.244.3.9"), "",
     "{\"staleRemoteEndpoints\":[{\"id\":\"r\",\"address\":\"10.244.3.9\"}]}"},
    {"a pod's endpoint", "", "", "{\"status\":{\"podIPs\":[{\"ip\":\"10.244.1.5\"}]}}",
     LOCAL("c1_net", "10.244.1.5"), "", "{}"},
    {"an endpoint without a pod", "", "", "{\"status\":{\"podIP\":\"10.244.1.6\"}}",
     LOCAL("c1_net", "10.244.1.5"), "",
     "{\"endpointsWithoutPod\":[{\"id\":\"l\",\"name\":\"c1_net\",\"address\":\"10.244.1.5\"}]"
     "}"},
    {"a Service of another proxy, and a port of SCTP",
     "{\"metadata\":{\"namespace\":\"d\",\"name\":\"a\",\"labels\":{\"service.kubernetes.io/"
     "service-proxy-name\":\"x\"}},\"spec\":{\"clusterIP\":\"10.96.0.1\"," PORT(
         "80") "}},{\"metadata\":{\"namespace\":\"d\",\"name\":\"b\"},\"spec\":{\"clusterIP\":"
               "\"10.96.0.2\",\"ports\":[{\"name\":\"p\",\"port\":80,\"protocol\":\"SCTP\"}]}}",
     SLICE("a", READY("10.244.2.5")) "," SLICE("b", READY("10.244.2.5")), "", "", "", "{}"},
    {"a pod that has run for a minute without an endpoint", "", "",
     POD("a", "", "09:58:59", "10.244.1.5"), REMOTE("r", "10.244.1.5"), "",
     "{\"staleRemoteEndpoints\":[{\"id\":\"r\",\"address\":\"10.244.1.5\"}],"
     "\"podsWithoutEndpoint\":[{\"pod\":\"d/a\",\"address\":\"10.244.1.5\"}]}"},
    {"a pod that has just started, one of the node's network", "", "",
     POD("a", "", "09:59:01", "10.244.1.5") "," POD("b", "\"hostNetwork\":true,", "09:00:00",
                                                    "10.0.0.21"),
     "", "", "{}"},
    {"a pod that runs something else", "", "",
     POD("a", "\"hostNetwork\":true,\"containers\":[{\"image\":\"x\",\"args\":[\"y\"]}],",
         "09:00:00", "10.0.0.21"),
     "", "", "{}"},
    {"a pod that runs kube-proxy", "", "",
     POD("a",
         "\"hostNetwork\":true,\"containers\":[{\"image\":\"x\"},{\"args\":[\"C:/kube-proxy.exe\"]"
         "}],",
         "09:00:00", "10.0.0.21"),
     "", "", "{\"kubeProxyPods\":[{\"pod\":\"d/a\"}]}"},
    {"the host's own, the source VIP's, another network's", "", "", "",
     LOCAL("net_ep", "10.244.1.2") "," LOCAL("", "10.244.1.3") "," LOCAL("c1_other", "10.1.1.1"),
     "", "{}"},
};

static void differences(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_json_ json_t *services = read(rows[i].services, true),
                              *slices = read(rows[i].slices, true),
                              *pods = read(rows[i].pods, true),
                              *endpoints = read(rows[i].endpoints, false),
                              *balancers = read(rows[i].balancers, false);
        const struct drift_documents documents = {.services = services,
                                                  .slices = slices,
                                                  .pods = pods,
                                                  .endpoints = endpoints,
                                                  .balancers = balancers};
        _cleanup_json_ json_t *drift = drift_documents_compare(
            &documents, &(struct drift_observed){.network = "net", .now = NOW});
        _cleanup_(freep) char *text = json_write(drift);

        if (strcmp(text, rows[i].wanted) != 0)
            fail_msg("%s: %s", rows[i].what, text);
    }
}

static void ready_endpoints_of_a_service(void **state) {
    static const char not_ready[] =
        "{\"addresses\":[\"10.244.2.6\"],\"conditions\":{\"ready\":false}}";
    _cleanup_(freep) char *two =
        xasprintf("%s,%s", SLICE("a", READY("10.244.2.5")), SLICE("b", READY("10.244.2.7")));
    _cleanup_(freep) char *none = xasprintf(
        "{\"metadata\":{\"namespace\":\"d\",\"labels\":{\"kubernetes.io/service-name\":\"a\"}},"
        "\"endpoints\":[%s]}",
        not_ready);
    const struct {
        const char *services, *slices, *vip;
        int wanted;
    } asked[] = {
        {A, two, "10.96.0.1", 1},
        {A, none, "10.96.0.1", 0},
        {A, "", "10.96.0.1", 0},
        {A, two, "10.96.0.9", DRIFT_NO_SERVICE},
        {A, two, NULL, -1},
        {A, NULL, "10.96.0.1", -1},
        {"", two, "10.96.0.1", DRIFT_NO_SERVICE},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(asked); i++) {
        _cleanup_json_ json_t *services = read(asked[i].services, true),
                              *slices = asked[i].slices ? read(asked[i].slices, true) : NULL;
        _cleanup_(drift_cluster_free) struct drift_cluster all = {0};

        drift_documents_add(services, DRIFT_SERVICES, &all);
        drift_documents_add(slices, DRIFT_SLICES, &all);
        if (drift_ready_endpoints(&all, asked[i].vip) != asked[i].wanted)
            fail_msg("%u: %d", (unsigned)i, drift_ready_endpoints(&all, asked[i].vip));
    }
    assert_int_equal(drift_ready_endpoints(NULL, "10.96.0.1"), -1);
}

static void what_a_service_is_said_to_be(void **state) {
    static const char service[] =
        "{\"metadata\":{\"name\":\"dns\"},\"spec\":{\"clusterIP\":\"10.96.0.10\",\"ports\":[{"
        "\"port\":53,\"protocol\":\"UDP\"},{\"port\":53}],\"internalTrafficPolicy\":\"Local\"}}";
    static const char slice[] =
        "{\"metadata\":{\"labels\":{\"kubernetes.io/service-name\":\"dns\"}},\"endpoints\":[{"
        "\"addresses\":[\"10.0.0.4\",5,\"10.0.0.5\"],\"nodeName\":\"l1\"},{\"addresses\":["
        "\"10.0.0.6\"]},{\"addresses\":[\"10.0.0.7\"],\"nodeName\":5}]},"
        "{\"metadata\":{\"labels\":{\"kubernetes.io/service-name\":\"other\"}},\"endpoints\":[{"
        "\"addresses\":[\"10.0.0.8\"],\"nodeName\":\"l1\"}]}";
    _cleanup_json_ json_t *services = read(service, true), *slices = read(slice, true), *spec;
    _cleanup_(drift_cluster_free) struct drift_cluster all = {0};

    (void)state;
    drift_documents_add(services, DRIFT_SERVICES, &all);
    drift_documents_add(slices, DRIFT_SLICES, &all);
    assert_null(drift_service_spec(&all, "10.96.0.9"));
    assert_null(drift_service_spec(NULL, "10.96.0.10"));
    spec = drift_service_spec(&all, "10.96.0.10");
    assert_string_equal(json_text_at(spec, "ports.0"), "53/UDP");
    assert_string_equal(json_text_at(spec, "ports.1"), "53/TCP");
    assert_string_equal(json_text_at(spec, "internalTrafficPolicy"), "Local");
    assert_int_equal(json_object_size(json_object_get(spec, "pods")), 2);
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(spec, "pods"), "10.0.0.5")), "l1");
}

/* What was not read is not compared. */
static void without_an_answer_nothing_differs(void **state) {
    _cleanup_json_ json_t *one = read(A, true), *slices = read(SLICE("a", READY("1.2.3.4")), true);
    _cleanup_json_ json_t *endpoints = read(REMOTE("r", "9.9.9.9"), false);
    const struct drift_documents observed[] = {{.services = one, .slices = slices},
                                               {.services = one, .endpoints = endpoints},
                                               {.endpoints = endpoints},
                                               {0}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(observed); i++) {
        json_t *drift = drift_documents_compare(
            &observed[i], &(struct drift_observed){.network = i == 2 ? "net" : NULL});

        assert_int_equal(json_object_size(drift), 0);
        json_decref(drift);
    }
}

/* The Services are two pages: the one without a load balancer is on the second. `context`: the
 * status of the Nodes, 0 = no answer. */
static int answer(void *context, const struct http_request *request, struct http_response *ret,
                  struct error *err) {
    const char *body =
        strstr(request->url, "/services?limit=500&continue=p2") ? "{\"items\":[" A "]}"
        : strstr(request->url, "/services") ? "{\"metadata\":{\"continue\":\"p2\"},\"items\":[]}"
        : strstr(request->url, "/endpointslices") ? "{\"items\":[" SLICE("a", READY("1.2.3.4")) "]}"
        : strstr(request->url, "/nodes") && *(const int *)context ? "{\"items\":[]}"
                                                                  : NULL;

    if (!body)
        return error_set(err, ERROR_TIMED_OUT, "no answer");
    ret->status = strstr(request->url, "/nodes") ? *(const int *)context : 200;
    ret->body = xstrdup(body);
    ret->body_len = strlen(body);
    return 0;
}

static void what_cannot_be_read_is_said_and_what_to_do(void **state) {
    struct host *host = host_memory_new();
    int nodes = 0;
    struct http *http = http_memory_new(answer, &nodes);
    const struct kubeconfig config = {.server = (char *)"https://k", .token = (char *)"t"};
    struct kube_client client;
    char *properties = NULL;
    json_t *drift;

    (void)state;
    assert_int_equal(kube_client_open(http, host, &config, &client, NULL), 0);
    assert_int_equal(
        hcn_create(host, HCN_NETWORK, NULL, NETWORK, "{\"Name\":\"net\"}", &properties, NULL), 0);
    free(properties);
    assert_int_equal(
        hcn_create(host, HCN_ENDPOINT, NETWORK, NULL, REMOTE("r", "10.244.3.9"), &properties, NULL),
        0);
    free(properties);
    drift = drift_read(host, &client, "win-1", "net", NULL, NULL, NULL,
                       NULL); /* no Node is asked for */
    assert_int_equal(json_array_size(json_object_get(drift, "unread")), 1);
    json_decref(drift);
    drift = drift_read(host, &client, "win-1", "net", &(struct text_list){0}, NULL, NULL, NULL);
    assert_non_null(strstr(json_text_at(drift, "unread.0"), "this node's pods: GET"));
    assert_non_null(strstr(json_text_at(drift, "unread.1"), "the Nodes: GET"));
    assert_int_equal(json_array_size(json_object_get(drift, "unread")), 2);
    assert_string_equal(json_text_at(drift, "servicesWithoutLoadBalancer.0.service"), "d/a");
    assert_string_equal(json_text_at(drift, "commands.0"), "sc.exe stop kube-proxy");
    assert_string_equal(json_text_at(drift, "commands.1"), "sc.exe start kube-proxy");
    assert_non_null(strstr(json_text_at(drift, "commands.2"), "Remove-HnsEndpoint"));
    assert_false(host_deadline_passed(host));
    json_decref(drift);
    for (nodes = 200; nodes <= 403; nodes += 203) { /* whoever may not read them is not told */
        drift = drift_read(host, &client, "win-1", "net", &(struct text_list){0}, NULL, NULL, NULL);
        assert_int_equal(json_array_size(json_object_get(drift, "unread")), 1);
        json_decref(drift);
    }
    kube_client_close(&client);
    http_free(http);
    host_free(host);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences),
        cmocka_unit_test(ready_endpoints_of_a_service),
        cmocka_unit_test(what_a_service_is_said_to_be),
        cmocka_unit_test(without_an_answer_nothing_differs),
        cmocka_unit_test(what_cannot_be_read_is_said_and_what_to_do),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
