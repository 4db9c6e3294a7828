"""Faults that were written down, with their cause, before any was tried (docs/design/diag.md counts how often that was named),
or were missed by hand. faults.py has all of them."""
import break_cluster as cluster
import break_hns as hns
import break_node as node
import fabric as fabrics
from fault import API, BRIDGE, DNS, ENDPOINT, KUBE_PROXY, OVERLAY, POD_NETWORK, Fault, after, obeyed
from policy_agent import acl

# Written down with their cause before they were tried (docs/design/diag.md counts how often that was named).
WRONG_MAC = "neigh replace %s lladdr 02:00:00:00:00:99 dev %s nud permanent"
FAULTS = {
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
    # quiet, or a young service would be waited for longer than the scanner holds the program
    "scanner": after("a sandbox fails once, and a virus scanner keeps the probe from running", "POD-SBX",
                     node.both(hns.next_addresses_held(2)[0], node.meanwhile(node.kept_from_running(50))),
                     node.both(node.afterwards, hns.next_addresses_held(2)[1]), BRIDGE, quiet=True),
    "held-remote": after("kube-proxy's endpoints of pods that are gone have the addresses of this node's pods",
                         "HNS-EPSTALE", *hns.all_addresses_held(1), OVERLAY),
    "held-local": after("endpoints of pods that are gone have all addresses, and the CNI plugin's files do not say so",
                        "HNS-LEFT", *hns.all_addresses_held(0), BRIDGE),
}
