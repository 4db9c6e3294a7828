/* Publishes a node's report and the condition about its network. */
#include "diag/network_report.h"

#include "base/log.h"
#include "base/rfc3339.h"
#include "diag/drift/drift.h"
#include "kube/node.h"
#include "node/chosen.h"
#include "node/keeper/network_keeper.h"
#include "services/service_table.h"

#define UNPROVED "Unknown"

struct proof {
    const char *status, *reason;
    struct text message;
};

static json_t *condition(const struct proof *proof, const json_t *before, int64_t now) {
    const char *since = json_text_at(before, "lastTransitionTime"), *time = RFC3339_TEXT(now);

    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "type", NETWORK_PROOF_CONDITION, "status",
                     proof->status, "reason", proof->reason, "message", text_str(&proof->message),
                     "lastHeartbeatTime", time, "lastTransitionTime",
                     since && text_equal(json_text_at(before, "status"), proof->status) ? since
                                                                                        : time);
}

json_t *network_proof_condition(const json_t *report, const json_t *before, int64_t now) {
    const json_t *diag = json_object_get(report, "diag");
    const char *id = json_text_at(diag, "causes.0.id"), *said = json_text_at(diag, "message"),
               *time = json_text_at(diag, "time");
    long long flows = json_number_at(diag, "flows", 0),
              passed = json_number_at(diag, "flowsPassed", 0);
    bool some_not = !flows || passed < flows;
    bool failed = json_object_get(diag, "failed") || (some_not && json_at(diag, "causes.0"));
    struct proof proof = {.status = UNPROVED, .reason = "NotMeasured"};
    json_t *made;

    if (failed || !some_not)
        text_addf(&proof.message, "%lld of %lld flows worked at %s", passed, flows, time);
    if (failed) {
        proof.status = "False";
        proof.reason = id ? id : "FlowsFailed";
        if (said)
            text_addf(&proof.message, ": %s", said);
        else
            json_each(json_at(diag, "failed.first"), i, cell)
                text_addf(&proof.message, "%s%s", i ? ", " : "; failed: ", json_string_value(cell));
    } else if (some_not) {
        text_add(&proof.message, "not all flows of the pod network were measured; run winjoin "
                                 "diag on the node");
    } else if (now - rfc3339_seconds(time) <= NETWORK_PROOF_TERM_SECONDS) {
        proof.status = "True";
        proof.reason = "FlowsWork";
    } else {
        proof.reason = "TooOld";
        text_add(&proof.message, ", too long ago; run winjoin diag on the node");
    }
    /* HNS may have lost something since the flows were measured. */
    if (!failed && network_report_lacks(report)) {
        _cleanup_(freep) char *lacking = network_report_drift(report);

        /* The reason is the cause in the diagnosis of a cluster (CL-HNS). */
        text_free(&proof.message);
        proof = (struct proof){.status = "False", .reason = "CL-HNS"};
        text_addf(&proof.message, "HNS has otherwise than Kubernetes: %s", lacking);
    }
    made = condition(&proof, before, now);
    text_free(&proof.message);
    return made;
}

json_t *network_proof_restored(const json_t *before, int64_t now) {
    struct proof proof = {.status = UNPROVED, .reason = "NetworkRestored"};
    json_t *made;

    text_addf(&proof.message,
              "HNS was restarted, and its networks were made again at %s; what HNS has is compared "
              "with Kubernetes within two minutes",
              RFC3339_TEXT(now));
    made = condition(&proof, before, now);
    text_free(&proof.message);
    return made;
}

bool network_proof_equal(const json_t *a, const json_t *b) {
    static const char *const keys[] = {"status", "reason", "message"};

    for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
        if (!text_equal(json_text_at(a, keys[i]), json_text_at(b, keys[i])))
            return false;
    return true;
}

enum {
    REQUEST_MS = 3000,
    /* kube-proxy takes at most a minute, and a join has published its own report by then. */
    SOON_MS = 90000,
    SURE_MS = 60000,
    LOOK_MS = 15 * 60000,
    CHANGED_MS = 5 * 60000,
    AGAIN_MS = 5 * 60000,
    RENEW_SECONDS = 3600
};

/* ---- the node ---- */

/* This node, and its identity in the cluster. */
struct publishing {
    struct host *host;
    struct kube_client client;
    struct chosen chosen;
    char *path;                 /* The path of the Node in the API. */
    struct node_events *events; /* The Events of the Node so far; borrowed, may be NULL. */
};

static void publishing_free(struct publishing *p) {
    kube_client_close(&p->client);
    chosen_free(&p->chosen);
    free(p->path);
}

static int publishing_open(struct host *host, struct http *http, struct publishing *ret,
                           struct error *err) {
    _cleanup_(freep) char *name = NULL;

    if (chosen_load(host, &ret->chosen, err) < 0)
        return -1;
    ret->host = host;
    name = kube_escape(ret->chosen.node);
    ret->path = xasprintf("/api/v1/nodes/%s", name);
    if (kube_client_open_file(http, host, NODE_KUBECONFIG, &ret->client, err) < 0)
        return -1;
    ret->client.timeout_ms = REQUEST_MS;
    return 0;
}

static void tell(struct publishing *p, enum node_event event, const char *message) {
    struct error why = {0};

    if (node_event_tell(&p->client, p->chosen.node, event, message, p->events, &why) < 0)
        log_message(LOG_RETRY, "write an event of this Node: %s", why.message);
}

/* Patches the report and the condition; the path of the status accepts annotations, too. `report`
 * NULL keeps the annotation, "" removes it. */
static int put(struct publishing *p, const char *report, const json_t *before, json_t *condition,
               struct error *err) {
    _cleanup_(freep) char *path = xasprintf("%s/status", p->path);
    _cleanup_json_ json_t *patch = json_pack("{s:{s:[O]}}", "status", "conditions", condition);
    const char *status, *was;
    _cleanup_(freep) char *message = NULL;

    if (report)
        json_object_set_new(patch, "metadata",
                            /* A null value removes the annotation. */
                            json_pack("{s:{s:s?}}", "annotations", NETWORK_REPORT_ANNOTATION,
                                      *report ? report : NULL));
    if (kube_patch(&p->client, path, "strategic-merge", patch, err) < 0)
        return -1;
    /* Writes an Event for each change of the condition's status, but not for a first Unknown. */
    status = json_text_at(condition, "status");
    was = json_text_at(before, "status");
    if (status && !text_equal(was, status) && (was || !text_equal(status, "Unknown"))) {
        message = xasprintf("%s: %s", json_text_at(condition, "reason"),
                            json_text_at(condition, "message"));
        tell(p, text_equal(status, "True") ? NODE_PROVED : NODE_NOT_PROVED, message);
    }
    return 0;
}

/* The report and the condition that the Node has. */
struct said {
    json_t *report;    /* The published report; NULL when it is missing or unreadable. */
    json_t *condition; /* The condition PodNetworkProved; NULL when the Node has none. */
};

static void said_free(struct said *said) {
    json_decref(said->report);
    json_decref(said->condition);
}

static int get(struct publishing *p, struct said *ret, struct error *err) {
    _cleanup_json_ json_t *node = NULL;
    const char *text;

    if (kube_get(&p->client, p->path, &node, err) < 0)
        return -1;
    json_each(json_at(node, "status.conditions"), i, condition)
        if (!ret->condition && text_equal(json_text_at(condition, "type"), NETWORK_PROOF_CONDITION))
            ret->condition = json_incref(condition);
    text = json_string_value(
        json_object_get(json_at(node, "metadata.annotations"), NETWORK_REPORT_ANNOTATION));
    if (text)
        (void)network_report_read(text, &ret->report, ERROR_IGNORED);
    return 0;
}

/* ---- compare and publish ---- */

/* Returns the state of the service kube-proxy; "absent" when it is not winjoin's, because only load
 * balancers of winjoin's kube-proxy can be judged. */
static enum host_service_state our_kube_proxy(struct host *host) {
    _cleanup_(host_service_free) struct host_service service = {0};

    return host_service_query(host, service_kube_proxy.name, &service, ERROR_IGNORED) == 0 &&
                   service_is_ours(&service)
               ? service.state
               : HOST_SERVICE_ABSENT;
}

/* Says whether both reports are equal except for their times, there is no difference in HNS, and
 * the earlier report is not too old to stay. */
static bool says_the_same(const json_t *before, const json_t *now) {
    _cleanup_json_ json_t *a = json_copy((json_t *)before), *b = json_copy((json_t *)now);

    json_object_del(a, "time");
    json_object_del(b, "time");
    return before && json_equal(a, b) && !network_report_differs(now) &&
           network_report_time(now) - network_report_time(before) < RENEW_SECONDS;
}

/* Writes one Event when two comparisons found that HNS differs, and one when it no longer does. */
static void tell_drift(struct publishing *p, struct network_publisher *publisher,
                       const json_t *now) {
    bool differs = network_report_differs(now);
    _cleanup_(freep) char *what = differs ? network_report_drift(now) : NULL;

    if (differs && publisher->differs && !publisher->drifted)
        tell(p, NODE_DRIFTED, what);
    else if (!differs && publisher->drifted)
        tell(p, NODE_DRIFT_GONE, "HNS has what Kubernetes has again");
    else
        return;
    publisher->drifted = differs;
}

/* Compares, and publishes what changed. `known` has Services and EndpointSlices that are followed,
 * or is NULL. If HNS lacks something, this is published only with `sure`, when an earlier
 * comparison found it, too. *ret always gets the report. */
static int publish(struct host *host, struct http *http, const struct drift_cluster *known,
                   const json_t *diag, bool sure, struct network_publisher *publisher, json_t **ret,
                   struct error *err) {
    _cleanup_(publishing_free) struct publishing p = {0};
    _cleanup_(said_free) struct said before = {0};
    _cleanup_(hcn_balancers_free) struct hcn_balancers balancers = {0};
    _cleanup_json_ json_t *drift = NULL, *now = NULL, *condition = NULL;
    _cleanup_(freep) char *text = NULL;
    struct network_report_facts facts;
    bool has_balancers;
    uint64_t deadline;

    p.events = publisher ? &publisher->events : NULL;
    if (publishing_open(host, http, &p, err) < 0 || get(&p, &before, err) < 0)
        return -1;
    deadline = host_set_limit(host, DRIFT_MS);
    if (our_kube_proxy(host) == HOST_SERVICE_RUNNING)
        drift = drift_read(host, &p.client, p.chosen.node, p.chosen.network.name, NULL, known,
                           &balancers, &has_balancers);
    else /* If HNS cannot be read, the report has no load balancers. */
        has_balancers = hcn_balancers_read(host, HCN_AT_ONCE, &balancers, ERROR_IGNORED) == 0;
    host_set_deadline(host, deadline);
    facts =
        (struct network_report_facts){.time = host_now(host),
                                      .mode = p.chosen.network.mode,
                                      .network = p.chosen.network.name,
                                      .balancers = has_balancers ? &balancers : NULL,
                                      .drift = drift,
                                      .diag = diag ? diag : json_object_get(before.report, "diag")};
    /* The new report is read back, so that it has the same form as the published one. */
    text = network_report_make(&facts);
    if (network_report_read(text, &now, err) < 0)
        return -1;
    condition = network_proof_condition(now, before.condition,
                                        host_now(p.host) + p.client.clock_difference);
    if ((sure || !network_report_lacks(now)) &&
        !(says_the_same(before.report, now) && network_proof_equal(before.condition, condition)) &&
        put(&p, text, before.condition, condition, err) < 0)
        return -1;
    if (publisher)
        tell_drift(&p, publisher, now);
    *ret = take_ptr(now);
    return 0;
}

int network_report_publish(struct host *host, struct http *http, const struct diag_report *measured,
                           struct error *err) {
    _cleanup_json_ json_t *diag = measured ? network_report_diag(measured) : NULL, *first = NULL,
                          *again = NULL;

    if (publish(host, http, NULL, diag, false, NULL, &first, err) < 0)
        return -1;
    return network_report_lacks(first) ? publish(host, http, NULL, diag, true, NULL, &again, err)
                                       : 0;
}

int network_report_clear(struct host *host, struct http *http, struct error *err) {
    _cleanup_(publishing_free) struct publishing p = {0};
    _cleanup_json_ json_t *none =
        json_pack("{s:s, s:s}", "type", NETWORK_PROOF_CONDITION, "$patch", "delete");

    if (publishing_open(host, http, &p, err) == 0 && put(&p, "", NULL, none, err) == 0)
        return 0;
    return error_forgive(err, ERROR_ABSENT); /* Nothing was published, or the Node is gone. */
}

/* ---- the comparisons of winjoin-network ---- */

/* Returns a time after now with a random spread, so that nodes which start together ask apart. */
static uint64_t from_now(struct network_publisher *p, unsigned ms) {
    return host_monotonic_ms(p->host) + host_spread_ms(p->host, ms, ms + ms / 5);
}

/* Makes the condition Unknown at once, so that readers know that the earlier proof is in doubt. */
static void doubt(struct network_publisher *publisher) {
    _cleanup_(publishing_free) struct publishing p = {0};
    _cleanup_(said_free) struct said before = {0};
    _cleanup_json_ json_t *condition = NULL;
    struct error why = {0};

    p.events = &publisher->events;
    if (publishing_open(publisher->host, publisher->http, &p, &why) == 0 &&
        get(&p, &before, &why) == 0 && before.condition) {
        condition =
            network_proof_restored(before.condition, host_now(p.host) + p.client.clock_difference);
        (void)put(&p, NULL, before.condition, condition, &why);
    }
    publisher->doubted = condition && why.kind == ERROR_NONE;
    if (why.kind && why.kind != ERROR_ABSENT)
        log_message(LOG_RETRY, "publish that the network was made again: %s", why.message);
}

size_t network_publisher_watches(void *publisher, struct kube_watch *ret) {
    struct network_publisher *p = publisher;

    if (our_kube_proxy(p->host) == HOST_SERVICE_ABSENT)
        return 0;
    drift_follow_watches(&p->follow, ret);
    return DRIFT_WATCHES;
}

void network_publisher_on_check(void *publisher, const struct network_check *check) {
    struct network_publisher *p = publisher;
    enum network_news news = check->news;
    _cleanup_json_ json_t *now = NULL;
    struct error why = {0};

    if (check->hns_restarted || check->restored) {
        _cleanup_(publishing_free) struct publishing node = {.events = &p->events};
        bool is_open = publishing_open(p->host, p->http, &node, ERROR_IGNORED) == 0;

        if (is_open && check->hns_restarted)
            tell(&node, NODE_HNS_RESTARTED, "another process of HNS runs");
        if (is_open && check->restored)
            tell(&node, NODE_NETWORK_RESTORED, check->restored);
    }
    if (news == NEWS_RESTORED && !p->doubted)
        doubt(p);
    if (!p->begun || news == NEWS_RESTORED || (news == NEWS_BALANCERS && p->differs)) {
        uint64_t soon = from_now(p, SOON_MS);

        p->due_ms = p->begun && p->due_ms < soon && news != NEWS_RESTORED ? p->due_ms : soon;
        p->begun = true;
    }
    if (p->follow.changes != p->compared) {
        uint64_t changed = from_now(p, CHANGED_MS);

        p->compared = p->follow.changes;
        p->due_ms = p->due_ms < changed ? p->due_ms : changed;
    }
    if (host_monotonic_ms(p->host) < p->due_ms)
        return;
    p->compared = p->follow.changes;
    if (publish(p->host, p->http, &p->follow.cluster, NULL, p->doubtful, p, &now, &why) < 0) {
        log_message(why.kind == ERROR_ABSENT ? LOG_INFO : LOG_RETRY,
                    "publish the report of this node's network: %s", why.message);
        p->due_ms = from_now(p, AGAIN_MS);
        return;
    }
    p->doubted = false;
    p->doubtful = !p->doubtful && network_report_lacks(now);
    p->differs = network_report_differs(now);
    p->due_ms = from_now(p, p->doubtful ? SURE_MS : LOOK_MS);
}
