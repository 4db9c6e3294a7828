/* Computes the addresses and prefixes of the Pod network. */
#include "netsetup/plan/network_plan.h"

#include "netsetup/agents/agent.h"
#include "netsetup/modes/mode.h"
#include "netsetup/netsetup.h"

enum { POD_PREFIX_LONGEST = 29, POD_PREFIX6_LONGEST = 120 };

/* /30 prefixes that are rarely used. The first one that overlaps nothing is taken; all known tools
 * use the first in the list. */
static const char *const base_candidates[] = {"192.168.255.0/30", "172.31.255.0/30",
                                              "10.255.255.0/30", "198.18.255.0/30",
                                              "100.127.255.0/30"};

/* AKS uses the first one together with the /30 (Azure/AgentBaker, New-ExternalHnsNetwork). */
static const char *const base_candidates6[] = {"192:168:255::/127", "fd00:192:168:255::/127"};

static int read_list(const struct text_list *list, const char *what, bool dual, struct cidr *ret,
                     size_t *ret_count, struct error *err) {
    size_t count = 0;
    bool has_ipv4 = false;
    for (size_t i = 0; i < list->count; i++) {
        struct cidr cidr = {0};
        if (cidr_parse(list->items[i], &cidr, err) < 0)
            return error_prefix(err, "%s", what);
        has_ipv4 |= cidr.base.family == 4;
        if (cidr.base.family != 4 && !dual)
            continue;
        if (count == PREFIXES_MAX)
            return error_set(err, ERROR_USAGE, "%s: more than %d prefixes", what, PREFIXES_MAX);
        ret[count++] = cidr;
    }
    if (!has_ipv4 && list->count) {
        (void)error_set(err, ERROR_UNSUPPORTED,
                        "%s: '%s' is IPv6 only; Windows nodes need an IPv4 prefix", what,
                        list->items[0]);
        return error_hint(err, "dual stack works: name an IPv4 prefix, too");
    }
    *ret_count = count;
    return 0;
}

static int read_management(const char *text, struct cidr *ret, struct ip *ret_address,
                           struct error *err) {
    _cleanup_(freep) char *address = xstrndup(text, strcspn(text, "/"));
    if (cidr_parse(text, ret, err) < 0 || ip_parse(address, ret_address, err) < 0)
        return error_prefix(err, "management address");
    return 0;
}

static int read_pod(const char *text, int longest, struct cidr *ret, struct error *err) {
    if (cidr_parse(text, ret, err) < 0)
        return error_prefix(err, "pod prefix of the node");
    if (ret->length <= longest)
        return 0;
    return error_set(err, ERROR_USAGE,
                     "pod prefix '%s' is too small: the gateway, the host's endpoint and the "
                     "pods need at least a /%d",
                     text, longest);
}

int network_prefixes_read(const struct network_input *input, bool dual,
                          struct network_prefixes *ret, struct error *err) {
    struct network_prefixes p = {
        .has_pod = input->pod_cidr,
        .has_pod6 = dual && input->pod_cidr6,
        .has_management = input->management,
        .has_management6 = dual && input->management6,
    };
    if (p.has_pod && strchr(input->pod_cidr, ':') && cidr_parse(input->pod_cidr, &p.pod, NULL) == 0)
        return error_set(err, ERROR_UNSUPPORTED,
                         "pod prefix '%s' is IPv6; Windows nodes need an IPv4 one",
                         input->pod_cidr);
    if ((p.has_pod && read_pod(input->pod_cidr, POD_PREFIX_LONGEST, &p.pod, err) < 0) ||
        (p.has_pod6 && read_pod(input->pod_cidr6, POD_PREFIX6_LONGEST, &p.pod6, err) < 0) ||
        (p.has_management &&
         read_management(input->management, &p.management, &p.management_address, err) < 0))
        return -1;
    if (p.has_management && p.management.base.family != 4)
        return error_set(err, ERROR_UNSUPPORTED,
                         "management address '%s' is IPv6; a Windows node needs an IPv4 one",
                         input->management);
    if ((p.has_management6 &&
         read_management(input->management6, &p.management6, &p.management_address6, err) < 0) ||
        read_list(&input->cluster_pod_cidrs, "cluster's pod prefixes", dual, p.cluster,
                  &p.cluster_count, err) < 0 ||
        read_list(&input->service_cidrs, "service prefixes", dual, p.service, &p.service_count,
                  err) < 0 ||
        read_list(&input->exclude_from_nat, "prefixes to exclude from NAT", dual, p.exclude,
                  &p.exclude_count, err) < 0)
        return -1;
    *ret = p;
    return 0;
}

/* Prefixes of RFC 6890, in which no Pod or Service can be reached. */
static const struct {
    const char *prefix, *what;
} reserved[] = {
    {"0.0.0.0/8", "this host"},       {"127.0.0.0/8", "loopback"}, {"169.254.0.0/16", "link-local"},
    {"224.0.0.0/4", "multicast"},     {"240.0.0.0/4", "reserved"}, {"::/96", "this host"},
    {"::ffff:0:0/96", "IPv4-mapped"}, {"fe80::/10", "link-local"}, {"ff00::/8", "multicast"}};

static int refuse_reserved(const struct cidr *cidr, const char *name, struct error *err) {
    const char *text = CIDR_TEXT(cidr);
    struct cidr other;
    if (!cidr->length)
        return error_set(err, ERROR_USAGE, "%s %s holds every address", name, text);
    for (size_t i = 0; i < ARRAY_SIZE(reserved); i++) {
        if (cidr_parse(reserved[i].prefix, &other, err) < 0)
            return -1;
        if (cidr_overlaps(cidr, &other))
            return error_set(err, ERROR_USAGE, "%s %s overlaps %s, the %s addresses", name, text,
                             reserved[i].prefix, reserved[i].what);
    }
    return 0;
}

static int refuse_overlap(const struct cidr *a, const char *a_name, const struct cidr *b,
                          const char *b_name, struct error *err) {
    if (!cidr_overlaps(a, b))
        return 0;
    (void)error_set(err, ERROR_USAGE, "%s %s overlaps %s %s", a_name, CIDR_TEXT(a), b_name,
                    CIDR_TEXT(b));
    return error_hint(err, "pods, services and the nodes' network must not overlap");
}

/* Checks one Pod prefix against Services and the management network. */
static int check_pod_prefix(const struct network_prefixes *p, const struct cidr *pod,
                            const char *name, struct error *err) {
    if (refuse_reserved(pod, name, err) < 0)
        return -1;
    for (size_t i = 0; i < p->service_count; i++)
        if (refuse_overlap(pod, name, &p->service[i], "service prefix", err) < 0)
            return -1;
    if (p->pods_on_node_network)
        return 0;
    if (p->has_management6 &&
        refuse_overlap(pod, name, &p->management6, "the node's network", err) < 0)
        return -1;
    if (!p->has_management)
        return 0;
    return refuse_overlap(pod, name, &p->management, "the node's network", err);
}

int network_prefixes_check(const struct network_prefixes *p, struct error *err) {
    for (size_t i = 0; i < p->cluster_count; i++)
        if (check_pod_prefix(p, &p->cluster[i], "pod prefix", err) < 0)
            return -1;
    if ((p->has_pod && check_pod_prefix(p, &p->pod, "pod prefix of the node", err) < 0) ||
        (p->has_pod6 && check_pod_prefix(p, &p->pod6, "pod prefix of the node", err) < 0))
        return -1;
    for (size_t i = 0; i < p->service_count; i++)
        if (refuse_reserved(&p->service[i], "service prefix", err) < 0 ||
            (p->has_management && refuse_overlap(&p->service[i], "service prefix", &p->management,
                                                 "the node's network", err) < 0) ||
            (p->has_management6 && refuse_overlap(&p->service[i], "service prefix", &p->management6,
                                                  "the node's network", err) < 0))
            return -1;
    return 0;
}

bool network_prefixes_outside(const struct network_prefixes *p) {
    for (size_t i = 0; i < p->cluster_count; i++)
        if (cidr_contains_cidr(&p->cluster[i], &p->pod))
            return false;
    return p->has_pod && p->cluster_count > 0;
}

/* Adds an exception. HNS of Windows Server 2019 handles two exceptions with the same base address
 * wrongly, so only the larger prefix stays. */
static void add_exception(struct cidr *list, size_t *count, const struct cidr *cidr) {
    for (size_t i = 0; i < *count; i++) {
        if (!ip_equal(&list[i].base, &cidr->base))
            continue;
        if (cidr->length < list[i].length)
            list[i] = *cidr;
        return;
    }
    list[(*count)++] = *cidr;
}

static void apply_exceptions(const struct network_prefixes *p, struct network_plan *plan) {
    struct cidr list[3 * PREFIXES_MAX + 4];
    size_t count = 0;
    bool pods = !plan->agent->nat_except_services;
    if (!plan->mode->vfp)
        return; /* Without VFP there is no policy with exceptions. */
    for (size_t i = 0; pods && i < p->cluster_count; i++)
        add_exception(list, &count, &p->cluster[i]);
    if (pods && p->has_pod && (!p->cluster_count || network_prefixes_outside(p)))
        add_exception(list, &count, &p->pod);
    if (p->has_pod6 && !p->cluster_count)
        add_exception(list, &count, &p->pod6);
    for (size_t i = 0; !plan->agent->nat_except_pods && i < p->service_count; i++)
        add_exception(list, &count, &p->service[i]);
    /* Modes without node_network use NAT towards the node's network, because its hosts have no
     * route back to Pods. */
    if (plan->mode->node_network && p->has_management)
        add_exception(list, &count, &p->management);
    if (plan->mode->node_network && p->has_management6)
        add_exception(list, &count, &p->management6);
    for (size_t i = 0; i < p->exclude_count; i++)
        add_exception(list, &count, &p->exclude[i]);
    for (size_t i = 0; i < count; i++)
        text_list_add(&plan->nat_exceptions, CIDR_TEXT(&list[i]));
}

/* Assigns the addresses of the Pod prefix. The first is the network's, the second HNS's gateway,
 * the third the host's endpoint or the source VIP (unless HNS chooses that). The last is the
 * broadcast address. */
static int apply_pod(const struct network_prefixes *p, struct network_plan *plan,
                     struct error *err) {
    if (!p->has_pod) {
        /* The placeholder always fits into the buffer. */
        (void)text_format(plan->pod_cidr, sizeof(plan->pod_cidr), "<podCIDR>");
        return 0;
    }
    bool has_vip = plan->mode->source_vip, hns_chooses = plan->agent->source_vip_endpoint;
    uint64_t last = ((uint64_t)1 << (32 - p->pod.length)) - 1;
    plan->pod_cidr_known = true;
    plan->prefix_length = p->pod.length;
    cidr_format(&p->pod, plan->pod_cidr);
    if (cidr_address_text(&p->pod, 1, plan->gateway, err) < 0 ||
        (plan->mode->host_endpoint &&
         cidr_address_text(&p->pod, 2, plan->host_endpoint, err) < 0) ||
        (has_vip && !hns_chooses && cidr_address_text(&p->pod, 2, plan->source_vip, err) < 0) ||
        cidr_address_text(&p->pod, 3, plan->range_start, err) < 0)
        return -1;
    if (has_vip && hns_chooses)
        (void)text_format(plan->source_vip, sizeof plan->source_vip, "%s", SOURCE_VIP_UNKNOWN);
    return cidr_address_text(&p->pod, last - 1, plan->range_end, err);
}

/* Assigns the addresses of the IPv6 Pod prefix: ::1 is HNS's gateway, ::2 the host's endpoint. */
static int apply_pod6(const struct network_prefixes *p, struct network_plan *plan,
                      struct error *err) {
    struct network_ipv6 *ipv6 = &plan->ipv6;
    if (!p->has_pod6) {
        /* The placeholder always fits into the buffer. */
        (void)text_format(ipv6->pod_cidr, sizeof(ipv6->pod_cidr), "<podCIDR>");
        return 0;
    }
    ipv6->prefix_length = p->pod6.length;
    cidr_format(&p->pod6, ipv6->pod_cidr);
    if (cidr_address_text(&p->pod6, 1, ipv6->gateway, err) < 0 ||
        cidr_address_text(&p->pod6, 2, ipv6->host_endpoint, err) < 0)
        return -1;
    return cidr_address_text(&p->pod6, 3, ipv6->range_start, err);
}

/* Takes the first candidate that overlaps nothing. */
static int apply_base(const struct network_prefixes *p, const char *const *candidates, size_t count,
                      char subnet[CIDR_TEXT_MAX], char gateway[IP_TEXT_MAX], struct error *err) {
    for (size_t i = 0; i < count; i++) {
        struct cidr base = {0};
        if (cidr_parse(candidates[i], &base, err) < 0)
            return -1;
        bool taken = (p->has_pod && cidr_overlaps(&p->pod, &base)) ||
                     (p->has_pod6 && cidr_overlaps(&p->pod6, &base)) ||
                     (p->has_management && cidr_overlaps(&p->management, &base)) ||
                     (p->has_management6 && cidr_overlaps(&p->management6, &base));
        for (size_t k = 0; k < p->cluster_count; k++)
            taken |= cidr_overlaps(&p->cluster[k], &base);
        for (size_t k = 0; k < p->service_count; k++)
            taken |= cidr_overlaps(&p->service[k], &base);
        if (taken)
            continue;
        cidr_format(&base, subnet);
        return cidr_address_text(&base, 1, gateway, err);
    }
    return error_set(err, ERROR_USAGE,
                     "no free prefix for the base network: the pod, service and node prefixes "
                     "cover all that winjoin would use");
}

int network_prefixes_apply(const struct network_prefixes *p, struct network_plan *plan,
                           struct error *err) {
    bool encap_node = plan->mode->node_network;
    for (size_t i = 0; i < p->cluster_count; i++)
        text_list_add(&plan->cluster_pod_cidrs, CIDR_TEXT(&p->cluster[i]));
    for (size_t i = 0; i < p->service_count; i++) {
        text_list_add(&plan->service_cidrs, CIDR_TEXT(&p->service[i]));
        if (plan->mode->vfp)
            text_list_add(&plan->encap_routes, CIDR_TEXT(&p->service[i]));
    }
    if (p->has_management) {
        ip_format(&p->management_address, plan->management_address);
        if (encap_node)
            text_list_add_owned(&plan->encap_routes, xasprintf("%s/32", plan->management_address));
    }
    if (p->has_management && p->has_management6) {
        ip_format(&p->management_address6, plan->ipv6.management_address);
        if (encap_node)
            text_list_add_owned(&plan->encap_routes,
                                xasprintf("%s/128", plan->ipv6.management_address));
    }
    apply_exceptions(p, plan);
    if (apply_pod(p, plan, err) < 0 ||
        (plan->base_name && apply_base(p, base_candidates, ARRAY_SIZE(base_candidates),
                                       plan->base_subnet, plan->base_gateway, err) < 0))
        return -1;
    if (!plan->ipv6.on)
        return 0;
    return apply_pod6(p, plan, err) < 0
               ? -1
               : apply_base(p, base_candidates6, ARRAY_SIZE(base_candidates6),
                            plan->ipv6.base_subnet, plan->ipv6.base_gateway, err);
}
