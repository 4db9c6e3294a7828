/* The probes are waited for, unless no pod will start. */
#include "diag/causes/causes.h"
#include "diag/look.h"
#include "diag/running.h"

enum {
    START_TIMEOUT_MS = 120000,
    LOOK_AGAIN_MS = 3000, /* at what keeps probe pods from starting; */
    LOOKS_DOWN = 4,       /* this often down is down: Windows starts a service that ended again; */
    LOOKS_STOPPED = 3,    /* and after so many looks no pod will start, */
    LOOKS_SILENT = 10,    /* or of a kubelet or containerd that did not answer: it may be slow */
};

/* What is known while they are waited for. */
struct waiting {
    struct run *run;
    unsigned look_ms, down; /* when to look again; how often a service was down in a row, */
    unsigned stopped;       /* how often in a row a cause was seen that stops pods, */
    unsigned silent;        /* and how often while a service was known to be silent */
};

static bool probe_look(struct run *run, size_t i) {
    struct diag_probe *probe = &run->probes.items[i];

    probe->beats =
        diag_probe_look(&run->probes, i, &probe->beat, ERROR_IGNORED) == 0 &&
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
    struct run *run = ((struct waiting *)context)->run;
    _cleanup_(freep) char *names = silent_names(run), *why = NULL, *message = NULL;
    size_t first = 0;

    while (run->probes.items[first].spoke)
        first++;
    why = diag_probe_waiting(&run->probes, first);
    message = xasprintf("waiting for %s to start%s%s", names, why ? ": " : "", why ? why : "");
    run_tell_wait(run, wait, message);
}

void run_add_pods(struct run *run) {
    for (size_t i = 0; i < run->probes.count; i++) {
        const struct diag_probe *probe = &run->probes.items[i];
        _cleanup_(freep) char *waiting = probe->spoke ? NULL : diag_probe_waiting(&run->probes, i);

        diag_evidence_add_pod(run->report->evidence, (char)('a' + i), probe, waiting);
    }
}

/* What has just been started may still turn it. */
static bool cause_stands(struct waiting *w) {
    struct run *run = w->run;

    if (diag_look_is_young(run->look, host_now(run->host)))
        return false;
    run_read_evidence(run);
    run_add_pods(run);
    w->stopped = diag_causes_stop_pods(run->report) ? w->stopped + 1 : 0;
    w->silent += diag_look_is_silent(run->look);
    return w->stopped >= LOOKS_STOPPED || w->silent >= LOOKS_SILENT;
}

/* A kubelet that ended meanwhile starts no pod, however long it is waited for; nor does one that
 * finds no image or no network. */
static bool pods_cannot_start(struct waiting *w, const struct wait *wait) {
    struct run *run = w->run;

    if (!run->look || wait->waited_ms < w->look_ms)
        return false;
    w->look_ms = wait->waited_ms + LOOK_AGAIN_MS;
    diag_look_services(run->host, run->look);
    w->down = diag_look_stops_pods(run->look) ? w->down + 1 : 0;
    if (w->down >= LOOKS_DOWN)
        run->down = diag_look_stops_pods(run->look);
    return run->down || cause_stands(w);
}

static enum wait_look probes_look(void *context, struct wait *wait, struct error *) {
    struct waiting *w = context;
    struct run *run = w->run;
    size_t speak = 0;

    for (size_t i = 0; i < run->probes.count; i++)
        speak += probe_look(run, i);
    return speak == run->probes.count || pods_cannot_start(w, wait) ? LOOK_DONE : run_again(run);
}

int run_wait_probes(struct run *run, struct error *err) {
    struct waiting waiting = {.run = run, .look_ms = LOOK_AGAIN_MS};
    unsigned limit = run->options->start_timeout_ms;
    const struct wait wait = {.limit_ms = limit ? limit : START_TIMEOUT_MS,
                              .look = probes_look,
                              .tell = tell_silent,
                              .context = &waiting};
    _cleanup_(freep) char *names = silent_names(run);

    run_tell(run, "starting %s", names);
    run_read_evidence(run); /* meanwhile */
    return run_wait(run, wait, err) == LOOK_FAILED ? -1 : 0;
}
