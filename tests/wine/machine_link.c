/* Symbolic links by the Linux kernel's own calls: Wine 8 lets a Windows program make them. */
#include "tests/wine/machine_link.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

/* Of x86-64. */
enum {
    CALL_OPEN = 2,
    CALL_CLOSE = 3,
    CALL_ACCESS = 21,
    CALL_RENAME = 82,
    CALL_UNLINK = 87,
    CALL_SYMLINK = 88,
    CALL_READLINK = 89,
    CALL_GETDENTS64 = 217,
};
enum { NO_SUCH_FILE = 2, THERE_ALREADY = 17, O_DIRECTORY = 0200000, TYPE_LINK = 10 };

/* What getdents64 gives. */
struct entry {
    uint64_t number, next;
    uint16_t length;
    uint8_t type;
    char name[];
};

static intptr_t call(intptr_t number, intptr_t a, intptr_t b, intptr_t c) {
    intptr_t result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c)
                     : "rcx", "r11", "memory");
    return result;
}

static bool done(intptr_t result) {
    if (result >= 0)
        return true;
    SetLastError(result == -NO_SUCH_FILE    ? ERROR_FILE_NOT_FOUND
                 : result == -THERE_ALREADY ? ERROR_ALREADY_EXISTS
                                            : ERROR_ACCESS_DENIED);
    return false;
}

static bool machine_name(const WCHAR *path, char out[MACHINE_PATH_ROOM]) {
    char *(CDECL * wine)(const WCHAR *) =
        (void *)GetProcAddress(GetModuleHandleW(L"kernel32.dll"), "wine_get_unix_file_name");
    char *name = wine ? wine(path) : NULL;

    if (!name)
        return false;
    snprintf(out, MACHINE_PATH_ROOM, "%s", name);
    HeapFree(GetProcessHeap(), 0, name);
    return true;
}

bool machine_link_read(const WCHAR *path, char target[MACHINE_PATH_ROOM]) {
    DWORD error = GetLastError();
    char name[MACHINE_PATH_ROOM];
    intptr_t length = -1;

    if (path && machine_name(path, name))
        length = call(CALL_READLINK, (intptr_t)name, (intptr_t)target, MACHINE_PATH_ROOM - 1);
    if (length >= 0)
        target[length] = '\0';
    SetLastError(error);
    return length >= 0;
}

static bool is_absolute(const WCHAR *path) {
    return path[0] == L'\\' || (path[0] && path[1] == L':');
}

bool machine_link_make(const WCHAR *link, const WCHAR *target) {
    char from[MACHINE_PATH_ROOM], to[MACHINE_PATH_ROOM];

    if (!machine_name(link, to))
        return false;
    if (is_absolute(target)) {
        if (!machine_name(target, from))
            return false;
    } else {
        WideCharToMultiByte(CP_UTF8, 0, target, -1, from, sizeof from, NULL, NULL);
        for (char *c = from; *c; c++)
            if (*c == '\\')
                *c = '/';
    }
    return done(call(CALL_SYMLINK, (intptr_t)from, (intptr_t)to, 0));
}

bool machine_link_rename(const WCHAR *from, const WCHAR *to) {
    char old[MACHINE_PATH_ROOM], new[MACHINE_PATH_ROOM];

    return machine_name(from, old) && machine_name(to, new) &&
           done(call(CALL_RENAME, (intptr_t)old, (intptr_t) new, 0));
}

bool machine_link_remove(const WCHAR *path) {
    char name[MACHINE_PATH_ROOM];

    return machine_name(path, name) && done(call(CALL_UNLINK, (intptr_t)name, 0, 0));
}

void machine_link_sweep(const WCHAR *folder) {
    _Alignas(struct entry) char entries[8192];
    char name[MACHINE_PATH_ROOM], path[2 * MACHINE_PATH_ROOM];
    intptr_t file, length;

    if (!machine_name(folder, name))
        return;
    file = call(CALL_OPEN, (intptr_t)name, O_DIRECTORY, 0);
    if (file < 0)
        return;
    length = call(CALL_GETDENTS64, file, (intptr_t)entries, sizeof entries);
    for (intptr_t at = 0; at < length;) {
        const struct entry *e = (const void *)(entries + at);

        snprintf(path, sizeof path, "%s/%s", name, e->name);
        if (e->type == TYPE_LINK && call(CALL_ACCESS, (intptr_t)path, 0, 0) == -NO_SUCH_FILE)
            call(CALL_UNLINK, (intptr_t)path, 0, 0);
        at += e->length;
    }
    call(CALL_CLOSE, file, 0, 0);
}

bool machine_link_windows(const char *target, WCHAR *out, size_t room, bool *relative) {
    WCHAR *(CDECL * wine)(const char *) =
        (void *)GetProcAddress(GetModuleHandleW(L"kernel32.dll"), "wine_get_dos_file_name");
    WCHAR *name = NULL;

    *relative = target[0] != '/';
    if (*relative) {
        if (!MultiByteToWideChar(CP_UTF8, 0, target, -1, out, (int)room))
            return false;
        for (WCHAR *c = out; *c; c++)
            if (*c == L'/')
                *c = L'\\';
        return true;
    }
    name = wine ? wine(target) : NULL;
    if (!name)
        return false;
    snwprintf(out, room, L"%ls", name);
    out[room - 1] = L'\0';
    HeapFree(GetProcessHeap(), 0, name);
    return true;
}
