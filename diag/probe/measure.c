/* Runs one attempt of a probe and reads its answer, runs attempts at the same time, and computes
 * the times of a probe. */
#include <stdatomic.h>
#include <stdio.h>

#include "diag/probe/probe.h"
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

/* Makes the line to send: a number used only once, by which an old or foreign answer is recognized,
 * then padding; free() it. */
static char *payload_make(unsigned size) {
    /* Atomic, because attempts run on several threads. */
    static atomic_ulong counter;
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

/* Exchanges a payload with the echo listener, which answers "<name> <payload>". */
static enum probe_outcome exchange(const struct probe *probe, const char *address,
                                   struct probe_result *result) {
    _cleanup_(freep) char *sent = probe->payload ? payload_make(probe->payload) : NULL;
    char answer[ANSWER_MAX + 1] = "";
    enum socket_outcome outcome;
    const char *echoed;
    size_t name, len;

    if (probe->kind == PROBE_UDP)
        outcome = socket_udp_exchange(address, probe->port, false, sent, answer, sizeof answer,
                                      probe->timeout_ms);
    else if (probe->kind == PROBE_UDP_ANY)
        outcome = socket_udp_exchange(address, probe->port, true, sent, answer, sizeof answer,
                                      probe->timeout_ms);
    else
        outcome = socket_tcp_exchange(address, probe->port, sent, answer, sizeof answer,
                                      probe->timeout_ms);
    if (outcome != SOCKET_OK || !sent)
        return outcomes[outcome];

    name = strcspn(answer, " ");
    if (!answer[name] || name == 0 || name > PROBE_NAME_MAX)
        return PROBE_WRONG_RESPONDER;
    for (size_t i = 0; i < name; i++)
        result->responder[i] = answer[i] > 0x20 && answer[i] < 0x7f ? answer[i] : '?';
    result->responder[name] = '\0';
    if (probe->expect[0] && !text_equal(result->responder, probe->expect))
        return PROBE_WRONG_RESPONDER;
    echoed = answer + name + 1;
    len = strcspn(sent, "\n");
    if (strncmp(echoed, sent, len) != 0 || strcspn(echoed, "\r\n") != len)
        return PROBE_WRONG_RESPONDER;
    return PROBE_OK;
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
    if (count) { /* Otherwise the addresses of the server's name are kept. */
        memcpy(result->addresses, addresses, sizeof addresses);
        result->address_count = count;
    }
    if (need_address && outcome == SOCKET_OK && !count)
        return PROBE_DNS_NXDOMAIN;
    /* A server that answers "no such name" was reached, which is all that was asked. */
    if (!need_address && (outcome == SOCKET_DNS_NXDOMAIN || outcome == SOCKET_DNS_SERVFAIL))
        return PROBE_OK;
    return outcomes[outcome];
}

/* Runs one attempt. Resolving the name and the answer together take at most timeout_ms. Sets the
 * responder and the addresses of the result when it learns them. */
static enum probe_outcome probe_attempt(const struct probe *asked, struct probe_result *result) {
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
        took = (socket_now_us() - start) / 1000; /* The name and the answer share one time-out. */
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

/* ---- attempts at the same time ---- */

enum {
    /* After this time, a slow attempt does not delay the next one. */
    PATIENCE_US = 50000,
    AT_ONCE = 3, /* Attempts of one probe at the same time. */
    PAUSE_MS = 2,
};

struct attempt {
    const struct probe *probe;
    struct probe_result result; /* Written by the attempt's thread. */
    unsigned us;
    atomic_bool ended;
};

struct measured {
    struct attempt **attempts;
    unsigned started;
    uint64_t last_us; /* When the last attempt was started. */
};

struct probe_work {
    struct probe_list list;
    struct measured *items;
};

struct probe_work *probe_work_new(const struct probe_list *list) {
    struct probe_work *work = xcalloc(1, sizeof *work);

    for (size_t i = 0; i < list->count; i++)
        array_add(work->list.items, work->list.count, list->items[i]);
    work->items = xcalloc(list->count ? list->count : 1, sizeof *work->items);
    return work;
}

static void attempt_run(void *context) {
    struct attempt *attempt = context;
    uint64_t start = socket_now_us();

    attempt->result.outcome = probe_attempt(attempt->probe, &attempt->result);
    attempt->us = (unsigned)(socket_now_us() - start);
    atomic_store(&attempt->ended, true);
}

bool probe_work_step(struct probe_work *work) {
    bool done = true;

    for (size_t i = 0; i < work->list.count; i++) {
        const struct probe *probe = &work->list.items[i];
        struct measured *m = &work->items[i];
        unsigned ended = 0, succeeded = 0, runs;

        for (unsigned k = 0; k < m->started; k++)
            if (atomic_load(&m->attempts[k]->ended)) {
                ended++;
                succeeded += m->attempts[k]->result.outcome == PROBE_OK;
            }
        runs = m->started - ended;
        if (m->started >= probe->attempts || m->started >= PROBE_ATTEMPTS_MAX ||
            (ended >= 2 && !succeeded)) { /* Two failures before any success are enough. */
            done = done && !runs;
            continue;
        }
        done = false;
        if (!runs || (runs < AT_ONCE && socket_now_us() - m->last_us >= PATIENCE_US)) {
            struct attempt *attempt = xcalloc(1, sizeof *attempt);

            attempt->probe = probe;
            atomic_init(&attempt->ended, false);
            array_add(m->attempts, m->started, attempt);
            m->last_us = socket_now_us();
            if (socket_thread(attempt_run, attempt, 0) < 0)
                attempt_run(attempt);
        }
    }
    return done;
}

static int compare_numbers(const void *a, const void *b) {
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

    return x < y ? -1 : x > y;
}

void probe_result_time(struct probe_result *result, unsigned *times) {
    if (!result->succeeded)
        return;
    qsort(times, result->succeeded, sizeof *times, compare_numbers);
    result->min_us = times[0];
    result->median_us = times[result->succeeded / 2];
    result->p95_us = times[(result->succeeded * 95 + 99) / 100 - 1];
    result->max_us = times[result->succeeded - 1];
}

void probe_work_end(struct probe_work *work, struct probe_results *ret) {
    while (!probe_work_step(work))
        socket_sleep(PAUSE_MS);
    for (size_t i = 0; i < work->list.count; i++) {
        struct measured *m = &work->items[i];
        struct probe_result result;
        unsigned times[PROBE_ATTEMPTS_MAX];

        result = (struct probe_result){.outcome = PROBE_OK, .attempts = m->started};
        memcpy(result.id, work->list.items[i].id, sizeof result.id);
        for (unsigned k = 0; k < m->started; k++) {
            const struct attempt *attempt = m->attempts[k];

            if (attempt->result.responder[0])
                memcpy(result.responder, attempt->result.responder, sizeof result.responder);
            if (attempt->result.address_count) {
                memcpy(result.addresses, attempt->result.addresses, sizeof result.addresses);
                result.address_count = attempt->result.address_count;
            }
            if (attempt->result.outcome == PROBE_OK)
                times[result.succeeded++] = attempt->us;
            else
                result.outcome = attempt->result.outcome;
        }
        probe_result_time(&result, times);
        array_add(ret->items, ret->count, result);
        for (unsigned k = 0; k < m->started; k++)
            free(m->attempts[k]);
        free(m->attempts);
    }
    probe_list_free(&work->list);
    free(work->items);
    free(work);
}

void probe_measure(const struct probe *probe, struct probe_result *ret) {
    struct probe one = *probe;
    const struct probe_list list = {&one, 1};
    struct probe_results results = {0};

    probe_work_end(probe_work_new(&list), &results);
    for (size_t i = 0; i < results.count; i++)
        *ret = results.items[i]; /* There is exactly one result. */
    probe_results_free(&results);
}
