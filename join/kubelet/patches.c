/* kubeadm's patches folder: reading it, and applying what it holds for the kubelet. */
#include "join/kubelet/patches.h"

#include "base/json_patch.h"
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
    for (size_t i = 0; i < patches->count; i++) {
        free(patches->items[i].path);
        json_decref(patches->items[i].json);
    }
    free(patches->items);
    for (size_t i = 0; i < patches->file_count; i++)
        yaml_documents_free(patches->files[i]);
    free(patches->files);
    text_list_free(&patches->warnings);
    *patches = (struct patches){0};
}

static int at_line(struct error *err, const char *path, const struct yaml_node *node) {
    return error_prefix(err, "%s: line %zu", path, yaml_line(node));
}

static int check_shape(const struct patch *patch, struct error *err) {
    if (patch->type == PATCH_JSON ? json_is_array(patch->json) : json_is_object(patch->json))
        return 0;
    (void)error_set(err, ERROR_USAGE, "a %s patch is %s", type_names[patch->type],
                    patch->type == PATCH_JSON ? "a list of operations" : "an object with fields");
    return at_line(err, patch->path, patch->node);
}

static int add_document(const struct yaml_node *node, const char *path, enum patch_type type,
                        struct patches *ret, struct error *err) {
    if (yaml_type(node) == YAML_NULL) /* comments alone */
        return 0;
    if (ret->count >= PATCHES_MAX)
        return error_set(err, ERROR_USAGE, "%s: more than %d patches", path, PATCHES_MAX);
    array_add(ret->items, ret->count,
              (struct patch){
                  .path = xstrdup(path), .type = type, .node = node, .json = yaml_to_json(node)});
    return check_shape(&ret->items[ret->count - 1], err);
}

/* `ret` NULL: the file is read and judged alone. */
static int read_file(struct host *host, const char *path, enum patch_type type, struct patches *ret,
                     struct error *err) {
    struct yaml_documents *documents = NULL;
    _cleanup_(freep) char *text = NULL;
    size_t before = ret ? ret->count : 0, len;

    if (host_read_text(host, path, PATCH_FILE_SIZE_MAX, &text, &len, err) < 0 ||
        yaml_parse(text, len, path, &documents, err) < 0)
        return -1;
    if (!ret) {
        yaml_documents_free(documents);
        return 0;
    }
    array_add(ret->files, ret->file_count, documents);
    for (size_t i = 0; i < yaml_documents_count(documents); i++)
        if (add_document(yaml_document(documents, i), path, type, ret, err) < 0)
            return -1;
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

/* The node that a JSON pointer names, or the deepest that is there. */
static const struct yaml_node *node_at(const struct yaml_node *node, const char *pointer) {
    while (*pointer == '/') {
        size_t len = strcspn(pointer + 1, "/");
        const struct yaml_node *next = NULL;
        long long index;
        struct text key = {0};

        for (size_t i = 0; yaml_type(node) == YAML_MAP && i < yaml_count(node); i++) {
            text_clear(&key);
            json_pointer_add(&key, yaml_key(node, i));
            if (key.len == len + 1 && strncmp(text_str(&key), pointer, len + 1) == 0)
                next = yaml_value(node, i);
        }
        text_clear(&key);
        text_add_bytes(&key, pointer + 1, len);
        if (yaml_type(node) == YAML_LIST &&
            text_to_number(text_str(&key), 0, 1 << 30, &index) == 0 &&
            (size_t)index < yaml_count(node))
            next = yaml_item(node, (size_t)index);
        text_free(&key);
        if (!next)
            break;
        node = next;
        pointer += len + 1;
    }
    return node;
}

static int apply_json(const struct patch *patch, const json_t *config, json_t **ret,
                      struct error *err) {
    size_t operation;

    if (json_patch_apply(config, patch->json, ret, &operation, err) == 0)
        return 0;
    return at_line(err, patch->path,
                   operation < yaml_count(patch->node) ? yaml_item(patch->node, operation)
                                                       : patch->node);
}

static int apply_strategic(const struct patch *patch, const json_t *config, json_t **ret,
                           struct error *err) {
    _cleanup_(text_free) struct text where = {0};

    if (strategic_merge(config, patch->json, ret, &where, err) == 0)
        return 0;
    return at_line(err, patch->path, node_at(patch->node, text_str(&where)));
}

/* A patch may change everything but what the document is. */
static int check_result(const struct patch *patch, const json_t *config, struct error *err) {
    if (text_equal(json_text_at(config, "kind"), "KubeletConfiguration") &&
        text_equal(json_text_at(config, "apiVersion"), "kubelet.config.k8s.io/v1beta1"))
        return 0;
    (void)error_set(err, ERROR_USAGE,
                    "the patched document is no longer a KubeletConfiguration of "
                    "kubelet.config.k8s.io/v1beta1");
    return at_line(err, patch->path, patch->node);
}

int patches_apply(const struct patches *patches, const json_t *config, json_t **ret,
                  struct text_list *applied, struct error *err) {
    _cleanup_json_ json_t *current = json_deep_copy(config);

    for (size_t i = 0; i < patches->count; i++) {
        const struct patch *patch = &patches->items[i];
        json_t *next = NULL;
        int result = 0;

        if (patch->type == PATCH_JSON)
            result = apply_json(patch, current, &next, err);
        else if (patch->type == PATCH_STRATEGIC)
            result = apply_strategic(patch, current, &next, err);
        else
            next = json_merge_patch(current, patch->json);
        if (result < 0)
            return -1;
        json_decref(current);
        current = next;
        if (check_result(patch, current, err) < 0)
            return -1;
        if (applied)
            text_list_add_owned(applied,
                                xasprintf("%s (%s)", patch->path, type_names[patch->type]));
    }
    *ret = take_ptr(current);
    return 0;
}
