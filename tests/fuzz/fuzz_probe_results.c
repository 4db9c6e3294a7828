/* results-N.txt and heartbeat.txt, which anybody inside a pod may have written. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "diag/probe/probe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    _cleanup_(probe_results_free) struct probe_results results = {0}, again = {0};
    struct probe_heartbeat beat;

    if (probe_heartbeat_parse((const char *)data, size, &beat, NULL) == 0)
        (void)probe_heartbeat_address(&beat, false); /* only that it ends */
    if (probe_results_parse((const char *)data, size, &results, NULL) == 0) {
        _cleanup_(freep) char *text = probe_results_write(&results);

        if (probe_results_parse(text, strlen(text), &again, NULL) < 0 ||
            again.count != results.count)
            abort();
    }
    return 0;
}
