/* powershell.exe for Wine, whose own does nothing: the few network commands, each in the words in
 * which it is sent. Who needs it: flanneld's host-gw backend (forwarding and routes). */
#include "host/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <windows.h>

#include "base/memory.h"
#include "base/text.h"

static struct host *host;
static struct error err;

/* The word behind `-Name ` in the command, or "". */
static const char *option(const char *command, const char *name, char *out, size_t size) {
    _cleanup_(freep) char *flag = xasprintf(" -%s ", name);
    const char *at = strstr(command, flag);
    size_t length;

    out[0] = '\0';
    if (!at)
        return out;
    at += strlen(flag);
    at += strspn(at, " ");
    length = strcspn(at, " )}\"");
    return text_format(out, size, "%.*s", (int)length, at) ? "" : out;
}

static unsigned number(const char *command, const char *name) {
    char word[16];
    long long value = 0;

    (void)text_to_number(option(command, name, word, sizeof(word)), 0, UINT32_MAX, &value);
    return (unsigned)value;
}

static struct host_route route_of(const char *command) {
    struct host_route route = {.interface_index = number(command, "InterfaceIndex")};

    option(command, "DestinationPrefix", route.destination, sizeof(route.destination));
    option(command, "NextHop", route.next_hop, sizeof(route.next_hop));
    return route;
}

/* An empty field of what is looked for takes every route. */
static bool fits(const struct host_route *route, const struct host_route *wanted) {
    return (!wanted->interface_index || route->interface_index == wanted->interface_index) &&
           (!wanted->destination[0] || text_equal(route->destination, wanted->destination)) &&
           (!wanted->next_hop[0] || text_equal(route->next_hop, wanted->next_hop));
}

static int each(const struct host_route *wanted, bool print, size_t *ret_count) {
    struct host_routes routes = {0};
    size_t count = 0;

    if (host_routes(host, &routes, &err))
        return -1;
    for (size_t i = 0; i < routes.count; i++) {
        const struct host_route *r = &routes.items[i];

        if (!fits(r, wanted))
            continue;
        if (print)
            printf("%s{\"IfIndex\":%u,\"DestinationPrefix\":\"%s\",\"NextHop\":\"%s\"}",
                   count ? "," : "[", r->interface_index, r->destination, r->next_hop);
        count++;
    }
    host_routes_free(&routes);
    *ret_count = count;
    return 0;
}

static int set_interface(const char *command) {
    return host_forwarding_set(host, number(command, "ifIndex"), 4, strstr(command, "Enabled"),
                               &err);
}

/* Windows' own commands fail where nothing is found, or something is there already. */
static int get_routes(const char *command) {
    struct host_route wanted = route_of(command);
    size_t count = 0;

    if (strstr(command, "-eq '0.0.0.0/0'"))
        (void)text_format(wanted.destination, sizeof(wanted.destination), "0.0.0.0/0");
    if (each(&wanted, true, &count))
        return -1;
    if (!count)
        return error_set(&err, ERROR_ABSENT, "No matching MSFT_NetRoute objects found");
    printf("]\n");
    return 0;
}

static int new_route(const char *command) {
    struct host_route route = route_of(command);
    size_t count = 0;

    if (each(&route, false, &count))
        return -1;
    if (count)
        return error_set(&err, ERROR_CONFLICT, "Instance MSFT_NetRoute already exists");
    return host_route_add(host, &route, &err);
}

static int remove_route(const char *command) {
    struct host_route route = route_of(command);

    return host_route_remove(host, &route, &err);
}

static const struct {
    const char *name;
    int (*run)(const char *command);
} commands[] = {
    {"Set-NetIPInterface", set_interface},
    {"Remove-NetRoute", remove_route},
    {"New-NetRoute", new_route},
    {"Get-NetRoute", get_routes},
};

static int run(const char *line) {
    for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
        if (strstr(line, commands[i].name))
            return commands[i].run(line);
    return error_set(&err, ERROR_UNSUPPORTED, "this machine's powershell does not know: %s", line);
}

int wmain(void) {
    const WCHAR *wide = GetCommandLineW();
    int size = WideCharToMultiByte(CP_UTF8, 0, wide, -1, NULL, 0, NULL, NULL), result;
    _cleanup_(freep) char *line = xmalloc((size_t)size);

    WideCharToMultiByte(CP_UTF8, 0, wide, -1, line, size, NULL, NULL);
    host = host_win32_open();
    result = run(line);
    if (result)
        printf("%s\n", err.message);
    host_free(host);
    return result ? 1 : 0;
}
