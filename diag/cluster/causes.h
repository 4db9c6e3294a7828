/* From the pattern of a cluster's red cells to causes: a table of rows, the widest cause first. */
#pragma once

#include "diag/causes/causes.h"
#include "diag/cluster/cluster.h"

/* Fills report->causes. A row is named where all cells that it would break are red and the cells
 * that it would spare are not; a red cell is explained once, by the widest. Pure. */
void cluster_causes_find(struct cluster_report *report);
/* Row i of the table; NULL behind the last. */
const struct diag_cause_row *cluster_cause_row(size_t i);
