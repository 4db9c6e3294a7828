/* `winjoin certs`: the node's certificates are renewed. */
#include "joining_scene.h"

#include "join/kubelet/kubelet_files.h"
#include "pki/csr.h"
#include "pki/key.h"

/* Another client certificate with the node's own identity, and the kubelet is started again. */
static void certificates_are_renewed(void **state) {
    _cleanup_(freep) char *before = NULL, *after = NULL;
    struct host_service kubelet = {0};
    size_t len, said;

    (void)state;
    words("10.0.0.10:6443");
    succeeds(verb_join);
    assert_int_equal(
        host_read(r.host, KUBELET_CLIENT_CERTIFICATE_FILE, 1 << 20, &before, &len, NULL), 0);
    host_memory_advance(r.host, 5000);
    words("renew");
    said = strlen(host_memory_log(r.host));
    succeeds(verb_certs);
    assert_int_equal(
        host_read(r.host, KUBELET_CLIENT_CERTIFICATE_FILE, 1 << 20, &after, &len, NULL), 0);
    assert_string_not_equal(before, after);
    assert_non_null(strstr(host_memory_log(r.host) + said, "service_stop kubelet"));
    assert_int_equal(host_service_query(r.host, "kubelet", &kubelet, NULL), 0);
    assert_int_equal(kubelet.state, HOST_SERVICE_RUNNING);
    host_service_free(&kubelet);
    assert_string_equal(result_text("kind"), "NodeCertificates");
    assert_true(json_bool_at(program->result, "changed", false));
    assert_true(strstr(text_str(&out), "CN=system:node:win-7k2") != NULL);
}

/* In what the host was asked after the first `said` bytes. */
static size_t stops_of_kubelet(size_t said) {
    const char *at = host_memory_log(r.host) + said;
    size_t n = 0;

    for (; (at = strstr(at, "service_stop kubelet")); at++)
        n++;
    return n;
}

/* As the kubelet keeps one that the cluster signed. The caller frees. */
static char *store_serving_certificate(void) {
    _cleanup_(text_list_free) struct text_list dns = {0}, ip = {0};
    const struct csr_names names = {&dns, &ip};
    _cleanup_(secret_freep) char *key = NULL;
    _cleanup_(freep) char *request = NULL;
    char *both;

    text_list_add(&dns, "win-7k2");
    text_list_add(&ip, "10.0.0.21");
    assert_int_equal(key_generate(&key, NULL), 0);
    assert_int_equal(csr_make(key, "win-7k2", &names, &request, NULL), 0);
    free(r.scene.request);
    r.scene.request = base64_encode(request, strlen(request));
    scene_sign(&r.scene);
    both = xasprintf("%s%s", r.scene.certificate, key);
    assert_int_equal(
        host_write(r.host, KUBELET_SERVING_CERTIFICATE_FILE, both, strlen(both), HOST_SECRET, NULL),
        0);
    return both;
}

/* The kubelet's serving certificate, too, where the cluster signed one: for the same names. */
static void both_certificates_are_renewed(void **state) {
    _cleanup_(freep) char *before = NULL, *after = NULL;
    _cleanup_(certificates_free) struct certificates made = {0};
    size_t len, said;

    (void)state;
    words("10.0.0.10:6443");
    succeeds(verb_join);
    before = store_serving_certificate();
    host_memory_advance(r.host, 5000);
    words("renew");
    said = strlen(host_memory_log(r.host));
    succeeds(verb_certs);
    assert_int_equal(
        host_read(r.host, KUBELET_SERVING_CERTIFICATE_FILE, 1 << 20, &after, &len, NULL), 0);
    assert_string_not_equal(before, after);
    assert_int_equal(certificates_parse(after, len, &made, NULL), 0);
    assert_int_equal(made.items[0].dns_names.count, 1);
    assert_string_equal(made.items[0].dns_names.items[0], "win-7k2");
    assert_string_equal(made.items[0].ip_addresses.items[0], "10.0.0.21");
    assert_int_equal(key_check(after, NULL), 0);
    assert_int_equal(host_file_type(r.host, KUBELET_CERTIFICATE_FOLDER "\\kubelet-server.key.tmp"),
                     HOST_ABSENT);
    assert_int_equal(stops_of_kubelet(said), 1);
    assert_string_equal(result_text("serving.subject"), "CN=system:node:win-7k2,O=system:nodes");
}

/* Nobody approves it: the client certificate is new, and what served goes on. */
static void a_serving_certificate_that_nobody_approves(void **state) {
    _cleanup_(freep) char *before = NULL, *after = NULL;
    struct error err;
    size_t len, said;

    (void)state;
    words("10.0.0.10:6443");
    succeeds(verb_join);
    before = store_serving_certificate();
    r.scene.holds_serving = true;
    program->options.join.timeout = 10000;
    words("renew");
    said = strlen(host_memory_log(r.host));
    assert_int_equal(verb(verb_certs, &err), -1);
    assert_int_equal(err.kind, ERROR_TIMED_OUT);
    assert_ptr_equal(strstr(err.message, "renew the serving certificate (the client certificate is "
                                         "new): certificate signing request \"csr-x7k2p\" is still "
                                         "pending: it has not been approved: waited 10 s"),
                     err.message);
    assert_string_equal(err.hints[0], "kubectl certificate approve csr-x7k2p");
    assert_int_equal(
        host_read(r.host, KUBELET_SERVING_CERTIFICATE_FILE, 1 << 20, &after, &len, NULL), 0);
    assert_string_equal(before, after);
    assert_int_equal(stops_of_kubelet(said), 1);
}

#define JOIN_TEST(name) cmocka_unit_test_setup_teardown(name, open_joining, close_joining)

int main(void) {
    const struct CMUnitTest tests[] = {
        JOIN_TEST(certificates_are_renewed),
        JOIN_TEST(both_certificates_are_renewed),
        JOIN_TEST(a_serving_certificate_that_nobody_approves),
    };

    return cmocka_run_group_tests(tests, NULL, free_output);
}
