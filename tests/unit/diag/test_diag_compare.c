/* A run that asks the cluster what HNS should have: when it does, and what it makes of it. */
#include "tests/scene/diag_run_scene.h"

#include "base/rfc3339.h"
#include "diag/first_look.h"
#include "kube/kubeconfig.h"
#include "tests/memory/http_memory.h"

#define SERVICE                                                                                    \
    "{\"items\":[{\"metadata\":{\"namespace\":\"shop\",\"name\":\"cart\"},\"spec\":{"              \
    "\"clusterIP\":"                                                                               \
    "\"10.96.7.7\",\"ports\":[{\"name\":\"p\",\"port\":80}]}},{\"metadata\":{\"namespace\":"       \
    "\"kube-system\",\"name\":\"kube-dns\"},\"spec\":{\"clusterIP\":\"10.96.0.10\",\"ports\":[{"   \
    "\"name\":\"dns\",\"port\":53}]}}]}"
#define SLICE                                                                                      \
    "{\"items\":[{\"metadata\":{\"namespace\":\"shop\",\"labels\":{\"kubernetes.io/"               \
    "service-name\":"                                                                              \
    "\"cart\"}},\"endpoints\":[{\"addresses\":[\"10.244.1.7\"]}],\"ports\":[{\"name\":\"p\","      \
    "\"port\":"                                                                                    \
    "80}]}]}"
static void balancer_make(struct host *host, const char *vip, unsigned port) {
    _cleanup_(freep) char *properties = NULL;
    _cleanup_(freep) char *document =
        xasprintf("{\"FrontendVIPs\":[\"%s\"],\"PortMappings\":[{\"Protocol\":6,"
                  "\"ExternalPort\":%u}]}",
                  vip, port);

    assert_int_equal(hcn_create(host, HCN_LOAD_BALANCER, NULL, NULL, document, &properties, NULL),
                     0);
}

/* Of the first probe, of which the API does not tell: it is no pod's that has gone. */
static void endpoint_make(struct host *host) {
    static const char network[] = "11111111-0000-4000-8000-000000000001";
    char *made[2] = {0};

    assert_int_equal(hcn_create(host, HCN_NETWORK, NULL, network,
                                "{\"Name\":\"flannel.4096\",\"Type\":\"Overlay\"}", &made[0], NULL),
                     0);
    assert_int_equal(hcn_create(host, HCN_ENDPOINT, network, NULL,
                                "{\"Name\":\"c_flannel.4096\",\"IpConfigurations\":[{"
                                "\"IpAddress\":\"10.244.3.4\"}]}",
                                &made[1], NULL),
                     0);
    free(made[0]);
    free(made[1]);
}

struct asked {
    struct host *host;
    unsigned requests, appears; /* the load balancer: before this request, 0 = never */
};

static int answer_api(void *context, const struct http_request *request, struct http_response *ret,
                      struct error *err) {
    struct asked *asked = context;
    const char *body = strstr(request->url, "/services")         ? SERVICE
                       : strstr(request->url, "/endpointslices") ? SLICE
                                                                 : "{\"items\":[]}";

    (void)err;
    if (!strstr(request->url, "limit=")) /* a probe pod's mirror */
        body = "{}";
    else if (++asked->requests == asked->appears)
        balancer_make(asked->host, "10.96.7.7", 80);
    ret->status = 200;
    ret->body = xstrdup(body);
    ret->body_len = strlen(body);
    return 0;
}

static void what_hns_lacks_is_asked_for(void **state) {
    static const struct {
        const char *name;
        int64_t age; /* of kube-proxy, seconds */
        bool ours;
        unsigned appears, requests;
        const char *cause;
    } cases[] = {
        {"lost", 3600, true, 0, 6, "SVC-LOST"},
        {"there", 3600, true, 1, 3, NULL},
        {"there at the second look", 3600, true, 6, 6, NULL},
        {"may be on its way", 30, true, 0, 0, NULL},
        {"of another kube-proxy", 3600, false, 0, 0, NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct kubeconfig config = {.server = (char *)"https://k", .token = (char *)"t"};
        struct stage stage = {.start_a = true, .start_b = true, .generation = 1};
        struct diag_options options = options_make(&stage);
        struct host *host = host_memory_new();
        struct asked asked = {.host = host, .appears = cases[i].appears};
        struct http *http = http_memory_new(answer_api, &asked);
        struct kube_client client;
        struct diag_report report = {0};
        char since[RFC3339_TEXT_MAX];
        _cleanup_json_ json_t *look = NULL;

        host_memory_on_sleep(host, play, &stage);
        balancer_make(host, "10.96.0.10", 53);
        if (cases[i].requests == 6)
            endpoint_make(host);
        assert_int_equal(kube_client_open(http, host, &config, &client, NULL), 0);
        rfc3339_format(host_now(host) - cases[i].age, since);
        look = json_pack("{s:[{s:s, s:s, s:b, s:s}]}", "services", "name", "kube-proxy", "state",
                         "running", "winjoin", cases[i].ours, "since", since);
        options.look = look;
        options.probes.client = &client;
        options.probes.node_name = "win-7k2";
        options.flow_input.node_ip = "127.0.0.1";
        assert_int_equal(diag_run(host, &options, &report, NULL), 0);
        if (asked.requests != cases[i].requests)
            fail_msg("%s: %u requests", cases[i].name, asked.requests);
        assert_null(json_at(report.evidence, "kubernetes.endpointsWithoutPod"));
        assert_int_equal(report.causes.count, cases[i].cause != NULL);
        if (cases[i].cause) {
            assert_string_equal(report.causes.items[0].id, cases[i].cause);
            assert_string_equal(report.causes.items[0].evidence.items[0],
                                "Service shop/cart (10.96.7.7:80/TCP) has no load balancer");
        }
        text_free(&stage.told);
        diag_report_free(&report);
        kube_client_close(&client);
        http_free(http);
        host_free(host);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_hns_lacks_is_asked_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
