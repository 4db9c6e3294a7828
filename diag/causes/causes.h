/* From red cells and evidence to causes: a table of rows, widest cause first. Pure. */
#pragma once

#include "diag/reports/report.h"

/* Judges report->cells against report->evidence (NULL allowed) and fills report->causes. What the
 * first look shows (evidence "look") comes first, with the cells that it explains or none; any
 * other cause is given only when it explains cells that no wider one explained, and never when a
 * cell that it would break has passed. */
void diag_causes_find(struct diag_report *report);
/* Whether the evidence alone says that pods will not start: a cause that keeps them from it is
 * confirmed, or they failed several times in the same way. */
bool diag_causes_stop_pods(const struct diag_report *report);

/* A row as documentation shows it. */
struct diag_cause_row {
    const char *id;      /* "NAT-NONE" */
    const char *breaks;  /* which flows it breaks, in words */
    const char *message; /* what it is, in general */
    const char *hint;
    const char
        *source; /* where it was seen in the field: "kubernetes/kubernetes#135802"; or NULL */
};
/* Row i of the table, widest first; NULL behind the last. An id may stand in two rows. */
const struct diag_cause_row *diag_cause_row(size_t i);
