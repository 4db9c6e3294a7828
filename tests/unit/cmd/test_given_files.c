/* Files that a person gives are read as Windows' own programs write them: PowerShell 5.1's ">"
 * writes UTF-16 with a byte order mark, others mark UTF-8. And the one that --output-file names. */
#include "tests/scene/program_scene.h"

#include "base/text.h"
#include "cmd/program.h"
#include "diag/reports/report.h"
#include "join/configuration/join_configuration.h"
#include "join/discovery/discovery.h"
#include "join/kubelet/patches.h"
#include "kube/kubeconfig.h"
#include "services/artifacts/artifacts.h"

enum writing { PLAIN, MARKED, LITTLE, BIG, WRITINGS };

/* The text in that writing, at the path. */
static void put_as(enum writing writing, const char *path, const char *text) {
    struct text bytes = {0};

    if (writing == MARKED)
        text_add_bytes(&bytes, "\xef\xbb\xbf", 3);
    if (writing == LITTLE || writing == BIG)
        text_add_bytes(&bytes, writing == LITTLE ? "\xff\xfe" : "\xfe\xff", 2);
    for (const char *p = text; *p; p++) {
        if (writing == BIG)
            text_add_bytes(&bytes, "", 1);
        text_add_bytes(&bytes, p, 1);
        if (writing == LITTLE)
            text_add_bytes(&bytes, "", 1);
    }
    assert_int_equal(host_write(program->host, path, bytes.data, bytes.len, HOST_PUBLIC, NULL), 0);
    text_free(&bytes);
}

static void assert_done(int result, const struct error *err, enum writing writing) {
    if (result < 0)
        fail_msg("writing %d: %s", (int)writing, err->message);
}

static void a_configuration(void **state) {
    (void)state;
    for (enum writing w = PLAIN; w < WRITINGS; w++) {
        struct config_file file = {0};
        struct error err = {0};

        put_as(w, "C:\\c.yaml",
               "apiVersion: winjoin.io/v1alpha1\r\nkind: NodeConfiguration\r\nnetwork: {mode: "
               "overlay}\r\n");
        assert_done(program_read_config(program, "C:\\c.yaml", CONFIG_KNOWN, &file, &err), &err, w);
        assert_int_equal(err.kind, ERROR_NONE);
        assert_string_equal(json_text_at(file.node, "network.mode"), "overlay");
        config_file_free(&file);
    }
}

static void a_saved_report(void **state) {
    (void)state;
    for (enum writing w = PLAIN; w < WRITINGS; w++) {
        struct error err;

        put_as(w, "C:\\r.json",
               "{\"apiVersion\":\"winjoin.io/v1alpha1\",\"kind\":\"DiagReport\",\"node\":"
               "\"win-7k2\",\"time\":\"2026-11-21T10:00:04Z\",\"flows\":[]}\r\n");
        program->options.replay = xstrdup("C:\\r.json");
        program->verb = verb_find(verbs, "diag");
        (void)verb(verb_diag, &err);
        assert_int_equal(err.kind, ERROR_FLOWS); /* it was read; no flow is in it */
        freep(&program->options.replay);
    }
}

static void a_discovery_file(void **state) {
    (void)state;
    for (enum writing w = PLAIN; w < WRITINGS; w++) {
        struct kubeconfig config = {0};
        struct error err = {0};

        put_as(w, "C:\\d.conf",
               "apiVersion: v1\r\nkind: Config\r\ncurrent-context: x\r\ncontexts: [{name: x, "
               "context: {cluster: c, user: u}}]\r\nusers: [{name: u, user: {}}]\r\nclusters:\r\n- "
               "name: c\r\n  cluster:\r\n    "
               "server: https://10.0.0.10:6443\r\n    certificate-authority: ca.crt\r\n");
        put_as(w, "C:\\ca.crt", "-----BEGIN CERTIFICATE-----\r\n");
        assert_done(kubeconfig_read_file(program->host, "C:\\d.conf", NULL, &config, &err), &err,
                    w);
        assert_string_equal(config.server, "https://10.0.0.10:6443");
        assert_string_equal(config.ca_pem, "-----BEGIN CERTIFICATE-----\r\n");
        kubeconfig_free(&config);
    }
}

/* It is the call that must be corrected: said before anything is sent. */
static void a_wrong_discovery_file(void **state) {
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"{", "line 2 column 1: "},
        {"", "not a kubeconfig"},
        {"apiVersion: v1\nkind: Pod\n", "kind must be Config"},
        {"apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: "
         "'https://10.0.0.10:6443'}}]\ncontexts: [{name: x, context: {cluster: c, user: "
         "u}}]\ncurrent-context: x\nusers: [{name: u, user: {tokenFile: none}}]\n",
         "read the token file"},
        {"apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: "
         "'https://10.0.0.10:6443'}}]\ncontexts: [{name: x, context: {cluster: c, user: "
         "u}}]\ncurrent-context: x\nusers: [{name: u, user: {}}]\n",
         "could not find authentication credentials"},
    };
    struct discovery_options options = {.file = "C:\\d.conf"};
    struct error err;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        put_as(PLAIN, "C:\\d.conf", rows[i].text);
        err = (struct error){0};
        assert_int_equal(discovery_check_file(&options, program->host, &err), -1);
        assert_int_equal(err.kind, ERROR_USAGE);
        if (!strstr(err.message, rows[i].why))
            fail_msg("%d: %s", (int)i, err.message);
    }
    options.tls_bootstrap_token = "abcdef.0123456789abcdef"; /* then the last one will do */
    assert_int_equal(discovery_check_file(&options, program->host, &err), 0);
    options.file = "C:\\"; /* a folder */
    assert_int_equal(discovery_check_file(&options, program->host, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    options.file = "https://10.0.0.10/d.conf";
    assert_int_equal(discovery_check_file(&options, program->host, &err), 0);
}

static void patches(void **state) {
    (void)state;
    for (enum writing w = PLAIN; w < WRITINGS; w++) {
        struct patches read = {0};
        struct error err = {0};

        put_as(w, "C:\\patches\\kubeletconfiguration.yaml", "maxPods: 64\r\n");
        assert_done(patches_read(program->host, "C:\\patches", &read, &err), &err, w);
        assert_int_equal(read.count, 1);
        patches_free(&read);
    }
}

static void a_lock_and_versions(void **state) {
    static const char lock[] =
        "{\"apiVersion\":\"winjoin.io/v1alpha1\",\"kind\":\"BundleLock\",\"artifacts\":[]}\r\n";

    (void)state;
    for (enum writing w = PLAIN; w < WRITINGS; w++) {
        struct bundle *bundle = NULL;
        struct error err = {0};

        put_as(w, "C:\\bundle\\winjoin.lock", lock);
        assert_done(bundle_open(program->host, "C:\\bundle", NULL, &bundle, &err), &err, w);
        bundle_freep(&bundle);
        put_as(w, "C:\\mine.lock", lock);
        bundle = NULL;
        assert_done(bundle_open(program->host, "C:\\bundle", "C:\\mine.lock", &bundle, &err), &err,
                    w);
        bundle_freep(&bundle);
    }
}

static void what_is_no_text(void **state) {
    static const struct {
        const char *bytes;
        size_t len;
        const char *message;
    } rows[] = {
        {"\xff\xfe"
         "a\0b",
         5, "read 'C:\\x': UTF-16 text of an odd number of bytes (5)"},
        {"\xff\xfe\x3d\xd8"
         "a\0",
         6, "read 'C:\\x': UTF-16 text with half a character at byte 4"},
        {"\xfe\xff\xd8\x3d", 4, "read 'C:\\x': UTF-16 text with half a character at byte 2"},
        {"\xff\xfe\x00\xde", 4, "read 'C:\\x': UTF-16 text with half a character at byte 2"},
    };
    static const char wide[] = "\xff\xfe\xfc\0\xac\x20\x3d\xd8\x00\xde\x00\xd8\x00\xdc";
    char *text = NULL;
    size_t len = 0;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct error err = {0};

        assert_int_equal(
            host_write(program->host, "C:\\x", rows[i].bytes, rows[i].len, HOST_PUBLIC, NULL), 0);
        assert_int_equal(host_read_text(program->host, "C:\\x", 100, &text, &len, &err), -1);
        assert_string_equal(err.message, rows[i].message);
        assert_int_equal(err.kind, ERROR_MALFORMED);
    }
    assert_int_equal(host_write(program->host, "C:\\x", wide, 14, HOST_PUBLIC, NULL), 0);
    assert_int_equal(host_read_text(program->host, "C:\\x", 100, &text, NULL, NULL), 0);
    assert_string_equal(text, "\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80\xf0\x90\x80\x80");
    free(text);
}

/* ---- --output-file ---- */

static int to_file(const char *name, const char *given, const char *printed, struct error *err) {
    int result;

    program->verb = verb_find(verbs, name);
    program->options.output_file = xstrdup(given);
    result = output_open(program, err);
    if (result == 0 && *printed)
        output_text(program, printed);
    if (result == 0)
        result = output_finish(program, NULL, err);
    freep(&program->options.output_file);
    return result;
}

static void assert_file(const char *wanted, const char *access) {
    _cleanup_(freep) char *text = NULL;
    _cleanup_(freep) char *line = xasprintf("write C:\\r %s %zu bytes", access, strlen(wanted));
    size_t len;

    assert_int_equal(host_read(program->host, "C:\\r", 1000, &text, &len, NULL), 0);
    assert_string_equal(text, wanted);
    assert_non_null(strstr(host_memory_log(program->host), line));
}

static void results_go_to_a_file(void **state) {
    struct error err = {0};

    (void)state;
    assert_int_equal(to_file("status", "C:\\r", "first", &err), 0);
    assert_file("first", "public");
    assert_int_equal(to_file("status", "C:\\r", "", &err), 0); /* nothing to say */
    assert_file("first", "public");
    assert_int_equal(to_file("discover", "C:\\r", "with a key", &err), 0);
    assert_file("with a key", "secret");
    host_memory_fail(program->host, 1);
    assert_int_equal(to_file("status", "C:\\r", "second", &err), -1);
    host_memory_fail(program->host, 0);
    assert_file("with a key", "secret");
    error_clear(&err);
    assert_int_equal(to_file("status", "C:\\none\\r", "x", &err), -1);
    assert_string_equal(err.message, "--output-file: the folder of 'C:\\none\\r' does not exist");
    error_clear(&err);
    assert_int_equal(to_file("status", "C:\\a*b", "x", &err), -1);
    assert_string_equal(err.message,
                        "--output-file: path 'C:\\a*b': a file name cannot contain '*'");
    error_clear(&err);
    assert_int_equal(to_file("status", "", "x", &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    program->terminal.out_is_terminal = program->terminal.color = program->terminal.utf8 = true;
    assert_true(output_color(program, false));
    program->options.output_file = xstrdup("C:\\r");
    assert_int_equal(output_open(program, &err), 0);
    assert_false(output_color(program, false));
    program->terminal.utf8 = false;
    assert_true(output_utf8(program, false));
    assert_int_equal(output_finish(program, NULL, &err), 0);
    freep(&program->options.output_file);
}

int main(void) {
#define FILE_TEST(name) cmocka_unit_test_setup_teardown(name, open_program, close_program)
    const struct CMUnitTest tests[] = {
        FILE_TEST(a_configuration),      FILE_TEST(a_saved_report),
        FILE_TEST(a_discovery_file),     FILE_TEST(patches),
        FILE_TEST(a_lock_and_versions),  FILE_TEST(what_is_no_text),
        FILE_TEST(results_go_to_a_file), FILE_TEST(a_wrong_discovery_file),
    };

    return cmocka_run_group_tests(tests, NULL, free_output);
}
