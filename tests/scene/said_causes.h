/* All that is said of some causes, for an expected file. */
#pragma once

#include "diag/reports/report.h"

static void said_causes_add(struct text *ret, const struct diag_causes *causes, bool with_hints) {
    for (size_t i = 0; i < causes->count; i++) {
        const struct diag_cause *cause = &causes->items[i];

        text_addf(ret, "%s %s %zu: %s\n", cause->id, cause->confirmed ? "confirmed" : "likely",
                  cause->cells.count, cause->message);
        for (size_t k = 0; k < cause->evidence.count; k++)
            text_addf(ret, "- %s\n", cause->evidence.items[k]);
        if (with_hints)
            text_addf(ret, "> %s\n", cause->hint);
    }
}
