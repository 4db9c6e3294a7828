/* ntdll!NtQuerySystemInformation for Go programs: the list of processes as a service expects it. */
#include "tests/wine/bcryptprimitives_session.h"

#include "tests/wine/bcryptprimitives_exports.h"

#include <wchar.h>
#include <winternl.h>

static LONG(WINAPI *wine_query)(ULONG, void *, ULONG, ULONG *);

static LONG WINAPI query(ULONG class, void *list, ULONG size, ULONG *needed) {
    LONG result = wine_query(class, list, size, needed);
    BYTE *at = list;

    if (class != SystemProcessInformation || result != 0)
        return result;
    for (;;) {
        SYSTEM_PROCESS_INFORMATION *process = (void *)at;
        const UNICODE_STRING *name = (const void *)&process->ImageName;

        if (name->Length == 12 * sizeof(WCHAR) && !_wcsnicmp(name->Buffer, L"services.exe", 12))
            process->SessionId = 0;
        if (!process->NextEntryOffset)
            return result;
        at += process->NextEntryOffset;
    }
}

void session_mend(void) {
    wine_query =
        export_replace(GetModuleHandleW(L"ntdll.dll"), "NtQuerySystemInformation", (void *)query);
}
