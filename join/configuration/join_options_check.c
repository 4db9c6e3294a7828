/* Checks the values of options, from a document or the command line, before any request. */
#include <ctype.h>

#include "base/cidr.h"
#include "base/nearest.h"
#include "base/text.h"
#include "join/configuration/join_options.h"
#include "join/configuration/kubelet_arguments.h"
#include "netsetup/agents/agent.h"
#include "services/artifacts/image.h"

/* Checks one value. The caller adds the place of the value before the error. *ret_item is set to
 * the index of the list item that is wrong. */
static int judge(const struct join_option *o, const json_t *value, size_t *ret_item,
                 struct error *err) {
    const char *text = json_string_value(value);
    long long number = json_integer_value(value);
    long long prefixes[2] = {0}, most; /* Number of IPv4 and of IPv6 prefixes */

    if (o->type == OPTION_CHOICE && !o->check && text && choice_check(o->choices, text, err) < 0)
        return error_prefix(err, "\"%.60s\"", text);
    if (o->type == OPTION_NUMBER && o->max && (number < o->min || number > o->max))
        return error_set(err, ERROR_USAGE, "%lld: must be between %lld and %lld", number, o->min,
                         o->max);
    json_each(value, i, item)
        prefixes[json_is_string(item) && strchr(json_string_value(item), ':')]++;
    most = prefixes[0] > prefixes[1] ? prefixes[0] : prefixes[1];
    if (o->type == OPTION_LIST && o->max && most > o->max)
        return error_set(err, ERROR_USAGE,
                         "%lld prefixes of one family: Windows supports one per node", most);
    if (o->type == OPTION_DURATION && text && *text && !strpbrk(text, "123456789"))
        return error_set(err, ERROR_USAGE, "\"%.60s\": must be more than 0", text);
    if (!o->check)
        return 0;
    json_each(value, i, item) {
        *ret_item = i;
        if (o->check(json_is_string(item) ? json_string_value(item) : "", err) < 0)
            return -1;
    }
    return text && *text ? o->check(text, err) : 0;
}

/* Adds the place before the error: "what: line 3 column 4: path: Invalid value:", or the flag's
 * name when there is no text. */
int join_option_check(const struct join_option *o, const json_t *value, const struct yaml *yaml,
                      const json_t *document, struct error *err) {
    _cleanup_(freep) char *path = NULL, *place = NULL;
    const struct yaml_place *at;
    struct error why = {0};
    size_t item = SIZE_MAX;

    if (judge(o, value, &item, &why) == 0)
        return 0;
    path = item == SIZE_MAX ? xstrdup_null(o->node) : xasprintf("%s[%zu]", o->node, item);
    at = yaml_place(yaml, document, path);
    place = yaml && at ? xasprintf("%s: line %zu column %zu: %s: Invalid value:", yaml->what,
                                   at->line, at->column, path)
            : o->flag  ? xasprintf("--%s", o->flag)
                       : xstrdup_null(path);
    (void)error_set(err, why.kind == ERROR_UNSUPPORTED ? why.kind : ERROR_USAGE, "%s %s", place,
                    why.message);
    for (size_t i = 0; i < ERROR_HINTS_MAX && *why.hints[i]; i++)
        (void)error_hint(err, "%s", why.hints[i]);
    return -1;
}

int join_network_check(const struct join_options *o, struct error *err) {
    const struct network_agent *agent = network_agent_by_plugin(o->network_plugin);
    struct network_input input;

    join_network_input(o, &input);
    if (network_input_check(&input, err) < 0)
        return error_as(err, ERROR_USAGE);
    if (agent && agent->in_cluster && text_equal(o->kube_proxy, "service"))
        return error_set(err, ERROR_USAGE,
                         "kube-proxy cannot be a service with network plugin '%s': the cluster "
                         "brings its own",
                         agent->plugin);
    return 0;
}

int join_options_check(const struct join_options *options, struct error *err) {
    join_each_option(o) {
        bool judged = o->check || o->type == OPTION_CHOICE || o->max;
        _cleanup_json_ json_t *value = judged ? join_option_json(options, o) : NULL;

        if (value && join_option_check(o, value, NULL, NULL, err) < 0)
            return -1;
    }
    if (join_ignored_check(&options->ignore_preflight_errors, err) < 0)
        return error_prefix(err, "--ignore-preflight-errors");
    return join_network_check(options, err);
}

/* ---- single values ---- */

enum { NAME_MAX_LENGTH = 253 };

static char *host_of(const char *text) {
    unsigned port = 0;
    char *host = NULL;

    return text_split_port(text, &host, &port) < 0 ? NULL : host;
}

int node_address_check(const char *text, struct error *err) {
    struct ip ip;

    return ip_parse(text, &ip, NULL) == 0
               ? 0
               : error_set(err, ERROR_USAGE, "\"%.60s\": not an IP address", text);
}

int node_prefix_check(const char *text, struct error *err) {
    struct cidr cidr;

    return cidr_parse(text, &cidr, NULL) == 0
               ? 0
               : error_set(err, ERROR_USAGE, "\"%.60s\": not a prefix like 10.244.0.0/16", text);
}

int node_target_address_check(const char *text, struct error *err) {
    _cleanup_(freep) char *host = host_of(text);
    struct ip ip;

    if (host && ip_parse(host, &ip, NULL) == 0)
        return 0;
    return error_set(err, ERROR_USAGE, "\"%.60s\": not an address like 192.0.2.1 or 192.0.2.1:443",
                     text);
}

int node_target_name_check(const char *text, struct error *err) {
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";
    _cleanup_(freep) char *host = host_of(text);

    if (host && *host && strlen(host) <= NAME_MAX_LENGTH && !host[strspn(host, letters)])
        return 0;
    return error_set(err, ERROR_USAGE, "\"%.60s\": not a name like example.com or example.com:443",
                     text);
}

int node_image_check(const char *text, struct error *err) {
    size_t host = strcspn(text, "/");

    if (image_is_reference(text) && text[host] && memchr(text, '.', host))
        return 0;
    return error_set(err, ERROR_USAGE,
                     "\"%.60s\": not an image like mcr.microsoft.com/windows/nanoserver:ltsc2022",
                     text);
}

int node_line_check(const char *text, struct error *err) {
    for (const char *p = text; *p; p++)
        if (iscntrl((unsigned char)*p))
            return error_set(err, ERROR_USAGE, "\"%.60s\": contains a control character", text);
    return 0;
}

/* ---- ids of preflight checks ---- */

char *ignored_check_canonical(const char *id) {
    char *name = text_lower(id), *to = name;

    for (const char *from = name; *from; from++) {
        bool drive = from > name && from[-1] == '-' && *from >= 'a' && *from <= 'z' &&
                     from[1] == ':' && strchr("-\\/", from[2]) && from[2];

        if (drive)
            from++;
        else
            *to++ = *from == '\\' || *from == '/' ? '-' : *from;
    }
    *to = '\0';
    return name;
}

bool ignored_checks_have(const struct text_list *ignored, const char *id) {
    _cleanup_(freep) char *wanted = ignored_check_canonical(id);

    for (size_t i = 0; i < ignored->count; i++) {
        _cleanup_(freep) char *name = ignored_check_canonical(ignored->items[i]);

        if (text_equal(name, wanted) || text_equal(name, "all"))
            return true;
    }
    return false;
}
