/* Implements host/socket_os.h for POSIX systems. */
#include "host/socket_os.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "host/socket_peer.h"

int socket_start(void) {
    return signal(SIGPIPE, SIG_IGN) == SIG_ERR ? -1 : 0;
}

uint64_t socket_now_us(void) {
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

void socket_sleep(unsigned milliseconds) {
    struct timespec time = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};

    nanosleep(&time, NULL);
}

void socket_host_name(char *ret, size_t size) {
    if (gethostname(ret, size) < 0)
        ret[0] = '\0';
    ret[size - 1] = '\0';
}

static enum socket_outcome outcome_of(int error) {
    switch (error) {
    case 0:
        return SOCKET_OK;
    case ECONNREFUSED:
        return SOCKET_REFUSED;
    case ETIMEDOUT:
        return SOCKET_TIMEOUT;
    case ENETUNREACH:
    case EHOSTUNREACH:
    case ENETDOWN:
    case EADDRNOTAVAIL:
        return SOCKET_UNREACHABLE;
    case ECONNRESET:
    case EPIPE:
    case ECONNABORTED:
        return SOCKET_RESET;
    default:
        return SOCKET_FAILED;
    }
}

socket_handle socket_os_open(int family, bool udp) {
    return socket(family == 6 ? AF_INET6 : AF_INET,
                  (udp ? SOCK_DGRAM : SOCK_STREAM) | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

void socket_os_close(socket_handle handle) {
    close((int)handle);
}

int socket_os_connect(socket_handle handle, const struct socket_peer *peer,
                      enum socket_outcome *ret_outcome) {
    if (connect((int)handle, (const struct sockaddr *)peer->data, (socklen_t)peer->len) == 0 ||
        errno == EINPROGRESS)
        return 0;
    *ret_outcome = outcome_of(errno);
    return -1;
}

enum socket_outcome socket_os_state(socket_handle handle) {
    socklen_t len = sizeof(int);
    int error = 0;

    if (getsockopt((int)handle, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
        return SOCKET_FAILED;
    return outcome_of(error);
}

int socket_os_bind(socket_handle handle, const struct socket_peer *peer, bool listening) {
    int on = 1;

    if (setsockopt((int)handle, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0)
        return -1;
    if (socket_os_family(peer) == 6 &&
        setsockopt((int)handle, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on) < 0)
        return -1;
    if (bind((int)handle, (const struct sockaddr *)peer->data, (socklen_t)peer->len) < 0)
        return -1;
    return listening ? listen((int)handle, 64) : 0;
}

socket_handle socket_os_accept(socket_handle listener) {
    return accept4((int)listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

static long moved(ssize_t n, enum socket_outcome *ret_outcome) {
    if (n >= 0)
        return (long)n;
    if (errno == EAGAIN || errno == EINTR)
        return SOCKET_OS_AGAIN;
    *ret_outcome = outcome_of(errno);
    return SOCKET_OS_ERROR;
}

long socket_os_send(socket_handle handle, const void *data, size_t len,
                    const struct socket_peer *to, enum socket_outcome *ret_outcome) {
    return moved(sendto((int)handle, data, len, MSG_NOSIGNAL,
                        to ? (const struct sockaddr *)to->data : NULL, to ? (socklen_t)to->len : 0),
                 ret_outcome);
}

long socket_os_receive(socket_handle handle, void *data, size_t size, struct socket_peer *ret_from,
                       enum socket_outcome *ret_outcome) {
    struct socket_peer from = {0};
    socklen_t len = sizeof from.data;
    ssize_t n = recvfrom((int)handle, data, size, 0, (struct sockaddr *)from.data, &len);

    if (n >= 0 && ret_from) {
        *ret_from = from;
        ret_from->len = (int)len;
    }
    return moved(n, ret_outcome);
}

int socket_os_wait(struct socket_wait *waits, size_t count, unsigned milliseconds) {
    struct pollfd polls[SOCKET_WAIT_MAX];
    int n;

    for (size_t i = 0; i < count; i++)
        polls[i] = (struct pollfd){.fd = (int)waits[i].handle,
                                   .events = waits[i].write ? POLLOUT : POLLIN};
    n = poll(polls, count, (int)milliseconds);
    for (size_t i = 0; i < count; i++)
        waits[i].ready = n > 0 && polls[i].revents;
    return n < 0 ? 0 : n;
}

/* ---- threads ---- */

struct thread {
    void (*run)(void *context);
    void *context;
};

static void *thread_run(void *argument) {
    const struct thread thread = *(const struct thread *)argument;

    free(argument);
    thread.run(thread.context);
    return NULL;
}

int socket_thread(void (*run)(void *context), void *context, unsigned milliseconds) {
    uint64_t end = socket_now_us() + milliseconds * UINT64_C(1000);
    struct timespec until = {(time_t)(end / 1000000), (long)(end % 1000000) * 1000};
    struct thread *thread = xcalloc(1, sizeof *thread);
    pthread_t id;

    *thread = (struct thread){run, context};
    if (pthread_create(&id, NULL, thread_run, thread) != 0) {
        free(thread);
        return -1;
    }
    if (pthread_clockjoin_np(id, NULL, CLOCK_MONOTONIC, &until) == 0)
        return 1;
    pthread_detach(id);
    return 0;
}

/* ---- name resolution ---- */

enum socket_outcome socket_os_look_up(const char *name, char (*ret)[46], size_t max,
                                      size_t *ret_count) {
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM}, *found = NULL;
    int error = getaddrinfo(name, NULL, &hints, &found);

    if (error) {
        switch (error) {
        case EAI_NONAME:
        case EAI_NODATA:
            return SOCKET_DNS_NXDOMAIN;
        case EAI_AGAIN:
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
    struct ifaddrs *all = NULL;
    size_t count = 0;

    if (getifaddrs(&all) < 0)
        return 0;
    for (struct ifaddrs *i = all; i && count < max; i = i->ifa_next) {
        struct addrinfo one = {.ai_addr = i->ifa_addr};

        if (!i->ifa_addr || (i->ifa_flags & IFF_LOOPBACK) || !(i->ifa_flags & IFF_UP))
            continue;
        one.ai_family = i->ifa_addr->sa_family;
        if (one.ai_family == AF_INET || one.ai_family == AF_INET6)
            count = addresses_of(&one, one.ai_family, ret, count, max);
    }
    freeifaddrs(all);
    return count;
}
