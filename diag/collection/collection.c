/* Packs a collection. A part that fails becomes a line of the index, and does not keep the other
 * parts out. */
#include "diag/collection/collection.h"

#include "base/build_info.h"
#include "base/redact.h"
#include "base/rfc3339.h"
#include "base/text.h"
#include "diag/capture.h"
#include "diag/evidence.h"
#include "netsetup/netsetup.h"
#include "netsetup/hns/hcn_network.h"
#include "services/artifacts/artifacts.h"
#include "services/artifacts/bundle_archive.h"
#include "services/artifacts/program_image.h"
#include "services/containerd_settings.h"
#include "services/runtime_files.h"
#include "services/service_table.h"

/* ---- the files of a collection, and their index ---- */

/* The files beyond COLLECTION_FILES_MAX: three forms of the report, the index and a capture. */
enum { OTHERS = 5 };

struct collection {
    struct bundle_archive_file files[COLLECTION_FILES_MAX + OTHERS];
    size_t count, total;
    bool has_report;
    /* Parts of the index: its lines about files, and those about what could not be read. */
    struct text rows, missing;
};

struct collection *collection_new(void) {
    return xcalloc(1, sizeof(struct collection));
}

void collection_freep(struct collection **pack) {
    struct collection *c = *pack;

    if (!c)
        return;
    for (size_t i = 0; i < c->count; i++) {
        free((char *)c->files[i].path);
        free((char *)c->files[i].data);
    }
    text_free(&c->rows);
    text_free(&c->missing);
    free(c);
}

void collection_miss(struct collection *c, const char *name, const char *why) {
    text_addf(&c->missing, "  %s: ", name);
    text_add_escaped(&c->missing, why, strlen(why));
    text_add(&c->missing, "\n");
}

/* Adds a text to the archive and takes ownership of it. Overwrites what looks like a secret. `what`
 * describes the text in the index; with NULL the index has no line for it. */
static void put(struct collection *c, const char *name, const char *what, char *data, size_t len) {
    unicode_to_text(&data, &len);
    redact_secrets(data);
    if (what)
        text_addf(&c->rows, "  %-56s %s\n", name, what);
    c->files[c->count++] = (struct bundle_archive_file){xstrdup(name), data, len};
}

/* Adds a text to the files and to the index, and takes ownership of `data`. `what` describes the
 * text; `whole` is the size of the complete file, or 0 when `data` is the complete text. Every text
 * goes through redact_secrets(). A text that does not fit, or whose name cannot be packed, becomes
 * a line of the index. */
static void add(struct collection *c, const char *name, const char *what, char *data, size_t len,
                uint64_t whole) {
    size_t read = len;

    if (c->count >= COLLECTION_FILES_MAX || len > COLLECTION_TOTAL_MAX - c->total ||
        bundle_path_fault(name)) {
        collection_miss(c, name, "the collection is full, or the name cannot be packed");
        free(data);
        return;
    }
    text_addf(&c->rows, "  %-56s %s", name, what);
    if (whole > read)
        text_addf(&c->rows, " (the last %u of %llu bytes)", (unsigned)read,
                  (unsigned long long)whole);
    text_add(&c->rows, "\n");
    put(c, name, NULL, data, len);
    c->total += c->files[c->count - 1].len;
}

/* Hides secrets in each string of a document, because strings of several lines are searched better
 * before they are written as JSON. */
static void hide_strings(json_t *json) {
    if (json_is_string(json)) {
        _cleanup_(freep) char *text = xstrdup(json_string_value(json));

        redact_secrets(text);
        json_string_set(json, text);
    }
    json_each_member(json, key, item) {
        hide_strings(item);
    }
    json_each(json, i, item) {
        hide_strings(item);
    }
}

/* Writes a copy of the document in which each string went through redact_secrets(). The caller
 * frees the text. */
static char *write_hidden(const json_t *json) {
    _cleanup_json_ json_t *copy = json_deep_copy(json);

    hide_strings(copy);
    return json_write_pretty(copy);
}

void collection_add_json(struct collection *c, const char *name, const char *what,
                         const json_t *json) {
    char *data = write_hidden(json);

    add(c, name, what, data, strlen(data), 0);
}

void collection_add_report(struct collection *c, const char *text, const char *html, json_t *json) {
    _cleanup_json_ json_t *taken = json;
    _cleanup_(freep) char *written = write_hidden(taken);
    const struct {
        const char *name, *what, *text;
    } forms[] = {
        {"report.txt", "the flows, the causes, what to do", text},
        {"report.html", "the same for a browser", html},
        {COLLECTION_REPORT, "the same for programs", written},
    };

    c->has_report = true;
    for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
        char *data = xstrdup(forms[i].text);

        put(c, forms[i].name, forms[i].what, data, strlen(data));
    }
}

int collection_finish(struct collection *c, const char *head, const char *failure, char **ret,
                      size_t *ret_len, struct error *err) {
    struct text t = {0};
    size_t len;

    text_addf(&t, "%s\n\n", head);
    if (failure)
        text_addf(&t, "Nothing was measured: %s\n\n", failure);
    if (c->has_report)
        text_add(&t, "Begin with report.txt (or report.html in a browser). On any machine,\n"
                     "    winjoin diag --replay FILE.zip\n"
                     "evaluates this collection again. ");
    text_add(&t, "What looks like a secret (a token, a key, a password) is overwritten with *:\n"
                 "look before you give this away.\n\nFiles:\n");
    text_add(&t, text_str(&c->rows));
    if (c->missing.len)
        text_addf(&t, "\nCould not be read:\n%s", text_str(&c->missing));
    len = t.len;
    put(c, "index.txt", NULL, text_take(&t), len);
    return bundle_archive_make(c->files, c->count, ret, ret_len, err);
}

enum { COMMAND_MS = 10000, PROGRAM_MAX = 512 * 1024 * 1024 };

struct reading {
    struct host *host;
    uint64_t deadline;
    struct collection *pack;
};

static bool is_over(struct reading *c, const char *name) {
    if (host_monotonic_ms(c->host) < c->deadline && !host_interrupted(c->host))
        return false;
    collection_miss(c->pack, name, "the time for the collection is over");
    return true;
}

/* ---- files of the node ---- */

/* Adds the end of a file, in whole lines, and notes the size of the complete file. The part begins
 * at an even byte, and behind both bytes of a newline in UTF-16, so that it can be decoded. */
static void add_file(struct reading *c, const char *path) {
    _cleanup_(freep) char *name = NULL, *none = NULL, *data = NULL;
    struct text t = {0};
    struct error why = {0};
    uint64_t size = 0, offset = 0;
    size_t len, from = 0;
    int result;

    /* The name in the collection: "C:\\etc\\cni" becomes "files/C/etc/cni". */
    text_add(&t, "files/");
    for (const char *p = path; *p; p++)
        if (*p != ':')
            text_add_char(&t, *p == '\\' ? '/' : *p);
    name = text_take(&t);
    if (is_over(c, name))
        return;
    result = host_read_part(c->host, path, 0, 0, &none, &len, &size, &why);
    if (result == 0 && size > COLLECTION_FILE_MAX)
        offset = (size - COLLECTION_FILE_MAX + 1) / 2 * 2;
    if (result == 0)
        result =
            host_read_part(c->host, path, offset, COLLECTION_FILE_MAX, &data, &len, &size, &why);
    if (result < 0) {
        collection_miss(c->pack, name, why.message);
        return;
    }
    while (offset && from < len && data[from++] != '\n')
        ;
    from += from % 2 && from < len && !data[from];
    text_add_bytes(&t, data + from, len - from);
    len = t.len;
    add(c->pack, name, path, text_take(&t), len, size);
}

/* Adds a file, or each file of a folder. A place that does not exist is left out without a line. */
static void add_place(struct reading *c, const char *place) {
    _cleanup_(text_list_free) struct text_list names = {0};
    struct error why = {0};
    enum host_file_type type = host_file_type(c->host, place);

    if (type == HOST_FILE)
        add_file(c, place);
    if (type != HOST_FOLDER)
        return;
    if (host_list(c->host, place, &names, &why) < 0)
        collection_miss(c->pack, place, why.message);
    for (size_t i = 0; i < names.count; i++) {
        _cleanup_(freep) char *path = xasprintf("%s\\%s", place, names.items[i]);

        if (host_file_type(c->host, path) == HOST_FILE)
            add_file(c, path);
    }
}

/* ---- output of Windows' own programs ---- */

#define NETSH "C:\\Windows\\System32\\netsh.exe"
#define EVENTS(name, what, channel)                                                                \
    {                                                                                              \
        name, what, {                                                                              \
            "C:\\Windows\\System32\\wevtutil.exe", "qe", channel, "/c:200", "/rd:true", "/f:text"  \
        }                                                                                          \
    }
static const struct command {
    const char *name, *what;
    const char *argv[8];
} commands[] = {
    {"windows/firewall-profiles.txt",
     "the firewall's profiles",
     {NETSH, "advfirewall", "show", "allprofiles"}},
    {"windows/firewall-rules.txt",
     "the firewall's rules",
     {NETSH, "advfirewall", "firewall", "show", "rule", "name=all"}},
    {"windows/excluded-ports.txt",
     "ports that Windows keeps for itself",
     {NETSH, "interface", "ipv4", "show", "excludedportrange", "tcp"}},
    {"windows/ipconfig.txt",
     "adapters as Windows shows them",
     {"C:\\Windows\\System32\\ipconfig.exe", "/all"}},
    EVENTS("windows/system-events.txt", "the newest events of Windows", "System"),
    EVENTS("windows/application-events.txt", "the newest events of programs, winjoin's too",
           "Application"),
    EVENTS("windows/hns-events.txt", "the newest events of HNS",
           "Microsoft-Windows-Host-Network-Service-Admin"),
    EVENTS("windows/vswitch-events.txt", "the newest events of the virtual switch",
           "Microsoft-Windows-Hyper-V-VmSwitch-Operational"),
};

static void add_command(struct reading *c, const struct command *command) {
    const struct host_process process = {
        .argv = command->argv, .timeout_ms = COMMAND_MS, .with_errors = true};
    _cleanup_(freep) char *said = NULL;
    struct text text = {0};
    struct error why = {0};
    int code = 0;
    size_t len;

    if (is_over(c, command->name))
        return;
    if (host_run(c->host, &process, &code, &said, &why) < 0) {
        collection_miss(c->pack, command->name, why.message);
        return;
    }
    text_add(&text, said);
    if (code)
        text_addf(&text, "(exit code %d)\n", code);
    len = text.len;
    add(c->pack, command->name, command->what, text_take(&text), len, 0);
}

/* ---- versions and HNS objects ---- */

static json_t *versions_json(struct reading *c) {
    json_t *json = json_pack("{s:s, s:s}", "winjoin", build_version, "commit", build_commit);
    json_t *programs = json_object();
    struct artifact_target target;
    struct host_facts facts;

    if (host_facts(c->host, &facts, ERROR_IGNORED) == 0) /* A failure is noted in the evidence. */
        json_object_set_new(json, "windows",
                            json_pack("{s:s, s:s, s:s, s:s, s:I}", "product", facts.product,
                                      "installation", facts.installation_type, "architecture",
                                      facts.architecture, "hostName", facts.host_name,
                                      "memoryBytes", (json_int_t)facts.memory_bytes));
    for (size_t i = 0; artifact_target_at(i, &target); i++) {
        _cleanup_(freep) char *data = NULL, *version = NULL;
        size_t len;

        if (host_file_type(c->host, target.target) != HOST_FILE || is_over(c, target.target) ||
            host_read(c->host, target.target, PROGRAM_MAX, &data, &len, ERROR_IGNORED) < 0)
            continue;
        version = program_image_version(data, len);
        json_object_set_new(programs, target.target, json_string(version ? version : "unknown"));
    }
    json_object_set_new(json, "programs", programs);
    return json;
}

static void add_evidence(struct reading *c, const json_t *evidence) {
    _cleanup_json_ json_t *namespaces = NULL;
    struct error why = {0};

    json_each_member(evidence, key, part) {
        _cleanup_(freep) char *name = xasprintf("evidence/%s.json", key);

        collection_add_json(c->pack, name, "what the causes are judged by", part);
    }
    if (json_object_get(evidence, "namespaces"))
        return;
    if (hcn_list(c->host, HCN_NAMESPACE, NULL, NULL, &namespaces, &why) < 0)
        collection_miss(c->pack, "evidence/namespaces.json", why.message);
    else
        collection_add_json(c->pack, "evidence/namespaces.json", "HNS namespaces", namespaces);
}

/* Reads the evidence of a node that has none yet: one where everything works, or one that could not
 * be measured. */
static void evidence_complete(struct host *host, struct diag_report *report) {
#define NAME(row) service_##row.name,
    const char *const names[] = {SERVICE_ROWS(NAME) NULL};
#undef NAME
    const struct diag_evidence_options options = {.services = names};
    _cleanup_json_ json_t *read = NULL;

    if (json_object_get(report->evidence, "networks"))
        return;
    read = diag_evidence_read(host, &options);
    if (!report->evidence)
        report->evidence = json_object();
    json_object_update_missing(report->evidence, read);
    if (!report->node && json_text_at(read, "host.name"))
        report->node = xstrdup(json_text_at(read, "host.name"));
    if (!report->time)
        report->time = host_now(host);
}

/* ---- the complete collection of a node ---- */

/* Adds the report. Secrets are hidden before its lines are broken and its characters are escaped,
 * because that may separate a name from its value. */
static void add_report(struct collection *pack, const struct diag_report *report) {
    const struct diag_text_style style = {0};
    struct diag_report hidden = *report;
    _cleanup_json_ json_t *evidence = json_deep_copy(report->evidence);
    _cleanup_(freep) void *cells =
        xmemdup(report->cells.items, report->cells.count * sizeof *report->cells.items);
    _cleanup_(freep) char *text = NULL, *html = NULL;

    hide_strings(evidence);
    hidden.evidence = evidence;
    hidden.cells.items = cells;
    for (size_t i = 0; i < hidden.cells.count; i++)
        redact_secrets(hidden.cells.items[i].reason);
    text = diag_report_text(&hidden, &style);
    html = diag_report_html(&hidden);
    collection_add_report(pack, text, html, diag_report_json(report));
}

int diag_collect(struct host *host, struct diag_report *report,
                 const struct diag_collect_options *options, char **ret, size_t *ret_len,
                 struct error *err) {
    _cleanup_(collection_freep) struct collection *pack = collection_new();
    struct reading reading = {host, host_monotonic_ms(host) + COLLECTION_MS, pack};
    _cleanup_json_ json_t *versions = NULL;
    _cleanup_(freep) char *head = NULL;
    struct error why = {0};
    char *packets;
    size_t len;

    evidence_complete(host, report);
    add_report(pack, report);
    /* Packets that this run captured are no text, so they are packed unchanged. */
    if (json_at(report->evidence, "capture.drops")) {
        if (host_read(host, DIAG_CAPTURE_FILE, COLLECTION_TOTAL_MAX, &packets, &len, &why) < 0) {
            collection_miss(pack, "capture.pcapng", why.message);
        } else {
            text_addf(&pack->rows, "  %-56s %s\n", "capture.pcapng",
                      "while one red flow was asked: the first 128 bytes of each packet");
            pack->files[pack->count++] =
                (struct bundle_archive_file){xstrdup("capture.pcapng"), packets, len};
        }
    }
    add_evidence(&reading, report->evidence);
    for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
        add_command(&reading, &commands[i]);
    add_place(&reading, CNI_CONF_DIR);
    add_place(&reading, CONTAINERD_CONFIG_PATH);
    for (const struct service *const *row = service_table; *row; row++) {
        if ((*row)->settings_file)
            add_place(&reading, (*row)->settings_file);
        if ((*row)->log_folder)
            add_place(&reading, (*row)->log_folder);
    }
    for (const char *const *place = options->places; place && *place; place++)
        add_place(&reading, *place);
    versions = versions_json(&reading);
    collection_add_json(pack, "versions.json", "of Windows, winjoin and the node's programs",
                        versions);
    if (host_interrupted(host))
        return error_set(err, ERROR_INTERRUPTED, "collect evidence: interrupted");
    head = xasprintf("winjoin diag --collect: the node %s, %s, winjoin %s",
                     report->node ? report->node : "(name unknown)", RFC3339_TEXT(report->time),
                     build_version);
    return collection_finish(pack, head, options->failure, ret, ret_len, err);
}

bool diag_is_collection(const char *data, size_t len) {
    return len >= 4 && memcmp(data, "PK\3\4", 4) == 0;
}

int diag_collection_report(const char *data, size_t len, size_t max, char **ret, size_t *ret_len,
                           struct error *err) {
    return bundle_archive_read_all(data, len, NULL, 0, err) < 0 ||
                   bundle_archive_read(data, len, COLLECTION_REPORT, max, ret, ret_len, err) < 0
               ? -1
               : 0;
}
