/* Makes NodeStatus from the machine, the API server and the reports of earlier runs. */
#include "cmd/program.h"

#include "base/build_info.h"
#include "base/rfc3339.h"
#include "diag/drift/drift.h"
#include "diag/first_look.h"
#include "join/kubelet/kubelet_files.h"
#include "join/prepare/prepare.h"
#include "join/undo/journal.h"
#include "kube/kubeconfig.h"
#include "kube/object.h"
#include "netsetup/hns/hcn_network.h"
#include "netsetup/hns/hns_features.h"
#include "node/chosen.h"
#include "services/artifacts/program_image.h"
#include "services/service_status.h"

enum {
    JOINING_SECONDS = 120,
    LINE_MAX_READ = 4096,
    PROGRAM_MAX = 512 * 1024 * 1024,
    HNS_MS = 5000, /* How long HNS may take to answer; it sometimes hangs. */
};

struct gathering {
    struct program *program;
    struct host *host;
    json_t *status;   /* The NodeStatus document. */
    json_t *problems; /* The reasons why this node is not well. */
    json_t *node;     /* The Node object, or NULL. */
    bool hns_is_silent;
};

__attribute__((format(gnu_printf, 2, 3))) static void add_problem(struct gathering *g,
                                                                  const char *format, ...) {
    _cleanup_(text_free) struct text t = {0};
    va_list args;

    va_start(args, format);
    text_addv(&t, format, args);
    va_end(args);
    json_array_append_new(g->problems, json_string(text_str(&t)));
}

/* ---- results of earlier runs ---- */

static json_t *run_json(const json_t *report) {
    long long code = json_number_at(report, "exitCode", 0);
    json_t *run =
        json_pack("{s:s, s:I}", "outcome", code ? "failed" : "done", "exitCode", (json_int_t)code);

    json_set_text(run, "time", json_text_at(report, "time"));
    json_set_text(run, "phase", json_text_at(report, "error.phase"));
    json_set_text(run, "message", json_text_at(report, "error.message"));
    json_set_text(run, "report", json_text_at(report, "report"));
    json_set_text(run, "log", json_text_at(report, "log"));
    if (json_array_size(json_object_get(report, "flows"))) {
        _cleanup_json_ json_t *seen = json_object();
        int pass = 0;

        /* Counts the report's flows, and those of them that have no failed cell. */
        json_each(json_object_get(report, "flows"), i, cell) {
            const char *flow = json_text_at(cell, "id");
            const json_t *before = flow ? json_object_get(seen, flow) : NULL;
            const char *outcome = json_text_at(cell, "outcome");
            bool well = text_equal(outcome, "pass") || text_equal(outcome, "slow") ||
                        text_equal(outcome, "skip");

            if (flow)
                json_object_set_new(seen, flow,
                                    json_boolean(well && (!before || json_is_true(before))));
        }
        json_each_member(seen, id, works)
            pass += json_is_true(works);
        json_object_set_new(run, "flows", json_integer((json_int_t)json_object_size(seen)));
        json_object_set_new(run, "flowsPass", json_integer(pass));
    }
    return run;
}

static void add_state(struct gathering *g, const json_t *join, size_t entries) {
    _cleanup_(freep) char *log = record_unfinished(g->host, "join"), *phase = NULL;
    _cleanup_json_ json_t *prepared = prepared_read(g->host);
    long long code = json_number_at(join, "exitCode", 0);
    const char *state = "joined", *message = NULL;

    if (!entries) {
        state = "not-joined";
    } else if (!join && !log && prepared) {
        state = "prepared";
        json_object_set(g->status, "prepared", prepared);
    } else if (log) {
        _cleanup_(freep) char *path = xasprintf("%s\\%s", LOGS_FOLDER, log);
        _cleanup_(freep) char *tail = service_log_tail(g->host, path, LINE_MAX_READ);
        int64_t us = 0, now = host_now(g->host);

        /* The last join has a log and no report yet: it is running, or it was killed. The time of
         * the log's last line decides which. */
        for (const char *line = tail; line && *line;
             line += strcspn(line, "\n"), line += *line == '\n') {
            const char *at = line + strcspn(line, " ");

            /* The phase follows the time and the level, as in "(time) INFO  kubelet: started". */
            at += strspn(at, " ");
            at += strcspn(at, " ");
            at += strspn(at, " ");
            text_set(&phase, at[strcspn(at, ": ")] == ':' ? xstrndup(at, strcspn(at, ":")) : NULL);
            (void)service_log_time(line, strcspn(line, "\n"), now, &us);
        }
        state = now - us / 1000000 < JOINING_SECONDS ? "joining" : "failed";
        message = "it was killed or crashed";
    } else if (code && code != error_exit_code(ERROR_FLOWS)) {
        /* A join that ends with ERROR_FLOWS has not failed: the node has joined. */
        state = "failed";
        phase = xstrdup_null(json_text_at(join, "error.phase"));
        message = json_text_at(join, "error.message");
    }
    json_set_text(g->status, "state", state);
    json_set_text(g->status, "phase", phase);
    json_object_set_new(g->status, "joined", json_boolean(text_equal(state, "joined")));
    if (text_equal(state, "not-joined"))
        add_problem(g, "this machine has not joined");
    else if (text_equal(state, "prepared"))
        add_problem(g, "this machine is prepared and has not joined");
    else if (text_equal(state, "joining"))
        add_problem(g, "a join is running (%s)", phase ? phase : "starting");
    else if (text_equal(state, "failed"))
        add_problem(g, "the last join failed in %s: %s", phase ? phase : "no phase",
                    message ? message : "no reason");
}

static int add_runs(struct gathering *g, struct error *err) {
    _cleanup_json_ json_t *join = record_last(g->host, "join"),
                          *diag = record_last(g->host, "diag");
    const char *joined = json_text_at(join, "time"), *measured = json_text_at(diag, "time");
    _cleanup_(journal_close) struct journal journal = {0};
    const json_t *last = diag;

    if (journal_open(g->host, WINJOIN_FOLDER, &journal, err) < 0)
        return -1;
    json_object_set_new(g->status, "journalEntries", json_integer((json_int_t)journal.count));
    add_state(g, join, journal.count);
    if (join && journal.count)
        json_object_set_new(g->status, "lastJoin", run_json(join));

    /* A join tests the network, too. The newer of the two tests counts. */
    if (json_array_size(json_object_get(join, "flows")) &&
        (!measured || (joined && strcmp(joined, measured) > 0)))
        last = join;
    if (last && journal.count) {
        json_t *run = run_json(last);
        long long flows = json_number_at(run, "flows", 0),
                  pass = json_number_at(run, "flowsPass", 0);

        json_object_set_new(g->status, "lastDiag", run);
        if (pass < flows)
            add_problem(g, "the last test of the pod network failed: %lld of %lld flows worked",
                        pass, flows);
    }
    return 0;
}

/* ---- state of the machine and the cluster ---- */

static void add_hns(struct gathering *g, struct hns_version *ret) {
    json_t *rows = json_array();
    _cleanup_json_ json_t *networks = NULL;
    struct error why = {0}, ignored = {0};

    json_object_set_new(g->status, "networks", rows);
    host_set_deadline(g->host, host_monotonic_ms(g->host) + HNS_MS);
    if (hcn_list(g->host, HCN_NETWORK, NULL, NULL, &networks, &why) == 0)
        (void)hns_version_get(g->host, ret, &ignored);
    host_set_deadline(g->host, 0);
    g->hns_is_silent = why.kind == ERROR_TIMED_OUT || ignored.kind == ERROR_TIMED_OUT;
    if (g->hns_is_silent) {
        (void)error_set(&why, ERROR_TIMED_OUT, "HNS did not answer within %d s", HNS_MS / 1000);
        add_problem(g, "%s", why.message);
    }
    json_set_text(g->status, "networksUnknown", why.message);
    json_each(networks, i, item) {
        json_array_append_new(rows,
                              json_pack("{s:s*, s:s, s:b}", "name", json_text_at(item, "Name"),
                                        "type", json_text_or(item, "Type", "NAT"), "winjoin",
                                        (int)text_equal(json_text_at(item, "Owner"), HCN_OWNER)));
    }
}

static void look(struct gathering *g) {
    struct diag_look_options options = {.certificate_file = KUBELET_CLIENT_CERTIFICATE_FILE};
    _cleanup_json_ json_t *certificate = diag_look_certificate(g->host, options.certificate_file);
    static const char prefix[] = "CN=system:node:";
    const char *at = strstr(json_text_or(certificate, "subject", ""), prefix);
    /* Takes "win-7k2" from a subject such as "CN=system:node:win-7k2,O=system:nodes". */
    _cleanup_(freep) char *name =
        at ? xstrndup(at + strlen(prefix), strcspn(at + strlen(prefix), ",")) : NULL;
    _cleanup_(kube_client_close) struct kube_client client = {0};
    struct error why = {0};
    json_t *look;
    _cleanup_json_ json_t *changed = NULL;

    if (kube_client_open_file(g->program->http, g->host, KUBELET_KUBECONFIG_FILE, &client, &why) ==
        0)
        options.client = &client;
    options.client_error = why.message;
    options.node_name = name;
    json_set_text(g->status, "node", name);
    look = diag_look(g->host, &options, &g->node);
    json_object_set(g->status, "services", json_object_get(look, "services"));
    json_object_set(g->status, "api", json_object_get(look, "api"));
    if (json_object_get(certificate, "subject"))
        json_object_set(g->status, "certificate", certificate);
    /* Compares the files and network that a join wrote with what is there now. An unfinished join
     * wrote only a part, so it is not compared. */
    if (json_is_true(json_object_get(g->status, "joined"))) {
        changed = written_compare(g->host, !g->hns_is_silent);
        if (changed)
            (void)json_object_in(g->status, "drift");
        if (json_array_size(changed))
            json_object_set(json_object_in(g->status, "drift"), "changed", changed);
    }
    if (options.client && !g->hns_is_silent) {
        _cleanup_(chosen_free) struct chosen chosen = {0};

        /* Only winjoin's own kube-proxy service can be checked. */
        if (text_equal(json_text_at(g->status, "api.outcome"), "ok") &&
            service_status_runs(json_object_get(g->status, "services"), service_kube_proxy.name) &&
            chosen_load(g->host, &chosen, ERROR_IGNORED) >= 0) {
            json_object_update_new(json_object_in(g->status, "drift"),
                                   drift_read(g->host, &client, name, chosen.network.name,
                                              &chosen.network.cluster_pod_cidrs, NULL, NULL, NULL));
        }
    }
    json_decref(look);
}

static void add_versions(struct gathering *g, const struct host_facts *facts,
                         const struct hns_version *hns) {
    static const struct {
        const char *key, *in_node;
        const struct service *service;
    } programs[] = {{"kubelet", "status.nodeInfo.kubeletVersion", &service_kubelet},
                    {"kubeProxy", "status.nodeInfo.kubeProxyVersion", &service_kube_proxy},
                    {"containerd", "status.nodeInfo.containerRuntimeVersion", &service_containerd}};
    static const char prefix[] = "containerd://";
    json_t *versions = json_pack("{s:s}", "winjoin", build_version);
    char number[64];

    for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
        const char *reported = json_text_at(g->node, programs[i].in_node);
        _cleanup_(freep) char *found = NULL, *data = NULL;
        size_t len;

        if (reported && *reported)
            found = xstrdup(reported + (text_starts_with(reported, prefix) ? strlen(prefix) : 0));
        else if (host_read(g->host, programs[i].service->program, PROGRAM_MAX, &data, &len,
                           /* Without the API server, the program file gives the version. */
                           ERROR_IGNORED) == 0)
            found = program_image_version(data, len);
        json_set_text(versions, programs[i].key, found);
    }
    (void)text_format(number, sizeof number, "%u.%u.%u.%u", facts->major, facts->minor,
                      facts->build, facts->revision);
    json_set_text(versions, "windows", number);
    if (hns->major) {
        (void)text_format(number, sizeof number, "%u.%u", hns->major, hns->minor);
        json_set_text(versions, "hns", number);
    }
    json_object_set_new(g->status, "versions", versions);
}

/* ---- is the node well? ---- */

static void judge(struct gathering *g) {
    const char *outcome = json_text_at(g->status, "api.outcome");
    const json_t *certificate = json_object_get(g->status, "certificate");
    const char *end = json_text_at(certificate, "notAfter");
    int64_t seconds = rfc3339_seconds(end);
    size_t count;

    if (!json_is_true(json_object_get(g->status, "joined")))
        return;
    json_each(json_object_get(g->status, "services"), i, service) {
        if (service_status_is_down(service))
            add_problem(g, "%s is %s", json_text_at(service, "name"),
                        json_text_at(service, "state"));
    }
    if (!certificate)
        add_problem(g, "the node's client certificate is missing or unreadable");
    else if (seconds && seconds < host_now(g->host))
        add_problem(g, "the client certificate expired at %s", end);
    /* Left-over or changed objects do no immediate harm, so they are not problems. Missing objects
     * and Services without a load balancer are problems. */
    count = json_array_size(json_at(g->status, "drift.servicesWithoutLoadBalancer"));
    json_each(json_at(g->status, "drift.changed"), i, row) {
        if (json_bool_at(row, "missing", false))
            add_problem(g, "%s '%s' is missing: %s", json_text_at(row, "kind"),
                        json_text_at(row, "target"), json_text_at(row, "command"));
    }
    if (count)
        add_problem(g, "%zu port%s of Services %s no load balancer in HNS: see drift", count,
                    PLURAL(count), count == 1 ? "has" : "have");
    if (!text_equal(outcome, "ok"))
        add_problem(g, "the API server: %s", outcome);
    else if (!g->node)
        add_problem(g, "the cluster has no Node with this name");
}

int node_status_make(struct program *program, json_t **ret, struct error *err) {
    struct gathering g = {.program = program, .host = program->host};
    struct host_facts facts = {0};
    struct hns_version hns = {0};
    const json_t *ready;
    json_t *rows;

    if (host_facts(program->host, &facts, err) < 0)
        return -1;
    g.problems = json_array();
    g.status = json_pack("{s:s, s:s, s:s, s:s}", JSON_DOCUMENT("NodeStatus"), "hostName",
                         facts.host_name, "product", facts.product);
    add_hns(&g, &hns);
    if (add_runs(&g, err) < 0) {
        json_decref(g.status);
        json_decref(g.problems);
        return -1;
    }
    look(&g);
    ready = kube_ready_condition(g.node);
    rows = json_array();
    json_each(json_at(g.node, "status.conditions"), i, condition) {
        json_t *row = json_pack("{s:s*, s:s*}", "type", json_text_at(condition, "type"), "status",
                                json_text_at(condition, "status"));

        json_set_text(row, "reason", json_text_at(condition, "reason"));
        json_set_text(row, "message", json_text_at(condition, "message"));
        json_set_text(row, "since", json_text_at(condition, "lastTransitionTime"));
        json_array_append_new(rows, row);
    }
    json_object_set_new(g.status, "conditions", rows);
    if (ready && !text_equal(json_text_at(ready, "status"), "True"))
        add_problem(&g, "the Node is not Ready: %s", json_text_or(ready, "message", "no message"));
    add_versions(&g, &facts, &hns);
    judge(&g);
    json_object_set_new(g.status, "well", json_boolean(!json_array_size(g.problems)));
    json_object_set_new(g.status, "problems", g.problems);
    json_decref(g.node);
    *ret = g.status;
    return 0;
}
