/* The texts that a cluster's ConfigMaps hold. Only the fields that a join uses are judged. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/vxlan.h"
#include "join/configuration/cluster_config.h"
#include "base/yaml_schema.h"

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

static const struct yaml_field networking_fields[] = {
    {"serviceSubnet", YAML_FIELD_TEXT, NULL},
    {"podSubnet", YAML_FIELD_TEXT, NULL},
    {"dnsDomain", YAML_FIELD_TEXT, NULL},
    {0},
};
static const struct yaml_field cluster_fields[] = {
    {"networking", YAML_FIELD_OBJECT, networking_fields},
    {"kubernetesVersion", YAML_FIELD_TEXT, NULL},
    {"clusterName", YAML_FIELD_TEXT, NULL},
    {0},
};
static const struct yaml_field kubelet_fields[] = {
    {"clusterDNS", YAML_FIELD_TEXTS, NULL},   {"clusterDomain", YAML_FIELD_TEXT, NULL},
    {"staticPodPath", YAML_FIELD_TEXT, NULL}, {"healthzBindAddress", YAML_FIELD_TEXT, NULL},
    {"healthzPort", YAML_FIELD_NUMBER, NULL}, {0},
};

/* What kubeadm reads of each kind; others beside it are other programs'. */
static const struct kind {
    const char *kind;
    const char *versions[2];
    const struct yaml_field *fields;
} kinds[] = {
    {"ClusterConfiguration", {"kubeadm.k8s.io/v1beta4", "kubeadm.k8s.io/v1beta3"}, cluster_fields},
    {"KubeletConfiguration", {"kubelet.config.k8s.io/v1beta1"}, kubelet_fields},
};

static int check_document(const struct yaml_node *node, const struct kind *kind, const char *what,
                          struct error *err) {
    const char *version = yaml_text_at(node, "apiVersion");

    if (!text_equal(version, kind->versions[0]) &&
        !(kind->versions[1] && text_equal(version, kind->versions[1])))
        return error_set(err, ERROR_UNSUPPORTED, "%s: apiVersion \"%.100s\" is not %s", what,
                         version ? version : "", kind->versions[0]);
    if (yaml_schema_check_known(node, kind->fields, what, err) == 0)
        return 0;
    if (err)
        err->kind = ERROR_MALFORMED;
    return -1;
}

int cluster_document_read(const char *text, const char *what, enum cluster_document wanted,
                          json_t **ret, struct error *err) {
    _cleanup_(yaml_documents_freep) struct yaml_documents *documents = NULL;
    const struct yaml_node *found = NULL;

    if (yaml_parse(text, strlen(text), what, &documents, err) < 0)
        return -1;
    for (size_t i = 0; i < yaml_documents_count(documents); i++) {
        const struct yaml_node *node = yaml_document(documents, i);

        if (!text_equal(yaml_text_at(node, "kind"), kinds[wanted].kind))
            continue;
        if (found)
            return error_set(err, ERROR_MALFORMED, "%s: line %zu: kind \"%s\" is specified twice",
                             what, yaml_line(node), kinds[wanted].kind);
        found = node;
    }
    if (!found)
        return error_set(err, ERROR_MALFORMED, "%s: there is no %s in it", what,
                         kinds[wanted].kind);
    if (check_document(found, &kinds[wanted], what, err) < 0)
        return -1;
    *ret = yaml_to_json(found);
    return 0;
}

/* ---- ClusterConfiguration ---- */

/* A comma list of prefixes; each must parse. */
static int read_subnets(const json_t *root, const char *what, const char *path,
                        const char *fallback, struct text_list *ret, struct error *err) {
    const char *text = json_text_at(root, path);
    struct cidr cidr;

    text_list_split(ret, text && *text ? text : fallback, ',');
    for (size_t i = 0; i < ret->count; i++)
        if (cidr_parse(ret->items[i], &cidr, err) < 0)
            return error_prefix(err, "%s: %s", what, path);
    return 0;
}

static char *text_or(const json_t *root, const char *path, const char *fallback) {
    const char *text = json_text_at(root, path);

    return xstrdup(text && *text ? text : fallback);
}

int cluster_config_parse(const char *yaml, const char *what, struct cluster_config *ret,
                         struct error *err) {
    _cleanup_json_ json_t *root = NULL;
    struct cluster_config c = {0};

    if (cluster_document_read(yaml, what, CLUSTER_DOCUMENT, &root, err) < 0)
        return -1;
    if (read_subnets(root, what, "networking.podSubnet", "", &c.pod_subnets, err) < 0 ||
        read_subnets(root, what, "networking.serviceSubnet", SERVICE_SUBNET, &c.service_subnets,
                     err) < 0) {
        cluster_config_free(&c);
        return -1;
    }
    c.name = text_or(root, "clusterName", "kubernetes");
    c.kubernetes_version = text_or(root, "kubernetesVersion", "");
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
