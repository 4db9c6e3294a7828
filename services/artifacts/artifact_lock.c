/* Has the table of a node's programs with their paths; reads and makes lock files. */
#include "base/yaml.h"
#include "services/artifacts/artifacts.h"
#include "services/artifacts/bundle_archive.h"
#include "services/artifacts/image.h"
#include "services/containerd_settings.h"

#define API_VERSION "winjoin.io/v1alpha1"
#define KIND "BundleLock"
enum { VERSION_MAX = 64, LOCK_SIZE_MAX = 1024 * 1024 };

static const struct artifact_target others[] = {
    {"containerd-shim-runhcs-v1", "C:\\Program Files\\containerd\\containerd-shim-runhcs-v1.exe",
     true, NULL},
    {"ctr", "C:\\Program Files\\containerd\\ctr.exe", false, NULL},
    {"win-overlay", "C:\\opt\\cni\\bin\\win-overlay.exe", false, NULL},
    {"win-bridge", "C:\\opt\\cni\\bin\\win-bridge.exe", false, NULL},
    {"sdnoverlay", "C:\\opt\\cni\\bin\\sdnoverlay.exe", false, NULL},
    {"sdnbridge", "C:\\opt\\cni\\bin\\sdnbridge.exe", false, NULL},
    {"nat", "C:\\opt\\cni\\bin\\nat.exe", false, NULL},
    {"azure-vnet", "C:\\opt\\cni\\bin\\azure-vnet.exe", false, NULL},
    {"azure-vnet-ipam", "C:\\opt\\cni\\bin\\azure-vnet-ipam.exe", false, NULL},
    {"host-local", "C:\\opt\\cni\\bin\\host-local.exe", false, NULL},
    {"crictl", "C:\\k\\crictl.exe", false, NULL},
    {"kubectl", "C:\\k\\kubectl.exe", false, NULL},
    {ARTIFACT_IMAGE, ARTIFACT_IMAGE_FILE, false, NULL},
};

bool artifact_target_at(size_t i, struct artifact_target *ret) {
    for (const struct service *const *row = service_table; *row; row++) {
        if (!(*row)->artifact || i-- > 0)
            continue;
        *ret = (struct artifact_target){(*row)->artifact, (*row)->program, false, *row};
        return true;
    }
    if (i < ARRAY_SIZE(others))
        *ret = others[i];
    return i < ARRAY_SIZE(others);
}

bool artifact_target_find(const char *name, struct artifact_target *ret) {
    struct artifact_target target;

    for (size_t i = 0; artifact_target_at(i, &target); i++)
        if (text_equal(target.name, name)) {
            *ret = target;
            return true;
        }
    return false;
}

/* Returns the rest of a target after the folder, or NULL when it is not in the folder. */
static const char *below(const char *target, const char *folder) {
    size_t len = strlen(folder);
    return text_starts_with(target, folder) && target[len] == '\\' ? target + len : NULL;
}

char *artifact_place(const struct artifact_places *places, const char *target) {
    const char *cni = places ? places->cni_folder : NULL, *name = below(target, CNI_BIN_DIR);
    if (cni && name)
        return xasprintf("%s%s", cni, name);
    return places && places->keeps_containerd && !(cni && below(target, cni)) &&
                   below(target, CONTAINERD_FOLDER)
               ? NULL
               : xstrdup(target);
}

#define MICROSOFTS                                                                                 \
    "download it from https://github.com/microsoft/windows-container-networking/releases"
#define AZURES "download it from https://github.com/Azure/azure-container-networking/releases"

const char *artifact_origin(const char *name) {
    static const char *const origins[][2] = {
        {"hybrid-overlay-node", "no release of it is published: build it with \"make windows\" in "
                                "the folder go-controller of "
                                "https://github.com/ovn-kubernetes/ovn-kubernetes"},
        {"sdnoverlay", MICROSOFTS},
        {"sdnbridge", MICROSOFTS},
        {"nat", MICROSOFTS},
        {"azure-vnet", AZURES},
        {"azure-vnet-ipam", AZURES},
    };

    for (size_t i = 0; i < ARRAY_SIZE(origins); i++)
        if (text_equal(origins[i][0], name))
            return origins[i][1];
    return NULL;
}

void artifact_free(struct artifact *artifact) {
    free_all(artifact->name, artifact->version, artifact->path, artifact->digest, artifact->member,
             artifact->target);
    *artifact = (struct artifact){0};
}

void artifacts_free(struct artifacts *artifacts) {
    if (!artifacts)
        return;
    for (size_t i = 0; i < artifacts->count; i++)
        artifact_free(&artifacts->items[i]);
    free(artifacts->items);
    *artifacts = (struct artifacts){0};
}

const struct artifact *artifact_find(const struct artifacts *artifacts, const char *name) {
    for (size_t i = 0; artifacts && i < artifacts->count; i++)
        if (text_equal(artifacts->items[i].name, name))
            return &artifacts->items[i];
    return NULL;
}

static int check_keys(const json_t *json, const char *const *known, const char *what,
                      struct error *err) {
    if (!json_is_object(json))
        return error_set(err, ERROR_MALFORMED, "decode lock: %s is not an object", what);
    json_each_member(json, key, value) {
        const char *const *name = known;
        while (*name && !text_equal(*name, key))
            name++;
        if (!*name)
            return error_set(err, ERROR_MALFORMED, "decode lock: %s has unknown key '%s'", what,
                             key);
    }
    return 0;
}

bool artifact_version_is_usable(const char *version) {
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+";
    size_t len = version ? strlen(version) : 0;

    return len > 0 && len <= VERSION_MAX && strspn(version, letters) == len;
}

static bool is_sha256(const char *text) {
    return text && strlen(text) == 64 && strspn(text, "0123456789abcdef") == 64;
}

/* Reads and checks the fields of one artifact. Comparisons with other artifacts are made later. */
static int read_fields(const json_t *item, struct artifact *artifact, struct error *err) {
    const char *name = json_text_at(item, "name"), *version = json_text_at(item, "version");
    const char *path = json_text_at(item, "path"), *target = json_text_at(item, "target");
    const char *sha256 = json_text_at(item, "sha256");
    long long size = json_number_at(item, "size", -1);
    struct artifact_target known = {0};

    /* Names are limited to the same characters as versions. */
    if (!artifact_version_is_usable(name))
        return error_set(err, ERROR_MALFORMED, "decode lock: an artifact has no usable name");
    if (!artifact_version_is_usable(version))
        return error_set(err, ERROR_MALFORMED, "decode lock: '%s' has no usable version", name);
    if (!is_sha256(sha256))
        return error_set(err, ERROR_MALFORMED, "decode lock: sha256 of '%s' is not 64 hex digits",
                         name);
    if (size < 0 || size > ARTIFACT_SIZE_MAX)
        return error_set(err, ERROR_MALFORMED, "decode lock: size of '%s' is not in 0..%d", name,
                         ARTIFACT_SIZE_MAX);

    /* An artifact without a row in the table has a target of its own. */
    (void)artifact_target_find(name, &known);
    if (!path || (!target && !known.target))
        return error_set(err, ERROR_MALFORMED, "decode lock: '%s' has no %s", name,
                         path ? "target" : "path");
    if (bundle_path_fault(path))
        return error_set(err, ERROR_UNTRUSTED,
                         "decode lock: path '%s' of '%s' leads out of the bundle", path, name);
    if (!target)
        target = known.target;
    if (!bundle_target_is_safe(target))
        return error_set(err, ERROR_UNTRUSTED,
                         "decode lock: target '%s' of '%s' is outside winjoin's program folders",
                         target, name);
    *artifact = (struct artifact){.name = xstrdup(name),
                                  .version = xstrdup(version),
                                  .size = (uint64_t)size,
                                  .path = xstrdup(path),
                                  .target = xstrdup(target)};
    memcpy(artifact->sha256, sha256, sizeof(artifact->sha256));
    return 0;
}

static int read_image(const json_t *item, struct artifacts *images, struct error *err) {
    static const char *const keys[] = {"name", "sha256", "size", "path", NULL};
    const char *name = json_text_at(item, "name"), *path = json_text_at(item, "path");
    const char *sha256 = json_text_at(item, "sha256");
    long long size = json_number_at(item, "size", -1);
    struct artifact image = {0};

    if (images->count == ARTIFACTS_MAX)
        return error_set(err, ERROR_MALFORMED, "decode lock: more than %d images", ARTIFACTS_MAX);
    if (check_keys(item, keys, "an image", err) < 0)
        return -1;
    if (!name || !strchr(name, '/') || !image_is_reference(name) || artifact_find(images, name))
        return error_set(err, ERROR_MALFORMED, "decode lock: an image has no usable name");
    if (!is_sha256(sha256) || size < 0 || !path)
        return error_set(err, ERROR_MALFORMED, "decode lock: '%s' has no usable %s", name,
                         !path      ? "path"
                         : size < 0 ? "size"
                                    : "sha256");
    if (bundle_path_fault(path))
        return error_set(err, ERROR_UNTRUSTED,
                         "decode lock: path '%s' of '%s' leads out of the bundle", path, name);
    image = (struct artifact){.name = xstrdup(name),
                              .version = xstrdup("image"),
                              .size = (uint64_t)size,
                              .path = xstrdup(path),
                              .target = xstrdup("")};
    memcpy(image.sha256, sha256, sizeof image.sha256);
    array_add(images->items, images->count, image);
    return 0;
}

static int read_artifact(const json_t *item, struct artifacts *artifacts, struct error *err) {
    static const char *const keys[] = {"name", "version", "sha256", "size", "path", "target", NULL};
    _cleanup_(artifact_free) struct artifact artifact = {0};

    if (artifacts->count == ARTIFACTS_MAX)
        return error_set(err, ERROR_MALFORMED, "decode lock: more than %d artifacts",
                         ARTIFACTS_MAX);
    if (check_keys(item, keys, "an artifact", err) < 0 || read_fields(item, &artifact, err) < 0)
        return -1;
    for (size_t i = 0; i < artifacts->count; i++) {
        const struct artifact *other = &artifacts->items[i];

        if (text_equal(other->name, artifact.name) || text_equal(other->path, artifact.path) ||
            text_equal_nocase(other->target, artifact.target))
            return error_set(err, ERROR_MALFORMED,
                             "decode lock: '%s' and '%s' have the same name, path or target",
                             other->name, artifact.name);
    }
    array_add(artifacts->items, artifacts->count, take_struct(artifact));
    return 0;
}

int artifact_lock_parse(const char *text, size_t len, struct artifacts *ret,
                        struct artifacts *ret_images, struct error *err) {
    static const char *const keys[] = {"apiVersion", "kind", "artifacts", "images", NULL};
    _cleanup_(artifacts_free) struct artifacts artifacts = {0}, images = {0};
    _cleanup_(yaml_forget) struct yaml yaml = {0};
    _cleanup_json_ json_t *json = NULL;
    size_t begin = 0;

    if (len > LOCK_SIZE_MAX)
        return error_set(err, ERROR_MALFORMED, "decode lock: longer than %d bytes", LOCK_SIZE_MAX);
    while (begin < len && text[begin] && strchr(" \t\r\n", text[begin]))
        begin++;
    if (begin < len && text[begin] == '{') {
        if (json_read(text, len, "lock", &json, err) < 0)
            return -1;
    } else {
        if (yaml_read(text, len, "lock", &yaml, err) < 0)
            return -1;
        if (json_array_size(yaml.documents) != 1)
            return error_set(err, ERROR_MALFORMED, "decode lock: %s",
                             json_array_size(yaml.documents) ? "more than one document"
                                                             : "it is empty");
        json = json_incref(json_array_get(yaml.documents, 0));
    }

    if (check_keys(json, keys, "the lock", err) < 0)
        return -1;
    if (!text_equal(json_text_at(json, "apiVersion"), API_VERSION) ||
        !text_equal(json_text_at(json, "kind"), KIND) ||
        !json_is_array(json_object_get(json, "artifacts")))
        return error_set(err, ERROR_MALFORMED, "decode lock: not a " KIND " of " API_VERSION);
    json_each(json_object_get(json, "artifacts"), i, item)
        if (read_artifact(item, &artifacts, err) < 0)
            return -1;
    json_each(json_object_get(json, "images"), i, item)
        if (read_image(item, &images, err) < 0)
            return -1;
    *ret = take_struct(artifacts);
    if (ret_images)
        *ret_images = take_struct(images);
    return 0;
}

char *artifact_lock_make(const struct artifacts *artifacts, const struct artifacts *images) {
    json_t *list = json_array(), *brought = images && images->count ? json_array() : NULL;
    for (size_t i = 0; i < artifacts->count; i++) {
        const struct artifact *item = &artifacts->items[i];
        _cleanup_(freep) char *path = xasprintf("%s%s%s", item->path, item->member ? "/" : "",
                                                item->member ? item->member : "");
        json_array_append_new(list, json_pack("{s:s,s:s,s:s,s:I,s:s,s:s}", "name", item->name,
                                              "version", item->version, "sha256", item->sha256,
                                              "size", (json_int_t)item->size, "path", path,
                                              "target", item->target));
    }
    for (size_t i = 0; brought && i < images->count; i++)
        json_array_append_new(brought, json_pack("{s:s,s:s,s:I,s:s}", "name", images->items[i].name,
                                                 "sha256", images->items[i].sha256, "size",
                                                 (json_int_t)images->items[i].size, "path",
                                                 images->items[i].path));
    _cleanup_json_ json_t *json = json_pack("{s:s,s:s,s:o,s:o*}", "apiVersion", API_VERSION, "kind",
                                            KIND, "artifacts", list, "images", brought);
    return json_write_pretty(json);
}

json_t *artifacts_json(const struct artifacts *artifacts, const struct mirror *mirror) {
    json_t *list = json_array();
    for (size_t i = 0; i < artifacts->count; i++) {
        const struct artifact *item = &artifacts->items[i];
        _cleanup_(freep) char *url = mirror ? mirror_url(mirror, item->path) : NULL;
        json_array_append_new(list,
                              json_pack("{s:s,s:s,s:s*,s:s*,s:s}", "name", item->name, "version",
                                        item->version, "url", url, "sha256",
                                        *item->sha256 ? item->sha256 : NULL, "path", item->target));
    }
    return list;
}
