/* Other people's networks on this host, against the plan. */
#include <string.h>

#include "base/memory.h"
#include "netsetup/hcn_network.h"
#include "netsetup/modes/mode.h"

/* What a vSwitch can be to a card at one time; types of HostComputeNetwork. */
static const struct {
    const char *type;
    int use;
} switches[] = {{"L2Bridge", 1}, {"L2Tunnel", 1}, {"Overlay", 2}, {"Transparent", 3}};

/* 0: the type binds no card (NAT, ICS, ...). */
static int use_of(const char *type) {
    for (size_t i = 0; i < ARRAY_SIZE(switches); i++) {
        if (text_equal_nocase(switches[i].type, type))
            return switches[i].use;
    }
    return 0;
}

static int check_switch(const struct network_plan *plan, const struct hcn_network *network,
                        struct error *err) {
    int theirs = use_of(network->type);
    if (!theirs || theirs == use_of(plan->mode->hns_type) || !plan->adapter ||
        !text_equal_nocase(plan->adapter, network->adapter))
        return 0;
    (void)error_set(err, ERROR_PREFLIGHT,
                    "HNS network '%s' (%s) uses the virtual switch on '%s' in another mode than %s",
                    network->name, network->type, plan->adapter, plan->mode->name);
    if (hcn_network_is_ours(network))
        return error_hint(err, "it belongs to an earlier join: winjoin reset");
    return error_hint(err,
                      "remove it, or choose another adapter (--adapter) or mode (--network-mode)");
}

static int check_overlap(const struct hcn_network *network, const char *planned, const char *what,
                         struct error *err) {
    const char *subnet = strchr(planned, ':') ? network->subnet6 : network->subnet;
    struct cidr theirs = {0}, ours = {0};
    /* a prefix that is not known yet, or one that HNS writes in its own way, overlaps nothing */
    if (cidr_parse(subnet, &theirs, NULL) < 0 || cidr_parse(planned, &ours, NULL) < 0 ||
        !cidr_overlaps(&theirs, &ours))
        return 0;
    (void)error_set(err, ERROR_PREFLIGHT, "HNS network '%s' has %s, which overlaps %s %s",
                    network->name, subnet, what, planned);
    return error_hint(err, "remove that network or change its subnet");
}

static int check_overlaps(const struct network_plan *plan, const struct hcn_network *network,
                          struct error *err) {
    for (size_t i = 0; i < plan->cluster_pod_cidrs.count; i++) {
        if (check_overlap(network, plan->cluster_pod_cidrs.items[i], "the cluster's pods", err) < 0)
            return -1;
    }
    for (size_t i = 0; i < plan->service_cidrs.count; i++) {
        if (check_overlap(network, plan->service_cidrs.items[i], "the cluster's services", err) < 0)
            return -1;
    }
    if (check_overlap(network, plan->pod_cidr, "this node's pods", err) < 0 ||
        check_overlap(network, plan->ipv6.pod_cidr, "this node's pods", err) < 0 ||
        check_overlap(network, plan->ipv6.base_subnet, "the base network", err) < 0)
        return -1;
    return check_overlap(network, plan->base_subnet, "the base network", err);
}

int hcn_clash_check(struct host *host, const struct network_plan *plan, struct error *err) {
    _cleanup_json_ json_t *list = NULL;
    json_t *json;
    size_t i;
    if (hcn_list(host, HCN_NETWORK, NULL, NULL, &list, err) < 0)
        return error_prefix(err, "look up HNS networks");
    json_array_foreach(list, i, json) {
        struct hcn_network network = {0};
        if (hcn_network_parse(json, &network, err) < 0)
            return -1;
        /* those of the plan are compared when they are made */
        if (text_equal(network.name, plan->name) || text_equal(network.name, plan->base_name))
            continue;
        if (check_switch(plan, &network, err) < 0 || check_overlaps(plan, &network, err) < 0)
            return -1;
    }
    return 0;
}
