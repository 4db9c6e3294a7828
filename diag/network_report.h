/* What a joined node says of its own network in the cluster: an annotation of its Node, which the
 * diagnosis of a whole cluster reads with the Nodes. Small, because every Node that is listed
 * carries it: counts, and the first few names of each kind; nothing secret. */
#pragma once

#include <stdint.h>

#include "base/json.h"
#include "diag/reports/report.h"
#include "netsetup/hns/hcn_records.h"

#define NETWORK_REPORT_ANNOTATION "winjoin.io/network-report"
enum {
    NETWORK_REPORT_MAX = 4096,           /* bytes of its text */
    NETWORK_REPORT_FRESH_SECONDS = 1200, /* so old at most it says what is; then what was */
};

/* What it is made of; NULL = not known. */
struct network_report_seen {
    int64_t time;
    const char *mode, *network;            /* "overlay", "flannel.4096" */
    const struct hcn_balancers *balancers; /* of HNS */
    const json_t *drift;                   /* drift_read(); NULL: nothing was compared */
    const json_t *diag;                    /* network_report_diag() */
};
/* What `winjoin diag` on the node found: {time, flows, flowsPassed, passed, failed: {count, first:
 * ["pod-to-pod-ip/tcp"]}, causes: [{id, confidence}], message}; `passed` and `failed` are cells,
 * `message` the first cause's. New reference. */
json_t *network_report_diag(const struct diag_report *report);
/* The annotation: {version: 1, time, mode, network, loadBalancers, dsr: "on|off|mixed", drift:
 * {KIND: {count, first: []}}, unread: ["the Services"], diag}; KIND: one of drift_kinds[]
 * (diag/drift/drift.h). At most NETWORK_REPORT_MAX bytes: names are left out, counts stay. The
 * caller frees. */
char *network_report_make(const struct network_report_seen *seen);

/* Reads it: any node may have written anything. What is not as above is left out, texts that are
 * long or not plain ASCII too; *ret is a new reference of the same shape. ERROR_MALFORMED in words
 * of winjoin's own where it is no report at all. */
int network_report_read(const char *text, json_t **ret, struct error *err);
/* The same of a document that was read already. */
int network_report_take(const json_t *json, json_t **ret, struct error *err);

/* The rest is about what was read; NULL is a report of nothing. */
int64_t network_report_time(const json_t *report);
bool network_report_is_fresh(const json_t *report, int64_t now);
/* Does the report have anything of drift? And what HNS lacks: load balancers of Services, endpoints
 * of pods. */
bool network_report_differs(const json_t *report);
bool network_report_lacks(const json_t *report);
/* "2 Services without a load balancer in HNS (kube-system/kube-dns 10.96.0.10:53/UDP, ...)", "":
 * none; the caller frees. */
char *network_report_drift(const json_t *report);
/* How many differences there are, of all kinds. */
long long network_report_count(const json_t *report);
/* Does it name this Service ("kube-system/kube-dns") among those without a load balancer? */
bool network_report_lacks_service(const json_t *report, const char *service);
/* "4 min old: 2 Services without a load balancer in HNS (kube-system/kube-dns 10.96.0.10:53/UDP,
 * ...); winjoin diag 2 h ago: SVC-LOST; pod-to-service-ip/udp failed"; the caller frees. */
char *network_report_line(const json_t *report, int64_t now);
