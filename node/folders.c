/* The table of a node's folders. */
#include "node/folders.h"

const struct node_folder node_folders[] = {
    {HOST_OWN_FOLDER, HOST_SECRET, false, false,
     "journal, backups, settings of services, logs, reports, winjoin-network's own winjoin.exe"},
    {"C:\\k", HOST_READ_ONLY, false, false, "programs, which run as LocalSystem"},
    {"C:\\opt\\cni\\bin", HOST_READ_ONLY, false, false, "CNI programs"},
    {"C:\\Program Files\\containerd", HOST_READ_ONLY, false, false,
     "containerd and its configuration"},
    {"C:\\ProgramData\\containerd", HOST_SECRET, false, false,
     "containerd's images and containers"},
    {"C:\\etc\\kubernetes", HOST_READ_ONLY, false, false, "kubeconfigs, ca.crt"},
    {"C:\\etc\\kubernetes\\manifests", HOST_READ_ONLY, false, false, "static pods"},
    {"C:\\etc\\kubernetes\\pki", HOST_READ_ONLY, false, false, "the cluster's CA"},
    {"C:\\etc\\cni\\net.d", HOST_READ_ONLY, false, false, "the configuration of CNI"},
    {"C:\\etc\\containerd", HOST_SECRET, false, false,
     "what the owner adds to containerd's configuration"},
    {"C:\\etc\\containerd\\conf.d", HOST_SECRET, false, false,
     "files of containerd's configuration"},
    {"C:\\etc\\containerd\\certs.d", HOST_SECRET, false, true,
     "registries: mirrors, CAs, credentials"},
    {"C:\\etc\\kube-flannel", HOST_READ_ONLY, false, false, "the configuration of flannel"},
    {"C:\\run\\flannel", HOST_READ_ONLY, false, false, "what flanneld says of the node's subnet"},
    {"C:\\var\\lib\\kubelet", HOST_SECRET, false, false, "the kubelet's configuration and state"},
    {"C:\\var\\lib\\kubelet\\pki", HOST_SECRET, false, false,
     "the node's certificates with their keys, also those that the kubelet renews"},
    {"C:\\var\\lib\\kubelet\\plugins", HOST_SECRET, false, false, "sockets of CSI drivers"},
    {"C:\\var\\lib\\kubelet\\plugins_registry", HOST_SECRET, false, false,
     "where plugins register"},
    {"C:\\var\\lib\\kubelet\\device-plugins", HOST_SECRET, false, false,
     "where device plugins register"},
    {"C:\\var\\lib\\kubelet\\pods", HOST_POD_VOLUMES, true, false, "volumes of pods"},
    {"C:\\var\\lib\\cni", HOST_READ_ONLY, false, false, "which addresses pods have"},
    {"C:\\var\\lib\\ovn-kubernetes", HOST_READ_ONLY, false, false, "the state of OVN-Kubernetes"},
    {"C:\\var\\lib\\ovn-kubernetes\\pki", HOST_SECRET, false, false, "its keys"},
    {"C:\\var\\log\\pods", HOST_READ_ONLY, true, false, "logs of pods"},
    {"C:\\var\\log\\containers", HOST_READ_ONLY, true, false, "links to logs of pods"},
};
const size_t node_folder_count = ARRAY_SIZE(node_folders);

const struct node_folder *node_folder_find(const char *path) {
    for (size_t i = 0; i < node_folder_count; i++)
        if (text_equal_nocase(node_folders[i].path, path))
            return &node_folders[i];
    return NULL;
}

int node_folder_find_untrusted(struct host *host, const struct node_folder *row,
                               struct host_untrusted *ret, struct error *err) {
    /* Checks a path below the folder, so that a link at the folder itself is found. */
    _cleanup_(freep) char *below = xasprintf("%s\\x", row->path);
    _cleanup_(text_list_free) struct text_list names = {0};

    if ((row->others_write ? host_find_untrusted(host, below, ret, err)
                           : host_find_untrusted_in(host, row->path, ret, err)) < 0)
        return -1;
    if (!row->deep || ret->path)
        return 0;
    if (host_list(host, row->path, &names, err) < 0)
        return error_forgive(err, ERROR_ABSENT);
    for (size_t i = 0; i < names.count && !ret->path; i++) {
        _cleanup_(freep) char *folder = xasprintf("%s\\%s", row->path, names.items[i]);

        if (host_file_type(host, folder) == HOST_FOLDER &&
            host_find_untrusted_in(host, folder, ret, err) < 0)
            return -1;
    }
    return 0;
}

int node_folder_close(struct host *host, const char *path, struct error *err) {
    _cleanup_(host_untrusted_free) struct host_untrusted untrusted = {0};
    const struct node_folder *row = node_folder_find(path), *nearest = row;

    /* Use the access of the folder's own row, of the nearest row above, or HOST_READ_ONLY. */
    for (size_t i = node_folder_count; i > 0 && !nearest; i--) {
        size_t len = strlen(node_folders[i - 1].path);
        _cleanup_(freep) char *head = xstrndup(path, len);

        if (text_equal_nocase(head, node_folders[i - 1].path) && path[strlen(head)] == '\\')
            nearest = &node_folders[i - 1];
    }
    if (host_make_folder(host, path, nearest ? nearest->access : HOST_READ_ONLY, err) < 0)
        return -1;
    if (!row)
        return host_refuse_untrusted_in(host, path, err);
    if (row->others_write)
        return 0;
    return node_folder_find_untrusted(host, row, &untrusted, err) < 0
               ? -1
               : host_untrusted_refuse(&untrusted, err);
}
