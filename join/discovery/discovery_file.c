/* Discovers the cluster by a kubeconfig file, which is local or downloaded by https. */
#include "host/path.h"
#include "join/discovery/discovery_request.h"
#include "kube/kubeconfig.h"
#include "pki/certificate.h"

enum { FILE_MAX = 1024 * 1024, FETCH_MS = 30000 };

static int fetch_file(struct discovery *d, const char *url, struct kubeconfig *ret,
                      struct error *err) {
    unsigned limit = d->options->timeout_ms;
    struct http_request request = {.url = url,
                                   .timeout_ms = limit && limit < FETCH_MS ? limit : FETCH_MS,
                                   .max_body = FILE_MAX,
                                   .follow_redirects = true};
    _cleanup_(http_response_free) struct http_response response = {0};
    _cleanup_(freep) char *shown = http_shown_url(url);

    if (strchr("/?#", url[strlen("https://")]))
        return error_set(err, ERROR_USAGE, "fetch the discovery kubeconfig from \"%s\": no host",
                         shown);
    if (http_perform(d->http, &request, &response, err) < 0)
        return error_prefix(err, "fetch the discovery kubeconfig from \"%s\"", shown);
    if (response.proxy)
        text_list_add_owned(&d->result->warnings, xasprintf("%s was fetched through the proxy %s",
                                                            shown, response.proxy));
    if (response.status == 200)
        return kubeconfig_parse(response.body, response.body_len, shown, true, ret, err);
    return error_set(
        err, ERROR_ABSENT,
        "error trying to fetch discovery kubeconfig over HTTPS from %s, received status %ld", shown,
        response.status);
}

/* Compares the discovery file with cluster-info: warns of another server, and takes the CA from
 * cluster-info when the file has none. */
static int compare(struct discovery *d, struct kubeconfig *config, struct error *err) {
    _cleanup_(cluster_info_free) struct cluster_info info = {0};
    _cleanup_(kubeconfig_free) struct kubeconfig published = {0};
    struct text_list *warnings = &d->result->warnings;
    struct error why = {0};

    if (discovery_fetch(d, config->ca_pem, &info, &why) < 0) {
        if (!discovery_may_not_read(d, why.os) && (why.kind != ERROR_ABSENT || why.os != 0))
            return error_pass(err, &why);
        text_list_add_owned(warnings,
                            xasprintf("%s: using the discovery file as it is", why.message));
        return 0;
    }
    if (kubeconfig_parse(info.kubeconfig, strlen(info.kubeconfig), "cluster-info", false,
                         &published, NULL) < 0) {
        text_list_add(warnings, "the cluster-info ConfigMap has no readable "
                                "kubeconfig: using the discovery file as it is");
        return 0;
    }
    if (!text_equal(published.server, config->server))
        text_list_add_owned(
            warnings, xasprintf("the discovery file's server %s differs from that of "
                                "cluster-info, %s: using the file's",
                                config->server, published.server ? published.server : "none"));
    if (!config->ca_pem && published.ca_pem && kubeconfig_settle_ca(&published, NULL) == 0) {
        config->ca_pem = take_ptr(published.ca_pem);
        config->ca_pem_len = published.ca_pem_len;
    }
    return 0;
}

/* Returns the file's name for messages: a URL without its secrets, or the path; free() it. */
static char *shown_file(const char *file) {
    return strstr(file, "://") ? http_shown_url(file) : path_shown(file);
}

static int find_credentials(const struct kubeconfig *config, const char *shown, struct error *err) {
    if (kubeconfig_has_credentials(config))
        return 0;
    (void)error_set(
        err, ERROR_USAGE,
        "could not find authentication credentials for the TLS bootstrap process in '%s'", shown);
    return error_hint(err, "give --tls-bootstrap-token, or use token discovery");
}

/* ---- checks before a request to the file's server ---- */

/* Refuses a file with credentials that winjoin cannot send, before it sends any request. */
static int check_credentials(const char *file, struct kubeconfig *c, struct error *err) {
    if (c->impersonation)
        return error_set(err, ERROR_USAGE,
                         "read '%s': impersonating another user (\"%s\") is not supported", file,
                         c->impersonation);
    if (c->program || c->username || c->password) {
        (void)error_set(err, ERROR_USAGE, "read '%s': credentials by %s are not supported", file,
                        c->program ? c->program : "user name and password");
        return error_hint(err, "use a token or a client certificate in it, or a file without "
                               "credentials and --tls-bootstrap-token");
    }
    for (const char *p = c->token; p && *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            return error_set(
                err, ERROR_USAGE,
                "read '%s': its token contains a line break or another control character",
                c->token_file ? c->token_file : file);
    if ((c->ca_pem && kubeconfig_settle_ca(c, err) < 0) ||
        (c->client_cert_pem && c->client_key_pem &&
         certificate_check_key(c->client_cert_pem, c->client_key_pem, err) < 0)) {
        /* The kind is ERROR_USAGE, because the user must correct the file. */
        (void)error_as(err, ERROR_USAGE);
        return error_prefix(err, "read '%s'", file);
    }
    return 0;
}

static int load_good(struct discovery *d, struct kubeconfig *ret, struct error *err) {
    const char *file = d->options->file;
    _cleanup_(kubeconfig_free) struct kubeconfig config = {0};
    _cleanup_(freep) char *shown = shown_file(file);
    size_t len;
    char *name;
    bool bracket;

    if (text_starts_with(file, "https://")) {
        if (fetch_file(d, file, &config, err) < 0)
            return -1;
    } else if (kubeconfig_read_file(
                   d->host, file + (text_starts_with(file, "file://") ? strlen("file://") : 0),
                   NULL, &config, err) < 0) {
        return error_as(err, ERROR_USAGE); /* The user must correct the file. */
    }
    if (server_url_check(config.server, false, err) < 0)
        return error_prefix(err, "read '%s'", shown);
    if (config.insecure_skip_tls_verify) {
        (void)error_set(err, ERROR_USAGE,
                        "read '%s': insecure-skip-tls-verify is set, so nothing would prove the "
                        "server's identity",
                        shown);
        return error_hint(err, "put certificate-authority-data into it instead");
    }
    if (check_credentials(shown, &config, err) < 0)
        return -1;

    /* Certificates write "[::1]" as "::1" and "api.test." as "api.test". */
    name = config.tls_server_name;
    len = name ? strlen(name) : 0;
    bracket = len > 2 && name[0] == '[' && name[len - 1] == ']';
    if (bracket || (len > 1 && name[len - 1] == '.'))
        name[len - 1] = '\0';
    if (bracket)
        memmove(name, name + 1, len - 1);
    *ret = take_struct(config);
    return 0;
}

int discovery_check_file(const struct discovery_options *options, struct host *host,
                         struct error *err) {
    struct discovery d = {.options = options, .host = host};
    _cleanup_(kubeconfig_free) struct kubeconfig config = {0};
    _cleanup_(freep) char *shown = options->file ? shown_file(options->file) : NULL;
    enum host_file_type type = shown ? host_file_type(host, options->file) : HOST_ABSENT;

    if (type != HOST_FILE && type != HOST_FOLDER)
        /* A pipe can be read only once, so it is left to discovery_run(). */
        return 0;
    if (load_good(&d, &config, err) < 0)
        return -1;
    return options->tls_bootstrap_token ? 0 : find_credentials(&config, shown, err);
}

int discovery_run_file(struct discovery *d, struct error *err) {
    const char *token = d->options->tls_bootstrap_token;
    _cleanup_(freep) char *shown = shown_file(d->options->file);
    _cleanup_(kubeconfig_free) struct kubeconfig config = {0};
    _cleanup_(freep) char *host_name = NULL;
    int result;

    if (load_good(d, &config, err) < 0)
        return -1;
    host_name =
        config.tls_server_name ? xstrdup(config.tls_server_name) : server_url_host(config.server);
    d->server = config.server;
    d->address = config.server;
    d->host_name = host_name;
    d->credentials = &config; /* cppcheck-suppress autoVariables ; cleared below */
    result = compare(d, &config, err);
    d->credentials = NULL;
    if (result < 0)
        return -1;

    if (!config.ca_pem)
        return error_set(err, ERROR_USAGE,
                         "could not get CA certificate from discovery kubeconfig '%s'", shown);
    if (token) {
        secret_free_text(config.token);
        config.token = xstrdup(token);
        text_set(&config.user_name, xstrdup("tls-bootstrap-token-user"));
        text_set(&config.cluster_name, xstrdup("kubernetes"));
        free(take_ptr(config.client_cert_pem));
        secret_free_text(take_ptr(config.client_key_pem));
    } else if (find_credentials(&config, shown, err) < 0) {
        return -1;
    }
    d->result->config = take_struct(config);
    d->result->kubeconfig = kubeconfig_make(&d->result->config);
    d->result->kubeconfig_len = strlen(d->result->kubeconfig);
    return 0;
}
