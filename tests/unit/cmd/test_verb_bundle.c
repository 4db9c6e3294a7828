/* winjoin bundle: what is wrong with one is said, and is no success. */
#include "tests/scene/program_scene.h"

/* A lock of one program, whose SHA-256 is that of "abc". */
#define LOCK                                                                                       \
    "{\"apiVersion\":\"winjoin.io/v1alpha1\",\"kind\":\"BundleLock\",\"artifacts\":[{\"name\":"    \
    "\"kubelet\",\"version\":\"v1.37.1\",\"path\":\"bin/kubelet.exe\",\"sha256\":"                 \
    "\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\",\"size\":3,"             \
    "\"target\":\"C:\\\\k\\\\kubelet.exe\"}]}"

static void verified(void **state) {
    struct error err;

    (void)state;
    put("D:\\b\\winjoin.lock", LOCK);
    put("D:\\b\\bin\\kubelet.exe", "abc");
    text_list_add(&program->words, "verify");
    text_list_add(&program->words, "D:\\b");
    if (verb(verb_bundle, &err) < 0)
        fail_msg("%s", err.message);
    assert_has(&out, "ok\n");
    put("D:\\b\\bin\\kubelet.exe", "abd");
    assert_int_equal(verb(verb_bundle, &err), -1);
    assert_int_equal(err.kind, ERROR_UNTRUSTED);
    assert_false(has(&out, "ok\n"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(verified, open_program, close_program),
    };

    return cmocka_run_group_tests(tests, NULL, free_output);
}
