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

/* A registry whose tags are each for one build. */
static unsigned layers_asked;
static int answer(void *, const struct http_request *request, struct http_response *ret,
                  struct error *) {
    static const char sha256[] = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";

    ret->status = 200;
    layers_asked += strstr(request->url, "/blobs/") != NULL;
    ret->body =
        strstr(request->url, sha256)
            ? xstrdup("{}")
            : xasprintf("{\"manifests\":[{\"digest\":\"sha256:%s\",\"size\":2,\"platform\":{"
                        "\"os\":\"windows\",\"architecture\":\"amd64\",\"os.version\":"
                        "\"10.0.%s.1\"}}]}",
                        sha256, strstr(request->url, "ltsc2025") ? "26100" : "20348");
    ret->body_len = strlen(ret->body);
    return 0;
}

/* Said before anything is fetched, with the tag that fits where the registry has one. */
static void images_of_another_build(void **state) {
    static const char *const hints[][2] = {
        {"r.example/a:7-ltsc2025", "use --image r.example/a:7-ltsc2022"},
        {"r.example/ltsc2025:1", ""}};

    (void)state;
    text_list_add(&program->words, "create");
    text_list_add(&program->words, "D:\\b");
    http_free(program->http);
    program->http = http_memory_new(answer, NULL);
    program->options.join.kubernetes_version = xstrdup("v1.37.1");
    program->options.windows_build = 20348;
    for (size_t i = 0; i < ARRAY_SIZE(hints); i++) {
        _cleanup_(freep) char *says =
            xasprintf("%s is not for build 20348 of Windows, but for 10.0.26100.1", hints[i][0]);
        struct error err;

        text_list_free(&program->options.join.images);
        program->options.join.images = (struct text_list){0};
        text_list_add(&program->options.join.images, hints[i][0]);
        assert_int_equal(verb(verb_bundle, &err), -1);
        assert_int_equal(err.kind, ERROR_ABSENT);
        assert_string_equal(err.message, says);
        assert_string_equal(err.hints[0], hints[i][1]);
    }
    assert_int_equal(layers_asked, 0);
    assert_int_equal(host_file_type(program->host, "D:\\b"), HOST_ABSENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(images_of_another_build, open_program, close_program),
        cmocka_unit_test_setup_teardown(verified, open_program, close_program),
    };

    return cmocka_run_group_tests(tests, NULL, free_output);
}
