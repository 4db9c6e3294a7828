/* Asks probes by exec, when the API server does not reach them by their address. */
#include "diag/cluster/probes/asking.h"

#include "base/log.h"
#include "diag/ask/ask.h"

enum { ALL_MS = 45000 };

struct asking {
    struct diag_report *report;
    enum cluster_exec what;
    struct cluster_tally *tallies; /* An array with one item for each cell. */
};

static void on_answered(struct ask *ask, const struct kube_many *answer) {
    struct asking *a = ask->queue->context;

    if (ask->what >= QUESTIONS)
        cluster_observation_read(&a->report->nodes.items[ask->whose],
                                 (enum cluster_observation)(ask->what - QUESTIONS), answer->status,
                                 answer->answer, answer->answer_len);
    else
        cluster_cell_count(a->report, &a->report->cells.items[ask->whose],
                           (enum cluster_question)ask->what, answer->status, answer->answer,
                           answer->answer_len, a->what != EXEC_NODES, &a->tallies[ask->whose]);
}

struct ask_pod *cluster_pods_by_exec(const struct diag_report *report, bool known,
                                     const struct ask_queue *queue) {
    struct ask_pod *pods = xcalloc(report->nodes.count + 1, sizeof *pods);

    for (size_t i = 0; i < report->nodes.count; i++) {
        const struct cluster_node *n = &report->nodes.items[i];

        if (n->unreached && !n->waiting && n->by_exec == known)
            pods[i] = (struct ask_pod){report->namespace_, n->pod, *queue, false, NULL};
    }
    return pods;
}

size_t cluster_ask_by_exec(struct kube_client *client, struct diag_report *report,
                           enum cluster_exec what) {
    struct asking a = {report, what, xcalloc(report->cells.count + 1, sizeof *a.tallies)};
    struct ask_pod *pods = cluster_pods_by_exec(
        report, what != EXEC_NODES, &(struct ask_queue){.answered = on_answered, .context = &a});
    size_t open = 0;

    for (size_t i = 0; i < report->cells.count; i++) {
        const struct diag_cell *cell = &report->cells.items[i];
        struct ask_pod *pod = &pods[cell->from_node];
        bool is_asked = what == EXEC_NEW ? cell->outcome == DIAG_NOT_RUN : diag_cell_is_open(cell);

        for (unsigned q = ASK_NAME; pod->name && is_asked && q <= ASK_LARGE; q++)
            (void)ask_add(&pod->queue, cluster_cell_path(report, cell, (enum cluster_question)q, 1),
                          i, q, CLUSTER_BY_EXEC_MS);
    }
    /* Each pod that has questions is also asked for its DNS settings; the first time, so is a pod
     * without questions. */
    for (size_t i = 0; i < report->nodes.count; i++)
        if (pods[i].name && (pods[i].queue.count || what == EXEC_NODES))
            (void)ask_add(
                &pods[i].queue,
                cluster_observation_path(report, OBSERVE_DNS, i, i, &(struct cluster_addresses){0}),
                i, QUESTIONS + OBSERVE_DNS, CLUSTER_BY_EXEC_MS);

    ask_by_exec(client, pods, report->nodes.count, 1, host_monotonic_ms(client->host) + ALL_MS);
    for (size_t i = 0; i < report->nodes.count; i++) {
        if (!pods[i].asked || what != EXEC_NODES)
            continue;
        report->nodes.items[i].by_exec = !pods[i].failure;
        if (!pods[i].failure)
            continue;
        log_message(LOG_RETRY, "%s", pods[i].failure);
        text_set(
            &report->nodes.items[i].unreached,
            xasprintf("%s; nor by exec: %s", report->nodes.items[i].unreached, pods[i].failure));
    }
    for (size_t i = 0; i < report->cells.count; i++) {
        struct diag_cell *cell = &report->cells.items[i];
        const struct cluster_node *from = &report->nodes.items[cell->from_node];

        if (cell->flow->is & FLOW_FROM_NODE)
            continue;
        if (a.tallies[i].asked[ASK_LARGE])
            cluster_cell_judge_large(cell, &a.tallies[i], &(bool){false});
        if (what == EXEC_NODES && pods[cell->from_node].failure && cell->outcome == DIAG_NOT_RUN)
            cluster_cell_unasked(cell, from->unreached);
        open += from->by_exec && diag_cell_is_open(cell);
    }
    ask_pods_free(pods, report->nodes.count);
    free(a.tallies);
    return open;
}
