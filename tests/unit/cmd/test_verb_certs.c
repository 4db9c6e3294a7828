/* `winjoin certs`: the node's certificates are renewed. */
#include "tests/scene/joining_scene.h"

#include "join/kubelet/kubelet_files.h"
#include "pki/certificate.h"

/* What the kubelet's folder has under this name; the caller frees. */
static char *stored(const char *path) {
    char *text = NULL;
    size_t len;

    assert_int_equal(host_read(r.host, path, 1 << 20, &text, &len, NULL), 0);
    return text;
}

/* Another client certificate with the node's own identity, and the kubelet is started again. */
static void certificates_are_renewed(void **state) {
    _cleanup_(freep) char *before = NULL, *after = NULL;
    struct host_service kubelet = {0};
    size_t said;

    (void)state;
    words("10.0.0.10:6443");
    succeeds(verb_join);
    before = stored(KUBELET_CLIENT_CERTIFICATE_FILE);
    host_memory_advance(r.host, 5000);
    words("renew");
    said = strlen(host_memory_log(r.host));
    succeeds(verb_certs);
    after = stored(KUBELET_CLIENT_CERTIFICATE_FILE);
    assert_string_not_equal(before, after);
    assert_non_null(strstr(after, r.scene.node_asked_as)); /* tried before it was stored */
    assert_non_null(strstr(host_memory_log(r.host) + said, "service_stop kubelet"));
    assert_int_equal(host_service_query(r.host, "kubelet", &kubelet, NULL), 0);
    assert_int_equal(kubelet.state, HOST_SERVICE_RUNNING);
    host_service_free(&kubelet);
    assert_string_equal(result_text("kind"), "NodeCertificates");
    assert_true(json_bool_at(program->result, "changed", false));
    assert_true(strstr(text_str(&out), "CN=system:node:win-7k2") != NULL);
}

/* ---- the serving certificate ---- */

/* In what the host was asked after the first `said` bytes. */
static size_t stops_of_kubelet(size_t said) {
    const char *at = host_memory_log(r.host) + said;
    size_t n = 0;

    for (; (at = strstr(at, "service_stop kubelet")); at++)
        n++;
    return n;
}

static void store_serving(const char *text) {
    assert_int_equal(
        host_write(r.host, KUBELET_SERVING_CERTIFICATE_FILE, text, strlen(text), HOST_SECRET, NULL),
        0);
}

/* As the kubelet keeps one that the cluster signed. The caller frees. */
static char *serving_made(void) {
    _cleanup_(text_list_free) struct text_list dns = {0}, ip = {0};
    const struct csr_names names = {&dns, &ip};
    _cleanup_(secret_freep) char *key = NULL;
    _cleanup_(freep) char *request = NULL;

    text_list_add(&dns, "win-7k2");
    text_list_add(&ip, "10.0.0.21");
    assert_int_equal(key_generate(&key, NULL), 0);
    assert_int_equal(csr_make(key, "win-7k2", &names, &request, NULL), 0);
    free(r.scene.request);
    r.scene.request = base64_encode(request, strlen(request));
    scene_sign(&r.scene);
    return xasprintf("%s%s", r.scene.certificate, key);
}

/* A joined node has `serving`; `winjoin certs renew` fails, and `serving` stays. The kubelet was
 * started again, as the client certificate is new. */
static void renews_one_of_two(const char *serving, struct error *err) {
    _cleanup_(freep) char *before = stored(KUBELET_CLIENT_CERTIFICATE_FILE), *after = NULL,
                          *kept = NULL;
    const size_t said = strlen(host_memory_log(r.host));

    store_serving(serving);
    host_memory_advance(r.host, 5000);
    words("renew");
    assert_int_equal(verb(verb_certs, err), -1);
    after = stored(KUBELET_CLIENT_CERTIFICATE_FILE);
    assert_string_not_equal(before, after);
    kept = stored(KUBELET_SERVING_CERTIFICATE_FILE);
    assert_string_equal(serving, kept);
    assert_int_equal(stops_of_kubelet(said), 1);
}

/* Where the cluster signed one: for the same names. */
static void both_certificates_are_renewed(void **state) {
    _cleanup_(freep) char *before = NULL, *after = NULL, *client = NULL;
    _cleanup_(certificates_free) struct certificates made = {0};
    size_t said;

    (void)state;
    words("10.0.0.10:6443");
    succeeds(verb_join);
    before = serving_made();
    store_serving(before);
    host_memory_advance(r.host, 5000);
    words("renew");
    said = strlen(host_memory_log(r.host));
    succeeds(verb_certs);
    after = stored(KUBELET_SERVING_CERTIFICATE_FILE);
    assert_string_not_equal(before, after);
    assert_int_equal(certificates_parse(after, strlen(after), &made, NULL), 0);
    assert_int_equal(made.items[0].dns_names.count, 1);
    assert_string_equal(made.items[0].dns_names.items[0], "win-7k2");
    assert_string_equal(made.items[0].ip_addresses.items[0], "10.0.0.21");
    assert_int_equal(key_check(after, NULL), 0);
    client = stored(KUBELET_CLIENT_CERTIFICATE_FILE);
    assert_non_null(strstr(client, r.scene.node_asked_as)); /* never as who serves */
    assert_int_equal(host_file_type(r.host, KUBELET_CERTIFICATE_FOLDER "\\kubelet-server.key.tmp"),
                     HOST_ABSENT);
    assert_int_equal(stops_of_kubelet(said), 1);
    assert_string_equal(result_text("serving.subject"), "CN=system:node:win-7k2,O=system:nodes");
}

static void a_serving_certificate_that_nobody_approves(void **state) {
    _cleanup_(freep) char *serving = NULL;
    struct error err;

    (void)state;
    words("10.0.0.10:6443");
    succeeds(verb_join);
    serving = serving_made();
    r.scene.holds_serving = true;
    program->options.join.timeout = 10000;
    renews_one_of_two(serving, &err);
    assert_int_equal(err.kind, ERROR_TIMED_OUT);
    assert_ptr_equal(strstr(err.message, "renew the serving certificate (the client certificate is "
                                         "new): certificate signing request \"csr-x7k2p\" is still "
                                         "pending: it has not been approved: waited 10 s"),
                     err.message);
    assert_string_equal(err.hints[0], "kubectl certificate approve csr-x7k2p");
}

/* A file that was cut off: whom it served is not known. */
static void a_serving_certificate_that_cannot_be_read(void **state) {
    struct error err;

    (void)state;
    words("10.0.0.10:6443");
    succeeds(verb_join);
    renews_one_of_two("-----BEGIN CERTIFICATE-----\nMIIB", &err);
    assert_int_equal(err.kind, ERROR_MALFORMED);
    assert_ptr_equal(strstr(err.message, "renew the serving certificate (the client certificate is "
                                         "new): read '" KUBELET_SERVING_CERTIFICATE_FILE "': "),
                     err.message);
    assert_non_null(strstr(err.hints[0], "Remove-Item"));
}

/* Without a file, with one that is cut off, and with one that the host does not give, whether the
 * certificates are shown or renewed. */
static void a_client_certificate_that_cannot_be_read(void **state) {
    static const char *const calls[] = {"", "renew"};
    struct error err;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
        words(calls[i]);
        assert_int_equal(verb(verb_certs, &err), -1);
        assert_int_equal(err.kind, ERROR_ABSENT);
        assert_string_equal(err.message, "read '" KUBELET_CLIENT_CERTIFICATE_FILE
                                         "': this machine has no node certificate");
        assert_string_equal(err.hints[0], "winjoin join makes one");
    }
    assert_int_equal(host_make_folder(r.host, KUBELET_CERTIFICATE_FOLDER, HOST_SECRET, NULL), 0);
    assert_int_equal(
        host_write(r.host, KUBELET_CLIENT_CERTIFICATE_FILE, "-----BEGIN", 10, HOST_SECRET, NULL),
        0);
    for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
        words(calls[i]);
        assert_int_equal(verb(verb_certs, &err), -1);
        assert_int_equal(err.kind, ERROR_MALFORMED);
        assert_ptr_equal(strstr(err.message, "read '" KUBELET_CLIENT_CERTIFICATE_FILE "': "),
                         err.message);
        assert_null(strstr(err.message, "no node certificate"));
    }
    assert_int_equal(host_remove(r.host, KUBELET_CLIENT_CERTIFICATE_FILE, NULL), 0);
    assert_int_equal(host_make_folder(r.host, KUBELET_CLIENT_CERTIFICATE_FILE, HOST_SECRET, NULL),
                     0);
    words("");
    assert_int_equal(verb(verb_certs, &err), -1);
    assert_null(strstr(err.message, "no node certificate")); /* it is a folder */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        JOIN_TEST(certificates_are_renewed),
        JOIN_TEST(both_certificates_are_renewed),
        JOIN_TEST(a_serving_certificate_that_nobody_approves),
        JOIN_TEST(a_serving_certificate_that_cannot_be_read),
        JOIN_TEST(a_client_certificate_that_cannot_be_read),
    };

    return cmocka_run_group_tests(tests, NULL, free_output);
}
