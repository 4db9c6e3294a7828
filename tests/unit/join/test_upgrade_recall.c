/* What an upgrade takes from the machine: what its join chose. */
#include "node/chosen.h"
#include "tests/scene/upgrade_scene.h"

static void join_again(struct run *r) {
    struct error err = {0};

    if (join_once(r, &err) < 0)
        fail_msg("%s: %s", err.message, err.hints[0]);
}

/* What the join was given is recalled, also where the cluster's Node has none of it; what is given
 * now wins. */
static void what_the_join_chose_is_recalled(void **state) {
    struct join_options options = {0}, others = {0}, given = {0}, alone = {0};
    json_t *before;
    struct run r;

    (void)state;
    open_node(&r, &before);
    assert_int_equal(upgrade_recall(r.host, &options, NULL), 0);
    assert_int_equal(options.pod_cidrs.count, 1);
    assert_string_equal(options.pod_cidrs.items[0], "10.244.3.0/24");
    assert_string_equal(options.ca_cert_path, "C:\\etc\\kubernetes\\pki\\ca.crt");
    assert_string_equal(options.cri_socket, "npipe:////./pipe/containerd-containerd");
    assert_string_equal(options.node_ip, "10.0.0.21");
    assert_string_equal(options.dsr, "on");
    assert_null(options.kube_proxy);
    r.options.ca_cert_path = xstrdup("D:\\ca.crt");
    r.options.cri_socket = xstrdup("npipe:////./pipe/other");
    text_set(&r.options.kube_proxy, xstrdup("none"));
    text_set(&r.options.dsr, xstrdup("off"));
    host_memory_set_pipe(r.host, "\\\\.\\pipe\\other");
    join_again(&r);
    assert_int_equal(upgrade_recall(r.host, &others, NULL), 0);
    assert_string_equal(others.ca_cert_path, "D:\\ca.crt");
    assert_string_equal(others.cri_socket, "npipe:////./pipe/other");
    assert_string_equal(others.kube_proxy, "none");
    assert_string_equal(others.dsr, "off");
    given.node_ip = xstrdup("10.0.0.99");
    given.cri_socket = xstrdup("npipe:////./pipe/mine");
    given.dsr = xstrdup("auto");
    text_list_add(&given.pod_cidrs, "10.9.0.0/24");
    assert_int_equal(upgrade_recall(r.host, &given, NULL), 0);
    assert_string_equal(given.node_ip, "10.0.0.99");
    assert_string_equal(given.cri_socket, "npipe:////./pipe/mine");
    assert_string_equal(given.dsr, "auto");
    assert_int_equal(given.pod_cidrs.count, 1);
    close_node(&r, before);
    open_run(&r, "overlay"); /* a machine that has not joined says nothing */
    assert_int_equal(upgrade_recall(r.host, &alone, NULL), 0);
    assert_null(alone.node_ip);
    assert_null(alone.cri_socket);
    assert_null(alone.dsr);
    assert_int_equal(alone.pod_cidrs.count, 0);
    close_run(&r);
    join_options_free(&options);
    join_options_free(&others);
    join_options_free(&given);
    join_options_free(&alone);
}

/* Defaults would take the place of what the join chose. */
static void what_cannot_be_recalled_is_an_error(void **state) {
    static const char *const rows[] = {"{", "[]", "{\"podCIDR\":\"10.244.3.0/24\"}"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct join_options options = {0};
        struct error err = {0};
        json_t *before;
        struct run r;

        open_node(&r, &before);
        put(&r, CHOSEN_FILE, rows[i]);
        assert_int_equal(upgrade_recall(r.host, &options, &err), -1);
        assert_true(text_starts_with(err.message, "read what the join of this node chose: "));
        assert_non_null(strstr(err.message, "network.json"));
        assert_non_null(strstr(err.hints[0], "winjoin join"));
        join_options_free(&options);
        close_node(&r, before);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_join_chose_is_recalled),
        cmocka_unit_test(what_cannot_be_recalled_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
