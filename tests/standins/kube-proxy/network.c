/* The HNS network behind kube-proxy and its endpoints. */
#include "tests/standins/kube-proxy/network.h"

#include "base/cidr.h"
#include "base/memory.h"
#include "base/text.h"
#include "tests/standins/lib/hcn.h"
#include "tests/standins/lib/klog.h"
#include "tests/standins/lib/lifetime.h"

#include <string.h>

/* Upstream sleeps 10 s before it looks at an overlay network again; the rig has no such patience.
 */
enum { SETTLE_MS = 2000 };

static int index_endpoints(struct proxy_network *network, struct error *err) {
    _cleanup_(json_decrefp_) json_t *list = NULL;
    json_t *endpoint;
    size_t i;

    if (hcn_find_all(network->host, HCN_ENDPOINT, "VirtualNetwork",
                     json_text_at(network->network, "ID"), &list, err))
        return -1;
    json_decref(network->endpoints);
    network->endpoints = json_object();
    json_array_foreach(list, i, endpoint) {
        static const char *const paths[] = {"IpConfigurations.0.IpAddress",
                                            "IpConfigurations.1.IpAddress"};
        if (!text_equal_nocase(json_text_at(endpoint, "HostComputeNetwork"),
                               json_text_at(network->network, "ID")))
            continue;
        for (size_t k = 0; k < ARRAY_SIZE(paths) && json_text_at(endpoint, paths[k]); k++)
            (void)json_object_set(network->endpoints, json_text_at(endpoint, paths[k]),
                                  endpoint); /* no memory only */
    }
    return 0;
}

int proxy_network_refresh(struct proxy_network *network, struct error *err) {
    json_t *found = NULL;

    if (hcn_find(network->host, HCN_NETWORK, "Name", network->settings->network_name, &found, err))
        return -1;
    if (!found)
        return error_set(err, ERROR_ABSENT, "network %s not found",
                         network->settings->network_name);
    json_decref(network->network);
    network->network = found;
    network->overlay = text_equal_nocase(json_text_at(found, "Type"), "Overlay");
    return index_endpoints(network, err);
}

bool proxy_network_has_ipv6(const struct proxy_network *network) {
    json_t *subnet;
    size_t i;

    json_array_foreach(json_at(network->network, "Ipams.0.Subnets"), i, subnet) {
        const char *prefix = json_text_at(subnet, "IpAddressPrefix");
        if (prefix && strchr(prefix, ':'))
            return true;
    }
    return false;
}

static int find_host_mac(struct proxy_network *network, struct error *err) {
    struct host_adapters adapters = {0};
    const char *ip = network->settings->node_ip;

    if (host_adapters(network->host, &adapters, err))
        return -1;
    for (size_t i = 0; ip && i < adapters.count; i++) {
        for (size_t j = 0; j < adapters.items[i].addresses.count; j++) {
            const char *address = adapters.items[i].addresses.items[j];
            if (strncmp(address, ip, strlen(ip)) == 0 && address[strlen(ip)] == '/')
                memcpy(network->host_mac, adapters.items[i].mac, sizeof(network->host_mac));
        }
    }
    host_adapters_free(&adapters);
    if (!network->host_mac[0])
        return error_set(err, ERROR_HOST, "could not find host mac address for IP: %s",
                         ip ? ip : "");
    for (char *p = network->host_mac; *p; p++)
        *p = *p == '-' ? ':' : *p;
    return 0;
}

/* An endpoint document; provider NULL: a local one. */
static int make(struct proxy_network *network, const char *ip, const char *mac,
                const char *provider, bool remote, struct error *err) {
    const char *id = json_text_at(network->network, "ID");
    _cleanup_(json_decrefp_) json_t *document =
        json_pack("{s:s,s:[{s:s}],s:{},s:s,s:{s:{}},s:o}", "HostComputeNetwork", id,
                  "IpConfigurations", "IpAddress", ip, "Dns", "MacAddress", mac, "Health", "Extra",
                  "SchemaVersion", hcn_schema());
    json_t *made = NULL;

    if (provider)
        (void)json_object_set_new(document, "Policies", /* fails on no memory only */
                                  json_pack("[{s:s,s:{s:s}}]", "Type", "ProviderAddress",
                                            "Settings", "ProviderAddress", provider));
    if (remote)
        (void)json_object_set_new(document, "Flags", json_integer(1));
    if (hcn_make(network->host, HCN_ENDPOINT, id, document, &made, err))
        return error_prefix(err, "make the endpoint %s", ip);
    return json_object_set_new(network->endpoints, ip, made);
}

int proxy_network_open(struct host *host, const struct proxy_settings *settings,
                       struct proxy_network *ret, struct error *err) {
    struct proxy_network made = {.host = host, .settings = settings};

    while (proxy_network_refresh(&made, err)) {
        klog('E',
             "Unable to find HNS Network specified, please check network name and CNI "
             "deployment: %s",
             err->message);
        if (lifetime_wait(1000))
            return -1;
        error_clear(err);
    }
    if (made.overlay) {
        if (lifetime_wait(SETTLE_MS) || proxy_network_refresh(&made, err))
            return -1;
        if (!settings->source_vip)
            return error_set(err, ERROR_USAGE, "source-vip flag not set");
        if (find_host_mac(&made, err))
            return -1;
    }
    *ret = made;
    return 0;
}

/* The provider address of the remote subnet that holds the address, or that it is; NULL: none. */
static const char *provider_of(const struct proxy_network *network, const char *ip) {
    struct error err = {0};
    struct ip address;
    json_t *policy;
    size_t i;

    if (ip_parse(ip, &address, &err))
        return NULL;
    json_array_foreach(json_object_get(network->network, "Policies"), i, policy) {
        const char *provider = json_text_at(policy, "Settings.ProviderAddress");
        const char *prefix = json_text_at(policy, "Settings.DestinationPrefix");
        struct cidr subnet;
        if (!text_equal(json_text_at(policy, "Type"), "RemoteSubnetRoute") || !prefix)
            continue;
        if (text_equal(provider, ip) ||
            (cidr_parse(prefix, &subnet, &err) == 0 && cidr_contains(&subnet, &address)))
            return provider;
    }
    return NULL;
}

const char *proxy_source_vip(const struct proxy_network *network, const char *ip) {
    const char *provider = provider_of(network, ip);
    const json_t *endpoint = json_object_get(network->endpoints, ip);
    bool remote = json_number_at(endpoint, "Flags", 0) & 1;

    if (remote && (!provider || text_equal(provider, ip)))
        return network->settings->node_ip;
    return network->settings->source_vip;
}

const char *proxy_backend(struct proxy_network *network, const char *ip, bool local,
                          struct error *err) {
    const json_t *endpoint = json_object_get(network->endpoints, ip);
    struct ip address;
    char mac[18];

    if (endpoint)
        return json_text_at(endpoint, "ID");
    if (local || text_equal(ip, network->settings->node_ip))
        return NULL;
    if (ip_parse(ip, &address, err))
        return NULL;
    (void)text_format(mac, sizeof(mac), "02-11-%02x-%02x-%02x-%02x", address.bytes[0],
                      address.bytes[1], address.bytes[2], address.bytes[3]); /* 17 characters */
    const char *provider = network->overlay ? provider_of(network, ip) : NULL;
    if (network->overlay && !provider)
        provider = network->settings->node_ip; /* assumed to be outside the cluster */
    if (make(network, ip, mac, provider, true, err))
        return NULL;
    return json_text_at(json_object_get(network->endpoints, ip), "ID");
}

int proxy_service_endpoint(struct proxy_network *network, const char *vip, struct error *err) {
    const struct proxy_settings *settings = network->settings;

    if (!network->overlay)
        return 0;
    if (!json_object_get(network->endpoints, settings->source_vip) &&
        make(network, settings->source_vip, network->host_mac, NULL, false, err))
        return error_prefix(err, "source VIP");
    if (json_object_get(network->endpoints, vip))
        return 0;
    return make(network, vip, network->host_mac, settings->node_ip, true, err);
}
