/* Nodes: what is read, and the waits built on list and watch. */
#include "tests/scene/kube_scene.h"

/* ---- single looks ---- */

static void single_looks_fail_with_their_kind(void **state) {
    struct scene *s = *state;
    struct kube_csr csr = {0};
    struct kube_node node = {0};
    struct error err = {0};

    PLAY(s, {"/certificatesigningrequests/csr-1", 404, "{\"message\":\"gone\"}", 0, 0});
    assert_int_equal(kube_csr_get(&s->client, "csr-1", &csr, &err), -1);
    assert_int_equal(err.kind, ERROR_ABSENT);
    PLAY(s, {"/certificatesigningrequests", 403, "{\"message\":\"no\"}", 0, 0});
    assert_int_equal(kube_csr_create(&s->client, "PEM", KUBE_CSR_CLIENT_SIGNER, &csr, &err), -1);
    assert_int_equal(err.kind, ERROR_DENIED);
    assert_non_null(strstr(err.message, "send the certificate signing request: POST"));
    assert_int_equal(kube_csr_find(&s->client, KUBE_CSR_CLIENT_SIGNER, "n", &csr, &err), -1);
    assert_int_equal(err.kind, ERROR_DENIED);
    PLAY(s, {"/nodes/a%2Fb", 404, "{\"message\":\"gone\"}", 0, 0});
    assert_int_equal(kube_node_get(&s->client, "a/b", &node, &err), -1);
    assert_int_equal(err.kind, ERROR_ABSENT);
    PLAY(s, {"/nodes/x", 200, "{}", 0, 0});
    assert_int_equal(kube_node_get(&s->client, "x", &node, &err), -1);
    assert_int_equal(err.kind, ERROR_MALFORMED);
    PLAY(s, {"/csr-1", 200, CSR(""), 0, 0});
    assert_int_equal(kube_csr_get(&s->client, "csr-1", &csr, NULL), 0);
    assert_int_equal(csr.state, KUBE_CSR_PENDING);
    kube_csr_free(&csr);
}

/* ---- nodes ---- */

static void reads_a_node(void **state) {
    _cleanup_json_ json_t *object = json_loads(
        "{\"metadata\":{\"name\":\"win-1\",\"uid\":\"u\",\"labels\":{\"kubernetes.io/os\":"
        "\"windows\"},\"annotations\":{\"flannel.alpha.coreos.com/backend-type\":\"vxlan\","
        "\"flannel.alpha.coreos.com/backend-data\":\"{}\",\"flannel.alpha.coreos.com/"
        "public-ip\":\"10.0.0.21\"}},\"spec\":{\"podCIDR\":\"10.244.1.0/24\",\"podCIDRs\":[\"10."
        "244.1.0/24\",\"fd00:1::/"
        "64\"],\"unschedulable\":true},\"status\":{\"addresses\":[{\"type\":"
        "\"Hostname\",\"address\":\"h\"},{\"type\":\"InternalIP\",\"address\":\"10.0.0.21\"}],"
        "\"conditions\":[{\"type\":\"MemoryPressure\",\"status\":\"True\"},{\"type\":\"Ready\","
        "\"status\":\"True\",\"reason\":\"KubeletReady\"},{\"type\":\"Ready\",\"status\":\"no, "
        "the first counts\"}],\"nodeInfo\":{\"kubeletVersion\":\"v1.37.1\"}}}",
        0, NULL);
    struct kube_node node = {0};

    (void)state;
    assert_int_equal(kube_node_from_json(object, &node, NULL), 0);
    assert_string_equal(node.os, "windows");
    assert_string_equal(node.internal_ip, "10.0.0.21");
    assert_int_equal(node.addresses.count, 1);
    assert_int_equal(node.pod_cidrs.count, 2);
    assert_string_equal(node.pod_cidrs.items[1], "fd00:1::/64");
    assert_true(node.ready);
    assert_true(node.unschedulable);
    assert_string_equal(node.kubelet_version, "v1.37.1");
    kube_node_free(&node);
    json_object_del(json_object_get(object, "spec"), "podCIDRs");
    json_object_del(json_object_get(object, "spec"), "unschedulable");
    assert_int_equal(kube_node_from_json(object, &node, NULL), 0);
    assert_int_equal(node.pod_cidrs.count, 1);
    assert_false(node.unschedulable);
    kube_node_free(&node);
}

static void waits_for_a_node(void **state) {
    struct scene *s = *state;
    struct kube_node node = {0};

    PLAY(s, {"/api/v1/nodes?", 200, LIST("10", ""), 0, 0},
         {"watch", 200,
          EVENT("ADDED", NODE("11", ""))
              EVENT("MODIFIED", NODE("12", ",\"spec\":{\"podCIDR\":\"10.244.1.0/24\"}")),
          0, 0});
    assert_int_equal(
        kube_node_wait(&s->client, "win-1", KUBE_NODE_HAS_POD_CIDR, 30000, NULL, NULL, &node, NULL),
        0);
    assert_string_equal(node.pod_cidrs.items[0], "10.244.1.0/24");
    kube_node_free(&node);
}

static void says_what_a_node_lacks(void **state) {
    struct scene *s = *state;
    struct kube_node node = {0};
    struct error err = {0};

    PLAY(s, {"", 200, LIST("10", ""), 0, 0}, {"", 200, "", 0, 30000});
    assert_int_equal(
        kube_node_wait(&s->client, "win-1", KUBE_NODE_READY, 30000, NULL, NULL, &node, &err), -1);
    assert_string_equal(err.message, "node \"win-1\" is not registered: waited 30 s");
    PLAY(s, {"", 200, LIST("10", NODE("1", READY("False"))), 0, 0}, {"", 200, "", 0, 30000});
    assert_int_equal(
        kube_node_wait(&s->client, "win-1", KUBE_NODE_READY, 30000, NULL, NULL, &node, &err), -1);
    assert_string_equal(err.message,
                        "node \"win-1\" is not Ready: KubeletNotReady: cni missing: waited 30 s");
    s->asked = 0;
    assert_int_equal(
        kube_node_wait(&s->client, "win-1", KUBE_NODE_HAS_POD_CIDR, 30000, NULL, NULL, &node, &err),
        -1);
    assert_non_null(strstr(err.message, "has no podCIDR"));
}

static int stop_node(void *context, const struct kube_node *node, unsigned waited_ms) {
    struct scene *s = context;

    text_add(&s->seen, node ? "1" : "0");
    return waited_ms >= 5000;
}

static void a_wait_for_a_node_can_be_stopped(void **state) {
    struct scene *s = *state;
    struct kube_node node = {0};
    struct error err = {0};
    uint64_t start = host_monotonic_ms(s->host);

    PLAY(s, {"", 200, LIST("10", ""), 0, 0}, {"watch", 200, "", 0, 30000});
    assert_int_equal(
        kube_node_wait(&s->client, "win-1", KUBE_NODE_REGISTERED, 30000, stop_node, s, &node, &err),
        -1);
    assert_int_equal(err.kind, ERROR_INTERRUPTED);
    assert_string_equal(err.message, "wait for node \"win-1\": interrupted");
    assert_int_equal(host_monotonic_ms(s->host) - start, 5000);
    assert_string_equal(text_str(&s->seen), "000000"); /* the list, and each second */
}

/* Somebody deletes the Node while it is waited for; or it says nothing of itself. */
static void a_node_comes_and_goes(void **state) {
    struct scene *s = *state;
    struct kube_node node = {0};
    struct error err = {0};

    PLAY(s, {"", 200, LIST("10", NODE("1", READY("False"))), 0, 0},
         {"watch", 200, EVENT("DELETED", NODE("11", READY("True"))), 0, 0},
         {"watch", 200, "", 0, 30000});
    assert_int_equal(
        kube_node_wait(&s->client, "win-1", KUBE_NODE_READY, 30000, NULL, NULL, &node, &err), -1);
    assert_string_equal(err.message, "node \"win-1\" is not registered: waited 30 s");
    PLAY(s, {"", 200, LIST("10", NODE("1", "")), 0, 0}, {"watch", 200, "", 0, 30000});
    assert_int_equal(
        kube_node_wait(&s->client, "win-1", KUBE_NODE_READY, 30000, NULL, NULL, &node, &err), -1);
    assert_string_equal(err.message,
                        "node \"win-1\" is not Ready: no condition: no message: waited 30 s");
}

static void gets_nodes_without_what_is_long(void **state) {
    struct scene *s = *state;
    json_t *nodes = NULL;
    char *text;
    struct error err = {0};

    PLAY(s,
         {"/api/v1/nodes?limit=500", 200,
          "{\"metadata\":{\"continue\":\"a+b\"},\"items\":[{\"metadata\":{\"name\":\"x\","
          "\"managedFields\":[1]},\"status\":{\"images\":[1],\"addresses\":[]}}]}",
          0, 0},
         {"continue=a%2Bb", 200, "{\"items\":[{}]}", 0, 0});
    assert_int_equal(kube_nodes_get(&s->client, &nodes, NULL), 0);
    assert_int_equal(s->asked, 2);
    text = json_write(nodes);
    assert_string_equal(
        text, "{\"items\":[{\"metadata\":{\"name\":\"x\"},\"status\":{\"addresses\":[]}},{}]}");
    free(text);
    json_decref(nodes);
    PLAY(s, {"", 403, "{}", 0, 0});
    assert_int_equal(kube_nodes_get(&s->client, &nodes, &err), -1);
    assert_int_equal(err.kind, ERROR_DENIED);
}

static void gives_up_pages_that_do_not_end(void **state) {
    struct scene *s = *state;
    json_t *objects = NULL;
    struct error err = {0};
    struct text big = {0};
    struct row rows[1] = {{"", 200, NULL, 0, 0}};

#define PAGE(items) "{\"metadata\":{\"continue\":\"x\"},\"items\":[" items "]}"
    PLAY(s, {"limit=500", 200, PAGE(NODE("1", "")), 0, 0});
    assert_int_equal(kube_nodes_get(&s->client, &objects, &err), -1);
    assert_string_equal(err.message, "GET /api/v1/nodes: the list of pages never ends");
    assert_int_equal(s->asked, 300);
    PLAY(s, {"limit=500", 200, PAGE(""), 0, 9000});
    assert_int_equal(kube_nodes_get(&s->client, &objects, &err), -1);
    assert_string_equal(err.message, "GET /api/v1/nodes: not complete after 14 pages in 120 s");
    text_add(&big,
             "{\"metadata\":{\"continue\":\"x\"},\"items\":[{},{},{},{\"status\":{\"images\":\"");
    for (size_t i = 0; i < 70000; i++)
        text_add(&big,
                 "0123456789012345678901234567890123456789012345678901234567890123456789012345"
                 "67890123456789012345678");
    text_add(&big, "\"}}]}");
    rows[0].body = text_str(&big);
    s->rows = rows;
    s->count = 1;
    s->asked = 0;
    assert_int_equal(kube_nodes_get(&s->client, &objects, &err), -1);
    assert_string_equal(err.message, "GET /api/v1/nodes: more than 160 MiB");
    assert_int_equal(s->asked, 25);
    memcpy(strstr(text_str(&big), "{},{},"), "      ", 6); /* two Nodes in the same bytes */
    s->asked = 0;
    assert_int_equal(kube_nodes_get(&s->client, &objects, &err), -1);
    assert_string_equal(err.message,
                        "GET /api/v1/nodes: 2 objects in 6 MiB, more than etcd stores");
    assert_int_equal(err.kind, ERROR_MALFORMED);
    assert_int_equal(s->asked, 1);
    text_free(&big);
}

static void lists_that_are_none_are_refused(void **state) {
    static const struct {
        const char *body, *says;
    } rows[] = {
        {"{}", "decode list: no items"},
        {"{\"items\":5}", "decode list: no items"},
        {"{\"kind\":\"NodeList\",\"items\":{}}", "decode list: no items"},
        {"{\"kind\":\"Node\",\"items\":[]}", "decode list: unexpected object: Node"},
        {"{\"kind\":\"Status\",\"message\":\"no\"}", "no: decode list: unexpected object: Status"},
    };
    struct scene *s = *state;
    json_t *nodes = NULL;
    struct kube_node node = {0};

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct error err = {0};
        struct row row = {"", 200, rows[i].body, 0, 0};

        s->rows = &row;
        s->count = 1;
        s->asked = 0;
        assert_int_equal(kube_nodes_get(&s->client, &nodes, &err), -1);
        assert_string_equal(strstr(err.message, ": ") + 2, rows[i].says);
        assert_int_equal(err.kind, ERROR_MALFORMED);
        assert_int_equal(
            kube_node_wait(&s->client, "win-1", KUBE_NODE_READY, 30000, NULL, NULL, &node, &err),
            -1);
        assert_string_equal(strstr(err.message, ": ") + 2, rows[i].says);
    }
    PLAY(s, {"", 200, "{\"kind\":\"NodeList\",\"items\":null}", 0, 0});
    assert_int_equal(kube_nodes_get(&s->client, &nodes, NULL), 0);
    assert_int_equal(json_array_size(json_object_get(nodes, "items")), 0);
    json_decref(nodes);
}

static void looks_at_the_object_that_came(void **state) {
    static const struct {
        const char *body, *says;
    } rows[] = {
        {"{\"metadata\":{\"name\":\"other\"}}",
         "GET /api/v1/nodes/win-1: the answer is Node \"other\""},
        {"{\"kind\":\"Pod\",\"metadata\":{\"name\":\"win-1\"}}",
         "decode Node: unexpected object: Pod"},
        {"{\"apiVersion\":\"v2\",\"metadata\":{\"name\":\"win-1\"}}",
         "decode Node: unexpected object: v2"},
    };
    struct scene *s = *state;
    struct kube_node node = {0};
    struct kube_csr csr = {0};
    struct error err = {0};

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct row row = {"", 200, rows[i].body, 0, 0};

        s->rows = &row;
        s->count = 1;
        s->asked = 0;
        assert_int_equal(kube_node_get(&s->client, "win-1", &node, &err), -1);
        assert_string_equal(err.message, rows[i].says);
        assert_int_equal(err.kind, ERROR_MALFORMED);
    }
    PLAY(s, {"", 200, "{\"metadata\":{\"name\":\"csr-1;reboot\"},\"spec\":{}}", 0, 0});
    assert_int_equal(kube_csr_get(&s->client, "csr-1", &csr, &err), -1);
    assert_non_null(strstr(err.message, "\"csr-1;reboot\" is not an object name"));
}

/* The taint of a node is the control plane's: a node writes the condition. */
static void the_network_is_pending(void **state) {
    static const struct row rows[] = {{"/api/v1/nodes/win-1/status", 200, "{}", 0, 0}};
    struct scene *s = *state;
    s->rows = rows;
    s->count = 1;
    assert_int_equal(kube_node_network_pending_set(&s->client, "win-1", true, NULL), 0);
    for (int pending = 0; pending < 2; pending++) {
        struct kube_node node = {0};
        _cleanup_json_ json_t *object =
            json_pack("{s:{s:s}, s:{s:[{s:s, s:s, s:s}]}}", "metadata", "name", "win-1", "status",
                      "conditions", "type", "NetworkUnavailable", "status",
                      pending ? "True" : "False", "reason", "WinjoinNetworkPending");
        assert_int_equal(kube_node_from_json(object, &node, NULL), 0);
        assert_int_equal(node.network_pending, pending);
        kube_node_free(&node);
    }
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(single_looks_fail_with_their_kind),
        cmocka_unit_test(reads_a_node),
        CASE(waits_for_a_node),
        CASE(says_what_a_node_lacks),
        CASE(a_wait_for_a_node_can_be_stopped),
        CASE(a_node_comes_and_goes),
        CASE(gets_nodes_without_what_is_long),
        CASE(gives_up_pages_that_do_not_end),
        CASE(lists_that_are_none_are_refused),
        CASE(looks_at_the_object_that_came),
        CASE(the_network_is_pending),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
