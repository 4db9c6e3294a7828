/* A report read back for another look (diag --replay): judged and written in every form. */
#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"
#include "diag/causes/causes.h"
#include "diag/reports/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const struct diag_text_style style = {.utf8 = size % 2 != 0};
    _cleanup_(diag_report_free) struct diag_report report = {0};

    if (diag_report_read((const char *)data, size, NODE_REPORT_KIND, &report, NULL) == 0) {
        _cleanup_(freep) char *text = NULL, *junit = NULL, *html = NULL, *metrics = NULL;
        _cleanup_json_ json_t *json = NULL;

        diag_causes_find(&report);
        text = diag_report_text(&report, &style);
        junit = diag_report_junit(&report);
        html = diag_report_html(&report);
        metrics = diag_report_metrics(&report);
        json = diag_report_json(&report);
    }
    return 0;
}
