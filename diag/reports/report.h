/* A diagnosis' outcome and its faces: text, JSON (DiagReport), JUnit XML, HTML, Prometheus. */
#pragma once

#include <stdint.h>

#include "base/json.h"
#include "diag/flows/flows.h"

#define CLUSTER_REPORT_KIND "ClusterDiagReport" /* of diag/cluster/cluster.h */

/* The id of what is left: cells that no row explains. */
#define DIAG_CAUSE_UNKNOWN "UNKNOWN"

/* Why cells fail. */
struct diag_cause {
    const char *id; /* of the table in diag/causes/causes.h */
    bool confirmed; /* evidence was read; otherwise only the pattern of cells speaks for it */
    char *message;  /* plain words */
    char *hint;     /* what to do */
    struct text_list evidence; /* the facts that speak for it */
    struct text_list cells;    /* "pod-to-external-ip/tcp" */
};
/* Where a cause is explained: "causes.md#svc-vip", of docs/reference; the caller frees. */
char *diag_cause_page(const char *id);
struct diag_causes {
    struct diag_cause *items;
    size_t count;
};
void diag_causes_free(struct diag_causes *causes);
/* The one that explains the cell of that name, or NULL. */
const struct diag_cause *diag_cause_of(const struct diag_causes *causes, const char *cell);
/* The causes[] of DiagReport. New reference. */
json_t *diag_causes_json(const struct diag_causes *causes);
/* Styles and all else before the heading of a page that loads nothing; "</main></body></html>" ends
 * it. Colors: pass, fail, skip, slow, not-run. */
extern const char diag_page_head[];
/* A section of the page for each; ids are anchors. */
void diag_causes_add_html(struct text *t, const struct diag_causes *causes);

struct diag_report {
    char *node;
    char *network; /* "overlay flannel.4096", or "unknown" */
    int64_t time;  /* when it was measured, Unix seconds */
    unsigned milliseconds;
    unsigned measured_ms; /* of them from both probes up to the causes; 0 = nothing was measured */
    unsigned probes;      /* attempts made, all in all */
    struct diag_cells cells;
    struct diag_causes causes;
    json_t *evidence; /* document of diag/evidence.h, or NULL */
};
/* Zero-initialise before use. */
void diag_report_free(struct diag_report *report);

struct diag_summary {
    unsigned pass, fail, skip, not_run; /* cells of the nine flows; slow counts as pass */
    unsigned flows, flows_pass;         /* flows asked (no skip), and those without a red cell */
};
void diag_summary_make(const struct diag_report *report, struct diag_summary *ret);
/* true when every cell of the nine flows passed (or is slow, or skipped by design): exit code 0;
 * false: 5. A cell that was not run is not a pass. */
bool diag_report_is_good(const struct diag_report *report);
/* As a person reads it: "0.4 ms", "33 ms"; the caller frees. */
char *diag_latency_text(unsigned microseconds);

/* One line: "9 of 9 flows work, TCP and UDP, 54 probes"; the caller frees. */
char *diag_report_line(const struct diag_report *report);

struct diag_text_style {
    bool utf8;        /* arrows and marks; otherwise ->, ok, !!, -- */
    bool color;       /* ANSI */
    unsigned columns; /* of the terminal; 0, and more than 80: 80. Below 68 a line a protocol */
};
/* The matrix and the causes; the caller frees. */
char *diag_report_text(const struct diag_report *report, const struct diag_text_style *style);
/* DiagReport (contracts). New reference. */
json_t *diag_report_json(const struct diag_report *report);
/* The flows[] of DiagReport alone, for JoinResult. New reference. */
json_t *diag_flows_json(const struct diag_report *report);
/* The frame of JUnit XML: one testsuite of that name with its counts; its testcases go between. */
void diag_junit_begin(struct text *t, const char *name, int64_t time, unsigned milliseconds,
                      const struct diag_summary *summary);
void diag_junit_end(struct text *t);
/* One testsuite, one testcase a cell; the caller frees. */
char *diag_report_junit(const struct diag_report *report);
/* One page, nothing loaded from elsewhere; the caller frees. */
char *diag_report_html(const struct diag_report *report);
/* Prometheus' text format: gauges of the flows (up, latency, loss), causes, the whole; the caller
 * frees. */
char *diag_report_metrics(const struct diag_report *report);
/* Puts lossPercent and, where it is `timed`, latencyMs of a result that has attempts into a cell's
 * JSON. */
void diag_counted_json(const struct probe_result *result, bool timed, json_t *ret);
/* Reads one of flows[] back, but for what it belongs to (`second`). ERROR_MALFORMED. */
int diag_cell_read(const json_t *json, struct diag_cell *ret, struct error *err);
/* Reads a DiagReport back (diag --replay): cells, evidence under "evidence" when it is there;
 * causes are not read but judged again. ERROR_MALFORMED, also of a cluster's report. */
int diag_report_read(const char *text, size_t len, struct diag_report *ret, struct error *err);
/* A table that fills in while cells are measured: a row of each flow and family, its TCP and UDP as
 * "waiting", "running", "again", "works", "fails", "skipped", "not run". `begun`: the pods run.
 * Pure. */
void diag_cells_progress(const struct diag_cells *cells, bool begun, struct text_list *ret);
