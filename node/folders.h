/* The folders of a node: who may read them, and who may add to them.
 *
 * A join makes and closes a folder before anything is written, run or started below it
 * (join/undo/journal.h: journal_own_folder()). One that stands there already loses what its row
 * would not give to others; nothing is added, and reset gives it back the access that it had.
 * SECURITY.md has the same table. */
#pragma once

#include "host/host.h"

struct node_folder {
    const char *path;
    enum host_access access;
    bool others_write; /* what lies in it may belong to others: pods' volumes and logs */
    bool deep;         /* what lies in the folders in it counts, too */
    const char *what;  /* is in it, for a person */
};
/* Above comes before below. */
extern const struct node_folder node_folders[];
extern const size_t node_folder_count;

/* The row of just this folder; NULL: it has none. */
const struct node_folder *node_folder_find(const char *path);
/* What a stranger put into a folder's way, or directly into it where only the node writes. Kinds
 * and `ret` as host_stranger(). */
int node_folder_stranger(struct host *host, const struct node_folder *row,
                         struct host_stranger *ret, struct error *err);
/* Makes the folder, closes it, and looks at it and at what lies in it: ERROR_DENIED where a
 * junction or a stranger's file is there (host_stranger()), else the kinds of host_make_folder().
 */
int node_folder_close(struct host *host, const char *path, struct error *err);
