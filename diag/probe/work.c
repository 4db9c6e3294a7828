/* Probes at the same time: which attempt starts when, and the numbers over them. */
#include "diag/probe/work.h"

#include <stdatomic.h>

#include "host/socket.h"

enum {
    PATIENCE_US = 50000, /* an attempt that takes longer does not keep the next one waiting */
    AT_ONCE = 3,         /* attempts of one probe */
    PAUSE_MS = 2,
};

struct attempt {
    const struct probe *probe;
    struct probe_result result; /* what the thread found */
    unsigned us;
    atomic_bool ended;
};

struct measured {
    struct attempt **attempts;
    unsigned started;
    uint64_t last_us; /* when the last one was started */
};

struct probe_work {
    struct probe_list list;
    struct measured *items;
};

struct probe_work *probe_work_new(const struct probe_list *list) {
    struct probe_work *work = xcalloc(1, sizeof *work);

    for (size_t i = 0; i < list->count; i++)
        probe_list_add(&work->list, &list->items[i]);
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

/* Two failures before any success are enough. */
static bool is_hopeless(const struct measured *m) {
    unsigned failed = 0;

    for (unsigned i = 0; i < m->started; i++) {
        if (!atomic_load(&m->attempts[i]->ended))
            continue;
        if (m->attempts[i]->result.outcome == PROBE_OK)
            return false;
        failed++;
    }
    return failed >= 2;
}

static unsigned count_ended(const struct measured *m) {
    unsigned ended = 0;

    for (unsigned i = 0; i < m->started; i++)
        ended += atomic_load(&m->attempts[i]->ended);
    return ended;
}

static bool measured_step(struct measured *m, const struct probe *probe) {
    unsigned ended = count_ended(m), runs = m->started - ended;

    if (m->started >= probe->attempts || m->started >= PROBE_ATTEMPTS_MAX || is_hopeless(m))
        return !runs;
    if (!runs || (runs < AT_ONCE && socket_now_us() - m->last_us >= PATIENCE_US)) {
        struct attempt *attempt = xcalloc(1, sizeof *attempt);

        attempt->probe = probe;
        atomic_init(&attempt->ended, false);
        array_add(m->attempts, m->started, attempt);
        m->last_us = socket_now_us();
        if (socket_thread(attempt_run, attempt, 0) < 0)
            attempt_run(attempt);
    }
    return false;
}

bool probe_work_step(struct probe_work *work) {
    bool done = true;

    for (size_t i = 0; i < work->list.count; i++)
        done = measured_step(&work->items[i], &work->list.items[i]) && done;
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

static void sum_up(const struct measured *m, const struct probe *probe, struct probe_result *ret) {
    unsigned times[PROBE_ATTEMPTS_MAX];

    *ret = (struct probe_result){.outcome = PROBE_OK, .attempts = m->started};
    memcpy(ret->id, probe->id, sizeof ret->id);
    for (unsigned i = 0; i < m->started; i++) {
        const struct attempt *attempt = m->attempts[i];

        if (attempt->result.responder[0])
            memcpy(ret->responder, attempt->result.responder, sizeof ret->responder);
        if (attempt->result.address_count) {
            memcpy(ret->addresses, attempt->result.addresses, sizeof ret->addresses);
            ret->address_count = attempt->result.address_count;
        }
        if (attempt->result.outcome == PROBE_OK)
            times[ret->succeeded++] = attempt->us;
        else
            ret->outcome = attempt->result.outcome;
    }
    probe_result_time(ret, times);
}

void probe_work_end(struct probe_work *work, struct probe_results *ret) {
    while (!probe_work_step(work))
        socket_sleep(PAUSE_MS);
    for (size_t i = 0; i < work->list.count; i++) {
        struct measured *m = &work->items[i];
        struct probe_result result;

        sum_up(m, &work->list.items[i], &result);
        probe_results_add(ret, &result);
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
        *ret = results.items[i]; /* the one */
    probe_results_free(&results);
}
