/* What kubeadm's validation says of a worker's JoinConfiguration on Windows, and a little more. */
#include <ctype.h>

#include "base/cidr.h"
#include "host/http.h"
#include "host/path.h"
#include "host/terminal.h"
#include "join/configuration/join_configuration.h"
#include "join/configuration/kubelet_arguments.h"
#include "kube/object.h"
#include "pki/digest.h"
#include "pki/token.h"
#include "services/cri.h"

#define WHOLE_LINE                                                                                 \
    "a control-plane node prints the whole line: kubeadm token create --print-join-command"

/* What is beyond both is counted: a line stays readable. */
enum { ERRORS_MAX = 4, LENGTH_MAX = 240 };

struct check {
    const json_t *configuration;
    const struct yaml *yaml;
    struct host *host;
    struct text_list errors, hints;
    size_t length, more; /* of the errors; how many others */
    bool is_of_file;     /* one of them */
};

static void hint(struct check *c, const char *text) {
    if (!text_list_has(&c->hints, text))
        text_list_add(&c->hints, text);
}

/* `place` is the path of what must be changed. What has no place in the file was given by a flag or
 * a variable. */
static void add(struct check *c, const char *place, const char *of_file, const char *of_flag) {
    const struct yaml_place *at = yaml_place(c->yaml, c->configuration, place);

    if (c->errors.count == ERRORS_MAX || c->length > LENGTH_MAX) {
        c->more++;
        return;
    }
    c->is_of_file |= at != NULL;
    c->length += strlen(at ? of_file : of_flag);
    text_list_add_owned(&c->errors,
                        at ? xasprintf("line %zu column %zu: %s", at->line, at->column, of_file)
                           : xstrdup(of_flag));
}

/* What gives a field on the command line: errors name what was typed. An index behind it ("[2]")
 * does not count; a field that nothing there gives has its path. */
static char *flag_of(const char *path) {
    static const struct {
        const char *path, *name;
    } others[] = {
        {"discovery", "endpoint and --discovery-file"},
        {"discovery.bootstrapToken.apiServerEndpoint", "endpoint"},
        {"discovery.bootstrapToken.token", "--token"},
    };
    _cleanup_(freep) char *bare = xstrndup(path, strcspn(path, "["));

    for (size_t i = 0; i < ARRAY_SIZE(others); i++)
        if (text_equal(others[i].path, bare))
            return xstrdup(others[i].name);
    join_each_option(o)
        if (o->flag && text_equal(o->join, bare))
            return xasprintf("--%s", o->flag);
    return xstrdup(path);
}

/* In a file: k8s.io/apimachinery's field.Invalid. `value` NULL: a secret. */
static void invalid_at(struct check *c, const char *place, const char *path, const char *value,
                       const char *why) {
    _cleanup_(freep) char *shown = xasprintf("\"%.200s\"", value ? value : "<redacted>");
    bool show = value && *value;
    _cleanup_(freep) char *of_file = xasprintf("%s: Invalid value: %s: %s", path, shown, why);
    _cleanup_(freep) char *flag = flag_of(path);
    _cleanup_(freep) char *of_flag =
        xasprintf("%s%s%s: %s", flag, show ? " " : "", show ? shown : "", why);

    add(c, place, of_file, of_flag);
}

/* field.Required. */
static void missing(struct check *c, const char *path, const char *what) {
    _cleanup_(freep) char *of_file = xasprintf("%s: Required value: %s", path, what);
    _cleanup_(freep) char *flag = flag_of(path), *of_flag = xasprintf("%s is missing", flag);

    add(c, path, of_file, of_flag);
}

static void invalid(struct check *c, const char *path, const char *value, const char *why) {
    invalid_at(c, path, path, value, why);
}

static const char *text_at(const struct check *c, const char *path) {
    return json_text_or(c->configuration, path, "");
}

static bool is_object(const struct check *c, const char *path) {
    return json_is_object(json_at(c->configuration, path));
}

/* ---- discovery ---- */

static void check_token(struct check *c, const char *place, const char *path, const char *token) {
    struct error why = {0};
    struct token parsed;
    const char *detail;

    if (token_parse(token, &parsed, &why) == 0) {
        token_clear(&parsed);
        return;
    }
    hint(c, WHOLE_LINE);
    detail = strstr(why.message, ": ");
    if (*token)
        invalid_at(c, place, path, NULL, detail ? detail + 2 : why.message);
    else
        missing(c, path, "the bootstrap token");
}

/* Only the shape of "host:port"; NULL when it is right. */
static const char *endpoint_problem(const char *endpoint) {
    const char *colon = strrchr(endpoint, ':');
    size_t len = colon ? (size_t)(colon - endpoint) : 0;

    if (!colon || text_ends_with(endpoint, "]"))
        return "missing port in address";
    if (*endpoint == '[' ? endpoint[len - 1] != ']' : memchr(endpoint, ':', len) != NULL)
        return "too many colons in address";
    return endpoint[strcspn(endpoint, "/?#")] ? "it must be HOST:PORT and nothing more" : NULL;
}

/* "10.0.0.1:6443" for "10.0.0.1.6443" and "10.0.0.1 6443"; NULL for anything else. */
static char *with_a_colon(const char *endpoint) {
    size_t len = strlen(endpoint), port = len;
    _cleanup_(freep) char *host = NULL;
    struct ip ip;

    while (port && isdigit((unsigned char)endpoint[port - 1]))
        port--;
    host = xstrndup(endpoint, port ? port - 1 : 0);
    return port < len && ip_parse(host, &ip, ERROR_IGNORED) == 0 && ip.family == 4
               ? xasprintf("%s:%s", host, endpoint + port)
               : NULL;
}

/* What of a line is most often lost or added by hand. */
static void hint_at_endpoint(struct check *c, const char *endpoint) {
    const char *scheme = strstr(endpoint, "://"), *host = scheme ? scheme + 3 : endpoint;
    size_t len = strcspn(host, "/?#,");
    _cleanup_(freep) char *given = xstrndup(host, len), *right = with_a_colon(given), *text = NULL;
    bool bare = !scheme && !right && *host != '[' && host[len] != ',';

    if (!right && strchr(endpoint, ' ')) {
        hint(c, "leave out the quotes, which make one word of the line");
        return;
    }
    if (strchr(host, '@')) /* behind a password */
        right = xstrdup("<ip>:6443");
    else if (bare && strchr(host, ':') != strrchr(host, ':'))
        right =
            xasprintf("[%.*s]:6443", (int)(strlen(host) - 5 * text_ends_with(host, ":6443")), host);
    else if (!right)
        right = xasprintf("%s%s", given,
                          text_ends_with(given, "]") || !strchr(given, ':') ? ":6443" : "");
    text = xasprintf("%s: %s",
                     *right == '[' && *host != '[' ? "give an IPv6 address in brackets"
                                                   : "give only host and port",
                     right);
    hint(c, text);
}

static void check_endpoint(struct check *c) {
    static const char path[] = "discovery.bootstrapToken.apiServerEndpoint";
    const char *endpoint = text_at(c, path), *problem = endpoint_problem(endpoint);
    const char *at = strrchr(endpoint, '@'); /* a password may stand before it */

    if (!*endpoint) {
        missing(c, path, "host:port of the API server");
    } else if (problem) {
        invalid(c, path, at ? at + 1 : endpoint, problem);
        hint_at_endpoint(c, endpoint);
    }
}

static void check_pins(struct check *c) {
    const json_t *pins = json_at(c->configuration, "discovery.bootstrapToken.caCertHashes");
    bool skip =
        json_bool_at(c->configuration, "discovery.bootstrapToken.unsafeSkipCAVerification", false);

    if (json_array_size(pins) == 0 && !skip) {
        missing(c, "discovery.bootstrapToken.caCertHashes", "the hash of the cluster's CA");
        hint(c, WHOLE_LINE);
    }
    json_each(pins, i, item) {
        _cleanup_(freep) char *path = xasprintf("discovery.bootstrapToken.caCertHashes[%zu]", i);
        const char *text = json_is_string(item) ? json_string_value(item) : "";
        char pin[PIN_TEXT_MAX];
        struct error why = {0};

        if (pin_parse(text, pin, &why) == 0)
            continue;
        invalid(c, path, text, strstr(why.message, "must be"));
        hint(c, *why.hints[0] ? why.hints[0] : WHOLE_LINE);
    }
}

static void check_bootstrap_token(struct check *c) {
    static const char path[] = "discovery.bootstrapToken.token",
                      tls_path[] = "discovery.tlsBootstrapToken";
    const char *token = text_at(c, path), *tls = text_at(c, tls_path);

    check_endpoint(c);
    check_token(c, path, path, token);
    if (*tls && !text_equal(tls, token))
        check_token(c, tls_path, tls_path, tls);
    check_pins(c);
}

/* RFC 3986's scheme; one letter is a drive. */
static size_t scheme_length(const char *text) {
    size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.");

    return len > 1 && isalpha((unsigned char)*text) && text[len] == ':' ? len : 0;
}

static void check_file(struct check *c) {
    static const char path[] = "discovery.file.kubeConfigPath";
    _cleanup_(freep) char *file = join_discovery_file_path(text_at(c, path));
    const char *tls = text_at(c, "discovery.tlsBootstrapToken");
    size_t scheme = scheme_length(file);
    _cleanup_(freep) char *full = terminal_full_path(file);
    _cleanup_(freep) char *shown = scheme ? http_shown_url(file) : path_shown(file);

    if (scheme && !(scheme == 5 && strncmp(file, "https", 5) == 0))
        invalid(c, path, shown, "if a URL is used, the scheme must be https");
    else if ((scheme && (!text_starts_with(file, "https://") || strchr("/?#:", file[8]))) ||
             (!scheme && (!*file || (c->host && host_file_type(c->host, full) == HOST_ABSENT))))
        invalid(c, path, shown, "not a valid HTTPS URL or a file on disk");
    if (*tls)
        check_token(c, "discovery.tlsBootstrapToken", "discovery.tlsBootstrapToken", tls);
}

static void check_discovery(struct check *c) {
    bool token = is_object(c, "discovery.bootstrapToken"), file = is_object(c, "discovery.file");

    if (!token && !file)
        invalid(c, "discovery", "", "bootstrapToken or file must be set");
    if (token && file)
        invalid(c, "discovery", "", "bootstrapToken and file cannot both be set");
    if (token)
        check_bootstrap_token(c);
    if (file)
        check_file(c);
}

/* ---- the node ---- */

static void check_name(struct check *c, const char *place, const char *path, const char *given) {
    _cleanup_(freep) char *name = join_node_name_read(given ? given : ""), *near = NULL;

    if (kube_name_is_valid(name))
        return;
    invalid_at(c, place, path, given ? given : "", JOIN_NODE_NAME_RULE);
    near = join_node_name_near(name);
    if (near) {
        _cleanup_(freep) char *text = xasprintf("a name like that: %s", near);

        hint(c, text);
    }
}

/* kubeadm puts "npipe://" before a bare path. Other URLs and backslashes, which it lets pass in
 * part, open no pipe. */
static void check_cri_socket(struct check *c) {
    static const char path[] = "nodeRegistration.criSocket";
    const char *socket = text_at(c, path);
    size_t scheme = scheme_length(socket);

    if (scheme && !text_starts_with(socket, "npipe:")) {
        _cleanup_(freep) char *why =
            xasprintf("only URL scheme \"npipe\" is supported, got \"%.*s\"", (int)scheme, socket);

        invalid(c, path, socket, why);
        hint(c, "leave it out: winjoin's containerd listens at "
                "npipe:////./pipe/containerd-containerd");
    } else if (*socket && (strchr(socket, '\\') || !cri_socket_is_local(socket))) {
        invalid(c, path, socket, "no pipe name: write npipe:////./pipe/containerd-containerd");
    }
}

/* What winjoin has a flag for is judged as the flag is. */
static void check_arg_value(struct check *c, const char *place, const char *path, const char *name,
                            const char *value) {
    struct error why = {0};

    if (text_equal(name, "hostname-override"))
        check_name(c, place, path, value);
    else if (kubelet_argument_check(name, value, &why) < 0)
        invalid_at(c, place, path, name, why.message);
    for (size_t i = 0; i < ERROR_HINTS_MAX && *why.hints[i]; i++)
        hint(c, why.hints[i]);
}

/* The kubelet does not start with what these refuse. */
static void check_args(struct check *c) {
    static const char path[] = "nodeRegistration.kubeletExtraArgs";

    json_each(json_at(c->configuration, path), i, item) {
        const char *name = json_string_value(json_object_get(item, "name"));
        char index[32], place[64];

        (void)text_format(index, sizeof index, "index %zu", i);
        (void)text_format(place, sizeof place, "%s[%zu]", path, i);
        if (!name || !*name)
            invalid_at(c, place, path, index, "argument has no name");
        else if (*name == '-' || strpbrk(name, "= \t\r\n\""))
            invalid_at(c, place, path, index,
                       "an argument's name must not begin with dashes or contain '='");
        else
            check_arg_value(c, place, path, name, json_text_or(item, "value", ""));
    }
}

static void check_taints(struct check *c) {
    _cleanup_(text_list_free) struct text_list seen = {0};

    json_each(json_at(c->configuration, "nodeRegistration.taints"), i, item) {
        const char *key = json_string_value(json_object_get(item, "key")),
                   *value = json_string_value(json_object_get(item, "value")),
                   *effect = json_string_value(json_object_get(item, "effect"));
        const char *problem = node_taint_problem(key, value, effect);
        _cleanup_(freep) char *path = xasprintf("nodeRegistration.taints[%zu]", i),
                              *text =
                                  xasprintf("%.80s%s%.80s:%.80s", key ? key : "", value ? "=" : "",
                                            value ? value : "", effect ? effect : ""),
                              *id = xasprintf("%s:%s", key ? key : "", effect ? effect : "");

        if (!problem && text_list_has(&seen, id))
            problem = "two taints have the same key and effect";
        if (problem)
            invalid(c, path, text, problem);
        text_list_add(&seen, id);
    }
}

static void check_pull_policy(struct check *c) {
    const char *policy = text_at(c, "nodeRegistration.imagePullPolicy");

    if (*policy && !text_equal(policy, "Always") && !text_equal(policy, "IfNotPresent") &&
        !text_equal(policy, "Never"))
        invalid(c, "nodeRegistration.imagePullPolicy", policy, "invalid pull policy");
}

/* ---- the rest ---- */

static void check_control_plane(struct check *c) {
    if (is_object(c, "controlPlane"))
        add(c, "controlPlane",
            "controlPlane: Forbidden: a control plane does not run on Windows; winjoin joins "
            "workers",
            "");
}

/* Windows: a drive, or a path from the current drive's root. */
static void check_ca_path(struct check *c) {
    const char *path = text_at(c, "caCertPath");
    bool absolute =
        *path == '\\' || *path == '/' ||
        (isalpha((unsigned char)*path) && path[1] == ':' && (path[2] == '\\' || path[2] == '/'));

    if (*path && !absolute)
        invalid(c, "caCertPath", path, "the ca certificate path must be an absolute path");
    else if (*path && !text_ends_with(path, ".crt"))
        invalid(c, "caCertPath", path, "the ca certificate path must end in .crt");
}

/* With 0 these waits would end before they begin. */
static void check_timeouts(struct check *c) {
    static const char *const waits[] = {"timeouts.discovery", "timeouts.tlsBootstrap",
                                        "timeouts.kubeletHealthCheck",
                                        "timeouts.kubernetesAPICall"};

    for (size_t i = 0; i < ARRAY_SIZE(waits); i++) {
        const char *text = text_at(c, waits[i]);

        if (*text && !strpbrk(text, "123456789"))
            invalid(c, waits[i], text, "must be more than 0");
    }
}

int join_configuration_check(const json_t *configuration, const struct yaml *yaml,
                             struct host *host, struct error *err) {
    struct check c = {
        .configuration = configuration, .yaml = yaml && yaml->count ? yaml : NULL, .host = host};
    _cleanup_(freep) char *all = NULL;
    int result = 0;

    check_discovery(&c);
    if (*text_at(&c, "nodeRegistration.name"))
        check_name(&c, "nodeRegistration.name", "nodeRegistration.name",
                   text_at(&c, "nodeRegistration.name"));
    check_cri_socket(&c);
    check_args(&c);
    check_taints(&c);
    check_pull_policy(&c);
    check_control_plane(&c);
    check_ca_path(&c);
    check_timeouts(&c);
    if (c.more)
        text_list_add_owned(&c.errors, xasprintf("and %zu more", c.more));
    all = text_list_join(&c.errors, c.is_of_file ? ", " : "; ");
    if (c.errors.count)
        result =
            error_set(err, ERROR_USAGE, c.is_of_file && c.errors.count > 1 ? "[%s]" : "%s", all);
    if (c.is_of_file)
        (void)error_prefix(err, "%s", c.yaml->what);
    for (size_t i = 0; i < c.hints.count; i++)
        (void)error_hint(err, "%s", c.hints.items[i]);
    text_list_free(&c.errors);
    text_list_free(&c.hints);
    return result;
}
