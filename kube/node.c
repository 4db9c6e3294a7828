/* Implements node.h. */
#include "kube/node.h"

#include "base/rfc3339.h"
#include "kube/object.h"

#define NODES_PATH "/api/v1/nodes"
#define PENDING_REASON "WinjoinNetworkPending"

void kube_node_free(struct kube_node *node) {
    free_all(node->name, node->uid, node->os, node->internal_ip);
    text_list_free(&node->addresses);
    text_list_free(&node->pod_cidrs);
    free_all(node->ready_reason, node->ready_message, node->kubelet_version);
    json_decref(node->annotations);
    *node = (struct kube_node){0};
}

static char *copy_at(const json_t *object, const char *path) {
    return xstrdup_null(json_text_at(object, path));
}

int kube_node_from_json(const json_t *object, struct kube_node *ret, struct error *err) {
    struct kube_node node = {.name = copy_at(object, "metadata.name")};
    const json_t *ready = kube_ready_condition(object);
    const char *pod_cidr = json_text_at(object, "spec.podCIDR");

    if (!node.name)
        (void)error_set(err, ERROR_MALFORMED, "decode Node: it has no name");
    if (!node.name || kube_object_check(object, "Node", "v1", err) < 0) {
        free(node.name);
        return -1;
    }
    node.uid = copy_at(object, "metadata.uid");
    node.os = copy_at(object, "metadata.labels.kubernetes\\.io/os");
    node.kubelet_version = copy_at(object, "status.nodeInfo.kubeletVersion");
    node.annotations = json_incref(json_at(object, "metadata.annotations"));
    node.unschedulable = json_bool_at(object, "spec.unschedulable", false);
    json_each(json_at(object, "status.addresses"), i, address) {
        const char *text = json_text_at(address, "address");

        if (text && text_equal(json_text_at(address, "type"), "InternalIP"))
            text_list_add(&node.addresses, text);
    }
    if (node.addresses.count)
        node.internal_ip = xstrdup(node.addresses.items[0]);
    json_read_texts(json_at(object, "spec.podCIDRs"), &node.pod_cidrs);
    if (!node.pod_cidrs.count && pod_cidr && *pod_cidr)
        text_list_add(&node.pod_cidrs, pod_cidr);
    node.ready = text_equal(json_text_at(ready, "status"), "True");
    node.ready_reason = copy_at(ready, "reason");
    node.ready_message = copy_at(ready, "message");
    json_each(json_at(object, "status.conditions"), i, condition)
        node.network_pending |= text_equal(json_text_at(condition, "status"), "True") &&
                                text_equal(json_text_at(condition, "reason"), PENDING_REASON);
    *ret = node;
    return 0;
}

const char *kube_node_annotation(const struct kube_node *node, const char *name) {
    const char *value = json_string_value(json_object_get(node->annotations, name));

    return value && *value ? value : NULL;
}

int kube_node_get(struct kube_client *client, const char *name, struct kube_node *ret,
                  struct error *err) {
    _cleanup_(freep) char *segment = kube_escape(name);
    _cleanup_(freep) char *path = xasprintf(NODES_PATH "/%s", segment);
    _cleanup_json_ json_t *object = NULL;
    _cleanup_(kube_node_free) struct kube_node node = {0};

    if (kube_get(client, path, &object, err) < 0 || kube_node_from_json(object, &node, err) < 0)
        return -1;
    if (!text_equal(node.name, name))
        return error_set(err, ERROR_MALFORMED, "GET %s: the answer is Node \"%.100s\"", path,
                         node.name);
    *ret = take_struct(node);
    return 0;
}

int kube_node_network_pending_set(struct kube_client *client, const char *name, bool pending,
                                  struct error *err) {
    _cleanup_(freep) char *segment = kube_escape(name);
    _cleanup_(freep) char *path = xasprintf(NODES_PATH "/%s/status", segment);
    const char *now = RFC3339_TEXT(host_now(client->host) + client->clock_difference);
    _cleanup_json_ json_t *patch =
        json_pack("{s:{s:[{s:s, s:s, s:s, s:s, s:s, s:s}]}}", "status", "conditions", "type",
                  "NetworkUnavailable", "status", pending ? "True" : "False", "reason",
                  pending ? PENDING_REASON : "WinjoinNetworkProved", "message",
                  pending ? "winjoin waits for the pod network" : "the pod network is ready",
                  "lastTransitionTime", now, "lastHeartbeatTime", now);

    return kube_patch(client, path, "strategic-merge", patch, err);
}

int kube_nodes_get(struct kube_client *client, json_t **ret, struct error *err) {
    return kube_pages_get(client, NODES_PATH, ret, err);
}

/* ---- waiting for a Node ---- */

struct node_wait {
    const char *name;
    enum kube_node_wanted wanted;
    kube_node_progress *progress;
    void *context;
    struct kube_node seen; /* The last seen state; its name is NULL when the Node does not exist. */
    struct host *host;
    uint64_t start;
};

static int tell(void *context, unsigned waited_ms, struct error *err) {
    struct node_wait *w = context;

    if (w->progress && w->progress(w->context, w->seen.name ? &w->seen : NULL, waited_ms))
        return error_set(err, ERROR_INTERRUPTED, "wait for node \"%s\": interrupted", w->name);
    return 0;
}

static int on_event(void *context, const char *type, const json_t *object, struct error *err) {
    struct node_wait *w = context;
    struct kube_node node = {0};

    if (text_equal(type, "LISTED") && json_array_size(json_at(object, "items")))
        return 0;
    if (text_equal(type, "LISTED") || text_equal(type, "DELETED"))
        object = NULL;
    if (object && kube_node_from_json(object, &node, err) < 0)
        return -1;
    kube_node_free(&w->seen);
    w->seen = node;
    if (tell(w, (unsigned)(host_monotonic_ms(w->host) - w->start), err) < 0)
        return -1;
    return object &&
           (w->wanted == KUBE_NODE_REGISTERED ||
            (w->wanted == KUBE_NODE_HAS_POD_CIDR ? w->seen.pod_cidrs.count > 0 : w->seen.ready));
}

int kube_node_wait(struct kube_client *client, const char *name, enum kube_node_wanted wanted,
                   unsigned timeout_ms, kube_node_progress *progress, void *context,
                   struct kube_node *ret, struct error *err) {
    struct node_wait w = {.name = name,
                          .wanted = wanted,
                          .progress = progress,
                          .context = context,
                          .host = client->host,
                          .start = host_monotonic_ms(client->host)};
    struct kube_watch watch = {.path = NODES_PATH,
                               .name = name,
                               .timeout_ms = timeout_ms,
                               .on_event = on_event,
                               .on_tick = tell,
                               .context = &w};

    if (kube_watch(client, &watch, 1, err) == 0) {
        *ret = w.seen;
        return 0;
    }
    if (err && err->kind == ERROR_TIMED_OUT) {
        if (!w.seen.name)
            (void)error_prefix(err, "node \"%s\" is not registered", name);
        else if (wanted == KUBE_NODE_HAS_POD_CIDR)
            (void)error_prefix(err, "node \"%s\" has no podCIDR", name);
        else
            (void)error_prefix(err, "node \"%s\" is not Ready: %s: %s", name,
                               w.seen.ready_reason ? w.seen.ready_reason : "no condition",
                               w.seen.ready_message ? w.seen.ready_message : "no message");
    }
    kube_node_free(&w.seen);
    return -1;
}

/* ---- Events of a Node ---- */

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

enum { MESSAGE_MAX = 1000 }; /* The API server accepts 1024 bytes. */

int node_event_tell(struct kube_client *client, const char *node, enum node_event event,
                    const char *message, struct node_events *events, struct error *err) {
    const char *now = RFC3339_TEXT(host_now(client->host) + client->clock_difference);
    _cleanup_(freep) char *prefix = xasprintf("%s.", node), *cut = NULL;
    _cleanup_json_ json_t *document = NULL, *made = NULL;
    size_t len = strnlen(message, MESSAGE_MAX);

    /* Do not cut in the middle of a UTF-8 character. */
    while (len && ((unsigned char)message[len] & 0xc0) == 0x80)
        len--;
    cut = xstrndup(message, len);
    if (events && text_equal(events->last[event].message, cut)) {
        _cleanup_(freep) char *segment = kube_escape(events->last[event].name);
        _cleanup_(freep) char *path = xasprintf(EVENTS_PATH "/%s", segment);
        _cleanup_json_ json_t *again = json_pack(
            "{s:i, s:s}", "count", (int)events->last[event].count + 1, "lastTimestamp", now);

        if (kube_patch(client, path, "merge", again, err) == 0) {
            events->last[event].count++;
            return 0;
        }
        /* The Event may be gone: the API server deletes Events after an hour. */
        if (error_forgive(err, ERROR_ABSENT) < 0)
            return -1;
    }

    /* kubectl finds Events of a Node by its name in the field `uid`, as kubelet writes it. */
    document =
        json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:s, s:s, s:s, s:s}, s:s, s:s, s:s, s:{s:s, "
                  "s:s}, s:s, s:s, s:i}",
                  "apiVersion", "v1", "kind", "Event", "metadata", "generateName", prefix,
                  "namespace", "default", "involvedObject", "apiVersion", "v1", "kind", "Node",
                  "name", node, "uid", node, "type", rows[event].warning ? "Warning" : "Normal",
                  "reason", rows[event].reason, "message", cut, "source", "component", "winjoin",
                  "host", node, "firstTimestamp", now, "lastTimestamp", now, "count", 1);
    if (kube_create(client, EVENTS_PATH, document, &made, err) < 0)
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
