/* Finds what phases need to know of the kubelet: its configuration, which is made once per run, and
 * paths and addresses from that configuration. */
#include "host/path.h"
#include "join/configuration/kubelet_arguments.h"
#include "join/found/need.h"
#include "join/kubelet/client_certificate.h"

enum { CONFIG_MAX = 4 * 1024 * 1024 };

char *join_ca_file(const struct join_options *options) {
    char *path = NULL;

    if (!options->ca_cert_path || path_normalize(options->ca_cert_path, &path, NULL) < 0)
        return xstrdup(KUBERNETES_CA_FILE);
    return path;
}

int find_kubelet_config(struct join *join, struct error *err) {
    struct join_found *found = &join->found;
    _cleanup_(freep) char *ca_file = NULL;
    struct kubelet_config_input input;

    if (found->kubelet_config)
        return 0;
    if (find_cluster(join, err) < 0)
        return -1;

    ca_file = join_ca_file(&found->options);
    input = (struct kubelet_config_input){
        .cluster = found->cluster.kubelet,
        .cluster_dns = &found->cluster.cluster_dns,
        .local_dns = found->cluster.local_dns,
        .dns_domain = found->cluster.dns_domain,
        .cri_socket = found->options.cri_socket,
        .ca_file = ca_file,
        .patches = &found->patches,
    };
    if (kubelet_config_make(&input, &found->kubelet_config, &found->kubelet_changes, err) < 0 ||
        kubelet_quantities_check(found->kubelet_config, &found->options.kubelet_extra_args, err) <
            0) {
        json_decref(found->kubelet_config);
        found->kubelet_config = NULL;
        kubelet_changes_free(&found->kubelet_changes);
        return -1;
    }
    for (size_t i = 0; i < found->kubelet_changes.warnings.count; i++)
        join_warn(&join->progress, "%s", found->kubelet_changes.warnings.items[i]);
    return 0;
}

int join_read_yaml(struct host *host, const char *path, json_t **ret, struct error *err) {
    _cleanup_(yaml_forget) struct yaml yaml = {0};
    _cleanup_(freep) char *text = NULL;
    size_t len;

    if (host_read(host, path, CONFIG_MAX, &text, &len, err) < 0 ||
        yaml_read(text, len, path, &yaml, err) < 0)
        return -1;
    if (json_array_size(yaml.documents) != 1)
        return error_set(err, ERROR_MALFORMED, "%s: %zu documents instead of one", path,
                         json_array_size(yaml.documents));
    *ret = json_incref(json_array_get(yaml.documents, 0));
    return 0;
}

/* Returns the kubelet's configuration of this run, otherwise the one that an earlier run wrote, as
 * a new reference; NULL when there is neither. */
static json_t *current_config(const struct join *join) {
    json_t *config = NULL;

    if (join->found.kubelet_config)
        return json_incref(join->found.kubelet_config);
    return join_read_yaml(join->host, KUBELET_CONFIG_FILE, &config, NULL) < 0 ? NULL : config;
}

char *join_manifest_folder(const struct join *join) {
    _cleanup_json_ json_t *config = current_config(join);
    const char *path = json_text_at(config, "staticPodPath");
    char *folder = NULL;

    if (!path || path_normalize(path, &folder, NULL) < 0)
        return xstrdup(KUBERNETES_MANIFESTS_FOLDER);
    return folder;
}

/* Returns the URL of the kubelet's health endpoint; NULL when the endpoint is off (port 0). When
 * the kubelet listens on a wildcard address, the URL has the loopback address. The caller frees the
 * URL. */
char *join_kubelet_health_url(const struct join *join) {
    _cleanup_json_ json_t *config = current_config(join);
    const char *address = json_text_at(config, "healthzBindAddress");
    long long port = json_number_at(config, "healthzPort", 10248);
    bool ipv6 = address && strchr(address, ':');

    if (port == 0)
        return NULL;
    if (!address || text_equal(address, "0.0.0.0"))
        address = "127.0.0.1";
    if (text_equal(address, "::"))
        address = "::1";
    return xasprintf("http://%s%s%s:%lld/healthz", ipv6 ? "[" : "", address, ipv6 ? "]" : "", port);
}

bool join_has_certificate(struct host *host, const struct join_found *found, struct error *why) {
    struct client_certificate_options options = {.node_name = found->node_name,
                                                 .ca_pem = found->client.ca_pem};
    _cleanup_(client_certificate_free) struct client_certificate certificate = {0};

    return client_certificate_load(host, &options, &certificate, why) == 0;
}

bool join_kubelet_bootstraps(struct host *host, const struct join_found *found) {
    return text_equal(found->options.tls_bootstrap, "kubelet") &&
           !join_has_certificate(host, found, NULL);
}
