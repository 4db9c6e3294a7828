/* Credentials from a program (exec of a kubeconfig): how it is found, its environment, its output.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/memory.h"
#include "host/terminal.h"
#include "kube/kubeconfig.h"
#include "tests/memory/host_memory.h"

#define V1 "client.authentication.k8s.io/v1"
#define ANSWER(status)                                                                             \
    "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\",\"status\":" status "}"
#define FILE_PATH "D:\\kube\\config"

static struct plugin {
    struct host *host;
    struct kubeconfig config;
    struct error err;
    struct text_list words, environment; /* of the last run */
    unsigned runs, timeout_ms;
    int code; /* that it ends with */
    const char *answer;
} p;

static bool on_run(void *context, struct host *host, const struct host_process *process,
                   int *ret_code, struct text *ret_said, struct error *err) {
    (void)context, (void)host, (void)err;
    text_list_free(&p.words);
    text_list_free(&p.environment);
    for (const char *const *word = process->argv; *word; word++)
        text_list_add(&p.words, *word);
    for (const char *const *one = process->environment; *one; one++)
        text_list_add(&p.environment, *one);
    p.timeout_ms = process->timeout_ms;
    p.runs++;
    *ret_code = p.code;
    text_add(ret_said, p.answer);
    return true;
}

static int open_plugin(void **state) {
    (void)state;
    p = (struct plugin){.host = host_memory_new(), .answer = ANSWER("{\"token\":\"secret-1\"}")};
    host_memory_on_run(p.host, on_run, NULL);
    return 0;
}

static int close_plugin(void **state) {
    (void)state;
    kubeconfig_free(&p.config);
    text_list_free(&p.words);
    text_list_free(&p.environment);
    host_free(p.host);
    return 0;
}

/* A program at this path, as a person writes it. */
static char *put_program(const char *path) {
    char *full = terminal_full_path(path);

    assert_int_equal(host_write(p.host, full, "MZ", 2, HOST_PUBLIC, NULL), 0);
    return full;
}

/* Runs what `exec` (JSON; apiVersion is V1 unless it says another) names. */
static int run(const char *exec) {
    json_decref(p.config.exec);
    p.config.exec = NULL;
    p.err = (struct error){0};
    assert_int_equal(json_read(exec, strlen(exec), "exec", &p.config.exec, NULL), 0);
    if (!json_object_get(p.config.exec, "apiVersion"))
        json_object_set_new(p.config.exec, "apiVersion", json_string(V1));
    return kubeconfig_run_plugin(p.host, FILE_PATH, &p.config, &p.err);
}

static void right(const char *exec) {
    if (run(exec) < 0)
        fail_msg("%s: %s", exec, p.err.message);
}

/* ---- its environment ---- */

static void words_and_environment(void **state) {
    _cleanup_(freep) char *at = put_program("D:\\bin\\get-token");

    (void)state;
    right("{\"command\":\"D:\\\\bin\\\\get-token\",\"args\":[\"--cluster\",\"a b\"],\"env\":["
          "{\"name\":\"PROFILE\",\"value\":\"x=y\"},{\"name\":\"EMPTY\"},{\"name\":\"\",\"value\":"
          "\"lost\"},{\"name\":\"A=B\",\"value\":\"lost\"},{\"value\":\"lost\"}]}");
    assert_int_equal(p.words.count, 3);
    assert_string_equal(p.words.items[0], at);
    assert_string_equal(p.words.items[1], "--cluster");
    assert_string_equal(p.words.items[2], "a b");
    assert_int_equal(p.environment.count, 3);
    assert_string_equal(p.environment.items[0], "PROFILE=x=y");
    assert_string_equal(p.environment.items[1], "EMPTY=");
    assert_string_equal(p.environment.items[2],
                        "KUBERNETES_EXEC_INFO={\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1
                        "\",\"spec\":{\"interactive\":false}}");
    assert_int_equal(p.timeout_ms, 60000);
    assert_string_equal(p.config.token, "secret-1");
}

/* It signs in through the proxy, with the password that other programs do not get; the file's own
 * choice wins. */
static void the_proxy_with_its_password(void **state) {
    _cleanup_(freep) char *at = put_program("D:\\bin\\get-token");

    (void)state;
    host_memory_set_environment(p.host, "HTTPS_PROXY", "http://eve:pw@proxy:3128");
    host_memory_set_environment(p.host, "HTTP_PROXY", "http://other:3128");
    right("{\"command\":\"D:\\\\bin\\\\get-token\",\"env\":["
          "{\"name\":\"HTTP_PROXY\",\"value\":\"http://own:1\"}]}");
    assert_int_equal(p.environment.count, 3);
    assert_string_equal(p.environment.items[0], "HTTP_PROXY=http://own:1");
    assert_string_equal(p.environment.items[2], "HTTPS_PROXY=http://eve:pw@proxy:3128");
}

/* Only where it asks for that: kubectl's provideClusterInfo. */
static void the_cluster_is_told(void **state) {
    _cleanup_(freep) char *at = put_program("D:\\bin\\x");

    (void)state;
    p.config.server = xstrdup("https://k:6443");
    p.config.ca_pem = xstrdup("abc");
    p.config.tls_server_name = xstrdup("other");
    right("{\"command\":\"D:\\\\bin\\\\x\",\"provideClusterInfo\":true}");
    assert_non_null(strstr(p.environment.items[0],
                           "\"cluster\":{\"server\":\"https://k:6443\",\"tls-server-name\":"
                           "\"other\",\"certificate-authority-data\":\"YWJj\","
                           "\"insecure-skip-tls-verify\":false}"));
    free(take_ptr(p.config.token));
    right("{\"command\":\"D:\\\\bin\\\\x\"}");
    assert_null(strstr(p.environment.items[0], "https://k:6443"));
}

/* The older version is asked in, and answers in, its own words. */
static void the_older_version(void **state) {
    static const char older[] = "{\"command\":\"D:\\\\bin\\\\x\",\"apiVersion\":"
                                "\"client.authentication.k8s.io/v1beta1\"}";
    _cleanup_(freep) char *at = put_program("D:\\bin\\x");

    (void)state;
    assert_int_equal(run(older), -1);
    assert_string_equal(p.err.message,
                        "run 'D:\\bin\\x' of the kubeconfig: its output is not of apiVersion "
                        "client.authentication.k8s.io/v1beta1");
    assert_non_null(strstr(p.environment.items[0], "client.authentication.k8s.io/v1beta1"));
    p.answer = "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1beta1"
               "\",\"status\":{\"token\":\"t\"}}";
    right(older);
    assert_string_equal(p.config.token, "t");
}

/* ---- where it is found ---- */

static void where_it_is_found(void **state) {
    static const struct {
        const char *command, *path, *program; /* path: the variable */
    } rows[] = {
        {"aws", "D:\\none;D:\\bin", "D:\\bin/aws"},
        {"aws", "D:\\none;D:\\bin", "D:\\bin/aws.exe"},
        {"aws", "/opt/none:/opt/bin", "/opt/bin/aws"},
        {"aws", "/opt/bin", "/opt/bin/aws"},
        {"aws", "D:\\bin", "D:\\bin/aws.exe"},
        {"./aws", "D:\\bin;", "D:\\kube/./aws"},
        {"sub/aws", "D:\\bin;", "D:\\kube/sub/aws"},
        {"..\\\\aws", "D:\\bin;", "D:\\kube/..\\aws.exe"},
        {"/opt/x/aws", "D:\\bin;", "/opt/x/aws"},
        {"C:/x/aws", "D:\\bin;", "C:/x/aws"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *exec = xasprintf("{\"command\":\"%s\"}", rows[i].command);
        _cleanup_(freep) char *at = NULL;

        close_plugin(state);
        open_plugin(state);
        host_memory_set_environment(p.host, "PATH", rows[i].path);
        free(put_program("aws")); /* of this folder, which is not looked at */
        if (run(exec) == 0)
            fail_msg("%s: found at %s", rows[i].command, p.words.items[0]);
        at = put_program(rows[i].program);
        right(exec);
        assert_string_equal(p.words.items[0], at);
    }
}

static void a_folder_is_no_program(void **state) {
    (void)state;
    host_memory_set_environment(p.host, "PATH", "D:\\a;D:\\b");
    assert_int_equal(host_make_folder(p.host, "D:\\a\\aws", HOST_PUBLIC, NULL), 0);
    assert_int_equal(run("{\"command\":\"aws\"}"), -1);
    assert_int_equal(p.runs, 0);
    free(put_program("D:\\b\\aws"));
    right("{\"command\":\"aws\"}");
}

static void it_is_nowhere(void **state) {
    (void)state;
    assert_int_equal(run("{\"command\":\"aws\",\"installHint\":\"get it at example.com\"}"), -1);
    assert_int_equal(p.err.kind, ERROR_USAGE);
    assert_string_equal(p.err.message, "run 'aws' of the kubeconfig: it is not in PATH");
    assert_string_equal(p.err.hints[0], "get it at example.com");
    assert_int_equal(run("{\"command\":\"aws\"}"), -1);
    assert_string_equal(p.err.hints[0], "");
    assert_int_equal(p.runs, 0);
}

/* ---- what is refused ---- */

static void calls_that_are_refused(void **state) {
    static const struct {
        const char *exec;
        enum error_kind kind;
        const char *message;
    } rows[] = {
        {"{}", ERROR_USAGE, "kubeconfig: exec names no command"},
        {"{\"command\":\"\"}", ERROR_USAGE, "kubeconfig: exec names no command"},
        {"{\"command\":\"D:\\\\x\",\"apiVersion\":\"client.authentication.k8s.io/v1alpha1\"}",
         ERROR_UNSUPPORTED,
         "kubeconfig: exec of apiVersion 'client.authentication.k8s.io/v1alpha1' is not supported"},
        {"{\"command\":\"D:\\\\x\",\"apiVersion\":7}", ERROR_UNSUPPORTED,
         "kubeconfig: exec of apiVersion '' is not supported"},
        {"{\"command\":\"D:\\\\x\",\"interactiveMode\":\"Always\"}", ERROR_UNSUPPORTED,
         "kubeconfig: exec with interactiveMode Always is not supported"},
    };

    (void)state;
    free(put_program("D:\\x"));
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        assert_int_equal(run(rows[i].exec), -1);
        assert_int_equal(p.err.kind, rows[i].kind);
        assert_string_equal(p.err.message, rows[i].message);
    }
    assert_int_equal(p.runs, 0);
    right("{\"command\":\"D:\\\\x\",\"interactiveMode\":\"IfAvailable\"}");
}

static void a_program_that_fails(void **state) {
    (void)state;
    free(put_program("D:\\x"));
    p.code = 3;
    p.answer = ANSWER("{\"token\":\"secret-1\"}");
    assert_int_equal(run("{\"command\":\"D:\\\\x\"}"), -1);
    assert_int_equal(p.err.kind, ERROR_DENIED);
    assert_string_equal(p.err.message, "run 'D:\\x' of the kubeconfig: it ended with exit code 3");
    assert_null(p.config.token);
    host_memory_fail(p.host, 1);
    assert_int_equal(run("{\"command\":\"D:\\\\x\"}"), -1);
    assert_int_equal(p.err.kind, ERROR_HOST);
    assert_true(text_starts_with(p.err.message, "run 'D:\\x' of the kubeconfig: "));
}

/* What it printed is in no message: it may be a secret. */
static void answers(void **state) {
#define NEITHER "its output has neither a token nor a client certificate with its key"
    static const struct {
        const char *answer, *message; /* message: NULL, it is right */
        const char *token, *certificate, *key;
    } rows[] = {
        {ANSWER("{\"token\":\"secret\"}"), NULL, "secret", NULL, NULL},
        {ANSWER("{\"clientCertificateData\":\"c\",\"clientKeyData\":\"k\"}"), NULL, NULL, "c", "k"},
        {ANSWER("{\"token\":\"\",\"clientCertificateData\":\"c\",\"clientKeyData\":\"k\"}"), NULL,
         NULL, "c", "k"},
        {ANSWER("{\"token\":\"t\",\"clientCertificateData\":\"c\",\"clientKeyData\":\"k\"}"), NULL,
         "t", "c", "k"},
        {ANSWER("{\"token\":\"secret\",\"clientKeyData\":\"k\"}"), NEITHER, NULL, NULL, NULL},
        {ANSWER("{\"token\":\"secret\",\"clientCertificateData\":\"c\"}"), NEITHER, NULL, NULL,
         NULL},
        {ANSWER("{\"token\":\"\"}"), NEITHER, NULL, NULL, NULL},
        {ANSWER("{}"), NEITHER, NULL, NULL, NULL},
        {"secret", "its output is not an ExecCredential", NULL, NULL, NULL},
        {"", "its output is not an ExecCredential", NULL, NULL, NULL},
        {"{\"kind\":\"secret\",\"apiVersion\":\"" V1 "\",\"status\":{\"token\":\"secret\"}}",
         "its output is not an ExecCredential", NULL, NULL, NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct kubeconfig config = {0};
        struct error err = {0};
        int result =
            exec_credential_read(rows[i].answer, strlen(rows[i].answer), V1, &config, &err);

        assert_int_equal(result, rows[i].message ? -1 : 0);
        assert_string_equal(err.message, rows[i].message ? rows[i].message : "");
        assert_int_equal(err.kind, rows[i].message ? ERROR_MALFORMED : ERROR_NONE);
        assert_true(text_equal(config.token, rows[i].token));
        assert_true(text_equal(config.client_cert_pem, rows[i].certificate));
        assert_true(text_equal(config.client_key_pem, rows[i].key));
        kubeconfig_free(&config);
    }
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_plugin, close_plugin)
    const struct CMUnitTest tests[] = {
        CASE(words_and_environment), CASE(the_proxy_with_its_password),
        CASE(the_cluster_is_told),   CASE(the_older_version),
        CASE(where_it_is_found),     CASE(a_folder_is_no_program),
        CASE(it_is_nowhere),         CASE(calls_that_are_refused),
        CASE(a_program_that_fails),  CASE(answers),
    };

    return cmocka_run_group_tests_name("credentials of a program", tests, NULL, NULL);
}
