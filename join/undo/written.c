/* Notes what was written on the node, and finds what has changed since. */
#include "join/undo/journal.h"

#include "pki/digest.h"
#include "services/artifacts/artifacts.h"

enum { FILE_MAX = 8 * 1024 * 1024 };

#define COMPLETED "completedOptions"

/* Reads the notes. A damaged file counts as absent. */
static json_t *load(struct host *host) {
    _cleanup_json_ json_t *json = NULL;

    (void)host_read_json(host, WRITTEN_FILE, FILE_MAX, &json, ERROR_IGNORED);
    return json_is_object(json) ? take_ptr(json) : NULL;
}

/* ---- writing of notes ---- */

static json_t *notes_of(struct journal *journal) {
    if (!journal->written && !(journal->written = load(journal->host)))
        journal->written = json_object();
    return journal->written;
}

void written_note(struct journal *journal, enum journal_kind kind, const char *target,
                  json_t *as_written) {
    json_t *targets = json_object_in(notes_of(journal), journal_kind_names[kind]);
    const json_t *before = json_object_get(targets, target);
    /* During an upgrade, the phase of the join stays noted for the thing. */
    bool keeps = journal->also && !journal->prepared;
    const char *phase =
        keeps ? json_string_value(json_object_get(before, "phase")) : journal->phase;

    for (size_t i = 0; keeps && !phase && i < journal->count; i++)
        if (journal->entries[i].kind == kind &&
            text_equal_nocase(journal->entries[i].target, target))
            phase = journal->entries[i].phase;
    json_object_set_new(as_written, "phase", json_string(phase ? phase : journal->phase));
    if (json_equal(before, as_written)) {
        json_decref(as_written);
        return;
    }
    json_object_set_new(targets, target, as_written);
    journal->written_changed = true;
}

void written_file(struct journal *journal, const char *path, const void *data, size_t len) {
    char digest[DIGEST_TEXT_MAX];

    digest_sha256(data, len, digest);
    written_note(journal, JOURNAL_FILE_ENTRY, path, json_pack("{s:s}", "sha256", digest));
}

/* Returns only the facts that stay the same if the same plan makes the network again. */
static json_t *network_json(const struct hcn_network *network) {
    return json_pack("{s:s, s:s, s:s, s:i}", "type", network->type, "subnet", network->subnet,
                     "subnet6", network->subnet6, "vsid", (int)network->vsid);
}

void written_network(struct journal *journal, const struct hcn_network *network) {
    written_note(journal, JOURNAL_NETWORK, network->name, network_json(network));
}

int written_service(struct journal *journal, const struct service *service, struct error *err) {
    _cleanup_(host_service_free) struct host_service found = {0};
    _cleanup_(freep) char *settings = NULL;
    bool hosted;
    size_t len;

    if (host_service_query(journal->host, service->name, &found, err) < 0)
        return -1;
    hosted = service->hosted && service_is_ours(&found);
    if (hosted &&
        host_read(journal->host, service->settings_file, FILE_MAX, &settings, &len, err) < 0)
        return -1;
    written_note(journal, JOURNAL_SERVICE, service->name, journal_service_json(&found));
    if (hosted)
        written_file(journal, service->settings_file, settings, len);
    return 0;
}

void written_options(struct journal *journal, const json_t *options) {
    json_t *notes = notes_of(journal);

    if (json_equal(json_object_get(notes, "options"), options))
        return;
    json_object_set(notes, "options", (json_t *)options);
    journal->written_changed = true;
}

void written_options_completed(struct journal *journal) {
    json_t *notes = notes_of(journal);
    json_t *options = json_object_get(notes, "options");

    if (!options || json_equal(json_object_get(notes, COMPLETED), options))
        return;
    json_object_set(notes, COMPLETED, options);
    journal->written_changed = true;
}

static int take_options(const json_t *notes, const char *name, json_t **ret, struct error *err) {
    json_t *options = json_object_get(notes, name);

    if (options && !json_is_object(options))
        return error_set(err, ERROR_MALFORMED, "read '%s': %s is not an object", WRITTEN_FILE,
                         name);
    *ret = json_incref(options);
    return 0;
}

int written_options_read(struct host *host, json_t **ret_last, json_t **ret_completed,
                         struct error *err) {
    _cleanup_json_ json_t *notes = NULL;
    struct error why = {0};

    if (host_read_json(host, WRITTEN_FILE, FILE_MAX, &notes, &why) < 0 && why.kind != ERROR_ABSENT)
        return error_pass(err, &why);
    return take_options(notes, "options", ret_last, err) < 0
               ? -1
               : take_options(notes, COMPLETED, ret_completed, err);
}

int written_save(struct journal *journal, struct error *err) {
    _cleanup_(freep) char *text = NULL;

    if (!journal->written_changed)
        return 0;
    if (journal->also && journal_file(journal->also, WRITTEN_FILE, err) < 0)
        return -1;
    text = json_write(journal->written);
    if (host_write(journal->host, WRITTEN_FILE, text, strlen(text), HOST_SECRET, err) < 0)
        return error_prefix(err, "write '%s'", WRITTEN_FILE);
    journal->written_changed = false;
    return 0;
}

/* ---- finding of changes ---- */

/* Describes how one thing differs from its note. NULL when it does not differ or cannot be read;
 * free() it. *ret_missing says that it does not exist. */
typedef char *difference(struct host *host, const char *target, const json_t *as_written,
                         bool *ret_missing);

static char *file_differs(struct host *host, const char *path, const json_t *as_written,
                          bool *ret_missing) {
    _cleanup_(freep) char *data = NULL;
    char digest[DIGEST_TEXT_MAX];
    struct error why = {0};
    size_t len;

    if (host_read(host, path, ARTIFACT_SIZE_MAX, &data, &len, &why) < 0) {
        *ret_missing = why.kind == ERROR_ABSENT;
        /* ERROR_MALFORMED means that the file is too long. */
        return why.kind == ERROR_MALFORMED ? xstrdup("its content differs") : NULL;
    }
    digest_sha256(data, len, digest);
    if (text_equal(digest, json_text_at(as_written, "sha256")))
        return NULL;
    for (const struct service *const *row = service_table; *row; row++)
        if (text_equal_nocase(path, (*row)->settings_file))
            return xasprintf("the arguments of %s differ", (*row)->name);
    return xstrdup("its content differs");
}

bool written_file_differs(struct journal *journal, const char *path) {
    const json_t *files =
        json_object_get(notes_of(journal), journal_kind_names[JOURNAL_FILE_ENTRY]);
    const json_t *as_written = json_object_get(files, path);
    bool missing = false;
    _cleanup_(freep) char *how =
        as_written ? file_differs(journal->host, path, as_written, &missing) : NULL;

    return how || missing;
}

/* Returns "command, environment differ" with the members that differ from the note; NULL when no
 * member differs. The caller frees it. */
static char *members_differ(const json_t *as_written, const json_t *now) {
    _cleanup_(text_list_free) struct text_list names = {0};
    _cleanup_(freep) char *all = NULL;

    json_each_member(as_written, key, value)
        if (strcmp(key, "phase") != 0 && !json_equal(value, json_object_get(now, key)))
            text_list_add(&names, key);
    if (!names.count)
        return NULL;
    all = text_list_join(&names, ", ");
    return xasprintf("%s differ%s", all, names.count == 1 ? "s" : "");
}

static char *service_differs(struct host *host, const char *name, const json_t *as_written,
                             bool *ret_missing) {
    _cleanup_(host_service_free) struct host_service found = {0};
    _cleanup_json_ json_t *now = NULL;

    if (host_service_query(host, name, &found, ERROR_IGNORED) < 0)
        return NULL;
    *ret_missing = found.state == HOST_SERVICE_ABSENT;
    if (*ret_missing)
        return NULL;
    now = journal_service_json(&found);
    return members_differ(as_written, now);
}

static char *network_differs(struct host *host, const char *name, const json_t *as_written,
                             bool *ret_missing) {
    _cleanup_json_ json_t *now = NULL;
    struct hcn_network network = {0};
    struct error why = {0};

    if (hcn_network_find(host, name, &network, &why) < 0) {
        *ret_missing = why.kind == ERROR_ABSENT;
        return NULL;
    }
    now = network_json(&network);
    return members_differ(as_written, now);
}

static char *firewall_differs(struct host *host, const char *name, const json_t *,
                              bool *ret_missing) {
    bool there = true;

    *ret_missing = host_firewall_has(host, name, &there, ERROR_IGNORED) == 0 && !there;
    return NULL;
}

json_t *written_compare(struct host *host, bool networks) {
    static const struct {
        enum journal_kind kind;
        difference *differs;
    } kinds[] = {{JOURNAL_FILE_ENTRY, file_differs},
                 {JOURNAL_SERVICE, service_differs},
                 {JOURNAL_NETWORK, network_differs},
                 {JOURNAL_FIREWALL, firewall_differs}};
    _cleanup_json_ json_t *written = load(host);
    json_t *rows = written ? json_array() : NULL;

    for (size_t k = 0; written && k < ARRAY_SIZE(kinds); k++) {
        const char *name = journal_kind_names[kinds[k].kind];

        if (kinds[k].kind == JOURNAL_NETWORK && !networks)
            continue;
        json_each_member(json_object_get(written, name), target, as_written) {
            bool missing = false;
            _cleanup_(freep) char *how = kinds[k].differs(host, target, as_written, &missing);
            const char *phase = json_text_at(as_written, "phase");
            const char *source = json_text_at(as_written, "source");
            /* A running program can only be replaced by an upgrade, which stops its service. */
            _cleanup_(freep) char *command =
                source ? xasprintf("winjoin %s %s", missing ? "join phase artifacts" : "upgrade",
                                   source)
                       : xasprintf("winjoin join phase %s", phase ? phase : "list");

            if (how || missing)
                json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:b, s:s}", "kind", name,
                                                      "target", target, "difference",
                                                      missing ? "it is missing" : how, "missing",
                                                      (int)missing, "command", command));
        }
    }
    return rows;
}
