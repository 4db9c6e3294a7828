/* The sandbox image that a bundle brought is given to containerd; without ctr it is told. */
#include "tests/scene/join_scene.h"

#include "join/programs/programs.h"

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
    bundle_free(found.bundle);
    found.bundle = bundle_of(host, "pause");
    image = programs_sandbox_image(host, &found);
    assert_string_equal(image, "registry.k8s.io/pause:3.10.2");
    free(image);
    bundle_free(found.bundle);
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
        cmocka_unit_test(without_ctr_it_waits),
        cmocka_unit_test(nothing_is_imported_without_it),
    };

    return cmocka_run_group_tests_name("image_import", tests, NULL, NULL);
}
