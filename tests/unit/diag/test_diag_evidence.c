/* The evidence of a node: what Windows and its CNI file say, and what is left out of a Node. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "services/containerd_settings.h"
#include "base/memory.h"
#include "diag/evidence.h"
#include "netsetup/nic/nic.h"
#include "tests/memory/host_memory.h"
#include "tests/scene/network_scene.h"

#define FOLDER "C:\\etc\\cni\\net.d\\"

static struct host *host;

static int open_host(void **state) {
    (void)state;
    host = host_memory_new();
    return 0;
}

static int close_host(void **state) {
    (void)state;
    host_free(host);
    return 0;
}

static void put(const char *path, const char *text) {
    assert_int_equal(host_write(host, path, text, strlen(text), HOST_PUBLIC, NULL), 0);
}

/* A joined node's networks, with a service that runs and one that was never made. */
static void make_node(void) {
    struct host_service kubelet = {.name = (char *)"kubelet", .command = (char *)"C:\\k.exe"};
    struct nic_snapshot snapshot = {0};
    struct nic_restored result = {0};
    struct hcn_network network = {0};
    struct scene scene;

    scene_open(&scene, "overlay");
    assert_int_equal(scene_plan(&scene), 0);
    assert_int_equal(nic_choose(host, NULL, NULL, &snapshot, NULL), 0);
    assert_int_equal(nic_guard_ensure(host, &scene.plan, &snapshot, NULL, NULL, &result, NULL), 0);
    assert_int_equal(hcn_pod_network_ensure(host, &scene.plan, &network, NULL, NULL), 0);
    nic_snapshot_free(&snapshot);
    scene_close(&scene);
    assert_int_equal(host_service_put(host, &kubelet, NULL), 0);
    host_memory_set_service_state(host, "kubelet", HOST_SERVICE_RUNNING);
    put(FOLDER "00-notes.txt", "no JSON");
    put(FOLDER "10-winjoin.conf", "{\"name\":\"flannel.4096\",\"type\":\"win-overlay\"}");
    put(FOLDER "20-other.conf", "{\"name\":\"nat\"}");
}

static json_t *row_with(const json_t *list, const char *key, const char *value) {
    json_t *row;
    size_t i;

    json_array_foreach((json_t *)list, i, row) {
        if (text_equal(json_text_at(row, key), value))
            return row;
    }
    fail_msg("no row whose %s is %s", key, value);
    return NULL;
}

static void a_node_is_described(void **state) {
    static const char *const services[] = {"kubelet", "flanneld", NULL};
    static const char *const excludes[] = {"10.244.0.0/16", "10.96.0.0/12", NULL};
    const struct diag_evidence_options options = {.network_name = "flannel.4096",
                                                  .network_mode = "overlay",
                                                  .pod_cidr = "",
                                                  .excludes = excludes,
                                                  .services = services};
    _cleanup_json_ json_t *evidence = NULL;
    const json_t *network, *adapter, *route;

    (void)state;
    make_node();
    evidence = diag_evidence_read(host, &options);
    assert_null(json_object_get(evidence, "missing"));
    assert_string_equal(json_text_at(evidence, "host.name"), "WIN-7K2");
    assert_int_equal(json_number_at(evidence, "host.build", 0), 20348);
    network = row_with(json_at(evidence, "networks"), "Name", "flannel.4096");
    assert_string_equal(json_text_at(network, "ManagementIP"), "10.0.0.21");
    adapter = row_with(json_at(evidence, "adapters"), "alias", "vEthernet (Ethernet)");
    assert_string_equal(json_text_at(adapter, "addresses.0"), "10.0.0.21/24");
    assert_string_equal(json_text_at(adapter, "dnsServers.0"), "10.0.0.2");
    assert_true(json_bool_at(adapter, "up", false));
    assert_true(json_is_boolean(json_object_get(adapter, "forwarding")));
    route = row_with(json_at(evidence, "routes"), "destination", "0.0.0.0/0");
    assert_string_equal(json_text_at(route, "nextHop"), "10.0.0.1");
    assert_int_equal(json_number_at(route, "interface", 0), json_number_at(adapter, "index", -1));
    assert_string_equal(json_text_at(evidence, "services.kubelet"), "running");
    assert_string_equal(json_text_at(evidence, "services.flanneld"), "absent");
    assert_string_equal(json_text_at(evidence, "cni.file"), FOLDER "10-winjoin.conf");
    assert_string_equal(json_text_at(json_at(evidence, "cni.conf"), "name"), "flannel.4096");
    assert_string_equal(json_text_at(evidence, "expected.networkMode"), "overlay");
    assert_null(json_at(evidence, "expected.podCIDR"));
    assert_int_equal(json_array_size(json_at(evidence, "expected.excludes")), 2);
    assert_null(json_object_get(evidence, "node"));
    assert_null(json_object_get(evidence, "nodes"));
}

/* Those that say nothing, and those whose MAC address nobody asks for. */
static void neighbors_that_are_not_well_are_told(void **state) {
    const struct diag_evidence_options options = {0};
    _cleanup_json_ json_t *evidence = NULL;
    const json_t *neighbors;

    (void)state;
    make_node();
    host_memory_add_neighbor(host, "10.0.0.1", "02-00-0A-00-00-01", false);
    host_memory_add_neighbor(host, "10.0.0.31", "02-00-00-00-00-99", true);
    host_memory_add_neighbor(host, "10.0.0.32", "", false);
    host_memory_add_neighbor(host, "224.0.0.22", "01-00-5E-00-00-16", true);
    host_memory_add_neighbor(host, "ff02::16", "33-33-00-00-00-16", true);
    evidence = diag_evidence_read(host, &options);
    neighbors = json_object_get(evidence, "neighbors");
    assert_int_equal(json_array_size(neighbors), 2);
    assert_string_equal(json_text_at(neighbors, "0.address"), "10.0.0.31");
    assert_string_equal(json_text_at(neighbors, "0.mac"), "02-00-00-00-00-99");
    assert_true(json_bool_at(json_at(neighbors, "0"), "fixed", false));
    assert_string_equal(json_text_at(neighbors, "1.address"), "10.0.0.32");
    assert_string_equal(json_text_at(neighbors, "1.mac"), "");
}

static void the_node_that_has_an_address_among_its_pods(void **state) {
    _cleanup_json_ json_t *evidence =
        json_pack("{s:[{s:{s:s}, s:{s:s}}, {s:{s:s}, s:{s:s}}, {s:{s:s}}]}", "nodes", "metadata",
                  "name", "a", "spec", "podCIDR", "no prefix", "metadata", "name", "b", "spec",
                  "podCIDR", "10.244.1.0/24", "metadata", "name", "c");
    char gateway[IP_TEXT_MAX] = "";

    (void)state;
    assert_string_equal(
        json_text_at(diag_evidence_node_of(evidence, "10.244.1.9"), "metadata.name"), "b");
    assert_true(diag_evidence_gateway(evidence, "10.244.1.9", gateway));
    assert_string_equal(gateway, "10.244.1.1");
    assert_null(diag_evidence_node_of(evidence, "10.244.2.9"));
    assert_false(diag_evidence_gateway(evidence, "10.244.2.9", gateway));
    assert_false(diag_evidence_gateway(evidence, "no address", gateway));
    assert_false(diag_evidence_gateway(evidence, NULL, gateway));
    assert_false(diag_evidence_gateway(NULL, "10.244.1.9", gateway));
}

/* The pods' own port may be another than the Service's. */
static void the_port_behind_a_frontend(void **state) {
    static const struct {
        const char *vip;
        int protocol, port;
        unsigned wanted;
    } rows[] = {
        {"10.96.0.10", 17, 53, 5353}, /* not the first mapping, nor the first load balancer */
        {"10.96.0.10", 6, 53, 8053},
        {"10.96.0.10", 6, 54, 0},
        {"10.96.0.10", 17, 9153, 0},
        {"10.96.0.99", 17, 53, 0},
        {"10.96.0.11", 17, 53, 0}, /* 70000 */
        {"10.96.0.12", 17, 53, 0}, /* none */
        {NULL, 17, 53, 0},
    };
    _cleanup_json_ json_t *evidence = json_loads(
        "{\"loadBalancers\":["
        "{\"FrontendVIPs\":[\"10.96.0.1\"],\"PortMappings\":[{\"Protocol\":17,\"ExternalPort\":"
        "53,\"InternalPort\":1}]},"
        "{\"FrontendVIPs\":[\"10.96.0.10\"],\"PortMappings\":[{\"Protocol\":17,\"ExternalPort\":"
        "9153,\"InternalPort\":0},{\"Protocol\":17,\"ExternalPort\":53,\"InternalPort\":5353}]},"
        "{\"FrontendVIPs\":[\"10.96.0.10\"],\"PortMappings\":[{\"Protocol\":6,\"ExternalPort\":53,"
        "\"InternalPort\":8053}]},"
        "{\"FrontendVIPs\":[\"10.96.0.11\"],\"PortMappings\":[{\"Protocol\":17,\"ExternalPort\":"
        "53,\"InternalPort\":70000}]},"
        "{\"FrontendVIPs\":[\"10.96.0.12\"],\"PortMappings\":[{\"Protocol\":17,\"ExternalPort\":"
        "53}]}]}",
        0, NULL);

    (void)state;
    assert_non_null(evidence);
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        assert_int_equal(
            diag_evidence_backend_port(evidence, rows[i].vip, rows[i].protocol, rows[i].port),
            rows[i].wanted);
    assert_int_equal(diag_evidence_backend_port(NULL, "10.96.0.10", 17, 53), 0);
}

static void of_a_node_what_is_judged(void **state) {
    _cleanup_json_ json_t *nodes = json_pack(
        "{s:[{s:{s:s, s:{s:s}, s:{s:s}, s:s}, s:{s:s}, s:{s:[], s:[], s:[]}}]}", "items",
        "metadata", "name", "n", "annotations", "a", "b", "labels", "c", "d", "uid", "u", "spec",
        "podCIDR", "10.244.1.0/24", "status", "conditions", "addresses", "images");
    const struct diag_evidence_options options = {
        .node = json_array_get(json_object_get(nodes, "items"), 0), .nodes = nodes};
    _cleanup_json_ json_t *evidence = diag_evidence_read(host, &options);
    _cleanup_(freep) char *node = json_write(json_object_get(evidence, "node"));
    _cleanup_(freep) char *first =
        json_write(json_array_get(json_object_get(evidence, "nodes"), 0));

    (void)state;
    assert_string_equal(first, node);
    assert_null(strstr(node, "images"));
    assert_null(strstr(node, "uid"));
    assert_string_equal(json_text_at(evidence, "node.metadata.name"), "n");
    assert_string_equal(json_text_at(evidence, "node.metadata.annotations.a"), "b");
    assert_string_equal(json_text_at(evidence, "node.metadata.labels.c"), "d");
    assert_string_equal(json_text_at(evidence, "node.spec.podCIDR"), "10.244.1.0/24");
    assert_true(json_is_array(json_at(evidence, "node.status.conditions")));
    assert_true(json_is_array(json_at(evidence, "node.status.addresses")));
}

static void the_network_of_the_cni_file(void **state) {
    static const struct {
        const char *text, *name, *mode; /* NULL = untouched */
    } rows[] = {
        {"{\"name\":\"n\",\"type\":\"win-overlay\"}", "n", "overlay"},
        {"{\"name\":\"n\",\"type\":\"win-bridge\"}", "n", "l2bridge"},
        {"{\"name\":\"n\",\"type\":\"flannel\",\"delegate\":{\"type\":\"win-bridge\"}}", "n",
         "l2bridge"},
        {"{\"name\":\"n\",\"plugins\":[{\"type\":\"win-overlay\"},{\"type\":\"x\"}]}", "n",
         "overlay"},
        {"{\"name\":\"n\",\"type\":\"nat\"}", "n", "nat"},
        {"{\"name\":\"n\",\"type\":\"other\"}", NULL, NULL},
        {"{\"name\":\"n\"}", NULL, NULL},
        {"{\"type\":\"win-overlay\"}", NULL, NULL},
        {"{", NULL, NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        char *name = NULL, *mode = NULL;

        put(CNI_CONF_DIR "\\1.conflist", rows[i].text);
        diag_network_of_cni(host, &name, &mode);
        if (!text_equal(name ? name : "", rows[i].name ? rows[i].name : "") ||
            !text_equal(mode ? mode : "", rows[i].mode ? rows[i].mode : ""))
            fail_msg("%s: %s, %s", rows[i].text, name ? name : "none", mode ? mode : "none");
        free(name);
        free(mode);
    }
}

#define SERVICE(name, ip)                                                                          \
    "{\"metadata\":{\"namespace\":\"d\",\"name\":\"" name "\"},\"spec\":{\"clusterIP\":\"" ip "\"" \
    "}}"
#define SLICE(name, endpoints)                                                                     \
    "{\"metadata\":{\"namespace\":\"d\",\"labels\":{\"kubernetes.io/service-name\":\"" name        \
    "\"}},\"endpoints\":[" endpoints "]}"

/* How many ready endpoints the two Services have that every pod needs; -9: nothing is said. */
static void the_endpoints_of_two_services(void **state) {
    static const char services[] =
        "[" SERVICE("dns", "10.96.0.10") "," SERVICE("kubernetes", "10.96.0.1") "]";
    static const char slices[] = "[" SLICE("dns", "{},{}") "," SLICE("kubernetes", "") "]";
    static const struct {
        const char *dns;
        bool cluster, none;
        int dns_endpoints, kubernetes_endpoints;
    } rows[] = {{"10.96.0.10", true, false, 2, 0},
                {"10.96.0.77", true, true, -9, 0},
                {"10.96.0.10", false, false, -9, -9}};
    _cleanup_(drift_cluster_free) struct drift_cluster cluster = {.has_services = true,
                                                                  .has_slices = true};

    (void)state;
    assert_int_equal(
        drift_cluster_add(&cluster, DRIFT_SERVICES, "*", services, strlen(services), NULL), 0);
    assert_int_equal(drift_cluster_add(&cluster, DRIFT_SLICES, "*", slices, strlen(slices), NULL),
                     0);
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const struct diag_evidence_options options = {.cluster = rows[i].cluster ? &cluster : NULL,
                                                      .dns_ip = rows[i].dns,
                                                      .kubernetes_ip = "10.96.0.1"};
        _cleanup_json_ json_t *evidence = diag_evidence_read(host, &options);

        assert_int_equal(json_number_at(evidence, "dnsEndpoints", -9), rows[i].dns_endpoints);
        assert_int_equal(json_number_at(evidence, "kubernetesEndpoints", -9),
                         rows[i].kubernetes_endpoints);
        assert_int_equal(json_is_false(json_object_get(evidence, "dnsService")), rows[i].none);
    }
}

static void an_hns_that_hangs_is_told(void **state) {
    const struct diag_evidence_options options = {0};
    _cleanup_json_ json_t *well = NULL, *hung = NULL;

    (void)state;
    well = diag_evidence_read(host, &options);
    assert_null(json_object_get(well, "hnsSilent"));
    host_memory_hang_hns(host);
    hung = diag_evidence_read(host, &options);
    assert_true(json_is_true(json_object_get(hung, "hnsSilent")));
    assert_null(json_object_get(hung, "networks"));
}

/* Each call fails once: what it would have told is named as missing, and the rest is there. */
static void what_cannot_be_read_is_named(void **state) {
    static const char *const parts[] = {"adapters", "routes", "neighbors",
                                        "host",     "cni",    "services.kubelet"};
    static const char *const services[] = {"kubelet", NULL};
    const struct diag_evidence_options options = {.services = services};
    _cleanup_json_ json_t *whole = NULL;
    size_t calls, named = 0;

    (void)state;
    make_node();
    calls = host_memory_calls(host);
    whole = diag_evidence_read(host, &options);
    calls = host_memory_calls(host) - calls;
    for (size_t n = 1; n <= calls; n++) {
        _cleanup_json_ json_t *evidence = NULL;
        size_t there = 0;
        bool missing;

        host_memory_fail(host, n);
        evidence = diag_evidence_read(host, &options);
        missing = json_object_get(evidence, "missing") != NULL;
        named += missing;
        if (missing)
            assert_non_null(strstr(json_text_at(evidence, "missing.0"), "told to fail"));
        for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
            there += json_at(evidence, parts[i]) != NULL;
        assert_true(there >= ARRAY_SIZE(parts) - 1);
        assert_true(there == ARRAY_SIZE(parts) || missing);
    }
    assert_true(named >= 8);
}

static bool netsh(void *context, struct host *played, const struct host_process *process,
                  int *ret_code, struct text *ret_said, struct error *err) {
    const char *about = process->argv[4];

    (void)context, (void)played, (void)err;
    if (!strstr(process->argv[0], "netsh.exe"))
        return false;
    *ret_code = 0;
    text_add(ret_said, text_equal(about, "dynamicport")
                           ? "Start Port      : 49152\r\nNumber of Ports : 16384\r\n"
                           : "Start Port    End Port\r\n----------    --------\r\n"
                             "      5357        5357\r\n     49152       50151\r\n"
                             "     60000       60099     *\r\n     61000       61000\r\n"
                             "     65000       64000\r\n");
    return true;
}

/* Those below the dynamic ports, and what is no range, do not count. */
static void excluded_ports_are_counted(void **state) {
    const struct diag_evidence_options options = {0};
    _cleanup_json_ json_t *evidence = NULL;

    (void)state;
    host_memory_on_run(host, netsh, NULL);
    evidence = diag_evidence_read(host, &options);
    assert_int_equal(json_number_at(evidence, "dynamicPorts", 0), 16384);
    assert_int_equal(json_number_at(evidence, "excludedPorts", 0), 1101);
}

/* Asked only where it runs and has programmed nothing; what cannot be read is left out. */
static void a_kube_proxy_that_programs_nothing(void **state) {
    static const char *const services[] = {"kube-proxy", NULL};
    const struct diag_evidence_options options = {.services = services};
    struct host_service proxy = {.name = (char *)"kube-proxy", .command = (char *)"C:\\p.exe"};
    _cleanup_json_ json_t *stopped = NULL, *bare = NULL, *told = NULL;

    (void)state;
    assert_int_equal(host_service_put(host, &proxy, NULL), 0);
    stopped = diag_evidence_read(host, &options);
    assert_null(json_object_get(stopped, "kubeProxy"));
    host_memory_set_service_state(host, "kube-proxy", HOST_SERVICE_RUNNING);
    bare = diag_evidence_read(host, &options);
    assert_int_equal(json_object_size(json_object_get(bare, "kubeProxy")), 0);
    put("C:\\k\\kube-proxy.conf", "winkernel:\n  sourceVip: 10.244.99.2\n");
    put("C:\\k\\kube-proxy.kubeconfig",
        "clusters:\n- name: c\n  cluster: {server: 'https://10.0.0.99:6443'}\n"
        "contexts:\n- name: x\n  context: {cluster: c, user: u}\ncurrent-context: x\n");
    put("C:\\var\\log\\kube-proxy\\kube-proxy.log", "I1 started\nE1122 dial tcp 10.0.0.99:6443\n");
    told = diag_evidence_read(host, &options);
    assert_string_equal(json_text_at(told, "kubeProxy.sourceVip"), "10.244.99.2");
    assert_string_equal(json_text_at(told, "kubeProxy.server"), "https://10.0.0.99:6443");
    assert_string_equal(json_text_at(told, "kubeProxy.lastErrors.0"),
                        "E1122 dial tcp 10.0.0.99:6443");
}

/* How long an answer took is kept: only of what answered. */
static void a_question_beside_the_flows(void **state) {
    _cleanup_json_ json_t *evidence = json_object();
    _cleanup_(freep) char *text = NULL;

    (void)state;
    diag_evidence_add_extra(
        evidence,
        &(struct probe_result){.id = "x-a", .attempts = 3, .succeeded = 1, .median_us = 700});
    diag_evidence_add_extra(
        evidence, &(struct probe_result){.id = "x-b", .outcome = PROBE_TIMEOUT, .attempts = 1});
    text = json_write(json_object_get(evidence, "extra"));
    assert_string_equal(text, "{\"x-a\":{\"outcome\":\"ok\",\"attempts\":3,\"succeeded\":1,"
                              "\"medianUs\":700},\"x-b\":{\"outcome\":\"timeout\","
                              "\"attempts\":1,\"succeeded\":0}}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_node_is_described, open_host, close_host),
        cmocka_unit_test_setup_teardown(neighbors_that_are_not_well_are_told, open_host,
                                        close_host),
        cmocka_unit_test(the_node_that_has_an_address_among_its_pods),
        cmocka_unit_test(the_port_behind_a_frontend),
        cmocka_unit_test_setup_teardown(of_a_node_what_is_judged, open_host, close_host),
        cmocka_unit_test_setup_teardown(the_network_of_the_cni_file, open_host, close_host),
        cmocka_unit_test_setup_teardown(the_endpoints_of_two_services, open_host, close_host),
        cmocka_unit_test_setup_teardown(an_hns_that_hangs_is_told, open_host, close_host),
        cmocka_unit_test_setup_teardown(what_cannot_be_read_is_named, open_host, close_host),
        cmocka_unit_test(a_question_beside_the_flows),
        cmocka_unit_test_setup_teardown(excluded_ports_are_counted, open_host, close_host),
        cmocka_unit_test_setup_teardown(a_kube_proxy_that_programs_nothing, open_host, close_host),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
