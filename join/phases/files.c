/* The phase that writes the text files of the kubelet and containerd. */
#include "join/files/ca_file.h"
#include "join/files/node_files.h"
#include "join/found/need.h"
#include "join/kubelet/kubelet_files.h"
#include "join/phases/phases.h"
#include "netsetup/cni_config.h"

static int write_files(struct join *join, struct error *err) {
    _cleanup_(node_files_free) struct node_files files = {0};

    ca_file_warn(join->host, &join->found, &join->progress);
    node_files_kubernetes(join->host, &join->found, &files);
    if (node_files_write(&join->journal, &files, err) < 0)
        return -1;
    text_addf(&join->progress.detail,
              "config.yaml: %zu settings adapted for Windows; %s and %zu more",
              join->found.kubelet_changes.count, KUBELET_KUBECONFIG_FILE, files.count - 1);
    return 0;
}

int files_own_folders(struct join *join, struct error *err) {
    _cleanup_(freep) char *manifests = join_manifest_folder(join);
    const char *const folders[] = {KUBELET_FOLDER "\\plugins",
                                   KUBELET_FOLDER "\\plugins_registry",
                                   KUBELET_FOLDER "\\device-plugins",
                                   KUBELET_FOLDER "\\pods",
                                   "C:\\var\\log\\pods",
                                   "C:\\var\\log\\containers",
                                   KUBERNETES_FOLDER "\\pki",
                                   CNI_CONF_DIR,
                                   manifests};

    return journal_own_folders(&join->journal, folders, ARRAY_SIZE(folders), err);
}

int phase_files(struct join *join, struct error *err) {
    return files_own_folders(join, err) < 0 ? -1 : write_files(join, err);
}
