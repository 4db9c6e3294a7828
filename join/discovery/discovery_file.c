/* Discovery by a kubeconfig file: local, or fetched over https. */
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
        return kubeconfig_parse_whole(response.body, response.body_len, shown, ret, err);
    return error_set(
        err, ERROR_ABSENT,
        "error trying to fetch discovery kubeconfig over HTTPS from %s, received status %ld", shown,
        response.status);
}

static int load(struct discovery *d, struct kubeconfig *ret, struct error *err) {
    const char *file = d->options->file;

    if (text_starts_with(file, "https://"))
        return fetch_file(d, file, ret, err);
    if (text_starts_with(file, "file://"))
        file += strlen("file://");
    if (kubeconfig_read_file(d->host, file, ret, err) == 0)
        return 0;
    return error_as(err, ERROR_USAGE); /* the file is what must be fixed */
}

/* Takes over the CA of cluster-info when the file has none, and tells of another server. */
static void merge(struct discovery *d, struct kubeconfig *config, const char *published) {
    _cleanup_(kubeconfig_free) struct kubeconfig other = {0};

    if (kubeconfig_parse(published, strlen(published), "cluster-info", &other, NULL) < 0) {
        text_list_add(&d->result->warnings, "the cluster-info ConfigMap has no readable "
                                            "kubeconfig: using the discovery file as it is");
        return;
    }
    if (!text_equal(other.server, config->server))
        text_list_add_owned(&d->result->warnings,
                            xasprintf("the discovery file's server %s differs from that of "
                                      "cluster-info, %s: using the file's",
                                      config->server, other.server ? other.server : "none"));
    if (!config->ca_pem && other.ca_pem && kubeconfig_settle_ca(&other, NULL) == 0) {
        config->ca_pem = take_ptr(other.ca_pem);
        config->ca_pem_len = other.ca_pem_len;
    }
}

static int compare(struct discovery *d, struct kubeconfig *config, struct error *err) {
    struct cluster_info info = {0};
    struct error why = {0};

    if (discovery_fetch(d, config->ca_pem, &info, &why) == 0) {
        merge(d, config, info.kubeconfig);
        cluster_info_free(&info);
        return 0;
    }
    if (discovery_may_not_look(d, why.os) || (why.kind == ERROR_ABSENT && why.os == 0)) {
        text_list_add_owned(&d->result->warnings,
                            xasprintf("%s: using the discovery file as it is", why.message));
        return 0;
    }
    return error_pass(err, &why);
}

/* A URL may hold secrets, a path not. */
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

static int settle_credentials(const struct discovery_options *o, struct kubeconfig *config,
                              struct error *err) {
    _cleanup_(freep) char *shown = shown_file(o->file);

    if (!config->ca_pem)
        return error_set(err, ERROR_USAGE,
                         "could not get CA certificate from discovery kubeconfig '%s'", shown);
    if (o->tls_bootstrap_token) {
        secret_free_text(config->token);
        config->token = xstrdup(o->tls_bootstrap_token);
        text_set(&config->user_name, xstrdup("tls-bootstrap-token-user"));
        text_set(&config->cluster_name, xstrdup("kubernetes"));
        free(take_ptr(config->client_cert_pem));
        secret_free_text(take_ptr(config->client_key_pem));
        return 0;
    }
    return find_credentials(config, shown, err);
}

/* ---- before its server is asked ---- */

static int check_server(const char *file, const struct kubeconfig *config, struct error *err) {
    _cleanup_(freep) char *shown = shown_file(file);

    if (server_url_check(config->server, err) < 0)
        return error_prefix(err, "read '%s'", shown);
    if (!config->insecure_skip_tls_verify)
        return 0;
    (void)error_set(
        err, ERROR_USAGE,
        "read '%s': insecure-skip-tls-verify is set, so nothing would prove the server's identity",
        shown);
    return error_hint(err, "put certificate-authority-data into it instead");
}

static int check_certificate(const char *file, struct kubeconfig *config, struct error *err) {
    int result = config->ca_pem ? kubeconfig_settle_ca(config, err) : 0;

    if (result == 0 && config->client_cert_pem && config->client_key_pem)
        result = certificate_check_key(config->client_cert_pem, config->client_key_pem, err);
    if (result < 0 && err)
        err->kind = ERROR_USAGE; /* the file is what must be fixed */
    return result < 0 ? error_prefix(err, "read '%s'", file) : 0;
}

/* What winjoin cannot send is refused before anything else is sent. */
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
    return check_certificate(file, c, err);
}

/* "[::1]" and "api.test." mean what a certificate writes as "::1" and "api.test". */
static void bare_server_name(struct kubeconfig *config) {
    char *name = config->tls_server_name;
    size_t len = name ? strlen(name) : 0;
    bool bracket = len > 2 && name[0] == '[' && name[len - 1] == ']';

    if (bracket || (len > 1 && name[len - 1] == '.'))
        name[len - 1] = '\0';
    if (bracket)
        memmove(name, name + 1, len - 1);
}

static int load_good(struct discovery *d, struct kubeconfig *ret, struct error *err) {
    _cleanup_(kubeconfig_free) struct kubeconfig config = {0};
    _cleanup_(freep) char *shown = shown_file(d->options->file);

    if (load(d, &config, err) < 0 || check_server(shown, &config, err) < 0 ||
        check_credentials(shown, &config, err) < 0)
        return -1;
    bare_server_name(&config);
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
        return 0; /* what comes through a pipe can be read only once */
    if (load_good(&d, &config, err) < 0)
        return -1;
    return options->tls_bootstrap_token ? 0 : find_credentials(&config, shown, err);
}

int discovery_run_file(struct discovery *d, struct error *err) {
    _cleanup_(kubeconfig_free) struct kubeconfig config = {0};
    int result;

    if (load_good(d, &config, err) < 0)
        return -1;
    d->server = config.server;
    d->address = config.server;
    d->host_name =
        config.tls_server_name ? xstrdup(config.tls_server_name) : server_url_host(config.server);
    d->credentials = &config; /* cppcheck-suppress autoVariables ; taken back below */
    result = compare(d, &config, err);
    d->credentials = NULL;
    free(take_ptr(d->host_name));
    if (result == 0)
        result = settle_credentials(d->options, &config, err);
    if (result < 0)
        return -1;
    d->result->config = take_struct(config);
    d->result->kubeconfig = kubeconfig_make(&d->result->config);
    d->result->kubeconfig_len = strlen(d->result->kubeconfig);
    return 0;
}
