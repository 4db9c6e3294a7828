/* Probes that the API server does not reach by their address are asked by exec, which goes through
 * the kubelet: a shell in the pod puts all questions to its own netexec at the same time. */
#include "diag/cluster/by_exec.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "diag/cluster/cells.h"
#include "diag/cluster/dial.h"
#include "kube/exec.h"

enum { ONE_MS = 15000, ALL_MS = 45000, OUTPUT_MAX = 256 * 1024 };

struct asking {
    struct cluster_report *report;
    size_t *whose; /* of each question: the cell */
    size_t cells;  /* how many of the questions are a cell's; the one behind them is SIGHT_DNS */
    size_t node;
};

static void take(void *context, size_t question, long status, const char *body, size_t len) {
    struct asking *a = context;

    if (question == a->cells) {
        cluster_sight_read(&a->report->nodes.items[a->node], SIGHT_DNS, status, body, len);
        return;
    }
    cluster_cell_judge(a->report, &a->report->cells.items[a->whose[question]], status, body, len,
                       false);
}

static int ask_node(struct kube_client *client, struct asking *a, size_t node, struct error *err) {
    struct cluster_report *report = a->report;
    char **paths = xcalloc(report->cells.count + 2, sizeof *paths);
    _cleanup_(freep) char *script = NULL;
    struct kube_exec_result result = {0};
    size_t count = 0;
    int failed;

    for (size_t i = 0; i < report->cells.count; i++) {
        struct cluster_cell *cell = &report->cells.items[i];
        char *path = cell->from == node && cell->cell.outcome == DIAG_NOT_RUN
                         ? cluster_cell_path(report, cell)
                         : NULL;

        if (path) {
            a->whose[count] = i;
            paths[count++] = path;
        }
    }
    a->node = node;
    a->cells = count;
    paths[count++] =
        cluster_sight_path(report, SIGHT_DNS, node, node, &(struct cluster_addresses){0});
    script = dial_script_make(paths, count);
    failed = kube_exec(client,
                       &(struct kube_exec){.namespace_ = report->namespace_,
                                           .pod = report->nodes.items[node].pod,
                                           .container = "probe",
                                           .argv = (const char *const[]){"sh", "-c", script, NULL},
                                           .timeout_ms = ONE_MS,
                                           .max_output = OUTPUT_MAX},
                       &result, err);
    client->requests++;
    if (failed == 0)
        dial_script_read(text_str(&result.out), result.out.len, count, take, a);
    kube_exec_result_free(&result);
    for (size_t i = 0; i < count; i++)
        free(paths[i]);
    free(paths);
    return failed;
}

static void leave_unasked(struct cluster_report *report, size_t node) {
    for (size_t i = 0; i < report->cells.count; i++) {
        struct cluster_cell *cell = &report->cells.items[i];

        if (cell->from == node && cell->cell.outcome == DIAG_NOT_RUN &&
            cell->cell.flow->source != DIAG_FROM_NODE)
            cluster_cell_unasked(cell, report->nodes.items[node].unreached);
    }
}

void cluster_ask_by_exec(struct kube_client *client, struct cluster_report *report) {
    struct asking a = {.report = report,
                       .whose = xcalloc(report->cells.count + 1, sizeof *a.whose)};
    uint64_t begin = host_monotonic_ms(client->host);

    for (size_t i = 0; i < report->nodes.count; i++) {
        struct cluster_node *node = &report->nodes.items[i];
        struct error why = {0};

        if (!node->unreached || node->waiting || host_interrupted(client->host) ||
            host_monotonic_ms(client->host) - begin > ALL_MS)
            continue;
        node->by_exec = ask_node(client, &a, i, &why) == 0;
        if (!node->by_exec) {
            char *both = xasprintf("%s; nor by exec: %s", node->unreached, why.message);

            log_message(LOG_RETRY, "%s", why.message);
            free(node->unreached);
            node->unreached = both;
            leave_unasked(report, i);
        }
    }
    free(a.whose);
}
