/* Reads kubeadm's patches folder and applies its patches for the kubelet. */
#include "join/kubelet/patches.h"

#include "base/json.h"
#include "host/path.h"

/* kubeadm's patch targets (1.37); "kubeproxydaemonset" is new in 1.37. */
static const char *const targets[] = {"etcd",
                                      "kube-apiserver",
                                      "kube-controller-manager",
                                      "kube-scheduler",
                                      "kubeletconfiguration",
                                      "corednsdeployment",
                                      "kubeproxydaemonset"};
static const char *const type_names[] = {
    [PATCH_STRATEGIC] = "strategic", [PATCH_MERGE] = "merge", [PATCH_JSON] = "json"};

/* ---- names of patch files ---- */

int patch_file_name(const char *name, enum patch_target *ret, enum patch_type *ret_type,
                    const char **ret_reason, struct error *err) {
    const char *dot = strchr(name, '.'), *plus = strchr(name, '+');
    size_t target = 0, type = 0;

    *ret = PATCH_NONE;
    if (!text_ends_with(name, ".json") && !text_ends_with(name, ".yaml")) {
        *ret_reason = "the extension must be json or yaml";
        return 0;
    }
    while (target < ARRAY_SIZE(targets) && !text_starts_with(name, targets[target]))
        target++;
    if (target == ARRAY_SIZE(targets)) {
        *ret_reason = "its name does not begin with one of kubeadm's patch targets; the kubelet's "
                      "is \"kubeletconfiguration\", in lower case";
        return 0;
    }
    *ret_type = PATCH_STRATEGIC;
    if (plus && plus > dot)
        return error_set(err, ERROR_USAGE,
                         "patch file '%s': '+' and the type must come before the first dot", name);
    /* The type is the text between '+' and the first dot. */
    if (plus) {
        size_t len = (size_t)(dot - plus) - 1;

        while (type < ARRAY_SIZE(type_names) &&
               !(strlen(type_names[type]) == len && strncmp(plus + 1, type_names[type], len) == 0))
            type++;
        if (type == ARRAY_SIZE(type_names))
            return error_set(err, ERROR_USAGE,
                             "patch file '%s': '+' must be followed by json, merge or strategic",
                             name);
        *ret_type = (enum patch_type)type;
    }
    *ret = text_equal(targets[target], "kubeletconfiguration") ? PATCH_KUBELET : PATCH_OTHER;
    return 0;
}

/* ---- reading of the folder ---- */

void patches_free(struct patches *patches) {
    for (size_t i = 0; i < patches->count; i++)
        free(patches->items[i].path);
    free(patches->items);
    for (size_t i = 0; i < patches->file_count; i++)
        yaml_forget(&patches->files[i]);
    free(patches->files);
    json_decref(patches->texts);
    text_list_free(&patches->warnings);
    *patches = (struct patches){0};
}

/* Prefixes an error about a value of the patch with its file and line. */
static int at_line(struct error *err, const struct patches *patches, const struct patch *patch,
                   const char *path) {
    return error_prefix(err, "%s: line %zu", patch->path,
                        yaml_place(&patches->files[patch->file], patch->json, path)->line);
}

/* Parses the text of a patch file. When `ret` is NULL, the text is only checked. */
static int parse_text(const char *text, size_t len, const char *path, enum patch_type type,
                      struct patches *ret, struct error *err) {
    size_t before = ret ? ret->count : 0;
    struct yaml yaml = {0};

    if (yaml_read(text, len, path, &yaml, err) < 0)
        return -1;
    if (!ret) {
        yaml_forget(&yaml);
        return 0;
    }
    array_add(ret->files, ret->file_count, yaml);
    json_each(yaml.documents, i, document) {
        if (json_is_null(document)) /* The document has only comments. */
            continue;
        if (ret->count >= PATCHES_MAX)
            return error_set(err, ERROR_USAGE, "%s: more than %d patches", path, PATCHES_MAX);
        array_add(ret->items, ret->count,
                  (struct patch){.path = xstrdup(path),
                                 .type = type,
                                 .file = ret->file_count - 1,
                                 .json = document});
        if (type == PATCH_JSON ? json_is_array(document) : json_is_object(document))
            continue;
        (void)error_set(err, ERROR_USAGE, "a %s patch is %s", type_names[type],
                        type == PATCH_JSON ? "a list of operations" : "an object with fields");
        return at_line(err, ret, &ret->items[ret->count - 1], "");
    }
    if (ret->count == before)
        text_list_add_owned(&ret->warnings, xasprintf("patch file '%s' is empty", path));
    return 0;
}

/* Reads a patch file. `ret` keeps its text; when `ret` is NULL, the file is only checked. */
static int read_file(struct host *host, const char *path, enum patch_type type, struct patches *ret,
                     struct error *err) {
    _cleanup_(freep) char *text = NULL;
    size_t len;

    if (host_read_text(host, path, PATCH_FILE_SIZE_MAX, &text, &len, err) < 0 ||
        parse_text(text, len, path, type, ret, err) < 0)
        return -1;
    if (!ret)
        return 0;
    if ((ret->texts_len += len) > PATCH_TEXTS_MAX)
        return error_set(err, ERROR_USAGE, "%s: more than 1 MiB of patches for the kubelet", path);
    if (!ret->texts)
        ret->texts = json_array();
    json_array_append_new(ret->texts, json_pack("{s:s, s:s%}", "path", path, "text", text, len));
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
    /* The patch is not for a worker. It is still parsed, as kubeadm does. */
    if (target == PATCH_OTHER)
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

int patches_recall(const json_t *texts, struct patches *ret, struct error *err) {
    json_each(texts, i, item) {
        const char *path = json_text_or(item, "path", ""), *text = json_text_or(item, "text", "");
        enum patch_type type = PATCH_STRATEGIC;
        enum patch_target target;
        const char *reason;

        if (patch_file_name(path_base(path), &target, &type, &reason, err) < 0)
            return -1;
        if (target != PATCH_KUBELET)
            return error_set(err, ERROR_MALFORMED,
                             "the patches of the join: '%s' is not a patch file", path);
        if (parse_text(text, strlen(text), path, type, ret, err) < 0)
            return -1;
    }
    ret->texts = json_incref((json_t *)texts);
    return 0;
}

/* ---- applying of patches ---- */

int patches_apply(const struct patches *patches, const json_t *config, json_t **ret,
                  struct text_list *applied, struct error *err) {
    _cleanup_json_ json_t *current = json_deep_copy(config);

    for (size_t i = 0; i < patches->count; i++) {
        const struct patch *patch = &patches->items[i];
        _cleanup_(text_free) struct text at = {0}; /* Path of the error within the patch. */
        json_t *next = NULL;
        size_t operation;
        int result = 0;

        if (patch->type == PATCH_JSON) {
            result = json_patch_apply(current, patch->json, &next, &operation, err);
            if (result < 0)
                text_addf(&at, "[%zu]", operation);
        } else if (patch->type == PATCH_STRATEGIC) {
            result = strategic_merge(current, patch->json, &next, &at, err);
        } else {
            next = json_merge_patch(current, patch->json);
        }
        if (result < 0)
            return at_line(err, patches, patch, text_str(&at));
        json_decref(current);
        current = next;

        /* A patch must not change the kind or version of the document. */
        if (!text_equal(json_text_at(current, "kind"), "KubeletConfiguration") ||
            !text_equal(json_text_at(current, "apiVersion"), "kubelet.config.k8s.io/v1beta1")) {
            (void)error_set(err, ERROR_USAGE,
                            "the patched document is no longer a KubeletConfiguration of "
                            "kubelet.config.k8s.io/v1beta1");
            return at_line(err, patches, patch, "");
        }
        if (applied)
            text_list_add_owned(applied,
                                xasprintf("%s (%s)", patch->path, type_names[patch->type]));
    }
    *ret = take_ptr(current);
    return 0;
}
