/* Probes as static pods of a played host. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "diag/transports/transport.h"

/* The result of the transport's start(), which always makes two; frees those of before. */
static inline int start(struct host *host, const struct diag_probe_options *options,
                        struct diag_probes *probes) {
    struct error err = {0};
    int result;

    free(probes->items);
    *probes = (struct diag_probes){&diag_static_pods, host, options, NULL, 0, 0, NULL};
    result = probes->transport->start(probes, &err);
    assert_int_equal(probes->count, 2);
    return result;
}
