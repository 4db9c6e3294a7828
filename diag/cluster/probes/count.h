/* Loss and latency of a cluster's cells (--count). */
#pragma once

#include "diag/cluster/probes/asking.h"

/* TCP sends again what was lost: where an answer between pods took as long as that, though UDP's
 * did not. */
bool cluster_is_delayed(const struct cluster_asking *asking);
/* Asks each cell that works, or loses packets by chance, options->count times more; where that is 1
 * or less, TCP between pods alone, to see whether packets are sent again (cell->again). Few
 * questions are under way at the same time. What takes time besides the network (here, the API
 * server, the probe) is what an equal question to the probe itself takes, asked in between as
 * often: the median of these is subtracted. A cell that loses an answer fails. Questions that the
 * API server does not pass on do not count. ERROR_INTERRUPTED alone. */
int cluster_count(struct cluster_asking *asking, struct error *err);
/* Does --count ask it: it works or loses some packets, and was not counted yet? */
bool cluster_cell_is_to_count(const struct diag_cell *cell);
