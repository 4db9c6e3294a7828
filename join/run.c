/* Checks the options, runs the phases (with an event at the start and the end of each, warnings and
 * waits between), and writes the end of a run as an Event of the Node. */
#include "join/run.h"

#include "base/log.h"
#include "join/configuration/join_configuration.h"
#include "join/configuration/join_options.h"
#include "join/discovery/discovery.h"
#include "join/found/need.h"
#include "join/kubelet/client_certificate.h"
#include "join/kubelet/kubelet_files.h"
#include "join/kubelet/patches.h"
#include "join/phases/steps.h"
#include "join/programs/programs.h"
#include "join/undo/journal.h"
#include "kube/object.h"

enum { REQUEST_MS = 3000 };

void join_tell_event(struct join *join, enum node_event event, const char *message) {
    struct error why = {0};

    if (find_node_client(join, ERROR_IGNORED) < 0)
        return;
    join->found.client.timeout_ms = REQUEST_MS;
    if (node_event_tell(&join->found.client, join->found.node_name, event, message, NULL, &why) < 0)
        log_message(LOG_RETRY, "write an event of this Node: %s", why.message);
}

/* Writes an Event on the Node after the phases of a join: that the join changed the node, or the
 * error with which it failed if the Node exists. */
static void tell_node(struct join *join, const struct error *failure) {
    const struct join_found *found = &join->found;
    _cleanup_(freep) char *message = NULL;
    bool is_news = join->changed;

    /* A join that was interrupted or waits for a restart of Windows has not failed. */
    if (failure)
        is_news = failure->kind != ERROR_INTERRUPTED && failure->kind != ERROR_RESTART &&
                  (join->was_node || found->node.name);
    if (join->phases != join_phases || !is_news)
        return;

    if (failure)
        message = xasprintf("winjoin join, phase %s: %s",
                            join->progress.phase ? join->progress.phase->id : "", failure->message);
    else
        message =
            xasprintf("winjoin joined this node: kubelet %s, network mode %s, %s",
                      found->kubelet_version ? found->kubelet_version : "of a version not known",
                      found->plan.mode ? found->plan.mode->name : "not known",
                      !found->report.cells.count            ? "pod network not tested"
                      : diag_report_is_good(&found->report) ? "pod network tested"
                                                            : "pod network with failures");
    join_tell_event(join, failure ? NODE_JOIN_FAILED : NODE_JOINED, message);
}

int join_asked_check(struct join *join, struct error *err) {
    const struct join_options *o = &join->found.options;
    struct bundle *bundle = NULL; /* The bundle stays open in the join for later phases */

    if (join_options_check(o, err) < 0)
        return -1;
    if (discovery_is_asked(join->asked)) {
        struct discovery_options discovery;

        discovery_options_make(join->asked, &discovery);
        if (discovery_check(&discovery, err) < 0 ||
            discovery_check_file(&discovery, join->host, err) < 0)
            return -1;
    }
    if (find_patches(join, err) < 0)
        return -1;
    return o->bundle ? programs_bundle(join, &bundle, err) : 0;
}

/* Chooses the node's name: from kubeletExtraArgs, nodeRegistration.name, the name with which this
 * node joined, or the host name in lower case (kubeadm: GetNodeName). */
static int choose_node_name(struct join *join, struct error *err) {
    static const char override[] = "hostname-override=";
    const struct text_list *arguments = &join->found.options.kubelet_extra_args;
    _cleanup_(freep) char *joined = client_certificate_node(join->host), *near = NULL;
    const char *given = join->found.options.node_name;

    /* The kubelet uses the last of equal arguments. */
    for (size_t i = 0; i < arguments->count; i++)
        if (text_starts_with(arguments->items[i], override))
            given = arguments->items[i] + strlen(override);
    join->found.node_name = join_node_name_read(given    ? given
                                                : joined ? joined
                                                         : join->found.facts.host_name);
    if (kube_name_is_valid(join->found.node_name))
        return 0;

    near = join_node_name_near(join->found.node_name);
    if (!given && !joined && !text_list_has(&join->skipped, "preflight")) {
        join->found.odd_host_name = true;
        text_set(&join->found.node_name, near ? take_ptr(near) : xstrdup("unnamed"));
        return 0;
    }
    (void)error_set(err, ERROR_USAGE, "--node-name \"%.80s\": " JOIN_NODE_NAME_RULE,
                    join->found.node_name);
    return near ? error_hint(err, "a name like that: %s", near) : -1;
}

int join_open(struct join *join, struct error *err) {
    if (!join->phases)
        join->phases = join_phases;
    while (join->phases[join->phase_count].id)
        join->phase_count++;
    join->progress.results = xcalloc(join->phase_count, sizeof *join->progress.results);
    join->progress.started_ms = host_monotonic_ms(join->host);
    if (phase_names_skipped(&join->asked->skip_phases, &join->skipped, err) < 0)
        return error_prefix(err, "--skip-phases");
    if (find_options(join, err) < 0)
        return -1;
    join->was_node = host_file_type(join->host, KUBELET_KUBECONFIG_FILE) != HOST_ABSENT;
    join->watch = (struct service_watch){.host = join->host, .progress = &join->progress};
    /* If this fails, the phase that needs it asks again. */
    (void)find_containerd(join->host, &join->found, ERROR_IGNORED);
    if (host_facts(join->host, &join->found.facts, err) < 0 || choose_node_name(join, err) < 0 ||
        join_asked_check(join, err) < 0)
        return -1;
    return journal_open(join->host, WINJOIN_FOLDER, &join->journal, err);
}

void join_close(struct join *join) {
    struct join_found *found = &join->found;

    for (size_t i = 0; join->progress.results && i < join->phase_count; i++) {
        free(join->progress.results[i].detail);
        json_decref(join->progress.results[i].data);
    }
    free(join->progress.results);
    images_end(join);
    journal_close(&join->journal);
    journal_close(&join->joining);

    join_options_free(&found->options);
    patches_free(&found->patches);
    free(found->node_name);
    discovery_result_free(&found->discovery);
    kube_client_close(&found->client);
    cluster_config_free(&found->cluster);
    json_decref(found->kubelet_config);
    kubelet_changes_free(&found->kubelet_changes);
    text_list_free(&found->kubelet_arguments);
    text_list_free(&found->service_proxy);
    containerd_settings_free(&found->containerd);
    bundle_freep(&found->bundle);
    artifacts_free(&found->known);
    free(found->kubelet_version);
    free(found->kube_proxy_version);
    nic_snapshot_free(&found->nic);
    kube_node_free(&found->node);
    network_plan_free(&found->plan);
    json_decref(found->peers);
    json_decref(found->look);
    diag_report_free(&found->report);

    text_list_free(&join->progress.next);
    text_list_free(&join->skipped);
    text_list_free(&join->progress.warnings);
    text_free(&join->progress.detail);
    text_free(&join->progress.waiting);
    json_decref(join->progress.data);
    json_decref(join->kept);
}

/* Replaces the message of an interruption by one that names what winjoin was waiting for, because
 * the called functions only report that they were interrupted. */
static void say_interrupted(const struct join_progress *progress, struct error *err) {
    const char *waiting = text_str(&progress->waiting);

    if (text_starts_with(waiting, "waiting "))
        waiting += strlen("waiting ");
    if (*waiting)
        (void)error_set(err, ERROR_INTERRUPTED, "interrupted while waiting%s %s",
                        text_starts_with(waiting, "for ") ? "" : ":", waiting);
    else if (!strstr(err->message, "interrupted"))
        (void)error_prefix(err, "interrupted");
}

static int run_phase(struct join *join, size_t index, struct error *err) {
    const struct join_phase *phase = &join->phases[index];
    struct join_phase_result *result = &join->progress.results[index];
    uint64_t begin = host_monotonic_ms(join->host);
    size_t recorded = join->journal.count;
    unsigned changes = host_changes(join->host);
    int outcome;

    join->progress.phase = phase;
    join->journal.phase = phase->id;
    text_clear(&join->progress.detail);
    text_clear(&join->progress.waiting);
    json_decref(join->progress.data);
    join->progress.data = NULL;
    join_tell(&join->progress, (struct join_event){.state = JOIN_BEGIN});
    if (!phase->read_only && phase->run != phase_verify)
        written_options(&join->journal, join->kept);
    /* Preflight has a check of its own for an odd host name. */
    if (join->found.odd_host_name && phase->run != phase_preflight)
        outcome = error_set(err, ERROR_USAGE,
                            "the host name \"%.80s\" cannot be a node's: give one with --node-name",
                            join->found.facts.host_name);
    else
        outcome = host_interrupted(join->host) ? error_set(err, ERROR_INTERRUPTED, "interrupted")
                  : join_need(join, phase->needs, err) < 0 ? -1
                  : phase->run(join, err) < 0              ? -1
                  : images_go_on(join, 0, err) < 0         ? -1
                                                           : written_save(&join->journal, err);
    /* The time limit is the reason, whatever the phase reported. */
    if (outcome < 0 && host_deadline_passed(join->host))
        (void)error_set(err, ERROR_TIMED_OUT, "the join took longer than %lld s (--join-timeout)",
                        join->found.options.join_timeout / 1000);
    else if (outcome < 0 && err && err->kind == ERROR_INTERRUPTED)
        say_interrupted(&join->progress, err);
    /* The diagnosis removes everything that it creates, so it counts as no change. */
    result->changed = phase->run != phase_verify &&
                      (host_changes(join->host) != changes || join->journal.count != recorded);
    join->changed |= result->changed;
    json_decref(result->data);
    result->data = take_ptr(join->progress.data);
    result->duration_ms = (unsigned)(host_monotonic_ms(join->host) - begin);
    result->outcome = outcome < 0 ? JOIN_PHASE_FAILED : JOIN_PHASE_DONE;
    free(result->detail);
    result->detail =
        join_shown(outcome < 0 && err ? err->message : text_str(&join->progress.detail));
    join_tell(&join->progress, (struct join_event){.state = outcome < 0 ? JOIN_FAILED : JOIN_DONE,
                                                   .message = result->detail,
                                                   .duration_ms = result->duration_ms,
                                                   .kind = err ? err->kind : ERROR_NONE});
    log_message(LOG_INFO, "phase %s: %s (%u ms)", phase->id, result->detail, result->duration_ms);
    return outcome;
}

int join_run_phases(struct join *join, bool read_only, struct error *err) {
    const struct join_phase *phases = join->phases;

    for (size_t i = 0; i < join->phase_count && !join->finished; i++) {
        if (read_only && !phases[i].read_only)
            return 0;
        if (text_list_has(&join->skipped, phases[i].id)) {
            join->progress.phase = &join->phases[i];
            join->progress.results[i].outcome = JOIN_PHASE_SKIPPED;
            join_tell(&join->progress,
                      (struct join_event){.state = JOIN_SKIPPED, .message = "--skip-phases"});
        } else if (run_phase(join, i, err) < 0) {
            return -1;
        }
    }
    /* The images are waited for here when the phase that does this was skipped. */
    return images_await(join, err);
}

/* ---- the end of a failed join ---- */

static void on_entry(void *context, const char *what, const char *how, const struct error *why) {
    struct join *join = context;

    if (why)
        join_warn(&join->progress, "undo %s: %s", what, why->message);
    else
        join_tell_waiting(&join->progress, 0, 0, "", "undo: %s %s", what, how);
}

static void on_begin(void *context, const char *what) {
    struct join *join = context;

    join_tell_waiting(&join->progress, 0, 0, "", "undo: %s", what);
}

/* Ends a join that failed with *err. With --on-failure rollback, undoes the journal
 * (join/undo/reset.h), unless the join was interrupted, waits for a restart of Windows, or the
 * machine was a node before. The kind of the error stays. A hint says what is left, how to continue
 * and how to undo it. */
static void end_failed(struct join *join, struct error *err) {
    const struct reset_options options = {.joining = join->journal.prepared,
                                          .progress = on_entry,
                                          .begins = on_begin,
                                          .progress_context = join};
    struct error why = {0};
    size_t services = 0, networks = 0, count;

    host_set_deadline(join->host, 0);
    if (join->journal.count && text_equal(join->found.options.on_failure, "rollback") &&
        !join->was_node && err->kind != ERROR_INTERRUPTED && err->kind != ERROR_RESTART) {
        join->rolled_back = true;
        journal_close(&join->journal);
        journal_close(&join->joining);
        if (reset_run(join->host, &options, &join->undone, &why) < 0 && !join->undone.failed++)
            join_warn(&join->progress, "undo: %s", why.message);
        /* Read the journal again, because it still has what could not be undone. */
        if (journal_open(join->host, WINJOIN_FOLDER, &join->journal, &why) < 0)
            join->journal = (struct journal){.host = join->host, .folder = WINJOIN_FOLDER};
    }
    count = join->journal.count;
    for (size_t i = 0; i < count; i++) {
        enum journal_kind kind = join->journal.entries[i].kind;

        services += kind == JOURNAL_SERVICE;
        networks += kind == JOURNAL_NETWORK || kind == JOURNAL_SWITCH;
    }
    if (join->rolled_back && !join->undone.failed)
        (void)error_hint(err,
                         "everything was undone%s (--on-failure rollback): %zu removed, %zu "
                         "restored; a Node object that was made stays: kubectl delete node %s",
                         count ? " but the preparation" : "", join->undone.removed,
                         join->undone.restored, join->found.node_name);
    else if (join->rolled_back)
        (void)error_hint(err, "%zu change%s could not be undone: run winjoin reset",
                         join->undone.failed, PLURAL(join->undone.failed));
    else if (count)
        (void)error_hint(err,
                         "kept on this machine: %zu change%s (%zu service%s, %zu network%s); the "
                         "same command continues at %s; to undo them: winjoin reset",
                         count, PLURAL(count), services, PLURAL(services), networks,
                         PLURAL(networks),
                         join->progress.phase ? join->progress.phase->title : "the beginning");
    else if (!join->changed)
        (void)error_hint(err, "nothing on this machine was changed");
}

/* Notes that the node was joined with the options of this run. */
static int note_completed(struct join *join, struct error *err) {
    if (join->completes)
        written_options_completed(&join->journal);
    return written_save(&join->journal, err);
}

int join_run(struct join *join, struct error *err) {
    long long limit = join->found.options.join_timeout;
    int result = 0;

    host_set_deadline(join->host, limit ? host_monotonic_ms(join->host) + (uint64_t)limit : 0);
    /* On a prepared server, a join has its own journal, so that a failed join returns to the
     * prepared state. */
    if (join->phases == join_phases && !join->was_node && !join->upgrade &&
        host_file_type(join->host, PREPARED_FILE) != HOST_ABSENT)
        result = journal_open_joining(&join->journal, &join->joining, err);
    if (result == 0)
        result = join_run_phases(join, false, err);
    if (result == 0)
        result = note_completed(join, err);
    else if (!join->upgrade && join->progress.phase && join->progress.phase->run == phase_verify)
        /* The node is joined, even if flows fail. */
        (void)note_completed(join, ERROR_IGNORED);
    host_set_deadline(join->host, 0);
    images_end(join);
    tell_node(join, result < 0 ? err : NULL);
    /* The bootstrap file may also be from a killed run. */
    kubelet_bootstrap_end(&join->journal, &join->progress);
    if (result < 0)
        (join->failed ? join->failed : end_failed)(join, err);
    else if (join->phases == join_phases &&
             host_file_type(join->host, JOINING_FOLDER) != HOST_ABSENT)
        (void)host_remove_tree(join->host, JOINING_FOLDER, NULL);
    return result;
}

int join_run_phase(struct join *join, const char *name, struct error *err) {
    _cleanup_(text_list_free) struct text_list ids = {0};

    if (phase_names_resolve(name, &ids, err) < 0)
        return -1;
    for (size_t i = 0; i < join->phase_count; i++)
        if (text_list_has(&ids, join->phases[i].id) && run_phase(join, i, err) < 0)
            return -1;
    return images_await(join, err) < 0 ? -1 : note_completed(join, err);
}

json_t *join_result_json(const struct join *join) {
    static const char *const outcomes[] = {"not-run", "done", "skipped", "failed"};
    json_t *rows = json_array(), *result;
    bool failed = false;

    for (size_t i = 0; i < join->phase_count; i++) {
        const struct join_phase_result *r = &join->progress.results[i];

        failed |= r->outcome == JOIN_PHASE_FAILED;

        json_array_append_new(
            rows, json_pack("{s:s, s:s, s:b, s:f, s:s*, s:O*}", "id", join->phases[i].id, "outcome",
                            outcomes[r->outcome], "changed", r->changed, "durationSeconds",
                            r->duration_ms / 1000.0, "detail",
                            r->detail && *r->detail ? r->detail : NULL, "data", r->data));
    }
    result = json_pack("{s:s, s:s, s:s, s:b, s:o, s:o, s:o}", JSON_DOCUMENT("JoinResult"), "node",
                       join->found.node_name, "changed",
                       join->changed && !(join->rolled_back && !join->undone.failed), "phases",
                       rows, "warnings", json_texts(&join->progress.warnings), "next",
                       json_texts(&join->progress.next));
    if (join->found.discovery.kubeconfig && join->found.discovery.config.server)
        json_object_set_new(result, "cluster", json_string(join->found.discovery.config.server));
    if (failed)
        json_object_set_new(result, "rollback",
                            json_pack("{s:s, s:I, s:I, s:I}", "outcome",
                                      !join->rolled_back    ? "kept"
                                      : join->undone.failed ? "failed"
                                                            : "done",
                                      "changes", (json_int_t)join->journal.count, "restored",
                                      (json_int_t)join->undone.restored, "removed",
                                      (json_int_t)join->undone.removed));
    if (join->found.report.cells.count)
        json_object_set_new(result, "flows", diag_flows_json(&join->found.report));
    return result;
}
