/* Reads and writes what the join of this node chose, as a JSON document. */
#include "node/chosen.h"

enum { FILE_MAX = 8 * 1024 * 1024 };

static const struct {
    const char *key;
    enum { TEXT, LIST, NUMBER } type;
    size_t offset;
} fields[] = {
#define FIELD(key, type, member)                                                                   \
    { key, type, offsetof(struct chosen, member) }
    FIELD("mode", TEXT, network.mode),
    FIELD("plugin", TEXT, network.plugin),
    FIELD("agent", TEXT, network.daemon_set_agent),
    FIELD("name", TEXT, network.name),
    FIELD("adapter", TEXT, network.adapter),
    FIELD("podCIDR", TEXT, network.pod_cidr),
    FIELD("podCIDR6", TEXT, network.pod_cidr6),
    FIELD("clusterPodCIDRs", LIST, network.cluster_pod_cidrs),
    FIELD("serviceCIDRs", LIST, network.service_cidrs),
    FIELD("management", TEXT, network.management),
    FIELD("management6", TEXT, network.management6),
    FIELD("vni", NUMBER, network.vni),
    FIELD("vxlanPort", NUMBER, network.vxlan_port),
    FIELD("dnsDomain", TEXT, network.dns_domain),
    FIELD("dnsServers", LIST, network.dns_servers),
    FIELD("excludeFromNAT", LIST, network.exclude_from_nat),
    FIELD("hnsMajor", NUMBER, network.hns.major),
    FIELD("hnsMinor", NUMBER, network.hns.minor),
    FIELD("dsr", TEXT, network.dsr),
    FIELD("routes", TEXT, network.routes),
    FIELD("node", TEXT, node),
    FIELD("kubeProxy", TEXT, kube_proxy),
};

json_t *chosen_json(const struct chosen *chosen) {
    json_t *json = json_object();

    for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
        const void *field = (const char *)chosen + fields[i].offset;

        if (fields[i].type == TEXT)
            json_set_text(json, fields[i].key, *(const char *const *)field);
        else
            json_object_set_new(json, fields[i].key,
                                fields[i].type == LIST ? json_texts(field)
                                                       : json_integer(*(const unsigned *)field));
    }
    return json;
}

int chosen_read(json_t *file, struct chosen *ret, struct error *err) {
    if (!json_text_at(file, "podCIDR") || !json_text_at(file, "management") ||
        !json_text_at(file, "node"))
        return error_set(err, ERROR_MALFORMED, "read '%s': podCIDR, management or node is missing",
                         CHOSEN_FILE);
    *ret = (struct chosen){.file = json_incref(file)};
    for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
        void *field = (char *)ret + fields[i].offset;

        if (fields[i].type == TEXT)
            *(const char **)field = json_text_at(file, fields[i].key);
        else if (fields[i].type == LIST)
            json_read_texts(json_object_get(file, fields[i].key), field);
        else
            *(unsigned *)field = (unsigned)json_number_at(file, fields[i].key, 0);
    }
    if (text_starts_with(ret->network.pod_cidr, "<"))
        /* The value is a placeholder such as "<podCIDR>", because it is not known yet. */
        ret->network.pod_cidr = NULL;
    return 0;
}

int chosen_load(struct host *host, struct chosen *ret, struct error *err) {
    _cleanup_json_ json_t *file = NULL;

    return host_read_json(host, CHOSEN_FILE, FILE_MAX, &file, err) < 0
               ? -1
               : chosen_read(file, ret, err);
}

void chosen_free(struct chosen *chosen) {
    for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
        if (fields[i].type == LIST)
            text_list_free((void *)((char *)chosen + fields[i].offset));
    json_decref(chosen->file);
    *chosen = (struct chosen){0};
}

/* ---- routes that changed after the join ---- */

int chosen_routes_write(struct host *host, const struct chosen *chosen, const json_t *routes,
                        struct error *err) {
    _cleanup_json_ json_t *json = json_pack("{s:O, s:O}", "network", chosen->file, "peers", routes);
    _cleanup_(freep) char *text = json_write_pretty(json);

    return host_write(host, CHOSEN_ROUTES_FILE, text, strlen(text), HOST_SECRET, err);
}

json_t *chosen_routes(struct host *host, const struct chosen *chosen) {
    _cleanup_json_ json_t *since = NULL;
    const json_t *counts = chosen->file, *routes;

    /* `since` stays NULL when the file is absent or unreadable. */
    (void)host_read_json(host, CHOSEN_ROUTES_FILE, FILE_MAX, &since, ERROR_IGNORED);
    if (json_equal(json_object_get(since, "network"), chosen->file))
        counts = since;
    routes = json_object_get(counts, "peers");
    return json_is_array(routes) ? json_incref((json_t *)routes) : json_array();
}

json_t *chosen_routes_ever(struct host *host, const struct chosen *chosen) {
    _cleanup_json_ json_t *since = NULL, *others = NULL;
    json_t *since_peers, *all = json_array();

    (void)host_read_json(host, CHOSEN_ROUTES_FILE, FILE_MAX, &since, ERROR_IGNORED);
    since_peers = json_object_get(since, "peers");
    others = json_array_without(json_object_get(chosen->file, "peers"), since_peers, NULL);
    json_array_extend(all, since_peers);
    json_array_extend(all, others);
    return all;
}
