/* What the files of the posix host share: the folder that plays the Windows host, and its state. */
#pragma once

#include "base/json.h"
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

/* files.c. "C:\x" is <rootfs>/x, "Z:\x" is /x of this machine; other drives are absent. Links that
 * lead out of the rootfs are refused. */
int rootfs_read(struct host *, const char *, size_t, char **, size_t *, struct error *);
int rootfs_read_part(struct host *, const char *, uint64_t, size_t, char **, size_t *, uint64_t *,
                     struct error *);
int rootfs_write(struct host *, const char *, const void *, size_t, enum host_access,
                 struct error *);
int rootfs_make_folder(struct host *, const char *, enum host_access, struct error *);
int rootfs_access_get(struct host *, const char *, char **, struct error *);
int rootfs_access_set(struct host *, const char *, const char *, struct error *);
int rootfs_is_admins(struct host *, const char *, bool *, struct error *);
int rootfs_remove(struct host *, const char *, struct error *);
int rootfs_remove_tree(struct host *, const char *, struct error *);
int rootfs_rename(struct host *, const char *, const char *, struct error *);
int rootfs_link(struct host *, const char *, const char *, struct error *);
enum host_file_type rootfs_file_type(struct host *, const char *);
int rootfs_list(struct host *, const char *, struct text_list *, struct error *);
int rootfs_free_space(struct host *, const char *, uint64_t *, struct error *);
/* The machine's own path of a normalized Windows path. The caller frees. */
int rootfs_path(const struct posix_host *host, const char *path, char **ret, struct error *err);

/* process.c */
int rootfs_run(struct host *, const struct host_process *, int *, char **, struct error *);
/* Nothing is started: a played server loses no address. */
int rootfs_watcher_start(struct host *, const char *const *, struct host_watcher **,
                         struct error *);
void rootfs_watcher_end(struct host *, struct host_watcher *);
bool rootfs_watched_well(struct host *, unsigned);
