/* TCP, UDP and name look-up for the probe: the small part of sockets that a flow test needs, the
 * same on Windows (ws2_32, dnsapi) and Linux. Linked straight in, because the probe also runs alone
 * inside pods. Times are milliseconds; addresses are text ("10.244.1.5", "fd00::1"). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How one attempt ended; the names are those of probe outcomes. */
enum socket_outcome {
    SOCKET_OK,
    SOCKET_REFUSED,     /* RST, or ICMP port unreachable */
    SOCKET_TIMEOUT,     /* nothing came */
    SOCKET_UNREACHABLE, /* no route, ICMP host or network unreachable */
    SOCKET_RESET,       /* connection broken after it stood */
    SOCKET_NO_REPLY,    /* UDP: sent, nothing came back */
    SOCKET_DNS_NXDOMAIN,
    SOCKET_DNS_TIMEOUT,
    SOCKET_DNS_SERVFAIL,
    SOCKET_FAILED, /* anything else; *ret_os has the number where asked */
};

typedef intptr_t socket_handle; /* -1 = none */

/* Once a process; 0 or -1. */
int socket_start(void);
uint64_t socket_now_us(void);
/* Resolves by the system's resolver; at most `max` addresses as text, IPv4 first. */
enum socket_outcome socket_resolve(const char *name, unsigned timeout_ms, char (*ret)[46],
                                   size_t max, size_t *ret_count);
enum { SOCKET_DNS_TCP = 1, SOCKET_DNS_IPV6 = 2 };
/* Asks one DNS server straight, over UDP or TCP, for A or AAAA records (RFC 1035, RFC 3596), in a
 * message of `size` bytes (0: as short as it can be). `how`: SOCKET_DNS_* or 0. */
enum socket_outcome socket_dns_query(const char *server, unsigned port, int how, const char *name,
                                     unsigned size, unsigned timeout_ms, char (*ret)[46],
                                     size_t max, size_t *ret_count);
/* Connects; with `send_text` non-NULL sends it and reads one answer up to '\n' or size-1 bytes. */
enum socket_outcome socket_tcp_exchange(const char *address, unsigned port, const char *send_text,
                                        char *ret_answer, size_t size, unsigned timeout_ms);
/* Connects, sends, and takes `want` bytes of what comes; SOCKET_RESET where it ends before. */
enum socket_outcome socket_tcp_take(const char *address, unsigned port, const char *send_text,
                                    size_t want, unsigned timeout_ms);
/* Sends it and takes one answer. `any`: the answer may come from any address, as from a host with
 * several, which answers from the one that is nearest to the asker. A closed port may be seen as
 * silence then. */
enum socket_outcome socket_udp_exchange(const char *address, unsigned port, bool any,
                                        const char *send_text, char *ret_answer, size_t size,
                                        unsigned timeout_ms);
/* Echo servers: each line (TCP) or datagram (UDP) is answered with `prefix` + what came, a
 * datagram from the same port or with a blank in it never (it may be another echo). Serves up to 64
 * connections without threads. address "" = all. 0 or -1. */
struct socket_echo;
struct socket_echo *socket_echo_open(const char *address, unsigned tcp_port, unsigned udp_port,
                                     const char *prefix);
/* Serves for up to `milliseconds`. */
void socket_echo_serve(struct socket_echo *echo, unsigned milliseconds);
void socket_echo_close(struct socket_echo *echo);
/* Own addresses of the network that this process is in. */
size_t socket_own_addresses(char (*ret)[46], size_t max);
void socket_sleep(unsigned milliseconds);
/* Runs it on a thread of its own. 1: it ended within the time, 0: it goes on and nobody waits for
 * it, -1: there can be no thread. */
int socket_thread(void (*run)(void *context), void *context, unsigned milliseconds);
/* The host name as this network's programs see it. */
void socket_host_name(char *ret, size_t size);
