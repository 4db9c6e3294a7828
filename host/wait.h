/* The one way to wait for something that this program does not do itself. */
#pragma once

#include "host/host.h"

enum wait_look { LOOK_FAILED = -1, LOOK_DONE = 0, LOOK_AGAIN = 1 };

struct wait {
    /* Milliseconds from the call of wait_until(), by the host's monotonic clock, however long a
     * look takes. `look` may change it. */
    unsigned limit_ms;
    unsigned pause_ms; /* between two looks */
    /* LOOK_DONE ends the wait; LOOK_FAILED ends it with err; LOOK_AGAIN may leave in err what is
     * still missing. err is empty before each look. */
    enum wait_look (*look)(void *context, struct wait *wait, struct error *err);
    /* Called after the first look and then about once a second; `missing` is what that look left
     * in its err. NULL: nobody is told. */
    void (*tell)(void *context, const struct wait *wait, const struct error *missing);
    void *context, *tell_context;
    unsigned waited_ms; /* by wait_until(): when the last look began, in `tell` when it ended
                         */
};

/* Looks at once, then after each pause, the last time when the limit is over. LOOK_DONE;
 * LOOK_FAILED with the error of the look, or with ERROR_INTERRUPTED when the user asked to stop;
 * LOOK_AGAIN when the limit is over, with what the last look left in err. */
enum wait_look wait_until(struct host *host, struct wait *wait, struct error *err);
/* The time that is left. */
unsigned wait_left_ms(const struct wait *wait);
