/* What --count measured, a line a flow and protocol: a cell each would be too many of a cluster. */
#include "diag/reports/forms.h"

static int compare_numbers(const void *a, const void *b) {
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

    return x < y ? -1 : x > y;
}

/* false: no cell of it was counted. `medians` has room for one of each cell. */
static bool sum_up(const struct diag_report *report, unsigned *medians,
                   struct cluster_latency *ret) {
    struct probe_result *sum = &ret->sum;
    size_t count = 0;

    for (size_t i = 0; i < report->cells.count; i++) {
        const struct diag_cell *cell = &report->cells.items[i];
        const struct probe_result *r = &cell->result;

        if (!cell->counted || cell->flow != ret->flow || cell->udp != ret->udp ||
            cell->family != ret->family)
            continue;
        sum->attempts += r->attempts;
        sum->succeeded += r->succeeded;
        if (!r->succeeded || report->nodes.items[cell->from_node].by_exec)
            continue;
        medians[count++] = r->median_us;
        if (!ret->worst || r->min_us < sum->min_us)
            sum->min_us = r->min_us;
        if (r->max_us > sum->max_us)
            sum->max_us = r->max_us;
        if (!ret->worst || r->p95_us > sum->p95_us) {
            sum->p95_us = r->p95_us;
            ret->worst = cell;
        }
    }
    qsort(medians, count, sizeof *medians, compare_numbers);
    sum->median_us = count ? medians[count / 2] : 0;
    return sum->attempts > 0;
}

struct cluster_latency *cluster_latencies_make(const struct diag_report *report,
                                               size_t *ret_count) {
    size_t count = 0;
    struct cluster_latency *lines = NULL;
    unsigned *medians = xcalloc(report->cells.count + 1, sizeof *medians);

    for (size_t i = 0; diag_flows[i / 4].name; i++) {
        struct cluster_latency line = {
            .flow = &diag_flows[i / 4], .udp = i % 2, .family = i % 4 < 2 ? 4 : 6};

        if (sum_up(report, medians, &line))
            array_add(lines, count, line);
    }
    free(medians);
    *ret_count = count;
    return lines;
}
