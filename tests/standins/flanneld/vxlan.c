/* flannel's vxlan backend: an Overlay network, a RemoteSubnetRoute for each other node. */
#include "base/cidr.h"
#include "base/memory.h"
#include "base/text.h"
#include "tests/standins/flanneld/backend.h"
#include "tests/standins/lib/hcn.h"
#include "tests/standins/lib/klog.h"
#include "tests/standins/lib/lifetime.h"

enum { VNI_MIN = 4096, PROVIDER_TRIES = 11, PROVIDER_MS = 500 };

static int gateway_of(const char *subnet, char out[IP_TEXT_MAX], struct error *err) {
    struct cidr cidr;
    struct ip first;

    if (cidr_parse(subnet, &cidr, err) || cidr_address(&cidr, 1, &first, err))
        return -1;
    ip_format(&first, out);
    return 0;
}

static int create(struct host *host, const struct flannel_settings *settings, json_t **ret,
                  struct error *err) {
    char gateway[IP_TEXT_MAX];

    if (gateway_of(settings->subnet, gateway, err))
        return -1;
    _cleanup_(json_decrefp_) json_t *document = json_pack(
        "{s:s,s:s,s:[{s:s,s:{s:s}}],s:{},s:{},s:[{s:s,s:[{s:s,s:[{s:s,s:{s:I}}],s:[{s:s,s:s}]}]}],"
        "s:i,s:{s:{}},s:o}",
        "Name", settings->name, "Type", "Overlay", "Policies", "Type", "NetAdapterName", "Settings",
        "NetworkAdapterName", settings->adapter, "MacPool", "Dns", "Ipams", "Type", "Static",
        "Subnets", "IpAddressPrefix", settings->subnet, "Policies", "Type", "VSID", "Settings",
        "IsolationId", (json_int_t)settings->vni, "Routes", "NextHop", gateway, "DestinationPrefix",
        "0.0.0.0/0", "Flags", 8, "Health", "Extra", "SchemaVersion", hcn_schema());
    return hcn_make(host, HCN_NETWORK, NULL, document, ret, err);
}

static int reuse_or_create(struct host *host, const struct flannel_settings *settings, json_t **ret,
                           struct error *err) {
    _cleanup_(json_decrefp_) json_t *found = NULL;
    const char *prefix = NULL, *gateway;

    if (hcn_find(host, HCN_NETWORK, "Name", settings->name, &found, err))
        error_clear(err); /* upstream takes any failure for "absent" */
    if (found && hcn_subnet(found, &prefix, &gateway) == 0 &&
        text_equal(prefix, settings->subnet) &&
        text_equal_nocase(json_text_at(found, "Type"), "Overlay")) {
        klog('I', "Found existing HNS network %s", settings->name);
        *ret = take_ptr(found);
        return 0;
    }
    if (found && hcn_delete(host, HCN_NETWORK, json_text_at(found, "ID"), err))
        return error_prefix(err, "unable to delete existing network %s", settings->name);
    return create(host, settings, ret, err);
}

/* Waits for the management address, as upstream polls. */
static int wait_for_provider(struct host *host, const struct flannel_settings *settings,
                             json_t **network, struct error *err) {
    for (int i = 0; i < PROVIDER_TRIES; i++) {
        const char *address =
            json_text_at(hcn_policy(*network, "ProviderAddress"), "ProviderAddress");
        if (address && *address)
            return 0;
        json_t *fresh = NULL;
        if (lifetime_wait(PROVIDER_MS) ||
            hcn_find(host, HCN_NETWORK, "Name", settings->name, &fresh, err))
            return -1;
        json_decref(*network);
        *network = fresh;
    }
    return error_set(err, ERROR_TIMED_OUT,
                     "timeout, failed to get management IP from HNS network "
                     "\"%s\"",
                     settings->name);
}

static int open_network(struct host *host, struct flannel_settings *settings, json_t **ret_data,
                        struct error *err) {
    _cleanup_(json_decrefp_) json_t *network = NULL;
    struct error ignored = {0};
    unsigned major, minor;

    if (settings->vni < VNI_MIN)
        return error_set(err, ERROR_USAGE,
                         "invalid VXLAN backend config. VNI [%lld] must be "
                         "greater than or equal to %d on Windows",
                         settings->vni, VNI_MIN);
    if (hcn_version(host, &major, &minor, err) || reuse_or_create(host, settings, &network, err) ||
        wait_for_provider(host, settings, &network, err))
        return -1;
    if (hcn_change(host, HCN_NETWORK, json_text_at(network, "ID"), "Policy", "Add",
                   json_pack("{s:[{s:s,s:{}}]}", "Policies", "Type", "HostRoute", "Settings"),
                   &ignored))
        klog('E', "HostRoute: %s", ignored.message); /* upstream goes on too */
    const char *mac = json_text_at(hcn_policy(network, "DrMacAddress"), "Address");
    _cleanup_(freep) char *lower = text_lower(mac ? mac : "");
    for (char *p = lower; *p; p++)
        *p = *p == '-' ? ':' : *p;
    *ret_data = json_pack("{s:I,s:s}", "VNI", (json_int_t)settings->vni, "VtepMAC", lower);
    return 0;
}

static json_t *route_policy(const struct lease *lease) {
    return json_pack("{s:[{s:s,s:{s:s,s:I,s:s,s:s}}]}", "Policies", "Type", "RemoteSubnetRoute",
                     "Settings", "DestinationPrefix", lease->subnet, "IsolationId",
                     (json_int_t)lease->vni, "ProviderAddress", lease->public_ip,
                     "DistributedRouterMacAddress", lease->mac ? lease->mac : "");
}

/* What the network has stored for that subnet goes first, with exactly its settings. */
static void forget(struct host *host, const json_t *network, const char *subnet) {
    json_t *policy;
    size_t i;

    json_array_foreach(json_object_get(network, "Policies"), i, policy) {
        struct error err = {0};
        if (text_equal(json_text_at(policy, "Type"), "RemoteSubnetRoute") &&
            text_equal(json_text_at(policy, "Settings.DestinationPrefix"), subnet) &&
            hcn_change(host, HCN_NETWORK, json_text_at(network, "ID"), "Policy", "Remove",
                       json_pack("{s:[O]}", "Policies", policy), &err))
            klog('E', "remove the route to %s: %s", subnet, err.message);
    }
}

static int change(struct host *host, const struct flannel_settings *settings,
                  const struct lease *lease, bool there, struct error *err) {
    _cleanup_(json_decrefp_) json_t *network = NULL;

    if (lease->vni < VNI_MIN) {
        klog('E', "VNI of node %s is %lld, must be at least %d", lease->node, lease->vni, VNI_MIN);
        return 0;
    }
    if (hcn_find(host, HCN_NETWORK, "Name", settings->name, &network, err))
        return -1;
    if (!network)
        return error_set(err, ERROR_ABSENT, "network %s not found", settings->name);
    forget(host, network, lease->subnet);
    if (!there)
        return 0;
    return hcn_change(host, HCN_NETWORK, json_text_at(network, "ID"), "Policy", "Add",
                      route_policy(lease), err);
}

static int add(struct host *host, const struct flannel_settings *settings,
               const struct lease *lease, struct error *err) {
    return change(host, settings, lease, true, err);
}

static int remove_lease(struct host *host, const struct flannel_settings *settings,
                        const struct lease *lease, struct error *err) {
    return change(host, settings, lease, false, err);
}

const struct flannel_backend flannel_vxlan = {"vxlan", open_network, add, remove_lease};
