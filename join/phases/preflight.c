/* This phase checks whether this machine can become a node. */
#include "join/phases/phases.h"
#include "join/preflight/preflight.h"

int phase_preflight(struct join *join, struct error *err) {
    size_t count, warnings = 0, ran = 0;
    _cleanup_(freep) struct preflight_result *results = NULL;
    _cleanup_(text_list_free) struct text_list unknown = {0};
    _cleanup_json_ json_t *report = NULL;
    json_t *failures; /* Checks that did not pass, as in a PreflightReport */

    if (features_install(join, err) < 0)
        return -1;
    results = preflight_run(join, false, &count);
    preflight_unknown_names(&join->found.options.ignore_preflight_errors, &unknown);
    for (size_t i = 0; i < unknown.count; i++)
        join_warn(&join->progress, "%s", unknown.items[i]);
    for (size_t i = 0; i < count; i++) {
        ran += results[i].outcome != PREFLIGHT_NOT_RUN;
        if (results[i].outcome != PREFLIGHT_WARNING && results[i].outcome != PREFLIGHT_IGNORED)
            continue;
        warnings++;
        join_warn(&join->progress, "[%s] %s%s%s%s", results[i].id, results[i].message,
                  *results[i].hint ? " (" : "", results[i].hint, *results[i].hint ? ")" : "");
    }
    text_addf(&join->progress.detail, "%zu checks, %zu warning%s", ran, warnings, PLURAL(warnings));
    report = preflight_report_json(results, count);
    failures = json_array();
    json_each(json_object_get(report, "checks"), i, row) {
        const char *outcome = json_text_at(row, "outcome");

        if (!text_equal(outcome, "pass") && !text_equal(outcome, "not-run"))
            json_array_append(failures, row);
    }
    join_fact(&join->progress, "checks", failures);
    return preflight_judge(results, count, err);
}
