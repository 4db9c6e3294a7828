/* Implements the echo servers. They answer with their own name before the received data, so that
 * the tester notices when the wrong server answers. */
#include "base/memory.h"
#include "host/socket.h"
#include "host/socket_os.h"

enum { CONNECTIONS_MAX = 64, LINE_MAX_BYTES = 4096, LISTENERS_MAX = 4 };

struct connection {
    socket_handle handle; /* Socket of the connection; -1 when this entry is free. */
    uint64_t since;
    size_t len;
    char line[LINE_MAX_BYTES];
};
struct listener {
    socket_handle handle;
    bool udp;
    unsigned port;
};
struct socket_echo {
    char *prefix;
    size_t prefix_len;
    struct listener listeners[LISTENERS_MAX];
    size_t listener_count;
    struct connection connections[CONNECTIONS_MAX];
};

/* Listens on the address, or on all addresses when it is empty. Port 0 means not to listen. */
static int listen_on(struct socket_echo *echo, const char *address, unsigned port, bool udp) {
    static const char *const all[] = {"0.0.0.0", "::"};
    size_t count = !port ? 0 : *address ? 1 : ARRAY_SIZE(all);

    for (size_t i = 0; i < count; i++) {
        socket_handle handle = -1;
        struct socket_peer peer;

        if (socket_os_peer(*address ? address : all[i], port, &peer) == 0)
            handle = socket_os_open(socket_os_family(&peer), udp);
        if (handle != -1 && socket_os_bind(handle, &peer, !udp) < 0) {
            socket_os_close(handle);
            handle = -1;
        }
        if (handle == -1)
            return i ? 0 : -1; /* IPv6 is optional. */
        echo->listeners[echo->listener_count++] = (struct listener){handle, udp, port};
    }
    return 0;
}

struct socket_echo *socket_echo_open(const char *address, unsigned tcp_port, unsigned udp_port,
                                     const char *prefix) {
    struct socket_echo *echo = xcalloc(1, sizeof *echo);

    echo->prefix = xstrdup(prefix);
    echo->prefix_len = strlen(prefix);
    for (size_t i = 0; i < CONNECTIONS_MAX; i++)
        echo->connections[i].handle = -1;
    if (listen_on(echo, address, tcp_port, false) < 0 ||
        listen_on(echo, address, udp_port, true) < 0) {
        socket_echo_close(echo);
        return NULL;
    }
    return echo;
}

void socket_echo_close(struct socket_echo *echo) {
    if (!echo)
        return;
    for (size_t i = 0; i < CONNECTIONS_MAX; i++)
        if (echo->connections[i].handle != -1)
            socket_os_close(echo->connections[i].handle);
    for (size_t i = 0; i < echo->listener_count; i++)
        socket_os_close(echo->listeners[i].handle);
    free(echo->prefix);
    free(echo);
}

static void connection_close(struct connection *connection) {
    socket_os_close(connection->handle);
    connection->handle = -1;
}

/* Sends the prefix and the data in one piece. Fails when they cannot be sent at once. */
static int answer(struct socket_echo *echo, socket_handle handle, const char *data, size_t len,
                  const struct socket_peer *to) {
    enum socket_outcome outcome;
    _cleanup_(freep) char *reply = xmalloc(echo->prefix_len + len);
    long sent;

    memcpy(reply, echo->prefix, echo->prefix_len);
    memcpy(reply + echo->prefix_len, data, len);
    sent = socket_os_send(handle, reply, echo->prefix_len + len, to, &outcome);
    return sent == (long)(echo->prefix_len + len) ? 0 : -1;
}

static void connection_accept(struct socket_echo *echo, socket_handle listener) {
    struct connection *slot = &echo->connections[0];
    socket_handle handle = socket_os_accept(listener);

    if (handle == -1)
        return;
    for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
        struct connection *c = &echo->connections[i];

        if (c->handle == -1 || (slot->handle != -1 && c->since < slot->since))
            slot = c;
        if (slot->handle == -1)
            break;
    }
    if (slot->handle != -1)
        connection_close(slot); /* Close the oldest connection to free an entry. */
    slot->handle = handle;
    slot->since = socket_now_us();
    slot->len = 0;
}

static void connection_serve(struct socket_echo *echo, struct connection *c) {
    enum socket_outcome outcome;
    long n =
        socket_os_receive(c->handle, c->line + c->len, sizeof c->line - c->len, NULL, &outcome);
    char *newline;

    if (n == SOCKET_OS_AGAIN)
        return;
    if (n <= 0) {
        connection_close(c);
        return;
    }
    c->len += (size_t)n;
    while ((newline = memchr(c->line, '\n', c->len))) {
        size_t len = (size_t)(newline - c->line) + 1;

        if (answer(echo, c->handle, c->line, len, NULL) < 0) {
            connection_close(c);
            return;
        }
        memmove(c->line, c->line + len, c->len - len);
        c->len -= len;
    }
    if (c->len == sizeof c->line)
        connection_close(c);
}

static void handle_serve(struct socket_echo *echo, socket_handle handle) {
    for (size_t i = 0; i < echo->listener_count; i++)
        if (echo->listeners[i].handle == handle) {
            if (echo->listeners[i].udp) {
                enum socket_outcome outcome;
                struct socket_peer from;
                char data[LINE_MAX_BYTES];
                long n;

                while ((n = socket_os_receive(echo->listeners[i].handle, data, sizeof data, &from,
                                              &outcome)) >= 0)
                    /* Never answer another echo server, or two would talk forever: its answer has a
                     * blank behind its name, and a forged datagram may have our own port as its
                     * source. */
                    if (n > 0 && !memchr(data, ' ', (size_t)n) &&
                        socket_os_port(&from) != echo->listeners[i].port)
                        (void)answer(echo, echo->listeners[i].handle, data, (size_t)n,
                                     &from); /* A lost answer shows up at the tester. */
            } else
                connection_accept(echo, handle);
            return;
        }
    for (size_t i = 0; i < CONNECTIONS_MAX; i++)
        if (echo->connections[i].handle == handle) {
            connection_serve(echo, &echo->connections[i]);
            return;
        }
}

void socket_echo_serve(struct socket_echo *echo, unsigned milliseconds) {
    uint64_t deadline = socket_now_us() + milliseconds * UINT64_C(1000);
    uint64_t now;

    while ((now = socket_now_us()) < deadline) {
        struct socket_wait waits[SOCKET_WAIT_MAX];
        size_t count = 0;

        for (size_t i = 0; i < echo->listener_count; i++)
            waits[count++] = (struct socket_wait){.handle = echo->listeners[i].handle};
        for (size_t i = 0; i < CONNECTIONS_MAX; i++)
            if (echo->connections[i].handle != -1)
                waits[count++] = (struct socket_wait){.handle = echo->connections[i].handle};

        if (socket_os_wait(waits, count, (unsigned)((deadline - now) / 1000 + 1)) <= 0)
            continue;
        for (size_t i = 0; i < count; i++)
            if (waits[i].ready)
                handle_serve(echo, waits[i].handle);
    }
}
