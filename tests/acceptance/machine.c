/* Rows that any elevated prompt can answer. Each takes back what it made. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "netsetup/hns_features.h"
#include "tests/acceptance/acceptance.h"

#define FOLDER "C:\\winjoin-acceptance"
#define SERVICE "winjoin-acceptance"

/* Runs winjoin itself; the exit code. */
#define WINJOIN(kit, f, said, ...)                                                                 \
    kit_run(kit, f, 120, said, (const char *const[]){(kit)->winjoin, __VA_ARGS__, NULL})
#define RUN(kit, f, said, ...) kit_run(kit, f, 60, said, (const char *const[]){__VA_ARGS__, NULL})

static void version(struct kit *kit, const struct row *row, struct finding *f) {
    _cleanup_(freep) char *said = NULL;
    int code = WINJOIN(kit, f, &said, "version");

    (void)row;
    if (code || !text_starts_with(said, "winjoin "))
        finding_fail(f, "exit code %d", code);
    said[strcspn(said, "\r\n")] = '\0';
    finding_note(f, "%s", said);
}

/* "Microsoft Windows [Version 10.0.20348.2340]", in any language. */
static void facts(struct kit *kit, const struct row *row, struct finding *f) {
    _cleanup_(freep) char *said = NULL;
    struct host_facts facts = {0};
    struct error err = {0};
    char build[64];

    (void)row;
    if (RUN(kit, f, &said, "C:\\Windows\\System32\\cmd.exe", "/c", "ver") < 0)
        return;
    if (host_facts(kit->host, &facts, &err) < 0) {
        finding_fail(f, "%s", err.message);
        return;
    }
    (void)snprintf(build, sizeof build, "%u.%u.%u", facts.major, facts.minor, facts.build);
    if (!strstr(said, build) || !*facts.product || !*facts.host_name || !facts.memory_bytes)
        finding_fail(f, "Windows says: %s", said);
    if (!facts.elevated)
        finding_fail(f, "the prompt is not elevated: start it as administrator");
    finding_note(f, "%s, %s.%u, %s, %s", facts.product, build, facts.revision,
                 facts.installation_type, facts.architecture);
}

static void hns_version(struct kit *kit, const struct row *row, struct finding *f) {
    struct hns_version version = {0};
    struct error err = {0};

    (void)row;
    if (hns_version_get(kit->host, &version, &err) < 0)
        finding_fail(f, "%s", err.message);
    else if (version.major < 9)
        finding_fail(f, "HNS %u.%u", version.major, version.minor);
    else
        finding_note(f, "HNS %u.%u", version.major, version.minor);
}

/* Every check says how it went; none could not tell. */
static void preflight(struct kit *kit, const struct row *row, struct finding *f) {
    _cleanup_(freep) char *said = NULL;
    _cleanup_json_ json_t *report = NULL;
    struct error err = {0};
    const json_t *check;
    size_t i, count;
    int code = WINJOIN(kit, f, &said, "preflight", "-o", "json");
    const char *begin = strchr(said, '{');

    (void)row;
    if (!begin || json_read(begin, strlen(begin), "the report", &report, &err) < 0) {
        finding_fail(f, "exit code %d: %.200s", code, said);
        return;
    }
    count = json_array_size(json_object_get(report, "checks"));
    json_array_foreach(json_object_get(report, "checks"), i, check) {
        const char *message = json_text_at(check, "message");

        if (message && strstr(message, "could not tell"))
            finding_fail(f, "%s: %s", json_text_at(check, "id"), message);
    }
    if ((code != 0 && code != 2) || count < 10)
        finding_fail(f, "exit code %d, %u checks", code, (unsigned)count);
    finding_note(f, "%u checks, exit code %d", (unsigned)count, code);
}

static void secret(struct kit *kit, const struct row *row, struct finding *f) {
    struct error err = {0};

    (void)row;
    if (host_make_folder(kit->host, FOLDER "\\secret", HOST_SECRET, &err) < 0 ||
        host_write(kit->host, FOLDER "\\secret.conf", "x", 1, HOST_SECRET, &err) < 0)
        finding_fail(f, "%s", err.message);
    kit_expect_secret(kit, FOLDER "\\secret", f);
    kit_expect_secret(kit, FOLDER "\\secret.conf", f);
    if (host_remove_tree(kit->host, FOLDER, &err) < 0)
        finding_fail(f, "not taken back: %s", err.message);
}

static void programs(struct kit *kit, const struct row *row, struct finding *f) {
    struct error err = {0};

    (void)row;
    if (host_make_folder(kit->host, FOLDER "\\programs", HOST_READ_ONLY, &err) < 0)
        finding_fail(f, "%s", err.message);
    else
        kit_expect_programs(kit, FOLDER "\\programs", f);
    if (host_remove_tree(kit->host, FOLDER, &err) < 0)
        finding_fail(f, "not taken back: %s", err.message);
}

/* By the administrators' own share of the drive. */
static void share(struct kit *kit, const struct row *row, struct finding *f) {
    static const char text[] = "apiVersion: winjoin.io/v1alpha1\nkind: NodeConfiguration\n";
    static const char *const names[] = {"\\\\localhost\\C$\\winjoin-acceptance\\node.yaml",
                                        "\\\\?\\UNC\\localhost\\C$\\winjoin-acceptance\\node.yaml"};
    struct error err = {0};

    (void)row;
    if (host_write(kit->host, FOLDER "\\node.yaml", text, strlen(text), HOST_PUBLIC, &err) < 0)
        finding_fail(f, "%s", err.message);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        _cleanup_(freep) char *said = NULL;
        int code = WINJOIN(kit, f, &said, "config", "validate", "--config", names[i]);

        if (code)
            finding_fail(f, "%s: exit code %d: %s", names[i], code, said);
    }
    if (host_remove_tree(kit->host, FOLDER, &err) < 0)
        finding_fail(f, "not taken back: %s", err.message);
}

static void symbolic_link(struct kit *kit, const struct row *row, struct finding *f) {
    _cleanup_(freep) char *said = NULL;
    struct error err = {0};

    (void)row;
    if (host_write(kit->host, FOLDER "\\a.pem", "x", 1, HOST_PUBLIC, &err) < 0 ||
        host_link(kit->host, FOLDER "\\current.pem", "a.pem", &err) < 0)
        finding_fail(f, "%s", err.message);
    (void)RUN(kit, f, &said, "C:\\Windows\\System32\\cmd.exe", "/c", "dir", FOLDER);
    if (!strstr(said, "<SYMLINK>"))
        finding_fail(f, "%s", said);
    if (host_remove_tree(kit->host, FOLDER, &err) < 0)
        finding_fail(f, "not taken back: %s", err.message);
}

static void recovery(struct kit *kit, const struct row *row, struct finding *f) {
    struct host_service service = {.name = (char *)(size_t)SERVICE,
                                   .display_name = (char *)(size_t)SERVICE,
                                   .description = (char *)(size_t) "winjoin: acceptance",
                                   .command = kit->winjoin,
                                   .restart_delays_ms = {1000, 5000, 30000},
                                   .reset_seconds = 3600};
    struct error err = {0};

    (void)row;
    if (host_service_put(kit->host, &service, &err) < 0)
        finding_fail(f, "%s", err.message);
    else
        kit_recovery(SERVICE, f);
    if (host_service_delete(kit->host, SERVICE, 10000, &err) < 0)
        finding_fail(f, "not taken back: %s", err.message);
}

static void registry(struct kit *kit, const struct row *row, struct finding *f) {
    static const char key[] = "SOFTWARE\\winjoin-acceptance";
    _cleanup_(freep) char *said = NULL, *text = NULL, *after = NULL;
    struct error err = {0};

    (void)row;
    if (host_registry_set(kit->host, key, "one", true, "1", &err) < 0 ||
        host_registry_set(kit->host, key, "text", false, "12-34", &err) < 0)
        finding_fail(f, "%s", err.message);
    (void)RUN(kit, f, &said, "C:\\Windows\\System32\\reg.exe", "query",
              "HKLM\\SOFTWARE\\winjoin-acceptance", "/v", "one");
    if (!strstr(said, "REG_DWORD") || !strstr(said, "0x1"))
        finding_fail(f, "%s", said);
    (void)RUN(kit, f, &text, "C:\\Windows\\System32\\reg.exe", "query",
              "HKLM\\SOFTWARE\\winjoin-acceptance", "/v", "text");
    if (!strstr(text, "REG_SZ") || !strstr(text, "12-34"))
        finding_fail(f, "%s", text);
    if (host_registry_set(kit->host, key, "one", true, NULL, &err) < 0 ||
        host_registry_set(kit->host, key, "text", false, NULL, &err) < 0)
        finding_fail(f, "not taken back: %s", err.message);
    if (RUN(kit, f, &after, "C:\\Windows\\System32\\reg.exe", "query",
            "HKLM\\SOFTWARE\\winjoin-acceptance") == 0)
        finding_fail(f, "its key is still there");
}

static void firewall(struct kit *kit, const struct row *row, struct finding *f) {
    const struct host_firewall_rule rule = {SERVICE, "winjoin's acceptance kit", false, 10250};
    _cleanup_(freep) char *said = NULL;
    struct error err = {0};

    (void)row;
    if (host_firewall_put(kit->host, &rule, &err) < 0)
        finding_fail(f, "%s", err.message);
    (void)RUN(kit, f, &said, "C:\\Windows\\System32\\netsh.exe", "advfirewall", "firewall", "show",
              "rule", "name=" SERVICE);
    if (!strstr(said, "10250") || !strstr(said, "TCP"))
        finding_fail(f, "%s", said);
    if (host_firewall_remove(kit->host, SERVICE, &err) < 0)
        finding_fail(f, "not taken back: %s", err.message);
}

static void event(struct kit *kit, const struct row *row, struct finding *f) {
    _cleanup_(freep) char *said = NULL;
    struct error err = {0};

    (void)row;
    if (host_event(kit->host, 'i', 1000, "a line of winjoin's acceptance kit", &err) < 0)
        finding_fail(f, "%s", err.message);
    (void)RUN(kit, f, &said, "C:\\Windows\\System32\\wevtutil.exe", "qe", "Application",
              "/q:*[System[Provider[@Name='winjoin']]]", "/c:1", "/rd:true", "/f:xml");
    if (!strstr(said, "acceptance kit"))
        finding_fail(f, "%.300s", said);
}

/* Addresses are the same in every language of ipconfig. */
static void adapters(struct kit *kit, const struct row *row, struct finding *f) {
    _cleanup_(freep) char *said = NULL;
    struct host_adapters list = {0};
    struct error err = {0};
    unsigned compared = 0;

    (void)row;
    if (host_adapters(kit->host, &list, &err) < 0)
        finding_fail(f, "%s", err.message);
    (void)RUN(kit, f, &said, "C:\\Windows\\System32\\ipconfig.exe", "/all");
    for (size_t i = 0; i < list.count; i++)
        for (size_t j = 0; list.items[i].up && j < list.items[i].addresses.count; j++) {
            char *address = list.items[i].addresses.items[j];

            address[strcspn(address, "/")] = '\0';
            if (strchr(address, ':') || text_starts_with(address, "127."))
                continue;
            compared++;
            if (!strstr(said, address))
                finding_fail(f, "%s on %s is not in ipconfig", address, list.items[i].alias);
        }
    if (!compared)
        finding_fail(f, "no adapter has an IPv4 address");
    finding_note(f, "%u addresses of %u adapters", compared, (unsigned)list.count);
    host_adapters_free(&list);
}

static void device_names(struct kit *kit, const struct row *row, struct finding *f) {
    _cleanup_(freep) char *said = NULL;
    int code = WINJOIN(kit, f, &said, "config", "validate", "--config", "NUL");

    (void)row;
    if (code != 3 || !strstr(said, "it names a device, not a file"))
        finding_fail(f, "exit code %d: %s", code, said);
}

static void log_name(struct kit *kit, const struct row *row, struct finding *f) {
    static const char path[] = FOLDER "\\l\xc3\xb6g\xc3\xbc.log";
    _cleanup_(freep) char *said = NULL;
    struct error err = {0};

    (void)row;
    if (host_make_folder(kit->host, FOLDER, HOST_PUBLIC, &err) < 0)
        finding_fail(f, "%s", err.message);
    (void)WINJOIN(kit, f, &said, "version", "--log-file", path, "-v", "1");
    if (host_file_type(kit->host, path) != HOST_FILE)
        finding_fail(f, "no such file; winjoin says: %s", said);
    if (host_remove_tree(kit->host, FOLDER, &err) < 0)
        finding_fail(f, "not taken back: %s", err.message);
}

const struct row machine_rows[] = {
    {"version", "the imports of winjoin.exe are all there", "one line, winjoin and its version", 0,
     version, NULL},
    {"facts", "facts about this Windows are read right", "the build that `ver` says, elevated", 0,
     facts, NULL},
    {"hns-version", "HNS tells its version", "9 or newer", 0, hns_version, NULL},
    {"preflight", "every check can tell on this server", "no check says `could not tell`; 0 or 2",
     0, preflight, NULL},
    {"secret-acl", "secret files are for SYSTEM and Administrators alone",
     SECRET ", and " SECRET_FOLDER " of a folder", 0, secret, NULL},
    {"programs-acl", "nobody but administrators adds files beside programs", PROGRAMS, 0, programs,
     NULL},
    {"share", "files on a server's share are read", "`config validate` by \\\\localhost\\C$: 0",
     NEEDS_WINDOWS, share, NULL},
    {"link", "a symbolic link is made, as the kubelet's certificate needs it",
     "`dir` shows <SYMLINK>", NEEDS_WINDOWS, symbolic_link, NULL},
    {"service-recovery", "Windows keeps what a service does after it fails",
     "three restarts, also after an exit that is no crash", NEEDS_WINDOWS, recovery, NULL},
    {"registry", "a number in the registry, and its key, come and go", "REG_DWORD 0x1, then no key",
     0, registry, NULL},
    {"firewall", "the Windows Firewall has the rule", "TCP, 10250", NEEDS_WINDOWS, firewall, NULL},
    {"event-log", "the Application log has winjoin's entry", "its text", NEEDS_WINDOWS, event,
     NULL},
    {"adapters", "adapters have the addresses that Windows shows", "each one in ipconfig", 0,
     adapters, NULL},
    {"device-names", "names of devices are refused as files", "it names a device; exit code 3", 0,
     device_names, NULL},
    {"log-name", "a log's name may have letters of other alphabets", "a file of that name", 0,
     log_name, NULL},
    {0},
};
