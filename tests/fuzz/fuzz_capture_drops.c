/* What pktmon says of dropped packets: at most 32 reasons, and no more packets than lines. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "diag/capture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    _cleanup_(freep) char *text = xstrndup((const char *)data, size);
    _cleanup_json_ json_t *drops = diag_capture_drops(text, "10.0.0.1");
    long long lines = 1, packets = 0;
    json_t *drop;
    size_t i;

    for (const char *at = text; (at = strchr(at, '\n')); at++)
        lines++;
    json_array_foreach(drops, i, drop) {
        long long all = json_number_at(drop, "packets", 0);

        if (!json_text_at(drop, "reason") || json_number_at(drop, "ofThisFlow", -1) > all)
            abort();
        packets += all;
    }
    if (i > 32 || packets > lines)
        abort();
    return 0;
}
