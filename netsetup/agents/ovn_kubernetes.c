/* OVN-Kubernetes' hybrid overlay: hybrid-overlay-node makes two overlay networks and keeps the
 * routes to other nodes' Pods. ovnkube writes each Windows node's Pod prefix to an annotation.
 * Sources: ovn-kubernetes' go-controller/hybrid-overlay, openshift/windows-machine-config-operator
 * (pkg/services, pkg/nodeconfig/payload). */
#include "netsetup/agents/agent.h"

#include "netsetup/hns/hcn_network.h"
#include "services/service_table.h"

#define ANNOTATION "k8s.ovn.org/"
#define SUBNET ANNOTATION "hybrid-overlay-node-subnet"
#define NETWORK "OVNKubernetesHybridOverlayNetwork"
#define BACKEND "hybrid overlay" /* winjoin's name for the agent's only backend. */
enum { VNI = 4097 };

static bool read_peer(const json_t *annotations, struct network_peer *ret) {
    const char *subnet = json_string_value(json_object_get(annotations, SUBNET));
    const char *subnets =
        json_string_value(json_object_get(annotations, ANNOTATION "node-subnets"));
    const char *mac = json_string_value(
        json_object_get(annotations, ANNOTATION "hybrid-overlay-distributed-router-gateway-mac"));
    _cleanup_json_ json_t *of_linux = NULL;

    /* A Linux node has {"default":["10.244.0.0/24"]}, in older versions
     * {"default":"10.244.0.0/24"}. */
    if (!subnet && subnets &&
        json_read(subnets, strlen(subnets), "node-subnets", &of_linux, NULL) == 0)
        subnet = json_text_or(of_linux, "default.0", json_text_at(of_linux, "default"));
    if (!subnet || text_format(ret->subnet, sizeof ret->subnet, "%s", subnet) < 0)
        return false;
    ret->pod_cidr = ret->subnet;
    ret->backend = BACKEND;
    ret->address = ret->node_address;
    ret->vni = VNI;
    if (mac && text_format(ret->router_mac, sizeof ret->router_mac, "%s", mac) < 0)
        ret->router_mac[0] = '\0';
    return true;
}

/* Restarts hybrid-overlay-node when its network is gone: it makes networks only at its start. */
static int restore(const struct network_restore *restore, struct error *err) {
    struct hcn_network network;
    struct error why = {0};

    if (hcn_network_find(restore->host, NETWORK, &network, &why) == 0)
        return 0;
    if (why.kind == ERROR_ABSENT)
        return network_restore_service(restore, &service_hybrid_overlay_node, err) < 0
                   ? -1 /* The restart has also stopped the services that depend on it. */
                   : network_restore_service(restore, &service_kube_proxy, err);
    return error_pass(err, &why);
}

const struct network_agent network_agent_ovn_kubernetes = {
    .plugin = "ovn-kubernetes",
    .service = "hybrid-overlay-node",
    .folders = (const char *const[]){"C:\\var\\lib\\ovn-kubernetes", NULL},
    .key_folder = "C:\\var\\lib\\ovn-kubernetes\\pki",
    .rights =
        (const struct agent_right[]){
            {"nodes", "get,list,watch"}, {"pods", "list,watch"}, {"nodes/status", "patch"}, {0}},
    .group = "system:ovn-nodes",
    .user_prefix = "system:ovn-node:",
    .vni = VNI,
    .makes_network = true,
    .wait_seconds = 900, /* An administrator may have to approve the agent's certificate. */
    .network_name = NETWORK,
    .networks = (const char *const[]){"Base" NETWORK, NETWORK, NULL},
    .subnet_annotation = SUBNET,
    .subnet_giver = "ovnkube (hybrid overlay, with no-hostsubnet-nodes kubernetes.io/os=windows)",
    .nat_except_services = true,
    .source_vip_endpoint = "VIPEndpoint",
    .unique_host_names = true,
    .keeps_routes = true,
    .backends = (const struct agent_backend[]){{"overlay", BACKEND}, {0}},
    .restore = restore,
    .read_peer = read_peer,
};
