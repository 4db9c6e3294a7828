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
#include "tests/scene/certificate_vectors.h"

#define CLUSTER_INFO                                                                               \
    "apiVersion: v1\nclusters:\n- cluster:\n    certificate-authority-data: Q0EK\n"                \
    "    server: https://10.0.0.10:6443\n  name: \"\"\ncontexts: null\ncurrent-context: \"\"\n"    \
    "kind: Config\npreferences: {}\nusers: null\n"

static int parse(const char *text, struct kubeconfig *ret, struct error *err) {
    return kubeconfig_parse(text, strlen(text), "test", false, ret, err);
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

/* A half of a pair is none. */
static void what_a_person_can_prove_itself_with(void **state) {
    static char set[] = "x";
    const struct {
        struct kubeconfig config;
        bool has;
    } rows[] = {
        {{.username = NULL}, false},
        {{.token = set}, true},
        {{.token_file = set}, true},
        {{.program = set}, true},
        {{.username = set}, false},
        {{.password = set}, false},
        {{.username = set, .password = set}, true},
        {{.client_cert_file = set}, false},
        {{.client_cert_pem = set}, false},
        {{.client_key_file = set}, false},
        {{.client_key_pem = set}, false},
        {{.client_cert_file = set, .client_cert_pem = set}, false},
        {{.client_key_file = set, .client_key_pem = set}, false},
        {{.client_cert_file = set, .client_key_pem = set}, true},
        {{.client_cert_pem = set, .client_key_file = set}, true},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        if (kubeconfig_has_credentials(&rows[i].config) != rows[i].has)
            fail_msg("row %zu", i);
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
    assert_null(config.user_name); /* a missing link is not a user */
    kubeconfig_free(&config);
    assert_int_equal(parse(unnamed, &config, NULL), 0);
    assert_string_equal(config.server, "https://empty");
    kubeconfig_free(&config);
}

#define USER(fields)                                                                               \
    "contexts: [{name: c, context: {user: u}}]\ncurrent-context: c\nusers: [{name: u, "            \
    "user: " fields "}]\n"

static void refuses_what_it_cannot_read(void **state) {
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"", "not a kubeconfig"},
        {"[]", "not a kubeconfig"},
        {"a: b", "it has no cluster"},
        {"clusters: null", "it has no cluster"},
        {"clusters: [{name: a, cluster: {server: x}}]", "no cluster matches"},
        {"clusters: [{name: '', cluster: {server: [x]}}]",
         "line 1 column 41: a string was expected"},
        {"clusters: [{name: '', cluster: {certificate-authority-data: '*'}}]",
         "\"certificate-authority-data\": decode base64"},
        {"clusters: [{name: ''", "line 2 column 1"},
        {"a: 1\na: 2", "duplicate key"},
        {"kind: Deployment\nclusters: [{name: '', cluster: {server: x}}]", "kind must be Config"},
        {"apiVersion: v2\nclusters: [{name: '', cluster: {server: x}}]", "apiVersion must be v1"},
        {"clusters: {}", "it has no cluster"},
        {"clusters: [null]", "no cluster matches"},
        {"clusters: [{name: ''}]", "no cluster matches"},
        {"clusters: [{name: '', cluster: {server: x, proxy-url: {}}}]", "a string was expected"},
        {"clusters: [{name: '', cluster: {server: x, certificate-authority-data: []}}]",
         "base64 was expected"},
        {"clusters: [{name: '', cluster: {server: x}}]\n" USER("{token: []}"),
         "line 4 column 33: a string was expected"},
        {"clusters: [{name: '', cluster: {server: x}}]\n" USER("{client-key-data: '*'}"),
         "line 4: \"client-key-data\": decode base64"},
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
    assert_int_equal(kubeconfig_read_file(host, "C:\\d\\conf", NULL, &config, &err), 0);
    assert_string_equal(config.ca_pem, "CA");
    assert_string_equal(config.client_cert_pem, "CERT");
    assert_string_equal(config.client_key_pem, "KEY");
    kubeconfig_free(&config);
    assert_int_equal(host_remove(host, "C:\\d\\pki\\ca.crt", NULL), 0);
    assert_int_equal(kubeconfig_read_file(host, "C:\\d\\conf", NULL, &config, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    assert_non_null(strstr(err.message, "read the certificate authority file"));
    assert_int_equal(kubeconfig_read_file(host, "C:\\absent", NULL, &config, &err), -1);
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
    if (kubeconfig_read_file(host, "D:\\d\\conf", NULL, &config, &err) < 0)
        fail_msg("%s", err.message);
    assert_string_equal(config.ca_pem, "OF D");
    kubeconfig_free(&config);
    host_free(host);
}

/* A token file is a credential unless it is empty; no file may hold a NUL. */
static void reads_the_token_file(void **state) {
    static const char text[] =
        "clusters: [{name: '', cluster: {server: 'https://k'}}]\n" USER("{tokenFile: t}");
    struct host *host = host_memory_new();
    struct kubeconfig config = {0};
    struct error err = {0};

    (void)state;
    put(host, "C:\\d\\conf", text);
    assert_int_equal(kubeconfig_read_file(host, "C:\\d\\conf", NULL, &config, &err), -1);
    assert_int_equal(err.kind, ERROR_ABSENT);
    assert_non_null(strstr(err.message, "read the token file defined in kubeconfig"));
    put(host, "C:\\d\\t", "x");
    assert_int_equal(kubeconfig_read_file(host, "C:\\d\\conf", NULL, &config, &err), 0);
    assert_string_equal(config.token, "x");
    assert_true(kubeconfig_has_credentials(&config));
    kubeconfig_free(&config);
    put(host, "C:\\d\\t", "");
    assert_int_equal(kubeconfig_read_file(host, "C:\\d\\conf", NULL, &config, &err), 0);
    assert_null(config.token);
    assert_false(kubeconfig_has_credentials(&config));
    kubeconfig_free(&config);
    assert_int_equal(host_write(host, "C:\\d\\t", "a\0b", 3, HOST_PUBLIC, NULL), 0);
    assert_int_equal(kubeconfig_read_file(host, "C:\\d\\conf", NULL, &config, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    assert_non_null(strstr(err.message, "'C:\\d\\t' contains a NUL byte"));
    host_free(host);
}

#define CLUSTER "clusters: [{name: k, cluster: {server: 'https://k'}}]\n"
#define CONTEXT(fields) "contexts: [{name: c, context: {" fields "}}]\ncurrent-context: c\n"
#define KU CONTEXT("cluster: k, user: u")

static void tells_mistakes_in_what_is_used(void **state) {
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"current-context: gone\n" CLUSTER, "context was not found for specified context \"gone\""},
        {CLUSTER CONTEXT("user: u"), "cluster was not specified for context \"c\""},
        {CLUSTER CONTEXT("cluster: x, user: u"), "cluster \"x\" was not found for context \"c\""},
        {CLUSTER CONTEXT("cluster: k"), "user was not specified for context \"c\""},
        {CLUSTER KU, "user \"u\" was not found for context \"c\""},
        {"clusters: [{name: '', cluster: {server: s}}, {name: k, cluster: {server: s}}]\n" KU,
         "both a cluster without a name and \"k\""},
        {"clusters: [{name: k, cluster: {}}]\n" KU, "no server found for cluster \"k\""},
        {"clusters: [{name: k, cluster: {server: s, certificate-authority: f, "
         "certificate-authority-data: Q0EK}}]\n" KU,
         "certificate-authority and its data are both specified for \"k\""},
        {"clusters: [{name: k, cluster: {server: s, proxy-url: 'ftp://p'}}]\n" KU,
         "proxy-url of cluster \"k\": "},
        {CLUSTER KU "users: [{name: u, user: {client-certificate: x, client-certificate-data: "
                    "Q0EK, client-key: f}}]\n",
         "client-certificate and its data are both specified for \"u\""},
        {CLUSTER KU "users: [{name: u, user: {client-certificate: x, client-key-data: Q0EK, "
                    "client-key: f}}]\n",
         "client-key and its data are both specified for \"u\""},
        {CLUSTER KU "users: [{name: u, user: {client-certificate: x}}]\n",
         "client-key or its data must be specified for \"u\""},
        {CLUSTER KU "users: [{name: u, user: {token: x, username: me}}]\n",
         "more than one authentication method found for \"u\""},
        {CLUSTER KU "users: [{name: u, user: {tokenFile: x, password: z}}]\n",
         "more than one authentication method found for \"u\""},
    };
    struct host *host = host_memory_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct kubeconfig config = {0};
        struct error err = {0};

        put(host, "C:\\conf", rows[i].text);
        assert_int_equal(kubeconfig_read_file(host, "C:\\conf", NULL, &config, &err), -1);
        assert_int_equal(err.kind, ERROR_USAGE);
        if (!strstr(err.message, rows[i].why))
            fail_msg("'%s', not '%s'", err.message, rows[i].why);
        assert_non_null(strstr(err.message, "read 'C:\\conf': invalid configuration: "));
        error_clear(&err);
        assert_int_equal(
            kubeconfig_parse(rows[i].text, strlen(rows[i].text), "it", true, &config, &err), -1);
        assert_ptr_equal(strstr(err.message, "read 'it': invalid configuration: "), err.message);
    }
    host_free(host);
}

/* What the current context does not lead to is nobody's affair. */
static void the_rest_may_be_anything(void **state) {
    static const char text[] =
        "extensions: 5\npreferences: []\ncurrent-context: c\n"
        "clusters: [5, {name: other, cluster: {server: [x]}}, {name: k, cluster: {server: s, "
        "extensions: x}}]\n"
        "contexts: [null, {name: z, context: {cluster: none}}, {name: c, context: {cluster: k, "
        "user: u, namespace: A.b}}]\n"
        "users: [x, {name: v, user: {client-key-data: '*', client-certificate: none}}, "
        "{name: u, user: {token: '5'}}]\n";
    struct kubeconfig config = {0};
    struct error err = {0};

    (void)state;
    if (kubeconfig_parse(text, strlen(text), "test", true, &config, &err) < 0)
        fail_msg("%s", err.message);
    assert_string_equal(config.server, "https://s");
    assert_string_equal(config.token, "5");
    kubeconfig_free(&config);
}

static void what_came_from_elsewhere_names_no_files(void **state) {
    static const char *const texts[] = {
        "clusters: [{name: k, cluster: {server: s, certificate-authority: f}}]\n" KU
        "users: [{name: u, user: {}}]\n",
        CLUSTER KU "users: [{name: u, user: {client-certificate: f, client-key-data: Q0EK}}]\n",
        CLUSTER KU "users: [{name: u, user: {client-certificate-data: Q0EK, client-key: f}}]\n",
        CLUSTER KU "users: [{name: u, user: {tokenFile: f}}]\n",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        struct kubeconfig config = {0};
        struct error err = {0};

        assert_int_equal(kubeconfig_parse(texts[i], strlen(texts[i]), "test", true, &config, &err),
                         -1);
        assert_int_equal(err.kind, ERROR_USAGE);
        assert_non_null(
            strstr(err.message, "read 'test': it refers to the file 'f' on this machine"));
    }
}

static void notes_what_it_cannot_do(void **state) {
    static const struct {
        const char *user, *program, *impersonation;
    } rows[] = {
        {"{exec: {}}", "exec", NULL},
        {"{auth-provider: {name: gcp}}", "auth-provider", NULL},
        {"{exec: {command: x}, auth-provider: {}}", "exec", NULL},
        {"{as: me, as-uid: x}", NULL, "as"},
        {"{as-uid: x}", NULL, "as-uid"},
        {"{as-groups: [x]}", NULL, "as-groups"},
        {"{as-user-extra: {a: [b]}}", NULL, "as-user-extra"},
        {"{exec: null, as: null}", NULL, NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *text =
            xasprintf(CLUSTER KU "users: [{name: u, user: %s}]\n", rows[i].user);
        struct kubeconfig config = {0};

        assert_int_equal(parse(text, &config, NULL), 0);
        assert_true(text_equal(config.program, rows[i].program));
        assert_true(text_equal(config.impersonation, rows[i].impersonation));
        assert_int_equal(kubeconfig_has_credentials(&config), rows[i].program != NULL);
        kubeconfig_free(&config);
    }
}

/* Only what is a certificate is trusted and written to the node. */
static void settles_the_ca(void **state) {
    static const char noise[] = "\xef\xbb\xbf-----BEGIN CERTIFICATE-----\na: b\n\nAAAA\n-----END "
                                "CERTIFICATE-----\n" CLIENT_KEY_PEM CA_PEM "the end\0.";
    struct kubeconfig config = {.ca_pem = xmalloc(sizeof noise), .ca_pem_len = sizeof noise};
    struct error err = {0};

    (void)state;
    memcpy(config.ca_pem, noise, sizeof noise);
    assert_int_equal(kubeconfig_settle_ca(&config, NULL), 0);
    assert_string_equal(config.ca_pem, CA_PEM);
    assert_int_equal(config.ca_pem_len, strlen(CA_PEM));
    config.ca_pem[40] = '*';
    assert_int_equal(kubeconfig_settle_ca(&config, &err), -1);
    assert_int_equal(err.kind, ERROR_MALFORMED);
    kubeconfig_free(&config);
}

static void writes_the_files_of_a_node(void **state) {
    _cleanup_(secret_freep) char *bootstrap = kubeconfig_make_bootstrap(
        "kubernetes", "https://10.0.0.10:6443", "CA\n", "abcdef.0123456789abcdef");
    _cleanup_(freep) char *kubelet = kubeconfig_make_kubelet(
        "https://10.0.0.10:6443", "CA\n", "C:\\var\\lib\\kubelet\\pki\\kubelet-client-current.pem");
    _cleanup_(freep) char *proxy = kubeconfig_make_client("https://10.0.0.10:6443", "CA\n",
                                                          "kube-proxy", "C:\\pki\\current.pem");

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
    assert_non_null(
        strstr(proxy, "    user: kube-proxy\n  name: default\ncurrent-context: default\n"));
    assert_non_null(strstr(proxy, "- name: kube-proxy\n  user:\n"
                                  "    client-certificate: C:\\pki\\current.pem\n"
                                  "    client-key: C:\\pki\\current.pem\n"));
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
    free(take_ptr(text));
    config.user_name = config.username = config.password = (char *)"u";
    text = kubeconfig_make(&config);
    assert_int_equal(parse(text, &again, NULL), 0);
    assert_string_equal(again.client_cert_pem, "CERT");
    assert_string_equal(again.client_key_pem, "KEY");
    assert_string_equal(again.username, "u");
    assert_string_equal(again.password, "u");
    kubeconfig_free(&again);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_cluster_info),
        cmocka_unit_test(what_a_person_can_prove_itself_with),
        cmocka_unit_test(follows_the_current_context),
        cmocka_unit_test(refuses_what_it_cannot_read),
        cmocka_unit_test(embeds_the_files_beside_it),
        cmocka_unit_test(a_root_is_that_of_its_drive),
        cmocka_unit_test(reads_the_token_file),
        cmocka_unit_test(tells_mistakes_in_what_is_used),
        cmocka_unit_test(the_rest_may_be_anything),
        cmocka_unit_test(what_came_from_elsewhere_names_no_files),
        cmocka_unit_test(notes_what_it_cannot_do),
        cmocka_unit_test(settles_the_ca),
        cmocka_unit_test(writes_the_files_of_a_node),
        cmocka_unit_test(a_token_of_digits_stays_a_text),
        cmocka_unit_test(writes_what_it_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
