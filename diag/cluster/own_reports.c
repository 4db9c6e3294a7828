/* What the nodes that winjoin joined have published of themselves: a report and a condition, which
 * come with the list of Nodes, and Events. */
#include "diag/cluster/cluster.h"

#include "base/rfc3339.h"
#include "diag/network_report_publish.h"
#include "diag/network_report.h"
#include "kube/object.h"

static json_t *taken(json_t *report, const struct error *why) {
    return report ? report : json_pack("{s:s}", "unreadable", why->message);
}

json_t *cluster_own_report_of(const json_t *node) {
    const char *text = json_string_value(
        json_object_get(json_at(node, "metadata.annotations"), NETWORK_REPORT_ANNOTATION));
    struct error why = {0};
    json_t *report = NULL;

    if (!text)
        return NULL;
    (void)network_report_read(text, &report, &why);
    return taken(report, &why);
}

json_t *cluster_own_report_take(const json_t *json) {
    const char *unreadable = json_text_at(json, "unreadable");
    struct error why = {0};
    json_t *report = NULL;

    if (!json_is_object(json))
        return NULL;
    if (unreadable)
        (void)error_set(&why, ERROR_MALFORMED, "%.80s", unreadable);
    else
        (void)network_report_take(json, &report, &why);
    return taken(report, &why);
}

bool cluster_own_report_is_news(const struct cluster_node *node) {
    return network_report_differs(node->own_report) ||
           json_object_get(node->own_report, "unreadable");
}

char *cluster_own_report_line(const struct diag_report *report, const struct cluster_node *node) {
    const char *unreadable = json_text_at(node->own_report, "unreadable");
    _cleanup_(freep) char *line = NULL;

    if (!node->own_report)
        return NULL;
    if (unreadable)
        return xasprintf("its own report cannot be read: %s", unreadable);
    line = network_report_line(node->own_report, report->time);
    return xasprintf("its own report, %s", line);
}

/* ---- what is wrong by their own words ---- */

void cluster_node_says(const json_t *item, struct cluster_node *ret) {
    bool failed = json_at(ret->own_report, "diag.failed.first.0") != NULL;

    /* The condition PodNetworkProved. */
    json_each(json_at(item, "status.conditions"), i, condition) {
        const char *status = json_text_or(condition, "status", "");

        if (!text_equal(json_text_at(condition, "type"), NETWORK_PROOF_CONDITION))
            continue;
        if (text_equal(status, "True")) {
            ret->proved = rfc3339_seconds(json_text_at(condition, "lastHeartbeatTime"));
            continue;
        }
        ret->unsure = !text_equal(status, "False");
        text_set(&ret->says, xasprintf(NETWORK_PROOF_CONDITION " is %s: %.100s: %.200s",
                                       ret->unsure ? "Unknown" : status,
                                       json_text_or(condition, "reason", "no reason"),
                                       json_text_or(condition, "message", "no message")));
    }
    if ((ret->says && !ret->unsure) || (!failed && !cluster_own_report_is_news(ret)))
        return;
    ret->unsure = false;
    text_set(&ret->says, json_object_get(ret->own_report, "unreadable")
                             ? xstrdup("its own report cannot be read")
                         : failed ? xasprintf("winjoin diag there: %.100s failed",
                                              json_text_at(ret->own_report, "diag.failed.first.0"))
                                  : network_report_drift(ret->own_report));
}

/* Of each node its newest Event: {time, says: where it is a Warning}. */
static int take_events(void *context, const json_t *items, struct error *) {
    json_t *newest = context;

    json_each(items, i, item) {
        const char *node = json_text_at(item, "involvedObject.name");
        const char *time = json_text_or(item, "lastTimestamp", "");
        const char *before = json_text_at(json_object_get(newest, node ? node : ""), "time");
        _cleanup_(freep) char *says =
            text_equal(json_text_at(item, "type"), "Warning")
                ? xasprintf("Event %.100s: %.200s", json_text_or(item, "reason", ""),
                            json_text_or(item, "message", ""))
                : NULL;

        if (node && (!before || strcmp(time, before) >= 0))
            json_object_set_new(newest, node, json_pack("{s:s, s:s*}", "time", time, "says", says));
    }
    return 0;
}

int cluster_events_read(struct kube_client *client, struct cluster_nodes *nodes,
                        struct error *err) {
    _cleanup_json_ json_t *newest = json_object();

    if (kube_pages_each(client,
                        "/api/v1/namespaces/default/events?fieldSelector="
                        "involvedObject.kind%3DNode%2Csource%3Dwinjoin",
                        take_events, newest, NULL, err) < 0)
        return -1;
    for (size_t i = 0; i < nodes->count; i++) {
        struct cluster_node *node = &nodes->items[i];
        const char *says = json_text_at(json_object_get(newest, node->name), "says");

        if (!says || (node->says && !node->unsure))
            continue;
        text_set(&node->says, xstrdup(says));
        node->unsure = false;
    }
    return 0;
}
