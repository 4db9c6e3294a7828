/* winjoin reset: undoes the journal from the last entry to the first, until the host is in its
 * original state. */
#include "join/undo/reset.h"

#include "diag/network_report.h"
#include "diag/run.h"
#include "host/wait.h"
#include "join/kubelet/kubelet_files.h"
#include "join/undo/journal.h"
#include "netsetup/agents/daemon_set_agent.h"
#include "netsetup/routes/routes.h"
#include "node/chosen.h"
#include "node/keeper/network_keeper.h"
#include "services/cri.h"
#include "services/service_table.h"

enum { EVERY_KIND = -1 };

/* Removes the routes that winjoin-network has written since the join, according to the plan that
 * the join stored. Does nothing for a plan without a mode, because then no plan was stored. */
static int remove_routes(struct host *host, const struct chosen *chosen,
                         const struct network_plan *plan, struct error *err) {
    _cleanup_json_ json_t *routes = plan->mode ? chosen_routes_ever(host, chosen) : NULL;

    return plan->mode ? node_routes_remove(host, plan, routes, err) : 0;
}

static void tell(const struct reset_options *options, const char *what, const char *how,
                 const struct error *why) {
    if (options->progress)
        options->progress(options->progress_context, what, how, why);
}

static void count_failure(struct reset_result *ret, const struct error *why, struct error *err) {
    if (ret->failed++ == 0)
        *err = *why;
}

/* ---- the node's Pods, which are removed before their network and programs ---- */

/* A runtime that is busy with the kubelet's last requests refuses for a moment, so removals are
 * retried; kubeadm tries five times. */
enum { BUSY_MS = 5000, TRY_AGAIN_MS = 500, CONFIG_MAX = 1024 * 1024 };

struct removal {
    struct host *host;
    const char *pipe;
    const struct cri_pod *pod;
};

static enum wait_poll poll_removal(void *context, struct wait *, struct error *err) {
    const struct removal *r = context;

    if (cri_pod_remove(r->host, r->pipe, r->pod, err) == 0)
        return POLL_DONE;
    return err->kind == ERROR_TIMED_OUT || err->kind == ERROR_INTERRUPTED ? POLL_FAILED
                                                                          : POLL_AGAIN;
}

/* Makes the container runtime remove every Pod that the kubelet made (as kubeadm reset does), if
 * the kubelet is winjoin's and the runtime answers. Their containers keep programs and folders
 * open, and only the runtime knows their networks. The kubelet must be stopped. A Pod that cannot
 * be removed is reported and counted in ret->failed, the first one is *err, and the others are
 * still removed. A dry run only lists the Pods. */
static void end_pods(const struct journal *journal, const struct reset_options *options,
                     struct reset_result *ret, struct error *err) {
    struct host *host = journal->host;
    _cleanup_(freep) char *pipe = NULL, *text = NULL;
    _cleanup_(yaml_forget) struct yaml yaml = {0};
    _cleanup_(cri_pods_free) struct cri_pods pods = {0};
    const char *socket = NULL;
    struct error why = {0};
    size_t len;

    if (!journal_find(journal, JOURNAL_SERVICE, service_kubelet.name))
        return;
    /* The runtime's pipe is the one in the kubelet's configuration, if an administrator made that
     * file and the pipe is on this machine. Otherwise it is winjoin's default. */
    if (host_refuse_untrusted(host, KUBELET_CONFIG_FILE, ERROR_IGNORED) == 0 &&
        host_read(host, KUBELET_CONFIG_FILE, CONFIG_MAX, &text, &len, ERROR_IGNORED) == 0 &&
        yaml_read(text, len, KUBELET_CONFIG_FILE, &yaml, ERROR_IGNORED) == 0)
        socket = json_text_at(yaml.documents, "0.containerRuntimeEndpoint");
    pipe = cri_pipe_path(socket && cri_socket_is_local(socket) ? socket : KUBELET_CRI_SOCKET);
    if (cri_pods(host, pipe, CRI_LIST_MS, &pods, &why) < 0) {
        /* No runtime is running, so it cannot be asked. */
        if (why.kind == ERROR_ABSENT)
            return;
        tell(options, "pods", "", &why);
        count_failure(ret, &why, err);
    }
    for (size_t i = 0; i < pods.count; i++) {
        _cleanup_(freep) char *what = xasprintf("pod %s", pods.items[i].name);
        struct removal removal = {host, pipe, &pods.items[i]};
        struct wait wait = {.limit_ms = BUSY_MS,
                            .pause_ms = TRY_AGAIN_MS,
                            .poll = poll_removal,
                            .context = &removal};
        struct error stays = {0};

        if (options->dry_run) {
            tell(options, what, "would be stopped", NULL);
        } else if (wait_until(host, &wait, &stays) == POLL_DONE) {
            tell(options, what, "ended", NULL);
        } else {
            tell(options, what, "", &stays);
            count_failure(ret, &stays, err);
        }
    }
}

/* ---- the entries of the journal ---- */

/* Do later entries that could not be undone still need this one? They may be files in a folder, the
 * Pod network on the vSwitch, the journal's own file. */
static bool is_needed(const struct journal *journal, size_t index) {
    const struct journal_entry *entry = &journal->entries[index];

    if (text_equal(entry->target, JOURNAL_FILE))
        return index + 1 < journal->count;
    for (size_t i = index + 1; i < journal->count; i++) {
        const struct journal_entry *later = &journal->entries[i];

        if (entry->kind == JOURNAL_FOLDER_ENTRY && text_starts_with(later->target, entry->target) &&
            later->target[strlen(entry->target)] == '\\')
            return true;
        if (entry->kind == JOURNAL_SWITCH && later->kind == JOURNAL_NETWORK)
            return true;
    }
    return false;
}

/* Undoes all entries of some kinds. `kinds` has a bit for each. Keeps the file `kept`. */
static int undo_kinds(struct journal *journal, int kinds, const char *kept,
                      const struct reset_options *options, struct reset_result *ret,
                      struct error *err) {
    for (size_t i = journal->count; i-- > 0;) {
        const struct journal_entry *entry = &journal->entries[i];
        struct undone undone = {"", UNDONE_KEPT};
        struct journal_entry last;
        _cleanup_(freep) char *what =
            xasprintf("%s %s", journal_kind_names[entry->kind], entry->target);
        struct error why = {0};

        if (!(kinds & 1 << entry->kind) || text_equal(entry->target, kept))
            continue;
        if (options->dry_run) {
            tell(options, what, "would be undone", NULL);
            continue;
        }
        if (is_needed(journal, i))
            continue;
        if (options->begins)
            options->begins(options->progress_context, what);
        if (undo_entry(journal->host, entry, &undone, &why) < 0) {
            tell(options, what, "", &why);
            count_failure(ret, &why, err);
            continue;
        }
        tell(options, what, undone.how, NULL);
        ret->restored += undone.as == UNDONE_RESTORED;
        ret->removed += undone.as == UNDONE_REMOVED;
        /* journal_pop() removes the last entry, so the undone entry is moved there. */
        last = *entry;
        memmove(&journal->entries[i], &journal->entries[i + 1],
                (journal->count - i - 1) * sizeof last);
        journal->entries[journal->count - 1] = last;
        if (journal_pop(journal, err) < 0)
            return -1;
    }
    return ret->failed ? -1 : 0;
}

/* Removes winjoin's own folder, but keeps the logs and reports of runs, also those of this run. */
static int remove_own(struct host *host, struct error *err) {
    _cleanup_(text_list_free) struct text_list names = {0};
    struct error none = {0};
    bool keeps = false;

    if (host_list(host, WINJOIN_FOLDER, &names, &none) < 0)
        return none.kind == ERROR_ABSENT ? 0 : host_remove_tree(host, WINJOIN_FOLDER, err);
    for (size_t i = 0; i < names.count; i++) {
        _cleanup_(freep) char *path = xasprintf("%s\\%s", WINJOIN_FOLDER, names.items[i]);
        _cleanup_(text_list_free) struct text_list files = {0};

        if ((text_equal_nocase(path, LOGS_FOLDER) || text_equal_nocase(path, REPORTS_FOLDER)) &&
            (host_list(host, path, &files, NULL) < 0 || files.count))
            keeps = true;
        else if (host_remove_tree(host, path, err) < 0)
            return -1;
    }
    return keeps ? 0 : host_remove_tree(host, WINJOIN_FOLDER, err);
}

/* Removes what winjoin has written to the Node. Not needed if somebody deletes the Node anyway. */
static void clear_node(struct host *host, const struct reset_options *options) {
    const struct {
        const char *what;
        int (*clear)(struct host *host, struct http *http, struct error *err);
    } said[] = {{"condition NetworkUnavailable of the Node", network_pending_clear},
                {"annotation " NETWORK_REPORT_ANNOTATION " of the Node", network_report_clear}};

    for (size_t i = 0; options->http && i < ARRAY_SIZE(said); i++) {
        struct error why = {0};

        if (said[i].clear(host, options->http, &why) == 0)
            continue;
        tell(options, said[i].what, "", &why);
        /* The API server cannot be reached, so the next request is not sent. */
        break;
    }
}

struct resetting {
    const struct reset_options *options;
    struct reset_result *result;
};

static void tell_unrecorded(void *context, enum journal_kind kind, const char *target) {
    const struct resetting *r = context;
    _cleanup_(freep) char *what = xasprintf("%s %s", journal_kind_names[kind], target);

    if (r->options->force && !r->options->dry_run)
        /* The thing is in the journal now and is undone with it. */
        return;
    r->result->left += !r->options->force;
    tell(r->options, what,
         r->options->force ? "would be undone: it is winjoin's, though not in the journal"
                           : "left: it is winjoin's, but not in the journal; to remove it: "
                             "winjoin reset --force",
         NULL);
}

int reset_run(struct host *host, const struct reset_options *options, struct reset_result *ret,
              struct error *err) {
    struct resetting resetting = {options, ret};
    _cleanup_(chosen_free) struct chosen chosen = {0};
    _cleanup_(network_plan_free) struct network_plan plan = {0};
    _cleanup_(journal_close) struct journal journal = {0};
    struct error why = {0};
    int result = 0;

    *ret = (struct reset_result){0};
    if (journal_open(host, options->joining ? JOINING_FOLDER : WINJOIN_FOLDER, &journal, err) < 0)
        return -1;
    /* A failure of this search does not stop the undoing of recorded things. */
    if (!options->joining && unrecorded_find(&journal, options->force && !options->dry_run,
                                             tell_unrecorded, &resetting, &why) < 0)
        tell(options, "what is winjoin's and not in the journal", "", &why);
    /* A plan that cannot be made stays empty. */
    if (chosen_load(host, &chosen, ERROR_IGNORED) == 0)
        (void)network_plan_make(&chosen.network, &plan, ERROR_IGNORED);
    if (journal.count && !options->dry_run) {
        /* First delete services that a killed run left half made. */
        for (size_t i = 0; i < journal.count && result == 0; i++)
            if (journal.entries[i].kind == JOURNAL_SERVICE)
                result = journal_service(&journal, journal.entries[i].target, err);
        /* Stop these two services first. winjoin-network would write to the Node again, and a
         * running kubelet would create its Pods again while their network is removed. */
        if (result == 0 && journal_find(&journal, JOURNAL_SERVICE, service_network.name))
            result = host_service_stop(host, service_network.name, UNDO_STOP_MS, err);
        clear_node(host, options);
    }
    if (result == 0 && journal.count && !options->dry_run)
        /* end_pods() below removes the sandboxes of probe Pods with all others. */
        result = diag_remove_left(host, err) < 0 ||
                         (journal_find(&journal, JOURNAL_SERVICE, service_kubelet.name) &&
                          host_service_stop(host, service_kubelet.name, UNDO_STOP_MS, err) < 0) ||
                         remove_routes(host, &chosen, &plan, err) < 0
                     ? -1
                     : 0;
    if (result == 0)
        end_pods(&journal, options, ret, err);
    if (result == 0)
        result = undo_kinds(&journal, EVERY_KIND, options->dry_run ? NULL : CHOSEN_FILE, options,
                            ret, err);
    /* The service winjoin-network could write routes until it was stopped. */
    if (result == 0 && !options->dry_run)
        result = remove_routes(host, &chosen, &plan, err);
    /* The remaining file is undone last, because without it the routes are not known. */
    if (result == 0 && !options->dry_run)
        result = undo_kinds(&journal, EVERY_KIND, NULL, options, ret, err);
    if (result == 0 && !options->dry_run)
        result =
            options->joining ? host_remove_tree(host, JOINING_FOLDER, err) : remove_own(host, err);
    /* The journal does not have what a DaemonSet made, so show the command that removes it. */
    if (result == 0 && plan.daemon_set_agent)
        tell(options, "left", plan.daemon_set_agent->removal, NULL);
    return result;
}

/* Undoes an upgrade. Services are undone last, because they start with the restored files. */
int reset_upgrade(struct host *host, const struct reset_options *options, struct reset_result *ret,
                  struct error *err) {
    const int services = 1 << JOURNAL_SERVICE;
    _cleanup_(journal_close) struct journal journal = {0};
    int result = 0;

    *ret = (struct reset_result){0};
    if (journal_open(host, UPGRADE_FOLDER, &journal, err) < 0)
        return -1;
    for (size_t i = 0; i < journal.count && result == 0; i++)
        if (journal.entries[i].kind == JOURNAL_SERVICE)
            result = host_service_stop(host, journal.entries[i].target, UNDO_STOP_MS, err);
    if (result == 0)
        result = undo_kinds(&journal, ~services, NULL, options, ret, err);
    if (undo_kinds(&journal, services, NULL, options, ret, err) < 0 || result < 0)
        result = -1;
    else
        result = host_remove_tree(host, UPGRADE_FOLDER, err);
    return result;
}
