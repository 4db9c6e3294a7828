/* The in-memory host: every operation is recorded, may be told to fail, and acts on the model. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "host/path.h"
#include "tests/memory/memory.h"

static const int64_t clock_start = 1795255200; /* 2026-11-21T10:00:00Z */

static void log_line(struct memory_host *memory, const char *format, va_list args) {
    text_addv(&memory->log, format, args);
    text_add_char(&memory->log, '\n');
}

int memory_call(struct host *host, struct error *err, const char *format, ...) {
    struct memory_host *memory = memory_of(host);
    size_t line = memory->log.len;
    va_list args;

    va_start(args, format);
    log_line(memory, format, args);
    va_end(args);
    memory->calls++;
    if (memory->fail_named && text_starts_with(text_str(&memory->log) + line, memory->fail_named)) {
        memory->fail_named = NULL;
        memory->fail_at = memory->calls;
    }
    if (memory->calls != memory->fail_at &&
        !(memory->dies && memory->fail_at && memory->calls > memory->fail_at))
        return 0;
    memory->failed_at = line;
    return error_set(err, ERROR_HOST, "call %zu of the host: told to fail", memory->calls);
}

void memory_note(struct host *host, const char *format, ...) {
    va_list args;

    va_start(args, format);
    log_line(memory_of(host), format, args);
    va_end(args);
}

/* ---- services ---- */

static int service_put(struct host *host, const struct host_service *service, struct error *err) {
    if (memory_call(host, err, "service_put %s", service->name) < 0)
        return -1;
    memory_access_command(host, service->command);
    return model_service_put(memory_of(host)->state, service, err);
}

static int service_query(struct host *host, const char *name, struct host_service *ret,
                         struct error *err) {
    if (memory_call(host, err, "service_query %s", name) < 0)
        return -1;
    return model_service_query(memory_of(host)->state, name, ret, err);
}

static int service_start(struct host *host, const char *name, unsigned timeout_ms,
                         struct error *err) {
    (void)timeout_ms; /* nothing here takes time */
    if (memory_call(host, err, "service_start %s", name) < 0)
        return -1;
    memory_access_start(host, name);
    if (memory_of(host)->ending_times && text_equal(memory_of(host)->ending, name)) {
        memory_of(host)->ending_times--;
        host_memory_end_service(host, name, 1);
        return error_set_os(err, ERROR_HOST, HOST_SERVICE_SPECIFIC_ERROR,
                            "start service '%s': it ended immediately", name);
    }
    return model_service_start(memory_of(host)->state, name, err);
}

static int service_stop(struct host *host, const char *name, unsigned timeout_ms,
                        struct error *err) {
    (void)timeout_ms;
    if (memory_call(host, err, "service_stop %s", name) < 0)
        return -1;
    return (model_service_stop(memory_of(host)->state, name), 0);
}

static int service_delete(struct host *host, const char *name, unsigned timeout_ms,
                          struct error *err) {
    (void)timeout_ms;
    if (memory_call(host, err, "service_delete %s", name) < 0)
        return -1;
    return (model_service_delete(memory_of(host)->state, name), 0);
}

/* ---- HNS ---- */

static int hns(struct host *host, const char *function, const char *const *arguments, size_t count,
               unsigned timeout_ms, char **ret_result, char **ret_error_record,
               uint32_t *ret_hresult, struct error *err) {
    struct memory_host *memory = memory_of(host);
    struct text line = {0};
    int result = 0;

    text_add(&line, function);
    for (size_t i = 0; i < count; i++)
        text_addf(&line, " %s", arguments[i] ? arguments[i] : "");
    if (text_starts_with(function, "HcnClose"))
        memory_note(host, "%s", text_str(&line)); /* nobody looks at its result */
    else
        result = memory_call(host, err, "%s", text_str(&line));
    text_free(&line);
    if (result < 0)
        return -1;
    if (memory->hns_hangs) {
        memory->clock_ms += timeout_ms;
        return error_set(err, ERROR_TIMED_OUT, "call %s: no answer within %.0f s", function,
                         timeout_ms / 1000.0);
    }
    *ret_hresult = model_hns(memory->state, memory->hns, memory->hns_context, function, arguments,
                             count, ret_result, ret_error_record);
    return 0;
}

/* ---- network ---- */

static int adapters(struct host *host, struct host_adapters *ret, struct error *err) {
    if (memory_call(host, err, "adapters") < 0)
        return -1;
    model_adapters(memory_of(host)->state, ret);
    return 0;
}

static int route_set(struct host *host, const struct host_route *route, bool add,
                     struct error *err) {
    if (memory_call(host, err, "route_%s %s %s %u", add ? "add" : "remove", route->destination,
                    route->next_hop, route->interface_index) < 0)
        return -1;
    return model_route_set(memory_of(host)->state, route, add, err);
}

static int address_add(struct host *host, uint32_t index, const char *address, struct error *err) {
    if (memory_call(host, err, "address_add %u %s", index, address) < 0)
        return -1;
    return model_address_add(memory_of(host)->state, index, address, err);
}

static int dns_set(struct host *host, uint32_t index, const struct text_list *servers,
                   struct error *err) {
    _cleanup_(freep) char *joined = text_list_join(servers, ",");

    if (memory_call(host, err, "dns_set %u %s", index, joined) < 0)
        return -1;
    return model_dns_set(memory_of(host)->state, index, servers, err);
}

static int forwarding(struct host *host, uint32_t index, int family, bool *ret, struct error *err) {
    if (memory_call(host, err, "forwarding%s %u", memory_family(family), index) < 0)
        return -1;
    return model_forwarding(memory_of(host)->state, index, family, ret, err);
}

static int interface_set(struct host *host, uint32_t index, int family,
                         enum host_interface_value what, uint32_t value, struct error *err) {
    if (memory_call(host, err, "%s%s_set %u %u",
                    what == HOST_INTERFACE_METRIC ? "metric" : "forwarding", memory_family(family),
                    index, value) < 0)
        return -1;
    return model_interface_set(memory_of(host)->state, index, family, what, value, err);
}

static int port_in_use(struct host *host, bool udp, unsigned port, bool *ret, struct error *err) {
    if (memory_call(host, err, "port_in_use %s %u", udp ? "udp" : "tcp", port) < 0)
        return -1;
    *ret = model_port_in_use(memory_of(host)->state, udp, port);
    return 0;
}

static int firewall_put(struct host *host, const struct host_firewall_rule *rule,
                        struct error *err) {
    if (memory_call(host, err, "firewall_put %s", rule->name) < 0)
        return -1;
    model_firewall_put(memory_of(host)->state, rule);
    return 0;
}

static int firewall_remove(struct host *host, const char *name, struct error *err) {
    if (memory_call(host, err, "firewall_remove %s", name) < 0)
        return -1;
    model_firewall_remove(memory_of(host)->state, name);
    return 0;
}

static int firewall_has(struct host *host, const char *name, bool *ret, struct error *err) {
    if (memory_call(host, err, "firewall_has %s", name) < 0)
        return -1;
    *ret = model_firewall_has(memory_of(host)->state, name);
    return 0;
}

/* ---- facts, registry, processes, time ---- */

static int facts(struct host *host, struct host_facts *ret, struct error *err) {
    if (memory_call(host, err, "facts") < 0)
        return -1;
    model_facts(memory_of(host)->state, ret);
    return 0;
}

/* Nothing is expanded, so that all is raw. */
static int registry_get(struct host *host, const char *key, const char *value, bool, char **ret,
                        struct error *err) {
    if (memory_call(host, err, "registry_get %s %s", key, value) < 0)
        return -1;
    return model_registry_get(memory_of(host)->state, key, value, ret, err);
}

static int registry_set(struct host *host, const char *key, const char *value, bool number,
                        const char *data, struct error *err) {
    if (memory_call(host, err, "registry_set %s %s%s", key, value, number ? " number" : "") < 0)
        return -1;
    return model_registry_set(memory_of(host)->state, key, value, data), 0;
}

static int event(struct host *host, char level, unsigned event_id, const char *text,
                 struct error *err) {
    if (memory_call(host, err, "event %c %u", level, event_id) < 0)
        return -1;
    model_event(memory_of(host)->state, level, event_id, text);
    return 0;
}

/* One is told apart by its address alone. */
static int watcher_start(struct host *host, const char *const *argv, struct host_watcher **ret,
                         struct error *err) {
    struct memory_host *memory = memory_of(host);

    if (memory_call(host, err, "watcher_start %s", argv[1]) < 0)
        return -1;
    memory->watchers++;
    *ret = (struct host_watcher *)(void *)&memory->watchers;
    return 0;
}

static void watcher_end(struct host *host, struct host_watcher *watcher) {
    (void)watcher;
    memory_of(host)->watchers--;
}

static bool watched_well(struct host *host, unsigned timeout_ms) {
    (void)timeout_ms;
    return memory_of(host)->watched_well;
}

static int event_source_set(struct host *host, const char *file, struct error *err) {
    if (memory_call(host, err, "event_source_set %s", file ? file : "-") < 0)
        return -1;
    model_event_source_set(memory_of(host)->state, file);
    return 0;
}

static bool pipe_exists(struct host *host, const char *path) {
    return model_pipe_exists(memory_of(host)->state, path);
}

struct host_pipe {
    const char *path;
    struct host_pipe_talk talk;
    struct text said;
    uint64_t start;
};

static int pipe_open(struct host *host, const char *path, const struct host_pipe_talk *talk,
                     struct host_pipe **ret, struct error *err) {
    if (memory_call(host, err, "pipe_open %s", path) < 0)
        return -1;
    if (!memory_of(host)->pipe)
        return error_set_os(err, ERROR_ABSENT, 2, "open '%s'", path);
    *ret = xcalloc(1, sizeof **ret);
    **ret = (struct host_pipe){.path = path, .talk = *talk, .start = memory_of(host)->clock_ms};
    text_add_bytes(&(*ret)->said, talk->first, talk->first_len);
    return 0;
}

static int pipe_turn(struct host *host, struct host_pipe *pipe, unsigned wait_ms, bool *ret_done,
                     struct error *err) {
    struct memory_host *memory = memory_of(host);
    _cleanup_(text_free) struct text answer = {0};

    memory->pipe(memory->pipe_context, text_str(&pipe->said), pipe->said.len, &answer);
    if (memory->clock_ms - pipe->start > pipe->talk.timeout_ms)
        return error_set(err, ERROR_TIMED_OUT, "pipe '%s': no answer", pipe->path);
    if (memory->pipe_not_yet) {
        memory->pipe_not_yet = false;
        memory->clock_ms += wait_ms;
        return 0;
    }
    if (!answer.len)
        return error_set_os(err, ERROR_HOST, 109, "pipe '%s'", pipe->path);
    text_clear(&pipe->said);
    return pipe->talk.heard(pipe->talk.context, text_str(&answer), answer.len, &pipe->said,
                            ret_done, err);
}

static void pipe_close(struct host *, struct host_pipe *pipe) {
    text_free(&pipe->said);
    free(pipe);
}

static int64_t now(struct host *host) {
    return clock_start + (int64_t)(memory_of(host)->clock_ms / 1000);
}

static uint64_t monotonic_ms(struct host *host) {
    return memory_of(host)->clock_ms;
}

static int sleep_for(struct host *host, unsigned milliseconds, struct error *err) {
    struct memory_host *memory = memory_of(host);

    memory->clock_ms += milliseconds;
    if (memory->on_sleep) { /* what others do meanwhile does not fail, and is not counted */
        const size_t calls = memory->calls, fail_at = memory->fail_at;

        memory->fail_at = 0;
        memory->others_act = true;
        memory->on_sleep(memory->on_sleep_context, host);
        memory->others_act = false;
        memory->calls = memory->fail_at ? memory->calls : calls; /* it may choose what fails next */
        memory->fail_at = memory->fail_at ? memory->fail_at : fail_at;
    }
    if (memory->interrupted)
        return error_set(err, ERROR_INTERRUPTED, "wait: interrupted");
    return 0;
}

static bool interrupted(struct host *host) {
    return memory_of(host)->interrupted;
}

/* splitmix64: no secret depends on it, and a test's run is the same each time. */
static int random_bytes(struct host *host, void *data, size_t len, struct error *err) {
    struct memory_host *memory = memory_of(host);
    unsigned char *out = data;

    if (memory_call(host, err, "random %zu", len) < 0)
        return -1;
    for (size_t i = 0; i < len; i++) {
        uint64_t z = memory->random += 0x9e3779b97f4a7c15u;

        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        out[i] = (unsigned char)(z >> 56);
    }
    return 0;
}

static char *environment(struct host *host, const char *name) {
    return xstrdup_null(json_string_value(json_object_get(memory_of(host)->environment, name)));
}

static void environment_names(struct host *host, const char *prefix, struct text_list *ret) {
    const char *name;
    json_t *value;

    json_object_foreach(memory_of(host)->environment, name,
                        value) if (text_starts_with(name, prefix)) text_list_add(ret, name);
}

static char *program_path(struct host *host) {
    const char *path = memory_of(host)->program_path;

    return path && !*path ? NULL : xstrdup(path ? path : "C:\\k\\winjoin.exe");
}

static void memory_free(struct host *host) {
    struct memory_host *memory = memory_of(host);

    memory_files_free(memory);
    for (size_t i = 0; i < memory->program_count; i++) {
        free(memory->programs[i].name);
        free(memory->programs[i].output);
        text_list_free(&memory->programs[i].flags);
    }
    free(memory->programs);
    free(memory->ending);
    json_decref(memory->environment);
    json_decref(memory->state);
    text_free(&memory->log);
    free(memory);
}

static const struct host_ops memory_ops = {
    .read = memory_read,
    .read_part = memory_read_part,
    .write_part = memory_write_part,
    .write = memory_write,
    .make_folder = memory_make_folder,
    .access_get = memory_access_get,
    .access_set = memory_access_set,
    .find_untrusted = memory_find_untrusted,
    .remove = memory_remove,
    .rename = memory_rename,
    .link = memory_link,
    .file_type = memory_file_type,
    .list = memory_list,
    .free_space = memory_free_space,
    .service_put = service_put,
    .service_query = service_query,
    .service_start = service_start,
    .service_stop = service_stop,
    .service_delete = service_delete,
    .hns = hns,
    .adapters = adapters,
    .routes = memory_routes,
    .neighbors = memory_neighbors,
    .route_set = route_set,
    .address_add = address_add,
    .dns_set = dns_set,
    .forwarding = forwarding,
    .interface_set = interface_set,
    .port_in_use = port_in_use,
    .firewall_put = firewall_put,
    .firewall_remove = firewall_remove,
    .firewall_has = firewall_has,
    .facts = facts,
    .registry_get = registry_get,
    .registry_set = registry_set,
    .run = memory_run,
    .event = event,
    .event_source_set = event_source_set,
    .watcher_start = watcher_start,
    .watcher_end = watcher_end,
    .watched_well = watched_well,
    .pipe_exists = pipe_exists,
    .pipe_open = pipe_open,
    .pipe_turn = pipe_turn,
    .pipe_close = pipe_close,
    .now = now,
    .monotonic_ms = monotonic_ms,
    .sleep = sleep_for,
    .interrupted = interrupted,
    .random = random_bytes,
    .environment = environment,
    .environment_names = environment_names,
    .program_path = program_path,
    .free = memory_free,
};

struct host *host_memory_new(void) {
    struct memory_host *memory = xcalloc(1, sizeof *memory);

    memory->host.ops = &memory_ops;
    memory->state = model_new();
    memory->free_space = 64ull << 30;
    memory->environment = json_object();
    return &memory->host;
}
