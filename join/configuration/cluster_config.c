/* Reads what a join must know of its cluster from the cluster's ConfigMaps. cluster_config_parse.c
 * parses their texts. */
#include "join/configuration/cluster_config.h"

#include "base/text.h"
#include "join/configuration/join_configuration.h"
#include "kube/object.h"
#include "services/version.h"

static const struct distribution {
    const char *mark, *hint;
} distributions[] = {
    {"+rke2", "this is RKE2, whose own agent joins Windows nodes: "
              "https://docs.rke2.io/install/quickstart"},
    {"+k0s", "this is k0s, whose own worker joins Windows nodes: "
             "https://docs.k0sproject.io/stable/experimental-windows/"},
    {"+k3s", "this is k3s, which has no Windows nodes: they need a cluster by kubeadm or RKE2"},
    {"-eks-", "this is EKS, whose own images join Windows nodes: "
              "https://docs.aws.amazon.com/eks/latest/userguide/windows-support.html"},
    {"-gke.", "this is GKE, whose own node pools have Windows: "
              "https://cloud.google.com/kubernetes-engine/docs/how-to/creating-a-cluster-windows"},
};

const char *distribution_hint(const char *version) {
    for (size_t i = 0; version && i < ARRAY_SIZE(distributions); i++)
        if (strstr(version, distributions[i].mark))
            return distributions[i].hint;
    return NULL;
}

enum { CALL_MS = 60000, DNS_INDEX = 10, DNS_PORT = 53, HTTP_UNAUTHORIZED = 401 };

void cluster_config_free(struct cluster_config *c) {
    free_all(c->name, c->kubernetes_version, c->image_repository, c->server_version, c->local_dns);
    text_list_free(&c->pod_subnets);
    text_list_free(&c->service_subnets);
    free_all(c->dns_domain, c->dns_namespace, c->searched);
    text_list_free(&c->cluster_dns);
    json_decref(c->kubelet);
    agent_settings_free(&c->network);
    json_decref(c->winjoin);
    text_list_free(&c->warnings);
    *c = (struct cluster_config){0};
}

/* The place of a text: a ConfigMap and a key in its data. */
struct source {
    const char *name_space, *name, *key;
};

/* Stores the value of the source's key in *ret, which the caller frees. Fails with ERROR_MALFORMED
 * for a ConfigMap without the key, as kubeadm does for each of its three ConfigMaps. */
static int configmap_value(const json_t *map, const struct source *source, char **ret,
                           struct error *err) {
    const char *value = json_string_value(json_object_get(json_at(map, "data"), source->key));

    if (!value) {
        (void)error_set(err, ERROR_MALFORMED,
                        "unexpected error when reading %s ConfigMap in namespace \"%s\": %s key "
                        "value pair missing",
                        source->name, source->name_space, source->key);
        return error_hint(err, "on a control plane node, kubeadm init phase upload-config all "
                               "--config FILE writes it; FILE has the cluster's own settings");
    }
    *ret = xstrdup(value);
    return 0;
}

static int read_value(struct kube_client *client, unsigned timeout_ms, const struct source *source,
                      char **ret, struct error *err) {
    _cleanup_json_ json_t *map = NULL;

    return kube_configmap_get(client, source->name_space, source->name, timeout_ms, &map, err) < 0
               ? -1
               : configmap_value(map, source, ret, err);
}

/* ---- ConfigMaps that must exist ---- */

static const struct source kubeadm_config = {"kube-system", "kubeadm-config",
                                             "ClusterConfiguration"};
static const struct source kubelet_config = {"kube-system", "kubelet-config", "kubelet"};

/* Sets the error when one of the two required ConfigMaps could not be read (`why`). The error also
 * says whether the other one can be read (`other`; NULL when not asked), and who writes both: a
 * cluster that kubeadm did not make lacks both, and one run must say so. */
static int tell_missing(struct kube_client *client, unsigned timeout_ms, const struct source *other,
                        const struct error *why, struct error *err) {
    struct error also = {0};
    _cleanup_(freep) char *text = NULL;
    _cleanup_json_ json_t *version = NULL;
    const char *hint;
    bool denied = false, unread = false;

    if (kube_forgive(why, &denied, err) < 0)
        return -1;
    (void)kube_get_retry(client, "/version", timeout_ms, &version, ERROR_IGNORED);
    if (other && read_value(client, timeout_ms, other, &text, &also) < 0)
        unread = kube_forgive(&also, &denied, NULL) == 0;
    (void)error_set(err, why->kind, "%s%s%s%s", why->message, unread ? "; " : "",
                    unread ? other->name : "",
                    !unread                     ? ""
                    : also.kind == ERROR_ABSENT ? " is not there, either"
                                                : " may not be read, either");
    if (err)
        err->os = why->os;
    if (why->os == HTTP_UNAUTHORIZED)
        return error_hint(err, "the API server does not know who asks: the token or certificate "
                               "has expired, the token may only sign (it lacks the usage "
                               "authentication), or kube-apiserver runs without "
                               "--enable-bootstrap-token-auth");
    if (denied)
        (void)error_hint(err, TOKEN_GROUP_HINT);
    hint = distribution_hint(json_text_at(version, "gitVersion"));
    if (hint)
        return error_hint(err, "%s", hint);
    (void)error_hint(err, "on a control plane node, kubeadm init phase upload-config all --config "
                          "FILE writes both ConfigMaps and the rights to read them; FILE has the "
                          "cluster's own settings");
    return error_hint(err, NOT_BY_KUBEADM_HINT);
}

static int read_kubelet(struct kube_client *client, unsigned timeout_ms, struct cluster_config *ret,
                        struct error *err) {
    struct source source = kubelet_config;
    _cleanup_(freep) char *text = NULL, *old_name = NULL, *what = NULL;
    const char *version = ret->kubernetes_version + (*ret->kubernetes_version == 'v');
    const char *dot = strchr(version, '.');
    size_t len = dot ? (size_t)(dot - version) + 1 + strcspn(dot + 1, ".-+") : strlen(version);
    struct error why = {0};
    bool denied = false;

    if (read_value(client, timeout_ms, &source, &text, &why) < 0) {
        /* Up to Kubernetes 1.23, the ConfigMap has the minor version in its name. */
        if (kube_forgive(&why, &denied, NULL) == 0) {
            old_name = xasprintf("kubelet-config-%.*s", (int)len, version);
            source.name = old_name;
        }
        /* When the old name is absent, too, the first error is reported, because it says more. */
        if (!old_name || read_value(client, timeout_ms, &source, &text, NULL) < 0)
            return tell_missing(client, timeout_ms, NULL, &why, err);
    }
    what = xasprintf("ConfigMap kube-system/%s, key kubelet", source.name);
    return cluster_document_read(text, what, KUBELET_DOCUMENT, &ret->kubelet, err);
}

/* ---- ConfigMaps that may be absent ---- */

/* Reads the settings of the network agents, and takes the Pod prefixes from them when kubeadm init
 * ran without --pod-network-cidr. */
static int read_network(struct kube_client *client, unsigned timeout_ms, struct cluster_config *ret,
                        struct error *err) {
    struct agent_settings *network = &ret->network;
    bool none = !ret->pod_subnets.count;

    ret->network_unread = ret->unprepared;
    if (!ret->unprepared &&
        cluster_network_read(client, timeout_ms, network, &ret->network_unread, err) < 0)
        return -1;
    /* No known agent was found. Use the unknown network that an administrator found earlier with
     * cluster_network_search() and wrote to ConfigMap winjoin. */
    if (ret->searched && *ret->searched && !network->agent && !network->linux_agent) {
        network->linux_agent = &linux_agent_unknown;
        network->linux_set = xstrdup(ret->searched);
    }
    for (size_t i = 0; none && i < network->pod_cidrs.count; i++)
        text_list_add(&ret->pod_subnets, network->pod_cidrs.items[i]);
    return 0;
}

/* Reads ConfigMap kube-system/winjoin. It may be absent, or the API server may refuse it. */
static int read_winjoin(struct kube_client *client, unsigned timeout_ms, struct cluster_config *ret,
                        struct error *err) {
    static const struct source source = {"kube-system", "winjoin", "NodeConfiguration"};
    static const char what[] = "ConfigMap kube-system/winjoin, key NodeConfiguration";
    _cleanup_(freep) char *text = NULL;
    _cleanup_json_ json_t *map = NULL;
    struct error why = {0};

    /* Without this right, the API server answers 403 also when the ConfigMap is absent. */
    if (kube_configmap_get(client, source.name_space, source.name, timeout_ms, &map, &why) < 0)
        return kube_forgive(&why, &ret->unprepared, err);
    ret->searched = xstrdup_null(json_text_at(map, "data." CLUSTER_MANIFEST_NETWORK));
    ret->dns_namespace = xstrdup_null(json_text_at(map, "data." CLUSTER_MANIFEST_DNS));
    if (configmap_value(map, &source, &text, err) < 0 || !*text)
        return text ? 0 : -1;
    return node_configuration_read(text, strlen(text), what, &ret->winjoin, err) < 0
               ? -1
               : node_configuration_check_cluster(ret->winjoin, what, err);
}

/* ---- the DNS Service for pods ---- */

static const char *dns_namespace(const struct cluster_config *c) {
    return c->dns_namespace ? c->dns_namespace : "kube-system";
}

/* Returns the addresses (IPv4 first; a headless Service has none) of the first Service with this
 * label that serves DNS. When `wanted` is not NULL, takes the Service with that address.
 * *name_space is the namespace to search. When it is NULL, all are searched, and it is set to the
 * Service's namespace. */
static int list_dns(struct kube_client *client, unsigned timeout_ms, char **name_space,
                    const char *label, const char *wanted, struct text_list *ret,
                    struct error *err) {
    _cleanup_(freep) char *path = xasprintf(
        "/api/v1%s%s/services%s%s", *name_space ? "/namespaces/" : "",
        *name_space ? *name_space : "", label ? "?labelSelector=" : "", label ? label : "");
    _cleanup_json_ json_t *list = NULL;
    json_t *items = NULL;
    struct error why = {0};
    bool denied = false;

    if (kube_get_retry(client, path, timeout_ms, &list, &why) < 0)
        return kube_forgive(&why, &denied, err);
    if (kube_list_items(list, &items, err) < 0)
        return error_prefix(err, "list Services");
    json_each(items, i, service) {
        _cleanup_(text_list_free) struct text_list given = {0}, addresses = {0};
        bool serves_dns = false;
        struct ip ip;

        json_each(json_at(service, "spec.ports"), p, port)
            serves_dns |= json_number_at(port, "port", 0) == DNS_PORT;
        json_read_texts(json_at(service, "spec.clusterIPs"), &given);
        if (!given.count)
            text_list_add(&given, json_text_or(service, "spec.clusterIP", ""));
        for (int family = 4; family <= 6; family += 2)
            for (size_t a = 0; a < given.count; a++)
                if (ip_parse(given.items[a], &ip, NULL) == 0 && ip.family == family)
                    text_list_add(&addresses, given.items[a]);
        if (ret->count || !serves_dns || (wanted && !text_list_has(&addresses, wanted)))
            continue;
        *ret = take_struct(addresses);
        if (ret->count)
            text_set(name_space, xstrdup_null(json_text_at(service, "metadata.namespace")));
    }
    return 0;
}

/* NodeLocal DNS listens on an address that exists on Linux nodes only, so a Windows node needs the
 * addresses of the DNS Service. The Service is searched in its namespace by the label of kubeadm's
 * manifest, then by port 53. Then it is searched in all namespaces, which administrators may read,
 * by the label of CoreDNS' Helm chart. */
static int replace_local_dns(struct kube_client *client, unsigned timeout_ms,
                             struct cluster_config *c, struct error *err) {
    static const char *const labels[] = {"k8s-app%3Dkube-dns", NULL,
                                         "kubernetes.io%2Fcluster-service%3Dtrue"};
    _cleanup_(text_list_free) struct text_list given = take_struct(c->cluster_dns);
    struct ip ip;

    for (size_t i = 0; i < given.count; i++) {
        const char *address = given.items[i];

        if (ip_parse(address, &ip, NULL) < 0)
            /* Kubelets also ignore a value that is no address. */
            continue;
        if (!ip_is_link_local(&ip) && !ip_is_loopback(&ip))
            text_list_add(&c->cluster_dns, address);
        else if (!c->local_dns)
            c->local_dns = xstrdup(address);
    }
    if (!c->local_dns || c->cluster_dns.count)
        return 0;

    for (size_t i = 0; i < ARRAY_SIZE(labels) && !c->cluster_dns.count; i++) {
        _cleanup_(freep) char *place = i < 2 ? xstrdup(dns_namespace(c)) : NULL;

        if (list_dns(client, timeout_ms, &place, labels[i], NULL, &c->cluster_dns, err) < 0)
            return -1;
        if (c->cluster_dns.count)
            text_set(&c->dns_namespace, take_ptr(place));
    }
    if (c->cluster_dns.count)
        return 0;
    (void)error_set(err, ERROR_UNSUPPORTED,
                    "clusterDNS %s is the address of a DNS cache on each Linux node; the address "
                    "of the cluster's DNS Service, which pods on Windows must ask, is not found",
                    c->local_dns);
    (void)error_hint(err, "an administrator lets nodes read Services: winjoin config cluster "
                          "--kubeconfig admin.conf | kubectl apply -f -");
    return error_hint(err,
                      "its Service is looked for in namespace %s, by the label k8s-app=kube-dns or "
                      "port 53; in another one by the label kubernetes.io/cluster-service=true: "
                      "kubectl get services -A --show-labels",
                      dns_namespace(c));
}

static bool has_ipv4(const struct text_list *list) {
    for (size_t i = 0; i < list->count; i++)
        if (!strchr(list->items[i], ':'))
            return true;
    return false;
}

/* Takes the DNS addresses that the kubelets of other nodes use. If there are none, takes the tenth
 * address of the Service subnet, as kubeadm computes it. */
static int settle_dns(struct kube_client *client, unsigned timeout_ms, struct cluster_config *c,
                      struct error *err) {
    _cleanup_(text_list_free) struct text_list found = {0};
    _cleanup_(freep) char *place = NULL;
    /* The first clusterDNS value when none is an address; kubelets ignore it. */
    const char *odd;
    struct cidr cidr;
    struct ip ip;

    json_read_texts(json_object_get(c->kubelet, "clusterDNS"), &c->cluster_dns);
    if (replace_local_dns(client, timeout_ms, c, err) < 0)
        return -1;
    /* A dual-stack cluster with IPv6 first gives only the IPv6 address of its DNS Service, which
     * Pods of an overlay on Windows cannot reach. The IPv4 address of the same Service is used. */
    if (c->cluster_dns.count && !has_ipv4(&c->cluster_dns) && has_ipv4(&c->service_subnets)) {
        place = xstrdup(dns_namespace(c));
        if (list_dns(client, timeout_ms, &place, NULL, c->cluster_dns.items[0], &found, err) < 0)
            return -1;
    }
    if (has_ipv4(&found)) {
        text_set(&c->local_dns, xstrdup(c->cluster_dns.items[0]));
        text_list_free(&c->cluster_dns);
        c->cluster_dns = take_struct(found);
    }
    if (!c->cluster_dns.count && c->service_subnets.count &&
        cidr_parse(c->service_subnets.items[0], &cidr, NULL) == 0 &&
        cidr_address(&cidr, DNS_INDEX, &ip, NULL) == 0) {
        text_list_add(&c->cluster_dns, IP_TEXT(&ip));
        odd = json_string_value(json_array_get(json_object_get(c->kubelet, "clusterDNS"), 0));
        text_set(&c->local_dns, xstrdup_null(odd));
    }
    return 0;
}

/* ---- all ConfigMaps together ---- */

int cluster_config_read(struct kube_client *client, unsigned timeout_ms, const json_t *known,
                        struct cluster_config *ret, struct error *err) {
    _cleanup_(cluster_config_free) struct cluster_config config = {0};
    static const char what[] = "ConfigMap kube-system/kubeadm-config, key ClusterConfiguration";
    _cleanup_(freep) char *text = NULL;
    _cleanup_json_ json_t *version = NULL;
    unsigned call_ms = timeout_ms ? timeout_ms : CALL_MS, minor;
    bool is_version, denied = false;
    struct error why = {0};

    if (known && kube_object_check(known, "ConfigMap", "v1", ERROR_IGNORED) == 0
            ? configmap_value(known, &kubeadm_config, &text, &why) < 0
            : read_value(client, call_ms, &kubeadm_config, &text, &why) < 0)
        return tell_missing(client, call_ms, &kubelet_config, &why, err);
    if (cluster_config_parse(text, what, &config, err) < 0)
        return -1;
    is_version =
        kubernetes_minor(config.kubernetes_version, "the cluster", &minor, ERROR_IGNORED) == 0;

    /* Ask the API server for its version. While several servers are upgraded, it can differ from
     * ClusterConfiguration, which kubeadm writes after the first one. Without a common endpoint
     * there is only one server. */
    if (config.has_endpoint || !is_version) {
        if (kube_get_retry(client, "/version", call_ms, &version, &why) < 0 &&
            kube_forgive(&why, &denied, err) < 0)
            return -1;
        config.server_version = xstrdup_null(json_text_at(version, "gitVersion"));
    }
    if (read_kubelet(client, call_ms, &config, err) < 0 ||
        read_winjoin(client, call_ms, &config, err) < 0 ||
        read_network(client, call_ms, &config, err) < 0)
        return -1;

    /* A label of kubeadm's ("stable-1.37") is no version, so the version of the server is used. */
    if (!is_version) {
        if (!config.server_version ||
            kubernetes_minor(config.server_version, "the cluster", &minor, NULL) < 0)
            return error_set(err, ERROR_MALFORMED,
                             "%s: kubernetesVersion \"%.100s\" is not a version like v1.37.1", what,
                             config.kubernetes_version);
        text_list_add_owned(&config.warnings,
                            xasprintf("kubernetesVersion \"%s\" of ClusterConfiguration "
                                      "is not a version: using the server's %s",
                                      config.kubernetes_version, config.server_version));
        text_set(&config.kubernetes_version, xstrdup(config.server_version));
    }
    if (settle_dns(client, call_ms, &config, err) < 0)
        return -1;
    *ret = take_struct(config);
    return 0;
}
