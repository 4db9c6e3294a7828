/* kernel32!CreateSymbolicLinkW made true for a program under Wine: the function's first bytes
 * become a jump to ours, so that imports and GetProcAddress meet it alike. */
#include "tests/wine/symlink.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>
#include <windows.h>

enum { PATH_ROOM = 2048, JUMP = 12, PATIENCE_MS = 3000 };

static bool absolute(const WCHAR *path) {
    return path[0] == L'\\' || (path[0] && path[1] == L':');
}

/* Where a relative target lies: beside the link. */
static void beside(const WCHAR *link, const WCHAR *target, WCHAR *out) {
    const WCHAR *back = wcsrchr(link, L'\\'), *slash = wcsrchr(link, L'/');
    size_t folder = 0;

    if (!absolute(target)) {
        const WCHAR *last = back > slash ? back : slash;

        folder = last ? (size_t)(last - link) + 1 : 0;
    }
    snwprintf(out, PATH_ROOM, L"%.*ls%ls", (int)folder, link, target);
    out[PATH_ROOM - 1] = L'\0';
}

static bool unix_name(const WCHAR *path, char *out) {
    char *(CDECL * wine)(const WCHAR *) =
        (void *)GetProcAddress(GetModuleHandleW(L"kernel32.dll"), "wine_get_unix_file_name");
    char *name = wine ? wine(path) : NULL;

    if (name)
        snprintf(out, PATH_ROOM, "%s", name);
    if (name)
        HeapFree(GetProcessHeap(), 0, name);
    return name != NULL;
}

static void unix_relative(const WCHAR *path, char *out) {
    WideCharToMultiByte(CP_UTF8, 0, path, -1, out, PATH_ROOM, NULL, NULL);
    for (; *out; out++)
        if (*out == '\\')
            *out = '/';
}

/* Wine does not wait for a program of the machine below, so the link itself is waited for. */
static bool appears(const WCHAR *link) {
    for (int waited = 0; waited < PATIENCE_MS; waited += 10) {
        WIN32_FIND_DATAW found;
        HANDLE find = FindFirstFileW(link, &found);

        if (find != INVALID_HANDLE_VALUE) {
            FindClose(find);
            return true;
        }
        Sleep(10);
    }
    SetLastError(ERROR_TIMEOUT);
    return false;
}

static bool make_link(const WCHAR *link, const WCHAR *target, const WCHAR *full) {
    char from[PATH_ROOM], to[PATH_ROOM], command[2 * PATH_ROOM + 32];
    STARTUPINFOA start = {.cb = sizeof(start)};
    PROCESS_INFORMATION process;

    if (!unix_name(link, to))
        return false;
    if (!absolute(target))
        unix_relative(target, from);
    else if (!unix_name(target, from))
        return false;
    snprintf(command, sizeof(command), "ln -sn \"%s\" \"%s\"", from, to);
    if (!CreateProcessA("Z:\\bin\\ln", command, NULL, NULL, FALSE, 0, NULL, NULL, &start, &process))
        return false;
    CloseHandle(process.hThread);
    CloseHandle(process.hProcess);
    if (GetFileAttributesW(full) != INVALID_FILE_ATTRIBUTES)
        return appears(link);
    Sleep(100); /* Wine does not show a link that leads nowhere */
    return true;
}

static BOOLEAN WINAPI create_symbolic_link(const WCHAR *link, const WCHAR *target, DWORD flags) {
    WCHAR full[PATH_ROOM];
    DWORD attributes;

    (void)flags;
    if (!link || !target) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return FALSE;
    }
    if (GetFileAttributesW(link) != INVALID_FILE_ATTRIBUTES) {
        SetLastError(ERROR_ALREADY_EXISTS);
        return FALSE;
    }
    beside(link, target, full);
    attributes = GetFileAttributesW(full);
    if (attributes != INVALID_FILE_ATTRIBUTES && !(attributes & FILE_ATTRIBUTE_DIRECTORY))
        return (BOOLEAN)CopyFileW(full, link, TRUE);
    return make_link(link, target, full);
}

void symlink_mend(void) {
    /* mov rax, address; jmp rax */
    BYTE jump[JUMP] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0};
    HMODULE self, kernel = GetModuleHandleW(L"kernelbase.dll");
    BYTE *function = (BYTE *)(void *)GetProcAddress(kernel, "CreateSymbolicLinkW");
    void *ours = (void *)create_symbolic_link;
    DWORD old;

    if (!function || !memcmp(function, jump, 2) ||
        !GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "wine_get_version"))
        return;
    memcpy(jump + 2, &ours, sizeof(ours));
    if (!GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN,
                            (const WCHAR *)ours, &self))
        return;
    if (!VirtualProtect(function, JUMP, PAGE_EXECUTE_READWRITE, &old))
        return;
    memcpy(function, jump, JUMP);
    VirtualProtect(function, JUMP, old, &old);
    FlushInstructionCache(GetCurrentProcess(), function, JUMP);
}
