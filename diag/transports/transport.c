/* The table of transports. */
#include "diag/transports/transport.h"

#include "base/memory.h"

static const struct diag_transport *const transports[] = {&diag_static_pods};

const struct diag_transport *diag_transport_find(enum diag_reach reach) {
    for (size_t i = 0; i < ARRAY_SIZE(transports); i++)
        if (transports[i]->reach == reach)
            return transports[i];
    return NULL;
}

void diag_probe_add(struct diag_probes *probes, const char *name) {
    struct diag_probe probe = {0};

    text_format(probe.name, sizeof probe.name, "%s", name);
    probes->items = xrealloc(probes->items, (probes->count + 1) * sizeof *probes->items);
    probes->items[probes->count++] = probe;
}
