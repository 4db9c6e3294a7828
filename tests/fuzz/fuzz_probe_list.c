/* probes.txt, which the probe reads inside a pod. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "diag/probe/probe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    _cleanup_(probe_list_free) struct probe_list list = {0}, again = {0};

    if (probe_list_parse((const char *)data, size, &list, NULL) == 0) {
        _cleanup_(freep) char *text = probe_list_write(&list);

        /* What was taken must be what is written. */
        if (probe_list_parse(text, strlen(text), &again, NULL) < 0 || again.count != list.count)
            abort();
    }
    return 0;
}
