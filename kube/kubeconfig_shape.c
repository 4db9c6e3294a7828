/* The shape of a kubeconfig: types of its fields, doubles. */
#include "kube/kubeconfig_shape.h"

#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/memory.h"

enum { ENTRIES_MAX = 1000 }; /* each name is compared with all others */

/* One check of a whole document. */
struct check {
    const char *what;
    struct error *err;
};

enum shape { TEXT, BYTES, BOOL, TEXTS, TEXT_MAP, TEXTS_MAP, MAP, ENVIRONMENT, EXTENSIONS };
struct field {
    const char *path;
    enum shape shape;
};

static const struct field of_root[] = {{"kind", TEXT},
                                       {"apiVersion", TEXT},
                                       {"current-context", TEXT},
                                       {"preferences", MAP},
                                       {"preferences.colors", BOOL},
                                       {"preferences.extensions", EXTENSIONS},
                                       {"extensions", EXTENSIONS}};
static const struct field of_cluster[] = {{"server", TEXT},
                                          {"tls-server-name", TEXT},
                                          {"insecure-skip-tls-verify", BOOL},
                                          {"certificate-authority", TEXT},
                                          {"certificate-authority-data", BYTES},
                                          {"proxy-url", TEXT},
                                          {"disable-compression", BOOL},
                                          {"extensions", EXTENSIONS}};
static const struct field of_context[] = {
    {"cluster", TEXT}, {"user", TEXT}, {"namespace", TEXT}, {"extensions", EXTENSIONS}};
static const struct field of_user[] = {
    {"client-certificate", TEXT},
    {"client-certificate-data", BYTES},
    {"client-key", TEXT},
    {"client-key-data", BYTES},
    {"token", TEXT},
    {"tokenFile", TEXT},
    {"as", TEXT},
    {"as-uid", TEXT},
    {"as-groups", TEXTS},
    {"as-user-extra", TEXTS_MAP},
    {"extensions", EXTENSIONS},
    {"username", TEXT},
    {"password", TEXT},
    {"auth-provider", MAP},
    {"auth-provider.name", TEXT},
    {"auth-provider.config", TEXT_MAP},
    {"exec", MAP},
    {"exec.command", TEXT},
    {"exec.args", TEXTS},
    {"exec.env", ENVIRONMENT},
    {"exec.apiVersion", TEXT},
    {"exec.installHint", TEXT},
    {"exec.provideClusterInfo", BOOL},
    {"exec.interactiveMode", TEXT},
};

static int refuse(const struct check *c, const struct yaml_node *node, const char *why) {
    return error_set(c->err, ERROR_MALFORMED, "%s: line %zu column %zu: %s", c->what,
                     yaml_line(node), yaml_column(node), why);
}

static bool is_text(const struct yaml_node *node) {
    _cleanup_json_ json_t *json = NULL;

    if (yaml_type(node) != YAML_SCALAR)
        return false;
    json = yaml_to_json(node);
    return json_is_string(json);
}

static int check_text(const struct check *c, const struct yaml_node *node) {
    if (yaml_type(node) == YAML_NULL || is_text(node))
        return 0;
    return refuse(c, node,
                  yaml_type(node) == YAML_SCALAR ? "a text was expected: put the value into quotes"
                                                 : "a text was expected");
}

static int check_bytes(const struct check *c, const struct yaml_node *node, const char *path) {
    unsigned char *data = NULL;
    size_t len;

    if (check_text(c, node) < 0)
        return -1;
    if (yaml_type(node) == YAML_NULL)
        return 0;
    if (base64_decode(yaml_text(node), strlen(yaml_text(node)), &data, &len, c->err) < 0)
        return error_prefix(c->err, "%s: line %zu: \"%s\"", c->what, yaml_line(node), path);
    secret_free((char *)data, len);
    return 0;
}

static int check_texts(const struct check *c, const struct yaml_node *node, enum yaml_type type) {
    if (yaml_type(node) != YAML_NULL && yaml_type(node) != type)
        return refuse(c, node, type == YAML_LIST ? "a list was expected" : "a map was expected");
    for (size_t i = 0; i < yaml_count(node); i++)
        if (check_text(c, type == YAML_LIST ? yaml_item(node, i) : yaml_value(node, i)) < 0)
            return -1;
    return 0;
}

static int check_environment(const struct check *c, const struct yaml_node *node) {
    if (yaml_type(node) != YAML_NULL && yaml_type(node) != YAML_LIST)
        return refuse(c, node, "a list was expected");
    for (size_t i = 0; i < yaml_count(node); i++)
        if (check_texts(c, yaml_item(node, i), YAML_MAP) < 0)
            return -1;
    return 0;
}

static const char *name_of(const struct yaml_node *entry) {
    const char *name = yaml_text_at(entry, "name");

    return name ? name : "";
}

/* true when one before it has its name and stands for something. */
static bool is_extended(const struct yaml_node *list, size_t at) {
    for (size_t i = 0; i < at; i++) {
        const struct yaml_node *entry = yaml_item(list, i);

        if (text_equal(name_of(entry), name_of(yaml_item(list, at))) &&
            yaml_type(yaml_at(entry, "extension")) != YAML_NULL)
            return true;
    }
    return false;
}

/* What a name stands for is anything. */
static int check_extensions(const struct check *c, const struct yaml_node *node) {
    if (yaml_type(node) != YAML_LIST)
        return refuse(c, node, "a list was expected");
    if (yaml_count(node) > ENTRIES_MAX)
        return refuse(c, node, "more than 1000 entries in one list");
    for (size_t i = 0; i < yaml_count(node); i++) {
        const struct yaml_node *entry = yaml_item(node, i);

        if (yaml_type(entry) == YAML_NULL)
            continue;
        if (yaml_type(entry) != YAML_MAP)
            return refuse(c, entry, "a map was expected");
        if (check_text(c, yaml_at(entry, "name")) < 0)
            return -1;
        if (is_extended(node, i))
            return refuse(c, entry, "an extension of this name stands here already");
    }
    return 0;
}

static int check_texts_map(const struct check *c, const struct yaml_node *node) {
    if (yaml_type(node) != YAML_MAP)
        return refuse(c, node, "a map was expected");
    for (size_t i = 0; i < yaml_count(node); i++)
        if (check_texts(c, yaml_value(node, i), YAML_LIST) < 0)
            return -1;
    return 0;
}

static int check_field(const struct check *c, const struct yaml_node *map,
                       const struct field *field) {
    const struct yaml_node *node = yaml_at(map, field->path);

    if (yaml_type(node) == YAML_NULL)
        return 0;
    switch (field->shape) {
    case TEXT:
        return check_text(c, node);
    case BYTES:
        return check_bytes(c, node, field->path);
    case BOOL:
        if (yaml_type(node) == YAML_SCALAR && !yaml_is_quoted(node) &&
            (text_equal(yaml_text(node), "true") || text_equal(yaml_text(node), "false")))
            return 0;
        return refuse(c, node, "true or false was expected");
    case TEXTS:
        return check_texts(c, node, YAML_LIST);
    case TEXT_MAP:
        return check_texts(c, node, YAML_MAP);
    case MAP:
        return yaml_type(node) == YAML_MAP ? 0 : refuse(c, node, "a map was expected");
    case TEXTS_MAP:
        return check_texts_map(c, node);
    case ENVIRONMENT:
        return check_environment(c, node);
    case EXTENSIONS:
        return check_extensions(c, node);
    }
    return 0;
}

static int check_fields(const struct check *c, const struct yaml_node *map,
                        const struct field *fields, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (check_field(c, map, &fields[i]) < 0)
            return -1;
    return 0;
}

static int check_entry(const struct check *c, const struct yaml_node *list, size_t at,
                       const char *body, const struct field *fields, size_t count) {
    const struct yaml_node *entry = yaml_item(list, at), *map;

    if (yaml_type(entry) != YAML_MAP)
        return refuse(c, entry, "an entry with a name was expected");
    if (check_text(c, yaml_at(entry, "name")) < 0)
        return -1;
    for (size_t i = 0; i < at; i++)
        if (text_equal(name_of(yaml_item(list, i)), name_of(entry)))
            return refuse(c, entry, "an entry of this name stands here already");
    map = yaml_at(entry, body);
    if (yaml_type(map) == YAML_NULL && !text_equal(body, "cluster"))
        return 0;
    if (yaml_type(map) != YAML_MAP)
        return refuse(c, map ? map : entry,
                      text_equal(body, "cluster") ? "an entry needs a map \"cluster\""
                                                  : "a map was expected");
    return check_fields(c, map, fields, count);
}

static int check_list(const struct check *c, const struct yaml_node *root, const char *list,
                      const char *body, const struct field *fields, size_t count) {
    const struct yaml_node *entries = yaml_at(root, list);

    if (yaml_type(entries) == YAML_NULL)
        return 0;
    if (yaml_type(entries) != YAML_LIST)
        return refuse(c, entries, "a list was expected");
    if (yaml_count(entries) > ENTRIES_MAX)
        return refuse(c, entries, "more than 1000 entries in one list");
    for (size_t i = 0; i < yaml_count(entries); i++)
        if (check_entry(c, entries, i, body, fields, count) < 0)
            return -1;
    return 0;
}

/* client-go finds these two whatever their case (serializer/json/meta.go), in the order of their
 * bytes, and the last one counts. */
static const struct yaml_node *find_last(const struct yaml_node *root, const char *field) {
    const struct yaml_node *last = NULL;
    const char *last_key = "";

    for (size_t i = 0; i < yaml_count(root); i++) {
        const char *key = yaml_key(root, i);

        if (text_equal_nocase(key, field) && strcmp(key, last_key) > 0 &&
            yaml_type(yaml_value(root, i)) != YAML_NULL) {
            last = yaml_value(root, i);
            last_key = key;
        }
    }
    return last;
}

/* An absent kind or version is Config of v1 (clientcmd.Load gives both as defaults). */
static int check_meta(const struct check *c, const struct yaml_node *root, const char *field,
                      const char *wanted, const char *why) {
    const struct yaml_node *node = find_last(root, field);

    if (!node)
        return 0;
    if (check_text(c, node) < 0)
        return -1;
    return !*yaml_text(node) || text_equal(yaml_text(node), wanted) ? 0 : refuse(c, node, why);
}

static int check_kind(const struct check *c, const struct yaml_node *root) {
    if (check_meta(c, root, "kind", "Config", "the kind of a kubeconfig is Config") < 0)
        return -1;
    return check_meta(c, root, "apiVersion", "v1", "the version of a kubeconfig is v1");
}

int kubeconfig_check_shape(const struct yaml_node *root, const char *what, struct error *err) {
    struct check c = {.what = what, .err = err};

    if (check_fields(&c, root, of_root, ARRAY_SIZE(of_root)) < 0 || check_kind(&c, root) < 0 ||
        check_list(&c, root, "clusters", "cluster", of_cluster, ARRAY_SIZE(of_cluster)) < 0 ||
        check_list(&c, root, "contexts", "context", of_context, ARRAY_SIZE(of_context)) < 0)
        return -1;
    return check_list(&c, root, "users", "user", of_user, ARRAY_SIZE(of_user));
}
