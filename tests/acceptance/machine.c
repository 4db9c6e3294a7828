/* Rows that any elevated prompt can answer. Each takes back what it made. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "netsetup/hns/hns_features.h"
#include "tests/acceptance/acceptance.h"

#define FOLDER "C:\\winjoin-acceptance"
#define SERVICE "winjoin-acceptance"

/* Runs winjoin itself; the exit code. */
#define WINJOIN(kit, f, said, ...)                                                                 \
    kit_run(kit, f, 120, said, (const char *const[]){(kit)->winjoin, __VA_ARGS__, NULL})
#define POWERSHELL(kit, f, said, command)                                                          \
    kit_run(                                                                                       \
        kit, f, 120, said,                                                                         \
        (const char *const[]){"C:\\Windows\\System32\\WindowsPowerShell\\v1.0\\powershell.exe",    \
                              "-NoProfile", "-NonInteractive", "-Command", command, NULL})
#define PAGE_FILE(on)                                                                              \
    "Get-CimInstance Win32_ComputerSystem | Set-CimInstance -Property "                            \
    "@{AutomaticManagedPagefile=[bool]" on "}"
#define RUN(kit, f, said, ...) kit_run(kit, f, 60, said, (const char *const[]){__VA_ARGS__, NULL})

/* A kind of access, and what it is on Windows. */
struct access {
    enum host_access access;
    bool file;
    void (*expect)(const struct kit *kit, const char *path, struct finding *f);
};

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
    if (hns_version_get(kit->host, &version, &err) < 0) {
        finding_fail(f, "%s", err.message);
        return;
    }
    _cleanup_(freep) char *said = NULL, *wanted = xasprintf("%u.%u", version.major, version.minor);
    int code = WINJOIN(kit, f, &said, "capabilities");

    if (version.major < 9 || code || !strstr(said, wanted))
        finding_fail(f, "winjoin capabilities: exit code %d: %.200s", code, said);
    finding_note(f, "HNS %s", wanted);
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

/* What the folder and the file have, also where they were there before with another list. */
static void access_row(struct kit *kit, const struct row *row, struct finding *f) {
    const struct access *wanted = row->about;
    struct error err = {0};

    if (host_make_folder(kit->host, FOLDER "\\folder", wanted->access, &err) < 0 ||
        (wanted->file && host_write(kit->host, FOLDER "\\file", "x", 1, wanted->access, &err) < 0))
        finding_fail(f, "%s", err.message);
    wanted->expect(kit, FOLDER "\\folder", f);
    if (wanted->file)
        wanted->expect(kit, FOLDER "\\file", f);
    if (host_remove_tree(kit->host, FOLDER, &err) < 0)
        finding_fail(f, "not taken back: %s", err.message);
}

/* DISM is asked by its own program, too. */
static void feature(struct kit *kit, const struct row *row, struct finding *f) {
    _cleanup_(freep) char *said = NULL;
    struct host_facts facts = {0};
    struct error err = {0};
    int code =
        kit_run(kit, f, 300, &said,
                (const char *const[]){"C:\\Windows\\System32\\dism.exe", "/English", "/Online",
                                      "/Get-FeatureInfo", "/FeatureName:Containers", NULL});

    (void)row;
    if (code || host_facts(kit->host, &facts, &err) < 0)
        finding_fail(f, "exit code %d: %.300s%s", code, said, err.message);
    else if (facts.containers_feature != (strstr(said, "State : Enabled") != NULL))
        finding_fail(f, "winjoin reads %d; %.300s", facts.containers_feature, said);
    else
        finding_note(f, "%s", facts.containers_feature ? "installed" : "not installed");
}

/* What stands in the exclusions is what preflight reads there. */
static void defender(struct kit *kit, const struct row *row, struct finding *f) {
    static const char key[] = "SOFTWARE\\Microsoft\\Windows Defender\\Exclusions\\Paths";
    _cleanup_(freep) char *added = NULL, *removed = NULL, *value = NULL;
    struct error err = {0};

    (void)row;
    if (POWERSHELL(kit, f, &added, "Add-MpPreference -ExclusionPath " FOLDER)) {
        finding_skip(f, "Defender is not here: %.200s", added);
        return;
    }
    if (host_registry_get(kit->host, key, FOLDER, &value, &err) < 0)
        finding_fail(f, "%s", err.message);
    if (POWERSHELL(kit, f, &removed, "Remove-MpPreference -ExclusionPath " FOLDER))
        finding_fail(f, "not taken back: %.200s", removed);
}

/* The hint's own command; a setting that was off is off again. */
static void page_file(struct kit *kit, const struct row *row, struct finding *f) {
    static const char ask[] = "(Get-CimInstance Win32_ComputerSystem).AutomaticManagedPagefile";
    _cleanup_(freep) char *was = NULL, *set = NULL, *is = NULL, *back = NULL;

    (void)row;
    if (POWERSHELL(kit, f, &was, ask) || POWERSHELL(kit, f, &set, PAGE_FILE("1")) ||
        POWERSHELL(kit, f, &is, ask) || !strstr(is, "True"))
        finding_fail(f, "%.100s %.200s %.100s", was, set ? set : "", is ? is : "");
    if (was && strstr(was, "False") && POWERSHELL(kit, f, &back, PAGE_FILE("0")))
        finding_fail(f, "not taken back: %.200s", back);
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
    struct error err = {0};

    (void)row;
    if (host_firewall_put(kit->host, &rule, &err) < 0)
        finding_fail(f, "%s", err.message);
    kit_expect_rule(kit, SERVICE, f);
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
     SECRET ", and " SECRET_FOLDER " of a folder", 0, access_row,
     &(const struct access){HOST_SECRET, true, kit_expect_secret}},
    {"programs-acl", "nobody but administrators adds files beside programs", PROGRAMS, 0,
     access_row, &(const struct access){HOST_READ_ONLY, false, kit_expect_programs}},
    {"probe-acl", "containers' users may write the probe's mailbox, and nobody else", MAILBOX,
     NEEDS_WINDOWS, access_row,
     &(const struct access){HOST_PROBE_MAILBOX, false, kit_expect_mailbox}},
    {"containers-feature", "DISM answers for the feature Containers",
     "what dism.exe /Get-FeatureInfo says", NEEDS_WINDOWS, feature, NULL},
    {"defender", "Defender's exclusions are readable", "one that was added is read", NEEDS_WINDOWS,
     defender, NULL},
    {"page-file", "the hint of the check PageFile works", "AutomaticManagedPagefile: True",
     NEEDS_WINDOWS, page_file, NULL},
    {"share", "files on a server's share are read", "`config validate` by \\\\localhost\\C$: 0", 0,
     share, NULL},
    {"link", "a symbolic link is made, as the kubelet's certificate needs it",
     "`dir` shows <SYMLINK>", NEEDS_WINDOWS, symbolic_link, NULL},
    {"registry", "a number in the registry, and its key, come and go", "REG_DWORD 0x1, then no key",
     0, registry, NULL},
    {"firewall", "the Windows Firewall has the rule", "allow, inbound, TCP, 10250", 0, firewall,
     NULL},
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
