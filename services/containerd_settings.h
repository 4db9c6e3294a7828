/* What a containerd is told by its service and its config.toml with all imports: winjoin's own, one
 * that an image brought, and a file that its owner left. Sources: containerd v2.4,
 * cmd/containerd/server/config/config.go (imports, versions 1 to 4), defaults/defaults_windows.go,
 * internal/cri/config/config_windows.go, docs/cri/config.md. */
#pragma once

#include "host/host.h"

#define CONTAINERD_FOLDER "C:\\Program Files\\containerd"
#define CONTAINERD_CONFIG_PATH CONTAINERD_FOLDER "\\config.toml"
#define CONTAINERD_DATA "C:\\ProgramData\\containerd"
#define CNI_CONF_DIR "C:\\etc\\cni\\net.d"
#define CNI_BIN_DIR "C:\\opt\\cni\\bin"
/* The owner's: no run of winjoin makes or removes it. */
#define CONTAINERD_OWNER_FOLDER "C:\\etc\\containerd"
#define CONTAINERD_DROP_INS CONTAINERD_OWNER_FOLDER "\\conf.d\\*.toml"
#define CONTAINERD_REGISTRIES CONTAINERD_OWNER_FOLDER "\\certs.d"

/* containerd_settings_free(). Paths are absolute; NULL or empty: not said. */
struct containerd_settings {
    bool foreign;              /* its service is not winjoin's */
    char *config;              /* the file that it reads, whether or not that exists */
    char *conf_dir;            /* of CNI */
    struct text_list bin_dirs; /* of CNI's programs */
    char *sandbox_image;
    char *pipe; /* "\\\\.\\pipe\\containerd-containerd" */
    char *root, *state;
    char *registries;         /* config_path of the registries, as it is written */
    struct text_list imports; /* of the first file, as it writes them */
    struct text_list others;  /* what else an owner sets: "registry.mirrors", "proxy_plugins" */
    bool imports_mirrors;     /* registry.mirrors is set by an imported file */
    bool without_cri;         /* disabled_plugins holds what serves the kubelet */
};
void containerd_settings_free(struct containerd_settings *settings);

/* The containerd of this node. Where its service is absent or winjoin's, the folders are winjoin's
 * and no file is read; of another one's what it says by its command line (also behind nssm) and its
 * files, with containerd's defaults. Kinds: those of containerd_settings_read(). */
int containerd_settings_find(struct host *host, struct containerd_settings *ret, struct error *err);
/* What the file says, with or without its imports, without defaults; one that is absent says
 * nothing. Kinds: ERROR_MALFORMED (the file and the line), ERROR_UNSUPPORTED (a path that is not
 * absolute), ERROR_DENIED (a stranger may have written it), those of host_read(). */
int containerd_settings_read(struct host *host, const char *path, bool imports,
                             struct containerd_settings *ret, struct error *err);
/* Where this node's containerd looks for CNI's configuration; winjoin's folder where it cannot be
 * told. The caller frees. */
char *containerd_cni_folder(struct host *host);
/* Where this node's containerd keeps images and containers, or will: its root, by its files and the
 * owner's (CONTAINERD_DROP_INS); CONTAINERD_DATA where none says it. The caller frees. Kinds: those
 * of containerd_settings_read(). */
int containerd_data_folder(struct host *host, const struct containerd_settings *settings,
                           char **ret, struct error *err);
/* The folder of CNI's programs: winjoin's where containerd looks there, else the first. Borrowed.
 */
const char *containerd_cni_programs(const struct containerd_settings *settings);
