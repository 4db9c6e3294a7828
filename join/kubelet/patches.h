/* kubeadm's patches folder (--patches, patches.directory): finds its patch files and applies them
 * to the KubeletConfiguration. */
#pragma once

#include "base/yaml.h"
#include "host/host.h"

enum patch_type { PATCH_STRATEGIC, PATCH_MERGE, PATCH_JSON };
enum {
    PATCH_FILES_MAX = 1000,
    PATCHES_MAX = 1000,
    PATCH_FILE_SIZE_MAX = 1024 * 1024,
    PATCH_TEXTS_MAX = 1024 * 1024, /* All patch files for the kubelet together */
    PATCH_FOLDERS_DEPTH_MAX = 8
};

/* Target of a patch file by its name (upstream: cmd/kubeadm/app/util/patches, parseFilename). */
enum patch_target { PATCH_NONE, PATCH_OTHER, PATCH_KUBELET };
/* Parses the name of a patch file, "target[suffix][+type].ext", case-sensitive. Gives PATCH_KUBELET
 * and its type; PATCH_OTHER for kubeadm's other targets, which workers do not use; PATCH_NONE and
 * *ret_reason, a static text, for any other name. Returns -1 with ERROR_USAGE when no known type
 * follows a '+', or when the '+' is behind the first dot. */
int patch_file_name(const char *name, enum patch_target *ret, enum patch_type *ret_type,
                    const char **ret_reason, struct error *err);

/* One patch: a document of a file. */
struct patch {
    char *path;
    enum patch_type type;
    size_t file;  /* Index in `files`, for lines of values */
    json_t *json; /* The patch; owned by that file */
};
struct patches {
    struct patch *items; /* In the order of application: by path */
    size_t count;
    struct yaml *files;
    size_t file_count;
    struct text_list warnings; /* Files that are ignored, and why */
    json_t *texts;             /* The files' content, for patches_recall(); NULL means no file */
    size_t texts_len;
};
void patches_free(struct patches *patches);

/* Reads the folder's patches for the KubeletConfiguration, also from folders in it. Fails with
 * ERROR_USAGE when the folder is absent, or a name or text is refused, also of a patch for another
 * target ("C:\patches\x.yaml: line 3 column 1: ..."). */
int patches_read(struct host *host, const char *folder, struct patches *ret, struct error *err);

/* Reads patches from the `texts` of an earlier patches_read(), without the folder. The caller frees
 * *ret also after a failure. Fails with ERROR_USAGE for texts that are not as they were. */
int patches_recall(const json_t *texts, struct patches *ret, struct error *err);

/* Applies all patches in order to the KubeletConfiguration. *ret is a new reference. Each patch
 * adds a line to `applied` ("C:\patches\kubeletconfiguration.yaml (strategic)"; NULL means no
 * list). Fails with ERROR_USAGE, file and line, also when the result is no longer a
 * KubeletConfiguration. */
int patches_apply(const struct patches *patches, const json_t *config, json_t **ret,
                  struct text_list *applied, struct error *err);

/* Applies Kubernetes' strategic merge patch to a type whose lists have no merge keys, such as
 * KubeletConfiguration: objects are merged, null removes a field, lists are replaced. Directives:
 * $patch (replace, delete), $retainKeys, $setElementOrder/LIST and $deleteFromPrimitiveList/LIST.
 * *ret is a new reference. ERROR_USAGE; `where` (or NULL) is then the path in the patch, in the
 * form of json_at(). Upstream: k8s.io/apimachinery/pkg/util/strategicpatch. A directive of the
 * wrong type, or one that would stay in the result, is refused; upstream ignores it. */
int strategic_merge(const json_t *original, const json_t *patch, json_t **ret, struct text *where,
                    struct error *err);
