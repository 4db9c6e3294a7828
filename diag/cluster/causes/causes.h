/* From the pattern of a cluster's red cells to causes: a table of rows, the widest cause first. */
#pragma once

#include "diag/causes/causes.h"
#include "diag/cluster/cluster.h"

/* Fills report->causes. A row is named at the fewest places (diag/cluster/causes/rows.h) where
 * all cells that it would break are red; a red cell is explained once, by the first row. Pure. */
void cluster_causes_find(struct diag_report *report);
/* What the table names, i-th; an id may come again. False behind the last. Text is borrowed. */
bool cluster_cause_row(size_t i, struct diag_cause_row *ret);
