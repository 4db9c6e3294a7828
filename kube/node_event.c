/* Events of a Node: their reasons, and how they are counted. */
#include "kube/node_event.h"

#include "base/rfc3339.h"
#include "kube/object.h"

#define EVENTS_PATH "/api/v1/namespaces/default/events"

static const struct {
    const char *reason;
    bool warning;
} rows[NODE_EVENT_COUNT] = {
    [NODE_PROVED] = {"PodNetworkProved", false},
    [NODE_NOT_PROVED] = {"PodNetworkNotProved", true},
    [NODE_JOINED] = {"Joined", false},
    [NODE_JOIN_FAILED] = {"JoinFailed", true},
    [NODE_UPGRADED] = {"Upgraded", false},
    [NODE_HNS_RESTARTED] = {"HNSRestarted", true},
    [NODE_NETWORK_RESTORED] = {"NetworkRestored", false},
    [NODE_DRIFTED] = {"NetworkDrift", true},
    [NODE_DRIFT_GONE] = {"NetworkDriftGone", false},
};

enum { MESSAGE_MAX = 1000 }; /* of 1024 that the API server takes */

/* Not in the middle of a letter. The caller frees. */
static char *cut_message(const char *message) {
    size_t len = strnlen(message, MESSAGE_MAX);

    while (len && ((unsigned char)message[len] & 0xc0) == 0x80)
        len--;
    return xstrndup(message, len);
}

/* Of a Node kubectl looks for events by its name as `uid`, which the kubelet writes, too. */
static json_t *event_json(const char *node, enum node_event event, const char *message,
                          const char *now) {
    _cleanup_(freep) char *prefix = xasprintf("%s.", node);

    return json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:s, s:s, s:s, s:s}, s:s, s:s, s:s, s:{s:s, "
                     "s:s}, s:s, s:s, s:i}",
                     "apiVersion", "v1", "kind", "Event", "metadata", "generateName", prefix,
                     "namespace", "default", "involvedObject", "apiVersion", "v1", "kind", "Node",
                     "name", node, "uid", node, "type", rows[event].warning ? "Warning" : "Normal",
                     "reason", rows[event].reason, "message", message, "source", "component",
                     "winjoin", "host", node, "firstTimestamp", now, "lastTimestamp", now, "count",
                     1);
}

/* 1: done; 0: it has gone meanwhile, as events do after an hour. */
static int count_again(struct kube_client *client, const char *name, unsigned count,
                       const char *now, struct error *err) {
    _cleanup_(freep) char *segment = kube_escape(name);
    _cleanup_(freep) char *path = xasprintf(EVENTS_PATH "/%s", segment);
    _cleanup_json_ json_t *patch =
        json_pack("{s:i, s:s}", "count", (int)count, "lastTimestamp", now);

    if (kube_patch(client, path, "merge", patch, err) == 0)
        return 1;
    return error_forgive(err, ERROR_ABSENT);
}

int node_event_tell(struct kube_client *client, const char *node, enum node_event event,
                    const char *message, struct node_events *events, struct error *err) {
    const char *now = RFC3339_TEXT(host_now(client->host) + client->clock_difference);
    _cleanup_(freep) char *cut = cut_message(message);
    _cleanup_json_ json_t *told = event_json(node, event, cut, now), *made = NULL;

    if (events && text_equal(events->last[event].message, cut)) {
        int done =
            count_again(client, events->last[event].name, events->last[event].count + 1, now, err);

        events->last[event].count += done > 0;
        if (done)
            return done < 0 ? -1 : 0;
    }
    if (kube_create(client, EVENTS_PATH, told, &made, err) < 0)
        return -1;
    if (events && json_text_at(made, "metadata.name")) {
        text_set(&events->last[event].name, xstrdup(json_text_at(made, "metadata.name")));
        text_set(&events->last[event].message, take_ptr(cut));
        events->last[event].count = 1;
    }
    return 0;
}

void node_events_free(struct node_events *events) {
    for (size_t i = 0; i < NODE_EVENT_COUNT; i++)
        free_all(events->last[i].name, events->last[i].message);
    *events = (struct node_events){0};
}
