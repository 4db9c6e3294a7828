/* kubeconfig files: choice of cluster and user, validation, and the two files a node gets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "kube/kubeconfig.h"
#include "tests/memory/host_memory.h"

#define CLUSTER_INFO                                                                               \
    "apiVersion: v1\nclusters:\n- cluster:\n    certificate-authority-data: Q0EK\n"                \
    "    server: https://10.0.0.10:6443\n  name: \"\"\ncontexts: null\ncurrent-context: \"\"\n"    \
    "kind: Config\npreferences: {}\nusers: null\n"

static int parse(const char *text, struct kubeconfig *ret, struct error *err) {
    return kubeconfig_parse(text, strlen(text), "test", ret, err);
}

static void reads_cluster_info(void **state) {
    struct kubeconfig config = {0};

    (void)state;
    assert_int_equal(parse(CLUSTER_INFO, &config, NULL), 0);
    assert_string_equal(config.cluster_name, "");
    assert_string_equal(config.server, "https://10.0.0.10:6443");
    assert_string_equal(config.ca_pem, "CA\n");
    assert_int_equal(config.ca_pem_len, 3);
    assert_null(config.user_name);
    assert_false(kubeconfig_has_credentials(&config));
    kubeconfig_free(&config);
}

static const char two[] =
    "clusters:\n- {name: a, cluster: {server: 'https://a'}}\n- {name: b, cluster: {server: "
    "'https://b', tls-server-name: x, proxy-url: 'http://p', insecure-skip-tls-verify: true}}\n"
    "contexts:\n- {name: c1, context: {cluster: b, user: u}}\n- {name: c2, context: {cluster: a, "
    "user: none}}\nusers:\n- {name: u, user: {token: t}}\n";

static void follows_the_current_context(void **state) {
    struct kubeconfig config = {0};
    _cleanup_(freep) char *first = xasprintf("%scurrent-context: c1\n", two);
    _cleanup_(freep) char *second = xasprintf("%scurrent-context: c2\n", two);
    _cleanup_(freep) char *unnamed = xasprintf(
        "current-context: c1\n%s", "clusters: [{name: '', cluster: {server: 'https://empty'}}, "
                                   "{name: b, cluster: {server: 'https://b'}}]\ncontexts: [{name: "
                                   "c1, context: {cluster: b}}]\n");

    (void)state;
    assert_int_equal(parse(first, &config, NULL), 0);
    assert_string_equal(config.server, "https://b");
    assert_string_equal(config.tls_server_name, "x");
    assert_string_equal(config.proxy_url, "http://p");
    assert_true(config.insecure_skip_tls_verify);
    assert_string_equal(config.token, "t");
    assert_true(kubeconfig_has_credentials(&config));
    kubeconfig_free(&config);
    assert_int_equal(parse(second, &config, NULL), 0);
    assert_string_equal(config.server, "https://a");
    assert_null(config.user_name); /* a missing link is no user */
    kubeconfig_free(&config);
    assert_int_equal(parse(unnamed, &config, NULL), 0);
    assert_string_equal(config.server, "https://empty");
    kubeconfig_free(&config);
}

static void refuses_what_it_cannot_read(void **state) {
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"", "no kubeconfig"},
        {"[]", "no kubeconfig"},
        {"a: b", "there is no cluster"},
        {"clusters: null", "there is no cluster"},
        {"clusters: [{name: a, cluster: {server: x}}]", "none of the clusters"},
        {"clusters: [{name: '', cluster: {server: [x]}}]", "line 1 column 41: a text was expected"},
        {"clusters: [{name: '', cluster: {certificate-authority-data: '*'}}]",
         "\"certificate-authority-data\": decode base64"},
        {"clusters: [{name: ''", "line 2 column 1"},
        {"a: 1\na: 2", "twice"},
        {"kind: Deployment\nclusters: [{name: '', cluster: {server: x}}]", "is Config"},
        {"apiVersion: v2\nclusters: [{name: '', cluster: {server: x}}]", "is v1"},
        {"clusters: {}", "a list was expected"},
        {"clusters: [null]", "an entry with a name"},
        {"clusters: [{name: ''}]", "needs a map"},
        {"clusters: [{name: '', cluster: {server: 12}}]", "line 1 column 41: a text was expected"},
        {"clusters: [{name: '', cluster: {server: yes}}]", "put the value into quotes"},
        {"clusters: [{name: 7, cluster: {server: x}}]", "a text was expected"},
        {"clusters: [{name: '', cluster: {insecure-skip-tls-verify: 'true'}}]", "true or false"},
        {"clusters: [{name: '', cluster: {server: x}}, {name: '', cluster: {server: y}}]",
         "stands here already"},
        {"clusters: [{name: '', cluster: {server: x}}]\nusers: [{name: u, user: {token: 1}}]",
         "line 2 column 33: a text was expected"},
        {"clusters: [{name: '', cluster: {server: x}}]\nusers: [{name: u, user: {as-groups: a}}]",
         "a list was expected"},
        {"clusters: [{name: '', cluster: {server: x}}]\nusers: [{name: u, user: {exec: a}}]",
         "a map was expected"},
        {"clusters: [{name: '', cluster: {server: x}}]\nusers: [{name: u, user: "
         "{client-key-data: '*'}}]",
         "\"client-key-data\": decode base64"},
        {"clusters: [{name: '', cluster: {server: x}}]\ncontexts: [{name: a, context: 3}]",
         "a map was expected"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct kubeconfig config = {.insecure_skip_tls_verify = true};
        struct error err = {0};

        assert_int_equal(parse(rows[i].text, &config, &err), -1);
        assert_int_equal(err.kind, ERROR_MALFORMED);
        assert_non_null(strstr(err.message, rows[i].why));
        assert_true(config.insecure_skip_tls_verify); /* untouched */
    }
}

static void put(struct host *host, const char *path, const char *text) {
    assert_int_equal(host_write(host, path, text, strlen(text), HOST_PUBLIC, NULL), 0);
}

static void embeds_the_files_beside_it(void **state) {
    struct host *host = host_memory_new();
    struct kubeconfig config = {0};
    struct error err = {0};

    (void)state;
    put(host, "C:\\d\\pki\\ca.crt", "CA");
    put(host, "C:\\d\\c.crt", "CERT");
    put(host, "C:\\other\\c.key", "KEY");
    put(host, "C:\\d\\conf",
        "clusters: [{name: k, cluster: {server: 'https://k', certificate-authority: 'pki/ca.crt'}}]"
        "\ncontexts: [{name: c, context: {cluster: k, user: u}}]\ncurrent-context: c\n"
        "users: [{name: u, user: {client-certificate: c.crt, client-key: 'C:\\other\\c.key'}}]\n");
    assert_int_equal(kubeconfig_read_file(host, "C:\\d\\conf", &config, &err), 0);
    assert_string_equal(config.ca_pem, "CA");
    assert_string_equal(config.client_cert_pem, "CERT");
    assert_string_equal(config.client_key_pem, "KEY");
    kubeconfig_free(&config);
    assert_int_equal(host_remove(host, "C:\\d\\pki\\ca.crt", NULL), 0);
    assert_int_equal(kubeconfig_read_file(host, "C:\\d\\conf", &config, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    assert_non_null(strstr(err.message, "unable to read 'C:\\d\\pki"));
    assert_int_equal(kubeconfig_read_file(host, "C:\\absent", &config, &err), -1);
    assert_int_equal(err.kind, ERROR_ABSENT);
    host_free(host);
}

/* On Windows "/x" means a drive, too: the file's own, whatever folder winjoin was started in. */
static void a_root_is_that_of_its_drive(void **state) {
    struct host *host = host_memory_new();
    struct kubeconfig config = {0};
    struct error err = {0};

    (void)state;
    put(host, "D:\\pki\\ca.crt", "OF D");
    put(host, "D:\\d\\conf",
        "clusters: [{name: k, cluster: {server: 'https://k', certificate-authority: /pki/ca.crt}}]"
        "\ncontexts: [{name: c, context: {cluster: k, user: u}}]\ncurrent-context: c\n"
        "users: [{name: u, user: {token: t}}]\n");
    if (kubeconfig_read_file(host, "D:\\d\\conf", &config, &err) < 0)
        fail_msg("%s", err.message);
    assert_string_equal(config.ca_pem, "OF D");
    kubeconfig_free(&config);
    host_free(host);
}

static void validates_as_clientcmd(void **state) {
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"clusters: [{name: '', cluster: {server: 's'}}]\ncurrent-context: gone\n",
         "context was not found for specified context \"gone\""},
        {"clusters: [{name: '', cluster: {}}]\n", "no server found for cluster"},
        {"clusters: [{name: '', cluster: {server: s, certificate-authority: f, "
         "certificate-authority-data: Q0EK}}]\n",
         "both specified"},
        {"clusters: [{name: '', cluster: {server: s}}]\ncontexts: [{name: c, context: {user: u}}]\n"
         "current-context: c\n",
         "user \"u\" was not found for context \"c\""},
        {"clusters: [{name: '', cluster: {server: s}}]\ncontexts: [{name: c, context: {user: u}}]\n"
         "current-context: c\nusers: [{name: u, user: {client-certificate: x}}]\n",
         "client-key or its data must be specified"},
        {"clusters: [{name: '', cluster: {server: s}}]\ncontexts: [{name: c, context: {user: u}}]\n"
         "current-context: c\nusers: [{name: u, user: {token: x, username: me, password: z}}]\n",
         "more than one authentication method"},
        {"clusters: [{name: '', cluster: {server: s}}]\ncontexts: [{name: c, context: {user: u}}]\n"
         "current-context: c\nusers: [{name: u, user: {exec: {command: x}}}]\n",
         "apiVersion must be specified"},
        {"clusters: [{name: '', cluster: {server: s}}]\ncontexts: [{name: c, context: {user: u}}]\n"
         "current-context: c\nusers: [{name: u, user: {as-groups: [x]}}]\n",
         "without impersonating a user"},
        {"clusters: [{name: '', cluster: {server: s}}, {name: other, cluster: {}}]\n",
         "no server found for cluster \"other\""},
        {"clusters: [{name: '', cluster: {server: s}}]\ncontexts: [{name: c, context: {user: "
         "u}}]\n",
         "cluster was not specified for context \"c\""},
        {"clusters: [{name: '', cluster: {server: s}}]\n"
         "contexts: [{name: c, context: {cluster: x, user: u}}]\n",
         "cluster \"x\" was not found for context \"c\""},
        {"clusters: [{name: '', cluster: {server: s, certificate-authority: none}}]\n",
         "unable to read 'C:\\none'"},
    };
    struct host *host = host_memory_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct kubeconfig config = {0};
        struct error err = {0};

        put(host, "C:\\conf", rows[i].text);
        assert_int_equal(kubeconfig_read_file(host, "C:\\conf", &config, &err), -1);
        assert_int_equal(err.kind, ERROR_USAGE);
        assert_non_null(strstr(err.message, "invalid configuration: "));
        assert_non_null(strstr(err.message, rows[i].why));
    }
    host_free(host);
}

static void writes_the_files_of_a_node(void **state) {
    _cleanup_(secret_freep) char *bootstrap = kubeconfig_make_bootstrap(
        "kubernetes", "https://10.0.0.10:6443", "CA\n", "abcdef.0123456789abcdef");
    _cleanup_(freep) char *kubelet = kubeconfig_make_kubelet(
        "https://10.0.0.10:6443", "CA\n", "C:\\var\\lib\\kubelet\\pki\\kubelet-client-current.pem");

    (void)state;
    assert_string_equal(bootstrap, "apiVersion: v1\n"
                                   "clusters:\n"
                                   "- cluster:\n"
                                   "    certificate-authority-data: Q0EK\n"
                                   "    server: https://10.0.0.10:6443\n"
                                   "  name: kubernetes\n"
                                   "contexts:\n"
                                   "- context:\n"
                                   "    cluster: kubernetes\n"
                                   "    user: tls-bootstrap-token-user\n"
                                   "  name: tls-bootstrap-token-user@kubernetes\n"
                                   "current-context: tls-bootstrap-token-user@kubernetes\n"
                                   "kind: Config\n"
                                   "users:\n"
                                   "- name: tls-bootstrap-token-user\n"
                                   "  user:\n"
                                   "    token: abcdef.0123456789abcdef\n");
    assert_string_equal(
        kubelet, "apiVersion: v1\n"
                 "clusters:\n"
                 "- cluster:\n"
                 "    certificate-authority-data: Q0EK\n"
                 "    server: https://10.0.0.10:6443\n"
                 "  name: default-cluster\n"
                 "contexts:\n"
                 "- context:\n"
                 "    cluster: default-cluster\n"
                 "    namespace: default\n"
                 "    user: default-auth\n"
                 "  name: default-context\n"
                 "current-context: default-context\n"
                 "kind: Config\n"
                 "users:\n"
                 "- name: default-auth\n"
                 "  user:\n"
                 "    client-certificate: C:\\var\\lib\\kubelet\\pki\\kubelet-client-current.pem\n"
                 "    client-key: C:\\var\\lib\\kubelet\\pki\\kubelet-client-current.pem\n");
}

static void a_token_of_digits_stays_a_text(void **state) {
    _cleanup_(secret_freep) char *text =
        kubeconfig_make_bootstrap("1", "https://k", "CA\n", "123456.1234567890123456");
    struct kubeconfig config = {0};

    (void)state;
    assert_non_null(strstr(text, "token: \"123456.1234567890123456\""));
    assert_int_equal(parse(text, &config, NULL), 0);
    assert_string_equal(config.token, "123456.1234567890123456");
    assert_string_equal(config.cluster_name, "1");
    kubeconfig_free(&config);
}

static void writes_what_it_read(void **state) {
    struct kubeconfig config = {0}, again = {0};
    _cleanup_(freep) char *source = xasprintf("%scurrent-context: c1\n", two);
    _cleanup_(secret_freep) char *text = NULL;

    (void)state;
    assert_int_equal(parse(source, &config, NULL), 0);
    text = kubeconfig_make(&config);
    assert_int_equal(parse(text, &again, NULL), 0);
    assert_string_equal(again.server, "https://b");
    assert_string_equal(again.token, "t");
    assert_string_equal(again.tls_server_name, "x");
    assert_true(again.insecure_skip_tls_verify);
    assert_null(again.ca_pem);
    kubeconfig_free(&config);
    kubeconfig_free(&again);
    free(text);
    config = (struct kubeconfig){.cluster_name = (char *)"k",
                                 .server = (char *)"https://k",
                                 .ca_pem = (char *)"CA",
                                 .client_cert_pem = (char *)"CERT",
                                 .client_key_pem = (char *)"KEY"};
    text = kubeconfig_make(&config);
    assert_null(strstr(text, "insecure"));
    assert_null(strstr(text, "token"));
    assert_int_equal(parse(text, &again, NULL), 0);
    assert_string_equal(again.ca_pem, "CA");
    assert_false(again.insecure_skip_tls_verify);
    assert_null(again.client_cert_pem); /* no user name, no user */
    kubeconfig_free(&again);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_cluster_info),
        cmocka_unit_test(follows_the_current_context),
        cmocka_unit_test(refuses_what_it_cannot_read),
        cmocka_unit_test(embeds_the_files_beside_it),
        cmocka_unit_test(a_root_is_that_of_its_drive),
        cmocka_unit_test(validates_as_clientcmd),
        cmocka_unit_test(writes_the_files_of_a_node),
        cmocka_unit_test(a_token_of_digits_stays_a_text),
        cmocka_unit_test(writes_what_it_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
