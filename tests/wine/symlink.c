/* kernel32's functions that meet symbolic links, replaced for a program under Wine. */
#include "tests/wine/symlink.h"

#include <stdbool.h>
#include <windows.h>

#include "tests/wine/exports.h"
#include "tests/wine/machine_link.h"
#include "tests/wine/reparse.h"

static DWORD(WINAPI *wine_attributes)(const WCHAR *);
static HANDLE(WINAPI *wine_find_first)(const WCHAR *, WIN32_FIND_DATAW *);
static BOOL(WINAPI *wine_delete)(const WCHAR *);
static BOOL(WINAPI *wine_remove_directory)(const WCHAR *);
static BOOL(WINAPI *wine_move)(const WCHAR *, const WCHAR *, DWORD);

static bool is_link(const WCHAR *path) {
    char target[MACHINE_PATH_ROOM];

    return machine_link_read(path, target);
}

static BOOLEAN WINAPI create_symbolic_link(const WCHAR *link, const WCHAR *target, DWORD flags) {
    (void)flags; /* the machine's links are of one kind */
    if (link && target)
        return machine_link_make(link, target);
    SetLastError(ERROR_INVALID_PARAMETER);
    return FALSE;
}

static DWORD WINAPI attributes_of(const WCHAR *path) {
    DWORD attributes = wine_attributes(path);

    if (!is_link(path))
        return attributes;
    return FILE_ATTRIBUTE_REPARSE_POINT |
           (attributes == INVALID_FILE_ATTRIBUTES ? FILE_ATTRIBUTE_ARCHIVE : attributes);
}

static HANDLE WINAPI find_first(const WCHAR *path, WIN32_FIND_DATAW *found) {
    HANDLE search = wine_find_first(path, found);

    if (search != INVALID_HANDLE_VALUE && is_link(path)) {
        found->dwFileAttributes |= FILE_ATTRIBUTE_REPARSE_POINT;
        found->dwReserved0 = IO_REPARSE_TAG_SYMLINK;
    }
    return search;
}

/* A link to a folder is removed as a folder, one to a file as a file. */
static BOOL remove_link(const WCHAR *path, bool as_folder) {
    DWORD attributes = wine_attributes(path);

    if (attributes != INVALID_FILE_ATTRIBUTES &&
        as_folder != !!(attributes & FILE_ATTRIBUTE_DIRECTORY)) {
        SetLastError(as_folder ? ERROR_DIRECTORY : ERROR_ACCESS_DENIED);
        return FALSE;
    }
    return machine_link_remove(path);
}

static BOOL WINAPI delete_file(const WCHAR *path) {
    return is_link(path) ? remove_link(path, false) : wine_delete(path);
}

/* Links that lead nowhere are not listed, so nobody removed them before. */
static BOOL WINAPI remove_directory(const WCHAR *path) {
    if (is_link(path))
        return remove_link(path, true);
    if (wine_remove_directory(path))
        return TRUE;
    if (GetLastError() != ERROR_DIR_NOT_EMPTY)
        return FALSE;
    machine_link_sweep(path);
    return wine_remove_directory(path);
}

static BOOL WINAPI move(const WCHAR *from, const WCHAR *to, DWORD flags) {
    if (!to || !is_link(from))
        return wine_move(from, to, flags);
    if (!(flags & MOVEFILE_REPLACE_EXISTING) && attributes_of(to) != INVALID_FILE_ATTRIBUTES) {
        SetLastError(ERROR_ALREADY_EXISTS);
        return FALSE;
    }
    return machine_link_rename(from, to);
}

void symlink_repair(void) {
    HMODULE self, kernel = GetModuleHandleW(L"kernel32.dll");
    const BYTE *first = (const BYTE *)(void *)GetProcAddress(kernel, "CreateSymbolicLinkW");

    if (!first || (first[0] == 0x48 && first[1] == 0xb8) || /* by another DLL of the rig */
        !GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "wine_get_version"))
        return;
    if (!GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN,
                            (const WCHAR *)(void *)create_symbolic_link, &self))
        return;
    wine_attributes = function_replace(kernel, "GetFileAttributesW", (void *)attributes_of);
    wine_find_first = function_replace(kernel, "FindFirstFileW", (void *)find_first);
    wine_delete = function_replace(kernel, "DeleteFileW", (void *)delete_file);
    wine_remove_directory = function_replace(kernel, "RemoveDirectoryW", (void *)remove_directory);
    wine_move = function_replace(kernel, "MoveFileExW", (void *)move);
    function_replace(kernel, "CreateSymbolicLinkW", (void *)create_symbolic_link);
    reparse_repair();
}
