/* L2bridge: pods' packets leave with their own address; each host routes to the other nodes' pods.
 */
#include "base/memory.h"
#include "netsetup/modes/mode.h"
#include "netsetup/routes.h"

static int plan_names(const struct network_input *input, struct network_plan *plan,
                      struct error *err) {
    (void)input;
    (void)err;
    if (!plan->name)
        plan->name = xstrdup("cbr0"); /* flanneld's own name for it */
    plan->host_endpoint_name = xasprintf("%s_ep", plan->name);
    return 0;
}

/* The pods' gateway on the host stands behind HNS's own. */
static int plan_host_endpoint(const struct network_prefixes *prefixes, struct network_plan *plan,
                              struct error *err) {
    return network_prefixes_address(&prefixes->pod, 2, plan->host_endpoint, err);
}

static int ensure_host_endpoint(struct host *host, const struct network_plan *plan,
                                struct hcn_network *network, struct error *err) {
    if (hcn_host_endpoint_ensure(host, plan, network, err) < 0 ||
        forwarding_ensure(host, plan->management_address, true, NULL, err) < 0)
        return -1;
    return forwarding_ensure(host, plan->host_endpoint, true, NULL, err);
}

const struct network_mode network_mode_l2bridge = {
    .name = "l2bridge",
    .hns_type = "L2Bridge",
    .cni_plugins = (const char *const[]){"win-bridge", NULL},
    .foreign_cni_plugins = (const char *const[]){"sdnbridge", NULL},
    .ipv4_only = "dual stack is not supported by this version of winjoin; IPv4 is",
    .host_routes = true,
    .node_network = true,
    .forwarding = true,
    .plan = plan_names,
    .plan_addresses = plan_host_endpoint,
    .complete = ensure_host_endpoint,
    .route_to = pod_route_to,
    .routes_read = pod_routes_read,
    .routes_write = pod_routes_write,
};
