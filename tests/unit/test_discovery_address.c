/* The address of the API server that the cluster itself publishes. */
#include "discovery_scene.h"

static void the_cluster_may_name_another_server(void **state) {
    struct scene *s = *state;

    s->server = "https://10.9.9.9:6443";
    assert_int_equal(run(s), 0);
    assert_int_equal(s->result.warnings.count, 1);
    assert_non_null(strstr(s->result.warnings.items[0], "https://10.9.9.9:6443"));
    assert_non_null(strstr(s->result.warnings.items[0], "not the endpoint 10.0.0.10:6443"));
}

/* What leads each machine to itself is not tried, but said; unless the call means this machine. */
static void the_cluster_names_each_machine_itself(void **state) {
    static const char *const servers[] = {"https://127.0.0.1:6443", "https://localhost:8443",
                                          "https://0.0.0.0:6443", "https://[::1]:6443"};
    struct scene *s = *state;

    for (size_t i = 0; i < ARRAY_SIZE(servers); i++) {
        s->server = servers[i];
        s->options.for_node = false; /* who asks is told */
        assert_int_equal(run(s), 0);
        assert_non_null(strstr(s->result.warnings.items[0], servers[i]));
        discovery_result_free(&s->result);
        s->options.for_node = true;
        assert_int_equal(run(s), -1);
        assert_int_equal(s->err.kind, ERROR_USAGE);
        assert_non_null(strstr(s->err.message, servers[i]));
        assert_non_null(strstr(s->err.message, "kube-public/cluster-info"));
        assert_non_null(strstr(s->err.hints[0], "edit configmap cluster-info"));
        assert_non_null(strstr(s->err.hints[0], "https://10.0.0.10:6443"));
    }
    s->server = "https://127.0.0.1:6443"; /* who asks this machine may get this machine */
    s->options.endpoint = "localhost:6443";
    s->url = "https://localhost:6443/api/v1/namespaces/kube-public/configmaps/cluster-info?"
             "timeout=10s";
    s->broken = ERROR_NETWORK;
    assert_int_equal(run(s), -1);
    assert_int_equal(s->err.kind, ERROR_NETWORK);
    assert_non_null(strstr(s->err.hints[0], "https://localhost:6443 is this machine itself"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_cluster_may_name_another_server, setup, teardown),
        cmocka_unit_test_setup_teardown(the_cluster_names_each_machine_itself, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
