/* Finds which builds of Windows an image is for, from its index and manifests. */
#include "services/artifacts/bundle_archive.h"
#include "services/artifacts/image.h"

enum { STABLE_BUILD = 20348, PART_MAX = 1024 * 1024, ROWS_MAX = 64 };
static const long long LAYER_MAX = 0777777777777LL; /* The largest size in a tar header. */

void image_facts_free(struct image_facts *facts) {
    text_list_free(&facts->versions);
    freep(&facts->layers);
}

bool image_build_runs(unsigned build, unsigned of_host) {
    return build && (build == of_host || (build >= STABLE_BUILD && build <= of_host));
}

bool image_is_windows(const json_t *platform) {
    return text_equal(json_text_at(platform, "os"), "windows") &&
           text_equal(json_text_at(platform, "architecture"), "amd64");
}

unsigned image_build(const json_t *platform) {
    const char *version = json_string_value(json_object_get(platform, "os.version"));
    char *end;
    unsigned long build;

    if (!image_is_windows(platform) || !version || !text_starts_with(version, "10.0."))
        return 0;
    build = strtoul(version + strlen("10.0."), &end, 10);
    return *end == '.' && build < 100000 ? (unsigned)build : 0;
}

static void add_layers(const json_t *manifest, struct image_facts *ret) {
    json_each(json_object_get(manifest, "layers"), i, part) {
        const char *digest = json_text_at(part, "digest");
        long long size = json_number_at(part, "size", -1);
        struct image_layer layer = {.size = (uint64_t)size};

        if (!digest || !text_starts_with(digest, "sha256:") || size < 0 || size > LAYER_MAX)
            continue;
        (void)text_format(layer.sha256, sizeof layer.sha256, "%s", digest + strlen("sha256:"));
        array_add(ret->layers, ret->count, layer);
    }
}

static void note_version(const json_t *platform, struct image_facts *ret) {
    const char *version = json_string_value(json_object_get(platform, "os.version"));

    if (image_is_windows(platform) && version)
        text_list_add(&ret->versions, version);
}

int image_facts_read(const json_t *top, unsigned build, image_read *read, void *context,
                     struct image_facts *ret, struct error *err) {
    _cleanup_json_ json_t *manifest = NULL, *config = NULL;
    const json_t *best = NULL;
    unsigned best_build = 0;

    if (json_is_array(json_object_get(top, "layers"))) {
        add_layers(top, ret);
        if (read(context, "blobs", json_object_get(top, "config"), &config, err) < 0)
            return -1;
        note_version(config, ret);
        ret->runs = image_build_runs(image_build(config), build);
        return 0;
    }
    if (!json_is_array(json_object_get(top, "manifests")))
        return error_set(err, ERROR_MALFORMED, "it is neither an image index nor a manifest");
    json_each(json_object_get(top, "manifests"), i, row) {
        _cleanup_json_ json_t *platform = NULL, *its = NULL;
        unsigned its_build;

        if (i == ROWS_MAX)
            return error_set(err, ERROR_MALFORMED, "its index has more than %d rows", ROWS_MAX);
        /* An index may have no platform for an image; the configuration of the image has it. */
        platform = json_incref(json_object_get(row, "platform"));
        if (!platform &&
            (read(context, "manifests", row, &its, err) < 0 ||
             read(context, "blobs", json_object_get(its, "config"), &platform, err) < 0))
            return -1;
        note_version(platform, ret);
        its_build = image_build(platform);
        if (!image_build_runs(its_build, build) || its_build <= best_build)
            continue;
        best = row;
        best_build = its_build;
    }
    if (!best)
        return 0;
    if (read(context, "manifests", best, &manifest, err) < 0)
        return -1;
    ret->runs = true;
    add_layers(manifest, ret);
    return 0;
}

/* ---- reading an archive ---- */

struct head {
    const char *data;
    size_t len;
};

static int read_file(const struct head *head, const char *path, json_t **ret, struct error *err) {
    _cleanup_(freep) char *text = NULL;
    size_t len;

    return bundle_archive_read(head->data, head->len, path, PART_MAX, &text, &len, err) < 0
               ? -1
               : json_read(text, len, path, ret, err);
}

static int read_blob(void *context, const char *, const json_t *descriptor, json_t **ret,
                     struct error *err) {
    const char *digest = json_text_at(descriptor, "digest");
    _cleanup_(freep) char *path = NULL;

    if (!digest || !text_starts_with(digest, "sha256:"))
        return error_set(err, ERROR_MALFORMED, "a part has no usable digest");
    path = xasprintf("blobs/sha256/%s", digest + strlen("sha256:"));
    return read_file(context, path, ret, err);
}

int image_facts_of_archive(const char *data, size_t len, unsigned build, struct image_facts *ret,
                           struct error *err) {
    struct head head = {data, len};
    _cleanup_json_ json_t *index = NULL, *top = NULL;

    if (read_file(&head, "index.json", &index, err) < 0 ||
        read_blob(&head, "manifests", json_at(index, "manifests.0"), &top, err) < 0)
        return -1;
    return image_facts_read(top, build, read_blob, &head, ret, err);
}
