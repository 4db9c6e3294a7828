/* Artifacts: the lock, hostile bundles, what is installed on the node and what is left alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "pki/digest.h"
#include "services/artifacts/artifacts.h"
#include "services/artifacts/bundle_archive.h"
#include "tests/memory/host_memory.h"

#define SHA_63 "a7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define SHA_ABC "b" SHA_63
#define ITEM(name, size, path)                                                                     \
    "{\"name\":\"" name "\",\"version\":\"v1.37.1\",\"sha256\":\"" SHA_ABC "\",\"size\":" size     \
    ",\"path\":\"" path "\"}"
#define TARGET_ITEM(target)                                                                        \
    "{\"name\":\"tool\",\"version\":\"1\",\"sha256\":\"" SHA_ABC                                   \
    "\",\"size\":3,\"path\":\"tool.exe\",\"target\":\"" target "\"}"
#define LOCK(items)                                                                                \
    "{\"apiVersion\":\"winjoin.io/v1alpha1\",\"kind\":\"BundleLock\",\"artifacts\":[" items "]}"

static struct host *host;

static int open_host(void **state) {
    (void)state;
    host = host_memory_new();
    return 0;
}

static int close_host(void **state) {
    (void)state;
    host_free(host);
    return 0;
}

static void put(const char *path, const char *content) {
    assert_int_equal(host_write(host, path, content, strlen(content), HOST_PUBLIC, NULL), 0);
}

static void digest(void **state) {
    char text[DIGEST_TEXT_MAX];
    (void)state;
    digest_sha256("abc", 3, text); /* FIPS 180-4's own example */
    assert_string_equal(text, SHA_ABC);
    digest_sha256("", 0, text);
    assert_string_equal(text, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

static void lock(void **state) {
    static const char json[] = " \t\r\n" LOCK(ITEM("kubelet", "3", "k/kubelet.exe"));
    static const char yaml[] = "apiVersion: winjoin.io/v1alpha1\n"
                               "kind: BundleLock\n"
                               "artifacts:\n"
                               "- name: kubelet\n"
                               "  version: v1.37.1\n"
                               "  sha256: " SHA_ABC "\n"
                               "  size: 3\n"
                               "  path: k/kubelet.exe\n";
    struct artifacts artifacts = {0}, again = {0};
    struct error err = {0};
    (void)state;
    assert_int_equal(artifact_lock_parse(json, strlen(json), &artifacts, NULL, &err), 0);
    assert_int_equal(artifacts.count, 1);
    assert_string_equal(artifacts.items[0].target, "C:\\k\\kubelet.exe");
    assert_int_equal(artifacts.items[0].size, 3);
    char *text = artifact_lock_make(&artifacts, NULL);
    assert_int_equal(artifact_lock_parse(text, strlen(text), &again, NULL, &err), 0);
    assert_string_equal(again.items[0].sha256, SHA_ABC);
    artifacts_free(&again);
    free(text);
    if (artifact_lock_parse(yaml, strlen(yaml), &again, NULL, &err) < 0)
        fail_msg("%s", err.message);
    assert_string_equal(again.items[0].path, "k/kubelet.exe");
    json_t *plan = artifacts_json(&again, NULL);
    assert_string_equal(json_text_at(plan, "0.path"), "C:\\k\\kubelet.exe");
    json_decref(plan);
    artifacts_free(&artifacts);
    artifacts_free(&again);
}

#define IMAGES(images)                                                                             \
    "{\"apiVersion\":\"winjoin.io/"                                                                \
    "v1alpha1\",\"kind\":\"BundleLock\",\"artifacts\":[],\"images\":[" images "]}"
#define IMAGE(name, sha256, size, path)                                                            \
    "{\"name\":\"" name "\",\"sha256\":\"" sha256 "\",\"size\":" size ",\"path\":\"" path "\"}"

static const struct {
    const char *text;
    enum error_kind kind;
    const char *says;
} bad_locks[] = {
    {"", ERROR_MALFORMED, "decode lock: it is empty"},
    {"{}", ERROR_MALFORMED, "decode lock: not a BundleLock of winjoin.io/v1alpha1"},
    {LOCK("7"), ERROR_MALFORMED, "decode lock: an artifact is not an object"},
    {"{\"apiVersion\":\"winjoin.io/v2\",\"kind\":\"BundleLock\",\"artifacts\":[]}", ERROR_MALFORMED,
     "decode lock: not a BundleLock of winjoin.io/v1alpha1"},
    {LOCK(ITEM("kubelet", "-1", "a")), ERROR_MALFORMED,
     "decode lock: size of 'kubelet' is not in 0..536870912"},
    {LOCK(ITEM("kubelet", "536870913", "a")), ERROR_MALFORMED,
     "decode lock: size of 'kubelet' is not in 0..536870912"},
    {LOCK(ITEM("kubelet", "3", "a") "," ITEM("kubelet", "3", "b")), ERROR_MALFORMED,
     "decode lock: 'kubelet' and 'kubelet' have the same name, path or target"},
    {LOCK(ITEM("kubelet", "3", "a") "," ITEM("kube-proxy", "3", "a")), ERROR_MALFORMED,
     "decode lock: 'kubelet' and 'kube-proxy' have the same name, path or target"},
    {LOCK(ITEM("unknown", "3", "a")), ERROR_MALFORMED, "decode lock: 'unknown' has no target"},
    {LOCK("{\"name\":\"kubelet\",\"version\":\"\",\"sha256\":\"" SHA_ABC
          "\",\"size\":3,\"path\":\"a\"}"),
     ERROR_MALFORMED, "decode lock: 'kubelet' has no usable version"},
    {LOCK("{\"name\":\"kubelet\",\"version\":\"1\",\"sha256\":\"BA7816\",\"size\":3,"
          "\"path\":\"a\"}"),
     ERROR_MALFORMED, "decode lock: sha256 of 'kubelet' is not 64 hex digits"},
    {LOCK("{\"name\":\"kubelet\",\"version\":\"1\",\"sha256\":\"G" SHA_63
          "\",\"size\":3,\"path\":\"a\"}"),
     ERROR_MALFORMED, "decode lock: sha256 of 'kubelet' is not 64 hex digits"},
    {LOCK("{\"name\":\"kubelet\",\"version\":\"1\",\"sha256\":\"" SHA_63
          "\",\"size\":3,\"path\":\"a\"}"),
     ERROR_MALFORMED, "decode lock: sha256 of 'kubelet' is not 64 hex digits"},
    {LOCK("{\"name\":\"kubelet\",\"version\":\"1\",\"sha256\":\"" SHA_ABC "0"
          "\",\"size\":3,\"path\":\"a\"}"),
     ERROR_MALFORMED, "decode lock: sha256 of 'kubelet' is not 64 hex digits"},
    {LOCK("{\"name\":\"kubelet\",\"version\":\"1\",\"sha256\":\"" SHA_ABC "\",\"size\":3}"),
     ERROR_MALFORMED, "decode lock: 'kubelet' has no path"},
    {"apiVersion: [", ERROR_MALFORMED, "lock: line 2 column 1: did not find expected node content"},
    {"a: 1\n---\nb: 2\n", ERROR_MALFORMED, "decode lock: more than one document"},
    {LOCK(ITEM("ku be", "3", "a")), ERROR_MALFORMED, "decode lock: an artifact has no usable name"},
    {LOCK(ITEM("kubelet", "3", "a\",\"more\":\"x")), ERROR_MALFORMED,
     "decode lock: an artifact has unknown key 'more'"},
    {LOCK(ITEM("kubelet", "3", "../a")), ERROR_UNTRUSTED,
     "decode lock: path '../a' of 'kubelet' leads out of the bundle"},
    {LOCK(ITEM("kubelet", "3", "a/../../b")), ERROR_UNTRUSTED,
     "decode lock: path 'a/../../b' of 'kubelet' leads out of the bundle"},
    {LOCK(ITEM("kubelet", "3", "/etc/a")), ERROR_UNTRUSTED,
     "decode lock: path '/etc/a' of 'kubelet' leads out of the bundle"},
    {LOCK(ITEM("kubelet", "3", "C:/a")), ERROR_UNTRUSTED,
     "decode lock: path 'C:/a' of 'kubelet' leads out of the bundle"},
    {LOCK(ITEM("kubelet", "3", "a\\\\b")), ERROR_UNTRUSTED,
     "decode lock: path 'a\\b' of 'kubelet' leads out of the bundle"},
    {LOCK(ITEM("kubelet", "3", "a//b")), ERROR_UNTRUSTED,
     "decode lock: path 'a//b' of 'kubelet' leads out of the bundle"},
    {LOCK(ITEM("kubelet", "3", "")), ERROR_UNTRUSTED,
     "decode lock: path '' of 'kubelet' leads out of the bundle"},
    {LOCK(TARGET_ITEM("C:\\\\Windows\\\\System32\\\\tool.exe")), ERROR_UNTRUSTED,
     "decode lock: target 'C:\\Windows\\System32\\tool.exe' of 'tool' is outside winjoin's "
     "program folders"},
    {LOCK(TARGET_ITEM("C:\\\\k\\\\..\\\\tool.exe")), ERROR_UNTRUSTED,
     "decode lock: target 'C:\\k\\..\\tool.exe' of 'tool' is outside winjoin's program "
     "folders"},
    {LOCK(TARGET_ITEM("C:\\\\k\\\\a/../../tool.exe")), ERROR_UNTRUSTED,
     "decode lock: target 'C:\\k\\a/../../tool.exe' of 'tool' is outside winjoin's program "
     "folders"},
    {LOCK(TARGET_ITEM("C:\\\\k\\\\kubelet.exe:stream")), ERROR_UNTRUSTED,
     "decode lock: target 'C:\\k\\kubelet.exe:stream' of 'tool' is outside winjoin's program "
     "folders"},
    {LOCK(TARGET_ITEM("C:\\\\k\\\\kubelet.exe.")), ERROR_UNTRUSTED,
     "decode lock: target 'C:\\k\\kubelet.exe.' of 'tool' is outside winjoin's program "
     "folders"},
    {LOCK(TARGET_ITEM("C:\\\\k\\\\")), ERROR_UNTRUSTED,
     "decode lock: target 'C:\\k\\' of 'tool' is outside winjoin's program folders"},
    {IMAGES(IMAGE("r.test/a:1", SHA_ABC, "3", "../a")), ERROR_UNTRUSTED,
     "decode lock: path '../a' of 'r.test/a:1' leads out of the bundle"},
    {IMAGES(IMAGE("r.test/a:1", SHA_ABC, "3", "C:/a")), ERROR_UNTRUSTED,
     "decode lock: path 'C:/a' of 'r.test/a:1' leads out of the bundle"},
    {IMAGES(IMAGE("--all", SHA_ABC, "3", "a")), ERROR_MALFORMED,
     "decode lock: an image has no usable name"},
    {IMAGES(IMAGE("pause:1", SHA_ABC, "3", "a")), ERROR_MALFORMED,
     "decode lock: an image has no usable name"},
    {IMAGES(IMAGE("r.test/a:b:c", SHA_ABC, "3", "a")), ERROR_MALFORMED,
     "decode lock: an image has no usable name"},
    {IMAGES(IMAGE("r.test/a:1", SHA_ABC, "3", "a") "," IMAGE("r.test/a:1", SHA_ABC, "3", "b")),
     ERROR_MALFORMED, "decode lock: an image has no usable name"},
    {IMAGES(IMAGE("r.test/a:1", SHA_63, "3", "a")), ERROR_MALFORMED,
     "decode lock: 'r.test/a:1' has no usable sha256"},
    {IMAGES(IMAGE("r.test/a:1", SHA_ABC, "-1", "a")), ERROR_MALFORMED,
     "decode lock: 'r.test/a:1' has no usable size"},
    {IMAGES(IMAGE("r.test/a:1", SHA_ABC, "3", "a\",\"target\":\"C:\\\\k")), ERROR_MALFORMED,
     "decode lock: an image has unknown key 'target'"},
};

static void refuses_bad_locks(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad_locks); i++) {
        struct artifacts artifacts = {0};
        struct error err = {0};
        if (artifact_lock_parse(bad_locks[i].text, strlen(bad_locks[i].text), &artifacts, NULL,
                                &err) == 0)
            fail_msg("taken: %s", bad_locks[i].text);
        if (err.kind != bad_locks[i].kind || !text_equal(err.message, bad_locks[i].says))
            fail_msg("'%s', not '%s'", err.message, bad_locks[i].says);
    }
}

/* 64 programs and a MiB of text are taken, one more is not. */
static void locks_have_limits(void **state) {
    static const struct {
        size_t programs, len;
        const char *says;
    } rows[] = {{64, 1 << 20, NULL},
                {65, 1 << 20, "more than 64 artifacts"},
                {64, (1 << 20) + 1, "longer than 1048576 bytes"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct artifacts artifacts = {0};
        struct error err = {0};
        struct text text = {0};

        text_addf(
            &text,
            "{\"apiVersion\":\"winjoin.io/v1alpha1\",\"kind\":\"BundleLock\",\"artifacts\":[");
        for (size_t k = 0; k < rows[i].programs; k++)
            text_addf(&text,
                      "%s{\"name\":\"p%zu\",\"version\":\"v1\",\"sha256\":\"" SHA_ABC
                      "\",\"size\":3,\"path\":\"k/p%zu.exe\",\"target\":\"C:\\\\k\\\\p%zu.exe\"}",
                      k ? "," : "", k, k, k);
        text_add(&text, "]}");
        while (text.len < rows[i].len)
            text_add_char(&text, ' ');
        if ((artifact_lock_parse(text_str(&text), text.len, &artifacts, NULL, &err) == 0) !=
            (rows[i].says == NULL))
            fail_msg("row %zu: %s", i, err.message);
        if (rows[i].says)
            assert_non_null(strstr(err.message, rows[i].says));
        else
            assert_int_equal(artifacts.count, rows[i].programs);
        artifacts_free(&artifacts);
        text_free(&text);
    }
}

static int before_count;
static int count_before(void *context, const struct artifact *artifact, bool replaces,
                        struct error *err) {
    (void)err;
    assert_ptr_equal(context, &before_count);
    assert_string_equal(artifact->name, "kubelet");
    before_count += replaces ? 10 : 1;
    return 0;
}

static int refuse_before(void *context, const struct artifact *artifact, bool replaces,
                         struct error *err) {
    (void)context;
    (void)artifact;
    (void)replaces;
    return error_set(err, ERROR_DENIED, "no");
}

static void stopped_before_writing(void **state) {
    struct bundle *bundle = NULL;
    struct artifacts_result result = {0};
    struct error err = {0};
    (void)state;
    put("D:\\b\\winjoin.lock", LOCK(ITEM("kubelet", "3", "k/kubelet.exe")));
    put("D:\\b\\k\\kubelet.exe", "abc");
    assert_int_equal(bundle_open(host, "D:\\b", NULL, &bundle, &err), 0);
    assert_int_equal(artifacts_ensure(host, bundle, NULL, refuse_before, NULL, &result, &err), -1);
    assert_int_equal(err.kind, ERROR_DENIED);
    assert_int_equal(host_file_type(host, "C:\\k\\kubelet.exe"), HOST_ABSENT);
    bundle_freep(&bundle);
}

/* One bad artifact, and none is installed: not even those before it. */
static void all_or_nothing(void **state) {
    struct bundle *bundle = NULL;
    struct artifacts_result result = {0};
    struct error err = {0};
    (void)state;
    put("D:\\b\\winjoin.lock",
        LOCK(ITEM("kubelet", "3", "k/kubelet.exe") "," ITEM("kube-proxy", "3", "k/p.exe")));
    put("D:\\b\\k\\kubelet.exe", "abc");
    put("D:\\b\\k\\p.exe", "abd");
    assert_int_equal(bundle_open(host, "D:\\b", NULL, &bundle, &err), 0);
    assert_int_equal(artifacts_ensure(host, bundle, NULL, NULL, NULL, &result, &err), -1);
    assert_int_equal(err.kind, ERROR_UNTRUSTED);
    assert_int_equal(host_file_type(host, "C:\\k\\kubelet.exe"), HOST_ABSENT);
    bundle_freep(&bundle);
}

static void hostile_file(void **state) {
    static const char lock_text[] = LOCK(ITEM("kubelet", "3", "a"));
    const struct bundle_archive_file files[] = {
        {"winjoin.lock", lock_text, sizeof(lock_text) - 1}, {"a", "abc", 3}, {"../b", "x", 1}};
    struct bundle *bundle = NULL;
    struct error err = {0};
    char *zip = NULL;
    size_t len = 0;
    (void)state;
    assert_int_equal(bundle_archive_make(files, 3, &zip, &len, &err), 0);
    assert_int_equal(host_write(host, "D:\\x.zip", zip, len, HOST_PUBLIC, NULL), 0);
    assert_int_equal(bundle_open(host, "D:\\x.zip", NULL, &bundle, &err), -1);
    assert_int_equal(err.kind, ERROR_UNTRUSTED);
    assert_non_null(strstr(err.message, "bundle 'D:\\x.zip'"));
    free(zip);
    assert_int_equal(bundle_archive_make(files, 2, &zip, &len, &err), 0);
    assert_int_equal(host_write(host, "D:\\x.zip", zip, len, HOST_PUBLIC, NULL), 0);
    assert_int_equal(bundle_open(host, "D:\\x.zip", NULL, &bundle, &err), 0);
    assert_int_equal(bundle_verify(bundle, NULL, &err), 0);
    bundle_freep(&bundle);
    free(zip);
}

static void from_a_folder(void **state) {
    struct bundle *bundle = NULL;
    struct artifacts_result result = {0};
    struct error err = {0};
    char *content = NULL;
    size_t len = 0;
    (void)state;
    put("D:\\b\\winjoin.lock", LOCK(ITEM("kubelet", "3", "k/kubelet.exe")));
    put("D:\\b\\k\\kubelet.exe", "abc");
    before_count = 0;
    assert_int_equal(bundle_open(host, "D:\\b", NULL, &bundle, &err), 0);
    host_memory_set_free_space(host, 2);
    assert_int_equal(artifacts_ensure(host, bundle, NULL, NULL, NULL, &result, &err), -1);
    host_memory_set_free_space(host, 3); /* just enough */
    assert_int_equal(
        artifacts_ensure(host, bundle, NULL, count_before, &before_count, &result, &err), 0);
    assert_int_equal(result.installed, 1);
    assert_int_equal(result.bytes, 3);
    assert_int_equal(before_count, 1);
    json_t *before = host_memory_state(host);
    assert_int_equal(
        artifacts_ensure(host, bundle, NULL, count_before, &before_count, &result, &err), 0);
    json_t *after = host_memory_state(host);
    assert_int_equal(result.installed, 0);
    assert_int_equal(result.present, 1);
    assert_int_equal(before_count, 1);
    assert_true(json_equal(before, after));
    json_decref(before);
    json_decref(after);
    put("C:\\k\\kubelet.exe", "old");
    assert_int_equal(
        artifacts_ensure(host, bundle, NULL, count_before, &before_count, &result, &err), 0);
    assert_int_equal(before_count, 11);
    assert_int_equal(host_read(host, "C:\\k\\kubelet.exe", 10, &content, &len, NULL), 0);
    assert_string_equal(content, "abc");
    free(content);
    struct text_list only = {0};
    text_list_add(&only, "flanneld");
    put("C:\\k\\kubelet.exe", "old");
    assert_int_equal(artifacts_ensure(host, bundle, &only, NULL, NULL, &result, &err), 0);
    assert_int_equal(result.installed + result.present, 0);
    text_list_free(&only);
    bundle_freep(&bundle);
}

static void assert_untrusted(const char *content) {
    struct bundle *bundle = NULL;
    struct artifacts_result result = {0};
    struct error err = {0};
    put("D:\\b\\winjoin.lock", LOCK(ITEM("kubelet", "3", "k/kubelet.exe")));
    put("D:\\b\\k\\kubelet.exe", content);
    assert_int_equal(bundle_open(host, "D:\\b", NULL, &bundle, &err), 0);
    assert_int_equal(artifacts_ensure(host, bundle, NULL, NULL, NULL, &result, &err), -1);
    assert_int_equal(err.kind, ERROR_UNTRUSTED);
    assert_int_equal(host_file_type(host, "C:\\k\\kubelet.exe"), HOST_ABSENT);
    bundle_freep(&bundle);
}

static void wrong_content(void **state) {
    (void)state;
    assert_untrusted("abd");
    assert_untrusted("abcd");
    assert_untrusted("");
}

static void missing_things(void **state) {
    const struct service_choice both = {.kube_proxy = true, .agent = "flanneld"};
    const struct service_choice external = {.kube_proxy = false};
    struct bundle *bundle = NULL;
    struct artifacts_result result = {0};
    struct text_list missing = {0};
    struct error err = {0};
    (void)state;
    assert_int_equal(bundle_open(host, "D:\\b", NULL, &bundle, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    put("D:\\b\\other", "x");
    assert_int_equal(bundle_open(host, "D:\\b", NULL, &bundle, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    put("D:\\b\\winjoin.lock", "no lock");
    assert_int_equal(bundle_open(host, "D:\\b", NULL, &bundle, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    put("D:\\b\\winjoin.lock", LOCK(ITEM("kubelet", "3", "k/kubelet.exe")));
    assert_int_equal(bundle_open(host, "D:\\b", NULL, &bundle, &err), 0);
    assert_int_equal(artifacts_ensure(host, bundle, NULL, NULL, NULL, &result, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    put("C:\\opt\\cni\\bin\\host-local.exe", "x");
    assert_int_equal(artifacts_missing(host, bundle_artifacts(bundle), NULL, "win-overlay",
                                       "host-local", &both, &missing, &err),
                     0);
    char *names = text_list_join(&missing, " ");
    assert_string_equal(names,
                        "containerd flanneld kube-proxy containerd-shim-runhcs-v1 win-overlay");
    free(names);
    text_list_free(&missing);
    assert_int_equal(artifacts_missing(host, NULL, NULL, NULL, NULL, &external, &missing, &err), 0);
    names = text_list_join(&missing, " "); /* no CNI plugin and nothing beside it */
    assert_string_equal(names, "containerd kubelet containerd-shim-runhcs-v1");
    free(names);
    text_list_free(&missing);
    assert_int_equal(artifacts_missing(host, NULL, NULL, "x", NULL, &both, &missing, &err), -1);
    bundle_freep(&bundle);
}

/* Beside a containerd that stays, and looks elsewhere for CNI's programs. */
static void where_containerd_decides(void **state) {
    const struct service_choice choice = {.kube_proxy = true};
    const struct artifact_places places = {.cni_folder = "C:\\Program Files\\containerd\\cni\\bin",
                                           .keeps_containerd = true};
    struct text_list missing = {0};
    struct bundle *bundle = NULL;
    struct error err = {0};
    (void)state;
    put("D:\\b\\winjoin.lock",
        LOCK(ITEM("containerd", "3", "c/containerd.exe") "," ITEM("win-overlay", "3", "c/w.exe")));
    assert_int_equal(bundle_open(host, "D:\\b", NULL, &bundle, &err), 0);
    for (int i = 0; i < 2; i++) {
        bundle_place(bundle, &places);
        assert_int_equal(bundle_artifacts(bundle)->count, 1);
        assert_string_equal(bundle_artifacts(bundle)->items[0].target,
                            "C:\\Program Files\\containerd\\cni\\bin\\win-overlay.exe");
    }
    put("C:\\Program Files\\containerd\\cni\\bin\\host-local.exe", "x");
    put("C:\\opt\\cni\\bin\\win-bridge.exe", "x");
    assert_int_equal(artifacts_missing(host, bundle_artifacts(bundle), &places, "win-bridge",
                                       "host-local", &choice, &missing, &err),
                     0);
    char *names = text_list_join(&missing, " ");
    assert_string_equal(names, "kubelet kube-proxy win-bridge");
    free(names);
    text_list_free(&missing);
    bundle_freep(&bundle);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digest),
        cmocka_unit_test(lock),
        cmocka_unit_test(refuses_bad_locks),
        cmocka_unit_test(locks_have_limits),
        cmocka_unit_test_setup_teardown(from_a_folder, open_host, close_host),
        cmocka_unit_test_setup_teardown(stopped_before_writing, open_host, close_host),
        cmocka_unit_test_setup_teardown(all_or_nothing, open_host, close_host),
        cmocka_unit_test_setup_teardown(hostile_file, open_host, close_host),
        cmocka_unit_test_setup_teardown(wrong_content, open_host, close_host),
        cmocka_unit_test_setup_teardown(where_containerd_decides, open_host, close_host),
        cmocka_unit_test_setup_teardown(missing_things, open_host, close_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
