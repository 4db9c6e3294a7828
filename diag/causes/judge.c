/* Lets the rows of the decision table compete: a cause that evidence confirms wins over one that is
 * only likely, and a wider cause wins over a narrower one. */
#include "diag/causes/cause_rows.h"

static void symptoms_make(const struct diag_report *report, const json_t *evidence, bool second,
                          struct symptoms *ret) {
    *ret = (struct symptoms){.report = report, .evidence = evidence, .second = second};
    for (enum diag_extra_id i = 0; i < X_COUNT; i++) {
        const json_t *extra =
            json_object_get(json_object_get(evidence, "extra"), diag_extras[i].name);
        const char *outcome = json_text_at(extra, "outcome");
        enum probe_outcome said = PROBE_FAILED;

        if (outcome)
            (void)probe_outcome_parse(outcome, &said);
        ret->extras[i] = (struct extra){.said = outcome ? 1u << said : 0,
                                        .outcome = outcome,
                                        .some = json_number_at(extra, "succeeded", 0) > 0,
                                        .median_us = json_number_at(extra, "medianUs", 0)};
    }
    for (size_t i = 0; i < report->cells.count; i++) {
        const struct diag_cell *cell = &report->cells.items[i];
        uint32_t bit;

        if (cell->second != second)
            continue;
        bit = cell_bit(cell);
        if (cell->outcome == DIAG_PASS || cell->outcome == DIAG_SLOW)
            ret->green |= bit;
        if (cell->outcome == DIAG_FAIL || cell->outcome == DIAG_NOT_RUN)
            ret->red |= bit;
        if (cell->outcome == DIAG_FAIL) {
            ret->failed |= bit;
            ret->outcome[cell->result.outcome] |= bit;
            ret->back |= cell->one_way == DIAG_ONE_WAY_BACK ? bit : 0;
            ret->partly |= cell->result.succeeded ? bit : 0;
            if (cell->result.outcome >= PROBE_DNS_NXDOMAIN &&
                cell->result.outcome <= PROBE_DNS_SERVFAIL && !cell->result.address_count)
                ret->unresolved |= bit;
        }
    }
    symptoms_derive(ret);
}

static void cause_add(struct diag_report *report, const struct symptoms *symptoms,
                      const struct row *row, enum level level, struct cause_finding *finding,
                      uint32_t bits) {
    enum { SHOWN = 5 };
    struct diag_causes *causes = &report->causes;
    struct diag_cause cause = {
        .id = row->words.id,
        .confirmed = level == CONFIRMED,
        .message = finding->message ? take_ptr(finding->message) : xstrdup(row->words.message),
        .hint = finding->hint ? take_ptr(finding->hint) : xstrdup(row->words.hint),
        .evidence = take_struct(finding->evidence),
    };
    struct text_list *evidence = &cause.evidence;

    /* At most five lines of evidence are kept: a cluster with a hundred nodes may have a hundred
     * lines of the same kind. */
    if (evidence->count > SHOWN + 1) {
        size_t more = evidence->count - SHOWN;

        while (evidence->count > SHOWN)
            free(evidence->items[--evidence->count]);
        evidence->items[evidence->count] = NULL;
        text_list_add_owned(evidence, xasprintf("and %zu more", more));
    }
    for (unsigned i = 0; i < FLOW_COUNT * 2; i++) {
        const struct diag_cell *cell =
            diag_cells_find(&symptoms->report->cells, i / 2, i % 2, symptoms->second);

        if (cell && (bits & cell_bit(cell)))
            text_list_add_owned(&cause.cells, diag_cell_name(cell));
    }
    array_add(causes->items, causes->count, cause);
}

static void finding_free(struct cause_finding *finding) {
    text_list_free(&finding->evidence);
    free(finding->message);
    free(finding->hint);
}

/* Adds the causes of the first look, which need no red cell (failed or not run). */
static void pass_first(struct diag_report *report, const struct symptoms *symptoms,
                       enum level wanted, uint32_t *covered) {
    for (size_t i = 0; i < diag_rows_count; i++) {
        const struct row *row = &diag_rows[i];
        struct cause_finding finding = {.must = row->must, .may = row->may, .what = row->what};
        uint32_t explained;

        if (row->of == FIRST_LOOK && row->judge(symptoms, &finding) == wanted) {
            explained = finding.may & symptoms->red & ~*covered;
            cause_add(report, symptoms, row, wanted, &finding, explained);
            *covered |= explained;
        }
        finding_free(&finding);
    }
}

/* Makes one pass over the table; the explained cells are added to *covered. With `alone`, a cause
 * must explain all red cells. */
static void pass_make(struct diag_report *report, struct symptoms *symptoms, enum level wanted,
                      bool alone, uint32_t *covered) {
    for (size_t i = 0; i < diag_rows_count && (symptoms->red & ~*covered); i++) {
        const struct row *row = &diag_rows[i];
        struct cause_finding finding = {.must = row->must, .may = row->may, .what = row->what};
        enum level level = NO;
        uint32_t red = row->of >= STOPS_PODS ? symptoms->red : symptoms->failed, explained;

        symptoms->explained = *covered;
        if (row->of == UNEXPLAINED ||
            (row->of != FIRST_LOOK && (row->of == MEASURED6) == symptoms->second))
            level = row->judge(symptoms, &finding);
        explained = finding.may & red & ~*covered;

        if (level == wanted && !(finding.must & (symptoms->green | symptoms->partly)) &&
            explained && (!finding.must || (finding.must & red)) &&
            (!alone || explained == symptoms->red)) {
            cause_add(report, symptoms, row, level, &finding, explained);
            *covered |= explained;
        }
        finding_free(&finding);
    }
}

bool diag_causes_stop_pods(const struct diag_report *report) {
    struct symptoms symptoms;
    bool stop = false;

    if (!report->evidence)
        return false;
    symptoms_make(report, report->evidence, false, &symptoms);
    for (size_t i = 0; i < diag_rows_count && !stop; i++) {
        const struct row *row = &diag_rows[i];
        struct cause_finding finding = {.must = row->must, .may = row->may, .what = row->what};

        stop = row->of == STOPS_PODS &&
               (row->judge(&symptoms, &finding) == CONFIRMED || finding.in_vain);
        finding_free(&finding);
    }
    return stop;
}

void diag_causes_find(struct diag_report *report) {
    _cleanup_json_ json_t *none = json_object();

    diag_causes_free(&report->causes);
    for (int second = 0; second < 2; second++) {
        struct symptoms symptoms;
        uint32_t covered = 0;

        symptoms_make(report, report->evidence ? report->evidence : none, second, &symptoms);
        if (!second)
            pass_first(report, &symptoms, CONFIRMED, &covered);
        pass_make(report, &symptoms, CONFIRMED, true, &covered);
        pass_make(report, &symptoms, CONFIRMED, false, &covered);
        if (!second)
            pass_first(report, &symptoms, LIKELY, &covered);
        pass_make(report, &symptoms, LIKELY, false, &covered);
    }
}
