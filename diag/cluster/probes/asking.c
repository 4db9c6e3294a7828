/* A round of questions: which, by which path, and whose answer it is. */
#include "diag/cluster/probes/asking.h"

#include "diag/cluster/probes/dial.h"
#include "kube/many.h"

enum {
    LATE_MS = 3000, /* what the API server may take beside the probe */
    ASK_MS = DIAL_TIMEOUT_MS + LATE_MS,
    PROMPT_MS = 500, /* where answers take less, a large question without one is lost itself */
    ANSWER_MAX = 64 * 1024, /* of a probe: a name, an address, an error, an echo */
    SHOW_MS = 200,
    CLOSELY_MAX = 32, /* cells that are asked many times: */
    EVENLY_MAX = 96,
    MANY_NODES = 12, /* of more each cell is asked several times, of fewer many times */
};
/* How often a cell is asked each question. */
struct times {
    unsigned of[QUESTIONS];
};
static const struct times once = {{[ASK_NAME] = 1, [ASK_LARGE] = 1}};
/* So often that random loss is not taken for a loss of large packets. */
static const struct times closely = {{[ASK_NAME] = 4, [ASK_LARGE] = 6, [ASK_LARGE_THERE] = 2}};
/* The same of a cell that was never asked: there may be no other round for it. */
static const struct times first = {{[ASK_NAME] = 1, [ASK_LARGE] = 6, [ASK_LARGE_THERE] = 2}};
/* Several pods or ports may answer; where one of six fails many see it in 99 of 100 runs. */
static const struct times several = {{[ASK_NAME] = 12}}, many = {{[ASK_NAME] = 24}};

/* A cell while its questions are under way. */
struct state {
    enum diag_outcome before; /* what is shown until all are answered */
    struct cluster_tally tally;
    unsigned left; /* answers */
    unsigned mute; /* large questions without one */
    bool late;     /* one of them: in a round that does not wait for it */
    bool no_name;  /* the name came in no time */
    bool counted;  /* in the result */
};
struct question {
    struct round *round;
    char *path;
    size_t whose; /* cell; of an observation its node */
    bool is_observation;
    unsigned what; /* cluster_question, cluster_observation */
};
/* A round under way. */
struct round {
    struct cluster_asking *asking;
    const struct cluster_round *of;
    struct state *states; /* of each cell */
    struct question *items;
    size_t count;
    struct cluster_asked result;
};

void cluster_asking_open(struct cluster_asking *asking) {
    asking->cells = xcalloc(asking->report->cells.count, sizeof *asking->cells);
    asking->probes = xcalloc(asking->report->nodes.count, sizeof *asking->probes);
    for (size_t i = 0; i < asking->report->nodes.count; i++) /* nothing to ask first */
        asking->probes[i].listens = !asking->report->nodes.items[i].pod_ip;
}

void cluster_asking_close(struct cluster_asking *asking) {
    free(take_ptr(asking->cells));
    free(take_ptr(asking->probes));
}

void cluster_asking_widen(struct cluster_asking *asking) {
    struct diag_report *report = asking->report;
    size_t pairs = report->pairs.count, cells = report->cells.count;

    cluster_pairs_widen(report);
    cluster_cells_widen(report, &asking->addresses, pairs);
    asking->cells = xrealloc(asking->cells, (report->cells.count + 1) * sizeof *asking->cells);
    for (size_t i = cells; i < report->cells.count; i++)
        asking->cells[i] = (struct cluster_asked_cell){0};
}

bool cluster_asks_all(const struct diag_cell *) {
    return true;
}

/* Shows the cells, at most five times a second but for the last time. */
static void show(struct cluster_asking *asking, bool at_last) {
    uint64_t now = host_monotonic_ms(asking->client->host);

    if (!asking->options->cells || (!at_last && asking->shown && now - asking->shown_ms < SHOW_MS))
        return;
    asking->shown = true;
    asking->shown_ms = now;
    asking->options->cells(asking->options->progress_context, asking->report);
}

/* ---- answers ---- */

static void judge_all(struct round *round, size_t cell, struct state *state) {
    struct diag_cell *c = &round->asking->report->cells.items[cell];
    const struct cluster_probe_answers *of = &round->asking->probes[c->from_node];
    bool *mixed = &round->asking->cells[cell].mixed;

    if (state->late) {
        c->outcome = state->before;
        return;
    }
    if (!round->of->again)
        *mixed = false;
    if (!of->late && of->slowest_ms < PROMPT_MS)
        state->tally.asked[ASK_LARGE] += state->mute;
    if (cluster_cell_is_between_pods(c))
        cluster_cell_judge_large(c, &state->tally, mixed);
    else
        *mixed |= cluster_cell_judge_some(c, &state->tally) && round->of->again;
    if (round->of->evenly && !diag_cell_is_open(c)) /* what works did so before, or late */
        c->outcome = state->before == DIAG_PASS ? DIAG_PASS : DIAG_SLOW;
}

static unsigned time_of(const struct round *round, const struct question *q) {
    if (round->of->look_ms && q->is_observation && q->what != OBSERVE_DNS)
        return round->of->look_ms;
    if (round->of->soon_ms && !(q->is_observation && q->what == OBSERVE_DNS))
        return round->of->soon_ms;
    if (!q->is_observation && (round->of->evenly || round->of->closely) &&
        dial_is_address(round->asking->report->cells.items[q->whose].probe.target))
        return DIAL_COUNTED_MS;
    return ASK_MS;
}

/* What the answer tells of the probe itself: one that dials an address answers in time, whatever
 * becomes of that. */
static void note_answer(struct round *round, const struct question *q, const struct kube_many *item,
                        size_t node, const char *host) {
    struct cluster_probe_answers *of = &round->asking->probes[node];
    bool lost = item->kind == ERROR_TIMED_OUT;
    unsigned ms = lost ? time_of(round, q) : item->wait_us / 1000;
    bool tcp = !q->is_observation &&
               cluster_cell_is_pods_tcp(&round->asking->report->cells.items[q->whose]);

    if (item->status == 200) {
        of->answered = true;
        free(take_ptr(round->asking->report->nodes.items[node].unreached));
    }
    if (!dial_is_address(host) || (!q->is_observation && q->what != ASK_NAME) ||
        (!lost && (item->status != 200 || strstr(item->answer, "\"errors\""))))
        return;
    of->late |= ms > LATE_MS;
    of->slowest_ms = ms > of->slowest_ms ? ms : of->slowest_ms;
    if (tcp)
        round->asking->cells[q->whose].delayed |= ms >= PROMPT_MS;
    else if (!q->is_observation && round->asking->report->cells.items[q->whose].udp)
        of->udp_ms = ms > of->udp_ms ? ms : of->udp_ms;
}

static void on_cell(struct question *q, const struct kube_many *item) {
    struct round *round = q->round;
    struct diag_cell *cell = &round->asking->report->cells.items[q->whose];
    struct state *state = &round->states[q->whose];
    bool late = item->kind == ERROR_TIMED_OUT;
    const char *answer = late ? "no answer in time" : item->answer;

    note_answer(round, q, item, cell->from_node, cell->probe.target);
    if (round->of->soon_ms && late)
        state->late = true;
    else
        cluster_cell_count(round->asking->report, cell, (enum cluster_question)q->what,
                           item->status, answer, late ? strlen(answer) : item->answer_len,
                           round->of->again, &state->tally);
    state->no_name |= late && q->what == ASK_NAME;
    state->mute += late && q->what == ASK_LARGE;
    state->left--;
    if (!state->left && !state->mute) {
        judge_all(round, q->whose, state);
        show(round->asking, false);
    }
}

/* The API server's own words for a pod whose address it does not reach; 500 of older servers. */
static void note_unreached(struct cluster_node *node, bool answered, const struct kube_many *item) {
    struct probe_result result;
    char why[300];

    free(take_ptr(node->unreached));
    if (!dial_is_refused(item->status, item->answer, item->answer_len))
        node->seen |= 1U << OBSERVE_DNS; /* or it never will be */
    if (((item->kind == ERROR_TIMED_OUT && !answered) || item->status / 10 == 50) &&
        dial_read(item->status, item->answer, item->answer_len, false, &result, why, sizeof why) ==
            DIAL_NOT_RUN)
        node->unreached = xstrdup(why);
}

static void on_ended(void *context, const struct kube_many *item) {
    struct question *q = context;
    struct cluster_asking *asking = q->round->asking;
    struct cluster_node *node;
    bool refused = dial_is_refused(item->status, item->answer, item->answer_len);

    if (!q->is_observation) {
        on_cell(q, item);
        return;
    }
    node = &asking->report->nodes.items[q->whose];
    asking->probes[q->whose].listens |= !refused;
    note_answer(q->round, q, item, q->whose, q->what == OBSERVE_DNS ? "" : "0");
    cluster_observation_read(node, (enum cluster_observation)q->what, item->status, item->answer,
                             item->answer_len);
    if (q->what == OBSERVE_DNS)
        note_unreached(node, asking->probes[q->whose].answered, item);
    q->round->result.unseen += !(node->seen & 1U << q->what);
    if (item->wait_us / 1000 > q->round->result.wait_ms)
        q->round->result.wait_ms = item->wait_us / 1000;
}

/* ---- questions ---- */

static void add(struct round *round, char *path, bool is_observation, size_t whose, unsigned what) {
    array_add(round->items, round->count,
              (struct question){round, path, whose, is_observation, what});
}

/* Its path is a text of its own; the sum of all is what most of a run's memory is. */
static void add_cell(struct round *round, size_t cell, const struct times *times) {
    const struct diag_report *report = round->asking->report;
    struct diag_cell *c = &report->cells.items[cell];
    struct state *state = &round->states[cell];

    state->before = c->outcome;
    for (unsigned q = 0; q < QUESTIONS; q++)
        for (unsigned i = 0; i < times->of[q]; i++) {
            char *path = cluster_cell_path(report, c, (enum cluster_question)q, 1);

            if (!path)
                break;
            add(round, path, false, cell, q);
            state->left++;
        }
}

bool cluster_has_cut_pods(const struct diag_report *report) {
    for (size_t i = 0; i < report->cells.count; i++)
        if (report->cells.items[i].outcome == DIAG_FAIL &&
            cluster_cell_is_between_pods(&report->cells.items[i]))
            return true;
    return false;
}

/* Between pods: whether something is lost in part, or by chance. */
static bool is_lossy(const struct diag_report *report) {
    for (size_t i = 0; i < report->cells.count; i++)
        if (cluster_cell_is_between_pods(&report->cells.items[i]) &&
            cluster_cell_is_lossy(&report->cells.items[i]))
            return true;
    return false;
}

/* NULL: once. Where some packets are lost, one that is lost says nothing; nor does one of a
 * Service, the DNS' too, which leads to several pods, while none of them is cut off. */
static const struct times *times_of(const struct diag_cell *cell, bool lossy, bool cut) {
    bool partly = cluster_cell_is_large_lost(cell) || cluster_cell_is_lossy(cell);

    if (cluster_cell_is_between_pods(cell))
        return partly || (lossy && cell->result.attempts) ? &closely : NULL;
    return !cut && cell->result.attempts && cluster_cell_is_some(cell) ? &several : NULL;
}

static void add_cells(struct round *round) {
    struct diag_report *report = round->asking->report;
    bool lossy = is_lossy(report), cut = cluster_has_cut_pods(report);
    size_t close = 0, even = 0;

    for (size_t i = 0; i < report->cells.count; i++) {
        const struct diag_cell *cell = &report->cells.items[i];
        const struct cluster_node *from = &report->nodes.items[cell->from_node];
        const struct times *times = round->of->closely ? times_of(cell, lossy, cut) : NULL;

        if ((!diag_cell_is_open(cell) && !round->of->evenly) || !round->of->asks(cell) ||
            from->by_exec || (from->unreached && !round->of->again) ||
            (round->of->closely && round->asking->cells[i].mixed &&
             !cluster_cell_is_between_pods(cell)))
            continue;
        if (round->of->evenly)
            times = even++ >= EVENLY_MAX               ? NULL
                    : report->nodes.count > MANY_NODES ? &several
                                                       : &many;
        else if (!times || close++ >= CLOSELY_MAX)
            times = round->of->closely && !cell->result.attempts ? &first : &once;
        if (times)
            add_cell(round, i, times);
    }
}

/* Of each node one that it can be asked about; itself where it is alone. The caller frees. */
static size_t *peers_make(const struct diag_report *report) {
    size_t *peers = xcalloc(report->nodes.count, sizeof *peers);

    for (size_t i = 0; i < report->nodes.count; i++)
        peers[i] = i;
    for (size_t i = report->pairs.count; i-- > 0;) /* the first pair counts */
        peers[report->pairs.items[i].from] = report->pairs.items[i].to;
    return peers;
}

/* Whether TCP fails between a node and others: what it would see costs a time-out more. The caller
 * frees. */
static bool *cut_off_make(const struct diag_report *report) {
    bool *cut_off = xcalloc(report->nodes.count, sizeof *cut_off);

    for (size_t i = 0; i < report->nodes.count; i++)
        cut_off[i] = report->nodes.items[i].unreached != NULL;
    for (size_t i = 0; i < report->cells.count; i++) {
        const struct diag_cell *cell = &report->cells.items[i];

        if (cell->outcome == DIAG_FAIL && !cell->udp && cell->large < LARGE_LOST)
            cut_off[cell->from_node] = cut_off[cell->to_node] = true;
    }
    return cut_off;
}

static void add_observations(struct round *round) {
    struct cluster_asking *asking = round->asking;
    const struct diag_report *report = asking->report;
    _cleanup_(freep) size_t *peers = peers_make(report);
    _cleanup_(freep) bool *cut_off = cut_off_make(report);

    for (size_t i = 0; i < report->nodes.count; i++) {
        const struct cluster_node *node = &report->nodes.items[i];

        for (unsigned s = 0; s < OBSERVATIONS; s++) {
            char *path;

            if (!round->of->observations[s] || node->seen & 1U << s ||
                (cut_off[i] && s != OBSERVE_DNS))
                continue;
            path = cluster_observation_path(report, (enum cluster_observation)s, i, peers[i],
                                            &asking->addresses);
            if (path)
                add(round, path, true, i, s);
        }
    }
}

static void perform(struct round *round) {
    struct kube_many *items = xcalloc(round->count ? round->count : 1, sizeof *items);

    for (size_t i = 0; i < round->count; i++)
        items[i] = (struct kube_many){.method = "GET",
                                      .path = round->items[i].path,
                                      .timeout_ms = time_of(round, &round->items[i]),
                                      .max_body = ANSWER_MAX,
                                      .ended = on_ended,
                                      .context = &round->items[i]};
    kube_perform_many(round->asking->client, items, round->count);
    kube_many_free(items, round->count);
    free(items);
}

/* Of each node: its probe has said what came of another question. The caller frees. */
static bool *answering_make(const struct diag_report *report) {
    bool *answering = xcalloc(report->nodes.count, sizeof *answering);

    for (size_t i = 0; i < report->cells.count; i++)
        answering[report->cells.items[i].from_node] |=
            report->cells.items[i].result.attempts &&
            report->cells.items[i].outcome != DIAG_NOT_RUN;
    return answering;
}

struct cluster_asked cluster_ask(struct cluster_asking *asking, const struct cluster_round *of) {
    struct diag_report *report = asking->report;
    struct round round = {.asking = asking,
                          .of = of,
                          .states = xcalloc(report->cells.count + 1, sizeof *round.states)};

    for (size_t i = 0; i < report->nodes.count; i++)
        asking->probes[i].slowest_ms = asking->probes[i].udp_ms = 0;
    add_observations(&round); /* first: the DNS' takes longest */
    if (of->asks)
        add_cells(&round);
    perform(&round);
    _cleanup_(freep) bool *answering = answering_make(report);
    for (size_t i = 0; i < round.count; i++) {
        const struct question *q = &round.items[i];
        struct state *state = &round.states[q->is_observation ? 0 : q->whose];

        free(q->path);
        if (q->is_observation || state->counted)
            continue;
        if (asking->probes[report->cells.items[q->whose].from_node].udp_ms >= PROMPT_MS)
            asking->cells[q->whose].delayed = false;
        if (state->mute)
            judge_all(&round, q->whose, state);
        if (state->no_name && !of->soon_ms &&
            !asking->probes[report->cells.items[q->whose].from_node].late &&
            answering[report->cells.items[q->whose].from_node])
            cluster_cell_judge_late(&report->cells.items[q->whose]);
        round.result.red += diag_cell_is_open(&report->cells.items[q->whose]);
        state->counted = true;
    }
    if (of->asks && !of->soon_ms)
        show(asking, true);
    free(round.items);
    free(round.states);
    return round.result;
}

int cluster_check_interrupted(struct host *host, struct error *err) {
    return host_interrupted(host)
               ? error_set(err, ERROR_INTERRUPTED, "measure the cluster: interrupted")
               : 0;
}
