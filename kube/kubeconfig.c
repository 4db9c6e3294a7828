/* Reads kubeconfig files: the cluster and the credentials that one names. */
#include "kube/kubeconfig.h"

#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/memory.h"
#include "base/yaml.h"
#include "host/http.h"
#include "host/path.h"
#include "kube/kubeconfig_shape.h"
#include "kube/object.h"

enum { FILE_MAX = 1024 * 1024 };

void kubeconfig_free(struct kubeconfig *c) {
    secret_free_text(c->token);
    secret_free_text(c->password);
    secret_free_text(c->client_key_pem);
    free(c->cluster_name);
    free(c->server);
    free(c->ca_file);
    free(c->ca_pem);
    free(c->tls_server_name);
    free(c->proxy_url);
    free(c->user_name);
    free(c->token_file);
    free(c->username);
    free(c->client_cert_file);
    free(c->client_cert_pem);
    free(c->client_key_file);
    free(c->exec_command);
    free(c->auth_provider);
    free(c->impersonated);
    *c = (struct kubeconfig){0};
}

bool kubeconfig_has_credentials(const struct kubeconfig *c) {
    return c->token || c->token_file || (c->username && c->password) ||
           ((c->client_cert_file || c->client_cert_pem) &&
            (c->client_key_file || c->client_key_pem)) ||
           c->exec_command || c->auth_provider;
}

/* ---- finding ---- */

/* What one reading carries along. */
struct reading {
    const char *what;
    bool validate;             /* as clientcmd.Validate does, which looks at all entries */
    struct text_list problems; /* what it would say */
    struct text_list files;    /* that are named */
    struct error *err;
};

static int refuse(struct reading *r, const struct yaml_node *node, const char *why) {
    return error_set(r->err, ERROR_MALFORMED, "%s: line %zu column %zu: %s", r->what,
                     yaml_line(node), yaml_column(node), why);
}

/* Adds one line to the list of problems. */
#define problem(r, ...) text_list_add_owned(&(r)->problems, xasprintf(__VA_ARGS__))

/* The value under `body` of the list entry called `name`; NULL when there is none. */
static const struct yaml_node *find_named(const struct yaml_node *root, const char *list,
                                          const char *body, const char *name) {
    const struct yaml_node *entries = yaml_at(root, list);

    for (size_t i = 0; yaml_type(entries) == YAML_LIST && i < yaml_count(entries); i++) {
        const struct yaml_node *entry = yaml_item(entries, i);
        const char *entry_name = yaml_text_at(entry, "name");

        if (text_equal(entry_name ? entry_name : "", name))
            return yaml_at(entry, body);
    }
    return NULL;
}

static const char *name_in(const struct yaml_node *context, const char *key) {
    const char *name = yaml_text_at(context, key);

    return name ? name : "";
}

/* true when the list has an entry of this name, whatever is in it. */
static bool has_entry(const struct yaml_node *root, const char *list, const char *name) {
    const struct yaml_node *entries = yaml_at(root, list);

    for (size_t i = 0; i < yaml_count(entries); i++)
        if (text_equal(name_in(yaml_item(entries, i), "name"), name))
            return true;
    return false;
}

/* A copy of a non-empty text field; NULL when absent. Fails when it is a list or map. */
static int take_field(struct reading *r, const struct yaml_node *map, const char *key, char **ret) {
    const struct yaml_node *node = yaml_at(map, key);

    if (yaml_type(node) == YAML_NULL)
        return 0;
    if (yaml_type(node) != YAML_SCALAR)
        return refuse(r, node, "a text was expected");
    if (*yaml_text(node))
        *ret = xstrdup(yaml_text(node));
    return 0;
}

/* The same for base64 data; ret_len may be NULL. */
static int take_data(struct reading *r, const struct yaml_node *map, const char *key, char **ret,
                     size_t *ret_len) {
    const struct yaml_node *node = yaml_at(map, key);
    unsigned char *data = NULL;
    size_t len = 0;

    if (yaml_type(node) == YAML_NULL || (yaml_type(node) == YAML_SCALAR && !*yaml_text(node)))
        return 0;
    if (yaml_type(node) != YAML_SCALAR)
        return refuse(r, node, "base64 was expected");
    if (base64_decode(yaml_text(node), strlen(yaml_text(node)), &data, &len, r->err) < 0)
        return error_prefix(r->err, "%s: line %zu: \"%s\"", r->what, yaml_line(node), key);
    *ret = (char *)data;
    if (ret_len)
        *ret_len = len;
    return 0;
}

/* ---- cluster and user ---- */

static int read_cluster(struct reading *r, const struct yaml_node *cluster, struct kubeconfig *c) {
    const char *insecure = yaml_text_at(cluster, "insecure-skip-tls-verify");

    if (take_field(r, cluster, "server", &c->server) < 0 ||
        take_field(r, cluster, "certificate-authority", &c->ca_file) < 0 ||
        take_field(r, cluster, "tls-server-name", &c->tls_server_name) < 0 ||
        take_field(r, cluster, "proxy-url", &c->proxy_url) < 0 ||
        take_data(r, cluster, "certificate-authority-data", &c->ca_pem, &c->ca_pem_len) < 0)
        return -1;
    c->insecure_skip_tls_verify = text_equal(insecure, "true");
    return 0;
}

static int read_user(struct reading *r, const struct yaml_node *user, struct kubeconfig *c) {
    if (take_field(r, user, "token", &c->token) < 0 ||
        take_field(r, user, "tokenFile", &c->token_file) < 0 ||
        take_field(r, user, "as", &c->impersonated) < 0 ||
        take_field(r, user, "username", &c->username) < 0 ||
        take_field(r, user, "password", &c->password) < 0 ||
        take_field(r, user, "client-certificate", &c->client_cert_file) < 0 ||
        take_field(r, user, "client-key", &c->client_key_file) < 0 ||
        take_field(r, user, "exec.command", &c->exec_command) < 0 ||
        take_field(r, user, "auth-provider.name", &c->auth_provider) < 0 ||
        take_data(r, user, "client-certificate-data", &c->client_cert_pem, NULL) < 0 ||
        take_data(r, user, "client-key-data", &c->client_key_pem, NULL) < 0)
        return -1;
    return 0;
}

/* ---- validation ---- */

static void note_file(struct reading *r, const char *file) {
    if (file)
        text_list_add(&r->files, file);
}

static int validate_cluster(struct reading *r, const struct yaml_node *entry) {
    struct kubeconfig c = {.cluster_name = xstrdup(name_in(entry, "name"))};
    struct error why = {0};
    int result = read_cluster(r, yaml_at(entry, "cluster"), &c);

    if (result == 0 && !c.server)
        problem(r, "no server found for cluster \"%s\"", c.cluster_name);
    if (c.ca_file && c.ca_pem)
        problem(r, "certificate-authority and its data are both specified for \"%s\"",
                c.cluster_name);
    if (c.proxy_url && http_proxy_url_check(c.proxy_url, &why) < 0)
        problem(r, "proxy-url of cluster \"%s\": %s", c.cluster_name, why.message);
    note_file(r, c.ca_file);
    kubeconfig_free(&c);
    return result;
}

static void check_exec(struct reading *r, const struct yaml_node *user, const char *name) {
    static const char *const required[] = {"command", "apiVersion", "interactiveMode"};
    const struct yaml_node *exec = yaml_at(user, "exec");
    const char *version = yaml_text_at(exec, "apiVersion");

    for (size_t i = 0; exec && i < ARRAY_SIZE(required); i++) {
        const char *value = yaml_text_at(exec, required[i]);

        /* only v1 made interactiveMode a must */
        if (i == 2 && !text_ends_with(version ? version : "", "/v1"))
            continue;
        if (!value || !*value)
            problem(r, "%s must be specified for \"%s\" to use an exec plugin", required[i], name);
    }
}

static void check_user(struct reading *r, const struct yaml_node *user,
                       const struct kubeconfig *c) {
    bool cert = c->client_cert_file || c->client_cert_pem;
    bool key = c->client_key_file || c->client_key_pem;

    if (c->client_cert_file && c->client_cert_pem)
        problem(r, "client-certificate and its data are both specified for \"%s\"", c->user_name);
    if (c->client_key_file && c->client_key_pem)
        problem(r, "client-key and its data are both specified for \"%s\"", c->user_name);
    if (cert && !key)
        problem(r, "client-key or its data must be specified for \"%s\"", c->user_name);
    if ((c->token || c->token_file) && (c->username || c->password))
        problem(r, "more than one authentication method found for \"%s\"", c->user_name);
    if (!yaml_at(user, "as") &&
        (yaml_at(user, "as-uid") || yaml_at(user, "as-groups") || yaml_at(user, "as-user-extra")))
        problem(r, "requesting uid, groups or user-extra for \"%s\" without impersonating a user",
                c->user_name);
    check_exec(r, user, c->user_name);
}

static int validate_user(struct reading *r, const struct yaml_node *entry) {
    const struct yaml_node *user = yaml_at(entry, "user");
    struct kubeconfig c = {.user_name = xstrdup(name_in(entry, "name"))};
    int result = yaml_type(user) == YAML_MAP ? read_user(r, user, &c) : 0;

    if (result == 0)
        check_user(r, user, &c);
    note_file(r, c.client_cert_file);
    note_file(r, c.client_key_file);
    kubeconfig_free(&c);
    return result;
}

static bool is_dns_label(const char *text) {
    return strlen(text) <= 63 && !strchr(text, '.') && kube_name_is_valid(text);
}

static void validate_context(struct reading *r, const struct yaml_node *root,
                             const struct yaml_node *entry) {
    const struct yaml_node *context = yaml_at(entry, "context");
    const char *cluster = name_in(context, "cluster"), *user = name_in(context, "user");
    const char *name = name_in(entry, "name"), *space = name_in(context, "namespace");

    if (!*name)
        problem(r, "empty context name is not allowed");
    if (!*user)
        problem(r, "user was not specified for context \"%s\"", name);
    else if (!has_entry(root, "users", user))
        problem(r, "user \"%s\" was not found for context \"%s\"", user, name);
    if (!*cluster)
        problem(r, "cluster was not specified for context \"%s\"", name);
    else if (!has_entry(root, "clusters", cluster))
        problem(r, "cluster \"%s\" was not found for context \"%s\"", cluster, name);
    if (*space && !is_dns_label(space))
        problem(r, "namespace \"%s\" for context \"%s\" is no DNS label", space, name);
}

/* Every entry, also those that are not the chosen ones. */
static int validate_all(struct reading *r, const struct yaml_node *root) {
    const char *current = name_in(root, "current-context");
    const struct yaml_node *clusters = yaml_at(root, "clusters"), *users = yaml_at(root, "users"),
                           *contexts = yaml_at(root, "contexts");
    const char *cluster;

    if (*current && !has_entry(root, "contexts", current))
        problem(r, "context was not found for specified context \"%s\"", current);
    cluster = name_in(find_named(root, "contexts", "context", current), "cluster");
    if (*cluster && has_entry(root, "clusters", "")) /* clientcmd and kubeadm choose differently */
        problem(r, "both a cluster without a name and \"%s\" of the current context are there",
                cluster);
    for (size_t i = 0; i < yaml_count(contexts); i++)
        validate_context(r, root, yaml_item(contexts, i));
    for (size_t i = 0; i < yaml_count(users); i++)
        if (validate_user(r, yaml_item(users, i)) < 0)
            return -1;
    for (size_t i = 0; i < yaml_count(clusters); i++)
        if (validate_cluster(r, yaml_item(clusters, i)) < 0)
            return -1;
    return 0;
}

/* ---- choice ---- */

static const struct yaml_node *choose_cluster(const struct yaml_node *root,
                                              const struct yaml_node *context,
                                              const char **ret_name) {
    const struct yaml_node *cluster = find_named(root, "clusters", "cluster", "");

    *ret_name = "";
    if (cluster || !context)
        return cluster;
    *ret_name = name_in(context, "cluster");
    return find_named(root, "clusters", "cluster", *ret_name);
}

static int read_root(struct reading *r, const struct yaml_node *root, struct kubeconfig *c) {
    const char *current = yaml_text_at(root, "current-context");
    const struct yaml_node *context = NULL, *cluster, *user = NULL;
    const char *name;

    if (current && *current)
        context = find_named(root, "contexts", "context", current);
    cluster = choose_cluster(root, context, &name);
    if (yaml_type(cluster) != YAML_MAP)
        return refuse(r, root,
                      yaml_count(yaml_at(root, "clusters"))
                          ? "none of the clusters is that of the current context"
                          : "there is no cluster");
    c->cluster_name = xstrdup(name);
    if (read_cluster(r, cluster, c) < 0)
        return -1;
    name = name_in(context, "user");
    if (context && *name)
        user = find_named(root, "users", "user", name);
    if (yaml_type(user) != YAML_MAP)
        return 0;
    c->user_name = xstrdup(name);
    return read_user(r, user, c);
}

static int parse(struct reading *r, const char *text, size_t len, struct kubeconfig *ret) {
    _cleanup_(yaml_documents_freep) struct yaml_documents *documents = NULL;
    struct kubeconfig config = {0};
    const struct yaml_node *root;

    if (yaml_parse(text, len, r->what, &documents, r->err) < 0)
        return -1;
    root = yaml_document(documents, 0);
    if (!root || yaml_type(root) != YAML_MAP)
        return error_set(r->err, ERROR_MALFORMED, "%s: line 1: this is no kubeconfig", r->what);
    if (kubeconfig_check_shape(root, r->what, r->err) < 0)
        return -1;
    if (r->validate && validate_all(r, root) < 0)
        return -1;
    if (read_root(r, root, &config) < 0) {
        kubeconfig_free(&config);
        return -1;
    }
    *ret = config;
    return 0;
}

static void reading_free(struct reading *r) {
    text_list_free(&r->problems);
    text_list_free(&r->files);
}

int kubeconfig_parse(const char *text, size_t len, const char *what, struct kubeconfig *ret,
                     struct error *err) {
    struct reading r = {.what = what, .err = err};
    int result = parse(&r, text, len, ret);

    reading_free(&r);
    return result;
}

/* ---- files ---- */

static bool is_absolute(const char *path) {
    return path[0] == '/' || path[0] == '\\' || (path[0] && path[1] == ':');
}

static bool lacks_drive(const char *path) {
    return (path[0] == '/' || path[0] == '\\') && path[1] != '/' && path[1] != '\\';
}

/* `path` beside the file `base`, or on its drive; the caller frees. */
static char *beside(const char *base, const char *path) {
    const char *slash = strrchr(base, '/'), *back = strrchr(base, '\\');
    const char *end = !slash || (back && back > slash) ? back : slash;
    _cleanup_(freep) char *full = NULL;

    if (base[0] && base[1] == ':' && lacks_drive(path))
        full = xasprintf("%.2s%s", base, path);
    else if (is_absolute(path) || !end)
        full = xstrdup(path);
    else
        full = xasprintf("%.*s%s", (int)(end - base) + 1, base, path);
    return path_plain(full);
}

static int embed(struct host *host, const char *base, const char *path, const char *kind,
                 char **ret, size_t *ret_len, struct error *err) {
    _cleanup_(freep) char *full = NULL;
    size_t len = 0;

    if (!path || *ret)
        return 0;
    full = beside(base, path);
    if (host_read(host, full, FILE_MAX, ret, &len, err) < 0)
        return error_prefix(err, "read the %s file defined in kubeconfig", kind);
    if (strlen(*ret) != len)
        return error_set(err, ERROR_USAGE,
                         "read the %s file defined in kubeconfig: '%s' holds a NUL byte", kind,
                         full);
    if (ret_len)
        *ret_len = len;
    return 0;
}

static int embed_all(struct host *host, const char *path, struct kubeconfig *c, struct error *err) {
    if (embed(host, path, c->ca_file, "certificate authority", &c->ca_pem, &c->ca_pem_len, err) <
            0 ||
        embed(host, path, c->client_cert_file, "client cert", &c->client_cert_pem, NULL, err) < 0 ||
        embed(host, path, c->client_key_file, "client key", &c->client_key_pem, NULL, err) < 0)
        return -1;
    if (embed(host, path, c->token_file, "token", &c->token, NULL, err) < 0)
        return -1;
    if (c->token_file && c->token && !*c->token) { /* an empty file is no credential */
        free(take_ptr(c->token_file));
        free(take_ptr(c->token));
    }
    return 0;
}

static int check_problems(const struct text_list *problems, const char *path, struct error *err) {
    _cleanup_(freep) char *all = NULL;

    if (!problems->count)
        return 0;
    all = text_list_join(problems, ", ");
    return error_set(err, ERROR_USAGE, "read '%s': invalid configuration: %s%s%s", path,
                     problems->count > 1 ? "[" : "", all, problems->count > 1 ? "]" : "");
}

static void check_files(struct host *host, struct reading *r) {
    for (size_t i = 0; i < r->files.count; i++) {
        _cleanup_(freep) char *full = beside(r->what, r->files.items[i]);

        if (host_file_type(host, full) == HOST_ABSENT)
            problem(r, "unable to read '%s'", full);
    }
}

int kubeconfig_read_file(struct host *host, const char *path, struct kubeconfig *ret,
                         struct error *err) {
    _cleanup_(secret_freep) char *text = NULL;
    struct reading r = {.what = path, .validate = true, .err = err};
    struct kubeconfig config = {0};
    size_t len = 0;
    int result;

    if (host_read(host, path, FILE_MAX, &text, &len, err) < 0)
        return -1;
    result = parse(&r, text, len, &config);
    if (result == 0) {
        check_files(host, &r);
        result = check_problems(&r.problems, path, err);
    }
    if (result == 0)
        result = embed_all(host, path, &config, err);
    reading_free(&r);
    if (result < 0) {
        kubeconfig_free(&config);
        return -1;
    }
    *ret = config;
    return 0;
}

int kubeconfig_parse_whole(const char *text, size_t len, const char *what, struct kubeconfig *ret,
                           struct error *err) {
    struct reading r = {.what = what, .validate = true, .err = err};
    struct kubeconfig config = {0};
    int result = parse(&r, text, len, &config);

    if (result == 0)
        result = check_problems(&r.problems, what, err);
    if (result == 0 && (r.files.count || config.token_file))
        result = error_set(err, ERROR_USAGE,
                           "read '%s': it names the file '%s' of this machine: everything must be "
                           "inside it",
                           what, r.files.count ? r.files.items[0] : config.token_file);
    reading_free(&r);
    if (result < 0) {
        kubeconfig_free(&config);
        return -1;
    }
    *ret = config;
    return 0;
}
