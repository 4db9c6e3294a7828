/* Reports to the caller of a running diagnosis, waits, and reads what needs no pods. */
#include "diag/run_state.h"

#include "diag/drift/drift.h"
#include "diag/first_look.h"
#include "services/service_status.h"

enum {
    CLUSTER_MS = 1000, /* The time-out of each of the three requests. */
    TURN_MS = 20,
};

void run_tell_wait(const struct diag_run *run, const struct wait *wait, const char *message) {
    if (run->options->progress)
        run->options->progress(run->options->progress_context, wait ? wait->waited_ms : 0,
                               wait ? wait_left_ms(wait) : 0, message);
}

void run_tell(const struct diag_run *run, const char *format, ...) {
    struct text t = {0};
    va_list args;

    va_start(args, format);
    text_addv(&t, format, args);
    va_end(args);
    run_tell_wait(run, NULL, text_str(&t));
    text_free(&t);
}

void run_tell_cells(const struct diag_run *run, const struct diag_cells *cells) {
    if (run->options->cells)
        run->options->cells(run->options->progress_context, cells, run->up);
}

enum wait_poll run_again(const struct diag_run *run) {
    if (run->node_work)
        (void)probe_work_step(run->node_work);
    return POLL_AGAIN;
}

enum wait_poll run_wait(struct diag_run *run, struct wait wait, struct error *err) {
    wait.pause_ms = TURN_MS;
    wait.tell_context = wait.context;
    return wait_until(run->host, &wait, err);
}

/* ---- read the evidence, which needs no pods ---- */

void run_read_evidence(struct diag_run *run) {
    const struct diag_cell *external =
        diag_cells_find(&run->report->cells, FLOW_EXT_IP, false, false);
    char external_ip[PROBE_TARGET_MAX];
    _cleanup_(text_list_free) struct text_list probes = {0};
    struct diag_evidence_options options = run->options->evidence;
    /* Options of the evidence that the caller left out are taken from the input. */
    const struct {
        const char **text, *value;
    } known[] = {
        {&options.external_ip, external_ip},
        {&options.namespace_, run->flow_input.namespace_},
        {&options.dns_ip, run->flow_input.dns_ip},
        {&options.dns_domain, run->flow_input.dns_domain},
        {&options.kubernetes_ip, run->flow_input.kubernetes_ip},
    };
    struct kube_client client;

    /* The cluster is read once, and only if winjoin's kube-proxy runs, since only its load
     * balancers can be judged. Shortly after a start, kube-proxy may still be adding what HNS
     * lacks: then the cluster is read only when something fails. */
    if (!run->cluster.unread && run->options->probes.client &&
        service_status_runs(json_object_get(run->look, "services"), service_kube_proxy.name) &&
        (run->up || !diag_look_is_young(run->look, host_now(run->host)))) {
        /* A copy of the client that borrows the same texts and does not retry. */
        client = *run->options->probes.client;
        client.patience_ms = 0;
        client.timeout_ms = CLUSTER_MS;
        drift_ask(&client, run->options->probes.node_name, NULL, &run->cluster);
    }

    if (run->network_name) {
        options.network_name = run->network_name;
        options.network_mode = run->network_mode;
    }
    text_format(external_ip, sizeof external_ip, "%s",
                external && external->asked ? external->probe.target : "");
    for (size_t i = 0; i < ARRAY_SIZE(known); i++)
        if (!*known[i].text)
            *known[i].text = known[i].value;
    options.cluster = run->cluster.unread ? &run->cluster : NULL;
    for (size_t i = 0; i < run->probes.count; i++)
        if (run->probes.items[i].spoke)
            text_list_add(&probes, probe_heartbeat_address(&run->probes.items[i].beat, false));
    options.probes = &probes;
    json_decref(run->report->evidence);
    run->report->evidence = diag_evidence_read(run->host, &options);
    run->evidence_is_new = true;
}
