/* A Node's annotation with the node's own report: any node may have written anything. What is taken
 * is small, has plain characters alone, and is read back unchanged. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "diag/network_report.h"

enum { LINE_MAX_LEN = 16384 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    _cleanup_(freep) char *text = xstrndup((const char *)data, size), *line = NULL;
    _cleanup_json_ json_t *report = NULL, *again = NULL;

    if (network_report_read(text, &report, NULL) < 0)
        return 0;
    line = network_report_line(report, (int64_t)size * 100000000);
    if (strlen(line) > LINE_MAX_LEN)
        abort();
    for (const char *c = line; *c; c++)
        if (*c < ' ' || *c > '~' || *c == '<')
            abort();
    if (network_report_copy(report, &again, NULL) < 0 || !json_equal(report, again))
        abort();
    (void)network_report_lacks_service(report, "kube-system/kube-dns");
    return network_report_count(report) < 0;
}
