/* Implements host.h: checks the arguments for all hosts and calls the functions in the host's
 * table. */
#include "host/host.h"

#include <errno.h>

#include "base/cidr.h"
#include "base/log.h"
#include "host/host_ops.h"
#include "host/path.h"

/* ---- services ---- */

/* Checks a service name by the SCM's rule: at most 256 characters, no slashes. */
static int check_service_name(const char *name, struct error *err) {
    if (!*name || strlen(name) > 256 || strpbrk(name, "/\\"))
        return error_set(err, ERROR_USAGE, "service name '%s': not allowed", name);
    return 0;
}

const char *const host_service_states[] = {
    [HOST_SERVICE_ABSENT] = "absent",     [HOST_SERVICE_STOPPED] = "stopped",
    [HOST_SERVICE_STARTING] = "starting", [HOST_SERVICE_RUNNING] = "running",
    [HOST_SERVICE_STOPPING] = "stopping", [HOST_SERVICE_PAUSED] = "paused",
};

void host_service_free(struct host_service *service) {
    free_all(service->name, service->display_name, service->description, service->command);
    text_list_free(&service->depends_on);
    text_list_free(&service->environment);
    *service = (struct host_service){0};
}

int host_service_put(struct host *host, const struct host_service *service, struct error *err) {
    if (check_service_name(service->name, err) < 0)
        return -1;
    if (!service->command || !*service->command)
        return error_set(err, ERROR_USAGE, "register service '%s': it has no command",
                         service->name);
    for (size_t i = 0; i < service->environment.count; i++) {
        const char *item = service->environment.items[i];
        const char *equals = strchr(item, '=');

        if (!equals || equals == item)
            return error_set(err, ERROR_USAGE, "register service '%s': its environment has no name",
                             service->name);
    }
    log_message(LOG_CALL, "register service '%s': %s", service->name, service->command);
    return host_changed(host, host->ops->service_put(host, service, err));
}

int host_service_query(struct host *host, const char *name, struct host_service *ret,
                       struct error *err) {
    if (check_service_name(name, err) < 0)
        return -1;
    return host->ops->service_query(host, name, ret, err);
}

int host_service_start(struct host *host, const char *name, unsigned timeout_ms,
                       struct error *err) {
    _cleanup_(host_service_free) struct host_service found = {0};
    bool runs;
    int result;

    if (check_service_name(name, err) < 0)
        return -1;
    log_message(LOG_CALL, "start service '%s'", name);
    runs = host->ops->service_query(host, name, &found, ERROR_IGNORED) == 0 &&
           found.state == HOST_SERVICE_RUNNING;
    result = host->ops->service_start(host, name, timeout_ms, err);
    return runs ? result : host_changed(host, result);
}

int host_service_stop(struct host *host, const char *name, unsigned timeout_ms, struct error *err) {
    if (check_service_name(name, err) < 0)
        return -1;
    log_message(LOG_CALL, "stop service '%s'", name);
    return host->ops->service_stop(host, name, timeout_ms, err);
}

int host_service_delete(struct host *host, const char *name, unsigned timeout_ms,
                        struct error *err) {
    if (check_service_name(name, err) < 0)
        return -1;
    log_message(LOG_CALL, "delete service '%s'", name);
    return host_changed(host, host->ops->service_delete(host, name, timeout_ms, err));
}

/* ---- facts, registry, processes, time ---- */

int host_facts(struct host *host, struct host_facts *ret, struct error *err) {
    struct host_facts facts = {0};

    if (host->ops->facts(host, &facts, err) < 0)
        return -1;
    *ret = facts;
    return 0;
}

int host_registry_get(struct host *host, const char *key, const char *value, char **ret,
                      struct error *err) {
    return host->ops->registry_get(host, key, value, false, ret, err);
}

int host_registry_set(struct host *host, const char *key, const char *value, bool number,
                      const char *data, struct error *err) {
    log_message(LOG_CALL, "%s registry value '%s\\%s'", data ? "set" : "remove", key, value);
    return host_changed(host, host->ops->registry_set(host, key, value, number, data, err));
}

int host_run(struct host *host, const struct host_process *process, int *ret_exit_code,
             char **ret_output, struct error *err) {
    _cleanup_(freep) char *at = NULL;

    if (!process->argv || !process->argv[0] || !*process->argv[0])
        return error_set(err, ERROR_USAGE, "run a program: no program given");
    log_message(LOG_CALL, "run %s", process->argv[0]);
    if (path_normalize(process->argv[0], &at, NULL) == 0 && !process->named &&
        host_refuse_untrusted(host, at, err) < 0)
        return -1;
    return host->ops->run(host, process, ret_exit_code, ret_output, err);
}

int host_watcher_start(struct host *host, const char *const *argv, struct host_watcher **ret,
                       struct error *err) {
    log_message(LOG_CALL, "start %s %s", argv[0], argv[1] ? argv[1] : "");
    *ret = NULL;
    return host->ops->watcher_start ? host->ops->watcher_start(host, argv, ret, err) : 0;
}

void host_watcher_end(struct host *host, struct host_watcher *watcher) {
    if (watcher)
        host->ops->watcher_end(host, watcher);
}

bool host_watched_well(struct host *host, unsigned timeout_ms) {
    return host->ops->watched_well && host->ops->watched_well(host, timeout_ms);
}

int host_event(struct host *host, char level, unsigned event_id, const char *text,
               struct error *err) {
    if (!level || !strchr("iwe", level))
        return error_set(err, ERROR_USAGE, "log event %u: unknown level '%c'", event_id, level);
    return host->ops->event(host, level, event_id, text, err);
}

int host_event_source_set(struct host *host, const char *file, struct error *err) {
    return host_changed(host, host->ops->event_source_set(host, file, err));
}

bool host_pipe_exists(struct host *host, const char *path) {
    return host->ops->pipe_exists(host, path);
}

int host_pipe_open(struct host *host, const char *path, const struct host_pipe_talk *talk,
                   struct host_pipe **ret, struct error *err) {
    if (!talk->heard || !talk->timeout_ms)
        return error_set(err, ERROR_USAGE, "open pipe '%s': no server listens on it", path);
    /* A simulated server may have pipes (host_pipe_exists()), but nobody answers on them. */
    if (!host->ops->pipe_open)
        return error_set_os(err, ERROR_ABSENT, ENOENT, "open '%s'", path);
    return host->ops->pipe_open(host, path, talk, ret, err);
}

int host_pipe_turn(struct host *host, struct host_pipe *pipe, unsigned wait_ms, bool *ret_done,
                   struct error *err) {
    return host->ops->pipe_turn(host, pipe, wait_ms, ret_done, err);
}

void host_pipe_close(struct host *host, struct host_pipe *pipe) {
    host->ops->pipe_close(host, pipe);
}

int64_t host_now(struct host *host) {
    return host->ops->now(host);
}

uint64_t host_monotonic_ms(struct host *host) {
    return host->ops->monotonic_ms(host);
}

unsigned host_changes(const struct host *host) {
    return host->changes;
}

void host_set_deadline(struct host *host, uint64_t monotonic_ms) {
    host->deadline_ms = monotonic_ms;
}

uint64_t host_set_limit(struct host *host, unsigned milliseconds) {
    uint64_t before = host->deadline_ms, end = host_monotonic_ms(host) + milliseconds;

    if (!before || end < before)
        host->deadline_ms = end;
    return before;
}

bool host_deadline_passed(struct host *host) {
    return host->deadline_ms && host_monotonic_ms(host) >= host->deadline_ms;
}

enum { TICK_MS = 200 };

static void tick_now(const struct host *host) {
    if (host->tick)
        host->tick(host->tick_context);
}

/* Sleeps in steps and calls `tick` between them. When the deadline is nearer than the given time,
 * sleeps until the deadline, so that the caller can check once more. */
int host_sleep(struct host *host, unsigned milliseconds, struct error *err) {
    uint64_t now = host->deadline_ms ? host_monotonic_ms(host) : 0;

    if (host_deadline_passed(host))
        return error_set(err, ERROR_INTERRUPTED, "the time limit has passed");
    if (host->deadline_ms && host->deadline_ms - now < milliseconds)
        milliseconds = (unsigned)(host->deadline_ms - now);
    while (host->tick && milliseconds > TICK_MS) {
        if (host->ops->sleep(host, TICK_MS, err) < 0)
            return -1;
        milliseconds -= TICK_MS;
        tick_now(host);
    }
    if (host->ops->sleep(host, milliseconds, err) < 0)
        return -1;
    tick_now(host);
    return 0;
}

void host_set_tick(struct host *host, void (*tick)(void *context), void *context) {
    host->tick = tick;
    host->tick_context = context;
}

bool host_interrupted(struct host *host) {
    tick_now(host);
    return host_deadline_passed(host) || host->ops->interrupted(host);
}

int host_random(struct host *host, void *data, size_t len, struct error *err) {
    return host->ops->random(host, data, len, err);
}

unsigned host_spread_ms(struct host *host, unsigned from, unsigned to) {
    uint32_t random = UINT32_MAX / 2;

    /* When random bytes are not available, `random` keeps its middle value. */
    (void)host_random(host, &random, sizeof random, NULL);
    return from + (unsigned)((uint64_t)(to - from) * random / UINT32_MAX);
}

char *host_environment(struct host *host, const char *name) {
    return host->ops->environment(host, name);
}

void host_environment_names(struct host *host, const char *prefix, struct text_list *ret) {
    host->ops->environment_names(host, prefix, ret);
}

char *host_program_path(struct host *host) {
    return host->ops->program_path(host);
}

void host_free(struct host *host) {
    if (host)
        host->ops->free(host);
}

/* ---- network ---- */

int host_adapters(struct host *host, struct host_adapters *ret, struct error *err) {
    struct host_adapters adapters = {0};

    if (host->ops->adapters(host, &adapters, err) < 0)
        return -1;
    *ret = adapters;
    return 0;
}

void host_adapters_free(struct host_adapters *adapters) {
    for (size_t i = 0; i < adapters->count; i++) {
        struct host_adapter *a = &adapters->items[i];

        free(a->alias);
        free(a->description);
        text_list_free(&a->addresses);
        text_list_free(&a->advertised);
        text_list_free(&a->gateways);
        text_list_free(&a->dns_servers);
    }
    free(adapters->items);
    *adapters = (struct host_adapters){0};
}

int host_routes(struct host *host, struct host_routes *ret, struct error *err) {
    struct host_routes routes = {0};

    if (host->ops->routes(host, &routes, err) < 0)
        return -1;
    *ret = routes;
    return 0;
}

void host_routes_free(struct host_routes *routes) {
    free(routes->items);
    *routes = (struct host_routes){0};
}

int host_neighbors(struct host *host, struct host_neighbors *ret, struct error *err) {
    struct host_neighbors neighbors = {0};

    if (host->ops->neighbors(host, &neighbors, err) < 0)
        return -1;
    *ret = neighbors;
    return 0;
}

void host_neighbors_free(struct host_neighbors *neighbors) {
    free(neighbors->items);
    *neighbors = (struct host_neighbors){0};
}

static int check_route(const struct host_route *route, struct error *err) {
    struct cidr destination;
    struct ip next_hop;

    if (cidr_parse(route->destination, &destination, err) < 0 ||
        ip_parse(route->next_hop, &next_hop, err) < 0)
        return error_prefix(err, "route to '%s'", route->destination);
    if (destination.base.family != next_hop.family)
        return error_set(err, ERROR_USAGE,
                         "route to '%s': next hop '%s' belongs to another address family",
                         route->destination, route->next_hop);
    return 0;
}

int host_route_add(struct host *host, const struct host_route *route, struct error *err) {
    if (check_route(route, err) < 0)
        return -1;
    log_message(LOG_CALL, "add route to %s through %s", route->destination, route->next_hop);
    return host_changed(host, host->ops->route_set(host, route, true, err));
}

int host_route_remove(struct host *host, const struct host_route *route, struct error *err) {
    if (check_route(route, err) < 0)
        return -1;
    log_message(LOG_CALL, "remove route to %s through %s", route->destination, route->next_hop);
    return host_changed(host, host->ops->route_set(host, route, false, err));
}

int host_address_add(struct host *host, uint32_t interface_index, const char *address,
                     struct error *err) {
    struct cidr prefix;

    if (!strchr(address, '/') || cidr_parse(address, &prefix, err) < 0)
        return error_set(err, ERROR_USAGE, "add address '%s': not an address with a prefix length",
                         address);
    log_message(LOG_CALL, "add address %s to interface %u", address, interface_index);
    return host_changed(host, host->ops->address_add(host, interface_index, address, err));
}

int host_dns_set(struct host *host, uint32_t interface_index, const struct text_list *servers,
                 struct error *err) {
    for (size_t i = 0; i < servers->count; i++) {
        struct ip server;

        if (ip_parse(servers->items[i], &server, err) < 0)
            return error_prefix(err, "set DNS servers of interface %u", interface_index);
    }
    log_message(LOG_CALL, "set %zu DNS servers of interface %u", servers->count, interface_index);
    return host_changed(host, host->ops->dns_set(host, interface_index, servers, err));
}

int host_forwarding(struct host *host, uint32_t interface_index, int family, bool *ret,
                    struct error *err) {
    return host->ops->forwarding(host, interface_index, family, ret, err);
}

int host_metric_set(struct host *host, uint32_t interface_index, int family, uint32_t metric,
                    struct error *err) {
    log_message(LOG_CALL, "set metric of interface %u to %u", interface_index, metric);
    return host_changed(host, host->ops->interface_set(host, interface_index, family,
                                                       HOST_INTERFACE_METRIC, metric, err));
}

int host_forwarding_set(struct host *host, uint32_t interface_index, int family, bool on,
                        struct error *err) {
    log_message(LOG_CALL, "turn IPv%d forwarding of interface %u %s", family, interface_index,
                on ? "on" : "off");
    return host->ops->interface_set(host, interface_index, family, HOST_INTERFACE_FORWARDING, on,
                                    err);
}

static int check_port(unsigned port, struct error *err) {
    if (port < 1 || port > 65535)
        return error_set(err, ERROR_USAGE, "port %u: not between 1 and 65535", port);
    return 0;
}

int host_port_in_use(struct host *host, bool udp, unsigned port, bool *ret, struct error *err) {
    if (check_port(port, err) < 0)
        return -1;
    return host->ops->port_in_use(host, udp, port, ret, err);
}

int host_firewall_put(struct host *host, const struct host_firewall_rule *rule, struct error *err) {
    if (check_port(rule->port, err) < 0)
        return error_prefix(err, "open firewall for '%s'", rule->name);
    if (!*rule->name)
        return error_set(err, ERROR_USAGE, "open firewall: the rule has no name");
    log_message(LOG_CALL, "write firewall rule '%s'", rule->name);
    return host->ops->firewall_put(host, rule, err);
}

int host_firewall_remove(struct host *host, const char *name, struct error *err) {
    if (!*name) /* INetFwRules.Remove("") would remove any rule without a name. */
        return error_set(err, ERROR_USAGE, "close firewall: the rule has no name");
    log_message(LOG_CALL, "remove firewall rule '%s'", name);
    return host->ops->firewall_remove(host, name, err);
}

int host_firewall_has(struct host *host, const char *name, bool *ret, struct error *err) {
    return host->ops->firewall_has(host, name, ret, err);
}
