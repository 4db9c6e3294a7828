/* Reads the evidence on the node, which does not change, and finds facts in it. Something that
 * cannot be read is named in the document and is no failure. */
#include "diag/evidence.h"

#include "base/yaml.h"
#include "diag/causes/causes.h"
#include "diag/drift/drift.h"
#include "kube/kubeconfig.h"
#include "netsetup/netsetup.h"
#include "netsetup/hns/hcn_network.h"
#include "netsetup/limits.h"
#include "netsetup/modes/mode.h"
#include "netsetup/routes/routes.h"
#include "netsetup/windows_builds.h"
#include "services/runtime_files.h"
#include "services/service_status.h"
#include "services/service_table.h"

/* ---- find facts in the document ---- */

static const json_t *mapping_of(const json_t *balancer, int protocol, int port) {
    json_each(json_object_get(balancer, "PortMappings"), i, mapping)
        if (json_number_at(mapping, "Protocol", 0) == protocol &&
            json_number_at(mapping, "ExternalPort", 0) == port)
            return mapping;
    return NULL;
}

json_t *diag_evidence_balancer(const json_t *evidence, const char *vip, int protocol, int port) {
    json_each(json_object_get(evidence, "loadBalancers"), i, balancer)
        if (vip && json_has_text(json_object_get(balancer, "FrontendVIPs"), vip) &&
            mapping_of(balancer, protocol, port))
            return balancer;
    return NULL;
}

unsigned diag_evidence_backend_port(const json_t *evidence, const char *vip, int protocol,
                                    int port) {
    const json_t *balancer = diag_evidence_balancer(evidence, vip, protocol, port);
    long long own = json_number_at(mapping_of(balancer, protocol, port), "InternalPort", 0);

    return own > 0 && own <= 65535 ? (unsigned)own : 0;
}

size_t diag_evidence_backends(const json_t *evidence, const char *vip, int protocol, int port,
                              const char **ret, size_t max) {
    const json_t *balancer = diag_evidence_balancer(evidence, vip, protocol, port);
    const json_t *members = json_object_get(balancer, "HostComputeEndpoints");
    size_t n = 0;

    for (int remote = 1; remote >= 0; remote--)
        json_each(json_object_get(evidence, "endpoints"), i, endpoint) {
            const char *id = json_text_at(endpoint, "ID");
            const char *ip = json_text_at(endpoint, "IpConfigurations.0.IpAddress");

            if (n < max && id && ip && json_has_text(members, id) &&
                (json_number_at(endpoint, "Flags", 0) & 1) == remote)
                ret[n++] = ip;
        }
    return n;
}

const char *diag_evidence_backend(const json_t *evidence, const char *vip, int protocol, int port) {
    const char *first = NULL;

    (void)diag_evidence_backends(evidence, vip, protocol, port, &first, 1);
    return first;
}

/* Says whether the pod prefix of the node holds the address; *ret gets the prefix. */
static bool prefix_of(const json_t *node, const struct ip *ip, struct cidr *ret) {
    struct network_peer peer;

    network_peer_read(node, &peer);
    return peer.pod_cidr && cidr_parse(peer.pod_cidr, ret, NULL) == 0 && cidr_contains(ret, ip);
}

json_t *diag_evidence_node_of(const json_t *evidence, const char *ip) {
    struct cidr prefix;
    struct ip address;

    if (!ip || ip_parse(ip, &address, NULL) < 0)
        return NULL;
    json_each(json_object_get(evidence, "nodes"), i, node)
        if (prefix_of(node, &address, &prefix))
            return node;
    return NULL;
}

bool diag_evidence_gateway(const json_t *evidence, const char *ip, char ret[IP_TEXT_MAX]) {
    const json_t *node = diag_evidence_node_of(evidence, ip);
    struct cidr prefix;
    struct ip address;

    if (!node || ip_parse(ip, &address, NULL) < 0 || !prefix_of(node, &address, &prefix) ||
        cidr_address(&prefix, 1, &address, NULL) < 0)
        return false;
    ip_format(&address, ret);
    return true;
}

/* ---- read the document ---- */

enum { ROWS_MAX = 1000, LAST_PORT = 65535 };

/* ---- the host's own network ---- */

static void adapters_add(struct host *host, json_t *evidence) {
    _cleanup_(host_adapters_free) struct host_adapters adapters = {0};
    struct error err = {0};
    json_t *array;

    if (host_adapters(host, &adapters, &err) < 0) {
        diag_evidence_missing(evidence, "adapters", &err);
        return;
    }
    array = json_array();
    for (size_t i = 0; i < adapters.count; i++) {
        const struct host_adapter *adapter = &adapters.items[i];
        json_t *json = json_pack("{s:s, s:i, s:b, s:i, s:s}", "alias",
                                 adapter->alias ? adapter->alias : "", "index", (int)adapter->index,
                                 "up", adapter->up, "mtu", (int)adapter->mtu, "mac", adapter->mac);
        bool forwarding;

        /* An adapter without IPv4 or IPv6 has no forwarding for it. */
        if (host_forwarding(host, adapter->index, 4, &forwarding, ERROR_IGNORED) == 0)
            json_object_set_new(json, "forwarding", json_boolean(forwarding));
        if (host_forwarding(host, adapter->index, 6, &forwarding, ERROR_IGNORED) == 0)
            json_object_set_new(json, "forwarding6", json_boolean(forwarding));
        json_object_set_new(json, "addresses", json_texts(&adapter->addresses));
        json_object_set_new(json, "gateways", json_texts(&adapter->gateways));
        json_object_set_new(json, "dnsServers", json_texts(&adapter->dns_servers));
        json_array_append_new(array, json);
    }
    json_object_set_new(evidence, "adapters", array);
}

static void routes_add(struct host *host, json_t *evidence) {
    _cleanup_(host_routes_free) struct host_routes routes = {0};
    struct error err = {0};
    json_t *array;

    if (host_routes(host, &routes, &err) < 0) {
        diag_evidence_missing(evidence, "routes", &err);
        return;
    }
    array = json_array();
    for (size_t i = 0; i < routes.count && i < ROWS_MAX; i++)
        json_array_append_new(array, json_pack("{s:s, s:s, s:i}", "destination",
                                               routes.items[i].destination, "nextHop",
                                               routes.items[i].next_hop, "interface",
                                               (int)routes.items[i].interface_index));
    json_object_set_new(evidence, "routes", array);
}

/* Adds neighbors that are fixed or do not answer; the others are left out. */
static void neighbors_add(struct host *host, json_t *evidence) {
    _cleanup_(host_neighbors_free) struct host_neighbors neighbors = {0};
    struct error err = {0};
    json_t *array;

    if (host_neighbors(host, &neighbors, &err) < 0) {
        diag_evidence_missing(evidence, "neighbors", &err);
        return;
    }
    array = json_array();
    for (size_t i = 0; i < neighbors.count && json_array_size(array) < ROWS_MAX; i++) {
        const struct host_neighbor *n = &neighbors.items[i];
        struct ip ip;

        /* Windows keeps a fixed MAC address for multicast and broadcast addresses, which no single
         * machine has. */
        if (ip_parse(n->address, &ip, NULL) < 0 || ip.bytes[0] >= (ip.family == 4 ? 224 : 255))
            continue;
        if (n->fixed || !*n->mac)
            json_array_append_new(array, json_pack("{s:s, s:s, s:b}", "address", n->address, "mac",
                                                   n->mac, "fixed", (int)n->fixed));
    }
    json_object_set_new(evidence, "neighbors", array);
}

/* ---- reasons why a running kube-proxy has programmed nothing ---- */

enum { CONFIG_MAX = 256 * 1024, TAIL_MAX = 64 * 1024, LINES = 2 };

/* Reads facts about kube-proxy on this node: `sourceVip` from its configuration, `server` from its
 * kubeconfig, `lastErrors` from the end of its log. What cannot be read is left out. Returns a new
 * reference. */
static json_t *diag_evidence_proxy(struct host *host) {
    _cleanup_(text_list_free) struct text_list words = {0};
    _cleanup_(yaml_forget) struct yaml yaml = {0};
    _cleanup_(kubeconfig_free) struct kubeconfig kubeconfig = {0};
    _cleanup_(secret_freep) char *config = NULL, *secret = NULL;
    _cleanup_(freep) char *tail = service_log_tail(host, service_kube_proxy.log_file, TAIL_MAX);
    json_t *proxy = json_object();
    const char *vip = NULL;
    size_t len;

    if (host_read(host, KUBE_PROXY_CONFIG_PATH, CONFIG_MAX, &config, &len, NULL) == 0 &&
        yaml_read(config, len, KUBE_PROXY_CONFIG_PATH, &yaml, NULL) == 0)
        vip = json_text_at(yaml.documents, "0.winkernel.sourceVip");
    json_set_text(proxy, "sourceVip", vip);
    if (host_read(host, KUBE_PROXY_KUBECONFIG_PATH, CONFIG_MAX, &secret, &len, NULL) == 0 &&
        kubeconfig_parse(secret, len, KUBE_PROXY_KUBECONFIG_PATH, false, &kubeconfig, NULL) == 0)
        json_set_text(proxy, "server", kubeconfig.server);
    if (tail)
        service_log_words(tail, LINES, &words);
    if (words.count)
        json_object_set_new(proxy, "lastErrors", json_texts(&words));
    return proxy;
}

/* ---- CNI configuration and host ---- */

void diag_network_of_cni(struct host *host, char **ret_name, char **ret_mode) {
    const struct network_mode *mode;
    struct hcn_network network = {0};
    _cleanup_(freep) char *path = NULL, *folder = containerd_cni_folder(host);
    _cleanup_json_ json_t *conf = NULL;
    const char *name, *type;

    if (cni_config_read(host, folder, &path, &conf, NULL) < 0)
        return;
    name = json_text_at(conf, "name");
    type = cni_config_type(conf);
    mode = network_mode_by_cni(type, NULL);
    if (name && mode) {
        if (hcn_network_find(host, name, &network, NULL) == 0)
            mode = network_mode_by_cni(type, network.type);
        *ret_name = xstrdup(name);
        *ret_mode = xstrdup(mode->name);
    }
}

static void host_add(struct host *host, json_t *evidence) {
    struct host_facts facts;
    struct error err = {0};
    json_t *faults;

    if (host_facts(host, &facts, &err) < 0) {
        diag_evidence_missing(evidence, "host", &err);
        return;
    }
    faults = windows_problems_json(host, &facts, &err);
    if (!faults)
        diag_evidence_missing(evidence, "known faults", &err);
    json_object_set_new(evidence, "host",
                        json_pack("{s:s, s:i, s:i, s:o*}", "name", facts.host_name, "build",
                                  (int)facts.build, "revision", (int)facts.revision, "knownFaults",
                                  faults));
}

/* Adds limits of Windows, which are no fault but may be mistaken for one. */
static void limits_add(struct host *host, const char *mode, json_t *evidence) {
    const char *name = json_text_at(evidence, "host.name");
    struct limit_facts facts = {.mode = mode ? network_mode_by_name(mode) : NULL,
                                .host_name = name};
    unsigned excluded = 0;

    if (!host_deadline_passed(host))
        (void)hns_version_get(host, &facts.hns, ERROR_IGNORED);  /* Version 0.0 means unknown. */
    (void)limit_dynamic_ports(host, &facts.dynamic_ports, NULL); /* A number of 0 means unknown. */
    json_object_set_new(evidence, "limits", limits_json(&facts));
    if (!facts.dynamic_ports)
        return;
    json_object_set_new(evidence, "dynamicPorts", json_integer(facts.dynamic_ports));
    if (limit_excluded_ports(host, LAST_PORT + 1 - facts.dynamic_ports, &excluded, NULL) == 0)
        json_object_set_new(evidence, "excludedPorts", json_integer(excluded));
}

/* ---- facts about the cluster ---- */

/* Keeps the parts of a Node that judgment reads: the list of images alone may be longer. */
static json_t *node_reduce(const json_t *node) {
    return json_pack("{s:{s:s, s:O*, s:O*}, s:O*, s:{s:O*, s:O*}}", "metadata", "name",
                     json_text_or(node, "metadata.name", ""), "annotations",
                     json_at(node, "metadata.annotations"), "labels",
                     json_at(node, "metadata.labels"), "spec", json_object_get(node, "spec"),
                     "status", "conditions", json_at(node, "status.conditions"), "addresses",
                     json_at(node, "status.addresses"));
}

static void cluster_add(const struct diag_evidence_options *options, json_t *evidence) {
    json_t *nodes = json_array();

    if (options->node)
        json_object_set_new(evidence, "node", node_reduce(options->node));
    json_each(options->nodes ? json_object_get(options->nodes, "items") : NULL, i, node)
        json_array_append_new(nodes, node_reduce(node));
    if (options->nodes)
        json_object_set(evidence, "nodes", nodes);
    json_decref(nodes);
}

static void expected_add(const struct diag_evidence_options *options, json_t *evidence) {
    const struct {
        const char *key, *value;
    } texts[] = {
        {"networkName", options->network_name},
        {"networkMode", options->network_mode},
        {"podCIDR", options->pod_cidr},
        {"dnsIP", options->dns_ip},
        {"podCIDR6", options->pod_cidr6},
        {"nodeIP6", options->node_ip6},
        {"dnsIP6", options->dns_ip6},
        {"dnsDomain", options->dns_domain},
        {"kubernetesIP", options->kubernetes_ip},
        {"externalIP", options->external_ip},
        {"namespace", options->namespace_},
        {"routes", options->routes},
    };
    json_t *expected = json_object(), *excludes = json_array();

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        json_set_text(expected, texts[i].key, texts[i].value);
    for (const char *const *at = options->excludes; at && *at; at++)
        json_array_append_new(excludes, json_string(*at));
    json_object_set_new(expected, "excludes", excludes);
    json_object_set_new(evidence, "expected", expected);
}

json_t *diag_evidence_read(struct host *host, const struct diag_evidence_options *options) {
    json_t *evidence = json_object(), *services = json_object(), *conf = NULL;
    uint64_t before = host_set_limit(host, DIAG_EVIDENCE_MS);
    _cleanup_(freep) char *cni_folder = NULL, *cni_file = NULL;
    const json_t *balancers;
    struct error err = {0};

    host_add(host, evidence);
    expected_add(options, evidence);
    diag_evidence_add_hns(host, options, evidence);
    adapters_add(host, evidence);
    routes_add(host, evidence);
    neighbors_add(host, evidence);
    for (const char *const *name = options->services; name && *name; name++) {
        _cleanup_(host_service_free) struct host_service service = {0};
        struct error why = {0};

        if (host_service_query(host, *name, &service, &why) < 0)
            diag_evidence_missing(evidence, *name, &why);
        else
            json_object_set_new(services, *name, json_string(host_service_states[service.state]));
    }
    json_object_set_new(evidence, "services", services);
    /* kube-proxy runs, but has programmed nothing. */
    balancers = json_object_get(evidence, "loadBalancers");
    if (balancers && !json_array_size(balancers) &&
        text_equal(json_text_at(evidence, "services.kube-proxy"), "running"))
        json_object_set_new(evidence, "kubeProxy", diag_evidence_proxy(host));
    cni_folder = containerd_cni_folder(host);
    if (cni_config_read(host, cni_folder, &cni_file, &conf, &err) < 0)
        diag_evidence_missing(evidence, "cni", &err);
    else
        json_object_set_new(evidence, "cni",
                            json_pack("{s:s, s:o}", "file", cni_file, "conf", conf));
    cluster_add(options, evidence);
    limits_add(host, options->network_mode, evidence);
    host_set_deadline(host, before);
    return evidence;
}

json_t *diag_routes_read(struct host *host, const struct diag_evidence_options *options) {
    json_t *evidence = json_object();

    expected_add(options, evidence);
    diag_evidence_add_networks(host, evidence);
    routes_add(host, evidence);
    cluster_add(options, evidence);
    return evidence;
}

void diag_evidence_add_extra(json_t *evidence, const struct probe_result *result) {
    json_t *extra = json_object_in(json_object_in(evidence, "extra"), result->id);

    json_set_text(extra, "outcome", probe_outcome_names[result->outcome]);
    json_object_set_new(extra, "attempts", json_integer(result->attempts));
    json_object_set_new(extra, "succeeded", json_integer(result->succeeded));
    if (result->succeeded)
        json_object_set_new(extra, "medianUs", json_integer(result->median_us));
}
