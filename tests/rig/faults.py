"""What can be broken from outside the product, and the cause that diag must name for it (fault.py)."""
import break_cluster as cluster
import break_hns as hns
import break_node as node
import fabric as fabrics
import sampled
from fault import (API, BRIDGE, DNS, ENDPOINT, FROM_PODS, KUBE_PROXY, L1_ROUTE, OVERLAY, POD_NETWORK, UDP_4789,
                   Fault, after, obeyed)
from policy_agent import acl

# Those that are quiet stand first: a lift that starts a service makes the next one wait.
FAULTS = {
    # ---- nothing that a cause may be named for
    "healthy": Fault("nothing is wrong", "", lambda s: None, lambda s: None),
    "proxy-restarts": after("kube-proxy is being restarted", "", node.meanwhile(node.restart("kube-proxy")),
                            node.afterwards),
    "pod-comes": after("a pod of the node comes and goes", "", node.meanwhile(node.pod_for(5)), node.afterwards),
    "hns-slow": after("HNS takes 0.2 s for each call", "", hns.slow_hns(0.2), hns.hns_in_time, modes=OVERLAY),
    "hns-restarted": after("HNS ended and has been started again", "", hns.hns_again, lambda s: None),

    "pod-noep": after("a pod's sandbox is older than the network", "POD-NOEP",
                      *cluster.pod("early", {"containers": [{"name": "c", "image": "i"}]},
                                   "10.244.1.99"), quiet=True, modes=OVERLAY),
    "two-proxies": after("a DaemonSet runs kube-proxy, too", "PROXY-TWO",
                         *cluster.pod("kube-proxy-windows-x", {"hostNetwork": True, "containers": [
                             {"name": "c", "image": "sigwindowstools/kube-proxy:v1"}]},
                             "10.0.0.21"), quiet=True, modes=BRIDGE),

    # ---- the network between the machines
    "vni": Fault("the Linux node's overlay uses VNI 1", "OVL-VNI",
                 lambda s: cluster.linux_vni(s, 1), lambda s: cluster.linux_vni(s, fabrics.VNI),
                 OVERLAY),
    "vxlan-port": Fault("the Linux node's overlay uses UDP 8472", "OVL-UDP",
                        lambda s: s.fabric.overlay_vni(fabrics.VNI, 8472),
                        lambda s: s.fabric.overlay_vni(fabrics.VNI), OVERLAY),
    "udp-4789": Fault("the network between the nodes drops UDP 4789", "OVL-UDP", *UDP_4789, OVERLAY),
    "udp-answers": Fault("a firewall drops UDP 4789 in one direction", "OVL-UDP", *cluster.filtered(
        "fabric", "ip saddr %s udp dport 4789 drop" % fabrics.L1, "bridge"), OVERLAY),
    "esxi": after("a VMware switch drops VXLAN", "OVL-NSX",
                  node.both(UDP_4789[0], node.vmware_machine),
                  node.both(UDP_4789[1], node.no_vmware), OVERLAY),
    "mtu": Fault("the node's switch loses packets above 1300 bytes", "MTU",
                 *cluster.filtered("w1", "meta length > 1300 drop")),
    "mtu-nodes": Fault("the network between the nodes loses VXLAN above 1300 bytes", "MTU-NODES",
                       *cluster.filtered("fabric", "udp dport 4789 udp length > 1300 drop",
                                         "bridge"), modes=OVERLAY),
    "mtu-answers": Fault("the network between the nodes loses VXLAN above 1300 bytes to this node", "MTU-NODES",
                         *cluster.filtered("fabric", "ip saddr %s udp dport 4789 udp length > 1300 drop" % fabrics.L1,
                                           "bridge"), modes=OVERLAY),
    "loss": Fault("every second UDP packet between pods is lost", "LOSS", *cluster.filtered(
        "w1", "udp dport 18080 numgen inc mod 2 == 0 drop"), modes=BRIDGE),
    "loss-random": Fault("a third of the packets between the nodes is lost", "LOSS", *cluster.filtered(
        "fabric", 'iifname { "p-w1", "p-l1" } oifname { "p-w1", "p-l1" } numgen random mod 3 == 0 drop', "bridge"),
        chance=True, modes=OVERLAY),
    "loss-tcp": Fault("each fourth first packet of pods' connections is lost", "LOSS", *cluster.filtered(
        "w1", 'iifname "ep*" tcp flags & (syn | ack) == syn numgen inc mod 4 == 0 drop'), chance=True, quiet=True),
    "latency": Fault("what the node sends and gets takes 0.3 s each way", "LATENCY",
                     *cluster.slow_cable("w1", 0.3)),
    "latency-names": Fault("what the node sends and gets takes 0.6 s each way", "LATENCY",
                           *cluster.slow_cable("w1", 0.6)),
    "no-egress": Fault("nothing leaves the data center", "EXT-NODE", *cluster.filtered(
        "fabric", 'oifname "wan" drop', "ip")),
    "no-egress-udp": Fault("nothing leaves the data center by UDP", "EXT-NODE", *cluster.filtered(
        "fabric", 'oifname "wan" meta l4proto udp drop', "ip"), modes=BRIDGE),
    "peer-off": after("the node of the DNS pods was unplugged a moment ago", "PEER-DOWN",
                      cluster.cable("l1", "down"), cluster.cable("l1", "up"), modes=OVERLAY),
    "spoof-guard": Fault("the cloud drops what does not have the node's own address", "L2-ROUTE",
                         *cluster.filtered("fabric", 'iifname "p-w1" ip saddr != 10.0.0.21 drop',
                                           "bridge"), BRIDGE),

    # ---- the Linux node and its pods
    "dns-udp": Fault("UDP 53 is dropped before the cluster's DNS", "DNS-PROTO", *cluster.filtered(
        "l1", "ip daddr %s udp dport 53 drop" % fabrics.DNS_POD), modes=OVERLAY),
    "dns-tcp": Fault("TCP 53 is dropped before the cluster's DNS", "DNS-PROTO", *cluster.filtered(
        "l1", "ip daddr %s tcp dport 53 drop" % fabrics.DNS_POD), modes=BRIDGE),
    "l1-tcp": Fault("the node of the DNS pods drops TCP to its pods", "TCP-LOST", *cluster.filtered(
        "l1", "ip daddr %s meta l4proto tcp drop" % fabrics.L1_SUBNET), modes=OVERLAY),
    "l1-udp": Fault("the node of the DNS pods drops UDP to its pods", "UDP-LOST", *cluster.filtered(
        "l1", "ip daddr %s meta l4proto udp drop" % fabrics.L1_SUBNET), modes=BRIDGE),
    "dns-late": Fault("the cluster's DNS takes three seconds for an answer", "DNS-SLOW",
                      *cluster.late("l1-dns", fabrics.DNS_POD, 3), modes=BRIDGE),
    "dns-fails": Fault("the cluster's DNS answers with an error", "DNS-FAIL",
                       lambda s: s.fabric.cluster_dns(knows=False), lambda s: s.fabric.cluster_dns(), modes=OVERLAY),
    "dns-policy": Fault("a NetworkPolicy keeps pods of other nodes from the DNS", "SVC-EP0",
                        *cluster.filtered("l1", "ip daddr %s drop" % fabrics.DNS_POD)),
    "dns-zone": Fault("the cluster's DNS serves another zone", "DNS-ZONE",
                      lambda s: s.fabric.cluster_dns(zone="other.local"),
                      lambda s: s.fabric.cluster_dns(), modes=BRIDGE),
    "dns-forward": Fault("the cluster's DNS cannot ask anybody outside", "EXT-DNS",
                         *cluster.filtered("l1", "ip saddr %s ip daddr %s drop"
                                           % (fabrics.DNS_POD, fabrics.EXTERNAL_DNS)), modes=OVERLAY),
    "dns-down": Fault("the cluster's DNS server has ended", "SVC-EP0",
                      lambda s: s.fabric.no_dns(), lambda s: s.fabric.cluster_dns(), modes=OVERLAY),
    "dns-lies": Fault("the cluster's DNS gives wrong addresses", "DNS-WRONG",
                      lambda s: s.fabric.cluster_dns(lies=True), lambda s: s.fabric.cluster_dns(), modes=BRIDGE),
    "dns-scaled": after("the DNS has no ready pod", "SVC-EP0", cluster.dns_endpoints([]),
                        cluster.dns_endpoints([ENDPOINT])),
    "peer-down": after("the node of the DNS pods is down", "PEER-DOWN",
                       cluster.node_down, cluster.node_up),
    "l1-forwarding": Fault("the node of the DNS pods does not forward", "SVC-EP0",
                           cluster.forwarding("l1", 0), cluster.forwarding("l1", 1), modes=BRIDGE),
    "twin-mac": after("two nodes' overlays have the same MAC", "OVL-MAC",
                      cluster.twin_switches, cluster.no_twin, OVERLAY),
    "other-backend": after("another node's flannel uses host-gw", "FLANNEL-TYPE",
                           node.both(UDP_4789[0], cluster.annotate("l1", "backend-type", "host-gw")),
                           node.both(UDP_4789[1], cluster.annotate("l1", "backend-type", "vxlan")),
                           OVERLAY),
    "no-way-back": after("the other nodes have no route to this node's pods", "L2-ROUTE",
                         cluster.no_way_back, cluster.way_back, BRIDGE),
    "cp-route": after("the control plane has no route to this node's pods", "L2-ROUTE",
                      cluster.no_pod_route, cluster.pod_route, BRIDGE),
    "rp-filter": after("the other node drops by its reverse path filter", "L2-ROUTE",
                       cluster.strict_path, cluster.loose_path, BRIDGE),

    # ---- what the API server is and says
    "api-down": after("the API server has ended", "API-DOWN", lambda s: s.cluster.stop(),
                      lambda s: s.cluster.start(), modes=OVERLAY),
    "api-cut": after("a firewall keeps the node itself from the API server", "API-DOWN",
                     *cluster.filtered("w1", "tcp dport 6443 drop", hook="output"), modes=BRIDGE),
    "api-address": after("the API server announces the address of another adapter", "API-ADDR",
                         cluster.api_endpoint("10.0.0.99"), cluster.api_endpoint(fabrics.CP), modes=OVERLAY),
    "api-half": after("one of two API servers is dead", "SVC-HALF",
                      cluster.api_endpoint(fabrics.CP, "10.0.0.99"),
                      cluster.api_endpoint(fabrics.CP), modes=BRIDGE),
    "api-none": after("no EndpointSlice has an API server", "SVC-EP0", cluster.api_endpoint(),
                      cluster.api_endpoint(fabrics.CP), modes=OVERLAY),
    "api-refuses": after("the API server does not know the node any more", "API-REFUSED",
                         cluster.control(op="fault", user="system:node:.*", code=401,
                                         reason="Unauthorized"), cluster.control(op="clear"), modes=OVERLAY),
    "api-stranger": after("the API server has a certificate of another CA", "API-REFUSED",
                          cluster.control(op="named", name="other-ca"), cluster.control(op="clear"), modes=BRIDGE),
    "clock": after("the node's clock is a day ahead", "CLOCK-OFF",
                   cluster.control(op="named", name="slow-clock"), cluster.control(op="clear"), modes=BRIDGE),
    "cert-expired": after("the node's client certificate has expired", "CERT-EXPIRED",
                          node.spoil(node.CLIENT_CERTIFICATE, node.expired),
                          node.repair(node.CLIENT_CERTIFICATE), modes=OVERLAY),
    "wrong-nic": after("flannel announces the address of another adapter", "NIC-WRONG",
                       node.both(UDP_4789[0], cluster.annotate("", "public-ip", "192.168.56.2")),
                       node.both(UDP_4789[1], cluster.own_address), OVERLAY),
    "node-cidr": after("the Node object was made again, with another prefix", "HNS-CIDR",
                       cluster.pod_cidr("10.244.77.0/24"), cluster.pod_cidr(None), modes=OVERLAY),
    "unannounced": after("this node's flannel annotations are gone", "FLANNEL-NODE",
                         cluster.unannounced, node.restart("flanneld"), modes=OVERLAY),
    "own-mac": after("this node announces another MAC than its overlay has", "FLANNEL-NODE",
                     cluster.annotate("", "backend-data", '{"VNI":%d,"VtepMAC":"00:15:5d:00:00:99"}' % fabrics.VNI),
                     node.restart("flanneld"), OVERLAY),
    "twin-node": after("the host joined under another name before", "NODE-TWICE",
                       cluster.twin_node, cluster.no_twin_node, OVERLAY),

    "same-prefix": after("another Node has this node's pod prefix", "NODE-CIDR",
                         cluster.same_prefix, cluster.no_twin_node, modes=OVERLAY),

    # ---- services of the node
    "kubelet-down": after("the kubelet was stopped", "SVC-DOWN", node.stop("kubelet"),
                          node.start("kubelet")),
    "flanneld-down": after("flanneld was stopped", "SVC-DOWN", node.stop("flanneld"),
                           node.start("flanneld"), modes=OVERLAY),
    "containerd-down": after("containerd was stopped", "SVC-DOWN", node.stop("containerd"),
                             node.start("containerd"), modes=BRIDGE),
    "hns-down": after("HNS was stopped", "SVC-DOWN", node.stop("hns"), node.start("hns"), modes=BRIDGE),
    "proxy-crash": after("kube-proxy ends at its start: its configuration is broken", "SVC-DOWN",
                         node.crash_proxy, node.repair_proxy),
    "no-services": after("kube-proxy has stopped and its load balancers are gone", "SVC-DOWN",
                         hns.drop_balancers, KUBE_PROXY, also=("SVC-ALL",), modes=OVERLAY),

    "kubelet-hung": after("the kubelet hangs", "SVC-DOWN", node.frozen("kubelet.exe"), node.ended("kubelet")),

    # ---- load balancers
    "lb-lost": after("HNS has lost the DNS' load balancer for UDP", "SVC-LOST",
                     hns.lose_balancer(DNS, 17), node.restart("kube-proxy"), modes=OVERLAY),
    "lb-orphan": after("an orphaned load balancer holds the DNS' port", "HNS-ORPHAN",
                       hns.orphan, hns.no_orphan, modes=BRIDGE),
    "lb-stale": after("the DNS' load balancer sends to a pod that is gone", "SVC-STALE",
                      hns.other_balancer(DNS, 17, hns.stale_backend), node.restart("kube-proxy")),
    "lb-port": after("the DNS' load balancer sends to another port", "SVC-PORT",
                     hns.other_balancer(DNS, 17, hns.other_port), node.restart("kube-proxy"), modes=OVERLAY),
    "lb-others": after("the API's load balancer sends to a machine of another Service", "SVC-STALE",
                       hns.other_balancer(API, 6, hns.others_pod(fabrics.L1)), node.restart("kube-proxy")),
    "lb-members": after("HNS has lost what is behind the load balancer of the API", "SVC-STALE",
                        hns.no_members(API, 6), node.restart("kube-proxy"), modes=BRIDGE),
    "vip-none": after("the DNS' load balancer has no source address", "SVC-VIP", hns.other_balancer(
        DNS, 17, lambda s, lb: lb.pop("SourceVIP")), node.restart("kube-proxy"), OVERLAY),
    "vip-old": after("the DNS' load balancer has a source address of an old subnet", "SVC-VIP",
                     hns.other_balancer(DNS, 17, lambda s, lb: lb.update(SourceVIP="10.244.99.2")),
                     node.restart("kube-proxy"), OVERLAY),
    "lbs-lost": after("HNS has lost all load balancers", "SVC-ALL", hns.lose_balancers,
                      hns.balancers_are_back, also=("SVC-LOST",), modes=BRIDGE),
    "source-vip": after("the endpoint of the source VIP was deleted", "SVC-VIP",
                        hns.drop_source_vip, node.restart("kube-proxy"), OVERLAY),

    # ---- the node's network
    "no-peer": after("the pod network has lost the routes to other nodes", "OVL-PEER",
                     hns.drop_remotes, node.restart("flanneld"), OVERLAY),
    "peer-mac": after("the route to a node has its old MAC", "OVL-PEER", hns.other_remote(
        DistributedRouterMacAddress="00:15:5d:00:00:99"), node.restart("flanneld"), OVERLAY),
    "peer-address": after("the route leads to a node's old address", "OVL-PEER", hns.other_remote(
        ProviderAddress="10.0.0.99"), node.restart("flanneld"), OVERLAY),
    "peer-vni": after("the route to a node has another VNI", "OVL-VNI", hns.other_remote(
        IsolationId=4097), node.restart("flanneld"), OVERLAY),
    "no-route": after("the node's route to another node's pods is missing", "L2-ROUTE",
                      node.other_route(*L1_ROUTE, None), node.restart("flanneld"), BRIDGE),
    "old-route": after("the node's route to another node's pods leads to its old address",
                       "L2-ROUTE", node.other_route(*L1_ROUTE, "10.0.0.99"),
                       node.other_route(*L1_ROUTE[:2], "10.0.0.99", fabrics.L1), BRIDGE),
    "gateway": after("the node's default gateway is a wrong one", "EXT-NODE",
                     node.other_route("0.0.0.0", "0", fabrics.ROUTER, "10.0.0.99"),
                     node.other_route("0.0.0.0", "0", "10.0.0.99", fabrics.ROUTER), modes=BRIDGE),
    "no-forwarding": after("somebody turned IP forwarding off", "L2-FWD", node.no_forwarding,
                           POD_NETWORK, BRIDGE),

    # ---- the node's firewall
    "api-pods": Fault("a firewall lets the node to the API server, and not its pods", "API-PODS",
                      *cluster.filtered("w1", FROM_PODS + "tcp dport 6443 drop")),
    "node-udp": Fault("the node's firewall drops what pods send by UDP", "FW-IN", *cluster.filtered(
        "w1", FROM_PODS + "udp dport 18081 drop", hook="input"), modes=OVERLAY),
    "pods-udp": Fault("the node's switch drops what pods send by UDP", "UDP-LOST", *cluster.filtered(
        "w1", FROM_PODS + "meta l4proto udp drop"), modes=OVERLAY),
    "kubelet-refuses": Fault("a firewall refuses the kubelet's port", "KUBELET-PORT", *cluster.filtered(
        "w1", "tcp dport 10250 reject with tcp reset", hook="input")),
    "own-node": Fault("the node's firewall drops what it sends to its pods", "FW-OWN", *cluster.filtered(
        "w1", 'oifname "ep*" drop', hook="output")),
    "pods-outside": Fault("the node's firewall drops what its pods send outside", "EXT-PODS", *cluster.filtered(
        "w1", FROM_PODS + "ip daddr 192.0.2.0/24 drop")),
    "pods-apart": Fault("the node's switch keeps its pods apart", "POD-LOCAL", *cluster.filtered(
        "w1", 'iifname "ep*" oifname "ep*" drop')),
    "kubelet-port": Fault("the node's firewall drops the kubelet's port for pods", "FW-IN",
                          *cluster.filtered("w1", FROM_PODS + "tcp dport 10250 drop", hook="input"), modes=BRIDGE),

    # ---- what new pods get
    "acl-all": obeyed("an ACL blocks every source", [acl("Block", "In", 1)], modes=BRIDGE),
    "acl": obeyed("a policy agent's ACL that lets in has the wrong direction",
                  node.MISLED, modes=OVERLAY),
    "pod-gateway": after("pods get another gateway than their network's", "POD-GW", *hns.rewritten(
        "HcnCreateEndpoint", '","DestinationPrefix":"0.0.0.0/0"', '7","DestinationPrefix":"0.0.0.0/0"'), modes=OVERLAY),
    "no-nat": after("the CNI configuration has lost its OutBoundNAT policy", "NAT-NONE",
                    node.cni_changed(node.untranslated), POD_NETWORK, modes=OVERLAY),
    "nat-other": after("pods' packets are translated to an address of another node", "HNS-MGMT",
                       node.policies_changed("OutBoundNAT", lambda s: {**s, "VirtualIP": "10.0.0.97"}), POD_NETWORK),
    "nat-outside": after("the target outside is excepted from translation", "NAT-EXC",
                         node.excepted(lambda e: [*e, "192.0.2.0/24"]), POD_NETWORK, modes=BRIDGE),
    "nat-pods": after("packets to other nodes' pods are translated", "NAT-EXC",
                      node.excepted(lambda e: [x for x in e if x != fabrics.POD_RANGE]),
                      POD_NETWORK, OVERLAY),
    "service-prefix": after("the CNI configuration has another prefix of Services", "SVC-ROUTE",
                            node.cni_text('"DestinationPrefix": "10.96.0.0/12"',
                                          '"DestinationPrefix": "10.112.0.0/12"'), POD_NETWORK, modes=BRIDGE),
    "no-node-route": after("the CNI configuration has no route to the node", "L2-NODE",
                           node.policies_changed("SDNRoute", lambda x: x if "/32" not in
                                                 x["DestinationPrefix"] else None),
                           POD_NETWORK, BRIDGE),
}
FAULTS |= sampled.FAULTS

# Two at once: where they can be seen beside each other, and which modes play them.
PAIRS = {
    "node-udp+dns-forward": OVERLAY,
    "vni+api-refuses": OVERLAY,
    "dns-scaled+kubelet-port": BRIDGE,
    "old-route+clock": BRIDGE,
    "kubelet-down+no-egress": BRIDGE,
    "lb-lost+no-nat": OVERLAY,
    "peer-mac+lb-stale": OVERLAY,
    "proxy-crash+pods-outside": OVERLAY,
    "cert-expired+mtu-nodes": OVERLAY,
    "latency+pods-apart": OVERLAY,
}
