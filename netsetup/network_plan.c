/* Plan of the pod network: choices, then prefixes checked, then every address computed. */
#include "netsetup/network_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/vxlan.h"
#include "netsetup/hns_features.h"
#include "netsetup/network_prefixes.h"

enum { BASE_VSID = 9999 };

static const char *const mode_names[] = {
    [NETWORK_OVERLAY] = "overlay", [NETWORK_L2BRIDGE] = "l2bridge"};
static const char *const plugin_names[] = {[NETWORK_WIN_OVERLAY] = "win-overlay",
                                           [NETWORK_WIN_BRIDGE] = "win-bridge",
                                           [NETWORK_FLANNEL] = "flannel"};
/* Names that exist in the field and that this version refuses in plain words. */
static const char *const later_modes[] = {"l2tunnel", "transparent", "nat"};
static const char *const later_plugins[] = {"azure-vnet", "ovn-kubernetes", "sdnbridge",
                                            "sdnoverlay", "nat"};

static int find_name(const char *const *names, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++) {
        if (text_equal(names[i], name))
            return (int)i;
    }
    return -1;
}

const char *network_mode_name(enum network_mode mode) {
    return mode_names[mode];
}

const char *network_plugin_name(enum network_plugin plugin) {
    return plugin_names[plugin];
}

const char *network_cni_type(const struct network_plan *plan) {
    return plan->mode == NETWORK_OVERLAY ? "win-overlay" : "win-bridge";
}

static void add_warning(struct network_plan *plan, const char *code, const char *message) {
    if (plan->warning_count == NETWORK_WARNINGS_MAX)
        return;
    struct network_warning *warning = &plan->warnings[plan->warning_count++];
    warning->code = code;
    (void)text_format(warning->message, sizeof(warning->message), "%s", message); /* all fit */
}

static int choose_plugin(const struct network_input *input, int *ret, struct error *err) {
    *ret = -1;
    if (!input->plugin)
        return 0;
    *ret = find_name(plugin_names, ARRAY_SIZE(plugin_names), input->plugin);
    if (*ret >= 0)
        return 0;
    if (find_name(later_plugins, ARRAY_SIZE(later_plugins), input->plugin) >= 0)
        return error_set(err, ERROR_UNSUPPORTED,
                         "network plugin '%s' is not supported by this version of winjoin; "
                         "win-overlay, win-bridge and flannel are",
                         input->plugin);
    return error_set(err, ERROR_USAGE,
                     "unknown network plugin '%s': use win-overlay, win-bridge or flannel",
                     input->plugin);
}

static int choose_mode(const struct network_input *input, int plugin, int *ret, struct error *err) {
    const char *wanted = input->mode;
    if (!wanted)
        wanted = plugin == NETWORK_WIN_BRIDGE ? "l2bridge" : "overlay";
    *ret = find_name(mode_names, ARRAY_SIZE(mode_names), wanted);
    if (*ret >= 0)
        return 0;
    if (find_name(later_modes, ARRAY_SIZE(later_modes), wanted) >= 0)
        return error_set(err, ERROR_UNSUPPORTED,
                         "network mode '%s' is not supported by this version of winjoin; overlay "
                         "and l2bridge are",
                         wanted);
    return error_set(err, ERROR_USAGE, "unknown network mode '%s': use overlay or l2bridge",
                     wanted);
}

static int plan_choices(const struct network_input *input, struct network_plan *plan,
                        struct error *err) {
    int plugin = -1, mode = -1;
    if (choose_plugin(input, &plugin, err) < 0 || choose_mode(input, plugin, &mode, err) < 0)
        return -1;
    int fitting = mode == NETWORK_OVERLAY ? NETWORK_WIN_OVERLAY : NETWORK_WIN_BRIDGE;
    if (plugin < 0)
        plugin = fitting;
    if (plugin != NETWORK_FLANNEL && plugin != fitting)
        return error_set(err, ERROR_USAGE, "network plugin '%s' does not work in mode '%s': use %s",
                         plugin_names[plugin], mode_names[mode], plugin_names[fitting]);
    plan->mode = (enum network_mode)mode;
    plan->plugin = (enum network_plugin)plugin;
    if (plugin == NETWORK_WIN_OVERLAY)
        add_warning(plan, "no-route-agent",
                    "nothing on this node follows the cluster's nodes: pods of other nodes are "
                    "reached only while their routes are kept up (plugin flannel does that)");
    return 0;
}

static int plan_vxlan(const struct network_input *input, struct network_plan *plan,
                      struct error *err) {
    if (plan->mode != NETWORK_OVERLAY)
        return 0;
    plan->vni = input->vni ? input->vni : VXLAN_WINDOWS_VNI_MIN;
    plan->vxlan_port = input->vxlan_port ? input->vxlan_port : VXLAN_WINDOWS_PORT;
    plan->base_vsid = plan->vni == BASE_VSID ? BASE_VSID - 1 : BASE_VSID;
    if (plan->vni < VXLAN_WINDOWS_VNI_MIN || plan->vni > VXLAN_VNI_MAX) {
        (void)error_set(err, ERROR_USAGE, "refuse VNI %u: Windows takes %d to %d", plan->vni,
                        VXLAN_WINDOWS_VNI_MIN, VXLAN_VNI_MAX);
        return error_hint(err, "give the cluster's flannel Backend \"VNI\":4096,\"Port\":4789");
    }
    if (plan->vxlan_port > 65535)
        return error_set(err, ERROR_USAGE, "refuse VXLAN port %u: the highest is 65535",
                         plan->vxlan_port);
    plan->set_vxlan_port = plan->vxlan_port != VXLAN_WINDOWS_PORT;
    if (!plan->set_vxlan_port)
        return 0;
    if (plan->plugin == NETWORK_FLANNEL)
        return error_set(err, ERROR_UNSUPPORTED,
                         "refuse VXLAN port %u: flannel on Windows works with 4789 only",
                         plan->vxlan_port);
    if (!hns_has(input->hns, HNS_VXLAN_PORT))
        return error_set(err, ERROR_UNSUPPORTED,
                         "refuse VXLAN port %u: HNS %u.%u knows 4789 only (others from HNS 10.3)",
                         plan->vxlan_port, input->hns.major, input->hns.minor);
    return 0;
}

/* "auto", "on" or "off" (NULL = auto) against what HNS can do. */
static int plan_dsr(const struct network_input *input, struct network_plan *plan,
                    struct error *err) {
    bool can = hns_has(input->hns, HNS_DSR);
    const char *wanted = input->dsr ? input->dsr : "auto";
    if (text_equal(wanted, "auto"))
        plan->dsr = can;
    else if (text_equal(wanted, "on") && !can)
        return error_set(err, ERROR_UNSUPPORTED,
                         "cannot turn DSR on: HNS %u.%u has none (from 9.3 or 10.2)",
                         input->hns.major, input->hns.minor);
    else if (text_equal(wanted, "on") || text_equal(wanted, "off"))
        plan->dsr = text_equal(wanted, "on");
    else
        return error_set(err, ERROR_USAGE, "unknown DSR setting '%s': use auto, on or off", wanted);
    return 0;
}

static int plan_dual_stack(const struct network_input *input, struct network_plan *plan,
                           const struct network_prefixes *prefixes, struct error *err) {
    const char *wanted = input->dual_stack ? input->dual_stack : "auto";
    if (text_equal(wanted, "on") && plan->mode == NETWORK_OVERLAY)
        return error_set(err, ERROR_UNSUPPORTED,
                         "cannot make a dual-stack overlay: Windows overlays are IPv4 only");
    if (text_equal(wanted, "on"))
        return error_set(err, ERROR_UNSUPPORTED,
                         "dual stack is not supported by this version of winjoin; IPv4 is");
    if (!text_equal(wanted, "auto") && !text_equal(wanted, "off"))
        return error_set(err, ERROR_USAGE, "unknown dual-stack setting '%s': use auto, on or off",
                         wanted);
    if (prefixes->skipped_ipv6 && text_equal(wanted, "auto"))
        add_warning(plan, "dual-stack-off",
                    "the cluster has IPv6 prefixes; this node's pods get IPv4 only");
    return 0;
}

static void plan_names(const struct network_input *input, struct network_plan *plan) {
    if (input->name)
        plan->name = xstrdup(input->name);
    else if (plan->mode == NETWORK_OVERLAY)
        plan->name = xasprintf("flannel.%u", plan->vni);
    else
        plan->name = xstrdup("cbr0");
    if (plan->mode == NETWORK_L2BRIDGE)
        plan->host_endpoint_name = xasprintf("%s_ep", plan->name);
    plan->base_name = xstrdup("External");
    plan->adapter = xstrdup_null(input->adapter);
    plan->dns_domain = xstrdup(input->dns_domain ? input->dns_domain : "cluster.local");
    for (size_t i = 0; i < input->dns_servers.count; i++)
        text_list_add(&plan->dns_servers, input->dns_servers.items[i]);
}

static int plan_check_name(const struct network_plan *plan, struct error *err) {
    /* the name is also a folder of host-local's and a value in an environment block */
    if (!*plan->name || strlen(plan->name) > 128 || strpbrk(plan->name, "\\/:*?\"<>|\r\n"))
        return error_set(err, ERROR_USAGE, "refuse network name '%s'", plan->name);
    if (text_equal_nocase(plan->name, plan->base_name) || text_equal_nocase(plan->name, "nat"))
        return error_set(err, ERROR_USAGE, "refuse network name '%s': it has another meaning",
                         plan->name);
    return 0;
}

static int plan_fill(const struct network_input *input, struct network_plan *plan,
                     struct error *err) {
    struct network_prefixes prefixes = {0};
    if (plan_choices(input, plan, err) < 0 || plan_vxlan(input, plan, err) < 0 ||
        plan_dsr(input, plan, err) < 0)
        return -1;
    plan_names(input, plan);
    if (plan_check_name(plan, err) < 0 || network_prefixes_read(input, &prefixes, err) < 0 ||
        plan_dual_stack(input, plan, &prefixes, err) < 0 ||
        network_prefixes_check(&prefixes, err) < 0)
        return -1;
    if (network_prefixes_outside(&prefixes))
        add_warning(plan, "pod-cidr-outside-cluster",
                    "this node's pod prefix lies outside the cluster's pod prefixes");
    if (!prefixes.cluster_count)
        add_warning(plan, "no-cluster-pod-cidr",
                    "the cluster names no pod prefix: this node's alone is kept from being masked");
    return network_prefixes_apply(&prefixes, plan, err);
}

int network_plan_make(const struct network_input *input, struct network_plan *ret,
                      struct error *err) {
    struct network_plan plan = {0};
    if (plan_fill(input, &plan, err) < 0) {
        network_plan_free(&plan);
        return -1;
    }
    *ret = plan;
    return 0;
}

void network_plan_free(struct network_plan *plan) {
    if (!plan)
        return;
    free(plan->name);
    free(plan->adapter);
    free(plan->host_endpoint_name);
    free(plan->base_name);
    free(plan->dns_domain);
    text_list_free(&plan->cluster_pod_cidrs);
    text_list_free(&plan->service_cidrs);
    text_list_free(&plan->nat_exceptions);
    text_list_free(&plan->encap_routes);
    text_list_free(&plan->dns_servers);
    *plan = (struct network_plan){0};
}
