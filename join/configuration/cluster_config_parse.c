/* The texts that a cluster's ConfigMaps hold: ClusterConfiguration and flannel's net-conf.json. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/vxlan.h"
#include "base/yaml.h"
#include "join/configuration/cluster_config.h"
#include "join/configuration/cluster_schema.h"
#include "kube/object.h"

/* kubeadm's default (v1beta4: DefaultServicesSubnet). */
#define SERVICE_SUBNET "10.96.0.0/12"

void cluster_flannel_free(struct cluster_flannel *flannel) {
    free(flannel->name_space);
    free(flannel->network);
    free(flannel->ipv6_network);
    free(flannel->backend_type);
    json_decref(flannel->net_conf);
    *flannel = (struct cluster_flannel){0};
}

/* ---- documents ---- */

static int refuse_nameless(const char *what, size_t line, struct error *err) {
    return error_set(err, ERROR_MALFORMED, "%s: line %zu: a document without kind and apiVersion",
                     what, line);
}

/* A kind and a version, and a group where `grouped`. */
static bool is_named(const struct yaml_node *node, bool grouped) {
    const char *kind = yaml_type(node) == YAML_MAP ? yaml_text_at(node, "kind") : NULL;
    const char *version = kind ? yaml_text_at(node, "apiVersion") : NULL;
    const char *slash = version ? strchr(version, '/') : NULL;

    return kind && *kind && version && *version &&
           (!grouped || (slash && slash != version && slash[1] && !strchr(slash + 1, '/')));
}

/* kubeadm decodes the text as a whole, and reads nothing behind the first document. */
static int find_document(const char *text, const char *what, const char *kind,
                         struct yaml_documents **ret, const struct yaml_node **ret_node,
                         struct error *err) {
    _cleanup_(yaml_documents_freep) struct yaml_documents *documents = NULL;
    const struct yaml_node *found = NULL;

    if (yaml_parse(text, strlen(text), what, &documents, err) < 0 ||
        yaml_check_json(text, strlen(text), what, err) < 0)
        return -1;
    for (size_t i = 0; i < yaml_documents_count(documents); i++) {
        const struct yaml_node *node = yaml_document(documents, i);

        if (yaml_type(node) == YAML_NULL && i + 1 == yaml_documents_count(documents) && i > 0)
            continue; /* what stands behind the last separator */
        if (!is_named(node, false))
            return refuse_nameless(what, yaml_line(node), err);
        if (!text_equal(yaml_text_at(node, "kind"), kind))
            continue;
        if (found)
            return error_set(err, ERROR_MALFORMED, "%s: line %zu: kind \"%s\" is specified twice",
                             what, yaml_line(node), kind);
        found = node;
    }
    if (!found)
        return error_set(err, ERROR_MALFORMED, "%s: there is no %s in it", what, kind);
    *ret = take_ptr(documents);
    *ret_node = found;
    return 0;
}

/* One part; its kind joins those that were seen. */
static int read_part(const struct yaml_part *part, const char *what, struct text_list *kinds,
                     struct yaml_documents **ret, struct error *err) {
    _cleanup_(yaml_documents_freep) struct yaml_documents *documents = NULL;
    size_t len;
    _cleanup_(freep) char *text = yaml_part_text(part, &len);
    const struct yaml_node *node;

    if (yaml_parse(text, len, what, &documents, err) < 0 ||
        yaml_check_json(text, len, what, err) < 0)
        return -1;
    node = yaml_document(documents, 0);
    if (!node || !is_named(node, true))
        return refuse_nameless(what, node ? yaml_line(node) : part->line, err);
    if (text_list_has(kinds, yaml_text_at(node, "kind")))
        return error_set(err, ERROR_MALFORMED, "%s: line %zu: kind \"%.60s\" is specified twice",
                         what, yaml_line(node), yaml_text_at(node, "kind"));
    text_list_add(kinds, yaml_text_at(node, "kind"));
    *ret = take_ptr(documents);
    return 0;
}

int cluster_component_find(const char *text, const char *what, const char *kind,
                           struct yaml_documents **ret, struct error *err) {
    _cleanup_(yaml_documents_freep) struct yaml_documents *found = NULL;
    _cleanup_(text_list_free) struct text_list kinds = {0};
    struct yaml_parts parts = {.at = text, .end = text + strlen(text), .line = 1};
    struct yaml_part part;
    int more;

    while ((more = yaml_parts_next(&parts, what, &part, err)) > 0) {
        _cleanup_(yaml_documents_freep) struct yaml_documents *documents = NULL;

        if (read_part(&part, what, &kinds, &documents, err) < 0)
            return -1;
        if (text_equal(yaml_text_at(yaml_document(documents, 0), "kind"), kind))
            found = take_ptr(documents);
    }
    if (more < 0)
        return -1;
    if (!found)
        return error_set(err, ERROR_MALFORMED, "%s: there is no %s in it", what, kind);
    *ret = take_ptr(found);
    return 0;
}

/* ---- ClusterConfiguration ---- */

static int check_fields(const struct yaml_node *root, const char *what, struct error *err) {
    const char *version = yaml_text_at(root, "apiVersion");
    const struct yaml_field *fields = cluster_configuration_fields(version);

    if (!fields)
        return error_set(err, ERROR_UNSUPPORTED,
                         "%s: apiVersion \"%s\" is not kubeadm.k8s.io/v1beta3 or v1beta4", what,
                         version);
    if (yaml_schema_check_known(root, fields, what, NULL, err) == 0)
        return 0;
    if (err)
        err->kind = ERROR_MALFORMED;
    return -1;
}

/* A comma list of prefixes; each must parse. */
static int read_subnets(const struct yaml_node *root, const char *what, const char *path,
                        const char *fallback, struct text_list *ret, struct error *err) {
    const char *text = yaml_text_at(root, path);
    struct cidr cidr;

    text_list_split(ret, text && *text ? text : fallback, ',');
    for (size_t i = 0; i < ret->count; i++)
        if (cidr_parse(ret->items[i], &cidr, err) < 0)
            return error_prefix(err, "%s: %s", what, path);
    return 0;
}

static char *text_or(const struct yaml_node *root, const char *path, const char *fallback) {
    const char *text = yaml_text_at(root, path);

    return text && *text ? xstrdup(text) : xstrdup_null(fallback);
}

/* kubeadm: ParseHostPort, "host" or "host:port". */
static int check_endpoint(const char *endpoint, const char *what, struct error *err) {
    const char *colon = endpoint ? strrchr(endpoint, ':') : NULL;
    _cleanup_(freep) char *host = NULL;
    long long port;
    struct ip ip;

    if (!endpoint || !*endpoint || ip_parse(endpoint, &ip, NULL) == 0)
        return 0;
    host = xstrndup(endpoint, colon ? (size_t)(colon - endpoint) : strlen(endpoint));
    if (host[0] == '[' && text_ends_with(host, "]")) {
        host[strlen(host) - 1] = '\0';
        if (ip_parse(host + 1, &ip, NULL) == 0 && colon &&
            text_to_number(colon + 1, 1, 65535, &port) == 0)
            return 0;
    } else if ((kube_name_is_valid(host) || ip_parse(host, &ip, NULL) == 0) &&
               (!colon || text_to_number(colon + 1, 1, 65535, &port) == 0) && !strchr(host, ':')) {
        return 0;
    }
    return error_set(err, ERROR_MALFORMED,
                     "%s: controlPlaneEndpoint \"%.200s\" is no host with or without a port", what,
                     endpoint);
}

int cluster_config_parse(const char *yaml, const char *what, struct cluster_config *ret,
                         struct error *err) {
    _cleanup_(yaml_documents_freep) struct yaml_documents *documents = NULL;
    struct cluster_config c = {0};
    const struct yaml_node *root = NULL;

    if (find_document(yaml, what, "ClusterConfiguration", &documents, &root, err) < 0 ||
        check_fields(root, what, err) < 0)
        return -1;
    if (read_subnets(root, what, "networking.podSubnet", "", &c.pod_subnets, err) < 0 ||
        read_subnets(root, what, "networking.serviceSubnet", SERVICE_SUBNET, &c.service_subnets,
                     err) < 0 ||
        check_endpoint(yaml_text_at(root, "controlPlaneEndpoint"), what, err) < 0) {
        cluster_config_free(&c);
        return -1;
    }
    c.name = text_or(root, "clusterName", "kubernetes");
    c.kubernetes_version = text_or(root, "kubernetesVersion", "");
    c.control_plane_endpoint = text_or(root, "controlPlaneEndpoint", NULL);
    c.image_repository = text_or(root, "imageRepository", "registry.k8s.io");
    c.dns_domain = text_or(root, "networking.dnsDomain", "cluster.local");
    *ret = c;
    return 0;
}

/* A whole number in [0, max] at a path; absent is 0. */
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

static int read_network(const json_t *conf, const char *key, char **ret, struct error *err) {
    const char *text = json_text_at(conf, key);
    struct cidr cidr;

    if (!text || !*text)
        return 0;
    if (cidr_parse(text, &cidr, err) < 0)
        return error_prefix(err, "net-conf.json: %s", key);
    *ret = xstrdup(text);
    return 0;
}

int cluster_flannel_parse(const char *json, struct cluster_flannel *ret, struct error *err) {
    struct cluster_flannel f = {.present = true};
    const char *type;

    if (json_read(json, strlen(json), "net-conf.json", &f.net_conf, err) < 0)
        return -1;
    type = json_text_at(f.net_conf, "Backend.Type");
    f.backend_type = xstrdup(type ? type : "vxlan"); /* flannel's own default is udp, long gone */
    f.direct_routing = json_bool_at(f.net_conf, "Backend.DirectRouting", false);
    if (read_network(f.net_conf, "Network", &f.network, err) < 0 ||
        read_network(f.net_conf, "IPv6Network", &f.ipv6_network, err) < 0 ||
        read_number(f.net_conf, "Backend.VNI", 0xffffff, &f.vni, err) < 0 ||
        read_number(f.net_conf, "Backend.Port", 65535, &f.port, err) < 0) {
        cluster_flannel_free(&f);
        return -1;
    }
    *ret = f;
    return 0;
}

static int refuse_vxlan(struct error *err, const char *what) {
    (void)error_set(err, ERROR_UNSUPPORTED, "the cluster's flannel cannot carry Windows nodes: %s",
                    what);
    return error_hint(err,
                      "set \"Backend\": {\"Type\": \"vxlan\", \"VNI\": 4096, \"Port\": 4789} in "
                      "ConfigMap kube-flannel-cfg and restart flannel on every node");
}

int cluster_flannel_check(const struct cluster_flannel *flannel, struct error *err) {
    _cleanup_(freep) char *vni =
        xasprintf("its VNI is %u", flannel->vni ? flannel->vni : VXLAN_LINUX_VNI);
    _cleanup_(freep) char *port =
        xasprintf("its port is %u", flannel->port ? flannel->port : VXLAN_LINUX_PORT);

    if (text_equal(flannel->backend_type, "host-gw"))
        return 0;
    if (!text_equal(flannel->backend_type, "vxlan"))
        return error_set(err, ERROR_UNSUPPORTED,
                         "flannel's backend '%s' does not exist on Windows; vxlan and host-gw do",
                         flannel->backend_type);
    if (flannel->vni < VXLAN_WINDOWS_VNI_MIN)
        return refuse_vxlan(err, vni);
    if (flannel->port != VXLAN_WINDOWS_PORT)
        return refuse_vxlan(err, port);
    if (flannel->direct_routing)
        return refuse_vxlan(err, "DirectRouting is on");
    if (json_bool_at(flannel->net_conf, "Backend.GBP", false))
        return refuse_vxlan(err, "GBP is on");
    return 0;
}
