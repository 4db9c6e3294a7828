/* The decision table of causes. judge.c decides which rows win. */
#include "diag/causes/cause_rows.h"

#define PROXY_HINT                                                                                 \
    "sc.exe stop kube-proxy, then sc.exe start kube-proxy; winjoin logs kube-proxy shows more"
#define NETWORK_HINT                                                                               \
    "winjoin join phase pod-network makes the network and the CNI configuration again"

#define ENDPOINT_HINT                                                                              \
    "delete the pod; if it happens again, look for a program that removes endpoints, then: "       \
    "powershell Restart-Service hns -Force"
#define LOSS_HINT                                                                                  \
    "run winjoin diag again; check the network adapters' and switches' error counters, drivers "   \
    "and load: powershell Get-NetAdapterStatistics"
#define NEW_CERTIFICATE                                                                            \
    "print a join command on the control plane (kubeadm token create --print-join-command) and "   \
    "run it here with winjoin: it gets a new certificate"

#define SERVICE_DOWN(breaks, may, look, service)                                                   \
    {                                                                                              \
        {"SVC-DOWN", breaks, "a service that the node needs is not running, or keeps ending",      \
         "winjoin logs SERVICE shows why; then: sc.exe start SERVICE",                             \
         "kubernetes/kubernetes#123173"},                                                          \
            0, may, look, FIRST_LOOK, service                                                      \
    }

#define NO_ENDPOINT(must, may, pod)                                                                \
    {                                                                                              \
        {"HNS-EP", "every flow of one pod", "the pod's HNS endpoint is missing or not attached",   \
         ENDPOINT_HINT, NULL},                                                                     \
            must, may, judge_hns_ep, MEASURED, pod                                                 \
    }

#define NO_ROUTE(breaks, must, may, look)                                                          \
    {                                                                                              \
        {"L2-ROUTE", breaks, "packets for other nodes' pods, or their answers, have no route",     \
         "add the missing routes on this node, on the other nodes, or in the network (cloud "      \
         "route table); in a cloud, let the node send for other addresses (no source check)",      \
         NULL},                                                                                    \
            must, may, look, MEASURED, NULL                                                        \
    }

#define CHANGED(breaks, of, what)                                                                  \
    {                                                                                              \
        {"NODE-CHANGED", breaks, "what winjoin wrote on this node has been changed since",         \
         "winjoin status names each change and the command that undoes it", NULL},                 \
            0, CELLS_ALL, judge_changed, of, what                                                  \
    }

#define ROW_ABOUT(what, id, breaks, message, hint, source, must, may, look, of)                    \
    { {id, breaks, message, hint, source}, must, may, look, of, what }
#define ROW(...) ROW_ABOUT(NULL, __VA_ARGS__)

/* The rows of the table, the widest cause first. */
const struct row diag_rows[] = {
    ROW("CERT-EXPIRED", "nothing at once; the kubelet at its next start",
        "the node's client certificate has expired", NEW_CERTIFICATE, NULL, 0, 0,
        judge_cert_expired, FIRST_LOOK),
    SERVICE_DOWN("every flow", CELLS_ALL, judge_service, "hns"),
    SERVICE_DOWN("every flow", CELLS_ALL, judge_service, "containerd"),
    SERVICE_DOWN("every flow", CELLS_ALL, judge_service, "kubelet"),
    SERVICE_DOWN("new nodes and their pods", 0, judge_service, "flanneld"),
    SERVICE_DOWN("new Services and their changes", 0, judge_service, "kube-proxy"),
    SERVICE_DOWN("new pods", CELLS_ALL, judge_hung, "containerd"),
    SERVICE_DOWN("new pods", CELLS_ALL, judge_hung, "kubelet"),
    ROW("API-DOWN", "from pods to the Service kubernetes",
        "this node does not reach the API server",
        "check that the API server runs and that no firewall is in between", NULL, 0,
        CELL_TCP(SVC_IP) | CELL_TCP(SVC_FQDN), judge_api_down, FIRST_LOOK),
    ROW("API-REFUSED", "nothing at once; the kubelet's reports to the API server",
        "the API server refuses this node, or is not trusted", NEW_CERTIFICATE, NULL, 0, 0,
        judge_api_refused, FIRST_LOOK),
    ROW("NODE-GONE", "from pods to other nodes' pods and to the API server, and back",
        "the cluster has no Node object of this node: other nodes have no route to its pods",
        "sc.exe stop kubelet, then sc.exe start kubelet: it registers the node again; then the "
        "same with flanneld, where that runs; if the node gets another pod prefix: winjoin join "
        "phase pod-network, then winjoin join phase kube-proxy",
        NULL, 0, CELLS_DNS | CELL_TCP(SVC_IP), judge_node_gone, FIRST_LOOK),
    ROW("CLOCK-OFF", "nothing at once; certificates and tokens",
        "this node's clock differs from the API server's",
        "w32tm.exe /resync; w32tm.exe /query /status shows where the time comes from", NULL, 0, 0,
        judge_clock_off, FIRST_LOOK),
    ROW("PROXY-TWO", "Services",
        "two kube-proxies program HNS on this node, and undo each other's work",
        "keep the DaemonSet's kube-proxy away from this node (a nodeSelector or a taint), or stop "
        "the service: sc.exe stop kube-proxy",
        "projectcalico/calico, antrea-io/antrea: Windows DaemonSets bring kube-proxy", 0,
        CELL_BOTH(SVC_IP) | CELL_BOTH(SVC_SHORT) | CELL_BOTH(SVC_FQDN), judge_proxy_two,
        FIRST_LOOK),
    ROW_ABOUT(
        "orphan", "HNS-ORPHAN", "Services whose port is held",
        "a load balancer that no Service owns holds the port of one that is missing",
        "sc.exe stop kube-proxy; in PowerShell: Get-HnsPolicyList, Remove-HnsPolicyList for that "
        "one; sc.exe start kube-proxy",
        "kubernetes/kubernetes#137530", 0, 0, judge_svc_lost, FIRST_LOOK),
    ROW("SVC-LOST", "Services",
        "HNS has lost load balancers, and kube-proxy does not make them again",
        "sc.exe stop kube-proxy, then sc.exe start kube-proxy: it makes all of them again",
        "kubernetes/kubernetes#135802, microsoft/Windows-Containers#278", 0, 0, judge_svc_lost,
        FIRST_LOOK),
    ROW("POD-NOEP", "every flow of those pods",
        "pods have no endpoint: their sandboxes were made before the network was, or HNS lost them",
        "delete these pods; their new sandboxes get an endpoint", "tigera/operator#3193", 0, 0,
        judge_pod_noep, FIRST_LOOK),
    ROW("ROUTE-STALE", "to the pods of one node, or some of them",
        "a route to a node that is gone catches what is for pods of another node",
        "route.exe delete PREFIX; a route of the HNS network goes with it: winjoin reset, then "
        "join "
        "again",
        "flannel-io/flannel#2554, #1604", 0, 0, judge_route_stale, FIRST_LOOK),
    ROW("MTU-NODES", "large packets to other nodes' pods",
        "small packets reach pods on other nodes, large ones are lost on the way",
        "set the MTU of the pod network (CNI, flannel) on all nodes below that of the network "
        "between them, with VXLAN by 50 or more; or raise that one",
        "kubernetes/kubernetes#83739, kubernetes-sigs/cluster-api-provider-azure#1335", 0, 0,
        judge_mtu_nodes, FIRST_LOOK),
    ROW("POD-IMG", "every flow", "the image of the probe pods is not available on this node",
        "check that the sandbox image named in containerd's configuration is on the node: crictl "
        "images",
        NULL, 0, CELLS_ALL, judge_pod_img, STOPS_PODS),
    ROW("HNS-HUNG", "every flow of new pods", "HNS does not answer",
        "powershell Restart-Service hns -Force, which starts what depends on it again, too; if it "
        "does not end, restart Windows",
        "Azure/AgentBaker: networkhealth.ps1", 0, CELLS_ALL, judge_hns_hung, STOPS_PODS),
    ROW("HNS-NET", "every flow", "the HNS network of the pods is missing or has the wrong type",
        NETWORK_HINT, NULL, CELLS_ALL, CELLS_ALL, judge_hns_net, STOPS_PODS),
    ROW("HNS-EP", "every flow of one pod",
        "a pod runs without an address: its HNS endpoint is missing", ENDPOINT_HINT, NULL, 0,
        CELLS_ALL, judge_hns_ep_none, STOPS_PODS),
    ROW("HNS-LEFT", "every flow of new pods",
        "the node's addresses are used up, some by pods that are gone",
        "winjoin status names what is left over, with the commands that remove it; then restart "
        "containerd and the kubelet",
        "rancher/rancher#26320, containerd/containerd#6181", 0, CELLS_ALL, judge_hns_left,
        STOPS_PODS),
    ROW("HNS-EPSTALE", "every flow of new pods",
        "endpoints of pods of other nodes have the addresses that new pods get",
        "sc.exe stop kube-proxy, then sc.exe start kube-proxy; remove what is left: powershell "
        "-Command \"Get-HnsEndpoint -Id ID | Remove-HnsEndpoint\"",
        "kubernetes/kubernetes#130963", 0, CELLS_ALL, judge_hns_epstale_new, STOPS_PODS),
    CHANGED("every flow", RED_CELLS, "pods"),
    ROW("POD-SBX", "every flow", "the probe pods do not start: their sandbox cannot be created",
        "search the kubelet's log for FailedCreatePodSandBox; the error of CNI and HNS follows it",
        "containerd/containerd#10347", 0, CELLS_ALL, judge_pod_sbx, STOPS_PODS),
    ROW("NOTREADY", "every flow", "the node is not Ready, so its pods cannot be tested",
        "fix what the Ready condition reports, then run winjoin diag again", NULL,
        CELLS_FROM_POD & ~CELL_BOTH(POD_NODE), CELLS_ALL, judge_notready, STOPS_PODS),
    ROW("HNS-MGMT", "from pods to other nodes and outside",
        "the HNS network was made with an address that is not the node's",
        "winjoin join phase pod-network makes the network again; then check the kubelet's "
        "--node-ip",
        "rancher/rke2#3533", CELL_BOTH(EXT_IP) | CELL_UDP(SVC_IP),
        CELLS_FROM_POD & ~CELL_BOTH(POD_IP), judge_hns_mgmt, MEASURED),
    ROW("HNS-CIDR", "from pods to other nodes and to Services",
        "the HNS network has another prefix than the Node: the Node object was made again",
        "winjoin join phase pod-network, then winjoin join phase kube-proxy; restart the pods",
        NULL, CELL_UDP(SVC_IP), CELLS_FROM_POD & ~CELL_BOTH(POD_IP), judge_hns_cidr, RED_CELLS),
    ROW("NIC-WRONG", "from pods to other nodes",
        "the pods' network is on another network adapter than the node's address",
        "winjoin reset, then join with --adapter or --node-ip so that both are the same adapter's",
        "rancher/rke2#3533", CELLS_DNS, CELLS_FROM_POD & ~CELL_BOTH(POD_IP), judge_nic_wrong,
        MEASURED),
    ROW("NODE-TWICE", "from pods to other nodes' pods, and back",
        "two Node objects have the same address: other nodes send to the wrong pods",
        "kubectl delete node NAME, of the one that is left over (a host name in other letters, or "
        "cut to 15), then restart the network agent",
        "kubernetes/kubernetes#106640, kubernetes/cloud-provider-vsphere#484", CELLS_DNS, CELLS_DNS,
        judge_node_twice, MEASURED),
    ROW("NODE-CIDR", "from pods to other nodes' pods, and back",
        "two Node objects have the same pod prefix: the network sends to one of them",
        "kubectl delete node NAME, of the one that is left over; or join one of them again: a new "
        "Node gets another prefix",
        NULL, CELLS_DNS, CELLS_DNS, judge_node_cidr, MEASURED),
    ROW("PEER-DOWN", "from pods to that node's pods", "the node of the DNS pods is not Ready",
        "kubectl describe node NAME; start that node, or delete its pods so that they run "
        "elsewhere",
        NULL, CELL_UDP(SVC_IP), CELLS_DNS, judge_peer_down, MEASURED),
    NO_ENDPOINT(CELLS_FROM_POD, CELLS_ALL, "a"),
    NO_ENDPOINT(CELL_BOTH(POD_IP) | CELL_BOTH(NODE_POD),
                CELL_BOTH(POD_IP) | CELL_BOTH(POD_NAME) | CELL_BOTH(NODE_POD), "b"),
    ROW("CNI-POLICY", "the traffic that the rule blocks",
        "an HNS ACL policy blocks packets of the pods",
        "winjoin sets none, but network policy agents do: check the NetworkPolicies of the "
        "namespace and the agent's log; deleting the pod makes a new endpoint",
        "microsoft/Windows-Containers#616", 0, CELLS_ALL, judge_cni_policy, MEASURED),
    ROW("HNS-EPSTALE", "flows of a pod whose address another endpoint has",
        "two endpoints have the same address",
        "delete the stale endpoint (winjoin status names those of pods that are gone, with the "
        "command; or in PowerShell: Get-HnsEndpoint, Remove-HnsEndpoint), then restart kube-proxy",
        "kubernetes/kubernetes#135170, microsoft/Windows-Containers#631", 0,
        CELL_BOTH(POD_IP) | CELL_BOTH(POD_NAME) | CELL_BOTH(NODE_POD), judge_hns_epstale, MEASURED),
    ROW("POD-GW", "from pods to everything but each other",
        "the pods' endpoints have another gateway than their network",
        "winjoin join phase pod-network writes the CNI configuration again; new pods get its "
        "gateway",
        NULL, CELL_UDP(SVC_IP), CELLS_ALL & ~CELL_BOTH(POD_IP), judge_pod_gw, MEASURED),
    ROW("MTU", "large packets", "small packets arrive, large ones are lost",
        "set the MTU of the pod network (CNI, flannel) below that of the underlying network", NULL,
        0, CELL_BOTH(POD_IP) | CELL_BOTH(NODE_POD), judge_mtu, MEASURED),
    ROW("FLANNEL-TYPE", "from pods to other nodes' pods",
        "a node announces another backend than this node's network has",
        "set the same Type in flannel's net-conf.json for all nodes and restart flannel on them",
        "flannel-io/flannel: Documentation/backends.md", CELLS_DNS, CELLS_DNS, judge_flannel_type,
        MEASURED),
    ROW("FLANNEL-NODE", "from pods to other nodes' pods, and back",
        "flannel does not announce this node, so other nodes have no route to its pods",
        "sc.exe stop flanneld, then sc.exe start flanneld: it writes the Node's annotations again; "
        "winjoin logs flanneld shows why it does not",
        NULL, CELLS_DNS, CELLS_DNS, judge_flannel_node, MEASURED),
    ROW("OVL-MAC", "from pods to other nodes' pods",
        "two nodes' overlay networks have the same MAC address",
        "on a cloned Linux node give /etc/machine-id a new value, then: ip link delete flannel.1, "
        "and restart flannel",
        NULL, CELLS_DNS, CELLS_DNS, judge_ovl_mac, MEASURED),
    ROW("OVL-VNI", "from pods to other nodes' pods", "the nodes do not use the same VNI",
        "set VNI 4096 and Port 4789 in flannel's net-conf.json for all nodes and restart flannel",
        "flannel-io/flannel: Documentation/backends.md", CELLS_DNS, CELLS_DNS | CELL_TCP(SVC_SHORT),
        judge_ovl_vni, MEASURED),
    ROW("OVL-PEER", "from pods to other nodes' pods",
        "the network has no correct route to another node's pods",
        "check the node annotations flannel.alpha.coreos.com/*, then restart flanneld on both "
        "nodes; without an agent: winjoin join phase pod-network",
        NULL, CELLS_DNS, CELLS_DNS, judge_ovl_peer, MEASURED),
    ROW("NAT-EXC", "from pods to other nodes' pods",
        "packets to the cluster's own prefixes are translated (NAT) to the node's address",
        "winjoin join phase pod-network writes the CNI configuration again; new pods get the "
        "exceptions",
        NULL, CELLS_DNS, CELLS_DNS, judge_nat_pods, MEASURED),
    ROW("L2-FWD", "from pods to anything outside the node", "the node does not forward packets",
        "winjoin join phase pod-network turns forwarding on again", NULL,
        CELL_UDP(SVC_IP) | CELL_BOTH(EXT_IP), CELLS_FROM_POD & ~CELL_BOTH(POD_IP), judge_forwarding,
        MEASURED),
    ROW("SVC-ALL", "from pods to Services", "no Service is programmed on this node", PROXY_HINT,
        "microsoft/Windows-Containers#278", CELL_BOTH(SVC_IP), CELL_BOTH(SVC_IP) | CELLS_NAMES,
        judge_svc_all, MEASURED),
    ROW("SVC-VIP", "from pods to Services with backends on other nodes",
        "the load balancers' source address is missing, wrong or from an old subnet",
        "winjoin join phase kube-proxy writes its configuration again; then powershell "
        "Restart-Service kube-proxy, which makes the address's endpoint and all load balancers "
        "again",
        "kubernetes/kubernetes#100962, #123014", CELL_UDP(SVC_IP), CELLS_DNS, judge_svc_vip,
        MEASURED),
    ROW("DNS-LB", "names", "the DNS Service is not programmed for UDP or TCP 53",
        "powershell Restart-Service kube-proxy", NULL, CELL_UDP(SVC_IP), CELLS_DNS, judge_dns_lb,
        MEASURED),
    ROW("SVC-LB", "one Service", "the Service kubernetes is not programmed on this node",
        PROXY_HINT, NULL, CELL_TCP(SVC_IP), CELL_TCP(SVC_IP) | CELL_TCP(SVC_FQDN), judge_svc_lb,
        MEASURED),
    ROW("SVC-ROUTE", "from pods to Services",
        "the pods' endpoints do not pass packets for cluster IPs to the load balancers",
        "winjoin join phase pod-network writes the CNI configuration again; new pods get the "
        "policy",
        NULL, CELL_BOTH(SVC_IP), CELL_BOTH(SVC_IP) | CELLS_NAMES, judge_svc_route, MEASURED),
    ROW("SVC-PORT", "one Service",
        "a load balancer sends to a port that the Service's pods do not have", PROXY_HINT, NULL, 0,
        CELLS_DNS | CELL_TCP(SVC_IP), judge_svc_port, MEASURED),
    ROW("SVC-STALE", "some or all requests to a Service",
        "a load balancer sends to others than its Service's pods",
        "sc.exe stop kube-proxy, then sc.exe start kube-proxy; what is left: winjoin status lists "
        "it with the commands",
        "kubernetes/kubernetes#135170", 0, CELLS_DNS | CELL_TCP(SVC_IP), judge_svc_stale, MEASURED),
    ROW("DNS-FAIL", "names", "the cluster's DNS answers with an error",
        "kubectl -n kube-system logs -l k8s-app=kube-dns shows why: mostly it does not reach the "
        "API server",
        NULL, CELL_UDP(SVC_IP), CELLS_DNS, judge_dns_fail, MEASURED),
    ROW("LATENCY", "names, and whatever takes several packets",
        "packets to other machines take very long",
        "look at the load of the network between the nodes, and of this node's adapter: powershell "
        "Get-NetAdapterStatistics",
        NULL, 0, CELLS_FROM_POD & ~CELL_BOTH(POD_IP), judge_latency, FIRST_LOOK),
    ROW("LOSS", "some packets", "some packets are lost on the way", LOSS_HINT, NULL, 0,
        CELLS_ALL / 3, judge_tcp_loss, FIRST_LOOK),
    ROW("DNS-SLOW", "names that take several questions", "the cluster's DNS answers slowly",
        "kubectl -n kube-system top pods -l k8s-app=kube-dns: more replicas or CPU; and look at "
        "the servers of the forward line in the CoreDNS configuration",
        "Azure/AKS#1375", 0, CELLS_NAMES, judge_dns_slow, MEASURED),
    ROW("TCP-LOST", "TCP from pods to other nodes' pods", "pods on other nodes get UDP, and no TCP",
        "look for a firewall or policy between the nodes, or on the DNS pods' node, that lets UDP "
        "pass only",
        NULL, CELL_TCP(SVC_SHORT), CELL_TCP(SVC_SHORT), judge_tcp_lost, MEASURED),
    ROW("UDP-LOST", "UDP from pods", "UDP from pods is lost, TCP is not",
        "look for a firewall or policy on this node, or between it and the others, that lets TCP "
        "pass only",
        NULL, CELLS_DNS, CELLS_DNS, judge_udp_lost, MEASURED),
    ROW("DNS-PROTO", "names", "the DNS Service answers over one of UDP and TCP alone",
        "allow UDP 53 and TCP 53 to the DNS pods in NetworkPolicies and firewalls, between the "
        "nodes, too; see that CoreDNS listens on both",
        "Azure/AKS#1375", 0, CELLS_DNS, judge_dns_proto, MEASURED),
    ROW("DNS-ZONE", "names", "the cluster's DNS does not know the cluster's own zone",
        "compare clusterDomain in the kubelet's configuration with the kubernetes line in the "
        "CoreDNS configuration",
        NULL, CELL_UDP(SVC_IP), CELLS_DNS, judge_dns_zone, MEASURED),
    ROW("DNS-NONE", "names, and from pods to the DNS Service",
        "the cluster has no Service with the address that pods ask for names",
        "on the control plane: kubeadm init phase addon coredns makes the Service kube-dns again; "
        "if its address is another one (kubectl -n kube-system get service kube-dns), set "
        "clusterDNS in the ConfigMap kubelet-config to it, then run: winjoin join phase files",
        NULL, CELL_UDP(SVC_IP), CELLS_DNS, judge_dns_none, MEASURED),
    ROW("SVC-HALF", "some requests to a Service",
        "some of the pods or servers behind a Service do not answer",
        "kubectl get endpointslices -A shows who is behind it: look at those that do not answer",
        NULL, 0, CELLS_DNS | CELL_TCP(SVC_IP), judge_svc_half, MEASURED),
    ROW("SVC-EP0", "from pods to the DNS Service", "no pod behind the DNS Service answers",
        "kubectl -n kube-system get pods -l k8s-app=kube-dns; if they run: kubectl get "
        "networkpolicy -A",
        NULL, CELLS_DNS, CELLS_DNS, judge_svc_ep0, MEASURED),
    ROW("SVC-EP0", "from pods to the Service kubernetes",
        "the Service kubernetes has no API server behind it",
        "kubectl get endpointslices -n default: kube-apiserver writes its own address there; look "
        "at its log",
        NULL, CELL_TCP(SVC_IP), CELL_TCP(SVC_IP) | CELL_TCP(SVC_FQDN), judge_svc_ep0_api, MEASURED),
    ROW("POD-GW", "from pods to everything but each other",
        "nothing arrives that pods send past their gateway",
        "compare the gateway with that of a healthy node, and look for a firewall of this node "
        "that "
        "drops what pods send: winjoin diag --capture shows who does",
        NULL, CELL_BOTH(SVC_IP) | CELL_BOTH(EXT_IP), CELLS_FROM_POD, judge_pod_gw_silent, MEASURED),
    NO_ROUTE("from pods to other nodes' pods", CELLS_DNS, CELLS_DNS | CELL_TCP(SVC_IP),
             judge_l2_route),
    NO_ROUTE("from pods to Services with backends on nodes", CELL_TCP(SVC_IP),
             CELL_TCP(SVC_IP) | CELL_TCP(SVC_FQDN), judge_l2_route_node),
    ROW("OVL-NSX", "from pods to other nodes' pods",
        "encapsulated (VXLAN) packets do not pass; this is a VMware machine, whose switch uses the "
        "same port",
        "change the VXLAN port of NSX or of the distributed switch (Windows supports 4789 only), "
        "or update vmxnet3",
        "flannel-io/flannel#2388, projectcalico/calico#9433", CELLS_DNS, CELLS_DNS, judge_ovl_nsx,
        MEASURED),
    ROW("OVL-UDP", "from pods to other nodes' pods",
        "encapsulated (VXLAN) packets do not pass between the nodes",
        "open UDP 4789 between all nodes in firewalls and security groups; Linux nodes need Port "
        "4789 in flannel's net-conf.json; restart flannel on the DNS pods' node",
        "flannel-io/flannel#2388, projectcalico/calico#9433", CELLS_DNS, CELLS_DNS, judge_ovl_udp,
        MEASURED),
    ROW("API-ADDR", "from pods to the Service kubernetes",
        "the API server announces an address that this node does not reach",
        "start kube-apiserver with --advertise-address=ADDRESS of the network that the nodes share "
        "(kubeadm: localAPIEndpoint.advertiseAddress)",
        NULL, CELL_TCP(SVC_IP), CELL_TCP(SVC_IP) | CELL_TCP(SVC_FQDN), judge_api_addr, MEASURED),
    ROW("API-PODS", "from pods to the Service kubernetes",
        "the API server answers this node, but not its pods",
        "allow TCP 6443 from the pods' prefix and from this node to the control plane in its "
        "firewall and NetworkPolicies",
        NULL, CELL_TCP(SVC_IP), CELL_TCP(SVC_IP) | CELL_TCP(SVC_FQDN), judge_api_pods, MEASURED),
    ROW("DNS-SRV", "names", "the pod uses a DNS server other than the cluster's",
        "check clusterDNS in the kubelet's configuration and dns in the CNI configuration", NULL,
        CELL_BOTH(SVC_FQDN) | CELL_BOTH(SVC_SHORT),
        CELL_BOTH(POD_NAME) | CELL_BOTH(SVC_SHORT) | CELL_BOTH(SVC_FQDN) | CELL_TCP(EXT_DNS),
        judge_dns_srv, MEASURED),
    ROW("DNS-WRONG", "names", "names resolve to addresses that the Services or pods do not have",
        "check the CoreDNS configuration for rewrite, hosts or template lines, and which server "
        "answers: nslookup -debug kubernetes.default.svc.cluster.local.",
        NULL, 0, CELLS_NAMES, judge_dns_wrong, MEASURED),
    ROW("DNS-SFX", "short names", "the pod does not add its namespace's suffix to short names",
        "check clusterDomain in the kubelet's configuration and capabilities.dns in the CNI "
        "configuration",
        NULL, CELL_BOTH(SVC_SHORT), CELL_BOTH(SVC_SHORT), judge_dns_sfx, MEASURED),
    ROW("EXT-NODE", "from pods to outside",
        "the node cannot reach anything outside the cluster either",
        "not a problem of the pod network: check the node's gateway and firewall, or choose "
        "another target (verify.external)",
        NULL, CELL_TCP(EXT_IP), CELLS_OUTSIDE, judge_ext_node, MEASURED),
    ROW("NAT-NONE", "from pods to outside",
        "pods' packets leave the node with the pods' own addresses: no OutBoundNAT policy of their "
        "endpoints translates them",
        "winjoin join phase pod-network writes the CNI configuration again; new pods get the "
        "policy",
        NULL, CELL_BOTH(EXT_IP),
        CELLS_OUTSIDE | CELL_TCP(SVC_IP) | CELL_TCP(SVC_FQDN) | CELL_BOTH(POD_NODE), judge_nat_none,
        MEASURED),
    ROW("NAT-EXC", "from pods to some addresses outside",
        "the target is excluded from NAT and has no route back to the pods",
        "remove the prefix from the OutBoundNAT exceptions (network.excludeFromNAT) and recreate "
        "the pods",
        NULL, 0, 0, judge_nat_exc, MEASURED),
    ROW("EXT-PODS", "from pods to outside", "the node reaches the target outside, its pods do not",
        "look for a firewall on this node, or between it and the target, that drops what pods send",
        NULL, 0, CELL_BOTH(EXT_IP) | CELL_TCP(EXT_DNS), judge_ext_pods, MEASURED),
    ROW("EXT-DNS", "names outside the cluster",
        "the cluster's DNS does not resolve names outside the cluster",
        "check the forward line in the CoreDNS configuration and the resolver that it names", NULL,
        CELL_BOTH(EXT_DNS), CELL_BOTH(EXT_DNS), judge_ext_dns, MEASURED),
    ROW("L2-GATEWAY", "from pods to everything but each other",
        "the pods' gateway, a router of the physical network, does not carry their packets",
        "give the router the first address of the node's pod prefix on this node's segment; on a "
        "virtual machine allow MAC address spoofing",
        NULL, CELL_BOTH(EXT_IP) | CELL_BOTH(POD_NODE), CELLS_ALL & ~CELL_BOTH(POD_IP),
        judge_l2_gateway, MEASURED),
    ROW("L2-NODE", "from pods to their own node",
        "the pods' endpoints have no route to their own node",
        "winjoin join phase pod-network writes the CNI configuration again; new pods get the "
        "policy",
        NULL, CELL_BOTH(POD_NODE), CELL_BOTH(POD_NODE), judge_l2_node, MEASURED),
    ROW("FW-IN", "from pods to the node", "the node's firewall drops packets from its pods",
        "allow inbound TCP 10250 (kubelet) in the Windows Firewall: winjoin join phase vswitch",
        NULL, 0, CELL_BOTH(POD_NODE), judge_fw_in, MEASURED),
    ROW("FW-OWN", "between pods and their own node",
        "packets between the node and its own pods are lost",
        "look for a firewall or an agent on this node that drops packets of the pods' prefix", NULL,
        0, CELL_BOTH(POD_NODE) | CELL_BOTH(NODE_POD), judge_fw_own, MEASURED),
    ROW("KUBELET-PORT", "from pods to the kubelet", "the node refuses connections to its kubelet",
        "check port and address in the kubelet's configuration, and which firewall rejects TCP "
        "10250",
        NULL, 0, CELL_TCP(POD_NODE), judge_kubelet_port, MEASURED),
    ROW("PORT-POOL", "names and new connections to Services",
        "the load balancers without DSR use up the dynamic TCP ports: each takes 64",
        "use DSR: winjoin join phase kube-proxy --dsr auto; or more ports: netsh int ipv4 set "
        "dynamicportrange tcp start=34000 num=31536",
        "Azure/AKS#1375", 0, CELLS_FROM_POD, judge_port_pool, MEASURED),
    ROW("PORT-EXCL", "names and new connections to Services",
        "excluded port ranges use up the dynamic TCP ports",
        "netsh int ipv4 show excludedportrange tcp lists them; more ports: netsh int ipv4 set "
        "dynamicportrange tcp start=34000 num=31536, then restart Windows",
        "Azure/AKS#1375", 0, CELLS_FROM_POD & ~CELL_BOTH(POD_IP), judge_port_excl, MEASURED),
    ROW("SVC-BACKENDS", "Services with many backends",
        "a Service has more backends than this Windows may support",
        "split the Service, or install the newest cumulative update of Windows", NULL, 0,
        CELL_BOTH(SVC_IP) | CELL_BOTH(SVC_SHORT) | CELL_BOTH(SVC_FQDN), judge_svc_backends,
        MEASURED),
    ROW("LOSS", "some packets", "some packets are lost on the way", LOSS_HINT, NULL, 0, CELLS_ALL,
        judge_loss, MEASURED),
    ROW("IP6-ADDR", "IPv6 beside IPv4", "the node's IPv6 address is not on any adapter",
        "set it again (netsh interface ipv6 show address), then winjoin join phase pod-network",
        NULL, 0, CELLS_ALL, judge_ip6_addr, MEASURED6),
    ROW("IP6-FWD", "IPv6 from pods to anything outside the node",
        "the node does not forward packets of IPv6",
        "winjoin join phase pod-network turns forwarding on again", NULL, 0,
        CELLS_ALL & ~CELL_BOTH(POD_IP), judge_forwarding, MEASURED6),
    ROW("IP6-LB", "IPv6 from pods to Services",
        "the DNS Service's IPv6 address is not programmed on this node", PROXY_HINT, NULL, 0,
        CELL_BOTH(SVC_IP), judge_ip6_lb, MEASURED6),
    ROW("IP6-ROUTE", "IPv6 from pods to other nodes' pods",
        "packets of IPv6 for other nodes' pods have no route",
        "winjoin join phase pod-network writes the routes again", NULL, 0, CELL_BOTH(SVC_IP),
        judge_ip6_route, MEASURED6),
    ROW("WIN-PATCH", "what the update breaks", "a known fault of this Windows may be the cause",
        "install the newest cumulative update of Windows; winjoin capabilities lists known faults",
        "microsoft/Windows-Containers#516, projectcalico/calico#8529", 0, CELLS_ALL,
        judge_win_patch, MEASURED),
    ROW("POD-LOCAL", "between pods of this node", "packets between two pods of this node are lost",
        "look for a network policy or a port isolation of the virtual switch; deleting the pods "
        "makes new endpoints",
        NULL, 0, CELL_BOTH(POD_IP) | CELL_BOTH(POD_NAME), judge_pod_local, MEASURED),
    ROW("HNS-EP", "every flow to one pod", "nothing reaches a pod whose HNS endpoint looks right",
        "delete the pod: its new endpoint gets new ports and rules; if it happens again: "
        "powershell Restart-Service hns -Force",
        NULL, CELL_BOTH(POD_IP) | CELL_BOTH(NODE_POD),
        CELL_BOTH(POD_IP) | CELL_BOTH(POD_NAME) | CELL_BOTH(NODE_POD), judge_hns_ep_silent,
        MEASURED),
    CHANGED("what is red and has no other cause", MEASURED, NULL),
    ROW("UNKNOWN", "what is red and has no other cause", "no known cause explains these failures",
        "winjoin diag --collect diag.zip --capture shows where the packets of one of these flows "
        "are lost; compare with a report of a healthy node: winjoin diag --compare FILE",
        NULL, 0, CELLS_ALL, judge_unknown, UNEXPLAINED),
};

const size_t diag_rows_count = ARRAY_SIZE(diag_rows);

const struct diag_cause_row *diag_cause_row(size_t i) {
    return i < ARRAY_SIZE(diag_rows) ? &diag_rows[i].words : NULL;
}
