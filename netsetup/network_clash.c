/* Finds networks of other programs that are in conflict with the plan. */
#include "netsetup/netsetup.h"

#include "netsetup/agents/daemon_set_agent.h"
#include "netsetup/hns/hcn_network.h"
#include "netsetup/modes/mode.h"

#define REMOVAL "hnsdiag delete networks %s"

/* The uses that a vSwitch can make of an adapter, one at a time; by type of HostComputeNetwork. */
static const struct {
    const char *type;
    int use;
} switches[] = {{"L2Bridge", 1}, {"L2Tunnel", 1}, {"Overlay", 2}, {"Transparent", 3}};

/* Returns the use of this network type; 0 when it binds no adapter (NAT, ICS, ...). */
static int use_of(const char *type) {
    for (size_t i = 0; i < ARRAY_SIZE(switches); i++)
        if (text_equal_nocase(switches[i].type, type))
            return switches[i].use;
    return 0;
}

static int check_overlap(const struct hcn_network *network, const char *planned, const char *what,
                         struct error *err) {
    const char *subnet = strchr(planned, ':') ? network->subnet6 : network->subnet;
    struct cidr theirs = {0}, ours = {0};
    /* A prefix that is unknown yet, or that HNS writes in another form, counts as no overlap. */
    if (cidr_parse(subnet, &theirs, NULL) < 0 || cidr_parse(planned, &ours, NULL) < 0 ||
        !cidr_overlaps(&theirs, &ours))
        return 0;
    (void)error_set(err, ERROR_PREFLIGHT, "HNS network '%s' has %s, which overlaps %s %s",
                    network->name, subnet, what, planned);
    return error_hint(err, REMOVAL ", or change its subnet", network->id);
}

/* Checks a network whose name is not in the plan. */
static int check_foreign(const struct network_plan *plan, const struct hcn_network *network,
                         struct error *err) {
    int theirs = use_of(network->type);
    if (theirs && theirs != use_of(plan->mode->hns_type) && plan->adapter &&
        text_equal_nocase(plan->adapter, network->adapter)) {
        (void)error_set(
            err, ERROR_PREFLIGHT,
            "HNS network '%s' (%s) uses the virtual switch on '%s' in another mode than %s",
            network->name, network->type, plan->adapter, plan->mode->name);
        if (hcn_network_is_ours(network))
            return error_hint(err, "it belongs to an earlier join: winjoin reset");
        return error_hint(
            err, REMOVAL ", or choose another adapter (--adapter) or mode (--network-mode)",
            network->id);
    }
    for (size_t i = 0; i < plan->cluster_pod_cidrs.count; i++)
        if (check_overlap(network, plan->cluster_pod_cidrs.items[i], "the cluster's pods", err) < 0)
            return -1;
    for (size_t i = 0; i < plan->service_cidrs.count; i++)
        if (check_overlap(network, plan->service_cidrs.items[i], "the cluster's services", err) < 0)
            return -1;
    if (check_overlap(network, plan->pod_cidr, "this node's pods", err) < 0 ||
        check_overlap(network, plan->ipv6.pod_cidr, "this node's pods", err) < 0 ||
        check_overlap(network, plan->ipv6.base_subnet, "the base network", err) < 0)
        return -1;
    return check_overlap(network, plan->base_subnet, "the base network", err);
}

/* Checks an existing HNS network when the cluster's agent will make the Pod network. */
static int check_daemon_set_network(const struct network_plan *plan,
                                    const struct hcn_network *network, struct error *err) {
    const struct daemon_set_agent *agent = plan->daemon_set_agent;
    const struct daemon_set_network *wanted = daemon_set_agent_network(agent, plan->mode);
    /* The agent reuses a base network of its name even of a wrong type, and then fails. */
    if (wanted->base && text_equal(network->name, wanted->base) &&
        !text_equal_nocase(network->type, wanted->hns_type))
        (void)error_set(err, ERROR_PREFLIGHT,
                        "HNS network '%s' is of type %s, and %s needs one of type %s",
                        network->name, network->type, agent->title, wanted->hns_type);
    else if (agent->own_switch && use_of(network->type) && !text_equal(network->name, wanted->name))
        (void)error_set(err, ERROR_PREFLIGHT,
                        "HNS network '%s' (%s) has a virtual switch, and %s needs a network "
                        "adapter without one",
                        network->name, network->type, agent->title);
    else
        return 0;
    return hcn_network_is_ours(network)
               ? error_hint(err, "it belongs to an earlier join: winjoin reset")
               : error_hint(err, REMOVAL, network->id);
}

/* Can a network with a name from the plan be the planned one, as far as the plan is known? */
static bool may_serve(const struct network_plan *plan, const struct hcn_network *network,
                      bool is_base) {
    _cleanup_json_ json_t *document = is_base                ? hcn_base_network_json(plan)
                                      : plan->pod_cidr_known ? hcn_pod_network_json(plan)
                                                             : NULL;
    struct hcn_network wanted = {0};
    struct cidr pods = {0}, theirs = {0};
    if (document)
        return hcn_network_parse(document, &wanted, NULL) == 0 &&
               hcn_network_serves(network, &wanted);
    if (!text_equal_nocase(network->type, plan->mode->hns_type) || network->vsid != plan->vni ||
        cidr_parse(network->subnet, &theirs, NULL) < 0)
        return false;
    for (size_t i = 0; i < plan->cluster_pod_cidrs.count; i++)
        if (cidr_parse(plan->cluster_pod_cidrs.items[i], &pods, NULL) == 0 &&
            cidr_contains_cidr(&pods, &theirs))
            return true;
    return plan->cluster_pod_cidrs.count == 0;
}

static int check_other(const struct network_plan *plan, const struct hcn_network *network,
                       struct error *err) {
    bool is_base = text_equal(network->name, plan->base_name);
    if (is_base || text_equal(network->name, plan->name)) {
        _cleanup_(freep) char *wanted = NULL;

        /* A network of an earlier join keeps its name; the join replaces winjoin's own. */
        if (hcn_network_is_ours(network) ||
            (!is_base && (plan->agent->makes_network || plan->agent->pods_make_network)) ||
            may_serve(plan, network, is_base))
            return 0;
        wanted = is_base                ? xstrdup(plan->base_subnet)
                 : plan->pod_cidr_known ? xstrdup(plan->pod_cidr)
                                        : text_list_join(&plan->cluster_pod_cidrs, " or ");
        (void)error_set(
            err, ERROR_PREFLIGHT,
            "HNS has a network '%s' of another node or program (%s%s%s), and the join would "
            "make one of that name (%s in %s)",
            network->name, network->type, *network->subnet ? " " : "", network->subnet,
            plan->mode->hns_type, wanted);
        return error_hint(err, REMOVAL, network->id);
    }
    return check_foreign(plan, network, err);
}

/* ---- checking each network of HNS ---- */

typedef int check_network(const struct network_plan *plan, const struct hcn_network *network,
                          struct error *err);

/* Checks all networks. The error names all that are in conflict, the first with its reason. */
static int check_each(struct host *host, const struct network_plan *plan, check_network *check,
                      struct error *err) {
    _cleanup_json_ json_t *list = NULL;
    _cleanup_(text_list_free) struct text_list others = {0};
    _cleanup_(freep) char *names = NULL;
    struct error first = {0};
    if (hcn_list(host, HCN_NETWORK, NULL, NULL, &list, err) < 0)
        return error_prefix(err, "look up HNS networks");
    json_each(list, i, json) {
        struct hcn_network network = {0};
        struct error why = {0};
        if (hcn_network_parse(json, &network, err) < 0)
            return -1;
        if (check(plan, &network, &why) == 0)
            continue;
        if (!first.kind) {
            first = why;
            continue;
        }
        text_list_add_owned(&others, xasprintf("'%s' (%s)", network.name, network.type));
        size_t h = 0;
        while (h < ERROR_HINTS_MAX && !text_equal(first.hints[h], why.hints[0]))
            h++;
        if (h == ERROR_HINTS_MAX) /* A hint that is already there is not added again. */
            (void)error_hint(&first, "'%s': %s", network.name, why.hints[0]);
    }
    if (!first.kind)
        return 0;
    names = others.count ? text_list_join(&others, ", ") : NULL;
    (void)error_set(err, first.kind, "%s%s%s", first.message, names ? "; also in the way: " : "",
                    names ? names : "");
    for (size_t i = 0; i < ERROR_HINTS_MAX && *first.hints[i]; i++)
        (void)error_hint(err, "%s", first.hints[i]);
    return -1;
}

int daemon_set_network_check(struct host *host, const struct network_plan *plan,
                             struct error *err) {
    const struct daemon_set_network *wanted =
        daemon_set_agent_network(plan->daemon_set_agent, plan->mode);
    _cleanup_(host_service_free) struct host_service service = {0};
    if (!wanted)
        return 0;
    if (wanted->service && host_service_query(host, wanted->service, &service, err) < 0)
        return -1;
    if (wanted->service && service.state == HOST_SERVICE_ABSENT) {
        (void)error_set(err, ERROR_PREFLIGHT, "%s: the Windows service %s does not exist",
                        wanted->service_reason, wanted->service);
        return error_hint(err, "%s", wanted->service_hint);
    }
    return check_each(host, plan, check_daemon_set_network, err);
}

int network_clash_check(struct host *host, const struct network_plan *plan, struct error *err) {
    return check_each(host, plan, check_other, err);
}
