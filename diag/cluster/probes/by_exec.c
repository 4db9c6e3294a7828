/* Probes that the API server does not reach by their address are asked by exec, which goes through
 * the kubelet: a shell in the pod puts all questions to its own netexec at the same time. */
#include "diag/cluster/probes/asking.h"

#include "base/log.h"
#include "diag/cluster/probes/dial.h"
#include "kube/exec.h"

enum {
    ALL_MS = 45000,
    COUNT_MS = 300000,
    OUTPUT_MAX = 256 * 1024,
    TOGETHER = 32,
    ASK_SECONDS = 9, /* a name that the DNS does not answer takes longer than netexec */
    EXEC_MS = 6000,  /* what a program's start may take beside the questions */
    LANES = 4,       /* of --count: so many questions for a cell at the same time, */
    TRIES = 5        /* each of which the probe asks so often */
};

/* What pods are asked at the same time. */
struct round {
    enum cluster_exec what;
    unsigned lanes, tries;     /* of each cell */
    struct probe_result *sums; /* of each cell, of --count; or NULL: it is judged */
    unsigned limit_ms;         /* for the whole: no more pods are asked then */
    uint64_t begin;
};
/* What one node's pod is asked. */
struct asking {
    struct diag_report *report;
    const struct round *of;
    size_t node;
    char **paths;
    size_t *whose; /* of each question: the cell, and which question of it: cell * QUESTIONS + it */
    size_t count;  /* of the questions; the last is OBSERVE_DNS */
    struct cluster_tally *tallies; /* of each cell */
    char *script;
    const char *argv[4];
};

/* A name that does not resolve is not asked for again by the probe. */
static void take_counted(const struct asking *a, size_t cell, long status, const char *body,
                         size_t len) {
    struct probe_result *sum = &a->of->sums[cell], result;
    char why[200];

    if (cluster_cell_read(a->report, &a->report->cells.items[cell], status, body, len, &result, why,
                          sizeof why) == DIAL_NOT_RUN)
        return;
    sum->attempts += result.succeeded ? result.attempts : a->of->tries;
    sum->succeeded += result.succeeded;
    sum->outcome = result.succeeded < result.attempts ? result.outcome : sum->outcome;
}

static void take(void *context, size_t question, long status, const char *body, size_t len) {
    struct asking *a = context;
    size_t cell;

    if (a->of->sums) {
        take_counted(a, a->whose[question] / QUESTIONS, status, body, len);
        return;
    }
    if (question == a->count - 1) {
        cluster_observation_read(&a->report->nodes.items[a->node], OBSERVE_DNS, status, body, len);
        return;
    }
    cell = a->whose[question] / QUESTIONS;
    cluster_cell_count(a->report, &a->report->cells.items[cell],
                       (enum cluster_question)(a->whose[question] % QUESTIONS), status, body, len,
                       a->of->what != EXEC_NODES, &a->tallies[cell]);
}

static bool is_asked(const struct diag_report *report, const struct round *of, size_t node,
                     size_t i) {
    const struct diag_cell *c = &report->cells.items[i];
    const struct probe_result *sum = of->sums ? &of->sums[i] : NULL;

    if (c->from_node != node || (c->flow->is & FLOW_FROM_NODE))
        return false;
    if (!sum)
        return of->what == EXEC_NEW ? c->outcome == DIAG_NOT_RUN : diag_cell_is_open(c);
    return cluster_cell_is_to_count(c) &&
           (sum->succeeded || !sum->attempts); /* or it is hopeless */
}

static void add_cell(struct asking *a, size_t i) {
    enum cluster_question last = a->of->sums ? ASK_NAME : ASK_LARGE;

    for (enum cluster_question q = ASK_NAME; q <= last; q++) {
        char *path = cluster_cell_path(a->report, &a->report->cells.items[i], q, a->of->tries);

        if (!path)
            continue;
        a->whose[a->count] = i * QUESTIONS + q;
        a->paths[a->count++] = path;
    }
}

static void asking_make(struct diag_report *report, const struct round *of, size_t node,
                        struct asking *ret, struct kube_exec *ret_exec) {
    size_t max = 2 * report->cells.count;
    unsigned seconds = ASK_SECONDS + (of->tries - 1) * DIAL_TIMEOUT_MS / 1000;

    *ret = (struct asking){.report = report,
                           .of = of,
                           .node = node,
                           .paths = xcalloc(max + 1, sizeof *ret->paths),
                           .whose = xcalloc(max, sizeof *ret->whose),
                           .tallies = xcalloc(report->cells.count, sizeof *ret->tallies)};
    for (size_t i = 0; i < report->cells.count; i++)
        if (is_asked(report, of, node, i))
            add_cell(ret, i);
    if (!of->sums)
        ret->paths[ret->count++] = cluster_observation_path(report, OBSERVE_DNS, node, node,
                                                            &(struct cluster_addresses){0});
    ret->script = dial_script_make(ret->paths, ret->count, of->lanes, seconds);
    ret->argv[0] = "sh";
    ret->argv[1] = "-c";
    ret->argv[2] = ret->script;
    *ret_exec = (struct kube_exec){.namespace_ = report->namespace_,
                                   .pod = report->nodes.items[node].pod,
                                   .container = "probe",
                                   .argv = ret->argv,
                                   .timeout_ms = 1000 * seconds + EXEC_MS,
                                   .max_output = OUTPUT_MAX};
}

static void leave_unasked(struct diag_report *report, size_t node, const char *why) {
    struct cluster_node *n = &report->nodes.items[node];
    char *both = xasprintf("%s; nor by exec: %s", n->unreached, why);

    log_message(LOG_RETRY, "%s", why);
    free(n->unreached);
    n->unreached = both;
    for (size_t i = 0; i < report->cells.count; i++) {
        struct diag_cell *cell = &report->cells.items[i];

        if (cell->from_node == node && cell->outcome == DIAG_NOT_RUN &&
            !(cell->flow->is & FLOW_FROM_NODE))
            cluster_cell_unasked(cell, n->unreached);
    }
}

static void ask_nodes(struct kube_client *client, struct diag_report *report,
                      const struct round *of, const size_t *nodes, size_t count) {
    struct asking *askings = xcalloc(count, sizeof *askings);
    struct kube_exec *execs = xcalloc(count, sizeof *execs);
    struct kube_exec_result *results = xcalloc(count, sizeof *results);
    struct error *errs = xcalloc(count, sizeof *errs);

    for (size_t i = 0; i < count; i++)
        asking_make(report, of, nodes[i], &askings[i], &execs[i]);
    kube_exec_all(client, execs, results, errs, count);
    client->requests += (unsigned)count;
    for (size_t i = 0; i < count; i++) {
        struct asking *a = &askings[i];

        report->nodes.items[nodes[i]].by_exec =
            of->what != EXEC_NODES || errs[i].kind == ERROR_NONE;
        if (errs[i].kind == ERROR_NONE) {
            dial_script_read(text_str(&results[i].out), results[i].out.len, a->count, take, a);
            for (size_t k = 0; k < report->cells.count; k++)
                if (a->tallies[k].asked[ASK_LARGE])
                    cluster_cell_judge_large(&report->cells.items[k], &a->tallies[k],
                                             &(bool){false});
        } else if (of->what == EXEC_NODES) {
            leave_unasked(report, nodes[i], errs[i].message);
        }
        kube_exec_result_free(&results[i]);
        for (size_t k = 0; k < a->count; k++)
            free(a->paths[k]);
        free_all(a->paths, a->whose, a->tallies, a->script);
    }
    free_all(askings, execs, results, errs);
}

static size_t count_open(const struct diag_report *report) {
    size_t open = 0;

    for (size_t i = 0; i < report->cells.count; i++)
        open += report->nodes.items[report->cells.items[i].from_node].by_exec &&
                !(report->cells.items[i].flow->is & FLOW_FROM_NODE) &&
                diag_cell_is_open(&report->cells.items[i]);
    return open;
}

/* At first there are: what is inside its pod is seen, too. */
static bool has_questions(const struct diag_report *report, const struct round *of, size_t node) {
    for (size_t i = 0; i < report->cells.count; i++)
        if (is_asked(report, of, node, i))
            return true;
    return of->what == EXEC_NODES;
}

static void ask_all(struct kube_client *client, struct diag_report *report,
                    const struct round *of) {
    size_t nodes[TOGETHER], count = 0;

    for (size_t i = 0; i < report->nodes.count; i++) {
        if (report->nodes.items[i].unreached && !report->nodes.items[i].waiting &&
            report->nodes.items[i].by_exec == (of->what != EXEC_NODES) &&
            has_questions(report, of, i))
            nodes[count++] = i;
        if (!count || (count < TOGETHER && i + 1 < report->nodes.count))
            continue;
        if (host_monotonic_ms(client->host) - of->begin > of->limit_ms)
            break;
        ask_nodes(client, report, of, nodes, count);
        count = 0;
    }
}

size_t cluster_ask_by_exec(struct kube_client *client, struct diag_report *report,
                           enum cluster_exec what) {
    ask_all(client, report,
            &(struct round){.what = what,
                            .lanes = 1,
                            .tries = 1,
                            .limit_ms = ALL_MS,
                            .begin = host_monotonic_ms(client->host)});
    return count_open(report);
}

/* ---- many times ---- */

/* As many lanes as there are, all of the same length, and no attempt too many. */
static void shape(unsigned left, struct round *ret) {
    ret->tries = (left + LANES - 1) / LANES < TRIES ? (left + LANES - 1) / LANES : TRIES;
    ret->lanes = left / ret->tries < LANES ? left / ret->tries : LANES;
}

int cluster_count_by_exec(struct kube_client *client, struct diag_report *report,
                          struct error *err) {
    struct round round = {.what = EXEC_OPEN,
                          .sums = xcalloc(report->cells.count + 1, sizeof *round.sums),
                          .limit_ms = COUNT_MS,
                          .begin = host_monotonic_ms(client->host)};

    for (unsigned left = report->count; left && !host_interrupted(client->host);
         left -= round.lanes * round.tries) {
        shape(left, &round);
        ask_all(client, report, &round);
    }
    for (size_t i = 0; i < report->cells.count; i++)
        if (round.sums[i].attempts) {
            cluster_cell_set_sum(&report->cells.items[i], &round.sums[i]);
            report->cells.items[i].counted = true;
        }
    free(round.sums);
    return cluster_check_interrupted(client->host, err);
}
