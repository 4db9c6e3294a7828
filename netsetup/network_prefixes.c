/* Subnet arithmetic of the pod network. */
#include "netsetup/network_prefixes.h"

#include <string.h>

#include "base/memory.h"
#include "netsetup/modes/mode.h"

enum { POD_PREFIX_LONGEST = 29 };

/* /30s that clusters and networks hardly use; the first that overlaps nothing is taken. The first
 * is the one all known tools take. */
static const char *const base_candidates[] = {"192.168.255.0/30", "172.31.255.0/30",
                                              "10.255.255.0/30", "198.18.255.0/30",
                                              "100.127.255.0/30"};

static int read_list(const struct text_list *list, const char *what, struct cidr *ret,
                     size_t *ret_count, bool *skipped_ipv6, struct error *err) {
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        struct cidr cidr = {0};
        if (cidr_parse(list->items[i], &cidr, err) < 0)
            return error_prefix(err, "%s", what);
        if (cidr.base.family != 4) {
            *skipped_ipv6 = true;
            continue;
        }
        if (count == PREFIXES_MAX)
            return error_set(err, ERROR_USAGE, "%s: more than %d prefixes", what, PREFIXES_MAX);
        ret[count++] = cidr;
    }
    if (!count && list->count)
        return error_set(err, ERROR_UNSUPPORTED,
                         "%s: '%s' is IPv6 only; Windows nodes need an IPv4 prefix", what,
                         list->items[0]);
    *ret_count = count;
    return 0;
}

static int read_management(const char *text, struct network_prefixes *ret, struct error *err) {
    if (!text)
        return 0;
    _cleanup_(freep) char *address = xstrndup(text, strcspn(text, "/"));
    if (cidr_parse(text, &ret->management, err) < 0 ||
        ip_parse(address, &ret->management_address, err) < 0)
        return error_prefix(err, "management address");
    if (ret->management.base.family != 4)
        return error_set(err, ERROR_UNSUPPORTED,
                         "management address '%s' is IPv6; a Windows node needs an IPv4 one", text);
    ret->has_management = true;
    return 0;
}

static int read_pod(const char *text, struct network_prefixes *ret, struct error *err) {
    if (!text)
        return 0;
    if (cidr_parse(text, &ret->pod, err) < 0)
        return error_prefix(err, "pod prefix of the node");
    if (ret->pod.base.family != 4)
        return error_set(err, ERROR_UNSUPPORTED,
                         "pod prefix '%s' is IPv6; Windows nodes need an IPv4 one", text);
    if (ret->pod.length > POD_PREFIX_LONGEST)
        return error_set(err, ERROR_USAGE,
                         "pod prefix '%s' is too small: the gateway, the host's endpoint and the "
                         "pods need at least a /%d",
                         text, POD_PREFIX_LONGEST);
    ret->has_pod = true;
    return 0;
}

int network_prefixes_read(const struct network_input *input, struct network_prefixes *ret,
                          struct error *err) {
    struct network_prefixes p = {0};
    if (read_pod(input->pod_cidr, &p, err) < 0 || read_management(input->management, &p, err) < 0 ||
        read_list(&input->cluster_pod_cidrs, "cluster's pod prefixes", p.cluster, &p.cluster_count,
                  &p.skipped_ipv6, err) < 0 ||
        read_list(&input->service_cidrs, "service prefixes", p.service, &p.service_count,
                  &p.skipped_ipv6, err) < 0 ||
        read_list(&input->exclude_from_nat, "prefixes to exclude from NAT", p.exclude,
                  &p.exclude_count, &p.skipped_ipv6, err) < 0)
        return -1;
    *ret = p;
    return 0;
}

/* RFC 6890; no pod or Service can be reached there. */
static const struct {
    const char *prefix, *what;
} reserved[] = {{"0.0.0.0/8", "this host"},
                {"127.0.0.0/8", "loopback"},
                {"169.254.0.0/16", "link-local"},
                {"224.0.0.0/4", "multicast"},
                {"240.0.0.0/4", "reserved"}};

static int refuse_reserved(const struct cidr *cidr, const char *name, struct error *err) {
    char text[CIDR_TEXT_MAX];
    struct cidr other;
    cidr_format(cidr, text);
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
    char a_text[CIDR_TEXT_MAX], b_text[CIDR_TEXT_MAX];
    if (!cidr_overlaps(a, b))
        return 0;
    cidr_format(a, a_text);
    cidr_format(b, b_text);
    (void)error_set(err, ERROR_USAGE, "%s %s overlaps %s %s", a_name, a_text, b_name, b_text);
    return error_hint(err, "pods, services and the nodes' network must not overlap");
}

/* One pod prefix against services and the management network. */
static int check_pod_prefix(const struct network_prefixes *p, const struct cidr *pod,
                            const char *name, struct error *err) {
    if (refuse_reserved(pod, name, err) < 0)
        return -1;
    for (size_t i = 0; i < p->service_count; i++) {
        if (refuse_overlap(pod, name, &p->service[i], "service prefix", err) < 0)
            return -1;
    }
    if (!p->has_management)
        return 0;
    return refuse_overlap(pod, name, &p->management, "the node's network", err);
}

int network_prefixes_check(const struct network_prefixes *p, struct error *err) {
    for (size_t i = 0; i < p->cluster_count; i++) {
        if (check_pod_prefix(p, &p->cluster[i], "pod prefix", err) < 0)
            return -1;
    }
    if (p->has_pod && check_pod_prefix(p, &p->pod, "pod prefix of the node", err) < 0)
        return -1;
    for (size_t i = 0; i < p->service_count; i++) {
        if (refuse_reserved(&p->service[i], "service prefix", err) < 0 ||
            (p->has_management && refuse_overlap(&p->service[i], "service prefix", &p->management,
                                                 "the node's network", err) < 0))
            return -1;
    }
    return 0;
}

bool network_prefixes_outside(const struct network_prefixes *p) {
    for (size_t i = 0; i < p->cluster_count; i++) {
        if (cidr_contains_cidr(&p->cluster[i], &p->pod))
            return false;
    }
    return p->has_pod && p->cluster_count > 0;
}

/* HNS of Windows Server 2019 misapplies two exceptions with one base address: the broader stays. */
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
    struct cidr list[3 * PREFIXES_MAX + 2];
    size_t count = 0;
    if (!plan->mode->vfp)
        return; /* all is masked, or nothing */
    for (size_t i = 0; i < p->cluster_count; i++)
        add_exception(list, &count, &p->cluster[i]);
    if (p->has_pod && (!p->cluster_count || network_prefixes_outside(p)))
        add_exception(list, &count, &p->pod);
    for (size_t i = 0; i < p->service_count; i++)
        add_exception(list, &count, &p->service[i]);
    /* elsewhere the node's network is outside: masked, or its hosts would not know the way back */
    if (plan->mode->node_network && p->has_management)
        add_exception(list, &count, &p->management);
    for (size_t i = 0; i < p->exclude_count; i++)
        add_exception(list, &count, &p->exclude[i]);
    for (size_t i = 0; i < count; i++) {
        char text[CIDR_TEXT_MAX];
        cidr_format(&list[i], text);
        text_list_add(&plan->nat_exceptions, text);
    }
}

static void apply_lists(const struct network_prefixes *p, struct network_plan *plan) {
    char text[CIDR_TEXT_MAX];
    for (size_t i = 0; i < p->cluster_count; i++) {
        cidr_format(&p->cluster[i], text);
        text_list_add(&plan->cluster_pod_cidrs, text);
    }
    for (size_t i = 0; i < p->service_count; i++) {
        cidr_format(&p->service[i], text);
        text_list_add(&plan->service_cidrs, text);
        if (plan->mode->vfp)
            text_list_add(&plan->encap_routes, text);
    }
    if (!p->has_management)
        return;
    ip_format(&p->management_address, plan->management_address);
    cidr_format(&p->management, plan->management_subnet);
    if (plan->mode->node_network)
        text_list_add_owned(&plan->encap_routes, xasprintf("%s/32", plan->management_address));
}

int network_prefixes_address(const struct cidr *cidr, uint64_t n, char out[IP_TEXT_MAX],
                             struct error *err) {
    struct ip ip = {0};
    if (cidr_address(cidr, n, &ip, err) < 0)
        return -1;
    ip_format(&ip, out);
    return 0;
}

/* .0 network, .1 HNS's gateway, .2 what the mode needs it for, last the broadcast. */
static int apply_pod(const struct network_prefixes *p, struct network_plan *plan,
                     struct error *err) {
    if (!p->has_pod) {
        (void)text_format(plan->pod_cidr, sizeof(plan->pod_cidr), "<podCIDR>"); /* fits */
        return 0;
    }
    uint64_t last = ((uint64_t)1 << (32 - p->pod.length)) - 1;
    plan->pod_cidr_known = true;
    plan->prefix_length = p->pod.length;
    cidr_format(&p->pod, plan->pod_cidr);
    if (network_prefixes_address(&p->pod, 1, plan->gateway, err) < 0 ||
        (plan->mode->plan_addresses && plan->mode->plan_addresses(p, plan, err) < 0) ||
        network_prefixes_address(&p->pod, 3, plan->range_start, err) < 0)
        return -1;
    return network_prefixes_address(&p->pod, last - 1, plan->range_end, err);
}

static bool base_is_free(const struct network_prefixes *p, const struct cidr *base) {
    for (size_t i = 0; i < p->cluster_count; i++) {
        if (cidr_overlaps(&p->cluster[i], base))
            return false;
    }
    for (size_t i = 0; i < p->service_count; i++) {
        if (cidr_overlaps(&p->service[i], base))
            return false;
    }
    return !(p->has_pod && cidr_overlaps(&p->pod, base)) &&
           !(p->has_management && cidr_overlaps(&p->management, base));
}

static int apply_base(const struct network_prefixes *p, struct network_plan *plan,
                      struct error *err) {
    for (size_t i = 0; plan->base_name && i < ARRAY_SIZE(base_candidates); i++) {
        struct cidr base = {0};
        if (cidr_parse(base_candidates[i], &base, err) < 0)
            return -1;
        if (!base_is_free(p, &base))
            continue;
        cidr_format(&base, plan->base_subnet);
        return network_prefixes_address(&base, 1, plan->base_gateway, err);
    }
    if (!plan->base_name)
        return 0;
    return error_set(err, ERROR_USAGE,
                     "no free prefix for the base network: the pod, service and node prefixes "
                     "cover all that winjoin would use");
}

int network_prefixes_apply(const struct network_prefixes *p, struct network_plan *plan,
                           struct error *err) {
    apply_lists(p, plan);
    apply_exceptions(p, plan);
    if (apply_pod(p, plan, err) < 0)
        return -1;
    return apply_base(p, plan, err);
}
