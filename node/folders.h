/* The folders of a node: who may read them, and who may add files to them.
 *
 * A join makes a folder and restricts its access before anything is written, run or started below
 * it (join/undo/journal.h: journal_own_folder()). An existing folder loses access that its row does
 * not allow; no access is added, and reset restores the access it had. SECURITY.md has the same
 * table. */
#pragma once

#include "host/host.h"

struct node_folder {
    const char *path;
    enum host_access access;
    bool others_write; /* The content may belong to others: Pods' volumes and logs. */
    bool deep;         /* The content of subfolders is checked, too. */
    const char *what;  /* What the folder contains, for people. */
};
/* The table of folders; a folder comes before those below it. */
extern const struct node_folder node_folders[];
extern const size_t node_folder_count;

/* Returns the row of exactly this folder, or NULL. */
const struct node_folder *node_folder_find(const char *path);
/* Finds a file or junction that an untrusted user put on the path of a folder or, where only the
 * node writes, directly into it. Fails and sets `ret` as host_find_untrusted(). */
int node_folder_find_untrusted(struct host *host, const struct node_folder *row,
                               struct host_untrusted *ret, struct error *err);
/* Makes the folder, restricts its access, and checks it and its content. Fails with ERROR_DENIED
 * for a junction or an untrusted user's file (host_find_untrusted()); otherwise it fails as
 * host_make_folder(). */
int node_folder_close(struct host *host, const char *path, struct error *err);
