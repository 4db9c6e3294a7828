/* Validates a worker's JoinConfiguration as kubeadm does on Windows, and a little more strictly. */
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

/* The line has at most this many errors and about this many bytes, so that it stays readable.
 * Further errors are only counted. */
enum { ERRORS_MAX = 4, LENGTH_MAX = 240 };

struct check {
    const json_t *configuration;
    const struct yaml *yaml;
    struct host *host;
    struct text_list errors, hints;
    /* The number of bytes of the errors, and the number of errors that are not printed. */
    size_t length, more;
    bool is_of_file; /* At least one error is about a value of the file. */
};

static void hint(struct check *c, const char *text) {
    if (!text_list_has(&c->hints, text))
        text_list_add(&c->hints, text);
}

/* Adds an error. `place` is the path of the value that must be changed. A value without a place in
 * the file came from a flag or a variable; its error is `of_flag`. */
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

/* Returns the name of the flag that gives a field, for errors about the command line. An index
 * behind the path ("[2]") is ignored. For a field without a flag it returns the path. The caller
 * frees the text. */
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

/* Adds an error in the form of k8s.io/apimachinery's field.Invalid. `value` is NULL for a secret,
 * which is not shown. */
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

/* Adds an error in the form of k8s.io/apimachinery's field.Required. */
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

/* ---- discovery ---- */

static void check_token(struct check *c, const char *path, const char *token) {
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
        invalid(c, path, NULL, detail ? detail + 2 : why.message);
    else
        missing(c, path, "the bootstrap token");
}

/* Adds a hint about the usual mistakes in an endpoint that was copied or typed by hand. */
static void hint_at_endpoint(struct check *c, const char *endpoint) {
    const char *scheme = strstr(endpoint, "://"), *host = scheme ? scheme + 3 : endpoint;
    size_t len = strcspn(host, "/?#,"), port = len;
    _cleanup_(freep) char *given = xstrndup(host, len), *address = NULL, *right = NULL,
                          *text = NULL;
    struct ip ip;

    /* "10.0.0.1.6443" and "10.0.0.1 6443" are corrected to "10.0.0.1:6443". */
    while (port && isdigit((unsigned char)given[port - 1]))
        port--;
    address = xstrndup(given, port ? port - 1 : 0);
    if (port < len && ip_parse(address, &ip, ERROR_IGNORED) == 0 && ip.family == 4)
        right = xasprintf("%s:%s", address, given + port);

    if (!right && strchr(endpoint, ' ')) {
        hint(c, "leave out the quotes, which make one word of the line");
        return;
    }
    /* A password comes before the '@', so nothing of the endpoint is shown. */
    if (strchr(host, '@'))
        text_set(&right, xstrdup("<ip>:6443"));
    else if (!scheme && !right && *host != '[' && host[len] != ',' &&
             strchr(host, ':') != strrchr(host, ':'))
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
    const char *endpoint = text_at(c, path), *problem;
    const char *colon = strrchr(endpoint, ':');
    /* A password may come before the '@', so only the text after it is shown. */
    const char *at = strrchr(endpoint, '@');
    size_t len = colon ? (size_t)(colon - endpoint) : 0;

    if (!*endpoint) {
        missing(c, path, "host:port of the API server");
        return;
    }
    /* Only the form "host:port" is checked here. */
    if (!colon || text_ends_with(endpoint, "]"))
        problem = "missing port in address";
    else if (*endpoint == '[' ? endpoint[len - 1] != ']' : memchr(endpoint, ':', len) != NULL)
        problem = "too many colons in address";
    else if (endpoint[strcspn(endpoint, "/?#")])
        problem = "it must be HOST:PORT and nothing more";
    else
        return;
    invalid(c, path, at ? at + 1 : endpoint, problem);
    hint_at_endpoint(c, endpoint);
}

/* Returns the length of a URL's scheme (RFC 3986). Returns 0 without a scheme; a single letter is a
 * Windows drive. */
static size_t scheme_length(const char *text) {
    size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.");

    return len > 1 && isalpha((unsigned char)*text) && text[len] == ':' ? len : 0;
}

static void check_discovery(struct check *c) {
    bool by_token = json_is_object(json_at(c->configuration, "discovery.bootstrapToken")),
         by_file = json_is_object(json_at(c->configuration, "discovery.file"));
    const char *token = text_at(c, "discovery.bootstrapToken.token"),
               *tls = text_at(c, "discovery.tlsBootstrapToken");
    const json_t *pins = json_at(c->configuration, "discovery.bootstrapToken.caCertHashes");
    static const char file_path[] = "discovery.file.kubeConfigPath";

    if (!by_token && !by_file)
        invalid(c, "discovery", "", "bootstrapToken or file must be set");
    if (by_token && by_file)
        invalid(c, "discovery", "", "bootstrapToken and file cannot both be set");
    if (by_token) {
        check_endpoint(c);
        check_token(c, "discovery.bootstrapToken.token", token);
        if (*tls && !text_equal(tls, token))
            check_token(c, "discovery.tlsBootstrapToken", tls);
        if (json_array_size(pins) == 0 &&
            !json_bool_at(c->configuration, "discovery.bootstrapToken.unsafeSkipCAVerification",
                          false)) {
            missing(c, "discovery.bootstrapToken.caCertHashes", "the hash of the cluster's CA");
            hint(c, WHOLE_LINE);
        }
        json_each(pins, i, item) {
            _cleanup_(freep) char *path =
                xasprintf("discovery.bootstrapToken.caCertHashes[%zu]", i);
            const char *text = json_is_string(item) ? json_string_value(item) : "";
            char pin[PIN_TEXT_MAX];
            struct error why = {0};

            if (pin_parse(text, pin, &why) == 0)
                continue;
            invalid(c, path, text, strstr(why.message, "must be"));
            hint(c, *why.hints[0] ? why.hints[0] : WHOLE_LINE);
        }
    }
    if (by_file) {
        _cleanup_(freep) char *file = join_discovery_file_path(text_at(c, file_path));
        _cleanup_(freep) char *full = terminal_full_path(file);
        size_t scheme = scheme_length(file);
        _cleanup_(freep) char *shown = scheme ? http_shown_url(file) : path_shown(file);

        if (scheme && !(scheme == 5 && strncmp(file, "https", 5) == 0))
            invalid(c, file_path, shown, "if a URL is used, the scheme must be https");
        else if (scheme ? !text_starts_with(file, "https://") || strchr("/?#:", file[8])
                        : !*file || (c->host && host_file_type(c->host, full) == HOST_ABSENT))
            invalid(c, file_path, shown, "not a valid HTTPS URL or a file on disk");
        if (*tls)
            check_token(c, "discovery.tlsBootstrapToken", tls);
    }
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

/* Checks the runtime's socket. kubeadm puts "npipe://" before a bare path, and accepts URLs and
 * backslashes with which no pipe can be opened. This check refuses those. */
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

/* Refuses arguments with which the kubelet would not start. An argument for which winjoin has a
 * flag is checked as the flag is. */
static void check_args(struct check *c) {
    static const char path[] = "nodeRegistration.kubeletExtraArgs";

    json_each(json_at(c->configuration, path), i, item) {
        const char *name = json_string_value(json_object_get(item, "name")),
                   *value = json_text_or(item, "value", "");
        struct error why = {0};
        char index[32], place[64];

        (void)text_format(index, sizeof index, "index %zu", i);
        (void)text_format(place, sizeof place, "%s[%zu]", path, i);
        if (!name || !*name)
            invalid_at(c, place, path, index, "argument has no name");
        else if (*name == '-' || strpbrk(name, "= \t\r\n\""))
            invalid_at(c, place, path, index,
                       "an argument's name must not begin with dashes or contain '='");
        else if (text_equal(name, "hostname-override"))
            check_name(c, place, path, value);
        else if (kubelet_argument_check(name, value, &why) < 0)
            invalid_at(c, place, path, name, why.message);
        for (size_t k = 0; k < ERROR_HINTS_MAX && *why.hints[k]; k++)
            hint(c, why.hints[k]);
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

/* ---- other fields ---- */

static void check_rest(struct check *c) {
    /* With a limit of 0, each of these waits would end before it begins. */
    static const char *const waits[] = {"timeouts.discovery", "timeouts.tlsBootstrap",
                                        "timeouts.kubeletHealthCheck",
                                        "timeouts.kubernetesAPICall"};
    const char *policy = text_at(c, "nodeRegistration.imagePullPolicy"),
               *ca = text_at(c, "caCertPath");

    if (*policy && !text_equal(policy, "Always") && !text_equal(policy, "IfNotPresent") &&
        !text_equal(policy, "Never"))
        invalid(c, "nodeRegistration.imagePullPolicy", policy, "invalid pull policy");
    if (json_is_object(json_at(c->configuration, "controlPlane")))
        add(c, "controlPlane",
            "controlPlane: Forbidden: a control plane does not run on Windows; winjoin joins "
            "workers",
            "");
    /* An absolute path on Windows begins with a drive, or with the root of the current drive. */
    if (*ca && !strchr("\\/", *ca) &&
        !(isalpha((unsigned char)*ca) && ca[1] == ':' && (ca[2] == '\\' || ca[2] == '/')))
        invalid(c, "caCertPath", ca, "the ca certificate path must be an absolute path");
    else if (*ca && !text_ends_with(ca, ".crt"))
        invalid(c, "caCertPath", ca, "the ca certificate path must end in .crt");
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
    check_rest(&c);
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
