/* What the files of the posix host share: the folder that plays the Windows host, and its state. */
#pragma once

#include "host/host_ops.h"

struct posix_host {
    struct host host; /* first: this is what callers hold */
    char *rootfs;     /* real path; NULL: this machine, without Windows */
    json_t *state; /* host/model, kept in <rootfs>/.winjoin-host/state.json; NULL without rootfs */
    json_t *saved; /* a copy of what is there, or of the bare server */
};
static inline struct posix_host *rootfs_of(struct host *host) {
    return (struct posix_host *)host;
}

/* The operations: those of files in files.c, where "C:\x" is <rootfs>/x and "Z:\x" is /x of this
 * machine; other drives are absent, and links that lead out of the rootfs are refused. Programs in
 * process.c. No watcher is started, for a played server loses no address. */
HOST_OPS(HOST_OP_DECLARE, rootfs)
/* What a program that is started finds: ours as child_variable() hands it on, and additional items,
 * which win. */
void posix_child_environment(const char *const *additional, bool talks, struct text_list *ret);
/* The machine's own path of a normalized Windows path. The caller frees. */
int rootfs_path(const struct posix_host *host, const char *path, char **ret, struct error *err);
