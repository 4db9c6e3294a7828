/* Describes the service flanneld, for clusters with flannel. */
#include "services/rows/service_rows.h"
#include "services/runtime_files.h"

static int arguments(const struct service_settings *settings, struct text_list *ret,
                     struct error *) {
    text_list_add(ret, "--kube-subnet-mgr");
    argument_add(ret, "--kubeconfig-file", FLANNELD_KUBECONFIG_PATH);
    argument_add(ret, "--iface", settings->flannel_interface);
    text_list_add(ret, "--ip-masq");
    argument_add(ret, "--net-config-path", FLANNEL_NET_CONF_PATH);
    argument_add(ret, "--subnet-file", FLANNEL_SUBNET_PATH);
    return 0;
}

static char *environment(const struct service_settings *settings) {
    _cleanup_(freep) char *node = text_lower(settings->node_name ? settings->node_name : "");

    return xasprintf("NODE_NAME=%s", node);
}

const struct service service_flanneld = {
    SERVICE_NAMED("flanneld", "flanneld"),
    .display_name = "flannel",
    .description = "winjoin: keeps the routes to other nodes' pods",
    .artifact = "flanneld",
    .program = "C:\\k\\flanneld.exe",
    .hosted = true,
    .ready_file = FLANNEL_SUBNET_PATH,
    .depends_on = {"hns", "winjoin-network"},
    .restart_delays_ms = {5000, 10000, 30000},
    .reset_seconds = 600,
    .stop_timeout_ms = 10000,
    .diagnosed = true,
    /* flanneld writes its file after it has made its network in HNS and annotated the Node. It
     * waits 30 s for the Node and 30 s to write to it. */
    .proof = {.kind = SERVICE_WRITES_FILE,
              .timeout_ms = 90000,
              .waiting = "for flanneld to register this node",
              .failed = "wait for flanneld: it runs but has not registered this node",
              .reads = "/api/v1/nodes?limit=1"},
    .chosen_by = SERVICE_CHOSEN_BY_AGENT,
    .arguments = arguments,
    .environment = environment,
};
