/* Mode overlay: packets of Pods travel to other nodes in VXLAN, as with flannel's vxlan. */
#include "base/vxlan.h"
#include "host/wait.h"
#include "netsetup/agents/agent.h"
#include "netsetup/hns/hns_features.h"
#include "netsetup/modes/mode.h"
#include "netsetup/routes/routes.h"
#include "netsetup/netsetup.h"

enum { BASE_VSID = 9999, NOT_PERSISTENT = 8, PROVIDER_WAIT_MS = 60000, POLL_MS = 500 };

static int plan_numbers(const struct network_input *input, struct network_plan *plan,
                        struct error *err) {
    unsigned usual = plan->agent->vni ? plan->agent->vni : VXLAN_WINDOWS_VNI_MIN;
    plan->vni = input->vni ? input->vni : usual;
    if (plan->agent->vni && plan->vni != plan->agent->vni)
        return error_set(err, ERROR_UNSUPPORTED, "VNI %u is not possible: %s works with %u only",
                         plan->vni, plan->plugin, plan->agent->vni);
    plan->base_vsid = plan->vni == BASE_VSID ? BASE_VSID - 1 : BASE_VSID;
    if (plan->vni < VXLAN_WINDOWS_VNI_MIN || plan->vni > VXLAN_VNI_MAX) {
        (void)error_set(err, ERROR_USAGE, "VNI %u is not possible: Windows supports %d to %d",
                        plan->vni, VXLAN_WINDOWS_VNI_MIN, VXLAN_VNI_MAX);
        return error_hint(
            err, "set \"VNI\": 4096 and \"Port\": 4789 in the Backend of the cluster's flannel");
    }
    if (!plan->name)
        /* flanneld gives its network this name, too. */
        plan->name = xasprintf("flannel.%u", plan->vni);
    plan->vxlan_port = input->vxlan_port ? input->vxlan_port : VXLAN_WINDOWS_PORT;
    if (plan->vxlan_port > 65535)
        return error_set(err, ERROR_USAGE, "VXLAN port %u is not possible: the highest is 65535",
                         plan->vxlan_port);
    plan->set_vxlan_port = plan->vxlan_port != VXLAN_WINDOWS_PORT;
    if (plan->agent->vxlan_port && plan->vxlan_port != plan->agent->vxlan_port)
        return error_set(err, ERROR_UNSUPPORTED,
                         "VXLAN port %u is not possible: %s on Windows works with %u only",
                         plan->vxlan_port, plan->plugin, plan->agent->vxlan_port);
    if (plan->set_vxlan_port && input->hns.major && !hns_has(input->hns, HNS_VXLAN_PORT))
        return error_set(err, ERROR_UNSUPPORTED,
                         "VXLAN port %u is not possible: HNS %u.%u supports 4789 only (other ports "
                         "need HNS 10.3)",
                         plan->vxlan_port, input->hns.major, input->hns.minor);
    return 0;
}

struct provider_wait {
    struct host *host;
    struct hcn_network *network;
};

static enum wait_poll poll_provider(void *context, struct wait *wait, struct error *err) {
    const struct provider_wait *p = context;
    if (wait->waited_ms && hcn_network_find(p->host, p->network->name, p->network, err) < 0)
        return POLL_FAILED;
    if (*p->network->provider_address)
        return POLL_DONE;
    (void)error_set(err, ERROR_TIMED_OUT,
                    "HNS network '%s' has no provider address after %d s: HNS sees no usable IPv4 "
                    "address on adapter '%s'",
                    p->network->name, PROVIDER_WAIT_MS / 1000, p->network->adapter);
    return POLL_AGAIN;
}

/* Waits until HNS reports the provider address, the node's address for VXLAN, which HNS learns some
 * time after the vSwitch exists. Without that address no Pod reaches other nodes. */
static int wait_for_provider(struct host *host, const struct network_plan *,
                             struct hcn_network *network, struct error *err) {
    struct provider_wait context = {host, network};
    struct wait wait = {.limit_ms = PROVIDER_WAIT_MS,
                        .pause_ms = POLL_MS,
                        .poll = poll_provider,
                        .context = &context};
    return wait_until(host, &wait, err) == POLL_DONE ? 0 : -1;
}

const struct network_mode network_mode_overlay = {
    .name = "overlay",
    .hns_type = "Overlay",
    .cni_plugins = (const char *const[]){"win-overlay", "sdnoverlay", NULL},
    .ipv4_only = "overlay networks on Windows are IPv4 only",
    .vxlan = true,
    .vfp = true,
    .source_vip = true,
    .no_host_routes = "packets to other nodes' pods travel in VXLAN between the nodes",
    .lacks = MODE_LACKS_ICMP_OUT,
    /* flanneld compares the network with the one that it would make, which is not persistent. */
    .flags = NOT_PERSISTENT,
    /* With HostRoute the node reaches its own Pods. */
    .policies = (const char *const[]){"HostRoute", NULL},
    .firewall = {.name = "winjoin vxlan",
                 .description = "winjoin: traffic from pods of other nodes (VXLAN)",
                 .udp = true},
    .plan = plan_numbers,
    .complete = wait_for_provider,
    .route_to = remote_subnet_to,
    .routes_read = remote_subnets_read,
    .routes_write = remote_subnets_write,
};
