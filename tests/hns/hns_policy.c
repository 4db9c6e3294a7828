/* Policies of networks and endpoints: where a type may stand, and Add, Remove, Update. */
#include <string.h>

#include "tests/hns/model.h"

static const struct model_policy *row_of(const struct model_policy *table, const json_t *policy) {
    const char *type = model_text(policy, "Type");

    while (table->type && strcmp(table->type, type))
        table++;
    return table;
}

int model_policies_check(struct hns_model *m, const struct model_policy *table, const json_t *list,
                         enum model_network type) {
    const json_t *policy;
    size_t i;

    json_array_foreach(list, i, policy) {
        const struct model_policy *row = row_of(table, policy);

        if (row->networks && !(row->networks & 1u << type))
            return model_fail(m, HR_POLICY,
                              "Policies[%zu]: %s cannot stand on a network of type %s", i,
                              row->type, model_network_types[type].word);
    }
    return 0;
}

const json_t *model_policy_find(const json_t *list, const char *type) {
    const json_t *policy;
    size_t i;

    json_array_foreach(list, i, policy) {
        if (!strcmp(model_text(policy, "Type"), type))
            return policy;
    }
    return NULL;
}

/* Whether two policies are about the same thing: Update replaces it, Add finds it taken. */
static bool same_subject(const json_t *a, const json_t *b) {
    static const struct {
        const char *type, *key;
    } keys[] = {{"RemoteSubnetRoute", "DestinationPrefix"}, {"SetPolicy", "Id"}};
    const json_t *sa = json_object_get(a, "Settings"), *sb = json_object_get(b, "Settings");
    const char *type = model_text(a, "Type");

    if (strcmp(type, model_text(b, "Type")))
        return false;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (!strcmp(type, keys[i].type))
            return !strcmp(model_text(sa, keys[i].key), model_text(sb, keys[i].key));
    return true;
}

/* What can stand only once in an object; the others may repeat. */
static bool is_single(const char *type) {
    static const char *const single[] = {"HostRoute", "VxlanPort",       "RemoteSubnetRoute",
                                         "SetPolicy", "ProviderAddress", "DrMacAddress"};

    for (size_t i = 0; i < sizeof(single) / sizeof(single[0]); i++)
        if (!strcmp(type, single[i]))
            return true;
    return false;
}

static int add(struct hns_model *m, json_t *stored, json_t *policy) {
    const char *type = model_text(policy, "Type");
    json_t *old;
    size_t i;

    json_array_foreach(stored, i, old) {
        if (!is_single(type) || !same_subject(old, policy))
            continue;
        if (!strcmp(type, "RemoteSubnetRoute"))
            return model_fail(m, HR_POLICY_EXISTS, "RemoteSubnetRoute for %s",
                              model_text(json_object_get(policy, "Settings"), "DestinationPrefix"));
        json_array_set(stored, i, policy);
        return 0;
    }
    json_array_append(stored, policy);
    return 0;
}

static int drop(struct hns_model *m, json_t *stored, const json_t *policy) {
    json_t *old;
    size_t i;

    json_array_foreach(stored, i, old) {
        if (json_equal(old, policy)) {
            json_array_remove(stored, i);
            return 0;
        }
    }
    return model_fail(m, HR_POLICY_NOT_FOUND, "no %s with exactly these settings",
                      model_text(policy, "Type"));
}

/* Update: what is about the same things as the new ones goes, all of the new ones come: azure-npm
 * sends the ACLs that are to stay. */
static void update(json_t *stored, const json_t *taken) {
    json_t *policy;
    size_t k;

    json_array_foreach(taken, k, policy) {
        for (size_t i = json_array_size(stored); i-- > 0;)
            if (same_subject(json_array_get(stored, i), policy))
                json_array_remove(stored, i);
    }
    json_array_extend(stored, (json_t *)taken);
}

static int apply(struct hns_model *m, json_t *stored, const char *request, const json_t *taken) {
    json_t *policy;
    size_t i;
    int r = 0;

    if (!strcmp(request, "Update")) {
        update(stored, taken);
        return 0;
    }
    json_array_foreach(taken, i, policy) {
        if (!strcmp(request, "Add"))
            r = add(m, stored, policy);
        else if (!strcmp(request, "Remove"))
            r = drop(m, stored, policy);
        else
            r = model_fail(m, HR_UNSUPPORTED, "%s of policies", request);
        if (r)
            break;
    }
    return r;
}

int model_policies_modify(struct hns_model *m, const struct model_policy *table, json_t *object,
                          const char *request, const json_t *list, enum model_network type) {
    const struct model_field schema[] = {
        {.name = "Policies", .type = T_POLICIES, .required = true, .of = table}, {0}};
    json_t *taken, *copy, *policies;
    int r;

    if (model_take(m, schema, "Settings", list, &taken))
        return -1;
    policies = json_object_get(taken, "Policies");
    copy = json_deep_copy(json_object_get(object, "Policies"));
    r = model_policies_check(m, table, policies, type) || apply(m, copy, request, policies) ? -1
                                                                                            : 0;
    if (!r) {
        json_object_set(object, "Policies", copy); /* all of them or none */
        m->changed = true;
    }
    json_decref(copy);
    json_decref(taken);
    return r;
}
