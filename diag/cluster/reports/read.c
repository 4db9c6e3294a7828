/* A cluster's report read back from its JSON. */
#include "base/rfc3339.h"
#include "diag/cluster/cells.h"

struct reading {
    struct cluster_report *report;
    json_t *index; /* of each node, by name */
};

bool cluster_report_is(const char *text, size_t len) {
    _cleanup_json_ json_t *json = NULL;
    struct error ignored = {0};

    return json_read(text, len, "a report", &json, &ignored) == 0 &&
           text_equal(json_text_at(json, "kind"), CLUSTER_REPORT_KIND);
}

static char *text_of(const json_t *json, const char *path) {
    return xstrdup(json_text_or(json, path, ""));
}

static char *text_or_null(const json_t *json, const char *path) {
    return xstrdup_null(json_text_at(json, path));
}

static unsigned milliseconds_of(const json_t *json, const char *path) {
    double value = json_number_value(json_at(json, path));

    return value > 0 && value < 1e6 ? (unsigned)(value * 1000.0 + 0.5) : 0;
}

static int read_node(struct reading *r, const json_t *json, struct error *err) {
    struct cluster_nodes *nodes = &r->report->nodes;
    struct cluster_node *node = &nodes->items[nodes->count];
    const char *name = json_text_at(json, "name");

    if (!name || !*name || json_object_get(r->index, name))
        return error_set(err, ERROR_MALFORMED, "node %zu has no name of its own", nodes->count);
    json_object_set_new(r->index, name, json_integer((json_int_t)nodes->count++));
    *node = (struct cluster_node){
        .name = xstrdup(name),
        .os = text_of(json, "os"),
        .build = text_of(json, "build"),
        .version = text_of(json, "version"),
        .network = text_of(json, "network"),
        .ready = json_bool_at(json, "ready", false),
        .twin = text_or_null(json, "sharedWithOther"),
        .pod_ip = text_or_null(json, "podIP"),
        .pod_ip6 = text_or_null(json, "podIPv6"),
        .waiting = text_or_null(json, "notRun"),
        .unreached = text_or_null(json, "notReachedByAPIServer"),
        .by_exec = json_bool_at(json, "askedByExec", false),
        .suffixes = text_or_null(json, "dnsSuffixes"),
        .servers = text_or_null(json, "dnsServers"),
        .client_ip = text_or_null(json, "clientIPSeen"),
        .service_ip = text_or_null(json, "clientIPSeenByService"),
        .local_ip = text_or_null(json, "clientIPSeenByLocalNodePort"),
        .sticky = json_object_get(json, "sessionAffinity") != NULL,
        .fixed = json_bool_at(json, "sessionAffinity", false),
        .own_report = cluster_own_report_take(json_object_get(json, "ownReport")),
    };
    return 0;
}

static int find_node(const struct reading *r, const char *name, size_t *ret, struct error *err) {
    const json_t *index = name ? json_object_get(r->index, name) : NULL;

    if (!index)
        return error_set(err, ERROR_MALFORMED, "a flow names a node that the report does not have");
    *ret = (size_t)json_integer_value(index);
    return 0;
}

/* Of each pair several cells, one behind the other. */
static void add_pair(struct cluster_pairs *pairs, const struct diag_cell *cell) {
    const struct cluster_pair *last = pairs->count ? &pairs->items[pairs->count - 1] : NULL;

    if (!cluster_cell_is_between_pods(cell) ||
        (last && last->from == cell->from_node && last->to == cell->to_node))
        return;
    pairs->items[pairs->count++] = (struct cluster_pair){cell->from_node, cell->to_node};
}

static int read_cell(struct reading *r, const json_t *json, struct error *err) {
    struct diag_cells *cells = &r->report->cells;
    struct diag_cell *cell = &cells->items[cells->count];
    const char *to = json_text_at(json, "toNode"), *large = json_text_at(json, "largePackets");

    if (diag_cell_read(json, cell, err) < 0 ||
        find_node(r, json_text_at(json, "from"), &cell->from_node, err) < 0)
        return -1;
    cell->to_node = cell->from_node;
    if (to && find_node(r, to, &cell->to_node, err) < 0)
        return -1;
    if (large && diag_large_parse(large, &cell->large) < 0)
        return error_set(err, ERROR_MALFORMED, "flow '%s' has unknown largePackets",
                         cell->flow->name);
    cell->again = cell->result.attempts ? (unsigned)json_number_at(json, "sentAgain", 0) : 0;
    if (cell->again > cell->result.attempts)
        cell->again = cell->result.attempts;
    cell->counted = cell->result.attempts && json_object_get(json, "lossPercent");
    cell->second = cell->family == 6;
    cells->count++;
    add_pair(&r->report->pairs, cell);
    return 0;
}

static int read_lists(struct reading *r, const json_t *json, struct error *err) {
    const json_t *nodes = json_object_get(json, "nodes"), *flows = json_object_get(json, "flows");
    struct cluster_report *report = r->report;

    if (json_array_size(nodes) > CLUSTER_NODES_MAX || json_array_size(flows) > CLUSTER_CELLS_MAX)
        return error_set(err, ERROR_MALFORMED, "it has more than %d nodes or %d flows",
                         CLUSTER_NODES_MAX, CLUSTER_CELLS_MAX);
    report->nodes.items = xcalloc(json_array_size(nodes), sizeof *report->nodes.items);
    report->cells.items = xcalloc(json_array_size(flows), sizeof *report->cells.items);
    report->pairs.items = xcalloc(json_array_size(flows), sizeof *report->pairs.items);
    for (size_t i = 0; i < json_array_size(nodes); i++)
        if (read_node(r, json_array_get(nodes, i), err) < 0)
            return -1;
    for (size_t i = 0; i < json_array_size(flows); i++)
        if (read_cell(r, json_array_get(flows, i), err) < 0)
            return -1;
    return 0;
}

int cluster_report_read(const char *text, size_t len, struct cluster_report *ret,
                        struct error *err) {
    _cleanup_json_ json_t *json = NULL, *index = json_object();
    struct cluster_report report = {0};
    struct reading reading = {&report, index};
    const char *time;

    if (json_read(text, len, CLUSTER_REPORT_KIND, &json, err) < 0)
        return -1;
    if (!text_equal(json_text_at(json, "kind"), CLUSTER_REPORT_KIND))
        return error_set(err, ERROR_MALFORMED,
                         text_equal(json_text_at(json, "kind"), "DiagReport")
                             ? "this is the report of one node, not of a whole cluster"
                             : "this is not the report of a whole cluster");
    time = json_text_at(json, "time");
    if (read_lists(&reading, json, err) < 0 ||
        (time && rfc3339_parse(time, &report.time, err) < 0)) {
        cluster_report_free(&report);
        return error_prefix(err, "decode " CLUSTER_REPORT_KIND);
    }
    report.server = text_of(json, "server");
    report.namespace_ = text_of(json, "namespace");
    report.domain = text_of(json, "domain");
    report.milliseconds = milliseconds_of(json, "durationSeconds");
    report.start_ms = milliseconds_of(json, "startSeconds");
    report.requests = (unsigned)json_number_at(json, "requests", 0);
    report.count = (unsigned)json_number_at(json, "count", 0);
    report.left = json_bool_at(json, "namespaceLeft", false);
    *ret = report;
    return 0;
}
