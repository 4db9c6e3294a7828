/* File discovery against a server in memory. */
#include "tests/scene/discovery_scene.h"

#define FILE_HEAD                                                                                  \
    "clusters: [{name: k, cluster: {server: 'https://10.0.0.10:6443', certificate-authority: "     \
    "ca.crt}}]\ncontexts: [{name: c, context: {cluster: k, user: u}}]\ncurrent-context: c\n"
#define FILE_TOKEN FILE_HEAD "users: [{name: u, user: {token: file-token}}]\n"

static void put(struct scene *s, const char *path, const char *text) {
    assert_int_equal(host_write(s->host, path, text, strlen(text), HOST_PUBLIC, NULL), 0);
}

static void use_file(struct scene *s, const char *text) {
    put(s, "C:\\d\\ca.crt", CA_PEM);
    put(s, "C:\\d\\d.conf", text);
    s->options = (struct discovery_options){.file = "C:\\d\\d.conf"};
    discovery_result_free(&s->result);
    s->requests = s->verified = 0;
}

/* What the kubelet is given, as a whole. */
static void assert_kubeconfig(struct scene *s, const char *cluster, const char *user,
                              const char *token) {
    _cleanup_(freep) char *ca = base64_encode(CA_PEM, strlen(CA_PEM));
    _cleanup_(freep) char *text =
        xasprintf("apiVersion: v1\nclusters:\n- cluster:\n    certificate-authority-data: %s\n    "
                  "server: https://10.0.0.10:6443\n"
                  "  name: %s\ncontexts:\n- context:\n    cluster: %s\n    user: %s\n  name: "
                  "default\ncurrent-context: default\n"
                  "kind: Config\nusers:\n- name: %s\n  user:\n    token: %s\n",
                  ca, cluster, cluster, user, user, token);

    assert_string_equal(s->result.kubeconfig, text);
}

static void a_file_with_a_token_is_used_as_it_is(void **state) {
    struct scene *s = *state;

    use_file(s, FILE_TOKEN);
    assert_int_equal(run(s), 0);
    assert_int_equal(s->requests, 1);
    assert_int_equal(s->verified, 1);
    assert_string_equal(s->bearer, "file-token");
    assert_string_equal(s->result.config.token, "file-token");
    assert_string_equal(s->result.config.ca_pem, CA_PEM);
    assert_int_equal(s->result.warnings.count, 0);
    assert_kubeconfig(s, "k", "u", "file-token");
    assert_int_equal(s->result.kubeconfig_len, strlen(s->result.kubeconfig));
    s->options.file = "file://C:\\d\\d.conf";
    discovery_result_free(&s->result);
    assert_int_equal(run(s), 0);
    use_file(s, FILE_HEAD "users: [{name: u, user: {token: two words}}]\n");
    assert_int_equal(run(s), 0);
    assert_string_equal(s->bearer, "two words");
}

static void a_file_takes_the_bootstrap_token(void **state) {
    struct scene *s = *state;

    use_file(s, FILE_HEAD "users: [{name: u, user: {}}]\n");
    assert_fails(s, ERROR_USAGE, "could not find authentication credentials");
    assert_hint(s, "--tls-bootstrap-token");
    use_file(s, FILE_TOKEN);
    s->options.tls_bootstrap_token = TOKEN;
    assert_int_equal(run(s), 0);
    assert_string_equal(s->bearer, "file-token");
    assert_string_equal(s->result.config.token, TOKEN);
    assert_kubeconfig(s, "kubernetes", "tls-bootstrap-token-user", TOKEN);
}

static void a_refused_look_is_only_a_warning(void **state) {
    struct scene *s = *state;

    use_file(s, FILE_TOKEN);
    s->status = 403;
    s->body = "{\"message\":\"no\"}";
    assert_int_equal(run(s), 0);
    assert_int_equal(s->requests, 1);
    assert_int_equal(s->result.warnings.count, 1);
    use_file(s, FILE_TOKEN);
    s->status = 200;
    s->body = "{\"data\":{}}";
    assert_int_equal(run(s), 0);
    assert_int_equal(s->requests, 1);
    assert_int_equal(s->result.warnings.count, 1);
    use_file(s, FILE_TOKEN);
    s->body = "{\"data\":{\"kubeconfig\":\"[\"}}";
    assert_int_equal(run(s), 0);
    assert_non_null(strstr(s->result.warnings.items[0], "no readable kubeconfig"));
    use_file(s, FILE_TOKEN);
    s->status = 404;
    assert_fails(s, ERROR_ABSENT, "404");
    use_file(s, FILE_TOKEN);
    s->status = 401;
    assert_fails(s, ERROR_DENIED, "401");
    assert_hint(s, "the credentials in the discovery file are invalid or have expired");
}

static void another_server_is_a_warning(void **state) {
    struct scene *s = *state;

    use_file(s, FILE_TOKEN);
    s->server = "https://10.0.0.11:6443";
    assert_int_equal(run(s), 0);
    assert_string_equal(s->result.config.server, "https://10.0.0.10:6443");
    assert_non_null(strstr(s->result.warnings.items[0], "https://10.0.0.11:6443"));
}

static void a_file_is_verified_too(void **state) {
    struct scene *s = *state;

    use_file(s, FILE_TOKEN);
    s->broken_verified = ERROR_UNTRUSTED;
    s->server_certs = OTHER_PEM;
    assert_fails(s, ERROR_UNTRUSTED, "not signed by the cluster's CA");
    use_file(s, "clusters: [{name: '', cluster: {server: 'http://x'}}]");
    assert_fails(s, ERROR_USAGE, "https URL");
    use_file(s, "clusters: []");
    assert_fails(s, ERROR_USAGE, "it has no cluster");
    s->options.file = "C:\\absent";
    assert_fails(s, ERROR_USAGE, "absent");
    assert_int_equal(s->requests, 0);
}

static void an_address_without_a_host(void **state) {
    static const char *const addresses[] = {"https:///d.conf", "https://?x", "https://#x",
                                            "https://"};
    struct scene *s = *state;

    for (size_t i = 0; i < ARRAY_SIZE(addresses); i++) {
        s->options = (struct discovery_options){.file = addresses[i]};
        assert_fails(s, ERROR_USAGE, "no host");
    }
    assert_int_equal(s->requests, 0);
}

static void a_file_comes_over_https(void **state) {
    struct scene *s = *state;
    _cleanup_(freep) char *ca = base64_encode(CA_PEM, strlen(CA_PEM));
    _cleanup_(freep) char *text =
        xasprintf("clusters: [{name: k, cluster: {server: 'https://10.0.0.10:6443', "
                  "certificate-authority-data: %s}}]\ncontexts: [{name: c, context: {cluster: k, "
                  "user: u}}]\ncurrent-context: c\nusers: [{name: u, user: {token: over}}]\n",
                  ca);

    s->options = (struct discovery_options){.file = "https://files/d.conf"};
    s->body = text;
    assert_int_equal(run(s), 0);
    assert_string_equal(s->result.config.token, "over");
    discovery_result_free(&s->result);
    s->status = 404;
    s->body = "";
    assert_fails(s, ERROR_ABSENT, "received status 404");
}

static void a_server_may_be_an_ipv6_address(void **state) {
    struct scene *s = *state;

    use_file(s,
             "clusters: [{name: k, cluster: {server: 'https://[fd00::1]:6443', "
             "certificate-authority: ca.crt}}]\ncontexts: [{name: c, context: {cluster: k, user: "
             "u}}]\ncurrent-context: c\nusers: [{name: u, user: {token: t}}]\n");
    s->url = "https://[fd00::1]:6443/api/v1/namespaces/kube-public/configmaps/"
             "cluster-info?timeout=10s";
    s->server = "https://[fd00::1]:6443";
    assert_int_equal(run(s), 0); /* the certificate's fd00::1 is this host */
    assert_int_equal(s->result.warnings.count, 0);
}

/* "[fd00::1]" and "fd00::1." are the certificate's fd00::1; the name goes before the address. */
static void a_server_name_is_compared_bare(void **state) {
    static const struct {
        const char *name;
        bool is_its;
    } rows[] = {{"[fd00::1]", true}, {"fd00::1.", true}, {"fd00::1", true}, {"[fd00::2]", false}};
    struct scene *s = *state;

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *text =
            xasprintf("clusters: [{name: k, cluster: {server: 'https://10.0.0.10:6443', "
                      "tls-server-name: '%s', certificate-authority: ca.crt}}]\ncontexts: [{name: "
                      "c, context: {cluster: k, user: u}}]\ncurrent-context: c\nusers: [{name: u, "
                      "user: {token: t}}]\n",
                      rows[i].name);

        use_file(s, text);
        if ((run(s) == 0) != rows[i].is_its)
            fail_msg("%s: %s", rows[i].name, s->err.message);
    }
}

/* The server is gone, and not an empty file. */
static void a_file_that_cannot_be_fetched(void **state) {
    struct scene *s = *state;

    s->options = (struct discovery_options){.file = "https://files/d.conf"};
    s->broken = s->broken_verified = ERROR_NETWORK;
    assert_fails(s, ERROR_NETWORK,
                 "fetch the discovery kubeconfig from \"https://files/d.conf\": connect: it broke");
}

static void what_cannot_be_sent_is_refused_first(void **state) {
    static const struct {
        const char *user, *why;
    } rows[] = {
        {"{exec: {command: c, apiVersion: client.authentication.k8s.io/v1, interactiveMode: "
         "Never}}",
         "credentials by exec are not supported"},
        {"{auth-provider: {name: gcp}}", "credentials by auth-provider are not supported"},
        {"{username: me, password: it}", "credentials by user name and password"},
        {"{username: me}", "credentials by user name and password"},
        {"{tokenFile: line.txt}", "line.txt': its token contains a line break"},
        {"{tokenFile: del.txt}", "del.txt': its token contains"},
        {"{tokenFile: none.txt}", "none.txt"},
        {"{client-certificate: ca.crt, client-key: client.key}", "does not match this node's key"},
        {"{client-certificate: ca.crt, client-key: ca.crt}", "private key"},
        {"{client-certificate: client.key, client-key: client.key}", "valid RSA or ECDSA"},
    };
    struct scene *s = *state;

    put(s, "C:\\d\\line.txt", "token\n");
    put(s, "C:\\d\\del.txt",
        "tok\x7f"
        "en");
    put(s, "C:\\d\\client.key", CLIENT_KEY_PEM);
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *text =
            xasprintf("%susers: [{name: u, user: %s}]\n", FILE_HEAD, rows[i].user);

        use_file(s, text);
        assert_int_equal(run(s), -1);
        if (!strstr(s->err.message, rows[i].why))
            print_error("%s\n", s->err.message);
        assert_non_null(strstr(s->err.message, rows[i].why));
        assert_int_equal(s->requests, 0);
    }
}

static void a_file_must_let_the_server_be_proved(void **state) {
    struct scene *s = *state;

    use_file(s, "clusters: [{name: '', cluster: {server: 'https://10.0.0.10:6443', "
                "insecure-skip-tls-verify: true}}]\n");
    s->options.tls_bootstrap_token = TOKEN;
    assert_fails(s, ERROR_USAGE, "nothing would prove the server's identity");
    put(s, "C:\\d\\ca.crt", "no certificate");
    assert_int_equal(
        host_write(s->host, "C:\\d\\d.conf", FILE_TOKEN, strlen(FILE_TOKEN), HOST_PUBLIC, NULL), 0);
    assert_fails(s, ERROR_USAGE, "does not contain any valid RSA or ECDSA certificates");
    use_file(s,
             "clusters: [{name: '', cluster: {server: 'https://a'}}, {name: k, cluster: {server: "
             "'https://b'}}]\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"
             "current-context: c\nusers: [{name: u, user: {token: t}}]\n");
    assert_fails(s, ERROR_USAGE, "both a cluster without a name and \"k\"");
    assert_int_equal(s->requests, 0);
}

static void a_fetched_file_must_be_whole(void **state) {
    struct scene *s = *state;

    s->options = (struct discovery_options){.file = "https://files/d.conf"};
    s->body = FILE_TOKEN;
    assert_fails(s, ERROR_USAGE, "refers to the file 'ca.crt' on this machine");
    s->body =
        "clusters: [{name: '', cluster: {server: 'https://k'}}]\ncontexts: [{name: c, context: "
        "{cluster: '', user: u}}]\ncurrent-context: c\nusers: [{name: u, user: {tokenFile: "
        "'C:\\secret'}}]\n";
    assert_int_equal(run(s), -1);
    assert_int_equal(s->requests, 0);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(a_file_with_a_token_is_used_as_it_is),
        CASE(a_file_takes_the_bootstrap_token),
        CASE(a_refused_look_is_only_a_warning),
        CASE(another_server_is_a_warning),
        CASE(a_file_is_verified_too),
        CASE(an_address_without_a_host),
        CASE(a_file_comes_over_https),
        CASE(a_server_may_be_an_ipv6_address),
        CASE(a_server_name_is_compared_bare),
        CASE(a_file_that_cannot_be_fetched),
        CASE(what_cannot_be_sent_is_refused_first),
        CASE(a_file_must_let_the_server_be_proved),
        CASE(a_fetched_file_must_be_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
