/* What changed between two reports (diag --compare). Pure. */
#pragma once

#include "diag/reports/report.h"

/* A cell: its name tells it from all others of its report. */
struct diag_compared_cell {
    char *name; /* owned; all else is borrowed */
    enum diag_outcome outcome;
    bool extra;
    const char *reason;
};
/* A report as it is compared. */
struct diag_compared {
    int64_t time;
    struct diag_compared_cell *cells;
    size_t count;
    const struct diag_causes *causes;
};
void diag_compared_free(struct diag_compared *compared);
/* As diag_report_compare(), of any reports. New reference. */
json_t *diag_compare(const struct diag_compared *old, const struct diag_compared *new);

/* {since, worse, cells[{cell, was, is, worse, reason?}], causesNew[], causesGone[]}: cells that
 * turned red or green, are skipped now or no longer, came or went (then "absent"). worse: a cell of
 * the nine flows is red that was not, or a cause is new. Causes of both are judged already. New
 * reference. */
json_t *diag_report_compare(const struct diag_report *old, const struct diag_report *new);
/* The same for a person; the caller frees. */
char *diag_compare_text(const json_t *compared);
/* Is there anything that changed? */
bool diag_compare_changed(const json_t *compared);
/* How it is (`line`, at `time`) and what changed, each line with its time (diag --watch); the
 * causes are those of now. The caller frees. */
char *diag_watch_text(const json_t *compared, int64_t time, const char *line,
                      const struct diag_causes *causes);
/* {time, good, summary, causes[]} of a report's document (good: the exit code would be 0) and what
 * `compared` has. New reference. */
json_t *diag_watch_json(const json_t *compared, const json_t *report, bool good);
