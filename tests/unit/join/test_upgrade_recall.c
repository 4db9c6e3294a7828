/* What an upgrade takes from the machine: what its join chose. */
#include "tests/scene/upgrade_scene.h"

/* What the join was given is recalled, also where the cluster's Node has none of it; what is given
 * now wins. */
static void what_the_join_chose_is_recalled(void **state) {
    struct join_options options = {0}, given = {0}, alone = {0};
    json_t *before;
    struct run r;

    (void)state;
    open_node(&r, &before);
    put(&r, "C:\\var\\lib\\kubelet\\config.yaml",
        "authentication: {x509: {clientCAFile: 'D:\\ca.crt'}}\n"
        "containerRuntimeEndpoint: npipe:////./pipe/other\n");
    assert_int_equal(upgrade_recall(r.host, &options, NULL), 0);
    assert_int_equal(options.pod_cidrs.count, 1);
    assert_string_equal(options.pod_cidrs.items[0], "10.244.3.0/24");
    assert_string_equal(options.ca_cert_path, "D:\\ca.crt");
    assert_string_equal(options.cri_socket, "npipe:////./pipe/other");
    assert_string_equal(options.node_ip, "10.0.0.21");
    assert_null(options.kube_proxy);
    given.node_ip = xstrdup("10.0.0.99");
    given.cri_socket = xstrdup("npipe:////./pipe/mine");
    text_list_add(&given.pod_cidrs, "10.9.0.0/24");
    assert_int_equal(host_service_delete(r.host, "kube-proxy", 1000, NULL), 0);
    assert_int_equal(upgrade_recall(r.host, &given, NULL), 0);
    assert_string_equal(given.node_ip, "10.0.0.99");
    assert_string_equal(given.cri_socket, "npipe:////./pipe/mine");
    assert_int_equal(given.pod_cidrs.count, 1);
    assert_string_equal(given.kube_proxy, "none");
    close_node(&r, before);
    open_run(&r, "overlay"); /* a machine that has not joined says nothing */
    assert_int_equal(upgrade_recall(r.host, &alone, NULL), 0);
    assert_null(alone.node_ip);
    assert_null(alone.cri_socket);
    assert_null(alone.dsr);
    assert_int_equal(alone.pod_cidrs.count, 0);
    close_run(&r);
    join_options_free(&options);
    join_options_free(&given);
    join_options_free(&alone);
}

/* Defaults would take the place of what the join chose. */
static void what_cannot_be_recalled_is_an_error(void **state) {
    static const char *const rows[][3] = {
        {"C:\\ProgramData\\winjoin\\services\\kubelet.json", "{", "service 'kubelet'"},
        {"C:\\var\\lib\\kubelet\\config.yaml", "a: [", "config.yaml"},
        {"C:\\var\\lib\\kubelet\\config.yaml", "a: 1\n---\nb: 2\n",
         "config.yaml: 2 documents instead of one"},
        {"C:\\k\\kube-proxy.conf", "a: [", "kube-proxy.conf"},
        {"C:\\ProgramData\\winjoin\\network.json", "[]", "network.json"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct join_options options = {0}, given = {.node_ip = xstrdup("10.0.0.99")};
        struct error err = {0};
        json_t *before;
        struct run r;

        open_node(&r, &before);
        put(&r, rows[i][0], rows[i][1]);
        assert_int_equal(upgrade_recall(r.host, &options, &err), -1);
        assert_true(text_starts_with(err.message, "read what the join of this node chose: "));
        assert_non_null(strstr(err.message, rows[i][2]));
        assert_non_null(strstr(err.hints[0], "winjoin join"));
        assert_int_equal(upgrade_recall(r.host, &given, NULL),
                         i ? -1 : 0); /* given now: not asked */
        join_options_free(&options);
        join_options_free(&given);
        close_node(&r, before);
    }
}

/* What kube-proxy was joined with; a machine without its file says nothing. */
static void own_dsr_stays(void **state) {
    static const char *const rows[][2] = {{"winkernel:\n  enableDSR: true\n", "on"},
                                          {"winkernel:\n  enableDSR: false\n", "off"},
                                          {"mode: kernelspace\n", "off"}};
    json_t *before;
    struct run r;

    (void)state;
    open_node(&r, &before);
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct join_options options = {0};

        put(&r, "C:\\k\\kube-proxy.conf", rows[i][0]);
        assert_int_equal(upgrade_recall(r.host, &options, NULL), 0);
        assert_string_equal(options.dsr, rows[i][1]);
        join_options_free(&options);
    }
    close_node(&r, before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_join_chose_is_recalled),
        cmocka_unit_test(what_cannot_be_recalled_is_an_error),
        cmocka_unit_test(own_dsr_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
