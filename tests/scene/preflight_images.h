/* Servers to which images are to come, of registries and in a bundle: for other builds, too large.
 */
#pragma once

#include "tests/scene/preflight_scene.h"

#include "services/artifacts/bundle_archive.h"
#include "tests/scene/image_archive.h"

/* SHA-256 of "{}". */
#define EMPTY_SHA256 "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"

/* Of 20 GB, upon a base. */
#define IMAGE_LAYERS                                                                               \
    "\"layers\":[{\"digest\":\"sha256:1\",\"size\":1000},{\"digest\":\"sha256:2\",\"size\":"       \
    "20000000000}]"

/* A registry with an image of 2019 alone, one of 2022 under another tag, and one of 20 GB. */
static inline int answer_index(void *context, const struct http_request *request,
                               struct http_response *ret, struct error *err) {
    static const char manifest[] = "{" IMAGE_LAYERS "}";
    const char *build = strstr(request->url, "ltsc2022") ? "20348" : "17763";
    char sha256[DIGEST_TEXT_MAX];

    if (!strstr(request->url, "/v2/"))
        return scene_answer(context, request, ret, err);
    digest_sha256(manifest, strlen(manifest), sha256);
    ret->status = strstr(request->url, "/none/") ? 404 : 200;
    if (strstr(request->url, sha256))
        ret->body = xstrdup(manifest);
    else if (strstr(request->url, "large"))
        ret->body = xasprintf("{\"manifests\":[{\"digest\":\"sha256:%s\",\"size\":%zu,"
                              "\"platform\":{\"os\":\"windows\",\"architecture\":\"amd64\","
                              "\"os.version\":\"10.0.20348.1\"}}]}",
                              sha256, strlen(manifest));
    else if (strstr(request->url, "single"))
        ret->body = xstrdup(manifest);
    else
        ret->body = xasprintf("{\"manifests\":[{\"digest\":\"sha256:%s\",\"size\":2,\"platform\":{"
                              "\"os\":\"windows\",\"architecture\":\"amd64\","
                              "\"os.version\":\"10.0.%s.1\"}}]}",
                              EMPTY_SHA256, build);
    if (strstr(request->url, EMPTY_SHA256))
        text_set(&ret->body, xstrdup("{}"));
    ret->body_len = strlen(ret->body);
    return 0;
}

static inline void image(const char *name) {
    answer_with(&r, answer_index);
    freep(&r.options.source_base);
    text_list_add(&r.options.images, name);
}

static inline void image_of_2019(void) {
    image("a.example/x/app:7-ltsc2019");
}

static inline void image_of_2022(void) {
    image("a.example/x/app:ltsc2022");
}

static inline void large_image(void) {
    host_memory_set_free_space(r.host, 119000000000);
    image("a.example/x/large:1");
}

static inline void large_image_alone(void) {
    host_memory_set_free_space(r.host, 60000000000);
    image("a.example/x/single:1");
}

/* Layers that images share are there once. */
static inline void large_image_that_fits(void) {
    host_memory_set_free_space(r.host, 121000000000);
    image("a.example/x/large:1");
    image("a.example/x/large:2");
}

static inline void large_image_that_is_prepared(void) {
    host_memory_set_free_space(r.host, 1000);
    image("a.example/x/large:1");
    put("C:\\ProgramData\\winjoin\\prepared.json", "{\"images\":[\"a.example/x/large:1\"]}");
}

static inline void bring(const char *name, const char *platform, const char *config) {
    image_bundle_put(r.host, name, platform, config, IMAGE_LAYERS);
    text_set(&r.options.bundle, xstrdup("D:\\b"));
}

#define PLATFORM(build)                                                                            \
    ",\"platform\":{\"os\":\"windows\",\"architecture\":\"amd64\",\"os.version\":\"10.0." build    \
    ".7\"}"

static inline void brought_of_2019(void) {
    bring("a.example/x/app:7-ltsc2019", PLATFORM("17763"), "{}");
}

/* Its archive has more than what this build unpacks: all of it is copied, and stored. */
static inline void brought_with_other_builds(void) {
    host_memory_set_free_space(r.host, 10000);
    image_bundle_put(r.host, "a.example/x/app:7", PLATFORM("20348"), "{}",
                     "\"layers\":[{\"digest\":\"sha256:1\",\"size\":10}]");
    text_set(&r.options.bundle, xstrdup("D:\\b"));
}

static inline void brought_with_other_builds_and_fits(void) {
    brought_with_other_builds();
    host_memory_set_free_space(r.host, 11000);
}

static inline void sandbox_of_2019(void) {
    brought_of_2019();
    image_bundle_is_sandbox(r.host);
}

/* The same as a .zip. */
static inline void sandbox_of_2019_in_a_zip(void) {
    struct bundle_archive_file files[] = {{.path = "winjoin.lock"}, {.path = "images/own.tar"}};
    char *data[ARRAY_SIZE(files)] = {0};
    _cleanup_(freep) char *zip = NULL;
    size_t len;

    sandbox_of_2019();
    assert_int_equal(host_read(r.host, "D:\\b\\winjoin.lock", 65536, &data[0], &files[0].len, NULL),
                     0);
    assert_int_equal(
        host_read(r.host, "D:\\b\\images\\own.tar", 65536, &data[1], &files[1].len, NULL), 0);
    for (size_t i = 0; i < ARRAY_SIZE(files); i++)
        files[i].data = data[i];
    assert_int_equal(bundle_archive_make(files, ARRAY_SIZE(files), &zip, &len, NULL), 0);
    assert_int_equal(host_write(r.host, "D:\\b.zip", zip, len, HOST_PUBLIC, NULL), 0);
    for (size_t i = 0; i < ARRAY_SIZE(files); i++)
        free(data[i]);
    text_set(&r.options.bundle, xstrdup("D:\\b.zip"));
}

static inline void brought_of_2025_by_its_configuration(void) {
    bring("a.example/x/app:multi", "",
          "{\"os\":\"windows\",\"architecture\":\"amd64\",\"os.version\":\"10.0.26100.1\"}");
}

static inline void brought_of_2022(void) {
    bring("a.example/x/app:7-ltsc2022", PLATFORM("20348"), "{}");
}

static inline void brought_that_is_odd(void) {
    bring("a.example/x/app:7", "", "no JSON");
}

static inline void brought_and_large(void) {
    host_memory_set_free_space(r.host, 119000000000);
    brought_of_2022();
}

static inline void brought_and_fits(void) {
    host_memory_set_free_space(r.host, 121000000000);
    brought_of_2022();
}

/* What passes is on C:, what stays on the other drive: the larger part. */
static inline void brought_to_another_drive(void) {
    put("C:\\etc\\containerd\\conf.d\\root.toml", "version = 3\nroot = 'D:\\images'\n");
    host_memory_set_free_space(r.host, 69000000000);
    brought_of_2022();
}

static inline void brought_to_another_drive_that_fits(void) {
    brought_to_another_drive();
    host_memory_set_free_space(r.host, 71000000000);
}

static inline void image_of_docker(void) {
    image("docker.io/none/app");
}

static inline void image_of_nobody(void) {
    image("a.example/none/app");
}
