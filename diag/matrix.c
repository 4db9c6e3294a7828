/* The matrix is measured: what is asked of whom, all at the same time, and again while something
 * may still turn green. */
#include "base/memory.h"
#include "diag/capture.h"
#include "diag/drift.h"
#include "diag/look.h"
#include "diag/running.h"
#include "services/service_table.h"

enum {
    SETTLE_TIMEOUT_MS = 20000,
    SETTLE_PAUSE_MS = 1000,
    RED_MS = 250, /* what works has answered by then; the evidence is read while the rest goes on */
    ANSWER_SLACK_MS = 10000,
    CLUSTER_MS = 1000, /* for each of the three requests */
    STRAIGHT_ROUNDS = 3,
    LOSSY_ROUNDS = 2,
    LOSSY_ATTEMPTS = 6, /* of half the packets, one in 64 times all arrive */
};

/* ---- evidence ---- */

static void set_if_unknown(const char **text, const char *value) {
    if (!*text)
        *text = value;
}

/* What the caller did not say of the evidence follows from the scene. */
static void evidence_options_fill(const struct run *run, char *external_ip, size_t size,
                                  struct diag_evidence_options *ret) {
    const struct diag_cell *external =
        diag_cells_find(&run->report->cells, "pod-to-external-ip", false);

    *ret = run->options->evidence;
    if (run->network_name) {
        ret->network_name = run->network_name;
        ret->network_mode = run->network_mode;
    }
    text_format(external_ip, size, "%s", external && external->asked ? external->probe.target : "");
    set_if_unknown(&ret->external_ip, external_ip);
    set_if_unknown(&ret->namespace_, run->scene.namespace_);
    set_if_unknown(&ret->dns_ip, run->scene.dns_ip);
    set_if_unknown(&ret->dns_domain, run->scene.dns_domain);
    set_if_unknown(&ret->kubernetes_ip, run->scene.kubernetes_ip);
}

/* Only what winjoin's kube-proxy programs can be judged. */
static bool runs_our_kube_proxy(const json_t *look) {
    json_each(json_object_get(look, "services"), i, status) {
        if (text_equal(json_text_at(status, "name"), service_kube_proxy.name))
            return text_equal(json_text_at(status, "state"), "running") &&
                   json_bool_at(status, "winjoin", false);
    }
    return false;
}

/* What Kubernetes says, once. While a start is young, what HNS lacks may be on its way: then it
 * matters only when something fails. */
static void cluster_ask(struct run *run) {
    struct kube_client client;

    if (run->cluster || !run->options->probes.client || !runs_our_kube_proxy(run->look) ||
        (!run->up && diag_look_is_young(run->look, host_now(run->host))))
        return;
    client = *run->options->probes.client; /* the same texts, without its patience */
    client.patience_ms = 0;
    client.timeout_ms = CLUSTER_MS;
    run->cluster = drift_ask(&client, run->options->probes.node_name);
}

void run_read_evidence(struct run *run) {
    _cleanup_(text_list_free) struct text_list probes = {0};
    struct diag_evidence_options options;
    char external_ip[PROBE_TARGET_MAX];

    cluster_ask(run);
    evidence_options_fill(run, external_ip, sizeof external_ip, &options);
    options.cluster = run->cluster;
    for (size_t i = 0; i < run->probes.count; i++)
        if (run->probes.items[i].spoke)
            text_list_add(&probes, probe_heartbeat_address(&run->probes.items[i].beat));
    options.probes = &probes;
    json_decref(run->report->evidence);
    run->report->evidence = diag_evidence_read(run->host, &options);
    run->evidence_is_new = true;
}

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

struct answer {
    struct run *run;
    size_t probe;
    const struct probe_list *list;
    struct probe_results *results;
};

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

static void tell_measuring(void *context, const struct wait *wait, const struct error *missing) {
    const struct answer *answer = context;
    size_t flows = flows_in(answer->list, &answer->run->report->cells);
    _cleanup_(freep) char *message =
        xasprintf("waiting for %s to measure %zu flow%s",
                  answer->run->probes.items[answer->probe].name, flows, PLURAL(flows));

    (void)missing;
    run_tell_wait(answer->run, wait, message);
}

static enum wait_look answer_look(void *context, struct wait *wait, struct error *err) {
    const struct answer *answer = context;
    struct diag_probes *probes = &answer->run->probes;
    int read = probes->transport->read(probes, answer->probe, answer->results, err);

    if (read == 0 && wait->waited_ms >= RED_MS && !answer->run->evidence_is_new)
        run_read_evidence(answer->run);
    if (read == 0)
        (void)error_set(err, ERROR_TIMED_OUT, "after %u s", wait->limit_ms / 1000);
    return read > 0 ? LOOK_DONE : read < 0 ? LOOK_FAILED : run_again(answer->run);
}

/* Asks a probe and waits; one that falls silent leaves `ret` empty. */
static int probe_ask(struct run *run, size_t i, const struct probe_list *list,
                     struct probe_results *ret, struct error *err) {
    struct answer answer = {run, i, list, ret};
    const struct wait wait = {.limit_ms = time_limit(list),
                              .look = answer_look,
                              .tell = tell_measuring,
                              .context = &answer};
    struct error why = {0};

    if (!list->count)
        return 0;
    run->probes.items[i].asked++;
    if (run->probes.transport->ask(&run->probes, i, list, err) < 0)
        return -1;
    if (run_wait(run, wait, &why) == LOOK_DONE)
        return 0;
    if (why.kind == ERROR_INTERRUPTED)
        return error_set(err, ERROR_INTERRUPTED, "%s", why.message);
    run_tell(run, "%s did not answer: %s", run->probes.items[i].name, why.message);
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

/* Neither the DNS nor a load balancer is in between, whose start makes some attempts fail. */
static bool is_straight(const struct diag_flow *flow) {
    return !flow->extra && (!*flow->by || text_equal(flow->by, "IP"));
}

/* The Service kubernetes, of an API server that takes no connection from the node either: nobody
 * waits here for its return. */
static bool is_of_lost_api(const struct run *run, const struct diag_cell *cell) {
    return diag_look_api_is_away(run->look) && !cell->udp &&
           (text_equal(cell->flow->id, "pod-to-service-ip") ||
            text_equal(cell->flow->id, "pod-to-service-fqdn"));
}

/* Between two addresses nothing is on its way for long after a start. Some attempts may fail at
 * first, and none later: what is so twice is loss, which would pass by chance if it were asked
 * often enough. */
static bool is_asked(const struct run *run, const struct diag_cell *cell, bool again) {
    bool open =
        !is_straight(cell->flow) || (cell->rounds < STRAIGHT_ROUNDS && cell->lossy < LOSSY_ROUNDS);

    return cell->asked &&
           (!again || (cell->outcome == DIAG_FAIL && !is_of_lost_api(run, cell) && open));
}

static void lists_make(const struct run *run, bool again, struct probe_list *ret_pod,
                       struct probe_list *ret_node) {
    for (size_t i = 0; i < run->report->cells.count; i++) {
        const struct diag_cell *cell = &run->report->cells.items[i];
        struct probe probe = cell->probe;

        if (again && !cell->result.succeeded) /* loss would look like a slow start */
            probe.attempts = 1;
        if (again && cell->lossy && is_straight(cell->flow))
            probe.attempts = LOSSY_ATTEMPTS;
        if (is_asked(run, cell, again))
            probe_list_add(cell->flow->source == DIAG_FROM_POD ? ret_pod : ret_node, &probe);
    }
}

/* The same from the node itself. */
static void node_extra_add(struct probe_list *node, const char *id, const struct diag_cell *cell) {
    struct probe probe;

    if (!cell || !cell->asked)
        return;
    probe = cell->probe;
    text_format(probe.id, sizeof probe.id, "%s", id);
    probe_list_add(node, &probe);
}

/* From the node, a connection alone. */
static void node_connect_add(const struct run *run, struct probe_list *node, const char *id,
                             const char *address, unsigned port) {
    const struct diag_cell *service =
        diag_cells_find(&run->report->cells, "pod-to-service-ip", false);
    struct probe probe;

    if (!address || !service || !service->asked)
        return;
    probe = service->probe;
    probe.attempts = 1;
    probe.port = port;
    text_format(probe.id, sizeof probe.id, "%s", id);
    text_format(probe.target, sizeof probe.target, "%s", address);
    probe_list_add(node, &probe);
}

/* What the node itself reaches: the targets outside, the address that the Service kubernetes leads
 * to, and the node of a DNS pod. */
static void node_extras_add(struct run *run, struct probe_list *node) {
    enum { TCP = 6, UDP = 17, HTTPS = 443, DNS = 53, KUBELET = 10250 };
    const struct diag_cells *cells = &run->report->cells;
    const json_t *evidence = run->report->evidence;
    const char *vip = run->scene.kubernetes_ip;

    node_extra_add(node, "node-external", diag_cells_find(cells, "pod-to-external-ip", false));
    node_extra_add(node, "node-external-udp", diag_cells_find(cells, "pod-to-external-ip", true));
    node_extra_add(node, "x-node-name", diag_cells_find(cells, "pod-to-external-dns", false));
    node_connect_add(run, node, "x-node-api", diag_evidence_backend(evidence, vip, TCP, HTTPS),
                     diag_evidence_backend_port(evidence, vip, TCP, HTTPS));
    node_connect_add(run, node, "x-node-peer",
                     diag_evidence_node_address(
                         evidence, diag_evidence_backend(evidence, run->scene.dns_ip, UDP, DNS)),
                     KUBELET);
}

/* What tells causes apart is asked at once, too: a red matrix costs no second time-out. */
static void extras_add(struct run *run, struct probe_list *pod, struct probe_list *node) {
    char gateway[IP_TEXT_MAX];

    node_extras_add(run, node);
    if (!run->probes.items[SOURCE].spoke)
        return;
    run->scene.dns_pod_ip = diag_evidence_backend(run->report->evidence, run->scene.dns_ip, 17, 53);
    run->scene.dns_pod_port =
        diag_evidence_backend_port(run->report->evidence, run->scene.dns_ip, 17, 53);
    if (diag_evidence_gateway(run->report->evidence, run->scene.dns_pod_ip, gateway))
        run->scene.peer_ip = gateway;
    run->scene.api_ip =
        diag_evidence_backend(run->report->evidence, run->scene.kubernetes_ip, 6, 443);
    diag_extra_probes(&run->scene, pod);
    run->scene.dns_pod_ip = run->scene.peer_ip = run->scene.api_ip = NULL;
}

static void cells_judge(struct run *run, bool again, const struct probe_results *results) {
    for (size_t i = 0; i < run->report->cells.count; i++) {
        struct diag_cell *cell = &run->report->cells.items[i];
        const struct probe_result *found = probe_results_find(results, cell->probe.id);

        if (!is_asked(run, cell, again))
            continue;
        cell->rounds++;
        if (found) {
            diag_cell_judge(cell, found, again);
            cell->lossy += found->succeeded && found->succeeded < found->attempts;
            run->report->probes += found->attempts;
        } else if (!again) {
            cell->outcome = DIAG_NOT_RUN;
            text_format(cell->reason, sizeof cell->reason, "%s did not answer",
                        run->probes.items[SOURCE].name);
        }
    }
}

/* Asks all cells, or the red ones again. *ret has what was found beyond the cells, too. */
static int cells_ask(struct run *run, bool again, struct probe_results *ret, struct error *err) {
    _cleanup_(probe_list_free) struct probe_list pod = {0}, node = {0};
    int asked;

    run->evidence_is_new = false;
    lists_make(run, again, &pod, &node);
    if (!again)
        extras_add(run, &pod, &node);
    node_begin(run, &node);
    asked = probe_ask(run, SOURCE, &pod, ret, err);
    node_end(run, &node, ret);
    if (asked == 0)
        cells_judge(run, again, ret);
    return asked;
}

/* Red, and may turn green. */
static bool any_open(const struct run *run) {
    for (size_t i = 0; i < run->report->cells.count; i++)
        if (is_asked(run, &run->report->cells.items[i], true))
            return true;
    return false;
}

static enum wait_look look_later(void *context, struct wait *wait, struct error *err) {
    (void)wait, (void)err;
    return run_again(context);
}

static int cells_settle(struct run *run, struct error *err) {
    const struct wait pause = {.limit_ms = SETTLE_PAUSE_MS, .look = look_later, .context = run};
    uint64_t start = host_monotonic_ms(run->host);
    unsigned limit =
        run->options->settle_timeout_ms ? run->options->settle_timeout_ms : SETTLE_TIMEOUT_MS;

    if (run->options->look && !diag_look_is_young(run->look, host_now(run->host)))
        return 0;
    while (any_open(run) && run->probes.items[SOURCE].spoke) {
        _cleanup_(probe_results_free) struct probe_results results = {0};
        uint64_t now = host_monotonic_ms(run->host);

        if (now - start >= limit)
            return 0;
        run_tell(run, "some flows fail; measuring them again for up to %u s",
                 (unsigned)((limit - (now - start)) / 1000));
        if (run_wait(run, pause, err) == LOOK_FAILED || cells_ask(run, true, &results, err) < 0)
            return -1;
    }
    return 0;
}

/* ---- packets of one flow ---- */

static int ask_alone(struct run *run, const struct diag_cell *cell, struct error *err) {
    _cleanup_(probe_results_free) struct probe_results results = {0};
    _cleanup_(probe_list_free) struct probe_list list = {0};
    int asked = 0;

    probe_list_add(&list, &cell->probe);
    if (cell->flow->source == DIAG_FROM_POD) {
        asked = probe_ask(run, SOURCE, &list, &results, err);
    } else {
        node_begin(run, &list);
        node_end(run, &list, &results);
    }
    return asked;
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

/* A service that was being restarted runs by now; one that ran may have been restarted since. */
static void look_again(struct run *run) {
    bool young = run->look && diag_look_is_young(run->look, host_now(run->host));

    if (run->look && (diag_look_has_down(run->look) || (any_open(run) && !young)))
        diag_look_services(run->host, run->look);
}

int run_measure_cells(struct run *run, struct probe_results *ret, struct error *err) {
    if (cells_ask(run, false, ret, err) < 0)
        return -1;
    look_again(run);
    return cells_settle(run, err);
}
