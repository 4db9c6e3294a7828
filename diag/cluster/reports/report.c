/* A cluster's report in numbers, JSON and JUnit XML. */
#include "base/rfc3339.h"
#include "diag/cluster/cells.h"
#include "diag/reports/markup.h"

static void count(const struct cluster_report *report, struct diag_summary *ret) {
    *ret = (struct diag_summary){0};
    for (size_t i = 0; i < report->cells.count; i++) {
        const struct diag_cell *cell = &report->cells.items[i];

        if ((cell->flow->is & FLOW_EXTRA) && cell->outcome == DIAG_FAIL)
            continue; /* an extra never counts against success */
        ret->pass += cell->outcome == DIAG_PASS || cell->outcome == DIAG_SLOW;
        ret->fail += cell->outcome == DIAG_FAIL;
        ret->skip += cell->outcome == DIAG_SKIP;
        ret->not_run += cell->outcome == DIAG_NOT_RUN;
    }
}

bool cluster_report_is_good(const struct cluster_report *report) {
    struct diag_summary s;

    count(report, &s);
    for (size_t i = 0; i < report->causes.count; i++)
        if (report->causes.items[i].confirmed) /* pods that the API server does not reach */
            return false;
    return s.pass && !s.fail && !s.not_run;
}

char *cluster_report_line(const struct cluster_report *report) {
    struct diag_summary s;

    count(report, &s);
    return xasprintf("%u of %u cells work, %zu nodes in %zu pairs", s.pass,
                     s.pass + s.fail + s.not_run, report->nodes.count, report->pairs.count);
}

/* ---- JSON ---- */

static const char *const large_names[] = {[LARGE_NOT_ASKED] = "",
                                          [LARGE_ARRIVE] = "arrive",
                                          [LARGE_LOST] = "lost",
                                          [LARGE_LOST_THERE] = "lost-there",
                                          [LARGE_LOST_BACK] = "lost-back"};

int diag_large_parse(const char *name, enum diag_large *ret) {
    for (unsigned i = LARGE_ARRIVE; i < ARRAY_SIZE(large_names); i++)
        if (text_equal(large_names[i], name)) {
            *ret = (enum diag_large)i;
            return 0;
        }
    return -1;
}

static json_t *cell_json(const struct cluster_report *report, const struct diag_cell *cell) {
    json_t *json =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "id", cell->flow->name, "from", cell->from,
                  "to", cell->to, "protocol", cell->udp ? "UDP" : "TCP", "family",
                  cell->family == 6 ? "IPv6" : "IPv4", "outcome", diag_outcome_name(cell->outcome));

    if (cell->from_node != cell->to_node)
        json_object_set_new(json, "toNode", json_string(report->nodes.items[cell->to_node].name));
    if (cell->result.attempts) {
        json_object_set_new(json, "attempts", json_integer(cell->result.attempts));
        json_object_set_new(json, "succeeded", json_integer(cell->result.succeeded));
        json_object_set_new(json, "evidence",
                            json_pack("{s:s, s:s}", "probe",
                                      probe_outcome_name(cell->result.outcome), "responder",
                                      cell->result.responder));
    }
    json_set_text(json, "largePackets", large_names[cell->large]);
    if (cell->again)
        json_object_set_new(json, "sentAgain", json_integer(cell->again));
    if (cell->counted)
        diag_counted_json(&cell->result, !report->nodes.items[cell->from_node].by_exec, json);
    json_set_text(json, "reason", cell->reason);
    return json;
}

static json_t *node_json(const struct cluster_node *node) {
    json_t *json = json_pack("{s:s, s:s, s:s, s:s, s:b}", "name", node->name, "os", node->os,
                             "build", node->build, "version", node->version, "ready", node->ready);
    const struct {
        const char *key, *value;
    } texts[] = {
        {"network", node->network},
        {"podIP", node->pod_ip},
        {"podIPv6", node->pod_ip6},
        {"sharedWithOther", node->twin},
        {"notRun", node->waiting},
        {"notReachedByAPIServer", node->unreached},
        {"dnsSuffixes", node->suffixes},
        {"dnsServers", node->servers},
        {"clientIPSeen", node->client_ip},
        {"clientIPSeenByService", node->service_ip},
        {"clientIPSeenByLocalNodePort", node->local_ip},
    };

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        json_set_text(json, texts[i].key, texts[i].value);
    if (node->own_report)
        json_object_set(json, "ownReport", node->own_report);
    if (node->by_exec)
        json_object_set_new(json, "askedByExec", json_true());
    if (node->sticky)
        json_object_set_new(json, "sessionAffinity", json_boolean(node->fixed));
    return json;
}

json_t *cluster_report_json(const struct cluster_report *report) {
    json_t *nodes = json_array(), *flows = json_array();
    struct diag_summary s;

    count(report, &s);
    for (size_t i = 0; i < report->nodes.count; i++)
        json_array_append_new(nodes, node_json(&report->nodes.items[i]));
    for (size_t i = 0; i < report->cells.count; i++)
        json_array_append_new(flows, cell_json(report, &report->cells.items[i]));
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:f, s:f, s:i, s:o*, s:i, s:b, s:s, s:o, s:o, "
        "s:o, s:{s:i, s:i, s:i, s:i}}",
        JSON_DOCUMENT(CLUSTER_REPORT_KIND), "server", report->server, "domain", report->domain,
        "time", RFC3339_TEXT(report->time), "startSeconds", report->start_ms / 1000.0,
        "durationSeconds", report->milliseconds / 1000.0, "requests", (int)report->requests,
        "count", report->count ? json_integer(report->count) : NULL, "pairs",
        (int)report->pairs.count, "namespaceLeft", report->left, "namespace", report->namespace_,
        "nodes", nodes, "flows", flows, "causes", diag_causes_json(&report->causes), "summary",
        "pass", (int)s.pass, "fail", (int)s.fail, "skip", (int)s.skip, "notRun", (int)s.not_run);
}

/* ---- JUnit ---- */

static void add_case(struct text *t, const struct diag_cell *cell) {
    static const char *const elements[] = {
        [DIAG_FAIL] = "failure", [DIAG_SKIP] = "skipped", [DIAG_NOT_RUN] = "error"};
    const char *element = elements[cell->outcome];

    text_addf(t, "    <testcase name=\"%s/%s%s ", cell->flow->name, cell->udp ? "udp" : "tcp",
              cell->family == 6 ? "/ipv6" : "");
    markup_add(t, cell->to);
    text_add(t, "\" classname=\"");
    markup_add(t, cell->from);
    text_add(t, "\"");
    if (!element) {
        text_add(t, "/>\n");
        return;
    }
    text_addf(t, ">\n      <%s message=\"", element);
    markup_add(t, cell->reason);
    text_add(t, "\"/>\n    </testcase>\n");
}

char *cluster_report_junit(const struct cluster_report *report) {
    struct text t = {.cap = 64 * 1024 * 1024};
    struct diag_summary summary;

    count(report, &summary);
    diag_junit_begin(&t, "winjoin diag --kubeconfig", report->time, report->milliseconds, &summary);
    for (size_t i = 0; i < report->cells.count; i++) {
        const struct diag_cell *cell = &report->cells.items[i];

        if (!(cell->flow->is & FLOW_EXTRA) || cell->outcome != DIAG_FAIL)
            add_case(&t, cell);
    }
    diag_junit_end(&t);
    return text_take(&t);
}
