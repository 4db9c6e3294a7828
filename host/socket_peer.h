/* Converts addresses between text and socket structures. The source is the same on both platforms
 * but uses the system's structures. Only host/posix/socket.c and host/win32/socket.c include this
 * file, after their system headers. */
#pragma once

#include "host/socket_os.h"

int socket_os_peer(const char *address, unsigned port, struct socket_peer *ret) {
    struct sockaddr_in *four = (struct sockaddr_in *)ret->data;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)ret->data;

    memset(ret, 0, sizeof *ret);
    if (inet_pton(AF_INET, address, &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        four->sin_port = htons((uint16_t)port);
        ret->len = sizeof *four;
        return 0;
    }
    memset(ret, 0, sizeof *ret);
    if (inet_pton(AF_INET6, address, &six->sin6_addr) != 1)
        return -1;
    six->sin6_family = AF_INET6;
    six->sin6_port = htons((uint16_t)port);
    ret->len = sizeof *six;
    return 0;
}

int socket_os_family(const struct socket_peer *peer) {
    return ((const struct sockaddr *)peer->data)->sa_family == AF_INET6 ? 6 : 4;
}

unsigned socket_os_port(const struct socket_peer *peer) {
    /* Returns the port is at the same offset for both address families. */
    return ntohs(((const struct sockaddr_in *)(const void *)peer->data)->sin_port);
}

static inline size_t addresses_of(const struct addrinfo *found, int family, char (*ret)[46],
                                  size_t count, size_t max) {
    for (; found && count < max; found = found->ai_next) {
        const void *address =
            family == AF_INET ? (const void *)&((struct sockaddr_in *)found->ai_addr)->sin_addr
                              : (const void *)&((struct sockaddr_in6 *)found->ai_addr)->sin6_addr;

        if (found->ai_family == family && inet_ntop(family, address, ret[count], 46))
            count++;
    }
    return count;
}
