/* Makes a round of questions to the probes: chooses cells and paths, and assigns the answers. */
#include "diag/cluster/probes/asking.h"

#include "diag/cluster/probes/dial.h"

enum {
    LATE_MS = 3000, /* The time that the API server may take in addition to the probe. */
    ASK_MS = DIAL_TIMEOUT_MS + LATE_MS,
    /* When other answers take less than this, a large question without an answer is itself lost. */
    PROMPT_MS = 500,
    SHOW_MS = 200,
    CLOSELY_MAX = 32, /* The most cells that are asked many times in one round. */
    EVENLY_MAX = 96,
    /* A round that asks all cells asks each cell as `several` says when there are more nodes than
     * this, and as `many` says otherwise. */
    MANY_NODES = 12,
};
/* Says how often a cell is asked each of its questions. */
struct times {
    unsigned of[QUESTIONS];
};
static const struct times once = {{[ASK_NAME] = 1, [ASK_LARGE] = 1}};
/* Often enough that random loss is not mistaken for a loss of large packets. */
static const struct times closely = {{[ASK_NAME] = 4, [ASK_LARGE] = 6, [ASK_LARGE_THERE] = 2}};
/* As `closely`, for a cell that was never asked: it may get no other round. */
static const struct times first = {{[ASK_NAME] = 1, [ASK_LARGE] = 6, [ASK_LARGE_THERE] = 2}};
/* For cells with several pods or ports: if one of six fails, `many` shows it in 99 of 100 runs. */
static const struct times several = {{[ASK_NAME] = 12}}, many = {{[ASK_NAME] = 24}};

/* The state of a cell while its questions are under way. */
struct state {
    enum diag_outcome before; /* The outcome that is shown until all questions are answered. */
    struct cluster_tally tally;
    unsigned left; /* Questions without an answer so far. */
    unsigned mute; /* Large questions that got no answer. */
    /* A question got no answer in time, in a round that does not wait longer. */
    bool late;
    bool no_name; /* The question for the name got no answer in time. */
    bool counted; /* The cell is already counted in the result. */
};
/* A round under way. `what` of a question is a cluster_question about a cell; from QUESTIONS on, a
 * cluster_observation of a node. */
struct round {
    struct cluster_asking *asking;
    const struct cluster_round *of;
    struct state *states; /* An array with one item for each cell. */
    struct ask_queue queue;
    struct cluster_asked result;
};

void cluster_asking_widen(struct cluster_asking *asking) {
    struct diag_report *report = asking->report;
    size_t pairs = report->pairs.count, cells = report->cells.count;

    cluster_pairs_widen(report);
    cluster_cells_widen(report, &asking->addresses, pairs);
    asking->cells = xrealloc(asking->cells, (report->cells.count + 1) * sizeof *asking->cells);
    for (size_t i = cells; i < report->cells.count; i++)
        asking->cells[i] = (struct cluster_asked_cell){0};
}

/* Shows the cells to the caller, at most five times a second, and always at the end. */
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
    unsigned asked = state->tally.asked[ASK_NAME], answered = state->tally.answered[ASK_NAME];
    bool *mixed = &round->asking->cells[cell].mixed;

    if (state->late) {
        c->outcome = state->before;
        return;
    }
    if (!round->of->again)
        *mixed = false;
    if (!of->late && of->slowest_ms < PROMPT_MS)
        state->tally.asked[ASK_LARGE] += state->mute;
    if (cluster_cell_is_between_pods(c)) {
        cluster_cell_judge_large(c, &state->tally, mixed);
    } else {
        bool some = answered && answered < asked;

        if (some)
            cluster_cell_set_loss(c, asked, answered);
        if (asked > 1 && c->outcome != DIAG_NOT_RUN) {
            c->result.attempts = asked;
            c->result.succeeded = answered;
        }
        *mixed |= some && round->of->again;
    }
    /* A cell that works in this round passes if it passed before. Otherwise its answer was only
     * late, and it counts as slow. */
    if (round->of->evenly && !diag_cell_is_open(c))
        c->outcome = state->before == DIAG_PASS ? DIAG_PASS : DIAG_SLOW;
}

/* Notes what the answer shows about the probe itself. A probe that dials an address answers in
 * time, whatever the result of the dial is. */
static void note_answer(const struct ask *ask, const struct kube_many *item, size_t node,
                        const char *host) {
    struct cluster_asking *asking = ((struct round *)ask->queue->context)->asking;
    struct cluster_probe_answers *of = &asking->probes[node];
    const struct diag_cell *cell =
        ask->what < QUESTIONS ? &asking->report->cells.items[ask->whose] : NULL;
    bool lost = item->kind == ERROR_TIMED_OUT;
    unsigned ms = lost ? ask->until_ms : item->wait_us / 1000;

    if (item->status == 200) {
        of->answered = true;
        free(take_ptr(asking->report->nodes.items[node].unreached));
    }
    if (!dial_is_address(host) || (cell && ask->what != ASK_NAME) ||
        (!lost && (item->status != 200 || strstr(item->answer, "\"errors\""))))
        return;
    of->late |= ms > LATE_MS;
    of->slowest_ms = ms > of->slowest_ms ? ms : of->slowest_ms;
    if (cell && cluster_cell_is_between_pods(cell) && !cell->udp)
        asking->cells[ask->whose].delayed |= ms >= PROMPT_MS;
    else if (cell && cell->udp)
        of->udp_ms = ms > of->udp_ms ? ms : of->udp_ms;
}

static void on_cell(struct ask *ask, const struct kube_many *item) {
    struct round *round = ask->queue->context;
    struct diag_cell *cell = &round->asking->report->cells.items[ask->whose];
    struct state *state = &round->states[ask->whose];
    bool late = item->kind == ERROR_TIMED_OUT;
    const char *answer = late ? "no answer in time" : item->answer;

    note_answer(ask, item, cell->from_node, cell->probe.target);
    if (round->of->soon_ms && late)
        state->late = true;
    else
        cluster_cell_count(round->asking->report, cell, (enum cluster_question)ask->what,
                           item->status, answer, late ? strlen(answer) : item->answer_len,
                           round->of->again, &state->tally);
    state->no_name |= late && ask->what == ASK_NAME;
    state->mute += late && ask->what == ASK_LARGE;
    state->left--;
    if (!state->left && !state->mute) {
        judge_all(round, ask->whose, state);
        show(round->asking, false);
    }
}

static void on_answered(struct ask *ask, const struct kube_many *item) {
    struct round *round = ask->queue->context;
    struct cluster_asking *asking = round->asking;
    enum cluster_observation observed = (enum cluster_observation)(ask->what - QUESTIONS);
    struct cluster_node *node;
    bool refused;

    if (ask->what < QUESTIONS) {
        on_cell(ask, item);
        return;
    }
    node = &asking->report->nodes.items[ask->whose];
    refused = dial_is_refused(item->status, item->answer, item->answer_len);
    asking->probes[ask->whose].listens |= !refused;
    note_answer(ask, item, ask->whose, observed == OBSERVE_DNS ? "" : "0");
    cluster_observation_read(node, observed, item->status, item->answer, item->answer_len);
    if (observed == OBSERVE_DNS) {
        bool silent = item->kind == ERROR_TIMED_OUT && !asking->probes[ask->whose].answered;
        struct probe_result result;
        char why[300];

        /* With status 503 (500 from older servers) the API server reports that it does not reach
         * the pod's address. */
        free(take_ptr(node->unreached));
        if (!refused)
            /* A refused observation is asked again later. Otherwise a further try is useless. */
            node->observed |= 1U << OBSERVE_DNS;
        if ((silent || item->status / 10 == 50) &&
            dial_read(item->status, item->answer, item->answer_len, false, NULL, &result, why,
                      sizeof why) == DIAL_NOT_RUN)
            node->unreached = xstrdup(why);
    }
    round->result.unseen += !(node->observed & 1U << observed);
    if (item->wait_us / 1000 > round->result.wait_ms)
        round->result.wait_ms = item->wait_us / 1000;
}

/* ---- questions ---- */

bool cluster_has_cut_pods(const struct diag_report *report, size_t from) {
    for (size_t i = from; i < report->cells.count; i++)
        if (report->cells.items[i].outcome == DIAG_FAIL &&
            cluster_cell_is_between_pods(&report->cells.items[i]))
            return true;
    return false;
}

/* Returns how often a red cell is asked in a round that looks closely; NULL means once. With
 * `lossy`, some cell between pods loses part of its packets: then one lost packet of such a cell
 * proves nothing. With `cut`, some pods are cut off. If not, a single answer proves nothing for
 * cells that may be answered by several pods (Services, the DNS) and for cells to the outside,
 * where the ports of an address translation may run short: these are asked several times. */
static const struct times *times_of(const struct diag_cell *cell, bool lossy, bool cut) {
    bool partly = cluster_cell_is_large_lost(cell) || cluster_cell_is_lossy(cell);
    bool some = cell->any || cluster_cell_has_dns_failed(cell) || cell->flow->id == FLOW_SELF ||
                cell->flow->id == FLOW_EXT_IP;

    if (cluster_cell_is_between_pods(cell))
        return partly || (lossy && cell->result.attempts) ? &closely : NULL;
    return !cut && cell->result.attempts && some ? &several : NULL;
}

static void add_cells(struct round *round) {
    struct diag_report *report = round->asking->report;
    const struct cluster_round *of = round->of;
    bool lossy = false, cut = cluster_has_cut_pods(report, 0);
    size_t close = 0, even = 0;

    for (size_t i = 0; i < report->cells.count; i++)
        lossy |= cluster_cell_is_between_pods(&report->cells.items[i]) &&
                 cluster_cell_is_lossy(&report->cells.items[i]);
    for (size_t i = 0; i < report->cells.count; i++) {
        const struct diag_cell *cell = &report->cells.items[i];
        const struct cluster_node *from = &report->nodes.items[cell->from_node];
        const struct times *times = of->closely ? times_of(cell, lossy, cut) : NULL;
        bool counted = (of->evenly || of->closely) && dial_is_address(cell->probe.target);
        unsigned ms = of->soon_ms ? of->soon_ms : counted ? DIAL_COUNTED_MS : ASK_MS;

        if ((!diag_cell_is_open(cell) && !of->evenly) ||
            !(cluster_selects(&of->asks, cell) || (of->lossy && cluster_cell_is_lossy(cell))) ||
            from->by_exec || (from->unreached && !of->again) ||
            (of->closely && round->asking->cells[i].mixed && !cluster_cell_is_between_pods(cell)))
            continue;
        if (of->evenly)
            times = even++ >= EVENLY_MAX               ? NULL
                    : report->nodes.count > MANY_NODES ? &several
                                                       : &many;
        else if (!times || close++ >= CLOSELY_MAX)
            times = of->closely && !cell->result.attempts ? &first : &once;
        if (!times)
            continue;
        round->states[i].before = cell->outcome;
        /* Each question has its own path text, and these are most of the memory of a run. */
        for (unsigned q = 0; q < QUESTIONS; q++)
            for (unsigned k = 0; k < times->of[q]; k++)
                round->states[i].left +=
                    ask_add(&round->queue,
                            cluster_cell_path(report, cell, (enum cluster_question)q, 1), i, q, ms);
    }
}

static void add_observations(struct round *round) {
    struct cluster_asking *asking = round->asking;
    const struct diag_report *report = asking->report;
    _cleanup_(freep) size_t *peers = xcalloc(report->nodes.count, sizeof *peers);
    _cleanup_(freep) bool *cut_off = xcalloc(report->nodes.count, sizeof *cut_off);

    /* For each node the other node that its observations are about: the target of its first pair,
     * or itself if it is alone. */
    for (size_t i = 0; i < report->nodes.count; i++)
        peers[i] = i;
    for (size_t i = report->pairs.count; i-- > 0;)
        peers[report->pairs.items[i].from] = report->pairs.items[i].to;
    /* A node whose TCP to others fails makes no observations, which would only time out again. */
    for (size_t i = 0; i < report->nodes.count; i++)
        cut_off[i] = report->nodes.items[i].unreached != NULL;
    for (size_t i = 0; i < report->cells.count; i++) {
        const struct diag_cell *cell = &report->cells.items[i];

        if (cell->outcome == DIAG_FAIL && !cell->udp && cell->large < LARGE_LOST)
            cut_off[cell->from_node] = cut_off[cell->to_node] = true;
    }

    for (size_t i = 0; i < report->nodes.count; i++)
        for (unsigned s = 0; s < OBSERVATIONS; s++) {
            unsigned ms = s == OBSERVE_DNS     ? 0
                          : round->of->look_ms ? round->of->look_ms
                                               : round->of->soon_ms;

            if (round->of->observations[s] && !(report->nodes.items[i].observed & 1U << s) &&
                (!cut_off[i] || s == OBSERVE_DNS))
                (void)ask_add(&round->queue,
                              cluster_observation_path(report, (enum cluster_observation)s, i,
                                                       peers[i], &asking->addresses),
                              i, QUESTIONS + s, ms ? ms : ASK_MS);
        }
}

struct cluster_asked cluster_ask(struct cluster_asking *asking, const struct cluster_round *of) {
    struct diag_report *report = asking->report;
    /* Says of each node whether its probe has reported the result of any question. */
    _cleanup_(freep) bool *answering = xcalloc(report->nodes.count, sizeof *answering);
    struct round round = {.asking = asking,
                          .of = of,
                          .states = xcalloc(report->cells.count + 1, sizeof *round.states),
                          .queue = {.answered = on_answered, .context = &round}};

    for (size_t i = 0; i < report->nodes.count; i++)
        asking->probes[i].slowest_ms = asking->probes[i].udp_ms = 0;
    add_observations(&round); /* Observations come first, because that of the DNS takes longest. */
    if (of->asks.flows)
        add_cells(&round);
    ask_by_proxy(asking->client, &round.queue, 0, round.queue.count, 0);
    for (size_t i = 0; i < report->cells.count; i++)
        answering[report->cells.items[i].from_node] |=
            report->cells.items[i].result.attempts &&
            report->cells.items[i].outcome != DIAG_NOT_RUN;
    for (size_t i = 0; i < round.queue.count; i++) {
        const struct ask *ask = &round.queue.items[i];
        struct state *state = &round.states[ask->what < QUESTIONS ? ask->whose : 0];
        const struct cluster_probe_answers *probe;
        struct diag_cell *cell;

        if (ask->what >= QUESTIONS || state->counted)
            continue;
        cell = &report->cells.items[ask->whose];
        probe = &asking->probes[cell->from_node];
        if (probe->udp_ms >= PROMPT_MS)
            asking->cells[ask->whose].delayed = false;
        if (state->mute)
            judge_all(&round, ask->whose, state);
        if (state->no_name && !of->soon_ms && !probe->late && answering[cell->from_node])
            cluster_cell_judge_late(cell);
        round.result.red += diag_cell_is_open(cell);
        state->counted = true;
    }
    if (of->asks.flows && !of->soon_ms)
        show(asking, true);
    ask_queue_free(&round.queue);
    free(round.states);
    return round.result;
}

int cluster_check_interrupted(struct host *host, struct error *err) {
    return host_interrupted(host)
               ? error_set(err, ERROR_INTERRUPTED, "measure the cluster: interrupted")
               : 0;
}
