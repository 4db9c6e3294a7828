/* The choice between IPv4 alone and dual stack. */
#include "netsetup/plan/dual_stack.h"

#include "netsetup/agents/agent.h"
#include "netsetup/hns/hns_features.h"
#include "netsetup/modes/mode.h"

const char *text_of_family(const struct text_list *list, int family) {
    for (size_t i = 0; i < list->count; i++)
        if ((strchr(list->items[i], ':') != NULL) == (family == 6))
            return list->items[i];
    return NULL;
}

/* Why there is no dual stack here; false: nothing is against it. */
static bool prevented(const struct network_input *input, const struct network_plan *plan,
                      char out[DUAL_STACK_REASON_MAX]) {
    const struct network_mode *mode = plan->mode;
    const char *why = NULL;

    out[0] = '\0';
    if (mode->ipv4_only)
        why = mode->ipv4_only;
    else if (!text_equal(plan->cni_plugin, mode->dual_stack_plugin))
        (void)text_format(out, DUAL_STACK_REASON_MAX,
                          "with network plugin '%s' a pod has one address; '%s' gives it both",
                          plan->plugin, mode->dual_stack_plugin);
    else if (input->hns.major && !hns_has(input->hns, HNS_DUAL_STACK))
        (void)text_format(out, DUAL_STACK_REASON_MAX,
                          "HNS %u.%u does not support it (11.10 and newer do: Windows Server 2022)",
                          input->hns.major, input->hns.minor);
    else if (input->cluster_pod_cidrs.count && !text_of_family(&input->cluster_pod_cidrs, 6))
        why = "the cluster has no IPv6 pod prefix";
    else if (input->pod_cidr && !input->pod_cidr6)
        why = "this node has no IPv6 pod prefix (spec.podCIDRs of its Node)";
    else if (input->management && !input->management6)
        why = "the node's network adapter has no IPv6 address that other nodes can reach";
    if (why)
        (void)text_format(out, DUAL_STACK_REASON_MAX, "%s", why); /* all fit */
    return *out;
}

int dual_stack_choose(const struct network_input *input, const struct network_plan *plan, bool *ret,
                      char reason[DUAL_STACK_REASON_MAX], struct error *err) {
    const char *wanted = input->dual_stack ? input->dual_stack : "auto";
    bool in_cluster =
        text_of_family(&input->cluster_pod_cidrs, 6) || text_of_family(&input->service_cidrs, 6);
    char why[DUAL_STACK_REASON_MAX];
    bool can = !prevented(input, plan, why);

    reason[0] = '\0';
    if (!text_equal(wanted, "auto") && !text_equal(wanted, "on") && !text_equal(wanted, "off"))
        return error_set(err, ERROR_USAGE, "unknown dual-stack setting '%s': use auto, on or off",
                         wanted);
    if (text_equal(wanted, "on") && !can)
        return error_set(err, ERROR_UNSUPPORTED, "dual stack is not possible: %s", why);
    *ret = can && !text_equal(wanted, "off") && (in_cluster || text_equal(wanted, "on"));
    if (in_cluster && !can && text_equal(wanted, "auto") && !plan->agent->makes_network)
        (void)text_format(reason, DUAL_STACK_REASON_MAX,
                          "the cluster has IPv6 prefixes, but pods on this node get IPv4 addresses "
                          "only: %s",
                          why);
    return 0;
}
