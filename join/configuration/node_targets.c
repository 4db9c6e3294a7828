/* Targets are judged with the file: the proof, which uses them, is the last that a join does. */
#include "join/configuration/node_targets.h"

#include <ctype.h>

#include "base/cidr.h"
#include "base/text.h"
#include "join/configuration/kubelet_arguments.h"
#include "join/configuration/linux_settings.h"

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

/* winjoin follows some settings itself: given here they would reach the kubelet alone. */
static int check_setting(const char *name, const char *value, struct error *err) {
    const char *flag = kubelet_argument_flag(name);

    if (flag)
        return error_set(err, ERROR_USAGE, "\"--%s\": give it to the join as %s", name, flag);
    if (linux_setting_is_argument(name, value))
        return error_set(err, ERROR_USAGE, "\"--%s\": a setting of Linux nodes", name);
    return kubelet_argument_check(name, value, err) < 0 ? error_prefix(err, "--%s", name) : 0;
}

int node_argument_check(const char *text, struct error *err) {
    size_t len = text_starts_with(text, "--") ? strcspn(text + 2, "= \t\r\n\"") : 0;
    const char *end = text + 2 + len; /* where there is a name */
    _cleanup_(freep) char *name = len ? xstrndup(text + 2, len) : NULL;

    if (name && (*end == '=' || *end == '\0') && node_line_check(text, NULL) == 0)
        return check_setting(name, *end ? end + 1 : "", err);
    return error_set(err, ERROR_USAGE, "\"%.60s\": not an argument like --v=4", text);
}

int node_image_check(const char *text, struct error *err) {
    size_t host = strcspn(text, "/"), len = strlen(text);

    if (len < 256 && text[host] && text[host + 1] && isalnum((unsigned char)*text) &&
        memchr(text, '.', host) &&
        strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:/@-") == len)
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
