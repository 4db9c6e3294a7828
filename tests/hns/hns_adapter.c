/* Host adapters and the external switch: the vNIC that takes an adapter over, the outage, and what
 * comes back. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "tests/hns/model.h"

static const char vnic_prefix[] = "vEthernet (";

json_t *model_adapter_new(const char *alias, const char *mac, const json_t *addresses, bool dhcp) {
    json_t *own = addresses ? json_deep_copy(addresses) : json_array();
    json_t *a = json_pack("{s:s, s:s, s:O, s:b, s:b, s:b, s:b, s:O, s:i}", "alias", alias, "mac",
                          mac, "addresses", own, "dhcp", dhcp, "vnic", 0, "away", 0, "staticLost",
                          0, "_own", own, "_until", 0);

    json_decref(own);
    return a;
}

json_t *model_adapter_find(const struct hns_model *m, const char *alias) {
    json_t *adapter;
    size_t i;

    json_array_foreach(m->adapters, i, adapter) {
        if (!strcasecmp(model_text(adapter, "alias"), alias))
            return adapter;
    }
    return NULL;
}

static json_t *constrained(const struct hns_model *m, const json_t *settings) {
    const char *alias = model_text(settings, "InterfaceAlias");
    uint64_t index = model_number(settings, "InterfaceIndex");
    json_t *adapter;
    size_t i;

    if (*alias)
        return model_adapter_find(m, alias);
    json_array_foreach(m->adapters, i, adapter) {
        if (!index || model_number(adapter, "index") == index)
            return adapter;
    }
    return NULL;
}

/* "vEthernet (<alias>)" of a switch that exists. */
static bool is_vnic(const struct hns_model *m, const char *alias) {
    size_t prefix = sizeof(vnic_prefix) - 1, len = strlen(alias);
    char inner[128];
    const json_t *adapter;

    if (strncasecmp(alias, vnic_prefix, prefix) || len - prefix > sizeof(inner) ||
        alias[len - 1] != ')')
        return false;
    (void)snprintf(inner, sizeof(inner), "%.*s", (int)(len - prefix - 1), alias + prefix);
    adapter = model_adapter_find(m, inner);
    return adapter && json_is_true(json_object_get(adapter, "vnic"));
}

/* azure-vnet names the adapter by its address where it does not know its name (hcsshim: "sets
 * network adapter of a network based on IP address"). */
static json_t *having(const struct hns_model *m, const char *wanted) {
    json_t *adapter, *address;
    size_t i, k, len = strlen(wanted);

    json_array_foreach(m->adapters, i, adapter) {
        json_array_foreach(json_object_get(adapter, "_own"), k, address) {
            const char *text = json_string_value(address);

            if (!strncmp(text, wanted, len) && (!text[len] || text[len] == '/'))
                return adapter;
        }
    }
    return NULL;
}

/* The adapter that a network's policies name; HNS takes the first one when they name none. */
int model_adapter_choose(struct hns_model *m, const json_t *policies, json_t **ret) {
    const json_t *name = model_policy_find(policies, "NetAdapterName");
    const json_t *constraint = model_policy_find(policies, "InterfaceConstraint");
    const json_t *provider = model_policy_find(policies, "ProviderAddress");
    const char *alias = "the first adapter";

    if (name) {
        alias = model_text(json_object_get(name, "Settings"), "NetworkAdapterName");
        *ret = model_adapter_find(m, alias);
    } else if (constraint) {
        alias = model_text(json_object_get(constraint, "Settings"), "InterfaceAlias");
        *ret = constrained(m, json_object_get(constraint, "Settings"));
    } else if (provider) {
        alias = model_text(json_object_get(provider, "Settings"), "ProviderAddress");
        *ret = having(m, alias);
    } else {
        *ret = json_array_get(m->adapters, 0);
    }
    if (*ret)
        return 0;
    if (is_vnic(m, alias))
        return model_fail(m, HR_PARAMETER, "'%.80s' is a switch's own interface", alias);
    return model_fail(m, HR_ADAPTER_NOT_FOUND, "'%.80s'", alias);
}

/* The outage is over. */
static void come_back(struct hns_model *m, json_t *adapter) {
    const json_t *own = json_object_get(adapter, "_own");
    bool lost = json_is_true(json_object_get(adapter, "vnic")) && !m->keep_static &&
                !json_is_true(json_object_get(adapter, "dhcp")) && json_array_size(own);

    json_object_set_new(adapter, "away", json_false());
    json_object_set_new(adapter, "_until", json_integer(0));
    json_object_set_new(adapter, "staticLost", json_boolean(lost));
    json_object_set_new(adapter, "addresses", lost ? json_array() : json_deep_copy(own));
    m->changed = true;
}

static void go_away(struct hns_model *m, json_t *adapter) {
    json_object_set_new(adapter, "away", json_true());
    json_object_set_new(adapter, "staticLost", json_false());
    json_object_set_new(adapter, "addresses", json_array());
    json_object_set_new(adapter, "_until", json_integer((json_int_t)(m->now_ms + m->outage_ms)));
    m->changed = true;
    if (!m->outage_ms)
        come_back(m, adapter);
}

void model_switch_make(struct hns_model *m, json_t *adapter) {
    if (json_is_true(json_object_get(adapter, "vnic")))
        return;
    json_object_set_new(adapter, "vnic", json_true());
    go_away(m, adapter);
}

void model_switch_drop(struct hns_model *m, json_t *adapter) {
    if (!json_is_true(json_object_get(adapter, "vnic")))
        return;
    json_object_set_new(adapter, "vnic", json_false());
    go_away(m, adapter);
}

bool hns_model_tick(struct hns_model *m, uint64_t now_ms) {
    bool came = false;
    json_t *adapter;
    size_t i;

    m->now_ms = now_ms;
    json_array_foreach(m->adapters, i, adapter) {
        if (json_is_true(json_object_get(adapter, "away")) &&
            model_number(adapter, "_until") <= now_ms) {
            come_back(m, adapter);
            came = true;
        }
    }
    return came;
}

int hns_model_wait_ms(const struct hns_model *m, uint64_t now_ms) {
    int wait = -1;
    json_t *adapter;
    size_t i;

    json_array_foreach(m->adapters, i, adapter) {
        uint64_t until = model_number(adapter, "_until");
        int left = until > now_ms ? (int)(until - now_ms) : 0;

        if (json_is_true(json_object_get(adapter, "away")) && (wait < 0 || left < wait))
            wait = left;
    }
    return wait;
}

/* The host's address on a network's switch: "" when there is none, now or ever. */
const char *model_management_ip(const struct hns_model *m, const json_t *network, int family,
                                char out[46]) {
    const json_t *adapter = NULL, *address;
    size_t i;

    out[0] = '\0';
    if (*model_text(network, "_adapter"))
        adapter = model_adapter_find(m, model_text(network, "_adapter"));
    json_array_foreach(json_object_get(adapter, "addresses"), i, address) {
        const char *text = json_string_value(address);

        if (!strchr(text, ':') != (family == 4))
            continue;
        (void)snprintf(out, 46, "%.*s", (int)strcspn(text, "/"), text);
        break;
    }
    return out;
}
