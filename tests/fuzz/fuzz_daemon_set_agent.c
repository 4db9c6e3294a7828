/* A DaemonSet of the cluster and its ConfigMaps' data, {"set": ..., "data": ..., "others": ...}, as
 * a network agent's settings are read from them. */
#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"
#include "netsetup/agents/daemon_set_agent.h"

static void read_as(const struct daemon_set_agent *agent, const json_t *json) {
    struct agent_settings settings = {.daemon_set_agent = agent, .daemon_set = xstrdup("a/b")};
    struct agent_settings others = {0};
    struct error err = {0};

    settings.variables = daemon_set_agent_variables(json_object_get(json, "set"));
    if (json_object_get(json, "data"))
        (void)json_object_update_missing(settings.variables, json_object_get(json, "data"));
    if (json_object_get(json, "others"))
        json_object_set(settings.variables, DAEMON_SET_AGENT_OTHERS,
                        json_object_get(json, "others"));
    if (agent->read && agent->read(settings.variables, &settings, &err) < 0) {
        if (err.kind != ERROR_MALFORMED || !err.message[0])
            abort();
    } else if (!agent->read || settings.backend) {
        daemon_set_agent_settle(&settings, &others);
        if (!agent->settings_of && settings.agent->check_settings(&settings, &err) < 0 &&
            (err.kind != ERROR_UNSUPPORTED || !err.hints[0][0]))
            abort();
    }
    agent_settings_free(&settings);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    _cleanup_json_ json_t *json = NULL;

    if (json_read((const char *)data, size, "fuzz", &json, NULL) < 0)
        return 0;
    for (size_t i = 0; daemon_set_agents[i]; i++)
        read_as(daemon_set_agents[i], json);
    return 0;
}
