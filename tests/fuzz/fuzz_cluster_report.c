/* A cluster's report read back (diag --replay, --compare): judged, compared, written in every form.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"
#include "diag/cluster/cluster.h"
#include "diag/reports/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const struct diag_text_style style = {.utf8 = size % 2 != 0};
    struct diag_report report = {0}, none = {0};

    if (diag_report_read((const char *)data, size, CLUSTER_REPORT_KIND, &report, NULL) == 0) {
        _cleanup_(freep) char *text = NULL, *junit = NULL, *html = NULL;
        _cleanup_json_ json_t *json = NULL, *compared = NULL;

        cluster_causes_find(&report);
        text = diag_report_text(&report, &style);
        junit = diag_report_junit(&report);
        html = diag_report_html(&report);
        json = diag_report_json(&report);
        compared = diag_report_compare(&none, &report);
    }
    diag_report_free(&report);
    return 0;
}
