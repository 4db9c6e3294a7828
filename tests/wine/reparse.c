/* Windows opens a link itself with FILE_FLAG_OPEN_REPARSE_POINT, and such a handle tells that it is
 * one and where it leads; Wine 8 opens what it leads to. Who needs it: winjoin, which follows no
 * link that an untrusted user may have made; kubelet, whose certificate store refuses a
 * kubelet-client-current.pem that is not a link, and whose projected volumes read their ..data back
 * before they renew it. */
#include "tests/wine/reparse.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <wchar.h>
#include <windows.h>
#include <winioctl.h>

#include "tests/wine/exports.h"
#include "tests/wine/machine_link.h"

/* What FSCTL_GET_REPARSE_POINT answers for a link (REPARSE_DATA_BUFFER, lengths in bytes). */
struct reparse {
    ULONG tag;
    USHORT length, reserved, name_at, name_length, print_at, print_length;
    ULONG flags; /* 1: relative */
    WCHAR text[2 * MACHINE_PATH_ROOM];
};

static BOOL(WINAPI *wine_attributes)(const WCHAR *, GET_FILEEX_INFO_LEVELS, void *);
static HANDLE(WINAPI *wine_create)(const WCHAR *, DWORD, DWORD, SECURITY_ATTRIBUTES *, DWORD, DWORD,
                                   HANDLE);
static BOOL(WINAPI *wine_close)(HANDLE);
static BOOL(WINAPI *wine_information)(HANDLE, BY_HANDLE_FILE_INFORMATION *);
static BOOL(WINAPI *wine_information_ex)(HANDLE, FILE_INFO_BY_HANDLE_CLASS, void *, DWORD);
static BOOL(WINAPI *wine_control)(HANDLE, DWORD, void *, DWORD, void *, DWORD, DWORD *,
                                  OVERLAPPED *);

/* Links that are open as such. */
static struct {
    HANDLE handle;
    char target[MACHINE_PATH_ROOM];
} links[32];
static SRWLOCK lock = SRWLOCK_INIT;

static bool is_open(HANDLE handle, char *target) {
    bool found = false;

    AcquireSRWLockShared(&lock);
    for (size_t i = 0; handle && i < ARRAYSIZE(links) && !found; i++) {
        found = links[i].handle == handle;
        if (found && target)
            memcpy(target, links[i].target, MACHINE_PATH_ROOM);
    }
    ReleaseSRWLockShared(&lock);
    return found;
}

static void exchange(HANDLE old, HANDLE new, const char *target) {
    AcquireSRWLockExclusive(&lock);
    for (size_t i = 0; i < ARRAYSIZE(links); i++)
        if (links[i].handle == old) {
            links[i].handle = new;
            if (target)
                memcpy(links[i].target, target, MACHINE_PATH_ROOM);
            break;
        }
    ReleaseSRWLockExclusive(&lock);
}

static BOOL WINAPI attributes(const WCHAR *path, GET_FILEEX_INFO_LEVELS level, void *data) {
    char target[MACHINE_PATH_ROOM];

    if (!wine_attributes(path, level, data))
        return FALSE;
    if (machine_link_read(path, target))
        ((WIN32_FILE_ATTRIBUTE_DATA *)data)->dwFileAttributes |= FILE_ATTRIBUTE_REPARSE_POINT;
    return TRUE;
}

static HANDLE WINAPI create(const WCHAR *path, DWORD access, DWORD sharing,
                            SECURITY_ATTRIBUTES *security, DWORD disposition, DWORD flags,
                            HANDLE template) {
    HANDLE handle = wine_create(path, access, sharing, security, disposition, flags, template);
    char target[MACHINE_PATH_ROOM];

    if (handle != INVALID_HANDLE_VALUE && (flags & FILE_FLAG_OPEN_REPARSE_POINT) &&
        machine_link_read(path, target))
        exchange(NULL, handle, target);
    return handle;
}

static BOOL WINAPI close_handle(HANDLE handle) {
    if (is_open(handle, NULL))
        exchange(handle, NULL, NULL);
    return wine_close(handle);
}

static BOOL WINAPI information(HANDLE handle, BY_HANDLE_FILE_INFORMATION *ret) {
    BOOL result = wine_information(handle, ret);

    if (result && is_open(handle, NULL))
        ret->dwFileAttributes |= FILE_ATTRIBUTE_REPARSE_POINT;
    return result;
}

static BOOL WINAPI information_ex(HANDLE handle, FILE_INFO_BY_HANDLE_CLASS class, void *data,
                                  DWORD size) {
    BOOL result = wine_information_ex(handle, class, data, size);

    if (result && class == FileAttributeTagInfo && is_open(handle, NULL)) {
        FILE_ATTRIBUTE_TAG_INFO *tag = data;

        tag->FileAttributes |= FILE_ATTRIBUTE_REPARSE_POINT;
        tag->ReparseTag = IO_REPARSE_TAG_SYMLINK;
    }
    return result;
}

/* The name as the kernel of Windows takes it, then the one for people; answers the size in bytes.
 */
static DWORD describe(const char *target, struct reparse *ret) {
    WCHAR name[MACHINE_PATH_ROOM];
    size_t before, length;
    bool relative;

    if (!machine_link_windows(target, name, MACHINE_PATH_ROOM - 8, &relative))
        return 0;
    before = relative ? 0 : 4;
    length = wcslen(name);
    memset(ret, 0, sizeof(*ret));
    ret->tag = IO_REPARSE_TAG_SYMLINK;
    ret->flags = relative;
    wmemcpy(ret->text, L"\\??\\", before);
    wmemcpy(ret->text + before, name, length);
    ret->name_length = (USHORT)((before + length) * sizeof(WCHAR));
    ret->print_at = ret->name_length;
    ret->print_length = (USHORT)(length * sizeof(WCHAR));
    wmemcpy(ret->text + before + length, name, length);
    length = offsetof(struct reparse, text) + ret->name_length + ret->print_length;
    ret->length = (USHORT)(length - offsetof(struct reparse, name_at));
    return (DWORD)length;
}

static BOOL WINAPI control(HANDLE handle, DWORD code, void *in, DWORD in_size, void *out,
                           DWORD out_size, DWORD *returned, OVERLAPPED *overlapped) {
    char target[MACHINE_PATH_ROOM];
    struct reparse answer;
    DWORD size;

    if (code != FSCTL_GET_REPARSE_POINT || !is_open(handle, target))
        return wine_control(handle, code, in, in_size, out, out_size, returned, overlapped);
    size = describe(target, &answer);
    if (!size || size > out_size) {
        SetLastError(size ? ERROR_INSUFFICIENT_BUFFER : ERROR_NOT_A_REPARSE_POINT);
        return FALSE;
    }
    memcpy(out, &answer, size);
    if (returned)
        *returned = size;
    return TRUE;
}

void reparse_repair(void) {
    HMODULE kernel = GetModuleHandleW(L"kernel32.dll");

    wine_attributes = function_replace(kernel, "GetFileAttributesExW", (void *)attributes);
    wine_create = function_replace(kernel, "CreateFileW", (void *)create);
    wine_close = function_replace(kernel, "CloseHandle", (void *)close_handle);
    wine_information = function_replace(kernel, "GetFileInformationByHandle", (void *)information);
    wine_information_ex =
        function_replace(kernel, "GetFileInformationByHandleEx", (void *)information_ex);
    wine_control = function_replace(kernel, "DeviceIoControl", (void *)control);
}
