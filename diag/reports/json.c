/* DiagReport as the contracts have it, and its way back in. */
#include "base/rfc3339.h"
#include "diag/reports/report.h"

static json_t *cell_evidence(const struct diag_cell *cell) {
    json_t *evidence = json_object();

    json_object_set_new(evidence, "probe", json_string(probe_outcome_name(cell->result.outcome)));
    json_set_text(evidence, "responder", cell->result.responder);
    if (cell->result.address_count) {
        json_t *addresses = json_array();

        for (size_t i = 0; i < cell->result.address_count; i++)
            json_array_append_new(addresses, json_string(cell->result.addresses[i]));
        json_object_set_new(evidence, "addresses", addresses);
    }
    return evidence;
}

void diag_counted_json(const struct probe_result *result, bool timed, json_t *ret) {
    json_object_set_new(
        ret, "lossPercent",
        json_real(100.0 * (result->attempts - result->succeeded) / result->attempts));
    if (timed && result->succeeded)
        json_object_set_new(ret, "latencyMs",
                            json_pack("{s:f, s:f, s:f, s:f}", "min", result->min_us / 1e3, "median",
                                      result->median_us / 1e3, "p95", result->p95_us / 1e3, "max",
                                      result->max_us / 1e3));
}

static json_t *cell_json(const struct diag_cell *cell) {
    json_t *json = json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:s}", "id", cell->flow->name, "from", cell->from, "to",
        cell->to[0] ? cell->to : cell->flow->to, "protocol", cell->udp ? "UDP" : "TCP", "family",
        cell->family == 6 ? "IPv6" : "IPv4", "outcome", diag_outcome_name(cell->outcome));

    if (cell->result.attempts) {
        json_object_set_new(json, "attempts", json_integer(cell->result.attempts));
        json_object_set_new(json, "succeeded", json_integer(cell->result.succeeded));
        diag_counted_json(&cell->result, true, json);
        json_object_set_new(json, "evidence", cell_evidence(cell));
    }
    if (cell->one_way)
        json_object_set_new(json, "oneWay",
                            json_string(cell->one_way == DIAG_WAY_BACK ? "back" : "there"));
    json_set_text(json, "reason", cell->reason);
    return json;
}

json_t *diag_flows_json(const struct diag_report *report) {
    json_t *flows = json_array();

    for (size_t i = 0; i < report->cells.count; i++)
        json_array_append_new(flows, cell_json(&report->cells.items[i]));
    return flows;
}

json_t *diag_causes_json(const struct diag_causes *causes) {
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

json_t *diag_report_json(const struct diag_report *report) {
    struct diag_summary summary;
    json_t *json;

    diag_summary_make(report, &summary);
    json = json_pack("{s:s, s:s, s:s, s:s, s:s, s:f, s:o, s:o, s:{s:i, s:i, s:i, s:i}}",
                     JSON_DOCUMENT("DiagReport"), "node", report->node ? report->node : "",
                     "network", report->network ? report->network : "unknown", "time",
                     RFC3339_TEXT(report->time), "durationSeconds", report->milliseconds / 1000.0,
                     "flows", diag_flows_json(report), "causes", diag_causes_json(&report->causes),
                     "summary", "pass", (int)summary.pass, "fail", (int)summary.fail, "skip",
                     (int)summary.skip, "notRun", (int)summary.not_run);
    if (report->measured_ms)
        json_object_set_new(json, "measuredSeconds", json_real(report->measured_ms / 1000.0));
    if (report->evidence)
        json_object_set(json, "evidence", report->evidence);
    return json;
}

/* ---- reading it back ---- */

static unsigned number_in(const json_t *json, const char *path, unsigned max) {
    long long value = json_number_at(json, path, 0);

    return value < 0 ? 0 : value > max ? max : (unsigned)value;
}

static unsigned microseconds_in(const json_t *json, const char *path) {
    double value = json_number_value(json_at(json, path));

    return value > 0 && value < 1e6 ? (unsigned)(value * 1000.0 + 0.5) : 0;
}

static void copy_in(const json_t *json, const char *path, char *ret, size_t size) {
    text_format(ret, size, "%s", json_text_or(json, path, ""));
}

static void addresses_read(const json_t *json, struct probe_result *ret) {
    json_each(json_at(json, "evidence.addresses"), i, address) {
        const char *text = json_string_value(address);

        if (text && strlen(text) < sizeof ret->addresses[0] &&
            ret->address_count < PROBE_ADDRESSES_MAX)
            memcpy(ret->addresses[ret->address_count++], text, strlen(text) + 1);
    }
}

int diag_cell_read(const json_t *json, struct diag_cell *ret, struct error *err) {
    const char *id = json_text_at(json, "id"), *protocol = json_text_at(json, "protocol");
    const char *outcome = json_text_at(json, "outcome"), *family = json_text_at(json, "family");
    const char *probe = json_text_at(json, "evidence.probe");

    ret->flow = id ? diag_flow_find(id) : NULL;
    if (!ret->flow)
        return error_set(err, ERROR_MALFORMED, "unknown flow '%s'", id ? id : "");
    if (!protocol || (!text_equal(protocol, "TCP") && !text_equal(protocol, "UDP")) || !outcome ||
        diag_outcome_parse(outcome, &ret->outcome) < 0 ||
        (probe && probe_outcome_parse(probe, &ret->result.outcome) < 0))
        return error_set(err, ERROR_MALFORMED, "flow '%s' has an unknown protocol or outcome", id);
    ret->udp = protocol[0] == 'U';
    ret->one_way = text_equal(json_text_at(json, "oneWay"), "back")    ? DIAG_WAY_BACK
                   : text_equal(json_text_at(json, "oneWay"), "there") ? DIAG_WAY_THERE
                                                                       : DIAG_WAY_NONE;
    ret->family = text_equal(family, "IPv6") ? 6 : 4;
    ret->result.attempts = number_in(json, "attempts", PROBE_ATTEMPTS_MAX);
    ret->result.succeeded = number_in(json, "succeeded", ret->result.attempts);
    ret->result.min_us = microseconds_in(json, "latencyMs.min");
    ret->result.median_us = microseconds_in(json, "latencyMs.median");
    ret->result.p95_us = microseconds_in(json, "latencyMs.p95");
    ret->result.max_us = microseconds_in(json, "latencyMs.max");
    addresses_read(json, &ret->result);
    copy_in(json, "from", ret->from, sizeof ret->from);
    copy_in(json, "to", ret->to, sizeof ret->to);
    copy_in(json, "reason", ret->reason, sizeof ret->reason);
    copy_in(json, "evidence.responder", ret->result.responder, sizeof ret->result.responder);
    return 0;
}

int diag_report_read(const char *text, size_t len, struct diag_report *ret, struct error *err) {
    _cleanup_(diag_report_free) struct diag_report report = {0};
    _cleanup_json_ json_t *json = NULL;
    const char *time;

    if (json_read(text, len, "DiagReport", &json, err) < 0)
        return -1;
    if (text_equal(json_text_at(json, "kind"), CLUSTER_REPORT_KIND))
        return error_set(err, ERROR_MALFORMED,
                         "this is the report of a whole cluster, not of one node");
    if (!text_equal(json_text_at(json, "kind"), "DiagReport") || !json_at(json, "flows"))
        return error_set(
            err, ERROR_MALFORMED,
            "decode DiagReport: not a winjoin diag report (winjoin diag -o json prints one)");
    json_each(json_at(json, "flows"), i, item) {
        struct diag_cell cell = {0};

        if (diag_cell_read(item, &cell, err) < 0)
            return error_prefix(err, "decode DiagReport");
        cell.second =
            cell.family == 6 && diag_cells_find(&report.cells, cell.flow->id, cell.udp, false);
        if (diag_cells_find(&report.cells, cell.flow->id, cell.udp, cell.second))
            return error_set(err, ERROR_MALFORMED, "decode DiagReport: duplicate flow '%s'",
                             cell.flow->name);
        diag_cells_add(&report.cells, &cell);
        report.probes += cell.result.attempts;
    }
    time = json_text_at(json, "time");
    if (time && rfc3339_parse(time, &report.time, err) < 0)
        return error_prefix(err, "decode DiagReport");
    report.node = xstrdup_null(json_text_at(json, "node"));
    report.network = xstrdup_null(json_text_at(json, "network"));
    report.milliseconds = microseconds_in(json, "durationSeconds");
    report.evidence = json_incref(json_at(json, "evidence"));
    *ret = report;
    report = (struct diag_report){0};
    return 0;
}
