/* What is left on a node that Kubernetes knows nothing of: namespaces, load balancers' endpoints,
 * routes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "tests/scene/drift_documents.h"

#define POD(ip) "{\"spec\":{},\"status\":{\"phase\":\"Running\",\"podIP\":\"" ip "\"}}"
#define STARTING "{\"spec\":{},\"status\":{\"phase\":\"Pending\"}}"
#define OF_HOST "{\"spec\":{\"hostNetwork\":true},\"status\":{\"phase\":\"Pending\"}}"
#define ENDED "{\"spec\":{},\"status\":{\"phase\":\"Succeeded\"}}"
#define ENDPOINT(id, ip)                                                                           \
    "{\"ID\":\"" id "\",\"Name\":\"c_other\",\"IpConfigurations\":[{\"IpAddress\":\"" ip "\"}]}"
#define SPACE(id, type, resources)                                                                 \
    "{\"ID\":\"" id "\",\"Type\":\"" type "\",\"Resources\":[" resources "]}"
#define HAS(type, id) "{\"Type\":\"" type "\",\"Data\":{\"Id\":\"" id "\"}}"
#define BALANCER(id, endpoints)                                                                    \
    "{\"ID\":\"" id "\",\"FrontendVIPs\":[\"10.96.0.1\"],\"HostComputeEndpoints\":[" endpoints "]" \
    "}"
#define TO(protocol, outside, inside)                                                              \
    "{\"ID\":\"b\",\"FrontendVIPs\":[\"10.96.0.10\"],\"PortMappings\":[{\"Protocol\":" protocol    \
    ",\"ExternalPort\":" outside ",\"InternalPort\":" inside "}]}"
#define SLICE(space, service, name, port, endpoints)                                               \
    "{\"metadata\":{\"namespace\":\"" space                                                        \
    "\",\"labels\":{\"kubernetes.io/service-name\":\"" service "\"}},\"endpoints\":[" endpoints    \
    "],\"ports\":[{\"name\":\"" name "\",\"port\":" port "}]}"
#define NODE(cidr) "{\"metadata\":{\"name\":\"n\"},\"spec\":{\"podCIDR\":\"" cidr "\"}}"
#define NETWORK(prefix)                                                                            \
    "{\"Name\":\"net\",\"Policies\":[{\"Type\":\"RemoteSubnetRoute\",\"Settings\":{"               \
    "\"DestinationPrefix\":\"" prefix "\",\"ProviderAddress\":\"10.0.0.9\"}}]}"

static json_t *read(const char *text, bool list) {
    _cleanup_(freep) char *whole =
        list ? xasprintf("{\"items\":[%s]}", text) : xasprintf("[%s]", text);
    json_t *json = json_loads(whole, 0, NULL);

    if (!json)
        fail_msg("%s", whole);
    return json;
}

static void assert_drift(const char *what, const struct drift_documents *documents,
                         const struct drift_observed *others, const char *wanted) {
    _cleanup_json_ json_t *drift = drift_documents_compare(documents, others),
                          *json = json_loads(wanted, 0, NULL);

    assert_non_null(json);
    if (!json_equal(drift, json)) {
        _cleanup_(freep) char *is = json_write(drift);

        fail_msg("%s: %s", what, is);
    }
}

static void namespaces(void **state) {
    static const struct {
        const char *what, *pods, *spaces, *wanted;
    } rows[] = {
        {"one pod's", POD("10.244.1.5"), SPACE("a", "Host", HAS("Endpoint", "E1")), "{}"},
        {"a pod has left", POD("10.244.1.9"), SPACE("a", "Host", HAS("Endpoint", "e1")),
         "{\"namespacesWithoutPod\":[{\"id\":\"a\",\"address\":\"10.244.1.5\"}]}"},
        {"empty", POD("10.244.1.5"), SPACE("a", "Host", ""),
         "{\"namespacesWithoutPod\":[{\"id\":\"a\"}]}"},
        {"its endpoint is gone", "", SPACE("a", "Guest", HAS("Endpoint", "e7")),
         "{\"namespacesWithoutPod\":[{\"id\":\"a\"}]}"},
        {"nothing is known of its address", "", SPACE("a", "Host", HAS("Endpoint", "e2")), "{}"},
        {"Windows' own", "", SPACE("a", "HostDefault", ""), "{}"},
        {"a container is in it", "", SPACE("a", "Host", HAS("Container", "c")), "{}"},
        {"while a pod starts", STARTING, SPACE("a", "Host", ""), "{}"},
        {"pods that need none", OF_HOST "," ENDED, SPACE("a", "Host", ""),
         "{\"namespacesWithoutPod\":[{\"id\":\"a\"}]}"},
    };
    _cleanup_json_ json_t *endpoints =
        read(ENDPOINT("e1", "10.244.1.5") ",{\"ID\":\"e2\",\"Name\":\"x\"}", false);

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_json_ json_t *pods = read(rows[i].pods, true);
        _cleanup_json_ json_t *spaces = read(rows[i].spaces, false);

        assert_drift(
            rows[i].what, &(struct drift_documents){.pods = pods, .endpoints = endpoints},
            &(struct drift_observed){.namespaces = spaces, .network = "net", .now = 1795255200},
            rows[i].wanted);
    }
}

static void balancers(void **state) {
    static const struct {
        const char *what, *balancer, *wanted;
    } rows[] = {
        {"one of two is there", BALANCER("b", "\"e1\",\"e9\""), "{}"},
        {"none is there", BALANCER("b", "\"e8\",\"e9\""),
         "{\"loadBalancersWithoutEndpoint\":[{\"id\":\"b\",\"frontend\":\"10.96.0.1\"}]}"},
        {"HNS has taken them off", BALANCER("b", ""),
         "{\"loadBalancersWithoutEndpoint\":[{\"id\":\"b\",\"frontend\":\"10.96.0.1\"}]}"},
        {"the one that is there has no address", BALANCER("b", "\"e2\""),
         "{\"loadBalancersWithoutEndpoint\":[{\"id\":\"b\",\"frontend\":\"10.96.0.1\"}]}"},
        {"not known", "{\"ID\":\"b\"}", "{}"},
    };
    _cleanup_json_ json_t *endpoints = read(ENDPOINT("E1", "10.244.2.5") ",{\"ID\":\"E2\"}", false);

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_json_ json_t *all = read(rows[i].balancer, false);

        assert_drift(rows[i].what,
                     &(struct drift_documents){.endpoints = endpoints, .balancers = all},
                     &(struct drift_observed){0}, rows[i].wanted);
    }
}

#define DNS_TO(endpoints)                                                                          \
    "{\"ID\":\"b\",\"FrontendVIPs\":[\"10.96.0.10\"],\"HostComputeEndpoints\":[" endpoints         \
    "],\"PortMappings\":[{\"Protocol\":17,\"ExternalPort\":53}]}"
#define AT(ip) "{\"addresses\":[\"" ip "\"],\"conditions\":{\"ready\":false}}"

/* A load balancer's endpoints are those of its Service, ready or not. */
static void members(void **state) {
    static const struct {
        const char *what, *balancer, *slices, *wanted;
    } rows[] = {
        {"one of its Service", DNS_TO("\"e1\""), SLICE("s", "dns", "p", "53", AT("10.244.2.5")),
         "{}"},
        {"in its second slice", DNS_TO("\"e1\""),
         SLICE("s", "dns", "p", "53", "") "," SLICE("s", "dns", "p", "53", AT("10.244.2.5")), "{}"},
        {"of another Service", DNS_TO("\"E1\""),
         SLICE("s", "dns", "p", "53", AT("10.244.2.9")) "," SLICE("s", "shop", "p", "53",
                                                                  AT("10.244.2.5")),
         "{\"loadBalancersToOtherPods\":[{\"id\":\"b\",\"frontend\":\"10.96.0.10\",\"address\":"
         "\"10.244.2.5\"}]}"},
        {"no slice is known", DNS_TO("\"e1\""), "", "{}"},
        {"HNS does not have it", DNS_TO("\"e1\",\"e9\""),
         SLICE("s", "dns", "p", "53", AT("10.244.2.5")), "{}"},
    };
    _cleanup_json_ json_t *endpoints = read(ENDPOINT("e1", "10.244.2.5"), false),
                          *services = read("{\"metadata\":{\"namespace\":\"s\",\"name\":\"dns\"},"
                                           "\"spec\":{\"clusterIP\":\"10.96.0.10\",\"ports\":[{"
                                           "\"name\":\"p\",\"port\":53,\"protocol\":\"UDP\"}]}}",
                                           true);

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_json_ json_t *all = read(rows[i].balancer, false),
                              *slices = read(rows[i].slices, true);
        _cleanup_json_ json_t *drift = drift_documents_compare(
            &(struct drift_documents){
                .services = services, .slices = slices, .endpoints = endpoints, .balancers = all},
            &(struct drift_observed){0});
        _cleanup_json_ json_t *wanted = json_loads(rows[i].wanted, 0, NULL);

        json_object_del(drift, "staleRemoteEndpoints");
        if (!json_equal(drift, wanted))
            fail_msg("%s: %s", rows[i].what, json_dumps(drift, 0));
    }
}

static void ports(void **state) {
    static const struct {
        const char *what, *mapping, *slices, *wanted;
    } rows[] = {
        {"that of the pods", TO("17", "53", "5353"), SLICE("s", "dns", "dns-udp", "5353", "{}"),
         "{}"},
        {"another one", TO("17", "53", "53"), SLICE("s", "dns", "dns-udp", "5353", "{}"),
         "{\"loadBalancersToOtherPort\":[{\"id\":\"b\",\"frontend\":\"10.96.0.10\",\"port\":53}]}"},
        {"some pods have it", TO("17", "53", "53"),
         SLICE("s", "dns", "dns-udp", "5353", "{}") "," SLICE("s", "dns", "dns-udp", "53", "{}"),
         "{}"},
        {"that of another port", TO("6", "53", "53"), SLICE("s", "dns", "dns-udp", "5353", "{}"),
         "{}"},
        {"that of another Service", TO("17", "53", "53"),
         SLICE("s", "web", "dns-udp", "5353", "{}"), "{}"},
        {"that of another namespace", TO("17", "53", "53"),
         SLICE("t", "dns", "dns-udp", "5353", "{}"), "{}"},
        {"nobody is there", TO("17", "53", "53"), SLICE("s", "dns", "dns-udp", "5353", ""), "{}"},
        {"no port of the Service", TO("17", "54", "53"), SLICE("s", "dns", "dns-udp", "5353", "{}"),
         "{\"loadBalancersWithoutService\":[{\"id\":\"b\",\"frontend\":\"10.96.0.10:54/UDP\"}]}"},
    };
    _cleanup_json_ json_t *services =
        read("{\"metadata\":{\"name\":\"dns\",\"namespace\":\"s\",\"creationTimestamp\":"
             "\"2026-11-22T00:00:00Z\"},\"spec\":{\"clusterIP\":\"10.96.0.10\",\"ports\":[{"
             "\"name\":\"dns-udp\",\"port\":53,\"protocol\":\"UDP\"},{\"name\":\"dns-tcp\","
             "\"port\":53}]}}",
             true);

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_json_ json_t *slices = read(rows[i].slices, true);
        _cleanup_json_ json_t *all = read(rows[i].mapping, false);

        assert_drift(
            rows[i].what,
            &(struct drift_documents){.services = services, .slices = slices, .balancers = all},
            &(struct drift_observed){0}, rows[i].wanted);
    }
}

static void routes(void **state) {
    static const struct {
        const char *what, *nodes, *networks, *route, *next_hop, *wanted;
    } rows[] = {
        {"each has its node", NODE("10.244.1.0/24") "," NODE("10.244.2.0/24"),
         NETWORK("10.244.2.0/24"), "10.244.1.0/24", "10.0.0.7", "{}"},
        {"HNS' has none", NODE("10.244.1.0/24"), NETWORK("10.244.2.0/24"), "", "",
         "{\"routesWithoutNode\":[{\"prefix\":\"10.244.2.0/24\",\"by\":\"10.0.0.9\",\"in\":"
         "\"HNS\"}]}"},
        {"Windows' has none", NODE("10.244.1.0/24"), "", "10.244.3.0/24", "10.0.0.7",
         "{\"routesWithoutNode\":[{\"prefix\":\"10.244.3.0/24\",\"by\":\"10.0.0.7\",\"in\":"
         "\"Windows\"}]}"},
        {"on link", NODE("10.244.1.0/24"), "", "10.244.3.0/24", "0.0.0.0", "{}"},
        {"of all pods", NODE("10.244.1.0/24"), "", "10.244.0.0/16", "10.0.0.7", "{}"},
        {"not of pods", NODE("10.244.1.0/24"), "", "10.9.3.0/24", "10.0.0.7", "{}"},
        {"a node has no subnet yet", NODE("10.244.1.0/24") ",{\"metadata\":{\"name\":\"m\"}}",
         NETWORK("10.244.2.0/24"), "10.244.3.0/24", "10.0.0.7", "{}"},
        {"no node was read", "", NETWORK("10.244.2.0/24"), "10.244.3.0/24", "10.0.0.7", "{}"},
    };
    char prefix[] = "10.244.0.0/16", *prefixes[] = {prefix};
    const struct text_list cidrs = {prefixes, 1};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_json_ json_t *nodes = read(rows[i].nodes, true);
        _cleanup_json_ json_t *networks = read(rows[i].networks, false);
        struct host_route route = {0};
        const struct host_routes all = {&route, *rows[i].route ? 1 : 0};

        text_format(route.destination, sizeof route.destination, "%s", rows[i].route);
        text_format(route.next_hop, sizeof route.next_hop, "%s", rows[i].next_hop);
        assert_drift(rows[i].what, &(struct drift_documents){0},
                     &(struct drift_observed){
                         .networks = networks, .nodes = nodes, .routes = &all, .pod_cidrs = &cidrs},
                     rows[i].wanted);
    }
}

/* Each thing that is left over has its command, but for a route of HNS. */
static void commands(void **state) {
    static const char *const wanted[] = {
        "sc.exe stop kube-proxy", "sc.exe start kube-proxy",
        "powershell -Command \"Get-HnsNamespace -Id a | Remove-HnsNamespace\"",
        "route.exe delete 10.244.3.0"};
    struct host_route route = {.destination = "10.244.3.0/24", .next_hop = "10.0.0.7"};
    const struct host_routes all = {&route, 1};
    char prefix[] = "10.244.0.0/16", *prefixes[] = {prefix};
    const struct text_list cidrs = {prefixes, 1};
    _cleanup_json_ json_t *nodes = read(NODE("10.244.1.0/24"), true), *none = json_array();
    _cleanup_json_ json_t *networks = read(NETWORK("10.244.2.0/24"), false);
    _cleanup_json_ json_t *spaces = read(SPACE("a", "Host", ""), false);
    _cleanup_json_ json_t *balancers = read(BALANCER("b", "\"e9\""), false);
    _cleanup_json_ json_t *pods = json_pack("{s:[]}", "items"), *drift = NULL;
    _cleanup_(drift_records_free) struct drift_records records;
    struct drift_observed observed = {.nodes = nodes,
                                      .networks = networks,
                                      .namespaces = spaces,
                                      .routes = &all,
                                      .network = "net",
                                      .pod_cidrs = &cidrs};

    (void)state;
    drift_documents_read(
        &(struct drift_documents){.pods = pods, .endpoints = none, .balancers = balancers},
        &records, &observed);
    drift = drift_judge(&observed);
    assert_int_equal(json_array_size(json_object_get(drift, "routesWithoutNode")), 2);
    assert_int_equal(json_array_size(json_object_get(drift, "commands")), ARRAY_SIZE(wanted));
    for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
        assert_string_equal(
            json_string_value(json_array_get(json_object_get(drift, "commands"), i)), wanted[i]);
}

/* The API may not tell yet of the probes that run: what is theirs is not left over. */
static void probes_are_known(void **state) {
    static const struct {
        const char *what, *probe;
        unsigned known;
        const char *wanted;
    } rows[] = {
        {"both are known", "winjoin-probe-a-n", 2, "{}"},
        {"one is not", "winjoin-probe-a-n", 1, "{}"},
        {"another pod starts", "web-winjoin-probe-a", 2, "{}"},
    };
    char one[] = "10.244.1.5", other[] = "10.244.1.6", *addresses[] = {one, other, NULL};
    _cleanup_json_ json_t *endpoints =
        read(ENDPOINT("e1", "10.244.1.5") "," ENDPOINT("e2", "10.244.1.6") "," ENDPOINT(
                 "e3", "10.244.1.7"),
             false);

    (void)state;
    for (int left = 0; left < 2; left++)
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
            struct text_list probes = {.items = addresses, .count = rows[i].known};
            _cleanup_(freep) char *pod =
                xasprintf("{\"metadata\":{\"name\":\"%s\"},\"spec\":{},\"status\":{\"phase\":"
                          "\"Pending\"}}",
                          rows[i].probe);
            _cleanup_json_ json_t *pods = read(pod, true);
            _cleanup_json_ json_t *spaces =
                read(left ? SPACE("a", "Host", HAS("Endpoint", "e3"))
                          : SPACE("a", "Host", HAS("Endpoint", "e1")) "," SPACE(
                                "b", "Host", HAS("Endpoint", "e2")),
                     false);

            assert_drift(
                rows[i].what, &(struct drift_documents){.pods = pods, .endpoints = endpoints},
                &(struct drift_observed){.namespaces = spaces, .probes = &probes, .network = "net"},
                left && i == 0 ? "{\"namespacesWithoutPod\":[{\"id\":\"a\",\"address\":"
                                 "\"10.244.1.7\"}]}"
                               : rows[i].wanted);
        }
}

static void what_is_left_over(void **state) {
    static const struct {
        const char *drift, *wanted;
    } rows[] = {
        {"{}", NULL},
        {"{\"servicesWithoutLoadBalancer\":[{}],\"namespacesWithoutPod\":[]}", NULL},
        {"{\"namespacesWithoutPod\":[{}],\"routesWithoutNode\":[{},{}]}",
         "1 namespace without a pod, 2 routes to nodes that are gone"},
        {"{\"endpointsWithoutPod\":[{},{}],\"staleRemoteEndpoints\":[{}],"
         "\"loadBalancersWithoutService\":[{}]}",
         "1 load balancer of no Service, 1 remote endpoint of no Service, 2 endpoints of pods that "
         "are gone"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_json_ json_t *drift = json_loads(rows[i].drift, 0, NULL);
        _cleanup_(freep) char *left = drift_left_over(drift);

        if (!text_equal(left, rows[i].wanted))
            fail_msg("%s: %s", rows[i].drift, left ? left : "nothing");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(namespaces),
        cmocka_unit_test(probes_are_known),
        cmocka_unit_test(what_is_left_over),
        cmocka_unit_test(balancers),
        cmocka_unit_test(ports),
        cmocka_unit_test(members),
        cmocka_unit_test(routes),
        cmocka_unit_test(commands),
    };

    return cmocka_run_group_tests_name("drift_node", tests, NULL, NULL);
}
