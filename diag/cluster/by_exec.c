/* Probes that the API server does not reach by their address are asked by exec, which goes through
 * the kubelet: a shell in the pod puts all questions to its own netexec at the same time. */
#include "diag/cluster/by_exec.h"

#include "base/log.h"
#include "diag/cluster/asking.h"
#include "diag/cluster/dial.h"
#include "kube/exec.h"

enum { ONE_MS = 15000, ALL_MS = 45000, OUTPUT_MAX = 256 * 1024, TOGETHER = 32 };

/* What one node's pod is asked. */
struct asking {
    struct cluster_report *report;
    size_t node;
    bool again;
    char **paths;
    size_t *whose; /* of each question: the cell, and which question of it: cell * QUESTIONS + it */
    size_t count;  /* of the questions; the last is SIGHT_DNS */
    struct cluster_tally *tallies; /* of each cell */
    char *script;
    const char *argv[4];
};

static void take(void *context, size_t question, long status, const char *body, size_t len) {
    struct asking *a = context;
    size_t cell;

    if (question == a->count - 1) {
        cluster_sight_read(&a->report->nodes.items[a->node], SIGHT_DNS, status, body, len);
        return;
    }
    cell = a->whose[question] / QUESTIONS;
    cluster_cell_count(a->report, &a->report->cells.items[cell],
                       (enum cluster_question)(a->whose[question] % QUESTIONS), status, body, len,
                       a->again, &a->tallies[cell]);
}

static void judge_large(struct asking *a) {
    for (size_t i = 0; i < a->report->cells.count; i++)
        if (a->tallies[i].asked[ASK_LARGE])
            cluster_cell_judge_large(&a->report->cells.items[i], &a->tallies[i], &(bool){false});
}

static void add_cell(struct asking *a, size_t i) {
    for (enum cluster_question q = ASK_NAME; q <= ASK_LARGE; q++) {
        char *path = cluster_cell_path(a->report, &a->report->cells.items[i], q);

        if (!path)
            continue;
        a->whose[a->count] = i * QUESTIONS + q;
        a->paths[a->count++] = path;
    }
}

/* What is not known of it yet; again: and what failed. */
static void asking_make(struct cluster_report *report, size_t node, struct asking *ret,
                        struct kube_exec *ret_exec) {
    size_t max = 2 * report->cells.count;

    *ret = (struct asking){.report = report,
                           .node = node,
                           .again = report->nodes.items[node].by_exec,
                           .paths = xcalloc(max + 1, sizeof *ret->paths),
                           .whose = xcalloc(max, sizeof *ret->whose),
                           .tallies = xcalloc(report->cells.count, sizeof *ret->tallies)};
    for (size_t i = 0; i < report->cells.count; i++)
        if (report->cells.items[i].from == node && cluster_cell_is_open(&report->cells.items[i]))
            add_cell(ret, i);
    ret->paths[ret->count++] =
        cluster_sight_path(report, SIGHT_DNS, node, node, &(struct cluster_addresses){0});
    ret->script = dial_script_make(ret->paths, ret->count);
    ret->argv[0] = "sh";
    ret->argv[1] = "-c";
    ret->argv[2] = ret->script;
    *ret_exec = (struct kube_exec){.namespace_ = report->namespace_,
                                   .pod = report->nodes.items[node].pod,
                                   .container = "probe",
                                   .argv = ret->argv,
                                   .timeout_ms = ONE_MS,
                                   .max_output = OUTPUT_MAX};
}

static void asking_free(struct asking *a) {
    for (size_t i = 0; i < a->count; i++)
        free(a->paths[i]);
    free_all(a->paths, a->whose, a->tallies, a->script);
}

static void leave_unasked(struct cluster_report *report, size_t node, const char *why) {
    struct cluster_node *n = &report->nodes.items[node];
    char *both = xasprintf("%s; nor by exec: %s", n->unreached, why);

    log_message(LOG_RETRY, "%s", why);
    free(n->unreached);
    n->unreached = both;
    for (size_t i = 0; i < report->cells.count; i++) {
        struct cluster_cell *cell = &report->cells.items[i];

        if (cell->from == node && cell->cell.outcome == DIAG_NOT_RUN &&
            cell->cell.flow->source != DIAG_FROM_NODE)
            cluster_cell_unasked(cell, n->unreached);
    }
}

static void ask_nodes(struct kube_client *client, struct cluster_report *report,
                      const size_t *nodes, size_t count) {
    struct asking *askings = xcalloc(count, sizeof *askings);
    struct kube_exec *execs = xcalloc(count, sizeof *execs);
    struct kube_exec_result *results = xcalloc(count, sizeof *results);
    struct error *errs = xcalloc(count, sizeof *errs);

    for (size_t i = 0; i < count; i++)
        asking_make(report, nodes[i], &askings[i], &execs[i]);
    kube_exec_all(client, execs, results, errs, count);
    client->requests += (unsigned)count;
    for (size_t i = 0; i < count; i++) {
        struct asking *a = &askings[i];

        report->nodes.items[nodes[i]].by_exec = a->again || errs[i].kind == ERROR_NONE;
        if (errs[i].kind == ERROR_NONE) {
            dial_script_read(text_str(&results[i].out), results[i].out.len, a->count, take, a);
            judge_large(a);
        } else if (!a->again) {
            leave_unasked(report, nodes[i], errs[i].message);
        }
        kube_exec_result_free(&results[i]);
        asking_free(a);
    }
    free_all(askings, execs, results, errs);
}

static size_t count_open(const struct cluster_report *report) {
    size_t open = 0;

    for (size_t i = 0; i < report->cells.count; i++)
        open += report->nodes.items[report->cells.items[i].from].by_exec &&
                report->cells.items[i].cell.flow->source != DIAG_FROM_NODE &&
                cluster_cell_is_open(&report->cells.items[i]);
    return open;
}

size_t cluster_ask_by_exec(struct kube_client *client, struct cluster_report *report, bool again) {
    uint64_t begin = host_monotonic_ms(client->host);
    size_t nodes[TOGETHER], count = 0;

    for (size_t i = 0; i < report->nodes.count; i++) {
        if (report->nodes.items[i].unreached && !report->nodes.items[i].waiting &&
            report->nodes.items[i].by_exec == again)
            nodes[count++] = i;
        if (!count || (count < TOGETHER && i + 1 < report->nodes.count))
            continue;
        if (host_monotonic_ms(client->host) - begin > ALL_MS)
            break;
        ask_nodes(client, report, nodes, count);
        count = 0;
    }
    return count_open(report);
}
