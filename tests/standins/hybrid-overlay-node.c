/* Stand-in for OVN-Kubernetes' hybrid-overlay-node.exe as a console program. Two things it does as
 * upstream: started before its node has the subnet annotation, it makes the base network and then
 * nothing for ever; and it does not end when it is asked to. */
#include "base/memory.h"
#include "base/text.h"
#include "tests/standins/hybrid-overlay-node/identity.h"
#include "tests/standins/hybrid-overlay-node/networks.h"
#include "tests/standins/lib/cache.h"
#include "tests/standins/lib/cluster.h"
#include "tests/standins/lib/flags.h"
#include "tests/standins/lib/hcn.h"
#include "tests/standins/lib/klog.h"
#include "tests/standins/lib/lifetime.h"

#include <stdlib.h>
#include <string.h>
#include <windows.h>

#define ANNOTATION "k8s.ovn.org/"
#define SUBNET ANNOTATION "hybrid-overlay-node-subnet"
#define ROUTER_MAC ANNOTATION "hybrid-overlay-distributed-router-gateway-mac"
enum { LOOK_MS = 250 };

static const char *node, *kubeconfig, *bootstrap, *cert_dir, *port_text;
static bool ignored;

static const struct flag flags[] = {
    {"node", &node, NULL, "The name of this node in the Kubernetes cluster."},
    {"k8s-kubeconfig", &kubeconfig, NULL, "absolute path to the Kubernetes kubeconfig file"},
    {"bootstrap-kubeconfig", &bootstrap, NULL, "kubeconfig for the certificate's request"},
    {"cert-dir", &cert_dir, NULL, "where the certificate is kept"},
    {"cert-duration", NULL, NULL, "requested duration of the certificate"},
    {"k8s-apiserver", NULL, NULL, "URL of the Kubernetes API server"},
    {"k8s-cacert", NULL, NULL, "the Kubernetes API CA certificate file"},
    {"hybrid-overlay-vxlan-port", &port_text, NULL, "The UDP port used by the VXLAN protocol"},
    {"windows-service", NULL, &ignored, "Enables hybrid overlay to run as a Windows service"},
    {"logfile", NULL, NULL, "path of a file to direct log output to"},
    {"loglevel", NULL, NULL, "log verbosity and level"},
    {NULL, NULL, NULL, NULL},
};
static const struct program program = {"hybrid-overlay-node", "1.2.0", flags};

static const char *annotation(const json_t *object, const char *name) {
    return json_string_value(json_object_get(json_at(object, "metadata.annotations"), name));
}

/* Of Windows nodes their annotation, of Linux nodes the first of node-subnets. */
static char *subnet_of(const json_t *object) {
    const char *own = annotation(object, SUBNET),
               *all = annotation(object, ANNOTATION "node-subnets");
    _cleanup_(json_decrefp_) json_t *subnets = NULL;
    struct error err = {0};

    if (own)
        return xstrdup(own);
    if (!all || json_read(all, strlen(all), "node-subnets", &subnets, &err))
        return NULL;
    return xstrdup_null(json_text_at(subnets, "default.0"));
}

static const char *address_of(const json_t *object) {
    json_t *item;
    size_t i;

    json_array_foreach(json_at(object, "status.addresses"), i, item) {
        if (text_equal(json_text_at(item, "type"), "InternalIP"))
            return json_text_at(item, "address");
    }
    return NULL;
}

static int tell_mac(struct cluster *cluster, const json_t *network, struct error *err) {
    _cleanup_(freep) char *path = xasprintf("/api/v1/nodes/%s/status", node);
    const char *mac = json_text_at(hcn_policy(network, "DrMacAddress"), "Address");
    _cleanup_(json_decrefp_) json_t *patch =
        json_pack("{s:{s:{s:s}}}", "metadata", "annotations", ROUTER_MAC, mac ? mac : "");

    return kube_patch(&cluster->client, path, "strategic-merge", patch, err);
}

/* "subnet address mac" of another node; NULL while it does not say all of it. */
static json_t *route_of(const json_t *object) {
    _cleanup_(freep) char *subnet = subnet_of(object), *mac = NULL;
    const char *address = address_of(object), *told = annotation(object, ROUTER_MAC);

    if (text_equal(json_text_at(object, "metadata.name"), node) || !subnet || !address || !told)
        return NULL;
    mac = text_lower(told);
    for (char *p = mac; *p; p++)
        *p = *p == '-' ? ':' : *p;
    return json_pack("[s,s,s]", subnet, address, mac);
}

static const char *word(const json_t *route, size_t i) {
    return json_string_value(json_array_get(route, i));
}

/* Brings the routes in line: what changed is removed with what was stored, then added. */
static void apply(struct host *host, json_t *have, const json_t *nodes) {
    _cleanup_(json_decrefp_) json_t *want = json_object();
    json_t *item, *route;
    const char *name;
    void *next;
    size_t i;

    json_array_foreach(nodes, i, item) {
        if ((route = route_of(item)))
            (void)json_object_set_new(want, json_text_at(item, "metadata.name"), route);
    }
    json_object_foreach_safe(have, next, name, route) {
        struct error err = {0};
        if (json_equal(route, json_object_get(want, name)))
            continue;
        if (remote_route(host, "Remove", word(route, 0), word(route, 1), word(route, 2), &err))
            klog('E', "%s", err.message);
        (void)json_object_del(have, name); /* it is there */
    }
    json_object_foreach(want, name, route) {
        struct error err = {0};
        if (json_object_get(have, name))
            continue;
        if (remote_route(host, "Add", word(route, 0), word(route, 1), word(route, 2), &err))
            klog('E', "%s", err.message);
        else
            (void)json_object_set(have, name, route); /* no memory only */
    }
}

static void follow(struct host *host, const char *config) {
    struct cache *cache = cache_start("hybrid-overlay-node", config, "/api/v1/nodes");
    _cleanup_(json_decrefp_) json_t *have = json_object();
    unsigned seen = 0;

    for (;; Sleep(LOOK_MS)) {
        _cleanup_(json_decrefp_) json_t *nodes = NULL;
        unsigned changes = cache_read(cache, &nodes);
        if (changes != seen)
            apply(host, have, nodes);
        seen = changes;
    }
}

static int prepare(struct cluster *cluster, const char *config, struct error *err) {
    long long port = port_text ? strtoll(port_text, NULL, 10) : 0;
    _cleanup_(freep) char *path = xasprintf("/api/v1/nodes/%s", node), *subnet = NULL;
    _cleanup_(json_decrefp_) json_t *object = NULL, *network = NULL;
    unsigned major, minor;

    if (hcn_version(cluster->host, &major, &minor, err) ||
        kube_get(&cluster->client, path, &object, err))
        return -1;
    if (major < 9 || (major == 9 && minor < 2) ||
        (port && port != 4789 && (major < 10 || (major == 10 && minor < 3))))
        return error_set(err, ERROR_UNSUPPORTED, "this HNS version (%u.%u) is not supported", major,
                         minor);
    if (base_network_ensure(cluster->host, port, err))
        return -1;
    subnet = subnet_of(object);
    if (!subnet) { /* its coming later is filtered out */
        klog('I', "Node %s has no hybrid overlay subnet", node);
        for (;;)
            Sleep(LOOK_MS);
    }
    if (pod_network_ensure(cluster->host, subnet, port, &network, err) ||
        remote_routes_clear(cluster->host, err) || tell_mac(cluster, network, err))
        return -1;
    follow(cluster->host, config);
    return 0;
}

static int run(void) {
    struct cluster cluster;
    struct error err = {0};
    _cleanup_(freep) char *own = NULL;

    (void)klog_open("hybrid-overlay-node", NULL); /* without a file it cannot fail */
    if (!node || (!bootstrap && !kubeconfig)) {
        klog('F', "missing node name; use the 'node' flag to provide one");
        return 1;
    }
    if (bootstrap) {
        if (cluster_open("hybrid-overlay-node", bootstrap, &cluster))
            return 1;
        if (identity_get(&cluster, node, cert_dir, &own, &err)) {
            klog('F', "failed to start the node certificate manager: %s", err.message);
            return 1;
        }
        cluster_close(&cluster);
    }
    if (cluster_open("hybrid-overlay-node", own ? own : kubeconfig, &cluster))
        return 1;
    if (prepare(&cluster, own ? own : kubeconfig, &err))
        klog('F', "%s", err.message);
    return 1;
}

int main(int argc, char **argv) {
    int code = flags_parse(&program, argc, argv);

    return code >= 0 ? code : lifetime_run(NULL, run);
}
