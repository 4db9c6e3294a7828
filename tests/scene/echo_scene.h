/* The node's own UDP echo of a diagnosis, which here takes no port of the machine: only one program
 * at a time can have it, and tests run beside each other, under Wine, too. The pods are played, so
 * that nobody asks it. These functions take the place of those of host/socket_echo.c. */
#pragma once

#include "base/memory.h"
#include "host/socket.h"

struct socket_echo *socket_echo_open(const char *address, unsigned tcp_port, unsigned udp_port,
                                     const char *prefix) {
    (void)address;
    (void)tcp_port;
    (void)udp_port;
    (void)prefix;
    return xcalloc(1, 1);
}

void socket_echo_serve(struct socket_echo *echo, unsigned milliseconds) {
    (void)echo;
    socket_sleep(milliseconds);
}

void socket_echo_close(struct socket_echo *echo) {
    free(echo);
}
