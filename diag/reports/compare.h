/* What changed between two reports (diag --compare). Pure. */
#pragma once

#include "diag/reports/report.h"

/* {since, worse, cells[{cell, was, is, worse, reason?}], causesNew[], causesGone[]}: cells that
 * turned red or green, are skipped now or no longer, came or went (then "absent"). worse: a cell of
 * the nine flows is red that was not, or a cause is new. Of a cluster also nodesNew[], nodesGone[];
 * a cell of one of the two alone is named where it is red. Causes of both are judged already. New
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
