/* An image of a registry: chosen by Windows build, each part held to its digest, packed for ctr. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "pki/digest.h"
#include "services/artifacts/bundle_archive.h"
#include "services/artifacts/image.h"
#include "tests/memory/host_memory.h"
#include "tests/memory/http_memory.h"

#define IMAGE "registry.k8s.io/pause:3.10.2"
#define BASE "https://registry.k8s.io/v2/pause/"
enum { PATHS_MAX = 48 };

/* What the registry has: URL -> text. */
static struct {
    char *urls[PATHS_MAX], *texts[PATHS_MAX];
    size_t count, asked;
    const char *realm; /* of the tokens it wants, or NULL */
    unsigned tokens;   /* that it gave; the newest alone is good */
    unsigned uses;     /* for how many requests one is good; 0: for ever */
    unsigned used;
} registry;
static struct host *host;

/* "t1", "t2", ... */
static void give_token(const struct http_request *request, struct http_response *ret) {
    assert_null(request->bearer_token);
    assert_string_equal(request->url,
                        "https://tokens.test/get?service=r&scope=repository:pause:pull");
    registry.used = 0;
    free(ret->body);
    ret->status = 200;
    ret->body = xasprintf("{\"token\":\"t%u\"}", ++registry.tokens);
    ret->body_len = strlen(ret->body);
}

static bool is_let_in(const struct http_request *request) {
    char token[16];

    (void)text_format(token, sizeof token, "t%u", registry.tokens);
    return !registry.realm || (registry.tokens && text_equal(request->bearer_token, token) &&
                               (!registry.uses || registry.used++ < registry.uses));
}

static int answer(void *context, const struct http_request *request, struct http_response *ret,
                  struct error *err) {
    (void)context, (void)err;
    registry.asked++;
    if (text_starts_with(request->url, "https://tokens.test/")) {
        give_token(request, ret);
        return 0;
    }
    if (text_equal(request->url, "https://elsewhere.test/layer")) {
        assert_null(request->bearer_token); /* which is the registry's alone */
    } else if (!is_let_in(request)) {
        ret->status = 401;
        ret->challenge = xasprintf("Bearer realm=\"%s\",service=\"r\"", registry.realm);
        return 0;
    }
    assert_true(request->follow_redirects);
    assert_non_null(strstr(request->accept, "application/vnd.oci.image.index.v1+json"));
    ret->status = 404;
    for (size_t i = 0; i < registry.count; i++) {
        if (text_equal(registry.urls[i], request->url)) {
            ret->status = 200;
            free(ret->body);
            ret->body = xstrdup(registry.texts[i]);
            ret->body_len = strlen(ret->body);
        }
    }
    return 0;
}

/* By its digest; the descriptor. */
static json_t *put(const char *kind, const char *text) {
    char hex[DIGEST_TEXT_MAX];

    digest_sha256(text, strlen(text), hex);
    registry.urls[registry.count] = xasprintf(BASE "%s/sha256:%s", kind, hex);
    registry.texts[registry.count++] = xstrdup(text);
    return json_pack("{s:s, s:s+, s:i}", "mediaType", "application/octet-stream", "digest",
                     "sha256:", hex, "size", (int)strlen(text));
}

static json_t *put_manifest(const char *os, const char *version, const char *layer) {
    json_t *manifest =
        json_pack("{s:i, s:o, s:[o, o]}", "schemaVersion", 2, "config", put("blobs", layer),
                  "layers", put("blobs", "the base"), put("blobs", layer));
    _cleanup_(freep) char *text = json_write(manifest);
    json_t *descriptor = put("manifests", text);

    json_object_set_new(
        descriptor, "platform",
        json_pack("{s:s, s:s, s:s*}", "os", os, "architecture", "amd64", "os.version", version));
    json_decref(manifest);
    return descriptor;
}

static void set_index(json_t *index) {
    registry.urls[registry.count] = xstrdup(BASE "manifests/3.10.2");
    registry.texts[registry.count++] = json_write(index);
    json_decref(index);
}

static int open_registry(void **state) {
    json_t *list = json_array();

    (void)state;
    memset(&registry, 0, sizeof registry);
    host = host_memory_new();
    json_array_append_new(list, put_manifest("linux", NULL, "linux"));
    json_array_append_new(list, put_manifest("windows", "10.0.20348.2340", "of 2022"));
    json_array_append_new(list, put_manifest("windows", "10.0.26100.1", "of 2025"));
    set_index(json_pack("{s:i, s:o}", "schemaVersion", 2, "manifests", list));
    return 0;
}

static int close_registry(void **state) {
    (void)state;
    for (size_t i = 0; i < registry.count; i++) {
        free(registry.urls[i]);
        free(registry.texts[i]);
    }
    host_free(host);
    return 0;
}

#define TAR "D:\\image.tar"

static int fetch(unsigned build, char **ret, size_t *ret_len, struct error *err) {
    struct http *http = http_memory_new(answer, NULL);
    const struct mirror from = {
        .host = host, .http = http, .limit_ms = 1, .follows_redirects = true};
    int result;

    registry.asked = 0;
    error_clear(err);
    result = image_fetch(&from, IMAGE, build, TAR, err);
    http_free(http);
    if (result == 0)
        assert_int_equal(host_read(host, TAR, 1 << 26, ret, ret_len, NULL), 0);
    return result;
}

static void assert_refused(enum error_kind kind, const char *why) {
    char *tar = NULL;
    size_t len;
    struct error err;

    assert_int_equal(fetch(20348, &tar, &len, &err), -1);
    assert_null(tar);
    if (err.kind != kind || !strstr(err.message, why))
        fail_msg("%d: %s", (int)err.kind, err.message);
    assert_int_equal(strncmp(err.message, "fetch image '" IMAGE "': ", 43), 0);
}

static json_t *read_json(const char *tar, size_t len, const char *path) {
    _cleanup_(freep) char *text = NULL;
    size_t text_len;
    struct error err = {0};
    json_t *json = NULL;

    if (bundle_archive_read(tar, len, path, 100000, &text, &text_len, &err) < 0 ||
        json_read(text, text_len, path, &json, &err) < 0)
        fail_msg("%s", err.message);
    return json;
}

/* The archive's index names the image and leads to the manifests of these builds alone. */
static void assert_holds(unsigned build, size_t images) {
    _cleanup_(freep) char *tar = NULL, *again = NULL, *path = NULL;
    _cleanup_json_ json_t *top = NULL, *list = NULL;
    size_t len, again_len;
    struct error err;

    assert_int_equal(host_remove(host, TAR, NULL), 0);
    if (fetch(build, &tar, &len, &err) < 0)
        fail_msg("%s", err.message);
    top = read_json(tar, len, "index.json");
    assert_string_equal(json_string_value(json_object_get(json_at(top, "manifests.0.annotations"),
                                                          "io.containerd.image.name")),
                        IMAGE);
    path = xasprintf("blobs/sha256/%s", json_text_at(top, "manifests.0.digest") + 7);
    list = read_json(tar, len, path);
    assert_int_equal(json_array_size(json_object_get(list, "manifests")), images);
    assert_int_equal(host_remove(host, TAR, NULL), 0);
    assert_int_equal(fetch(build, &again, &again_len, &err), 0);
    assert_int_equal(len, again_len);
    assert_memory_equal(tar, again, len);
}

static void images_are_chosen_by_build(void **state) {
    (void)state;
    assert_holds(20348, 1);
    assert_int_equal(registry.asked, 4); /* index, manifest, the base, its layer and config */
    assert_holds(26100, 1);
    assert_holds(0, 2);
    assert_holds(25398, 1); /* an annual channel runs the images of the server before it */
}

static void a_build_without_an_image(void **state) {
    char *tar = NULL;
    size_t len;
    struct error err;

    (void)state;
    assert_int_equal(fetch(17763, &tar, &len, &err), -1);
    assert_int_equal(err.kind, ERROR_ABSENT);
    assert_string_equal(err.message,
                        "fetch image '" IMAGE "': it has no image for Windows build 17763");
    assert_int_equal(fetch(2034, &tar, &len, &err), -1); /* a number, not its beginning */
}

/* ---- tokens ---- */

static void a_registry_that_wants_a_token(void **state) {
    (void)state;
    registry.realm = "https://tokens.test/get";
    assert_holds(20348, 1);
    assert_int_equal(registry.tokens, 2); /* assert_holds() fetches twice */
    assert_int_equal(registry.asked, 4 + 2);
}

/* One that is good for a few requests alone is got again, but not for ever. */
static void a_token_that_does_not_last(void **state) {
    char *tar = NULL;
    size_t len;
    struct error err;

    (void)state;
    registry.realm = "https://tokens.test/get";
    registry.uses = 2;
    assert_holds(20348, 1);
    registry.uses = 1; /* two manifests are asked for at once */
    assert_int_equal(fetch(0, &tar, &len, &err), -1);
    assert_int_equal(err.kind, ERROR_DENIED);
    assert_non_null(strstr(err.message, "access requires credentials"));
}

static void tokens_that_nobody_gives(void **state) {
    (void)state;
    registry.realm = "http://tokens.test/get";
    assert_refused(ERROR_UNTRUSTED, "is not got by https");
    assert_int_equal(registry.asked, 1);
    registry.realm = "https://elsewhere.test/get"; /* answers 401 itself */
    assert_refused(ERROR_DENIED, "gives no token without credentials");
    assert_int_equal(registry.tokens, 0);
}

/* ---- lies ---- */

/* Each part that is exchanged for another of its length, or cut, is refused. */
static void no_part_is_believed(void **state) {
    size_t refused = 0;

    (void)state;
    for (size_t i = 0; i + 1 < registry.count; i++) {
        char *text = registry.texts[i], *tar = NULL;
        size_t len;
        struct error err;

        text[0] ^= 1;
        assert_int_equal(host_remove(host, TAR, NULL), 0);
        if (fetch(0, &tar, &len, &err) < 0) {
            assert_int_equal(err.kind, ERROR_UNTRUSTED);
            refused++;
        }
        freep(&tar);
        text[0] ^= 1;
    }
    assert_true(refused >= 5);
}

static void replace_index(json_t *manifest) {
    free(registry.urls[--registry.count]);
    free(registry.texts[registry.count]);
    set_index(manifest);
}

static json_t *one(json_t *descriptor) {
    return json_pack("{s:[o]}", "manifests", descriptor);
}

static json_t *descriptor_of(const char *digest, json_int_t size) {
    return json_pack("{s:s, s:I, s:{s:s, s:s, s:s}}", "digest", digest, "size", size, "platform",
                     "os", "windows", "architecture", "amd64", "os.version", "10.0.20348.1");
}

static void hostile_indexes(void **state) {
    static const char hex[] =
        "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    json_t *many = json_array();

    (void)state;
    replace_index(json_pack("{s:i}", "schemaVersion", 2));
    assert_refused(ERROR_MALFORMED, "is not an image index");
    replace_index(one(descriptor_of("sha256:../../../../etc/passwd", 3)));
    assert_refused(ERROR_MALFORMED, "no usable digest");
    replace_index(one(descriptor_of("md5:abc", 3)));
    assert_refused(ERROR_MALFORMED, "no usable digest");
    replace_index(one(descriptor_of(hex, -1)));
    assert_refused(ERROR_MALFORMED, "no usable digest");
    replace_index(one(descriptor_of(hex, 1LL << 40)));
    assert_refused(ERROR_UNTRUSTED, "bytes, more than");
    replace_index(one(descriptor_of(hex, 3))); /* nowhere */
    assert_refused(ERROR_ABSENT, "no such file");
    for (int i = 0; i < 9; i++)
        json_array_append_new(many, descriptor_of(hex, 3));
    replace_index(json_pack("{s:o}", "manifests", many));
    assert_refused(ERROR_UNTRUSTED, "more than 8 images");
    replace_index(json_string("text"));
    assert_refused(ERROR_MALFORMED, "");
}

/* An index whose one image has this layer. */
static void set_layer(json_t *layer) {
    json_t *manifest = json_pack("{s:o, s:[o]}", "config", put("blobs", "c"), "layers", layer);
    _cleanup_(freep) char *text = json_write(manifest);
    json_t *index = put("manifests", text);

    set_index(one(descriptor_of(json_text_at(index, "digest"), (json_int_t)strlen(text))));
    json_decref(index); /* the later index counts */
    json_decref(manifest);
}

/* A layer that only its maker hands out comes from his address, and nowhere but by https. */
static void layers_of_others(void **state) {
    _cleanup_(freep) char *tar = NULL;
    json_t *layer = put("blobs", "of its maker");
    struct error err;
    size_t len;

    (void)state;
    text_set(&registry.urls[registry.count - 1], xstrdup("https://elsewhere.test/layer"));
    set_layer(json_deep_copy(layer));
    assert_refused(ERROR_ABSENT, "no such file");
    json_object_set_new(layer, "urls", json_pack("[s]", "http://elsewhere.test/layer"));
    set_layer(json_deep_copy(layer));
    assert_refused(ERROR_ABSENT, "no such file");
    json_object_set_new(layer, "urls", json_pack("[s]", "https://nowhere.test/layer"));
    set_layer(json_deep_copy(layer));
    assert_refused(ERROR_ABSENT, "the registry does not have a layer of another maker");
    json_object_set_new(layer, "urls", json_pack("[s]", "https://elsewhere.test/layer"));
    set_layer(layer);
    registry.realm = "https://tokens.test/get";
    if (fetch(20348, &tar, &len, &err) < 0)
        fail_msg("%s", err.message);
}

/* What another run has left is gone on with, and what it has wrong comes again. */
static void an_interrupted_one_goes_on(void **state) {
    _cleanup_(freep) char *whole = NULL, *left = NULL, *again = NULL;
    size_t len, again_len;
    struct error err;

    (void)state;
    assert_int_equal(fetch(20348, &whole, &len, &err), 0);
    assert_int_equal(registry.asked, 4);
    for (size_t cut = 0; cut < len; cut += 500) {
        assert_int_equal(host_write(host, TAR, whole, cut, HOST_PUBLIC, NULL), 0);
        freep(&again);
        if (fetch(20348, &again, &again_len, &err) < 0)
            fail_msg("cut at %zu: %s", cut, err.message);
        assert_int_equal(again_len, len);
        assert_memory_equal(again, whole, len);
    }
    assert_int_equal(fetch(20348, &left, &len, &err), 0);
    assert_int_equal(registry.asked, 3); /* no layer is asked for again */
    for (size_t at = 0; at < len; at += 97) {
        whole[at] ^= 1;
        assert_int_equal(host_write(host, TAR, whole, len, HOST_PUBLIC, NULL), 0);
        whole[at] ^= 1;
        freep(&again);
        if (fetch(20348, &again, &again_len, &err) < 0)
            fail_msg("wrong at %zu: %s", at, err.message);
        assert_int_equal(again_len, len);
        assert_memory_equal(again, whole, len);
    }
}

/* Where users may add files, one may have made the archive before: what its owner can change later
 * is not gone on with, though all in it is right. */
static void nothing_is_added_to_a_strangers_file(void **state) {
    _cleanup_(freep) char *whole = NULL, *again = NULL;
    size_t len, again_len;
    struct error err;

    (void)state;
    assert_int_equal(fetch(20348, &whole, &len, &err), 0);
    for (size_t cut = 0; cut <= len; cut += len / 4) {
        assert_int_equal(host_write(host, TAR, whole, cut, HOST_PUBLIC, NULL), 0);
        host_memory_give_to_user(host, TAR);
        if (fetch(20348, &again, &again_len, &err) == 0) {
            assert_int_equal(host_refuse_untrusted(host, TAR, NULL), 0);
            freep(&again);
            continue;
        }
        assert_int_equal(err.kind, ERROR_DENIED);
        assert_non_null(strstr(err.message, "'" TAR "' belongs to SRV\\eve"));
        assert_string_equal(err.hints[0], "cmd /c del /f \"" TAR "\"");
    }
}

/* What `docker push` makes of one image: a manifest, and no index. */
static void one_without_an_index(void **state) {
    static const char config[] = "{\"os\":\"windows\",\"architecture\":\"amd64\","
                                 "\"os.version\":\"10.0.20348.7\"}";
    _cleanup_(freep) char *tar = NULL, *text = NULL;
    json_t *manifest =
        json_pack("{s:o, s:[o]}", "config", put("blobs", config), "layers", put("blobs", "layer"));
    struct error err;
    size_t len;

    (void)state;
    text = json_write(manifest);
    json_decref(put("manifests", text));
    set_index(manifest);
    if (fetch(20348, &tar, &len, &err) < 0)
        fail_msg("%s", err.message);
    freep(&tar);
    assert_int_equal(fetch(26100, &tar, &len, &err), 0); /* which runs it, too */
    freep(&tar);
    assert_int_equal(fetch(17763, &tar, &len, &err), -1);
    assert_string_equal(err.message,
                        "fetch image '" IMAGE "': it has no image for Windows build 17763");
}

/* What stands under a digest's name has to be that, or nothing of it is believed. */
static void a_digest_in_the_name_is_held_to(void **state) {
    static const char *const says[] = {NULL, "has another digest"};
    _cleanup_(freep) char *index = xstrdup(registry.texts[registry.count - 1]);
    char hex[DIGEST_TEXT_MAX];
    struct http *http = http_memory_new(answer, NULL);
    const struct mirror from = {
        .host = host, .http = http, .limit_ms = 1, .follows_redirects = true};

    (void)state;
    json_decref(put("manifests", index));
    digest_sha256("another", strlen("another"), hex);
    registry.urls[registry.count] = xasprintf(BASE "manifests/sha256:%s", hex);
    registry.texts[registry.count++] = xstrdup(index);
    for (size_t i = 0; i < ARRAY_SIZE(says); i++) {
        const char *digest = strstr(registry.urls[registry.count - 2 + i], "sha256:");
        _cleanup_(freep) char *name = xasprintf("registry.k8s.io/pause@%s", digest);
        struct error err = {0};

        assert_int_equal(image_fetch(&from, name, 20348, TAR, &err), says[i] ? -1 : 0);
        assert_int_equal(err.kind, says[i] ? ERROR_UNTRUSTED : ERROR_NONE);
        assert_true(!says[i] || strstr(err.message, says[i]));
    }
    http_free(http);
}

int main(void) {
#define IMAGE_TEST(name) cmocka_unit_test_setup_teardown(name, open_registry, close_registry)
    const struct CMUnitTest tests[] = {
        IMAGE_TEST(images_are_chosen_by_build),
        IMAGE_TEST(a_build_without_an_image),
        IMAGE_TEST(a_registry_that_wants_a_token),
        IMAGE_TEST(a_token_that_does_not_last),
        IMAGE_TEST(tokens_that_nobody_gives),
        IMAGE_TEST(no_part_is_believed),
        IMAGE_TEST(hostile_indexes),
        IMAGE_TEST(layers_of_others),
        IMAGE_TEST(an_interrupted_one_goes_on),
        IMAGE_TEST(nothing_is_added_to_a_strangers_file),
        IMAGE_TEST(one_without_an_index),
        IMAGE_TEST(a_digest_in_the_name_is_held_to),
    };

    return cmocka_run_group_tests_name("image", tests, NULL, NULL);
}
