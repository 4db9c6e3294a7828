/* Rows about a node, and those that make one: join, look, reset. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "join/kubelet/kubelet_files.h"
#include "netsetup/windows_builds.h"
#include "services/service_table.h"
#include "tests/acceptance/acceptance.h"

/* winjoin with these words and, behind them, those of --join; what it prints. */
static int winjoin(struct kit *kit, struct finding *f, char *const *more, char **ret_said,
                   const char *const *words) {
    const char *argv[64] = {kit->winjoin};
    size_t count = 1;

    for (; *words && count < 62; words++)
        argv[count++] = *words;
    for (; more && *more && count < 62; more++)
        argv[count++] = *more;
    return kit_run(kit, f, 1800, ret_said, argv);
}

/* The last lines say it. */
static const char *tail(const char *said) {
    size_t len = strlen(said);

    return said + (len > 600 ? len - 600 : 0);
}

/* winjoin ends with 0. */
static void expect(struct kit *kit, struct finding *f, char *const *more,
                   const char *const *words) {
    _cleanup_(freep) char *said = NULL;
    int code = winjoin(kit, f, more, &said, words);

    if (code)
        finding_fail(f, "exit code %d: %s", code, tail(said));
    else
        finding_note(f, "exit code 0");
}
#define EXPECT(kit, f, more, ...) expect(kit, f, more, (const char *const[]){__VA_ARGS__, NULL})

static void join(struct kit *kit, const struct row *row, struct finding *f) {
    (void)row;
    if (!kit->joined)
        before_keep(kit, f);
    EXPECT(kit, f, kit->join, "join");
}

static void join_again(struct kit *kit, const struct row *row, struct finding *f) {
    static const char *const words[] = {"join", "-o", "json", NULL};
    _cleanup_(freep) char *said = NULL;
    _cleanup_json_ json_t *result = NULL;
    int code = winjoin(kit, f, kit->join, &said, words);
    const char *begin = strchr(said, '{');
    const json_t *phase;
    size_t i;

    (void)row;
    result = begin ? json_loads(begin, JSON_DISABLE_EOF_CHECK, NULL) : NULL;
    if (code || !json_array_size(json_object_get(result, "phases")))
        finding_fail(f, "exit code %d: %s", code, tail(said));
    json_array_foreach(json_object_get(result, "phases"), i, phase) {
        const char *id = json_text_at(phase, "id");

        if (json_bool_at(phase, "changed", false))
            finding_fail(f, "%s changed something", id);
    }
    if (f->outcome == ROW_PASS)
        finding_note(f, "nothing changed");
}

static void services(struct kit *kit, const struct row *row, struct finding *f) {
    (void)row;
    for (const struct service *const *s = service_table; *s; s++) {
        struct host_service found = {0};
        struct error err = {0};

        if (host_service_query(kit->host, (*s)->name, &found, &err) < 0)
            finding_fail(f, "%s", err.message);
        else if (found.state != HOST_SERVICE_ABSENT)
            kit_recovery((*s)->name, f);
        host_service_free(&found);
    }
}

/* Wine adds the parent's rights to the list of a folder that was there, also to a protected one. */
static void secrets(struct kit *kit, const struct row *row, struct finding *f) {
    static const char *const paths[] = {"C:\\ProgramData\\winjoin", "C:\\var\\lib\\kubelet\\pki",
                                        "C:\\etc\\kubernetes\\kubelet.conf",
                                        "C:\\k\\kube-proxy.kubeconfig",
                                        "C:\\k\\flanneld.kubeconfig"};

    (void)row;
    for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
        enum host_file_type type = host_file_type(kit->host, paths[i]);

        if (type != HOST_ABSENT && !(kit->wine && type == HOST_FOLDER))
            kit_expect_secret(kit, paths[i], f);
    }
    for (const struct service *const *s = service_table; *s; s++)
        if ((*s)->settings_file && host_file_type(kit->host, (*s)->settings_file) == HOST_FILE)
            kit_expect_secret(kit, (*s)->settings_file, f);
}

static void folders(struct kit *kit, const struct row *row, struct finding *f) {
    static const char *const names[] = {"C:\\k", "C:\\opt\\cni\\bin", "C:\\etc\\cni\\net.d",
                                        "C:\\etc\\kubernetes\\manifests"};

    (void)row;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (host_file_type(kit->host, names[i]) == HOST_FOLDER)
            kit_expect_programs(kit, names[i], f);
}

/* The kubelet leads it to each new certificate. */
static void certificate_link(struct kit *kit, const struct row *row, struct finding *f) {
    static const char *const said[] = {"absent", "a file", "a folder", "a link"};
    enum host_file_type type = host_file_type(kit->host, KUBELET_CLIENT_CERTIFICATE_FILE);

    (void)row;
    if (type != HOST_LINK)
        finding_fail(f, "%s: %s", KUBELET_CLIENT_CERTIFICATE_FILE, said[type]);
}

static void firewall(struct kit *kit, const struct row *row, struct finding *f) {
    (void)row;
    kit_expect_rule(kit, "winjoin kubelet", f);
}

static void status(struct kit *kit, const struct row *row, struct finding *f) {
    (void)row;
    EXPECT(kit, f, NULL, "status");
}

/* Its own identity asks for another one, and the kubelet takes it. */
static void renew(struct kit *kit, const struct row *row, struct finding *f) {
    (void)row;
    EXPECT(kit, f, NULL, "certs", "renew");
}

/* All flows at the same time: a second and a half, where all is well. */
static void diag(struct kit *kit, const struct row *row, struct finding *f) {
    static const char *const words[] = {"diag", "-o", "json", NULL};
    _cleanup_(freep) char *said = NULL;
    _cleanup_json_ json_t *report = NULL;
    int code = winjoin(kit, f, NULL, &said, words);
    const char *begin = strchr(said, '{');
    double seconds;

    (void)row;
    report = begin ? json_loads(begin, JSON_DISABLE_EOF_CHECK, NULL) : NULL;
    seconds = json_number_value(json_object_get(report, "measuredSeconds"));
    if (code)
        finding_fail(f, "exit code %d: %s", code, tail(said));
    else if (seconds > 1.5 && !kit->wine)
        finding_fail(f, "measured in %.1f s", seconds);
    else
        finding_note(f, "exit code 0; measured in %.1f s", seconds);
}

/* Its list of what could not be read is in index.txt, which is packed last; it is printed, too. */
static void collect(struct kit *kit, const struct row *row, struct finding *f) {
    _cleanup_(freep) char *path = xasprintf("%s\\work\\diag.zip", kit->folder), *said = NULL;
    _cleanup_(freep) char *index = NULL;

    (void)row;
    (void)winjoin(kit, f, NULL, &said, (const char *const[]){"diag", "--collect", path, NULL});
    if (host_file_type(kit->host, path) != HOST_FILE)
        finding_fail(f, "no file: %s", tail(said));
    else if (kit->wine) /* has no tar.exe */
        finding_note(f, "made");
    else if (kit_run(kit, f, 60, &index,
                     (const char *const[]){"C:\\Windows\\System32\\tar.exe", "-xOf", path,
                                           "index.txt", NULL}) ||
             !strstr(index, "windows/") || strstr(index, "Could not be read"))
        finding_fail(f, "%.600s", index);
}

static unsigned pods_running(struct kit *kit, struct finding *f) {
    _cleanup_(freep) char *said = NULL;
    unsigned count = 0;

    (void)kit_run(kit, f, 60, &said,
                  (const char *const[]){"C:\\Windows\\System32\\tasklist.exe", "/fi",
                                        "imagename eq containerd-shim-runhcs-v1.exe", "/fo", "csv",
                                        "/nh", NULL});
    for (const char *at = said; (at = strstr(at, "containerd-shim")) != NULL; at++)
        count++;
    return count;
}

/* Pods are containerd's: they run on without the kubelet, which is started again. */
static void kubelet_stop(struct kit *kit, const struct row *row, struct finding *f) {
    unsigned pods = pods_running(kit, f), left;
    struct error err = {0};

    (void)row;
    if (host_service_stop(kit->host, "kubelet", 60000, &err) < 0)
        finding_fail(f, "%s", err.message);
    left = pods_running(kit, f);
    if (host_service_start(kit->host, "kubelet", 60000, &err) < 0)
        finding_fail(f, "not taken back: %s", err.message);
    if (left != pods)
        finding_fail(f, "%u pods before, %u without the kubelet", pods, left);
    else if (!pods)
        finding_skip(f, "no pod runs on this node");
}

/* winjoin-network makes what a crash of HNS has taken, and says so. */
static void hns_restart(struct kit *kit, const struct row *row, struct finding *f) {
    _cleanup_(freep) char *killed = NULL, *said = NULL;
    struct error err = {0};

    (void)row;
    if (kit_run(kit, f, 60, &killed,
                (const char *const[]){"C:\\Windows\\System32\\taskkill.exe", "/f", "/fi",
                                      "SERVICES eq hns", NULL}))
        finding_fail(f, "%s", killed);
    for (unsigned tries = 0; tries < 24 && (!said || !strstr(said, "HNS was restarted")); tries++) {
        free(said);
        (void)host_sleep(kit->host, 5000, &err);
        (void)winjoin(kit, f, NULL, &said,
                      (const char *const[]){"logs", "winjoin-network", "--since", "5m", NULL});
    }
    if (!said || !strstr(said, "HNS was restarted"))
        finding_fail(f, "nothing in winjoin-network's log after 2 minutes: %s",
                     tail(said ? said : ""));
    EXPECT(kit, f, NULL, "status");
}

static void cluster(struct kit *kit, const struct row *row, struct finding *f) {
    (void)row;
    EXPECT(kit, f, NULL, "diag", "--kubeconfig", kit->kubeconfig);
}

/* Those of --apply-host-fixes that are for this Windows. */
static void fixes(struct kit *kit, const struct row *row, struct finding *f) {
    struct host_facts facts = {0};
    struct error err = {0};
    unsigned set = 0;
    bool asked = false;

    (void)row;
    for (char **word = kit->join; *word; word++)
        asked = asked || text_equal(*word, "--apply-host-fixes");
    if (!asked)
        finding_skip(f, "the join has no --apply-host-fixes");
    else if (host_facts(kit->host, &facts, &err) < 0)
        finding_fail(f, "%s", err.message);
    for (const struct host_fix *fix = host_fixes; asked && fix->key; fix++) {
        bool is = false;

        if (!host_fix_applies(fix, &facts))
            continue;
        if (host_fix_is_set(kit->host, fix, &is, &err) < 0 || !is)
            finding_fail(f, "%s\\%s is not %u %s", fix->key, fix->value, fix->data, err.message);
        set += is;
    }
    if (asked)
        finding_note(f, "%u values", set);
}

/* By the program that the join has installed, if it has: it has to remove itself. */
static void reset(struct kit *kit, const struct row *row, struct finding *f) {
    static char installed[] = "C:\\k\\winjoin.exe";
    char *own = kit->winjoin;

    (void)row;
    if (host_file_type(kit->host, installed) == HOST_FILE)
        kit->winjoin = installed;
    EXPECT(kit, f, NULL, "reset", "--force");
    kit->winjoin = own;
    if (host_file_type(kit->host, installed) != HOST_ABSENT)
        finding_fail(f, "%s is still there", installed);
}

const struct row join_rows[] = {
    {"join", "this server becomes a Ready node whose pods can talk", "exit code 0", NEEDS_JOIN,
     join, NULL},
    {"join-again", "the same command changes nothing", "exit code 0, changed: false", NEEDS_JOIN,
     join_again, NULL},
    {"join-fixes", "the registry values of --apply-host-fixes are set", "each one of this Windows",
     NEEDS_JOIN, fixes, NULL},
    {"join-adapters", "the adapter keeps its addresses, DNS servers and gateways",
     "each one of before, on some adapter", NEEDS_JOIN, before_adapters, NULL},
    {0},
};
const struct row node_rows[] = {
    {"node-services", "the node's services come back after they fail",
     "three restarts each, also after an exit that is no crash", NEEDS_NODE, services, NULL},
    {"node-secrets", "kubeconfigs, and what winjoin keeps, are for SYSTEM and Administrators alone",
     SECRET, NEEDS_NODE, secrets, NULL},
    {"node-folders", "nobody but administrators adds files beside the node's programs", PROGRAMS,
     NEEDS_NODE, folders, NULL},
    {"node-link", "the kubelet's certificate is a link, as it makes it", "a link", NEEDS_NODE,
     certificate_link, NULL},
    {"node-firewall", "the kubelet can be reached",
     "a rule `winjoin kubelet`: allow, inbound, TCP, 10250", NEEDS_NODE, firewall, NULL},
    {"node-status", "the node is well", "exit code 0", NEEDS_NODE, status, NULL},
    {"node-diag", "all flows pass, measured at the same time", "exit code 0, below 1.5 s",
     NEEDS_NODE, diag, NULL},
    {"node-collect", "a collection reads all that it wants of Windows",
     "nothing in index.txt under `Could not be read`", NEEDS_NODE, collect, NULL},
    {"cluster-diag", "the cluster's nodes reach each other", "exit code 0", NEEDS_KUBECONFIG,
     cluster, NULL},
    {0},
};
const struct row leave_rows[] = {
    {"node-kubelet-stop", "pods run on while the kubelet is stopped", "as many shims as before",
     NEEDS_JOIN | NEEDS_WINDOWS, kubelet_stop, NULL},
    {"node-hns-restart", "winjoin-network notices a restart of HNS",
     "`HNS was restarted` in its log, and a well node", NEEDS_JOIN | NEEDS_WINDOWS, hns_restart,
     NULL},
    {"certs-renew", "the client certificate is renewed", "exit code 0", NEEDS_JOIN, renew, NULL},
    {"reset", "the join is undone by the program that it installed",
     "exit code 0, and no such program", NEEDS_JOIN, reset, NULL},
    {"reset-state", "the server is as it was before the join",
     "its adapters, HNS networks, services and folders, nothing else", NEEDS_JOIN, before_is_back,
     NULL},
    {0},
};
