/* Implements host/socket_os.h with Winsock. It uses only ws2_32, iphlpapi and dnsapi, because this
 * file also runs inside Pods that have few other DLLs. */
#include "host/win32/win32.h"

#include <iphlpapi.h>
#include <windns.h>

#include "host/socket_os.h"
#include "host/socket_peer.h"

int socket_start(void) {
    WSADATA data;

    return WSAStartup(MAKEWORD(2, 2), &data) == 0 ? 0 : -1;
}

uint64_t socket_now_us(void) {
    LARGE_INTEGER now, frequency;

    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&frequency);
    return (uint64_t)(now.QuadPart / frequency.QuadPart) * 1000000 +
           (uint64_t)(now.QuadPart % frequency.QuadPart) * 1000000 / (uint64_t)frequency.QuadPart;
}

void socket_sleep(unsigned milliseconds) {
    Sleep(milliseconds);
}

void socket_host_name(char *ret, size_t size) {
    if (gethostname(ret, (int)size) != 0)
        ret[0] = '\0';
    ret[size - 1] = '\0';
}

static enum socket_outcome outcome_of(int error) {
    switch (error) {
    case 0:
        return SOCKET_OK;
    case WSAECONNREFUSED:
        return SOCKET_REFUSED;
    case WSAETIMEDOUT:
        return SOCKET_TIMEOUT;
    case WSAENETUNREACH:
    case WSAEHOSTUNREACH:
    case WSAENETDOWN:
    case WSAEADDRNOTAVAIL:
        return SOCKET_UNREACHABLE;
    case WSAECONNRESET:
    case WSAECONNABORTED:
    case WSAENETRESET:
    case WSAESHUTDOWN:
        return SOCKET_RESET;
    default:
        return SOCKET_FAILED;
    }
}

static socket_handle unblock(SOCKET s) {
    u_long on = 1;

    if (s == INVALID_SOCKET)
        return -1;
    if (ioctlsocket(s, FIONBIO, &on) != 0) {
        closesocket(s);
        return -1;
    }
    return (socket_handle)s;
}

socket_handle socket_os_open(int family, bool udp) {
    return unblock(socket(family == 6 ? AF_INET6 : AF_INET, udp ? SOCK_DGRAM : SOCK_STREAM, 0));
}

void socket_os_close(socket_handle handle) {
    closesocket((SOCKET)handle);
}

int socket_os_connect(socket_handle handle, const struct socket_peer *peer,
                      enum socket_outcome *ret_outcome) {
    if (connect((SOCKET)handle, (const struct sockaddr *)peer->data, peer->len) == 0 ||
        WSAGetLastError() == WSAEWOULDBLOCK)
        return 0;
    *ret_outcome = outcome_of(WSAGetLastError());
    return -1;
}

enum socket_outcome socket_os_state(socket_handle handle) {
    int error = 0, len = sizeof error;

    if (getsockopt((SOCKET)handle, SOL_SOCKET, SO_ERROR, (char *)&error, &len) != 0)
        return SOCKET_FAILED;
    return outcome_of(error);
}

int socket_os_bind(socket_handle handle, const struct socket_peer *peer, bool listening) {
    DWORD on = 1;

    /* On Windows, SO_REUSEADDR would let another program take over the port. */
    (void)setsockopt((SOCKET)handle, SOL_SOCKET, SO_EXCLUSIVEADDRUSE, (const char *)&on, sizeof on);
    if (socket_os_family(peer) == 6 &&
        setsockopt((SOCKET)handle, IPPROTO_IPV6, IPV6_V6ONLY, (const char *)&on, sizeof on) != 0)
        return -1;
    if (bind((SOCKET)handle, (const struct sockaddr *)peer->data, peer->len) != 0)
        return -1;
    return listening && listen((SOCKET)handle, 64) != 0 ? -1 : 0;
}

socket_handle socket_os_accept(socket_handle listener) {
    return unblock(accept((SOCKET)listener, NULL, NULL));
}

static long moved(socket_handle handle, int n, enum socket_outcome *ret_outcome) {
    int error;
    int type = 0, len = sizeof type;

    if (n >= 0)
        return n;
    error = WSAGetLastError();
    if (error == WSAEWOULDBLOCK || error == WSAEINTR)
        return SOCKET_OS_AGAIN;
    *ret_outcome = outcome_of(error);
    /* For a UDP socket, Winsock reports "ICMP port unreachable" as a reset. */
    if (*ret_outcome == SOCKET_RESET &&
        getsockopt((SOCKET)handle, SOL_SOCKET, SO_TYPE, (char *)&type, &len) == 0 &&
        type == SOCK_DGRAM)
        *ret_outcome = SOCKET_REFUSED;
    return SOCKET_OS_ERROR;
}

long socket_os_send(socket_handle handle, const void *data, size_t len,
                    const struct socket_peer *to, enum socket_outcome *ret_outcome) {
    int n =
        to ? sendto((SOCKET)handle, data, (int)len, 0, (const struct sockaddr *)to->data, to->len)
           : send((SOCKET)handle, data, (int)len, 0);

    return moved(handle, n, ret_outcome);
}

long socket_os_receive(socket_handle handle, void *data, size_t size, struct socket_peer *ret_from,
                       enum socket_outcome *ret_outcome) {
    struct socket_peer from;
    int n;

    from.len = sizeof from.data;
    n = ret_from
            ? recvfrom((SOCKET)handle, data, (int)size, 0, (struct sockaddr *)from.data, &from.len)
            : recv((SOCKET)handle, data, (int)size, 0);
    if (n >= 0 && ret_from)
        *ret_from = from;
    return moved(handle, n, ret_outcome);
}

/* Waits with select(). WSAPoll() does not report refused connections before Windows 10 2004. */
int socket_os_wait(struct socket_wait *waits, size_t count, unsigned milliseconds) {
    struct {
        u_int fd_count;
        SOCKET fd_array[SOCKET_WAIT_MAX];
    } sets[3] = {{0}, {0}, {0}}; /* Layout of fd_set, which itself holds only 64 sockets. */
    struct timeval time = {(long)(milliseconds / 1000), (long)(milliseconds % 1000) * 1000};
    int n;

    for (size_t i = 0; i < count; i++) {
        sets[waits[i].write].fd_array[sets[waits[i].write].fd_count++] = (SOCKET)waits[i].handle;
        if (waits[i].write)
            sets[2].fd_array[sets[2].fd_count++] = (SOCKET)waits[i].handle;
        waits[i].ready = false;
    }
    n = select(0, (fd_set *)&sets[0], (fd_set *)&sets[1], (fd_set *)&sets[2], &time);
    if (n <= 0)
        return 0;
    for (size_t i = 0; i < count; i++)
        for (size_t s = 0; s < 3; s++)
            for (u_int k = 0; k < sets[s].fd_count; k++)
                waits[i].ready |= sets[s].fd_array[k] == (SOCKET)waits[i].handle;
    return n;
}

/* ---- threads ---- */

struct thread {
    void (*run)(void *context);
    void *context;
};

static DWORD WINAPI thread_run(void *argument) {
    const struct thread thread = *(const struct thread *)argument;

    free(argument);
    thread.run(thread.context);
    return 0;
}

int socket_thread(void (*run)(void *context), void *context, unsigned milliseconds) {
    struct thread *thread = xcalloc(1, sizeof *thread);
    HANDLE handle;
    bool ended;

    *thread = (struct thread){run, context};
    handle = CreateThread(NULL, 0, thread_run, thread, 0, NULL);
    if (!handle) {
        free(thread);
        return -1;
    }
    ended = WaitForSingleObject(handle, milliseconds) == WAIT_OBJECT_0;
    CloseHandle(handle);
    return ended;
}

/* ---- name resolution ---- */

enum socket_outcome socket_os_look_up(const char *name, char (*ret)[46], size_t max,
                                      size_t *ret_count) {
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM}, *found = NULL;
    int error = getaddrinfo(name, NULL, &hints, &found);

    if (error) {
        switch (error) {
        case WSAHOST_NOT_FOUND:
        case WSANO_DATA: {
            /* Winsock reports "host not found" also when the server does not answer or fails. Ask
             * the DNS client for the real reason. */
            PDNS_RECORD records = NULL;
            DNS_STATUS status =
                DnsQuery_A(name, DNS_TYPE_A, DNS_QUERY_STANDARD, NULL, &records, NULL);

            if (records)
                DnsRecordListFree(records, DnsFreeRecordList);
            switch (status) {
            case ERROR_TIMEOUT:
            case DNS_ERROR_RCODE_REFUSED:
            case DNS_ERROR_NO_DNS_SERVERS:
                return SOCKET_DNS_TIMEOUT;
            case DNS_ERROR_RCODE_SERVER_FAILURE:
                return SOCKET_DNS_SERVFAIL;
            default:
                return SOCKET_DNS_NXDOMAIN;
            }
        }
        case WSATRY_AGAIN:
            return SOCKET_DNS_TIMEOUT;
        default:
            return SOCKET_DNS_SERVFAIL;
        }
    }
    *ret_count = addresses_of(found, AF_INET, ret, 0, max);
    *ret_count = addresses_of(found, AF_INET6, ret, *ret_count, max);
    freeaddrinfo(found);
    return SOCKET_OK;
}

size_t socket_own_addresses(char (*ret)[46], size_t max) {
    const ULONG flags = GAA_FLAG_SKIP_ANYCAST | GAA_FLAG_SKIP_MULTICAST | GAA_FLAG_SKIP_DNS_SERVER;
    _cleanup_(freep) IP_ADAPTER_ADDRESSES *all = NULL;
    ULONG size = 32 * 1024, error = ERROR_BUFFER_OVERFLOW;
    size_t count = 0;

    for (int tries = 0; tries < 3 && error == ERROR_BUFFER_OVERFLOW; tries++) {
        free(all);
        all = xmalloc(size);
        error = GetAdaptersAddresses(AF_UNSPEC, flags, NULL, all, &size);
    }
    for (IP_ADAPTER_ADDRESSES *a = error == NO_ERROR ? all : NULL; a; a = a->Next) {
        if (a->OperStatus != IfOperStatusUp || a->IfType == IF_TYPE_SOFTWARE_LOOPBACK)
            continue;
        for (IP_ADAPTER_UNICAST_ADDRESS *u = a->FirstUnicastAddress; u && count < max;
             u = u->Next) {
            struct addrinfo one = {.ai_family = u->Address.lpSockaddr->sa_family,
                                   .ai_addr = u->Address.lpSockaddr};

            count = addresses_of(&one, one.ai_family, ret, count, max);
        }
    }
    return count;
}
