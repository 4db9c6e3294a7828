/* Creates, lists and removes folders on Windows. Removal never follows links. */
#include "host/win32/win32.h"

#include "host/path.h"

/* REMOVE_TRIES counts attempts that are 50 ms apart. */
enum { TREE_DEPTH_MAX = 100, REMOVE_TRIES = 100 };

enum host_file_type win32_file_type(struct host *, const char *path) {
    _cleanup_wide_ wchar_t *wide = win32_wide_path(path);
    DWORD attributes = GetFileAttributesW(wide);
    WIN32_FIND_DATAW found = {0};
    HANDLE search;

    if (attributes == INVALID_FILE_ATTRIBUTES)
        return HOST_ABSENT;
    if (attributes & FILE_ATTRIBUTE_REPARSE_POINT) {
        /* Only FindFirstFile reports the kind of reparse point. */
        search = FindFirstFileW(wide, &found);
        if (search != INVALID_HANDLE_VALUE)
            FindClose(search);
        if ((attributes & FILE_ATTRIBUTE_REPARSE_POINT) &&
            (found.dwReserved0 == IO_REPARSE_TAG_SYMLINK ||
             found.dwReserved0 == IO_REPARSE_TAG_MOUNT_POINT))
            return HOST_LINK;
    }
    return attributes & FILE_ATTRIBUTE_DIRECTORY ? HOST_FOLDER : HOST_FILE;
}

/* Creates one folder. If something exists at the path, it must be a folder, and it loses the rights
 * that `access` would not give. */
static int make_one(const char *path, enum host_access access, struct error *err) {
    const DWORD flags = FILE_FLAG_OPEN_REPARSE_POINT | FILE_FLAG_BACKUP_SEMANTICS;
    const DWORD rights = access == HOST_PUBLIC ? 0 : READ_CONTROL | WRITE_DAC;
    _cleanup_wide_ wchar_t *wide = win32_wide_path(path);
    SECURITY_ATTRIBUTES *attributes = NULL;
    FILE_ATTRIBUTE_TAG_INFO info = {0};
    DWORD code = 0;
    HANDLE folder;
    int result = 0;

    if (win32_access_make(access, true, &attributes, err) < 0)
        return -1;
    if (!CreateDirectoryW(wide, attributes))
        code = GetLastError();
    win32_access_free(attributes);
    /* The root of a drive gives ERROR_ACCESS_DENIED. */
    if (code != ERROR_ALREADY_EXISTS && code != ERROR_ACCESS_DENIED)
        return code ? win32_fail(err, code, "make folder '%s'", path) : 0;

    folder = CreateFileW(wide, FILE_READ_ATTRIBUTES | rights, WIN32_SHARE_ALL, NULL, OPEN_EXISTING,
                         flags, NULL);
    if (folder == INVALID_HANDLE_VALUE ||
        !GetFileInformationByHandleEx(folder, FileAttributeTagInfo, &info, sizeof info))
        result = win32_fail(err, GetLastError(), "make folder '%s'", path);
    else if (!(info.FileAttributes & FILE_ATTRIBUTE_DIRECTORY))
        result = error_set_os(err, ERROR_HOST, ERROR_ALREADY_EXISTS,
                              "make folder '%s': a file with that name exists", path);
    else if (rights && win32_is_link(folder))
        result = error_set(err, ERROR_DENIED, "make folder '%s': it is a junction or a link", path);
    else if (rights && win32_access_clip(folder, access, err) < 0)
        result = error_prefix(err, "make folder '%s'", path);
    if (folder != INVALID_HANDLE_VALUE)
        CloseHandle(folder);
    return result;
}

static int make_missing(const char *path, struct error *err) {
    _cleanup_(freep) char *parent = path_parent(path);
    _cleanup_wide_ wchar_t *wide = parent ? win32_wide_path(parent) : NULL;
    DWORD attributes = wide ? GetFileAttributesW(wide) : FILE_ATTRIBUTE_DIRECTORY;

    if (attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY))
        return 0;
    return make_missing(parent, err) < 0 ? -1 : make_one(parent, HOST_PUBLIC, err);
}

int win32_make_parents(const char *path, struct win32_held_path *ret, struct error *err) {
    return make_missing(path, err) < 0 ? -1 : win32_path_hold(path, ret, err);
}

int win32_make_folder(struct host *, const char *path, enum host_access access, struct error *err) {
    _cleanup_(win32_held_path_free) struct win32_held_path held = {0};

    return win32_make_parents(path, &held, err) < 0 ? -1 : make_one(path, access, err);
}

int win32_list(struct host *host, const char *path, struct text_list *ret, struct error *err) {
    bool root = text_ends_with(path, "\\");
    _cleanup_(freep) char *pattern = xasprintf("%s%s*", path, root ? "" : "\\");
    _cleanup_wide_ wchar_t *wide = win32_wide_path(pattern);
    enum host_file_type type = win32_file_type(host, path);
    WIN32_FIND_DATAW found;
    HANDLE search;
    DWORD code;

    if (type == HOST_ABSENT)
        return error_set_os(err, ERROR_ABSENT, 3, "list '%s': no such folder", path);
    if (type == HOST_FILE)
        return error_set(err, ERROR_HOST, "list '%s': not a folder", path);
    search = FindFirstFileExW(wide, FindExInfoBasic, &found, FindExSearchNameMatch, NULL, 0);
    if (search == INVALID_HANDLE_VALUE)
        return GetLastError() == ERROR_FILE_NOT_FOUND && root
                   ? 0
                   : win32_fail(err, GetLastError(), "list '%s'", path);
    do
        if (wcscmp(found.cFileName, L".") != 0 && wcscmp(found.cFileName, L"..") != 0)
            text_list_add_owned(ret, win32_narrow(found.cFileName));
    while (FindNextFileW(search, &found));
    code = GetLastError();
    FindClose(search);
    return code == ERROR_NO_MORE_FILES ? 0 : win32_fail(err, code, "list '%s'", path);
}

/* ---- Removing. A folder's content is removed while the folder is held open, and links are never
 * followed, so an attacker gains nothing by replacing a folder with a link. ---- */

/* Opens a folder that is not a link and holds it open. *ret is INVALID_HANDLE_VALUE when the path
 * is something else or absent. */
static int hold_folder(const wchar_t *wide, const char *path, HANDLE *ret, struct error *err) {
    const DWORD flags = FILE_FLAG_OPEN_REPARSE_POINT | FILE_FLAG_BACKUP_SEMANTICS;
    DWORD attributes = GetFileAttributesW(wide);
    FILE_ATTRIBUTE_TAG_INFO info = {0};

    *ret = INVALID_HANDLE_VALUE;
    if (attributes == INVALID_FILE_ATTRIBUTES || !(attributes & FILE_ATTRIBUTE_DIRECTORY) ||
        (attributes & FILE_ATTRIBUTE_REPARSE_POINT))
        return 0;
    *ret = CreateFileW(wide, FILE_LIST_DIRECTORY | FILE_READ_ATTRIBUTES,
                       FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_EXISTING, flags, NULL);
    if (*ret == INVALID_HANDLE_VALUE)
        return win32_fail(err, GetLastError(), "remove '%s'", path);
    if (GetFileInformationByHandleEx(*ret, FileAttributeTagInfo, &info, sizeof info) &&
        (info.FileAttributes & FILE_ATTRIBUTE_DIRECTORY) &&
        !(info.FileAttributes & FILE_ATTRIBUTE_REPARSE_POINT))
        return 0;
    CloseHandle(*ret); /* The folder was replaced by something else between the two checks. */
    *ret = INVALID_HANDLE_VALUE;
    return 0;
}

static int names_in(HANDLE folder, const char *path, struct text_list *ret, struct error *err) {
    enum { SIZE = 64 * 1024 };
    _cleanup_(freep) char *room = xmalloc(SIZE);
    FILE_INFO_BY_HANDLE_CLASS ask = FileIdBothDirectoryRestartInfo;

    while (GetFileInformationByHandleEx(folder, ask, room, SIZE)) {
        const FILE_ID_BOTH_DIR_INFO *entry = (const void *)room;

        for (;; entry = (const void *)((const char *)entry + entry->NextEntryOffset)) {
            _cleanup_wide_ wchar_t *wide =
                xcalloc(entry->FileNameLength / sizeof(wchar_t) + 1, sizeof(wchar_t));

            memcpy(wide, entry->FileName, entry->FileNameLength);
            if (wcscmp(wide, L".") != 0 && wcscmp(wide, L"..") != 0)
                text_list_add_owned(ret, win32_narrow(wide));
            if (!entry->NextEntryOffset)
                break;
        }
        ask = FileIdBothDirectoryInfo;
    }
    return GetLastError() == ERROR_NO_MORE_FILES
               ? 0
               : win32_fail(err, GetLastError(), "list '%s'", path);
}

/* Removes what is at the path. When `depth` is not 0, also removes the contents of a folder, at
 * most that many levels deep. */
static int remove_at(const char *path, int depth, struct error *err) {
    _cleanup_(text_list_free) struct text_list names = {0};
    _cleanup_wide_ wchar_t *wide = win32_wide_path(path);
    HANDLE folder = INVALID_HANDLE_VALUE;
    int result = 0;

    if (depth && hold_folder(wide, path, &folder, err) < 0)
        return -1;
    if (folder != INVALID_HANDLE_VALUE) {
        result = depth > 1
                     ? names_in(folder, path, &names, err)
                     : error_set(err, ERROR_HOST, "remove '%s': it is nested too deeply", path);
        for (size_t i = 0; i < names.count && result == 0; i++) {
            _cleanup_(freep) char *below = xasprintf("%s\\%s", path, names.items[i]);

            result = remove_at(below, depth - 1, err);
        }
        CloseHandle(folder);
    }
    if (result < 0)
        return -1;

    /* Remove the name itself: a file, a link or an empty folder. Retry for a short time, because
     * another deletion may be in progress, or a program may be ending: a service is reported as
     * stopped before its process has ended. */
    for (int i = 0;; i++) {
        DWORD attributes = GetFileAttributesW(wide), code;

        if (attributes == INVALID_FILE_ATTRIBUTES)
            attributes = 0; /* The attributes of a link without a target cannot be read either. */
        if (attributes & FILE_ATTRIBUTE_READONLY)
            (void)SetFileAttributesW(wide, attributes & ~(DWORD)FILE_ATTRIBUTE_READONLY);
        if (attributes & FILE_ATTRIBUTE_DIRECTORY ? RemoveDirectoryW(wide) : DeleteFileW(wide))
            return 0;
        code = GetLastError();
        if (code == ERROR_FILE_NOT_FOUND || code == ERROR_PATH_NOT_FOUND)
            return 0;
        if ((code != ERROR_SHARING_VIOLATION && code != ERROR_ACCESS_DENIED) || i == REMOVE_TRIES)
            return win32_fail(err, code, "remove '%s'", path);
        Sleep(50);
    }
}

int win32_remove(struct host *, const char *path, bool tree, struct error *err) {
    _cleanup_(win32_held_path_free) struct win32_held_path held = {0};

    return win32_path_hold(path, &held, err) < 0 ? -1
                                                 : remove_at(path, tree ? TREE_DEPTH_MAX : 0, err);
}

int win32_free_space(struct host *host, const char *path, uint64_t *ret, struct error *err) {
    _cleanup_(freep) char *folder = xstrdup(path);
    _cleanup_wide_ wchar_t *wide = NULL;
    ULARGE_INTEGER available;

    /* Go up to the nearest folder that exists. */
    while (win32_file_type(host, folder) == HOST_ABSENT) {
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
