/* Entries of a library's export table, or of the program's import table, replaced. Go programs ask
 * for Windows' functions by name when they first need them, and so meet what was put there; others
 * import. */
#include "tests/wine/exports.h"

#include <stdbool.h>
#include <string.h>

enum { JUMP = 12 };

static DWORD *export_entry(BYTE *base, const char *name, const IMAGE_NT_HEADERS *headers) {
    const IMAGE_DATA_DIRECTORY *directory =
        &headers->OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_EXPORT];
    const IMAGE_EXPORT_DIRECTORY *exports = (void *)(base + directory->VirtualAddress);
    const DWORD *names = (void *)(base + exports->AddressOfNames);
    const WORD *ordinals = (void *)(base + exports->AddressOfNameOrdinals);
    DWORD *functions = (void *)(base + exports->AddressOfFunctions);

    for (DWORD i = 0; i < exports->NumberOfNames; i++)
        if (!strcmp((const char *)base + names[i], name))
            return &functions[ordinals[i]];
    return NULL;
}

/* An entry is an offset of 32 bits, so the jump to ours must lie close behind the library. */
static BYTE *jump_behind(BYTE *base, const IMAGE_NT_HEADERS *headers) {
    ULONG_PTR end = (ULONG_PTR)base + headers->OptionalHeader.SizeOfImage;

    for (ULONG_PTR at = (end + 0xffff) & ~(ULONG_PTR)0xffff; at < (ULONG_PTR)base + 0x70000000;
         at += 0x10000) {
        BYTE *page =
            VirtualAlloc((void *)at, 0x1000, MEM_RESERVE | MEM_COMMIT, PAGE_EXECUTE_READWRITE);
        if (page)
            return page;
    }
    return NULL;
}

void *export_replace(HMODULE library, const char *name, void *ours) {
    BYTE *base = (BYTE *)(void *)library, *jump;
    BYTE code[JUMP] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0}; /* mov rax, ours; jmp rax */
    const IMAGE_NT_HEADERS *headers = (void *)(base + ((IMAGE_DOS_HEADER *)(void *)base)->e_lfanew);
    void *wines = (void *)GetProcAddress(library, name);
    DWORD old, *entry = export_entry(base, name, headers);

    jump = entry ? jump_behind(base, headers) : NULL;
    if (!jump || !VirtualProtect(entry, sizeof(*entry), PAGE_READWRITE, &old))
        return wines;
    memcpy(code + 2, &ours, sizeof(ours));
    memcpy(jump, code, JUMP);
    *entry = (DWORD)(jump - base);
    VirtualProtect(entry, sizeof(*entry), old, &old);
    return wines;
}

void *import_replace(HMODULE library, const char *name, void *ours) {
    BYTE *base = (BYTE *)(void *)GetModuleHandleW(NULL);
    const IMAGE_NT_HEADERS *headers = (void *)(base + ((IMAGE_DOS_HEADER *)(void *)base)->e_lfanew);
    DWORD old,
        table = headers->OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_IMPORT].VirtualAddress;
    ULONG_PTR wines = (ULONG_PTR)GetProcAddress(library, name);

    if (!table)
        return (void *)wines;
    for (IMAGE_IMPORT_DESCRIPTOR *d = (void *)(base + table); d->Name; d++)
        for (ULONG_PTR *slot = (void *)(base + d->FirstThunk); *slot; slot++)
            if (*slot == wines && VirtualProtect(slot, sizeof(*slot), PAGE_READWRITE, &old)) {
                *slot = (ULONG_PTR)ours;
                VirtualProtect(slot, sizeof(*slot), old, &old);
            }
    return (void *)wines;
}

void *function_replace(HMODULE library, const char *name, void *ours) {
    import_replace(library, name, ours); /* first: it looks for what the table answers now */
    return export_replace(library, name, ours);
}
