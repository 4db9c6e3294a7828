/* Fetches the index, manifests and blobs of an image from a registry and packs them as an archive.
 * Only the index of the tag is trusted, because it comes by https; everything else must have the
 * digest that names it. Manifests and configurations are small and kept in memory; layers go
 * directly to their place in the archive. */
#include "services/artifacts/image.h"

#include "pki/digest.h"
#include "services/artifacts/artifacts.h"

#define INDEX_TYPE "application/vnd.oci.image.index.v1+json"
#define MANIFEST_TYPE "application/vnd.oci.image.manifest.v1+json"
#define ACCEPT                                                                                     \
    INDEX_TYPE ", application/vnd.docker.distribution.manifest.list.v2+json, " MANIFEST_TYPE ", "  \
               "application/vnd.docker.distribution.manifest.v2+json"
#define LAYOUT "{\"imageLayoutVersion\":\"1.0.0\"}"
enum { IMAGES_MAX = 8, BLOBS_MAX = 128, MANIFEST_MAX = 1024 * 1024, BLOCK = 512 };
enum { PACKED_TIME = 315532800 }; /* A fixed time gives the same bytes every time. */
static const long long LAYER_MAX = 0777777777777LL; /* The largest size in a tar header. */

/* The parts to fetch: manifests, then configurations, then layers. files[i] must have the digest
 * digests[i]. */
struct image {
    const struct mirror *from;
    char *host, *name; /* Registry and repository, e.g. "registry.k8s.io" and "pause". */
    json_t *list;      /* Descriptors of the chosen manifests. */
    struct mirror_file files[BLOBS_MAX];
    char *paths[BLOBS_MAX], digests[BLOBS_MAX][DIGEST_TEXT_MAX];
    char *elsewhere[BLOBS_MAX];    /* Another address of a layer, or NULL. */
    size_t count, held, manifests; /* Counts of all parts, of those in memory, of manifests. */
    char *token;                   /* Token for the registry; NULL when it asked for none. */
};

static void image_free(struct image *image) {
    for (size_t i = 0; i < image->count; i++)
        free_all(image->files[i].data, image->paths[i], image->elsewhere[i]);
    json_decref(image->list);
    free_all(image->token, image->host, image->name);
}

/* Adds the blob of a descriptor to the files to fetch, each blob only once. */
static int add(struct image *image, const char *kind, const json_t *descriptor, long long max,
               struct error *err) {
    const char *digest = json_text_at(descriptor, "digest");
    const char *hex = digest && text_starts_with(digest, "sha256:") ? digest + 7 : "";
    const char *url = json_text_at(descriptor, "urls.0");
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
    image->elsewhere[at] =
        url && text_starts_with(url, "https://") ? xstrdup(url + strlen("https://")) : NULL;
    image->files[at] = (struct mirror_file){.name = image->name,
                                            .path = image->paths[at],
                                            .accept = ACCEPT,
                                            .max = (size_t)size,
                                            .sha256 = image->digests[at]};
    image->count++;
    return 0;
}

/* Fetches files. If the registry requires a token, gets the first one, or a new one when the old
 * one has expired. */
static int fetch_files(struct image *image, struct mirror_file *files, size_t count,
                       struct error *err) {
    struct error why = {0};

    for (bool again = true;; again = false) {
        _cleanup_(freep) char *challenge = NULL;

        for (size_t i = 0; i < count; i++)
            files[i].bearer_token = image->token;
        if (mirror_fetch_all(image->from, files, count, &why) == 0)
            return 0;

        /* Takes the registry's challenge and resets the files. */
        for (size_t i = 0; i < count; i++) {
            if (!challenge)
                challenge = take_ptr(files[i].challenge);
            freep(&files[i].challenge);
            freep(&files[i].data);
            files[i].len = 0;
        }
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

static int check(const struct image *image, size_t at, struct error *err) {
    const struct mirror_file *file = &image->files[at];

    return file->len == file->max && text_equal(file->digest, file->sha256)
               ? 0
               : error_set(err, ERROR_UNTRUSTED,
                           "what came for sha256:%s has another digest or size", file->sha256);
}

/* Fetches the files that are not in memory yet. */
static int fetch(struct image *image, struct error *err) {
    size_t first = image->held;

    image->held = image->count;
    if (fetch_files(image, image->files + first, image->count - first, err) < 0)
        return -1;
    for (size_t i = first; i < image->count; i++)
        if (check(image, i, err) < 0)
            return -1;
    return 0;
}

/* Fetches a layer into its place in the archive. If only the layer's maker may distribute it, the
 * descriptor has the maker's URL. */
static int fetch_layer(struct image *image, size_t i, const char *into, uint64_t at,
                       struct error *err) {
    struct mirror_file *file = &image->files[i];
    struct error why = {0};

    file->into = into;
    file->at = at;
    if (fetch_files(image, file, 1, &why) == 0)
        return check(image, i, err);
    if (why.kind != ERROR_ABSENT || !image->elsewhere[i])
        return error_pass(err, &why);
    file->path = image->elsewhere[i];
    file->bearer_token = NULL;
    if (mirror_fetch_all(image->from, file, 1, err) < 0) {
        freep(&file->challenge);
        return error_prefix(err, "the registry does not have a layer of another maker");
    }
    return check(image, i, err);
}

/* ---- the parts of an image ---- */

static int refuse_build(unsigned build, struct error *err) {
    return build ? error_set(err, ERROR_ABSENT, "it has no image for Windows build %u", build)
                 : error_set(err, ERROR_ABSENT, "it has no image for Windows");
}

/* Chooses the images of one build from an index: the images for `build`, otherwise those for the
 * newest build whose containers run on `build`. With 0 it chooses the images of all builds. */
static int choose(struct image *image, const json_t *index, unsigned build, struct error *err) {
    const json_t *manifests = json_object_get(index, "manifests");
    unsigned taken = 0;

    if (!json_is_array(manifests))
        return error_set(err, ERROR_MALFORMED, "the registry's answer is not an image index");
    json_each(manifests, i, manifest) {
        unsigned its = image_build(json_object_get(manifest, "platform"));

        if (build && image_build_runs(its, build) && its > taken)
            taken = its;
    }
    json_each(manifests, i, manifest) {
        const json_t *platform = json_object_get(manifest, "platform");

        if (!image_is_windows(platform) || (build && (!taken || image_build(platform) != taken)))
            continue;
        if (json_array_size(image->list) == IMAGES_MAX)
            return error_set(err, ERROR_UNTRUSTED, "it has more than %d images for Windows",
                             IMAGES_MAX);
        if (add(image, "manifests", manifest, MANIFEST_MAX, err) < 0)
            return -1;
        json_array_append(image->list, manifest);
    }
    return json_array_size(image->list) ? 0 : refuse_build(build, err);
}

/* Adds the parts that the manifests name as `member`: "config" or "layers". */
static int add_parts(struct image *image, const char *member, long long max, struct error *err) {
    for (size_t m = 0; m < image->manifests; m++) {
        const struct mirror_file *file = &image->files[m];
        _cleanup_json_ json_t *manifest = NULL;
        json_t *parts;

        if (json_read(file->data, file->len, "manifest", &manifest, err) < 0)
            return -1;
        parts = json_object_get(manifest, member);
        if (!json_is_array(json_object_get(manifest, "layers")))
            return error_set(err, ERROR_MALFORMED, "a manifest has no layers");
        if (!json_is_array(parts) && add(image, "blobs", parts, max, err) < 0)
            return -1;
        json_each(parts, i, part)
            if (add(image, "blobs", part, max, err) < 0)
                return -1;
    }
    return 0;
}

/* ---- writing the archive ---- */

/* Adds a tar header (POSIX.1-2024, pax, "ustar Interchange Format"). */
static void add_header(struct text *out, const char *path, uint64_t size) {
    static const char magic[] = {'u', 's', 't', 'a', 'r', '\0', '0', '0'};
    char header[BLOCK] = {0};
    unsigned sum = 0;

    (void)text_format(header, 100, "%s", path);
    memcpy(header + 100,
           "0000644\0"
           "0000000\0"
           "0000000",
           24);
    (void)text_format(header + 124, 12, "%011llo", (unsigned long long)size);
    (void)text_format(header + 136, 12, "%011o", PACKED_TIME);
    memset(header + 148, ' ', 8);
    header[156] = '0';
    memcpy(header + 257, magic, sizeof magic);
    for (size_t i = 0; i < sizeof header; i++)
        sum += (unsigned char)header[i];
    (void)text_format(header + 148, 7, "%06o", sum);
    text_add_bytes(out, header, sizeof header);
}

/* A tar archive consists of whole blocks and ends with two blocks of zeros. */
static const char zeros[2 * BLOCK];

static void add_file(struct text *out, const char *path, const char *data, size_t len) {
    add_header(out, path, len);
    text_add_bytes(out, data, len);
    text_add_bytes(out, zeros, (BLOCK - len % BLOCK) % BLOCK);
}

/* Adds everything before the first layer: only the chosen images, in the form that the importer
 * accepts for several platforms, with one index that has the name. */
static void add_head(const struct image *image, const char *reference, const char *tag,
                     struct text *out) {
    _cleanup_json_ json_t *list = json_pack("{s:i, s:s, s:O}", "schemaVersion", 2, "mediaType",
                                            INDEX_TYPE, "manifests", image->list);
    _cleanup_(freep) char *index = json_write(list), *own = NULL, *own_path = NULL;
    _cleanup_json_ json_t *top = NULL;
    char digest[DIGEST_TEXT_MAX];

    digest_sha256(index, strlen(index), digest);
    top =
        json_pack("{s:i, s:s, s:[{s:s, s:s+, s:I, s:{s:s, s:s}}]}", "schemaVersion", 2, "mediaType",
                  INDEX_TYPE, "manifests", "mediaType", INDEX_TYPE, "digest", "sha256:", digest,
                  "size", (json_int_t)strlen(index), "annotations", "io.containerd.image.name",
                  reference, "org.opencontainers.image.ref.name", tag);
    own = json_write(top);
    own_path = xasprintf("blobs/sha256/%s", digest);
    add_file(out, "oci-layout", LAYOUT, strlen(LAYOUT));
    add_file(out, "index.json", own, strlen(own));
    add_file(out, own_path, index, strlen(index));
    for (size_t i = 0; i < image->held; i++) {
        _cleanup_(freep) char *path = xasprintf("blobs/sha256/%s", image->digests[i]);

        add_file(out, path, image->files[i].data, image->files[i].len);
    }
}

static int pack(struct image *image, const char *reference, const char *tag, const char *path,
                struct error *err) {
    _cleanup_(text_free) struct text piece = {0};
    struct host *host = image->from->host;
    uint64_t at = 0;

    add_head(image, reference, tag, &piece);
    for (size_t i = image->held; i < image->count; i++) {
        _cleanup_(freep) char *name = xasprintf("blobs/sha256/%s", image->digests[i]);
        _cleanup_(freep) char *there = NULL;
        size_t len = 0;
        uint64_t size;

        /* Writes the collected bytes and cuts the file after them, unless an earlier run has
         * written the same bytes there. */
        add_header(&piece, name, image->files[i].max);
        if ((host_read_part(host, path, at, piece.len, &there, &len, &size, NULL) < 0 ||
             len != piece.len || memcmp(there, piece.data, len) != 0) &&
            host_write_part(host, path, at, piece.data, piece.len, HOST_PUBLIC, err) < 0)
            return -1;
        at += piece.len;
        text_clear(&piece);
        if (fetch_layer(image, i, path, at, err) < 0)
            return -1;
        at += image->files[i].max;
        text_add_bytes(&piece, zeros, (BLOCK - at % BLOCK) % BLOCK);
    }
    text_add_bytes(&piece, zeros, sizeof zeros);
    return host_write_part(host, path, at, piece.data, piece.len, HOST_PUBLIC, err);
}

/* ---- fetching one image ---- */

/* Splits "HOST/NAME[:TAG][@DIGEST]". *ret_tag (borrowed) is the digest where there is one. */
static void open_image(struct image *image, const struct mirror *from, const char *reference,
                       const char **ret_tag) {
    const char *slash = strchr(reference, '/'), *digest = strchr(slash, '@');
    const char *colon = memchr(slash, ':', digest ? (size_t)(digest - slash) : strlen(slash));
    const char *end = colon ? colon : digest ? digest : slash + strlen(slash);

    image->from = from;
    image->list = json_array();
    image->host = xstrndup(reference, (size_t)(slash - reference));
    image->name = xstrndup(slash + 1, (size_t)(end - slash - 1));
    *ret_tag = digest ? digest + 1 : colon ? colon + 1 : "latest";
}

/* Fetches the index or manifest. It must have the digest of the reference, if there is one. */
static int fetch_index(struct image *image, const char *tag, struct mirror_file *file, json_t **ret,
                       struct error *err) {
    _cleanup_(freep) char *path = xasprintf("%s/v2/%s/manifests/%s", image->host, image->name, tag);

    *file = (struct mirror_file){
        .name = image->name, .path = path, .accept = ACCEPT, .max = MANIFEST_MAX};
    if (fetch_files(image, file, 1, err) < 0)
        return -1;
    if (text_starts_with(tag, "sha256:") && !text_equal(tag + 7, file->digest))
        return error_set(err, ERROR_UNTRUSTED, "what came for %s has another digest", tag);
    return json_read(file->data, file->len, "index", ret, err);
}

/* Reads a part; it stays in memory, so a second read needs no request. */
static int read_part(void *context, const char *kind, const json_t *descriptor, json_t **ret,
                     struct error *err) {
    struct image *image = context;
    const char *digest = json_text_at(descriptor, "digest");
    size_t at = 0;

    if (add(image, kind, descriptor, MANIFEST_MAX, err) < 0 || fetch(image, err) < 0)
        return -1;
    while (!text_equal(image->digests[at], digest + strlen("sha256:")))
        at++;
    return json_read(image->files[at].data, image->files[at].len, "manifest", ret, err);
}

int image_facts_of_registry(const struct mirror *from, const char *reference, unsigned build,
                            struct image_facts *ret, struct error *err) {
    struct image *image = xcalloc(1, sizeof *image);
    struct mirror_file file = {0};
    _cleanup_json_ json_t *index = NULL;
    const char *tag;
    int result;

    open_image(image, from, reference, &tag);
    result = fetch_index(image, tag, &file, &index, err);
    if (result == 0)
        result = image_facts_read(index, build, read_part, image, ret, err);
    image_free(image);
    free_all(image, file.data);
    return result;
}

static int fetch_held(struct image *image, const char *tag, unsigned build, struct error *err) {
    _cleanup_json_ json_t *index = NULL;
    struct mirror_file file = {0};
    int result = fetch_index(image, tag, &file, &index, err);
    bool single = json_is_array(json_object_get(index, "layers"));

    if (result == 0 && single) {
        /* The registry has a manifest and no index. A descriptor is made for it as in an index. */
        const char *type = json_text_or(index, "mediaType", MANIFEST_TYPE);
        json_t *descriptor = json_pack("{s:s, s:s+, s:I}", "mediaType", type, "digest",
                                       "sha256:", file.digest, "size", (json_int_t)file.len);

        json_array_append_new(image->list, descriptor);
        result = add(image, "manifests", descriptor, MANIFEST_MAX, err);
    } else if (result == 0) {
        result = choose(image, index, build, err);
    }
    free(file.data);
    image->manifests = image->count;
    if (result < 0 || fetch(image, err) < 0 || add_parts(image, "config", MANIFEST_MAX, err) < 0 ||
        fetch(image, err) < 0)
        return -1;
    if (single) {
        /* Without an index, the configuration of the image says which platform it is for. */
        const struct mirror_file *own = &image->files[1];
        _cleanup_json_ json_t *config = NULL;

        if (image->count < 2)
            return refuse_build(build, err);
        if (json_read(own->data, own->len, "image", &config, err) < 0)
            return -1;
        if (!(build ? image_build_runs(image_build(config), build) : image_is_windows(config)))
            return refuse_build(build, err);
    }
    return add_parts(image, "layers", LAYER_MAX, err);
}

int image_fetch(const struct mirror *from, const char *reference, unsigned build, const char *path,
                struct error *err) {
    struct image *image = xcalloc(1, sizeof *image);
    const char *tag;
    int result;

    open_image(image, from, reference, &tag);
    result = fetch_held(image, tag, build, err);
    if (result == 0)
        result = pack(image, reference, tag, path, err);
    image_free(image);
    free(image);
    return result < 0 ? error_prefix(err, "fetch image '%s'", reference) : 0;
}
