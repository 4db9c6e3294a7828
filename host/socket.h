/* Provides TCP, UDP and name resolution for network tests, the same on Windows (ws2_32, dnsapi) and
 * Linux. It is linked directly and not through struct host, because the probe program also runs
 * alone inside Pods. Times are milliseconds; addresses are text ("10.244.1.5", "fd00::1"). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Says the result of one attempt. The names are those of probe outcomes. */
enum socket_outcome {
    SOCKET_OK,
    SOCKET_REFUSED,     /* The connection was refused: TCP RST or ICMP port unreachable. */
    SOCKET_TIMEOUT,     /* No answer to the connection attempt. */
    SOCKET_UNREACHABLE, /* There is no route, or ICMP host or network unreachable was received. */
    SOCKET_RESET,       /* An established connection was broken. */
    SOCKET_NO_REPLY,    /* The data was sent, but no answer arrived in time. */
    SOCKET_DNS_NXDOMAIN,
    SOCKET_DNS_TIMEOUT,
    SOCKET_DNS_SERVFAIL,
    SOCKET_FAILED, /* Any other failure. */
};

typedef intptr_t socket_handle; /* A socket; -1 when there is none. */

/* Initializes sockets, once per process. Returns 0 or -1. */
int socket_start(void);
uint64_t socket_now_us(void);
/* Resolves a name with the system's resolver into at most `max` addresses as text, IPv4 first. */
enum socket_outcome socket_resolve(const char *name, unsigned timeout_ms, char (*ret)[46],
                                   size_t max, size_t *ret_count);
enum { SOCKET_DNS_TCP = 1, SOCKET_DNS_IPV6 = 2 };
/* Asks one DNS server directly for A or AAAA records (RFC 1035, RFC 3596), over UDP or TCP. The
 * query has `size` bytes (0: no padding). `how` is a combination of SOCKET_DNS_* bits. */
enum socket_outcome socket_dns_query(const char *server, unsigned port, int how, const char *name,
                                     unsigned size, unsigned timeout_ms, char (*ret)[46],
                                     size_t max, size_t *ret_count);
/* Connects. Sends `send_text` if not NULL, and reads an answer up to '\n' or size-1 bytes. */
enum socket_outcome socket_tcp_exchange(const char *address, unsigned port, const char *send_text,
                                        char *ret_answer, size_t size, unsigned timeout_ms);
/* Connects, sends, and receives `want` bytes. SOCKET_RESET when the connection ends earlier. */
enum socket_outcome socket_tcp_take(const char *address, unsigned port, const char *send_text,
                                    size_t want, unsigned timeout_ms);
/* Sends a datagram and receives one answer. With `any`, an answer from any address is accepted,
 * because a host with several addresses answers from the one that is nearest to the sender. A
 * closed port may then look as if it did not answer. */
enum socket_outcome socket_udp_exchange(const char *address, unsigned port, bool any,
                                        const char *send_text, char *ret_answer, size_t size,
                                        unsigned timeout_ms);
/* An echo server. It answers each line (TCP) or datagram (UDP) with `prefix` and the received data.
 * It never answers a datagram that comes from its own port number or contains a blank, because that
 * may be another echo. It serves up to 64 connections without threads. The address "" means all
 * addresses. Returns NULL on failure. */
struct socket_echo;
struct socket_echo *socket_echo_open(const char *address, unsigned tcp_port, unsigned udp_port,
                                     const char *prefix);
/* Serves for `milliseconds`. */
void socket_echo_serve(struct socket_echo *echo, unsigned milliseconds);
void socket_echo_close(struct socket_echo *echo);
/* Returns addresses of this machine or container, without loopback, and their number. */
size_t socket_own_addresses(char (*ret)[46], size_t max);
void socket_sleep(unsigned milliseconds);
/* Runs a function on its own thread. Returns 1 when it ended in time, 0 when it continues without
 * being waited for, and -1 when no thread could be created. */
int socket_thread(void (*run)(void *context), void *context, unsigned milliseconds);
/* Returns the host name that programs in this network namespace see. */
void socket_host_name(char *ret, size_t size);
