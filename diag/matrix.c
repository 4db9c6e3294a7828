/* The matrix is measured: which probe asks what, all at the same time, and again while something
 * may still turn green. */
#include "diag/capture.h"
#include "diag/look.h"
#include "diag/running.h"

enum {
    SETTLE_TIMEOUT_MS = 20000,
    SETTLE_PAUSE_MS = 1000,
    RED_MS = 250, /* what works has answered by then; the evidence is read while the rest goes on */
    ANSWER_SLACK_MS = 10000,
    STRAIGHT_ROUNDS = 3,
    BACK_MS = 3000, /* for the second pod's few answers, once the first one's are there */
    LOSSY_ROUNDS = 2,
    LOSSY_ATTEMPTS = 6, /* of half the packets, one in 64 times all arrive */
};

/* ---- asking ---- */

/* All probes of a list are measured at the same time. */
static unsigned time_limit(const struct probe_list *list) {
    unsigned longest = 0;

    for (size_t i = 0; i < list->count; i++) {
        unsigned needs = list->items[i].timeout_ms * list->items[i].attempts;

        longest = needs > longest ? needs : longest;
    }
    return longest + ANSWER_SLACK_MS;
}

/* What is asked of the pods, of each its own list, and of the node, all at the same time. */
struct asked {
    struct run *run;
    bool again;
    struct probe_list lists[2], node;  /* of SOURCE and TARGET */
    struct probe_results results[2];   /* theirs, */
    struct probe_results node_results; /* its own */
    unsigned source_ms;                /* when the first pod's were there */
    bool ended[2];                     /* read, or never to be */
};

static void cells_judge(struct asked *asked);

/* A flow is several questions: by TCP and UDP, and beside it what tells causes apart. */
static size_t flows_in(const struct probe_list *list, const struct diag_cells *cells) {
    const struct diag_flow *last = NULL;
    size_t count = 0;

    for (size_t i = 0; i < cells->count; i++) {
        for (size_t k = 0; k < list->count && cells->items[i].flow != last; k++) {
            if (text_equal(list->items[k].id, cells->items[i].probe.id)) {
                last = cells->items[i].flow;
                count++;
            }
        }
    }
    return count;
}

static void tell_measuring(void *context, const struct wait *wait, const struct error *) {
    const struct asked *asked = context;
    size_t flows = flows_in(&asked->lists[SOURCE], &asked->run->report->cells);
    _cleanup_(freep) char *message =
        asked->ended[SOURCE]
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

/* What has answered is judged while the rest goes on. */
static enum wait_look answer_look(void *context, struct wait *wait, struct error *err) {
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
        return LOOK_DONE;
    if (wait->waited_ms >= RED_MS && !asked->run->evidence_is_new)
        run_read_evidence(asked->run);
    (void)error_set(err, ERROR_TIMED_OUT, "after %u s", wait->limit_ms / 1000);
    return run_again(asked->run);
}

/* Asks the pods and waits; one that falls silent leaves its results empty. */
static int pods_ask(struct asked *asked, struct error *err) {
    struct run *run = asked->run;
    struct wait wait = {.look = answer_look, .tell = tell_measuring, .context = asked};
    struct error why = {0};

    for (size_t i = 0; i < 2; i++) {
        unsigned limit = time_limit(&asked->lists[i]);

        asked->ended[i] = !asked->lists[i].count;
        if (asked->ended[i])
            continue;
        wait.limit_ms = limit > wait.limit_ms ? limit : wait.limit_ms;
        run->probes.items[i].asked++;
        if (diag_probe_ask(&run->probes, i, &asked->lists[i], err) < 0)
            return -1;
    }
    if ((asked->ended[SOURCE] && asked->ended[TARGET]) || run_wait(run, wait, &why) == LOOK_DONE)
        return 0;
    if (why.kind == ERROR_INTERRUPTED)
        return error_set(err, ERROR_INTERRUPTED, "%s", why.message);
    while (!asked->ended[SOURCE] || !asked->ended[TARGET])
        tell_silent(asked, why.message);
    return 0;
}

/* ---- the node's own probes ---- */

static void node_begin(struct run *run, const struct probe_list *list) {
    if (!run->options->measure && list->count)
        run->node_work = probe_work_new(list);
}

static void node_end(struct run *run, const struct probe_list *list, struct probe_results *ret) {
    if (run->node_work)
        probe_work_end(take_ptr(run->node_work), ret);
    for (size_t i = 0; run->options->measure && i < list->count; i++) {
        struct probe_result result;

        run->options->measure(run->options->measure_context, &list->items[i], &result);
        probe_results_add(ret, &result);
    }
}

/* ---- cells ---- */

/* The Service kubernetes, of an API server that takes no connection from the node either: nobody
 * waits here for its return. */
static bool is_of_lost_api(const struct run *run, const struct diag_cell *cell) {
    return diag_look_api_is_away(run->look) && !cell->udp &&
           (cell->flow->id == FLOW_SVC_IP || cell->flow->id == FLOW_SVC_FQDN);
}

/* Between two addresses nothing is on its way for long after a start, as a load balancer is. Some
 * attempts may fail at first, and none later: what is so twice is loss, which would pass by chance
 * if it were asked often enough. */
static bool is_asked(const struct run *run, const struct diag_cell *cell, bool again) {
    bool open = !(cell->flow->is & FLOW_STRAIGHT) ||
                (cell->rounds < STRAIGHT_ROUNDS && cell->lossy < LOSSY_ROUNDS);

    return cell->asked &&
           (!again || (cell->outcome == DIAG_FAIL && !is_of_lost_api(run, cell) && open));
}

static void lists_make(struct asked *asked) {
    struct run *run = asked->run;
    bool again = asked->again;

    for (size_t i = 0; i < run->report->cells.count; i++) {
        struct diag_cell *cell = &run->report->cells.items[i];
        struct probe probe = cell->probe, back;

        cell->running = is_asked(run, cell, again);
        if (again && !cell->result.succeeded) /* loss would look like a slow start */
            probe.attempts = 1;
        if (again && cell->lossy && (cell->flow->is & FLOW_STRAIGHT))
            probe.attempts = LOSSY_ATTEMPTS;
        if (!cell->running)
            continue;
        probe_list_add(!(cell->flow->is & FLOW_FROM_NODE) ? &asked->lists[SOURCE] : &asked->node,
                       &probe);
        if (run->probes.items[TARGET].spoke && diag_cell_back(&run->scene, cell, &back)) {
            back.attempts = probe.attempts;
            probe_list_add(&asked->lists[TARGET], &back);
        }
    }
}

/* The same from the node itself. */
static void node_extra_add(struct probe_list *node, enum diag_extra_id extra,
                           const struct diag_cell *cell) {
    struct probe probe;

    if (!cell || !cell->asked)
        return;
    probe = cell->probe;
    text_format(probe.id, sizeof probe.id, "%s", diag_extras[extra].name);
    probe_list_add(node, &probe);
}

/* From the node, a connection alone. */
static void node_connect_add(const struct run *run, struct probe_list *node,
                             enum diag_extra_id extra, const char *address, unsigned port) {
    const struct diag_cell *service =
        diag_cells_find(&run->report->cells, FLOW_SVC_IP, false, false);
    struct probe probe;

    if (!address || !service || !service->asked)
        return;
    probe = service->probe;
    probe.attempts = 1;
    probe.port = port;
    text_format(probe.id, sizeof probe.id, "%s", diag_extras[extra].name);
    text_format(probe.target, sizeof probe.target, "%s", address);
    probe_list_add(node, &probe);
}

/* What the node itself reaches: the targets outside, by TCP the DNS server, too; the address that
 * the Service kubernetes leads to, and the node of a DNS pod. */
static void node_extras_add(struct run *run, struct probe_list *node) {
    enum { TCP = 6, UDP = 17, HTTPS = 443, DNS = 53, KUBELET = 10250 };
    const struct diag_cells *cells = &run->report->cells;
    const json_t *evidence = run->report->evidence;
    const struct diag_cell *dns = diag_cells_find(cells, FLOW_EXT_IP, true, false);
    const char *vip = run->scene.kubernetes_ip;

    node_extra_add(node, X_NODE_EXTERNAL, diag_cells_find(cells, FLOW_EXT_IP, false, false));
    node_extra_add(node, X_NODE_EXTERNAL_UDP, dns);
    if (dns && dns->asked)
        node_connect_add(run, node, X_NODE_DNS, dns->probe.target, dns->probe.port);
    node_extra_add(node, X_NODE_NAME, diag_cells_find(cells, FLOW_EXT_DNS, false, false));
    node_connect_add(run, node, X_NODE_API, diag_evidence_backend(evidence, vip, TCP, HTTPS),
                     diag_evidence_backend_port(evidence, vip, TCP, HTTPS));
    node_connect_add(run, node, X_NODE_PEER,
                     diag_evidence_node_address(
                         evidence, diag_evidence_backend(evidence, run->scene.dns_ip, UDP, DNS)),
                     KUBELET);
}

/* What tells causes apart is asked at once, too: a red matrix costs no second time-out. */
static void extras_add(struct run *run, struct probe_list *pod, struct probe_list *node) {
    char gateway[IP_TEXT_MAX];

    struct diag_scene scene = run->scene;
    const json_t *evidence = run->report->evidence;

    node_extras_add(run, node);
    if (!run->probes.items[SOURCE].spoke)
        return;
    (void)diag_evidence_backends(evidence, scene.dns_ip, 17, 53, scene.dns_pods, DIAG_DNS_PODS);
    scene.dns_pod_port = diag_evidence_backend_port(evidence, scene.dns_ip, 17, 53);
    if (diag_evidence_gateway(evidence, scene.dns_pods[0], gateway))
        scene.peer_ip = gateway;
    scene.api_ip = diag_evidence_backend(evidence, scene.kubernetes_ip, 6, 443);
    scene.api_port = diag_evidence_backend_port(evidence, scene.kubernetes_ip, 6, 443);
    diag_extra_probes(&scene, pod);
    run->extras_are_asked = evidence;
}

/* The result of the other direction; false: it is asked for, and not there yet. */
static bool back_is_known(const struct asked *asked, const struct diag_cell *cell,
                          const struct probe_result **ret) {
    struct probe back;

    *ret = diag_cell_back(&asked->run->scene, cell, &back)
               ? probe_results_find(&asked->results[TARGET], back.id)
               : NULL;
    return *ret || asked->ended[TARGET];
}

static void cells_judge(struct asked *asked) {
    struct diag_cells *cells = &asked->run->report->cells;
    bool any = false;

    for (size_t i = 0; i < cells->count; i++) {
        struct diag_cell *cell = &cells->items[i];
        bool of_pod = !(cell->flow->is & FLOW_FROM_NODE);
        const struct probe_result *back,
            *found = probe_results_find(of_pod ? &asked->results[SOURCE] : &asked->node_results,
                                        cell->probe.id);

        if (!cell->running || !found || !back_is_known(asked, cell, &back))
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
        probe_results_add(ret, &from->items[i]);
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

/* Asks all cells, or the red ones again. *ret has what was found beyond the cells, too. */
static int cells_ask(struct run *run, bool again, struct probe_results *ret, struct error *err) {
    struct asked asked = {.run = run, .again = again};
    int result;

    if (again && !run->report->evidence)
        run_read_evidence(run);
    run->evidence_is_new = false;
    lists_make(&asked);
    if (!again || !run->extras_are_asked)
        extras_add(run, &asked.lists[SOURCE], &asked.node);
    run_tell_cells(run, &run->report->cells);
    node_begin(run, &asked.node);
    result = pods_ask(&asked, err);
    node_end(run, &asked.node, &asked.node_results);
    if (result == 0) {
        struct diag_cells *cells = &asked.run->report->cells;

        /* What stays red counts another time, what was never asked before was not run. */
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

/* Red, and may turn green. */
static bool any_open(const struct run *run) {
    for (size_t i = 0; i < run->report->cells.count; i++)
        if (is_asked(run, &run->report->cells.items[i], true))
            return true;
    return false;
}

static enum wait_look look_later(void *context, struct wait *, struct error *) {
    return run_again(context);
}

/* *ret: of what was asked beside the cells the latest result comes first. */
static int cells_settle(struct run *run, struct probe_results *ret, struct error *err) {
    const struct wait pause = {.limit_ms = SETTLE_PAUSE_MS, .look = look_later, .context = run};
    uint64_t start = host_monotonic_ms(run->host);
    unsigned limit =
        run->options->settle_timeout_ms ? run->options->settle_timeout_ms : SETTLE_TIMEOUT_MS;

    if (run->options->look && !diag_look_is_young(run->look, host_now(run->host)))
        return 0;
    while (any_open(run) && run->probes.items[SOURCE].spoke) {
        _cleanup_(probe_results_free) struct probe_results results = {0};
        uint64_t now = host_monotonic_ms(run->host);
        bool extras = !run->extras_are_asked;

        if (now - start >= limit)
            return 0;
        run_tell(run, "some flows fail; measuring them again for up to %u s",
                 (unsigned)((limit - (now - start)) / 1000));
        if (run_wait(run, pause, err) == LOOK_FAILED || cells_ask(run, true, &results, err) < 0)
            return -1;
        if (extras) {
            results_move(ret, &results);
            *ret = take_struct(results);
        }
    }
    return 0;
}

/* ---- packets of one flow ---- */

static int ask_alone(struct run *run, const struct diag_cell *cell, struct error *err) {
    _cleanup_(probe_results_free) struct probe_results results = {0};
    struct asked asked = {.run = run, .again = true};
    struct probe probe = cell->probe;
    size_t pod = cell->one_way == DIAG_WAY_BACK && diag_cell_back(&run->scene, cell, &probe)
                     ? TARGET
                     : SOURCE;
    int result = 0;

    probe_list_add(!(cell->flow->is & FLOW_FROM_NODE) ? &asked.lists[pod] : &asked.node, &probe);
    node_begin(run, &asked.node);
    result = pods_ask(&asked, err);
    node_end(run, &asked.node, &results);
    asked_free(&asked, &results);
    return result;
}

int run_capture(struct run *run, struct error *err) {
    const struct diag_cell *cell = NULL;
    _cleanup_(freep) char *name = NULL;
    struct error why = {0};
    int asked;

    for (size_t i = 0; i < run->report->cells.count && !cell; i++)
        if (run->report->cells.items[i].outcome == DIAG_FAIL)
            cell = &run->report->cells.items[i];
    if (!run->options->capture || !cell)
        return 0;
    name = diag_cell_name(cell);
    run_tell(run, "capturing packets of %s", name);
    if (diag_capture_begin(run->host, &why) == 0) {
        asked = ask_alone(run, cell, err);
        if (diag_capture_end(run->host, cell->probe.target, &run->captured, &why) < 0)
            run_tell(run, "%s", why.message);
        if (asked < 0)
            return -1;
    }
    if (!run->captured)
        run->captured = json_pack("{s:s}", "error", why.message);
    json_object_set_new(run->captured, "flow", json_string(name));
    return host_interrupted(run->host) ? error_set(err, ERROR_INTERRUPTED, "%s", why.message) : 0;
}

int run_measure_cells(struct run *run, struct probe_results *ret, struct error *err) {
    bool young;

    if (cells_ask(run, false, ret, err) < 0)
        return -1;
    /* What was being restarted runs by now; what ran may have been restarted since. */
    young = run->look && diag_look_is_young(run->look, host_now(run->host));
    if (run->look && (diag_look_has_down(run->look) || (any_open(run) && !young)))
        diag_look_services(run->host, run->look);
    return cells_settle(run, ret, err);
}
