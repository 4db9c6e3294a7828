/* The load balancers that kube-proxy keeps in HNS. */
#include "tests/standins/kube-proxy/balancers.h"

#include "base/memory.h"
#include "base/text.h"

#include <string.h>
#include "tests/standins/lib/hcn.h"
#include "tests/standins/lib/klog.h"

enum {
    FLAG_DSR = 1,
    FLAG_IPV6 = 2,
    PORT_LOCAL_ROUTED_VIP = 2,
    PORT_VIP_EXTERNAL_IP = 16,
    AFFINITY_SOURCE_IP = 2
};

static json_t *kept; /* rule name -> {"rule": rule, "ids": [..]} */

int balancers_delete_all(struct host *host, struct error *err) {
    _cleanup_(json_decrefp_) json_t *list = NULL;
    json_t *balancer;
    size_t i;

    kept = json_object();
    if (hcn_find_all(host, HCN_LOAD_BALANCER, NULL, NULL, &list, err))
        return -1;
    json_array_foreach(list, i, balancer) {
        struct error failed = {0};
        if (hcn_delete(host, HCN_LOAD_BALANCER, json_text_at(balancer, "ID"), &failed))
            klog('E', "load balancer: %s", failed.message);
    }
    return 0;
}

/* Ids of the rule's backends; *ret_source is the address behind which to send (overlay). */
static json_t *backends(struct proxy_network *network, const json_t *rule,
                        const char **ret_source) {
    json_t *ids = json_array(), *endpoint;
    size_t i;

    *ret_source = network->overlay ? network->settings->source_vip : NULL;
    json_array_foreach(json_object_get(rule, "endpoints"), i, endpoint) {
        const char *ip = json_text_at(endpoint, "ip");
        struct error err = {0};
        const char *id = proxy_backend(network, ip, json_bool_at(endpoint, "local", false), &err);
        if (err.kind)
            klog('E', "Remote endpoint creation failed: %s", err.message);
        if (!id)
            continue;
        (void)json_array_append_new(ids, json_string(id)); /* fails on no memory only */
        if (network->overlay &&
            text_equal(proxy_source_vip(network, ip), network->settings->node_ip))
            *ret_source = network->settings->node_ip;
    }
    return ids;
}

/* flags 0: absent. external: the frontend's port; vip NULL: the key is absent. */
static json_t *document(const json_t *rule, json_t *ids, const char *source, const char *vip,
                        long long external, int port_flags, bool dsr) {
    json_t *port =
        json_pack("{s:O,s:O,s:I}", "Protocol", json_object_get(rule, "protocol"), "InternalPort",
                  json_object_get(rule, "targetPort"), "ExternalPort", (json_int_t)external);
    json_t *made = json_pack("{s:O,s:s*,s:[o],s:o}", "HostComputeEndpoints", ids, "SourceVIP",
                             source, "PortMappings", port, "SchemaVersion", hcn_schema());

    if (json_bool_at(rule, "affinity", false)) /* each set fails on no memory only */
        (void)json_object_set_new(port, "DistributionType", json_integer(AFFINITY_SOURCE_IP));
    if (port_flags)
        (void)json_object_set_new(port, "Flags", json_integer(port_flags));
    if (vip)
        (void)json_object_set_new(made, "FrontendVIPs", json_pack("[s]", vip));
    int flags = (dsr ? FLAG_DSR : 0) | (vip && strchr(vip, ':') ? FLAG_IPV6 : 0);
    if (flags)
        (void)json_object_set_new(made, "Flags", json_integer(flags));
    return made;
}

static int add(struct proxy_network *network, json_t *balancer, json_t *made_ids,
               struct error *err) {
    _cleanup_(json_decrefp_) json_t *given = balancer, *made = NULL;

    if (hcn_make(network->host, HCN_LOAD_BALANCER, NULL, given, &made, err))
        return -1;
    return json_array_append(made_ids, json_object_get(made, "ID"));
}

static void create(struct proxy_network *network, const char *name, const json_t *rule) {
    const char *vip = json_text_at(rule, "vip"), *source;
    long long node_port = json_number_at(rule, "nodePort", 0);
    struct error err = {0};

    if (proxy_service_endpoint(network, vip, &err)) {
        klog('E', "service %s: %s", name, err.message);
        return;
    }
    _cleanup_(json_decrefp_) json_t *ids = backends(network, rule, &source);
    _cleanup_(json_decrefp_) json_t *made = json_array();
    if (json_array_size(ids) == 0)
        return; /* again at the next sync */
    int failed = add(network,
                     document(rule, ids, source, vip, json_number_at(rule, "port", 0), 0,
                              network->settings->dsr),
                     made, &err);
    if (!failed && node_port)
        failed = add(network,
                     document(rule, ids, source, NULL, node_port,
                              PORT_LOCAL_ROUTED_VIP | PORT_VIP_EXTERNAL_IP, false),
                     made, &err);
    if (failed)
        klog('E', "Policy creation failed for %s: %s", name, err.message);
    (void)json_object_set_new(
        kept, name, /* fails on no memory only */
        json_pack("{s:O,s:O,s:b}", "rule", rule, "ids", made, "failed", failed != 0));
}

static void drop(struct proxy_network *network, const char *name) {
    json_t *id;
    size_t i;

    json_array_foreach(json_at(json_object_get(kept, name), "ids"), i, id) {
        struct error err = {0};
        if (hcn_delete(network->host, HCN_LOAD_BALANCER, json_string_value(id), &err) &&
            err.kind != ERROR_ABSENT)
            klog('E', "Policy deletion failed for %s: %s", name, err.message);
    }
    (void)json_object_del(kept, name); /* it is there */
}

void balancers_sync(struct proxy_network *network, const json_t *rules) {
    const char *name;
    json_t *entry, *rule;
    void *next;

    json_object_foreach_safe(kept, next, name, entry) {
        if (json_bool_at(entry, "failed", false) ||
            !json_equal(json_object_get(entry, "rule"), json_object_get(rules, name)))
            drop(network, name);
    }
    json_object_foreach((json_t *)rules, name, rule) {
        if (!json_object_get(kept, name))
            create(network, name, rule);
    }
}
