/* Splits a --config file into documents and finds those that winjoin reads. */
#include "join/configuration/join_configuration.h"

#include "base/nearest.h"

enum { DOCUMENTS_MAX = 32 };

struct reader {
    enum config_kinds kinds;
    struct config_file *file;
    struct text_list *seen; /* Kinds of the documents that were already read. */
    struct error *err;
};

void config_file_free(struct config_file *file) {
    join_configuration_forget(file->join);
    json_decref(file->join);
    json_decref(file->node);
    yaml_forget(&file->yaml);
    text_list_free(&file->warnings);
    *file = (struct config_file){0};
}

/* Fails with the place of this field in the file, or with the place of the document when the
 * document has no such field. */
#define refuse(r, document, field, ...)                                                            \
    yaml_refuse(&(r)->file->yaml, yaml_place(&(r)->file->yaml, document, field), (r)->err,         \
                ERROR_USAGE, __VA_ARGS__)

/* ---- apiVersions and kinds ---- */

/* Versions of kubeadm.k8s.io that kubeadm no longer reads, each with the last that does. */
static const struct {
    const char *version, *kubeadm;
} old_versions[] = {{"kubeadm.k8s.io/v1alpha1", "v1.11"},
                    {"kubeadm.k8s.io/v1alpha2", "v1.12"},
                    {"kubeadm.k8s.io/v1alpha3", "v1.14"},
                    {"kubeadm.k8s.io/v1beta1", "v1.15"},
                    {"kubeadm.k8s.io/v1beta2", "v1.22"}};

/* Other documents that kubeadm reads. A worker's join does not use them. */
static const struct {
    const char *version, *kind;
} passed_over[] = {{"kubeadm.k8s.io/v1beta3", "InitConfiguration"},
                   {"kubeadm.k8s.io/v1beta3", "ClusterConfiguration"},
                   {"kubeadm.k8s.io/v1beta4", "InitConfiguration"},
                   {"kubeadm.k8s.io/v1beta4", "ClusterConfiguration"},
                   {"kubeadm.k8s.io/v1beta4", "ResetConfiguration"},
                   {"kubeadm.k8s.io/v1beta4", "UpgradeConfiguration"},
                   {"kubelet.config.k8s.io/v1beta1", "KubeletConfiguration"},
                   {"kubeproxy.config.k8s.io/v1alpha1", "KubeProxyConfiguration"}};

static int pass_over(struct reader *r, const json_t *node, const char *version, const char *kind) {
    static const char *const kinds[] = {JOIN_CONFIGURATION_KIND, NODE_CONFIGURATION_KIND};
    const char *near = nearest_name(kind, kinds, ARRAY_SIZE(kinds));
    size_t i = 0;

    while (i < ARRAY_SIZE(passed_over) &&
           !(text_equal(passed_over[i].version, version) && text_equal(passed_over[i].kind, kind)))
        i++;
    if (i == ARRAY_SIZE(passed_over) && (near || r->kinds == CONFIG_KNOWN)) {
        (void)refuse(r, node, "kind", "unknown configuration API \"%.100s\", kind \"%.100s\"",
                     version, kind);
        return nearest_hint(r->err, "", kind, kinds, ARRAY_SIZE(kinds));
    }
    text_list_add_owned(&r->file->warnings,
                        xasprintf("%s: line %zu: ignoring the document of kind %.60s (%.60s)",
                                  r->file->yaml.what, yaml_place(&r->file->yaml, node, "")->line,
                                  kind, version));
    return 0;
}

/* ---- the documents ---- */

/* Text that cloud-init and cloudbase-init write for a variable that the machine's metadata lacks
 * (canonical/cloud-init, cloudinit/handlers/jinja_template.py). */
#define MISSING_VARIABLE "ci_missing_jinja_var/"

static int hint_filler(struct reader *r, bool jinja) {
    if (jinja)
        (void)error_hint(r->err,
                         "the user data must begin with the line \"## template: jinja\", and "
                         "cloudbase-init (1.1.3 or newer) must find the machine's metadata: "
                         "its log is in C:\\Program Files\\Cloudbase "
                         "Solutions\\Cloudbase-Init\\log");
    return error_hint(r->err, "where Ansible, clusterctl or another tool fills it: that has to run "
                              "before; winjoin fills no template");
}

/* Returns true when the text holds a variable that was not filled: "${NAME}" of envsubst and
 * clusterctl, "<NAME>" of documentation, "<no value>" of Helm. */
static bool has_variable(const char *text) {
    static const char name[] = "-. ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";

    for (const char *p = strpbrk(text, "$<"); p; p = strpbrk(p + 1, "$<")) {
        bool angle = *p == '<';
        const char *inner = angle ? p + 1 : p + 2, *end;
        size_t len;

        if (!angle && p[1] != '{')
            continue;
        len = strspn(inner, angle ? name : name + strlen("-. "));
        end = strchr(inner, angle ? '>' : '}');
        if (len && end && (inner + len == end || (!angle && inner[len] == ':')))
            /* "${NAME:-default}" is a variable, too. */
            return true;
    }
    return false;
}

static int check_filled(struct reader *r, const json_t *value) {
    const char *text = json_string_value(value), *missing, *open;
    _cleanup_(secret_freep) char *lower = text ? text_lower(text) : NULL;
    int result = 0;
    bool jinja;

    json_each(value, i, item)
        result = result < 0 ? result : check_filled(r, item);
    json_each_member(value, key, member)
        result = result < 0 ? result : check_filled(r, member);
    if (!text)
        return result;

    missing = strstr(lower, MISSING_VARIABLE);
    if (missing) {
        missing += strlen(MISSING_VARIABLE);
        (void)refuse(r, value, "",
                     "\"%.80s\": the template's variable \"%.*s\" was not filled: the metadata of "
                     "this machine has none of that name",
                     text, (int)strcspn(missing, " \t/\"'"), missing);
        return error_hint(r->err, "correct the name in the KubeadmConfig, or make the metadata "
                                  "service give it to cloudbase-init (cloud-init)");
    }
    open = strstr(lower, "{{");
    jinja = open && strstr(open, "}}");
    if (!jinja && !has_variable(lower))
        return 0;
    (void)refuse(r, value, "", "\"%.80s\": the template was not filled", text);
    if (strchr(text, '<') && !strstr(text, "<no value>"))
        return error_hint(r->err, "put the value there; endpoint, token and hash are printed on a "
                                  "control plane node: kubeadm token create --print-join-command");
    return hint_filler(r, jinja);
}

static int read_join(struct reader *r, json_t *node, const char *version) {
    unsigned bit = join_configuration_version(version);
    const json_t *given = json_at(node, "nodeRegistration.kubeletExtraArgs");
    struct yaml_field fields[JOIN_CONFIGURATION_FIELDS_MAX];

    if (text_equal(version, "kubeadm.k8s.io/v1"))
        return refuse(r, node, "apiVersion",
                      "experimental API spec: \"%s\" (kind: \"%s\") is not allowed: use %s",
                      version, JOIN_CONFIGURATION_KIND, JOIN_CONFIGURATION_V1BETA4);
    if (!bit)
        return refuse(r, node, "apiVersion",
                      "unknown configuration API \"%.100s\", kind \"%s\": use %s", version,
                      JOIN_CONFIGURATION_KIND, JOIN_CONFIGURATION_V1BETA4);
    if (check_filled(r, node) < 0)
        return -1;
    join_configuration_fields(fields);
    if (yaml_schema_check(&r->file->yaml, node, fields, bit, r->err) < 0) {
        /* A common mistake when the version of a file is raised: the arguments still have the form
         * of the other version. */
        if (!r->err || !strstr(r->err->message, "kubeletExtraArgs: must be"))
            return -1;
        if (json_is_array(given))
            return error_hint(r->err, "a list is the form of " JOIN_CONFIGURATION_V1BETA4
                                      ": write that as apiVersion");
        json_each_member(given, key, value) {
            _cleanup_(freep) char *text =
                json_is_string(value) ? xstrdup(json_string_value(value)) : json_write(value);

            return error_hint(r->err,
                              "since " JOIN_CONFIGURATION_V1BETA4
                              " it is a list: kubeletExtraArgs: [{name: %.40s, value: \"%.80s\"}]",
                              key, text);
        }
        return -1;
    }
    if (!text_equal(version, JOIN_CONFIGURATION_V1BETA4))
        text_list_add_owned(
            &r->file->warnings,
            xasprintf("%s: line %zu: %s is deprecated and was removed from kubeadm 1.37: winjoin "
                      "config migrate --old-config %s writes the newer form",
                      r->file->yaml.what, yaml_place(&r->file->yaml, node, "")->line, version,
                      r->file->yaml.what));
    r->file->join = json_incref(node);
    join_configuration_renew(r->file->join, &r->file->yaml);
    return 0;
}

/* Returns true for "group/version" with a group, which kubeadm also requires. */
static bool is_group_version(const char *version) {
    const char *slash = version ? strchr(version, '/') : NULL;

    return slash && slash != version && slash[1] && !strchr(slash + 1, '/');
}

/* Refuses a document that lacks apiVersion or kind. A key with a similar name may be a misspelled
 * one, so the error suggests it. */
static int refuse_nameless(struct reader *r, const json_t *node) {
    static const char *const names[] = {"apiVersion", "kind"};
    const char *version = json_text_at(node, "apiVersion"), *kind = json_text_at(node, "kind");

    if (!json_is_object(node)) {
        const char *text = json_string_value(node);

        (void)refuse(r, node, "", "must be an object with apiVersion and kind, not a %s",
                     json_is_array(node) ? "list" : "text");
        return text && strstr(text, "join ")
                   ? error_hint(r->err, "winjoin join takes kubeadm's line itself: winjoin join "
                                        "kubeadm join ...")
                   : -1;
    }
    (void)refuse(r, node, "", "apiVersion and kind are mandatory%s",
                 !version && kind   ? ": apiVersion is missing"
                 : version && !kind ? ": kind is missing"
                                    : "");
    if (text_equal(version, "v1") && text_equal(kind, "Config"))
        return error_hint(r->err, "this is a kubeconfig: winjoin join --discovery-file FILE");
    if (version && *version && !is_group_version(version))
        return error_hint(r->err, "apiVersion must be a group and a version, such as %s",
                          JOIN_CONFIGURATION_V1BETA4);
    json_each_member(node, key, value) {
        const char *near = nearest_name(key, names, ARRAY_SIZE(names));
        const struct yaml_place *at = yaml_key_place(&r->file->yaml, node, key);

        if (near && !json_object_get(node, near))
            return error_hint(r->err, "line %zu column %zu: did you mean %s?", at->line, at->column,
                              near);
    }
    return -1;
}

static int read_document(struct reader *r, json_t *node) {
    const char *version = json_text_at(node, "apiVersion"), *kind = json_text_at(node, "kind");

    if (!json_is_object(node) || !is_group_version(version) || !kind || !*kind)
        return refuse_nameless(r, node);
    if (text_list_has(r->seen, kind))
        return refuse(r, node, "kind", "kind \"%.60s\" is specified twice", kind);
    text_list_add(r->seen, kind);
    for (size_t i = 0; i < ARRAY_SIZE(old_versions); i++) {
        if (!text_equal(old_versions[i].version, version))
            continue;
        (void)refuse(r, node, "apiVersion",
                     "your configuration file uses an old API spec: \"%s\" (kind: \"%.60s\")",
                     version, kind);
        return error_hint(r->err,
                          "kubeadm %s reads it: kubeadm config migrate --old-config F "
                          "--new-config G writes a newer one",
                          old_versions[i].kubeadm);
    }
    if (text_equal(kind, JOIN_CONFIGURATION_KIND))
        return read_join(r, node, version);
    if (!text_equal(kind, NODE_CONFIGURATION_KIND))
        return pass_over(r, node, version, kind);
    if (!text_equal(version, NODE_CONFIGURATION_V1ALPHA1))
        return refuse(r, node, "apiVersion",
                      "unknown configuration API \"%.100s\", kind \"%s\": use %s", version,
                      NODE_CONFIGURATION_KIND, NODE_CONFIGURATION_V1ALPHA1);
    if (check_filled(r, node) < 0 || node_configuration_check(&r->file->yaml, node, r->err) < 0)
        return -1;
    r->file->node = json_incref(node);
    return 0;
}

int config_file_parse(const char *text, size_t len, const char *what, enum config_kinds kinds,
                      struct config_file *ret, struct error *err) {
    _cleanup_(config_file_free) struct config_file file = {0};
    _cleanup_(text_list_free) struct text_list seen = {0};
    struct reader r = {.kinds = kinds, .file = &file, .seen = &seen, .err = err};

    if (len > CONFIG_FILE_MAX)
        return error_set(err, ERROR_USAGE, "%s: longer than 1 MiB", what);
    if (len >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0))
        return error_set(err, ERROR_USAGE, "%s: the file is UTF-16: save it as UTF-8", what);
    if (yaml_read(text, len, what, &file.yaml, err) < 0) {
        _cleanup_(secret_freep) char *copy = xstrndup(text, len);
        size_t line = 1;

        /* A template's "{{" or "{%" is no YAML, and the parser's message would mislead. */
        for (const char *p = copy; *p; p += strcspn(p, "\n"), p += *p == '\n', line++) {
            size_t end = strcspn(p, "\n"), code = strcspn(p, "#\n"), at = 0;

            while (at + 1 < code && !(p[at] == '{' && strchr("{%", p[at + 1])))
                at++;
            if (at + 1 >= code)
                continue;
            (void)error_set(err, ERROR_USAGE,
                            "%s: line %zu column %zu: \"%.*s\": the template was not filled", what,
                            line, at + 1, (int)(end - at < 60 ? end - at : 60), p + at);
            return hint_filler(&r, true);
        }
        return error_as(err, ERROR_USAGE);
    }
    if (json_array_size(file.yaml.documents) > DOCUMENTS_MAX)
        return error_set(err, ERROR_USAGE, "%s: more than %d documents", what, DOCUMENTS_MAX);
    json_each(file.yaml.documents, i, document)
        if (!json_is_null(document) && read_document(&r, document) < 0)
            return -1;
    if (!file.join && !file.node) {
        _cleanup_(freep) char *names = text_list_join(&seen, ", ");

        return error_set(err, ERROR_USAGE, "%s: no %s or %s found%s%s", what,
                         JOIN_CONFIGURATION_KIND, NODE_CONFIGURATION_KIND, *names ? ", but " : "",
                         names);
    }
    *ret = take_struct(file);
    return 0;
}
