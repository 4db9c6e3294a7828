/* The run on the node: everything that was begun is taken back at the end, whatever happened. */
#include "diag/run.h"

#include <stdio.h>

#include "diag/causes/causes.h"
#include "diag/drift/drift.h"
#include "diag/look.h"
#include "diag/node_echo.h"
#include "diag/running.h"
#include "services/service_status.h"

enum {
    START_TIMEOUT_MS = 120000,
    CLUSTER_MS = 1000, /* for each of the three requests */
    TURN_MS = 20,
    LOOK_AGAIN_MS = 3000, /* at what keeps probe pods from starting; */
    LOOKS_DOWN = 4,       /* this often down is down: Windows starts a service that ended again; */
    LOOKS_STOPPED = 3,    /* and after so many looks no pod will start, */
    LOOKS_SILENT = 10,    /* or of a kubelet or containerd that did not answer: it may be slow */
};

void run_tell_wait(const struct run *run, const struct wait *wait, const char *message) {
    if (run->options->progress)
        run->options->progress(run->options->progress_context, wait ? wait->waited_ms : 0,
                               wait ? wait_left_ms(wait) : 0, message);
}

void run_tell(const struct run *run, const char *format, ...) {
    struct text t = {0};
    va_list args;

    va_start(args, format);
    text_addv(&t, format, args);
    va_end(args);
    run_tell_wait(run, NULL, text_str(&t));
    text_free(&t);
}

void run_tell_cells(const struct run *run, const struct diag_cells *cells) {
    if (run->options->cells)
        run->options->cells(run->options->progress_context, cells, run->up);
}

enum wait_look run_again(const struct run *run) {
    if (run->node_work)
        (void)probe_work_step(run->node_work);
    return LOOK_AGAIN;
}

enum wait_look run_wait(struct run *run, struct wait wait, struct error *err) {
    wait.pause_ms = TURN_MS;
    wait.tell_context = wait.context;
    return wait_until(run->host, &wait, err);
}

/* ---- what can be read without the pods ---- */

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

/* What Kubernetes says, once; only what winjoin's kube-proxy programs can be judged. While a start
 * is young, what HNS lacks may be on its way: then it matters only when something fails. */
static void cluster_ask(struct run *run) {
    struct kube_client client;

    if (run->cluster || !run->options->probes.client ||
        !service_status_runs(json_object_get(run->look, "services"), service_kube_proxy.name) ||
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

/* ---- the probes ---- */

static char *waiting_of(struct run *run, size_t i) {
    return run->probes.transport->waiting(&run->probes, i);
}

static bool probe_look(struct run *run, size_t i) {
    struct diag_probe *probe = &run->probes.items[i];

    probe->beats =
        run->probes.transport->look(&run->probes, i, &probe->beat, ERROR_IGNORED) == 0 &&
        text_equal(probe->beat.run, run->id); /* no heartbeat yet, or one being written */
    if (probe->beats && probe->beat.tcp_echo && probe->beat.udp_echo &&
        probe_heartbeat_address(&probe->beat))
        probe->spoke = true;
    return probe->spoke;
}

/* The names of the probes that have not spoken: "a and b"; the caller frees. */
static char *silent_names(const struct run *run) {
    struct text t = {0};

    for (size_t i = 0; i < run->probes.count; i++)
        if (!run->probes.items[i].spoke)
            text_addf(&t, "%s%s", t.len ? " and " : "", run->probes.items[i].name);
    return text_take(&t);
}

static void tell_silent(void *context, const struct wait *wait, const struct error *) {
    struct run *run = context;
    _cleanup_(freep) char *names = silent_names(run), *why = NULL, *message = NULL;
    size_t first = 0;

    while (run->probes.items[first].spoke)
        first++;
    why = waiting_of(run, first);
    message = xasprintf("waiting for %s to start%s%s", names, why ? ": " : "", why ? why : "");
    run_tell_wait(run, wait, message);
}

static void pods_add(struct run *run) {
    for (size_t i = 0; i < run->probes.count; i++) {
        const struct diag_probe *probe = &run->probes.items[i];
        _cleanup_(freep) char *waiting = probe->spoke ? NULL : waiting_of(run, i);

        diag_evidence_add_pod(run->report->evidence, (char)('a' + i), probe, waiting);
    }
}

/* What has just been started may still turn it. */
static bool cause_stands(struct run *run) {
    if (diag_look_is_young(run->look, host_now(run->host)))
        return false;
    run_read_evidence(run);
    pods_add(run);
    run->looks_stopped = diag_causes_stop_pods(run->report) ? run->looks_stopped + 1 : 0;
    run->looks_silent += diag_look_is_silent(run->look);
    return run->looks_stopped >= LOOKS_STOPPED || run->looks_silent >= LOOKS_SILENT;
}

/* A kubelet that ended meanwhile starts no pod, however long it is waited for; nor does one that
 * finds no image or no network. */
static bool pods_cannot_start(struct run *run, const struct wait *wait) {
    if (!run->look || wait->waited_ms < run->look_ms)
        return false;
    run->look_ms = wait->waited_ms + LOOK_AGAIN_MS;
    diag_look_services(run->host, run->look);
    run->looks_down = diag_look_stops_pods(run->look) ? run->looks_down + 1 : 0;
    if (run->looks_down >= LOOKS_DOWN)
        run->down = diag_look_stops_pods(run->look);
    return run->down || cause_stands(run);
}

static enum wait_look probes_look(void *context, struct wait *wait, struct error *) {
    struct run *run = context;
    size_t speak = 0;

    for (size_t i = 0; i < run->probes.count; i++)
        speak += probe_look(run, i);
    return speak == run->probes.count || pods_cannot_start(run, wait) ? LOOK_DONE : run_again(run);
}

/* Waits for all heartbeats; a probe that never speaks is a result, not a failure. */
static int probes_wait(struct run *run, struct error *err) {
    unsigned limit = run->options->start_timeout_ms;
    const struct wait wait = {.limit_ms = limit ? limit : START_TIMEOUT_MS,
                              .look = probes_look,
                              .tell = tell_silent,
                              .context = run};
    _cleanup_(freep) char *names = silent_names(run);

    run_tell(run, "starting %s", names);
    return run_wait(run, wait, err) == LOOK_FAILED ? -1 : 0;
}

/* ---- progress ---- */

/* HNS lacks what Kubernetes says, or has what it knows nothing of, and so it is when both are asked
 * again. */
static bool differs(struct run *run) {
    for (int times = 0; times < 2; times++) {
        const json_t *drift = json_object_get(run->report->evidence, "kubernetes");
        _cleanup_(freep) char *left = drift_left_over(drift);

        if (!left && !json_object_get(drift, "servicesWithoutLoadBalancer") &&
            !json_object_get(drift, "podsWithoutEndpoint") &&
            !json_object_get(drift, "kubeProxyPods"))
            return false;
        if (times == 0) {
            json_decref(take_ptr(run->cluster));
            run_read_evidence(run);
        }
    }
    return true;
}

/* The large one is lost, the small one is not. */
static bool loses(const struct probe_results *asked, const char *small, const char *large) {
    const struct probe_result *one = probe_results_find(asked, small),
                              *other = probe_results_find(asked, large);

    return one && one->outcome == PROBE_OK && other && !other->succeeded;
}

/* Questions to the DNS, or its answers. */
static bool loses_large(const struct probe_results *asked) {
    return loses(asked, "x-dns-tcp", "x-size-dns-2000") ||
           loses(asked, "x-page-small", "x-page-large");
}

/* By TCP, that is sent again; neither flow fails then. */
static bool is_late(const struct run *run, const struct probe_results *asked) {
    for (size_t i = 0; i < run->report->cells.count; i++)
        if (run->report->cells.items[i].outcome == DIAG_SLOW)
            return true;
    for (size_t i = 0; i < asked->count; i++)
        if (asked->items[i].median_us >= DIAG_SENT_AGAIN_US)
            return true;
    return false;
}

/* A healthy node's report has no evidence. */
static void evidence_finish(struct run *run, const struct probe_results *asked) {
    json_t *evidence;

    if (diag_report_is_good(run->report) && !differs(run) && !loses_large(asked) &&
        !is_late(run, asked)) {
        json_decref(take_ptr(run->report->evidence));
        return;
    }
    if (!run->evidence_is_new)
        run_read_evidence(run);
    evidence = run->report->evidence;
    pods_add(run);
    for (size_t i = 0; i < asked->count; i++)
        if (text_starts_with(asked->items[i].id, "x-") ||
            text_starts_with(asked->items[i].id, "node-external"))
            diag_evidence_add_extra(evidence, &asked->items[i]);
}

/* ---- the whole ---- */

static void scene_fill(struct run *run) {
    const struct diag_probe *source = &run->probes.items[SOURCE];
    const struct diag_probe *target = &run->probes.items[TARGET];

    run->scene.source = source->name;
    run->scene.target = target->name;
    run->scene.source_ip = source->spoke ? probe_heartbeat_address(&source->beat) : NULL;
    run->scene.target_ip = target->spoke ? probe_heartbeat_address(&target->beat) : NULL;
    run->scene.source_ip6 = source->spoke ? probe_heartbeat_address6(&source->beat) : NULL;
    run->scene.target_ip6 = target->spoke ? probe_heartbeat_address6(&target->beat) : NULL;
    run->scene.namespace_ = run->probes.transport->namespace_;
}

static int id_make(struct run *run, struct error *err) {
    unsigned char random[8];

    if (host_random(run->host, random, sizeof random, err) < 0)
        return -1;
    for (size_t i = 0; i < sizeof random; i++)
        snprintf(run->id + 2 * i, 3, "%02x", random[i]);
    run->probe_options.run = run->id;
    return 0;
}

/* What no pod can measure is not waited for. */
static int leave_out(struct run *run) {
    struct diag_cells *cells = &run->report->cells;

    diag_cells_make(&run->scene, cells);
    for (size_t i = 0; i < cells->count; i++) {
        struct diag_cell *cell = &cells->items[i];

        cell->outcome = DIAG_NOT_RUN;
        text_format(cell->reason, sizeof cell->reason, "no pod can start without %s", run->down);
    }
    return 0;
}

/* Which there will be is known from the scene. */
static void tell_waiting_cells(const struct run *run) {
    struct diag_cells cells;

    diag_cells_make(&run->scene, &cells);
    run_tell_cells(run, &cells);
    diag_cells_free(&cells);
}

static int measure(struct run *run, struct error *err) {
    _cleanup_(probe_results_free) struct probe_results results = {0};
    struct diag_report *report = run->report;
    const struct network_mode *mode;

    if (id_make(run, err) < 0 || run->probes.transport->start(&run->probes, err) < 0)
        return -1;
    run->echo = node_echo_open(run->host, &run->scene);
    tell_waiting_cells(run);
    run_read_evidence(run); /* while the pods start */
    if (probes_wait(run, err) < 0)
        return -1;
    if (run->down) {
        json_decref(take_ptr(run->report->evidence));
        return leave_out(run);
    }
    run->up = true;
    run->up_ms = host_monotonic_ms(run->host);
    scene_fill(run);
    diag_cells_make(&run->scene, &report->cells);
    run_tell(run, "measuring %zu flows", report->cells.count / 2);
    if (run_measure_cells(run, &results, err) < 0 || run_capture(run, err) < 0)
        return -1;
    mode = network_mode_by_name(run->network_mode);
    diag_cells_excuse(&report->cells, mode ? mode->limits : NULL);
    evidence_finish(run, &results);
    if (run->captured)
        json_object_set_new(report->evidence, "capture", take_ptr(run->captured));
    return 0;
}

/* What the first look saw goes with the evidence, of a healthy node too. */
static void add_look(struct run *run) {
    if (run->look && !run->report->evidence)
        run->report->evidence = json_object();
    json_object_set_new(run->report->evidence, "look", take_ptr(run->look));
}

static char *network_text(struct run *run) {
    const char *name, *mode;
    uint64_t before = host_set_limit(run->host, DIAG_EVIDENCE_MS);

    diag_network_of_cni(run->host, run->options->evidence.cni_folder, &run->network_name,
                        &run->network_mode);
    host_set_deadline(run->host, before);
    name = run->network_name ? run->network_name : run->options->evidence.network_name;
    mode = run->network_name ? run->network_mode : run->options->evidence.network_mode;
    return name ? xasprintf("%s%s%s", mode ? mode : "", mode ? " " : "", name) : xstrdup("unknown");
}

static void probes_open(struct run *run) {
    const struct diag_transport *chosen = run->options->transport;

    run->probe_options = run->options->probes;
    run->probes = (struct diag_probes){
        .transport = chosen ? chosen : &diag_static_pods,
        .host = run->host,
        .options = &run->probe_options,
    };
}

int diag_run(struct host *host, const struct diag_options *options, struct diag_report *ret,
             struct error *err) {
    _cleanup_(diag_report_free) struct diag_report report = {0};
    struct run run = {.host = host,
                      .options = options,
                      .scene = options->scene,
                      .report = &report,
                      .look = json_deep_copy(options->look),
                      .look_ms = LOOK_AGAIN_MS,
                      .down = diag_look_stops_pods(options->look)};
    uint64_t start = host_monotonic_ms(host);
    bool measured = !run.down;
    struct error ignored = {0};
    int result;

    probes_open(&run);
    report.time = host_now(host);
    report.node = xstrdup_null(options->scene.node_name);
    report.network = network_text(&run);
    result = measured ? measure(&run, err) : leave_out(&run);
    node_echo_close(host, run.echo);
    add_look(&run);
    diag_causes_find(&report);
    if (run.up)
        report.measured_ms = (unsigned)(host_monotonic_ms(host) - run.up_ms);
    /* The report is worth more than a failed clean-up: that is a warning, not a failure. */
    if (measured && run.probes.transport->remove(&run.probes, &ignored) < 0)
        run_tell(&run, "%s", ignored.message);
    free(run.probes.items);
    json_decref(run.cluster);
    json_decref(run.captured);
    free(run.network_name);
    free(run.network_mode);
    if (result < 0)
        return -1;
    report.milliseconds = (unsigned)(host_monotonic_ms(host) - start);
    *ret = report;
    report = (struct diag_report){0};
    return 0;
}

int diag_remove_left(struct host *host, struct error *err) {
    const struct diag_options options = {0};
    struct run run = {.host = host, .options = &options};

    node_echo_forget(host);
    probes_open(&run);
    return run.probes.transport->remove(&run.probes, err);
}
