/* What a report says in numbers, and its end. */
#include "diag/reports/report.h"

char *diag_cause_page(const char *id) {
    _cleanup_(freep) char *lower = text_lower(id);

    return xasprintf("causes.md#%s", lower);
}

void diag_causes_free(struct diag_causes *causes) {
    for (size_t i = 0; i < causes->count; i++) {
        free(causes->items[i].message);
        free(causes->items[i].hint);
        text_list_free(&causes->items[i].evidence);
        text_list_free(&causes->items[i].cells);
    }
    free(causes->items);
    *causes = (struct diag_causes){0};
}

const struct diag_cause *diag_cause_of(const struct diag_causes *causes, const char *cell) {
    for (size_t i = 0; i < causes->count; i++)
        if (text_list_has(&causes->items[i].cells, cell))
            return &causes->items[i];
    return NULL;
}

void diag_report_free(struct diag_report *report) {
    if (!report)
        return;
    free(report->node);
    free(report->network);
    diag_cells_free(&report->cells);
    diag_causes_free(&report->causes);
    json_decref(report->evidence);
    *report = (struct diag_report){0};
}

static void count_cell(const struct diag_cell *cell, struct diag_summary *summary) {
    switch (cell->outcome) {
    case DIAG_PASS:
    case DIAG_SLOW:
        summary->pass++;
        break;
    case DIAG_FAIL:
        summary->fail++;
        break;
    case DIAG_SKIP:
        summary->skip++;
        break;
    case DIAG_NOT_RUN:
        summary->not_run++;
        break;
    }
}

void diag_summary_make(const struct diag_report *report, struct diag_summary *ret) {
    *ret = (struct diag_summary){0};
    for (const struct diag_flow *flow = diag_flows; flow->name; flow++) {
        struct diag_summary of_flow = {0};

        for (size_t i = 0; i < report->cells.count; i++)
            if (report->cells.items[i].flow == flow && !(flow->is & FLOW_EXTRA))
                count_cell(&report->cells.items[i], &of_flow);
        ret->pass += of_flow.pass;
        ret->fail += of_flow.fail;
        ret->skip += of_flow.skip;
        ret->not_run += of_flow.not_run;
        if (of_flow.pass + of_flow.fail + of_flow.not_run)
            ret->flows++;
        if (of_flow.pass && !of_flow.fail && !of_flow.not_run)
            ret->flows_pass++;
    }
}

bool diag_report_is_good(const struct diag_report *report) {
    struct diag_summary summary;

    diag_summary_make(report, &summary);
    return summary.pass && !summary.fail && !summary.not_run;
}

char *diag_report_line(const struct diag_report *report) {
    struct diag_summary summary;

    diag_summary_make(report, &summary);
    return xasprintf("%u of %u flows work, TCP and UDP, %u probes", summary.flows_pass,
                     summary.flows, report->probes);
}
