/* Describes the service hybrid-overlay-node, for clusters with OVN-Kubernetes. It runs as a console
 * program, because with --windows-service it reports that it has stopped but continues
 * (go-controller/hybrid-overlay/cmd). */
#include "base/vxlan.h"
#include "services/rows/service_rows.h"

static int arguments(const struct service_settings *settings, struct text_list *ret,
                     struct error *) {
    _cleanup_(freep) char *node = text_lower(settings->node_name ? settings->node_name : "");

    argument_add(ret, "--node", node);
    argument_add(ret, "--bootstrap-kubeconfig", "C:\\etc\\kubernetes\\kubelet.conf");
    argument_add(ret, "--cert-dir", settings->agent_key_folder);
    argument_add(ret, "--cert-duration", "24h");
    argument_add(ret, "--k8s-apiserver", settings->api_server);
    argument_add(ret, "--k8s-cacert", settings->ca_file);
    if (settings->vxlan_port && settings->vxlan_port != VXLAN_WINDOWS_PORT)
        text_list_add_owned(ret, xasprintf("--hybrid-overlay-vxlan-port=%u", settings->vxlan_port));
    return 0;
}

const struct service service_hybrid_overlay_node = {
    SERVICE_NAMED("hybrid-overlay-node", "hybrid-overlay-node"),
    .display_name = "OVN-Kubernetes hybrid overlay",
    .description = "winjoin: makes the pod network and keeps the routes to other nodes' pods",
    .artifact = "hybrid-overlay-node",
    .program = "C:\\k\\hybrid-overlay-node.exe",
    .hosted = true,
    .depends_on = {"hns", "kubelet"},
    .restart_delays_ms = {5000, 10000, 30000},
    .reset_seconds = 600,
    .stop_timeout_ms = 5000,
    .diagnosed = true,
    .proof = {.kind = SERVICE_RUNS,
              .timeout_ms = 30000,
              .waiting = "for hybrid-overlay-node to run",
              .failed = "wait for hybrid-overlay-node: it does not run"},
    .chosen_by = SERVICE_CHOSEN_BY_AGENT,
    .arguments = arguments,
};
