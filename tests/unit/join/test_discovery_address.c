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
/* The hint comes with each try, and not only after minutes of waiting. */
static void expect_told(void *context, const struct error *why, unsigned, unsigned) {
    assert_non_null(strstr(why->hints[0], "is this machine itself"));
    ++*(int *)context;
}

static void the_cluster_names_each_machine_itself(void **state) {
    static const char *const servers[] = {"https://127.0.0.1:6443", "https://localhost:8443",
                                          "https://0.0.0.0:6443", "https://[::1]:6443"};
    struct scene *s = *state;
    int told = 0;

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
    s->options.on_retry = expect_told;
    s->options.on_retry_context = &told;
    assert_int_equal(run(s), -1);
    assert_int_equal(s->err.kind, ERROR_NETWORK);
    assert_true(told > 1);
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

/* Whatever is asked for next proves the server, where cluster-info again would say nothing new. */
static void the_next_question_is_the_proof(void **state) {
    static const struct {
        const char *ca_pem, *server;
        bool proof;
        long status;
    } rows[] = {{CA_PEM, "https://10.0.0.10:6443", true, 200},
                {CA_PEM, "https://10.0.0.10:6443", true, 403},
                {CA_PEM, "https://10.0.0.11:6443", false, 200}, /* another server is named */
                {OTHER_PEM CA_PEM, "https://10.0.0.10:6443", false, 200}}; /* one has no pin */
    struct scene *s = *state;

    s->options.proof = PROOF;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        discovery_result_free(&s->result);
        s->ca_pem = rows[i].ca_pem;
        s->server = rows[i].server;
        s->proof_pem = rows[i].proof ? NULL : CA_PEM;
        s->proof_status = rows[i].status;
        s->requests = s->verified = 0;
        assert_int_equal(discovery_run(&s->options, s->http, s->host, &s->result, &s->err), 0);
        assert_int_equal(s->requests, 2);
        assert_int_equal(s->verified, 1);
        assert_string_equal(s->bearer, rows[i].proof ? TOKEN : "");
        assert_int_equal(s->result.proof != NULL, rows[i].proof && rows[i].status == 200);
    }
}

static void a_proof_that_fails_says_why(void **state) {
    struct scene *s = *state;

    s->options.proof = PROOF;
    s->server_certs = OTHER_PEM;
    s->broken_verified = ERROR_UNTRUSTED;
    assert_fails(s, ERROR_UNTRUSTED, "not signed by the cluster's CA");
    assert_null(s->result.proof);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_cluster_may_name_another_server, setup, teardown),
        cmocka_unit_test_setup_teardown(the_cluster_names_each_machine_itself, setup, teardown),
        cmocka_unit_test_setup_teardown(another_distribution_has_its_own_way, setup, teardown),
        cmocka_unit_test_setup_teardown(the_next_question_is_the_proof, setup, teardown),
        cmocka_unit_test_setup_teardown(a_proof_that_fails_says_why, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
