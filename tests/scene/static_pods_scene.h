/* Probes as static pods of a played host. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "diag/ask/mailbox.h"

/* The result of diag_probes_start(), which always makes two; frees those of before. */
static inline int start(struct host *host, const struct diag_probe_options *options,
                        struct diag_probes *probes) {
    struct error err = {0};
    int result;

    free(probes->items);
    *probes = (struct diag_probes){.host = host, .options = options};
    result = diag_probes_start(probes, &err);
    assert_int_equal(probes->count, 2);
    return result;
}
