/* Probes beside the flows, which tell causes apart. */
#pragma once

#include <stdbool.h>

/* One question in five sizes around the MTUs that pod networks have; the last one needs fragments
 * or two segments. */
#define DIAG_EXTRA_SIZES(ROW, id, name, timed)                                                     \
    ROW(id##_1000, name "-1000", 1000, timed)                                                      \
    ROW(id##_1200, name "-1200", 1200, timed)                                                      \
    ROW(id##_1300, name "-1300", 1300, timed)                                                      \
    ROW(id##_1450, name "-1450", 1450, timed)                                                      \
    ROW(id##_2000, name "-2000", 2000, timed)

/* Id; name, which is a contract; bytes, where the question is whether so many arrive; whether its
 * time tells of packets that were lost: TCP sends these again. */
#define DIAG_EXTRAS(ROW)                                                                           \
    /* the target's echo with 16 bytes (the cell sends 1400: MTU), and with more */                \
    ROW(SMALL_TCP, "x-small-tcp", 0, true)                                                         \
    ROW(SMALL_UDP, "x-small-udp", 0, false)                                                        \
    DIAG_EXTRA_SIZES(ROW, SIZE_TCP, "x-size-tcp", true)                                            \
    DIAG_EXTRA_SIZES(ROW, SIZE_UDP, "x-size-udp", false)                                           \
    /* the machine behind the Service kubernetes: its kubelet's port, and the API server's own */  \
    ROW(API_NODE, "x-api-node", 0, true)                                                           \
    ROW(API_DIRECT, "x-api-direct", 0, true)                                                       \
    /* a Service's full name by the system's resolver */                                           \
    ROW(RESOLVE_FQDN, "x-resolve-fqdn", 0, false)                                                  \
    /* the DNS Service asked straight for a Service's name, over TCP in messages of more bytes,    \
     * too (an MTU between the nodes) */                                                           \
    ROW(DNS_TCP, "x-dns-tcp", 0, true)                                                             \
    DIAG_EXTRA_SIZES(ROW, SIZE_DNS, "x-size-dns", true)                                            \
    ROW(DNS_UDP, "x-dns-udp", 0, false)                                                            \
    /* the same of pods behind it: load balancer or route to the pod */                            \
    ROW(DNS_POD, "x-dns-pod", 0, false)                                                            \
    ROW(DNS_POD_2, "x-dns-pod-2", 0, false)                                                        \
    ROW(DNS_POD_3, "x-dns-pod-3", 0, false)                                                        \
    /* a connection to the first of them, without a question */                                    \
    ROW(DNS_CONNECT, "x-dns-connect", 0, false)                                                    \
    /* a port of that pod where nobody listens; who refuses was reached */                         \
    ROW(CLOSED_TCP, "x-closed-tcp", 0, false)                                                      \
    ROW(CLOSED_UDP, "x-closed-udp", 0, false)                                                      \
    /* that pod's metrics, port 9153: a page that is not there, and the first 2000 bytes of one    \
     * (an MTU towards this node) */                                                               \
    ROW(PAGE_SMALL, "x-page-small", 0, false)                                                      \
    ROW(PAGE_LARGE, "x-page-large", 0, false)                                                      \
    /* the first address of the pods' prefix of that pod's node: who answers or refuses there      \
     * proves the route to the node */                                                             \
    ROW(PEER, "x-peer", 0, false)                                                                  \
    /* the DNS Service asked straight for the external name */                                     \
    ROW(DNS_EXTERNAL, "x-dns-external", 0, false)                                                  \
    /* between the two pods, the other way: diag_cell_back() */                                    \
    ROW(BACK_TCP, "x-back-tcp", 0, false)                                                          \
    ROW(BACK_UDP, "x-back-udp", 0, false)                                                          \
    ROW(BACK_TCP6, "x-back-tcp6", 0, false)                                                        \
    ROW(BACK_UDP6, "x-back-udp6", 0, false)                                                        \
    /* asked by the node itself: the targets outside, the DNS server there by TCP, too */          \
    ROW(NODE_EXTERNAL, "node-external", 0, true)                                                   \
    ROW(NODE_EXTERNAL_UDP, "node-external-udp", 0, false)                                          \
    ROW(NODE_DNS, "x-node-dns", 0, false)                                                          \
    ROW(NODE_NAME, "x-node-name", 0, false)                                                        \
    /* the address behind the Service kubernetes; the machine of a DNS pod, port 10250 */          \
    ROW(NODE_API, "x-node-api", 0, true)                                                           \
    ROW(NODE_PEER, "x-node-peer", 0, true)

#define EXTRA_ID(id, ...) X_##id,
enum diag_extra_id { DIAG_EXTRAS(EXTRA_ID) X_COUNT };
enum { X_SIZES = X_SIZE_UDP_1000 - X_SIZE_TCP_1000 };

struct diag_extra {
    const char *name;
    unsigned bytes;
    bool timed;
};
/* The table, by id. */
extern const struct diag_extra diag_extras[X_COUNT];
