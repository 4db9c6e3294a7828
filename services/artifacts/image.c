/* An image index, manifests and blobs of a registry, and the archive made of them. Nothing of it is
 * believed but the tag's index, which comes by https: all else has the digest that it names. */
#include "services/artifacts/image.h"

#include <ctype.h>

#include "pki/digest.h"
#include "services/artifacts/bundle_archive.h"
#include "services/artifacts/registry_token.h"

#define INDEX_TYPE "application/vnd.oci.image.index.v1+json"
#define ACCEPT                                                                                     \
    INDEX_TYPE ", application/vnd.docker.distribution.manifest.list.v2+json, "                     \
               "application/vnd.oci.image.manifest.v1+json, "                                      \
               "application/vnd.docker.distribution.manifest.v2+json"
#define LAYOUT "{\"imageLayoutVersion\":\"1.0.0\"}"
enum {
    IMAGES_MAX = 8,
    BLOBS_MAX = 128,
    MANIFEST_MAX = 1024 * 1024,
    BLOB_MAX = 512 * 1024 * 1024,
    SUM_MAX = 1024 * 1024 * 1024,
    OWN_FILES = 3, /* oci-layout, index.json and the index */
};

/* What is fetched, manifests first; files[i] has the digest at digests[i]. */
struct image {
    const struct mirror *from;
    char *host, *name; /* "registry.k8s.io", "pause" */
    json_t *list;      /* descriptors of the chosen manifests */
    struct mirror_file files[BLOBS_MAX];
    char *paths[BLOBS_MAX], digests[BLOBS_MAX][DIGEST_TEXT_MAX];
    long long sizes[BLOBS_MAX];
    size_t count;
    char *token; /* of the registry, which may want one; NULL: it did not */
};

static void image_free(struct image *image) {
    for (size_t i = 0; i < image->count; i++) {
        free(image->files[i].data);
        free(image->paths[i]);
    }
    json_decref(image->list);
    free_all(image->token, image->host, image->name);
}

/* One more that a descriptor names; the same blob once. */
static int add(struct image *image, const char *kind, const json_t *descriptor, long long max,
               struct error *err) {
    const char *digest = json_text_at(descriptor, "digest");
    const char *hex = digest && text_starts_with(digest, "sha256:") ? digest + 7 : "";
    long long size = json_number_at(descriptor, "size", -1);
    size_t at = image->count;

    if (strlen(hex) != DIGEST_TEXT_MAX - 1 || hex[strspn(hex, "0123456789abcdef")] || size < 0)
        return error_set(err, ERROR_MALFORMED, "a part has no usable digest or size");
    if (size > max)
        return error_set(err, ERROR_UNTRUSTED, "a part has %lld bytes, more than %lld", size, max);
    for (size_t i = 0; i < image->count; i++)
        if (text_equal(image->digests[i], hex))
            return 0;
    if (image->count == BLOBS_MAX)
        return error_set(err, ERROR_UNTRUSTED, "it has more than %d parts", BLOBS_MAX);
    memcpy(image->digests[at], hex, DIGEST_TEXT_MAX);
    image->paths[at] = xasprintf("%s/v2/%s/%s/sha256:%s", image->host, image->name, kind, hex);
    image->files[at] = (struct mirror_file){.name = image->name,
                                            .path = image->paths[at],
                                            .accept = ACCEPT,
                                            .max = (size_t)size,
                                            .sha256 = image->digests[at]};
    image->sizes[at] = size;
    image->count++;
    return 0;
}

/* What the registry asks for; the files are as they were then. The caller frees. */
static char *take_challenge(struct mirror_file *files, size_t count) {
    char *challenge = NULL;

    for (size_t i = 0; i < count; i++) {
        if (!challenge)
            challenge = take_ptr(files[i].challenge);
        freep(&files[i].challenge);
        freep(&files[i].data);
        files[i].len = 0;
    }
    return challenge;
}

/* With a token where the registry wants one: the first, or another for one that is too old. */
static int fetch_files(struct image *image, struct mirror_file *files, size_t count,
                       struct error *err) {
    struct error why = {0};

    for (bool again = true;; again = false) {
        _cleanup_(freep) char *challenge = NULL;

        for (size_t i = 0; i < count; i++)
            files[i].bearer_token = image->token;
        if (mirror_fetch_all(image->from, files, count, &why) == 0)
            return 0;
        challenge = take_challenge(files, count);
        if (why.kind != ERROR_DENIED || !challenge || !again)
            break;
        error_clear(&why);
        freep(&image->token);
        if (registry_token_fetch(image->from->http, challenge, image->name, &image->token, &why) <
            0)
            break;
    }
    return error_pass(err, &why);
}

/* Those from `first` on. */
static int fetch(struct image *image, size_t first, struct error *err) {
    long long sum = 0;

    for (size_t i = 0; i < image->count; i++)
        sum += image->sizes[i];
    if (sum > SUM_MAX)
        return error_set(err, ERROR_UNTRUSTED, "its parts have more than %d bytes", SUM_MAX);
    if (fetch_files(image, image->files + first, image->count - first, err) < 0)
        return -1;
    for (size_t i = first; i < image->count; i++) {
        char digest[DIGEST_TEXT_MAX];

        digest_sha256(image->files[i].data, image->files[i].len, digest);
        if ((long long)image->files[i].len != image->sizes[i] ||
            !text_equal(digest, image->digests[i]))
            return error_set(err, ERROR_UNTRUSTED,
                             "what came for sha256:%s has another digest or size",
                             image->digests[i]);
    }
    return 0;
}

/* ---- references ---- */

#define LOWER "abcdefghijklmnopqrstuvwxyz0123456789"
#define WORD LOWER "ABCDEFGHIJKLMNOPQRSTUVWXYZ_"
enum { REFERENCE_MAX = 255, TAG_MAX = 128 };

/* "registry.local:5000", "[fd00::1]:5000", "localhost": what a repository's name is not. */
static bool is_registry(const char *text, size_t len) {
    size_t host = text[0] == '[' ? strcspn(text, "]") + 1 : strcspn(text, ":/");
    const char *letters = text[0] == '[' ? "0123456789abcdefABCDEF:[]" : WORD ".-";

    return host <= len && strspn(text, letters) >= host &&
           isalnum((unsigned char)text[*text == '[']) &&
           (host == len || (text[host] == ':' && host + 1 < len &&
                            strspn(text + host + 1, "0123456789") == len - host - 1));
}

/* "team/windows-pause": each part begins and ends with a small letter or a digit. */
static bool is_repository(const char *text, size_t len) {
    for (size_t at = 0, part; at <= len; at += part + 1) {
        part = strcspn(text + at, "/");
        if (at + part > len)
            part = len - at;
        if (!part || strspn(text + at, LOWER "._-") < part || !isalnum((unsigned char)text[at]) ||
            !isalnum((unsigned char)text[at + part - 1]))
            return false;
    }
    return true;
}

static bool is_digest(const char *text) {
    size_t kind = strcspn(text, ":");
    size_t digits = text[kind] ? strspn(text + kind + 1, "0123456789abcdef") : 0;

    return kind && strspn(text, LOWER "+._-") == kind && digits >= 32 && !text[kind + 1 + digits];
}

bool image_is_reference(const char *text) {
    size_t len = strcspn(text, "@"), first = strcspn(text, "/@"), name = len, tag;

    if (strlen(text) > REFERENCE_MAX || (text[len] && !is_digest(text + len + 1)))
        return false;
    while (name && text[name - 1] != ':' && text[name - 1] != '/')
        name--;
    if (name && text[name - 1] == ':') {
        tag = strspn(text + name, WORD ".-");
        if (name + tag != len || !tag || tag > TAG_MAX || strchr(".-", text[name]))
            return false;
        len = name - 1;
    }
    if (first >= len || (!memchr(text, '.', first) && !memchr(text, ':', first) &&
                         strncmp(text, "localhost/", strlen("localhost/")) != 0))
        return is_repository(text, len);
    return is_registry(text, first) && is_repository(text + first + 1, len - first - 1);
}

/* ---- what it is made of ---- */

static bool is_of_build(const json_t *manifest, unsigned build) {
    const json_t *platform = json_object_get(manifest, "platform");
    const char *version = json_string_value(json_object_get(platform, "os.version"));
    _cleanup_(freep) char *wanted = xasprintf("10.0.%u.", build);

    return text_equal(json_text_at(platform, "os"), "windows") &&
           text_equal(json_text_at(platform, "architecture"), "amd64") &&
           (!build || (version && text_starts_with(version, wanted)));
}

static int choose(struct image *image, const json_t *index, unsigned build, struct error *err) {
    image->list = json_array();
    if (!json_is_array(json_object_get(index, "manifests")))
        return error_set(err, ERROR_MALFORMED, "the registry's answer is not an image index");
    json_each(json_object_get(index, "manifests"), i, manifest) {
        if (!is_of_build(manifest, build))
            continue;
        if (json_array_size(image->list) == IMAGES_MAX)
            return error_set(err, ERROR_UNTRUSTED, "it has more than %d images for Windows",
                             IMAGES_MAX);
        if (add(image, "manifests", manifest, MANIFEST_MAX, err) < 0)
            return -1;
        json_array_append(image->list, (json_t *)manifest);
    }
    if (json_array_size(image->list))
        return 0;
    return build ? error_set(err, ERROR_ABSENT, "it has no image for Windows build %u", build)
                 : error_set(err, ERROR_ABSENT, "it has no image for Windows");
}

static int add_parts(struct image *image, const struct mirror_file *file, struct error *err) {
    _cleanup_json_ json_t *manifest = NULL;

    if (json_read(file->data, file->len, "manifest", &manifest, err) < 0)
        return -1;
    if (!json_is_array(json_object_get(manifest, "layers")))
        return error_set(err, ERROR_MALFORMED, "a manifest has no layers");
    if (add(image, "blobs", json_object_get(manifest, "config"), MANIFEST_MAX, err) < 0)
        return -1;
    json_each(json_object_get(manifest, "layers"), i, layer) {
        if (json_array_size(json_object_get(layer, "urls")))
            return error_set(err, ERROR_UNSUPPORTED, "it has layers that are not in the registry");
        if (add(image, "blobs", layer, BLOB_MAX, err) < 0)
            return -1;
    }
    return 0;
}

/* ---- the archive ---- */

/* Of the chosen images alone, in the form in which the importer takes several platforms: one index,
 * which has the name. */
static int pack(const struct image *image, const char *reference, char **ret, size_t *ret_len,
                struct error *err) {
    _cleanup_json_ json_t *list = json_pack("{s:i, s:s, s:O}", "schemaVersion", 2, "mediaType",
                                            INDEX_TYPE, "manifests", image->list);
    _cleanup_(freep) char *index = json_write(list), *own = NULL, *own_path = NULL;
    _cleanup_json_ json_t *top = NULL;
    struct bundle_archive_file files[BLOBS_MAX + OWN_FILES];
    char *paths[BLOBS_MAX], digest[DIGEST_TEXT_MAX];
    int result;

    digest_sha256(index, strlen(index), digest);
    top =
        json_pack("{s:i, s:s, s:[{s:s, s:s+, s:I, s:{s:s, s:s}}]}", "schemaVersion", 2, "mediaType",
                  INDEX_TYPE, "manifests", "mediaType", INDEX_TYPE, "digest", "sha256:", digest,
                  "size", (json_int_t)strlen(index), "annotations", "io.containerd.image.name",
                  reference, "org.opencontainers.image.ref.name", strrchr(reference, ':') + 1);
    own = json_write(top);
    own_path = xasprintf("blobs/sha256/%s", digest);
    files[0] = (struct bundle_archive_file){"oci-layout", LAYOUT, strlen(LAYOUT)};
    files[1] = (struct bundle_archive_file){"index.json", own, strlen(own)};
    files[2] = (struct bundle_archive_file){own_path, index, strlen(index)};
    for (size_t i = 0; i < image->count; i++) {
        paths[i] = xasprintf("blobs/sha256/%s", image->digests[i]);
        files[OWN_FILES + i] =
            (struct bundle_archive_file){paths[i], image->files[i].data, image->files[i].len};
    }
    result = bundle_archive_make_tar(files, OWN_FILES + image->count, ret, ret_len, err);
    for (size_t i = 0; i < image->count; i++)
        free(paths[i]);
    return result;
}

static int fetch_index(struct image *image, const char *tag, json_t **ret, struct error *err) {
    _cleanup_(freep) char *path = xasprintf("%s/v2/%s/manifests/%s", image->host, image->name, tag);
    struct mirror_file file = {
        .name = image->name, .path = path, .accept = ACCEPT, .max = MANIFEST_MAX};
    int result = fetch_files(image, &file, 1, err);

    if (result == 0)
        result = json_read(file.data, file.len, "index", ret, err);
    free(file.data);
    return result;
}

int image_versions(const struct mirror *from, const char *reference, struct text_list *ret,
                   struct error *err) {
    const char *slash = strchr(reference, '/'), *digest = strchr(slash, '@');
    const char *colon = memchr(slash, ':', digest ? (size_t)(digest - slash) : strlen(slash));
    const char *end = colon ? colon : digest ? digest : slash + strlen(slash);
    struct image *image = xcalloc(1, sizeof *image);
    _cleanup_json_ json_t *index = NULL;
    int result;

    image->from = from;
    image->host = xstrndup(reference, (size_t)(slash - reference));
    image->name = xstrndup(slash + 1, (size_t)(end - slash - 1));
    result = fetch_index(image, digest ? digest + 1 : colon ? colon + 1 : "latest", &index, err);
    image_free(image);
    free(image);
    if (result == 0 && !json_is_array(json_object_get(index, "manifests")))
        return error_set(err, ERROR_MALFORMED, "the registry's answer is not an image index");
    json_each(json_object_get(index, "manifests"), i, manifest) {
        const json_t *platform = json_object_get(manifest, "platform");

        if (is_of_build(manifest, 0) && json_object_get(platform, "os.version"))
            text_list_add(ret, json_string_value(json_object_get(platform, "os.version")));
    }
    return result;
}

static int fetch_all(struct image *image, const char *tag, unsigned build, struct error *err) {
    _cleanup_json_ json_t *index = NULL;
    size_t manifests;

    if (fetch_index(image, tag, &index, err) < 0 || choose(image, index, build, err) < 0 ||
        fetch(image, 0, err) < 0)
        return -1;
    manifests = image->count;
    for (size_t i = 0; i < manifests; i++)
        if (add_parts(image, &image->files[i], err) < 0)
            return -1;
    return fetch(image, manifests, err);
}

int image_fetch(const struct mirror *from, const char *reference, unsigned build, char **ret,
                size_t *ret_len, struct error *err) {
    const char *slash = strchr(reference, '/'), *colon = strrchr(reference, ':');
    struct image *image = xcalloc(1, sizeof *image);
    int result;

    image->from = from;
    image->host = xstrndup(reference, (size_t)(slash - reference));
    image->name = xstrndup(slash + 1, (size_t)(colon - slash - 1));
    result = fetch_all(image, colon + 1, build, err);
    if (result == 0)
        result = pack(image, reference, ret, ret_len, err);
    image_free(image);
    free(image);
    return result < 0 ? error_prefix(err, "fetch image '%s'", reference) : 0;
}
