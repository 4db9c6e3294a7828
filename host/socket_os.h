/* What differs between Winsock and POSIX sockets; host/socket.c builds the rest of host/socket.h on
 * it. Handles are non-blocking. */
#pragma once

#include <stdbool.h>

#include "host/socket.h"

/* Somebody's address and port, as the system keeps it. */
struct socket_peer {
    _Alignas(16) unsigned char data[128];
    int len;
};
enum { SOCKET_OS_AGAIN = -1, SOCKET_OS_ERROR = -2 };

/* A numeric address and port as the system keeps them, its family (4 or 6) and its port; -1: no
 * address. */
int socket_os_peer(const char *address, unsigned port, struct socket_peer *ret);
int socket_os_family(const struct socket_peer *peer);
unsigned socket_os_port(const struct socket_peer *peer);
/* -1 when it cannot be made; *ret_outcome says why. */
socket_handle socket_os_open(int family, bool udp);
void socket_os_close(socket_handle handle);
/* 0 = connected (or on its way: wait to write, then ask socket_os_state()), -1 = failed at once. */
int socket_os_connect(socket_handle handle, const struct socket_peer *peer,
                      enum socket_outcome *ret_outcome);
/* How a connection attempt ended; SOCKET_OK = connected. */
enum socket_outcome socket_os_state(socket_handle handle);
/* Reuses the address; an IPv6 listener leaves IPv4 alone. */
int socket_os_bind(socket_handle handle, const struct socket_peer *peer, bool listen);
/* -1 = nobody there. */
socket_handle socket_os_accept(socket_handle listener);
/* Bytes moved, 0 = the other end closed (receiving), SOCKET_OS_AGAIN, or SOCKET_OS_ERROR with
 * *ret_outcome. Peer NULL: the connected one. */
long socket_os_send(socket_handle handle, const void *data, size_t len,
                    const struct socket_peer *to, enum socket_outcome *ret_outcome);
long socket_os_receive(socket_handle handle, void *data, size_t size, struct socket_peer *ret_from,
                       enum socket_outcome *ret_outcome);

struct socket_wait {
    socket_handle handle;
    bool write; /* waits for writing, else for reading */
    bool ready; /* answered; errors and hang-ups count as ready */
};
enum { SOCKET_WAIT_MAX = 80 };
/* The number of ready ones, 0 after the time. */
int socket_os_wait(struct socket_wait *waits, size_t count, unsigned milliseconds);
/* Asks the system's resolver, for as long as that wants to take. */
enum socket_outcome socket_os_look_up(const char *name, char (*ret)[46], size_t max,
                                      size_t *ret_count);
