/* The calls of the Host Compute Service that version 1 CNI and containerd make on their way. */
#include <stdio.h>
#include <string.h>

#include "tests/hns/model.h"

static void give(struct hns_answer *ret, const char *text) {
    ret->out[ret->n++] = text ? strdup(text) : NULL;
}

static void give_json(struct hns_answer *ret, json_t *json) {
    ret->out[ret->n++] = json_dumps(json, JSON_COMPACT);
    json_decref(json);
}

static bool has_system(const struct hns_model *m, const char *id) {
    const json_t *system;
    size_t i;

    json_array_foreach(m->systems, i, system) {
        if (!strcmp(json_string_value(system), id))
            return true;
    }
    return m->any_system;
}

static const char *system_of(struct hns_model *m, const char *handle) {
    const json_t *open = json_object_get(m->handles, handle);

    if (open && model_number(open, "kind") == SYSTEM)
        return model_text(open, "id");
    (void)model_fail(m, HR_HANDLE, "'%.32s'", handle);
    return NULL;
}

static int open_system(struct hns_model *m, const char *id, struct hns_answer *ret) {
    if (!has_system(m, id))
        return model_fail(m, HR_NO_SYSTEM, NULL);
    give(ret, model_open(m, SYSTEM, id));
    return 0;
}

static json_t *describe(const char *id) {
    return json_pack("{s:s, s:s, s:s, s:s, s:s}", "Id", id, "SystemType", "Container", "Owner",
                     "containerd-shim-runhcs-v1.exe", "State", "Running", "RuntimeOsType",
                     "Windows");
}

static int enumerate(struct hns_model *m, struct hns_answer *ret) {
    json_t *list = json_array();
    const json_t *system;
    size_t i;

    json_array_foreach(m->systems, i, system)
        json_array_append_new(list, describe(json_string_value(system)));
    give_json(ret, list);
    return 0;
}

/* {"ResourceType":"Network","Settings":"<endpoint id>","RequestType":"Add|Remove"} */
static int modify(struct hns_model *m, const char *system, const char *document) {
    static const struct model_field schema[] = {
        {.name = "ResourceType", .type = T_STRING, .required = true},
        {.name = "ResourceUri", .type = T_STRING},
        {.name = "RequestType", .type = T_STRING, .required = true},
        {.name = "Settings", .type = T_ANY},
        {0}};
    json_t *parsed, *taken, *endpoint;
    int r = 0;

    if (model_parse(m, document, &parsed))
        return -1;
    r = model_take(m, schema, "", parsed, &taken);
    json_decref(parsed);
    if (r)
        return -1;
    if (!strcmp(model_text(taken, "ResourceType"), "Network")) {
        endpoint = model_find(m, ENDPOINT, model_text(taken, "Settings"));
        if (!endpoint)
            r = -1;
        else if (!strcmp(model_text(taken, "RequestType"), "Add"))
            r = model_endpoint_attach(m, endpoint, "Container", system);
        else
            r = model_endpoint_detach(m, endpoint, system);
    }
    json_decref(taken);
    return r;
}

/* Calls that say yes and change nothing that the model holds. */
static const char *const accepted[] = {
    "HcsStartComputeSystem",
    "HcsShutdownComputeSystem",
    "HcsTerminateComputeSystem",
    "ActivateLayer",
    "DeactivateLayer",
    "PrepareLayer",
    "UnprepareLayer",
    "DestroyLayer",
    "CreateSandboxLayer",
    "CreateLayer",
    "GrantVmAccess",
    "GetLayerMountPath",
    "ProcessBaseImage",
    "ProcessUtilityImage",
    "ImportLayer",
};

static int on_system(struct hns_model *m, const char *function, const char *system,
                     const char *document, struct hns_answer *ret) {
    if (!strcmp(function, "HcsModifyComputeSystem"))
        return modify(m, system, document);
    if (!strcmp(function, "HcsGetComputeSystemProperties"))
        give_json(ret, describe(system));
    else if (!strcmp(function, "HcsRegisterComputeSystemCallback"))
        give(ret, model_open(m, SYSTEM, system));
    return 0;
}

int model_hcs_call(struct hns_model *m, const char *function, const char *const args[], size_t n,
                   struct hns_answer *ret) {
    const char *first = n && args[0] ? args[0] : "", *second = n > 1 ? args[1] : NULL, *system;

    if (!strcmp(function, "HcsOpenComputeSystem"))
        return open_system(m, first, ret);
    if (!strcmp(function, "HcsCreateComputeSystem")) {
        if (has_system(m, first) && !m->any_system)
            return model_fail(m, HR_OBJECT_EXISTS, NULL);
        json_array_append_new(m->systems, json_string(first));
        give(ret, model_open(m, SYSTEM, first));
        return 0;
    }
    if (!strcmp(function, "HcsEnumerateComputeSystems"))
        return enumerate(m, ret);
    if (!strcmp(function, "HcsGetServiceProperties")) {
        give(ret, "{\"Properties\":[{\"SupportedSchemaVersions\":[{\"Major\":1,\"Minor\":0},"
                  "{\"Major\":2,\"Minor\":5}]}]}");
        return 0;
    }
    if (!strcmp(function, "HcsCloseComputeSystem") ||
        !strcmp(function, "HcsUnregisterComputeSystemCallback")) {
        json_object_del(m->handles, first);
        return 0;
    }
    for (size_t i = 0; i < sizeof(accepted) / sizeof(accepted[0]); i++)
        if (!strcmp(function, accepted[i]))
            return 0;
    if (!strcmp(function, "LayerExists"))
        return give(ret, "0"), 0;
    if (!strcmp(function, "HcsModifyComputeSystem") ||
        !strcmp(function, "HcsGetComputeSystemProperties") ||
        !strcmp(function, "HcsRegisterComputeSystemCallback")) {
        system = system_of(m, first);
        return system ? on_system(m, function, system, second, ret) : -1;
    }
    return 1;
}
