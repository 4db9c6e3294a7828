/* ws2_32!bind as the program imports it, replaced in the program's import table. */
#include "tests/wine/udp_bind.h"

#include <winsock2.h>
#include <ws2tcpip.h>
#include <windows.h>
#include <stdbool.h>

typedef int WINAPI bind_function(SOCKET, const struct sockaddr *, int);
typedef int WINAPI getsockopt_function(SOCKET, int, int, char *, int *);
static bind_function *wine_bind;
static getsockopt_function *wine_getsockopt;

static bool is_datagram(SOCKET handle) {
    int type = 0, size = sizeof(type);

    return wine_getsockopt(handle, SOL_SOCKET, SO_TYPE, (char *)&type, &size) == 0 &&
           type == SOCK_DGRAM;
}

static int WINAPI bind_everywhere(SOCKET handle, const struct sockaddr *address, int size) {
    struct sockaddr_in any;

    if (size < (int)sizeof(any) || address->sa_family != AF_INET || !is_datagram(handle))
        return wine_bind(handle, address, size);
    any = *(const struct sockaddr_in *)(const void *)address;
    if ((any.sin_addr.s_addr & 0xff) != 127) /* network order: the first byte */
        any.sin_addr.s_addr = 0;
    return wine_bind(handle, (const struct sockaddr *)&any, sizeof(any));
}

static void replace(ULONG_PTR *slot, void *function) {
    DWORD old;

    if (!VirtualProtect(slot, sizeof(*slot), PAGE_READWRITE, &old))
        return;
    *slot = (ULONG_PTR)function;
    VirtualProtect(slot, sizeof(*slot), old, &old);
}

void udp_bind_repair(void) {
    HMODULE sockets = GetModuleHandleW(L"ws2_32.dll");
    BYTE *base = (BYTE *)(void *)GetModuleHandleW(NULL);
    const IMAGE_NT_HEADERS *headers =
        (const void *)(base + ((IMAGE_DOS_HEADER *)(void *)base)->e_lfanew);
    DWORD table =
        headers->OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_IMPORT].VirtualAddress;

    if (!sockets || !table)
        return;
    wine_bind = (bind_function *)(void *)GetProcAddress(sockets, "bind");
    wine_getsockopt = (getsockopt_function *)(void *)GetProcAddress(sockets, "getsockopt");
    for (IMAGE_IMPORT_DESCRIPTOR *d = (void *)(base + table); d->Name; d++)
        for (ULONG_PTR *slot = (void *)(base + d->FirstThunk); *slot; slot++)
            if (*slot == (ULONG_PTR)wine_bind)
                replace(slot, (void *)bind_everywhere);
}
