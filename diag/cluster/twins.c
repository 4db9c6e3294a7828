/* What two Nodes, or two pods, have in common that each should have for itself: of machines that
 * were cloned, of a pod subnet that was given twice. */
#include "diag/cluster/cluster.h"

#include "base/json.h"

struct twins {
    struct cluster_nodes *nodes;
    json_t *seen; /* of each text the first node that has it */
};

static void say(struct cluster_node *node, const char *text, const struct cluster_node *other) {
    if (!node->twin)
        node->twin = xasprintf("%s is that of %s, too", text, other->name);
}

/* `what`: "its pod subnet". A value that is NULL or "" is passed over. */
static void note(struct twins *t, size_t node, const char *what, const char *value) {
    _cleanup_(freep) char *text = xasprintf("%s %s", what, value ? value : "");
    const json_t *first = json_object_get(t->seen, text);
    size_t other = (size_t)json_integer_value(first);

    if (!value || !*value)
        return;
    if (!first) {
        json_object_set_new(t->seen, text, json_integer((json_int_t)node));
    } else if (other != node) {
        say(&t->nodes->items[node], text, &t->nodes->items[other]);
        say(&t->nodes->items[other], text, &t->nodes->items[node]);
    }
}

/* What other nodes send to, as flannel announces it. */
static void note_overlay(struct twins *t, size_t node, const json_t *item) {
    const json_t *annotations = json_at(item, "metadata.annotations");
    const char *text =
        json_string_value(json_object_get(annotations, "flannel.alpha.coreos.com/backend-data"));
    _cleanup_json_ json_t *data = NULL;

    note(t, node, CLUSTER_TWIN_OVERLAY "address",
         json_string_value(json_object_get(annotations, "flannel.alpha.coreos.com/public-ip")));
    if (text && json_read(text, strlen(text), "backend-data", &data, NULL) == 0)
        note(t, node, CLUSTER_TWIN_OVERLAY "MAC address", json_text_at(data, "VtepMAC"));
}

void cluster_twins_of_nodes(struct cluster_nodes *nodes, const json_t *items) {
    struct twins t = {nodes, json_object()};

    for (size_t i = 0; i < nodes->count; i++) {
        const struct cluster_node *node = &nodes->items[i];
        const json_t *item = json_array_get(items, i);

        if (!node->other_subnet)
            note(&t, i, CLUSTER_TWIN_SUBNET, json_text_at(item, "spec.podCIDR"));
        note_overlay(&t, i, item);
        note(&t, i, "its address", node->ip);
        if (!text_equal(node->os, "windows")) /* there it is the computer's name */
            note(&t, i, "its machine ID", json_text_at(item, "status.nodeInfo.machineID"));
    }
    json_decref(t.seen);
}

void cluster_twins_of_pods(struct cluster_nodes *nodes) {
    struct twins t = {nodes, json_object()};

    for (size_t i = 0; i < nodes->count; i++)
        if (!nodes->items[i].waiting)
            note(&t, i, CLUSTER_TWIN_POD, nodes->items[i].pod_ip);
    json_decref(t.seen);
}
