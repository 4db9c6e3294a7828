/* What a join must know of its cluster: reads the ConfigMaps. Their texts: cluster_config_parse.c.
 */
#include "join/configuration/cluster_config.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/yaml.h"
#include "join/configuration/cluster_schema.h"
#include "join/configuration/node_configuration.h"
#include "kube/configmap.h"
#include "services/version.h"

enum { CALL_MS = 60000, DNS_INDEX = 10 };

#define DIGITS "0123456789"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

void cluster_config_free(struct cluster_config *c) {
    free(c->name);
    free(c->kubernetes_version);
    free(c->server_version);
    free(c->control_plane_endpoint);
    free(c->image_repository);
    text_list_free(&c->pod_subnets);
    text_list_free(&c->service_subnets);
    free(c->dns_domain);
    text_list_free(&c->cluster_dns);
    json_decref(c->kubelet);
    json_decref(c->kube_proxy);
    cluster_flannel_free(&c->flannel);
    json_decref(c->winjoin);
    text_list_free(&c->warnings);
    text_list_free(&c->unknown_fields);
    *c = (struct cluster_config){0};
}

/* Where a text comes from, and who may lack it. */
struct source {
    const char *name_space, *name, *key;
};

/* One ConfigMap's value. *ret is owned. A ConfigMap that is there without the key is malformed
 * (kubeadm: fatal for each of its three). */
static int read_value(struct kube_client *client, unsigned timeout_ms, const struct source *source,
                      char **ret, struct error *err) {
    _cleanup_json_ json_t *map = NULL;
    const json_t *data;
    const char *value;

    if (kube_configmap_get(client, source->name_space, source->name, timeout_ms, &map, err) < 0)
        return -1;
    data = json_at(map, "data");
    value = json_string_value(json_object_get(data, source->key));
    if (!value)
        return error_set(err, ERROR_MALFORMED,
                         "unexpected error when reading %s ConfigMap in namespace \"%s\": %s key "
                         "value pair missing",
                         source->name, source->name_space, source->key);
    *ret = xstrdup(value);
    return 0;
}

static bool is_tolerable(const struct error *why) {
    return kube_is_forbidden(why) || why->kind == ERROR_ABSENT;
}

/* "ConfigMap kube-system/kubelet-config, key kubelet"; the caller frees. */
static char *what_of(const struct source *source) {
    return xasprintf("ConfigMap %s/%s, key %s", source->name_space, source->name, source->key);
}

/* The one document of a kind; others beside it are other programs'. What it has beyond `fields` is
 * told: kubeadm warns of it, too (strict.VerifyUnmarshalStrict). */
static int read_document(const char *text, const struct source *source, const char *kind,
                         const char *api_version, const struct yaml_field *fields,
                         struct text_list *told, json_t **ret, struct error *err) {
    _cleanup_(yaml_documents_freep) struct yaml_documents *documents = NULL;
    _cleanup_(text_list_free) struct text_list unknown = {0};
    _cleanup_(freep) char *what = what_of(source);
    const struct yaml_node *found;

    if (cluster_component_find(text, what, kind, &documents, err) < 0)
        return -1;
    found = yaml_document(documents, 0);
    if (!text_equal(yaml_text_at(found, "apiVersion"), api_version))
        return error_set(err, ERROR_UNSUPPORTED, "%s: apiVersion \"%s\" is not %s", what,
                         yaml_text_at(found, "apiVersion"), api_version);
    if (yaml_schema_check_known(found, fields, what, &unknown, err) < 0) {
        if (err)
            err->kind = ERROR_MALFORMED;
        return -1;
    }
    for (size_t i = 0; i < unknown.count; i++)
        text_list_add_owned(told, xasprintf("%s: unknown field %s", what, unknown.items[i]));
    *ret = yaml_to_json(found);
    return 0;
}

/* ---- what must be there ---- */

static const char groups_hint[] =
    "the token needs the group system:bootstrappers:kubeadm:default-node-token: kubeadm token "
    "create gives it by default";

static int read_cluster(struct kube_client *client, unsigned timeout_ms, struct cluster_config *ret,
                        struct error *err) {
    static const struct source source = {"kube-system", "kubeadm-config", "ClusterConfiguration"};
    _cleanup_(freep) char *text = NULL, *what = what_of(&source);

    if (read_value(client, timeout_ms, &source, &text, err) < 0) {
        if (err && kube_is_forbidden(err))
            (void)error_hint(err, "%s", groups_hint);
        return -1;
    }
    return cluster_config_parse(text, what, ret, err);
}

/* "v1.23.4" to "kubelet-config-1.23"; the caller frees. */
static char *versioned_name(const char *version) {
    const char *first = version + (*version == 'v');
    const char *dot = strchr(first, '.');
    size_t len = dot ? (size_t)(dot - first) + 1 + strcspn(dot + 1, ".-+") : strlen(first);

    return xasprintf("kubelet-config-%.*s", (int)len, first);
}

static int read_kubelet(struct kube_client *client, unsigned timeout_ms, struct cluster_config *ret,
                        struct error *err) {
    struct source source = {"kube-system", "kubelet-config", "kubelet"};
    _cleanup_(freep) char *text = NULL, *old_name = NULL;
    struct error why = {0};

    if (read_value(client, timeout_ms, &source, &text, &why) < 0) {
        if (is_tolerable(&why)) { /* the name of clusters up to 1.23 */
            old_name = versioned_name(ret->kubernetes_version);
            source.name = old_name;
        }
        /* the first error tells more when that is absent too */
        if (!old_name || read_value(client, timeout_ms, &source, &text, NULL) < 0) {
            if (kube_is_forbidden(&why))
                (void)error_hint(&why, "%s", groups_hint);
            if (err)
                *err = why;
            return -1;
        }
    }
    return read_document(text, &source, "KubeletConfiguration", "kubelet.config.k8s.io/v1beta1",
                         kubelet_configuration_fields(), &ret->unknown_fields, &ret->kubelet, err);
}

/* ---- what may be there ---- */

/* 0 with *ret NULL when it is absent or refused. */
static int read_optional(struct kube_client *client, unsigned timeout_ms,
                         const struct source *source, char **ret, struct text_list *warnings,
                         struct error *err) {
    struct error why = {0};

    if (read_value(client, timeout_ms, source, ret, &why) == 0)
        return 0;
    if (is_tolerable(&why)) {
        if (why.kind == ERROR_DENIED && warnings)
            text_list_add(warnings, why.message);
        return 0;
    }
    if (err)
        *err = why;
    return -1;
}

/* An empty text is no configuration (kubeadm: the same). */
static int read_kube_proxy(struct kube_client *client, unsigned timeout_ms,
                           struct cluster_config *ret, struct error *err) {
    static const struct source source = {"kube-system", "kube-proxy", "config.conf"};
    _cleanup_(freep) char *text = NULL;

    if (read_optional(client, timeout_ms, &source, &text, &ret->warnings, err) < 0)
        return -1;
    return text && *text ? read_document(text, &source, "KubeProxyConfiguration",
                                         "kubeproxy.config.k8s.io/v1alpha1",
                                         kube_proxy_configuration_fields(), &ret->unknown_fields,
                                         &ret->kube_proxy, err)
                         : 0;
}

static int read_flannel(struct kube_client *client, unsigned timeout_ms, struct cluster_config *ret,
                        struct error *err) {
    static const struct source sources[] = {{"kube-flannel", "kube-flannel-cfg", "net-conf.json"},
                                            {"kube-system", "kube-flannel-cfg", "net-conf.json"}};

    for (size_t i = 0; i < ARRAY_SIZE(sources) && !ret->unprepared; i++) {
        _cleanup_(freep) char *text = NULL;

        /* most bootstrap tokens may not read it: no news */
        if (read_optional(client, timeout_ms, &sources[i], &text, NULL, err) < 0)
            return -1;
        if (!text || !*text)
            continue;
        if (cluster_flannel_parse(text, &ret->flannel, err) < 0)
            return error_prefix(err, "ConfigMap %s/kube-flannel-cfg", sources[i].name_space);
        ret->flannel.name_space = xstrdup(sources[i].name_space);
        return 0;
    }
    return 0;
}

static int read_winjoin(struct kube_client *client, unsigned timeout_ms, struct cluster_config *ret,
                        struct error *err) {
    static const struct source source = {"kube-system", "winjoin", "NodeConfiguration"};
    _cleanup_(freep) char *text = NULL, *what = what_of(&source);
    struct text_list denied = {0};

    if (read_optional(client, timeout_ms, &source, &text, &denied, err) < 0)
        return -1;
    ret->unprepared = denied.count > 0; /* a stranger to RBAC is told 403 of what is absent, too */
    text_list_free(&denied);
    return text && *text ? node_configuration_read(text, strlen(text), what, &ret->winjoin, err)
                         : 0;
}

/* The server that answers, which in the midst of an upgrade is not what ClusterConfiguration says.
 */
static int read_server_version(struct kube_client *client, unsigned timeout_ms,
                               struct cluster_config *ret, struct error *err) {
    _cleanup_json_ json_t *version = NULL;
    struct error why = {0};

    if (kube_get_retry(client, "/version", timeout_ms, &version, &why) == 0) {
        ret->server_version = xstrdup_null(json_text_at(version, "gitVersion"));
        return 0;
    }
    if (is_tolerable(&why))
        return 0;
    if (err)
        *err = why;
    return -1;
}

/* ---- together ---- */

/* kubeadm's labels of a release ("stable-1.37", "ci/latest"); nothing at all is one, too. */
static bool is_label(const char *version) {
    static const char *const words[] = {"latest", "stable"};

    if (!*version)
        return true;
    version += text_starts_with(version, "ci/") ? strlen("ci/") : 0;
    version += text_starts_with(version, "release/") ? strlen("release/") : 0;
    for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
        const char *rest = version + strlen(words[i]);

        if (text_starts_with(version, words[i]))
            return !*rest || (*rest == '-' && rest[1] && !rest[1 + strspn(rest + 1, DIGITS ".")]);
    }
    return false;
}

/* kubeadm's form of a release: three numbers without zeros before, "-rc.0" or "+build" behind. */
static bool is_release(const char *version) {
    const char *p = version + (*version == 'v');

    for (int i = 0; i < 3; i++) {
        size_t digits = strspn(p, DIGITS);

        if (!digits || (*p == '0' && digits > 1) || (i < 2 && p[digits] != '.'))
            return false;
        p += digits + (i < 2);
    }
    return !*p || (strchr("-+", *p) && p[1] && !p[strspn(p, DIGITS LETTERS "-+._")]);
}

/* A label is replaced by the server's own version. */
static int settle_version(struct cluster_config *c, struct error *err) {
    unsigned minor;

    if (is_release(c->kubernetes_version) &&
        kubernetes_minor(c->kubernetes_version, "the cluster", &minor, NULL) == 0)
        return 0;
    if (!is_label(c->kubernetes_version) || !c->server_version ||
        kubernetes_minor(c->server_version, "the cluster", &minor, NULL) < 0)
        return error_set(err, ERROR_MALFORMED,
                         "ConfigMap kube-system/kubeadm-config, key ClusterConfiguration: "
                         "kubernetesVersion \"%.100s\" is no version like v1.37.1",
                         c->kubernetes_version);
    text_list_add_owned(&c->warnings,
                        xasprintf("kubernetesVersion \"%s\" of ClusterConfiguration is no version: "
                                  "the server's %s is taken",
                                  c->kubernetes_version, c->server_version));
    free(c->kubernetes_version);
    c->kubernetes_version = xstrdup(c->server_version);
    return 0;
}

/* What the kubelet of other nodes asks, else the tenth service address as kubeadm computes it. */
static void settle_dns(struct cluster_config *c) {
    const json_t *list = json_object_get(c->kubelet, "clusterDNS"), *item;
    char text[IP_TEXT_MAX];
    struct cidr cidr;
    struct ip ip;
    size_t i;

    json_array_foreach(list, i, item) {
        if (json_is_string(item))
            text_list_add(&c->cluster_dns, json_string_value(item));
    }
    if (c->cluster_dns.count || !c->service_subnets.count)
        return;
    if (cidr_parse(c->service_subnets.items[0], &cidr, NULL) < 0 ||
        cidr_address(&cidr, DNS_INDEX, &ip, NULL) < 0)
        return;
    ip_format(&ip, text);
    text_list_add(&c->cluster_dns, text);
}

int cluster_config_read(struct kube_client *client, unsigned timeout_ms, struct cluster_config *ret,
                        struct error *err) {
    typedef int reader(struct kube_client *, unsigned, struct cluster_config *, struct error *);
    static reader *const readers[] = {read_cluster,    read_server_version, read_kubelet,
                                      read_kube_proxy, read_winjoin,        read_flannel};
    struct cluster_config config = {0};

    for (size_t i = 0; i < ARRAY_SIZE(readers); i++) {
        if (readers[i](client, timeout_ms ? timeout_ms : CALL_MS, &config, err) < 0) {
            cluster_config_free(&config);
            return -1;
        }
    }
    if (settle_version(&config, err) < 0) {
        cluster_config_free(&config);
        return -1;
    }
    settle_dns(&config);
    *ret = config;
    return 0;
}
