/* The run on the node: everything that was begun is taken back at the end, whatever happened. */
#include "diag/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "diag/causes/causes.h"
#include "diag/look.h"
#include "diag/node_echo.h"
#include "host/socket.h"
#include "host/wait.h"

enum {
    START_TIMEOUT_MS = 120000,
    SETTLE_TIMEOUT_MS = 20000,
    SETTLE_PAUSE_MS = 3000,
    TURN_MS = 200,
    LOOK_AGAIN_MS = 5000, /* at the services without which no probe pod starts; */
    LOOKS_DOWN = 3,       /* this often down is down: Windows starts a service that ended again */
    ANSWER_SLACK_MS = 10000,
};

/* The node's matrix: the first probe asks, the second one is asked. */
enum { SOURCE, TARGET };

struct run {
    struct host *host;
    const struct diag_options *options;
    struct diag_scene scene;
    struct diag_report *report;
    struct socket_echo *echo; /* the node's, NULL when it could not be opened */
    struct diag_probe_options probe_options;
    struct diag_probes probes;
    char *network_name, *network_mode; /* as the CNI configuration has them, NULL = not known */
    json_t *look;                      /* options->look, its services as they are now; or NULL */
    const char *down;                  /* the service without which no pod can start, or NULL */
    unsigned look_ms, looks_down;      /* when to look again; how often it was down in a row */
    char id[17]; /* of this run: a probe of an earlier one is not listened to */
};

static void tell_wait(const struct run *run, const struct wait *wait, const char *message) {
    if (run->options->progress)
        run->options->progress(run->options->progress_context, wait ? wait->waited_ms : 0,
                               wait ? wait_left_ms(wait) : 0, message);
}

__attribute__((format(gnu_printf, 2, 3))) static void tell(const struct run *run,
                                                           const char *format, ...) {
    struct text t = {0};
    va_list args;

    va_start(args, format);
    text_addv(&t, format, args);
    va_end(args);
    tell_wait(run, NULL, text_str(&t));
    text_free(&t);
}

/* What a look that has to come again answers; the node's echo, whose flow is timed, goes on. */
static enum wait_look again(const struct run *run) {
    if (run->echo)
        socket_echo_serve(run->echo, TURN_MS);
    return LOOK_AGAIN;
}

/* wait_until() for the looks of this file. */
static enum wait_look wait_for(struct run *run, struct wait wait, struct error *err) {
    wait.pause_ms = run->echo ? 1 : TURN_MS;
    wait.tell_context = wait.context;
    return wait_until(run->host, &wait, err);
}

/* ---- the probes ---- */

static char *waiting_of(struct run *run, size_t i) {
    return run->probes.transport->waiting(&run->probes, i);
}

static bool probe_look(struct run *run, size_t i) {
    struct diag_probe *probe = &run->probes.items[i];
    struct error ignored = {0}; /* no heartbeat yet, or one being written */

    if (run->probes.transport->look(&run->probes, i, &probe->beat, &ignored) == 0 &&
        text_equal(probe->beat.run, run->id) && probe->beat.tcp_echo && probe->beat.udp_echo &&
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

static void tell_silent(void *context, const struct wait *wait, const struct error *missing) {
    struct run *run = context;
    _cleanup_(freep) char *names = silent_names(run), *why = NULL, *message = NULL;
    size_t first = 0;

    (void)missing;
    while (run->probes.items[first].spoke)
        first++;
    why = waiting_of(run, first);
    message = xasprintf("waiting for %s to start%s%s", names, why ? ": " : "", why ? why : "");
    tell_wait(run, wait, message);
}

/* A kubelet that ended meanwhile starts no pod, however long it is waited for. */
static bool pods_cannot_start(struct run *run, const struct wait *wait) {
    if (!run->look || wait->waited_ms < run->look_ms)
        return false;
    run->look_ms = wait->waited_ms + LOOK_AGAIN_MS;
    diag_look_services(run->host, run->look);
    run->looks_down = diag_look_stops_pods(run->look) ? run->looks_down + 1 : 0;
    if (run->looks_down >= LOOKS_DOWN)
        run->down = diag_look_stops_pods(run->look);
    return run->down;
}

static enum wait_look probes_look(void *context, struct wait *wait, struct error *err) {
    struct run *run = context;
    size_t speak = 0;

    (void)err;
    for (size_t i = 0; i < run->probes.count; i++)
        speak += probe_look(run, i);
    return speak == run->probes.count || pods_cannot_start(run, wait) ? LOOK_DONE : again(run);
}

/* Waits for all heartbeats; a probe that never speaks is a result, not a failure. */
static int probes_wait(struct run *run, struct error *err) {
    unsigned limit = run->options->start_timeout_ms;
    const struct wait wait = {.limit_ms = limit ? limit : START_TIMEOUT_MS,
                              .look = probes_look,
                              .tell = tell_silent,
                              .context = run};
    _cleanup_(freep) char *names = silent_names(run);

    tell(run, "starting %s", names);
    return wait_for(run, wait, err) == LOOK_FAILED ? -1 : 0;
}

/* ---- asking ---- */

static unsigned time_limit(const struct probe_list *list) {
    unsigned total = ANSWER_SLACK_MS;

    for (size_t i = 0; i < list->count; i++) /* a name is resolved first, with a time of its own */
        total += list->items[i].timeout_ms * list->items[i].attempts * 2;
    return total;
}

struct answer {
    struct run *run;
    size_t probe;
    const struct probe_list *list;
    struct probe_results *results;
};

static void tell_measuring(void *context, const struct wait *wait, const struct error *missing) {
    const struct answer *answer = context;
    _cleanup_(freep) char *message =
        xasprintf("waiting for %s to measure %zu flows",
                  answer->run->probes.items[answer->probe].name, answer->list->count);

    (void)missing;
    tell_wait(answer->run, wait, message);
}

static enum wait_look answer_look(void *context, struct wait *wait, struct error *err) {
    const struct answer *answer = context;
    struct diag_probes *probes = &answer->run->probes;
    int read = probes->transport->read(probes, answer->probe, answer->results, err);

    if (read == 0)
        (void)error_set(err, ERROR_TIMED_OUT, "after %u s", wait->limit_ms / 1000);
    return read > 0 ? LOOK_DONE : read < 0 ? LOOK_FAILED : again(answer->run);
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
    if (wait_for(run, wait, &why) == LOOK_DONE)
        return 0;
    if (why.kind == ERROR_INTERRUPTED)
        return error_set(err, ERROR_INTERRUPTED, "%s", why.message);
    tell(run, "%s did not answer: %s", run->probes.items[i].name, why.message);
    return 0;
}

static void node_measure(const struct run *run, const struct probe *probe,
                         struct probe_result *ret) {
    if (run->options->measure)
        run->options->measure(run->options->measure_context, probe, ret);
    else
        probe_measure(probe, ret);
}

static void lists_make(const struct run *run, bool again, struct probe_list *ret) {
    for (size_t i = 0; i < run->report->cells.count; i++) {
        const struct diag_cell *cell = &run->report->cells.items[i];

        struct probe probe = cell->probe;

        if (again)
            probe.attempts = 1; /* each costs a whole time-out while nothing has changed */
        if (cell->asked && cell->flow->source == DIAG_FROM_POD &&
            (!again || cell->outcome == DIAG_FAIL))
            probe_list_add(ret, &probe);
    }
}

/* Asks all cells, or the red ones again. */
static int cells_ask(struct run *run, bool again, struct error *err) {
    _cleanup_(probe_results_free) struct probe_results results = {0};
    _cleanup_(probe_list_free) struct probe_list list = {0};

    lists_make(run, again, &list);
    if (probe_ask(run, SOURCE, &list, &results, err) < 0)
        return -1;
    for (size_t i = 0; i < run->report->cells.count; i++) {
        struct diag_cell *cell = &run->report->cells.items[i];
        const struct probe_result *found = probe_results_find(&results, cell->probe.id);
        struct probe_result measured;

        if (!cell->asked || (again && cell->outcome != DIAG_FAIL))
            continue;
        if (cell->flow->source == DIAG_FROM_NODE) {
            node_measure(run, &cell->probe, &measured);
            found = &measured;
        }
        if (found) {
            diag_cell_judge(cell, found, again);
            run->report->probes += found->attempts;
        } else if (!again) {
            cell->outcome = DIAG_NOT_RUN;
            text_format(cell->reason, sizeof cell->reason, "%s did not answer",
                        run->probes.items[SOURCE].name);
        }
    }
    return 0;
}

static bool any_red(const struct run *run) {
    for (size_t i = 0; i < run->report->cells.count; i++)
        if (run->report->cells.items[i].outcome == DIAG_FAIL)
            return true;
    return false;
}

static enum wait_look look_later(void *context, struct wait *wait, struct error *err) {
    (void)wait, (void)err;
    return again(context);
}

/* kube-proxy and DNS need a while after a start: what turns green within it is slow, not broken. */
static int cells_settle(struct run *run, struct error *err) {
    const struct wait pause = {.limit_ms = SETTLE_PAUSE_MS, .look = look_later, .context = run};
    uint64_t start = host_monotonic_ms(run->host);
    unsigned limit =
        run->options->settle_timeout_ms ? run->options->settle_timeout_ms : SETTLE_TIMEOUT_MS;

    while (any_red(run) && run->probes.items[SOURCE].spoke) {
        uint64_t now = host_monotonic_ms(run->host);

        if (now - start >= limit)
            return 0;
        tell(run, "some flows fail; measuring them again for up to %u s",
             (unsigned)((limit - (now - start)) / 1000));
        if (wait_for(run, pause, err) == LOOK_FAILED || cells_ask(run, true, err) < 0)
            return -1;
    }
    return 0;
}

/* ---- evidence ---- */

static void node_external_add(struct run *run) {
    const struct diag_cell *cell =
        diag_cells_find(&run->report->cells, "pod-to-external-ip", false);
    struct probe probe;
    struct probe_result result;

    if (!run->scene.external_ip || !*run->scene.external_ip || !cell)
        return;
    probe = cell->probe;
    if (!cell->asked) /* the pods are not there; the node can still look */
        return;
    text_format(probe.id, sizeof probe.id, "node-external");
    node_measure(run, &probe, &result);
    diag_evidence_add_extra(run->report->evidence, &result);
}

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

/* Only for red matrices: a healthy node is not read through and through. */
static int evidence_make(struct run *run, struct error *err) {
    _cleanup_(probe_results_free) struct probe_results results = {0};
    _cleanup_(probe_list_free) struct probe_list extra = {0};
    struct diag_evidence_options evidence_options;
    char external_ip[PROBE_TARGET_MAX];
    json_t *evidence;

    tell(run, "reading evidence");
    evidence_options_fill(run, external_ip, sizeof external_ip, &evidence_options);
    evidence = run->report->evidence = diag_evidence_read(run->host, &evidence_options);
    for (size_t i = 0; i < run->probes.count; i++) {
        const struct diag_probe *probe = &run->probes.items[i];
        _cleanup_(freep) char *waiting = probe->spoke ? NULL : waiting_of(run, i);

        diag_evidence_add_pod(evidence, (char)('a' + i), probe, waiting);
    }
    node_external_add(run);
    if (!run->probes.items[SOURCE].spoke)
        return 0;
    run->scene.dns_pod_ip = diag_evidence_backend(evidence, run->scene.dns_ip, 17, 53);
    diag_extra_probes(&run->scene, &extra);
    if (probe_ask(run, SOURCE, &extra, &results, err) < 0)
        return -1;
    for (size_t i = 0; i < results.count; i++)
        diag_evidence_add_extra(evidence, &results.items[i]);
    return 0;
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

        cell->asked = false;
        cell->outcome = DIAG_NOT_RUN;
        text_format(cell->reason, sizeof cell->reason, "no pod can start without %s", run->down);
    }
    return 0;
}

static int measure(struct run *run, struct error *err) {
    struct diag_report *report = run->report;
    const struct network_mode *mode;

    if (id_make(run, err) < 0 || run->probes.transport->start(&run->probes, err) < 0)
        return -1;
    run->echo = node_echo_open(run->host, &run->scene);
    if (probes_wait(run, err) < 0)
        return -1;
    if (run->down)
        return leave_out(run);
    scene_fill(run);
    diag_cells_make(&run->scene, &report->cells);
    tell(run, "measuring %zu flows", report->cells.count / 2);
    if (cells_ask(run, false, err) < 0 || cells_settle(run, err) < 0)
        return -1;
    mode = network_mode_by_name(run->network_mode);
    diag_cells_excuse(&report->cells, mode ? mode->limits : NULL);
    return diag_report_is_good(report) ? 0 : evidence_make(run, err);
}

/* What the first look saw goes with the evidence, of a healthy node too. */
static void add_look(struct run *run) {
    if (run->look && !run->report->evidence)
        run->report->evidence = json_object();
    json_object_set_new(run->report->evidence, "look", take_ptr(run->look));
}

static char *network_text(struct run *run) {
    const char *name, *mode;

    diag_network_of_cni(run->host, run->options->evidence.cni_folder, &run->network_name,
                        &run->network_mode);
    name = run->network_name ? run->network_name : run->options->evidence.network_name;
    mode = run->network_name ? run->network_mode : run->options->evidence.network_mode;
    return name ? xasprintf("%s%s%s", mode ? mode : "", mode ? " " : "", name) : xstrdup("unknown");
}

static void probes_open(struct run *run) {
    const struct diag_transport *chosen = run->options->transport;

    run->probe_options = run->options->probes;
    run->probes = (struct diag_probes){
        .transport = chosen ? chosen : diag_transport_find(DIAG_REACH_NODE),
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
    /* The report is worth more than the clean-up's own trouble: that is told, not failed on. */
    if (measured && run.probes.transport->remove(&run.probes, &ignored) < 0)
        tell(&run, "%s", ignored.message);
    free(run.probes.items);
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
