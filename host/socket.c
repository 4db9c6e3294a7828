/* Sends one question and receives one answer over TCP, UDP or DNS, and resolves names. The code is
 * the same on both platforms. */
#include "host/socket.h"

#include <stdatomic.h>

#include "base/memory.h"
#include "host/socket_dns.h"
#include "host/socket_os.h"

/* Waits until the handle is ready or the deadline passes. Returns 1 when ready. */
static int wait_ready(socket_handle handle, bool write, uint64_t deadline) {
    struct socket_wait wait = {.handle = handle, .write = write};
    uint64_t now = socket_now_us();

    if (now >= deadline)
        return 0;
    return socket_os_wait(&wait, 1, (unsigned)((deadline - now) / 1000 + 1));
}

/* Connects to an address. UDP sockets are connected too, so that they receive ICMP errors. */
static enum socket_outcome open_to(const char *address, unsigned port, bool udp, uint64_t deadline,
                                   socket_handle *ret) {
    enum socket_outcome outcome = SOCKET_FAILED;
    struct socket_peer peer;
    socket_handle handle;

    if (socket_os_peer(address, port, &peer) < 0)
        return SOCKET_FAILED;
    handle = socket_os_open(socket_os_family(&peer), udp);
    if (handle == -1)
        return SOCKET_FAILED;
    if (socket_os_connect(handle, &peer, &outcome) == 0) {
        if (udp)
            outcome = SOCKET_OK;
        else
            outcome = wait_ready(handle, true, deadline) ? socket_os_state(handle) : SOCKET_TIMEOUT;
    }
    if (outcome == SOCKET_OK)
        *ret = handle;
    else
        socket_os_close(handle);
    return outcome;
}

static enum socket_outcome send_all(socket_handle handle, const void *data, size_t len,
                                    uint64_t deadline) {
    const char *at = data;

    while (len) {
        enum socket_outcome outcome = SOCKET_FAILED;
        long n = socket_os_send(handle, at, len, NULL, &outcome);

        if (n == SOCKET_OS_ERROR)
            return outcome;
        if (n == SOCKET_OS_AGAIN && !wait_ready(handle, true, deadline))
            return SOCKET_NO_REPLY;
        if (n > 0) {
            at += n;
            len -= (size_t)n;
        }
    }
    return SOCKET_OK;
}

/* Receives one piece of data. *ret_len is 0 when the other end closed the connection. */
static enum socket_outcome receive_some(socket_handle handle, void *data, size_t size,
                                        uint64_t deadline, size_t *ret_len) {
    for (;;) {
        enum socket_outcome outcome = SOCKET_FAILED;
        long n = socket_os_receive(handle, data, size, NULL, &outcome);

        if (n >= 0) {
            *ret_len = (size_t)n;
            return SOCKET_OK;
        }
        if (n == SOCKET_OS_ERROR)
            return outcome;
        if (!wait_ready(handle, false, deadline)) /* Wine does not report ICMP errors through the
                                                     wait, so check the socket's state. */
            return socket_os_state(handle) == SOCKET_REFUSED ? SOCKET_REFUSED : SOCKET_NO_REPLY;
    }
}

enum socket_outcome socket_tcp_exchange(const char *address, unsigned port, const char *send_text,
                                        char *ret_answer, size_t size, unsigned timeout_ms) {
    uint64_t deadline = socket_now_us() + timeout_ms * UINT64_C(1000);
    enum socket_outcome outcome;
    socket_handle handle;
    bool ended = !send_text;
    size_t len = 0, n = 0;

    outcome = open_to(address, port, false, deadline, &handle);
    if (outcome != SOCKET_OK)
        return outcome;
    if (send_text)
        outcome = send_all(handle, send_text, strlen(send_text), deadline);
    while (outcome == SOCKET_OK && !ended && len < size - 1) {
        outcome = receive_some(handle, ret_answer + len, size - 1 - len, deadline, &n);
        if (outcome == SOCKET_OK && !n)
            outcome = SOCKET_RESET;
        if (outcome != SOCKET_OK)
            break;
        ended = memchr(ret_answer + len, '\n', n);
        len += n;
        ret_answer[len] = '\0';
    }
    socket_os_close(handle);
    return outcome;
}

enum socket_outcome socket_tcp_take(const char *address, unsigned port, const char *send_text,
                                    size_t want, unsigned timeout_ms) {
    uint64_t deadline = socket_now_us() + timeout_ms * UINT64_C(1000);
    enum socket_outcome outcome;
    socket_handle handle;
    char piece[1024];
    size_t n = 0;

    outcome = open_to(address, port, false, deadline, &handle);
    if (outcome != SOCKET_OK)
        return outcome;
    outcome = send_all(handle, send_text, strlen(send_text), deadline);
    for (; want && outcome == SOCKET_OK; want -= n) {
        outcome =
            receive_some(handle, piece, want < sizeof piece ? want : sizeof piece, deadline, &n);
        if (outcome == SOCKET_OK && !n)
            outcome = SOCKET_RESET;
        if (outcome != SOCKET_OK)
            n = 0;
    }
    socket_os_close(handle);
    return outcome;
}

enum socket_outcome socket_udp_exchange(const char *address, unsigned port, bool any,
                                        const char *send_text, char *ret_answer, size_t size,
                                        unsigned timeout_ms) {
    uint64_t deadline = socket_now_us() + timeout_ms * UINT64_C(1000);
    enum socket_outcome outcome = SOCKET_FAILED;
    struct socket_peer peer;
    socket_handle handle;
    size_t len = 0;

    /* With `any` the socket is not connected: a connected one only receives from its peer. */
    if (any) {
        if (socket_os_peer(address, port, &peer) < 0)
            return SOCKET_FAILED;
        handle = socket_os_open(socket_os_family(&peer), true);
        if (handle == -1)
            return SOCKET_FAILED;
        if (socket_os_send(handle, send_text, strlen(send_text), &peer, &outcome) >= 0)
            outcome = SOCKET_OK;
    } else {
        outcome = open_to(address, port, true, deadline, &handle);
        if (outcome != SOCKET_OK)
            return outcome;
        outcome = send_all(handle, send_text, strlen(send_text), deadline);
    }
    if (outcome == SOCKET_OK)
        outcome = receive_some(handle, ret_answer, size - 1, deadline, &len);
    ret_answer[len] = '\0';
    socket_os_close(handle);
    return outcome;
}

/* Receives a DNS message over TCP, where its length comes first (RFC 1035 section 4.2.2). */
static enum socket_outcome dns_receive_tcp(socket_handle handle, unsigned char *answer, size_t size,
                                           uint64_t deadline, size_t *ret_len) {
    size_t len = 0, want = 2;

    while (len < want) {
        size_t n = 0;
        enum socket_outcome outcome = receive_some(handle, answer + len, want - len, deadline, &n);

        if (outcome != SOCKET_OK)
            return outcome;
        if (n == 0)
            return SOCKET_RESET;
        len += n;
        if (len == 2 && want == 2) {
            want = 2 + ((size_t)answer[0] << 8 | answer[1]);
            if (want > size)
                return SOCKET_DNS_SERVFAIL;
        }
    }
    memmove(answer, answer + 2, len - 2);
    *ret_len = len - 2;
    return SOCKET_OK;
}

enum socket_outcome socket_dns_query(const char *server, unsigned port, int how, const char *name,
                                     unsigned size, unsigned timeout_ms, char (*ret)[46],
                                     size_t max, size_t *ret_count) {
    uint64_t deadline = socket_now_us() + timeout_ms * UINT64_C(1000);
    uint16_t id = (uint16_t)(socket_now_us() * 2654435761u >> 8);
    unsigned char query[2 + DNS_QUERY_MAX], answer[DNS_ANSWER_MAX];
    enum socket_outcome outcome, answered;
    bool tcp = how & SOCKET_DNS_TCP;
    socket_handle handle;
    size_t len;

    *ret_count = 0;
    len = dns_query_make(query + 2, id, name, how & SOCKET_DNS_IPV6, size);
    if (!len)
        return SOCKET_FAILED;
    query[0] = (unsigned char)(len >> 8);
    query[1] = (unsigned char)len;
    outcome = open_to(server, port, !tcp, deadline, &handle);
    if (outcome != SOCKET_OK)
        return outcome == SOCKET_TIMEOUT ? SOCKET_DNS_TIMEOUT : outcome;
    outcome = send_all(handle, tcp ? query : query + 2, tcp ? len + 2 : len, deadline);
    while (outcome == SOCKET_OK) {
        len = 0;
        outcome = tcp ? dns_receive_tcp(handle, answer, sizeof answer, deadline, &len)
                      : receive_some(handle, answer, sizeof answer, deadline, &len);
        if (outcome == SOCKET_OK &&
            dns_answer_parse(answer, len, id, &answered, ret, max, ret_count) == 0) {
            outcome = answered;
            break;
        }
    }
    socket_os_close(handle);
    return outcome == SOCKET_NO_REPLY ? SOCKET_DNS_TIMEOUT : outcome;
}

/* ---- name resolution: the system's resolver has no time limit, so it gets a thread ---- */

struct look_up {
    char *name;
    enum socket_outcome outcome;
    /* The calling thread and the resolver thread each set this at their end. The second frees
     * it. */
    atomic_bool left;
    size_t max, count;
    char addresses[][46];
};

static void look_up_drop(struct look_up *look_up) {
    if (!atomic_exchange(&look_up->left, true))
        return;
    free(look_up->name);
    free(look_up);
}

static void look_up_run(void *context) {
    struct look_up *look_up = context;

    look_up->outcome =
        socket_os_look_up(look_up->name, look_up->addresses, look_up->max, &look_up->count);
    look_up_drop(look_up);
}

enum socket_outcome socket_resolve(const char *name, unsigned timeout_ms, char (*ret)[46],
                                   size_t max, size_t *ret_count) {
    struct look_up *look_up = xcalloc(1, sizeof *look_up + max * sizeof *ret);
    enum socket_outcome outcome = SOCKET_DNS_TIMEOUT;
    int ended;

    look_up->name = xstrdup(name);
    look_up->max = max;
    *ret_count = 0;
    ended = socket_thread(look_up_run, look_up, timeout_ms);
    if (ended > 0) {
        outcome = look_up->outcome;
        *ret_count = look_up->count;
        memcpy(ret, look_up->addresses, look_up->count * sizeof *ret);
    } else if (ended < 0) {
        outcome = SOCKET_FAILED;
        /* No thread was started, so the caller frees the structure alone. */
        atomic_store(&look_up->left, true);
    }
    look_up_drop(look_up);
    return outcome;
}
