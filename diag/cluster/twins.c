/* What two Nodes, or two pods, have in common that each should have for itself: of machines that
 * were cloned, of a pod subnet that was given twice. */
#include "diag/cluster/cluster.h"

#include "base/json.h"

static void say(struct cluster_node *node, const char *text, const struct cluster_node *other) {
    if (!node->twin)
        node->twin = xasprintf("%s is that of %s, too", text, other->name);
}

/* `what`: "its pod subnet". A value that is NULL or "" is passed over. */
static void note(struct cluster_nodes *nodes, size_t node, const char *what, const char *value) {
    _cleanup_(freep) char *text = xasprintf("%s %s", what, value ? value : "");
    const json_t *first = json_object_get(nodes->seen, text);
    size_t other = (size_t)json_integer_value(first);

    if (!value || !*value)
        return;
    if (!first) {
        json_object_set_new(nodes->seen, text, json_integer((json_int_t)node));
    } else if (other != node) {
        say(&nodes->items[node], text, &nodes->items[other]);
        say(&nodes->items[other], text, &nodes->items[node]);
    }
}

/* What other nodes send to, as flannel announces it. */
static void note_overlay(struct cluster_nodes *nodes, size_t node, const json_t *item) {
    const json_t *annotations = json_at(item, "metadata.annotations");
    const char *text =
        json_string_value(json_object_get(annotations, "flannel.alpha.coreos.com/backend-data"));
    _cleanup_json_ json_t *data = NULL;

    note(nodes, node, CLUSTER_TWIN_OVERLAY "address",
         json_string_value(json_object_get(annotations, "flannel.alpha.coreos.com/public-ip")));
    if (text && json_read(text, strlen(text), "backend-data", &data, NULL) == 0)
        note(nodes, node, CLUSTER_TWIN_OVERLAY "MAC address", json_text_at(data, "VtepMAC"));
}

void cluster_twins_note(struct cluster_nodes *nodes, const json_t *item) {
    size_t i = nodes->count - 1;
    const struct cluster_node *node = &nodes->items[i];

    if (!nodes->seen)
        nodes->seen = json_object();
    if (!node->other_subnet)
        note(nodes, i, CLUSTER_TWIN_SUBNET, json_text_at(item, "spec.podCIDR"));
    note_overlay(nodes, i, item);
    note(nodes, i, "its address", node->ip);
    if (!text_equal(node->os, "windows")) /* there it is the computer's name */
        note(nodes, i, "its machine ID", json_text_at(item, "status.nodeInfo.machineID"));
}

void cluster_twins_of_pods(struct cluster_nodes *nodes) {
    json_decref(nodes->seen);
    nodes->seen = json_object();
    for (size_t i = 0; i < nodes->count; i++)
        if (!nodes->items[i].waiting)
            note(nodes, i, CLUSTER_TWIN_POD, nodes->items[i].pod_ip);
}
