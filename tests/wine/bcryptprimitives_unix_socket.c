/* AF_UNIX sockets for Go programs under Wine 8: entries of ws2_32's export table lead to functions
 * of this file. */
#include "tests/wine/bcryptprimitives_unix_socket.h"
#include "tests/wine/exports.h"

#include <winsock2.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

enum { FAMILY_UNIX = 1, PATH_ROOM = 108, SOCKETS = 64 };

struct unix_address {
    USHORT family;
    char path[PATH_ROOM];
};

static SOCKET(WINAPI *wine_socket)(int, int, int, void *, DWORD, DWORD);
static int(WINAPI *wine_bind)(SOCKET, const struct sockaddr *, int);
static int(WINAPI *wine_connect)(SOCKET, const struct sockaddr *, int);
static int(WINAPI *wine_name)(SOCKET, struct sockaddr *, int *);
static int(WINAPI *wine_peer)(SOCKET, struct sockaddr *, int *);

/* ---- the sockets that are AF_UNIX to their program ---- */

static struct {
    SOCKET handle;
    struct unix_address address;
} known[SOCKETS];
static SRWLOCK lock = SRWLOCK_INIT;

static void remember(SOCKET handle, const struct unix_address *address) {
    size_t at = SOCKETS;

    AcquireSRWLockExclusive(&lock);
    for (size_t i = SOCKETS; i-- > 0;)
        if (known[i].handle == handle || (!known[i].handle && at == SOCKETS))
            at = i;
    if (at < SOCKETS) {
        known[at].handle = handle;
        known[at].address = *address;
    }
    ReleaseSRWLockExclusive(&lock);
}

static void forget(SOCKET handle) {
    AcquireSRWLockExclusive(&lock);
    for (size_t i = 0; i < SOCKETS; i++)
        if (known[i].handle == handle)
            known[i].handle = 0;
    ReleaseSRWLockExclusive(&lock);
}

static bool recall(SOCKET handle, struct unix_address *ret) {
    bool found = false;

    AcquireSRWLockShared(&lock);
    for (size_t i = 0; i < SOCKETS && handle; i++)
        if (known[i].handle == handle) {
            *ret = known[i].address;
            found = true;
        }
    ReleaseSRWLockShared(&lock);
    return found;
}

/* ---- the functions ---- */

static struct unix_address taken(const struct sockaddr *address, int size) {
    struct unix_address out = {0};

    memcpy(&out, address, size < (int)sizeof(out) ? (size_t)size : sizeof(out));
    out.path[PATH_ROOM - 1] = '\0';
    return out;
}

static FILE *open_path(const struct unix_address *address, const WCHAR *mode) {
    WCHAR path[2 * PATH_ROOM];

    if (!MultiByteToWideChar(CP_UTF8, 0, address->path, -1, path, 2 * PATH_ROOM))
        return NULL;
    return _wfopen(path, mode);
}

static struct sockaddr_in loopback(unsigned port) {
    struct sockaddr_in out = {0};

    out.sin_family = AF_INET;
    out.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    out.sin_port = htons((USHORT)port);
    return out;
}

static SOCKET WINAPI socket_any(int family, int type, int protocol, void *info, DWORD group,
                                DWORD flags) {
    bool local = family == FAMILY_UNIX;
    SOCKET handle = wine_socket(local ? AF_INET : family, type, local ? IPPROTO_TCP : protocol,
                                info, group, flags);

    if (handle == INVALID_SOCKET)
        return handle;
    forget(handle);
    if (local)
        remember(handle, &(struct unix_address){.family = FAMILY_UNIX});
    return handle;
}

static int WINAPI bind_any(SOCKET handle, const struct sockaddr *address, int size) {
    struct sockaddr_in in = loopback(0);
    struct unix_address name;
    int length = sizeof(in);
    FILE *file;

    if (!address || address->sa_family != FAMILY_UNIX)
        return wine_bind(handle, address, size);
    name = taken(address, size);
    if (wine_bind(handle, (struct sockaddr *)&in, sizeof(in)) ||
        wine_name(handle, (struct sockaddr *)&in, &length))
        return SOCKET_ERROR;
    file = name.path[0] ? open_path(&name, L"wb") : NULL;
    if (name.path[0] && !file) {
        WSASetLastError(WSAEACCES);
        return SOCKET_ERROR;
    }
    if (file) {
        fprintf(file, "%u\n", ntohs(in.sin_port));
        fclose(file);
    }
    remember(handle, &name);
    return 0;
}

static int WINAPI connect_any(SOCKET handle, const struct sockaddr *address, int size) {
    struct unix_address name;
    struct sockaddr_in in;
    char text[16] = "";
    FILE *file;

    if (!address || address->sa_family != FAMILY_UNIX)
        return wine_connect(handle, address, size);
    name = taken(address, size);
    file = open_path(&name, L"rb");
    if (!file) {
        WSASetLastError(WSAECONNREFUSED);
        return SOCKET_ERROR;
    }
    if (!fgets(text, sizeof(text), file))
        text[0] = '\0';
    fclose(file);
    in = loopback((unsigned)strtoul(text, NULL, 10));
    return wine_connect(handle, (struct sockaddr *)&in, sizeof(in));
}

static int hand_out(const struct unix_address *name, struct sockaddr *address, int *size) {
    int length = *size < (int)sizeof(*name) ? *size : (int)sizeof(*name);

    memcpy(address, name, (size_t)length);
    *size = length;
    return 0;
}

static int WINAPI name_any(SOCKET handle, struct sockaddr *address, int *size) {
    struct unix_address name;

    return recall(handle, &name) ? hand_out(&name, address, size)
                                 : wine_name(handle, address, size);
}

static int WINAPI peer_any(SOCKET handle, struct sockaddr *address, int *size) {
    struct unix_address name;

    if (!recall(handle, &name))
        return wine_peer(handle, address, size);
    memset(name.path, 0, sizeof(name.path)); /* the other end has no name */
    return hand_out(&name, address, size);
}

/* ---- in place of Wine's ---- */

void unix_socket_repair(void) {
    HMODULE library = LoadLibraryW(L"ws2_32.dll");

    if (!library)
        return;
    wine_socket = export_replace(library, "WSASocketW", (void *)socket_any);
    wine_bind = export_replace(library, "bind", (void *)bind_any);
    wine_connect = export_replace(library, "connect", (void *)connect_any);
    wine_name = export_replace(library, "getsockname", (void *)name_any);
    wine_peer = export_replace(library, "getpeername", (void *)peer_any);
}
