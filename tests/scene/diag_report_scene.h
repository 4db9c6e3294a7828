/* A report as docs shows one. Shared by the tests of its faces. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "diag/causes/causes.h"
#include "diag/reports/report.h"

static void judge(struct diag_report *report, const char *flow, bool udp,
                  enum probe_outcome outcome, unsigned median_us) {
    struct probe_result result = {.outcome = outcome,
                                  .attempts = outcome == PROBE_OK ? 3 : 2,
                                  .succeeded = outcome == PROBE_OK ? 3 : 0,
                                  .min_us = median_us,
                                  .median_us = median_us,
                                  .p95_us = median_us,
                                  .max_us = median_us};

    diag_cell_judge(diag_cells_find(&report->cells, diag_flow_find(flow)->id, udp, false), &result,
                    false);
}

/* Of twenty attempts; all of them worked, or fifteen. */
static const struct probe_result twenty = {.outcome = PROBE_OK,
                                           .attempts = 20,
                                           .succeeded = 20,
                                           .min_us = 100,
                                           .median_us = 2000,
                                           .p95_us = 30000,
                                           .max_us = 400000},
                                 fifteen_of_twenty = {.outcome = PROBE_TIMEOUT,
                                                      .attempts = 20,
                                                      .succeeded = 15,
                                                      .min_us = 100,
                                                      .median_us = 2000,
                                                      .p95_us = 30000,
                                                      .max_us = 400000};

/* The picture of docs: everything works but what lies outside. */
static void report_make(struct diag_report *report) {
    const struct diag_flow_input input = {.node_name = "win-7k2",
                                          .node_ip = "10.0.0.21",
                                          .source = "winjoin-probe-a",
                                          .target = "winjoin-probe-b",
                                          .source_ip = "10.244.3.4",
                                          .target_ip = "10.244.3.5",
                                          .dns_domain = "cluster.local",
                                          .kubernetes_ip = "10.96.0.1",
                                          .dns_ip = "10.96.0.10",
                                          .external_ip = "192.0.2.1:443",
                                          .external_name = "example.com:443",
                                          .external_dns = "192.0.2.53"};

    *report = (struct diag_report){.time = 1795255204, .milliseconds = 600500, .probes = 50};
    report->node = xstrdup("win-7k2");
    report->network = xstrdup("overlay flannel.4096");
    diag_cells_make(&input, &report->cells);
    for (size_t i = 0; i < report->cells.count; i++) {
        struct diag_cell *cell = &report->cells.items[i];

        if (cell->asked)
            judge(report, cell->flow->name, cell->udp, PROBE_OK, 400 + (unsigned)i * 10);
    }
    judge(report, "pod-to-external-ip", false, PROBE_TIMEOUT, 0);
    judge(report, "pod-to-external-ip", true, PROBE_DNS_TIMEOUT, 0);
    judge(report, "pod-to-external-dns", false, PROBE_TIMEOUT, 0);
    report->evidence = json_loads(
        "{\"pods\":{\"a\":{\"ip\":\"10.244.3.4\"}},\"expected\":{\"externalIP\":\"192.0.2.1\"},"
        "\"extra\":{\"node-external\":{\"outcome\":\"ok\"}},\"endpoints\":[{\"ID\":\"6f3c\","
        "\"IpConfigurations\":[{\"IpAddress\":\"10.244.3.4\"}],\"Policies\":[{\"Type\":"
        "\"SDNRoute\"},{\"Type\":\"ProviderAddress\"}]}]}",
        0, NULL);
    diag_causes_find(report);
}
