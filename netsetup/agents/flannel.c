/* Flannel: flanneld keeps the routes to other nodes' Pods, by VXLAN (overlay) or host-gw
 * (l2bridge). Sources: flannel's Documentation/backends.md, Documentation/kubernetes.md,
 * pkg/backend/vxlan. */

#include "base/vxlan.h"
#include "netsetup/agents/agent.h"
#include "services/service_table.h"

#define ANNOTATION "flannel.alpha.coreos.com/"

/* ---- flannel's words for the modes ---- */

static const struct agent_backend backends[] = {{"overlay", "vxlan"}, {"l2bridge", "host-gw"}, {0}};

/* ---- the configuration file net-conf.json ---- */

static char *net_conf_make(const struct network_plan *plan) {
    const struct text_list *cluster = &plan->cluster_pod_cidrs;
    json_t *backend = json_pack("{s:s, s:s}", "Type",
                                network_agent_backend(plan->agent, plan->mode), "Name", plan->name);
    if (plan->vni) {
        json_object_set_new(backend, "VNI", json_integer(plan->vni));
        json_object_set_new(backend, "Port", json_integer(plan->vxlan_port));
    }
    _cleanup_json_ json_t *json =
        json_pack("{s:s, s:o}", "Network", cluster->count ? cluster->items[0] : plan->pod_cidr,
                  "Backend", backend);
    return json_write_pretty(json);
}

/* Reads a whole number from 0 to max at a path. When it is absent, *ret stays unchanged. */
static int read_number(const json_t *conf, const char *path, long long max, unsigned *ret,
                       struct error *err) {
    const json_t *value = json_at(conf, path);
    long long number = json_integer_value(value);
    if (!value)
        return 0;
    if (!json_is_integer(value) || number < 0 || number > max)
        return error_set(err, ERROR_MALFORMED, "net-conf.json: %s must be a number from 0 to %lld",
                         path, max);
    *ret = (unsigned)number;
    return 0;
}

/* Renames the members to the spelling in `keys`. Go's JSON reader ignores the case of keys. */
static void spell(json_t *object, const char *const *keys) {
    for (; *keys; keys++) {
        _cleanup_(freep) char *found = NULL;
        json_each_member(object, key, value) {
            (void)value;
            if (text_equal_nocase(key, *keys))
                text_set(&found, xstrdup(key));
        }
        if (!found || text_equal(found, *keys))
            continue;
        json_object_set(object, *keys, json_object_get(object, found));
        json_object_del(object, found);
    }
}

static int read_net_conf(const char *text, struct agent_settings *ret, struct error *err) {
    _cleanup_(agent_settings_free) struct agent_settings s = {.agent = &network_agent_flannel};
    static const char *const keys[] = {"Network",    "IPv6Network", "EnableIPv4",
                                       "EnableIPv6", "Backend",     NULL};
    static const char *const of_backend[] = {"Type", "VNI", "Port", "DirectRouting", "GBP", NULL};
    /* By default flannel has IPv4 on and IPv6 off (pkg/subnet/subnet.go, ParseConfig). */
    static const struct {
        const char *key, *enable;
        bool enabled;
    } prefixes[] = {{"Network", "EnableIPv4", true}, {"IPv6Network", "EnableIPv6", false}};

    if (json_read(text, strlen(text), "net-conf.json", &s.document, err) < 0)
        return -1;
    spell(s.document, keys);
    spell(json_object_get(s.document, "Backend"), of_backend);
    /* flannel ignores case (pkg/backend/manager.go). Its own default, udp, no longer exists. */
    s.backend = text_lower(json_text_or(s.document, "Backend.Type", "vxlan"));
    for (const struct agent_backend *row = backends; row->mode; row++)
        if (text_equal(row->word, s.backend))
            s.mode = row->mode;
    for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
        const char *prefix = json_text_or(s.document, prefixes[i].key, "");
        struct cidr cidr;
        if (*prefix && cidr_parse(prefix, &cidr, err) < 0)
            return error_prefix(err, "net-conf.json: %s", prefixes[i].key);
        if (*prefix && json_bool_at(s.document, prefixes[i].enable, prefixes[i].enabled))
            text_list_add(&s.pod_cidrs, prefix);
    }
    if (read_number(s.document, "Backend.VNI", VXLAN_VNI_MAX, &s.vni, err) < 0 ||
        read_number(s.document, "Backend.Port", 65535, &s.vxlan_port, err) < 0)
        return -1;
    *ret = take_struct(s);
    return 0;
}

#define VXLAN_HINT                                                                                 \
    "set \"Backend\": {\"Type\": \"vxlan\", \"VNI\": 4096, \"Port\": 4789} in the ConfigMap "      \
    "kube-flannel-cfg, then restart flannel on every node"

/* Checks what pkg/backend/vxlan/vxlan_windows.go requires. A value that is not given counts as the
 * default on Linux. */
static int check_net_conf(const struct agent_settings *s, struct error *err) {
    unsigned vni = s->vni ? s->vni : VXLAN_LINUX_VNI;
    unsigned port = s->vxlan_port ? s->vxlan_port : VXLAN_LINUX_PORT;
    _cleanup_(freep) char *vni_text = xasprintf("its VNI is %u", vni);
    _cleanup_(freep) char *port_text = xasprintf("its port is %u", port);
    const char *what = vni < VXLAN_WINDOWS_VNI_MIN  ? vni_text
                       : port != VXLAN_WINDOWS_PORT ? port_text
                       : json_bool_at(s->document, "Backend.DirectRouting", false)
                           ? "DirectRouting is on"
                       : json_bool_at(s->document, "Backend.GBP", false) ? "GBP is on"
                                                                         : NULL;

    if (!json_bool_at(s->document, "EnableIPv4", true)) {
        (void)error_set(err, ERROR_UNSUPPORTED,
                        "the cluster's flannel does not support Windows nodes: EnableIPv4 is off");
        return error_hint(err,
                          "flannel for Windows has no IPv6; dual stack works: give pods an IPv4 "
                          "prefix, too (EnableIPv4, Network)");
    }
    if (!s->mode) {
        (void)error_set(
            err, ERROR_UNSUPPORTED,
            "flannel's backend '%s' is not supported on Windows (vxlan and host-gw are)",
            s->backend);
        return error_hint(err, VXLAN_HINT);
    }
    if (!text_equal(s->backend, "vxlan") || !what)
        return 0;
    (void)error_set(err, ERROR_UNSUPPORTED,
                    "the cluster's flannel does not support Windows nodes: %s", what);
    return error_hint(err, VXLAN_HINT);
}

/* ---- flannel's annotations of Nodes ---- */

static bool read_peer(const json_t *annotations, struct network_peer *ret) {
    const char *text = json_string_value(json_object_get(annotations, ANNOTATION "backend-data"));
    _cleanup_json_ json_t *data = NULL;
    ret->backend = json_string_value(json_object_get(annotations, ANNOTATION "backend-type"));
    ret->address = json_string_value(json_object_get(annotations, ANNOTATION "public-ip"));
    if (text && json_read(text, strlen(text), "backend-data", &data, NULL) == 0) {
        long long vni = json_number_at(data, "VNI", 0);
        (void)text_format(ret->router_mac, sizeof(ret->router_mac), "%s",
                          json_text_or(data, "VtepMAC", ""));
        ret->vni = vni > 0 && vni <= VXLAN_VNI_MAX ? (unsigned)vni : 0;
    }
    return text || ret->backend;
}

json_t *flannel_announcement(unsigned vni, const char *router_mac, const char *address) {
    _cleanup_(freep) char *mac = text_replace(text_lower(router_mac), "-", ':');
    _cleanup_(freep) char *data = xasprintf("{\"VNI\":%u,\"VtepMAC\":\"%s\"}", vni, mac);
    return json_pack("{s:s, s:s, s:s, s:s}", ANNOTATION "backend-data", data,
                     ANNOTATION "backend-type", "vxlan", ANNOTATION "kube-subnet-manager", "true",
                     ANNOTATION "public-ip", address);
}

/* ---- the agent's functions and constant ---- */

/* Restarts flanneld, whose routes are gone, after its network was made again. */
static int restore(const struct network_restore *restore, struct error *err) {
    return restore->made ? network_restore_service(restore, &service_flanneld, err) : 0;
}

const struct network_agent network_agent_flannel = {
    .plugin = "flannel",
    .service = "flanneld",
    .folders = (const char *const[]){"C:\\run\\flannel", "C:\\etc\\kube-flannel", NULL},
    .settings_path = "C:\\etc\\kube-flannel\\net-conf.json",
    .settings_make = net_conf_make,
    .kubeconfig_path = "C:\\k\\flanneld.kubeconfig",
    .kubeconfig_user = "flannel",
    /* The rights are for other Nodes; the node's certificate already allows its own. The agent
     * reads no Pod to find the node's name, because NODE_NAME is in its environment. */
    .rights = (const struct agent_right[]){{"nodes", "list,watch"}, {0}},
    .vxlan_port = VXLAN_WINDOWS_PORT,
    .keeps_routes = true,
    .backends = backends,
    .sources = (const struct agent_source[]){{"kube-flannel", "kube-flannel-cfg", "net-conf.json"},
                                             {"kube-system", "kube-flannel-cfg", "net-conf.json"},
                                             {0}},
    .read_settings = read_net_conf,
    .check_settings = check_net_conf,
    .read_peer = read_peer,
    .restore = restore,
};
