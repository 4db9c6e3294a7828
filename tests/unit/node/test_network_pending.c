/* Pods are kept away from a node, by its condition, until its network stands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "netsetup/hns/hcn_network.h"
#include "node/chosen.h"
#include "node/keeper/network_keeper.h"
#include "tests/memory/host_memory.h"
#include "tests/memory/http_memory.h"
#include "tests/scene/network_scene.h"

static struct host *host;
static struct http *http;
static struct network_pending pending;
static struct text said; /* "G" for a look at the Node, "T" and "F" for what was written */
static bool node_is_pending, server_is_away;

static int answer(void *context, const struct http_request *request, struct http_response *ret,
                  struct error *err) {
    bool patch = strstr(request->url, "/api/v1/nodes/win-7k2/status");

    (void)context;
    if (server_is_away)
        return error_set(err, ERROR_NETWORK, "connection refused");
    if (patch)
        node_is_pending = strstr(request->body, "\"True\"");
    text_add(&said, !patch ? "G" : node_is_pending ? "T" : "F");
    ret->status = 200;
    ret->body = xasprintf("{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"win-"
                          "7k2\"},\"status\":{\"conditions\":[{\"type\":\"NetworkUnavailable\","
                          "\"status\":\"%s\",\"reason\":\"WinjoinNetworkPending\"}]}}",
                          node_is_pending ? "True" : "False");
    ret->body_len = strlen(ret->body);
    return 0;
}

static void put(const char *path, const char *text) {
    assert_int_equal(host_write(host, path, text, strlen(text), HOST_SECRET, NULL), 0);
}

static void write_join(const char *plugin, const char *agent, const char *network) {
    _cleanup_(freep) char *text = xasprintf(
        "{\"mode\":\"overlay\",\"plugin\":\"%s\"%s%s%s,\"name\":\"%s\",\"podCIDR\":\"10.244.1.0/"
        "24\",\"management\":\"10.0.0.21/24\",\"node\":\"win-7k2\"}",
        plugin, agent ? ",\"agent\":\"" : "", agent ? agent : "", agent ? "\"" : "", network);

    put(CHOSEN_FILE, text);
}

static int open_host(void **state) {
    (void)state;
    host = host_memory_new();
    http = http_memory_new(answer, NULL);
    pending = (struct network_pending){0};
    node_is_pending = server_is_away = false;
    put(NODE_KUBECONFIG,
        "{\"clusters\":[{\"name\":\"c\",\"cluster\":{\"server\":\"https://k\"}}],\"users\":[{"
        "\"name\":\"u\",\"user\":{\"token\":\"t\"}}],\"contexts\":[{\"name\":\"x\",\"context\":{"
        "\"cluster\":\"c\",\"user\":\"u\"}}],\"current-context\":\"x\"}");
    return 0;
}

static int close_host(void **state) {
    (void)state;
    text_free(&said);
    http_free(http);
    host_free(host);
    return 0;
}

static void make_network(const char *name, const char *type) {
    _cleanup_(freep) char *text = xasprintf(
        "{\"Name\":\"%s\",\"Type\":\"%s\",\"SchemaVersion\":{\"Major\":2,\"Minor\":0},"
        "\"Policies\":[{\"Type\":\"NetAdapterName\",\"Settings\":{\"NetworkAdapterName\":"
        "\"Ethernet\"}}],\"Ipams\":[{\"Type\":\"Static\",\"Subnets\":[{\"IpAddressPrefix\":"
        "\"10.244.1.0/24\",\"Policies\":[{\"Type\":\"VSID\",\"Settings\":{\"IsolationId\":4096}}],"
        "\"Routes\":[{\"NextHop\":\"10.244.1.1\",\"DestinationPrefix\":\"0.0.0.0/0\"}]}]}]}",
        name, type);
    struct error err = {0};
    char *properties = NULL;

    if (hcn_create(host, HCN_NETWORK, NULL, NULL, text, &properties, &err) < 0)
        fail_msg("%s", err.message);
    free(properties);
}

static void look(bool booting, bool restored, const char *expected) {
    network_pending_update(host, http, booting, restored, &pending);
    assert_string_equal(text_str(&said), expected);
    host_memory_advance(host, 5000);
}

/* Calico's network comes after its CNI file, whatever HNS had before. */
static void an_agent_comes_first(void **state) {
    (void)state;
    look(true, true, ""); /* no join yet */
    write_join("external", "calico", "Calico");
    server_is_away = true;
    look(true, true, "");
    server_is_away = false;
    look(true, true, "GT");
    look(true, true, "GT"); /* once */
    put("C:\\etc\\cni\\net.d\\10-calico.conf", "{\"name\":\"n\",\"type\":\"calico\"}");
    look(true, true, "GT");
    make_network("External", "Overlay"); /* its base, which is not the pods' */
    look(true, true, "GT");
    make_network("Calico", "Overlay");
    server_is_away = true;
    look(true, true, "GT");
    server_is_away = false;
    look(true, true, "GTF");
    look(true, true, "GTF");
    assert_true(pending.over);
}

/* The service ended while pods were kept away, and started again later. */
static void an_earlier_start_left_it(void **state) {
    (void)state;
    write_join("ovn-kubernetes", NULL, "OVNKubernetesHybridOverlayNetwork");
    make_network("OVNKubernetesHybridOverlayNetwork", "Overlay");
    node_is_pending = true;
    look(false, true, "GF");
    assert_true(pending.over);
}

static void not_asked_too_often(void **state) {
    (void)state;
    write_join("ovn-kubernetes", NULL, "OVNKubernetesHybridOverlayNetwork");
    server_is_away = true;
    network_pending_update(host, http, true, true, &pending);
    server_is_away = false;
    network_pending_update(host, http, true, true, &pending);
    assert_string_equal(text_str(&said), "");
    host_memory_advance(host, 5000);
    look(true, true, "GT");
}

/* Winjoin's own network: after a start of Windows alone, and only where it could not be made. */
static void winjoin_makes_it(void **state) {
    (void)state;
    write_join("flannel", NULL, "flannel.4096");
    look(false, false, "");
    assert_true(pending.over);
    pending = (struct network_pending){0};
    look(true, false, "GT");
    make_network("flannel.4096", "Overlay");
    look(true, false, "GT");
    look(true, true, "GTF");
    assert_true(pending.over);
}

/* Azure's comes with the first pod, which must not be kept away until then. */
static void the_first_pod_makes_it(void **state) {
    (void)state;
    write_join("azure-vnet", NULL, "azure");
    look(true, false, "GT"); /* its state is not removed yet */
    look(true, true, "GTF");
    assert_true(pending.over);
}

static void a_reset_takes_it_back(void **state) {
    struct error err = {0};

    (void)state;
    assert_int_equal(network_pending_clear(host, http, &err), 0); /* no join */
    write_join("flannel", NULL, "flannel.4096");
    assert_int_equal(network_pending_clear(host, http, &err), 0);
    assert_string_equal(text_str(&said), "");
    write_join("external", "calico", "Calico");
    assert_int_equal(network_pending_clear(host, http, &err), 0);
    assert_string_equal(text_str(&said), "G");
    node_is_pending = true;
    assert_int_equal(network_pending_clear(host, http, &err), 0);
    assert_string_equal(text_str(&said), "GGF");
    server_is_away = true;
    assert_int_equal(network_pending_clear(host, http, &err), -1);
    assert_int_equal(err.kind, ERROR_NETWORK);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_host, close_host)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(an_agent_comes_first), TEST(an_earlier_start_left_it), TEST(not_asked_too_often),
        TEST(winjoin_makes_it),     TEST(the_first_pod_makes_it),   TEST(a_reset_takes_it_back),
    };

    return cmocka_run_group_tests_name("network pending", tests, NULL, NULL);
}
