/* winjoin status: prints the state of this node. */
#include "cmd/program.h"
#include "diag/drift/drift.h"

enum { DRIFT_SHOWN = 5 };

/* Adds an RFC 3339 time as " 2026-11-22 10:15 UTC". */
static void add_time(struct text *t, const char *time) {
    if (time)
        text_addf(t, " %.10s %.5s UTC", time, strlen(time) > 11 ? time + 11 : "");
}

static void add_head(struct text *t, const json_t *status) {
    const char *state = json_text_or(status, "state", "");
    const char *phase = json_text_at(status, "phase"), *ready = "Ready unknown";

    text_add(t, json_text_or(status, "node", json_text_or(status, "hostName", "?")));
    if (text_equal(state, "not-joined")) {
        text_add(t, "   not joined\n");
        return;
    }
    if (json_at(status, "prepared")) {
        text_addf(t, "   prepared: Kubernetes %s, %s, %s   not joined\n",
                  json_text_or(status, "prepared.kubernetesVersion", "of a bundle"),
                  json_text_or(status, "prepared.mode", "?"),
                  json_text_or(status, "prepared.plugin", "?"));
        return;
    }
    json_each(json_object_get(status, "conditions"), i, condition)
        if (text_equal(json_text_at(condition, "type"), "Ready")) {
            ready = text_equal(json_text_at(condition, "status"), "True") ? "Ready" : "NotReady";
            break;
        }
    text_addf(t, "   %s", ready);
    if (json_text_at(status, "versions.kubelet"))
        text_addf(t, "   %s", json_text_at(status, "versions.kubelet"));
    if (text_equal(state, "joined")) {
        text_add(t, "   joined");
        add_time(t, json_text_at(status, "lastJoin.time"));
    } else {
        text_addf(t, "   %s%s%s", state, phase ? " in " : "", phase ? phase : "");
    }
    if (json_at(status, "lastDiag.flows")) {
        text_addf(t, "   last diag %lld of %lld,", json_number_at(status, "lastDiag.flowsPass", 0),
                  json_number_at(status, "lastDiag.flows", 0));
        add_time(t, json_text_at(status, "lastDiag.time"));
    }
    text_add_char(t, '\n');
}

static void add_services(struct text *t, const json_t *status) {
    if (json_number_at(status, "journalEntries", 0))
        text_add(t, "\nservice          state     since                  start   log\n");
    json_each(json_object_get(status, "services"), i, service) {
        long long ends = json_number_at(service, "recentEnds", 0);
        struct text since = {0};

        if (text_equal(json_text_at(service, "state"), "absent") &&
            !json_is_true(json_object_get(status, "joined")))
            continue;
        text_add(&since, "");
        add_time(&since, json_text_at(service, "since"));
        text_addf(t, "%-16s %-8s %-22s  %-7s %s", json_text_or(service, "name", "?"),
                  json_text_or(service, "state", "?"), text_str(&since),
                  json_text_or(service, "start", ""), json_text_or(service, "log", ""));
        if (json_object_get(service, "exitCode") &&
            !json_is_true(json_object_get(service, "asked")))
            text_addf(t, "  last exit code %lld", json_number_at(service, "exitCode", 0));
        if (ends)
            text_addf(t, ", ended %lld times in 10 min", ends);
        if (!json_bool_at(service, "winjoin", false) &&
            !text_equal(json_text_at(service, "name"), "hns"))
            text_add(t, " (not winjoin's)");
        text_add_char(t, '\n');
        text_free(&since);
    }
}

/* Adds a line for each kind of difference, with its first few items. */
static void add_drift(struct text *t, const json_t *status) {
    static const char *const texts[][2] = {{"unread", "could not be read"},
                                           {"commands", "do by hand"}};
    const json_t *drift = json_object_get(status, "drift");

    if (drift && !json_object_size(drift))
        text_add(t, "drift            none\n");
    json_each(json_object_get(drift, "changed"), i, row)
        text_addf(t, "%s%s %s: %s; repair: %s\n", i ? "                 " : "drift            ",
                  json_text_or(row, "kind", "?"), json_text_or(row, "target", "?"),
                  json_text_or(row, "difference", "?"), json_text_or(row, "command", "?"));
    for (size_t k = 0; k < DRIFT_KINDS; k++) {
        const json_t *rows = json_object_get(drift, drift_kinds[k].key);

        if (rows)
            text_addf(t, "drift            %zu %s:", json_array_size(rows), drift_kinds[k].what);
        json_each(rows, i, row) {
            if (i == DRIFT_SHOWN) {
                text_add(t, " ...");
                break;
            }
            text_addf(t, " %s", json_text_or(row, drift_kinds[k].name, "?"));
        }
        text_add(t, rows ? "\n" : "");
    }
    for (size_t k = 0; k < ARRAY_SIZE(texts); k++) {
        const json_t *list = json_object_get(drift, texts[k][0]);

        if (list)
            text_addf(t, "drift            %zu %s:", json_array_size(list), texts[k][1]);
        json_each(list, i, text)
            text_addf(t, "\n                 %s", json_string_value(text));
        text_add(t, list ? "\n" : "");
    }
}

static char *node_status_text(const json_t *status) {
    struct text t = {0};

    add_head(&t, status);
    text_addf(&t, "%s %s, HNS %s, winjoin %s", json_text_or(status, "product", "Windows"),
              json_text_or(status, "versions.windows", "?"),
              json_text_or(status, "versions.hns", "unknown"),
              json_text_or(status, "versions.winjoin", "?"));
    if (json_text_at(status, "versions.kubeProxy"))
        text_addf(&t, ", kube-proxy %s", json_text_at(status, "versions.kubeProxy"));
    if (json_text_at(status, "versions.containerd"))
        text_addf(&t, ", containerd %s", json_text_at(status, "versions.containerd"));
    text_add_char(&t, '\n');
    add_services(&t, status);
    if (json_text_at(status, "networksUnknown"))
        text_addf(&t, "\nnetworks         unknown: %s\n", json_text_at(status, "networksUnknown"));
    if (json_array_size(json_object_get(status, "networks")))
        text_add(&t, "\nnetwork          type\n");
    json_each(json_object_get(status, "networks"), i, network)
        text_addf(&t, "%-16s %s%s\n", json_text_or(network, "name", "?"),
                  json_text_or(network, "type", "?"),
                  json_bool_at(network, "winjoin", false) ? "" : " (not winjoin's)");
    if (json_array_size(json_object_get(status, "conditions")))
        text_add(&t, "\ncondition        status   reason\n");
    json_each(json_object_get(status, "conditions"), i, condition)
        text_addf(&t, "%-16s %-8s %s\n", json_text_or(condition, "type", "?"),
                  json_text_or(condition, "status", "?"), json_text_or(condition, "reason", ""));
    text_add_char(&t, '\n');
    if (json_text_at(status, "certificate.notAfter"))
        text_addf(&t, "certificate      client, %lld days left (until %s)\n",
                  json_number_at(status, "certificate.daysLeft", 0),
                  json_text_at(status, "certificate.notAfter"));
    add_drift(&t, status);
    text_addf(&t, "journal          %lld changes that winjoin reset would undo\n",
              json_number_at(status, "journalEntries", 0));
    if (json_text_at(status, "lastJoin.log"))
        text_addf(&t, "last join        %s, log: %s\n",
                  json_text_or(status, "lastJoin.outcome", ""),
                  json_text_at(status, "lastJoin.log"));
    if (json_text_at(status, "lastDiag.report"))
        text_addf(&t, "last diag        %s\n", json_text_at(status, "lastDiag.report"));
    json_each(json_object_get(status, "problems"), i, problem)
        text_addf(&t, "%s%s\n", i ? "                 " : "not well         ",
                  json_string_value(problem));
    return text_take(&t);
}

int verb_status(struct program *program, struct error *err) {
    _cleanup_(freep) char *text = NULL;
    json_t *status;
    const char *problem;

    if (node_status_make(program, &status, err) < 0)
        return -1;
    text = node_status_text(status);
    output_text(program, text);
    output_result(program, status);
    problem = json_text_at(status, "problems.0");
    if (!problem)
        return 0;
    (void)error_set(err, ERROR_HOST, "this node is not well: %s", problem);
    return text_equal(problem, json_text_at(status, "networksUnknown"))
               ? error_hint(err, "powershell Restart-Service hns -Force; if that does not end, "
                                 "restart Windows")
               : -1;
}
