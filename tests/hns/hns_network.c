/* Networks: subnets, gateways, isolation ids, the adapter they stand on, and their policies. */
#include <stdio.h>
#include <string.h>

#include "tests/hns/model.h"

enum { SUBNETS_MAX = 16 };

enum model_network model_network_type(const json_t *network) {
    const char *type = model_text(network, "Type");

    for (const struct model_word *word = model_network_types; word->word; word++)
        if (!strcmp(word->word, type))
            return (enum model_network)word->value;
    return NAT; /* enumeration value zero: absent */
}

bool model_network_is_external(enum model_network type) {
    return type == L2BRIDGE || type == L2TUNNEL || type == OVERLAY || type == TRANSPARENT;
}

const json_t *model_subnet_at(const json_t *network, size_t n) {
    const json_t *ipam, *subnet;
    size_t i, k;

    json_array_foreach(json_object_get(network, "Ipams"), i, ipam) {
        json_array_foreach(json_object_get(ipam, "Subnets"), k, subnet) {
            if (!n--)
                return subnet;
        }
    }
    return NULL;
}

size_t model_subnets(const json_t *network, struct model_prefix out[], size_t max) {
    const json_t *subnet;
    size_t n = 0;

    while (n < max && (subnet = model_subnet_at(network, n))) {
        (void)model_prefix_read(model_text(subnet, "IpAddressPrefix"), true, &out[n]);
        n++;
    }
    return n;
}

const char *model_subnet_gateway(const json_t *subnet) {
    const json_t *route;
    size_t i;

    json_array_foreach(json_object_get(subnet, "Routes"), i, route) {
        const char *to = model_text(route, "DestinationPrefix");

        if (!strcmp(to, "0.0.0.0/0") || !strcmp(to, "::/0"))
            return model_text(route, "NextHop");
    }
    return "";
}

static bool is_link_local6(const struct model_address *a) {
    return a->family == 6 && a->byte[0] == 0xfe && (a->byte[1] & 0xc0) == 0x80;
}

static int check_gateway(struct hns_model *m, const json_t *subnet,
                         const struct model_prefix *prefix, bool required) {
    const char *gateway = model_subnet_gateway(subnet),
               *text = model_text(subnet, "IpAddressPrefix");
    struct model_address address;

    if (!*gateway && required)
        return model_fail(m, HR_PARAMETER,
                          "subnet %s: Routes needs a NextHop for the default route", text);
    if (!*gateway || !model_address_read(gateway, &address) || is_link_local6(&address))
        return 0;
    if (!model_prefix_has(prefix, &address))
        return model_fail(m, HR_ADDRESS_OUTSIDE, "gateway %s is not in %s", gateway, text);
    if (model_prefix_is_edge(prefix, &address))
        return model_fail(m, HR_ADDRESS_RESERVED, "gateway %s in %s", gateway, text);
    return 0;
}

static int check_subnet(struct hns_model *m, const json_t *subnet,
                        const struct model_prefix *prefix, enum model_network type) {
    const json_t *policies = json_object_get(subnet, "Policies");

    if (model_policies_check(m, model_subnet_policies, policies, type))
        return -1;
    if (type == OVERLAY && !model_policy_find(policies, "VSID"))
        return model_fail(m, HR_POLICY, "subnet %s: an Overlay subnet needs a VSID policy",
                          model_text(subnet, "IpAddressPrefix"));
    if (type == OVERLAY && prefix->base.family == 6)
        return model_fail(m, HR_NOT_SUPPORTED, "an Overlay subnet is IPv4");
    return check_gateway(m, subnet, prefix, model_network_is_external(type));
}

static int check_families(struct hns_model *m, const struct model_prefix *subnets, size_t n) {
    bool v4 = false, v6 = false;

    for (size_t i = 0; i < n; i++) {
        v4 |= subnets[i].base.family == 4;
        v6 |= subnets[i].base.family == 6;
    }
    if (v6 && !v4)
        return model_fail(m, HR_NOT_SUPPORTED, "a network of IPv6 alone");
    if (v6 && !model_has(m, F_DUAL_STACK))
        return model_fail(m, HR_NOT_SUPPORTED, "%s", model_feature_text(F_DUAL_STACK));
    return 0;
}

static int check_subnets(struct hns_model *m, const json_t *network, enum model_network type) {
    struct model_prefix subnets[SUBNETS_MAX + 1];
    size_t n = model_subnets(network, subnets, SUBNETS_MAX + 1);

    if (n > SUBNETS_MAX)
        return model_fail(m, HR_PARAMETER, "more than %d subnets", (int)SUBNETS_MAX);
    if (!n && model_network_is_external(type) && type != TRANSPARENT)
        return model_fail(m, HR_PARAMETER, "Ipams needs a subnet");
    for (size_t i = 0; i < n; i++) {
        if (check_subnet(m, model_subnet_at(network, i), &subnets[i], type))
            return -1;
        for (size_t k = 0; k < i; k++)
            if (model_prefix_overlaps(&subnets[i], &subnets[k]))
                return model_fail(m, HR_SUBNET, "%s overlaps another subnet",
                                  model_text(model_subnet_at(network, i), "IpAddressPrefix"));
    }
    return check_families(m, subnets, n);
}

static bool share_addresses(const json_t *a, const json_t *b) {
    struct model_prefix sa[SUBNETS_MAX], sb[SUBNETS_MAX];
    size_t na = model_subnets(a, sa, SUBNETS_MAX), nb = model_subnets(b, sb, SUBNETS_MAX);

    for (size_t i = 0; i < na; i++)
        for (size_t k = 0; k < nb; k++)
            if (model_prefix_overlaps(&sa[i], &sb[k]))
                return true;
    return false;
}

/* One switch has one mode. */
static int switch_mode(enum model_network type) {
    return type == OVERLAY ? 1 : type == TRANSPARENT ? 2 : 3;
}

static int check_others(struct hns_model *m, const json_t *network, enum model_network type) {
    const char *id, *adapter = model_text(network, "_adapter");
    json_t *other;

    json_object_foreach(m->objects[NETWORK], id, other) {
        enum model_network other_type = model_network_type(other);
        bool together = *adapter ? !strcmp(adapter, model_text(other, "_adapter"))
                                 : type == NAT && other_type == NAT;

        if (!strcmp(model_text(network, "Name"), model_text(other, "Name")))
            return model_fail(m, HR_NETWORK_EXISTS, "%s", id);
        if (!together)
            continue;
        if (*adapter && switch_mode(type) != switch_mode(other_type))
            return model_fail(m, HR_SHARED_SWITCH, "'%.80s' carries %s '%.80s'", adapter,
                              model_text(other, "Type"), model_text(other, "Name"));
        if (share_addresses(network, other))
            return model_fail(m, HR_OBJECT_EXISTS, "its subnet is that of '%.80s'",
                              model_text(other, "Name"));
    }
    return 0;
}

/* NAT without a prefix gets one of 172.16.0.0/12 that no other NAT has; without a gateway, the .1.
 */
static void complete_nat(struct hns_model *m, json_t *network) {
    json_t *subnet = (json_t *)model_subnet_at(network, 0);
    struct model_prefix prefix;
    struct model_address first;
    char text[64];

    for (int n = 0; !subnet && n < 256; n++) {
        (void)snprintf(text, sizeof(text), "172.%d.%d.0/20", 16 + n / 16, n % 16 * 16);
        json_object_set_new(
            network, "Ipams",
            json_pack("[{s:s, s:[{s:s}]}]", "Type", "Static", "Subnets", "IpAddressPrefix", text));
        if (check_others(m, network, NAT) && n < 255)
            continue;
        subnet = (json_t *)model_subnet_at(network, 0);
    }
    if (*model_subnet_gateway(subnet))
        return;
    if (!model_prefix_read(model_text(subnet, "IpAddressPrefix"), true, &prefix))
        return;
    model_prefix_nth(&prefix, 1, &first);
    model_address_write(&first, text);
    json_object_set_new(subnet, "Routes",
                        json_pack("[{s:s, s:s}]", "NextHop", text, "DestinationPrefix",
                                  prefix.base.family == 6 ? "::/0" : "0.0.0.0/0"));
}

static void complete(struct hns_model *m, json_t *network, enum model_network type) {
    json_t *policies = json_object_get(network, "Policies");
    char mac[18];

    if (!json_array_size(json_object_get(json_object_get(network, "MacPool"), "Ranges")))
        json_object_set_new(network, "MacPool",
                            json_pack("{s:[{s:s, s:s}]}", "Ranges", "StartMacAddress",
                                      "00-15-5D-AA-00-00", "EndMacAddress", "00-15-5D-AA-0F-FF"));
    if (type == OVERLAY && !model_policy_find(policies, "DrMacAddress")) {
        model_dr_mac(m, mac);
        json_array_append_new(policies, json_pack("{s:s, s:{s:s}}", "Type", "DrMacAddress",
                                                  "Settings", "Address", mac));
    }
}

static int check_mac_pool(struct hns_model *m, const json_t *network) {
    const json_t *range;
    char start[18], end[18];
    size_t i;

    json_array_foreach(json_object_get(json_object_get(network, "MacPool"), "Ranges"), i, range) {
        (void)model_mac_read(model_text(range, "StartMacAddress"), start);
        (void)model_mac_read(model_text(range, "EndMacAddress"), end);
        if (strcmp(start, end) > 0)
            return model_fail(m, HR_PARAMETER, "MacPool.Ranges[%zu] ends before it starts", i);
    }
    return 0;
}

static void set_default(json_t *object, const char *key, json_t *value) {
    if (json_object_get(object, key))
        json_decref(value);
    else
        json_object_set_new(object, key, value);
}

int model_network_make(struct hns_model *m, json_t *network) {
    enum model_network type = model_network_type(network);
    json_t *adapter = NULL;

    if (!*model_text(network, "Name"))
        return model_fail(m, HR_PARAMETER, "Name must not be empty");
    set_default(network, "Type", json_string("NAT"));
    set_default(network, "Policies", json_array());
    set_default(network, "Dns", json_object());
    set_default(network, "Ipams", json_array());
    set_default(network, "Flags", json_integer(0));
    if (model_policies_check(m, model_network_policies, json_object_get(network, "Policies"),
                             type) ||
        check_mac_pool(m, network) || check_subnets(m, network, type))
        return -1;
    if (model_network_is_external(type)) {
        if (model_adapter_choose(m, json_object_get(network, "Policies"), &adapter))
            return -1;
        json_object_set(network, "_adapter", json_object_get(adapter, "alias"));
    }
    if (check_others(m, network, type))
        return -1;
    if (type == NAT)
        complete_nat(m, network);
    complete(m, network, type);
    if (adapter)
        model_switch_make(m, adapter);
    return 0;
}

/* The last network of a switch takes the switch with it. */
void model_network_gone(struct hns_model *m, const json_t *network) {
    const char *id, *alias = model_text(network, "_adapter");
    json_t *other, *adapter = *alias ? model_adapter_find(m, alias) : NULL;

    if (!adapter)
        return;
    json_object_foreach(m->objects[NETWORK], id, other) {
        if (!strcmp(model_text(other, "_adapter"), alias))
            return;
    }
    model_switch_drop(m, adapter);
}

static int modify_dns(struct hns_model *m, json_t *network, const json_t *settings) {
    json_t *dns;

    if (model_take(m, model_dns_schema, "Settings", settings, &dns))
        return -1;
    json_object_set_new(network, "Dns", dns);
    m->changed = true;
    return 0;
}

/* Subnets come and go in a copy, which must be a right network as a whole. */
static int modify_subnets(struct hns_model *m, json_t *network, const char *request,
                          const json_t *settings) {
    json_t *taken, *copy, *subnets, *subnet;
    size_t i;
    int r;

    if (model_take(m, model_subnets_schema, "Settings", settings, &taken))
        return -1;
    copy = json_deep_copy(network);
    subnets = json_object_get(json_array_get(json_object_get(copy, "Ipams"), 0), "Subnets");
    json_array_foreach(json_object_get(taken, "Subnets"), i, subnet) {
        for (size_t k = json_array_size(subnets); k-- > 0;)
            if (!strcmp(model_text(json_array_get(subnets, k), "IpAddressPrefix"),
                        model_text(subnet, "IpAddressPrefix")))
                json_array_remove(subnets, k);
        if (strcmp(request, "Remove"))
            json_array_append(subnets, subnet);
    }
    r = check_subnets(m, copy, model_network_type(network));
    if (!r) {
        json_object_set(network, "Ipams", json_object_get(copy, "Ipams"));
        m->changed = true;
    }
    json_decref(copy);
    json_decref(taken);
    return r;
}

int model_network_modify(struct hns_model *m, json_t *network, const json_t *request) {
    const char *resource = model_text(request, "ResourceType");
    const char *type = model_text(request, "RequestType");
    const json_t *settings = json_object_get(request, "Settings");

    if (!strcmp(resource, "Policy"))
        return model_policies_modify(m, model_network_policies, network, type, settings,
                                     model_network_type(network));
    if (!strcmp(resource, "DNS"))
        return modify_dns(m, network, settings);
    if (!strcmp(resource, "Subnet"))
        return modify_subnets(m, network, type, settings);
    return model_fail(m, HR_UNSUPPORTED, "ResourceType %s of a network", resource);
}
