/* Every cell many times. */
#include "diag/cluster/probes/asking.h"

#include "diag/cluster/probes/pods.h"
#include "kube/many.h"

enum {
    ANSWER_MAX = 64 * 1024,
    AT_ONCE = 4, /* of all: the times are to be the network's, not this program's */
    DELAYED_COUNT = 20,
    AGAIN_US = 900000,  /* TCP's first packet is sent again after a second */
    STEADY_US = 450000, /* more than that is a busy machine */
    BATCH = 4000,       /* questions; their memory is what limits it */
};

/* What is asked again and again: a cell, or a probe itself. */
struct row {
    struct counting *counting;
    struct diag_cell *cell; /* or NULL */
    size_t node;            /* its source */
    size_t rank;            /* among the rows of that source */
    bool udp;
    char *path;
    unsigned *times; /* of those that succeeded */
    struct probe_result result;
};
struct counting {
    struct cluster_asking *asking;
    unsigned count; /* of each row */
    bool steady;
    struct row *rows;
    size_t row_count;
    struct probe_result (*own)[2]; /* of each node's probe itself, by TCP and by UDP */
};

bool cluster_is_delayed(const struct cluster_asking *asking) {
    for (size_t i = 0; i < asking->report->cells.count; i++)
        if (asking->cells[i].delayed && !diag_cell_is_open(&asking->report->cells.items[i]))
            return true;
    return false;
}

static void row_add(struct counting *c, struct diag_cell *cell, size_t node, bool udp, char *path) {
    struct row *row = &c->rows[c->row_count++];

    *row = (struct row){.counting = c,
                        .cell = cell,
                        .node = node,
                        .udp = udp,
                        .path = path,
                        .times = xcalloc(c->count, sizeof *row->times)};
}

bool cluster_cell_is_to_count(const struct diag_cell *cell) {
    return !cell->counted && (!diag_cell_is_open(cell) || cluster_cell_is_lossy(cell));
}

static bool is_asked(const struct counting *c, const struct diag_cell *cell) {
    const struct cluster_node *from = &c->asking->report->nodes.items[cell->from_node];

    return (c->asking->report->count || cluster_cell_is_pods_tcp(cell)) &&
           cluster_cell_is_to_count(cell) && !from->by_exec && !from->unreached;
}

/* The probes themselves are asked first: among the rest they are as any other. */
static void add_rows(struct counting *c) {
    struct diag_report *report = c->asking->report;

    c->rows = xcalloc(2 * report->nodes.count + report->cells.count, sizeof *c->rows);
    for (size_t i = 0; i < report->nodes.count; i++) {
        const struct cluster_node *node = &report->nodes.items[i];

        for (unsigned udp = 0; udp < 2 && !node->waiting && !node->by_exec; udp++)
            row_add(c, NULL, i, udp,
                    dial_path(report->namespace_, node->pod, "127.0.0.1",
                              udp ? PROBE_UDP_ECHO : PROBE_HTTP, udp, "hostname", 1));
    }
    for (size_t i = 0; i < report->cells.count; i++) {
        struct diag_cell *cell = &report->cells.items[i];
        char *path = is_asked(c, cell) ? cluster_cell_path(report, cell, ASK_NAME, 1) : NULL;

        if (path)
            row_add(c, cell, cell->from_node, cell->udp, path);
    }
}

static int compare_rows(const void *a, const void *b) {
    const struct row *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* One of each source after the other: no pod is asked several times at once while others idle. */
static void mix_rows(struct counting *c) {
    size_t *ranks = xcalloc(c->asking->report->nodes.count, sizeof *ranks);

    for (size_t i = 0; i < c->row_count; i++)
        c->rows[i].rank = ranks[c->rows[i].node]++;
    free(ranks);
    qsort(c->rows, c->row_count, sizeof *c->rows, compare_rows);
}

static void on_ended(void *context, const struct kube_many *item) {
    struct row *row = context;
    const struct diag_report *report = row->counting->asking->report;
    struct probe_result result;
    char why[200];
    enum dial_end end = row->cell ? cluster_cell_read(report, row->cell, item->status, item->answer,
                                                      item->answer_len, &result, why, sizeof why)
                                  : dial_read(item->status, item->answer, item->answer_len,
                                              row->udp, &result, why, sizeof why);

    if (end == DIAL_NOT_RUN)
        return;
    row->result.attempts++;
    if (result.succeeded)
        row->times[row->result.succeeded++] = item->wait_us;
    else
        row->result.outcome = result.outcome;
}

static void ask_batch(struct counting *c, size_t begin, size_t end) {
    struct kube_many *items = xcalloc(end - begin, sizeof *items);
    size_t count = 0;

    for (size_t i = begin; i < end; i++) {
        struct row *row = &c->rows[i % c->row_count];

        if (row->result.attempts < 2 || row->result.succeeded)
            items[count++] = (struct kube_many){.method = "GET",
                                                .path = row->path,
                                                .timeout_ms = DIAL_COUNTED_MS,
                                                .max_body = ANSWER_MAX,
                                                .ended = on_ended,
                                                .context = row};
    }
    kube_perform_some(c->asking->client, items, count, AT_ONCE);
    kube_many_free(items, count);
    free(items);
}

static int ask_rows(struct counting *c, struct error *err) {
    const struct cluster_options *options = c->asking->options;
    size_t all = c->row_count * c->count;

    for (size_t i = 0; i < all; i += BATCH) {
        _cleanup_(freep) char *line =
            xasprintf("measuring loss and latency, %zu %%", 100 * i / all);

        if (options->progress)
            options->progress(options->progress_context, 0, 0, line);
        ask_batch(c, i, i + BATCH < all ? i + BATCH : all);
        if (cluster_check_interrupted(c->asking->client->host, err) < 0)
            return -1;
    }
    return 0;
}

static void time_own(struct counting *c) {
    c->own = xcalloc(c->asking->report->nodes.count, sizeof *c->own);
    for (size_t i = 0; i < c->row_count; i++) {
        struct row *row = &c->rows[i];

        if (row->cell)
            continue;
        probe_result_time(&row->result, row->times);
        c->own[row->node][row->udp] = row->result;
    }
}

/* Whether answers take as long each time where nothing is sent again: a probe's own, and by UDP. */
static bool is_steady(const struct counting *c) {
    for (size_t i = 0; i < c->row_count; i++) {
        const struct row *row = &c->rows[i];
        unsigned most = c->own[row->node][row->udp].median_us + STEADY_US;

        for (unsigned k = 0; k < row->result.succeeded && (!row->cell || row->udp); k++)
            if (row->times[k] > most)
                return false;
    }
    return true;
}

/* Attempts whose packets were sent again: one may be chance. */
static unsigned count_again(const struct row *row) {
    unsigned again = row->result.attempts - row->result.succeeded;

    for (unsigned i = 0; i < row->result.succeeded; i++)
        again += row->times[i] >= AGAIN_US;
    return again > 1 ? again : 0;
}

static void judge(const struct counting *c, const struct row *row) {
    struct diag_cell *cell = row->cell;
    unsigned own_us = c->own[row->node][row->udp].median_us;

    if (!row->result.attempts)
        return;
    for (unsigned i = 0; i < row->result.succeeded; i++)
        row->times[i] = row->times[i] > own_us ? row->times[i] - own_us : 0;
    row->cell->again = c->steady && cluster_cell_is_pods_tcp(row->cell) ? count_again(row) : 0;
    cluster_cell_set_sum(row->cell, &row->result);
    row->cell->counted = c->asking->report->count != 0;
    probe_result_time(&cell->result, row->times);
    if (row->cell->again && cell->outcome != DIAG_FAIL) {
        cell->outcome = DIAG_SLOW;
        text_format(cell->reason, sizeof cell->reason,
                    "packets of %u of %u connections were sent again", row->cell->again,
                    row->result.attempts);
    }
}

int cluster_count(struct cluster_asking *asking, struct error *err) {
    unsigned times = asking->report->count;
    struct counting c = {.asking = asking, .count = times ? times : DELAYED_COUNT};
    int result;

    add_rows(&c);
    mix_rows(&c);
    result = ask_rows(&c, err);
    time_own(&c);
    c.steady = is_steady(&c);
    for (size_t i = 0; i < c.row_count; i++) {
        if (c.rows[i].cell && result == 0)
            judge(&c, &c.rows[i]);
        free(c.rows[i].path);
        free(c.rows[i].times);
    }
    free_all(c.rows, c.own);
    return result;
}
