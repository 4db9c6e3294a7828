/* The probes of a run, whatever starts them. */
#include "diag/transports/transport.h"

void diag_probe_add(struct diag_probes *probes, const char *name) {
    struct diag_probe probe = {0};

    text_format(probe.name, sizeof probe.name, "%s", name);
    array_add(probes->items, probes->count, probe);
}
