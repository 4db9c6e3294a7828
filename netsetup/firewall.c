/* Inbound firewall rules of a node. */
#include "netsetup/firewall.h"

#include "base/memory.h"

enum { KUBELET_PORT = 10250 };

static const struct host_firewall_rule kubelet_rule = {
    .name = "winjoin kubelet",
    .description = "winjoin: the API server reaches the kubelet (logs, exec, metrics)",
    .port = KUBELET_PORT,
};
static const struct host_firewall_rule vxlan_rule = {
    .name = "winjoin vxlan",
    .description = "winjoin: pods of other nodes reach this node's (VXLAN)",
    .udp = true,
};

size_t firewall_rules(const struct network_plan *plan,
                      struct host_firewall_rule ret[FIREWALL_RULES_MAX]) {
    size_t count = 0;
    ret[count++] = kubelet_rule;
    if (plan->mode == NETWORK_OVERLAY) {
        ret[count] = vxlan_rule;
        ret[count++].port = plan->vxlan_port;
    }
    return count;
}

int firewall_ensure(struct host *host, const struct network_plan *plan, struct error *err) {
    struct host_firewall_rule rules[FIREWALL_RULES_MAX];
    size_t count = firewall_rules(plan, rules);
    for (size_t i = 0; i < count; i++) {
        if (host_firewall_put(host, &rules[i], err) < 0)
            return error_prefix(err, "firewall rule '%s'", rules[i].name);
    }
    return 0;
}

int firewall_remove(struct host *host, struct error *err) {
    const char *const names[] = {kubelet_rule.name, vxlan_rule.name};
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        if (host_firewall_remove(host, names[i], err) < 0)
            return error_prefix(err, "firewall rule '%s'", names[i]);
    }
    return 0;
}
