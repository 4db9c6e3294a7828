/* Makes the plan of the Pod network: choices, then the check of all prefixes, then addresses. */
#include "netsetup/plan/network_plan.h"

#include "netsetup/agents/agent.h"
#include "netsetup/agents/daemon_set_agent.h"
#include "netsetup/hns/hns_features.h"
#include "netsetup/modes/mode.h"
#include "base/nearest.h"
#include "netsetup/plugins/cni_plugin.h"

const char *text_of_family(const struct text_list *list, int family) {
    for (size_t i = 0; i < list->count; i++)
        if ((strchr(list->items[i], ':') != NULL) == (family == 6))
            return list->items[i];
    return NULL;
}

enum { DUAL_STACK_REASON_MAX = 256 };

/* Says why dual stack is not possible here; returns false when nothing prevents it. */
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
        /* The reason always fits into the buffer. */
        (void)text_format(out, DUAL_STACK_REASON_MAX, "%s", why);
    return *out;
}

#define WINDOWS_NETWORK "nat" /* The network that Windows has for its own containers. */

static void add_warning(struct network_plan *plan, const char *code, const char *message) {
    if (plan->warning_count == PLAN_WARNINGS_MAX)
        return;
    struct network_warning *warning = &plan->warnings[plan->warning_count++];
    warning->code = code;
    /* The message always fits into the buffer. */
    (void)text_format(warning->message, sizeof(warning->message), "%s", message);
}

/* Sets the DaemonSet's agent, the network's name if the agent fixes it, and warnings about limits.
 */
static int plan_network(const struct network_input *input, struct network_plan *plan,
                        struct error *err) {
    const struct network_limit *limit = plan->agent->in_cluster ? NULL : plan->mode->limits;
    const char *name = plan->agent->network_name; /* Name of the network that the agent makes. */
    if (plan->agent->in_cluster) {
        const struct daemon_set_network *network;

        plan->cni_plugin = NULL;
        plan->daemon_set_agent = daemon_set_agent_by_name(input->daemon_set_agent);
        network = daemon_set_agent_network(plan->daemon_set_agent, plan->mode);
        if (plan->daemon_set_agent && plan->daemon_set_agent->tunnel_port)
            plan->vxlan_port =
                input->vxlan_port ? input->vxlan_port : plan->daemon_set_agent->tunnel_port;
        if (!plan->name)
            plan->name = xstrdup(network ? network->name : "cluster");
    }
    for (; limit && limit->code; limit++)
        add_warning(plan, limit->code, limit->text);
    if (name && plan->name && !text_equal(plan->name, name))
        return error_set(err, ERROR_USAGE, "network name '%s' is not possible: with %s it is '%s'",
                         plan->name, plan->plugin, name);
    if (name && !plan->name)
        plan->name = xstrdup(name);
    if (plan->mode->vxlan && !plan->agent->keeps_routes)
        add_warning(plan, "no-route-agent",
                    "winjoin itself keeps the routes to other nodes' pods; Linux nodes reach this "
                    "node's pods only where they run flannel in mode vxlan");
    return 0;
}

static int plan_choices(const struct network_input *input, struct network_plan *plan,
                        struct error *err) {
    _cleanup_(text_list_free) struct text_list works = {0};
    const char *plugin = input->plugin;
    if ((input->plugin && network_plugin_check(input->plugin, err) < 0) ||
        (input->mode && network_mode_check(input->mode, err) < 0))
        return -1;
    for (size_t i = 0; plugin && network_modes[i]; i++)
        if (network_agent_cni(network_agent_by_plugin(plugin), plugin, network_modes[i]))
            text_list_add(&works, network_modes[i]->name);
    plan->mode = input->mode   ? network_mode_by_name(input->mode)
                 : works.count ? network_mode_by_name(works.items[0])
                               : network_modes[0];
    if (!plan->mode)
        return error_set(err, ERROR_USAGE, "no network mode has that name");
    if (!plan->mode->internal) {
        plan->base_name = xstrdup(NETWORK_BASE_NAME);
        plan->adapter = xstrdup_null(input->adapter);
    }
    if (!plugin)
        plugin = plan->mode->cni_plugins[0];
    plan->agent = network_agent_by_plugin(plugin);
    plan->cni_plugin = network_agent_cni(plan->agent, plugin, plan->mode);
    if (!plan->cni_plugin) {
        /* Either another plugin or another mode solves this. */
        _cleanup_(freep) char *list = name_list(&works);
        return error_set(err, ERROR_USAGE,
                         "network plugin '%s' works in mode %s, not in '%s': there use %s", plugin,
                         list, plan->mode->name, plan->mode->cni_plugins[0]);
    }
    plan->plugin = plan->agent->plugin ? plan->agent->plugin : plan->cni_plugin;
    return plan_network(input, plan, err);
}

/* Decides who has the routes to other nodes' Pods: this host, or the network between the nodes. */
static int plan_routes(const struct network_input *input, struct network_plan *plan,
                       struct error *err) {
    static const char *const choices[] = {"own", "print", "none", NULL};
    const char *wanted = name_find(choices, input->routes ? input->routes : choices[0]);
    if (!wanted)
        return error_set(err, ERROR_USAGE, "unknown routes setting '%s': use own, print or none",
                         input->routes);
    if (input->routes && plan->agent->keeps_routes)
        return error_set(err, ERROR_USAGE,
                         "routes '%s' is not possible: with plugin %s the routes to other nodes' "
                         "pods are kept by %s",
                         wanted, plan->plugin,
                         plan->agent->service ? plan->agent->service : "the cluster's own agent");
    if (input->routes && !plan->mode->host_routes)
        return error_set(err, ERROR_USAGE, "routes '%s' is not possible: in mode %s %s", wanted,
                         plan->mode->name, plan->mode->no_host_routes);
    if (!plan->agent->keeps_routes && plan->mode->host_routes)
        plan->routes = wanted;
    plan->writes_routes =
        !plan->agent->keeps_routes && plan->mode->route_to && text_equal(wanted, choices[0]);
    return 0;
}

/* Decides whether Pods of this node get an IPv6 address beside the IPv4 one. Unknown inputs (HNS,
 * addresses, prefixes) do not prevent it. Sources: Kubernetes, "IPv4/IPv6 dual-stack" and "Windows
 * networking" (only l2bridge); hcsshim, IPv6DualStackSupported (HNS 11.10). win-bridge uses only
 * the first address of its IPAM (containernetworking/plugins, win-bridge_windows.go), sdnbridge one
 * of each family (microsoft/windows-container-networking, enableDualStack). */
static int plan_dual_stack(const struct network_input *input, struct network_plan *plan,
                           struct error *err) {
    const char *wanted = input->dual_stack ? input->dual_stack : "auto";
    bool in_cluster =
        text_of_family(&input->cluster_pod_cidrs, 6) || text_of_family(&input->service_cidrs, 6);
    char why[DUAL_STACK_REASON_MAX], warning[DUAL_STACK_REASON_MAX];
    bool can = !prevented(input, plan, why);

    if (!text_equal(wanted, "auto") && !text_equal(wanted, "on") && !text_equal(wanted, "off"))
        return error_set(err, ERROR_USAGE, "unknown dual-stack setting '%s': use auto, on or off",
                         wanted);
    if (text_equal(wanted, "on") && !can)
        return error_set(err, ERROR_UNSUPPORTED, "dual stack is not possible: %s", why);
    plan->ipv6.on = can && !text_equal(wanted, "off") && (in_cluster || text_equal(wanted, "on"));
    if (in_cluster && !can && text_equal(wanted, "auto") && !plan->agent->makes_network) {
        (void)text_format(warning, sizeof warning,
                          "the cluster has IPv6 prefixes, but pods on this node get IPv4 addresses "
                          "only: %s",
                          why);
        add_warning(plan, "dual-stack-off", warning);
    }
    return 0;
}

/* Sets the cluster's DNS servers, the IPv4 ones first. Pods with only IPv4 addresses get only IPv4
 * servers; when all servers are IPv6, all stay, with a warning. */
static void plan_dns(const struct network_input *input, struct network_plan *plan) {
    const struct text_list *servers = &input->dns_servers;
    bool made = !plan->agent->in_cluster && !plan->agent->pods_make_network;
    bool ipv4_only = made && !plan->ipv6.on;
    char message[sizeof plan->warnings->message];

    if (ipv4_only && servers->count && !text_of_family(servers, 4)) {
        (void)text_format(message, sizeof message,
                          "pods on this node get IPv4 addresses only and cannot ask the cluster's "
                          "DNS server %.45s: give the Service kube-dns an IPv4 address too, and "
                          "add it to clusterDNS in the ConfigMap kubelet-config",
                          servers->items[0]);
        add_warning(plan, "dns-ipv6", message);
        ipv4_only = false;
    }
    for (int family = 4; family <= (ipv4_only ? 4 : 6); family += 2)
        for (size_t i = 0; i < servers->count; i++)
            if ((strchr(servers->items[i], ':') != NULL) == (family == 6))
                text_list_add(&plan->dns_servers, servers->items[i]);
}

/* Makes the part of the plan that needs nothing from this machine. */
static int plan_begin(const struct network_input *input, struct network_plan *plan,
                      struct network_prefixes *prefixes, struct error *err) {
    plan->name = xstrdup_null(input->name);
    plan->dns_domain = xstrdup(input->dns_domain ? input->dns_domain : "cluster.local");
    plan->cni_folder = xstrdup_null(input->cni_folder);
    if (plan_choices(input, plan, err) < 0 || plan_routes(input, plan, err) < 0)
        return -1;
    bool made = !plan->agent->pods_make_network;
    if (made && !plan->name && plan->mode->network_name)
        plan->name = xstrdup(plan->mode->network_name);
    if (made && plan->mode->host_endpoint)
        plan->host_endpoint_name = xasprintf("%s_ep", plan->name);
    if (made && plan->mode->plan && plan->mode->plan(input, plan, err) < 0)
        return -1;
    if (!plan->name)
        plan->name = xstrdup("");
    /* host-local uses the name as a folder, and an environment block as a value. */
    if (!*plan->name || strlen(plan->name) > 128 || strpbrk(plan->name, "\\/:*?\"<>|\r\n"))
        return error_set(err, ERROR_USAGE,
                         "network name '%.128s' is not possible: it must be 1 to 128 characters "
                         "without \\ / : * ? \" < > | and line breaks",
                         plan->name);
    if (plan->base_name && (text_equal_nocase(plan->name, plan->base_name) ||
                            text_equal_nocase(plan->name, WINDOWS_NETWORK)))
        return error_set(err, ERROR_USAGE, "network name '%s' is not possible: it is reserved",
                         plan->name);
    if (plan_dual_stack(input, plan, err) < 0 ||
        network_prefixes_read(input, plan->ipv6.on, prefixes, err) < 0)
        return -1;
    plan_dns(input, plan);
    prefixes->pods_on_node_network = !made;
    if (!made && prefixes->has_pod)
        add_warning(
            plan, "pod-cidr-unused",
            "pods' addresses come from the network plugin: the node's pod prefix is not used");
    prefixes->has_pod &= made;
    return network_prefixes_check(prefixes, err);
}

void network_input_pods(const struct text_list *prefixes, struct network_input *input) {
    input->pod_cidr = text_of_family(prefixes, 4);
    input->pod_cidr6 = text_of_family(prefixes, 6);
    if (!input->pod_cidr)
        input->pod_cidr = input->pod_cidr6; /* An IPv6 prefix here is refused by a later check. */
}

int network_input_check(const struct network_input *input, struct error *err) {
    struct network_prefixes prefixes = {0};
    _cleanup_(network_plan_free) struct network_plan plan = {0};
    struct network_input known = *input;
    if (!input->mode && !input->plugin)
        known.routes = NULL; /* The cluster decides the mode, so `routes` cannot be checked. */
    return plan_begin(&known, &plan, &prefixes, err);
}

int network_plan_choose(const char *mode, const char *plugin, struct network_plan *ret,
                        struct error *err) {
    const struct network_input input = {.mode = mode, .plugin = plugin};
    _cleanup_(network_plan_free) struct network_plan plan = {0};
    if (plan_choices(&input, &plan, err) < 0)
        return -1;
    *ret = take_struct(plan);
    return 0;
}

int network_plan_make(const struct network_input *input, struct network_plan *ret,
                      struct error *err) {
    _cleanup_(network_plan_free) struct network_plan plan = {0};
    struct network_prefixes prefixes = {0};
    bool can_dsr = hns_has(input->hns, HNS_DSR);
    const char *dsr = input->dsr ? input->dsr : "auto";
    if (plan_begin(input, &plan, &prefixes, err) < 0)
        return -1;
    if (!text_equal(dsr, "auto") && !text_equal(dsr, "on") && !text_equal(dsr, "off"))
        return error_set(err, ERROR_USAGE, "unknown DSR setting '%s': use auto, on or off", dsr);
    if (text_equal(dsr, "on") && !can_dsr)
        return error_set(
            err, ERROR_UNSUPPORTED,
            "DSR is not possible: HNS %u.%u does not support it (9.3 or 10.2 and newer do)",
            input->hns.major, input->hns.minor);
    plan.dsr = can_dsr && !text_equal(dsr, "off");
    if (!prefixes.service_count)
        return error_set(err, ERROR_USAGE, "the service prefixes are unknown");
    if (network_prefixes_outside(&prefixes) && !plan.agent->subnet_annotation)
        add_warning(&plan, "pod-cidr-outside-cluster",
                    "this node's pod prefix is outside the cluster's pod prefixes");
    if (!prefixes.cluster_count)
        add_warning(
            &plan, "no-cluster-pod-cidr",
            "the cluster's pod prefixes are unknown: only this node's own is excluded from NAT");
    if (network_prefixes_apply(&prefixes, &plan, err) < 0)
        return -1;
    const struct cni_plugin *cni = cni_plugin_by_name(plan.cni_plugin);
    if (cni && cni->check && cni->check(&plan, err) < 0)
        return -1;
    *ret = take_struct(plan);
    return 0;
}

void network_plan_free(struct network_plan *plan) {
    if (!plan)
        return;
    free_all(plan->name, plan->adapter, plan->host_endpoint_name, plan->base_name, plan->dns_domain,
             plan->cni_folder);
    text_list_free(&plan->cluster_pod_cidrs);
    text_list_free(&plan->service_cidrs);
    text_list_free(&plan->nat_exceptions);
    text_list_free(&plan->encap_routes);
    text_list_free(&plan->dns_servers);
    *plan = (struct network_plan){0};
}
