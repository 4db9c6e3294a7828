/* Declarations that the files of the POSIX host share: its structure and its functions. */
#pragma once

#include "host/host_ops.h"

struct posix_host {
    struct host host; /* Must be the first member, because callers hold a pointer to it. */
    char *rootfs; /* Real path of the root directory; NULL means this machine without Windows. */
    /* State of host/model, kept in <rootfs>/.winjoin-host/state.json; NULL without rootfs. */
    json_t *state;
    /* Copy of the state in the file, or of the default server when there is no file. */
    json_t *saved;
};
static inline struct posix_host *rootfs_of(struct host *host) {
    return (struct posix_host *)host;
}

/* The operations of the simulated server. Those of files are in files.c: "C:\x" is <rootfs>/x,
 * "Z:\x" is /x of this machine, other drives are absent, and links that lead out of the rootfs are
 * refused. Those of programs are in process.c. There is no watcher, because a simulated server
 * loses no address. */
HOST_OPS(HOST_OP_DECLARE, rootfs)
/* Collects the environment of a child program: this process's variables as child_variable() passes
 * them on, and the additional ones, which have priority. */
void posix_child_environment(const char *const *additional, bool talks, struct text_list *ret);
/* Returns the real path for a normalized Windows path. The caller frees it. */
int rootfs_path(const struct posix_host *host, const char *path, char **ret, struct error *err);
