/* Reads what nodes published about themselves, and finds what two of them share by mistake. */
#include "base/json.h"
#include "base/rfc3339.h"
#include "diag/cluster/cluster.h"
#include "diag/network_report.h"
#include "kube/object.h"

/* ---- reports that nodes have published ---- */

json_t *cluster_own_report_of(const json_t *node) {
    const char *text = json_string_value(
        json_object_get(json_at(node, "metadata.annotations"), NETWORK_REPORT_ANNOTATION));
    struct error why = {0};
    json_t *report = NULL;

    if (!text)
        return NULL;
    (void)network_report_read(text, &report, &why);
    return report ? report : json_pack("{s:s}", "unreadable", why.message);
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
        (void)network_report_copy(json, &report, &why);
    return report ? report : json_pack("{s:s}", "unreadable", why.message);
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

/* ---- faults that nodes report themselves ---- */

/* Reads what a Node and its own report say about the node; sets `says`, `unsure` and `proved`. */
static void cluster_node_says(const json_t *item, struct cluster_node *ret) {
    bool failed = json_at(ret->own_report, "diag.failed.first.0") != NULL;

    /* Reads the condition PodNetworkProved. */
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

/* Keeps the newest Event of each node: {time, says}, with `says` only for a Warning. */
static int keep_newest_events(void *context, const json_t *items, struct error *) {
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
                        keep_newest_events, newest, NULL, err) < 0)
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

/* ---- twins: two nodes that share what each should have for itself ---- */

/* Sets `twin` of the node and of the first node that had the same value. `what` names the value,
 * such as "its pod subnet". A value that is NULL or "" is ignored. */
static void note(struct cluster_nodes *nodes, size_t node, const char *what, const char *value) {
    _cleanup_(freep) char *text = xasprintf("%s %s", what, value ? value : "");
    const json_t *first = json_object_get(nodes->seen, text);
    size_t other = (size_t)json_integer_value(first);

    if (!value || !*value)
        return;
    if (!first) {
        json_object_set_new(nodes->seen, text, json_integer((json_int_t)node));
        return;
    }
    for (int turn = 0; turn < 2 && other != node; turn++) {
        struct cluster_node *one = &nodes->items[turn ? other : node];

        if (!one->twin)
            one->twin =
                xasprintf("%s is that of %s, too", text, nodes->items[turn ? node : other].name);
    }
}

void cluster_twins_of_pods(struct cluster_nodes *nodes) {
    json_decref(nodes->seen);
    nodes->seen = json_object();
    for (size_t i = 0; i < nodes->count; i++)
        if (!nodes->items[i].waiting)
            note(nodes, i, CLUSTER_TWIN_POD, nodes->items[i].pod_ip);
}

/* ---- read Node objects ---- */

struct cluster_node *cluster_node_of_probe(const struct cluster_nodes *nodes, const char *name) {
    size_t prefix = strlen(CLUSTER_PROBE_PREFIX);
    long long number;

    if (!name || strlen(name) < prefix ||
        text_to_number(name + prefix, 1, (long long)nodes->count, &number) < 0 ||
        !text_equal_nocase(nodes->items[number - 1].pod, name))
        return NULL;
    return &nodes->items[number - 1];
}

/* Names the pod network of a Node. Sets *ret_other when that network does not take the addresses of
 * pods from the Node's podCIDR. free() it. */
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

static void read_node(const json_t *item, struct cluster_node *ret) {
    static const char *const by_label[][8] = {
        {"kubernetes.azure.com/agentpool", "agentpool", "cloud.google.com/gke-nodepool",
         "eks.amazonaws.com/nodegroup", "alpha.eksctl.io/nodegroup-name", "karpenter.sh/nodepool",
         "kops.k8s.io/instancegroup"},
        {"topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"}};
    const char *kernel = json_text_or(item, "status.nodeInfo.kernelVersion", "");
    const json_t *labels = json_at(item, "metadata.labels");
    size_t build = 0;

    ret->os = xstrdup(json_text_or(item, "status.nodeInfo.operatingSystem", "linux"));
    /* Finds the length of "10.0.20348" in "10.0.20348.2340". */
    for (unsigned dots = 0; kernel[build] && (kernel[build] != '.' || ++dots < 3); build++)
        ;
    ret->build = xstrndup(kernel, text_equal(ret->os, "windows") ? build : 0);
    ret->version = xstrdup(json_text_or(item, "status.nodeInfo.kubeletVersion", ""));
    ret->network = network_of(item, &ret->other_subnet);
    /* Pool and zone are the values of the first of these labels that the Node has. */
    for (size_t i = 0; i < ARRAY_SIZE(by_label); i++) {
        const char *value = NULL;

        for (size_t k = 0; by_label[i][k] && !value; k++)
            value = json_string_value(json_object_get(labels, by_label[i][k]));
        *(i ? &ret->zone : &ret->pool) = xstrdup(value ? value : "");
    }
    json_each(json_at(item, "status.addresses"), i, address) {
        if (!ret->ip && text_equal(json_text_at(address, "type"), "InternalIP"))
            ret->ip = xstrdup_null(json_text_at(address, "address"));
    }
    ret->ready = text_equal(json_text_at(kube_ready_condition(item), "status"), "True");
    ret->own_report = cluster_own_report_of(item);
    cluster_node_says(item, ret);
}

int cluster_nodes_add(struct cluster_nodes *nodes, const json_t *items, struct error *err) {
    if (!nodes->seen)
        nodes->seen = json_object();
    json_each(items, k, item) {
        const char *name = json_text_at(item, "metadata.name");
        const json_t *annotations = json_at(item, "metadata.annotations");
        const char *text = json_string_value(
            json_object_get(annotations, "flannel.alpha.coreos.com/backend-data"));
        _cleanup_json_ json_t *data = NULL;
        struct cluster_node *node;
        size_t i = nodes->count;

        if (!name || !kube_name_is_valid(name))
            return error_set(err, ERROR_MALFORMED, "decode NodeList: node %zu has no valid name",
                             i);
        array_add(nodes->items, nodes->count, (struct cluster_node){.name = xstrdup(name)});
        node = &nodes->items[i];
        read_node(item, node);

        /* These make a node a twin: its pod subnet, when the network uses that; the address or MAC
         * address to which other nodes send, as flannel announces them; its own address; and on
         * Linux its machine ID, which on Windows is only the computer's name. */
        if (!node->other_subnet)
            note(nodes, i, CLUSTER_TWIN_SUBNET, json_text_at(item, "spec.podCIDR"));
        note(nodes, i, CLUSTER_TWIN_OVERLAY "address",
             json_string_value(json_object_get(annotations, "flannel.alpha.coreos.com/public-ip")));
        if (text && json_read(text, strlen(text), "backend-data", &data, NULL) == 0)
            note(nodes, i, CLUSTER_TWIN_OVERLAY "MAC address", json_text_at(data, "VtepMAC"));
        note(nodes, i, "its address", node->ip);
        if (!text_equal(node->os, "windows"))
            note(nodes, i, "its machine ID", json_text_at(item, "status.nodeInfo.machineID"));
    }
    return 0;
}

char *cluster_node_text(const struct cluster_node *node, enum cluster_alike what) {
    const char *minor = strchr(node->version, '.');
    const char *pool = (what & ALIKE_POOL) && node->pool ? node->pool : "",
               *zone = (what & ALIKE_ZONE) && node->zone ? node->zone : "";
    size_t len = minor ? (size_t)(minor - node->version) + 1 + strcspn(minor + 1, ".") : 0;

    if (what == ALIKE_SYSTEM)
        return xstrdup(node->os);
    return xasprintf("%s%s%s %.*s %s%s%s%s%s", node->os, *node->build ? " " : "", node->build,
                     (int)len, node->version, node->network, *pool ? ", pool " : "", pool,
                     *zone ? ", zone " : "", zone);
}
