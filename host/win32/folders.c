/* Folders on Windows: making, listing, and removing without following links. */
#include "host/win32/win32.h"

#include "host/path.h"

enum { TREE_DEPTH_MAX = 100, REMOVE_TRIES = 100 }; /* of 50 ms each */

static bool is_link(DWORD attributes, DWORD reparse_tag) {
    return (attributes & FILE_ATTRIBUTE_REPARSE_POINT) &&
           (reparse_tag == IO_REPARSE_TAG_SYMLINK || reparse_tag == IO_REPARSE_TAG_MOUNT_POINT);
}

enum host_file_type win32_file_type(struct host *, const char *path) {
    _cleanup_wide_ wchar_t *wide = win32_wide_path(path);
    DWORD attributes = GetFileAttributesW(wide);
    WIN32_FIND_DATAW found = {0};
    HANDLE search;

    if (attributes == INVALID_FILE_ATTRIBUTES)
        return HOST_ABSENT;
    if (attributes & FILE_ATTRIBUTE_REPARSE_POINT) {
        search = FindFirstFileW(wide, &found); /* it alone tells the kind of reparse point */
        if (search != INVALID_HANDLE_VALUE)
            FindClose(search);
        if (is_link(attributes, found.dwReserved0))
            return HOST_LINK;
    }
    return attributes & FILE_ATTRIBUTE_DIRECTORY ? HOST_FOLDER : HOST_FILE;
}

static int make_one(const char *path, SECURITY_ATTRIBUTES *attributes, struct error *err) {
    _cleanup_wide_ wchar_t *wide = win32_wide_path(path);
    DWORD code;

    if (CreateDirectoryW(wide, attributes))
        return 0;
    code = GetLastError();
    if (code != ERROR_ALREADY_EXISTS && code != ERROR_ACCESS_DENIED) /* a root says the latter */
        return win32_fail(err, code, "make folder '%s'", path);
    if (!(GetFileAttributesW(wide) & FILE_ATTRIBUTE_DIRECTORY))
        return error_set_os(err, ERROR_HOST, code, "make folder '%s': a file with that name exists",
                            path);
    if (GetFileAttributesW(wide) == INVALID_FILE_ATTRIBUTES)
        return win32_fail(err, code, "make folder '%s'", path);
    if (attributes && win32_access_apply(wide, attributes->lpSecurityDescriptor, err) < 0)
        return error_prefix(err, "make folder '%s'", path);
    return 0;
}

int win32_make_parents(const char *path, struct error *err) {
    _cleanup_(freep) char *parent = path_parent(path);
    _cleanup_wide_ wchar_t *wide = parent ? win32_wide_path(parent) : NULL;
    DWORD attributes = wide ? GetFileAttributesW(wide) : FILE_ATTRIBUTE_DIRECTORY;

    if (attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY))
        return 0;
    if (win32_make_parents(parent, err) < 0)
        return -1;
    return make_one(parent, NULL, err);
}

int win32_make_folder(struct host *, const char *path, enum host_access access, struct error *err) {
    SECURITY_ATTRIBUTES *attributes = NULL;
    int result;

    if (win32_make_parents(path, err) < 0 || win32_access_make(access, true, &attributes, err) < 0)
        return -1;
    result = make_one(path, attributes, err);
    win32_access_free(attributes);
    return result;
}

/* Calls `visit` with each entry of a folder; stops at its first failure. */
static int each_entry(const wchar_t *folder, const char *path,
                      int (*visit)(void *, const WIN32_FIND_DATAW *, struct error *), void *context,
                      struct error *err) {
    _cleanup_wide_ wchar_t *pattern = win32_wide_join(folder, L"*");
    WIN32_FIND_DATAW found;
    HANDLE search;
    int result = 0;
    bool root = wcslen(folder) && folder[wcslen(folder) - 1] == L'\\';

    search = FindFirstFileExW(pattern, FindExInfoBasic, &found, FindExSearchNameMatch, NULL, 0);
    if (search == INVALID_HANDLE_VALUE)
        return GetLastError() == ERROR_FILE_NOT_FOUND && root
                   ? 0
                   : win32_fail(err, GetLastError(), "list '%s'", path);
    do {
        if (wcscmp(found.cFileName, L".") != 0 && wcscmp(found.cFileName, L"..") != 0)
            result = visit(context, &found, err);
    } while (result == 0 && FindNextFileW(search, &found));
    if (result == 0 && GetLastError() != ERROR_NO_MORE_FILES)
        result = win32_fail(err, GetLastError(), "list '%s'", path);
    FindClose(search);
    return result;
}

static int add_name(void *context, const WIN32_FIND_DATAW *found, struct error *) {
    text_list_add_owned(context, win32_narrow(found->cFileName));
    return 0;
}

int win32_list(struct host *host, const char *path, struct text_list *ret, struct error *err) {
    _cleanup_wide_ wchar_t *wide = win32_wide_path(path);
    enum host_file_type type = win32_file_type(host, path);

    if (type == HOST_ABSENT)
        return error_set_os(err, ERROR_ABSENT, 3, "list '%s': no such folder", path);
    if (type == HOST_FILE)
        return error_set(err, ERROR_HOST, "list '%s': not a folder", path);
    return each_entry(wide, path, add_name, ret, err);
}

/* Removes one file, link or empty folder. Waits a little for a deletion under way elsewhere, and
 * for a program that is ending: a service is "stopped" before its process has gone. */
static int remove_one(const wchar_t *path, DWORD attributes, const char *shown, struct error *err) {
    for (int i = 0;; i++) {
        BOOL done;
        DWORD code;

        if (attributes & FILE_ATTRIBUTE_READONLY)
            (void)SetFileAttributesW(path, attributes & ~(DWORD)FILE_ATTRIBUTE_READONLY);
        done = attributes & FILE_ATTRIBUTE_DIRECTORY ? RemoveDirectoryW(path) : DeleteFileW(path);
        code = GetLastError();
        if (done || code == ERROR_FILE_NOT_FOUND || code == ERROR_PATH_NOT_FOUND)
            return 0;
        if ((code != ERROR_SHARING_VIOLATION && code != ERROR_ACCESS_DENIED) || i == REMOVE_TRIES)
            return win32_fail(err, code, "remove '%s'", shown);
        Sleep(50);
    }
}

int win32_remove(struct host *, const char *path, struct error *err) {
    _cleanup_wide_ wchar_t *wide = win32_wide_path(path);
    DWORD attributes = GetFileAttributesW(wide);

    if (attributes == INVALID_FILE_ATTRIBUTES)
        return 0;
    return remove_one(wide, attributes, path, err);
}

struct tree {
    const wchar_t *folder;
    const char *shown;
    int depth;
};

static int remove_below(void *context, const WIN32_FIND_DATAW *found, struct error *err) {
    const struct tree *tree = context;
    _cleanup_wide_ wchar_t *path = win32_wide_join(tree->folder, found->cFileName);
    _cleanup_(freep) char *name = win32_narrow(found->cFileName);
    _cleanup_(freep) char *shown = xasprintf("%s\\%s", tree->shown, name);
    struct tree below = {path, shown, tree->depth + 1};
    DWORD attributes = found->dwFileAttributes;

    if (below.depth > TREE_DEPTH_MAX)
        return error_set(err, ERROR_HOST, "remove '%s': it is nested too deeply", tree->shown);
    if ((attributes & FILE_ATTRIBUTE_DIRECTORY) && !(attributes & FILE_ATTRIBUTE_REPARSE_POINT) &&
        each_entry(path, shown, remove_below, &below, err) < 0)
        return -1;
    return remove_one(path, attributes, shown, err);
}

int win32_remove_tree(struct host *host, const char *path, struct error *err) {
    _cleanup_wide_ wchar_t *wide = win32_wide_path(path);
    struct tree tree = {wide, path, 0};

    if (win32_file_type(host, path) == HOST_FOLDER &&
        each_entry(wide, path, remove_below, &tree, err) < 0)
        return -1;
    return win32_remove(host, path, err);
}

int win32_free_space(struct host *host, const char *path, uint64_t *ret, struct error *err) {
    _cleanup_(freep) char *folder = xstrdup(path);
    _cleanup_wide_ wchar_t *wide = NULL;
    ULARGE_INTEGER available;

    while (win32_file_type(host, folder) == HOST_ABSENT) { /* the nearest that is there */
        char *parent = path_parent(folder);

        if (!parent)
            break;
        text_set(&folder, parent);
    }
    wide = win32_wide(folder);
    if (!GetDiskFreeSpaceExW(wide, &available, NULL, NULL))
        return win32_fail(err, GetLastError(), "query free space on '%s'", path);
    *ret = available.QuadPart;
    return 0;
}
