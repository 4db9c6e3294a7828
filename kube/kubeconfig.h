/* Reads kubeconfig files (the chosen cluster and its credentials) and makes winjoin's own. */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "host/host.h"

/* The cluster and user that a kubeconfig chooses. Texts are owned; NULL when absent. */
struct kubeconfig {
    char *cluster_name; /* Name of the cluster; "" in cluster-info. */
    char *server;
    char *ca_file;
    char *ca_pem; /* CA certificates from certificate-authority-data (decoded) or from ca_file. */
    size_t ca_pem_len;
    char *tls_server_name;
    char *proxy_url;
    bool insecure_skip_tls_verify;
    char *user_name; /* Name of the user; NULL when no user is named. */
    char *token;
    char *token_file;
    char *username;
    char *password;
    char *client_cert_file;
    char *client_cert_pem;
    char *client_key_file;
    char *client_key_pem;
    /* Kind of program that provides credentials: "exec" or "auth-provider"; NULL when no program
     * does. */
    char *program;
    json_t *exec; /* The user's "exec" section as JSON, or NULL. */
    /* The first of "as", "as-uid", "as-groups" and "as-user-extra" that the user has; NULL when
     * the user has none of them. */
    char *impersonation;
};

/* Reads one kubeconfig in YAML or JSON. Uses the cluster with the name "" if there is one, else
 * that of the current context, and the user of the current context; without a context or user entry
 * there is no user. Other parts are ignored, unless `whole` is set: then the current context, its
 * cluster and its user must exist as for kubeconfig_read_file() and must not name files
 * (ERROR_USAGE). ERROR_MALFORMED comes with line and column. The caller frees with
 * kubeconfig_free(). */
int kubeconfig_parse(const char *text, size_t len, const char *what, bool whole,
                     struct kubeconfig *ret, struct error *err);
/* Reads the file, and the files that it names (a relative path is beside it, "/x" on its drive),
 * into ca_pem, client_cert_pem, client_key_pem and token (taken verbatim). The context (NULL for
 * the current one), its cluster and its user must exist and must not contradict each other; the
 * error has clientcmd's text with the prefix "invalid configuration: ". Fails with ERROR_ABSENT,
 * ERROR_MALFORMED or ERROR_USAGE. */
int kubeconfig_read_file(struct host *host, const char *path, const char *context,
                         struct kubeconfig *ret, struct error *err);
void kubeconfig_free(struct kubeconfig *config);
/* Reduces ca_pem, which must exist, to its certificates, so that exactly the checked certificates
 * are trusted and written to the node. Fails with ERROR_MALFORMED as certificates_parse() does. */
int kubeconfig_settle_ca(struct kubeconfig *config, struct error *err);
/* Does the kubeconfig have a token, a token file, user name and password, a client certificate with
 * its key, exec or an auth provider? */
bool kubeconfig_has_credentials(const struct kubeconfig *config);

/* Returns a kubeconfig with only the chosen cluster and user and all data embedded. It may contain
 * secrets: free it with secret_free_text(). */
char *kubeconfig_make(const struct kubeconfig *config);
/* Returns bootstrap-kubelet.conf: user tls-bootstrap-token-user, context
 * tls-bootstrap-token-user@kubernetes, YAML with sorted keys as clientcmd writes it. It contains
 * the token: free it with secret_free_text(). */
char *kubeconfig_make_bootstrap(const char *cluster_name, const char *server, const char *ca_pem,
                                const char *token);
/* Returns kubelet.conf: default-cluster, default-auth and default-context in namespace default.
 * Certificate and key are both in the file `certificate_path` (absolute). The caller frees it. */
char *kubeconfig_make_kubelet(const char *server, const char *ca_pem, const char *certificate_path);
/* Returns a kubeconfig like kubelet.conf for another program with this certificate: the user is
 * `user`, all other names are "default". */
char *kubeconfig_make_client(const char *server, const char *ca_pem, const char *user,
                             const char *certificate_path);

/* ---- credentials from a program: a kubeconfig's "exec" section, as kubectl runs it ---- */

/* Runs the program of config->exec for at most a minute and stores its token, or certificate and
 * key, in config. A name with a slash is relative to the kubeconfig at `path`, others are in PATH.
 * Versions v1 and v1beta1 of client.authentication.k8s.io are supported (client-go:
 * tools/clientcmd, plugin/pkg/client/auth/exec). The output never appears in a message. Fails with
 * ERROR_UNSUPPORTED (another version, interactiveMode Always), ERROR_USAGE when the program is
 * missing (with its installHint), ERROR_DENIED when it fails, ERROR_TIMED_OUT, ERROR_MALFORMED. */
int kubeconfig_run_plugin(struct host *host, const char *path, struct kubeconfig *config,
                          struct error *err);
/* Reads the output of such a program, which must have the requested version. Fails with
 * ERROR_MALFORMED. */
int exec_credential_read(const char *text, size_t len, const char *version,
                         struct kubeconfig *config, struct error *err);

/* ---- the URL of an API server in a kubeconfig ---- */

/* Checks that the URL is only "https://HOST[:PORT][/path]". A user in it would be sent as a
 * password, a query or fragment changes the request, and letters of other alphabets can lead to
 * another host than a reader sees. Fails with ERROR_USAGE and the reason ("its server ...").
 * `plain` also allows "http://", which kubectl proxy uses. */
int server_url_check(const char *url, bool plain, struct error *err);
/* Returns the URL of an API path ("/api/v1/...") on the server. The caller frees it. */
char *server_url_join(const char *server, const char *path);
/* Returns the host of a URL without port and brackets: "10.0.0.10" of "https://10.0.0.10:6443/x".
 * The caller frees it. */
char *server_url_host(const char *server);
/* Is the server this machine itself: loopback, 0.0.0.0 or localhost? */
bool server_url_is_here(const char *server);
