/* The model as a whole: made, reset, restarted, controlled, shown. */
#include <stdlib.h>
#include <string.h>

#include "tests/hns/model.h"

enum { NON_PERSISTENT = 8 };

/* ---- making ---- */

static void clear(struct hns_model *m) {
    for (int k = 0; k < KINDS; k++) {
        json_decref(m->objects[k]);
        m->objects[k] = json_object();
    }
    json_decref(m->handles);
    m->handles = json_object();
    json_decref(m->faults);
    m->faults = json_array();
    json_decref(m->systems);
    m->systems = json_array();
    json_decref(m->orphans);
    m->orphans = json_array();
    m->any_system = false;
    m->soft_v1 = false;
    m->next_handle = 0x1000;
    m->next_mac = 0;
    m->next_namespace = 1;
    m->changed = true;
}

static json_t *adapters_of(const struct hns_model_options *options) {
    json_t *list = json_array();

    for (size_t i = 0; i < options->n_adapters; i++) {
        const struct hns_model_adapter *a = &options->adapters[i];
        json_t *addresses = json_array();

        for (size_t k = 0; a->addresses && a->addresses[k]; k++)
            json_array_append_new(addresses, json_string(a->addresses[k]));
        json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:b}", "alias", a->alias, "mac",
                                              a->mac, "addresses", addresses, "dhcp", a->dhcp));
    }
    if (!options->n_adapters)
        json_array_append_new(list, json_pack("{s:s, s:s, s:[s], s:b}", "alias", "Ethernet", "mac",
                                              "00-15-5D-00-00-01", "addresses", "10.200.0.11/24",
                                              "dhcp", 1));
    return list;
}

static const char *set_adapters(struct hns_model *m, const json_t *list) {
    const json_t *given;
    json_t *made = json_array();
    size_t i;

    json_array_foreach(list, i, given) {
        if (!*model_text(given, "alias")) {
            json_decref(made);
            return "an adapter needs an alias";
        }
        json_array_append_new(
            made, model_adapter_new(model_text(given, "alias"), model_text(given, "mac"),
                                    json_object_get(given, "addresses"),
                                    json_is_true(json_object_get(given, "dhcp"))));
    }
    json_decref(m->adapters);
    m->adapters = made;
    return NULL;
}

/* NULL, or what is wrong with the operation. */
static const char *apply_set(struct hns_model *m, const json_t *op) {
    const json_t *version = json_object_get(op, "version"), *value;

    if (json_is_array(version)) {
        m->major = (unsigned)json_integer_value(json_array_get(version, 0));
        m->minor = (unsigned)json_integer_value(json_array_get(version, 1));
    }
    if ((value = json_object_get(op, "outageMs")))
        m->outage_ms = (unsigned)json_integer_value(value);
    if ((value = json_object_get(op, "keepStatic")))
        m->keep_static = json_is_true(value);
    if ((value = json_object_get(op, "softV1")))
        m->soft_v1 = json_is_true(value);
    if ((value = json_object_get(op, "anySystem")))
        m->any_system = json_is_true(value);
    if (json_is_array(json_object_get(op, "systems"))) {
        json_decref(m->systems);
        m->systems = json_deep_copy(json_object_get(op, "systems"));
    }
    value = json_object_get(op, "adapters");
    return json_is_array(value) ? set_adapters(m, value) : NULL;
}

struct hns_model *hns_model_new(const struct hns_model_options *options) {
    static const struct hns_model_options defaults;
    struct hns_model *m = calloc(1, sizeof(*m));

    if (!m)
        abort();
    if (!options)
        options = &defaults;
    m->random = options->seed ? options->seed : 1;
    m->initial =
        json_pack("{s:[i,i], s:o, s:i, s:b}", "version", options->major ? (int)options->major : 13,
                  options->major ? (int)options->minor : 2, "adapters", adapters_of(options),
                  "outageMs", (int)options->outage_ms, "keepStatic", options->keep_static);
    clear(m);
    (void)apply_set(m, m->initial); /* our own options are well formed */
    return m;
}

void hns_model_free(struct hns_model *m) {
    if (!m)
        return;
    for (int k = 0; k < KINDS; k++)
        json_decref(m->objects[k]);
    json_decref(m->handles);
    json_decref(m->adapters);
    json_decref(m->faults);
    json_decref(m->systems);
    json_decref(m->orphans);
    json_decref(m->initial);
    free(m);
}

/* ---- ends of the service ---- */

/* What stays of a network is its document, without what others have added to it. */
static void lose_remote_subnets(json_t *network) {
    json_t *policies = json_object_get(network, "Policies");

    for (size_t i = json_array_size(policies); i-- > 0;)
        if (!strcmp(model_text(json_array_get(policies, i), "Type"), "RemoteSubnetRoute"))
            json_array_remove(policies, i);
}

static void lose_networks(struct hns_model *m, bool nat) {
    const char *id;
    json_t *network;
    void *next;

    json_object_foreach_safe(m->objects[NETWORK], next, id, network) {
        if (model_number(network, "Flags") & NON_PERSISTENT ||
            (nat && model_network_type(network) == NAT))
            (void)model_remove(m, NETWORK, id);
        else
            lose_remote_subnets(network);
    }
    json_object_clear(m->objects[LOAD_BALANCER]);
    json_object_clear(m->objects[SDN_ROUTE]);
    json_object_clear(m->handles);
    m->changed = true;
}

void hns_model_restart(struct hns_model *m) {
    lose_networks(m, false);
}

void hns_model_reboot(struct hns_model *m) {
    const char *id;
    json_t *endpoint;

    lose_networks(m, true);
    json_object_clear(m->objects[NAMESPACE]);
    json_array_clear(m->orphans);
    json_object_foreach(m->objects[ENDPOINT], id, endpoint) {
        json_object_del(endpoint, "HostComputeNamespace");
        json_object_del(endpoint, "_attached");
    }
}

/* ---- the whole state ---- */

static json_t *without_own(const json_t *object) {
    json_t *shown = json_object(), *value;
    const char *key;

    json_object_foreach((json_t *)object, key, value) {
        if (key[0] != '_')
            json_object_set_new(shown, key, json_deep_copy(value));
    }
    return shown;
}

static json_t *show_objects(const struct hns_model *m, enum model_kind kind) {
    json_t *list = json_array(), *object, *shown, *public;
    const char *id;

    json_object_foreach(m->objects[kind], id, object) {
        public = model_public(m, kind, object);
        shown = json_deep_copy(public);
        json_decref(public);
        if (kind == NETWORK) {
            json_object_set(shown, "Type", json_object_get(object, "Type"));
            if (json_object_get(object, "_adapter"))
                json_object_set(shown, "Adapter", json_object_get(object, "_adapter"));
        }
        if (kind == ENDPOINT && json_object_get(object, "_attached"))
            json_object_set_new(shown, "Attached",
                                json_deep_copy(json_object_get(object, "_attached")));
        json_array_append_new(list, shown);
    }
    return list;
}

json_t *hns_model_state(const struct hns_model *m) {
    json_t *adapters = json_array(), *adapter;
    size_t i;

    json_array_foreach(m->adapters, i, adapter)
        json_array_append_new(adapters, without_own(adapter));
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:{s:i, s:i}}", "networks",
                     show_objects(m, NETWORK), "endpoints", show_objects(m, ENDPOINT), "namespaces",
                     show_objects(m, NAMESPACE), "loadBalancers", show_objects(m, LOAD_BALANCER),
                     "routes", show_objects(m, SDN_ROUTE), "adapters", adapters, "version", "Major",
                     (int)m->major, "Minor", (int)m->minor);
}

/* ---- control ---- */

static json_t *refused(const char *text) {
    return json_pack("{s:s}", "error", text);
}

static int kind_of(const json_t *op) {
    for (int k = 0; k < KINDS; k++)
        if (!strcmp(model_text(op, "kind"), model_kind_names[k]))
            return k;
    return -1;
}

static json_t *control_create(struct hns_model *m, const json_t *op) {
    const char *network = model_text(op, "net");
    json_t *taken, *document = json_deep_copy(json_object_get(op, "doc"));
    const json_t *object = NULL;
    int kind = kind_of(op), r = -1;

    if (kind < 0 || !json_is_object(document)) {
        json_decref(document);
        return refused("create needs a kind and a doc");
    }
    if (!json_object_get(document, "SchemaVersion"))
        json_object_set_new(document, "SchemaVersion",
                            json_pack("{s:i, s:i}", "Major", 2, "Minor", 0));
    r = model_take(m, model_kind_schemas[kind], "", document, &taken);
    json_decref(document);
    if (!r)
        object = model_create(m, (enum model_kind)kind, NULL, taken, *network ? network : NULL);
    return object ? model_public(m, (enum model_kind)kind, object) : refused(m->fail_text);
}

static json_t *control_delete(struct hns_model *m, const json_t *op) {
    int kind = kind_of(op);

    if (kind < 0)
        return refused("delete needs a kind");
    return model_remove(m, (enum model_kind)kind, model_text(op, "id")) ? refused(m->fail_text)
                                                                        : json_object();
}

static json_t *control_stick(struct hns_model *m, const json_t *op) {
    int kind = kind_of(op);
    json_t *object = kind < 0 ? NULL : model_find(m, (enum model_kind)kind, model_text(op, "id"));

    if (!object)
        return refused(kind < 0 ? "stick needs a kind" : m->fail_text);
    json_object_set_new(object, "_stuck", json_true());
    return json_object();
}

/* Any document in an object's place, unread, and what is the model's own with it; none: it is gone,
 * and nothing else with it. What was there comes back, so that it can be put there again. */
static json_t *control_swap(struct hns_model *m, const json_t *op) {
    const json_t *doc = json_object_get(op, "doc");
    const char *id = model_text(op, "id");
    int kind = kind_of(op);
    json_t *was;

    if (kind < 0 || !*id)
        return refused("swap needs a kind and an id");
    was = json_incref(json_object_get(m->objects[kind], id));
    if (json_is_object(doc))
        json_object_set_new(m->objects[kind], id, json_deep_copy(doc));
    else
        json_object_del(m->objects[kind], id);
    m->changed = true;
    return was ? json_pack("{s:o}", "doc", was) : json_pack("{s:n}", "doc");
}

static json_t *control_orphan(struct hns_model *m, const json_t *op) {
    const char *hr = model_text(op, "hr");

    return model_balancer_orphan(m, model_text(op, "id"),
                                 *hr ? (unsigned)strtoul(hr, NULL, 0) : HR_PORT_EXISTS)
               ? refused(m->fail_text)
               : json_object();
}

/* Somebody outside (the data plane, iphlpapi) changed an adapter's addresses. */
static json_t *control_adapter(struct hns_model *m, const json_t *op) {
    json_t *adapter = model_adapter_find(m, model_text(op, "alias"));
    json_t *addresses = json_object_get(op, "addresses");

    if (!adapter)
        return refused("no such adapter");
    if (json_is_array(addresses)) {
        json_object_set_new(adapter, "addresses", json_deep_copy(addresses));
        json_object_set_new(adapter, "staticLost", json_false());
        if (!json_is_true(json_object_get(adapter, "vnic")))
            json_object_set_new(adapter, "_own", json_deep_copy(addresses));
    }
    if (json_object_get(op, "staticLost"))
        json_object_set(adapter, "staticLost", json_object_get(op, "staticLost"));
    if (json_object_get(op, "away")) {
        json_object_set(adapter, "away", json_object_get(op, "away"));
        json_object_set_new(adapter, "_until",
                            json_integer((json_int_t)(m->now_ms + m->outage_ms)));
    }
    m->changed = true;
    return json_object();
}

static json_t *control_reset(struct hns_model *m, const json_t *op) {
    (void)op;
    clear(m);
    (void)apply_set(m, m->initial); /* our own options are well formed */
    return json_object();
}

static json_t *control_set(struct hns_model *m, const json_t *op) {
    const char *wrong = apply_set(m, op);

    m->changed = true;
    if (!wrong && json_is_true(json_object_get(op, "initial")))
        json_object_update(m->initial, (json_t *)op);
    return wrong ? refused(wrong) : json_object();
}

static json_t *control_dump(struct hns_model *m, const json_t *op) {
    (void)op;
    return hns_model_state(m);
}

static json_t *control_restart(struct hns_model *m, const json_t *op) {
    if (!strcmp(model_text(op, "op"), "reboot"))
        hns_model_reboot(m);
    else
        hns_model_restart(m);
    return json_object();
}

static json_t *control_rule(struct hns_model *m, const json_t *op) {
    if (!*model_text(op, "fn"))
        return refused("rule needs fn");
    json_array_append_new(m->faults, json_deep_copy(op));
    return json_object();
}

static json_t *control_norules(struct hns_model *m, const json_t *op) {
    (void)op;
    json_array_clear(m->faults);
    return json_object();
}

json_t *hns_model_control(struct hns_model *m, const json_t *op, bool *ret_changed) {
    static const struct {
        const char *name;
        json_t *(*run)(struct hns_model *, const json_t *);
    } operations[] = {
        {"reset", control_reset},     {"set", control_set},         {"create", control_create},
        {"delete", control_delete},   {"dump", control_dump},       {"restart", control_restart},
        {"reboot", control_restart},  {"adapter", control_adapter}, {"rule", control_rule},
        {"norules", control_norules}, {"stick", control_stick},     {"orphan", control_orphan},
        {"swap", control_swap},
    };
    json_t *answer = NULL;

    m->changed = false;
    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]) && !answer; i++)
        if (!strcmp(model_text(op, "op"), operations[i].name))
            answer = operations[i].run(m, op);
    if (ret_changed)
        *ret_changed = m->changed;
    return answer;
}
