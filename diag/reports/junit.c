/* JUnit XML for CI systems: a testcase is a cell; not-run is an error, so it is never green. */
#include "base/rfc3339.h"
#include "diag/reports/report.h"
#include "diag/reports/markup.h"

static void add_trouble(struct text *t, const char *element, const struct diag_cell *cell,
                        const struct diag_cause *cause) {
    text_addf(t, "      <%s message=\"", element);
    markup_add(t, cell->reason);
    text_add(t, "\"");
    if (cause)
        text_addf(t, " type=\"%s\"", cause->id);
    text_add(t, ">");
    if (cause) {
        markup_add(t, cause->message);
        text_add(t, "\n");
        markup_add(t, cause->hint);
    }
    text_addf(t, "</%s>\n", element);
}

static void add_case(struct text *t, const struct diag_report *report,
                     const struct diag_cell *cell) {
    _cleanup_(freep) char *name = diag_cell_name(cell);
    const struct diag_cause *cause = diag_cause_of(&report->causes, name);

    text_addf(t, "    <testcase name=\"%s\" classname=\"", name);
    markup_add(t, report->node ? report->node : "node");
    text_addf(t, "\" time=\"%u.%06u\">\n", cell->result.median_us / 1000000,
              cell->result.median_us % 1000000);
    if (cell->outcome == DIAG_FAIL)
        add_trouble(t, "failure", cell, cause);
    else if (cell->outcome == DIAG_NOT_RUN)
        add_trouble(t, "error", cell, cause);
    else if (cell->outcome == DIAG_SKIP)
        add_trouble(t, "skipped", cell, NULL);
    text_add(t, "    </testcase>\n");
}

void diag_junit_begin(struct text *t, const char *name, int64_t time, unsigned milliseconds,
                      const struct diag_summary *s) {
    char counts[160];

    text_format(counts, sizeof counts,
                "tests=\"%u\" failures=\"%u\" errors=\"%u\" time=\"%u.%03u\"",
                s->pass + s->fail + s->not_run + s->skip, s->fail, s->not_run, milliseconds / 1000,
                milliseconds % 1000);
    text_addf(t, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites %s>\n", counts);
    /* Jenkins' schema has no skipped of all suites. */
    text_addf(t, "  <testsuite name=\"%s\" timestamp=\"%s\" skipped=\"%u\" %s>\n", name,
              RFC3339_TEXT(time), s->skip, counts);
}

void diag_junit_end(struct text *t) {
    text_add(t, "  </testsuite>\n</testsuites>\n");
}

char *diag_report_junit(const struct diag_report *report) {
    struct diag_summary summary;
    struct text t = {0};

    diag_summary_make(report, &summary);
    diag_junit_begin(&t, "winjoin diag", report->time, report->milliseconds, &summary);
    for (size_t i = 0; i < report->cells.count; i++)
        if (!(report->cells.items[i].flow->is & FLOW_EXTRA))
            add_case(&t, report, &report->cells.items[i]);
    diag_junit_end(&t);
    return text_take(&t);
}
