/* Measures the matrix: each probe asks all its questions at the same time, and failed cells are
 * asked again while they may still pass. */
#include "diag/capture.h"
#include "diag/first_look.h"
#include "diag/run_state.h"
#include "netsetup/routes/routes.h"
#include "services/service_status.h"

enum {
    SETTLE_TIMEOUT_MS = 20000,
    SETTLE_PAUSE_MS = 1000,
    /* A working flow has answered by this time; the evidence is then read while others go on. */
    RED_MS = 250,
    ANSWER_SLACK_MS = 10000,
    STRAIGHT_ROUNDS = 3,
    /* How long to wait for the second pod's few answers, once those of the first pod are there. */
    BACK_MS = 3000,
    LOSSY_ROUNDS = 2,
    LOSSY_ATTEMPTS = 6, /* With half of all packets lost, all six arrive only once in 64 times. */
};

/* ---- put the questions, and wait for the answers ---- */

/* A round of questions: one list for each pod, and one for the node, all asked at the same time. */
struct asked {
    struct diag_run *run;
    bool again;
    struct probe_list lists[2], node;  /* The pods' lists, by SOURCE and TARGET; the node's list. */
    struct probe_results results[2];   /* The results of the pods. */
    struct probe_results node_results; /* The results of the node. */
    unsigned source_ms;                /* The wait so far, when the first pod's results came. */
    /* The results were read, or will never come. */
    bool ended[2];
};

static void cells_judge(struct asked *asked);

static void tell_measuring(void *context, const struct wait *wait, const struct error *) {
    const struct asked *asked = context;
    const struct probe_list *list = &asked->lists[SOURCE];
    const struct diag_cells *cells = &asked->run->report->cells;
    const struct diag_flow *last = NULL;
    _cleanup_(freep) char *message = NULL;
    size_t flows = 0;

    /* A flow has several questions (by TCP and UDP, and extra ones that tell causes apart), so
     * flows are counted here, not questions. */
    for (size_t i = 0; i < cells->count; i++)
        for (size_t k = 0; k < list->count && cells->items[i].flow != last; k++)
            if (text_equal(list->items[k].id, cells->items[i].probe.id)) {
                last = cells->items[i].flow;
                flows++;
            }
    message = asked->ended[SOURCE]
                  ? xasprintf("waiting for %s to answer", asked->run->probes.items[TARGET].name)
                  : xasprintf("waiting for %s to measure %zu flow%s",
                              asked->run->probes.items[SOURCE].name, flows, PLURAL(flows));
    run_tell_wait(asked->run, wait, message);
}

static void tell_silent(struct asked *asked, const char *why) {
    size_t i = asked->ended[SOURCE] ? TARGET : SOURCE;

    run_tell(asked->run, "%s did not answer: %s", asked->run->probes.items[i].name, why);
    asked->ended[i] = true;
}

/* Reads and judges the results that are there, while the other probes go on. */
static enum wait_poll poll_answer(void *context, struct wait *wait, struct error *err) {
    struct asked *asked = context;
    struct diag_probes *probes = &asked->run->probes;
    struct error why = {0};

    if (asked->run->node_work && probe_work_step(asked->run->node_work)) {
        probe_work_end(take_ptr(asked->run->node_work), &asked->node_results);
        cells_judge(asked);
    }
    for (size_t i = 0; i < ARRAY_SIZE(asked->ended); i++) {
        int read = asked->ended[i] ? 0 : diag_probe_read(probes, i, &asked->results[i], &why);

        if (read == 0)
            continue;
        if (read < 0)
            run_tell(asked->run, "%s did not answer: %s", probes->items[i].name, why.message);
        asked->ended[i] = true;
        asked->source_ms = i == SOURCE ? wait->waited_ms : asked->source_ms;
        cells_judge(asked);
    }
    if (asked->ended[SOURCE] && !asked->ended[TARGET] &&
        wait->waited_ms >= asked->source_ms + BACK_MS)
        tell_silent(asked, "after 3 s");
    if (asked->ended[SOURCE] && asked->ended[TARGET])
        return POLL_DONE;
    if (wait->waited_ms >= RED_MS && !asked->run->evidence_is_new)
        run_read_evidence(asked->run);
    (void)error_set(err, ERROR_TIMED_OUT, "after %u s", wait->limit_ms / 1000);
    return run_again(asked->run);
}

/* ---- one round of questions ---- */

/* Asks the pods and the node at the same time, and waits for the results; those of a silent pod
 * stay empty. */
static int ask(struct asked *asked, struct error *err) {
    struct diag_run *run = asked->run;
    const struct probe_list *own = &asked->node;
    struct wait wait = {.poll = poll_answer, .tell = tell_measuring, .context = asked};
    struct error why = {0};
    int result = 0;

    if (!run->options->measure && own->count)
        run->node_work = probe_work_new(own);
    for (size_t i = 0; i < 2 && result == 0; i++) {
        const struct probe_list *list = &asked->lists[i];

        asked->ended[i] = !list->count;
        if (asked->ended[i])
            continue;
        /* A probe measures all questions of a list at once, so the slowest question is the
         * limit. */
        for (size_t k = 0; k < list->count; k++) {
            unsigned needs = list->items[k].timeout_ms * list->items[k].attempts + ANSWER_SLACK_MS;

            wait.limit_ms = needs > wait.limit_ms ? needs : wait.limit_ms;
        }
        run->probes.items[i].asked++;
        result = diag_probe_ask(&run->probes, i, list, err);
    }
    if (result == 0 && !(asked->ended[SOURCE] && asked->ended[TARGET]) &&
        run_wait(run, wait, &why) != POLL_DONE) {
        if (why.kind == ERROR_INTERRUPTED)
            result = error_set(err, ERROR_INTERRUPTED, "%s", why.message);
        while (result == 0 && !(asked->ended[SOURCE] && asked->ended[TARGET]))
            tell_silent(asked, why.message);
    }
    if (run->node_work)
        probe_work_end(take_ptr(run->node_work), &asked->node_results);
    for (size_t i = 0; run->options->measure && i < own->count; i++) {
        struct probe_result measured;

        run->options->measure(run->options->measure_context, &own->items[i], &measured);
        array_add(asked->node_results.items, asked->node_results.count, measured);
    }
    return result;
}

/* ---- the cells of a round ---- */

/* Says whether the cell is asked in this round. Between two addresses, unlike behind a load
 * balancer, nothing is slow after a start. Some attempts may fail at first, but no later ones: the
 * second loss of a cell is real, and asking until one round passes by chance would hide it. */
static bool is_asked(const struct diag_run *run, const struct diag_cell *cell, bool again) {
    bool open = !(cell->flow->is & FLOW_STRAIGHT) ||
                (cell->rounds < STRAIGHT_ROUNDS && cell->lossy < LOSSY_ROUNDS);
    /* The Service kubernetes is not waited for when its API server takes no connection from the
     * node either. */
    bool of_lost_api = text_equal(json_text_at(run->look, "api.outcome"), "unreachable") &&
                       !cell->udp &&
                       (cell->flow->id == FLOW_SVC_IP || cell->flow->id == FLOW_SVC_FQDN);

    return cell->asked && (!again || (cell->outcome == DIAG_FAIL && !of_lost_api && open));
}

static void lists_make(struct asked *asked) {
    struct diag_run *run = asked->run;
    bool again = asked->again;

    for (size_t i = 0; i < run->report->cells.count; i++) {
        struct diag_cell *cell = &run->report->cells.items[i];
        struct probe probe = cell->probe, back;
        struct probe_list *list;

        cell->running = is_asked(run, cell, again);
        /* More attempts would make a slow start look like packet loss. */
        if (again && !cell->result.succeeded)
            probe.attempts = 1;
        if (again && cell->lossy && (cell->flow->is & FLOW_STRAIGHT))
            probe.attempts = LOSSY_ATTEMPTS;
        if (!cell->running)
            continue;
        list = cell->flow->is & FLOW_FROM_NODE ? &asked->node : &asked->lists[SOURCE];
        array_add(list->items, list->count, probe);
        if (run->probes.items[TARGET].spoke && diag_cell_back(&run->flow_input, cell, &back)) {
            back.attempts = probe.attempts;
            array_add(asked->lists[TARGET].items, asked->lists[TARGET].count, back);
        }
    }
}

/* Adds the node's own questions: to the targets outside (to the DNS server there by TCP, too), to
 * the address behind the Service kubernetes, and to the node of a DNS pod. */
static void node_extras_add(const struct diag_run *run, const struct diag_flow_input *input,
                            const char *dns_node, struct probe_list *node) {
    enum { KUBELET = 10250 };
    const struct diag_cells *cells = &run->report->cells;
    const struct diag_cell *service = diag_cells_find(cells, FLOW_SVC_IP, false, false),
                           *dns = diag_cells_find(cells, FLOW_EXT_IP, true, false);
    const struct {
        /* The cell whose probe is copied; `service` stands for a connection only. */
        const struct diag_cell *like;
        const char *address;
        enum diag_extra_id extra;
        unsigned port;
    } rows[] = {
        {diag_cells_find(cells, FLOW_EXT_IP, false, false), NULL, X_NODE_EXTERNAL, 0},
        {dns, NULL, X_NODE_EXTERNAL_UDP, 0},
        {service, dns && dns->asked ? dns->probe.target : NULL, X_NODE_DNS,
         dns ? dns->probe.port : 0},
        {diag_cells_find(cells, FLOW_EXT_DNS, false, false), NULL, X_NODE_NAME, 0},
        {service, input->api_ip, X_NODE_API, input->api_port},
        {service, dns_node, X_NODE_PEER, KUBELET},
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct probe probe;

        if (!rows[i].like || !rows[i].like->asked || (rows[i].like == service && !rows[i].address))
            continue;
        probe = rows[i].like->probe;
        text_format(probe.id, sizeof probe.id, "%s", diag_extras[rows[i].extra].name);
        if (rows[i].address) {
            probe.attempts = 1;
            probe.port = rows[i].port;
            text_format(probe.target, sizeof probe.target, "%s", rows[i].address);
        }
        array_add(node->items, node->count, probe);
    }
}

/* Adds the extra questions, which tell causes apart, to the same round, so that failures do not
 * cost a second time-out. */
static void extras_add(struct diag_run *run, struct probe_list *pod, struct probe_list *node) {
    enum { TCP = 6, UDP = 17, HTTPS = 443, DNS = 53 };
    const json_t *evidence = run->report->evidence;
    struct diag_flow_input input = run->flow_input;
    struct network_peer peer;
    char gateway[IP_TEXT_MAX];

    input.api_ip = diag_evidence_backend(evidence, input.kubernetes_ip, TCP, HTTPS);
    input.api_port = diag_evidence_backend_port(evidence, input.kubernetes_ip, TCP, HTTPS);
    (void)diag_evidence_backends(evidence, input.dns_ip, UDP, DNS, input.dns_pods, DIAG_DNS_PODS);
    input.dns_pod_port = diag_evidence_backend_port(evidence, input.dns_ip, UDP, DNS);
    network_peer_read(diag_evidence_node_of(evidence, input.dns_pods[0]), &peer);
    node_extras_add(run, &input, peer.node_address, node);
    if (!run->probes.items[SOURCE].spoke)
        return;
    if (diag_evidence_gateway(evidence, input.dns_pods[0], gateway))
        input.peer_ip = gateway;
    diag_extra_probes(&input, pod);
    run->extras_asked = evidence;
}

/* Removes the questions from index `kept` on that had a good answer in an earlier round. */
static void answered_remove(struct probe_list *list, size_t kept,
                            const struct probe_results *earlier) {
    for (size_t i = kept; i < list->count; i++) {
        const struct probe *probe = &list->items[i];
        const struct probe_result *result = probe_results_find(earlier, probe->id);

        if (!result || result->outcome != PROBE_OK || result->succeeded < result->attempts)
            list->items[kept++] = *probe;
    }
    list->count = kept;
}

static void cells_judge(struct asked *asked) {
    struct diag_cells *cells = &asked->run->report->cells;
    bool any = false;

    for (size_t i = 0; i < cells->count; i++) {
        struct diag_cell *cell = &cells->items[i];
        bool of_pod = !(cell->flow->is & FLOW_FROM_NODE);
        const struct probe_result *back = NULL,
                                  *found = probe_results_find(of_pod ? &asked->results[SOURCE]
                                                                     : &asked->node_results,
                                                              cell->probe.id);
        struct probe other; /* The probe of the other direction, when that is asked, too. */

        if (!cell->running || !found)
            continue;
        if (diag_cell_back(&asked->run->flow_input, cell, &other))
            back = probe_results_find(&asked->results[TARGET], other.id);
        if (!back && !asked->ended[TARGET])
            continue;
        cell->running = false;
        cell->rounds++;
        diag_cell_judge(cell, found, asked->again);
        asked->run->report->probes += found->attempts;
        if (back)
            diag_cell_judge_back(cell, back, asked->again);
        cell->lossy += cell->result.succeeded && cell->result.succeeded < cell->result.attempts;
        any = true;
    }
    if (any)
        run_tell_cells(asked->run, cells);
}

static void results_move(struct probe_results *from, struct probe_results *ret) {
    for (size_t i = 0; i < from->count; i++)
        array_add(ret->items, ret->count, from->items[i]);
    probe_results_free(from);
}

static void asked_free(struct asked *asked, struct probe_results *ret) {
    results_move(&asked->node_results, ret);
    for (size_t i = 0; i < 2; i++) {
        results_move(&asked->results[i], ret);
        probe_list_free(&asked->lists[i]);
    }
    probe_list_free(&asked->node);
}

/* Asks all cells, or with `again` the failed ones, and until all are asked the extra questions that
 * `earlier` does not answer. *ret gets all results. */
static int cells_ask(struct diag_run *run, bool again, const struct probe_results *earlier,
                     struct probe_results *ret, struct error *err) {
    struct asked asked = {.run = run, .again = again};
    int result;

    if (again && !run->report->evidence)
        run_read_evidence(run);
    run->evidence_is_new = false;
    lists_make(&asked);
    if (!again || !run->extras_asked) {
        size_t pod_cells = asked.lists[SOURCE].count, node_cells = asked.node.count;

        extras_add(run, &asked.lists[SOURCE], &asked.node);
        answered_remove(&asked.lists[SOURCE], pod_cells, earlier);
        answered_remove(&asked.node, node_cells, earlier);
    }
    run_tell_cells(run, &run->report->cells);
    result = ask(&asked, err);
    if (result == 0) {
        struct diag_cells *cells = &asked.run->report->cells;

        /* A cell that stays red counts one more round; a cell without an answer in the first round
         * was not run. */
        asked.ended[SOURCE] = asked.ended[TARGET] = true;
        cells_judge(&asked);
        for (size_t i = 0; i < cells->count; i++) {
            struct diag_cell *cell = &cells->items[i];

            if (!cell->running)
                continue;
            cell->running = false;
            cell->rounds++;
            if (asked.again)
                continue;
            cell->outcome = DIAG_NOT_RUN;
            text_format(cell->reason, sizeof cell->reason, "%s did not answer",
                        asked.run->probes.items[SOURCE].name);
        }
    }
    asked_free(&asked, ret);
    return result;
}

/* Says whether any failed cell may still pass. */
static bool any_open(const struct diag_run *run) {
    for (size_t i = 0; i < run->report->cells.count; i++)
        if (is_asked(run, &run->report->cells.items[i], true))
            return true;
    return false;
}

static enum wait_poll poll_later(void *context, struct wait *, struct error *) {
    return run_again(context);
}

/* ---- capture packets of one flow ---- */

int run_capture(struct diag_run *run, struct error *err) {
    _cleanup_(probe_results_free) struct probe_results results = {0};
    struct asked asked = {.run = run, .again = true};
    const struct diag_cell *cell = NULL;
    _cleanup_(freep) char *name = NULL;
    struct error why = {0};

    for (size_t i = 0; i < run->report->cells.count && !cell; i++)
        if (run->report->cells.items[i].outcome == DIAG_FAIL)
            cell = &run->report->cells.items[i];
    if (!run->options->capture || !cell)
        return 0;
    name = diag_cell_name(cell);
    run_tell(run, "capturing packets of %s", name);
    if (diag_capture_begin(run->host, &why) == 0) {
        struct probe probe = cell->probe;
        bool back =
            cell->one_way == DIAG_ONE_WAY_BACK && diag_cell_back(&run->flow_input, cell, &probe);
        struct probe_list *list;
        int result;

        list = cell->flow->is & FLOW_FROM_NODE ? &asked.node : &asked.lists[back ? TARGET : SOURCE];
        array_add(list->items, list->count, probe);
        result = ask(&asked, err);
        asked_free(&asked, &results);
        if (diag_capture_end(run->host, cell->probe.target, &run->captured, &why) < 0)
            run_tell(run, "%s", why.message);
        if (result < 0)
            return -1;
    }
    if (!run->captured)
        run->captured = json_pack("{s:s}", "error", why.message);
    json_object_set_new(run->captured, "flow", json_string(name));
    return host_interrupted(run->host) ? error_set(err, ERROR_INTERRUPTED, "%s", why.message) : 0;
}

/* In *ret the latest result of each extra question comes first. */
int run_measure_cells(struct diag_run *run, struct probe_results *ret, struct error *err) {
    const struct wait pause = {.limit_ms = SETTLE_PAUSE_MS, .poll = poll_later, .context = run};
    unsigned limit =
        run->options->settle_timeout_ms ? run->options->settle_timeout_ms : SETTLE_TIMEOUT_MS;
    uint64_t start;
    bool young, down = false;

    if (cells_ask(run, false, ret, ret, err) < 0)
        return -1;
    json_each(json_object_get(run->look, "services"), i, status)
        down |= service_status_is_down(status);
    /* Services that were just being started run by now, and others may have been restarted since:
     * their states are read again. */
    young = run->look && diag_look_is_young(run->look, host_now(run->host));
    if (run->look && (down || (any_open(run) && !young)))
        diag_look_services(run->host, run->look);

    start = host_monotonic_ms(run->host);
    if (run->options->look && !diag_look_is_young(run->look, host_now(run->host)))
        return 0;
    while (any_open(run) && run->probes.items[SOURCE].spoke) {
        _cleanup_(probe_results_free) struct probe_results results = {0};
        uint64_t now = host_monotonic_ms(run->host);
        bool extras = !run->extras_asked;

        if (now - start >= limit)
            return 0;
        run_tell(run, "some flows fail; measuring them again for up to %u s",
                 (unsigned)((limit - (now - start)) / 1000));
        if (run_wait(run, pause, err) == POLL_FAILED ||
            cells_ask(run, true, ret, &results, err) < 0)
            return -1;
        if (extras) {
            results_move(ret, &results);
            *ret = take_struct(results);
        }
    }
    return 0;
}
