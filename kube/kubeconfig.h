/* kubeconfig files: the cluster and credentials that one names, and the files winjoin writes. */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "host/host.h"

/* The cluster and user that a kubeconfig chooses. Text is owned; NULL = absent. */
struct kubeconfig {
    char *cluster_name; /* "" in cluster-info */
    char *server;
    char *ca_file;
    char *ca_pem; /* decoded certificate-authority-data, or what ca_file held */
    size_t ca_pem_len;
    char *tls_server_name;
    char *proxy_url;
    bool insecure_skip_tls_verify;
    char *user_name; /* NULL = no user */
    char *token;
    char *token_file;
    char *username;
    char *password;
    char *client_cert_file;
    char *client_cert_pem;
    char *client_key_file;
    char *client_key_pem;
    char *program;       /* "exec" or "auth-provider": which of them the user has */
    json_t *exec;        /* what it says of the program to run, as JSON; or NULL */
    char *impersonation; /* "as", "as-uid", "as-groups" or "as-user-extra": the first of them */
};

/* Reads one YAML or JSON kubeconfig. Cluster: the one named "" if there is one, else that of the
 * current context; User: current context -> user; a missing link is not a user. Nothing else in it
 * is looked at, unless it must be `whole`: then the current context, its cluster and user must be
 * there as in kubeconfig_read_file(), and name no files (ERROR_USAGE). ERROR_MALFORMED with line
 * and column. kubeconfig_free(). */
int kubeconfig_parse(const char *text, size_t len, const char *what, bool whole,
                     struct kubeconfig *ret, struct error *err);
/* Reads the file and the files that it names (relative ones lie beside it, "/x" on its drive) into
 * ca_pem, client_cert_pem, client_key_pem and token (taken verbatim). `context` (NULL: the current
 * one), its cluster and user must be there and be no contradiction (clientcmd's words, prefix
 * "invalid configuration: "). ERROR_ABSENT, ERROR_MALFORMED, ERROR_USAGE. */
int kubeconfig_read_file(struct host *host, const char *path, const char *context,
                         struct kubeconfig *ret, struct error *err);
void kubeconfig_free(struct kubeconfig *config);
/* Leaves the certificates alone in ca_pem, which must be there: those that were looked at are those
 * that are trusted and written to the node. ERROR_MALFORMED as certificates_parse. */
int kubeconfig_settle_ca(struct kubeconfig *config, struct error *err);
/* token, token file, user and password, client certificate with key, exec or auth provider. */
bool kubeconfig_has_credentials(const struct kubeconfig *config);

/* The chosen cluster and user alone, everything embedded. May hold secrets: secret_free_text(). */
char *kubeconfig_make(const struct kubeconfig *config);
/* bootstrap-kubelet.conf: user tls-bootstrap-token-user, context
 * tls-bootstrap-token-user@kubernetes, clientcmd's YAML with sorted keys. Holds the token:
 * secret_free_text(). */
char *kubeconfig_make_bootstrap(const char *cluster_name, const char *server, const char *ca_pem,
                                const char *token);
/* kubelet.conf: default-cluster, default-auth, default-context in namespace default; certificate
 * and key are both `certificate_path` (absolute). The caller frees. */
char *kubeconfig_make_kubelet(const char *server, const char *ca_pem, const char *certificate_path);
/* The same for another program that has this identity: user `user`, all else "default". */
char *kubeconfig_make_client(const char *server, const char *ca_pem, const char *user,
                             const char *certificate_path);

/* ---- credentials that a program gives: "exec" of a kubeconfig's user, as kubectl runs it ---- */

/* Runs the program of config->exec, found beside the kubeconfig at `path` (a name with a slash) or
 * in PATH, at most a minute, and puts its token or certificate and key into config. Versions v1 and
 * v1beta1 of client.authentication.k8s.io (client-go: tools/clientcmd,
 * plugin/pkg/client/auth/exec). What it printed appears in no message. ERROR_UNSUPPORTED (another
 * version, interactiveMode Always), ERROR_USAGE where it is missing (with its installHint),
 * ERROR_DENIED when it fails, ERROR_TIMED_OUT, ERROR_MALFORMED. */
int kubeconfig_run_plugin(struct host *host, const char *path, struct kubeconfig *config,
                          struct error *err);
/* What a program printed, for the version that it was asked in. ERROR_MALFORMED. */
int exec_credential_read(const char *text, size_t len, const char *version,
                         struct kubeconfig *config, struct error *err);

/* ---- the URL of an API server as a kubeconfig names it ---- */

/* "https://HOST[:PORT][/path]" and nothing more: a user would be sent as a password, a query or a
 * fragment changes what is asked, and letters of other alphabets lead to another host than is read.
 * ERROR_USAGE with the reason ("its server ..."). `plain`: "http://" is one, too, as kubectl proxy
 * serves it. */
int server_url_check(const char *url, bool plain, struct error *err);
/* The URL of `path` ("/api/v1/...") below the server. The caller frees. */
char *server_url_join(const char *server, const char *path);
/* "10.0.0.10" of "https://10.0.0.10:6443/x", without brackets. The caller frees. */
char *server_url_host(const char *server);
/* Does it name the machine that asks: loopback, 0.0.0.0, localhost? */
bool server_url_is_here(const char *server);
