/* Undoes one entry of the journal: a row and a function per kind. */
#include "join/undo/journal.h"

#include "host/machine_path.h"
#include "netsetup/hns/hcn_network.h"
#include "netsetup/nic/nic.h"
#include "netsetup/routes/routes.h"
#include "netsetup/netsetup.h"
#include "services/artifacts/artifacts.h"
#include "services/service_table.h"

enum { BACKUP_MAX = 512 * 1024 * 1024 };

static const struct undone was_removed = {"removed", UNDONE_REMOVED},
                           was_restored = {"restored", UNDONE_RESTORED};

typedef int undo_function(struct host *host, const struct journal_entry *entry, struct undone *ret,
                          struct error *err);

/* Windows allows a running program to be renamed, but not to be removed or written. When this
 * program runs from the path where the join installed it, it moves itself away. */
static bool moves_aside(struct host *host, const char *path) {
    _cleanup_(freep) char *self = host_program_path(host), *temp = host_environment(host, "TEMP");
    _cleanup_(freep) char *aside = NULL;

    if (!self || !temp || !text_equal_nocase(self, path))
        return false;
    aside = xasprintf("%s\\winjoin-removed.exe", temp);
    return host_rename(host, path, aside, NULL) == 0;
}

static int undo_file(struct host *host, const struct journal_entry *entry, struct undone *ret,
                     struct error *err) {
    const char *backup = json_text_at(entry->before, "backup");
    const char *access = json_text_at(entry->before, "access");
    _cleanup_(freep) char *data = NULL;
    size_t len;

    if (!backup) {
        if (moves_aside(host, entry->target)) {
            *ret = (struct undone){"it runs: moved to %TEMP%\\winjoin-removed.exe, to be deleted",
                                   UNDONE_REMOVED};
            return 0;
        }
        *ret = was_removed;
        if (text_ends_with(entry->target, ".exe"))
            program_remove_old(host, entry->target); /* An upgrade may have left an old program. */
        return host_remove(host, entry->target, err);
    }
    *ret = was_restored;
    if (host_read(host, backup, BACKUP_MAX, &data, &len, err) < 0)
        return -1;
    /* If nothing was moved, the program is not running and can be written. */
    (void)moves_aside(host, entry->target);
    /* Only administrators have access until the earlier access rights are set. */
    if (program_write(host, entry->target, data, len, HOST_SECRET, err) < 0 ||
        (access && host_access_set(host, entry->target, access, err) < 0))
        return -1;
    if (text_ends_with(entry->target, ".exe"))
        program_remove_old(host, entry->target);
    return host_remove(host, backup, err);
}

static int undo_folder(struct host *host, const struct journal_entry *entry, struct undone *ret,
                       struct error *err) {
    const char *access = json_text_at(entry->before, "access");
    const json_t *noted = json_object_get(entry->before, "names");
    _cleanup_(text_list_free) struct text_list before = {0}, now = {0}, names = {0};
    bool empty;

    /* Removes the files and folders whose names were not recorded. */
    if (noted && host_list(host, entry->target, &now, NULL) == 0)
        json_read_texts(noted, &before);
    for (size_t i = 0, at = 0; i < now.count; i++) {
        _cleanup_(freep) char *path = xasprintf("%s\\%s", entry->target, now.items[i]);

        while (at < before.count && strcmp(before.items[at], now.items[i]) < 0)
            at++; /* Both lists are sorted. */
        if ((at == before.count || !text_equal(before.items[at], now.items[i])) &&
            host_remove_tree(host, path, err) < 0)
            return -1;
    }
    if (json_bool_at(entry->before, "present", false)) {
        *ret = (struct undone){"kept: it existed before the join", UNDONE_RESTORED};
        return access && host_file_type(host, entry->target) != HOST_ABSENT
                   ? host_access_set(host, entry->target, access, err)
                   : 0;
    }
    if (json_bool_at(entry->before, "absent", false)) {
        *ret = was_removed;
        return host_remove_tree(host, entry->target, err);
    }
    empty = host_list(host, entry->target, &names, NULL) < 0 || names.count == 0;
    *ret = empty ? was_removed
                 : (struct undone){"kept: it contains files of other programs", UNDONE_KEPT};
    return empty ? host_remove(host, entry->target, err) : 0;
}

static int undo_service(struct host *host, const struct journal_entry *entry, struct undone *ret,
                        struct error *err) {
    const struct service *row = service_by_name(entry->target);
    const json_t *b = entry->before; /* The JSON that join/undo/journal.c writes. */
    const json_t *delays = json_object_get(b, "restartDelaysMs");
    _cleanup_(host_service_free) struct host_service service = {0};

    if (host_service_stop(host, entry->target, UNDO_STOP_MS, err) < 0)
        return -1;
    if (json_bool_at(b, "present", false)) {
        *ret = was_restored;
        service = (struct host_service){
            .name = xstrdup(entry->target),
            .display_name = xstrdup_null(json_text_at(b, "displayName")),
            .description = xstrdup_null(json_text_at(b, "description")),
            .command = xstrdup_null(json_text_at(b, "command")),
            .auto_start = json_bool_at(b, "autoStart", false),
            .restart_on_error = json_bool_at(b, "restartOnError", false),
            .reset_seconds = (unsigned)json_number_at(b, "resetSeconds", 0),
            .preshutdown_ms = (unsigned)json_number_at(b, "preshutdownMs", 0),
        };
        for (size_t i = 0; i < ARRAY_SIZE(service.restart_delays_ms); i++)
            service.restart_delays_ms[i] = (unsigned)json_integer_value(json_array_get(delays, i));
        json_read_texts(json_object_get(b, "dependsOn"), &service.depends_on);
        json_read_texts(json_object_get(b, "environment"), &service.environment);
        if (host_service_put(host, &service, err) < 0)
            return -1;
        return json_bool_at(b, "running", false)
                   ? host_service_start(host, entry->target, UNDO_STOP_MS, err)
                   : 0;
    }
    *ret = was_removed;
    if (row)
        return service_remove(host, row, err);
    /* winjoin's only service without a row continues a join after a restart of Windows. */
    if (host_service_query(host, entry->target, &service, err) < 0)
        return -1;
    return service_is_ours(&service) ? host_service_delete(host, entry->target, UNDO_STOP_MS, err)
                                     : 0;
}

static int undo_network(struct host *host, const struct journal_entry *entry, struct undone *ret,
                        struct error *err) {
    /* A network that a service of the join made has its own owner, which is not checked. */
    bool by_agent = json_object_get(entry->before, "agent"), removed = false;

    if (json_bool_at(entry->before, "present", false)) {
        *ret = (struct undone){"kept: it existed before the join", UNDONE_RESTORED};
        return 0;
    }
    if (hcn_network_remove(host, entry->target, !by_agent, &removed, err) < 0)
        return -1;
    *ret = (struct undone){removed ? "removed" : "already gone", UNDONE_REMOVED};
    return 0;
}

static int undo_switch(struct host *host, const struct journal_entry *entry, struct undone *ret,
                       struct error *err) {
    struct nic_restored guard = {0};
    _cleanup_(nic_snapshot_free) struct nic_snapshot snapshot = {0};
    int result;

    if (nic_snapshot_read(json_object_get(entry->before, "adapter"), &snapshot, err) < 0)
        return -1;
    result = nic_guard_remove(host, entry->target, &snapshot, NULL, NULL, &guard, err);
    *ret = (struct undone){"removed; the adapter has its address, DNS servers and routes",
                           UNDONE_REMOVED};
    return result;
}

static int undo_route(struct host *host, const struct journal_entry *entry, struct undone *ret,
                      struct error *err) {
    struct pod_route route = {0};

    *ret = was_removed;
    if (text_format(route.pod_cidr, sizeof route.pod_cidr, "%s", entry->target) < 0 ||
        text_format(route.node_address, sizeof route.node_address, "%s",
                    json_text_or(entry->before, "nextHop", "")) < 0)
        return error_set(err, ERROR_MALFORMED, "read journalled route '%.60s'", entry->target);
    return pod_routes_remove(host, &route, 1, err);
}

static int undo_forwarding(struct host *host, const struct journal_entry *entry, struct undone *ret,
                           struct error *err) {
    uint32_t index;

    *ret = (struct undone){"as before", UNDONE_RESTORED};
    if (nic_index_of(host, entry->target, &index, err) < 0)
        /* When the interface is gone, its setting is gone, too. */
        return error_forgive(err, ERROR_ABSENT);
    return host_forwarding_set(host, index, strchr(entry->target, ':') ? 6 : 4,
                               json_bool_at(entry->before, "on", false), err);
}

static int undo_event_source(struct host *host, const struct journal_entry *entry,
                             struct undone *ret, struct error *err) {
    const char *before = json_text_at(entry->before, "file");

    *ret = before ? was_restored : was_removed;
    return host_event_source_set(host, before, err);
}

static int undo_registry(struct host *host, const struct journal_entry *entry, struct undone *ret,
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
    *ret = data ? was_restored : was_removed;
    return host_registry_set(host, key, value + 1, number, text, err);
}

static int undo_path(struct host *host, const struct journal_entry *entry, struct undone *ret,
                     struct error *err) {
    *ret = (struct undone){"taken out of Path", UNDONE_REMOVED};
    return machine_path_set(host, entry->target, false, err);
}

/* For each kind either a function that undoes an entry, or, where the name is enough, a function
 * that removes the thing of that name and a word that says so. */
static const struct {
    undo_function *undo;
    int (*remove)(struct host *host, const char *target, struct error *err);
    const char *how;
} kinds[JOURNAL_KIND_COUNT] = {
    [JOURNAL_FILE_ENTRY] = {.undo = undo_file},
    [JOURNAL_FOLDER_ENTRY] = {.undo = undo_folder},
    [JOURNAL_SERVICE] = {.undo = undo_service},
    [JOURNAL_NETWORK] = {.undo = undo_network},
    [JOURNAL_SWITCH] = {.undo = undo_switch},
    [JOURNAL_ROUTE] = {.undo = undo_route},
    [JOURNAL_FIREWALL] = {.remove = host_firewall_remove, .how = "removed"},
    [JOURNAL_SOURCE_VIP] = {.remove = source_vip_remove, .how = "released"},
    [JOURNAL_FORWARDING] = {.undo = undo_forwarding},
    [JOURNAL_EVENT_SOURCE] = {.undo = undo_event_source},
    [JOURNAL_REGISTRY] = {.undo = undo_registry},
    [JOURNAL_PATH] = {.undo = undo_path},
};

int undo_entry(struct host *host, const struct journal_entry *entry, struct undone *ret,
               struct error *err) {
    static const char *const members[] = {"absent", "present", "backup",  "data",    "onlyIfEmpty",
                                          "file",   "agent",   "adapter", "nextHop", "on"};
    bool known = false;

    for (size_t i = 0; i < ARRAY_SIZE(members) && !known; i++)
        known = json_object_get(entry->before, members[i]);
    /* Without a known member, nothing proves that the thing did not exist before. */
    if (!known) {
        *ret = (struct undone){"kept: the journal does not say what was there before", UNDONE_KEPT};
        return 0;
    }
    if (kinds[entry->kind].undo)
        return kinds[entry->kind].undo(host, entry, ret, err);
    *ret = (struct undone){kinds[entry->kind].how, UNDONE_REMOVED};
    return kinds[entry->kind].remove(host, entry->target, err);
}
