/* What the functions of diag/reports/forms.h share: parts of several forms of a report. */
#pragma once

#include "diag/cluster/cells.h"

/* Says whether the cause at this index is the first with its id: a cause may be named for both IP
 * families. */
bool diag_cause_is_first(const struct diag_causes *causes, size_t at);

/* ---- text output ---- */

/* text_edge() is the number of columns that a line may take. text_pad() adds spaces up to that
 * column, at least one. */
size_t text_edge(const struct diag_text_style *style);
void text_pad(struct text *t, size_t used, size_t columns);
/* Adds the mark of an outcome, such as "ok" or "!!", in the form that the terminal can show.
 * Returns the number of its columns. */
size_t text_add_mark(struct text *t, enum diag_outcome outcome,
                     const struct diag_text_style *style);
/* Adds words from column `at` on, and continues on further lines behind `indent` spaces. Text from
 * the cluster is escaped, so that it cannot control the terminal. */
void text_add_wrapped(struct text *t, const char *words, size_t at, size_t indent, size_t edge);
/* A line "NAME: 0.4 / 0.5 / 0.9 / 1.2 ms, 2.0 % of 50 lost", without the times unless `timed`. The
 * caller frees. */
char *latency_line(const char *name, const struct probe_result *result, bool timed);

/* ---- XML and HTML output ---- */

/* Adds text so that it appears literally in element content and in quoted attributes. Control
 * characters, which XML 1.0 cannot represent, become '?'. */
void markup_add(struct text *t, const char *s);
/* The beginning of an HTML page up to its heading, with styles; the page loads nothing, and must be
 * ended with "</main></body></html>". Colors are for pass, fail, skip, slow and not-run. */
extern const char diag_page_head[];
/* Adds a section to the page for each cause, with the cause's id as anchor. */
void diag_causes_add_html(struct text *t, const struct diag_causes *causes);

/* ---- reports of a whole cluster ---- */

/* The cells of one flow, protocol and family that --count measured. */
struct cluster_latency {
    const struct diag_flow *flow;
    bool udp;
    int family;
    /* Attempts and successes of all cells; min_us is that of the fastest cell, max_us that of the
     * slowest, median_us the median of their medians, p95_us the worst of their p95. */
    struct probe_result sum;
    /* The cell with that worst p95; NULL when no cell succeeded or had times. */
    const struct diag_cell *worst;
};
/* In the order of the matrix, TCP before UDP. The caller frees. */
struct cluster_latency *cluster_latencies_make(const struct diag_report *report, size_t *ret_count);
/* Adds a picture of the cluster's nodes by kind. `worst` has the worst outcome of each pair's
 * cells, row by row, DIAG_SKIP for a pair that was not asked. Each pair that fails or was not
 * measured gets an arrow that links to "#red-FROM-TO" (nodes count from 1); with more than two
 * dozen such pairs, each pair of kinds gets one arrow. */
void cluster_picture_add_html(struct text *t, const struct diag_report *report,
                              const enum diag_outcome *worst);
/* The lines that every output form has about a sample of nodes: its size, what it cannot show, what
 * nodes report about themselves. None when the report is not of a sample. */
void diag_sample_lines(const struct diag_report *report, struct text_list *ret);
/* diag_sample_json() makes the member `sample` of the document: a new reference, or NULL without a
 * sample. diag_sample_read() reads it back, and expects hostile texts. */
json_t *diag_sample_json(const struct diag_report *report);
void diag_sample_read(const json_t *json, struct cluster_sample *ret);
/* For cluster reports: diag_report_html() and diag_report_text() call them. The caller frees. */
char *diag_cluster_html(const struct diag_report *report);
char *diag_cluster_text(const struct diag_report *report, const struct diag_text_style *style);
