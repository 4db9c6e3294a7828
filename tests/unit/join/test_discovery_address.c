/* What the cluster itself publishes: its API server's address, its version. */
#include "tests/scene/discovery_scene.h"

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

/* Its own agent is named, and no command of kubeadm's, which would do harm there. */
static void another_distribution_has_its_own_way(void **state) {
    static const char *const rows[][2] = {{"v1.34.1+rke2r1", "this is RKE2"},
                                          {"v1.34.1+k3s1", "this is k3s"},
                                          {"v1.33.4-eks-99d6cc0", "this is EKS"},
                                          {"v1.33.4-gke.1172000", "this is GKE"}};
    struct scene *s = *state;

    s->status = 404;
    s->body = "{\"message\":\"no\"}";
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        s->version = rows[i][0];
        assert_fails(s, ERROR_ABSENT, "404");
        assert_hint(s, rows[i][1]);
        assert_string_equal(s->err.hints[1], "");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_cluster_may_name_another_server, setup, teardown),
        cmocka_unit_test_setup_teardown(the_cluster_names_each_machine_itself, setup, teardown),
        cmocka_unit_test_setup_teardown(another_distribution_has_its_own_way, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
