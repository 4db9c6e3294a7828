/* Upstream's releases: where each program is, its digest in every form, what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "services/artifacts/bundle_archive.h"
#include "services/artifacts/catalog.h"
#include "tests/memory/host_memory.h"
#include "tests/memory/http_memory.h"
#include "tests/scene/program_image.h"

#define SHA_ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define SHA_ABD "a52d159f262b2c6ddb724a61840befc36eb30c88877a4030b65cbe86298449c9"
#define K8S "https://dl.k8s.io/release/v1.37.1/bin/windows/amd64/"
#define CONTAINERD                                                                                 \
    "https://github.com/containerd/containerd/releases/download/v2.4.2/"                           \
    "containerd-2.4.2-windows-amd64.tar.gz"

struct file {
    const char *url, *data;
    size_t len;
};
struct scene {
    struct file files[8];
    size_t count;
    char asked[8][160];
    unsigned requests;
    const char *catalog;
    struct mirror from;
    struct error err;
};

static int answer(void *context, const struct http_request *request, struct http_response *ret,
                  struct error *err) {
    struct scene *s = context;

    (void)err;
    assert_true(request->follow_redirects);
    if (s->requests < ARRAY_SIZE(s->asked))
        assert_int_equal(text_format(s->asked[s->requests], sizeof s->asked[0], "%s", request->url),
                         0);
    s->requests++;
    ret->status = 404;
    ret->retry_after = -1;
    ret->body = xstrdup("");
    for (size_t i = 0; i < s->count; i++)
        if (text_equal(s->files[i].url, request->url)) {
            free(ret->body);
            ret->status = 200;
            ret->body_len = s->files[i].len ? s->files[i].len : strlen(s->files[i].data);
            ret->body = xmemdup(s->files[i].data, ret->body_len);
        }
    return 0;
}

static int open_scene(void **state) {
    struct scene *s = xcalloc(1, sizeof *s);

    s->from = (struct mirror){.host = host_memory_new(),
                              .http = http_memory_new(answer, s),
                              .follows_redirects = true,
                              .limit_ms = 1000};
    *state = s;
    return 0;
}

static int close_scene(void **state) {
    struct scene *s = *state;

    http_free(s->from.http);
    host_free(s->from.host);
    free(s);
    return 0;
}

static void serve(struct scene *s, const char *url, const char *data, size_t len) {
    s->files[s->count++] = (struct file){url, data, len};
}

static void each_program_has_its_place(void **state) {
    static const struct {
        const char *name, *version, *path, *member;
    } rows[] = {
        {"kubelet", "v1.37.1", "dl.k8s.io/release/v1.37.1/bin/windows/amd64/kubelet.exe", NULL},
        {"kube-proxy", "v1.37.1", "dl.k8s.io/release/v1.37.1/bin/windows/amd64/kube-proxy.exe",
         NULL},
        {"containerd-shim-runhcs-v1", "v2.4.2", CONTAINERD + 8,
         "bin/containerd-shim-runhcs-v1.exe"},
        {"win-bridge", "v1.9.1",
         "github.com/containernetworking/plugins/releases/download/v1.9.1/"
         "cni-plugins-windows-amd64-v1.9.1.tgz",
         "win-bridge.exe"},
        {"flanneld", "v0.28.4",
         "github.com/flannel-io/flannel/releases/download/v0.28.4/flanneld.exe", NULL},
    };
    struct text_list names = {0};
    struct artifacts found = {0};
    struct artifact_target target;
    _cleanup_(catalog_freep) struct catalog *catalog = NULL;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        text_list_add(&names, rows[i].name);
    text_list_add(&names, "no-such-program");
    assert_int_equal(catalog_read(NULL, 0, "own", &catalog, NULL), 0);
    catalog_artifacts(catalog, "v1.37.1+k3s1", &names, &found);
    assert_int_equal(found.count, ARRAY_SIZE(rows));
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        assert_string_equal(found.items[i].name, rows[i].name);
        assert_string_equal(found.items[i].version, rows[i].version);
        assert_string_equal(found.items[i].path, rows[i].path);
        assert_true(text_equal(found.items[i].member, rows[i].member));
        assert_true(artifact_target_find(rows[i].name, &target));
        assert_string_equal(found.items[i].target, target.target);
    }
    artifacts_free(&found);
    catalog_artifacts(catalog, "1.36.4", &(struct text_list){.items = &names.items[0], .count = 1},
                      &found);
    assert_string_equal(found.items[0].path,
                        "dl.k8s.io/release/v1.36.4/bin/windows/amd64/kubelet.exe");
    artifacts_free(&found);
    text_list_free(&names);
}

static void digests_in_every_form(void **state) {
    static const struct {
        const char *text;
        enum error_kind kind; /* ERROR_NONE: SHA_ABC is found */
    } rows[] = {
        {SHA_ABC, ERROR_NONE},
        {SHA_ABC "\n", ERROR_NONE},
        {SHA_ABC "  x.exe\n", ERROR_NONE},
        {SHA_ABC " *x.exe\r\n", ERROR_NONE},
        {SHA_ABC "  ./out/x.exe", ERROR_NONE},
        {"BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD", ERROR_NONE},
        {SHA_ABD "  y.exe\n" SHA_ABC "  x.exe\n", ERROR_NONE},
        {"{\"assets\":[{\"name\":\"y.exe\"},{\"name\":\"x.exe\",\"digest\":\"sha256:" SHA_ABC
         "\"}]}",
         ERROR_NONE},
        {SHA_ABD "  y.exe\n", ERROR_ABSENT},
        {SHA_ABD "  xx.exe\n", ERROR_ABSENT},
        {"{\"assets\":[{\"name\":\"x.exe\",\"digest\":null}]}", ERROR_ABSENT},
        {"{\"assets\":[{\"name\":\"x.exe\",\"digest\":\"sha512:" SHA_ABC "\"}]}", ERROR_ABSENT},
        {"{\"assets\":7}", ERROR_ABSENT},
        {"{", ERROR_MALFORMED},
        {"", ERROR_MALFORMED},
        {"<html>not found</html>", ERROR_MALFORMED},
        {"ba7816bf", ERROR_MALFORMED},
        {SHA_ABC "0", ERROR_MALFORMED},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        char digest[DIGEST_TEXT_MAX] = "";
        struct error err = {0};
        int result =
            upstream_digest_read(rows[i].text, strlen(rows[i].text), "x.exe", digest, &err);

        if (err.kind != rows[i].kind || (result == 0) != (err.kind == ERROR_NONE) ||
            (result == 0 && !text_equal(digest, SHA_ABC)))
            fail_msg("row %zu: %d %s", i, (int)err.kind, digest);
    }
}

static struct bundle *open_bundle(struct scene *s, const char *lock, const char *a, const char *b) {
    struct text_list names = {0};
    struct bundle *bundle = NULL;

    text_list_add(&names, a);
    if (b)
        text_list_add(&names, b);
    assert_int_equal(bundle_open_upstream(&s->from, &names,
                                          &(struct bundle_choice){"v1.37.1", s->catalog, lock},
                                          &bundle, &s->err),
                     0);
    text_list_free(&names);
    return bundle;
}

static void the_published_digest_counts(void **state) {
    struct scene *s = *state;
    struct bundle *bundle = open_bundle(s, NULL, "kubelet", "kube-proxy");
    const struct artifact *kubelet = &bundle_artifacts(bundle)->items[0];

    serve(s, K8S "kubelet.exe", "abc", 0);
    serve(s, K8S "kubelet.exe.sha256", SHA_ABC, 0);
    serve(s, K8S "kube-proxy.exe", "abc", 0);
    serve(s, K8S "kube-proxy.exe.sha256", SHA_ABD, 0);
    assert_string_equal(kubelet->sha256, "");
    assert_int_equal(upstream_check(bundle_mirror(bundle), bundle_artifacts(bundle), &s->err), 0);
    assert_int_equal(s->requests, 2);
    assert_string_equal(s->asked[0], K8S "kubelet.exe.sha256");
    assert_string_equal(s->asked[1], K8S "kube-proxy.exe.sha256");
    assert_int_equal(bundle_verify(bundle, NULL, &s->err), -1);
    assert_int_equal(s->err.kind, ERROR_UNTRUSTED);
    assert_string_equal(s->err.message, "artifact 'kube-proxy': verify '" K8S
                                        "kube-proxy.exe': its SHA-256 is " SHA_ABC
                                        ", the published one is " SHA_ABD);
    assert_string_equal(kubelet->sha256, SHA_ABC);
    assert_int_equal(kubelet->size, 3);
    bundle_freep(&bundle);
}

static int create_zip(struct scene *s, struct bundle *bundle, const char *path,
                      struct artifacts *ret) {
    const struct bundle_wants none = {.images = &(struct text_list){0}};
    struct artifacts images = {0};

    return bundle_create_from(s->from.host, bundle, &none, path, ret, &images, &s->err);
}

/* With the version and the digest that were published; what is no program is in no bundle. */
static void a_bundle_of_what_is_published(void **state) {
    struct scene *s = *state;
    struct bundle *bundle = open_bundle(s, NULL, "kubelet", NULL), *made = NULL;
    _cleanup_(freep) char *image = image_make("mod\tk8s.io/kubernetes\tv1.37.1\th1:x\n");
    _cleanup_(artifacts_free) struct artifacts artifacts = {0};
    char sha256[DIGEST_TEXT_MAX];

    digest_sha256(image, IMAGE_SIZE, sha256);
    serve(s, K8S "kubelet.exe.sha256", sha256, 0);
    serve(s, K8S "kubelet.exe", image, IMAGE_SIZE);
    if (create_zip(s, bundle, "C:\\b.zip", &artifacts) < 0)
        fail_msg("%s", s->err.message);
    assert_int_equal(artifacts.count, 1);
    bundle_freep(&bundle);
    assert_int_equal(bundle_open(s->from.host, "C:\\b.zip", NULL, &made, &s->err), 0);
    assert_int_equal(bundle_verify(made, NULL, &s->err), 0);
    assert_int_equal(bundle_artifacts(made)->count, 1);
    assert_string_equal(bundle_artifacts(made)->items[0].name, "kubelet");
    assert_string_equal(bundle_artifacts(made)->items[0].version, "v1.37.1");
    assert_string_equal(bundle_artifacts(made)->items[0].sha256, sha256);
    bundle_freep(&made);
    s->count = 0;
    serve(s, K8S "kubelet.exe.sha256", SHA_ABC, 0);
    serve(s, K8S "kubelet.exe", "abc", 0);
    bundle = open_bundle(s, NULL, "kubelet", NULL);
    assert_int_equal(create_zip(s, bundle, "C:\\c.zip", &artifacts), -1);
    assert_int_equal(s->err.kind, ERROR_MALFORMED);
    assert_int_equal(host_file_type(s->from.host, "C:\\c.zip"), HOST_ABSENT);
    bundle_freep(&bundle);
}

static void what_is_not_published(void **state) {
    struct scene *s = *state;
    struct bundle *bundle = open_bundle(s, NULL, "kubelet", NULL);

    assert_int_equal(upstream_check(bundle_mirror(bundle), bundle_artifacts(bundle), &s->err), -1);
    assert_int_equal(s->err.kind, ERROR_ABSENT);
    assert_int_equal(bundle_verify(bundle, NULL, &s->err), -1);
    assert_int_equal(s->err.kind, ERROR_ABSENT);
    assert_int_equal(s->requests, 2); /* no file whose digest is not known */
    bundle_freep(&bundle);
}

/* containerd's archive holds three programs. */
static void an_archive_is_fetched_once(void **state) {
    static const struct bundle_archive_file files[] = {
        {"bin/containerd.exe", "abc", 3}, {"bin/containerd-shim-runhcs-v1.exe", "abd", 3}};
    struct scene *s = *state;
    struct bundle *bundle = open_bundle(s, NULL, "containerd", "containerd-shim-runhcs-v1");
    _cleanup_(freep) char *data = NULL, *lock = NULL;
    char digest[DIGEST_TEXT_MAX];
    size_t len;

    assert_int_equal(bundle_archive_make(files, 2, &data, &len, &s->err), 0);
    digest_sha256(data, len, digest);
    serve(s, CONTAINERD, data, len);
    serve(s, CONTAINERD ".sha256sum", digest, 0);
    assert_int_equal(bundle_verify(bundle, NULL, &s->err), 0);
    assert_int_equal(s->requests, 2);
    assert_string_equal(bundle_artifacts(bundle)->items[1].sha256, SHA_ABD);
    lock = artifact_lock_make(bundle_artifacts(bundle), NULL);
    assert_non_null(strstr(lock, "windows-amd64.tar.gz/bin/containerd.exe\""));
    bundle_freep(&bundle);

    /* pinned by the lock that was written: no digest is asked for, and its version counts */
    assert_int_equal(
        host_write(s->from.host, "C:\\winjoin.lock", lock, strlen(lock), HOST_PUBLIC, NULL), 0);
    s->requests = 0;
    bundle = open_bundle(s, "C:\\winjoin.lock", "containerd", NULL);
    assert_int_equal(bundle_artifacts(bundle)->count, 1);
    assert_int_equal(bundle_verify(bundle, NULL, &s->err), 0);
    assert_int_equal(s->requests, 1);
    bundle_freep(&bundle);
    lock[(size_t)(strstr(lock, SHA_ABC) - lock)] = '0';
    assert_int_equal(
        host_write(s->from.host, "C:\\winjoin.lock", lock, strlen(lock), HOST_PUBLIC, NULL), 0);
    bundle = open_bundle(s, "C:\\winjoin.lock", "containerd", NULL);
    assert_int_equal(bundle_verify(bundle, NULL, &s->err), -1);
    assert_int_equal(s->err.kind, ERROR_UNTRUSTED);
    bundle_freep(&bundle);
}

static void archives_that_are_refused(void **state) {
    static const struct bundle_archive_file traverses[] = {{"bin/containerd.exe", "abc", 3},
                                                           {"../x", "abc", 3}},
                                            lacks[] = {{"bin/other.exe", "abc", 3}};
    const struct {
        const struct bundle_archive_file *files;
        size_t count;
        enum error_kind kind;
    } rows[] = {{traverses, 2, ERROR_UNTRUSTED}, {lacks, 1, ERROR_ABSENT}};
    struct scene *s = *state;

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct bundle *bundle = open_bundle(s, NULL, "containerd", NULL);
        _cleanup_(freep) char *data = NULL;
        char digest[DIGEST_TEXT_MAX];
        size_t len;

        assert_int_equal(bundle_archive_make(rows[i].files, rows[i].count, &data, &len, &s->err),
                         0);
        digest_sha256(data, len, digest);
        s->count = 0;
        serve(s, CONTAINERD, data, len);
        serve(s, CONTAINERD ".sha256sum", digest, 0);
        assert_int_equal(bundle_verify(bundle, NULL, &s->err), -1);
        assert_int_equal(s->err.kind, rows[i].kind);
        bundle_freep(&bundle);
    }
}

static void a_proxy_stands_before_the_hosts(void **state) {
    struct scene *s = *state;
    struct bundle *bundle;

    s->from.url = "https://proxy.test/up/";
    serve(s, "https://proxy.test/up/dl.k8s.io/release/v1.37.1/bin/windows/amd64/kubelet.exe.sha256",
          SHA_ABC, 0);
    bundle = open_bundle(s, NULL, "kubelet", NULL);
    assert_int_equal(upstream_check(bundle_mirror(bundle), bundle_artifacts(bundle), &s->err), 0);
    bundle_freep(&bundle);
}

#define RELEASE "apiVersion: winjoin.io/v1alpha1\nkind: Catalog\nreleases:\n- name: mine\n"

static void a_catalog_moves_addresses_alone(void **state) {
    static const char text[] = RELEASE "  version: v9\n  path: m.test/{n}/{name}.bin\n"
                                       "  digest: m.test/{v}.sum\n  programs: [kubelet]\n";
    struct scene *s = *state;
    struct bundle *bundle;

    assert_int_equal(
        host_write(s->from.host, "C:\\catalog.yaml", text, sizeof text - 1, HOST_PUBLIC, NULL), 0);
    s->catalog = "C:\\catalog.yaml";
    bundle = open_bundle(s, NULL, "kubelet", "kube-proxy");
    assert_int_equal(bundle_artifacts(bundle)->count, 1);
    serve(s, "https://m.test/9/kubelet.bin", "abc", 0);
    serve(s, "https://m.test/v9.sum", SHA_ABD "  kubelet.bin", 0);
    assert_int_equal(bundle_verify(bundle, NULL, &s->err), -1);
    assert_int_equal(s->err.kind, ERROR_UNTRUSTED);
    s->files[1].data = SHA_ABC;
    assert_int_equal(bundle_verify(bundle, NULL, &s->err), 0);
    bundle_freep(&bundle);
}

static void catalogs_that_are_refused(void **state) {
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"{", "line 2"},
        {"kind: Catalog\n", "it is not a Catalog of winjoin.io/v1alpha1"},
        {"apiVersion: winjoin.io/v1alpha1\nkind: Catalog\n", "it has no releases"},
        {RELEASE "  x: y\n", "line 5 column 3: unknown field \"releases[0].x\""},
        {RELEASE "  path: a/b\n  programs: [kubelet]\n", "releases[0] mine: digest must be"},
        {RELEASE "  path: https://a/b\n  digest: a/b\n  programs: [kubelet]\n", "path must be"},
        {RELEASE "  path: a/../b\n  digest: a/b\n  programs: [kubelet]\n", "path must be"},
        {RELEASE "  path: a/b?c\n  digest: a/b\n  programs: [kubelet]\n", "path must be"},
        {RELEASE "  path: a/{x}\n  digest: a/b\n  programs: [kubelet]\n", "path must be"},
        {RELEASE "  path: '{name}/a'\n  digest: a/b\n  programs: [kubelet]\n", "path must be"},
        {RELEASE "  path: a\n  digest: a/b\n  programs: [kubelet]\n", "path must be"},
        {RELEASE "  path: a/b\n  digest: a/b\n", "give either programs or members"},
        {RELEASE "  path: a/b\n  digest: a/b\n  programs: [kubelet]\n  members: {ctr: c}\n",
         "give either programs or members"},
        {RELEASE "  path: a/b\n  digest: a/b\n  programs: [cmd]\n", "'cmd' is not a program"},
        {RELEASE "  path: a/b\n  digest: a/b\n  programs: [ctr, ctr]\n",
         "'ctr' is in the catalog twice"},
        {RELEASE "  path: a/b\n  digest: a/b\n  members: {ctr: ../c}\n",
         "leads out of the archive"},
        {RELEASE "  version: a/b\n  path: a/b\n  digest: a/b\n  programs: [ctr]\n",
         "version 'a/b' is not usable"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct catalog *catalog = NULL;
        struct error err = {0};

        assert_int_equal(catalog_read(rows[i].text, strlen(rows[i].text), "C", &catalog, &err), -1);
        if (!strstr(err.message, rows[i].says) || !text_starts_with(err.message, "C: "))
            fail_msg("row %d: %s", (int)i, err.message);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_scene, close_scene)
int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(each_program_has_its_place),      TEST(digests_in_every_form),
        TEST(the_published_digest_counts),     TEST(what_is_not_published),
        TEST(a_bundle_of_what_is_published),   TEST(an_archive_is_fetched_once),
        TEST(archives_that_are_refused),       TEST(a_proxy_stands_before_the_hosts),
        TEST(a_catalog_moves_addresses_alone), TEST(catalogs_that_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
