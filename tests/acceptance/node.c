/* Rows about a node, and those that make one: join, look, reset. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "join/kubelet/kubelet_files.h"
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

/* Wine does not keep what services do after they fail, so that they are always written again there.
 */
static bool counts(const struct kit *kit, const char *phase) {
    return !kit->wine || text_equal(phase, "artifacts") || text_equal(phase, "certificate") ||
           text_equal(phase, "files");
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

        if (json_bool_at(phase, "changed", false) && counts(kit, id))
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

static void secrets(struct kit *kit, const struct row *row, struct finding *f) {
    static const char *const files[] = {"C:\\etc\\kubernetes\\kubelet.conf",
                                        "C:\\k\\kube-proxy.kubeconfig",
                                        "C:\\k\\flanneld.kubeconfig"};

    (void)row;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (host_file_type(kit->host, files[i]) == HOST_FILE)
            kit_expect_secret(kit, files[i], f);
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
    static const char *const words[] = {"C:\\Windows\\System32\\netsh.exe",
                                        "advfirewall",
                                        "firewall",
                                        "show",
                                        "rule",
                                        "name=winjoin kubelet",
                                        NULL};
    _cleanup_(freep) char *said = NULL;
    int code = kit_run(kit, f, 60, &said, words);

    (void)row;
    if (code || !strstr(said, "10250") || !strstr(said, "TCP"))
        finding_fail(f, "exit code %d: %s", code, tail(said));
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

static void diag(struct kit *kit, const struct row *row, struct finding *f) {
    (void)row;
    EXPECT(kit, f, NULL, "diag");
}

static void reset(struct kit *kit, const struct row *row, struct finding *f) {
    (void)row;
    EXPECT(kit, f, NULL, "reset", "--force");
}

const struct row join_rows[] = {
    {"join", "this server becomes a Ready node whose pods can talk", "exit code 0", NEEDS_JOIN,
     join, NULL},
    {"join-again", "the same command changes nothing", "exit code 0, changed: false", NEEDS_JOIN,
     join_again, NULL},
    {"join-adapters", "the adapter keeps its addresses, DNS servers and gateways",
     "each one of before, on some adapter", NEEDS_JOIN, before_adapters, NULL},
    {0},
};
const struct row node_rows[] = {
    {"node-services", "the node's services come back after they fail",
     "three restarts each, also after an exit that is no crash", NEEDS_NODE | NEEDS_WINDOWS,
     services, NULL},
    {"node-secrets", "kubeconfigs are for SYSTEM and Administrators alone", SECRET, NEEDS_NODE,
     secrets, NULL},
    {"node-folders", "nobody but administrators adds files beside the node's programs", PROGRAMS,
     NEEDS_NODE, folders, NULL},
    {"node-link", "the kubelet's certificate is a link, as it makes it", "a link", NEEDS_NODE,
     certificate_link, NULL},
    {"node-firewall", "the kubelet can be reached", "a rule `winjoin kubelet`: TCP, 10250",
     NEEDS_NODE | NEEDS_WINDOWS, firewall, NULL},
    {"node-status", "the node is well", "exit code 0", NEEDS_NODE, status, NULL},
    {"node-diag", "all flows pass", "exit code 0", NEEDS_NODE, diag, NULL},
    {0},
};
const struct row leave_rows[] = {
    {"certs-renew", "the client certificate is renewed", "exit code 0", NEEDS_JOIN, renew, NULL},
    {"reset", "the join is undone", "exit code 0", NEEDS_JOIN, reset, NULL},
    {"reset-state", "the server is as it was before the join",
     "its adapters, HNS networks, services and folders, nothing else", NEEDS_JOIN, before_is_back,
     NULL},
    {0},
};
