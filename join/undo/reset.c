/* reset: plays the journal backwards until the host is as it was found. */
#include "join/undo/reset.h"

#include "diag/network_report_publish.h"
#include "diag/run.h"
#include "host/machine_path.h"
#include "join/undo/journal.h"
#include "join/undo/reset_pods.h"
#include "netsetup/agents/external_agent.h"
#include "netsetup/boot_network.h"
#include "netsetup/hcn_network.h"
#include "netsetup/network_pending.h"
#include "netsetup/nic_guard.h"
#include "netsetup/peers.h"
#include "netsetup/routes.h"
#include "netsetup/source_vip.h"
#include "services/artifacts.h"
#include "services/service_table.h"

enum { STOP_TIMEOUT_MS = 60000, BACKUP_MAX = 512 * 1024 * 1024, EVERY_KIND = -1 };

/* Undoes one entry; *ret_how says in a word or two what it did. */
typedef int undo_function(struct host *host, const struct journal_entry *entry,
                          const char **ret_how, struct error *err);

/* Windows lets a program that runs be moved, but not be removed or written: this one, called from
 * where the join installed it, moves itself aside. */
static bool moves_aside(struct host *host, const char *path) {
    _cleanup_(freep) char *self = host_program_path(host), *temp = host_environment(host, "TEMP");
    _cleanup_(freep) char *aside = NULL;

    if (!self || !temp || !text_equal_nocase(self, path))
        return false;
    aside = xasprintf("%s\\winjoin-removed.exe", temp);
    return host_rename(host, path, aside, NULL) == 0;
}

static bool is_below(const char *path, const char *folder) {
    return text_starts_with(path, folder) && path[strlen(folder)] == '\\';
}

static int undo_file(struct host *host, const struct journal_entry *entry, const char **ret_how,
                     struct error *err) {
    const char *backup = json_text_at(entry->before, "backup");
    const char *access = json_text_at(entry->before, "access");
    _cleanup_(freep) char *data = NULL;
    size_t len;

    if (!backup) {
        if (moves_aside(host, entry->target)) {
            *ret_how = "it runs: moved to %TEMP%\\winjoin-removed.exe, to be deleted";
            return 0;
        }
        *ret_how = "removed";
        if (text_ends_with(entry->target, ".exe"))
            program_remove_old(host, entry->target); /* an upgrade's */
        return host_remove(host, entry->target, err);
    }
    *ret_how = "restored";
    if (host_read(host, backup, BACKUP_MAX, &data, &len, err) < 0)
        return -1;
    (void)moves_aside(host, entry->target); /* or it does not run, and can be written */
    /* Closed until it has its own list; journals of before 0.1.0 have none. */
    if (program_write(host, entry->target, data, len, HOST_SECRET, err) < 0 ||
        (access && host_access_set(host, entry->target, access, err) < 0))
        return -1;
    if (text_ends_with(entry->target, ".exe"))
        program_remove_old(host, entry->target);
    return host_remove(host, backup, err);
}

static int undo_folder(struct host *host, const struct journal_entry *entry, const char **ret_how,
                       struct error *err) {
    const char *access = json_text_at(entry->before, "access");
    _cleanup_(text_list_free) struct text_list names = {0};
    bool empty;

    if (json_bool_at(entry->before, "present", false)) {
        *ret_how = "kept: it existed before the join";
        return access && host_file_type(host, entry->target) != HOST_ABSENT
                   ? host_access_set(host, entry->target, access, err)
                   : 0;
    }
    if (!json_bool_at(entry->before, "onlyIfEmpty", false)) {
        *ret_how = "removed";
        return host_remove_tree(host, entry->target, err);
    }
    empty = host_list(host, entry->target, &names, NULL) < 0 || names.count == 0;
    *ret_how = empty ? "removed" : "kept: it contains files of other programs";
    return empty ? host_remove(host, entry->target, err) : 0;
}

/* join/undo/journal.c writes this shape. */
static void read_service(const struct journal_entry *entry, struct host_service *ret) {
    const json_t *b = entry->before;

    *ret = (struct host_service){
        .name = xstrdup(entry->target),
        .display_name = xstrdup_null(json_text_at(b, "displayName")),
        .description = xstrdup_null(json_text_at(b, "description")),
        .command = xstrdup_null(json_text_at(b, "command")),
        .auto_start = json_bool_at(b, "autoStart", false),
        .restart_on_error = json_bool_at(b, "restartOnError", false),
        .reset_seconds = (unsigned)json_number_at(b, "resetSeconds", 0),
        .preshutdown_ms = (unsigned)json_number_at(b, "preshutdownMs", 0),
    };
    for (size_t i = 0; i < ARRAY_SIZE(ret->restart_delays_ms); i++)
        ret->restart_delays_ms[i] =
            (unsigned)json_integer_value(json_array_get(json_object_get(b, "restartDelaysMs"), i));
    json_read_texts(json_object_get(b, "dependsOn"), &ret->depends_on);
    json_read_texts(json_object_get(b, "environment"), &ret->environment);
}

static int restore_service(struct host *host, const struct journal_entry *entry,
                           struct error *err) {
    _cleanup_(host_service_free) struct host_service service = {0};

    read_service(entry, &service);
    if (host_service_put(host, &service, err) < 0)
        return -1;
    return json_bool_at(entry->before, "running", false)
               ? host_service_start(host, entry->target, STOP_TIMEOUT_MS, err)
               : 0;
}

/* One of ours without a row: the join that continues after a restart of Windows. */
static int remove_task(struct host *host, const char *name, struct error *err) {
    _cleanup_(host_service_free) struct host_service found = {0};

    if (host_service_query(host, name, &found, err) < 0)
        return -1;
    return service_is_ours(&found) ? host_service_delete(host, name, STOP_TIMEOUT_MS, err) : 0;
}

static int undo_service(struct host *host, const struct journal_entry *entry, const char **ret_how,
                        struct error *err) {
    const struct service *service = service_by_name(entry->target);

    if (host_service_stop(host, entry->target, STOP_TIMEOUT_MS, err) < 0)
        return -1;
    if (json_bool_at(entry->before, "present", false)) {
        *ret_how = "restored";
        return restore_service(host, entry, err);
    }
    *ret_how = "removed";
    return service ? service_remove(host, service, err) : remove_task(host, entry->target, err);
}

static int undo_network(struct host *host, const struct journal_entry *entry, const char **ret_how,
                        struct error *err) {
    /* what a service of the join made has the owner that it gave it */
    bool by_agent = json_object_get(entry->before, "agent"), removed = false;

    if (json_bool_at(entry->before, "present", false)) {
        *ret_how = "kept: it existed before the join";
        return 0;
    }
    if ((by_agent ? hcn_network_delete : hcn_network_remove)(host, entry->target, &removed, err) <
        0)
        return -1;
    *ret_how = removed ? "removed" : "already gone";
    return 0;
}

static int undo_switch(struct host *host, const struct journal_entry *entry, const char **ret_how,
                       struct error *err) {
    struct nic_guard_result guard = {0};
    _cleanup_(nic_snapshot_free) struct nic_snapshot card = {0};
    int result;

    if (nic_snapshot_read(json_object_get(entry->before, "card"), &card, err) < 0)
        return -1;
    result = nic_guard_remove(host, entry->target, &card, NULL, NULL, &guard, err);
    *ret_how = "removed; the adapter has its address, DNS servers and routes";
    return result;
}

static int undo_route(struct host *host, const struct journal_entry *entry, const char **ret_how,
                      struct error *err) {
    struct pod_route route = {0};

    *ret_how = "removed";
    if (text_format(route.pod_cidr, sizeof route.pod_cidr, "%s", entry->target) < 0 ||
        text_format(route.node_address, sizeof route.node_address, "%s",
                    json_text_or(entry->before, "nextHop", "")) < 0)
        return error_set(err, ERROR_MALFORMED, "read journalled route '%.60s'", entry->target);
    return pod_routes_remove(host, &route, 1, err);
}

static int undo_firewall(struct host *host, const struct journal_entry *entry, const char **ret_how,
                         struct error *err) {
    *ret_how = "removed";
    return host_firewall_remove(host, entry->target, err);
}

static int undo_source_vip(struct host *host, const struct journal_entry *entry,
                           const char **ret_how, struct error *err) {
    *ret_how = "released";
    return source_vip_remove(host, entry->target, err);
}

static int undo_forwarding(struct host *host, const struct journal_entry *entry,
                           const char **ret_how, struct error *err) {
    uint32_t index;

    *ret_how = "as before";
    if (nic_index_of(host, entry->target, &index, err) < 0)
        return error_forgive(err, ERROR_ABSENT); /* no interface, no setting */
    return host_forwarding_set(host, index, strchr(entry->target, ':') ? 6 : 4,
                               json_bool_at(entry->before, "on", false), err);
}

static int undo_event_source(struct host *host, const struct journal_entry *entry,
                             const char **ret_how, struct error *err) {
    const char *before = json_text_at(entry->before, "file");

    *ret_how = before ? "restored" : "removed";
    return host_event_source_set(host, before, err);
}

static int undo_registry(struct host *host, const struct journal_entry *entry, const char **ret_how,
                         struct error *err) {
    const json_t *data = json_object_get(entry->before, "data");
    bool number = json_is_integer(data);
    _cleanup_(freep) char *text = number ? xasprintf("%lld", (long long)json_integer_value(data))
                                         : xstrdup_null(json_string_value(data));
    const char *value = strrchr(entry->target, '\\');
    _cleanup_(freep) char *key =
        value ? xstrndup(entry->target, (size_t)(value - entry->target)) : NULL;

    if (!key)
        return error_set(err, ERROR_MALFORMED, "read journalled value '%.60s'", entry->target);
    *ret_how = data ? "restored" : "removed";
    return host_registry_set(host, key, value + 1, number, text, err);
}

static int undo_path(struct host *host, const struct journal_entry *entry, const char **ret_how,
                     struct error *err) {
    *ret_how = "taken out of Path";
    return machine_path_set(host, entry->target, false, err);
}

static undo_function *const undo[JOURNAL_KIND_COUNT] = {
    [JOURNAL_FILE_ENTRY] = undo_file,       [JOURNAL_FOLDER_ENTRY] = undo_folder,
    [JOURNAL_SERVICE] = undo_service,       [JOURNAL_NETWORK] = undo_network,
    [JOURNAL_SWITCH] = undo_switch,         [JOURNAL_ROUTE] = undo_route,
    [JOURNAL_FIREWALL] = undo_firewall,     [JOURNAL_SOURCE_VIP] = undo_source_vip,
    [JOURNAL_FORWARDING] = undo_forwarding, [JOURNAL_EVENT_SOURCE] = undo_event_source,
    [JOURNAL_REGISTRY] = undo_registry,     [JOURNAL_PATH] = undo_path,
};

/* Ends first: a kubelet that runs would create its pods again while their network goes. */
static int stop_kubelet(const struct journal *journal, struct error *err) {
    const char *name = service_kubelet.name;

    if (!journal_has(journal, JOURNAL_SERVICE, name))
        return 0;
    return host_service_stop(journal->host, name, STOP_TIMEOUT_MS, err);
}

/* What a join wrote down of its network; a plan without a mode: nothing. */
struct joined {
    json_t *file;
    struct network_plan plan;
};

static void joined_read(struct host *host, struct joined *ret) {
    _cleanup_(boot_network_input_free) struct network_input input = {0};

    if (boot_network_load(host, &ret->file, &input, ERROR_IGNORED) < 0)
        return;
    (void)network_plan_make(&input, &ret->plan, ERROR_IGNORED); /* or it stays empty */
}

static void joined_free(struct joined *joined) {
    network_plan_free(&joined->plan);
    json_decref(joined->file);
}

/* Those that winjoin-network has written since the join. */
static int remove_routes(struct host *host, const struct joined *joined, struct error *err) {
    _cleanup_json_ json_t *routes = NULL;

    if (!joined->plan.mode)
        return 0;
    routes = boot_routes_ever(host, joined->file);
    return peers_remove(host, &joined->plan, routes, err);
}

static void tell(const struct reset_options *options, const struct journal_entry *entry,
                 const char *how, const struct error *why) {
    _cleanup_(freep) char *what = xasprintf("%s %s", journal_kind_name(entry->kind), entry->target);

    if (options->progress)
        options->progress(options->progress_context, what, how, why);
}

static void tell_begin(const struct reset_options *options, const struct journal_entry *entry) {
    _cleanup_(freep) char *what = xasprintf("%s %s", journal_kind_name(entry->kind), entry->target);

    if (options->begins)
        options->begins(options->progress_context, what);
}

static void count_undone(const struct journal_entry *entry, struct reset_result *ret) {
    if (json_object_get(entry->before, "present") || json_object_get(entry->before, "backup") ||
        json_object_get(entry->before, "data"))
        ret->restored++;
    else
        ret->removed++;
}

/* Takes the i-th entry off by moving it to the end. */
static int forget(struct journal *journal, size_t i, struct error *err) {
    struct journal_entry entry = journal->entries[i];

    memmove(&journal->entries[i], &journal->entries[i + 1],
            (journal->count - i - 1) * sizeof entry);
    journal->entries[journal->count - 1] = entry;
    return journal_pop(journal, err);
}

/* What could not be undone is still in the journal behind this entry and may stand on it: a folder
 * holds its files, the vSwitch carries the pod network. */
static bool is_needed(const struct journal *journal, size_t index) {
    const struct journal_entry *entry = &journal->entries[index];

    for (size_t i = index + 1; i < journal->count; i++) {
        const struct journal_entry *later = &journal->entries[i];

        if (entry->kind == JOURNAL_FOLDER_ENTRY && is_below(later->target, entry->target))
            return true;
        if (entry->kind == JOURNAL_SWITCH && later->kind == JOURNAL_NETWORK)
            return true;
    }
    return false;
}

/* `kinds`: a bit for each journal kind. `kept`: the file that stays, or NULL. */
static int undo_kinds(struct journal *journal, int kinds, const char *kept,
                      const struct reset_options *options, struct reset_result *ret,
                      struct error *err) {
    for (size_t i = journal->count; i-- > 0;) {
        const struct journal_entry *entry = &journal->entries[i];
        struct error why = {0};
        const char *how = "";

        if (!(kinds & 1 << entry->kind) || text_equal(entry->target, kept))
            continue;
        if (options->dry_run) {
            tell(options, entry, "would be undone", NULL);
            continue;
        }
        if (is_needed(journal, i))
            continue;
        tell_begin(options, entry);
        if (undo[entry->kind](journal->host, entry, &how, &why) < 0) {
            tell(options, entry, "", &why);
            if (ret->failed++ == 0)
                *err = why;
            continue;
        }
        tell(options, entry, how, NULL);
        count_undone(entry, ret);
        if (forget(journal, i, err) < 0)
            return -1;
    }
    return ret->failed ? -1 : 0;
}

/* All of winjoin's own but the logs and reports of its runs, this one's too. */
static int remove_own(struct host *host, struct error *err) {
    _cleanup_(text_list_free) struct text_list names = {0};
    struct error none = {0};
    bool keeps = false;

    if (host_list(host, WINJOIN_FOLDER, &names, &none) < 0)
        return none.kind == ERROR_ABSENT ? 0 : host_remove_tree(host, WINJOIN_FOLDER, err);
    for (size_t i = 0; i < names.count; i++) {
        _cleanup_(freep) char *path = xasprintf("%s\\%s", WINJOIN_FOLDER, names.items[i]);

        if (text_equal_nocase(path, LOGS_FOLDER) || text_equal_nocase(path, REPORTS_FOLDER))
            keeps = true;
        else if (host_remove_tree(host, path, err) < 0)
            return -1;
    }
    return keeps ? 0 : host_remove_tree(host, WINJOIN_FOLDER, err);
}

/* What a DaemonSet of the cluster made is not the journal's: it is named with its command. */
static const char *left_by_agent(const struct joined *joined) {
    const struct external_agent *agent =
        external_agent_by_name(json_text_at(joined->file, "agent"));

    return agent ? agent->removal : NULL;
}

/* What winjoin has said of the Node; who deletes that does not need it. */
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
        if (options->progress)
            options->progress(options->progress_context, said[i].what, "", &why);
        break; /* the API server is away */
    }
}

int reset_run(struct host *host, const struct reset_options *options, struct reset_result *ret,
              struct error *err) {
    _cleanup_(joined_free) struct joined joined = {0};
    _cleanup_(journal_close) struct journal journal = {0};
    const char *left;
    int result = 0;

    *ret = (struct reset_result){0};
    if (journal_open(host, &journal, err) < 0)
        return -1;
    joined_read(host, &joined);
    left = left_by_agent(&joined);
    if (journal.count && !options->dry_run)
        clear_node(host, options);
    if (journal.count && !options->dry_run)
        /* The probe pods' sandboxes end with all others, by reset_pods(). */
        result = diag_remove_left(host, err) < 0 || journal_repair_services(&journal, err) < 0 ||
                         stop_kubelet(&journal, err) < 0 || remove_routes(host, &joined, err) < 0
                     ? -1
                     : 0;
    if (result == 0)
        reset_pods(&journal, options, ret, err);
    if (result == 0)
        result = undo_kinds(&journal, EVERY_KIND, options->dry_run ? NULL : BOOT_NETWORK_FILE,
                            options, ret, err);
    if (result == 0 && !options->dry_run) /* the service could write some until it was stopped */
        result = remove_routes(host, &joined, err);
    if (result == 0 && !options->dry_run) /* without that file the routes are not known */
        result = undo_kinds(&journal, EVERY_KIND, NULL, options, ret, err);
    if (result == 0 && !options->dry_run)
        result = remove_own(host, err);
    if (result == 0 && left && options->progress)
        options->progress(options->progress_context, "left", left, NULL);
    return result;
}

static int stop_recorded(const struct journal *journal, struct error *err) {
    for (size_t i = 0; i < journal->count; i++)
        if (journal->entries[i].kind == JOURNAL_SERVICE &&
            host_service_stop(journal->host, journal->entries[i].target, STOP_TIMEOUT_MS, err) < 0)
            return -1;
    return 0;
}

/* Services come last: they start with what they had. */
int reset_upgrade(struct host *host, const struct reset_options *options, struct reset_result *ret,
                  struct error *err) {
    const int services = 1 << JOURNAL_SERVICE;
    _cleanup_(journal_close) struct journal journal = {0};
    int result;

    *ret = (struct reset_result){0};
    if (journal_open_in(host, UPGRADE_FOLDER, &journal, err) < 0)
        return -1;
    result = stop_recorded(&journal, err);
    if (result == 0)
        result = undo_kinds(&journal, ~services, NULL, options, ret, err);
    if (undo_kinds(&journal, services, NULL, options, ret, err) < 0 || result < 0)
        result = -1;
    else
        result = host_remove_tree(host, UPGRADE_FOLDER, err);
    return result;
}
