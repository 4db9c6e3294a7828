/* The preflight checks: one row each. To add one: a function and a row. */
#include "join/preflight.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "join/kubelet_files.h"
#include "join/phases.h"
#include "netsetup/hcn_network.h"
#include "services/service_table.h"

enum { DISK_MIN = 30, GIGABYTE = 1000 * 1000 * 1000, PAGE_FILE_MIN = 1 };

/* true = fine; otherwise the message says what is wrong. */
typedef bool check_function(struct join *join, char message[300]);

static bool say(char message[300], const char *format, ...)
    __attribute__((format(gnu_printf, 2, 3)));
static bool say(char message[300], const char *format, ...) {
    struct text t = {.cap = 299};
    va_list args;

    va_start(args, format);
    text_addv(&t, format, args);
    va_end(args);
    (void)text_format(message, 300, "%s", text_str(&t)); /* the cap keeps it short enough */
    text_free(&t);
    return false;
}

static bool is_elevated(struct join *join, char message[300]) {
    return join->facts.elevated ||
           say(message, "this process must be run by a user with elevated privileges");
}

static bool is_amd64(struct join *join, char message[300]) {
    return text_equal(join->facts.architecture, "amd64") ||
           say(message, "the processor is %s; Windows nodes are amd64", join->facts.architecture);
}

static bool is_server(struct join *join, char message[300]) {
    return text_starts_with(join->facts.installation_type, "Server") ||
           say(message, "this is Windows %s (%s), not a Server", join->facts.installation_type,
               join->facts.product);
}

static bool is_known_build(struct join *join, char message[300]) {
    static const unsigned builds[] = {17763, 20348, 26100};

    for (size_t i = 0; i < ARRAY_SIZE(builds); i++)
        if (join->facts.build == builds[i])
            return true;
    return say(message, "build %u is none of 17763 (2019), 20348 (2022), 26100 (2025)",
               join->facts.build);
}

static bool is_patched(struct join *join, char message[300]) {
    unsigned build = join->facts.build, revision = join->facts.revision;

    if (build == 17763 && revision < 1432)
        return say(message, "10.0.17763.%u lacks the DSR update KB4580390 (revision 1432)",
                   revision);
    if (build == 20348 && revision >= 2582 && revision < 2700)
        return say(message, "10.0.20348.%u has the pod egress regression of KB5040437", revision);
    return true;
}

static bool has_containers(struct join *join, char message[300]) {
    return join->facts.containers_feature != 0 ||
           say(message, "the Windows feature Containers is not installed");
}

static bool needs_no_restart(struct join *join, char message[300]) {
    return !join->facts.restart_pending || say(message, "Windows waits for a restart");
}

static bool has_hns(struct join *join, char message[300]) {
    struct error why = {0};

    return hns_version_get(join->host, &join->hns, &why) == 0 ||
           say(message, "the Host Networking Service does not answer: %s", why.message);
}

static bool has_overlay_support(struct join *join, char message[300]) {
    return !join->hns.major || hns_has(join->hns, HNS_V2_API) ||
           say(message, "HNS %u.%u cannot make Kubernetes networks (9.2 or newer)", join->hns.major,
               join->hns.minor);
}

static bool has_ipv6(struct join *join, char message[300]) {
    _cleanup_(freep) char *value = NULL;

    if (host_registry_get(join->host, "SYSTEM\\CurrentControlSet\\Services\\Tcpip6\\Parameters",
                          "DisabledComponents", &value, NULL) < 0)
        return true;
    return !text_equal(value, "255") ||
           say(message, "IPv6 is switched off (DisabledComponents=255); HNS needs it in the stack");
}

static bool has_one_card(struct join *join, char message[300]) {
    struct error why = {0};

    for (size_t i = 0; i < join->journal.count; i++)
        if (join->journal.entries[i].kind == JOURNAL_SWITCH)
            return true; /* chosen by the join that this one goes on with */
    if (!join->has_nic && nic_choose(join->host, join->options->adapter, join->options->node_ip,
                                     &join->nic, &why) < 0)
        return say(message, "%s", why.message);
    join->has_nic = true;
    return true;
}

static bool has_page_file(struct join *join, char message[300]) {
    return join->facts.page_file_bytes >= PAGE_FILE_MIN ||
           say(message, "no page file: Windows has no OOM killer, a full commit charge stops the "
                        "node");
}

static bool has_disk(struct join *join, char message[300]) {
    uint64_t bytes;

    return host_free_space(join->host, "C:\\", &bytes, NULL) < 0 ||
           bytes >= (uint64_t)DISK_MIN * GIGABYTE ||
           say(message, "C: has %.1f GB free; images and logs want %d GB", (double)bytes / GIGABYTE,
               DISK_MIN);
}

static bool is_ours(struct join *join, enum service_id id) {
    struct host_service service = {0};
    bool ours = host_service_query(join->host, service_name(id), &service, NULL) == 0 &&
                service.state != HOST_SERVICE_ABSENT && service_is_ours(&service);

    host_service_free(&service);
    return ours;
}

static bool port_is_free(struct join *join, unsigned port, enum service_id owner,
                         char message[300]) {
    bool used = false;

    if (host_port_in_use(join->host, false, port, &used, NULL) < 0 || !used || is_ours(join, owner))
        return true;
    return say(message, "port %u is in use", port);
}

static bool port_10250(struct join *join, char message[300]) {
    return port_is_free(join, 10250, SERVICE_KUBELET, message);
}

static bool port_10248(struct join *join, char message[300]) {
    return port_is_free(join, 10248, SERVICE_KUBELET, message);
}

static bool port_10256(struct join *join, char message[300]) {
    return port_is_free(join, 10256, SERVICE_KUBE_PROXY, message);
}

/* A file of an earlier join that winjoin did not make (kubeadm: FileAvailable). */
static bool is_available(struct join *join, const char *path, char message[300]) {
    return host_file_type(join->host, path) == HOST_ABSENT ||
           journal_has(&join->journal, JOURNAL_FILE_ENTRY, path) ||
           say(message, "%s already exists and is not winjoin's", path);
}

static bool kubelet_conf(struct join *join, char message[300]) {
    return is_available(join, KUBELET_KUBECONFIG_FILE, message);
}

static bool bootstrap_conf(struct join *join, char message[300]) {
    return is_available(join, KUBELET_BOOTSTRAP_KUBECONFIG_FILE, message);
}

static bool ca_crt(struct join *join, char message[300]) {
    return is_available(join, KUBERNETES_CA_FILE, message);
}

static bool services_are_free(struct join *join, char message[300]) {
    for (enum service_id id = 0; id < SERVICE_COUNT; id++) {
        struct host_service service = {0};
        bool foreign = host_service_query(join->host, service_name(id), &service, NULL) == 0 &&
                       service.state != HOST_SERVICE_ABSENT && !service_is_ours(&service);

        host_service_free(&service);
        if (foreign)
            return say(message, "a service \"%s\" is there that winjoin did not make",
                       service_name(id));
    }
    return true;
}

static bool short_name(struct join *join, char message[300]) {
    return strlen(join->facts.host_name) <= 15 || join->options->node_name ||
           say(message,
               "host name \"%s\" is longer than NetBIOS' 15 characters: some tools will "
               "show a cut name",
               join->facts.host_name);
}

struct preflight_check {
    const char *id, *help;
    enum preflight_outcome level; /* of a failure */
    check_function *run;
    const char *hint;
};
static const struct preflight_check checks[] = {
    {"IsPrivilegedUser", "the process is elevated", PREFLIGHT_ERROR, is_elevated,
     "start it from an elevated prompt (Run as administrator)"},
    {"Architecture", "the processor is amd64", PREFLIGHT_ERROR, is_amd64, ""},
    {"SystemVerification", "this is a Windows Server", PREFLIGHT_ERROR, is_server,
     "Windows nodes are Servers: 2019, 2022 or 2025"},
    {"WindowsBuild", "the build is a long-term one", PREFLIGHT_WARNING, is_known_build,
     "images must match the build; see winjoin capabilities"},
    {"WindowsPatch", "updates that pods' networks need are in", PREFLIGHT_WARNING, is_patched,
     "install the newest cumulative update"},
    {"ContainersFeature", "the feature Containers is installed", PREFLIGHT_ERROR, has_containers,
     "dism /online /enable-feature /featurename:Containers /all, then restart Windows"},
    {"PendingRestart", "no restart is pending", PREFLIGHT_ERROR, needs_no_restart,
     "restart Windows, then run the same command again"},
    {"HNS", "the Host Networking Service answers", PREFLIGHT_ERROR, has_hns, "sc start hns"},
    {"HNSVersion", "HNS can make Kubernetes networks", PREFLIGHT_ERROR, has_overlay_support,
     "install the newest cumulative update"},
    {"IPv6Stack", "IPv6 is in the stack", PREFLIGHT_ERROR, has_ipv6,
     "remove DisabledComponents under Tcpip6\\Parameters and restart"},
    {"NetworkCard", "one card has the default route", PREFLIGHT_ERROR, has_one_card,
     "name one with --adapter"},
    {"PageFile", "there is a page file", PREFLIGHT_WARNING, has_page_file,
     "set one of 8 GB or more"},
    {"DiskSpace", "C: has room for images", PREFLIGHT_WARNING, has_disk, ""},
    {"Port-10250", "the kubelet's port is free", PREFLIGHT_ERROR, port_10250,
     "netstat -ano | findstr :10250 shows who holds it"},
    {"Port-10248", "the kubelet's health port is free", PREFLIGHT_ERROR, port_10248,
     "netstat -ano | findstr :10248 shows who holds it"},
    {"Port-10256", "kube-proxy's health port is free", PREFLIGHT_ERROR, port_10256,
     "netstat -ano | findstr :10256 shows who holds it"},
    {"FileAvailable--etc-kubernetes-kubelet.conf", "no other kubelet.conf", PREFLIGHT_ERROR,
     kubelet_conf, "another tool joined this machine: undo that first (kubeadm reset)"},
    {"FileAvailable--etc-kubernetes-bootstrap-kubelet.conf", "no other bootstrap-kubelet.conf",
     PREFLIGHT_ERROR, bootstrap_conf, "another tool joined this machine: undo that first"},
    {"FileAvailable-C:-etc-kubernetes-pki-ca.crt", "no other ca.crt", PREFLIGHT_ERROR, ca_crt,
     "another tool joined this machine: undo that first"},
    {"Service-Kubelet", "no service of our names is somebody else's", PREFLIGHT_ERROR,
     services_are_free, "remove it (sc delete NAME), or ignore this check to take it over"},
    {"Hostname", "the host name is short enough for NetBIOS", PREFLIGHT_WARNING, short_name, ""},
};

static bool is_ignored(const struct join *join, const char *id) {
    const struct text_list *ignored = &join->options->ignore_preflight_errors;

    for (size_t i = 0; i < ignored->count; i++)
        if (text_equal_nocase(ignored->items[i], id) || text_equal_nocase(ignored->items[i], "all"))
            return true;
    return false;
}

const char *preflight_outcome_name(enum preflight_outcome outcome) {
    static const char *const names[] = {"pass", "warning", "error", "ignored"};

    return names[outcome];
}

struct preflight_result *preflight_run(struct join *join, size_t *ret_count) {
    struct preflight_result *results = xcalloc(ARRAY_SIZE(checks), sizeof *results);

    for (size_t i = 0; i < ARRAY_SIZE(checks); i++) {
        struct preflight_result *r = &results[i];

        r->id = checks[i].id;
        r->help = checks[i].help;
        r->hint = checks[i].hint;
        if (checks[i].run(join, r->message))
            r->outcome = PREFLIGHT_PASS;
        else
            r->outcome = is_ignored(join, r->id) ? PREFLIGHT_IGNORED : checks[i].level;
    }
    *ret_count = ARRAY_SIZE(checks);
    return results;
}

json_t *preflight_report_json(const struct preflight_result *results, size_t count) {
    json_t *rows = json_array();

    for (size_t i = 0; i < count; i++) {
        const struct preflight_result *r = &results[i];
        bool bad = r->outcome != PREFLIGHT_PASS;
        const char *level = checks[i].level == PREFLIGHT_ERROR ? "error" : "warning";

        json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:s*, s:s*}", "id", r->id, "level",
                                              level, "outcome", preflight_outcome_name(r->outcome),
                                              "message", bad ? r->message : NULL, "hint",
                                              bad && *r->hint ? r->hint : NULL));
    }
    return json_pack("{s:s, s:s, s:o}", "apiVersion", "winjoin.io/v1alpha1", "kind",
                     "PreflightReport", "checks", rows);
}

int preflight_judge(const struct preflight_result *results, size_t count, struct error *err) {
    size_t errors = 0, restarts = 0;

    for (size_t i = 0; i < count; i++) {
        bool restart = text_equal(results[i].id, "PendingRestart");

        errors += results[i].outcome == PREFLIGHT_ERROR;
        restarts += results[i].outcome == PREFLIGHT_ERROR && restart;
    }
    if (!errors)
        return 0;
    if (errors == restarts)
        (void)error_set(err, ERROR_RESTART,
                        "use this machine: a restart of Windows is needed first");
    else
        (void)error_set(err, ERROR_PREFLIGHT,
                        "use this machine: %zu of %zu preflight checks failed", errors, count);
    for (size_t i = 0; i < count; i++)
        if (results[i].outcome == PREFLIGHT_ERROR)
            (void)error_hint(err, "[%s] %s%s%s", results[i].id, results[i].message,
                             *results[i].hint ? ": " : "", results[i].hint);
    return -1;
}

int phase_preflight(struct join *join, struct error *err) {
    size_t count, warnings = 0;
    _cleanup_(freep) struct preflight_result *results = preflight_run(join, &count);

    for (size_t i = 0; i < count; i++) {
        if (results[i].outcome != PREFLIGHT_WARNING && results[i].outcome != PREFLIGHT_IGNORED)
            continue;
        warnings++;
        join_warn(join, "%s%s%s%s", results[i].message, *results[i].hint ? " (" : "",
                  results[i].hint, *results[i].hint ? ")" : "");
    }
    text_addf(&join->detail, "%zu checks, %zu warning%s", count, warnings,
              warnings == 1 ? "" : "s");
    return preflight_judge(results, count, err);
}
