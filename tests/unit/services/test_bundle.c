/* Bundles made of a folder of programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "services/artifacts/artifacts.h"
#include "services/artifacts/bundle_archive.h"
#include "tests/memory/host_memory.h"
#include "tests/scene/program_image.h"

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

static void put_program(const char *path, const char *build_information) {
    _cleanup_(freep) char *image = image_make(build_information);
    assert_int_equal(host_write(host, path, image, IMAGE_SIZE, HOST_PUBLIC, NULL), 0);
}

static void zip_round_trip(void **state) {
    struct artifacts made = {0};
    struct bundle *bundle = NULL;
    struct artifacts_result result = {0};
    struct error err = {0};
    json_t *versions = json_pack("{s:s}", "win-bridge", "v9");
    (void)state;
    put_program("D:\\in\\kubelet.exe", "mod\tk8s.io/kubernetes\tv1.37.1\th1:x\n");
    put_program("D:\\in\\win-bridge.exe", "mod\tx\tv1.9.1\th1:x\n");
    put_program("D:\\in\\host-local.exe", NULL);
    put_program("D:\\far\\flanneld.exe", "mod\tx\tv0.28.4\th1:x\n");
    assert_int_equal(host_link(host, "D:\\in\\flanneld.exe", "D:\\far\\flanneld.exe", NULL), 0);
    put("D:\\in\\readme.txt", "no");
    if (bundle_create(host, "D:\\in", "D:\\out.zip", versions, &made, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(made.count, 4);
    assert_string_equal(made.items[0].version, "v1.37.1");
    assert_string_equal(made.items[1].version, "v0.28.4");
    assert_string_equal(made.items[2].version, "v9");
    assert_string_equal(made.items[3].version, "unknown");
    assert_int_equal(bundle_open(host, "D:\\out.zip", NULL, &bundle, &err), 0);
    assert_int_equal(bundle_verify(bundle, NULL, &err), 0);
    assert_int_equal(bundle_check_closed(bundle, &err), 0);
    assert_int_equal(artifacts_ensure(host, bundle, NULL, NULL, NULL, &result, &err), 0);
    assert_int_equal(result.installed, 4);
    assert_int_equal(host_file_type(host, "C:\\opt\\cni\\bin\\win-bridge.exe"), HOST_FILE);
    bundle_freep(&bundle);
    artifacts_free(&made);
    json_decref(versions);
}

#define EMPTY_LOCK                                                                                 \
    "{\"apiVersion\":\"winjoin.io/v1alpha1\",\"kind\":\"BundleLock\",\"artifacts\":[]}"

static void more_than_the_lock_says(void **state) {
    const struct bundle_archive_file files[] = {{"winjoin.lock", EMPTY_LOCK, strlen(EMPTY_LOCK)},
                                                {"bin/extra.exe", "MZ", 2}};
    struct artifacts made = {0};
    struct bundle *bundle = NULL;
    struct error err = {0};
    char *zip = NULL;
    size_t len = 0;
    (void)state;
    assert_int_equal(bundle_archive_make(files, 2, &zip, &len, &err), 0);
    assert_int_equal(host_write(host, "D:\\more.zip", zip, len, HOST_PUBLIC, NULL), 0);
    free(zip);
    assert_int_equal(bundle_open(host, "D:\\more.zip", NULL, &bundle, &err), 0);
    assert_int_equal(bundle_verify(bundle, NULL, &err), 0); /* nothing of it is installed */
    assert_int_equal(bundle_check_closed(bundle, &err), -1);
    assert_int_equal(err.kind, ERROR_UNTRUSTED);
    assert_string_equal(err.message, "verify bundle: its lock does not name 'bin/extra.exe'");
    bundle_freep(&bundle);
    put_program("D:\\one\\kubelet.exe", "mod\tk8s.io/kubernetes\tv1.37.1\th1:x\n");
    assert_int_equal(bundle_create(host, "D:\\one", "D:\\one.zip", NULL, &made, &err), 0);
    assert_int_equal(bundle_open(host, "D:\\one.zip", NULL, &bundle, &err), 0);
    assert_int_equal(bundle_check_closed(bundle, &err), 0);
    bundle_freep(&bundle);
    artifacts_free(&made);
    put("D:\\in\\winjoin.lock", EMPTY_LOCK);
    put("D:\\in\\readme.txt", "a web server's");
    assert_int_equal(bundle_open(host, "D:\\in", NULL, &bundle, &err), 0);
    assert_int_equal(bundle_check_closed(bundle, &err), 0);
    bundle_freep(&bundle);
}

/* Known when it is opened, with winjoin's own lock or another. */
static void images_in_a_zip(void **state) {
    static const char lock[] =
        "{\"apiVersion\":\"winjoin.io/v1alpha1\",\"kind\":\"BundleLock\","
        "\"artifacts\":[],\"images\":[{\"name\":\"a.example/app:1\","
        "\"sha256\":\"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a\",\"size\":"
        "2,\"path\":\"a.tar\"}]}";
    static const char *const locks[] = {NULL, "D:\\images.lock"};

    (void)state;
    put("D:\\images.lock", lock);
    for (size_t i = 0; i < ARRAY_SIZE(locks); i++) {
        const char *text = locks[i] ? EMPTY_LOCK : lock;
        const struct bundle_archive_file files[] = {{"winjoin.lock", text, strlen(text)},
                                                    {"a.tar", "{}", 2}};
        struct bundle *bundle = NULL;
        struct error err = {0};
        _cleanup_(freep) char *zip = NULL;
        size_t len = 0;

        assert_int_equal(bundle_archive_make(files, 2, &zip, &len, &err), 0);
        assert_int_equal(host_write(host, "D:\\images.zip", zip, len, HOST_PUBLIC, NULL), 0);
        assert_int_equal(bundle_open(host, "D:\\images.zip", locks[i], &bundle, &err), -1);
        assert_int_equal(err.kind, ERROR_UNSUPPORTED);
        assert_string_equal(
            err.message, "bundle 'D:\\images.zip': it has images, and a .zip cannot bring these");
        assert_string_equal(err.hints[0], "unpack it into a folder, and name that folder");
    }
}

/* Its size is not known then, and it is no file of another digest. */
static void an_image_interrupted_at_its_beginning(void **state) {
    char sha256[DIGEST_TEXT_MAX];
    struct error err = {0};
    uint64_t size = 0;

    (void)state;
    put("D:\\a.tar", "{}");
    host_memory_interrupt(host);
    assert_int_equal(artifact_digest_file(host, "D:\\a.tar", NULL, sha256, &size, &err), -1);
    assert_int_equal(err.kind, ERROR_INTERRUPTED);
}

static void what_is_not_packed(void **state) {
    static const struct {
        const char *folder, *versions, *message, *hint;
        enum error_kind kind;
    } cases[] = {
        {"none", NULL, "pack folder 'D:\\none': no such folder", "", ERROR_ABSENT},
        {"other", NULL, "pack folder 'D:\\other': no node programs (kubelet.exe, ...) found in it",
         "", ERROR_ABSENT},
        {"in", NULL, "pack folder 'D:\\in': win-bridge.exe: it is not a Windows program", "",
         ERROR_MALFORMED},
        {"in", "{\"kublet\": \"v1\"}", "versions: 'kublet' is not a program of a node",
         "did you mean 'kubelet'?", ERROR_USAGE},
        {"in", "{\"sshd\": \"v1\"}", "versions: 'sshd' is not a program of a node", "",
         ERROR_USAGE},
        {"in", "[]", "versions: the file holds no JSON object", "", ERROR_USAGE},
        {"in", "{\"kubelet\": 1}", "versions: 'kubelet' has no usable version", "", ERROR_USAGE},
        {"in", "{\"kubelet\": \"a b\"}", "versions: 'kubelet' has no usable version", "",
         ERROR_USAGE},
        {"good", "{\"crictl\": \"v1\"}", "versions: the folder does not hold 'crictl'", "",
         ERROR_USAGE},
    };
    struct artifacts made = {0};
    (void)state;
    put_program("D:\\in\\kubelet.exe", NULL);
    put_program("D:\\good\\kubelet.exe", NULL);
    put("D:\\in\\win-bridge.exe", "#!/bin/sh\n");
    put("D:\\other\\readme.txt", "no");
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_(freep) char *folder = xasprintf("D:\\%s", cases[i].folder);
        _cleanup_json_ json_t *versions = NULL;
        struct error err = {0};
        if (cases[i].versions)
            assert_int_equal(
                json_read(cases[i].versions, strlen(cases[i].versions), "", &versions, &err), 0);
        assert_int_equal(bundle_create(host, folder, "D:\\o.zip", versions, &made, &err), -1);
        assert_string_equal(err.message, cases[i].message);
        assert_string_equal(err.hints[0], cases[i].hint);
        assert_int_equal(err.kind, cases[i].kind);
        assert_int_equal(host_file_type(host, "D:\\o.zip"), HOST_ABSENT);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(zip_round_trip, open_host, close_host),
        cmocka_unit_test_setup_teardown(what_is_not_packed, open_host, close_host),
        cmocka_unit_test_setup_teardown(images_in_a_zip, open_host, close_host),
        cmocka_unit_test_setup_teardown(an_image_interrupted_at_its_beginning, open_host,
                                        close_host),
        cmocka_unit_test_setup_teardown(more_than_the_lock_says, open_host, close_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
