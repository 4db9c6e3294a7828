/* Kubeconfigs as people make them: copied from a screen, written by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/text.h"
#include "kube/kubeconfig.h"

#define KU                                                                                         \
    "clusters: [{name: k, cluster: {server: 'https://k'}}]\n"                                      \
    "contexts: [{name: c, context: {cluster: k, user: u}}]\ncurrent-context: c\n"

static int parse(const char *text, struct kubeconfig *ret, struct error *err) {
    return kubeconfig_parse(text, strlen(text), "test", false, ret, err);
}

/* kubectl config view without --raw, in each of its forms. */
static void knows_the_output_of_config_view(void **state) {
    static const char *const users[] = {
        "{client-certificate-data: DATA+OMITTED, client-key-data: DATA+OMITTED}",
        "{client-certificate-data: REDACTED, client-key-data: REDACTED}",
        "{client-certificate-data: REFUQStPTUlUVEVE, client-key-data: REFUQStPTUlUVEVE}",
        "{token: REDACTED}",
        "{token: <redacted>}",
        "{username: me, password: REDACTED}",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(users); i++) {
        _cleanup_(freep) char *text = xasprintf(KU "users: [{name: u, user: %s}]\n", users[i]);
        struct kubeconfig config = {0};
        struct error err = {0};

        assert_int_equal(parse(text, &config, &err), -1);
        assert_int_equal(err.kind, ERROR_USAGE);
        assert_non_null(strstr(err.message, "test: line 4: "));
        assert_non_null(strstr(err.message, "kubectl config view"));
        assert_non_null(strstr(err.hints[0], "--raw"));
    }
}

static void reads_a_server_as_kubectl(void **state) {
    static const struct {
        const char *given, *read;
    } rows[] = {{"HTTPS://k:6443/x", "https://k:6443/x"},
                {"10.0.0.1:6443", "https://10.0.0.1:6443"},
                {"k", "https://k"},
                {"HTTP://k", "http://k"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *text =
            xasprintf("clusters: [{name: '', cluster: {server: '%s'}}]\n", rows[i].given);
        struct kubeconfig config = {0};

        assert_int_equal(kubeconfig_parse(text, strlen(text), "it", true, &config, NULL), 0);
        assert_string_equal(config.server, rows[i].read);
        kubeconfig_free(&config);
    }
}

static void refuses_a_server_that_is_no_url(void **state) {
    static const char *const rows[][2] = {
        {"https:/10.0.0.10:6443", "port must be a number"},
        {"tcp://10.0.0.10:6443", "an https or http URL"},
        {"https://10.0.0.10:66443", "port must be a number"},
        {"https://me:secret@10.0.0.10:6443", "must not contain a user or password"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *text = xasprintf(
            "clusters: [{name: c, cluster: {server: '%s'}}]\nusers: [{name: u, user: {token: t}}]\n"
            "contexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n",
            rows[i][0]);
        struct kubeconfig config = {0};
        struct error err = {0};

        assert_int_equal(kubeconfig_parse(text, strlen(text), "it", true, &config, &err), -1);
        assert_non_null(strstr(err.message, rows[i][1]));
        assert_null(strstr(err.message, "secret"));
    }
}

static void a_path_is_no_data(void **state) {
    struct kubeconfig config = {0};
    struct error err = {0};

    (void)state;
    assert_int_equal(
        parse(KU "users: [{name: u, user: {client-key-data: /etc/a.key}}]\n", &config, &err), -1);
    assert_non_null(strstr(err.message, "line 4: \"client-key-data\": decode base64"));
    assert_string_equal(err.hints[0],
                        "it holds a PEM file in base64; the path of a file belongs to "
                        "\"client-key\"");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_the_output_of_config_view),
        cmocka_unit_test(reads_a_server_as_kubectl),
        cmocka_unit_test(refuses_a_server_that_is_no_url),
        cmocka_unit_test(a_path_is_no_data),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
