/* Reads and writes files on Windows. A new file is written beside the old one with its final access
 * list, flushed and renamed. */
#include "host/win32/win32.h"

#include "host/path.h"

void win32_close(HANDLE *handle) {
    if (*handle && *handle != INVALID_HANDLE_VALUE)
        CloseHandle(*handle);
    *handle = NULL;
}
#define _cleanup_handle_ _cleanup_(win32_close)

static int read_all(HANDLE file, const char *path, char *data, size_t len, size_t *ret_len,
                    struct error *err) {
    size_t got = 0;

    while (got < len) {
        DWORD wanted = len - got > 1 << 20 ? 1 << 20 : (DWORD)(len - got);
        DWORD n = 0;

        if (!ReadFile(file, data + got, wanted, &n, NULL))
            return win32_fail(err, GetLastError(), "read '%s'", path);
        if (!n)
            break;
        got += n;
    }
    *ret_len = got;
    return 0;
}

int win32_read(struct host *host, const char *path, size_t max, char **ret, size_t *ret_len,
               struct error *err) {
    _cleanup_wide_ wchar_t *wide = win32_wide_path(path);
    _cleanup_handle_ HANDLE file = CreateFileW(wide, GENERIC_READ, WIN32_SHARE_ALL, NULL,
                                               OPEN_EXISTING, FILE_FLAG_SEQUENTIAL_SCAN, NULL);
    _cleanup_(freep) char *data = NULL;
    LARGE_INTEGER size;

    if (file == INVALID_HANDLE_VALUE) {
        const wchar_t root[] = {(wchar_t)path[0], L':', L'\\', 0};

        DWORD code = GetLastError();

        if (win32_file_type(host, path) == HOST_FOLDER)
            return error_set_os(err, ERROR_HOST, code, "read '%s': it is a folder", path);
        (void)win32_fail(err, code, "read '%s'", path);
        return (path[1] == ':' && GetDriveTypeW(root) == DRIVE_NO_ROOT_DIR)
                   ? error_hint(err,
                                "drive %.2s does not exist; a drive mapped by a user is not "
                                "visible to an elevated prompt or a service: use \\\\server\\share",
                                path)
                   : -1;
    }
    if (!GetFileSizeEx(file, &size))
        return win32_fail(err, GetLastError(), "read '%s'", path);
    if ((uint64_t)size.QuadPart > max)
        return error_set(err, ERROR_MALFORMED, "read '%s': longer than %zu bytes", path, max);
    data = xcalloc((size_t)size.QuadPart + 1, 1);
    if (read_all(file, path, data, (size_t)size.QuadPart, ret_len, err) < 0)
        return -1;
    data[*ret_len] = '\0';
    *ret = take_ptr(data);
    return 0;
}

int win32_read_part(struct host *, const char *path, uint64_t offset, size_t max, char **ret,
                    size_t *ret_len, uint64_t *ret_size, struct error *err) {
    _cleanup_wide_ wchar_t *wide = win32_wide_path(path);
    _cleanup_handle_ HANDLE file =
        CreateFileW(wide, GENERIC_READ, WIN32_SHARE_ALL, NULL, OPEN_EXISTING, 0, NULL);
    _cleanup_(freep) char *data = NULL;
    LARGE_INTEGER size, at = {.QuadPart = (LONGLONG)offset};
    uint64_t left;

    if (file == INVALID_HANDLE_VALUE || !GetFileSizeEx(file, &size))
        return win32_fail(err, GetLastError(), "read '%s'", path);
    left = offset < (uint64_t)size.QuadPart ? (uint64_t)size.QuadPart - offset : 0;
    max = left < max ? (size_t)left : max;
    data = xcalloc(max + 1, 1);
    if (max && !SetFilePointerEx(file, at, NULL, FILE_BEGIN))
        return win32_fail(err, GetLastError(), "read '%s'", path);
    if (read_all(file, path, data, max, ret_len, err) < 0)
        return -1;
    *ret_size = (uint64_t)size.QuadPart;
    *ret = take_ptr(data);
    return 0;
}

/* Returns a new random file name beside `path`, which nobody else can have created before. The
 * caller frees it. */
static int name_beside(struct host *host, const char *path, char **ret, struct error *err) {
    uint64_t number;

    if (host_random(host, &number, sizeof number, err) < 0)
        return -1;
    *ret = xasprintf("%s.%016llx.new", path, (unsigned long long)number);
    return 0;
}

static DWORD write_through(HANDLE file, const void *data, size_t len) {
    const char *from = data;
    DWORD code = 0;

    while (len && !code) {
        DWORD n = len > 1 << 20 ? 1 << 20 : (DWORD)len;

        if (!WriteFile(file, from, n, &n, NULL))
            code = GetLastError();
        from += n;
        len -= n;
    }
    if (!code && !FlushFileBuffers(file))
        code = GetLastError();
    return code;
}

/* May the operation be retried after this error? A virus scanner or backup program may hold a file
 * for a moment, so up to ten retries are made, 50 ms apart. */
static bool may_pass(DWORD code, int *turn) {
    if ((code != ERROR_SHARING_VIOLATION && code != ERROR_ACCESS_DENIED) || (*turn)++ == 10)
        return false;
    Sleep(50);
    return true;
}

static DWORD move_over(const wchar_t *from, const wchar_t *to) {
    DWORD code;
    int turn = 0;

    do
        code = MoveFileExW(from, to, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH)
                   ? 0
                   : GetLastError();
    while (may_pass(code, &turn));
    return code;
}

int win32_write(struct host *host, const char *path, const void *data, size_t len,
                enum host_access access, struct error *err) {
    _cleanup_(win32_held_path_free) struct win32_held_path held = {0};
    _cleanup_(freep) char *beside = NULL;
    _cleanup_wide_ wchar_t *from = NULL, *to = win32_wide_path(path);
    SECURITY_ATTRIBUTES *attributes = NULL;
    HANDLE file;
    DWORD code;

    if (win32_file_type(host, path) == HOST_FOLDER)
        return error_set_os(err, ERROR_DENIED, 5, "write '%s': a folder with that name exists",
                            path);
    if (win32_make_parents(path, &held, err) < 0 || name_beside(host, path, &beside, err) < 0 ||
        win32_access_make(access, false, &attributes, err) < 0)
        return -1;
    from = win32_wide_path(beside);
    file = CreateFileW(from, GENERIC_WRITE, 0, attributes, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, NULL);
    code = file == INVALID_HANDLE_VALUE ? GetLastError() : write_through(file, data, len);
    if (file != INVALID_HANDLE_VALUE)
        CloseHandle(file);
    win32_access_free(attributes);
    if (!code)
        code = move_over(from, to);
    if (!code)
        return 0;
    /* A failure of the deletion is ignored; `code` already has the first failure. */
    (void)DeleteFileW(from);
    return win32_fail(err, code, "write '%s'", path);
}

/* Opens the file that receives the pieces. The first piece makes a new file. The file is opened for
 * sharing, because a virus scanner may still read it when the next piece comes. */
static DWORD open_part(const wchar_t *path, bool first, SECURITY_ATTRIBUTES *attributes,
                       HANDLE *ret) {
    DWORD code;
    int turn = 0;

    do {
        code = first && !DeleteFileW(path) ? GetLastError() : 0;
        if (code && code != ERROR_FILE_NOT_FOUND)
            continue;
        *ret = CreateFileW(path, GENERIC_WRITE, WIN32_SHARE_ALL, attributes,
                           first ? CREATE_NEW : OPEN_EXISTING,
                           FILE_ATTRIBUTE_NORMAL | FILE_FLAG_OPEN_REPARSE_POINT, NULL);
        code = *ret == INVALID_HANDLE_VALUE ? GetLastError() : 0;
    } while (may_pass(code, &turn));
    return code;
}

int win32_write_part(struct host *host, const char *path, uint64_t offset, const void *data,
                     size_t len, enum host_access access, struct error *err) {
    _cleanup_(win32_held_path_free) struct win32_held_path held = {0};
    _cleanup_wide_ wchar_t *wide = win32_wide_path(path);
    _cleanup_handle_ HANDLE file = INVALID_HANDLE_VALUE;
    LARGE_INTEGER size, at = {.QuadPart = (LONGLONG)offset};
    enum host_file_type type = win32_file_type(host, path);
    SECURITY_ATTRIBUTES *attributes = NULL;
    DWORD code;

    if (offset && type == HOST_LINK)
        return error_set(err, ERROR_HOST, "write '%s': it is a link", path);
    if (type == HOST_FOLDER)
        return error_set_os(err, ERROR_DENIED, 5, "write '%s': a folder with that name exists",
                            path);
    if (win32_make_parents(path, &held, err) < 0 ||
        win32_access_make(access, false, &attributes, err) < 0)
        return -1;
    code = open_part(wide, !offset, attributes, &file);
    win32_access_free(attributes);
    if (!code && !GetFileSizeEx(file, &size))
        code = GetLastError();
    else if (!code && size.QuadPart < at.QuadPart)
        code = ERROR_HANDLE_EOF;
    else if (!code && (!SetFilePointerEx(file, at, NULL, FILE_BEGIN) || !SetEndOfFile(file)))
        code = GetLastError();
    if (!code)
        code = write_through(file, data, len);
    return code ? win32_fail(err, code, "write '%s'", path) : 0;
}

int win32_rename(struct host *host, const char *from, const char *to, struct error *err) {
    _cleanup_(win32_held_path_free) struct win32_held_path held = {0}, there = {0};
    _cleanup_wide_ wchar_t *old = win32_wide_path(from);
    _cleanup_wide_ wchar_t *new = win32_wide_path(to);
    DWORD code;

    if (win32_file_type(host, from) == HOST_ABSENT)
        return error_set_os(err, ERROR_ABSENT, 2, "rename '%s': no such file", from);
    if (win32_path_hold(from, &held, err) < 0 || win32_make_parents(to, &there, err) < 0)
        return -1;
    code = move_over(old, new);
    return code ? win32_fail(err, code, "rename '%s' to '%s'", from, to) : 0;
}

int win32_link(struct host *host, const char *path, const char *target, struct error *err) {
    _cleanup_(win32_held_path_free) struct win32_held_path held = {0};
    _cleanup_(freep) char *beside = NULL, *parent = path_parent(path), *whole = NULL;
    _cleanup_(freep) char *joined = xasprintf("%s\\%s", parent ? parent : "", target);
    _cleanup_wide_ wchar_t *from = NULL, *to = win32_wide_path(path);
    _cleanup_wide_ wchar_t *wide_target = win32_wide_plain(target);
    DWORD flags = 0, code = 0;

    /* Find out whether the target is a folder. A relative target starts in the link's folder. */
    if ((path_normalize(target, &whole, NULL) == 0 || path_normalize(joined, &whole, NULL) == 0) &&
        win32_file_type(host, whole) == HOST_FOLDER)
        flags = SYMBOLIC_LINK_FLAG_DIRECTORY;

    if (win32_file_type(host, path) == HOST_FOLDER)
        return error_set_os(err, ERROR_DENIED, 5, "link '%s': a folder with that name exists",
                            path);
    if (win32_make_parents(path, &held, err) < 0 || name_beside(host, path, &beside, err) < 0)
        return -1;
    from = win32_wide_path(beside);
    if (!CreateSymbolicLinkW(from, wide_target, flags))
        code = GetLastError();
    if (!code && (flags & SYMBOLIC_LINK_FLAG_DIRECTORY))
        (void)RemoveDirectoryW(to); /* MoveFileEx does not replace a link to a folder. */
    if (!code)
        code = move_over(from, to);
    if (!code)
        return 0;
    if (flags & SYMBOLIC_LINK_FLAG_DIRECTORY)
        (void)RemoveDirectoryW(from);
    else
        (void)DeleteFileW(from);
    return win32_fail(err, code, "link '%s' to '%s'", path, target);
}
