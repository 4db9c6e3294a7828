/* Asks every cell many times, to measure loss and latency (--count). */
#include "diag/cluster/probes/asking.h"

enum {
    /* So few questions in total that the times are those of the network, not of this program. */
    AT_ONCE = 4,
    DELAYED_COUNT = 20,
    AGAIN_US = 900000,  /* TCP sends its first packet again after one second. */
    STEADY_US = 450000, /* Times that vary by more than this show a busy machine. */
    BATCH = 4000,       /* Questions in one call; memory limits their number. */
    /* The number of questions for a cell at the same time by exec. */
    LANES = 4,
    TRIES = 5,           /* How often the probe asks for each question by exec. */
    BY_EXEC_MS = 300000, /* The longest time for all questions by exec. */
};

/* A question that is asked again and again: of a cell, or to a probe about itself. */
struct row {
    struct diag_cell *cell; /* NULL for a probe itself. */
    size_t node;            /* The index of the node whose probe asks. */
    size_t rank;            /* The place among the rows of that node. */
    bool udp;
    bool by_exec;
    char *path; /* NULL after a queue has taken it over. */
    /* Microseconds of each attempt that succeeded; NULL by exec. */
    unsigned *times;
    struct probe_result result;
};
struct counting {
    struct cluster_asking *asking;
    unsigned count; /* Questions of each row. */
    bool steady;
    struct row *rows;
    size_t row_count;
    /* Microseconds that each node's probe itself takes, by TCP and by UDP. */
    unsigned (*own_us)[2];
};

bool cluster_cell_is_to_count(const struct diag_cell *cell) {
    return !cell->counted && (!diag_cell_is_open(cell) || cluster_cell_is_lossy(cell));
}

/* Adds the rows of all probes, then those of the cells. compare_rows() mixes them later. */
static void add_rows(struct counting *c) {
    struct diag_report *report = c->asking->report;

    c->rows = xcalloc(2 * report->nodes.count + report->cells.count, sizeof *c->rows);
    for (size_t i = 0; i < report->nodes.count; i++) {
        const struct cluster_node *node = &report->nodes.items[i];

        for (unsigned udp = 0; udp < 2 && !node->waiting && !node->by_exec; udp++)
            c->rows[c->row_count++] = (struct row){
                .node = i,
                .udp = udp,
                .path = dial_path(report->namespace_, node->pod, "127.0.0.1",
                                  udp ? PROBE_UDP_ECHO : PROBE_HTTP, udp, "hostname", 1),
                .times = xcalloc(c->count, sizeof *c->rows->times)};
    }
    for (size_t i = 0; i < report->cells.count; i++) {
        struct diag_cell *cell = &report->cells.items[i];
        const struct cluster_node *from = &report->nodes.items[cell->from_node];
        bool asked =
            cluster_cell_is_to_count(cell) && from->by_exec == (from->unreached != NULL) &&
            (report->count || (cluster_cell_is_between_pods(cell) && !cell->udp && !from->by_exec));
        char *path = asked ? cluster_cell_path(report, cell, ASK_NAME, 1) : NULL;

        if (path)
            c->rows[c->row_count++] = (struct row){
                .cell = cell,
                .node = cell->from_node,
                .udp = cell->udp,
                .by_exec = from->by_exec,
                .path = path,
                .times = from->by_exec ? NULL : xcalloc(c->count, sizeof *c->rows->times)};
    }
}

static int compare_rows(const void *a, const void *b) {
    const struct row *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* `what` of a question is how often the probe asks. If a name does not resolve, the probe asks only
 * once, but all attempts count as lost. */
static void on_answered(struct ask *ask, const struct kube_many *answer) {
    const struct counting *c = ask->queue->context;
    struct row *row = &c->rows[ask->whose];
    struct probe_result result;
    char why[200];
    enum dial_end end =
        row->cell ? cluster_cell_read(c->asking->report, row->cell, answer->status, answer->answer,
                                      answer->answer_len, &result, why, sizeof why)
                  : dial_read(answer->status, answer->answer, answer->answer_len, row->udp, NULL,
                              &result, why, sizeof why);

    if (end == DIAL_NOT_RUN)
        return;
    if (result.succeeded && row->times)
        row->times[row->result.succeeded] = answer->wait_us;
    row->result.attempts += result.succeeded && row->by_exec ? result.attempts : ask->what;
    row->result.succeeded += row->by_exec ? result.succeeded : result.succeeded != 0;
    if (result.succeeded < result.attempts)
        row->result.outcome = result.outcome;
    /* Without any success, more attempts are useless. */
    ask->over = row->result.attempts > 1 && !row->result.succeeded;
}

static int ask_by_address(struct counting *c, struct error *err) {
    const struct cluster_options *options = c->asking->options;
    struct ask_queue queue = {.answered = on_answered, .context = c};
    int result = 0;
    size_t all;

    for (size_t i = 0; i < c->row_count; i++)
        if (!c->rows[i].by_exec)
            (void)ask_add(&queue, take_ptr(c->rows[i].path), i, 1, DIAL_COUNTED_MS);
    all = queue.count * c->count;
    for (size_t i = 0; i < all && result == 0; i += BATCH) {
        _cleanup_(freep) char *line =
            xasprintf("measuring loss and latency, %zu %%", 100 * i / all);

        if (options->progress)
            options->progress(options->progress_context, 0, 0, line);
        ask_by_proxy(c->asking->client, &queue, i, i + BATCH < all ? i + BATCH : all, AT_ONCE);
        result = cluster_check_interrupted(c->asking->client->host, err);
    }
    ask_queue_free(&queue);
    return result;
}

/* Asks by exec in turns of at most LANES lanes with TRIES attempts each, so that all lanes are
 * equally long and there is no attempt too many. A row that never succeeded is asked in the first
 * turn only. */
static int ask_by_shell(struct counting *c, struct error *err) {
    const struct diag_report *report = c->asking->report;
    struct kube_client *client = c->asking->client;
    const struct ask_queue queue = {.answered = on_answered, .context = c};
    uint64_t until = host_monotonic_ms(client->host) + BY_EXEC_MS;
    unsigned tries, lanes;

    for (unsigned left = report->count; left && !host_interrupted(client->host);
         left -= lanes * tries) {
        struct ask_pod *pods = cluster_pods_by_exec(report, true, &queue);

        tries = (left + LANES - 1) / LANES < TRIES ? (left + LANES - 1) / LANES : TRIES;
        lanes = left / tries < LANES ? left / tries : LANES;
        for (size_t i = 0; i < c->row_count; i++) {
            const struct row *row = &c->rows[i];

            if (row->by_exec && (row->result.succeeded || !row->result.attempts))
                (void)ask_add(&pods[row->node].queue,
                              cluster_cell_path(report, row->cell, ASK_NAME, tries), i, tries,
                              CLUSTER_BY_EXEC_MS + (tries - 1) * DIAL_TIMEOUT_MS);
        }
        ask_by_exec(client, pods, report->nodes.count, lanes, until);
        ask_pods_free(pods, report->nodes.count);
    }
    return cluster_check_interrupted(client->host, err);
}

static void judge(const struct counting *c, struct row *row) {
    struct diag_cell *cell = row->cell;
    const struct probe_result *r = &row->result;
    unsigned own_us = c->own_us[row->node][row->udp], again = r->attempts - r->succeeded;

    if (!r->attempts)
        return;
    cell->result.attempts = r->attempts;
    cell->result.succeeded = r->succeeded;
    cell->result.outcome = r->outcome;
    if (r->succeeded < r->attempts) {
        cluster_cell_set_loss(cell, r->attempts, r->succeeded);
    } else if (cell->outcome == DIAG_FAIL) {
        cell->outcome = DIAG_SLOW;
        cell->reason[0] = '\0';
    }
    cell->counted = c->asking->report->count != 0;
    if (row->by_exec || !row->times)
        return;

    for (unsigned i = 0; i < r->succeeded; i++) {
        row->times[i] = row->times[i] > own_us ? row->times[i] - own_us : 0;
        again += row->times[i] >= AGAIN_US;
    }
    /* A single attempt whose packets were sent again may be chance. */
    cell->again = 0;
    if (c->steady && cluster_cell_is_between_pods(cell) && !cell->udp && again > 1)
        cell->again = again;
    probe_result_time(&cell->result, row->times);
    if (cell->again && cell->outcome != DIAG_FAIL) {
        cell->outcome = DIAG_SLOW;
        text_format(cell->reason, sizeof cell->reason,
                    "packets of %u of %u connections were sent again", cell->again, r->attempts);
    }
}

int cluster_count(struct cluster_asking *asking, struct error *err) {
    unsigned times = asking->report->count;
    struct counting c = {.asking = asking, .count = times ? times : DELAYED_COUNT};
    int result;
    size_t *ranks;

    add_rows(&c);
    /* Mix the rows of all sources, so that no pod gets several questions while others are idle. */
    ranks = xcalloc(c.asking->report->nodes.count, sizeof *ranks);
    for (size_t i = 0; i < c.row_count; i++)
        c.rows[i].rank = ranks[c.rows[i].node]++;
    free(ranks);
    qsort(c.rows, c.row_count, sizeof *c.rows, compare_rows);
    result = ask_by_address(&c, err);
    if (result == 0)
        result = ask_by_shell(&c, err);
    c.own_us = xcalloc(c.asking->report->nodes.count, sizeof *c.own_us);
    for (size_t i = 0; i < c.row_count; i++) {
        struct row *row = &c.rows[i];

        if (row->cell)
            continue;
        probe_result_time(&row->result, row->times);
        c.own_us[row->node][row->udp] = row->result.median_us;
    }
    /* Times are steady when answers that TCP never sends again take about equally long: those of
     * the probes themselves, and those by UDP. */
    c.steady = true;
    for (size_t i = 0; i < c.row_count; i++) {
        const struct row *row = &c.rows[i];
        unsigned most = c.own_us[row->node][row->udp] + STEADY_US;

        for (unsigned k = 0; row->times && k < row->result.succeeded && (!row->cell || row->udp);
             k++)
            c.steady = c.steady && row->times[k] <= most;
    }
    for (size_t i = 0; i < c.row_count; i++) {
        if (c.rows[i].cell && result == 0)
            judge(&c, &c.rows[i]);
        free(c.rows[i].path);
        free(c.rows[i].times);
    }
    free_all(c.rows, c.own_us);
    return result;
}
