/* Runs a diagnosis on the node. In the end it always removes everything that it started. */
#include "diag/run.h"

#include <stdatomic.h>
#include <stdio.h>

#include "diag/causes/causes.h"
#include "diag/drift/drift.h"
#include "diag/first_look.h"
#include "diag/run_state.h"
#include "host/socket.h"

/* ---- the node's own UDP echo, which pods ask while diag runs, and its firewall rule ---- */

#define NODE_ECHO "winjoin-node"
#define FIREWALL_RULE "winjoin-diag-udp-in"
enum {
    /* This port differs from that of the pods, because the latter may be forwarded. */
    NODE_PORT = 18081,
    TURN_MS = 20,
};

struct node_echo {
    struct socket_echo *echo;
    atomic_bool stop, ended;
};

static void serve(void *context) {
    struct node_echo *node = context;

    while (!atomic_load(&node->stop))
        socket_echo_serve(node->echo, TURN_MS);
    atomic_store(&node->ended, true);
}

/* Opens the echo listener and fills node_echo of the input. It runs on its own thread, so that pods
 * get answers in time whatever else is done. Returns NULL when the node has no address, or the port
 * is in use; the flow is then skipped with a code. */
static struct node_echo *node_echo_open(struct host *host, struct diag_flow_input *input) {
    const struct host_firewall_rule rule = {
        .name = FIREWALL_RULE,
        .description = "winjoin diag: UDP from pods to the node, while diag runs",
        .udp = true,
        .port = NODE_PORT,
    };
    struct node_echo *node;
    struct socket_echo *echo;

    if (!input->node_ip || !*input->node_ip || socket_start() < 0)
        return NULL;
    echo = socket_echo_open("", 0, NODE_PORT, NODE_ECHO " ");
    if (!echo)
        return NULL;
    node = xcalloc(1, sizeof *node);
    node->echo = echo;
    atomic_init(&node->stop, false);
    atomic_init(&node->ended, false);
    if (socket_thread(serve, node, 0) < 0) {
        socket_echo_close(echo);
        free(node);
        return NULL;
    }
    /* If the rule cannot be set, the cell fails, which is then the true state of this firewall. */
    (void)host_firewall_put(host, &rule, ERROR_IGNORED);
    input->node_echo = NODE_ECHO;
    input->node_echo_port = NODE_PORT;
    return node;
}

/* Closes the echo listener and removes its firewall rule. */
static void node_echo_close(struct host *host, struct node_echo *node) {
    if (!node)
        return;
    atomic_store(&node->stop, true);
    while (!atomic_load(&node->ended))
        socket_sleep(1);
    socket_echo_close(node->echo);
    free(node);
    /* A rule that cannot be removed does no harm, since its port is closed again, and the next run
     * sets it again. Without a firewall there is no rule. */
    (void)host_firewall_remove(host, FIREWALL_RULE, ERROR_IGNORED);
}

/* ---- wait for the probes, unless no pod will start ---- */

enum {
    START_TIMEOUT_MS = 120000,
    /* The pause between two checks of what keeps the probe pods from starting. */
    LOOK_AGAIN_MS = 3000,
    /* A service counts as down after this many checks in a row, because Windows restarts a service
     * that ended. */
    LOOKS_DOWN = 4,
    /* No pod will start after this many checks in a row that found a cause that stops pods. */
    LOOKS_STOPPED = 3,
    /* No pod will start after this many checks without an answer of the kubelet or containerd,
     * which may only be slow. */
    LOOKS_SILENT = 10,
};

/* What is known while the probes are waited for. */
struct waiting {
    struct diag_run *run;
    /* When to check again, in milliseconds of waiting, and how often in a row a service was
     * down. */
    unsigned look_ms, down;
    unsigned stopped; /* How often in a row a cause was seen that stops pods. */
    unsigned silent;  /* How often a service was known to be silent. */
};

/* Returns the names of the probes that are not ready yet, "a and b"; free() it. */
static char *silent_names(const struct diag_run *run) {
    struct text t = {0};

    for (size_t i = 0; i < run->probes.count; i++)
        if (!run->probes.items[i].spoke)
            text_addf(&t, "%s%s", t.len ? " and " : "", run->probes.items[i].name);
    return text_take(&t);
}

static void tell_silent(void *context, const struct wait *wait, const struct error *) {
    struct diag_run *run = ((struct waiting *)context)->run;
    _cleanup_(freep) char *names = silent_names(run), *why = NULL, *message = NULL;
    size_t first = 0;

    while (run->probes.items[first].spoke)
        first++;
    why = diag_probe_waiting(&run->probes, first);
    message = xasprintf("waiting for %s to start%s%s", names, why ? ": " : "", why ? why : "");
    run_tell_wait(run, wait, message);
}

/* Adds each probe to the evidence, as pods.a and pods.b: the content of its heartbeat when it has
 * started, else what it waits for ("ErrImagePull: ..."). */
static void run_add_pods(struct diag_run *run) {
    static const char *const keys[] = {"a", "b"};

    for (size_t i = 0; i < run->probes.count && i < ARRAY_SIZE(keys); i++) {
        const struct diag_probe *probe = &run->probes.items[i];
        const char *address = probe_heartbeat_address(&probe->beat, false);
        _cleanup_(freep) char *waiting = probe->spoke ? NULL : diag_probe_waiting(&run->probes, i);
        json_t *pod = json_pack("{s:s}", "name", probe->name);

        if (probe->spoke) {
            json_object_set_new(pod, "hostName", json_string(probe->beat.host_name));
            json_object_set_new(pod, "echo", json_true());
            json_set_text(pod, "ip", address);
        }
        if (probe->beats && !address)
            json_object_set_new(pod, "noAddress", json_true());
        json_set_text(pod, "waiting", waiting);
        if (waiting && probe->failures)
            json_object_set_new(pod, "failures", json_integer(probe->failures));
        json_object_set_new(json_object_in(run->report->evidence, "pods"), keys[i], pod);
    }
}

/* Waits until all probes are ready, or until no pod can start: the kubelet ended meanwhile, or
 * finds no image or no network. */
static enum wait_poll poll_probes(void *context, struct wait *wait, struct error *) {
    struct waiting *w = context;
    struct diag_run *run = w->run;
    size_t speak = 0;

    for (size_t i = 0; i < run->probes.count; i++) {
        struct diag_probe *probe = &run->probes.items[i];

        /* The heartbeat may be missing, half written, or of another run. */
        probe->beats = diag_probe_heartbeat(&run->probes, i, &probe->beat, ERROR_IGNORED) == 0 &&
                       text_equal(probe->beat.run, run->id);
        if (probe->beats && probe->beat.tcp_echo && probe->beat.udp_echo &&
            probe_heartbeat_address(&probe->beat, false))
            probe->spoke = true;
        speak += probe->spoke;
    }
    if (speak == run->probes.count)
        return POLL_DONE;

    if (!run->look || wait->waited_ms < w->look_ms)
        return run_again(run);
    w->look_ms = wait->waited_ms + LOOK_AGAIN_MS;
    diag_look_services(run->host, run->look);
    w->down = diag_look_stops_pods(run->look) ? w->down + 1 : 0;
    if (w->down >= LOOKS_DOWN)
        run->down = diag_look_stops_pods(run->look);
    if (run->down)
        return POLL_DONE;
    if (diag_look_is_young(run->look, host_now(run->host)))
        return run_again(run); /* A service that was just started may still change that. */
    run_read_evidence(run);
    run_add_pods(run);
    w->stopped = diag_causes_stop_pods(run->report) ? w->stopped + 1 : 0;
    w->silent += json_object_get(run->look, "silent") != NULL;
    return w->stopped >= LOOKS_STOPPED || w->silent >= LOOKS_SILENT ? POLL_DONE : run_again(run);
}

/* Starts the probes and the node's echo listener, and waits until all probes are ready, or until
 * it is known that they will not be. A probe that never gets ready is a result and no failure.
 * Sets run->down when a service is down. Fails as diag_probes_start(), or with
 * ERROR_INTERRUPTED. */
static int probes_start(struct diag_run *run, struct error *err) {
    struct waiting waiting = {.run = run, .look_ms = LOOK_AGAIN_MS};
    unsigned limit = run->options->start_timeout_ms;
    const struct wait wait = {.limit_ms = limit ? limit : START_TIMEOUT_MS,
                              .poll = poll_probes,
                              .tell = tell_silent,
                              .context = &waiting};
    _cleanup_(freep) char *names = NULL;
    struct diag_cells cells;
    unsigned char random[8];

    if (host_random(run->host, random, sizeof random, err) < 0)
        return -1;
    for (size_t i = 0; i < sizeof random; i++)
        snprintf(run->id + 2 * i, 3, "%02x", random[i]);
    run->probe_options.run = run->id;
    if (diag_probes_start(&run->probes, err) < 0)
        return -1;
    run->echo = node_echo_open(run->host, &run->flow_input);
    /* The input already shows which cells there will be, so they are shown now. */
    diag_cells_make(&run->flow_input, &cells);
    run_tell_cells(run, &cells);
    diag_cells_free(&cells);

    names = silent_names(run);
    run_tell(run, "starting %s", names);
    /* The evidence is read while the pods start. Right after a start of the services it is read
     * only when something fails, so that a join in a large cluster lists no Nodes. */
    if (!diag_look_is_young(run->look, host_now(run->host)))
        run_read_evidence(run);
    return run_wait(run, wait, err) == POLL_FAILED ? -1 : 0;
}

/* ---- the evidence ---- */

/* Says whether HNS lacks something that Kubernetes has, or has something of no owner. A difference
 * must be there again after both were read a second time. */
static bool differs(struct diag_run *run) {
    for (int times = 0; times < 2; times++) {
        const json_t *drift = json_object_get(run->report->evidence, "kubernetes");
        _cleanup_(freep) char *left = drift_left_over(drift);

        if (!left && !json_object_get(drift, "servicesWithoutLoadBalancer") &&
            !json_object_get(drift, "podsWithoutEndpoint") &&
            !json_object_get(drift, "kubeProxyPods"))
            return false;
        if (times == 0) {
            drift_cluster_free(&run->cluster);
            run_read_evidence(run);
        }
    }
    return true;
}

/* Completes the evidence, or drops it when the node is healthy. */
static void evidence_finish(struct diag_run *run, const struct probe_results *asked) {
    /* Pairs of a small and a large message, of which only the large one may be lost: questions to
     * the DNS, and pages of it. */
    static const enum diag_extra_id sizes[][2] = {{X_DNS_TCP, X_SIZE_DNS_2000},
                                                  {X_PAGE_SMALL, X_PAGE_LARGE}};
    const struct diag_cells *cells = &run->report->cells;
    json_t *evidence;
    /* Something by TCP took so long that packets were sent again. Neither `loses` nor `late` makes
     * a flow fail. */
    bool loses = false, late = false;

    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
        const struct probe_result *small = probe_results_find(asked, diag_extras[sizes[i][0]].name),
                                  *large = probe_results_find(asked, diag_extras[sizes[i][1]].name);

        loses |= small && small->outcome == PROBE_OK && large && !large->succeeded;
    }
    for (size_t i = 0; i < cells->count; i++)
        late |= cells->items[i].outcome == DIAG_SLOW;
    for (size_t i = 0; i < asked->count; i++)
        late |= asked->items[i].median_us >= DIAG_SENT_AGAIN_US;
    if (diag_report_is_good(run->report) && !differs(run) && !loses && !late) {
        json_decref(take_ptr(run->report->evidence));
        return;
    }
    if (!run->evidence_is_new)
        run_read_evidence(run);
    evidence = run->report->evidence;
    run_add_pods(run);
    for (size_t i = 0; i < asked->count; i++) {
        const struct probe_result *result = &asked->items[i];

        /* Ids of cells have a dot. Of an extra question that was asked again, the latest result
         * comes first. */
        if (!strchr(result->id, '.') && probe_results_find(asked, result->id) == result)
            diag_evidence_add_extra(evidence, result);
    }
}

/* ---- the whole run ---- */

static int measure(struct diag_run *run, struct error *err) {
    _cleanup_(probe_results_free) struct probe_results results = {0};
    struct diag_cells *cells = &run->report->cells;
    const struct diag_probe *source, *target;
    const struct network_mode *mode;

    if (!run->down && probes_start(run, err) < 0)
        return -1;
    if (run->down) { /* If no pod can start, nothing is waited for. */
        json_decref(take_ptr(run->report->evidence));
        diag_cells_make(&run->flow_input, cells);
        for (size_t i = 0; i < cells->count; i++) {
            struct diag_cell *cell = &cells->items[i];

            cell->outcome = DIAG_NOT_RUN;
            text_format(cell->reason, sizeof cell->reason, "no pod can start without %s",
                        run->down);
        }
        return 0;
    }
    run->up = true;
    run->up_ms = host_monotonic_ms(run->host);
    source = &run->probes.items[SOURCE];
    target = &run->probes.items[TARGET];
    run->flow_input.source = source->name;
    run->flow_input.target = target->name;
    run->flow_input.source_ip =
        source->spoke ? probe_heartbeat_address(&source->beat, false) : NULL;
    run->flow_input.target_ip =
        target->spoke ? probe_heartbeat_address(&target->beat, false) : NULL;
    run->flow_input.source_ip6 =
        source->spoke ? probe_heartbeat_address(&source->beat, true) : NULL;
    run->flow_input.target_ip6 =
        target->spoke ? probe_heartbeat_address(&target->beat, true) : NULL;
    run->flow_input.namespace_ = DIAG_PROBES_NAMESPACE;
    diag_cells_make(&run->flow_input, cells);
    run_tell(run, "measuring %zu flows", cells->count / 2);
    if (run_measure_cells(run, &results, err) < 0 || run_capture(run, err) < 0)
        return -1;
    mode = network_mode_by_name(run->network_mode);
    diag_cells_excuse(cells, mode ? mode->limits : NULL);
    evidence_finish(run, &results);
    if (run->captured)
        json_object_set_new(run->report->evidence, "capture", take_ptr(run->captured));
    return 0;
}

int diag_run(struct host *host, const struct diag_options *options, struct diag_report *ret,
             struct error *err) {
    _cleanup_(diag_report_free) struct diag_report report = {0};
    struct diag_run run = {.host = host,
                           .options = options,
                           .flow_input = options->flow_input,
                           .report = &report,
                           .look = json_deep_copy(options->look),
                           .down = diag_look_stops_pods(options->look)};
    uint64_t start = host_monotonic_ms(host);
    const char *network = options->evidence.network_name, *mode = options->evidence.network_mode;
    bool measured = !run.down;
    uint64_t before;
    struct error ignored = {0};
    int result;

    run.probe_options = options->probes;
    run.probes = (struct diag_probes){.host = host, .options = &run.probe_options};
    report.time = host_now(host);
    report.node = xstrdup_null(options->flow_input.node_name);
    /* The CNI configuration has priority over what the caller passes. */
    before = host_set_limit(host, DIAG_EVIDENCE_MS);
    diag_network_of_cni(host, &run.network_name, &run.network_mode);
    host_set_deadline(host, before);
    if (run.network_name) {
        network = run.network_name;
        mode = run.network_mode;
    }
    report.network = network ? xasprintf("%s%s%s", mode ? mode : "", mode ? " " : "", network)
                             : xstrdup("unknown");
    result = measure(&run, err);
    node_echo_close(host, run.echo);
    /* The first look is part of the evidence, even for a healthy node. */
    if (run.look && !run.report->evidence)
        run.report->evidence = json_object();
    json_object_set_new(run.report->evidence, "look", take_ptr(run.look));
    diag_causes_find(&report);
    if (run.up)
        report.measured_ms = (unsigned)(host_monotonic_ms(host) - run.up_ms);
    /* A failure to remove the probes is only a warning, because the report is worth more. */
    if (measured && diag_probes_remove(&run.probes, &ignored) < 0)
        run_tell(&run, "%s", ignored.message);
    free(run.probes.items);
    drift_cluster_free(&run.cluster);
    json_decref(run.captured);
    free(run.network_name);
    free(run.network_mode);
    if (result < 0)
        return -1;
    report.milliseconds = (unsigned)(host_monotonic_ms(host) - start);
    *ret = take_struct(report);
    return 0;
}

int diag_remove_left(struct host *host, struct error *err) {
    struct diag_probes probes = {.host = host, .options = &(struct diag_probe_options){0}};

    (void)host_firewall_remove(host, FIREWALL_RULE, ERROR_IGNORED);
    return diag_probes_remove(&probes, err);
}
