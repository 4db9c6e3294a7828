/* A bare server, its registry, firewall, facts and event log, as JSON. */
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
        abort(); /* a constant of this file */
    return state;
}

/* Registry names are case-insensitive and HKLM is understood. */
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
    (void)text_format(out, size, "%s", json_text_or(json, member, "")); /* too long: shown empty */
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

bool model_free_space(json_t *state, char drive, uint64_t *ret) {
    const char name[] = {drive, '\0'};
    const json_t *bytes = json_object_get(json_object_get(state, "drives"), name);

    if (json_is_integer(bytes))
        *ret = (uint64_t)json_integer_value(bytes);
    return json_is_integer(bytes);
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
