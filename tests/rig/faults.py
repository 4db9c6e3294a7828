"""What can be broken from outside the product, and the cause that diag must name for it.

Each fault works on a stage (stage.py: .fabric, .cluster, .host); `cause` is the id of the decision
table (diag/causes/causes.c), "" where the table has no row for it and the red cells alone tell.
"""
from dataclasses import dataclass

import break_cluster as cluster
import break_hns as hns
import break_node as node
import fabric as fabrics
from policy_agent import acl

BOTH = ("overlay", "l2bridge")
OVERLAY, BRIDGE = BOTH[:1], BOTH[1:]


@dataclass(frozen=True)
class Fault:
    title: str
    cause: str
    apply: object  # function of the stage
    lift: object
    modes: tuple = BOTH
    after_join: bool = False  # undone by the join itself if made before it
    # seen only where no service was started within a minute: what is missing may be on its way
    quiet: bool = False
    also: tuple = ()  # causes that are confirmed rightly, too
    chance: bool = False  # what is met differs each time, and with it the confidence


def after(title, cause, apply, lift, modes=BOTH, quiet=False, also=()):
    """A fault of a node that has joined."""
    return Fault(title, cause, apply, lift, modes, True, quiet, also)


def obeyed(title, rules, modes=BOTH):
    """An agent writes such ACLs on each pod's endpoint."""
    return after(title, "CNI-POLICY", lambda s: node.agent_with(s, rules), node.no_agent, modes)


UDP_4789 = cluster.filtered("fabric", "udp dport 4789 drop", "bridge")
FROM_PODS = 'iifname "ep*" '
DNS, API = fabrics.DNS_VIP, fabrics.API_VIP
POD_NETWORK, KUBE_PROXY = node.phase("pod-network"), node.phase("kube-proxy")
L1_ROUTE = (*fabrics.L1_SUBNET.split("/"), fabrics.L1)
ENDPOINT = cluster.ENDPOINT

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

# Written down with their cause before they were tried (docs/diag.md counts how often that was named).
WRONG_MAC = "neigh replace %s lladdr 02:00:00:00:00:99 dev %s nud permanent"
FAULTS |= {
    "imposter": Fault("another program has the port of the cluster's DNS", "SVC-EP0",
                      cluster.imposter, lambda s: s.fabric.cluster_dns(), OVERLAY),
    "arp-router": after("the node has a wrong MAC for its gateway", "EXT-NODE", *cluster.wired(
        "w1", [WRONG_MAC % (fabrics.ROUTER, "vsw0")], ["neigh del %s dev vsw0" % fabrics.ROUTER]), OVERLAY),
    "arp-back": after("the DNS pods' node has a wrong MAC for this node", "PEER-DOWN", *cluster.wired(
        "l1", [WRONG_MAC % ("10.0.0.21", "eth0")], ["neigh del 10.0.0.21 dev eth0"]), OVERLAY),
    "fdb-back": after("the DNS pods' node sends to this node's old address", "OVL-UDP",
                      cluster.moved_back, cluster.moved_there, OVERLAY),
    "own-cable": after("the node is unplugged", "API-DOWN", cluster.cable("w1", "down"),
                       cluster.cable("w1", "up"), OVERLAY),
    "twin-address": after("another machine has the address of the DNS pods' node", "OVL-UDP",
                          *cluster.taken_address("l1", fabrics.L1), OVERLAY),
    "outside-echo": after("the server outside has ended", "EXT-NODE",
                          *cluster.ended("outside-echo", "outside"), OVERLAY),
    "dns-other-self": after("the cluster's DNS has another address for its own Service", "DNS-WRONG",
                            *cluster.dns_says("cluster.local,%s" % DNS, "cluster.local,203.0.113.66"), OVERLAY),
    "dns-reject": after("the DNS pods' node rejects what is for them", "SVC-EP0", *cluster.filtered(
        "l1", "ip daddr %s reject with icmp type admin-prohibited" % fabrics.DNS_POD, "ip"), OVERLAY),
    "vpn-default": after("a VPN takes all that is outside", "EXT-NODE", *node.more_routes(
        "0.0.0.0 1 10.0.0.99", "128.0.0.0 1 10.0.0.99"), OVERLAY),
    "vpn-peer": after("a route leads to the DNS pods' node by another machine", "PEER-DOWN", *node.more_routes(
        "10.0.0.31 32 10.0.0.99"), OVERLAY),
    "answers-53": after("the node's firewall drops the answers of every DNS", "UDP-LOST", *cluster.filtered(
        "w1", 'oifname "ep*" udp sport 53 drop'), OVERLAY),
    "dns-taken": after("the node sends its pods' DNS questions to another server", "DNS-SRV", *cluster.filtered(
        "w1", 'iifname "ep*" udp dport 53 dnat to %s' % fabrics.EXTERNAL_DNS, "ip", "prerouting", "nat"), OVERLAY),
    "vip-guard": after("the DNS pods' node drops what comes from the source VIP", "SVC-VIP", *cluster.filtered(
        "l1", lambda s: "ip saddr %s drop" % hns.balancer(s, DNS, 17)["SourceVIP"]), OVERLAY),
    "pod-no-default": after("pods get no default route", "POD-GW", *hns.rewritten(
        "HcnCreateEndpoint", '"DestinationPrefix":"0.0.0.0/0"', '"DestinationPrefix":"198.18.0.0/15"')),
    "acl-host": obeyed("an ACL blocks the node", [acl("Block", "In", 1, RuleType="Host")], OVERLAY),
    "lb-front": after("the DNS' load balancer listens at another port", "SVC-LOST", hns.other_balancer(
        DNS, 17, lambda s, lb: lb["PortMappings"][0].update(ExternalPort=54)), node.restart("kube-proxy"), OVERLAY),
    "no-host-route": after("the pod network has lost its HostRoute", "FW-OWN", *hns.no_policy("HostRoute"), OVERLAY),
    "kubelet-domain": after("the kubelet has another clusterDomain", "DNS-SFX", *node.edited(
        "C:\\var\\lib\\kubelet\\config.yaml", r"(clusterDomain.*)cluster\.local", r"\1cluster.other", "kubelet"), OVERLAY),
    "proxy-vip": after("kube-proxy has another source VIP", "SVC-ALL", *node.edited(
        node.PROXY_CONFIG, r'(sourceVip"?: *"?)[0-9.]+', r"\g<1>10.244.99.2", "kube-proxy"), OVERLAY),
    "slice-port": after("the DNS' EndpointSlice has another port", "SVC-EP0", cluster.dns_port(5353),
                        cluster.dns_port(53), OVERLAY),
    "l1-unannounced": after("another node's flannel annotations are gone", "OVL-PEER",
                            cluster.unannounced_peer, cluster.announced_peer, OVERLAY),
    "l1-deleted": after("another node's Node was deleted", "OVL-PEER", cluster.no_node("l1"), cluster.node_again, OVERLAY),
    # a kubelet registers its node when it starts; the stand-in does so again after a while
    "node-gone": after("this node's Node object was deleted", "NODE-GONE", node.both(
        cluster.control(op="fault", method="POST", path="/api/v1/nodes", user="system:node:.*", code=403,
                        reason="Forbidden"), cluster.no_node("")),
                       node.both(cluster.control(op="clear"), cluster.registered)),
    "l1-old-address": after("another node announces an address that no machine has", "NIC-WRONG",
                            *cluster.peer_says("public-ip", "10.0.0.99"), OVERLAY),
}

# What has another cause, or another text, on a bridge.
FAULTS |= {
    "pod-gateway-bridge": after("pods get a gateway that no network has", "POD-GW", *hns.rewritten(
        "HcnCreateEndpoint", '.2"}]', '.27"}]'), BRIDGE),
}

# The same on a bridge, in two batches, without five: one HNS refuses, two are loss by chance, and two depend on
# when a service was started.
WAY = "10.0.0.99"  # an address that no machine has
FAULTS |= {
    "host-endpoint": after("the host's endpoint of the pod network was deleted", "POD-GW",
                           hns.no_host_endpoint, POD_NETWORK, BRIDGE),
    "pod-dns": after("pods get a DNS server outside", "DNS-SRV", *hns.rewritten(
        "HcnCreateEndpoint", '"ServerList":["%s"]' % DNS, '"ServerList":["%s"]' % fabrics.EXTERNAL_DNS), BRIDGE),
    "pod-suffix": after("pods get no DNS suffix of the cluster", "DNS-SFX", *hns.rewritten(
        "HcnCreateEndpoint", ".svc.cluster.local", ".corp.example"), BRIDGE),
    "acl-dns": obeyed("an ACL blocks what pods ask by UDP 53",
                      [acl("Block", "Out", 1, Protocols="17", RemotePorts="53")]),
    "dns-route": after("a route of the node leads to the DNS pod by another machine", "L2-ROUTE",
                       *node.more_routes("%s 32 %s" % (fabrics.DNS_POD, WAY)), BRIDGE),
    "arp-peer": after("the node has a wrong MAC for the DNS pods' node", "PEER-DOWN", *cluster.wired(
        "w1", [WRONG_MAC % (fabrics.L1, "vsw0")], ["neigh del %s dev vsw0" % fabrics.L1])),
    "net-53": Fault("the network between the nodes drops UDP 53", "DNS-PROTO", *cluster.filtered(
        "fabric", 'iifname "p-w1" oifname "p-l1" udp dport 53 drop', "bridge"), BRIDGE),
    "fragments": Fault("the network between the nodes drops fragments", "", *cluster.filtered(
        "fabric", "ip frag-off & 0x3fff != 0 drop", "bridge"), BRIDGE),
    "mtu-back": Fault("the network loses packets above 1300 bytes from the DNS pods' node to this one", "MTU-NODES",
                      *cluster.filtered("fabric", 'iifname "p-l1" oifname "p-w1" meta length > 1300 drop', "bridge"), BRIDGE),
    "cp-guard": Fault("the API server's machine drops what comes from pods", "API-PODS", *cluster.filtered(
        "cp", "ip saddr %s tcp dport 6443 drop" % fabrics.POD_RANGE, hook="input"), BRIDGE),
    "proxy-astray": after("kube-proxy's kubeconfig has an address that no machine has", "SVC-ALL", *node.edited(
        "C:\\k\\kube-proxy.kubeconfig", r"(server.*https://)[0-9.]+", r"\g<1>" + WAY, "kube-proxy"), BRIDGE),
    "arp-home": after("the router has a wrong MAC for this node", "EXT-NODE", *cluster.wired(
        "fabric", [WRONG_MAC % ("10.0.0.21", "lan")], ["neigh del 10.0.0.21 dev lan"]), BRIDGE),
    "spoof-peer": Fault("the cloud drops what does not have the other node's own address", "L2-ROUTE", *cluster.filtered(
        "fabric", 'iifname "p-l1" ip saddr != %s drop' % fabrics.L1, "bridge"), BRIDGE),
    "dns-half": after("one of two DNS pods is dead", "SVC-HALF", cluster.dns_endpoints(
        [ENDPOINT, {**ENDPOINT, "addresses": ["10.244.0.54"]}]), cluster.dns_endpoints([ENDPOINT])),

    "dns-cable": Fault("the DNS pod is unplugged", "SVC-EP0", *cluster.wired(
        "l1", ["link set p-l1-dns down"], ["link set p-l1-dns up"]), BRIDGE),
    "outside-dns": after("the DNS server outside has ended", "EXT-NODE", *cluster.ended("outside-dns", "outside"), BRIDGE),
    "cloud-udp": Fault("the cloud drops UDP that has a pod's address", "UDP-LOST", *cluster.filtered(
        "fabric", 'iifname "p-w1" ip saddr %s meta l4proto udp drop' % fabrics.POD_RANGE, "bridge"), BRIDGE),
    "way-back-old": after("the other nodes' route to this node's pods leads to its old address", "L2-ROUTE",
                          cluster.old_way_back(WAY), cluster.way_back, BRIDGE),
    "nat-pods-bridge": after("packets to other nodes' pods are translated, which a bridge may do", "",
                             node.excepted(lambda e: [x for x in e if x != fabrics.POD_RANGE]), POD_NETWORK, BRIDGE),
    "l1-resets": Fault("the node of the DNS pods resets TCP to its pods", "DNS-PROTO", *cluster.filtered(
        "l1", 'iifname "eth0" ip daddr %s meta l4proto tcp reject with tcp reset' % fabrics.L1_SUBNET), BRIDGE),
    "own-node-udp": Fault("the node's firewall drops what it sends to its pods by UDP", "FW-OWN", *cluster.filtered(
        "w1", 'oifname "ep*" meta l4proto udp drop', hook="output"), BRIDGE),
    "dns-upstream": Fault("the cluster's DNS asks a server outside that is gone", "EXT-DNS",
                          *cluster.dns_says("server=" + fabrics.EXTERNAL_DNS, "server=192.0.2.99"), BRIDGE),
    "api-slice-port": after("the API server's EndpointSlice has another port", "API-ADDR",
                            cluster.api_port(443), cluster.api_port(6443), BRIDGE),
}

# A second time: these were written down before any was tried, and before the rules were read again.
FAULTS |= {
    "dns-burst": Fault("the DNS pods' node lets in two new connections a second", "LOSS", *cluster.filtered(
        "l1", "ip daddr %s ct state new limit rate over 2/second burst 2 packets drop" % fabrics.DNS_POD),
        OVERLAY, chance=True),
    "l1-cable-mtu": Fault("the cable of the DNS pods' node takes 1400 bytes", "MTU-NODES", *cluster.wired(
        "fabric", ["link set p-l1 mtu 1400"], ["link set p-l1 mtu 1500"]), OVERLAY),
    "l1-new": Fault("the DNS pods' node lets no new connection in to its pods", "SVC-EP0", *cluster.filtered(
        "l1", 'iifname "vx" ct state new drop'), OVERLAY),
    "twin-own": after("another machine has this node's address", "API-DOWN", *cluster.taken_address(
        "w1", "10.0.0.21"), OVERLAY),
    "dns-service-tcp": after("the Service of the DNS has no port for UDP", "DNS-LB", *cluster.dns_service(
        lambda spec: spec.update(ports=[p for p in spec["ports"] if p["protocol"] == "TCP"]))),
    "dns-service-moved": after("the Service of the DNS was made again, with another address", "DNS-NONE",
                               *cluster.dns_service(lambda spec: spec.update(
                                   clusterIP="10.96.0.11", clusterIPs=["10.96.0.11"]))),
    "slice-others": after("the EndpointSlice of the DNS has a pod that is no DNS server", "SVC-EP0",
                          cluster.dns_endpoints([{**ENDPOINT, "addresses": [fabrics.ECHO_POD]}]),
                          cluster.dns_endpoints([ENDPOINT]), OVERLAY),
    "proxy-network": after("kube-proxy's configuration names a network that HNS does not have", "SVC-ALL",
                           *node.proxy_says(r'(networkName"?: *"?)[\w.-]+', r"\1other"), OVERLAY),
    "forward-dead": after("the cluster's DNS forwards to a server that no machine is", "EXT-DNS", *cluster.dns_says(
        "server=" + fabrics.EXTERNAL_DNS, "server=10.0.0.99"), OVERLAY),
    "dns-no-pods": after("the cluster's DNS knows Services and no pods", "", *cluster.dns_says(
        "synth-domain=", "#"), OVERLAY),
    "own-port": after("the pods' network uses UDP 8472", "OVL-UDP", *hns.other_policy("VxlanPort", Port=8472), OVERLAY),
    "own-drmac": after("the pods' network has another MAC than the Node says", "FLANNEL-NODE", *hns.other_policy(
        "DrMacAddress", Address="00-15-5D-00-00-98"), OVERLAY),
    "lb-protocol": after("the API's load balancer is for UDP", "SVC-LOST", hns.other_balancer(
        API, 6, lambda s, lb: lb["PortMappings"][0].update(Protocol=17)), node.restart("kube-proxy"), OVERLAY),
    "pods-forward": Fault("the node forwards nothing that its pods send to others", "POD-GW", *cluster.filtered(
        "w1", 'iifname "ep*" oifname != "ep*" drop'), OVERLAY),
    "arp-api": after("the node has a wrong MAC for the API server", "API-DOWN", *cluster.wired(
        "w1", [WRONG_MAC % (fabrics.CP, "vsw0")], ["neigh del %s dev vsw0" % fabrics.CP]), OVERLAY),
    "l1-vx-down": Fault("the overlay's device on the DNS pods' node is down", "OVL-UDP",
                        cluster.wired("l1", ["link set vx down"], [])[0],
                        lambda s: s.fabric.overlay_vni(fabrics.VNI), OVERLAY),
    "kubelet-dns": after("the kubelet has another clusterDNS", "DNS-SRV", *node.edited(
        "C:\\var\\lib\\kubelet\\config.yaml", r"10\.96\.0\.10\b", "10.96.0.11", "kubelet"), OVERLAY),
    "no-encap": after("the CNI configuration does not encapsulate what is for Services", "SVC-ROUTE",
                      node.policies_changed("SDNRoute", lambda x: {**x, "NeedEncap": False}), POD_NETWORK, OVERLAY),
    "dns-udp-back": Fault("the DNS pods' node drops the DNS' answers by UDP", "DNS-PROTO", *cluster.filtered(
        "l1", "ip saddr %s udp sport 53 drop" % fabrics.DNS_POD), OVERLAY),
    "kubelet-other-port": after("the kubelet has another port", "KUBELET-PORT", *node.edited(
        "C:\\var\\lib\\kubelet\\config.yaml", r"(?m)^(kind:.*)$", r"\1\nport: 10251", "kubelet"), OVERLAY),
    "outside-answers": Fault("a firewall drops the answers from outside", "EXT-NODE", *cluster.filtered(
        "fabric", 'iifname "wan" drop', "ip"), OVERLAY),
    "loss-back": Fault("a third of what the DNS pods' node sends to this one is lost", "LOSS", *cluster.filtered(
        "fabric", 'iifname "p-l1" oifname "p-w1" numgen random mod 3 == 0 drop', "bridge"), OVERLAY, chance=True),
    "nat-all": after("every address is excepted from translation", "NAT-EXC",
                     node.excepted(lambda e: [*e, "0.0.0.0/0"]), POD_NETWORK, OVERLAY),
}

# Written down before, and made later.
FAULTS |= {
    "hns-hung": after("HNS hangs", "HNS-HUNG", hns.slow_hns(30), hns.hns_in_time, OVERLAY),
    "lb-one-stale": after("one of two pods behind the DNS' load balancer is gone", "SVC-STALE",
                          hns.other_balancer(DNS, 17, hns.stale_beside), node.restart("kube-proxy"), OVERLAY),
    "l1-other-mac": after("the overlay of the DNS pods' node has another MAC than it announces", "OVL-UDP",
                          cluster.wired("l1", ["link set vx address 00:15:5d:00:00:32"], [])[0],
                          lambda s: s.fabric.overlay_vni(fabrics.VNI), OVERLAY),
    "udp-in": Fault("the node's switch drops what its pods get by UDP", "UDP-LOST", *cluster.filtered(
        "w1", 'oifname "ep*" meta l4proto udp drop'), OVERLAY),
    "l1-no-back": after("the DNS pods' node has lost its route to this node's pods", "OVL-UDP",
                        cluster.no_overlay_back, lambda s: s.fabric.overlay_vni(fabrics.VNI), OVERLAY),
    "cni-cut": after("the program of the CNI plugin is cut off", "NODE-CHANGED", *node.other_plugin(b"MZ"), OVERLAY),
}

# Of two lists that were written down before any of them was tried, those that were missed.
FAULTS |= {
    "l1-syn-ack": Fault("a firewall between the nodes drops what takes connections", "TCP-LOST", *cluster.filtered(
        "l1", "ip saddr %s tcp flags & (syn | ack) == syn | ack drop" % fabrics.L1_SUBNET), BRIDGE),
    "addresses-used": after("all addresses of the node are reserved, by containers that are gone", "HNS-LEFT",
                            node.reserve_addresses, node.free_addresses, OVERLAY),
    "cni-first": after("another plugin's CNI configuration comes first", "POD-SBX", *node.other_cni, BRIDGE),
    "proxy-deleted": after("somebody deleted the service kube-proxy", "SVC-DOWN", node.both(
        node.stop("kube-proxy"), lambda s: s.host.run(["sc", "delete", "kube-proxy"])), KUBE_PROXY, BRIDGE),
    "acl-api": obeyed("an ACL keeps pods from the API server's own port", [acl(
        "Block", "Out", 100, Protocols="6", RemoteAddresses=fabrics.CP, RemotePorts="6443")], OVERLAY),
    "dns-two-answers": Fault("the cluster's DNS has a second, dead address for the API server", "DNS-WRONG",
                             *cluster.dns_says("host-record=k", "host-record=kubernetes.default.svc.cluster.local,"
                                               "10.96.0.99\nhost-record=k"), BRIDGE),
}

# What was corrected after it had been missed by hand, or had no fault here.
FAULTS |= {
    "outside-late": Fault("the DNS server outside takes four seconds for an answer", "EXT-NODE",
                          *cluster.late("outside", fabrics.EXTERNAL_DNS, 4)),
    "twins": after("HNS has a second endpoint, of a pod that is gone, with the address of each pod", "HNS-EPSTALE",
                   *hns.twins(0)),
    "twin-endpoint": after("HNS has a second endpoint, of a pod that is gone, with the address of one pod",
                           "HNS-EPSTALE", *hns.twins(1)),
    "held-once": after("an endpoint of a pod that is gone has the address of the next pod, which gets another one", "",
                       *hns.next_addresses_held(1)),
    "scanner": after("a sandbox fails once, and a virus scanner keeps the probe from running", "POD-SBX",
                     node.both(hns.next_addresses_held(2)[0], node.meanwhile(node.kept_from_running(100))),
                     node.both(node.afterwards, hns.next_addresses_held(2)[1]), BRIDGE),
}

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
