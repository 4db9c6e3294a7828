/* Declares the functions that differ between Winsock and POSIX sockets. host/socket.c implements
 * the rest of host/socket.h with them. Handles are non-blocking. */
#pragma once

#include <stdbool.h>

#include "host/socket.h"

/* Address and port of a peer, in the system's form (sockaddr). */
struct socket_peer {
    _Alignas(16) unsigned char data[128];
    int len;
};
enum { SOCKET_OS_AGAIN = -1, SOCKET_OS_ERROR = -2 };

/* Convert a numeric address and port to the system's form, and return its family (4 or 6) and its
 * port. socket_os_peer() returns -1 when the text is not an address. */
int socket_os_peer(const char *address, unsigned port, struct socket_peer *ret);
int socket_os_family(const struct socket_peer *peer);
unsigned socket_os_port(const struct socket_peer *peer);
/* Creates a socket. Returns -1 on failure. */
socket_handle socket_os_open(int family, bool udp);
void socket_os_close(socket_handle handle);
/* Starts to connect. Returns 0 when connected or in progress: then wait until the handle is
 * writable and call socket_os_state(). Returns -1 when it failed at once; *ret_outcome is the
 * reason. */
int socket_os_connect(socket_handle handle, const struct socket_peer *peer,
                      enum socket_outcome *ret_outcome);
/* Returns the result of a connection attempt; SOCKET_OK means connected. */
enum socket_outcome socket_os_state(socket_handle handle);
/* Binds the socket, and listens when `listen` is true. A port can be bound again at once after it
 * was closed (POSIX: SO_REUSEADDR); on Windows no other program can share it (SO_EXCLUSIVEADDRUSE).
 * An IPv6 socket does not accept IPv4. */
int socket_os_bind(socket_handle handle, const struct socket_peer *peer, bool listen);
/* Accepts a connection. Returns -1 when none is waiting. */
socket_handle socket_os_accept(socket_handle listener);
/* Send and receive. They return the number of bytes (0 when receiving: the other end closed),
 * SOCKET_OS_AGAIN, or SOCKET_OS_ERROR with *ret_outcome. A NULL peer means the connected one. */
long socket_os_send(socket_handle handle, const void *data, size_t len,
                    const struct socket_peer *to, enum socket_outcome *ret_outcome);
long socket_os_receive(socket_handle handle, void *data, size_t size, struct socket_peer *ret_from,
                       enum socket_outcome *ret_outcome);

struct socket_wait {
    socket_handle handle;
    bool write; /* Wait until writable; else until readable. */
    bool ready; /* Result: the handle is ready. Errors and closed connections count as ready. */
};
enum { SOCKET_WAIT_MAX = 80 };
/* Waits until a handle is ready. Returns the number of ready handles, 0 when the time is over. */
int socket_os_wait(struct socket_wait *waits, size_t count, unsigned milliseconds);
/* Resolves a name with the system's resolver, which has no time limit. */
enum socket_outcome socket_os_look_up(const char *name, char (*ret)[46], size_t max,
                                      size_t *ret_count);
