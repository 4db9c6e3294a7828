/* Makes kubeconfig files in the form in which clientcmd writes them. */
#include "base/base64.h"
#include "base/yaml.h"
#include "kube/kubeconfig.h"

static void add_data(json_t *object, const char *key, const char *value) {
    _cleanup_(secret_freep) char *data = value ? base64_encode(value, strlen(value)) : NULL;

    json_set_text(object, key, data);
}

static json_t *cluster_json(const char *server, const char *ca_pem) {
    json_t *cluster = json_object();

    json_set_text(cluster, "server", server);
    add_data(cluster, "certificate-authority-data", ca_pem);
    return cluster;
}

/* Returns a kubeconfig with one cluster, one user and the context that combines them. Takes
 * ownership of `cluster`, `context` and `user`. */
static char *write_config(const char *cluster_name, json_t *cluster, const char *context_name,
                          json_t *context, const char *user_name, json_t *user) {
    _cleanup_json_ json_t *config = NULL;

    json_object_set_new(context, "cluster", json_string(cluster_name));
    json_object_set_new(context, "user", json_string(user_name));
    config = json_pack("{s:s, s:s, s:s, s:[{s:s, s:o}], s:[{s:s, s:o}], s:[{s:s, s:o}]}",
                       "apiVersion", "v1", "kind", "Config", "current-context", context_name,
                       "clusters", "name", cluster_name, "cluster", cluster, "contexts", "name",
                       context_name, "context", context, "users", "name", user_name, "user", user);
    return yaml_write(config);
}

char *kubeconfig_make_bootstrap(const char *cluster_name, const char *server, const char *ca_pem,
                                const char *token) {
    return write_config(cluster_name, cluster_json(server, ca_pem),
                        "tls-bootstrap-token-user@kubernetes", json_object(),
                        "tls-bootstrap-token-user", json_pack("{s:s}", "token", token));
}

char *kubeconfig_make_kubelet(const char *server, const char *ca_pem,
                              const char *certificate_path) {
    return write_config("default-cluster", cluster_json(server, ca_pem), "default-context",
                        json_pack("{s:s}", "namespace", "default"), "default-auth",
                        json_pack("{s:s, s:s}", "client-certificate", certificate_path,
                                  "client-key", certificate_path));
}

char *kubeconfig_make_client(const char *server, const char *ca_pem, const char *user,
                             const char *certificate_path) {
    return write_config("default", cluster_json(server, ca_pem), "default", json_object(), user,
                        json_pack("{s:s, s:s}", "client-certificate", certificate_path,
                                  "client-key", certificate_path));
}

char *kubeconfig_make(const struct kubeconfig *config) {
    json_t *cluster = cluster_json(config->server, config->ca_pem), *user = json_object();

    json_set_text(cluster, "tls-server-name", config->tls_server_name);
    json_set_text(cluster, "proxy-url", config->proxy_url);
    if (config->insecure_skip_tls_verify)
        json_object_set_new(cluster, "insecure-skip-tls-verify", json_true());
    json_set_text(user, "token", config->token);
    json_set_text(user, "username", config->username);
    json_set_text(user, "password", config->password);
    add_data(user, "client-certificate-data", config->client_cert_pem);
    add_data(user, "client-key-data", config->client_key_pem);
    return write_config(config->cluster_name, cluster, "default", json_object(),
                        config->user_name ? config->user_name : "", user);
}
