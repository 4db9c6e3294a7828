/* kubeadm's patches folder: reading it, and applying what it holds for the kubelet. */
#include "join/kubelet/patches.h"

#include "base/json.h"
#include "host/path.h"

/* kubeadm's targets (1.37); "kubeproxydaemonset" is new there. */
static const char *const targets[] = {"etcd",
                                      "kube-apiserver",
                                      "kube-controller-manager",
                                      "kube-scheduler",
                                      "kubeletconfiguration",
                                      "corednsdeployment",
                                      "kubeproxydaemonset"};
static const char *const type_names[] = {
    [PATCH_STRATEGIC] = "strategic", [PATCH_MERGE] = "merge", [PATCH_JSON] = "json"};

/* ---- names ---- */

static const char *target_of(const char *name) {
    for (size_t i = 0; i < ARRAY_SIZE(targets); i++)
        if (text_starts_with(name, targets[i]))
            return targets[i];
    return NULL;
}

/* What is between '+' and the first dot. */
static int type_of(const char *name, const char *plus, enum patch_type *ret, struct error *err) {
    size_t len = strcspn(plus + 1, ".");

    for (size_t i = 0; i < ARRAY_SIZE(type_names); i++) {
        if (strlen(type_names[i]) == len && strncmp(plus + 1, type_names[i], len) == 0) {
            *ret = (enum patch_type)i;
            return 0;
        }
    }
    return error_set(err, ERROR_USAGE,
                     "patch file '%s': '+' must be followed by json, merge or strategic", name);
}

int patch_file_name(const char *name, enum patch_target *ret, enum patch_type *ret_type,
                    const char **ret_reason, struct error *err) {
    const char *target = target_of(name), *dot, *plus;

    *ret = PATCH_NONE;
    if (!text_ends_with(name, ".json") && !text_ends_with(name, ".yaml")) {
        *ret_reason = "the extension must be json or yaml";
        return 0;
    }
    if (!target) {
        *ret_reason = "its name does not begin with one of kubeadm's patch targets; the kubelet's "
                      "is \"kubeletconfiguration\", in lower case";
        return 0;
    }
    dot = strchr(name, '.');
    plus = strchr(name, '+');
    *ret_type = PATCH_STRATEGIC;
    if (plus && plus > dot)
        return error_set(err, ERROR_USAGE,
                         "patch file '%s': '+' and the type must come before the first dot", name);
    if (plus && type_of(name, plus, ret_type, err) < 0)
        return -1;
    *ret = text_equal(target, "kubeletconfiguration") ? PATCH_KUBELET : PATCH_OTHER;
    return 0;
}

/* ---- reading ---- */

void patches_free(struct patches *patches) {
    for (size_t i = 0; i < patches->count; i++)
        free(patches->items[i].path);
    free(patches->items);
    for (size_t i = 0; i < patches->file_count; i++)
        yaml_forget(&patches->files[i]);
    free(patches->files);
    text_list_free(&patches->warnings);
    *patches = (struct patches){0};
}

/* The error is of a value of the patch. */
static int at_line(struct error *err, const struct patches *patches, const struct patch *patch,
                   const char *path) {
    return error_prefix(err, "%s: line %zu", patch->path,
                        yaml_place(&patches->files[patch->file], patch->json, path)->line);
}

static int check_shape(const struct patches *patches, const struct patch *patch,
                       struct error *err) {
    if (patch->type == PATCH_JSON ? json_is_array(patch->json) : json_is_object(patch->json))
        return 0;
    (void)error_set(err, ERROR_USAGE, "a %s patch is %s", type_names[patch->type],
                    patch->type == PATCH_JSON ? "a list of operations" : "an object with fields");
    return at_line(err, patches, patch, "");
}

/* `ret` NULL: the file is read and judged alone. */
static int read_file(struct host *host, const char *path, enum patch_type type, struct patches *ret,
                     struct error *err) {
    struct yaml yaml = {0};
    _cleanup_(freep) char *text = NULL;
    size_t before = ret ? ret->count : 0, len;

    if (host_read_text(host, path, PATCH_FILE_SIZE_MAX, &text, &len, err) < 0 ||
        yaml_read(text, len, path, &yaml, err) < 0)
        return -1;
    if (!ret) {
        yaml_forget(&yaml);
        return 0;
    }
    array_add(ret->files, ret->file_count, yaml);
    json_each(yaml.documents, i, document) {
        if (json_is_null(document)) /* comments alone */
            continue;
        if (ret->count >= PATCHES_MAX)
            return error_set(err, ERROR_USAGE, "%s: more than %d patches", path, PATCHES_MAX);
        array_add(ret->items, ret->count,
                  (struct patch){.path = xstrdup(path),
                                 .type = type,
                                 .file = ret->file_count - 1,
                                 .json = document});
        if (check_shape(ret, &ret->items[ret->count - 1], err) < 0)
            return -1;
    }
    if (ret->count == before)
        text_list_add_owned(&ret->warnings, xasprintf("patch file '%s' is empty", path));
    return 0;
}

static int read_entry(struct host *host, const char *path, struct patches *ret, struct error *err) {
    enum patch_type type = PATCH_STRATEGIC;
    enum patch_target target;
    const char *reason = NULL;

    if (patch_file_name(path_base(path), &target, &type, &reason, err) < 0)
        return -1;
    if (target == PATCH_NONE)
        text_list_add_owned(&ret->warnings,
                            xasprintf("ignoring patch file '%s': %s", path, reason));
    if (target == PATCH_OTHER) /* concerns no worker; kubeadm reads it, too */
        return read_file(host, path, PATCH_STRATEGIC, NULL, err);
    return target == PATCH_KUBELET ? read_file(host, path, type, ret, err) : 0;
}

static int read_folder(struct host *host, const char *folder, unsigned depth, size_t *files,
                       struct patches *ret, struct error *err) {
    _cleanup_(text_list_free) struct text_list names = {0};
    int result = host_list(host, folder, &names, err);

    if (depth > PATCH_FOLDERS_DEPTH_MAX)
        result = error_set(err, ERROR_USAGE, "patches folder '%s': more than %d levels of folders",
                           folder, PATCH_FOLDERS_DEPTH_MAX);
    for (size_t i = 0; i < names.count && result == 0; i++) {
        _cleanup_(freep) char *path = xasprintf("%s\\%s", folder, names.items[i]);

        if (host_file_type(host, path) == HOST_FOLDER)
            result = read_folder(host, path, depth + 1, files, ret, err);
        else if (++*files > PATCH_FILES_MAX)
            result = error_set(err, ERROR_USAGE, "patches folder '%s': more than %d files", folder,
                               PATCH_FILES_MAX);
        else
            result = read_entry(host, path, ret, err);
    }
    return result;
}

int patches_read(struct host *host, const char *folder, struct patches *ret, struct error *err) {
    struct patches patches = {0};
    size_t files = 0;

    if (host_file_type(host, folder) != HOST_FOLDER) {
        _cleanup_(freep) char *shown = path_shown(folder);

        return error_set(err, ERROR_USAGE, "patches folder '%s': no such folder", shown);
    }
    if (read_folder(host, folder, 1, &files, &patches, err) < 0) {
        patches_free(&patches);
        if (err)
            err->kind = err->kind == ERROR_INTERRUPTED ? err->kind : ERROR_USAGE;
        return -1;
    }
    *ret = patches;
    return 0;
}

/* ---- applying ---- */

static int apply_json(const struct patches *patches, const struct patch *patch,
                      const json_t *config, json_t **ret, struct error *err) {
    _cleanup_(freep) char *at = NULL;
    size_t operation;

    if (json_patch_apply(config, patch->json, ret, &operation, err) == 0)
        return 0;
    at = xasprintf("[%zu]", operation);
    return at_line(err, patches, patch, at);
}

static int apply_strategic(const struct patches *patches, const struct patch *patch,
                           const json_t *config, json_t **ret, struct error *err) {
    _cleanup_(text_free) struct text where = {0};

    if (strategic_merge(config, patch->json, ret, &where, err) == 0)
        return 0;
    return at_line(err, patches, patch, text_str(&where));
}

/* A patch may change everything but what the document is. */
static int check_result(const struct patches *patches, const struct patch *patch,
                        const json_t *config, struct error *err) {
    if (text_equal(json_text_at(config, "kind"), "KubeletConfiguration") &&
        text_equal(json_text_at(config, "apiVersion"), "kubelet.config.k8s.io/v1beta1"))
        return 0;
    (void)error_set(err, ERROR_USAGE,
                    "the patched document is no longer a KubeletConfiguration of "
                    "kubelet.config.k8s.io/v1beta1");
    return at_line(err, patches, patch, "");
}

int patches_apply(const struct patches *patches, const json_t *config, json_t **ret,
                  struct text_list *applied, struct error *err) {
    _cleanup_json_ json_t *current = json_deep_copy(config);

    for (size_t i = 0; i < patches->count; i++) {
        const struct patch *patch = &patches->items[i];
        json_t *next = NULL;
        int result = 0;

        if (patch->type == PATCH_JSON)
            result = apply_json(patches, patch, current, &next, err);
        else if (patch->type == PATCH_STRATEGIC)
            result = apply_strategic(patches, patch, current, &next, err);
        else
            next = json_merge_patch(current, patch->json);
        if (result < 0)
            return -1;
        json_decref(current);
        current = next;
        if (check_result(patches, patch, current, err) < 0)
            return -1;
        if (applied)
            text_list_add_owned(applied,
                                xasprintf("%s (%s)", patch->path, type_names[patch->type]));
    }
    *ret = take_ptr(current);
    return 0;
}
