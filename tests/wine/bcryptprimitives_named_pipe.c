/* Windows gives a pipe instance that is made without read or write access no client. go-winio holds
 * a pipe's name by such an instance; Wine 8 lets the first client connect to it, and nobody
 * answers. Who needs it: kubelet, whose first call to a CRI server written in Go hangs and ends it.
 */
#include "tests/wine/bcryptprimitives_named_pipe.h"
#include "tests/wine/exports.h"

#include <winternl.h>

static const ULONG pipe_disconnect = 0x110004; /* FSCTL_PIPE_DISCONNECT */
static const ULONG talking = GENERIC_READ | GENERIC_WRITE | FILE_READ_DATA | FILE_WRITE_DATA;

typedef NTSTATUS NTAPI create_function(HANDLE *, ULONG, OBJECT_ATTRIBUTES *, IO_STATUS_BLOCK *,
                                       ULONG, ULONG, ULONG, ULONG, ULONG, ULONG, ULONG, ULONG,
                                       ULONG, LARGE_INTEGER *);
typedef NTSTATUS NTAPI open_function(HANDLE *, ULONG, OBJECT_ATTRIBUTES *, IO_STATUS_BLOCK *, ULONG,
                                     ULONG);
typedef NTSTATUS NTAPI control_function(HANDLE, HANDLE, void *, void *, IO_STATUS_BLOCK *, ULONG,
                                        void *, ULONG, void *, ULONG);
static create_function *wine_create;
static open_function *wine_open;
static control_function *wine_control;

/* A client of our own takes the instance, and the server end lets go of it: disconnected. */
static void disconnect(HANDLE server, OBJECT_ATTRIBUTES *name) {
    IO_STATUS_BLOCK status;
    HANDLE client;

    if (wine_open(&client, GENERIC_READ | GENERIC_WRITE | SYNCHRONIZE, name, &status,
                  FILE_SHARE_READ | FILE_SHARE_WRITE, 0))
        return;
    wine_control(server, NULL, NULL, NULL, &status, pipe_disconnect, NULL, 0, NULL, 0);
    CloseHandle(client);
}

static NTSTATUS NTAPI create(HANDLE *handle, ULONG access, OBJECT_ATTRIBUTES *name,
                             IO_STATUS_BLOCK *status, ULONG sharing, ULONG disposition,
                             ULONG options, ULONG type, ULONG read_mode, ULONG completion,
                             ULONG instances, ULONG in, ULONG out, LARGE_INTEGER *timeout) {
    NTSTATUS result = wine_create(handle, access, name, status, sharing, disposition, options, type,
                                  read_mode, completion, instances, in, out, timeout);

    if (result == 0 && !(access & talking))
        disconnect(*handle, name);
    return result;
}

void named_pipe_repair(void) {
    HMODULE library = GetModuleHandleW(L"ntdll.dll");

    wine_open = (open_function *)(void *)GetProcAddress(library, "NtOpenFile");
    wine_control = (control_function *)(void *)GetProcAddress(library, "NtFsControlFile");
    wine_create = export_replace(library, "NtCreateNamedPipeFile", (void *)create);
}
