/* The sandbox image that a bundle brought is given to containerd; without ctr it is told. */
#include "tests/scene/cri_scene.h"
#include "tests/scene/join_scene.h"

#include "join/phases/steps.h"
#include "join/programs/programs.h"
#include "tests/scene/image_archive.h"

#define IMAGE "C:\\k\\pause.tar"
#define CTR "C:\\Program Files\\containerd\\ctr.exe"
#define LINE                                                                                       \
    "run " CTR                                                                                     \
    " --address \\\\.\\pipe\\containerd-containerd --namespace k8s.io images import " IMAGE

static void put(struct run *r, const char *path) {
    assert_int_equal(host_write(r->host, path, "MZ", 2, HOST_PUBLIC, NULL), 0);
}

/* Warnings of the join; -1: it fails. */
static int join_with(struct run *r, const char *part, struct error *err) {
    struct join join = {.host = r->host, .http = r->http, .asked = &r->options};
    int found = 0, result;

    assert_int_equal(join_open(&join, err), 0);
    result = join_run(&join, err);
    for (size_t i = 0; i < join.progress.warnings.count; i++)
        found += strstr(join.progress.warnings.items[i], part) != NULL;
    join_close(&join);
    return result < 0 ? -1 : found;
}

static void is_imported(void **state) {
    struct error err = {0};
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    put(&r, IMAGE);
    put(&r, CTR);
    host_memory_set_program(r.host, "ctr.exe", 0, "unpacking registry.k8s.io/pause:3.10.2\n");
    assert_int_equal(join_with(&r, "is not imported", &err), 0);
    assert_non_null(strstr(host_memory_log(r.host), LINE));
    close_run(&r);
}

static void a_refusal_is_told(void **state) {
    struct error err = {0};
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    put(&r, IMAGE);
    put(&r, CTR);
    host_memory_set_program(r.host, "ctr.exe", 1, "ctr: unrecognized image format\r\nmore\n");
    assert_int_equal(join_with(&r, "", &err), -1);
    assert_int_equal(err.kind, ERROR_HOST);
    assert_string_equal(err.message,
                        "import '" IMAGE "': ctr ends with 1: ctr: unrecognized image format");
    close_run(&r);
}

/* Whoever may have looked before: what is imported runs in pods, and ctr as an administrator. */
static void nothing_of_a_stranger_is_imported(void **state) {
    static const char *const paths[] = {IMAGE, CTR};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
        struct error err = {0};
        struct join join;
        struct run r;

        open_run(&r, "overlay");
        put(&r, IMAGE);
        put(&r, CTR);
        host_memory_give_to_user(r.host, paths[i]);
        join = (struct join){.host = r.host, .http = r.http, .asked = &r.options};
        assert_int_equal(join_open(&join, &err), 0);
        assert_int_equal(bundle_images_import(&join, &err), -1);
        assert_int_equal(err.kind, ERROR_DENIED);
        assert_non_null(strstr(err.message, paths[i]));
        assert_null(strstr(host_memory_log(r.host), "run " CTR));
        join_close(&join);
        close_run(&r);
    }
}

static void without_ctr_it_waits(void **state) {
    struct error err = {0};
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    put(&r, IMAGE);
    assert_int_equal(join_with(&r, "'" IMAGE "' is not imported: '" CTR "' is missing", &err), 1);
    close_run(&r);
}

/* A bundle of one file; nothing of it is read before it is installed. */
static struct bundle *bundle_of(struct host *host, const char *name) {
    _cleanup_(freep) char *lock =
        xasprintf("{\"apiVersion\":\"winjoin.io/v1alpha1\",\"kind\":\"BundleLock\",\"artifacts\":[{"
                  "\"name\":\"%s\",\"version\":\"v1\",\"sha256\":\"%064d\",\"size\":2,"
                  "\"path\":\"bin/%s\"}]}",
                  name, 0, name);
    struct bundle *bundle = NULL;
    struct error err = {0};

    assert_int_equal(host_write(host, "D:\\b\\winjoin.lock", lock, strlen(lock), HOST_PUBLIC, NULL),
                     0);
    if (bundle_open(host, "D:\\b", NULL, &bundle, &err) < 0)
        fail_msg("%s", err.message);
    return bundle;
}

/* The bundle's has upstream's name, wherever the cluster takes its own images from. */
static void whose_image(void **state) {
    char repository[] = "r.example/k8s", version[] = "v1.37.1";
    struct join_found found = {
        .cluster.image_repository = repository, .kubelet_version = version, .facts.build = 20348};
    struct host *host = host_memory_new();
    char *image = programs_sandbox_image(host, &found);

    (void)state;
    assert_string_equal(image, "r.example/k8s/pause:3.10.2");
    free(image);
    found.bundle = bundle_of(host, "ctr");
    image = programs_sandbox_image(host, &found);
    assert_string_equal(image, "r.example/k8s/pause:3.10.2");
    free(image);
    bundle_freep(&found.bundle);
    found.bundle = bundle_of(host, "pause");
    image = programs_sandbox_image(host, &found);
    assert_string_equal(image, "registry.k8s.io/pause:3.10.2");
    free(image);
    bundle_freep(&found.bundle);
    found.bundle = NULL;
    assert_int_equal(host_write(host, IMAGE, "MZ", 2, HOST_PUBLIC, NULL), 0);
    image = programs_sandbox_image(host, &found);
    assert_string_equal(image, "registry.k8s.io/pause:3.10.2");
    free(image);
    found.options.sandbox_image = (char *)"own.example/pause:3.10.1"; /* --sandbox-image */
    image = programs_sandbox_image(host, &found);
    assert_string_equal(image, "own.example/pause:3.10.1");
    free(image);
    assert_null(programs_image_warning(host, &found));
    host_free(host);
}

#define OWN "r.example/app/own:ltsc2022"
#define OWN_LINE                                                                                   \
    "run " CTR " --address \\\\.\\pipe\\containerd-containerd --namespace k8s.io images import "   \
    "C:\\ProgramData\\winjoin\\image.tar"

/* What containerd has: ImageStatusResponse. */
static bool has_own;
static void answer_status(void *, const void *said, size_t len, struct text *answer) {
    _cleanup_(http2_request_free) struct http2_request request = {0};

    http2_request_read(said, len, &request);
    if (cri_scene_calls(&request, ":path: /runtime.v1.ImageService/ImageStatus\n"))
        cri_scene_add(answer, "\x0a\3\x0a\1x", has_own ? 5 : 0);
}

/* A folder with a lock that says of its one image what `sha256` is. */
static void put_own(struct run *r, const char *sha256) {
    _cleanup_(freep) char *lock = xasprintf(
        "{\"apiVersion\":\"winjoin.io/v1alpha1\",\"kind\":\"BundleLock\",\"artifacts\":[],"
        "\"images\":[{\"name\":\"" OWN "\",\"sha256\":\"%s\",\"size\":3,"
        "\"path\":\"images/own.tar\"}]}",
        sha256);

    assert_int_equal(
        host_write(r->host, "D:\\b\\winjoin.lock", lock, strlen(lock), HOST_PUBLIC, NULL), 0);
    assert_int_equal(host_write(r->host, "D:\\b\\images\\own.tar", "abc", 3, HOST_PUBLIC, NULL), 0);
    put(r, CTR);
    has_own = false;
    host_memory_set_pipe_answer(r->host, answer_status, NULL);
    text_set(&r->options.bundle, xstrdup("D:\\b"));
}

/* Proved, imported from a copy, and the copy goes. */
static void those_of_a_bundle_are_imported(void **state) {
    struct error err = {0};
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    put_own(&r, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    host_memory_set_program(r.host, "ctr.exe", 0, "unpacking\n");
    if (join_with(&r, "is not imported", &err) < 0)
        fail_msg("%s", err.message);
    assert_non_null(strstr(host_memory_log(r.host), OWN_LINE));
    assert_int_equal(host_file_type(r.host, "C:\\ProgramData\\winjoin\\image.tar"), HOST_ABSENT);
    close_run(&r);
    open_run(&r, "overlay"); /* one that is there is not imported again */
    put_own(&r, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    has_own = true;
    put(&r, "C:\\ProgramData\\winjoin\\image.tar"); /* of a run that was ended behind the import */
    if (join_with(&r, "is not imported", &err) < 0)
        fail_msg("%s", err.message);
    assert_null(strstr(host_memory_log(r.host), OWN_LINE));
    assert_int_equal(host_file_type(r.host, "C:\\ProgramData\\winjoin\\image.tar"), HOST_ABSENT);
    close_run(&r);
}

/* Before a program is written; preflight's rows alone know of images, and here is none. */
static void a_sandbox_image_of_another_build(void **state) {
    (void)state;
    for (int ignored = 0; ignored < 2; ignored++) {
        struct error err = {0};
        struct run r;

        open_run(&r, "overlay");
        image_bundle_put(
            r.host, "r.example/app:1", "",
            "{\"os\":\"windows\",\"architecture\":\"amd64\",\"os.version\":\"10.0.17763.1\"}",
            "\"layers\":[]");
        image_bundle_is_sandbox(r.host);
        put(&r, CTR);
        host_memory_set_program(r.host, "ctr.exe", 0, "unpacking\n");
        text_set(&r.options.bundle, xstrdup("D:\\b"));
        if (ignored)
            text_list_add(&r.options.ignore_preflight_errors, "bundleimages");
        assert_int_equal(join_with(&r, "", &err) < 0, !ignored);
        if (!ignored)
            assert_string_equal(
                err.message,
                "the bundle's image pause is not for build 20348 of Windows, but for 10.0.17763.1");
        assert_int_equal(host_file_type(r.host, IMAGE), ignored ? HOST_FILE : HOST_ABSENT);
        close_run(&r);
    }
}

/* With what helps, and without the copy. */
static void an_import_that_fails(void **state) {
    static const char *const rows[][2] = {
        {"ctr: write layer.tar: There is not enough space on the disk.", "make room on the disk"},
        {"ctr: image might be filtered out", "winjoin bundle create --windows-build 20348"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct error err = {0};
        struct run r;

        open_run(&r, "overlay");
        put_own(&r, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        host_memory_set_program(r.host, "ctr.exe", 1, rows[i][0]);
        assert_int_equal(join_with(&r, "", &err), -1);
        assert_string_equal(text_starts_with(err.message, "import image '" OWN "': ctr ends with 1")
                                ? ""
                                : err.message,
                            "");
        if (!strstr(err.hints[0], rows[i][1]))
            fail_msg("%s", err.hints[0]);
        assert_int_equal(host_file_type(r.host, "C:\\ProgramData\\winjoin\\image.tar"),
                         HOST_ABSENT);
        close_run(&r);
    }
}

static void one_that_was_changed_is_refused(void **state) {
    struct error err = {0};
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    put_own(&r, "aa7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_int_equal(join_with(&r, "", &err), -1);
    assert_int_equal(err.kind, ERROR_UNTRUSTED);
    assert_string_equal(err.message, "image '" OWN "': it is not what the lock says");
    assert_null(strstr(host_memory_log(r.host), OWN_LINE));
    assert_int_equal(host_file_type(r.host, "C:\\ProgramData\\winjoin\\image.tar"), HOST_ABSENT);
    close_run(&r);
}

static void nothing_is_imported_without_it(void **state) {
    struct error err = {0};
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    put(&r, CTR);
    assert_int_equal(join_with(&r, "imported", &err), 0);
    assert_null(strstr(host_memory_log(r.host), "ctr.exe --address"));
    close_run(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whose_image),
        cmocka_unit_test(is_imported),
        cmocka_unit_test(a_refusal_is_told),
        cmocka_unit_test(nothing_of_a_stranger_is_imported),
        cmocka_unit_test(without_ctr_it_waits),
        cmocka_unit_test(those_of_a_bundle_are_imported),
        cmocka_unit_test(an_import_that_fails),
        cmocka_unit_test(a_sandbox_image_of_another_build),
        cmocka_unit_test(one_that_was_changed_is_refused),
        cmocka_unit_test(nothing_is_imported_without_it),
    };

    return cmocka_run_group_tests_name("image_import", tests, NULL, NULL);
}
