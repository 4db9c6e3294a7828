/* Services of a modelled server. A start succeeds at once: what a program does is not modelled. */
#include "host/model/model.h"

enum { PRESHUTDOWN_MS = 180000 }; /* of a service that sets none */

/* Service names are case-insensitive; the spelling of the first registration stays. */
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

static bool depends_on(const json_t *service, const char *name) {
    json_each(json_object_get(service, "dependsOn"), i, other)
        if (text_equal_nocase(json_string_value(other), name))
            return true;
    return false;
}

void model_service_stop(json_t *state, const char *name) {
    const char *key;
    json_t *service = find_service(state, name, &key);

    if (!service)
        return;
    json_each_member(json_object_get(state, "services"), other, its)
        if (depends_on(its, name) && text_equal(json_text_at(its, "state"), "running"))
            model_service_stop(state, other); /* as the real host does */
    json_object_set_new(service, "state", json_string("stopped"));
    json_object_set_new(service, "processId", json_integer(0));
}

void model_service_delete(json_t *state, const char *name) {
    const char *key;

    model_service_stop(state, name);
    if (find_service(state, name, &key))
        json_object_del(json_object_get(state, "services"), key);
}
