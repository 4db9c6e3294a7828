/* Packs a collection. No part may keep the others out: what fails is a line of the index. */
#include "diag/collection/collection.h"

#include <stdlib.h>
#include <string.h>

#include "base/build_info.h"
#include "base/memory.h"
#include "base/redact.h"
#include "base/rfc3339.h"
#include "diag/capture.h"
#include "diag/evidence.h"
#include "netsetup/cni_config.h"
#include "netsetup/hcn_lookup.h"
#include "services/artifacts.h"
#include "services/bundle_archive.h"
#include "services/bundle_path.h"
#include "services/runtime_files.h"
#include "services/service_table.h"
#include "services/program_image.h"

#define REPORT_NAME "report.json"
enum { COMMAND_MS = 10000, PROGRAM_MAX = 512 * 1024 * 1024, SERVICES_MAX = 16 };

/* The index comes last, and has a place in any case. */
struct collection {
    struct host *host;
    uint64_t deadline;
    struct bundle_archive_file files[COLLECTION_FILES_MAX + 1];
    size_t count, total;
    struct text rows, missing; /* of the index */
};

static void collection_free(struct collection *c) {
    for (size_t i = 0; i < c->count; i++) {
        free((char *)c->files[i].path);
        free((char *)c->files[i].data);
    }
    text_free(&c->rows);
    text_free(&c->missing);
}

static void add_missing(struct collection *c, const char *name, const char *why) {
    text_addf(&c->missing, "  %s: %s\n", name, why);
}

/* Takes the text; `whole` is its size where it comes from, longer than what is packed of it. */
static void add(struct collection *c, const char *name, const char *what, struct text *text,
                uint64_t whole) {
    size_t len = text->len;
    char *data = text_take(text);

    for (char *zero = data; (zero = memchr(zero, '\0', (size_t)(data + len - zero)));)
        *zero = '?';
    redact_secrets(data);
    if (c->count == COLLECTION_FILES_MAX || len > COLLECTION_TOTAL_MAX - c->total ||
        !bundle_path_is_safe(name)) {
        add_missing(c, name, "the collection is full, or the name cannot be packed");
        free(data);
        return;
    }
    text_addf(&c->rows, "  %-56s %s", name, what);
    if (whole > len)
        text_addf(&c->rows, " (the last %u of %llu bytes)", (unsigned)len,
                  (unsigned long long)whole);
    text_add(&c->rows, "\n");
    c->total += len;
    c->files[c->count++] = (struct bundle_archive_file){xstrdup(name), data, len};
}

static void add_json(struct collection *c, const char *name, const char *what, const json_t *json) {
    struct text text = {0};
    _cleanup_(freep) char *written = json_write_pretty(json);

    text_add(&text, written);
    add(c, name, what, &text, 0);
}

static bool is_over(struct collection *c, const char *name) {
    if (host_monotonic_ms(c->host) < c->deadline && !host_interrupted(c->host))
        return false;
    add_missing(c, name, "the time for the collection is over");
    return true;
}

/* ---- files ---- */

/* "C:\\etc\\cni" -> "files/C/etc/cni" */
static char *packed_name(const char *path) {
    struct text t = {0};

    text_add(&t, "files/");
    for (; *path; path++)
        if (*path != ':')
            text_add_char(&t, *path == '\\' ? '/' : *path);
    return text_take(&t);
}

static void add_file(struct collection *c, const char *path) {
    _cleanup_(freep) char *name = packed_name(path), *data = NULL;
    struct text text = {0};
    struct error why = {0};
    uint64_t size = 0, offset;
    size_t len = 0, from = 0;

    if (is_over(c, name))
        return;
    if (host_read_part(c->host, path, 0, 0, &data, &len, &size, &why) == 0) {
        offset = size > COLLECTION_FILE_MAX ? size - COLLECTION_FILE_MAX : 0;
        freep(&data);
        if (host_read_part(c->host, path, offset, COLLECTION_FILE_MAX, &data, &len, &size, &why) <
            0)
            len = 0;
        while (offset && from < len && data[from++] != '\n')
            ; /* whole lines */
    }
    if (why.kind) {
        add_missing(c, name, why.message);
        return;
    }
    text_add_bytes(&text, len ? data + from : "", len - from);
    add(c, name, path, &text, size);
}

/* A file, or each file of a folder; one that is not there is no news. */
static void add_place(struct collection *c, const char *place) {
    _cleanup_(text_list_free) struct text_list names = {0};
    struct error why = {0};
    enum host_file_type type = host_file_type(c->host, place);

    if (type == HOST_FILE)
        add_file(c, place);
    if (type != HOST_FOLDER)
        return;
    if (host_list(c->host, place, &names, &why) < 0)
        add_missing(c, place, why.message);
    for (size_t i = 0; i < names.count; i++) {
        _cleanup_(freep) char *path = xasprintf("%s\\%s", place, names.items[i]);

        if (host_file_type(c->host, path) == HOST_FILE)
            add_file(c, path);
    }
}

static void add_files(struct collection *c, const char *const *places) {
    add_place(c, CNI_CONF_DIR);
    add_place(c, CONTAINERD_CONFIG_PATH);
    for (const struct service *const *row = service_table; *row; row++) {
        if ((*row)->settings_file)
            add_place(c, (*row)->settings_file);
        if ((*row)->log_folder)
            add_place(c, (*row)->log_folder);
    }
    for (; places && *places; places++)
        add_place(c, *places);
}

/* ---- what Windows' own programs print ---- */

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

static void add_command(struct collection *c, const struct command *command) {
    const struct host_process process = {
        .argv = command->argv, .timeout_ms = COMMAND_MS, .with_errors = true};
    _cleanup_(freep) char *said = NULL;
    struct text text = {0};
    struct error why = {0};
    int code = 0;

    if (is_over(c, command->name))
        return;
    if (host_run(c->host, &process, &code, &said, &why) < 0) {
        add_missing(c, command->name, why.message);
        return;
    }
    text_add(&text, said);
    if (code)
        text_addf(&text, "(exit code %d)\n", code);
    add(c, command->name, command->what, &text, 0);
}

/* ---- versions and HNS ---- */

static json_t *versions_json(struct collection *c) {
    json_t *json = json_pack("{s:s, s:s}", "winjoin", build_version, "commit", build_commit);
    json_t *programs = json_object();
    struct artifact_target target;
    struct host_facts facts;
    struct error ignored = {0}; /* named by the evidence */

    if (host_facts(c->host, &facts, &ignored) == 0)
        json_object_set_new(json, "windows",
                            json_pack("{s:s, s:s, s:s, s:s, s:I}", "product", facts.product,
                                      "installation", facts.installation_type, "architecture",
                                      facts.architecture, "hostName", facts.host_name,
                                      "memoryBytes", (json_int_t)facts.memory_bytes));
    for (size_t i = 0; artifact_target_at(i, &target); i++) {
        _cleanup_(freep) char *data = NULL, *version = NULL;
        size_t len = 0;

        if (host_file_type(c->host, target.target) != HOST_FILE || is_over(c, target.target) ||
            host_read(c->host, target.target, PROGRAM_MAX, &data, &len, &ignored) < 0)
            continue;
        version = program_image_version(data, len);
        json_object_set_new(programs, target.target, json_string(version ? version : "unknown"));
    }
    json_object_set_new(json, "programs", programs);
    return json;
}

static void add_evidence(struct collection *c, const json_t *evidence) {
    _cleanup_json_ json_t *namespaces = NULL;
    struct error why = {0};
    const char *key;
    json_t *part;

    json_object_foreach((json_t *)evidence, key, part) {
        _cleanup_(freep) char *name = xasprintf("evidence/%s.json", key);

        add_json(c, name, "what the causes are judged by", part);
    }
    if (json_object_get(evidence, "namespaces"))
        return;
    if (hcn_list(c->host, HCN_NAMESPACE, NULL, NULL, &namespaces, &why) < 0)
        add_missing(c, "evidence/namespaces.json", why.message);
    else
        add_json(c, "evidence/namespaces.json", "HNS namespaces", namespaces);
}

/* A node where everything works was not read; one that could not be measured neither. */
static void evidence_complete(struct host *host, struct diag_report *report) {
    const char *names[SERVICES_MAX + 1] = {0};
    const struct diag_evidence_options options = {.services = names};
    _cleanup_json_ json_t *read = NULL;
    size_t count = 0;

    if (json_object_get(report->evidence, "networks"))
        return;
    for (const struct service *const *row = service_table; *row && count < SERVICES_MAX; row++)
        names[count++] = (*row)->name;
    read = diag_evidence_read(host, &options);
    if (!report->evidence)
        report->evidence = json_object();
    json_object_update_missing(report->evidence, read);
    if (!report->node && json_text_at(read, "host.name"))
        report->node = xstrdup(json_text_at(read, "host.name"));
    if (!report->time)
        report->time = host_now(host);
}

/* The packets that this run captured: no text, so they are packed as they are. */
static void add_capture(struct collection *c, const json_t *evidence) {
    struct error why = {0};
    char *data;
    size_t len;

    if (!json_at(evidence, "capture.drops"))
        return;
    if (host_read(c->host, DIAG_CAPTURE_FILE, COLLECTION_TOTAL_MAX, &data, &len, &why) < 0) {
        add_missing(c, "capture.pcapng", why.message);
        return;
    }
    text_addf(&c->rows, "  %-56s %s\n", "capture.pcapng",
              "while one red flow was asked: the first 128 bytes of each packet");
    c->files[c->count++] = (struct bundle_archive_file){xstrdup("capture.pcapng"), data, len};
}

/* ---- the whole ---- */

static void add_report(struct collection *c, const struct diag_report *report) {
    const struct diag_text_style style = {0};
    struct text text = {0}, html = {0};
    _cleanup_(freep) char *words = diag_report_text(report, &style);
    _cleanup_(freep) char *page = diag_report_html(report);
    _cleanup_json_ json_t *json = diag_report_json(report);

    text_add(&text, words);
    text_add(&html, page);
    add(c, "report.txt", "the flows, the causes, what to do", &text, 0);
    add(c, "report.html", "the same for a browser", &html, 0);
    add_json(c, REPORT_NAME, "the same for programs, with the evidence", json);
    c->total = 0;
}

static void add_index(struct collection *c, const struct diag_report *report, const char *failure) {
    char time[RFC3339_TEXT_MAX];
    struct text t = {0};
    char *index;
    size_t len;

    rfc3339_format(report->time, time);
    text_addf(&t, "winjoin diag --collect: the node %s, %s, winjoin %s\n\n",
              report->node ? report->node : "(name unknown)", time, build_version);
    if (failure)
        text_addf(&t, "Nothing was measured: %s\n\n", failure);
    text_add(&t, "Begin with report.txt (or report.html in a browser). On any machine,\n"
                 "    winjoin diag --replay FILE.zip\n"
                 "evaluates this collection again. Tokens, keys and passwords are overwritten with "
                 "*.\n\nFiles:\n");
    text_add(&t, text_str(&c->rows));
    if (c->missing.len)
        text_addf(&t, "\nCould not be read:\n%s", text_str(&c->missing));
    len = t.len;
    index = text_take(&t);
    redact_secrets(index);
    c->files[c->count++] = (struct bundle_archive_file){xstrdup("index.txt"), index, len};
}

int diag_collect(struct host *host, struct diag_report *report,
                 const struct diag_collect_options *options, char **ret, size_t *ret_len,
                 struct error *err) {
    struct collection *c = xcalloc(1, sizeof *c);
    _cleanup_json_ json_t *versions = NULL;
    int result;

    c->host = host;
    c->deadline = host_monotonic_ms(host) + COLLECTION_MS;
    evidence_complete(host, report);
    add_report(c, report);
    add_capture(c, report->evidence);
    add_evidence(c, report->evidence);
    for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
        add_command(c, &commands[i]);
    add_files(c, options->places);
    versions = versions_json(c);
    add_json(c, "versions.json", "of Windows, winjoin and the node's programs", versions);
    add_index(c, report, options->failure);
    result = host_interrupted(host)
                 ? error_set(err, ERROR_INTERRUPTED, "collect evidence: interrupted")
                 : bundle_archive_make(c->files, c->count, ret, ret_len, err);
    collection_free(c);
    free(c);
    return result;
}

bool diag_is_collection(const char *data, size_t len) {
    return len > 4 && memcmp(data, "PK\3\4", 4) == 0;
}

int diag_collection_report(const char *data, size_t len, size_t max, char **ret, size_t *ret_len,
                           struct error *err) {
    return bundle_archive_check(data, len, err) < 0 ||
                   bundle_archive_read(data, len, REPORT_NAME, max, ret, ret_len, err) < 0
               ? -1
               : 0;
}
