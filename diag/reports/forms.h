/* What the forms of a report share. */
#pragma once

#include "diag/cluster/cells.h"

/* Is it the first of that id? One may be named for both families. */
bool diag_cause_is_first(const struct diag_causes *causes, size_t at);

/* ---- text ---- */

/* Columns that a line may take; spaces up to that column, one at least. */
size_t text_edge(const struct diag_text_style *style);
void text_pad(struct text *t, size_t used, size_t columns);
/* "ok", "!!", ..., as the terminal shows it; how many columns it takes. */
size_t text_add_mark(struct text *t, enum diag_outcome outcome,
                     const struct diag_text_style *style);
/* A line's words from column `at` on, continued behind `indent` spaces. What a cluster says steers
 * no terminal. */
void text_add_wrapped(struct text *t, const char *words, size_t at, size_t indent, size_t edge);
/* "NAME: 0.4 / 0.5 / 0.9 / 1.2 ms, 2.0 % of 50 lost", without times where it is not `timed`; the
 * caller frees. */
char *latency_line(const char *name, const struct probe_result *result, bool timed);

/* ---- XML and HTML ---- */

/* Adds text so that it appears literally in element content and in quoted attributes; control
 * characters, which XML 1.0 has no form for, become '?'. */
void markup_add(struct text *t, const char *s);
/* Styles and all else before the heading of a page that loads nothing; "</main></body></html>" ends
 * it. Colors: pass, fail, skip, slow, not-run. */
extern const char diag_page_head[];
/* A section of the page for each; ids are anchors. */
void diag_causes_add_html(struct text *t, const struct diag_causes *causes);

/* ---- a whole cluster ---- */

/* The cells of one flow and protocol that --count asked. */
struct cluster_latency {
    const struct diag_flow *flow;
    bool udp;
    int family;
    struct probe_result sum; /* attempts and successes of all; min_us of the fastest, max_us of the
                                slowest; of the cells' medians the median, of their p95 the worst */
    const struct diag_cell *worst; /* that p95's; NULL: none succeeded, or was timed */
};
/* In the order of the matrix, TCP before UDP; the caller frees. */
struct cluster_latency *cluster_latencies_make(const struct diag_report *report, size_t *ret_count);
/* Its nodes by kind as a picture; `worst`: of each pair's cells, row by row, DIAG_SKIP where it was
 * not asked. An arrow each pair that fails or was not measured, which leads to "#red-FROM-TO"
 * (nodes count from 1); of more than two dozen, an arrow each pair of kinds. */
void cluster_picture_add_html(struct text *t, const struct diag_report *report,
                              const enum diag_outcome *worst);
/* What is said of a sample of its nodes in every form, line by line: its size, what it cannot see,
 * what nodes say of themselves. Nothing where there is none. */
void diag_sample_lines(const struct diag_report *report, struct text_list *ret);
/* The document's `sample`; NULL: there is none. New reference. Read back, hostile texts too. */
json_t *diag_sample_json(const struct diag_report *report);
void diag_sample_read(const json_t *json, struct cluster_sample *ret);
/* As the functions without "cluster"; the caller frees. */
char *diag_cluster_html(const struct diag_report *report);
char *diag_cluster_text(const struct diag_report *report, const struct diag_text_style *style);
