/* Stand-in for flanneld.exe with the kube subnet manager: vxlan and host-gw on Windows. A console
 * program: it knows no SCM. */
#include "base/cidr.h"
#include "base/memory.h"
#include "base/text.h"
#include "tests/standins/flanneld/backend.h"
#include "tests/standins/flanneld/leases.h"
#include "tests/standins/lib/cache.h"
#include "tests/standins/lib/cluster.h"
#include "tests/standins/lib/flags.h"
#include "tests/standins/lib/klog.h"
#include "tests/standins/lib/lifetime.h"

#include <string.h>

enum { CONFIG_MAX = 65536, LOOK_MS = 250, DEFAULT_VNI = 4096, VXLAN_OVERHEAD = 50 };

static const char *kubeconfig, *interface_name, *public_ip;
static const char *net_conf = "/etc/kube-flannel/net-conf.json";
static const char *subnet_file = "/run/flannel/subnet.env";
static bool kube_subnet_mgr, ip_masq, ignored;

static const struct flag flags[] = {
    {"kube-subnet-mgr", NULL, &kube_subnet_mgr, "contact the Kubernetes API for subnet assignment"},
    {"kubeconfig-file", &kubeconfig, NULL, "kubeconfig file location"},
    {"iface", &interface_name, NULL, "interface to use (IP or name) for inter-host communication"},
    {"ip-masq", NULL, &ip_masq, "setup IP masquerade rule"},
    {"net-config-path", &net_conf, NULL, "path to the network configuration file"},
    {"subnet-file", &subnet_file, NULL, "filename where env variables are written to"},
    {"public-ip", &public_ip, NULL, "IP accessible by other nodes"},
    {"kube-annotation-prefix", NULL, NULL, "Kubernetes annotation prefix"},
    {"healthz-ip", NULL, NULL, "the IP address for healthz server to listen"},
    {"healthz-port", NULL, NULL, "the port for healthz server to listen"},
    {"iptables-forward-rules", NULL, &ignored, "add default accept rules to FORWARD chain"},
    {"v", NULL, NULL, "log level for V logs"},
    {NULL, NULL, NULL, NULL},
};

static const struct program program = {"flanneld", "v0.28.4", flags};
static struct flannel_settings settings;
static const struct flannel_backend *backend;
static unsigned mtu;

/* Upstream's paths without a drive stand on the current one. */
static char *on_drive(const char *path) {
    return path[0] == '/' || path[0] == '\\' ? xasprintf("C:%s", path) : xstrdup(path);
}

static int read_net_conf(struct host *host, struct error *err) {
    _cleanup_(freep) char *path = on_drive(net_conf), *text = NULL;
    _cleanup_(json_decrefp_) json_t *conf = NULL;
    size_t len;

    if (host_read(host, path, CONFIG_MAX, &text, &len, err) ||
        json_read(text, len, path, &conf, err))
        return -1;
    const char *type = json_text_at(conf, "Backend.Type"), *network = json_text_at(conf, "Network");
    const char *name = json_text_at(conf, "Backend.Name");
    backend = text_equal(type, "vxlan")     ? &flannel_vxlan
              : text_equal(type, "host-gw") ? &flannel_host_gw
                                            : NULL;
    if (!backend || !network)
        return error_set(err, ERROR_USAGE,
                         "Failed to create SubnetManager: unknown backend type: "
                         "%s",
                         type ? type : "");
    settings.type = backend->type;
    settings.network = xstrdup(network);
    settings.vni = json_number_at(conf, "Backend.VNI", DEFAULT_VNI);
    if (backend == &flannel_vxlan && json_number_at(conf, "Backend.Port", 4789) != 4789)
        return error_set(err, ERROR_USAGE, "invalid VXLAN backend config. Port must be 4789");
    settings.name = name                        ? xstrdup(name)
                    : backend == &flannel_vxlan ? xasprintf("flannel.%lld", settings.vni)
                                                : xstrdup("cbr0");
    return 0;
}

static bool has_address(const struct host_adapter *adapter, const char *ip) {
    for (size_t i = 0; i < adapter->addresses.count; i++) {
        const char *own = adapter->addresses.items[i];
        if (strncmp(own, ip, strlen(ip)) == 0 && own[strlen(ip)] == '/')
            return true;
    }
    return false;
}

static bool is_wanted(const struct host_adapter *adapter) {
    if (!interface_name)
        return adapter->gateways.count > 0;
    return text_equal_nocase(adapter->alias, interface_name) ||
           has_address(adapter, interface_name);
}

static const char *first_ipv4(const struct host_adapter *adapter) {
    for (size_t i = 0; i < adapter->addresses.count; i++) {
        if (!strchr(adapter->addresses.items[i], ':'))
            return adapter->addresses.items[i];
    }
    return NULL;
}

static int find_interface(struct host *host, struct error *err) {
    struct host_adapters adapters = {0};

    if (host_adapters(host, &adapters, err))
        return -1;
    for (size_t i = 0; i < adapters.count && !settings.public_ip; i++) {
        const struct host_adapter *adapter = &adapters.items[i];
        const char *address = first_ipv4(adapter);
        if (!is_wanted(adapter) || !address)
            continue;
        settings.public_ip =
            public_ip ? xstrdup(public_ip) : xstrndup(address, strcspn(address, "/"));
        settings.interface = adapter->index;
        mtu = adapter->mtu;
        (void)text_format(settings.adapter, sizeof(settings.adapter), "%s", adapter->alias);
    }
    host_adapters_free(&adapters);
    if (!settings.public_ip)
        return error_set(err, ERROR_HOST, "Failed to find any valid interface to use: %s",
                         interface_name ? interface_name : "no default route");
    klog('I', "Using interface with name %s and address %s", settings.adapter, settings.public_ip);
    return 0;
}

static int own_subnet(struct cluster *cluster, const char *node, struct error *err) {
    _cleanup_(freep) char *path = xasprintf("/api/v1/nodes/%s", node);

    for (;;) {
        _cleanup_(json_decrefp_) json_t *object = NULL;
        if (kube_get(&cluster->client, path, &object, err))
            return -1;
        const char *subnet = json_text_at(object, "spec.podCIDR");
        if (subnet) {
            settings.subnet = xstrdup(subnet);
            return 0;
        }
        klog('E', "node \"%s\" pod cidr not assigned", node);
        if (lifetime_wait(1000))
            return -1;
    }
}

static int annotate(struct cluster *cluster, const char *node, const json_t *data,
                    struct error *err) {
    _cleanup_(freep) char *path = xasprintf("/api/v1/nodes/%s/status", node);
    _cleanup_(freep) char *text = json_write(data);
    _cleanup_(json_decrefp_) json_t *patch = json_pack(
        "{s:{s:{s:s,s:s,s:s,s:s}}}", "metadata", "annotations", FLANNEL_PREFIX "backend-data", text,
        FLANNEL_PREFIX "backend-type", settings.type, FLANNEL_PREFIX "public-ip",
        settings.public_ip, FLANNEL_PREFIX "kube-subnet-manager", "true");

    return kube_patch(&cluster->client, path, "strategic-merge", patch, err);
}

static int write_subnet_file(struct host *host, struct error *err) {
    _cleanup_(freep) char *path = on_drive(subnet_file);
    char gateway[IP_TEXT_MAX];
    struct cidr subnet;
    struct ip first;

    if (cidr_parse(settings.subnet, &subnet, err) || cidr_address(&subnet, 1, &first, err))
        return -1;
    ip_format(&first, gateway);
    _cleanup_(freep) char *text = xasprintf(
        "FLANNEL_NETWORK=%s\nFLANNEL_SUBNET=%s/%d\nFLANNEL_MTU=%u\nFLANNEL_IPMASQ=%s\n",
        settings.network, gateway, subnet.length,
        mtu - (backend == &flannel_vxlan ? VXLAN_OVERHEAD : 0), ip_masq ? "true" : "false");
    return host_write(host, path, text, strlen(text), HOST_PUBLIC, err);
}

/* Brings what `have` holds (node -> Node) in line with `want`; have is changed. */
static void apply(struct host *host, json_t *have, const json_t *want) {
    const char *name;
    json_t *node, *old;
    void *next;

    json_object_foreach_safe(have, next, name, node) {
        struct lease lease;
        struct error err = {0};
        if (json_object_get(want, name) || lease_of(node, settings.type, &lease))
            continue;
        klog('I', "Subnet removed: %s", lease.subnet);
        if (backend->remove(host, &settings, &lease, &err))
            klog('E', "%s", err.message);
        json_decref(lease.backend_data);
        (void)json_object_del(have, name); /* it is there */
    }
    json_object_foreach((json_t *)want, name, node) {
        struct lease lease, before;
        struct error err = {0};
        old = json_object_get(have, name);
        if ((old && json_equal(json_at(old, "metadata.annotations"),
                               json_at(node, "metadata.annotations"))) ||
            lease_of(node, settings.type, &lease))
            continue;
        klog('I', "Subnet added: %s via %s", lease.subnet, lease.public_ip);
        if (old && lease_of(old, settings.type, &before) == 0) {
            if (backend->remove(host, &settings, &before, &err))
                klog('E', "%s", err.message);
            json_decref(before.backend_data);
        }
        if (backend->add(host, &settings, &lease, &err))
            klog('E', "%s", err.message); /* upstream goes on too */
        json_decref(lease.backend_data);
        (void)json_object_set(have, name, node); /* fails on no memory only */
    }
}

static void follow(struct host *host, const char *own) {
    struct cache *cache = cache_start("flanneld", kubeconfig, "/api/v1/nodes");
    _cleanup_(json_decrefp_) json_t *have = json_object();
    unsigned seen = 0;

    do {
        _cleanup_(json_decrefp_) json_t *nodes = NULL, *want = json_object();
        unsigned changes = cache_read(cache, &nodes);
        json_t *node;
        size_t i;
        if (changes == seen)
            continue;
        seen = changes;
        json_array_foreach(nodes, i, node) {
            struct lease lease;
            if (text_equal(json_text_at(node, "metadata.name"), own) ||
                lease_of(node, settings.type, &lease))
                continue;
            json_decref(lease.backend_data);
            (void)json_object_set(want, lease.node, node); /* fails on no memory only */
        }
        apply(host, have, want);
    } while (!lifetime_wait(LOOK_MS));
}

static char *node_name(struct host *host) {
    struct host_facts facts = {0};
    struct error err = {0};
    char *name = host_environment(host, "NODE_NAME");

    if (name)
        return name;
    (void)host_facts(host, &facts, &err); /* an empty name is not found by the server */
    return text_lower(facts.host_name);
}

static int run(void) {
    struct cluster cluster;
    struct error err = {0};
    _cleanup_(json_decrefp_) json_t *data = NULL;
    int code = 1;

    (void)klog_open("flanneld", NULL); /* without a file it cannot fail */
    if (!kube_subnet_mgr || !kubeconfig) {
        klog('E', "Failed to create SubnetManager: this stand-in needs -kube-subnet-mgr and "
                  "-kubeconfig-file");
        return 1;
    }
    if (cluster_open("flanneld", kubeconfig, &cluster))
        return 0;
    _cleanup_(freep) char *node = node_name(cluster.host);
    if (read_net_conf(cluster.host, &err) || find_interface(cluster.host, &err) ||
        own_subnet(&cluster, node, &err) || backend->open(cluster.host, &settings, &data, &err) ||
        annotate(&cluster, node, data, &err) || write_subnet_file(cluster.host, &err)) {
        klog('E', "Error: %s", err.message);
        code = lifetime_over() ? 0 : 1;
    } else {
        klog('I', "Running backend %s.", settings.type);
        follow(cluster.host, node);
        code = 0;
    }
    cluster_close(&cluster);
    return code;
}

int main(int argc, char **argv) {
    int code = flags_parse(&program, argc, argv);

    return code >= 0 ? code : lifetime_run(NULL, run);
}
