/* Go programs as services: their environment, the session they are in, their end. */
#include "tests/wine/bcryptprimitives_service.h"

#include "tests/wine/exports.h"

#include <stdbool.h>
#include <wchar.h>
#include <winternl.h>

enum { LAST_REPORT_MS = 500 };

static LONG(WINAPI *wine_query)(ULONG, void *, ULONG, ULONG *);
static BOOL(WINAPI *wine_status)(SERVICE_STATUS_HANDLE, SERVICE_STATUS *);
static void(WINAPI *wine_exit)(UINT);

/* What the program reported last; a program is one service. */
static SERVICE_STATUS_HANDLE service;
static SERVICE_STATUS last;
static volatile LONG stopped;

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

static BOOL WINAPI report(SERVICE_STATUS_HANDLE handle, SERVICE_STATUS *status) {
    BOOL done;

    service = handle;
    last = *status;
    done = wine_status(handle, status);
    if (done && status->dwCurrentState == SERVICE_STOPPED)
        InterlockedExchange(&stopped, 1);
    return done;
}

/* The program's other threads still run here, so its own last report may come. */
static void WINAPI end(UINT code) {
    bool asked = last.dwCurrentState == SERVICE_STOP_PENDING;

    for (int waited = 0; service && !stopped && waited < LAST_REPORT_MS; waited += 10)
        Sleep(10);
    if (service && !stopped) {
        SERVICE_STATUS status = {.dwServiceType = last.dwServiceType,
                                 .dwCurrentState = SERVICE_STOPPED,
                                 .dwWin32ExitCode = asked ? NO_ERROR : ERROR_PROCESS_ABORTED};

        wine_status(service, &status);
    }
    wine_exit(code);
}

/* A service's environment has the Public folder in this one's place. */
static void set_program_data(void) {
    static const WCHAR *const names[] = {L"ProgramData", L"ALLUSERSPROFILE"};
    WCHAR folder[MAX_PATH];

    for (int i = 0; i < 2; i++) {
        DWORD length = GetEnvironmentVariableW(names[i], folder, MAX_PATH);

        if (length && length < MAX_PATH && !_wcsicmp(folder, L"C:\\users\\Public"))
            SetEnvironmentVariableW(names[i], L"C:\\ProgramData");
    }
}

void service_repair(void) {
    HMODULE services = LoadLibraryW(L"advapi32.dll");

    set_program_data();
    wine_query =
        export_replace(GetModuleHandleW(L"ntdll.dll"), "NtQuerySystemInformation", (void *)query);
    if (!services)
        return;
    wine_status = export_replace(services, "SetServiceStatus", (void *)report);
    wine_exit = import_replace(GetModuleHandleW(L"kernel32.dll"), "ExitProcess", (void *)end);
}
