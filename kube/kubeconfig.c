/* Reads kubeconfig files: the chosen cluster and its credentials. */
#include "kube/kubeconfig.h"

#include "base/base64.h"
#include "base/yaml.h"
#include "host/http.h"
#include "host/path.h"
#include "pki/certificate.h"

enum { FILE_MAX = 1024 * 1024 };

void kubeconfig_free(struct kubeconfig *c) {
    secret_free_text(c->token);
    secret_free_text(c->password);
    secret_free_text(c->client_key_pem);
    free_all(c->cluster_name, c->server, c->ca_file, c->ca_pem, c->tls_server_name, c->proxy_url,
             c->user_name, c->token_file, c->username, c->client_cert_file, c->client_cert_pem,
             c->client_key_file, c->program, c->impersonation);
    json_decref(c->exec);
    *c = (struct kubeconfig){0};
}

bool kubeconfig_has_credentials(const struct kubeconfig *c) {
    return c->token || c->token_file || (c->username && c->password) ||
           ((c->client_cert_file || c->client_cert_pem) &&
            (c->client_key_file || c->client_key_pem)) ||
           c->program;
}

int kubeconfig_settle_ca(struct kubeconfig *c, struct error *err) {
    char *plain = certificates_plain(c->ca_pem, c->ca_pem_len, NULL, err);

    if (!plain)
        return -1;
    free(c->ca_pem);
    c->ca_pem = plain;
    c->ca_pem_len = strlen(plain);
    return 0;
}

/* ---- finding entries and fields ---- */

/* The state of one reading. */
struct reading {
    const struct yaml *yaml;
    bool whole;          /* The text is a file, so cluster, context and user must all exist. */
    const char *current; /* Name of the context; NULL means the current context of the file. */
    struct error *err;
};

static int refuse(struct reading *r, const json_t *at, const char *path, const char *why) {
    return yaml_refuse(r->yaml, yaml_place(r->yaml, at, path), r->err, ERROR_MALFORMED, "%s", why);
}

/* Sets an error that begins with clientcmd's words "invalid configuration", and returns -1. */
#define invalid(r, ...) invalid_at(r, xasprintf(__VA_ARGS__))
static int invalid_at(struct reading *r, char *why) {
    (void)error_set(r->err, ERROR_USAGE, "read '%s': invalid configuration: %s", r->yaml->what,
                    why);
    free(why);
    return -1;
}

/* Returns the first entry of the list with this name, or NULL. */
static const json_t *find_entry(const json_t *root, const char *list, const char *name) {
    json_each(json_object_get(root, list), i, entry) {
        const json_t *given = json_object_get(entry, "name");
        const char *text = !given || json_is_null(given) ? "" : json_string_value(given);

        /* A number is not accepted as a name. */
        if (json_is_object(entry) && text_equal(text, name))
            return entry;
    }
    return NULL;
}

/* Refuses a placeholder that kubectl prints instead of a secret. The same text can occur in base64
 * data from `-o json`. */
static int refuse_hidden(struct reading *r, const json_t *map, const char *key, const char *value) {
    if (!text_equal(value, "DATA+OMITTED") && !text_equal(value, "REDACTED") &&
        !text_equal_nocase(value, "<redacted>"))
        return 0;
    (void)error_set(r->err, ERROR_USAGE,
                    "%s: line %zu: %s stands where a certificate, key or token belongs: this is "
                    "the output of kubectl config view",
                    r->yaml->what, yaml_place(r->yaml, map, key)->line, value);
    return error_hint(r->err, "write the file again: kubectl config view --raw");
}

/* Copies a text field. *ret is unchanged when the field is absent or empty. Fails when it has
 * another type. */
static int copy_field(struct reading *r, const json_t *map, const char *key, char **ret) {
    const json_t *value = json_object_get(map, key);
    const char *text = json_string_value(value);

    if (!value || json_is_null(value))
        return 0;
    if (!text)
        return refuse(r, map, key, "a string was expected");
    if (refuse_hidden(r, map, key, text) < 0)
        return -1;
    if (*text)
        *ret = xstrdup(text);
    return 0;
}

/* Decodes a base64 field; an absent or empty one leaves *ret unchanged. `ret_len` may be NULL. */
static int copy_data(struct reading *r, const json_t *map, const char *key, char **ret,
                     size_t *ret_len) {
    const json_t *value = json_object_get(map, key);
    const char *text = json_string_value(value);
    unsigned char *data = NULL;
    size_t len = 0;

    if (!value || json_is_null(value) || (text && !*text))
        return 0;
    if (!text)
        return refuse(r, map, key, "base64 was expected");
    if (refuse_hidden(r, map, key, text) < 0)
        return -1;
    if (base64_decode(text, strlen(text), &data, &len, r->err) < 0) {
        (void)error_hint(r->err,
                         "it holds a PEM file in base64; the path of a file belongs to \"%.*s\"",
                         (int)(strlen(key) - strlen("-data")), key);
        return error_prefix(r->err, "%s: line %zu: \"%s\"", r->yaml->what,
                            yaml_place(r->yaml, map, key)->line, key);
    }
    *ret = (char *)data;
    if (refuse_hidden(r, map, key, *ret) < 0)
        return -1;
    if (ret_len)
        *ret_len = len;
    return 0;
}

/* ---- reading cluster and user ---- */

static int read_cluster(struct reading *r, const json_t *cluster, struct kubeconfig *c) {
    _cleanup_(freep) char *scheme = NULL, *lower = NULL;
    struct error why = {0};
    char *end;

    if (copy_field(r, cluster, "server", &c->server) < 0 ||
        copy_field(r, cluster, "certificate-authority", &c->ca_file) < 0 ||
        copy_field(r, cluster, "tls-server-name", &c->tls_server_name) < 0 ||
        copy_field(r, cluster, "proxy-url", &c->proxy_url) < 0 ||
        copy_data(r, cluster, "certificate-authority-data", &c->ca_pem, &c->ca_pem_len) < 0)
        return -1;
    c->insecure_skip_tls_verify =
        json_is_true(json_object_get(cluster, "insecure-skip-tls-verify"));
    if (!r->whole)
        return 0;
    if (!c->server)
        return invalid(r, "no server found for cluster \"%s\"", c->cluster_name);

    /* As kubectl does, accept a scheme in capitals and assume https when there is none. */
    end = strstr(c->server, "://");
    scheme = end ? xstrndup(c->server, (size_t)(end - c->server)) : xstrdup("https");
    lower = text_lower(scheme);
    text_set(&c->server, xasprintf("%s://%s", lower, end ? end + 3 : c->server));
    if (server_url_check(c->server, true, &why) < 0)
        return invalid(r, "cluster \"%s\": %s", c->cluster_name, why.message);
    if (c->ca_file && c->ca_pem)
        return invalid(r, "certificate-authority and its data are both specified for \"%s\"",
                       c->cluster_name);
    if (c->proxy_url && http_proxy_url_check(c->proxy_url, &why) < 0)
        return invalid(r, "proxy-url of cluster \"%s\": %s", c->cluster_name, why.message);
    return 0;
}

/* Remembers that a user has this member. Such members select a kind of authentication that winjoin
 * must not ignore. */
static void note_presence(const json_t *user, const char *key, char **ret) {
    const json_t *value = json_object_get(user, key);

    if (!*ret && value && !json_is_null(value))
        *ret = xstrdup(key);
}

static int read_user(struct reading *r, const json_t *root, const json_t *context,
                     struct kubeconfig *c) {
    const char *name = json_text_or(context, "user", "");
    const json_t *entry = *name ? find_entry(root, "users", name) : NULL;
    const json_t *user = json_object_get(entry, "user");

    if (r->whole && context && !*name)
        return invalid(r, "user was not specified for context \"%s\"", r->current);
    if (r->whole && context && !entry)
        return invalid(r, "user \"%s\" was not found for context \"%s\"", name, r->current);
    if (!json_is_object(user))
        return 0;
    c->user_name = xstrdup(name);
    if (copy_field(r, user, "token", &c->token) < 0 ||
        copy_field(r, user, "tokenFile", &c->token_file) < 0 ||
        copy_field(r, user, "username", &c->username) < 0 ||
        copy_field(r, user, "password", &c->password) < 0 ||
        copy_field(r, user, "client-certificate", &c->client_cert_file) < 0 ||
        copy_field(r, user, "client-key", &c->client_key_file) < 0 ||
        copy_data(r, user, "client-certificate-data", &c->client_cert_pem, NULL) < 0 ||
        copy_data(r, user, "client-key-data", &c->client_key_pem, NULL) < 0)
        return -1;
    note_presence(user, "exec", &c->program);
    if (json_is_object(json_object_get(user, "exec")))
        c->exec = json_incref(json_object_get(user, "exec"));
    note_presence(user, "auth-provider", &c->program);
    note_presence(user, "as", &c->impersonation);
    note_presence(user, "as-uid", &c->impersonation);
    note_presence(user, "as-groups", &c->impersonation);
    note_presence(user, "as-user-extra", &c->impersonation);
    if (!r->whole)
        return 0;
    if (c->client_cert_file && c->client_cert_pem)
        return invalid(r, "client-certificate and its data are both specified for \"%s\"", name);
    if (c->client_key_file && c->client_key_pem)
        return invalid(r, "client-key and its data are both specified for \"%s\"", name);
    if ((c->client_cert_file || c->client_cert_pem) && !c->client_key_file && !c->client_key_pem)
        return invalid(r, "client-key or its data must be specified for \"%s\"", name);
    if ((c->token || c->token_file) && (c->username || c->password))
        return invalid(r, "more than one authentication method found for \"%s\"", name);
    return 0;
}

/* ---- choosing the cluster ---- */

/* Chooses the cluster without a name, as kubeadm does, or that of the current context. */
static int choose_cluster(struct reading *r, const json_t *root, const json_t *context,
                          struct kubeconfig *c) {
    const json_t *clusters = json_object_get(root, "clusters");
    const json_t *unnamed = find_entry(root, "clusters", "");
    const char *name = json_text_or(context, "cluster", "");
    const json_t *cluster = unnamed ? unnamed : find_entry(root, "clusters", name);

    if (r->whole && unnamed && *name) /* Refuse this case, because clientcmd and kubeadm would
                                         choose different clusters. */
        return invalid(
            r, "the kubeconfig has both a cluster without a name and \"%s\" of the current context",
            name);
    if (r->whole && context && !*name && !unnamed)
        return invalid(r, "cluster was not specified for context \"%s\"", r->current);
    if (r->whole && *name && !cluster)
        return invalid(r, "cluster \"%s\" was not found for context \"%s\"", name, r->current);
    cluster = json_object_get(cluster, "cluster");
    if (!json_is_object(cluster))
        return refuse(r, root, "",
                      json_array_size(clusters) || json_object_size(clusters)
                          ? "no cluster matches the current context"
                          : "it has no cluster");
    c->cluster_name = xstrdup(unnamed ? "" : name);
    return read_cluster(r, cluster, c);
}

/* Is the text absent, empty, or equal to `right`? */
static bool is_text(const json_t *value, const char *right) {
    const char *text = json_string_value(value);

    return !value || json_is_null(value) || (text && (!*text || text_equal(text, right)));
}

static int parse(struct reading r, const char *text, size_t len, const char *what,
                 struct kubeconfig *ret) {
    _cleanup_(kubeconfig_free) struct kubeconfig config = {0};
    _cleanup_(yaml_forget) struct yaml yaml = {0};
    const json_t *root, *entry, *context;

    if (yaml_read(text, len, what, &yaml, r.err) < 0)
        return -1;
    r.yaml = &yaml;
    root = json_array_get(yaml.documents, 0);
    if (!json_is_object(root))
        return error_set(r.err, ERROR_MALFORMED, "%s: line 1: not a kubeconfig", what);

    /* Detect other kinds of files that were given by mistake. */
    if (!is_text(json_object_get(root, "kind"), "Config"))
        return refuse(&r, root, "kind", "kind must be Config");
    if (!is_text(json_object_get(root, "apiVersion"), "v1"))
        return refuse(&r, root, "apiVersion", "apiVersion must be v1");

    if (!r.current)
        r.current = json_text_or(root, "current-context", "");
    entry = *r.current ? find_entry(root, "contexts", r.current) : NULL;
    context = json_object_get(entry, "context");
    if (r.whole && *r.current && !entry)
        return invalid(&r, "context was not found for specified context \"%s\"", r.current);
    if (choose_cluster(&r, root, context, &config) < 0 || read_user(&r, root, context, &config) < 0)
        return -1;
    *ret = take_struct(config);
    return 0;
}

/* ---- reading files ---- */

static int embed(struct host *host, const char *base, const char *path, const char *kind,
                 char **ret, size_t *ret_len, struct error *err) {
    const char *slash = strrchr(base, '/'), *back = strrchr(base, '\\');
    const char *end = !slash || (back && back > slash) ? back : slash;
    _cleanup_(freep) char *given = NULL, *full = NULL;
    bool rooted, lacks_drive;
    size_t len = 0;

    if (!path || *ret)
        return 0;

    /* A relative path starts in the folder of the kubeconfig; "/x" is on its drive. */
    rooted = path[0] == '/' || path[0] == '\\';
    lacks_drive = rooted && path[1] != '/' && path[1] != '\\';
    if (base[0] && base[1] == ':' && lacks_drive)
        given = xasprintf("%.2s%s", base, path);
    else if (rooted || (path[0] && path[1] == ':') || !end)
        given = xstrdup(path);
    else
        given = xasprintf("%.*s%s", (int)(end - base) + 1, base, path);
    full = path_plain(given);

    if (host_read_text(host, full, FILE_MAX, ret, &len, err) < 0)
        return error_prefix(err, "read the %s file defined in kubeconfig", kind);
    if (strlen(*ret) != len)
        return error_set(err, ERROR_USAGE,
                         "read the %s file defined in kubeconfig: '%s' contains a NUL byte", kind,
                         full);
    if (ret_len)
        *ret_len = len;
    return 0;
}

int kubeconfig_read_file(struct host *host, const char *path, const char *context,
                         struct kubeconfig *ret, struct error *err) {
    _cleanup_(secret_freep) char *text = NULL;
    _cleanup_(freep) char *shown = path_shown(path);
    struct reading r = {.whole = true, .current = context, .err = err};
    _cleanup_(kubeconfig_free) struct kubeconfig c = {0};
    size_t len = 0;

    if (host_read_text(host, path, FILE_MAX, &text, &len, err) < 0 ||
        parse(r, text, len, shown, &c) < 0)
        return -1;
    if (embed(host, path, c.ca_file, "certificate authority", &c.ca_pem, &c.ca_pem_len, err) < 0 ||
        embed(host, path, c.client_cert_file, "client cert", &c.client_cert_pem, NULL, err) < 0 ||
        embed(host, path, c.client_key_file, "client key", &c.client_key_pem, NULL, err) < 0) {
        if (err && err->kind == ERROR_ABSENT)
            err->kind = ERROR_USAGE; /* The kubeconfig names a file that does not exist. */
        return -1;
    }
    if (embed(host, path, c.token_file, "token", &c.token, NULL, err) < 0)
        return -1;
    if (c.token_file && c.token && !*c.token) { /* An empty token file is not a credential. */
        free(take_ptr(c.token_file));
        free(take_ptr(c.token));
    }
    *ret = take_struct(c);
    return 0;
}

int kubeconfig_parse(const char *text, size_t len, const char *what, bool whole,
                     struct kubeconfig *ret, struct error *err) {
    struct reading r = {.whole = whole, .err = err};
    _cleanup_(kubeconfig_free) struct kubeconfig config = {0};
    const char *file;

    if (parse(r, text, len, what, &config) < 0)
        return -1;
    file = config.ca_file            ? config.ca_file
           : config.client_cert_file ? config.client_cert_file
           : config.client_key_file  ? config.client_key_file
                                     : config.token_file;
    if (whole && file)
        return error_set(err, ERROR_USAGE,
                         "read '%s': it refers to the file '%s' on this machine; a discovery "
                         "kubeconfig must embed its data",
                         what, file);
    *ret = take_struct(config);
    return 0;
}
