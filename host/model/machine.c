/* Simulates a server without winjoin: its registry, firewall, facts, event log and services, as
 * JSON. A service start succeeds at once, because what programs do is not simulated. */
#include "host/model/model.h"

static const char bare_server[] =
    "{\"services\":{},\"registry\":{\"software\\\\microsoft\\\\windows nt\\\\currentversion\":{"
    "\"systemroot\":\"C:\\\\Windows\"},"
    "\"system\\\\currentcontrolset\\\\control\\\\session manager\\\\environment\":{"
    "\"path\":\"%SystemRoot%\\\\system32;%SystemRoot%\"},"
    "\"system\\\\currentcontrolset\\\\services\\\\hns\":{\"start\":\"3\"},"
    "\"system\\\\currentcontrolset\\\\services\\\\vmcompute\":{\"start\":\"3\"}},\"firewall\":{},"
    "\"events\":[],\"pipes\":[],\"drives\":{\"C\":64000000000},"
    "\"ports\":{\"tcp\":[],\"udp\":[]},"
    "\"adapters\":[{\"alias\":\"Ethernet\",\"description\":\"Microsoft Hyper-V Network Adapter\","
    "\"mac\":\"00-15-5D-01-02-03\",\"index\":4,\"mtu\":1500,"
    "\"up\":true,\"dhcp\":false,\"forwarding\":false,\"addresses\":[\"10.0.0.21/24\"],"
    "\"gateways\":[\"10.0.0.1\"],\"dnsServers\":[\"10.0.0.2\",\"10.0.0.3\"]}],"
    "\"routes\":[{\"destination\":\"0.0.0.0/0\",\"nextHop\":\"10.0.0.1\",\"interfaceIndex\":4,"
    "\"metric\":256}],"
    "\"facts\":{\"product\":\"Windows Server 2022 Datacenter\",\"installationType\":\"Server\","
    "\"major\":10,\"minor\":0,\"build\":20348,\"revision\":2340,\"architecture\":\"amd64\","
    "\"hostName\":\"WIN-7K2\",\"elevated\":true,\"memoryBytes\":17179869184,"
    "\"pageFileBytes\":8589934592,\"containersFeature\":1,\"restartPending\":false,"
    "\"uptimeSeconds\":86400},"
    "\"hns\":{\"networks\":{},\"endpoints\":{},\"namespaces\":{},\"loadBalancers\":{},"
    "\"external\":{}}}";

json_t *model_new(void) {
    json_t *state = NULL;

    if (json_read(bare_server, strlen(bare_server), "bare server", &state, NULL) < 0)
        abort(); /* Parsing cannot fail, because the text is a constant of this file. */
    return state;
}

/* Returns a registry key in lower case without "HKLM\": registry names ignore letter case. */
static char *registry_name(const char *key) {
    if (text_starts_with(key, "HKLM\\"))
        key += 5;
    return text_lower(key);
}

int model_registry_get(json_t *state, const char *key, const char *value, char **ret,
                       struct error *err) {
    _cleanup_(freep) char *at = registry_name(key);
    _cleanup_(freep) char *name = text_lower(value);
    const json_t *found =
        json_object_get(json_object_get(json_object_get(state, "registry"), at), name);

    if (!json_is_string(found))
        return error_set(err, ERROR_ABSENT, "read registry value '%s\\%s': it is absent", key,
                         value);
    *ret = xstrdup(json_string_value(found));
    return 0;
}

void model_registry_set(json_t *state, const char *key, const char *value, const char *data) {
    _cleanup_(freep) char *at = registry_name(key);
    _cleanup_(freep) char *name = text_lower(value);
    json_t *registry = json_object_get(state, "registry");
    json_t *values = json_object_get(registry, at);

    if (!values && data) {
        values = json_object();
        json_object_set_new(registry, at, values);
    }
    if (data)
        json_object_set_new(values, name, json_string(data));
    else
        json_object_del(values, name);
    if (!json_object_size(values))
        json_object_del(registry, at);
}

void model_event_source_set(json_t *state, const char *file) {
    _cleanup_(freep) char *at = registry_name(HOST_EVENT_SOURCE_KEY);

    json_object_del(json_object_get(state, "registry"), at);
    if (file)
        model_registry_set(state, HOST_EVENT_SOURCE_KEY, "EventMessageFile", file);
}

void model_firewall_put(json_t *state, const struct host_firewall_rule *rule) {
    json_object_set_new(json_object_get(state, "firewall"), rule->name,
                        json_pack("{s:s*, s:s, s:i}", "description", rule->description, "protocol",
                                  rule->udp ? "UDP" : "TCP", "port", (int)rule->port));
}

void model_firewall_remove(json_t *state, const char *name) {
    json_object_del(json_object_get(state, "firewall"), name);
}

bool model_firewall_has(json_t *state, const char *name) {
    return json_object_get(json_object_get(state, "firewall"), name) != NULL;
}

static void copy_text(char *out, size_t size, const json_t *json, const char *member) {
    /* A text that is too long becomes empty. */
    (void)text_format(out, size, "%s", json_text_or(json, member, ""));
}

void model_facts(json_t *state, struct host_facts *ret) {
    const json_t *facts = json_object_get(state, "facts");
    const json_t *pending = json_object_get(facts, "restartPending");

    *ret = (struct host_facts){
        .major = (unsigned)json_number_at(facts, "major", 10),
        .minor = (unsigned)json_number_at(facts, "minor", 0),
        .build = (unsigned)json_number_at(facts, "build", 20348),
        .revision = (unsigned)json_number_at(facts, "revision", 0),
        .elevated = json_bool_at(facts, "elevated", true),
        .memory_bytes = (uint64_t)json_number_at(facts, "memoryBytes", 0),
        .page_file_bytes = (uint64_t)json_number_at(facts, "pageFileBytes", 0),
        .containers_feature = (int)json_number_at(facts, "containersFeature", -1),
        .restart_pending = json_is_boolean(pending) ? json_is_true(pending) : -1,
        .uptime_seconds = (uint64_t)json_number_at(facts, "uptimeSeconds", 0),
    };
    copy_text(ret->product, sizeof ret->product, facts, "product");
    copy_text(ret->installation_type, sizeof ret->installation_type, facts, "installationType");
    copy_text(ret->architecture, sizeof ret->architecture, facts, "architecture");
    copy_text(ret->host_name, sizeof ret->host_name, facts, "hostName");
}

void model_event(json_t *state, char level, unsigned event_id, const char *text) {
    char name[2] = {level, '\0'};

    json_array_append_new(
        json_object_get(state, "events"),
        json_pack("{s:s, s:i, s:s}", "level", name, "id", (int)event_id, "text", text));
}

bool model_pipe_exists(json_t *state, const char *path) {
    json_each(json_object_get(state, "pipes"), i, pipe)
        if (text_equal_nocase(json_string_value(pipe), path))
            return true;
    return false;
}

/* ---- services ---- */

enum { PRESHUTDOWN_MS = 180000 }; /* Windows' default for a service that does not set it. */

/* Finds a service. Names ignore letter case; the spelling of the first registration is kept. */
static json_t *find_service(json_t *state, const char *name, const char **ret_key) {
    json_each_member(json_object_get(state, "services"), key, service)
        if (text_equal_nocase(key, name)) {
            *ret_key = key;
            return service;
        }
    return NULL;
}

static json_t *need_service(json_t *state, const char *verb, const char *name, struct error *err) {
    const char *key;
    json_t *found = find_service(state, name, &key);

    if (!found)
        (void)error_set_os(err, ERROR_ABSENT, 1060, "%s service '%s': it is absent", verb, name);
    return found;
}

int model_service_put(json_t *state, const struct host_service *service, struct error *err) {
    const char *key = service->name;
    json_t *old = find_service(state, service->name, &key);
    const unsigned *delays = service->restart_delays_ms;
    json_t *made = json_pack(
        "{s:s*, s:s*, s:s, s:o, s:o, s:b, s:[i,i,i], s:b, s:i, s:i, s:s, s:I, s:i}", "displayName",
        service->display_name, "description", service->description, "command", service->command,
        "dependsOn", json_texts(&service->depends_on), "environment",
        json_texts(&service->environment), "autoStart", (int)service->auto_start, "restartDelaysMs",
        (int)delays[0], (int)delays[1], (int)delays[2], "restartOnError",
        (int)service->restart_on_error, "resetSeconds", (int)service->reset_seconds,
        "preshutdownMs", (int)(service->preshutdown_ms ? service->preshutdown_ms : PRESHUTDOWN_MS),
        "state", json_text_or(old, "state", "stopped"), "processId",
        (json_int_t)json_number_at(old, "processId", 0), "exitCode", 0);

    if (!made)
        return error_set(err, ERROR_USAGE, "register service '%s': its description is not UTF-8",
                         service->name);
    json_object_set_new(json_object_get(state, "services"), key, made);
    return 0;
}

int model_service_query(json_t *state, const char *name, struct host_service *ret, struct error *) {
    const char *key = name;
    const json_t *found = find_service(state, name, &key);
    const char *standing = json_text_at(found, "state");
    struct host_service service = {.name = xstrdup(key)};

    if (found) {
        service.state = HOST_SERVICE_STOPPED;
        for (size_t i = 0; i < ARRAY_SIZE(host_service_states); i++)
            if (text_equal(host_service_states[i], standing))
                service.state = (enum host_service_state)i;
        service.display_name = xstrdup_null(json_text_at(found, "displayName"));
        service.description = xstrdup_null(json_text_at(found, "description"));
        service.command = xstrdup_null(json_text_at(found, "command"));
        json_read_texts(json_object_get(found, "dependsOn"), &service.depends_on);
        json_read_texts(json_object_get(found, "environment"), &service.environment);
        service.auto_start = json_bool_at(found, "autoStart", false);
        service.restart_delays_ms[0] = (unsigned)json_number_at(found, "restartDelaysMs.0", 0);
        service.restart_delays_ms[1] = (unsigned)json_number_at(found, "restartDelaysMs.1", 0);
        service.restart_delays_ms[2] = (unsigned)json_number_at(found, "restartDelaysMs.2", 0);
        service.restart_on_error = json_bool_at(found, "restartOnError", false);
        service.reset_seconds = (unsigned)json_number_at(found, "resetSeconds", 0);
        service.preshutdown_ms = (unsigned)json_number_at(found, "preshutdownMs", 0);
        service.process_id = (uint32_t)json_number_at(found, "processId", 0);
        service.exit_code = (uint32_t)json_number_at(found, "exitCode", 0);
        service.started = json_number_at(found, "started", 0);
    }
    *ret = service;
    return 0;
}

int model_service_start(json_t *state, const char *name, struct error *err) {
    json_t *service = need_service(state, "start", name, err);

    if (!service)
        return -1;
    json_each(json_object_get(service, "dependsOn"), i, other) {
        if (!need_service(state, "start", json_string_value(other), err))
            return error_prefix(err, "start service '%s'", name);
        if (model_service_start(state, json_string_value(other), err) < 0)
            return -1;
    }
    if (!text_equal(json_text_at(service, "state"), "running")) {
        json_object_set_new(service, "state", json_string("running"));
        json_object_set_new(service, "processId", json_integer(4242));
    }
    return 0;
}

void model_service_stop(json_t *state, const char *name) {
    const char *key;
    json_t *service = find_service(state, name, &key);

    if (!service)
        return;
    json_each_member(json_object_get(state, "services"), other, its) {
        bool depends = false;

        json_each(json_object_get(its, "dependsOn"), i, needed)
            depends |= text_equal_nocase(json_string_value(needed), name);
        if (depends && text_equal(json_text_at(its, "state"), "running"))
            model_service_stop(state, other); /* The Windows host stops dependent services too. */
    }
    json_object_set_new(service, "state", json_string("stopped"));
    json_object_set_new(service, "processId", json_integer(0));
}

void model_service_delete(json_t *state, const char *name) {
    const char *key;

    model_service_stop(state, name);
    if (find_service(state, name, &key))
        json_object_del(json_object_get(state, "services"), key);
}
