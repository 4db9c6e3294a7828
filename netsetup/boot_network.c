/* The network that a join remembers. */
#include "netsetup/boot_network.h"

#include "netsetup/routes/peers.h"

enum { FILE_MAX = 8 * 1024 * 1024 };

json_t *boot_network_json(const struct network_input *input) {
    return json_pack("{s:s?, s:s?, s:s*, s:s?, s:s?, s:s?, s:s*, s:o, s:o, s:s?, s:s*, s:i, s:i, "
                     "s:s?, s:o, s:o, s:i, s:i, s:s?, s:s*}",
                     "mode", input->mode, "plugin", input->plugin, "agent", input->external, "name",
                     input->name, "adapter", input->adapter, "podCIDR", input->pod_cidr, "podCIDR6",
                     input->pod_cidr6, "clusterPodCIDRs", json_texts(&input->cluster_pod_cidrs),
                     "serviceCIDRs", json_texts(&input->service_cidrs), "management",
                     input->management, "management6", input->management6, "vni", (int)input->vni,
                     "vxlanPort", (int)input->vxlan_port, "dnsDomain", input->dns_domain,
                     "dnsServers", json_texts(&input->dns_servers), "excludeFromNAT",
                     json_texts(&input->exclude_from_nat), "hnsMajor", (int)input->hns.major,
                     "hnsMinor", (int)input->hns.minor, "dsr", input->dsr, "routes", input->routes);
}

int boot_network_read(const json_t *json, struct network_input *ret, struct error *err) {
    if (!json_text_at(json, "podCIDR") || !json_text_at(json, "management"))
        return error_set(err, ERROR_MALFORMED, "read '%s': podCIDR or management is missing",
                         BOOT_NETWORK_FILE);
    *ret = (struct network_input){
        .mode = json_text_at(json, "mode"),
        .plugin = json_text_at(json, "plugin"),
        .external = json_text_at(json, "agent"),
        .name = json_text_at(json, "name"),
        .adapter = json_text_at(json, "adapter"),
        .pod_cidr = text_starts_with(json_text_at(json, "podCIDR"), "<")
                        ? NULL /* not known: its place in documents */
                        : json_text_at(json, "podCIDR"),
        .pod_cidr6 = json_text_at(json, "podCIDR6"),
        .management = json_text_at(json, "management"),
        .management6 = json_text_at(json, "management6"),
        .vni = (unsigned)json_number_at(json, "vni", 0),
        .vxlan_port = (unsigned)json_number_at(json, "vxlanPort", 0),
        .dns_domain = json_text_at(json, "dnsDomain"),
        .hns = {(unsigned)json_number_at(json, "hnsMajor", 0),
                (unsigned)json_number_at(json, "hnsMinor", 0)},
        .dsr = json_text_at(json, "dsr"),
        .routes = json_text_at(json, "routes"),
    };
    json_read_texts(json_object_get(json, "clusterPodCIDRs"), &ret->cluster_pod_cidrs);
    json_read_texts(json_object_get(json, "serviceCIDRs"), &ret->service_cidrs);
    json_read_texts(json_object_get(json, "dnsServers"), &ret->dns_servers);
    json_read_texts(json_object_get(json, "excludeFromNAT"), &ret->exclude_from_nat);
    return 0;
}

void boot_network_input_free(struct network_input *input) {
    text_list_free(&input->cluster_pod_cidrs);
    text_list_free(&input->service_cidrs);
    text_list_free(&input->dns_servers);
    text_list_free(&input->exclude_from_nat);
}

int boot_network_load(struct host *host, json_t **ret_json, struct network_input *ret,
                      struct error *err) {
    _cleanup_json_ json_t *json = NULL;

    if (host_read_json(host, BOOT_NETWORK_FILE, FILE_MAX, &json, err) < 0 ||
        boot_network_read(json, ret, err) < 0)
        return -1;
    *ret_json = take_ptr(json);
    return 0;
}

/* ---- the routes since ---- */

int boot_routes_write(struct host *host, const json_t *network, const json_t *routes,
                      struct error *err) {
    _cleanup_json_ json_t *json = json_pack("{s:O, s:O}", "network", network, "peers", routes);
    _cleanup_(freep) char *text = json_write_pretty(json);

    return host_write(host, BOOT_ROUTES_FILE, text, strlen(text), HOST_SECRET, err);
}

/* NULL: absent, or it cannot be read. */
static json_t *read_routes(struct host *host) {
    json_t *json = NULL;

    (void)host_read_json(host, BOOT_ROUTES_FILE, FILE_MAX, &json, ERROR_IGNORED);
    return json;
}

json_t *boot_routes(struct host *host, const json_t *network) {
    _cleanup_json_ json_t *since = read_routes(host);
    bool counts = json_equal(json_object_get(since, "network"), network);
    json_t *routes = json_object_get(counts ? since : network, "peers");

    return json_is_array(routes) ? json_incref(routes) : json_array();
}

json_t *boot_routes_ever(struct host *host, const json_t *network) {
    _cleanup_json_ json_t *since = read_routes(host);
    json_t *since_peers = json_object_get(since, "peers"), *all = json_array();
    _cleanup_json_ json_t *others =
        json_array_without(json_object_get(network, "peers"), since_peers, NULL);

    json_array_extend(all, since_peers);
    json_array_extend(all, others);
    return all;
}
