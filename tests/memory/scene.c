/* The in-memory host's test side: setting the scene and looking at what happened. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "tests/memory/memory.h"

static const struct memory_host *looked_at(const struct host *host) {
    return (const struct memory_host *)host;
}

size_t host_memory_calls(const struct host *host) {
    return looked_at(host)->calls;
}

void host_memory_fail(struct host *host, size_t n) {
    struct memory_host *memory = memory_of(host);

    memory->fail_at = n ? memory->calls + n : 0;
    memory->dies = false;
}

void host_memory_fail_named(struct host *host, const char *line) {
    memory_of(host)->fail_named = line;
}

void host_memory_die(struct host *host, size_t n) {
    host_memory_fail(host, n);
    memory_of(host)->dies = true;
}

void host_memory_set_program_path(struct host *host, const char *path) {
    memory_of(host)->program_path = path;
}

const char *host_memory_failed(const struct host *host) {
    const struct memory_host *memory = looked_at(host);

    return text_str(&memory->log) + memory->failed_at;
}

const char *host_memory_log(const struct host *host) {
    return text_str(&looked_at(host)->log);
}

json_t *host_memory_state(const struct host *host) {
    json_t *state = json_deep_copy(looked_at(host)->state);

    json_object_set_new(state, "files", memory_files_json(looked_at(host)));
    return state;
}

const json_t *host_memory_at(const struct host *host, const char *path) {
    return json_at(looked_at(host)->state, path);
}

void host_memory_patch(struct host *host, const json_t *patch) {
    struct memory_host *memory = memory_of(host);
    json_t *patched = json_merge_patch(memory->state, patch);

    json_decref(memory->state);
    memory->state = patched;
}

void host_memory_set_facts(struct host *host, const struct host_facts *facts) {
    json_object_set_new(
        memory_of(host)->state, "facts",
        json_pack("{s:s, s:s, s:i, s:i, s:i, s:i, s:s, s:s, s:b, s:I, s:I, s:i, s:o, s:I}",
                  "product", facts->product, "installationType", facts->installation_type, "major",
                  (int)facts->major, "minor", (int)facts->minor, "build", (int)facts->build,
                  "revision", (int)facts->revision, "architecture", facts->architecture, "hostName",
                  facts->host_name, "elevated", (int)facts->elevated, "memoryBytes",
                  (json_int_t)facts->memory_bytes, "pageFileBytes",
                  (json_int_t)facts->page_file_bytes, "containersFeature",
                  facts->containers_feature, "restartPending",
                  facts->restart_pending < 0 ? json_null() : json_boolean(facts->restart_pending),
                  "uptimeSeconds", (json_int_t)facts->uptime_seconds));
}

void host_memory_set_registry(struct host *host, const char *key, const char *value,
                              const char *data) {
    model_registry_set(memory_of(host)->state, key, value, data);
}

void host_memory_set_environment(struct host *host, const char *name, const char *value) {
    json_t *environment = memory_of(host)->environment;

    if (value)
        json_object_set_new(environment, name, json_string(value));
    else
        json_object_del(environment, name);
}

void host_memory_set_adapters(struct host *host, const struct host_adapters *adapters) {
    json_t *array = json_array();

    for (size_t i = 0; i < adapters->count; i++) {
        const struct host_adapter *a = &adapters->items[i];

        json_array_append_new(
            array,
            json_pack("{s:s, s:s*, s:s, s:I, s:I, s:b, s:b, s:b, s:I, s:I, s:o, s:o, s:o, s:o}",
                      "alias", a->alias, "description", a->description, "mac", a->mac, "index",
                      (json_int_t)a->index, "mtu", (json_int_t)a->mtu, "up", (int)a->up, "dhcp",
                      (int)a->dhcp, "forwarding", 0, "metric", (json_int_t)a->metric, "metric6",
                      (json_int_t)a->metric6, "addresses", json_texts(&a->addresses), "advertised",
                      json_texts(&a->advertised), "gateways", json_texts(&a->gateways),
                      "dnsServers", json_texts(&a->dns_servers)));
    }
    json_object_set_new(memory_of(host)->state, "adapters", array);
}

void host_memory_set_program(struct host *host, const char *name, int exit_code,
                             const char *output) {
    struct memory_host *memory = memory_of(host);
    struct memory_program *program = NULL;

    for (size_t i = 0; i < memory->program_count; i++)
        if (text_equal_nocase(memory->programs[i].name, name))
            program = &memory->programs[i];
    if (!program) {
        memory->programs =
            xrealloc(memory->programs, (memory->program_count + 1) * sizeof *memory->programs);
        program = &memory->programs[memory->program_count++];
        *program = (struct memory_program){.name = xstrdup(name)};
    }
    free(program->output);
    program->exit_code = exit_code;
    program->output = xstrdup(output ? output : "");
}

void host_memory_set_program_flags(struct host *host, const char *name, const char *flags) {
    struct memory_host *memory = memory_of(host);

    for (size_t i = 0; i < memory->program_count; i++)
        if (text_equal_nocase(memory->programs[i].name, name))
            text_list_split(&memory->programs[i].flags, flags, ' ');
}

void host_memory_on_run(struct host *host, host_memory_run *hook, void *context) {
    memory_of(host)->on_run = hook;
    memory_of(host)->on_run_context = context;
}

void host_memory_forget(struct host *host) {
    text_clear(&memory_of(host)->log);
    json_array_clear(json_object_get(memory_of(host)->state, "events"));
}

/* The vSwitch follows as it does for any network that is deleted. */
static void lose_network(json_t *state, const char *id) {
    _cleanup_(freep) char *copy = xstrdup(id); /* it goes with the network */
    const char *arguments[] = {copy};
    char *result = NULL, *record = NULL;

    (void)model_hns(state, NULL, NULL, "HcnDeleteNetwork", arguments, 1, &result, &record);
    free(result);
    free(record);
}

static void lose_networks(json_t *state) {
    const char *id;
    json_t *network;
    void *next;

    json_object_foreach_safe(json_at(state, "hns.networks"), next, id, network) {
        if (json_number_at(network, "Flags", 0) & 8)
            lose_network(state, id);
    }
    json_object_clear(json_at(state, "hns.loadBalancers"));
}

void host_memory_restart_hns(struct host *host) {
    struct host_service hns = {.name = (char *)"hns", .command = (char *)"svchost.exe"};
    json_t *state = memory_of(host)->state, *service = json_at(state, "services.hns");
    long long process = json_number_at(service, "processId", 1000);

    lose_networks(state);
    if (!service)
        (void)model_service_put(state, &hns, NULL); /* its text is UTF-8 */
    host_memory_set_service_state(host, "hns", HOST_SERVICE_RUNNING);
    service = json_at(state, "services.hns");
    json_object_set_new(service, "processId", json_integer(process + 4));
}

void host_memory_hang_hns(struct host *host) {
    memory_of(host)->hns_hangs = true;
}

void host_memory_set_hns(struct host *host, host_memory_hns *call, void *context) {
    memory_of(host)->hns = call;
    memory_of(host)->hns_context = context;
}

void host_memory_set_port(struct host *host, bool udp, unsigned port) {
    json_array_append_new(json_at(memory_of(host)->state, udp ? "ports.udp" : "ports.tcp"),
                          json_integer((json_int_t)port));
}

int memory_routes(struct host *host, struct host_routes *ret, struct error *err) {
    if (memory_call(host, err, "routes") < 0)
        return -1;
    model_routes(memory_of(host)->state, ret);
    return 0;
}

int memory_neighbors(struct host *host, struct host_neighbors *ret, struct error *err) {
    if (memory_call(host, err, "neighbors") < 0)
        return -1;
    model_neighbors(memory_of(host)->state, ret);
    return 0;
}

void host_memory_add_neighbor(struct host *host, const char *address, const char *mac, bool fixed) {
    json_t *state = memory_of(host)->state, *neighbors = json_object_get(state, "neighbors");

    if (!neighbors) {
        neighbors = json_array();
        json_object_set_new(state, "neighbors", neighbors);
    }
    json_array_append_new(neighbors, json_pack("{s:s, s:s, s:b}", "address", address, "mac", mac,
                                               "fixed", (int)fixed));
}

void host_memory_set_pipe(struct host *host, const char *path) {
    json_array_append_new(json_object_get(memory_of(host)->state, "pipes"), json_string(path));
}

void host_memory_pipe_not_yet(struct host *host) {
    memory_of(host)->pipe_not_yet = true;
}

void host_memory_set_pipe_answer(struct host *host, host_memory_pipe *answer, void *context) {
    memory_of(host)->pipe = answer;
    memory_of(host)->pipe_context = context;
}

void host_memory_set_service_state(struct host *host, const char *name,
                                   enum host_service_state state) {
    static const char *const names[] = {
        [HOST_SERVICE_STOPPED] = "stopped", [HOST_SERVICE_STARTING] = "starting",
        [HOST_SERVICE_RUNNING] = "running", [HOST_SERVICE_STOPPING] = "stopping",
        [HOST_SERVICE_PAUSED] = "paused",
    };
    json_t *service = json_object_get(json_object_get(memory_of(host)->state, "services"), name);

    if (state == HOST_SERVICE_ABSENT)
        json_object_del(json_object_get(memory_of(host)->state, "services"), name);
    else if (service)
        json_object_set_new(service, "state", json_string(names[state]));
}

void host_memory_end_service(struct host *host, const char *name, uint32_t exit_code) {
    json_t *service = json_object_get(json_object_get(memory_of(host)->state, "services"), name);

    host_memory_set_service_state(host, name, HOST_SERVICE_STOPPED);
    json_object_set_new(service, "processId", json_integer(0));
    json_object_set_new(service, "exitCode", json_integer((json_int_t)exit_code));
}

void host_memory_end_service_starts(struct host *host, const char *name, unsigned times) {
    free(memory_of(host)->ending);
    memory_of(host)->ending = xstrdup(name);
    memory_of(host)->ending_times = times;
}

void host_memory_set_free_space(struct host *host, uint64_t bytes) {
    memory_of(host)->free_space = bytes;
}

size_t host_memory_watchers(struct host *host) {
    return memory_of(host)->watchers;
}

void host_memory_hold(struct host *host, const char *path) {
    if (!path)
        text_list_free(&memory_of(host)->held);
    else if (!text_list_has(&memory_of(host)->held, path))
        text_list_add(&memory_of(host)->held, path);
}

void host_memory_set_watched_well(struct host *host, bool well) {
    memory_of(host)->watched_well = well;
}

void host_memory_interrupt(struct host *host) {
    memory_of(host)->interrupted = true;
}

void host_memory_advance(struct host *host, unsigned milliseconds) {
    memory_of(host)->clock_ms += milliseconds;
}

void host_memory_on_sleep(struct host *host, void (*hook)(void *, struct host *), void *context) {
    memory_of(host)->on_sleep = hook;
    memory_of(host)->on_sleep_context = context;
}
