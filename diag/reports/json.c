/* Writes reports as JSON documents (DiagReport and ClusterDiagReport, whose form is a contract with
 * users), and reads them back. */
#include "base/rfc3339.h"
#include "diag/reports/form_parts.h"

static const char *const large_names[] = {[LARGE_NOT_ASKED] = "",
                                          [LARGE_ARRIVE] = "arrive",
                                          [LARGE_LOST] = "lost",
                                          [LARGE_LOST_THERE] = "lost-there",
                                          [LARGE_LOST_BACK] = "lost-back"};

/* Adds loss and times. `timed` says that the times are those of the network. */
static void add_counted(json_t *json, const struct probe_result *r, bool timed) {
    json_object_set_new(json, "lossPercent",
                        json_real(100.0 * (r->attempts - r->succeeded) / r->attempts));
    if (timed && r->succeeded)
        json_object_set_new(json, "latencyMs",
                            json_pack("{s:f, s:f, s:f, s:f}", "min", r->min_us / 1e3, "median",
                                      r->median_us / 1e3, "p95", r->p95_us / 1e3, "max",
                                      r->max_us / 1e3));
}

static json_t *cell_json(const struct diag_report *report, const struct diag_cell *cell) {
    const struct probe_result *r = &cell->result;
    json_t *json =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "id", cell->flow->name, "from", cell->from,
                  "to", cell->to[0] || report->server ? cell->to : cell->flow->to, "protocol",
                  cell->udp ? "UDP" : "TCP", "family", cell->family == 6 ? "IPv6" : "IPv4",
                  "outcome", diag_outcome_name(cell->outcome));

    if (cell->from_node != cell->to_node)
        json_set_text(json, "toNode", report->nodes.items[cell->to_node].name);
    if (r->attempts) {
        json_t *evidence = json_pack("{s:s}", "probe", probe_outcome_names[r->outcome]);
        json_t *addresses = r->address_count && !report->server ? json_array() : NULL;

        if (report->server || *r->responder)
            json_object_set_new(evidence, "responder", json_string(r->responder));
        for (size_t i = 0; addresses && i < r->address_count; i++)
            json_array_append_new(addresses, json_string(r->addresses[i]));
        if (addresses)
            json_object_set_new(evidence, "addresses", addresses);
        json_object_set_new(json, "attempts", json_integer(r->attempts));
        json_object_set_new(json, "succeeded", json_integer(r->succeeded));
        if (!report->server)
            add_counted(json, r, true);
        json_object_set_new(json, "evidence", evidence);
    }
    if (cell->one_way)
        json_set_text(json, "oneWay", cell->one_way == DIAG_ONE_WAY_BACK ? "back" : "there");
    json_set_text(json, "largePackets", large_names[cell->large]);
    if (cell->again)
        json_object_set_new(json, "sentAgain", json_integer(cell->again));
    if (cell->counted)
        add_counted(json, r, !report->nodes.items[cell->from_node].by_exec);
    json_set_text(json, "reason", cell->reason);
    return json;
}

json_t *diag_flows_json(const struct diag_report *report) {
    json_t *flows = json_array();

    for (size_t i = 0; i < report->cells.count; i++)
        json_array_append_new(flows, cell_json(report, &report->cells.items[i]));
    return flows;
}

static json_t *causes_json(const struct diag_causes *causes) {
    json_t *array = json_array();

    for (size_t i = 0; i < causes->count; i++) {
        const struct diag_cause *c = &causes->items[i];
        _cleanup_(freep) char *page = diag_cause_page(c->id);
        json_t *json = json_pack("{s:s, s:s, s:s, s:s, s:s}", "see", page, "id", c->id,
                                 "confidence", c->confirmed ? "confirmed" : "likely", "message",
                                 c->message, "hint", c->hint ? c->hint : "");

        json_object_set_new(json, "cells", json_texts(&c->cells));
        if (c->evidence.count)
            json_object_set_new(json, "evidence", json_texts(&c->evidence));
        json_array_append_new(array, json);
    }
    return array;
}

/* The members of a node that are text; `otherwise` is their value when the document has none. */
static const struct {
    const char *key, *otherwise;
    size_t offset;
} node_texts[] = {
#define TEXT(key, member, otherwise)                                                               \
    { key, otherwise, offsetof(struct cluster_node, member) }
    TEXT("network", network, ""),
    TEXT("pool", pool, ""),
    TEXT("zone", zone, ""),
    TEXT("says", says, NULL),
    TEXT("podIP", pod_ip, NULL),
    TEXT("podIPv6", pod_ip6, NULL),
    TEXT("sharedWithOther", twin, NULL),
    TEXT("notRun", waiting, NULL),
    TEXT("notReachedByAPIServer", unreached, NULL),
    TEXT("dnsSuffixes", suffixes, NULL),
    TEXT("dnsServers", servers, NULL),
    TEXT("clientIPSeen", client_ip, NULL),
    TEXT("clientIPSeenByService", service_ip, NULL),
    TEXT("clientIPSeenByLocalNodePort", local_ip, NULL),
};

static json_t *node_json(const struct cluster_node *node) {
    json_t *json = json_pack("{s:s, s:s, s:s, s:s, s:b}", "name", node->name, "os", node->os,
                             "build", node->build, "version", node->version, "ready", node->ready);

    for (size_t i = 0; i < ARRAY_SIZE(node_texts); i++) {
        const void *field = (const char *)node + node_texts[i].offset;

        json_set_text(json, node_texts[i].key, *(const char *const *)field);
    }
    if (node->own_report)
        json_object_set(json, "ownReport", node->own_report);
    if (node->by_exec)
        json_object_set_new(json, "askedByExec", json_true());
    if (node->sticky)
        json_object_set_new(json, "sessionAffinity", json_boolean(node->fixed));
    return json;
}

json_t *diag_report_json(const struct diag_report *report) {
    struct diag_summary s;
    json_t *json;

    if (report->server) {
        json_t *nodes = json_array();

        for (size_t i = 0; i < report->nodes.count; i++)
            json_array_append_new(nodes, node_json(&report->nodes.items[i]));
        json = json_pack("{s:s, s:s, s:s, s:s, s:s, s:f, s:f, s:i, s:o*, s:i, s:b, s:s, s:o*, s:o}",
                         JSON_DOCUMENT(CLUSTER_REPORT_KIND), "server", report->server, "domain",
                         report->domain, "time", RFC3339_TEXT(report->time), "startSeconds",
                         report->start_ms / 1000.0, "durationSeconds",
                         report->milliseconds / 1000.0, "requests", (int)report->requests, "count",
                         report->count ? json_integer(report->count) : NULL, "pairs",
                         (int)report->pairs.count, "namespaceLeft", report->left, "namespace",
                         report->namespace_, "sample", diag_sample_json(report), "nodes", nodes);
    } else {
        json =
            json_pack("{s:s, s:s, s:s, s:s, s:s, s:f}", JSON_DOCUMENT(NODE_REPORT_KIND), "node",
                      report->node ? report->node : "", "network",
                      report->network ? report->network : "unknown", "time",
                      RFC3339_TEXT(report->time), "durationSeconds", report->milliseconds / 1000.0);
    }

    diag_summary_make(report, &s);
    json_object_set_new(json, "flows", diag_flows_json(report));
    json_object_set_new(json, "causes", causes_json(&report->causes));
    json_object_set_new(json, "summary",
                        json_pack("{s:i, s:i, s:i, s:i}", "pass", (int)s.pass, "fail", (int)s.fail,
                                  "skip", (int)s.skip, "notRun", (int)s.not_run));
    if (report->measured_ms)
        json_object_set_new(json, "measuredSeconds", json_real(report->measured_ms / 1000.0));
    if (report->evidence)
        json_object_set(json, "evidence", report->evidence);
    return json;
}

/* ---- read a report back ---- */

static unsigned number_in(const json_t *json, const char *path, unsigned max) {
    long long value = json_number_at(json, path, 0);

    return value < 0 ? 0 : value > max ? max : (unsigned)value;
}

/* Reads a number with a fraction, in thousandths. */
static unsigned thousandths_in(const json_t *json, const char *path) {
    double value = json_number_value(json_at(json, path));

    return value > 0 && value < 1e6 ? (unsigned)(value * 1000.0 + 0.5) : 0;
}

static int read_result(const json_t *json, struct diag_cell *ret, struct error *err) {
    const char *id = json_text_at(json, "id"), *protocol = json_text_at(json, "protocol");
    const char *outcome = json_text_at(json, "outcome"), *family = json_text_at(json, "family");
    const char *probe = json_text_at(json, "evidence.probe");
    const struct {
        const char *path;
        char *ret;
        size_t size;
    } texts[] = {{"from", ret->from, sizeof ret->from},
                 {"to", ret->to, sizeof ret->to},
                 {"reason", ret->reason, sizeof ret->reason},
                 {"evidence.responder", ret->result.responder, sizeof ret->result.responder}};

    ret->flow = id ? diag_flow_find(id) : NULL;
    if (!ret->flow)
        return error_set(err, ERROR_MALFORMED, "unknown flow '%s'", id ? id : "");
    if (!protocol || (!text_equal(protocol, "TCP") && !text_equal(protocol, "UDP")) || !outcome ||
        diag_outcome_parse(outcome, &ret->outcome) < 0 ||
        (probe && probe_outcome_parse(probe, &ret->result.outcome) < 0))
        return error_set(err, ERROR_MALFORMED, "flow '%s' has an unknown protocol or outcome", id);
    ret->udp = protocol[0] == 'U';
    ret->one_way = text_equal(json_text_at(json, "oneWay"), "back")    ? DIAG_ONE_WAY_BACK
                   : text_equal(json_text_at(json, "oneWay"), "there") ? DIAG_ONE_WAY_THERE
                                                                       : DIAG_ONE_WAY_NONE;
    ret->family = text_equal(family, "IPv6") ? 6 : 4;
    ret->result.attempts = number_in(json, "attempts", PROBE_ATTEMPTS_MAX);
    ret->result.succeeded = number_in(json, "succeeded", ret->result.attempts);
    ret->result.min_us = thousandths_in(json, "latencyMs.min");
    ret->result.median_us = thousandths_in(json, "latencyMs.median");
    ret->result.p95_us = thousandths_in(json, "latencyMs.p95");
    ret->result.max_us = thousandths_in(json, "latencyMs.max");
    json_each(json_at(json, "evidence.addresses"), i, address) {
        const char *text = json_string_value(address);

        if (text && strlen(text) < sizeof ret->result.addresses[0] &&
            ret->result.address_count < PROBE_ADDRESSES_MAX)
            memcpy(ret->result.addresses[ret->result.address_count++], text, strlen(text) + 1);
    }
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        text_format(texts[i].ret, texts[i].size, "%s", json_text_or(json, texts[i].path, ""));
    return 0;
}

/* ---- read the report of a cluster ---- */

static char *text_or_empty(const json_t *json, const char *path) {
    return xstrdup(json_text_or(json, path, ""));
}

/* Reads a node, and adds its index under its name to `index`. */
static int read_node(const json_t *json, json_t *index, struct cluster_nodes *nodes,
                     struct error *err) {
    struct cluster_node *node = &nodes->items[nodes->count];
    const char *name = json_text_at(json, "name");

    if (!name || !*name || json_object_get(index, name))
        return error_set(err, ERROR_MALFORMED, "node %zu has no name of its own", nodes->count);
    json_object_set_new(index, name, json_integer((json_int_t)nodes->count++));
    *node = (struct cluster_node){
        .name = xstrdup(name),
        .os = text_or_empty(json, "os"),
        .build = text_or_empty(json, "build"),
        .version = text_or_empty(json, "version"),
        .ready = json_bool_at(json, "ready", false),
        .by_exec = json_bool_at(json, "askedByExec", false),
        .sticky = json_object_get(json, "sessionAffinity") != NULL,
        .fixed = json_bool_at(json, "sessionAffinity", false),
        .own_report = cluster_own_report_take(json_object_get(json, "ownReport")),
    };
    for (size_t i = 0; i < ARRAY_SIZE(node_texts); i++) {
        void *field = (char *)node + node_texts[i].offset;

        *(char **)field =
            xstrdup_null(json_text_or(json, node_texts[i].key, node_texts[i].otherwise));
    }
    return 0;
}

static int find_node(const json_t *index, const char *name, size_t *ret, struct error *err) {
    const json_t *place = name ? json_object_get(index, name) : NULL;

    if (!place)
        return error_set(err, ERROR_MALFORMED, "a flow names a node that the report does not have");
    *ret = (size_t)json_integer_value(place);
    return 0;
}

static int read_cluster(const json_t *json, struct diag_report *ret, struct error *err) {
    const json_t *nodes = json_object_get(json, "nodes"), *flows = json_object_get(json, "flows");
    _cleanup_json_ json_t *index = json_object();

    ret->server = text_or_empty(json, "server");
    if (json_array_size(nodes) > CLUSTER_NODES_MAX || json_array_size(flows) > CLUSTER_CELLS_MAX)
        return error_set(err, ERROR_MALFORMED, "it has more than %d nodes or %d flows",
                         CLUSTER_NODES_MAX, CLUSTER_CELLS_MAX);
    ret->nodes.items = xcalloc(json_array_size(nodes), sizeof *ret->nodes.items);
    ret->cells.items = xcalloc(json_array_size(flows), sizeof *ret->cells.items);
    ret->pairs.items = xcalloc(json_array_size(flows), sizeof *ret->pairs.items);
    json_each(nodes, i, node)
        if (read_node(node, index, &ret->nodes, err) < 0)
            return -1;
    json_each(flows, i, flow) {
        struct diag_cell *cell = &ret->cells.items[ret->cells.count];
        const struct cluster_pair *last =
            ret->pairs.count ? &ret->pairs.items[ret->pairs.count - 1] : NULL;
        const char *to = json_text_at(flow, "toNode"), *large = json_text_at(flow, "largePackets");

        if (read_result(flow, cell, err) < 0 ||
            find_node(index, json_text_at(flow, "from"), &cell->from_node, err) < 0)
            return -1;
        cell->to_node = cell->from_node;
        if (to && find_node(index, to, &cell->to_node, err) < 0)
            return -1;
        for (unsigned k = LARGE_ARRIVE; large && k < ARRAY_SIZE(large_names); k++)
            if (text_equal(large_names[k], large))
                cell->large = (enum diag_large)k;
        if (large && !cell->large)
            return error_set(err, ERROR_MALFORMED, "flow '%s' has unknown largePackets",
                             cell->flow->name);
        cell->again = number_in(flow, "sentAgain", cell->result.attempts);
        cell->counted = cell->result.attempts && json_object_get(flow, "lossPercent");
        cell->second = cell->family == 6;
        ret->cells.count++;
        /* Each pair has several cells, one after the other. */
        if (cluster_cell_is_between_pods(cell) &&
            !(last && last->from == cell->from_node && last->to == cell->to_node))
            ret->pairs.items[ret->pairs.count++] =
                (struct cluster_pair){cell->from_node, cell->to_node};
    }
    diag_sample_read(json_object_get(json, "sample"), &ret->sample);
    ret->namespace_ = text_or_empty(json, "namespace");
    ret->domain = text_or_empty(json, "domain");
    ret->start_ms = thousandths_in(json, "startSeconds");
    ret->requests = (unsigned)json_number_at(json, "requests", 0);
    ret->count = (unsigned)json_number_at(json, "count", 0);
    ret->left = json_bool_at(json, "namespaceLeft", false);
    return 0;
}

/* ---- read any report ---- */

static int read_node_report(const json_t *json, struct diag_report *ret, struct error *err) {
    json_each(json_at(json, "flows"), i, item) {
        struct diag_cell cell = {0};

        if (read_result(item, &cell, err) < 0)
            return -1;
        cell.second =
            cell.family == 6 && diag_cells_find(&ret->cells, cell.flow->id, cell.udp, false);
        if (diag_cells_find(&ret->cells, cell.flow->id, cell.udp, cell.second))
            return error_set(err, ERROR_MALFORMED, "duplicate flow '%s'", cell.flow->name);
        array_add(ret->cells.items, ret->cells.count, cell);
        ret->probes += cell.result.attempts;
    }
    ret->node = xstrdup_null(json_text_at(json, "node"));
    ret->network = xstrdup_null(json_text_at(json, "network"));
    ret->evidence = json_incref(json_at(json, "evidence"));
    return 0;
}

int diag_report_read(const char *text, size_t len, const char *wanted, struct diag_report *ret,
                     struct error *err) {
    _cleanup_(diag_report_free) struct diag_report report = {0};
    _cleanup_json_ json_t *json = NULL;
    const char *kind, *time;
    bool node, cluster;

    if (json_read(text, len, wanted ? wanted : NODE_REPORT_KIND, &json, err) < 0)
        return -1;
    kind = json_text_at(json, "kind");
    node = text_equal(kind, NODE_REPORT_KIND);
    cluster = text_equal(kind, CLUSTER_REPORT_KIND);
    if (text_equal(wanted, CLUSTER_REPORT_KIND) && !cluster)
        return error_set(err, ERROR_MALFORMED,
                         node ? "this is the report of one node, not of a whole cluster"
                              : "this is not the report of a whole cluster");
    if (text_equal(wanted, NODE_REPORT_KIND) && cluster)
        return error_set(err, ERROR_MALFORMED,
                         "this is the report of a whole cluster, not of one node");
    if (!cluster && (!node || !json_at(json, "flows")))
        return error_set(
            err, ERROR_MALFORMED,
            "decode DiagReport: not a winjoin diag report (winjoin diag -o json prints one)");

    time = json_text_at(json, "time");
    if ((cluster ? read_cluster : read_node_report)(json, &report, err) < 0 ||
        (time && rfc3339_parse(time, &report.time, err) < 0))
        return error_prefix(err, "decode %s", cluster ? CLUSTER_REPORT_KIND : NODE_REPORT_KIND);
    report.milliseconds = thousandths_in(json, "durationSeconds");
    *ret = take_struct(report);
    return 0;
}
