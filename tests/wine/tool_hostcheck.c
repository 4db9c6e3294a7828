/* hostcheck VERB ARGUMENT...: one operation of the product's Windows host, its answer as lines. Who
 * needs it: the test that a played host looks and behaves as a Windows Server does. */
#include "host/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <windows.h>

#include "base/memory.h"
#include "base/text.h"
#include "host/host_ops.h"
#include "host/machine_path.h"

static struct host *host;
static struct error err;

static unsigned index_of(const char *alias) {
    struct host_adapters adapters = {0};
    unsigned index = 0;

    if (host_adapters(host, &adapters, &err) == 0)
        for (size_t i = 0; i < adapters.count; i++)
            if (text_equal(adapters.items[i].alias, alias))
                index = adapters.items[i].index;
    host_adapters_free(&adapters);
    return index;
}

static void print_list(const char *name, const struct text_list *list) {
    _cleanup_(freep) char *joined = list->count ? text_list_join(list, ",") : xstrdup("-");

    printf("|%s %s", name, joined);
}

static int verb_adapters(char **arguments) {
    struct host_adapters adapters = {0};

    (void)arguments;
    if (host_adapters(host, &adapters, &err))
        return -1;
    for (size_t i = 0; i < adapters.count; i++) {
        const struct host_adapter *a = &adapters.items[i];

        printf("%s|%s|mtu %u|%s", a->alias, a->up ? "up" : "down", a->mtu,
               a->dhcp ? "dhcp" : "static");
        print_list("addresses", &a->addresses);
        print_list("gateways", &a->gateways);
        print_list("dns", &a->dns_servers);
        printf("\n");
    }
    host_adapters_free(&adapters);
    return 0;
}

static int verb_routes(char **arguments) {
    struct host_routes routes = {0};

    (void)arguments;
    if (host_routes(host, &routes, &err))
        return -1;
    for (size_t i = 0; i < routes.count; i++)
        printf("%s via %s\n", routes.items[i].destination, routes.items[i].next_hop);
    host_routes_free(&routes);
    return 0;
}

static struct host_route route_of(char **arguments) {
    struct host_route route = {.interface_index = index_of(arguments[0])};

    (void)text_format(route.destination, sizeof(route.destination), "%s", arguments[1]);
    (void)text_format(route.next_hop, sizeof(route.next_hop), "%s", arguments[2]);
    return route;
}

static int verb_route_add(char **arguments) {
    struct host_route route = route_of(arguments);

    return host_route_add(host, &route, &err);
}

static int verb_route_remove(char **arguments) {
    struct host_route route = route_of(arguments);

    return host_route_remove(host, &route, &err);
}

static int verb_address_add(char **arguments) {
    return host_address_add(host, index_of(arguments[0]), arguments[1], &err);
}

static int verb_dns_set(char **arguments) {
    struct text_list servers = {0};
    int result;

    text_list_split(&servers, arguments[1], ',');
    result = host_dns_set(host, index_of(arguments[0]), &servers, &err);
    text_list_free(&servers);
    return result;
}

static int verb_forwarding(char **arguments) {
    unsigned index = index_of(arguments[0]);
    bool on = false;

    if (!text_equal(arguments[1], "?") &&
        host_forwarding_set(host, index, 4, text_equal(arguments[1], "on"), &err))
        return -1;
    if (host_forwarding(host, index, 4, &on, &err))
        return -1;
    printf("%s\n", on ? "on" : "off");
    return 0;
}

static int verb_firewall(char **arguments) {
    struct host_firewall_rule rule = {arguments[0], "made by a test", true, 4789};
    bool there = false;

    if (host_firewall_put(host, &rule, &err) || host_firewall_has(host, rule.name, &there, &err))
        return -1;
    printf("%s\n", there ? "there" : "gone");
    if (host_firewall_remove(host, rule.name, &err) ||
        host_firewall_has(host, rule.name, &there, &err))
        return -1;
    printf("%s\n", there ? "there" : "gone");
    return 0;
}

static int verb_facts(char **arguments) {
    struct host_facts facts = {0};

    (void)arguments;
    if (host_facts(host, &facts, &err))
        return -1;
    printf("%s|%s|%u.%u.%u.%u|containers %d|%s\n", facts.product, facts.installation_type,
           facts.major, facts.minor, facts.build, facts.revision, facts.containers_feature,
           facts.elevated ? "elevated" : "not elevated");
    return 0;
}

static int verb_link(char **arguments) {
    if (host_link(host, arguments[0], arguments[1], &err))
        return -1;
    printf("%s\n", host_file_type(host, arguments[0]) == HOST_LINK ? "link" : "no link");
    return 0;
}

static int verb_remove(char **arguments) {
    return host_remove_tree(host, arguments[0], &err);
}

/* ---- the operations below host/host_files.c, whose first look would refuse the same: what
 * somebody exchanges behind that look ---- */

static int verb_write(char **arguments) {
    return host->ops->write(host, arguments[0], arguments[1], strlen(arguments[1]), HOST_SECRET,
                            &err);
}

static int verb_write_part(char **arguments) {
    return host->ops->write_part(host, arguments[0], 0, arguments[1], strlen(arguments[1]),
                                 HOST_SECRET, &err);
}

static int verb_make_folder(char **arguments) {
    return host->ops->make_folder(host, arguments[0], HOST_SECRET, &err);
}

static int verb_rename(char **arguments) {
    return host->ops->rename(host, arguments[0], arguments[1], &err);
}

static int verb_make_link(char **arguments) {
    return host->ops->link(host, arguments[0], arguments[1], &err);
}

static int verb_access_set(char **arguments) {
    return host->ops->access_set(host, arguments[0], arguments[1], &err);
}

static int verb_remove_one(char **arguments) {
    return host->ops->remove(host, arguments[0], false, &err);
}

static int verb_remove_tree(char **arguments) {
    return host->ops->remove(host, arguments[0], true, &err);
}

/* What of a path or above it somebody else has put there. */
static int verb_stranger(char **arguments) {
    _cleanup_(host_untrusted_free) struct host_untrusted found = {0};
    _cleanup_(freep) char *text = NULL;

    if (host_find_untrusted(host, arguments[0], &found, &err))
        return -1;
    text = found.path ? host_untrusted_text(&found) : xstrdup("nothing");
    printf("%s\n", text);
    return 0;
}

static int verb_event(char **arguments) {
    return host_event(host, 'i', 1000, arguments[0], &err);
}

/* Names the file with the log's texts, or with "-" takes the source away; prints what is there. */
static int verb_event_source(char **arguments) {
    _cleanup_(freep) char *file = NULL;
    struct error absent = {0};

    if (host_event_source_set(host, text_equal(arguments[0], "-") ? NULL : arguments[0], &err))
        return -1;
    if (host_registry_get(host, HOST_EVENT_SOURCE_KEY, "EventMessageFile", &file, &absent) < 0 &&
        absent.kind != ERROR_ABSENT)
        return error_set(&err, absent.kind, "%s", absent.message);
    printf("%s\n", file ? file : "none");
    return 0;
}

/* A folder added to the machine's Path ("+DIR") or taken out ("-DIR"); prints Path and its kind. */
static int verb_machine_path(char **arguments) {
    _cleanup_(freep) char *list = NULL;
    DWORD type = REG_NONE;

    if (machine_path_set(host, arguments[0] + 1, *arguments[0] == '+', &err) ||
        host->ops->registry_get(host, MACHINE_PATH_KEY, MACHINE_PATH_VALUE, true, &list, &err))
        return -1;
    (void)RegGetValueA(HKEY_LOCAL_MACHINE, MACHINE_PATH_KEY, MACHINE_PATH_VALUE,
                       RRF_RT_ANY | RRF_NOEXPAND, &type, NULL, NULL);
    printf("%s\n%s\n", type == REG_EXPAND_SZ ? "REG_EXPAND_SZ" : "another kind", list);
    return 0;
}

/* As Event Viewer: the text of an id in a file's message table, with the entry's own put in. */
static int verb_event_text(char **arguments) {
    HMODULE file = LoadLibraryExA(arguments[0], NULL, LOAD_LIBRARY_AS_DATAFILE);
    DWORD_PTR texts[] = {(DWORD_PTR)arguments[2]};
    char text[200];
    DWORD flags = FORMAT_MESSAGE_FROM_HMODULE | FORMAT_MESSAGE_ARGUMENT_ARRAY;
    long long id = 0;

    (void)text_to_number(arguments[1], 0, UINT16_MAX, &id);
    if (!file || !FormatMessageA(flags, file, (DWORD)id, 0, text, sizeof text, (va_list *)texts))
        return error_set(&err, ERROR_ABSENT, "no message %lld in '%s'", id, arguments[0]);
    printf("%s", text);
    FreeLibrary(file);
    return 0;
}

static int verb_hns(char **arguments) {
    _cleanup_(freep) char *answer = NULL;

    if (hns_call(host, "GET", arguments[0], "", &answer, &err))
        return -1;
    printf("%s\n", answer);
    return 0;
}

static const struct verb {
    const char *name;
    int arguments;
    int (*run)(char **arguments);
} verbs[] = {
    {"adapters", 0, verb_adapters},
    {"routes", 0, verb_routes},
    {"route-add", 3, verb_route_add},
    {"route-remove", 3, verb_route_remove},
    {"address-add", 2, verb_address_add},
    {"dns-set", 2, verb_dns_set},
    {"forwarding", 2, verb_forwarding},
    {"firewall", 1, verb_firewall},
    {"facts", 0, verb_facts},
    {"link", 2, verb_link},
    {"remove", 1, verb_remove},
    {"write", 2, verb_write},
    {"write-part", 2, verb_write_part},
    {"make-folder", 1, verb_make_folder},
    {"rename", 2, verb_rename},
    {"make-link", 2, verb_make_link},
    {"remove-one", 1, verb_remove_one},
    {"remove-tree", 1, verb_remove_tree},
    {"access-set", 2, verb_access_set},
    {"stranger", 1, verb_stranger},
    {"event", 1, verb_event},
    {"event-source", 1, verb_event_source},
    {"machine-path", 1, verb_machine_path},
    {"event-text", 3, verb_event_text},
    {"hns", 1, verb_hns},
};

static char *narrow(const WCHAR *text) {
    int size = WideCharToMultiByte(CP_UTF8, 0, text, -1, NULL, 0, NULL, NULL);
    char *out = xmalloc((size_t)size);

    WideCharToMultiByte(CP_UTF8, 0, text, -1, out, size, NULL, NULL);
    return out;
}

static int run(char **words, int count) {
    for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
        if (text_equal(words[0], verbs[i].name) && count == verbs[i].arguments + 1)
            return verbs[i].run(words + 1);
    return error_set(&err, ERROR_USAGE, "no verb '%s' with %d arguments", words[0], count - 1);
}

int wmain(int argc, WCHAR **argv) {
    char *words[8] = {NULL};
    int count = 0, result;

    for (int i = 1; i < argc && count < 8; i++)
        words[count++] = narrow(argv[i]);
    if (!count)
        return 2;
    host = host_win32_open();
    result = run(words, count);
    if (result)
        printf("error: %s\n", err.message);
    host_free(host);
    for (int i = 0; i < count; i++)
        free(words[i]);
    return result ? 1 : 0;
}
