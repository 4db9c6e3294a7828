/* Parses the texts of a cluster's ConfigMaps. Only the fields that a join uses are checked. */
#include "join/configuration/cluster_config.h"
#include "base/yaml.h"

/* kubeadm's default Service subnet (v1beta4: DefaultServicesSubnet). */
#define SERVICE_SUBNET "10.96.0.0/12"

/* ---- YAML documents ---- */

static const struct yaml_field cluster_fields[] = {
    {"networking.serviceSubnet", YAML_FIELD_TEXT, 0, NULL},
    {"networking.podSubnet", YAML_FIELD_TEXT, 0, NULL},
    {"networking.dnsDomain", YAML_FIELD_TEXT, 0, NULL},
    {"kubernetesVersion", YAML_FIELD_TEXT, 0, NULL},
    {"clusterName", YAML_FIELD_TEXT, 0, NULL},
    {"controlPlaneEndpoint", YAML_FIELD_TEXT, 0, NULL},
    {"imageRepository", YAML_FIELD_TEXT, 0, NULL},
    {0},
};
static const struct yaml_field kubelet_fields[] = {
    {"clusterDNS", YAML_FIELD_TEXTS, 0, NULL},   {"clusterDomain", YAML_FIELD_TEXT, 0, NULL},
    {"staticPodPath", YAML_FIELD_TEXT, 0, NULL}, {"healthzBindAddress", YAML_FIELD_TEXT, 0, NULL},
    {"healthzPort", YAML_FIELD_NUMBER, 0, NULL}, {0},
};

/* The apiVersions of each kind of document that winjoin reads, newest first, and the fields that
 * are checked. */
static const struct kind {
    const char *kind;
    const char *versions[2];
    const struct yaml_field *fields;
} kinds[] = {
    {"ClusterConfiguration", {"kubeadm.k8s.io/v1beta4", "kubeadm.k8s.io/v1beta3"}, cluster_fields},
    {"KubeletConfiguration", {"kubelet.config.k8s.io/v1beta1"}, kubelet_fields},
};

int cluster_document_read(const char *text, const char *what, enum cluster_document wanted,
                          json_t **ret, struct error *err) {
    _cleanup_(yaml_forget) struct yaml yaml = {0};
    const struct kind *kind = &kinds[wanted];
    const char *version;
    json_t *found = NULL;

    if (yaml_read(text, strlen(text), what, &yaml, err) < 0)
        return -1;
    json_each(yaml.documents, i, document) {
        if (!text_equal(json_text_at(document, "kind"), kind->kind))
            continue;
        if (found)
            return error_set(err, ERROR_MALFORMED, "%s: line %zu: kind \"%s\" is specified twice",
                             what, yaml_place(&yaml, document, "")->line, kind->kind);
        found = document;
    }
    if (!found)
        return error_set(err, ERROR_MALFORMED, "%s: it contains no %s", what, kind->kind);

    version = json_text_at(found, "apiVersion");
    if (!text_equal(version, kind->versions[0]) &&
        !(kind->versions[1] && text_equal(version, kind->versions[1])))
        return error_set(err, ERROR_UNSUPPORTED, "%s: apiVersion \"%.100s\" is not %s", what,
                         version ? version : "", kind->versions[0]);
    if (yaml_schema_check_known(&yaml, found, kind->fields, err) < 0)
        return error_as(err, ERROR_MALFORMED);
    *ret = json_incref(found);
    return 0;
}

/* ---- ClusterConfiguration ---- */

/* Reads a comma-separated list of prefixes; each must parse. */
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

/* Returns an argument of the controller manager (extraArgs is a map in v1beta3, a list in v1beta4);
 * NULL when not given. */
static const char *argument(const json_t *root, const char *name) {
    const json_t *args = json_object_get(json_object_get(root, "controllerManager"), "extraArgs");
    const char *value = json_string_value(json_object_get(args, name));

    json_each(args, i, item)
        if (text_equal(json_text_at(item, "name"), name))
            value = json_text_at(item, "value");
    return value;
}

int cluster_config_parse(const char *yaml, const char *what, struct cluster_config *ret,
                         struct error *err) {
    static const char *const mask_names[] = {"node-cidr-mask-size-ipv4",
                                             "node-cidr-mask-size-ipv6"};
    static const unsigned mask_usual[] = {24, 64}, mask_most[] = {32, 128};
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:/-[]";
    _cleanup_json_ json_t *root = NULL;
    _cleanup_(cluster_config_free) struct cluster_config c = {0};
    const char *repository, *assigns, *name, *domain;
    long long mask;

    if (cluster_document_read(yaml, what, CLUSTER_DOCUMENT, &root, err) < 0 ||
        read_subnets(root, what, "networking.podSubnet", "", &c.pod_subnets, err) < 0 ||
        read_subnets(root, what, "networking.serviceSubnet", SERVICE_SUBNET, &c.service_subnets,
                     err) < 0)
        return -1;

    /* The repository becomes a part of containerd's configuration, so its characters are checked.
     * k8s.gcr.io, the registry of old clusters, has no new images: it counts as upstream's
     * registry. */
    repository = json_text_or(root, "imageRepository", "");
    if (repository[strspn(repository, letters)])
        return error_set(err, ERROR_MALFORMED, "%s: imageRepository: '%.100s' is not a registry",
                         what, repository);
    if (*repository && !text_equal(repository, "registry.k8s.io") &&
        !text_equal(repository, "k8s.gcr.io"))
        c.image_repository = xstrdup(repository);

    /* kubeadm lets the controller manager give Nodes prefixes when there is a podSubnet, unless the
     * argument says otherwise. */
    assigns = argument(root, "allocate-node-cidrs");
    c.assigns_pod_prefixes =
        assigns ? text_equal(assigns, "true") : *json_text_or(root, "networking.podSubnet", "");
    /* The size of each Node's prefix, as in cmd/kube-controller-manager/app/core.go: the argument
     * of the family, else the common argument, else 24 for IPv4 and 64 for IPv6. */
    for (size_t i = 0; i < ARRAY_SIZE(mask_names); i++) {
        const char *own = argument(root, mask_names[i]);
        const char *size = own ? own : argument(root, "node-cidr-mask-size");

        c.node_masks[i] = size && text_to_number(size, 1, mask_most[i], &mask) == 0 ? (unsigned)mask
                                                                                    : mask_usual[i];
    }
    c.has_endpoint = *json_text_or(root, "controlPlaneEndpoint", "");
    name = json_text_or(root, "clusterName", "");
    domain = json_text_or(root, "networking.dnsDomain", "");
    c.name = xstrdup(*name ? name : "kubernetes");
    c.kubernetes_version = xstrdup(json_text_or(root, "kubernetesVersion", ""));
    c.dns_domain = xstrdup(*domain ? domain : "cluster.local");
    *ret = take_struct(c);
    return 0;
}
