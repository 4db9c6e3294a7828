/* Reads untrusted .zip, .tar.gz and .tar.zst in memory, and packs .zip, by libarchive. */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "base/text.h"

/* A file to read from an archive. */
struct bundle_archive_member {
    const char *path; /* Path in the archive; borrowed. */
    size_t max;       /* Limit of the size in bytes. */
    char *data;       /* Content, NUL-terminated; the caller frees it, also after a failure. */
    size_t len;
};
/* Checks every entry and reads the contents of the wanted ones; `count` 0 only checks. Fails with
 * ERROR_MALFORMED (no archive, truncated, encrypted), ERROR_UNTRUSTED (a path that leaves the
 * archive, a link or device, a duplicate name, more than 1024 entries, more than 2 GiB unpacked),
 * ERROR_ABSENT (a wanted entry is missing). */
int bundle_archive_read_all(const char *data, size_t len, struct bundle_archive_member *wanted,
                            size_t count, struct error *err);
/* Reads one file of at most `max` bytes; a larger one fails with ERROR_UNTRUSTED. Fails with
 * ERROR_ABSENT when it is not there. *ret is NUL-terminated; the caller frees it. */
int bundle_archive_read(const char *data, size_t len, const char *path, size_t max, char **ret,
                        size_t *ret_len, struct error *err);

/* Adds the paths of all files to the list, also before a failure. */
int bundle_archive_files(const char *data, size_t len, struct text_list *ret, struct error *err);

/* A file to pack. Text and data are borrowed. */
struct bundle_archive_file {
    const char *path;
    const char *data;
    size_t len;
};
/* Packs the files into a .zip without compression. The same files give the same bytes. The caller
 * frees *ret. */
int bundle_archive_make(const struct bundle_archive_file *files, size_t count, char **ret,
                        size_t *ret_len, struct error *err);

/* Which paths a bundle may name for its own files and for targets on a node. Pure. */

/* Returns NULL if the path is safe: relative, with '/', without an empty part, "." or "..", and
 * without a drive, backslash or control character. Else returns the fault, to follow the path in a
 * message ("leads out of the archive"). */
const char *bundle_path_fault(const char *path);
/* Is the target a file below C:\k, C:\opt\cni\bin or C:\Program Files\containerd by the rules of
 * Windows (no "..", no stream, no part that ends in a dot or blank)? */
bool bundle_target_is_safe(const char *target);
