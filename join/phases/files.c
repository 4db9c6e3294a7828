/* This phase writes the text files for the kubelet and containerd. */
#include "join/wanted/wanted.h"
#include "join/found/need.h"
#include "join/kubelet/kubelet_files.h"
#include "join/phases/phases.h"

int files_own_folders(struct join *join, struct error *err) {
    static const char *const owners[] = {CONTAINERD_OWNER_FOLDER,
                                         CONTAINERD_OWNER_FOLDER "\\conf.d", CONTAINERD_REGISTRIES};
    _cleanup_(freep) char *manifests = join_manifest_folder(join);
    int result = find_containerd(join->host, &join->found, err);
    const char *const folders[] = {KUBELET_FOLDER "\\plugins",
                                   KUBELET_FOLDER "\\plugins_registry",
                                   KUBELET_FOLDER "\\device-plugins",
                                   KUBELET_FOLDER "\\pods",
                                   "C:\\var\\log\\pods",
                                   "C:\\var\\log\\containers",
                                   KUBERNETES_FOLDER "\\pki",
                                   manifests,
                                   join->found.containerd.conf_dir};

    if (result < 0)
        return -1;
    /* Folders of an administrator's containerd get restricted access when they exist. winjoin never
     * creates them. */
    for (size_t i = 0; i < ARRAY_SIZE(owners); i++)
        if (host_file_type(join->host, owners[i]) != HOST_ABSENT &&
            journal_own_folder(&join->journal, owners[i], err) < 0)
            return -1;
    return journal_own_folders(&join->journal, folders, ARRAY_SIZE(folders), err);
}

int phase_files(struct join *join, struct error *err) {
    _cleanup_(wanted_files_free) struct wanted_files files = {0};

    if (files_own_folders(join, err) < 0)
        return -1;
    ca_file_warn(join->host, &join->found, &join->progress);
    if (wanted_files_make(join->host, &join->found, (struct wanted_choice){.phase = "files"},
                          &files, err) < 0 ||
        wanted_files_write(&join->journal, &files, err) < 0)
        return -1;
    text_addf(&join->progress.detail,
              "config.yaml: %zu settings adapted for Windows; %s and %zu more",
              join->found.kubelet_changes.count, KUBELET_KUBECONFIG_FILE, files.count - 1);
    return 0;
}
