/* Checks a condition repeatedly, with pauses, until a deadline on the monotonic clock. */
#include "host/wait.h"

enum { TELL_MS = 1000 };

unsigned wait_left_ms(const struct wait *wait) {
    return wait->waited_ms < wait->limit_ms ? wait->limit_ms - wait->waited_ms : 0;
}

static void measure(struct host *host, struct wait *wait, uint64_t start) {
    uint64_t waited = host_monotonic_ms(host) - start;

    wait->waited_ms = waited < UINT32_MAX ? (unsigned)waited : UINT32_MAX;
}

enum wait_poll wait_until(struct host *host, struct wait *wait, struct error *err) {
    uint64_t start = host_monotonic_ms(host), tell_at = 0;

    for (;;) {
        struct error missing = {0};
        enum wait_poll found;
        unsigned left;

        measure(host, wait, start);
        found = wait->poll(wait->context, wait, &missing);
        measure(host, wait, start);
        left = wait_left_ms(wait);
        if (found != POLL_AGAIN || !left) {
            if (found != POLL_DONE && err)
                *err = missing;
            return found;
        }
        if (wait->tell && wait->waited_ms >= tell_at) {
            wait->tell(wait->tell_context, wait, &missing);
            tell_at = wait->waited_ms + TELL_MS;
        }
        if (host_sleep(host, wait->pause_ms < left ? wait->pause_ms : left, err) < 0)
            return POLL_FAILED;
    }
}
