/* What a call asks of the network, held against what the cluster says of it. */
#include "join/found/need.h"
#include "tests/scene/cluster_network_scene.h"

/* Both sides are named, and what to do. */
#define VXLAN .sets = {CALICO}, .variables = {{"CALICO_NETWORKING_BACKEND", "vxlan"}}
#define VXLAN_SERVICES .sets = {CALICO}, .variables = {{"KUBERNETES_SERVICE_CIDRS", "10.96.0.0/12"}}
#define ANTREA_PODS(on)                                                                            \
    .sets = {ANTREA},                                                                              \
    .others = {{CONF, ""},                                                                         \
               {CONTROLLER, "nodeIPAM: {enableNodeIPAM: " on ", clusterCIDRs: [10.50.0.0/16]}"}}
#define VXLAN_POOL .sets = {CALICO}, .variables = {{"CALICO_IPV4POOL_CIDR", "192.168.0.0/16"}}
static const struct {
    struct cluster cluster;
    struct join_options options;
    const char *pods, *says, *hint;
} fit_rows[] = {
#define T(text) (char *)(text)
#define ONE(text)                                                                                  \
    { .items = (char *[]){T(text)}, .count = 1 }
    {{VXLAN}, {.network_plugin = T("external")}, NULL, NULL, NULL},
    {{VXLAN},
     {.network_plugin = T("flannel")},
     NULL,
     "network plugin 'flannel' does not fit: DaemonSet " CALICO
     " makes the pod network of Windows nodes (Calico)",
     "use --network-plugin external, or delete that DaemonSet first"},
    {{VXLAN},
     {.network_mode = T("l2bridge")},
     NULL,
     "network mode 'l2bridge' does not fit: the cluster's Calico uses vxlan, which is mode "
     "'overlay'",
     "leave --network-mode out: winjoin reads it from DaemonSet " CALICO},
    {{VXLAN}, {.network_mode = T("Overlay"), .vni = 4096, .vxlan_port = 4789}, NULL, NULL, NULL},
    {{VXLAN},
     {.vni = 4097},
     NULL,
     "--vni 4097 does not fit: the cluster's Calico uses 4096",
     "leave --vni out: winjoin reads it from DaemonSet " CALICO},
    {{VXLAN},
     {.vxlan_port = 8472},
     NULL,
     "--vxlan-port 8472 does not fit: the cluster's Calico uses 4789",
     "leave --vxlan-port out"},
    {{.sets = {CALICO}, .variables = {{"CALICO_NETWORKING_BACKEND", "ipip"}}},
     {0},
     NULL,
     "Calico's backend 'ipip' is not supported on Windows (vxlan and windows-bgp are)",
     "set CALICO_NETWORKING_BACKEND of DaemonSet " CALICO},
    {{.sets = {CALICO}, .variables = {{"VXLAN_VNI", "1"}}},
     {0},
     NULL,
     "Calico's VNI 1 is not supported on Windows: 4096 and above are",
     "set vxlanVNI of"},
    {{.sets = {CALICO}, .variables = {{"CNI_BIN_DIR", "/Program Files/containerd/cni/bin"}}},
     {0},
     NULL,
     "DaemonSet " CALICO " writes to '/Program Files/containerd/cni/bin', but this node's "
     "containerd reads 'C:\\opt\\cni\\bin'",
     "set CNI_BIN_DIR of the DaemonSet to C:\\opt\\cni\\bin"},
    {{.sets = {CALICO},
      .variables = {{"CNI_BIN_DIR", "/opt/cni/bin"}, {"CNI_CONF_DIR", "c:\\etc\\cni"}}},
     {0},
     NULL,
     "DaemonSet " CALICO " writes to 'c:\\etc\\cni', but this node's containerd reads "
     "'C:\\etc\\cni\\net.d'",
     "set CNI_CONF_DIR"},
    {{.sets = {ANTREA}, .map = ANTREA_MAP, .data = {{CONF, "antreaProxy: {proxyAll: false}"}}},
     {0},
     NULL,
     "the cluster's Antrea does not support Windows nodes: antreaProxy.proxyAll is off, and no "
     "kube-proxy for Windows works beside it",
     "set antreaProxy.proxyAll: true"},
    {{.sets = {ANTREA},
      .map = ANTREA_MAP,
      .data = {{CONF, "tunnelType: gre\nantreaProxy: {proxyAll: true}"}}},
     {0},
     NULL,
     "the cluster's Antrea does not support Windows nodes: its tunnelType is gre",
     "change it in antrea-agent.conf of the ConfigMaps"},
    {{.sets = {ANTREA, PROXY}},
     {0},
     NULL,
     "DaemonSet " PROXY " does not fit: the cluster's Antrea does kube-proxy's work on Windows "
     "nodes",
     "kubectl delete daemonset -n kube-system kube-proxy-windows"},
    {{.sets = {PROXY}, .net_conf = NET_CONF},
     {0},
     NULL,
     "kube-proxy as a service does not fit: DaemonSet " PROXY " runs it on Windows nodes",
     "use --kube-proxy none, or delete that DaemonSet first"},
    {{.sets = {PROXY}, .net_conf = NET_CONF}, {.kube_proxy = T("none")}, NULL, NULL, NULL},
    {{.net_conf = NET_CONF},
     {.network_mode = T("l2bridge")},
     NULL,
     "network mode 'l2bridge' does not fit: the cluster's flannel uses vxlan, which is mode "
     "'overlay'",
     "leave --network-mode out: winjoin reads it from ConfigMap kube-flannel/kube-flannel-cfg"},
    {{.net_conf = NET_CONF},
     {.pod_cidrs = ONE("10.245.1.0/24")},
     NULL,
     "--pod-cidr 10.245.1.0/24 does not fit: the cluster's flannel serves the pod prefix "
     "10.244.0.0/16",
     "choose a prefix inside of it, or leave --pod-cidr out"},
    {{.net_conf = NET_CONF},
     {.pod_cidrs = ONE("10.240.0.0/12")},
     NULL,
     "--pod-cidr 10.240.0.0/12 does not fit: the cluster's flannel serves the pod prefix "
     "10.244.0.0/16",
     "choose a prefix inside of it, or leave --pod-cidr out"},
    {{.net_conf = NET_CONF}, {.pod_cidrs = ONE("10.244.0.0/16")}, "10.240.0.0/12", NULL, NULL},
    {{.net_conf = NET_CONF}, {.pod_cidrs = ONE("10.244.1.0/24")}, "fd00::/48", NULL, NULL},
    {{.net_conf = NET_CONF},
     {0},
     "192.168.0.0/16",
     "podSubnet 192.168.0.0/16 does not fit: the cluster's flannel serves the pod prefix "
     "10.244.0.0/16",
     "make Network of ConfigMap kube-flannel/kube-flannel-cfg and podSubnet of kubeadm-config "
     "the same"},
    /* other plugins than the flannel of a ConfigMap: packets between nodes must travel as its own
     */
    {{.net_conf = NET_CONF},
     {.network_plugin = T("win-bridge")},
     NULL,
     "network plugin 'win-bridge' in mode 'l2bridge' does not fit: the cluster's flannel uses "
     "vxlan, which is mode 'overlay'",
     "use --network-plugin flannel and leave --network-mode out"},
    {{.net_conf = NET_CONF},
     {.network_plugin = T("external"), .network_mode = T("transparent")},
     NULL,
     "network plugin 'external' in mode 'transparent' does not fit: the cluster's flannel uses "
     "vxlan, which is mode 'overlay'",
     "use --network-plugin flannel"},
    {{.net_conf = HOST_GW},
     {.network_plugin = T("win-overlay")},
     NULL,
     "network plugin 'win-overlay' in mode 'overlay' does not fit: the cluster's flannel uses "
     "host-gw, which is mode 'l2bridge'",
     "use --network-plugin flannel"},
    {{.net_conf = NET_CONF},
     {.network_plugin = T("ovn-kubernetes")},
     NULL,
     "network plugin 'ovn-kubernetes' does not fit: ConfigMap kube-flannel/kube-flannel-cfg says "
     "that the cluster runs flannel",
     "use --network-plugin flannel, or delete that ConfigMap if the cluster no longer runs "
     "flannel"},
    {{.net_conf = HOST_GW},
     {.network_plugin = T("azure-vnet")},
     NULL,
     "network plugin 'azure-vnet' does not fit: ConfigMap kube-flannel/kube-flannel-cfg says that "
     "the cluster runs flannel",
     "use --network-plugin flannel"},
    {{.net_conf = NET_CONF},
     {.network_plugin = T("win-overlay"), .vni = 5000},
     NULL,
     "--vni 5000 does not fit: the cluster's flannel uses 4096",
     "leave --vni out: winjoin reads it from ConfigMap kube-flannel/kube-flannel-cfg"},
    {{.net_conf = NET_CONF},
     {.network_plugin = T("sdnoverlay"), .vxlan_port = 8472},
     NULL,
     "--vxlan-port 8472 does not fit: the cluster's flannel uses 4789",
     "leave --vxlan-port out"},
    {{.net_conf = NET_CONF},
     {.network_plugin = T("win-overlay"), .pod_cidrs = ONE("10.245.1.0/24")},
     NULL,
     "--pod-cidr 10.245.1.0/24 does not fit: the cluster's flannel serves the pod prefix "
     "10.244.0.0/16",
     "choose a prefix inside of it"},
    {{.net_conf = "{\"Backend\": {\"Type\": \"vxlan\"}}"},
     {.network_plugin = T("win-overlay")},
     NULL,
     "the cluster's flannel does not support Windows nodes: its VNI is 1",
     "set \"Backend\""},
    {{.net_conf = NET_CONF}, {.network_plugin = T("win-overlay")}, NULL, NULL, NULL},
    {{.net_conf = NET_CONF}, {.network_plugin = T("external")}, NULL, NULL, NULL},
    {{.net_conf = HOST_GW},
     {.network_plugin = T("win-bridge"), .network_mode = T("l2tunnel")},
     NULL,
     NULL,
     NULL},
    {{.net_conf = "{\"Backend\": {\"Type\": \"alloc\"}}"},
     {.network_plugin = T("win-bridge")},
     NULL,
     NULL,
     NULL},
    {{.net_conf = NET_CONF},
     {.network_plugin = T("nat"), .pod_cidrs = ONE("10.245.1.0/24")},
     NULL,
     NULL,
     NULL},
    /* the Node's own prefix, of the control plane */
    {{.net_conf = NET_CONF, .node_pods = "10.244.0.0/15"}, /* a part of it is served */
     {0},
     "10.0.0.0/8",
     "the Node's podCIDR 10.244.0.0/15 does not fit: the cluster's flannel serves the pod prefix "
     "10.244.0.0/16",
     "make Network of ConfigMap kube-flannel/kube-flannel-cfg and podSubnet of kubeadm-config"},
    {{.net_conf = NET_CONF, .node_pods = "10.244.9.0/24"}, {0}, "10.0.0.0/8", NULL, NULL},
    /* Calico gives out prefixes of its own pools, whatever the control plane assigns */
    {{VXLAN_POOL},
     {.pod_cidrs = ONE("10.245.1.0/24")},
     NULL,
     "--pod-cidr 10.245.1.0/24 does not fit: the cluster's Calico serves the pod prefix "
     "192.168.0.0/16",
     "choose a prefix inside of it, or leave --pod-cidr out"},
    {{VXLAN_POOL}, {.pod_cidrs = ONE("192.168.4.0/26")}, NULL, NULL, NULL},
    {{VXLAN_POOL, .node_pods = "10.244.9.0/24"}, {0}, "10.244.0.0/16", NULL, NULL},
    {{.sets = {CALICO}, .loose = true},
     {0},
     NULL,
     "Calico's strict affinity is off (IPAMConfig default): it gives Windows nodes no addresses",
     "kubectl patch ipamconfig default --type merge"},
    {{.sets = {CALICO}, .unset = true},
     {0},
     NULL,
     "Calico's strict affinity is off (IPAMConfig default): it gives Windows nodes no addresses",
     "kubectl patch ipamconfig default --type merge"},
    {{.sets = {CALICO}, .unset = true, .refused = "/ipamconfigs/"}, {0}, NULL, NULL, NULL},
    {{.sets = {CALICO}, .unset = true, .variables = {{"CNI_IPAM_TYPE", "host-local"}}},
     {0},
     NULL,
     NULL,
     NULL},
    {{.sets = {"kube-system/antrea-agent"}},
     {0},
     NULL,
     "the cluster's pods use Antrea (DaemonSet kube-system/antrea-agent), whose part for Windows "
     "nodes is not installed",
     "install Antrea's part for Windows first: kubectl apply -f antrea-windows.yml"},
    {{.sets = {"kube-system/antrea-agent"}}, {.network_mode = T("overlay")}, NULL, NULL, NULL},
    {{.sets = {"kube-system/cilium"}}, {.network_plugin = T("win-overlay")}, NULL, NULL, NULL},
    {{.sets = {CALICO}, .variables = {{"CNI_BIN_DIR", "/host/opt/cni/bin"}}},
     {0},
     NULL,
     NULL,
     NULL},
    {{.sets = {CNS}},
     {.network_plugin = T("win-bridge")},
     NULL,
     "network plugin 'win-bridge' does not fit: DaemonSet " CNS " makes the pod network of "
     "Windows nodes (azure-cns)",
     "use --network-plugin azure-cns, or delete that DaemonSet first"},
    {{.sets = {CNS}}, {.network_mode = T("l2tunnel")}, NULL, NULL, NULL},
    /* the prefixes of Services that Calico has from its operator */
    {{VXLAN_SERVICES, .services = "10.112.0.0/12"},
     {0},
     NULL,
     "serviceSubnet 10.112.0.0/12 does not fit: the cluster's Calico serves the service prefix "
     "10.96.0.0/12",
     "make serviceSubnet of kubeadm-config the same as Calico's Installation"},
    {{VXLAN_SERVICES, .services = "10.96.0.0/12"},
     {.service_cidrs = ONE("10.112.0.0/16")},
     NULL,
     "network.serviceCIDRs 10.112.0.0/16 does not fit: the cluster's Calico serves the service "
     "prefix 10.96.0.0/12",
     "leave network.serviceCIDRs out, or correct Calico's Installation"},
    {{VXLAN_SERVICES, .services = "10.64.0.0/10"}, /* a part of it is served */
     {0},
     NULL,
     "serviceSubnet 10.64.0.0/10 does not fit: the cluster's Calico serves the service prefix "
     "10.96.0.0/12",
     "make serviceSubnet of kubeadm-config the same as Calico's Installation"},
    {{VXLAN_SERVICES, .services = "10.96.0.0/12"}, {0}, NULL, NULL, NULL},
    {{VXLAN_SERVICES, .services = "fd00:96::/112"}, {0}, NULL, NULL, NULL},
    {{VXLAN_SERVICES, .services = "10.0.0.0/8"},
     {.service_cidrs = ONE("10.100.0.0/16")},
     NULL,
     NULL,
     NULL},
    /* Antrea's controller gives Nodes their prefixes where that is on */
    {{ANTREA_PODS("true"), .node_pods = "10.244.9.0/24"},
     {0},
     NULL,
     "the Node's podCIDR 10.244.9.0/24 does not fit: the cluster's Antrea serves the pod prefix "
     "10.50.0.0/16",
     "make podSubnet of kubeadm-config the same as antrea-controller.conf"},
    {{ANTREA_PODS("true")},
     {.pod_cidrs = ONE("10.244.9.0/24")},
     NULL,
     "--pod-cidr 10.244.9.0/24 does not fit: the cluster's Antrea serves the pod prefix "
     "10.50.0.0/16",
     "choose a prefix inside of it"},
    {{ANTREA_PODS("true"), .node_pods = "10.50.9.0/24"}, {0}, "10.50.0.0/16", NULL, NULL},
    {{ANTREA_PODS("false"), .node_pods = "10.244.9.0/24"}, {0}, "10.244.0.0/16", NULL, NULL},
    {{ANTREA_PODS("true")},
     {0},
     "10.244.0.0/16",
     "podSubnet 10.244.0.0/16 does not fit: the cluster's Antrea serves the pod prefix "
     "10.50.0.0/16",
     "make podSubnet of kubeadm-config the same as"},
    /* nodes of both systems travel alike */
    {{.sets = {ANTREA},
      .map = ANTREA_MAP,
      .data = {{CONF, "antreaProxy: {proxyAll: true}"}},
      .others = {{CONF, "trafficEncapMode: noEncap"}}},
     {0},
     NULL,
     "trafficEncapMode of Antrea is encap on Windows nodes (ConfigMap antrea-windows-config) and "
     "noEncap on the others (antrea-config): they do not reach each other's pods",
     "make both the same in antrea-agent.conf"},
    {{.sets = {ANTREA},
      .map = ANTREA_MAP,
      .data = {{CONF, "tunnelType: vxlan\nantreaProxy: {proxyAll: true}"}},
      .others = {{CONF, "tunnelType: \"\""}}},
     {0},
     NULL,
     "tunnelType of Antrea is vxlan on Windows nodes (ConfigMap antrea-windows-config) and geneve "
     "on the others (antrea-config): they do not reach each other's pods",
     "make both the same"},
    {{.sets = {ANTREA},
      .map = ANTREA_MAP,
      .data = {{CONF, "trafficEncapMode: noEncap\nantreaProxy: {proxyAll: true}"}},
      .others = {{CONF, "trafficEncapMode: NoEncap\ntunnelType: geneve"}}},
     {0},
     NULL,
     NULL,
     NULL},
    /* the operator mounts the host's folders; its variables name those of the container */
    {{.sets = {CALICO},
      .variables = {{"CNI_BIN_DIR", "/host/opt/cni/bin"}},
      .cni_bin = "/opt/cni/bin"},
     {0},
     NULL,
     NULL,
     NULL},
    {{.sets = {CALICO},
      .variables = {{"CNI_BIN_DIR", "/host/opt/cni/bin"}},
      .cni_bin = "/k/azurecni/bin"},
     {0},
     NULL,
     "DaemonSet " CALICO " writes to '/k/azurecni/bin', but this node's containerd reads "
     "'C:\\opt\\cni\\bin'",
     "set cni-bin-dir of the DaemonSet"},
};

static void what_does_not_fit_is_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(fit_rows); i++) {
        const struct join_options *o = &fit_rows[i].options;
        struct network_input input = {.plugin = o->network_plugin,
                                      .mode = o->network_mode,
                                      .pod_cidr = fit_rows[i].cluster.node_pods};
        struct scene s;
        int result;
        open_scene(&s, &fit_rows[i].cluster);
        assert_int_equal(read_network(&s), 0);
        if (!input.plugin && s.config.network.agent)
            input.plugin = s.config.network.agent->plugin;
        if (fit_rows[i].pods)
            text_list_add(&s.config.pod_subnets, fit_rows[i].pods);
        if (fit_rows[i].cluster.services)
            text_list_add(&s.config.service_subnets, fit_rows[i].cluster.services);
        result = network_fit_check(&s.config, o, &input, false, &s.err);
        if (fit_rows[i].says) {
            assert_int_equal(result, -1);
            assert_string_equal(s.err.message, fit_rows[i].says);
            assert_true(text_starts_with(s.err.hints[0], fit_rows[i].hint));
        } else {
            assert_int_equal(result, 0);
        }
        close_scene(&s);
    }
}

/* A node that joined otherwise keeps its network; two agents or kube-proxies it cannot have. */
static void a_joined_node_keeps_its_plugin(void **state) {
    static const struct {
        struct cluster cluster;
        const char *says;
    } rows[] = {{{.net_conf = NET_CONF}, NULL},
                {{VXLAN}, "network plugin 'win-bridge' does not fit: DaemonSet "},
                {{.sets = {PROXY}, .net_conf = NET_CONF}, "kube-proxy as a service does not fit"}};
    struct join_options options = {0};
    struct network_input input = {.plugin = "win-bridge"};
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct scene s;
        open_scene(&s, &rows[i].cluster);
        assert_int_equal(read_network(&s), 0);
        assert_int_equal(network_fit_check(&s.config, &options, &input, true, &s.err),
                         rows[i].says ? -1 : 0);
        if (rows[i].says)
            assert_true(text_starts_with(s.err.message, rows[i].says));
        close_scene(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(a_joined_node_keeps_its_plugin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
