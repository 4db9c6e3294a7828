/* Records the state of the host before each change. */
#include "join/undo/journal.h"

#include "host/path.h"
#include "node/folders.h"
#include "services/service_table.h"

enum {
    JOURNAL_MAX = 8 * 1024 * 1024,
    JOURNAL_VERSION = 1,
    BACKUP_MAX = 512 * 1024 * 1024,
    MEND_TIMEOUT_MS = 30000,
};

const char *const journal_kind_names[JOURNAL_KIND_COUNT] = {
    [JOURNAL_FILE_ENTRY] = "file",       [JOURNAL_FOLDER_ENTRY] = "folder",
    [JOURNAL_SERVICE] = "service",       [JOURNAL_NETWORK] = "network",
    [JOURNAL_SWITCH] = "switch",         [JOURNAL_ROUTE] = "route",
    [JOURNAL_FIREWALL] = "firewall",     [JOURNAL_SOURCE_VIP] = "source-vip",
    [JOURNAL_FORWARDING] = "forwarding", [JOURNAL_EVENT_SOURCE] = "event-source",
    [JOURNAL_REGISTRY] = "registry",     [JOURNAL_PATH] = "path",
};

static void add_entry(struct journal *j, enum journal_kind kind, const char *target,
                      const char *phase, json_t *before) {
    struct journal_entry entry = {
        .kind = kind,
        .target = xstrdup(target),
        .phase = xstrdup(phase ? phase : ""),
        .before = before ? before : json_pack("{s:b}", "absent", 1),
    };
    _cleanup_json_ json_t *json =
        json_pack("{s:s, s:s, s:s, s:O}", "kind", journal_kind_names[kind], "target", target,
                  "phase", entry.phase, "before", entry.before);

    entry.line = json_write(json);
    array_add(j->entries, j->count, entry);
}

static void free_entry(struct journal_entry *entry) {
    free_all(entry->target, entry->phase, entry->line);
    json_decref(entry->before);
}

void journal_close(struct journal *journal) {
    for (size_t i = 0; i < journal->count; i++)
        free_entry(&journal->entries[i]);
    text_list_free(&journal->closed);
    free(journal->entries);
    json_decref(journal->written);
    *journal = (struct journal){0};
}

/* Parses a line of the file. The first line has only the version. */
static int read_line(struct journal *j, bool first, const char *line, size_t len,
                     struct error *err) {
    _cleanup_json_ json_t *json = NULL;
    const char *kind_name, *target;
    size_t kind = 0;
    json_t *before;

    if (json_read(line, len, first ? "journal" : "journal entry", &json, err) < 0)
        return -1;
    if (first) {
        json_int_t version = json_integer_value(json_object_get(json, "version"));

        return version == JOURNAL_VERSION
                   ? 0
                   : error_set(err, ERROR_MALFORMED, "its version is %lld, this winjoin knows %d",
                               (long long)version, JOURNAL_VERSION);
    }
    kind_name = json_text_at(json, "kind");
    target = json_text_at(json, "target");
    while (kind < JOURNAL_KIND_COUNT && !text_equal(kind_name, journal_kind_names[kind]))
        kind++;
    if (!target || kind == JOURNAL_KIND_COUNT)
        return error_set(err, ERROR_MALFORMED, "decode journal entry: kind or target is missing");
    before = json_object_get(json, "before");
    add_entry(j, (enum journal_kind)kind, target, json_text_at(json, "phase"),
              json_is_object(before) ? json_incref(before) : json_object());
    return 0;
}

int journal_open(struct host *host, const char *folder, struct journal *ret, struct error *err) {
    struct journal journal = {.host = host, .folder = folder};
    _cleanup_(freep) char *text = NULL, *file = xasprintf("%s" JOURNAL_NAME, folder);
    struct error unasked = {0};
    size_t len, number = 1;

    err = err ? err : &unasked; /* The kind of the error is needed below. */
    if (host_read(host, file, JOURNAL_MAX, &text, &len, err) < 0) {
        if (error_forgive(err, ERROR_ABSENT) < 0)
            return -1;
        text = xstrdup("");
    }
    /* A crash cut a last line without line break. Its change was never begun, so it is ignored. */
    for (const char *line = text, *end; (end = strchr(line, '\n')); line = end + 1, number++) {
        if ((end == line && number > 1) ||
            read_line(&journal, number == 1, line, (size_t)(end - line), err) == 0)
            continue;
        journal_close(&journal);
        (void)error_prefix(err, "read '%s' line %zu", file, number);
        return error_hint(
            err, "to start again without it, move '%s' away; what it recorded will not be undone",
            file);
    }
    journal.saved = journal.count;
    *ret = journal;
    return 0;
}

const struct journal_entry *journal_find(const struct journal *journal, enum journal_kind kind,
                                         const char *target) {
    for (size_t i = 0; i < journal->count; i++)
        if (journal->entries[i].kind == kind &&
            (!target || text_equal_nocase(journal->entries[i].target, target)))
            return &journal->entries[i];
    return NULL;
}

bool journal_has_absent(const struct journal *journal, enum journal_kind kind, const char *target) {
    const struct journal_entry *entry = journal_find(journal, kind, target);

    return entry && json_bool_at(entry->before, "absent", false);
}

static int save(struct journal *j, struct error *err) {
    _cleanup_(freep) char *file = xasprintf("%s" JOURNAL_NAME, j->folder);
    _cleanup_(text_free) struct text out = {0};
    int result = 0;

    text_addf(&out, "{\"version\":%d}\n", JOURNAL_VERSION);
    for (size_t i = 0; i < j->count; i++) {
        text_add(&out, j->entries[i].line);
        text_add_char(&out, '\n');
    }
    if (!j->has_folder)
        result = host_make_folder(j->host, j->folder, HOST_SECRET, err);
    if (result == 0)
        result = host_write(j->host, file, text_str(&out), out.len, HOST_SECRET, err);
    if (result < 0 && !j->has_folder && !j->saved) {
        _cleanup_(freep) char *own = xasprintf("%s\\journal", j->folder);

        /* The folders of a journal that was never written are removed if they are empty. */
        (void)host_remove(j->host, own, NULL);
        (void)host_remove(j->host, j->folder, NULL);
    }
    if (result < 0)
        return error_prefix(err, "write the journal");
    j->has_folder = true;
    j->saved = j->count;
    return 0;
}

/* Adds an entry to this journal only, and not to the second one (journal->also). */
static int record(struct journal *journal, enum journal_kind kind, const char *target,
                  json_t *before, struct error *err) {
    if (journal_find(journal, kind, target)) {
        json_decref(before);
        return 0;
    }
    add_entry(journal, kind, target, journal->phase, before);
    return journal->held ? 0 : journal_write_down(journal, err);
}

int journal_record(struct journal *journal, enum journal_kind kind, const char *target,
                   json_t *before, struct error *err) {
    if (journal->also && record(journal->also, kind, target, json_incref(before), err) < 0) {
        json_decref(before);
        return -1;
    }
    return record(journal, kind, target, before, err);
}

int journal_write_down(struct journal *journal, struct error *err) {
    journal->held = false;
    if (journal->saved == journal->count || save(journal, err) == 0)
        return 0;
    while (journal->count > journal->saved)
        free_entry(&journal->entries[--journal->count]);
    return -1;
}

int journal_pop(struct journal *journal, struct error *err) {
    if (journal->count)
        free_entry(&journal->entries[--journal->count]);
    journal->saved = journal->count;
    return save(journal, err);
}

int journal_file(struct journal *journal, const char *path, struct error *err) {
    _cleanup_(freep) char *backup = NULL, *access = NULL, *data = NULL;
    size_t len;

    if (journal->also && journal_file(journal->also, path, err) < 0)
        return -1;
    if (journal_find(journal, JOURNAL_FILE_ENTRY, path))
        return 0;
    if (host_file_type(journal->host, path) == HOST_ABSENT)
        return record(journal, JOURNAL_FILE_ENTRY, path, NULL, err);
    backup = xasprintf("%s\\backup\\%04zu", journal->folder, journal->count);
    if (host_make_folder(journal->host, journal->folder, HOST_SECRET, err) < 0 ||
        host_read(journal->host, path, BACKUP_MAX, &data, &len, err) < 0 ||
        host_write(journal->host, backup, data, len, HOST_SECRET, err) < 0 ||
        host_access_get(journal->host, path, &access, err) < 0)
        return error_prefix(err, "back up '%s'", path);
    return record(journal, JOURNAL_FILE_ENTRY, path,
                  json_pack("{s:s, s:s}", "backup", backup, "access", access), err);
}

/* Records the names in an existing folder. Undoing this removes all others from it. */
static int record_names(struct journal *journal, const char *path, struct error *err) {
    _cleanup_(text_list_free) struct text_list names = {0};

    if (journal_find(journal, JOURNAL_FOLDER_ENTRY, path))
        return 0;
    if (host_list(journal->host, path, &names, err) < 0)
        return -1;
    return record(journal, JOURNAL_FOLDER_ENTRY, path,
                  json_pack("{s:b, s:o}", "present", 1, "names", json_texts(&names)), err);
}

int journal_open_joining(struct journal *journal, struct journal *ret, struct error *err) {
    if (journal_open(journal->host, JOINING_FOLDER, ret, err) < 0)
        return -1;
    journal->also = ret;
    journal->prepared = true;
    return journal_file(ret, JOURNAL_FILE, err) < 0 ||
                   host_make_folder(journal->host, REPORTS_FOLDER, HOST_SECRET, err) < 0
               ? -1
               : record_names(ret, WINJOIN_FOLDER, err);
}

static int journal_folder(struct journal *journal, const char *path, struct error *err) {
    _cleanup_(freep) char *access = NULL;
    bool there = host_file_type(journal->host, path) != HOST_ABSENT;

    if (there && journal->prepared && journal_has_absent(journal, JOURNAL_FOLDER_ENTRY, path) &&
        record_names(journal->also, path, err) < 0)
        return -1;
    if (journal_find(journal, JOURNAL_FOLDER_ENTRY, path))
        return 0;
    if (there && host_access_get(journal->host, path, &access, err) < 0)
        return -1;
    return journal_record(journal, JOURNAL_FOLDER_ENTRY, path,
                          there ? json_pack("{s:b, s:s}", "present", 1, "access", access) : NULL,
                          err);
}

/* Converts a service's configuration and state; join/undo/undo_entry.c reads this form. */
json_t *journal_service_json(const struct host_service *s) {
    json_t *delays = json_array();

    for (size_t i = 0; i < ARRAY_SIZE(s->restart_delays_ms); i++)
        json_array_append_new(delays, json_integer(s->restart_delays_ms[i]));
    return json_pack("{s:b, s:s, s:s, s:s, s:o, s:o, s:b, s:o, s:b, s:i, s:i}", "present", 1,
                     "displayName", s->display_name ? s->display_name : "", "description",
                     s->description ? s->description : "", "command", s->command ? s->command : "",
                     "dependsOn", json_texts(&s->depends_on), "environment",
                     json_texts(&s->environment), "autoStart", s->auto_start, "restartDelaysMs",
                     delays, "restartOnError", s->restart_on_error, "resetSeconds",
                     (int)s->reset_seconds, "preshutdownMs", (int)s->preshutdown_ms);
}

int journal_service(struct journal *journal, const char *name, struct error *err) {
    _cleanup_(host_service_free) struct host_service service = {0};
    bool recorded = journal_find(journal, JOURNAL_SERVICE, name);
    json_t *before = NULL;

    if (journal->also && journal_service(journal->also, name, err) < 0)
        return -1;
    if (recorded && !journal_has_absent(journal, JOURNAL_SERVICE, name))
        return 0;
    if (host_service_query(journal->host, name, &service, err) < 0)
        return -1;
    /* A recorded service without winjoin's mark is from a run that was killed before that. */
    if (recorded)
        return service.state != HOST_SERVICE_ABSENT && !service_is_ours(&service)
                   ? host_service_delete(journal->host, name, MEND_TIMEOUT_MS, err)
                   : 0;
    if (service.state != HOST_SERVICE_ABSENT) {
        before = journal_service_json(&service);
        json_object_set_new(before, "running", json_boolean(service.state == HOST_SERVICE_RUNNING));
    }
    return record(journal, JOURNAL_SERVICE, name, before, err);
}

int journal_write(struct journal *journal, const char *path, const void *data, size_t len,
                  enum host_access access, struct error *err) {
    if (journal_find(journal, JOURNAL_FILE_ENTRY, path) && host_has(journal->host, path, data, len))
        return 0;
    if (journal_file(journal, path, err) < 0)
        return -1;
    return host_write(journal->host, path, data, len, access, err);
}

/* Records the parents of a folder, the outermost first, so that a reset handles them last. Parents
 * in the table of node folders get restricted access even when they exist. Other parents are
 * recorded and restricted only when they do not exist yet, so that nobody can exchange what is in
 * them. */
static int own_parents(struct journal *journal, const char *path, struct text_list *ret,
                       struct error *err) {
    for (const char *slash = strchr(path, '\\'); slash; slash = strchr(slash + 1, '\\')) {
        _cleanup_(freep) char *parent = xstrndup(path, (size_t)(slash - path));
        bool row = node_folder_find(parent);

        if (text_ends_with(parent, ":"))
            continue;
        if (!journal_find(journal, JOURNAL_FOLDER_ENTRY, parent)) {
            if (!row && host_file_type(journal->host, parent) != HOST_ABSENT)
                continue;
            if ((row ? journal_folder(journal, parent, err)
                     : journal_record(journal, JOURNAL_FOLDER_ENTRY, parent,
                                      json_pack("{s:b}", "onlyIfEmpty", 1), err)) < 0)
                return -1;
        }
        if (!text_list_has(ret, parent))
            text_list_add(ret, parent);
    }
    return 0;
}

int journal_own_folder(struct journal *journal, const char *path, struct error *err) {
    return journal_own_folders(journal, &path, 1, err);
}

int journal_own_folders(struct journal *journal, const char *const *paths, size_t count,
                        struct error *err) {
    _cleanup_(text_list_free) struct text_list closed = {0};
    int result = 0;

    journal->held = true;
    for (size_t i = 0; i < count && result == 0; i++) {
        result = own_parents(journal, paths[i], &closed, err) < 0
                     ? -1
                     : journal_folder(journal, paths[i], err);
        text_list_add(&closed, paths[i]);
    }
    if (journal_write_down(journal, result < 0 ? NULL : err) < 0 || result < 0)
        return -1;
    for (size_t i = 0; i < closed.count; i++) {
        if (text_list_has(&journal->closed, closed.items[i]))
            continue;
        if (node_folder_close(journal->host, closed.items[i], err) < 0)
            return -1;
        text_list_add(&journal->closed, closed.items[i]);
    }
    return 0;
}
