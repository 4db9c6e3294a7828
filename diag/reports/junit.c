/* Writes the report as JUnit XML for CI systems: each cell is a testcase. A cell that was not run
 * is an error, so that it never counts as success. */
#include "base/rfc3339.h"
#include "diag/reports/form_parts.h"

void markup_add(struct text *t, const char *s) {
    for (; s && *s; s++)
        switch (*s) {
        case '&':
            text_add(t, "&amp;");
            break;
        case '<':
            text_add(t, "&lt;");
            break;
        case '>':
            text_add(t, "&gt;");
            break;
        case '"':
            text_add(t, "&quot;");
            break;
        default:
            if ((unsigned char)*s == 0xc2 && (unsigned char)s[1] < 0xa0 && s[1])
                s++; /* Control characters from U+0080 to U+009F. */
            else if (((unsigned char)*s >= 0x20 && *s != 0x7f) || *s == '\n') {
                text_add_char(t, *s);
                break;
            }
            text_add_char(t, '?');
        }
}

/* Adds a testcase. Only in the report of a node it has the cause: a cluster has too many cells to
 * look the cause up for each, and its HTML page has them. */
static void add_case(struct text *t, const struct diag_report *report,
                     const struct diag_cell *cell) {
    static const char *const elements[] = {
        [DIAG_FAIL] = "failure", [DIAG_SKIP] = "skipped", [DIAG_NOT_RUN] = "error"};
    const char *element = elements[cell->outcome];
    const unsigned us = cell->result.median_us;
    const struct diag_cause *cause = NULL;

    text_addf(t, "    <testcase name=\"%s/%s%s", cell->flow->name, cell->udp ? "udp" : "tcp",
              cell->second ? "/ipv6" : "");
    if (report->server) {
        text_add(t, " ");
        markup_add(t, cell->to);
    }
    text_add(t, "\" classname=\"");
    markup_add(t, report->server ? cell->from : report->node ? report->node : "node");
    text_add(t, "\"");
    if (!report->server)
        text_addf(t, " time=\"%u.%06u\"", us / 1000000, us % 1000000);
    if (!element) {
        text_add(t, "/>\n");
        return;
    }
    if (cell->outcome != DIAG_SKIP && !report->server) {
        _cleanup_(freep) char *name = diag_cell_name(cell);

        cause = diag_cause_of(&report->causes, name);
    }
    text_addf(t, ">\n      <%s message=\"", element);
    markup_add(t, cell->reason);
    if (cause) {
        text_addf(t, "\" type=\"%s\">", cause->id);
        markup_add(t, cause->message);
        text_add(t, "\n");
        markup_add(t, cause->hint);
        text_addf(t, "</%s>\n", element);
    } else {
        text_add(t, "\"/>\n");
    }
    text_add(t, "    </testcase>\n");
}

char *diag_report_junit(const struct diag_report *report) {
    struct text t = {.cap = 64 * 1024 * 1024};
    struct diag_summary s;
    char counts[160];
    _cleanup_(text_list_free) struct text_list lines = {0};

    diag_summary_make(report, &s);
    text_format(counts, sizeof counts,
                "tests=\"%u\" failures=\"%u\" errors=\"%u\" time=\"%u.%03u\"",
                s.pass + s.fail + s.not_run + s.skip, s.fail, s.not_run,
                report->milliseconds / 1000, report->milliseconds % 1000);
    text_addf(&t, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites %s>\n", counts);
    /* The schema of Jenkins allows `skipped` in a testsuite, not in testsuites. */
    text_addf(&t, "  <testsuite name=\"winjoin diag%s\" timestamp=\"%s\" skipped=\"%u\" %s>\n",
              report->server ? " --kubeconfig" : "", RFC3339_TEXT(report->time), s.skip, counts);
    diag_sample_lines(report, &lines);
    for (size_t i = 0; i < lines.count; i++) {
        text_add(&t, i ? "" : "    <properties>\n");
        text_add(&t, "      <property name=\"sample\" value=\"");
        markup_add(&t, lines.items[i]);
        text_add(&t, "\"/>\n");
    }
    text_add(&t, lines.count ? "    </properties>\n" : "");
    for (size_t i = 0; i < report->cells.count; i++)
        if (diag_report_counts(report, &report->cells.items[i]))
            add_case(&t, report, &report->cells.items[i]);
    text_add(&t, "  </testsuite>\n</testsuites>\n");
    return text_take(&t);
}
