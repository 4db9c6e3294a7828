/* One attempt of a probe, and what it says (the attempts and the numbers over them: work.c). */
#include <stdatomic.h>
#include <stdio.h>

#include "diag/probe/work.h"
#include "host/socket.h"

enum { ANSWER_MAX = PROBE_PAYLOAD_MAX + 256, NONCE_LEN = 12 };

static const enum probe_outcome outcomes[] = {
    [SOCKET_OK] = PROBE_OK,
    [SOCKET_REFUSED] = PROBE_REFUSED,
    [SOCKET_TIMEOUT] = PROBE_TIMEOUT,
    [SOCKET_UNREACHABLE] = PROBE_UNREACHABLE,
    [SOCKET_RESET] = PROBE_RESET,
    [SOCKET_NO_REPLY] = PROBE_NO_REPLY,
    [SOCKET_DNS_NXDOMAIN] = PROBE_DNS_NXDOMAIN,
    [SOCKET_DNS_TIMEOUT] = PROBE_DNS_TIMEOUT,
    [SOCKET_DNS_SERVFAIL] = PROBE_DNS_SERVFAIL,
    [SOCKET_FAILED] = PROBE_FAILED,
};

/* The line that is sent: a nonce, so that an old or foreign answer is seen, then padding. */
static char *payload_make(unsigned size) {
    static atomic_ulong counter; /* attempts run at the same time */
    char *payload;
    size_t len = size > NONCE_LEN + 1 ? size : NONCE_LEN + 1;

    payload = xmalloc(len + 1);
    memset(payload, 'x', len);
    snprintf(payload, NONCE_LEN + 1, "%08lx%04lx", (unsigned long)(socket_now_us() & 0xffffffff),
             (atomic_fetch_add(&counter, 1) + 1) & 0xffff);
    payload[NONCE_LEN] = '.';
    payload[len - 1] = '\n';
    payload[len] = '\0';
    return payload;
}

/* The echo answers "<name> <what came>". */
static enum probe_outcome answer_check(const struct probe *probe, const char *answer,
                                       const char *sent, struct probe_result *result) {
    size_t sent_len = strcspn(sent, "\n");
    const char *blank = strchr(answer, ' ');
    size_t len = blank ? (size_t)(blank - answer) : 0;

    if (len == 0 || len > PROBE_NAME_MAX)
        return PROBE_WRONG_RESPONDER;
    for (size_t i = 0; i < len; i++)
        result->responder[i] = answer[i] > 0x20 && answer[i] < 0x7f ? answer[i] : '?';
    result->responder[len] = '\0';
    if (probe->expect[0] && !text_equal(result->responder, probe->expect))
        return PROBE_WRONG_RESPONDER;
    blank++;
    if (strncmp(blank, sent, sent_len) != 0 || strcspn(blank, "\r\n") != sent_len)
        return PROBE_WRONG_RESPONDER;
    return PROBE_OK;
}

static enum probe_outcome exchange(const struct probe *probe, const char *address,
                                   struct probe_result *result) {
    _cleanup_(freep) char *sent = probe->payload ? payload_make(probe->payload) : NULL;
    char answer[ANSWER_MAX + 1] = "";
    enum socket_outcome outcome;

    if (probe->kind == PROBE_UDP)
        outcome = socket_udp_exchange(address, probe->port, sent, answer, sizeof answer,
                                      probe->timeout_ms);
    else if (probe->kind == PROBE_UDP_ANY)
        outcome = socket_udp_exchange_any(address, probe->port, sent, answer, sizeof answer,
                                          probe->timeout_ms);
    else
        outcome = socket_tcp_exchange(address, probe->port, sent, answer, sizeof answer,
                                      probe->timeout_ms);
    if (outcome != SOCKET_OK || !sent)
        return outcomes[outcome];
    return answer_check(probe, answer, sent, result);
}

static enum probe_outcome dns_ask(const struct probe *probe, const char *address,
                                  struct probe_result *result) {
    bool ipv6 = text_equal(probe->expect, "address6");
    bool need_address = ipv6 || text_equal(probe->expect, "address");
    int how = (probe->kind == PROBE_DNS_TCP ? SOCKET_DNS_TCP : 0) | (ipv6 ? SOCKET_DNS_IPV6 : 0);
    char addresses[PROBE_ADDRESSES_MAX][46];
    enum socket_outcome outcome;
    size_t count = 0;

    outcome = socket_dns_query(address, probe->port, how, probe->question, probe->payload,
                               probe->timeout_ms, addresses, PROBE_ADDRESSES_MAX, &count);
    if (count) { /* else what the server's own name resolved to stays: it tells the two apart */
        memcpy(result->addresses, addresses, sizeof addresses);
        result->address_count = count;
    }
    if (need_address && outcome == SOCKET_OK && !count)
        return PROBE_DNS_NXDOMAIN;
    /* A server that says "no such name" has been reached, which is all that was asked. */
    if (!need_address && (outcome == SOCKET_DNS_NXDOMAIN || outcome == SOCKET_DNS_SERVFAIL))
        return PROBE_OK;
    return outcomes[outcome];
}

enum probe_outcome probe_attempt(const struct probe *asked, struct probe_result *result) {
    uint64_t start = socket_now_us(), took;
    struct probe probe = *asked;
    char addresses[PROBE_ADDRESSES_MAX][46];
    const char *address = probe.target;
    enum socket_outcome outcome;
    size_t count = 0;
    bool is_name = !strchr(address, ':') && strspn(address, "0123456789.") != strlen(address);

    if (is_name || probe.kind == PROBE_RESOLVE) {
        outcome =
            socket_resolve(probe.target, probe.timeout_ms, addresses, PROBE_ADDRESSES_MAX, &count);
        if (outcome != SOCKET_OK)
            return outcomes[outcome];
        if (!count)
            return PROBE_DNS_NXDOMAIN;
        memcpy(result->addresses, addresses, sizeof addresses);
        result->address_count = count;
        address = addresses[0];
        took = (socket_now_us() - start) / 1000; /* one time-out for name and answer together */
        probe.timeout_ms -= took < probe.timeout_ms ? (unsigned)took : probe.timeout_ms - 1;
    }
    switch (probe.kind) {
    case PROBE_TCP:
    case PROBE_UDP:
    case PROBE_UDP_ANY:
        return exchange(&probe, address, result);
    case PROBE_DNS:
    case PROBE_DNS_TCP:
        return dns_ask(&probe, address, result);
    case PROBE_PAGE: {
        _cleanup_(freep) char *question =
            xasprintf("GET /%s HTTP/1.0\r\nHost: %s\r\n\r\n", probe.question, probe.target);

        return outcomes[socket_tcp_take(address, probe.port, question, probe.payload,
                                        probe.timeout_ms)];
    }
    case PROBE_RESOLVE:
        break;
    }
    return PROBE_OK;
}
