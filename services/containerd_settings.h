/* The settings of a containerd, from its service and its config.toml with all imports. This may be
 * winjoin's own containerd, one that the image has, or a file that its owner left. Sources:
 * containerd v2.4, cmd/containerd/server/config/config.go (imports, versions 1 to 4),
 * defaults/defaults_windows.go, internal/cri/config/config_windows.go, docs/cri/config.md. */
#pragma once

#include "host/host.h"

#define CONTAINERD_FOLDER "C:\\Program Files\\containerd"
#define CONTAINERD_CONFIG_PATH CONTAINERD_FOLDER "\\config.toml"
#define CONTAINERD_DATA "C:\\ProgramData\\containerd"
#define CNI_CONF_DIR "C:\\etc\\cni\\net.d"
#define CNI_BIN_DIR "C:\\opt\\cni\\bin"
/* The owner's folder: winjoin neither makes nor removes it. */
#define CONTAINERD_OWNER_FOLDER "C:\\etc\\containerd"
#define CONTAINERD_DROP_INS CONTAINERD_OWNER_FOLDER "\\conf.d\\*.toml"
#define CONTAINERD_REGISTRIES CONTAINERD_OWNER_FOLDER "\\certs.d"

/* The settings. Paths are absolute; NULL or empty means not set. Free with
 * containerd_settings_free(). */
struct containerd_settings {
    bool foreign;              /* The service was not made by winjoin. */
    char *config;              /* Path of the configuration file, which may be absent. */
    char *conf_dir;            /* Folder of the CNI configuration. */
    struct text_list bin_dirs; /* Folders of CNI programs. */
    char *sandbox_image;
    char *pipe; /* The pipe, e.g. "\\\\.\\pipe\\containerd-containerd". */
    char *root, *state;
    char *registries;         /* config_path of the registries, as in the file. */
    struct text_list imports; /* Imports of the main file, as written there. */
    /* Other settings of the owner: "registry.mirrors", "proxy_plugins". */
    struct text_list others;
    bool imports_mirrors; /* An imported file sets registry.mirrors. */
    /* disabled_plugins contains the CRI plugin, which the kubelet needs. */
    bool without_cri;
};
void containerd_settings_free(struct containerd_settings *settings);

/* Finds the settings of this node's containerd. Where the service is absent or winjoin's, they are
 * winjoin's folders and no file is read. For another one they come from its command line (also one
 * that nssm starts) and its files, with containerd's defaults. Fails as
 * containerd_settings_read(). */
int containerd_settings_find(struct host *host, struct containerd_settings *ret, struct error *err);
/* Reads a file, with or without its imports, and adds no defaults; an absent file sets nothing.
 * Fails with ERROR_MALFORMED (names file and line), ERROR_UNSUPPORTED (a path that is not
 * absolute), ERROR_DENIED (an untrusted user may have written it), or as host_read(). */
int containerd_settings_read(struct host *host, const char *path, bool imports,
                             struct containerd_settings *ret, struct error *err);
/* Returns the folder in which this node's containerd reads the CNI configuration; winjoin's folder
 * when it cannot be found out. The caller frees it. */
char *containerd_cni_folder(struct host *host);
/* Gets the folder in which this node's containerd keeps, or will keep, images and containers:
 * `root` in its files and the owner's (CONTAINERD_DROP_INS), otherwise CONTAINERD_DATA. The caller
 * frees *ret. Fails as containerd_settings_read(). */
int containerd_data_folder(struct host *host, const struct containerd_settings *settings,
                           char **ret, struct error *err);
/* Returns the folder of CNI programs: winjoin's if containerd uses it, else the first. Borrowed. */
const char *containerd_cni_programs(const struct containerd_settings *settings);
