/* Waits for something that another program does. All such waits of winjoin use these functions. */
#pragma once

#include "host/host.h"

enum wait_poll { POLL_FAILED = -1, POLL_DONE = 0, POLL_AGAIN = 1 };

struct wait {
    /* Time limit in milliseconds from the call of wait_until(), by the host's monotonic clock. Time
     * spent in `poll` counts. `poll` may change the limit. */
    unsigned limit_ms;
    unsigned pause_ms; /* Pause between two checks. */
    /* Checks the condition. POLL_DONE ends the wait, POLL_FAILED ends it with err, POLL_AGAIN
     * continues it and may say in err what is still missing. err is empty before each check. */
    enum wait_poll (*poll)(void *context, struct wait *wait, struct error *err);
    /* Reports progress: called after the first check and then about once a second. `missing` is the
     * err of that check. May be NULL. */
    void (*tell)(void *context, const struct wait *wait, const struct error *missing);
    void *context, *tell_context;
    /* Set by wait_until(): time waited until the last check began; in `tell`, until it ended. */
    unsigned waited_ms;
};

/* Checks at once, then after each pause, and a last time when the limit is reached. Returns
 * POLL_DONE; POLL_FAILED with the error of the check, or with ERROR_INTERRUPTED when the user asks
 * to stop; POLL_AGAIN when the limit is reached, with the err of the last check. */
enum wait_poll wait_until(struct host *host, struct wait *wait, struct error *err);
/* Returns the remaining milliseconds. */
unsigned wait_left_ms(const struct wait *wait);
