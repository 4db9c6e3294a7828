/* kubeadm's patches folder (--patches, patches.directory): which files count, and their patches
 * applied to the KubeletConfiguration. */
#pragma once

#include "base/yaml.h"
#include "host/host.h"

enum patch_type { PATCH_STRATEGIC, PATCH_MERGE, PATCH_JSON };
enum {
    PATCH_FILES_MAX = 1000,
    PATCHES_MAX = 1000,
    PATCH_FILE_SIZE_MAX = 1024 * 1024,
    PATCH_FOLDERS_DEPTH_MAX = 8
};

/* What a file's name says (upstream: cmd/kubeadm/app/util/patches, parseFilename). */
enum patch_target { PATCH_NONE, PATCH_OTHER, PATCH_KUBELET };
/* "target[suffix][+type].ext", letters as they are: PATCH_KUBELET with its type;
 * PATCH_OTHER for kubeadm's other targets, which concern no worker; PATCH_NONE with *ret_reason
 * ("...") for a name that is none. A '+' without a known type behind it, or behind the first dot,
 * is ERROR_USAGE. -1 then. */
int patch_file_name(const char *name, enum patch_target *ret, enum patch_type *ret_type,
                    const char **ret_reason, struct error *err);

/* One patch: a document of a file. */
struct patch {
    char *path;
    enum patch_type type;
    size_t file;  /* of `files`: where its values stand */
    json_t *json; /* belongs to that */
};
struct patches {
    struct patch *items; /* in the order in which they are applied: by path */
    size_t count;
    struct yaml *files;
    size_t file_count;
    struct text_list warnings; /* files that were passed over, and why */
};
void patches_free(struct patches *patches);

/* The KubeletConfiguration's patches in the folder and those in it. ERROR_USAGE: no folder, a name
 * or a text (also of another program's patch) that is refused ("C:\patches\x.yaml: line 3 column 1:
 * ..."). */
int patches_read(struct host *host, const char *folder, struct patches *ret, struct error *err);

/* All of them applied in order to the KubeletConfiguration. *ret is a new reference; each patch
 * adds a line to `applied` ("C:\patches\kubeletconfiguration.yaml (strategic)"; NULL = no list).
 * ERROR_USAGE with file and line; also when the result is not a KubeletConfiguration any more. */
int patches_apply(const struct patches *patches, const json_t *config, json_t **ret,
                  struct text_list *applied, struct error *err);

/* Kubernetes' strategic merge patch for a type whose lists have no merge keys (as
 * KubeletConfiguration's): objects merge, null removes, lists are replaced whole; the directives
 * $patch (replace, delete), $retainKeys, $setElementOrder/LIST and $deleteFromPrimitiveList/LIST.
 * *ret is a new reference. ERROR_USAGE; `where` (or NULL) is then a path into the patch, as
 * json_at()'s. Upstream: k8s.io/apimachinery/pkg/util/strategicpatch. A directive of the wrong
 * shape, or one that would be left in the result, is refused, where upstream passes over it. */
int strategic_merge(const json_t *original, const json_t *patch, json_t **ret, struct text *where,
                    struct error *err);
