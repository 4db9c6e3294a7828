/* The cluster's nodes, and which of them get a probe. */
#include "diag/cluster/cluster.h"
#include "kube/object.h"

#define PROBE_PREFIX "probe-"
enum { LINUX_AT_LEAST = 2 };

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

static char *text_or(const json_t *json, const char *path, const char *otherwise) {
    return xstrdup(json_text_or(json, path, otherwise));
}

int cluster_nodes_read(const json_t *list, struct cluster_nodes *ret, struct error *err) {
    struct cluster_nodes nodes = {0};
    json_t *items;

    if (kube_list_items(list, &items, err) < 0)
        return -1;
    nodes.items = xcalloc(json_array_size(items), sizeof *nodes.items);
    json_each(items, i, item) {
        const char *name = json_text_at(item, "metadata.name");
        struct cluster_node *node = &nodes.items[nodes.count];
        _cleanup_(freep) char *kernel = text_or(item, "status.nodeInfo.kernelVersion", "");

        if (!name || !kube_name_is_valid(name)) {
            cluster_nodes_free(&nodes);
            return error_set(err, ERROR_MALFORMED, "decode NodeList: node %zu has no valid name",
                             i);
        }
        node->name = xstrdup(name);
        node->os = text_or(item, "status.nodeInfo.operatingSystem", "linux");
        node->build = text_equal(node->os, "windows") ? build_of(kernel) : xstrdup("");
        node->version = text_or(item, "status.nodeInfo.kubeletVersion", "");
        node->network = network_of(item, &node->other_subnet);
        node->ip = address_of(item);
        node->ready = text_equal(json_text_at(kube_ready_condition(item), "status"), "True");
        node->own_report = cluster_own_report_of(item);
        nodes.count++;
    }
    cluster_twins_of_nodes(&nodes, items);
    *ret = nodes;
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

static void keep(struct cluster_nodes *nodes, const bool *chosen) {
    struct cluster_nodes kept = {xcalloc(nodes->count, sizeof *nodes->items), 0};

    for (size_t i = 0; i < nodes->count; i++)
        if (chosen[i]) {
            kept.items[kept.count++] = nodes->items[i];
            nodes->items[i] = (struct cluster_node){0};
        }
    cluster_nodes_free(nodes);
    *nodes = kept;
}

static int choose_named(const struct cluster_nodes *nodes, const struct text_list *names,
                        bool *chosen, struct error *err) {
    for (size_t n = 0; n < names->count; n++) {
        bool found = false;

        for (size_t i = 0; i < nodes->count; i++)
            if (text_equal(nodes->items[i].name, names->items[n]))
                found = chosen[i] = true;
        if (!found)
            return error_set(err, ERROR_USAGE, "--nodes: the cluster has no node '%s'",
                             names->items[n]);
    }
    return 0;
}

static bool is_windows(const struct cluster_node *node) {
    return text_equal(node->os, "windows");
}

/* Ready ones first: a node that is not ready tells nothing about the others. */
static void choose_linux(const struct cluster_nodes *nodes, bool *chosen) {
    _cleanup_(text_list_free) struct text_list kinds = {0};
    size_t count = 0;

    for (int kinds_only = 1; kinds_only >= 0; kinds_only--)
        for (size_t i = 0; i < nodes->count; i++) {
            const struct cluster_node *node = &nodes->items[i];
            _cleanup_(freep) char *kind = cluster_node_kind(node);

            if (chosen[i] || is_windows(node) || !node->ready)
                continue;
            if (kinds_only ? text_list_has(&kinds, kind) : count >= LINUX_AT_LEAST)
                continue;
            text_list_add(&kinds, kind);
            chosen[i] = true;
            count++;
        }
}

int cluster_nodes_choose(struct cluster_nodes *nodes, const struct text_list *names,
                         struct error *err) {
    bool *chosen = xcalloc(nodes->count, sizeof *chosen);
    size_t windows = 0;
    int result = 0;

    for (size_t i = 0; i < nodes->count; i++)
        windows += is_windows(&nodes->items[i]);
    if (names && names->count) {
        result = choose_named(nodes, names, chosen, err);
    } else {
        for (size_t i = 0; i < nodes->count; i++)
            chosen[i] = !windows || is_windows(&nodes->items[i]);
        if (windows)
            choose_linux(nodes, chosen);
    }
    if (result == 0)
        keep(nodes, chosen);
    free(chosen);
    if (result == 0 && !nodes->count)
        return error_set(err, ERROR_USAGE, "choose nodes: the cluster has no node to test");
    return result;
}
