/* The cluster's nodes: what they have published of themselves, and what two have in common. */
#include "base/json.h"
#include "base/rfc3339.h"
#include "diag/cluster/cluster.h"
#include "diag/network_report.h"
#include "kube/object.h"

/* ---- what nodes have published of themselves ---- */

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

/* What a Node, and its own report, say of the node: sets says, unsure and proved. */
static void cluster_node_says(const json_t *item, struct cluster_node *ret) {
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

/* ---- what two have in common that each should have for itself ---- */

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

/* Sets node->twin of the last of the nodes, and of the one before, where its pod subnet (of a
 * network that uses it), address or MAC address that flannel announces, own address or, on Linux,
 * machine ID is that of another, too. `item`: its Node. */
static void cluster_twins_note(struct cluster_nodes *nodes, const json_t *item) {
    size_t i = nodes->count - 1;
    const struct cluster_node *node = &nodes->items[i];
    const json_t *annotations;
    const char *text;
    _cleanup_json_ json_t *data = NULL;

    if (!nodes->seen)
        nodes->seen = json_object();
    if (!node->other_subnet)
        note(nodes, i, CLUSTER_TWIN_SUBNET, json_text_at(item, "spec.podCIDR"));
    /* What other nodes send to, as flannel announces it. */
    annotations = json_at(item, "metadata.annotations");
    text = json_string_value(json_object_get(annotations, "flannel.alpha.coreos.com/backend-data"));
    note(nodes, i, CLUSTER_TWIN_OVERLAY "address",
         json_string_value(json_object_get(annotations, "flannel.alpha.coreos.com/public-ip")));
    if (text && json_read(text, strlen(text), "backend-data", &data, NULL) == 0)
        note(nodes, i, CLUSTER_TWIN_OVERLAY "MAC address", json_text_at(data, "VtepMAC"));
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

/* ---- read ---- */

#define PROBE_PREFIX "probe-"

char *cluster_probe_name(size_t place) {
    return xasprintf(PROBE_PREFIX "%zu", place + 1);
}

struct cluster_node *cluster_node_of_probe(const struct cluster_nodes *nodes, const char *name) {
    size_t prefix = strlen(PROBE_PREFIX);
    long long number;

    if (!name || strlen(name) < prefix ||
        text_to_number(name + prefix, 1, (long long)nodes->count, &number) < 0 ||
        !text_equal_nocase(nodes->items[number - 1].pod, name))
        return NULL;
    return &nodes->items[number - 1];
}

/* "10.0.20348" of a kernelVersion "10.0.20348.2340". */
static char *build_of(const char *kernel) {
    size_t len = 0;

    for (unsigned dots = 0; kernel[len] && (kernel[len] != '.' || ++dots < 3); len++)
        ;
    return xstrndup(kernel, len);
}

/* ret_other: the network gives pods addresses of its own, not the Node's podCIDR. */
static char *network_of(const json_t *node, bool *ret_other) {
    static const struct {
        const char *annotation, *name;
        bool other;
    } others[] = {
        {"projectcalico.org/IPv4Address", "calico", true},
        {"k8s.ovn.org/node-subnets", "ovn-kubernetes", true},
        {"k8s.ovn.org/hybrid-overlay-node-subnet", "ovn-kubernetes", true},
        {"node.antrea.io/mac-address", "antrea", false},
    };
    const json_t *annotations = json_at(node, "metadata.annotations");
    const char *backend =
        json_string_value(json_object_get(annotations, "flannel.alpha.coreos.com/backend-type"));

    if (backend)
        return xasprintf("flannel %s", backend);
    for (size_t i = 0; i < ARRAY_SIZE(others); i++)
        if (json_object_get(annotations, others[i].annotation)) {
            *ret_other = others[i].other;
            return xstrdup(others[i].name);
        }
    return xstrdup("");
}

static char *address_of(const json_t *node) {
    json_each(json_at(node, "status.addresses"), i, address) {
        const char *ip = json_text_at(address, "address");

        if (ip && text_equal(json_text_at(address, "type"), "InternalIP"))
            return xstrdup(ip);
    }
    return NULL;
}

/* Of the labels that say it, the first that is there; "". The caller frees. */
static char *label_of(const json_t *node, const char *const *labels) {
    const json_t *all = json_at(node, "metadata.labels");
    const char *value = NULL;

    for (; *labels && !value; labels++)
        value = json_string_value(json_object_get(all, *labels));
    return xstrdup(value ? value : "");
}

static void read_node(const json_t *item, struct cluster_node *ret) {
    static const char *const pools[] = {
        "kubernetes.azure.com/agentpool", "agentpool",
        "cloud.google.com/gke-nodepool",  "eks.amazonaws.com/nodegroup",
        "alpha.eksctl.io/nodegroup-name", "karpenter.sh/nodepool",
        "kops.k8s.io/instancegroup",      NULL};
    static const char *const zones[] = {"topology.kubernetes.io/zone",
                                        "failure-domain.beta.kubernetes.io/zone", NULL};
    _cleanup_(freep) char *kernel =
        xstrdup(json_text_or(item, "status.nodeInfo.kernelVersion", ""));

    ret->os = xstrdup(json_text_or(item, "status.nodeInfo.operatingSystem", "linux"));
    ret->build = text_equal(ret->os, "windows") ? build_of(kernel) : xstrdup("");
    ret->version = xstrdup(json_text_or(item, "status.nodeInfo.kubeletVersion", ""));
    ret->network = network_of(item, &ret->other_subnet);
    ret->pool = label_of(item, pools);
    ret->zone = label_of(item, zones);
    ret->ip = address_of(item);
    ret->ready = text_equal(json_text_at(kube_ready_condition(item), "status"), "True");
    ret->own_report = cluster_own_report_of(item);
    cluster_node_says(item, ret);
}

int cluster_nodes_add(struct cluster_nodes *nodes, const json_t *items, struct error *err) {
    json_each(items, i, item) {
        const char *name = json_text_at(item, "metadata.name");

        if (!name || !kube_name_is_valid(name))
            return error_set(err, ERROR_MALFORMED, "decode NodeList: node %zu has no valid name",
                             nodes->count);
        array_add(nodes->items, nodes->count, (struct cluster_node){.name = xstrdup(name)});
        read_node(item, &nodes->items[nodes->count - 1]);
        cluster_twins_note(nodes, item);
    }
    return 0;
}

char *cluster_node_kind(const struct cluster_node *node) {
    const char *minor = strchr(node->version, '.');
    size_t len = minor ? (size_t)(minor - node->version) + 1 + strcspn(minor + 1, ".") : 0;

    return xasprintf("%s%s%s %.*s %s", node->os, *node->build ? " " : "", node->build, (int)len,
                     node->version, node->network);
}

char *cluster_node_system(const struct cluster_node *node) {
    return xstrdup(node->os);
}

char *cluster_node_place(const struct cluster_node *node) {
    _cleanup_(freep) char *kind = cluster_node_kind(node);
    const char *pool = node->pool ? node->pool : "", *zone = node->zone ? node->zone : "";

    return xasprintf("%s%s%s%s%s", kind, *pool ? ", pool " : "", pool, *zone ? ", zone " : "",
                     zone);
}
